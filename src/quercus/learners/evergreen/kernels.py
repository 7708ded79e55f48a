"""The loops over rows of an evergreen tree, compiled. ``docs/evergreen.md`` tells each step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.ask.kernels import decide_row, measure_answer
from quercus.compile import array_type, kernel, record_maker
from quercus.decision import decide
from quercus.learners.evergreen.additive.kernels import (
    find_cells,
    is_on,
    learn_singles,
    make_sheet,
    needs_limits,
    open_singles,
    tell_singles,
)
from quercus.learners.evergreen.additive.state import AdditiveState
from quercus.learners.evergreen.growth import is_at, most_small, start_growth, step_growth
from quercus.learners.evergreen.layout import (
    ALARM,
    ALARMED,
    BEGIN,
    CATCH_UP,
    CATCHING,
    FINISH,
    GROWING,
    IDLE,
    LEAST_WORK,
    LOOK_EVERY,
    NEEDS_LAYOUT,
    NEEDS_LIMITS,
    NEEDS_ROOM,
    NUMERIC,
    PACE,
    READY,
    REPLAY,
    REPLAYING,
    STANDS,
    UNSEEN,
    WINDOW,
    Tree,
    make_desk,
    make_path,
    open_store,
    open_tree,
    open_work,
)
from quercus.learners.evergreen.prunings import (
    MIXED,
    add_recent,
    find_coded_path,
    find_path,
    learn_label,
    learn_path,
    tell_classes,
    tell_prunings,
)
from quercus.learners.evergreen.reservoir import keep_row, round_weight
from quercus.learners.evergreen.splits import BEST_SPLIT
from quercus.learners.evergreen.state import EvergreenState, EvergreenTreeState, FrozenEvergreenState
from quercus.rows import ASK, DONE, LEARN, NEEDS_SCHEMA, PAUSED, PREDICT, RESUME, Rows

_ORDER = array_type(np.int64, 1, readonly=True)
_TABLE = array_type(np.float64, 2, readonly=True)
make_cut = record_maker(BEST_SPLIT)
# Of a forest: the least probability that counts, and how fast losses count and fade.
LEAST = 1e-6
ETA = 0.03
DECAY = 0.99


@kernel(borrows=True)
def lacks_layout(features: Any, X: Any, i: int, label: int, classes: int) -> bool:
    """Return whether a row brings a class or a feature that there is no room for."""
    unseen = 0
    for f in range(X.shape[1]):
        unseen += X[i, f] == X[i, f] and features[f].kind == UNSEEN
    return unseen > 0 or label >= classes


@kernel(borrows=True)
def is_unknown(features: Any, row: Any, label: int) -> bool:
    """Return whether a row holds a class or a category that the schema does not know."""
    unknown = label < 0
    for f in range(len(row)):
        kind = features[f].kind
        unknown |= kind != NUMERIC and row[f] == row[f] and (kind == UNSEEN or row[f] < 0.0)
    return unknown


@kernel
def ask_row(option: Any, tree: Any, path: Any, depth: int, loss: Any, asking: Any, ring: Any, decision: Any) -> None:
    """Decide whether to ask for the label of a row that was answered."""
    margin, confidence, leaf, classes = 0.0, 0.0, path.nodes[depth], option.classes
    support = tree.nodes[leaf].n
    if classes > 0:
        if asking[0].by_counts:
            for k in range(classes):
                path.told[MIXED, k] = (tree.counts[leaf, k] + 1.0 / classes) / (support + 1.0)
        margin, confidence = measure_answer(path.told[MIXED], loss, classes, support)
    decide_row(asking[0], ring, decision, margin, confidence, support)


@kernel(borrows=True)
def tell_anew(option: Any, tree: Any, path: Any, depth: int) -> None:
    """Tell of a row again, because there is one class more."""
    tell_classes(option, tree, path, depth, option.classes)


@kernel
def has_worsened(option: Any, errors: Any, is_wrong: bool) -> bool:
    """Count an error; from time to time compare the last ones with those before."""
    place, wrong = option.since % WINDOW, 1 if is_wrong else 0
    errors[place] = wrong
    option.since += 1
    option.wrong += wrong
    if option.since % LOOK_EVERY != 0 or option.since < 2 * WINDOW:
        return False
    late, others = 0, option.since - WINDOW
    for k in range(WINDOW):
        late += errors[k]
    share = option.wrong / option.since
    spread = math.sqrt(max(share * (1.0 - share), 1e-4) * (1.0 / WINDOW + 1.0 / others))
    if late / WINDOW - (option.wrong - late) / others <= ALARM * spread:
        return False
    option.since, option.wrong = WINDOW, late
    # The window goes on where counting begins anew.
    turned = np.zeros(WINDOW, np.uint8)
    for k in range(WINDOW):
        turned[k] = errors[(place + 1 + k) % WINDOW]
    for k in range(WINDOW):
        errors[k] = turned[k]
    return True


@kernel(borrows=True)
def catch_up(option: Any, store: Any, tree: Any, path: Any, classes: int) -> bool:
    """Let the new tree learn some of the rows that it does not know; return whether none is left."""
    for _ in range(CATCH_UP):
        place = option.position
        if option.stage == REPLAYING and place == option.grown:
            option.stage = CATCHING
        if place == option.rows:
            return True
        label, depth = np.int64(store.rows[place].label), find_coded_path(tree, store.codes, place, path)
        if option.stage == CATCHING:
            tell_prunings(tree, path, depth, classes)
            learn_path(tree, path, depth, label, np.float64(store.rows[place].weight))
        for j in range(depth + 1):
            add_recent(tree, path.nodes[j], label)
        option.position += 1
    return option.position == option.rows and option.stage == CATCHING


@kernel(borrows=True)
def grow_on(
    option: Any, store: Any, growing: Any, tree: Any, work: Any, desk: Any, cut: Any, path: Any, budget: float
) -> int:
    """Do some of a growth that is under way; return why the loop over rows must stop, if it must."""
    if option.stage == GROWING:
        return STANDS if step_growth(store, growing, work, desk, cut, budget) else DONE
    if option.stage == IDLE:
        return BEGIN if option.rows >= option.due else DONE
    is_ready = catch_up(option, store, tree, path, option.classes)
    while budget == np.inf and not is_ready:
        is_ready = catch_up(option, store, tree, path, option.classes)
    return READY if is_ready else DONE


@kernel
def replay_growth(option: Any, store: Any, tree: Any, work: Any, desk: Any, cut: Any) -> bool:
    """Do a growth again up to where it was; return whether it came there."""
    goal = work.growth.copy()
    start_growth(option, store, tree, work, option.grown, goal[0].classes)
    while not is_at(work.growth[0], goal[0]):
        if step_growth(store, tree, work, desk, cut, 0.5):
            return is_at(work.growth[0], goal[0])
    return True


@kernel(types.int64, EvergreenState.numba_type, Rows.numba_type, _ORDER, _TABLE, types.int64, types.int64, types.int64)
def run_rows(state: Any, batch: Any, order: Any, loss: Any, start: int, stop: int, mode: int) -> int:
    """Answer rows, ask for labels and learn, as told; return the row to go on from, why is in ``options.stopped``.

    FINISH: no rows, but all that is left of the step of a growth. REPLAY: the growth anew, up to where it was.
    """
    options, errors, features, rows = state.options, state.errors, state.features, state.rows
    X, y, w, monitored, answers, proba = batch.X, batch.y, batch.weight, batch.monitored, batch.answers, batch.proba
    asking, ring, decisions = batch.asking, batch.ring, batch.decisions
    option, store, tree, new = options[0], open_store(state), open_tree(state.tree), open_tree(state.candidate)
    work, grows = open_work(state.growth), option.stage == GROWING
    # Recent labels are of no use to a tree that grows.
    growing = Tree(state.growth.nodes, state.growth.counts, state.growth.counts, state.growth.sets)
    width, sampled = tree.counts.shape[1], len(store.sampled)
    small = most_small(store, work) if grows else 0
    path, desk = make_path(width), make_desk(len(features), small, width if grows else 0)
    cut, pace = make_cut(), float(max(PACE * X.shape[1], LEAST_WORK))
    singles = open_singles(state.additive)
    sums = singles.sums
    sheet, adds_singles = make_sheet(len(singles.columns), width), is_on(singles)
    resumed = mode & RESUME != 0 and PAUSED < option.stopped <= NEEDS_ROOM
    if mode & REPLAY:
        option.stopped = DONE if replay_growth(option, store, growing, work, desk, cut[0]) else STANDS
        return start
    if mode & FINISH:
        option.stopped = grow_on(option, store, growing, new, work, desk, cut[0], path, np.inf)
        return start
    if option.stopped > NEEDS_ROOM:
        # What it stopped for has not been done: Ctrl-C came, or there was no memory.
        return start
    option.stopped = DONE
    last = stop
    for i in range(start, stop):
        if i >= last:
            option.stopped = PAUSED
            return i
        resumes, asks = resumed and i == start, mode & ASK
        learns, classes, answer = mode & LEARN and w[i] > 0.0, option.classes, np.int64(-1)
        depth = find_path(tree, X, i, path)
        lacking = adds_singles and find_cells(singles, X, i, sheet)
        if classes > 0:
            tell_classes(option, tree, path, depth, classes)
            if adds_singles:
                tell_singles(singles, sheet, path.told[MIXED], classes)
            if mode & PREDICT or option.adaptive:
                answer = decide(path.told[MIXED], order, loss, classes)
        if mode & PREDICT and not resumes:
            answers[i] = answer
            for k in range(classes):
                proba[i, k] = path.told[MIXED, k]
        if asks and not resumes:
            ask_row(option, tree, path, depth, loss, asking, ring, decisions[i])
        if asks and decisions[i].asked == 0:
            continue
        if asks and not mode & LEARN:
            last = min(last, decisions[i].due)
        if not learns:
            continue
        label = y[i]
        if asks and is_unknown(features, X[i], label):
            option.stopped = NEEDS_SCHEMA
            return i
        if lacking or lacks_layout(features, X, i, label, width):
            option.stopped = NEEDS_LAYOUT
            return i
        if option.rows == len(rows) or option.seen == sampled < option.places:
            option.stopped = NEEDS_ROOM
            return i
        if label >= classes:
            option.classes = sums[0].classes = label + 1
            tell_anew(option, tree, path, depth)
            if adds_singles:
                tell_singles(singles, sheet, path.told[MIXED], option.classes)
        weight = round_weight(w[i])
        learn_label(option, tree, path, depth, label, weight)
        if adds_singles:
            learn_singles(singles, sheet, X, i, label, weight, True)
        keep_row(options, store, X, i, label, weight)
        watches = option.adaptive and (decisions[i].explored if asks else len(monitored) == 0 or monitored[i])
        worse = has_worsened(option, errors, answer >= 0 and answer != label) if watches else False
        if worse:
            option.stopped = ALARMED
            return i + 1
        if option.stage != IDLE or option.rows >= option.due:
            option.stopped = grow_on(option, store, growing, new, work, desk, cut[0], path, pace)
        if option.stopped == DONE and needs_limits(sums[0]):
            option.stopped = NEEDS_LIMITS
        if option.stopped != DONE:
            return i + 1
    return stop


@kernel(types.void, EvergreenState.numba_type)
def begin_growth(state: Any) -> None:
    """Begin a growth from all rows of the store."""
    option, growth = state.options[0], state.growth
    growing = Tree(growth.nodes, growth.counts, growth.counts, growth.sets)
    start_growth(option, open_store(state), growing, open_work(growth), option.rows, option.classes)
    option.stage, option.grown = GROWING, option.rows


@kernel(
    types.void,
    FrozenEvergreenState.fields["options"].numba_type,
    EvergreenTreeState.numba_type,
    AdditiveState.numba_type,
    _ORDER,
    _TABLE,
    array_type(np.float64, 2, readonly=True),
    array_type(np.int64, 1),
    array_type(np.float64, 2),
)
def answer_rows(
    options: Any, standing: Any, additive: Any, order: Any, loss: Any, X: Any, answers: Any, proba: Any
) -> None:
    """Answer rows."""
    option, tree, singles = options[0], open_tree(standing), open_singles(additive)
    path, classes = make_path(tree.counts.shape[1]), option.classes
    sheet, adds_singles = make_sheet(len(singles.columns), tree.counts.shape[1]), is_on(singles)
    for i in range(len(X)):
        answers[i] = -1
        if classes == 0:
            continue
        tell_classes(option, tree, path, find_path(tree, X, i, path), classes)
        if adds_singles:
            find_cells(singles, X, i, sheet)
            tell_singles(singles, sheet, path.told[MIXED], classes)
        answers[i] = decide(path.told[MIXED], order, loss, classes)
        for k in range(classes):
            proba[i, k] = path.told[MIXED, k]


@kernel
def vote(told: Any, row: int, losses: Any, classes: int, proba: Any) -> None:
    """Write the weighted geometric mean of what the trees tell of a row."""
    least, total = losses[0], 0.0
    for t in range(1, len(losses)):
        least = min(least, losses[t])
    for k in range(classes):
        proba[k] = 0.0
    for t in range(len(losses)):
        weight = math.exp(ETA * (least - losses[t]))
        total += weight
        for k in range(classes):
            proba[k] += weight * math.log(max(told[t, row, k], LEAST))
    largest, whole = -np.inf, 0.0
    for k in range(classes):
        largest = max(largest, proba[k])
    for k in range(classes):
        proba[k] = math.exp((proba[k] - largest) / total)
        whole += proba[k]
    for k in range(classes):
        proba[k] /= whole


@kernel(
    types.int64,
    array_type(np.float64, 3, readonly=True),
    array_type(np.float64, 1),
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 1, readonly=True),
    array_type(np.int64, 1),
    array_type(np.float64, 2),
    types.int64,
)
def vote_rows(
    told: Any, losses: Any, order: Any, loss: Any, y: Any, w: Any, answers: Any, proba: Any, classes: int
) -> int:
    """Answer rows by all trees; where labels are given, see how each tree did. Return the number of known classes."""
    for i in range(told.shape[1]):
        answers[i] = -1
        if classes > 0:
            vote(told, i, losses, classes, proba[i])
            answers[i] = decide(proba[i], order, loss, classes)
        if i < len(y) and w[i] > 0.0:
            for t in range(len(losses) if y[i] < classes else 0):
                losses[t] = DECAY * losses[t] - math.log(max(told[t, i, y[i]], LEAST))
            classes = max(classes, y[i] + 1)
    return classes
