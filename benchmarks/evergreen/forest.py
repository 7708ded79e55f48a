"""The forest of ten beside those of others."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.evergreen.contenders import EVERGREEN, FOREST, Contender, evergreen, evergreen_forest, forests, ours
from benchmarks.evergreen.passing import COLUMNS, SHUFFLED, Stream, pass_lines, rate_of
from benchmarks.evergreen.work import reason
from benchmarks.stored import attempt_lines
from quercus.papers.exhibits import Cell, Claim, Row, Runs, Scale, Sheet, Told
from quercus.papers.found import Found

THREADS = f"{FOREST}, 2 threads"
STREAMS = (
    Stream("electricity", "in order", 0),
    Stream("letter", SHUFFLED, 0),
    Stream("nursery", SHUFFLED, 0),
    Stream("adult", SHUFFLED, 0),
    Stream("covertype", SHUFFLED, 50_000),
    Stream("covertype", "in order", 50_000),
    Stream("airlines", "in order", 100_000),
    Stream("a9a", SHUFFLED, 0),
    Stream("random tree", SHUFFLED, 50_000),
    Stream("g50c", SHUFFLED, 20_000),
)
_QUICK_ROWS, _QUICK_STREAMS = 2_000, 4
# River's forests learn hundreds of rows a second: they see the first rows only, and ours beside them the same.
_SHORT = 5_000
_RIVALS = ("MOA ARF10", "MOA SRP10")
_SLOW = ("river AMF10", "river ARF10")
_NOTE = (
    "Ten trees each, otherwise everybody's own defaults; answered, then learned, one order. Rates are rows "
    "per second of CPU time, all threads together, one learner at a time, without the making of dicts for "
    f"river and in a warm JVM for MOA. River's forests see the first {_SHORT:,} rows."
)


def contenders() -> dict[str, Contender]:
    return {
        FOREST: ours(evergreen_forest),
        THREADS: ours(partial(evergreen_forest, threads=2)),
        EVERGREEN: ours(evergreen),
        **forests(),
    }


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through which stream; ``most`` rows of it, 0: all."""
    if scale == "quick":
        streams = [one._replace(most=_QUICK_ROWS) for one in STREAMS[:_QUICK_STREAMS]]
        return [{**one._asdict(), "learner": line, "run": 0} for one in streams for line in contenders()]
    return [
        {**one._asdict(), "learner": line, "run": 0}
        for whole in STREAMS
        for one, lines in ((whole, _long()), (whole._replace(most=_SHORT), (FOREST, EVERGREEN, *_SLOW)))
        for line in lines
    ]


def _long() -> list[str]:
    return [line for line in contenders() if line not in _SLOW]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, and how long that took."""
    contender = contenders()[str(cell["learner"])]
    return attempt_lines(COLUMNS, reason(contender), partial(pass_lines, contender, cell, seed % 2**31))


def tell(found: Found) -> Told:
    """Return how far the forest is ahead of the best rival, and its rate beside theirs."""
    rows, ahead, streams = [], 0, 0
    for (data, order), part in found.groups("data", "order"):
        whole = part.where(most=part.where(learner=THREADS).unique("most"))
        short = part.where(most=part.where(learner=_SLOW[0]).unique("most"))
        best = _best(whole, _RIVALS)
        over = None if best is None else _over(whole, best)
        early = [
            None if _gone(short, line) else 100 * (_accuracy(short, FOREST) - _accuracy(short, line)) for line in _SLOW
        ]
        streams += 1
        known = [one for one in (over, *early) if one is not None]
        ahead += bool(known) and min(known) > 0
        rows.append(
            [
                f"{data}, {order}",
                f"{_accuracy(whole, FOREST):.3f}",
                f"{_accuracy(whole, EVERGREEN):.3f}",
                "-" if over is None else f"{over:+.1f} ({best})",
                *("-" if one is None else f"{one:+.1f}" for one in early),
                f"{rate_of(whole.where(learner=FOREST)) / 1000:,.0f}",
                *(_times(whole, line) for line in _RIVALS),
                *(_times(short, line) for line in _SLOW),
                f"{_wall(whole):.2f}",
            ]
        )
    heads = [
        "stream", "forest", "one tree", "points over the better of MOA's", *(f"over {line}" for line in _SLOW),
        "thousand rows/s", *(f"rate / {line}" for line in (*_RIVALS, *_SLOW)), "wall time of 2 threads / 1",
    ]  # fmt: skip
    claim = Claim("Ahead of ARF10, SRP10 and AMF10 on at least 8 of 10 streams.", ahead >= 0.8 * streams,
                  f"on {ahead} of {streams}.")  # fmt: skip
    return Told([Sheet(heads, rows)], [claim], _NOTE)


def _best(found: Found, lines: tuple[str, ...]) -> str | None:
    known = {line: _accuracy(found, line) for line in lines if not _gone(found, line)}
    return max(known, key=known.__getitem__) if known else None


def _over(found: Found, line: str) -> float | None:
    """Return by how many points the forest is ahead."""
    return None if _gone(found, line) else 100 * (_accuracy(found, FOREST) - _accuracy(found, line))


def _gone(found: Found, line: str) -> bool:
    part = found.where(learner=line)
    return not len(part) or part["problem"][0] != ""


def _accuracy(found: Found, line: str) -> float:
    return float(found.where(learner=line)["accuracy"][0])


def _times(found: Found, line: str) -> str:
    if _gone(found, line):
        return "-"
    return f"{rate_of(found.where(learner=FOREST)) / rate_of(found.where(learner=line)):,.1f}"


def _wall(found: Found) -> Any:
    return found.where(learner=THREADS)["wall"][0] / found.where(learner=FOREST)["wall"][0]


FOREST_RUNS = Runs("benchmarks.evergreen", "forest", cells, measure)
