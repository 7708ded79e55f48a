"""How the trees of a growing forest learn: online bagging, and another tree where errors have risen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.engine import Known, Stop
from quercus.learners.forest.kernels import vote_rows
from quercus.learners.forest.state import GrowingForestState, Member
from quercus.registry import find_learner
from quercus.rows import DONE, LEARN, PAUSED, PREDICT, RESUME, FullError, Rows
from quercus.statistics.detector_kernels import ADWIN_CLOCK, ADWIN_CODE, CHANGE, update_values

DEFAULT_TREE = "CredibleTree"
# Another tree begins to learn beside one at this many times the probability of a false alarm.
_EARLY = 10.0
# Rows between two looks at the errors of a tree: what it learns after a change is learned in vain.
_CHUNK = 256


def make_params(params: Any, state: GrowingForestState, place: int) -> Any:
    """Return an untrained tree with the arguments of the one in a place.

    Parameters
    ----------
    params
        The forest.
    state, place
        Where the tree is.
    """
    tree = find_learner(DEFAULT_TREE)() if params.tree is None else params.tree._new()
    return tree.set_params(seed=int(state.record.generator(place).integers(2**31)))


def begin(params: Any, state: GrowingForestState, place: int, classes: int) -> None:
    """Let a new tree begin in a place.

    Parameters
    ----------
    params
        The forest.
    state, place
        Where.
    classes
        How many are known.
    """
    record = state.record
    turn, features = place % len(record.turns), record.sizes["feature"]
    record.places[place] = (1, record.turns["begun"][turn], 0, 0)
    record.turns["begun"][turn] += 1
    record.turns["matched"][turn] = 0
    count = max(1, round(float(record.head["subspace"][0]) * features)) if features else 0
    columns = np.sort(record.generator(place).permutation(features)[:count])
    record.columns[place] = 0
    record.columns[place, columns] = 1
    tree = make_params(params, state, place)
    member = Member(tree, tree.engine.new_state(tree, len(columns), classes), columns)
    member.engine.widen(member.state, len(columns), classes)
    state.members[place] = member


def learn_rows(params: Any, state: GrowingForestState, rows: Rows, known: Known) -> None:
    """Let each tree answer rows and learn them, each so many times as is drawn, and take their votes.

    Parameters
    ----------
    params
        The forest.
    state, rows, known
        As an engine gets them.
    """
    record, n = state.record, len(rows)
    trees, counted = len(record.turns), rows.weight > 0.0
    copies = np.zeros((trees, n))
    copies[:, counted] = record.draw_copies(params.lambda_value, int(counted.sum()))
    # The classes that are known before each row, and at the end.
    classes = np.maximum.accumulate(np.concatenate([record.head["classes"], np.where(counted, rows.y + 1, 0)]))
    votes, trust = np.zeros((trees, n, known.classes)), np.empty((trees, n))
    for tree in range(trees):
        given = {"y": rows.y, "weight": rows.weight * copies[tree], "monitored": rows.monitored}
        own, start = Rows(rows.X, **given, answers=np.full(n, -1), proba=votes[tree]), 0
        while start < n:
            part = slice(start, min(start + _CHUNK, n))
            chunk = own if part == slice(0, n) else own.part(part.start, part.stop)
            seen = classes[start + 1 :]
            try:
                start += _learn_part(params, state, tree, chunk, known, counted[part], seen, trust[tree, part])
            except FullError as full:
                raise FullError(start + full.row, full.error) from full
    record.head["classes"] = classes[-1]
    record.head["rows"] += counted.sum()
    if len(rows.answers):
        vote_rows(votes, trust, known.order, known.loss, classes[:-1], rows.ref)


def _learn_part(
    params: Any,
    state: GrowingForestState,
    tree: int,
    rows: Rows,
    known: Known,
    counted: npt.NDArray[np.bool_],
    classes: npt.NDArray[np.int64],
    trust: npt.NDArray[np.float64],
) -> int:
    """Let a tree answer and learn rows up to one at which another replaces it; return how many, and note its trust."""
    record = state.record
    beside = tree + len(record.turns)
    _run(state.members[tree], rows, known, LEARN | PREDICT)
    judged = counted & (rows.answers >= 0)
    right = judged & (rows.answers == rows.y)
    place = record.places[tree : tree + 1]
    n_right, n = np.cumsum(right), np.cumsum(judged)
    trust[:] = (place["right"] + n_right - right + 1.0) / (place["n"] + n - judged + 2.0)
    place["right"] += n_right[-1]
    place["n"] += n[-1]
    if params.drift is None:
        return len(rows)
    fed = np.flatnonzero(judged & (rows.monitored > 0) if len(rows.monitored) else judged)
    errors = np.where(right[fed], 0.0, 1.0)
    changes = set(fed[_find_rises(record.windows[tree, 1], errors, params.drift)].tolist())
    warnings = set(fed[_find_rises(record.windows[tree, 0], errors, min(_EARLY * params.drift, 1.0))].tolist())
    start = 0
    for row in sorted(changes | warnings | {len(rows) - 1}):
        part = slice(start, row + 1)
        if state.members[beside] is not None:
            _learn_beside(state, tree, rows.part(start, row + 1), known, right[part], counted[part])
        if row in changes and state.is_beaten(tree):
            state.promote(tree)
            # What the tree before has answered to the rows that follow.
            rows.proba[row + 1 :] = 0.0
            return row + 1
        if row in warnings or (row in changes and state.members[beside] is None):
            _begin_beside(params, state, beside, int(classes[row]))
        start = row + 1
    return len(rows)


def _begin_beside(params: Any, state: GrowingForestState, place: int, classes: int) -> None:
    """Let another tree begin beside one; without room for it, there is none."""
    try:
        begin(params, state, place, classes)
    except (MemoryError, ValueError):
        # Its arguments are those of the one in charge, so that max_bytes is what a new one finds too small.
        state.drop(place)


def _learn_beside(
    state: GrowingForestState,
    tree: int,
    rows: Rows,
    known: Known,
    right: npt.NDArray[np.bool_],
    counted: npt.NDArray[np.bool_],
) -> None:
    """Let the tree beside another answer and learn rows, and note how both did since it began."""
    record, beside = state.record, tree + len(state.record.turns)
    own = Rows(rows.X, y=rows.y, weight=rows.weight, answers=np.full(len(rows), -1), proba=np.zeros_like(rows.proba))
    try:
        _run(state.members[beside], own, known, LEARN | PREDICT)
    except FullError:
        # The one in charge finds room: it stays, without another.
        state.drop(beside)
        return
    judged = counted & (own.answers >= 0)
    record.places["n"][beside] += judged.sum()
    record.places["right"][beside] += (judged & (own.answers == rows.y)).sum()
    record.turns["matched"][tree] += (judged & right).sum()


def _find_rises(window: npt.NDArray[np.float64], errors: npt.NDArray[np.float64], delta: float) -> Any:
    """Return where ADWIN finds that errors have risen (Bifet & Gavalda 2007)."""
    codes = np.empty(len(errors), np.int8)
    update_values(ADWIN_CODE, np.array([delta, ADWIN_CLOCK, 0.0]), window, errors, codes, False)
    return np.flatnonzero(codes == CHANGE)


def _run(member: Any, rows: Rows, known: Known, mode: int) -> None:
    """Let a tree take rows, with the room that it needs."""
    given = {name: getattr(rows, name) for name in ("y", "weight", "monitored", "answers", "proba")}
    own, own_known = Rows(member.see(rows.X), **given), member.know(known)
    stop, resume = Stop(0, DONE), 0
    while stop.row < len(rows):
        stop = member.engine.run(member.state, member.params, own, own_known, stop.row, len(rows), mode | resume)
        resume = RESUME if stop.why > PAUSED else 0
        if resume:
            try:
                member.engine.resume(member.state, member.params, own, own_known, stop)
            except MemoryError as error:
                raise FullError(stop.row, error) from error
