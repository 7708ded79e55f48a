"""Differences on several sets as a claim: where one is ahead, where behind, and where it cannot be told."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.harness.exhibits import Claim
from experiments.harness.verdicts import all_hold
from experiments.papers.utility.verdicts import Gap


def claim_ahead(says: str, gaps: Mapping[str, Gap]) -> Claim:
    """Return whether one is ahead everywhere, and on how many sets by more than two standard errors."""
    behind = [f"{name} {gap}" for name, gap in gaps.items() if gap.is_more is False]
    ahead = sum(gap.is_more is True for gap in gaps.values())
    words = f", behind on {len(behind)}: {', '.join(behind)}" if behind else ", behind on none"
    return Claim(says, all_hold(gap.is_more for gap in gaps.values()), f"ahead on {ahead} of {len(gaps)}{words}.")
