"""Checks of the oracle itself, with numbers worked out by hand."""

import math
import random

import pytest

from .oracle import bounds, criteria
from .oracle.tree import NaiveTree, below, draw_edges, middle, openers

NAN = math.nan
NEVER = {"c": 1e9}  # a practical bound that no split can pass


def grown(kinds, rows, **options):
    tree = NaiveTree(kinds, **{"grace_period": 4, "min_leaf": 1, **options})
    for *row, y in rows:
        tree.learn(row, y)
    return tree


@pytest.mark.parametrize(
    ("phi", "even", "skewed"),
    [
        (criteria.gini, 1 / 2, 3 / 8),
        (criteria.entropy, math.log(2) / 2, math.log(4) / 2 - 3 / 8 * math.log(3)),
        (criteria.entropy_bits, 1.0, 2 - 3 / 4 * math.log2(3)),
        (criteria.kearns_mansour, 1 / 2, math.sqrt(3) / 4),
        (criteria.error, 1 / 2, 1 / 4),
    ],
)
def test_impurity(phi, even, skewed):
    assert phi([1, 1]) == pytest.approx(even)
    assert phi([1, 0, 3]) == pytest.approx(skewed)
    assert phi([]) == phi([0, 0]) == phi([0, 7]) == 0


def test_kearns_mansour_of_three_classes():
    assert criteria.kearns_mansour([1, 1, 1]) == pytest.approx(math.sqrt(2) / 2)


def test_bounds_at_one_point():
    m, h, t, d = 100, 2, 9, 3
    inverse = 9 * 2 * 3 * 1000 * 3 * 100  # 1/D
    assert 1 / bounds.failure(m, h, t, d) == pytest.approx(inverse)
    log = math.log
    assert bounds.practical("gini", m, h, t, d, 0.01) == pytest.approx(0.001 * math.sqrt(log(1080000)))
    assert bounds.practical("entropy", m, h, t, d, 0.01) == pytest.approx(0.001 * math.sqrt(log(1080000)) * log(100))
    assert bounds.theorem("gini", m, h, t, d, 2) == pytest.approx(math.sqrt(0.08 * log(2 * inverse)) + 0.4)
    assert bounds.theorem("kearns_mansour", m, h, t, d, 2) == pytest.approx(0.4 * math.sqrt(log(8 * inverse)))
    assert bounds.theorem("kearns_mansour", m, h, t, d, 3) == pytest.approx(0.6 * math.sqrt(log(24 * inverse)))
    entropy = log(100) * math.sqrt(0.02 * log(4 * inverse)) + 0.03
    assert bounds.theorem("entropy", m, h, t, d, 3) == pytest.approx(entropy)
    assert bounds.tight("entropy", m, h, t, d, 3) == pytest.approx(entropy)
    assert bounds.tight("gini", m, h, t, d, 4) == pytest.approx(math.sqrt(0.02 * log(2 * inverse)) + 0.015)
    assert bounds.tight("kearns_mansour", m, h, t, d, 2) == pytest.approx(0.2 * math.sqrt(log(8 * inverse)))
    assert bounds.mcdiarmid("gini", m, h, t, d, 2) == pytest.approx(8 * math.sqrt(log(inverse) / 200))
    nats = 3 * (2 + log(200)) + log(2)  # 6(K log2 e + log2 2m) + 2 log2 K, times ln2/2
    assert bounds.mcdiarmid("entropy", m, h, t, d, 2) == pytest.approx(nats * math.sqrt(log(inverse) / 200))
    assert bounds.hoeffding(2.0, 50, math.exp(-4)) == pytest.approx(0.4)


def test_small_logarithms_count_as_zero():
    assert bounds.practical("entropy", 0.5, 1, 1, 1, 1.0) == 0
    assert bounds.hoeffding(1.0, 10, 3.0) == 0


@pytest.mark.parametrize(("bound", "criterion"), [("theorem", "error"), ("mcdiarmid", "kearns_mansour")])
def test_bounds_that_do_not_exist_are_refused(bound, criterion):
    with pytest.raises(ValueError, match=criterion):
        getattr(bounds, bound)(criterion, 100, 1, 100, 1, 2)


