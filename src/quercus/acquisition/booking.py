"""How a case keeps a ledger: a row for each purchase, with its price, its worth and its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.steps import Step, Value

if TYPE_CHECKING:
    from quercus.ledger import Ledger


class Booking:
    """The rows of one case in a ledger, or none.

    A group is one row; its answer is the JSON text of its results, written when all of them are there. A purchase that
    came back without any result, or whose results have not come when the case is closed, is given up without a refund.

    Parameters
    ----------
    ledger
        Where to; None: nothing is written.
    number
        Of the case, which counts as its row of the stream.
    explore
        Whether the case explores.
    rows
        Ids of the questions, by item.

    Examples
    --------
    >>> from quercus.ledger import Ledger
    >>> ledger = Ledger()
    >>> booking = Booking(ledger, 1, True, {})
    >>> booking.ask(Notes(), Offer("mri", 500.0, 0.3), asked=True)
    >>> ledger.question(booking.rows["mri"]).price
    500.0
    """

    __slots__ = ("_explore", "_number", "ledger", "rows")

    def __init__(self, ledger: Ledger | None, number: int, explore: bool, rows: dict[str, int]) -> None:
        self.ledger = ledger
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
        >>> Booking(Ledger(), 1, True, {}).check({"account": 2**53 + 1})
        Traceback (most recent call last):
            ...
        ValueError: column 'account' holds 9007199254740993, which no float holds exactly; write ...
        """
        if self.ledger is not None and results:
            from quercus.ledger.values import read_features

            read_features(results)

    def ask(self, notes: Notes, offer: Offer, asked: bool, withdraw: bool = False) -> None:
        """Write a purchase.

        Parameters
        ----------
        notes
            What the case knows.
        offer
            What is bought.
        asked
            Whether the case asked for it; otherwise its probability is unknown.
        withdraw
            Whether it cannot be had, so that it is taken back at once.

        Examples
        --------
        >>> from quercus.ledger import Ledger
        >>> ledger = Ledger()
        >>> Booking(ledger, 1, True, {}).ask(Notes(), Offer("mri", 500.0, 0.3), asked=True, withdraw=True)
        >>> ledger.asked, ledger.spent
        (1, 0.0)
        """
        if self.ledger is None:
            return
        before = notes.steps[-1] if notes.steps else Step(kind="known")
        row = self.ledger.ask(
            notes.values,
            row=self._number,
            covered=self._number,
            price=offer.price,
            worth=offer.worth,
            propensity=1.0 if asked else None,
            explored=asked and self._explore,
            prediction=before.prediction,
            probability=float("nan") if before.probability is None else before.probability,
            kind="feature",
            question=offer.item,
        )
        if withdraw:
            self.ledger.withdraw(row)
        else:
            self.rows[offer.item] = row

    def settle(self, notes: Notes, step: Step) -> None:
        """Write the answers of the purchases whose last result comes with a step.

        Parameters
        ----------
        notes
            What the case knew before it.
        step
            The step.

        Examples
        --------
        >>> Booking(None, 1, True, {}).settle(Notes(), Step(kind="known"))
        """
        if self.ledger is None:
            return
        bought = dict.fromkeys(step.features, step.item) if step.kind == "bought" else {}
        items = {feature: item for feature, item in {**notes.waiting, **bought}.items() if item is not None}
        values = {**notes.values, **step.results}
        for item in dict.fromkeys(items[feature] for feature in step.results if feature in items):
            features = step.features if item == step.item else notes.features_of(item)
            if all(feature in values for feature in features):
                self._answer(item, {feature: values[feature] for feature in features})

    def close(self, notes: Notes) -> None:
        """Give up, without a refund, what is still waited for.

        Parameters
        ----------
        notes
            Of the case that is closed.

        Examples
        --------
        >>> Booking(None, 1, True, {}).close(Notes())
        """
        if self.ledger is not None:
            for item in dict.fromkeys(notes.waiting.values()):
                self.ledger.expire_one(self.rows[item])

    def _answer(self, item: str, results: dict[str, Value]) -> None:
        from quercus.ledger.values import read_features, to_json

        assert self.ledger is not None
        if all(value is None for value in results.values()):
            self.ledger.expire_one(self.rows[item])
        elif list(results) == [item]:
            self.ledger.answer(self.rows[item], results[item])
        else:
            self.ledger.answer(self.rows[item], to_json(read_features(results)))
