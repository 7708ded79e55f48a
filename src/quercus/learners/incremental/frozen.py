"""A tree that has stopped learning: what answering needs and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.look import TreeLook
from quercus.learners.incremental.restore import restore_tree
from quercus.learners.incremental.state import TreeState
from quercus.store import Model


class FrozenTree(TreeLook):
    """A small, immutable, predict-only model; `tree.freeze()` makes one.

    Parameters
    ----------
    learner
        Name of the learner that grew it.
    loss
        Loss table that its answers respect.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.RandomTree(seed=1).take(20_000)
    >>> tree = qc.ConfidenceTree(leaf="majority").partial_fit(X, y)
    >>> frozen = tree.freeze()
    >>> bool((frozen.predict(X) == tree.predict(X)).all()), frozen.nbytes < tree.nbytes / 5
    (True, True)
    """

    def __init__(self, learner: str = "", loss: Mapping[Any, Mapping[Any, float]] | None = None) -> None:
        self.learner = learner
        self.loss = loss

    @classmethod
    def _from_tree(cls, tree: TreeLook) -> FrozenTree:
        frozen = cls(type(tree).__name__, copy.deepcopy(tree.loss))
        frozen.schema_ = copy.deepcopy(tree.schema_)
        frozen._tree = _keep_answers(tree._tree.main())
        frozen._note_schema()
        return frozen

    def _name(self) -> str:
        return f"frozen {self.learner}"

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._tree.to_arrays()

    def _extra(self) -> dict[str, Any]:
        return {"sizes": self._tree.to_sizes()}

    def _restore(self, model: Model) -> None:
        leaves = model.array("leaves", TreeState.leaves.dtype).copy()
        # Earlier versions kept the numbers of buffers that they did not write.
        leaves["buffer"], leaves["filled"] = -1, 0
        kept = replace(model, arrays=dict(model.arrays) | {"leaves": leaves})
        self._tree = restore_tree(kept, TreeState, 2**62)


def _keep_answers(tree: TreeState) -> TreeState:
    """Copy the nodes and counts of a tree, and the histograms of those leaves alone that answer by naive Bayes."""
    used = tree.to_arrays()
    nodes, options = used["nodes"].copy(), used["options"].copy()
    bayes = np.array([tree.uses_bayes(slot) for slot in nodes["slot"].tolist()])
    kept = nodes["slot"][bayes]
    nodes["slot"] = -1
    nodes["slot"][bayes] = np.arange(len(kept))
    leaves = used["leaves"][kept]
    leaves["node"] = np.flatnonzero(bayes)
    leaves["buffer"], leaves["filled"], leaves["next"] = -1, 0, -1
    counters = {"slots": len(kept), "free_slots": 0, "buffers": 0, "free_buffers": 0, "full": 1}
    for name, value in (counters | {"free_slot": -1, "free_buffer": -1}).items():
        options[name] = value
    return tree.as_plain(
        nodes=nodes,
        counts=used["counts"].copy(),
        leaves=leaves,
        hist=used["hist"][kept],
        edges=used["edges"][kept],
        buffers=used["buffers"][:0].copy(),
        features=used["features"].copy(),
        options=options,
    )
