"""Pages made from stored results: the one about the papers, and what stands between the markers of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from experiments.harness.catalog import PAPERS, find_exhibits, load_study
from experiments.harness.exhibits import Claim, Exhibit, PageTable, Report, Study
from experiments.harness.measuring import show_time
from experiments.harness.storing import ResultStore

_VERDICTS = {True: "holds", False: "does not hold", None: "cannot be told"}
# The same, of several.
_COUNTED = ("hold", "do not hold", "cannot be told")
ROOT = Path(__file__).parents[2]
# What pages are made from.
RESULTS = ROOT / "experiments" / "results"
_BLOCK = re.compile(r"(<!-- (results|claims): (\S+) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
INTRODUCTION = (
    "Every table and figure of the papers behind Quercus, measured with this library, beside what was published: what "
    "holds, what does not, and why. This page is made from stored results by `python -m experiments pages`; each "
    "exhibit names the command that measures it. In brackets: standard errors over runs. Seeds follow from paper, "
    "exhibit, data set and repetition. A claim holds if the results say so by more than two standard errors; what lies "
    "within cannot be told."
)


def write_page(names: Iterable[str], store: ResultStore, images: str) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    names
        Of papers, in order; of each the exhibits whose results are there.
    store
        The results.
    images
        What stands before the path of a picture: the way from the page to the folder of results.
    """
    studies = list(map(load_study, names))
    parts = ["# The papers, reproduced", INTRODUCTION, _table_text(count_claims(studies, store))]
    for study in studies:
        parts += [f"## {study.title}", study.summary]
        for exhibit in study.exhibits:
            parts += [f"### {head_of(exhibit)}", *_measured(exhibit, store, images)]
    return "\n\n".join(part for part in parts if part) + "\n"


def fill_blocks(text: str, store: ResultStore, images: str) -> str:
    """Return a page with what is between its markers made anew from results.

    Parameters
    ----------
    text
        Markdown; ``<!-- results: papers.credible figure-5 -->`` begins a block of its picture and tables,
        ``<!-- claims: papers.credible figure-5 -->`` one of its claims, ``<!-- claims: all papers -->`` one of how
        many hold; ``<!-- end -->`` ends a block.
    store, images
        As for `write_page`.

    Examples
    --------
    >>> from pathlib import Path
    >>> fill_blocks("nothing to fill", ResultStore(Path("nowhere")), "nowhere")
    'nothing to fill'
    """

    def fill(match: re.Match[str]) -> str:
        start, what, study, name, end = match.groups()
        if (study, name) == ("all", "papers"):
            parts = [_table_text(count_claims(map(load_study, PAPERS), store))]
        else:
            kind, _, number = name.partition("-")
            exhibit = find_exhibits(study, **{kind: number})[0]
            parts = [*(_results if what == "results" else _claims)(exhibit, store, images)]
        return f"{start}\n" + "\n\n".join(parts) + f"\n\n{end}"

    return _BLOCK.sub(fill, text)


def count_claims(papers: Iterable[Study], store: ResultStore) -> PageTable:
    """Return how many claims of each paper hold.

    Parameters
    ----------
    papers
        Which.
    store
        The results.

    Examples
    --------
    >>> from pathlib import Path
    >>> count_claims([load_study("papers.credible")], ResultStore(Path("nowhere"))).rows[0][2:]
    ['0', '0', '0', '0']
    """
    rows = []
    for paper in papers:
        reports = [summarize(exhibit, store) for exhibit in paper.exhibits if store.best_scale(exhibit.runs)]
        verdicts = [claim.holds for report in reports for claim in report.claims]
        counts = [len(reports), *(sum(holds is verdict for holds in verdicts) for verdict in _VERDICTS)]
        rows.append([paper.title, paper.name.removeprefix("papers."), *map(str, counts)])
    return PageTable(
        ["paper", "`python -m experiments papers`", "tables and figures", *(f"claims: {v}" for v in _COUNTED)], rows
    )


def head_of(exhibit: Exhibit) -> str:
    """Return what stands above an exhibit.

    Parameters
    ----------
    exhibit
        Which.

    Examples
    --------
    >>> head_of(find_exhibits("papers.credible", figure="5")[0]).partition(":")[0]
    'Figure 5'
    """
    return f"{exhibit.kind.capitalize()} {exhibit.number}: {exhibit.title}"


