"""The naive utility tree against cases worked out by hand, and its scores against their meaning."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.evaluation.oracle import STOP, Environment, naive_bayes, optimum, play
from tests.learners.utility.oracle import scores as scoring
from tests.learners.utility.oracle.cases import (
    KNOWN,
    MISSING,
    ORDERED,
    REFUSED,
    UNKNOWN,
    Case,
    Items,
    Rules,
    answer,
    best_answer,
    exp3_shares,
    exp3_update,
    plan,
    posterior_of,
    reveal,
    run,
    seen_bins,
)
from tests.learners.utility.oracle.state import NaiveUtility

seeds = st.integers(0, 2**32 - 1)


def close(value, **tolerance):
    return pytest.approx(value, **{"abs": 1e-12, **tolerance})


def numbers(values, labels=None, **options):
    """A model of one numeric feature that has learned these values."""
    model = NaiveUtility(["numeric"], **options)
    for k, value in enumerate(values):
        model.learn([value], labels[k] if labels else "a")
    return model


def table_model(rows, **options):
    """A model of nominal features from (count, label, values)."""
    model = NaiveUtility(["nominal"] * len(rows[0][2]), **options)
    for count, label, values in rows:
        for _ in range(count):
            model.learn(values, label)
    return model


def two_tests(**options):
    """x0 tells the class nearly for sure, x1 does not tell it at all."""
    rows = [(40, "a", "0s"), (40, "a", "0t"), (40, "b", "1s"), (40, "b", "1t"), (1, "a", "1s"), (1, "b", "0t")]
    return table_model(rows, **options)


def empty(model):
    return Case.opened([None] * len(model.features))


# What is learned


def test_means_and_class_weights():
    model = table_model([(3, "yes", ["u"]), (1, "yes", ["v"]), (1, "no", ["v"])])
    assert model.P().tolist() == close([5 / 7, 2 / 7])
    assert model.mean()[0].tolist() == [close([4 / 6, 2 / 6]), close([1 / 3, 2 / 3])]
    model.learn(["w"], "no")
    assert model.mean()[0][1].tolist() == close([(2 / 3) / 4, (5 / 3) / 4, (5 / 3) / 4])
    model.classes = "uniform"
    assert model.P().tolist() == [0.5, 0.5]


def test_missing_values_and_weights():
    model = NaiveUtility(["nominal", "numeric"])
    model.learn(["u", math.nan], "a", 2.5)
    model.learn([None, 3.0], "a", 0.5)
    model.learn(["v", 3.0], "b", 0.0)
    assert (model.labels, model.n) == (["a"], [3.0])
    assert (model.features[0].categories, model.features[0].counts, model.features[1].counts) == (
        ["u"],
        [[2.5]],
        [[0.5]],
    )


def test_forgetting_comes_before_counting():
    model = NaiveUtility(["nominal"], forget=0.5)
    for value, label in [("u", "a"), ("v", "a"), ("v", "b")]:
        model.learn([value], label)
    assert model.n == [0.75, 1.0]
    assert model.features[0].counts == [[0.25, 0.5], [0.0, 1.0]]


def test_bins_are_drawn_at_the_milestones():
    values = list(range(1, 601))
    assert numbers(values[:15]).features[0].edges == []
    assert numbers(values[:15]).young(0)
    assert numbers(values[:16]).features[0].edges == [8.5]
    assert not numbers(values[:16]).young(0)
    assert numbers(values[:31]).features[0].edges == [8.5]
    assert numbers(values[:63]).features[0].edges == [8.5, 16.5, 24.5]
    assert numbers(values[:64], bins=3).features[0].edges == [22.5, 43.5]
    assert numbers(values).features[0].edges == [64.5 + 64 * k for k in range(7)]
    assert numbers(values).features[0].counts == [[64.0] * 7 + [152.0]]


def test_zeros_and_ones_have_one_edge_and_a_constant_none():
    assert numbers([0, 1] * 40).features[0].edges == [0.5]
    assert numbers([0, 0, 0, 1] * 40).features[0].edges == [0.5]
    assert numbers([7] * 20).features[0].edges == []
    assert not numbers([7] * 20).young(0)


def test_one_value_keeps_a_feature_young_ever_more_rarely():
    model = NaiveUtility(["nominal", "numeric", "nominal"])
    often = []
    for k in range(300):
        asked = [i for i in range(2) if model.young(i)]
        often.append(len(asked))
        model.learn(["u", None, "vw"[k % 2]], "a", asked=[*asked, 2])
    assert (
        often
        == [2] * 16 + [0] * 16 + [2] * 16 + [0] * 16 + [2] * 16 + [0] * 48 + [2] * 16 + [0] * 112 + [2] * 16 + [0] * 28
    )
    model.learn(["other", None, None], "a", asked=[0])
    model.rows = 10**6
    assert [model.young(i) for i in range(3)] == [False, True, False]


def test_edges_follow_the_weights():
    model = NaiveUtility(["numeric"])
    for value in range(16):
        model.learn([value], "a", 16.0 if value == 15 else 1.0)
    assert model.features[0].edges == [], "the mark lies within the last value"
    model = NaiveUtility(["numeric"])
    for value in range(16):
        model.learn([value], "a", 16.0 if value == 0 else 1.0)
    assert model.features[0].edges == [0.5]


@given(seeds)
def test_without_forgetting_counts_are_those_of_all_examples(seed):
    rng = np.random.default_rng(seed)
    model = NaiveUtility(["numeric", "nominal"], bins=int(rng.integers(2, 10)))
    examples = []
    for _ in range(int(rng.integers(1, 90))):
        row = [float(rng.integers(0, 9)) if rng.random() < 0.8 else None, str(rng.choice(["u", "v", "w"]))]
        examples.append((row, int(rng.integers(0, 3)), float(rng.integers(1, 5)) / 2))
        model.learn(*examples[-1])
    for i, feature in enumerate(model.features):
        counts = np.zeros((len(model.labels), feature.bins))
        for row, label, weight in examples:
            if row[i] is not None:
                counts[model.labels.index(label), feature.find_bin(row[i])] += weight
        assert np.array_equal(counts, feature.counts)
    pairs = model.pair_counts(0, 1)
    assert pairs.sum(axis=1).sum() == sum(w for row, _, w in examples if row[0] is not None)
    assert np.allclose(model.pair_mean(0, 1).sum(axis=(1, 2)), 1)


def test_with_forgetting_the_last_values_make_the_bins():
    model = numbers([*[0.0] * 512, *np.arange(512.0)], forget=0.01, bins=2)
    feature = model.features[0]
    assert (len(feature.kept), feature.edges) == (512, [255.5])
    assert sum(feature.counts[0]) == close(sum(0.99**k for k in range(1024)))
    assert feature.counts[0][0] == close(feature.counts[0][1])
    assert numbers([*[0.0] * 512, *np.arange(512.0)], bins=2).features[0].edges == []


def test_a_class_without_kept_values_starts_anew():
    values = [float(k % 7) for k in range(1024)]
    model = numbers(values, ["old"] * 512 + ["new"] * 512, forget=0.001)
    assert sum(model.features[0].counts[0]) == 0
    assert model.n[0] > 1


def test_thresholds_of_a_given_and_of_a_seen_range():
    given_range = numbers([55.0, 10.0, 10.1, -3.0, 400.0], numeric="thresholds", ranges={0: (0, 100)})
    assert given_range.features[0].counts == [[2, 1, 0, 0, 0, 1, 0, 0, 0, 1]]
    assert not given_range.young(0)
    seen = numbers([*range(5, 20), 25, 1000], numeric="thresholds")
    assert seen.features[0].edges == [7, 9, 11, 13, 15, 17, 19, 21, 23]
    assert seen.features[0].counts == [[3, 2, 2, 2, 2, 2, 2, 0, 0, 2]]
    assert numbers(range(15), numeric="thresholds").young(0)


# Scores


def environment(seed, features=3, sparse=False):
    """A random P(y) and theta, and something known."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 4))
    theta = []
    for _ in range(features):
        V = int(rng.integers(1, 4))
        theta_i = rng.dirichlet(np.full(V, 0.2 if sparse else 1.0), size=K)
        theta.append(theta_i)
    known = int(rng.integers(0, theta[0].shape[1]))
    return rng, rng.dirichlet(np.ones(K)), theta, {0: (known,)} if rng.random() < 0.7 else {}


