"""The eight sets of the paper: what learning and answering cost, and what the answers are worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import quercus as qc
from benchmarks.tables import show
from benchmarks.utility.peers import TREES, best_k, run_tree
from quercus.papers.utility.figures import REFERENCE, Outcome, measure, published
from quercus.papers.utility.splits import SETS, Split, load_split

# Features of a set for which the curve of the best k is printed.
_CURVE = (1, 2, 3, 4, 5, 6, 8, 10, 15, 22, 30)


def _runs_of(name: str) -> dict[str, Callable[[Split, int], Outcome]]:
    """Return the lines of the table, each as what one run comes to."""

    def paper(objective: str) -> Callable[[Split, int], Outcome]:
        return lambda split, run: measure(published(name, split, objective, run), split)

    def ours(split: Split, run: int) -> Outcome:
        return measure(qc.UtilityTree(nominal=split.nominal, seed=run), split)

    lines = {f"paper's form, {objective}": paper(objective) for objective in ("ec2", "ig", "us", "random")}
    return lines | {"UtilityTree()": ours}


def table(sets: Sequence[str] | None, quick: bool) -> None:
    """Print means over runs, and the figures of a plain reading of the paper beside them."""
    runs = 3 if quick else 10
    for name in sets or SETS:
        splits = [load_split(name, run) for run in range(runs)]
        rows = []
        for line, run_once in _runs_of(name).items():
            found = [run_once(split, run) for run, split in enumerate(splits)]
            rows.append([line, *_cells(found, SETS[name].utility), _reference(name, line)])
        for kind in TREES:
            ends = [run_tree(kind, split) for split in splits]
            for line, found in zip(
                (f"{kind}, last row", f"{kind}, last quarter"), zip(*ends, strict=True), strict=True
            ):
                rows.append([line, *_cells(list(found), SETS[name].utility), _reference(name, line)])
        n, (train, test) = splits[0].X.shape[1], (len(splits[0].y), len(splits[0].y_test))
        print(f"\n{name}: {n} features, {train} rows to learn from, {test} to test, {runs} runs; {SETS[name].utility}")
        header = ["", "bought, learning", "by all features", "by the plan", "bought", "other measure", "reference"]
        print(show(header, rows))
        print(_curve(splits, SETS[name].utility), flush=True)


def _cells(found: list[Outcome], utility: str) -> list[str]:
    other = "F1" if utility == "accuracy" else "accuracy"
    full, planned = ([getattr(getattr(one, way), utility) for one in found] for way in ("full", "planned"))
    means = [np.mean([getattr(one.planned, other) for one in found])]
    error = np.std(planned, ddof=1) / np.sqrt(len(planned)) if len(planned) > 1 else 0.0
    return [
        f"{np.mean([one.learning_cost for one in found]):.2f}",
        f"{np.mean(full):.3f}",
        f"{np.mean(planned):.3f} ± {error:.3f}",
        f"{np.mean([one.planned_cost for one in found]):.2f}",
        f"{means[0]:.3f}",
    ]


def _reference(name: str, line: str) -> str:
    known = REFERENCE[name].get(line.removeprefix("paper's form, "), ())
    if line.startswith(("HoeffdingTree", "river EFDT")):
        known = REFERENCE[name]["trees"]["EFDT" in line :][:1]
    return " / ".join(f"{value:g}" for value in known)


def _curve(splits: list[Split], utility: str) -> str:
    """Return cost and utility of the best k features, for some k, as a line."""
    n = splits[0].X.shape[1]
    parts = []
    for k in sorted({k for k in _CURVE if k < n} | {n}):
        found = [best_k(split, k) for split in splits]
        parts.append(f"{k}: {np.mean([getattr(worth, utility) for _, worth in found]):.3f}")
    return "naive Bayes with the best k features: " + "  ".join(parts)
