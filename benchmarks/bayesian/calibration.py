"""Whether the forest's probabilities can be believed, beside those of a random forest."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.bayesian.curve import IMAGES
from benchmarks.bayesian.errors import show_mean
from benchmarks.tables import show
from quercus.evaluation.plot import BEST, LEARNER, MAJORITY, TEXT, new_figure
from quercus.papers.bayesian.splits import load_split

SETS = ("dna", "dna60", "satimage", "usps")
Numbers = NDArray[np.float64]
# No answer counts as less likely than this in the log-loss: a random forest says 0.
_LEAST = 1e-3
_BINS = 15
_REJECTED = 0.1
# Bins with fewer rows are not drawn: their accuracy is mostly chance.
_FEWEST = 20
OURS, THEIRS = "BayesianForest", "random forest, 100"


class Answers(NamedTuple):
    """Probabilities of a run's test rows, their labels, and how unsure each answer is, by measure."""

    p: Numbers
    y: NDArray[np.int64]
    doubts: dict[str, Numbers]


def _answers(job: tuple[str, int]) -> dict[str, Answers]:
    from sklearn.ensemble import RandomForestClassifier

    name, run = job
    split = load_split(name, run)
    forest = qc.BayesianForest(seed=run, max_bytes=2**31)
    forest.partial_fit(split.X, split.y, classes=np.unique(split.y))
    p, told = forest.predict_proba(split.X_test), forest.uncertainty(split.X_test)
    doubts = {"total entropy": told.total, "epistemic": told.epistemic, "1 - max p": 1 - p.max(axis=1)}
    batch = RandomForestClassifier(100, random_state=run).fit(split.X, split.y).predict_proba(split.X_test)
    return {
        OURS: Answers(p, split.y_test, doubts),
        THEIRS: Answers(batch, split.y_test, {"1 - max p": 1 - batch.max(axis=1)}),
    }


def calibration_error(p: Numbers, y: NDArray[np.int64]) -> float:
    """Return the mean distance of accuracy from confidence over bins of equal width, weighted by their rows."""
    rows, accuracy, confidence = reliability(p, y)
    return float((rows * np.abs(accuracy - confidence)).sum() / rows.sum())


def reliability(p: Numbers, y: NDArray[np.int64]) -> tuple[Numbers, Numbers, Numbers]:
    """Return rows, accuracy and mean confidence of the bins that are not empty."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    at = np.minimum((confidence * _BINS).astype(np.int64), _BINS - 1)
    rows = np.bincount(at, minlength=_BINS)
    known = rows > 0
    accuracy = np.bincount(at, right, _BINS)[known] / rows[known]
    return rows[known].astype(np.float64), accuracy, np.bincount(at, confidence, _BINS)[known] / rows[known]


def reject(answers: Answers, doubt: str) -> tuple[float, float, float]:
    """Return the share of the errors among the most doubtful rows, the most it could be, and the error of the rest."""
    wrong = answers.p.argmax(axis=1) != answers.y
    count = round(_REJECTED * len(wrong))
    found = wrong[np.argsort(-answers.doubts[doubt], kind="stable")]
    return found[:count].sum() / wrong.sum(), min(count / wrong.sum(), 1.0), found[count:].mean()


def _scores(answers: Answers) -> list[float]:
    """Return error, log-loss, Brier score and calibration error."""
    p, y, _ = answers
    said = p[np.arange(len(y)), y]
    brier = ((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1).mean()
    return [
        float((p.argmax(axis=1) != y).mean()),
        float(-np.log(np.maximum(said, _LEAST)).mean()),
        float(brier),
        calibration_error(p, y),
        float((said == 0).mean()),
    ]


def calibration(sets: Sequence[str] | None, quick: bool) -> None:
    """Print the scores of both forests and the errors that each measure of doubt finds, and draw reliability."""
    scores, found, drawn = [], [], {}
    for name in [name for name in SETS if sets is None or name in sets]:
        runs = 2 if quick else 3 if name == "usps" else 10
        with ProcessPoolExecutor(2) as pool:
            all_runs = list(pool.map(_answers, [(name, run) for run in range(500, 500 + runs)]))
        by_learner = {learner: [run[learner] for run in all_runs] for learner in (OURS, THEIRS)}
        for learner, answers in by_learner.items():
            figures = np.array([_scores(run) for run in answers]).T
            cells = [show_mean(f, form, s) for f, form, s in zip(figures, _FORMS, _SCALES, strict=True)]
            scores.append([f"{name}, {learner}", *cells])
            print(*scores[-1], flush=True)
            for doubt in answers[0].doubts:
                told = np.array([reject(run, doubt) for run in answers]).T
                forms = (".1f", ".0f", ".2f")
                cells = [show_mean(figure, form) for figure, form in zip(told, forms, strict=True)]
                found.append([f"{name}, {learner}, {doubt}", *cells])
        drawn[name] = {learner: _pooled(answers) for learner, answers in by_learner.items()}
    print(f"\nmean (standard deviation) over runs; log-loss with no p below {_LEAST}; {_BINS} bins of the largest p")
    print(show(["", "error %", "log-loss", "Brier", "calibration error %", "p(label) = 0, % of rows"], scores))
    print(f"\nthe {_REJECTED:.0%} of the rows with the most doubt rejected: errors among them, in % of all errors; the")
    print("most that could be (where more rows are wrong than are rejected); error of the other rows in %")
    print(show(["", "found", "at most", "error of the rest"], found))
    if not quick and sets is None:
        draw(drawn, IMAGES / "bayesian-reliability.png")


_FORMS = (".2f", ".3f", ".3f", ".1f", ".2f")
_SCALES = (100.0, 1.0, 1.0, 100.0, 100.0)


def _pooled(answers: list[Answers]) -> tuple[Numbers, Numbers, Numbers]:
    return reliability(np.concatenate([run.p for run in answers]), np.concatenate([run.y for run in answers]))


def draw(drawn: dict[str, dict[str, tuple[Numbers, Numbers, Numbers]]], path: Path) -> Any:
    """Draw accuracy against confidence, a panel per set; the area of a dot is its share of the rows."""
    figure = new_figure()
    figure.set_size_inches(11, 3.9)
    panels = figure.subplots(1, len(drawn), sharey=True)
    for axes, (name, by_learner) in zip(panels, drawn.items(), strict=True):
        axes.plot([0, 1], [0, 1], color=MAJORITY, linewidth=1.0, linestyle=(0, (5, 2)), label="exactly right")
        for (learner, bins), color in zip(by_learner.items(), (LEARNER, BEST), strict=True):
            rows, accuracy, confidence = (part[bins[0] >= _FEWEST] for part in bins)
            axes.plot(confidence, accuracy, color=color, linewidth=1.6, label=learner)
            axes.scatter(confidence, accuracy, 4 + 220 * rows / rows.sum(), color=color, alpha=0.55, linewidth=0)
        _decorate(axes, name)
    panels[0].set_ylabel("share of answers that were right", color=TEXT)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9.5)
    figure.savefig(path)
    return figure


def _decorate(axes: Any, name: str) -> None:
    from matplotlib.ticker import PercentFormatter

    axes.set_aspect("equal")
    for limits, ticks in ((axes.set_xlim, axes.set_xticks), (axes.set_ylim, axes.set_yticks)):
        limits(0.15, 1.04)
        ticks([0.25, 0.5, 0.75, 1.0])
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("largest probability", color=TEXT)
    axes.set_title(name, loc="left", fontweight="bold", color=TEXT)
    axes.grid(True, color="#e5e5e5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=TEXT)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#b0b0b0")
