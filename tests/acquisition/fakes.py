"""A learner in plain Python that plans what to buy: naive Bayes over whole numbers and categories."""

from __future__ import annotations

import math
import random

import numpy as np

from quercus.acquisition.layout import KNOWN, MISSING, ORDERED, REFUSED, UNKNOWN, Decision
from quercus.acquisition.model import BuyingLearner

SETTLED = (KNOWN, MISSING, REFUSED)


class Buyer(BuyingLearner):
    def __init__(
        self,
        *,
        costs=None,
        groups=None,
        requires=None,
        budget=None,
        total=None,
        refer=None,
        confidence=0.95,
        gain=0.005,
        loss=None,
        nominal=None,
        features="closed",
        seed=0,
    ):
        self.costs = costs
        self.groups = groups
        self.requires = requires
        self.budget = budget
        self.total = total
        self.refer = refer
        self.confidence = confidence
        self.gain = gain
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.seed = seed

    # Planning.

    def _plan(self, row, status, left, seed, explore):
        item, price, needs = self._prices.arrays()
        chance = random.Random(seed) if explore else None
        q, theta = self._posterior(row, status, chance)
        unknown = [[f for f in np.flatnonzero(item == i) if status[f] == UNKNOWN] for i in range(len(price))]
        open_ = [i for i in range(len(price)) if unknown[i] and self._is_allowed(i, item, needs, status)]
        for i in open_:
            if price[i] == 0:
                return Decision(i, 0.0, None)
        if self.confidence is not None and max(q) >= self.confidence:
            return Decision(-1, 0.0, "confident")
        if not open_:
            return Decision(-1, 0.0, "nothing left")
        payable = [i for i in open_ if price[i] <= left]
        if not payable:
            return Decision(-1, 0.0, "budget")
        if explore:
            for i in payable:
                if any(not self._cells(f) for f in unknown[i]):
                    return Decision(i, 0.0, None)
        scores = {i: sum(self._gain(q, theta, f) for f in unknown[i]) for i in payable}
        worth = {i: score / price[i] for i, score in scores.items() if score >= self.gain}
        if not worth:
            return Decision(-1, 0.0, "gain")
        best = max(worth, key=worth.__getitem__)
        return Decision(best, scores[best], None)

    def _believe(self, row, status):
        assert status.dtype == np.uint8
        assert row.dtype == np.float64
        assert set(status.tolist()) <= {UNKNOWN, KNOWN, MISSING, REFUSED, ORDERED}
        assert not np.isnan(row[status == KNOWN]).any()
        assert np.isnan(row[status != KNOWN]).all()
        return np.array(self._posterior(row, status, None)[0])

    def _is_allowed(self, i, item, needs, status):
        return all(status[f] in SETTLED for f in range(len(item)) if needs[i, item[f]])

    def _posterior(self, row, status, chance):
        classes = range(len(self._n))
        total = sum(self._n) + len(self._n)
        theta = {}
        for place in range(len(row)):
            for y in classes:
                shape = {v: 0.5 + self._counts.get((y, place, v), 0.0) for v in self._cells(place)}
                if chance is not None:
                    shape = {v: chance.gammavariate(a, 1.0) for v, a in shape.items()}
                theta[y, place] = {v: a / (sum(shape.values()) or 1.0) for v, a in shape.items()}
        q = [(self._n[y] + 1) / total for y in classes]
        for place in np.flatnonzero(status == KNOWN).tolist():
            cell = math.floor(row[place])
            if cell in self._cells(place):
                q = [q[y] * theta[y, place][cell] for y in classes]
        whole = sum(q)
        return ([p / whole for p in q] if whole else [1 / len(q)] * len(q)), theta

    def _cells(self, place):
        return sorted(self._seen.get(place, ()))

    def _gain(self, q, theta, place):
        after = 0.0
        for v in self._cells(place):
            joint = [q[y] * theta[y, place][v] for y in range(len(q))]
            p = sum(joint)
            after += p * entropy([x / p for x in joint]) if p else 0.0
        return entropy(q) - after if self._cells(place) else 0.0

    # What every learner has.

    def _check_arguments(self):
        pass

    def _begin(self, features):
        self._n, self._counts, self._seen = [], {}, {}

    def _declare_classes(self, classes):
        self._n += [0.0] * (classes - len(self._n))

    def _learn(self, X, y, w, answers, proba):
        for row, label, weight in zip(X, y.tolist(), w.tolist(), strict=True):
            self._declare_classes(label + 1)
            self._n[label] += weight
            for place in np.flatnonzero(~np.isnan(row)).tolist():
                cell = math.floor(row[place])
                key = (label, place, cell)
                self._counts[key] = self._counts.get(key, 0.0) + weight
                self._seen.setdefault(place, set()).add(cell)

    def _answer(self, X):
        raise NotImplementedError

    def _arrays(self):
        keys = np.array(sorted(self._counts), np.int64).reshape(-1, 3)
        weights = np.array([self._counts[tuple(key)] for key in keys.tolist()])
        return {"n": np.array(self._n), "keys": keys, "weights": weights}

    def _restore(self, model):
        self._n = model.array("n").tolist()
        keys = [tuple(key) for key in model.array("keys").tolist()]
        self._counts = dict(zip(keys, model.array("weights").tolist(), strict=True))
        self._seen = {}
        for _, place, cell in keys:
            self._seen.setdefault(place, set()).add(cell)


def entropy(q):
    return -sum(p * math.log2(p) for p in q if p > 0)


def patients(rows=300, seed=0):
    """People of whom the mri tells most, blood something, and age nothing."""
    draw = np.random.default_rng(seed)
    ill = draw.random(rows) < 0.4
    mri = np.where(draw.random(rows) < 0.95, ill, ~ill)
    crp = np.where(draw.random(rows) < 0.8, ill, ~ill)
    table = {
        "age": draw.integers(2, 9, rows).astype(float).tolist(),
        "hb": draw.integers(10, 16, rows).astype(float).tolist(),
        "crp": crp.astype(float).tolist(),
        "mri": mri.astype(float).tolist(),
        "job": draw.choice(["clerk", "cook", "nurse"], rows).tolist(),
    }
    return table, np.where(ill, "ill", "well").tolist()


PRICES = {
    "costs": {"mri": 500, "blood": 20, "age": 0},
    "groups": {"blood": ["hb", "crp"]},
}


def fitted(**changes):
    return Buyer(**{**PRICES, **changes}).fit(*patients())
