"""What was found, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.harness.exhibits import Report
from experiments.harness.pages import verdict_of


def report_lines(report: Report) -> Iterator[str]:
    """Yield tables, claims and the note of a report.

    Parameters
    ----------
    report
        What the page says of an exhibit.
    """
    for table in report.tables:
        yield from filter(None, [table.caption])
        yield align(table.columns, table.rows)
    for claim in report.claims:
        yield f"{verdict_of(claim)}: {claim.says} {claim.seen}"
    yield from filter(None, [report.note])


def align(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns, the first to the left.

    Parameters
    ----------
    header, rows
        As many cells in each.

    Examples
    --------
    >>> print(align(["oak", "m"], [["red", "20"], ["white", "9"]]))
    oak     m
    red    20
    white   9
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for first, *others in [header, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)
