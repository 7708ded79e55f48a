"""One declaration of what a learner remembers: memory, growth, files, checks and what kernels take follow from it."""

from quercus.state.bundle import Bundle
from quercus.state.fields import Field, Index, Real, Whole
from quercus.state.state import State, StateError
from quercus.state.struct import Part, Struct

__all__ = ["Bundle", "Field", "Index", "Part", "Real", "State", "StateError", "Struct", "Whole"]
