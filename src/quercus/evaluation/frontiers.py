"""Accuracy against labels paid for: each policy at several budgets, beside asking at random and paying for all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.delays import Delay
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
from quercus.evaluation.words import NOTHING, align, show
from quercus.explain.words import plural

if TYPE_CHECKING:
    from altair import Chart

    from quercus.ask import Policy

BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
ALL = "all labels"

Key = tuple[str, float, int]


def frontier(
    data: Any,
    learner: Any,
    *,
    policies: Any = None,
    budgets: Sequence[float] = BUDGETS,
    seeds: Iterable[int] = range(5),
    shuffle: bool = True,
    rows: int | None = None,
    loss: Loss | None = None,
    delay: Delay = 0,
    warm_up: int = 0,
    progress: bool | None = None,
) -> Frontier:
    """Measure how accurate a learner gets for how many labels, policy by policy.

    Every policy runs at every budget on the same rows, beside `Random` and with all labels; a generator gives other
    rows with each seed, other data comes in another order.

    Parameters
    ----------
    data, learner
        As for `evaluate`; the learner itself is not trained.
    policies
        A dict of them by name, a list, or a single one; their own budgets do not matter. None: `Uncertain`,
        `Confident`.
    budgets
        Shares of the stream such as 0.1, or numbers of labels such as 500.
    seeds
        One run of every policy at every budget for each.
    shuffle
        Whether data that is no generator is put into another order with each seed.
    rows, loss, delay, warm_up, progress
        As for `evaluate`.

    Returns
    -------
    Frontier
        Accuracy by policy and budget, with standard errors, and how many labels asking at random would need.

    Examples
    --------
    >>> import quercus as qc
    >>> stream = qc.streams.SEA(rows=3000)
    >>> found = frontier(stream, qc.HoeffdingTree(), policies=qc.ask.Uncertain(), budgets=[0.05, 0.2], seeds=range(2))
    >>> found.names, found.values("labels").shape
    (('Random', 'Uncertain'), (2, 2, 2))
    """
    from quercus.streams import as_stream

    stream = as_stream(data)
    named, of_learner = _with_random(policies), f"{type(learner).__name__} on {stream.name}"
    trials = {(ALL, 1.0): Trial(partial(fresh, learner), f"{of_learner}: {ALL}")}
    for name, policy in named.items():
        for budget in _check_budgets(budgets):
            title = f"{of_learner}: {name}, budget {budget:g}"
            trials[name, budget] = Trial(partial(fresh, learner), title, policy.with_budget(budget))
    given = {"rows": rows, "loss": loss, "warm_up": warm_up, "progress": progress}

    collect = partial(Frontier, tuple(named), tuple(budgets))
    return run_trials(stream, trials, check_seeds(seeds), collect, shuffle, delay, **given)


@dataclass(frozen=True, eq=False, repr=False)
class Frontier(DrawnStudy):
    """What `frontier` measured.

    Attributes
    ----------
    names
        The policies; the first is `Random`, with which others are compared.
    budgets
        As they were given.
    seeds
        One run for each.
    runs
        The runs by (name, budget, seed), without learners and ledgers; those with all labels by ("all labels", 1.0,
        seed).

    Examples
    --------
    >>> import quercus as qc
    >>> found = frontier(qc.streams.SEA(rows=1000), qc.HoeffdingTree(), budgets=[0.1], seeds=[0])
    >>> list(found.points()[0])[:6]
    ['policy', 'budget', 'labels', 'spent', 'accuracy', 'error']
    """

    names: tuple[str, ...]
    budgets: tuple[float, ...]
    seeds: tuple[int, ...]
    runs: Mapping[Key, Run]

    @property
    def full(self) -> list[Run]:
        """The runs with all labels, by seed."""
        return [self.runs[ALL, 1.0, seed] for seed in self.seeds]

    def values(self, metric: str) -> NDArray[np.float64]:
        """Return a figure of every run by policy, budget and seed.

        Parameters
        ----------
        metric
            Name of a number of `Run`, such as "accuracy", "labels" or "money".
        """
        found = [
            [[getattr(self.runs[name, budget, seed], metric) for seed in self.seeds] for budget in self.budgets]
            for name in self.names
        ]
        return np.array(found, np.float64)

    def points(self) -> list[dict[str, Any]]:
        """Return a line per policy and budget.

        ``labels``, ``spent`` and ``accuracy`` are means over seeds, ``error`` is the standard error of the accuracy;
        ``difference`` and ``difference_error`` are those of the accuracy to `Random`, seed by seed. ``label_ratio`` is
        how many times as many labels `Random` needs for this accuracy, interpolated in the logarithm of labels; NaN if
        fewer than at its smallest budget, infinite if even all labels would not do. ``total_per_row`` is what wrong
        answers (with a ``loss``) and labels cost together.
        """
        names = ("labels", "spent", "accuracy", "balanced_accuracy", "total_per_row")
        values = {name: self.values(name) for name in names}
        accuracy = values["accuracy"]
        needs = self._random_curve(accuracy[0], values["labels"][0])
        lines = []
        for p, b in np.ndindex(accuracy.shape[:2]):
            labels, spent, _, balanced, total = (float(found[p, b].mean()) for found in values.values())
            apart = compared(accuracy[p, b], accuracy[0, b])
            mean = apart.pop("mean")
            lines.append(
                {
                    "policy": self.names[p],
                    "budget": self.budgets[b],
                    "labels": labels,
                    "spent": spent,
                    "accuracy": mean,
                    **apart,
                    "label_ratio": labels_needed(mean, *needs) / max(labels, 1.0) if p else 1.0,
                    "balanced_accuracy": balanced,
                    "total_per_row": total,
                }
            )
        return lines

    def _random_curve(self, accuracy: NDArray[np.float64], labels: NDArray[np.float64]) -> tuple[Any, Any]:
        """Return labels and accuracy of `Random`, with all labels as the last point."""
        used = np.append(labels.mean(axis=1), np.mean([run.rows for run in self.full]))
        right = np.append(accuracy.mean(axis=1), np.mean([run.accuracy for run in self.full]))
        order = np.argsort(used, kind="stable")
        return used[order], right[order]

    def table(self) -> str:
        """Return accuracy by policy and budget as plain text.

        Where classes are imbalanced, balanced accuracy stands before it; with a ``loss``, what a row cost altogether.
        """
        mean, error = mean_and_error(np.array([run.accuracy for run in self.full]))
        first = self.full[0]
        head = (
            f"{first.learner_name} on {first.stream}: {plural(first.rows, 'row')}, {plural(len(self.seeds), 'seed')}; "
            f"accuracy with all labels {show(mean)} ± {show(error)}"
        )
        more = {"balanced": "balanced_accuracy"} if any(run.imbalanced for run in self.full) else {}
        more |= {"cost per row": "total_per_row"} if first.loss else {}
        lines: list[list[str]] = []
        for point in self.points():
            name, is_random = point["policy"], point["policy"] == self.names[0]
            if point["budget"] == self.budgets[0]:
                lines += [[""]] if lines else []
                versus = [] if is_random else [f"to {self.names[0]}", "± s.e.", f"{self.names[0]} needs"]
                lines.append([name, "labels", *more, "accuracy", "± s.e.", *versus])
            apart = [] if is_random else [f"{point['difference']:+.4f}", show(point["difference_error"])]
            ratio = [] if is_random else [_show_ratio(point["label_ratio"], first.rows / max(point["labels"], 1.0))]
            budget = f"  {_show_budget(point['budget'])}"
            figures = [show(point["accuracy"]), show(point["error"])]
            cells = [show(point[name]) for name in more.values()]
            lines.append([budget, f"{point['labels']:,.0f}", *cells, *figures, *apart, *ratio])
        return f"{head}\n\n{align(lines)}"

    def _draw(self) -> Chart:
        """Draw accuracy against labels, a line per policy."""
        from quercus.evaluation.frontier_charts import draw_frontier

        return draw_frontier(self)

    def __repr__(self) -> str:
        return f"Frontier({', '.join(self.names)}; {len(self.budgets)} budgets, {len(self.seeds)} seeds)"


def labels_needed(accuracy: float, labels: NDArray[np.float64], reached: NDArray[np.float64]) -> float:
    """Return how many labels it takes to reach an accuracy, interpolated in the logarithm of labels."""
    if not reached[0] <= accuracy:
        return math.nan
    enough = np.flatnonzero(reached >= accuracy)
    if not len(enough):
        return math.inf
    at = int(enough[0])
    if at == 0:
        return float(labels[0])
    share = (accuracy - reached[at - 1]) / (reached[at] - reached[at - 1])
    low, high = math.log(max(labels[at - 1], 1.0)), math.log(max(labels[at], 1.0))
    return round(math.exp(low + share * (high - low)), 9)


def _with_random(policies: Any) -> dict[str, Policy]:
    from quercus.ask import Confident, Policy, Random, Uncertain

    named = by_name([Uncertain(), Confident()] if policies is None else policies, "policy")
    for name, policy in named.items():
        if not isinstance(policy, Policy):
            raise TypeError(f"policy {name!r} is {policy!r}; give policies of quercus.ask, such as Uncertain().")
    of_random = {name: policy for name, policy in named.items() if type(policy) is Random}
    first = of_random or {"Random": Random()}
    return {**first, **named}


def _check_budgets(budgets: Sequence[float]) -> list[float]:
    found = list(budgets)
    if not found or len(set(found)) < len(found) or any(isinstance(b, bool) or not b > 0 for b in found):
        raise ValueError(f"budgets are {found!r}; give shares such as 0.1, or numbers of labels, that differ.")
    return found


def _show_budget(budget: float) -> str:
    return f"{budget:,} labels" if isinstance(budget, int) else f"{budget * 100:.4g}%"


def _show_ratio(ratio: float, most: float) -> str:
    if math.isnan(ratio):
        return NOTHING
    return f"> {most:.1f} x" if math.isinf(ratio) else f"{ratio:.2f} x"
