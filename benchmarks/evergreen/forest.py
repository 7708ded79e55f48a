"""The forest of ten beside those of others."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.evergreen import sets
from benchmarks.evergreen.contenders import (
    EVERGREEN,
    FOREST,
    Contender,
    evergreen,
    evergreen_forest,
    forests,
    ours,
)
from benchmarks.evergreen.prequential import pass_job
from benchmarks.evergreen.work import run_jobs
from benchmarks.tables import problem, show

# Name, seed of the order (None: as it came), rows.
_STREAMS: tuple[tuple[str, int | None, int | None], ...] = (
    ("electricity", None, None),
    ("letter", 1, None),
    ("nursery", 1, None),
    ("adult", 1, None),
    ("covertype", 1, 50_000),
    ("covertype", None, 50_000),
    ("airlines", None, 100_000),
    ("a9a", 1, None),
    ("random tree", 1, 50_000),
    ("g50c", 1, 20_000),
)
_QUICK_ROWS, _QUICK_STREAMS = 2_000, 4
# Whom the forest is to be ahead of.
_RIVALS = ("river AMF10", "river ARF10", "MOA ARF10", "MOA SRP10")
_NOTES = """
Settings  ten trees each, otherwise everybody's own defaults; answered, then learned, one order.
Clock     examples/s of CPU time, all threads together, one learner at a time; wall: of wall time. MOA: the thread that
          learns, in a JVM warmed by 2,000 rows. river: without the making of its dicts.
Ahead     of those of AMF10, ARF10 and SRP10 that were measured.
"""


def forest(quick: bool) -> None:
    """Print a table for each stream, and on how many of them the forest is ahead."""
    sets.check_data()
    contenders: dict[str, Contender] = {
        FOREST: ours(evergreen_forest),
        f"{FOREST}, 2 threads": ours(partial(evergreen_forest, threads=2)),
        EVERGREEN: ours(evergreen),
        **forests(),
    }
    ahead, compared = 0, []
    streams = [(name, seed, _QUICK_ROWS) for name, seed, _ in _STREAMS[:_QUICK_STREAMS]] if quick else _STREAMS
    for name, seed, most in streams:
        jobs = {
            (name, line): partial(pass_job, name, seed, most, contender.go)
            for line, contender in contenders.items()
            if contender.go is not None
        }
        measured = run_jobs(jobs, workers=1)
        found = {line: measured.get((name, line), contender.problem) for line, contender in contenders.items()}
        rows = sets.load(name, seed, most)
        print(f"\n{rows.name}: {len(rows.y):,} rows; previous label {rows.previous:.4f}")
        lines = [[line, *_cells(one)] for line, one in found.items()]
        print(show(["", "accuracy", "log-loss", "leaves", "bytes", "examples/s", "wall"], lines), flush=True)
        compared.append([rows.name, *_compare(found)])
        ahead += compared[-1][1].startswith("+")
    header = ["", "points over the best rival", "which", *(f"our rate / {line}" for line in _RIVALS)]
    print(f"\nahead on {ahead} of {len(compared)} streams", show(header, compared), _NOTES, sep="\n")


def _cells(found: Any) -> list[str]:
    if isinstance(found, dict):
        return [str(problem(found))]
    score, rows = found.score(), len(found.right)
    sizes = ["-" if value is None else f"{value:,}" for value in (found.leaves, found.nbytes)]
    return [
        f"{score.accuracy:.4f}", f"{score.loss:.3f}", *sizes, f"{rows / found.seconds:,.0f}",
        f"{rows / found.wall:,.0f}",
    ]  # fmt: skip


def _compare(found: dict[str, Any]) -> list[str]:
    """Return how far the forest is ahead of the best rival, and its rate beside each."""
    mine = found[FOREST]
    known = {line: found[line] for line in _RIVALS if not isinstance(found[line], dict)}
    if isinstance(mine, dict) or not known:
        return ["-", "-", *("-" for _ in _RIVALS)]
    best = max(known, key=lambda line: known[line].score().accuracy)
    over = 100 * (mine.score().accuracy - known[best].score().accuracy)
    rates = [f"{known[line].seconds / mine.seconds:,.1f}" if line in known else "-" for line in _RIVALS]
    return [f"{over:+.2f}", best, *rates]
