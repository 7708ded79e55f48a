"""What it is worth to know the prices: FICO with its three most informative features dearer than the others."""

from __future__ import annotations

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.papers.utility.figures import judge
from experiments.papers.utility.verdicts import gap
from experiments.peers.utility.rows import load
from quercus.evaluation.fixed import LOOK, information

_DATA = "fico_binary"
_DEAR, _DEAREST = 5.0, 3
_WORTHS = (200.0, 1000.0)
_RUNS: dict[Scale, int] = {"quick": 3, "full": 10}
_ROWS: dict[Scale, tuple[int, int]] = {"quick": (800, 500), "full": (0, 0)}
_KNOWN = {True: "known", False: "not known"}


def cells(scale: Scale) -> list[Cell]:
    """Return who knows what."""
    rows, tested = _ROWS[scale]
    return [
        {"data": _DATA, "worth": worth, "known": known, "rows": rows, "tested": tested, "run": run}
        for worth in _WORTHS
        for known in _KNOWN
        for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return what is spent at the true prices, whether they were known or not."""
    split = load(str(cell["data"]), seed, int(cell["rows"]), int(cell["tested"]))
    result = information(split.X[:LOOK], split.y[:LOOK], split.nominal)
    dear = np.argsort(-result, kind="stable")[:_DEAREST]
    price = np.ones(split.X.shape[1])
    price[dear] = _DEAR
    costs = {f"x{j}": _DEAR for j in dear.tolist()} if cell["known"] else None
    model = qc.UtilityTree(nominal=split.nominal, costs=costs, worth=float(cell["worth"]), seed=seed)
    learned, answered = model.buy_and_learn(split.X, split.y), model.purchases(split.X_test)
    return [
        {
            "learning": float((learned.bought @ price).mean()),
            "spent": float((answered.bought @ price).mean()),
            "accuracy": judge(answered.answers, split.y_test).accuracy,
            "dear": float(answered.bought[:, dear].sum(axis=1).mean()),
        }
    ]


def summarize(found: Results) -> Report:
    """Return what is spent and how good the answers are, with and without knowing the prices."""
    rows, claims = [], []
    for (worth, known), part in found.groups("worth", "known"):
        result = [show_mean(part.mean(name), digits) for name, digits in _COLUMNS.items()]
        rows.append([f"worth {worth:g}, prices {_KNOWN[bool(known)]}", *result])
    for worth in _WORTHS:
        knowing, other = (found.where(worth=worth, known=known) for known in _KNOWN)
        saved, differs = gap(other, knowing, "spent"), gap(knowing, other, "accuracy")
        claims.append(
            Claim(f"Knowing the prices saves money (worth {worth:g}).", saved.is_more,
                  f"{saved.mean:.2f} ({saved.error:.2f}) less is spent per row; accuracy differs by {differs}.")
        )  # fmt: skip
    heads = ["", "spent per row, learning", "spent per row", "accuracy", "dear features bought"]
    caption = (
        f"FICO, the three features that tell most in the first {LOOK} rows at {_DEAR:g}, the others at 1; "
        f"{len(found.unique('run'))} runs."
    )
    return Report([PageTable(heads, rows, caption)], claims)


_COLUMNS = {"learning": 2, "spent": 2, "accuracy": 3, "dear": 2}
PRICES = Runs("peers.utility", "prices", cells, measure)
