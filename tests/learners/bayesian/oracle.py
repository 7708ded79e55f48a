"""The Bayesian tree of docs/bayesian.md, from the formulas, in float64 and for one row at a time.

`quadrature_update` does not use the formulas: it integrates the exact posterior. Comments that begin with "Reading:"
mark places where the page leaves a choice.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from numpy.typing import ArrayLike, NDArray
from scipy import optimize
from scipy.special import digamma, ndtr, xlogy

Array = NDArray[np.float64]
Value = float | str | None
Row = Sequence[Value] | Mapping[Hashable, Value]

LOWEST_TRACE, HIGHEST_TRACE = 2.0**-20, 2.0**20
MOST_REPEATS = 32


def floats(values: ArrayLike) -> Array:
    """A copy in float64."""
    return np.array(values, dtype=np.float64)


# The tree


@dataclass
class View:
    """What a node makes of a row."""

    xi: Array
    variance: float  # xi' Sigma xi
    least: float  # the floor under s^2
    s: float
    m: float


class NaiveTree:
    """One tree. mu and Sigma: an array per inner node, in heap order; alpha: a row per leaf, a column per class.

    `views` holds a matrix P per inner node, through which it sees xi = P z (a subset of the columns is a P of zeros and
    ones); without it a node sees all of z. A diagonal Sigma may be given as a vector; it is kept as a matrix.
    """

    def __init__(
        self,
        depth: int,
        mu: Iterable[ArrayLike],
        Sigma: Iterable[ArrayLike],
        alpha: ArrayLike,
        *,
        views: Iterable[ArrayLike] | None = None,
        diagonal: bool = False,
        floor: float = 1e-10,
        skip: float = 1e-4,
        forget: float = 0.0,
    ) -> None:
        self.depth, self.diagonal, self.floor, self.skip, self.forget = depth, diagonal, floor, skip, forget
        self.mu = [floats(mean) for mean in mu]
        self.Sigma = [np.diag(S) if S.ndim == 1 else S for S in map(floats, Sigma)]
        self.alpha = floats(alpha)
        self.views = None if views is None else [floats(P) for P in views]
        self.inner = 2**depth - 1
        if not len(self.mu) == len(self.Sigma) == self.inner or len(self.alpha) != 2**depth:
            raise ValueError(f"depth {depth} takes {self.inner} means and covariances and {2**depth} rows of alpha")
        if diagonal and any(np.any(np.diag(np.diag(S)) != S) for S in self.Sigma):
            raise ValueError("a diagonal tree takes no covariance between columns; give only the diagonal of Sigma")

    def predict(self, z: ArrayLike, v: ArrayLike | None = None) -> Array:
        """p(c | x) of every class, over all leaves."""
        shares = self.alpha / self.alpha.sum(axis=1, keepdims=True)
        return floats(floats(self.reach(z, v)[self.inner :]) @ shares)

    def predict_path(self, z: ArrayLike, v: ArrayLike | None = None) -> Array:
        """The shares of the one leaf on the way of the means; v plays no part."""
        n = 0
        while n < self.inner:
            n = 2 * n + (1 if self.mu[n] @ self.view(n, z, v).xi > 0 else 2)
        alpha = self.alpha[n - self.inner]
        return floats(alpha / alpha.sum())

    def learn(self, z: ArrayLike, v: ArrayLike | None, y: int, w: float = 1.0) -> None:
        if w == 0:  # Reading: nothing is learned, so nothing is forgotten either
            return
        self.forget_some()
        for _ in range(min(math.ceil(w), MOST_REPEATS)):
            self.learn_once(z, v, y, w / math.ceil(w))

    def forget_some(self) -> None:
        """Once per row, whatever its weight."""
        if self.forget == 0:
            return
        self.alpha *= 1 - self.forget
        for n in range(self.inner):
            self.Sigma[n] *= 1 + self.forget
            self.rescale(n)  # Reading: this is a change of the node too, also where the row does not reach it

    def learn_once(self, z: ArrayLike, v: ArrayLike | None, y: int, share: float) -> None:
        views = [self.view(n, z, v) for n in range(self.inner)]
        rho, u = self.reach(z, v), self.likelihoods(views, y)
        p = u[0]
        for n, seen in enumerate(views):
            left, right = u[2 * n + 1], u[2 * n + 2]
            if rho[n] * max(u[n], left, right) >= self.skip * p:
                density = math.exp(-(seen.m**2) / 2) / math.sqrt(2 * math.pi)
                self.move(n, seen, rho[n] / p * density * (left - right), share)
        moved = self.alpha.copy()
        for leaf, alpha in enumerate(self.alpha):
            n = self.inner + leaf  # Reading: a leaf has no u_left and u_right, so the largest is u_n
            if rho[n] * u[n] >= self.skip * p:
                moved[leaf] = dirichlet_step(alpha, y, exact_step(rho[self.inner :], self.alpha, leaf, y, share))
        self.alpha = moved

    def move(self, n: int, seen: View, kappa: float, share: float) -> None:
        direction = self.Sigma[n] @ seen.xi / seen.s
        self.mu[n] = self.mu[n] + share * kappa * direction
        if seen.variance >= seen.least:
            change = share * (kappa**2 + kappa * seen.m) * np.outer(direction, direction)
            self.Sigma[n] = self.Sigma[n] - (np.diag(np.diag(change)) if self.diagonal else change)
        self.rescale(n)

    def rescale(self, n: int) -> None:
        while not LOWEST_TRACE <= (mean := np.trace(self.Sigma[n]) / len(self.mu[n])) <= HIGHEST_TRACE:
            if not 0 < mean < math.inf:
                raise ValueError(f"the trace of Sigma at node {n} is {mean * len(self.mu[n])}; no scale helps")
            sign = 1 if mean < LOWEST_TRACE else -1
            self.mu[n] = self.mu[n] * 2.0 ** (sign * 10)
            self.Sigma[n] = self.Sigma[n] * 2.0 ** (sign * 20)

    def view(self, n: int, z: ArrayLike, v: ArrayLike | None) -> View:
        xi = floats(z)
        noise = np.zeros(len(xi)) if v is None else floats(v)
        if self.views is not None:
            P = self.views[n]
            xi, noise = P @ xi, P**2 @ noise  # Reading: only the variances of P z, as the sum is over columns
        mu, Sigma = self.mu[n], self.Sigma[n]
        variance = float(xi @ Sigma @ xi)
        least = float(self.floor * (xi @ xi) * np.diag(Sigma).max())
        eta = float(noise @ (mu**2 + np.diag(Sigma)))
        s = math.sqrt(max(variance + eta, least))
        return View(xi, variance, least, s, float(mu @ xi) / s)

    def reach(self, z: ArrayLike, v: ArrayLike | None) -> list[float]:
        """rho of every node, then of every leaf."""
        rho = [1.0]
        for n in range(self.inner):
            m = self.view(n, z, v).m
            rho += [rho[n] * float(ndtr(m)), rho[n] * float(ndtr(-m))]
        return rho

    def likelihoods(self, views: Sequence[View], y: int) -> list[float]:
        """The u of every node, then of every leaf."""
        u = [0.0] * self.inner + [float(a[y] / a.sum()) for a in self.alpha]
        for n in reversed(range(self.inner)):
            u[n] = u[2 * n + 1] * float(ndtr(views[n].m)) + u[2 * n + 2] * float(ndtr(-views[n].m))
        return u

    def add_column(self) -> None:
        """Take in a column that arrives late, in trees whose nodes see all columns."""
        if self.views is not None:
            raise ValueError("a node that sees z through a matrix has no place for a new column; give new views")
        for n, Sigma in enumerate(self.Sigma):
            grown = np.diag(np.full(len(Sigma) + 1, np.trace(Sigma) / len(Sigma)))
            grown[:-1, :-1] = Sigma
            self.mu[n], self.Sigma[n] = np.append(self.mu[n], 0.0), grown

    def add_class(self, small: ArrayLike) -> None:
        """Take in a class that arrives late; `small`: what was drawn for each leaf.

        Reading: K counts the new class, |alpha| does not, the earlier of equal leaves comes first, and the 1 comes on
        top of what was drawn, as in the prior.
        """
        column = floats(small)
        leaves, K = self.alpha.shape[0], self.alpha.shape[1] + 1
        column[np.argsort(self.alpha.sum(axis=1), kind="stable")[: max(1, leaves // K)]] += 1
        self.alpha = np.column_stack([self.alpha, column])


# The equation of a leaf: psi(alpha'_z) - psi(|alpha'|) = wanted_z for all z


def exact_step(rho: Sequence[float], alpha: Array, leaf: int, y: int, share: float = 1.0) -> Any:
    """The share of a = rho / p of a leaf, from the rho and alpha of all leaves.

    Where alpha_y is small and no other leaf explains the label, psi(alpha_y) + a / |alpha| cancels to the size of
    psi(1): rounded to float64, a would leave an error of 1e-16 / alpha_y there.
    """
    with mpmath.workdps(digits(alpha)):
        shares = [mpf(float(a[y])) / mpmath.fsum(map(mpf, a.tolist())) for a in alpha]
        return share * mpf(rho[leaf]) / mpmath.fsum(r * u for r, u in zip(rho, shares, strict=True))


def dirichlet_step(alpha: ArrayLike, y: int, step: Any) -> Array:
    """The alpha' of a leaf; `step` is a, times the share of the weight."""
    old = floats(alpha)
    if len(old) == 1:  # nothing can be learned of one class: every alpha' solves the equation
        return old
    with mpmath.workdps(digits(old)):
        return floats([float(a) for a in solve_dirichlet([mpf(a) for a in old.tolist()], y, mpf(step))])


