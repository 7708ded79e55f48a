"""Files as streams: CSV and Parquet here, ARFF in its own module, `read` for any of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from quercus.streams.arff import ARFF
from quercus.streams.files import FileStream, PathLike, distinct, existing_file

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null")

_BLOCK_BYTES = 1 << 20
_BATCH_ROWS = 16_384
_CSV_ENDINGS = (".csv", ".csv.gz", ".csv.bz2", ".tsv", ".tsv.gz", ".tsv.bz2")
_ENDINGS = (*_CSV_ENDINGS, ".parquet", ".arff", ".arff.gz")
_KINDS = {"double": "numbers", "int64": "whole numbers", "bool": "true and false"}
_CONVERSION = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\w+).*: invalid value '(.*)'", re.S
)
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def read(path: PathLike, target: str | None = None, ignore: Iterable[str] = (), **options: Any) -> FileStream:
    r"""Return a file as a stream, by its ending: .csv, .tsv (also .gz and .bz2 of them), .parquet, .arff, .arff.gz.

    Parameters
    ----------
    path
        The file. It is read in pieces and may be larger than memory.
    target
        The column that holds the labels. By default the one named target, class, label or y, or else the last one; the
        stream's `target` and `target_found` say which and why.
    ignore
        Columns that are left out.
    options
        Further arguments of `CSV`, `Parquet` or `ARFF`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "loans.csv"
    >>> _ = path.write_text("age,job,repaid\n41,clerk,yes\n29,,no\n")
    >>> stream = read(path)
    >>> stream
    CSV 'loans': number of rows unknown, 2 features (1 nominal), target 'repaid' (last column)
    >>> X, y = stream.take()
    >>> X.to_pylist(), y
    ([{'age': 41.0, 'job': 'clerk'}, {'age': 29.0, 'job': None}], array(['yes', 'no'], dtype='<U3'))
    """
    found = existing_file(path)
    name = found.name.lower()
    reader: Any
    if name.endswith(_CSV_ENDINGS):
        reader = CSV
    elif name.endswith(".parquet"):
        reader = Parquet
    elif name.endswith((".arff", ".arff.gz")):
        reader = ARFF
    else:
        raise ValueError(
            f"the ending of '{path}' tells no format; known are {', '.join(_ENDINGS)}. "
            "CSV(path), Parquet(path) and ARFF(path) of quercus.streams read a file of any name."
        )
    stream: FileStream = reader(found, target=target, ignore=ignore, **options)
    return stream


def looks_like_path(data: PathLike) -> bool:
    """Return whether data is meant as the path of a file rather than as the name of a data set.

    Examples
    --------
    >>> looks_like_path("rows.csv"), looks_like_path("electricity")
    (True, False)
    """
    if not isinstance(data, str):
        return True
    separators = [os.sep, *([os.altsep] if os.altsep else [])]
    return data.lower().endswith(_ENDINGS) or any(s in data for s in separators) or Path(data).is_file()


class CSV(FileStream):
    r"""A CSV file with a header line, read in pieces.

    The kind of a column is decided by the file's first megabyte and never changes: numbers, true/false (read as 1/0),
    or text, which is nominal. A later cell that does not fit is an error that names the column and the line. Spaces
    around text are cut off. Lines are UTF-8; quotes may hold delimiters and line breaks; empty lines are passed over.

    Parameters
    ----------
    path
        The file, plain or compressed (.gz, .bz2).
    target
        The column that holds the labels, as for `read`.
    ignore
        Columns that are left out.
    nominal
        Columns to be read as text even if they look like numbers.
    missing
        Spellings of a missing value.
    delimiter
        What stands between cells: by default a tab for .tsv, else a comma.
    header
        Whether the first line holds the names; if not, they are f0, f1, ...

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "visits.csv"
    >>> _ = path.write_text("zip;age;class\n01234;41;0\n99999;29;1\n")
    >>> X, y = CSV(path, delimiter=";", nominal=["zip"]).take()
    >>> X.to_pylist(), y
    ([{'zip': '01234', 'age': 41.0}, {'zip': '99999', 'age': 29.0}], array([0, 1]))
    """

    def __init__(
        self,
        path: PathLike,
        target: str | None = None,
        ignore: Iterable[str] = (),
        *,
        nominal: Iterable[str] = (),
        missing: Sequence[str] = MISSING,
        delimiter: str | None = None,
        header: bool = True,
    ) -> None:
        super().__init__(path)
        self.missing = tuple(missing)
        self.delimiter = delimiter or ("\t" if ".tsv" in self.path.name.lower() else ",")
        self.header = header
        as_text = [nominal] if isinstance(nominal, str) else list(nominal)
        self._columns: list[str] = []
        types = self._first_types(as_text)
        self._columns = list(types)
        self.choose(types, target, ignore, as_text)
        self._types = {name: self._reading_type(name, types[name]) for name in [*self.feature_names, self.target]}

    def tables(self) -> Iterator[Any]:
        """Yield the file as pyarrow tables, each of about a megabyte of text."""
        import pyarrow as pa

        for batch in self._batches(self._types, list(self._types)):
            yield pa.table([self._clean(column) for column in batch.columns], names=batch.schema.names)

    def _first_types(self, as_text: list[str]) -> dict[str, Any]:
        """Return the type of every column as the first piece of the file has it."""
        import pyarrow as pa

        first = next(self._batches(dict.fromkeys(as_text, pa.string()), []), None)
        if first is None or first.num_rows == 0:
            raise ValueError(f"{self.path}: the file has a header but no rows.")
        if self.path.suffix not in (".gz", ".bz2"):
            self.about_rows = round(first.num_rows * max(self.path.stat().st_size / _BLOCK_BYTES, 1.0))
        names = distinct(first.schema.names, self.path)
        if self.header and all(_is_number(name) for name in names):
            raise ValueError(f"{self.path}: the first line holds numbers, not names; add a header or say header=False.")
        if len(names) == 1:
            raise ValueError(f"{self.path}: the only column is {names[0]!r}; another delimiter? Say delimiter=';'.")
        return dict(zip(names, first.schema.types, strict=True))

    def _reading_type(self, name: str, first: Any) -> Any:
        """Return the type as which a column is read throughout, given its type in the first piece."""
        import pyarrow as pa

        is_target = name == self.target
        if name in self._text or (is_target and pa.types.is_null(first)):
            return pa.string()
        # A column of whole numbers may go on with fractions, an empty one with numbers.
        if not is_target and (pa.types.is_integer(first) or pa.types.is_null(first)):
            return pa.float64()
        return first

    def _batches(self, types: dict[str, Any], include: list[str]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv

        try:
            reader = csv.open_csv(
                self.path,
                csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False, autogenerate_column_names=not self.header),
                csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                csv.ConvertOptions(
                    column_types=types,
                    include_columns=include,
                    null_values=list(self.missing),
                    strings_can_be_null=True,
                ),
            )
            yield from reader
        except (pa.ArrowInvalid, OSError) as error:
            raise self._explain(str(error)) from None

    def _clean(self, column: Any) -> Any:
        """Cut the spaces off text; what is a missing value without them is missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_string(column.type):
            return column
        text = pc.utf8_trim_whitespace(column)
        return pc.if_else(pc.is_in(text, pa.array(self.missing, pa.string())), None, text)

    def _explain(self, error: str) -> ValueError:
        """Turn a parser's error into one that names the place and the remedy."""
        if found := _CONVERSION.search(error):
            number, line, kind, value = found.groups()
            name = self._columns[int(number)]
            where = f" in line {line}" if line else " later"
            return ValueError(
                f"{self.path}: column {name!r} holds {_KINDS.get(kind, kind)} at first but {value!r}{where}; read it "
                f"as text with nominal=[{name!r}], leave it out with ignore=[{name!r}], or name {value!r} in missing=."
            )
        if found := _RAGGED.search(error):
            line, expected, got = found.groups()
            return ValueError(f"{self.path}: line {line} has {got} cells, the header {expected}; repair that line.")
        if "straddling" in error or ("Empty CSV file" in error and self.path.stat().st_size > _BLOCK_BYTES):
            return ValueError(f"{self.path}: a line is longer than {_BLOCK_BYTES:,} bytes, which is not read.")
        if "Empty CSV file" in error:
            return ValueError(f"{self.path}: the file is empty, or has one line without an end.")
        if "UTF8" in error:
            return ValueError(f"{self.path}: the file is not UTF-8 text ({error}); convert it first.")
        return ValueError(f"{self.path}: not readable as CSV: {error}.")


