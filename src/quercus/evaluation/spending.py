"""Accuracy against the price of features: a learner that buys them at several settings, beside simpler ways.

These are the same features for every row, and learners that read all of them.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.buying import prices_of
from quercus.evaluation.drivers import drive
from quercus.evaluation.fixed import BestFeatures
from quercus.evaluation.frames import columns_of, make_frame
from quercus.evaluation.money import Loss
from quercus.evaluation.run import Run
from quercus.evaluation.studies import (
    DrawnStudy,
    Trial,
    by_name,
    check_seeds,
    compared,
    fresh,
    mean_and_error,
    run_trials,
)
from quercus.evaluation.words import align, show, show_percent, show_price
from quercus.explain.words import plural

if TYPE_CHECKING:
    from altair import Chart

    from quercus.streams import Stream

SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75)
# What a wrong answer costs, in median prices.
WORTHS = (5, 10, 20, 50, 100, 200, 500, 2000)
COUNTS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)
BEST, BEST_PER_PRICE = "best k", "best k per price"
# Which parameter, rival or way to choose features; its value, None for a rival; the seed.
Key = tuple[str, Any, int]


def feature_frontier(
    data: Any,
    learner: Any,
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    rivals: Any = None,
    best: Iterable[int] | None = None,
    seeds: Iterable[int] = range(5),
    shuffle: bool = True,
    rows: int | None = None,
    loss: Loss | None = None,
    warm_up: int = 0,
    progress: bool | None = None,
) -> FeatureFrontier:
    """Measure how accurate a learner that buys features gets for how much money.

    Every value of every parameter is a fresh run on the same rows; a generator gives other rows with each seed, other
    data comes in another order. Rivals read all features, and are taken to pay for them. The best k features are the
    same for every row: see `BestFeatures`; the rows that they are chosen by are bought whole, unless they are warm-up.

    Parameters
    ----------
    data, learner
        As for `evaluate`; the learner buys features, as `UtilityTree` does, and is not trained itself.
    vary
        By parameter of the learner its values, a line each. None: ``budget``, from the cheapest feature to the price
        of all, and ``worth`` from 5 to 2,000 median prices for a wrong answer.
    rivals
        A dict of learners by name, a list, or a single one. None: `ConfidenceTree`, `HoeffdingTree` and, if river is
        installed, its ExtremelyFastDecisionTreeClassifier.
    best
        How many features (or groups) that are not free to buy of every row, the best by information gain and, where
        prices differ, by gain per price. None: 1, 2, 3, 5, 8, ... up to all; ``()``: none.
    seeds
        One run of everything for each.
    shuffle
        Whether data that is no generator is put into another order with each seed.
    rows, loss, warm_up, progress
        As for `evaluate`.

    Returns
    -------
    FeatureFrontier
        Accuracy and cost per row of each setting and rival, with standard errors.

    Examples
    --------
    >>> import quercus as qc
    >>> stream = qc.streams.SEA(rows=1000)
    >>> found = feature_frontier(stream, qc.UtilityTree(), vary={"budget": [1, 3]}, rivals={}, seeds=range(2))
    >>> [(point["line"], point["value"]) for point in found.points()]
    [('budget', 1), ('budget', 3), ('best k', 1), ('best k', 2), ('best k', 3)]
    >>> bool((found.values("cost_per_row", "budget")[0] <= 1).all())
    True
    """
    from quercus.streams import as_stream

    stream = as_stream(data)
    prices = _check_learner(learner, stream)
    lines = _check_vary(learner, usual_lines(prices) if vary is None else vary)
    nominal = getattr(learner, "nominal", None)
    others = _usual_rivals(nominal, loss) if rivals is None else by_name(rivals) if rivals else {}
    fixed = _check_best(prices, best)
    _check_names(lines, others, fixed)
    trials: dict[tuple[Any, ...], Trial] = {}

    def add(name: str, value: Any, title: str, kind: type, make: Callable[[int], Any]) -> None:
        trials[name, value] = Trial(make, f"{kind.__name__} on {stream.name}: {title}")

    for name, rival in others.items():
        add(name, None, name, type(rival), partial(fresh, rival))
    for name, values in lines.items():
        for value in values:
            make = partial(_with_setting, learner, {name: value})
            add(name, value, f"{name} {show_value(value)}", type(learner), make)
    for name, counts in fixed.items():
        options = {"per_price": name == BEST_PER_PRICE, "names": list(stream.feature_names)}
        for count in counts:
            add(name, count, f"{name}, {count}", BestFeatures, partial(_best_features, learner, count, options))

    collect = partial(FeatureFrontier, lines, tuple(others), full_price=math.fsum(prices), fixed=fixed)
    given = {"rows": rows, "loss": loss, "warm_up": warm_up, "progress": progress}
    return run_trials(stream, trials, check_seeds(seeds), collect, shuffle, **given)


@dataclass(frozen=True, eq=False, repr=False)
class FeatureFrontier(DrawnStudy):
    """What `feature_frontier` measured.

    Attributes
    ----------
    vary
        The parameters and their values.
    rivals
        Names of the learners that read all features; the first is the one that others are compared with.
    seeds
        One run of each for each.
    runs
        The runs by (parameter, value, seed), without learners; those of rivals by (name, None, seed), those of the
        best features by (name, how many, seed).
    full_price
        What all features of a row cost.
    fixed
        How many features were bought of every row, the best by information gain, by the way they were chosen.

    Examples
    --------
    >>> import quercus as qc
    >>> from quercus.evaluation import feature_frontier
    >>> found = feature_frontier(qc.streams.SEA(rows=500), qc.UtilityTree(), vary={"budget": [1]}, seeds=[0])
    >>> found.full_price, found.rivals[0]
    (3.0, 'ConfidenceTree')
    """

    vary: Mapping[str, tuple[Any, ...]]
    rivals: tuple[str, ...]
    seeds: tuple[int, ...]
    runs: Mapping[Key, Run]
    full_price: float
    fixed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def lines(self) -> dict[str, tuple[Any, ...]]:
        """All that was measured, by name, each with its values; None is that of a rival."""
        return {**dict.fromkeys(self.rivals, (None,)), **self.vary, **self.fixed}

    def values(self, metric: str, line: str) -> NDArray[np.float64]:
        """Return a figure of the runs of a parameter or a rival, by value and seed.

        Parameters
        ----------
        metric
            Name of a number of `Run`, such as "accuracy", "cost_per_row" or "loss_per_row". A rival that does not
            buy has paid for all features.
        line
            A parameter, a rival, or a way to choose features.
        """
        found = [
            [self._figure(self.runs[line, value, seed], metric) for seed in self.seeds] for value in self.lines[line]
        ]
        return np.array(found, np.float64)

    def _figure(self, run: Run, metric: str) -> float:
        if run.cost is None and metric in ("cost", "cost_per_row", "bought_per_row"):
            whole = {"cost": self.full_price * run.rows, "cost_per_row": self.full_price}
            return whole.get(metric, float(len(run.features)))
        return float(getattr(run, metric))

    def points(self) -> list[dict[str, Any]]:
        """Return a line per rival, per value of each parameter and per number of best features.

        ``cost``, ``bought``, ``accuracy`` and ``loss`` are means over seeds, each for a row, with the standard errors
        of cost and accuracy; ``difference`` and ``difference_error`` are those of the accuracy to the first rival,
        seed by seed; NaN without rivals.
        """
        first = self.values("accuracy", self.rivals[0])[0] if self.rivals else np.full(len(self.seeds), np.nan)
        metrics = ("cost_per_row", "bought_per_row", "accuracy", "loss_per_row", "balanced_accuracy")
        lines = []
        for line, settings in self.lines.items():
            found = zip(settings, *(self.values(metric, line) for metric in metrics), strict=True)
            for value, cost, bought, right, loss, balanced in found:
                paid, paid_error = mean_and_error(cost)
                figures = compared(right, first)
                lines.append(
                    {
                        "line": line,
                        "value": value,
                        "cost": paid,
                        "cost_error": paid_error,
                        "bought": float(bought.mean()),
                        "accuracy": figures.pop("mean"),
                        "error": figures.pop("error"),
                        "loss": float(loss.mean()),
                        **figures,
                        "balanced_accuracy": float(balanced.mean()),
                    }
                )
        return lines

    @property
    def majority(self) -> float:
        """Mean accuracy of always answering the most frequent label so far, which costs nothing."""
        return float(np.mean([run.majority_accuracy for run in self.runs.values()]))

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return `points` as a data frame.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow".
        """
        columns = columns_of(self.points())
        # Values may be of several kinds, which a column may not.
        columns["value"] = [None if value is None else show_value(value) for value in columns["value"]]
        return make_frame(columns, backend)

    def table(self) -> str:
        """Return cost and accuracy of everything as plain text."""
        first = self.first
        head = (
            f"{first.learner_name} on {first.stream}: {plural(first.rows, 'row')}, "
            f"{plural(len(self.seeds), 'seed')}; all {plural(len(first.features), 'feature')} of a row cost "
            f"{show_price(self.full_price)}; majority so far {show(self.majority)}, for nothing"
        )
        losses = ["loss per row"] if first.loss else []
        versus = [f"to {self.rivals[0]}", "± s.e."] if self.rivals else []
        rare = ["balanced"] if first.imbalanced else []
        columns = ["cost per row", "± s.e.", "of all", "features", *rare, "accuracy", "± s.e.", *losses, *versus]
        lines: list[list[str]] = []
        last = None
        for point in self.points():
            kind = "rivals" if point["line"] in self.rivals else point["line"]
            if kind != last:
                lines += [[""]] if lines else []
                lines.append([kind, *columns])
                last = kind
            lines.append(self._table_line(point, bool(losses), bool(rare)))
        return f"{head}\n\n{align(lines)}"

    def _table_line(self, point: Mapping[str, Any], with_loss: bool, is_rare: bool) -> list[str]:
        is_rival = point["line"] in self.rivals
        name = point["line"] if is_rival else show_value(point["value"])
        share = point["cost"] / self.full_price if self.full_price else None
        cells = [f"  {name}", show_price(point["cost"]), show(point["cost_error"], 3), show_percent(share)]
        cells += [show(point["bought"], 2), *([show(point["balanced_accuracy"])] if is_rare else [])]
        cells += [show(point["accuracy"]), show(point["error"])]
        cells += [show_price(point["loss"])] if with_loss else []
        if self.rivals and point["line"] != self.rivals[0]:
            cells += [f"{point['difference']:+.4f}", show(point["difference_error"])]
        return cells

    @property
    def first(self) -> Run:
        """The first run of the learner that buys."""
        name, values = next(iter(self.vary.items()))
        return self.runs[name, values[0], self.seeds[0]]

    def _draw(self) -> Chart:
        """Draw accuracy against cost per row, a line per parameter and way to choose features, a mark per rival."""
        from quercus.evaluation.frontier_charts import draw_spending

        return draw_spending(self)

    def __repr__(self) -> str:
        count = sum(map(len, self.vary.values()))
        return f"FeatureFrontier({', '.join(self.vary)}; {count} settings, {len(self.seeds)} seeds)"