def digits(alpha: Array) -> int:
    """So many that the differences between functions of large and small alpha keep enough of them."""
    return 30 + 2 * math.ceil(math.log10(max(alpha.max(), 1.0) / alpha.min()))


def solve_dirichlet(alpha: list[Any], y: int, step: Any) -> list[Any]:
    """There is one solution only, so it does not matter which way it is found."""
    total = mpmath.fsum(alpha)
    wanted = [
        mpmath.psi(0, a) - mpmath.psi(0, total) + step * ((z == y) - alpha[y] / total) / total
        for z, a in enumerate(alpha)
    ]
    start = [a + (z == y) * step * alpha[y] / total for z, a in enumerate(alpha)]
    rough = rough_solution(start, wanted)
    polished = None if rough is None else polish(rough, wanted)
    return solve_for_total(total, wanted) if polished is None else polished


def rough_solution(start: list[Any], wanted: list[Any]) -> list[Any] | None:
    """In float64, where it may well fail."""
    target = floats([float(c) for c in wanted])

    def off(logs: Array) -> Array:
        alpha = np.exp(logs)
        return floats(digamma(alpha) - digamma(alpha.sum()) - target)

    with np.errstate(all="ignore"):
        found = optimize.root(off, np.log(floats([float(a) for a in start])))
    return [mpf(a) for a in np.exp(found.x).tolist()] if found.success else None


