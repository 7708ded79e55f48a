"""Choosing the rows of a batch whose labels are worth most."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_whole
from quercus.ask.kernels import ROUNDING, draw_uniforms
from quercus.ask.layout import DAILY, SHARE, UNLIMITED, WINDOW
from quercus.ask.state import AskState


def choose(state: AskState, decisions: NDArray[np.void], k: int) -> NDArray[np.int64]:
    """Choose at most k rows, take their price from the budget and write down how each came about.

    First the rows are drawn, in order, with the same probability as long as there is something left to spend: of the k,
    k * explore are expected, or more if it takes that for rows to count as covered. Then the rows of highest score fill
    up what is left. Only drawn ones have a propensity.
    """
    check_whole("k", k)
    record = state.record[0]
    n = len(decisions)
    if record["budget"] == DAILY and n and (decisions["day"] != decisions["day"][0]).any():
        raise ValueError("the batch holds rows of several days, and the budget is per day; give one day at a time.")
    draws = np.empty(2 * n)
    draw_uniforms(state.record, draws)
    chance = min(float(record["explore"]) * k / n, 1.0) if n else 0.0
    if record["least"] * n <= 0.5 * k:
        chance = max(chance, float(record["least"]))
    most = min(k, state.free_in_window()) if record["budget"] == WINDOW else k
    _see(state, decisions, n)
    asked: list[int] = []
    drawn, covered = np.zeros(n, bool), np.zeros(n, bool)
    for row in range(n):
        # Whether a row can be drawn is settled by the rows before it, so that its chance is known beforehand.
        covered[row] = chance >= record["least"] and len(asked) < most and _can_pay(state, decisions[row])
        if covered[row] and draws[row] < chance:
            drawn[row] = True
            _take(state, decisions[row], asked, row)
    # Equal scores in random order.
    for row in np.lexsort((draws[n:], -decisions["worth"])).tolist():
        if not drawn[row] and len(asked) < most and _can_pay(state, decisions[row]):
            _take(state, decisions[row], asked, row)
    if record["budget"] == WINDOW:
        # As if asked with the last row of the batch, which is later than they were: no window gets too many.
        state.record_in_window(len(asked))
    decisions["asked"] = 0
    decisions["asked"][asked] = 1
    decisions["explored"] = drawn
    decisions["propensity"] = np.where(drawn, chance, math.nan)
    decisions["covered"] = int(record["covered"]) + np.cumsum(covered)
    state.record["covered"] += int(covered.sum())
    return np.array(sorted(asked), np.int64)


def _see(state: AskState, decisions: NDArray[np.void], n: int) -> None:
    """Count the rows as seen, and bring a budget per day or per window to this moment."""
    record: Any = state.record
    if record["budget"][0] == DAILY and n:
        day = int(decisions["day"][0])
        if record["has_day"][0] and day > record["day"][0]:
            usual, rows = float(record["usual_rows"][0]), float(record["day_rows"][0])
            record["usual_rows"] = rows if usual == 0 else (usual + rows) / 2
            record["spent"] = 0.0
            record["day_rows"] = 0.0
        record["has_day"], record["day"] = 1, max(day, int(record["day"][0])) if record["has_day"][0] else day
        record["day_rows"] += n
    record["seen"] += n


def _can_pay(state: AskState, decision: Any) -> bool:
    record = state.record[0]
    if record["budget"] in (UNLIMITED, WINDOW):
        return True
    limit = record["amount"] * (record["seen"] if record["budget"] == SHARE else 1)
    return bool(record["spent"] + _cost(record, decision) <= limit * ROUNDING)


def _take(state: AskState, decision: Any, asked: list[int], row: int) -> None:
    asked.append(row)
    state.record["spent"] += _cost(state.record[0], decision)
    state.record["asked"] += 1
    state.record["paid"] += decision["price"]


def _cost(record: Any, decision: Any) -> float:
    return float(decision["price"]) if record["by_price"] else 1.0
