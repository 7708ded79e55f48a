"""The naive single features by hand: bins, sums, answers, updates, bin edges, kept rows, alarms and late features."""

import math
from fractions import Fraction

import pytest

from .oracle.additive import Kept, due
from .oracle.additive import NaiveAdditive as AdditiveModel
from .oracle.tree import NaiveEvergreen as Evergreen
from .oracle.tree import hashed

F = Fraction
LN2 = math.log(2)


def close(x):
    return pytest.approx(float(x), rel=1e-12, abs=1e-15)


def shared(x):
    """Shares in which each part counts 1e-9 more."""
    return pytest.approx(float(x), rel=1e-8)


def by_hand():
    """Two classes; a number of two bins and a category of three; b is 1."""
    model = AdditiveModel(["numeric", "nominal"])
    model.K, model.n, model.weight, model.b = 2, 6, 6.0, 1.0
    model.bin_edges[0], model.largest = [0.5], [2, 3]
    model.v.update({(0, 1): 0.5, (0, 2): 0.5, (1, 1): 8.0, (1, 2): 8.0, (1, 3): 8.0})  # enough to count wholly
    model.N.update({(0, 1, 0): 3.0, (0, 2, 0): 1.0, (0, 1, 1): 1.0, (0, 2, 1): 1.0})
    model.N.update({(1, 2, 0): 1.0, (1, 3, 0): 3.0, (1, 1, 1): 2.0})
    model.T.update({0: 4.0, 1: 2.0})
    return model


ROW = [0.25, 1]  # bins 1 and 2
# C is (2 + 3) / 2. s(0) = ln(7/2) + ln(3/2) - 2 ln(4 + 5/4), s(1) = ln(3/2) + ln(1/2) - 2 ln(2 + 5/4).
S_0, S_1 = math.log(F(4, 21)), math.log(F(12, 169))


def with_coefficients():
    """exp(z) is 1/4 4/21 2 = 2/21 and 3/4 12/169 3 = 27/169, that is as 338 to 567."""
    model = by_hand()
    model.V.update({(0, 1, 0): LN2, (1, 2, 1): math.log(3), (0, 2, 0): 9.0, (1, 1, 1): 9.0, (1, 0, 0): 9.0})
    return model


B = [0.25, 0.75]
S = [F(338, 905), F(567, 905)]


def test_bins():
    model = AdditiveModel(["numeric", "nominal"])
    assert [model.bin_of(0, x) for x in (None, -9.0, 9.0)] == [0, 1, 1]
    model.bin_edges[0] = [2.0, 5.5]
    assert [model.bin_of(0, x) for x in (None, -9.0, 2.0, 2.1, 5.5, 6.0)] == [0, 1, 1, 2, 2, 3]
    assert [model.bin_of(1, x) for x in (None, 0, 7, 252, 253, 300)] == [0, 1, 8, 253, 254, 254]
    assert model.bins_of([6.0, None]) == [(0, 3), (1, 0)]


def test_the_mean_number_of_bins():
    model = AdditiveModel(["numeric", "nominal", "nominal", "nominal"])
    assert model.C() == 1
    model.learn([1.0], [None, 4, None, 300], 0, 1.0)
    assert model.C() == F(5 + 254, 2)
    model.learn([1.0], [None, 2, None, 0], 0, 1.0)
    assert model.C() == F(5 + 254, 2)
    model.answer([1.0], [None, 50, 50, 50])  # asked, not learned
    assert model.C() == F(5 + 254, 2)


def test_the_sum_of_logarithms():
    model = by_hand()
    assert model.s(ROW, 2) == [close(S_0), close(S_1)]
    assert model.s(ROW, 3)[2] == close(2 * math.log(F(1, 2) / F(5, 4)))


def test_bins_of_few_visits_count_less():
    model = by_hand()
    assert model.s([None, 9], 3) == [0, 0, 0]
    model.v.update({(0, 0): 2.0, (0, 1): 0.25, (1, 2): 6.0})
    # Missing: a quarter of ln(1/2) - ln(4 + 5/4), that is of ln(2/21); a number: half of ln(2/3); category: 3/4.
    assert model.s([None, 9], 1) == [close(math.log(F(2, 21)) / 4)]
    assert model.s(ROW, 1) == [close(math.log(F(2, 3)) / 2 + math.log(F(2, 7)) * 3 / 4)]


