"""Batch learners with their own defaults, one thread each: how each is made, and how it wants its rows."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.peers.evergreen.contenders import one_hot
from experiments.peers.evergreen.sets import OrderedRows

CAT = "CatBoost"
_PACKAGES = {"LightGBM": "lightgbm", CAT: "catboost"}
# With more columns times classes than that, a fit of 1,000 rounds takes minutes.
_CAT_VALUES, _CAT_ROUNDS = 2_000, 100


class Made(NamedTuple):
    """A batch learner: how it is made for rows of these columns, and the rows as it wants them."""

    make: Callable[[OrderedRows, int], Any]
    form: Callable[[OrderedRows], Any]


def _codes(rows: OrderedRows) -> Any:
    return rows.X


def _whole_codes(rows: OrderedRows) -> Any:
    """Return rows whose categories are whole numbers, and not floats."""
    X = rows.X.astype(object)
    X[:, rows.nominal] = rows.X[:, rows.nominal].astype(int)
    return X if rows.nominal else rows.X


def _hist(rows: OrderedRows, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    few = [0 < number < 255 for number in rows.categories]
    return HistGradientBoostingClassifier(categorical_features=few if any(few) else None, random_state=seed)


def _forest(name: str, rows: OrderedRows, seed: int) -> Any:
    from sklearn import ensemble

    return getattr(ensemble, name)(100, random_state=seed)


def _light(rows: OrderedRows, seed: int) -> Any:
    return importlib.import_module("lightgbm").LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def _cat(rows: OrderedRows, seed: int) -> Any:
    slow = rows.X.shape[1] * (int(rows.y.max()) + 1) > _CAT_VALUES
    return importlib.import_module("catboost").CatBoostClassifier(
        iterations=_CAT_ROUNDS if slow else None, cat_features=rows.nominal or None, random_seed=seed,
        thread_count=1, verbose=False, allow_writing_files=False,
    )  # fmt: skip


BATCH = {
    "HistGradientBoosting": Made(_hist, _codes),
    "random forest": Made(partial(_forest, "RandomForestClassifier"), one_hot),
    "ExtraTrees": Made(partial(_forest, "ExtraTreesClassifier"), one_hot),
    "LightGBM": Made(_light, _codes),
    CAT: Made(_cat, _whole_codes),
}


def problem_of(name: str) -> str | None:
    """Return what a batch learner needs that is not there, None if all is."""
    package = _PACKAGES.get(name)
    missing = package is not None and importlib.util.find_spec(package) is None
    return f"{package} is not installed" if missing else None


def fit_predict(made: Made, rows: OrderedRows, seed: int, X: Any, learned: int, block: slice) -> Floats:
    """Return the probabilities of a block of rows after the first ones were learned; a column for each class."""
    y, proba = rows.y, np.zeros((len(rows.y[block]), int(rows.y.max()) + 1))
    known = np.unique(y[:learned])
    if len(known) < 2:
        proba[:, known] = 1.0
    else:
        proba[:, known] = made.make(rows, seed).fit(X[:learned], y[:learned]).predict_proba(X[block])
    return proba
