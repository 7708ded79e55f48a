"""Files of fits under way: what would let kernels leave their arrays is refused, whatever the checksum says."""

import copy
from dataclasses import replace

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.boosting.layout import FITTING, IDLE, LEAF, NEXT, PARTITION, SCORE, SUM, VOTING
from quercus.learners.evergreen.boosting.state import entries_for
from quercus.learners.evergreen.boosting.trees import BoostedTreesState, GrownTreesState, RandomizedTreesState
from quercus.state import StateError
from quercus.store import ModelFileError, files, read_model

NEW = {FITTING: "candidate", VOTING: "new_voters"}


def rows(n, start=0):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(start + n, 9))
    X[:, 1] = draw.integers(0, 40, start + n)
    return X[start:], (X[start:, 0] > 0) + (X[start:, 1] > 20) * 1


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return, by kind and phase, what the file of a fit with nodes that wait holds."""
    X, y = rows(3_500)
    model = qc.EvergreenBoost(rounds=42, depth=6, randomized=60, nominal=[1], adaptive=False)
    model.partial_fit(X[:1_500], y[:1_500])
    found = {}
    for i in range(1_500, 3_500):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        boost = model._state.boost
        kind, new = int(boost.options["stage"][0]), boost.new_voters.trees + boost.candidate.trees
        phase, waiting = (int(boost.fit.head[name][0]) for name in ("phase", "waiting")) if kind else (0, 0)
        if kind and new > 1 and (kind, phase) not in found and (waiting > 0 or phase == SCORE):
            path = tmp_path_factory.mktemp("kept") / "model"
            model.save(path)
            found[kind, phase] = read_model(path)
    return found


def load(monkeypatch, model):
    with monkeypatch.context() as patch:
        patch.setattr(files, "read_model", lambda _: model)
        return qc.load("model")


def changed(model, name, **values):
    array = model.arrays[f"boost/{name}"].copy()
    for column, value in values.items():
        array[column][: len(np.atleast_1d(value))] = value
    return with_arrays(model, {name: array})


def with_arrays(model, arrays, **sizes):
    arrays = {f"boost/{name}": array for name, array in arrays.items()}
    sizes = {f"boost/{name.replace('__', '/')}": size for name, size in sizes.items()}
    return replace(model, arrays=model.arrays | arrays, extra=model.extra | {"sizes": model.extra["sizes"] | sizes})


def with_part(model, other, part):
    """Return a file with all of a part of another one."""
    taken = {name: array for name, array in other.arrays.items() if name.startswith(f"boost/{part}/")}
    sizes = {name: size for name, size in other.extra["sizes"].items() if name.startswith(f"boost/{part}/")}
    return replace(model, arrays=model.arrays | taken, extra=model.extra | {"sizes": model.extra["sizes"] | sizes})


def check_refused(monkeypatch, model):
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(monkeypatch, model)


@pytest.mark.parametrize("kind", [FITTING, VOTING])
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
        (SUM, {"depth": 12 + 28}),
        (SCORE, {"position": 7, "sampled": 900}),
        (SCORE, {"waiting": 1}),
    ],
)
def test_a_fit_that_is_nowhere_is_refused(monkeypatch, kept, kind, phase, values):
    file = kept[kind, phase]
    if values == {"depth": 40} and kind == VOTING:
        values = {"depth": 12}
    load(monkeypatch, file).partial_fit(*rows(50, start=3_500))
    check_refused(monkeypatch, changed(file, "fit/head", **values))


@pytest.mark.parametrize("kind", [FITTING, VOTING])
@pytest.mark.parametrize("dim", ["node", "leaf", "set", "tree"])
def test_a_fit_that_has_less_room_than_it_needs_ends_early_or_is_refused(monkeypatch, kept, dim, kind):
    file, new = kept[kind, SUM], NEW[kind]
    extra = copy.deepcopy(file.extra)
    used = {"node": "nodes", "leaf": "leaves", "set": "sets", "tree": "trees"}[dim]
    extra["sizes"][f"boost/{new}/{dim}"] = int(file.arrays[f"boost/{new}/head"][used][0])
    try:
        model = load(monkeypatch, replace(file, extra=extra))
    except ModelFileError:
        assert dim in ("leaf", "tree")
        return
    X, y = rows(200, start=3_500)
    for start in range(0, 200, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    boost = model._state.boost
    boost.check()
    for trees in (boost.trees, boost.voters, boost.candidate, boost.new_voters):
        trees.check()
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", [FITTING, VOTING])
@pytest.mark.parametrize(
    ("name", "values"),
    [("fit/stack", {"level": 0}), ("fit/features", {"high": 255}), ("fit/features", {"kind": [1, 0]})],
)
def test_a_fit_whose_parts_do_not_fit_is_refused(monkeypatch, kept, name, values, kind):
    if "level" in values:
        values = {"level": np.zeros(len(kept[kind, SUM].arrays["boost/fit/stack"]), int)}
    with pytest.raises(ModelFileError):
        load(monkeypatch, changed(kept[kind, SUM], name, **values))


@pytest.mark.parametrize("kind", [FITTING, VOTING])
@pytest.mark.parametrize("name", ["lefts", "totals", "bins"])
def test_sums_of_hessians_below_zero_are_refused(monkeypatch, kept, name, kind):
    array = np.full_like(kept[kind, SUM].arrays[f"boost/fit/{name}"], -1.0)
    check_refused(monkeypatch, with_arrays(kept[kind, SUM], {f"fit/{name}": array}))


@pytest.mark.parametrize("kind", [FITTING, VOTING])
def test_a_fit_of_the_other_kind_or_of_none_is_refused(monkeypatch, kept, kind):
    for stage in {IDLE, FITTING, VOTING} - {kind}:
        check_refused(monkeypatch, changed(kept[kind, NEXT], "options", stage=stage))
    other = kept[FITTING + VOTING - kind, NEXT]
    check_refused(monkeypatch, with_part(kept[kind, NEXT], other, "fit"))
    check_refused(monkeypatch, with_part(kept[kind, NEXT], other, NEW[kind]))
    check_refused(monkeypatch, with_part(kept[kind, NEXT], other, NEW[FITTING + VOTING - kind]))


@pytest.mark.parametrize(("kind", "depth", "fits"), [(FITTING, 40, False), (FITTING, 13, False), (VOTING, 12, True)])
def test_boosted_trees_do_not_get_deeper_than_twelve_and_the_stack_is_as_long_as_they_need(
    monkeypatch, kept, kind, depth, fits
):
    file = changed(kept[kind, NEXT], "fit/head", depth=depth)
    check_refused(monkeypatch, file)
    stack = np.zeros(entries_for(depth), file.arrays["boost/fit/stack"].dtype)
    both = min(len(stack), len(file.arrays["boost/fit/stack"]))
    stack[:both] = file.arrays["boost/fit/stack"][:both]
    file = with_arrays(file, {"fit/stack": stack}, fit__entry=len(stack))
    if fits:
        load(monkeypatch, file).partial_fit(*rows(200, start=3_500))
    else:
        check_refused(monkeypatch, file)


@pytest.mark.parametrize("part", ["voters", "new_voters"])
def test_votes_of_other_classes_or_of_nobody_are_refused(monkeypatch, kept, part):
    file = kept[VOTING, NEXT]
    counts, shares = (file.arrays[f"boost/{part}/{name}"] for name in ("counts", "shares"))
    assert counts.shape[1] == len(shares) == 3
    # Fewer classes are those of a fit before the last one came, but of a fit under way there are as many.
    for classes in ([0, 1], [0, 1, 2, 2])[part == "voters" :]:
        arrays = {f"{part}/counts": counts[:, classes].copy(), f"{part}/shares": shares[classes].copy()}
        check_refused(monkeypatch, with_arrays(file, arrays, **{f"{part}__output": len(classes)}))
    for odd in ({f"{part}/shares": shares[:2].copy()}, {f"{part}/counts": -counts - 1}, {f"{part}/shares": shares + 1}):
        with pytest.raises(ModelFileError):
            load(monkeypatch, with_arrays(file, odd))
    used = int(file.arrays[f"boost/{part}/head"]["nodes"][0])
    nodes = file.arrays[f"boost/{part}/nodes"][:used]
    leaves = np.where(nodes["left"] > 0, nodes["leaf"], -1)
    check_refused(monkeypatch, changed(file, f"{part}/nodes", leaf=leaves))


def chain(kind: type[GrownTreesState], depth):
    """Return one tree in which each node has a leaf on its left."""
    trees = kind.of(outputs=2, node=2 * depth + 1, tree=1, leaf=depth + 1)
    trees.head["nodes"], trees.head["trees"], trees.head["leaves"] = 2 * depth + 1, 1, depth + 1
    inner = np.r_[0, 2 * np.arange(1, depth)]
    trees.nodes["left"][inner], trees.nodes["feature"][inner] = inner + np.r_[1, np.ones(depth - 1, int)], 0
    trees.nodes["leaf"][np.flatnonzero(trees.nodes["left"] == 0)] = np.arange(depth + 1)
    return trees


def test_no_boosted_tree_of_a_file_is_deeper_than_an_explanation_has_room_for():
    chain(BoostedTreesState, 12).check()
    chain(RandomizedTreesState, 40).check()
    with pytest.raises(StateError, match="boosted trees"):
        chain(BoostedTreesState, 13).check()
