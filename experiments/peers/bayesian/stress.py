"""Streams that hurt: nothing may become NaN, and every covariance stays positive definite."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results

EQUAL, POINTS, CONSTANT, SCALES, ELECTRICITY = (
    "nearly equal rows, contradictory labels", "five points, contradictory labels", "constant features",
    "scales 1e6 apart", "electricity, in order",
)  # fmt: skip
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "scaling=None": {"scaling": None},
    "scaling=None, block=16": {"scaling": None, "block": 16},
}
_FEATURES = 10
_ROWS: dict[Scale, int] = {"quick": 2_000, "full": 100_000}
_ANSWERED = 1_000


def cells(scale: Scale) -> list[Cell]:
    """Return streams and settings; ``rows`` is the most that are learned."""
    return [
        {"data": data, "setting": setting, "rows": _ROWS[scale]}
        for data in (EQUAL, POINTS, CONSTANT, SCALES, ELECTRICITY)
        for setting in SETTINGS
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what is not finite or not positive, and the least eigenvalue."""
    X, y = _take(str(cell["data"]), int(cell["rows"]), seed)
    forest = qc.BayesianForest(**SETTINGS[str(cell["setting"])])
    forest.partial_fit(X, y, classes=np.unique(np.asarray(y)).tolist())
    return [{"learned": len(y), "bad": _count_bad(forest, X[:_ANSWERED]), "eigenvalue": _least_eigenvalue(forest)}]


def _take(name: str, rows: int, seed: int) -> tuple[Any, Any]:
    if name == ELECTRICITY:
        return qc.streams.load("electricity").take(rows)
    rng = np.random.default_rng(seed)
    plain = rng.uniform(-1, 1, (rows, _FEATURES))
    noise = rng.random(rows) < 0.25
    if name == EQUAL:
        return plain[0] + 1e-6 * rng.normal(size=plain.shape), rng.integers(0, 2, rows)
    if name == POINTS:
        points = rng.uniform(-1, 1, (5, _FEATURES))[rng.integers(0, 5, rows)]
        return points + 1e-4 * plain, rng.integers(0, 3, rows)
    if name == SCALES:
        scales = plain * 10.0 ** np.linspace(-3, 3, _FEATURES)
        return scales, ((plain[:, 0] + plain[:, -1] > 0) ^ noise).astype(np.int64)
    constant = plain.copy()
    constant[:, ::2] = rng.uniform(-50, 50, len(constant[0, ::2]))
    return constant, ((constant[:, 1] > 0) ^ noise).astype(np.int64)


def _least_eigenvalue(forest: Any) -> float:
    """Return the smallest eigenvalue of any covariance, relative to the largest of the same one; NaN if any is."""
    ratios = []
    for n in range(len(forest._state.nodes)):
        sigma = forest._state.covariance(n)
        values = np.linalg.eigvalsh(sigma) if np.isfinite(sigma).all() else np.full(1, np.nan)
        ratios.append(values[0] / values[-1])
    return float(np.min(ratios))


def _count_bad(forest: Any, X: Any) -> int:
    """Return how many means, covariances, leaves and answers are not finite, or not positive where they must be."""
    arrays = forest._state
    alpha, answers = arrays.alpha[:, : arrays.classes], forest.predict_proba(X)
    bad = (~np.isfinite(arrays.mu)).sum() + (~np.isfinite(arrays.sigma)).sum()
    bad += (~(np.isfinite(alpha) & (alpha > 0))).sum() + (~((answers >= 0) & (answers <= 1))).sum()
    return int(bad)


def summarize(found: Results) -> Report:
    """Return what is left of each stream's forest."""
    rows = []
    for (data,), part in found.groups("data"):
        result = [f"{part.where(setting=setting)['eigenvalue'][0]:.1e}" for setting in SETTINGS]
        rows.append([data, f"{part['learned'][0]:,}", f"{part['bad'].sum()}", *result])
    heads = ["stream", "rows", "bad numbers", *(f"least eigenvalue, {setting}" for setting in SETTINGS)]
    caption = (
        "Numbers that are not finite, or not positive where they must be, in all three forests together, and the least "
        "eigenvalue of any covariance over its largest."
    )
    holds = bool((found["bad"] == 0).all() and (found["eigenvalue"] > 0).all())
    seen = f"{found['bad'].sum()} bad numbers, least eigenvalue {found['eigenvalue'].min():.1e} of the largest."
    claim = Claim("All numbers stay finite, and every covariance positive definite.", holds, seen)
    return Report([PageTable(heads, rows, caption)], [claim])


STRESS = Runs("peers.bayesian", "stress", cells, measure)
