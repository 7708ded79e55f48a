"""The loop: same figures however the rows come, clear errors, and nothing lost on Ctrl-C."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quercus as qc
from quercus.evaluation import Interrupted, Scores
from quercus.evaluation.progress import ProgressLine
from quercus.streams import RandomTree, Stream
from tests.evaluation.fakes import BatchLearner, RowLearner, toy


def measured(run: qc.Run) -> dict[str, object]:
    """Everything but the time."""
    return {name: value for name, value in run.to_dict().items() if "seconds" not in name}


@settings(max_examples=25, deadline=None)
@given(chunk=st.integers(1, 700), window=st.integers(1, 300), warm_up=st.integers(0, 400))
def test_the_chunk_size_changes_nothing(chunk: int, window: int, warm_up: int) -> None:
    one = qc.evaluate(toy(), BatchLearner(), chunk=chunk, window=window, warm_up=warm_up)
    other = qc.evaluate(toy(), BatchLearner(), window=window, warm_up=warm_up)
    assert measured(one) == measured(other)


@pytest.mark.parametrize("chunk", [7, 1000, 4096])
def test_the_chunk_size_changes_nothing_for_our_trees(chunk: int) -> None:
    stream = RandomTree(leaves=10, q=0.9, rows=6000)
    one = qc.evaluate(stream, qc.ConfidenceTree(), rows=2000 if chunk == 7 else None, chunk=chunk)
    other = qc.evaluate(stream, qc.ConfidenceTree(), rows=2000 if chunk == 7 else None)
    assert measured(one) == measured(other)
    assert one.accuracy > one.majority_accuracy + 0.05


def test_our_trees_are_scored_as_they_answer() -> None:
    stream = RandomTree(leaves=10, q=0.9, rows=3000)
    X, y = stream.take()
    tree = qc.HoeffdingTree()
    run = qc.evaluate((X, y), tree)
    assert run.learner is tree
    copy, right = qc.HoeffdingTree(), 0
    for i in range(3000):
        if i:
            right += copy.predict(X[i : i + 1])[0] == y[i]
        copy.partial_fit(X[i : i + 1], y[i : i + 1])
    assert run.accuracy == right / 3000
    assert run.leaves == copy.n_leaves_ == tree.n_leaves_
    assert run.nbytes == tree.nbytes
    assert run.curve["leaves"][-1] == run.leaves


def test_the_last_point_is_the_whole_run() -> None:
    run = qc.evaluate(toy(333), BatchLearner(), window=100)
    assert run.curve["rows"][[0, 1, 2, 4, -1]].tolist() == [1, 2, 3, 5, 333]
    assert run.curve["accuracy"][-1] == run.accuracy
    assert run.curve["log_loss"][-1] == run.log_loss
    assert run.curve["leaves"].tolist() == [1 + rows // 10 for rows in run.curve["rows"].tolist()]
    assert run.windows["rows"].tolist() == [100, 200, 300, 333]
    sizes = np.diff([0, *run.windows["rows"]])
    assert (run.windows["accuracy"] * sizes).sum() / 333 == pytest.approx(run.accuracy)
    assert (run.windows["previous"] * sizes).sum() / 333 == pytest.approx(run.previous_accuracy)


def test_rows_and_warm_up_are_kept_to() -> None:
    learner = BatchLearner()
    run = qc.evaluate(toy(), learner, rows=300, warm_up=100)
    assert (run.rows, run.labels, run.warm_up, learner.rows) == (200, 300, 100, 300)
    assert run.confusion[:, -1].sum() == 0
    assert run.curve["rows"][-1] == 200
    y = toy()[1]
    assert run.previous_accuracy == np.mean(y[100:300] == y[99:299])


def test_the_learner_is_trained_in_place_and_goes_on() -> None:
    learner = RowLearner()
    first = qc.evaluate(toy(), learner)
    second = qc.evaluate(toy(), learner)
    assert first.learner is second.learner is learner
    assert sum(sum(counts.values()) for counts in learner.counts) == 1000
    assert second.confusion[:, -1].sum() == 0


def test_money_is_that_of_the_table() -> None:
    run = qc.evaluate(toy(), BatchLearner(), loss={"c0": {"c1": 10, "c2": 10}})
    wrong = run.confusion.sum() - np.trace(run.confusion)
    dear = run.confusion[0, 1:].sum()
    assert run.money == wrong + 9 * dear
    assert run.curve["money"][-1] == run.money
    assert run.loss == {"c0": {"c1": 10.0, "c2": 10.0}}


def test_a_loss_with_strange_labels_is_not_passed_over() -> None:
    with pytest.raises(ValueError, match="loss names 'yes', which is no class of this stream; its classes are 'c0'"):
        qc.evaluate(toy(), BatchLearner(), loss={"yes": {"c0": 2}})

    class Unsure(qc.streams.MemoryStream):
        classes = None

    X, y = toy()
    with pytest.warns(UserWarning, match="loss names 'yes', which never came"):
        qc.evaluate(Unsure(X, y, name="u", names=["a", "b"]), BatchLearner(), loss={"c0": {"yes": 2}})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows": 0}, "rows=0"),
        ({"window": 0}, "window=0"),
        ({"chunk": 2.5}, r"chunk=2\.5"),
        ({"warm_up": -1}, "warm_up=-1"),
        ({"warm_up": 500}, "only 500 rows come"),
        ({"loss": {"c0": 1}}, "loss must be a table"),
    ],
)
def test_bad_options_are_refused_before_anything_is_learned(options: dict[str, object], words: str) -> None:
    learner = BatchLearner()
    with pytest.raises(ValueError, match=words):
        qc.evaluate(toy(), learner, **options)
    assert learner.rows == 0


def test_endless_streams_need_an_end() -> None:
    with pytest.raises(ValueError, match="stream 'random_tree' is endless; say how many rows"):
        qc.evaluate(RandomTree(), BatchLearner())
    assert qc.evaluate(RandomTree(), BatchLearner(), rows=50).rows == 50


def test_a_stream_shorter_than_its_warm_up_is_refused() -> None:
    class Short(Stream):
        name, feature_names = "short", ("x0", "x1")

        def blocks(self):
            yield toy(5)

    with pytest.raises(ValueError, match="stream 'short' left no row to score: it has 5 and warm_up is 7"):
        qc.evaluate(Short(), BatchLearner(), warm_up=7)


@pytest.mark.parametrize("chunk", [64, 8192])
def test_errors_name_the_row_of_the_stream(chunk: int) -> None:
    X, y = toy()
    X[417, 0] = np.inf
    with pytest.raises(
        ValueError, match=r"column 'row 1' holds inf in row 417; replace it. \(rows .* of stream 'data'\)"
    ):
        qc.evaluate((X, y), BatchLearner(), chunk=chunk)


def test_errors_of_our_trees_name_the_row_of_the_stream() -> None:
    X, y = toy()
    X[417, 1] = np.inf
    tree = qc.ConfidenceTree()
    with pytest.raises(ValueError, match=r"in row 417.*of stream 'data'"):
        qc.evaluate((X, y), tree, chunk=100)


def test_errors_about_the_learner_are_not_blamed_on_a_row() -> None:
    with pytest.raises(ValueError, match="criterion='ginny' is unknown") as caught:
        qc.evaluate(toy(), qc.ConfidenceTree(criterion="ginny"))
    assert "stream" not in str(caught.value)


def test_errors_of_other_kinds_keep_their_kind_and_say_where() -> None:
    class Broken(RowLearner):
        def learn_one(self, x: dict[str, float], y: str) -> None:
            if sum(sum(counts.values()) for counts in self.counts) == 300:
                raise KeyError("x0")
            super().learn_one(x, y)

    with pytest.raises(KeyError) as caught:
        qc.evaluate(toy(), Broken())
    assert caught.value.__notes__ == ["This was in row 300 of stream 'data'."]


class Impatient(BatchLearner):
    """Somebody presses Ctrl-C while it learns the batch that holds a row."""

    def __init__(self, row: int) -> None:
        super().__init__()
        self.row = row

    def test_then_learn(self, X: np.ndarray, y: np.ndarray) -> object:
        if self.rows <= self.row < self.rows + len(y):
            raise KeyboardInterrupt
        return super().test_then_learn(X, y)


def test_interrupted_runs_keep_what_was_measured() -> None:
    learner = Impatient(130)
    with pytest.raises(Interrupted) as caught:
        qc.evaluate(toy(), learner, chunk=10)
    run = caught.value.run
    assert isinstance(caught.value, KeyboardInterrupt)
    assert measured(run) == measured(qc.evaluate(toy(), BatchLearner(), rows=130)) | {
        "learner_name": "Impatient",
        "name": "Impatient on data",
        "parameters": {"row": "130"},
    }
    assert run.learner is learner


def test_a_run_interrupted_at_once_is_empty_and_can_be_looked_at(tmp_path: Path) -> None:
    with pytest.raises(Interrupted) as caught:
        qc.evaluate(toy(), Impatient(0))
    run = caught.value.run
    assert run.rows == 0
    assert "–" in run.table()
    run.report(tmp_path / "r.html")
    assert "No row was scored" in (tmp_path / "r.html").read_text()
    assert str(run)
    assert run._repr_html_()
    assert qc.Run.from_dict(run.to_dict()).rows == 0
    run.plot()


def test_ctrl_c_waits_until_the_figures_belong_together(monkeypatch: pytest.MonkeyPatch) -> None:
    update = Scores._update

    def interrupted(self: Scores, *arguments: object) -> object:
        if self.rows >= 100:
            os.kill(os.getpid(), signal.SIGINT)
        return update(self, *arguments)

    monkeypatch.setattr(Scores, "_update", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted) as caught:
        qc.evaluate(toy(), BatchLearner(), chunk=50)
    run = caught.value.run
    assert signal.getsignal(signal.SIGINT) is before
    assert run.rows == run.labels == run.windows["rows"][-1] == run.curve["rows"][-1] == run.learner.rows == 125


def test_other_threads_can_evaluate() -> None:
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(qc.evaluate, toy(), BatchLearner()).result()
    assert run.accuracy == qc.evaluate(toy(), BatchLearner()).accuracy


@pytest.mark.skipif("QUERCUS_DATA" not in os.environ, reason="QUERCUS_DATA is not set: no data sets to read")
def test_a_named_set_in_the_order_of_time() -> None:
    run = qc.evaluate("electricity", qc.HoeffdingTree())
    assert (run.rows, run.stream, run.ordered) == (45_312, "electricity", True)
    assert run.previous_accuracy == pytest.approx(0.8533, abs=5e-4)
    assert run.accuracy > run.majority_accuracy


def test_the_time_is_the_learners() -> None:
    run = qc.evaluate(toy(), BatchLearner())
    assert run.seconds > 0
    assert run.cpu_seconds >= 0
    assert run.rows_per_second == run.rows / run.seconds


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_only_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    qc.evaluate(toy(), BatchLearner())
    assert capsys.readouterr() == ("", "")
    qc.evaluate(toy(), BatchLearner(), progress=True, name="[odd] name")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "[odd] name" in shown.err
    for patience, expected in ((0.0, True), (60.0, False)):
        monkeypatch.setattr("quercus.evaluation.progress.PATIENCE", patience)
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        with ProgressLine("title", 10, None) as line:
            line.update(5, lambda: "accuracy 0.750")
        assert ("0.750" in terminal.getvalue()) == expected


def test_importing_evaluation_is_light() -> None:
    code = (
        "import sys, quercus.evaluation;"
        "print([m for m in ('numba', 'sklearn', 'pandas', 'polars', 'pyarrow', 'altair', 'vl_convert', 'jinja2',"
        " 'matplotlib', 'rich', 'river')"
        " if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
