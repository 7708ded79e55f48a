"""Axes and lines of the charts that we draw ourselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quercus.evaluation.chart import BLUE, Axis, Line, chart, fit, linear, log_rows, subsample, write_rows


@pytest.mark.parametrize("low", [0.0, 0.533, -3.0, 1e-9])
@pytest.mark.parametrize("span", [0.0, 1e-6, 0.31, 1.0, 47_000.0])
def test_axes_hold_their_values_between_round_ticks(low: float, span: float) -> None:
    axis = linear(low, low + span, str)
    assert axis.low <= low + 1e-12
    assert axis.high >= low + span - 1e-12
    assert 3 <= len(axis.ticks) <= 8
    assert axis.ticks == sorted(set(axis.ticks))


@pytest.mark.parametrize("rows", [1, 2, 9, 10, 99, 1000, 45_312, 10**7])
def test_row_axes_end_at_the_last_row(rows: int) -> None:
    axis = log_rows(rows)
    assert axis.low < axis.high
    assert axis.high >= rows
    assert axis.low <= max(1, rows / 10)
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


def test_lines_with_gaps_and_many_points_are_drawn() -> None:
    x = np.arange(1.0, 5001.0)
    y = np.where(x % 7 == 0, np.nan, 0.5)
    few_x, few_y = subsample(x, y)
    assert len(few_x) == len(few_y) <= 400
    assert few_x[-1] == 5000
    drawn = chart(
        [Line("a", x, y, BLUE)], log_rows(5000), linear(0, 1, str), width=300, height=200, x_label="x", alt="a"
    )
    assert "nan" not in drawn
    empty = fit([Line("a", x, np.full(5000, np.nan), BLUE)], log_rows(5000), str, (0.0, math.inf))
    assert (empty.low, empty.high) == (0.0, 1.0)
    assert Axis(1, 100, [], write_rows, log=True).place(np.array([1, 10, 100])).tolist() == [0, 0.5, 1]