class Parquet(FileStream):
    """A Parquet file, read in pieces.

    Numbers and bools are numeric; strings and dictionary columns (categories) are nominal. Columns that pandas adds
    for an index are left out.

    Parameters
    ----------
    path
        The file.
    target
        The column that holds the labels, as for `read`.
    ignore
        Columns that are left out.
    nominal
        Columns to be read as text even if they hold numbers.

    Examples
    --------
    >>> import tempfile, pathlib, pyarrow as pa, pyarrow.parquet
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "toy.parquet"
    >>> pa.parquet.write_table(pa.table({"a": [1, 2], "b": [True, None], "y": ["p", "q"]}), path)
    >>> Parquet(path).take()
    (array([[ 1.,  1.],
           [ 2., nan]]), array(['p', 'q'], dtype='<U1'))
    """

    def __init__(
        self,
        path: PathLike,
        target: str | None = None,
        ignore: Iterable[str] = (),
        *,
        nominal: Iterable[str] = (),
    ) -> None:
        super().__init__(path)
        with self._file() as file:
            schema = file.schema_arrow
            self.n_rows = file.metadata.num_rows
        if self.n_rows == 0:
            raise ValueError(f"{self.path}: the file has no rows.")
        types = dict(zip(distinct(schema.names, self.path), schema.types, strict=True))
        self.choose(types, target, ignore, nominal)

    def tables(self) -> Iterator[Any]:
        """Yield the file as pyarrow tables of some thousand rows."""
        yield from self._read([*self.feature_names, self.target])

    def find_classes(self) -> list[Any]:
        """Read the target column, and remember and return its labels.

        Examples
        --------
        >>> import tempfile, pathlib, pyarrow as pa, pyarrow.parquet
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "toy.parquet"
        >>> pa.parquet.write_table(pa.table({"a": [1, 2], "y": ["q", "p"]}), path)
        >>> Parquet(path).find_classes()
        ['p', 'q']
        """
        seen: set[Any] = set()
        start = 0
        for table in self._read([self.target]):
            labels = self._labels(table.column(0), start)
            seen.update(labels.tolist())
            start += len(labels)
        self._classes = sorted(seen)
        return self._classes

    def _read(self, columns: list[str]) -> Iterator[Any]:
        import pyarrow as pa

        with self._file() as file:
            for batch in file.iter_batches(batch_size=_BATCH_ROWS, columns=columns):
                yield pa.Table.from_batches([batch])

    def _file(self) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(self.path)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{self.path}: not readable as Parquet: {error}") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
