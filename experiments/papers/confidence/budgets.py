"""Figure 5: label budgets, seven policies in their published form: what is measured."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.papers.confidence.sets import SETS, BinaryRows, limit_rows, shuffle_set
from experiments.papers.confidence.tuning import score_answers
from quercus import ConfidenceTree, Renewing
from quercus.ask import (
    Confident,
    Policy,
    Random,
    RandomizedUncertainty,
    SelectiveSampling,
    Split,
    SplitConfident,
    VariableUncertainty,
)
from quercus.ask.loop import AskLoop
from quercus.ask.state import AskState
from quercus.statistics import DDM

# By the paper's names; its own are the last two.
POLICIES: dict[str, type[Policy]] = {
    "Rnd": Random,
    "VarUn": VariableUncertainty,
    "RndVar": RandomizedUncertainty,
    "Sel-Samp": SelectiveSampling,
    "Split": Split,
    "ConfTree": Confident,
    "SplitConfTree": SplitConfident,
}
OURS = ("ConfTree", "SplitConfTree")
# All labels, without and with a detector that starts the tree anew where errors rise.
ALL, ALL_DDM = "all labels", "all labels, DDM"
BUDGETS = {"quick": (0.1, 0.3, 0.6), "full": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}
# Of eq. (7), for each data set the best of figure 4 at quick scale, which has other orders of the same rows.
C = {
    "a9a": 0.001,
    "airlines": 0.0093506113,
    "cod-rna": 0.005347244,
    "covertype": 0.001,
    "electricity": 0.0093506113,
}


class AskedScore(NamedTuple):
    """What a policy comes to: score over all rows, share of labels asked, leaves.

    Examples
    --------
    >>> AskedScore(0.79, 0.1, 40).share
    0.1
    """

    score: float
    share: float
    leaves: int


def ask_rows(rows: BinaryRows, tree: Any, policy: Policy, by_f: bool = False) -> AskedScore:
    """Take a tree through rows under a policy: answer, decide whether to ask, learn what was asked.

    Parameters
    ----------
    rows
        The stream.
    tree
        That has learned nothing.
    policy
        Which labels to ask.
    by_f
        Whether the score is the F-measure of class 1, not accuracy.

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 500, axis=0)[np.random.default_rng(0).permutation(1000)]
    >>> ask_rows(BinaryRows(X, X[:, 0].astype(int), []), ConfidenceTree.paper(), Random.paper(0.2)).share
    0.17
    """
    state = AskState(policy, len(rows.y))
    names = rows.names
    looked = AskLoop(tree, state, names, [names[column] for column in rows.nominal]).run(rows.X, rows.y)
    answers = np.array([*looked.classes, -1], np.int64)[looked.answers]
    return AskedScore(score_answers(rows.y, answers, by_f), state.asked / len(rows.y), int(tree.n_leaves_))


def _cells(scale: Scale) -> list[Cell]:
    return [
        {"data": data, "run": run, "policy": policy, "budgets": len(BUDGETS[scale]), "most": limit_rows(data, scale)}
        for data in SETS
        for run in range(10 if scale == "full" else 2)
        for policy in (*POLICIES, ALL, ALL_DDM)
    ]


def _measure(cell: Cell, seed: int) -> list[Row]:
    data, name = str(cell["data"]), str(cell["policy"])
    rows, by_f = shuffle_set(data, seed, int(cell["most"])), SETS[data].by_f
    if name in (ALL, ALL_DDM):
        return [_learn_all(rows, _tree(data, rows), by_f, with_ddm=name == ALL_DDM)]
    budgets = next(budgets for budgets in BUDGETS.values() if len(budgets) == cell["budgets"])
    lines: list[Row] = []
    for budget in budgets:
        asked = ask_rows(rows, _tree(data, rows), POLICIES[name].paper(budget, seed=seed), by_f)
        lines.append(
            {"budget": budget, "score": asked.score, "share": asked.share, "leaves": asked.leaves, "changes": 0}
        )
    return lines


def _tree(data: str, rows: BinaryRows) -> ConfidenceTree:
    return ConfidenceTree.paper(c=C[data], nominal=rows.nominal or None)


def _learn_all(rows: BinaryRows, tree: ConfidenceTree, by_f: bool, with_ddm: bool) -> Row:
    learner: Any = Renewing(tree, DDM()) if with_ddm else tree
    outcome = learner.test_then_learn(rows.X, rows.y)
    score = score_answers(rows.y, np.array([*outcome.classes, -1])[outcome.answers], by_f)
    final, changes = (learner.learner_, len(learner.changes_)) if with_ddm else (tree, 0)
    return {"budget": 1.0, "score": score, "share": 1.0, "leaves": int(final.n_leaves_), "changes": changes}


FIGURE_5 = Runs("papers.confidence", "figure-5", _cells, _measure)
