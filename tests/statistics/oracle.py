"""Slow versions of the bounds with 30 digits, which a reader believes at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from mpmath import mp, mpf

mp.dps = 30


def beta_density(x: mpf, a: float, b: float) -> mpf:
    """x^(a-1) (1-x)^(b-1) / B(a, b)."""
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(mpf(a) + b)
    return mp.exp((mpf(a) - 1) * mp.log(x) + (mpf(b) - 1) * mp.log1p(-x) - log_beta)


def beta_below(x: float | mpf, a: float, b: float) -> mpf:
    """P(mu < x) of a Beta(a, b) mu: the series of positive terms x^a (1-x)^b / (a B) (1 + (a+b)/(a+1) x + ...)."""
    x, a, b = mpf(x), mpf(a), mpf(b)
    if x > 0.5:
        return 1 - beta_below(1 - x, b, a)
    term = total = mpf(1)
    i = 0
    while term > total * mpf(10) ** -32:
        term *= x * (a + b + i) / (a + 1 + i)
        total += term
        i += 1
    return total * beta_density(x, a, b) * x * (1 - x) / a


def minority_below(m: float, k: float, T: float) -> mpf:
    """F(m) = I_m(k+1, T-k+1) + I_m(T-k+1, k+1)."""
    return beta_below(m, k + 1, T - k + 1) + beta_below(m, T - k + 1, k + 1)


def minority_error(m: float, tail: float, upper: bool, k: float, T: float) -> float:
    """How far m is from the quantile, relative to it: the error of F over its slope."""
    x = mpf(m)
    off = 1 - mpf(tail) - minority_below(m, k, T) if upper else minority_below(m, k, T) - mpf(tail)
    slope = beta_density(x, k + 1, T - k + 1) + beta_density(x, T - k + 1, k + 1)
    return float(abs(off) / (slope * x))


def measure(criterion: str, m: float) -> mpf:
    """The heterogeneity of shares m, 1 - m."""
    x = mpf(m)
    if criterion == "entropy":
        return -(x * mp.log(x, 2) + (1 - x) * mp.log(1 - x, 2))
    return x * (1 - x) if criterion == "variance" else mp.sqrt(x * (1 - x))


def entropy_moments(counts: Sequence[float]) -> tuple[mpf, mpf]:
    """Mean and variance of the entropy in bits of a Dirichlet(counts + 1), from E[H] and E[H^2] (Wolpert & Wolf)."""
    alpha = [mpf(c) + 1 for c in counts]
    A = sum(alpha)
    psi, psi_1 = mp.digamma, lambda x: mp.polygamma(1, x)
    mean = psi(A + 1) - sum(a / A * psi(a + 1) for a in alpha)
    square = mpf(0)
    for i, a in enumerate(alpha):
        for j, b in enumerate(alpha):
            if i == j:
                square += a * (a + 1) * ((psi(a + 2) - psi(A + 2)) ** 2 + psi_1(a + 2) - psi_1(A + 2))
            else:
                square += a * b * ((psi(a + 1) - psi(A + 2)) * (psi(b + 1) - psi(A + 2)) - psi_1(A + 2))
    return mean / mp.log(2), (square / (A * (A + 1)) - mean**2) / mp.log(2) ** 2


def variance_moments(counts: Sequence[float]) -> tuple[mpf, mpf]:
    """Mean and variance of (1 - sum p^2) / 2 for a Dirichlet(counts + 1): from E[p_i^2] and E[p_i^2 p_j^2]."""
    alpha = [mpf(c) + 1 for c in counts]
    A = sum(alpha)
    first = sum(mp.rf(a, 2) for a in alpha) / mp.rf(A, 2)
    second = mpf(0)
    for i, a in enumerate(alpha):
        for j, b in enumerate(alpha):
            second += (mp.rf(a, 4) if i == j else mp.rf(a, 2) * mp.rf(b, 2)) / mp.rf(A, 4)
    return (1 - first) / 2, (second - first**2) / 4
