"""The compiled engine against the plain one: every purchase, answer and number, example by example."""

import math

import numpy as np
import pytest

from quercus.acquisition.layout import KNOWN, MISSING, ORDERED, REFUSED, UNKNOWN
from tests.learners.reinforced.following import (
    NAMES,
    Seeds,
    as_dict,
    assert_same_answer,
    assert_same_belief,
    assert_same_table,
    make_both,
    make_stream,
)
from tests.learners.reinforced.oracle import EXPLORED_MORE
from tests.learners.utility.draws import Generator

# Each case against a slow version: `make soak` runs them all.
pytestmark = pytest.mark.sampled(7)

GROUPED = {"costs": {"a": 3.0, "lab": 2.2, "e": 0.3}, "groups": {"lab": ["b", "c"]}, "requires": {"d": ["lab"]}}
# Without a model: by it, what is free and tells nothing is worth as much as a report, and rounding would decide.
FREE = GROUPED | {"costs": {"a": 3.0, "lab": 2.2, "e": 0.0}}
PLAIN = {"prior": 0.0, "trusted": 5.0, "questions": 3}
LOSS = {"maybe": {"no": 4.0, "yes": 2.1}, "yes": {"no": 0.7}}
UNLIKE = {"costs": {"a": 1.3, "b": 0.9, "c": 1.1, "d": 0.7, "e": 1.7}, "worth": 40.0}
RULES = [(updates, backup) for updates in ("single", "lattice", "anchored") for backup in ("counts", "sample")]
VARIANTS = {
    "default": {"costs": UNLIKE["costs"]},
    "wandering": UNLIKE | {"explore": 0.3},
    "ends are drawn": UNLIKE | {"explore": 0.4, "truncated": False},
    "groups": GROUPED | {"explore": 0.2, "worth": 60.0},
    "budget": UNLIKE | {"budget": 2.5, "explore": 0.2},
    "loss": UNLIKE | {"loss": LOSS, "explore": 0.1},
    "auto loss": {"costs": UNLIKE["costs"], "loss": LOSS},
    "rewards": UNLIKE | {"rewards": (5.0, -4.0), "gamma": 0.8, "start": 8.0, "worth": None},
    "rewards by label": {"rewards": {"yes": (1.0, -7.0), "maybe": (2.0, 0.5)}, "gamma": 0.9, "costs": UNLIKE["costs"]},
    "changes": UNLIKE | {"alpha": 0.05, "rates": {"no": 0.4, "maybe": 1.5}},
    "no model": UNLIKE | PLAIN | {"explore": 0.2},
    "no model, all trusted": UNLIKE | {"prior": 0.0, "questions": 3, "explore": 0.2},
    "free": FREE | PLAIN | {"explore": 0.2, "worth": 60.0},
    "strong model": UNLIKE | {"prior": 12.5, "explore": 0.1, "questions": 3},
    "model, not all trusted": UNLIKE | {"trusted": 3.0, "explore": 0.1},
    "grouped budget": GROUPED | {"budget": 4.0, "explore": 0.3, "worth": 60.0},
    "two questions": UNLIKE | {"questions": 2, "bins": 3, "trusted": 2.5},
    "many questions": UNLIKE | {"questions": 5, "explore": 0.25, "bins": 2, "worth": 400.0},
}


def buy_both(tree, plain, seeds, row, label, weight):
    """One example, bought and learned on both sides; how it went on the plain one."""
    left = math.inf if tree.budget is None else tree.budget
    draws = seeds.draws()
    episode = plain.walk(row, [UNKNOWN] * len(row), draws, explore=True, left=left, buys=True)
    expected, brings = plain.probabilities(row, episode.status), plain.expected(row, episode.status)
    plain.learn_way(row, episode, label, draws, weight)
    result = tree.buy_and_learn([as_dict(row)], [label], sample_weight=[weight])
    assert result.bought[0].tolist() == [state in (KNOWN, MISSING) for state in episode.status]
    assert result.cost[0] == pytest.approx(episode.cost)
    assert_same_belief(tree, result.proba[0], expected)
    assert_same_answer(result.answers[0], brings)
    return episode


# Each variant by a third of the rules, of each backup one, and each rule with a third of the variants.
CROSSED = [(variant, *rule) for v, variant in enumerate(VARIANTS) for r, rule in enumerate(RULES) if (v + r) % 3 == 0]


