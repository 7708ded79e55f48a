"""The naive Bayesian tree against exact integration, and against cases worked out by hand."""

import math

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma, ndtr
from scipy.stats import beta as beta_distribution

from tests.learners.bayesian import oracle as bayesian
from tests.learners.bayesian.oracle import (
    Encoder,
    NaiveTree,
    beta_mean,
    dirichlet_step,
    half_moments,
    quadrature_update,
    uncertainty,
)

PEAK = 1 / math.sqrt(2 * math.pi)
SHAPES = [(depth, d, K) for depth in (1, 2) for d in (2, 3) for K in (2, 3)]


def random_tree(rng, depth, d, K, **options):
    """A tree in a state as learning leaves it: tilted, correlated, with leaves from nearly empty to sure."""
    inner = 2**depth - 1
    A = rng.normal(size=(inner, d, d))
    Sigma = A @ A.transpose(0, 2, 1) + 0.1 * np.eye(d)
    alpha = 10 ** rng.uniform(-2, 1, size=(2**depth, K))
    return NaiveTree(depth, rng.normal(size=(inner, d)), Sigma, alpha, **options)


def random_row(rng, d):
    return np.append(1.0, rng.uniform(-1, 1, d - 1))


def stump(alpha, mu=(0.0,), Sigma=((1.0,),), **options):
    return NaiveTree(1, [mu], [Sigma], alpha, **options)


def expected_logs(alpha):
    with mpmath.workdps(50):
        alpha = [mpmath.mpf(float(a)) for a in alpha]
        return [float(mpmath.psi(0, a) - mpmath.psi(0, mpmath.fsum(alpha))) for a in alpha]


def assert_matches(tree, exact):
    for n in range(tree.inner):
        assert_allclose(tree.mu[n], exact.mean[n], rtol=1e-8, atol=1e-8)
        assert_allclose(tree.Sigma[n], exact.covariance[n], rtol=1e-8, atol=1e-8)
    assert_allclose([expected_logs(a) for a in tree.alpha], exact.log_pi, rtol=1e-8, atol=1e-8)


# The update against integration


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("depth", "d", "K"), SHAPES)
def test_update_is_the_exact_posterior(depth, d, K, seed):
    rng = np.random.default_rng([depth, d, K, seed])
    tree = random_tree(rng, depth, d, K, skip=0.0)
    xi, y = random_row(rng, d), int(rng.integers(K))
    exact = quadrature_update(tree.mu, tree.Sigma, tree.alpha, depth, xi, y)
    assert_allclose(tree.predict(xi)[y], exact.p, rtol=1e-10)
    tree.learn(xi, None, y)
    assert_matches(tree, exact)


def test_updates_after_updates_are_exact():
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 2, 3, 3, skip=0.0)
    for _ in range(6):
        xi, y = random_row(rng, 3), int(rng.integers(3))
        exact = quadrature_update(tree.mu, tree.Sigma, tree.alpha, 2, xi, y)
        tree.learn(xi, np.zeros(3), y)
        assert_matches(tree, exact)


def test_integration_by_hand():
    """A root without preference, leaves (3, 1) and (1, 3): the share of the left half is 3/4 afterwards."""
    exact = quadrature_update([[0.0]], [[[1.0]]], [[3, 1], [1, 3]], 1, [1.0], 0)
    assert exact.p == pytest.approx(1 / 2, abs=1e-13)
    assert exact.p_after == pytest.approx(3 / 4 * 4 / 5 + 1 / 4 * 2 / 5, abs=1e-13)
    assert_allclose(exact.mean, [[PEAK]], atol=1e-13)
    assert_allclose(exact.covariance, [[[1 - PEAK**2]]], atol=1e-13)
    seen, unseen = digamma([4, 1]) - digamma(5), digamma([3, 1]) - digamma(4)
    assert_allclose(exact.log_pi[0], 3 / 4 * seen + 1 / 4 * unseen, atol=1e-13)


