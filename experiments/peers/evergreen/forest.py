"""The forest of ten beside those of others."""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen.contenders import (
    EVERGREEN,
    FOREST,
    Contender,
    evergreen,
    evergreen_forest,
    forests,
    ours,
)
from experiments.peers.evergreen.passing import COLUMNS, SHUFFLED, OrderedSet, pass_lines, rate_of

THREADS = f"{FOREST}, 2 threads"
STREAMS = (
    OrderedSet("electricity", "in order", 0),
    OrderedSet("letter", SHUFFLED, 0),
    OrderedSet("nursery", SHUFFLED, 0),
    OrderedSet("adult", SHUFFLED, 0),
    OrderedSet("covertype", SHUFFLED, 50_000),
    OrderedSet("covertype", "in order", 50_000),
    OrderedSet("airlines", "in order", 100_000),
    OrderedSet("a9a", SHUFFLED, 0),
    OrderedSet("random tree", SHUFFLED, 50_000),
    OrderedSet("g50c", SHUFFLED, 20_000),
)
_QUICK_ROWS, _QUICK_STREAMS = 2_000, 4
# River's ARF10 learns hundreds of rows a second, and is there in MOA too: it sees the first rows only.
_SHORT = 5_000
_RIVALS = ("MOA ARF10", "MOA SRP10", "river AMF10")
_BRIEF = "river ARF10"
_BEGINNERS = ("river AMF10", _BRIEF)
_NOTE = (
    "Ten trees each, otherwise everybody's own defaults; answered, then learned, one order. Rates are rows "
    "per second of CPU time, all threads together, one learner at a time, without the making of dicts for "
    f"river and in a warm JVM for MOA. River's ARF10 sees the first {_SHORT:,} rows."
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
        for one, lines in ((whole, _long()), (whole._replace(most=_SHORT), (FOREST, EVERGREEN, *_BEGINNERS)))
        for line in lines
    ]


def _long() -> list[str]:
    return [line for line in contenders() if line != _BRIEF]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, and how long that took."""
    contender = contenders()[str(cell["learner"])]
    return attempt_lines(COLUMNS, contender.problem, partial(pass_lines, contender, cell, seed % 2**31))


def summarize(found: Results) -> Report:
    """Return how far the forest is ahead of each rival, its rate beside theirs, and how it begins."""
    rows, first_rows = [], []
    ahead, ahead_at_first, fast = [], [], []
    for (data, order), part in found.groups("data", "order"):
        name = f"{data}, {order}"
        whole = part.where(most=part.where(learner=THREADS).unique("most"))
        first = part.where(most=part.where(learner=_BRIEF).unique("most"))
        over, over_at_first = [_over(whole, line) for line in _RIVALS], [_over(first, line) for line in _BEGINNERS]
        times, times_at_first = [_times(whole, line) for line in _RIVALS], [_times(first, line) for line in _BEGINNERS]
        ahead.append(_least(over) > 0)
        ahead_at_first.append(_least(over_at_first) > 0)
        fast.append(_least(times) >= 10)
        rows.append(
            [
                name,
                *(f"{_accuracy(whole, line):.3f}" for line in (FOREST, EVERGREEN)),
                *(_words(one, "+.1f") for one in over),
                f"{rate_of(whole.where(learner=FOREST)) / 1000:,.0f}",
                *(_words(one, ",.1f") for one in times),
                *(_words(_times(whole, line, EVERGREEN), ",.0f") for line in _RIVALS),
                f"{_wall(whole):.2f}",
            ]
        )
        first_rows.append([name, f"{_accuracy(first, FOREST):.3f}", *(_words(one, "+.1f") for one in over_at_first),
                           *(_words(one, ",.1f") for one in times_at_first)])  # fmt: skip
    heads = ["stream", "forest", "one tree", *(f"points over {line}" for line in _RIVALS), "thousand rows/s",
             *(f"rate / {line}" for line in _RIVALS), *(f"one tree's rate / {line}" for line in _RIVALS),
             "wall time of 2 threads / 1"]  # fmt: skip
    early = ["stream", "forest", *(f"points over {line}" for line in _BEGINNERS),
             *(f"rate / {line}" for line in _BEGINNERS)]  # fmt: skip
    claims = [
        _claim("Ahead of MOA's ARF10 and SRP10 and of river's AMF10 on at least 8 of 10 streams.", ahead),
        _claim("Ahead of river's AMF10 and ARF10 over the first rows, on at least 8 of 10.", ahead_at_first),
        _claim("Ten times as fast as each of these, on at least 8 of 10.", fast),
    ]
    return Report([PageTable(heads, rows), PageTable(early, first_rows, f"The first {_SHORT:,} rows.")], claims, _NOTE)


def _claim(says: str, met: list[bool]) -> Claim:
    return Claim(says, sum(met) >= 0.8 * len(met), f"on {sum(met)} of {len(met)}.")


def _least(known: list[float | None]) -> float:
    """Return the least of what is known; less than nothing where nothing is."""
    return min((one for one in known if one is not None), default=-1.0)


def _words(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def _over(found: Results, line: str) -> float | None:
    """Return by how many points the forest is ahead."""
    return None if _gone(found, line) else 100 * (_accuracy(found, FOREST) - _accuracy(found, line))


def _gone(found: Results, line: str) -> bool:
    part = found.where(learner=line)
    return not len(part) or part["problem"][0] != ""


def _accuracy(found: Results, line: str) -> float:
    return float(found.where(learner=line)["accuracy"][0])


def _times(found: Results, line: str, ours: str = FOREST) -> float | None:
    """Return how many times as fast as another learner ours is."""
    return None if _gone(found, line) else rate_of(found.where(learner=ours)) / rate_of(found.where(learner=line))


def _wall(found: Results) -> Any:
    return found.where(learner=THREADS)["wall"][0] / found.where(learner=FOREST)["wall"][0]


FOREST_RUNS = Runs("peers.evergreen", "forest", cells, measure)
