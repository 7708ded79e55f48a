"""The naive reinforced tree with its model, by hand: tallies, model, r, guess, Q and V after each example."""

import random
from fractions import Fraction

import pytest

from .oracle import KNOWN, MISSING, ORDERED, ROOT, UNKNOWN, Episode, NaiveReinforced

F = Fraction
RULES = ("single", "lattice", "anchored")
A0, A1, B0, B1 = (frozenset([known]) for known in ((0, 0), (0, 1), (1, 0), (1, 1)))
a, b = 0, 1


def make(updates="single", prior=2, **options):
    """Reporting is worth 1 if right, else 0: report(s, k) = r(s, k). C = 1/20, gamma = 3/4."""
    fixed = {"price": [1, 1], "worth": 20, "rewards": (1, 0), "gamma": F(3, 4), "questions": 2, "trusted": 0}
    return NaiveReinforced(["nominal"] * 2, **fixed | {"updates": updates, "prior": prior, "number": F} | options)


def learn(model, row, label, items, wandered_from=None, weight=20):
    """A case that went just this way."""
    status = [KNOWN if model.item[f] in items else UNKNOWN for f in range(len(row))]
    model.learn_way(row, Episode(status, items=list(items), wandered_from=wandered_from), label, None, weight)


class Numbers:
    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def uniform(self):
        return self.numbers.pop(0)


class Random:
    def __init__(self, seed):
        self.uniform = random.Random(seed).random


# Every example weighs 20, so that a warm-up is over when a state was seen once.
EXAMPLES = [
    ((0, 0), "no", (a, b), None),
    ((1, None), "yes", (a,), None),
    ((0, 1), "yes", (b, a), 1),
]


def after(number, updates, prior):
    model = make(updates, prior)
    for row, label, items, wandered_from in EXAMPLES[:number]:
        learn(model, row, label, items, wandered_from)
    return model


def counts_by_result(model, i):
    return {(v, y): weight for v, by_label in model.tallies[i].counts.items() for y, weight in by_label.items()}


def values(model):
    """n and V of each state, n and G of each question."""
    reports = {s: (record.n, record.V) for s, record in model.table.items()}
    pairs = {(s, i): (pair.n, pair.G) for s, record in model.table.items() for i, pair in record.pairs.items()}
    return reports | pairs


@pytest.mark.parametrize("prior", [0, 2])
@pytest.mark.parametrize("updates", RULES)
def test_tallies_do_not_depend_on_what_is_updated(updates, prior):
    model = after(1, updates, prior)
    assert (counts_by_result(model, a), counts_by_result(model, b)) == ({(A0, "no"): 20}, {(B0, "no"): 20})
    assert (model.P(a), model.P(b)) == ({A0: {"no": 1}}, {B0: {"no": 1}})
    model = after(2, updates, prior)
    assert (counts_by_result(model, a), counts_by_result(model, b)) == (
        {(A0, "no"): 20, (A1, "yes"): 20},
        {(B0, "no"): 20},
    )
    # (20 + 1/2) / (20 + 2/2), and (0 + 1/2) / (20 + 2/2). Of b there is one result, and nothing of "yes".
    sure, hardly = F(41, 42), F(1, 42)
    assert model.P(a) == {A0: {"no": sure, "yes": hardly}, A1: {"no": hardly, "yes": sure}}
    assert model.P(b) == {B0: {"no": 1, "yes": 1}}
    model = after(3, updates, prior)
    assert counts_by_result(model, a) == {(A0, "no"): 20, (A0, "yes"): 20, (A1, "yes"): 20}
    assert counts_by_result(model, b) == {(B0, "no"): 20, (B1, "yes"): 20}
    # (20 + 1/2) / (40 + 1).
    assert model.P(a) == {A0: {"no": sure, "yes": F(1, 2)}, A1: {"no": hardly, "yes": F(1, 2)}}
    assert model.P(b) == {B0: {"no": sure, "yes": hardly}, B1: {"no": hardly, "yes": sure}}


