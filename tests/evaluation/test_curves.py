"""Where curves have points, and blocks against a plain loop."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.evaluation.curves import CurveRecorder, WindowRecorder, curve_points
from quercus.evaluation.metrics import Hits, Scores


def test_points_rise_and_have_every_round_number() -> None:
    points = list(islice(curve_points(), 60))
    assert points == sorted(set(points))
    assert points[:13] == [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32]
    assert {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 100_000} <= set(points)


def test_a_curve_notes_each_row_count_once_and_nothing_at_zero() -> None:
    recorder, scores = CurveRecorder(), Scores()
    recorder.add(scores, None)
    assert len(recorder.columns()["rows"]) == 0
    for _ in range(3):
        scores.update(np.array([0]), np.array([0]), np.ones((1, 1)), ["a"])
        recorder.add(scores, 7)
        recorder.add(scores, 8)
    columns = recorder.columns()
    assert columns["rows"].tolist() == [1, 2, 3]
    assert columns["leaves"].tolist() == [7, 7, 7]
    assert recorder.due == 4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.booleans(), max_size=9), max_size=8), st.integers(1, 7))
def test_blocks_are_those_of_a_plain_loop(parts: list[list[bool]], window: int) -> None:
    recorder = WindowRecorder(window)
    flags = [flag for part in parts for flag in part]
    for part in parts:
        hits = np.array(part, bool)
        recorder.add(Hits(hits, ~hits, hits))
    columns = recorder.columns()
    blocks = [flags[i : i + window] for i in range(0, len(flags), window)]
    assert columns["rows"].tolist() == [min(i + window, len(flags)) for i in range(0, len(flags), window)]
    np.testing.assert_allclose(columns["accuracy"], [np.mean(block) for block in blocks])
    np.testing.assert_allclose(columns["majority"], [1 - np.mean(block) for block in blocks])
