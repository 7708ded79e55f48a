"""The model file: written at once, read without running anything in it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from quercus.store.atomic import replace_file
from quercus.store.errors import ModelFileError
from quercus.store.tensors import Array, adapt_records, digest, join_arrays, read_tensor, split_arrays
from quercus.store.values import decode, encode

FORMAT = 1
_PICKLE_STARTS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"ccopy_reg", b"c__", b"(dp", b"(lp", b"(i__")


@dataclass(frozen=True, eq=False)
class Model:
    """What a model file holds.

    Parameters
    ----------
    learner
        Class name of the learner.
    parameters
        Its constructor arguments.
    schema
        Its features and classes, as plain values.
    arrays
        Its state.
    extra
        Whatever else the learner keeps, as plain values.
    created_by
        The quercus that wrote the file.

    Examples
    --------
    >>> Model("HoeffdingTree", {"seed": 1}, {}, {"counts": np.zeros(2)}, {}).array("counts", np.float64)
    array([0., 0.])
    """

    learner: str
    parameters: dict[str, Any]
    schema: dict[str, Any]
    arrays: dict[str, Array]
    extra: dict[str, Any] = field(default_factory=dict)
    created_by: str = ""

    def array(self, name: str, dtype: Any = None) -> Array:
        """Return one array in the type wanted.

        Parameters
        ----------
        name
            Which array.
        dtype
            Refuse another one. Records of an older file get zero in fields that are new since; fields that are not in
            ``dtype`` are refused as those of a newer quercus. None: as it is in the file.

        Examples
        --------
        >>> Model("HoeffdingTree", {}, {}, {}, {}).array("nodes")
        Traceback (most recent call last):
            ...
        quercus.store.errors.ModelFileError: its array 'nodes' is missing.
        """
        if name not in self.arrays:
            raise ModelFileError(f"its array {name!r} is missing.")
        array = self.arrays[name]
        wanted = array.dtype if dtype is None else np.dtype(dtype)
        if array.dtype == wanted:
            return array
        return adapt_records(name, array, wanted)

    def part(self, prefix: str, schema: dict[str, Any]) -> Model:
        """Return what it holds of one of several models: the arrays and sizes whose names begin so.

        Parameters
        ----------
        prefix
            The beginning.
        schema
            Features and classes of that model.

        Examples
        --------
        >>> forest = Model("GrowingForest", {}, {}, {"trees/0/counts": np.zeros(2)}, {"sizes": {"trees/0/class": 2}})
        >>> forest.part("trees/0/", {}).extra
        {'sizes': {'class': 2}}
        """
        sizes = self.extra.get("sizes")
        cut = [
            {name.removeprefix(prefix): value for name, value in members.items() if name.startswith(prefix)}
            for members in (self.arrays, sizes if isinstance(sizes, dict) else {})
        ]
        return replace(self, schema=schema, arrays=cut[0], extra=self.extra | {"sizes": cut[1]})


def write_model(
    path: str | os.PathLike[str],
    *,
    learner: str,
    parameters: Mapping[str, Any],
    schema: Mapping[str, Any],
    arrays: Mapping[str, Array],
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write a model to one safetensors file, replacing an older one at once or not at all.

    Parameters
    ----------
    path
        The file; any name will do, ``.quercus`` is the usual ending.
    learner
        Class name of the learner.
    parameters
        Its constructor arguments: plain values, lists, tuples, sets, dicts, numpy scalars and small arrays.
    schema
        Its features and classes, as such values.
    arrays
        Its state: arrays of booleans, integers or floats, or records of those.
    extra
        Whatever else it keeps, as such values.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/model.quercus"
    ...     write_model(path, learner="HoeffdingTree", parameters={"seed": 7}, schema={}, arrays={"t": np.arange(2)})
    ...     read_model(path).parameters
    {'seed': 7}
    """
    content = pack_model(learner=learner, parameters=parameters, schema=schema, arrays=arrays, extra=extra)
    replace_file(Path(os.fsdecode(path)), content)


