"""`quercus run`: a learner goes through a stream, and everything about it is written down."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from quercus.cli.asking import AskOptions
from quercus.cli.data import RunRows, open_stream, rows_to_read
from quercus.cli.errors import say
from quercus.cli.reading import Reading
from quercus.cli.settings import adopt_labels, make_learner
from quercus.cli.signals import Stopper, undisturbed

if TYPE_CHECKING:
    from quercus.evaluation import Run
    from quercus.streams import Stream

REPORT, MODEL, FIGURES, CURVE = "report.html", "model.quercus", "run.json", "curve.csv"
LEDGER = "ledger.parquet"
_SHOWN_NODES = 31


def run_stream(
    source: str,
    reading: Reading,
    learner: str,
    settings: Sequence[str],
    seed: int | None,
    rows: int | None,
    out: Path,
    asking: AskOptions = AskOptions(),  # noqa: B008 - it cannot be changed
    force: bool = False,
) -> None:
    """Evaluate a learner on a stream, write what came of it to a folder and print it."""
    out = free_folder(out, (REPORT, MODEL, FIGURES, CURVE, LEDGER), force)
    options = asking.read(seed)
    stream = open_stream(source, reading, seed)
    model = make_learner(learner, settings, seed)
    loss = adopt_labels(model, stream)
    out.mkdir(parents=True, exist_ok=True)
    print(f"{stream}\n", flush=True)
    run, status = _evaluate(stream, model, rows_to_read(stream, rows), loss, options)
    with undisturbed():
        places = write_results(run, out)
    print(run.table())
    if hasattr(model, "to_text"):
        print(f"\n{model.to_text(max_nodes=_SHOWN_NODES)}")
    elif hasattr(model, "buy_and_learn"):
        print(f"\n{model.tree().to_text(max_nodes=_SHOWN_NODES)}")
    print()
    for what, place in places:
        print(f"{what:7} {place}")
    if status:
        raise typer.Exit(status)


def free_folder(out: Path, names: Sequence[str], force: bool = False) -> Path:
    """Return a folder that holds no results yet; refuse, before any work is done, one that cannot be written to."""
    found, number = out, 1
    while not force and any((found / name).is_file() for name in names):
        number += 1
        found = out.with_name(f"{out.name}-{number}")
    _check_folder(found, names)
    if found != out:
        say(f"'{out}' holds results; these go into '{found}' (--force writes over the others).")
    return found


def _check_folder(out: Path, names: Sequence[str]) -> None:
    for place in (out, *out.parents):
        if place.is_dir():
            if not os.access(place, os.W_OK | os.X_OK):
                raise ValueError(f"'{place}' cannot be written to; name another folder with --out.")
            break
        if place.exists():
            raise ValueError(f"'{place}' is a file, but results go into a folder; name another with --out.")
    for name in names:
        if (out / name).is_dir():
            raise ValueError(f"'{out / name}' is a folder, but a file is to be written there; name another with --out.")


def write_results(run: Run, out: Path) -> list[tuple[str, Path | str]]:
    """Write the files of a run; return what each is and where."""
    places: list[tuple[str, Path | str]] = [("report", out / REPORT)]
    try:
        run.report(out / REPORT)
    except ModuleNotFoundError as error:
        places = [("report", f"none: {error}")]
    run.to_json(out / FIGURES)
    write_csv(out / CURVE, run.curve, zip(*(column.tolist() for column in run.curve.values()), strict=True))
    if hasattr(run.learner, "save"):
        run.learner.save(out / MODEL)
        places.append(("model", out / MODEL))
    else:
        places.append(("model", f"none, because quercus cannot save a {run.learner_name}"))
    places += [("figures", out / FIGURES), ("curve", out / CURVE)]
    if run.ledger is not None:
        run.ledger.write(out / LEDGER)
        places.append(("ledger", out / LEDGER))
    return places


def _evaluate(stream: Stream, model: Any, rows: int | None, loss: Any, options: dict[str, Any]) -> tuple[Run, int]:
    """Return the run and the exit status: that of the signal if one stopped it, else 0."""
    from quercus.evaluation import Interrupted, evaluate

    with Stopper() as stopper:
        # Others are slow, and nothing of them is kept but the figures.
        ours = hasattr(model, "test_then_learn")
        try:
            return evaluate(RunRows(stream, stopper, patient=ours), model, rows=rows, loss=loss, **options), 0
        except Interrupted as stop:
            if not stop.run.rows:
                say("stopped before anything was learned; nothing was written.")
                raise typer.Exit(stopper.status) from None
            say(f"stopped after {stop.run.rows:,} rows; what was learned so far is kept.")
            return stop.run, stopper.status


def write_csv(path: Path, names: Iterable[str], lines: Iterable[Iterable[Any]]) -> None:
    """Write a table at once or not at all; an empty cell is what every reader of CSV takes for missing."""
    from quercus.store.atomic import replace_file

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value != value else value for value in line] for line in lines)
    replace_file(path, text.getvalue().encode())
