import pytest
from hypothesis import given
from hypothesis import strategies as st

import quercus as qc
from quercus.cli.settings import adopt_labels, make_learner, parse_value, split_settings

plain = st.text("abcxyz_", min_size=1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("200", 200),
        ("-3", -3),
        ("0.02", 0.02),
        ("1e-7", 1e-7),
        ("TRUE", True),
        ("false", False),
        ("None", None),
        ("null", None),
        ("majority", "majority"),
        (" gini ", "gini"),
        ('"200"', "200"),
        ('["a", 2]', ["a", 2]),
        ('{"yes": {"no": 5}}', {"yes": {"no": 5}}),
        ("", ""),
    ],
)
def test_values_are_what_they_look_like(text, value):
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_broken_json_is_refused():
    with pytest.raises(ValueError, match="is not JSON"):
        parse_value('{"yes": ')


@given(
    st.lists(st.tuples(plain, st.sampled_from(["1", "gini", '{"a": {"b": 1, "c": 2}}', '["p,q", "r"]'])), max_size=5)
)
def test_settings_are_cut_at_outer_commas(pairs):
    parts = [f"{key}={value}" for key, value in pairs]
    assert split_settings(",".join(parts)) == parts


def test_names_and_settings_make_a_learner():
    tree = make_learner("Confidence-Tree:c=0.02,leaf=majority", ["grace_period=30", "leaf=adaptive"])
    assert isinstance(tree, qc.ConfidenceTree)
    assert (tree.c, tree.leaf, tree.grace_period, tree.seed) == (0.02, "adaptive", 30, 0)


def test_seed_reaches_the_learner_unless_it_is_set():
    assert make_learner("hoeffding", seed=5).seed == 5
    assert make_learner("hoeffding:seed=3", seed=5).seed == 3


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("oak", [], "there is no learner 'oak'.*ConfidenceTree.*river:tree"),
        ("confidence:cc=1", [], "no parameter 'cc'; it takes .*grace_period.*Did you mean 'c'"),
        ("confidence", ["c"], "'c' is no setting; write key=value"),
        ("confidence", ["=3"], "'=3' is no setting"),
        ("confidence", ["c=-1"], "c=-1 is out of range"),
        ("confidence", ["c=much"], "c='much' is out of range"),
        ("hoeffding:criterion=ginny", [], "criterion='ginny' is unknown; choose"),
        ("hoeffding:loss=3", [], "loss must be a table"),
    ],
)
def test_wrong_settings_say_what_is_right(text, settings, message):
    with pytest.raises(ValueError, match=message):
        make_learner(text, settings)


def test_river_classes_by_short_and_long_name():
    river = pytest.importorskip("river.tree")
    assert type(make_learner("river:HoeffdingTreeClassifier")) is river.HoeffdingTreeClassifier
    tree = make_learner("river:tree.HoeffdingTreeClassifier:grace_period=50,leaf_prediction=mc")
    assert (tree.grace_period, tree.leaf_prediction) == (50, "mc")
    assert make_learner("river:forest.ARFClassifier:n_models=2", seed=4).seed == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("river:Oak", "river.tree has no classifier 'Oak'; it has .*HoeffdingTreeClassifier"),
        ("river:tree.HoeffdingTreeRegressor", "no classifier 'HoeffdingTreeRegressor'"),
        ("river:oaks.Oak", "river has no module 'oaks'"),
        ("river:HoeffdingTreeClassifier:grace=1", "no parameter 'grace'; it takes grace_period.*Did you mean"),
        ("river:ensemble.BaggingClassifier", "cannot be made: .*'model'"),
    ],
)
def test_wrong_river_classes_say_what_is_right(text, message):
    pytest.importorskip("river")
    with pytest.raises(ValueError, match=message):
        make_learner(text)


@pytest.mark.parametrize(
    ("y", "loss", "table"),
    [
        ([0, 1], '{"1": {"0": 5}}', {1: {0: 5}}),
        (["0", "1"], '{"1": {"0": 5}}', {"1": {"0": 5}}),
        ([True, False], '{"true": {"false": 5}}', {True: {False: 5}}),
        ([0.0, 1.0], '{"1": {"0": 5}}', {1.0: {0.0: 5}}),
    ],
)
def test_loss_gets_the_labels_of_the_stream(y, loss, table):
    learner = make_learner(f"confidence:loss={loss}")
    adopted = adopt_labels(learner, qc.streams.as_stream(([[1.0], [2.0]], y)))
    assert adopted == learner.loss == table
    assert {type(label) for label in adopted} == {type(y[0])}


def test_loss_with_labels_of_another_kind_is_refused():
    stream = qc.streams.as_stream(([[1.0], [2.0]], [0, 1]))
    with pytest.raises(ValueError, match="loss names the label 'fraud', but the labels of this stream"):
        adopt_labels(make_learner('confidence:loss={"fraud": {"fine": 5}}'), stream)


def test_without_a_loss_nothing_changes():
    learner = make_learner("confidence")
    assert adopt_labels(learner, qc.streams.Noise(rows=10)) is None
    assert learner.loss is None
