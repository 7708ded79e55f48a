"""The page about the papers as Markdown, made from stored results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from quercus.papers.catalog import PAPERS, find_exhibits, load_paper
from quercus.papers.exhibits import Claim, Exhibit, Sheet, Told
from quercus.papers.reproducing import show_time
from quercus.papers.storing import Store

_VERDICTS = {True: "holds", False: "does not hold", None: "cannot be told"}
# The same, of several.
_COUNTED = ("hold", "do not hold", "cannot be told")
_BLOCK = re.compile(r"(<!-- (results|claims): (\S+) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
INTRODUCTION = (
    "Every table and figure of the papers behind Quercus, measured with this library, beside what was published: what "
    "holds, what does not, and why. This page is made from stored results by `quercus reproduce --book`; each exhibit "
    "names the command that measures it. In brackets: standard errors over runs. Seeds follow from paper, exhibit, "
    "data set and repetition. A claim holds if the results say so by more than two standard errors; what lies within "
    "cannot be told."
)


def write_page(papers: Iterable[str], store: Store, images: str) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    papers
        Names, in order; of each the exhibits whose results are there.
    store
        The results.
    images
        What stands before the path of a picture: the way from the page to the folder of results.
    """
    papers = list(papers)
    parts = ["# The papers, reproduced", INTRODUCTION, _sheet_text(count_claims(papers, store))]
    for name in papers:
        paper = load_paper(name)
        parts += [f"## {paper.citation}", paper.summary]
        for exhibit in paper.exhibits:
            parts += [f"### {head_of(exhibit)}", *_measured(exhibit, store, images)]
    return "\n\n".join(part for part in parts if part) + "\n"


def fill_blocks(text: str, store: Store, images: str) -> str:
    """Return a page with what is between its markers made anew from results.

    Parameters
    ----------
    text
        Markdown; ``<!-- results: credible figure-5 -->`` begins a block of its picture and tables, ``<!-- claims:
        credible figure-5 -->`` one of its claims, ``<!-- claims: all papers -->`` one of how many hold;
        ``<!-- end -->`` ends a block.
    store, images
        As for `write_page`.

    Examples
    --------
    >>> from pathlib import Path
    >>> fill_blocks("nothing to fill", Store(Path("nowhere")), "nowhere")
    'nothing to fill'
    """

    def fill(match: re.Match[str]) -> str:
        start, what, paper, name, end = match.groups()
        if (paper, name) == ("all", "papers"):
            parts = [_sheet_text(count_claims(PAPERS, store))]
        else:
            kind, _, number = name.partition("-")
            exhibit = find_exhibits(paper, **{kind: number})[0]
            parts = [*(_results if what == "results" else _claims)(exhibit, store, images)]
        return f"{start}\n" + "\n\n".join(parts) + f"\n\n{end}"

    return _BLOCK.sub(fill, text)


def count_claims(papers: Iterable[str], store: Store) -> Sheet:
    """Return how many claims of each paper hold.

    Parameters
    ----------
    papers, store
        As for `write_page`.

    Examples
    --------
    >>> from pathlib import Path
    >>> count_claims(["credible"], Store(Path("nowhere"))).rows[0][2:]
    ['0', '0', '0', '0']
    """
    rows = []
    for name in papers:
        paper = load_paper(name)
        scales = [(exhibit, store.best_scale(exhibit.runs)) for exhibit in paper.exhibits]
        told = [exhibit.tell(store.read(exhibit.runs, scale)) for exhibit, scale in scales if scale is not None]
        verdicts = [claim.holds for one in told for claim in one.claims]
        counts = [len(told), *(sum(holds is verdict for holds in verdicts) for verdict in _VERDICTS)]
        rows.append([paper.citation, name, *map(str, counts)])
    return Sheet(["paper", "`quercus reproduce`", "tables and figures", *(f"claims: {v}" for v in _COUNTED)], rows)


def head_of(exhibit: Exhibit) -> str:
    """Return what stands above an exhibit.

    Parameters
    ----------
    exhibit
        Which.

    Examples
    --------
    >>> head_of(find_exhibits("credible", figure="5")[0]).partition(":")[0]
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
    >>> command_of(find_exhibits("credible", figure="5")[0], "full")
    'quercus reproduce credible --figure 5 --scale full'
    """
    if exhibit.command:
        return exhibit.command + (" --quick" if scale == "quick" else "")
    if "." in exhibit.runs.paper:
        return f"python -m {exhibit.runs.paper} --scale {scale}"
    return f"quercus reproduce {exhibit.runs.paper} --{exhibit.kind} {exhibit.number} --scale {scale}"


def _measured(exhibit: Exhibit, store: Store, images: str) -> Iterator[str]:
    if store.best_scale(exhibit.runs) is None:
        yield f"Not measured yet: `{command_of(exhibit, 'quick')}`."
        return
    yield from _results(exhibit, store, images)
    told = _tell(exhibit, store)
    yield _claims_text(told.claims)
    yield told.note


def _results(exhibit: Exhibit, store: Store, images: str) -> Iterator[str]:
    """Yield the command, the picture and the tables of an exhibit."""
    told = _tell(exhibit, store)
    yield source_of(exhibit, store)
    if exhibit.draw is not None:
        yield f"![{head_of(exhibit)}]({images}/{exhibit.runs.paper}/{exhibit.name}.png)"
    for sheet in told.sheets:
        yield _sheet_text(sheet)


def _claims(exhibit: Exhibit, store: Store, images: str) -> Iterator[str]:
    """Yield the command and the claims of an exhibit."""
    told = _tell(exhibit, store)
    yield source_of(exhibit, store)
    yield _claims_text(told.claims)


def _tell(exhibit: Exhibit, store: Store) -> Told:
    scale = store.best_scale(exhibit.runs)
    if scale is None:
        raise ValueError(f"there are no results of {exhibit.runs.paper} {exhibit.name}; run it first.")
    return exhibit.tell(store.read(exhibit.runs, scale))


def _claims_text(claims: Iterable[Claim]) -> str:
    return "\n".join(f"- *{claim.says}* **{verdict_of(claim)}**: {claim.seen}" for claim in claims)


def source_of(exhibit: Exhibit, store: Store) -> str:
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


def _sheet_text(sheet: Sheet) -> str:
    lines = ["| " + " | ".join(sheet.columns) + " |", "|" + "---|" * len(sheet.columns)]
    lines += ["| " + " | ".join(row) + " |" for row in sheet.rows]
    return "\n".join([f"{sheet.caption}\n", *lines] if sheet.caption else lines)
