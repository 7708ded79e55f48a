"""The compiled engine against the plain one: what is learned, every score, every decision, step by step."""

import math

import numpy as np
import pytest

from quercus import UtilityTree
from quercus.acquisition.layout import REFUSED, UNKNOWN
from quercus.acquisition.rows import PriceList
from tests.learners.utility.draws import Generator, draw_hypotheses, draw_samples, draw_theta
from tests.learners.utility.oracle import cases as naive
from tests.learners.utility.oracle import select as selecting
from tests.learners.utility.oracle.state import NaiveUtility

# Each case against a slow version: `make soak` runs them all.
pytestmark = pytest.mark.sampled(8)

KINDS = ("numeric", "nominal", "numeric", "nominal", "numeric")
NAMES = tuple("abcde")
CLOSE = 1e-9


def make_stream(rng, count):
    """Numbers with ties, categories that come late, holes, three classes, weights."""
    rows, labels, weights = [], [], []
    for i in range(count):
        label = str(rng.choice(["no", "yes", "maybe"], p=[0.5, 0.3, 0.2])) if i > 20 else ["yes", "no"][i % 2]
        shift = {"no": 0.0, "yes": 1.0, "maybe": 2.0}[label]
        colours = ["red", "blue"] if i < 40 else ["red", "blue", "green", "white"]
        row = [
            float(rng.normal(shift)),
            str(rng.choice(colours, p=None if rng.random() < 0.5 else normal(len(colours), shift))),
            float(round(rng.normal(2 * shift))),
            str(rng.choice(["x", "y"])) if rng.random() < 0.7 else ("x" if shift else "y"),
            float(rng.random()),
        ]
        rows.append([None if rng.random() < 0.1 else value for value in row])
        labels.append(label)
        weights.append(float(rng.choice([0.5, 1.0, 2.0])))
    return rows, labels, weights


def make_many_classes(rng, count):
    """Twenty classes, most of them rare."""
    rows, _, weights = make_stream(rng, count)
    labels = [
        f"class {min(int(rng.exponential(5.0)), 19):02d}" if i >= 40 else f"class {i % 20:02d}" for i in range(count)
    ]
    for row, label in zip(rows, labels, strict=True):
        row[0], row[2] = float(rng.normal(int(label[-2:]), 2.0)), float(round(rng.normal(-int(label[-2:]), 3.0)))
    return rows, labels, weights


def make_xor(rng, count):
    """Two categories that tell the class only together."""
    rows, _, weights = make_stream(rng, count)
    for row in rows:
        row[1], row[3] = str(rng.choice(["red", "blue"])), str(rng.choice(["x", "y"]))
    return rows, ["yes" if (row[1] == "red") != (row[3] == "x") else "no" for row in rows], weights


def normal(count, shift):
    shares = np.exp(-((np.arange(count) - shift) ** 2))
    return shares / shares.sum()


def as_dict(row):
    return dict(zip(NAMES, row, strict=True))


def make_both(**arguments):
    """An engine and its oracle."""
    tree = UtilityTree(**arguments)
    own = {name: arguments[name] for name in ("numeric", "bins", "prior", "classes", "forget") if name in arguments}
    ranges = {NAMES.index(name): ends for name, ends in (arguments.get("ranges") or {}).items()}
    return tree, NaiveUtility(KINDS, ranges=ranges, **own)


def learn_both(tree, plain, rows, labels, weights):
    for row, label, weight in zip(rows, labels, weights, strict=True):
        tree.learn_one(as_dict(row), label, weight)
        plain.learn(row, label, weight)


