"""Three concepts, 60 rows each: what a learner that forgets buys, and how good it is after each row.

In the paper's form an example has four binary features: small, red, green, circular; in ours the three that it has.
After each row the answers for all 27 combinations are compared with the concept that holds, by all features and by the
plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from benchmarks.tables import show
from benchmarks.utility.peers import efdt
from quercus.papers.utility.drifting import DRIFTS, PREDICATES, ROWS, VALUES, Seen, as_predicates, follow

_PAID = {"ec2": "343.3", "ig": "350.6", "us": "477.0"}


class Line(NamedTuple):
    """A learner and how it sees a row; one that buys everything has no price but the number of features."""

    make: Callable[[int], Any]
    see: Callable[[Seen], Seen]
    paper: str = ""


def _lines() -> dict[str, Line]:
    lines = {}
    for objective in ("ec2", "ig", "us"):
        for forget in (0.05, 0.0):

            def make(run: int, objective: str = objective, forget: float = forget) -> Any:
                return qc.UtilityTree.paper(objective=objective, forget=forget, seed=run)

            name = f"4 predicates, paper's form, {objective}{', forgets' if forget else ''}"
            lines[name] = Line(make, as_predicates, _PAID[objective] if forget else "")
    for forget in (0.05, 0.0):

        def ours(run: int, forget: float = forget) -> Any:
            return qc.UtilityTree(forget=forget, seed=run)

        def ours_ec2(run: int, forget: float = forget) -> Any:
            return qc.UtilityTree(objective="ec2", worth=None, forget=forget, seed=run)

        tail = ", forgets" if forget else ""
        lines[f"3 features, UtilityTree(){tail}"] = Line(ours, dict)
        lines[f"3 features, ec2, learned prior{tail}"] = Line(ours_ec2, dict)
    lines["4 predicates, river EFDT"] = Line(lambda run: efdt(list(PREDICATES)), as_predicates, "720.0")
    lines["3 features, river EFDT"] = Line(lambda run: efdt(list(VALUES)), dict)
    return lines


def stagger(sets: Sequence[str] | None, quick: bool) -> None:
    """Print cost and utility by concept."""
    runs = 3 if quick else 10
    rows = []
    for name, line in _lines().items():
        found = np.array([follow(line.make(run), line.see, run)[:, 1:] for run in range(runs)])
        cost, full, planned, price = (found[:, :, k].mean(axis=0).reshape(3, -1) for k in range(4))
        spread = found[:, :, 0].sum(axis=1).std(ddof=1) / np.sqrt(runs)
        cells = [f"{cost.sum():.0f} ± {spread:.0f}", line.paper, *(f"{value:.0f}" for value in cost.sum(axis=1))]
        cells += [f"{value:.3f}" for value in (full.mean(), planned.mean())]
        cells += [f"{price.mean():.2f}", " ".join(f"{value:.2f}" for value in planned.mean(axis=1))]
        rows.append([name, *cells])
        print(*rows[-1], flush=True)
    print(f"\nSTAGGER, {ROWS} rows, drifts after {DRIFTS}, {runs} runs; utility: accuracy over all 27 combinations")
    header = ["", "cost", "paper", "1st", "2nd", "3rd", "by all features", "by the plan", "bought", "plan, by concept"]
    print(show(header, rows))
