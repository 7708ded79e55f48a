"""What a model file holds of the learners inside of another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.classifier import Classifier
from quercus.registry import describe
from quercus.store import Model, ModelFileError


def load_learner(params: Any, model: Model, part: str) -> Classifier:
    """Return a learner out of the file of the one that it is a part of.

    Parameters
    ----------
    params
        That one.
    model
        What the file holds.
    part
        What it is called there.
    """
    prefix, extra, prototype = f"{part}.", model.extra.get(part), params._prototype()
    arrays = {name.removeprefix(prefix): a for name, a in model.arrays.items() if name.startswith(prefix)}
    if not isinstance(extra, dict):
        raise ModelFileError(f"it lacks the {part} learner.")
    described = describe(prototype)
    learner: Classifier = type(prototype)._from_model(
        Model(described["name"], described["parameters"], model.schema, arrays, extra, model.created_by)
    )
    learner.schema_ = params.schema_
    return learner


def read_numbers(model: Model, name: str, length: int) -> list[int]:
    """Return an array as whole numbers of at least 0.

    Parameters
    ----------
    model
        What a file holds.
    name, length
        Of the array.
    """
    array = model.array(name, np.int64)
    if array.shape != (length,) or (array < 0).any():
        raise ModelFileError(f"its array {name!r} is damaged.")
    return [int(number) for number in array]
