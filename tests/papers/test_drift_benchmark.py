"""The benchmark of changes: its cells, alarms and verdicts, and what is told of stored results."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.drift.asked import ASKED
from benchmarks.drift.compare import Gain, all_gained, compare, none_lost, over_streams
from benchmarks.drift.exhibits import PAPER
from benchmarks.drift.labelled import LABELLED, LATER, count_found, near_changes
from benchmarks.drift.learners import OURS, RENEWING_DDM, TREES, Run, find_restarts, run_ours
from benchmarks.drift.streams import STREAMS, Case, load_case
from benchmarks.evergreen.sets import Rows

import quercus as qc
from quercus.evergreen.arrays import EvergreenArrays
from quercus.papers.exhibits import name_cell
from quercus.papers.found import Found
from quercus.papers.storing import Store

STORE = Store(Path(__file__).parents[2] / "docs" / "reproduction")


@pytest.mark.parametrize("scale", ["quick", "full"])
@pytest.mark.parametrize("runs", [LABELLED, ASKED], ids=lambda runs: runs.name)
def test_cells_are_told_apart(runs, scale):
    cells = runs.cells(scale)
    assert len({name_cell(cell) for cell in cells}) == len(cells)
    assert {cell["data"] for cell in cells} <= set(STREAMS)
    # Whoever is compared on a stream sees the same rows.
    assert len({runs.seed(cell) for cell in cells}) == len({(cell["data"], cell["run"]) for cell in cells})


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
    return Case(Rows("flipped", X, np.where(np.arange(rows) < change, y, 1 - y), (0,) * 3), (change,), 0.9)


def test_alarms_of_the_evergreen_tree_are_its_new_beginnings(monkeypatch):
    begun, keep_last = [], EvergreenArrays.keep_last
    monkeypatch.setattr(EvergreenArrays, "keep_last", lambda tree, rows: (begun.append(rows), keep_last(tree, rows)))
    alarms = find_restarts(qc.EvergreenTree(), flipped())
    assert len(alarms) == len(begun) >= 1
    assert 3_000 <= alarms[0] < 3_400


@pytest.mark.parametrize("name", [*(pair.watching for pair in TREES.values()), RENEWING_DDM])
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
    assert count_found(Run(right, 1.0, [999, 1_000 + LATER]), case) == 0
    assert count_found(Run(right, 1.0, [1_000, 1_001, 5_100]), case) == 2
    assert np.isnan(count_found(Run(right, 1.0, [7]), case._replace(changes=()))), "nothing to be found"


def test_a_difference_counts_from_two_standard_errors_on():
    gain, loss, even, once = (Gain("x", np.array(p)) for p in ([1.0, 1.1], [-1.0, -1.2], [-1.0, 1.1], [-2.0]))
    assert [one.sign for one in (gain, loss, even, once)] == [1, -1, 0, 0]
    assert [all_gained(some) for some in ([gain], [gain, even], [gain, loss])] == [True, None, False]
    assert [none_lost(some) for some in ([gain, even], [gain, loss], [gain, once])] == [True, False, None]
    assert over_streams([gain, loss]).mean == pytest.approx((1.05 - 1.1) / 2)
    assert str(once) == "-2.00"


def test_learners_are_compared_run_by_run():
    columns = {"data": ["s"] * 5, "learner": list("aaabb"), "run": [0, 1, 2, 0, 2], "right": [0.5, 0.1, 0.7, 0.4, 0.4]}
    found = Found({name: np.array(values) for name, values in {**columns, "problem": [""] * 5}.items()})
    gain = compare(found, "s", "a", "b")
    assert gain.points == pytest.approx([10, 30])
    assert compare(found, "s", "a", "c") is None


@pytest.mark.parametrize("exhibit", PAPER.exhibits, ids=lambda exhibit: exhibit.name)
def test_stored_results_are_told(exhibit):
    scale = STORE.best_scale(exhibit.runs)
    assert scale is not None, "the stored results are not those of the cells of now"
    told = exhibit.tell(STORE.read(exhibit.runs, scale))
    for sheet in told.sheets:
        assert sheet.rows
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}
        assert "nan" not in " ".join(cell for row in sheet.rows for cell in row)
    assert not any("nan" in claim.seen for claim in told.claims)


def test_our_learners_are_the_ones_of_the_pairs():
    assert {name for pair in TREES.values() for name in pair} < set(OURS)