def test_consistency():
    assert bounds.consistency_radius(8, 10) == pytest.approx(math.sqrt(math.log(200) / 16))  # .575
    assert not bounds.consistent([8], 10)
    assert bounds.consistent([20], 10)  # .5 > .364
    assert not bounds.consistent([17, 3], 10)  # .35
    assert bounds.consistent([18, 2], 10)  # .4
    assert not bounds.consistent([], 10)


@pytest.mark.parametrize(("df", "x"), [(1, 3.841459), (2, 5.991465), (3, 7.814728), (4, 9.487729), (5, 11.070498)])
def test_chi_square_tail_at_five_percent(df, x):
    assert bounds.chi_square_tail(x, df) == pytest.approx(0.05, rel=1e-6)


def test_chi_square_tail_ends():
    assert bounds.chi_square_tail(0.0, 3) == 1
    assert bounds.chi_square_tail(1e4, 3) == 0
    assert bounds.chi_square_tail(25.0, 1) == pytest.approx(5.733031e-7, rel=1e-6)  # five sigma


def test_g_statistic():
    assert bounds.g_statistic([2, 0], [0, 2]) == pytest.approx(8 * math.log(2))
    assert bounds.g_statistic([3, 6], [1, 2]) == pytest.approx(0, abs=1e-12)


def test_edges():
    assert draw_edges([]) == []
    assert draw_edges([5.0, 5.0]) == [math.nextafter(5, 0), 5.0]
    assert draw_edges([4.0, 1.0, 2.0]) == [math.nextafter(1, 0), 1.5, 3.0, 4.0]
    assert middle(1.0, math.nextafter(1, 2)) == 1.0
    assert middle(1.7e308, 1.1e308 + 6e307) == 1.7e308


def test_equal_depth():
    # 60 rows, 30 bins: 1.5 * 2 lets three rows into the first bin; after that it is a little under 3, so two.
    assert openers(list(range(60)), set()) == list(range(3, 60, 2))
    # Half of the 60 rows are one value, which fills a bin. 30 rows are left for 29 bins: one row each, until four
    # are left for three bins and 1.5 * 4/3 = 2 lets two into one bin.
    assert openers([0] * 30 + list(range(1, 31)), set()) == [*range(1, 28), 29, 30]


def test_a_frequent_value_gets_a_bin_of_its_own():
    assert draw_edges([1.0] * 2 + [2.0] * 4 + [5.0] * 9) == [below(1.0), 1.0, below(2.0), 2.0, below(5.0), 5.0]
    assert draw_edges([1.0, 2.0, 2.0, 3.0]) == [below(1.0), below(2.0), 2.0, 3.0]
    assert draw_edges([1.0, 2.0, 3.0]) == [below(1.0), 1.5, 2.5, 3.0]


def test_binary_feature_splits():
    tree = grown(["numeric"], [(0, 0), (1, 1), (0, 0), (1, 1)])
    root, left, right = tree.dump()
    assert (root["feature"], root["threshold"], root["left"], root["right"]) == (0, 0.5, 1, 2)
    assert (root["gain"], root["missing_left"], root["counts"], root["own"]) == (0.5, True, [2, 2], [2, 2])
    assert (left["counts"], left["own"], left["depth"], left["collecting"]) == ([2, 0], [0, 0], 1, True)
    assert (right["counts"], right["feature"], right["drawn"]) == ([0, 2], None, False)
    assert tree.proba([0]) == pytest.approx([2.5 / 3, 0.5 / 3])
    assert tree.proba([NAN]) == tree.proba([None]) == tree.proba([-7])


def test_margin_is_strict_about_the_radius():
    # m = t = 4, h = d = 1: eps = c sqrt(ln 64 / 4) against a gain of .5 and a margin of 2.
    c = 0.25 / math.sqrt(math.log(64) / 4)
    rows = [(0, 0), (1, 1), (0, 0), (1, 1)]
    assert len(grown(["numeric"], rows, c=c * 1.001).dump()) == 1
    assert len(grown(["numeric"], rows, c=c * 0.999).dump()) == 3


