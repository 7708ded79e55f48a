"""The loops over rows of an evergreen tree, compiled. See ``docs/evergreen.md``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.ask.kernels import decide_row, measure_answer
from quercus.compile import array_type, kernel, record_maker
from quercus.decision import decide
from quercus.learners.evergreen.additive.kernels import (
    find_bins,
    is_on,
    learn_additive,
    make_additive_workspace,
    mix_additive,
    needs_edges,
    open_additive,
)
from quercus.learners.evergreen.growth import is_at, most_small, start_growth, step_growth
from quercus.learners.evergreen.layout import (
    ALARM,
    ALARMED,
    BEGIN,
    BUILT,
    CATCH_UP,
    CATCHING,
    FINISH,
    GROWING,
    IDLE,
    LEAST_WORK,
    NEEDS_CAPACITY,
    NEEDS_EDGES,
    NEEDS_RESIZE,
    PACE,
    READY,
    REPLAY,
    REPLAYING,
    TEST_EVERY,
    WINDOW,
    Learner,
    Room,
    ShownRows,
    Tree,
    make_path,
    make_split_workspace,
    open_growth,
    open_reservoir,
    open_tree,
)
from quercus.learners.evergreen.prunings import (
    MIXED,
    average_prunings,
    count_decayed,
    find_coded_path,
    find_path,
    learn_label,
    predict_proba,
    update_prunings,
)
from quercus.learners.evergreen.reservoir import round_weight, sample_row
from quercus.learners.evergreen.splits import BEST_SPLIT
from quercus.learners.evergreen.state import EvergreenState
from quercus.rows import ASK, DONE, LEARN, NEEDS_SCHEMA, NUMERIC, PAUSED, PREDICT, RESUME, UNSEEN, Rows

_ORDER = array_type(np.int64, 1, readonly=True)
_TABLE = array_type(np.float64, 2, readonly=True)
make_best_split = record_maker(BEST_SPLIT)
# Of a forest: the least probability of a tree, how much losses count, and how they decay.
LEAST = 1e-6
ETA = 0.03
DECAY = 0.99


@kernel(no_refcount=True)
def needs_resize(features: Any, X: Any, i: int, label: int, classes: int) -> bool:
    """Return whether a row brings a class or a feature that there is no room for."""
    unseen = 0
    for f in range(X.shape[1]):
        unseen += X[i, f] == X[i, f] and features[f].kind == UNSEEN
    return unseen > 0 or label >= classes


@kernel(no_refcount=True)
def is_unknown(features: Any, row: Any, label: int) -> bool:
    """Return whether a row holds a class or a category that the schema does not know."""
    unknown = label < 0
    for f in range(len(row)):
        kind = features[f].kind
        unknown |= kind != NUMERIC and row[f] == row[f] and (kind == UNSEEN or row[f] < 0.0)
    return unknown


@kernel(no_refcount=True)
def ask_row(option: Any, tree: Any, path: Any, depth: int, loss: Any, asking: Any, ring: Any, decision: Any) -> None:
    """Decide whether to ask for the label of a row that was answered."""
    margin, confidence, leaf, classes = 0.0, 0.0, path.nodes[depth], option.classes
    support = tree.nodes[leaf].n
    if classes > 0:
        if asking[0].by_counts:
            for k in range(classes):
                path.proba[MIXED, k] = (tree.counts[leaf, k] + 1.0 / classes) / (support + 1.0)
        margin, confidence = measure_answer(path.proba[MIXED], loss, classes, support)
    decide_row(asking[0], ring, decision, margin, confidence, support)


@kernel(no_refcount=True)
def predict_proba_again(option: Any, tree: Any, path: Any, depth: int) -> None:
    """Write probabilities again, because there is one class more."""
    predict_proba(option, tree, path, depth, option.classes)


@kernel(no_refcount=True)
def reverse(values: Any, first: int, last: int) -> None:
    """Turn the order of some values round."""
    for k in range((last - first) // 2):
        values[first + k], values[last - 1 - k] = values[last - 1 - k], values[first + k]


@kernel(no_refcount=True)
def detect_change(option: Any, errors: Any, is_wrong: bool) -> bool:
    """Count an error; from time to time test whether the last answers are worse than those before.

    By the test of equal proportions of STEPD (Nishida & Yamauchi, 2007), without its continuity correction.
    """
    place, wrong = option.since % WINDOW, 1 if is_wrong else 0
    errors[place] = wrong
    option.since += 1
    option.wrong += wrong
    if option.since % TEST_EVERY != 0 or option.since < 2 * WINDOW:
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
    reverse(errors, 0, place + 1)
    reverse(errors, place + 1, WINDOW)
    reverse(errors, 0, WINDOW)
    return True


@kernel(no_refcount=True)
def catch_up(option: Any, reservoir: Any, tree: Any, path: Any, classes: int) -> bool:
    """Let the new tree learn some of the rows that it does not know; return whether none is left."""
    for _ in range(CATCH_UP):
        place = option.position
        if option.stage == REPLAYING and place == option.grown:
            option.stage = CATCHING
        if place == option.rows:
            return True
        label, depth = np.int64(reservoir.rows[place].label), find_coded_path(tree, reservoir.bin_codes, place, path)
        if option.stage == CATCHING:
            average_prunings(tree, path, depth, classes)
            update_prunings(tree, path, depth, label, np.float64(reservoir.rows[place].weight))
        for j in range(depth + 1):
            count_decayed(tree, path.nodes[j], label)
        option.position += 1
    return option.position == option.rows and option.stage == CATCHING


@kernel(no_refcount=True)
def grow_on(
    option: Any,
    reservoir: Any,
    growing: Any,
    tree: Any,
    work: Any,
    workspace: Any,
    split: Any,
    path: Any,
    budget: float,
) -> int:
    """Do some of a growth that is under way; return why the loop over rows must stop, if it must."""
    if option.stage == GROWING:
        return BUILT if step_growth(reservoir, growing, work, workspace, split, budget) else DONE
    if option.stage == IDLE:
        return BEGIN if option.rows >= option.next_rebuild else DONE
    is_ready = catch_up(option, reservoir, tree, path, option.classes)
    while budget == np.inf and not is_ready:
        is_ready = catch_up(option, reservoir, tree, path, option.classes)
    return READY if is_ready else DONE


@kernel
def replay_growth(option: Any, reservoir: Any, tree: Any, work: Any, workspace: Any, split: Any) -> bool:
    """Do a growth again up to where it was; return whether it came there."""
    goal = work.growth.copy()
    start_growth(option, reservoir, tree, work, option.grown, goal[0].classes)
    while not is_at(work.growth[0], goal[0]):
        if step_growth(reservoir, tree, work, workspace, split, 0.5):
            return is_at(work.growth[0], goal[0])
    return True


@kernel(types.int64, EvergreenState.numba_type, Rows.numba_type, _ORDER, _TABLE, types.int64, types.int64, types.int64)
def run_rows(state: Any, rows: Any, order: Any, loss: Any, start: int, stop: int, mode: int) -> int:
    """Answer rows, ask for labels and learn, as the mode says; return where to go on, why is in ``options.stopped``.

    FINISH: no rows, but all that is left of the step of a growth. REPLAY: the growth anew, up to where it was.
    """
    option, reservoir, tree, new = (
        state.options[0],
        open_reservoir(state),
        open_tree(state.tree),
        open_tree(state.candidate),
    )
    work, grows = open_growth(state.growth), option.stage == GROWING
    # Recent labels are of no use to a tree that grows.
    growing = Tree(state.growth.nodes, state.growth.counts, state.growth.counts, state.growth.sets)
    width, model = tree.counts.shape[1], open_additive(state.additive)
    small = most_small(reservoir, work) if grows else 0
    path, workspace = make_path(width), make_split_workspace(len(state.features), small, width if grows else 0)
    split, terms = make_best_split(), make_additive_workspace(len(model.columns), width)
    if mode & REPLAY:
        option.stopped = DONE if replay_growth(option, reservoir, growing, work, workspace, split[0]) else BUILT
        return start
    if mode & FINISH:
        option.stopped = grow_on(option, reservoir, growing, new, work, workspace, split[0], path, np.inf)
        return start
    if option.stopped > NEEDS_CAPACITY:
        # What it stopped for has not been done: Ctrl-C came, or there was no memory.
        return start
    room = Room(path, workspace, split, terms)
    learner = Learner(state.options, state.errors, reservoir, tree, new, work, growing, model)
    shown = ShownRows(
        rows.X, rows.y, rows.weight, rows.monitored, rows.answers, rows.proba, rows.asking, rows.ring, rows.decisions
    )
    return go_through(learner, shown, order, loss, start, stop, mode, room)


@kernel(no_refcount=True)
def go_through(learner: Any, rows: Any, order: Any, loss: Any, start: int, stop: int, mode: int, room: Any) -> int:
    """Answer rows, ask for labels and learn; return where to go on."""
    options, errors, reservoir, tree, new, work, growing, model = learner
    X, y, w, monitored, answers, proba, asking, ring, decisions = rows
    path, workspace, split, terms = room
    option, sums, is_additive = options[0], model.sums, is_on(model)
    width, sampled, pace = tree.counts.shape[1], len(reservoir.sampled), float(max(PACE * X.shape[1], LEAST_WORK))
    resumed = mode & RESUME != 0 and PAUSED < option.stopped <= NEEDS_CAPACITY
    option.stopped = DONE
    last = stop
    for i in range(start, stop):
        if i >= last:
            option.stopped = PAUSED
            return i
        resumes, asks = resumed and i == start, mode & ASK
        learns, classes, answer = mode & LEARN and w[i] > 0.0, option.classes, np.int64(-1)
        depth = find_path(tree, X, i, path)
        lacking = is_additive and find_bins(model, X, i, terms)
        if classes > 0:
            predict_proba(option, tree, path, depth, classes)
            if is_additive:
                mix_additive(model, terms, path.proba[MIXED], classes)
            if mode & PREDICT or option.adaptive:
                answer = decide(path.proba[MIXED], order, loss, classes)
        if mode & PREDICT and not resumes:
            answers[i] = answer
            for k in range(classes):
                proba[i, k] = path.proba[MIXED, k]
        if asks and not resumes:
            ask_row(option, tree, path, depth, loss, asking, ring, decisions[i])
        if asks and decisions[i].asked == 0:
            continue
        if asks and not mode & LEARN:
            last = min(last, decisions[i].due)
        if not learns:
            continue
        label = y[i]
        if asks and is_unknown(reservoir.features, X[i], label):
            option.stopped = NEEDS_SCHEMA
            return i
        if lacking or needs_resize(reservoir.features, X, i, label, width):
            option.stopped = NEEDS_RESIZE
            return i
        if option.rows == len(reservoir.rows) or option.seen == sampled < option.places:
            option.stopped = NEEDS_CAPACITY
            return i
        if label >= classes:
            option.classes = sums[0].classes = label + 1
            predict_proba_again(option, tree, path, depth)
            if is_additive:
                mix_additive(model, terms, path.proba[MIXED], option.classes)
        weight = round_weight(w[i])
        learn_label(option, tree, path, depth, label, weight)
        if is_additive:
            learn_additive(model, terms, X, i, label, weight, True)
        sample_row(options, reservoir, X, i, label, weight)
        is_monitored = option.adaptive and (decisions[i].explored if asks else len(monitored) == 0 or monitored[i])
        has_changed = detect_change(option, errors, answer >= 0 and answer != label) if is_monitored else False
        if has_changed:
            option.stopped = ALARMED
            return i + 1
        if option.stage != IDLE or option.rows >= option.next_rebuild:
            option.stopped = grow_on(option, reservoir, growing, new, work, workspace, split[0], path, pace)
        if option.stopped == DONE and needs_edges(sums[0]):
            option.stopped = NEEDS_EDGES
        if option.stopped != DONE:
            return i + 1
    return stop


@kernel(types.void, EvergreenState.numba_type)
def begin_growth(state: Any) -> None:
    """Begin a growth from all rows of the reservoir."""
    option, growth = state.options[0], state.growth
    growing = Tree(growth.nodes, growth.counts, growth.counts, growth.sets)
    start_growth(option, open_reservoir(state), growing, open_growth(growth), option.rows, option.classes)
    option.stage, option.grown = GROWING, option.rows


@kernel
def geometric_average(tree_proba: Any, row: int, losses: Any, classes: int, proba: Any) -> None:
    """Write the weighted geometric mean of what the trees predict: a logarithmic opinion pool (Genest & Zidek, 1986).

    A tree's weight is an exponential of its decayed log loss.
    """
    least, total = losses[0], 0.0
    for t in range(1, len(losses)):
        least = min(least, losses[t])
    for k in range(classes):
        proba[k] = 0.0
    for t in range(len(losses)):
        weight = math.exp(ETA * (least - losses[t]))
        total += weight
        for k in range(classes):
            proba[k] += weight * math.log(max(tree_proba[t, row, k], LEAST))
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
def average_rows(
    tree_proba: Any, losses: Any, order: Any, loss: Any, y: Any, w: Any, answers: Any, proba: Any, classes: int
) -> int:
    """Answer rows by all trees; return the number of known classes.

    Where labels are given each tree is charged its log loss.
    """
    for i in range(tree_proba.shape[1]):
        answers[i] = -1
        if classes > 0:
            geometric_average(tree_proba, i, losses, classes, proba[i])
            answers[i] = decide(proba[i], order, loss, classes)
        if i < len(y) and w[i] > 0.0:
            for t in range(len(losses) if y[i] < classes else 0):
                losses[t] = DECAY * losses[t] - math.log(max(tree_proba[t, i, y[i]], LEAST))
            classes = max(classes, y[i] + 1)
    return classes
