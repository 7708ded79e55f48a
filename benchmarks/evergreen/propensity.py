"""Whether labels that were chosen should count by the inverse of their probability of being chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from benchmarks.tables import show
from quercus.papers.utility.splits import Split, load_split

_SETS = ("satimage", "phishing", "banknote", "mushroom", "tic_tac_toe", "cod_rna_train", "fico")
_STREAMS = {"random tree": qc.streams.RandomTree, "LED": qc.streams.LED, "SEA": qc.streams.SEA}
_ROWS, _TESTED, _FIRST = 20_000, 5_000, 50
# Asked with probability b / (b + margin), at least so much; weights are at most so large.
_B, _LEAST, _MOST = 0.02, 0.02, 10.0


def propensity(quick: bool) -> None:
    """Print accuracy on rows that follow, with labels asked where the tree is unsure: counted alike, and by weight."""
    runs = 1 if quick else 3
    lines = []
    for name in (*_SETS, *_STREAMS):
        found = []
        for run in range(runs):
            split = _load(name, run)
            alike, labels = _score(split, run, weighted=False)
            weighed, _ = _score(split, run, weighted=True)
            at_random, _ = _score(split, run, weighted=False, share=labels / len(split.y))
            found.append([labels, alike, weighed, at_random])
        labels, *accuracies = np.mean(found, axis=0).tolist()
        lines.append([name, f"{labels:,.0f}", *(f"{value:.4f}" for value in accuracies)])
        print(*lines[-1], flush=True)
    print(show(["", "labels", "counted alike", "by inverse propensity", "asked at random"], lines))


def _load(name: str, run: int) -> Split:
    if name in _STREAMS:
        X, y = _STREAMS[name](seed=900 + run).take(_ROWS + _TESTED)
        return Split(X[:_ROWS], np.asarray(y[:_ROWS]), X[_ROWS:], np.asarray(y[_ROWS:]), [])
    split = load_split(name, 900 + run)
    return Split(split.X[:_ROWS], split.y[:_ROWS], split.X_test[:_TESTED], split.y_test[:_TESTED], split.nominal)


def _score(split: Split, run: int, weighted: bool, share: float | None = None) -> tuple[float, int]:
    """Return the accuracy of a tree that asked for some labels of the stream, and how many these were."""
    tree: Any = qc.EvergreenTree(nominal=split.nominal, adaptive=False)
    tree.partial_fit(split.X[:_FIRST], split.y[:_FIRST])
    random, total, asked = np.random.default_rng(run), 0.0, 0
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
