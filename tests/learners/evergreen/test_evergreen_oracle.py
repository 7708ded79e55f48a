"""The naive tree by hand: edges, codes, splits, evidence, answers, updates, growths, subsampling and alarms."""

import math
from collections import Counter
from fractions import Fraction
from functools import partial

import pytest

from .oracle.tree import (
    Cut,
    NaiveEvergreen,
    Node,
    Row,
    added_edges,
    category_parts,
    change,
    code_of,
    drawn_part,
    expert_weights,
    find_cut,
    first_edges,
    gain_of,
    hashed,
    log_q,
    number_parts,
    plant,
    predict_path,
    threshold,
    update_odds,
    weigh,
)

Evergreen = partial(NaiveEvergreen, additive=False)
F = Fraction
LN2 = math.log(2)


def close(x):
    return pytest.approx(float(x), rel=1e-12)


def rows_of(*groups):
    """(code of the only feature, label, how many): so many rows of weight 1."""
    each = [(code, label) for code, label, count in groups for _ in range(count)]
    return [Row(i, [None], [code], label, 1.0) for i, (code, label) in enumerate(each)]


def test_hash_is_that_of_splitmix64():
    assert hashed(0, 1, 0) == (0xE220A8397B1DCDAF >> 11) / 2**53  # the first number of seed 0
    assert hashed(0x9E3779B97F4A7C15, 1, 0) == (0x6E789E6AA1B965F4 >> 11) / 2**53  # the second


def test_few_values_have_edges_between_all_of_them():
    assert first_edges([8.0, 1.0, 3.0, 1.0], bins=3) == [2.0, 5.5]
    assert first_edges([4.0, 4.0], bins=3) == []
    assert first_edges([], bins=3) == []


def test_edges_with_heavy_values():
    # Heavy: 20 / 4 = 5 rows. 10 others in 3 bins: mean 10/3; after 4 of them 6 are left for 2 bins: mean 3.
    assert first_edges([0.0] * 10 + [float(x) for x in range(1, 11)], bins=4) == [0.5, 4.5, 7.5]
    # mean 8/3: two rows before the heavy value are more than half of it, and get an edge of their own.
    assert first_edges([1.0, 2.0] + [4.0] * 8 + [5.0, 6.0, 7.0, 8.0, 9.0, 10.0], bins=4) == [3.0, 4.5, 7.5]
    # One row is less: it goes with the heavy value, and the mean stays 8/3; then 4 rows for 2 bins.
    assert first_edges([1.0] + [4.0] * 8 + [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0], bins=4) == [4.5, 7.5, 9.5]


def test_codes_of_numbers_and_categories():
    assert [code_of(x, [2.0, 5.5]) for x in (-9.0, 2.0, 2.1, 5.5, 6.0)] == [1, 1, 2, 2, 3]
    model = Evergreen(["numeric", "nominal"])
    model.edges[0] = [2.0, 5.5]
    assert [model._code(0, x) for x in (None, 2.0, 6.0)] == [0, 1, 3]
    assert [model._code(1, x) for x in (None, 0, 252, 253, 300)] == [0, 1, 253, 254, 254]


def test_edges_that_are_added():
    few = [0.0] * 4
    # Bin 2 has 12 of 16 values, so 12 * 4 / 16 = 3 parts; bin 1 has 4 of 16, not more than 2 / 4.
    assert added_edges([*few, *map(float, range(1, 13))], [0.5], bins=4) == {2: [4.5, 8.5]}
    # 10 * 4 / 16 + 1/2 = 3 parts.
    assert added_edges([*few, 0.0, 0.0, *map(float, range(1, 11))], [0.5], bins=4) == {2: [4.5, 7.5]}
    # The first value has more than two thirds: both edges are one.
    assert added_edges([*few, *[1.0] * 9, 2.0, 3.0, 4.0], [0.5], bins=4) == {2: [1.5]}
    # Of values 1 and 2, min(3, 2) parts: one for each, though the first has less than half of them.
    assert added_edges([*few, 1.0, *[2.0] * 11], [0.5], bins=4) == {2: [1.5]}
    crowd = [float(x) for x in range(1, 13)]
    # No bin has more than 2 / 2, but nine tenths are enough.
    assert added_edges(crowd, [-float(x) for x in range(125, 0, -1)], bins=2) == {126: [6.5]}
    assert list(added_edges(crowd, [-float(x) for x in range(124, 0, -1)], bins=4)) == [125]  # 124 + 3 edges
    assert added_edges(crowd, [-float(x) for x in range(125, 0, -1)], bins=4) == {}  # 125 + 3


