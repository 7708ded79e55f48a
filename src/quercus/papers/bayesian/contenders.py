"""Who learns the sets of table 1: the forest in its variants, and what of the paper's other rows is at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import quercus as qc
from quercus.papers.bayesian.splits import Split

# P: each node sees a random projection to half of the features; B: a tree leaves rows out; S: each node sees half of
# the features; D: variances only.
VARIANTS: dict[str, dict[str, Any]] = {
    "BOF": {},
    "BOF-P": {"projection": 0.5},
    "BOF-B": {"bagging": 0.3},
    "BOF-PB": {"projection": 0.5, "bagging": 0.3},
    "BOF-S": {"subset": 0.5},
    "BOF-SD": {"subset": 0.5, "covariance": "diagonal"},
    "deepest": {"depth": None},
    "deepest, with squares": {"depth": None},
}


def train_forest(split: Split, seed: int, **changes: Any) -> qc.BayesianForest:
    """Return a forest with the paper's settings that has learned the training rows once.

    Parameters
    ----------
    split
        The rows.
    seed
        Of the forest.
    changes
        Settings that differ.

    Examples
    --------
    >>> from quercus.papers.bayesian.splits import load_split
    >>> train_forest(load_split("g50c", 0), seed=0, trees=2).classes_.tolist()
    [0, 1]
    """
    classes = np.unique(split.y)
    made = qc.BayesianForest.paper(classes=len(classes), seed=seed, max_bytes=2**31, **changes)
    return made.partial_fit(split.X, split.y, classes=classes)


def find_errors(forest: qc.BayesianForest, split: Split) -> tuple[float, float]:
    """Return the share of the test rows that a forest has wrong, by all leaves and by one path.

    Parameters
    ----------
    forest
        Its inference is left at one path.
    split
        The rows.

    Examples
    --------
    >>> from quercus.papers.bayesian.splits import load_split
    >>> split = load_split("g50c", 0)
    >>> max(find_errors(train_forest(split, seed=0, trees=2), split)) < 0.25
    True
    """
    errors = []
    for way in ("full", "path"):
        forest.set_params(inference=way)
        errors.append(float(np.mean(forest.predict(split.X_test) != split.y_test)))
    return errors[0], errors[1]


def add_squares(split: Split) -> Split:
    """Return the rows scaled to -1 .. 1, by what training rows show, with the square of every number beside it.

    Parameters
    ----------
    split
        The rows.

    Examples
    --------
    >>> from quercus.papers.bayesian.splits import load_split
    >>> add_squares(load_split("g50c", 0)).X.shape
    (50, 100)
    """
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler((-1, 1)).fit(split.X)
    X, X_test = scaler.transform(split.X), np.clip(scaler.transform(split.X_test), -1, 1)
    return split._replace(X=np.hstack([X, X * X]), X_test=np.hstack([X_test, X_test * X_test]))


def answer_random_forest(split: Split, seed: int, trees: int = 100) -> Any:
    """Return the answers of a random forest that was given all rows at once, scikit-learn's.

    Parameters
    ----------
    split
        The rows.
    seed, trees
        Of the forest.

    Examples
    --------
    >>> from quercus.papers.bayesian.splits import load_split
    >>> answer_random_forest(load_split("g50c", 0), seed=0, trees=3).shape
    (500,)
    """
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(trees, random_state=seed).fit(split.X, split.y).predict(split.X_test)


def answer_linear(split: Split, seed: int) -> Any:
    """Return the answers of an averaged linear model that saw the rows once, scaled by what training rows show.

    Parameters
    ----------
    split
        The rows.
    seed
        Of the model.

    Examples
    --------
    >>> from quercus.papers.bayesian.splits import load_split
    >>> answer_linear(load_split("g50c", 0), seed=0).shape
    (500,)
    """
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler((-1, 1)).fit(split.X)
    model = SGDClassifier(loss="log_loss", average=True, random_state=seed)
    model.partial_fit(scaler.transform(split.X), split.y, classes=np.unique(split.y))
    return model.predict(scaler.transform(split.X_test))


def answer_mondrian(split: Split, seed: int) -> Any:
    """Return the answers of river's AMF, a Mondrian forest with aggregation, of 10 trees that saw the rows once.

    Parameters
    ----------
    split
        The rows.
    seed
        Of the forest.
    """
    from river.forest import AMFClassifier

    model = AMFClassifier(n_estimators=10, seed=seed)
    for row, label in zip(split.X.tolist(), split.y.tolist(), strict=True):
        model.learn_one(dict(enumerate(row)), label)
    # A forest of a single row has no answer yet.
    answers = [model.predict_one(dict(enumerate(row))) for row in split.X_test.tolist()]
    return np.array([-1 if answer is None else answer for answer in answers])


PEERS: dict[str, Callable[[Split, int], Any]] = {
    "random forest, 100, batch": answer_random_forest,
    "linear, online": answer_linear,
    "AMF, 10": answer_mondrian,
}
