"""Labels that are asked for: the same as a plain loop, for every learner, whatever the batches, late or not."""

from __future__ import annotations

import math
import os
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

import quercus as qc
from quercus.ask import Always, Confident, Labels, Money, Policy, Random, Share, Split, Uncertain
from quercus.ask.loop import AskLoop
from quercus.ask.state import AskState
from quercus.evaluation import Interrupted, Scores
from quercus.evaluation.delays import Delays
from quercus.evaluation.run_ledger import RunLedger
from quercus.learners.renewing import Renewing
from quercus.ledger import Ledger
from quercus.streams import RandomTree
from quercus.streams.rows import as_dicts
from tests.evaluation.fakes import BatchLearner, PlainLearner, RowLearner, toy
from tests.evaluation.late import Doubtful, mixed, play
from tests.ledger.settled import fair_accuracy


def measured(run: qc.Run) -> dict[str, object]:
    """Everything but the time."""
    return {name: value for name, value in run.to_dict().items() if "seconds" not in name}


def asked_of(run: qc.Run) -> list[dict[str, Any]]:
    """The ledger without the time of day."""
    return [{k: v for k, v in q.items() if not k.endswith("_at")} for q in run.ledger.to_arrow().to_pylist()]


def state_of(learner: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in learner._arrays().items()}


def small_tree() -> qc.HoeffdingTree:
    return qc.HoeffdingTree(grace_period=20, min_leaf=2, tie=0.4)


@pytest.mark.parametrize("policy", [Random(0.2), Uncertain(0.1), Confident.paper(0.3), Split(0.2)], ids=repr)
def test_labels_at_once_are_those_of_the_loop(policy: Policy) -> None:
    X, y = RandomTree(leaves=10, q=0.9, rows=4000).take()
    tree, copy = small_tree(), small_tree()
    run = qc.evaluate((X, y), tree, ask=policy)
    looked = AskLoop(copy, AskState(policy, 4000), [f"x{j}" for j in range(X.shape[1])]).run(X, y)
    answers = np.array([*looked.classes, -1])[looked.answers]
    asked = np.flatnonzero(looked.decisions["asked"])
    assert state_of(tree) == state_of(copy)
    assert run.accuracy == np.mean(answers == y)
    assert run.asked == run.labels == len(asked) > 100
    assert [q["row"] for q in asked_of(run)] == asked.tolist()
    assert [q["propensity"] for q in asked_of(run)] == looked.decisions["propensity"][asked].tolist()
    assert [q["answer"] for q in asked_of(run)] == y[asked].tolist()
    assert [q["prediction"] for q in asked_of(run)] == [None if a < 0 else a for a in answers[asked].tolist()]
    assert run.curve["labels"][-1] == run.labels


@settings(max_examples=5)
@given(chunk=st.integers(1, 900), warm_up=st.integers(0, 300), delay=st.sampled_from([0, 1, 70, (0, 40), (3, 200)]))
def test_the_chunk_size_changes_nothing(chunk: int, warm_up: int, delay: Any) -> None:
    options = {"ask": Uncertain(0.2), "delay": delay, "warm_up": warm_up, "rows": 500, "loss": {"yes": {"no": 3}}}
    runs = [qc.evaluate(mixed(), small_tree(), chunk=size, **options) for size in (chunk, 8192)]
    assert measured(runs[0]) == measured(runs[1])
    assert asked_of(runs[0]) == asked_of(runs[1])


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")
@pytest.mark.parametrize("learner", ["river", "sklearn", "renewing", "python policy"])
def test_the_chunk_size_changes_nothing_for_other_learners(learner: str) -> None:
    make = {"river": RowLearner, "sklearn": GaussianNB, "renewing": Renewing, "python policy": small_tree}[learner]
    policy = Doubtful(0.2) if learner == "python policy" else Uncertain(0.2)
    runs = [qc.evaluate(toy(300), make(), ask=policy, delay=(0, 30), chunk=chunk) for chunk in (13, 8192)]
    assert measured(runs[0]) == measured(runs[1])
    assert asked_of(runs[0]) == asked_of(runs[1])
    assert runs[0].asked > 40


