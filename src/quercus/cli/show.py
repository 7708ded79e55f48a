"""`quercus show`: the tree of a model file and the facts about it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_MOST = 12
_MOST_IMPORTANT = 6


def show_model(path: Path, form: str, depth: int | None) -> None:
    """Print a model."""
    from quercus import explain, load

    model = load(path)
    view = model.view()
    limits = {} if depth is None else {"max_depth": depth, "max_nodes": None}
    if form == "dot":
        print(explain.to_dot(view, max_depth=depth))
    elif form == "mermaid":
        print(explain.to_mermaid(view, max_depth=depth))
    elif form == "html":
        print(explain.to_html(view, page=True, **limits))
    else:
        print(f"{facts(model, path)}\n\n{explain.to_text(view, **limits)}")


def facts(model: Any, path: Path) -> str:
    """Return what there is to know about a model beside its tree, a line each."""
    from quercus.evaluation.words import show_bytes
    from quercus.explain.words import plural
    from quercus.store import read_model

    schema = model.schema_
    nominal = sum(kind == "nominal" for kind in schema.kinds)
    kinds = f" ({nominal} nominal)" if nominal else ""
    lines = [
        ("learner", " ".join(repr(model).split())),
        ("made by", read_model(path).created_by),
        ("rows", f"{model.view().rows:,} learned"),
        ("leaves", f"{model.n_leaves_:,}, depth {model.depth_}"),
        ("bytes", f"{show_bytes(model.nbytes)} in memory, {show_bytes(os.path.getsize(path))} in the file"),
        ("classes", f"{len(model.classes_):,}: {_some([repr(label) for label in model.classes_.tolist()])}"),
        ("features", f"{plural(len(schema.names), 'feature')}{kinds}: {_some(schema.names)}"),
    ]
    if model.n_leaves_ > 1:
        lines.append(("uses most", _importances(model, schema.names)))
    return "\n".join(f"{name:10} {value}" for name, value in lines)


def _importances(model: Any, names: Sequence[str]) -> str:
    shares = model.feature_importances_.tolist()
    order = sorted((j for j in range(len(shares)) if shares[j] > 0), key=lambda j: -shares[j])
    return ", ".join(f"{names[j]} {shares[j]:.0%}" for j in order[:_MOST_IMPORTANT])


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
