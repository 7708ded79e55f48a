import os
from collections import Counter
from urllib.error import URLError

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import datasets
from sklearn.utils import Bunch

from quercus.streams import Parquet, as_stream, available, load
from quercus.streams.catalog import KNOWN
from quercus.streams.named import GENERATORS

needs_data = pytest.mark.skipif(not os.environ.get("QUERCUS_DATA"), reason="QUERCUS_DATA is not set")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("QUERCUS_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_folder(monkeypatch):
    monkeypatch.delenv("QUERCUS_DATA", raising=False)


@needs_data
def test_every_set_of_the_folder_loads():
    entries = [entry for entry in available() if entry.source == "QUERCUS_DATA"]
    assert entries
    for entry in entries:
        stream = load(entry.name)
        assert (stream.n_rows, len(stream.feature_names)) == (entry.rows, entry.features)
        X, y = stream.take(500)
        assert len(X) == len(y) == min(500, entry.rows)
        assert isinstance(X, np.ndarray if not stream.nominal else pa.Table)
        assert "split" not in stream.feature_names
        assert set(y.tolist()) <= set(stream.classes)
        if known := KNOWN.get(entry.name):
            assert (known.rows, known.features) == (entry.rows, entry.features)


@needs_data
@pytest.mark.parametrize(
    ("name", "features", "nominal", "ordered", "counts"),
    [
        ("electricity", 8, 1, True, {"DOWN": 26075, "UP": 19237}),
        ("airlines", 7, 4, True, {0: 299119, 1: 240264}),
        ("a9a", 123, 0, False, {-1: 37155, 1: 11687}),
        ("vote", 16, 16, False, {"democrat": 267, "republican": 168}),
        ("adult", 14, 8, False, {"<=50K": 37155, ">50K": 11687}),
        ("balance_scale", 4, 0, False, {"B": 49, "L": 288, "R": 288}),
    ],
)
def test_class_counts_are_the_published_ones(name, features, nominal, ordered, counts):
    stream = load(name)
    seen = Counter()
    for _, y in stream.chunks():
        seen.update(y.tolist())
    assert seen == counts
    assert stream.classes == sorted(counts)
    assert len(stream.feature_names) == features
    assert len(stream.nominal) == nominal
    assert stream.ordered == ordered


@needs_data
def test_covertype_is_in_the_order_of_its_source():
    stream = load("covertype")
    X, y = stream.take(1)
    assert X[0, :4].tolist() == [2596, 51, 3, 258]
    assert y.tolist() == [5]
    assert (stream.n_rows, stream.ordered) == (581_012, True)


def test_a_file_of_the_folder_wins(folder):
    table = pa.table({"a": [1, 2], "split": ["train", "test"], "target": ["x", "y"]})
    for name in ("iris", "sea", "my-own"):
        pq.write_table(table, folder / f"{name}.parquet")
        stream = load(name)
        assert isinstance(stream, Parquet)
        assert stream.feature_names == ["a"]
        assert stream.classes == ["x", "y"]
        assert as_stream(name).name == name
    sources = {entry.name: entry.source for entry in available()}
    assert sources["iris"] == sources["my-own"] == "QUERCUS_DATA"
    assert [entry.name for entry in available()].count("iris") == 1
    assert load("My own").n_rows == 2


def test_a_file_without_target_says_so(folder):
    pq.write_table(pa.table({"a": [1], "b": [2]}), folder / "odd.parquet")
    with pytest.raises(ValueError, match="target 'target' is no column; the columns are 'a', 'b'"):
        load("odd")


def test_a_folder_that_is_none_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("QUERCUS_DATA", str(tmp_path / "gone"))
    with pytest.raises(ValueError, match=r"QUERCUS_DATA names '.*gone', which is no folder"):
        load("iris")


@pytest.mark.parametrize(
    ("name", "rows", "features", "classes"),
    [
        ("iris", 150, 4, ["setosa", "versicolor", "virginica"]),
        ("wine", 178, 13, ["class_0", "class_1", "class_2"]),
        ("breast_cancer", 569, 30, ["benign", "malignant"]),
        ("digits", 1797, 64, list(range(10))),
    ],
)
def test_bundled_sets(no_folder, name, rows, features, classes):
    stream = load(name)
    X, y = stream.take()
    assert X.shape == (rows, features) == (KNOWN[name].rows, KNOWN[name].features)
    assert X.dtype == np.float64
    assert stream.classes == classes
    assert len(stream.feature_names) == features
    expected = getattr(datasets, f"load_{name}")()
    np.testing.assert_array_equal(X, expected.data)
    np.testing.assert_array_equal(y, expected.target if name == "digits" else expected.target_names[expected.target])


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_by_name(name, no_folder):
    stream = load(name, seed=3, rows=100)
    assert isinstance(stream, GENERATORS[name])
    assert stream.name == name
    assert len(stream.take()[1]) == 100
    assert stream.seed == 3


def test_ordered_false_shuffles_by_seed(no_folder):
    plain = load("iris").take()[1]
    one, same, other = (load("iris", ordered=False, seed=seed).take()[1] for seed in (1, 1, 2))
    assert sorted(one) == sorted(plain)
    assert (one != plain).any()
    assert (one == same).all()
    assert (one != other).any()
    assert load("sea", ordered=False, rows=50, seed=2).n_rows == 50


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: load("electrcity"), ValueError, "no data set 'electrcity'; closest first: electricity, "),
        (lambda: load("hyperplan"), ValueError, "closest first: hyperplane, .*noise"),
        (lambda: load("compas"), ValueError, r"put compas.parquet into the folder that QUERCUS_DATA names"),
        (lambda: load("../iris"), ValueError, r"no data set '../iris'"),
        (lambda: load("sea", leaves=3), TypeError, "no argument 'leaves'; it takes concepts, drift, noise, rows, seed"),
        (lambda: load("iris", rows=3), TypeError, "no argument 'rows'; a data set takes none"),
        (
            lambda: load("iris", seed=3),
            TypeError,
            "no argument 'seed'; a data set takes none .but seed= with ordered=Fal",
        ),
        (lambda: load("sea", ordered=False), ValueError, "endless and cannot be shuffled"),
        (lambda: load(3), TypeError, "the name of a data set is a string, not int"),
        (lambda: load("openml:"), ValueError, "write 'openml:electricity@1'"),
        (lambda: load("openml:iris@one"), ValueError, "write 'openml:electricity@1'"),
    ],
)
def test_what_cannot_be_loaded_is_said(no_folder, call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_available_lists_what_load_takes(no_folder):
    entries = {entry.name: entry for entry in available()}
    assert {"iris", "electricity", "random_tree"} <= entries.keys()
    assert entries["electricity"].source == "OpenML 151"
    assert entries["iris"].source == "scikit-learn"
    assert entries["led"] == ("led", "generator", None, 24, entries["led"].description)
    assert all(entry.description for entry in entries.values())


@pytest.fixture
def openml(monkeypatch, no_folder):
    """What scikit-learn's fetch gives, and what it was asked for."""
    asked = []
    answer = Bunch(
        data=np.array([[1.5, 0.0], [np.nan, 1.0], [3.0, np.nan]]),
        target=np.array(["p", "q", "p"], dtype=object),
        feature_names=["a", "b"],
        categories={"b": ["low", "high"], "class": ["p", "q"]},
    )

    def fetch(**arguments):
        asked.append(arguments)
        if isinstance(answer.get("error"), Exception):
            raise answer.error
        return answer

    monkeypatch.setattr(datasets, "fetch_openml", fetch)
    monkeypatch.setitem(KNOWN, "electricity", KNOWN["electricity"]._replace(rows=3, features=2))
    return answer, asked


def test_openml_tables(openml):
    stream = load("openml:toy@2")
    X, y = stream.take()
    assert X.to_pydict() == {"a": [1.5, None, 3.0], "b": ["low", "high", None]}
    assert y.tolist() == ["p", "q", "p"]
    assert y.dtype.kind == "U"
    assert stream.nominal == ("b",)
    assert not stream.ordered


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openml:toy@2", {"name": "toy", "version": 2}),
        ("openml:toy", {"name": "toy", "version": "active"}),
        ("openml:61", {"data_id": 61}),
        ("electricity", {"data_id": 151}),
    ],
)
def test_openml_is_asked_by_name_and_version_or_number(openml, name, expected):
    stream = load(name)
    assert expected.items() <= openml[1][0].items()
    assert stream.name == name
    assert stream.ordered == (name == "electricity")


def test_openml_numbers_are_an_array(openml):
    answer, _ = openml
    answer.categories = {}
    np.testing.assert_array_equal(load("openml:toy@1").take()[0], answer.data)


@pytest.mark.parametrize(
    ("name", "changes", "error", "message"),
    [
        (
            "electricity",
            {"error": URLError("no route")},
            ConnectionError,
            "'electricity' is not in .* OpenML cannot be reached .*no route.*, or put electricity.parquet into",
        ),
        ("openml:toy@1", {"error": URLError("no route")}, ConnectionError, "connect to the network.$"),
        ("openml:toy@1", {"error": ValueError("unknown")}, ValueError, "OpenML does not give 'openml:toy@1': unknown"),
        (
            "letter",
            {},
            ValueError,
            r"6 of OpenML is not 'letter' .* \(3, 2\) rows and features instead of \(20000, 16\)",
        ),
        ("openml:toy@1", {"target": None}, ValueError, "does not have one target column"),
        ("openml:toy@1", {"data": "sparse"}, ValueError, "is sparse"),
    ],
)
def test_openml_out_of_reach_or_unfit(openml, name, changes, error, message):
    openml[0].update(changes)
    with pytest.raises(error, match=message):
        load(name)
