"""The compiled boost and the plain one side by side."""

import numpy as np
import pytest

import quercus as qc
from quercus.learners.evergreen.boosting.layout import FITTING, VOTING
from tests.learners.evergreen.boost_oracle import NaiveBoost
from tests.learners.evergreen.following import make_rows
from tests.learners.evergreen.oracle.boosted import Rows

KINDS = ("number", "few", "category", "heavy")


class Follower:
    """Feeds both, row by row, and compares them at each."""

    def __init__(self, kinds, **given):
        nominal = [f for f, kind in enumerate(kinds) if kind.startswith("categor")]
        self.numeric = [f not in nominal for f in range(len(kinds))]
        self.boost = qc.EvergreenBoost(nominal=nominal, **given)
        numbers = np.random.SeedSequence(given.get("seed", 0)).generate_state(2, np.uint64)
        self.tight = self.boost.max_bytes < 2**20
        named = {name: getattr(self.boost, name) for name in ("rounds", "depth", "rate", "randomized")}
        self.plain = NaiveBoost(int(numbers[1]), **named)
        self.categories = [{} for _ in kinds]
        self.labels = {}
        self.since = self.wrong = 0
        self.alarms, self.given_up = [], []
        # By kind: how many trees each fit had, rows that were learned when each began, and the trees in force.
        self.turns = {FITTING: self.plain.boosted, VOTING: self.plain.randomized}
        self.found = {kind: [] for kind in self.turns}
        self.fits = {kind: [] for kind in self.turns}
        self.held = dict.fromkeys(self.turns)

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
        assert_close(boost.predict_proba([row])[0], expected)
        boost.partial_fit([row], [label], sample_weight=[weight])
        since = int(self.state.tree.options["since"][0])
        is_alarm, self.since = since < self.since, since
        while plain.due:
            self.begin(kept, is_alarm)
        if weight > 0:
            number = self.labels.setdefault(label, len(self.labels))
            plain.learn(T, known, number, weight)
            self.wrong += number != answer
            self.values(row, learns=True)
        self.finish(is_alarm)
        if is_alarm:
            self.alarms.append(plain.n)
            self.given_up += [kind for kind, turn in self.turns.items() if turn.fit is not None]
            plain.begin_anew()
            self.begin(self.rows())
            self.wrong = int(self.state.tree.errors.sum())
        self.check_options()

    def begin(self, kept, is_given_up=False):
        """Rows of the fit are those that the tree kept, as they were then."""
        kind = next(kind for kind, turn in self.turns.items() if turn is self.plain.due)
        turn, fit = self.turns[kind], self.state.boost.fit
        self.fits[kind].append(self.plain.n)
        # What a leaf takes is a matter of the engine.
        leaf = 2 * self.state.boost.voters.nodes.itemsize + 4 * kept.K + 32
        self.plain.begin(kept, self.boost.max_bytes // 16 // leaf)
        if turn.fit is None or is_given_up or self.state.boost.options["stage"][0] != kind:
            return  # nothing happened, or it is done already
        assert fit.codes.tolist() == kept.codes.tolist()
        assert fit.rows["label"].tolist() == kept.labels.tolist()
        np.testing.assert_allclose(fit.rows["weight"], turn.fit.u, rtol=1e-12)

    def finish(self, is_given_up):
        """Of the trees there are as many as there is room for."""
        boost = self.state.boost
        for kind, now in ((FITTING, boost.trees), (VOTING, boost.voters)):
            turn = self.turns[kind]
            if turn.fit is None or (now is self.held[kind] if is_given_up else boost.options["stage"][0] == kind):
                continue
            found = 0 if now is self.held[kind] else now.trees
            self.held[kind] = now
            assert self.tight or found == len(turn.fit.trees)
            turn.fit.trees = turn.fit.trees[:found]
            self.found[kind].append(found)
            turn.finish()

    def check_options(self):
        state, plain = self.state.boost, self.plain
        o, votes = state.options[0], state.votes[0]
        assert (o["seen"], o["fits"], o["next_fit"]) == (plain.n, plain.boosted.fits, plain.boosted.next_fit)
        assert votes["fits"] == plain.randomized.fits
        assert not plain.r or votes["next_fit"] == plain.randomized.next_fit
        assert not plain.boosted.fits or o["target"] == plain.j
        state.check()
        assert not self.boost.adaptive or self.state.tree.options["wrong"][0] == self.wrong
        assert o["stage"] == next((kind for kind, turn in self.turns.items() if turn.fit is not None), 0)
        count = len(plain.a)
        found = [o["tree_weight"], o["boost_weight"], votes["weight"]][:count]
        found += [o["tree_accumulator"], o["boost_accumulator"], votes["accumulator"]]
        found += [o["tree_loss"], o["boost_loss"], votes["loss"], o["stack_loss"], *state.losses]
        expected = [*plain.a, *plain.Q, *plain.L, *plain.l]
        assert_close(found, expected)

    def check_trees(self):
        """Every node of all trees in force: its test, its values."""
        boost, boosted, votes = self.state.boost, self.plain.boosted.now, self.plain.randomized.now
        for arrays, now in ((boost.trees, boosted), (boost.voters, votes)):
            assert arrays.trees == (0 if now is None else len(now.trees))
        if boosted is not None:
            leaves, nodes = self.check_grown(boost.trees, boosted)
            assert_close(boost.trees.values[leaves], [node.V for node in nodes])
            assert_close(boost.trees.hessians[leaves], [node.H for node in nodes])
            assert_close(boost.trees.base, boosted.base)
            assert boost.trees.head["mean_weight"][0] == pytest.approx(boosted.mean_weight)
        if votes is not None:
            leaves, nodes = self.check_grown(boost.voters, votes)
            np.testing.assert_allclose(boost.voters.counts[leaves], [node.N for node in nodes], rtol=2e-7, atol=1e-12)
            assert_close(boost.voters.shares, votes.x)

    def check_grown(self, arrays, plain):
        """Return the places of leaves, and the plain ones."""
        root, leaves, of_leaves, gains, of_splits = 0, [], [], [], []
        for t, tree in enumerate(plain.trees):
            assert arrays.roots[t] == root
            for v, node in enumerate(tree):
                found = arrays.nodes[root + v]
                assert (found["left"] > 0) == (node.left > 0), (t, v)
                if node.left:
                    self.check_split(arrays, plain.rows.edges, root, found, node, (t, v))
                    gains.append(found["gain"])
                    of_splits.append(node.gain)
                else:
                    leaves.append(found["leaf"])
                    of_leaves.append(node)
            root += len(tree)
        assert root == arrays.used["node"]
        assert len(leaves) == len(set(leaves)) == arrays.used["leaf"]
        assert_close(gains, of_splits)
        return leaves, of_leaves

    def check_split(self, arrays, edges, root, found, node, where):
        assert (found["left"] - root, found["feature"]) == (node.left, node.feature), where
        if node.numeric:
            of = edges[node.feature]
            assert (found["cut"], bool(found["missing_left"])) == (node.cut, node.missing_left), where
            assert found["threshold"] == (of[node.cut - 1] if node.cut <= len(of) else np.inf)
        else:
            words = arrays.sets[found["set"]].tolist()
            assert {c for c in range(256) if words[c // 64] >> c % 64 & 1} == node.lefts, where


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def run(follower, X, y, weights=None):
    """Learn rows; fits begin, and are compared when they are done and at the end."""
    turns = follower.turns.values()
    for i, (row, label) in enumerate(zip(X, y.tolist(), strict=True)):
        before = [turn.now for turn in turns]
        follower.learn(row, label, 1.0 if weights is None else weights[i])
        if any(turn.now is not one for turn, one in zip(turns, before, strict=True)):
            follower.check_trees()
    follower.check_trees()
    beside = sum(not node.left for turn in turns if turn.now for tree in turn.now.trees for node in tree)
    tree = follower.state.tree.tree
    assert follower.boost.n_leaves_ == beside + int((tree.nodes["left"][: tree.used["node"]] == 0).sum())


def make_stream(kinds, count, classes, seed=0, **given):
    return make_rows(np.random.default_rng(seed), count, kinds, classes=classes, **given)
