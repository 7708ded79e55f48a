"""The command line of the experiments; results are stored cell by cell, and a run that was stopped goes on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from quercus.cli.errors import guarded, say

if TYPE_CHECKING:
    from experiments.harness.exhibits import Exhibit

app = typer.Typer(
    name="python -m experiments",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Thoroughness(StrEnum):
    """How much is measured."""

    QUICK = "quick"
    FULL = "full"


class Place(StrEnum):
    """Where cells are measured."""

    PROCESSES = "processes"
    RAY = "ray"


Name = Annotated[str, typer.Argument(metavar="NAME", help="As `list` shows it, or all.")]
Part = Annotated[str | None, typer.Argument(metavar="[PART]", help="As `list` shows it; none: all of them.")]
Figure = Annotated[str | None, typer.Option(metavar="N", help="Only this figure.")]
Table = Annotated[str | None, typer.Option(metavar="N", help="Only this table.")]
Scale = Annotated[
    Thoroughness, typer.Option(help="quick: few repetitions and thin grids; full: as many as were published.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Cells at a time; with 1, times are fair.")]
Where = Annotated[Place, typer.Option("--on", help="Processes of this machine, or a Ray cluster (RAY_ADDRESS).")]
Out = Annotated[Path, typer.Option(help="Folder for the results; what is there is not measured again.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget what was measured before.")]
Again = Annotated[
    list[str] | None, typer.Option(metavar="VALUE", help="Forget only cells with this value, such as a learner's name.")
]
Book = Annotated[bool, typer.Option("--book", help="Write a page about the papers there, index.html.")]
# Not what the pages are made from: a run there would find everything measured.
_OUT = Path("experiments-run")


@app.command()
def papers(
    name: Name,
    part: Part = None,
    figure: Figure = None,
    table: Table = None,
    scale: Scale = Thoroughness.QUICK,
    jobs: Jobs = 1,
    where: Where = Place.PROCESSES,
    out: Out = _OUT,
    fresh: Fresh = False,
    again: Again = None,
    book: Book = False,
) -> None:
    """Measure tables and figures of the papers behind the learners, beside what was published."""
    with guarded():
        names = _studies("papers", name)
        _measure(_exhibits(names, part, figure, table), scale.value, jobs, where, out, fresh, again)
        if book:
            from experiments.harness.book import write_book
            from experiments.harness.storing import ResultStore

            (out / "index.html").write_text(write_book(names, ResultStore(out)), encoding="utf-8")
            say(f"wrote {out / 'index.html'}")


@app.command()
def peers(
    name: Name,
    part: Part = None,
    figure: Figure = None,
    table: Table = None,
    scale: Scale = Thoroughness.QUICK,
    jobs: Jobs = 1,
    where: Where = Place.PROCESSES,
    out: Out = _OUT,
    fresh: Fresh = False,
    again: Again = None,
) -> None:
    """Measure Quercus beside others, and beside itself with other settings."""
    with guarded():
        _measure(_exhibits(_studies("peers", name), part, figure, table), scale.value, jobs, where, out, fresh, again)


@app.command()
def pages(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; 1 if a page is not what results say.")] = False,
) -> None:
    """Write docs/reproduction.md, and what stands between markers in README and docs, from experiments/results."""
    with guarded():
        from experiments.harness.pages import ROOT, make_pages

        stale = [(path, text) for path, text in make_pages() if path.read_text(encoding="utf-8") != text]
        for path, text in stale:
            print(f"{path.relative_to(ROOT)} {'is not what the results say' if check else 'written'}")
            if not check:
                path.write_text(text, encoding="utf-8")
        if check and stale:
            raise typer.Exit(1)


@app.command("list")
def show(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Of a study, such as papers.credible.")] = "all",
) -> None:
    """Show the studies, their parts, and how many cells a quick and a full run have."""
    with guarded():
        from experiments.harness.catalog import PAPERS, PEERS, describe_study

        if name != "all":
            print(describe_study(name), end="\n\n")
        for exhibit in _exhibits([*PAPERS, *PEERS] if name == "all" else [name]):
            kind, _, short = exhibit.runs.study.partition(".")
            quick, full = (len(exhibit.runs.cells(scale)) for scale in ("quick", "full"))
            called = f"{kind} {short} {exhibit.part} --{exhibit.kind} {exhibit.number}"
            print(f"{called:50} {quick:7,} {full:9,} cells  {exhibit.title}")


def _studies(kind: Literal["papers", "peers"], name: str) -> list[str]:
    """Return the names of studies; another package than ours is named by its dotted path."""
    from experiments.harness.catalog import PAPERS, PEERS

    if name == "all":
        return list(PAPERS if kind == "papers" else PEERS)
    return [name if "." in name else f"{kind}.{name}"]


def _exhibits(
    names: list[str], part: str | None = None, figure: str | None = None, table: str | None = None
) -> list[Exhibit]:
    from experiments.harness.catalog import find_exhibits

    if len(names) > 1 and (part or figure or table):
        raise ValueError("a part, --figure and --table are of one study; give its name instead of all.")
    return [exhibit for name in names for exhibit in find_exhibits(name, part, figure, table)]


def _measure(
    exhibits: list[Exhibit],
    scale: Literal["quick", "full"],
    jobs: int,
    where: Place,
    out: Path,
    fresh: bool,
    again: list[str] | None,
) -> None:
    """Measure what is missing, draw it, and say what it comes to."""
    from experiments.harness.catalog import load_study
    from experiments.harness.executing import run_in_processes
    from experiments.harness.measuring import measure
    from experiments.harness.on_ray import run_on_ray
    from experiments.harness.pages import head_of
    from experiments.harness.storing import ResultStore
    from experiments.harness.text import report_lines

    store = ResultStore(out)
    for study in dict.fromkeys(exhibit.runs.study for exhibit in exhibits):
        load_study(study).check()
    if fresh or again:
        for exhibit in exhibits:
            store.forget(exhibit.runs, scale, () if fresh else again or ())
    executor = run_on_ray if where is Place.RAY else run_in_processes
    failed = measure(exhibits, scale, store, jobs, executor, say)
    for exhibit in exhibits:
        if store.is_whole(exhibit.runs, scale):
            cells, seconds = store.read_times(exhibit.runs, scale)
            print(f"\n{exhibit.runs.study} {head_of(exhibit)} ({cells:,} cells, {seconds:,.0f} s of CPU time)")
            print(*report_lines(exhibit.summarize(store.read(exhibit.runs, scale))), sep="\n")
    say(f"results are in {out}")
    if failed:
        kinds = {one.split(": ", 1)[-1]: one for one in failed}
        shown = "; ".join(list(kinds.values())[:5])
        raise RuntimeError(f"{len(failed):,} cells failed, the others are kept; {shown}")


if __name__ == "__main__":
    app()
