"""A tree that has stopped learning: what answering needs and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.learners.incremental.arrays import TreeArrays
from quercus.learners.incremental.look import TreeLook
from quercus.learners.incremental.restore import restore_tree
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
        return self._tree.used()

    def _extra(self) -> dict[str, Any]:
        return {"capacities": self._tree.capacities()}

    def _restore(self, model: Model) -> None:
        self._tree = restore_tree(model, 2**62)


def _keep_answers(tree: TreeArrays) -> TreeArrays:
    """Copy the nodes and counts of a tree, and the histograms of those leaves alone that answer by naive Bayes."""
    used = {name: array.copy() for name, array in tree.used().items()}
    option = used["options"]
    slots = used["nodes"]["slot"]
    bayes = np.array([tree.uses_bayes(slot) for slot in slots.tolist()])
    kept = slots[bayes]
    slots[:] = -1
    slots[bayes] = np.arange(len(kept))
    for name in ("leaves", "hist", "edges"):
        used[name] = used[name][kept]
    used["leaves"]["node"] = np.flatnonzero(bayes)
    used["buffers"] = used["buffers"][:0]
    for name, value in (("slots", len(kept)), ("buffers", 0), ("full", 1)):
        option[name] = value
    for name in ("free_slots", "free_buffers"):
        option[name] = 0
    for name in ("free_slot", "free_buffer"):
        option[name] = -1
    return TreeArrays.restored(used, {name: list(array.shape) for name, array in used.items()}, 2**62)
