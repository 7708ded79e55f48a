"""Asking for features one at a time: cases, their prices, and what the learners share that plan what to buy.

A learner that plans (`quercus.acquisition.buyer.FeatureBuyer`) opens a `Case` for each example. The case says what it
wants to know next, and what it costs; it is answered, at once or later, and learned from when its label is known.
"""

from __future__ import annotations

from quercus.acquisition.case import Case
from quercus.acquisition.explaining import CaseExplanation
from quercus.acquisition.layout import REFER, Decision
from quercus.acquisition.policy import PolicyTree
from quercus.acquisition.policy_nodes import PolicyNode
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.prices import Prices
from quercus.acquisition.rehearsing import AnswerExplanation
from quercus.acquisition.steps import Step

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
