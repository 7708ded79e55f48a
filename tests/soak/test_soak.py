"""A few of the trials that ``make soak`` makes by the thousand."""

from __future__ import annotations

import pytest

from quercus.registry import LEARNERS, MODELS
from quercus.store import read_model
from tests.frozen import models as golden
from tests.learners.listed import make
from tests.soak import forging
from tests.soak.mutations import mutated
from tests.soak.threads import find_faults

# Mutations of all files of a learner together.
MUTATIONS = 24


@pytest.fixture(scope="module")
def worker():
    """Compiled without checks of bounds, so that no kernel is compiled twice; ``make soak`` is stricter."""
    with forging.Worker(checked=False) as worker:
        yield worker


@pytest.mark.parametrize("name", MODELS)
def test_forged_files_are_refused_or_work(worker, tmp_path, name):
    paths = [path for path in forging.kept_for_ever() if path.stem.split("-")[0] == name]
    assert paths
    for path in paths:
        counts, failures = forging.attack(worker, paths, path, range(MUTATIONS // len(paths)), tmp_path)
        assert not failures, f"of {path.stem}, forged files in {tmp_path}: {failures[0]}"
        assert counts["refused"]


def test_a_mutation_is_the_same_again():
    model = read_model(forging.kept_for_ever()[0])
    for number in range(20):
        assert mutated("a", [model], number)[1] == mutated("a", [model], number)[1]


@pytest.mark.parametrize("name", LEARNERS)
def test_answers_beside_learning_are_well_formed(name):
    answers, faults = find_faults(lambda: make(name, features="open"), 0.03)
    assert faults == []
    assert answers


def test_golden_models_are_of_all_kinds():
    assert {name.split("-")[0] for name in golden.MODELS} == set(MODELS)