def test_what_the_sum_tells():
    model = with_coefficients()
    assert model.z(B, ROW) == [close(math.log(F(2, 21))), close(math.log(F(27, 169)))]
    assert model.S(B, ROW) == [close(x) for x in S]
    assert model.answer(B, ROW) == [close((F(1, 4) + S[0]) / 2), close((F(3, 4) + S[1]) / 2)]
    model.a, model.b = 2.0, 0.5
    assert model.z(B, ROW)[1] == close(2 * math.log(0.75) + S_1 / 2 + math.log(3))
    assert model.z([0.0, 1.0], ROW)[0] == close(2 * math.log(1e-4) + S_0 / 2 + LN2)


def test_at_first_the_sum_tells_what_the_trees_tell():
    model = AdditiveModel(["numeric", "nominal", "nominal", "numeric"])
    assert (model.a, model.b) == (1, 0.5)
    assert model.answer(B, [1.0, 2, None, None]) == [close(0.25), close(0.75)]
    assert model.answer([], [1.0, 2, None, None]) == []


def test_large_sums():
    model = by_hand()
    model.V[0, 1, 0] = 5000.0
    assert model.S(B, ROW) == [1.0, 0.0]
    model.V[0, 1, 0] = -5000.0
    assert model.S(B, ROW) == [0.0, 1.0]


def test_weights_of_both():
    model = with_coefficients()
    model.L_B, model.L_S = 7.0, 7.0 + math.log(3)
    assert model.answer(B, ROW)[0] == close((3 * F(1, 4) + S[0]) / 4)
    model.L_B, model.L_S = 7.0 + math.log(3), 7.0
    assert model.answer(B, ROW)[0] == close((F(1, 4) + 3 * S[0]) / 4)
    model.L_B, model.L_S = 7.0, 7.0 + math.log(998)  # 1/999
    assert model.answer(B, ROW)[0] == close((998 * F(1, 4) + S[0]) / 999)
    model.L_B, model.L_S = 7.0, 7.0 + math.log(1000)  # 1/1001
    assert model.answer(B, ROW) == B
    model.L_B, model.L_S = 9000.0, 0.0
    assert model.answer(B, ROW)[0] == close(S[0])  # B is never left out, but may be nothing


def test_the_first_update():
    model = AdditiveModel(["nominal", "nominal", "nominal", "numeric"])
    model.learn(B, [0, 3, None, 0.5], 0, 1.0)
    # All s are 4 ln(1/2) - 4 ln(1/2): S is B, and g is -3/4 and 3/4.
    assert (close(math.log(4)), close(math.log(4))) == (model.L_B, model.L_S)
    assert (model.Q_b, model.b) == (close(0), close(0.5))
    r = 3 / 4 * math.log(3)
    assert model.Q_a == close(r**2)
    assert model.a == close(1 - 0.3 * r / math.sqrt(r**2 + 1))
    bins = [(0, 1), (1, 4), (2, 0), (3, 1)]
    assert model.v == dict.fromkeys(bins, 1)
    move = 0.3 * 0.75 / math.sqrt(6)  # 4 (1 + 1/2)
    assert {(*one, k): close(move if k == 0 else -move) for one in bins for k in (0, 1)} == model.V
    assert {(*one, 0): 1.0 for one in bins} == model.N
    assert model.T == {0: 1.0}
    assert (model.n, model.K, model.largest) == (1, 2, [1, 4, 0, 1])
    assert model.kept == [Kept([0, 3, None, 0.5], 0, 1.0)]


def test_an_update_of_b():
    model = with_coefficients()
    model.Q_b, model.Q_a, model.L_B, model.L_S = 3.0, 2.0, 1.0, 2.0
    model.learn(B, ROW, 0, 1.0)
    g = 567 / 905
    q, r = g * math.log(F(63, 169)), g * math.log(3)  # 12/169 to 4/21, and 3/4 to 1/4
    assert model.Q_b == close(3 + q**2)
    assert model.b == close(1 - 0.3 * q / math.sqrt(2 * (4 + q**2)))
    assert model.Q_a == close(2 + r**2)
    assert model.a == close(1 - 0.3 * r / math.sqrt(3 + r**2))
    assert close(0.999 + math.log(4)) == model.L_B
    assert close(1.998 + math.log(F(905, 338))) == model.L_S
    step = 0.3 * g / math.sqrt(3)  # 2 (1 + 1/2)
    assert [model.V[0, 1, k] for k in (0, 1)] == [close(LN2 + step), close(-step)]
    step = 0.3 * g / math.sqrt(11)  # 2 (1 + 9/2)
    assert [model.V[1, 2, k] for k in (0, 1)] == [close(step), close(math.log(3) - step)]
    assert (model.V[0, 2, 0], model.V[1, 1, 1], model.V[1, 0, 0]) == (9, 9, 9)
    assert (model.N[0, 1, 0], model.N[1, 2, 0], model.T[0], model.T[1]) == (4, 2, 5, 2)


