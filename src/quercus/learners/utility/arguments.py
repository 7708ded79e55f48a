"""The arguments of a utility tree: what they may be, and the numbers that kernels take them as."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any

from quercus.acquisition.layout import MOST_BINS
from quercus.arguments import check_choice, check_number, check_whole
from quercus.schema.refusals import listed

OBJECTIVES = {"ig": 0, "us": 1, "ec2": 2, "eced": 3, "random": 4}
NUMERICS = {"quantiles": 0, "thresholds": 1, "exp3": 2}
CLASSES = {"learned": 0, "uniform": 1}


def check_arguments(tree: Any) -> None:
    """Raise an error for an argument of a utility tree that makes no sense.

    Parameters
    ----------
    tree
        The learner.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> check_arguments(UtilityTree(lookahead=2, objective="us"))
    Traceback (most recent call last):
        ...
    ValueError: lookahead=2 is for objective='ig', not 'us'; leave one of them out.
    """
    check_choice("objective", tree.objective, OBJECTIVES)
    check_choice("numeric", tree.numeric, NUMERICS)
    check_choice("classes", tree.classes, CLASSES)
    check_whole("bins", tree.bins, least=2, most=MOST_BINS)
    if tree.hypotheses is not None:
        check_whole("hypotheses", tree.hypotheses, most=2**20)
    check_whole("lookahead", tree.lookahead, most=2)
    if tree.select is not None:
        check_whole("select", tree.select, most=2**31)
    check_number("prior", tree.prior, least=1e-100, most=1e100)
    check_number("gain", tree.gain, least=0)
    if tree.worth is not None and tree.worth != "auto":
        check_number("worth", tree.worth, least=0, above=True)
    check_number("forget", tree.forget, least=0, most=0.5)
    check_number("max_bytes", tree.max_bytes, least=1)
    if tree.confidence is not None:
        check_number("confidence", tree.confidence, least=0, most=1)
    if tree.lookahead > 1 and tree.objective != "ig":
        raise ValueError(f"lookahead=2 is for objective='ig', not {tree.objective!r}; leave one of them out.")
    _check_ranges(tree.ranges, tree.numeric)


def check_range_names(tree: Any, names: Collection[str]) -> None:
    """Raise an error if ranges are given for what is no feature, unless such features may still come.

    Parameters
    ----------
    tree
        The learner.
    names
        The features.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> check_range_names(UtilityTree(ranges={"aeg": (0, 100)}, numeric="thresholds"), ["age"])
    Traceback (most recent call last):
        ...
    ValueError: ranges names 'aeg', which is no feature; the features are 'age'.
    """
    for name in (tree.ranges or ()) if tree.features == "closed" else ():
        if name not in names:
            raise ValueError(f"ranges names {name!r}, which is no feature; the features are {listed(list(names))}.")


def _check_ranges(ranges: Any, numeric: str) -> None:
    if ranges is None:
        return
    if not isinstance(ranges, Mapping):
        raise TypeError(f"ranges={ranges!r} is no dict; write it as {{'age': (0, 100)}}.")
    if numeric == "quantiles" and ranges:
        raise ValueError("ranges are for numeric='thresholds' or 'exp3'; quantiles are found without.")
    for name, ends in ranges.items():
        is_pair = isinstance(ends, tuple | list) and len(ends) == 2
        are_numbers = is_pair and all(isinstance(end, Real) and math.isfinite(end) for end in ends)
        if not are_numbers or not ends[0] < ends[1]:
            raise ValueError(f"ranges[{name!r}]={ends!r} is no range; give (low, high), the smaller number first.")
