"""The errors of section 5.1 by number of trees, from the runs of table 1."""

from __future__ import annotations

import numpy as np

from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results, show_mean
from experiments.harness.verdicts import all_hold, is_above
from experiments.papers.bayesian.errors import RANDOM_FOREST, TREES
from experiments.papers.bayesian.published import TREES as PUBLISHED
from experiments.papers.bayesian.table import SIMILAR, known_sets, name_set, paired, per_cent


def summarize_trees(found: Results) -> Report:
    """Say what more trees bring."""
    rows = []
    for data in known_sets(found):
        ours = [show_mean(per_cent(found, data, "BOF", trees), 2) for trees in TREES]
        paper = [f"{value}" for value in PUBLISHED[data]]
        batch = [show_mean(per_cent(found, data, RANDOM_FOREST, trees), 2) for trees in (*TREES, 100)]
        rows.append([name_set(found, data), *(f"{a}, paper {b}" for a, b in zip(ours, paper, strict=True)), *batch])
    heads = [f"BOF, {trees}" for trees in TREES] + [f"RF, {trees}" for trees in (*TREES, 100)]
    caption = "Error on the test rows in per cent by number of trees: mean (standard error)."
    note = (
        "From the text of section 5.1, with the runs of table 1. RF is a random forest that was given all rows at "
        "once. What averaging takes away is variance: a single tree that has less of it gains less from company."
    )
    claims = [_falls(found), _varies_less(found), _needs_fewer(found), _eight_are_enough(found)]
    return Report([PageTable(("", *heads), rows, caption)], claims, note)


def _falls(found: Results) -> Claim:
    gains = {data: paired(found, data, ("BOF", 1, "error"), ("BOF", 8, "error")) for data in known_sets(found)}
    result = [f"{name_set(found, data)} {mean:.2f} ({error:.2f})" for data, (mean, error) in gains.items()]
    return Claim(
        "The error falls from 1 tree to 8, on every set.",
        all_hold(is_above(gain) for gain in gains.values()),
        f"points in the same runs: {'; '.join(result)}.",
    )


def _varies_less(found: Results) -> Claim:
    result, verdicts = [], []
    for data in known_sets(found):
        ours = paired(found, data, ("BOF", 1, "error"), ("BOF", 8, "error"))
        theirs = paired(found, data, (RANDOM_FOREST, 1, "error"), (RANDOM_FOREST, 8, "error"))
        result.append(f"{name_set(found, data)} {ours[0]:.2f} against {theirs[0]:.2f}")
        verdicts.append(is_above((theirs[0] - ours[0], float(np.hypot(ours[1], theirs[1])))))
    return Claim(
        "Bayesian trees have less variance than standard trees.",
        all_hold(verdicts),
        f"points that 8 trees gain over one, Bayesian against those of a random forest: {'; '.join(result)}.",
    )


def _needs_fewer(found: Results) -> Claim:
    gaps = {data: paired(found, data, ("BOF", 8, "error"), (RANDOM_FOREST, 100, "error")) for data in known_sets(found)}
    result = [f"{name_set(found, data)} {mean:+.2f} ({error:.2f})" for data, (mean, error) in gaps.items()]
    return Claim(
        "Smaller ensembles reach similar or better accuracy: 8 Bayesian trees against a random forest of 100.",
        all_hold(is_above((SIMILAR - mean, error)) for mean, error in gaps.values()),
        f"points above the random forest: {'; '.join(result)}; similar is up to {SIMILAR}.",
    )


def _eight_are_enough(found: Results) -> Claim:
    says = "More than 8 trees bring no reasonable improvement."
    if not len(found.where(learner="BOF", trees=16)):
        return Claim(says, None, "16 trees are measured at full scale only.")
    gains = {data: paired(found, data, ("BOF", 8, "error"), ("BOF", 16, "error")) for data in known_sets(found)}
    result = [f"{name_set(found, data)} {mean:.2f} ({error:.2f})" for data, (mean, error) in gains.items()]
    verdict = all_hold(is_above((SIMILAR - mean, error)) for mean, error in gains.values())
    return Claim(
        says, verdict, f"points that 16 trees gain over 8: {'; '.join(result)}; reasonable is more than {SIMILAR}."
    )
