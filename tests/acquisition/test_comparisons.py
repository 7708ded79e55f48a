"""Comparisons in place of values: the same in every form of table, lazy where rows are, and refused where they must."""

import copy
from collections import OrderedDict, UserDict
from collections.abc import Mapping

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import quercus as qc

EDGES = {"x0": [-1, 0, 2.5], "x2": [0]}
NAMES = ["x0 <= -1", "x0 <= 0", "x0 <= 2.5", "x1", "x2 <= 0"]
NUMBERS = st.sampled_from([np.nan, -3.0, -1.0, -0.0, 0.0, 0.1, 2.5, 2.75, 1e300])


def forms(X):
    """Return the same rows in every form of table."""
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    lists = [[None if value != value else value for value in row] for row in X.tolist()]
    return {
        "array": X,
        "fortran": np.asfortranarray(X),
        "masked": np.ma.masked_invalid(X),
        "objects": np.array(lists, dtype=object).reshape(X.shape),
        "lists": lists,
        "tuples": tuple(map(tuple, lists)),
        "dict of arrays": columns,
        "dict of lists": dict(zip(columns, map(list, zip(*lists, strict=True)), strict=True)),
        "dicts": [dict(zip(columns, row, strict=True)) for row in lists],
        "mappings": [UserDict(zip(columns, row, strict=True)) for row in lists],
        "numbered dicts": [dict(enumerate(row)) for row in lists],
        "pandas": pd.DataFrame(columns, index=np.arange(len(X))[::-1]),
        "pandas without names": pd.DataFrame(X),
        "pandas, nullable": pd.DataFrame(columns).convert_dtypes(),
        "polars": pl.DataFrame(lists, schema=dict.fromkeys(columns, pl.Float64), orient="row"),
        "arrow": pa.table(columns),
        "narwhals": nw.from_native(pl.DataFrame(columns)),
    }


def to_rows(Y):
    """Return a table of comparisons as rows by name, missing values as None."""
    if isinstance(Y, list):
        rows = [{f"x{key}" if isinstance(key, int) else key: row[key] for key in row} for row in Y]
    elif isinstance(Y, dict):
        rows = [dict(zip(Y, values, strict=True)) for values in zip(*Y.values(), strict=True)]
    else:
        rows = nw.from_native(Y, eager_only=True).rows(named=True)
    return [{name: None if pd.isna(value) else value for name, value in row.items()} for row in rows]


def by_hand(X):
    """Return the comparisons of `EDGES`, one after the other."""

    def ask(value, edge):
        return None if np.isnan(value) else "yes" if value <= edge else "no"

    return [
        dict(zip(NAMES, [*(ask(a, edge) for edge in EDGES["x0"]), None if np.isnan(b) else b, ask(c, 0)], strict=True))
        for a, b, c in X.tolist()
    ]


@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.just(3)), elements=NUMBERS))
@example(np.full((2, 3), np.nan))
@settings(max_examples=60, deadline=None)
def test_every_form_is_compared_alike(X):
    expected = by_hand(X)
    for form, table in forms(X).items():
        before = copy.deepcopy(table)
        rows = to_rows(qc.comparisons(table, EDGES))
        assert rows == expected, form
        assert [list(row) for row in rows] == [NAMES] * len(X), form
        assert str(table) == str(before), form
    for row, made in zip(X.tolist(), expected, strict=True):
        one = qc.comparisons(dict(zip(["x0", "x1", "x2"], row, strict=True)), EDGES)
        assert type(one) is dict
        assert to_rows([one]) == [made]


@pytest.mark.parametrize("kind", [qc.ReinforcedTree, qc.UtilityTree])
def test_every_form_makes_the_same_model(kind):
    generator = np.random.default_rng(5)
    X = generator.integers(-3, 4, (150, 3)) + generator.choice([0.0, np.nan], (150, 3), p=[0.9, 0.1])
    y = np.where(X[:, 0] <= 0, "low", np.where(X[:, 2] <= 0, "mid", "high"))
    states, answers = set(), set()
    for form, table in forms(X).items():
        Y = qc.comparisons(table, EDGES)
        model = kind(costs={"x0 <= 0": 2}, seed=3)
        model.buy_and_learn(Y, y)
        assert model.schema_.names == NAMES, form
        assert model.schema_.kinds == ["nominal", "nominal", "nominal", "numeric", "nominal"], form
        states.add(str({name: part.tobytes() for name, part in model._arrays().items()}))
        answers.add(str(model.predict(Y).tolist()))
    assert len(states) == len(answers) == 1


