"""Speed beside river's and MOA's Hoeffding trees: what `make bench` found, kept so that pages can quote it."""

from __future__ import annotations

from benchmarks.common import LEAVES, Result
from benchmarks.tables import OURS, problem
from quercus.papers.exhibits import Cell, Exhibit, Paper, Row, Runs, Scale, Sheet, Told
from quercus.papers.found import Found
from quercus.papers.storing import Store

STREAMS = {"random_tree": "random tree 500,000 x 5", "covertype": "covertype 581,012 x 54"}
_CONFIDENCE, _RIVER, _MOA = "quercus ConfidenceTree", "river HoeffdingTreeClassifier", "MOA HoeffdingTree"
LEARNERS = (OURS, _CONFIDENCE, _RIVER, _MOA)


def cells(scale: Scale) -> list[Cell]:
    return [
        {"data": stream, "leaf": leaf, "learner": name} for stream in STREAMS for leaf in LEAVES for name in LEARNERS
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    raise NotImplementedError("speed is measured side by side, by python -m benchmarks.")


def keep(results: Result, rows: dict[str, int], store: Store) -> bool:
    """Store a whole run; return whether it was one: every learner measured on every stream."""
    found = {}
    for cell in cells("full"):
        result = results.get(str(cell["data"]), {}).get(str(cell["leaf"]), {}).get(str(cell["learner"]), {"failed": ""})
        if problem(result):
            return False
        count = rows[str(cell["data"])]
        found[tuple(cell.values())] = {
            "rate": count / result["seconds"],
            "accuracy": result["correct"] / count,
            "leaves": int(result["leaves"]),
            "version": str(result["version"]),
        }
    store.forget(RUNS, "full")
    for cell in cells("full"):
        count = rows[str(cell["data"])]
        line = found[tuple(cell.values())]
        store.write(RUNS, "full", cell, [line], count / line["rate"])
    store.merge(RUNS, "full")
    return True


def tell(found: Found) -> Told:
    columns = [
        "stream, leaves", "`HoeffdingTree` rows/s", "against river", "against MOA", "ours, accuracy % / leaves",
        "river", "MOA", "`ConfidenceTree()`",
    ]  # fmt: skip
    rows = []
    for (stream, leaf), part in found.groups("data", "leaf"):
        rates = {name: float(part.where(learner=name)["rate"][0]) for name in LEARNERS}
        rows.append(
            [
                f"{STREAMS[stream]}, {leaf}",
                f"{rates[OURS] / 1e6:.2f} M",
                f"{rates[OURS] / rates[_RIVER]:.0f} x",
                f"{rates[OURS] / rates[_MOA]:.1f} x",
                *(_score(part.where(learner=name)) for name in (OURS, _RIVER, _MOA, _CONFIDENCE)),
            ]
        )
    return Told([Sheet(columns, rows)])


def _score(part: Found) -> str:
    return f"{part['accuracy'][0]:.1%} / {part['leaves'][0]:,}".replace("%", "")


RUNS = Runs("benchmarks.speed", "rates", cells, measure)
PAPER = Paper(
    "benchmarks.speed",
    "Speed beside river and MOA",
    (Exhibit("table", "1", "examples per second", RUNS, tell, command="make bench"),),
)
