"""One label in ten is asked for: only labels asked at random tell a tree that things have changed."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.drift.compare import all_gained, compare, compare_all, judge_all, say_gains
from experiments.peers.drift.figures import percent, show
from experiments.peers.drift.labelled import ROWS, RUNS, near_changes
from experiments.peers.drift.learners import CONFIDENCE, EVERGREEN, OURS, TREES, DriftRun, count_replacements
from experiments.peers.drift.streams import IN_ORDER, STREAMS, load_case
from experiments.peers.labels.going import PolicyStream, go
from quercus.ask import Random, Split, Uncertain

RANDOM = "Random(.1)"
POLICIES = {
    RANDOM: Random(0.1),
    "Uncertain(.1)": Uncertain(0.1),
    "Uncertain(.1, explore=.5)": Uncertain(0.1, explore=0.5),
    "Split(.1)": Split(0.1),
}
ASKING = (EVERGREEN, CONFIDENCE)
_STREAMS = (
    "STAGGER, 10 % noise, every 5,000", "SEA, every 10,000", "SEA, every 25,000", "LED, 3 segments every 10,000",
    "random trees in turn, every 20,000", "electricity",
)  # fmt: skip
_QUICK = _STREAMS[:2]
_COLUMNS = ("length", "right", "before", "soon", "later", "labels", "explored", "tried", "alarms", "seconds")
_NOTE = (
    "Labels that a policy chose do not tell how often a tree errs, and are not shown to its detectors; those asked at "
    "random, explored, are."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who asks how on which stream; a data set has one order."""
    learners = [name for tree in ASKING for name in TREES[tree]]
    return [
        {"data": data, "policy": policy, "learner": learner, "rows": ROWS[scale], "run": run}
        for data in (_STREAMS if scale == "full" else _QUICK)
        for run in range(1 if STREAMS[data].kind == IN_ORDER else RUNS[scale])
        for policy, learner in product(POLICIES, learners)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what is right in all and around changes, labels, and alternates of trees that have some."""
    seed %= 2**31
    case = load_case(str(cell["data"]), seed, int(cell["rows"]))
    model = OURS[str(cell["learner"])](nominal=case.rows.nominal)
    data = PolicyStream(case.rows.X, case.rows.y, [f"x{j}" for j in range(case.rows.X.shape[1])], [])
    start = time.process_time()
    right, state, looked, rows_right = go(data, model, replace(POLICIES[str(cell["policy"])], seed=seed))
    seconds = time.process_time() - start
    explored = int((looked.decisions["asked"] & looked.decisions["explored"]).sum())
    replacements = (
        count_replacements(model)
        if model.adaptive and TREES[EVERGREEN].monitored != cell["learner"]
        else (np.nan, np.nan)
    )
    values = (
        len(data.y),
        right,
        *near_changes(DriftRun(rows_right, seconds), case),
        state.asked,
        explored,
        *replacements,
        seconds,
    )
    return [{**dict(zip(_COLUMNS, map(float, values), strict=True)), "problem": ""}]


def summarize(found: Results) -> Report:
    """Return a table for each tree, and one of the labels."""
    return Report([*(_table(found, tree) for tree in ASKING), _labels(found)], _claims(found), _NOTE)


def _table(found: Results, tree: str) -> PageTable:
    rows = []
    for stream in found.unique("data"):
        rows.append([stream])
        for policy in POLICIES:
            here = found.where(policy=policy)
            result = [percent(here.where(data=stream, learner=name)) for name in TREES[tree]]
            rows[-1].append(
                f"{' → '.join(result)}, {compare(here, stream, TREES[tree].monitored, TREES[tree].without)}"
            )
    runs = len(found.unique("run"))
    caption = (
        f"`{tree}`, {int(found['rows'].max()):,} rows at most, {runs} run{'s' * (runs > 1)} (of data sets one): per "
        "cent right, without → with `adaptive=True`, points gained (standard error)."
    )
    return PageTable(["stream", *(f"`{policy}`" for policy in POLICIES)], rows, caption)


def _labels(found: Results) -> PageTable:
    rows = []
    for policy in POLICIES:
        shares = []
        for tree, column in product(ASKING, ("labels", "explored")):
            lines = found.where(policy=policy, learner=TREES[tree].monitored)
            shares.append(show(100 * float(lines[column].sum() / lines["length"].sum()), 2))
        rows.append([f"`{policy}`", *shares])
    heads = [f"`{tree}`, {what}" for tree in ASKING for what in ("labels", "asked at random")]
    return PageTable(["policy", *heads], rows, "Labels with `adaptive=True`, per cent of all rows.")


def _claims(found: Results) -> list[Claim]:
    claims, generated = [], [name for name in found.unique("data") if STREAMS[name].kind != IN_ORDER]
    for tree in ASKING:
        gains = compare_all(found.where(policy=RANDOM), generated, TREES[tree].monitored, TREES[tree].without)
        says = f"`{tree}`, labels asked at random: `adaptive=True` gains where things change."
        claims.append(Claim(says, all_gained(gains), say_gains(gains)))
    return claims + [_random_first(found, tree, policy) for tree in ASKING for policy in POLICIES if policy != RANDOM]


def _random_first(found: Results, tree: str, policy: str) -> Claim:
    """Tell whether labels asked at random are worth more to a tree that watches than those of a policy."""
    lines = found.where(learner=TREES[tree].monitored)
    named = Results({**lines.columns, "learner": lines["policy"]})
    gains = compare_all(named, found.unique("data"), RANDOM, policy)
    return Claim(f"`{tree}` with `adaptive=True`: `{RANDOM}` is ahead of `{policy}`.", *judge_all(gains))


ASKED = Runs("peers.drift", "asked", cells, measure)
