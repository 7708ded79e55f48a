"""Risk against labels on real data: half of the rows are the pool, the other half tells the risk.

Before each run the rows are shuffled anew. The passive trees label the pool in the order of a permutation, the active
ones ask; the batch tree is trained anew on the labels of the passive ones at each checkpoint.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from quercus.ask.pool.choice import RegionChoice
from quercus.papers.credible.batch import Pruning, grow_batch

SETS = ("diabetes", "breast_cancer", "ionosphere", "sonar", "vote")
CHECKPOINTS = np.arange(0.05, 1.001, 0.05)
# Learns labels number start .. stop - 1.
Learn = Callable[[int, int], None]


class Halves(NamedTuple):
    """A data set cut in two: the rows of the pool in the order in which a passive learner gets them, and the others."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]
    nominal: list[int]

    def counts(self, shares: Sequence[float]) -> list[int]:
        """Return the numbers of labels at shares of the pool."""
        return [max(2, round(share * len(self.y))) for share in shares]


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
    pruning
        Of the batch tree, as in `grow_batch`.
    in_order
        Whether the active choice takes the rows of a region in the order in which a passive learner gets them: the
        trees are then the same before the first split and at the end. Otherwise a `PoolSampler` asks, which draws an
        order of its own and keeps a ledger.
    """

    kind: str
    delta: float = 0.2
    active: float = 0.1
    bound: str = "credible"
    floor: int = 0
    pruning: Pruning | None = None
    in_order: bool = False

    def run(self, halves: Halves, seed: int) -> list[float]:
        """Return the risk at each checkpoint.

        Parameters
        ----------
        halves
            The data.
        seed
            Of the sampler.
        """
        return [risk for risk, _ in self.follow(halves, seed, CHECKPOINTS.tolist())]

    def follow(self, halves: Halves, seed: int, shares: Sequence[float]) -> list[tuple[float, int]]:
        """Return the risk and the number of leaves at each checkpoint.

        Parameters
        ----------
        halves, seed
            As for `run`.
        shares
            Of the pool, at which it is looked.
        """
        counts = halves.counts(shares)
        if self.kind == "batch":
            return [_batch(halves, n, self.pruning) for n in counts]
        tree = qc.CredibleTree.paper(delta=self.delta, bound=self.bound, nominal=halves.nominal)
        tree.fit_pool(halves.X)
        learn = self._learner(tree, halves, seed)
        found, done = [], 0
        for n in counts:
            if n > done:
                learn(done, n)
            risk = float(np.mean(tree.predict(halves.X_test) != halves.y_test))
            found.append((risk, int(tree.n_leaves_)))
            done = n
        return found

    def _learner(self, tree: qc.CredibleTree, halves: Halves, seed: int) -> Learn:
        if self.kind == "passive":
            return _passive(tree, halves)
        return _choosing(tree, halves, self) if self.in_order else _asking(tree, halves, self, seed)


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
    X, labels, nominal = _load(name)
    order = np.random.default_rng([seed, run, len(labels)]).permutation(len(labels))
    pool, test = np.array_split(order, 2)
    return Halves(np.ascontiguousarray(X[pool]), labels[pool], np.ascontiguousarray(X[test]), labels[test], nominal)


@cache
def _load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64], list[int]]:
    X, y = qc.streams.load(name).take(10_000)
    nominal: list[int] = []
    if not isinstance(X, np.ndarray):
        columns = [np.unique(column.to_numpy(zero_copy_only=False), return_inverse=True)[1] for column in X.columns]
        X, nominal = np.stack(columns, axis=1).astype(np.float64), list(range(len(columns)))
    return X, np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64), nominal


def _passive(tree: qc.CredibleTree, halves: Halves) -> Learn:
    def learn(start: int, stop: int) -> None:
        tree.learn_pool(np.arange(start, stop), halves.y[start:stop])

    return learn


def _asking(tree: qc.CredibleTree, halves: Halves, method: Method, seed: int) -> Learn:
    sampler = qc.ask.PoolSampler(tree, halves.X, delta=method.active, floor=method.floor, explore=0.0, seed=seed)

    def learn(start: int, stop: int) -> None:
        for question in itertools.islice(sampler, stop - start):
            sampler.tell(question.id, int(halves.y[question.row]))

    return learn


def _choosing(tree: qc.CredibleTree, halves: Halves, method: Method) -> Learn:
    unasked = np.ones(len(halves.y), bool)

    def learn(start: int, stop: int) -> None:
        for _ in range(start, stop):
            place = RegionChoice(
                *tree.regions(), np.flatnonzero(unasked), [], delta=method.active, floor=method.floor, explore=0.0
            )
            row = place.next(1.0, 0.0, 0.0).row
            tree.learn_pool([row], [int(halves.y[row])])
            unasked[row] = False

    return learn


def _batch(halves: Halves, n: int, pruning: Pruning | None) -> tuple[float, int]:
    from sklearn.preprocessing import OneHotEncoder

    X, X_test = halves.X, halves.X_test
    if halves.nominal:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(X)
        X, X_test = encoder.transform(X), encoder.transform(X_test)
    tree = grow_batch(X[:n], halves.y[:n], pruning)
    return float(np.mean(tree.predict(X_test) != halves.y_test)), tree.n_leaves
