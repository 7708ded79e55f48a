"""The naive credible tree against cases worked out by hand, and against 40 digits."""

import math
import random

import mpmath
import pytest

from .oracle import credible
from .oracle.credible import PoolTree, Rule, Sampler, StreamRule

CRITERIA = ["entropy", "variance", "deviation"]
NUMERIC = ["numeric"]


def H(m, criterion):
    """The heterogeneity of two classes as the table of the page has it."""
    if criterion == "entropy":
        return float(-m * mpmath.log(m, 2) - (1 - m) * mpmath.log(1 - m, 2))
    return float(m * (1 - m) if criterion == "variance" else mpmath.sqrt(m * (1 - m)))


def grow(rows, ys, kinds=NUMERIC, order=None, **options):
    """A tree over the rows, labelled in this order."""
    tree = PoolTree(rows, kinds, **{"bound": "hoeffding", "delta": 0.1, **options})
    for i in range(len(rows)) if order is None else order:
        tree.label(i, ys[i])
    return tree


def column(*values):
    return [[x] for x in values]


# Bounds


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("counts", [[], [0], [0, 0], [1, 0], [0, 1]])
def test_nothing_known_is_uniform(counts, criterion):
    low, high = credible.bounds(counts, 0.2, criterion)
    assert low == pytest.approx(H(0.1, criterion), abs=1e-14)
    assert high == pytest.approx(H(0.4, criterion), abs=1e-14)


def test_two_labels_solve_their_polynomial():
    low, high = credible.bounds([2, 0], 0.3, "variance")
    for bound, share in [(low, 0.3), (high, 0.7)]:
        m = (1 - math.sqrt(1 - 4 * bound)) / 2
        assert 1 - (1 - m) ** 3 + m**3 == pytest.approx(share, abs=1e-13)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("j", [0, 1, 2, 7, 100, 5000])
def test_one_label_more_than_half_tells_nothing(j, criterion):
    for delta in [1e-9, 0.01, 0.4]:
        even, odd = (credible.bounds(counts, delta, criterion) for counts in ([j, j], [j, j + 1]))
        assert even == pytest.approx(odd, abs=2e-14)


@pytest.mark.parametrize("counts", [[0, 3], [2, 9.5], [40, 60], [0.25, 0.5], [0, 3000], [900, 1100]])
@pytest.mark.parametrize("delta", [1e-12, 0.001, 0.4])
def test_fold_meets_its_definition_in_forty_digits(counts, delta):
    """F at m comes back as delta or 1 - delta; a step in m of 1e-12 on either side must enclose it."""
    with mpmath.workdps(40):
        a, b = (mpmath.mpf(count) + 1 for count in counts)

        def F(m):
            return mpmath.betainc(a, b, 0, m, regularized=True) + mpmath.betainc(b, a, 0, m, regularized=True)

        for upper, wanted in [(False, mpmath.mpf(delta)), (True, 1 - mpmath.mpf(delta))]:
            m = mpmath.mpf(credible.fold_quantile(*counts, delta, upper))
            step = mpmath.mpf("1e-12") * m
            assert F(m - step) < wanted < F(m + step)


def test_fold_is_the_same_for_swapped_classes():
    for criterion in CRITERIA:
        assert credible.bounds([3, 8], 0.1, criterion) == credible.bounds([8, 3], 0.1, criterion)


@pytest.mark.parametrize("T", [0, 1, 5, 1000])
def test_risk_without_an_error_has_a_closed_form(T):
    for delta in [1e-6, 0.05, 0.4]:
        assert credible.risk_bound([T, 0], delta, 0) == pytest.approx(1 - delta ** (1 / (T + 1)), rel=1e-12)
        assert credible.risk_bound([0, T], delta, 1) == credible.risk_bound([T, 0], delta, 0)


