"""Risk against labels on real data: half of the rows are the pool, the other half tells the risk.

Before each run the rows are shuffled anew. The passive trees label the pool in the order of a permutation, the active
ones ask; the batch tree is trained anew on the labels of the passive ones at each checkpoint. C4.5 itself is not at
hand: scikit-learn's tree by entropy, cost-complexity pruned by cross-validation, stands in for it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc

SETS = ("diabetes", "breast_cancer", "ionosphere", "sonar", "vote")
CHECKPOINTS = np.arange(0.05, 1.001, 0.05)


class Halves(NamedTuple):
    """A data set cut in two: the rows of the pool in the order in which a passive learner gets them, and the others."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    nominal: list[int]

    def counts(self) -> list[int]:
        """Return the numbers of labels at the checkpoints."""
        return [max(2, round(share * len(self.y))) for share in CHECKPOINTS.tolist()]


@dataclass(frozen=True)
class Method:
    """A way to learn from a pool.

    Attributes
    ----------
    kind
        ``"passive"``, ``"active"`` or ``"batch"``.
    delta
        Of the tree's intervals.
    active
        Of the risk bound of the active choice.
    bound
        As in `CredibleTree`.
    floor
        As in `PoolSampler`.
    pruned
        Whether the batch tree is.
    """

    kind: str
    delta: float = 0.2
    active: float = 0.1
    bound: str = "credible"
    floor: int = 0
    pruned: bool = False

    def run(self, halves: Halves, seed: int) -> list[float]:
        """Return the risk at each checkpoint.

        Parameters
        ----------
        halves
            The data.
        seed
            Of the sampler.
        """
        if self.kind == "batch":
            return [_batch_risk(halves, n, self.pruned) for n in halves.counts()]
        tree = qc.CredibleTree.paper(delta=self.delta, bound=self.bound, nominal=halves.nominal)
        tree.fit_pool(halves.X)
        learn = _asking(tree, halves, self, seed) if self.kind == "active" else _passive(tree, halves)
        risks, done = [], 0
        for n in halves.counts():
            learn(done, n)
            risks.append(float(np.mean(tree.predict(halves.X_test) != halves.y_test)))
            done = n
        return risks


def load_halves(name: str, run: int, seed: int = 0) -> Halves:
    """Return a data set, shuffled for one run and cut in two.

    Parameters
    ----------
    name
        One of `SETS`.
    run
        Its number.
    seed
        Runs of another seed are other runs.
    """
    X, y = qc.streams.load(name).take(10_000)
    nominal: list[int] = []
    if not isinstance(X, np.ndarray):
        columns = [np.unique(column.to_numpy(zero_copy_only=False), return_inverse=True)[1] for column in X.columns]
        X, nominal = np.stack(columns, axis=1).astype(np.float64), list(range(len(columns)))
    labels = np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64)
    order = np.random.default_rng([seed, run, len(labels)]).permutation(len(labels))
    pool, test = np.array_split(order, 2)
    return Halves(np.ascontiguousarray(X[pool]), labels[pool], np.ascontiguousarray(X[test]), labels[test], nominal)


def _passive(tree: qc.CredibleTree, halves: Halves) -> Any:
    def learn(start: int, stop: int) -> None:
        tree.learn_pool(np.arange(start, stop), halves.y[start:stop])

    return learn


def _asking(tree: qc.CredibleTree, halves: Halves, method: Method, seed: int) -> Any:
    sampler = qc.ask.PoolSampler(tree, halves.X, delta=method.active, floor=method.floor, explore=0.0, seed=seed)

    def learn(start: int, stop: int) -> None:
        for question in itertools.islice(sampler, stop - start):
            sampler.tell(question.id, int(halves.y[question.row]))

    return learn


def _batch_risk(halves: Halves, n: int, pruned: bool) -> float:
    from sklearn.model_selection import GridSearchCV
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    X, X_test = halves.X, halves.X_test
    if halves.nominal:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(X)
        X, X_test = encoder.transform(X), encoder.transform(X_test)
    y = halves.y[:n]
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0)
    folds = int(min(5, np.bincount(y, minlength=2).min()))
    if pruned and folds >= 2:
        strengths = np.unique(np.clip(tree.cost_complexity_pruning_path(X[:n], y).ccp_alphas, 0, None))
        tree = GridSearchCV(tree, {"ccp_alpha": strengths[np.linspace(0, len(strengths) - 1, 8).astype(int)]}, cv=folds)
    return float(np.mean(tree.fit(X[:n], y).predict(X_test) != halves.y_test))
