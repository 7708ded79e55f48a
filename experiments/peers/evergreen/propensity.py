"""Whether labels that were chosen should count by the inverse of their probability of being chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of
from experiments.harness.verdicts import show_signed
from experiments.papers.utility.splits import load_split

_SETS = ("satimage", "phishing", "banknote", "mushroom", "tic_tac_toe", "cod_rna_train", "fico")
_STREAMS = {"random tree": qc.streams.RandomTree, "LED": qc.streams.LED, "SEA": qc.streams.SEA}
_ROWS: dict[Scale, int] = {"quick": 1_000, "full": 20_000}
_RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
_TESTED, _FIRST = 5_000, 50
# Asked with probability b / (b + margin), at least so much; weights are at most so large.
_B, _LEAST, _MOST = 0.02, 0.02, 10.0
_NOTE = (
    f"Labels are asked with probability b / (b + margin), b = {_B:g}, at least {_LEAST:g}; weights are its inverse, at "
    f"most {_MOST:g}, divided by their mean so far. Accuracy on rows that follow. At random: as many labels, of any "
    "rows."
)


def cells(scale: Scale) -> list[Cell]:
    """Return which streams are asked."""
    return [
        {"data": data, "most": _ROWS[scale], "run": run} for data in (*_SETS, *_STREAMS) for run in range(_RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: labels asked, and accuracy with them counted alike, by weight, and with others at random."""
    seed %= 2**31
    split = _load(str(cell["data"]), seed, int(cell["most"]))
    alike, labels = _score(split, seed, weighted=False)
    weighed, _ = _score(split, seed, weighted=True)
    at_random, _ = _score(split, seed, weighted=False, share=labels / len(split.y))
    return [{"labels": labels, "alike": alike, "weighed": weighed, "at_random": at_random}]


def _load(name: str, seed: int, most: int) -> TrainTest:
    if name in _STREAMS:
        X, y = _STREAMS[name](seed=seed).take(most + _TESTED)
        return TrainTest(X[:most], np.asarray(y[:most]), X[most:], np.asarray(y[most:]), [])
    split = load_split(name, seed)
    return TrainTest(split.X[:most], split.y[:most], split.X_test[:_TESTED], split.y_test[:_TESTED], split.nominal)


def _score(split: TrainTest, seed: int, weighted: bool, share: float | None = None) -> tuple[float, int]:
    """Return the accuracy of a tree that asked for some labels of the stream, and how many these were."""
    tree: Any = qc.EvergreenTree(nominal=split.nominal, adaptive=False)
    tree.partial_fit(split.X[:_FIRST], split.y[:_FIRST])
    random, total, asked = np.random.default_rng(seed), 0.0, 0
    for row, label in zip(split.X[_FIRST:], split.y[_FIRST:], strict=True):
        chance = share
        if chance is None:
            best = np.sort(tree.predict_proba(row[None])[0])[::-1]
            margin = best[0] - best[1] if len(best) > 1 else 0.0
            chance = max(_LEAST, _B / (_B + margin))
        if random.random() < chance:
            asked += 1
            total += min(1.0 / chance, _MOST)
            weight = min(1.0 / chance, _MOST) / (total / asked) if weighted else 1.0
            tree.partial_fit(row[None], [label], sample_weight=[weight])
    answers = tree.regrow().predict(split.X_test)
    return float(np.mean(answers == split.y_test)), asked


def summarize(found: Results) -> Report:
    """Return accuracies by set, and whether weights help."""
    rows, over = [], []
    for (data,), part in found.groups("data"):
        more = part["weighed"] - part["alike"]
        over.append(100 * float(more.mean()))
        rows.append(
            [
                data,
                f"{part['labels'].mean():,.0f}",
                *(f"{part.mean(name)[0]:.4f}" for name in ("alike", "weighed")),
                show_signed(mean_of(100 * more), 2),
                f"{part.mean('at_random')[0]:.4f}",
            ]
        )
    mean, error = np.mean(over), np.std(over, ddof=1) / np.sqrt(len(over))
    seen = f"{mean:+.2f} ({error:.2f} over sets) points; worse on {sum(one < 0 for one in over)} of {len(over)} sets."
    claim = Claim("Weights by inverse propensity make the tree better.",
                  bool(mean > 0) if abs(mean) > 2 * error else None, seen)  # fmt: skip
    heads = ["", "labels", "counted alike", "by inverse propensity", "points gained", "asked at random"]
    return Report([PageTable(heads, rows)], [claim], _NOTE)


PROPENSITY = Runs("peers.evergreen", "propensity", cells, measure)
