"""Quercus on a stream. The clock runs from the float64 array to the last answer: reading, predicting, learning."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

import quercus
from benchmarks.common import DELTA, GRACE_PERIOD, MAX_BYTES, TIE, Result, StreamFiles, time_calls


def make(learner: str, leaf: str) -> Any:
    """Return the learner: HoeffdingTree with the settings of the peers, ConfidenceTree with its own rule."""
    if learner == "HoeffdingTree":
        return quercus.HoeffdingTree(
            criterion="entropy",
            delta=DELTA,
            tie=TIE,
            alpha=1.0,
            grace_period=GRACE_PERIOD,
            leaf=leaf,
            max_bytes=MAX_BYTES,
        )
    return quercus.ConfidenceTree(leaf=leaf, max_bytes=MAX_BYTES)


def run_pass(model: Any, X: Any, y: Any) -> Result:
    start = time.process_time()
    outcome = model.test_then_learn(X, y)
    seconds = time.process_time() - start
    correct = int(np.count_nonzero(outcome.answers == outcome.truth))
    return {"seconds": seconds, "correct": correct, "leaves": int(model.n_leaves_), "bytes": int(model.nbytes)}


def prequential(stream: StreamFiles, learner: str, leaf: str) -> Result:
    X, y = stream.load()
    # Compiled code is loaded here; what that costs is in the table of start-up times.
    make(learner, leaf).test_then_learn(X[:1000], y[:1000])
    return run_pass(make(learner, leaf), X, y)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["prequential", "latency"])
    parser.add_argument("folder")
    parser.add_argument("leaf")
    parser.add_argument("learner")
    given = parser.parse_args()
    stream = StreamFiles.open(given.folder)
    if given.what == "latency":
        result = time_calls(make(given.learner, given.leaf), stream)
    else:
        result = prequential(stream, given.learner, given.leaf)
    print(json.dumps({**result, "version": quercus.__version__}))


if __name__ == "__main__":
    main()