def assert_same_state(tree, plain):
    arrays = tree._state
    unit, classes = arrays.options["unit"][0], arrays.classes
    assert tree.schema_.labels == plain.labels
    np.testing.assert_allclose(arrays.weights[:classes] / unit, plain.n, rtol=1e-12)
    assert arrays.options["rows"][0] == plain.rows
    for f, feature in enumerate(plain.features):
        record = arrays.features[f]
        assert record["asked"] == feature.asked
        if not feature.known and not feature.given:
            assert record["bins"] == 0
            continue
        assert (record["known"], record["bins"]) == (feature.known, feature.bins)
        block = arrays.counts[record["first"] : record["first"] + record["bins"], :classes] / unit
        np.testing.assert_allclose(block, np.transpose(feature.counts), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(arrays.totals[f, :classes] / unit, np.sum(feature.counts, axis=1), rtol=1e-12)
        if feature.kind != "nominal":
            np.testing.assert_array_equal(arrays.edges[f, : record["bins"] - 1], feature.edges)


LEARNING = {
    "plain": {},
    "few bins": {"bins": 3, "prior": 0.5},
    "many bins": {"bins": 64},
    "forgetting": {"forget": 0.02},
    "thresholds": {"numeric": "thresholds", "ranges": {"e": (0, 1)}},
    "forgetting thresholds": {"numeric": "thresholds", "forget": 0.1},
}


@pytest.mark.parametrize("variant", LEARNING)
def test_each_row_is_counted_as_the_page_says(variant):
    rows, labels, weights = make_stream(np.random.default_rng(1), 700)
    tree, plain = make_both(**LEARNING[variant])
    for i, (row, label, weight) in enumerate(zip(rows, labels, weights, strict=True)):
        tree.learn_one(as_dict(row), label, weight)
        plain.history.clear()
        plain.learn(row, label, weight)
        if i < 40 or i % 29 == 0:
            assert_same_state(tree, plain)
    assert_same_state(tree, plain)


def test_forgetting_for_long_loses_no_digits():
    rng = np.random.default_rng(2)
    tree, plain = make_both(forget=0.2)
    for _ in range(1500):
        row, label = [None, str(rng.choice(["u", "v"])), None, None, None], str(rng.choice(["no", "yes"]))
        tree.learn_one(as_dict(row), label)
        plain.history.clear()
        plain.learn(row, label)
    assert 1 <= tree._state.options["unit"][0] <= 2**64
    assert_same_state(tree, plain)


class Follower:
    """One case, in the engine and in plain Python side by side."""

    def __init__(self, tree, plain, row, explore, seed):
        self.tree, self.plain, self.row, self.explore, self.seed = tree, plain, row, explore, seed
        prices = PriceList(tree._prices, len(NAMES))
        self.items = naive.Items(prices.item.tolist(), prices.price.tolist(), prices.needs.tolist())
        self.codes = np.empty(len(NAMES))
        tree.schema_.read_one(as_dict(row), self.codes, False)
        order = [tree.schema_.labels.index(label) for label in plain.labels]
        loss = None if tree.loss is None else tree._loss[np.ix_(order, order)]
        self.rules = naive.Rules(
            tree.objective, tree.confidence, tree.gain, loss, tree.lookahead, tree.hypotheses, tree.worth
        )
        self.case = naive.Case.opened([None] * len(NAMES), math.inf if tree.budget is None else tree.budget)
        self.selected_by = None
        self.given = self.draw()
        self.decisions = []

    def draw(self):
        """What the plan is drawn from, in the order in which the engine draws."""
        seed = self.seed if self.explore else int(self.tree._state.options["seed"][0])
        generator = Generator(seed)
        drawn = self.explore and self.tree.lookahead == 1
        theta = draw_theta(self.plain, generator) if drawn else self.plain.mean()
        given = {"theta": theta, "explore": self.explore}
        if self.tree.objective == "random":
            given["uniforms"] = [generator.uniform() for _ in NAMES]
        if self.rules.stops_by_region:
            number = 500 if self.tree.hypotheses is None else self.tree.hypotheses
            given["hypotheses"] = draw_hypotheses(self.plain, theta, number, generator)
        if self.tree.worth is not None:
            given["samples"] = draw_samples(self.plain, theta, generator)
        if self.tree.select is not None:
            given["selected"] = self.select(given, generator)
        return given

    def select(self, given, generator):
        """The items that the case buys among; None where the last two are too close to tell."""
        if self.explore and generator.uniform() < selecting.CURIOSITY:
            self.selected_by = "chance"
            return selecting.any_items(self.items, self.tree.select, generator.uniform)
        hypotheses = given.get("hypotheses")
        if self.tree.objective == "ec2" and self.explore:
            own = Generator(int(self.tree._state.options["seed"][0]))
            number = 500 if self.tree.hypotheses is None else self.tree.hypotheses
            hypotheses = draw_hypotheses(self.plain, self.plain.mean(), number, own)
        ratios = selecting.first_ratios(self.plain, self.items, self.rules, hypotheses, given.get("uniforms"))
        is_clear = selecting.distance(ratios, self.tree.select) > CLOSE
        self.selected_by = "score" if is_clear else None
        return selecting.best_items(self.items, ratios, self.tree.select) if is_clear else None

    def ask(self, status=None):
        status = np.array(self.case.status if status is None else status, np.uint8)
        return self.tree._plan(self.codes, status, self.case.left, self.seed, self.explore)

    def assert_same_scores(self, expected):
        """Ask for each item alone: its score is then that of the decision."""
        kept = {name: getattr(self.tree, name) for name in ("confidence", "gain", "hypotheses", "worth")}
        # The stop by region stays where the scores need hypotheses: such a case has no scores to compare.
        without = {} if self.tree.objective == "ec2" else {"hypotheses": None}
        self.tree.set_params(confidence=None, gain=0.0, worth=None, **without)
        for i, score in expected.scores.items():
            status = [
                REFUSED if state == UNKNOWN and self.items.item[f] != i else state
                for f, state in enumerate(self.case.status)
            ]
            if not self.items.needs or not any(self.items.needs[i]):
                assert self.ask(status).score == pytest.approx(score, rel=1e-10, abs=1e-12)
        self.tree.set_params(**kept)

    def step(self):
        """Compare one step; False at the end, or where the two best are too close to tell."""
        expected = naive.plan(self.plain, self.case, self.items, self.rules, **self.given)
        self.decisions.append(expected)
        found = self.ask()
        # Without a stop other numbers would be drawn, and other items selected.
        if self.tree.lookahead == 1 and self.tree.select is None:
            self.assert_same_scores(expected)
        ratios = sorted(expected.ratios.values(), reverse=True)
        both_buy = found.stop is None and expected.stop is None
        if both_buy and len(ratios) > 1 and ratios[0] - ratios[1] < CLOSE and found.item != expected.item:
            assert expected.ratios[found.item] > ratios[0] - CLOSE
            return False
        if expected.margin < CLOSE and "worth" in (found.stop, expected.stop):
            return False
        assert (found.item, found.stop) == (expected.item, expected.stop)
        if found.stop is not None:
            return False
        assert found.score == pytest.approx(expected.score, rel=1e-10, abs=1e-12)
        naive.reveal(self.plain, self.case, self.items, expected, self.row)
        return True

    def run(self):
        steps = 0
        while self.step():
            steps += 1
            if not self.case.edges or not self.explore:
                believed = self.tree._posterior(self.codes, np.array(self.case.status, np.uint8))
                np.testing.assert_allclose(believed, naive.posterior_of(self.plain, self.case), rtol=1e-10, atol=1e-13)
        return steps


GROUPED = {"costs": {"a": 3.0, "lab": 2.0, "e": 0.0}, "groups": {"lab": ["b", "c"]}, "requires": {"d": ["lab"]}}
# Without bins that are drawn anew, pairs never start again, which the plain version leaves out.
AHEAD = {"lookahead": 2, "numeric": "thresholds", "ranges": {"a": (-2, 4), "c": (-3, 6), "e": (0, 1)}}
BY_SCORES = {"worth": None, "confidence": 0.95, "gain": 0.005}
PLANS = {
    "ig": {},
    "us": {"objective": "us"},
    "eced": {"objective": "eced"},
    "ec2 enumerated": {"objective": "ec2", "bins": 2, "gain": 0.0, "confidence": None},
    "ec2 drawn": {"objective": "ec2", "hypotheses": 40, "gain": 0.0},
    "ec2 of few": {"objective": "ec2", "hypotheses": 7, "bins": 3, "gain": 0.0, "confidence": None},
    "ig, regions": {"hypotheses": 25, "gain": 0.0, "confidence": None},
    "us, regions": {"objective": "us", "hypotheses": 500, "bins": 2, "confidence": None},
    "eced, regions": {"objective": "eced", "hypotheses": 12, "forget": 0.02},
    "random": {"objective": "random", "costs": {"a": 2.0}},
    "random, regions": {"objective": "random", "hypotheses": 20, "confidence": None},
    "thresholds, regions": {"numeric": "thresholds", "hypotheses": 30, "confidence": None},
    "groups": GROUPED | {"gain": 0.0},
    "groups, us": GROUPED | {"objective": "us", "confidence": None},
    "groups, eced": GROUPED | {"objective": "eced", "confidence": 0.999},
    "gain by price": {"costs": {"a": 3.0, "b": 0.2, "d": 0.0}, "gain": 0.05, "confidence": None},
    "groups, gain by price": GROUPED | {"gain": 0.1, "confidence": None},
    "budget": {"costs": {"a": 3.0, "c": 2.0}, "budget": 4.0, "confidence": None},
    "loss": {"loss": {"maybe": {"no": 4.0, "yes": 2.0}}, "confidence": 0.9},
    "thresholds": {"numeric": "thresholds", "ranges": {"e": (0, 1)}},
    "thresholds, us": {"numeric": "thresholds", "objective": "us", "costs": {"a": 0.0}},
    "thresholds, eced": {"numeric": "thresholds", "objective": "eced", "classes": "uniform"},
    "groups, thresholds": GROUPED | {"numeric": "thresholds", "confidence": None, "gain": 0.0},
    "forgetting": {"forget": 0.05},
    "ahead": AHEAD | {"gain": 0.02},
    "ahead, regions": AHEAD | {"hypotheses": 20, "confidence": None},
    "ahead, prices": AHEAD | {"costs": {"b": 2.0, "c": 0.0, "e": 0.5}, "confidence": 0.99, "gain": 0.03},
    "ahead, forgetting": AHEAD | {"forget": 0.01, "groups": {"lab": ["a", "d"]}, "confidence": None},
}


@pytest.mark.parametrize("explore", [False, True], ids=["mean", "sample"])
@pytest.mark.parametrize("variant", PLANS)
def test_each_step_is_planned_as_the_page_says(variant, explore):
    rng = np.random.default_rng(3)
    rows, labels, weights = make_stream(rng, 160)
    tree, plain = make_both(**BY_SCORES | PLANS[variant])
    steps = 0
    for start in range(0, 150, 30):
        learn_both(tree, plain, rows[start : start + 30], labels[start : start + 30], weights[start : start + 30])
        for k in range(4):
            steps += Follower(tree, plain, rows[start + 30 - k], explore, seed=start + k).run()
    assert steps > 10


LOSS = {"maybe": {"no": 4.0, "yes": 2.0}, "yes": {"no": 0.5}}
PRICED = {"costs": {"a": 3.0, "b": 0.2, "c": 1.5, "d": 0.7}}
WORTHS = {
    "auto": {},
    "dear": {"worth": 7.0},
    "dear, us": {"worth": 9.0, "objective": "us"},
    "dear, eced": {"worth": 9.0, "objective": "eced", "bins": 4},
    "dear, ec2": {"worth": 9.0, "objective": "ec2", "hypotheses": 40},
    "dear, random": {"worth": 9.0, "objective": "random"},
    "dear, regions": {"worth": 9.0, "hypotheses": 25},
    "confidence": {"worth": 9.0, "confidence": 0.9},
    "gain": PRICED | {"worth": 9.0, "gain": 0.01},
    "loss": {"loss": LOSS},
    "dear, loss": {"loss": LOSS, "worth": 4.0},
    "prices": PRICED,
    "dear, prices": PRICED | {"worth": 8.0},
    "prices, loss": PRICED | {"loss": LOSS, "worth": 5.0, "classes": "uniform"},
    "groups": GROUPED,
    "dear, groups": GROUPED | {"worth": 12.0},
    "groups, loss": GROUPED | {"loss": LOSS, "worth": 7.0, "objective": "us"},
    "budget": {"budget": 2.0, "worth": 12.0},
    "budget, prices": PRICED | {"budget": 3.5, "worth": 15.0},
    "budget, random": PRICED | {"budget": 3.2, "worth": 10.0, "objective": "random"},
    "dear, random, prices": PRICED | {"worth": 6.0, "objective": "random"},
    "thresholds": {"numeric": "thresholds", "ranges": {"e": (0, 1)}, "worth": 9.0},
    "thresholds, groups": GROUPED | {"numeric": "thresholds", "worth": 12.0},
    "forgetting": {"forget": 0.05, "worth": 7.0},
    "ahead": AHEAD,
    "dear, ahead": AHEAD | {"worth": 9.0},
    "ahead, loss": AHEAD | PRICED | {"worth": 4.0, "loss": LOSS, "gain": 0.01},
    "ahead, budget": AHEAD | PRICED | {"worth": 20.0, "budget": 3.5, "forget": 0.01},
}
STREAMS = {"three classes": make_stream, "twenty classes": make_many_classes, "xor": make_xor}


def follow(arguments, stream, explore):
    """All decisions of many cases, each of which was the same on both sides."""
    rows, labels, weights = STREAMS[stream](np.random.default_rng(5), 190)
    tree, plain = make_both(**arguments)
    decisions = []
    for start in range(0, 180, 30):
        learn_both(tree, plain, rows[start : start + 30], labels[start : start + 30], weights[start : start + 30])
        for k in range(4):
            follower = Follower(tree, plain, rows[start + 30 + k], explore, seed=start + k)
            follower.run()
            decisions += follower.decisions
    return decisions


@pytest.mark.parametrize("explore", [False, True], ids=["mean", "sample"])
@pytest.mark.parametrize("variant", WORTHS)
def test_what_is_not_worth_it_is_not_bought(variant, explore):
    decisions = follow(WORTHS[variant], "three classes", explore)
    assert sum(decision.stop is None for decision in decisions) > 10
    assert sum(decision.stop == "worth" for decision in decisions) > 2


MANY = {"auto": {}, "dear": {"worth": 12.0}, "prices": PRICED | {"worth": 9.0}, "groups": GROUPED | {"bins": 4}}


@pytest.mark.parametrize("explore", [False, True], ids=["mean", "sample"])
@pytest.mark.parametrize("variant", MANY)
def test_the_samples_of_the_likeliest_classes_count(variant, explore):
    decisions = follow(MANY[variant], "twenty classes", explore)
    assert sum(decision.pays > 0 for decision in decisions) > 10
    assert any(len(decision.q) > 16 for decision in decisions)


@pytest.mark.parametrize("explore", [False, True], ids=["mean", "sample"])
@pytest.mark.parametrize("worth", ["auto", 5.0])
def test_a_pair_may_be_worth_what_neither_is(worth, explore):
    decisions = follow(AHEAD | {"worth": worth}, "xor", explore)
    promised = [decision for decision in decisions if decision.why == "promised"]
    assert len(promised) > 3
    assert any(decision.stop == "worth" for decision in decisions)


@pytest.mark.parametrize("explore", [False, True], ids=["mean", "sample"])
@pytest.mark.parametrize("objective", ["ec2", "ig", "us"])
def test_the_paper(objective, explore):
    rows, labels, weights = make_stream(np.random.default_rng(4), 100)
    tree = UtilityTree.paper(objective=objective, hypotheses=30)
    plain = NaiveUtility(KINDS, numeric="thresholds", classes="uniform")
    steps = 0
    for start in range(0, 100, 25):
        learn_both(tree, plain, rows[start : start + 25], labels[start : start + 25], weights[start : start + 25])
        for k in range(3):
            steps += Follower(tree, plain, rows[start + k], explore, seed=k).run()
    assert steps > 10
