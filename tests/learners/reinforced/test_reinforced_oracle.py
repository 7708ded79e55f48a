"""The naive reinforced tree against tables worked out by hand, and on the multiplexer."""

import math
import random
from fractions import Fraction
from itertools import product

import pytest

from quercus.evaluation import best_policy

from .oracle import KNOWN, MISSING, ORDERED, REFUSED, ROOT, UNKNOWN, NaiveReinforced

F = Fraction
NO_WANDER, WANDER = 0.9, 0.1


class Script:
    """The numbers that it was given, in turn."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def uniform(self):
        return self.numbers.pop(0)


class Random:
    def __init__(self, seed):
        self.uniform = random.Random(seed).random


def state_of(*known):
    return frozenset(known)


def nominal(count, **options):
    return NaiveReinforced(["nominal"] * count, **{"number": F, "worth": None, **options})


def share_of(model, label, *known):
    """Share of a label in a state."""
    return model.table[state_of(*known)].shares.get(label, 0)


# Every update of a small stream, worked out by hand
#
# Features a and b, 2 questions, rewards 8 and -8, gamma 3/4, C(a) = 1, C(b) = 2, an untried question starts at 10.
# Every example weighs 20, so that the warm-up of a state is over when it was seen once. The best report is worth
# 8 (larger share - smaller share); a question that leads to sure states only has G = 3/4 * 8 = 6, that is
# Q(a) = 5, Q(b) = 4.

NAMES = "ab"
STREAM = [
    # Nothing was updated: the first of equal starts, then the other.
    ((0, 0), "no", (NO_WANDER, NO_WANDER)),
    # single: b was not tried (10). Otherwise the root is sure of "no" (8), both were tried, and it reports.
    ((1, 1), "yes", (NO_WANDER, NO_WANDER)),
    # root: even, Q(a) = 5 > Q(b) = 4. a1 was never updated: it asks for what is left.
    ((1, 0), "no", (NO_WANDER, NO_WANDER)),
    # Wanders from the root: b (floor of .9 * 2), then anchored: a (the only one); otherwise no more.
    ((0, 1), "yes", (WANDER, 0.9, NO_WANDER)),
    # Wanders from the second state on, with the one item that is left.
    ((1, 1), "no", (NO_WANDER, WANDER, 0.0)),
    ((0, 1), "yes", (NO_WANDER, NO_WANDER)),
]

# What changes in the table: n, shares, V, and of every question that was tried n, G and shares of where it led.
FIRST_OF_ALL_SUBSETS = """
    ab      root  20 no=1 V=8 | a 20 G=6 a0=1 | b 20 G=6 b0=1
            a0    20 no=1 V=8 | b 20 G=6 a0b0=1
            b0    20 no=1 V=8 | a 20 G=6 a0b0=1
            a0b0  20 no=1 V=8
    -       root  40 no=1/2 yes=1/2 V=5 | a 20 G=6 a0=1 | b 20 G=6 b0=1
"""
# (root, a): rate 20/60, a0 = 1/2 + 1/3 * 1/2 = 2/3. a0 is no longer sure: reports 0, Q(b) = 6 - 2 = 4 = V(a0).
#   counts: G = 3/4 (2/3 * 4 + 1/3 * 8) = 4, Q(a) = 3.  sample: G = 6 + 1/3 (3/4 * 4 - 6) = 5, Q(a) = 4.
FOURTH_ANCHORED = """
    ba from 0
            root  80 no=1/2 yes=1/2 V=4 | a 60 G={G} a0=2/3 a1=1/3 | b 40 G=6 b0=1/2 b1=1/2
            a0    40 no=1/2 yes=1/2 V=4 | b 40 G=6 a0b0=1/2 a0b1=1/2
            b1    20 yes=1 V=8 | a 20 G=6 a0b1=1
            a0b1  20 yes=1 V=8
"""
FOURTH_LATTICE = FOURTH_ANCHORED.replace("b 40 G=6 b0=1/2 b1=1/2", "b 60 G=6 b0=2/3 b1=1/3")
THIRD_ANCHORED = """
    ab      root  60 no=2/3 yes=1/3 V=5 | a 40 G=6 a0=1/2 a1=1/2 | b 20 G=6 b0=1
            a1    20 no=1 V=8 | b 20 G=6 a1b0=1
            a1b0  20 no=1 V=8
"""
# The printed rule counts b0 as well, though it was not asked for: (root, b) has n = 40, and (b0, a) led to both.
THIRD_LATTICE = """
    ab      root  60 no=2/3 yes=1/3 V=5 | a 40 G=6 a0=1/2 a1=1/2 | b 40 G=6 b0=1
            a1    20 no=1 V=8 | b 20 G=6 a1b0=1
            b0    40 no=1 V=8 | a 40 G=6 a0b0=1/2 a1b0=1/2
            a1b0  20 no=1 V=8
