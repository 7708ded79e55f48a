"""A run as text, frame and JSON, and files of it that are whole or not there; pictures: test_charts, test_report."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import quercus as qc
from tests.evaluation.fakes import BatchLearner, PlainLearner, toy


@pytest.fixture(scope="module")
def run() -> qc.Run:
    return qc.evaluate(toy(2500), BatchLearner(), loss={"c0": {"c1": 2.5}}, name="fake on toy", warm_up=100)


def test_text_forms_name_the_run_and_its_baselines(run: qc.Run) -> None:
    table = run.table()
    assert table.startswith("fake on toy: 2,400 rows, 3 classes, after 100 rows of warm-up\n\naccuracy ")
    for words in ("majority so far", "previous label", "log-loss", "money lost", "average precision", "leaves"):
        assert words in table
    assert f"{run.accuracy:.4f}" in table
    assert f"{run.accuracy - run.previous_accuracy:+.4f}" in table
    _, figures, ranking = table.split("\n\n")
    assert len({len(line) for line in figures.splitlines() if not line.startswith("  ")}) == 1
    assert ranking.startswith("Ranking, calibration and money\nAUC, mean over classes ")
    assert f"{run.total:,.2f}" in ranking.splitlines()[-1]
    assert max(map(len, table.splitlines())) < 80
    assert "\n" not in str(run)
    assert "previous label" in str(run)
    assert repr(run).startswith("Run('fake on toy', rows=2400, accuracy=0.")


def test_a_table_shows_a_dash_for_what_is_not_known() -> None:
    lines = qc.evaluate(toy(), PlainLearner()).table().splitlines()
    for words in ("log-loss", "leaves", "memory", "average precision"):
        assert next(line for line in lines if line.startswith(words)).endswith("–")


def test_classes_are_sorted_and_the_confusion_goes_with_them() -> None:
    X, y = toy()
    labels = np.array([10, 9, -1])[np.searchsorted(["c0", "c1", "c2"], y)]
    run = qc.evaluate((X, labels), BatchLearner())
    assert run.classes == [-1, 9, 10] == list(run.f1)
    assert run.confusion.sum(axis=1).tolist() == [int((labels == label).sum()) for label in run.classes]
    assert np.trace(run.confusion) / 500 == run.accuracy
    assert run.confusion[:, -1].sum() == 1


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_hold_the_curves(run: qc.Run, backend: str) -> None:
    pytest.importorskip(backend)
    for what, columns in (("curve", run.curve), ("windows", run.windows)):
        frame = run.to_frame(backend, what)
        assert type(frame).__module__.startswith(backend)
        names = frame.column_names if backend == "pyarrow" else list(frame.columns)
        assert names == list(columns)
        np.testing.assert_array_equal(np.asarray(frame["accuracy"]), columns["accuracy"])


def test_frames_refuse_what_they_cannot_be(run: qc.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="backend is 'excel'"):
        run.to_frame("excel")
    with pytest.raises(ValueError, match="what is 'all'"):
        run.to_frame(what="all")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ModuleNotFoundError, match="polars is not installed; pip install polars"):
        run.to_frame("polars")


def test_json_holds_all_that_is_needed_to_draw_again(run: qc.Run, tmp_path: Path) -> None:
    text = run.to_json(tmp_path / "run.json")
    assert (tmp_path / "run.json").read_text() == text + "\n"

    def refuse(constant: str) -> float:
        raise AssertionError(constant)

    again = qc.Run.from_dict(json.loads(text, parse_constant=refuse))
    assert again.to_json() == text
    assert again.table() == run.table()
    assert again._repr_html_() == run._repr_html_()
    assert again.loss == run.loss
    assert again.learner is None


@pytest.mark.parametrize("labels", [[True, False], [3, 7], [1.0, 2.0], ["a", "b"]])
def test_json_keeps_the_type_of_labels(labels: list[object]) -> None:
    X, y = toy(classes=2)
    values = np.array(labels)[(y == "c0").astype(int)]
    run = qc.evaluate((X, values), BatchLearner(), loss={labels[0]: {labels[1]: 4}})
    again = qc.Run.from_dict(json.loads(run.to_json()))
    for one, other in (
        (again.classes, sorted(labels)),
        (list(again.f1), sorted(labels)),
        (list(again.loss), labels[:1]),
    ):
        assert one == other
        assert [type(label) for label in one] == [type(label) for label in other]


def test_json_of_nan_is_null_and_back() -> None:
    run = qc.evaluate(toy(), PlainLearner())
    assert run.to_dict()["log_loss"] is None
    again = qc.Run.from_dict(run.to_dict())
    assert math.isnan(again.log_loss)
    assert np.isnan(again.curve["log_loss"]).all()


def test_a_run_of_another_format_is_refused(run: qc.Run) -> None:
    with pytest.raises(ValueError, match="this run has format 99"):
        qc.Run.from_dict(run.to_dict() | {"format": 99})


def test_a_failed_report_leaves_the_old_one(run: qc.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        run.report(path)
    assert path.read_text() == "old"
    with pytest.raises(FileNotFoundError, match="no directory"):
        run.report(tmp_path / "nowhere" / "r.html")