@pytest.mark.sampled(5)
@pytest.mark.parametrize("policy", [Doubtful(0.3), Uncertain(0.3), Random(0.2)], ids=repr)
@pytest.mark.parametrize("delay", [0, 1, 25, (0, 60)])
def test_late_labels_are_learned_when_they_come(policy: Policy, delay: Any) -> None:
    X, y = mixed()
    tree, copy = small_tree(), small_tree()
    run = qc.evaluate((X, y), tree, ask=policy, delay=delay, delay_seed=3)
    delays = Delays(delay, 3).take(len(y))
    story = play(as_dicts(X, X.column_names), y.tolist(), copy, policy, delays)
    assert state_of(tree) == state_of(copy)
    assert tree.schema_ == copy.schema_
    assert tree.n_leaves_ > 3
    assert run.accuracy == np.mean(np.array(story.answers, object) == y)
    questions = asked_of(run)
    assert [q["row"] for q in questions] == [a.row - 1 for a in story.asked]
    assert [q["covered"] for q in questions] == [a.covered for a in story.asked]
    assert [q["prediction"] for q in questions] == [a.prediction for a in story.asked]
    answered = sorted((q for q in questions if q["answer_order"]), key=lambda q: q["answer_order"])
    if delay:
        assert [(q["id"], q["answer"]) for q in answered] == story.answered
    assert run.labels == len(story.answered)
    assert run.asked - run.labels == len(run.ledger.open_ids)


@pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn")
@pytest.mark.parametrize("make", [RowLearner, GaussianNB, lambda: Renewing(qc.HoeffdingTree(grace_period=30))])
def test_learners_of_others_go_through_the_same_loop(make: Any) -> None:
    X, y = toy(400)
    policy, learner, copy = Split(0.3), make(), make()
    run = qc.evaluate((X, y), learner, ask=policy, delay=(0, 20))
    story = play(
        as_dicts(X, ["x0", "x1"]), y.tolist(), copy, policy, Delays((0, 20)).take(400), sorted(set(y.tolist()))
    )
    assert run.accuracy == np.mean(np.array(story.answers, object) == y)
    assert [q["row"] for q in asked_of(run)] == [a.row - 1 for a in story.asked]
    if isinstance(learner, RowLearner):
        assert learner.counts == copy.counts
    if isinstance(learner, Renewing):
        assert learner.detector_.n == copy.detector_.n < run.labels
        assert state_of(learner) == state_of(copy)


def test_no_delay_is_a_delay_of_zero_or_one_row() -> None:
    runs = [qc.evaluate(mixed(), small_tree(), ask=Uncertain(0.2), delay=d) for d in (0, [0] * 1000, 1)]
    figures = [{k: v for k, v in measured(run).items() if k not in ("fair", "fair_recall", "curve")} for run in runs]
    assert figures[0] == figures[1]
    assert state_of(runs[0].learner) == state_of(runs[1].learner)
    # With one row's delay only a question in the very last row stays open.
    assert abs(runs[2].labels - runs[0].labels) <= 1
    assert runs[2].accuracy == runs[0].accuracy


def test_a_delay_without_a_policy_is_every_label_late() -> None:
    X, y = toy(300)
    run = qc.evaluate((X, y), RowLearner(), delay=40)
    assert (run.policy, run.asked, run.labels, len(run.ledger.open_ids)) == ("Always", 300, 260, 40)
    assert run.confusion[:, -1].sum() == 40
    assert run.fair.rows == 260


