"""A growing tree that can also keep its rows: labelled ones for exact cuts, others as a pool without labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from quercus.arguments import check_choice
from quercus.learners.incremental.kernels import find_leaves
from quercus.learners.incremental.layout import MAJORITY
from quercus.learners.incremental.pooled.kernels import run_pool_rows
from quercus.learners.incremental.pooled.layout import LABEL, SIZE_LABELS, SIZE_POOL, SIZE_VOLUME
from quercus.learners.incremental.pooled.state import PooledState
from quercus.learners.incremental.restore import restore_tree
from quercus.learners.incremental.state import TreeState
from quercus.learners.incremental.tree import PLAIN_ROWS, GrowingTree
from quercus.predictor import Floats, Integers
from quercus.rows import Rows
from quercus.schema import Schema, read_weights
from quercus.store import Model

_SIZES = {None: SIZE_POOL, "pool": SIZE_POOL, "labels": SIZE_LABELS, "volume": SIZE_VOLUME}
_NO_PLACES: Integers = np.empty(0, np.int64)


class PooledTree(GrowingTree):
    """Base of the trees that grow on streams, by binned cuts, or on rows that they keep, by exact ones."""

    cuts: str | None
    size: str | None
    leaf: str | None
    # The schema of a pool before its first label.
    _pool_schema: Schema
    # Of labels that are to be learned, the rows of the pool.
    _places: Integers = _NO_PLACES

    def fit_pool(self, X: Any) -> Self:
        """Forget everything and take rows without labels; `learn_pool` labels them.

        Parameters
        ----------
        X
            Rows, as in `partial_fit`.

        Examples
        --------
        >>> from quercus import CredibleTree
        >>> tree = CredibleTree().fit_pool([[1.0], [2.0], [3.0], [4.0]])
        >>> tree.learn_pool([0, 3], ["low", "high"]).predict([[1.5]]).tolist()
        ['high']
        >>> tree.n_pool_, tree.pool_labelled_.tolist()
        (4, [True, False, False, True])
        """
        fresh = clone(self)
        fresh._take_pool(X)
        with self._alone():
            for name in set(vars(self)) - set(self.get_params()) - {"_guard"}:
                delattr(self, name)
            self.__dict__.update({name: value for name, value in vars(fresh).items() if name != "_guard"})
        return self

    def learn_pool(self, rows: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn the labels of rows of the pool, in this order.

        Parameters
        ----------
        rows
            Positions in the pool, counted from 0; each row is labelled once.
        y
            Their labels.
        classes
            Labels known beforehand; others may still come.
        sample_weight
            A weight above 0 per label.
        """
        with self._alone():
            pool = self._find_pool()
            places = _read_places(rows, pool)
            known = self._is_fitted()
            schema = self.schema_ if known else self._pool_schema
            labels = schema.read_labels(y, rows=len(places), classes=classes)
            weights = read_weights(sample_weight, len(places))
            if not weights.all():
                raise ValueError("a label of weight 0 teaches nothing; leave its row out, to label it later.")
            schema.commit(labels)
            if not known:
                self._begin(len(schema.names))
                self.schema_ = schema
            self._note_schema()
            if classes is not None:
                self._declare_classes(int(schema.read_labels(classes, learn=False).ids.max()) + 1)
            self._places = places
            try:
                X = pool.values[places]
                self._run(Rows.make(**PLAIN_ROWS, X=X, y=labels.ids, weight=weights), X, labels.ids, LABEL)
            finally:
                del self._places
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, the pool too, and learn these rows, in order; `partial_fit` goes on from there."""
        super().fit(X, y, sample_weight)
        self.__dict__.pop("_pool_schema", None)
        return self

    def holds(self, X: Any) -> bool:
        """Return whether these are the rows of the pool, in order; rows that came with their labels may follow.

        Parameters
        ----------
        X
            Rows, as in `fit_pool`.

        Examples
        --------
        >>> from quercus import CredibleTree
        >>> tree = CredibleTree().fit_pool([[1.0], [2.0]])
        >>> tree.holds([[1.0], [2.0]]), tree.holds([[1.0], [3.0]])
        (True, False)
        """
        pool = vars(self).get("_tree")
        if not isinstance(pool, PooledState):
            return False
        schema = self.schema_ if self._is_fitted() else self._pool_schema
        try:
            rows = schema.read(X, learn=False).X
        except (ValueError, TypeError):
            return False
        n = len(rows)
        return n <= pool.n_rows and np.array_equal(rows, pool.values[:n, : rows.shape[1]], equal_nan=True)

    @property
    def n_pool_(self) -> int:
        """Number of rows in the pool, labelled or not; 0 without one."""
        tree = vars(self).get("_tree")
        return tree.n_rows if isinstance(tree, PooledState) else 0

    @property
    def pool_labelled_(self) -> npt.NDArray[np.bool_]:
        """For each row of the pool, whether its label is known."""
        pool = self._find_pool()
        return np.asarray(pool.labels_of(np.arange(pool.n_rows)) >= 0)

    def regions(self, X: Any = None) -> tuple[Integers, Floats]:
        """Return the leaf that each row lies in, and the class counts of every node: what a pool sampler sees.

        Parameters
        ----------
        X
            Rows, as in `predict`; None: those of the pool.
        """
        if X is not None:
            return super().regions(X)
        pool = self._find_pool()
        leaves = np.zeros(pool.n_rows, np.int64)
        if not self._is_fitted():
            return leaves, np.zeros((1, 0))
        find_leaves(pool.nodes, pool.values[: pool.n_rows], leaves)
        return leaves, self._class_counts()

    def _check_fitted(self) -> None:
        if not self._is_fitted() and self.n_pool_:
            raise NotFittedError(
                f"This {type(self).__name__} instance has a pool, but no label yet. Call learn_pool first."
            )
        super()._check_fitted()

    def _check_arguments(self) -> None:
        super()._check_arguments()
        check_choice("cuts", self.cuts, (None, "binned", "exact"))
        check_choice("size", self.size, _SIZES)
        if self.cuts == "exact":
            self._check_exact()

    def _check_exact(self) -> None:
        if self.leaf not in (None, "majority"):
            raise ValueError(f"leaf={self.leaf!r} needs the histograms of binned cuts; with exact ones leave it out.")
        if self.adaptive:
            raise ValueError("adaptive=True needs binned cuts; leave it out, or exact cuts and the pool.")

    @property
    def _leaf_mode(self) -> Any:
        return self.leaf or ("majority" if self.cuts == "exact" else "adaptive")

    def _pooling(self) -> dict[str, Any]:
        """Return the options of the pool that come from the arguments."""
        return {"size": _SIZES[self.size], "min_leaf": self.min_leaf}

    def _begun_with(self) -> tuple[int, float, int]:
        """Return the rule, the delta and the measure that the kernel works with."""
        if isinstance(self._tree, PooledState):
            pool = self._tree.pooling[0]
            return int(pool["bound"]), float(pool["delta"]), int(pool["measure"])
        options = self._tree.options[0]
        return int(options["rule"]), float(options["scale"]), int(options["criterion"])

    def _find_pool(self) -> PooledState:
        tree = vars(self).get("_tree")
        if not isinstance(tree, PooledState):
            raise NotFittedError(f"This {type(self).__name__} has no pool; give it one with fit_pool.")
        return tree

    def _take_pool(self, X: Any) -> None:
        if self.cuts == "binned":
            raise ValueError("a pool needs exact cuts; leave cuts='binned' out.")
        self._check_exact()
        schema = self._new_schema()
        batch = schema.read(X, learn=True)
        schema.commit(batch)
        self._begin_exact(len(schema.names))
        self._find_pool().join(batch.X, [kind == "nominal" for kind in schema.kinds])
        self._pool_schema = schema

    def _new_schema(self) -> Schema:
        return vars(self).get("_pool_schema") or super()._new_schema()

    def _begin(self, features: int) -> None:
        if "_pool_schema" in vars(self):
            # The tree is there, and waits for its first label.
            del self._pool_schema
        elif self.cuts == "exact":
            self._begin_exact(features)
        elif self.size is not None:
            raise ValueError(f"size={self.size!r} is for exact cuts; give cuts='exact', or a pool with fit_pool.")
        else:
            super()._begin(features)

    def _begin_exact(self, features: int) -> None:
        settings = self._settings() | {"leaf": MAJORITY}
        tree = PooledState.begin(settings, int(self.max_bytes), pooling=self._pooling())
        tree.add_features(features)
        self._start(tree)

    def _restore_tree(self, model: Model) -> TreeState:
        if "pooling" not in model.arrays:
            return super()._restore_tree(model)
        return restore_tree(model, PooledState, int(self.max_bytes))

    def _call(self, rows: Any, row: int, stop: int, mode: int) -> int:
        tree = self._tree
        if not isinstance(tree, PooledState):
            return super()._call(rows, row, stop, mode)
        given = (self._order, self._loss, self._table)
        done: int = run_pool_rows(tree.ref, rows, self._places, *given, row, stop, mode)
        return done


def _read_places(rows: Any, pool: PooledState) -> Integers:
    """Return positions in the pool; refuse what is none, twice there, or labelled."""
    places = np.asarray(rows)
    if places.ndim != 1 or len(places) == 0 or places.dtype.kind not in "iu":
        raise ValueError(f"rows are {rows!r}; give a list of positions in the pool, counted from 0.")
    places = np.ascontiguousarray(places, np.int64)
    wrong = places[(places < 0) | (places >= pool.n_rows)]
    if len(wrong):
        raise ValueError(f"row {wrong[0]} is not in the pool, which has rows 0 to {pool.n_rows - 1}.")
    values, times = np.unique(places, return_counts=True)
    if (times > 1).any():
        raise ValueError(f"row {values[times > 1][0]} is given twice; label each row once.")
    labelled = places[pool.labels_of(places) >= 0]
    if len(labelled):
        raise ValueError(f"row {labelled[0]} of the pool has a label already; give rows that have none.")
    return places
