"""What accuracy costs in features: the figures of `feature_frontier`, its table and its frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.bought import show_price
from quercus.evaluation.frames import columns_of, make_frame
from quercus.evaluation.run import Run
from quercus.evaluation.studies import DrawnStudy, compared, mean_and_error
from quercus.evaluation.words import align, show, show_percent
from quercus.explain.words import plural

if TYPE_CHECKING:
    from altair import Chart

# Which parameter, rival or way to choose features; its value, None for a rival; the seed.
Key = tuple[str, Any, int]


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
        lines = []
        for line, settings in self.lines.items():
            metrics = ("cost_per_row", "bought_per_row", "accuracy", "loss_per_row", "balanced_accuracy")
            cost, bought, right, loss, balanced = (self.values(metric, line) for metric in metrics)
            for place, value in enumerate(settings):
                paid, paid_error = mean_and_error(cost[place])
                figures = compared(right[place], first)
                lines.append(
                    {
                        "line": line,
                        "value": value,
                        "cost": paid,
                        "cost_error": paid_error,
                        "bought": float(bought[place].mean()),
                        "accuracy": figures["mean"],
                        "error": figures["error"],
                        "loss": float(loss[place].mean()),
                        "difference": figures["difference"],
                        "difference_error": figures["difference_error"],
                        "balanced_accuracy": float(balanced[place].mean()),
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


def show_value(value: Any) -> str:
    """Write the value of a parameter."""
    return f"{value:g}" if isinstance(value, float) else str(value)
