"""The learners of the registry as tests want them: small, with the variants that other tests ought to meet too."""

from __future__ import annotations

import inspect
import os
from typing import Any

import quercus
from quercus.registry import LEARNERS

# What makes a forest quick enough for tests that make many.
SMALL = {"trees": 2}
# Small grace periods make trees that split many times on short streams.
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "BayesianForest": [
        {"trees": 2, "depth": 2, "block": 5},
        {"trees": 1, "depth": 3, "covariance": "diagonal", "dtype": "float64"},
    ],
    "BayesianTree": [{"depth": 3, "subset": 0.5, "forget": 0.001}],
    "ConfidenceTree": [{}, {"grace_period": 20, "c": 0.001}],
    "CredibleTree": [{}, {"cuts": "exact"}, {"correction": "cuts+looks", "criterion": "deviation", "delta": 0.4}],
    "EvergreenBoost": [
        {"rounds": 13, "randomized": 5},
        {"depth": 3, "rate": 0.3, "randomized": 0, "keep": "recent", "max_bytes": 2**21},
    ],
    "EvergreenForest": [{"trees": 3}, {"trees": 2, "subspace": 0.5, "sight": 0.5, "threads": 2}],
    "EvergreenTree": [{}, {"bins": 5, "keep": "recent", "adaptive": False, "max_bytes": 2**18}],
    "HoeffdingTree": [{}, {"grace_period": 20, "tie": 0.5, "leaf": "majority"}],
    "ReinforcedTree": [{}, {"questions": 2, "updates": "lattice", "backup": "sample", "rewards": (5, -5)}],
    "UtilityTree": [{}, {"objective": "random", "numeric": "thresholds", "prior": 0.5}],
}
# ``make soak`` tries all variants everywhere, ``make test`` those whose kernels are others.
SOAK = bool(os.environ.get("QUERCUS_SOAK"))
CASES = [
    (name, arguments)
    for name in LEARNERS
    for arguments in VARIANTS.get(name, [{}])
    if SOAK or arguments in (VARIANTS.get(name, [{}])[0], {"cuts": "exact"})
]
IDS = [f"{name}-{len(arguments)}" for name, arguments in CASES]


def make(name: str, **arguments: Any) -> Any:
    """Return a learner of the registry, small unless told otherwise."""
    learner = getattr(quercus, name)
    known = inspect.signature(learner).parameters
    return learner(**({key: value for key, value in SMALL.items() if key in known} | arguments))
