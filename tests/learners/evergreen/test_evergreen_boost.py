"""Boosted trees beside the evergreen tree: against the plain ones of the page, fit by fit and row by row."""

import numpy as np
import pytest

import quercus as qc
from tests.learners.evergreen.boost_oracle import NaiveBoost, Rows
from tests.learners.evergreen.following import make_rows

KINDS = ("number", "few", "category", "heavy")


class Follower:
    """Feeds both, row by row, and compares them at each."""

    def __init__(self, kinds, **given):
        nominal = [f for f, kind in enumerate(kinds) if kind.startswith("categor")]
        self.numeric = [f not in nominal for f in range(len(kinds))]
        self.boost = qc.EvergreenBoost(nominal=nominal, **given)
        numbers = np.random.SeedSequence(given.get("seed", 0)).generate_state(2, np.uint64)
        self.tight = given.get("max_bytes", 2**27) < 2**20
        named = {name: getattr(self.boost, name) for name in ("rounds", "depth", "rate")}
        self.plain = NaiveBoost(int(numbers[1]), **named)
        self.categories = [{} for _ in kinds]
        self.labels = {}
        self.since = self.wrong = 0
        self.alarms = []
        self.found = []  # how many trees each fit had
        self.fits = []  # rows that were learned when each began
        self.held = None  # the boosted trees in force

    @property
    def state(self):
        return self.boost._state

    def values(self, row, learns=False):
        found = [None if np.isnan(x) else float(x) for x in row]
        for f in (f for f, is_number in enumerate(self.numeric) if not is_number):
            if found[f] is not None:
                known = self.categories[f]
                found[f] = known.setdefault(found[f], len(known)) if learns else known.get(found[f], -1)
        return found

    def T(self, row):
        """Probabilities of the tree alone, and its answer as a class id."""
        model = self.boost
        proba = np.zeros((1, len(model._order)))
        read, answers = model._read([row]), np.zeros(1, int)
        qc.EvergreenTree.engine.predict(self.state.tree, model, read, model._known, answers, proba)
        return proba[0], int(answers[0])

    def rows(self):
        """What the tree keeps: the rows of a fit that begins now, if there is room for all."""
        tree, n = self.state.tree, self.state.tree.n_rows
        edges = [e[:count].tolist() for e, count in zip(tree.edges, tree.features["edges"], strict=True)]
        kept = tree.rows[:n]
        return Rows(
            tree.codes[:n].copy(),
            kept["label"].astype(int),
            kept["weight"].astype(float),
            edges,
            self.numeric,
            tree.classes,
        )

    def learn(self, row, label, weight=1.0):
        plain, boost = self.plain, self.boost
        if not boost._is_fitted():
            assert weight > 0
            boost.partial_fit([row], [label], sample_weight=[weight])
            self.labels[label] = 0
            self.values(row, learns=True)
            plain.n += 1
            return
        kept, (T, answer) = self.rows(), self.T(row)
        known, order = self.values(row), [self.labels[one] for one in boost.classes_.tolist()]
        expected = plain.answer(T, known)[order]
        np.testing.assert_allclose(boost.predict_proba([row])[0], expected, rtol=1e-9, atol=1e-12)
        boost.partial_fit([row], [label], sample_weight=[weight])
        if plain.n >= plain.next_fit and plain.fit is None:
            self.begin(kept)
        if weight > 0:
            number = self.labels.setdefault(label, len(self.labels))
            plain.learn(T, known, number, weight)
            self.wrong += number != answer
            self.values(row, learns=True)
        since = int(self.state.tree.options["since"][0])
        if since < self.since:
            self.alarms.append(plain.n)
            self.begin(self.rows())
            self.wrong = int(self.state.tree.errors.sum())
        self.since = since
        if plain.fit is not None and not self.state.boost.is_fitting:
            self.finish()
        self.check_options()

    def begin(self, kept):
        """Rows of the fit are those that the tree kept, as they were then."""
        self.fits.append(self.plain.n)
        self.plain.begin(kept)
        fit = self.state.boost.fit
        if not fit.sizes["row"]:
            return  # it is done already, or nothing happened
        assert fit.codes.tolist() == kept.codes.tolist()
        assert fit.rows["label"].tolist() == kept.labels.tolist()
        np.testing.assert_allclose(fit.rows["weight"], self.plain.fit.u, rtol=1e-12)

    def finish(self):
        """Of the trees there are as many as there is room for."""
        plain, now = self.plain, self.state.boost.trees
        found = 0 if now is self.held else now.trees
        self.held = now
        assert self.tight or found == len(plain.fit.trees)
        plain.fit.trees = plain.fit.trees[:found]
        self.found.append(found)
        plain.finish()

    def check_options(self):
        state, plain = self.state.boost, self.plain
        o = state.options[0]
        assert (o["seen"], o["fits"], o["next_fit"]) == (plain.n, plain.fits, plain.next_fit)
        assert not plain.fits or o["target"] == plain.j
        state.check()
        assert not self.boost.adaptive or self.state.tree.options["wrong"][0] == self.wrong
        assert state.is_fitting == (plain.fit is not None)
        found = [o["tree_weight"], o["boost_weight"], o["tree_accumulator"], o["boost_accumulator"]]
        found += [o["tree_loss"], o["boost_loss"], o["stack_loss"], *state.losses]
        expected = [plain.a, plain.b, plain.Q_a, plain.Q_b, *plain.L, *plain.l]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)

    def check_trees(self):
        """Every node of all trees in force: its test, its values."""
        arrays, plain = self.state.boost.trees, self.plain.now
        if plain is None:
            assert arrays.trees == 0
            return
        np.testing.assert_allclose(arrays.base, plain.base, rtol=1e-9, atol=1e-12)
        assert arrays.head["mean_weight"][0] == pytest.approx(plain.mean_weight)
        assert arrays.trees == len(plain.trees)
        root = 0
        for t, tree in enumerate(plain.trees):
            assert arrays.roots[t] == root
            for v, node in enumerate(tree):
                self.check_node(arrays, root, root + v, node, (t, v))
            root += len(tree)
        assert root == arrays.used["node"]

    def check_node(self, arrays, root, at, node, where):
        found = arrays.nodes[at]
        assert (found["left"] > 0) == (node.left > 0), where
        if not node.left:
            np.testing.assert_allclose(arrays.values[found["leaf"]], node.V, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(arrays.hessians[found["leaf"]], node.H, rtol=1e-9, atol=1e-12)
            return
        assert (found["left"] - root, found["feature"]) == (node.left, node.feature), where
        assert found["gain"] == pytest.approx(node.gain, rel=1e-9)
        if node.numeric:
            edges = self.plain.now.rows.edges[node.feature]
            assert (found["cut"], bool(found["missing_left"])) == (node.cut, node.missing_left), where
            assert found["threshold"] == (edges[node.cut - 1] if node.cut <= len(edges) else np.inf)
        else:
            words = arrays.sets[found["set"]].tolist()
            assert {c for c in range(256) if words[c // 64] >> c % 64 & 1} == node.lefts, where


def run(follower, X, y, weights=None):
    """Learn rows; fits begin, and are compared when they are done and at the end."""
    for i, (row, label) in enumerate(zip(X, y.tolist(), strict=True)):
        before = follower.plain.now
        follower.learn(row, label, 1.0 if weights is None else weights[i])
        if follower.plain.now is not before:
            follower.check_trees()
    follower.check_trees()


def make_stream(kinds, count, classes, seed=0, **given):
    return make_rows(np.random.default_rng(seed), count, kinds, classes=classes, **given)


WIDE = ("number", "few", "category") * 12
STREAMS = {
    "numbers": (("number", "few", "heavy"), 3),
    "categories": (("category", "categories"), 2),
    "mixed, two classes": (KINDS, 2),
    "mixed, seven classes": (KINDS, 7),
    "more features than are looked at": (WIDE, 3),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_fits_answers_and_weights_are_those_of_the_plain_one(stream):
    kinds, classes = STREAMS[stream]
    X, y = make_stream(kinds, 300 if len(kinds) < 5 else 150, classes)
    run(Follower(kinds, rounds=9), X, y)


@pytest.mark.parametrize("classes", [2, 3])
def test_odd_weights_and_rows_without_weight(classes):
    X, y = make_stream(KINDS, 340, classes, seed=3)
    weights = np.random.default_rng(1).choice([0.0, 1e-7, 1e-3, 0.37, 1.0, 1.3, 40.0, 1e4], len(y))
    weights[:classes] = 1.0
    run(Follower(KINDS, rounds=9), X, y, weights)


@pytest.mark.parametrize(("depth", "rate", "rounds"), [(1, 0.3, 42), (8, 0.3, 5), (12, 1.0, 4), (3, 0.02, 19)])
def test_depth_rate_and_rounds(depth, rate, rounds):
    X, y = make_stream(KINDS, 260, 3, seed=depth)
    run(Follower(KINDS, depth=depth, rate=rate, rounds=rounds, seed=11), X, y)


def test_constant_columns_and_columns_without_values():
    X, y = make_stream((*KINDS, "number", "number"), 240, 3, seed=4)
    X[:, 1], X[:, 2], X[:, 4] = 2.0, 3.0, np.nan
    X[:100, 5] = np.nan
    run(Follower((*KINDS, "number", "number"), rounds=6), X, y)


def test_the_number_of_rounds_follows_the_losses():
    X, y = make_stream(("number", "few"), 330, 2, seed=5, noise=0.8)
    follower = Follower(("number", "few"), rate=0.5, depth=4)
    run(follower, X, y)
    assert follower.plain.j < 9
    X, y = make_stream(("number", "few"), 200, 2, seed=5, noise=0.0)
    follower = Follower(("number", "few"), rate=0.01, depth=3, rounds=316)
    run(follower, X, y)
    assert follower.plain.j > 9


def test_classes_that_come_late():
    X, y = make_stream(KINDS, 420, 6, seed=6)
    for late, first in ((2, 33), (3, 90), (4, 250), (5, 400)):
        y[:first][y[:first] >= late] = 1
    y[[0, 33, 90, 250, 400]] = [0, 2, 3, 4, 5]
    run(Follower(KINDS, rounds=6), X, y)


def test_one_class_alone_has_no_trees():
    X, _ = make_stream(KINDS, 150, 2)
    follower = Follower(KINDS, rounds=4)
    y = (np.arange(150) >= 70).astype(int)
    for row, label in zip(X, y.tolist(), strict=True):
        follower.learn(row, label)
    assert follower.fits[0] == 32
    follower.check_trees()


def test_fits_begin_after_so_many_rows():
    X, y = make_stream(("few",), 500, 2)
    follower = Follower(("few",), rounds=4, adaptive=False)
    run(follower, X, y)
    # 32, and .4 of it; 44, and .4 of it ...
    assert follower.fits == [32, 44, 61, 85, 119, 166, 232, 324, 453]


def test_a_fit_begins_after_an_alarm():
    X, y = make_stream(("number", "few"), 1400, 2, seed=6, noise=0.05)
    y[800:] = 1 - y[800:]
    follower = Follower(("number", "few"), rounds=4)
    run(follower, X, y)
    assert follower.alarms
    assert set(follower.alarms) <= set(follower.fits)


def test_there_are_as_many_trees_as_there_is_room_for():
    X, y = make_stream(KINDS, 460, 3)
    follower = Follower(KINDS, rounds=6, max_bytes=2**18)
    run(follower, X, y)
    assert follower.found[0] == 6
    assert follower.found[-1] == 0
    assert any(0 < found < 6 for found in follower.found)


@pytest.mark.parametrize("keep", ["sample", "recent"])
def test_a_fit_has_as_many_rows_as_there_is_room_for(keep):
    X, y = make_stream(KINDS, 5000, 3)
    w = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(y))
    boost, learned, fewer = qc.EvergreenBoost(nominal=[2], rounds=4, max_bytes=2**19, keep=keep, adaptive=False), 0, 0
    following = 32
    while following < len(X):
        boost.partial_fit(X[learned:following], y[learned:following], sample_weight=w[learned:following])
        tree, n = boost._state.tree, boost._state.tree.n_rows
        codes, rows = tree.codes[:n].copy(), tree.rows[:n].copy()
        learned = following + 1
        boost.partial_fit(X[following:learned], y[following:learned], sample_weight=w[following:learned])
        fit = boost._state.boost.fit
        m = fit.sizes["row"]
        fewer += m < n
        chosen = [i * n // m for i in range(m)] if keep == "sample" else list(range(n - m, n))
        np.testing.assert_array_equal(fit.codes, codes[chosen])
        np.testing.assert_array_equal(fit.rows["label"], rows["label"][chosen])
        weights = rows["weight"][chosen].astype(float)
        np.testing.assert_allclose(fit.rows["weight"], weights / weights.mean(), rtol=1e-12)
        following += max(1, int(0.4 * m))
        assert boost._state.boost.options["next_fit"][0] == following
        assert boost.nbytes <= boost.max_bytes
    assert fewer > 1


def learn_in_parts(rng, boost, X, y, w, most, path=None):
    start = 0
    while start < len(X):
        stop = start + int(rng.integers(1, most + 1))
        boost.partial_fit(X[start:stop], y[start:stop], sample_weight=w[start:stop])
        start = stop
        if path is not None and rng.random() < (0.03 if most == 1 else 0.2):
            boost.save(path)
            boost = qc.load(path)
    return boost


@pytest.mark.parametrize(("most", "saves"), [(1, True), (7, False), (40, True), (400, True)])
def test_the_same_rows_make_the_same_state(most, saves, tmp_path):
    rng = np.random.default_rng(most)
    X, y = make_stream(KINDS, 1200, 3, seed=2)
    y[700:] = (y[700:] + 1) % 3
    y[:150][y[:150] == 2] = 1
    w = rng.choice([0.0, 0.5, 1.0, 2.0], len(y), p=[0.1, 0.2, 0.5, 0.2])
    w[0] = 1.0
    given = {"nominal": [2], "rounds": 13, "max_bytes": 2**22}
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
