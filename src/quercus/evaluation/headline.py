"""What a run says first where accuracy alone would mislead, and what it says about its probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from quercus.evaluation.tables import full_table, sentence
from quercus.evaluation.words import align, show, show_amount, show_percent

if TYPE_CHECKING:
    from quercus.evaluation.run import Run


def headline_words(run: Run) -> str:
    """Return the headline of a run with imbalanced classes, to stand before its accuracy; nothing for any other.

    Examples
    --------
    >>> import numpy as np, quercus as qc
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> headline_words(qc.evaluate((X, X[:, 0] > 1.8), qc.ConfidenceTree()))
    'balanced accuracy 94.3%, AUC 0.981 (True is 3.4% of rows), '
    >>> headline_words(qc.evaluate((X, X[:, 0] > 0), qc.ConfidenceTree()))
    ''
    """
    if not run.imbalanced:
        return ""
    area = "" if math.isnan(run.auc) else f", AUC {show(run.auc, 3)}"
    rare = f"{run.smallest_class!r} is {show_percent(run.smallest_share)} of rows"
    return f"balanced accuracy {show_percent(run.balanced_accuracy)}{area} ({rare}), "


def first_words(run: Run) -> str:
    """Return a run in a line."""
    return sentence(run).replace(f"{run.name}: ", f"{run.name}: {headline_words(run)}", 1)


def whole_table(run: Run) -> str:
    """Return all figures as text: the headline of imbalanced classes, accuracy and what is beside it, probabilities."""
    text, first, rows = full_table(run), headline_words(run).removesuffix(", "), probability_rows(run)
    text = text.replace("\n\n", f"\n{first}\n\n", 1) if first else text
    return f"{text}\n\nRanking, calibration and money\n{align(rows)}" if rows else text


def probability_rows(run: Run) -> list[tuple[str, ...]]:
    """Return what probabilities are worth, and money altogether; nothing without probabilities and prices.

    Examples
    --------
    >>> import quercus as qc
    >>> rows = probability_rows(qc.evaluate(qc.streams.SEA(rows=500), qc.ConfidenceTree()))
    >>> [row[0] for row in rows]
    ['AUC, mean over classes', 'expected calibration error', 'lift of ... in the top 10.0% of rows']
    """
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
