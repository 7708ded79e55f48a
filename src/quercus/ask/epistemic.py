"""Asking where the posterior is wide: a policy that looks at the part of a learner's doubt that labels would remove."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from quercus.arguments import check_number
from quercus.ask.kernels import LARGEST_SCALE, RISE
from quercus.ask.layout import EPISTEMIC
from quercus.ask.policies import Policy, Region

# From here on the scale is at its limit.
_MOST_POWER = math.log(LARGEST_SCALE) / math.log(RISE)


@dataclass(frozen=True)
class Epistemic(Policy):
    """Ask where more labels would change the answer most, for a learner whose `uncertainty` tells, `BayesianForest`.

    The doubt about a row is the epistemic part of the entropy of its answer, as a share of the most that there can be.
    Score ``min(doubt / (1.25 * usual), 1)^power``, usual the running mean of the doubt over the rows. Unlike the margin
    it falls where labels are a coin toss, but only once the forest has seen so many of them that its leaves are mixed.

    Parameters
    ----------
    power
        How selective; 0 is `Random`.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.SEA(rows=1000), qc.BayesianForest(trees=2), ask=Epistemic(0.1))
    >>> 85 <= run.labels <= 100
    True
    >>> qc.Asker(qc.ConfidenceTree(), Epistemic(0.1))
    Traceback (most recent call last):
        ...
    TypeError: ConfidenceTree has no `uncertainty`, ... give Epistemic a learner that has, such as BayesianForest, ...
    """

    power: float = 12.0
    code: ClassVar[int] = EPISTEMIC
    by_posterior: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("power", self.power, least=0)

    def settings(self) -> dict[str, float]:
        """Return what the kernels need to know besides the budget."""
        # A row of usual doubt begins with the budget's share as its chance.
        scale = LARGEST_SCALE if self.power > _MOST_POWER else RISE**self.power
        return super().settings() | {"power": self.power, "threshold": 0.0, "scale": scale}

    def ranking(self) -> Policy:
        """Return the policy whose scores say which rows of a batch are worth most."""
        return PlainDoubt(price=self.price)


@dataclass(frozen=True)
class PlainDoubt(Policy):
    """The doubt itself as the score, not compared with other rows: what ranks the rows of a batch."""

    by_posterior: ClassVar[bool] = True

    def score(self, region: Region) -> float:
        """Return the doubt, 0 to 1."""
        return region.doubt
