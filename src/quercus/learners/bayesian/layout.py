"""The arrays of a Bayesian forest, and the integer codes that kernels branch on.

The nodes of all trees are numbered through, tree by tree, each tree as a heap; so are the leaves.

=========  =========================  =====================================================================
options    record[1]                  the arguments as codes and numbers, and the counters
trees      record[tree]               where the nodes and leaves of a tree are, and its random generator
nodes      record[node]               what is known of a node's covariance besides its numbers
mu         dtype[node, size]          mean of the weights of a split, zero behind a node's size
variances  dtype[node, size]          the diagonal of their covariance
sigma      dtype[node, size, size]    their covariance but for what waits; covariance="diagonal": [node, 0, size]
waiting    dtype[node, block, size]   vectors w whose w w' is still to be subtracted from sigma
signs      dtype[node, block]         -1 where it is to be added
alpha      float64[leaf, class]       the Dirichlet of a leaf
picks      int32[node, size]          subset: the columns that a node sees; otherwise empty
chosen     uint8[node, feature]       subset: the features that a node sees; otherwise empty
maps       dtype[node, column, size]  projection: what each column adds to what a node sees; otherwise empty
columns    record[column]             where a column's values come from, and their running mean and variance
features   record[feature]            kind, range and known weight of a feature
=========  =========================  =====================================================================
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from quercus.compile import array_type

NUMERIC, NOMINAL, UNSEEN = range(3)  # UNSEEN: only missing values so far
SEES_ALL, SEES_SUBSET, SEES_PROJECTION = range(3)
# What a loop over rows does; PATH: it answers by one leaf.
PREDICT, LEARN, PATH = 1, 2, 4

# Below this share of |xi|^2 max diag Sigma a variance is rounding error.
FLOORS = {"float32": 1e-4, "float64": 1e-10}
# With each change a diagonal grows by this share of its largest number: rounding must not add up to more than that.
GRAINS = {"float32": 2.0**-23, "float64": 2.0**-52}
# A value beyond this counts as this: its square, and that times a covariance, must stay finite.
LARGEST = {"float32": 1e9, "float64": 1e60}

OPTIONS = np.dtype(
    [
        ("sight", np.int64),
        ("diagonal", np.int64),
        ("scaled", np.int64),
        ("share", np.float64),  # subset: the probability that a node sees a feature that comes later
        ("skip", np.float64),
        ("forget", np.float64),
        ("bagging", np.float64),
        ("block", np.int64),  # so many changes of a covariance are made together
        ("floor", np.float64),
        ("grain", np.float64),
        ("largest", np.float64),
        ("classes", np.int64),
        ("columns", np.int64),
        ("loss", np.float64),  # sum of -w ln p(y), each before it was learned
        ("weight", np.float64),
    ],
    align=True,
)
TREE = np.dtype(
    [
        ("depth", np.int64),
        ("node", np.int64),  # the root among all nodes
        ("leaf", np.int64),  # the first leaf among all leaves
        ("g0", np.uint64),
        ("g1", np.uint64),
        ("g2", np.uint64),
        ("g3", np.uint64),
    ],
    align=True,
)
NODE = np.dtype(
    [
        ("size", np.int64),
        ("waits", np.int64),  # number of changes that wait
        ("inflation", np.float64),  # sigma is to be multiplied by this: forgetting that has not been written down yet
        ("trace", np.float64),  # of the covariance without inflation
        ("top", np.float64),  # the largest on its diagonal
    ],
    align=True,
)
COLUMN = np.dtype(
    [
        ("feature", np.int64),  # -1: the bias
        ("category", np.int64),  # -1: numeric
        ("weight", np.float64),  # numeric: of known values; nominal: of the category
        ("mean", np.float64),
        ("squares", np.float64),  # weighted sum of squares around the mean
    ],
    align=True,
)
FEATURE = np.dtype(
    [
        ("kind", np.int64),
        ("categories", np.int64),
        ("low", np.float64),
        ("high", np.float64),
        ("weight", np.float64),  # of known values
    ],
    align=True,
)


def state_types(dtype: Any) -> tuple[types.Array, ...]:
    """Return the types of the arrays, from options to maps, as kernels take them.

    Examples
    --------
    >>> len(state_types(np.float32))
    11
    """
    records = (array_type(OPTIONS, 1), array_type(TREE, 1), array_type(NODE, 1))
    gaussian = tuple(array_type(dtype, dimensions) for dimensions in (2, 2, 3, 3, 2))
    return (*records, *gaussian, array_type(np.float64, 2), array_type(np.int32, 2), array_type(dtype, 3))


class Nodes(NamedTuple):
    """The arrays of all nodes, as inner kernels pass them on."""

    nodes: Any
    mu: Any
    variances: Any
    sigma: Any
    waiting: Any
    signs: Any
    picks: Any
    maps: Any


class Ahead(NamedTuple):
    """Products of a tree's covariances with rows that come next, made several at a time; see ``ahead``.

    ``rows`` by column and ``chances`` (by node and row, how probably it comes there) are of a few rows; ``seen`` is
    what a node sees of a group of them, ``picked`` which they are, ``products`` what comes out, by node; ``places``
    tells, by node and row, which product is a row's (-1: none), ``last`` the last row that has one. A covariance is
    written once ``until`` changes wait; rows with no more than the ``least`` chance are not foreseen.
    """

    rows: Any
    chances: Any
    seen: Any
    picked: Any
    products: Any
    places: Any
    last: Any
    until: int
    least: float


class Scratch(NamedTuple):
    """Room for one row on its way through a tree.

    ``z`` is the row by column, ``xi`` what a node sees of it, ``other`` a row of that width for any use, ``places`` of
    numbers that are not 0; by node: ``spreads`` stored sigma times xi, ``facts`` its figures; by node and leaf, in heap
    order: ``state``, and ``figures`` rho, u, and its upper and lower bound; ``leaf`` room for a leaf's equation;
    ``factors`` for those of changes that wait.
    """

    z: Any
    xi: Any
    other: Any
    places: Any
    spreads: Any
    facts: Any
    state: Any
    figures: Any
    leaf: Any
    factors: Any