def test_a_and_b_stay_above_0():
    model = by_hand()
    model.a = model.b = 0.01
    model.learn([0.01, 0.99], ROW, 0, 1.0)  # S is .3 and .7 or so: r is .7 ln 99
    assert model.a == 0
    assert model.b > 0.01  # s is for class 0
    model.b = 0.01
    model.learn([0.01, 0.99], ROW, 1, 1.0)
    assert model.b == 0


def test_a_loss_is_at_most_that_of_a_billionth():
    model = by_hand()
    model.V[0, 1, 1] = -5000.0
    model.learn([1.0, 0.0], ROW, 1, 2.0)
    assert model.L_B == model.L_S == close(18 * math.log(10))


@pytest.mark.parametrize(
    ("visits", "counted"),
    [(0.0, 1), (15_998.0, 15_999), (15_999.0, 16_000), (16_000.0, 16_000), (5e5, 16_000), (2.75, 3), (0.5, 1)],
)
def test_visits_are_whole_and_have_a_largest(visits, counted):
    model = AdditiveModel(["nominal"])
    model.v[0, 1] = visits
    model.learn([0.5, 0.5], [0], 1, 1.0)
    assert model.v[0, 1] == visits + 1
    assert model.V[0, 1, 1] == close(0.3 * 0.5 / math.sqrt(1 + F(counted, 2)))


@pytest.mark.parametrize(
    ("weight", "u"),
    # Rows before weigh 6 of 6: the mean with this one is (6 + w) / 7, and no row counts more than 8 of it.
    [(1.0, 1.0), (4.0, F(28, 10)), (0.25, F(7, 25)), (1000.0, F(7000, 1006)), (0.5, F(7, 13))],
)
def test_weights(weight, u):
    model = with_coefficients()
    model.learn(B, ROW, 0, weight)
    assert close(weight * math.log(4)) == model.L_B
    assert close(weight * math.log(F(905, 338))) == model.L_S
    g = float(u) * 567 / 905
    q, r = g * math.log(F(63, 169)), g * math.log(3)
    assert (model.Q_b, model.Q_a) == (close(q**2), close(r**2))
    assert model.b == close(1 - 0.3 * q / math.sqrt(2 * (1 + q**2)))
    assert model.a == close(1 - 0.3 * r / math.sqrt(1 + r**2))
    assert model.V[0, 1, 1] == close(-0.3 * g / math.sqrt(3))
    assert (model.v[0, 1], model.v[1, 2]) == (1.5, 9.0)
    assert (model.N[0, 1, 0], model.N[1, 2, 0], model.T[0]) == (3 + weight, 1 + weight, 4 + weight)
    assert model.kept[0].weight == weight


def test_a_row_that_is_heavier_than_all_before():
    model = AdditiveModel(["nominal"])
    learn_one_class(model, [[0]] * 19)
    model.learn([0.5, 0.5], [0], 1, 10_000.0)
    # 20 * 10000 / 10019 mean weights. The class is new: s(0) is ln(39/2) - ln(39/2), s(1) as much.
    assert model.V[0, 1, 1] == close(0.3 * 8 * 0.5 / math.sqrt(1 + 20 / 2))


def test_a_class_that_trees_did_not_know():
    model = by_hand()
    model.L_B, model.L_S = 3.0, 4.0
    model.learn([0.25, 0.75, 0.0], ROW, 2, 1.0, judged=False)
    assert (model.L_B, model.L_S, model.T[2]) == (3.0, 4.0, 1.0)


