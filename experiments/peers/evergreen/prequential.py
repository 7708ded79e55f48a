"""Answer, then learn: accuracy, log-loss, size and rate."""

from __future__ import annotations

from functools import partial

import quercus as qc
from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen.contenders import EVERGREEN, Contender, evergreen, forests, ours, trees
from experiments.peers.evergreen.frozen import HOEFFDING
from experiments.peers.evergreen.passing import COLUMNS, IN_ORDER, SHUFFLED, OrderedSet, pass_lines, rate_of

# Sets whose order means something come in it and shuffled.
STREAMS = (
    OrderedSet("random tree", SHUFFLED, 0),
    *(
        OrderedSet(data, order, 0)
        for data in ("electricity", "airlines", "covertype", "adult", "a9a", "letter")
        for order in (IN_ORDER, SHUFFLED)
    ),
    OrderedSet("nursery", SHUFFLED, 0),
)
_QUICK_STREAMS = tuple(one for one in STREAMS if one.data in {"electricity", "letter"} and one.order == SHUFFLED)
# Rows of ours (0: all), of the trees of MOA, of river.
_ALL: dict[Scale, int] = {"quick": 20_000, "full": 0}
_MOA: dict[Scale, int] = {"quick": 5_000, "full": 100_000}
_RIVER: dict[Scale, int] = {"quick": 1_000, "full": 5_000}
_RIVER_LINES = ("river HoeffdingTree", "river AMF10", "river ARF10")
_NOTE = (
    "Ours go to the end of the set; the trees of MOA and river see its first rows only, and ours beside them "
    "the same. Rates are rows per second of CPU time, one learner at a time; of ours from the array to the "
    "last answer, compiled code loaded before, of river without the making of its dicts, of MOA in a warm "
    "JVM."
)


def contenders() -> dict[str, Contender]:
    """Return who takes part, by name."""
    return {EVERGREEN: ours(evergreen), HOEFFDING: ours(qc.HoeffdingTree), **_others()}


def _others() -> dict[str, Contender]:
    return {line: one for line, one in {**trees(), **forests()}.items() if line in _RIVER_LINES or _is_moa_tree(line)}


def _is_moa_tree(line: str) -> bool:
    return line.startswith("MOA") and line in trees()


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through which stream, and how far."""
    moa = [line for line in contenders() if _is_moa_tree(line)]
    groups = {_ALL[scale]: [EVERGREEN, HOEFFDING], _MOA[scale]: [EVERGREEN, *moa],
              _RIVER[scale]: [EVERGREEN, *_RIVER_LINES]}  # fmt: skip
    return [
        {**one._replace(most=most)._asdict(), "learner": line, "run": 0}
        for one in (_QUICK_STREAMS if scale == "quick" else STREAMS)
        for most, lines in groups.items()
        for line in lines
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, and how long that took."""
    contender = contenders()[str(cell["learner"])]
    return attempt_lines(COLUMNS, contender.problem, partial(pass_lines, contender, cell, seed % 2**31))


def summarize(found: Results) -> Report:
    """Return a table of ours, and one of rates beside others."""
    whole, beside = [], []
    for (data, order), part in found.groups("data", "order"):
        name = f"{data}, {order}"
        whole.append([name, *_whole(part.where(most=part.where(learner=HOEFFDING).unique("most")))])
        beside.append([name, *_beside(part)])
    heads = ["stream", "rows x features", "accuracy", "log-loss", "previous label", "`HoeffdingTree`", "leaves", "MB",
             "thousand rows/s"]  # fmt: skip
    others = ["stream", "`EvergreenTree`", "best tree of MOA", "which", "our rate / its",
              *(f"our rate / {line}" for line in _RIVER_LINES)]  # fmt: skip
    return Report([PageTable(heads, whole), PageTable(others, beside, "Beside others, over their rows.")], note=_NOTE)


def _whole(part: Results) -> list[str]:
    mine, hoeffding = part.where(learner=EVERGREEN), part.where(learner=HOEFFDING)
    rows, features, previous, accuracy, loss, leaves, size = (
        float(mine[name][0]) for name in ("rows", "features", "previous", "accuracy", "loss", "leaves", "bytes")
    )
    return [
        f"{rows:,.0f} x {features:.0f}", f"{accuracy:.4f}", f"{loss:.3f}", f"{previous:.4f}",
        f"{hoeffding['accuracy'][0]:.4f}", f"{leaves:,.0f}", f"{size / 1e6:.1f}", f"{rate_of(mine) / 1000:,.0f}",
    ]  # fmt: skip


def _beside(part: Results) -> list[str]:
    moa = part.where(learner=[line for line in part.unique("learner") if line.startswith("MOA")], problem="")
    if len(moa):
        best = moa.where(learner=str(moa["learner"][int(moa["accuracy"].argmax())]))
        mine = part.where(learner=EVERGREEN, most=best.unique("most"))
        result = [f"{mine['accuracy'][0]:.4f}", f"{best['accuracy'][0]:.4f}", str(best["learner"][0]),
                f"{rate_of(mine) / rate_of(best):,.1f}"]  # fmt: skip
    else:
        result = ["-"] * 4
    for line in _RIVER_LINES:
        one = part.where(learner=line, problem="")
        mine = part.where(learner=EVERGREEN, most=one.unique("most"))
        result.append(f"{rate_of(mine) / rate_of(one):,.1f}" if len(one) else "-")
    return result


PASSES = Runs("peers.evergreen", "prequential", cells, measure)
