"""Who learns: the forest in its variants, and what of the paper's other methods is at hand."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

import quercus as qc
from experiments.harness.data import TrainTest

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
}


def train_forest(split: TrainTest, seed: int, **changes: Any) -> qc.BayesianForest:
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
    >>> from experiments.papers.bayesian.splits import load_split
    >>> train_forest(load_split("g50c", 0), seed=0, trees=2).classes_.tolist()
    [0, 1]
    """
    classes = np.unique(split.y)
    made = qc.BayesianForest.paper(classes=len(classes), seed=seed, max_bytes=2**31, **changes)
    return made.partial_fit(split.X, split.y, classes=classes)


def find_errors(forest: qc.BayesianForest, split: TrainTest, all_leaves: bool = True) -> tuple[float, float]:
    """Return the share of the test rows that a forest has wrong, by all leaves and by one path.

    Parameters
    ----------
    forest
        Its inference is left at one path.
    split
        The rows.
    all_leaves
        Whether all leaves are asked, which takes longer; otherwise NaN.

    Examples
    --------
    >>> from experiments.papers.bayesian.splits import load_split
    >>> split = load_split("g50c", 0)
    >>> max(find_errors(train_forest(split, seed=0, trees=2), split)) < 0.25
    True
    """
    errors = {"full": float("nan"), "path": float("nan")}
    for way in ("full", "path") if all_leaves else ("path",):
        forest.set_params(inference=way)
        errors[way] = find_error(forest, split)
    return errors["full"], errors["path"]


def find_error(model: Any, split: TrainTest) -> float:
    """Return the share of the test rows that a learner has wrong.

    Parameters
    ----------
    model
        With ``predict``.
    split
        The rows.

    Examples
    --------
    >>> from experiments.papers.bayesian.splits import load_split
    >>> split = load_split("g50c", 0)
    >>> 0.0 < find_error(BatchForest(trees=10, seed=0).partial_fit(split.X, split.y), split) < 0.5
    True
    """
    return float(np.mean(model.predict(split.X_test) != split.y_test))


class BatchForest:
    """A random forest of scikit-learn that is trained anew, on all rows so far, before it answers.

    Parameters
    ----------
    trees, seed
        Of the forest.

    Examples
    --------
    >>> BatchForest(trees=3, seed=0).partial_fit(np.array([[0.0], [1.0]]), np.array([5, 7])).predict([[0.9]]).tolist()
    [7]
    """

    def __init__(self, trees: int, seed: int) -> None:
        self.trees = trees
        self.seed = seed
        self._parts: list[tuple[Any, Any]] = []
        self._model: Any = None

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Keep rows; the classes are found in them."""
        # In the precision in which the forest reads them.
        self._parts.append((X.astype(np.float32), y))
        self._model = None
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of each row."""
        from sklearn.ensemble import RandomForestClassifier

        if self._model is None:
            rows, labels = (np.concatenate(column) for column in zip(*self._parts, strict=True))
            self._model = RandomForestClassifier(self.trees, random_state=self.seed).fit(rows, labels)
        return self._model.predict(X)


class MondrianForest:
    """River's AMF, a Mondrian forest with aggregation that sees every row once, for rows as arrays.

    Parameters
    ----------
    trees, seed
        Of the forest.

    Examples
    --------
    >>> MondrianForest(trees=3, seed=0).partial_fit(np.array([[0.0], [1.0]]), np.array([5, 7])).predict(np.ones((1, 1)))
    array([7])
    """

    def __init__(self, trees: int, seed: int) -> None:
        from river.forest import AMFClassifier

        self._model = AMFClassifier(n_estimators=trees, seed=seed)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn rows; the classes are found in them."""
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            self._model.learn_one(dict(enumerate(row)), label)
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of each row, -1 where there is no answer yet."""
        answers = [self._model.predict_one(dict(enumerate(row))) for row in X.tolist()]
        return np.array([-1 if answer is None else answer for answer in answers])


class LinearModel:
    """An averaged linear model that sees the rows once, scaled by what they show.

    Parameters
    ----------
    seed
        Of the model.

    Examples
    --------
    >>> LinearModel(seed=0).partial_fit(np.array([[0.0], [1.0]]), np.array([5, 7])).predict([[1.0]]).shape
    (1,)
    """

    def __init__(self, seed: int) -> None:
        from sklearn.linear_model import SGDClassifier
        from sklearn.preprocessing import MinMaxScaler

        self._scaler = MinMaxScaler((-1, 1))
        self._model = SGDClassifier(loss="log_loss", average=True, random_state=seed)

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn all rows there are."""
        self._model.partial_fit(self._scaler.fit_transform(X), y, classes=np.unique(y))
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of each row."""
        return self._model.predict(self._scaler.transform(X))
