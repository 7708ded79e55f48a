"""The same rows are the same rows, in whatever form they come."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from quercus.checks.contract import Array, check, ensure_same, fresh, has, learn_each, snapshot
from quercus.checks.data import adversarial_stream, columns_of, numeric_stream

Rows = list[dict[str, Any]]


@check("partial_fit")
def check_mixed_input_forms_give_the_same_state(learner: Any) -> None:
    """Dicts, object arrays and every kind of dataframe, with numbers, texts and missing values."""
    stream = adversarial_stream(1000)
    probe = stream.rows[:200]
    expected = snapshot(fresh(learner).partial_fit(stream.rows, stream.labels), probe)
    forms: dict[str, Callable[[Rows], Any]] = {
        "a dict of columns": columns_of,
        "an object array": lambda rows: np.array([list(row.values()) for row in rows], dtype=object),
        "a list of lists": lambda rows: [list(row.values()) for row in rows],
        **_frames(),
    }
    for words, form in forms.items():
        new = fresh(learner).partial_fit(form(stream.rows), stream.labels)
        ensure_same(expected, snapshot(new, form(probe)), f"{words} should give the state of a list of dicts")
    if has(learner, "learn_one"):
        each = learn_each(fresh(learner), *stream)
        ensure_same(expected, snapshot(each, probe), "learn_one should give the state of a list of dicts")


@check("partial_fit")
def check_numeric_input_forms_give_the_same_state(learner: Any) -> None:
    """Arrays of any memory layout and number type, and frames of numbers."""
    X, y = numeric_stream(1000)
    expected = snapshot(fresh(learner).partial_fit(X, y), X[:200])
    forms: dict[str, Callable[[Array], Any]] = {
        "a Fortran-ordered array": np.asfortranarray,
        "a float32 array": lambda part: part.astype(np.float32),
        "a strided array": lambda part: np.repeat(part, 2, axis=0)[::2],
        "a big-endian array": lambda part: part.astype(">f8"),
        "a read-only array": _read_only,
        "a list of lists": lambda part: part.tolist(),
    }
    for words, form in forms.items():
        new = fresh(learner).partial_fit(form(X), y)
        ensure_same(expected, snapshot(new, form(X[:200])), f"{words} should give the state of a plain array")
    for words, frame in _frames().items():
        new = fresh(learner).partial_fit(frame(_as_rows(X)), y)
        ensure_same(expected, snapshot(new, frame(_as_rows(X[:200]))), f"{words} should give the state of an array")


@check("partial_fit")
def check_label_forms_give_the_same_state(learner: Any) -> None:
    """Labels and weights as lists, arrays and series."""
    X, y = numeric_stream(600)
    names = np.array(["no", "yes"])[y]
    expected = snapshot(fresh(learner).partial_fit(X, names.tolist()), X[:200])
    forms: dict[str, Any] = {"an array": names, "an object array": names.astype(object)}
    for module, make in (("pandas", "Series"), ("polars", "Series"), ("pyarrow", "array")):
        if importlib.util.find_spec(module):
            forms[f"a {module} column"] = getattr(importlib.import_module(module), make)(names.tolist())
    for words, labels in forms.items():
        new = fresh(learner).partial_fit(X, labels)
        ensure_same(expected, snapshot(new, X[:200]), f"labels in {words} should give the state of labels in a list")


def _read_only(part: Array) -> Array:
    copy = part.copy()
    copy.flags.writeable = False
    return copy


def _as_rows(X: Array) -> Rows:
    return [{f"x{j}": value for j, value in enumerate(row)} for row in X.tolist()]


def _frames() -> dict[str, Callable[[Rows], Any]]:
    """Return a maker for each kind of dataframe that is installed."""
    makers = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}
    return {f"a {name} table": make for name, make in makers.items() if importlib.util.find_spec(name)}


def _pandas(rows: Rows) -> Any:
    import pandas as pd

    return pd.DataFrame(columns_of(rows))


def _polars(rows: Rows) -> Any:
    import polars as pl

    return pl.DataFrame(columns_of(rows))


def _pyarrow(rows: Rows) -> Any:
    import pyarrow as pa

    return pa.table(columns_of(rows))
