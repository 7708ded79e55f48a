"""Depths and further columns: what they change, and whether the online loss finds the best depth."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of, show_mean
from experiments.harness.verdicts import all_hold, is_above, show_signed
from experiments.papers.bayesian.contenders import find_error
from experiments.papers.bayesian.splits import load_split

SETS = ("g50c", "dna60", "digits", "satimage")
DEFAULT, SQUARES = "default", "with squares"
DEPTHS = {f"depth {depth}": depth for depth in (3, 4, 5, 6, 7)}
_DIGITS_LEARNED = 1_300
_RUNS: dict[Scale, int] = {"quick": 2, "full": 10}
_QUICK_SETS = ("g50c", "dna60")


def cells(scale: Scale) -> list[Cell]:
    """Return sets, runs and settings."""
    return [
        {"data": data, "setting": setting, "run": run}
        for data in (_QUICK_SETS if scale == "quick" else SETS)
        for run in range(_RUNS[scale])
        for setting in (DEFAULT, SQUARES, *DEPTHS)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: the error on the test rows after one pass, and the loss on the way."""
    data, setting = str(cell["data"]), str(cell["setting"])
    split = _load_digits(seed) if data == "digits" else load_split(data, seed)
    if setting == SQUARES:
        split = _add_squares(split)
    forest = qc.BayesianForest(depth=DEPTHS.get(setting), seed=seed % 2**31, max_bytes=2**31)
    forest.partial_fit(split.X, split.y, classes=np.unique(split.y))
    return [{"error": find_error(forest, split), "loss": float(forest.online_loss_)}]


def _load_digits(seed: int) -> TrainTest:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    learned, tested = order[:_DIGITS_LEARNED], order[_DIGITS_LEARNED:]
    return TrainTest(X[learned], y[learned], X[tested], y[tested])


def _add_squares(split: TrainTest) -> TrainTest:
    """Return the rows scaled to -1 .. 1, by what training rows show, with the square of every number beside it."""
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler((-1, 1)).fit(split.X)
    X, X_test = scaler.transform(split.X), np.clip(scaler.transform(split.X_test), -1, 1)
    return split._replace(X=np.hstack([X, X * X]), X_test=np.hstack([X_test, X_test * X_test]))


def _by_run(found: Results, data: str, setting: str, column: str = "error") -> Any:
    return found.where(data=data, setting=setting)[column]


def summarize_depths(found: Results) -> Report:
    """Return errors by depth, and of the depth that the online loss chooses in each run."""
    rows, below, above = [], {}, {}
    for data in found.unique("data"):
        errors, losses = (np.array([_by_run(found, data, one, what) for one in DEPTHS]) for what in ("error", "loss"))
        errors *= 100
        chosen = errors[losses.argmin(axis=0), np.arange(errors.shape[1])]
        order = errors.mean(axis=1).argsort()
        below[data], above[data] = mean_of(errors[order[-1]] - chosen), mean_of(chosen - errors[order[0]])
        result = [100 * _by_run(found, data, DEFAULT), *errors, chosen]
        rows.append([data, *(show_mean(mean_of(one), 2) for one in result)])
    caption = (
        f"Error on the test rows in per cent (standard error), one pass, {len(found.unique('run'))} runs; the default "
        "depth is ceil(log2 K) + 2 for K classes. Chosen: in each run the depth of the smallest `online_loss_`."
    )
    claims = [
        _claim("The depth of the smallest online loss errs less than the worst depth.", below, "points below it"),
        _claim("It errs more than the best depth in hindsight.", above, "points above it"),
    ]
    return Report([PageTable(["set", DEFAULT, *DEPTHS, "chosen"], rows, caption)], claims)


def _claim(says: str, gaps: dict[str, tuple[float, float]], what: str) -> Claim:
    result = "; ".join(f"{data} {show_signed(gap, 2)}" for data, gap in gaps.items())
    return Claim(says, all_hold(map(is_above, gaps.values())), f"{what}: {result}.")


def summarize_squares(found: Results) -> Report:
    """Return what squares of the numbers bring."""
    gains = {
        data: mean_of(100 * (_by_run(found, data, DEFAULT) - _by_run(found, data, SQUARES)))
        for data in found.unique("data")
    }
    rows = [
        [data, *(show_mean(mean_of(100 * _by_run(found, data, one)), 2) for one in (DEFAULT, SQUARES)),
         show_signed(gain, 2)]
        for data, gain in gains.items()
    ]  # fmt: skip
    caption = "Error in per cent with the square of every scaled number as a further column, and points that it gains."
    claim = _claim("Squares as further columns lower the error.", gains, "points gained")
    return Report([PageTable(["set", DEFAULT, SQUARES, "gain"], rows, caption)], [claim])


SETTINGS = Runs("peers.bayesian", "settings", cells, measure)
