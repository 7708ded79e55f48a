import copy
import pickle
from collections.abc import Mapping

import numpy as np
import pytest
from sklearn.base import clone

from quercus.acquisition.layout import REFER
from quercus.store import ModelFileError, read_model
from tests.acquisition.fakes import PRICES, Buyer, fitted, patients


class Lazy(Mapping):
    """Values that are measured when they are looked at."""

    def __init__(self, values):
        self.values_, self.read = values, []

    def __getitem__(self, name):
        if name not in self.values_:
            raise KeyError(name)
        self.read.append(name)
        return self.values_[name]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_)


def run(case, row):
    """Answer what is asked from a row; return the questions."""
    asked = []
    while case.question is not None:
        asked.append(case.question)
        part = case._model._all_prices.features(case.question)
        case.answer({name: row.get(name) for name in part})
    return asked


ROW = {"age": 4.0, "hb": 12.0, "crp": 1.0, "mri": 1.0, "job": "cook"}


# Money.


def test_a_budget_is_never_exceeded():
    model = fitted(budget=30, confidence=None)
    case = model.open()
    run(case, ROW)
    assert case.stopped == "budget"
    assert case.cost <= 30
    assert model.open(budget=None)._left() == np.inf
    rich = model.open(budget=1000)
    run(rich, ROW)
    assert "mri" in rich.bought
    with pytest.raises(ValueError, match="'mri' would cost 500 and 30 is left"):
        model.open().order("mri")


def test_decimal_prices_use_up_a_budget():
    model = Buyer(costs=dict.fromkeys("abc", 0.1), budget=0.3, confidence=None)
    case = model.open()
    assert run(case, {}) == ["a", "b", "c"]
    assert case.stopped == "nothing left"


def test_the_total_is_shared():
    model = fitted(total=560, budget=520, confidence=None, gain=0.0)
    first, second = model.open(), model.open()
    first.order("mri", "blood")
    assert model.spent_ == 520
    run(second, ROW)
    assert second.stopped == "budget"
    assert model.spent_ <= 560
    second.explain()
    with pytest.raises(ValueError, match="left"):
        model.open().order("mri")
    first.cancel()
    assert model.spent_ == first.cost + second.cost


def test_a_question_is_dropped_when_other_cases_have_spent_its_money():
    model = fitted(total=520, confidence=None)
    case = model.open({"age": 4}, explore=False)
    case.refuse("blood")
    case.refuse("job")
    assert case.question == "mri"
    model.open().order("blood")
    assert case.question == "mri"
    model.open().order("job")
    assert (case.question, case.stopped) == (None, "budget")


@pytest.mark.parametrize("name", ["budget", "total", "refer"])
def test_money_must_make_sense(name):
    for wrong in (-1, float("nan"), "much", True):
        with pytest.raises(ValueError, match=f"{name}=.* is out of range"):
            Buyer(**PRICES, **{name: wrong}).open()
        with pytest.raises(ValueError, match=f"{name}=.* is out of range"):
            fitted(**{name: wrong})
    with pytest.raises(ValueError, match="budget=-1"):
        fitted().open(budget=-1)


def test_other_arguments_of_open_are_checked():
    model = fitted()
    for arguments, error, words in (
        ({"explore": 1}, TypeError, "neither True nor False"),
        ({"ledger": []}, TypeError, "ledger is a list"),
        ({"known": [1]}, TypeError, "known must be a dict"),
        ({"known": {"heart": 1}}, ValueError, "no feature 'heart'; the features are 'age', 'hb'"),
        ({"known": {"age": "old"}}, ValueError, "column 'age' is numeric but holds 'old'"),
    ):
        with pytest.raises(error, match=words):
            model.open(**arguments)
    assert model._opened == 0


# Answers.


def test_referring_where_a_person_is_cheaper():
    model = fitted(refer=0.2)
    unsure, sure = model.open(), model.open({"mri": 1, "crp": 1})
    assert unsure.prediction is REFER
    assert sure.prediction == "ill"
    assert fitted().open().prediction == "well"
    costly = fitted(refer=0.2, loss={"ill": {"well": 100.0}})
    assert costly.open({"mri": 1, "crp": 1}).prediction is REFER or costly.open({"mri": 1}).prediction == "ill"
    assert costly.open({"mri": 0}).prediction is REFER
    model.learn(unsure, "ill")
    assert unsure.prediction is REFER
    assert model.resume(unsure.to_dict()).prediction is REFER


def test_loss_decides_the_answer():
    assert fitted().open({"mri": 0}).prediction == "well"
    assert fitted(loss={"ill": {"well": 100.0}}).open({"mri": 0}).prediction == "ill"


