"""The prequential loop: ask the learner about a row, score the answer, then teach it the label."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.arguments import check_whole
from quercus.evaluation.buying import refuse_labels
from quercus.evaluation.curves import CurveRecorder, WindowRecorder
from quercus.evaluation.delays import Delay
from quercus.evaluation.drivers import Answers, Driver, drive
from quercus.evaluation.errors import Interrupted, located
from quercus.evaluation.facts import bytes_of, features_of, leaves_of, parameters_of
from quercus.evaluation.metrics import Scores, mean_auc, sort_key
from quercus.evaluation.money import Loss, copy_loss, labels_of
from quercus.evaluation.progress import ProgressLine
from quercus.evaluation.run import USUAL_SHARE, PathLike, Run
from quercus.explain.words import plural
from quercus.interrupts import uninterrupted

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
        ``predict_one`` and ``learn_one``; a batch learner or a Pipeline in `Refit`. It is trained in place.
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
    if ask is None and ledger is None and isinstance(delay, int) and delay == 0:
        driver: Driver = drive(learner, stream, warm_up)
    else:
        refuse_labels(learner)
        if ask is None and isinstance(delay, int) and delay == 0:
            raise ValueError("a ledger holds labels that were asked for; give ask=, a policy, or leave ledger out.")
        from quercus.evaluation.asking import AskDriver

        driver = AskDriver(learner, stream, ask, delay, delay_seed, ledger, loss=loss, rows=total, warm_up=warm_up)
    session = _Session(stream, learner, driver, loss, window, warm_up, name)
    try:
        with ProgressLine(session.title, total or stream.about_rows, progress) as line:
            for X, y in stream.chunks(chunk, rows):
                for start, stop in session.pieces(len(y)):
                    session.step(X, y, start, stop)
                    line.update(session.learned, session.standing)
        if not session.scores.rows:
            why = f"it has {session.learned} and warm_up is {warm_up}" if warm_up else "it has none"
            raise ValueError(f"stream {stream.name!r} left no row to score: {why}.")
        _warn(session)
        return session.finish()
    except KeyboardInterrupt as stop:
        raise Interrupted(session.finish()) from stop
    finally:
        driver.recorder.close()


def _check(stream: Stream, rows: int | None, window: int, chunk: int, warm_up: int) -> int | None:
    """Refuse bad arguments; return the number of rows to come, None if it is not known."""
    check_whole("rows", 1 if rows is None else rows)
    check_whole("window", window)
    check_whole("chunk", chunk)
    check_whole("warm_up", warm_up, least=0)
    if rows is None and stream.endless:
        raise ValueError(f"stream {stream.name!r} is endless; say how many rows to read: rows=100_000.")
    known = [n for n in (rows, stream.n_rows) if n is not None]
    total = min(known) if known else None
    if total is not None and warm_up and warm_up >= total:
        raise ValueError(f"warm_up is {warm_up} but only {total} rows come; leave some to be scored.")
    return total


def _warn(session: _Session) -> None:
    """Say what did not stop the run but should be known."""
    strange = [repr(label) for label in labels_of(session.scores.loss) if label not in session.scores.classes]
    if strange:
        warnings.warn(f"loss names {', '.join(strange)}, which never came in this stream.", UserWarning, stacklevel=3)
    count = session.driver.impossible
    if count:
        learner = type(session.learner).__name__
        text = f"{learner} gave NaN or probabilities below 0 in {plural(count, 'row')}; they are scored as 0."
        warnings.warn(text, UserWarning, stacklevel=3)


class _Session:
    """One run on its way: the learner, what it has answered so far, and where the stream stands."""

    def __init__(
        self,
        stream: Stream,
        learner: Any,
        driver: Driver,
        loss: Loss | None,
        window: int,
        warm_up: int,
        name: str | None,
    ) -> None:
        self.stream = stream
        self.learner = learner
        self.driver = driver
        self.scores = Scores(loss)
        self.curve = CurveRecorder()
        self.windows = WindowRecorder(window)
        self.warm_up = warm_up
        self.learned = 0
        self.title = name or f"{type(learner).__name__} on {stream.name}"

    def pieces(self, size: int) -> Iterator[tuple[int, int]]:
        """Cut the next chunk where the warm-up ends, where a curve has a point and where the driver wants a break."""
        start = 0
        while start < size:
            scored = self.learned - self.warm_up
            goal = -scored if scored < 0 else self.curve.due - scored
            stop = min(size, start + min(goal, self.driver.rows_at_once or goal))
            yield start, stop
            start = stop

    def step(self, X: Any, y: Any, start: int, stop: int) -> None:
        """Test and learn rows start .. stop-1 of the chunk."""
        from quercus.streams.batches import cut

        part = (X, y) if start == 0 and stop == len(y) else (cut(X, start, stop), y[start:stop])
        try:
            said = self.driver.step(*part)
        except Exception as error:
            first = self.learned + self.driver.done
            found = located(error, first, self.learned + stop - start, self.stream.name, self.driver.failed_row)
            if found is error:
                raise
            raise found from error
        # All figures shall belong to the same rows.
        with uninterrupted():
            self._record(said)

    def _record(self, said: Answers) -> None:
        if self.learned < self.warm_up:
            self.scores.observe(said.truth, said.classes)
            self.driver.clock.reset()
        else:
            self.windows.add(self.scores.update(*said))
            self.driver.recorder.record()
            if self.scores.rows == self.curve.due:
                self._add_point()
        self.learned += len(said.truth)

    def _add_point(self) -> None:
        self.curve.add(self.scores, leaves_of(self.learner), **self.driver.recorder.point())

    def standing(self) -> str:
        """Return how good the learner is so far; with labels that were asked for, as far as they tell."""
        accuracy = self.scores.accuracy
        return self.driver.recorder.standing("" if accuracy != accuracy else f"accuracy {accuracy:.3f}")

    def finish(self) -> Run:
        """Close the curves and return the run."""
        self._add_point()
        paid = self.driver.recorder.finish()
        asked = paid.get("asked") or 0
        share = asked / self.scores.rows if 0 < asked < self.scores.rows else USUAL_SHARE
        return Run(
            name=self.title,
            learner=self.learner,
            learner_name=type(self.learner).__name__,
            parameters=parameters_of(self.learner),
            stream=self.stream.name,
            features=features_of(self.learner, self.stream),
            ordered=self.stream.ordered,
            bayes_accuracy=self.stream.bayes_accuracy,
            warm_up=self.warm_up,
            window=self.windows.window,
            seconds=self.driver.clock.wall,
            cpu_seconds=self.driver.clock.cpu,
            leaves=leaves_of(self.learner),
            nbytes=bytes_of(self.learner),
            curve=self.curve.columns(),
            windows=self.windows.columns(),
            **{"labels": self.learned, **paid},
            **_figures(self.scores, share),
        )


def _figures(scores: Scores, share: float) -> dict[str, Any]:
    """Return the figures of a run by the names of `Run`, classes sorted; the lift at this share of rows."""
    order = sorted(range(len(scores.classes)), key=lambda i: sort_key(scores.classes[i]))
    classes = [scores.classes[i] for i in order]
    names = (
        "rows accuracy balanced_accuracy kappa majority_accuracy previous_accuracy kappa_temporal smallest_class "
        "f1_smallest log_loss brier average_precision ece calibration loss money"
    )
    f1, roc = scores.f1, scores.roc
    return {name: getattr(scores, name) for name in names.split()} | {
        "classes": classes,
        "confusion": np.ascontiguousarray(scores.confusion[order][:, [*(i + 1 for i in order), 0]]),
        "f1": {label: f1[label] for label in classes if label in f1},
        "auc": mean_auc(roc),
        "roc": {label: roc[label] for label in classes if label in roc},
        "lift": scores.lift(share),
        "lift_share": share,
    }
