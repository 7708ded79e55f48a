"""`quercus reproduce`: the tables and figures of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from quercus.cli.errors import say

if TYPE_CHECKING:
    from quercus.papers.exhibits import Scale
    from quercus.papers.reproducing import Executor


def reproduce_exhibits(
    paper: str | None,
    figure: str | None,
    table: str | None,
    scale: Scale,
    jobs: int,
    where: str,
    out: Path,
    fresh: bool,
    book: bool,
) -> None:
    """Measure what is missing, draw it, tell it, and write the page if wanted."""
    from quercus.papers.book import save_pages
    from quercus.papers.catalog import PAPERS, find_exhibits
    from quercus.papers.pages import verdict_of
    from quercus.papers.reproducing import reproduce
    from quercus.papers.storing import Store

    exhibits, store = find_exhibits(paper, figure, table), Store(out)
    if fresh:
        for exhibit in exhibits:
            store.forget(exhibit.runs, scale)
    failed = reproduce(exhibits, scale, store, jobs, _executor(where), say)
    for exhibit in exhibits:
        if store.is_whole(exhibit.runs, scale):
            cells, seconds = store.read_times(exhibit.runs, scale)
            name = exhibit.name.replace("-", " ")
            print(f"{exhibit.runs.paper} {name}: {exhibit.title} ({cells:,} cells, {seconds:,.0f} s of CPU time)")
            for claim in exhibit.tell(store.read(exhibit.runs, scale)).claims:
                print(f"  {verdict_of(claim)}: {claim.says} {claim.seen}")
    if book:
        save_pages(PAPERS if paper is None else (paper,), store, say)
    say(f"results are in {out}")
    if failed:
        kinds = {one.split(": ", 1)[-1]: one for one in failed}
        shown = "; ".join(list(kinds.values())[:5])
        raise RuntimeError(f"{len(failed):,} cells failed, the others are kept; {shown}")


def list_exhibits(paper: str | None) -> None:
    """Print what there is, with the number of cells at each scale."""
    from quercus.papers.catalog import find_exhibits

    for exhibit in find_exhibits(paper):
        quick, full = (len(exhibit.runs.cells(scale)) for scale in ("quick", "full"))
        name = f"{exhibit.runs.paper} --{exhibit.kind} {exhibit.number}"
        print(f"{name:28} {quick:7,} {full:9,} cells  {exhibit.title}")


def _executor(where: str) -> Executor:
    if where == "ray":
        from quercus.papers.on_ray import run_on_ray

        return run_on_ray
    from quercus.papers.executing import run_in_processes

    return run_in_processes