def test_predict_one_reads_only_what_it_buys():
    model = fitted(budget=30)
    values = Lazy(ROW)
    answer = model.predict_one(values)
    case = model.open(explore=False)
    run(case, ROW)
    assert values.read == list(case._history.values)
    assert "mri" not in values.read
    assert answer == case.prediction
    assert model.predict_proba_one(Lazy(ROW)) == case.probabilities
    assert model.spent_ == case.cost


def test_predict_one_changes_nothing():
    model = fitted()
    apart = ("_gate", "_tables", "_listed", "_state")
    before = {name: copy.deepcopy(value) for name, value in vars(model).items() if name not in apart}
    tables, state = model._tables, repr(model.state_arrays())
    model.predict_one(ROW)
    model.predict_proba_one({"job": "pilot"})
    after = {name: value for name, value in vars(model).items() if name not in apart}
    assert repr(before) == repr(after)
    assert model._tables is tables
    assert repr(model.state_arrays()) == state


def test_predict_one_takes_what_is_absent_as_missing():
    model = fitted(confidence=None, gain=0.0)
    assert model.predict_proba_one({"mri": 1}) == model.predict_proba_one({**dict.fromkeys(ROW), "mri": 1})
    with pytest.raises(ValueError, match="no feature 'heart'"):
        model.predict_one({"heart": 1})
    with pytest.raises(TypeError, match="an example is a dict"):
        model.predict_one([1])
    with pytest.raises(ValueError, match="column 'mri' is numeric but holds 'bright'"):
        model.predict_one({"mri": "bright"})


def test_predict_one_takes_numbers_as_names():
    model = Buyer(gain=0.0).fit(np.array([[0.0, 1.0], [1.0, 0.0]] * 9), [0, 1] * 9)
    assert model.predict_one({0: 1.0, 1: 0.0}) == model.predict_one({"x0": 1.0, "x1": 0.0}) == 1


# Before anything was learned.


def test_a_model_that_starts_from_nothing_asks_for_all_that_is_named():
    model = Buyer(**PRICES)
    case = model.open()
    assert (case.prediction, case.probabilities) == (None, {})
    assert run(case, ROW) == ["age", "mri", "blood"]
    assert (case.stopped, case.cost) == ("nothing left", 520.0)
    second = model.open({"age": 3})
    second.refuse("mri")
    model.learn(case, "ill")
    assert model.schema_.names == ["mri", "hb", "crp", "age"]
    second.order("blood")
    model.learn(second, "well")
    assert model.open().prediction in ("ill", "well")
    assert model.predict_one({"mri": 1}) in ("ill", "well")


def test_all_that_is_named_becomes_a_feature_also_if_the_first_case_could_not_have_it():
    model = Buyer(**PRICES, nominal=["job"])
    case = model.open()
    for item in ("age", "mri", "blood", "job"):
        case.refuse(item)
    assert case.stopped == "nothing left"
    model.learn(case, "ill")
    assert model.schema_.names == ["mri", "hb", "crp", "age", "job"]
    assert model.open().question == "age"


def test_answers_before_learning_are_checked():
    model = Buyer(**PRICES, nominal=["job"])
    case = model.open({"job": 3})
    with pytest.raises(ValueError, match="holds inf"):
        case.receive(mri=float("inf"))
    with pytest.raises(ValueError, match=r"no feature 'heart'.*Nothing has been learned yet: name it in costs"):
        model.open({"heart": 3})
    with pytest.raises(ValueError, match="fit it on history first, or name the features in costs"):
        Buyer().open({"age": 3})
    other = model.open({"age": "old"})
    case.order("age")
    case.receive(age=3)
    model.learn(case, "ill")
    with pytest.raises(ValueError, match="column 'age' is numeric but holds 'old'"):
        model.learn(other, "ill")
    other.cancel()


def test_a_budget_holds_before_learning():
    case = Buyer(**PRICES, budget=30).open()
    assert run(case, ROW) == ["age", "blood"]
    assert case.stopped == "budget"
    assert case.explain().next == "mri"


def test_requirements_hold_before_learning():
    case = Buyer(**PRICES, requires={"mri": ["blood"]}).open()
    assert run(case, ROW) == ["age", "blood", "mri"]


def test_without_exploring_nothing_is_asked_before_learning():
    case = Buyer(**PRICES).open(explore=False)
    assert (case.question, case.stopped) == (None, "gain")


def test_prices_that_do_not_fit_the_history_are_refused_before_anything_is_learned():
    table, labels = patients(20)
    for given, words in (({"costs": {"heart": 1}}, "costs names 'heart'"), ({"groups": {"age": ["hb"]}}, "'age'")):
        model = Buyer(**given)
        for learn in (
            lambda model=model: model.fit(table, labels),
            lambda model=model: model.partial_fit(table, labels),
            lambda model=model: model.learn_one({"age": 3}, "ill"),
        ):
            with pytest.raises(ValueError, match=words):
                learn()
            assert not model._is_fitted()


# Features that come later.