def q_of(P, theta, seen):
    return scoring.posterior(P, [theta[i][:, list(bins)].sum(axis=1) for i, bins in seen.items()])


def single_outcomes(theta_u):
    return [(v,) for v in range(theta_u.shape[1])]


@given(seeds)
def test_ig_and_us_are_what_they_mean(seed):
    _, P, theta, seen = environment(seed)
    q = q_of(P, theta, seen)
    asked = {1: single_outcomes(theta[1])}
    assert scoring.ig(q, theta[1]) == close(scoring.ig_enumerated(P, theta, seen, asked))
    assert scoring.us(q, theta[1]) == close(scoring.us_enumerated(P, theta, seen, asked))


@given(seeds)
def test_groups_are_their_joint_outcomes(seed):
    _, P, theta, seen = environment(seed)
    q = q_of(P, theta, seen)
    asked = {i: single_outcomes(theta[i]) for i in (1, 2)}
    t = scoring.joint_table(theta[1:])
    assert scoring.ig(q, t) == close(scoring.ig_enumerated(P, theta, seen, asked))
    assert scoring.us(q, t) == close(scoring.us_enumerated(P, theta, seen, asked))
    assert scoring.ig(q, t) <= scoring.ig(q, theta[1]) + scoring.ig(q, theta[2]) + 1e-12


