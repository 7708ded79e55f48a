"""The loops over rows of a utility tree, compiled. ``docs/utility.md`` tells each step.

A case that explores is planned by a posterior sample (Thompson, 1933), others by the mean (Rahbar et al., 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.acquisition.kernels import draw_seed
from quercus.acquisition.layout import (
    EXPLORE,
    GENERATOR,
    GOES_ON,
    KEPT_VALUES,
    KNOWN,
    MISSING,
    POSTERIOR,
    STEP,
    UNKNOWN,
    WHOLE,
)
from quercus.acquisition.rows import CaseRows, PriceList
from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.learners.utility.kernels.counting import learn_label, learn_value, needs_resize
from quercus.learners.utility.kernels.layout import EC2, QUANTILES, SETTINGS
from quercus.learners.utility.kernels.pairs import learn_pairs
from quercus.learners.utility.kernels.planning import begin_path, find_path, make_workspace, plan_step, reveal
from quercus.learners.utility.kernels.posterior import (
    average_bins,
    draw_rest,
    fill_classes,
    fill_posterior,
    make_posterior,
    share_weights,
    weigh_known,
    weigh_partners,
)
from quercus.learners.utility.kernels.selection import select_best, select_to_explore
from quercus.learners.utility.state import UtilityState
from quercus.rows import LEARN, Rows

_NUMBER = types.int64
_SETTINGS = array_type(SETTINGS, 1, readonly=True)


@kernel(
    _NUMBER,
    UtilityState.numba_type,
    _SETTINGS,
    Rows.numba_type,
    array_type(np.uint8, 1, readonly=True),
    *(_NUMBER,) * 3,
)
def learn_rows(state: Any, settings: Any, rows: Any, asked: Any, start: int, stop: int, counts_rows: int) -> int:
    """Learn every value of rows; return the first row that there is no room for.

    ``asked`` tells of each feature whether a value that is not there came back missing (empty: of all), ``counts_rows``
    whether rows are examples of their classes, or only tell what values these have.
    """
    X, y, w = rows.X, rows.y, rows.weight
    order, forget, known = np.zeros(KEPT_VALUES, np.int64), settings[0].forget, np.zeros(X.shape[1], np.uint8)
    for i in range(start, stop):
        if not w[i] > 0.0:
            continue
        if needs_resize(state, X[i], y[i]):
            return i
        if counts_rows:
            learn_label(state, y[i], w[i], forget)
        for f in range(X.shape[1]):
            known[f] = X[i, f] == X[i, f]
            state.features[f].asked += known[f] | (len(asked) == 0 or asked[f])
            if known[f]:
                learn_value(state, f, X[i, f], y[i], w[i], forget > 0.0, order)
        learn_pairs(state, X[i], known, y[i], w[i])
    return stop


@kernel
def copy_status(source: Any, target: Any) -> None:
    """Copy what is known of a case, as far as there is room for its features."""
    for f in range(min(len(source), len(target))):
        target[f] = source[f]


@kernel(inline=True)
def buy_values(
    settings: Any,
    state: Any,
    prices: Any,
    posterior: Any,
    work: Any,
    row: Any,
    left: float,
    loss: Any,
    steps: int,
    decision: Any,
) -> float:
    """Buy from a row until the plan stops, and return what that cost; or just decide on the next step of a case."""
    for f in range(0 if steps else len(row)):
        work.trial[f] = KNOWN if row[f] == row[f] else MISSING
        work.status[f] = UNKNOWN
        work.first_score[f] = np.nan
    if not steps:
        begin_path(work, work.status)
    cost = 0.0
    decision.stop = GOES_ON
    while decision.stop == GOES_ON:
        plan_step(settings, state, prices, posterior, work, row, left - cost, loss, decision)
        if steps:
            break
        if decision.stop == GOES_ON:
            reveal(state, prices, work, work.trial, work.status, row, decision.item)
            cost += prices.price[decision.item]
    return cost


@kernel
def reward_edges(state: Any, posterior: Any, work: Any) -> None:
    """Credit the edges that were drawn with their scores over their probability: Exp3 (Auer et al., 2002)."""
    for f in range(len(state.favour)):
        score = work.first_score[f]
        if posterior.picked[f] >= 0 and score == score:
            state.favour[f, posterior.picked[f]] += score / posterior.chance[f]


@kernel
def learn_case(
    settings: Any, state: Any, mean: Any, work: Any, row: Any, y: int, w: float, whole: int, order: Any
) -> bool:
    """Learn from the values that are known, and bring their means up to date; return whether all means are so."""
    classes, forget = state.options[0].classes, settings.forget
    learn_label(state, y, w, forget)
    fill_classes(settings, state, mean)
    for f in range(len(row)):
        work.trial[f] = row[f] == row[f] and (whole or work.status[f] == KNOWN)
        state.features[f].asked += whole != 0 or work.status[f] in (KNOWN, MISSING)
        if not work.trial[f]:
            continue
        bins = state.features[f].bins
        redrawn = learn_value(state, f, row[f], y, w, forget > 0.0, order)
        # With other bins the probabilities of all classes are others.
        redrawn |= bins != state.features[f].bins
        for c in range(0 if redrawn else y, state.options[0].classes if redrawn else y + 1):
            average_bins(settings, state, mean, f, c)
    learn_pairs(state, row, work.trial, y, w)
    return forget == 0.0 and classes == state.options[0].classes


@kernel(
    _NUMBER,
    UtilityState.numba_type,
    _SETTINGS,
    PriceList.numba_type,
    CaseRows.numba_type,
    array_type(GENERATOR, 1),
    *(_NUMBER,) * 3,
)
def run_cases(
    state: Any, all_settings: Any, prices: Any, rows: Any, generators: Any, start: int, stop: int, mode: int
) -> int:
    """Run a case for each row, or a step of one; return the first row that there is no room for.

    ``rows.status`` is read by a step, and written by a whole case.
    """
    X, y, w, order, loss = rows.X, rows.y, rows.weight, rows.order, rows.loss
    spent, answers, proba, cost, status = rows.spent, rows.answers, rows.proba, rows.cost, rows.status
    options, settings = state.options, all_settings[0]
    work, places = make_workspace(state, prices), np.zeros(KEPT_VALUES, np.int64)
    explore, learns, steps = mode & EXPLORE, mode & LEARN, mode & STEP
    mean = make_posterior(settings, state, len(prices.price), 0, generators[:1])
    drawn = make_posterior(settings, state, len(prices.price), 1, generators[1:]) if explore else mean
    # An exploring case needs the means for its answer and to select items. For that nothing is drawn, unless values
    # count by edges, or hypotheses tell what is best.
    selects = settings.select > 0
    draws = not explore or options[0].numeric != QUANTILES or (selects and settings.objective == EC2)
    is_filled, is_drawn = False, False
    for i in range(start, stop):
        decision = rows.steps[i]
        if mode & (STEP | POSTERIOR):
            copy_status(status[i], work.status)
        elif learns and w[i] > 0.0 and needs_resize(state, X[i], y[i]):
            return i
        elif explore:
            decision.seed = draw_seed(options[0])
        if not is_filled:
            fill_posterior(settings, state, mean, options[0].seed)
        if draws and not is_drawn:
            draw_rest(settings, state, mean, order, loss, work.r, not explore and not mode & POSTERIOR)
        if selects and not is_drawn:
            select_best(settings, state, prices, mean, work, X[i], decision)
        is_filled, is_drawn = True, True
        if explore:
            fill_posterior(settings, state, drawn, decision.seed)
            draw_rest(settings, state, drawn, order, loss, work.r, True)
        if explore and selects:
            select_to_explore(
                *(settings, drawn.generator[0], mean.selected, drawn.luck),
                *(prices, work.ratios, drawn.selected),
            )
        # A step first finds how its case came to what it knows; of a whole case it is found in the end how that counts,
        # by the mean. One place for each call, since each more of them takes seconds to compile.
        for turn in range(2):
            if turn == (0 if steps else 1):
                if explore or mode & (STEP | POSTERIOR) or settings.lookahead > 1:
                    rest = decision.left if steps else np.inf
                    find_path(settings, state, prices, drawn if steps else mean, work, X[i], rest, decision)
            elif not mode & POSTERIOR:
                left = decision.left if steps else min(settings.budget, settings.total - spent[0])
                cost[i] = buy_values(settings, state, prices, drawn, work, X[i], left, loss, steps, decision)
                copy_status(work.status, status[i])
                if learns and explore:
                    reward_edges(state, drawn, work)
        if steps:
            continue
        weigh_known(state, mean, X[i], work.status, work.edge, work.partner, proba[i])
        if settings.lookahead > 1:
            weigh_partners(settings.prior, state, work, X[i], work.status, proba[i])
        share_weights(proba[i], options[0].classes)
        answers[i] = decide(proba[i], order, loss, options[0].classes)
        if learns and w[i] > 0.0:
            spent[0] += cost[i] if explore else 0.0
            is_filled = learn_case(settings, state, mean, work, X[i], y[i], w[i], mode & WHOLE, places)
            is_drawn = False
    return stop
