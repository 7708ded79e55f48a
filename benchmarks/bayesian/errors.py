"""Error in one pass: the forest and its variants beside other learners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from quercus.papers.bayesian.splits import SETS, Split, load_split

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


def forest(split: Split, run: int, **changes: Any) -> qc.BayesianForest:
    """Return a forest that has learned the training rows once."""
    classes = np.unique(split.y)
    made = qc.BayesianForest.paper(classes=len(classes), seed=run, max_bytes=2**31, **changes)
    return made.partial_fit(split.X, split.y, classes=classes)


def _errors(job: tuple[str, str, int]) -> list[float]:
    """Return the errors of one learner in one run; of a forest by all leaves and by one path."""
    name, learner, run = job
    split = load_split(name, run)
    if learner.endswith("with squares"):
        split = _add_squares(split)
    if learner in VARIANTS:
        made = forest(split, run, **VARIANTS[learner])
        errors = []
        for way in ("full", "path"):
            made.set_params(inference=way)
            errors.append(float(np.mean(made.predict(split.X_test) != split.y_test)))
        return errors
    return [float(np.mean(PEERS[learner](split, run) != split.y_test))]


def _add_squares(split: Split) -> Split:
    """Return the rows scaled to -1 .. 1, by what training rows show, with the square of every number beside it."""
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler((-1, 1)).fit(split.X)
    X, X_test = scaler.transform(split.X), np.clip(scaler.transform(split.X_test), -1, 1)
    return split._replace(X=np.hstack([X, X * X]), X_test=np.hstack([X_test, X_test * X_test]))


def _random_forest(split: Split, run: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, random_state=run).fit(split.X, split.y).predict(split.X_test)


def _linear(split: Split, run: int) -> Any:
    """Return the answers of an averaged linear model that saw the rows once, scaled by what training rows show."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler((-1, 1)).fit(split.X)
    model = SGDClassifier(loss="log_loss", average=True, random_state=run)
    model.partial_fit(scaler.transform(split.X), split.y, classes=np.unique(split.y))
    return model.predict(scaler.transform(split.X_test))


def _amf(split: Split, run: int) -> Any:
    from river.forest import AMFClassifier

    model = AMFClassifier(n_estimators=10, seed=run)
    for row, label in zip(split.X.tolist(), split.y.tolist(), strict=True):
        model.learn_one(dict(enumerate(row)), label)
    return [model.predict_one(dict(enumerate(row))) for row in split.X_test.tolist()]


PEERS: dict[str, Callable[[Split, int], Any]] = {
    "random forest, 100, batch": _random_forest,
    "linear, online": _linear,
    "AMF, 10": _amf,
}


def show_mean(values: NDArray[np.float64], form: str = ".2f", scale: float = 100.0) -> str:
    """Return the mean over runs, in percent unless told otherwise, and its standard deviation."""
    spread = f" ({scale * values.std(ddof=1):{form}})" if len(values) > 1 else ""
    return f"{scale * values.mean():{form}}{spread}"


def table(sets: Sequence[str] | None, quick: bool) -> None:
    """Print mean errors and their deviation over runs."""
    runs = 3 if quick else 10
    for name in sets or SETS:
        rows = []
        with ProcessPoolExecutor(2) as pool:
            for learner in (*VARIANTS, *PEERS):
                errors = np.array(list(pool.map(_errors, [(name, learner, run) for run in range(100, 100 + runs)])))
                rows.append([learner, *(show_mean(column) for column in errors.T), *[""] * (2 - errors.shape[1])])
                print(name, *rows[-1], flush=True)
        print(f"\n{name}, {runs} runs, one pass: error in % (standard deviation), by all leaves and by one path")
        print(show(["", "full", "path"], rows), flush=True)


def trees(sets: Sequence[str] | None, quick: bool) -> None:
    """Print errors by number of trees."""
    runs = 3 if quick else 10
    rows = []
    for name in sets or SETS:
        row = [name]
        for n in (1, 4, 8):
            errors = []
            for run in range(200, 200 + runs):
                split = load_split(name, run)
                errors.append(np.mean(forest(split, run, trees=n).predict(split.X_test) != split.y_test))
            row.append(show_mean(np.array(errors)))
        rows.append(row)
        print(*row, flush=True)
    print(show(["", "1 tree", "4 trees", "8 trees"], rows))
