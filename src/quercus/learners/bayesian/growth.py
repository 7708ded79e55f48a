"""The prior of a forest, and how it grows with classes, features and categories as they come."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from quercus.engine import Floats, Integers
from quercus.learners.bayesian.arguments import Plan
from quercus.learners.bayesian.kernels import draw_numbers
from quercus.learners.bayesian.state import FORESTS, SEES_ALL, SEES_PROJECTION, SEES_SUBSET, TREE, BayesianForestState
from quercus.rows import NOMINAL, NUMERIC, UNSEEN

# Rows of mu and sigma are whole multiples of this many numbers.
_PAD = 8
_LARGEST_PRIOR = 0.01
_PEAK = 1.0
# A forest that begins must have memory for the leaves of so many classes.
_LIKELY_CLASSES = 8


def new_forest(plan: Plan, features: int, seed: int | None) -> BayesianForestState:
    """Return a forest that has learned nothing.

    Parameters
    ----------
    plan
        What it is to be.
    features
        Number of features.
    seed
        Of the trees' generators.

    Examples
    --------
    >>> forest = new_forest(Plan({}, (2, 2), 3, 0, "float32", 2**20), features=4, seed=0)
    >>> forest.sigma.shape, forest.alpha.shape
    ((9, 8, 8), (12, 0))
    """
    trees, settings = _new_trees(plan, seed), plan.settings
    sight, diagonal = settings.get("sight", SEES_ALL), bool(settings.get("diagonal", 0))
    inner, leaves = int((2 ** trees["depth"] - 1).sum()), int((2 ** trees["depth"]).sum())
    width = padded(1 + (features if sight == SEES_ALL else plan.seen))
    sizes = {"tree": plan.trees, "node": inner, "leaf": leaves, "class": 0, "feature": features, "column": 1 + features}
    sizes |= {"width": width, "square": 0 if diagonal else width, "block": settings.get("block", 0)}
    sizes |= dict.fromkeys(("picker", "pick", "choice", "mapper", "mapped", "image"), 0)
    if sight == SEES_SUBSET:
        sizes |= {"picker": inner, "pick": width, "choice": features}
    if sight == SEES_PROJECTION:
        sizes |= {"mapper": inner, "mapped": 1 + features, "image": width}
    kind = FORESTS[plan.dtype]
    needed = sum(field.nbytes(sizes | {"class": _LIKELY_CLASSES}) for field in kind.fields.values())
    if needed > plan.max_bytes:
        raise ValueError(
            f"max_bytes={plan.max_bytes:,} is too small for {plan.trees} trees with {inner} nodes over {features} "
            f"features, which need {needed:,} bytes; give more, or fewer trees, less depth, covariance='diagonal' "
            "or a subset of the features."
        )
    forest = kind(parts=None, **sizes)
    forest.max_bytes = plan.max_bytes
    forest.trees[:] = trees
    for name, value in settings.items():
        forest.options[name] = value
    forest.options["columns"] = 1
    forest.columns[0] = (-1, -1, 0.0, 0.0, 0.0)
    _init_nodes(forest, 1 + plan.seen if sight == SEES_PROJECTION else 1)
    if sight == SEES_SUBSET:
        forest.options["share"] = plan.seen / features
        for t, node in _nodes_by_tree(forest):
            forest.chosen[node, np.argsort(_draw(forest, t, features), kind="stable")[: plan.seen]] = 1
    return forest


def _new_trees(plan: Plan, seed: int | None) -> npt.NDArray[np.void]:
    """Return trees with their generators and depths."""
    trees: npt.NDArray[np.void] = np.zeros(plan.trees, TREE)
    low, high = plan.depths
    for t, source in enumerate(np.random.SeedSequence(seed).spawn(plan.trees)):
        for name, number in zip(("g0", "g1", "g2", "g3"), source.generate_state(4, np.uint64), strict=True):
            trees[name][t] = number
        drawn = np.empty(1)
        draw_numbers(trees[t : t + 1], 0, drawn)
        trees["depth"][t] = low + int(drawn[0] * (high - low + 1))
    sizes = 2 ** trees["depth"]
    trees["node"] = np.cumsum(sizes - 1) - (sizes - 1)
    trees["leaf"] = np.cumsum(sizes) - sizes
    return trees


def _init_nodes(forest: BayesianForestState, size: int) -> None:
    """Give every node the bias, and a projection its other dimensions."""
    forest.nodes["size"] = forest.nodes["trace"] = size
    forest.nodes["top"] = 1.0
    forest.variances[:, :size] = 1.0
    if not forest.diagonal:
        forest.sigma[:, np.arange(size), np.arange(size)] = 1.0
    forest.maps[:, :1, :1] = 1.0


def add_features(forest: BayesianForestState, total: int) -> None:
    """Grow to a total number of features, of which nothing has been seen yet.

    Parameters
    ----------
    forest
        Which grows.
    total
        Number of features.
    """
    old = forest.sizes["feature"]
    if total <= old:
        return
    subset = forest.sight == SEES_SUBSET
    forest.resize(feature=total, choice=total if subset else 0)
    if subset:
        for t, node in _nodes_by_tree(forest):
            forest.chosen[node, old:] = _draw(forest, t, total - old) < forest.options["share"][0]


def declare_classes(forest: BayesianForestState, total: int) -> None:
    """Count classes as known: before the first row the leaves are dealt to all of them at once.

    Parameters
    ----------
    forest
        Which grows.
    total
        Number of classes.
    """
    if total <= forest.classes:
        return
    at_once = forest.classes == 0 and total > 1
    _ensure_capacity(forest, {"class": total if at_once else _capacity(forest.sizes["class"], total)})
    if at_once:
        for t in range(len(forest.trees)):
            leaves = _leaves(forest, t)
            numbers = _draw(forest, t, total * len(leaves)).reshape(total, len(leaves))
            forest.alpha[leaves, :total] = _LARGEST_PRIOR * (1.0 - numbers.T)
            order = np.argsort(_draw(forest, t, len(leaves)), kind="stable")
            forest.alpha[leaves[order], np.arange(len(leaves)) % total] += _PEAK
        forest.options["classes"] = total
    while forest.classes < total:
        _add_class(forest)


def add_values(forest: BayesianForestState, row: Floats, label: int, nominal: list[bool]) -> None:
    """Give every value of a row, and its class, a place; where they do not fit, nothing is changed.

    Parameters
    ----------
    forest
        Which grows.
    row
        Values by feature; NaN if missing, codes of categories.
    label
        Its class.
    nominal
        For each feature, whether it holds categories.
    """
    new: list[tuple[int, int]] = []
    for j in np.flatnonzero(~np.isnan(row[: forest.sizes["feature"]])).tolist():
        feature = forest.features[j]
        if nominal[j]:
            new += [(j, code) for code in range(int(feature["categories"]), int(row[j]) + 1)]
        elif feature["kind"] == UNSEEN:
            new.append((j, -1))
    known = forest.sizes["class"]
    wider = {"class": max(label + 1, 2, known + known // 4)} if label >= known else {}
    _ensure_capacity(forest, _sizes_for(forest, new) | wider)
    for j, category in new:
        _add_column(forest, j, category)
    while forest.classes <= label:
        _add_class(forest)


def _capacity(capacity: int, classes: int) -> int:
    """Return the capacity for classes that come one after the other."""
    while capacity < classes:
        capacity = max(capacity + 1, 2, capacity + capacity // 4)
    return capacity


def _sizes_for(forest: BayesianForestState, new: list[tuple[int, int]]) -> dict[str, int]:
    """Return the sizes that columns need: in the list of them, and in the nodes that see them."""
    wanted: dict[str, int] = {}
    capacity, needed = forest.sizes["column"], forest.n_columns + len(new)
    if needed > capacity:
        wanted["column"] = max(needed, capacity + capacity // 4)
        if forest.sight == SEES_PROJECTION:
            wanted["mapped"] = wanted["column"]
    if forest.sight != SEES_PROJECTION and new:
        width = forest.sizes["width"]
        least = int((forest.nodes["size"] + sum(_sees(forest, j) for j, _ in new)).max())
        if least > width:
            wanted["width"] = padded(max(least, width + width // 4))
            wanted |= {} if forest.diagonal else {"square": wanted["width"]}
            wanted |= {"pick": wanted["width"]} if forest.sight == SEES_SUBSET else {}
    return wanted


def _ensure_capacity(forest: BayesianForestState, sizes: Mapping[str, int]) -> None:
    """Give dimensions these sizes, or raise MemoryError and leave all as it is."""
    peak = forest.peak_at(**sizes)
    if sizes and peak > forest.max_bytes:
        reason = "another class" if sizes.keys() == {"class"} else "another category or feature"
        raise MemoryError(
            f"{reason} needs {peak - forest.nbytes:,} bytes beside the {forest.nbytes:,} in use, which is above "
            f"max_bytes={forest.max_bytes:,}; give the learner a larger max_bytes."
        )
    forest.resize(**sizes)


def _add_class(forest: BayesianForestState) -> None:
    """Let another class come, with a peak in those leaves of each tree that know least."""
    old = forest.classes
    for t in range(len(forest.trees)):
        leaves = _leaves(forest, t)
        totals = forest.alpha[leaves, :old].sum(axis=1)
        forest.alpha[leaves, old] = _LARGEST_PRIOR * (1.0 - _draw(forest, t, len(leaves)))
        peaks = np.argsort(totals, kind="stable")[: max(1, len(leaves) // (old + 1))]
        forest.alpha[leaves[peaks], old] += _PEAK
    forest.options["classes"] = old + 1


def _add_column(forest: BayesianForestState, feature: int, category: int) -> None:
    """Append a column, with mean 0, the mean of the variances, and no covariance with the others."""
    column = forest.n_columns
    forest.options["columns"] = column + 1
    forest.columns[column] = (feature, category, 0.0, 0.0, 0.0)
    forest.features["kind"][feature] = NUMERIC if category < 0 else NOMINAL
    if category >= 0:
        forest.features["categories"][feature] = category + 1
    if forest.sight == SEES_PROJECTION:
        _draw_direction(forest, column)
        return
    nodes = np.flatnonzero(_sees(forest, feature))
    place = forest.nodes["size"][nodes]
    variance = (forest.nodes["trace"][nodes] / place).astype(forest.dtype)
    forest.variances[nodes, place] = variance
    if not forest.diagonal:
        forest.sigma[nodes, place, place] = variance
    forest.nodes["size"][nodes] += 1
    forest.nodes["trace"][nodes] += variance
    forest.nodes["top"][nodes] = np.maximum(forest.nodes["top"][nodes], variance)
    if forest.sight == SEES_SUBSET:
        forest.picks[nodes, place] = column


def _draw_direction(forest: BayesianForestState, column: int) -> None:
    """Draw what a column adds to the dimensions of each node: normal, so that lengths are kept on average."""
    from scipy.special import ndtri

    dimensions = int(forest.nodes["size"][0]) - 1
    for t, tree in enumerate(forest.trees):
        nodes = slice(tree["node"], tree["node"] + 2 ** tree["depth"] - 1)
        inner = nodes.stop - nodes.start
        numbers = _draw(forest, t, inner * dimensions).reshape(inner, dimensions)
        # In the middle of its 2^-53 a number is neither 0 nor 1.
        forest.maps[nodes, column, 1 : 1 + dimensions] = ndtri(numbers + 2.0**-54) / math.sqrt(dimensions)


def _draw(forest: BayesianForestState, tree: int, count: int) -> Floats:
    """Return uniform numbers in [0, 1) from the generator of a tree."""
    numbers = np.empty(count)
    draw_numbers(forest.trees, tree, numbers)
    return numbers


def _leaves(forest: BayesianForestState, t: int) -> Integers:
    tree = forest.trees[t]
    return np.arange(tree["leaf"], tree["leaf"] + 2 ** tree["depth"])


def _nodes_by_tree(forest: BayesianForestState) -> list[tuple[int, int]]:
    """Return each node, with its tree."""
    counts = 2 ** forest.trees["depth"] - 1
    return list(zip(np.repeat(np.arange(len(counts)), counts).tolist(), range(counts.sum()), strict=True))


def _sees(forest: BayesianForestState, feature: int) -> Integers:
    """Return for each node whether it sees the columns of a feature, as 0 or 1."""
    if forest.sight == SEES_SUBSET:
        seen: Integers = forest.chosen[:, feature].astype(np.int64)
        return seen
    return np.ones(forest.sizes["node"], np.int64)


def padded(size: int) -> int:
    """Return the next multiple of the padding.

    Examples
    --------
    >>> padded(257)
    264
    """
    return -(-size // _PAD) * _PAD
