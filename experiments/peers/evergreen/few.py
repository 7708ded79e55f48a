"""The same labels for all, as batch learners like it: each learns so many rows, and answers the next ones."""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.batch import BATCH, CAT, problem_of
from experiments.peers.evergreen.contenders import Score, TestSpan, score_table, test_ours
from experiments.peers.evergreen.nightly import BOOST, OURS, ahead_of

LEARNERS = (*BATCH, *OURS)
_LABELS = (50, 100, 200, 500, 1_000, 5_000)
_DATA = (
    *("phishing", "banknote", "diabetes", "balance_scale", "tic_tac_toe", "fetal_health", "satimage", "dna", "nursery"),
    *("fico", "compas", "adult", "letter", "covertype", "electricity", "airlines"),
)
_SEEDS: dict[Scale, tuple[int, ...]] = {"quick": (1,), "full": (1, 2, 3, 4, 5)}
_TESTED = 2_000
# Fewer rows than that tell nothing.
_LEAST = 200
_COLUMNS = ("accuracy", "loss")
_NOTE = (
    f"In a shuffled order each learns the first rows and answers the next {_TESTED:,}, or as many as there are; mean "
    f"over the sets that have so many, five orders each, of {CAT}, which takes minutes for an order, the first only; "
    "ours are compared with it on that. Accuracy in per cent, and in brackets the mean log-loss. Ours "
    "learn the rows one by one, and are then grown and fitted anew."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who learns how many labels of which set."""
    return [
        {"data": data, "learner": line, "run": seed}
        for data in (_DATA[:2] if scale == "quick" else _DATA)
        for seed in _SEEDS[scale]
        for line in LEARNERS
        if seed == 1 or line != CAT
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line for each number of labels."""
    return attempt_lines(("labels", *_COLUMNS), problem_of(str(cell["learner"])), partial(_lines, cell))


def _lines(cell: Cell) -> list[Row]:
    name, seed = str(cell["learner"]), int(cell["run"])
    rows = sets.load(str(cell["data"]), seed, _LABELS[-1] + _TESTED)
    total = len(rows.y)
    spans = [TestSpan(n, n, min(n + _TESTED, total)) for n in _LABELS if n + _LEAST <= total]
    found = test_ours(OURS[name], rows, spans, seed) if name in OURS else _test_batch(name, rows, spans, seed)
    return [
        {"labels": float(span.learned), "accuracy": score.accuracy, "loss": score.loss}
        for span, score in zip(spans, found, strict=True)
    ]


def _test_batch(name: str, rows: sets.OrderedRows, spans: list[TestSpan], seed: int) -> list[Score]:
    made, found = BATCH[name], []
    X = made.form(rows)
    for span in spans:
        model = made.make(rows, seed).fit(X[: span.learned], rows.y[: span.learned])
        block = slice(span.first, span.last)
        proba = model.predict_proba(X[block])
        answers = model.classes_[proba.argmax(axis=1)]
        found.append(score_table(proba, answers, model.classes_, rows.y[block]))
    return found


def summarize(found: Results) -> Report:
    """Return means by number of labels."""
    there = [line for line in LEARNERS if not (found.where(learner=line)["problem"] != "").any()]
    rows, ahead, better = [], [], []
    for (labels,), part in found.groups("labels"):
        mean = {line: {name: float(part.where(learner=line)[name].mean()) for name in _COLUMNS} for line in there}
        batch = [line for line in there if line in BATCH]
        ahead.append(100 * min(ahead_of(part, line, "accuracy") for line in batch))
        better.append(max(ahead_of(part, line, "loss") for line in batch))
        count = len(np.unique(part.where(learner=BOOST)["data"]))
        shown = (f"{100 * mean[line]['accuracy']:.1f} ({mean[line]['loss']:.3f})" for line in there)
        rows.append([f"{labels:,.0f}", str(count), *shown, f"{ahead[-1]:+.1f}"])
    heads = ["labels", "sets", *there, f"{BOOST} over the best batch learner, points"]
    says = "Ahead of each batch learner in the mean, at any number of labels"
    claims = [
        Claim(f"{says}.", min(ahead) > 0, f"least: {min(ahead):+.1f} points."),
        Claim(f"{says}, in log-loss.", max(better) < 0, f"most: {max(better):+.3f}."),
    ]
    return Report([PageTable(heads, rows)], claims, _NOTE)


FEW = Runs("peers.evergreen", "few", cells, measure)
