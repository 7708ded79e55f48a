"""Asking for features one at a time: cases, their prices, and what the learners share that plan what to buy.

A learner that plans (`quercus.acquisition.buyer.FeatureBuyer`) opens a `Case` for each example. The case says what it
wants to know next, and what it costs; it is answered, at once or later, and learned from when its label is known.
"""

from __future__ import annotations

from quercus.acquisition.case import Case
from quercus.acquisition.explaining import AnswerExplanation, CaseExplanation
from quercus.acquisition.history import Step
from quercus.acquisition.layout import REFER, Decision
from quercus.acquisition.policy import PolicyNode, PolicyTree
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.prices import Prices

__all__ = [
    "REFER",
    "AnswerExplanation",
    "Case",
    "CaseExplanation",
    "Decision",
    "Outcome",
    "PolicyNode",
    "PolicyTree",
    "Prices",
    "Step",
]
