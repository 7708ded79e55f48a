"""Error of growing trees at equal numbers of leaves, between settings that give fewer and more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of, show_mean
from experiments.harness.verdicts import Mean, all_hold, is_above, show_signed
from experiments.papers.credible.comparing import is_equal
from experiments.peers.credible import streams

LEAF_COUNTS = (10, 20, 50, 100, 200)
_FEW, _MANY = (20, 50), (100, 200)
CREDIBLE, CONFIDENCE, HOEFFDING = "credible", "confidence", "Hoeffding"
_ROWS: dict[Scale, int] = {"quick": 20_000, "full": 200_000}
_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}


def _settings() -> dict[tuple[str, str], Callable[[], Any]]:
    """Return by kind and setting what grows; a kind's settings give from few to many leaves."""
    found: dict[tuple[str, str], Callable[[], Any]] = {}
    for delta in (1e-4, 0.001, 0.01, 0.05, 0.1, 0.15, 0.2, 0.25):
        found[CREDIBLE, f"delta {delta:g}"] = partial(qc.CredibleTree, delta=delta, leaf="majority")
    for c, tie in (*((c, 0.0) for c in (1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)), (0.01, 0.001), (0.01, 0.003)):
        found[CONFIDENCE, f"c {c:g}, tie {tie:g}"] = partial(qc.ConfidenceTree, c=c, tie=tie, leaf="majority")
    for tie in (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2):
        found[HOEFFDING, f"tie {tie:g}"] = partial(qc.HoeffdingTree, delta=1e-3, tie=tie, leaf="majority")
    return found


_SETTINGS = _settings()
_KINDS = (CREDIBLE, CONFIDENCE, HOEFFDING)


def cells(scale: Scale) -> list[Cell]:
    """Return streams, runs and settings."""
    return [
        {"data": data, "kind": kind, "setting": setting, "rows": _ROWS[scale], "run": run}
        for data in streams.STREAMS
        for run in range(_RUNS[scale])
        for kind, setting in _SETTINGS
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: error and leaves."""
    X, y = streams.take(str(cell["data"]), int(cell["rows"]), seed)
    tree = _SETTINGS[str(cell["kind"]), str(cell["setting"])]()
    outcome = tree.test_then_learn(X, y)
    return [{"error": float(np.mean(outcome.answers != outcome.truth)), "leaves": int(tree.n_leaves_)}]


def summarize(found: Results) -> Report:
    """Return the errors at equal numbers of leaves."""
    errors = {
        (data, kind): _at_leaves(found.where(data=data, kind=kind)) for data in streams.STREAMS for kind in _KINDS
    }
    rows = [
        [data, kind, *("-" if np.isnan(by_run).any() else show_mean(mean_of(by_run), 4) for by_run in result.T)]
        for (data, kind), result in errors.items()
    ]
    caption = (
        f"Error at so many leaves, between settings that give fewer and more: {int(found['rows'][0]):,} rows, each "
        f"answered and then learned, majority leaves, {len(found.unique('run'))} runs (standard error); - where a "
        "tree has no settings on both sides."
    )
    return Report([PageTable(["stream", "tree", *map(str, LEAF_COUNTS)], rows, caption)], [_few(errors), _many(errors)])


def _at_leaves(found: Results) -> Any:
    """Return errors by run and number of leaves, NaN where there are no settings on both sides."""
    result = []
    for _, part in found.groups("run"):
        points = sorted(zip(part["leaves"].tolist(), part["error"].tolist(), strict=True))
        leaves, errors = np.array(points).T
        result.append(np.interp(np.log(LEAF_COUNTS), np.log(leaves), errors, left=np.nan, right=np.nan))
    return np.array(result)


def _gaps(errors: dict[tuple[str, str], Any], counts: Sequence[int]) -> dict[str, Mean]:
    """Return by stream, rival and number of leaves how much larger the rival's error is, where both are known."""
    gaps = {}
    for data in streams.STREAMS:
        for rival in (CONFIDENCE, HOEFFDING):
            for count in counts:
                place = LEAF_COUNTS.index(count)
                gap = errors[data, rival][:, place] - errors[data, CREDIBLE][:, place]
                if not np.isnan(gap).any():
                    gaps[f"{data}, {count} leaves, {rival} {show_signed(mean_of(gap), 4)}"] = mean_of(gap)
    return gaps


def _few(errors: dict[tuple[str, str], Any]) -> Claim:
    gaps = _gaps(errors, _FEW)
    return Claim(
        "With 20 and 50 leaves the credible tree errs less than the other two.",
        all_hold(map(is_above, gaps.values())),
        f"errors above its own: {'; '.join(gaps) or 'none known'}.",
    )


def _many(errors: dict[tuple[str, str], Any]) -> Claim:
    gaps = _gaps(errors, _MANY)
    apart = [is_above(gap) is not None and abs(gap[0]) > 0.01 for gap in gaps.values()]
    same = bool(gaps) and all(map(is_equal, gaps.values()))
    return Claim(
        "With 100 leaves and more the three are within a point of each other.",
        True if same else False if any(apart) else None,
        f"errors above its own: {'; '.join(gaps) or 'none known'}.",
    )


LEAVES = Runs("peers.credible", "leaves", cells, measure)
