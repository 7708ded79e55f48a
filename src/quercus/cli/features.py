"""The rows of a file as a model knows them: its columns by name, in its order and of its kinds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quercus.cli.reading import Reading

if TYPE_CHECKING:
    from quercus.schema import Schema


class FeatureFile:
    """A file to be answered, with or without a target column."""

    def __init__(self, path: Path, schema: Schema, reading: Reading) -> None:
        from quercus.streams import read

        self.path = path
        self._kinds = dict(zip(schema.names, schema.kinds, strict=True))
        columns = column_names(path, reading)
        self._check_columns(columns, schema)
        self._names = [name for name in schema.names if name in columns]
        self.extra = [name for name in columns if name not in self._kinds]
        text = [
            name
            for name, kind, categories in zip(schema.names, schema.kinds, schema.categories, strict=True)
            if name in columns and kind == "nominal" and all(isinstance(category, str) for category in categories)
        ]
        # Readers set one column apart as the target: best one that is not needed, and as text it may hold anything.
        self._aside = (self.extra or text or self._names)[0]
        options: dict[str, Any] = reading.csv_options()
        if ".arff" not in path.name.lower():
            options["nominal"] = list({*text, self._aside})
        ignore = [name for name in self.extra if name != self._aside]
        self._stream = read(path, target=self._aside, ignore=ignore, **options)

    def tables(self) -> Iterator[Any]:
        """Yield the rows as pyarrow tables of the columns that the model knows, in its order."""
        import pyarrow as pa

        start = 0
        for table in self._stream.tables():
            columns = [self._as_learned(name, table.column(name), start) for name in self._names]
            yield pa.table(columns, names=self._names)
            start += table.num_rows

    def _check_columns(self, columns: list[str], schema: Schema) -> None:
        lacking = [name for name in schema.names if name not in columns]
        if not lacking or (schema.open and len(lacking) < len(schema.names)):
            return
        from quercus.schema.refusals import listed

        unnamed = (
            "" if schema.named else " The model was taught without names; call the columns x0, x1, ... as it does."
        )
        raise ValueError(
            f"{self.path}: the model needs {listed(lacking)}, which the file does not have; "
            f"its columns are {listed(columns)}.{unnamed}"
        )

    def _as_learned(self, name: str, column: Any, start: int) -> Any:
        """Return a column of text as numbers if the model knows it as such, and any other as it is."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self._kinds[name] != "numeric" or not pa.types.is_string(column.type):
            return column
        small = pc.utf8_lower(column)
        digits = pc.if_else(pc.equal(small, "true"), "1", pc.if_else(pc.equal(small, "false"), "0", column))
        try:
            return digits.cast(pa.float64())
        except pa.ArrowInvalid:
            row, word = next((row, word) for row, word in enumerate(digits.to_pylist()) if not _is_number(word))
            raise ValueError(
                f"{self.path}: column {name!r} must hold numbers, as the model has learned it, but holds {word!r} in "
                f"row {start + row}; repair it, or name it with --missing."
            ) from None


def column_names(path: Path, reading: Reading) -> list[str]:
    """Return the columns of a file without looking at what they hold."""
    from quercus.streams import ARFF, read
    from quercus.streams.files import existing_file

    name = existing_file(path).name.lower()
    if name.endswith(".parquet"):
        stream = read(path)
        return [*stream.feature_names, stream.target]
    if ".arff" in name:
        return [attribute.name for attribute in ARFF(path).attributes]
    if ".csv" not in name and ".tsv" not in name:
        read(path)  # tells what endings there are
    return _header(path, reading.csv_options().get("delimiter") or ("\t" if ".tsv" in name else ","))


def _header(path: Path, delimiter: str) -> list[str]:
    import pyarrow as pa

    try:
        with pa.input_stream(str(path.expanduser()), compression="detect") as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
            return next(csv.reader(text, delimiter=delimiter), [])
    except (OSError, csv.Error, pa.ArrowInvalid) as error:
        raise ValueError(f"{path}: not readable as CSV: {error}.") from None


def _is_number(word: str | None) -> bool:
    try:
        float(word or "nan")
    except ValueError:
        return False
    return True
