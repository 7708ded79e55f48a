"""The studies and what of them is shown, by name."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

from experiments.harness.exhibits import Exhibit, Runs, Study

# Each is a package with a module `exhibits`, in which `STUDY` is a `Study`.
PAPERS = tuple(f"papers.{name}" for name in ("credible", "confidence", "bayesian", "utility", "reinforced"))
_PEERS = "choosing evergreen growing labels drift defaults credible bayesian utility reinforced speed"
PEERS = tuple(f"peers.{name}" for name in _PEERS.split())


@cache
def load_study(name: str) -> Study:
    """Return a study.

    Parameters
    ----------
    name
        One of `PAPERS` or `PEERS`, or the dotted name of another package that is made like them.

    Examples
    --------
    >>> load_study("papers.credible").name
    'papers.credible'
    >>> load_study("papers.acorn")
    Traceback (most recent call last):
        ...
    ValueError: there is no 'acorn' among the papers; there are credible, confidence, bayesian, utility and reinforced.
    """
    study: Study = _find_module(name).STUDY
    return study


def describe_study(name: str) -> str:
    """Return what a study is about, and its parts.

    Parameters
    ----------
    name
        As for `load_study`.

    Examples
    --------
    >>> print(describe_study("peers.defaults"))
    How the defaults of the growing trees were chosen.
    <BLANKLINE>
    passes  accuracy on ten streams, leaves on pure noise, and streams that were made for one default each.
    """
    return (_find_module(name).__doc__ or "").strip()


def _find_module(name: str) -> ModuleType:
    kind, _, short = name.partition(".")
    known = {"papers": PAPERS, "peers": PEERS}.get(kind)
    if known is None:
        package = name
    elif name in known:
        package = f"experiments.{name}"
    else:
        *others, last = (one.partition(".")[2] for one in known)
        raise ValueError(f"there is no {short!r} among the {kind}; there are {', '.join(others)} and {last}.")
    return importlib.import_module(f"{package}.exhibits")


def find_exhibits(
    study: str, part: str | None = None, figure: str | None = None, table: str | None = None
) -> list[Exhibit]:
    """Return the exhibits that are meant, in order.

    Parameters
    ----------
    study
        As for `load_study`.
    part
        One of its parts, None for all.
    figure, table
        A number; both None: all.

    Examples
    --------
    >>> [exhibit.name for exhibit in find_exhibits("papers.credible", figure="5")]
    ['figure-5']
    >>> [exhibit.name for exhibit in find_exhibits("peers.choosing", "labels")]
    ['table-5', 'figure-3']
    """
    every = load_study(study).exhibits
    found = [exhibit for exhibit in every if part in (None, exhibit.part)]
    if not found:
        parts = ", ".join(dict.fromkeys(exhibit.part for exhibit in every))
        raise ValueError(f"{study} has no part {part!r}; there are {parts}.")
    if not figure and not table:
        return found
    wanted = {f"figure-{figure}" if figure else "", f"table-{table}" if table else ""}
    chosen = [exhibit for exhibit in found if exhibit.name in wanted]
    if len(chosen) < bool(figure) + bool(table):
        names = ", ".join(exhibit.name.replace("-", " ") for exhibit in found)
        raise ValueError(f"{study} has no such exhibit; there are {names}.")
    return chosen


def find_runs(study: str, name: str) -> Runs:
    """Return runs by name.

    Parameters
    ----------
    study, name
        Where they belong, and how they are called.

    Examples
    --------
    >>> find_runs("papers.credible", "figure-5").study
    'papers.credible'
    """
    return next(exhibit.runs for exhibit in load_study(study).exhibits if exhibit.runs.name == name)
