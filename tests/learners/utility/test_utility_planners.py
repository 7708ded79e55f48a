"""Planning with drawn hypotheses comes to planning with all of them as more are drawn, and that to the closed form."""

import functools

import numpy as np
import pytest

from quercus import UtilityTree
from quercus.acquisition.layout import KNOWN, REFUSED, UNKNOWN
from tests.learners.utility.oracle import cases as naive
from tests.learners.utility.oracle.state import NaiveUtility

FEATURES, CLASSES, ALL = 8, 3, 2**8
MODELS, STATES = 12, 10
DRAWN = (64, 128, 192, 255)


def learned(seed):
    """Eight features of two values and three classes, in the engine and in plain Python."""
    rng = np.random.default_rng(seed)
    theta = rng.beta(2.0, 2.0, (CLASSES, FEATURES))
    labels = [*range(CLASSES), *rng.integers(0, CLASSES, 87).tolist()]
    rows = (rng.random((90, FEATURES)) < theta[labels]).astype(int).astype(str)
    rows[0], rows[1] = "0", "1"
    names = [f"f{i}" for i in range(FEATURES)]
    tree = UtilityTree(objective="ec2", worth=None, nominal=names)
    plain = NaiveUtility(["nominal"] * FEATURES)
    tree.partial_fit({name: rows[:, i] for i, name in enumerate(names)}, labels)
    for row, label in zip(rows, labels, strict=True):
        plain.learn(row.tolist(), label)
    return tree, plain, rng


def plan(tree, number, row, status):
    """The choice with so many hypotheses, and the score of each unknown feature, asked for alone."""
    tree.set_params(hypotheses=number)
    scores = []
    for f in np.flatnonzero(status == UNKNOWN):
        alone = np.where((status == UNKNOWN) & (np.arange(FEATURES) != f), REFUSED, status).astype(np.uint8)
        scores.append(tree._plan(row, alone, np.inf, 0, False).score)
    return tree._plan(row, status, np.inf, 0, False).item, np.array(scores)


@functools.cache
def compared():
    """By number of hypotheses: how far its scores are from the closed form, and how often it chooses the same."""
    far, same = {number: [] for number in (*DRAWN, ALL)}, {number: [] for number in (*DRAWN, ALL)}
    items, rules = naive.Items.single([1.0] * FEATURES), naive.Rules("ec2", None, 0.0)
    for seed in range(MODELS):
        tree, plain, rng = learned(seed)
        for _ in range(STATES):
            status = np.where(rng.random(FEATURES) < 0.3, KNOWN, UNKNOWN).astype(np.uint8)
            row = rng.integers(0, 2, FEATURES).astype(float)
            values = [
                plain.features[f].categories[int(row[f])] if status[f] == KNOWN else None for f in range(FEATURES)
            ]
            exact = naive.plan(plain, naive.Case(values, status.tolist()), items, rules)
            if exact.stop is not None:
                continue
            for number in (*DRAWN, ALL):
                item, scores = plan(tree, number, row, status)
                far[number].append(np.abs(scores - list(exact.scores.values())).mean())
                same[number].append(item == exact.item)
    return {n: float(np.mean(far[n])) for n in far}, {n: float(np.mean(same[n])) for n in same}, len(far[ALL])


def test_scores_come_closer_as_more_hypotheses_are_drawn():
    far, _, states = compared()
    assert states > MODELS * STATES / 2
    distances = [far[number] for number in DRAWN]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < distances[0] / 4
    assert min(distances) > 0


def test_with_all_hypotheses_scores_are_those_of_the_closed_form():
    far, same, _ = compared()
    assert far[ALL] == pytest.approx(0.0, abs=1e-12)
    assert same[ALL] == 1.0


def test_with_nearly_all_hypotheses_the_choice_is_the_same():
    _, same, _ = compared()
    assert same[255] >= 0.95
    assert same[64] < same[255]