"""
# Until the fifth example all that is reached is sure, and both backups are the same.
SINGLE = """
    ab      root  20 no=1 V=8 | a 20 G=6 a0=1
            a0    20 no=1 V=8 | b 20 G=6 a0b0=1
            a0b0  20 no=1 V=8
    ba      root  40 no=1/2 yes=1/2 V=5 | a 20 G=6 a0=1 | b 20 G=6 b1=1
            b1    20 yes=1 V=8 | a 20 G=6 a1b1=1
            a1b1  20 yes=1 V=8
    ab      root  60 no=2/3 yes=1/3 V=5 | a 40 G=6 a0=1/2 a1=1/2 | b 20 G=6 b1=1
            a1    20 no=1 V=8 | b 20 G=6 a1b0=1
            a1b0  20 no=1 V=8
    b from 0
            root  80 no=1/2 yes=1/2 V=5 | a 40 G=6 a0=1/2 a1=1/2 | b 40 G=6 b1=1
            b1    40 yes=1 V=8 | a 20 G=6 a1b1=1
    ab from 1
            root  100 no=3/5 yes=2/5 V=5 | a 60 G=6 a0=1/3 a1=2/3 | b 40 G=6 b1=1
            a1    40 no=1 V=8 | b 40 G=3 a1b0=1/2 a1b1=1/2
            a1b1  40 no=1/2 yes=1/2 V=0
