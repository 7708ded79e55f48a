"""Boosted trees beside the evergreen tree: against the plain ones of the page, fit by fit and row by row."""

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.boosting.layout import FITTING, IDLE, VOTING
from tests.learners.evergreen.boost_following import KINDS, Follower, make_stream, run

WIDE = ("number", "few", "category") * 12
STREAMS = {
    "numbers": (("number", "few", "heavy"), 3),
    "categories": (("category", "categories"), 2),
    "mixed, two classes": (KINDS, 2),
    "mixed, seven classes": (KINDS, 7),
    "more features than are looked at": (WIDE, 3),
}


ALONE = ("categories", "mixed, two classes")


@pytest.mark.parametrize(
    ("stream", "randomized"), [*((stream, 3) for stream in STREAMS), *((stream, 0) for stream in ALONE)]
)
def test_fits_answers_and_weights_are_those_of_the_plain_one(stream, randomized):
    kinds, classes = STREAMS[stream]
    X, y = make_stream(kinds, 265 if len(kinds) < 5 else 140, classes)
    run(Follower(kinds, rounds=9, randomized=randomized), X, y)


@pytest.mark.parametrize("classes", [2, 3])
def test_odd_weights_and_rows_without_weight(classes):
    X, y = make_stream(KINDS, 265, classes, seed=3)
    weights = np.random.default_rng(1).choice([0.0, 1e-7, 1e-3, 0.37, 1.0, 1.3, 40.0, 1e4], len(y))
    weights[:classes] = 1.0
    run(Follower(KINDS, rounds=9, randomized=3), X, y, weights)


@pytest.mark.parametrize(("depth", "rate", "rounds"), [(1, 0.3, 42), (8, 0.3, 5), (12, 1.0, 4), (3, 0.02, 19)])
def test_depth_rate_and_rounds(depth, rate, rounds):
    X, y = make_stream(KINDS, 260, 3, seed=depth)
    run(Follower(KINDS, depth=depth, rate=rate, rounds=rounds, randomized=depth % 4, seed=11), X, y)


def test_constant_columns_and_columns_without_values():
    X, y = make_stream((*KINDS, "number", "number"), 240, 3, seed=4)
    X[:, 1], X[:, 2], X[:, 4] = 2.0, 3.0, np.nan
    X[:100, 5] = np.nan
    run(Follower((*KINDS, "number", "number"), rounds=6, randomized=3), X, y)


def test_the_number_of_rounds_follows_the_losses():
    X, y = make_stream(("number", "few"), 330, 2, seed=5, noise=0.8)
    follower = Follower(("number", "few"), rate=0.5, depth=4, randomized=0)
    run(follower, X[:180], y[:180])
    assert follower.plain.j == 6
    X, y = make_stream(("number", "few"), 200, 2, seed=5, noise=0.0)
    follower = Follower(("number", "few"), rate=0.01, depth=3, rounds=316, randomized=0)
    run(follower, X[:130], y[:130])
    assert follower.plain.j > 9


def test_classes_that_come_late():
    X, y = make_stream(KINDS, 420, 6, seed=6)
    firsts = {2: 32, 3: 45, 4: 250, 5: 400}
    for late, first in firsts.items():
        y[:first][y[:first] >= late] = 1
    y[[0, *firsts.values()]] = [0, *firsts]
    follower = Follower(KINDS, rounds=6, randomized=3)
    apart = set()
    for row, label in zip(X, y.tolist(), strict=True):
        follower.learn(row, label)
        boosted, votes = follower.plain.boosted.now, follower.plain.randomized.now
        if votes is not None:
            apart.add(votes.rows.K - boosted.rows.K)
    follower.check_trees()
    # Some came between the beginnings of both fits, and some between the others'.
    assert min(apart) < 0 < max(apart)


