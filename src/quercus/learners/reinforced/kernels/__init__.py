"""The loop over rows of a reinforced tree, compiled. ``docs/reinforced.md`` tells each step.

States are partial assignments of features, actions are questions and answers (Garlapati et al., 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from quercus.acquisition.kernels import draw_seed, seed_generator
from quercus.acquisition.layout import CASE, EXPLORE, POSTERIOR, STEP, UNKNOWN, WHOLE
from quercus.acquisition.rows import CaseRows
from quercus.compile import kernel
from quercus.decision import decide
from quercus.learners.reinforced.kernels.episodes import find_answering, find_status, follow_bought, run_episode
from quercus.learners.reinforced.kernels.learning import learn_example, monitor_answer, needs_resize
from quercus.learners.reinforced.kernels.model import mix_posterior, price_items
from quercus.learners.reinforced.layout import ANSWER, MIXED, NOWHERE, SILENT, EpisodeWorkspace
from quercus.learners.reinforced.state import ReinforcedState
from quercus.rows import LEARN


@kernel
def write_proba(tree: Any, work: Any, proba: Any) -> None:
    """Write the class probabilities in the state that answers."""
    state, classes = work.episode[0].answering, tree.options[0].classes
    if work.settings[0].prior > 0.0 and state != 0:
        mix_posterior(tree, work, state, ANSWER)
        for y in range(classes):
            proba[y] = work.proba[MIXED, y]
        return
    n = tree.states[state].n if state >= 0 else 0.0
    for y in range(classes):
        proba[y] = ((n * tree.shares[state, y] if state >= 0 else 0.0) + 1.0 / classes) / (n + 1.0)


@kernel(
    types.int64,
    *(ReinforcedState.numba_type, EpisodeWorkspace.numba_type, CaseRows.numba_type),
    *(types.int64,) * 3,
)
def run_cases(tree: Any, work: Any, rows: Any, start: int, stop: int, mode: int) -> int:
    """Run a case for each row, or a step of one; return the first row that there is no room for.

    ``rows.status`` is read by a step and by a case that is learned, and written by a case that buys.
    """
    settings, episode = work.settings[0], work.episode[0]
    left, explore, buys, classes = np.inf, mode & EXPLORE, not mode & (STEP | POSTERIOR | CASE), NOWHERE
    for i in range(start, stop):
        row, status, step = rows.X[i], rows.status[i], rows.steps[i]
        learns = (mode & LEARN) != 0 and rows.weight[i] * work.rewards[rows.y[i]].rate > 0.0
        if learns and needs_resize(tree, work, row, rows.y[i]):
            return i
        if tree.options[0].classes != classes:
            classes = tree.options[0].classes
            price_items(work, classes)
        if buys:
            for f in range(len(status)):
                status[f] = UNKNOWN
        if not mode & (SILENT | POSTERIOR):
            left = min(settings.budget, settings.total - rows.spent[0]) if buys else step.left
            if buys and explore:
                step.seed = draw_seed(tree.options[0])
            seed_generator(work.generator[0], step.seed)
            run_episode(tree, work, rows, i, left, buys, explore)
            rows.cost[i] = episode.cost
            step.item, step.stop, step.score = episode.item, episode.stop, episode.score
        if not mode & (SILENT | STEP | CASE) or (mode & CASE and settings.adaptive):
            if mode & POSTERIOR:
                episode.size, episode.held = 0, find_status(work, status)
            if explore or not buys or left < np.inf:
                find_answering(tree, work, row)
            write_proba(tree, work, rows.proba[i])
            rows.answers[i] = decide(rows.proba[i], rows.order, work.loss, tree.options[0].classes)
            if learns and settings.adaptive:
                monitor_answer(tree, rows.answers[i] != rows.y[i])
        if learns:
            rows.spent[0] += episode.cost if buys and explore else 0.0
            if tree.options[0].classes <= rows.y[i]:
                tree.options[0].classes = classes = rows.y[i] + 1
                price_items(work, classes)
            if mode & CASE:
                follow_bought(tree, work, rows.bought, row)
            learn_example(tree, work, row, status, rows.y[i], rows.weight[i], mode & WHOLE)
    return stop