def test_the_model_multiplies_what_results_tell_one_by_one():
    model = after(3, "single", 2)
    # root: 20 of 60 are "no": (20 + 1/2) / 61 and (40 + 1/2) / 61.
    assert model.model(ROOT) == {"no": F(41, 122), "yes": F(81, 122)}
    # 41/122 * 41/42 to 81/122 * 1/2; and with b1 1/42 and 41/42 more.
    assert model.model(A0) == {"no": F(41 * 41, 41 * 41 + 81 * 21), "yes": F(81 * 21, 41 * 41 + 81 * 21)}
    assert model.model(A0 | B1) == {"no": F(41, 41 + 81 * 21), "yes": F(81 * 21, 41 + 81 * 21)}
    # A result that was never seen tells nothing, the other one does.
    assert model.model(frozenset([(0, 7)])) == model.model(ROOT)
    assert model.model(A0 | {(1, 7)}) == model.model(A0)
    # Never updated, so that it is all of r; with 0 as prior there is none.
    assert model.r(A1 | B0) == model.model(A1 | B0)
    assert after(3, "single", 0).r(A1 | B0) == {}


@pytest.mark.parametrize("updates", RULES)
def test_values_without_a_prior(updates):
    # All is "no": V = 1, G = 3/4.
    first = dict.fromkeys((ROOT, A0, A0 | B0), (20, 1)) | {pair: (20, F(3, 4)) for pair in ((ROOT, a), (A0, b))}
    if updates != "single":
        first |= {B0: (20, 1), (ROOT, b): (20, F(3, 4)), (B0, a): (20, F(3, 4))}
    model = after(1, updates, 0)
    assert values(model) == first
    assert model.Q(ROOT, a) == F(3, 4) - F(1, 20)
    # a tells all: G stays, and is more than 1/2.
    second = first | {ROOT: (40, F(7, 10)), A1: (20, 1), (ROOT, a): (40, F(3, 4))}
    model = after(2, updates, 0)
    assert values(model) == second
    assert model.r(ROOT) == {"no": F(1, 2), "yes": F(1, 2)}
    # Q = 7/10 is more than r(root, yes) = 2/3.
    new = {ROOT: (60, F(7, 10)), B1: (20, 1), A0 | B1: (20, 1), (B1, a): (20, F(3, 4))}
    new[ROOT, b] = (20 if updates == "single" else 40, F(3, 4))
    if updates == "lattice":
        # a0 is even now: V(a0) = Q(a0, b) = 7/10. (root, a): two of three come there.
        new |= {A0: (40, F(7, 10)), (A0, b): (40, F(3, 4))}
        new[ROOT, a] = (60, F(3, 4) * (F(2, 3) * F(7, 10) + F(1, 3)))
    assert values(after(3, updates, 0)) == second | new


@pytest.mark.parametrize("updates", RULES)
def test_values_after_the_first_example(updates):
    model = after(1, updates, 2)
    # One class: all shares are 1, and what the model expects is what has come.
    assert values(model) == values(after(1, updates, 0))
    assert (model.r(ROOT), model.r(A1)) == ({"no": 1}, {"no": 1})
    assert (model.guess(ROOT, a), model.Q(ROOT, a)) == (1, (20 * F(3, 4) + 4 * F(3, 4)) / 24 - F(1, 20))


def q_of(n, G, guess):
    """2 prior gamma = 3."""
    return (n * G + 3 * guess) / (n + 4) - F(1, 20)


