"""Trees that follow changes: its cells, alarms and verdicts, and what is told of stored results."""

import numpy as np
import pytest

import quercus as qc
from experiments.harness.pages import RESULTS
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore
from experiments.peers.drift.compare import Gain, all_gained, compare, none_lost, over_streams
from experiments.peers.drift.labelled import LATER, count_found, near_changes
from experiments.peers.drift.learners import OURS, RENEWING_DDM, TREES, DriftRun, find_restarts, run_ours
from experiments.peers.drift.streams import STREAMS, DriftStream, load_case
from experiments.peers.evergreen.sets import OrderedRows
from quercus.learners.evergreen import rebuilding

STORE = ResultStore(RESULTS)


@pytest.mark.parametrize("name", [name for name, source in STREAMS.items() if source.make is not None])
def test_streams_change_where_they_say(name):
    case, again = (load_case(name, 3, 26_000) for _ in range(2))
    assert case.rows.X.shape[0] == len(case.rows.y) == 26_000
    assert (case.rows.X == again.rows.X).all()
    assert (case.rows.y == again.rows.y).all()
    every = STREAMS[name].every
    assert case.changes == (tuple(range(every, 26_000, every)) if every else ())
    assert 0.5 < case.best < 1


def flipped(rows=6_000, change=3_000):
    X, y = qc.streams.SEA(seed=4).take(rows)
    return DriftStream(
        OrderedRows("flipped", X, np.where(np.arange(rows) < change, y, 1 - y), (0,) * 3), (change,), 0.9
    )


def test_alarms_of_the_evergreen_tree_are_its_new_beginnings(monkeypatch):
    begun, keep_last = [], rebuilding.keep_last
    monkeypatch.setattr(rebuilding, "keep_last", lambda tree, rows: (begun.append(rows), keep_last(tree, rows)))
    alarms = find_restarts(qc.EvergreenTree(), flipped())
    assert len(alarms) == len(begun) >= 1
    assert 3_000 <= alarms[0] < 3_400


@pytest.mark.parametrize("name", [*(pair.monitored for pair in TREES.values()), RENEWING_DDM])
def test_learners_that_watch_are_alarmed_by_a_change(name):
    case = flipped()
    run = run_ours(name, case)
    assert count_found(run, case) == 1
    before, soon, later = near_changes(run, case)
    assert soon < later < before


def test_others_have_no_alarms():
    case = flipped()
    for without, _ in TREES.values():
        run = run_ours(without, case)
        assert run.alarms is None
        assert np.isnan(count_found(run, case))


def test_an_alarm_counts_for_the_change_before_it():
    case = flipped()._replace(changes=(1_000, 5_000))
    right = np.ones(6_000, bool)
    assert count_found(DriftRun(right, 1.0, [999, 1_000 + LATER]), case) == 0
    assert count_found(DriftRun(right, 1.0, [1_000, 1_001, 5_100]), case) == 2
    assert np.isnan(count_found(DriftRun(right, 1.0, [7]), case._replace(changes=()))), "nothing to be found"


def test_a_difference_counts_from_two_standard_errors_on():
    gain, loss, even, once = (Gain("x", np.array(p)) for p in ([1.0, 1.1], [-1.0, -1.2], [-1.0, 1.1], [-2.0]))
    assert [one.sign for one in (gain, loss, even, once)] == [1, -1, 0, 0]
    assert [all_gained(some) for some in ([gain], [gain, even], [gain, loss])] == [True, None, False]
    assert [none_lost(some) for some in ([gain, even], [gain, loss], [gain, once])] == [True, False, None]
    assert over_streams([gain, loss]).mean == pytest.approx((1.05 - 1.1) / 2)
    assert str(once) == "-2.00"


def test_learners_are_compared_run_by_run():
    columns = {"data": ["s"] * 5, "learner": list("aaabb"), "run": [0, 1, 2, 0, 2], "right": [0.5, 0.1, 0.7, 0.4, 0.4]}
    found = Results({name: np.array(values) for name, values in {**columns, "problem": [""] * 5}.items()})
    gain = compare(found, "s", "a", "b")
    assert gain.points == pytest.approx([10, 30])
    assert compare(found, "s", "a", "c") is None


def test_our_learners_are_the_ones_of_the_pairs():
    assert {name for pair in TREES.values() for name in pair} < set(OURS)
