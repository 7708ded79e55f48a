"""`quercus compare`: learners side by side on the same rows, with what chance may do to the differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from quercus.cli.data import open_stream, rows_to_read
from quercus.cli.errors import say
from quercus.cli.reading import Reading
from quercus.cli.settings import adopt_labels, make_learner
from quercus.cli.signals import Stopper

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from quercus.evaluation import Repeats
    from quercus.streams import Stream


def compare_learners(
    source: str, reading: Reading, learners: Sequence[str], seeds: int, rows: int | None, shuffle: bool = False
) -> None:
    """Evaluate learners on the same rows and print a table.

    Parameters
    ----------
    source, reading
        As for `open_stream`.
    learners
        Each as for `make_learner`.
    seeds
        How often, each time with other seeds and on other rows of a generator.
    rows
        Rows to read at most.
    shuffle
        Whether each time in another order, too.
    """
    from quercus.evaluation import Interrupted, repeat

    named = {text: make_learner(text) for text in learners}
    if len(named) < len(learners):
        twice = next(text for text in named if learners.count(text) > 1)
        raise ValueError(f"{twice!r} is there twice; a learner is compared with others, or with other settings.")
    stream = open_stream(source, reading)
    loss = _common_loss(named, stream)
    print(f"{stream}\n", flush=True)
    status = 0
    with Stopper() as stopper:
        try:
            repeats = repeat(
                stream, named, seeds=range(seeds), shuffle=shuffle, rows=rows_to_read(stream, rows), loss=loss
            )
        except Interrupted as stop:
            status = stopper.status
            if stop.repeats is None:
                say("stopped before every learner was done once; there is nothing to compare.")
                raise typer.Exit(status) from None
            repeats = stop.repeats
            say(f"stopped after {len(repeats.seeds)} of {seeds} seeds; these are the ones that were done.")
    print(one_table(repeats) if len(repeats.seeds) == 1 else table_of_means(repeats))
    if status:
        raise typer.Exit(status)


def one_table(repeats: Repeats) -> str:
    """Return a line per learner and baseline, for a single seed."""
    from quercus.evaluation.bought import show_price
    from quercus.evaluation.words import align, show, show_amount, show_bytes, show_seconds

    seed = repeats.seeds[0]
    runs = [repeats.runs[name, seed] for name in repeats.names]
    money = ["money lost"] if runs[0].loss else []
    costs = ["cost per row"] if repeats.with_costs else []
    lines = [["", "accuracy", "difference", *costs, "log-loss", *money, "leaves", "memory", "time"]]
    for name, run in zip(repeats.names, runs, strict=True):
        apart = "" if run is runs[0] else _signed(run.accuracy - runs[0].accuracy)
        paid = [show_price(run.cost_per_row)] if costs else []
        amounts = [show_amount(run.money)] if money else []
        size = [show_amount(run.leaves), show_bytes(run.nbytes), show_seconds(run.seconds)]
        lines.append([name, show(run.accuracy), apart, *paid, show(run.log_loss), *amounts, *size])
    for name, values in _baselines(repeats):
        lines.append([f"({name})", show(values[0]), _signed(values[0] - runs[0].accuracy)])
    return f"{_title(repeats)}\n\n{align(lines)}"


def table_of_means(repeats: Repeats) -> str:
    """Return a block of lines per figure: mean and standard error, and those of the paired differences."""
    from quercus.evaluation.words import align

    loss = repeats.runs[repeats.names[0], repeats.seeds[0]].loss
    lines: list[list[str]] = []
    costs = ["cost_per_row"] if repeats.with_costs else []
    for metric in ("accuracy", *costs, "log_loss", *(["money"] if loss else []), "leaves", "seconds"):
        values = repeats.values(metric)
        digits = 1 if metric in ("money", "leaves") else 4
        lines += [[""]] if lines else []
        title = metric.replace("_", "-" if metric == "log_loss" else " ")
        lines.append([title, "mean", "± s.e.", "difference", "± s.e."])
        rivals = list(zip(repeats.names, values, strict=True))
        rivals += [(f"({name})", line) for name, line in _baselines(repeats)] if metric == "accuracy" else []
        for place, (name, line) in enumerate(rivals):
            apart = ["", ""] if place == 0 else _mean(line - values[0], digits, signed=True)
            lines.append([f"  {name}", *_mean(line, digits), *apart])
    return f"{_title(repeats)}\n\n{align(lines)}"


def _title(repeats: Repeats) -> str:
    from quercus.explain.words import plural

    run = repeats.runs[repeats.names[0], repeats.seeds[0]]
    title = f"{plural(len(repeats.names), 'learner')} on {run.stream}: {plural(run.rows, 'row')}"
    first = repeats.names[0]
    if len(repeats.seeds) == 1:
        return f"{title}; differences to {first}"
    return f"{title}, {plural(len(repeats.seeds), 'seed')}; differences to {first}, paired by seed"


def _baselines(repeats: Repeats) -> list[tuple[str, NDArray[np.float64]]]:
    """Return the accuracies that need no learning, which are the same for all learners, by seed."""
    runs = [repeats.runs[repeats.names[0], seed] for seed in repeats.seeds]
    found = [
        ("majority so far", np.array([run.majority_accuracy for run in runs])),
        ("previous label", np.array([run.previous_accuracy for run in runs])),
    ]
    best = [run.bayes_accuracy for run in runs if run.bayes_accuracy is not None]
    return [*found, ("best possible", np.array(best))] if len(best) == len(runs) else found


def _mean(values: NDArray[np.float64], digits: int, signed: bool = False) -> list[str]:
    from quercus.evaluation.words import NOTHING

    mean = float(values.mean())
    if math.isnan(mean):
        return [NOTHING, NOTHING]
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    return [f"{mean:{'+' if signed else ''},.{digits}f}", f"{error:,.{digits}f}"]


def _signed(value: float) -> str:
    return f"{value:+.4f}"


def _common_loss(named: dict[str, Any], stream: Stream) -> Any:
    """Return the loss table by which all are measured: that of those learners that have one."""
    tables = [table for learner in named.values() if (table := adopt_labels(learner, stream)) is not None]
    if any(table != tables[0] for table in tables):
        raise ValueError("the learners have different loss tables, but can be compared by one only.")
    return tables[0] if tables else None
