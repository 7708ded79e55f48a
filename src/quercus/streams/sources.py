"""Opening a named data set: a file of one's own, a set that scikit-learn brings along, one of OpenML."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.streams.base import Stream
from quercus.streams.catalog import KNOWN
from quercus.streams.memory import MemoryStream
from quercus.streams.readers import Parquet


def from_folder(path: Path, key: str) -> Parquet:
    """Open a Parquet file whose labels are in `target` and whose `split` is no feature."""
    from pyarrow import parquet

    columns = parquet.read_schema(path).names
    stream = Parquet(path, target="target", ignore=[name for name in columns if name == "split"])
    stream.ordered = _is_ordered(key)
    stream.find_classes()
    return stream


def bundled(key: str) -> MemoryStream:
    """Open a set that scikit-learn brings along, its classes by name."""
    from sklearn import datasets

    data = getattr(datasets, f"load_{key}")()
    y = data.target if key == "digits" else np.asarray(data.target_names)[data.target].astype(str)
    return MemoryStream(data.data, y, name=key, names=[str(name) for name in data.feature_names])


def from_openml(which: str, name: str) -> Stream:
    """Fetch a set of OpenML: its number, or its name with a version as in electricity@1."""
    title, at, version = which.partition("@")
    if not title or (at and not version.isdigit()):
        raise ValueError(f"{name!r} is no OpenML set; write 'openml:electricity@1' (name, version) or 'openml:151'.")
    if which.isdigit():
        asked: dict[str, Any] = {"data_id": int(which)}
    else:
        asked = {"name": title, "version": int(version) if version else "active"}
    data = _fetch(asked, name)
    if not isinstance(data.data, np.ndarray):
        raise ValueError(f"{name!r} of OpenML is sparse; only dense sets are read.")
    if data.target is None or data.target.ndim != 1:
        raise ValueError(f"{name!r} of OpenML does not have one target column, so it is no stream of labels.")
    if name in KNOWN and data.data.shape != (KNOWN[name].rows, KNOWN[name].features):
        raise ValueError(
            f"number {which} of OpenML is not {name!r} as it is known: {data.data.shape} rows and features instead of "
            f"{(KNOWN[name].rows, KNOWN[name].features)}; load 'openml:{which}' to have it all the same."
        )
    # Nominal labels come as objects that are all str; numbers come as floats.
    y = data.target.astype(str) if data.target.dtype == object else data.target
    X: Any = data.data.astype(np.float64)
    nominal = [column for column in data.feature_names if column in data.categories]
    return MemoryStream(
        _with_categories(X, data.feature_names, data.categories) if nominal else X,
        y,
        name=name,
        names=data.feature_names,
        nominal=nominal,
        ordered=_is_ordered(name),
    )


def _fetch(asked: dict[str, Any], name: str) -> Any:
    from sklearn import datasets

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A network error occurred", category=UserWarning)
            # The parser that needs no pandas, and that keeps categories as they are written.
            return datasets.fetch_openml(**asked, as_frame=False, parser="liac-arff", n_retries=1, delay=0.5)
    except OSError as error:
        own = f", or put {name}.parquet into the folder that QUERCUS_DATA names" if name in KNOWN else ""
        raise ConnectionError(
            f"{name!r} is not in scikit-learn's cache and OpenML cannot be reached ({error}); "
            f"connect to the network{own}."
        ) from None
    except ValueError as error:
        raise ValueError(f"OpenML does not give {name!r}: {error}") from None


def _with_categories(X: NDArray[np.float64], names: list[str], categories: dict[str, list[Any]]) -> Any:
    """Return a table in which the columns that hold numbers of categories hold the categories."""
    import pyarrow as pa

    columns = {name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(names)}
    for name in columns.keys() & categories.keys():
        words = pa.array([str(word) for word in categories[name]], pa.string())
        columns[name] = pa.DictionaryArray.from_arrays(columns[name].cast(pa.int32()), words)
    return pa.table(columns)


def _is_ordered(key: str) -> bool:
    return key in KNOWN and KNOWN[key].ordered
