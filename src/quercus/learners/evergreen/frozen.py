"""An evergreen tree that has stopped learning: what answering needs and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.flat import FlatArrays
from quercus.learners.evergreen.arrays import TREE, EvergreenArrays
from quercus.learners.evergreen.layout import IDLE, NO_RECENT, NODE, OPTIONS
from quercus.learners.evergreen.look import EvergreenLook, StandingTree
from quercus.learners.evergreen.restore import is_tree
from quercus.learners.evergreen.singles.arrays import SinglesArrays
from quercus.learners.evergreen.singles.restore import restore_singles
from quercus.learners.evergreen.singles.telling import weigh_singles
from quercus.learners.evergreen.view import weigh_experts
from quercus.predictor import Floats
from quercus.store import Model, ModelFileError

_TYPES: dict[str, Any] = {"options": OPTIONS, "nodes": NODE, "counts": float, "recent": float, "sets": np.uint64}


class FrozenArrays(FlatArrays):
    """The arrays of a tree that answers and does nothing else.

    Parameters
    ----------
    arrays
        Each of ``NAMES``.
    singles
        What single features tell.

    Examples
    --------
    >>> singles = SinglesArrays(np.uint64(0), is_on=False)
    >>> FrozenArrays({name: np.zeros(2) for name in FrozenArrays.NAMES}, singles).nbytes - singles.nbytes
    80
    """

    NAMES = ("options", *TREE)
    options: npt.NDArray[np.void]
    nodes: npt.NDArray[np.void]
    counts: Floats
    recent: Floats
    sets: npt.NDArray[np.uint64]

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]], singles: SinglesArrays) -> None:
        for name in self.NAMES:
            setattr(self, name, np.require(arrays[name], requirements=["C", "W", "O"]))
        self.singles = singles

    @property
    def answering(self) -> tuple[Any, ...]:
        """The arrays that answers follow from."""
        return (*self.learning, *self.singles.learning)

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return super().nbytes + self.singles.nbytes

    def used(self) -> dict[str, npt.NDArray[Any]]:
        """Return all arrays by name."""
        return super().used() | self.singles.used()


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

    def _extra(self) -> dict[str, Any]:
        return {"singles": True}

    def _restore(self, model: Model) -> None:
        arrays = {name: model.array(name, dtype) for name, dtype in _TYPES.items()}
        tree = FrozenArrays(arrays, SinglesArrays(np.uint64(0), is_on=False))
        try:
            is_sound = _is_sound(tree, model)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise ModelFileError(f"its arrays do not fit together ({error}).") from error
        if not is_sound:
            raise ModelFileError("its arrays do not fit together.")
        classes, features = int(tree.options["classes"][0]), len(model.schema["kinds"])
        tree.singles = restore_singles(model, features, classes, tree.options["seed"][0], frozen=True)
        self._tree = tree


def _keep_answers(tree: EvergreenArrays) -> FrozenArrays:
    """Copy the tree that stands, without room for more classes; a growth that is under way is forgotten."""
    kept = {name: getattr(tree, name).copy() for name in FrozenArrays.NAMES}
    kept["counts"], kept["recent"] = (kept[name][:, : tree.classes] for name in ("counts", "recent"))
    kept["options"]["stage"] = IDLE
    if weigh_experts(tree.options[0])[2] == 0.0:
        # Without labels to come they will never count again.
        kept["options"]["without"] |= NO_RECENT
        kept["recent"] = kept["recent"][:0]
    counts = weigh_singles(tree.singles) > 0.0
    singles = tree.singles.frozen(tree.classes) if counts else SinglesArrays(np.uint64(0), is_on=False)
    return FrozenArrays(kept, singles)


def _is_sound(tree: FrozenArrays, model: Model) -> bool:
    """Return whether the tree is one, and fits its schema."""
    if tree.options.shape != (1,) or tree.nodes.ndim != 1 or len(tree.nodes) == 0:
        return False
    option, is_nominal = tree.options[0], np.array([kind == "nominal" for kind in model.schema["kinds"]], bool)
    rows = 0 if option["without"] & NO_RECENT else len(tree.nodes)
    losses = [option[name] for name in ("loss", "leaf_loss", "recent_loss")]
    return bool(
        option["nodes"] == len(tree.nodes)
        and 0 <= option["classes"] <= len(model.schema["labels"])
        and tree.counts.shape == (len(tree.nodes), option["classes"])
        and tree.recent.shape == (rows, option["classes"])
        and np.isfinite(losses).all()
        and is_tree(tree.nodes, tree.counts, tree.recent, tree.sets, is_nominal)
    )
