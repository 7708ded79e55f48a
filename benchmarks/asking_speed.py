"""How fast a stream is taken when labels are asked for: ``python -m benchmarks.asking_speed [--quick]``.

Ours beside the loop of scikit-activeml, each in a process of its own, by CPU time, best of three, in turns. Every
contender answers each row, decides about it at a budget of 0.1, and learns what it asked for. Ours runs through
`evaluate`, with a ledger in memory and all figures, to the end of the stream; scikit-activeml through its first rows
alone, which take long enough.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import Result, StreamFiles, best_pass, measure
from benchmarks.tables import problem, show

ROWS, QUICK_ROWS = 500_000, 50_000
PEER_ROWS, QUICK_PEER_ROWS = 5_000, 500
BUDGET = 0.1
ROUNDS = 3
OURS = ("Uncertain", "VariableUncertainty", "Random")
PEERS = ("GaussianNB", "ConfidenceTree")
LINES = {f"quercus ConfidenceTree, {policy}": ("ours", policy) for policy in OURS} | {
    f"scikit-activeml VariableUncertainty, {learner}": ("peer", learner) for learner in PEERS
}
FIRST = next(iter(LINES))
NOTES = f"""
Clock     CPU seconds, best of {ROUNDS} passes, each in its own process; `slowest` is how much longer the worst took.
          Ours: all of evaluate, from the array to the finished run, compiled code loaded before.
          scikit-activeml: predict, query and update for each row, partial_fit only for those that were queried.
Unequal   Labels and accuracy are over the rows of each line: those of ours and of scikit-activeml do not compare.
          What a run costs once is spread over more rows in ours; scikit-activeml was not measured beyond its own.
          The budget of scikit-activeml is an estimate over about 100 rows, ours a share of the whole stream.
          ConfidenceTree in scikit-activeml is ours, wrapped; GaussianNB is scikit-learn's.
"""


def run_ours(X: Any, y: Any, policy: str) -> Result:
    import quercus as qc

    def run(rows: int) -> Any:
        asking = getattr(qc.ask, policy)(BUDGET)
        return qc.evaluate((X[:rows], y[:rows]), qc.ConfidenceTree(), ask=asking, progress=False)

    run(1000)
    start = time.process_time()
    done = run(len(y))
    seconds = time.process_time() - start
    return {"seconds": seconds, "rows": done.rows, "asked": done.asked, "accuracy": done.accuracy}


def make_classifier(learner: str, classes: list[int]) -> Any:
    if learner == "GaussianNB":
        from skactiveml.classifier import SklearnClassifier
        from sklearn.naive_bayes import GaussianNB

        return SklearnClassifier(GaussianNB(), classes=classes)
    from quercus import ConfidenceTree
    from quercus.adapters.skactiveml import ActivemlClassifier

    return ActivemlClassifier(ConfidenceTree(), classes=classes)


def run_peer(X: Any, y: Any, learner: str) -> Result:
    from skactiveml.stream import VariableUncertainty

    def run(rows: int) -> tuple[int, int]:
        strategy = VariableUncertainty(budget=BUDGET, random_state=0)
        model = make_classifier(learner, classes).fit(X[:0], y[:0])
        asked = correct = 0
        for i in range(rows):
            row = X[i : i + 1]
            correct += int(model.predict(row)[0] == y[i])
            chosen = strategy.query(candidates=row, clf=model)
            strategy.update(candidates=row, queried_indices=chosen)
            if len(chosen):
                model.partial_fit(row, y[i : i + 1])
                asked += 1
        return asked, correct

    classes = np.unique(y).tolist()
    warnings.simplefilter("ignore")
    run(50)
    start = time.process_time()
    asked, correct = run(len(y))
    seconds = time.process_time() - start
    return {"seconds": seconds, "rows": len(y), "asked": asked, "accuracy": correct / len(y)}


def run_contender(side: str, name: str, folder: str, rows: int) -> Result:
    """Measure one contender on the first rows of a stream, in this process."""
    X, y = StreamFiles.open(folder).load()
    if side == "ours":
        return run_ours(X[:rows], y[:rows], name)
    if importlib.util.find_spec("skactiveml") is None:
        return {"missing": "scikit-activeml is not installed"}
    return run_peer(X[:rows], y[:rows], name)


def measure_all(rows: int, peer_rows: int, folder: Path) -> dict[str, Result]:
    """Return the best of ROUNDS turns of each contender; one that cannot run has only the first."""
    from quercus import streams

    X, y = streams.RandomTree(features=5, seed=0).take(rows)
    stream = StreamFiles.write(folder / "random_tree", "random_tree", X, y)
    turns: dict[str, list[Result]] = {name: [] for name in LINES}
    for number, (name, done) in product(range(1, ROUNDS + 1), turns.items()):
        if done and problem(done[-1]):
            continue
        print(f"turn {number}: {name}", file=sys.stderr, flush=True)
        side, what = LINES[name]
        length = rows if side == "ours" else peer_rows
        done.append(measure("asking_speed", "--contender", side, what, stream.folder, length))
    return {name: done[-1] if problem(done[-1]) else best_pass(done) for name, done in turns.items()}


def table(results: dict[str, Result]) -> str:
    """Return one line per contender; the ratio sets the first against it."""
    ours = results[FIRST]
    lines = []
    for name, result in results.items():
        why = problem(result)
        if why:
            lines.append([name, why])
            continue
        speed = result["rows"] / result["seconds"]
        ratio = "-" if problem(ours) else f"{ours['rows'] / ours['seconds'] / speed:,.2f} x"
        slowest = f"+{max(result['all_seconds']) / result['seconds'] - 1:.0%}"
        share = f"{result['asked'] / result['rows']:.2%}"
        lines.append([name, f"{speed:,.0f}", ratio, f"{result['rows']:,}", share, f"{result['accuracy']:.2%}", slowest])
    return show(["", "rows/s", "our speed / its", "rows", "labels", "accuracy", "slowest"], lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.asking_speed", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} rows, {QUICK_PEER_ROWS:,} of the peer")
    parser.add_argument("--contender", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.contender:
        side, name, folder, rows = given.contender
        print(json.dumps(run_contender(side, name, folder, int(rows))))
        return 0
    sizes = (QUICK_ROWS, QUICK_PEER_ROWS) if given.quick else (ROWS, PEER_ROWS)
    with tempfile.TemporaryDirectory() as folder:
        results = measure_all(*sizes, Path(folder))
    print(f"random_tree, 5 features, budget {BUDGET}")
    print(table(results))
    print(NOTES)
    return int(any("failed" in result for result in results.values()))


if __name__ == "__main__":
    sys.exit(main())
