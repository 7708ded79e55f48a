"""The arguments that an evergreen tree and a forest of them share: what they may be, and as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.arguments import check_choice, check_number, check_seed, check_whole
from quercus.learners.evergreen.layout import MOST_EDGES
from quercus.loss import check_loss

KEEPS = ("sample", "recent")


def check_arguments(learner: Any) -> None:
    """Raise an error for an argument that makes no sense.

    Parameters
    ----------
    learner
        An evergreen tree or forest.

    Examples
    --------
    >>> from quercus import EvergreenTree
    >>> check_arguments(EvergreenTree(keep="all"))
    Traceback (most recent call last):
        ...
    ValueError: keep='all' is unknown; choose 'sample' or 'recent'.
    """
    check_whole("bins", learner.bins, least=2, most=MOST_EDGES + 1)
    check_choice("keep", learner.keep, KEEPS)
    check_number("max_bytes", learner.max_bytes, least=1)
    if not isinstance(learner.adaptive, bool | np.bool):
        raise TypeError(f"adaptive={learner.adaptive!r} is neither True nor False.")
    check_seed(learner.seed)
    if learner.loss is not None:
        check_loss(learner.loss)


def read_settings(learner: Any, seed: np.uint64) -> dict[str, Any]:
    """Return the options of the engine that come from the arguments.

    Parameters
    ----------
    learner
        An evergreen tree or forest.
    seed
        Of what is left to chance in a tree.

    Examples
    --------
    >>> from quercus import EvergreenTree
    >>> read_settings(EvergreenTree(bins=16), np.uint64(7))["bins"]
    16
    """
    return {
        "bins": learner.bins,
        "adaptive": learner.adaptive,
        "recent_only": learner.keep == "recent",
        "seed": seed,
        "subspace": 1.0,
        "sight": 1.0,
    }
