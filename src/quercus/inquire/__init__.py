"""Asking for features one at a time: cases, their prices, and what the learners share that plan what to buy.

A learner that plans (`quercus.inquire.model.BuyingLearner`) opens a `Case` for each example. The case says what it
wants to know next, and what it costs; it is answered, at once or later, and learned from when its label is known.
"""

from __future__ import annotations

from quercus.inquire.case import Case
from quercus.inquire.explaining import CaseExplanation
from quercus.inquire.layout import REFER, Decision
from quercus.inquire.policy import PolicyTree
from quercus.inquire.policy_nodes import PolicyNode
from quercus.inquire.policy_outcomes import Outcome
from quercus.inquire.prices import Prices
from quercus.inquire.rehearsing import AnswerExplanation
from quercus.inquire.steps import Step

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
