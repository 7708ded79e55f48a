"""Runs of learners that buy features: what they cost beside how accurate they are, and the frontier between both."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus.evaluation import FeatureFrontier, Interrupted, feature_frontier
from quercus.evaluation.buying import prices_of
from quercus.evaluation.report import notebook_html, report_html
from quercus.evaluation.sections import make_sections
from quercus.evaluation.tables import cost_words, feature_rows
from quercus.evaluation.words import show_price
from tests.evaluation.fakes import RowLearner, toy

COSTS = {"age": 0, "blood": 20, "ct": 400}
GROUPS = {"blood": ["hb", "crp"]}
REQUIRES = {"ct": ["blood"]}


def patients(rows: int = 400, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Return a table of which crp tells whether somebody is ill, ct tells it surely, and the rest says little."""
    import pandas as pd

    random = np.random.default_rng(seed)
    ill = random.random(rows) < 0.4
    table = pd.DataFrame(
        {
            "age": random.integers(20, 80, rows).astype(float),
            "hb": random.normal(140, 10, rows),
            "crp": random.normal(10 + 25 * ill, 10),
            "ct": np.where(ill, "shadow", "clear"),
        }
    )
    # The label that is later in the alphabet comes first.
    labels = np.where(ill, "ill", "alright")
    labels[0] = "ill"
    return table, labels


def buyer(**options: Any) -> qc.UtilityTree:
    return qc.UtilityTree(**({"costs": COSTS, "groups": GROUPS, "requires": REQUIRES} | options))


@pytest.fixture(scope="module")
def run() -> qc.Run:
    return qc.evaluate(patients(), buyer(), name="patients")


def test_the_run_is_that_of_buy_and_learn(run: qc.Run) -> None:
    X, y = patients()
    tree = buyer()
    result = tree.buy_and_learn(X, y)
    assert run.cost == tree.spent_ == result.cost.sum()
    assert run.accuracy == (result.answers == y).mean()
    assert run.bought == dict(zip(X.columns, result.bought.mean(axis=0), strict=True))
    assert run.cost_per_row == pytest.approx(result.cost.mean())
    assert run.bought_per_row == pytest.approx(result.bought.sum(axis=1).mean())
    assert run.full_price == 420
    assert run.labels == run.rows == 400
    columns = {label: place for place, label in enumerate(tree.classes_.tolist())}
    right = np.array([row[columns[label]] for row, label in zip(result.proba, y, strict=True)])
    assert run.log_loss == pytest.approx(-np.log(np.clip(right, 1e-6, 1)).mean())
    later = patients(seed=1)[0]
    assert (run.learner.purchases(later).proba == tree.purchases(later).proba).all()


def test_prices_groups_and_requirements_hold(run: qc.Run) -> None:
    assert run.bought["age"] == 1
    assert run.bought["hb"] == run.bought["crp"] >= run.bought["ct"]
    assert run.cost == pytest.approx(400 * (20 * run.bought["crp"] + 400 * run.bought["ct"]))
    limited = qc.evaluate(patients(), buyer(budget=20))
    assert limited.bought["ct"] == 0
    assert limited.curve["cost"].tolist() == sorted(limited.curve["cost"].tolist())
    assert (np.diff(limited.curve["cost"]) <= 20 * np.diff(limited.curve["rows"])).all()


def test_curves_hold_money_and_values_so_far(run: qc.Run) -> None:
    X, y = patients()
    result = buyer().buy_and_learn(X, y)
    at = run.curve["rows"] - 1
    assert run.curve["cost"] == pytest.approx(np.cumsum(result.cost)[at])
    assert (run.curve["bought"] == np.cumsum(result.bought.sum(axis=1))[at]).all()
    assert (run.curve["cost"] / run.curve["rows"])[-1] == run.cost_per_row


@settings(max_examples=8)
@given(st.integers(1, 60), st.integers(1, 60))
def test_no_figure_depends_on_the_chunk(first: int, second: int) -> None:
    runs = [qc.evaluate(patients(60), buyer(seed=3), chunk=chunk) for chunk in (first, second)]
    left, right = (run.to_dict() for run in runs)
    for state in (left, right):
        state.pop("seconds"), state.pop("cpu_seconds")
    assert left == right