def test_the_form_stays():
    X = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, -6.0]])
    kinds = {form: type(qc.comparisons(table, EDGES)) for form, table in forms(X).items()}
    framed = {"pandas": pd.DataFrame, "pandas without names": pd.DataFrame, "pandas, nullable": pd.DataFrame}
    framed |= {"polars": pl.DataFrame, "arrow": pa.Table, "narwhals": nw.DataFrame}
    assert {form: kinds[form] for form in framed} == framed
    assert all(kinds[form] is pa.Table for form in ("array", "fortran", "masked", "objects", "lists", "tuples"))
    assert all(kinds[form] is dict for form in ("dict of arrays", "dict of lists"))
    assert all(kinds[form] is list for form in ("dicts", "mappings", "numbered dicts"))
    frame = pd.DataFrame({"age": [20, 40], "job": ["cook", None]}, index=["b", "a"])
    assert qc.comparisons(frame, {"age": [30]}).index.tolist() == ["b", "a"]
    assert qc.comparisons(frame, {"age": [30]})["age <= 30"].tolist() == ["yes", "no"]
    days = pl.DataFrame({"age": [20, 40], "job": pl.Series(["cook", "clerk"], dtype=pl.Categorical)})
    assert qc.comparisons(days, {"age": [30]}).schema["job"] == pl.Categorical


def test_other_columns_of_lists_and_arrays_stay():
    made = qc.comparisons([[1, "cook", None, True], [2, None, None, False]], {"x0": [1]}).to_pydict()
    assert np.isnan(made.pop("x2")).all()
    assert made == {"x0 <= 1": ["yes", "no"], "x1": ["cook", None], "x3": [1, 0]}
    assert qc.comparisons(np.array([[1, 7], [2, 8]]), {0: [1]}).to_pydict() == {"x0 <= 1": ["yes", "no"], "x1": [7, 8]}
    only = qc.comparisons(np.array([[1], [2]], dtype=np.float16), {"x0": [1]})
    assert only.to_pydict() == {"x0 <= 1": ["yes", "no"]}
    with pytest.raises(ValueError, match="column 'x1' holds numbers and text"):
        qc.comparisons([[1, "cook"], [2, 3]], {"x0": [1]})


def test_numbers_are_compared_as_learners_read_them():
    for table in (np.array([[0.1]], np.float32), pl.DataFrame({"x0": pl.Series([0.1], dtype=pl.Float32)})):
        assert to_rows(qc.comparisons(table, {"x0": [0.1]})) == [{"x0 <= 0.1": "no"}]
    assert qc.comparisons({"a": np.float32(0.1)}, {"a": [0.1]}) == {"a <= 0.1": "no"}
    assert qc.comparisons({"a": 2**53 + 1}, {"a": [2**53]}) == {f"a <= {2**53}": "yes"}
    assert qc.comparisons({"a": True, "b": np.array(3.0)}, {"a": [0], "b": [3]}) == {"a <= 0": "no", "b <= 3": "yes"}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8, unique=True))
@example([0.1, 0.1 + 2**-56, 2.0**53, 2.0**53 + 2, 1e308])
@settings(max_examples=100, deadline=None)
def test_every_edge_has_a_name_that_tells_it(edges):
    edges = sorted(edges)
    names = list(qc.comparisons({"a": None}, {"a": edges}))
    assert [float(name.removeprefix("a <= ")) for name in names] == edges
    assert list(qc.comparisons({"a": None}, {"a": np.array(edges)})) == names
    assert list(qc.comparisons({"a": None}, {"a": pd.Series(edges)})) == names


def test_a_row_may_lack_columns():
    made = {"age <= 30": None, "age <= 50": None}
    assert qc.comparisons({"job": "cook"}, {"age": [30, 50]}) == {"job": "cook", **made}
    assert qc.comparisons({}, {"age": [30, 50]}) == made
    assert qc.comparisons([{"job": "cook"}, {"age": 40}], {"age": [30, 50]}) == [
        {"job": "cook", **made},
        {"age <= 30": "no", "age <= 50": "yes"},
    ]


class Watched(Mapping):
    """A row that notes what is looked up."""

    def __init__(self, values):
        self.values_, self.read = values, []

    def __getitem__(self, name):
        self.read.append(name)
        return self.values_[name]

    def __iter__(self):
        return iter(self.values_)

    def __len__(self):
        return len(self.values_)


class WatchedDict(dict):
    """A dict that notes what is looked up."""

    def __init__(self, values):
        super().__init__(values)
        self.read = []

    def __getitem__(self, name):
        self.read.append(name)
        return super().__getitem__(name)


def history(rows=400, seed=1):
    """Return people of whom age decides, income where they are young, and shoes never."""
    generator = np.random.default_rng(seed)
    table = {
        "age": generator.integers(18, 90, rows).astype(float),
        "income": generator.integers(0, 5000, rows),
        "shoes": generator.choice(["red", "blue"], rows).tolist(),
    }
    return table, np.where(table["age"] <= 50, np.where(table["income"] <= 2000, "no", "maybe"), "yes")


