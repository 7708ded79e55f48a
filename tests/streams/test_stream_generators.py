import inspect
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.streams import LED, SEA, GaussianPair, Hyperplane, Multiplexer, NaiveBayes, Noise, RandomTree, Stagger

ALL = [
    RandomTree(seed=1),
    SEA(drift=(1000, 5000), seed=1),
    Hyperplane(change=0.01, seed=1),
    LED(drift=(3000,), seed=1),
    Stagger(drift=(2000, 4500), noise=0.2, seed=1),
    GaussianPair(seed=1),
    Multiplexer(noise=0.1, irrelevant=2, seed=1),
    NaiveBayes(values=3, seed=1),
    Noise(classes=3, seed=1),
]
SEGMENTS = ["abcefg", "cf", "acdeg", "acdfg", "bcdf", "abdfg", "abdefg", "acf", "abcdefg", "abcdfg"]


def cells(X):
    return X if isinstance(X, np.ndarray) else np.array([X.column(name).to_pylist() for name in X.column_names]).T


def within(measured, expected, rows):
    """Tell whether a share measured on that many rows is within 4 standard errors of what it should be."""
    return abs(measured - expected) <= 4 * math.sqrt(expected * (1 - expected) / rows) + 1e-12


@pytest.mark.sampled(3)
@pytest.mark.parametrize("stream", ALL, ids=lambda stream: stream.name)
@settings(max_examples=15, deadline=None)
@given(size=st.integers(1, 6000), rows=st.integers(1, 9000))
def test_chunk_size_and_rows_do_not_change_the_rows(stream, size, rows):
    # One row at a time is slow, and the same code as any other size.
    rows = min(rows, size * 200)
    X, y = stream.take(9000)
    parts = list(stream.chunks(size, rows=rows))
    assert [len(part) for _, part in parts] == [size] * (rows // size) + [rows % size] * (rows % size > 0)
    np.testing.assert_array_equal(np.concatenate([cells(part) for part, _ in parts]), cells(X)[:rows])
    np.testing.assert_array_equal(np.concatenate([part for _, part in parts]), y[:rows])


@pytest.mark.parametrize("stream", ALL, ids=lambda stream: stream.name)
def test_what_a_generator_says_of_itself_is_true(stream):
    X, y = stream.take(5000)
    assert cells(X).shape == (5000, len(stream.feature_names))
    assert sorted(set(y.tolist())) == stream.classes
    assert y.dtype == np.int64
    assert stream.endless
    assert stream.n_rows is None
    assert "\n" not in repr(stream)


@pytest.mark.parametrize("stream", ALL, ids=lambda stream: stream.name)
def test_seeds_and_parameters(stream):
    again = type(stream)(**stream.parameters)
    np.testing.assert_array_equal(cells(stream.take(100)[0]), cells(again.take(100)[0]))
    other = stream.with_seed(2)
    assert other.parameters == stream.parameters | {"seed": 2}
    assert (cells(stream.take(100)[0]) != cells(other.take(100)[0])).any()
    finite = type(stream)(**stream.parameters | {"rows": 4500})
    assert finite.n_rows == len(finite.take()[1]) == 4500
    np.testing.assert_array_equal(finite.take()[1], stream.take(4500)[1])
    assert list(inspect.signature(type(stream)).parameters)[-2:] == ["rows", "seed"]


def test_a_seed_of_none_is_fresh_but_the_stream_repeats_itself():
    one, other = Noise(seed=None), Noise(seed=None)
    np.testing.assert_array_equal(one.take(10)[0], one.take(10)[0])
    assert (one.take(10)[0] != other.take(10)[0]).any()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("leaves", "features", "q"), [(50, 5, 0.7), (1, 1, 0.6), (2, 3, 1.0), (400, 2, 0.2)])
def test_random_tree_boxes_are_a_partition(leaves, features, q, seed):
    stream = RandomTree(leaves, features, q, seed=seed)
    assert np.prod(stream.upper - stream.lower, axis=1).sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(stream.leaf_of((stream.lower + stream.upper) / 2), np.arange(leaves))
    # The upper corner belongs to the box, the lower one does not.
    np.testing.assert_array_equal(stream.leaf_of(stream.upper), np.arange(leaves))
    points = np.random.default_rng(seed).random((500, features))
    leaf = stream.leaf_of(points)
    assert ((points > stream.lower[leaf]) & (points <= stream.upper[leaf])).all()
    assert set(stream.probabilities.tolist()) <= {q, 1 - q}