@pytest.mark.parametrize(("variant", "updates", "backup"), CROSSED)
def test_buying_and_learning(variant, updates, backup):
    rows, labels, weights = make_stream(np.random.default_rng(1), 80)
    tree, plain = make_both(**VARIANTS[variant] | {"updates": updates, "backup": backup})
    seeds, sizes, wandered = Seeds(tree), [], 0
    for i, (row, label, weight) in enumerate(zip(rows, labels, weights, strict=True)):
        episode = buy_both(tree, plain, seeds, row, label, weight)
        sizes.append(len(episode.items))
        wandered += episode.wandered_from is not None
        if i % 30 == 0 or i < 5:
            assert_same_table(tree, plain)
    assert_same_table(tree, plain)
    assert max(sizes) >= 2
    assert wandered or tree.explore < 0.1


def learn_wholes(tree, plain, seeds, rows, labels, weights):
    for row, label, weight in zip(rows, labels, weights, strict=True):
        plain.learn_row(row, label, seeds.draws(), weight)
        tree.learn_one(as_dict(row), label, weight)


@pytest.mark.parametrize("variant", ["default", "groups", "changes", "rewards", "many questions", "no model", "free"])
def test_whole_rows(variant):
    rows, labels, weights = make_stream(np.random.default_rng(2), 60)
    tree, plain = make_both(**VARIANTS[variant])
    seeds = Seeds(tree)
    for start in range(0, 60, 10):
        part = slice(start, start + 10)
        learn_wholes(tree, plain, seeds, rows[part], labels[part], weights[part])
        assert_same_table(tree, plain)


def test_bins_are_drawn_anew_and_keep_their_names_while_they_are_as_many():
    rows, labels, weights = make_stream(np.random.default_rng(5), 150)
    tree, plain = make_both(bins=5)
    learn_wholes(tree, plain, Seeds(tree), rows, labels, weights)
    assert min(feature.known for feature in plain.features) > 128
    assert max(feature.drawn for feature in plain.features) == 3
    assert [feature.drawn for feature in plain.features] == tree._state.features["drawn"].tolist()
    assert_same_table(tree, plain)


@pytest.mark.parametrize("alpha", [0.0, 0.02])
def test_bins_follow_the_stream(alpha):
    """Values that grow; with alpha the bins are drawn anew after 1024."""
    rows, labels, weights = make_stream(np.random.default_rng(6), 1150)
    for i, row in enumerate(rows):
        row[0], row[4] = (None if row[f] is None else row[f] + i / 200 for f in (0, 4))
    tree, plain = make_both(**UNLIKE | {"alpha": alpha, "questions": 2, "bins": 3})
    seeds = Seeds(tree)
    learn_wholes(tree, plain, seeds, rows[:1000], labels[:1000], weights[:1000])
    before = [list(feature.edges) for feature in plain.features]
    for row, label, weight in zip(rows[1000:], labels[1000:], weights[1000:], strict=True):
        learn_wholes(tree, plain, seeds, [row], [label], [weight])
        buy_both(tree, plain, seeds, row, label, weight)
    moved = [edges != feature.edges for edges, feature in zip(before, plain.features, strict=True)]
    assert (moved[0], moved[4]) == (alpha > 0, alpha > 0)
    assert [feature.drawn for feature in plain.features] == tree._state.features["drawn"].tolist()
    assert_same_table(tree, plain)


CHANGING = [{}, PLAIN, {"updates": "lattice", "alpha": 0.01}, {"updates": "single", "backup": "sample"}]


@pytest.mark.parametrize("options", CHANGING)
def test_errors_that_rise(options):
    """d tells the class, until two of them change places; what was learned counts less then, and more is explored."""
    rows, labels, weights = make_stream(np.random.default_rng(8), 450)
    turned = {"no": "yes", "yes": "no", "maybe": "maybe"}
    tree, plain = make_both(**UNLIKE | {"adaptive": True, "questions": 3, "bins": 3} | options)
    seeds, found, wandered = Seeds(tree), [], [0, 0]
    for i, (row, label, weight) in enumerate(zip(rows, labels, weights, strict=True)):
        row[3] = row[3] if i % 10 == 0 else label
        more = plain.explored_more > 0
        episode = buy_both(tree, plain, seeds, row, turned[label] if i >= 250 else label, weight)
        wandered[more] += episode.wandered_from is not None
        if plain.explored_more == EXPLORED_MORE:
            found.append(i)
            assert_same_table(tree, plain)
    assert found
    assert min(found) > 250
    assert wandered[True] > wandered[False]
    assert_same_table(tree, plain)


