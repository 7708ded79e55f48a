import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import quercus as qc
from quercus.ask import Labels, Money, Policy, Random, SelectiveSampling, Share, Split, Uncertain, VariableUncertainty
from quercus.ask.loop import AskLoop
from quercus.ask.state import AskState
from quercus.learners.renewing import Renewing

pytest.importorskip("river")
from river import active, checks, datasets, metrics, naive_bayes, preprocessing, tree

from quercus.adapters.river import RiverClassifier
from quercus.adapters.river_asking import RiverAsking, RiverPolicy

MODELS = {
    "tree": (qc.ConfidenceTree(grace_period=20), Uncertain(0.2)),
    "pipeline": (preprocessing.StandardScaler() | naive_bayes.GaussianNB(), Random(0.5)),
}
# Growing memory is checked with the tree, which takes long enough.
CHECKS = [
    pytest.param(name, check, id=f"{name}-{check.__name__}-{number}")
    for name, arguments in MODELS.items()
    for number, check in enumerate(checks.yield_checks(RiverAsking(*arguments)))
    if name == "tree" or check.__name__ != "check_bounded_memory_growth"
]
POLICIES = [Uncertain(0.2), VariableUncertainty(0.2), Split(0.2), SelectiveSampling(0.1), Random(Share(0.2, window=50))]


@pytest.mark.sampled(7)
@pytest.mark.parametrize(("name", "check"), CHECKS)
def test_river_check(name, check):
    check(RiverAsking(*MODELS[name]).clone())


def test_unit_test_params_make_estimators():
    made = [RiverAsking(**params) for params in RiverAsking._unit_test_params()]
    assert [type(model.classifier).__name__ for model in made] == ["RiverClassifier", "GaussianNB"]


