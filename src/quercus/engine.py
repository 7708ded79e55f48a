"""What a learner must give (`Engine`), and what it may give besides: small protocols, each a capability.

An engine keeps nothing. Arguments come with the learner, all that has been learned is in the state, and what the schema
knows comes as `Known`; so one engine serves many states, as in a forest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from quercus.rows import Rows

if TYPE_CHECKING:
    from quercus.explain import Explanation, TreeView
    from quercus.predictor import Predictor
    from quercus.store import Model

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Known(NamedTuple):
    """What the schema tells an engine.

    ``order`` are class ids in the order of `classes_`, ``loss`` what answers cost by class id (empty: 1 for any wrong
    one), ``kinds`` the kind of each feature: "numeric", "nominal", or None while only missing values were seen.

    Examples
    --------
    >>> Known(np.arange(2), np.empty((0, 0)), ("numeric", None)).classes
    2
    """

    order: Integers
    loss: Floats
    kinds: tuple[str | None, ...]

    @property
    def classes(self) -> int:
        """How many there are."""
        return len(self.order)


class Stop(NamedTuple):
    """Where a loop over rows stopped, and why: a code of `quercus.rows`, or one of the engine.

    Examples
    --------
    >>> Stop(3, 0)
    Stop(row=3, why=0)
    """

    row: int
    why: int


@runtime_checkable
class Engine(Protocol):
    """What a learner must give.

    A call that fails, for want of memory or because of arguments that make no sense, leaves the state as it was.
    ``first_slice`` is how many rows `run` is given at first: so many as take about a tenth of a second, or fewer.
    """

    first_slice: int

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense; ``params`` has each as an attribute."""

    def new_state(self, params: Any, features: int, classes: int) -> Any:
        """Return the empty state for this many features, and classes that are known beforehand."""

    def load_state(self, params: Any, model: Model) -> Any:
        """Rebuild the state from a file; raise `ModelFileError` where it does not fit together."""

    def widen(self, state: Any, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known (0: those that came with rows).

        A limit of memory has to be in the state. Where there is no room: MemoryError, and nothing is changed.
        """

    def run(self, state: Any, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int) -> Stop:
        """Take rows in order through one call of a kernel: answer, ask and learn, as ``mode`` says.

        It stops early before a row that it has no room for; `resume` is called, and then `run` again, with `RESUME`.
        """

    def resume(self, state: Any, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Do what the loop stopped for, such as making room: all of it, or nothing and MemoryError."""

    def predict(self, state: Any, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats) -> None:
        """Write answers as class ids, -1 where nothing is known yet, and probabilities by class id; change nothing."""


@runtime_checkable
class Viewable(Protocol):
    """A model that is a tree, and can be shown as one."""

    def view(self, model: Predictor) -> TreeView:
        """Return it as plain data."""

    def size(self, state: Any) -> tuple[int, int]:
        """Return the number of leaves, and the depth of the deepest."""

    def importances(self, state: Any, features: int) -> Floats:
        """Return what all splits by each feature gained, in any unit."""


@runtime_checkable
class SumsTrees(Protocol):
    """A model of several trees, which cannot be shown as one."""

    def count_leaves(self, state: Any) -> int:
        """Return the number of leaves of all trees."""

    def sum_gains(self, state: Any, features: int) -> Floats:
        """Return what all splits by each feature gained in all trees, in any unit."""


@runtime_checkable
class Explains(Protocol):
    """A model that can say how it comes to an answer."""

    def explain(self, model: Predictor, x: Mapping[str, Any]) -> Explanation:
        """Return what the answer for one example rests on."""


@runtime_checkable
class Freezable(Protocol):
    """A learner of which there are small copies that answer alike and do not learn."""

    def freeze(self, learner: Any) -> Predictor:
        """Return such a copy."""


@runtime_checkable
class HasRegions(Protocol):
    """A model of which each row lies in one region, and which knows the labels in each."""

    def regions(self, state: Any, X: Floats) -> tuple[Integers, Floats]:
        """Return the node of each row's leaf, and the class counts of every node, by class id."""


@runtime_checkable
class KnowsSupport(Protocol):
    """A model that knows how many labels stand behind an answer."""

    def region(self, state: Any, params: Any, row: Floats, known: Known, by_counts: bool) -> tuple[Floats, float]:
        """Return the probabilities by class id of one row, and the labels behind them."""


@runtime_checkable
class Monitors(Protocol):
    """A learner that monitors its own errors: of rows whose labels were chosen, it may be told not to."""

    def is_monitoring(self, params: Any) -> bool:
        """Return whether it does, by its arguments."""


@runtime_checkable
class Asks(Protocol):
    """A learner whose loop over rows also runs an asker's policy; `run` understands `quercus.rows.ASK`."""

    asks: ClassVar[bool]


@runtime_checkable
class Exchanges(Protocol):
    """A learner that can give a row that it has learned another label, without learning the others again."""

    def exchange(self, x: Mapping[str, Any], was: Any, now: Any) -> bool:
        """Exchange the label of a row; return False, and change nothing else, if the row is not kept."""


@runtime_checkable
class CaseLike(Protocol):
    """An example whose features are bought one by one."""

    @property
    def known(self) -> dict[str, Any]:
        """The values that are known, by feature."""

    @property
    def probabilities(self) -> dict[Any, float]:
        """Probability of each class by what is known."""

    @property
    def prediction(self) -> Any:
        """The best answer by what is known."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON."""

    def record_in(self, ledger: Any, number: int) -> None:
        """Keep it in a ledger from now on."""

    def bring_to(self, model: Any) -> None:
        """Go on with another learner."""


@runtime_checkable
class BuysFeatures(Protocol):
    """A learner that buys features in cases."""

    _opened: int
    spent_: float

    def open(self, known: Mapping[str, Any] | None = None, *, explore: bool = True) -> Any:
        """Open a case."""

    def resume(self, state: Mapping[str, Any], *, ledger: Any = None) -> Any:
        """Go on with a case that was saved."""

    def learn(self, case: Any, label: Any) -> None:
        """Learn what a case turned out to be."""

    def _note_cases(self, opened: int, spent: float) -> None:
        """Count as opened, and as spent, what others tell."""