def codes_of(tree, row):
    codes = np.empty(len(NAMES))
    tree.schema_.read_one(as_dict(row), codes, False)
    return codes


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_of_cases(variant):
    """Some of a row is known, refused or on its way: both ask for the same, and believe the same."""
    rng = np.random.default_rng(3)
    rows, labels, weights = make_stream(rng, 120)
    tree, plain = make_both(**VARIANTS[variant] | {"budget": None})
    learn_wholes(tree, plain, Seeds(tree), rows[:60], labels[:60], weights[:60])
    stops = {False: set(), True: set()}
    for number, row in enumerate(rows[60:]):
        states = rng.choice([UNKNOWN, KNOWN, REFUSED, ORDERED], len(row), p=[0.3, 0.5, 0.1, 0.1])
        status = [
            MISSING if state == KNOWN and value is None else int(state)
            for state, value in zip(states, row, strict=True)
        ]
        known = [value if state == KNOWN else None for value, state in zip(row, status, strict=True)]
        codes = codes_of(tree, known)
        for explore, found in stops.items():
            episode = plain.walk(known, status, Generator(number), explore=explore)
            decision = tree._plan(codes, np.array(status, np.uint8), math.inf, number, explore)
            assert (decision.item, decision.stop) == (-1 if episode.asks is None else episode.asks, episode.stop)
            if episode.asks is not None:
                assert decision.score == pytest.approx(episode.score)
            found.add(episode.stop)
        believed = tree._posterior(codes, np.array(status, np.uint8))[tree._order]
        assert_same_belief(tree, believed, plain.probabilities(known, status))
    assert all(len(found) > 2 for found in stops.values())


def state_of(tree, case, row):
    """What the oracle knows of a case: values, status, and price of each item that was bought, in order."""
    status = [case._history.status(name, tree._prices.group_of.get(name, name)) for name in NAMES]
    values = [value if state == KNOWN else None for value, state in zip(row, status, strict=True)]
    return values, status, {tree._prices.numbers[item]: price for item, price in case.bought.items()}


def ask_both(tree, plain, case, row):
    """The next question of a case, which is the same on both sides."""
    values, status, bought = state_of(tree, case, row)
    draws, explore, left = Generator(case._saved.seed), case._saved.explore, case._left()
    episode = plain.walk(values, status, draws, explore=explore, left=left, bought=bought)
    question = case.question
    assert (question, case.stopped) == (
        None if episode.asks is None else tree._prices.items[episode.asks],
        episode.stop,
    )
    return question


@pytest.mark.parametrize("variant", VARIANTS)
def test_cases_that_are_learned(variant):
    """Values that were given, bought, ordered or refused; budgets are those of the variant."""
    rng = np.random.default_rng(4)
    rows, labels, weights = make_stream(rng, 90)
    tree, plain = make_both(**VARIANTS[variant])
    learn_wholes(tree, plain, Seeds(tree), rows[:30], labels[:30], weights[:30])
    for row, label, weight in zip(rows[30:], labels[30:], weights[30:], strict=True):
        given = {name: value for name, value in as_dict(row).items() if value is not None and rng.random() < 0.2}
        case = tree.open(given, explore=bool(rng.random() < 0.7))
        while (question := ask_both(tree, plain, case, row)) is not None:
            if rng.random() < 0.15:
                case.refuse(question)
            elif rng.random() < 0.1:
                case.order(question)
            else:
                names = tree._prices.features(question)
                answer = {name: as_dict(row)[name] for name in names if case._states(question)[name] == UNKNOWN}
                case.answer(answer if names != [question] else answer[question])
        values, status, bought = state_of(tree, case, row)
        draws, explore, left = Generator(case._saved.seed), case._saved.explore, case._left()
        plain.learn_case(values, status, label, draws, bought=bought, explore=explore, weight=weight, left=left)
        tree.learn(case, label, weight)
    assert_same_table(tree, plain)
