"""The data sets, and the way of a learner through one under a policy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.peers.evergreen import sets
from quercus.ask import Policy
from quercus.ask.loop import AskLoop, Decisions
from quercus.ask.state import AskState

SETS = (
    "electricity", "nursery", "mushroom", "adult", "covertype", "letter", "airlines", "cod_rna_train", "compas",
    "g50c",
)  # fmt: skip
# Each new category costs a learner a few milliseconds; these have few or none.
QUICK_SETS = ("electricity", "letter", "cod_rna_train", "g50c")
MOST_ROWS = 100_000


class PolicyStream(NamedTuple):
    """A data set in one order: numbers and codes of categories."""

    X: Any
    y: NDArray[Any]
    names: list[str]
    nominal: list[str]


def load(name: str, seed: int, most: int = MOST_ROWS) -> PolicyStream:
    """Return a data set in a random order, at most so many rows of it; of a generator, another sample."""
    rows = sets.load(name, seed, min(most, MOST_ROWS // 2) if sets.is_generated(name) else most)
    names = [f"x{j}" for j in range(rows.X.shape[1])]
    return PolicyStream(rows.X, rows.y, names, [names[j] for j in rows.nominal])


def go(data: PolicyStream, learner: Any, policy: Policy) -> tuple[float, AskState, Decisions, NDArray[np.bool_]]:
    """Take a learner through the data; return its accuracy, and which rows were right."""
    if data.nominal:
        learner.set_params(nominal=data.nominal)
    state = AskState(policy, len(data.y))
    decided = AskLoop(learner, state, data.names, data.nominal).run(data.X, data.y)
    known = np.array([*decided.classes, None], object)
    right = known[decided.answers] == data.y.astype(object)
    return float(right.mean()), state, decided, right
