"""The prequential loop: ask the learner about a row, score the answer, then teach it the label."""

from __future__ import annotations

import contextlib
import signal
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from quercus.evaluation.curves import CurveRecorder, WindowRecorder
from quercus.evaluation.drivers import Answers, Driver, drive
from quercus.evaluation.errors import Interrupted, located
from quercus.evaluation.facts import bytes_of, features_of, leaves_of, parameters_of
from quercus.evaluation.metrics import Scores
from quercus.evaluation.money import Loss, copy_loss, labels_of
from quercus.evaluation.progress import ProgressLine
from quercus.evaluation.run import Run, figures
from quercus.evaluation.words import plural

if TYPE_CHECKING:
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
) -> Run:
    """Test a learner on each row of a stream before it learns that row, and measure everything.

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
        Rows at the start that are learned but not scored.

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
    """
    from quercus.streams import as_stream

    stream = as_stream(data)
    total = _check(stream, rows, window, chunk, warm_up)
    copy_loss(loss, stream.classes if loss else None)
    session = Session(stream, learner, loss, window, warm_up, name)
    try:
        with ProgressLine(session.title, total, progress) as line:
            for X, y in stream.chunks(chunk, rows):
                for start, stop in session.pieces(len(y)):
                    session.step(X, y, start, stop)
                    line.update(session.learned, session.scores.accuracy)
    except KeyboardInterrupt as stop:
        raise Interrupted(session.finish()) from stop
    if not session.scores.rows:
        why = f"it has {session.learned} and warm_up is {warm_up}" if warm_up else "it has none"
        raise ValueError(f"stream {stream.name!r} left no row to score: {why}.")
    _warn(session)
    return session.finish()


class Session:
    """One run on its way: the learner, what it has answered so far, and where the stream stands."""

    def __init__(
        self, stream: Stream, learner: Any, loss: Loss | None, window: int, warm_up: int, name: str | None
    ) -> None:
        self.stream = stream
        self.learner = learner
        self.driver: Driver = drive(learner, stream)
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
            found = located(error, self.learned, self.learned + stop - start, self.stream.name, self.driver.failed_row)
            if found is error:
                raise
            raise found from error
        with _not_interrupted():
            self._note(said)

    def _note(self, said: Answers) -> None:
        if self.learned < self.warm_up:
            self.scores.observe(said.truth, said.classes)
            self.driver.clock.reset()
        else:
            self.windows.add(self.scores.update(*said))
            if self.scores.rows == self.curve.due:
                self.curve.add(self.scores, leaves_of(self.learner))
        self.learned += len(said.truth)

    def finish(self) -> Run:
        """Close the curves and return the run."""
        leaves = leaves_of(self.learner)
        self.curve.add(self.scores, leaves)
        return Run(
            name=self.title,
            learner=self.learner,
            learner_name=type(self.learner).__name__,
            parameters=parameters_of(self.learner),
            stream=self.stream.name,
            features=features_of(self.learner, self.stream),
            ordered=self.stream.ordered,
            bayes_accuracy=self.stream.bayes_accuracy,
            labels=self.learned,
            warm_up=self.warm_up,
            window=self.windows.window,
            seconds=self.driver.clock.wall,
            cpu_seconds=self.driver.clock.cpu,
            leaves=leaves,
            nbytes=bytes_of(self.learner),
            curve=self.curve.columns(),
            windows=self.windows.columns(),
            **figures(self.scores),
        )


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Keep Ctrl-C waiting while the figures are updated, so that they always belong to the same rows."""
    handler = signal.getsignal(signal.SIGINT)
    # Only the main thread is ever interrupted, and only it may set handlers.
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    waiting: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if waiting:
        handler(*waiting[0])


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
