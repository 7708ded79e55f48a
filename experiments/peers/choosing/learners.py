"""Who is compared: all learners with their defaults, those of river and MOA, batch learners, and two rules of thumb."""

from __future__ import annotations

import importlib.util
import pickle
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from experiments.harness.data import Floats
from experiments.peers.evergreen.contenders import (
    Pass,
    drive_river,
    losses,
    make_river,
    one_hot,
    pass_moa,
    pass_ours,
)
from experiments.peers.evergreen.sets import OrderedRows
from experiments.peers.moa.driver import missing_moa
from experiments.peers.moa.learners import MOA_FORESTS, MOA_TREES

# Rows over which compiled code is loaded before the clock starts.
_WARM_UP = 300
# Batch learners are fitted anew after so many rows, and whenever they have doubled.
_FIRST_FITS, _DOUBLED = (1, 4, 16, 50), 100


class Paid(NamedTuple):
    """A test-then-learn pass, and the features that were paid for, per row."""

    run: Pass
    features: float


class Missing(NamedTuple):
    """Why a learner cannot be run here."""

    why: str


def pass_reading(go: Callable[[OrderedRows, int], Pass], rows: OrderedRows, seed: int) -> Paid:
    """Take a learner that reads everything through the rows: it pays for all."""
    return Paid(go(rows, seed), float(rows.X.shape[1]))


def pass_buying(make: Callable[..., Any], rows: OrderedRows, seed: int) -> Paid:
    """Take a learner through the rows that buys features while it answers."""
    make(nominal=rows.nominal, seed=seed).buy_and_learn(rows.X[:_WARM_UP], rows.y[:_WARM_UP])
    model = make(nominal=rows.nominal, seed=seed)
    wall, start = time.perf_counter(), time.process_time()
    result = model.buy_and_learn(rows.X, rows.y)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    likely = result.proba[np.arange(len(rows.y)), np.searchsorted(model.classes_, rows.y)]
    run = Pass(result.answers == rows.y, losses(likely), seconds, wall, None, int(model.nbytes))
    return Paid(run, float(result.bought.sum(axis=1).mean()))


def pass_river(name: str, rows: OrderedRows, seed: int) -> Paid | Missing:
    """Take a classifier of river through the rows; its size is that of its pickle."""
    if importlib.util.find_spec("river") is None:
        return Missing("river is not installed")
    model = make_river(name, rows, seed)
    run = drive_river(model, rows)
    return Paid(run._replace(nbytes=len(pickle.dumps(model))), float(rows.X.shape[1]))


def pass_java(options: str, rows: OrderedRows, seed: int) -> Paid | Missing:
    """Take a classifier of MOA through the rows, in a JVM of its own."""
    why = missing_moa()
    return Missing(why) if why else pass_reading(partial(pass_moa, options), rows, seed)


def pass_batch(make: Callable[..., Any], rows: OrderedRows, seed: int) -> Pass:
    """Take a classifier of scikit-learn through the rows: fitted anew on all rows so far whenever they have doubled."""
    X, y = one_hot(rows), rows.y
    # Nothing is known of the first row.
    right, likely, size = np.zeros(len(y), bool), np.zeros(len(y)), 0
    stops = [*fits(len(y)), len(y)]
    wall, start = time.perf_counter(), time.process_time()
    for known, stop in pairwise(stops):
        model = make(random_state=seed).fit(X[:known], y[:known])
        proba = model.predict_proba(X[known:stop])
        right[known:stop] = model.classes_[proba.argmax(axis=1)] == y[known:stop]
        place = np.searchsorted(model.classes_, y[known:stop]).clip(max=len(model.classes_) - 1)
        met = model.classes_[place] == y[known:stop]
        likely[known:stop] = np.where(met, proba[np.arange(stop - known), place], 0.0)
        size = len(pickle.dumps(model))
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    return Pass(right, losses(likely), seconds, wall, None, size)


def batch_tree(random_state: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=random_state)


def batch_forest(random_state: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=random_state)


def fits(rows: int) -> list[int]:
    """Return after which rows batch learners are fitted."""
    found, after = list(_FIRST_FITS), _DOUBLED
    while after < rows:
        found.append(after)
        after *= 2
    return [fit for fit in found if fit < rows]


def pass_previous(rows: OrderedRows, seed: int) -> Paid:
    """Repeat the label before."""
    right = np.concatenate([[False], rows.y[1:] == rows.y[:-1]])
    return Paid(Pass(right, losses(right), 0.0, 0.0, None, None), 0.0)


def pass_majority(rows: OrderedRows, seed: int) -> Paid:
    """Answer the most frequent label so far; of equally frequent ones the first."""
    so_far = np.zeros((len(rows.y), int(rows.y.max()) + 1))
    so_far[np.arange(1, len(rows.y)), rows.y[:-1]] = 1
    counts: Floats = so_far.cumsum(axis=0)
    right = counts.argmax(axis=1) == rows.y
    likely = counts[np.arange(len(rows.y)), rows.y] / np.maximum(np.arange(len(rows.y)), 1)
    right[0] = False
    return Paid(Pass(right, losses(likely), 0.0, 0.0, None, None), 0.0)


TREE, FOREST, BOOST = "EvergreenTree", "EvergreenForest", "EvergreenBoost"
READING = (TREE, FOREST, BOOST, "ConfidenceTree", "HoeffdingTree", "CredibleTree", "BayesianForest")
BUYING = ("UtilityTree", "ReinforcedTree")
OURS = (*READING, *BUYING)
BATCH = {"scikit-learn tree": batch_tree, "scikit-learn forest": batch_forest}
RULES = {"previous label": pass_previous, "commonest label": pass_majority}
_RIVER = ("HoeffdingTree", "EFDT", "AMF10", "ARF10")
_MOA = {name: (MOA_TREES | MOA_FORESTS)[name] for name in ("HoeffdingTree", "ARF10", "SRP10")}

LEARNERS: dict[str, Callable[[OrderedRows, int], Paid | Missing]] = {
    **{name: partial(pass_reading, partial(pass_ours, getattr(qc, name))) for name in READING},
    **{name: partial(pass_buying, getattr(qc, name)) for name in BUYING},
    **{name: partial(pass_reading, partial(pass_batch, make)) for name, make in BATCH.items()},
    **{f"river {name}": partial(pass_river, name) for name in _RIVER},
    **{f"MOA {name}": partial(pass_java, options) for name, options in _MOA.items()},
    **RULES,
}
# Those that are ranked, and those of them that are many trees.
RANKED = tuple(name for name in LEARNERS if name not in RULES)
FORESTS = (
    FOREST,
    BOOST,
    "BayesianForest",
    "scikit-learn forest",
    "river AMF10",
    "river ARF10",
    "MOA ARF10",
    "MOA SRP10",
)
