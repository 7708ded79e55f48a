"""The table of bounds that are known, and the public functions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from quercus.statistics.credible import MEASURES, NO_TABLE, evaluate_rows, find_table, impurity_interval, risk_bound
from quercus.statistics.layout import ENTRIES, IMPURITY, LEVELS, MAX_T


def test_every_pair_has_its_own_place_in_order() -> None:
    table = np.zeros((2 * LEVELS, ENTRIES))
    pairs = [(t, k) for t in range(40) for k in range(t // 2 + 1)]
    rows = np.array([[t - k, k] for t, k in pairs], dtype=float)
    found = evaluate_rows(IMPURITY, rows, level=3, upper=True, table=table, delta=0.2)
    assert np.array_equal(table[7, : len(pairs)], found)
    assert np.count_nonzero(table) == len(pairs)
    assert np.array_equal(found, evaluate_rows(IMPURITY, rows, upper=True, delta=0.2 / 8))
    assert sum(t // 2 + 1 for t in range(MAX_T + 1)) == ENTRIES


def test_known_entries_are_read() -> None:
    table = np.zeros((2 * LEVELS, ENTRIES))
    table[0, ENTRIES - 1] = 0.125
    assert evaluate_rows(IMPURITY, np.array([[512.0, 512.0]]), table=table)[0] == 0.125
    # The mirrored counts are the same entry.
    table[1, ENTRIES - 2] = 0.25
    for counts in ([511.0, 513.0], [513.0, 511.0]):
        assert evaluate_rows(IMPURITY, np.array([counts]), table=table, upper=True)[0] == 0.25


@pytest.mark.parametrize(
    ("counts", "level"),
    [([3.5, 1.0], 0), ([3.5, 1.5], 0), ([1024.0, 1.0], 0), ([9.0, 2.0], LEVELS), ([1.0, 2.0, 3.0], 0)],
)
def test_what_has_no_entry_is_computed_and_not_kept(counts: list[float], level: int) -> None:
    table = np.zeros((2 * LEVELS, ENTRIES))
    rows = np.array([counts])
    assert evaluate_rows(IMPURITY, rows, table=table, level=level)[0] == evaluate_rows(IMPURITY, rows, level=level)[0]
    assert np.count_nonzero(table) == 0


def test_tables_are_shared_by_delta_and_measure() -> None:
    table = find_table(0.125, MEASURES["entropy"])
    assert table.shape == (2 * LEVELS, ENTRIES)
    assert table is find_table(0.125, MEASURES["entropy"])
    assert table is not find_table(0.125, MEASURES["variance"])
    assert table is not find_table(0.25, MEASURES["entropy"])
    assert NO_TABLE.shape == (0, 0)


def test_interval_counts_one_class_as_two() -> None:
    assert impurity_interval([7]) == impurity_interval([7, 0]) == impurity_interval([0, 7])
    assert risk_bound([7]) == risk_bound([7, 0]) == risk_bound([0, 7])


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([], "counts have the shape"),
        ([[1, 2]], "counts have the shape"),
        ([3, -1], "counts hold -1.0 for class 1; give numbers of at least 0"),
        ([3, float("nan")], "counts hold nan for class 1"),
        ([float("inf"), 2], "counts hold inf for class 0"),
    ],
)
def test_wrong_counts_are_refused(counts: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        impurity_interval(counts)
    with pytest.raises(ValueError, match=message):
        risk_bound(counts)


@pytest.mark.parametrize("delta", [0, -0.1, 0.6, float("nan"), True])
def test_wrong_delta_is_refused(delta: float) -> None:
    with pytest.raises(ValueError, match="delta"):
        impurity_interval([1, 2], delta)
    with pytest.raises(ValueError, match="delta"):
        risk_bound([1, 2], delta)


def test_unknown_criterion_is_refused() -> None:
    with pytest.raises(ValueError, match="criterion='gini' is unknown; choose 'entropy', 'variance' or 'deviation'"):
        impurity_interval([1, 2], criterion="gini")


def test_import_needs_no_compiler() -> None:
    code = "import sys, quercus.statistics; assert 'numba' not in sys.modules and 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
