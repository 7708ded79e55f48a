"""Save and load: one safetensors file per model, with a JSON header, that never runs code when it is read.

The header holds the format version, the learner's name, its parameters and its schema; the arrays are the learner's
whole state, the random generator included, so that a loaded learner goes on exactly as the saved one would have.
"""

from __future__ import annotations

from quercus.store.errors import ModelFileError
from quercus.store.files import FORMAT, Model, load, load_bytes, pack_model, read_model, unpack_model, write_model
from quercus.store.states import read_state

__all__ = [
    "FORMAT",
    "Model",
    "ModelFileError",
    "load",
    "load_bytes",
    "pack_model",
    "read_model",
    "read_state",
    "unpack_model",
    "write_model",
]
