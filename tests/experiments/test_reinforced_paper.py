"""The exhibits of the paper on reinforced trees: what is measured, compared and told."""

import os

import numpy as np
import pytest

from experiments.harness.catalog import find_exhibits
from experiments.harness.exhibits import name_cell
from experiments.harness.measuring import measure_cell
from experiments.harness.pages import RESULTS
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore
from experiments.papers.reinforced import cross_validation, drift, electricity, mushroom, nursery
from experiments.papers.reinforced.forms import OURS, PAPER, SINGLE, UNTRUNCATED, make_tree
from experiments.papers.reinforced.greedy import answer_rows, grow_greedily
from experiments.papers.reinforced.measures import Answered, block_lines, by_run
from experiments.papers.reinforced.optimum import best_line, best_return
from experiments.papers.reinforced.sets import LabelledRows
from quercus.evaluation import best_policy

STORE = ResultStore(RESULTS)
EXHIBITS = {exhibit.name: exhibit for exhibit in find_exhibits("papers.reinforced")}
needs_data = pytest.mark.skipif(
    "QUERCUS_DATA" not in os.environ, reason="QUERCUS_DATA is not set: no data sets to read"
)


def stored(name):
    exhibit = EXHIBITS[name]
    return STORE.read(exhibit.runs, STORE.best_scale(exhibit.runs))


def claims_of(name, found):
    return {claim.says.split(",")[0].rstrip("."): claim for claim in EXHIBITS[name].summarize(found).claims}


def changed(found, column, change, **match):
    """Return the lines with a column changed where others have these values."""
    kept = np.ones(len(found), bool)
    for name, value in match.items():
        kept &= found[name] == value
    assert kept.any()
    values = found[column].astype(float)
    values[kept] = change(values[kept])
    return Results({**found.columns, column: values})


@pytest.fixture
def rows():
    """Rows whose class follows from the first two columns; the third is noise, the fourth nearly tells it alone."""
    random = np.random.default_rng(3)
    X = random.integers(0, 3, (600, 4)).astype(float)
    y = np.where((X[:, 0] == 1) ^ (X[:, 1] == 2), "yes", "no")
    X[:, 3] = np.where(random.random(600) < 0.8, y == "yes", X[:, 3])
    return LabelledRows(X, y, [0, 1, 2, 3])


def test_the_paper_has_its_figures_and_tables():
    assert list(EXHIBITS) == ["figure-2", "figure-3", "figure-4a", "table-nursery", "figure-4b", "table-1"]


@pytest.mark.parametrize("exhibit", EXHIBITS.values(), ids=EXHIBITS)
def test_cells_differ_and_quick_ones_are_among_the_full(exhibit):
    quick, full = ({name_cell(cell) for cell in exhibit.runs.cells(scale)} for scale in ("quick", "full"))
    assert len(quick) == len(exhibit.runs.cells("quick"))
    assert len(full) == len(exhibit.runs.cells("full"))
    assert quick < full


@needs_data
@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("figure-2", {"data": "mushroom", "form": PAPER, "run": 3}),
        ("figure-4a", {"data": nursery.LARGE, "form": PAPER, "cost": 0.5, "run": 2}),
        ("nursery", {"data": nursery.ALL, "form": cross_validation.RATIO, "limit": 2, "passes": 1, "run": 1}),
        ("electricity", {"data": "electricity", "form": electricity.PREVIOUS, "alpha": 0.0, "run": 0}),
    ],
)
def test_a_cell_is_what_is_stored_of_it(name, cell):
    lines, _ = measure_cell("papers.reinforced", name, cell)
    runs = next(exhibit.runs for exhibit in EXHIBITS.values() if exhibit.runs.name == name)
    kept = STORE.read(runs, "quick").where(**cell)
    assert {key: kept[key].tolist() for key in lines[0]} == {key: [line[key] for line in lines] for key in lines[0]}


def test_mushroom_claims_follow_the_results():
    found = stored("figure-2")
    assert claims_of("figure-2", found)["It maintains an accuracy of 97.74 % ± 3.01"].holds
    worse = changed(found, "right", lambda right: 0.9 * right, form=PAPER)
    assert claims_of("figure-2", worse)["It maintains an accuracy of 97.74 % ± 3.01"].holds is False
    says = "The discount factor discourages querying without affecting the accuracy undesirably"
    better = changed(found, "right", lambda right: 1.2 * right, form=mushroom.UNDISCOUNTED)
    assert (claims_of("figure-2", found)[says].holds, claims_of("figure-2", better)[says].holds) == (True, False)


