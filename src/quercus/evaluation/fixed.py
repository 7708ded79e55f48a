"""The same features for every row: what planning case by case has to be better than."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import check_whole
from quercus.evaluation.drivers import Answers
from quercus.streams.batches import Chunk, cut, join, with_names

if TYPE_CHECKING:
    from quercus.acquisition import Prices

LOOK = 100
# Numbers are cut into so many parts of equal size.
_BINS = 4


class BestFeatures:
    """A learner that buys features, made to buy the same ones of every row: the best by information gain.

    All features of the first rows are bought, to choose by; from then on the chosen ones, and nothing else. It learns
    and answers as the learner does, with the first rows learned by the chosen features, too.

    Parameters
    ----------
    learner
        Such as `UtilityTree`, with its prices; it is copied and not trained.
    count
        How many features or groups to choose that are not free. What is free is taken anyhow, and what the chosen ones
        require.
    look
        Rows to choose by.
    per_price
        Choose by gain per price.
    names
        Names of the columns, if rows come as arrays; None: x0, x1, ...

    Attributes
    ----------
    chosen_
        Names of the features or groups that were chosen.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(2_000)
    >>> best = BestFeatures(qc.UtilityTree(costs={"x0": 3}), 2)
    >>> purchases = best.buy_and_learn(X, y)
    >>> best.chosen_, float(purchases.cost[99]), float(purchases.cost[100])
    (['x0', 'x1'], 5.0, 4.0)
    """

    def __init__(
        self, learner: Any, count: int, *, look: int = LOOK, per_price: bool = False, names: list[str] | None = None
    ) -> None:
        check_whole("count", count)
        check_whole("look", look)
        self.learner = learner
        self.count = count
        self.look = look
        self.per_price = per_price
        self.names = names
        self.costs, self.groups, self.requires = (learner.costs, learner.groups, learner.requires)
        self.chosen_: list[str] | None = None
        self.schema_: Any = None
        self._seen: list[Chunk] = []
        self._places: list[int] = []

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels seen so far, sorted."""
        classes: NDArray[Any] = self._model.classes_
        return classes

    def buy_and_learn(self, X: Any, y: Any) -> Any:
        """Buy the same of every row, answer, and learn; return answers, probabilities, costs and what was bought."""
        from quercus.acquisition.rows import Purchases

        given, cost, bought = self._step(X, y)
        said = np.array([*given.classes, None], object)[given.answers]
        order = [given.classes.index(label) for label in self.classes_.tolist()]
        return Purchases(said, np.asarray(given.proba)[:, order], cost, bought)

    def test_then_learn(self, X: Any, y: Any) -> Answers:
        """Answer each row, then learn it, as `buy_and_learn` does; return the answers by class ids."""
        return self._step(X, y)[0]

    def purchases(self, X: Any) -> Any:
        """Return answers by the chosen features, what they cost, and which they are."""
        purchases = self._model.purchases(self._pick(X))
        cost, bought = self._spending(len(X))
        return purchases._replace(cost=cost, bought=bought)

    def _step(self, X: Any, y: Any) -> tuple[Answers, NDArray[np.float64], NDArray[np.bool]]:
        y = np.asarray(y)
        if self.schema_ is None:
            self._begin(X)
        left = self.look - sum(len(part) for _, part in self._seen)
        cuts = [0, left, len(y)] if self.chosen_ is None and 0 < left < len(y) else [0, len(y)]
        given, spent = [], []
        for start, stop in pairwise(cuts):
            part, labels = cut(X, start, stop), y[start:stop]
            spent.append(self._spending(len(labels)))
            given.append(self._model.test_then_learn(self._pick(part), labels))
            self._record(part, labels)
        classes = list(given[-1].classes)
        # Labels may be new in the second part.
        proba = [np.pad(one.proba, ((0, 0), (0, len(classes) - one.proba.shape[1]))) for one in given]
        truth, answers = (np.concatenate([one[place] for one in given]) for place in (0, 1))
        cost, bought = (np.concatenate(column) for column in zip(*spent, strict=True))
        return Answers(truth, answers, np.concatenate(proba), classes), cost, bought

    def _begin(self, X: Any) -> None:
        names = self.names or [f"x{j}" for j in range(X.shape[1])]
        if not isinstance(X, np.ndarray):
            names = list(_frame(X).columns)
        from quercus.acquisition import Prices

        self._prices = Prices(names, self.costs, self.groups, self.requires)
        self._choose(list(range(len(self._prices.items))))

    def _choose(self, items: list[int]) -> None:
        """Go on with a new learner that has all features of these items for nothing."""
        from sklearn.base import clone

        names = self._prices.names
        self._items = items
        self._places = sorted(place for item in items for place in self._prices.members[item])
        kept = [names[place] for place in self._places]
        nominal = [one if isinstance(one, str) else names[one] for one in self.learner.nominal or ()]
        free: dict[str, Any] = {"costs": dict.fromkeys(kept, 0.0), "nominal": [one for one in nominal if one in kept]}
        free |= dict.fromkeys(("groups", "requires", "budget", "total", "refer"))
        if getattr(self.learner, "ranges", None):
            free["ranges"] = {name: ends for name, ends in self.learner.ranges.items() if name in kept}
        self._model = clone(self.learner).set_params(**free)

    def _record(self, X: Any, y: NDArray[Any]) -> None:
        """Keep rows to choose by, and choose once there are enough; later on, take over new labels."""
        if self.chosen_ is not None:
            self.schema_.commit(self.schema_.read_labels(y))
            return
        self.schema_ = self._model.schema_
        self._seen.append((X, y))
        if sum(len(part) for _, part in self._seen) < self.look:
            return
        X, y = join(self._seen)
        nominal = [place for place, kind in enumerate(self.schema_.kinds) if kind == "nominal"]
        bits = information(self.schema_.read(X, learn=False).X, y, nominal)
        self._choose(choose_items(self._prices, bits.tolist(), self.count, self.per_price))
        self.chosen_ = [self._prices.items[item] for item in self._items]
        self._seen = []
        self._model.partial_fit(self._pick(X), y)

    def _pick(self, X: Any) -> Any:
        """Return the columns of the chosen features, with their names."""
        kept = [self._prices.names[place] for place in self._places]
        if not isinstance(X, np.ndarray):
            return X if len(kept) == len(self._prices.names) else _frame(X).select(kept).to_native()
        picked = X[:, self._places]
        return picked if kept == [f"x{j}" for j in range(len(kept))] else with_names(picked, kept)

    def _spending(self, rows: int) -> tuple[NDArray[np.float64], NDArray[np.bool]]:
        bought = np.zeros(len(self._prices.names), np.bool)
        bought[self._places] = True
        cost = sum(self._prices.costs[item] for item in self._items)
        return np.full(rows, cost), np.tile(bought, (rows, 1))