@given(seeds)
def test_edges_between_bins_are_two_outcomes(seed):
    rng, P, theta, _ = environment(seed)
    theta[1] = rng.dirichlet(np.ones(4), size=len(P))
    sides = [(0, 1), (2, 3)]
    seen = {1: sides[1]}
    asked = {2: single_outcomes(theta[2])}
    assert scoring.ig(q_of(P, theta, seen), theta[2]) == close(scoring.ig_enumerated(P, theta, seen, asked))
    t = scoring.table(theta[1], sides)
    assert scoring.ig(P, t) == close(scoring.ig_enumerated(P, theta, {}, {1: sides}))
    assert scoring.ig(P, t) <= scoring.ig(P, theta[1]) + 1e-12


@given(seeds)
def test_ec2_and_eced_are_sums_over_edges(seed):
    rng, P, theta, seen = environment(seed, sparse=True)
    q = q_of(P, theta, seen)
    hypotheses = [h for h in scoring.every_hypothesis([t.shape[1] for t in theta]) if rng.random() < 0.8]
    by_class = [scoring.joint_weights(P, theta, h) for h in hypotheses]
    weights, regions = [float(w.sum()) for w in by_class], [int(np.argmax(w)) for w in by_class]
    outcomes = single_outcomes(theta[1])
    fast = scoring.ec2(q, theta, 1, outcomes, hypotheses, weights, regions, seen)
    slow = scoring.ec2_edges(q @ theta[1], 1, outcomes, hypotheses, weights, regions, seen)
    assert fast == close(slow)
    assert fast >= -1e-12
    assert scoring.eced(q, theta[1]) == close(scoring.eced_edges(q, theta[1]))


def test_scores_by_hand():
    channel = np.array([[0.9, 0.1], [0.1, 0.9]])
    half = [0.5, 0.5]
    assert scoring.ig(half, np.eye(2)) == close(1)
    assert scoring.ig(half, channel) == close(1 + 0.9 * math.log2(0.9) + 0.1 * math.log2(0.1))
    assert scoring.us(half, channel) == close(1)
    assert scoring.us([1.0, 0.0], channel) == close(scoring.entropy([0.9, 0.1]))
    assert scoring.eced(half, channel) == close(2 / 9)
    assert scoring.eced(half, np.full((2, 3), 1 / 3)) == close(0)
    # two features of two bins: all hypotheses weigh 1/4; the first feature is the region, the second says nothing
    theta = [np.eye(2), np.full((2, 2), 0.5)]
    space = scoring.every_hypothesis([2, 2])
    known = (space, [0.25] * 4, [h[0] for h in space], {})
    assert scoring.ec2(half, theta, 0, [(0,), (1,)], *known) == close(1 / 4)
    assert scoring.ec2(half, theta, 1, [(0,), (1,)], *known) == close(3 / 16)


