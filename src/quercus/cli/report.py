"""`quercus report`: the report of a run that was made before, beside others if there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quercus.evaluation import Run

FIGURES = "run.json"


def write_report(places: Sequence[Path], out: Path | None, force: bool) -> None:
    """Write one report of several runs and say where it is."""
    runs = [read_run(place) for place in places]
    place = (_figures(places[0]).parent / "report.html") if out is None else out
    if place.exists() and out is not None and not force:
        raise ValueError(f"'{place}' is there already; name another with --out, or write over it with --force.")
    runs[0].report(place, others=runs[1:])
    print(f"report {place}")


def read_run(place: Path) -> Run:
    """Return the run whose figures are in a folder or file."""
    from quercus.evaluation import Run

    path = _figures(place)
    if not path.is_file():
        raise ValueError(
            f"there are no figures of a run in '{place}'; give a folder that 'quercus run' wrote, or its run.json."
        )
    try:
        return Run.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"'{path}' does not hold the figures of a run ({error}); run it again.") from error


def _figures(place: Path) -> Path:
    return place / FIGURES if place.is_dir() or place.suffix != ".json" else place
