"""What a model file holds of a learner, and of a detector, inside of another learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from quercus.classifier import Classifier
from quercus.registry import MODELS, find_learner
from quercus.statistics import detectors
from quercus.statistics.detectors import Detector
from quercus.store import Model, ModelFileError

_DETECTORS = ("ADWIN", "DDM", "PageHinkley")


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


def describe(part: Any) -> Any:
    """Return a learner or detector as plain values, and anything else as it is.

    Parameters
    ----------
    part
        A learner, a detector, or an argument of one.

    Examples
    --------
    >>> from quercus.statistics import PageHinkley
    >>> describe(PageHinkley(threshold=9))["name"]
    'PageHinkley'
    """
    if not isinstance(part, Classifier | Detector):
        return part
    name = type(part).__name__
    if _find(name) is not type(part):
        raise TypeError(f"a model file cannot keep a {name}, which is not one of quercus; pickle can keep it.")
    return {
        "name": name,
        "parameters": {key: describe(value) for key, value in part.get_params(deep=False).items()},
    }


def rebuild(described: Any) -> Any:
    """Return the learner or detector that was described, untrained.

    Parameters
    ----------
    described
        What `describe` returned.

    Examples
    --------
    >>> rebuild({"name": "HoeffdingTree", "parameters": {"tie": 0.5}})
    HoeffdingTree(tie=0.5)
    """
    if described is None:
        return None
    kind = _find(described["name"])
    parameters = dict(described["parameters"])
    if described["name"] == "Renewing":
        parameters = {name: rebuild(value) for name, value in parameters.items()}
    return kind(**parameters)


def _find(name: str) -> Any:
    found = getattr(detectors, name) if name in _DETECTORS else None
    return found if found is not None else find_learner(name) if name in MODELS else None


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