def test_impossible_values_leave_every_class_even():
    assert scoring.posterior([0.9, 0.1], [[0.0, 0.0]]).tolist() == [0.5, 0.5]
    assert scoring.posterior([0.9, 0.1], [[0.0, 1e-300], [1.0, 1e-300]]).tolist() == [0.0, 1.0]


# One step


def test_the_feature_that_tells_more_per_price_is_bought():
    model = two_tests()
    first = plan(model, empty(model), Items.single([1, 1]), Rules())
    assert (first.item, first.why, first.stop) == (0, "score", None)
    assert first.score == close(scoring.ig([0.5, 0.5], model.mean()[0]))
    assert first.ratios == {0: first.score}
    both = plan(model, empty(model), Items.single([3, 1]), Rules(objective="us"))
    assert both.item == 1
    assert both.ratios == {0: close(1 / 3), 1: close(1)}
    case = Case.opened(["0", None])
    assert plan(model, case, Items.single([1, 1]), Rules()).stop == "confident"
    assert answer(model, case) == "a"
    assert posterior_of(model, case).tolist() == close([81 / 83, 2 / 83])


def test_free_items_are_taken_whatever_the_stops_say():
    model = two_tests()
    case = Case.opened(["0", None], budget=0.0)
    free = plan(model, case, Items.single([1, 0]), Rules())
    assert (free.item, free.why) == (1, "free")
    locked = Items(range(2), [1, 0], [[0, 0], [1, 0]])
    assert plan(model, empty(model), locked, Rules()).item == 0
    assert plan(model, case, locked, Rules()).item == 1


def test_stops_in_their_order():
    model, items = two_tests(), Items.single([2, 2])
    surely = Rules(confidence=None)
    assert plan(model, Case.opened(["0", "s"]), items, Rules()).stop == "confident"
    assert plan(model, Case.opened(["0", "s"]), items, surely).stop == "nothing left"
    assert plan(model, Case.opened([None, None], budget=1.0), items, Rules()).stop == "budget"
    assert plan(model, Case.opened([None, "s"]), items, Rules(gain=1.0)).stop == "gain"
    assert plan(model, Case.opened(["0", None]), items, surely).stop == "gain"
    assert plan(model, Case.opened(["0", None]), items, Rules(confidence=None, gain=0.0)).item == 1
    for by_region in (Rules(objective="ec2", gain=0.0), Rules(hypotheses=9), Rules(objective="us", hypotheses=9)):
        assert plan(model, Case.opened(["0", None]), items, by_region).stop == "region"
        assert plan(model, empty(model), items, by_region, hypotheses=[]).stop == "region"
        assert plan(model, empty(model), items, by_region).stop is None
    assert plan(model, empty(model), items, Rules(objective="ec2", gain=0.0)).item == 0


def test_a_dearer_item_needs_more_gain():
    model = two_tests()
    score = plan(model, empty(model), Items.single([1, 1]), Rules()).scores[0]
    # the price of the item, those of the others (one of which is free), and its price in median prices
    for price, others, times in [
        (3.0, [3.0, 0.0], 1),
        (3.0, [1.0, 0.0], 1.5),
        (1.0, [3.0, 0.0], 0.5),
        (6.0, [3.0, 2.0], 2),
    ]:
        items, case = Items(range(2), [price, *others]), Case([None, "s"], [UNKNOWN, KNOWN])
        stops = [plan(model, case, items, Rules(gain=score / times * close_to)).stop for close_to in (0.999, 1.001)]
        assert stops == [None, "gain"]