def test_the_warm_up_is_free() -> None:
    X, y = RandomTree(leaves=10, q=0.9, rows=3000).take()
    tree, copy = small_tree(), small_tree()
    ledger = Ledger()
    run = qc.evaluate((X, y), tree, ask=Random(Labels(100)), warm_up=1000, ledger=ledger)
    assert (run.rows, run.warm_up, run.asked, run.fair.rows) == (2000, 1000, 100, 2000)
    assert run.confusion[:, -1].sum() == 0
    assert run.ledger is ledger
    copy.partial_fit(X[:1000], y[:1000])
    looked = AskLoop(copy, AskState(Random(Labels(100)), 2000), [f"x{j}" for j in range(X.shape[1])]).run(
        X[1000:], y[1000:]
    )
    assert state_of(tree) == state_of(copy)
    assert [q["row"] for q in asked_of(run)] == np.flatnonzero(looked.decisions["asked"]).tolist()
    features = [[q[f"x.x{j}"] for j in range(X.shape[1])] for q in asked_of(run)]
    assert features == X[1000:][looked.decisions["asked"] != 0].tolist()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("policy", "delay"),
    [
        (Random(0.1), 0),
        (Uncertain(0.1), 0),
        (Confident(0.2), 0),
        (Split(0.1), 0),
        (Always(), 0),
        (Uncertain(0.1), (0, 300)),
        (Always(), 1999),
    ],
    ids=repr,
)
def test_what_the_labels_tell_is_true(policy: Policy, delay: Any) -> None:
    stream = RandomTree(leaves=12, q=0.85, rows=6000, seed=2)
    run = qc.evaluate(stream, qc.ConfidenceTree(), ask=policy, delay=delay, loss={1: {0: 4}})
    true = run.curve["accuracy"]
    if delay == 0:
        assert (run.curve["fair_low"] <= true + 1e-12).all()
        assert (true <= run.curve["fair_high"] + 1e-12).all()
        assert run.fair_loss.low <= run.money / run.rows <= run.fair_loss.high
        recall = np.diag(run.confusion[:, :-1]) / run.confusion.sum(axis=1)
        for label, share in zip(run.classes, recall.tolist(), strict=True):
            assert run.fair_recall[label].low <= share <= run.fair_recall[label].high
    else:
        # Late labels tell about the rows before the oldest open question.
        assert run.fair.rows < run.rows
        true = qc.evaluate(stream, qc.ConfidenceTree(), ask=policy, delay=delay, rows=run.fair.rows).curve["accuracy"]
    assert run.fair.low - 1e-12 <= true[-1] <= run.fair.high + 1e-12
    assert run.fair.high - run.fair.low < 0.3
    assert run.curve["fair_high"][-1] == run.fair.high


def test_the_ledger_alone_tells_the_same() -> None:
    loss = {"yes": {"no": 3.0}}
    for delay in (0, (0, 100)):
        policy = Uncertain(0.2, price=2.0)
        run = qc.evaluate(mixed(), small_tree(), ask=policy, delay=delay, loss=loss)
        state = AskState(policy)
        rows = None if delay else run.rows
        covered = None if delay else run.fair.covered
        result = fair_accuracy(run.ledger.to_arrow(), state.least_propensity, rows=rows, covered=covered, loss=loss)
        assert result.accuracy() == pytest.approx(run.fair)
        assert result.loss() == pytest.approx(run.fair_loss)
        assert result.recall()["yes"] == pytest.approx(run.fair_recall["yes"])
        right = [q["answer"] == q["prediction"] for q in asked_of(run) if q["answer"] is not None]
        if not delay:
            assert run.fair.naive == np.mean(right)
        assert run.spent == 2 * run.asked == run.ledger.spent


def test_prices_count_where_they_differ() -> None:
    X, y = toy(2000)
    X = np.column_stack([X, np.where(X[:, 1] > 0, 5.0, 1.0)])
    by_column = qc.evaluate((X, y), RowLearner(), ask=Random(Money(0.3, per="row"), price="x2"))
    by_rule = qc.evaluate(
        (X, y), RowLearner(), ask=Random(Money(0.3, per="row"), price=lambda x: 5.0 if x["x1"] > 0 else 1.0)
    )
    assert by_column.spent == by_rule.spent == sum(q["price"] for q in asked_of(by_column))
    assert 500 < by_column.spent <= 600
    assert by_column.asked > by_column.spent / 5


def test_budgets_are_kept_to() -> None:
    run = qc.evaluate(toy(2000), RowLearner(), ask=Uncertain(150))
    assert 140 <= run.asked <= 150
    assert run.budget == "150 labels"
    windowed = qc.evaluate(toy(2000), RowLearner(), ask=Uncertain(Share(0.1, window=200)))
    rows = np.array([q["row"] for q in asked_of(windowed)])
    assert max(np.sum((rows > end - 200) & (rows <= end)) for end in range(1, 2001)) <= 20


