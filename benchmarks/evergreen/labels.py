"""How many labels other trees need for what the evergreen tree has at 1,000, 5,000 and 20,000."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.evergreen import sets
from benchmarks.evergreen.contenders import EVERGREEN, Score, Span, Testing, trees
from benchmarks.evergreen.sets import LABELS, TESTED
from benchmarks.evergreen.work import first_problem, run_jobs
from benchmarks.tables import problem, show

_AT, _QUICK_AT = (1_000, 5_000, 20_000), (1_000,)
_MOST, _QUICK_MOST = 200_000, 10_000
_STEP = 1.25
_NOTES = f"""
Tested    on the last {TESTED:,} rows of the order (an eighth of small sets), the same for all, after ever more rows, by
          steps of {_STEP}. Accuracies are means over seeds; a tree has as many labels as it takes until it first
          reaches what EvergreenTree has, between two steps by interpolation in the logarithm.
>         not reached with all rows that there are (at most {_MOST:,}); in the means such a factor counts as that
          number, so they are least values.
"""


def labels(quick: bool) -> None:
    """Print the factors by set, tree and labels, and their geometric means over sets."""
    sets.check_data()
    seeds = sets.QUICK_SEEDS if quick else sets.SEEDS
    at = _QUICK_AT if quick else _AT
    contenders = trees()
    lines: list[list[str]] = []
    best: dict[int, list[tuple[float, bool]]] = {n: [] for n in at}
    for name, known in LABELS.items():
        wanted = [n for n in at if n in known]
        jobs = {
            (line, seed): partial(_job, name, seed, wanted, quick, line == EVERGREEN, contender.test)
            for line, contender in contenders.items()
            for seed in seeds
            if contender.test is not None
        }
        found = run_jobs(jobs)
        curves = {line: [found.get((line, seed), contender.problem) for seed in seeds]
                  for line, contender in contenders.items()}  # fmt: skip
        lines += _compare(name, wanted, curves, best)
        print(*lines[-1], flush=True)
    print(f"\nlabels that a tree needs / labels of EvergreenTree, {len(seeds)} seeds")
    print(show(["", *map("{:,}".format, at)], lines))
    for n, factors in best.items():
        print(f"the best of them at {n:,}: geometric mean {_mean(factors)} over {len(factors)} sets")
    print(f"over all: {_mean([one for factors in best.values() for one in factors])}", _NOTES, sep="\n")


def _job(name: str, seed: int, wanted: Sequence[int], quick: bool, is_ours: bool, test: Testing) -> Any:
    """Return the numbers of labels and the scores at each."""
    rows = sets.load(name, seed, _QUICK_MOST if quick else _MOST)
    tested = min(TESTED, len(rows.y) // 8)
    most = len(rows.y) - tested
    steps = np.geomspace(500, most, round(np.log(most / 500) / np.log(_STEP)) + 1).astype(int).tolist()
    counts = list(wanted) if is_ours else steps
    return counts, test(rows, [Span(n, most, len(rows.y)) for n in counts], seed)


def _compare(
    name: str, wanted: Sequence[int], curves: dict[str, list[Any]], best: dict[int, list[tuple[float, bool]]]
) -> list[list[str]]:
    """Return a line for each tree; add the least factor at each number of labels to `best`."""
    why = first_problem(curves[EVERGREEN])
    if why:
        return [[name, str(problem(why))]]
    ours = _accuracies([scores for _, scores in curves[EVERGREEN]])
    lines = [[f"{name}: EvergreenTree, accuracy", *(f"{accuracy:.4f}" for accuracy in ours)]]
    factors: list[list[tuple[float, bool]]] = []
    for line, runs in curves.items():
        if line == EVERGREEN:
            continue
        why = first_problem(runs)
        if why:
            lines.append([f"  {line}", str(problem(why))])
            continue
        counts, mean = runs[0][0], _accuracies([scores for _, scores in runs])
        factors.append([_factor(counts, mean, n, goal) for n, goal in zip(wanted, ours, strict=True)])
        lines.append([f"  {line}", *map(_words, factors[-1])])
    for k, n in enumerate(wanted):
        best[n].append(min(one[k] for one in factors))
    full = max(len(line) for line in lines)
    return [line + ["-"] * (len(best) + 1 - len(line)) if len(line) == full else line for line in lines]


def _accuracies(runs: list[list[Score]]) -> NDArray[np.float64]:
    return np.array([np.mean([score.accuracy for score in column]) for column in zip(*runs, strict=True)])


def _factor(counts: Sequence[int], mean: NDArray[np.float64], ours: int, goal: float) -> tuple[float, bool]:
    """Return labels needed / ours, and whether they were too few."""
    reached = np.flatnonzero(mean >= goal)
    if not len(reached):
        return counts[-1] / ours, True
    at = int(reached[0])
    if at == 0:
        return counts[0] / ours, False
    part = (goal - mean[at - 1]) / (mean[at] - mean[at - 1])
    return float(np.exp(np.interp(part, (0, 1), np.log(counts[at - 1 : at + 1])))) / ours, False


def _words(factor: tuple[float, bool]) -> str:
    return f"{'> ' if factor[1] else ''}{factor[0]:.2f}"


def _mean(factors: list[tuple[float, bool]]) -> str:
    if not factors:
        return "-"
    capped = any(too_few for _, too_few in factors)
    return _words((float(np.exp(np.mean(np.log([factor for factor, _ in factors])))), capped))
