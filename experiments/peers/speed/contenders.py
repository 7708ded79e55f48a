"""Hoeffding trees of Quercus, river and MOA with the same settings, and `ConfidenceTree` with its own rule."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import quercus as qc
from experiments.peers.moa.driver import run_driver
from experiments.peers.stream_files import Result, StreamFiles, as_dicts

DELTA, TIE, GRACE_PERIOD, MAX_BYTES = 1e-7, 0.05, 200, 2**28
LEAVES = ("majority", "adaptive")
OURS, CONFIDENCE = "quercus HoeffdingTree", "quercus ConfidenceTree"
RIVER, MOA = "river HoeffdingTreeClassifier", "MOA HoeffdingTree"
# Rows whose dicts are made at a time, while river's clock stands still.
_BLOCK = 10_000
_RIVER_LEAF, _MOA_LEAF = {"majority": "mc", "adaptive": "nba"}, {"majority": "MC", "adaptive": "NBAdaptive"}


def make_ours(name: str, leaf: str) -> Any:
    """Return a learner of ours."""
    if name == CONFIDENCE:
        return qc.ConfidenceTree(leaf=leaf, max_bytes=MAX_BYTES)
    return qc.HoeffdingTree(
        criterion="entropy", delta=DELTA, tie=TIE, alpha=1.0, grace_period=GRACE_PERIOD, leaf=leaf, max_bytes=MAX_BYTES
    )


def make_river(leaf: str) -> Any:
    """Return river's learner."""
    if importlib.util.find_spec("river") is None:
        raise RuntimeError("river is not installed.")
    from river.tree import HoeffdingTreeClassifier
    from river.tree.splitter import GaussianSplitter

    return HoeffdingTreeClassifier(
        grace_period=GRACE_PERIOD,
        delta=DELTA,
        tau=TIE,
        split_criterion="info_gain",
        leaf_prediction=_RIVER_LEAF[leaf],
        splitter=GaussianSplitter(n_splits=10),
        binary_split=True,
        # MOA has no such limit; below 1 nearly pure leaves would stop growing.
        max_share_to_split=1.0,
        max_size=MAX_BYTES / 2**20,
    )


def pass_ours(name: str, stream: StreamFiles, leaf: str) -> Result:
    """Return what a learner of ours comes to; the clock runs from the float64 array to the last answer."""
    X, y = stream.load()
    # Compiled code is loaded here; what that costs is in the table of start-up times.
    make_ours(name, leaf).test_then_learn(X[:1000], y[:1000])
    model = make_ours(name, leaf)
    start = time.process_time()
    outcome = model.test_then_learn(X, y)
    seconds = time.process_time() - start
    correct = int(np.count_nonzero(outcome.answers == outcome.truth))
    return _result(seconds, correct, model.n_leaves_, model.nbytes, qc.__version__)


def pass_river(stream: StreamFiles, leaf: str) -> Result:
    """Return what river's learner comes to; its dicts are made while the clock stands still."""
    model, (X, y) = make_river(leaf), stream.load()
    import river

    seconds, correct = 0.0, 0
    for first in range(0, len(y), _BLOCK):
        rows, labels = as_dicts(X[first : first + _BLOCK]), y[first : first + _BLOCK].tolist()
        start = time.process_time()
        for x, label in zip(rows, labels, strict=True):
            correct += model.predict_one(x) == label
            model.learn_one(x, label)
        seconds += time.process_time() - start
    return _result(seconds, correct, model.n_leaves, model._raw_memory_usage, river.__version__)


def pass_moa(stream: StreamFiles, leaf: str) -> Result:
    """Return what MOA's learner comes to, in a warm JVM and in a cold one; instances are built before the clock starts.

    The figure is CPU time of the thread that learns; that of the whole process (compiler, garbage collector) is told
    as well.
    """
    options = f"-m {MAX_BYTES} -g {GRACE_PERIOD} -c {DELTA} -t {TIE} -s InfoGainSplitCriterion -b -l {_MOA_LEAF[leaf]}"
    return run_driver("Prequential", stream.folder, stream.rows, stream.features, stream.classes, options)


PASSES: dict[str, Callable[[StreamFiles, str], Result]] = {
    OURS: partial(pass_ours, OURS),
    CONFIDENCE: partial(pass_ours, CONFIDENCE),
    RIVER: pass_river,
    MOA: pass_moa,
}


def _result(seconds: float, correct: int, leaves: int, nbytes: int, version: str) -> Result:
    return {
        "seconds": seconds, "correct": correct, "leaves": int(leaves), "bytes": int(nbytes), "version": version
    }  # fmt: skip


def time_calls(name: str, stream: StreamFiles, leaf: str) -> Result:
    """Return the median microseconds of ``predict_one`` and ``learn_one`` on dicts made beforehand."""
    model = make_river(leaf) if name == RIVER else make_ours(name, leaf)
    X, y = stream.load()
    predicting, learning = np.empty(len(y)), np.empty(len(y))
    clock = time.perf_counter_ns
    for i, (x, label) in enumerate(zip(as_dicts(X), y.tolist(), strict=True)):
        start = clock()
        model.predict_one(x)
        between = clock()
        model.learn_one(x, label)
        learning[i] = clock() - between
        predicting[i] = between - start
    return {"predicted": float(np.median(predicting)) / 1000, "learned": float(np.median(learning)) / 1000}
