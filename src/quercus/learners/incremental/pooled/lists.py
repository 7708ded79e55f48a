"""The labelled rows of a leaf in the order of each feature, and how many rows of the pool lie between; compiled."""

from __future__ import annotations

from typing import Any

from quercus.compile import kernel
from quercus.learners.incremental.layout import SIZE_POOL
from quercus.rows import NOMINAL
from quercus.statistics.cuts import cut_between


@kernel
def clear_heads(heads: Any, node: int) -> None:
    """Make all lists of a leaf empty."""
    for column in range(heads.shape[1]):
        heads[node, column].first = -1
        heads[node, column].last = -1
        heads[node, column].labels = 0
        heads[node, column].joined = 0
        heads[node, column].known = 0


@kernel
def append_row(tree: Any, node: int, column: int, row: int) -> None:
    """Put a row, whose value is in its link, at the end of a list."""
    links, head = tree.links, tree.heads[node, column]
    if head.last < 0:
        head.first = row
    else:
        links[column, head.last].next = row
    links[column, row].next = -1
    head.last = row
    head.labels += 1
    head.joined += tree.rows[row].joined


@kernel
def insert_row(tree: Any, node: int, column: int, row: int, value: float) -> int:
    """Put a row into a list, behind smaller values and equal ones of smaller rows; return the row before it, or -1."""
    links, head = tree.links, tree.heads[node, column]
    links[column, row].value = value
    links[column, row].below = 0
    last = head.last
    if last < 0 or links[column, last].value < value or (links[column, last].value == value and last < row):
        append_row(tree, node, column, row)
        return last
    before = -1
    at = head.first
    while links[column, at].value < value or (links[column, at].value == value and at < row):
        before = at
        at = links[column, at].next
    links[column, row].next = at
    if before < 0:
        head.first = row
    else:
        links[column, before].next = row
    head.labels += 1
    head.joined += tree.rows[row].joined
    return before


@kernel
def count_at_most(tree: Any, node: int, j: int, limit: float) -> int:
    """Return how many of the sorted rows of a leaf have a value of at most the limit."""
    values, ordered, start = tree.values, tree.sorted, tree.regions[node].start
    low, high = 0, tree.heads[node, j + 1].known
    while low < high:
        middle = (low + high) // 2
        if values[ordered[j, start + middle], j] <= limit:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def count_left(tree: Any, nominal: bool, node: int, j: int, row: int) -> int:
    """Return how many sorted rows are left of the cut behind a labelled row; for a category, how many have it."""
    value, after = tree.links[j + 1, row].value, tree.links[j + 1, row].next
    if nominal:
        # Categories are whole numbers.
        return count_at_most(tree, node, j, value) - count_at_most(tree, node, j, value - 0.5)
    if after < 0:
        return 0
    return count_at_most(tree, node, j, cut_between(value, tree.links[j + 1, after].value))


@kernel
def measure_list(tree: Any, node: int, j: int) -> None:
    """Count the sorted rows left of every cut of a leaf and feature."""
    links, nominal = tree.links, tree.features[j].kind == NOMINAL
    row = tree.heads[node, j + 1].first
    while row >= 0:
        after = links[j + 1, row].next
        links[j + 1, row].below = 0
        if after < 0 or links[j + 1, after].value > links[j + 1, row].value:
            links[j + 1, row].below = count_left(tree, nominal, node, j, row)
        row = after


@kernel
def measure_insert(tree: Any, node: int, j: int, row: int, before: int) -> None:
    """Count the sorted rows in the children of the cuts that a new labelled row has made or moved."""
    links, nominal = tree.links, tree.features[j].kind == NOMINAL
    value, after = links[j + 1, row].value, links[j + 1, row].next
    is_first = before < 0 or links[j + 1, before].value < value
    is_last = after < 0 or links[j + 1, after].value > value
    if is_first and is_last:
        links[j + 1, row].below = count_left(tree, nominal, node, j, row)
        if before >= 0 and not nominal:
            links[j + 1, before].below = count_left(tree, nominal, node, j, before)
    elif is_last:
        links[j + 1, row].below = links[j + 1, before].below
        links[j + 1, before].below = 0


@kernel
def insert_label(tree: Any, node: int, row: int) -> None:
    """Put a row that has been labelled into the lists of its leaf."""
    tree.regions[node].labels += 1
    insert_row(tree, node, 0, row, 0.0)
    for j in range(tree.options[0].features):
        value = tree.values[row, j]
        if value == value:
            before = insert_row(tree, node, j + 1, row, value)
            if tree.pooling[0].size == SIZE_POOL:
                measure_insert(tree, node, j, row, before)
