"""One run on its way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from quercus.evaluation.curves import CurveRecorder, WindowRecorder
from quercus.evaluation.drivers import Answers, Driver
from quercus.evaluation.errors import located
from quercus.evaluation.facts import bytes_of, features_of, leaves_of, parameters_of
from quercus.evaluation.metrics import Scores, sort_key
from quercus.evaluation.money import Loss
from quercus.evaluation.run import USUAL_SHARE, Run
from quercus.interrupts import uninterrupted

if TYPE_CHECKING:
    from quercus.evaluation.buying import PurchaseRecorder
    from quercus.evaluation.run_ledger import RunLedger
    from quercus.streams import Stream


class Session:
    """The learner, what it has answered so far, and where the stream stands; a context manager.

    Parameters
    ----------
    stream, learner, loss, window, warm_up, name
        As for `evaluate`.
    driver
        What takes the learner through the stream.

    Examples
    --------
    >>> from quercus import HoeffdingTree, streams
    >>> from quercus.evaluation.drivers import drive
    >>> stream, tree = streams.Noise(rows=10), HoeffdingTree()
    >>> with Session(stream, tree, drive(tree, stream), None, 1000, 0, None) as session:
    ...     session.step(*stream.take(), 0, 10)
    >>> session.scores.rows
    10
    """

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
        self.run_ledger: RunLedger | None = getattr(driver, "run_ledger", None)
        self.purchases: PurchaseRecorder | None = getattr(driver, "purchases", None)
        self.scores = Scores(loss)
        self.curve = CurveRecorder()
        self.windows = WindowRecorder(window)
        self.warm_up = warm_up
        self.learned = 0
        self.title = name or f"{type(learner).__name__} on {stream.name}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.run_ledger is not None:
            self.run_ledger.close()

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
            if self.run_ledger is not None:
                self.run_ledger.record()
            if self.purchases is not None:
                self.purchases.record()
            if self.scores.rows == self.curve.due:
                self._add_point()
        self.learned += len(said.truth)

    def _add_point(self) -> None:
        estimates = () if self.run_ledger is None else self.run_ledger.point()
        paid = {} if self.purchases is None else self.purchases.point()
        self.curve.add(self.scores, leaves_of(self.learner), *estimates, **paid)

    def standing(self) -> str:
        """Return how good the learner is so far; with labels that were asked for, as far as they tell."""
        if self.run_ledger is not None:
            return self.run_ledger.standing()
        accuracy = self.scores.accuracy
        if accuracy != accuracy:
            return ""
        paid = "" if self.purchases is None else f", {self.purchases.standing()}"
        return f"accuracy {accuracy:.3f}{paid}"

    def finish(self) -> Run:
        """Close the curves and return the run."""
        self._add_point()
        asked = {"labels": self.learned} if self.run_ledger is None else self.run_ledger.finish()
        paid = {} if self.purchases is None else self.purchases.finish()
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
            **asked,
            **paid,
            **figures(self.scores, self._share_asked()),
        )

    def _share_asked(self) -> float:
        """Return the share of scored rows whose labels were asked for, the usual one if that says nothing."""
        asked = 0 if self.run_ledger is None else self.run_ledger.asked
        return asked / self.scores.rows if 0 < asked < self.scores.rows else USUAL_SHARE


def figures(scores: Scores, share: float = USUAL_SHARE) -> dict[str, Any]:
    """Return the figures of a run by the names of `Run`, classes sorted.

    Parameters
    ----------
    scores
        What was measured.
    share
        Of the rows, where the lift is taken.

    Examples
    --------
    >>> figures(Scores())["rows"]
    0
    """
    order = sorted(range(len(scores.classes)), key=lambda i: sort_key(scores.classes[i]))
    classes = [scores.classes[i] for i in order]
    names = (
        "rows accuracy balanced_accuracy kappa majority_accuracy previous_accuracy kappa_temporal smallest_class "
        "f1_smallest log_loss brier average_precision auc ece calibration loss money"
    )
    f1, roc = scores.f1, scores.roc
    return {name: getattr(scores, name) for name in names.split()} | {
        "classes": classes,
        "confusion": np.ascontiguousarray(scores.confusion[order][:, [*(i + 1 for i in order), 0]]),
        "f1": {label: f1[label] for label in classes if label in f1},
        "roc": {label: roc[label] for label in classes if label in roc},
        "lift": scores.lift(share),
        "lift_share": share,
    }
