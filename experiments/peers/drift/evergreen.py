"""The evergreen tree where things change and where they do not, beside the adaptive trees of river and MOA."""

from __future__ import annotations

from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results
from experiments.peers.drift.compare import compare_all, judge_all
from experiments.peers.drift.figures import mark, name_kind, percent, rates, streams_of
from experiments.peers.drift.learners import EVERGREEN, RECENT, TREES
from experiments.peers.drift.peers import MOA, RIVER
from experiments.peers.drift.streams import CHANGING, IN_ORDER, STATIONARY

_MONITORED = TREES[EVERGREEN].monitored
_LEARNERS = (*TREES[EVERGREEN], RECENT, RIVER, MOA)
_WHERE = {
    CHANGING: "where things change",
    IN_ORDER: "on data sets in their own order",
    STATIONARY: "where nothing changes",
}
_NOTE = "Everybody's own defaults otherwise; river has one run per stream."


def summarize(found: Results) -> Report:
    """Return a line for each stream, those that change and those that stand still apart."""
    tables = [_table(found, kind) for kind in (CHANGING, IN_ORDER, STATIONARY)]
    claims = [_ahead(found, rival, kind) for rival in (RIVER, MOA) for kind in _WHERE]
    claims.append(_ahead(found, RECENT, CHANGING))
    return Report(tables, [claim for claim in claims if claim is not None], _NOTE)


def _table(found: Results, kind: str) -> PageTable:
    rows = []
    for stream in streams_of(found, kind):
        here = found.where(data=stream)
        gains = [compare_all(found, [stream], _MONITORED, rival) for rival in (RIVER, MOA)]
        rows.append(
            [
                stream,
                *(percent(here.where(learner=name)) for name in _LEARNERS),
                *(str(gain[0]) if gain else "-" for gain in gains),
                rates(here.where(learner=_MONITORED), "alarms"),
            ]
        )
    columns = ["stream", *map(mark, _LEARNERS), "over river's", "over MOA's", "alarms per 100,000 rows"]
    what = f"Per cent right; points that `{_MONITORED}` is ahead by (standard error); river's has one run."
    return PageTable(columns, rows, f"{name_kind(found, kind)} {what}")


def _ahead(found: Results, rival: str, kind: str) -> Claim | None:
    """Tell whether the tree is ahead of another, taking all streams together; None: they never met."""
    gains = compare_all(found, streams_of(found, kind), _MONITORED, rival)
    if not gains:
        return None
    return Claim(f"`{_MONITORED}` is ahead of {mark(rival)} {_WHERE[kind]}.", *judge_all(gains))