def test_random_tree_draws_every_leaf_equally_often_and_labels_by_its_side():
    stream = RandomTree(leaves=20, seed=4)
    X, y = stream.take(100_000)
    leaf = stream.leaf_of(X)
    for number in range(20):
        assert within((leaf == number).mean(), 1 / 20, len(y))
        here = y[leaf == number]
        assert within(here.mean(), stream.probabilities[number], len(here))
    assert 0 < (stream.probabilities == 0.7).sum() < 20
    assert within((y != (stream.probabilities[leaf] > 0.5)).mean(), stream.bayes_rate, len(y))


def test_random_tree_is_a_tree_of_left_and_right_leaves():
    # With two leaves the left one is below the threshold and has probability q.
    stream = RandomTree(leaves=2, features=1, q=0.9, seed=0)
    assert stream.lower.ravel().tolist() == [0.0, stream.upper[0, 0]]
    assert stream.probabilities == pytest.approx([0.9, 0.1])


def test_random_tree_refuses_what_has_no_place():
    with pytest.raises(ValueError, match="no room for 3000 leaves in 1 features"):
        [RandomTree(leaves=3000, features=1, seed=seed) for seed in range(20)]
    with pytest.raises(ValueError, match=r"5 columns.*\(2, 3\)"):
        RandomTree().leaf_of(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="NaN in row 1"):
        RandomTree(features=1).leaf_of([[0.5], [math.nan]])


def test_sea_follows_its_limits_and_drifts():
    stream = SEA(drift=(20_000, 40_000, 60_000, 80_000), seed=3)
    X, y = stream.take(100_000)
    limits = np.repeat([8, 9, 7, 9.5, 8], 20_000)
    assert within((y != (X[:, 0] + X[:, 1] <= limits)).mean(), stream.bayes_rate, len(y))
    assert X.min() >= 0
    assert 9.99 < X.max() <= 10
    clean = SEA(concepts=(1, 3), drift=(30,), noise=0).take(60)
    np.testing.assert_array_equal(clean[1], clean[0][:, :2].sum(axis=1) <= np.repeat([9, 9.5], 30))
    assert stream.ordered
    assert not SEA().ordered


def test_hyperplane_bayes_rate_and_walk():
    stream = Hyperplane(features=4, drifting=2, change=0.01, noise=0.08, seed=2)
    X, y = stream.take(100_000)
    clean = Hyperplane(features=4, drifting=2, change=0.01, noise=0, seed=2).take(100_000)
    np.testing.assert_array_equal(X, clean[0])
    assert within((y != clean[1]).mean(), stream.bayes_rate, len(y))
    assert within(y.mean(), 0.5, len(y))
    # The first weights label the first rows and no longer the last ones.
    first = ((X - 0.5) @ stream.weights > 0) == clean[1]
    assert first[:20].mean() > 0.9
    assert first[-20_000:].mean() < 0.95


def test_hyperplane_moves_by_a_step_per_row():
    # Never turning round, weight 0 grows by exactly `change` per row, across blocks too.
    stream = Hyperplane(features=2, drifting=1, change=0.25, reverse=0, noise=0, seed=1)
    X, y = stream.take(10_000)
    weights = stream.weights + np.arange(10_000)[:, None] * [0.25, 0]
    np.testing.assert_array_equal(y, ((X - 0.5) * weights).sum(axis=1) > 0)
    # Always turning round, it only steps to and fro.
    shaking = Hyperplane(features=2, drifting=1, change=0.25, reverse=1, noise=0, seed=1)
    X, y = shaking.take(10_000)
    weights = shaking.weights - (np.arange(10_000)[:, None] % 2) * [0.25, 0]
    np.testing.assert_array_equal(y, ((X - 0.5) * weights).sum(axis=1) > 0)


def test_led_bayes_rate_by_simulation():
    digits = np.array([[letter in lit for letter in "abcdefg"] for lit in SEGMENTS])
    stream = LED(noise=0.1, seed=5)
    X, y = stream.take(100_000)
    different = (X[:, None, :7] != digits[None]).sum(axis=2)
    # Fewest differing segments is most likely; ties do not matter to the error rate.
    assert within((y != different.argmin(axis=1)).mean(), stream.bayes_rate, len(y))
    assert stream.bayes_rate == pytest.approx(0.26, abs=0.001)
    assert within((X[:, :7] != digits[y]).mean(), 0.1, X[:, :7].size)
    assert within(X[:, 7:].mean(), 0.5, X[:, 7:].size)
    assert LED(noise=0, irrelevant=0).bayes_rate == pytest.approx(0)
    assert LED(noise=0.5).bayes_rate == pytest.approx(0.9)


