"""What a forest is to be: its arguments, checked and as numbers for the kernels."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from quercus.arguments import check_choice, check_number, check_whole
from quercus.learners.bayesian.state import FLOORS, GRAINS, LARGEST, SEES_ALL, SEES_PROJECTION, SEES_SUBSET

INFERENCES = ("full", "path")
_COVARIANCES = ("full", "diagonal")
# Covariances of so many columns are read and written so often that making several changes at a time pays.
_WIDE, _WIDE_BLOCK = 96, 8
_DEFAULT_DEPTH = 5
_DEEPEST = 16


class Plan(NamedTuple):
    """What a forest is to be, from its arguments and what is known at its start.

    ``settings`` are fields of the options; ``depths`` the least and the largest; ``seen`` the features that a node with
    a subset sees, or the dimensions of a projection.
    """

    settings: dict[str, Any]
    depths: tuple[int, int]
    trees: int
    seen: int
    dtype: str
    max_bytes: int


def check_params(params: Any) -> None:
    """Raise an error for an argument that makes no sense."""
    check_whole("trees", params.trees, most=10_000)
    check_whole("threads", params.threads, most=1024)
    check_depth(params.depth)
    check_choice("covariance", params.covariance, _COVARIANCES)
    check_choice("inference", params.inference, INFERENCES)
    check_choice("scaling", params.scaling, ("auto", None))
    check_choice("dtype", params.dtype, FLOORS)
    check_number("bagging", params.bagging, least=0, most=0.99)
    check_number("forget", params.forget, least=0, most=0.5)
    check_number("skip", params.skip, least=0, most=0.1)
    if params.block is not None:
        check_whole("block", params.block, most=32)
    check_number("max_bytes", params.max_bytes, least=1)
    for name in ("projection", "subset"):
        check_part(name, getattr(params, name))
    if params.projection is not None and params.subset is not None:
        raise ValueError("a node sees a projection or a subset of the features, not both; leave one of them out.")


def make_plan(params: Any, features: int, classes: int) -> Plan:
    """Return what a forest is to be."""
    sight, seen = SEES_ALL, 0
    if params.subset is not None:
        sight, seen = SEES_SUBSET, count_part(params.subset, features)
        if seen > features:
            raise ValueError(f"subset={params.subset} is more than the {features} features; give a smaller number.")
    elif params.projection is not None:
        sight, seen = SEES_PROJECTION, count_part(params.projection, features)
    block, width = params.block, features if sight == SEES_ALL else seen
    settings = {
        "sight": sight,
        "diagonal": params.covariance == "diagonal",
        "scaled": params.scaling is not None,
        "skip": params.skip,
        "forget": params.forget,
        "bagging": params.bagging,
        # None wait where there are only variances.
        "block": 0 if params.covariance == "diagonal" else block or (_WIDE_BLOCK if width >= _WIDE else 1),
        "floor": FLOORS[params.dtype],
        "grain": GRAINS[params.dtype],
        "largest": LARGEST[params.dtype],
    }
    depths = find_depths(params.depth, classes)
    return Plan(settings, depths, int(params.trees), seen, params.dtype, int(params.max_bytes))


def check_depth(depth: Any) -> None:
    """Raise ValueError unless this is a depth, a range of depths, or None.

    Parameters
    ----------
    depth
        What was given.

    Examples
    --------
    >>> check_depth((6, 4))
    Traceback (most recent call last):
        ...
    ValueError: depth=(6, 4) is no range; give the smaller number first.
    """
    if depth is None:
        return
    pair = depth if isinstance(depth, tuple | list) else (depth, depth)
    if len(pair) != 2:
        raise ValueError(f"depth={depth!r} is unknown; give a whole number, a pair (low, high), or None.")
    for value in pair:
        check_whole("depth", value, most=_DEEPEST)
    if pair[0] > pair[1]:
        raise ValueError(f"depth={depth!r} is no range; give the smaller number first.")


def find_depths(depth: Any, classes: int) -> tuple[int, int]:
    """Return the least and the largest depth; without one it follows from the number of classes that are known.

    Parameters
    ----------
    depth
        What was given.
    classes
        Number of classes known before the first row, 0 if none are.

    Examples
    --------
    >>> find_depths(None, 10), find_depths(None, 0), find_depths((4, 6), 10)
    ((6, 6), (5, 5), (4, 6))
    """
    if depth is None:
        depth = math.ceil(math.log2(classes)) + 2 if classes else _DEFAULT_DEPTH
    low, high = depth if isinstance(depth, tuple | list) else (depth, depth)
    return int(low), int(high)


def check_part(name: str, value: Any) -> None:
    """Raise ValueError unless this is a number of at least 1, a share, or None.

    Parameters
    ----------
    name
        Of the argument.
    value
        What was given.

    Examples
    --------
    >>> check_part("subset", 1.5)
    Traceback (most recent call last):
        ...
    ValueError: subset=1.5 is out of range; give a whole number of at least 1, a share above 0.0 and at most 1.0, or ...
    """
    is_number = hasattr(value, "__index__") and not isinstance(value, bool) and value >= 1
    is_share = isinstance(value, float) and 0.0 < value <= 1.0
    if not (value is None or is_number or is_share):
        raise ValueError(
            f"{name}={value!r} is out of range; give a whole number of at least 1, a share above 0.0 and at most 1.0, "
            "or None."
        )


def count_part(value: float, features: int) -> int:
    """Return a number as it is, or a share as a number of the features.

    Parameters
    ----------
    value
        Number or share.
    features
        Number of features.

    Examples
    --------
    >>> count_part(3, 9), count_part(0.5, 9)
    (3, 5)
    """
    return math.ceil(value * features) if isinstance(value, float) else int(value)