def _with_setting(learner: Any, setting: dict[str, Any], seed: int) -> Any:
    return fresh(learner, seed).set_params(**setting)


def _best_features(learner: Any, count: int, options: dict[str, Any], seed: int) -> BestFeatures:
    return BestFeatures(fresh(learner, seed), count, **options)


def _usual_rivals(nominal: Collection[Any] | None = None, loss: Loss | None = None) -> dict[str, Any]:
    """Return learners that read all features of every row, by name; river's knows no loss."""
    from quercus.learners.incremental.confidence import ConfidenceTree
    from quercus.learners.incremental.hoeffding import HoeffdingTree

    found: dict[str, Any] = {
        "ConfidenceTree": ConfidenceTree(loss=loss, nominal=nominal),
        "HoeffdingTree": HoeffdingTree(loss=loss, nominal=nominal),
    }
    if importlib.util.find_spec("river") is not None:
        from river.tree import ExtremelyFastDecisionTreeClassifier

        found["river EFDT"] = ExtremelyFastDecisionTreeClassifier(nominal_attributes=list(nominal) if nominal else None)
    return found


def _check_learner(learner: Any, stream: Stream) -> list[float]:
    """Refuse a learner that does not buy, and prices that do not fit; return the prices."""
    drive(learner, stream)
    if not hasattr(learner, "buy_and_learn"):
        name = type(learner).__name__
        raise TypeError(f"{name} does not buy features; give a learner that does, such as UtilityTree(costs=...).")
    return prices_of(learner, stream.feature_names)


