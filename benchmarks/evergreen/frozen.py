"""The same labels for all, then answers to the rows that follow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import Result
from benchmarks.evergreen import sets
from benchmarks.evergreen.contenders import (
    BATCH,
    EVERGREEN,
    SGBT,
    Contender,
    Score,
    Span,
    Testing,
    boosted,
    forests,
    test_batch,
    trees,
)
from benchmarks.evergreen.sets import LABELS, QUICK_TESTED, TESTED
from benchmarks.evergreen.work import first_problem, mean_error, run_jobs
from benchmarks.tables import problem, show

_NOTES = f"""
Learned   the first N rows of an order drawn by the seed (of the generator: its stream); then the next {TESTED:,}
          rows, fewer where the set ends, are answered and not learned. Mean over seeds.
Figures   accuracy (log-loss; no probability counts as less than 1e-6).
Settings  everybody's own defaults; MOA's are those of CapyMOA. EvergreenTree: partial_fit, regrow, predict.
          The batch tree is scikit-learn's; smallest leaf, pruning and codes or 0/1 columns for categories chosen on the
          last fifth of the N labels, then fitted to all.
Unequal   AMF10 reads codes of categories as numbers (0/1 columns made it slower and hardly better). SGBT has
          the first seed only, since it is slow; its votes are not meant as probabilities.
"""


def frozen(quick: bool) -> None:
    """Print a table for each set, and what lies between EvergreenTree, the batch tree and the best other tree."""
    sets.check_data()
    seeds = sets.QUICK_SEEDS if quick else sets.SEEDS
    single = trees()
    slow = {} if quick else {SGBT: boosted()}
    contenders = {**single, **forests(), **slow, BATCH: Contender(test=test_batch)}
    between = []
    for name, labels in LABELS.items():
        labels = tuple(n for n in labels if n <= 1_000) if quick else labels
        found = measure(name, labels, contenders, seeds, QUICK_TESTED if quick else TESTED)
        lines = [[line, *_cells(line, contenders, found, seeds, labels)] for line in contenders]
        print(
            f"\n{name}, {len(seeds)} seeds; labels learned:", show(["", *map("{:,}".format, labels)], lines), sep="\n"
        )
        between += [_compare(name, k, n, list(single), found, seeds) for k, n in enumerate(labels)]
        print(*between[-1], flush=True)
    header = ["EvergreenTree, points over", "batch tree", "HoeffdingTree", "best other tree", "which"]
    print("\nin brackets: standard error over seeds", show(header, between), _NOTES, sep="\n")


def measure(
    name: str, labels: Sequence[int], contenders: dict[str, Contender], seeds: Sequence[int], tested: int
) -> dict[tuple[str, int], list[Score] | Result]:
    """Return the scores by contender and seed, of so many rows after each number of labels."""
    jobs = {
        (line, seed): partial(_job, name, seed, labels, tested, contender.test)
        for line, contender in contenders.items()
        for seed in (seeds[:1] if line == SGBT else seeds)
        if contender.test is not None
    }
    return run_jobs(jobs)


def _job(name: str, seed: int, labels: Sequence[int], tested: int, test: Testing) -> list[Score]:
    rows = sets.load(name, seed, labels[-1] + tested)
    return test(rows, [Span(n, n, min(n + tested, len(rows.y))) for n in labels], seed)


def _cells(
    line: str, contenders: dict[str, Contender], found: dict[Any, Any], seeds: Sequence[int], labels: Sequence[int]
) -> list[str]:
    runs = [found[line, seed] for seed in seeds if (line, seed) in found]
    why = contenders[line].problem or first_problem(runs)
    if why:
        return [str(problem(why))]
    means = np.mean(runs, axis=0)
    return [f"{accuracy:.4f} ({loss:.3f})" for accuracy, loss in means[: len(labels)]]


def _compare(
    name: str, place: int, labels: int, single: list[str], found: dict[Any, Any], seeds: Sequence[int]
) -> list[str]:
    """Return how far EvergreenTree is ahead of others at one number of labels."""

    def accuracies(line: str) -> Any:
        runs = [found.get((line, seed), {}) for seed in seeds]
        return None if first_problem(runs) is not None else np.array([run[place].accuracy for run in runs])

    ours = accuracies(EVERGREEN)
    head = f"{name}, {labels:,}"
    if ours is None:
        return [head, "failed"]
    others = {line: accuracies(line) for line in single if line not in {EVERGREEN, "HoeffdingTree"}}
    known = {line: values for line, values in others.items() if values is not None}
    best = max(known, key=lambda line: known[line].mean()) if known else None
    beside = [accuracies(BATCH), accuracies("HoeffdingTree"), None if best is None else known[best]]
    return [head, *("-" if other is None else mean_error(ours - other) for other in beside), best or "-"]
