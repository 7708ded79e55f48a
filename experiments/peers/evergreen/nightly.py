"""The boost beside batch learners that are fitted again and again on all rows so far, as people do at night."""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from experiments.harness.data import Floats
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen.contenders import EVERGREEN, FOREST, evergreen, evergreen_forest, losses, one_hot
from experiments.peers.evergreen.passing import SHUFFLED, OrderedSet, load_stream
from experiments.peers.evergreen.sets import OrderedRows

BOOST = "EvergreenBoost"
_ORDERED = "in order"
_SMALL = (
    *("phishing", "banknote", "diabetes", "australian", "breast_cancer", "balance_scale", "tic_tac_toe", "led7"),
    "ionosphere",
)
_LARGE = ("fetal_health", "satimage", "dna", "nursery", "fico", "compas", "adult", "letter", "covertype", "multiplexer")
_STREAMS = (
    *(OrderedSet(data, SHUFFLED, 0) for data in _SMALL),
    *(OrderedSet(data, SHUFFLED, 8_000) for data in _LARGE),
    *(OrderedSet(data, _ORDERED, 8_000) for data in ("electricity", "airlines", "covertype")),
)
_SEEDS: dict[Scale, tuple[int, ...]] = {"quick": (1,), "full": (1, 2, 3)}
_FIRST = 1_000
_BINS = 10
_COLUMNS = ("rows", "classes", "accuracy", "loss", "ece", "first", "seconds")
_NOTE = (
    "Each row answered, then learned; at most 8,000 rows, three orders of those that are shuffled. Batch learners with "
    "their own defaults are fitted again on all rows so far after every 100 rows of sets of at most 2,000, else after "
    "every 500. Categories are codes for boosting, and columns of their own for the others. Accuracy in per cent of "
    "the rows after the first fit, and in brackets the mean log-loss; CPU time with one thread, without the reading of "
    "files."
)


class Made(NamedTuple):
    """A batch learner: how it is made for rows of these columns, and whether it wants a column for each category."""

    make: Callable[[OrderedRows, int], Any]
    apart: bool


