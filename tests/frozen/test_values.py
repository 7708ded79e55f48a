"""What learners learn and answer is what is stored."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from quercus.registry import LEARNERS
from tests.frozen import values, views
from tests.frozen.case import Case
from tests.frozen.cases import CASES, GROUPS
from tests.frozen.streams import names, stream

BY_NAME = {case.name: case for case in CASES}
CUT_TWICE = [(case, cut) for case in CASES for cut in case.cuts[1:]]


@cache
def stored(group: str) -> dict[str, Any]:
    return values.load(values.FOLDER / f"{group}.json")


def assert_as_stored(case: Case, cut: str) -> None:
    assert case.name in stored(case.group), f"nothing is stored; python -m tests.frozen --renew '{case.name}'"
    found = list(values.differences(stored(case.group)[case.name], case.find(cut)))
    more = f"\n  ... and {len(found) - 20} more" if len(found) > 20 else ""
    assert not found, f"{case.name} (batches: {cut}) differs:\n  " + "\n  ".join(found[:20]) + more


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_finds_what_is_stored(case):
    assert_as_stored(case, "usual")


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("case", "cut"), CUT_TWICE, ids=[f"{case.name}-{cut}" for case, cut in CUT_TWICE])
def test_batches_make_no_difference(case, cut):
    assert_as_stored(case, cut)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_stored_tells_something(case):
    found = stored(case.group)[case.name]
    last = found.get("end") or found[max((name for name in found if name.startswith("row ")), key=lambda n: int(n[4:]))]
    assert views.is_split(last) == case.splits


def test_streams_are_those_that_values_were_stored_for():
    assert {name: stream(name).checksum() for name in names()} == stored("streams")


def test_nothing_is_stored_that_is_not_played():
    kept = {name for path in values.FOLDER.glob("*.json") if path.stem != "streams" for name in stored(path.stem)}
    assert kept == set(BY_NAME)
    assert len(BY_NAME) == len(CASES)


def test_every_learner_is_played():
    assert {GROUPS.get(name, name) for name in LEARNERS} <= {case.group for case in CASES}


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        ({"a": [1, 2.0]}, {"a": [1, 2.0 + 1e-12]}, []),
        ({"a": [1, 2.0]}, {"a": [1, 2.0 + 1e-6]}, ["a[1]: stored 2.0, found 2.000001"]),
        ({"a": {"b": 1}}, {"a": {"b": 1.0}}, ["a.b: stored 1, found 1.0"]),
        ({"a": 1}, {"b": 1}, ["a: only stored", "b: only found"]),
        ([[1], [2]], [[1]], [": stored 2 entries, found 1"]),
        ({"a": float("nan")}, {"a": float("nan")}, []),
        ({"a": True}, {"a": 1}, ["a: stored True, found 1"]),
        ({"a": None}, {"a": "x"}, ["a: stored None, found 'x'"]),
    ],
)
def test_differences_are_told_with_their_place(one, other, result):
    assert list(values.differences(one, other)) == result


def test_values_come_back_from_their_file(tmp_path):
    result = {"a": [0.1, 1, True, None, "x" * 200, [float("inf")] * 60], "b": {"c": list(range(300)), "d": {}}}
    values.store(tmp_path / "a.json", result)
    assert values.load(tmp_path / "a.json") == result
    assert max(map(len, (tmp_path / "a.json").read_text().splitlines())) < 240