def _frame(X: Any) -> Any:
    import narwhals as nw

    return nw.from_native(X, eager_only=True)


def information(X: NDArray[np.float64], y: NDArray[Any], nominal: Collection[int] = ()) -> NDArray[np.float64]:
    """Return what each column tells about the label, in bits: its mutual information in these rows.

    Numbers of more than four values are cut into four bins of equally many rows. Missing values tell nothing.
    """
    from sklearn.metrics import mutual_info_score

    bits = np.zeros(X.shape[1])
    for j, column in enumerate(X.T):
        known = ~np.isnan(column)
        values = column[known]
        if len(np.unique(values)) > _BINS and j not in nominal:
            values = np.searchsorted(np.quantile(values, np.arange(1, _BINS) / _BINS), values)
        if len(values):
            # Without the last digits, so that columns that tell the same are equal.
            bits[j] = round(mutual_info_score(values, y[known]) / np.log(2), 12) * known.mean()
    return bits


def choose_items(prices: Prices, bits: Sequence[float], count: int, per_price: bool = False) -> list[int]:
    """Return the items that tell most about the label, what is free among them, and all that these require.

    There may be more than ``count``: items that something else requires count as chosen. A group tells what its
    features tell together, added up.
    """
    worth = [sum(bits[place] for place in places) for places in prices.members]
    paid = [item for item, price in enumerate(prices.costs) if price > 0]
    if per_price:
        worth = [value / price if price else value for value, price in zip(worth, prices.costs, strict=True)]
    chosen = {item for item, price in enumerate(prices.costs) if not price and _reach(prices, item) <= {item}}
    for item in sorted(paid, key=lambda item: (-worth[item], item)):
        if sum(prices.costs[one] > 0 for one in chosen) >= count:
            break
        chosen |= _reach(prices, item)
    # What is free costs nothing once that is there which it requires.
    for item, price in enumerate(prices.costs):
        if not price and _reach(prices, item) <= chosen | {item}:
            chosen.add(item)
    return sorted(chosen)


def _reach(prices: Prices, item: int) -> set[int]:
    """Return an item and all that must be bought before it."""
    found, waiting = set[int](), [item]
    while waiting:
        now = waiting.pop()
        if now not in found:
            found.add(now)
            waiting += prices.needs[now]
    return found
