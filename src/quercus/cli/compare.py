"""`quercus compare`: learners side by side on the same rows, with what chance may do to the differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from quercus.cli.data import open_stream, rows_to_read
from quercus.cli.errors import say
from quercus.cli.reading import Reading
from quercus.cli.settings import adopt_labels, make_learner
from quercus.cli.signals import Stopper

if TYPE_CHECKING:
    from quercus.evaluation import Repeats
    from quercus.streams import Stream

T = TypeVar("T")


def compare_learners(
    source: str, reading: Reading, learners: Sequence[str], seeds: int, rows: int | None, shuffle: bool = False
) -> None:
    """Evaluate learners on the same rows and print a table."""
    from quercus.evaluation import repeat

    named = {text: make_learner(text) for text in learners}
    if len(named) < len(learners):
        twice = next(text for text in named if learners.count(text) > 1)
        raise ValueError(f"{twice!r} is there twice; a learner is compared with others, or with other settings.")
    stream = open_stream(source, reading)
    loss = _common_loss(named, stream)
    print(f"{stream}\n", flush=True)
    options = {"shuffle": shuffle, "rows": rows_to_read(stream, rows), "loss": loss}
    repeats, status = run_seeds(repeat, stream, named, seeds, **options)
    print(one_table(repeats) if len(repeats.seeds) == 1 else repeats.table())
    if status:
        raise typer.Exit(status)


def run_seeds(measure: Callable[..., T], stream: Stream, what: Any, seeds: int, **options: Any) -> tuple[T, int]:
    """Return what was measured once per seed and the exit status: that of the signal if one stopped it, else 0."""
    from quercus.evaluation import Interrupted

    with Stopper() as stopper:
        try:
            return measure(stream, what, seeds=range(seeds), **options), 0
        except Interrupted as stop:
            done = stop.frontier if stop.repeats is None else stop.repeats
            if done is None:
                say("stopped before everything was done once; there is nothing to show.")
                raise typer.Exit(stopper.status) from None
            say(f"stopped after {len(done.seeds)} of {seeds} seeds; these are the ones that were done.")
            return done, stopper.status


def one_table(repeats: Repeats) -> str:
    """Return a line per learner and baseline, for a single seed."""
    from quercus.evaluation.words import align, show, show_amount, show_bytes, show_price, show_seconds

    seed = repeats.seeds[0]
    runs = [repeats.runs[name, seed] for name in repeats.names]
    money = ["money lost"] if runs[0].loss else []
    costs = ["cost per row"] if repeats.with_costs else []
    rare = ["balanced", "AUC"] if runs[0].imbalanced else []
    lines = [["", *rare, "accuracy", "difference", *costs, "log-loss", *money, "leaves", "memory", "time"]]
    for name, run in zip(repeats.names, runs, strict=True):
        apart = "" if run is runs[0] else _signed(run.accuracy - runs[0].accuracy)
        paid = [show_price(run.cost_per_row)] if costs else []
        amounts = [show_amount(run.money)] if money else []
        size = [show_amount(run.leaves), show_bytes(run.nbytes), show_seconds(run.seconds)]
        first = [show(run.balanced_accuracy), show(run.auc)] if rare else []
        lines.append([name, *first, show(run.accuracy), apart, *paid, show(run.log_loss), *amounts, *size])
    for name, values in repeats.baselines().items():
        lines.append([f"({name})", *["" for _ in rare], show(values[0]), _signed(values[0] - runs[0].accuracy)])
    return f"{repeats.title}\n\n{align(lines)}"


def _signed(value: float) -> str:
    return f"{value:+.4f}"


def _common_loss(named: dict[str, Any], stream: Stream) -> Any:
    """Return the loss table by which all are measured: that of those learners that have one."""
    tables = [table for learner in named.values() if (table := adopt_labels(learner, stream)) is not None]
    if any(table != tables[0] for table in tables):
        raise ValueError("the learners have different loss tables, but can be compared by one only.")
    return tables[0] if tables else None
