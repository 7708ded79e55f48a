"""Whether it pays on real data to give each leaf some labels before the choice of the next one is free."""

from __future__ import annotations

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of
from experiments.harness.verdicts import all_hold, is_above, show_signed
from experiments.papers.credible.pools import DATA
from experiments.papers.credible.real import Method, load_halves

FLOORS = (0, 5, 10, 20)
_DELTA, _ACTIVE = 0.2, 0.1
# Shares of the pool over which the risk is told.
_SHARES = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
_RUNS: dict[Scale, int] = {"quick": 4, "full": 40}


def cells(scale: Scale) -> list[Cell]:
    """Return sets, floors and runs."""
    return [
        {"data": data, "floor": floor, "run": run} for data in DATA for floor in FLOORS for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: the mean risk on the other half in the middle of the run."""
    method = Method("active", _DELTA, _ACTIVE, floor=int(cell["floor"]))
    found = method.follow(load_halves(str(cell["data"]), 0, seed), _SHARES)
    return [{"risk": float(np.mean([risk for risk, _ in found]))}]


def summarize(found: Results) -> Report:
    """Return the risk without a floor, and what one takes off."""
    gains = {data: {floor: mean_of(_gain(found, data, floor)) for floor in FLOORS[1:]} for data in DATA}
    rows = [
        [data, f"{found.where(data=data, floor=0).mean('risk')[0]:.3f}", *map(show_signed, by_floor.values())]
        for data, by_floor in gains.items()
    ]
    caption = (
        f"Active choice, deltas {_DELTA:g} and {_ACTIVE:g}: mean risk while {_SHARES[0]:.0%} to {_SHARES[-1]:.0%} of "
        f"the pool are labelled, {len(found.unique('run'))} runs, and what a floor takes off (standard error)."
    )
    table = PageTable(["", "no floor", *(f"{floor} labels a leaf" for floor in FLOORS[1:])], rows, caption)
    return Report([table], [_claim(gains)])


def _gain(found: Results, data: str, floor: int) -> np.ndarray:
    without, with_floor = (found.where(data=data, floor=each)["risk"] for each in (0, floor))
    return np.asarray(without - with_floor)


def _claim(gains: dict[str, dict[int, tuple[float, float]]]) -> Claim:
    most = FLOORS[-1]
    signs = {data: is_above(by_floor[most]) for data, by_floor in gains.items()}
    better, worse = ([data for data, sign in signs.items() if sign is wanted] for wanted in (True, False))
    return Claim(
        f"With {most} labels a leaf first the risk is lower, as on the toy problem.",
        all_hold(signs.values()),
        f"clearly lower on {', '.join(better) or 'none'}, clearly higher on {', '.join(worse) or 'none'}, of "
        f"{len(signs)} sets.",
    )


FLOOR_RUNS = Runs("peers.credible", "floors", cells, measure)
