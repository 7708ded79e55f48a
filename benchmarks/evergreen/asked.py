"""Which policy of asking goes best with the evergreen tree."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np

import quercus as qc
from benchmarks.evergreen import sets
from benchmarks.evergreen.contenders import evergreen
from benchmarks.evergreen.work import first_problem, run_jobs
from benchmarks.labels import SETS, Data, go, load
from benchmarks.tables import show
from quercus.ask import (
    Confident,
    Policy,
    Random,
    RandomizedUncertainty,
    SelectiveSampling,
    Split,
    SplitConfident,
    Uncertain,
    VariableUncertainty,
)
from quercus.streams.batches import pick

_BUDGET = 0.1
_ROWS, _QUICK_ROWS = 30_000, 3_000
_QUICK_SETS = ("electricity", "adult")
_POLICIES: tuple[type[Policy], ...] = (
    Random,
    Uncertain,
    Confident,
    VariableUncertainty,
    SelectiveSampling,
    Split,
    SplitConfident,
    RandomizedUncertainty,
)
_LEARNERS = {"EvergreenTree": evergreen, "HoeffdingTree": qc.HoeffdingTree}
_NOTES = """
Every row is answered, then perhaps asked for and learned; accuracy in per cent over all rows, mean over seeds. In
brackets: points over Random with the same learner. Shuffled sets, the first rows of them. Mean: over sets.
"""


def asked(quick: bool) -> None:
    """Print accuracies by learner and policy, and what each policy gains over Random."""
    sets.check_data()
    seeds = sets.QUICK_SEEDS if quick else sets.SEEDS
    most, names = (_QUICK_ROWS, _QUICK_SETS) if quick else (_ROWS, SETS)
    jobs = {
        (name, learner, policy.__name__, seed): partial(_job, name, learner, policy, seed, most)
        for name, seed, learner, policy in product(names, seeds, _LEARNERS, _POLICIES)
    }
    found = run_jobs(jobs)
    lines = []
    for learner, policy in product(_LEARNERS, _POLICIES):
        cells, rights, gains = [], [], []
        for name in names:
            runs = [found[name, learner, policy.__name__, seed] for seed in seeds]
            base = [found[name, learner, "Random", seed] for seed in seeds]
            if first_problem(runs + base):
                cells.append("failed")
                continue
            rights.append(100 * np.mean(runs))
            gains.append(rights[-1] - 100 * np.mean(base))
            cells.append(f"{rights[-1]:.2f} ({gains[-1]:+.2f})")
        total = f"{np.mean(rights):.2f} ({np.mean(gains):+.2f})" if len(rights) == len(names) else "-"
        lines.append([f"{learner}, {policy.__name__}", *cells, total])
    print(f"\nbudget {_BUDGET}, {len(seeds)} seeds, at most {most:,} rows")
    print(show(["", *names, "mean"], lines), _NOTES, sep="\n", flush=True)


def _job(name: str, learner: str, policy: type[Policy], seed: int, most: int) -> float:
    make: Any = _LEARNERS[learner]
    return go(_load(name, seed, most), make(seed=seed), policy(_BUDGET, seed=seed))[0]


@lru_cache(maxsize=1)
def _load(name: str, seed: int, most: int) -> Data:
    data = load(name, seed)
    few = np.arange(min(most, len(data.y)))
    return Data(pick(data.X, few), data.y[few], data.names, data.nominal)
