"""The comparison for users: its cells, and what is told and drawn of stored results."""

import numpy as np
import pytest

from experiments.harness.pages import RESULTS
from experiments.harness.ranks import Friedman
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore
from experiments.peers.choosing import labels, passes
from experiments.peers.choosing.exhibits import STUDY
from experiments.peers.choosing.guide import TREES, summarize_guide
from experiments.peers.choosing.learners import BATCH, LEARNERS, RANKED, TREE, Missing, fits, pass_batch, pass_majority
from experiments.peers.choosing.policies import gain, read_bought, summarize_advice
from experiments.peers.choosing.ranking import Ranking, rank, summarize_pairs
from experiments.peers.choosing.scores import COUNTED, compare_all, read_gaps, read_scores, verdict
from experiments.peers.evergreen.sets import OrderedRows

STORE = ResultStore(RESULTS)
SHUFFLED, IN_ORDER = passes.SHUFFLED, passes.IN_ORDER


def read(runs):
    scale = STORE.best_scale(runs)
    assert scale is not None, "the stored results are not those of the cells of now"
    return STORE.read(runs, scale)


@pytest.fixture(scope="module")
def found():
    return read(passes.PASSES)


@pytest.fixture(scope="module")
def asked():
    return read(labels.LABELS)


def doctored(found, column, where, value):
    """Results in which the lines that match have another value."""
    keep = np.all([found[name] == wanted for name, wanted in where.items()], axis=0)
    changed = np.where(keep, value, found[column])
    return Results({**found.columns, column: changed})


def test_every_learner_goes_through_every_set_in_both_orders():
    cells = passes.cells("full")
    assert len(passes.SETS) == 15
    assert {(cell["data"], cell["order"], cell["learner"]) for cell in cells} == {
        (data, order, learner) for data in passes.SETS for order in (IN_ORDER, SHUFFLED) for learner in LEARNERS
    }


def rows_of(seed=0, count=130):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.random(count), random.integers(0, 3, count)])
    return OrderedRows("made up", X, (X[:, 0] + (X[:, 1] == 1) > 0.8).astype(np.int64), (0, 3))


def test_the_commonest_label_so_far():
    rows = rows_of()
    right = pass_majority(rows, 0).run.right
    for i in range(1, len(rows.y)):
        before = rows.y[:i].tolist()
        commonest = min(set(before), key=lambda label: (-before.count(label), label))
        assert right[i] == (commonest == rows.y[i])
    assert not right[0]


def test_a_batch_learner_answers_only_from_rows_before():
    rows, changed = rows_of(), rows_of()
    # Labels from a row on are others: answers up to the fit after it are the same.
    changed.y[70:] = 1 - changed.y[70:]
    one, two = (pass_batch(BATCH["scikit-learn tree"], each, 1) for each in (rows, changed))
    assert fits(len(rows.y)) == [1, 4, 16, 50, 100]
    assert (one.right[:70] == two.right[:70]).all()
    assert (one.right[70:100] != two.right[70:100]).all()
    assert one.right[50:].mean() > 0.8


def test_a_learner_that_fails_leaves_a_gap(monkeypatch):
    def fail(rows, seed):
        raise KeyError("no such branch")

    monkeypatch.setitem(LEARNERS, "river EFDT", fail)
    monkeypatch.setitem(LEARNERS, TREE, fail)
    assert passes.attempt("river EFDT", rows_of(), 0) == Missing("KeyError: 'no such branch'")
    with pytest.raises(KeyError):
        passes.attempt(TREE, rows_of(), 0)


def test_ranks_are_told_by_results(found):
    worst = min(found["accuracy"][~np.isnan(found["accuracy"])]) - 0.01
    best = rank(found, SHUFFLED).learners[0]
    other = rank(doctored(found, "accuracy", {"learner": best, "order": SHUFFLED}, worst), SHUFFLED)
    assert other.learners[-1] == best
    assert other.ranks[-1] == len(RANKED)
    assert rank(found, IN_ORDER).sets <= len(COUNTED[IN_ORDER]) == 12


def test_groups_are_those_that_no_pair_parts():
    ranks = np.array([1.0, 2.0, 2.5, 4.4, 4.5, 9.0])
    spans = Ranking(list("abcdef"), ranks, 10, 2.0, Friedman(0.0, 1.0)).groups()
    close = [(i, j) for i in range(6) for j in range(i + 1, 6) if ranks[j] - ranks[i] <= 2.0]
    largest = [one for one in close if not any(two != one and two[0] <= one[0] and two[1] >= one[1] for two in close)]
    assert spans == largest == [(0, 2), (2, 4)]


def test_the_guide_takes_what_did_best(found):
    ranking = rank(found, SHUFFLED)
    tree = next(name for name in ranking.learners if name in TREES)
    assert summarize_guide(found).tables[0].rows[0][1].strip("`") == tree
    other = doctored(found, "accuracy", {"learner": "river HoeffdingTree"}, 1.01)
    assert summarize_guide(other).tables[0].rows[0][1] == "river HoeffdingTree"


def test_a_pair_turns_with_its_results(found):
    for value, word in ((0.0, "behind"), (1.01, "ahead")):
        other = doctored(found, "accuracy", {"learner": TREE}, value)
        pairs = compare_all(read_scores(other, SHUFFLED), TREE)
        assert {verdict(pair) for pair in pairs.values()} == {word}
        assert {row[4] for row in summarize_pairs(other).tables[0].rows} == {word}


def test_a_gap_is_said_and_its_set_left_out_of_ranks(found):
    where = {"learner": "river EFDT", "data": "vote", "order": SHUFFLED}
    other = doctored(doctored(found, "accuracy", where, np.nan), "problem", where, "it fell over")
    assert rank(other, SHUFFLED).sets == rank(found, SHUFFLED).sets - 1
    assert "river EFDT on vote, shuffled: it fell over" in read_gaps(other)
    table = next(exhibit for exhibit in STUDY.exhibits if exhibit.name == "table-2").summarize(other).tables[0]
    assert "it fell over" in table.caption
    assert "gap" in next(row for row in table.rows if row[0] == "river EFDT")


def test_policies_keep_to_the_budget(asked):
    for key in labels.CONTENDERS:
        result = read_bought(asked, key)
        if key[2] == labels.ALL:
            assert result.labels == 1
        else:
            # Those of scikit-activeml may begin with some more, and keep to a window of their own.
            given = labels.HEAD / 500 if key[2].endswith(labels.STARTED) else 0.0
            assert result.labels < given + (0.101 if key[1] == "quercus" else 0.13)


def test_advice_follows_the_results(asked):
    key = (labels.EVERGREEN, "quercus", "SelectiveSampling")
    where = dict(zip(("learner", "by", "policy"), key, strict=True))
    other = doctored(asked, "accuracy", where, 1.0)
    assert summarize_advice(other).tables[0].rows[0][1] == "`SelectiveSampling`"
    assert gain(other, key, (labels.EVERGREEN, "quercus", "Random"))[0] > gain(asked, key, key)[0] == 0
