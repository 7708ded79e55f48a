"""The prequential loop: ask the learner about a row, score the answer, then teach it the label."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from quercus.evaluation.buying import refuse_labels
from quercus.evaluation.delays import Delay
from quercus.evaluation.drivers import Driver, drive
from quercus.evaluation.errors import Interrupted
from quercus.evaluation.money import Loss, copy_loss, labels_of
from quercus.evaluation.progress import ProgressLine
from quercus.evaluation.run import PathLike, Run
from quercus.evaluation.session import Session
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.ask import Policy
    from quercus.ledger import Ledger
    from quercus.streams import Stream


def evaluate(
    data: Any,
    learner: Any,
    *,
    rows: int | None = None,
    loss: Loss | None = None,
    window: int = 1000,
    chunk: int = 8192,
    progress: bool | None = None,
    name: str | None = None,
    warm_up: int = 0,
    ask: Policy | None = None,
    delay: Delay = 0,
    delay_seed: int | None = 0,
    ledger: Ledger | PathLike | None = None,
) -> Run:
    """Test a learner on each row of a stream before it learns that row, and measure everything.

    With ``ask`` it is taught only labels that the policy asks for; every row is scored all the same. A learner that
    buys features (`UtilityTree`) opens a case for each row: it buys from the row while exploring, answers, and learns
    only what it has bought; the run tells the cost beside the accuracy.

    Parameters
    ----------
    data
        A stream, the path of a file, the name of a data set, or (X, y).
    learner
        One of ours, a classifier of river, an incremental one of scikit-learn (``partial_fit``), or anything with
        ``predict_one`` and ``learn_one``. It is trained in place.
    rows
        Rows to read at most, the warm-up included; None reads to the end.
    loss
        What a wrong answer costs, ``{true: {answer: cost}}``; entries that are not there are 0 for the right answer
        and 1 for others.
    window
        Rows per block of the windowed accuracy.
    chunk
        Rows handed over at once. No figure but the time depends on it.
    progress
        A progress line: None shows it after a second on a terminal, True always, False never.
    name
        Name of the run; by default the learner's class and the stream.
    warm_up
        Rows at the start that are learned but not scored; with ``ask``, their labels cost nothing. A learner that buys
        features has all of theirs for nothing.
    ask
        Which labels to pay for: a policy of `quercus.ask`, or your own. None: all labels are there, and free.
    delay
        Rows until a label that was asked for comes: a number, a range ``(least, most)``, or a list with one for each
        row of the stream. It is learned before the row so many rows later is answered, with 0 before the next one;
        what has not come by the end stays open. Without ``ask``, all labels come late.
    delay_seed
        Of delays that are drawn from a range.
    ledger
        Where questions and answers are kept: a file, the address of a PostgreSQL database, or a `Ledger` in which
        nothing is yet. None: in memory.

    Returns
    -------
    Run
        All figures, the curves and the learner.

    Raises
    ------
    Interrupted
        On Ctrl-C: a KeyboardInterrupt whose ``run`` holds what was measured so far.

    Examples
    --------
    >>> import quercus as qc
    >>> stream = qc.streams.RandomTree(leaves=8, q=0.9, rows=5000, seed=1)
    >>> run = qc.evaluate(stream, qc.ConfidenceTree())
    >>> run.rows, run.accuracy > run.majority_accuracy
    (5000, True)
    >>> cheap = qc.evaluate(stream, qc.ConfidenceTree(), ask=qc.ask.Uncertain(0.1), delay=50)
    >>> cheap.asked <= 500, cheap.fair.low <= cheap.accuracy <= cheap.fair.high
    (True, True)
    >>> frugal = qc.evaluate(stream, qc.UtilityTree(costs={"x0": 5}))
    >>> frugal.cost_per_row < frugal.full_price, set(frugal.bought) == set(stream.feature_names)
    (True, True)
    """
    from quercus.streams import as_stream

    stream = as_stream(data)
    total = _check(stream, rows, window, chunk, warm_up)
    copy_loss(loss, stream.classes if loss else None)
    driver = _driver(learner, stream, ask, delay, delay_seed, ledger, loss=loss, rows=total, warm_up=warm_up)
    with Session(stream, learner, driver, loss, window, warm_up, name) as session:
        try:
            with ProgressLine(session.title, total or stream.about_rows, progress) as line:
                for X, y in stream.chunks(chunk, rows):
                    for start, stop in session.pieces(len(y)):
                        session.step(X, y, start, stop)
                        line.update(session.learned, session.standing)
        except KeyboardInterrupt as stop:
            raise Interrupted(session.finish()) from stop
        if not session.scores.rows:
            why = f"it has {session.learned} and warm_up is {warm_up}" if warm_up else "it has none"
            raise ValueError(f"stream {stream.name!r} left no row to score: {why}.")
        _warn(session)
        return session.finish()


def _driver(
    learner: Any,
    stream: Stream,
    ask: Policy | None,
    delay: Delay,
    delay_seed: int | None,
    ledger: Ledger | PathLike | None,
    **options: Any,
) -> Driver:
    """Return what takes the learner through the stream: with every label, or with those that are asked for."""
    is_plain = ask is None and isinstance(delay, int) and delay == 0
    if is_plain and ledger is None:
        return drive(learner, stream, options["warm_up"])
    refuse_labels(learner)
    if is_plain:
        raise ValueError("a ledger holds labels that were asked for; give ask=, a policy, or leave ledger out.")
    from quercus.evaluation.opening import open_asking

    return open_asking(learner, stream, ask, delay, delay_seed, ledger, **options)


def _check(stream: Stream, rows: int | None, window: int, chunk: int, warm_up: int) -> int | None:
    """Refuse bad arguments; return the number of rows to come, None if it is not known."""
    for argument, value, least in (
        ("rows", rows, 1),
        ("window", window, 1),
        ("chunk", chunk, 1),
        ("warm_up", warm_up, 0),
    ):
        if value is None:
            continue
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise ValueError(f"{argument} is {value!r}; give a whole number of at least {least}.")
    if rows is None and stream.endless:
        raise ValueError(f"stream {stream.name!r} is endless; say how many rows to read: rows=100_000.")
    known = [n for n in (rows, stream.n_rows) if n is not None]
    total = min(known) if known else None
    if total is not None and warm_up and warm_up >= total:
        raise ValueError(f"warm_up is {warm_up} but only {total} rows come; leave some to be scored.")
    return total


def _warn(session: Session) -> None:
    """Say what did not stop the run but should be known."""
    strange = [repr(label) for label in labels_of(session.scores.loss) if label not in session.scores.classes]
    if strange:
        warnings.warn(f"loss names {', '.join(strange)}, which never came in this stream.", UserWarning, stacklevel=3)
    count = session.driver.impossible
    if count:
        learner = type(session.learner).__name__
        text = f"{learner} gave NaN or probabilities below 0 in {plural(count, 'row')}; they are scored as 0."
        warnings.warn(text, UserWarning, stacklevel=3)
