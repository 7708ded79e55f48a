"""The forms of the tree that are compared: the published one, it with one thing changed, and the library's own."""

from __future__ import annotations

from typing import Any

from quercus.learners.reinforced import ReinforcedTree

# The published settings: a discount of .8, no price of questions, rewards of 5 and -5, at most three questions.
GAMMA, RIGHT, WRONG = 0.8, 5.0, -5.0
QUESTIONS = 3

PAPER, SINGLE, FAIR, OURS = "paper's form", "single path", "fair updates", "ReinforcedTree"
UNTRUNCATED, PLAIN = "all actions explored", "single path, all actions explored"
UNDISCOUNTED, FAIR_UNDISCOUNTED = "no discount", "fair updates, no discount"
_FAIR: dict[str, Any] = {"updates": "anchored", "backup": "counts", "start": "auto"}
# What differs from `ReinforcedTree.paper()`; `OURS` has nothing of it but the limit of questions.
FORMS: dict[str, dict[str, Any]] = {
    PAPER: {},
    SINGLE: {"updates": "single"},
    UNTRUNCATED: {"truncated": False},
    PLAIN: {"updates": "single", "truncated": False},
    UNDISCOUNTED: {"gamma": 1.0},
    FAIR: _FAIR,
    FAIR_UNDISCOUNTED: _FAIR | {"gamma": 1.0},
    OURS: {},
}


def make_tree(form: str, cost: float = 0.0, **given: Any) -> ReinforcedTree:
    """Return a tree that has learned nothing yet.

    Parameters
    ----------
    form
        One of `FORMS`.
    cost
        What a question costs, in the unit of the rewards.
    given
        Further arguments of `ReinforcedTree`.

    Examples
    --------
    >>> make_tree(FAIR).updates, make_tree(PAPER, cost=0.5).worth, make_tree(OURS, cost=0.5, questions=3).worth
    ('anchored', 2.0, 20.0)
    """
    if form == OURS:
        # A wrong answer loses 1 here, and the distance of two rewards there.
        worth = {"worth": (RIGHT - WRONG) / cost} if cost else {}
        return ReinforcedTree(**(worth | given))
    return ReinforcedTree.paper(**(FORMS[form] | {"worth": 1 / cost if cost else None} | given))
