"""Files of fits under way: what would let kernels leave their arrays is refused, whatever the checksum says."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.boosting.layout import LEAF, NEXT, PARTITION, SCORE, SUM
from quercus.learners.evergreen.boosting.state import BoostedTreesState
from quercus.state import StateError
from quercus.store import ModelFileError, files, read_model


def rows(n, start=0):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(start + n, 9))
    X[:, 1] = draw.integers(0, 40, start + n)
    return X[start:], (X[start:, 0] > 0) + (X[start:, 1] > 20) * 1


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return, by phase, what the file of a fit with nodes that wait holds."""
    X, y = rows(3_500)
    model = qc.EvergreenBoost(rounds=42, depth=6, nominal=[1], adaptive=False).partial_fit(X[:1_500], y[:1_500])
    found = {}
    for i in range(1_500, 3_500):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        boost = model._state.boost
        if boost.is_fitting and boost.candidate.trees > 1:
            phase, waiting = (int(boost.fit.head[name][0]) for name in ("phase", "waiting"))
            if phase not in found and (waiting > 0 or phase == SCORE):
                path = tmp_path_factory.mktemp("kept") / "model"
                model.save(path)
                found[phase] = read_model(path)
    return found


def load(monkeypatch, model):
    with monkeypatch.context() as patch:
        patch.setattr(files, "read_model", lambda _: model)
        return qc.load("model")


def changed(model, name, **values):
    array = model.arrays[f"boost/{name}"].copy()
    for column, value in values.items():
        array[column][: len(np.atleast_1d(value))] = value
    return replace(model, arrays=model.arrays | {f"boost/{name}": array})


@pytest.mark.parametrize(
    ("phase", "values"),
    [
        (NEXT, {"waiting": 14}),
        (NEXT, {"rounds": 1}),
        (PARTITION, {"right": 900}),
        (PARTITION, {"left": 0, "position": 0}),
        (LEAF, {"position": 0, "first": 5}),
        (LEAF, {"level": 0}),
        (SUM, {"last": 2, "position": 900}),
        (SCORE, {"position": 7, "sampled": 900}),
        (SCORE, {"waiting": 1}),
    ],
)
def test_a_fit_that_is_nowhere_is_refused(monkeypatch, kept, phase, values):
    load(monkeypatch, kept[phase]).partial_fit(*rows(50, start=3_500))
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(monkeypatch, changed(kept[phase], "fit/head", **values))


@pytest.mark.parametrize("dim", ["node", "leaf", "set", "tree"])
def test_a_fit_that_has_less_room_than_it_needs_ends_early_or_is_refused(monkeypatch, kept, dim):
    extra = copy.deepcopy(kept[SUM].extra)
    used = {"node": "nodes", "leaf": "leaves", "set": "sets", "tree": "trees"}[dim]
    extra["sizes"][f"boost/candidate/{dim}"] = int(kept[SUM].arrays["boost/candidate/head"][used][0])
    try:
        model = load(monkeypatch, replace(kept[SUM], extra=extra))
    except ModelFileError:
        assert dim in ("leaf", "tree")
        return
    X, y = rows(200, start=3_500)
    for start in range(0, 200, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    boost = model._state.boost
    boost.check()
    boost.trees.check()
    boost.candidate.check()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize(
    ("name", "values"),
    [("fit/stack", {"level": 0}), ("fit/features", {"high": 255}), ("fit/features", {"kind": [1, 0]})],
)
def test_a_fit_whose_parts_do_not_fit_is_refused(monkeypatch, kept, name, values):
    if "level" in values:
        values = {"level": np.zeros(len(kept[SUM].arrays["boost/fit/stack"]), int)}
    with pytest.raises(ModelFileError):
        load(monkeypatch, changed(kept[SUM], name, **values))


@pytest.mark.parametrize("name", ["lefts", "totals", "bins"])
def test_sums_of_hessians_below_zero_are_refused(monkeypatch, kept, name):
    array = np.full_like(kept[SUM].arrays[f"boost/fit/{name}"], -1.0)
    damaged = replace(kept[SUM], arrays=kept[SUM].arrays | {f"boost/fit/{name}": array})
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(monkeypatch, damaged)


def chain(depth):
    """Return one tree in which each node has a leaf on its left."""
    trees = BoostedTreesState.of(outputs=1, node=2 * depth + 1, tree=1, leaf=depth + 1)
    trees.head["nodes"], trees.head["trees"], trees.head["leaves"] = 2 * depth + 1, 1, depth + 1
    inner = np.r_[0, 2 * np.arange(1, depth)]
    trees.nodes["left"][inner], trees.nodes["feature"][inner] = inner + np.r_[1, np.ones(depth - 1, int)], 0
    trees.nodes["leaf"][np.flatnonzero(trees.nodes["left"] == 0)] = np.arange(depth + 1)
    return trees


def test_no_boosted_tree_of_a_file_is_deeper_than_an_explanation_has_room_for():
    chain(12).check()
    with pytest.raises(StateError, match="boosted trees"):
        chain(13).check()