@pytest.mark.parametrize("updates", RULES)
def test_values_after_the_second_example(updates):
    # root before the example: "no" (20 + 1/2) / 21 = 41/42, "yes" 1/42. model(a1) = 41/42 * 1/42 to 1/42 * 41/42: even.
    # r(a1, yes) = (20 + 2 * 1/2) / 22 = 21/22 = V(a1); V(a0) = 1, as it was. G = 3/4 (1/2 + 1/2 * 21/22).
    G = F(3, 4) * F(43, 44)
    # r(root) = (20 + 2 * 41/42) / 42 = 461/882 and 421/882.
    # guess(root, a) = 461/882 * 41/42 ("no" for a0) + 421/882 * 41/42 ("yes" for a1) = 41/42.
    V = q_of(40, G, F(41, 42))
    assert F(461, 882) < V
    changed = {ROOT: (40, V), A1: (20, F(21, 22)), (ROOT, a): (40, G)}
    model = after(2, updates, 2)
    assert values(model) == values(after(1, updates, 2)) | changed
    # Looked at now, root(y) is even: so are r and what is expected of b, of which one result is known.
    assert model.r(ROOT) == {"no": F(1, 2), "yes": F(1, 2)}
    assert (model.guess(ROOT, a), model.guess(ROOT, b)) == (F(41, 42), F(1, 2))
    assert model.Q(ROOT, a) == q_of(40, G, F(41, 42))
    # Not tried in a1; by single not at the root.
    assert model.Q(A1, b) == F(3, 4) * model.r(A1)["yes"] - F(1, 20)
    assert model.Q(ROOT, b) == (q_of(0, 0, F(1, 2)) if updates == "single" else q_of(20, F(3, 4), F(1, 2)))


@pytest.mark.parametrize("updates", RULES)
def test_values_after_the_third_example(updates):
    # root before the example: even. model(a0) = 41/42 to 1/2 = 41/62, 21/62; model(b1) = 1/42, 41/42;
    # model(a0b1) = 41/42 * 1/42 to 1/2 * 41/42 = 1/22, 21/22.
    # r(a0b1, yes) = (20 + 2 * 21/22) / 22 = 241/242. r(b1, yes) = (20 + 2 * 41/42) / 22 = 461/462.
    changed = {A0 | B1: (20, F(241, 242)), B1: (20, F(461, 462)), (B1, a): (20, F(3, 4) * F(241, 242))}
    # r(root) = (20 + 1) / 62 and (40 + 1) / 62. guess(root, b) = 21/62 * 41/42 + 41/62 * 41/42 = 41/42;
    # guess(root, a) = 41/124 (either for a0) + 41/124 ("yes" for a1) = 41/62.
    n, G = (20, F(3, 4) * F(461, 462)) if updates == "single" else (40, F(3, 4) * F(923, 924))
    Q_a, Q_b = q_of(40, F(3, 4) * F(43, 44), F(41, 62)), q_of(n, G, F(41, 42))
    if updates == "lattice":
        # r(a0) = (20 + 2 * 41/62) / 42 = 661/1302 and 641/1302; guess(a0, b) = 41/42; b0 and b1 are as frequent.
        G_a0 = F(3, 4) * (F(1, 2) + F(1, 2) * F(241, 242))
        V_a0 = q_of(40, G_a0, F(41, 42))
        G_a = F(3, 4) * (F(2, 3) * V_a0 + F(1, 3) * F(21, 22))
        changed |= {A0: (40, V_a0), (A0, b): (40, G_a0), (ROOT, a): (60, G_a)}
        # 60 are enough.
        Q_a = G_a - F(1, 20)
        assert V_a0 > F(661, 1302)
    assert Q_b > max(Q_a, F(41, 62))
    changed |= {ROOT: (60, Q_b), (ROOT, b): (n, G)}
    model = after(3, updates, 2)
    assert values(model) == values(after(2, updates, 2)) | changed
    # Looked at now: root(y) = 41/122, 81/122; (20 + 2 * 41/122) / 62 = 1261/3782.
    r = {"no": F(1261, 3782), "yes": F(2521, 3782)}
    assert model.r(ROOT) == r
    assert {k: model.report(ROOT, k) for k in r} == r
    assert model.guess(ROOT, b) == F(41, 42)
    assert model.Q(ROOT, b) == q_of(n, G, F(41, 42))
    # At the root answers are smoothed by 1, elsewhere they are r.
    assert model.probabilities([0, 0], [UNKNOWN] * 2) == {"no": F(41, 122), "yes": F(81, 122)}
    assert model.probabilities([1, 0], [KNOWN] * 2) == model.r(A1 | B0)


