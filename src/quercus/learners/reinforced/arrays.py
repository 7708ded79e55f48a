"""The arrays of a reinforced tree, and room for classes, features and situations as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import KEPT_VALUES, NOMINAL, NUMERIC, UNSEEN
from quercus.drift.kernels import ADWIN_WIDTH
from quercus.flat import FlatArrays, enlarged
from quercus.learners.reinforced.layout import FEATURE, KEPT, NOWHERE, OPTIONS, QUESTION, RESULT, SIGN, SITUATION
from quercus.predictor import Floats

_GENERATOR = ("g0", "g1", "g2", "g3")
_FIRST_ROOM = 64
_LINK_BYTES = 8
_GROWING = ("situations", "questions", "results", "signs")


class Sizes(dict[str, int]):
    """Room for situations, questions, results and signs.

    Examples
    --------
    >>> Sizes(situations=64, questions=64, results=64, signs=64).nbytes(classes=2)
    11264
    """

    def nbytes(self, classes: int) -> int:
        """Return how many bytes that takes.

        Parameters
        ----------
        classes
            Room for classes.

        Examples
        --------
        >>> Sizes(situations=1, questions=0, results=0, signs=0).nbytes(classes=3)
        72
        """
        situation = SITUATION.itemsize + 8 * classes + _LINK_BYTES
        rest = self["questions"] * QUESTION.itemsize + self["results"] * RESULT.itemsize
        return self["situations"] * situation + rest + self["signs"] * (SIGN.itemsize + 8 * classes)


class ReinforcedArrays(FlatArrays):
    """The arrays of a reinforced tree; see ``layout`` for what they hold.

    Every change of size follows from the rows seen so far alone, never from how they were cut into batches.

    Parameters
    ----------
    bins
        The most bins of a numeric feature.
    features
        Number of features.
    seed
        Of the generator of the cases' seeds.
    max_bytes
        Limit.

    Examples
    --------
    >>> arrays = ReinforcedArrays(bins=5, features=2, seed=0, max_bytes=2**20)
    >>> arrays.fit_row(np.array([0.5, 3.0]), 0, ["numeric", "nominal"], 36, 32)
    >>> arrays.shares.shape, arrays.kept.shape
    ((64, 2), (1, 512))
    """

    NAMES = (
        *("options", "features", "edges", "kept", "situations", "shares", "links", "questions", "results"),
        *("signs", "tallies", "watch"),
    )

    def __init__(self, bins: int, features: int, seed: int | None, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.options: npt.NDArray[np.void] = np.zeros(1, OPTIONS)
        self.options["bins"] = bins
        self.options["free"] = NOWHERE
        for name, word in zip(_GENERATOR, np.random.SeedSequence(seed).generate_state(4, np.uint64), strict=True):
            self.options[name] = word
        self.features: npt.NDArray[np.void] = np.zeros(0, FEATURE)
        self.edges: Floats = np.zeros((0, bins - 1))
        self.kept: npt.NDArray[np.void] = np.zeros((0, KEPT_VALUES), KEPT)
        self.situations: npt.NDArray[np.void] = np.zeros(1, SITUATION)
        self.situations["first"] = NOWHERE
        self.options["situations"] = 1
        self.shares: Floats = np.zeros((1, 0))
        self.questions: npt.NDArray[np.void] = np.zeros(0, QUESTION)
        self.results: npt.NDArray[np.void] = np.zeros(0, RESULT)
        self.links: npt.NDArray[np.int32] = np.zeros((2, 0), np.int32)
        self.signs: npt.NDArray[np.void] = np.zeros(0, SIGN)
        self.tallies: Floats = np.zeros((0, 0))
        self.watch: Floats = np.zeros((1, ADWIN_WIDTH))
        self.add_features(features)
        self.resize(self.fitting())

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.options["classes"][0])

    def count(self, name: str) -> int:
        """Return how many situations, questions, results or signs are used.

        Parameters
        ----------
        name
            Of the array.
        """
        return int(self.options[name][0])

    def used(self) -> dict[str, npt.NDArray[Any]]:
        """Return the used part of every array that the others do not follow from."""
        parts = {name: getattr(self, name) for name in self.NAMES if name != "links"}
        for name in _GROWING:
            parts[name] = parts[name][: self.count(name)]
        parts["shares"] = parts["shares"][: self.count("situations")]
        parts["tallies"] = parts["tallies"][: self.count("signs")]
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
        self._reserve((total - old) * (FEATURE.itemsize + 8 * self.edges.shape[1]), "another feature")
        more = np.zeros(total - old, FEATURE)
        more["kind"], more["slot"], more["sign"] = UNSEEN, -1, NOWHERE
        self.features = np.concatenate([self.features, more])
        self.edges = enlarged(self.edges, (total, self.edges.shape[1]))

    def declare_classes(self, total: int) -> None:
        """Count classes as known.

        Parameters
        ----------
        total
            Number of classes.
        """
        self._widen_classes(total)
        self.options["classes"] = max(self.classes, total)

    def fit_row(self, row: Floats, label: int, kinds: Sequence[str | None], nodes: int, pairs: int) -> None:
        """Make room for what a row may bring.

        Parameters
        ----------
        row
            Values by feature; NaN if missing, codes of categories.
        label
            Its class.
        kinds
            For each feature ``"numeric"`` or ``"nominal"``.
        nodes, pairs
            The most situations and questions that it may bring.
        """
        self._widen_classes(label + 1)
        new = [f for f in np.flatnonzero(~np.isnan(row)).tolist() if self.features["kind"][f] == UNSEEN]
        numeric = [f for f in new if kinds[f] != "nominal"]
        old, total = len(self.kept), len(self.kept) + len(numeric)
        self._reserve(len(numeric) * KEPT_VALUES * KEPT.itemsize, "another feature")
        self.kept = enlarged(self.kept, (total, KEPT_VALUES))
        self.features["slot"][numeric] = np.arange(old, total)
        for f in new:
            self.features["kind"][f] = NOMINAL if kinds[f] == "nominal" else NUMERIC
        self._make_room({"situations": nodes, "questions": pairs, "results": pairs, "signs": 2 * len(row)})

    def _widen_classes(self, least: int) -> None:
        old = self.shares.shape[1]
        if least > old:
            classes = max(least, 2, old + old // 2)
            while self.nbytes + 8 * (len(self.situations) + len(self.signs)) * (classes - old) > self.max_bytes:
                self._forget_half("another class")
            for name in ("shares", "tallies"):
                setattr(self, name, enlarged(getattr(self, name), (len(getattr(self, name)), classes)))

    def _make_room(self, more: dict[str, int]) -> None:
        """Double what is too small; where there is no memory for that, forget half of the situations first."""
        while True:
            sizes = Sizes({name: len(getattr(self, name)) for name in more})
            before = sizes.nbytes(self.shares.shape[1])
            for name, number in more.items():
                while self.count(name) + number > sizes[name]:
                    sizes[name] *= 2
            if self.nbytes - before + sizes.nbytes(self.shares.shape[1]) <= self.max_bytes:
                self.resize(sizes)
                return
            self._forget_half("what an example may teach")

    def _reserve(self, more: int, reason: str) -> None:
        while self.nbytes + more > self.max_bytes:
            self._forget_half(reason)

    def fitting(self) -> Sizes:
        """Return the least room of those that doubling leads to."""
        return Sizes({name: max(_FIRST_ROOM, 1 << (self.count(name) - 1).bit_length()) for name in _GROWING})

    def resize(self, sizes: Sizes) -> None:
        """Give situations, questions, results and signs so much room, and link situations anew.

        Parameters
        ----------
        sizes
            Room for each; a power of two of situations.
        """
        for name, number in sizes.items():
            if number != len(getattr(self, name)):
                setattr(self, name, _resized(getattr(self, name), number))
        if self.links.shape[1] != sizes["situations"]:
            self.shares = _resized(self.shares, sizes["situations"])
            self.link(sizes["situations"])
        if len(self.tallies) != sizes["signs"]:
            self.tallies = _resized(self.tallies, sizes["signs"])

    def link(self, room: int) -> None:
        """Make the links by which situations are found.

        Parameters
        ----------
        room
            For so many situations.
        """
        count = self.count("situations")
        self.links = np.full((2, room), NOWHERE, np.int32)
        slots = (self.situations["key0"][:count] & np.uint64(room - 1)).astype(np.int64)
        order = np.argsort(slots, kind="stable")
        follows = slots[order[1:]] == slots[order[:-1]]
        self.links[1, order[:-1][follows]] = order[1:][follows]
        firsts = order[np.concatenate([[True], ~follows])]
        self.links[0, slots[firsts]] = firsts

    def _forget_half(self, reason: str) -> None:
        """Forget the half of the situations with the least weight, of equal ones the latest, and shrink."""
        count = self.count("situations")
        if count < 2:
            raise MemoryError(
                f"there is no room for {reason} beside the {self.nbytes:,} bytes in use; give the learner a larger "
                f"max_bytes than {self.max_bytes:,}."
            )
        ranked = 1 + np.lexsort((-np.arange(1, count), self.situations["n"][1:count]))
        kept = np.ones(count, bool)
        kept[ranked[: count // 2]] = False
        questions, results = self.questions[: self.count("questions")], self.results[: self.count("results")]
        asked = kept[questions["situation"]]
        led = (results["question"] >= 0) & asked[results["question"]]
        moved, renamed, shifted = _moves(kept), _moves(asked), _moves(led)
        lost = (results["situation"] >= 0) & ~kept[results["situation"]]
        results["value"][lost] = self.situations["value"][results["situation"][lost]]
        results["situation"] = moved[results["situation"]]
        results["question"] = renamed[results["question"]]
        results["next"] = shifted[results["next"]]
        questions["situation"] = moved[questions["situation"]]
        questions["first"], questions["next"] = shifted[questions["first"]], renamed[questions["next"]]
        self.shares, self.situations = self.shares[:count][kept], self.situations[:count][kept]
        self.situations["first"] = renamed[self.situations["first"]]
        self.questions, self.results = questions[asked], results[led]
        for name in ("situations", "questions", "results"):
            self.options[name] = len(getattr(self, name))
        self.options["free"] = NOWHERE
        self.links = self.links[:, :0]
        self.resize(self.fitting())


def _moves(kept: npt.NDArray[np.bool]) -> npt.NDArray[np.int64]:
    """Return where each goes that is kept, NOWHERE for the others and for what was nowhere before."""
    return np.append(np.where(kept, np.cumsum(kept) - 1, NOWHERE), NOWHERE)


def _resized(array: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    fitted = np.zeros((rows, *array.shape[1:]), array.dtype)
    fitted[: min(rows, len(array))] = array[:rows]
    return fitted
