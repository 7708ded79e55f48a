"""The page about the papers as one HTML file, with its pictures inside."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterable
from html import escape

from quercus.papers.catalog import load_paper
from quercus.papers.exhibits import Paper, Sheet, Told
from quercus.papers.pages import (
    INTRODUCTION,
    command_of,
    count_claims,
    head_of,
    source_of,
    verdict_of,
    write_page,
)
from quercus.papers.storing import Store

_STYLE = """
body{margin:0 auto;padding:32px 24px;max-width:1000px;font:15px/1.55 system-ui,sans-serif;color:#1b1d21;background:#fff}
h1{font-size:27px}h2{font-size:22px;margin-top:52px;border-top:1px solid #dfe2e7;padding-top:24px}
h3{font-size:17px;margin-top:36px}p,li{max-width:80ch}img{max-width:100%}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid #dfe2e7}
th{color:#5b626d}code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
.yes{color:#17703a}.no{color:#a8321a}.soft{color:#5b626d}nav li{display:inline-block;margin-right:14px}
"""


def write_book(papers: Iterable[str], store: Store) -> str:
    """Return the page as one HTML file that needs nothing else.

    Parameters
    ----------
    papers, store
        As for `write_page`.
    """
    chapters = [load_paper(name) for name in papers]
    links = "".join(f'<li><a href="#{paper.name}">{escape(paper.name)}</a></li>' for paper in chapters)
    body = "".join(_chapter(paper, store) for paper in chapters)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>The papers, reproduced</title><style>{_STYLE}</style></head><body>'
        f"<h1>The papers, reproduced</h1><p>{_words(INTRODUCTION)}</p><nav><ul>{links}</ul></nav>"
        f"{_sheet_html(count_claims([paper.name for paper in chapters], store))}{body}"
        "</body></html>\n"
    )


def _chapter(paper: Paper, store: Store) -> str:
    parts = [f'<h2 id="{paper.name}">{escape(paper.citation)}</h2><p>{_words(paper.summary)}</p>']
    for exhibit in paper.exhibits:
        parts.append(f'<h3 id="{paper.name}-{exhibit.name}">{escape(head_of(exhibit))}</h3>')
        scale = store.best_scale(exhibit.runs)
        if scale is None:
            parts.append(f"<p>Not measured yet: <code>{command_of(exhibit, 'quick')}</code>.</p>")
            continue
        parts.append(f'<p class="soft">{_words(source_of(exhibit, store))}</p>')
        picture = store.picture(exhibit.runs.paper, exhibit.name)
        if exhibit.draw is not None and picture.exists():
            data = base64.b64encode(picture.read_bytes()).decode()
            parts.append(f'<img alt="{escape(head_of(exhibit))}" src="data:image/png;base64,{data}">')
        parts.append(_told_html(exhibit.tell(store.read(exhibit.runs, scale))))
    return "\n".join(parts)


def _told_html(told: Told) -> str:
    parts = []
    for sheet in told.sheets:
        parts.append(f"<p>{_words(sheet.caption)}</p>" if sheet.caption else "")
        parts.append(_sheet_html(sheet))
    if told.claims:
        kinds = {True: "yes", False: "no", None: "soft"}
        lines = [
            f'<li><i>{_words(claim.says)}</i> <b class="{kinds[claim.holds]}">{verdict_of(claim)}</b>: '
            f"{_words(claim.seen)}</li>"
            for claim in told.claims
        ]
        parts.append(f"<ul>{''.join(lines)}</ul>")
    return "\n".join([*parts, f"<p>{_words(told.note)}</p>" if told.note else ""])


def _sheet_html(sheet: Sheet) -> str:
    rows = [_line("th", sheet.columns), *(_line("td", row) for row in sheet.rows)]
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def _line(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_words(cell)}</{tag}>' for cell in cells)}</tr>"


def _words(text: str) -> str:
    """Return text for HTML; what stands between backticks is code, between pairs of stars bold."""
    marked = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", marked)


def save_pages(papers: Iterable[str], store: Store, say: Callable[[str], None]) -> None:
    """Write the page beside the folder of results, and the book into it.

    Parameters
    ----------
    papers, store
        As for `write_page`.
    say
        Told where they are.
    """
    names, folder = list(papers), store.folder
    page, book = folder.with_name(f"{folder.name}.md"), folder / "index.html"
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in ((page, write_page(names, store, folder.name)), (book, write_book(names, store))):
        path.write_text(text, encoding="utf-8")
        say(f"wrote {os.fspath(path)}")
