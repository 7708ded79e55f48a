"""A run as plain text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

from quercus.evaluation.metrics import ratio
from quercus.evaluation.words import (
    align,
    show,
    show_amount,
    show_bounds,
    show_bytes,
    show_percent,
    show_price,
    show_seconds,
)
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.evaluation.run import Run

_MOST_FEATURES = 10


def sentence(run: Run) -> str:
    """Return a run in a line."""
    parts = [
        f"{show_percent(run.accuracy)} of {plural(run.rows, 'row')} right "
        f"(majority {show_percent(run.majority_accuracy)}, previous label {show_percent(run.previous_accuracy)})"
    ]
    if run.cost is not None:
        parts.append(cost_words(run))
    if run.fair is not None:
        estimate = f"{show_percent(run.fair.value)} by them alone, {show_bounds(run.fair)}"
        parts.append(f"{plural(run.labels, 'label')} paid for ({estimate})")
    if not math.isnan(run.log_loss):
        parts.append(f"log-loss {show(run.log_loss, 3)}")
    if run.loss:
        parts.append(f"{show_amount(run.money)} lost")
    if run.leaves is not None:
        parts.append("1 leaf" if run.leaves == 1 else f"{run.leaves:,} leaves")
    parts.append(show_seconds(run.seconds))
    first = headline_words(run)
    return f"{run.name}: {', '.join([first, *parts] if first else parts)}"


def headline_words(run: Run) -> str:
    """Return what is to be said of a run with imbalanced classes before its accuracy; nothing of any other."""
    if not run.imbalanced:
        return ""
    area = "" if math.isnan(run.auc) else f", AUC {show(run.auc, 3)}"
    rare = f"{run.smallest_class!r} is {show_percent(run.smallest_share)} of rows"
    return f"balanced accuracy {show_percent(run.balanced_accuracy)}{area} ({rare})"


def full_table(run: Run) -> str:
    """Return all figures of a run, aligned."""
    head = f"{run.name}: {plural(run.rows, 'row')}, {plural(len(run.classes), 'class')}"
    if run.warm_up:
        head += f", after {plural(run.warm_up, 'row')} of warm-up"
    if run.imbalanced:
        head += f"\n{headline_words(run)}"
    parts: dict[str, Sequence[Sequence[str]]] = {
        "Features that were bought, in % of rows": feature_rows(run) if run.bought else [],
        "Labels that were asked for": label_rows(run),
        "Ranking, calibration and money": probability_rows(run),
    }
    tables = [f"{title}\n{align(rows)}" for title, rows in parts.items() if rows]
    return "\n\n".join([head, align(figure_rows(run)), *tables])


def figure_rows(run: Run) -> list[tuple[str, ...]]:
    """Return name and value of each figure, and how far the learner is from each baseline."""
    rows: list[tuple[str, ...]] = [("accuracy", show(run.accuracy))]
    for label, value in baselines(run):
        rows.append((f"  {label}", show(value), f"{run.accuracy - value:+.4f}"))
    rows += cost_rows(run)
    smallest = "" if run.smallest_class is None else f" {run.smallest_class!r}"
    one_class = smallest if len(run.classes) <= 2 else ""
    rows += [
        ("balanced accuracy", show(run.balanced_accuracy)),
        (f"F1, smallest class{smallest}", show(run.f1_smallest)),
        ("kappa, against chance", show(run.kappa)),
        ("kappa, against previous label", show(run.kappa_temporal)),
        ("log-loss", show(run.log_loss)),
        ("Brier score", show(run.brier)),
        (f"average precision{one_class}", show(run.average_precision)),
        ("money lost" if run.loss else "wrong answers", show_amount(run.money)),
        ("leaves", show_amount(run.leaves)),
        ("memory", show_bytes(run.nbytes)),
        ("learner's time", show_seconds(run.seconds)),
        ("  of the processor", show_seconds(run.cpu_seconds)),
        ("  rows per second", show_amount(float(round(run.rows_per_second))) if run.seconds else show(None)),
    ]
    return rows


def cost_words(run: Run) -> str:
    """Say in a few words what a row cost; nothing if the run bought no features."""
    if run.cost is None:
        return ""
    return f"features for {show_price(run.cost_per_row)} a row (all {len(run.bought)}: {show_price(run.full_price)})"


def cost_rows(run: Run) -> list[tuple[str, ...]]:
    """Return name and value of what features cost, to stand beside the accuracy; nothing if none were bought."""
    if run.cost is None or run.full_price is None:
        return []
    share = show_percent(ratio(run.cost_per_row, run.full_price))
    rows: list[tuple[str, ...]] = [
        ("cost per row", show_price(run.cost_per_row), f"{share} of {show_price(run.full_price)}"),
        ("  features per row", show(run.bought_per_row, 2), f"of {len(run.bought)}"),
        ("  altogether", show_amount(run.cost)),
    ]
    if run.loss:
        rows.append(("  with the loss of a row", show_price(run.cost_per_row + run.loss_per_row)))
    return rows


def feature_rows(run: Run) -> list[tuple[str, str]]:
    """Return the features that were bought most often, with the share of rows."""
    order = sorted(run.bought.items(), key=lambda part: -part[1])
    rows = [(name, show_percent(share)) for name, share in order[:_MOST_FEATURES]]
    rest = [share for _, share in order[_MOST_FEATURES:]]
    return [*rows, (f"{len(rest)} others, at most", show_percent(max(rest)))] if rest else rows


def probability_rows(run: Run) -> list[tuple[str, ...]]:
    """Return what probabilities are worth, and money altogether; nothing without probabilities and prices."""
    rows: list[tuple[str, ...]] = []
    if not math.isnan(run.ece):
        top = f"lift of {run.smallest_class!r} in the top {show_percent(run.lift_share)} of rows"
        rows += [
            ("AUC, mean over classes", show(run.auc)),
            ("expected calibration error", show(run.ece)),
            (top, show(run.lift, 2)),
        ]
    if not math.isnan(run.total):
        rows.append(("money altogether", show_amount(run.total), f"{show(run.total_per_row)} a row"))
    return rows


def label_rows(run: Run) -> list[tuple[str, ...]]:
    """Return what labels cost and what they alone tell about all rows; nothing if none were asked for."""
    fair = run.fair
    if fair is None or run.asked is None:
        return []
    share = show_percent(ratio(run.asked, run.rows))
    rows: list[tuple[str, ...]] = [
        ("policy", run.policy or ""),
        ("budget", run.budget or ""),
        ("labels paid for", f"{run.asked:,}", f"{share} of rows"),
        ("  not there yet", f"{run.asked - run.labels:,}"),
        ("  money spent on them", show_amount(run.spent)),
        ("accuracy, all rows", show(run.accuracy), "known in a test only"),
        ("  told by these labels", show(fair.value), show_bounds(fair, 4)),
        ("  their plain count", show(fair.naive), "as if asked evenly"),
    ]
    if run.fair_loss is not None:
        rows += [
            ("loss per row, all rows", show(ratio(run.money, run.rows))),
            ("  told by these labels", show(run.fair_loss.value), show_bounds(run.fair_loss, 4)),
        ]
    if fair.rows < run.rows:
        rows.append(("rows that they speak of", f"{fair.rows:,}", "before the oldest open question"))
    if fair.covered < fair.rows:
        rows.append(("  without a chance to be asked", f"{fair.rows - fair.covered:,}", "the bounds allow for them"))
    return rows


def baselines(run: Run) -> list[tuple[str, float]]:
    """Return what the accuracy is to be compared with."""
    found = [("majority so far", run.majority_accuracy), ("previous label", run.previous_accuracy)]
    if run.bayes_accuracy is not None:
        found.append(("best possible", run.bayes_accuracy))
    return found


def or_plain(draw: Callable[[], str], text: str) -> str:
    """Return what is drawn or, where the libraries for it are not installed, a text that says so, both as HTML."""
    try:
        return draw()
    except ModuleNotFoundError as error:
        return f"<pre>{escape(text)}\n\n{escape(str(error))}</pre>"
