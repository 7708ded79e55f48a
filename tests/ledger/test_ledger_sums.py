"""Money is summed without rounding."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quercus.ledger.sums import ExactSum

amounts = st.floats(-1e100, 1e100) | st.sampled_from([0.1, 0.7, 1e16, 5e-324])


def exact(values):
    return float(sum(map(Fraction, values)))


@given(st.lists(amounts, max_size=40), st.lists(amounts, max_size=40))
def test_the_sum_is_rounded_once_however_it_was_made(one_by_one, at_once):
    total = ExactSum()
    for amount in one_by_one:
        total.add(amount)
    total.add_many(np.array(at_once, np.float64))
    assert total.value == exact(one_by_one + at_once)
    for amount in one_by_one:
        total.add(-amount)
    total.add_many(-np.array(at_once, np.float64))
    assert total.value == 0.0


def test_many_prices_that_need_more_bits_than_a_float_has():
    prices = np.full(1_000_003, 0.1)
    total = ExactSum()
    total.add_many(prices)
    total.add(-100_000.0)
    assert total.value == float(Fraction(0.1) * 1_000_003 - 100_000)
