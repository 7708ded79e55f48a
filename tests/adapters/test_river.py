import copy
import pickle

import pandas as pd
import pytest

import quercus as qc

pytest.importorskip("river")
from river import checks, compose, datasets, evaluate, metrics, preprocessing

from quercus.adapters.river import RiverClassifier
from quercus.registry import LEARNERS
from tests.learners.listed import SOAK, make

SHUFFLE, GROWTH = "check_shuffle_features_no_impact", "check_bounded_memory_growth"
# Learners whose answers depend on the order of the features, and why.
ORDER_OF_FEATURES_MATTERS = {
    "BayesianForest": "each feature starts with weights of its own",
    "BayesianTree": "each feature starts with weights of its own",
    "CredibleTree": "of features that cut few labels equally well, the first is taken",
    "EvergreenBoost": "which cuts a boosted tree draws depends on their places",
    "EvergreenForest": "which features a tree may use is drawn by their places",
    "EvergreenTree": "of features that cut few labels equally well, the first is taken",
    "GrowingForest": "which features a tree sees is drawn by their places",
    "ReinforcedTree": "of questions that are worth the same, the first is asked",
    "UtilityTree": "of questions that are worth the same, the first is asked",
}


def checks_of(name):
    return list(checks.yield_checks(RiverClassifier(make(name))))


CHECKS = [
    pytest.param(name, check, id=f"{name}-{check.__name__}-{number}")
    for name in LEARNERS
    for number, check in enumerate(checks_of(name))
    if not (name in ORDER_OF_FEATURES_MATTERS and check.__name__ == SHUFFLE)
    if SOAK or check.__name__ != GROWTH or name in ("EvergreenTree", "HoeffdingTree")
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "check"), CHECKS)
def test_river_check(name, check):
    check(RiverClassifier(make(name)))


def test_unit_test_params_make_estimators():
    made = [RiverClassifier(**params) for params in RiverClassifier._unit_test_params()]
    assert [type(model.learner).__name__ for model in made] == list(LEARNERS)


@pytest.mark.parametrize("name", LEARNERS)
def test_progressive_validation_in_a_pipeline(name):
    pipeline = preprocessing.StandardScaler() | RiverClassifier(make(name))
    accuracy = evaluate.progressive_val_score(datasets.Phishing(), pipeline, metrics.Accuracy()).get()
    assert accuracy > 0.8


def test_the_same_answers_as_the_learner_itself():
    ours, adapted = qc.ConfidenceTree(features="open"), RiverClassifier(qc.ConfidenceTree())
    for x, y in datasets.ImageSegments().take(500):
        assert adapted.predict_one(x) == ours.predict_one(x)
        assert adapted.predict_proba_one(x) == ours.predict_proba_one(x)
        ours.learn_one(x, y)
        adapted.learn_one(x, y)
    assert adapted.predict_one(x) is not None


def test_pipeline_with_selected_and_encoded_features():
    numbers = compose.SelectType(float) | preprocessing.MinMaxScaler()
    model = (numbers + (compose.SelectType(str) | preprocessing.OneHotEncoder())) | RiverClassifier(qc.HoeffdingTree())
    for i in range(300):
        model.learn_one({"size": float(i % 10), "colour": "red" if i % 3 else "blue"}, i % 10 > 4)
    assert model.predict_one({"size": 9.0, "colour": "blue"}) is True
    assert model.predict_one({"size": 0.0, "colour": "green"}) is False


def test_batches_teach_what_rows_teach():
    rows = list(datasets.Phishing().take(600))
    X, y = pd.DataFrame([x for x, _ in rows]), pd.Series([label for _, label in rows])
    one, many = RiverClassifier(qc.ConfidenceTree(grace_period=20)), RiverClassifier(qc.ConfidenceTree(grace_period=20))
    for x, label in rows:
        one.learn_one(x, label)
    for start in range(0, 600, 77):
        many.learn_many(X[start : start + 77], y[start : start + 77])
    states = [{name: array.tobytes() for name, array in model.model.state_arrays().items()} for model in (one, many)]
    assert states[0] == states[1]
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x, _ in rows]


def test_batches_keep_the_index_and_name_the_classes():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=[7, 8, 9])
    model = RiverClassifier(qc.ConfidenceTree())
    assert model.predict_many(X).tolist() == [None] * 3
    assert model.predict_proba_many(X).shape == (3, 0)
    model.learn_many(X, pd.Series(["no", "yes", "yes"], index=X.index))
    proba = model.predict_proba_many(X)
    assert proba.columns.tolist() == ["no", "yes"]
    assert proba.index.tolist() == model.predict_many(X).index.tolist() == [7, 8, 9]
    assert proba.sum(axis=1).to_numpy() == pytest.approx(1.0)


def test_answers_respect_the_loss():
    careful = RiverClassifier(qc.ConfidenceTree(loss={"fraud": {"fine": 100}}))
    for i in range(100):
        careful.learn_one({"a": 1.0}, "fraud" if i % 10 == 0 else "fine")
    proba = careful.predict_proba_one({"a": 1.0})
    assert max(proba, key=proba.get) == "fine"
    assert careful.predict_one({"a": 1.0}) == "fraud"
    assert careful.predict_many(pd.DataFrame({"a": [1.0]})).tolist() == ["fraud"]


def test_weights_count():
    heavy, light = RiverClassifier(qc.HoeffdingTree()), RiverClassifier(qc.HoeffdingTree())
    for model, weight in ((heavy, 10.0), (light, 1.0)):
        model.learn_one({"a": 1.0}, "yes", w=weight)
        model.learn_one({"a": 1.0}, "no", w=2.0)
    assert (heavy.predict_one({"a": 1.0}), light.predict_one({"a": 1.0})) == ("yes", "no")


def test_copies_learn_alone_and_pickles_go_on():
    model = RiverClassifier(qc.ConfidenceTree())
    model.learn_one({"a": 1.0}, "yes")
    assert model.clone().predict_one({"a": 1.0}) is None
    again = pickle.loads(pickle.dumps(model))
    again.learn_one({"a": 1.0, "b": 2.0}, "no")
    assert again.predict_proba_one({"a": 1.0}).keys() == {"yes", "no"}
    assert copy.deepcopy(model).predict_proba_one({"a": 1.0}) == {"yes": 1.0}
    assert not hasattr(model.learner, "schema_")


def test_new_parameters_make_another_learner():
    clone = RiverClassifier(qc.ConfidenceTree()).clone({"learner": qc.HoeffdingTree(delta=0.5)})
    assert clone.model.delta == 0.5


def test_what_is_no_untrained_learner_is_refused():
    trained = qc.ConfidenceTree().partial_fit([[1.0]], ["a"])
    with pytest.raises(ValueError, match="has learned already"):
        RiverClassifier(trained)
    with pytest.raises(TypeError, match="not the class ConfidenceTree"):
        RiverClassifier(qc.ConfidenceTree)
    with pytest.raises(TypeError, match="not a int"):
        RiverClassifier(3)
