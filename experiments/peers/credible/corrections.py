"""What a correction costs: mean risk while a pool is labelled, on sets that are not those of the paper."""

from __future__ import annotations

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of, show_mean
from experiments.harness.verdicts import all_hold, is_above
from experiments.peers.evergreen import sets

SETS = (
    "banknote", "blood_transfusion", "fetal_health", "phishing", "electricity", "cod_rna_train", "mushroom",
    "tic_tac_toe",
)  # fmt: skip
_NONE = "none"
# Correction and delta; the first is the default.
SETTINGS = ((_NONE, 0.15), ("cuts", 0.5), ("cuts", 0.1), ("cuts+looks", 0.4))
_POOL, _TESTED, _STEP = 400, 1_000, 20
_RUNS: dict[Scale, int] = {"quick": 2, "full": 10}


def cells(scale: Scale) -> list[Cell]:
    """Return sets, settings and runs."""
    return [
        {"data": data, "correction": correction, "delta": delta, "run": run}
        for data in SETS
        for correction, delta in SETTINGS
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: the mean risk on other rows over the run, and the leaves at its end."""
    rows = sets.load(str(cell["data"]), seed, _POOL + _TESTED)
    pool, rest = rows.first(_POOL), rows._replace(X=rows.X[_POOL:], y=rows.y[_POOL:])
    correction = None if cell["correction"] == _NONE else str(cell["correction"])
    tree = qc.CredibleTree(delta=float(cell["delta"]), correction=correction, nominal=rows.nominal)
    tree.fit_pool(pool.X)
    risks = []
    for start in range(0, len(pool.y), _STEP):
        part = np.arange(start, min(start + _STEP, len(pool.y)))
        tree.learn_pool(part, pool.y[part])
        risks.append(float(np.mean(tree.predict(rest.X) != rest.y)))
    return [{"risk": float(np.mean(risks)), "leaves": int(tree.n_leaves_)}]


def summarize(found: Results) -> Report:
    """Return mean risks by set, and over sets."""
    risks = {setting: _by_set(found, *setting) for setting in SETTINGS}
    rows = []
    for (correction, delta), by_set in risks.items():
        name = "`None`" if correction == _NONE else f'`"{correction}"`'
        leaves = float(found.where(correction=correction, delta=delta)["leaves"].mean())
        result = [f"{risk:.3f}" for risk in (np.mean(by_set), *by_set)]
        rows.append([f"{name}, delta {delta:g}", f"{leaves:.1f}", *result])
    caption = (
        f"Risk on other rows, mean over a run in which a pool of {_POOL} rows is labelled in random order; "
        f"{len(found.unique('run'))} runs a set."
    )
    return Report([PageTable(["correction", "leaves", "mean of all", *SETS], rows, caption)], [_claim(risks)])


def _by_set(found: Results, correction: str, delta: float) -> list[float]:
    lines = found.where(correction=correction, delta=delta)
    return [lines.where(data=data).mean("risk")[0] for data in SETS]


def _claim(risks: dict[tuple[str, float], list[float]]) -> Claim:
    none, *others = SETTINGS
    gaps = {setting: mean_of(np.subtract(risks[setting], risks[none])) for setting in others}
    result = "; ".join(f'"{name}" with {delta:g} {show_mean(gap)}' for (name, delta), gap in gaps.items())
    return Claim(
        f"A correction costs labels: without one, at delta {none[1]:g}, the risk is lower.",
        all_hold(map(is_above, gaps.values())),
        f"risk above that, mean over sets (standard error): {result}.",
    )


CORRECTIONS = Runs("peers.credible", "corrections", cells, measure)
