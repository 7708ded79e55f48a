"""Figures as the tables about changes write them."""

from __future__ import annotations

import numpy as np

from experiments.harness.results import Results
from experiments.peers.drift.learners import OURS
from experiments.peers.drift.streams import CHANGING, IN_ORDER, STATIONARY, STREAMS

_KINDS = {
    CHANGING: "Concepts that change",
    IN_ORDER: "Data sets in their own order",
    STATIONARY: "Concepts that stand still",
}


def streams_of(found: Results, *kinds: str) -> list[str]:
    """Return the streams of some kinds that were run."""
    return [stream for stream in found.unique("data") if STREAMS[stream].kind in kinds]


def name_kind(found: Results, kind: str) -> str:
    """Return what streams of a kind are, how many rows they have at most, and how often they were run."""
    lines = found.where(data=streams_of(found, kind))
    rows, runs = int(lines["rows"].max()), len(lines.unique("run"))
    most = "at most " if kind == IN_ORDER else ""
    return f"{_KINDS[kind]}, {most}{rows:,} rows, {runs} run{'s' * (runs > 1)} each."


def mean_of(found: Results, column: str) -> float:
    """Return the mean of what is known, NaN if nothing is."""
    values = found[column][~np.isnan(found[column])]
    return float(values.mean()) if len(values) else np.nan


def percent(found: Results, column: str = "right") -> str:
    """Return the mean in per cent."""
    return show(100 * mean_of(found, column), 2)


def rates(found: Results, column: str) -> str:
    """Return how many there are per 100,000 rows, all lines together."""
    known = ~np.isnan(found[column])
    if not known.any():
        return "-"
    return show(1e5 * float(found[column][known].sum() / found["length"][known].sum()), 1)


def show(value: float, digits: int) -> str:
    """Return a figure as text."""
    return "-" if np.isnan(value) else f"{value:,.{digits}f}"


def mark(learner: str) -> str:
    """Return the name of a learner as pages write it: ours as code."""
    return f"`{learner}`" if learner in OURS else learner