def polish(found: list[Any], wanted: list[Any]) -> list[Any] | None:
    """Newton's method in all alpha' at once; None if it does not settle at once."""
    for _ in range(6):
        S = mpmath.fsum(found)
        off = [mpmath.psi(0, a) - mpmath.psi(0, S) - c for a, c in zip(found, wanted, strict=True)]
        slopes, common = [mpmath.psi(1, a) for a in found], mpmath.psi(1, S)
        shift = common * mpmath.fsum(f / d for f, d in zip(off, slopes, strict=True))
        shift /= 1 - common * mpmath.fsum(1 / d for d in slopes)
        steps = [(f + shift) / d for f, d in zip(off, slopes, strict=True)]
        if any(abs(move) > a / 10 for move, a in zip(steps, found, strict=True)):
            return None
        found = [a - move for a, move in zip(found, steps, strict=True)]
        if all(abs(move) < a * mpf(10) ** -11 for move, a in zip(steps, found, strict=True)):
            return found  # now good to twice as many digits
    return None


def solve_for_total(total: Any, wanted: list[Any]) -> list[Any]:
    """Find |alpha'|, from which all alpha' follow, between bounds that close in."""
    low, high, S = mpf(0), mpmath.inf, total
    for _ in range(1000):
        found = [inverse_digamma(c + mpmath.psi(0, S)) for c in wanted]
        above = mpmath.fsum(found) - S
        low, high = (S, high) if above > 0 else (low, S)
        slope = mpmath.psi(1, S) * mpmath.fsum(1 / mpmath.psi(1, a) for a in found) - 1
        step_to = S - above / slope
        if abs(step_to - S) < S * mpf(10) ** -18:
            return found
        if not low < step_to < high:  # Newton left the bracket
            step_to = 2 * S if high == mpmath.inf else (low + high) / 2
        S = step_to
    raise ArithmeticError(f"no alpha' found for E log pi = {wanted}")


