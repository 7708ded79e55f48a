"""Options and arguments that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from quercus.registry import LEARNERS

FILES = "Options for files"
LABELS = "Labels that cost something"
LEARNER_NAMES = ", ".join(name.removesuffix("Tree").lower() for name in LEARNERS)
Source = Annotated[
    str,
    typer.Argument(metavar="STREAM", help="A name from 'quercus streams', or a .csv, .tsv, .parquet or .arff file."),
]
Rows = Annotated[
    int | None, typer.Option(min=1, help="Stop after so many rows. Default: all; 100,000 of an endless stream.")
]
Target = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        rich_help_panel=FILES,
        help="Column that holds the labels. Default: target, class, label or y, or else the last one.",
    ),
]
Ignore = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", rich_help_panel=FILES, help="Column to leave out; repeatable.")
]
Nominal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", rich_help_panel=FILES, help="Column of categories that look like numbers; repeatable."
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT", rich_help_panel=FILES, help="One more spelling of a missing value in a CSV; repeatable."
    ),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="SIGN", rich_help_panel=FILES, help="What stands between the cells of a CSV.")
]
Learner = Annotated[str, typer.Option(help=f"{LEARNER_NAMES}, or one of river: river:tree.HoeffdingTreeClassifier.")]
FrontierLearner = Annotated[
    str | None, typer.Option(help="As for 'quercus run'. Default: evergreen; with --features: utility.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the learner, such as c=0.02; repeatable."),
]
Delay = Annotated[
    str | None,
    typer.Option(metavar="ROWS", rich_help_panel=LABELS, help="Rows until a label comes: 500, or a range, 10-500."),
]
Out = Annotated[
    Path, typer.Option(help="Folder for the results; one that holds some is left alone, and NAME-2 is taken.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over the results that --out holds.")]
Seeds = Annotated[
    int,
    typer.Option(
        min=1, help="Repeat so often: with other seeds, other samples of a generator, and with --shuffle other orders."
    ),
]
Shuffle = Annotated[
    bool, typer.Option("--shuffle", help="Take the rows of a file in another order with each seed: time is lost.")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, such as quercus-run/model.quercus.")]


class Format(StrEnum):
    """How `show` draws a tree."""

    TEXT = "text"
    DOT = "dot"
    MERMAID = "mermaid"
    HTML = "html"


def examples(*lines: str) -> str:
    """Return what stands below a command's options; typer wants empty lines between lines."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)])
