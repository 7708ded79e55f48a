"""What each part of the evergreen tree is worth: the same tree with parts of it switched off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of
from experiments.harness.verdicts import show_signed
from experiments.peers.evergreen.contenders import Contender, TestSpan, evergreen, ours
from experiments.peers.evergreen.passing import IN_ORDER, SHUFFLED, OrderedSet, load_stream
from experiments.peers.evergreen.sets import QUICK_TESTED, TESTED

_PARTS = ("regrow", "aggregate", "recent", "singles")
_SMALL = 2**22
_WHOLE = "the whole tree"
_WITHOUT = {"regrow": "grown once only", "aggregate": "the leaf instead of all prunings",
            "recent": "without recent labels", "singles": "without single features"}  # fmt: skip
_ALL_OFF, _FEW_ROWS = "without all four", f"{_SMALL // 2**20} MiB instead of 32"
_READABLE = "readable: the printed leaves alone"
_FROZEN_AT = {"random tree": 20_000, "adult": 20_000, "covertype": 20_000, "nursery": 5_000, "letter": 15_000,
              "a9a": 20_000, "airlines": 20_000}  # fmt: skip
_QUICK_AT = {"adult": 1_000, "letter": 1_000}
_STREAMS = (
    OrderedSet("random tree", SHUFFLED, 100_000),
    OrderedSet("electricity", IN_ORDER, 0),
    OrderedSet("covertype", IN_ORDER, 100_000),
    OrderedSet("covertype", SHUFFLED, 100_000),
    OrderedSet("airlines", IN_ORDER, 100_000),
    OrderedSet("adult", SHUFFLED, 0),
    OrderedSet("letter", SHUFFLED, 0),
    OrderedSet("nursery", SHUFFLED, 0),
)
_QUICK_STREAMS = (OrderedSet("electricity", IN_ORDER, 10_000),)
_RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
_NOTE = (
    "Points that are lost or gained against the whole tree, with the standard error over runs. Grown once only: the "
    "tree grows after 32 rows and then stays, though its counts go on. Without recent labels: no expert for them; "
    "without single features: the tree alone. 4 MiB: fewer rows are kept to grow from, on the larger sets."
)


def make_without(names: Sequence[str], **given: Any) -> Any:
    """Return a tree with these parts switched off."""
    model = evergreen(**given)
    if names:
        model._ablate = frozenset(names)
    return model


def trees() -> dict[str, Contender]:
    """Return the tree, and what is left of it without its parts."""
    return {
        _WHOLE: ours(evergreen),
        **{_WITHOUT[part]: ours(partial(make_without, (part,))) for part in _PARTS},
        _ALL_OFF: ours(partial(make_without, _PARTS)),
        _READABLE: ours(partial(evergreen, readable=True)),
        _FEW_ROWS: ours(partial(evergreen, max_bytes=_SMALL)),
    }


def cells(scale: Scale) -> list[Cell]:
    """Return tests after so many ``labels``, and passes (0 labels); an order that a set came in is there once."""
    tested = QUICK_TESTED if scale == "quick" else TESTED
    tests = [
        (OrderedSet(data, SHUFFLED, labels + tested), labels)
        for data, labels in (_QUICK_AT if scale == "quick" else _FROZEN_AT).items()
    ]
    passes = [(stream, 0) for stream in (_QUICK_STREAMS if scale == "quick" else _STREAMS)]
    return [
        {**stream._asdict(), "labels": labels, "learner": line, "run": run}
        for stream, labels in tests + passes
        for line in trees()
        for run in range(1 if stream.order == IN_ORDER else _RUNS[scale])
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right."""
    seed %= 2**31
    rows, tree, labels = load_stream(cell, seed), trees()[str(cell["learner"])], int(cell["labels"])
    assert tree.go is not None
    assert tree.test is not None
    score = tree.test(rows, [TestSpan(labels, labels, len(rows.y))], seed)[0] if labels else tree.go(rows, seed).score()
    return [{"accuracy": score.accuracy, "loss": score.loss}]


def summarize(found: Results) -> Report:
    """Return a table of tests and one of passes."""
    frozen = found["labels"] > 0
    tables = []
    for which, caption in ((frozen, "Learned, then the next rows are answered."), (~frozen, "Answered, then learned.")):
        part = Results({name: column[which] for name, column in found.columns.items()})
        tables.append(_table(part, caption))
    return Report(tables, [_worth(found, line) for line in trees() if line != _WHOLE], _NOTE)


def _table(part: Results, caption: str) -> PageTable:
    heads, columns = [], []
    for (data, order, labels), there in part.groups("data", "order", "labels"):
        heads.append(f"{data}, {labels:,}" if labels else f"{data}, {order}")
        whole = there.where(learner=_WHOLE)["accuracy"]
        columns.append(
            [
                f"{100 * whole.mean():.2f} %"
                if line == _WHOLE
                else show_signed(mean_of(100 * (there.where(learner=line)["accuracy"] - whole)), 2)
                for line in trees()
            ]
        )
    return PageTable(
        ["", *heads], [[line, *row] for line, row in zip(trees(), zip(*columns, strict=True), strict=True)], caption
    )


def _worth(found: Results, line: str) -> Claim:
    """Return whether a part, where it is seen to matter, is worth having."""
    gains: list[tuple[float, str]] = []
    losses: list[tuple[float, str]] = []
    for (data, order, labels), there in found.groups("data", "order", "labels"):
        less = 100 * (there.where(learner=_WHOLE)["accuracy"] - there.where(learner=line)["accuracy"])
        error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else 0.0
        name = f"{data} {labels:,}" if labels else f"{data} {order}"
        if abs(less.mean()) > max(2 * error, 0.1):
            (gains if less.mean() > 0 else losses).append((float(less.mean()), name))
    seen = f"clearly worse than the whole tree on {len(gains)}, better on {len(losses)}"
    seen += f"; most: {max(gains)[0]:.1f} points, {max(gains)[1]}." if gains else "."
    return Claim(f"{line[0].upper()}{line[1:]}: worse.", len(gains) > len(losses) if gains or losses else None, seen)


ABLATION = Runs("peers.evergreen", "ablation", cells, measure)
