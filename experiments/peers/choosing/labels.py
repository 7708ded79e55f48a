"""A tenth of the labels: policies of asking beside those of scikit-activeml, with the same learner and with others."""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.peers.choosing.passes import SHUFFLED
from experiments.peers.evergreen import sets
from experiments.peers.evergreen.sets import OrderedRows

BUDGET = 0.1
# A head start: so many rows are learned before a policy is asked, as scikit-activeml's do of themselves.
HEAD, STARTED = 10, ", first ten given"
# Rows over which compiled code is loaded before the clock starts.
_WARM_UP = 100
# Of numbers only, which all of them can read; on none of them were constants of our policies chosen.
SETS = (
    "breast_cancer", "diabetes", "phishing", "banknote", "fetal_health", "cod_rna_train", "letter", "covertype",
)  # fmt: skip
RUNS: dict[Scale, int] = {"quick": 1, "full": 5}
ROWS: dict[Scale, int] = {"quick": 1_000, "full": 2_000}
OWN = ("Random", "Uncertain", "VariableUncertainty", "Split", "SelectiveSampling")
# Without FixedUncertainty, which asks no more as soon as a learner is sure of the only class that it has met.
THEIRS = ("StreamRandomSampling", "VariableUncertainty", "Split")
ALL = "all labels"
EVERGREEN, HOEFFDING, BAYES = "EvergreenTree", "HoeffdingTree", "GaussianNB"
_TREES: dict[str, Callable[..., Any]] = {EVERGREEN: qc.EvergreenTree, HOEFFDING: qc.HoeffdingTree}


class PaidAccuracy(NamedTuple):
    """Share of right answers over all rows, labels that were paid for, seconds."""

    accuracy: float
    labels: int
    seconds: float


Going = Callable[[OrderedRows, int], PaidAccuracy]


def ask_ours(learner: str, policy: str, rows: OrderedRows, seed: int) -> PaidAccuracy:
    """Let a policy of ours ask."""
    wanted = qc.ask.Always(budget=None) if policy == ALL else getattr(qc.ask, policy)(BUDGET, seed=seed)
    return _evaluate(_make(learner, seed), wanted, rows)


def ask_after(learner: str, policy: str, rows: OrderedRows, seed: int) -> PaidAccuracy:
    """Let a policy of ours ask after the first rows, which are learned whole; nothing is right among them."""
    model = _make(learner, seed).partial_fit(rows.X[:HEAD], rows.y[:HEAD])
    rest = rows._replace(X=rows.X[HEAD:], y=rows.y[HEAD:])
    result = _evaluate(model, getattr(qc.ask, policy)(BUDGET, seed=seed), rest)
    return result._replace(accuracy=result.accuracy * len(rest.y) / len(rows.y), labels=result.labels + HEAD)


def ask_theirs(learner: str, policy: str, rows: OrderedRows, seed: int) -> PaidAccuracy:
    """Let a strategy of scikit-activeml ask on behalf of one of our trees."""
    from quercus.adapters.skactiveml import ActivemlPolicy

    return _evaluate(_make(learner, seed), ActivemlPolicy(_strategy(policy, seed)), rows)


def ask_among_them(policy: str, rows: OrderedRows, seed: int) -> PaidAccuracy:
    """Go through the rows as scikit-activeml does, with its wrapper of naive Bayes."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.utils import call_func
    from sklearn.naive_bayes import GaussianNB

    strategy, labels = _strategy(policy, seed), rows.y.astype(np.float64)
    start = time.process_time()
    model = SklearnClassifier(GaussianNB(), classes=np.unique(labels), random_state=seed)
    # A row without its label: it has to be fitted before it is asked.
    model.partial_fit(rows.X[:1], [np.nan])
    right, asked = 0, list[int]()
    for i in range(len(labels)):
        x = rows.X[i : i + 1]
        right += int(model.predict(x)[0] == labels[i])
        chosen, utilities = call_func(strategy.query, candidates=x, clf=model, return_utilities=True)
        result = {"utilities": utilities}
        call_func(strategy.update, candidates=x, queried_indices=chosen, budget_manager_param_dict=result)
        if len(chosen):
            asked.append(i)
            model.partial_fit(x, labels[i : i + 1])
    return PaidAccuracy(right / len(labels), len(asked), time.process_time() - start)


def _evaluate(learner: Any, policy: Any, rows: OrderedRows) -> PaidAccuracy:
    run = qc.evaluate((rows.X, rows.y), learner, ask=policy, progress=False)
    assert run.asked is not None
    return PaidAccuracy(run.accuracy, run.asked, run.cpu_seconds)


def _make(learner: str, seed: int) -> Any:
    if learner == BAYES:
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB()
    return _TREES[learner](seed=seed)


def _strategy(name: str, seed: int) -> Any:
    from skactiveml import stream

    return getattr(stream, name)(budget=BUDGET, random_state=seed)


# By learner, who wrote the policy, and its name.
CONTENDERS: dict[tuple[str, str, str], Going] = {
    **{
        (learner, "quercus", policy): partial(ask_ours, learner, policy)
        for learner in (EVERGREEN, HOEFFDING)
        for policy in (ALL, *OWN)
    },
    **{
        (EVERGREEN, "quercus", f"{policy}{STARTED}"): partial(ask_after, EVERGREEN, policy)
        for policy in ("Random", "Uncertain", "VariableUncertainty", "Split")
    },
    **{(EVERGREEN, "scikit-activeml", policy): partial(ask_theirs, EVERGREEN, policy) for policy in THEIRS},
    **{
        (BAYES, "quercus", policy): partial(ask_ours, BAYES, policy) for policy in (ALL, "Random", "Uncertain", "Split")
    },
    **{(BAYES, "scikit-activeml", policy): partial(ask_among_them, policy) for policy in THEIRS},
}


def cells(scale: Scale) -> list[Cell]:
    """Return who asks where."""
    return [
        {
            "data": data,
            "order": SHUFFLED,
            "learner": learner,
            "by": by,
            "policy": policy,
            "most": ROWS[scale],
            "run": run,
        }
        for data in SETS
        for run in range(RUNS[scale])
        for learner, by, policy in CONTENDERS
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: what was right, and how many labels that took."""
    rows, seed = sets.load(str(cell["data"]), seed, int(cell["most"])), seed % 2**31
    by = str(cell["by"])
    if by == "scikit-activeml" and importlib.util.find_spec("skactiveml") is None:
        gap = float("nan")
        return [{"rows": len(rows.y), "accuracy": gap, "labels": 0, "seconds": gap,
                 "problem": "scikit-activeml is not installed"}]  # fmt: skip
    go = CONTENDERS[str(cell["learner"]), by, str(cell["policy"])]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # Naive Bayes has no variance of a class of one row, and says so row by row.
        warnings.simplefilter("ignore")
        go(rows.first(_WARM_UP), seed)
        found = go(rows, seed)
    result = {"accuracy": found.accuracy, "labels": found.labels, "seconds": found.seconds}
    return [{"rows": len(rows.y), **result, "problem": ""}]


LABELS = Runs("peers.choosing", "labels", cells, measure)
