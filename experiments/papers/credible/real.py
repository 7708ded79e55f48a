"""Risk against labels on real data: half of the rows are the pool, the other half tells the risk.

Before each run the rows are shuffled anew. The passive trees label the pool in the order of a permutation, the active
ones ask; the batch tree is trained anew on the labels of the passive ones at each checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.papers.credible.batch import grow_batch
from quercus.ask.pool.choice import RegionChoice

# Learns labels number start .. stop - 1.
Learn = Callable[[int, int], None]


class Halves(NamedTuple):
    """A data set cut in two: the rows of the pool in the order in which a passive learner gets them, and the others."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]

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
    pruned
        Whether the batch tree is.

    Notes
    -----
    The active choice takes the rows of a region in the order in which a passive learner gets them: the trees are the
    same before the first split and at the end.
    """

    kind: str
    delta: float = 0.2
    active: float = 0.1
    bound: str = "credible"
    floor: int = 0
    pruned: bool = False

    def follow(self, halves: Halves, shares: Sequence[float]) -> list[tuple[float, int]]:
        """Return the risk and the number of leaves at each checkpoint.

        Parameters
        ----------
        halves
            The data.
        shares
            Of the pool, at which it is looked.
        """
        counts = halves.counts(shares)
        if self.kind == "batch":
            return [_batch(halves, n, self.pruned) for n in counts]
        tree = qc.CredibleTree.paper(delta=self.delta, bound=self.bound).fit_pool(halves.X)
        learn = _passive(tree, halves) if self.kind == "passive" else _choosing(tree, halves, self)
        found, done = [], 0
        for n in counts:
            if n > done:
                learn(done, n)
            risk = float(np.mean(tree.predict(halves.X_test) != halves.y_test))
            found.append((risk, int(tree.n_leaves_)))
            done = n
        return found


def load_halves(name: str, run: int, seed: int = 0) -> Halves:
    """Return a data set, shuffled for one run and cut in two.

    Parameters
    ----------
    name
        Of a data set with numbers as attributes.
    run
        Its number.
    seed
        Runs of another seed are other runs.
    """
    X, labels = _load(name)
    order = np.random.default_rng([seed, run, len(labels)]).permutation(len(labels))
    pool, test = np.array_split(order, 2)
    return Halves(np.ascontiguousarray(X[pool]), labels[pool], np.ascontiguousarray(X[test]), labels[test])


@cache
def _load(name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    X, y = qc.streams.load(name).take(10_000)
    return X, np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64)


def _passive(tree: qc.CredibleTree, halves: Halves) -> Learn:
    def learn(start: int, stop: int) -> None:
        tree.learn_pool(np.arange(start, stop), halves.y[start:stop])

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


def _batch(halves: Halves, n: int, pruned: bool) -> tuple[float, int]:
    tree = grow_batch(halves.X[:n], halves.y[:n], pruned)
    return float(np.mean(tree.predict(halves.X_test) != halves.y_test)), tree.n_leaves
