"""What a Bayesian forest remembers, declared once, and which of it makes sense.

The nodes of all trees are numbered through, tree by tree, each tree as a heap; so are the leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from quercus.rows import NOMINAL, NUMERIC, UNSEEN
from quercus.state import Field, Index, Real, State, StateError, Whole

SEES_ALL, SEES_SUBSET, SEES_PROJECTION = range(3)
# Beside the flags of `quercus.rows`: a row is answered by one leaf of each tree.
PATH = 16

# Below this share of |xi|^2 max diag Sigma a variance is rounding error.
FLOORS = {"float32": 1e-4, "float64": 1e-10}
# With each change a diagonal grows by this share of its largest number: rounding must not add up to more than that.
GRAINS = {"float32": 2.0**-23, "float64": 2.0**-52}
# A value beyond this counts as this: its square, and that times a covariance, must stay finite.
LARGEST = {"float32": 1e9, "float64": 1e60}

_DEEPEST = 20
_WIDEST = 2**31
# Whatever is learned from rows of allowed weights stays far within these, and so do squares and sums of it.
_MOST = 1e160
_MOST_WEIGHT = 1e120
_LEAST_ALPHA, _MOST_ALPHA = 1e-19, 1e18
_LEAST_SCALE, _MOST_SCALE = 1e-30, 1e30
# The trace of a covariance over its size is kept within 2^-20 .. 2^20.
_BAND = 2.0**24
_ROUNDING = 1e-3
_UNDERFLOW = 1e-290

_POSITIVE = Real(low=_LEAST_SCALE, high=_MOST_SCALE)
_WEIGHT = Real(low=0.0, high=_MOST_WEIGHT)
_WORD = Whole(np.uint64)
_EACH = Whole(high=_WIDEST)


def _shared(dtype: type[np.floating[Any]]) -> dict[str, Field]:
    """Return the arrays that answering needs, too; those that may be empty have dimensions of their own."""
    name, most = np.dtype(dtype).name, min(_MOST, float(np.finfo(dtype).max))
    number = Real(dtype, -most, most)
    return {
        # The arguments as codes and numbers, and the counters.
        "options": Field(
            {
                "sight": Whole(high=SEES_PROJECTION),
                "diagonal": Whole(high=1),
                "scaled": Whole(high=1),
                # Subset: the probability that a node sees a feature that comes later.
                "share": Real(low=0.0, high=1.0),
                "skip": Real(low=0.0, high=1.0),
                "forget": Real(low=0.0, high=0.99),
                "bagging": Real(low=0.0, high=1.0),
                # So many changes of a covariance are made together.
                "block": Whole(high=32),
                "floor": Real(low=FLOORS[name], high=FLOORS[name]),
                "grain": Real(low=GRAINS[name], high=GRAINS[name]),
                "largest": Real(low=LARGEST[name], high=LARGEST[name]),
                "classes": _EACH,
                "columns": Whole(low=1, high=_WIDEST),
                # Sum of -w ln p(y), each before it was learned.
                "loss": Real(low=-_MOST_WEIGHT, high=_MOST_WEIGHT),
                "weight": _WEIGHT,
            },
            1,
        ),
        # Where the nodes and leaves of a tree are, and its random generator.
        "trees": Field(
            {
                "depth": Whole(low=1, high=_DEEPEST),
                "node": Index("node", np.int64, optional=False),
                "leaf": Index("leaf", np.int64, optional=False),
                **dict.fromkeys(("g0", "g1", "g2", "g3"), _WORD),
            },
            "tree",
        ),
        # What is known of a node's covariance besides its numbers.
        "nodes": Field(
            {
                "size": Whole(low=1, high=_WIDEST),
                "waits": Whole(high=32),
                # Sigma is to be multiplied by this: forgetting that has not been written down yet.
                "inflation": _POSITIVE,
                # Of the covariance without inflation, and the largest on its diagonal.
                "trace": _POSITIVE,
                "top": _POSITIVE,
            },
            "node",
            fill={"size": 1, "inflation": 1.0},
        ),
        # Mean of the weights of a split, zero behind a node's size.
        "mu": Field(number, "node", "width"),
        # Subset: the columns that a node sees.
        "picks": Field(Whole(np.int32), "picker", "pick"),
        # Projection: what each column adds to what a node sees.
        "maps": Field(number, "mapper", "mapped", "image"),
        # Where the values of a column come from, and their running mean and variance. -1: the bias; no category.
        "columns": Field(
            {
                "feature": Index("feature", np.int64),
                "category": Whole(low=-1, high=_WIDEST),
                "weight": _WEIGHT,
                "mean": Real(low=-_MOST, high=_MOST),
                "squares": Real(low=0.0, high=1e250),
            },
            "column",
        ),
        # Kind, range and known weight of a feature.
        "features": Field(
            {
                "kind": Whole(high=UNSEEN),
                "categories": _EACH,
                "low": Real(inf=True),
                "high": Real(inf=True),
                "weight": _WEIGHT,
            },
            "feature",
            fill={"kind": UNSEEN, "low": math.inf, "high": -math.inf},
        ),
    }


def _learning(dtype: type[np.floating[Any]]) -> dict[str, Field]:
    """Return the arrays that only learning and all paths at once need."""
    number = Real(dtype, -_MOST_SCALE, _MOST_SCALE)
    return {
        # The diagonal of the covariance, then all of it but for what waits; covariance="diagonal": no square.
        "variances": Field(Real(dtype, 0.0, _MOST_SCALE), "node", "width"),
        "sigma": Field(number, "node", "square", "width"),
        # Vectors w whose w w' is still to be subtracted from sigma, or where the sign is -1 to be added.
        "waiting": Field(number, "node", "block", "width"),
        "signs": Field(Real(dtype, -1.0, 1.0), "node", "block"),
        # The Dirichlet of a leaf.
        "alpha": Field(Real(low=0.0, high=_MOST_ALPHA), "leaf", "class"),
        # Subset: the features that a node sees.
        "chosen": Field(Whole(np.uint8, high=1), "picker", "choice"),
    }


def _answering() -> dict[str, Field]:
    """Return what a frozen forest has in the place of that: the shares of classes by leaf."""
    return {"means": Field(Real(low=0.0, high=1.0 + 1e-6), "leaf", "class")}


class BayesianState(State):
    """What both states share: trees of splits, and how rows become columns of numbers."""

    # The type of the numbers of the nodes.
    dtype: ClassVar[str]
    options: Any
    trees: Any
    nodes: Any
    mu: Any
    picks: Any
    maps: Any
    columns: Any
    features: Any

    @property
    def classes(self) -> int:
        """Number of classes known."""
        return int(self.options["classes"][0])

    @property
    def n_columns(self) -> int:
        """Number of columns, the bias included."""
        return int(self.options["columns"][0])

    @property
    def sight(self) -> int:
        """What a node sees, as a code."""
        return int(self.options["sight"][0])

    @property
    def diagonal(self) -> bool:
        """Whether only variances are kept."""
        return bool(self.options["diagonal"][0])

    def check(self) -> None:
        """Raise StateError where arrays do not fit together, so that a kernel would leave them or never end."""
        wrong = next((check.__name__.lstrip("_") for check in self._checks() if not check()), None)
        if wrong is not None:
            raise StateError(f"its arrays do not fit together ({wrong}).")

    def _checks(self) -> Iterator[Callable[[], bool]]:
        yield from (self._options, self._trees, self._shapes, self._nodes, self._columns, self._ranges)

    def _options(self) -> bool:
        sizes = self.sizes
        return bool(1 <= self.classes <= sizes["class"] and self.n_columns <= sizes["column"])

    def _trees(self) -> bool:
        trees, sizes = self.trees, self.sizes
        leaves = 2 ** trees["depth"]
        return bool(
            len(trees) > 0
            and np.array_equal(trees["leaf"], np.cumsum(leaves) - leaves)
            and np.array_equal(trees["node"], np.cumsum(leaves - 1) - (leaves - 1))
            and sizes["leaf"] == leaves.sum()
            and sizes["node"] == (leaves - 1).sum()
            and np.any([trees[name] != 0 for name in ("g0", "g1", "g2", "g3")], axis=0).all()
        )

    def _shapes(self) -> bool:
        sizes = self.sizes
        inner, width = sizes["node"], sizes["width"]
        subset, projection = self.sight == SEES_SUBSET, self.sight == SEES_PROJECTION
        return (
            width % 8 == 0
            and self.picks.shape == ((inner, width) if subset else (0, 0))
            and self.maps.shape == ((inner, sizes["column"], width) if projection else (0, 0, 0))
        )

    def _nodes(self) -> bool:
        size, width, columns = self.nodes["size"], self.sizes["width"], self.n_columns
        return bool(
            (size <= width).all()
            and (self.sight != SEES_ALL or (size == columns).all())
            # Every node of a projection has the same dimensions; every node sees the bias.
            and (self.sight != SEES_PROJECTION or (size == size[0]).all())
            and (self.maps[:, :1, :1] == 1.0).all()
            and not self.maps[:, 1:, :1].any()
            and not self.picks[:, :1].any()
            and (self.picks < columns).all()
            and not self.mu[self._beyond()].any()
        )

    def _beyond(self) -> npt.NDArray[np.bool_]:
        """Return which numbers of a node are behind its size, where kernels rely on zeros."""
        beyond: npt.NDArray[np.bool_] = np.arange(self.sizes["width"]) >= self.nodes["size"][:, None]
        return beyond

    def _columns(self) -> bool:
        """Return whether every column has a feature of its kind, and every category one column."""
        used, kind = self.columns[: self.n_columns], self.features["kind"]
        names = set(zip(used["feature"].tolist(), used["category"].tolist(), strict=True))
        expected = {(-1, -1)} | {(j, -1) for j in np.flatnonzero(kind == NUMERIC).tolist()}
        for j in np.flatnonzero(kind == NOMINAL).tolist():
            expected |= {(j, code) for code in range(min(int(self.features["categories"][j]), len(used)))}
        first = (int(used["feature"][0]), int(used["category"][0]))
        return first == (-1, -1) and len(names) == len(used) and names == expected and self._moments(used)

    def _ranges(self) -> bool:
        """Return whether the range of a feature is one, or that of no value at all."""
        low, high = self.features["low"], self.features["high"]
        none = (low == math.inf) & (high == -math.inf)
        return bool((none | (np.isfinite(low) & np.isfinite(high) & (low <= high))).all())

    def _moments(self, used: npt.NDArray[np.void]) -> bool:
        """Return whether the running moments of columns are such as values within the limits have."""
        largest, weight = self.options["largest"][0], used["weight"]
        known = np.where(used["feature"] < 0, weight, self.features["weight"][used["feature"]])
        return bool(
            (np.abs(used["mean"]) <= largest * (1.0 + _ROUNDING)).all()
            and (used["squares"] <= 4.0 * weight * largest**2 + _UNDERFLOW).all()
            and ((used["category"] < 0) | (weight <= known * (1.0 + _ROUNDING))).all()
        )


class BayesianForestState(BayesianState):
    """What a forest remembers that learns: see the comments of its fields.

    Every change of size follows from the rows learned so far alone, never from how they were cut into batches.

    Examples
    --------
    >>> sorted(FORESTS)
    ['float32', 'float64']
    """

    variances: Any
    sigma: Any
    waiting: Any
    signs: Any
    alpha: Any
    chosen: Any
    # Limit for its memory.
    max_bytes = 2**62

    @property
    def known(self) -> npt.NDArray[np.float64]:
        """The Dirichlets of all leaves, over the classes that are known."""
        alpha: npt.NDArray[np.float64] = self.alpha[:, : self.classes]
        return alpha

    def covariance(self, n: int) -> npt.NDArray[np.float64]:
        """Return the covariance of the weights of a node, with all that waits; only its diagonal if that is all.

        Parameters
        ----------
        n
            Which node, of all trees.
        """
        node = self.nodes[n]
        size, waits = node["size"], node["waits"]
        inflation = float(node["inflation"])
        if self.diagonal:
            return inflation * np.asarray(self.variances[n, :size], np.float64)
        waiting = self.waiting[n, :waits, :size].astype(np.float64)
        full: npt.NDArray[np.float64] = inflation * (
            self.sigma[n, :size, :size] - (waiting.T * self.signs[n, :waits]) @ waiting
        )
        return full

    def _checks(self) -> Iterator[Callable[[], bool]]:
        yield from super()._checks()
        yield from (self._covariances, self._leaves)

    def _shapes(self) -> bool:
        sizes = self.sizes
        subset, block = self.sight == SEES_SUBSET, sizes["block"]
        return bool(
            super()._shapes()
            and sizes["square"] == (0 if self.diagonal else sizes["width"])
            and block == self.options["block"][0]
            and (block == 0) == self.diagonal
            and self.chosen.shape == ((sizes["node"], sizes["feature"]) if subset else (0, 0))
        )

    def _covariances(self) -> bool:
        nodes, beyond = self.nodes, self._beyond()
        mean = nodes["trace"] * nodes["inflation"] / nodes["size"]
        trace, top = self.variances.sum(axis=1, dtype=np.float64), self.variances.max(axis=1)
        square = beyond[:, : self.sizes["square"]]
        waits = (self.signs[:, :, None] * self.waiting**2 * self._waits()[:, :, None]).sum(axis=1)
        diagonal = self.variances if self.diagonal else np.diagonal(self.sigma, axis1=1, axis2=2) - waits
        return bool(
            not self.variances[beyond].any()
            and not self.sigma[beyond[:, None, :] | square[:, :, None]].any()
            and not (self.waiting * beyond[:, None, :]).any()
            and (nodes["waits"] < max(self.sizes["block"], 1)).all()
            and np.isin(self.signs, (-1, 0, 1)).all()
            and (mean > 1.0 / _BAND).all()
            and (mean < _BAND).all()
            and (np.abs(trace - nodes["trace"]) <= _ROUNDING * nodes["trace"]).all()
            and (np.abs(top - nodes["top"]) <= _ROUNDING * nodes["top"]).all()
            and (np.abs(diagonal - self.variances) <= _ROUNDING * nodes["top"][:, None]).all()
        )

    def _waits(self) -> npt.NDArray[np.bool_]:
        """Return which changes of each node wait; behind them is what has been written already."""
        waits: npt.NDArray[np.bool_] = np.arange(self.sizes["block"]) < self.nodes["waits"][:, None]
        return waits

    def _leaves(self) -> bool:
        return bool((self.known >= _LEAST_ALPHA).all() and self.options["weight"][0] > 0.0)


class FrozenBayesianState(BayesianState):
    """What answering by one path needs; fields that only learning needs are constant.

    Examples
    --------
    >>> "sigma" in FROZEN["float32"].fields, "means" in FROZEN["float32"].fields
    (False, True)
    """

    means: Any

    def _checks(self) -> Iterator[Callable[[], bool]]:
        yield from super()._checks()
        yield self._means

    def _means(self) -> bool:
        return bool(self.means.shape[1] == self.classes and (np.abs(self.means.sum(axis=1) - 1.0) < 1e-6).all())


def _declare(name: str, base: type[Any], fields: dict[str, Field]) -> Any:
    about = {"dtype": fields["mu"].dtype.name, "__doc__": base.__doc__, "__module__": __name__}
    return type(name, (base,), fields | about)


Forest32 = _declare("Forest32", BayesianForestState, _shared(np.float32) | _learning(np.float32))
Forest64 = _declare("Forest64", BayesianForestState, _shared(np.float64) | _learning(np.float64))
Frozen32 = _declare("Frozen32", FrozenBayesianState, _shared(np.float32) | _answering())
Frozen64 = _declare("Frozen64", FrozenBayesianState, _shared(np.float64) | _answering())
# By the type of the numbers of the nodes.
FORESTS: dict[str, type[BayesianForestState]] = {"float32": Forest32, "float64": Forest64}
FROZEN: dict[str, type[FrozenBayesianState]] = {"float32": Frozen32, "float64": Frozen64}
TREE = Forest32.fields["trees"].dtype