@pytest.mark.parametrize("K", [2, 3, 7])
def test_risk_of_an_empty_region_or_a_wrong_answer(K):
    assert credible.risk_bound([0] * K, 0.1, 0) == pytest.approx(0.9 ** (1 / (K - 1)), rel=1e-13)
    # Beta(T + K - 1, 1) for an answer that was never right.
    assert credible.risk_bound([0, 5] + [0] * (K - 2), 0.1, 0) == pytest.approx(0.9 ** (1 / (K + 4)), rel=1e-13)


def test_moments_of_three_classes_by_hand():
    mean, variance = credible.variance_moments([0, 0, 0])
    assert (mean, variance) == pytest.approx((1 / 4, 1 / 240), rel=1e-14)
    assert credible.entropy_moments([0, 0, 0])[0] == pytest.approx(5 / 6 / math.log(2), rel=1e-14)


@pytest.mark.parametrize("counts", [(0, 0), (3, 1), (0.5, 20)])
def test_moments_of_two_classes_by_integration(counts):
    """The formulas hold for every K; for two classes they are integrals over one share."""
    a, b = (count + 1 for count in counts)
    for criterion, moments in [("entropy", credible.entropy_moments), ("variance", credible.variance_moments)]:

        def average(power, criterion=criterion):
            def part(x):
                return mpmath.mpf(H(x, criterion)) ** power * x ** (a - 1) * (1 - x) ** (b - 1)

            return float(mpmath.quad(part, [0, 0.01, 0.1, 0.5, 0.9, 0.99, 1]) / mpmath.beta(a, b))

        mean = average(1)
        assert moments(counts) == pytest.approx((mean, average(2) - mean**2), rel=1e-9)


@pytest.mark.parametrize("counts", [(0, 0, 0), (5, 2, 1), (50000, 0, 0), (300, 200, 0.5, 7), (1, 1, 1, 1, 1, 40)])
def test_entropy_variance_keeps_its_digits(counts):
    with mpmath.workdps(40):
        alpha = [mpmath.mpf(count) + 1 for count in counts]
        A, psi = sum(alpha), mpmath.digamma
        mean = psi(A + 1) - sum(a * psi(a + 1) for a in alpha) / A
        # E[sum p_i p_j log p_i log p_j], term by term.
        square = mpmath.mpf(0)
        for i, a in enumerate(alpha):
            for j, b in enumerate(alpha):
                u, v = (psi(a + 2), psi(b + 2)) if i == j else (psi(a + 1), psi(b + 1))
                own = mpmath.psi(1, a + 2) if i == j else 0
                weight = a * (a + 1) if i == j else a * b
                square += weight * ((u - psi(A + 2)) * (v - psi(A + 2)) + own - mpmath.psi(1, A + 2))
        variance = square / (A * (A + 1)) - mean**2
        wanted = float(mean / mpmath.log(2)), float(mpmath.sqrt(variance) / mpmath.log(2))
    found = credible.entropy_moments(counts)
    assert (found[0], math.sqrt(found[1])) == pytest.approx(wanted, abs=1e-13)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_matched_beta_of_many_classes(criterion):
    """The bounds are quantiles of a Beta with the posterior's moments, on the scale of the largest H."""
    counts, delta = (6, 3, 0, 1), 0.07
    measured = "entropy" if criterion == "entropy" else "variance"
    mean, variance = getattr(credible, f"{measured}_moments")(counts)
    top = 2.0 if criterion == "entropy" else 0.375
    power = 2 if criterion == "deviation" else 1
    low, high = (bound**power / top for bound in credible.bounds(counts, delta, criterion))
    s = (mean / top) * (1 - mean / top) / (variance / top**2) - 1
    a, b = mean / top * s, (1 - mean / top) * s
    assert float(mpmath.betainc(a, b, 0, low, regularized=True)) == pytest.approx(delta, rel=1e-11)
    assert float(mpmath.betainc(a, b, high, 1, regularized=True)) == pytest.approx(delta, rel=1e-11)


