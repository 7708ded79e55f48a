"""Learners through a file: they go on bit for bit, and files that make no sense to them are refused."""

from __future__ import annotations

import pytest

import quercus
from quercus.checks.data import adversarial_stream
from quercus.registry import LEARNERS


@pytest.mark.parametrize("name", LEARNERS)
def test_saving_what_was_loaded_gives_the_same_bytes(tmp_path, name):
    learner = getattr(quercus, name)().partial_fit(*adversarial_stream(2500))
    learner.save(tmp_path / "a")
    quercus.load(tmp_path / "a").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", LEARNERS)
def test_parameters_and_schema_come_back(tmp_path, name):
    loss = {"yes": {"no": 5.0}}
    learner = getattr(quercus, name)(loss=loss, nominal=("level",), seed=3).partial_fit(*adversarial_stream(1500))
    learner.save(tmp_path / "model")
    back = quercus.load(tmp_path / "model")
    assert back.get_params() == learner.get_params()
    assert back.schema_.to_dict() == learner.schema_.to_dict()
    assert back.classes_.tolist() == learner.classes_.tolist()
    assert back.feature_names_in_.tolist() == learner.feature_names_in_.tolist()


def test_an_unfitted_learner_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        quercus.HoeffdingTree().save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
