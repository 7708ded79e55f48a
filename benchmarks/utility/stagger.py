"""Three concepts, 60 rows each: what a learner that forgets buys, and how good it is after each row.

In the paper's form an example has four binary features: small, red, green, circular; in ours the three that it has.
After each row the answers for all 27 combinations are compared with the concept that holds, by all features and by the
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from benchmarks.utility.peers import efdt

_ROWS, _DRIFTS = 180, (60, 120)
_PREDICATES = {"small": ("size", "small"), "red": ("color", "red"), "green": ("color", "green")}
_PREDICATES["circular"] = ("shape", "circular")
_VALUES = {
    "size": ("small", "medium", "large"),
    "color": ("red", "green", "blue"),
    "shape": ("square", "circular", "triangular"),
}
_EVERY = [dict(zip(_VALUES, values, strict=True)) for values in product(*_VALUES.values())]
_PAID = {"ec2": "343.3", "ig": "350.6", "us": "477.0"}
Row = dict[str, str]


class Line(NamedTuple):
    """A learner and how it sees a row; one that buys everything has no price but the number of features."""

    make: Callable[[int], Any]
    see: Callable[[Row], Row]
    paper: str = ""


def _as_predicates(row: Row) -> Row:
    return {name: "yes" if row[feature] == value else "no" for name, (feature, value) in _PREDICATES.items()}


def _lines() -> dict[str, Line]:
    lines = {}
    for objective in ("ec2", "ig", "us"):
        for forget in (0.05, 0.0):

            def make(run: int, objective: str = objective, forget: float = forget) -> Any:
                return qc.UtilityTree.paper(objective=objective, forget=forget, seed=run)

            name = f"4 predicates, paper's form, {objective}{', forgets' if forget else ''}"
            lines[name] = Line(make, _as_predicates, _PAID[objective] if forget else "")
    for forget in (0.05, 0.0):

        def ours(run: int, forget: float = forget) -> Any:
            return qc.UtilityTree(forget=forget, seed=run)

        def ours_ec2(run: int, forget: float = forget) -> Any:
            return qc.UtilityTree(objective="ec2", worth=None, forget=forget, seed=run)

        tail = ", forgets" if forget else ""
        lines[f"3 features, UtilityTree(){tail}"] = Line(ours, dict)
        lines[f"3 features, ec2, learned prior{tail}"] = Line(ours_ec2, dict)
    lines["4 predicates, river EFDT"] = Line(lambda run: efdt(list(_PREDICATES)), _as_predicates, "720.0")
    lines["3 features, river EFDT"] = Line(lambda run: efdt(list(_VALUES)), dict)
    return lines


def stagger(sets: Sequence[str] | None, quick: bool) -> None:
    """Print cost and utility by concept."""
    runs = 3 if quick else 10
    rows = []
    for name, line in _lines().items():
        found = np.array([_run(line, run) for run in range(runs)])
        cost, full, planned, price = (found[:, :, k].mean(axis=0).reshape(3, -1) for k in range(4))
        spread = found[:, :, 0].sum(axis=1).std(ddof=1) / np.sqrt(runs)
        cells = [f"{cost.sum():.0f} ± {spread:.0f}", line.paper, *(f"{value:.0f}" for value in cost.sum(axis=1))]
        cells += [f"{value:.3f}" for value in (full.mean(), planned.mean())]
        cells += [f"{price.mean():.2f}", " ".join(f"{value:.2f}" for value in planned.mean(axis=1))]
        rows.append([name, *cells])
        print(*rows[-1], flush=True)
    print(f"\nSTAGGER, {_ROWS} rows, drifts after {_DRIFTS}, {runs} runs; utility: accuracy over all 27 combinations")
    header = ["", "cost", "paper", "1st", "2nd", "3rd", "by all features", "by the plan", "bought", "plan, by concept"]
    print(show(header, rows))


def _run(line: Line, run: int) -> NDArray[np.float64]:
    """Return for each row: what it cost, utility by all features and by the plan, and what the plan bought."""
    table, labels = qc.streams.Stagger(drift=_DRIFTS, rows=_ROWS, seed=run).take(_ROWS)
    model = line.make(run)
    seen = [line.see(row) for row in _EVERY]
    out = np.zeros((_ROWS, 4))
    for t, (row, label) in enumerate(zip(table.to_pylist(), labels.tolist(), strict=True)):
        truth = _concept(sum(t >= drift for drift in _DRIFTS))
        x = line.see(row)
        if isinstance(model, qc.UtilityTree):
            out[t, 0] = model.buy_and_learn([x], [label]).cost[0]
            out[t, 1:] = _test(model, seen, truth)
        else:
            model.learn_one(x, label)
            right = np.mean([model.predict_one(x) == y for x, y in zip(seen, truth, strict=True)])
            out[t] = len(x), right, right, len(x)
    return out


def _test(model: qc.UtilityTree, seen: list[Row], truth: list[int]) -> list[float]:
    planned = model.purchases(seen)
    model.set_costs(dict.fromkeys(model.schema_.names, 0.0))
    full = model.purchases(seen).answers
    model.set_costs(dict.fromkeys(model.schema_.names, 1.0))
    return [float(np.mean(full == truth)), float(np.mean(planned.answers == truth)), float(planned.cost.mean())]


def _concept(number: int) -> list[int]:
    rules = (
        lambda row: row["size"] == "small" and row["color"] == "red",
        lambda row: row["color"] == "green" or row["shape"] == "circular",
        lambda row: row["size"] != "small",
    )
    return [int(rules[number](row)) for row in _EVERY]
