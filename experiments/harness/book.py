"""The page about the papers as one HTML file, with its pictures inside."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from html import escape

from experiments.harness.catalog import load_study
from experiments.harness.exhibits import PageTable, Report, Study
from experiments.harness.pages import (
    INTRODUCTION,
    command_of,
    count_claims,
    head_of,
    source_of,
    summarize,
    verdict_of,
)
from experiments.harness.storing import ResultStore

_STYLE = """
body{margin:0 auto;padding:32px 24px;max-width:1000px;font:15px/1.55 system-ui,sans-serif;color:#1b1d21;background:#fff}
h1{font-size:27px}h2{font-size:22px;margin-top:52px;border-top:1px solid #dfe2e7;padding-top:24px}
h3{font-size:17px;margin-top:36px}p,li{max-width:80ch}img{max-width:100%}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:left;vertical-align:top;border-bottom:1px solid #dfe2e7}
th{color:#5b626d}code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:13px}
.yes{color:#17703a}.no{color:#a8321a}.soft{color:#5b626d}nav li{display:inline-block;margin-right:14px}
"""


def write_book(names: Iterable[str], store: ResultStore) -> str:
    """Return the page as one HTML file that needs nothing else.

    Parameters
    ----------
    names, store
        As for `write_page`.
    """
    chapters = [load_study(name) for name in names]
    links = "".join(f'<li><a href="#{paper.name}">{escape(paper.name)}</a></li>' for paper in chapters)
    body = "".join(_chapter(paper, store) for paper in chapters)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>The papers, reproduced</title><style>{_STYLE}</style></head><body>'
        f"<h1>The papers, reproduced</h1><p>{_words(INTRODUCTION)}</p><nav><ul>{links}</ul></nav>"
        f"{_table_html(count_claims(chapters, store))}{body}"
        "</body></html>\n"
    )


def _chapter(paper: Study, store: ResultStore) -> str:
    parts = [f'<h2 id="{paper.name}">{escape(paper.title)}</h2><p>{_words(paper.summary)}</p>']
    for exhibit in paper.exhibits:
        parts.append(f'<h3 id="{paper.name}-{exhibit.name}">{escape(head_of(exhibit))}</h3>')
        if store.best_scale(exhibit.runs) is None:
            parts.append(f"<p>Not measured yet: <code>{command_of(exhibit, 'quick')}</code>.</p>")
            continue
        parts.append(f'<p class="soft">{_words(source_of(exhibit, store))}</p>')
        picture = store.picture(exhibit)
        if exhibit.draw is not None and picture.exists():
            data = base64.b64encode(picture.read_bytes()).decode()
            parts.append(f'<img alt="{escape(head_of(exhibit))}" src="data:image/png;base64,{data}">')
        parts.append(_report_html(summarize(exhibit, store)))
    return "\n".join(parts)


def _report_html(report: Report) -> str:
    parts = []
    for table in report.tables:
        parts.append(f"<p>{_words(table.caption)}</p>" if table.caption else "")
        parts.append(_table_html(table))
    if report.claims:
        kinds = {True: "yes", False: "no", None: "soft"}
        lines = [
            f'<li><i>{_words(claim.says)}</i> <b class="{kinds[claim.holds]}">{verdict_of(claim)}</b>: '
            f"{_words(claim.seen)}</li>"
            for claim in report.claims
        ]
        parts.append(f"<ul>{''.join(lines)}</ul>")
    return "\n".join([*parts, f"<p>{_words(report.note)}</p>" if report.note else ""])


def _table_html(table: PageTable) -> str:
    rows = [_line("th", table.columns), *(_line("td", row) for row in table.rows)]
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def _line(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_words(cell)}</{tag}>' for cell in cells)}</tr>"


def _words(text: str) -> str:
    """Return text for HTML; what stands between backticks is code, between pairs of stars bold."""
    marked = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))
    return re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", marked)
