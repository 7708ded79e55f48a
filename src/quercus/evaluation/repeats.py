"""The same comparison several times, on other rows or another order each time, and what that says on average."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.delays import Delay
from quercus.evaluation.frames import columns_of, make_frame
from quercus.evaluation.money import Loss
from quercus.evaluation.run import Run
from quercus.evaluation.studies import Trial, by_name, check_seeds, compared, fresh, run_trials, seed_parameters
from quercus.evaluation.words import align, show
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.ask import Policy

METRICS = (
    *("accuracy", "balanced_accuracy", "f1_smallest", "kappa", "kappa_temporal"),
    *("log_loss", "brier", "average_precision", "money", "majority_accuracy", "previous_accuracy"),
    *("leaves", "nbytes", "seconds", "cpu_seconds", "labels", "spent", "cost", "cost_per_row", "bought_per_row"),
    *("auc", "ece", "lift", "paid", "total", "total_per_row"),
)
_AMOUNTS = ("money", "leaves", "nbytes", "labels", "spent", "cost", "paid", "total")


def repeat(
    data: Any,
    learners: Any,
    *,
    seeds: Iterable[int] = range(5),
    shuffle: bool = True,
    rows: int | None = None,
    loss: Loss | None = None,
    window: int = 1000,
    chunk: int = 8192,
    progress: bool | None = None,
    warm_up: int = 0,
    ask: Policy | None = None,
    delay: Delay = 0,
) -> Repeats:
    """Evaluate fresh copies of learners on the same rows, once per seed, to tell differences from chance.

    A generator is asked for other rows with each seed. Other data comes in another order with each seed. A copy of a
    learner that has a parameter ``seed`` or ``random_state`` gets the seed as well, as do the policy and the delays.

    Parameters
    ----------
    data
        As for `evaluate`.
    learners
        A dict of them by name, a list, or a single one. They are not trained themselves.
    seeds
        One run of every learner for each.
    shuffle
        Whether data that is no generator is put into another order with each seed. If not, only learners with a
        seed of their own can differ.
    rows, loss, window, chunk, progress, warm_up, ask, delay
        As for `evaluate`.

    Returns
    -------
    Repeats
        All runs, their means, and the differences to the first learner, seed by seed.

    Examples
    --------
    >>> import quercus as qc
    >>> learners = {"patient": qc.HoeffdingTree(), "quick": qc.HoeffdingTree(grace_period=50)}
    >>> repeats = qc.repeat(qc.streams.RandomTree(rows=2000), learners, seeds=range(3))
    >>> repeats.values("accuracy").shape
    (2, 3)
    """
    from quercus.streams import as_stream

    stream = as_stream(data)
    named, seeds = by_name(learners), check_seeds(seeds)
    if len(seeds) > 1 and not shuffle and not hasattr(stream, "with_seed"):
        _refuse_copies(named)
    trials = {(name,): Trial(partial(fresh, one), f"{name} on {stream.name}", ask) for name, one in named.items()}
    given = {"rows": rows, "loss": loss, "window": window, "chunk": chunk, "progress": progress, "warm_up": warm_up}
    return run_trials(stream, trials, seeds, partial(Repeats, tuple(named)), shuffle, delay, **given)


@dataclass(frozen=True, eq=False, repr=False)
class Repeats:
    """What `repeat` measured.

    Attributes
    ----------
    names
        The learners; the first is the one that others are compared with.
    seeds
        One run of each learner per seed.
    runs
        The runs by (name, seed), without their learners.

    Examples
    --------
    >>> import quercus as qc
    >>> repeats = qc.repeat(qc.streams.Noise(rows=500), [qc.HoeffdingTree()], seeds=[1, 2])
    >>> repeats.names, repeats.seeds
    (('HoeffdingTree',), (1, 2))
    """

    names: tuple[str, ...]
    seeds: tuple[int, ...]
    runs: Mapping[tuple[str, int], Run]

    def values(self, metric: str) -> NDArray[np.float64]:
        """Return a figure of every run, one line per learner and one column per seed."""
        if metric not in METRICS:
            raise ValueError(f"metric is {metric!r}; choose one of {', '.join(METRICS)}.")
        found = [[getattr(self.runs[name, seed], metric) for seed in self.seeds] for name in self.names]
        return np.array([[math.nan if value is None else value for value in line] for line in found], np.float64)

    @property
    def with_costs(self) -> bool:
        """Whether a learner buys features."""
        return any(run.cost is not None for run in self.runs.values())

    def summary(self, metrics: Sequence[str] = METRICS) -> list[dict[str, Any]]:
        """Return mean and standard error per learner and figure, and the same of the difference to the first learner.

        Differences are taken seed by seed, so that what all learners share (easy rows, hard rows) drops out.

        Examples
        --------
        >>> import quercus as qc
        >>> repeats = qc.repeat(qc.streams.Noise(rows=500), [qc.HoeffdingTree()], seeds=[1, 2])
        >>> list(repeats.summary()[0])
        ['learner', 'metric', 'runs', 'mean', 'error', 'difference', 'difference_error']
        """
        lines = []
        for metric in metrics:
            values = self.values(metric)
            for name, line in zip(self.names, values, strict=True):
                head = {"learner": name, "metric": metric, "runs": len(self.seeds)}
                lines.append(head | compared(line, values[0]))
        return lines

    def to_frame(self, backend: str = "pandas", what: str = "values") -> Any:
        """Return a tidy frame.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow".
        what
            "values" (one row per learner, seed and figure) or "summary".

        Examples
        --------
        >>> import quercus as qc
        >>> repeats = qc.repeat(qc.streams.Noise(rows=500), [qc.HoeffdingTree()], seeds=[1, 2])
        >>> repeats.to_frame("pyarrow").column_names
        ['learner', 'seed', 'metric', 'value']
        """
        if what not in ("values", "summary"):
            raise ValueError(f"what is {what!r}; choose 'values' or 'summary'.")
        if what == "summary":
            return make_frame(columns_of(self.summary()), backend)
        tidy = [
            {"learner": name, "seed": seed, "metric": metric, "value": value}
            for metric in METRICS
            for name, line in zip(self.names, self.values(metric), strict=True)
            for seed, value in zip(self.seeds, line.tolist(), strict=True)
        ]
        return make_frame(columns_of(tidy), backend)

    def table(self, metrics: Sequence[str] | None = None) -> str:
        """Return means, standard errors and paired differences as plain text.

        Parameters
        ----------
        metrics
            Which figures. None: accuracy, before it balanced accuracy and AUC where classes are imbalanced, log-loss,
            leaves and seconds; with what answers, features and labels cost if they do.
            The accuracy has those beside it that need no learning.
        """
        if metrics is None:
            runs = self.runs.values()
            lost = any(run.loss for run in runs)
            is_rare, is_paid = any(run.imbalanced for run in runs), lost and any(run.paid for run in runs)
            metrics = [*(["balanced_accuracy", "auc"] if is_rare else []), "accuracy"]
            metrics += [*(["cost_per_row"] if self.with_costs else []), *(["total_per_row"] if is_paid else [])]
            metrics += ["log_loss", *(["money"] if lost else []), "leaves", "seconds"]
        lines: list[list[str]] = []
        for metric in metrics:
            lines += [[""]] if lines else []
            versus = ["difference", "± s.e."] if len(self.names) > 1 else []
            lines.append([metric.replace("_", "-" if metric == "log_loss" else " "), "mean", "± s.e.", *versus])
            values = dict(zip(self.names, self.values(metric), strict=True))
            first = values[self.names[0]]
            if metric == "accuracy":
                values |= {f"({name})": line for name, line in self.baselines().items()}
            for place, (name, line) in enumerate(values.items()):
                found = compared(line, first)
                cells = [f"  {name}", _shown(found["mean"], metric), _shown(found["error"], metric)]
                if place and versus:
                    cells += [_signed(found["difference"], metric), _shown(found["difference_error"], metric)]
                lines.append(cells)
        return f"{self.title}\n\n{align(lines)}"

    def baselines(self) -> dict[str, NDArray[np.float64]]:
        """Return the accuracies that need no learning by name, each by seed; they are the same for all learners."""
        runs = [self.runs[self.names[0], seed] for seed in self.seeds]
        found = {
            "majority so far": np.array([run.majority_accuracy for run in runs]),
            "previous label": np.array([run.previous_accuracy for run in runs]),
        }
        best = [run.bayes_accuracy for run in runs if run.bayes_accuracy is not None]
        return {**found, "best possible": np.array(best)} if len(best) == len(runs) else found

    @property
    def title(self) -> str:
        """What was compared, and with what."""
        run, count = self.runs[self.names[0], self.seeds[0]], len(self.seeds)
        title = f"{plural(len(self.names), 'learner')} on {run.stream}: {plural(run.rows, 'row')}"
        title += f", {plural(count, 'seed')}" if count > 1 else ""
        paired = ", paired by seed" if count > 1 else ""
        return title if len(self.names) == 1 else f"{title}; differences to {self.names[0]}{paired}"

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        means = ", ".join(f"{line['learner']} {line['mean']:.4f}" for line in self.summary(["accuracy"]))
        return f"Repeats({len(self.seeds)} seeds, accuracy: {means})"


def _refuse_copies(named: Mapping[str, Any]) -> None:
    same = [name for name, learner in named.items() if not seed_parameters(learner)]
    if same:
        raise ValueError(
            f"{same[0]} has no seed and the rows stay in order, so that every run would be the same; "
            "let shuffle be True, or use evaluate."
        )


def _shown(value: float, metric: str) -> str:
    if metric not in _AMOUNTS or math.isnan(value):
        return show(value)
    return f"{value:,.1f}" if abs(value) < 10_000 else f"{value:,.0f}"


def _signed(value: float, metric: str) -> str:
    text = _shown(value, metric)
    return f"+{text}" if value > 0 else text