def test_nursery_claims_follow_the_results():
    found = stored("figure-3")
    says = "Multiple path updates speed up convergence significantly"
    sooner = changed(found, "gained", lambda gained: gained + 1_000, form=SINGLE)
    assert (claims_of("figure-3", found)[says].holds, claims_of("figure-3", sooner)[says].holds) == (True, False)
    says = "Truncated exploration results in many queries being asked on the first few points"
    fewer = changed(found, "asked", lambda asked: 0.5 * asked, form=UNTRUNCATED)
    assert claims_of("figure-3", found)[says].holds is not True
    assert claims_of("figure-3", fewer)[says].holds


def test_a_tree_beats_the_greedy_one_only_with_as_many_questions():
    found = stored("table-nursery")
    says = "When the number of allowed queries is limited"
    assert claims_of("table-nursery", found)[says].holds is not True
    better = changed(found, "right", lambda right: 1.2 * right, form=PAPER, data=nursery.LARGE)
    assert claims_of("table-nursery", better)[says].holds


def test_drift_is_handled_if_the_previous_label_is_beaten():
    found = stored("figure-4b")
    says = "RLDT can effectively handle concept drift (abstract)"
    weak = changed(found, "right", lambda right: 0.9 * right, form=electricity.PREVIOUS)
    assert (claims_of("figure-4b", found)[says].holds, claims_of("figure-4b", weak)[says].holds) == (False, True)


def test_the_learning_rate_is_chosen_by_the_first_rows():
    found = stored("table-1")
    early = found["after"] <= drift.CHOOSING
    right = np.where(early & (found["alpha"] == 0.01), found["rows"], found["right"])
    doctored = Results({**found.columns, "right": np.where(early, right, found["right"] * (found["alpha"] != 0.01))})
    assert drift.chosen_alpha(doctored, PAPER) == 0.01


def test_the_accuracy_so_far_ends_at_that_of_all_rows():
    found = stored("figure-4b").where(form=electricity.PREVIOUS)
    ends, means, _ = drift.running(found)
    assert (ends[-1], means[-1]) == (electricity.ROWS, pytest.approx(by_run(found, "right")[0]))


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_without_discount_the_best_return_is_that_of_the_exact_solver(rows, most):
    for cost in (0.0, 0.3, 2.0):
        # An error loses a reward of 10, which is 10 / cost questions.
        policy = best_policy((rows.X, rows.y), price_of_error=10 / cost if cost else 1e9, most=most)
        best = best_return(rows.X, rows.y, most, gamma=1.0, cost=cost or 1e-8)
        assert (best.accuracy, best.asked) == (pytest.approx(1 - policy.loss), pytest.approx(policy.cost))


def test_no_tree_has_a_larger_return_than_the_best(rows):
    y = np.unique(rows.y, return_inverse=True)[1]
    for cost in (0.0, 0.5):
        best = best_line(rows.X, rows.y, 2, cost)["gained"]
        greedy = answer_rows(grow_greedily(rows.X, y, depth=2), rows.X, y).gains(cost).sum()
        policy = best_policy((rows.X, rows.y), price_of_error=10.0, most=2).purchases(rows.X)
        exact = Answered(policy.answers == rows.y, policy.bought.sum(axis=1)).gains(cost).sum()
        assert best >= max(greedy, exact)
        assert best > greedy  # the fourth column looks best and leads astray


def test_a_collapsed_tree_answers_the_same_without_useless_questions():
    random = np.random.default_rng(4)
    X = random.integers(0, 2, (400, 3))
    # Where the second column is 0, the first tells only how sure the answer is.
    y = np.where(X[:, 0] == 0, random.random(400) < 0.1 + 0.2 * X[:, 1], X[:, 1]).astype(np.int64)
    whole, collapsed = (answer_rows(grow_greedily(X, y, 2, collapse=it), X, y) for it in (False, True))
    assert (whole.right == collapsed.right).all()
    assert (collapsed.asked == 1 + (X[:, 1] == 1)).all()
    assert (whole.asked == 2).all()


def test_returns_are_discounted_rewards_less_costs():
    result = Answered(np.array([True, False]), np.array([2, 1]))
    assert result.gains(cost=1.0) == pytest.approx([0.64 * 5 - 1 - 0.8, 0.8 * -5 - 1])


def test_blocks_hold_each_row_once():
    random = np.random.default_rng(5)
    result = Answered(random.random(90) < 0.7, random.integers(0, 4, 90))
    lines = block_lines(result, (10, 55, 90))
    for name, value in (
        ("right", result.right),
        ("asked", result.asked),
        ("rows", np.ones(90)),
        ("gained", result.gains()),
    ):
        assert sum(line[name] for line in lines) == pytest.approx(value.sum(), abs=0.01)
    assert max(line["most"] for line in lines) == result.asked.max()


def test_costs_count_the_same_in_both_units():
    assert make_tree(PAPER, cost=0.25).worth == 4.0
    assert make_tree(OURS, cost=0.25).worth == 40.0
    assert make_tree(PAPER).worth is None
