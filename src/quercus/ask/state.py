"""The running state of a policy and its budget: two small arrays that the kernels work on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.ask.budgets import Budget, Labels, Money, Share, as_budget, read_price, whole_labels
from quercus.ask.kernels import decide_given, decide_one
from quercus.ask.layout import DAILY, EPISTEMIC, GIVEN, RANDOM, SHARE, TOTAL, UNLIMITED, WINDOW
from quercus.ask.policies import Policy, Region
from quercus.randomness import new_generator
from quercus.rows import ASKING, DECISION

# Fields that follow from the policy and its budget.
_SETTINGS = (
    "policy", "split", "paced", "strict", "budget", "by_price", "by_counts", "amount", "window", "explore", "power",
)  # fmt: skip
# Where the least chance of a row cannot be told beforehand, rows below this count as not covered.
_LEAST = 1e-4
_UNKNOWN = 2.0


class AskState:
    """What a policy has seen, asked and spent so far.

    Attributes
    ----------
    record
        One record, see `quercus.rows.ASKING`.
    ring
        Rows that were asked last, for a budget over a sliding window.
    """

    def __init__(self, policy: Policy, rows: int | None = None) -> None:
        self.policy = policy
        self.budget = as_budget(policy.budget)
        self.record: NDArray[np.void] = np.zeros(1, ASKING)
        for name, value in (policy.settings() | _budget_fields(self.budget, rows)).items():
            self.record[name] = value
        if policy.code == RANDOM and not _is_paced(self.record):
            raise ValueError(
                f"Random cannot tell how much of {self.budget} to spend on a row; give it the rows that it has to last "
                "for, such as Labels(1000, rows=50_000), or a share of the stream such as 0.1."
            )
        self.record["least"] = self._least()
        for place, word in enumerate(new_generator(policy.seed)):
            self.record[f"g{place}"] = word
        self.ring: NDArray[np.int64] = np.zeros(_window_labels(self.budget), np.int64)
        self._decision: NDArray[np.void] = np.zeros(1, DECISION)
        self._chooser = policy.chooser()
        if self._chooser is not None:
            # What somebody else decides has no probability that we know of, so that no row is covered.
            self.record["paced"] = 0
            self.record["least"] = _UNKNOWN

    def _least(self) -> float:
        """Return the probability from which on a row counts as covered."""
        o = self.record[0]
        constant = not self.in_money or not (callable(self.policy.price) or isinstance(self.policy.price, str))
        price = float(self.policy.price) if constant and self.in_money else 1.0  # type: ignore[arg-type]
        if not constant or not o["paced"] or price <= 0 or o["explore"] == 0:
            return _LEAST
        if o["budget"] in (SHARE, WINDOW):
            return float(o["explore"]) * min(float(o["amount"]) / price, 1.0)
        if o["budget"] == TOTAL and o["horizon"] > 0:
            # What is left per row may fall a little below the average.
            return 0.5 * float(o["explore"]) * min(float(o["amount"] / o["horizon"]) / price, 1.0)
        return _LEAST

    @property
    def in_money(self) -> bool:
        """Whether the budget counts money."""
        return self.budget is not None and self.budget.in_money

    @property
    def seen(self) -> int:
        """Rows seen."""
        return int(self.record["seen"][0])

    @property
    def covered(self) -> int:
        """Rows that had a chance of being asked."""
        return int(self.record["covered"][0])

    @property
    def asked(self) -> int:
        """Labels asked for."""
        return int(self.record["asked"][0])

    @property
    def paid(self) -> float:
        """Money spent on them."""
        return float(self.record["paid"][0])

    @property
    def least_propensity(self) -> float:
        """Probability from which on a row counts as covered."""
        return min(float(self.record["least"][0]), 1.0)

    @property
    def left(self) -> float:
        """What may be spent at this moment, in units of the budget; infinite without one."""
        o = self.record[0]
        if o["budget"] == UNLIMITED:
            return math.inf
        if o["budget"] == SHARE:
            return max(float(o["amount"] * o["seen"] - o["spent"]), 0.0)
        if o["budget"] == WINDOW:
            return float(self.free_in_window())
        return float(o["amount"] - o["spent"])

    def free_in_window(self) -> int:
        """Return how many labels a budget over a sliding window allows at the next row."""
        o = self.record[0]
        recent = self.ring[(o["oldest"] + np.arange(o["in_window"])) % len(self.ring)]
        return int(len(self.ring) - (recent > o["seen"] + 1 - o["window"]).sum())

    def record_in_window(self, asked: int) -> None:
        """Count so many labels as asked with the last row seen; there must be room for them."""
        o = self.record
        recent = self.ring[(o["oldest"][0] + np.arange(o["in_window"][0])) % len(self.ring)]
        kept = recent[recent > o["seen"][0] - o["window"][0]]
        rows = np.concatenate([kept, np.full(asked, o["seen"][0])])
        self.ring[: len(rows)] = rows
        o["oldest"], o["in_window"] = 0, len(rows)

    def prices(self, rows: list[Mapping[str, Any]]) -> NDArray[np.float64]:
        """Return what the label of each example costs."""
        price = self.policy.price
        if not callable(price) and not isinstance(price, str):
            return np.full(len(rows), float(price))
        found = (read_price(price(row) if callable(price) else row.get(price), i) for i, row in enumerate(rows))
        return np.array(list(found), np.float64)

    def days(self, rows: list[Mapping[str, Any]]) -> NDArray[np.int64]:
        """Return the day of each example as a number, 0 if the budget is not per day."""
        column = self.budget.day_column if self.budget is not None else None
        if column is None:
            return np.zeros(len(rows), np.int64)
        return np.array([_day(row.get(column), column, i) for i, row in enumerate(rows)], np.int64)

    def decide(self, price: float, day: int, region: Region, u: float | None = None) -> Any:
        """Decide about one row; return its decision, a record. By a number `u` in [0, 1), or by a draw of its own."""
        decision = self._decision
        decision["price"] = price
        decision["day"] = day
        if self._chooser is not None:
            return self._decide_chosen(self._chooser, decision, region)
        if self.policy.code == GIVEN:
            score = float(self.policy.score(region))
            if not 0 <= score <= 1:
                raise ValueError(f"{type(self.policy).__name__}.score gave {score!r}; it must be from 0 to 1.")
            decision["worth"] = score
        elif self.policy.code == EPISTEMIC:
            if math.isnan(region.doubt):
                raise TypeError(
                    f"{type(self.policy).__name__} asks by the doubt of a posterior, which is not told here; use it "
                    "with Asker or evaluate and a BayesianForest, or take another policy, such as Uncertain."
                )
            decision["worth"] = region.doubt
        known = (region.margin, region.confidence, region.support)
        if u is None:
            decide_one(self.record, self.ring, decision, *known)
        else:
            decide_given(self.record, self.ring, decision, *known, u)
        return decision[0].copy()

    def _decide_chosen(self, chooser: Any, decision: NDArray[np.void], region: Region) -> Any:
        """Let somebody else choose, within the budget."""
        wanted, worth = chooser.choose(region)
        decision["worth"] = float(wanted)
        decide_given(self.record, self.ring, decision, region.margin, region.confidence, region.support, 0.0)
        decided = decision[0].copy()
        chooser.note(bool(decided["asked"]))
        decided["worth"] = worth
        decided["propensity"] = math.nan
        decided["explored"] = 0
        return decided

    def refund(self, price: float) -> None:
        """Give the money of a question back to the budget; a window or a day gets a new one by itself."""
        o = self.record
        o["paid"] -= price
        if o["budget"][0] in (SHARE, TOTAL):
            o["spent"] = max(float(o["spent"][0]) - (price if self.in_money else 1.0), 0.0)

    def to_bytes(self) -> bytes:
        """Return the whole state."""
        return self.record.tobytes() + self.ring.tobytes()

    def set_bytes(self, state: bytes) -> None:
        """Take over a state that `to_bytes` returned under the same policy."""
        if len(state) != ASKING.itemsize + self.ring.nbytes:
            raise ValueError("the saved state belongs to another policy or budget; open it with the policy it had.")
        record = np.frombuffer(state[: ASKING.itemsize], ASKING).copy()
        if any(record[name] != self.record[name] for name in _SETTINGS):
            raise ValueError("the saved state belongs to another policy or budget; open it with the policy it had.")
        self.record = record
        self.ring = np.frombuffer(state[ASKING.itemsize :], np.int64).copy()


def _budget_fields(budget: Budget | None, rows: int | None) -> dict[str, float]:
    if budget is None:
        return {"budget": UNLIMITED}
    if isinstance(budget, Share):
        if budget.window is None:
            return {"budget": SHARE, "amount": budget.share, "strict": budget.strict}
        return {"budget": WINDOW, "amount": budget.share, "strict": True, "window": budget.window}
    if not isinstance(budget, Labels | Money):
        raise TypeError(f"budget is a {type(budget).__name__}; give a share such as 0.1, Share, Labels, Money or None.")
    amount = budget.number if isinstance(budget, Labels) else budget.amount
    fields: dict[str, float] = {"amount": amount, "strict": True, "by_price": budget.in_money}
    if budget.per == "row":
        return fields | {"budget": SHARE}
    if budget.per == "day":
        return fields | {"budget": DAILY}
    return fields | {"budget": TOTAL, "horizon": budget.rows or rows or 0}


def _is_paced(record: NDArray[np.void]) -> bool:
    o = record[0]
    return bool(o["budget"] in (SHARE, WINDOW, DAILY) or (o["budget"] == TOTAL and o["horizon"] > 0))


def _window_labels(budget: Budget | None) -> int:
    """Return how many labels a window may hold; 0 if the budget has none."""
    if not isinstance(budget, Share) or budget.window is None:
        return 0
    return whole_labels(budget.share, budget.window)


def _day(value: Any, column: str, row: int) -> int:
    """Return the number of a day, from a date, a datetime or a number of days."""
    try:
        if isinstance(value, int | float | np.number) and not isinstance(value, bool):
            return math.floor(value)
        day = np.datetime64(value, "D")
        if value is None or isinstance(value, bool | np.bool_) or np.isnat(day):
            raise ValueError
        return int(day.astype(np.int64))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"column {column!r} holds {value!r} in row {row}, which is no day; the budget needs a date, a datetime or "
            "a number of days in every row."
        ) from None
