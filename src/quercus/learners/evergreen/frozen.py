"""An evergreen tree that has stopped learning: what answering needs and nothing else."""

from __future__ import annotations

import numpy as np

from quercus.frozen import FrozenPredictor
from quercus.learners.evergreen.additive.engine import freeze, new_additive, weigh_additive
from quercus.learners.evergreen.engine import AnswerEngine
from quercus.learners.evergreen.frozen_state import FrozenEvergreenState
from quercus.learners.evergreen.layout import IDLE, NO_RECENT
from quercus.learners.evergreen.state import EvergreenState, EvergreenTreeState
from quercus.learners.evergreen.view import weigh_experts


class FrozenEvergreen(FrozenPredictor):
    """A small, immutable, predict-only model; `tree.freeze()` makes one.

    It keeps the tree in use, without the rows that it was grown from. Call `tree.regrow()` before, if labels have
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

    engine = AnswerEngine()


def keep_answers(state: EvergreenState) -> FrozenEvergreenState:
    """Copy the tree in use, without room for more classes; a growth that is under way is forgotten.

    Parameters
    ----------
    state
        The tree with all that it learns from.
    """
    options, tree, known = state.options.copy(), state.tree, state.classes
    options["stage"] = IDLE
    recent = tree.recent[:, :known].copy()
    if weigh_experts(options[0])[2] == 0.0:
        # Without labels to come they will never count again.
        options["without"] |= NO_RECENT
        recent = recent[:0]
    kept = EvergreenTreeState.holding(
        nodes=tree.nodes.copy(), counts=tree.counts[:, :known].copy(), recent=recent, sets=tree.sets.copy()
    )
    counts = weigh_additive(state.additive) > 0.0
    additive = freeze(state.additive, known) if counts else new_additive(np.uint64(0), is_on=False)
    return FrozenEvergreenState.holding(options=options, tree=kept, additive=additive)