def usual_lines(prices: Sequence[float]) -> dict[str, Sequence[Any]]:
    """Return what `feature_frontier` varies: shares of the price of all features, and what a wrong answer may cost."""
    paid = [price for price in prices if price]
    if not paid:
        return {"worth": WORTHS}
    whole, least, middle = math.fsum(paid), min(paid), median(paid)
    shares = [float(f"{share * whole:.3g}") for share in SHARES]
    worths = [float(f"{worth * middle:.3g}") for worth in WORTHS]
    return {"budget": [least, *(b for b in shares if least < b < whole), whole], "worth": worths}


def _check_vary(learner: Any, vary: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, ...]]:
    takes = list(learner.get_params(deep=False))
    for name, values in vary.items():
        if name not in takes:
            raise ValueError(f"vary names {name!r}; {type(learner).__name__} takes {', '.join(takes)}.")
        listed = list(values)
        if not listed or len(set(listed)) < len(listed):
            raise ValueError(f"vary[{name!r}] is {listed!r}; give values that differ.")
    if not vary:
        raise ValueError("vary is empty; give at least one parameter and its values, such as {'budget': [1, 5]}.")
    return {name: tuple(values) for name, values in vary.items()}


def _check_best(prices: Sequence[float], best: Iterable[int] | None) -> dict[str, tuple[int, ...]]:
    """Return the numbers of features to choose for each way of choosing them, or say what is wrong with these."""
    paid = [price for price in prices if price]
    most = len(paid)
    counts = [*(count for count in COUNTS if count < most), most] if best is None and most else list(best or ())
    wrong = [count for count in counts if isinstance(count, bool) or not hasattr(count, "__index__")]
    if wrong or len(set(counts)) < len(counts) or any(not 1 <= count <= most for count in counts):
        raise ValueError(f"best is {counts!r}; give whole numbers from 1 to {most} that differ.")
    rankings = (BEST, BEST_PER_PRICE) if len(set(paid)) > 1 else (BEST,)
    return {ranking: tuple(int(count) for count in counts) for ranking in rankings} if counts else {}


def _check_names(lines: Mapping[str, Any], rivals: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
    both = [name for name in rivals if name in lines]
    if both:
        raise ValueError(f"{both[0]!r} is a rival and a parameter that varies; give the rival another name.")
    taken = [name for name in rivals if name in fixed]
    if taken:
        raise ValueError(f"{taken[0]!r} is what the best features are called; give the rival another name.")


def show_value(value: Any) -> str:
    """Write the value of a parameter."""
    return f"{value:g}" if isinstance(value, float) else str(value)
