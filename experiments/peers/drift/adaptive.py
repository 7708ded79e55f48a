"""What adaptive=True brings to each of our trees where things change, and costs where they do not."""

from __future__ import annotations

import numpy as np

from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results
from experiments.peers.drift.compare import all_gained, compare_all, none_lost, say_gains
from experiments.peers.drift.figures import mean_of, name_kind, percent, rates, streams_of
from experiments.peers.drift.labelled import LATER
from experiments.peers.drift.learners import TREES
from experiments.peers.drift.streams import CHANGING, IN_ORDER, STATIONARY

_NOTE = (
    "Everybody's own defaults; the features of LED are numbers for all. The constants of adaptive=True were chosen on "
    "other seeds."
)


def summarize(found: Results) -> Report:
    """Return tables of streams that change, of those that stand still and of data sets, and what it costs."""
    tables = [_table(found, kind) for kind in (CHANGING, IN_ORDER, STATIONARY)]
    return Report([*tables, _costs(found)], _claims(found), _NOTE)


def _table(found: Results, kind: str) -> PageTable:
    """Return a table of what is right without and with adaptive=True; a difference has its error over runs."""
    rows = []
    for stream in streams_of(found, kind):
        here = found.where(data=stream)
        rows.append([stream, percent(here, "previous"), percent(here, "best")])
        for without, monitored in TREES.values():
            result = [percent(here.where(learner=name)) for name in (without, monitored)]
            gain = compare_all(found, [stream], monitored, without)
            rows[-1] += [" → ".join(result), *map(str, gain)]
    heads = [head for tree in TREES for head in (f"`{tree}`", "gain")]
    what = "Per cent right, without → with `adaptive=True`; points gained (standard error)."
    return PageTable(["stream", "previous label", "best possible", *heads], rows, f"{name_kind(found, kind)} {what}")


def _costs(found: Results) -> PageTable:
    """Return alarms, alternates and what is left of the speed, tree by tree."""
    rows = []
    for tree, (_, monitored) in TREES.items():
        lines = [found.where(learner=monitored, data=streams_of(found, kind)) for kind in (STATIONARY, CHANGING)]
        found_of = lines[1]["found"][lines[1]["changes"] > 0].sum(), lines[1]["changes"].sum()
        rows.append(
            [
                f"`{tree}`",
                *(rates(one, "alarms") for one in lines),
                f"{found_of[0]:.0f} of {found_of[1]:.0f}",
                *(rates(one, "tried") for one in lines),
                *(_speed(found, tree, kind) for kind in (STATIONARY, CHANGING)),
            ]
        )
    columns = [
        "", "false alarms", "alarms where things change", "changes found", "alternates begun, nothing changes",
        "where things change", "speed left, nothing changes", "where things change",
    ]  # fmt: skip
    caption = (
        "What watching costs. Alarms: subtrees replaced by an alternate, of which one change may need several; of "
        "`EvergreenTree`, whole new trees. Alarms and alternates are per 100,000 rows. A change is found if an alarm "
        f"comes in the {LATER:,} rows after it."
    )
    return PageTable(columns, rows, caption)


def _speed(found: Results, tree: str, kind: str) -> str:
    """Return the least and the largest share of the speed that is left, over streams."""
    shares = []
    for stream in streams_of(found, kind):
        without, monitored = (mean_of(found.where(data=stream, learner=name), "seconds") for name in TREES[tree])
        shares.append(100 * without / monitored)
    return f"{min(shares):.0f} to {max(shares):.0f} %"


def _claims(found: Results) -> list[Claim]:
    claims = []
    for tree, (without, monitored) in TREES.items():
        gains = compare_all(found, streams_of(found, CHANGING), monitored, without)
        says = f"`{tree}`: `adaptive=True` gains where things change."
        claims.append(Claim(says, all_gained(gains), say_gains(gains)))
    for tree, (without, monitored) in TREES.items():
        still = streams_of(found, STATIONARY)
        gains, lines = compare_all(found, still, monitored, without), found.where(data=still, learner=monitored)
        worst = min(gains, key=lambda gain: gain.mean)
        says = f"`{tree}`: `adaptive=True` loses nothing that counts where nothing changes."
        seen = (
            f"worst {worst} points, {worst.stream}; {np.sum(lines['alarms']):.0f} alarms in "
            f"{np.sum(lines['length']):,.0f} rows."
        )
        claims.append(Claim(says, none_lost(gains), seen))
    return claims
