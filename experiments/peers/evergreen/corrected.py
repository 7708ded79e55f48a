"""What it costs in accuracy to exchange the labels of rows that were wrong, rather than to learn all of them again."""

from __future__ import annotations

import copy
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, mean_of
from experiments.harness.verdicts import show_signed
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.contenders import evergreen
from experiments.peers.evergreen.sets import OrderedRows

RIGHT, NEVER, REBUILT, EXCHANGED = "right at once", "never corrected", "made again", "exchanged"
_WAYS = (RIGHT, NEVER, REBUILT, EXCHANGED)
_SETS = ("satimage", "adult", "electricity", "letter", "nursery", "phishing")
_IN_ORDER = ("electricity",)
_ROWS: dict[Scale, int] = {"quick": 2_000, "full": 20_000}
_RUNS: dict[Scale, int] = {"quick": 1, "full": 3}
_SHARES = (0.05, 0.2)
_BLOCK = 500
_TIMED = 5
_NOTE = (
    f"Each row is answered, then learned, at most {_ROWS['full']:,} of them; a share of the labels is another class at "
    f"first, drawn at random, and in the last two ways put right {_BLOCK} to {2 * _BLOCK} rows later. Per cent right "
    "over all rows, then points over what is right at once, with the standard error over runs."
)
_TIMES_NOTE = (
    f"An `Asker` with a file as store, which has learned at most {_ROWS['full']:,} answers and kept its model after "
    f"every 1,000: CPU time of one correction, the median of {_TIMED}, of answers about {_BLOCK} before the last one; "
    "then of the first answer."
)


def cells(scale: Scale) -> list[Cell]:
    """Return what becomes of which labels."""
    return [
        {"data": data, "most": _ROWS[scale], "wrong": wrong, "adaptive": adaptive, "way": way, "run": run}
        for data in (_SETS[:1] if scale == "quick" else _SETS)
        for wrong in _SHARES
        for run in range(_RUNS[scale])
        for adaptive in (True, False)
        for way in _WAYS
    ]


def load(data: str, seed: int, most: int) -> OrderedRows:
    """Return a set, shuffled unless its order matters."""
    return sets.load(data, None if data in _IN_ORDER else seed, most)


