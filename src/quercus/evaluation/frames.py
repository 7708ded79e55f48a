"""Runs as data frames and as plain values."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.evaluation.curves import COLUMNS

if TYPE_CHECKING:
    from quercus.evaluation.run import PathLike, Run
    from quercus.ledger.accuracy import Estimate

FORMAT = 4
_READABLE = (1, 2, 3, 4)
_MAYBE_NAN = (
    *("accuracy", "balanced_accuracy", "kappa", "majority_accuracy", "previous_accuracy", "kappa_temporal"),
    *("f1_smallest", "log_loss", "brier", "average_precision", "auc", "ece", "lift"),
)


def make_frame(columns: Mapping[str, Any], backend: str) -> Any:
    """Return columns as a frame of pandas, polars or pyarrow."""
    if backend not in ("pandas", "polars", "pyarrow"):
        raise ValueError(f"backend is {backend!r}; choose 'pandas', 'polars' or 'pyarrow'.")
    import narwhals as nw

    try:
        return nw.from_dict(dict(columns), backend=importlib.import_module(backend)).to_native()
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{backend} is not installed; pip install {backend}, or choose another backend."
        ) from error


def run_to_dict(run: Run) -> dict[str, Any]:
    """Return a run as plain values; tables with labels as keys become lists, which keep the labels' types."""
    from quercus import __version__

    state = {f.name: getattr(run, f.name) for f in dataclasses.fields(run) if f.name not in ("learner", "ledger")}
    state["f1"], state["fair_recall"] = list(run.f1.items()), list(run.fair_recall.items())
    state["loss"] = [[true, answer, cost] for true, row in run.loss.items() for answer, cost in row.items()]
    state["roc"] = [[label, curve["fpr"], curve["tpr"], curve["auc"]] for label, curve in run.roc.items()]
    return {"format": FORMAT, "quercus": __version__, **{name: _plain(value) for name, value in state.items()}}


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what is no finite number becomes None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def run_from_dict(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a run from what `run_to_dict` made."""
    if state.get("format") not in _READABLE:
        raise ValueError(f"this run has format {state.get('format')!r}; this version of quercus reads {FORMAT}.")
    fields = {name: value for name, value in state.items() if name not in ("format", "quercus")}
    count = len(state["classes"])
    fields["confusion"] = np.array(state["confusion"], np.int64).reshape(count, count + 1)
    fields["f1"] = dict(state["f1"])
    fields["loss"] = {}
    for true, answer, cost in state["loss"]:
        fields["loss"].setdefault(true, {})[answer] = cost
    fields["roc"] = {
        label: {"fpr": np.array(false), "tpr": np.array(true), "auc": area}
        for label, false, true, area in state.get("roc", ())
    }
    for name in ("curve", "windows", "calibration"):
        fields[name] = {
            column: np.array(values, np.int64 if column == "rows" else np.float64)
            for column, values in state.get(name, {}).items()
        }
    # The first format knew no labels that were asked for, the second no features that were bought, the third no AUC.
    unknown = np.full(len(fields["curve"]["rows"]), math.nan)
    fields["curve"] = {name: fields["curve"].get(name, unknown) for name in COLUMNS}
    for name in _MAYBE_NAN:
        fields[name] = math.nan if state.get(name) is None else state[name]
    for name in ("fair", "fair_loss"):
        fields[name] = None if state.get(name) is None else _read_estimate(state[name])
    fields["fair_recall"] = {label: _read_estimate(figure) for label, figure in state.get("fair_recall", ())}
    return fields


def _read_estimate(state: Mapping[str, Any]) -> Estimate:
    from quercus.ledger.accuracy import Estimate

    values: dict[str, Any] = {name: math.nan if value is None else value for name, value in state.items()}
    return Estimate(**values)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn rows with the same keys into columns."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def write_text(path: PathLike, text: str) -> None:
    """Write a file at once or not at all."""
    from quercus.store.atomic import replace_file

    replace_file(Path(path), text.encode("utf-8"))
