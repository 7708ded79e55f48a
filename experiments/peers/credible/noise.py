"""How often labels that depend on nothing are split, after any of their number."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.harness.verdicts import CLEAR

LABELS = 200
# By name in the tables.
CORRECTIONS = {"`None`": None, '`"cuts"`': "cuts", '`"cuts+looks"`': "cuts+looks"}
_ATTRIBUTES, _DELTAS, _ONES = (1, 8, 64), (0.05, 0.15, 0.3), (0.5, 0.1)
_RUNS: dict[Scale, int] = {"quick": 5, "full": 100}
# Labels between two looks at whether there is a split; the tree itself looks after each.
_STEP = 20


def cells(scale: Scale) -> list[Cell]:
    """Return the settings, each with all of its runs."""
    return [
        {"data": f"{attributes} attributes", "attributes": attributes, "delta": delta, "ones": ones,
         "correction": correction, "runs": _RUNS[scale]}
        for attributes, delta, ones, correction in product(_ATTRIBUTES, _DELTAS, _ONES, CORRECTIONS)
    ]  # fmt: skip


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: in how many of the runs there was a split."""
    return [{"split": sum(_splits(cell, seed, run) for run in range(int(cell["runs"])))}]


def _splits(cell: Cell, seed: int, run: int) -> bool:
    rng = np.random.default_rng([seed, run])
    X = rng.random((LABELS, int(cell["attributes"])))
    y = (rng.random(LABELS) < float(cell["ones"])).astype(np.int64)
    correction = CORRECTIONS[str(cell["correction"])]
    tree = qc.CredibleTree(cuts="exact", delta=float(cell["delta"]), correction=correction, min_leaf=0)
    for start in range(0, LABELS, _STEP):
        tree.partial_fit(X[start : start + _STEP], y[start : start + _STEP], classes=[0, 1])
        # What is split stays so.
        if tree.n_leaves_ > 1:
            return True
    return False


def summarize(found: Results) -> Report:
    """Return the shares of runs with a split, and whether they are what delta promises."""
    rows = []
    for (attributes, delta), part in found.groups("attributes", "delta"):
        shares = [_share(part.where(ones=ones, correction=name)) for ones in _ONES for name in CORRECTIONS]
        rows.append([f"{attributes}", f"{delta:g}", *(f"{share:.3f}" for share in shares)])
    heads = [f"{ones:.0%} ones: {name}" for ones in _ONES for name in CORRECTIONS]
    caption = (
        f"Share of {int(found['runs'][0])} runs in which labels that depend on nothing are split at all: "
        f"{LABELS} labels, exact cuts, a look after every label."
    )
    return Report([PageTable(["attributes", "delta", *heads], rows, caption)], [_promised(found), _corrected(found)])


def _share(part: Results) -> float:
    return float(part["split"][0] / part["runs"][0])


def _promised(found: Results) -> Claim:
    return _claim(found, "`None`", 3.0, "Without a correction a split is wrong with a probability of at most 3 delta.")


def _corrected(found: Results) -> Claim:
    says = 'With `"cuts"` a run is split falsely with a probability of at most delta.'
    return _claim(found, '`"cuts"`', 1.0, says)


def _claim(found: Results, correction: str, times: float, says: str) -> Claim:
    """Return whether no share is clearly above so many times delta, nor so near to it that it cannot be told."""
    verdicts, worst = [], (-math.inf, "")
    for (attributes, delta, ones), part in found.where(correction=correction).groups("attributes", "delta", "ones"):
        share, runs = _share(part), int(part["runs"][0])
        allowed = times * delta
        gap, error = share - allowed, math.sqrt(allowed * (1 - allowed) / runs)
        verdicts.append(None if abs(gap) <= CLEAR * error else gap <= 0)
        result = f"{share:.3f} of the runs where {allowed:g} are promised: {attributes} attributes, delta {delta:g}, "
        worst = max(worst, (gap, f"{result}{ones:.0%} ones"))
    holds = False if False in verdicts else None if None in verdicts else True
    above = sum(verdict is False for verdict in verdicts)
    return Claim(says, holds, f"clearly more in {above} of {len(verdicts)} settings; the most beyond it, {worst[1]}.")


NOISE = Runs("peers.credible", "noise", cells, measure)
