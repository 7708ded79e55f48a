"""The forest of growing trees beside adaptive random forests.

forest  GrowingForest of each kind of tree beside ARF10 of river and MOA, on six sets: accuracy and CPU time.
"""

from __future__ import annotations

from functools import partial

import quercus as qc
from experiments.harness.exhibits import Cell, Exhibit, PageTable, Report, Row, Runs, Scale, Study
from experiments.harness.measuring import attempt_lines
from experiments.harness.results import Results
from experiments.peers.evergreen.contenders import Contender, forests, ours
from experiments.peers.evergreen.passing import COLUMNS, SHUFFLED, OrderedSet, pass_lines, rate_of
from experiments.peers.evergreen.sets import check_data

STREAMS = (
    OrderedSet("electricity", "in order", 0),
    OrderedSet("covertype", "in order", 50_000),
    OrderedSet("airlines", "in order", 50_000),
    OrderedSet("adult", SHUFFLED, 0),
    OrderedSet("letter", SHUFFLED, 0),
    OrderedSet("random tree", SHUFFLED, 50_000),
)
_QUICK_ROWS = 2_000
# River's learns some hundred rows a second.
_SHORT = 5_000
TREES = {
    "of credible trees": qc.CredibleTree,
    "of confidence trees": qc.ConfidenceTree,
    "of Hoeffding trees": qc.HoeffdingTree,
}
_MOA, _RIVER = "MOA ARF10", "river ARF10"
_NOTE = (
    "Ten trees each, otherwise everybody's own defaults; answered, then learned, one order. Rates are rows per second "
    "of CPU time, without the making of dicts for river and in a warm JVM for MOA."
)


def _grow(tree: type, **given: object) -> qc.GrowingForest:
    return qc.GrowingForest(tree(), trees=10, **given)  # type: ignore[arg-type]


def contenders() -> dict[str, Contender]:
    """Return who takes part, by name."""
    others = forests()
    return {name: ours(partial(_grow, tree)) for name, tree in TREES.items()} | {
        name: others[name] for name in (_MOA, _RIVER)
    }


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through which stream; ``most`` rows of it, 0: all."""
    long, short = (0, _SHORT) if scale == "full" else (_QUICK_ROWS, _QUICK_ROWS // 2)
    streams = STREAMS if scale == "full" else STREAMS[:2]
    return [
        {**one._replace(most=most)._asdict(), "learner": line, "run": 0}
        for one in streams
        for most, lines in ((long or one.most, [*TREES, _MOA]), (short, [*TREES, _RIVER]))
        for line in lines
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, and how long that took."""
    contender = contenders()[str(cell["learner"])]
    return attempt_lines(COLUMNS, contender.problem, partial(pass_lines, contender, cell, seed % 2**31))


def summarize(found: Results) -> Report:
    """Return accuracies and rates beside MOA's over all rows, and beside river's over the first ones."""
    tables = []
    for rival, title in ((_MOA, ""), (_RIVER, "The first rows, with river's.")):
        rows = []
        for (data, order), part in found.groups("data", "order"):
            part = part.where(most=part.where(learner=rival).unique("most"))
            names = [*TREES, rival]
            result = [part.where(learner=name, problem="") for name in names]
            accuracies = [f"{one['accuracy'][0]:.3f}" if len(one) else "-" for one in result]
            rates = [f"{rate_of(one) / 1000:,.1f}" if len(one) else "-" for one in result]
            rows.append([f"{data}, {order}", f"{part['rows'][0]:,.0f}", *accuracies, *rates])
        heads = ["stream", "rows", *(f"accuracy {name}" for name in [*TREES, rival]),
                 *(f"thousand rows/s {name}" for name in [*TREES, rival])]  # fmt: skip
        tables.append(PageTable(heads, rows, title))
    return Report(tables, note=_NOTE)


RUNS = Runs("peers.growing", "forest", cells, measure)
STUDY = Study(
    "peers.growing",
    "The growing forest",
    (Exhibit("table", "1", "Forests of ten trees", RUNS, summarize),),
    check=check_data,
)