def test_the_warm_up_is_history_that_is_paid_for() -> None:
    run = qc.evaluate(patients(), buyer(), warm_up=150)
    X, y = patients()
    tree = buyer().partial_fit(X[:150], y[:150])
    result = tree.buy_and_learn(X[150:], y[150:])
    assert run.rows == 250
    assert run.cost == run.learner.spent_ == result.cost.sum()
    assert run.accuracy == (result.answers == y[150:]).mean()


def test_losses_are_told_per_row() -> None:
    loss = {"ill": {"alright": 50}}
    run = qc.evaluate(patients(), buyer(loss=loss), loss=loss)
    ill, alright = run.classes.index("ill"), run.classes.index("alright")
    missed, alarmed = run.confusion[ill, alright], run.confusion[alright, ill]
    nothing_said = run.confusion[:, -1].sum()
    assert 50 * missed + alarmed <= run.money <= 50 * missed + alarmed + 50 * nothing_said
    assert run.loss_per_row == run.money / 400
    assert show_price(run.loss_per_row + run.cost_per_row) in run.table()


def test_accuracy_is_never_shown_without_its_cost(run: qc.Run, tmp_path: Path) -> None:
    price, right = show_price(run.cost_per_row), f"{run.accuracy:.1%}"
    words = cost_words(run)
    assert words == f"features for {price} a row (all 4: 420)"
    assert words in str(run)
    assert f"cost_per_row={run.cost_per_row:.4g}" in repr(run)
    table = run.table()
    for text in ("cost per row", price, "of 420", f"{run.bought_per_row:.2f}", "Features that were bought", "ct"):
        assert text in table
    page, note = report_html([run]), notebook_html(run)
    for text in (page, note):
        assert right in text
        assert f"cost per row, of 420</span><b>{price}" in text or f">{price}</div>" in text
    assert "What the features cost" in page
    assert words in page
    above, below = run.plot(tmp_path / "run.png").to_dict()["vconcat"]
    assert above["title"]["text"] == "patients"
    assert below["layer"][0]["encoding"]["y"]["title"] == "cost of a row, of 420"
    assert f"all rows so far {price}" in below["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert [part.title for part in make_sections([run])][1] == "What the features cost"


def test_few_of_many_features_are_listed() -> None:
    run = qc.evaluate(qc.streams.RandomTree(features=14, rows=60), qc.UtilityTree())
    assert len(feature_rows(run)) == 11
    assert feature_rows(run)[-1][0] == "4 others, at most"


def test_runs_are_read_back_also_those_of_before(run: qc.Run) -> None:
    state = run.to_dict()
    again = qc.Run.from_dict(state)
    assert (again.cost, again.bought, again.full_price) == (run.cost, run.bought, run.full_price)
    assert (again.curve["cost"] == run.curve["cost"]).all()
    old = {name: value for name, value in state.items() if name not in ("cost", "bought", "full_price")}
    old["curve"] = {name: value for name, value in state["curve"].items() if name not in ("cost", "bought")}
    before = qc.Run.from_dict(old | {"format": 2})
    assert before.cost is None
    assert np.isnan(before.curve["cost"]).all()


def test_other_learners_are_left_alone() -> None:
    run = qc.evaluate(patients(), qc.HoeffdingTree())
    assert run.cost is None
    assert run.bought == {}
    assert math.isnan(run.cost_per_row)
    assert math.isnan(run.bought_per_row)
    assert np.isnan(run.curve["cost"]).all()
    assert "cost" not in run.table()
    assert "What the features cost" not in report_html([run])
    assert "vconcat" not in run.plot().to_dict()


def test_repeats_show_costs_if_there_are_any() -> None:
    learners = {"buys": buyer(), "reads": qc.HoeffdingTree()}
    repeats = qc.repeat(patients(), learners, seeds=[1, 2])
    cost = repeats.values("cost_per_row")
    assert (cost[0] > 0).all()
    assert np.isnan(cost[1]).all()
    assert "cost per row" in repeats.table()
    assert "cost" not in qc.repeat(patients(), qc.HoeffdingTree(), seeds=[1]).table()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ask": qc.ask.Random(0.1)}, "UtilityTree buys features, and evaluate cannot pay for labels"),
        ({"delay": 5}, "leave ask, delay and ledger out"),
        ({"ledger": "folder"}, r"Cases \(learner.open\) take late labels and a ledger"),
    ],
)
def test_labels_that_cost_or_come_late_are_refused(
    options: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tree = buyer()
    with pytest.raises(ValueError, match=words):
        qc.evaluate(patients(), tree, **options)
    assert not hasattr(tree, "schema_")
    assert not list(tmp_path.iterdir())


def test_referring_and_wrong_prices_are_refused() -> None:
    with pytest.raises(ValueError, match=r"refer is 0.2, but evaluate scores an answer to every row"):
        qc.evaluate(patients(), buyer(refer=0.2))
    with pytest.raises(ValueError, match="costs names 'mri', which is neither a feature nor a group"):
        qc.evaluate(patients(), buyer(costs={"mri": 5}))
    with pytest.raises(TypeError, match="UtilityTree is a class"):
        qc.evaluate(patients(), qc.UtilityTree)


def test_ctrl_c_keeps_money_and_accuracy_of_the_same_rows() -> None:
    class Impatient(qc.UtilityTree):
        calls = 0

        def buy_and_learn(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            Impatient.calls += 1
            if Impatient.calls == 4:
                raise KeyboardInterrupt
            return super().buy_and_learn(X, y, sample_weight)

    with pytest.raises(Interrupted) as caught:
        qc.evaluate(patients(), Impatient(costs=COSTS, groups=GROUPS), chunk=10)
    stopped = caught.value.run
    assert 0 < stopped.rows < 400
    assert (stopped.rows, stopped.curve["cost"][-1]) == (stopped.curve["rows"][-1], stopped.cost)
    X, y = patients()
    result = buyer(requires=None).buy_and_learn(X[: stopped.rows], y[: stopped.rows])
    assert stopped.cost == result.cost.sum()


def test_prices_are_shown_whatever_their_size() -> None:
    assert [show_price(value) for value in (None, math.nan, 0.0, 0.5, 12.345, 2e7)] == [
        *("–", "–", "0", "0.50", "12.35", "20,000,000")
    ]
    assert prices_of(RowLearner(), ["a", "b"]) == [1, 1]


@pytest.fixture(scope="module")
def found() -> FeatureFrontier:
    vary = {"budget": [20, 420.0], "confidence": [0.7, None]}
    rivals = {"tree": qc.HoeffdingTree(), "mine": RowLearner()}
    return feature_frontier(patients(150), buyer(), vary=vary, rivals=rivals, best=[1], seeds=[3, 4], shuffle=True)


def test_every_run_of_a_frontier_is_that_of_evaluate(found: FeatureFrontier) -> None:
    stream = qc.streams.as_stream(patients(150)).shuffled(4)
    run = qc.evaluate(stream, buyer(budget=20, seed=4))
    assert found.runs["budget", 20, 4].cost == run.cost
    assert found.values("accuracy", "budget")[0, 1] == run.accuracy
    assert found.values("accuracy", "tree")[0, 1] == qc.evaluate(stream, qc.HoeffdingTree(seed=4)).accuracy
    assert found.values("bought_per_row", "tree").tolist() == [[4, 4]]
    assert found.values("cost", "mine").tolist() == [[150 * 420.0] * 2]
    assert all(run.learner is None for run in found.runs.values())
    assert (found.values("cost_per_row", "budget")[0] <= 20).all()
    assert found.first.stream.startswith("data")


def test_points_hold_means_errors_and_paired_differences(found: FeatureFrontier) -> None:
    points = {(point["line"], point["value"]): point for point in found.points()}
    assert list(points) == [
        *(("tree", None), ("mine", None), ("budget", 20), ("budget", 420), ("confidence", 0.7), ("confidence", None)),
        *(("best k", 1), ("best k per price", 1)),
    ]
    right, cost = (found.values(metric, "confidence")[1] for metric in ("accuracy", "cost_per_row"))
    point = points["confidence", None]
    assert (point["accuracy"], point["cost"]) == (right.mean(), cost.mean())
    assert point["cost_error"] == pytest.approx(cost.std(ddof=1) / math.sqrt(2))
    apart = right - found.values("accuracy", "tree")[0]
    assert point["difference"] == pytest.approx(apart.mean())
    assert point["difference_error"] == pytest.approx(apart.std(ddof=1) / math.sqrt(2))
    assert (points["tree", None]["cost"], points["tree", None]["cost_error"]) == (420, 0)


def test_the_table_the_frame_and_the_picture_of_a_frontier(found: FeatureFrontier, tmp_path: Path) -> None:
    table = str(found)
    assert "UtilityTree on " in table
    assert "150 rows, 2 seeds; all 4 features of a row cost 420" in table
    for words in ("rivals", "budget", "confidence", "to tree", f"{found.points()[3]['accuracy']:.4f}"):
        assert words in table
    assert repr(found) == "FeatureFrontier(budget, confidence; 4 settings, 2 seeds)"
    frame = found.to_frame("polars")
    assert frame["value"].to_list() == [None, None, "20", "420", "0.7", None, "1", "1"]
    chart = found.plot(tmp_path / "f.png").to_dict()
    assert (tmp_path / "f.png").stat().st_size > 10_000
    names = chart["layer"][-1]["encoding"]["color"]["scale"]["domain"]
    assert [name.split(" ")[0] for name in names[:2]] == ["mine", "tree"]
    assert {"budget varies", "confidence varies", "best k, the same for every row"} < set(names)
    assert "<svg" in found._repr_html_()


def test_the_usual_frontier_goes_from_the_cheapest_feature_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = feature_frontier(patients(30), buyer(), seeds=[0])
    assert found.rivals == ("ConfidenceTree", "HoeffdingTree")
    assert found.fixed == {"best k": (1, 2), "best k per price": (1, 2)}
    assert found.vary["budget"] == (20, 21, 42, 84, 147, 210, 315, 420)
    assert "–" in found.table()
    free = feature_frontier(patients(30), buyer(costs=dict.fromkeys(["age", "blood", "ct"], 0)), seeds=[0], rivals={})
    assert list(free.vary) == ["worth"]
    assert free.fixed == {}
    assert free.full_price == 0
    free.table(), free.plot()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"vary": {}}, ValueError, "vary is empty"),
        ({"vary": {"budgets": [1]}}, ValueError, "vary names 'budgets'; UtilityTree takes .*budget"),
        ({"vary": {"budget": []}}, ValueError, r"vary\['budget'\] is \[\]; give values that differ"),
        ({"vary": {"budget": [1, 1.0]}}, ValueError, "give values that differ"),
        ({"rivals": {"budget": RowLearner()}}, ValueError, "'budget' is a rival and a parameter"),
        ({"rivals": {"best k": RowLearner()}}, ValueError, "'best k' is what the best features are called"),
        ({"best": [3]}, ValueError, r"best is \[3\]; give whole numbers from 1 to 2 that differ"),
        ({"best": [1, 1]}, ValueError, "give whole numbers from 1 to 2 that differ"),
        ({"best": [1.5]}, ValueError, "give whole numbers from 1 to 2 that differ"),
        ({"seeds": []}, ValueError, "give whole numbers that differ"),
        ({"learner": qc.HoeffdingTree()}, TypeError, "HoeffdingTree does not buy features"),
        ({"learner": qc.UtilityTree}, TypeError, "UtilityTree is a class; give a learner made from it"),
        ({"learner": qc.UtilityTree(costs={"mri": 1})}, ValueError, "costs names 'mri'"),
    ],
)
def test_bad_options_of_a_frontier_are_refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    given = {"learner": buyer()} | options
    with pytest.raises(error, match=words):
        feature_frontier(patients(30), given.pop("learner"), **given)


def test_a_frontier_keeps_what_was_done_on_ctrl_c() -> None:
    class Impatient(RowLearner):
        learned = 0

        def learn_one(self, x: dict[str, float], y: str) -> None:
            Impatient.learned += 1
            if Impatient.learned > 150:
                raise KeyboardInterrupt
            super().learn_one(x, y)

    options: dict[str, Any] = {"vary": {"budget": [2]}, "rivals": Impatient(), "best": ()}
    with pytest.raises(Interrupted) as caught:
        feature_frontier(toy(100), qc.UtilityTree(), **options)
    assert caught.value.frontier.seeds == (0,)
    assert len(caught.value.frontier.points()) == 2
    with pytest.raises(Interrupted) as caught:
        feature_frontier(toy(100), qc.UtilityTree(), **options)
    assert caught.value.frontier is None
