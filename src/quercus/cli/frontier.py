"""`quercus frontier`: what accuracy costs in labels, policy by policy, or in features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from quercus.cli.asking import make_policy, parse_budget, parse_delay, split_policies
from quercus.cli.data import open_stream, rows_to_read
from quercus.cli.errors import say
from quercus.cli.reading import Reading
from quercus.cli.run import free_folder
from quercus.cli.settings import adopt_labels, make_learner
from quercus.cli.signals import Stopper, undisturbed

if TYPE_CHECKING:
    from quercus.evaluation import FeatureFrontier, Frontier
    from quercus.streams import Stream

PICTURE, TABLE = "frontier.png", "frontier.csv"


class Measuring(NamedTuple):
    """How often something is measured, on how many rows, in which order, and where the results go."""

    seeds: int
    shuffle: bool
    rows: int | None
    out: Path
    force: bool

    def begin(self) -> Measuring:
        """Find a folder that holds no results, unless they may be written over."""
        return self._replace(out=free_folder(self.out, (PICTURE, TABLE), self.force))


def show_frontier(
    source: str,
    reading: Reading,
    learner: str,
    settings: Sequence[str],
    policies: Sequence[str],
    budgets: str | None,
    delay: str | None,
    how: Measuring,
) -> None:
    """Run every policy at every budget, print the table and write it, with a picture, to a folder."""
    from quercus.evaluation import frontier

    how = how.begin()
    options: dict[str, Any] = {"delay": parse_delay(delay)}
    if policies:
        options["policies"] = _read_policies(policies)
    if budgets is not None:
        options["budgets"] = [parse_budget(text.strip()) for text in budgets.split(",") if text.strip()]
    stream = open_stream(source, reading)
    model = make_learner(learner, settings)
    options["loss"] = adopt_labels(model, stream)
    measure_and_show(frontier, stream, model, how, options)


def measure_and_show(
    measure: Callable[..., Frontier | FeatureFrontier],
    stream: Stream,
    model: Any,
    how: Measuring,
    options: dict[str, Any],
) -> None:
    """Measure, print the table and write it, with a picture, to a folder."""
    print(f"{stream}\n", flush=True)
    found, status = _measure(measure, stream, model, how, options)
    print(found.table())
    out = how.out
    out.mkdir(parents=True, exist_ok=True)
    with undisturbed():
        places = write_frontier(found, out)
    print()
    for what, place in places:
        print(f"{what:7} {place}")
    if status:
        raise typer.Exit(status)


def write_frontier(found: Frontier | FeatureFrontier, out: Path) -> list[tuple[str, Path | str]]:
    """Write the table and, if Altair is there, the picture; return what each is and where."""
    from quercus.store.atomic import replace_file

    points = found.points()
    cells = [["" if value is None or value != value else str(value) for value in point.values()] for point in points]
    replace_file(out / TABLE, "\n".join([",".join(points[0]), *map(_as_line, cells), ""]).encode())
    places: list[tuple[str, Path | str]] = [("table", out / TABLE)]
    try:
        found.plot(out / PICTURE)
    except ModuleNotFoundError as error:
        return [*places, ("picture", f"none: {error}")]
    return [*places, ("picture", out / PICTURE)]


def _as_line(cells: Sequence[str]) -> str:
    return ",".join(f'"{cell}"' if "," in cell else cell for cell in cells)


def _read_policies(texts: Sequence[str]) -> dict[str, Any]:
    listed = split_policies(texts)
    twice = next((text for text in listed if listed.count(text) > 1), None)
    if twice is not None:
        raise ValueError(f"policy {twice!r} is there twice; a policy is compared with others, or with other settings.")
    return {text: make_policy(text) for text in listed}


def _measure(
    measure: Callable[..., Frontier | FeatureFrontier],
    stream: Stream,
    model: Any,
    how: Measuring,
    options: dict[str, Any],
) -> tuple[Frontier | FeatureFrontier, int]:
    """Return what was found and the exit status: that of the signal if one stopped it, else 0."""
    from quercus.evaluation import Interrupted

    with Stopper() as stopper:
        try:
            rows = rows_to_read(stream, how.rows)
            return measure(stream, model, seeds=range(how.seeds), shuffle=how.shuffle, rows=rows, **options), 0
        except Interrupted as stop:
            if stop.frontier is None:
                say("stopped before everything was done once; there is nothing to show.")
                raise typer.Exit(stopper.status) from None
            done = len(stop.frontier.seeds)
            say(f"stopped after {done} of {how.seeds} seeds; these are the ones that were done.")
            return stop.frontier, stopper.status