def test_what_is_not_expected_to_save_its_price_is_left():
    model, items = two_tests(), Items.single([1, 1])
    # every class has its samples in the very proportions of theta: 81 and 2 of 83
    samples = [[(y, 0)] * 81 + [(1 - y, 1)] * 2 for y in (0, 1)]
    saved = 79 / 166  # of a loss of a half, 2 / 83 stay

    def stop(case, worth, **rules):
        return plan(model, case, items, Rules(confidence=None, gain=0.0, worth=worth, **rules), samples=samples).stop

    assert [stop(empty(model), worth) for worth in (0.999 / saved, 1.001 / saved)] == ["worth", None]
    assert [stop(Case.opened(["0", None]), worth) for worth in (1.0, 1e6)] == ["worth", "worth"]
    assert [stop(empty(model), worth, loss=[[0, 3], [3, 0]]) for worth in (0.999 / 3 / saved, 1.001 / 3 / saved)] == [
        "worth",
        None,
    ]
    assert stop(empty(model), "auto") is None
    dear = Items.single([400, 1])
    rules = Rules(confidence=None, gain=0.0, worth="auto")
    assert plan(model, empty(model), dear, rules, samples=samples).stop is None, "the median is 200.5"
    assert (
        plan(
            table_model([(5, "a", ["u"]), (5, "a", ["v"])]), Case.opened([None]), Items.single([1]), rules, samples=[]
        ).stop
        == "worth"
    )


def test_status_and_requirements():
    model, needs = two_tests(), [[0, 1], [0, 0]]
    items, rules = Items(range(2), [1, 1], needs), Rules(confidence=None, gain=0.0)
    for status, expected in [(UNKNOWN, 1), (KNOWN, 0), (MISSING, 0), (REFUSED, 0), (ORDERED, -1)]:
        case = Case([None, "s" if status == KNOWN else None], [UNKNOWN, status])
        decision = plan(model, case, items, rules)
        assert decision.item == expected
        assert decision.stop == ("nothing left" if expected == -1 else None)


def test_loss_moves_answer_and_confidence():
    model = two_tests()
    loss = [[0, 1], [100, 0]]
    case = Case.opened(["0", None])
    assert best_answer(posterior_of(model, case), loss) == 1
    assert answer(model, case, loss) == "b"
    # the expected loss, 81/83, is at most (1 - confidence) 100 up to a confidence of about .9902
    assert plan(model, case, Items.single([1, 1]), Rules(confidence=0.990, loss=loss)).stop == "confident"
    assert plan(model, case, Items.single([1, 1]), Rules(confidence=0.991, loss=loss)).stop == "gain"


def test_ties_go_to_the_first_sorted_class():
    model = table_model([(1, "z", ["u"]), (1, "a", ["v"])])
    assert answer(model, empty(model)) == "a"
    assert posterior_of(model, empty(model)).tolist() == [0.5, 0.5]


def test_missing_and_unheard_of_values_count_for_nothing():
    model = two_tests()
    missing = Case([None, None], [MISSING, UNKNOWN])
    unheard = Case.opened(["2", None])
    for case in (missing, unheard):
        assert seen_bins(model, case) == {}
        assert posterior_of(model, case).tolist() == [0.5, 0.5]
        assert plan(model, case, Items.single([1, 1]), Rules(objective="ec2", gain=0.0)).item == 1


def test_groups_are_scored_by_joint_outcomes_of_what_is_unknown():
    model = table_model([(9, "a", "0sx"), (9, "b", "1ty"), (3, "a", "1sy"), (3, "b", "0tx")])
    items, theta = Items([0, 0, 1], [2, 1]), model.mean()
    joint = scoring.joint_table(theta[:2])
    assert plan(model, empty(model), items, Rules()).scores[0] == close(scoring.ig([0.5, 0.5], joint))
    case = Case.opened(["0", None, None])
    q = posterior_of(model, case)
    assert plan(model, case, items, Rules()).scores[0] == close(scoring.ig(q, theta[1]))
    summed = plan(model, empty(model), items, Rules(objective="eced")).scores[0]
    assert summed == close(sum(scoring.eced([0.5, 0.5], t) for t in theta[:2]))
    drawn = plan(model, empty(model), items, Rules(objective="random"), uniforms=[0.5, 0.25, 0.7])
    assert (drawn.scores, drawn.item) == ({0: 0.75, 1: 0.7}, 1)


def test_large_groups_are_sums():
    model = table_model([(2, "a", "0" * 13), (1, "b", "1" * 13)])
    one = scoring.ig(model.P(), model.mean()[0])
    whole = plan(model, empty(model), Items([0] * 13, [1]), Rules())
    assert whole.scores[0] == close(13 * one)
    assert plan(model, empty(model), Items([0] * 12 + [1], [1, 1]), Rules()).scores[0] < 12 * one