@pytest.mark.parametrize("cut", [-6.0, -1.0, 0.0, 0.3, 5.0])
def test_halves(cut):
    above, below = half_moments(cut)
    assert_allclose([above[0], below[0]], [ndtr(-cut), ndtr(cut)], rtol=1e-13)
    assert_allclose(np.add(above, below), [1, 0, 1], atol=1e-13)


@pytest.mark.parametrize(("a", "b"), [(0.004, 0.004), (0.01, 3), (1, 1), (2.5, 40), (300, 0.5)])
def test_beta_means(a, b):
    assert beta_mean(lambda log_x, _: np.exp(log_x), a, b) == pytest.approx(a / (a + b), rel=1e-11)
    assert beta_mean(lambda log_x, _: log_x, a, b) == pytest.approx(digamma(a) - digamma(a + b), rel=1e-10)


# Leaves


HOSTILE = [[1e4, 1e-12], [1e-12, 1e-12], [1e-3, 5.0, 2e-6], [1e6, 2e6], [0.01] * 5, [1.0, 1e-9, 1e-9], [1e-30, 10]]


@pytest.mark.parametrize("alpha", HOSTILE)
def test_a_leaf_that_must_have_been_reached_counts_the_label(alpha):
    """Then |alpha| / alpha_y is the step, and the posterior is a Dirichlet again."""
    for y in range(len(alpha)):
        wanted = np.array(alpha) + (np.arange(len(alpha)) == y)
        with mpmath.workdps(150):
            step = mpmath.fsum(map(mpmath.mpf, alpha)) / alpha[y]
        assert_allclose(dirichlet_step(alpha, y, step), wanted, rtol=1e-12)
        tree = NaiveTree(0, [], [], [alpha])
        tree.learn([1.0], None, y)
        assert_allclose(tree.alpha, [wanted], rtol=1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("alpha", HOSTILE)
@pytest.mark.parametrize("responsibility", [1e-6, 0.9])
def test_the_equation_of_a_leaf_is_solved(alpha, responsibility):
    for y in range(len(alpha)):
        step = responsibility * sum(alpha) / alpha[y]
        found = dirichlet_step(alpha, y, step)
        with mpmath.workdps(100):
            old, new = ([mpmath.mpf(float(a)) for a in values] for values in (alpha, found))
            A, S = mpmath.fsum(old), mpmath.fsum(new)
            for z in range(len(alpha)):
                wanted = mpmath.psi(0, old[z]) - mpmath.psi(0, A) + mpmath.mpf(step) * ((z == y) - old[y] / A) / A
                others = mpmath.fsum(new[:z] + new[z + 1 :])  # how the rounding of alpha' shows in the left side
                slack = new[z] * abs(mpmath.psi(1, new[z]) - mpmath.psi(1, S)) + others * mpmath.psi(1, S)
                assert abs(mpmath.psi(0, new[z]) - mpmath.psi(0, S) - wanted) <= 1e-12 * slack


def test_both_ways_to_solve_agree(monkeypatch):
    rng = np.random.default_rng(2)
    for _ in range(10):
        alpha = 10 ** rng.uniform(-3, 2, 3)
        step = rng.uniform() * alpha.sum() / alpha[1]
        polished = dirichlet_step(alpha, 1, step)
        with monkeypatch.context() as patch:
            patch.setattr(bayesian, "polish", lambda *_: None)
            assert_allclose(dirichlet_step(alpha, 1, step), polished, rtol=1e-14)


def test_one_class_and_no_step_leave_a_leaf_as_it_is():
    assert_array_equal(dirichlet_step([0.7], 0, 1.0), [0.7])
    assert_allclose(dirichlet_step([0.7, 1e-5], 1, 0.0), [0.7, 1e-5], rtol=1e-14)


# The tree by hand


def test_first_step():
    tree = stump([[3, 1], [1, 3]])
    assert_allclose(tree.predict([1.0]), [0.5, 0.5])
    tree.learn([1.0], None, 0)
    assert_allclose(tree.mu, [[PEAK]])
    assert_allclose(tree.Sigma, [[[1 - PEAK**2]]])
    assert tree.alpha[0, 0] > 3
    assert tree.alpha[1, 0] > 1
    assert tree.predict([1.0])[0] > 0.5


def test_a_tree_of_one_leaf_counts():
    tree = NaiveTree(0, [], [], [[0.01, 1.005, 0.3]])
    for y in [0, 2, 2]:
        tree.learn([1.0, 0.5], None, y)
    assert_allclose(tree.alpha, [[1.01, 1.005, 2.3]], rtol=1e-12)
    assert_allclose(tree.predict_path([1.0, 0.5]), tree.predict([1.0, 0.5]))


def test_children_and_leaves_are_in_heap_order():
    sure = [[30.0], [-30.0], [30.0]]  # left at the root, then right: the second leaf
    tree = NaiveTree(2, sure, [[[1.0]]] * 3, [[9, 1], [1, 9], [5, 5], [5, 5]])
    assert_allclose(tree.predict([1.0]), [0.1, 0.9])
    assert_allclose(tree.predict_path([1.0]), [0.1, 0.9])


def test_a_path_goes_right_at_zero():
    assert_allclose(stump([[9, 1], [1, 9]]).predict_path([1.0]), [0.1, 0.9])


def test_noise_widens_a_split():
    tree = stump([[1, 1e-9], [1e-9, 1]], mu=[1.0, 2.0], Sigma=[[1.0, 0.5], [0.5, 3.0]])
    s = math.sqrt(1 + 2 * 0.5 * 0.5 + 3 * 0.25 + 0.2 * (4 + 3))
    assert tree.predict([1.0, 0.5], [0.0, 0.2])[0] == pytest.approx(ndtr(2 / s), rel=1e-8)
    tree.learn([1.0, 0.5], [0.0, 0.2], 0)
    kappa = PEAK * math.exp(-2 / s**2) / ndtr(2 / s)
    direction = np.array([1.25, 2.0]) / s
    assert_allclose(tree.mu[0], [1, 2] + kappa * direction, rtol=1e-7)
    change = (kappa**2 + kappa * 2 / s) * np.outer(direction, direction)
    assert_allclose(tree.Sigma[0], [[1, 0.5], [0.5, 3]] - change, rtol=1e-7)


def test_views_are_the_same_as_the_rows_they_give():
    rng = np.random.default_rng(5)
    subset = np.eye(4)[[0, 2]]
    narrow = random_tree(rng, 1, 2, 2)
    viewing = NaiveTree(1, narrow.mu, narrow.Sigma, narrow.alpha, views=[subset])
    z, v = random_row(rng, 4), np.array([0, 0.1, 0.2, 0.3])
    narrow.learn(z[[0, 2]], v[[0, 2]], 1)
    viewing.learn(z, v, 1)
    assert_allclose(viewing.mu, narrow.mu)
    assert_allclose(viewing.Sigma, narrow.Sigma)
    assert_allclose(viewing.alpha, narrow.alpha)


def test_a_diagonal_tree_changes_the_diagonal_as_a_full_one():
    Sigma, options = np.diag([1.0, 2.0, 0.5]), {"mu": [0.3, -0.2, 1.0]}
    full = stump([[3, 1], [1, 3]], Sigma=Sigma, **options)
    diagonal = stump([[3, 1], [1, 3]], Sigma=np.diag(Sigma), diagonal=True, **options)
    for tree in (full, diagonal):
        tree.learn([1.0, 0.4, -0.7], None, 0)
    assert_allclose(diagonal.mu, full.mu)
    assert_array_equal(diagonal.Sigma[0], np.diag(np.diag(full.Sigma[0])))
    assert np.abs(full.Sigma[0][0, 1]) > 0.01


def test_skipped_parts_stay_as_they_are():
    """The right leaf is reached with probability 3e-7; the root is not skipped, as its rho is 1."""
    options = {"alpha": [[3, 1], [1, 3]], "mu": [5.0]}
    exact, skipping = stump(skip=0.0, **options), stump(**options)
    for tree in (exact, skipping):
        tree.learn([1.0], None, 0)
    assert_array_equal(skipping.alpha[1], [1, 3])
    assert exact.alpha[1, 0] > 1
    assert_array_equal(skipping.alpha[0], exact.alpha[0])
    assert_array_equal(skipping.mu, exact.mu)
    assert skipping.mu[0][0] != 5


def test_a_node_that_could_matter_is_not_skipped():
    """Its responsibility is small as it goes right, where the label is unlikely; its left child would explain it."""
    options = {"mu": [[-1.0], [-5.0], [0.0]], "Sigma": [[[1.0]]] * 3, "alpha": [[1, 1e-9], [1e-9, 1], [1, 1], [1, 1]]}
    tree = NaiveTree(2, **options)
    tree.learn([1.0], None, 0)
    assert tree.mu[1][0] > -5
    assert_array_equal(tree.alpha[:2], options["alpha"][:2])


@pytest.mark.parametrize("noise", [0.0, 0.9])
def test_below_the_floor_only_the_mean_moves(noise):
    """Along (1, -1) the variance is .2, below the floor of 1; noise may lift s above it, the covariance stays."""
    flat = [[1.0, 0.9], [0.9, 1.0]]
    tree = stump([[3, 1], [1, 3]], mu=[0.1, 0.3], Sigma=flat, floor=0.5)
    s = math.sqrt(max(0.2 + noise * (0.09 + 1), 1.0))
    assert tree.predict([1.0, -1.0], [0.0, noise])[0] == pytest.approx(0.25 + 0.5 * ndtr(-0.2 / s))
    tree.learn([1.0, -1.0], [0.0, noise], 0)
    assert_array_equal(tree.Sigma[0], flat)
    kappa = PEAK * math.exp(-((0.2 / s) ** 2) / 2) * 0.5 / (0.25 + 0.5 * ndtr(-0.2 / s))
    assert_allclose(tree.mu[0], [0.1 + 0.1 * kappa / s, 0.3 - 0.1 * kappa / s])


def test_the_floor_is_small():
    tree = stump([[3, 1], [1, 3]], mu=[0.0, 0.0], Sigma=[[2.0, 2.0], [2.0, 2.0]])
    assert tree.view(0, [1.0, -1.0], None).s == pytest.approx(math.sqrt(1e-10 * 2 * 2))


@pytest.mark.parametrize("power", [-60, -22, -20, 19, 22, 45, 81])
def test_scale_returns_to_its_band_and_changes_nothing(power):
    rng = np.random.default_rng(6)
    plain = random_tree(rng, 1, 3, 2)
    scaled = NaiveTree(1, plain.mu[0:1] * np.array(2.0 ** (power / 2)), [plain.Sigma[0] * 2.0**power], plain.alpha)
    z = random_row(rng, 3)
    for tree in (plain, scaled):
        tree.learn(z, None, 1)
    assert 2**-20 <= np.trace(scaled.Sigma[0]) / 3 <= 2**20
    ratio = np.trace(scaled.Sigma[0]) / np.trace(plain.Sigma[0])
    assert_allclose(scaled.Sigma[0], plain.Sigma[0] * ratio, rtol=1e-10)
    assert_allclose(scaled.mu[0], plain.mu[0] * math.sqrt(ratio), rtol=1e-10)
    assert (math.log2(ratio) - power) % 20 == pytest.approx(0, abs=1e-9) or (math.log2(ratio) - power) % 20 > 19.9
    assert_allclose(scaled.predict(z), plain.predict(z), rtol=1e-10)


def learned(w=1.0, times=1, **options):
    tree = stump([[3, 1], [1, 3]], mu=[0.2, 0.1], Sigma=np.eye(2), **options)
    for _ in range(times):
        tree.learn([1.0, 0.5], None, 0, w)
    return tree


def assert_same(one, other):
    assert_allclose(one.mu, other.mu, rtol=1e-12)
    assert_allclose(one.Sigma, other.Sigma, rtol=1e-12)
    assert_allclose(one.alpha, other.alpha, rtol=1e-12)


def test_weights():
    assert_same(learned(0.0), learned(times=0))
    assert_same(learned(3.0), learned(times=3))
    assert_same(learned(2.4), learned(0.8, times=3))
    assert_same(learned(1000.0), learned(times=32))
    assert_same(learned(40.5), learned(40.5 / 41, times=32))


def test_half_a_weight_moves_everything_half_as_far():
    none, half, whole = learned(times=0), learned(0.5), learned()
    for name in ("mu", "Sigma"):
        before, middle, after = (np.array(getattr(tree, name)) for tree in (none, half, whole))
        assert_allclose(middle, (before + after) / 2, rtol=1e-12)
    logs = [np.array([expected_logs(a) for a in tree.alpha]) for tree in (none, half, whole)]
    assert_allclose(logs[1], (logs[0] + logs[2]) / 2, rtol=1e-12)


def test_forgetting_comes_first_and_once_per_row():
    faded = stump([[2.7, 0.9], [0.9, 2.7]], mu=[0.2, 0.1], Sigma=1.1 * np.eye(2))
    faded.learn([1.0, 0.5], None, 0, 2.0)
    assert_same(learned(2.0, forget=0.1), faded)
    assert_same(learned(0.0, forget=0.1), learned(times=0))


def test_late_columns_and_classes():
    tree = NaiveTree(1, [[0.5, 1.0]], [[[1.0, 0.2], [0.2, 2.0]]], [[3, 1], [1, 1]])
    tree.add_column()
    assert_allclose(tree.mu, [[0.5, 1, 0]])
    assert_allclose(tree.Sigma, [[[1, 0.2, 0], [0.2, 2, 0], [0, 0, 1.5]]])
    tree.add_class([0.004, 0.002])
    assert_allclose(tree.alpha, [[3, 1, 0.004], [1, 1, 1.002]])


def test_a_state_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="depth 2 takes 3 means"):
        NaiveTree(2, [[0.0]], [[[1.0]]], [[1, 1]] * 4)
    with pytest.raises(ValueError, match="no covariance between columns"):
        stump([[1, 1]] * 2, mu=[0, 0], Sigma=[[1, 0.5], [0.5, 1]], diagonal=True)