PEOPLE = {"age": [30, 50, 65], "income": [2000]}


@pytest.fixture(scope="module")
def tree():
    table, labels = history()
    return qc.ReinforcedTree(costs={"income <= 2000": 2}, questions=3).fit(qc.comparisons(table, PEOPLE), labels)


@pytest.mark.parametrize("watched", [Watched, WatchedDict])
def test_only_what_is_asked_is_looked_up_and_once(tree, watched):
    x = {"age": 70, "income": 100, "shoes": "red"}
    meter = watched(x)
    row = qc.comparisons(meter, PEOPLE)
    assert (list(row), len(row), "age <= 30" in row, "age" in row) == (
        ["age <= 30", "age <= 50", "age <= 65", "income <= 2000", "shoes"],
        5,
        True,
        False,
    )
    assert "age <= 30" in repr(row)
    assert meter.read == []
    assert tree.predict_one(row) == tree.predict_one(qc.comparisons(x, PEOPLE)) == "yes"
    assert meter.read == ["age"]
    assert [row["age <= 65"], row["age <= 30"]] == ["no", "no"]
    assert meter.read == ["age"]
    meter = watched(x | {"age": 40})
    assert tree.explain_one(qc.comparisons(meter, PEOPLE)).prediction == "no"
    assert meter.read == ["age", "income"]


def test_a_lazy_row_reads_no_column_that_is_not_there():
    meter = Watched({"shoes": "red"})
    row = qc.comparisons(meter, PEOPLE)
    assert [row["age <= 30"], row.get("income <= 2000"), row.get("age")] == [None, None, None]
    assert meter.read == []
    meter = Watched({"age": "old"})
    row = qc.comparisons(meter, PEOPLE)
    with pytest.raises(ValueError, match="column 'age' holds 'old', a category"):
        row["age <= 30"]


def test_a_lazy_row_is_learned_as_a_dict_is():
    table, labels = history(60)
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    states = []
    for wrap in (dict, OrderedDict, UserDict, Watched):
        model = qc.ReinforcedTree(seed=2)
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(qc.comparisons(wrap(row), PEOPLE), label)
        states.append({name: part.tobytes() for name, part in model._arrays().items()})
    assert states[0] == states[1] == states[2] == states[3]


def test_a_case_goes_through_with_yes_and_no(tree, tmp_path):
    tree.save(tmp_path / "tree")
    loaded = qc.load(tmp_path / "tree")
    for model in (tree, loaded):
        case = model.open({"shoes": "red"}, explore=False)
        asked = []
        while case.question is not None:
            asked.append(case.question)
            case.answer("yes")
        assert asked == ["age <= 50", "income <= 2000"]
        assert (case.prediction, case.cost) == ("no", 3)
        assert "age <= 50 = 'yes'" in str(case.explain())
    table, _ = history(100, seed=9)
    Y = qc.comparisons(table, PEOPLE)
    assert loaded.predict(Y).tolist() == tree.predict(Y).tolist()
    assert "age <= 50" in str(tree.tree())
    case = loaded.open(qc.comparisons({"age": 70}, PEOPLE), explore=False)
    assert (case.prediction, case.cost) == ("yes", 0)
    loaded.learn(case, "yes")


def test_a_group_buys_all_comparisons_of_a_column_at_once():
    table, labels = history()
    model = qc.ReinforcedTree(groups={"age": [f"age <= {edge}" for edge in PEOPLE["age"]]}, costs={"age": 3})
    model.fit(qc.comparisons(table, PEOPLE), labels)
    case = model.open(explore=False)
    assert case.question == "age"
    case.answer(qc.comparisons({"age": 70}, {"age": PEOPLE["age"]}))
    assert (case.question, case.prediction, case.cost) == (None, "yes", 3)


def test_streams_take_the_table():
    table, labels = history(300)
    X = np.column_stack([table["age"], table["income"]])
    Y = qc.comparisons(X, {"x0": [50], "x1": [2000]})
    assert len(Y) == len(Y[:300]) == 300
    run = qc.evaluate((Y, labels), qc.ReinforcedTree())
    assert run.accuracy > 0.7