def test_young_features_are_bought_by_those_who_explore():
    model = NaiveUtility(["numeric", "nominal", "numeric"])
    for k in range(10):
        model.learn([float(k), "uv"[k % 2], None], "ab"[k % 2])
    items = Items.single([5, 1, 2])
    assert plan(model, empty(model), items, Rules()).item == 1
    assert plan(model, Case.opened([None, "u", None]), items, Rules(confidence=None)).stop == "nothing left"
    decisions = run(model, empty(model), items, Rules(), [1.0, "u", 2.0], explore=True)
    assert [(d.item, d.why) for d in decisions[:3]] == [(0, "young"), (2, "young"), (1, "score")]
    case = Case.opened([None, None, None], budget=4.0)
    assert plan(model, case, items, Rules(), explore=True).item == 2
    grouped = Items([0, 0, 1], [1, 1])
    assert plan(model, empty(model), grouped, Rules()).item == 0


def test_nothing_learned_yet():
    model = NaiveUtility(["nominal", "numeric"])
    assert answer(model, empty(model)) is None
    case = empty(model)
    decisions = run(model, case, Items.single([1, 1]), Rules(), ["u", 1.0], explore=True)
    assert [d.item for d in decisions] == [0, 1, -1]
    assert decisions[-1].stop == "nothing left"


def test_a_sample_plans_and_the_mean_answers():
    model, case = two_tests(), Case.opened(["0", None])
    sample = [np.array([[0.5, 0.5], [0.5, 0.5]]), np.eye(2)]
    decision = plan(model, case, Items.single([1, 1]), Rules(), theta=sample, explore=True)
    assert (decision.item, decision.score) == (1, close(1))
    assert answer(model, case) == "a"


def test_thresholds_ask_by_their_best_edge_and_then_count_by_it():
    model = NaiveUtility(["numeric"], numeric="thresholds", ranges={0: (0, 10)})
    for value in range(10):
        for _ in range(20):
            model.learn([value + 0.5], "low" if value < 4 else "high")
    case, items = empty(model), Items.single([1])
    decision = plan(model, case, items, Rules())
    assert decision.edges == {0: 3}
    reveal(model, case, items, decision, [2.5])
    assert seen_bins(model, case) == {0: (0, 1, 2, 3)}
    low, high = (80 + 0.8) / 82, 0.8 / 122
    assert posterior_of(model, case)[0] == close(81 * low / (81 * low + 121 * high))
    assert seen_bins(model, Case.opened([2.5])) == {0: (2,)}
    assert plan(model, empty(model), items, Rules(), edges={0: 7}).edges == {0: 7}
    assert plan(model, empty(model), items, Rules(), edges={0: 7}).score < decision.score


def test_exp3_by_hand():
    S = exp3_update([0.0] * 9, 2, 0.5)
    assert S.tolist() == close([0, 0, 4.5, 0, 0, 0, 0, 0, 0])
    assert exp3_shares(S)[2] == close(math.exp(0.045) / (math.exp(0.045) + 8))


# Looking ahead


def xor_model():
    cases = [("0", "s", "a"), ("0", "t", "b"), ("1", "s", "b"), ("1", "t", "a")]
    return table_model([(50, label, [x, y, "u"]) for x, y, label in cases] + [(1, "a", "0sv"), (1, "b", "0tv")])


def test_xor_needs_a_look_ahead():
    model, items, row = xor_model(), Items.single([1, 1, 1]), ["1", "t", "u"]
    assert plan(model, empty(model), items, Rules()).stop == "gain"
    case = empty(model)
    decisions = run(model, case, items, Rules(lookahead=2), row)
    assert [(d.item, d.why) for d in decisions[:2]] == [(0, "score"), (1, "promised")]
    assert (decisions[0].partner, decisions[2].stop) == (1, "confident")
    assert decisions[0].score / 2 == close(decisions[0].ratios[0])
    assert answer(model, case) == "a"
    pair = model.pair_mean(0, 1)
    likelihood = model.mean()[0][:, 1] * pair[:, 1, 1] / pair[:, 1].sum(axis=1)
    assert posterior_of(model, case).tolist() == close((likelihood * model.P() / (likelihood @ model.P())).tolist())


