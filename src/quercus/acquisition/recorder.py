"""How a case writes to a ledger: a row for each purchase, with its price, its worth and its results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from quercus.acquisition.history import CaseHistory, Quote, Step, Value

if TYPE_CHECKING:
    from quercus.ledger import Ledger


class CaseRecorder:
    """The rows of one case in a ledger.

    A group is one row; its answer is the JSON text of its results, written when all of them are there. A purchase that
    came back without any result, or whose results have not come when the case is closed, is given up without a refund.

    Parameters
    ----------
    ledger
        Where to.
    number
        Of the case, which counts as its row of the stream.
    explore
        Whether the case explores.
    rows
        Ids of the questions, by item.
    case
        Its number in the ledger, if that keeps what the case knows.

    Examples
    --------
    >>> from quercus.ledger import Ledger
    >>> ledger = Ledger()
    >>> recorder = CaseRecorder(ledger, 1, True, {})
    >>> recorder.ask(CaseHistory(), Quote("mri", 500.0, 0.3), asked=True)
    >>> ledger.question(recorder.rows["mri"]).price
    500.0
    """

    __slots__ = ("_case", "_explore", "_ledger", "_number", "rows")

    def __init__(
        self, ledger: Ledger, number: int, explore: bool, rows: dict[str, int], case: int | None = None
    ) -> None:
        self._case = case
        self._ledger = ledger
        self._number = number
        self._explore = explore
        self.rows = rows

    def check(self, results: Mapping[str, Value]) -> None:
        """Refuse results that a ledger cannot hold.

        Parameters
        ----------
        results
            Values by feature.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> CaseRecorder(Ledger(), 1, True, {}).check({"account": 2**53 + 1})
        Traceback (most recent call last):
            ...
        ValueError: column 'account' holds 9007199254740993, which no float holds exactly; write ...
        """
        from quercus.ledger.values import read_features

        if results:
            read_features(results)

    def ask(self, history: CaseHistory, quote: Quote, asked: bool, withdraw: bool = False) -> None:
        """Write a purchase.

        Parameters
        ----------
        history
            What the case knows.
        quote
            What is bought.
        asked
            Whether the case asked for it; otherwise its probability is unknown.
        withdraw
            Whether it cannot be had, so that it is taken back at once.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> CaseRecorder(ledger, 1, True, {}).ask(CaseHistory(), Quote("mri", 500.0, 0.3), asked=True, withdraw=True)
        >>> ledger.asked, ledger.spent
        (1, 0.0)
        """
        before = history.steps[-1] if history.steps else Step(kind="known")
        row = self._ledger.ask(
            history.values,
            row=self._number - 1,
            covered=self._number,
            price=quote.price,
            worth=quote.worth,
            propensity=1.0 if asked else None,
            explored=asked and self._explore,
            prediction=before.prediction,
            probability=math.nan if before.probability is None else before.probability,
            kind="feature",
            question=quote.item,
            case=self._case,
        )
        if withdraw:
            self._ledger.withdraw(row)
        else:
            self.rows[quote.item] = row

    def record_answers(self, history: CaseHistory, step: Step) -> None:
        """Write the answers of the purchases whose last result comes with a step.

        Parameters
        ----------
        history
            What the case knew before it.
        step
            The step.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> CaseRecorder(Ledger(), 1, True, {}).record_answers(CaseHistory(), Step(kind="known"))
        """
        bought = dict.fromkeys(step.features, step.item) if step.kind == "bought" else {}
        items = {feature: item for feature, item in {**history.waiting, **bought}.items() if item is not None}
        values = {**history.values, **step.results}
        for item in dict.fromkeys(items[feature] for feature in step.results if feature in items):
            features = step.features if item == step.item else history.features_of(item)
            if all(feature in values for feature in features):
                self._answer(item, {feature: values[feature] for feature in features})

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep all that is written in a block, or nothing."""
        before = dict(self.rows)
        try:
            with self._ledger.together():
                yield
        except BaseException:
            self.rows = before
            raise

    def keep(self, state: Mapping[str, Any]) -> None:
        """Keep what the case knows, where the ledger keeps it.

        Parameters
        ----------
        state
            As plain JSON.
        """
        if self._case is not None:
            self._ledger.keep_case(self._case, state)

    def close(self, history: CaseHistory) -> None:
        """Give up, without a refund, what is still waited for.

        Parameters
        ----------
        history
            Of the case that is closed.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> CaseRecorder(Ledger(), 1, True, {}).close(CaseHistory())
        """
        with self.together():
            for item in dict.fromkeys(history.waiting.values()):
                self._ledger.expire_one(self.rows[item])
            if self._case is not None:
                self._ledger.keep_case(self._case, closed=True)

    def _answer(self, item: str, results: dict[str, Value]) -> None:
        from quercus.ledger.values import read_features, to_json

        if all(value is None for value in results.values()):
            self._ledger.expire_one(self.rows[item])
        elif list(results) == [item]:
            self._ledger.answer(self.rows[item], results[item])
        else:
            self._ledger.answer(self.rows[item], to_json(read_features(results)))
