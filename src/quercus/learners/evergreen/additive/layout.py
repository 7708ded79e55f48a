"""Numbers that the kernels of single features branch on, and what these kernels hand to each other."""

from __future__ import annotations

from typing import Any, NamedTuple

BINS = 16
MOST_LIMITS = 31
KEPT = 512
FIRST_DRAW = 8
# Rows of the table; a frozen model has only the first two.
LOG, MOVE, COUNT = range(3)
# The other row of the totals.
WEIGHT = 1
STEP = 0.3
# A step is made for at most so many mean weights.
MOST_MEANS = 8.0
MOST_VISITS = 16_000.0
# A cell counts wholly from so many visits on: few rows tell little where values are missing or of rare categories.
ENOUGH, ENOUGH_OF_NUMBERS = 8.0, 0.5
LEAST_TOLD = 1e-4
LEAST_SHARE = 1e-9
# After an alarm all that is known weighs as much as so many rows.
FADED = 300.0


class Singles(NamedTuple):
    """What single features tell."""

    sums: Any
    columns: Any
    limits: Any
    kept: Any
    kept_rows: Any
    table: Any
    visits: Any
    totals: Any


class Sheet(NamedTuple):
    """Room for one example: its cells, how much each counts, and by class what is told, the sum, and what follows."""

    cells: Any
    shares: Any
    lines: Any