def test_values_are_made_with_the_root_as_it_was_before_the_example():
    model = make()
    learn(model, (0, 0), "no", ())
    learn(model, (0, 0), "yes", (), weight=10)
    # (20 + 1/2) / 21 = 41/42 before; (20 + 1/2) / 31 = 41/62 now.
    before, now = (20 + 2 * F(41, 42)) / 32, (20 + 2 * F(41, 62)) / 32
    assert (model.table[ROOT].V, model.report(ROOT, "no")) == (before, now)


def test_fifty_are_evidence_enough():
    model = make()
    for weight, Q in ((49, F(49, 53)), (1, 1)):
        learn(model, (0, 0), "no", (a,), weight=weight)
        # G = 3/4, and one class: guess = 1. So that they differ, nothing was gained.
        model.table[ROOT].pairs[a].G = F(0)
        assert model.Q(ROOT, a) == (1 - Q) * F(3, 4) - F(1, 20)


def test_a_sample_moves_G_by_the_rate():
    model = make(backup="sample")
    learn(model, (0, 0), "no", (a,))
    learn(model, (1, 0), "yes", (a,))
    # V(a1) = 21/22, as above.
    G = F(3, 4) + F(1, 2) * (F(3, 4) * F(21, 22) - F(3, 4))
    assert model.table[ROOT].pairs[a].G == G


def test_alpha_makes_old_tallies_of_the_same_class_and_item_count_less():
    model = make(alpha=F(1, 2), rates={"no": 2})
    learn(model, (0, 0), "no", (a, b), weight=1)
    learn(model, (0, 0), "yes", (a,), weight=1)
    assert (counts_by_result(model, a), counts_by_result(model, b)) == (
        {(A0, "no"): 2, (A0, "yes"): 1},
        {(B0, "no"): 2},
    )
    learn(model, (1, 0), "no", (a,), weight=1)
    # w = 2: a quarter is left.
    assert counts_by_result(model, a) == {(A0, "no"): F(1, 2), (A0, "yes"): 1, (A1, "no"): 2}
    assert counts_by_result(model, b) == {(B0, "no"): 2}


def test_whole_rows_count_results_of_all_items():
    class Zero:
        def uniform(self):
            return 0.0

    model = make(questions=1)
    model.learn_row([0, None], "no", Zero(), weight=3)
    missing = frozenset([(1, "missing")])
    assert (counts_by_result(model, a), counts_by_result(model, b)) == ({(A0, "no"): 3}, {(missing, "no"): 3})
    assert set(model.table) == {ROOT, A0}
    # A question of which only a tally is known is asked by the model alone.
    assert model.walk([0, 0], [UNKNOWN] * 2, None, explore=False).stop == "worth"


def test_a_group_is_tallied_by_its_joint_result():
    model = make(item=[0, 0], price=[1])
    for row in ((0, 0), (0, 1)):
        learn(model, row, "no", (0,))
    assert counts_by_result(model, 0) == {(A0 | B0, "no"): 20, (A0 | B1, "no"): 20}


# What a case that does not explore does with the model


def untried(**options):
    """b tells all, and was never asked for after a0."""
    model = make(worth=100, **options)
    for k in range(2):
        learn(model, (0, k), k, (b,), weight=10)
        learn(model, (0, k), k, (a,), weight=10)
    return model