def test_a_new_class():
    model = by_hand()
    model.learn([0.25, 0.75, 0.0], ROW, 2, 1.0)
    # s(2) is 2 ln(1/2) - 2 ln(5/4) = ln(4/25). exp(z): 1/4 4/21, 3/4 12/169 and 1/10000 4/25.
    z = [F(1, 21), F(9, 169), F(4, 250_000)]
    S = [x / sum(z) for x in z]
    assert model.K == 3
    assert close(9 * math.log(10)) == model.L_B
    assert close(-math.log(S[2])) == model.L_S
    g = [S[0], S[1], S[2] - 1]
    assert [model.V[0, 1, k] for k in range(3)] == [close(-0.3 * x / math.sqrt(3)) for x in g]
    r = float(g[0]) * math.log(0.25) + float(g[1]) * math.log(0.75) + float(g[2]) * math.log(1e-4)
    assert model.Q_a == close(r**2)
    assert (model.N[0, 1, 2], model.N[1, 2, 2], model.T[2]) == (1, 1, 1)


def learn_one_class(model, rows):
    """Of one class S is 1 and nothing moves."""
    for row in rows:
        model.learn([1.0], row, 0, 1.0)


def test_when_limits_are_drawn():
    assert [n for n in range(1, 1030) if due(n)] == [8, 16, 32, 64, 128, 256, 512, 1024]
    model = AdditiveModel(["numeric", "nominal"])
    learn_one_class(model, [[float(x), x] for x in range(7)])
    assert model.bin_edges == [[], []]
    assert model.v[0, 1] == 7
    learn_one_class(model, [[7.0, 7]])
    eight = [x + 0.5 for x in range(7)]
    assert model.bin_edges == [eight, []]
    assert all(model.v[f, c] == model.N[f, c, 0] == 1 for f in (0, 1) for c in range(1, 9))
    learn_one_class(model, [[x + 8.0, 0] for x in range(7)])
    assert model.bin_edges == [eight, []]
    assert model.v[0, 8] == 8  # 7, 8, ... 14
    learn_one_class(model, [[15.0, 0]])
    assert model.bin_edges == [[x + 0.5 for x in range(15)], []]
    assert all(model.v[0, c] == 1 for c in range(1, 17))
    assert model.C() == F(16 + 8, 2)


def test_bins_are_counted_anew():
    model = AdditiveModel(["numeric"])
    learn_one_class(model, [[float(x)] for x in range(1, 32, 2)])
    assert model.bin_edges == [[float(x) for x in range(2, 31, 2)]]  # 2 i + 1 is in bin i + 1
    for x in range(0, 30, 2):  # 2 i is in bin i, but 0 in bin 1
        model.learn([1.0], [float(x)], 0, 4.0)
    for c in range(1, 17):
        model.V[0, c, 0] = float(c)
    model.learn([1.0], [30.0], 0, 4.0)
    # 32 values, 16 bins, two rows in each: 2 i of weight 4 and 2 i + 1 of weight 1.
    assert model.bin_edges == [[x + 0.5 for x in range(1, 30, 2)]]
    assert [model.v[0, c] for c in range(1, 17)] == [2] * 16
    assert [model.N[0, c, 0] for c in range(1, 17)] == [5] * 16
    assert [model.V[0, c, 0] for c in range(1, 17)] == [1] + [i + 0.5 for i in range(1, 16)]
    assert model.T[0] == 16 * 5


def test_bins_counted_anew_of_two_classes_and_missing_values():
    """An old bin of three rows and one of one become two bins of two rows; bin 0 stays as it is."""
    model = AdditiveModel(["nominal", "numeric"])
    model.n, model.K, model.bin_edges[1] = 4, 2, [10.0, 100.0]
    model.kept = [Kept([None, x], k, w) for x, k, w in ((1.0, 0, 1.0), (1.0, 1, 2.0), (2.0, 1, 4.0), (20.0, 0, 8.0))]
    model.kept.append(Kept([None, None], 1, 16.0))
    model.N.update({(1, 0, 1): 16.0, (0, 0, 1): 31.0, (1, 1, 0): 99.0, (1, 3, 1): 99.0})
    model.v.update({(1, 0): 1.0, (0, 0): 5.0, (1, 1): 99.0, (1, 3): 99.0})
    model.V.update({(1, 0, 0): 0.25, (0, 0, 0): 0.5, (1, 1, 0): 3.0, (1, 1, 1): -3.0, (1, 2, 0): 7.0, (1, 3, 0): 99.0})
    model._recount(1, [1.5, 30.0])
    assert [model.v[1, c] for c in range(4)] == [1, 2, 2, 0]
    assert [[model.N[1, c, k] for k in (0, 1)] for c in range(4)] == [[0, 16], [1, 2], [8, 4], [0, 0]]
    assert [[model.V[1, c, k] for k in (0, 1)] for c in range(4)] == [[0.25, 0], [3, -3], [5, -1.5], [0, 0]]
    assert (model.N[0, 0, 1], model.v[0, 0], model.V[0, 0, 0]) == (31, 5, 0.5)


