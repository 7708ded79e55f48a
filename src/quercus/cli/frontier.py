"""`quercus frontier`: what accuracy costs in labels, policy by policy, or in features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from quercus.cli.asking import make_policy, parse_budget, parse_delay, split_policies
from quercus.cli.compare import run_seeds
from quercus.cli.data import open_stream, rows_to_read
from quercus.cli.reading import Reading
from quercus.cli.run import free_folder, write_csv
from quercus.cli.settings import adopt_labels, make_learner
from quercus.cli.signals import undisturbed

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
    options |= {"shuffle": how.shuffle, "rows": rows_to_read(stream, how.rows)}
    found, status = run_seeds(measure, stream, model, how.seeds, **options)
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
    points = found.points()
    write_csv(out / TABLE, points[0], (point.values() for point in points))
    places: list[tuple[str, Path | str]] = [("table", out / TABLE)]
    try:
        found.plot(out / PICTURE)
    except ModuleNotFoundError as error:
        return [*places, ("picture", f"none: {error}")]
    return [*places, ("picture", out / PICTURE)]


def _read_policies(texts: Sequence[str]) -> dict[str, Any]:
    listed = split_policies(texts)
    twice = next((text for text in listed if listed.count(text) > 1), None)
    if twice is not None:
        raise ValueError(f"policy {twice!r} is there twice; a policy is compared with others, or with other settings.")
    return {text: make_policy(text) for text in listed}
