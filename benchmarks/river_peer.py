"""River's HoeffdingTreeClassifier on a stream. Its dicts are made while the clock stands still, which favours river."""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from typing import Any

from benchmarks.common import (
    DELTA,
    GRACE_PERIOD,
    MAX_BYTES,
    TIE,
    Result,
    StreamFiles,
    as_dicts,
    time_calls,
)

LEAF = {"majority": "mc", "adaptive": "nba"}
BLOCK = 10_000


def make(leaf: str) -> Any:
    from river.tree import HoeffdingTreeClassifier
    from river.tree.splitter import GaussianSplitter

    return HoeffdingTreeClassifier(
        grace_period=GRACE_PERIOD,
        delta=DELTA,
        tau=TIE,
        split_criterion="info_gain",
        leaf_prediction=LEAF[leaf],
        splitter=GaussianSplitter(n_splits=10),
        binary_split=True,
        # MOA has no such limit; below 1 nearly pure leaves would stop growing.
        max_share_to_split=1.0,
        max_size=MAX_BYTES / 2**20,
    )


def run_pass(model: Any, X: Any, y: Any) -> Result:
    seconds, correct = 0.0, 0
    for first in range(0, len(y), BLOCK):
        rows = as_dicts(X[first : first + BLOCK])
        labels = y[first : first + BLOCK].tolist()
        start = time.process_time()
        for x, label in zip(rows, labels, strict=True):
            correct += model.predict_one(x) == label
            model.learn_one(x, label)
        seconds += time.process_time() - start
    return {"seconds": seconds, "correct": correct, "leaves": model.n_leaves, "bytes": model._raw_memory_usage}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["prequential", "latency"])
    parser.add_argument("folder")
    parser.add_argument("leaf")
    given = parser.parse_args()
    if importlib.util.find_spec("river") is None:
        print(json.dumps({"missing": "river is not installed"}))
        return
    import river

    stream = StreamFiles.open(given.folder)
    if given.what == "latency":
        result = time_calls(make(given.leaf), stream)
    else:
        result = run_pass(make(given.leaf), *stream.load())
    print(json.dumps({**result, "version": river.__version__}))


if __name__ == "__main__":
    main()
