"""The script that compares two code bases sees a single bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frozen.compare import columns, compare
from tests.frozen.fields import Added, Dropped, Retyped

NODES = np.zeros(3, np.dtype([("left", "i8"), ("threshold", "f8"), ("pair", "f4", (2,))]))
ARRAYS = {"nodes": NODES, "counts": np.array([[1.0, np.nan], [0.0, 2.0]]), "generator": np.arange(4, dtype="u8")}


def dumped(**changes):
    return {("tree/a", "end"): ("HoeffdingTree", dict(columns(ARRAYS)) | changes)}


def test_records_are_compared_column_by_column():
    equal, wrong = compare(dumped(), dumped())
    assert list(dict(columns(ARRAYS))) == ["nodes.left", "nodes.threshold", "nodes.pair", "counts", "generator"]
    assert (equal["HoeffdingTree"], wrong) == (5, {})


@pytest.mark.parametrize(
    ("name", "array", "result"),
    [
        ("counts", np.array([[1.0, np.nan], [-0.0, 2.0]]), "differs in 1 of 4, first at [1, 0]: was 0.0, is -0.0"),
        ("counts", np.array([[1.0, np.nan, 0.0, 2.0]]), "was of shape (2, 2), is (1, 4)"),
        ("generator", np.arange(4, dtype="i8"), "was of type uint64, is int64"),
        ("nodes.left", np.array([0, 0, 7]), "differs in 1 of 3, first at [2]: was 0, is 7"),
    ],
)
def test_what_differs_is_told(name, array, result):
    equal, wrong = compare(dumped(), dumped(**{name: array}))
    assert wrong == {"HoeffdingTree": [f"tree/a at end: {name} {result}"]}
    assert equal["HoeffdingTree"] == 4


def test_columns_may_move_when_that_is_declared():
    new = dumped(**{"extra": np.zeros(1), "node.0.cut": np.zeros(3), "rng": np.arange(4.0)})
    for name in ("nodes.threshold", "nodes.pair", "generator"):
        del new["tree/a", "end"][1][name]
    moved = {
        "HoeffdingTree": {"generator": Retyped("rng", "as floats"), "nodes.pair": Dropped("never read")},
        "*": {r"nodes\.threshold": "node.0.cut"},
    }
    equal, wrong = compare(dumped(), new, moved, {"*": {"ext.*": Added("room")}})
    assert (equal["HoeffdingTree"], wrong) == (4, {})
    assert compare(dumped(), new, moved, {})[1] == {"HoeffdingTree": ["tree/a at end: extra is new and not declared"]}
    assert "tree/a at end: generator is missing" in compare(dumped(), new, {}, {})[1]["HoeffdingTree"]
    later = dumped(rng=np.arange(4.0) + 1)
    assert "generator -> rng differs in 4 of 4" in " ".join(compare(dumped(), later, moved, {})[1]["HoeffdingTree"])


def test_a_moment_of_one_code_alone_is_told():
    assert compare(dumped(), {})[1] == {"HoeffdingTree": ["tree/a at end: only in the old code"]}
    more = dumped() | {("tree/b", "end"): dumped()["tree/a", "end"]}
    assert compare(dumped(), more)[1] == {"HoeffdingTree": ["tree/b at end: only in the new code"]}
    assert compare(dumped(), dumped() | {("oak/a", "end"): ("Oak", {})})[1] == {}
