"""What readers of files share: which column is the target, which are features, and arrow columns as rows and labels."""

from __future__ import annotations

import difflib
import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quercus.streams.base import Stream
from quercus.streams.batches import Chunk

PathLike: TypeAlias = "str | os.PathLike[str]"

TARGET_NAMES = ("target", "class", "label", "y")
# What pandas adds to a Parquet file for an index: a row number in disguise.
_INDEX_COLUMN = re.compile(r"__index_level_\d+__$")


class FileStream(Stream):
    """A stream read from a file in pieces, so that the file may be larger than memory.

    A subclass calls `choose` with the arrow type of every column and yields arrow tables of those it is asked for.

    Attributes
    ----------
    path
        The file.
    target
        Name of the column that holds the labels.
    target_found
        How it was found: "given", "by name" or "last column".
    """

    def __init__(self, path: PathLike) -> None:
        self.path = existing_file(path)
        self.name = re.sub(r"\.\w+(\.gz|\.bz2)?$", "", self.path.name)
        self._classes: list[Any] | None = None

    @abstractmethod
    def tables(self) -> Iterator[Any]:
        """Yield pyarrow tables that hold the features and the target, from the start."""

    @property
    def classes(self) -> list[Any] | None:
        """The sorted labels if the file declares them, else None."""
        return self._classes

    def choose(
        self, types: Mapping[str, Any], target: str | None, ignore: Iterable[str], nominal: Iterable[str]
    ) -> None:
        """Decide which columns are read, and as what; `types` are the arrow types of all of them."""
        skipped = set(check_columns("ignore", ignore, types, self.path))
        kept = [name for name in types if name not in skipped and not _INDEX_COLUMN.match(name)]
        self.target, self.target_found = find_target(kept, target, types, self.path)
        as_text = set(check_columns("nominal", nominal, types, self.path))
        self.feature_names = [name for name in kept if name != self.target]
        if not self.feature_names:
            raise ValueError(
                f"{self.path}: there is no feature beside the target {self.target!r}; columns: {list(types)}."
            )
        for name in [*self.feature_names, self.target]:
            if name not in as_text:
                _refuse_odd(types[name], name, self.path)
        self._text = as_text
        self._as_text = {name for name in as_text if not is_text(types[name])}
        self.nominal = tuple(n for n in self.feature_names if n in as_text or is_text(types[n]))

    def blocks(self) -> Iterator[Chunk]:
        """Yield the rows of the file as float64 arrays if all features are numbers, else as pyarrow tables."""
        start = 0
        for table in self.tables():
            y = self._labels(table.column(self.target), start)
            features = table.select(self.feature_names)
            yield (self._table(features) if self.nominal else matrix(features)), y
            start += len(y)

    def _table(self, features: Any) -> Any:
        import pyarrow as pa

        columns = [_plain(features.column(n), n in self._as_text) for n in self.feature_names]
        return pa.table(columns, names=self.feature_names)

    def _labels(self, column: Any, start: int) -> NDArray[Any]:
        labels, missing = label_array(column, as_text=self.target in self._as_text)
        if missing is not None:
            raise ValueError(
                f"{self.path}: target column {self.target!r} is missing in row {start + missing} of the data; "
                "take rows without a label out of the file."
            )
        return labels

    def _facts(self) -> list[str]:
        how = "" if self.target_found == "given" else f" ({self.target_found})"
        return [*super()._facts(), f"target {self.target!r}{how}"]


def existing_file(path: PathLike) -> Path:
    """Return the path if a file is there, else say what is wrong with it."""
    found = Path(path).expanduser()
    if found.is_dir():
        raise ValueError(f"'{path}' is a folder; give the path of one file in it.")
    if not found.exists():
        where = "" if found.is_absolute() else f" in {Path.cwd()}"
        raise FileNotFoundError(f"there is no file '{path}'{where}.")
    return found


def distinct(names: list[str], path: Path) -> list[str]:
    """Return column names after checking that none comes twice."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"{path}: more than one column is named {', '.join(map(repr, twice))}; rename them.")
    return names


def check_columns(argument: str, names: Iterable[str], columns: Iterable[str], path: Path) -> list[str]:
    """Return names as a list after checking that each is a column."""
    chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        if name not in columns:
            raise ValueError(f"{path}: {argument} names {name!r}, which is no column; {_among(name, columns)}")
    return chosen


def find_target(kept: Sequence[str], target: str | None, columns: Iterable[str], path: Path) -> tuple[str, str]:
    """Return the target column and how it was found."""
    if target is not None:
        if target not in kept:
            ignored = "is ignored" if target in columns else "is no column"
            raise ValueError(f"{path}: target {target!r} {ignored}; {_among(target, columns)}")
        return target, "given"
    if not kept:
        raise ValueError(f"{path}: every column is ignored.")
    for wanted in TARGET_NAMES:
        for name in kept:
            if name.lower() == wanted:
                return name, "by name"
    return kept[-1], "last column"


def matrix(features: Any) -> NDArray[np.float64]:
    """Return an arrow table of numbers and bools as a C-order float64 array; missing is NaN."""
    out = np.empty((features.num_rows, features.num_columns))
    for j, column in enumerate(features.columns):
        out[:, j] = _plain(column, as_text=False).to_numpy()
    return out


def label_array(column: Any, as_text: bool) -> tuple[NDArray[Any], int | None]:
    """Return labels as int64, float64, bool or str, and the first row that has none (or None)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
        missing = pc.is_null(column, nan_is_null=True)
    else:
        missing = pc.is_null(column)
    first = pc.index(missing, True).as_py()
    if first >= 0:
        return np.empty(0), first
    if as_text:
        column, kind = column.cast(pa.string()), pa.string()
    if pa.types.is_integer(kind):
        return column.to_numpy().astype(np.int64), None
    if pa.types.is_dictionary(kind) or is_text(kind):
        coded = column.combine_chunks() if pa.types.is_dictionary(kind) else column.combine_chunks().dictionary_encode()
        if isinstance(coded, pa.ChunkedArray):
            coded = pa.concat_arrays(coded.chunks)
        return np.array(coded.dictionary.to_pylist())[coded.indices.to_numpy(zero_copy_only=False)], None
    return column.to_numpy(), None


def _plain(column: Any, as_text: bool) -> Any:
    """Return a column as a number, a string or an int32-coded category."""
    import pyarrow as pa

    kind = column.type
    if as_text:
        return column.cast(pa.string())
    if pa.types.is_dictionary(kind):
        # Wide codes, so that chunks with other categories can be put under each other.
        return column.cast(pa.dictionary(pa.int32(), kind.value_type))
    if pa.types.is_boolean(kind):
        return column.cast(pa.uint8())
    if pa.types.is_null(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    return column.cast(pa.string()) if pa.types.is_string_view(kind) else column


def is_text(kind: Any) -> bool:
    """Return whether an arrow type holds text or categories."""
    import pyarrow as pa

    text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return bool(text or pa.types.is_dictionary(kind))


def _refuse_odd(kind: Any, name: str, path: Path) -> None:
    import pyarrow as pa

    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    if number or pa.types.is_boolean(kind) or pa.types.is_null(kind) or is_text(kind):
        return
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        what = "bytes that are not UTF-8 text; convert the file to UTF-8"
    else:
        what = f"values of type {kind}; turn them into numbers, or read them as categories with nominal=[{name!r}]"
    raise ValueError(f"{path}: column {name!r} holds {what}, or leave it out with ignore=[{name!r}].")


def _among(name: str, columns: Iterable[str]) -> str:
    names = list(columns)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"the columns are {', '.join(map(repr, names))}.{hint}"
