"""A model file gives back what was written, or a clear refusal."""

from __future__ import annotations

import json
import os
import pickle
import re
import stat

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import quercus
from quercus.registry import MODELS
from quercus.store import FORMAT, Model, ModelFileError, load, read_model, write_model
from quercus.store.files import _text
from quercus.store.tensors import digest

NODES = np.dtype([("feature", "i4"), ("threshold", "f8"), ("counts", "f4", (3,)), ("leaf", "?")])
PLAIN = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "f2", "f4"]
ALIGNED = np.dtype([("leaf", "?"), ("threshold", "f8")], align=True)


def sample_arrays() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    nodes = np.zeros(5, dtype=NODES)
    nodes["feature"] = draw.integers(-1, 9, 5)
    nodes["threshold"] = [np.nan, np.inf, -0.0, 5e-324, 1.5]
    nodes["counts"] = draw.random((5, 3))
    nodes["leaf"] = [True, False, True, True, False]
    aligned = np.zeros(3, dtype=ALIGNED)
    aligned["threshold"] = 2.5
    return {
        "nodes": nodes,
        "aligned": aligned,
        "no_records": np.zeros(0, dtype=NODES),
        "one_record": np.zeros((), dtype=ALIGNED),
        "table": np.zeros((2, 3), dtype=ALIGNED),
        "generator": np.array([2**64 - 1, 0, 1, 2**63], dtype=np.uint64),
        "empty": np.zeros((0, 4)),
        "scalar": np.array(3, dtype=np.int64),
        **{f"plain_{name}": draw.integers(0, 2, (2, 3)).astype(name) for name in PLAIN},
    }


def write_sample(path, **changes) -> None:
    content = {
        "learner": "HoeffdingTree",
        "parameters": {"seed": 7, "loss": {0: {1: 5.0}}, "tie": float("inf"), "nominal": ("a", 2)},
        "schema": {"names": ["a", "b"], "labels": [True, False]},
        "arrays": sample_arrays(),
        "extra": {"rows": 12},
    }
    write_model(path, **(content | changes))


def rewrite(path, change, *, checksum: bool = True) -> None:
    """Change the header of a model file, as a newer or hostile writer might."""
    with safe_open(path, "np") as file:
        header = json.loads(file.metadata()["quercus"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    header.pop("sha256")
    change(header, tensors)
    header["sha256"] = digest(_text(header).encode(), tensors) if checksum else "0"
    save_file(tensors, path, metadata={"quercus": _text(header)})


def assert_same_arrays(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for name, array in a.items():
        assert array.dtype == b[name].dtype, name
        assert array.shape == b[name].shape, name
        assert array.tobytes() == b[name].tobytes(), name


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.quercus"


def test_everything_comes_back(path):
    write_sample(path)
    model = read_model(path)
    assert model.learner == "HoeffdingTree"
    assert model.parameters == {"seed": 7, "loss": {0: {1: 5.0}}, "tie": float("inf"), "nominal": ("a", 2)}
    assert list(model.parameters) == ["seed", "loss", "tie", "nominal"]
    assert model.schema == {"names": ["a", "b"], "labels": [True, False]}
    assert model.extra == {"rows": 12}
    assert model.created_by == f"quercus {quercus.__version__}"
    assert_same_arrays(model.arrays, sample_arrays())


def test_arrays_come_back_writable_aligned_and_native(path):
    write_sample(path)
    for array in read_model(path).arrays.values():
        assert array.flags.writeable
        assert array.flags.c_contiguous
        assert array.dtype.isnative
        assert array.flags.aligned or array.dtype == NODES


def test_a_model_without_arrays_survives(path):
    write_sample(path, arrays={}, parameters={}, schema={}, extra={})
    assert read_model(path).arrays == {}


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12)[::2],
        np.arange(12)[::-1],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6, dtype=">i4"),
        np.arange(6, dtype=">f8").reshape(2, 3).T,
        np.broadcast_to(np.float32(2), (2, 2)),
    ],
    ids=["transposed", "strided", "reversed", "fortran", "big-endian", "big-endian transposed", "broadcast"],
)
def test_any_memory_layout_is_stored_by_value(path, array):
    write_sample(path, arrays={"a": array})
    back = read_model(path).arrays["a"]
    np.testing.assert_array_equal(back, array)
    assert back.dtype == array.dtype.newbyteorder("=")