# Uncertainty


def test_uncertainty_is_that_of_the_mixture():
    """Two classes: the share of the first is a mixture of beta variables, integrated here as one density."""
    rng = np.random.default_rng(8)
    trees = [random_tree(rng, depth, 2, 2) for depth in (0, 1, 2)]
    for tree in trees:
        tree.alpha += 1  # densities without poles
    z, v = random_row(rng, 2), np.array([0, 0.3])
    found = uncertainty(trees, z, v)
    x = (np.arange(200_000) + 0.5) / 200_000
    densities = [
        sum(
            rho * beta_distribution.pdf(x, *a)
            for rho, a in zip(tree.reach(z, v)[tree.inner :], tree.alpha, strict=True)
        )
        for tree in trees
    ]
    density = np.mean(densities, axis=0)
    mean = np.mean(density * x)
    assert_allclose(found.mean, [mean, 1 - mean], rtol=1e-7)
    assert_allclose(found.mean, np.mean([tree.predict(z, v) for tree in trees], axis=0), rtol=1e-12)
    means = [np.mean(own * x) for own in densities]
    within = [np.mean(own * (x - middle) ** 2) for own, middle in zip(densities, means, strict=True)]
    assert_allclose(found.variance, np.var(means) + np.mean(within) / 3, rtol=1e-6)
    entropy = -x * np.log(x) - (1 - x) * np.log1p(-x)
    assert found.aleatoric == pytest.approx(np.mean(density * entropy), rel=1e-6)
    assert found.total == pytest.approx(-mean * math.log(mean) - (1 - mean) * math.log(1 - mean), rel=1e-6)
    assert found.epistemic == found.total - found.aleatoric > 0