def ready_to_part(values, bin_edges):
    model = AdditiveModel(["nominal", "numeric"])
    model.n, model.K, model.bin_edges[1] = 1024, 2, bin_edges
    model.kept = [Kept([None, x], 0, 1.0) for x in values]
    return model


def test_bins_are_parted():
    # Bin 2 has 10 of 40 known values, so 10 * 16 / 40 = 4 parts, but 3 values. Up to 1 a half, up to 2 eight tenths.
    values = [0.0] * 30 + [1.0] * 5 + [2.0] * 3 + [3.0] * 2 + [None] * 9
    model = ready_to_part(values, [0.5, 20.0])
    model.kept[30].weight = 100.0  # each value counts one
    model.N.update({(1, 0, 0): 9.0, (1, 1, 0): 7.0, (1, 2, 0): 100.0, (1, 2, 1): 10.0, (1, 3, 1): 2.0, (0, 2, 0): 5.0})
    model.v.update({(1, 0): 8.0, (1, 1): 7.0, (1, 2): 51.0, (1, 3): 2.0, (0, 2): 5.0})
    model.V.update({(1, 0, 0): 1.0, (1, 1, 0): 2.0, (1, 2, 0): 3.0, (1, 2, 1): -3.0, (1, 3, 1): 4.0, (0, 2, 0): 5.0})
    model._draw_bin_edges(1)
    assert model.bin_edges == [[], [0.5, 1.5, 2.5, 20.0]]
    assert [model.N[1, c, 0] for c in range(6)] == [9, 7, shared(50), shared(30), shared(20), 0]
    assert [model.N[1, c, 1] for c in range(6)] == [0, 0, shared(5), shared(3), shared(2), 2]
    assert [model.v[1, c] for c in range(6)] == [8, 7, shared(25.5), shared(15.3), shared(10.2), 2]
    assert [model.V[1, c, 0] for c in range(6)] == [1, 2, 3, 3, 3, 0]
    assert [model.V[1, c, 1] for c in range(6)] == [0, 0, -3, -3, -3, 4]
    assert (model.N[0, 2, 0], model.v[0, 2], model.V[0, 2, 0]) == (5, 5, 5)
    assert model.N[1, 2, 0] / 100 == pytest.approx((5 + 1e-9) / (10 + 3e-9), rel=1e-14)


def test_at_most_31_limits():
    # All 16 values in the last bin: 16 parts, 15 bin edges more.
    crowd = [float(x) for x in range(1, 17)]
    few, many = (ready_to_part(crowd, [-float(x) for x in range(count, 0, -1)]) for count in (16, 17))
    few._draw_bin_edges(1)
    assert few.bin_edges[1][16:] == [x + 0.5 for x in range(1, 16)]
    many.N[1, 18, 0], many.v[1, 18] = 5.0, 3.0
    many._draw_bin_edges(1)
    assert len(many.bin_edges[1]) == 17
    assert (many.N[1, 18, 0], many.v[1, 18]) == (5, 3)


def test_rows_that_are_kept():
    model = AdditiveModel(["nominal"], seed=3)
    for i in range(514):
        model.learn([1.0], [i], 0, 1.0)
        if i == 511:
            assert [row.values[0] for row in model.kept] == list(range(512))
    places = {math.floor(hashed(3, 6, i) * (i + 1)): i for i in (512, 513)}
    assert len(places.keys() & range(512)) == 2
    assert [row.values[0] for row in model.kept] == [places.get(i, i) for i in range(512)]