def test_a_missing_first_of_a_pair_ends_the_pair():
    model, items = xor_model(), Items.single([1, 1, 1])
    case = empty(model)
    decisions = run(model, case, items, Rules(lookahead=2), [None, "t", "u"])
    assert [d.item for d in decisions] == [0, -1]
    assert case.partners == {}


def test_a_pair_must_fit_into_the_budget():
    model = xor_model()
    case = Case.opened([None] * 3, budget=1.5)
    assert plan(model, case, Items.single([1, 1, 1]), Rules(lookahead=2)).stop == "gain"


# The best policy of a known environment


def test_optimum_by_hand():
    tests = [np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[1.0, 0.0], [0.0, 1.0]])]
    world = Environment(naive_bayes([0.5, 0.5], tests), [1.0, 4.0])
    assert optimum(world, 0.6).choices[(None, None)] == STOP
    cheap = optimum(world, 0.2)  # .1 + .2 for the first, against .8 for the second and .5 for none
    assert (cheap.loss, cheap.cost, cheap.choices[(None, None)]) == (close(0.1), close(1), 0)
    sure = optimum(world, 0.01)  # .04 for the second alone
    assert (sure.loss, sure.cost, sure.choices[(None, None)]) == (close(0), close(4), 1)
    assert optimum(world, 0.01, budget=3.0).loss == close(0.1)
    chained = Environment(world.joint, [1.0, 4.0], needs=[[0, 0], [1, 0]])
    assert optimum(chained, 0.01).cost == close(5)
    together = Environment(world.joint, [2.0], item=[0, 0])
    assert (optimum(together, 0.01).loss, optimum(together, 0.01).cost) == (close(0), close(2))
    fearful = Environment(world.joint, [1.0, 4.0], loss=[[0, 1], [10, 0]])
    assert optimum(fearful, 10.0).loss == close(0.5)
    # .48 for the second, .5 for none; the first, and the second only where it says 0: .05 + .12 (1 + 4 / 2) = .41
    careful = optimum(fearful, 0.12)
    assert (careful.loss, careful.cost) == (close(0.05), close(3))
    assert [careful.choices[p] for p in [(None, None), (0, None), (1, None)]] == [0, 1, STOP]


def test_the_best_policy_adapts():
    """The first test says which of the two others tells the class."""
    joint = np.zeros((2, 2, 2, 2))
    for which, x, y in np.ndindex(2, 2, 2):
        joint[(x, y)[which], which, x, y] = 1 / 8
    best = optimum(Environment(joint, [1.0] * 3), 0.1)
    assert (best.loss, best.cost) == (close(0), close(2))
    assert [best.choices[p] for p in [(None, None, None), (0, None, None), (1, None, None)]] == [0, 1, 2]


@given(seeds)
def test_no_policy_is_better_than_the_best(seed):
    rng, P, theta, _ = environment(seed)
    world = Environment(naive_bayes(P, theta), rng.uniform(0.5, 2, 3).tolist(), loss=rng.uniform(0, 1, (len(P),) * 2))
    lam = float(rng.uniform(0, 0.2))
    best = optimum(world, lam)
    again = play(world, lambda position: best.choices[position])
    assert (again.loss, again.cost) == (close(best.loss), close(best.cost))
    chance: dict = {}

    def wander(position):
        open_items = [STOP, *world.affordable(position, math.inf)]
        return chance.setdefault(position, open_items[int(rng.integers(len(open_items)))])

    assert play(world, wander).value(lam) >= best.value(lam) - 1e-12
    assert best.value(lam) <= play(world, lambda position: STOP).loss + 1e-12


def test_greedy_planning_can_be_held_against_the_best():
    model, items, prices = two_tests(), Items.single([1, 1]), [1.0, 1.0]
    names = [feature.categories for feature in model.features]
    world = Environment(naive_bayes(model.P(), model.mean()), prices)

    def choose(position):
        known = [None if bin_id is None else names[i][bin_id] for i, bin_id in enumerate(position)]
        return plan(model, Case.opened(known), items, Rules()).item

    greedy, best = play(world, choose), optimum(world, 0.1)
    assert (greedy.loss, greedy.cost) == (close(best.loss), close(best.cost))
    assert greedy.cost == close(1)
