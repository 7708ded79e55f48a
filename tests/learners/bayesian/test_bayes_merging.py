"""Merged forests: they answer as the mean of all trees, whatever each part called its columns, and go on like any."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import quercus as qc
from quercus.learners.bayesian import BayesianForest, BayesianTree
from quercus.learners.bayesian.growth import add_values

JOBS = ("clerk", "smith", "nurse")
KINDS = {
    "all": {},
    "wide": {"block": 4},
    "subset": {"subset": 3},
    "projection": {"projection": 3},
    "forget": {"forget": 1e-3, "bagging": 0.2},
    "raw": {"scaling": None},
}

QUARTERS = st.integers(-(10**6), 10**6).map(lambda number: number / 4) | st.integers(-4, 4).map(float)


def merge(*forests):
    return BayesianForest.merge(forests)


def make_rows(seed, count=250, width=(3.0, 4.0), start=(-1.0, 2.0), jobs=JOBS, classes=("no", "yes"), missing=0.0):
    """Return dicts in an order of columns of their own, and labels that depend on all of them."""
    draw = np.random.default_rng(seed)
    names = [str(name) for name in draw.permutation(["size", "age", "job", "share"])]
    rows, labels = [], []
    for number in range(count):
        part = draw.random(3)
        job = str(draw.choice(jobs))
        row = {
            "size": start[0] + width[0] * part[0],
            "age": start[1] + width[1] * part[1],
            "share": part[2] - 0.5,
            "job": job,
        }
        labels.append(classes[int(part.sum() + 0.5 * jobs.index(job) + 0.2 * draw.standard_normal() > 1.9)])
        if number % 11 == 0:
            labels[-1] = classes[-1]
        row |= {name: None for name in names if draw.random() < missing}
        rows.append({name: row[name] for name in names})
    return rows, labels


def learned(seed, dtype="float64", trees=2, depth=3, kind="all", data=None, **changes):
    rows, labels = data or make_rows(seed)
    arguments = {"trees": trees, "depth": depth, "dtype": dtype, "skip": 0.0, "seed": seed} | KINDS[kind] | changes
    return BayesianForest(**arguments).partial_fit(rows, labels)


def mean_over_trees(forests, rows):
    return np.average([f.predict_proba(rows) for f in forests], axis=0, weights=[f.trees for f in forests])


def two_ranges(kind="all", dtype="float64", missing=0.0):
    """Return forests whose columns, categories and classes come in another order and range, and rows inside of both."""
    first = make_rows(1, jobs=JOBS, missing=missing)
    other = (4.5, 6.0), (-2.0, 1.0)
    second = make_rows(4, 300, *other, jobs=JOBS[::-1], classes=("yes", "no"), missing=missing)
    forests = [learned(1, dtype, kind=kind, data=first), learned(2, dtype, 3, 2, kind, data=second)]
    assert list(first[0][0]) != list(second[0][0])
    inside = make_rows(3, 100, (2.8, 3.5), (-0.9, 2.3))[0]
    for row in inside:
        row["share"] *= 0.9
    return forests, inside


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_the_mean_over_all_trees(kind, dtype):
    forests, inside = two_ranges(kind, dtype)
    before = [forest.state_arrays() for forest in forests]
    merged = merge(*forests)
    assert merged.trees == 5
    assert merged.max_bytes == 2 * forests[0].max_bytes
    assert (merged.depth, merged.get_params()["trees"]) == ((2, 3), 5)
    off = 1e-9 if dtype == "float64" else 1e-4
    for inference in ("full", "path"):
        for forest in (merged, *forests):
            forest.set_params(inference=inference)
        expected = mean_over_trees(forests, inside)
        np.testing.assert_allclose(merged.predict_proba(inside), expected, rtol=0, atol=off)
        assert expected.std() > 0.1
    for forest, arrays in zip(forests, before, strict=True):
        for name, array in forest.state_arrays().items():
            assert array.tobytes() == arrays[name].tobytes()


def test_wide_forests_with_changes_that_wait():
    draw = np.random.default_rng(1)
    X = draw.random((300, 70)) * np.linspace(1.5, 3.0, 70)
    y = (X[:, :35].sum(axis=1) > X[:, 35:].sum(axis=1) * 0.8).astype(int)
    forests = [learned(k, trees=2, depth=2, data=(X[k::2], y[k::2]), block=b) for k, b in ((0, 16), (1, 7))]
    inside = np.clip(X, *(end(X[0::2]) for end in (lambda x: x.min(axis=0), lambda x: x.max(axis=0))))
    inside = np.clip(inside, X[1::2].min(axis=0), X[1::2].max(axis=0))
    merged = merge(*forests)
    np.testing.assert_allclose(merged.predict_proba(inside), mean_over_trees(forests, inside), rtol=0, atol=1e-9)
    merged.partial_fit(X, y)
    assert merged.score(X, y) > 0.85


@pytest.mark.parametrize("kind", ["all", "subset", "projection"])
def test_missing_values_are_filled_by_what_all_have_seen(kind):
    forests, inside = two_ranges(kind, missing=0.1)
    draw = np.random.default_rng(5)
    holes = [{name: value if draw.random() < 0.7 else None for name, value in row.items()} for row in inside]
    merged = merge(*forests)
    # The parts, told in their own scale and order what all have seen, have to answer as the merged trees do.
    every = [in_values(forest) for forest in forests]
    for forest in forests:
        tell_pooled(forest, every)
    np.testing.assert_allclose(merged.predict_proba(holes), mean_over_trees(forests, holes), rtol=0, atol=1e-9)


def tell_pooled(forest, every):
    """Set the running figures of every column to those of all forests together, computed from values, not from z."""
    arrays, schema = forest._state, forest.schema_
    for c in range(1, arrays.n_columns):
        j, category = int(arrays.columns["feature"][c]), int(arrays.columns["category"][c])
        feature = arrays.features[j]
        if category >= 0:
            key = schema.names[j], schema.categories[j][category]
            arrays.columns["weight"][c] = sum(figures[key][0] for figures in every)
            continue
        weights, means, variances = np.transpose([figures[schema.names[j], None] for figures in every])
        mean = np.average(means, weights=weights)
        spread = np.average(variances + (means - mean) ** 2, weights=weights)
        half, low = scale_of(feature)
        arrays.columns["weight"][c] = weights.sum()
        arrays.columns["mean"][c] = (mean - low) / half
        arrays.columns["squares"][c] = weights.sum() * spread / half**2
    for j, name in enumerate(schema.names):
        arrays.features["weight"][j] = sum(figures[name] for figures in every)


def in_values(forest):
    """Return weight, mean and variance by column, in the units of the values, and the weights of the features."""
    arrays, schema = forest._state, forest.schema_
    figures = {name: float(arrays.features["weight"][j]) for j, name in enumerate(schema.names)}
    for column in arrays.columns[1 : arrays.n_columns]:
        j, category = int(column["feature"]), int(column["category"])
        half, low = scale_of(arrays.features[j])
        moments = (column["weight"], column["mean"] * half + low, column["squares"] / column["weight"] * half**2)
        figures[schema.names[j], None if category < 0 else schema.categories[j][category]] = moments
    return figures


def scale_of(feature):
    """Return a and b with x = a z + b."""
    low, high = float(feature["low"]), float(feature["high"])
    if low >= -1 and high <= 1:
        return 1.0, 0.0
    return (high - low) / 2, (high + low) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_one_forest_answers_as_before(kind):
    forest = learned(1, kind=kind, data=make_rows(1, missing=0.1))
    rows = make_rows(9, 100, missing=0.2)[0]
    merged = merge(forest)
    np.testing.assert_allclose(merged.predict_proba(rows), forest.predict_proba(rows), rtol=0, atol=1e-12)
    assert merged.online_loss_ == forest.online_loss_
    more = make_rows(6)
    for model in (forest, merged):
        model.partial_fit(*more)
    np.testing.assert_allclose(merged.predict_proba(rows), forest.predict_proba(rows), rtol=0, atol=1e-7)


@pytest.mark.parametrize("kind", ["all", "subset", "projection"])
def test_classes_and_categories_of_one_part_come_to_the_other_as_late_ones(kind):
    forests = [
        learned(1, kind=kind, data=make_rows(1, jobs=JOBS[:2])),
        learned(2, kind=kind, data=make_rows(1, jobs=(*JOBS[1:], "pilot"), classes=("maybe", "yes"))),
    ]
    merged = merge(*forests)
    assert merged.classes_.tolist() == ["maybe", "no", "yes"]
    assert set(merged.schema_.categories[merged.schema_.names.index("job")]) == {*JOBS, "pilot"}
    for forest in forests:
        let_arrive(forest, merged)
    rows = make_rows(1, jobs=(*JOBS, "pilot"))[0]
    proba = merged.predict_proba(rows)
    np.testing.assert_allclose(proba, mean_over_trees(forests, rows), rtol=0, atol=1e-9)
    assert (proba.min(axis=0) > 0).all()


def let_arrive(forest, merged):
    """Let all come to a forest that a merged one knows, as a stream would bring it, in the order of that one."""
    schema, wanted = forest.schema_, merged.schema_
    brought = wanted.categories[wanted.names.index("job")]
    schema.commit(schema.read([{"job": job} for job in brought], learn=True))
    schema.commit(schema.read_labels(wanted.labels))
    row = np.full(len(schema.names), np.nan)
    row[schema.names.index("job")] = len(brought) - 1
    nominal = [kind == "nominal" for kind in schema.kinds]
    add_values(forest._state, row, len(wanted.labels) - 1, nominal)
    forest._record_schema()


def test_diagonal_keeps_the_paths_and_comes_near_in_probability():
    forests = [
        learned(1, covariance="diagonal", data=make_rows(1)),
        learned(2, covariance="diagonal", data=make_rows(2, 250, (3.3, 4.4), (-1.2, 1.8))),
    ]
    inside = make_rows(3, 100, (2.8, 3.5), (-0.9, 2.3))[0]
    merged = merge(*forests)
    np.testing.assert_allclose(merged.predict_proba(inside), mean_over_trees(forests, inside), rtol=0, atol=0.1)
    for forest in (merged, *forests):
        forest.set_params(inference="path")
    np.testing.assert_allclose(merged.predict_proba(inside), mean_over_trees(forests, inside), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_goes_on_like_any_forest(kind, tmp_path):
    forests, inside = two_ranges(kind)
    merged = merge(*forests, BayesianTree(**tree_arguments(kind)).partial_fit(*make_rows(8)))
    assert merged.trees == 6
    merged.save(tmp_path / "merged.quercus")
    loaded = qc.load(tmp_path / "merged.quercus")
    assert isinstance(loaded, BayesianForest)
    new = make_rows(7, 120, jobs=(*JOBS, "pilot"), classes=("no", "maybe"))
    for model in (merged, loaded):
        model.partial_fit(*new)
    for name, array in merged.state_arrays().items():
        assert array.tobytes() == loaded.state_arrays()[name].tobytes()
    assert merged.classes_.tolist() == ["maybe", "no", "yes"]
    arrays = merged._state
    for node, picks, chosen in zip(arrays.nodes, arrays.picks, arrays.chosen, strict=False):
        seen = set(arrays.columns["feature"][picks[: node["size"]]].tolist())
        assert seen == {-1, *np.flatnonzero(chosen).tolist()}
    frozen = merged.freeze()
    path = copy.deepcopy(merged).set_params(inference="path")
    np.testing.assert_array_equal(frozen.predict_proba(inside), path.predict_proba(inside))
    assert merged.explain_one(inside[0]).prediction == merged.predict_one(inside[0])
    assert merged.uncertainty(inside).epistemic.min() >= 0
    assert clone(merged).fit(*new).trees == 6
    assert merge(merged, learned(11, kind=kind)).trees == 8


def tree_arguments(kind):
    return {"depth": 2, "dtype": "float64", "skip": 0.0, "seed": 8} | KINDS[kind]


def test_counts_and_losses_add_up():
    forests, _ = two_ranges(missing=0.2)
    merged = merge(*forests)
    sums = {name: sum(float(f._state.options[name][0]) for f in forests) for name in ("loss", "weight")}
    assert merged.online_loss_ == pytest.approx(sums["loss"] / sums["weight"], rel=1e-12)
    job = [f.schema_.names.index("job") for f in (*forests, merged)]
    weights = [float(f._state.features["weight"][j]) for f, j in zip((*forests, merged), job, strict=True)]
    assert weights[2] == weights[0] + weights[1]


@pytest.mark.parametrize("sight", [{}, {"subset": 2}, {"projection": 2}])
def test_open_forests_join_their_features(sight):
    left = BayesianForest(trees=2, depth=2, dtype="float64", skip=0.0, features="open", seed=1, **sight)
    right = clone(left).set_params(seed=2)
    rows, labels = make_rows(1)
    left.partial_fit([{k: v for k, v in row.items() if k != "age"} for row in rows], labels)
    right.partial_fit([{k: v for k, v in row.items() if k != "job"} for row in rows], labels)
    merged = merge(left, right)
    assert set(merged.schema_.names) == {"size", "age", "share", "job"}
    assert merged.predict_proba(rows).shape == (len(rows), 2)
    before = merged.score(rows, labels)
    assert merged.partial_fit(rows, labels).score(rows, labels) >= before - 0.02


def test_a_constant_counts_from_the_value_that_was_seen():
    draw = np.random.default_rng(1)
    X = np.column_stack([draw.random(200) - 0.5, np.full(200, 7.0)])
    Z = np.column_stack([draw.random(200) - 0.5, 20 * draw.random(200)])
    forests = [learned(1, data=(X, (X[:, 0] > 0).astype(int))), learned(2, data=(Z, (Z[:, 1] > 9).astype(int)))]
    X[:, 0] = np.clip(X[:, 0], Z[:, 0].min(), Z[:, 0].max())
    merged = merge(*forests)
    np.testing.assert_allclose(merged.predict_proba(X), mean_over_trees(forests, X), rtol=0, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(QUARTERS, min_size=2, max_size=6),
    st.lists(QUARTERS, min_size=2, max_size=6),
    st.sampled_from([{}, {"subset": 1}, {"projection": 2}]),
)
def test_any_ranges_give_a_forest_that_works(left, right, sight):
    """Whatever the ranges: answers are probabilities, and the arrays fit together, also after learning on."""
    forests = []
    for seed, values in enumerate((left, right)):
        X = [[value, -value / 3, 1.0] for value in values]
        forest = BayesianForest(trees=1, depth=2, seed=seed, **sight)
        forests.append(forest.partial_fit(X, [k % 2 for k in range(len(values))]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        merged = merge(*forests)
    rows = [[value, value, value] for value in left + right]
    for _ in range(2):
        proba = merged.predict_proba(rows)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
        merged.partial_fit(rows, [k % 2 for k in range(len(rows))])


def test_ranges_far_apart_are_told():
    X = np.random.default_rng(1).random((100, 2))
    y = (X[:, 0] > 0.5).astype(int)
    near, far = (BayesianForest(trees=1, depth=2, seed=k) for k in (1, 2))
    near.partial_fit(X * 10, y)
    far.partial_fit(X * [10, 1000], y)
    with pytest.warns(UserWarning, match=r"'x1' in forest 0 cover 1 / 101 of the range in all forests"):
        merge(near, far)
    huge = BayesianForest(trees=1, depth=2).partial_fit(X * [10, 1e200], y)
    with pytest.raises(ValueError, match=r"'x1' in forest 0 .* too little for float32"):
        merge(near, huge)


@pytest.mark.parametrize(
    ("changes", "result"),
    [
        ({"dtype": "float32"}, "dtype is 'float64' in forest 0 and 'float32' in forest 1"),
        ({"covariance": "diagonal"}, "covariance is 'full' in forest 0 and 'diagonal' in forest 1"),
        ({"subset": 2}, "what a node sees is 'all features' in forest 0 and 'a subset' in forest 1"),
        ({"scaling": None}, "scaling is 'auto' in forest 0 and None in forest 1"),
        ({"forget": 0.01}, "forget is 0.0 in forest 0 and 0.01 in forest 1"),
        ({"bagging": 0.5}, "bagging is 0.0 in forest 0 and 0.5 in forest 1"),
        ({"skip": 0.01}, "skip is 0.0 in forest 0 and 0.01 in forest 1"),
        ({"features": "open"}, "features is 'closed' in forest 0 and 'open' in forest 1"),
        ({"loss": {"no": {"yes": 2.0}}}, "loss is None in forest 0"),
        ({"nominal": ["job"]}, r"nominal is \[\] in forest 0 and \['job'\] in forest 1"),
    ],
)
def test_other_settings_are_refused(changes, result):
    with pytest.raises(ValueError, match=result):
        merge(learned(1, trees=1), learned(2, trees=1, **changes))


def test_what_cannot_be_merged_is_refused():
    rows, labels = make_rows(1, 40)
    forest = learned(1, trees=1, data=(rows, labels))
    with pytest.raises(ValueError, match="no forest to merge"):
        merge()
    with pytest.raises(TypeError, match="takes a list of forests, not a BayesianForest"):
        BayesianForest.merge(forest)
    with pytest.raises(TypeError, match="forest 1 is a HoeffdingTree"):
        merge(forest, qc.HoeffdingTree())
    with pytest.raises(TypeError, match="forest 1 is a FrozenForest"):
        merge(forest, forest.freeze())
    with pytest.raises(NotFittedError, match="forest 1 has learned nothing"):
        merge(forest, clone(forest))
    with pytest.raises(ValueError, match="forest 1 is there twice"):
        merge(forest, forest)
    numbered = learned(2, trees=1, data=(rows, [label == "yes" for label in labels]))
    with pytest.raises(ValueError, match="the type of the labels is 'str' in forest 0 and 'bool' in forest 1"):
        merge(forest, numbered)
    fewer = [{"size": row["size"], "years": row["age"], "job": row["job"], "share": row["share"]} for row in rows]
    with pytest.raises(ValueError, match="forest 1 has other features than forest 0: without 'age' and with 'years'"):
        merge(forest, learned(2, trees=1, data=(fewer, labels)))
    texts = [{**row, "age": "old"} for row in rows]
    with pytest.raises(ValueError, match="column 'age' is numeric in the forests before and nominal in forest 1"):
        merge(forest, learned(2, trees=1, data=(texts, labels)))
    with pytest.raises(ValueError, match="number of projected dimensions is 3 in forest 0 and 4 in forest 1"):
        merge(*(learned(k, trees=1, data=(rows, labels), projection=k) for k in (2, 3)))


def test_too_many_categories_for_the_memory_of_all_are_refused():
    rows = [[f"{side}{k}", float(k)] for side in "ab" for k in range(60)]
    forests = []
    for k in (0, 1):
        part = rows[60 * k : 60 * k + 60]
        forest = BayesianForest(trees=1, depth=2, seed=k).partial_fit(part, [i % 2 for i in range(60)])
        forests.append(forest.set_params(max_bytes=forest.nbytes))
    before = forests[0].state_arrays()
    with pytest.raises(MemoryError, match="max_bytes"):
        merge(*forests)
    assert all(array.tobytes() == before[name].tobytes() for name, array in forests[0].state_arrays().items())
