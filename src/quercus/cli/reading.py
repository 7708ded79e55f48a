"""How a file is to be read, as the command line says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reading:
    """How a file is to be read: the options of the command line that only files have."""

    target: str | None = None
    ignore: Sequence[str] = ()
    nominal: Sequence[str] = ()
    missing: Sequence[str] = ()
    delimiter: str | None = None

    def given(self) -> list[str]:
        """Return the options that were given."""
        return [f"--{name}" for name, value in vars(self).items() if value]

    def csv_options(self) -> dict[str, Any]:
        """Return what only the reader of CSV files takes."""
        from quercus.streams.readers import MISSING

        options: dict[str, Any] = {"missing": (*MISSING, *self.missing)} if self.missing else {}
        if self.delimiter:
            options["delimiter"] = "\t" if self.delimiter == "\\t" else self.delimiter
        return options