def test_hoeffding_by_hand():
    radius = math.sqrt(math.log(20) / 8)
    for criterion, at_half in [("entropy", 1.0), ("variance", 0.25), ("deviation", 0.5)]:
        assert credible.hoeffding_lower([2, 2], 0.05, criterion) == pytest.approx(at_half * (1 - radius))
        assert credible.hoeffding_upper([2, 2], criterion) == pytest.approx(at_half)
        assert credible.hoeffding_upper([4], criterion) == 0
    assert credible.hoeffding_lower([1, 1, 2, 0], 0.05, "entropy") == pytest.approx(1.5 - 2 * radius)
    assert credible.hoeffding_upper([1, 1, 2, 0], "variance") == pytest.approx((1 - 3 / 8) / 2)


# The split rule over bins

PURE = [[2, 0], [0, 2]]  # Hoeffding splits it for ln(1/delta) < 8, the credible rule for delta .4 but not .3


def test_divisors_are_rounded_up_to_powers_of_two():
    assert [credible.share(1.0, divisor) for divisor in (1, 2, 3, 4, 5, 9)] == [1, 1 / 2, 1 / 4, 1 / 4, 1 / 8, 1 / 16]


@pytest.mark.parametrize(
    ("correction", "features", "look", "delta", "splits"),
    [
        (None, 3, 5, 3.4e-4, True),  # e^-8 = 3.35e-4
        (None, 1, 1, 3.3e-4, False),
        ("cuts", 1, 9, 3.4e-4, True),
        ("cuts", 3, 1, 4 * 3.4e-4, True),
        ("cuts", 3, 1, 4 * 3.3e-4, False),  # 3 would have been enough
        ("cuts+looks", 1, 1, 2 * 3.4e-4, True),
        ("cuts+looks", 1, 1, 2 * 3.3e-4, False),
        ("cuts+looks", 3, 2, 32 * 3.4e-4, True),  # 3 * 2 * 3 = 18
        ("cuts+looks", 3, 2, 32 * 3.3e-4, False),
    ],
)
def test_hoeffding_pays_for_cuts_and_looks(correction, features, look, delta, splits):
    rule = StreamRule("entropy", delta, "hoeffding", correction)
    assert rule.best_cut([(PURE, False)] * features, [2, 2], look) == ((0, 0) if splits else None)


def test_credible_split_of_four_labels_by_hand():
    """Upper: (1-m)^3 - m^3 = delta; lower: 10 m^3 - 15 m^4 + 6 m^5 = delta / 2."""
    assert StreamRule("entropy", 0.4).best_cut([(PURE, False)], [2, 2]) == (0, 0)
    assert StreamRule("entropy", 0.3).best_cut([(PURE, False)], [2, 2]) is None


def test_credible_lower_bounds_pay_for_looks_only():
    cut = credible.Cut(0, 0, [3.0, 1.0], [0.0, 2.0], 4.0, 2.0, 6.0)
    for correction, lower_at, upper_at in [(None, 1, 1), ("cuts", 1, 4), ("cuts+looks", 8, 32)]:
        parent, children = Rule("entropy", 0.3, correction=correction)._sides(cut, compared=3, look=2)
        assert parent == 6 * credible.bounds([3, 3], 0.3 / lower_at, "entropy")[0]
        left, right = (credible.bounds(side, 0.3 / upper_at, "entropy")[1] for side in ([3, 1], [0, 2]))
        assert children == 4 * left + 2 * right


def test_equal_cuts_go_to_the_first():
    rule = StreamRule("entropy", 0.5, "hoeffding")
    assert rule.best_cut([([[1, 0], [0, 1], [0, 1], [1, 0]], False)], [2, 2]) == (0, 0)
    assert rule.best_cut([(PURE, False), (PURE, False)], [2, 2]) == (0, 0)
    assert rule.best_cut([(PURE, True)], [2, 2]) == (0, 0)
    mixed = [[1, 1], [1, 1]]
    assert rule.best_cut([(mixed, False), (PURE, False)], [2, 2]) == (1, 0)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_cut_that_gains_nothing_is_no_split(criterion):
    """At delta = 1 Hoeffding's radius is 0, and equal shares leave the two sides of the rule equal but for noise."""
    rule = StreamRule(criterion, 1.0, "hoeffding")
    for a, b in [(1, 1), (1, 2), (3, 7), (10, 1)]:
        assert rule.best_cut([([[a, b], [2 * a, 2 * b], [5 * a, 5 * b]], False)], [8 * a, 8 * b]) is None
    assert rule.best_cut([([[1, 2], [2, 3]], False)], [3, 5]) == (0, 0)