"""
TABLES = {
    # Last: a0 was sure of "no" (8 > Q(b) = 4), so that it reports; then it is even, V(a0) = Q(b) = 4.
    # (root, a): rate 20/80, a0 = 1/3 + 1/4 * 2/3 = 1/2. G = 3/4 (1/2 * 4 + 1/2 * 8) = 9/2, Q(a) = 7/2 < Q(b) = 4.
    ("single", "counts"): SINGLE
    + """
    a       root  120 no=1/2 yes=1/2 V=4 | a 80 G=9/2 a0=1/2 a1=1/2 | b 40 G=6 b1=1
            a0    40 no=1/2 yes=1/2 V=4 | b 20 G=6 a0b0=1
    """,
    # G = 6 + 1/4 (3/4 * 4 - 6) = 21/4, Q(a) = 17/4.
    ("single", "sample"): SINGLE
    + """
    a       root  120 no=1/2 yes=1/2 V=17/4 | a 80 G=21/4 a0=1/2 a1=1/2 | b 40 G=6 b1=1
            a0    40 no=1/2 yes=1/2 V=4 | b 20 G=6 a0b0=1
    """,
    # Fifth: Q(a) = 3 < Q(b) = 4. a1 and (a1, b) are updated off the way. b1 becomes even, V(b1) = Q(a) = 5.
    # G(root, a) = 3/4 (1/2 * 4 + 1/2 * 8) = 9/2; G(root, b) = 3/4 (1/2 * 8 + 1/2 * 5) = 39/8. V = Q(a) = 7/2.
    # Sixth: Q(a) = 7/2 > Q(b) = 23/8; a0: Q(b) = 4 > 0. yes in a0: 1/2 + 1/3 * 1/2 = 2/3, in b1 the same.
    # G(root, a) = 3/4 (3/5 * 4 + 2/5 * 8) = 21/5; G(root, b) = 3/4 (2/5 * 8 + 3/5 * 5) = 93/20. V = Q(a) = 16/5.
    ("lattice", "counts"): FIRST_OF_ALL_SUBSETS
    + THIRD_LATTICE
    + FOURTH_LATTICE.format(G=4)
    + """
    ba from 1
            root  100 no=3/5 yes=2/5 V=7/2 | a 80 G=9/2 a0=1/2 a1=1/2 | b 80 G=39/8 b0=1/2 b1=1/2
            a1    40 no=1 V=8 | b 40 G=6 a1b0=1/2 a1b1=1/2
            b1    40 no=1/2 yes=1/2 V=5 | a 40 G=6 a0b1=1/2 a1b1=1/2
            a1b1  20 no=1 V=8
    ab      root  120 no=1/2 yes=1/2 V=16/5 | a 100 G=21/5 a0=3/5 a1=2/5 | b 100 G=93/20 b0=2/5 b1=3/5
            a0    60 no=1/3 yes=2/3 V=4 | b 60 G=6 a0b0=1/3 a0b1=2/3
            b1    60 no=1/3 yes=2/3 V=5 | a 60 G=6 a0b1=2/3 a1b1=1/3
            a0b1  40 yes=1 V=8
    """,
    # Fifth: Q(a) = 4 = Q(b), so a comes first. G(root, a) = 5 + 1/4 (6 - 5) = 21/4, V = Q(a) = 17/4.
    # G(root, b) = 6 + 1/4 (3/4 * 5 - 6) = 87/16, Q(b) = 55/16.
    # Sixth: G(root, a) = 21/4 + 1/5 (3 - 21/4) = 24/5; G(root, b) = 87/16 + 1/5 (15/4 - 87/16) = 51/10.
    ("lattice", "sample"): FIRST_OF_ALL_SUBSETS
    + THIRD_LATTICE
    + FOURTH_LATTICE.format(G=5)
    + """
    ab from 1
            root  100 no=3/5 yes=2/5 V=17/4 | a 80 G=21/4 a0=1/2 a1=1/2 | b 80 G=87/16 b0=1/2 b1=1/2
            a1    40 no=1 V=8 | b 40 G=6 a1b0=1/2 a1b1=1/2
            b1    40 no=1/2 yes=1/2 V=5 | a 40 G=6 a0b1=1/2 a1b1=1/2
            a1b1  20 no=1 V=8
    ab      root  120 no=1/2 yes=1/2 V=19/5 | a 100 G=24/5 a0=3/5 a1=2/5 | b 100 G=51/10 b0=2/5 b1=3/5
            a0    60 no=1/3 yes=2/3 V=4 | b 60 G=6 a0b0=1/3 a0b1=2/3
            b1    60 no=1/3 yes=2/3 V=5 | a 60 G=6 a0b1=2/3 a1b1=1/3
            a0b1  40 yes=1 V=8
    """,
    # Fifth: wanders from b1 on: b1 and a1b1 contain it, a1 does not. (root, b): rate 20/60, b1 = 1/2 + 1/3 * 1/2.
    # G(root, b) = 3/4 (1/3 * 8 + 2/3 * 5) = 9/2, Q(b) = 5/2; V = Q(a) = 4 - 1 = 3.
    # Sixth: b1 is not on the way, and its warm-up is over. a0 = 2/3 + 1/4 * 1/3 = 3/4.
    # G(root, a) = 3/4 (3/4 * 4 + 1/4 * 8) = 15/4, V = Q(a) = 11/4.
    ("anchored", "counts"): FIRST_OF_ALL_SUBSETS
    + THIRD_ANCHORED
    + FOURTH_ANCHORED.format(G=4)
    + """
    ba from 1
            root  100 no=3/5 yes=2/5 V=3 | a 60 G=4 a0=2/3 a1=1/3 | b 60 G=9/2 b0=1/3 b1=2/3
            b1    40 no=1/2 yes=1/2 V=5 | a 40 G=6 a0b1=1/2 a1b1=1/2
            a1b1  20 no=1 V=8
    ab      root  120 no=1/2 yes=1/2 V=11/4 | a 80 G=15/4 a0=3/4 a1=1/4 | b 60 G=9/2 b0=1/3 b1=2/3
            a0    60 no=1/3 yes=2/3 V=4 | b 60 G=6 a0b0=1/3 a0b1=2/3
            a0b1  40 yes=1 V=8
    """,
    # Fifth: Q(a) = 4 = Q(b), so a comes first; wanders from a1 on. G(root, a) = 5 + 1/4 (6 - 5) = 21/4.
    # Sixth: G(root, a) = 21/4 + 1/5 (3 - 21/4) = 24/5, Q(a) = 19/5 < Q(b) = 4.
    ("anchored", "sample"): FIRST_OF_ALL_SUBSETS
    + THIRD_ANCHORED
    + FOURTH_ANCHORED.format(G=5)
    + """
    ab from 1
            root  100 no=3/5 yes=2/5 V=17/4 | a 80 G=21/4 a0=1/2 a1=1/2 | b 40 G=6 b0=1/2 b1=1/2
            a1    40 no=1 V=8 | b 40 G=6 a1b0=1/2 a1b1=1/2
            a1b1  20 no=1 V=8
    ab      root  120 no=1/2 yes=1/2 V=4 | a 100 G=24/5 a0=3/5 a1=2/5 | b 40 G=6 b0=1/2 b1=1/2
            a0    60 no=1/3 yes=2/3 V=4 | b 60 G=6 a0b0=1/3 a0b1=2/3
            a0b1  40 yes=1 V=8
    """,
}


def name_of(s):
    return "".join(f"{NAMES[f]}{bin_id}" for f, bin_id in sorted(s)) or "root"


def listed(shares):
    return " ".join(f"{key}={share}" for key, share in sorted(shares.items()) if share)


def table_of(model):
    """The table as text, a line for each state."""
    lines = {}
    for s, record in model.table.items():
        parts = [f"{record.n} {listed(record.shares)} V={record.V}"]
        for i, pair in sorted(record.pairs.items()):
            led = {name_of(t): share for t, share in pair.shares.items()}
            parts.append(f"{NAMES[i]} {pair.n} G={pair.G} {listed(led)}")
        lines[name_of(s)] = " | ".join(parts)
    return lines


def steps_of(text):
    """Of each example its way, as text, and the lines that change."""
    steps = []
    for line in filter(str.strip, text.splitlines()):
        words = line.split()
        if not line.startswith(" " * 12):
            until = next((k for k, word in enumerate(words) if word == "root"), len(words))
            steps.append((" ".join(words[:until]), {}))
            words = words[until:]
        if words:
            steps[-1][1][words[0]] = " ".join(words[1:])
    return steps


@pytest.mark.parametrize(("updates", "backup"), TABLES)
def test_every_update_is_as_worked_out_by_hand(updates, backup):
    model = nominal(
        2,
        price=[1, 2],
        questions=2,
        worth=1,
        rewards=(8, -8),
        gamma=F(3, 4),
        explore=0.5,
        start=10,
        updates=updates,
        backup=backup,
    )
    steps = steps_of(TABLES[updates, backup])
    assert len(steps) == len(STREAM)
    expected = {}
    for (row, label, draws), (went, changed) in zip(STREAM, steps, strict=True):
        episode = model.buy_and_learn(row, label, Script(*draws), weight=20)
        items = "".join(NAMES[i] for i in episode.items) or "-"
        assert items + (f" from {episode.wandered_from}" if episode.wandered_from is not None else "") == went
        expected |= changed
        assert table_of(model) == expected


# Values


def learned(model, rows):
    """Learn whole ways, one after the other, without any luck."""
    for row, label in rows:
        model.learn_case(row, [KNOWN] * len(row), label, Script(*[NO_WANDER] * 99), bought=range(len(row)))
    return model


def test_rewards_may_depend_on_the_true_label():
    model = learned(nominal(1, rewards={"ill": (3, -100)}), [((0,), "ill"), ((0,), "well"), ((0,), "well")])
    s = state_of((0, 0))
    assert model.report(s, "ill") == F(1, 3) * 3 - F(2, 3)
    assert model.report(s, "well") == F(1, 3) * -100
    assert model.answer([0], [KNOWN]) == "ill"
    assert model.largest_loss() == 103


def test_a_loss_is_a_reward_below_0():
    model = learned(nominal(1, loss={"ill": {"well": 7}}), [((0,), "ill"), ((0,), "well"), ((0,), "well")])
    assert (model.report(ROOT, "ill"), model.report(ROOT, "well")) == (F(-2, 3), F(-7, 3))
    assert model.largest_loss() == 7


def test_prices_count_by_worth():
    model = nominal(3, price=[0, 2, 4], worth="auto", loss={"ill": {"well": 5}})
    assert [model.C(i) for i in range(3)] == [0, 0, 0]
    learned(model, [((0, 0, 0), "ill"), ((0, 0, 0), "well")])
    assert [model.C(i) for i in range(3)] == [0, 2 * F(5) / (200 * 3), 4 * F(5) / (200 * 3)]
    model.worth, model.gamma, model.rewards, model.loss = 8, F(1, 2), (6, 0), None
    assert [model.start_of(i) for i in range(3)] == [3, 3 - F(1, 4), 3 - F(1, 2)]
    model.price[2] = 16
    assert model.start_of(2) == 1


def test_new_prices_reach_a_question_at_once_and_a_value_when_it_is_visited():
    rows = [((0,), "no"), ((1,), "yes")] * 5
    model = learned(nominal(1, price=[1], worth=4), rows)
    assert (model.Q(ROOT, 0), model.table[ROOT].V) == (F(-1, 4), F(-1, 4))
    model.price[0] = 3
    assert (model.Q(ROOT, 0), model.table[ROOT].V) == (F(-3, 4), F(-1, 4))
    assert model.walk([0], [UNKNOWN], Script(NO_WANDER), explore=True, buys=True).stop == "worth"


def test_rates_scale_the_weight_of_a_label():
    model = nominal(1, rates={"no": F(1, 4)})
    model.learn_case([0], [KNOWN], "no", Script(NO_WANDER), bought=[0], weight=2)
    model.learn_case([0], [KNOWN], "yes", Script(NO_WANDER), bought=[0], weight=2)
    assert model.table[ROOT].n == F(5, 2)
    assert (share_of(model, "no"), share_of(model, "yes", (0, 0))) == (F(1, 5), F(4, 5))
    assert model.table[ROOT].pairs[0].n == F(5, 2)


def test_alpha_is_the_least_rate():
    model = nominal(1, alpha=F(1, 2), backup="sample", rewards=(8, 0))
    for label in ("no", "no", "no", "yes"):
        model.learn_case([0], [KNOWN], label, Script(NO_WANDER), bought=[0], weight=1)
    assert (model.table[ROOT].n, share_of(model, "yes"), share_of(model, "yes", (0, 0))) == (4, F(1, 2), F(1, 2))
    moved = model.table[ROOT].pairs[0].G - 8
    assert moved == F(1, 2) * (4 - 8)
    model.learn_case([0], [KNOWN], "yes", Script(NO_WANDER), bought=[0], weight=2)
    assert share_of(model, "yes") == F(1, 2) + F(3, 4) * F(1, 2)


def test_a_weight_of_0_is_no_example():
    model = nominal(1)
    model.buy_and_learn([0], "no", Script(NO_WANDER), weight=0)
    model.learn_row([0], "no", Script(), weight=0)
    assert (model.table, model.labels) == ({}, [])


# Cases


def ripe(**options):
    """y is feature 0, features 1 and 2 are noise; every question was tried often enough."""
    model = nominal(3, **{"questions": 2, "worth": 100, **options})
    for row in list(product((0, 1), repeat=3)) * 3:
        model.learn_row(row, row[0], Random(sum(row)))
    return model


def test_a_case_that_does_not_explore_asks_what_pays_and_stops():
    model = ripe()
    episode = model.walk([1, 0, 0], [UNKNOWN] * 3, Script(), explore=False, buys=True)
    assert (episode.items, episode.stop, episode.cost, model.answer([1, 0, 0], episode.status)) == ([0], "worth", 1, 1)
    n = model.n(state_of((0, 1)))
    assert model.probabilities([1, 0, 0], episode.status) == {0: F(1, 2) / (n + 1), 1: (n + F(1, 2)) / (n + 1)}
    episode = model.walk([1, 0, 0], [UNKNOWN] * 3, Script(), explore=False)
    assert (episode.items, episode.asks, episode.score, episode.stop) == ([], 0, F(-1, 100), None)


def test_a_case_that_does_not_explore_trusts_only_what_it_has_seen():
    model = nominal(2, questions=2, trusted=5)
    for k in range(4):
        model.learn_case([k % 2, 0], [KNOWN, UNKNOWN], k % 2, Script(NO_WANDER, NO_WANDER), bought=[0])
    walk = model.walk([1, 0], [UNKNOWN] * 2, Script(), explore=False, buys=True)
    assert (walk.items, walk.stop) == ([], "rare")
    for k in range(6):
        model.learn_case([k % 2, 0], [KNOWN, UNKNOWN], k % 2, Script(NO_WANDER, NO_WANDER), bought=[0])
    walk = model.walk([1, 0], [UNKNOWN] * 2, Script(), explore=False, buys=True)
    assert (walk.items, walk.stop, model.answer([1, 0], walk.status)) == ([0], "worth", 1)
    walk = model.walk(["new", 0], [UNKNOWN] * 2, Script(), explore=False, buys=True)
    # Both classes are as frequent at the root, from where it answers then: the first.
    assert (walk.items, walk.stop, model.answer(["new", 0], walk.status)) == ([0], "rare", 0)
    assert model.probabilities(["new", 0], walk.status) == {0: F(1, 2), 1: F(1, 2)}


def test_a_case_that_does_not_explore_asks_no_question_that_was_seldom_tried():
    model = nominal(1, updates="single", trusted=5)
    for k in range(8):
        # Half of the cases bought nothing.
        model.learn_case([k % 2], [KNOWN if k < 4 else UNKNOWN], k % 2, Script(NO_WANDER), bought=[0] if k < 4 else [])
    assert (model.n(ROOT), model.n(ROOT, 0), model.Q(ROOT, 0), model.report(ROOT, 0)) == (8, 4, 0, F(-1, 2))
    assert model.walk([1], [UNKNOWN], Script(), explore=False).stop == "worth"
    assert model.walk([1], [UNKNOWN], Script(NO_WANDER), explore=True).asks == 0
    model.learn_case([1], [KNOWN], 1, Script(NO_WANDER), bought=[0])
    assert model.walk([1], [UNKNOWN], Script(), explore=False).asks == 0


def test_a_question_that_is_worth_as_much_as_a_report_is_not_asked():
    # Feature 0 tells nothing, and is free.
    model = nominal(1)
    for k in range(10):
        model.learn_row([0], k % 2, Random(0))
    assert model.Q(ROOT, 0) == model.report(ROOT, 0) == F(-1, 2)
    assert model.walk([0], [UNKNOWN], Script(), explore=False).stop == "worth"
    assert model.walk([0], [UNKNOWN], Script(NO_WANDER), explore=True).stop == "worth"


def test_before_anything_was_learned_there_is_no_answer():
    model = nominal(2)
    episode = model.walk([0, 0], [UNKNOWN] * 2, Script(NO_WANDER, NO_WANDER), explore=True, buys=True)
    assert (episode.items, episode.stop) == ([0, 1], "nothing left")
    assert (model.answer([0, 0], episode.status), model.probabilities([0, 0], episode.status)) == (None, {})


def test_budgets_bound_what_is_asked_for():
    model = nominal(3, price=[5, 2, 2], questions=3)
    episode = model.walk([0] * 3, [UNKNOWN] * 3, Script(*[NO_WANDER] * 3), explore=True, left=4, buys=True)
    assert (episode.items, episode.cost, episode.stop) == ([1, 2], 4, "budget")
    # What is known costs nothing.
    episode = model.walk([0] * 3, [KNOWN] + [UNKNOWN] * 2, Script(*[NO_WANDER] * 3), explore=True, left=3, buys=True)
    assert (episode.items, episode.cost, episode.stop) == ([0, 1], 2, "budget")
    # Of those that can be asked for one is drawn: of 1 and 2 the second, then nothing is left to draw from.
    episode = model.walk([0] * 3, [UNKNOWN] * 3, Script(0.0, 0.5), explore=True, left=3, buys=True)
    assert (episode.items, episode.wandered_from, episode.stop) == ([2], 0, "budget")


def test_what_is_required_comes_first():
    needs = [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    model = nominal(3, needs=needs, questions=2)
    episode = model.walk([0] * 3, [UNKNOWN] * 3, Script(0.0, 0.0, 0.0), explore=True, buys=True)
    assert episode.items == [1, 2]
    episode = model.walk([0] * 3, [UNKNOWN] * 3, Script(0.0, 0.9, 0.0), explore=True, buys=True)
    assert episode.items == [2, 0]
    episode = model.walk([0] * 3, [UNKNOWN, UNKNOWN, REFUSED], Script(0.0, 0.0, 0.0), explore=True, buys=True)
    assert episode.items == [0, 1]
    episode = model.walk([0] * 3, [UNKNOWN, REFUSED, ORDERED], Script(), explore=True, buys=True)
    assert (episode.items, episode.stop) == ([], "nothing left")


def test_a_group_is_one_question_with_one_result():
    model = nominal(3, item=[0, 1, 0], price=[3, 1], questions=2, updates="single")
    episode = model.buy_and_learn([4, 5, None], "yes", Script(NO_WANDER, NO_WANDER))
    assert (episode.items, episode.cost, episode.status) == ([0, 1], 4, [KNOWN, KNOWN, MISSING])
    both = state_of((0, 4), (2, "missing"))
    assert set(model.table) == {ROOT, both, both | {(1, 5)}}
    # With one of its features unknown it has to be bought, with one ordered or refused it cannot be asked for.
    new, asks = nominal(3, item=[0, 1, 0], price=[3, 1]), {UNKNOWN: 0, ORDERED: 1, REFUSED: 1}
    for state, item in asks.items():
        episode = new.walk([4, 5, None], [KNOWN, UNKNOWN, state], Script(*[NO_WANDER] * 3), explore=True)
        assert (episode.items, episode.asks) == ([], item)


def test_given_values_matter_only_where_they_are_asked_for():
    model = ripe()
    for values, status in (([1, 0, 0], [KNOWN, KNOWN, UNKNOWN]), ([1, None, None], [KNOWN, UNKNOWN, UNKNOWN])):
        episode = model.walk(values, status, Script(), explore=False)
        assert (episode.items, episode.stop, episode.cost) == ([0], "worth", 0)


def test_what_is_known_off_the_way_answers_as_long_as_it_is_trusted():
    model = nominal(3, questions=2, worth=1, updates="single")
    # Nothing is worth its price. 0 and 1 were seen often alone, 2 with 1, 0 with others never.
    for _ in range(9):
        model.learn_case([0, None, None], [KNOWN, UNKNOWN, UNKNOWN], "no", Script(*[NO_WANDER] * 9), bought=[0])
        model.learn_case([None, 0, 0], [UNKNOWN, KNOWN, KNOWN], "yes", Script(*[NO_WANDER] * 9), bought=[1, 2])
    b = state_of((1, 0))
    believers = {
        (UNKNOWN, UNKNOWN, UNKNOWN): ROOT,
        (UNKNOWN, UNKNOWN, KNOWN): ROOT,
        (UNKNOWN, KNOWN, UNKNOWN): b,
        (UNKNOWN, KNOWN, KNOWN): b | {(2, 0)},
        (UNKNOWN, KNOWN, ORDERED): b,
        (UNKNOWN, REFUSED, KNOWN): ROOT,
        # In the order of items: with 0 nothing else was seen.
        (KNOWN, KNOWN, KNOWN): state_of((0, 0)),
    }
    for status, answering in believers.items():
        assert model.walk([0] * 3, status, Script(), explore=False).items == []
        assert model.answering([0] * 3, status) == answering
    # Full.
    model.questions = 1
    assert model.answering([0] * 3, (UNKNOWN, KNOWN, KNOWN)) == b


def test_a_question_that_the_policy_prefers_ends_the_way_that_answers():
    model = ripe()
    # It would ask for 0: from the root on what is known counts, in the order of items.
    assert model.answering([1, 0, 0], [UNKNOWN, KNOWN, KNOWN]) == state_of((1, 0), (2, 0))
    assert model.answering([1, 0, 0], [UNKNOWN, UNKNOWN, KNOWN]) == state_of((2, 0))
    assert model.answering([1, 0, 0], [KNOWN, UNKNOWN, KNOWN]) == state_of((0, 1), (2, 0))


def test_the_answer_brings_most_under_the_probabilities():
    model = nominal(1, rewards={"ill": (3, -100)})
    model.learn_row([1], "ill", Random(0))
    for _ in range(10):
        model.learn_row([0], "well", Random(0))
    # Only "well" was seen with 0, which is no proof.
    s, ill = state_of((0, 0)), F(1, 2) / 11
    assert model.probabilities([0], [KNOWN]) == {"ill": ill, "well": 1 - ill}
    assert model.expected([0], [KNOWN]) == {"ill": 3 * ill - (1 - ill), "well": -100 * ill}
    assert model.report(s, "well") > model.report(s, "ill")
    assert model.answer([0], [KNOWN]) == "ill"
    # Of equal ones the first in order, whichever was seen first.
    model = nominal(1)
    for label in ("b", "a") * 5:
        model.learn_row([0], label, Random(0))
    assert model.answer([0], [KNOWN]) == "a"


def test_a_case_that_wanders_goes_on_wandering_only_if_anchored():
    for updates, items in (("anchored", [2, 1]), ("single", [2, 0]), ("lattice", [2, 0])):
        model = nominal(3, questions=2, updates=updates)
        episode = model.walk([0] * 3, [UNKNOWN] * 3, Script(0.001, 0.7, 0.6), explore=True, buys=True)
        assert (episode.items, episode.wandered_from, episode.stop) == (items, 0, "questions")


def test_without_truncation_a_report_may_be_drawn():
    model = ripe(truncated=False)
    # Of 3 items and 2 classes.
    assert model.walk([0] * 3, [UNKNOWN] * 3, Script(0.0, 0.59), explore=True).asks == 2
    episode = model.walk([0] * 3, [UNKNOWN] * 3, Script(0.0, 0.61), explore=True)
    assert (episode.items, episode.asks, episode.stop) == ([], None, "worth")


# Learning


def test_a_missing_value_is_a_result_of_its_own():
    model = nominal(1)
    for value, label in ((None, "ill"), (0, "well"), (math.nan, "ill")):
        model.learn_row([value], label, Random(0))
    assert (share_of(model, "ill", (0, "missing")), share_of(model, "well", (0, 0))) == (1, 1)
    assert model.table[ROOT].pairs[0].shares == {state_of((0, "missing")): F(2, 3), state_of((0, 0)): F(1, 3)}


def test_bins_are_drawn_before_an_example_is_learned():
    model = NaiveReinforced(["numeric"], number=F, worth=None)
    for k in range(15):
        model.learn_row([float(k)], k >= 8, Random(0))
    old, low, high, none = ((0, bin_id) for bin_id in ((0, 0), (1, 0), (1, 1), "missing"))
    assert set(model.table) == {ROOT, state_of(old)}
    model.learn_row([None], True, Random(0))
    assert model.table[ROOT].pairs[0].n == 16
    # The sixteenth known value is learned in one of two new bins; the question begins anew.
    model.learn_row([15.0], True, Random(0))
    assert set(model.table) == {ROOT, state_of(old), state_of(none), state_of(high)}
    assert (model.table[ROOT].n, model.table[ROOT].pairs[0].n) == (17, 1)
    model.learn_row([0.0], False, Random(0))
    assert model.table[ROOT].pairs[0].shares == {state_of(high): F(1, 2), state_of(low): F(1, 2)}
    assert model.n(state_of(old)) == 15
    # What is missing is no bin.
    model.learn_row([None], True, Random(0))
    assert model.n(state_of(none)) == 2


@pytest.mark.parametrize(("bins", "changes"), [(2, 1), (4, 2), (5, 3), (9, 4)])
def test_bins_are_others_only_when_their_number_changes(bins, changes):
    model, rng, changed = NaiveReinforced(["numeric"], bins=bins), random.Random(1), set()
    for k in range(1, 600):
        before = model.features[0].edges
        model.count_values([rng.random()], [KNOWN], 1)
        changed |= {k} if model.features[0].edges != before else set()
    assert changed == {16, 32, 64, 128, 256, 512}
    assert (len(model.features[0].edges), model.features[0].drawn) == (bins - 1, changes)


def test_bins_with_the_same_edges_are_the_same():
    model = NaiveReinforced(["numeric"], number=F, worth=None)
    for k in range(70):
        # Two values: one edge, from the sixteenth on; a third one comes after 40.
        model.learn_row([float(k % 2 if k < 40 else k % 3)], k % 2, Random(0))
        if k == 33:
            assert (model.features[0].drawn, model.table[ROOT].pairs[0].n) == (1, 34 - 15)
            assert model.n(state_of((0, (1, 0)))) + model.n(state_of((0, (1, 1)))) == 34 - 15
    assert (model.features[0].edges, model.features[0].drawn) == ([0.5, 1.5], 2)
    assert model.table[ROOT].pairs[0].n == 70 - 63


def test_only_what_a_case_knows_counts_for_bins():
    model = NaiveReinforced(["numeric", "numeric"], questions=1, updates="single")
    model.buy_and_learn([1.0, 2.0], "no", Script(NO_WANDER))
    model.learn_case([1.0, 2.0], [KNOWN, KNOWN], "no", Script(NO_WANDER))
    assert [feature.known for feature in model.features] == [2, 1]


def test_a_whole_row_goes_eight_ways():
    model = nominal(3, questions=2, needs=[[0, 1, 0], [0, 0, 0], [0, 0, 0]], updates="single")
    # From the root 1 or 2, after 1 the first of 0 and 2, after 2 only 1.
    model.learn_row([7, 8, 9], "yes", Script(*[0.0, 0.0] * 7, 0.9, 0.9))
    a, b, c = (0, 7), (1, 8), (2, 9)
    assert set(model.table) == {ROOT, state_of(b), state_of(c), state_of(a, b), state_of(b, c)}
    assert {record.n for record in model.table.values()} == {1}
    assert {(s, i) for s, record in model.table.items() for i in record.pairs} == {
        (ROOT, 1),
        (ROOT, 2),
        (state_of(b), 0),
        (state_of(c), 1),
    }


def test_what_a_case_has_bought_is_learned_even_if_it_would_not_be_asked_for_now():
    model = ripe(updates="single")
    before = {s: record.n for s, record in model.table.items()}
    # It would ask for 0 only, and 1 was given: not bought.
    episode = model.learn_case([1, 0, 0], [KNOWN] * 3, 1, Script(*[NO_WANDER] * 2), bought=[2, 0])
    assert (episode.items, episode.stop) == ([0, 2], "worth")
    grown = {s for s, record in model.table.items() if record.n > before.get(s, 0)}
    assert grown == {ROOT, state_of((0, 1)), state_of((0, 1), (2, 0))}
    # Until it is full; what is ordered is not known.
    episode = model.learn_case([1, 0, 0], [KNOWN] * 3, 1, Script(*[NO_WANDER] * 2), bought=[2, 1])
    assert episode.items == [0, 2]
    episode = model.learn_case([1, None, 0], [KNOWN, ORDERED, KNOWN], 1, Script(NO_WANDER, NO_WANDER), bought=[1, 2])
    assert episode.items == [0, 2]


def test_warm_up_ends_for_states_and_pairs_by_themselves():
    model = nominal(2, questions=2)
    row, episode = [0, 0], Script(*[NO_WANDER] * 999)
    a, b = state_of((0, 0)), state_of((1, 0))
    for _ in range(25):
        # As a case that has bought 0 and then 1 and was sure from the beginning.
        model.learn_case(row, [KNOWN] * 2, "no", episode, bought=[0, 1])
    assert [model.n(s) for s in (ROOT, a, b, a | b)] == [25, 25, 20, 25]
    assert [model.n(*pair) for pair in ((ROOT, 0), (a, 1), (ROOT, 1), (b, 0))] == [25, 25, 20, 20]
    # The reports of b have enough, of (b, 0) there is a new result.
    model.table[b].pairs[0].n -= 1
    model.learn_case([1, 0], [KNOWN] * 2, "no", episode, bought=[0, 1])
    assert (model.n(b), model.n(b, 0), model.n(ROOT, 1)) == (20, 20, 20)
    assert state_of((0, 1), (1, 0)) in model.table[b].pairs[0].shares


def test_of_many_items_random_orders_are_learned():
    model = nominal(6, questions=5, updates="lattice")
    # Nothing was updated: the first five. Then eight orders of four draws: .999 leaves all in place, 0 turns them.
    draws = [NO_WANDER] * 5 + [0.999] * 28 + [0.0] * 4
    model.buy_and_learn([9] * 6, "no", Script(*draws))
    # 01234: 4 and 0, 3 and 4, 2 and 3, 1 and 2 change places.
    orders = ([0, 1, 2, 3, 4], [1, 2, 3, 4, 0])
    expected = {state_of(*((f, 9) for f in order[:j])) for order in orders for j in range(6)}
    assert set(model.table) == expected
    pairs = {(s, i) for s, record in model.table.items() for i in record.pairs}
    assert pairs == {(state_of(*((f, 9) for f in order[:j])), order[j]) for order in orders for j in range(5)}


def test_four_items_are_learned_in_all_subsets():
    model = nominal(4, questions=4, updates="lattice")
    model.buy_and_learn([9] * 4, "no", Script(*[NO_WANDER] * 4))
    assert len(model.table) == 16
    assert sum(len(record.pairs) for record in model.table.values()) == 4 * 8


def test_the_rarest_half_is_forgotten_and_its_value_kept():
    model = nominal(1, rewards=(8, 0))
    for value in (0, 0, 1, 2):
        model.learn_row([value], "no", Random(0))
    model.forget_half()
    assert set(model.table) == {ROOT, state_of((0, 0))}
    model.learn_row([0], "yes", Random(0))
    pair = model.table[ROOT].pairs[0]
    # 3/5 of 8 * 2/3, and 2/5 of 8, as it was.
    assert pair.G - F(2, 5) * 8 == F(3, 5) * 8 * F(2, 3)
    model.learn_row([2], "yes", Random(0))
    assert (model.n(state_of((0, 2))), pair.n) == (1, 6)
    assert set(pair.forgotten) == {state_of((0, 1))}


@pytest.mark.parametrize("updates", ["single", "lattice", "anchored"])
@pytest.mark.parametrize("backup", ["counts", "sample"])
def test_floats_do_as_fractions_do(updates, backup):
    rng = random.Random(3)
    exact, quick = (
        NaiveReinforced(
            ["nominal", "numeric", "nominal", "numeric"],
            price=[1, 2, 1],
            item=[0, 1, 2, 1],
            questions=2,
            worth=50,
            explore=0.2,
            updates=updates,
            backup=backup,
            number=number,
        )
        for number in (F, float)
    )
    for k in range(60):
        label = rng.randrange(3)
        row = [rng.randrange(2), rng.gauss(label, 1), None if rng.random() < 0.2 else label // 2, rng.random()]
        paths = [model.buy_and_learn(row, label, Random(k)) for model in (exact, quick)]
        assert paths[0].items == paths[1].items
    assert set(exact.table) == set(quick.table)
    for s, record in exact.table.items():
        assert float(record.V) == pytest.approx(quick.table[s].V, abs=1e-9)
        assert sum(record.shares.values()) == 1
        for pair in record.pairs.values():
            assert sum(pair.shares.values()) == 1


# The multiplexer: an address and two data bits, 5 % of the labels turned over, two questions


def multiplexer(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        row = [rng.randrange(2) for _ in range(3)]
        yield row, row[1 + row[0]] ^ (rng.random() < 0.05)


def accuracy(updates, seed, count=2400, counted=1200):
    model = NaiveReinforced(
        ["nominal"] * 3, questions=2, worth=None, rewards=(5, -5), gamma=0.8, start=8, updates=updates
    )
    draws, right = Random(seed), 0
    for k, (row, label) in enumerate(multiplexer(count, seed + 100)):
        episode = model.walk(row, [UNKNOWN] * 3, draws, explore=True, buys=True)
        right += k >= count - counted and model.answer(row, episode.status) == label
        model.learn_way(row, episode, label, draws, 1)
    return right / counted


def test_the_printed_rule_is_biased_on_the_multiplexer():
    rows = [row for row in product((0, 1), repeat=3) for _ in range(2)]
    labels = [row[1 + row[0]] ^ turned for row, turned in zip(rows, [0, 1] * 8, strict=True)]
    best = 1 - best_policy((rows, labels, [19, 1] * 8), price_of_error=1000, most=2).loss
    assert best == pytest.approx(0.95)
    for seed in range(3):
        assert accuracy("anchored", seed) > best - 0.02
        assert accuracy("lattice", seed) < best - 0.05