def test_limits_after_512_rows():
    """A number is always 0, until from row 512 on it is 1 or 2 in turn."""
    model = AdditiveModel(["numeric"])
    learn_one_class(model, [[0.0]] * 512)
    assert model.bin_edges == [[]]
    assert model.v[0, 1] == 512
    learn_one_class(model, [[1.0 + i % 2] for i in range(511)])
    assert model.bin_edges == [[]]
    model.V[0, 1, 0] = 5.0
    learn_one_class(model, [[2.0]])
    known = [row.values[0] for row in model.kept]
    assert model.bin_edges == [[0.5, 1.5]]
    assert [model.v[0, c] for c in (1, 2, 3)] == [shared(F(1024 * known.count(x), 512)) for x in (0.0, 1.0, 2.0)]
    assert [model.N[0, c, 0] for c in (1, 2, 3)] == [model.v[0, c] for c in (1, 2, 3)]
    assert [model.V[0, c, 0] for c in (1, 2, 3)] == [5, 5, 5]


def test_fading():
    model = with_coefficients()
    model.T.update({0: 400.0, 1: 200.0})
    model.v[0, 1], model.Q_a, model.Q_b, model.L_B, model.L_S = 7.0, 3.0, 5.0, 1.0, 2.0
    model.fade()  # by 300 / 600
    assert model.T == {0: 200.0, 1: 100.0}
    assert (model.N[0, 1, 0], model.N[1, 3, 0], model.v[0, 1]) == (1.5, 1.5, 3.5)
    assert (model.Q_a, model.Q_b) == (1.5, 2.5)
    assert (model.V[0, 1, 0], model.V[1, 0, 0]) == (close(LN2 / 2), 4.5)
    assert (model.a, model.b, model.L_B, model.L_S, model.n) == (1, 1, 1, 2, 6)
    model.fade()  # 300 are left: only coefficients
    assert model.T == {0: 200.0, 1: 100.0}
    assert (model.v[0, 1], model.Q_a, model.V[1, 0, 0]) == (3.5, 1.5, 2.25)
    model.T.update({0: 20.0})
    model.fade()
    assert (model.v[0, 1], model.T[1]) == (3.5, 100)


def test_a_feature_that_comes_later():
    model = by_hand()
    model.kept = [Kept([0.25, 1], 0, 1.0)]
    model.a, model.b = 0.75, 0.5
    model.add_features(["numeric", "nominal"])
    assert (model.a, model.b, model.d) == (0.75, 0.5, 4)
    assert [[model.N[f, 0, k] for k in (0, 1)] for f in (2, 3)] == [[4, 2], [4, 2]]
    assert (model.v[2, 0], model.v[3, 0]) == (6, 6)
    assert model.kept[0].values == [0.25, 1, None, None]
    # C is as before: nothing of them was learned. Of class 0: 7/2, 3/2 and, for 6/8, 9/2, each to 4 + 5/4.
    row = [0.25, 1, None, 0]
    assert model.s(row, 2)[0] == close(S_0 + math.log(F(9, 2) / F(21, 4)) * 3 / 4)
    model.learn([0.5, 0.5], row, 1, 1.0)
    assert (model.v[2, 0], model.v[3, 1], model.N[2, 0, 1], model.N[3, 1, 1]) == (7, 1, 3, 1)
    assert model.V[3, 1, 1] / model.V[2, 0, 1] == close(math.sqrt((1 + 3.5) / 1.5))
    model.learn([0.5, 0.5], [0.25, 1, 3.0, 0], 1, 1.0)
    # The eighth row: bin edges of both numbers, from the kept rows.
    assert (model.n, model.bin_edges) == (8, [[], [], [], []])
    assert model.C() == F(1 + 3 + 1 + 1, 4)


def test_a_number_that_comes_after_512_rows():
    model = AdditiveModel(["nominal"])
    learn_one_class(model, [[0]] * 600)
    model.add_features(["numeric"])
    assert (model.v[1, 0], model.N[1, 0, 0]) == (600, 600)
    model.add_features(["numeric"])
    learn_one_class(model, [[0, float(i % 4 == 0), float(i % 4 > 0)] for i in range(424)])
    # Two values, two parts, however often each comes.
    assert model.bin_edges[1:] == [[0.5], [0.5]]
    assert (model.v[1, 0], model.N[1, 0, 0]) == (600, 600)
    zeros, ones = (sum(row.values[1] == x for row in model.kept) for x in (0.0, 1.0))
    assert [model.v[1, c] for c in (1, 2)] == [shared(F(424 * count, zeros + ones)) for count in (zeros, ones)]
    assert model.v[2, 1] + model.v[2, 2] == close(424)