@pytest.mark.parametrize(
    ("edges", "error", "said"),
    [
        ([30], TypeError, "edges is .30.; give a dict"),
        (None, TypeError, "edges is None"),
        ({}, ValueError, "edges names no column"),
        ({"age": []}, ValueError, "'age' has no edges"),
        ({"age": np.array([])}, ValueError, "'age' has no edges"),
        ({"age": 3}, TypeError, "edges of 'age' are 3; .* A number of edges is not enough"),
        ({"age": "30"}, TypeError, "edges of 'age' are '30'"),
        ({"age": {30, 50}}, TypeError, "give a list of numbers that increase"),
        ({"age": {30: 1}}, TypeError, "give a list of numbers that increase"),
        ({"age": ["30"]}, TypeError, "hold '30', which is no number"),
        ({"age": [True]}, TypeError, "hold True, which is no number"),
        ({"age": [[30]]}, TypeError, r"hold \[30\], which is no number"),
        ({"age": np.ones((2, 2))}, TypeError, "which is no number"),
        ({"age": [1 + 2j]}, TypeError, "which is no number"),
        ({"age": [30, np.nan]}, ValueError, "hold nan; give finite"),
        ({"age": [None]}, ValueError, "hold None; give finite"),
        ({"age": [-np.inf]}, ValueError, "hold -inf; give finite"),
        ({"age": [10**400]}, ValueError, "give finite"),
        ({"age": [30, 30.0]}, ValueError, "'age' do not increase: 30 comes after 30"),
        ({"age": [50, 30]}, ValueError, "'age' do not increase: 30 comes after 50"),
        ({2.5: [30]}, TypeError, "the feature name 2.5 is a float"),
        ({0: [1], "x0": [2]}, ValueError, "two features are named 'x0'"),
    ],
)
def test_bad_edges_are_refused(edges, error, said):
    for table in ({"age": 41}, {"age": [41]}, [{"age": 41}], pl.DataFrame({"age": [41]}), UserDict(age=41)):
        with pytest.raises(error, match=said):
            qc.comparisons(table, edges)


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        (np.zeros((2, 2)), ValueError, "edges names 'age', which is no column of X; the columns are 'x0', 'x1'"),
        (pd.DataFrame({"Age": [1]}), ValueError, "the columns are 'Age'"),
        ({"Age": [1]}, ValueError, "the columns are 'Age'"),
        ([{"Age": 1}, {"job": "cook"}], ValueError, "the columns are 'Age', 'job'"),
        ([], ValueError, "0 sample"),
        ({"age": []}, ValueError, "0 sample"),
        (pl.DataFrame({"age": []}), ValueError, "0 sample"),
        ([{"age": 1}, [2]], ValueError, "row 1 of X is .2.; make every row a dict"),
        ([1, 2], ValueError, "Expected 2D array"),
        (None, ValueError, "X is None"),
        ("ages.csv", ValueError, "quercus.streams reads files"),
        (object(), TypeError, "X is a object; pass a numpy array"),
        (pl.LazyFrame({"age": [1]}), TypeError, "lazy frame; collect"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), ValueError, "two columns named 'age'"),
        (pd.DataFrame([[1, 2]], columns=["age", 1]), TypeError, "string names"),
        ({"age": [1, 2], "job": ["cook"]}, ValueError, "equally long"),
        ({"age": ["young", None]}, ValueError, "column 'age' holds 'young' in row 0, a category; comparisons are for"),
        ({"age": [None, 1, "old"]}, ValueError, "column 'age' holds 'old' in row 2"),
        (pl.DataFrame({"age": [None, "old"]}), ValueError, "column 'age' holds 'old' in row 1"),
        (pd.DataFrame({"age": pd.Categorical([30, 40])}), ValueError, "column 'age' holds 30 in row 0, a category"),
        ([{"age": 1}, {"age": "old"}], ValueError, "column 'age' holds 'old' in row 1"),
        ({"age": "old"}, ValueError, "column 'age' holds 'old', a category"),
        ({"age": [1.0, np.inf]}, ValueError, "column 'age' holds inf in row 1; replace it with NaN"),
        ({"age": [1, 10**400]}, ValueError, "column 'age' holds a number beyond the range of floats in row 1"),
        ({"age": -np.inf}, ValueError, "column 'age' holds -inf; replace it"),
        ({"age": b"1"}, TypeError, "column 'age' holds b'1', a bytes"),
        ({"age": [1], "job": "cook"}, TypeError, "column 'age' holds .1., a list"),
        ({"age": 41, "age <= 30": "yes"}, ValueError, "is called 'age <= 30', as another column is; rename that one"),
        ({"age": [41], "age <= 30": [1]}, ValueError, "is called 'age <= 30', as another column is"),
        (pl.DataFrame({"age <= 30": [1], "age": [2]}), ValueError, "is called 'age <= 30', as another column is"),
        ([{"age <= 30": 1, "age": 2}], ValueError, "is called 'age <= 30', as another column is"),
        (UserDict({"age <= 30": 1, "age": 2}), ValueError, "is called 'age <= 30', as another column is"),
    ],
)
def test_bad_tables_are_refused(table, error, said):
    with pytest.raises(error, match=said):
        qc.comparisons(table, {"age": [30]})


def test_a_comparison_may_be_called_as_a_column_that_goes():
    made = qc.comparisons({"a": 1, "a <= 3": 4}, {"a": [3], "a <= 3": [5]})
    assert made == {"a <= 3": "yes", "a <= 3 <= 5": "yes"}
