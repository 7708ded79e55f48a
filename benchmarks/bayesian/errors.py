"""Error in one pass: the forest and its variants beside other learners."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import show
from quercus.papers.bayesian.contenders import PEERS, VARIANTS, add_squares, find_errors, train_forest
from quercus.papers.bayesian.splits import SETS, load_split


def _errors(job: tuple[str, str, int]) -> list[float]:
    """Return the errors of one learner in one run; of a forest by all leaves and by one path."""
    name, learner, run = job
    split = load_split(name, run)
    if learner.endswith("with squares"):
        split = add_squares(split)
    if learner in VARIANTS:
        return list(find_errors(train_forest(split, run, **VARIANTS[learner]), split))
    return [float(np.mean(PEERS[learner](split, run) != split.y_test))]


def show_mean(values: NDArray[np.float64], form: str = ".2f", scale: float = 100.0) -> str:
    """Return the mean over runs, in percent unless told otherwise, and its standard deviation."""
    spread = f" ({scale * values.std(ddof=1):{form}})" if len(values) > 1 else ""
    return f"{scale * values.mean():{form}}{spread}"


def table(sets: Sequence[str] | None, quick: bool) -> None:
    """Print mean errors and their deviation over runs."""
    runs = 3 if quick else 10
    for name in sets or SETS:
        rows = []
        with ProcessPoolExecutor(2) as pool:
            for learner in (*VARIANTS, *PEERS):
                errors = np.array(list(pool.map(_errors, [(name, learner, run) for run in range(100, 100 + runs)])))
                rows.append([learner, *(show_mean(column) for column in errors.T), *[""] * (2 - errors.shape[1])])
                print(name, *rows[-1], flush=True)
        print(f"\n{name}, {runs} runs, one pass: error in % (standard deviation), by all leaves and by one path")
        print(show(["", "full", "path"], rows), flush=True)


def trees(sets: Sequence[str] | None, quick: bool) -> None:
    """Print errors by number of trees."""
    runs = 3 if quick else 10
    rows = []
    for name in sets or SETS:
        row = [name]
        for n in (1, 4, 8):
            errors = []
            for run in range(200, 200 + runs):
                split = load_split(name, run)
                errors.append(np.mean(train_forest(split, run, trees=n).predict(split.X_test) != split.y_test))
            row.append(show_mean(np.array(errors)))
        rows.append(row)
        print(*row, flush=True)
    print(show(["", "1 tree", "4 trees", "8 trees"], rows))
