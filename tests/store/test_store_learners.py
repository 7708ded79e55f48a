"""Learners through a file: they go on bit for bit, and files that make no sense to them are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import quercus
from quercus.checks.data import adversarial_stream
from quercus.registry import LEARNERS
from quercus.store import ModelFileError
from quercus.store.files import _text
from quercus.store.tensors import digest


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


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("damage", ["drop", "shorten", "retype"])
def test_a_file_without_one_of_its_arrays_is_refused(tmp_path, name, damage):
    """With a right checksum, as only a faulty or hostile writer would make it."""
    few = {"trees": 2} if name.endswith("Forest") else {}
    getattr(quercus, name)(**few).partial_fit(*adversarial_stream(1000)).save(tmp_path / "model")
    with safe_open(tmp_path / "model", "np") as file:
        header = json.loads(file.metadata()["quercus"])
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a dict
    header.pop("sha256")
    for array in sorted(header["arrays"]):
        parts = [key for key in tensors if key == array or key.startswith(f"{array}/")]
        layout, changed = dict(header["arrays"]), dict(tensors)
        if damage == "drop":
            layout.pop(array)
            for part in parts:
                changed.pop(part)
        elif damage == "shorten" and tensors[parts[0]].ndim and len(tensors[parts[0]]):
            changed |= {part: np.ascontiguousarray(tensors[part][:-1]) for part in parts}
        elif damage == "retype" and layout[array] is None:
            changed[array] = tensors[array].astype(np.float64 if tensors[array].dtype == np.float32 else np.float32)
        else:
            continue
        other = header | {"arrays": layout}
        text = _text(other | {"sha256": digest(_text(other).encode(), changed)})
        save_file(changed, tmp_path / "damaged", metadata={"quercus": text})
        with pytest.raises(ModelFileError, match="cannot be loaded"):
            quercus.load(tmp_path / "damaged")
