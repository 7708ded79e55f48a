"""The papers and what of them is shown, by name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache

from quercus.papers.exhibits import Exhibit, Paper, Runs

# Each is a package with a module `exhibits`, in which `PAPER` is a `Paper`.
PAPERS = ("credible", "confidence", "bayesian", "utility", "reinforced")


@cache
def load_paper(name: str) -> Paper:
    """Return a paper.

    Parameters
    ----------
    name
        One of `PAPERS`, or the dotted name of a package that is made like them.

    Examples
    --------
    >>> load_paper("credible").name
    'credible'
    >>> load_paper("acorn")
    Traceback (most recent call last):
        ...
    ValueError: there is no paper 'acorn'; there are credible, confidence, bayesian, utility and reinforced.
    """
    if name not in PAPERS and "." not in name:
        raise ValueError(f"there is no paper {name!r}; there are {', '.join(PAPERS[:-1])} and {PAPERS[-1]}.")
    package = name if "." in name else f"quercus.papers.{name}"
    paper: Paper = importlib.import_module(f"{package}.exhibits").PAPER
    return paper


def find_exhibits(paper: str | None, figure: str | None = None, table: str | None = None) -> list[Exhibit]:
    """Return the exhibits that are meant, in order.

    Parameters
    ----------
    paper
        One of `PAPERS`, None for all.
    figure, table
        A number; both None: all.

    Examples
    --------
    >>> [exhibit.name for exhibit in find_exhibits("credible", figure="5")]
    ['figure-5']
    """
    if (figure or table) and paper is None:
        raise ValueError("--figure and --table need a paper before them, such as: quercus reproduce credible.")
    found = list(_all_exhibits(paper))
    if not figure and not table:
        return found
    wanted = {f"figure-{figure}" if figure else "", f"table-{table}" if table else ""}
    chosen = [exhibit for exhibit in found if exhibit.name in wanted]
    if len(chosen) < bool(figure) + bool(table):
        names = ", ".join(exhibit.name.replace("-", " ") for exhibit in found)
        raise ValueError(f"{paper} has no such exhibit; there are {names}.")
    return chosen


def find_runs(paper: str, name: str) -> Runs:
    """Return runs by name.

    Parameters
    ----------
    paper, name
        Where they belong, and how they are called.

    Examples
    --------
    >>> find_runs("credible", find_exhibits("credible")[0].runs.name).paper
    'credible'
    """
    return next(exhibit.runs for exhibit in load_paper(paper).exhibits if exhibit.runs.name == name)


def _all_exhibits(paper: str | None) -> Iterator[Exhibit]:
    for name in PAPERS if paper is None else (paper,):
        yield from load_paper(name).exhibits
