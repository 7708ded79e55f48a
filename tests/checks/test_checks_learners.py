"""Every learner of quercus keeps the contract."""

from __future__ import annotations

import pytest

import quercus
from quercus.checks import all_checks
from quercus.registry import LEARNERS

# Small grace periods make trees that split many times on the short streams of the checks.
VARIANTS = {
    "BayesianForest": [
        {"trees": 2, "depth": 2, "block": 5},
        {"trees": 1, "depth": 3, "covariance": "diagonal", "dtype": "float64"},
    ],
    "BayesianTree": [{"depth": 3, "subset": 0.5, "forget": 0.001}],
    "ConfidenceTree": [{}, {"grace_period": 20, "c": 0.001}],
    "CredibleTree": [{}, {"cuts": "exact"}, {"correction": "cuts+looks", "criterion": "deviation", "delta": 0.4}],
    "EvergreenForest": [{"trees": 3}, {"trees": 2, "subspace": 0.5, "sight": 0.5, "threads": 2}],
    "EvergreenTree": [{}, {"bins": 5, "keep": "recent", "adaptive": False, "max_bytes": 2**18}],
    "HoeffdingTree": [{}, {"grace_period": 20, "tie": 0.5, "leaf": "majority"}],
    "ReinforcedTree": [{}, {"questions": 2, "updates": "lattice", "backup": "sample", "rewards": (5, -5)}],
    "UtilityTree": [{}, {"objective": "random", "numeric": "thresholds", "prior": 0.5}],
}
CASES = [(name, arguments) for name in LEARNERS for arguments in VARIANTS.get(name, [{}])]


@pytest.mark.parametrize("check", list(all_checks()), ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize(("name", "arguments"), CASES, ids=[f"{name}-{len(given)}" for name, given in CASES])
def test_the_contract(name, arguments, check):
    check(getattr(quercus, name)(**arguments))


def test_the_streams_make_trees_grow():
    from quercus.checks.data import adversarial_stream

    growing = [
        (name, arguments) for name, arguments in CASES if not name.startswith(("Bayesian", "Reinforced", "Utility"))
    ]
    for name, arguments in growing:
        tree = getattr(quercus, name)(**arguments).partial_fit(*adversarial_stream())
        assert tree.n_leaves_ > 1, name
