"""What a learner tells about itself: leaves, bytes, parameters, features."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from quercus.streams import Stream


def leaves_of(learner: Any) -> int | None:
    """Return the number of leaves of a tree of ours or of river, None for anything else."""
    for attribute in ("n_leaves_", "n_leaves"):
        value: Any = getattr(learner, attribute, None)
        if hasattr(value, "__index__"):
            return int(value)
    return None


def bytes_of(learner: Any) -> int | None:
    """Return the memory of the model if it knows it."""
    value: Any = getattr(learner, "nbytes", None)
    return int(value) if hasattr(value, "__index__") else None


def parameters_of(learner: Any) -> dict[str, str]:
    """Return the constructor arguments as they would be written."""
    if hasattr(learner, "get_params"):
        values = learner.get_params(deep=False)
    else:
        names = inspect.signature(type(learner)).parameters
        values = {name: getattr(learner, name) for name in names if hasattr(learner, name)}
    return {name: repr(value) for name, value in values.items()}


def features_of(learner: Any, stream: Stream) -> list[dict[str, Any]]:
    """Return name and kind of each feature, and how many categories a nominal one has shown, if that is known."""
    schema = getattr(learner, "schema_", None)
    if schema is None:
        kinds = ["nominal" if name in stream.nominal else "numeric" for name in stream.feature_names]
        return [_feature(name, kind, None) for name, kind in zip(stream.feature_names, kinds, strict=True)]
    state = schema.to_dict()
    # Arrays have no names, but the stream that they come from may.
    unnamed = not state["named"] and len(state["names"]) == len(stream.feature_names)
    names = stream.feature_names if unnamed else state["names"]
    return [
        _feature(name, kind or "not seen yet", len(values) if kind == "nominal" else None)
        for name, kind, values in zip(names, state["kinds"], state["categories"], strict=True)
    ]


def _feature(name: str, kind: str, categories: int | None) -> dict[str, Any]:
    return {"name": name, "kind": kind, "categories": categories}


def check_probabilities(learner: Any) -> None:
    """Refuse a learner that no policy can judge."""
    if not (hasattr(learner, "predict_proba_one") or hasattr(learner, "predict_proba")):
        raise TypeError(
            f"{type(learner).__name__} gives no probabilities, which a policy needs; it has neither predict_proba_one "
            "(river) nor predict_proba (scikit-learn)."
        )


def classes_of(learner: Any, stream: Stream) -> list[Any] | None:
    """Return the classes that a learner knows or has to know beforehand, None if there are none."""
    schema = getattr(learner, "schema_", None)
    if schema is not None:
        return list(schema.labels)
    if hasattr(learner, "learn_one"):
        return None
    if hasattr(learner, "classes_"):
        known: list[Any] = np.asarray(learner.classes_).tolist()
        return known
    if stream.classes is None:
        raise ValueError(
            f"{type(learner).__name__} must know all classes before it learns, and stream {stream.name!r} does not; "
            "let the learner partial_fit(X, y, classes=...) some rows before."
        )
    return list(stream.classes)
