"""`quercus replay`: what another choice would have cost and scored, from a ledger alone."""

from __future__ import annotations

from collections.abc import Sequence

from quercus.cli.asking import make_policy
from quercus.cli.settings import make_learner


def replay_ledger(
    ledger: str,
    learner: str,
    settings: Sequence[str],
    policy: str,
    budget: str | None,
    price: str | None,
    seed: int | None,
) -> None:
    """Print what a learner under a policy would have cost and scored."""
    from quercus.evaluation import replay

    model = make_learner(learner, settings, seed)
    print(replay(ledger, model, make_policy(policy, budget, price, seed), seed=seed or 0))
