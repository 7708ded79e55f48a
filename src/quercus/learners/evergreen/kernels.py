"""The loops over rows of an evergreen tree, compiled. ``docs/evergreen.md`` tells each step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from quercus.ask.kernels import decide_row, measure_answer
from quercus.ask.layout import ASKING_TYPE, DECISIONS_TYPE, RING_TYPE
from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.evergreen.answers import (
    MIXED,
    add_recent,
    find_coded_path,
    find_path,
    learn_label,
    learn_path,
    tell_classes,
    tell_prunings,
)
from quercus.learners.evergreen.coding import keep_row, round_weight
from quercus.learners.evergreen.cuts import CUT
from quercus.learners.evergreen.growth import most_small, start_growth, step_growth
from quercus.learners.evergreen.layout import (
    ALARM,
    ALARMED,
    ASK,
    BEGIN,
    CATCH_UP,
    CATCHING,
    CHUNK,
    DEEPEST,
    FINISH,
    GROWING,
    IDLE,
    LEARN,
    LEAST_WORK,
    LOOK_EVERY,
    MOST_CODES,
    NEEDS_LAYOUT,
    NEEDS_LIMITS,
    NEEDS_ROOM,
    NUMERIC,
    OPTIONS,
    PACE,
    PREDICT,
    READY,
    REPLAYING,
    RESUME,
    SAMPLE,
    STANDS,
    STORE_TYPES,
    TREE_TYPES,
    UNSEEN,
    WINDOW,
    WORK_TYPES,
    Desk,
    Path,
    Store,
    Tree,
    Work,
)
from quercus.learners.evergreen.singles.kernels import (
    find_cells,
    is_on,
    learn_singles,
    make_sheet,
    needs_limits,
    tell_singles,
)
from quercus.learners.evergreen.singles.layout import SINGLES_TYPES, Singles
from quercus.rows import DONE, NEEDS_SCHEMA, PAUSED

_NUMBER = types.int64
_NUMBERS = array_type(np.float64, 1, readonly=True)
_PLACES = array_type(np.int64, 1, readonly=True)
_TABLE = array_type(np.float64, 2, readonly=True)
_ANSWERS = (array_type(np.int64, 1), array_type(np.float64, 2))


@kernel
def make_path(classes: int) -> Any:
    """Return room for one example."""
    return Path(np.zeros(DEEPEST + 2, np.int64), np.zeros((DEEPEST + 2, classes)), np.zeros((3, classes)))


@kernel
def make_desk(store: Any, work: Any, classes: int) -> Any:
    """Return room for growing."""
    codes, rows = MOST_CODES + 1, most_small(store, work) if classes > 0 else 0
    return Desk(
        np.zeros(codes * classes),
        np.empty(codes),
        np.empty(codes, np.int64),
        np.empty(codes),
        np.zeros(codes, np.uint8),
        np.zeros(4, np.uint64),
        np.empty((2, classes)),
        np.empty((2, classes)),
        np.empty(classes),
        np.empty(classes, np.int64),
        np.empty(classes, np.int64),
        np.empty(rows, np.int32),
        np.empty(rows, np.int64),
        np.empty(rows),
        np.empty((2, CHUNK if classes > 0 else 0), np.int32),
        np.empty(len(store.features), np.int64),
    )


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
def grow_on(option: Any, store: Any, tree: Any, work: Any, desk: Any, cut: Any, path: Any, budget: float) -> int:
    """Do some of a growth that is under way; return why the loop over rows must stop, if it must."""
    if option.stage == GROWING:
        return STANDS if step_growth(store, tree, work, desk, cut, budget) else DONE
    if option.stage == IDLE:
        return BEGIN if option.rows >= option.due else DONE
    is_ready = catch_up(option, store, tree, path, option.classes)
    while budget == np.inf and not is_ready:
        is_ready = catch_up(option, store, tree, path, option.classes)
    return READY if is_ready else DONE


@kernel(
    _NUMBER,
    array_type(OPTIONS, 1),
    *STORE_TYPES,
    *TREE_TYPES,
    *TREE_TYPES,
    *WORK_TYPES,
    array_type(np.uint8, 1),
    *SINGLES_TYPES,
    _PLACES,
    _TABLE,
    _TABLE,
    _PLACES,
    _NUMBERS,
    array_type(np.uint8, 1, readonly=True),
    *_ANSWERS,
    ASKING_TYPE,
    RING_TYPE,
    DECISIONS_TYPE,
    _NUMBER,
    _NUMBER,
    _NUMBER,
)
def run_rows(
    options: Any,
    features: Any,
    edges: Any,
    sample: Any,
    sampled: Any,
    codes: Any,
    rows: Any,
    nodes: Any,
    counts: Any,
    recent: Any,
    sets: Any,
    new_nodes: Any,
    new_counts: Any,
    new_recent: Any,
    new_sets: Any,
    growth: Any,
    places: Any,
    stack: Any,
    live: Any,
    hists: Any,
    slots: Any,
    spans: Any,
    shares: Any,
    errors: Any,
    sums: Any,
    columns: Any,
    limits: Any,
    kept: Any,
    kept_rows: Any,
    table: Any,
    visits: Any,
    totals: Any,
    order: Any,
    loss: Any,
    X: Any,
    y: Any,
    w: Any,
    watched: Any,
    answers: Any,
    proba: Any,
    asking: Any,
    ring: Any,
    decisions: Any,
    start: int,
    stop: int,
    mode: int,
) -> int:
    """Answer rows, ask for labels and learn, as told; return the row to go on from, why is in ``options.stopped``.

    ``watched``: which rows tell whether answers have become worse; empty: all. FINISH: no rows, but all that is left of
    the step of a growth.
    """
    option, store = options[0], Store(features, edges, sample, sampled, codes, rows)
    tree, new = Tree(nodes, counts, recent, sets), Tree(new_nodes, new_counts, new_recent, new_sets)
    work, grows = Work(growth, places, stack, live, hists, slots, spans, shares), option.stage == GROWING
    path, desk = make_path(counts.shape[1]), make_desk(store, work, counts.shape[1] if grows else 0)
    cut, pace = np.zeros(1, CUT), float(max(PACE * X.shape[1], LEAST_WORK))
    singles = Singles(sums, columns, limits, kept, kept_rows, table, visits, totals)
    sheet, adds_singles = make_sheet(len(columns), counts.shape[1]), is_on(singles)
    option.stopped = DONE
    if mode & FINISH:
        option.stopped = grow_on(option, store, new, work, desk, cut[0], path, np.inf)
        return start
    last = stop
    for i in range(start, stop):
        if i >= last:
            option.stopped = PAUSED
            return i
        resumes, asks = mode & RESUME and i == start, mode & ASK
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
        if lacking or lacks_layout(features, X, i, label, counts.shape[1]):
            option.stopped = NEEDS_LAYOUT
            return i
        if option.rows == len(rows) or option.seen == len(sampled) < SAMPLE:
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
        watches = option.adaptive and (decisions[i].explored if asks else len(watched) == 0 or watched[i])
        worse = has_worsened(option, errors, answer >= 0 and answer != label) if watches else False
        if worse:
            option.stopped = ALARMED
            return i + 1
        if option.stage != IDLE or option.rows >= option.due:
            option.stopped = grow_on(option, store, new, work, desk, cut[0], path, pace)
        if option.stopped == DONE and needs_limits(sums[0]):
            option.stopped = NEEDS_LIMITS
        if option.stopped != DONE:
            return i + 1
    return stop


@kernel(
    types.void,
    array_type(OPTIONS, 1),
    *STORE_TYPES,
    *TREE_TYPES,
    *WORK_TYPES,
)
def begin_growth(
    options: Any,
    features: Any,
    edges: Any,
    sample: Any,
    sampled: Any,
    codes: Any,
    rows: Any,
    nodes: Any,
    counts: Any,
    recent: Any,
    sets: Any,
    growth: Any,
    places: Any,
    stack: Any,
    live: Any,
    hists: Any,
    slots: Any,
    spans: Any,
    shares: Any,
) -> None:
    """Begin a growth from all rows of the store."""
    store, tree = Store(features, edges, sample, sampled, codes, rows), Tree(nodes, counts, recent, sets)
    work = Work(growth, places, stack, live, hists, slots, spans, shares)
    start_growth(options[0], store, tree, work)
    options[0].stage, options[0].grown = GROWING, options[0].rows


@kernel(types.void, array_type(OPTIONS, 1), *TREE_TYPES, *SINGLES_TYPES, _PLACES, _TABLE, _TABLE, *_ANSWERS)
def answer_rows(
    options: Any,
    nodes: Any,
    counts: Any,
    recent: Any,
    sets: Any,
    sums: Any,
    columns: Any,
    limits: Any,
    kept: Any,
    kept_rows: Any,
    table: Any,
    visits: Any,
    totals: Any,
    order: Any,
    loss: Any,
    X: Any,
    answers: Any,
    proba: Any,
) -> None:
    """Answer rows."""
    tree, path, classes = Tree(nodes, counts, recent, sets), make_path(counts.shape[1]), options[0].classes
    singles = Singles(sums, columns, limits, kept, kept_rows, table, visits, totals)
    sheet, adds_singles = make_sheet(len(columns), counts.shape[1]), is_on(singles)
    for i in range(len(X) if classes > 0 else 0):
        tell_classes(options[0], tree, path, find_path(tree, X, i, path), classes)
        if adds_singles:
            find_cells(singles, X, i, sheet)
            tell_singles(singles, sheet, path.told[MIXED], classes)
        answers[i] = decide(path.told[MIXED], order, loss, classes)
        for k in range(classes):
            proba[i, k] = path.told[MIXED, k]
