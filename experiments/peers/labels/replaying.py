"""What `replay` tells from the log of one run about another policy, beside what that policy then comes to."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.peers.labels.going import QUICK_SETS, SETS, PolicyStream, go, load
from quercus.ask import Confident, Policy, Random, Uncertain

# The policy that was logged, and the one that is replayed.
PAIRS: dict[str, tuple[Policy, Policy]] = {
    "Random(.2) → Random(.1)": (Random(0.2), Random(0.1)),
    "Random(.2) → Confident(.05)": (Random(0.2), Confident(0.05)),
    "Uncertain(.2) → Uncertain(.05)": (Uncertain(0.2), Uncertain(0.05)),
}
_RUNS: dict[Scale, int] = {"quick": 1, "full": 2}
_MOST: dict[Scale, int] = {"quick": 3_000, "full": 20_000}


def cells(scale: Scale) -> list[Cell]:
    """Return what is logged and replayed where."""
    return [
        {"data": data, "pair": pair, "most": _MOST[scale], "run": run}
        for data in (QUICK_SETS if scale == "quick" else SETS)
        for run in range(_RUNS[scale])
        for pair in PAIRS
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what replay tells, or how much the log lacks, and the run itself, which draws anew."""
    from quercus.evaluation.replays import NoSupport
    from quercus.evaluation.replays import replay as play

    seed %= 2**31
    data = load(str(cell["data"]), seed, int(cell["most"]))
    log, other = PAIRS[str(cell["pair"])]
    itself, state, _, _ = go(data, qc.ConfidenceTree(), replace(other, seed=seed + 1))
    line: Row = {"itself": itself, "labels_itself": state.asked}
    try:
        result = play(
            _make_log(data, replace(log, seed=seed)), qc.ConfidenceTree(nominal=data.nominal), other, seed=seed
        )
    except NoSupport as error:
        # How much is lacking only its words tell.
        lacks = re.search(r"(\d+)% of the", str(error))
        assert lacks is not None
        gap = math.nan
        return [{**line, "value": gap, "low": gap, "high": gap, "labels": gap, "lacks": int(lacks[1]) / 100}]
    a = result.accuracy
    return [{**line, "value": a.value, "low": a.low, "high": a.high, "labels": float(result.labels),
             "lacks": result.unsupported}]  # fmt: skip


def _make_log(data: PolicyStream, policy: Policy) -> qc.ledger.QuestionLog:
    """Return what a run asked."""
    decisions = go(data, qc.ConfidenceTree(), policy)[2].decisions
    asked = np.flatnonzero(decisions["asked"])
    log = qc.ledger.QuestionLog()
    log.ask_rows(
        data.X[asked],
        names=data.names,
        row=asked,
        explored=decisions["explored"][asked].astype(bool),
        answers=data.y[asked],
        covered=decisions["covered"][asked],
        price=decisions["price"][asked],
        worth=decisions["worth"][asked],
        propensity=decisions["propensity"][asked],
        prediction=None,
        probability=None,
    )
    return log


def summarize(found: Results) -> Report:
    """Return what was told and what came, and how often that was inside the interval."""
    rows = [
        [f"{data}: {pair}", *_result(part), f"{part.mean('itself')[0]:.4f}", f"{part.mean('labels_itself')[0]:,.0f}"]
        for (data, pair), part in found.groups("data", "pair")
    ]
    heads = ["log → other", "replay", "interval", "labels", "the run itself", "its labels"]
    runs, most = len(found.unique("run")), int(found["most"][0])
    caption = f"Mean of {runs} order{'s' if runs > 1 else ''} of at most {most:,} rows; ends of the interval likewise."
    own = [pair for pair, (log, _) in PAIRS.items() if isinstance(log, Random)]
    claims = [_inside(found.where(pair=own)), _refused(found, [pair for pair in PAIRS if pair not in own])]
    return Report([PageTable(heads, rows, caption)], claims)


def _result(part: Results) -> list[str]:
    known = ~np.isnan(part["value"])
    if not known.all():
        lacks = part["lacks"][~known].mean()
        return [f"refused in {np.sum(~known)} of {len(part)}, the log lacks {lacks:.0%}", "", ""]
    value, low, high, labels = (part.mean(name)[0] for name in ("value", "low", "high", "labels"))
    return [f"{value:.4f}", f"{low:.4f} to {high:.4f}", f"{labels:,.0f}"]


def _inside(lines: Results) -> Claim:
    known = ~np.isnan(lines["value"])
    inside = (lines["low"] <= lines["itself"]) & (lines["itself"] <= lines["high"])
    gap = Results({"gap": (lines["value"] - lines["itself"])[known]}).mean("gap")
    count, total = int(inside.sum()), int(known.sum())
    seen = (
        f"the run itself is inside the interval in {count} of {total} replays; replay minus run {gap[0]:+.4f} "
        f"({gap[1]:.4f})."
    )
    # One in twenty may be outside.
    return Claim("A log of `Random` tells what another policy comes to.", bool(count >= 0.95 * total), seen)


def _refused(found: Results, pairs: list[str]) -> Claim:
    lines = found.where(pair=pairs)
    refused = lines["lacks"][np.isnan(lines["value"])]
    span = f"; the log lacks {refused.min():.0%} to {refused.max():.0%} of its questions" if len(refused) else ""
    says = "A log of `Uncertain` tells what `Uncertain` with a smaller budget comes to."
    return Claim(says, len(refused) == 0, f"refused in {len(refused)} of {len(lines)} replays{span}.")


REPLAYS = Runs("peers.labels", "replay", cells, measure)