def test_untried_questions_are_asked_by_the_model():
    model = untried(rewards=(1, -1))
    episode = model.walk([0, 1], [UNKNOWN] * 2, None, explore=False, buys=True)
    assert (episode.items, model.answer([0, 1], episode.status)) == ([b], 1)
    # a is given and comes first if it is the cheaper, and then b, which was not tried there.
    model.price = [0, 1]
    model.table[ROOT].pairs[b].G = F(-1)
    model.table[ROOT].pairs[a].G = F(1)
    episode = model.walk([0, None], [KNOWN, UNKNOWN], None, explore=False)
    assert (episode.items, episode.asks, episode.score) == ([a], b, model.Q(A0, b))
    assert model.n(A0, b) == 0
    for options in ({"prior": 0}, {"trusted": 1}):
        other = untried(rewards=(1, -1), **options)
        other.table[ROOT].pairs[a].G, other.table[ROOT].pairs[b].G = F(1), F(-1)
        episode = other.walk([0, None], [KNOWN, UNKNOWN], None, explore=False)
        assert (episode.items, episode.stop) == ([a], "worth")
    # A case that explores takes it for what it starts with.
    model.start = 5
    episode = model.walk([0, None], [KNOWN, UNKNOWN], Numbers(0.9, 0.9), explore=True)
    assert (episode.items, episode.asks, episode.score) == ([a], b, 5)


def test_with_nothing_to_be_trusted_all_that_is_known_answers():
    model = untried()
    assert model.answering([0, 1], [KNOWN] * 2) == A0 | B1
    assert model.probabilities([0, 1], [KNOWN] * 2) == model.model(A0 | B1)
    # Never seen, and without a model.
    model = untried(prior=0)
    assert model.probabilities([0, 1], [KNOWN] * 2) == {0: F(1, 2), 1: F(1, 2)}
    model = untried(trusted=5)
    assert model.answering([0, 1], [KNOWN] * 2) in (A0, B1)


def test_with_a_prior_a_state_that_was_never_updated_has_reports():
    for prior, asked in ((2, None), (0, 0)):
        model = make(prior=prior, start=F(1, 2), questions=3)
        learn(model, (0, 0), "no", (a,))
        # At the root 1 is sure, so that it would report; a new result is a state of its own.
        model.table[ROOT].pairs[a].G = F(9)
        episode = model.walk([7, None], [KNOWN, UNKNOWN], Numbers(0.9, 0.9), explore=True)
        assert episode.items == [a]
        assert episode.asks == (None if asked is None else b)


# Budgets of cases that are looked at again


def priced(**options):
    fixed = {"price": [3, 2, 1], "questions": 3, "worth": None, "number": F, "start": 1, "rewards": (1, 0)}
    return NaiveReinforced(["nominal"] * 3, **fixed | options)


def test_a_case_goes_the_same_way_again_when_money_was_spent():
    model = priced()
    # All three fit: the second is drawn.
    episode = model.walk([None] * 3, [UNKNOWN] * 3, Numbers(0.0, 0.6), explore=True, left=3)
    assert (episode.items, episode.asks) == ([], 1)
    # a still counts among three at the root, though it is too dear now. What it cost then is what counts.
    for paid, items in (([1], [1]), ({1: 2}, [1]), ({1: 1}, []), ([], [])):
        known, draws = [UNKNOWN, KNOWN, UNKNOWN], Numbers(0.0, 0.6, 0.0)
        episode = model.walk([None, 0, None], known, draws, explore=True, left=1, bought=paid)
        assert (episode.items, episode.asks) == (items, 2)


def test_what_is_too_dear_by_now_is_chosen_again_by_the_same_number():
    model = priced()
    status = [UNKNOWN, KNOWN, UNKNOWN]
    # 1 left and 2 paid for b: a fits 3 and is drawn, but not to be had; of b and c the first is b, which is known.
    # There a is too dear, and c is left.
    episode = model.walk([None, 0, None], status, Numbers(0.0, 0.2, 0.5), explore=True, left=1, bought=[1])
    assert (episode.items, episode.wandered_from, episode.asks) == ([1], 0, 2)
    # Of equal starts the first, a; then b.
    episode = model.walk([None, 0, None], status, Numbers(0.9, 0.9), explore=True, left=1, bought=[1])
    assert (episode.items, episode.asks) == ([1], 2)


