"""How policies and budgets are called in reports."""

from __future__ import annotations

import dataclasses
from typing import Any

from quercus.ask.budgets import Budget, Labels, Money, Share, as_budget
from quercus.ask.policies import Policy
from quercus.evaluation.words import show_amount


def describe_policy(policy: Policy) -> str:
    """Return a policy as it would be written, without its budget and without what is as usual.

    Examples
    --------
    >>> from quercus.ask import Random, Uncertain
    >>> describe_policy(Uncertain(0.1, power=2.0)), describe_policy(Random.paper(0.2))
    ('Uncertain(power=2.0)', 'Random(paced=False)')
    """
    changed = []
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if field.name == "budget" or value == field.default:
            continue
        changed.append(f"{field.name}={getattr(value, '__name__', None) or repr(value)}")
    return type(policy).__name__ + (f"({', '.join(changed)})" if changed else "")


def describe_budget(policy: Policy) -> str:
    """Return a budget in words.

    Examples
    --------
    >>> from quercus.ask import Always, Labels, Money, Random
    >>> [describe_budget(policy) for policy in (Always(), Random(0.05), Random(Labels(50, per="day", time="when")))]
    ['no limit', '5% of rows', '50 labels a day']
    >>> describe_budget(Random(Money(2.5, per="row")))
    'money: 2.50 per row'
    """
    budget: Budget | Any = as_budget(policy.budget)
    if budget is None:
        return "no limit"
    if isinstance(budget, Share):
        text = f"{budget.share * 100:.4g}% of rows"
        return text if budget.window is None else f"{text}, in any {budget.window:,} of them"
    period = {"day": " a day", "row": " per row"}.get(getattr(budget, "per", None) or "", "")
    if isinstance(budget, Labels):
        return f"{budget.number:,} labels{period}"
    return f"money: {show_amount(budget.amount)}{period}" if isinstance(budget, Money) else repr(budget)