def test_what_more_data_removes():
    sure = uncertainty([NaiveTree(0, [], [], [[1e9, 1e9, 1e9]])], [1.0])
    assert sure.total == pytest.approx(math.log(3))
    assert sure.epistemic == pytest.approx(0, abs=1e-8)
    open_ = uncertainty([NaiveTree(0, [], [], [[1e-9, 1e-9]])], [1.0])  # one class, but which?
    assert open_.aleatoric == pytest.approx(0, abs=1e-8)
    assert open_.epistemic == pytest.approx(math.log(2))
    assert_allclose(open_.variance, [0.25, 0.25], rtol=1e-8)
    torn = uncertainty([NaiveTree(0, [], [], [a]) for a in ([1e9, 1e-9], [1e-9, 1e9])], [1.0])
    assert torn.epistemic == pytest.approx(math.log(2))


# Rows


def test_numbers_within_one_are_taken_as_they_are():
    encoder = Encoder()
    assert_array_equal(encoder.learn([0.5, -1.0])[0], [1, 0.5, -1])
    assert_array_equal(encoder.encode([3.0, 1.0])[0], [1, 3, 1])  # not learned, so the range is as before
    assert_array_equal(Encoder(scaling=None).learn([7.0])[0], [1, 7])


def test_other_numbers_are_scaled_to_what_was_learned():
    encoder = Encoder()
    assert_array_equal(encoder.learn([5.0])[0], [1, 0])
    assert_array_equal(encoder.learn([9.0])[0], [1, 1])
    assert_array_equal(encoder.encode([6.0])[0], [1, -0.5])
    assert_array_equal(encoder.encode([99.0])[0], [1, 1])
    assert_array_equal(encoder.encode([-99.0])[0], [1, -1])
    z, v = encoder.encode([None])
    assert_array_equal((z, v), ([1, 0.5], [0, 0.25]))  # of 0 and 1, as they were scaled then