def test_rows_of_a_bin_that_was_cut():
    parts = Counter({2: 4, 3: 4, 4: 4})
    assert [drawn_part(parts, u) for u in (0.0, 0.33, 0.34, 0.66, 0.67, 1 - 2**-53)] == [2, 2, 3, 3, 4, 4]
    model = Evergreen(["numeric"], bins=4)
    model.n, model.edges = 5000, [[0.5, 20.0]]
    model.sample = [Row(i, [float(x)], [code_of(x, [0.5])], 0, 1.0) for i, x in enumerate([0] * 4 + list(range(1, 13)))]
    gone = [Row(100 + i, [None], [code], 0, 1.0) for i, code in enumerate([0, 1, 2, 2, 3])]
    model.reservoir = [model.sample[0], model.sample[5], model.sample[15], *gone]
    model._draw_edges(0)
    assert model.edges == [[0.5, 4.5, 8.5, 20.0]]
    thirds = [2 + math.floor(3 * hashed(0, 2, i)) for i in (102, 103)]
    assert [row.codes[0] for row in model.reservoir] == [1, 2, 4, 0, 1, *thirds, 5]


def test_gain_of_a_cut():
    # 3 : 0 and 1 : 4 from 4 : 4. In exp(gain), 8^8 4^4 / (5^5 4^4 4^4).
    gain = gain_of({0: 3.0}, {0: 1.0, 1: 4.0}, {0: 4.0, 1: 4.0})
    assert math.exp(gain) == close(F(8**8, 5**5 * 4**4))
    cut, cuts = find_cut(rows_of((1, 0, 3), (4, 0, 1), (4, 1, 4)), {0: 4.0, 1: 4.0}, [True], [[1.0, 2.0, 3.0, 4.0]])
    assert (cuts, cut.feature, cut.left_codes, cut.penalty) == (1, 0, {1}, 0)
    assert cut.gain == close(gain)
    assert (cut.code, cut.edge) == (2, 2.0)  # codes 1, 2 and 3 part these rows alike


def test_thresholds_are_in_the_middle():
    table = {key: {0: 1.0} for key in [0, 2, 5, 6]}
    edges = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
    assert threshold((2,), table, edges) == (3, 30.0)
    assert threshold((0, 2, 5), table, edges) == (5, 50.0)
    # Known or missing: codes 6, 7 and 8 part alike. With 6 edges only 6 and 7; with 5, none but 6, where all is left.
    assert threshold((2, 5, 6), table, edges) == (7, 70.0)
    assert threshold((2, 5, 6), table, edges[:6]) == (6, 60.0)
    assert threshold((2, 5, 6), table, edges[:5]) == (6, math.inf)


def test_candidates_of_a_number():
    def lefts(*codes):
        return [left for left, *_ in number_parts({key: {0: 1.0} for key in codes})]

    assert lefts(4, 2, 9) == [(2,), (2, 4)]
    assert lefts(4, 0, 2, 9) == [(2,), (2, 4), (2, 4, 9), (0, 2), (0, 2, 4)]
    assert lefts(0, 3) == [(3,)]
    assert lefts(0) == lefts(3) == []


def test_candidates_of_a_category():
    table = {1: {0: 3.0, 1: 1.0}, 2: {1: 2.0}, 3: {0: 2.0}, 4: {0: 1.0, 1: 1.0}}
    node = {1: 4.0, 0: 6.0}
    # Class 0 is the largest, with 3/5: scores 18/25, 3/15, 13/15, 8/15. Penalty 3 ln 2 - ln 4 = ln 2.
    parts = list(category_parts(table, node))
    assert [left for left, *_ in parts] == [(1,), (2,), (3,), (4,), (2,), (2, 4), (2, 4, 1)]
    assert [penalty for _, penalty, *_ in parts] == [0] * 4 + [close(LN2)] * 3
    assert parts[5][2:] == ({0: 1.0, 1: 3.0}, {0: 5.0, 1: 1.0})
    three = {code: table[code] for code in (1, 2, 3)}
    assert [left for left, *_ in category_parts(three, node)] == [(1,), (2,), (3,)]
    assert [left for left, *_ in category_parts({0: {0: 1.0}, 7: {1: 1.0}}, node)] == [(0,)]
    assert list(category_parts({7: {1: 1.0}}, node)) == []


