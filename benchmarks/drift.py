"""How trees follow changes: ``python -m benchmarks.drift [--quick]``.

Every learner answers and then learns the same rows: generators whose concept changes, electricity in its own order,
and generators that stand still, where every alarm is a false one. Then labels are asked for, one in ten, and only those
that were asked at random feed the detectors. The constants of `adaptive=True` were chosen on other seeds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.common import Result, StreamFiles, as_dicts
from benchmarks.labels import Data, go
from benchmarks.moa_peer import MissingError, find_jar, find_java
from benchmarks.tables import problem, show
from quercus.ask import Policy, Random, Split, Uncertain
from quercus.drift import ADWIN, DDM
from quercus.streams import LED, SEA, Hyperplane, RandomTree, Stagger

SEEDS, ROWS = (11, 12, 13), 100_000
QUICK_SEEDS, QUICK_ROWS = (11,), 30_000
# Name of a stream: how to make it, and after how many rows each change comes (0: never).
STREAMS: dict[str, tuple[Callable[..., qc.streams.Stream], int]] = {
    "STAGGER with 10 % noise": (lambda **given: Stagger(noise=0.1, **given), 5_000),
    "SEA": (SEA, 10_000),
    "SEA, fewer changes": (SEA, 25_000),
    "LED, 3 segments": (LED, 10_000),
    "SEA, stationary": (SEA, 0),
    "LED, stationary": (LED, 0),
    "RandomTree, stationary": (RandomTree, 0),
    "Hyperplane, stationary": (lambda **given: Hyperplane(change=0, **given), 0),
}
ELECTRICITY = "electricity"
OURS: dict[str, Callable[..., Any]] = {
    "ConfidenceTree": qc.ConfidenceTree,
    "ConfidenceTree(adaptive=True)": lambda **given: qc.ConfidenceTree(adaptive=True, **given),
    "HoeffdingTree": qc.HoeffdingTree,
    "HoeffdingTree(adaptive=True)": lambda **given: qc.HoeffdingTree(adaptive=True, **given),
    "Renewing(ConfidenceTree(), DDM())": lambda **given: qc.Renewing(qc.ConfidenceTree(**given), DDM()),
    "Renewing(ConfidenceTree(), ADWIN())": lambda **given: qc.Renewing(qc.ConfidenceTree(**given), ADWIN()),
}
RIVER, MOA = "river HoeffdingAdaptiveTreeClassifier", "MOA HoeffdingAdaptiveTree"
ASKED = {name: OURS[name] for name in ("ConfidenceTree", "ConfidenceTree(adaptive=True)")}
POLICIES = {
    "Random(.1)": Random(0.1),
    "Uncertain(.1)": Uncertain(0.1),
    "Uncertain(.1, explore=.5)": Uncertain(0.1, explore=0.5),
    "Split(.1)": Split(0.1),
}
BEFORE, AFTER = 1_000, (1_000, 3_000)
# Subtrees that were swapped are counted after so many rows.
STEP = 100
DRIVER = Path(__file__).parent / "moa" / "Changes.java"
NOTES = f"""
Settings  Everybody's own defaults; the features of LED are numbers for all. river draws its bootstrap with the seed of
          the stream.
Columns   right: per cent of all rows. gain: over the first line, with its standard error over seeds. before, after: per
          cent right in the {BEFORE:,} rows before a change and in the rows after it, mean over changes and seeds.
          alarms, per 100,000 rows: changes found by Renewing; in trees, subtrees replaced by an alternate (one change
          may need several). tried, per 100,000 rows: alternates begun. found: changes with an alarm in the
          {AFTER[-1]:,} rows after them; where alarms are many, some by chance. explored: labels asked at random, which
          alone feed the detectors where labels are asked for.
CPU s     per run. Ours: compiled code loaded before. river: without the making of its dicts. MOA: the thread that
          learns, second pass of a JVM.
