"""Accuracy from the table of a ledger: its label questions that are settled, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import read_loss
from quercus.ledger.accuracy import FairAccuracy
from quercus.ledger.betting import Numbers

Loss = Mapping[Any, Mapping[Any, float]]
COLUMNS = ("row", "covered", "propensity", "prediction", "answer", "status")
STATUSES = ("open", "answered", "expired")


class Settled(NamedTuple):
    """Questions that were answered or expired, before the oldest one that is open, in the order of the rows.

    Attributes
    ----------
    rows, covered, propensities
        What the ledger says of each; the propensity is NaN where there is none.
    right
        1 if the prediction was right, 0 if not, NaN if the question expired.
    losses
        What each prediction cost; None without a table of losses.
    truths
        The answers, None for questions that expired.
    loss_range
        The least and the most that a prediction can cost.
    end
        Rows, and covered rows, that the questions speak of.
    waits
        Whether an open question keeps them from speaking of more.
    """

    rows: NDArray[np.int64]
    covered: NDArray[np.int64]
    propensities: Numbers
    right: Numbers
    losses: Numbers | None
    truths: list[Any]
    loss_range: tuple[float, float] | None
    end: tuple[int, int]
    waits: bool


def read_settled(table: Any, least_propensity: float, loss: Loss | None = None) -> Settled:
    """Read the questions that are settled.

    Parameters
    ----------
    table
        Arrow table of a ledger.
    least_propensity
        Questions asked with less do not count, so that it does not matter whether they are open.
    loss
        What predictions cost, ``{true: {answer: cost}}``. No prediction costs as much as the dearest wrong one.
    """
    table = _label_questions(table)
    status = table.column("status").to_pylist()
    strange = set(status) - set(STATUSES)
    if strange:
        raise ValueError(f"a question has the status {strange.pop()!r}; it can be {', '.join(STATUSES)}.")
    rows, covered = table.column("row").to_numpy() + 1, table.column("covered").to_numpy()
    propensities = table.column("propensity").to_numpy().astype(np.float64)
    is_open = np.array([s == "open" for s in status], bool)
    # An open question that does not count hides nothing.
    waiting = np.flatnonzero(is_open & (propensities >= least_propensity))
    stop = int(waiting[0]) if len(waiting) else len(rows)
    end = (int(rows[-1]), int(covered[-1])) if len(rows) else (0, 0)
    if len(waiting):
        end = int(rows[stop]) - 1, int(covered[stop]) - 1
    keep = np.flatnonzero(~is_open[:stop])
    labels, predicted, true = _read_labels(table.take(keep), np.array(status, object)[keep] == "answered")
    right = np.where(true >= 0, predicted == true, np.nan)
    losses, loss_range = (None, None) if loss is None else _read_losses(loss, labels, predicted, true)
    truths = [labels[k] if k >= 0 else None for k in true.tolist()]
    return Settled(
        rows[keep], covered[keep], propensities[keep], right, losses, truths, loss_range, end, stop < len(rows)
    )


def fair_accuracy(
    table: Any,
    least_propensity: float,
    *,
    rows: int | None = None,
    covered: int | None = None,
    loss: Mapping[Any, Mapping[Any, float]] | None = None,
) -> FairAccuracy:
    """Return accuracy, loss and recall over all rows, from the table of a ledger.

    A question that is still open hides its row and, until it is settled, all that came after: the figures are about the
    rows before the oldest open one.

    Parameters
    ----------
    table
        Arrow table with the columns ``row``, ``covered``, ``propensity``, ``prediction``, ``answer`` and ``status``.
    least_propensity
        With what propensity a row was counted as covered.
    rows, covered
        Rows so far, and how many of them were covered; by default those of the last question.
    loss
        What answers cost, ``{true: {answer: cost}}``, 0 and 1 by default.
    """
    settled = read_settled(table, least_propensity, loss)
    fair = FairAccuracy(least_propensity, loss_range=settled.loss_range)
    fair.add_many(*settled[:4], losses=settled.losses, truths=settled.truths)
    if not settled.waits and rows is not None:
        fair.advance(rows, settled.end[1] if covered is None else covered)
    else:
        fair.advance(*settled.end)
    return fair


def _label_questions(table: Any) -> Any:
    import pyarrow.compute as pc

    missing = [name for name in COLUMNS if name not in table.column_names]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r}; give the table of a ledger, with {', '.join(COLUMNS)}.")
    if "kind" in table.column_names:
        table = table.filter(pc.equal(table.column("kind"), "label"))
    holes = [name for name in ("row", "covered", "status") if table.column(name).null_count]
    if holes:
        raise ValueError(f"column {holes[0]!r} has holes; a ledger knows this of every question.")
    return table.sort_by("row")


def _read_labels(table: Any, answered: NDArray[np.bool_]) -> tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels, and per question those predicted and those true, as places among them; -1 for none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    predictions, answers = table.column("prediction"), table.column("answer")
    if pa.types.is_null(predictions.type):
        predictions = predictions.cast(answers.type)
    if predictions.type != answers.type and answers.null_count < len(answers):
        raise ValueError(f"predictions are {predictions.type} and answers {answers.type}; give labels of one type.")
    unanswered = answered & answers.is_null().to_numpy()
    if unanswered.any():
        row = table.column("row")[int(np.flatnonzero(unanswered)[0])]
        raise ValueError(f"the question of row {row} is 'answered' but has no answer; mark it 'expired' or answer it.")
    if not answered.any():
        return [], np.full(len(table), -1), np.full(len(table), -1)
    labels = pc.unique(pa.chunked_array([*answers.chunks, *predictions.chunks])).drop_null()
    places = [pc.fill_null(pc.index_in(c, value_set=labels), -1).to_numpy() for c in (predictions, answers)]
    return labels.to_pylist(), places[0].astype(np.int64), np.where(answered, places[1], -1).astype(np.int64)


def _read_losses(
    loss: Loss, labels: list[Any], predicted: NDArray[np.int64], true: NDArray[np.int64]
) -> tuple[Numbers, tuple[float, float]]:
    costs = read_loss(loss, labels)
    dearest = [max((c for a, c in loss.get(y, {}).items() if a != y), default=1.0) for y in labels]
    # One line and one column more, for no answer and no prediction, which are at place -1.
    whole = np.pad(np.column_stack([costs, np.array(dearest, np.float64)]), ((0, 1), (0, 0)))
    named = [float(cost) for line in loss.values() for cost in line.values()]
    return whole[true, predicted], (min(0.0, *named, 0.0), max(1.0, *named, 1.0))
