"""Every learner through every data set, as it came and shuffled: each row answered, then learned."""

from __future__ import annotations

from itertools import product

from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.peers.choosing.learners import LEARNERS, OURS, RULES, Missing, Paid
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.sets import OrderedRows

# From small to large.
SETS = (
    "vote", "breast_cancer", "diabetes", "phishing", "satimage", "compas", "mushroom", "fico", "nursery", "letter",
    "electricity", "adult", "a9a", "airlines", "covertype",
)  # fmt: skip
IN_ORDER, SHUFFLED = "in order", "shuffled"
ROWS: dict[Scale, int] = {"quick": 2_000, "full": 10_000}
# Where others need tens of milliseconds for a row, by columns or by classes.
FEWER: dict[str, dict[Scale, int]] = {
    **{name: {"quick": 1_000, "full": 10_000} for name in ("satimage", "letter", "covertype")},
    "a9a": {"quick": 500, "full": 5_000},
}


def cells(scale: Scale) -> list[Cell]:
    """Return who goes through what; ``most`` is where a set is cut off. Those that start a JVM each time come last."""
    java = [name for name in LEARNERS if name.startswith("MOA")]
    return [
        {"data": data, "order": order, "learner": learner, "most": FEWER.get(data, ROWS)[scale], "run": 0}
        for group in ([name for name in LEARNERS if name not in java], *([name] for name in java))
        for data, order, learner in product(SETS, (IN_ORDER, SHUFFLED), group)
    ]


def attempt(learner: str, rows: OrderedRows, seed: int) -> Paid | Missing:
    """Return what a learner comes to; one of others that fails leaves a gap, ours may only be short of memory."""
    try:
        return LEARNERS[learner](rows, seed)
    except MemoryError as error:
        return Missing(f"its memory does not suffice: {error}")
    except Exception as error:
        if learner in OURS or learner in RULES:
            raise
        return Missing(" ".join(f"{type(error).__name__}: {error}".split())[:200])


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, what it cost, and why there are no figures if there are none."""
    rows = sets.load(str(cell["data"]), seed if cell["order"] == SHUFFLED else None, int(cell["most"]))
    shape: Row = {"rows": len(rows.y), "columns": rows.X.shape[1], "classes": len(set(rows.y.tolist()))}
    found = attempt(str(cell["learner"]), rows, seed % 2**31)
    if isinstance(found, Missing):
        gap = float("nan")
        return [{**shape, "accuracy": gap, "loss": gap, "labels": 0, "features": gap, "seconds": gap, "bytes": -1,
                 "problem": found.why}]  # fmt: skip
    score, size = found.run.score(), found.run.nbytes
    return [{
        **shape,
        "accuracy": score.accuracy,
        "loss": score.loss,
        "labels": len(rows.y),
        "features": found.features,
        "seconds": found.run.seconds,
        "bytes": -1 if size is None else size,
        "problem": "",
    }]  # fmt: skip


PASSES = Runs("peers.choosing", "passes", cells, measure)