def test_nothing_is_left_to_choose_again():
    model = priced(price=[3, 2, 2])
    episode = model.walk([None] * 3, [UNKNOWN, ORDERED, UNKNOWN], Numbers(0.9), explore=True, left=1, bought=[1])
    assert (episode.items, episode.asks, episode.score, episode.stop) == ([], None, None, "budget")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("prior", [0, 2])
@pytest.mark.parametrize("explore", [False, True])
def test_a_case_that_is_looked_at_after_each_answer_goes_as_if_it_had_bought_at_once(explore, prior):
    rng, options = random.Random(2), {"price": [3, 2, 2, 1, 1], "questions": 4, "explore": 0.4, "worth": 100}
    model = NaiveReinforced(["nominal"] * 5, prior=prior, trusted=0, **options)
    lengths = set()
    for k in range(150):
        row, left = [rng.randrange(3) for _ in range(5)], rng.choice([3, 4, 5, 6])
        label = (row[0] + row[3]) % 2
        at_once = model.walk(row, [UNKNOWN] * 5, Random(k), explore=explore, left=left, buys=True)
        status, bought = [UNKNOWN] * 5, []
        while True:
            rest = left - sum(model.price[i] for i in bought)
            episode = model.walk(row, status, Random(k), explore=explore, left=rest, bought=bought)
            assert episode.items == bought
            if episode.asks is None:
                break
            status[episode.asks] = KNOWN
            bought.append(episode.asks)
        assert (bought, episode.stop) == (at_once.items, at_once.stop)
        lengths.add(len(bought))
        model.learn_case(row, status, label, Random(k), bought=bought, explore=explore, left=rest)
        if not explore:
            model.learn_row(row, label, Random(k))
    assert len(lengths) > 1


# Bins


def numeric(**options):
    return NaiveReinforced(["numeric"], number=F, worth=None, prior=2, trusted=0, **options)


def drawn_at(alpha, bins, count):
    model, state, times = numeric(alpha=alpha, bins=bins), 1, {}
    for k in range(1, count + 1):
        state = state * 16807 % 2147483647
        before = model.features[0].edges
        # They grow, so that later bins are others.
        model.count_values([float(state % 1000 + k)], [KNOWN], 1)
        if model.features[0].edges != before:
            times[k] = (len(model.features[0].edges) + 1, model.features[0].drawn)
    return times, model.features[0]


def test_bins_follow_the_values_and_keep_their_names():
    until_512 = {16: (2, 1), 32: (4, 2), 64: (5, 3), 128: (5, 3), 256: (5, 3), 512: (5, 3)}
    assert drawn_at(0, 5, 1700)[0] == until_512
    times, feature = drawn_at(F(1, 100), 5, 1700)
    assert times == until_512 | {1024: (5, 3), 1536: (5, 3)}
    assert len(feature.kept) == 512
    times, feature = drawn_at(0, 2, 600)
    assert (max(times), len(feature.edges), feature.drawn) == (512, 1, 1)


def test_bins_that_are_others_begin_anew_when_they_are_next_updated():
    model = numeric()
    for k in range(15):
        learn(model, (float(k),), k >= 8, (0,), weight=1)
    one = frozenset([(0, (0, 0))])
    assert counts_by_result(model, 0) == {(one, False): 8, (one, True): 7}
    # The sixteenth value is known and not on the way: there are two bins, and what was tallied counts as it is.
    model.learn_way((15.0,), Episode([KNOWN]), True, None, 1)
    assert (model.features[0].edges, model.features[0].drawn) == ([7.5], 1)
    assert counts_by_result(model, 0) == {(one, False): 8, (one, True): 7}
    high = frozenset([(0, (1, 1))])
    assert model.find_bin(0, 15.0) == (1, 1)
    assert model.model(high) == model.model(ROOT)
    assert model.n(ROOT, 0) == 15
    learn(model, (15.0,), True, (0,), weight=1)
    assert counts_by_result(model, 0) == {(high, True): 1}
    assert (model.n(ROOT, 0), model.n(high)) == (1, 1)


