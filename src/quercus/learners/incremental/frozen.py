"""A tree that has stopped learning: what answering needs and nothing else."""

from __future__ import annotations

import numpy as np

from quercus.frozen import FrozenPredictor
from quercus.learners.incremental.engine import TreeEngine
from quercus.learners.incremental.state import TreeState


class FrozenTree(FrozenPredictor):
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

    engine = TreeEngine()


def keep_answers(state: TreeState) -> TreeState:
    """Copy the nodes and counts of a tree, and the histograms of those leaves alone that answer by naive Bayes.

    Parameters
    ----------
    state
        The tree with all that it grows by.
    """
    tree = state.main()
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
