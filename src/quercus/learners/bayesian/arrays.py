"""The arrays of a Bayesian forest: the prior, and room for classes, features and categories as they come."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from quercus.flat import FlatArrays, enlarged
from quercus.learners.bayesian.kernels import draw_numbers
from quercus.learners.bayesian.layout import (
    COLUMN,
    FEATURE,
    NODE,
    NOMINAL,
    NUMERIC,
    OPTIONS,
    SEES_ALL,
    SEES_PROJECTION,
    SEES_SUBSET,
    TREE,
    UNSEEN,
)
from quercus.learners.bayesian.plan import Plan
from quercus.predictor import Floats

# Rows of mu and sigma are whole multiples of this many numbers.
_PAD = 8
_LARGEST_PRIOR = 0.01
_PEAK = 1.0


class ForestArrays(FlatArrays):
    """The arrays of a forest; see ``layout`` for what they hold.

    Every change of size follows from the rows learned so far alone, never from how they were cut into batches.

    Parameters
    ----------
    plan
        What the forest is to be.
    features
        Number of features.
    seed
        Of the trees' generators.

    Examples
    --------
    >>> from quercus.learners.bayesian.plan import Plan
    >>> forest = ForestArrays(Plan({}, (2, 2), 3, 0, "float32", 2**20), features=4, seed=0)
    >>> forest.sigma.shape, forest.alpha.shape
    ((9, 8, 8), (12, 0))
    """

    LEARNING = ("options", "trees", "nodes", "mu", "variances", "sigma", "waiting", "signs", "alpha", "picks", "maps")
    NAMES = (*LEARNING, "chosen", "columns", "features")

    def __init__(self, plan: Plan, features: int, seed: int | None) -> None:
        self.max_bytes = plan.max_bytes
        self.options: npt.NDArray[np.void] = np.zeros(1, OPTIONS)
        for name, value in plan.settings.items():
            self.options[name] = value
        self.options["columns"] = 1
        self.trees = _plant(plan, seed)
        inner, leaves = (2 ** self.trees["depth"] - 1).sum(), (2 ** self.trees["depth"]).sum()
        self._check_start(plan, int(inner), int(leaves), features)
        self.nodes: npt.NDArray[np.void] = np.zeros(inner, NODE)
        self.nodes["size"] = 1
        self.nodes["inflation"] = 1.0
        width = padded(1 + (features if self._sight == SEES_ALL else plan.seen))
        self.mu: npt.NDArray[Any] = np.zeros((inner, width), plan.dtype)
        self.variances: npt.NDArray[Any] = np.zeros((inner, width), plan.dtype)
        self.sigma: npt.NDArray[Any] = np.zeros((inner, 0 if self._diagonal else width, width), plan.dtype)
        self.waiting: npt.NDArray[Any] = np.zeros((inner, self._block, width), plan.dtype)
        self.signs: npt.NDArray[Any] = np.zeros((inner, self._block), plan.dtype)
        self.alpha: Floats = np.zeros((leaves, 0))
        picks = (inner, width) if self._sight == SEES_SUBSET else (0, 0)
        self.picks: npt.NDArray[np.int32] = np.zeros(picks, np.int32)
        self.chosen: npt.NDArray[np.uint8] = np.zeros((picks[0], 0), np.uint8)
        maps = (inner, 1 + features, width) if self._sight == SEES_PROJECTION else (0, 0, 0)
        self.maps: npt.NDArray[Any] = np.zeros(maps, plan.dtype)
        self.columns: npt.NDArray[np.void] = np.zeros(1 + features, COLUMN)
        self.columns["feature"][0] = self.columns["category"][0] = -1
        self.features: npt.NDArray[np.void] = np.zeros(0, FEATURE)
        self._begin_nodes(plan.seen)
        self.add_features(features, plan.seen)

    @property
    def dtype(self) -> str:
        """The type of the numbers of the nodes."""
        return str(self.mu.dtype)

    @property
    def learning(self) -> tuple[Any, ...]:
        """The arrays in the order in which kernels take them."""
        return tuple(getattr(self, name) for name in self.LEARNING)

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.options["classes"][0])

    @property
    def n_columns(self) -> int:
        """Number of columns, the bias included."""
        return int(self.options["columns"][0])

    @property
    def _sight(self) -> int:
        return int(self.options["sight"][0])

    @property
    def _diagonal(self) -> bool:
        return bool(self.options["diagonal"][0])

    @property
    def _block(self) -> int:
        return int(self.options["block"][0])

    def covariance(self, n: int) -> Floats:
        """Return the covariance of the weights of a node, with all that waits; only its diagonal if that is all."""
        node = self.nodes[n]
        size, waits = node["size"], node["waits"]
        inflation = float(node["inflation"])
        if self._diagonal:
            return inflation * self.variances[n, :size].astype(np.float64)
        waiting = self.waiting[n, :waits, :size].astype(np.float64)
        full: Floats = inflation * (self.sigma[n, :size, :size] - (waiting.T * self.signs[n, :waits]) @ waiting)
        return full

    def _check_start(self, plan: Plan, inner: int, leaves: int, features: int) -> None:
        width = padded(1 + (features if self._sight == SEES_ALL else plan.seen))
        item = np.dtype(plan.dtype).itemsize
        square = 1 if self._diagonal else 1 + self._block + width
        maps = (1 + features) * width if self._sight == SEES_PROJECTION else 0
        picks = 4 * width + features if self._sight == SEES_SUBSET else 0
        needed = inner * (item * (width + square * width + maps) + picks + NODE.itemsize) + 8 * 2 * 4 * leaves
        needed += (1 + features) * (COLUMN.itemsize + FEATURE.itemsize) + plan.trees * TREE.itemsize
        if needed > plan.max_bytes:
            raise ValueError(
                f"max_bytes={plan.max_bytes:,} is too small for {plan.trees} trees with {inner} nodes over {features} "
                f"features, which need {needed:,} bytes; give more, or fewer trees, less depth, covariance='diagonal' "
                "or a subset of the features."
            )

    def _begin_nodes(self, seen: int) -> None:
        """Give every node the bias, and a projection its other dimensions."""
        size = 1 + seen if self._sight == SEES_PROJECTION else 1
        self.nodes["size"] = size
        self.variances[:, :size] = 1.0
        if not self._diagonal:
            self.sigma[:, np.arange(size), np.arange(size)] = 1.0
        self.nodes["trace"] = size
        self.nodes["top"] = 1.0
        if self._sight == SEES_PROJECTION:
            self.maps[:, 0, 0] = 1.0

    def draw(self, tree: int, count: int) -> Floats:
        """Return uniform numbers in [0, 1) from the generator of a tree."""
        numbers = np.empty(count)
        draw_numbers(self.trees, tree, numbers)
        return numbers

    def add_features(self, total: int, seen: int = 0) -> None:
        """Make room for features up to a total number, of which nothing has been seen yet.

        Parameters
        ----------
        total
            Number of features.
        seen
            At the start, how many of them a node with a subset sees; later ones are drawn by the same share.
        """
        old = len(self.features)
        if total <= old:
            return
        more = np.zeros(total - old, FEATURE)
        more["kind"] = UNSEEN
        more["low"], more["high"] = math.inf, -math.inf
        self.features = np.concatenate([self.features, more])
        if self._sight != SEES_SUBSET:
            return
        if old == 0:
            self.options["share"] = seen / total
        chosen = np.zeros((len(self.nodes), total), np.uint8)
        chosen[:, :old] = self.chosen
        for t, tree in enumerate(self.trees):
            for node in range(tree["node"], tree["node"] + 2 ** tree["depth"] - 1):
                numbers = self.draw(t, total - old)
                if old == 0:
                    chosen[node, np.argsort(numbers, kind="stable")[:seen]] = 1
                else:
                    chosen[node, old:] = numbers < self.options["share"][0]
        self.chosen = chosen

    def declare_classes(self, total: int) -> None:
        """Count classes as known: before the first row the leaves are dealt to all of them at once."""
        if self.classes == 0 and total > 1:
            self._widen_classes(total)
            for t in range(len(self.trees)):
                leaves = self._leaves(t)
                numbers = self.draw(t, total * len(leaves)).reshape(total, len(leaves))
                self.alpha[leaves, :total] = _LARGEST_PRIOR * (1.0 - numbers.T)
                order = np.argsort(self.draw(t, len(leaves)), kind="stable")
                self.alpha[leaves[order], np.arange(len(leaves)) % total] += _PEAK
            self.options["classes"] = total
        while self.classes < total:
            self._add_class()

    def fit_row(self, row: Floats, label: int, nominal: list[bool]) -> None:
        """Give every value of a row, and its class, a place.

        Parameters
        ----------
        row
            Values by feature; NaN if missing, codes of categories.
        label
            Its class.
        nominal
            For each feature, whether it holds categories.
        """
        new: list[tuple[int, int]] = []
        for j in np.flatnonzero(~np.isnan(row[: len(self.features)])).tolist():
            feature = self.features[j]
            if nominal[j]:
                new += [(j, code) for code in range(int(feature["categories"]), int(row[j]) + 1)]
            elif feature["kind"] == UNSEEN:
                new.append((j, -1))
        self._widen_columns(new)
        self._widen_classes(label + 1)
        for j, category in new:
            self._add_column(j, category)
        while self.classes <= label:
            self._add_class()

    def _leaves(self, t: int) -> npt.NDArray[np.int64]:
        tree = self.trees[t]
        return np.arange(tree["leaf"], tree["leaf"] + 2 ** tree["depth"])

    def _add_class(self) -> None:
        """Let another class come, with a peak in those leaves of each tree that know least."""
        old = self.classes
        self._widen_classes(old + 1)
        for t in range(len(self.trees)):
            leaves = self._leaves(t)
            totals = self.alpha[leaves, :old].sum(axis=1)
            self.alpha[leaves, old] = _LARGEST_PRIOR * (1.0 - self.draw(t, len(leaves)))
            peaks = np.argsort(totals, kind="stable")[: max(1, len(leaves) // (old + 1))]
            self.alpha[leaves[peaks], old] += _PEAK
        self.options["classes"] = old + 1

    def _widen_classes(self, least: int) -> None:
        old = self.alpha.shape[1]
        if least <= old:
            return
        classes = max(least, 2, old + old // 4)
        self._check_space(8 * classes * len(self.alpha), "another class")
        wider = np.zeros((len(self.alpha), classes))
        wider[:, :old] = self.alpha
        self.alpha = wider

    def _widen_columns(self, new: list[tuple[int, int]]) -> None:
        """Make room for columns: in the list of them, and in the nodes that see them."""
        needed = self.n_columns + len(new)
        if needed > len(self.columns):
            capacity = max(needed, len(self.columns) + len(self.columns) // 4)
            self._check_space(capacity * COLUMN.itemsize, "another category or feature")
            self.columns = enlarged(self.columns, (capacity,))
        if self._sight == SEES_PROJECTION:
            capacity = len(self.columns)
            if capacity > self.maps.shape[1]:
                shape = (len(self.maps), capacity, self.maps.shape[2])
                self._check_space(math.prod(shape) * self.maps.itemsize, "another category or feature")
                self.maps = enlarged(self.maps, shape)
            return
        sizes = self.nodes["size"] + sum(self._sees(j) for j, _ in new)
        least = int(sizes.max(initial=0))
        if least > self.mu.shape[1]:
            self._widen_nodes(padded(max(least, self.mu.shape[1] + self.mu.shape[1] // 4)))

    def _widen_nodes(self, width: int) -> None:
        inner, square = len(self.nodes), 0 if self._diagonal else width
        # One array at a time: the largest is sigma, and its copy is there beside all the rest.
        more = inner * (square + self._block + 2) * width * self.mu.itemsize + 4 * width * len(self.picks)
        self._check_space(more, "another category or feature")
        self.mu = enlarged(self.mu, (inner, width))
        self.variances = enlarged(self.variances, (inner, width))
        self.sigma = enlarged(self.sigma, (inner, square, width))
        self.waiting = enlarged(self.waiting, (inner, self._block, width))
        if self._sight == SEES_SUBSET:
            self.picks = enlarged(self.picks, (inner, width))

    def _sees(self, feature: int) -> npt.NDArray[np.int64]:
        """Return for each node whether it sees the columns of a feature, as 0 or 1."""
        if self._sight == SEES_SUBSET:
            return self.chosen[:, feature].astype(np.int64)
        return np.ones(len(self.nodes), np.int64)

    def _add_column(self, feature: int, category: int) -> None:
        """Append a column, with mean 0, the mean of the variances, and no covariance with the others."""
        column = self.n_columns
        self.options["columns"] = column + 1
        self.columns[column] = (feature, category, 0.0, 0.0, 0.0)
        self.features["kind"][feature] = NUMERIC if category < 0 else NOMINAL
        if category >= 0:
            self.features["categories"][feature] = category + 1
        if self._sight == SEES_PROJECTION:
            self._draw_direction(column)
            return
        nodes = np.flatnonzero(self._sees(feature))
        place = self.nodes["size"][nodes]
        variance = (self.nodes["trace"][nodes] / place).astype(self.dtype)
        self.variances[nodes, place] = variance
        if not self._diagonal:
            self.sigma[nodes, place, place] = variance
        self.nodes["size"][nodes] += 1
        self.nodes["trace"][nodes] += variance
        self.nodes["top"][nodes] = np.maximum(self.nodes["top"][nodes], variance)
        if self._sight == SEES_SUBSET:
            self.picks[nodes, place] = column

    def _draw_direction(self, column: int) -> None:
        """Draw what a column adds to the dimensions of each node: normal, so that lengths are kept on average."""
        dimensions = int(self.nodes["size"][0]) - 1
        for t, tree in enumerate(self.trees):
            nodes = slice(tree["node"], tree["node"] + 2 ** tree["depth"] - 1)
            inner = nodes.stop - nodes.start
            numbers = self.draw(t, inner * dimensions).reshape(inner, dimensions)
            # In the middle of its 2^-53 a number is neither 0 nor 1.
            self.maps[nodes, column, 1 : 1 + dimensions] = ndtri(numbers + 2.0**-54) / math.sqrt(dimensions)

    def _check_space(self, more: int, reason: str) -> None:
        if self.nbytes + more > self.max_bytes:
            raise MemoryError(
                f"{reason} needs {more:,} bytes beside the {self.nbytes:,} in use, which is above "
                f"max_bytes={self.max_bytes:,}; give the learner a larger max_bytes."
            )


def padded(size: int) -> int:
    """Return the next multiple of the padding.

    Examples
    --------
    >>> padded(257)
    264
    """
    return -(-size // _PAD) * _PAD


def _plant(plan: Plan, seed: int | None) -> npt.NDArray[np.void]:
    """Return trees with their generators and depths."""
    trees = np.zeros(plan.trees, TREE)
    low, high = plan.depths
    for t, source in enumerate(np.random.SeedSequence(seed).spawn(plan.trees)):
        for name, number in zip(("g0", "g1", "g2", "g3"), source.generate_state(4, np.uint64), strict=True):
            trees[name][t] = number
        number = np.empty(1)
        draw_numbers(trees[t : t + 1], 0, number)
        trees["depth"][t] = low + int(number[0] * (high - low + 1))
    sizes = 2 ** trees["depth"]
    trees["node"] = np.cumsum(sizes - 1) - (sizes - 1)
    trees["leaf"] = np.cumsum(sizes) - sizes
    return trees
