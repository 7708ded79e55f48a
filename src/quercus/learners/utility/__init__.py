"""Utility tree: nothing of an example is known at first, and every feature is bought only while it is worth its price.

Rahbar, Ye, Chen & Haghir Chehreghani, "Efficient Online Decision Tree Learning with Active Feature Acquisition", IJCAI
2023. Departures: features of many values and bins from the stream, a learned prior, information gain, and stopping
when nothing more is worth its price; prices, groups, budgets and losses. `UtilityTree.paper()` is the published form.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from quercus.acquisition.buyer import FeatureBuyer
from quercus.learners.utility.beliefs import learn_beliefs, read_beliefs
from quercus.learners.utility.engine import UtilityEngine, find_ranges
from quercus.learners.utility.state import UtilityState
from quercus.schema import Schema


class UtilityTree(FeatureBuyer):
    """Classifier that buys the features of each example one by one, the one of largest expected gain per price first.

    It learns P(feature | class) from what was bought, asks by a sample of these probabilities while it learns, and by
    their mean when it predicts. At its best where features cost money and a few of them tell the class; features that
    tell the class only together (XOR) need ``lookahead=2``.

    Parameters
    ----------
    objective
        What a question is worth: ``"ig"`` information gain, ``"us"`` entropy of the answer, ``"ec2"`` pairs of
        hypotheses cut, ``"eced"`` the same for noisy answers, ``"random"``.
    costs, groups, requires
        Prices by feature or group (1 where nothing is given), features that are bought together, and what must have
        been bought before what.
    budget, total
        The most that one case, and that all of them together, may cost; None: no limit.
    refer
        Where the best answer is expected to cost more than this, the answer is `quercus.REFER`.
    worth
        What a loss of 1, with no ``loss`` given a wrong answer, costs in the unit of the prices. A case stops when no
        further purchases are expected to save more than they cost. ``"auto"``: 200 times the median price, for the
        largest loss; None: that does not matter.
    confidence
        A case stops when its answer is this sure; None: never.
    gain
        Nothing is bought for a smaller score than this, at the median price; dearer items need more in proportion.
    numeric
        How numbers are asked about: ``"quantiles"``, as bins drawn from the stream; ``"thresholds"``, by the best of
        nine edges; ``"exp3"``, by an edge that is drawn.
    bins
        The most bins of a numeric feature.
    ranges
        Where the thresholds of a feature begin and end: ``{"age": (0, 100)}``; by default, found from 16 values.
    prior
        Weight of the prior of P(feature | class), spread over the bins of the feature.
    classes
        P(class): ``"learned"`` or ``"uniform"``.
    hypotheses
        Rows that might be, of which so many are made: a case stops when all that agree with what is known have the same
        answer. None: 500 for ``"ec2"``, which scores by them, and none for the others.
    lookahead
        2: also pairs of features are considered, of the first 64 (``objective="ig"`` only).
    select
        A case buys only among so many items that are not free: those of largest score per price when nothing is known,
        now and then others while it learns. None: among all.
    forget
        Share of what is known that is forgotten with every example, to follow changes.
    loss
        What wrong answers cost: ``{true label: {answer: cost}}``; 1 where nothing is given.
    nominal
        Names or positions of columns that hold categories although they look like numbers.
    features
        ``"closed"``: features that were not in the first example are refused; ``"open"``: they are added.
    max_bytes
        Limit for the memory of the tree; a category, feature or class that no longer fits raises MemoryError.
    seed
        Of the random generator; None for a fresh one.

    Attributes
    ----------
    classes_
        Labels seen so far, sorted.
    spent_
        What all cases have cost.

    Notes
    -----
    What is asked and learned, exactly, is in ``docs/utility.md``; how a case runs in ``docs/inquiry.md``.

    References
    ----------
    A. Rahbar, Z. Ye, Y. Chen, M. Haghir Chehreghani: Efficient Online Decision Tree Learning with Active Feature
    Acquisition. IJCAI, 2023.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(3_000)
    >>> tree = qc.UtilityTree(seed=7)
    >>> bought = tree.buy_and_learn(X[:2_000], y[:2_000])
    >>> later = tree.purchases(X[2_000:])
    >>> round(float((later.answers == y[2_000:]).mean()), 3), round(float(later.cost.mean()), 2)
    (0.882, 1.67)
    """

    engine = UtilityEngine()
    changeable = FeatureBuyer.changeable | {
        *("objective", "classes", "hypotheses", "lookahead", "select", "confidence", "gain", "worth", "prior"),
        *("forget", "ranges"),
    }
    _state: UtilityState

    def __init__(
        self,
        *,
        objective: str = "ig",
        costs: Mapping[str, float] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
        requires: Mapping[str, Sequence[str]] | None = None,
        budget: float | None = None,
        total: float | None = None,
        refer: float | None = None,
        worth: float | str | None = "auto",
        confidence: float | None = None,
        gain: float = 0.0,
        numeric: str = "quantiles",
        bins: int = 8,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        prior: float = 2.0,
        classes: str = "learned",
        hypotheses: int | None = None,
        lookahead: int = 1,
        select: int | None = None,
        forget: float = 0.0,
        loss: Mapping[Any, Mapping[Any, float]] | None = None,
        nominal: Collection[str | int] | None = None,
        features: str = "closed",
        max_bytes: int = 2**28,
        seed: int | None = 0,
    ) -> None:
        self.objective = objective
        self.costs = costs
        self.groups = groups
        self.requires = requires
        self.budget = budget
        self.total = total
        self.refer = refer
        self.worth = worth
        self.confidence = confidence
        self.gain = gain
        self.numeric = numeric
        self.bins = bins
        self.ranges = ranges
        self.prior = prior
        self.classes = classes
        self.hypotheses = hypotheses
        self.lookahead = lookahead
        self.select = select
        self.forget = forget
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.max_bytes = max_bytes
        self.seed = seed

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the published settings: "ec2" over thresholds, an even prior, stopping when one region is left.

        Parameters
        ----------
        changes
            Arguments that are to differ.

        Examples
        --------
        >>> UtilityTree.paper(hypotheses=95)
        UtilityTree(classes='uniform', hypotheses=95, numeric='thresholds',
                    objective='ec2', worth=None)
        """
        published = {
            "objective": "ec2",
            "numeric": "thresholds",
            "classes": "uniform",
            "worth": None,
            "hypotheses": 500,
        }
        return cls(**(published | changes))

    def add_prior(self, table: Any = None, weight: float | None = 10.0, *, classes: Any = None) -> Self:
        """Take over what an expert knows: how often values are found in a class, and how frequent classes are.

        It counts beside what is learned, before and after; `fit` forgets both. A model that has learned nothing has
        then the features that are named here and in ``costs``, ``groups``, ``requires`` and ``nominal``.

        Parameters
        ----------
        table
            ``{feature: {label: {value: number}}}``; the numbers are shares, percentages or counts.
        weight
            How many examples each feature of each label, and the classes together, count for; None: numbers are counts
            as they stand.
        classes
            ``{label: number}``: how frequent labels are.

        Examples
        --------
        >>> from quercus import UtilityTree
        >>> model = UtilityTree(costs={"fever": 1, "x-ray": 40})
        >>> table = {
        ...     "fever": {"flu": {"yes": 0.9, "no": 0.1}, "cold": {"yes": 0.2, "no": 0.8}},
        ...     "x-ray": {"flu": {"clear": 0.95, "spots": 0.05}, "cold": {"clear": 0.99, "spots": 0.01}},
        ... }
        >>> case = model.add_prior(table, classes={"flu": 1, "cold": 4}).open(explore=False)
        >>> case.question
        'fever'
        >>> case.answer("no")
        >>> case.prediction, case.question
        ('cold', None)
        """
        with self._learning():
            known = self._is_fitted()
            if known and self._is_changed:
                self._check_changes()
            schema = copy.deepcopy(self.schema_) if known else self._new_schema()
            named = table if isinstance(table, Mapping) else ()
            names = list(dict.fromkeys([*(schema.names if known else self._all_prices.names), *named]))
            if not names:
                raise ValueError(
                    "the model knows no features; name them in the table or in costs, or fit it on history first."
                )
            beliefs = read_beliefs(schema, names, table, classes, weight)
            self._check_names_fit(names)
            state = self._state.copy() if known else self.engine.new_state(self, len(names), 0)
            learn_beliefs(state, self.forget, schema.kinds, find_ranges(self.ranges, schema.names), beliefs)
            self._own_gate.alone(self._take_over, schema, state)
        return self

    def believe(self, table: Any = None, weight: float | None = 10.0, *, classes: Any = None) -> Self:
        """Do what `add_prior` does: its former name, for one more release."""
        warnings.warn("UtilityTree.believe is now called add_prior.", DeprecationWarning, stacklevel=2)
        return self.add_prior(table, weight, classes=classes)

    def _take_over(self, schema: Schema, state: UtilityState) -> None:
        """Go on with another state."""
        is_new = not self._is_fitted()
        self.schema_, self._state = schema, state
        if is_new:
            self._begin_learning()
        self._record_schema()
