"""How far the plan is from the best policy where that is known: three features bought together, and three alone."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from quercus.evaluation import best_policy

# P(1 | class) of each feature; the first three are a panel.
_ONES = np.array([[0.2, 0.8], [0.3, 0.7], [0.35, 0.65], [0.25, 0.6], [0.1, 0.5], [0.4, 0.6]])
_GROUPS, _COSTS = {"panel": ["x0", "x1", "x2"]}, {"panel": 2.0, "x3": 1.0, "x4": 1.0, "x5": 1.0}
_WORTHS = (2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
# Rows learned, and how many trades between cost and loss the best policies are made for.
_SIZES: dict[Scale, tuple[int, int]] = {"quick": (5_000, 15), "full": (30_000, 120)}
_RUNS: dict[Scale, int] = {"quick": 2, "full": 5}
_NEAR = 0.001


def cells(scale: Scale) -> list[Cell]:
    """Return a cell for each order of rows."""
    rows, trades = _SIZES[scale]
    return [{"data": "panel", "rows": rows, "trades": trades, "run": run} for run in range(_RUNS[scale])]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return cost and loss of the plan, exactly, and the least loss that any policy of that cost can have."""
    stream = qc.streams.NaiveBayes([np.stack([1 - ones, ones], axis=1) for ones in _ONES])
    trades = np.geomspace(0.0005, 0.5, int(cell["trades"])).tolist()
    ends = [best_policy(stream, _COSTS, groups=_GROUPS, price_of_error=1 / trade) for trade in trades]
    every = np.array(list(product((0.0, 1.0), repeat=len(_ONES))))
    joint = ends[0].environment.arrange([[j] for j in range(len(_ONES))])(tuple(range(len(_ONES)))).reshape(2, -1)
    X, y = _draw(int(cell["rows"]), np.random.default_rng(seed))
    lines: list[Row] = []
    for worth in _WORTHS:
        model = qc.UtilityTree(groups=_GROUPS, costs=_COSTS, worth=worth, nominal=range(len(_ONES)), seed=seed)
        learned, result = model.buy_and_learn(X, y), model.purchases(every)
        loss = 1 - float(joint[np.asarray(result.answers, int), np.arange(len(every))].sum())
        cost = float(joint.sum(axis=0) @ result.cost)
        # Whatever a policy costs, its loss is at least what each trade between the two leaves possible.
        least = max(trade * (end.value - cost) for trade, end in zip(trades, ends, strict=True))
        if loss < least - 1e-9:
            raise ValueError(f"a loss of {loss} is below what any policy of that cost can have, {least}.")
        lines.append(
            {
                "worth": worth,
                "learning": float(learned.cost.mean()),
                "cost": cost,
                "loss": loss,
                "above": max(loss - least, 0.0),
            }
        )
    return lines


def _draw(rows: int, random: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    y = random.integers(0, 2, rows)
    return (random.random((rows, len(_ONES))) < _ONES[:, y].T).astype(np.float64), y


def summarize(found: Results) -> Report:
    """Return cost and loss by worth, and how far the loss is above the least possible."""
    rows = []
    for (worth,), part in found.groups("worth"):
        result = [f"{part.mean(name)[0]:.{digits}f}" for name, digits in (("learning", 2), ("cost", 2), ("loss", 4))]
        rows.append([f"worth {worth:g}", *result, f"{part['above'].mean():.4f}", f"{part['above'].max():.4f}"])
    heads = ["", "cost per row, learning", "cost", "loss", "above the least loss at that cost", "at most"]
    caption = (
        f"A panel of three features at {_COSTS['panel']:g}, three single ones at 1, of two values each; "
        f"{int(found['rows'][0]):,} rows learned, {len(found.unique('run'))} orders; cost and loss are exact."
    )
    most = float(found["above"].max())
    claim = Claim(f"The plan loses at most {_NEAR:g} more than any policy of its cost.", most <= _NEAR,
                  f"at most {most:.4f}, at every worth and in every order.")  # fmt: skip
    return Report([PageTable(heads, rows, caption)], [claim])


PANEL = Runs("peers.utility", "panel", cells, measure)
