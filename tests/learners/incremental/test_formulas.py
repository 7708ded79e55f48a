"""Criteria, bounds and consistency against the plain version, to 1e-12, on random and hostile numbers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import types

from quercus import ConfidenceTree
from quercus.compile import array_type, kernel
from quercus.learners.incremental.criteria import bound_gap, weigh_impurity
from quercus.learners.incremental.layout import (
    ENTROPY,
    ENTROPY_BITS,
    ERROR,
    GINI,
    HOEFFDING,
    KEARNS_MANSOUR,
    MCDIARMID,
    PRACTICAL,
    THEOREM,
    TIGHT,
)
from quercus.learners.incremental.view import consistency_radius
from tests.learners.incremental.oracle import bounds, criteria

PHI = {
    GINI: criteria.gini,
    ENTROPY: criteria.entropy,
    ENTROPY_BITS: criteria.entropy_bits,
    KEARNS_MANSOUR: criteria.kearns_mansour,
    ERROR: criteria.error,
}
WORDS = {GINI: "gini", ENTROPY: "entropy", KEARNS_MANSOUR: "kearns_mansour"}
NUMBERS = (types.int64, types.int64, types.float64, *[types.int64] * 4, types.float64)


@kernel(types.float64, types.int64, array_type(np.float64, 1, True))
def impurity(criterion, counts):
    """Phi of these class weights, through the kernel that the engine uses."""
    total = 0.0
    for count in counts:
        total += count
    return weigh_impurity(criterion, counts, total, len(counts)) / total if total > 0.0 else 0.0


@kernel(types.float64, *NUMBERS)
def split_bound(rule, criterion, m, depth, time, features, classes, scale):
    """Eps of a split rule, through the kernel that the engine uses."""
    return bound_gap(rule, criterion, m, depth, time, features, classes, scale)


weights = st.one_of(
    st.integers(0, 10**6).map(float), st.floats(0.0, 1e12, allow_subnormal=False), st.just(0.0), st.just(1.0)
)
sizes = st.one_of(st.integers(1, 10**9).map(float), st.floats(0.25, 1e9))


@pytest.mark.parametrize("criterion", PHI)
@given(counts=st.lists(weights, min_size=1, max_size=30))
def test_impurity_agrees(criterion, counts):
    ours = impurity(criterion, np.array(counts))
    assert ours == pytest.approx(PHI[criterion](counts), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("criterion", PHI)
@pytest.mark.parametrize("counts", [[0.0], [5.0], [0.0, 0.0], [1.0, 1.0], [1e15, 1.0], [1e-9, 1e-9], [3.0] * 200])
def test_impurity_agrees_at_the_edges(criterion, counts):
    assert impurity(criterion, np.array(counts)) == pytest.approx(PHI[criterion](counts), rel=1e-12, abs=1e-12)


@settings(max_examples=300)
@given(
    criterion=st.sampled_from([GINI, ENTROPY, KEARNS_MANSOUR]),
    rule=st.sampled_from([PRACTICAL, THEOREM, TIGHT, MCDIARMID]),
    m=sizes,
    depth=st.integers(0, 200),
    t=st.integers(1, 10**12),
    d=st.integers(1, 10**5),
    K=st.integers(2, 300),
    c=st.floats(0.0, 2.0),
)
def test_bounds_agree(criterion, rule, m, depth, t, d, K, c):
    word, h = WORDS[criterion], depth + 1
    ours = split_bound(rule, criterion, m, depth, t, d, K, c)
    if rule == PRACTICAL:
        plain = bounds.practical(word, m, h, t, d, c)
    elif rule == MCDIARMID:
        if criterion == KEARNS_MANSOUR:
            return
        plain = bounds.mcdiarmid(word, m, h, t, d, K)
    else:
        plain = {THEOREM: bounds.theorem, TIGHT: bounds.tight}[rule](word, m, h, t, d, K)
    assert ours == pytest.approx(plain, rel=1e-12)


@given(m=sizes, delta=st.floats(1e-300, 1.0), K=st.integers(2, 300), bits=st.booleans())
def test_hoeffding_bound_agrees(m, delta, K, bits):
    criterion, spread = (ENTROPY_BITS, math.log2(K)) if bits else (GINI, 1.0)
    ours = split_bound(HOEFFDING, criterion, m, 0, 1, 1, K, delta)
    assert ours == pytest.approx(bounds.hoeffding(spread, m, delta), rel=1e-12)


@given(m=sizes, t=st.integers(1, 10**9))
def test_consistency_radius_agrees(m, t):
    assert consistency_radius(m, t) == pytest.approx(bounds.consistency_radius(m, t), rel=1e-12)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=300))
def test_leaf_is_consistent_as_in_the_plain_version(y):
    tree = ConfidenceTree(grace_period=10**6).partial_fit(np.zeros((len(y), 1)), y)
    own = [float(n) for n in np.bincount(y)]
    leaf = tree.view().root.leaf
    assert leaf.consistent == bounds.consistent([n for n in own if n] + [0.0], len(y))
