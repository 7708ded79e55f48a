"""The frontier: every policy at every budget on the same rows, beside asking at random."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import quercus as qc
from quercus.ask import Confident, Random, Uncertain
from quercus.evaluation import Frontier, Interrupted, frontier
from quercus.evaluation.frontiers import labels_needed
from quercus.streams import SEA
from tests.evaluation.fakes import RowLearner, toy


@pytest.fixture(scope="module")
def found() -> Frontier:
    return frontier(SEA(rows=1500), qc.HoeffdingTree(), budgets=[0.05, 0.2, 300], seeds=[3, 4, 5])


def test_every_run_is_that_of_evaluate(found: Frontier) -> None:
    assert found.names == ("Random", "Uncertain", "Confident")
    run = qc.evaluate(SEA(rows=1500, seed=4), qc.HoeffdingTree(seed=4), ask=Uncertain(0.2, seed=4))
    assert found.runs["Uncertain", 0.2, 4].accuracy == run.accuracy
    assert found.values("labels")[1, 1, 1] == run.labels
    assert found.runs["Random", 300, 5].asked <= 300
    assert all(run.ledger is None and run.learner is None for run in found.runs.values())
    assert [run.accuracy for run in found.full] == [
        qc.evaluate(SEA(rows=1500, seed=seed), qc.HoeffdingTree(seed=seed)).accuracy for seed in (3, 4, 5)
    ]


def test_points_are_means_and_paired_differences(found: Frontier) -> None:
    points = {(point["policy"], point["budget"]): point for point in found.points()}
    accuracy = found.values("accuracy")
    point = points["Confident", 0.05]
    apart = accuracy[2, 0] - accuracy[0, 0]
    assert point["accuracy"] == accuracy[2, 0].mean()
    assert point["error"] == pytest.approx(accuracy[2, 0].std(ddof=1) / math.sqrt(3))
    assert point["difference"] == pytest.approx(apart.mean())
    assert point["difference_error"] == pytest.approx(apart.std(ddof=1) / math.sqrt(3))
    assert all(points["Random", budget]["label_ratio"] == 1 for budget in found.budgets)
    labels, right = found._random_curve(accuracy[0], found.values("labels")[0])
    assert labels[-1] == 1500
    assert point["label_ratio"] == pytest.approx(
        labels_needed(point["accuracy"], labels, right) / point["labels"], nan_ok=True
    )


def test_labels_needed_are_interpolated_in_logarithms() -> None:
    labels, right = np.array([10.0, 100.0, 1000.0]), np.array([0.5, 0.7, 0.6])
    assert labels_needed(0.6, labels, right) == pytest.approx(10**1.5)
    assert labels_needed(0.5, labels, right) == 10
    assert labels_needed(0.7, labels, right) == pytest.approx(100)
    assert labels_needed(0.71, labels, right) == math.inf
    assert math.isnan(labels_needed(0.49, labels, right))


def test_the_table_the_frame_and_the_picture(found: Frontier, tmp_path: Path) -> None:
    table = found.table()
    assert table == str(found)
    assert "HoeffdingTree on sea: 1,500 rows, 3 seeds; accuracy with all labels" in table
    for words in ("Random needs", "5%", "20%", "300 labels", f"{found.points()[4]['accuracy']:.4f}"):
        assert words in table
    assert repr(found) == "Frontier(Random, Uncertain, Confident; 3 budgets, 3 seeds)"
    frame = found.to_frame("polars")
    assert frame.shape == (9, 11)
    assert frame["policy"].to_list()[3] == "Uncertain"
    drawn = found.plot(tmp_path / "f.png").to_dict()["layer"][-1]["encoding"]
    assert (tmp_path / "f.png").stat().st_size > 10_000
    assert drawn["x"]["scale"]["type"] == "log"
    assert drawn["color"]["scale"]["domain"][:3] == ["Random", "Confident", "Uncertain"]
    assert "<svg" in found._repr_html_()


def test_one_seed_and_a_learner_of_others() -> None:
    found = frontier(toy(300), RowLearner(), policies={"mine": Uncertain(0.9)}, budgets=[0.1, 1.0], seeds=[0], delay=5)
    assert found.names == ("Random", "mine")
    assert found.values("labels")[1, 0, 0] <= 30
    assert "–" in found.table()
    found.plot()


def test_random_of_ones_own_is_the_baseline() -> None:
    found = frontier(
        toy(300), RowLearner(), policies=[Confident(), Random(seed=None, price=3.0)], budgets=[0.1], seeds=[0]
    )
    assert found.names == ("Random", "Confident")
    assert found.points()[0]["spent"] == 3 * found.points()[0]["labels"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"budgets": []}, ValueError, r"budgets are \[\]"),
        ({"budgets": [0.1, 0.1]}, ValueError, "that differ"),
        ({"budgets": [-0.1]}, ValueError, "give shares such as 0.1"),
        ({"budgets": [1.5]}, ValueError, "at most 1"),
        ({"policies": []}, ValueError, "there is no policy"),
        ({"policies": "uncertain"}, TypeError, "policy 'str' is 'uncertain'; give policies of quercus.ask"),
        ({"seeds": [1, 1]}, ValueError, "give whole numbers that differ"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        frontier(toy(), RowLearner(), **options)


def test_what_was_done_is_kept_on_ctrl_c() -> None:
    class Impatient(RowLearner):
        learned = 0

        def learn_one(self, x: dict[str, float], y: str) -> None:
            Impatient.learned += 1
            if Impatient.learned > 700:
                raise KeyboardInterrupt
            super().learn_one(x, y)

    with pytest.raises(Interrupted) as caught:
        frontier(toy(300), Impatient(), budgets=[0.1], seeds=range(5))
    assert caught.value.frontier.seeds == (0,)
    Impatient.learned = 500
    with pytest.raises(Interrupted) as caught:
        frontier(toy(300), Impatient(), budgets=[0.1])
    assert caught.value.frontier is None