def play(model, rows):
    """Answer rows, learn what is asked; return the answers and what was asked."""
    answers, asked = [], []
    for x, y in rows:
        answer, ask = model.predict_one(x)
        answers.append(answer)
        asked.append(ask)
        if ask:
            model.learn_one(x, y)
    return answers, asked


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_decisions_and_tree_are_those_of_the_loop(policy):
    X, y = qc.streams.SEA(seed=3).take(600)
    names = ["a", "b", "c"]
    rows = [(dict(zip(names, row, strict=True)), label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    model = RiverAsking(qc.ConfidenceTree(grace_period=30), policy)
    answers, asked = play(model, rows)
    learner = qc.ConfidenceTree(grace_period=30)
    looked = AskLoop(learner, AskState(policy), names).run(X, y)
    assert asked == looked.decisions["asked"].astype(bool).tolist()
    assert answers == [looked.classes[a] if a >= 0 else None for a in looked.answers]
    ours, theirs = learner.state_arrays(), model.classifier.model.state_arrays()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_every_prediction_is_a_row_and_the_budget_holds():
    model = RiverAsking(qc.ConfidenceTree(), Random(0.3))
    asked = 0
    for number, (x, _) in enumerate(datasets.Phishing().take(400), 1):
        _, ask = model.predict_proba_one(x) if number % 2 else model.predict_one(x)
        asked += ask
        assert (model.state.seen, model.state.asked) == (number, asked)
        assert asked <= 0.3 * number
    assert asked > 100


def test_it_learns_from_few_labels():
    model = RiverAsking(qc.ConfidenceTree(), Uncertain(0.3))
    accuracy, labels = metrics.Accuracy(), 0
    for x, y in datasets.Phishing():
        answer, ask = model.predict_one(x)
        accuracy.update(y, answer)
        if ask:
            labels += 1
            model.learn_one(x, y)
    assert accuracy.get() > 0.8
    assert labels <= 375


def test_nothing_is_known_before_the_first_label():
    model = RiverAsking(qc.ConfidenceTree(), Random(1.0))
    assert model.predict_one({"a": 1.0}) == (None, True)
    assert model.predict_proba_one({"a": 1.0}) == ({}, True)


def test_answers_respect_the_loss():
    model = RiverAsking(qc.ConfidenceTree(loss={"fraud": {"fine": 100}}), Random(1.0))
    for i in range(100):
        model.learn_one({"a": 1.0}, "fraud" if i % 10 == 0 else "fine")
    assert model.predict_one({"a": 1.0})[0] == "fraud"


def test_a_classifier_of_river_asks_less_where_it_is_sure():
    model = RiverAsking(naive_bayes.GaussianNB(), Uncertain(0.2, explore=0))
    asked = {True: 0, False: 0}
    for i, u in enumerate(np.random.default_rng(0).random(1500).tolist()):
        _, ask = model.predict_one({"a": u})
        if ask:
            model.learn_one({"a": u}, u > 0.5)
        if i > 300:
            asked[abs(u - 0.5) < 0.25] += ask
    assert asked[True] > 2 * asked[False]


def test_weights_reach_the_classifier():
    model = RiverAsking(qc.HoeffdingTree(), Random(1.0))
    model.learn_one({"a": 1.0}, "yes", w=10.0)
    model.learn_one({"a": 1.0}, "no", w=2.0)
    assert model.predict_proba_one({"a": 1.0})[0]["yes"] == pytest.approx(10.5 / 13)


def test_detectors_are_fed_by_random_questions_and_free_labels_alone():
    model = RiverAsking(Renewing(qc.HoeffdingTree()), Uncertain(0.5, explore=0.3))
    # A detector is told whether answers are right, and there is none to the first row.
    model.learn_one({"request_rate": 0.5}, True)
    late, explored = [], 0
    for i, (x, y) in enumerate(datasets.Phishing().take(500)):
        before = model.state.record.copy()
        _, ask = model.predict_one(x)
        if ask:
            late.append((x, y))
            trial = AskState(model.policy)
            trial.record = before
            explored += int(trial.decide(1.0, 0, model._shown.region(x, trial.seen + 1))["explored"])
        if i % 100 == 99:
            for row in reversed(late):
                model.learn_one(*row)
            late = []
    for x, y in late:
        model.learn_one(x, y)
    assert 0 < explored < model.state.asked
    assert model.classifier.model.changes_ == []
    assert model.classifier.model.detector_.n == explored
    model.learn_one({"request_rate": 0.5}, True)
    assert model.classifier.model.detector_.n == explored + 1


def test_the_same_row_asked_twice_waits_for_two_labels():
    model = RiverAsking(Renewing(qc.HoeffdingTree()), Uncertain(1.0, explore=0, paced=False))
    for _ in range(2):
        assert model.predict_one({"a": 1.0})[1]
    for watched in (0, 0, 1):
        model.learn_one({"a": 1.0}, "yes")
        assert model.classifier.model.detector_.n == watched


def test_money_days_and_totals():
    def price(x):
        return x["cost"]

    rich = RiverAsking(qc.ConfidenceTree(), Random(Money(0.5, per="row"), price=price))
    daily = RiverAsking(qc.ConfidenceTree(), Uncertain(Labels(3, per="day", time="day")))
    for i in range(200):
        x = {"a": float(i % 7), "cost": 1.0 + i % 3, "day": i // 20}
        if rich.predict_one(x)[1]:
            rich.learn_one(x, i % 2)
        daily.predict_one(x)
    assert 50 < rich.state.paid <= 100
    assert daily.state.asked == 30


def test_a_row_that_is_refused_spends_nothing():
    model = RiverAsking(qc.ConfidenceTree(), Random(Money(0.5, per="row"), price="cost"))
    before = model.state.to_bytes()
    with pytest.raises(ValueError, match="price of a label is None"):
        model.predict_one({"a": 1.0})
    assert model.state.to_bytes() == before


def test_pickles_go_on_and_clones_begin_anew():
    rows = list(datasets.Phishing().take(400))
    model = RiverAsking(qc.ConfidenceTree(grace_period=20), Uncertain(0.3))
    play(model, rows[:200])
    again, other = pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    assert play(again, rows[200:]) == play(other, rows[200:]) == play(model, rows[200:])
    assert model.clone().state.seen == 0
    assert model.clone({"policy": Random(0.7)}).policy.budget == 0.7


def test_what_cannot_ask_is_refused():
    with pytest.raises(TypeError, match="policy is a float"):
        RiverAsking(qc.ConfidenceTree(), 0.1)
    with pytest.raises(ValueError, match="has learned already"):
        RiverAsking(qc.ConfidenceTree().partial_fit([[1.0]], ["a"]), Random(0.1))
    with pytest.raises(TypeError, match="not a int"):
        RiverAsking(3, Random(0.1))
    with pytest.raises(TypeError, match="EntropySampler asks for labels itself"):
        RiverAsking(active.EntropySampler(tree.HoeffdingTreeClassifier()), Random(0.1))
    with pytest.raises(TypeError, match="sampler is a HoeffdingTreeClassifier"):
        RiverPolicy(tree.HoeffdingTreeClassifier())


def test_samplers_of_river_wrap_our_learners():
    model = active.EntropySampler(RiverClassifier(qc.ConfidenceTree()), seed=1)
    model.learn_one({"a": 1.0}, "yes")
    model.learn_one({"a": 1.0}, "no")
    assert model.predict_one({"a": 1.0})[1]


def test_a_sampler_decides_for_our_learner():
    X, y = qc.streams.SEA(seed=2).take(800)
    policy = RiverPolicy(active.EntropySampler(None, discount_factor=2, seed=5))
    start = qc.HoeffdingTree(grace_period=30).partial_fit(X[:50], y[:50])
    state = AskState(policy)
    looked = AskLoop(copy.deepcopy(start), state, ["x0", "x1", "x2"]).run(X[50:], y[50:])
    reference = active.EntropySampler(None, discount_factor=2, seed=5)
    asked = []
    for row, label in zip(X[50:].tolist(), y[50:].tolist(), strict=True):
        x = dict(zip(["x0", "x1", "x2"], row, strict=True))
        asked.append(reference._ask_for_label(x, start.predict_proba_one(x)))
        if asked[-1]:
            start.learn_one(x, label)
    assert looked.decisions["asked"].astype(bool).tolist() == asked
    assert 50 < sum(asked) < 700
    assert np.isnan(looked.decisions["propensity"]).all()
    assert state.covered == 0
    assert not looked.decisions["explored"].any()


def test_a_sampler_begins_anew_in_every_run_and_keeps_to_a_limit():
    X, y = qc.streams.SEA(seed=2).take(500)
    policy = RiverPolicy(active.EntropySampler(None, seed=5), budget=0.1)
    runs = [AskLoop(qc.HoeffdingTree(), AskState(policy), ["a", "b", "c"]).run(X, y).decisions for _ in range(2)]
    assert runs[0]["asked"].tolist() == runs[1]["asked"].tolist()
    assert (np.cumsum(runs[0]["asked"]) <= 0.1 * np.arange(1, 501)).all()
    assert runs[0]["asked"].sum() > 30
    assert isinstance(policy.with_budget(0.2), RiverPolicy)
    assert isinstance(policy, Policy)


def test_without_river_the_extra_is_named():
    code = "import sys; sys.modules['river'] = None; import quercus.adapters.river_asking"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'quercus[river]'" in done.stderr.splitlines()[-1]