def test_a_category_stands_against_all_others():
    bins = [[2, 0], [0, 3], [2, 0]]
    rule = StreamRule("entropy", 0.5, "hoeffding")
    assert rule.best_cut([(bins, True)], [4, 3]) == (0, 1)
    assert rule.best_cut([(bins, False)], [4, 3]) == (0, 0)


def test_sides_need_enough_labels_and_two_classes():
    bins = [[0, 0], [1, 0], [0, 0], [0, 3]]
    assert StreamRule("entropy", 0.9, "hoeffding").best_cut([(bins, False)], [1, 3]) == (0, 1)
    assert StreamRule("entropy", 0.9, "hoeffding", min_leaf=2).best_cut([(bins, False)], [1, 3]) is None
    assert StreamRule("entropy", 0.9, "hoeffding").best_cut([([[1, 0], [3, 0]], False)], [4, 0]) is None
    assert StreamRule("entropy", 0.9, "hoeffding").best_cut([([[4, 0]], False)], [4, 1]) is None


def test_edges_after_empty_bins_count_only_on_request():
    bins = [[2, 0], [0, 0], [0, 2]]
    options = {"criterion": "entropy", "delta": 1.9 * 3.4e-4, "bound": "hoeffding", "correction": "cuts"}
    assert StreamRule(**options).best_cut([(bins, False)], [2, 2]) == (0, 0)
    assert StreamRule(**options, repeats=True).best_cut([(bins, False)], [2, 2]) is None


# The tree


def test_four_points_split_once_they_can():
    """ln(1/delta) = 5.3: 3 labels have H = .918 and radius .940, 4 have 1 and .814."""
    rows, ys = column(1.0, 2.0, 3.0, 4.0), [0, 0, 1, 1]
    tree = PoolTree(rows, NUMERIC, bound="hoeffding", delta=0.005)
    for i in [0, 3, 1]:
        tree.label(i, ys[i])
    assert [node["feature"] for node in tree.nodes] == [None]
    tree.label(2, 1)
    root, left, right = tree.nodes
    assert (root["feature"], root["threshold"], root["left"], root["right"]) == (0, 2.5, 1, 2)
    assert (left["counts"], right["counts"]) == ([2, 0], [0, 2])
    assert [tree.predict([x]) for x in (-5.0, 2.5, 2.6)] == [0, 0, 1]


def test_four_points_split_twice_if_the_first_cut_is_too_early():
    """ln(1/delta) = 4.6: two labels have H = 1 and radius 1.07, three .918 and .876."""
    tree = grow(column(1.0, 2.0, 3.0, 4.0), [0, 0, 1, 1], order=[0, 3, 1, 2], delta=0.01)
    assert [node["threshold"] for node in tree.nodes] == [3.0, 2.5, None, None, None]
    assert [(node["left"], node["right"]) for node in tree.nodes[:2]] == [(1, 2), (3, 4)]
    assert tree.shape() == (0, 3.0, True, (0, 2.5, True, (2, 0), (0, 1)), (0, 1))
    # Labels 2 and 3 at the root; the child has one class in its first look, so that its only look is the fourth label.
    assert [node["evaluations"] for node in tree.nodes] == [2, 1, 0, 0, 0]


