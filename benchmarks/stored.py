"""Measurements that are kept cell by cell, so that a run that was stopped goes on, and pages can quote it."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.tables import show
from quercus.papers.exhibits import Exhibit, Row, Scale
from quercus.papers.pages import verdict_of
from quercus.papers.reproducing import reproduce
from quercus.papers.storing import Store

RESULTS = Path(__file__).parent / "results"  # not those of the pages: a run there would find everything measured


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where results are kept, and how many are measured at a time."""
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER", help="where results are kept")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cells at a time (1: times are fair)")


def run_part(words: str | None, parts: Mapping[str, Sequence[Exhibit]], check: Callable[[], None] | None = None) -> int:
    """Measure the part that the command line names, and return its exit status.

    Parameters
    ----------
    words
        What the command says of itself.
    parts
        What each part shows.
    check
        Called first, to stop where something is not there that all parts need.
    """
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--quick", action="store_true", help="fewer runs and rows")
    add_arguments(parser)
    given = parser.parse_args()
    if check is not None:
        check()
    return run_stored(parts[given.part], "quick" if given.quick else "full", given.out, given.jobs)


def run_stored(exhibits: Sequence[Exhibit], scale: Scale, out: Path, jobs: int) -> int:
    """Measure what is not there yet and print the tables; return 1 if something failed."""
    store = Store(out)
    failed = reproduce(exhibits, scale, store, jobs)
    for exhibit in exhibits:
        if not store.is_whole(exhibit.runs, scale):
            continue
        told = exhibit.tell(store.read(exhibit.runs, scale))
        print(f"\n{exhibit.title}")
        for sheet in told.sheets:
            print(*filter(None, [sheet.caption]), show(sheet.columns, sheet.rows), sep="\n")
        print(*(f"{verdict_of(claim)}: {claim.says} {claim.seen}" for claim in told.claims), told.note, sep="\n")
    print(*failed, sep="\n", file=sys.stderr)
    return int(bool(failed))


def attempt_lines(names: Iterable[str], problem: str | None, call: Callable[[], list[Row]]) -> list[Row]:
    """Return the lines of a cell, or one line that says why there are none.

    Parameters
    ----------
    names
        The columns that are not known then, all numbers.
    problem
        Why it cannot be run here, None if it can.
    call
        Gives the lines without their column ``problem``.
    """
    if problem is None:
        try:
            return [{**line, "problem": ""} for line in call()]
        except (RuntimeError, MemoryError) as error:
            # A contender that comes to a bad end; others are to be seen.
            problem = f"{type(error).__name__}: {error}".splitlines()[0]
    return [{**dict.fromkeys(names, math.nan), "problem": problem}]
