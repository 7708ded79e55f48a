"""An evergreen tree that has stopped learning: what answering needs and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.evergreen.arrays import TREE, EvergreenArrays
from quercus.evergreen.layout import DEEPEST, IDLE, NO_RECENT, NODE, OPTIONS
from quercus.evergreen.look import EvergreenLook, StandingTree
from quercus.evergreen.view import weigh_experts
from quercus.flat import FlatArrays
from quercus.predictor import Floats
from quercus.store import Model, ModelFileError

_TYPES: dict[str, Any] = {"options": OPTIONS, "nodes": NODE, "counts": float, "recent": float, "sets": np.uint64}


class FrozenArrays(FlatArrays):
    """The arrays of a tree that answers and does nothing else.

    Parameters
    ----------
    arrays
        Each of ``NAMES``.

    Examples
    --------
    >>> FrozenArrays({name: np.zeros(2) for name in FrozenArrays.NAMES}).nbytes
    80
    """

    NAMES = ("options", *TREE)
    options: npt.NDArray[np.void]
    nodes: npt.NDArray[np.void]
    counts: Floats
    recent: Floats
    sets: npt.NDArray[np.uint64]

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        for name in self.NAMES:
            setattr(self, name, np.require(arrays[name], requirements=["C", "W", "O"]))


class FrozenEvergreen(StandingTree):
    """A small, immutable, predict-only model; `tree.freeze()` makes one.

    It keeps the tree that stands, without the rows that it was grown from. Call `tree.regrow()` before, if labels have
    come since the last growth and the very best tree is to be kept.

    Parameters
    ----------
    learner
        Name of the learner that grew it.
    loss
        Loss table that its answers respect.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.RandomTree(seed=1).take(2_000)
    >>> tree = qc.EvergreenTree().partial_fit(X, y)
    >>> frozen = tree.freeze()
    >>> bool((frozen.predict_proba(X) == tree.predict_proba(X)).all()), frozen.nbytes < tree.nbytes / 5
    (True, True)
    """

    _tree: FrozenArrays
    _is_growing = False

    def __init__(self, learner: str = "", loss: Mapping[Any, Mapping[Any, float]] | None = None) -> None:
        self.learner = learner
        self.loss = loss

    @classmethod
    def _from_tree(cls, tree: EvergreenLook) -> FrozenEvergreen:
        frozen = cls(type(tree).__name__, copy.deepcopy(tree.loss))
        frozen.schema_ = copy.deepcopy(tree.schema_)
        frozen._tree = _keep_answers(tree._tree)
        frozen._note_schema()
        return frozen

    def _name(self) -> str:
        return f"frozen {self.learner}"

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._tree.used()

    def _restore(self, model: Model) -> None:
        arrays = {name: model.array(name, dtype) for name, dtype in _TYPES.items()}
        try:
            is_sound = _is_sound(FrozenArrays(arrays), model)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise ModelFileError(f"its arrays do not fit together ({error}).") from error
        if not is_sound:
            raise ModelFileError("its arrays do not fit together.")
        self._tree = FrozenArrays(arrays)


def _keep_answers(tree: EvergreenArrays) -> FrozenArrays:
    """Copy the tree that stands, without room for more classes; a growth that is under way is forgotten."""
    kept = {name: getattr(tree, name).copy() for name in FrozenArrays.NAMES}
    kept["counts"], kept["recent"] = (kept[name][:, : tree.classes] for name in ("counts", "recent"))
    kept["options"]["stage"] = IDLE
    if weigh_experts(tree.options[0])[2] == 0.0:
        # Without labels to come they will never count again.
        kept["options"]["without"] |= NO_RECENT
        kept["recent"] = kept["recent"][:0]
    return FrozenArrays(kept)


def _is_sound(tree: FrozenArrays, model: Model) -> bool:
    """Return whether children come in pairs behind their parents, each once, and all tests and answers can be made."""
    if tree.options.shape != (1,) or tree.nodes.ndim != 1 or len(tree.nodes) == 0:
        return False
    option, nodes, kinds = tree.options[0], tree.nodes, np.array(model.schema["kinds"], dtype=object)
    inner = nodes["left"] > 0
    left, feature, chosen = nodes["left"][inner].astype(np.int64), nodes["feature"][inner], nodes["set"]
    if not bool(
        (left > np.flatnonzero(inner)).all()
        and np.array_equal(np.sort(np.concatenate([left, left + 1])), np.arange(1, len(nodes)))
        and ((feature >= 0) & (feature < len(kinds))).all()
    ):
        return False
    numbers = [nodes[name] for name in ("n", "odds", "stop", "scale", "total")]
    rows = 0 if option["without"] & NO_RECENT else len(nodes)
    losses = [option[name] for name in ("loss", "leaf_loss", "recent_loss")]
    return bool(
        (kinds[feature] == np.where(chosen[inner] >= 0, "nominal", "numeric")).all()
        and ((chosen >= -1) & (chosen < len(tree.sets))).all()
        and tree.sets.shape[1:] == (4,)
        and option["nodes"] == len(nodes)
        and 0 <= option["classes"] <= len(model.schema["labels"])
        and tree.counts.shape == (len(nodes), option["classes"])
        and tree.recent.shape == (rows, option["classes"])
        and nodes["depth"][0] == 0
        and (nodes["depth"] <= DEEPEST).all()
        and (nodes["depth"][left] == nodes["depth"][inner] + 1).all()
        and (nodes["depth"][left + 1] == nodes["depth"][inner] + 1).all()
        and all(np.isfinite(part).all() and (part >= 0).all() for part in (*numbers, tree.counts, tree.recent))
        and (nodes["scale"] > 0).all()
        and not np.isnan(nodes["threshold"]).any()
        and np.isfinite(losses).all()
    )
