"""The loop behind `repeat`, `frontier` and `feature_frontier`: trials on the same rows, once per seed.

What changes from seed to seed are the rows or their order, the learner and the policy.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.errors import Interrupted
from quercus.evaluation.frames import columns_of, make_frame
from quercus.evaluation.prequential import evaluate
from quercus.evaluation.run import PathLike, Run

if TYPE_CHECKING:
    from altair import Chart

    from quercus.ask import Policy
    from quercus.streams import Stream

Study = TypeVar("Study")


class Trial(NamedTuple):
    """What is evaluated once per seed: an untrained learner for a seed, what it is called, and which labels it gets."""

    learner: Callable[[int], Any]
    title: str
    policy: Policy | None = None


class DrawnStudy(ABC):
    """What came of a study that is shown as a table and drawn as a chart."""

    @abstractmethod
    def table(self) -> str:
        """Return it as plain text."""

    @abstractmethod
    def points(self) -> list[dict[str, Any]]:
        """Return its figures, a line for each point."""

    @abstractmethod
    def _draw(self) -> Chart:
        """Return its chart."""

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return `points` as a data frame.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow".
        """
        return make_frame(columns_of(self.points()), backend)

    def plot(self, path: PathLike | None = None) -> Chart:
        """Draw accuracy against what it cost.

        Needs altair and vl-convert-python (``pip install 'quercus[report]'``).

        Parameters
        ----------
        path
            Where to save it; its ending says the format, as for `Run.plot`.
        """
        from quercus.evaluation.canvas import save_chart

        chart = self._draw()
        if path is not None:
            save_chart(chart, path)
        return chart

    def _repr_html_(self) -> str:
        from quercus.evaluation.tables import or_plain

        def draw() -> str:
            from quercus.evaluation.canvas import inline_svg

            return inline_svg(self.plot())

        return or_plain(draw, self.table())

    def __str__(self) -> str:
        return self.table()


def run_trials(
    stream: Stream,
    trials: Mapping[tuple[Any, ...], Trial],
    seeds: Iterable[int],
    collect: Callable[[tuple[int, ...], Mapping[Any, Run]], Study],
    shuffle: bool,
    delay: Any = 0,
    **options: Any,
) -> Study:
    """Evaluate every trial on the same rows for each seed, and collect the runs.

    A generator gives other rows with each seed; other data comes in another order, if told so. Runs are kept without
    learners and ledgers, by key and seed. An interruption carries what was collected of the seeds that are done.
    """
    done: list[int] = []
    runs: dict[tuple[Any, ...], Run] = {}
    try:
        for seed in seeds:
            rows = stream_for(stream, seed, shuffle)
            for key, trial in trials.items():
                given = options | {"ask": policy_for(trial.policy, seed), "delay": delay, "delay_seed": seed}
                run = evaluate(rows, trial.learner(seed), name=f"{trial.title}, seed {seed}", **given)
                runs[*key, seed] = dataclasses.replace(run, learner=None, ledger=None)
            done.append(seed)
    except Interrupted as stop:
        stop.repeats = stop.frontier = collect(tuple(done), runs) if done else None
        raise
    return collect(tuple(done), runs)


def by_name(things: Any, what: str = "learner to repeat") -> dict[str, Any]:
    """Return learners or policies by name, be they in a dict, in a list or single."""
    if not isinstance(things, Mapping):
        listed = things if isinstance(things, list | tuple) else [things]
        kinds = [type(thing).__name__ for thing in listed]
        counts = [kinds[: place + 1].count(kind) for place, kind in enumerate(kinds)]
        names = [kind if count == 1 else f"{kind} {count}" for kind, count in zip(kinds, counts, strict=True)]
        things = dict(zip(names, listed, strict=True))
    if not things:
        raise ValueError(f"there is no {what}; give at least one.")
    return {str(name): thing for name, thing in things.items()}


def check_seeds(seeds: Iterable[int]) -> list[int]:
    """Return seeds as a list, or say what is wrong with them."""
    found = list(seeds)
    wrong = [s for s in found if isinstance(s, bool) or not hasattr(s, "__index__") or s < 0]
    if wrong or not found or len(set(found)) < len(found):
        raise ValueError(f"seeds are {found!r}; give whole numbers that differ, such as range(5).")
    return [int(seed) for seed in found]


def stream_for(stream: Stream, seed: int, shuffle: bool) -> Stream:
    """Return other rows of a generator, or the same rows in another order if told so."""
    if hasattr(stream, "with_seed"):
        other: Stream = stream.with_seed(seed)
        return other
    return stream.shuffled(seed) if shuffle else stream


def seed_parameters(learner: Any) -> list[str]:
    """Return the names of the parameters that are a learner's seed: its own, or those of estimators within it."""
    if not hasattr(learner, "get_params"):
        return []
    own = [name for name in ("seed", "random_state") if name in learner.get_params(deep=False)]
    return own[:1] or [name for name in learner.get_params() if name.endswith("__random_state")]


def untrained(learner: Any) -> Any:
    """Return a copy that has learned nothing; a plain one of something that cannot be cloned."""
    if hasattr(learner, "clone"):  # river
        return learner.clone()
    from sklearn.base import clone

    return clone(learner) if hasattr(learner, "get_params") else copy.deepcopy(learner)


def fresh(learner: Any, seed: int) -> Any:
    """Return an untrained copy of a learner, with the seed if it takes one."""
    seeds = dict.fromkeys(seed_parameters(learner), seed)
    return untrained(learner).set_params(**seeds) if seeds else untrained(learner)


def policy_for(policy: Policy | None, seed: int) -> Policy | None:
    """Return a policy with another seed, unless it draws fresh numbers anyhow."""
    if dataclasses.is_dataclass(policy) and not isinstance(policy, type) and policy.seed is not None:
        return dataclasses.replace(policy, seed=seed)
    return policy


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and its standard error, NaN for a single value."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return float(values.mean()), error


def compared(values: NDArray[np.float64], first: NDArray[np.float64]) -> dict[str, float]:
    """Return mean and standard error, and those of the differences to the first, seed by seed.

    What all share (easy rows, hard rows) drops out of the differences.
    """
    mean, error = mean_and_error(values)
    apart, apart_error = mean_and_error(values - first)
    return {"mean": mean, "error": error, "difference": apart, "difference_error": apart_error}
