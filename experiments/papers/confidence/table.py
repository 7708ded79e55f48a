"""Table 1: the real data sets."""

from __future__ import annotations

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.confidence.sets import SETS, read_set

_COLUMNS = ("dimension", "examples", "positive", "negative")


def _cells(scale: Scale) -> list[Cell]:
    return [{"data": data} for data in SETS]


def _measure(cell: Cell, seed: int) -> list[Row]:
    rows = read_set(str(cell["data"]))
    positive = int(rows.y.sum())
    return [
        {
            "dimension": rows.X.shape[1],
            "examples": len(rows.y),
            "positive": positive,
            "negative": len(rows.y) - positive,
        }
    ]


TABLE_1 = Runs("papers.confidence", "table-1", _cells, _measure)


def summarize_sets(found: Results) -> Report:
    """Return what the page says of the data sets."""
    rows, same, shares = [], [], []
    for (data,), line in found.groups("data"):
        result = SETS[data]
        ours = [int(line[name][0]) for name in _COLUMNS]
        published = [int(getattr(result, name)) for name in _COLUMNS]
        same += [data] if ours == published else []
        if result.partial:
            share, paper = ours[2] / ours[1], result.positive / result.examples
            shares.append(
                f"{data} has {ours[1]:,} of {result.examples:,} rows, positive {share:.4f} against {paper:.4f}"
            )
        rows.append(
            [f"{data}{'*' if result.by_f else ''}", *(_beside(*pair) for pair in zip(ours, published, strict=True))]
        )
    claim = Claim(
        "The data sets have these dimensions, examples and classes.",
        len(same) == len(SETS) or (None if same else False),
        f"{len(same)} of {len(SETS)} are the same to the row ({', '.join(same)}); {'; '.join(shares)}.",
    )
    caption = "A star: scored by the F-measure of the smaller class. Where ours differs, the paper's is in brackets."
    note = (
        "Of cod-rna only the training part is at hand, an eighth of the rows: whatever is measured on it is partial. "
        "Covertype is class 2 against the rest, electricity's positive class is DOWN. Categories of airlines and "
        "electricity are nominal."
    )
    return Report([PageTable(("data set", "dimension", "examples", "+", "-"), rows, caption)], [claim], note)


def _beside(ours: int, published: int) -> str:
    return f"{ours:,}" if ours == published else f"{ours:,} ({published:,})"