def test_a_ledger_in_a_file_is_closed_and_can_be_read(tmp_path: Path) -> None:
    run = qc.evaluate(mixed(), small_tree(), ask=Random(0.1), delay=50, ledger=tmp_path / "labels.db")
    result = Ledger.read(tmp_path / "labels.db")
    assert result.asked == run.asked
    assert result.open_ids == run.ledger.open_ids
    assert len(result.open_ids) > 0
    Ledger(tmp_path / "labels.db").close()
    with pytest.raises(ValueError, match=r"holds \d+ questions already, .* give a new one"):
        qc.evaluate(mixed(), small_tree(), ask=Random(0.1), ledger=tmp_path / "labels.db")
    Ledger(tmp_path / "labels.db").close()


def test_a_failed_run_gives_its_ledger_free(tmp_path: Path) -> None:
    X, y = toy()
    X[417, 1] = np.inf
    with pytest.raises(ValueError, match=r"in row 417.*of stream 'data'"):
        qc.evaluate((X, y), small_tree(), ask=Random(0.5), ledger=tmp_path / "a", chunk=100)
    Ledger(tmp_path / "a").close()


@pytest.mark.parametrize(("chunk", "delay"), [(64, 0), (8192, 0), (64, 20), (8192, (0, 9))])
def test_errors_name_the_row_of_the_stream(chunk: int, delay: Any) -> None:
    X, y = toy()
    X[417, 1] = np.inf
    with pytest.raises(ValueError, match=r"column 'x1' holds inf in row 417; .*of stream 'data'"):
        qc.evaluate((X, y), small_tree(), ask=Random(0.5), chunk=chunk, delay=delay)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"ask": Random}, TypeError, r"ask=Random is a class; give a policy made from it: Random\(budget=0.1\)"),
        ({"ask": 0.1}, TypeError, r"ask is 0\.1; give a policy of quercus.ask"),
        ({"ask": Random(0.1), "delay": -1}, ValueError, "delay=-1 is out of range"),
        ({"ask": Random(0.1), "delay": (5, 2)}, ValueError, r"delay=\(5, 2\) is no range"),
        ({"ask": Random(0.1), "delay": [1, 2]}, ValueError, "delay has 2 numbers, the stream 500 rows"),
        ({"ask": Random(0.1), "delay": [0.5] * 500}, ValueError, "something else than whole numbers"),
        ({"ask": Random(0.1), "delay": 1.5}, ValueError, r"delay=1\.5 is out of range"),
        ({"ask": Random(0.1), "delay_seed": -1}, ValueError, "seed=-1 is no seed"),
        ({"ask": Random(0.1, price="cost")}, ValueError, "price='cost' is no column of stream 'data'; it has x0, x1"),
        ({"ledger": "somewhere"}, ValueError, "a ledger holds labels that were asked for; give ask="),
    ],
)
def test_bad_options_are_refused_before_anything_is_learned(
    options: dict[str, Any], error: type[Exception], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    learner = RowLearner()
    with pytest.raises(error, match=words):
        qc.evaluate(toy(), learner, **{"ledger": "folder", **options})
    assert learner.labels == []
    assert list(tmp_path.iterdir()) == []


def test_learners_without_probabilities_are_refused() -> None:
    with pytest.raises(TypeError, match="PlainLearner gives no probabilities, which a policy needs"):
        qc.evaluate(toy(), PlainLearner(), ask=Random(0.1))
    with pytest.raises(TypeError, match="SGDClassifier gives no probabilities"):
        qc.evaluate(toy(), SGDClassifier(), ask=Random(0.1))
    with pytest.raises(TypeError, match="BatchLearner gives no probabilities"):
        qc.evaluate(toy(), BatchLearner(), ask=Random(0.1))

    class Shy(RowLearner):
        def predict_proba_one(self, x: dict[str, Any]) -> dict[Any, float]:
            raise NotImplementedError

        def predict_one(self, x: dict[str, Any]) -> Any:
            return None

    with pytest.raises(TypeError, match="Shy gives no probabilities"):
        qc.evaluate(toy(), Shy(), ask=Random(0.1))


def test_probabilities_that_cannot_be_are_told() -> None:
    class Odd(RowLearner):
        def predict_proba_one(self, x: dict[str, Any]) -> dict[Any, float]:
            found = super().predict_proba_one(x)
            return dict.fromkeys(found, -1.0) if sum(map(bool, self.counts)) == 2 else found

    with pytest.warns(UserWarning, match=r"Odd gave NaN or probabilities below 0 in \d+ rows"):
        qc.evaluate(toy(), Odd(), ask=Random(0.2))


def test_scikit_learn_needs_the_classes() -> None:
    class Unsure(qc.streams.MemoryStream):
        classes = None

    X, y = toy()
    stream = Unsure(X, y, name="u", names=["a", "b"])
    with pytest.raises(ValueError, match="GaussianNB must know all classes before it learns, and stream 'u' does not"):
        qc.evaluate(stream, GaussianNB(), ask=Random(0.1))
    knows = GaussianNB().partial_fit(X[:5], y[:5], classes=sorted(set(y.tolist())))
    assert qc.evaluate(stream, knows, ask=Random(0.1)).asked > 30


def test_river_learners_ask() -> None:
    naive_bayes = pytest.importorskip("river.naive_bayes")
    run = qc.evaluate(toy(), naive_bayes.GaussianNB(), ask=Uncertain(0.2), delay=5)
    assert 80 <= run.asked <= 100
    assert not math.isnan(run.log_loss)


def test_a_learner_that_knows_more_classes_than_came() -> None:
    X, y = toy(600)
    tree = small_tree().partial_fit(X[:3], ["zebra", "c2", "ape"])
    run = qc.evaluate((X, y), tree, ask=Random(0.3))
    assert run.classes == ["ape", "c0", "c1", "c2", "zebra"]
    assert run.confusion.sum() == 600


class Impatient(RowLearner):
    """Somebody presses Ctrl-C while it learns its n-th label."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.learned = 0

    def learn_one(self, x: dict[str, Any], y: Any) -> None:
        if self.learned == self.most:
            raise KeyboardInterrupt
        self.learned += 1
        super().learn_one(x, y)


@pytest.mark.parametrize("delay", [0, (0, 30)])
def test_interrupted_runs_keep_what_was_asked(delay: Any, tmp_path: Path) -> None:
    with pytest.raises(Interrupted) as caught:
        qc.evaluate(toy(), Impatient(60), ask=Random(0.3), chunk=10, delay=delay, ledger=tmp_path / "l")
    run = caught.value.run
    assert 100 < run.rows < 300
    whole = qc.evaluate(toy(), RowLearner(), ask=Random(0.3), rows=run.rows, delay=delay)
    names = {"learner_name", "name", "parameters"}
    assert {k: v for k, v in measured(run).items() if k not in names} == {
        k: v for k, v in measured(whole).items() if k not in names
    }
    assert asked_of(run) == asked_of(whole)
    assert Ledger.read(tmp_path / "l").asked == run.asked


def test_ctrl_c_waits_until_books_and_figures_belong_together(monkeypatch: pytest.MonkeyPatch) -> None:
    update = Scores._update

    def interrupted(self: Scores, *arguments: object) -> object:
        if self.rows >= 100:
            os.kill(os.getpid(), signal.SIGINT)
        return update(self, *arguments)

    monkeypatch.setattr(Scores, "_update", interrupted)
    with pytest.raises(Interrupted) as caught:
        qc.evaluate(toy(), RowLearner(), ask=Always(), chunk=50)
    run = caught.value.run
    assert run.rows == run.labels == run.asked == run.ledger.asked == run.fair.rows == 125


def test_a_run_interrupted_at_once_can_be_looked_at(tmp_path: Path) -> None:
    with pytest.raises(Interrupted) as caught:
        qc.evaluate(toy(), Impatient(0), ask=Always())
    run = caught.value.run
    assert (run.rows, run.asked, run.fair.rows) == (0, 0, 0)
    run.report(tmp_path / "r.html")
    assert "No row was scored" in (tmp_path / "r.html").read_text()
    assert str(run)
    assert run.table()
    assert run._repr_html_()
    run.plot()


def test_runs_survive_json() -> None:
    run = qc.evaluate(mixed(), small_tree(), ask=Uncertain(0.1), delay=30, loss={"yes": {"no": 3}})
    back = qc.Run.from_dict(run.to_dict())
    assert back.ledger is None
    assert back.fair == run.fair
    assert back.fair_loss == run.fair_loss
    assert back.fair_recall == run.fair_recall
    assert back.to_json() == run.to_json()
    np.testing.assert_array_equal(back.curve["fair_low"], run.curve["fair_low"])
    old = {k: v for k, v in qc.evaluate(toy(), RowLearner()).to_dict().items() if not k.startswith("fair")}
    old = {k: v for k, v in old.items() if k not in ("policy", "budget", "asked", "spent")} | {"format": 1}
    old["curve"] = {k: v for k, v in old["curve"].items() if k not in ("labels", "fair", "fair_low", "fair_high")}
    assert np.isnan(qc.Run.from_dict(old).curve["fair"]).all()
    assert qc.Run.from_dict(old).fair is None


def test_runs_with_all_labels_are_as_ever() -> None:
    run = qc.evaluate(toy(), RowLearner())
    assert (run.labels, run.asked, run.spent, run.policy, run.fair, run.ledger) == (500, None, None, None, None, None)
    for name in ("labels", "fair", "fair_low", "fair_high"):
        assert np.isnan(run.curve[name]).all()
    assert "asked for" not in run.table()


def test_every_view_shows_what_labels_cost_and_tell(tmp_path: Path) -> None:
    run = qc.evaluate(
        RandomTree(leaves=12, q=0.85, rows=9000), small_tree(), ask=Uncertain(0.1, price=2.5), delay=5, loss={1: {0: 2}}
    )
    run.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    asked, spent = f"{run.asked:,}", f"{run.spent:,.0f}" if run.spent.is_integer() else f"{run.spent:,.2f}"
    low, high, naive = f"{run.fair.low:.4f}", f"{run.fair.high:.4f}", f"{run.fair.naive:.4f}"
    for text in (page, run.table()):
        for figure in (asked, spent, low, high, naive, f"{run.accuracy:.4f}", f"{run.fair_loss.low:.4f}", "Uncertain"):
            assert figure in text
    percent = f"{run.fair.low:.1%} to {run.fair.high:.1%}"
    assert f"{asked} labels of 9,000 rows were paid for, {spent} in all" in page
    assert page.count(percent) >= 3
    assert percent in str(run)
    assert percent in run._repr_html_()
    assert f"{run.fair_recall[0].low:.3f} to {run.fair_recall[0].high:.3f}" in page
    assert page.count('class="chart') >= 6
    chart = run.plot(tmp_path / "p.png").to_dict()
    legend = chart["layer"][1]["encoding"]["color"]["scale"]["domain"]
    assert any(percent in text for text in legend)
    assert f"plain count of these labels {run.fair.naive:.1%}" in legend
    assert f"{asked} labels paid for in 9,000 rows, {spent} in all" in chart["title"]["subtitle"][0]


def test_the_progress_line_tells_what_the_ledger_tells(capsys: pytest.CaptureFixture[str]) -> None:
    run = qc.evaluate(toy(2000), RowLearner(), ask=Random(0.5), progress=True)
    shown = " ".join(capsys.readouterr().err.split())
    assert re.search(r"accuracy 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\) from [\d,]+ l", shown)
    books = RunLedger(Ledger(), ["a"], 0.1, {}, at_once=True)
    assert books.standing() == "0 labels"
    assert run.asked > 900


def test_repeats_share_questions_by_seed() -> None:
    X, y = toy(800)
    learners = {"one": RowLearner(), "other": RowLearner()}
    repeats = qc.repeat((X, y), learners, seeds=range(3), ask=Random(0.2), delay=(0, 20))
    accuracy, labels = repeats.values("accuracy"), repeats.values("labels")
    assert (accuracy[0] == accuracy[1]).all()
    assert len(set(accuracy[0])) == 3
    assert (labels > 100).all()
    assert (repeats.values("spent") >= labels).all()
    assert all(run.ledger is None for run in repeats.runs.values())


@pytest.mark.skipif("QUERCUS_DATA" not in os.environ, reason="QUERCUS_DATA is not set: no data sets to read")
def test_counting_chosen_labels_misleads_on_a_real_stream() -> None:
    run = qc.evaluate("electricity", qc.ConfidenceTree(), ask=Uncertain(0.1))
    assert run.fair.low <= run.accuracy <= run.fair.high
    assert run.fair.naive < run.fair.low
    assert run.asked <= 4531