"""


@dataclass(frozen=True)
class Case:
    """A stream on disk: its files, its seed, categories of each column (0: numeric), rows at which it changes."""

    files: StreamFiles
    seed: int
    categories: tuple[int, ...]
    changes: tuple[int, ...]
    best: float | None

    @property
    def nominal(self) -> list[int]:
        """The columns that hold categories."""
        return [j for j, number in enumerate(self.categories) if number]


class Run(NamedTuple):
    """Which rows a learner had right, CPU time, alarms and where (None: not known), alternates begun, labels paid."""

    right: NDArray[np.bool_]
    seconds: float
    alarms: int | None = None
    alarm_rows: list[int] | None = None
    tried: int | None = None
    labels: int | None = None
    explored: int | None = None


# Per learner what runs it on a case, or what is missing.
Calls = dict[str, Callable[[Case], Run] | Result]


def write_case(name: str, seed: int, rows: int, folder: Path) -> Case:
    """Make a stream and write it for all to read; categories become numbers."""
    changes: tuple[int, ...] = ()
    if name == ELECTRICITY:
        stream = qc.streams.load(name)
    else:
        make, every = STREAMS[name]
        changes = tuple(range(every, rows, every)) if every else ()
        stream = make(seed=seed, rows=rows, **({"drift": changes} if changes else {}))
    X, y = stream.take(min(rows, stream.n_rows or rows))
    columns = list(X.T) if isinstance(X, np.ndarray) else [column.to_numpy() for column in X.columns]
    categories = [0] * len(columns)
    for j in (stream.feature_names.index(feature) for feature in stream.nominal):
        known, columns[j] = np.unique(columns[j].astype(str), return_inverse=True)
        categories[j] = len(known)
    files = StreamFiles.write(folder / f"{name} {seed}", name, np.column_stack(columns), y)
    best = None if stream.bayes_rate is None else 1 - stream.bayes_rate
    return Case(files, seed, tuple(categories), changes, best)


def run_ours(name: str, case: Case) -> Run:
    X, y = case.files.load()
    make = partial(OURS[name], nominal=case.nominal)
    # Compiled code is loaded here.
    make().test_then_learn(X[:STEP], y[:STEP])
    model = make()
    start = time.process_time()
    outcome = model.test_then_learn(X, y)
    seconds = time.process_time() - start
    right = outcome.answers == outcome.truth
    if isinstance(model, qc.Renewing):
        return Run(right, seconds, len(model.changes_), model.changes_)
    if not model.adaptive:
        return Run(right, seconds)
    tried, swapped = swap_counts(model)
    return Run(right, seconds, swapped, find_swaps(make(), X, y), tried)


def swap_counts(tree: Any) -> tuple[int, int]:
    """Return how many alternates a tree has begun, and how many took a place."""
    counters = tree._tree.watching[0]
    return int(counters["started"]), int(counters["replaced"])


def find_swaps(tree: Any, X: Any, y: Any) -> list[int]:
    """Return the rows at which subtrees were replaced, in steps; batches of any size give the same tree."""
    rows: list[int] = []
    for first in range(0, len(y), STEP):
        tree.partial_fit(X[first : first + STEP], y[first : first + STEP])
        rows += [min(first + STEP, len(y)) - 1] * (swap_counts(tree)[1] - len(rows))
    return rows


def run_river(case: Case) -> Run:
    from river.tree import HoeffdingAdaptiveTreeClassifier

    X, y = case.files.load()
    names = [f"x{j}" for j in case.nominal]
    model = HoeffdingAdaptiveTreeClassifier(nominal_attributes=names or None, seed=case.seed)
    right = np.zeros(len(y), bool)
    alarms: list[int] = []
    rows, labels = as_dicts(X), y.tolist()
    start = time.process_time()
    for i, (x, label) in enumerate(zip(rows, labels, strict=True)):
        right[i] = model.predict_one(x) == label
        model.learn_one(x, label)
        if model.n_switch_alternate_trees > len(alarms):
            alarms += [i] * (model.n_switch_alternate_trees - len(alarms))
    seconds = time.process_time() - start
    return Run(right, seconds, len(alarms), alarms, model.n_alternate_trees)


def run_moa(command: Sequence[str], case: Case) -> Run:
    files, output = case.files, Path(case.files.folder) / "right.u8"
    shape = [files.folder, files.rows, files.classes, ",".join(map(str, case.categories)), output]
    done = subprocess.run([*command, *map(str, shape)], stdout=subprocess.PIPE, text=True, check=True)
    told: Result = json.loads(done.stdout.strip().splitlines()[-1])
    right, alarms = np.fromfile(output, np.uint8) == 1, told["alarms"]
    return Run(right, told["seconds"], len(alarms), alarms, told["tried"])


def run_asked(policy: Policy, name: str, case: Case) -> Run:
    X, y = case.files.load()
    data = Data(X, y, [f"x{j}" for j in range(X.shape[1])], [])
    model = ASKED[name](nominal=case.nominal)
    start = time.process_time()
    _, state, looked, right = go(data, model, replace(policy, seed=case.seed))
    seconds = time.process_time() - start
    explored = int((looked.decisions["asked"] & looked.decisions["explored"]).sum())
    tried, swapped = swap_counts(model) if model.adaptive else (None, None)
    return Run(right, seconds, swapped, None, tried, state.asked, explored)


def prepare_moa(folder: Path) -> tuple[str, ...]:
    """Compile the driver; return the command that runs it."""
    jar, (java, javac) = find_jar(), find_java()
    subprocess.run([javac, "-cp", str(jar), "-d", str(folder), str(DRIVER)], check=True)
    return java, "-cp", f"{jar}{os.pathsep}{folder}", "Changes"


def figures(runs: list[Run], base: list[Run], cases: list[Case], asked: bool) -> dict[str, str]:
    """Return the cells of a line by the heads of their columns."""
    pairs = list(zip(runs, cases, strict=True))
    per_row = 100_000 / sum(case.files.rows for case in cases)
    cells = {"right": f"{100 * np.mean([run.right.mean() for run in runs]):.2f}", "gain": gain(runs, base)}
    if cases[0].changes:
        cells[f"{BEFORE:,} before"] = near_changes(pairs, -BEFORE, 0)
        for rows in AFTER:
            cells[f"{rows:,} after"] = near_changes(pairs, 0, rows)
        if not asked:
            cells[f"found of {len(cases[0].changes)}"] = mean([count_found(run, case) for run, case in pairs], 1)
    cells["alarms"] = mean([run.alarms for run in runs], 1, per_row * len(runs))
    cells["tried"] = mean([run.tried for run in runs], 1, per_row * len(runs))
    if asked:
        cells["labels"] = mean([run.labels for run in runs], 0)
        cells["explored"] = mean([run.explored for run in runs], 0)
    return cells | {"CPU s": mean([run.seconds for run in runs], 2)}


def near_changes(pairs: list[tuple[Run, Case]], first: int, last: int) -> str:
    """Return the per cent right in rows first .. last - 1 counted from each change."""
    parts = [run.right[change + first : change + last] for run, case in pairs for change in case.changes]
    return f"{100 * np.concatenate(parts).mean():.2f}"


def gain(runs: list[Run], base: list[Run]) -> str:
    over = [100 * (run.right.mean() - other.right.mean()) for run, other in zip(runs, base, strict=True)]
    error = f" ± {np.std(over, ddof=1) / np.sqrt(len(over)):.2f}" if len(over) > 1 else ""
    return f"{np.mean(over):+.2f}{error}"


def count_found(run: Run, case: Case) -> int | None:
    """Return how many changes are followed by an alarm in the longer of the two spans after them."""
    at = run.alarm_rows
    return None if at is None else sum(any(0 <= row - change < AFTER[-1] for row in at) for change in case.changes)


def mean(values: Sequence[float | None], places: int, times: float = 1.0) -> str:
    known = [value for value in values if value is not None]
    return f"{times * np.mean(known):,.{places}f}" if known else "-"


def print_table(title: str, runs: dict[str, list[Run] | Result], cases: list[Case], asked: bool = False) -> None:
    base = next(done for done in runs.values() if isinstance(done, list))
    header = ["", *figures(base, base, cases, asked)]
    lines = [
        [name, *(figures(done, base, cases, asked).values() if isinstance(done, list) else [str(problem(done))])]
        for name, done in runs.items()
    ]
    print(f"\n{title}", show(header, lines), sep="\n", flush=True)


def describe(name: str, cases: list[Case]) -> str:
    """Return what a stream is, and what can be had without learning."""
    every = STREAMS[name][1] if name in STREAMS else 0
    labels = [case.files.load()[1] for case in cases]
    common = np.mean([np.bincount(y).max() / len(y) for y in labels])
    previous = np.mean([np.mean(y[1:] == y[:-1]) for y in labels])
    seeds = f", seeds {', '.join(str(case.seed) for case in cases)}" if name in STREAMS else ""
    return (
        f"{name}{f', a change every {every:,} rows' if every else ''}: {cases[0].files.rows:,} rows{seeds}; "
        f"previous label {previous:.1%}, commonest class {common:.1%}"
        + (f", best possible {cases[0].best:.1%}" if cases[0].best is not None else "")
    )


def contenders(folder: Path) -> Calls:
    """Return what runs each learner on a case, or why it cannot be run."""
    calls: Calls = {name: partial(run_ours, name) for name in OURS}
    calls[RIVER] = run_river if importlib.util.find_spec("river") else {"missing": "river is not installed"}
    try:
        calls[MOA] = partial(run_moa, prepare_moa(folder))
    except MissingError as error:
        calls[MOA] = {"missing": str(error)}
    return calls


def run_calls(pool: ProcessPoolExecutor, calls: Calls, cases: list[Case]) -> dict[str, list[Run] | Result]:
    waiting = {
        name: call if isinstance(call, dict) else [pool.submit(call, case) for case in cases]
        for name, call in calls.items()
    }
    return {
        name: given if isinstance(given, dict) else [future.result() for future in given]
        for name, given in waiting.items()
    }


def run_all(quick: bool, folder: Path) -> None:
    rows, seeds = (QUICK_ROWS, QUICK_SEEDS) if quick else (ROWS, SEEDS)
    learners = contenders(folder)
    asked: Calls = {
        f"{name}, {learner}": partial(run_asked, policy, learner)
        for (name, policy), learner in product(POLICIES.items(), ASKED)
    }
    with ProcessPoolExecutor(2) as pool:
        for name in [*STREAMS, ELECTRICITY]:
            try:
                cases = [write_case(name, seed, rows, folder) for seed in (seeds if name in STREAMS else seeds[:1])]
            except ConnectionError as error:
                print(f"\n{name} is skipped: {error}")
                continue
            print_table(describe(name, cases), run_calls(pool, learners, cases), cases)
            if name == ELECTRICITY or STREAMS[name][1]:
                print_table(f"{name}, labels asked for", run_calls(pool, asked, cases), cases, asked=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS:,} rows, one seed")
    given = parser.parse_args()
    print(NOTES.strip())
    with tempfile.TemporaryDirectory() as folder:
        run_all(given.quick, Path(folder))


if __name__ == "__main__":
    main()
