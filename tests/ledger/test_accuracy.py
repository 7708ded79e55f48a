"""Accuracy, loss and recall over all rows from questions: bounds, counts, tables, refusals."""

import itertools
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.ledger.accuracy import FairAccuracy
from quercus.ledger.counts import EventCount
from quercus.ledger.sequences import RunningMean
from tests.ledger.settled import fair_accuracy

LABELS = ["ham", "spam"]


def stream(seed, rows=4000, least=0.05, gate=0.0, silent=0.0):
    """Draw a stream: truths, answers, propensities (0: not covered) and which rows are asked and answered."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(rows) < 0.3).astype(int)
    sure = rng.random(rows) < 0.8
    answer = np.where(rng.random(rows) < np.where(sure, 0.95, 0.6), truth, 1 - truth)
    p = np.where(sure, least, np.minimum(1.0, 8 * least))
    p[rng.random(rows) < gate] = 0.0
    asked = rng.random(rows) < p
    return truth, answer, p, asked, rng.random(rows) >= silent


def questions(truth, answer, p, asked, replies):
    """The arguments of add_many for a stream."""
    at = np.flatnonzero(asked)
    right = np.where(replies[at], (truth == answer)[at], np.nan)
    return {
        "rows": at + 1,
        "covered": np.cumsum(p > 0)[at],
        "propensities": p[at],
        "right": right,
        "losses": np.where(truth == answer, 0.0, np.where(truth == 1, 5.0, 1.0))[at],
        "truths": [LABELS[k] for k in truth[at]],
    }


def measure(drawn, least=0.05, loss_range=(0.0, 5.0)):
    fair = FairAccuracy(least, loss_range=loss_range)
    fair.add_many(**questions(*drawn))
    fair.advance(len(drawn[0]), int((drawn[2] > 0).sum()))
    return fair


def test_is_about_all_rows_while_the_plain_figure_is_not():
    truth, answer, p, asked, replies = stream(1, rows=40_000)
    figure = measure((truth, answer, p, asked, replies)).accuracy()
    real = (truth == answer).mean()
    assert figure.low <= real <= figure.high
    assert abs(figure.value - real) < 0.01
    assert figure.naive == pytest.approx((truth == answer)[asked].mean())
    assert figure.naive < figure.low
    assert (figure.rows, figure.covered, figure.labels) == (40_000, 40_000, asked.sum())


def test_without_gates_and_silence_it_is_the_running_mean():
    drawn = stream(2)
    arguments = questions(*drawn)
    mean = RunningMean(0.05)
    mean.add_many(arguments["right"], arguments["propensities"], np.diff(arguments["rows"], prepend=0) - 1)
    mean.skip(4000 - arguments["rows"][-1])
    figure = measure(drawn).accuracy(0.1)
    assert (figure.low, figure.high) == pytest.approx(mean.interval(0.1))
    assert figure.value == mean.estimate


def test_rows_that_are_not_covered_may_be_right_or_wrong():
    drawn = stream(3, gate=0.2)
    p = drawn[2]
    figure = measure(drawn).accuracy()
    among_covered = measure(tuple(part[p > 0] for part in drawn)).accuracy()
    share = (p > 0).mean()
    assert figure.value == among_covered.value
    assert figure.low == pytest.approx(share * among_covered.low)
    assert figure.high == pytest.approx(share * among_covered.high + 1 - share)


@pytest.mark.parametrize(("gate", "silent"), [(0.0, 0.0), (0.1, 0.1)])
def test_the_truth_is_inside(gate, silent):
    failures = np.zeros(3)
    for seed in range(60):
        drawn = stream(seed, rows=2000, gate=gate, silent=silent)
        truth, answer = drawn[:2]
        fair, right = measure(drawn), truth == answer
        losses = np.where(right, 0.0, np.where(truth == 1, 5.0, 1.0))
        accuracy, loss, recall = fair.accuracy(), fair.loss(), fair.recall()
        failures[0] += not accuracy.low <= right.mean() <= accuracy.high
        failures[1] += not loss.low <= losses.mean() <= loss.high
        for k, label in enumerate(LABELS):
            failures[2] += not recall[label].low <= right[truth == k].mean() <= recall[label].high
    assert failures.max() <= 3


def test_recall_is_bounded_usefully():
    truth, answer, *rest = stream(5, rows=60_000)
    recall = measure((truth, answer, *rest)).recall()
    for k, label in enumerate(LABELS):
        real = (answer == k)[truth == k].mean()
        assert recall[label].low <= real <= recall[label].high
        assert recall[label].high - recall[label].low < 0.15
        assert recall[label].naive == pytest.approx((answer == k)[(truth == k) & rest[1]].mean())


def test_where_all_is_asked_for_sure_all_is_known():
    truth, answer, _, _, replies = stream(6)
    everything = np.ones(len(truth))
    fair = measure((truth, answer, everything, everything > 0, replies), least=1.0)
    for figure in (fair.accuracy(), fair.loss(), *fair.recall().values()):
        assert figure[:4] == pytest.approx([figure.value] * 4)


def test_a_question_that_expired_counts_against_both_sides():
    known = FairAccuracy(0.1)
    silent = FairAccuracy(0.1)
    for row in range(10, 3001, 10):
        expires = row % 50 == 0
        known.add(row, row, 0.1, right=row % 40 != 0, truth="a")
        silent.add(row, row, 0.1, right=None if expires else row % 40 != 0, truth="a")
    assert silent.accuracy().labels == 240
    assert silent.accuracy().low < known.accuracy().low - 0.05
    assert silent.accuracy().high > known.accuracy().high
    assert silent.recall()["a"].low < known.recall()["a"].low
    assert silent.recall()["a"].high >= known.recall()["a"].high


def test_questions_that_were_chosen_or_asked_too_rarely_are_only_in_the_plain_figure():
    fair = FairAccuracy(0.1)
    fair.add(10, 10, 0.1, right=True, truth="a")
    fair.add(12, 11, None, right=False, truth="b")
    fair.add(14, 12, 0.05, right=False, truth="a")
    fair.advance(15, 13)
    figure = fair.accuracy()
    assert (figure.rows, figure.covered, figure.labels) == (15, 13, 1)
    assert figure.naive == pytest.approx(1 / 3)
    assert figure.value == 1.0
    assert list(fair.recall()) == ["a"]
    assert fair.recall()["a"].naive == 0.5


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 100), max_size=5), st.booleans())
def test_any_partition_gives_the_same_state(seed, cuts, by_level):
    truth, answer, p, asked, replies = stream(seed, rows=200, gate=0.1, silent=0.2)
    arguments = questions(truth, answer, p, asked, replies)
    # Some are below the least propensity, or were chosen.
    arguments["propensities"] = np.where(np.arange(asked.sum()) % 5 == 4, np.nan, arguments["propensities"])
    covered = p > 0
    covered[np.flatnonzero(asked)[4::5]] = False
    counts = np.stack([np.cumsum(covered), np.cumsum(covered & (p >= 0.3))], axis=1)
    counts = counts if by_level else counts[:, :1]
    arguments["covered"] = counts[np.flatnonzero(asked)]
    one_by_one, in_parts = (FairAccuracy(0.05, levels=[0.3], loss_range=(0, 5)) for _ in range(2))
    for i in range(asked.sum()):
        row, covered_rows, chance, right, loss, label = (arguments[name][i] for name in arguments)
        one_by_one.add(
            int(row),
            covered_rows.tolist(),
            None if math.isnan(chance) else chance,
            None if math.isnan(right) else bool(right),
            loss=loss,
            truth=label,
        )
    edges = [0, *sorted(min(cut, int(asked.sum())) for cut in cuts), int(asked.sum())]
    for start, stop in itertools.pairwise(edges):
        in_parts.add_many(**{name: part[start:stop] for name, part in arguments.items()})
    assert one_by_one.to_dict() == in_parts.to_dict()
    again = FairAccuracy.from_dict(json.loads(json.dumps(one_by_one.to_dict())))
    one_by_one.advance(200, counts[-1].tolist())
    again.advance(200, counts[-1].tolist())
    assert again.to_dict() == one_by_one.to_dict()
    assert again.recall() == one_by_one.recall()


def ledger_table(drawn, **columns):
    arguments = questions(*drawn)
    at = arguments["rows"] - 1
    expired = np.isnan(arguments["right"])
    return pa.table(
        {
            "kind": ["label"] * len(at),
            "row": arguments["rows"] - 1,
            "covered": arguments["covered"],
            "propensity": arguments["propensities"],
            "prediction": [LABELS[k] for k in drawn[1][at]],
            "answer": [None if gone else label for gone, label in zip(expired, arguments["truths"], strict=True)],
            "status": ["expired" if gone else "answered" for gone in expired],
            **columns,
        }
    )


def test_a_table_says_the_same_in_any_order():
    drawn = stream(7, gate=0.1, silent=0.1)
    table = ledger_table(drawn)
    loss = {"spam": {"ham": 5.0}}
    end = {"rows": 4000, "covered": int((drawn[2] > 0).sum())}
    by_hand = measure(drawn)
    shuffled = table.take(np.random.default_rng(0).permutation(len(table)))
    for given_table in (table, shuffled):
        fair = fair_accuracy(given_table, 0.05, loss=loss, **end)
        assert fair.to_dict() == by_hand.to_dict()
        assert fair.loss() == by_hand.loss()


def test_an_open_question_hides_all_that_came_after():
    drawn = stream(8)
    table = ledger_table(drawn).to_pylist()
    table[20].update(status="open", answer=None)
    row = table[20]["row"] + 1
    figure = fair_accuracy(pa.Table.from_pylist(table), 0.05, rows=4000, covered=4000).accuracy()
    assert (figure.rows, figure.covered, figure.labels) == (row - 1, row - 1, 20)
    before = tuple(part[: row - 1] for part in drawn)
    assert figure == measure(before).accuracy()
    # One that does not count hides nothing.
    table[20].update(propensity=None)
    assert fair_accuracy(pa.Table.from_pylist(table), 0.05).rows == table[-1]["row"] + 1


def test_tables_with_features_missing_predictions_and_other_labels():
    table = pa.table(
        {
            "kind": ["label", "feature", "label", "label"],
            "row": [1, 1, 3, 8],
            "covered": [2, 2, 4, 8],
            "propensity": [0.5, 0.5, 1.0, None],
            "prediction": pa.array([None, 7, 3, 3], pa.int64()),
            "answer": pa.array([3, None, 3, 4], pa.int64()),
            "status": ["answered", "open", "answered", "answered"],
        }
    )
    fair = fair_accuracy(table, 0.5, loss={3: {4: 10.0}})
    assert fair.accuracy().labels == 2
    assert fair.accuracy().naive == pytest.approx(1 / 3)
    assert fair.loss().naive == pytest.approx((10 + 0 + 1) / 3)
    assert list(fair.recall()) == [3]
    assert type(next(iter(fair.recall()))) is int


def test_tables_without_answers_or_questions():
    empty = ledger_table(stream(9, rows=50)).slice(0, 0)
    assert fair_accuracy(empty, 0.05, rows=30, covered=30).accuracy()[:6] == pytest.approx(
        (math.nan, 0.0, 1.0, math.nan, 30, 30), nan_ok=True
    )
    silent = ledger_table(stream(9, rows=200, silent=1.0))
    figure = fair_accuracy(silent, 0.05).accuracy()
    assert (figure.low, figure.high, figure.labels) == (0.0, 1.0, 0)


def test_counts_of_rare_rows():
    rng = np.random.default_rng(4)
    failures = 0
    for _ in range(100):
        p = rng.uniform(0.05, 0.5, 3000)
        count = EventCount(0.05)
        count.add_many(p[rng.random(3000) < p])
        low, high = count.least(0.025), count.most(0.025)
        assert high - low < 900
        failures += not low <= 3000 <= high
    assert failures <= 5
    assert EventCount(0.05).least(0.1) == 0
    assert EventCount(0.05).most(0.1) < 100


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: f.add(3, 3, 0.5, True, loss=0, truth="a"), "row 3 comes after row 5"),
        (lambda f: f.add(7, 9, 0.5, True, loss=0, truth="a"), "covered rows up to row 7"),
        (lambda f: f.add(7, 4, 0.5, True, loss=0, truth="a"), "covered rows up to row 7"),
        (lambda f: f.add(7, 6, 1e-4, True, loss=0, truth="a"), "covered rows up to row 7"),
        (lambda f: f.add(6, 5, 1e-4, True, loss=0, truth="a"), "covered rows up to row 6"),
        (lambda f: f.add(7, 6, 1.5, True, loss=0, truth="a"), "propensity 1.5"),
        (lambda f: f.add(7, 6, 0.0, True, loss=0, truth="a"), "propensity 0 "),
        (lambda f: f.add(7, 6, 0.5, 0.5, loss=0, truth="a"), "whether the answer was right"),
        (lambda f: f.add(7, 6, 0.5, True, truth="a"), "give the loss"),
        (lambda f: f.add(7, 6, 0.5, True, loss=9, truth="a"), "between 0 and 2"),
        (lambda f: f.add_many([7], [6], [0.5], [1], losses=[0], truths=[]), "0 true labels"),
        (lambda f: f.add_many([7], [6], [0.5], [1], losses=[0], truths=[None]), "has no true label"),
        (lambda f: f.add_many([7, 8], [6], [0.5], [1]), "as many of each"),
        (lambda f: f.add_many([7], [[5, 6]], [0.5], [1], losses=[0]), "covered rows of each"),
        (lambda f: f.add_many([7.5], [6], [0.5], [1], losses=[0]), "whole numbers"),
        (lambda f: f.advance(4, 4), "row 4 comes after row 5"),
        (lambda f: f.advance(8, 8), "covered rows up to row 8"),
        (lambda f: f.accuracy(alpha=2), "alpha=2"),
        (lambda f: f.recall(alpha=0), "alpha=0"),
    ],
)
def test_refusals_change_nothing(call, words):
    fair = FairAccuracy(0.1, loss_range=(0, 2))
    fair.add(5, 4, 0.5, right=True, loss=0.0, truth="a")
    before = fair.to_dict()
    with pytest.raises(ValueError, match=words):
        call(fair)
    assert fair.to_dict() == before


def test_what_was_not_given_is_not_made_up():
    fair = FairAccuracy(0.1)
    with pytest.raises(ValueError, match="no losses were given"):
        fair.loss()
    with pytest.raises(ValueError, match="losses were given"):
        fair.add(1, 1, 0.5, right=True, loss=1.0)
    fair.add(1, 1, 0.5, right=True)
    with pytest.raises(ValueError, match="1 questions came without their true labels"):
        fair.recall()
    with pytest.raises(ValueError, match="loss_range"):
        FairAccuracy(0.1, loss_range=(1, 1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "lost"}, "status 'lost'"),
        ({"answer": None}, "'answered' but has no answer"),
        ({"row": None}, "column 'row' has holes"),
    ],
)
def test_tables_that_make_no_sense_are_refused(change, words):
    table = ledger_table(stream(7, rows=300)).to_pylist()
    table[3].update(change)
    with pytest.raises(ValueError, match=words):
        fair_accuracy(pa.Table.from_pylist(table), 0.05)
    with pytest.raises(ValueError, match="no column 'covered'"):
        fair_accuracy(pa.Table.from_pylist(table).drop_columns("covered"), 0.05)
