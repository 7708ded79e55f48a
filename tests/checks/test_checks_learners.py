"""Every learner of quercus keeps the contract."""

from __future__ import annotations

import pytest

from quercus.checks import all_checks
from tests.learners.listed import CASES, IDS, make


@pytest.mark.parametrize("check", list(all_checks()), ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize(("name", "arguments"), CASES, ids=IDS)
def test_the_contract(name, arguments, check):
    check(make(name, **arguments))


def test_the_streams_make_trees_grow():
    from quercus.checks.data import adversarial_stream

    growing = [
        (name, arguments) for name, arguments in CASES if not name.startswith(("Bayesian", "Reinforced", "Utility"))
    ]
    for name, arguments in growing:
        tree = make(name, **arguments).partial_fit(*adversarial_stream())
        assert tree.n_leaves_ > 1, name
