"""What the page says of the interval for live accuracy."""

from __future__ import annotations

import numpy as np

from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results, show_mean
from experiments.harness.verdicts import all_hold, is_above
from experiments.peers.labels.coverage import ALPHA, BUDGET, EXPLORING, POLICIES, REAL, SEA, list_looks


def summarize(found: Results) -> Report:
    """Return a table for generated streams and one for the real set."""
    tables = [_table(found.where(data=data), _describe(found.where(data=data), data)) for data in (SEA, REAL)]
    lines = found.where(data=SEA)
    return Report(tables, [_holds(found), _pays(lines), _buys_back(lines), _misleads(found.where(data=REAL))])


def _describe(lines: Results, data: str) -> str:
    count = len(lines.where(policy=lines.unique("policy")[0]))
    rows = int(lines["rows"][0])
    what = "half of them with a change" if data == SEA else "shuffled"
    return (
        f"{data}, {count:,} streams of {rows:,} rows for each policy, {what}; budget {BUDGET:g}, "
        f"{len(list(list_looks(rows)))} looks at the {1 - ALPHA:.0%} interval of each."
    )


def _table(lines: Results, caption: str) -> PageTable:
    rows = [
        [
            policy,
            f"{np.mean(part['wrong']):.3f}",
            show_mean(part.mean("width")),
            show_mean(part.mean("error")),
            show_mean(part.mean("naive")),
        ]
        for (policy,), part in lines.groups("policy")
    ]
    heads = ["policy", "ever wrong", "width at the end", "ledger minus truth", "plain count minus truth"]
    return PageTable(heads, rows, caption)


def _holds(found: Results) -> Claim:
    shares = {(data, policy): np.mean(part["wrong"]) for (data, policy), part in found.groups("data", "policy")}
    # Two standard errors of a share that is as large as allowed.
    least = min(len(part) for _, part in found.where(data=SEA).groups("policy"))
    slack = 2 * np.sqrt(ALPHA * (1 - ALPHA) / least)
    (data, policy), worst = max(shares.items(), key=lambda item: item[1])
    on_sea = max(share for (name, _), share in shares.items() if name == SEA)
    holds = True if on_sea < ALPHA - slack else False if on_sea > ALPHA + slack else None
    seen = f"at most {on_sea:.3f} of the streams of SEA; of all, most for {policy} on {data}, {worst:.3f}."
    return Claim(f"The interval is ever wrong in at most {ALPHA:.0%} of the streams, whoever asks.", holds, seen)


def _wider(lines: Results, policy: str, other: str) -> tuple[float, float]:
    """Return the mean difference of widths on the same streams, and its standard error."""
    one, two = (lines.where(policy=name)["width"] for name in (policy, other))
    return Results({"wider": one - two}).mean("wider")


def _pays(lines: Results) -> Claim:
    gaps = {policy: _wider(lines, policy, "Random") for policy in POLICIES if policy != "Random"}
    result = ", ".join(f"{policy} {show_mean(gap)}" for policy, gap in gaps.items())
    says = "A policy that chooses pays with a wider interval than `Random`."
    return Claim(says, all_hold(map(is_above, gaps.values())), f"wider by {result}.")


def _buys_back(lines: Results) -> Claim:
    mean, error = _wider(lines, "Uncertain", EXPLORING)
    seen = f"with explore .5 in place of .1 the interval of `Uncertain` is narrower by {show_mean((mean, error))}."
    return Claim("`explore` buys that back.", is_above((mean, error)), seen)


def _misleads(lines: Results) -> Claim:
    parts = {policy: lines.where(policy=policy) for policy in POLICIES if policy not in ("Random", EXPLORING)}
    off = {policy: abs(part.mean("naive")[0]) > 2 * part.mean("naive")[1] for policy, part in parts.items()}
    part = parts["Uncertain"]
    bias, error = part.mean("naive")
    seen = (
        f"count minus truth {show_mean((bias, error))}, ledger minus truth {show_mean(part.mean('error'))}; of "
        f"{len(off)} policies that choose {sum(off.values())} are off by more than two standard errors."
    )
    says = f"Right answers counted among the labels that `Uncertain` asked are too few ({REAL})."
    return Claim(says, is_above((-bias, error)), seen)