def test_big_endian_and_gapped_records_are_stored_by_value(path):
    big = np.array([(1, 2.5)], dtype=[("a", ">i4"), ("b", ">f8")])
    gapped = sample_arrays()["nodes"][["feature", "leaf"]]
    write_sample(path, arrays={"big": big, "gapped": gapped})
    arrays = read_model(path).arrays
    assert arrays["big"].tolist() == big.tolist()
    assert arrays["big"].dtype["a"].isnative
    np.testing.assert_array_equal(arrays["gapped"]["leaf"], gapped["leaf"])
    np.testing.assert_array_equal(arrays["gapped"]["feature"], gapped["feature"])


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array(["a"]), "array 'a' holds <U1 values"),
        (np.array([None]), "array 'a' holds object values"),
        (np.array([1j]), "array 'a' holds complex128 values"),
        (np.zeros(1, dtype=[("f", "O")]), "array 'a/f' holds object values"),
        (np.zeros(1, dtype=[("f", [("g", "i4")])]), "array 'a/f' holds"),
        (np.ma.array([1.0], mask=[True]), "array 'a' is masked"),
        ([1, 2], "array 'a' is a list"),
    ],
)
def test_arrays_that_cannot_be_kept_are_refused_by_name(path, array, words):
    with pytest.raises(TypeError, match=re.escape(words)):
        write_sample(path, arrays={"a": array})
    assert os.listdir(path.parent) == []


def test_two_arrays_of_one_stored_name_are_refused(path):
    with pytest.raises(ValueError, match="two arrays would both be stored as 'a/f'"):
        write_sample(path, arrays={"a/f": np.zeros(2), "a": np.zeros(1, dtype=[("f", "i4")])})


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"parameters": {"loss": len}}, "parameter 'loss' holds a builtin_function_or_method"),
        ({"schema": {"names": {1: len}}}, "schema entry 'names' holds"),
        ({"extra": {"x": [b"a"]}}, "extra entry 'x' holds a bytes"),
        ({"parameters": {"$x": 1}}, re.escape("parameter '$x'")),
        ({"parameters": {3: 1}}, "parameter 3"),
    ],
)
def test_values_that_cannot_be_kept_are_refused_by_name(path, part, words):
    path.write_bytes(b"older")
    with pytest.raises(TypeError, match=words):
        write_sample(path, **part)
    assert path.read_bytes() == b"older"


def test_the_same_model_gives_the_same_bytes(tmp_path):
    write_sample(tmp_path / "a")
    write_sample(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_header_is_json_that_other_tools_can_read(path):
    write_sample(path)
    with safe_open(path, "np") as file:
        header = json.loads(file.metadata()["quercus"])
        assert "nodes/threshold" in file.keys()  # noqa: SIM118 - not a dict
    assert header["quercus"] == "1"
    assert header["learner"] == "HoeffdingTree"
    assert header["parameters"]["seed"] == 7


def test_records_of_an_older_file_get_zero_in_new_fields():
    old = np.array([(3, 1.5)], dtype=[("feature", "i4"), ("threshold", "f8")])
    today = np.dtype([("gain", "f8"), ("feature", "i4"), ("threshold", "f8")], align=True)
    back = Model("HoeffdingTree", {}, {}, {"nodes": old}, {}).array("nodes", today)
    assert back.dtype == today
    assert back.tolist() == [(0.0, 3, 1.5)]


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ([("feature", "i4")], "'threshold' of a newer quercus; upgrade"),
        ([("feature", "i8"), ("threshold", "f8")], "'nodes/feature' holds int32, not int64"),
        ("f8", "not float64"),
    ],
)
def test_records_of_another_kind_are_refused(dtype, words):
    old = np.array([(3, 1.5)], dtype=[("feature", "i4"), ("threshold", "f8")])
    with pytest.raises(ModelFileError, match=words):
        Model("HoeffdingTree", {}, {}, {"nodes": old}, {}).array("nodes", dtype)


def test_an_array_of_another_type_or_none_is_refused():
    model = Model("HoeffdingTree", {}, {}, {"t": np.arange(3)}, {})
    assert model.array("t") is model.arrays["t"]
    assert model.array("t", np.int64) is model.arrays["t"]
    with pytest.raises(ModelFileError, match="'t' holds int64, not float64"):
        model.array("t", np.float64)
    with pytest.raises(ModelFileError, match="'nodes' is missing"):
        model.array("nodes")


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_saved_file_has_the_permissions_of_any_new_file(path, umask):
    before = os.umask(umask)
    try:
        write_sample(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "v1").write_bytes(b"old")
    (tmp_path / "current").symlink_to("models/v1")
    write_sample(tmp_path / "current")
    assert (tmp_path / "current").is_symlink()
    assert read_model(tmp_path / "models" / "v1").learner == "HoeffdingTree"


def test_a_very_long_file_name_works(tmp_path):
    write_sample(tmp_path / ("m" * 250))
    assert read_model(tmp_path / ("m" * 250)).learner == "HoeffdingTree"


@pytest.mark.skipif(os.name != "posix", reason="pipes are those of POSIX")
def test_saving_refuses_what_is_not_a_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        write_sample(tmp_path / "none" / "model")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        write_sample(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="device or pipe"):
        write_sample(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="device or pipe"):
        read_model(tmp_path / "pipe")
    assert os.listdir(tmp_path) == ["pipe"]