def pack_model(
    *,
    learner: str,
    parameters: Mapping[str, Any],
    schema: Mapping[str, Any],
    arrays: Mapping[str, Array],
    extra: Mapping[str, Any] | None = None,
) -> bytes:
    """Return a model as the bytes of its file.

    Parameters
    ----------
    learner, parameters, schema, arrays, extra
        As in `write_model`.

    Examples
    --------
    >>> content = pack_model(learner="HoeffdingTree", parameters={"seed": 7}, schema={}, arrays={"t": np.arange(2)})
    >>> unpack_model(content, "it").parameters
    {'seed': 7}
    """
    from safetensors.numpy import save

    from quercus import __version__

    tensors, layout = split_arrays(arrays)
    header = {
        "quercus": str(FORMAT),
        "created_by": f"quercus {__version__}",
        "learner": learner,
        "parameters": _encode_each(parameters, "parameter"),
        "schema": _encode_each(schema, "schema entry"),
        "extra": _encode_each(extra or {}, "extra entry"),
        "arrays": layout,
    }
    header["sha256"] = digest(_text(header).encode("ascii"), tensors)
    # One metadata key: safetensors writes several in an order that changes from run to run.
    packed: bytes = save(tensors, metadata={"quercus": _text(header)})
    return packed


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read a model file; nothing in it is ever run.

    Parameters
    ----------
    path
        A file that :func:`write_model` or a learner's ``save`` made.

    Examples
    --------
    >>> import pickle, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(pickle.dumps([1, 2])), file.flush()
    ...     read_model(file.name)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    quercus.store.errors.ModelFileError: '...' is a pickle: quercus never loads those, since a pickle can run any code.
    """
    name = Path(os.fsdecode(path))
    return unpack_model(_read_file(name), f"'{name}'")


def unpack_model(content: bytes, name: str) -> Model:
    """Return the model that bytes hold; nothing in them is ever run.

    Parameters
    ----------
    content
        What `pack_model` returned.
    name
        What to call them in messages.

    Examples
    --------
    >>> unpack_model(b"not a model", "it")
    Traceback (most recent call last):
        ...
    quercus.store.errors.ModelFileError: it cannot be loaded: ...
    """
    try:
        header = _read_header(content)
        return _read_content(content, header)
    except ModelFileError as error:
        raise ModelFileError(f"{name} cannot be loaded: {error}") from error.__cause__
    except Exception as error:  # whatever a hostile header makes json, numpy or safetensors say
        raise ModelFileError(f"{name} cannot be loaded: it is damaged ({_brief(error)}).") from error


def load(path: str | os.PathLike[str]) -> Any:
    """Return the learner that was saved in this file, ready to go on where it stopped.

    Parameters
    ----------
    path
        A file that a learner's ``save`` made. It is read as data: loading runs no code from it.

    Examples
    --------
    >>> import tempfile
    >>> from quercus import HoeffdingTree
    >>> tree = HoeffdingTree().partial_fit([[0.0], [1.0], [1.0]], ["no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(f"{folder}/model.quercus")
    ...     load(f"{folder}/model.quercus").predict_one({"x0": 1.0})
    'yes'
    >>> load("no-such-model.quercus")
    Traceback (most recent call last):
        ...
    FileNotFoundError: there is no model file 'no-such-model.quercus'.
    """
    return _rebuild(read_model(path), f"'{os.fsdecode(path)}'")


def load_bytes(content: bytes, name: str = "the model") -> Any:
    """Return the learner whose `to_bytes` these are; loading runs no code from them.

    Parameters
    ----------
    content
        The bytes.
    name
        What to call them in messages.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> load_bytes(HoeffdingTree().partial_fit([[0.0], [1.0]], ["no", "yes"]).to_bytes())
    HoeffdingTree()
    """
    return _rebuild(unpack_model(content, name), name)


def _rebuild(model: Model, name: str) -> Any:
    from quercus.registry import MODELS, find_learner

    if model.learner not in MODELS:
        raise ModelFileError(
            f"{name} cannot be loaded: it holds a {model.learner!r}, and this quercus has only "
            f"{', '.join(MODELS)}; upgrade quercus if the file is newer (it was made by {model.created_by})."
        )
    learner = find_learner(model.learner)
    try:
        return learner._from_model(model)
    except Exception as error:  # a well-formed file whose content makes no sense to the learner
        raise ModelFileError(
            f"{name} cannot be loaded: this quercus cannot rebuild its {model.learner}, made by "
            f"{model.created_by} ({_brief(error)})."
        ) from error


def _encode_each(values: Mapping[str, Any], kind: str) -> dict[str, Any]:
    for key in values:
        if type(key) is not str or key.startswith("$"):
            raise TypeError(f"{kind} {key!r}: names are strings that do not start with '$'.")
    return {key: encode(value, f"{kind} {key!r}") for key, value in values.items()}


def _text(header: Mapping[str, Any]) -> str:
    """ASCII, and the same text again from what was parsed out of it."""
    return json.dumps(header, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _read_file(name: Path) -> bytes:
    if not name.exists():
        raise FileNotFoundError(f"there is no model file '{name}'.")
    mode = name.stat().st_mode
    if stat.S_ISDIR(mode):
        raise ModelFileError(f"'{name}' is a directory, not a model file.")
    if not stat.S_ISREG(mode):
        raise ModelFileError(f"'{name}' is a device or pipe, not a model file.")
    content = name.read_bytes()
    if not content:
        raise ModelFileError(f"'{name}' is empty.")
    if content[8:9] == b"{":
        return content  # as every safetensors file has it; the length before it may look like anything
    if content.startswith(_PICKLE_STARTS):
        raise ModelFileError(f"'{name}' is a pickle: quercus never loads those, since a pickle can run any code.")
    raise ModelFileError(f"'{name}' is not a quercus model file, or its beginning is damaged.")


def _read_header(content: bytes) -> dict[str, Any]:
    length = int.from_bytes(content[:8], "little")
    if length > len(content) - 8:
        raise ModelFileError("it is damaged: its end is missing.")
    metadata = json.loads(content[8 : 8 + length]).get("__metadata__") or {}
    if "quercus" not in metadata:
        raise ModelFileError("it is a safetensors file, but not one that quercus made.")
    header = json.loads(metadata["quercus"])
    version = int(header["quercus"])
    if version > FORMAT:
        raise ModelFileError(f"it is written by format {version}; this quercus reads up to {FORMAT}; upgrade quercus.")
    if version < 1:
        raise ModelFileError("it is damaged: there is no such format.")
    return dict(header)


def _read_content(content: bytes, header: dict[str, Any]) -> Model:
    import safetensors

    deserialize: Callable[[bytes], list[tuple[str, dict[str, Any]]]] = safetensors.deserialize
    stored = deserialize(content)
    tensors = {}
    while stored:  # one at a time, so that no more than one array is held twice
        name, tensor = stored.pop()
        tensors[name] = read_tensor(name, tensor)
    expected = header.pop("sha256")
    if digest(_text(header).encode("ascii"), tensors) != expected:
        raise ModelFileError("it is damaged: its content does not agree with its checksum.")
    if not isinstance(header["learner"], str):
        raise ModelFileError("its learner has no name.")
    values = {part: decode(header[part]) for part in ("parameters", "schema", "extra")}
    for part, value in values.items():
        if not isinstance(value, dict):
            raise ModelFileError(f"its {part} are not a table.")
    return Model(
        header["learner"], arrays=join_arrays(tensors, header["arrays"]), created_by=str(header["created_by"]), **values
    )


def _brief(error: Exception) -> str:
    text = str(error).strip().split("\n")[0][:200].rstrip(".")
    return text if isinstance(error, ModelFileError) else f"{type(error).__name__}: {text}"
