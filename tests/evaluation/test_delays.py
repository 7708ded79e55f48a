"""Delays: the same however they are taken, and labels in the order in which they come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quercus.evaluation.delays import Arrivals, DelayedRows, Delays


@given(sizes=st.lists(st.integers(0, 50), max_size=20), seed=st.integers(0, 5))
def test_delays_do_not_depend_on_how_they_are_taken(sizes: list[int], seed: int) -> None:
    parts, whole = Delays((2, 9), seed), Delays((2, 9), seed)
    found = np.concatenate([np.zeros(0, int), *(parts.take(size) for size in sizes)])
    np.testing.assert_array_equal(found, whole.take(sum(sizes)))


def test_drawn_delays_are_even_between_the_ends() -> None:
    counts = np.bincount(Delays((2, 5)).take(40_000), minlength=6)
    assert counts[:2].tolist() == [0, 0]
    assert np.abs(counts[2:] - 10_000).max() < 400


def test_delays_by_row_run_out() -> None:
    delays = Delays(np.array([1, 2, 3]))
    assert not delays.none
    assert delays.take(2).tolist() == [1, 2]
    with pytest.raises(ValueError, match="delay has 3 numbers, the stream more rows"):
        delays.take(2)


@pytest.mark.parametrize("delay", [0, (0, 0), [0, 0], np.zeros(3, int)])
def test_no_delay_is_known_as_such(delay: object) -> None:
    assert Delays(delay).none


@given(due=st.lists(st.integers(0, 30), max_size=40), stops=st.lists(st.integers(0, 31), max_size=6))
def test_labels_arrive_by_row_then_in_the_order_of_questions(due: list[int], stops: list[int]) -> None:
    arrivals, batch = Arrivals(), DelayedRows(np.zeros((1, 1)), np.zeros(1), ["a"])
    for row in due:
        arrivals.expect(row, batch, 0, False)
    found = [(a.due, a.number) for stop in [*sorted(stops), 31] for a in arrivals.take(stop)]
    assert found == sorted((row, number) for number, row in enumerate(due, 1))
    assert arrivals.next_row is None
