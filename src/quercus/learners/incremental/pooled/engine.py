"""How a tree works that may keep its rows: those that come with labels, and a pool of some without."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from quercus.arguments import check_choice
from quercus.engine import Floats, Integers, Known, Stop
from quercus.learners.incremental.engine import IncrementalEngine
from quercus.learners.incremental.layout import MAJORITY, SIZE_LABELS, SIZE_POOL, SIZE_VOLUME
from quercus.learners.incremental.pooled.kernels import run_pool_rows
from quercus.learners.incremental.pooled.state import PooledState
from quercus.learners.incremental.state import GrowingState
from quercus.rows import DONE, Rows
from quercus.store import Model

_SIZES = {None: SIZE_POOL, "pool": SIZE_POOL, "labels": SIZE_LABELS, "volume": SIZE_VOLUME}
_NO_PLACES: Integers = np.empty(0, np.int64)


class PoolLabels(Rows):
    """Rows of a pool that get their labels.

    Parameters
    ----------
    X
        The rows.
    places
        Where they are in the pool.
    given
        The rest, as `quercus.rows.Rows` has it.

    Examples
    --------
    >>> PoolLabels(np.zeros((1, 2)), np.array([7]), y=np.array([0])).places.tolist()
    [7]
    """

    def __init__(self, X: Any, places: Integers, **given: Any) -> None:
        super().__init__(X, **given)
        self.places = places

    @cached_property
    def ref(self) -> Any:
        """What kernels take, which are given the places beside it."""
        return Rows.make(**self._held.arrays)


class PoolEngine(IncrementalEngine):
    """Learns as `IncrementalEngine` does, by binned cuts, or by exact ones on rows that it keeps.

    Examples
    --------
    >>> from quercus import CredibleTree
    >>> CredibleTree.engine.new_state(CredibleTree(cuts="exact"), features=2, classes=0).n_rows
    0
    """

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        super().check(params)
        check_choice("cuts", params.cuts, (None, "binned", "exact"))
        check_choice("size", params.size, _SIZES)
        if params.cuts == "exact":
            self._check_exact(params)

    def leaf_mode(self, params: Any) -> Any:
        """Return who answers in a leaf."""
        return params.leaf or ("majority" if params.cuts == "exact" else "adaptive")

    def new_state(self, params: Any, features: int, classes: int) -> GrowingState:
        """Return the empty state for this many features."""
        if params.cuts == "exact":
            return self._begin_pool(params, features)
        if params.size is not None:
            raise ValueError(f"size={params.size!r} is for exact cuts; give cuts='exact', or a pool with fit_pool.")
        return super().new_state(params, features, classes)

    def new_pool(self, params: Any, X: Floats, kinds: Sequence[str | None]) -> PooledState:
        """Return a state whose pool are these rows, none of which has a label.

        Parameters
        ----------
        params
            The learner.
        X
            The rows, as a schema reads them.
        kinds
            Of each feature.
        """
        if params.cuts == "binned":
            raise ValueError("a pool needs exact cuts; leave cuts='binned' out.")
        self._check_exact(params)
        state = self._begin_pool(params, X.shape[1])
        state.join(X, [kind == "nominal" for kind in kinds])
        return state

    def run(self, state: GrowingState, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int) -> Stop:
        """Take rows in order: answer, ask and learn, as told."""
        if not isinstance(state, PooledState):
            return super().run(state, params, rows, known, start, stop, mode)
        places = rows.places if isinstance(rows, PoolLabels) else _NO_PLACES
        given = (known.order, known.loss, state.bounds, start, stop, mode)
        row = run_pool_rows(state.ref, rows.ref, places, *given)
        return Stop(row, DONE if row == stop else int(state.options["stopped"][0]))

    def _check_exact(self, params: Any) -> None:
        if params.leaf not in (None, "majority"):
            raise ValueError(f"leaf={params.leaf!r} needs the histograms of binned cuts; with exact ones leave it out.")
        if params.adaptive:
            raise ValueError("adaptive=True needs binned cuts; leave it out, or exact cuts and the pool.")

    def _begin_pool(self, params: Any, features: int) -> PooledState:
        settings = self.settings(params) | {"leaf": MAJORITY}
        pooling = {
            "size": _SIZES[params.size],
            "min_leaf": settings["min_leaf"],
            "measure": settings["criterion"],
            "bound": settings["rule"],
            "correction": settings["correction"],
            "delta": settings["scale"],
        }
        state = PooledState.begin(settings, int(params.max_bytes), pooling=pooling)
        return self._begin(state, params, features)

    def _kind_of(self, model: Model) -> type[GrowingState]:
        return PooledState if "pooling" in model.arrays else super()._kind_of(model)