def test_a_new_test_is_asked_for_first_by_cases_that_explore():
    model = fitted(features="open", confidence=None, gain=0.0)
    old = model.open({"age": 3})
    model.set_costs({"ct": 300})
    assert old.question == "ct"
    assert model.open({"age": 3}, explore=False).question != "ct"
    old.answer("dark")
    model.learn(old, "ill")
    assert model.schema_.names[-1] == "ct"
    case = model.open({"ct": "bright", "liver": 3})
    model.learn(case, "well")
    assert model.schema_.names[-1] == "liver"
    assert model.schema_.categories[5] == ["dark", "bright"]


def test_a_new_test_that_is_too_dear_is_a_matter_of_the_budget():
    model = fitted(features="open", confidence=None, gain=0.0)
    model.set_costs({"ct": 3000})
    case = model.open(budget=600)
    assert "ct" not in run(case, ROW)
    assert case.stopped == "budget"
    assert case.explain().next == "ct"


def test_an_open_model_learns_its_first_features_from_what_cases_know():
    model = Buyer(features="open")
    case = model.open({"age": 4, "job": "cook"})
    assert case.stopped == "nothing left"
    model.learn(case, "ill")
    assert model.schema_.names == ["age", "job"]
    with pytest.raises(ValueError, match="knows no features to ask for"):
        Buyer(features="open").open()


def test_an_item_that_needs_a_test_that_has_never_been_made_is_not_planned_without_exploring():
    model = fitted(features="open", requires={"mri": ["ct"]}, confidence=None, gain=0.0)
    case = model.open(explore=False)
    assert "mri" not in run(case, ROW)
    assert model.open().question == "ct"


def test_a_feature_that_joins_a_group_later_has_no_result_in_older_cases():
    model = Buyer(groups={"blood": ["hb", "iron"]}, features="open", confidence=None, gain=0.0)
    model.fit({"hb": [1.0, 2.0], "age": [1.0, 2.0]}, ["x", "y"])
    case = model.open(explore=False)
    while case.question != "blood":
        case.answer(1)
    model.groups = {"blood": ["hb"]}
    case.answer({"hb": 1})
    model.groups = {"blood": ["hb", "iron"]}
    model.learn(model.open({"iron": 1, "hb": 1, "age": 2}), "x")
    assert case.question != "blood"
    assert case._to_buy("blood") == ()


def test_a_feature_with_the_name_of_a_group_is_refused_whole():
    model = Buyer(groups={"blood": ["hb"]}, features="open").fit({"hb": [1.0, 2.0]}, ["x", "y"])
    with pytest.raises(ValueError, match="the group 'blood' has the name of a feature"):
        model.learn_one({"hb": 1.0, "blood": 3.0}, "x")
    assert model.schema_.names == ["hb"]
    assert sum(model._state.n) == 2


# Copies and files.


def test_a_file_keeps_what_was_spent_and_goes_on_with_the_same_seeds(tmp_path):
    for seed in (0, 7, None):
        model = fitted(seed=seed)
        model.open().order("mri")
        model.set_costs({"blood": 21})
        model.save(tmp_path / "model.quercus")
        loaded = Buyer._from_model(read_model(tmp_path / "model.quercus"))
        assert loaded.spent_ == 500.0
        mine, theirs = model.open({"age": 3}), loaded.open({"age": 3})
        assert mine.to_dict() == theirs.to_dict()
        assert run(mine, ROW) == run(theirs, ROW)
        assert mine.bought == theirs.bought


def test_damaged_books_are_refused(tmp_path):
    model = fitted()
    model.save(tmp_path / "model.quercus")
    good = read_model(tmp_path / "model.quercus")
    for wrong in (
        None,
        {},
        {"spent": -1.0, "opened": 0, "entropy": None},
        {"spent": float("nan"), "opened": 0, "entropy": None},
        {"spent": 0.0, "opened": -1, "entropy": None},
        {"spent": 0.0, "opened": 0, "entropy": "x"},
    ):
        good.extra["inquiry"] = wrong
        with pytest.raises(ModelFileError, match="what it has spent"):
            Buyer._from_model(good)


def test_copies_keep_the_books_and_clones_do_not():
    model = fitted()
    model.open().order("mri")
    assert pickle.loads(pickle.dumps(model)).spent_ == 500.0
    assert copy.deepcopy(model).open().to_dict() == model.open().to_dict()
    assert clone(model).spent_ == 0.0
    assert model.fit(*patients(50)).spent_ == 500.0


def test_seeds_follow_from_the_model_and_the_number_of_the_case():
    seeds = [[fitted_.open()._saved.seed for _ in range(3)] for fitted_ in (fitted(), fitted(), fitted(seed=1))]
    assert seeds[0] == seeds[1] != seeds[2]
    assert len({*seeds[0], *seeds[2]}) == 6
    assert fitted(seed=None).open()._saved.seed != fitted(seed=None).open()._saved.seed