def _hist(rows: OrderedRows, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    few = [0 < number < 255 for number in rows.categories]
    return HistGradientBoostingClassifier(categorical_features=few if any(few) else None, random_state=seed)


def _forest(name: str, rows: OrderedRows, seed: int) -> Any:
    from sklearn import ensemble

    return getattr(ensemble, name)(100, random_state=seed)


def _light(rows: OrderedRows, seed: int) -> Any:
    return importlib.import_module("lightgbm").LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


BATCH = {
    "HistGradientBoosting": Made(_hist, False),
    "random forest": Made(partial(_forest, "RandomForestClassifier"), True),
    "ExtraTrees": Made(partial(_forest, "ExtraTreesClassifier"), True),
    "LightGBM": Made(_light, False),
}
OURS: dict[str, Callable[..., Any]] = {BOOST: qc.EvergreenBoost, FOREST: evergreen_forest, EVERGREEN: evergreen}
LEARNERS = (*BATCH, *OURS)


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through which stream."""
    return [
        {**one._asdict(), "learner": line, "run": seed}
        for one in (_STREAMS[:3] if scale == "quick" else _STREAMS)
        for seed in (_SEEDS[scale] if one.order == SHUFFLED else (1,))
        for line in LEARNERS
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, what probabilities were worth, and how long that took."""
    name = str(cell["learner"])
    missing = name == "LightGBM" and importlib.util.find_spec("lightgbm") is None
    problem = "lightgbm is not installed" if missing else None
    return attempt_lines(_COLUMNS, problem, partial(_lines, cell))


def _lines(cell: Cell) -> list[Row]:
    name, seed = str(cell["learner"]), int(cell["run"])
    rows = load_stream(cell, seed)
    proba, seconds = _pass_ours(name, rows, seed) if name in OURS else _pass_batch(BATCH[name], rows, seed)
    # Batch learners know nothing before they are fitted for the first time.
    y, proba = rows.y[_pause(rows) :], proba[_pause(rows) :]
    right = proba.argmax(axis=1) == y
    values = (
        len(rows.y), proba.shape[1], right.mean(), losses(proba[np.arange(len(y)), y]).mean(),
        calibration_error(proba, right), right[: _FIRST - _pause(rows)].mean(), seconds,
    )  # fmt: skip
    return [dict(zip(_COLUMNS, map(float, values), strict=True))]


def _pause(rows: OrderedRows) -> int:
    """Return how many rows come between two fits."""
    return 100 if len(rows.y) <= 2_000 else 500


def _pass_ours(name: str, rows: OrderedRows, seed: int) -> tuple[Floats, float]:
    make = partial(OURS[name], nominal=rows.nominal, seed=seed)
    # Compiled code is loaded here.
    make().test_then_learn(rows.X[:300], rows.y[:300])
    learner, start = make(), time.process_time()
    outcome = learner.test_then_learn(rows.X, rows.y)
    seconds = time.process_time() - start
    proba = np.zeros((len(rows.y), int(rows.y.max()) + 1))
    proba[:, np.asarray(outcome.classes)] = outcome.proba
    return proba, seconds


def _pass_batch(made: Made, rows: OrderedRows, seed: int) -> tuple[Floats, float]:
    X, y, every = one_hot(rows) if made.apart else rows.X, rows.y, _pause(rows)
    proba, start = np.zeros((len(y), int(y.max()) + 1)), time.process_time()
    for first in range(every, len(y), every):
        block, known = slice(first, first + every), np.unique(y[:first])
        if len(known) < 2:
            proba[block, known] = 1.0
            continue
        model = made.make(rows, seed).fit(X[:first], y[:first])
        proba[block, known] = model.predict_proba(X[block])
    return proba, time.process_time() - start


def calibration_error(proba: Floats, right: Any) -> float:
    """Return the expected calibration error of the likeliest class, over ten even bins."""
    confidence = proba.max(axis=1)
    bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    return float(sum(abs((right[bins == b] - confidence[bins == b]).sum()) for b in range(_BINS)) / len(right))


def summarize(found: Results) -> Report:
    """Return accuracy and log-loss by stream, the means, and how far the boost is ahead."""
    rows, behind, scores = [], [], {line: [] for line in LEARNERS}  # type: ignore[var-annotated]
    there = [line for line in LEARNERS if not (found.where(learner=line)["problem"] != "").any()]
    for (data, order), part in found.groups("data", "order"):
        of = {line: part.where(learner=line) for line in there}
        mean = {line: {name: float(one[name].mean()) for name in _COLUMNS} for line, one in of.items()}
        for line in there:
            scores[line].append(mean[line])
        best = max(mean[line]["accuracy"] for line in there if line in BATCH)
        behind.append(100 * (mean[BOOST]["accuracy"] - best))
        cost = mean["HistGradientBoosting"]["seconds"] / mean[BOOST]["seconds"]
        rows.append(
            [f"{data}, {order}", f"{mean[BOOST]['rows']:,.0f}", *(_show(mean[line]) for line in there),
             f"{behind[-1]:+.1f}", f"{cost:.1f}"]
        )  # fmt: skip
    means = {line: {name: float(np.mean([one[name] for one in scores[line]])) for name in _COLUMNS} for line in there}
    rows.append(["mean", "", *(_show(means[line]) for line in there), f"{np.mean(behind):+.1f}", ""])
    heads = ["stream", "rows", *there, f"{BOOST} over the best batch learner, points",
             f"CPU time of HistGradientBoosting / {BOOST}"]  # fmt: skip
    more = [
        [line, f"{100 * means[line]['ece']:.1f}", f"{100 * means[line]['first']:.1f}", f"{means[line]['seconds']:.2f}"]
        for line in there
    ]
    table = PageTable(["mean over streams", "ECE, %", "first 1,000 rows, %", "CPU seconds"], more)
    return Report([PageTable(heads, rows), table], _claims(means, behind, there), _NOTE)


def _show(score: dict[str, float]) -> str:
    return f"{100 * score['accuracy']:.1f} ({score['loss']:.3f})"


def _claims(means: dict[str, dict[str, float]], behind: list[float], there: list[str]) -> list[Claim]:
    batch = [line for line in there if line in BATCH]
    accuracy, loss = (max(means[line]["accuracy"] for line in batch), min(means[line]["loss"] for line in batch))
    mine = means[BOOST]
    share = mine["seconds"] / means["HistGradientBoosting"]["seconds"]
    ahead = mine["accuracy"] > accuracy and mine["loss"] < loss
    more = f"{100 * (mine['accuracy'] - accuracy):+.1f} points, {mine['loss'] - loss:+.3f} against the best of them."
    far = sum(one < -0.5 for one in behind)
    least = f"least: {min(behind):+.1f} points; on {far} of {len(behind)} more than half a point behind."
    cost = f"{share:.2f} of it, all streams together."
    return [
        Claim("In the mean ahead of each in accuracy and log-loss.", ahead, more),
        Claim("Nowhere more than half a point behind the best.", min(behind) >= -0.5, least),
        Claim("At a fifth of the CPU time of refitted boosting, or less.", share <= 0.2, cost),
    ]


NIGHTLY = Runs("peers.evergreen", "nightly", cells, measure)
