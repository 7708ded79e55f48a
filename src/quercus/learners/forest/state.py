"""What a growing forest remembers: its trees, what each sees of a row, how each did, and who may take its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.engine import Floats, Integers, Known
from quercus.rows import Rows
from quercus.state import Field, Real, State, StateError, Whole
from quercus.statistics.detectors import ADWIN


@cache
def _sum_poisson(mean: float) -> Floats:
    """Return the cumulative probabilities of 0, 1, ... by the Poisson distribution, up to counts that never come."""
    chances = [np.exp(-mean)]
    for count in range(1, int(mean + 20 * np.sqrt(mean) + 20)):
        chances.append(chances[-1] * mean / count)
    return np.cumsum(chances)


class ForestRecord(State):
    """What is known beside the trees. A place is for a tree that answers or, behind these, for one that learns beside.

    Examples
    --------
    >>> record = ForestRecord(tree=2, place=4, feature=3)
    >>> record.columns.shape, record.draw_copies(6.0, 5).shape
    ((4, 3), (2, 5))
    """

    # Rows that count, classes known, where random numbers come from, and the share of features that a tree sees.
    head = Field(
        {"rows": Whole(), "classes": Whole(), "seed": Whole(np.uint64), "subspace": Real(low=0.0, high=1.0)}, 1
    )
    # How many trees have begun in a tree's turn, how many of these have taken its place, and how many answers of the
    # one in charge were right of those that the one beside it gave, too.
    turns = Field({"begun": Whole(), "replaced": Whole(), "matched": Whole()}, "tree")
    # Whether there is a tree, which one of its turn, and how many of its answers were right, of how many.
    places = Field({"used": Whole(high=1), "number": Whole(), "right": Whole(), "n": Whole()}, "place")
    # Which features it sees.
    columns = Field(Whole(np.uint8, high=1), "place", "feature")
    # ADWIN's windows over the errors of a tree: of the one that makes another begin, and of that which replaces it.
    windows = Field(Real(), "tree", 2, ADWIN._WIDTH)
    # The largest code of a category in each column.
    highest = Field(Real(low=-1.0), "feature", fill=-1.0)

    def check(self) -> None:
        """Raise StateError where arrays do not fit together."""
        trees = self.sizes["tree"]
        if self.sizes["place"] != 2 * trees or not self.places["used"][:trees].all():
            raise StateError("it has places without a tree.")
        if (self.places["right"] > self.places["n"]).any():
            raise StateError("trees have more right answers than answers.")
        try:
            for window in self.windows.reshape(2 * trees, -1):
                ADWIN().restore_array(window)
        except ValueError as error:
            raise StateError(str(error)) from error

    def generator(self, place: int, feature: int | None = None) -> np.random.Generator:
        """Return the random numbers of a tree, or of what it does with a feature that comes later.

        Parameters
        ----------
        place, feature
            Which.
        """
        numbers = [int(self.head["seed"][0]), place % len(self.turns), int(self.places["number"][place])]
        return np.random.default_rng(numbers if feature is None else [*numbers, feature])

    def draw_copies(self, mean: float, rows: int) -> Floats:
        """Return, by tree and row, how often each of the next rows is learned: Poisson, by the inverse of its sum.

        A row takes one random number per tree, so that batches make no difference.

        Parameters
        ----------
        mean
            Of the distribution.
        rows
            How many.
        """
        trees = len(self.turns)
        bits = np.random.PCG64(int(self.head["seed"][0])).advance(int(self.head["rows"][0]) * trees)
        drawn = np.random.Generator(bits).random((rows, trees))
        return np.ascontiguousarray(np.searchsorted(_sum_poisson(mean), drawn.T, side="right").astype(np.float64))

    def find_news(self, rows: Rows, known: Known) -> Floats | None:
        """Return the largest codes of categories if rows that count bring a class or a category, else None.

        Trees have to find room for these.

        Parameters
        ----------
        rows, known
            As an engine gets them.
        """
        nominal = np.array([kind == "nominal" for kind in known.kinds[: rows.X.shape[1]]], bool)
        counted = rows.weight > 0.0
        codes = np.fmax.reduce(np.where(nominal, rows.X[counted], -1.0), axis=0, initial=-1.0)
        is_new = bool((codes > self.highest).any()) or rows.y[counted].max(initial=-1) >= self.head["classes"][0]
        return np.fmax(self.highest, codes) if is_new else None


class Member:
    """A tree of the forest: its arguments, what it has learned, and the features that it sees.

    Parameters
    ----------
    params
        A learner that is not trained, for its arguments and its engine.
    state
        As its engine makes it.
    columns
        Places of its features.

    Examples
    --------
    >>> from quercus.registry import find_learner
    >>> tree = find_learner("HoeffdingTree")()
    >>> member = Member(tree, tree.engine.new_state(tree, 1, 0), np.array([2]))
    >>> member.see(np.array([[1.0, 2.0, 3.0]]))
    array([[3.]])
    """

    def __init__(self, params: Any, state: Any, columns: Integers) -> None:
        self.params, self.state, self.columns = params, state, columns

    @property
    def engine(self) -> Any:
        """How it learns and answers."""
        return self.params.engine

    def see(self, X: Floats) -> Floats:
        """Return what it sees of rows.

        Parameters
        ----------
        X
            The rows.
        """
        return np.ascontiguousarray(X[:, self.columns])

    def know(self, known: Known) -> Known:
        """Return what it is told of the schema.

        Parameters
        ----------
        known
            What the forest is told.
        """
        return known._replace(kinds=tuple(known.kinds[column] for column in self.columns))


class GrowingForestState:
    """The trees by their places, and what is known beside them.

    Parameters
    ----------
    record
        What is known beside the trees.
    members
        By place; None where no tree learns beside another.

    Examples
    --------
    >>> record = ForestRecord(tree=1, place=2, feature=3)
    >>> GrowingForestState(record, [None, None]).nbytes == record.nbytes
    True
    """

    def __init__(self, record: ForestRecord, members: list[Member | None]) -> None:
        self.record, self.members = record, members

    def places(self) -> Iterator[tuple[int, Member]]:
        """Go over the trees and their places."""
        return ((place, member) for place, member in enumerate(self.members) if member is not None)

    @property
    def trees(self) -> list[Member]:
        """Those that answer."""
        return [member for place, member in self.places() if place < len(self.record.turns)]

    @property
    def trust(self) -> Floats:
        """How much the answer of each tree counts: its share of right ones, by Laplace's rule."""
        right, n = self.record.places["right"], self.record.places["n"]
        return np.asarray((right + 1.0) / (n + 2.0))[: len(self.record.turns)]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, with the room that they have to grow."""
        return int(self.record.nbytes + sum(member.state.nbytes for _, member in self.places()))

    def is_beaten(self, tree: int) -> bool:
        """Return whether the tree that learns beside another has been as good as that, of the same rows.

        Parameters
        ----------
        tree
            The other one.
        """
        place = self.record.places[tree + len(self.record.turns)]
        return bool(place["used"] and place["n"] and place["right"] >= self.record.turns["matched"][tree])

    def promote(self, tree: int) -> None:
        """Let the tree that learns beside another take its place.

        Parameters
        ----------
        tree
            The place that it takes.
        """
        record, beside = self.record, tree + len(self.record.turns)
        self.members[tree] = self.members[beside]
        record.places[tree], record.columns[tree] = record.places[beside], record.columns[beside]
        self.drop(beside)
        record.windows[tree] = 0.0
        record.turns["replaced"][tree] += 1

    def drop(self, place: int) -> None:
        """Let there be no tree in a place.

        Parameters
        ----------
        place
            Where.
        """
        self.members[place] = None
        self.record.places["used"][place], self.record.columns[place] = 0, 0

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array."""
        parts = [(f"trees/{place}/{name}", a) for place, m in self.places() for name, a in m.state.to_arrays().items()]
        return self.record.to_arrays() | dict(parts)

    def to_sizes(self) -> dict[str, int]:
        """Return the size of every dimension."""
        parts = [(f"trees/{place}/{dim}", n) for place, m in self.places() for dim, n in m.state.to_sizes().items()]
        return self.record.to_sizes() | dict(parts)
