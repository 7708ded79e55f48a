"""A reinforced tree and its oracle side by side: the same streams, random numbers and tables."""

from functools import cache

import numpy as np
import pytest

from quercus import ReinforcedTree
from quercus.learners.reinforced.outcomes import _key
from tests.learners.reinforced.oracle import NO_RESULT, NaiveReinforced
from tests.learners.utility.draws import Generator

KINDS = ("numeric", "nominal", "numeric", "nominal", "numeric")
NAMES = tuple("abcde")
SAME = ("questions", "worth", "loss", "rewards", "gamma", "explore", "truncated", "updates", "backup", "start")
SAME_TOO = ("alpha", "rates", "trusted", "bins", "prior", "adaptive")


def make_stream(rng, count):
    """Numbers with ties, categories that come late, holes, three classes, weights."""
    rows, labels, weights = [], [], []
    for i in range(count):
        label = str(rng.choice(["no", "yes", "maybe"], p=[0.5, 0.3, 0.2])) if i > 20 else ["yes", "no"][i % 2]
        shift = {"no": 0, "yes": 1, "maybe": 2}[label]
        colours = ["red", "blue", "green"] if i < 40 else ["green", "blue", "white"]
        row = [
            float(rng.normal(shift)),
            colours[shift] if rng.random() < 0.6 else str(rng.choice(colours)),
            float(round(rng.normal(shift))),
            "xy"[int(rng.random() < 0.3 + 0.2 * shift)],
            float(rng.random()),
        ]
        rows.append([None if rng.random() < 0.06 else value for value in row])
        labels.append(label)
        weights.append(float(rng.choice([0.5, 1.0, 2.3])))
    return rows, labels, weights


def as_dict(row):
    return dict(zip(NAMES, row, strict=True))


def make_both(**arguments):
    """A tree that knows its features, and its oracle, both of which have learned nothing."""
    tree = ReinforcedTree(**arguments)
    prices = tree_prices(tree)
    own = {name: getattr(tree, name) for name in (*SAME, *SAME_TOO)}
    market = {"price": prices.price.tolist(), "item": prices.item.tolist(), "needs": prices.needs.tolist()}
    plain = NaiveReinforced(KINDS, **market, **own)
    return tree, plain


def tree_prices(tree):
    from quercus.acquisition.prices import Prices
    from quercus.acquisition.rows import PriceList

    return PriceList(Prices(NAMES, tree.costs, tree.groups, tree.requires), len(NAMES))


class Seeds:
    """The seeds that a tree gives to rows, in order."""

    def __init__(self, tree):
        words = np.random.SeedSequence(tree.seed).generate_state(4, np.uint64)
        self.generator = Generator(0)
        self.generator.state = [int(word) for word in words]

    def draws(self):
        return Generator(int(self.generator.uniform() * 2.0**53))


key_of_result = cache(_key)


def key_of(tree, s):
    """Half of the key of a state of the oracle."""
    key = 0
    for f, bin_id in s:
        if bin_id == NO_RESULT:
            key ^= key_of_result(f, 0, 0)
        elif KINDS[f] == "nominal":
            key ^= key_of_result(f, 0, 2 + tree.schema_.categories[f].index(bin_id))
        else:
            key ^= key_of_result(f, bin_id[0], 2 + bin_id[1])
    return key


def read_table(tree):
    """What the tree knows: key -> (n, V, shares by label, {item: (n, G, {key: share})})."""
    state, found = tree._state, {}
    for place in range(state.used["state"]):
        record, pairs = state.states[place], {}
        at = int(record["first"])
        while at >= 0:
            action = state.actions[at]
            led, transition = {}, int(action["first"])
            while transition >= 0:
                led[int(state.transitions["key"][transition])] = float(state.transitions["share"][transition])
                transition = int(state.transitions["next"][transition])
            pairs[int(action["item"])] = (float(action["n"]), float(action["gain"]), led)
            at = int(action["next"])
        shares = dict(zip(tree.schema_.labels, state.shares[place].tolist(), strict=False))
        found[int(record["key0"])] = (float(record["n"]), float(record["value"]), shares, pairs)
    return found


def assert_same_table(tree, plain):
    found = read_table(tree)
    assert found.keys() - {0} == {key_of(tree, s) for s in plain.table} - {0}
    for s, record in plain.table.items():
        n, value, shares, pairs = found[key_of(tree, s)]
        assert n == pytest.approx(record.n)
        assert value == pytest.approx(record.V, abs=1e-12)
        assert {y: share for y, share in shares.items() if share} == pytest.approx(
            {y: share for y, share in record.shares.items() if share}
        )
        assert pairs.keys() == record.pairs.keys()
        for i, pair in record.pairs.items():
            assert pairs[i][:2] == pytest.approx((pair.n, pair.G), abs=1e-12)
            assert pairs[i][2] == pytest.approx({key_of(tree, t): share for t, share in pair.shares.items()})


def assert_same_belief(tree, found, expected):
    """found: by class, as classes_ has them."""
    for y, share in expected.items():
        assert found[list(tree.classes_).index(y)] == pytest.approx(share)


def assert_same_answer(found, brings):
    """brings: label -> expected reward; rounding decides between those that bring the same."""
    if brings:
        assert brings[found] == pytest.approx(max(brings.values()), abs=1e-9)