def test_of_equal_cuts_the_first():
    others = [Row(i, [None] * 3, [1, i // 2, i // 2], i // 2, 1.0) for i in range(4)]
    cut, cuts = find_cut(others, {0: 2.0, 1: 2.0}, [False, False, True], [[], [], [1.0]])
    assert (cut.feature, cuts) == (1, 2)
    assert math.exp(cut.gain) == close(2**4)
    useless = [Row(i, [None], [i // 2], i % 2, 1.0) for i in range(4)]
    assert find_cut(useless, {0: 2.0, 1: 2.0}, [False], [[]]) == (None, 1)


def test_g_test():
    assert log_q(3, 2.5) == close(-2.5)  # Q(1, x) = exp(-x)
    assert log_q(2, 2.25) == close(math.log(math.erfc(1.5)))  # Q(1/2, x) = erfc(sqrt(x))
    assert log_q(2, 5000.0) == -math.inf

    def is_cut(codes):
        """Labels alternate, so that the best cut is the first code alone: 1 : 0 from one more of class 0 than of 1."""
        half = codes // 2
        root = plant(rows_of(*((1 + i, i % 2, 1) for i in range(codes))), [True], [[float(i) for i in range(1, codes)]])
        gain = gain_of({0: 1.0}, {0: float(half), 1: float(half)}, {0: half + 1.0, 1: float(half)})
        assert (root.cut is not None) == (math.erfc(math.sqrt(gain)) * (codes - 1) <= 5)
        return root.cut is not None

    assert is_cut(11)
    assert is_cut(21)  # 20 cuts by .247, just below 5
    assert not is_cut(31)


def test_missing_values_go_to_the_larger_side():
    def missing_left(*groups, numeric=True):
        root = plant(rows_of(*groups), [numeric], [[1.0]])
        return root.cut.takes_left(0)

    assert missing_left((1, 0, 3), (2, 1, 2))
    assert missing_left((1, 0, 2), (2, 1, 2))
    assert not missing_left((1, 0, 2), (2, 1, 3))
    assert not missing_left((1, 0, 2), (2, 1, 3), numeric=False)
    assert missing_left((0, 0, 1), (1, 0, 2), (2, 1, 9))
    assert not missing_left((1, 0, 9), (2, 1, 2), (0, 1, 1))


def rising(s, n):
    """Gamma(s + n) / Gamma(s)."""
    return math.prod((s + i for i in range(n)), start=F(1))


def three_nodes(left, right, cuts, penalty=0.0):
    root = Node(
        {k: left.get(k, 0) + right.get(k, 0) for k in left | right}, cuts=cuts, cut=Cut(0, 1.0, penalty, frozenset([1]))
    )
    root.left, root.right = Node(dict(left)), Node(dict(right))
    return root


@pytest.mark.parametrize("penalty", [1, 3])
def test_evidence_and_odds(penalty):
    root = three_nodes({0: 3.0}, {1: 3.0}, 4, math.log(penalty))
    W = weigh(root, 2)
    whole = rising(F(1, 2), 3) ** 2 / rising(F(1), 6)
    side = rising(F(3, 2), 3) / rising(F(3), 3)  # p of the root is 1/2: s = 2/2 + 1/2
    go = side**2 / 2 / penalty  # sqrt(4) cuts
    assert (whole, side) == (F(5, 1024), F(7, 32))
    assert math.exp(root.e) == close(whole)
    assert math.exp(root.left.W) == math.exp(root.right.W) == close(side)
    assert math.exp(W) == close((whole + go) / 2)
    assert root.o == close(whole / go)


def test_odds_of_much_evidence():
    root = three_nodes({0: 200.0}, {1: 200.0}, 4)
    weigh(root, 2)
    assert root.o == math.exp(-60)


def test_evidence_with_unequal_classes():
    root = three_nodes({0: 2.0, 2: 1.0}, {2: 2.0}, 1)
    weigh(root, 3)
    third = F(1, 3)
    p = [(2 + third) / 6, third / 6, (3 + third) / 6]
    assert math.exp(root.e) == close(rising(third, 2) * rising(third, 3) / rising(F(1), 5))
    left = rising(2 * p[0] + third, 2) * rising(2 * p[2] + third, 1) / rising(F(3), 3)
    right = rising(2 * p[2] + third, 2) / rising(F(3), 2)
    assert math.exp(root.left.e) == close(left)
    assert math.exp(root.right.e) == close(right)


def test_a_node_that_is_better_whole_becomes_a_leaf():
    kept = three_nodes({0: 2.0, 1: 1.0}, {0: 1.0, 1: 2.0}, 4)
    weigh(kept, 2)
    assert kept.o == close(F(5, 1024) / (F(3, 32) ** 2 / 2))  # 10/9: b = ln(10/9)
    gone = three_nodes({0: 2.0, 1: 1.0}, {0: 1.0, 1: 2.0}, 100)
    assert weigh(gone, 2) == gone.e == close(math.log(F(5, 1024)))  # b = ln(50/9) > 1
    assert (gone.cut, gone.left, gone.right) == (None, None, None)


def by_hand():
    """A path of three nodes; two classes; 0 is left at both numbers."""
    model = Evergreen(["numeric"], classes=2)
    v2 = Node({0: 3.0})
    v1 = Node(
        {0: 3.0, 1: 1.0},
        M={1: 1.0},
        o=1 / 3,
        cut=Cut(0, 1.0, 0.0, frozenset([1]), 1, 1.0),
        left=v2,
        right=Node({1: 1.0}),
    )
    v0 = Node({0: 4.0, 1: 4.0}, M={0: 1.0, 1: 1.0}, o=1.0, cut=Cut(0, 1.0, 0.0, frozenset([1, 2]), 2, 2.0), left=v1)
    v0.right = Node({0: 1.0, 1: 3.0})
    model.tree = v0
    return model, [v0, v1, v2]


A, LEAF, R = F(141, 224), F(67, 84), F(2729, 5376)


def test_answer_along_a_path():
    model, path = by_hand()
    view = predict_path(path, 2)
    assert [p[0] for p in view.p] == [close(x) for x in (F(1, 2), F(9, 14), LEAF)]
    assert [a[0] for a in view.a] == [close(x) for x in (A, F(85, 112), LEAF)]
    assert F(1, 2) * F(1, 2) + F(1, 2) * (F(1, 4) * F(9, 14) + F(3, 4) * LEAF) == A  # all prunings
    assert [m[0] for m in view.m] == [close(x) for x in (F(365, 672), F(141, 448), A)]
    assert [r[0] for r in view.r] == [close(x) for x in (R, F(423, 896), A)]
    mean = (A + LEAF + R) / 3
    assert model.answer([0.5]) == [close(mean), close(1 - mean)]
    assert model.answer([1.0]) == model.answer([0.5])  # up to the edge
    assert model.answer([1.5]) != model.answer([0.5])


def test_weights_of_the_experts():
    model, _ = by_hand()
    model.L = [5.0, 5.0, 5.0 + math.log(100)]
    assert model.answer([0.5])[0] == close((100 * A + 100 * LEAF + R) / 201)
    model.L = [5.0, 5.0, 5.0 + math.log(2000)]
    assert model.answer([0.5])[0] == close((A + LEAF) / 2)
    assert expert_weights([9000.0, 0.0, 9000.0]) == [0.0, 1.0, 0.0]


def test_an_update():
    model, (v0, v1, v2) = by_hand()
    model.L = [1.0, 0.0, 8.0]  # R is left out of the answer, not of the losses
    model.learn([0.5], 0, weight=2.0)
    assert [close(0.999 * L - 2 * math.log(q)) for L, q in zip([1.0, 0.0, 8.0], [A, LEAF, R], strict=True)] == model.L
    assert v0.o == close(F(56, 85) ** 2)  # 1/2 to 85/112
    assert v1.o == close(F(1, 3) * F(54, 67) ** 2)  # 9/14 to 67/84
    assert v0.h == close(F(1, 100) + F(49, 100) * F(2920, 2729))
    assert v1.h == close(F(1, 100) + F(49, 100) * F(2, 3))
    assert (v0.N, v1.N, v2.N) == ({0: 6.0, 1: 4.0}, {0: 5.0, 1: 1.0}, {0: 5.0})
    assert (v0.M, v1.M, v2.M) == ({0: 1.6, 1: 0.6}, {0: 1.0, 1: 0.6}, {0: 1.0})
    assert v0.right.N == {0: 1.0, 1: 3.0}
    assert (model.n, model.reservoir[0].weight, model.reservoir[0].codes) == (1, 2.0, [1])


def test_odds_stay_within_bounds():
    _, path = by_hand()
    update_odds(predict_path(path, 2), 0, 1e6)
    assert [v.o for v in path[:2]] == [1e-26, 1e-26]
    update_odds(predict_path(path, 2), 1, 1e6)
    assert [v.o for v in path[:2]] == [1e13, 1e13]


def test_the_recent_expert_and_a_new_class():
    model = Evergreen(["numeric"])
    assert model.answer([0.0]) == []
    for _ in range(3):
        model.learn([0.0], 0)
    assert model.L == [0.0, 0.0, 0.0]  # of one class
    assert {0: close(F(196, 100))} == model.tree.M
    model.learn([0.0], 1)
    assert [close(math.log(8)), close(math.log(8)), close(math.log(8 * 2.96))] == model.L  # (1/2) / 4; that / 2.96
    assert {0: close(F(1176, 1000)), 1: 1.0} == model.tree.M
    recent = (1 + F(3, 10)) / F(3176, 1000)  # A of class 1 is (1 + 1/2) / 5
    weights = [1, 1, 1 / 2.96]
    expected = (2 * F(3, 10) + weights[2] * float(recent)) / sum(weights)
    assert model.answer([None]) == [close(1 - expected), close(expected)]
    model.learn([0.0], 1, weight=0.0)
    assert model.n == 4


def learn_halves(model, count, columns=1):
    """Numbers 0, 7, 14, ... modulo 32; below 16 is class 0."""
    for i in range(model.n, model.n + count):
        x = 7 * i % 32
        model.learn([float(x)] + [None] * (columns - 1), x // 16)


def test_the_first_growth():
    model = Evergreen(["numeric"], classes=2)
    learn_halves(model, 31)
    assert (model.m, model.tree.cut, model.edges) == (0, None, [[]])
    learn_halves(model, 1)
    assert (model.m, model.growth) == (32, None)
    assert model.edges == [[x + 0.5 for x in range(31)]]
    root = model.tree
    assert (root.cuts, root.cut.edge, root.left.N, root.right.N) == (31, 15.5, {0: 16.0}, {1: 16.0})
    assert root.left.cut is None
    whole, side = rising(F(1, 2), 16) ** 2 / rising(F(1), 32), rising(F(3, 2), 16) / rising(F(3), 16)
    assert root.o == close(float(whole / side**2) * math.sqrt(31))
    assert {0: close((1 - 0.6**16) / 0.4)} == root.left.M
    assert (root.h, root.left.h) == (0.5, 0.5)


def test_when_growths_begin():
    model = Evergreen(["numeric"])
    began = []
    for _ in range(130):
        before = model.m
        learn_halves(model, 1)
        began += [model.n] if model.m != before else []
    assert began == [32, 41, 52, 66, 83, 104]  # int(1.25 m) + 1; 131 is the next
    assert model.drawn_at == 66  # twice 32 is 64; twice 66 is not yet reached


def test_a_large_growth_catches_up():
    """Columns without values change nothing but the size: 2,049 of them by 32 rows are too much for one row."""
    large, small = Evergreen(["numeric"] * 2049, classes=2), Evergreen(["numeric"], classes=2)
    learn_halves(large, 32, 2049)
    assert large.due
    assert large.m == 0
    large.begin()
    assert not large.due
    old = large.tree
    learn_halves(large, 3, 2049)
    large.finish()
    assert [large.catch_up(16), large.catch_up(16)] == [19, 3]
    new = large.growth.tree
    assert large.tree is old
    assert (sum(new.N.values()), sum(old.N.values())) == (32, 35)
    learn_halves(large, 1, 2049)
    assert large.catch_up(16) == 0
    assert large.tree is new
    assert large.growth is None
    learn_halves(small, 36)
    for v, w in ((new, small.tree), (new.left, small.tree.left), (new.right, small.tree.right)):
        assert (v.N, v.M, v.o) == (w.N, w.M, w.o)
    assert new.h == 0.5 != small.tree.h


def test_a_full_store_is_thinned_out():
    sample, recent = (Evergreen(["numeric"], seed=5, keep=keep, rows=64) for keep in ("sample", "recent"))
    for model in (sample, recent):
        learn_halves(model, 63)
        assert (len(model.reservoir), model.m) == (63, 52)
        learn_halves(model, 1)
        assert (len(model.reservoir), model.m, model.n) == (42, 42, 64)
        assert sum(model.tree.N.values()) == 42
    assert [row.number for row in recent.reservoir] == list(range(22, 64))
    largest_kept = sorted(hashed(5, 3, i) for i in range(64))[41]
    assert [row.number for row in sample.reservoir] == [i for i in range(64) if hashed(5, 3, i) <= largest_kept]
    learn_halves(recent, 11)
    assert (recent.m, len(recent.reservoir)) == (53, 53)  # int(52.5) + 1
    learn_halves(recent, 11)
    assert (recent.m, len(recent.reservoir)) == (42, 42)  # 64, before 67


def test_the_sample():
    model = Evergreen([], seed=3)
    for i in range(2050):
        model._sample_row([], 0, 1.0)
        if i == 2047:
            assert [row.number for row in model.sample] == list(range(2048))
    places = {math.floor(hashed(3, 1, i) * (i + 1)): i for i in (2048, 2049)}
    assert [row.number for row in model.sample] == [places.get(i, i) for i in range(2048)]


def test_errors_of_a_change():
    def z(before, last):
        return change([True] * before + [False] * (300 - before) + [True] * last + [False] * (300 - last))

    assert z(30, 60) ** 2 == close(F(1, 10) ** 2 / (F(15, 100) * F(85, 100) * F(2, 300)))
    assert z(30, 60) < 4.5 < z(30, 75)
    assert z(60, 30) == -z(30, 60)
    assert z(0, 1) == close(F(1, 300) / (math.sqrt(F(1, 600) * F(599, 600) * F(2, 300))))
    assert change([False] * 600) == 0


def learn_another(model):
    """A row of the class, of two, that is not the answer."""
    shares = model.answer([None])
    model.learn([None], 1 - shares.index(max(shares)))


def test_an_alarm():
    adapting, still = (Evergreen(["numeric"], adaptive=adaptive) for adaptive in (True, False))
    for model in (adapting, still):
        for i in range(599):
            model.learn([None], i % 2 if i >= 300 else 0)
        assert (len(model.reservoir), model.m, model.alarms) == (599, 506, [])
        losses = list(model.L)
        model.learn([None], 1)
        assert model.n == 600
    assert (len(still.reservoir), still.m, still.alarms) == (600, 506, [])
    assert (adapting.alarms, adapting.m, len(adapting.wrong)) == ([600], 300, 300)
    assert [row.number for row in adapting.reservoir] == list(range(300, 600))
    assert adapting.tree.N == {0: 150.0, 1: 150.0}
    assert adapting.tree.M[1] == pytest.approx(1 / (1 - 0.36))
    assert adapting.L == still.L != losses
    # From here on all answers are made wrong; the next test is at 600 rows, of which 300 are those that were kept.
    kept = list(adapting.wrong)
    for _ in range(299):
        learn_another(adapting)
    assert adapting.wrong == kept + [True] * 299
    assert adapting.alarms == [600]
    assert change([*adapting.wrong, True]) > 4.5
    learn_another(adapting)
    assert adapting.alarms == [600, 900]
    for _ in range(300):
        adapting.learn([None], 0)
    assert (adapting.alarms, len(adapting.wrong)) == ([600, 900], 600)
