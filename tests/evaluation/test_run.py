"""A run as text, frame, JSON, picture and page."""

from __future__ import annotations

import json
import math
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import quercus as qc
from tests.evaluation.fakes import BatchLearner, PlainLearner, toy

HOSTILE = """a"b|c<script>alert('x')</script>&amp;\n{e}"""
VOID = {"meta", "br"}


class Checker(HTMLParser):
    """Holds a page against its own tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action", "onload", "onclick")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag


def check_page(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    assert checker.links == []
    assert not {"script", "link", "img", "iframe", "object"} & set(checker.tags)
    assert "url(" not in text
    assert "@import" not in text
    return checker


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


def test_the_picture_has_both_baselines_and_the_blocks(run: qc.Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = run.plot(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    labels = [line.get_label() for line in axes.lines]
    for words in ("majority so far", "previous label", "each 1,000 rows", "all rows so far"):
        assert any(words in label for label in labels)
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "rows so far"
    assert axes.get_ylabel()
    assert axes.get_title(loc="left") == "fake on toy"
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_the_picture_says_what_to_install(run: qc.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=re.escape("pip install 'quercus[plot]'")):
        run.plot()


def test_the_report_stands_alone(run: qc.Run, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    assert run.report(path) is None
    text = path.read_text()
    checker = check_page(text)
    assert checker.tags.count("svg") > 8
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    for words in (
        "fake on toy",
        "Accuracy along the stream",
        "Block by block",
        "Money lost so far",
        "Features of data",
    ):
        assert words in text
    assert "prefers-color-scheme:dark" in text
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_the_report_of_a_tree_draws_it(tmp_path: Path) -> None:
    stream = qc.streams.RandomTree(leaves=6, q=0.95, rows=5000)
    run = qc.evaluate(stream, qc.ConfidenceTree())
    run.report(tmp_path / "tree.html")
    text = (tmp_path / "tree.html").read_text()
    check_page(text)
    assert 'class="quercus-tree"' in text
    assert "The tree at the end" in text
    assert "grace_period" in text
    assert "best possible 95.0%" in text


def test_a_tree_from_arrays_is_drawn_with_the_names_of_the_stream(tmp_path: Path) -> None:
    X, y = qc.streams.RandomTree(leaves=6, features=2, q=0.95, rows=3000).take()
    stream = qc.streams.MemoryStream(X, y, name="forest", names=["elevation", "slope"])
    run = qc.evaluate(stream, qc.ConfidenceTree())
    assert [feature["name"] for feature in run.features] == ["elevation", "slope"]
    run.report(tmp_path / "r.html")
    drawn = (tmp_path / "r.html").read_text().split("The tree at the end")[1].split("</section>")[0]
    assert "elevation ≤" in drawn or "slope ≤" in drawn
    assert "x0 ≤" not in drawn


def test_the_report_warns_where_a_baseline_is_better(tmp_path: Path) -> None:
    X = np.zeros((400, 1))
    y = np.repeat(["a", "b"], 200)
    run = qc.evaluate((X, y), BatchLearner())
    run.report(tmp_path / "r.html")
    assert "repeating the previous label would have been right more often" in (tmp_path / "r.html").read_text()


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    X, y = toy(1200)
    frame = pd.DataFrame({HOSTILE: X[:, 0], "b": np.where(X[:, 1] > 0, HOSTILE, "no")})
    run = qc.evaluate((frame, np.char.add(y, HOSTILE)), qc.ConfidenceTree(), name=HOSTILE)
    run.report(tmp_path / "r.html")
    check_page((tmp_path / "r.html").read_text())
    check_page(run._repr_html_())
    assert run.table()
    run.plot(tmp_path / "r.png")


def test_a_report_with_many_classes_and_features_is_bounded(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(600, 90)), random.integers(0, 50, 600)
    qc.evaluate((X, y), BatchLearner()).report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    check_page(text)
    assert "and 20 classes more" in text
    assert "and 30 features more" in text


def test_one_row_can_be_drawn(tmp_path: Path) -> None:
    run = qc.evaluate(toy(1), BatchLearner())
    run.report(tmp_path / "r.html")
    check_page((tmp_path / "r.html").read_text())
    run.plot()


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