def spoil(rows: OrderedRows, share: float, seed: int) -> Any:
    """Return the labels, a share of them another class."""
    random, classes = np.random.default_rng(seed), int(rows.y.max()) + 1
    others = (rows.y + random.integers(1, classes, len(rows.y))) % classes
    return np.where(random.random(len(rows.y)) < share, others, rows.y)


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, how many labels were wrong, and how many rows were still kept."""
    seed %= 2**31
    rows, way = load(str(cell["data"]), seed, int(cell["most"])), cell["way"]
    told = rows.y if way == RIGHT else spoil(rows, float(cell["wrong"]), seed)
    tree: Any = evergreen(nominal=rows.nominal, adaptive=bool(cell["adaptive"]))
    clean = copy.deepcopy(tree)
    right = wrong = found = 0
    for start in range(0, len(rows.y), _BLOCK):
        block = slice(start, start + _BLOCK)
        answered = tree.test_then_learn(rows.X[block], told[block])
        answers = np.where(answered.answers < 0, -1, np.asarray(answered.classes)[answered.answers])
        right += int((answers == rows.y[block]).sum())
        last = slice(max(start - _BLOCK, 0), start)
        if start == 0 or way in (RIGHT, NEVER):
            continue
        places = last.start + np.flatnonzero(told[last] != rows.y[last])
        wrong += len(places)
        if way == REBUILT:
            clean.partial_fit(rows.X[last], rows.y[last])
            tree = copy.deepcopy(clean).partial_fit(rows.X[block], told[block])
        else:
            found += sum(_exchange(tree, rows, told, place) for place in places.tolist())
    return [{"accuracy": right / len(rows.y), "wrong_labels": wrong, "found": found}]


def _exchange(tree: Any, rows: OrderedRows, told: Any, place: int) -> bool:
    x = dict(zip(tree.schema_.names, rows.X[place].tolist(), strict=True))
    return bool(tree.exchange(x, int(told[place]), int(rows.y[place])))


def summarize(found: Results) -> Report:
    """Return accuracies by set and share, and whether the exchange loses anything."""
    tables, claims = [], []
    for adaptive in (True, False):
        rows, over = [], []
        part = found.where(adaptive=adaptive)
        for (data, wrong), there in part.groups("data", "wrong"):
            score = {way: 100 * there.where(way=way)["accuracy"] for way in _WAYS}
            mine = there.where(way=EXCHANGED)
            over.append(float((score[EXCHANGED] - score[REBUILT]).mean()))
            rows.append(
                [
                    f"{data}, {100 * wrong:.0f} % wrong",
                    f"{score[RIGHT].mean():.2f}",
                    *(show_signed(mean_of(score[way] - score[RIGHT]), 2) for way in _WAYS[1:]),
                    show_signed(mean_of(score[EXCHANGED] - score[REBUILT]), 2),
                    f"{100 * mine['found'].sum() / mine['wrong_labels'].sum():.1f} %",
                ]
            )
        name = f"`EvergreenTree(adaptive={adaptive})`"
        heads = ["", RIGHT, *_WAYS[1:], "exchanged over made again", "rows that were still kept"]
        tables.append(PageTable(heads, rows, f"{name}."))
        seen = f"{np.mean(over):+.2f} points in the mean; least {min(over):+.2f}, most {max(over):+.2f}."
        claims.append(Claim(f"{name}: the exchange costs no more than .2 points.", min(over) >= -0.2, seen))
    return Report(tables, claims, _NOTE)


def time_cells(scale: Scale) -> list[Cell]:
    """Return in which way answers are corrected where."""
    return [
        {"data": data, "most": _ROWS[scale], "way": way, "run": 0}
        for data in (_SETS[:1] if scale == "quick" else _SETS)
        for way in (REBUILT, EXCHANGED)
    ]


def measure_time(cell: Cell, seed: int) -> list[Row]:
    """Return a line: milliseconds of a correction of a late answer, and of the first."""
    rows, exchange = load(str(cell["data"]), seed % 2**31, int(cell["most"])), cell["way"] == EXCHANGED
    nominal, labels = [f"x{j}" for j in rows.nominal] or None, rows.y.tolist()
    with tempfile.TemporaryDirectory() as folder:
        asker = qc.Asker(evergreen(nominal=nominal), qc.ask.Always(), store=Path(folder) / "labels.db")
        for start in range(0, len(labels), _BLOCK):
            block = slice(start, start + _BLOCK)
            asker.answer_many(list(zip(asker.ask(rows.X[block]), labels[block], strict=True)))
        took = []
        # The first one finds kernels that are not loaded yet.
        for id in [*range(len(labels) - _BLOCK, len(labels) - _BLOCK + 1 + _TIMED), 1]:
            start = time.process_time_ns()
            asker.correct(id, (labels[id - 1] + 1) % (max(labels) + 1), exchange=exchange)
            took.append((time.process_time_ns() - start) / 1e6)
        asker.close()
    return [{"answers": len(labels), "late": float(np.median(took[1:-1])), "first": took[-1]}]


def summarize_times(found: Results) -> Report:
    """Return milliseconds by set, and how many times as quick the exchange is."""
    rows, factors = [], []
    for (data,), there in found.groups("data"):
        ms = {(way, when): float(there.where(way=way)[when][0]) for way in (REBUILT, EXCHANGED)
              for when in ("late", "first")}  # fmt: skip
        factors.append(ms[REBUILT, "late"] / ms[EXCHANGED, "late"])
        rows.append([data, f"{there['answers'][0]:,.0f}", *(f"{value:,.1f}" for value in ms.values())])
    heads = ["ms", "answers", *(f"{way}, {when}" for way in (REBUILT, EXCHANGED) for when in ("late", "first"))]
    seen = f"{min(factors):.0f} to {max(factors):.0f} times, of a late answer."
    claim = Claim("The exchange is ten times as quick.", min(factors) >= 10, seen)
    return Report([PageTable(heads, rows)], [claim], _TIMES_NOTE)


CORRECTED = Runs("peers.evergreen", "corrected", cells, measure)
CORRECTING = Runs("peers.evergreen", "correcting", time_cells, measure_time)
