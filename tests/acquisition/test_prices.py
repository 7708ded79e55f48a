import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quercus.acquisition.engine import best_answer
from quercus.acquisition.layout import REFER
from quercus.acquisition.prices import Prices, declared
from quercus.acquisition.rows import PriceList

NAMES = ["age", "hb", "mri", "crp"]
BLOOD = {"blood": ["crp", "hb"]}


def test_items_go_by_their_first_column():
    prices = Prices(NAMES, {"blood": 20, "age": 0}, BLOOD, {"mri": ["blood", "age"]})
    assert prices.items == ["age", "blood", "mri"]
    assert prices.features("blood") == ["hb", "crp"]
    listed = PriceList(prices, 4)
    item, price, needs = listed.item, listed.price, listed.needs
    assert (item.dtype, price.dtype, needs.dtype) == (np.int64, np.float64, np.uint8)
    assert item.tolist() == [0, 1, 2, 1]
    assert price.tolist() == [0.0, 20.0, 1.0]
    assert needs.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"costs": {"aeg": 5}}, "costs names 'aeg', which is neither a feature nor a group; there are 'age'"),
        ({"costs": {"hb": 5}, "groups": BLOOD}, "costs names 'hb', which is bought with the group 'blood'"),
        ({"costs": {"age": -1}}, r"costs\['age'\]=-1 is out of range"),
        ({"costs": {"age": float("nan")}}, r"costs\['age'\]=nan"),
        ({"costs": {"age": float("inf")}}, r"costs\['age'\]=inf"),
        ({"costs": {"age": True}}, r"costs\['age'\]=True"),
        ({"costs": {"age": "5"}}, r"costs\['age'\]='5'"),
        ({"groups": {"blood": ["hb", "iron"]}}, r"groups\['blood'\] names 'iron', which is no feature"),
        ({"groups": {"blood": ["hb"], "lab": ["crp", "hb"]}}, "'hb' twice, in 'blood' and in 'lab'"),
        ({"groups": {"blood": ["hb", "hb"]}}, "'hb' twice"),
        ({"groups": {"blood": []}}, r"groups\['blood'\] is empty"),
        ({"groups": {"age": ["hb", "crp"]}}, "the group 'age' has the name of a feature"),
        ({"groups": {"lab": ["blood"], **BLOOD}}, "names 'blood', which is a group"),
        ({"requires": {"mri": ["mir"]}}, r"requires\['mri'\] names 'mir'"),
        ({"requires": {"mir": ["mri"]}}, "requires names 'mir'"),
        ({"requires": {"mri": ["hb"]}, "groups": BLOOD}, "bought with the group 'blood'; name the group"),
        ({"requires": {"mri": ["mri"]}}, "circle: 'mri' requires 'mri'"),
        ({"requires": {"mri": ["age"], "age": ["crp"], "crp": ["mri"]}}, "in a circle"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Prices(NAMES, **arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"costs": [5, 6]}, "costs=.* is no dict"),
        ({"costs": {0: 5}}, "costs holds the name 0, a int"),
        ({"groups": {"blood": "hb"}}, r"write \['hb'\]"),
        ({"groups": {"blood": 3}}, "no list of names"),
        ({"groups": {"blood": [3]}}, "holds 3"),
        ({"requires": {"mri": "age"}}, r"write \['age'\]"),
    ],
)
def test_wrong_types_are_refused(arguments, words):
    with pytest.raises(TypeError, match=words):
        Prices(NAMES, **arguments)


def test_names_that_may_still_come_are_left_out():
    prices = Prices(
        ["age", "hb"], {"ct": 300, "blood": 20}, {"blood": ["hb", "iron"]}, {"age": ["ct"], "blood": ["age"]}, open=True
    )
    assert prices.items == ["age", "blood"]
    needs = PriceList(prices, 2).needs
    # ct cannot be bought yet, so that age cannot either
    assert needs.tolist() == [[1, 0], [1, 0]]


def test_declared_features_are_in_the_order_of_naming():
    costs, groups = {"mri": 500, "blood": 20, "age": 0}, {"blood": ["hb", "crp"], "eyes": ["left", "right"]}
    assert declared(costs, groups, {"ct": ["mri", "xray"]}) == [
        "mri",
        "hb",
        "crp",
        "age",
        "left",
        "right",
        "ct",
        "xray",
    ]
    assert declared(None, None, None) == []


@given(st.data())
def test_every_feature_is_in_exactly_one_item(data):
    names = [f"f{i}" for i in range(data.draw(st.integers(1, 9)))]
    marks = data.draw(st.lists(st.integers(-1, 2), min_size=len(names), max_size=len(names)))
    groups = {f"g{g}": [n for n, m in zip(names, marks, strict=True) if m == g] for g in range(3)}
    prices = Prices(names, groups={name: part for name, part in groups.items() if part})
    assert sorted(place for places in prices.members for place in places) == list(range(len(names)))
    firsts = [places[0] for places in prices.members]
    assert firsts == sorted(firsts)
    item = PriceList(prices, len(names)).item
    assert all(item[place] == number for number, places in enumerate(prices.members) for place in places)


@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=5), st.randoms())
def test_best_answer_is_that_of_least_expected_loss(weights, random):
    q = np.array(weights) / sum(weights)
    loss = np.array([[random.randint(0, 5) * 1.0 for _ in q] for _ in q])
    order = np.array(random.sample(range(len(q)), len(q)))
    answer, expected = best_answer(q, order, loss)
    assert expected == pytest.approx((q @ loss).min())
    assert (q @ loss)[answer] == pytest.approx(expected)


def test_of_equal_answers_the_first_in_order_counts():
    half = np.array([0.5, 0.5])
    assert best_answer(half, np.array([1, 0]), np.empty((0, 0)))[0] == 1
    assert best_answer(half, np.array([0, 1]), np.empty((0, 0)))[0] == 0


def test_refer_is_one_thing_also_after_copying():
    import copy
    import pickle

    assert copy.deepcopy(REFER) is REFER
    assert pickle.loads(pickle.dumps(REFER)) is REFER
    assert REFER != "refer"
