"""The arrays of an evergreen tree, and room for rows, classes, features and growths as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.seeding import mix_bits
from quercus.flat import FlatArrays, enlarged
from quercus.learners.evergreen.coding import RANK, draw_edges
from quercus.learners.evergreen.kernels import begin_growth, run_rows
from quercus.learners.evergreen.layout import (
    AT_ONCE,
    ENTRY,
    FEATURE,
    FINISH,
    FIRST_GROWTH,
    GROWTH,
    IDLE,
    MOST_EDGES,
    NO_SINGLES,
    NODE,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    REPLAYED,
    REPLAYING,
    ROW,
    SAMPLE,
    SPAN,
    STANDS,
    UNSEEN,
    WINDOW,
)
from quercus.learners.evergreen.room import SET_WORDS, Room
from quercus.learners.evergreen.settling import close_ranks, count_categories
from quercus.learners.evergreen.singles.arrays import SinglesArrays
from quercus.predictor import Floats
from quercus.rows import ASKING, DECISION, DONE

TREE = ("nodes", "counts", "recent", "sets")
NEW = tuple(f"new_{name}" for name in TREE)
WORK = ("growth", "places", "stack", "live", "hists", "slots", "spans", "shares")
STORE = ("features", "edges", "sample", "sampled", "codes", "rows")
_FIRST_ROOM = 64
# A growth that cuts every node of s rows makes about so many nodes for s rows, or fewer.
_NODES_PER_ROW = 4
NO_ASKING = (np.zeros(0, ASKING), np.zeros(0, np.int64), np.zeros(0, DECISION))
_STEP = np.uint64(0x9E3779B97F4A7C15)
_NO_ROWS = (
    *(np.empty(0, np.int64), np.empty((0, 0)), np.empty((0, 0)), np.empty(0, np.int64), np.empty(0)),
    *(np.empty(0, np.uint8), np.empty(0, np.int64), np.empty((0, 0)), *NO_ASKING),
)


class EvergreenArrays(FlatArrays):
    """The arrays of an evergreen tree; see ``layout`` for what they hold.

    Every change of size follows from the rows seen so far alone, never from how they were cut into batches.

    Parameters
    ----------
    settings
        Fields of ``options`` that come from the learner's arguments.
    features
        Number of features.
    max_bytes
        Limit.

    Examples
    --------
    >>> arrays = EvergreenArrays({"bins": 64, "subspace": 1.0, "sight": 1.0}, features=2, max_bytes=2**20)
    >>> arrays.fit_row(np.array([0.5, 3.0]), 0, ["numeric", "nominal"])
    >>> arrays.counts.shape, int(arrays.options["most_rows"][0])
    ((1, 2), 18662)
    """

    NAMES = ("options", *STORE, *TREE, *NEW, *WORK, "errors")
    new_nodes: npt.NDArray[np.void]
    new_counts: Floats
    new_recent: Floats
    new_sets: npt.NDArray[np.uint64]
    growth: npt.NDArray[np.void]
    places: npt.NDArray[np.int32]
    stack: npt.NDArray[np.void]
    live: npt.NDArray[np.int32]
    hists: Floats
    slots: npt.NDArray[np.int32]
    spans: npt.NDArray[np.void]
    shares: Floats

    def __init__(self, settings: dict[str, Any], features: int, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.options: npt.NDArray[np.void] = np.zeros(1, OPTIONS)
        for name, value in settings.items():
            self.options[name] = value
        self.options["due"], self.options["nodes"] = FIRST_GROWTH, 1
        self.features: npt.NDArray[np.void] = np.zeros(0, FEATURE)
        self.edges: Floats = np.zeros((0, MOST_EDGES))
        self.sample: Floats = np.zeros((_FIRST_ROOM, 0))
        self.sampled: npt.NDArray[np.uint32] = np.zeros(_FIRST_ROOM, np.uint32)
        self.codes: npt.NDArray[np.uint8] = np.zeros((_FIRST_ROOM, 0), np.uint8)
        self.rows: npt.NDArray[np.void] = np.zeros(_FIRST_ROOM, ROW)
        self.nodes: npt.NDArray[np.void] = np.zeros(1, NODE)
        self.nodes["stop"], self.nodes["scale"], self.nodes["feature"], self.nodes["set"] = 0.5, 1.0, -1, -1
        self.counts: Floats = np.zeros((1, 0))
        self.recent: Floats = np.zeros((1, 0))
        self.sets: npt.NDArray[np.uint64] = np.zeros((0, SET_WORDS), np.uint64)
        self.errors: npt.NDArray[np.uint8] = np.zeros(WINDOW, np.uint8)
        option = self.options[0]
        self.singles = SinglesArrays(option["seed"], is_on=not option["without"] & NO_SINGLES)
        self.give_up()
        try:
            self._room(features, 2).rows()
            self.add_features(features)
        except MemoryError as error:
            # There is nothing yet that would be in the way: the argument is to blame.
            raise ValueError(str(error)) from None

    @property
    def learning(self) -> tuple[Any, ...]:
        """The arrays in the order in which kernels take them."""
        return (*super().learning, *self.singles.learning)

    @property
    def answering(self) -> tuple[Any, ...]:
        """The arrays that answers follow from."""
        return (self.options, self.nodes, self.counts, self.recent, self.sets, *self.singles.learning)

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return super().nbytes + self.singles.nbytes

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.options["classes"][0])

    @property
    def n_rows(self) -> int:
        """Rows in the store."""
        return int(self.options["rows"][0])

    @property
    def is_growing(self) -> bool:
        """Whether a growth is under way."""
        return int(self.options["stage"][0]) != IDLE

    def sizes(self) -> list[int]:
        """Return for how many rows store and sample have room."""
        return [len(self.rows), len(self.sampled)]

    def used(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array."""
        parts = super().used()
        parts["codes"], parts["rows"] = self.codes[: self.n_rows], self.rows[: self.n_rows]
        kept = min(int(self.options["seen"][0]), SAMPLE)
        parts["sample"], parts["sampled"] = self.sample[:kept], self.sampled[:kept]
        return parts

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number, of which nothing has been seen yet.

        Parameters
        ----------
        total
            Number of features.
        """
        old = len(self.features)
        if total <= old:
            return
        most = self._room(features=total).rows()
        if self.is_growing:
            self.give_up()
        more = np.zeros(total - old, FEATURE)
        more["kind"], more["codes"] = UNSEEN, 2
        self.features = np.concatenate([self.features, more])
        self.edges = enlarged(self.edges, (total, MOST_EDGES))
        self.codes = enlarged(self.codes, (len(self.codes), total))
        self.sample = np.concatenate([self.sample, np.full((len(self.sample), total - old), np.nan)], axis=1)
        self._limit_rows(most)
        self.make_room_for_singles()

    def make_room_for_singles(self) -> None:
        """Let what single features tell have room for all features and classes that there is room for."""
        room = self._room()
        self.singles.make_room(room.features, room.classes, room.for_singles)

    def check_classes(self, total: int) -> None:
        """Raise MemoryError if there would be no room for so many classes, however they come.

        Parameters
        ----------
        total
            Number of classes.
        """
        if total > self.counts.shape[1]:
            self._room(classes=total + total // 2 + 1).rows()

    def declare_classes(self, total: int) -> None:
        """Count classes as known.

        Parameters
        ----------
        total
            Number of classes.
        """
        self._widen_classes(total)
        self.options["classes"] = max(self.classes, total)
        self.singles.declare_classes(total)

    def fit_row(self, row: Floats, label: int, kinds: Sequence[str | None]) -> None:
        """Make room for what a row brings that was never seen before.

        Parameters
        ----------
        row
            Values by feature; NaN if missing, codes of categories.
        label
            Its class.
        kinds
            For each feature ``"numeric"`` or ``"nominal"``.
        """
        self._widen_classes(label + 1)
        new = np.flatnonzero(~np.isnan(row) & (self.features["kind"] == UNSEEN)).tolist()
        for f in new:
            self.features["kind"][f] = NOMINAL if kinds[f] == "nominal" else NUMERIC
        if new:
            # Numbers need less room than was kept free.
            self._limit_rows(self._room().rows())
            self.make_room_for_singles()
        self.singles.fit_row(row, kinds)

    def make_room(self) -> None:
        """Make room for more rows: double the store, or where it is full let a growth thin it out."""
        most, places = int(self.options["most_rows"][0]), len(self.sampled)
        if self.options["seen"][0] == places < SAMPLE:
            self.sample = enlarged(self.sample, (2 * places, len(self.features)))
            self.sampled = enlarged(self.sampled, (2 * places,))
        if self.n_rows < len(self.rows):
            return
        if len(self.rows) < most:
            room = min(2 * len(self.rows), most)
            self.codes, self.rows = enlarged(self.codes, (room, len(self.features))), enlarged(self.rows, (room,))
        else:
            self.finish()
            self.begin()

    def begin(self) -> None:
        """Begin a growth from all rows in the store, which is thinned out first if it is full."""
        option = self.options[0]
        if option["rows"] >= option["most_rows"]:
            self._thin(2 * int(option["most_rows"]) // 3)
        if option["seen"] >= 2 * option["drawn"]:
            known = min(int(option["seen"]), SAMPLE)
            ordered = np.ascontiguousarray(np.sort(self.sample[:known].T, axis=1))
            order = np.argsort(self.sampled[:known], kind="stable")
            draw_edges(self.options, *(getattr(self, name) for name in STORE), ordered, order)
        rows, features, classes = self.n_rows, len(self.features), self.counts.shape[1]
        is_nominal = bool((self.features["kind"] == NOMINAL).any())
        if is_nominal:
            count_categories(self.features, self.codes, rows)
        room, cells = self._room(), int(self.features["codes"].sum())
        most = room.nodes(len(self.rows), sum(int(getattr(self, name).nbytes) for name in TREE))
        nodes, slots = min(2 * rows + 1, most), room.slots(cells) if rows > _FIRST_ROOM else 0
        sets = nodes if is_nominal else 0
        self.new_nodes = np.zeros(nodes, NODE)
        self.new_counts, self.new_recent = np.zeros((nodes, classes)), np.zeros((0, classes))
        self.new_sets = np.zeros((sets, SET_WORDS), np.uint64)
        self.growth, self.places = np.zeros(1, GROWTH), np.zeros((2, rows), np.int32)
        # Where there is no room for all nodes, none is made for a few rows, rather than all of them on one side.
        self.growth["least"] = max(2, _NODES_PER_ROW * rows // most)
        # Depth first, the smaller child first: hardly more than the logarithm of the rows waits.
        self.stack, self.live = np.zeros(256, ENTRY), np.zeros(features, np.int32)
        self.hists, self.slots = np.zeros((slots, cells * classes)), np.zeros(slots, np.int32)
        self.spans, self.shares = np.zeros(nodes, SPAN), np.zeros((nodes, classes))
        tree, work = (tuple(getattr(self, name) for name in names) for names in (NEW, WORK))
        begin_growth(self.options, *(getattr(self, name) for name in STORE), *tree, *work)
        if rows * features <= AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Do at once what is left of a growth."""
        while self.is_growing:
            run_rows(*self.learning, *_NO_ROWS, 0, 0, FINISH)
            if self.options["stopped"][0] == STANDS:
                self.settle()
            else:
                self.swap()
        self.options["stopped"] = DONE

    def regrow(self) -> None:
        """Grow anew from all rows in the store, now."""
        self.finish()
        self.begin()
        self.finish()

    def settle(self) -> None:
        """Leave out pruned nodes and the room for growing of a tree that stands; it has to catch up with the rows."""
        chosen = np.empty(len(self.new_sets), np.int32)
        live, sets = close_ranks(self.new_nodes, self.new_counts, int(self.growth["nodes"][0]), chosen)
        self.new_nodes, self.new_counts = self.new_nodes[:live].copy(), self.new_counts[:live].copy()
        self.new_sets = self.new_sets[chosen[:sets]]
        self.new_recent = np.zeros_like(self.new_counts)
        self._drop_work()
        self.options["stage"] = REPLAYING
        self.options["position"] = max(0, int(self.options["grown"][0]) - REPLAYED)

    def swap(self) -> None:
        """Put the new tree in the place of the old one, and say when the next growth is due."""
        for name in TREE:
            setattr(self, name, getattr(self, f"new_{name}"))
        self.options["nodes"] = len(self.nodes)
        self.give_up()
        m, most = int(self.options["grown"][0]), int(self.options["most_rows"][0])
        self.options["due"] = min(int(self._stretch(m) * m) + 1, most)

    def _stretch(self, rows: int) -> float:
        """Return how many times as many rows a growth waits for as the last one had."""
        stretch = float(self.options["stretch"][0])
        if stretch > 0.0:
            return stretch ** float(self.options["turn"][0]) if rows == FIRST_GROWTH else stretch
        return 1.25 if rows < 20_000 else 1.5 if rows < 100_000 else 2.0

    def give_up(self) -> None:
        """Forget a growth that is under way."""
        classes = self.counts.shape[1]
        self.new_nodes = np.zeros(0, NODE)
        self.new_counts = np.zeros((0, classes))
        self.new_recent = np.zeros((0, classes))
        self.new_sets = np.zeros((0, SET_WORDS), np.uint64)
        self._drop_work()
        self.options["stage"] = IDLE

    def keep_last(self, rows: int) -> None:
        """Forget all rows but the last ones, and grow from these at once.

        Parameters
        ----------
        rows
            How many are kept.
        """
        self.give_up()
        self._choose_rows(np.arange(max(0, self.n_rows - rows), self.n_rows))
        self.singles.fade()
        self.regrow()

    def _drop_work(self) -> None:
        self.growth = np.zeros(1, GROWTH)
        self.places = np.zeros((2, 0), np.int32)
        self.stack = np.zeros(0, ENTRY)
        self.live = np.zeros(0, np.int32)
        self.hists = np.zeros((0, 0))
        self.slots = np.zeros(0, np.int32)
        self.spans = np.zeros(0, SPAN)
        self.shares = np.zeros((0, 0))

    def _thin(self, rows: int) -> None:
        """Keep so many rows: the last ones, or a sample of all that were ever learned."""
        kept = np.arange(self.n_rows - rows, self.n_rows)
        if not self.options["recent_only"][0]:
            ranks = _draw_numbers(self.options["seed"][0], RANK, self.rows["number"][: self.n_rows])
            kept = np.sort(np.argsort(ranks, kind="stable")[:rows])
        self._choose_rows(kept)

    def _choose_rows(self, kept: npt.NDArray[np.int64]) -> None:
        room = len(self.rows)
        self.codes[: len(kept)], self.rows[: len(kept)] = self.codes[kept], self.rows[kept]
        self.codes[len(kept) : room], self.rows[len(kept) : room] = 0, np.zeros(1, ROW)
        self.options["rows"] = len(kept)

    def _widen_classes(self, least: int) -> None:
        old = self.counts.shape[1]
        if least <= old:
            return
        classes = max(least, 2, old + old // 2)
        room = self._room(classes=classes)
        most = room.rows()
        if len(self.nodes) * (NODE.itemsize + 16 * classes) > room.for_trees // 4:
            self._cut_down()
        tables = 2 * len(self.nodes) + len(self.new_counts) + len(self.new_recent)
        if self.is_growing and self.nbytes + 8 * tables * (classes - old) > self.max_bytes:
            self.give_up()
            self.options["due"] = self.n_rows
        for name in ("counts", "recent", "new_counts", "new_recent"):
            setattr(self, name, enlarged(getattr(self, name), (len(getattr(self, name)), classes)))
        self._limit_rows(most)
        self.make_room_for_singles()

    def _room(self, features: int | None = None, classes: int | None = None) -> Room:
        """Return what there is room for; with so many features or classes if told."""
        return Room(
            self.max_bytes,
            len(self.features) if features is None else features,
            self.counts.shape[1] if classes is None else classes,
            int((self.features["kind"] == NUMERIC).sum()),
            not self.singles.is_off,
        )

    def _cut_down(self) -> None:
        """Keep only the root of a tree that has become too large, and grow anew with the next row."""
        self.give_up()
        self.nodes, self.counts, self.recent = self.nodes[:1].copy(), self.counts[:1].copy(), self.recent[:1].copy()
        self.nodes["left"], self.nodes["feature"], self.nodes["set"] = 0, -1, -1
        self.sets = self.sets[:0].copy()
        self.options["nodes"], self.options["due"] = 1, min(int(self.options["due"][0]), max(self.n_rows, FIRST_GROWTH))

    def _limit_rows(self, most: int) -> None:
        """Let the store have room for so many rows; what is too much is thinned out at once."""
        self.options["most_rows"] = most
        if len(self.rows) > most:
            self.give_up()
            if self.n_rows > most:
                self._thin(2 * most // 3)
            self.codes, self.rows = self.codes[:most].copy(), self.rows[:most].copy()
            self.options["due"] = min(int(self.options["due"][0]), most)


def _draw_numbers(seed: np.uint64, purpose: int, numbers: npt.NDArray[np.uint32]) -> Floats:
    """Return a number from 0 to 1 for each row, as kernels draw it."""
    with np.errstate(over="ignore"):
        mixed = mix_bits.py_func(seed + _STEP * np.uint64(purpose) + _STEP * _STEP * numbers.astype(np.uint64))
    return np.asarray((mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53)