def test_credible_split_of_a_pool_by_hand():
    """Of (2, 1): lower .865 at .4, upper .817 for two labels of a class and .881 for one."""
    options = {"bound": "credible", "delta": 0.4}
    tree = grow(column(1.0, 2.0, 3.0, 4.0), [0, 0, 1, 1], order=[0, 1, 2], **options)
    assert tree.shape() == (0, 2.5, True, (2, 0), (0, 1))
    # Rows without a label weigh: five more on the side of the single label make it 2 * .817 + 7 * .881 > 9 * .865.
    more = column(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    assert grow(more, [0, 0, 1], order=[0, 1, 2], **options).shape() == (2, 1)
    assert grow(more, [0, 0, 1], order=[0, 1, 2], size="labels", **options).shape() == (0, 2.5, True, (2, 0), (0, 1))


def test_rows_that_join_later_count():
    tree = PoolTree(column(1.0, 2.0, 3.0, 4.0), NUMERIC, bound="credible", delta=0.4)
    for x in (5.0, 6.0, 7.0, 8.0, 9.0):
        tree.add([x])
    for i, y in enumerate([0, 0, 1]):
        tree.label(i, y)
    assert tree.shape() == (2, 1)
    assert tree.nodes[0]["size"] == 9


def test_left_child_grows_before_the_right_one():
    """The root pays for its evaluations and waits; its children, which start anew, follow in the same label."""
    ys = [0, 1, 2, 3] * 4
    options = {"bound": "hoeffding", "delta": 0.5, "correction": "cuts+looks", "classes": range(4)}
    tree = grow(column(*map(float, ys)), ys, order=range(15), **options)
    assert len(tree.nodes) == 1
    tree.label(15, 3)  # 2 - 2 sqrt(ln(1024 / .5) / 32) = 1.02 > 1; before, it was .98
    assert [node["threshold"] for node in tree.nodes] == [1.5, 0.5, 2.5, None, None, None, None]
    assert [node["left"] for node in tree.nodes[:3]] == [1, 3, 5]
    assert [node["evaluations"] for node in tree.nodes] == [15, 1, 1, 0, 0, 0, 0]


def test_one_class_is_never_looked_at():
    tree = grow(column(1.0, 2.0, 3.0), "aaa", delta=0.9)
    assert (len(tree.nodes), tree.nodes[0]["evaluations"], tree.nodes[0]["counts"]) == (1, 0, [3, 0])
    assert tree.predict([9.0]) == "a"


def test_before_any_label():
    assert PoolTree(column(1.0), NUMERIC).predict([1.0]) is None
    assert PoolTree(column(1.0), NUMERIC, classes=["b", "a"]).predict([1.0]) == "b"


def test_a_look_without_a_cut_is_a_look():
    tree = grow(column(1.0, 1.0, 1.0), [0, 1, 1])
    assert (len(tree.nodes), tree.nodes[0]["evaluations"]) == (1, 2)


def test_equal_features_go_to_the_first():
    rows = [[5.0, x, x] for x in (1.0, 2.0, 3.0, 4.0)]
    assert grow(rows, [0, 0, 1, 1], kinds=["numeric"] * 3, delta=0.005).nodes[0]["feature"] == 1


def test_missing_values_follow_the_greater_labelled_weight():
    rows, ys = column(1.0, 2.0, None, math.nan, 3.0, 4.0, 5.0), [0, 0, 1, 1, 1, 1, 1]
    right = grow(rows, ys, order=[4, 5, 6, 0, 1], delta=0.003, classes=[0, 1])
    assert right.shape() == (0, 2.5, False, (2, 0), (0, 3))
    assert right.rows_of(2) == [2, 3, 4, 5, 6]
    equal = grow(rows, ys, order=[0, 1, 4, 5], delta=0.005)
    assert equal.shape() == (0, 2.5, True, (2, 0), (0, 2))
    assert equal.rows_of(1) == [0, 1, 2, 3]


def test_missing_values_take_no_part_in_the_rule():
    """With 4 known labels ln(1/delta) must be below 8, whatever the labels of rows without a value."""
    rows, ys = column(None, None, 1.0, 2.0, 3.0, 4.0), [0, 1, 0, 0, 1, 1]
    assert len(grow(rows, ys, delta=3.3e-4).nodes) == 1
    tree = grow(rows, ys, delta=3.4e-4)
    assert tree.nodes[0]["threshold"] == 2.5
    assert tree.nodes[1]["counts"] == [3, 1]


def test_categories_in_order_of_arrival():
    rows = column("z", "y", "x", "y", "z", "x", "y")
    ys = [0, 1, 0, 1, 0, 0, 1]
    tree = grow(rows, ys, kinds=["nominal"], delta=0.003)  # (3, 2) has H = .971 and radius .762, (2, 2) 1 and .852
    root = tree.nodes[0]
    assert (root["category"], root["threshold"], root["missing_left"]) == ("y", None, True)
    assert [tree.predict([x]) for x in ("z", "y", "x", "new")] == [0, 1, 0, 0]
    two = grow(column("b", "a", "b", "a"), [0, 1, 0, 1], kinds=["nominal"], delta=0.005)
    assert two.nodes[0]["category"] == "b"


@pytest.mark.parametrize("start", [1.0, math.nextafter(1.0, 2.0), -1.0, 5e-324, 1e308])
def test_a_middle_never_reaches_the_larger_value(start):
    above = math.nextafter(start, math.inf)
    assert credible.middle(start, above) == start
    tree = grow(column(start, above), [0, 1], delta=0.9)
    assert tree.shape() == (0, start, True, (1, 0), (0, 1))


def test_third_class_changes_the_number_of_shares():
    tree = grow(column(1.0, 1.0, 1.0), "abc")
    assert (tree.classes, tree.nodes[0]["counts"]) == (["a", "b", "c"], [1, 1, 1])
    assert grow(column(1.0), "b", classes="abc").nodes[0]["counts"] == [0, 1, 0]


def test_a_row_is_labelled_once():
    tree = grow(column(1.0), [0])
    with pytest.raises(ValueError, match="row 0 has a label"):
        tree.label(0, 1)
    assert tree.nodes[0]["counts"] == [1, 0]


# Volume


def volume_tree(rows, kinds):
    tree = PoolTree(rows, kinds, size="volume")
    tree.label(0, 0)
    return tree


def volumes(tree, node, feature, at):
    return [child.volume for child in tree._divide_box(node, feature, at)]


def test_volume_of_numeric_cuts():
    tree = volume_tree([[0.0, 7.0], [4.0, 7.0], [2.0, None]], ["numeric", "numeric"])
    root = tree.tree[0]
    assert volumes(tree, root, 0, 1.0) == [0.25, 0.75]
    right = tree._divide_box(root, 0, 1.0)[1]
    assert volumes(tree, right, 0, 2.5) == [0.375, 0.375]
    assert volumes(tree, right, 0, 9.0) == [0.75, 0.0]
    assert volumes(tree, right, 0, 0.5) == [0.0, 0.75]
    assert volumes(tree, right, 1, 7.0) == [0.375, 0.375]
    assert volumes(tree, tree._divide_box(right, 0, 9.0)[1], 0, 9.5) == [0.0, 0.0]


def test_volume_of_categories():
    tree = volume_tree(column("a", "b", "c", "a", None), ["nominal"])
    tree.add(["d"])  # too late to be counted
    root = tree.tree[0]
    assert volumes(tree, root, 0, "b") == pytest.approx([1 / 3, 2 / 3])
    left, right = tree._divide_box(root, 0, "b")
    assert volumes(tree, right, 0, "a") == pytest.approx([1 / 3, 1 / 3])
    assert volumes(tree, left, 0, "b") == pytest.approx([1 / 6, 1 / 6])
    assert volumes(tree, root, 0, "d") == pytest.approx([1 / 3, 2 / 3])
    assert tree._divide_box(root, 0, "d")[1].box == [["a", "b", "c"]]


def test_volume_decides_the_split():
    """The same labels and the same cut at 3; how far the box reaches decides."""
    rows, ys = column(0.0, 2.0, 4.0, 100.0), [0, 0, 1, 1]
    tree = grow(rows, ys, order=[0, 1, 2], bound="credible", delta=0.4, size="volume")
    assert tree.shape() == (2, 1)  # .03 * .817 + .97 * .881 > .865
    near = grow(column(0.0, 2.0, 4.0), ys, order=[0, 1, 2], bound="credible", delta=0.4, size="volume")
    assert near.shape() == (0, 3.0, True, (2, 0), (0, 1))  # .75 * .817 + .25 * .881 < .865
    assert [node["volume"] for node in near.nodes] == [1, 0.75, 0.25]


# Whom to ask


def two_regions(extra_left=0, extra_right=0):
    """x <= 2.5 with two labels of class 0, and two of class 1 above, with more rows to ask for on each side."""
    rows = column(1.0, 2.0, 3.0, 4.0, *[0.0] * extra_left, *[9.0] * extra_right)
    tree = grow(rows, [0, 0, 1, 1], order=range(4), delta=0.005)
    assert len(tree.nodes) == 3
    return tree


def test_largest_size_times_risk_comes_first():
    tree = two_regions(extra_left=1, extra_right=2)
    sampler = Sampler(tree, [0, 1, 2, 3, 4, 5, 6], delta2=0.05)
    risk = 1 - 0.05 ** (1 / 3)
    assert [region["score"] for region in sampler.regions()] == pytest.approx([3 * risk, 4 * risk])
    assert sampler.choose() == 5
    assert Sampler(tree, [6, 5, 4, 3, 2, 1, 0]).choose() == 6


def test_equal_regions_go_to_the_earlier_row():
    tree = two_regions(extra_left=1, extra_right=1)
    assert Sampler(tree, [0, 1, 2, 3, 4, 5]).choose() == 4
    assert Sampler(tree, [5, 0, 1, 2, 3, 4]).choose() == 5


def test_regions_with_nothing_left_are_skipped():
    assert Sampler(two_regions(extra_left=1), [0, 1, 2, 3, 4]).choose() == 4
    assert Sampler(two_regions(), [0, 1, 2, 3]).choose() is None


def test_regions_below_the_floor_come_first():
    tree = two_regions(extra_left=2, extra_right=9)
    tree.label(6, 1)
    order = range(15)
    assert Sampler(tree, order).choose() == 7
    assert Sampler(tree, order, floor=2).choose() == 7
    assert Sampler(tree, order, floor=3).choose() == 4
    assert Sampler(tree, order, floor=4).choose() == 7  # both are below


def random_pool(seed, K=3, noise=0.15, n=40):
    """Two classes at x > .5, or by chance another."""
    draw = random.Random(seed)
    rows = [
        [round(draw.random(), 1), draw.choice(["a", "b", "c", None]), draw.choice([None, 1.0, 2.0, draw.random()])]
        for _ in range(n)
    ]
    ys = [draw.randrange(K) if draw.random() < noise else int(row[0] > 0.5) for row in rows]
    return rows, ys, draw.sample(range(n), n)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("size", ["pool", "labels", "volume"])
@pytest.mark.parametrize(
    ("bound", "correction", "noise"),
    [
        ("credible", None, 0.15),
        ("credible", "cuts", 0.0),
        ("hoeffding", None, 0.15),
        ("hoeffding", "cuts+looks", 0.15),
    ],
)
def test_asking_in_any_order_ends_in_the_same_tree(seed, size, K, bound, correction, noise):
    rows, ys, permutation = random_pool(seed, K, noise)
    kinds = ["numeric", "nominal", "numeric"]
    options = {"bound": bound, "size": size, "correction": correction, "delta": 0.35, "classes": range(K)}
    passive = grow(rows, ys, kinds=kinds, order=permutation, **options)
    active = PoolTree(rows, kinds, **options)
    asked = Sampler(active, permutation, delta2=0.05, floor=4 * seed).run(ys)
    assert sorted(asked) == sorted(permutation)
    assert active.shape() == passive.shape()
    assert len(passive.nodes) > 1


def test_asking_changes_the_order():
    """Or the test above would hold for nothing."""
    rows, ys, permutation = random_pool(1)
    tree = PoolTree(rows, ["numeric", "nominal", "numeric"], bound="hoeffding", delta=0.35)
    assert Sampler(tree, permutation).run(ys) != permutation
    assert len(tree.nodes) > 5
