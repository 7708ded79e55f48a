"""The integer codes of a tree that keeps its rows, and the sizes of its arrays."""

from __future__ import annotations

SIZE_POOL, SIZE_LABELS, SIZE_VOLUME = range(3)
# Flag of run_pool_rows beside those of run_rows: the rows are in the pool already.
LABEL = 16
# What there was no room for, in pooling.needs.
NEEDS_ROWS, NEEDS_NODES = 1, 2
# What is left of a class after subtractions is nothing if it is below this share of it.
ROUNDING = 1e-12
# Columns of memo: weight, smaller class, level + 1, bound.
MEMO_WIDTH = 4
FIRST_ROWS = 16