def inverse_digamma(value: Any) -> Any:
    """The a with psi(a) = value, by Newton's method."""
    a = mpmath.exp(value) + 0.5 if value > -2.22 else -1 / (value + mpmath.euler)
    close = mpf(10) ** (-(mpmath.mp.dps // 2) - 1)  # one more step doubles the digits
    for _ in range(1000):
        step = (mpmath.psi(0, a) - value) / mpmath.psi(1, a)
        a = a - step if step < a else a / 2
        if abs(step) < close * a:
            return a
    raise ArithmeticError(f"no a with psi(a) = {value} found")


# The exact posterior, by integration


@dataclass
class Exact:
    """The posterior after one example, not yet forced into Gaussians and Dirichlets."""

    p: float  # p(y | x) before the example
    p_after: float  # p(y | x) of a second look at the same x
    mean: list[Array]  # of every inner node
    covariance: list[Array]
    log_pi: Array  # E log pi of every leaf and class


def quadrature_update(
    mu: Sequence[ArrayLike], Sigma: Sequence[ArrayLike], alpha: ArrayLike, depth: int, xi: ArrayLike, y: int
) -> Exact:
    """Sum over every way in which the inner nodes can decide; all of them see xi, without noise."""
    inner, row = 2**depth - 1, floats(xi)
    roots = [np.linalg.cholesky(floats(S)) for S in Sigma]
    lengths = [float(np.linalg.norm(L.T @ row)) for L in roots]
    halves = [half_moments(-float(floats(mean) @ row) / length) for mean, length in zip(mu, lengths, strict=True)]
    leaves = [leaf_moments(a, y) for a in floats(alpha)]
    p = p_after = 0.0
    t = np.zeros((inner, 2))  # first and second moment along xi, in units of its deviation
    log_pi = np.zeros(floats(alpha).shape)
    for right in product([0, 1], repeat=inner):
        chosen = [halves[n][side] for n, side in enumerate(right)]
        probability = math.prod(mass for mass, *_ in chosen)
        n = 0
        while n < inner:
            n = 2 * n + 1 + right[n]
        reached = leaves[n - inner]
        p += probability * reached.pi_y
        p_after += probability * reached.pi_y_squared
        for k, (mass, first, second) in enumerate(chosen):
            t[k] += probability * reached.pi_y * floats([first / mass, second / mass])
        for k, leaf in enumerate(leaves):
            log_pi[k] += probability * (leaf.pi_y_log_pi if leaf is reached else reached.pi_y * leaf.log_pi)
    t, mean, covariance = t / p, [], []
    for k, (L, length) in enumerate(zip(roots, lengths, strict=True)):
        along = L.T @ row / length
        mean.append(floats(mu[k]) + L @ along * t[k, 0])
        across = np.eye(len(row)) - np.outer(along, along)  # independent of the side: as before
        covariance.append(L @ (across + (t[k, 1] - t[k, 0] ** 2) * np.outer(along, along)) @ L.T)
    return Exact(p, p_after / p, mean, covariance, log_pi / p)


def half_moments(cut: float) -> list[tuple[float, float, float]]:
    """Integrals of 1, t and t^2 under the standard normal density: above the cut, and below it."""
    mass, first, second = upper_integrals(cut)
    below_mass, below_first, below_second = upper_integrals(-cut)  # mirrored, so that small ones keep their digits
    return [(mass, first, second), (below_mass, -below_first, below_second)]


def upper_integrals(cut: float) -> tuple[float, float, float]:
    """By Gauss-Legendre in many short pieces."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(cut, max(cut, 0.0) + 14, 101)
    half = (edges[1] - edges[0]) / 2
    t = (edges[:-1, None] + half * (nodes + 1)).ravel()
    density = np.tile(half * weights, 100) * np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    return float(density.sum()), float(density @ t), float(density @ t**2)


@dataclass
class LeafMoments:
    pi_y: float
    pi_y_squared: float
    log_pi: Array
    pi_y_log_pi: Array


def leaf_moments(alpha: Array, y: int) -> LeafMoments:
    """Of a Dirichlet: each share is a beta variable, and how the rest is shared out does not depend on it."""
    rest = alpha.sum() - alpha
    pairs = list(zip(alpha.tolist(), rest.tolist(), strict=True))
    own = [beta_mean(lambda log_x, _: log_x, a, b) for a, b in pairs]
    together = [beta_mean(lambda log_x, _: np.exp(log_x) * log_x, a, b) for a, b in pairs]
    others = [beta_mean(lambda log_x, log_rest: np.exp(log_rest) * log_x, a, b) for a, b in pairs]
    return LeafMoments(
        beta_mean(lambda log_x, _: np.exp(log_x), *pairs[y]),
        beta_mean(lambda log_x, _: np.exp(2 * log_x), *pairs[y]),
        floats(own),
        floats([together[z] if z == y else alpha[y] / rest[z] * others[z] for z in range(len(alpha))]),
    )


def beta_mean(f: Callable[[Array, Array], Array], a: float, b: float) -> float:
    """Mean of f(log x, log(1 - x)) for a beta variable x: the trapezium rule in logit x, whose error is tiny here."""
    step = 0.2 / math.sqrt(1 + a + b)
    logit = np.arange(-50 / min(a, 1.0) - 10, 50 / min(b, 1.0) + 10, step)
    log_x, log_rest = -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    weight = np.exp(a * log_x + b * log_rest - (a * log_x + b * log_rest).max())
    return float(weight @ f(log_x, log_rest) / weight.sum())


# What a forest knows about its own answer


@dataclass
class Uncertainty:
    """Entropies in nats; mean and variance of p(c | x) for every class."""

    total: float
    aleatoric: float
    epistemic: float
    mean: Array
    variance: Array


def uncertainty(trees: Sequence[NaiveTree], z: ArrayLike, v: ArrayLike | None = None) -> Uncertainty:
    """The posterior of the shares at x is a mixture, over trees and leaves, of Dirichlets.

    The variance is that of the trees' means, and of each tree itself as if four of them were independent.
    """
    parts = [
        (rho / len(trees), alpha)
        for tree in trees
        for rho, alpha in zip(tree.reach(z, v)[tree.inner :], tree.alpha, strict=True)
    ]
    mean = sum((weight * alpha / alpha.sum() for weight, alpha in parts), np.zeros(trees[0].alpha.shape[1]))
    variance = np.zeros(len(mean))
    for tree in trees:
        reached = list(zip(tree.reach(z, v)[tree.inner :], tree.alpha, strict=True))
        own = sum((rho * alpha / alpha.sum() for rho, alpha in reached), np.zeros(len(mean)))
        variance += (own - mean) ** 2 / len(trees)
        for rho, alpha in reached:
            share = alpha / alpha.sum()
            spread = share * (1 - share) / (alpha.sum() + 1) + (share - own) ** 2
            variance += rho * spread / len(trees) / min(len(trees), 4)
    total = -float(xlogy(mean, mean).sum())
    aleatoric = sum(weight * expected_entropy(alpha) for weight, alpha in parts)
    return Uncertainty(total, aleatoric, total - aleatoric, mean, variance)


def expected_entropy(alpha: Array) -> float:
    """Of shares drawn from a Dirichlet."""
    with mpmath.workdps(50):
        exact = [mpf(a) for a in alpha.tolist()]
        A = mpmath.fsum(exact)
        return float(mpmath.fsum(a / A * (mpmath.psi(0, A + 1) - mpmath.psi(0, a + 1)) for a in exact))


# From a row to numbers


@dataclass
class Feature:
    """What the stream has shown of a feature; a category has its column in `columns`, a number under ""."""

    numeric: bool
    columns: dict[str, int] = field(default_factory=dict)
    low: float = math.inf
    high: float = -math.inf
    learned: list[tuple[float | str, float]] = field(default_factory=list)  # known z, or category, and weight

    def moments(self, category: str) -> tuple[float, float]:
        """Mean and variance of a column over the known values."""
        if not self.learned:
            return 0.0, 0.0
        values = [float(x) if self.numeric else float(x == category) for x, _ in self.learned]
        weights = [w for _, w in self.learned]
        mean = math.fsum(w * x for x, w in zip(values, weights, strict=True)) / math.fsum(weights)
        spread = math.fsum(w * (x - mean) ** 2 for x, w in zip(values, weights, strict=True)) / math.fsum(weights)
        return mean, spread if self.numeric else mean * (1 - mean)


class Encoder:
    """Rows of numbers, strings (nominal) and None or NaN (missing) into z and v.

    A row is a sequence, or a mapping from names, in which a feature may be absent: missing. Reading: a feature has its
    columns from the first learned row that tells its kind on; NaN tells that it is numeric, None tells nothing.
    """

    def __init__(self, scaling: str | None = "auto") -> None:
        self.scaling = scaling
        self.features: dict[Hashable, Feature] = {}
        self.width = 1

    def learn(self, row: Row, w: float = 1.0) -> tuple[Array, Array]:
        """Take the row in, then encode it. Reading: a row of weight 0 is not taken in."""
        if w > 0:
            for name, x in named(row).items():
                self.take_in(name, x, w)
        return self.encode(row)

    def encode(self, row: Row) -> tuple[Array, Array]:
        z, v, values = np.zeros(self.width), np.zeros(self.width), named(row)
        z[0] = 1.0
        for name, feature in self.features.items():
            x = values.get(name)
            for category, column in feature.columns.items():
                if missing(x):
                    z[column], v[column] = feature.moments(category)
                else:
                    z[column] = self.scale(feature, x) if feature.numeric else float(x == category)
        return z, v

    def take_in(self, name: Hashable, x: Value, w: float) -> None:
        if x is None:
            return
        numeric = not isinstance(x, str)
        feature = self.features.setdefault(name, Feature(numeric))
        if numeric != feature.numeric:
            raise ValueError(f"feature {name!r} was {'numeric' if feature.numeric else 'nominal'} before; got {x!r}")
        category = "" if numeric else str(x)
        if category not in feature.columns:
            feature.columns[category] = self.width
            self.width += 1
        if numeric and not missing(x):
            feature.low, feature.high = min(feature.low, float(x)), max(feature.high, float(x))
            x = self.scale(feature, x)
        if not missing(x):
            feature.learned.append((x, w))

    def scale(self, feature: Feature, x: Any) -> float:
        # Reading: with nothing known yet, a value is taken as it is
        if self.scaling is None or (feature.low >= -1 and feature.high <= 1):
            return float(x)
        if feature.low == feature.high:
            return 0.0
        halved = x / 2 - feature.low / 2  # so that no difference overflows
        return float(min(max(2 * (halved / (feature.high / 2 - feature.low / 2)) - 1, -1.0), 1.0))


def named(row: Row) -> dict[Hashable, Value]:
    return dict(row) if isinstance(row, Mapping) else dict(enumerate(row))


def missing(x: Value) -> bool:
    return x is None or (not isinstance(x, str) and math.isnan(x))
