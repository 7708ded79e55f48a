"""`quercus predict`: the answers of a model for the rows of a file."""

from __future__ import annotations

import csv
import io
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from quercus.cli.errors import say
from quercus.cli.features import FeatureFile
from quercus.cli.reading import Reading


def predict_file(model_path: Path, path: Path, reading: Reading, out: Path | None, proba: bool) -> None:
    """Write the answers for a file as CSV, a line per row."""
    from quercus import load
    from quercus.evaluation.errors import located

    if out is not None:
        _check_target(out)
    model = load(model_path)
    file = FeatureFile(path, model.schema_, reading)
    if file.extra:
        say(f"note: left out, because the model does not know them: {', '.join(map(repr, file.extra))}.")
    rows = 0
    with _open_output(out) as output:
        writer = csv.writer(output, lineterminator="\n")
        writer.writerow(["prediction", *([f"p({label})" for label in model.classes_.tolist()] if proba else [])])
        for table in file.tables():
            if not table.num_rows:
                continue
            try:
                writer.writerows(_answers(model, table, proba))
            except ValueError as error:
                raise located(error, rows, rows + table.num_rows, path.name) from error
            rows += table.num_rows
    if out is not None:
        print(f"{rows:,} answers in {out}")


def _answers(model: Any, table: Any, proba: bool) -> Iterator[tuple[Any, ...]]:
    answers = model.predict(table).tolist()
    if not proba:
        return zip(answers, strict=True)
    return zip(answers, *model.predict_proba(table).T.tolist(), strict=True)


def _check_target(out: Path) -> None:
    if out.is_dir():
        raise ValueError(f"'{out}' is a folder; give the name of a file with --out.")
    if not out.parent.is_dir():
        raise ValueError(f"there is no folder '{out.parent}' for '{out.name}'; make it first.")


@contextmanager
def _open_output(out: Path | None) -> Iterator[TextIO]:
    """Give the standard output, or a file that is there in the end if nothing went wrong."""
    if out is None:
        # UTF-8 whatever the terminal says: a label that turns into a question mark would be a wrong answer.
        output = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
        try:
            yield output
            output.flush()
        finally:
            output.detach()
        return
    if out.exists() and not out.is_file():
        with open(out, "w", encoding="utf-8", newline="") as device:
            yield device
        return
    temporary = out.parent / f".quercus-{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "x", encoding="utf-8", newline="") as file:
            yield file
        os.replace(temporary, out)
    finally:
        temporary.unlink(missing_ok=True)
