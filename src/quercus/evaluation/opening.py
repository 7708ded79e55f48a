"""Opens a run whose labels cost something, once everything that it needs is known to be right."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from quercus.ask.budgets import as_budget
from quercus.ask.policies import Always, Policy
from quercus.evaluation.asking import AskDriver
from quercus.evaluation.delays import Delay, Delays
from quercus.evaluation.money import Loss
from quercus.explain.words import plural
from quercus.ledger import Ledger

if TYPE_CHECKING:
    from quercus.streams import Stream


def open_asking(
    learner: Any,
    stream: Stream,
    policy: Policy | None,
    delay: Delay,
    delay_seed: int | None,
    ledger: Ledger | str | os.PathLike[str] | None,
    *,
    loss: Loss | None = None,
    rows: int | None = None,
    warm_up: int = 0,
) -> AskDriver:
    """Return the driver of a run whose labels cost something; the parameters are those of `evaluate`.

    Examples
    --------
    >>> from quercus import HoeffdingTree, ask, streams
    >>> open_asking(HoeffdingTree(), streams.Noise(), ask.Random, 0, 0, None)
    Traceback (most recent call last):
        ...
    TypeError: ask=Random is a class; give a policy made from it: Random(budget=0.1).
    """
    policy = Always() if policy is None else policy
    if isinstance(policy, type) and issubclass(policy, Policy):
        raise TypeError(f"ask={policy.__name__} is a class; give a policy made from it: {policy.__name__}(budget=0.1).")
    if not isinstance(policy, Policy):
        raise TypeError(f"ask is {policy!r}; give a policy of quercus.ask, such as Uncertain(budget=0.1).")
    _check_columns(policy, stream)
    delays = Delays(delay, delay_seed, rows)
    options: dict[str, Any] = {"loss": loss, "rows": rows, "warm_up": warm_up}
    if ledger is None:
        return AskDriver(learner, stream, policy, delays, **options)
    if isinstance(ledger, Ledger):
        _refuse_used(ledger)
        return AskDriver(learner, stream, policy, delays, ledger=ledger, **options)
    # A file is made only when everything else is known to be right.
    AskDriver(learner, stream, policy, delays, **options)
    opened = Ledger(ledger)
    try:
        _refuse_used(opened)
    except ValueError:
        opened.close()
        raise
    return AskDriver(learner, stream, policy, delays, ledger=opened, is_own=True, **options)


def _check_columns(policy: Policy, stream: Stream) -> None:
    """Refuse a policy that reads a column which is not there."""
    budget = as_budget(policy.budget)
    columns = {"price": policy.price, "time": None if budget is None else budget.day_column}
    for what, name in columns.items():
        if isinstance(name, str) and name not in stream.feature_names:
            raise ValueError(
                f"{what}={name!r} is no column of stream {stream.name!r}; it has {', '.join(stream.feature_names)}."
            )


def _refuse_used(ledger: Ledger) -> None:
    if len(ledger):
        raise ValueError(
            f"the ledger holds {plural(len(ledger), 'question')} already, whose rows would be taken for rows of this "
            "run; give a new one."
        )