def command_of(exhibit: Exhibit, scale: str) -> str:
    """Return what to type for an exhibit.

    Parameters
    ----------
    exhibit
        Which.
    scale
        At which scale.

    Examples
    --------
    >>> command_of(find_exhibits("papers.credible", figure="5")[0], "full")
    'python -m experiments papers credible --figure 5 --scale full'
    """
    study = exhibit.runs.study
    if study.startswith("peers."):
        return f"python -m experiments peers {study.removeprefix('peers.')} {exhibit.part} --scale {scale}"
    name = study.removeprefix("papers.")
    return f"python -m experiments papers {name} --{exhibit.kind} {exhibit.number} --scale {scale}"


def _measured(exhibit: Exhibit, store: ResultStore, images: str) -> Iterator[str]:
    if store.best_scale(exhibit.runs) is None:
        yield f"Not measured yet: `{command_of(exhibit, 'quick')}`."
        return
    yield from _results(exhibit, store, images)
    report = summarize(exhibit, store)
    yield _claims_text(report.claims)
    yield report.note


def _results(exhibit: Exhibit, store: ResultStore, images: str) -> Iterator[str]:
    """Yield the command, the picture and the tables of an exhibit."""
    report = summarize(exhibit, store)
    yield source_of(exhibit, store)
    if exhibit.draw is not None:
        yield f"![{head_of(exhibit)}]({images}/{store.picture(exhibit).relative_to(store.folder).as_posix()})"
    for table in report.tables:
        yield _table_text(table)


def _claims(exhibit: Exhibit, store: ResultStore, images: str) -> Iterator[str]:
    """Yield the command and the claims of an exhibit."""
    report = summarize(exhibit, store)
    yield source_of(exhibit, store)
    yield _claims_text(report.claims)


def summarize(exhibit: Exhibit, store: ResultStore) -> Report:
    """Return what the page says of an exhibit, by the best results that there are.

    Parameters
    ----------
    exhibit, store
        Which, and where its results are.
    """
    scale = store.best_scale(exhibit.runs)
    if scale is None:
        raise ValueError(f"there are no results of {exhibit.runs.study} {exhibit.name}; run it first.")
    return exhibit.summarize(store.read(exhibit.runs, scale))


def _claims_text(claims: Iterable[Claim]) -> str:
    return "\n".join(f"- *{claim.says}* **{verdict_of(claim)}**: {claim.seen}" for claim in claims)


def source_of(exhibit: Exhibit, store: ResultStore) -> str:
    """Return where results come from: the command, and how long it took.

    Parameters
    ----------
    exhibit, store
        Which, and where its results are.
    """
    scale = store.best_scale(exhibit.runs) or "quick"
    cells, seconds = store.read_times(exhibit.runs, scale)
    count = f"{cells:,} cell{'' if cells == 1 else 's'}"
    return f"`{command_of(exhibit, scale)}`: {count}, {show_time(seconds)} of CPU time."


def verdict_of(claim: Claim) -> str:
    """Return whether a claim holds, in words.

    Parameters
    ----------
    claim
        Which.

    Examples
    --------
    >>> verdict_of(Claim("it grows", True, "3 leaves, 5 leaves"))
    'holds'
    """
    return _VERDICTS[claim.holds]


def _table_text(table: PageTable) -> str:
    lines = ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(row) + " |" for row in table.rows]
    return "\n".join([f"{table.caption}\n", *lines] if table.caption else lines)


def make_pages() -> Iterator[tuple[Path, str]]:
    """Yield each page of the repository with the text that it should have."""
    store = ResultStore(RESULTS)
    about_papers = ROOT / "docs" / "reproduction.md"
    yield about_papers, write_page(PAPERS, store, "../experiments/results")
    yield ROOT / "README.md", fill_blocks((ROOT / "README.md").read_text("utf-8"), store, "experiments/results")
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path != about_papers:
            yield path, fill_blocks(path.read_text("utf-8"), store, "../experiments/results")
