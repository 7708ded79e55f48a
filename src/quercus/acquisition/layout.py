"""What cases and the engines that plan for them tell each other: the state of a feature, and the next step."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

# State of a feature in a case: not known, known, bought without a result, not to be had, bought and on its way.
UNKNOWN, KNOWN, MISSING, REFUSED, ORDERED = range(5)
# Why a case asks for nothing more, as an engine may say it, and as a number; GOES_ON is none of them.
STOPS = ("confident", "region", "gain", "budget", "nothing left", "worth", "questions", "rare")
CONFIDENT, REGION, GAIN, BUDGET, NOTHING_LEFT, WORTH, QUESTIONS, RARE, GOES_ON = range(9)
# What a loop over cases does beside the flags of `quercus.rows`. EXPLORE: cases ask for the sake of learning, too;
# WHOLE: all values of a row are learned, not what was bought; STEP: just decide what comes next in a case; POSTERIOR:
# just tell its class probabilities; CASE: learn what a case knows.
EXPLORE, WHOLE, STEP, POSTERIOR, CASE = 16, 32, 64, 128, 256
# What a wrong answer costs if nothing is said, in median prices: chosen on sets that no figure is told of.
AUTO_WORTH = 200.0
# Bins are drawn from so many values on, from the first values, which are kept, and there are never more.
YOUNG, KEPT_VALUES, MOST_BINS = 16, 512, 64
# A step of a case. It is told what is ``left`` of the budget and the ``seed`` of the case.
CASE_STEP = np.dtype(
    [
        ("item", np.int64),
        ("stop", np.int64),
        ("score", np.float64),
        ("left", np.float64),
        ("seed", np.uint64),
    ],
    align=True,
)
GENERATOR = np.dtype([("g0", np.uint64), ("g1", np.uint64), ("g2", np.uint64), ("g3", np.uint64)], align=True)


class Decision(NamedTuple):
    """What to buy next, or why nothing.

    ``item`` is the number of the item (-1: none), ``score`` what the objective expects of it, ``stop`` one of `STOPS`,
    None if there is an item.

    Examples
    --------
    >>> Decision(2, 0.31, None).item, Decision(-1, 0.0, "confident").stop
    (2, 'confident')
    """

    item: int
    score: float
    stop: str | None


class Refer(Enum):
    """The answer "give it to a person"; there is one, `REFER`, also after copying and pickling.

    Examples
    --------
    >>> REFER
    REFER
    """

    REFER = "refer"

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


REFER = Refer.REFER
