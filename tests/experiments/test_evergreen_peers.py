"""The evergreen learners beside others: batch learners, the first rows, time and memory."""

import importlib.util

import numpy as np
import pytest

from experiments.harness.results import stack
from experiments.peers.evergreen import batch, first, nightly, size
from experiments.peers.evergreen.sets import OrderedRows, load


def test_batch_learners_want_categories_each_in_their_way():
    rows = OrderedRows("oaks", np.array([[0.5, 1.0], [2.5, 0.0]]), np.array([0, 1]), (0, 2))
    assert batch.BATCH["LightGBM"].form(rows).tolist() == [[0.5, 1], [2.5, 0]]
    assert batch.BATCH["ExtraTrees"].form(rows).tolist() == [[0.5, 0, 1], [2.5, 1, 0]]
    assert [type(value) for value in batch.BATCH["CatBoost"].form(rows)[0]] == [float, int]


def test_a_batch_learner_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert batch.problem_of("ExtraTrees") is None
    cell = {"data": "SEA", "order": "drift", "most": 2_000, "learner": "CatBoost", "run": 1}
    assert [line["problem"] for line in nightly.measure(cell, 0)] == ["catboost is not installed"]
    assert [line["problem"] for line in first.measure(cell, 0)] == ["catboost is not installed"]


def test_classes_that_were_not_learned_have_no_probability():
    rows = OrderedRows("oaks", np.arange(8.0)[:, None], np.array([0, 0, 1, 1, 2, 2, 0, 1]), (0,))
    made = batch.BATCH["ExtraTrees"]
    one, two = (batch.fit_predict(made, rows, 0, made.form(rows), learned, slice(4, 8)) for learned in (2, 4))
    assert one.tolist() == [[1, 0, 0]] * 4
    assert two.shape == (4, 3)
    assert (two[:, 2] == 0).all()
    assert two.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("learner", ["ExtraTrees", "EvergreenTree"])
def test_spans_of_the_first_rows_are_those_of_the_whole(learner):
    cell = {"data": "SEA", "order": "drift", "most": 1_000, "learner": learner, "run": 1}
    lines = first.measure(cell, 0)
    assert [line["rows"] for line in lines] == [50, *range(100, 1_001, 100)]
    found = stack([{**cell, **line} for line in lines])
    share = first._over(first._curve(found, learner, "accuracy"), 25, 1_000)
    rows = load("SEA", 1, 1_000)
    if learner == "EvergreenTree":
        proba, _ = nightly.pass_ours(learner, rows, 1)
        assert share == pytest.approx((proba.argmax(axis=1) == rows.y)[25:].mean())
    assert 0.8 < share < 0.95


def test_the_generated_streams_change():
    changes = load("SEA", 1, 8_000)
    total = changes.X[:, :2].sum(axis=1)
    for start, limit in ((0, 8), (2_000, 9), (4_000, 7), (6_000, 9.5)):
        part = slice(start, start + 2_000)
        assert np.mean((total[part] <= limit) == changes.y[part]) == pytest.approx(0.9, abs=0.02)


def test_the_boost_is_compared_in_orders_that_both_have():
    found = stack(
        [
            {"learner": learner, "run": run, "accuracy": accuracy}
            for learner, run, accuracy in ((nightly.BOOST, 1, 0.5), (nightly.BOOST, 2, 0.9), ("CatBoost", 1, 0.6))
        ]
    )
    assert nightly.ahead_of(found, "CatBoost", "accuracy") == pytest.approx(-0.1)


def test_rates_and_sizes_are_those_of_parts_of_the_stream(monkeypatch):
    ticks, spent = iter(range(101)), {"now": 0.0}

    class Slow:
        nbytes, classes_ = 0, (0, 1)

        def test_then_learn(self, X, y):
            # A second for each chunk of the first half, then two.
            spent["now"] += 1 if next(ticks) <= 50 else 2
            self.nbytes += len(y)
            return type("Outcome", (), {"answers": y, "truth": y})

    monkeypatch.setitem(size._LEARNERS, "slow", Slow)
    monkeypatch.setattr(size.time, "process_time", lambda: spent["now"])
    line = size.fill({"data": "40 classes", "most": 900, "learner": "slow"})
    assert (line["first"], line["last"]) == (9, 4.5)
    assert [line[f"bytes_{mark}"] for mark in (0.1, 0.5, 1)] == [90, 450, 900]
    assert line["accuracy"] == 1
    assert line["seconds"] == 150
