"""What an experiment shows, as data: the runs behind a table or figure, and how they are summarized and drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from experiments.harness.results import Results

Scale = Literal["quick", "full"]
Value = str | int | float | bool
# What one cell of a grid is about, such as {"data": "diabetes", "learner": "credible", "run": 3}.
Cell = dict[str, Value]
# A line that a cell found: curves are several.
Row = dict[str, Value]


@dataclass(frozen=True)
class Runs:
    """Measurements, cell by cell; several exhibits may look at the same.

    Attributes
    ----------
    study, name
        Where they belong, and how they are called.
    cells
        Given the scale, what is to be measured. Each cell stands for itself, and is found again by its values.
    measure
        Given a cell and its seed, the lines that it comes to. The same cell and seed give the same lines, anywhere.

    Examples
    --------
    >>> runs = Runs("oak", "growth", lambda scale: [{"data": "a", "run": 0}], lambda cell, seed: [{"risk": 0.5}])
    >>> runs.seed({"data": "a", "run": 0, "learner": "x"}) == runs.seed({"data": "a", "run": 0, "learner": "y"})
    True
    """

    study: str
    name: str
    cells: Callable[[Scale], list[Cell]]
    measure: Callable[[Cell, int], list[Row]]

    def seed(self, cell: Cell) -> int:
        """Return the seed of a cell, by study, runs, data set (``"data"``) and repetition (``"run"``)."""
        # The names that studies had when what is stored was measured: the same seeds, the same results.
        study = self.study.removeprefix("papers.").replace("peers.", "benchmarks.")
        return derive_seed(study, self.name, cell.get("data", ""), cell.get("run", 0))


@dataclass(frozen=True)
class Claim:
    """What the paper says, or what is hoped for, whether that holds here, and what was seen.

    Attributes
    ----------
    says
        The paper's words, or their sense.
    holds
        True, False, or None where it cannot be told.
    seen
        The figures, and why.
    """

    says: str
    holds: bool | None
    seen: str


@dataclass(frozen=True)
class PageTable:
    """A table of the page.

    Attributes
    ----------
    columns
        Heads.
    rows
        Cells as text.
    caption
        What it shows.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Report:
    """What the page says of an exhibit.

    Attributes
    ----------
    tables
        What was found beside what was published.
    claims
        Each claim of the paper's text about it.
    note
        What differs from the paper, and why.
    """

    tables: Sequence[PageTable] = ()
    claims: Sequence[Claim] = ()
    note: str = ""


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a study.

    Attributes
    ----------
    kind, number
        ``"figure"`` or ``"table"``, and its number, in the paper if it is one's.
    title
        What it shows, in a line.
    runs
        What it is made from.
    summarize
        Given what was found, what the page says.
    draw
        Given what was found and an empty figure of matplotlib, draws it; None: there is no picture.
    size
        Of the picture, in inches.
    part
        Of the study that measures it, as given to ``python -m experiments``; by default the name of its runs.
    """

    kind: Literal["figure", "table"]
    number: str
    title: str
    runs: Runs
    summarize: Callable[[Results], Report]
    draw: Callable[[Results, Any], None] | None = None
    size: tuple[float, float] = (8.0, 4.5)
    part: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "part", self.part or self.runs.name)

    @property
    def name(self) -> str:
        """Its name in paths, such as ``figure-3``."""
        return f"{self.kind}-{self.number}"


@dataclass(frozen=True)
class Study:
    """A paper, or a comparison with others, and what of it is shown.

    Attributes
    ----------
    name
        Its package below ``experiments``, such as ``papers.credible``.
    title
        What it is about; of a paper authors, title, where.
    exhibits
        In the order of the paper, or of the page.
    summary
        What holds and what does not, in a few sentences.
    check
        Called before anything is measured, to stop where something is not there that all of it needs.
    """

    name: str
    title: str
    exhibits: Sequence[Exhibit] = ()
    summary: str = ""
    check: Callable[[], None] = lambda: None


def derive_seed(*parts: Value) -> int:
    """Return a seed for anything that has a name.

    Parameters
    ----------
    parts
        What it is for.

    Examples
    --------
    >>> derive_seed("credible", "figure-5", "toy", 0)
    3534189692
    """
    return int(np.random.SeedSequence(list(json.dumps(parts).encode())).generate_state(1)[0])


def name_cell(cell: Cell) -> str:
    """Return a name for the file of a cell.

    Parameters
    ----------
    cell
        Which.

    Examples
    --------
    >>> name_cell({"data": "vote", "run": 1})
    'a019cc65903b8c2c'
    """
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]
