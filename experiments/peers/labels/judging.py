"""What counts as a difference."""

from __future__ import annotations

from collections.abc import Collection


def judge(told: tuple[float, float]) -> bool | None:
    """Return whether a mean is above 0 by more than two standard errors, below (False), or neither (None)."""
    mean, error = told
    return True if mean > 2 * error else False if mean < -2 * error else None


def judge_all(told: Collection[tuple[float, float]]) -> bool | None:
    """Return whether all of them are above 0, one of them below (False), or neither (None)."""
    verdicts = [judge(one) for one in told]
    return False if False in verdicts else None if None in verdicts else True