def test_binned_feature_splits():
    tree = grown(["numeric"], [(1, 0), (2, 0), (3, 1), (4, 1)])
    root = tree.dump()[0]
    assert root["edges"] == {0: [math.nextafter(1, 0), 1.5, 2.5, 3.5, 4.0]}
    assert (root["threshold"], root["gain"]) == (2.5, 0.5)
    assert tree.dump()[1]["edges"] == {0: []}


def test_nominal_feature_splits_one_category_from_the_rest():
    tree = grown(["nominal"], [(0, 0), (1, 1), (2, 0), (1, 1)])
    root = tree.dump()[0]
    assert (root["threshold"], root["gain"]) == (1, 0.5)
    assert tree.route([1]) == 1
    assert tree.route([0]) == tree.route([99]) == 2


def test_late_categories_are_no_candidates():
    rows = [(code, 0) for code in range(254)] + [(300, 1)] * 300
    tree = grown(["nominal"], rows, grace_period=1000)
    cuts = list(tree._candidates(tree.nodes[0], 0))
    assert [cut.threshold for cut in cuts] == list(range(254))
    assert (cuts[0].L, cuts[0].R) == ([1, 0], [253, 300])


def test_gain_is_scaled_by_the_known_share():
    rows = [(0, 0), (NAN, 1), (NAN, 0), (1, 1)] * 2
    tree = grown(["numeric"], rows, grace_period=8)
    root, left, right = tree.dump()
    assert root["gain"] == 0.25
    assert (root["counts"], left["counts"], right["counts"]) == ([4, 4], [2, 0], [0, 2])


def test_missing_goes_with_the_greater_weight():
    tree = grown(["numeric"], [(0, 0), (1, 1), (1, 1), (1, 1)])
    assert tree.dump()[0]["missing_left"] is False
    assert tree.route([NAN]) == 2


def test_ties_go_to_the_first_feature_and_need_evidence():
    rows = [(0, 0, 0), (1, 1, 1)] * 2
    assert len(grown(["numeric"] * 2, rows, tie=0.0).dump()) == 1
    # G = 8 ln 2 = 5.55 has tail .0185, twice that is above .02 / 2, the level of the first look; 16 ln 2 = 11.09 has
    # .00087, twice that is below .02 / 6, the level of the second.
    assert len(grown(["numeric"] * 2, rows, tie=1.0, alpha=0.02).dump()) == 1
    assert grown(["numeric"] * 2, rows * 2, tie=1.0, alpha=0.02).dump()[0]["feature"] == 0


def test_min_leaf():
    rows = [(0, 0), (1, 1), (1, 1), (1, 1)]
    assert len(grown(["numeric"], rows, min_leaf=1).dump()) == 3
    assert len(grown(["numeric"], rows, min_leaf=2).dump()) == 1


def test_one_class_is_not_evaluated_but_counted_as_evaluated():
    rows = [(0, 0), (0, 0), (0, 0), (0, 0), (1, 1), (1, 1), (1, 1)]
    tree = grown(["numeric"], rows)
    assert len(tree.dump()) == 1
    tree.learn([1], 1)
    assert len(tree.dump()) == 3


def test_weights_count_as_rows_except_in_the_buffer():
    tree = NaiveTree(["numeric"], grace_period=4, min_leaf=1)
    for x, y in [(0, 0), (1, 1), (0, 0)]:
        tree.learn([x], y, 10.0)
        assert not tree.dump()[0]["drawn"]
    tree.learn([1], 1, 10.0)
    assert [node["counts"] for node in tree.dump()] == [[20, 20], [20, 0], [0, 20]]


def test_third_value_makes_a_binary_feature_binned():
    tree = grown(["numeric"], [(5, 0), (3, 1), (5, 1), (3, 0), (4, 0)], **NEVER)
    leaf = tree.dump()[0]
    assert leaf["edges"] == {0: [math.nextafter(3, 0), 3.0, math.nextafter(5, 0), 5.0]}
    assert tree.nodes[0].statistics[0].bins == {1: {1: 1, 0: 1}, 3: {0: 1, 1: 1}, 2: {0: 1}}
    assert not leaf["collecting"]
    for x in [3, 4, 5]:  # the evaluation at m = 8 finds a stale feature
        tree.learn([x], 1)
    assert tree.dump()[0]["collecting"]
    for x in [3, 4, 4, 5]:
        tree.learn([x], 1)
    assert tree.dump()[0]["edges"] == {0: [math.nextafter(3, 0), math.nextafter(4, 0), 4.0, 5.0]}
    # The points 3 and 5 keep what they held; of the 4s between them the two buffered are counted exactly, the other two
    # go to the median of these.
    assert {b: sum(counts.values()) for b, counts in tree.nodes[0].statistics[0].bins.items()} == {1: 4, 2: 4, 3: 4}


