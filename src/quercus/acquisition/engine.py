"""What an engine must give whose learner buys features (`CaseEngine`): cases that run compiled, and what they tell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import BELIEVE, DECISION, EXPLORE, STEP, STOPS, WHOLE, Decision
from quercus.acquisition.policy_outcomes import Outcome
from quercus.acquisition.policy_unroll import Weighed, weigh
from quercus.acquisition.prices import read_limit
from quercus.acquisition.rows import CaseRows
from quercus.engine import Floats, Integers, Known, Stop
from quercus.interrupts import next_slice
from quercus.rows import DONE, LEARN, PAUSED, PREDICT, Rows

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer
    from quercus.acquisition.notes import Notes
    from quercus.store import Model

Status = npt.NDArray[np.uint8]
NEEDS_ROOM = PAUSED + 1
_LARGEST_SLICE = 2**16


class CaseEngine:
    """Base of the engines of learners that buy features; ``params`` is the learner, a `FeatureBuyer`.

    A subclass adds `new_state`, `load_state`, `widen`, `settings`, `run_cases`, `make_room`, `width` and `outcomes`,
    and says in `check` what arguments may be.
    """

    first_slice = 64

    def check(self, params: Any) -> None:
        """Raise an error for an argument that makes no sense."""
        for name in ("budget", "total", "refer"):
            read_limit(name, getattr(params, name))

    def check_names(self, params: Any, names: list[str]) -> None:
        """Raise an error for an argument that does not fit the names of the features."""

    def new_state(self, params: Any, features: int, classes: int) -> Any:
        """Return the empty state for this many features, and classes that are known beforehand."""
        raise NotImplementedError  # abstract

    def load_state(self, params: Any, model: Model) -> Any:
        """Rebuild the state from a file; raise `ModelFileError` where it does not fit together."""
        raise NotImplementedError  # abstract

    def widen(self, state: Any, features: int, classes: int) -> None:
        """Make room for features, and count so many classes as known (0: those that came with rows)."""
        raise NotImplementedError  # abstract

    def width(self, state: Any) -> int:
        """Return how many features there is room for."""
        raise NotImplementedError  # abstract

    def settings(self, params: Any) -> Any:
        """Return the arguments as kernels take them; they are kept until one is changed."""
        raise NotImplementedError  # abstract

    def run_cases(self, state: Any, params: Any, rows: CaseRows, known: Known, start: int, stop: int, mode: int) -> int:
        """Run cases of rows, or a step of them; return the first row that there is no room for."""
        raise NotImplementedError  # abstract

    def learn_rows(self, state: Any, params: Any, rows: Rows, known: Known, start: int, stop: int) -> int:
        """Learn all values of rows; return the first row that there is no room for."""
        cases = CaseRows.of(rows.part(start, stop), known)
        return start + self.run_cases(state, params, cases, known, 0, stop - start, LEARN | WHOLE)

    def make_room(self, state: Any, params: Any, row: Floats, label: int, known: Known) -> None:
        """Make room for what a row brings: all of it or nothing."""
        raise NotImplementedError  # abstract

    def outcomes(self, model: Any, row: Floats, status: Status, item: int) -> list[Outcome]:
        """Return what may come back if an item is bought, by the mean; values that are missing are left out."""
        raise NotImplementedError  # abstract

    def recall(self, model: Any, row: Floats, status: Status) -> tuple[float, float | None] | None:
        """Return how often what is known was met, and its value; None of a learner that keeps no such values."""
        return None

    def weigh_question(self, model: FeatureBuyer, row: Floats, status: Status, item: int, score: float) -> Weighed:
        """Return what answering at once is worth, and what asking for an item first is, before its price."""
        return weigh(model, row, status, item)

    def run(self, state: Any, params: Any, rows: Rows, known: Known, start: int, stop: int, mode: int) -> Stop:
        """Take rows in order through one call of a kernel; see `quercus.engine.Engine`."""
        if isinstance(rows, CaseRows):
            row = self.run_cases(state, params, rows, known, start, stop, mode)
        elif mode & PREDICT:
            cases = CaseRows.of(rows.part(start, stop), known)
            row = start + self.run_cases(state, params, cases, known, 0, stop - start, mode | WHOLE)
        else:
            row = self.learn_rows(state, params, rows, known, start, stop)
        return Stop(row, DONE if row == stop else NEEDS_ROOM)

    def resume(self, state: Any, params: Any, rows: Rows, known: Known, stop: Stop) -> None:
        """Make room for the row that the loop stopped at."""
        self.make_room(state, params, rows.X[stop.row], int(rows.y[stop.row]), known)

    def predict(self, state: Any, params: Any, X: Floats, known: Known, answers: Integers, proba: Floats) -> None:
        """Write what is answered by what the plan would buy; change nothing."""
        answers[:] = -1
        rows = CaseRows(X, order=known.order, loss=known.loss, answers=answers, proba=proba)
        self.answer(state, params, rows, known)

    def answer(self, state: Any, params: Any, rows: CaseRows, known: Known) -> None:
        """Run cases that do not explore, in slices, so that Ctrl-C is heard."""
        rows, row, size = self.fitting(state, rows), 0, self.first_slice
        while row < len(rows):
            started, stop = time.perf_counter(), min(row + size, len(rows))
            self.run_cases(state, params, rows, known, row, stop, PREDICT)
            size = next_slice(size, stop - row, time.perf_counter() - started, _LARGEST_SLICE)
            row = stop

    def fitting(self, state: Any, rows: CaseRows) -> CaseRows:
        """Return rows without the features that there is no room for: these are not there."""
        width = self.width(state)
        return rows if rows.X.shape[1] <= width else rows.part(0, len(rows), width)

    def plan(
        self, params: FeatureBuyer, row: Floats, status: Status, history: Notes | None, left: float, seed: int | None
    ) -> Decision:
        """Return what to buy next for a row of which some is known, or why nothing; with a seed, to explore."""
        decisions = np.zeros(1, DECISION)
        decisions["left"], decisions["seed"] = left, seed or 0
        self._step(params, row, status, history, STEP if seed is None else STEP | EXPLORE, decisions)
        item, stop = int(decisions["item"][0]), int(decisions["stop"][0])
        return Decision(item, float(decisions["score"][0]), None if item >= 0 else STOPS[stop])

    def believe(self, params: FeatureBuyer, row: Floats, status: Status, history: Notes | None) -> Floats:
        """Return the probabilities by class id of a row of which some is known."""
        shares: Floats = self._step(params, row, status, history, BELIEVE, np.zeros(1, DECISION))
        return shares

    def _step(
        self,
        params: FeatureBuyer,
        row: Floats,
        status: Status,
        history: Notes | None,
        mode: int,
        decisions: npt.NDArray[np.void],
    ) -> Any:
        known = params._known
        proba = np.zeros((1, len(known.order)))
        rows = CaseRows(
            row.reshape(1, -1),
            order=known.order,
            loss=known.loss,
            answers=np.zeros(1, np.int64),
            proba=proba,
            status=status.reshape(1, -1).copy(),
            decisions=decisions,
            history=history,
        )
        self.run_cases(params._state, params, self.fitting(params._state, rows), known, 0, 1, mode)
        return proba[0]
