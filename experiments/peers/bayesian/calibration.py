"""Whether the forest's probabilities can be believed, beside those of a random forest: what is measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.harness.data import Floats, TrainTest
from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.papers.bayesian.splits import load_split

OURS, THEIRS = "BayesianForest", "random forest, 100"
BINS = 15
REJECTED = 0.1
# No answer counts as less likely than this in the log-loss: a random forest says 0.
LEAST = 1e-3
ERROR, LOSS, BRIER = "error", "log-loss", "Brier"
# By what rows are rejected.
CONFIDENCE, ENTROPY, EPISTEMIC = "largest p", "entropy", "epistemic"
_RUNS: dict[Scale, dict[str, int]] = {
    "quick": {"dna60": 2, "satimage": 2},
    "full": {"dna": 10, "dna60": 10, "satimage": 10, "usps": 3},
}


def cells(scale: Scale) -> list[Cell]:
    """Return sets, runs and forests."""
    return [
        {"data": data, "learner": learner, "run": run}
        for data, runs in _RUNS[scale].items()
        for run in range(runs)
        for learner in (OURS, THEIRS)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return scores, the errors that each kind of doubt finds, and the rows, right ones and confidence of each bin."""
    split, seed = load_split(str(cell["data"]), seed), seed % 2**31
    p, doubts = _ours(split, seed) if cell["learner"] == OURS else _theirs(split, seed)
    found = {
        **_scores(p, split.y_test),
        **{doubt: _reject(p, split.y_test, result) for doubt, result in doubts.items()},
    }
    lines: list[Row] = [{"what": what, "bin": 0, "value": value} for what, value in found.items()]
    for what, values in _fill_bins(p, split.y_test).items():
        lines += [{"what": what, "bin": place, "value": value} for place, value in enumerate(values.tolist())]
    return lines


def _ours(split: TrainTest, seed: int) -> tuple[Floats, dict[str, Floats]]:
    forest = qc.BayesianForest(seed=seed, max_bytes=2**31)
    forest.partial_fit(split.X, split.y, classes=np.unique(split.y))
    p, result = forest.predict_proba(split.X_test), forest.uncertainty(split.X_test)
    return p, {CONFIDENCE: 1 - p.max(axis=1), ENTROPY: result.total, EPISTEMIC: result.epistemic}


def _theirs(split: TrainTest, seed: int) -> tuple[Floats, dict[str, Floats]]:
    from sklearn.ensemble import RandomForestClassifier

    p = RandomForestClassifier(100, random_state=seed).fit(split.X, split.y).predict_proba(split.X_test)
    return p, {CONFIDENCE: 1 - p.max(axis=1)}


def _scores(p: Floats, y: NDArray[np.int64]) -> dict[str, float]:
    said = p[np.arange(len(y)), y]
    return {
        ERROR: float((p.argmax(axis=1) != y).mean()),
        LOSS: float(-np.log(np.maximum(said, LEAST)).mean()),
        BRIER: float(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1).mean()),
    }


def _reject(p: Floats, y: NDArray[np.int64], doubt: Floats) -> float:
    """Return the share of the errors among the most doubtful rows."""
    wrong = p.argmax(axis=1) != y
    rejected = np.argsort(-doubt, kind="stable")[: round(REJECTED * len(wrong))]
    return float(wrong[rejected].sum() / wrong.sum())


def _fill_bins(p: Floats, y: NDArray[np.int64]) -> dict[str, Floats]:
    """Return rows, right answers and the sum of the largest probabilities, in bins of equal width of the latter."""
    confidence = p.max(axis=1)
    at = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    return {
        "rows": np.bincount(at, minlength=BINS).astype(np.float64),
        "right": np.bincount(at, p.argmax(axis=1) == y, BINS).astype(np.float64),
        "confidence": np.bincount(at, confidence, BINS).astype(np.float64),
    }


CALIBRATION = Runs("peers.bayesian", "calibration", cells, measure)
