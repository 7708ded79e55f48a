"""Error on the test rows of usps against rows learned: the paper's figure 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.bayesian.errors import show_mean
from benchmarks.tables import show
from quercus.evaluation.plot import BEST, LEARNER, PREVIOUS, TEXT, WINDOW, new_figure, tidy
from quercus.papers.bayesian.curve import follow_forest, follow_mondrian, follow_random_forest
from quercus.papers.bayesian.splits import Split, load_split

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
_CHECKPOINTS = (10, 20, 50, 100, 200, 500, 1000, 2000, 4000, 7291)


def _forest(split: Split, run: int) -> list[list[float]]:
    """Return the errors of a forest by all leaves, then by one path."""
    lines = follow_forest(qc.BayesianForest(seed=run, max_bytes=2**31), split, _CHECKPOINTS, _CHECKPOINTS)
    return [[float(line[way]) for line in lines] for way in ("error", "path")]


_LEARNERS: dict[str, Callable[[Split, int], list[list[float]]]] = {
    "forest": _forest,
    "AMF": lambda split, run: [follow_mondrian(split, run, _CHECKPOINTS)],
    "random forest": lambda split, run: [follow_random_forest(split, run, _CHECKPOINTS)],
}
_LINES = {
    "BayesianForest, all leaves": (LEARNER, "-", "o"),
    "BayesianForest, one path": (WINDOW, (0, (4, 1.5)), "o"),
    "river AMF, 10 trees": (PREVIOUS, "-", "s"),
    "random forest of 100, trained anew on the same rows": (BEST, "-", "^"),
}


def _run(job: tuple[str, int]) -> list[list[float]]:
    learner, run = job
    return _LEARNERS[learner](load_split("usps", run), run)


def curve(sets: Sequence[str] | None, quick: bool) -> None:
    """Print the errors and draw them."""
    runs = 1 if quick else 3
    jobs = [(learner, run) for learner in _LEARNERS for run in range(400, 400 + runs)]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(_run, jobs))
    errors = np.concatenate([np.array(found[i * runs : (i + 1) * runs]).swapaxes(0, 1) for i in range(len(_LEARNERS))])
    rows = []
    for name, by_run in zip(_LINES, errors, strict=True):
        rows.append([name, *(show_mean(column, ".1f") for column in by_run.T)])
    print(f"usps, {runs} runs: error on the test rows in % (standard deviation) by rows learned")
    print(show(["", *(f"{n:,}" for n in _CHECKPOINTS)], rows))
    if not quick:
        draw(errors, IMAGES / "bayesian-curve.png")


def draw(errors: NDArray[np.float64], path: Path) -> Any:
    """Draw mean errors by learner, run and checkpoint, with a band of one standard deviation."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, PercentFormatter

    figure = new_figure()
    axes = figure.add_subplot()
    for (name, (color, dashes, marker)), by_run in zip(reversed(_LINES.items()), errors[::-1], strict=True):
        mean, spread = by_run.mean(axis=0), by_run.std(axis=0, ddof=1)
        axes.fill_between(_CHECKPOINTS, mean - spread, mean + spread, color=color, alpha=0.15, linewidth=0)
        label = f"{name} {mean[-1]:.1%}"
        axes.plot(_CHECKPOINTS, mean, color=color, linestyle=dashes, marker=marker, markersize=4.5, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_yticks([0.05, 0.1, 0.2, 0.5, 1.0])
    axes.set_ylim(0.045, 1.0)
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("rows learned, one pass", color=TEXT)
    axes.set_ylabel("error on the test rows", color=TEXT)
    axes.set_title("usps", loc="left", fontweight="bold", color=TEXT)
    tidy(axes)
    figure.savefig(path)
    return figure
