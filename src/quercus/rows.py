"""Rows on their way through a compiled loop: what is read, what is written, what is decided about each."""

from __future__ import annotations

from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from quercus.state import Field, Struct

# What a loop over rows is to do, as flags. RESUME: go on with the row at which it stopped.
PREDICT, LEARN, RESUME, ASK = 1, 2, 4, 8
# Why it stopped. NEEDS_SCHEMA: an asked row brings a new category or class; PAUSED: a label comes. Larger codes are
# those of an engine, which has to make room, or the like, before it goes on.
DONE, NEEDS_SCHEMA, PAUSED = range(3)
# Kinds of features; UNSEEN: only missing values so far.
NUMERIC, NOMINAL, UNSEEN = range(3)

# The state of an asker.
ASKING = np.dtype(
    [
        ("policy", np.int32),
        ("split", np.int32),  # paper's form: a share `explore` of the rows goes to the Random policy
        ("paced", np.int32),
        ("strict", np.int32),
        ("budget", np.int32),
        ("by_price", np.int32),  # the budget counts money, not labels
        ("by_counts", np.int32),  # scores come from the class counts of the region, not from the answer's probabilities
        ("has_day", np.int32),
        ("amount", np.float64),
        ("window", np.int64),
        ("horizon", np.float64),  # rows that a total is for; 0: not known
        ("explore", np.float64),
        ("step", np.float64),
        ("power", np.float64),
        ("least", np.float64),  # a row that is asked with less probability is not covered
        ("seen", np.int64),
        ("covered", np.int64),
        ("asked", np.int64),
        ("spent", np.float64),  # labels or money, whichever the budget counts; of today if it is daily
        ("paid", np.float64),  # money, ever
        ("threshold", np.float64),  # EPISTEMIC: the usual doubt, 0: not known
        ("scale", np.float64),
        ("day", np.int64),
        ("day_rows", np.float64),
        ("usual_rows", np.float64),  # of a day; 0: not known
        ("oldest", np.int64),  # in the ring
        ("in_window", np.int64),
        ("g0", np.uint64),
        ("g1", np.uint64),
        ("g2", np.uint64),
        ("g3", np.uint64),
    ],
    align=True,
)
# What it decides about each row.
DECISION = np.dtype(
    [
        ("price", np.float64),
        ("day", np.int64),
        ("due", np.int64),  # row at which the label comes
        ("worth", np.float64),
        ("propensity", np.float64),
        ("asked", np.int32),
        ("explored", np.int32),
        ("covered", np.int64),  # rows covered so far
    ],
    align=True,
)


class Rows(Struct):
    """Rows on their way through a compiled loop.

    Parameters
    ----------
    X
        The rows, as a schema reads them: numbers; of a nominal feature the number of the category by arrival, from 0,
        -1 for one that the schema does not know; NaN where a value is missing.
    y
        Class ids, -1 where the learner does not know the class.
    weight
        Of each row.
    monitored
        Those that are not 0 tell whether answers become worse; empty: all do.
    answers, proba
        Written, where there is room: the answers as class ids, and the probabilities by class id.
    asking, ring, decisions
        An asker's, or empty.

    Examples
    --------
    >>> rows = Rows(np.array([[1.0], [2.0]]), y=np.array([0, 1]))
    >>> rows.weight.tolist(), rows.decisions.shape
    ([1.0, 1.0], (0,))
    """

    X = Field(np.float64, "row", "feature", readonly=True)
    y = Field(np.int64, "row", readonly=True)
    weight = Field(np.float64, "row", readonly=True)
    monitored = Field(np.uint8, "row", readonly=True)
    answers = Field(np.int64, "row")
    proba = Field(np.float64, "row", "class")
    asking = Field(ASKING, "asker")
    ring = Field(np.int64, "place")
    decisions = Field(DECISION, "row")

    # What is not of each row.
    whole: ClassVar[tuple[str, ...]] = ("asking", "ring")

    def __init__(self, X: Any, **given: Any) -> None:
        arrays = {"X": X, **{name: array for name, array in given.items() if array is not None}}
        if "y" in arrays and "weight" not in arrays:
            arrays["weight"] = np.ones(len(X))
        self._held = SimpleNamespace(arrays=self._nothing() | arrays)

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def ref(self) -> Any:
        """What kernels take."""
        return self.make(**self._held.arrays)

    def part(self, start: int, stop: int, features: int | None = None) -> Self:
        """Return some of the rows, and of their first features; what is written there is written here.

        Parameters
        ----------
        start, stop
            Which rows.
        features
            How many features; None: all.
        """
        arrays = self._held.arrays
        parts = {name: array if name in self.whole else array[start:stop] for name, array in arrays.items()}
        parts["X"] = np.ascontiguousarray(parts["X"][:, :features])
        return type(self)(**parts)

    @classmethod
    @cache
    def _nothing(cls) -> dict[str, Any]:
        return {n: field.new({dim: 0 for dim in field.dims if isinstance(dim, str)}) for n, field in cls.fields.items()}


class Answered(NamedTuple):
    """What a learner answered, row by row, before it learned each row.

    ``truth`` and ``answers`` are class ids by first arrival (-1: none known yet), ``proba`` has a column per class id,
    ``classes`` are the labels by id.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> outcome = HoeffdingTree().test_then_learn([[1.0], [2.0]], ["no", "yes"])
    >>> outcome.truth.tolist(), outcome.answers.tolist(), outcome.classes
    ([0, 1], [-1, 0], ['no', 'yes'])
    """

    truth: npt.NDArray[np.int64]
    answers: npt.NDArray[np.int64]
    proba: npt.NDArray[np.float64]
    classes: list[Any]


class FullError(Exception):
    """There is no room for a row.

    Parameters
    ----------
    row
        Which of those that were given.
    error
        What there is no memory for.

    Examples
    --------
    >>> FullError(3, MemoryError("another class needs more.")).row
    3
    """

    def __init__(self, row: int, error: MemoryError) -> None:
        super().__init__(row, error)
        self.row, self.error = row, error