def test_one_class_alone_has_no_trees():
    X, _ = make_stream(KINDS, 150, 2)
    follower = Follower(KINDS, rounds=4, randomized=2)
    y = (np.arange(150) >= 70).astype(int)
    for row, label in zip(X, y.tolist(), strict=True):
        follower.learn(row, label)
    assert follower.fits[FITTING][0] == follower.fits[VOTING][0] == 32
    follower.check_trees()


def test_fits_begin_after_so_many_rows():
    X, y = make_stream(("few",), 500, 2)
    follower = Follower(("few",), rounds=4, randomized=0, adaptive=False)
    run(follower, X, y)
    # 32, and .4 of it; 44, and .4 of it ...
    assert follower.fits[FITTING] == [32, 44, 61, 85, 119, 166, 232, 324, 453]
    assert follower.fits[VOTING] == []


def test_a_fit_that_is_due_waits_for_the_other():
    X, y = make_stream(("number", "few"), 300, 2)
    follower = Follower(("number", "few"), rounds=4, randomized=3, adaptive=False)
    plain = follower.plain
    for row, label in zip(X, y.tolist(), strict=True):
        follower.learn(row, label)
        boost = follower.state.boost
        if plain.n > 200 and plain.randomized.fit is not None and plain.boosted.next_fit > plain.n + 1:
            # While one is under way both become due.
            boost.options["next_fit"] = boost.votes["next_fit"] = plain.n + 1
            plain.boosted.next_fit = plain.randomized.next_fit = plain.n + 1
            break
    begun, learned = plain.n, len(follower.fits[FITTING])
    for row, label in zip(X[begun:], y[begun:].tolist(), strict=True):
        follower.learn(row, label)
    follower.check_trees()
    first, second = follower.fits[FITTING][learned], follower.fits[VOTING][-1]
    assert begun + 1 < first < second
    assert second < first + first // 16 + 2


@pytest.mark.parametrize(("change", "rows", "given_up"), [(630, 940, FITTING), (590, 730, VOTING)])
def test_fits_begin_anew_after_an_alarm(change, rows, given_up):
    X, y = make_stream(("number", "few"), 1150, 2, seed=6, noise=0.05)
    y[change:] = 1 - y[change:]
    follower = Follower(("number", "few"), rounds=4, randomized=2)
    run(follower, X[:rows], y[:rows])
    assert follower.given_up == [given_up]
    assert set(follower.alarms) <= set(follower.fits[FITTING])
    for alarm in follower.alarms:
        assert any(alarm < begun < alarm + 30 for begun in follower.fits[VOTING])


@pytest.mark.parametrize("randomized", [1, 5])
def test_there_are_as_many_trees_as_there_is_room_for(randomized):
    X, y = make_stream(KINDS, 460, 3)
    follower = Follower(KINDS, rounds=6, randomized=randomized, max_bytes=2**18)
    run(follower, X, y)
    found, voters = follower.found[FITTING], follower.found[VOTING]
    assert found[0] == 6
    assert found[-1] == 0
    assert any(0 < count < 6 for count in found)
    assert voters[0] == randomized >= min(voters) > 0
    assert randomized == 1 or min(voters) < randomized


def test_no_randomized_tree_is_deeper_than_forty():
    X, y = np.tile(np.eye(70), (3, 1)), np.random.default_rng(0).integers(0, 2, 210)
    follower = Follower(("few",) * 70, rounds=4, randomized=2)
    run(follower, X, y)
    assert max(depth_of(tree) for tree in follower.plain.randomized.now.trees) == 40


def depth_of(tree, v=0):
    left = tree[v].left
    return 1 + max(depth_of(tree, left), depth_of(tree, left + 1)) if left else 0


