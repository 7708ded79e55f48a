"""Figure 3: what the page says of it, and its picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results, show_mean
from experiments.papers.confidence.curves import (
    Lead,
    best_of,
    choose_on_others,
    draw_curves,
    ends_of,
    follow_best,
    lead_of,
    read_runs,
    sweep_settings,
)
from experiments.papers.confidence.tuning import ADAPTIVE, CRITERIA, PUBLISHED, TIES

# "Around" a value: within this factor of it.
_AROUND = 3.0


def judge_leads(leads: Iterable[Lead]) -> bool | None:
    """Return whether a learner is ahead of all others: by more than two standard errors, on average over leaf counts.

    Parameters
    ----------
    leads
        Over each of the others.

    Examples
    --------
    >>> flat = (np.zeros(1), np.ones(1))
    >>> judge_leads([Lead(flat, 0.03, 0.01), Lead(flat, -0.03, 0.01)])
    False
    """
    known = list(leads)
    if all(lead.mean > 2 * lead.error for lead in known):
        return True
    return False if any(lead.mean < -2 * lead.error for lead in known) else None


def judge_everywhere(leads: Iterable[Lead]) -> bool | None:
    """Return whether a learner is ahead of all others at every leaf count; False if it is behind one at any.

    Parameters
    ----------
    leads
        Over each of the others.

    Examples
    --------
    >>> judge_everywhere([Lead((np.array([0.03, 0.03]), np.array([0.01, 0.02])), 0.03, 0.01)])
    >>> judge_everywhere([Lead((np.array([0.03, -0.03]), np.array([0.01, 0.01])), 0.0, 0.01)])
    False
    """
    known = list(leads)
    if all(0 < lead.compared == lead.above for lead in known):
        return True
    return False if any(lead.below for lead in known) else None


def leads_over(found: Results, learners: tuple[str, ...], read: Callable[[Results], Floats]) -> dict[str, Lead]:
    """Return the leads of the first learner over the others, by their names.

    Parameters
    ----------
    found
        Lines of one data set.
    learners
        The one, and the others.
    read
        `follow_best` or `sweep_settings`.
    """
    curves = {learner: read_runs(found, learner, read) for learner in learners}
    return {learner: lead_of(curves[learners[0]], curves[learner]) for learner in learners[1:]}


def show_leads(leads: dict[str, Lead]) -> str:
    """Return leads in words.

    Parameters
    ----------
    leads
        By the other's name.
    """
    return "; ".join(f"over {name} {lead}" for name, lead in leads.items())


def summarize_trees(found: Results) -> Report:
    """Return what the page says of random trees."""
    trees = len(found.where(learner="C-Tree").unique("run"))
    note = (
        f"{trees} random trees of 50 leaves, 500,000 rows each, Bayes accuracy .70; a row's leaf is drawn, where the "
        "paper takes 10,000 rows of each. Left: as the paper describes its plots, the setting with the best accuracy "
        "at the end, chosen on the stream that it is shown on, and leaves and running accuracy as it is fed. Right: "
        "accuracy at the end against leaves at the end, one point for each setting, interpolated. The paper's "
        "text has no numbers of it, only the claims below; which settings its grid has it does not say either. "
        "Averages over leaf counts weigh each of those drawn the same."
    )
    claims = [
        *_claims_of_accuracy(found),
        *_claims_of_settings(found),
        _claim_of_criteria(found),
        _claim_of_ties(found),
    ]
    return Report([_table(found)], claims, note)


def _table(found: Results) -> PageTable:
    rows = []
    for learner in (name for name in (*PUBLISHED, *ADAPTIVE, *CRITERIA) if name in found.unique("learner")):
        lines = found.where(learner=learner)
        best = [best_of(lines.where(run=run)) for run in lines.unique("run")]
        table = Results(
            {name: np.array([getattr(one, name) for one in best]) for name in ("setting", "leaves", "score")}
        )
        chosen = choose_on_others(lines)
        low, high = np.min(table["setting"]), np.max(table["setting"])
        rows.append(
            [
                learner,
                f"{len(best)}",
                show_mean(table.mean("score"), 4),
                show_mean(table.mean("leaves"), 0),
                f"{np.median(table['setting']):.3g} ({low:.3g} to {high:.3g})",
                show_mean(chosen.mean("score"), 4),
                show_mean(chosen.mean("leaves"), 0),
            ]
        )
    columns = (
        "learner", "trees", "accuracy, tuned on the stream", "leaves", "setting: median (range)",
        "accuracy, tuned on the other trees", "leaves",
    )  # fmt: skip
    return PageTable(columns, rows, "At the end of the streams. The setting is c of the C-Tree, delta of the others.")


def _claims_of_accuracy(found: Results) -> list[Claim]:
    swept, tuned = (leads_over(found, PUBLISHED, read) for read in (sweep_settings, follow_best))
    bayes = ""
    if ADAPTIVE[0] in found.unique("learner"):
        bayes = f" With adaptive leaves: {show_leads(leads_over(found, ADAPTIVE, follow_best))}."
    return [
        Claim(
            "C-Tree dominates across the entire range of parameters.",
            judge_everywhere(swept.values()),
            f"accuracy at the end by leaves at the end: C-Tree leads {show_leads(swept)}.",
        ),
        Claim(
            "C-Tree achieves the best accuracy as a function of the number of generated leaves: its trees are more "
            "accurate than trees with the same number of leaves of the others.",
            judge_leads(tuned.values()),
            f"tuned trees while the stream is fed: C-Tree leads {show_leads(tuned)}.{bayes}",
        ),
        Claim(
            "Its bound lets C-Tree select splits that reduce risk more effectively than those of the baselines.",
            _compare_best(found),
            "accuracy of each tree's best setting, at any number of leaves: C-Tree leads "
            + "; ".join(f"over {name} {show_mean(result, 4)}" for name, result in _best_leads(found).items())
            + ".",
        ),
    ]


def _best_leads(found: Results) -> dict[str, tuple[float, float]]:
    scores = {}
    for learner in PUBLISHED:
        lines = found.where(learner=learner)
        scores[learner] = np.array([best_of(lines.where(run=run)).score for run in lines.unique("run")])
    ours = scores.pop(PUBLISHED[0])
    return {name: Results({"lead": ours - theirs}).mean("lead") for name, theirs in scores.items()}


def _compare_best(found: Results) -> bool | None:
    return judge_leads(Lead((np.zeros(1), np.zeros(1)), *result) for result in _best_leads(found).values())


def _claims_of_settings(found: Results) -> list[Claim]:
    claims = []
    for learner, name, published in (("C-Tree", "c", 0.005), ("H-Tree", "delta", 0.01)):
        lines = found.where(learner=learner)
        best = np.array([best_of(lines.where(run=run)).setting for run in lines.unique("run")])
        near = np.mean((best < published * _AROUND) & (best > published / _AROUND))
        ends = ends_of(lines)
        nearest = ends["setting"][np.argmin(np.abs(np.log(ends["setting"] / published)))]
        result = ends.where(setting=nearest)
        claims.append(
            Claim(
                f"The optimal {name} of {learner} is typically around {published:g}.",
                bool(near > 0.5),
                f"median {np.median(best):.3g}, from {best.min():.3g} to {best.max():.3g}; within a factor of "
                f"{_AROUND:g} of it in {near:.0%} of the streams. With {name} {nearest:.2g}, the nearest that was "
                f"tried, trees have {result.mean('leaves')[0]:,.1f} leaves on average.",
            )
        )
    return claims


def _claim_of_criteria(found: Results) -> Claim:
    runs = found.where(learner=CRITERIA[0]).unique("run")
    seen, compact, alike = [], [], []
    for learner in CRITERIA:
        gini = learner.partition(",")[0]
        pairs = [
            [best_of(found.where(learner=name, run=run)) for name in (gini, learner)]
            for run in runs
        ]  # fmt: skip
        leaves = Results({"ratio": np.array([np.log(other.leaves / ours.leaves) for ours, other in pairs])}).mean(
            "ratio"
        )
        score = Results({"lead": np.array([ours.score - other.score for ours, other in pairs])}).mean("lead")
        compact.append(leaves[0] > 2 * leaves[1])
        alike.append(abs(score[0]) < 0.01)
        seen.append(
            f"{learner}: {np.exp(leaves[0]):.2f} times the leaves of Gini ({np.exp(leaves[0] - 2 * leaves[1]):.2f} to "
            f"{np.exp(leaves[0] + 2 * leaves[1]):.2f}), {show_mean((-score[0], score[1]), 4)} in accuracy"
        )
    holds = True if all(compact) and all(alike) else None
    if not any(compact):
        holds = False
    return Claim(
        "Gini performs like entropy and Kearns-Mansour, and on average produces more compact trees.",
        holds,
        f"{'; '.join(seen)}; each with its best setting, {len(runs)} trees.",
    )


def _claim_of_ties(found: Results) -> Claim:
    ends = ends_of(found.where(learner="H-Tree, ties"))
    without, with_ties = (ends.where(setting=tie) for tie in TIES)
    splits = with_ties["leaves"] - 1
    share = Results({"share": (splits - (without["leaves"] - 1)) / np.maximum(splits, 1)}).mean("share")
    return Claim(
        "The tie-break causes the majority of the splits.",
        bool(share[0] - 2 * share[1] > 0.5) or (False if share[0] + 2 * share[1] < 0.5 else None),
        f"H-Tree with delta 1e-7: {show_mean(with_ties.mean('leaves'), 0)} leaves with tau .05, "
        f"{show_mean(without.mean('leaves'), 0)} without, so that {show_mean(share, 2)} of the splits come from ties. "
        f"They help: accuracy {show_mean(with_ties.mean('score'), 4)} with them, {show_mean(without.mean('score'), 4)} "
        "without.",
    )


def draw_trees(found: Results, figure: Any) -> None:
    """Draw both readings beside each other."""
    left, right = figure.subplots(1, 2, sharey=True)
    draw_curves(left, found, PUBLISHED, follow_best)
    draw_curves(right, found, PUBLISHED, sweep_settings)
    left.set_title("tuned, as the stream is fed", fontsize=10)
    right.set_title("at the end of the stream, by setting", fontsize=10)
    left.set_ylabel("online accuracy")
    left.legend(frameon=False)