def test_blind_edges_are_drawn_again():
    tree = grown(["numeric"], [(x, x % 2) for x in [1, 2, 3, 4, 10, 11, 12]], **NEVER)
    assert not tree.dump()[0]["collecting"]
    tree.learn([13], 1)  # m = 8: all four beyond the last edge
    assert tree.dump()[0]["collecting"]
    for x in [10, 11, 12, 13]:
        tree.learn([x], x % 2)
    assert tree.dump()[0]["edges"] == {0: [math.nextafter(10, 0), 10.5, 11.5, 12.5, 13.0]}
    # The rows 1 to 4 lie below the new edges. Of those beyond the old ones the buffered four are counted exactly, the
    # four before go to their upper median, 12: a crowded bin, so that the leaf collects again.
    held = {b: sum(counts.values()) for b, counts in tree.nodes[0].statistics[0].bins.items()}
    assert held == {0: 4, 1: 1, 2: 1, 3: 5, 4: 1}
    assert tree.dump()[0]["collecting"]


def test_a_quarter_in_the_outer_bins_is_still_fine():
    tree = grown(["numeric"], [(x, 0) for x in [1, 2, 3, 4, 9, 2, 3, 4]], **NEVER)
    assert not tree.dump()[0]["collecting"]


def test_naive_bayes_by_hand():
    rows = [(0, 0), (0, 0), (1, 1), (0, 1)]
    tree = grown(["numeric"], rows, leaf="naive_bayes", **NEVER)
    # Scores for 0: 1/2 (2 + 1/2)/3 against 1/2 (1 + 1/2)/3, so q = 5/8; (4 * 5/8 + 1/2) / 5.
    assert tree.proba([0]) == pytest.approx([0.6, 0.4])
    assert tree.proba([NAN]) == tree.proba([2]) == pytest.approx([0.5, 0.5])


def test_adaptive_answer_changes_after_being_right_more_often():
    rows = [(0, 0), (0, 0), (1, 1), (0, 1)]
    tree = grown(["numeric"], rows, **NEVER)
    assert tree.proba([1]) == pytest.approx([0.5, 0.5])
    tree.learn([1], 1)  # majority ties and says 0, naive Bayes says 1
    majority = [2.5 / 6, 3.5 / 6]
    scores = [majority[0] * 0.5 / 3, majority[1] * 2.5 / 4]
    assert tree.proba([1]) == pytest.approx([(5 * s / sum(scores) + 0.5) / 6 for s in scores])


def test_nothing_learned_yet():
    tree = NaiveTree(["numeric"])
    assert tree.proba([1.0]) == []
    assert tree.dump()[0]["counts"] == []


@pytest.mark.parametrize("rule", ["hoeffding", "practical", "theorem", "tight", "mcdiarmid"])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_hostile_rows_keep_the_books(rule, criterion):
    rng = random.Random(rule + criterion)
    tree = NaiveTree(["numeric", "numeric", "nominal"], rule=rule, criterion=criterion, tie=0.3, grace_period=20)
    for _ in range(1500):
        row = [rng.choice([NAN, rng.gauss(0, 1), 0.0]), rng.choice([0, 1, None]), rng.randrange(4)]
        y = (row[0] > 0) + (row[2] == 1) if rng.random() < 0.9 else rng.randrange(3)
        tree.learn(row, y, rng.choice([0.5, 1.0, 3.0]))
        assert sum(tree.proba(row)) == pytest.approx(1)
    for node in tree.dump():
        if node["feature"] is None:
            assert sum(node["own"]) <= sum(node["counts"])
        else:
            assert node["gain"] > 0
            assert node["left"] + 1 == node["right"]
            assert tree.nodes[node["left"]].depth == node["depth"] + 1