def test_loading_refuses_what_is_not_there_or_not_a_file(tmp_path, path):
    with pytest.raises(FileNotFoundError, match=r"there is no model file '.*model\.quercus'"):
        read_model(path)
    with pytest.raises(ModelFileError, match="is a directory"):
        read_model(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(ModelFileError, match="is empty"):
        read_model(path)
    path.write_text("seed: 7, a line of text")
    with pytest.raises(ModelFileError, match="not a quercus model file"):
        read_model(path)


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_is_named_and_never_loaded(tmp_path, monkeypatch, path, protocol):
    monkeypatch.chdir(tmp_path)
    path.write_bytes(pickle.dumps({"bomb": Bomb()} if protocol else Bomb(), protocol=protocol))
    with pytest.raises(ModelFileError, match="pickle" if protocol >= 2 else "not a quercus"):
        load(path)
    assert not (tmp_path / "exploded").exists()


def test_a_foreign_safetensors_file_is_refused(path):
    for metadata in (None, {"format": "pt"}):
        save_file({"weight": np.zeros(3)}, path, metadata=metadata)
        with pytest.raises(ModelFileError, match="safetensors file, but not one that quercus made"):
            read_model(path)


def test_a_newer_format_is_refused_before_anything_else_is_read(path):
    write_sample(path)
    rewrite(path, lambda header, _: header.update(quercus=str(FORMAT + 1), parameters=[]), checksum=False)
    words = f"written by format {FORMAT + 1}; this quercus reads up to {FORMAT}; upgrade"
    with pytest.raises(ModelFileError, match=words):
        read_model(path)


@pytest.mark.parametrize("change", [
    lambda header, _: header.update(quercus="0"),
    lambda header, _: header.update(quercus=None),
    lambda header, _: header.update(learner=3),
    lambda header, _: header.update(parameters=[]),
    lambda header, _: header.pop("schema"),
    lambda header, _: header.pop("created_by"),
    lambda header, _: header.update(arrays=3),
    lambda header, _: header["arrays"].pop("generator"),
    lambda header, _: header["arrays"].update(more=None),
    lambda header, _: header["arrays"]["nodes"]["fields"].append(["more", "<f8", []]),
    lambda header, _: header["arrays"]["nodes"]["fields"].pop(),
    lambda header, _: header["arrays"]["nodes"].update(fields=[]),
    lambda header, _: header["arrays"]["nodes"]["fields"].__setitem__(0, ["feature", "<f8", []]),
    lambda header, _: header["arrays"]["nodes"]["fields"].__setitem__(0, ["feature", "<i4", [2**40]]),
    lambda header, _: header["arrays"]["nodes"]["fields"].__setitem__(0, ["feature", "|O", []]),
    lambda header, tensors: tensors.update({"nodes/feature": np.zeros(4, dtype=np.int32)}),
    lambda header, tensors: tensors.update(generator=np.zeros(1, dtype=np.complex64)),
    lambda header, _: header.update(parameters={"a": {"$module": "os"}}),
    lambda header, _: header.update(parameters={"a": {"$dict": [[[], 1]]}}),
    lambda header, _: header.update(parameters={"a": {"$range": [1, 2, 0]}}),
])  # fmt: skip
def test_a_well_formed_file_with_senseless_content_is_refused(path, change):
    write_sample(path)
    rewrite(path, change)
    with pytest.raises(ModelFileError, match=re.escape(str(path))):
        read_model(path)


def test_truth_values_other_than_0_and_1_are_refused(path):
    write_sample(path, arrays={"flags": np.ones(64, dtype=bool)})
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"\x02")
    with pytest.raises(ModelFileError, match="truth values"):
        read_model(path)


class Tiny:
    """A learner of one array, to see what load does with a class."""

    def __init__(self, seed=0):
        self.seed = seed

    @classmethod
    def _from_model(cls, model):
        learner = cls(**model.parameters)
        learner.counts = model.array("counts", np.float64)
        return learner


@pytest.fixture
def tiny_registered(monkeypatch):
    monkeypatch.setitem(MODELS, "Tiny", __name__)
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("types").SimpleNamespace(Tiny=Tiny))


@pytest.mark.usefixtures("tiny_registered")
def test_load_rebuilds_the_learner_of_that_name(path):
    write_sample(path, learner="Tiny", parameters={"seed": 3}, arrays={"counts": np.array([1.0, 2.0])})
    learner = quercus.load(str(path))
    assert type(learner) is Tiny
    assert learner.seed == 3
    assert learner.counts.tolist() == [1.0, 2.0]


@pytest.mark.usefixtures("tiny_registered")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"learner": "Sequoia"}, "holds a 'Sequoia', and this quercus has only .*Tiny"),
        ({"learner": "tiny"}, "holds a 'tiny'"),
        ({"learner": "Tiny", "parameters": {"sed": 3}}, "cannot rebuild its Tiny.*unexpected keyword"),
        ({"learner": "Tiny", "parameters": {}}, "cannot rebuild its Tiny.*'counts' is missing"),
    ],
)
def test_load_refuses_a_learner_it_cannot_rebuild(path, changes, words):
    write_sample(path, **changes)
    with pytest.raises(ModelFileError, match=words):
        load(path)
