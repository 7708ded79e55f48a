"""The draws of an exploring case in plain Python: the same generator, in the order that docs/utility.md gives."""

import math

import numpy as np

from tests.learners.utility.oracle.worth import samples_of_class

WORD = 2**64 - 1


class Generator:
    """xoshiro256++, begun by splitmix64."""

    def __init__(self, seed):
        self.state = [mixed(seed + k * 0x9E3779B97F4A7C15) for k in range(1, 5)]

    def uniform(self):
        a, b, c, d = self.state
        result = (rotated((a + d) & WORD, 23) + a) & WORD
        c ^= a
        d ^= b
        self.state = [a ^ d, b ^ c, c ^ (b << 17) & WORD, rotated(d, 45)]
        return (result >> 11) * 2.0**-53

    def normal(self):
        while True:
            a, b = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            s = a * a + b * b
            if 0 < s < 1:
                return a * math.sqrt(-2 * math.log(s) / s)

    def gamma(self, shape):
        if shape < 1:
            boost = (1 - self.uniform()) ** (1 / shape)
            return boost * self.gamma(shape + 1)
        d = shape - 1 / 3
        while True:
            x = self.normal()
            v = (1 + x / math.sqrt(9 * d)) ** 3
            if v <= 0:
                continue
            u = 1 - self.uniform()
            if u < 1 - 0.0331 * x**4 or math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                return d * v

    def pick(self, shares):
        rest = self.uniform()
        for k, share in enumerate(shares[:-1]):
            rest -= share
            if rest < 0:
                return k
        return len(shares) - 1


def mixed(x):
    x &= WORD
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def rotated(x, bits):
    return (x << bits | x >> (64 - bits)) & WORD


def draw_theta(model, generator):
    """A sample of theta [feature][class, bin] of a NaiveUtility: classes in order, features, bins."""
    theta = [np.zeros((len(model.labels), feature.bins)) for feature in model.features]
    for y in range(len(model.labels)):
        for i, feature in enumerate(model.features):
            draws = [generator.gamma(model.prior / feature.bins + count) for count in feature.counts[y]]
            theta[i][y] = np.array(draws) / sum(draws) if sum(draws) > 0 else 1 / feature.bins
    return theta


def draw_hypotheses(model, theta, number, generator):
    """All rows of bins if they are few enough, else as many different draws, at most 20 times as many in all."""
    if math.prod(feature.bins for feature in model.features) <= number:
        return None
    P, found = model.P(), {}
    for _ in range(20 * number):
        if len(found) == number or not len(P):
            break
        y = generator.pick(P)
        found[tuple(generator.pick(theta_i[y]) for theta_i in theta)] = None
    return list(found)


def draw_samples(model, theta, generator):
    """Rows of bins by class: classes, then samples, then features in order, a uniform number each."""
    K = len(model.labels)
    return [
        [tuple(bin_at(theta_i[y], generator.uniform()) for theta_i in theta) for _ in range(samples_of_class(K))]
        for y in range(K)
    ]


def bin_at(shares, number):
    """The bin at which the running sum exceeds the number."""
    return next((v for v, upto in enumerate(np.cumsum(shares)) if upto > number), len(shares) - 1)