def test_bins_of_the_same_number_are_the_same_wherever_they_end():
    model = numeric(bins=2)
    for k in range(16):
        learn(model, (float(k),), k >= 8, (0,), weight=1)
    for k in range(16):
        learn(model, (100.0 + k,), True, (0,), weight=1)
    low, high = (frozenset([(0, (1, bin_id))]) for bin_id in (0, 1))
    # The edge moved from 7.5 to 57.5 with the last one: the question has all since the sixteenth.
    assert (model.features[0].edges, model.features[0].drawn) == ([57.5], 1)
    assert counts_by_result(model, 0) == {(high, True): 17}
    learn(model, (50.0,), False, (0,), weight=1)
    assert counts_by_result(model, 0) == {(high, True): 17, (low, False): 1}
    assert model.n(ROOT, 0) == 18


# Changes


def test_errors_that_rise_make_what_was_learned_count_less():
    model = make(adaptive=True, explore=0.01)
    for k in range(600):
        learn(model, (k % 2, 0), k % 2, (a,), weight=1)
        assert model.explored_more == 0
    assert model.n(ROOT) == 600
    for k in range(600):
        before = model.n(ROOT), model.n(A0), model.n(ROOT, a), model.tallies[a].total(0)
        learn(model, (k % 2, 0), 1 - k % 2, (a,), weight=1)
        if model.explored_more:
            break
    assert min(before[:3]) > 20
    # 20, and the example.
    assert (model.n(ROOT), model.n(ROOT, a)) == (21, 21)
    assert {model.n(A0), model.n(A1)} == {20, 21}
    assert {model.tallies[a].total(y) for y in (0, 1)} == {20, 21}
    assert model.explored_more == 500
    # .05 is enough to wander now.
    assert model.walk([0, 0], [UNKNOWN] * 2, Numbers(0.05, 0.99, 0.0), explore=True).wandered_from == 0
    model.explored_more = 1
    model.learn_row([0, 0], 1, Numbers(*[0.0] * 16))
    learn(model, (0, 0), 1, (a,), weight=0)
    assert model.explored_more == 1
    learn(model, (0, 0), 1, (a,), weight=1)
    assert model.explored_more == 0
    assert model.walk([0, 0], [UNKNOWN] * 2, Numbers(0.05, 0.05), explore=True).wandered_from is None


def test_tallies_count_less_in_proportion_and_only_those_above_20():
    model = make()
    for row, label, weight in (((0, 0), "no", 30), ((1, 0), "no", 10), ((1, 0), "yes", 7)):
        learn(model, row, label, (a,), weight=weight)
    shares = dict(model.table[ROOT].shares)
    model.count_less()
    assert counts_by_result(model, a) == {(A0, "no"): 15, (A1, "no"): 5, (A1, "yes"): 7}
    assert [model.n(s) for s in (ROOT, A0, A1)] == [20, 20, 17]
    assert (model.n(ROOT, a), model.table[ROOT].shares) == (20, shares)


def test_fewer_errors_are_no_reason():
    model = make(adaptive=True)
    learn(model, (0, 0), "no", (a,), weight=30)
    for k in range(1200):
        model.watch((0, 0), [KNOWN, UNKNOWN], "yes" if k < 600 else "no")
    assert model.detector.rose is False
    assert (model.explored_more, model.n(ROOT)) == (0, 30)


def test_only_an_adaptive_tree_watches():
    model = make()
    for k in range(1200):
        learn(model, (0, 0), int(k > 600), (a,), weight=1)
    assert (model.explored_more, model.n(ROOT), model.detector.n) == (0, 1200, 0)


def test_missing_is_no_bin():
    model = numeric()
    learn(model, (None,), True, (0,), weight=1)
    missing = frozenset([(0, "missing")])
    assert counts_by_result(model, 0) == {(missing, True): 1}
    assert model.probabilities([None], [MISSING]) == model.r(missing)
