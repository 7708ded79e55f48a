"""The boost beside batch learners that are fitted again and again on all rows so far, as people do at night.

Beside them, on the same rows: forests of river and MOA, which learn row by row as ours do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.data import Floats
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen.batch import BATCH, CAT, Made, fit_predict, problem_of
from experiments.peers.evergreen.contenders import EVERGREEN, FOREST, evergreen, evergreen_forest, forests, losses
from experiments.peers.evergreen.passing import IN_ORDER, SHUFFLED, OrderedSet, load_stream
from experiments.peers.evergreen.sets import OrderedRows

BOOST = "EvergreenBoost"
# Sets of less than 1,000 rows.
SHORT = ("diabetes", "australian", "breast_cancer", "balance_scale", "tic_tac_toe", "led7", "ionosphere")
_SMALL = ("phishing", "banknote", *SHORT)
_LARGE = ("fetal_health", "satimage", "dna", "nursery", "fico", "compas", "adult", "letter", "covertype", "multiplexer")
_WIDE = (OrderedSet("usps", SHUFFLED, 4_000), OrderedSet("a9a", SHUFFLED, 8_000))
STREAMS = (
    *(OrderedSet(data, SHUFFLED, 0) for data in _SMALL),
    *(OrderedSet(data, SHUFFLED, 8_000) for data in _LARGE),
    *_WIDE,
    *(OrderedSet(data, IN_ORDER, 8_000) for data in ("electricity", "airlines", "covertype")),
    OrderedSet("SEA", "another limit every 2,000 rows", 8_000),
    OrderedSet("hyperplane", "turning", 8_000),
)
OURS: dict[str, Callable[..., Any]] = {BOOST: qc.EvergreenBoost, FOREST: evergreen_forest, EVERGREEN: evergreen}
ONLINE = ("river AMF10", "river ARF10", "MOA ARF10", "MOA SRP10")
LEARNERS = (*BATCH, *ONLINE, *OURS)
# Each order of a large set costs these minutes.
_SLOW = (CAT, *ONLINE)
_FIRST = 1_000
_BINS = 10
_COLUMNS = ("rows", "classes", "accuracy", "loss", "ece", "first", "seconds")
_NOTE = (
    "Each row answered, then learned; at most 8,000 rows (usps: 4,000), three orders of those that are shuffled (usps "
    f"and a9a: one); of sets of more than 2,000 rows {CAT} and the forests of river and MOA see the first order only, "
    "and are compared with ours on that. Batch learners with their own defaults are fitted again on all rows so far "
    f"after every 100 rows of sets of at most 2,000, else after every 500; {CAT} with 100 rounds instead of 1,000 on "
    "usps. Categories are columns of their own for random forest and ExtraTrees, codes for the others. "
    "Accuracy in per cent of the rows after the first fit, and in brackets the mean log-loss; CPU time with one "
    "thread, without the reading of files, of MOA that of the thread that learns. MOA's SGBT is left out: it learns "
    "some tens of rows a second where there are many classes."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through which stream."""
    found: list[Cell] = []
    for one in STREAMS[:3] if scale == "quick" else STREAMS:
        often = scale == "full" and one.order == SHUFFLED and one not in _WIDE
        for run in (1, 2, 3) if often else (1,):
            lines = [line for line in LEARNERS if run == 1 or one.data in _SMALL or line not in _SLOW]
            found += [{**one._asdict(), "learner": line, "run": run} for line in lines]
    return found


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, what probabilities were worth, and how long that took."""
    name = str(cell["learner"])
    problem = forests()[name].problem if name in ONLINE else problem_of(name)
    return attempt_lines(_COLUMNS, problem, partial(_lines, cell))


def _lines(cell: Cell) -> list[Row]:
    name, seed = str(cell["learner"]), int(cell["run"])
    rows = load_stream(cell, seed)
    # Batch learners know nothing before they are fitted for the first time.
    pause = 100 if len(rows.y) <= 2_000 else 500
    if name in ONLINE:
        go = forests()[name].go
        assert go is not None
        found = go(rows, seed)
        right, loss, ece, seconds = found.right[pause:], found.losses[pause:], np.nan, found.seconds
    else:
        proba, seconds = pass_ours(name, rows, seed) if name in OURS else _pass_batch(BATCH[name], rows, seed, pause)
        y, proba = rows.y[pause:], proba[pause:]
        right, loss = proba.argmax(axis=1) == y, losses(proba[np.arange(len(y)), y])
        ece = calibration_error(proba, right)
    values = (
        len(rows.y), rows.y.max() + 1, right.mean(), loss.mean(), ece, right[: _FIRST - pause].mean(), seconds
    )  # fmt: skip
    return [dict(zip(_COLUMNS, map(float, values), strict=True))]


def pass_ours(name: str, rows: OrderedRows, seed: int) -> tuple[Floats, float]:
    """Return the probabilities before each row was learned, and CPU seconds."""
    make = partial(OURS[name], nominal=rows.nominal, seed=seed)
    # Compiled code is loaded here.
    make().test_then_learn(rows.X[:300], rows.y[:300])
    learner, start = make(), time.process_time()
    outcome = learner.test_then_learn(rows.X, rows.y)
    seconds = time.process_time() - start
    proba = np.zeros((len(rows.y), int(rows.y.max()) + 1))
    proba[:, np.asarray(outcome.classes)] = outcome.proba
    return proba, seconds


def _pass_batch(made: Made, rows: OrderedRows, seed: int, pause: int) -> tuple[Floats, float]:
    X, blocks = made.form(rows), []
    start = time.process_time()
    for learned in range(pause, len(rows.y), pause):
        blocks.append(fit_predict(made, rows, seed, X, learned, slice(learned, learned + pause)))
    seconds = time.process_time() - start
    return np.concatenate([np.zeros((pause, blocks[0].shape[1])), *blocks]), seconds


def calibration_error(proba: Floats, right: Any) -> float:
    """Return the expected calibration error of the likeliest class, over ten even bins."""
    confidence = proba.max(axis=1)
    bins = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    return float(sum(abs((right[bins == b] - confidence[bins == b]).sum()) for b in range(_BINS)) / len(right))


class _Scores:
    """What was found, stream by stream, of the learners that are there."""

    def __init__(self, found: Results) -> None:
        self.there = [line for line in LEARNERS if not (found.where(learner=line)["problem"] != "").any()]
        self.streams = [(f"{data}, {order}", part) for (data, order), part in found.groups("data", "order")]

    def mean(self, line: str, column: str) -> float:
        """Return a mean over streams."""
        return float(np.mean([_mean(part, line, column) for _, part in self.streams]))

    def show(self, line: str) -> str:
        return _show(self.mean(line, "accuracy"), self.mean(line, "loss"))

    def ahead(self, others: Iterable[str]) -> list[float]:
        """Return the points that the boost is ahead of the best of some, by stream."""
        return [min(ahead_of(part, line, "accuracy") for line in others) * 100 for _, part in self.streams]

    def lead(self, line: str, column: str) -> float:
        """Return what the boost has more than another, in the mean."""
        return float(np.mean([ahead_of(part, line, column) for _, part in self.streams]))


def _mean(part: Results, line: str, column: str) -> float:
    return float(part.where(learner=line)[column].mean())


def ahead_of(part: Results, line: str, column: str) -> float:
    """Return what the boost has more than another, in the orders that both went through."""
    other = part.where(learner=line)
    mine = part.where(learner=BOOST, run=other["run"].tolist())
    return float(mine[column].mean() - other[column].mean())


def _show(accuracy: float, loss: float) -> str:
    return f"{100 * accuracy:.1f} ({loss:.3f})"


def summarize(found: Results) -> Report:
    """Return accuracy and log-loss by stream, the means, and how far the boost is ahead."""
    scores = _Scores(found)
    batch, online = ([line for line in scores.there if line in group] for group in (BATCH, ONLINE))
    tables = [_table(scores, batch, "batch learner")]
    if online:
        tables.append(_table(scores, online, "of them", "Beside forests that learn row by row, on the same rows."))
    more = [
        [line, _percent(scores.mean(line, "ece")), _percent(scores.mean(line, "first")),
         f"{scores.mean(line, 'seconds'):.2f}"]
        for line in scores.there
    ]  # fmt: skip
    tables.append(PageTable(["mean over streams", "ECE, %", "first 1,000 rows, %", "CPU seconds"], more))
    return Report(tables, _claims(scores, batch, online), _NOTE)


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f}"


def _table(scores: _Scores, others: list[str], best: str, caption: str = "") -> PageTable:
    """Return accuracy and log-loss of others and ours."""
    lines, ahead, rows = [*others, *OURS], scores.ahead(others), []
    for (stream, part), points in zip(scores.streams, ahead, strict=True):
        shown = [_show(_mean(part, line, "accuracy"), _mean(part, line, "loss")) for line in lines]
        count, cost = _mean(part, BOOST, "rows"), _mean(part, others[0], "seconds") / _mean(part, BOOST, "seconds")
        rows.append([stream, f"{count:,.0f}", *shown, f"{points:+.1f}", f"{cost:.1f}"])
    rows.append(["mean", "", *map(scores.show, lines), f"{np.mean(ahead):+.1f}", ""])
    heads = ["stream", "rows", *lines, f"{BOOST} over the best {best}, points", f"CPU time of {others[0]} / {BOOST}"]
    return PageTable(heads, rows, caption)


def _claims(scores: _Scores, batch: list[str], online: list[str]) -> list[Claim]:
    behind = scores.ahead(batch)
    share = scores.mean(BOOST, "seconds") / scores.mean("HistGradientBoosting", "seconds")
    far = sum(one < -0.5 for one in behind)
    least = f"least: {min(behind):+.1f} points; on {far} of {len(behind)} more than half a point behind."
    claims = [
        _ahead_claim("In the mean ahead of each in accuracy and log-loss.", scores, batch),
        Claim("Nowhere more than half a point behind the best.", min(behind) >= -0.5, least),
        Claim(
            "At a fifth of the CPU time of refitted boosting, or less.",
            share <= 0.2,
            f"{share:.2f} of it, all streams together.",
        ),
    ]
    if online:
        says = "In the mean ahead of each of river's and MOA's forests in accuracy and log-loss."
        claims.append(_ahead_claim(says, scores, online))
    return claims


def _ahead_claim(says: str, scores: _Scores, others: list[str]) -> Claim:
    points = min(100 * scores.lead(line, "accuracy") for line in others)
    loss = max(scores.lead(line, "loss") for line in others)
    return Claim(says, points > 0 and loss < 0, f"{points:+.1f} points, {loss:+.3f} against the best of them.")


NIGHTLY = Runs("peers.evergreen", "nightly", cells, measure)
