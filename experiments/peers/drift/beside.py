"""All learners beside each other: where things change, around the changes, and where nothing does."""

from __future__ import annotations

import numpy as np

from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results
from experiments.peers.drift.compare import all_gained, compare_all, say_gains
from experiments.peers.drift.figures import mark, mean_of, name_kind, percent, rates, show, streams_of
from experiments.peers.drift.labelled import BEFORE, LATER, LEARNERS, SOON
from experiments.peers.drift.learners import CONFIDENCE, OURS, RENEWING_ADWIN, TREES
from experiments.peers.drift.peers import MOA, RIVER
from experiments.peers.drift.streams import CHANGING, IN_ORDER, STATIONARY

_SLANTED = "hyperplane"
_NOTE = (
    "Everybody's own defaults. CPU seconds: ours with compiled code loaded before, river's without the making of its "
    "dicts, MOA's of the thread that learns in the second pass of a JVM. river has one run per stream."
)


def summarize(found: Results) -> Report:
    """Return a line for each learner in four tables."""
    tables = [_table(found, kind) for kind in (CHANGING, IN_ORDER, STATIONARY)]
    return Report([*tables[:1], _around(found), *tables[1:]], _claims(found), _NOTE)


def _table(found: Results, kind: str) -> PageTable:
    streams = streams_of(found, kind)
    parts = [found.where(data=stream) for stream in streams]
    rows = [[mark(name), *(percent(part.where(learner=name)) for part in parts)] for name in LEARNERS]
    if kind == STATIONARY:
        for name, row in zip(LEARNERS, rows, strict=True):
            row.append(rates(found.where(learner=name, data=streams), "alarms"))
    empty = [""] * (kind == STATIONARY)
    rows.append(["repeating the previous label", *(percent(part, "previous") for part in parts), *empty])
    if kind != IN_ORDER:
        rows.append(["the best possible", *(percent(part, "best") for part in parts), *empty])
    columns = ["", *streams, *(["false alarms per 100,000 rows"] if kind == STATIONARY else [])]
    return PageTable(columns, rows, f"{name_kind(found, kind)} Per cent right.")


def _around(found: Results) -> PageTable:
    """Return what is right around changes, mean over the streams that have them."""
    streams = [stream for stream in streams_of(found, CHANGING) if mean_of(found.where(data=stream), "changes") > 0]
    rows = []
    for name in LEARNERS:
        lines = found.where(learner=name, data=streams, problem="")
        near = [
            np.mean([mean_of(part, column) for _, part in lines.groups("data")]) if len(lines) else np.nan
            for column in ("before", "soon", "later")
        ]
        share = 100 * float(lines["found"].sum() / lines["changes"].sum()) if len(lines) else np.nan
        seconds = 1e5 * float(lines["seconds"].sum() / lines["length"].sum()) if len(lines) else np.nan
        rows.append(
            [mark(name), *(show(100 * float(value), 2) for value in near), show(share, 0), rates(lines, "alarms"),
             rates(lines, "tried"), show(seconds, 2)]
        )  # fmt: skip
    columns = [
        "", f"{BEFORE:,} rows before", f"{SOON:,} after", f"{LATER:,} after", "changes found, %",
        "alarms per 100,000 rows", "alternates begun", "CPU s per 100,000 rows",
    ]  # fmt: skip
    caption = (
        f"Around the changes: per cent right, mean over the {len(streams)} streams that change at known rows. Alarms: "
        "changes found by `Renewing`, new trees of `EvergreenTree`, subtrees replaced in the others; a change is found "
        f"if one comes in the {LATER:,} rows after it."
    )
    return PageTable(columns, rows, caption)


def _claims(found: Results) -> list[Claim]:
    monitored = TREES[CONFIDENCE].monitored
    gains = compare_all(found, streams_of(found, CHANGING), RENEWING_ADWIN, monitored)
    says = f"`{RENEWING_ADWIN}`, a new tree at each alarm, is ahead of `{monitored}`, new subtrees."
    claims = [Claim(says, all_gained(gains), say_gains(gains))]
    if _SLANTED in streams_of(found, STATIONARY):
        claims.append(_slanted(found))
    return [*claims, _previous(found)]


def _slanted(found: Results) -> Claim:
    """Tell who is ahead where a boundary is slanted and nothing changes."""
    ours = max(OURS, key=lambda name: mean_of(found.where(data=_SLANTED, learner=name), "right"))
    once, moa = (compare_all(found, [_SLANTED], name, ours) for name in (RIVER, MOA))
    says = "Where a boundary is slanted and nothing changes (hyperplane), MOA's adaptive tree is ahead of all of ours."
    result = [f"{MOA} {gain} points" for gain in moa] + [f"{RIVER}, in one run, {gain} points" for gain in once]
    seen = f"over {mark(ours)}, the best of ours: {'; '.join(result) or '-'}."
    return Claim(says, all_gained(moa) if moa else None, seen)


def _previous(found: Results) -> Claim:
    """Tell whether a learner is ahead of repeating the label before, set by set."""
    beaten, result = [], []
    for stream in streams_of(found, IN_ORDER):
        here = found.where(data=stream, problem="")
        best = int(np.argmax(here["right"]))
        over = 100 * float(here["right"][best] - here["previous"][best])
        beaten.append(over > 0)
        result.append(f"{stream} {over:+.2f} points, {mark(str(here['learner'][best]))}")
    says = "On data sets in their own order the best learner here is ahead of repeating the previous label."
    return Claim(says, all(beaten), f"{'; '.join(result)}.")