def test_nothing_gets_lost():
    model = AdditiveModel(["numeric", "nominal", "numeric"], seed=1)
    for i in range(1100):
        x = hashed(9, 1, i)
        row = [x if x < 0.9 else None, math.floor(300 * hashed(9, 2, i)), 3 * x if i < 600 else 100.0 + x]
        label = min(i // 100, 2) if x < 0.5 else 0
        B = [1 / max(model.K, label + 1)] * max(model.K, label + 1)
        model.learn(B, row, label, 0.5 + label)
        assert sum(model.answer(B, row)) == close(1)
    for f in range(3):
        for k in range(3):
            assert sum(c for (g, _, j), c in model.N.items() if (g, j) == (f, k)) == pytest.approx(model.T[k], rel=1e-9)
        assert sum(v for (g, _), v in model.v.items() if g == f) == pytest.approx(1100, rel=1e-9)
    assert len(model.bin_edges[0]) == 15
    assert len(model.bin_edges[2]) > 15  # what came after row 512 is in a bin that was too large
    assert model.largest[1] == 254


def test_on_top_of_a_tree():
    model = Evergreen(["nominal"], classes=2)
    assert model.answer([0]) == [0.5, 0.5]
    model.learn([0], 0)
    B = F(3, 4) * F(2, 3) + F(7, 8) * F(1, 3)  # A and the leaf 3/4, R 7/8, of equal losses
    assert model.proba([0]) == [close(B), close(1 - B)]
    # All s are 0, and a is 1 since both B were 1/2. The move is half of .3 / sqrt(1 + 1/2).
    up = math.exp(2 * 0.15 / math.sqrt(1.5))
    S = float(B) * up / (float(B) * up + float(1 - B))
    assert model.additive.L_B == model.additive.L_S == close(LN2)
    assert model.answer([0]) == [close((B + S) / 2), close(1 - (B + S) / 2)]
    # A third class: A and the leaf tell 1/6 of it, R half of that.
    model.learn([0], 2)
    assert close(0.999 * LN2 - math.log(F(5, 36))) == model.additive.L_B
    assert model.additive.T == {0: 1.0, 2: 1.0}
    assert len(model.answer([0])) == 3


def test_weights_are_rounded_and_none_is_not_learned():
    model = Evergreen(["nominal"])
    model.learn([0], 0, weight=0.0)
    assert (model.additive.n, model.answer([0])) == (0, [])
    model.learn([0], 0, weight=1e-9)
    assert model.additive.T == {0: 2.0**-20}
    assert model.additive.kept[0].weight == 2.0**-20


def test_no_features():
    model = Evergreen([], classes=2, seed=3)
    assert (model.additive.seed, model.additive.b) == (3, 1)
    for _ in range(8):
        model.learn([], 0)
    B, a = model.proba([]), model.additive.a
    assert model.additive.S(B, []) == [close(B[k] ** a / (B[0] ** a + B[1] ** a)) for k in (0, 1)]


def test_alarms_look_at_the_answer_with_single_features():
    model = Evergreen(["nominal"], classes=2)
    model.learn([0], 0)
    assert model.proba([0])[0] > 0.5
    model.additive.V[0, 1, 1], model.additive.L_B = 50.0, 50.0
    assert model.answer([0])[1] > 0.5
    model.learn([0], 0)
    assert model.wrong == [False, True]


def test_an_alarm_fades_single_features():
    adapting, still = (Evergreen(["numeric"], adaptive=adaptive) for adaptive in (True, False))
    for model in (adapting, still):
        for i in range(600):
            model.learn([None], i % 2 if i >= 300 else 0)
    assert (adapting.alarms, still.alarms) == ([600], [])
    one, other = adapting.additive, still.additive
    assert other.T == {0: 450.0, 1: 150.0}
    assert one.T == {0: 225.0, 1: 75.0}  # by 300 / 600
    assert one.N == {(0, 0, 0): 225.0, (0, 0, 1): 75.0}
    assert one.v == {(0, 0): 300.0}
    assert (one.Q_a, one.Q_b) == (other.Q_a / 2, other.Q_b / 2)
    assert {key: move / 2 for key, move in other.V.items()} == one.V
    assert (one.a, one.b, one.L_B, one.L_S) == (other.a, other.b, other.L_B, other.L_S)