@pytest.mark.parametrize("keep", ["sample", "recent"])
def test_a_fit_has_as_many_rows_as_there_is_room_for(keep):
    X, y = make_stream(KINDS, 5000, 3)
    w = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(y))
    given = {"nominal": [2], "rounds": 4, "randomized": 3, "max_bytes": 2**19, "keep": keep, "adaptive": False}
    model, learned, fewer = qc.EvergreenBoost(**given), 0, {FITTING: 0, VOTING: 0}

    def learn(rows):
        nonlocal learned
        part, learned = slice(learned, learned + rows), learned + rows
        model.partial_fit(X[part], y[part], sample_weight=w[part])

    learn(32)
    while learned < len(X):
        tree, boost, n = model._state.tree, model._state.boost, model._state.tree.n_rows
        nexts = {FITTING: boost.options["next_fit"][0], VOTING: boost.votes["next_fit"][0]}
        wait = min(nexts.values()) - learned
        if boost.is_fitting or wait > 0:
            learn(1 if boost.is_fitting else wait)
            continue
        kind, begun = FITTING if nexts[FITTING] <= learned else VOTING, learned
        codes, rows = tree.codes[:n].copy(), tree.rows[:n].copy()
        learn(1)
        fit = boost.fit
        m = fit.sizes["row"] or n
        fewer[kind] += m < n
        assert boost.options["stage"][0] == (kind if fit.sizes["row"] else IDLE)
        assert (boost.options if kind == FITTING else boost.votes)["next_fit"][0] == begun + max(1, int(0.4 * m))
        assert model.nbytes <= model.max_bytes
        if fit.sizes["row"]:
            chosen = [i * n // m for i in range(m)] if keep == "sample" else list(range(n - m, n))
            np.testing.assert_array_equal(fit.codes, codes[chosen])
            np.testing.assert_array_equal(fit.rows["label"], rows["label"][chosen])
            weights = rows["weight"][chosen].astype(float)
            np.testing.assert_allclose(fit.rows["weight"], weights / weights.mean(), rtol=1e-12)
    assert min(fewer.values()) > 1


def learn_in_parts(rng, boost, X, y, w, most, path=None):
    start, saved = 0, set()
    while start < len(X):
        stop = start + int(rng.integers(1, most + 1))
        boost.partial_fit(X[start:stop], y[start:stop], sample_weight=w[start:stop])
        start = stop
        stage = int(boost._state.boost.options["stage"][0])
        if path is not None and (stage not in saved or rng.random() < (0.03 if most == 1 else 0.2)):
            boost.save(path)
            boost = qc.load(path)
            saved.add(stage)
    assert path is None or most > 100 or saved == {IDLE, FITTING, VOTING}
    return boost


@pytest.mark.parametrize(("most", "saves"), [(1, True), (7, False), (40, True), (400, True)])
def test_the_same_rows_make_the_same_state(most, saves, tmp_path):
    rng = np.random.default_rng(most)
    X, y = make_stream(KINDS, 1200, 3, seed=2)
    y[700:] = (y[700:] + 1) % 3
    y[:150][y[:150] == 2] = 1
    w = rng.choice([0.0, 0.5, 1.0, 2.0], len(y), p=[0.1, 0.2, 0.5, 0.2])
    w[0] = 1.0
    given = {"nominal": [2], "rounds": 13, "randomized": 9, "max_bytes": 2**22}
    whole = learn_in_parts(rng, qc.EvergreenBoost(**given), X[:1100], y[:1100], w[:1100], 1)
    parts = learn_in_parts(
        rng,
        qc.EvergreenBoost(**given),
        X[:1100],
        y[:1100],
        w[:1100],
        most,
        tmp_path / "boost.quercus" if saves else None,
    )
    expected, found = whole.state_arrays(), parts.state_arrays()
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(array, found[name], err_msg=name)
    examples = [{f"x{f}": value for f, value in enumerate(row)} for row in X[1100:]]
    one_by_one = [[parts.predict_proba_one(x)[label] for label in (0, 1, 2)] for x in examples]
    np.testing.assert_array_equal(whole.predict_proba(X[1100:]), one_by_one)