def test_led_drift_swaps_segments_with_irrelevant_columns():
    X, y = LED(noise=0, drift=(5000,), swapped=2, seed=1).take(10_000)
    digits = np.array([[letter in lit for letter in "abcdefg"] for lit in SEGMENTS])

    def explained(rows):
        match = [[(X[rows, column] == digits[y[rows], segment]).all() for segment in range(7)] for column in range(24)]
        return np.array(match)

    before, after = explained(slice(0, 5000)), explained(slice(5000, None))
    np.testing.assert_array_equal(np.flatnonzero(before.any(axis=1)), np.arange(7))
    assert after.any(axis=1).sum() == 7
    assert after[:7].any(axis=1).sum() == 5


def test_stagger_concepts():
    X, y = Stagger(drift=(1000, 2000), rows=4000, seed=2).take()
    rows = X.to_pylist()
    for i, row in enumerate(rows):
        concept = min(i // 1000, 2)
        expected = [
            row["size"] == "small" and row["color"] == "red",
            row["color"] == "green" or row["shape"] == "circular",
            row["size"] in {"medium", "large"},
        ]
        assert y[i] == expected[concept]
    assert len({tuple(row.values()) for row in rows}) == 27
    noisy = Stagger(noise=0.3, seed=2).take(50_000)[1]
    assert within((noisy != Stagger(seed=2).take(50_000)[1]).mean(), 0.3, 50_000)


def test_gaussian_pair_bayes_rate_by_simulation():
    stream = GaussianPair(seed=6)
    X, y = stream.take(100_000)
    assert stream.bayes_rate == pytest.approx(0.05, abs=1e-4)
    assert within(((X.sum(axis=1) > 0) != y).mean(), stream.bayes_rate, len(y))
    assert np.linalg.norm(X[y == 1].mean(axis=0)) == pytest.approx(1.645, abs=0.02)
    assert X[y == 0].var(axis=0) == pytest.approx(np.ones(50), abs=0.05)


@pytest.mark.parametrize("address", [1, 2, 3])
def test_multiplexer(address):
    stream = Multiplexer(address=address, noise=0.2, irrelevant=3, seed=1)
    X, y = stream.take(50_000)
    number = np.array([int("".join(str(int(bit)) for bit in row), 2) for row in X[:, :address]])
    assert within((y != X[np.arange(len(y)), address + number]).mean(), stream.bayes_rate, len(y))
    assert X.shape[1] == address + 2**address + 3
    assert set(np.unique(X)) == {0, 1}


def test_noise_has_no_signal():
    stream = Noise(features=3, classes=4, seed=1)
    X, y = stream.take(100_000)
    assert within((y != 0).mean(), stream.bayes_rate, len(y))
    assert stream.bayes_accuracy == 0.25
    for column in X.T:
        assert within((y[column < 0.5] == 2).mean(), 0.25, (column < 0.5).sum())


def test_naive_bayes_draws_by_its_tables():
    tables = {"a": [[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]], "b": [[0.6, 0.4], [0.3, 0.7]]}
    stream = NaiveBayes(tables, prior=[0.7, 0.3], costs={"b": 2}, seed=4)
    X, y = stream.take(60_000)
    assert within((y == 1).mean(), 0.3, len(y))
    for name, table in tables.items():
        column = np.array(X.column(name).to_pylist())
        for label in (0, 1):
            for value, share in enumerate(table[label]):
                assert within((column[y == label] == f"v{value}").mean(), share, (y == label).sum())
    both = np.array(X.column("a").to_pylist())[y == 0] == "v0", np.array(X.column("b").to_pylist())[y == 0] == "v0"
    assert within((both[0] & both[1]).mean(), 0.9 * 0.6, (y == 0).sum())
    best = [max(0.7 * a * b, 0.3 * c * d) for a, c in zip(*tables["a"]) for b, d in zip(*tables["b"])]  # noqa: B905
    assert stream.bayes_rate == pytest.approx(1 - sum(best))
    assert stream.costs == {"a": 1, "b": 2}
    assert stream.nominal == ("a", "b")


def test_naive_bayes_draws_its_tables_with_the_seed():
    one, again, other = (NaiveBayes(features=3, values=4, classes=5, seed=seed) for seed in (1, 1, 2))
    assert [table.shape for table in one.theta] == [(5, 4)] * 3
    assert all((a == b).all() for a, b in zip(one.theta, again.theta, strict=True))
    assert (one.theta[0] != other.theta[0]).all()
    assert all(np.allclose(table.sum(axis=1), 1) for table in one.theta)
    assert NaiveBayes(features=30).bayes_rate is None
    assert NaiveBayes([[[1.0, 0.0], [0.0, 1.0]]], seed=1).with_seed(2).bayes_rate == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NaiveBayes([]), "tables is empty"),
        (lambda: NaiveBayes([[0.5, 0.5]]), "the table of 'x0' is .*; give a row per class"),
        (lambda: NaiveBayes({"a": [[0.5, 0.6]]}), "the table of 'a' sums to 1.1; make it 1"),
        (lambda: NaiveBayes({"a": [[1.5, -0.5]]}), "the table of 'a' is"),
        (lambda: NaiveBayes({"a": [["much"]]}), "the table of 'a' is"),
        (lambda: NaiveBayes({"a": [[1], [1]], "b": [[1]]}), "'b' has rows for 1 classes, that of 'a' for 2"),
        (lambda: NaiveBayes(prior=[0.5]), "prior is .*; give a probability for each of the 2 classes"),
        (lambda: NaiveBayes(prior=[0.5, 0.6]), "prior sums to 1.1"),
        (lambda: NaiveBayes(costs={"mri": 1}), "costs names 'mri', which is no feature"),
        (lambda: NaiveBayes(costs={"x0": -1}), r"costs\['x0'\] is -1; give a number of at least 0"),
        (lambda: NaiveBayes(values=1), "values must be a whole number of at least 2"),
        (lambda: RandomTree(leaves=0), "leaves must be a whole number of at least 1, not 0"),
        (lambda: RandomTree(q=1.5), "q must be a number from 0 to 1, not 1.5"),
        (lambda: RandomTree(rows=2.5), "rows must be a whole number of at least 1, not 2.5"),
        (lambda: RandomTree(seed=-1), "seed must be a whole number of at least 0, not -1"),
        (lambda: SEA(concepts=(4,)), "concepts must be numbers from 0 to 3"),
        (lambda: SEA(concepts=()), "concepts must be numbers from 0 to 3"),
        (lambda: SEA(drift=(5, 5)), "drift must be rising"),
        (lambda: SEA(drift=7), r"drift must be a sequence of row numbers such as \(1000, 2000\), not 7"),
        (lambda: SEA(noise="a"), "noise must be a number from 0 to 1, not 'a'"),
        (lambda: Hyperplane(features=2, drifting=3), "drifting must be at most the number of features, 2"),
        (lambda: LED(irrelevant=1, drift=(10,)), "swapped=3 segments cannot change places with 1 irrelevant"),
        (lambda: GaussianPair(norm=-1), "norm must be a number of at least 0"),
        (lambda: Multiplexer(address=11), "address must be at most 10"),
        (lambda: Noise().chunks(0), "size must be a whole number of at least 1"),
        (lambda: Noise().chunks(rows=0), "rows must be a whole number of at least 1"),
        (lambda: Noise().take(), "endless; say how many rows"),
        (lambda: Noise().shuffled(), "endless and cannot be shuffled"),
    ],
)
def test_bad_arguments_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_shuffled_holds_the_same_rows_in_another_order():
    stream = SEA(rows=3000, drift=(1000,))
    X, y = stream.take()
    shuffled = stream.shuffled(seed=3)
    A, b = shuffled.take()
    assert (A != X).any()
    pairs, again = (
        {(*row, label) for row, label in zip(rows, labels, strict=True)} for rows, labels in ((X, y), (A, b))
    )
    assert pairs == again
    assert not shuffled.ordered
    # Who does not know the time of a row cannot reach the rate of who does.
    assert shuffled.bayes_rate is None
    assert Noise(rows=100).shuffled().bayes_rate == 0.5
    np.testing.assert_array_equal(stream.shuffled(seed=3).take()[0], A)
    assert (stream.shuffled(seed=4).take()[0] != A).any()


def test_importing_streams_imports_nothing_heavy():
    code = (
        "import sys, quercus.streams as s; s.RandomTree().take(10); s.as_stream;"
        "print([m for m in ('numba', 'sklearn', 'pandas', 'pyarrow', 'scipy', 'narwhals') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_public_name_is_there():
    from quercus import streams

    for name in streams.__all__:
        assert getattr(streams, name) is not None
    assert dir(streams) == sorted(streams.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = streams.nothing
