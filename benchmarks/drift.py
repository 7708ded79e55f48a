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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.common import Result, StreamFiles, as_dicts
from benchmarks.labels import AVAILABLE, Data, go
from benchmarks.moa_peer import MissingError, find_jar, find_java
from benchmarks.tables import problem, show
from quercus.ask import Random, Split, Uncertain
from quercus.drift import ADWIN, DDM
from quercus.streams import LED, SEA, Hyperplane, RandomTree, Stagger

SEEDS, ROWS = (11, 12, 13), 100_000
QUICK_SEEDS, QUICK_ROWS = (11,), 30_000
# Name of a stream: how to make it, and after how many rows each change comes (0: never).
STREAMS: dict[str, tuple[Callable[..., qc.streams.Stream], int]] = {
    "STAGGER with 10 % noise": (lambda **given: Stagger(noise=0.1, **given), 5_000),
    "SEA": (SEA, 10_000),
    "SEA, seldom": (SEA, 25_000),
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
POLICIES = (Random, Uncertain, Split)
BUDGET = 0.1
BEFORE, AFTER, LONG_AFTER = 1_000, 1_000, 3_000
# Subtrees that were swapped are counted after so many rows.
STEP = 100
DRIVER = Path(__file__).parent / "moa" / "Changes.java"
NOTES = f"""
Settings  Everybody's own defaults. river draws its bootstrap with the seed of the stream.
Changes   `before`, `after`: per cent right in the {BEFORE:,} rows before a change and in the rows after it, mean over
          changes and seeds. `gain`: of all rows over ConfidenceTree, with its standard error over seeds.
Alarms    per 100,000 rows: changes found by Renewing; subtrees replaced by an alternate in the trees, of which one
          change may need several. `tried`: alternates begun. `found`: changes with an alarm in the {LONG_AFTER:,} rows
          after them, by chance in part if there are many alarms.
Clock     CPU seconds per run. Ours: compiled code loaded before. river: without the making of its dicts. MOA: the
          thread that learns, second pass of a JVM.
"""


@dataclass(frozen=True)
class Case:
    """A stream on disk: where, with which seed, the categories of each column (0: numeric), rows at which it changes."""

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
    """Which rows a learner had right, and what it cost; rows of its alarms and how many alternates it began, if any."""

    right: NDArray[np.bool_]
    seconds: float
    alarms: list[int] | None = None
    tried: int | None = None
    labels: int = 0
    explored: int = 0


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
    categories = [0] * len(stream.feature_names)
    if not isinstance(X, np.ndarray):
        columns = []
        for j, column in enumerate(X.combine_chunks().columns):
            values = column.to_numpy()
            if stream.feature_names[j] in stream.nominal:
                known, values = np.unique(values.astype(str), return_inverse=True)
                categories[j] = len(known)
            columns.append(values)
        X = np.column_stack(columns)
    files = StreamFiles.write(folder / f"{name} {seed}", name, X, y)
    best = None if stream.bayes_rate is None else 1 - stream.bayes_rate
    return Case(files, seed, tuple(categories), changes, best)


def run_ours(name: str, case: Case) -> Run:
    X, y = case.files.load()
    make = lambda: OURS[name](nominal=case.nominal)  # noqa: E731
    make().test_then_learn(X[:STEP], y[:STEP])
    model = make()
    start = time.process_time()
    outcome = model.test_then_learn(X, y)
    seconds = time.process_time() - start
    right = outcome.answers == outcome.truth
    if isinstance(model, qc.Renewing):
        return Run(right, seconds, model.changes_)
    if not model.adaptive:
        return Run(right, seconds)
    return Run(right, seconds, find_swaps(make(), X, y), swap_counts(model)[0])


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
    return Run(right, time.process_time() - start, alarms, model.n_alternate_trees)


def run_moa(command: Sequence[str], case: Case) -> Run:
    files, output = case.files, Path(case.files.folder) / "right.u8"
    shape = [files.folder, files.rows, files.classes, ",".join(map(str, case.categories)), output]
    done = subprocess.run([*command, *map(str, shape)], stdout=subprocess.PIPE, text=True, check=True)
    told: Result = json.loads(done.stdout.strip().splitlines()[-1])
    return Run(np.fromfile(output, np.uint8) == 1, told["seconds"], told["alarms"], told["tried"])


def run_asked(policy: type[Any], name: str, case: Case) -> Run:
    X, y = case.files.load()
    data = Data(X, y, [f"x{j}" for j in range(X.shape[1])], [])
    model = ASKED[name](nominal=case.nominal)
    start = time.process_time()
    _, state, looked, right = go(data, model, policy(BUDGET, seed=case.seed))
    seconds = time.process_time() - start
    explored = int((looked.decisions["asked"] & looked.decisions["explored"]).sum())
    # Only how many alarms there were is known here, not where.
    alarms = [-1] * swap_counts(model)[1] if model.adaptive else None
    tried = swap_counts(model)[0] if model.adaptive else None
    return Run(right, seconds, alarms, tried, state.asked, explored)


def prepare_moa(folder: Path) -> tuple[str, ...]:
    """Compile the driver; return the command that runs it."""
    jar, (java, javac) = find_jar(), find_java()
    subprocess.run([javac, "-cp", str(jar), "-d", str(folder), str(DRIVER)], check=True)
    return java, "-cp", f"{jar}{os.pathsep}{folder}", "Changes"


def share_right(runs: list[Run], cases: list[Case], first: int, last: int) -> str:
    """Return the per cent right in rows first .. last - 1 counted from each change."""
    parts = [
        run.right[change + first : change + last]
        for run, case in zip(runs, cases, strict=True)
        for change in case.changes
    ]
    return f"{100 * np.concatenate(parts).mean():.2f}"


def gain(runs: list[Run], base: list[Run]) -> str:
    over = [100 * (run.right.mean() - other.right.mean()) for run, other in zip(runs, base, strict=True)]
    error = f" ± {np.std(over, ddof=1) / np.sqrt(len(over)):.2f}" if len(over) > 1 else ""
    return f"{np.mean(over):+.2f}{error}"


def count_found(run: Run, case: Case) -> int:
    return sum(any(0 <= alarm - change < LONG_AFTER for alarm in run.alarms or ()) for change in case.changes)


def line(name: str, runs: list[Run], base: list[Run], cases: list[Case], asked: bool) -> list[str]:
    rows = sum(case.files.rows for case in cases)
    cells = [name, f"{100 * np.mean([run.right.mean() for run in runs]):.2f}", gain(runs, base)]
    if cases[0].changes:
        cells += [share_right(runs, cases, *span) for span in ((-BEFORE, 0), (0, AFTER), (0, LONG_AFTER))]
        if not asked:
            found = [count_found(run, case) for run, case in zip(runs, cases, strict=True)]
            cells.append("-" if runs[0].alarms is None else f"{np.mean(found):.1f}")
    for counts in ([len(run.alarms or ()) for run in runs], [run.tried or 0 for run in runs]):
        cells.append(f"{100_000 * sum(counts) / rows:.1f}")
    if runs[0].alarms is None:
        cells[-2] = "-"
    if runs[0].tried is None:
        cells[-1] = "-"
    if asked:
        cells += [f"{np.mean([run.labels for run in runs]):,.0f}", f"{np.mean([run.explored for run in runs]):,.0f}"]
    return [*cells, f"{np.mean([run.seconds for run in runs]):.2f}"]


def print_table(title: str, runs: dict[str, list[Run] | Result], cases: list[Case], asked: bool = False) -> None:
    header = ["", "right", "gain"]
    if cases[0].changes:
        header += [f"{BEFORE:,} before", f"{AFTER:,} after", f"{LONG_AFTER:,} after"]
        if not asked:
            header.append(f"found of {len(cases[0].changes)}")
    header += ["alarms", "tried", *(["labels", "explored"] if asked else []), "CPU s"]
    base = next(done for done in runs.values() if isinstance(done, list))
    lines = [
        line(name, done, base, cases, asked) if isinstance(done, list) else [name, str(problem(done))]
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


def contenders(folder: Path) -> Iterator[tuple[str, tuple[Any, ...] | Result]]:
    """Yield each learner with the call that runs it on a case, or why it cannot be run."""
    for name in OURS:
        yield name, (run_ours, name)
    missing: Result = {"missing": "river is not installed"}
    yield RIVER, missing if importlib.util.find_spec("river") is None else (run_river,)
    try:
        yield MOA, (run_moa, prepare_moa(folder))
    except MissingError as error:
        yield MOA, {"missing": str(error)}


def run_all(quick: bool, folder: Path) -> None:
    rows, seeds = (QUICK_ROWS, QUICK_SEEDS) if quick else (ROWS, SEEDS)
    learners = dict(contenders(folder))
    names = [*STREAMS, ELECTRICITY] if ELECTRICITY in AVAILABLE else list(STREAMS)
    with ProcessPoolExecutor(2) as pool:
        for name in names:
            chosen = seeds[:1] if name == ELECTRICITY else seeds
            cases = [write_case(name, seed, rows, folder) for seed in chosen]
            waiting = {learner: submit(pool, call, cases) for learner, call in learners.items()}
            title = describe(name, cases)
            print_table(title, {learner: collect(given) for learner, given in waiting.items()}, cases)
            if name == ELECTRICITY or STREAMS[name][1]:
                asked = {
                    f"{policy.__name__}({BUDGET}), {learner}": submit(pool, (run_asked, policy, learner), cases)
                    for policy, learner in product(POLICIES, ASKED)
                }
                title = f"{name}, labels asked for"
                print_table(title, {learner: collect(given) for learner, given in asked.items()}, cases, asked=True)
    if ELECTRICITY not in AVAILABLE:
        print("\nelectricity is skipped: QUERCUS_DATA does not name a folder with electricity.parquet")


def submit(pool: ProcessPoolExecutor, call: tuple[Any, ...] | Result, cases: list[Case]) -> list[Future[Run]] | Result:
    return call if isinstance(call, dict) else [pool.submit(*call, case) for case in cases]


def collect(waiting: list[Future[Run]] | Result) -> list[Run] | Result:
    return waiting if isinstance(waiting, dict) else [future.result() for future in waiting]


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