@pytest.mark.parametrize("beyond", [1.001, -1.001])
def test_one_number_beyond_one_is_enough_to_scale(beyond):
    encoder = Encoder()
    encoder.learn([0.0])
    assert_array_equal(encoder.learn([beyond])[0], [1, math.copysign(1, beyond)])
    assert_allclose(encoder.encode([beyond / 2])[0], [1, 0], atol=1e-15)


def test_scaling_of_huge_numbers():
    encoder = Encoder()
    encoder.learn([-1.7e308])
    encoder.learn([1.7e308])
    assert_array_equal(encoder.encode([0.0])[0], [1, 0])


def test_missing_numbers_count_weights():
    encoder = Encoder()
    assert_array_equal(encoder.learn([math.nan]), ([1, 0], [0, 0]))
    encoder.learn([0.0], 3.0)
    encoder.learn([1.0], 1.0)
    encoder.learn([-5.0], 0.0)
    assert_array_equal(encoder.learn([math.nan]), ([1, 0.25], [0, 3 / 16]))
    assert_array_equal(encoder.encode([0.5])[0], [1, 0.5])  # -5 had no weight


def test_categories_get_columns_in_order_of_arrival():
    encoder = Encoder()
    assert_array_equal(encoder.learn(["red", 0.5])[0], [1, 1, 0.5])
    assert_array_equal(encoder.learn(["blue", 0.0])[0], [1, 0, 0, 1])
    assert_array_equal(encoder.encode(["green", 0.0])[0], [1, 0, 0, 0])
    assert_array_equal(encoder.learn(["blue", 0.0], 2.0)[0], [1, 0, 0, 1])
    z, v = encoder.encode([None, 0.0])
    assert_array_equal((z, v), ([1, 0.25, 0, 0.75], [0, 3 / 16, 0, 3 / 16]))


def test_features_may_come_late_or_stay_away():
    encoder = Encoder()
    assert_array_equal(encoder.learn({"a": 0.5, "b": None})[0], [1, 0.5])
    assert_array_equal(encoder.learn({"b": "x"})[0], [1, 0.5, 1])
    assert_array_equal(encoder.encode({"c": 1.0})[0], [1, 0.5, 1])


def test_a_feature_keeps_its_kind():
    encoder = Encoder()
    encoder.learn([1.0])
    with pytest.raises(ValueError, match="was numeric before"):
        encoder.learn(["red"])
