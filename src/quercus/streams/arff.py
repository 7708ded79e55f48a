"""ARFF files as streams: Weka's and MOA's format, dense rows."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import islice
from typing import IO, Any, NamedTuple

from quercus.streams.files import FileStream, PathLike

_ROWS = 4096
_ATTRIBUTE = re.compile(r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.*)$""", re.I)
# One value and what follows it: in single quotes, in double quotes, or bare up to the next comma.
_VALUE = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|((?:[^,'"%\\]|\\.)*))\s*(,|%.*$|$)""")
# The same in a declaration, where the last value ends with the brace and a percent sign is part of a value.
_DECLARED = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|((?:[^,'"}\\]|\\.)*))\s*([,}])""")
_NEEDS_CARE = re.compile(r"""['"%\\{]""")
_NOT_PLAIN = "'\"%\\{ \t"
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_NUMERIC = ("numeric", "real", "integer")


class Attribute(NamedTuple):
    """A declared column: its name, its kind ("numeric", "integer", "nominal", "string", ...) and its categories."""

    name: str
    kind: str
    values: tuple[str, ...] = ()


class ARFF(FileStream):
    """An ARFF file, read in pieces.

    Attributes may be nominal, numeric, real, integer or string; names and values may be quoted; `?` is missing; `%`
    begins a comment. A nominal value that was not declared is an error. Sparse rows are refused.

    Parameters
    ----------
    path
        The file, plain or compressed (.gz).
    target
        The attribute that holds the labels, as for `read`.
    ignore
        Attributes that are left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weather.arff"
    >>> _ = path.write_text('''% toy
    ... @relation weather
    ... @attribute 'wind speed' real
    ... @attribute outlook {sunny, 'light rain'}
    ... @attribute play {yes, no}
    ... @data
    ... 3.5, sunny, yes
    ... ?, 'light rain', no
    ... ''')
    >>> stream = ARFF(path)
    >>> stream
    ARFF 'weather': number of rows unknown, 2 features (1 nominal), 2 classes, target 'play' (last column)
    >>> X, y = stream.take()
    >>> X.to_pylist()
    [{'wind speed': 3.5, 'outlook': 'sunny'}, {'wind speed': None, 'outlook': 'light rain'}]
    """

    def __init__(self, path: PathLike, target: str | None = None, ignore: Iterable[str] = ()) -> None:
        super().__init__(path)
        ignore = [ignore] if isinstance(ignore, str) else list(ignore)
        with self._open() as file:
            lines = self._lines(file)
            self.attributes = self._header(lines)
            if next(lines, None) is None:
                raise ValueError(f"{self.path}: there are no rows after @data.")
        for attribute in self.attributes:
            if attribute.kind not in {*_NUMERIC, "nominal", "string"} and attribute.name not in ignore:
                raise ValueError(
                    f"{self.path}: attribute {attribute.name!r} is of kind {attribute.kind!r}, which is not read; "
                    f"leave it out with ignore=[{attribute.name!r}]."
                )
        self.choose({a.name: _arrow_type(a) for a in self.attributes}, target, ignore, nominal=())
        declared = {a.name: a.values for a in self.attributes}[self.target]
        self._classes = sorted(declared) or None

    def tables(self) -> Iterator[Any]:
        """Yield the file as pyarrow tables of some thousand rows."""
        with self._open() as file:
            lines = self._lines(file)
            self._header(lines)
            while block := list(islice(lines, _ROWS)):
                table = self._plain_table(block)
                yield self._careful_table(block) if table is None else table

    def _plain_table(self, block: list[tuple[int, str]]) -> Any:
        """Read rows without quotes, comments and spaces as CSV, ten times as fast; None if anything is out of order."""
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import csv

        text = "\n".join(line for _, line in block)
        if any(sign in text for sign in _NOT_PLAIN):
            return None
        kinds = {a.name: pa.string() if a.kind not in _NUMERIC else self._number_type(a) for a in self.attributes}
        try:
            table = csv.read_csv(
                BytesIO(text.encode()),
                csv.ReadOptions(column_names=list(kinds), use_threads=False),
                csv.ParseOptions(quote_char=False),
                csv.ConvertOptions(column_types=kinds, null_values=["?"], strings_can_be_null=True),
            )
        except pa.ArrowInvalid:
            return None
        for j, attribute in enumerate(self.attributes):
            if attribute.kind == "nominal":
                words = pa.array(attribute.values, pa.string())
                codes = pc.index_in(table.column(j), words).combine_chunks()
                if codes.null_count != table.column(j).null_count:
                    return None
                table = table.set_column(j, attribute.name, pa.DictionaryArray.from_arrays(codes, words))
        return table

    def _careful_table(self, block: list[tuple[int, str]]) -> Any:
        """Read rows cell by cell; says where one is wrong."""
        import pyarrow as pa

        columns = zip(*(self._row(number, line) for number, line in block), strict=True)
        wanted = {*self.feature_names, self.target}
        return pa.table(
            {
                attribute.name: self._column(attribute, cells, block)
                for attribute, cells in zip(self.attributes, columns, strict=True)
                if attribute.name in wanted
            }
        )

    def _open(self) -> IO[str]:
        if self.path.name.lower().endswith(".gz"):
            return gzip.open(self.path, "rt", encoding="utf-8-sig")
        return open(self.path, encoding="utf-8-sig")

    def _lines(self, file: IO[str]) -> Iterator[tuple[int, str]]:
        """Yield the lines that are neither empty nor comments, with their numbers."""
        try:
            for number, line in enumerate(file, 1):
                line = line.strip()
                if line and line[0] != "%":
                    yield number, line
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path}: the file is not UTF-8 text ({error}); convert it first.") from None
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{self.path}: not readable: {error}") from None

    def _header(self, lines: Iterator[tuple[int, str]]) -> list[Attribute]:
        """Read up to and including the @data line."""
        attributes: dict[str, Attribute] = {}
        for number, line in lines:
            word = line.split(None, 1)[0].lower()
            if word == "@data":
                if not attributes:
                    raise ValueError(f"{self.path}: there is no @attribute before @data in line {number}.")
                return list(attributes.values())
            if word == "@attribute":
                attribute = self._attribute(number, line)
                if attribute.name in attributes:
                    raise ValueError(f"{self.path}: line {number} declares {attribute.name!r} again; rename one.")
                attributes[attribute.name] = attribute
            elif word != "@relation":
                raise ValueError(f"{self.path}: line {number} is no ARFF header line: {line[:60]!r}.")
        raise ValueError(f"{self.path}: there is no @data line; is it an ARFF file?")

    def _attribute(self, number: int, line: str) -> Attribute:
        found = _ATTRIBUTE.match(line)
        if found is None or not found[2]:
            raise ValueError(f"{self.path}: line {number} is no '@attribute name type': {line[:60]!r}.")
        name = _unquoted(found[1])
        if not found[2].startswith("{"):
            return Attribute(name, found[2].split()[0].split("[")[0].lower())
        values = self._values(number, found[2][1:], _DECLARED)
        return Attribute(name, "nominal", () if values == [""] else tuple(v for v in values if v is not None))

    def _row(self, number: int, line: str) -> list[str | None]:
        if _NEEDS_CARE.search(line) is None:
            cells: list[str | None] = [None if (cell := part.strip()) == "?" else cell for part in line.split(",")]
        elif line[0] == "{":
            raise ValueError(f"{self.path}: line {number} is sparse (it begins with '{{'); only dense ARFF is read.")
        else:
            cells = self._values(number, line)
        if len(cells) != len(self.attributes):
            raise ValueError(
                f"{self.path}: line {number} has {len(cells)} values for {len(self.attributes)} attributes; repair it."
            )
        return cells

    def _values(self, number: int, text: str, pattern: re.Pattern[str] = _VALUE) -> list[str | None]:
        """Split at commas outside quotes; a bare question mark is missing."""
        values: list[str | None] = []
        at = 0
        while True:
            found = pattern.match(text, at)
            if found is None:
                raise ValueError(
                    f"{self.path}: line {number} has a quote or brace that does not close or is misplaced."
                )
            single, double, bare, after = found.groups()
            quoted = single if single is not None else double
            if quoted is not None:
                values.append(_unescaped(quoted))
            else:
                values.append(None if bare.strip() == "?" else _unescaped(bare.strip()))
            if after != ",":
                return values
            at = found.end()

    def _column(self, attribute: Attribute, cells: tuple[str | None, ...], block: list[tuple[int, str]]) -> Any:
        """Return one attribute of a block of rows as an arrow array."""
        import pyarrow as pa

        if attribute.kind == "string":
            return pa.array(cells, pa.string())
        read, what = self._reader(attribute)
        found: list[Any] = []
        try:
            for cell in cells:
                found.append(None if cell is None else read(cell))
        except (KeyError, ValueError):
            bad = len(found)
            raise ValueError(
                f"{self.path}: attribute {attribute.name!r} holds {cells[bad]!r} in line {block[bad][0]}, which is not "
                f"{what}; repair the line or the declaration."
            ) from None
        if attribute.kind == "nominal":
            return pa.DictionaryArray.from_arrays(pa.array(found, pa.int32()), pa.array(attribute.values, pa.string()))
        return pa.array(found, self._number_type(attribute))

    def _reader(self, attribute: Attribute) -> tuple[Callable[[str], Any], str]:
        """Return what turns a cell into a number or a category's code, and how to call a cell that it takes."""
        import pyarrow as pa

        if attribute.kind == "nominal":
            codes = {value: code for code, value in enumerate(attribute.values)}
            return codes.__getitem__, f"one of its values {{{', '.join(attribute.values)}}}"
        whole = self._number_type(attribute) == pa.int64()
        return (int, "a whole number") if whole else (float, "a number")

    def _number_type(self, attribute: Attribute) -> Any:
        import pyarrow as pa

        # Labels that are whole numbers stay so.
        return pa.int64() if attribute.kind == "integer" and attribute.name == self.target else pa.float64()


def _arrow_type(attribute: Attribute) -> Any:
    import pyarrow as pa

    if attribute.kind in _NUMERIC:
        return pa.float64()
    return pa.dictionary(pa.int32(), pa.string()) if attribute.kind == "nominal" else pa.string()


def _unquoted(word: str) -> str:
    return _unescaped(word[1:-1]) if word[0] in "'\"" and word[-1] == word[0] and len(word) > 1 else word


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]), text) if "\\" in text else text
