"""A learner that buys features: each row is a case, learned by what was bought of it, and the money is counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.drivers import Answers, BatchDriver, Recorder
from quercus.evaluation.facts import features_of
from quercus.evaluation.metrics import ratio
from quercus.ledger.betting import add_in_order

if TYPE_CHECKING:
    from quercus.streams import Stream


class BuyingDriver(BatchDriver, Recorder):
    """A learner with ``buy_and_learn``: it buys from each row while exploring, answers, and learns what it bought.

    What the scored rows have cost is counted, and how often each feature was bought.
    """

    def __init__(self, learner: Any, stream: Stream, warm_up: int = 0) -> None:
        super().__init__(learner, stream)
        if getattr(learner, "refer", None) is not None:
            raise ValueError(
                f"refer is {learner.refer!r}, but evaluate scores an answer to every row; leave refer out, and compare "
                "run.loss_per_row with what a person would cost."
            )
        self.recorder = self
        self._to_warm_up = warm_up
        self._rows, self._cost = 0, 0.0
        self._counts = np.zeros(0, np.int64)
        self._held: Any = None

    def step(self, X: Any, y: NDArray[Any]) -> Answers:
        """Run a case for each row; in the warm-up, learn the whole row."""
        if self._to_warm_up > 0:
            self._to_warm_up -= len(y)
            return super().step(X, y)
        self._held = self._timed(self.learner.buy_and_learn, X, y)
        return self._encode(y, self._held)

    def _encode(self, y: NDArray[Any], purchases: Any) -> Answers:
        """Return answers with class ids by first arrival; columns of probabilities come in the order of `classes_`."""
        labels = list(self.learner.schema_.labels)
        ids: dict[Any, int] = {label: number for number, label in enumerate(labels)}
        truth = np.array([ids[label] for label in y.tolist()], np.int64)
        answers = np.array([ids.get(label, -1) for label in purchases.answers.tolist()], np.int64)
        proba = np.empty_like(purchases.proba)
        proba[:, [ids[label] for label in self.learner.classes_.tolist()]] = purchases.proba
        return Answers(truth, answers, proba, labels)

    def record(self) -> None:
        """Count what the last step bought."""
        if self._held is None:
            return
        purchases, self._held = self._held, None
        self._rows += len(purchases.cost)
        self._cost = float(add_in_order(self._cost, purchases.cost))
        new = purchases.bought.sum(axis=0)
        # A learner that is open to new features has more columns by and by.
        self._counts = np.pad(self._counts, (0, len(new) - len(self._counts))) + new

    def point(self) -> dict[str, float]:
        """Return the columns of a curve: money and values so far, with or without a result."""
        return {"cost": self._cost, "bought": float(self._counts.sum())}

    def standing(self, known: str = "") -> str:
        """Return how good the answers were, and what a row cost so far."""
        return f"{known}, cost {self._cost / self._rows:.4g} a row" if self._rows else known

    def finish(self) -> dict[str, Any]:
        """Return the figures by the names of `Run`."""
        names = [feature["name"] for feature in features_of(self.learner, self.stream)]
        counts = np.pad(self._counts, (0, max(0, len(names) - len(self._counts)))).tolist()
        return {
            "cost": self._cost,
            "bought": {name: ratio(count, self._rows) for name, count in zip(names, counts, strict=True)},
            "full_price": math.fsum(prices_of(self.learner, names)),
        }


def prices_of(learner: Any, names: Sequence[str]) -> list[float]:
    """Return the price of each feature or group of features that a learner can buy."""
    from quercus.acquisition import Prices

    costs, groups, requires = (getattr(learner, name, None) for name in ("costs", "groups", "requires"))
    is_open = getattr(learner, "features", "closed") == "open"
    return Prices(names, costs, groups, requires, open=is_open).costs


def refuse_labels(learner: Any) -> None:
    """Refuse labels that cost something or come late for a learner that buys features."""
    if hasattr(learner, "buy_and_learn"):
        raise ValueError(
            f"{type(learner).__name__} buys features, and evaluate cannot pay for labels or wait for them beside that; "
            "leave ask, delay and ledger out. Cases (learner.open) take late labels and a ledger."
        )
