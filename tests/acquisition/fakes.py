"""A learner in plain Python that plans what to buy: naive Bayes over whole numbers and categories."""

from __future__ import annotations

import math
import random

import numpy as np

from quercus.acquisition.buyer import FeatureBuyer
from quercus.acquisition.engine import CaseEngine
from quercus.acquisition.layout import KNOWN, MISSING, ORDERED, REFUSED, UNKNOWN, Decision
from quercus.acquisition.rows import PriceList
from quercus.engine import Stop
from quercus.rows import DONE

SETTLED = (KNOWN, MISSING, REFUSED)


class CountState:
    """Weights of classes, and of whole numbers by class and feature."""

    nbytes = 0

    def __init__(self, weights=(), counts=None):
        self.n, self.counts, self.seen = list(weights), counts or {}, {}
        for _, place, bin_id in self.counts:
            self.seen.setdefault(place, set()).add(bin_id)

    def to_arrays(self):
        keys = np.array(sorted(self.counts), np.int64).reshape(-1, 3)
        weights = np.array([self.counts[tuple(key)] for key in keys.tolist()])
        return {"n": np.array(self.n), "keys": keys, "weights": weights}

    def to_sizes(self):
        return {}

    def bins(self, place):
        return sorted(self.seen.get(place, ()))


class BuyerEngine(CaseEngine):
    def settings(self, params):
        return None

    def new_state(self, params, features, classes):
        return CountState([0.0] * classes)

    def load_state(self, params, model):
        keys = [tuple(key) for key in model.array("keys").tolist()]
        return CountState(model.array("n").tolist(), dict(zip(keys, model.array("weights").tolist(), strict=True)))

    def widen(self, state, features, classes):
        state.n += [0.0] * (classes - len(state.n))

    def run(self, state, params, rows, known, start, stop, mode):
        part = slice(start, stop)
        for row, label, weight in zip(rows.X[part], rows.y[part].tolist(), rows.weight[part].tolist(), strict=True):
            self.widen(state, 0, label + 1)
            state.n[label] += weight
            for place in np.flatnonzero(~np.isnan(row)).tolist():
                key = (label, place, math.floor(row[place]))
                state.counts[key] = state.counts.get(key, 0.0) + weight
                state.seen.setdefault(place, set()).add(key[2])
        return Stop(stop, DONE)

    def plan(self, params, row, status, history, left, seed):
        listed = PriceList(params._prices, len(row))
        item, price, needs, state = listed.item, listed.price, listed.needs, params._state
        chance = None if seed is None else random.Random(seed)
        q, theta = posterior(state, row, status, chance)
        unknown = [[f for f in np.flatnonzero(item == i) if status[f] == UNKNOWN] for i in range(len(price))]
        open_ = [i for i in range(len(price)) if unknown[i] and is_allowed(i, item, needs, status)]
        for i in open_:
            if price[i] == 0:
                return Decision(i, 0.0, None)
        if params.confidence is not None and max(q) >= params.confidence:
            return Decision(-1, 0.0, "confident")
        if not open_:
            return Decision(-1, 0.0, "nothing left")
        payable = [i for i in open_ if price[i] <= left]
        if not payable:
            return Decision(-1, 0.0, "budget")
        if seed is not None:
            for i in payable:
                if any(not state.bins(f) for f in unknown[i]):
                    return Decision(i, 0.0, None)
        scores = {i: sum(gain(state, q, theta, f) for f in unknown[i]) for i in payable}
        worth = {i: score / price[i] for i, score in scores.items() if score >= params.gain}
        if not worth:
            return Decision(-1, 0.0, "gain")
        best = max(worth, key=worth.__getitem__)
        return Decision(best, scores[best], None)

    def posterior(self, params, row, status):
        assert status.dtype == np.uint8
        assert row.dtype == np.float64
        assert set(status.tolist()) <= {UNKNOWN, KNOWN, MISSING, REFUSED, ORDERED}
        assert not np.isnan(row[status == KNOWN]).any()
        assert np.isnan(row[status != KNOWN]).all()
        return np.array(posterior(params._state, row, status, None)[0])


def is_allowed(i, item, needs, status):
    return all(status[f] in SETTLED for f in range(len(item)) if needs[i, item[f]])


def posterior(state, row, status, chance):
    classes = range(len(state.n))
    total = sum(state.n) + len(state.n)
    theta = {}
    for place in range(len(row)):
        for y in classes:
            shape = {v: 0.5 + state.counts.get((y, place, v), 0.0) for v in state.bins(place)}
            if chance is not None:
                shape = {v: chance.gammavariate(a, 1.0) for v, a in shape.items()}
            theta[y, place] = {v: a / (sum(shape.values()) or 1.0) for v, a in shape.items()}
    q = [(state.n[y] + 1) / total for y in classes]
    for place in np.flatnonzero(status == KNOWN).tolist():
        bin_id = math.floor(row[place])
        if bin_id in state.bins(place):
            q = [q[y] * theta[y, place][bin_id] for y in classes]
    whole = sum(q)
    return ([p / whole for p in q] if whole else [1 / len(q)] * len(q)), theta


def gain(state, q, theta, place):
    after = 0.0
    for v in state.bins(place):
        joint = [q[y] * theta[y, place][v] for y in range(len(q))]
        p = sum(joint)
        after += p * entropy([x / p for x in joint]) if p else 0.0
    return entropy(q) - after if state.bins(place) else 0.0


class Buyer(FeatureBuyer):
    engine = BuyerEngine()
    changeable = FeatureBuyer.changeable | {"confidence", "gain"}

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
