"""The stream that a user has named, be it a data set, a generator or a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quercus.cli.reading import Reading
from quercus.cli.signals import Stopper
from quercus.streams.base import Stream

if TYPE_CHECKING:
    from quercus.streams.batches import Chunk

ENDLESS_ROWS = 100_000


def open_stream(source: str, reading: Reading, seed: int | None = None) -> Stream:
    """Return the stream of a name or path."""
    from quercus.streams import load
    from quercus.streams.readers import looks_like_path

    if looks_like_path(source):
        return _open_file(source, reading)
    stream = load(source)
    if reading.given():
        verb = "is" if len(reading.given()) == 1 else "are"
        raise ValueError(f"{', '.join(reading.given())} {verb} for files, and {source!r} is the name of a stream.")
    with_seed = getattr(stream, "with_seed", None)
    if seed is not None and with_seed is not None:
        stream = with_seed(seed)
    return stream


def rows_to_read(stream: Stream, rows: int | None) -> int | None:
    """Return how many rows to read: all, but of an endless stream some unless told."""
    return ENDLESS_ROWS if rows is None and stream.endless else rows


class RunRows(Stream):
    """A stream as `quercus run` hands it to a learner: stopped between chunks."""

    def __init__(self, stream: Stream, stopper: Stopper, patient: bool) -> None:
        self._stream = stream
        self._stopper = stopper
        self._patient = patient
        self.name = stream.name
        self.n_rows = stream.n_rows
        self.about_rows = stream.about_rows
        self.endless = stream.endless
        self.feature_names = stream.feature_names
        self.nominal = stream.nominal
        self.ordered = stream.ordered
        self.bayes_rate = stream.bayes_rate

    @property
    def classes(self) -> list[Any] | None:
        """The sorted labels if they are known beforehand, else None."""
        return self._stream.classes

    def blocks(self) -> Iterator[Chunk]:
        """Yield the blocks of the stream as they are."""
        return self._stream.blocks()

    def chunks(self, size: int = 8192, rows: int | None = None) -> Iterator[Chunk]:
        """Yield (X, y) from the start until told to stop."""
        from quercus.streams.batches import cut

        for X, y in self._stopper.steps(self._stream.chunks(size, rows)):
            done = 0
            if self._stopper.patient != self._patient:
                done = 1
                yield cut(X, 0, done), y[:done]
                self._stopper.patient = self._patient
            if done < len(y):
                yield cut(X, done, len(y)), y[done:]


def _open_file(source: str, reading: Reading) -> Stream:
    from quercus.streams import read

    name = source.lower()
    options = reading.csv_options()
    if options and ".csv" not in name and ".tsv" not in name:
        raise ValueError(f"--missing and --delimiter are for CSV files, and '{source}' is none.")
    if reading.nominal:
        if ".arff" in name:
            raise ValueError("--nominal is not for ARFF files, which declare what is nominal.")
        options["nominal"] = list(reading.nominal)
    return read(source, target=reading.target, ignore=reading.ignore, **options)
