"""Run the benchmark: ``python -m benchmarks [--quick] [--only PART ...]``.

Every learner reads the same rows with the same settings in a process of its own and is compared by CPU time, best of
three. They take turns, so that a busy moment of the machine does not hit one of them alone. The figures are printed
with their ratios and written to benchmarks/results/latest.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import common, tables
from benchmarks.common import LEAVES, Result, StreamFiles, best_calls, best_pass, measure
from benchmarks.speed.exhibits import keep
from benchmarks.startup import startup
from quercus.papers.storing import Store

ROWS = {"random_tree": 500_000, "covertype": 581_012}
QUICK_ROWS = 50_000
CALLS = 100_000
ROUNDS = 3
ONCE_ABOVE_SECONDS = 60
PARTS = [*ROWS, "latency", "startup"]
CONTENDERS: dict[str, tuple[str, ...]] = {
    tables.OURS: ("ours", "HoeffdingTree"),
    "quercus ConfidenceTree": ("ours", "ConfidenceTree"),
    "river HoeffdingTreeClassifier": ("river_peer",),
    "MOA HoeffdingTree": ("moa_peer",),
}
SETTINGS = (
    f"delta {common.DELTA:g}, tie {common.TIE}, grace period {common.GRACE_PERIOD}, information gain, binary splits, "
    f"all features numeric, at most {common.MAX_BYTES // 2**20} MiB"
)
NOTES = f"""
Settings  {SETTINGS}.
          ConfidenceTree has its own rule and defaults; only its leaves are as stated.
Clock     CPU seconds, best of the passes, each in a process of its own; `slowest` is how much longer the worst took.
          Ours: from the array to the last answer, all included, compiled code loaded before. river: without the
          making of its dicts, which favours it. MOA: the thread that learns, instances built before, JVM warm (cold:
          its first pass), best of three passes in each process, which favours it; CPU of the whole JVM is
          `process_seconds` in the file. Single calls, imports: wall clock.
Bytes     ours nbytes, river _raw_memory_usage, MOA measureByteSize.
Unequal   river and MOA keep a Gaussian per class and feature and try 10 cuts; ours keeps 32 bins.
          river and MOA want 1 % of the weight on each side of a split; ours wants min_leaf rows.
          Their new leaves count the weight inherited from the parent in the bound; ours count only their own rows.
          Classes in the bound: river those of the leaf, ours those seen so far, MOA all (it is told them beforehand).
"""


def make_stream(name: str, rows: int, folder: Path) -> StreamFiles | str:
    """Write the stream for all to read, or return why it cannot be had."""
    from quercus import streams

    if name == "random_tree":
        return StreamFiles.write(folder / name, name, *streams.RandomTree(features=5, seed=0).take(rows))
    data = os.environ.get("QUERCUS_DATA")
    if data is None or not (Path(data) / f"{name}.parquet").is_file():
        return f"{name} is skipped: QUERCUS_DATA does not name a folder with {name}.parquet"
    return StreamFiles.write(folder / name, name, *streams.load(name).take(rows))


def measure_all(stream: StreamFiles, leaf: str, what: str, contenders: Iterable[str]) -> Result:
    """Return the best of ROUNDS turns of each contender; one that cannot run or takes very long has only the first."""
    turns: dict[str, list[Result]] = {name: [] for name in contenders}
    for number, (name, done) in product(range(1, ROUNDS + 1), turns.items()):
        if done and (tables.problem(done[-1]) or done[0].get("seconds", 0) > ONCE_ABOVE_SECONDS):
            continue
        print(f"{stream.name}, {leaf} leaves, {what}, turn {number}: {name}", file=sys.stderr, flush=True)
        module, *learner = CONTENDERS[name]
        done.append(measure(module, what, stream.folder, leaf, *learner))
    combine = best_pass if what == "prequential" else best_calls
    return {name: done[-1] if tables.problem(done[-1]) else combine(done) for name, done in turns.items()}


def baselines(stream: StreamFiles) -> Result:
    """Return the accuracy of two answers that need no learner; on an ordered stream the second can beat them all."""
    _, y = stream.load()
    return {"commonest class": float(np.bincount(y).max() / len(y)), "previous label": float(np.mean(y[1:] == y[:-1]))}


def run_stream(stream: StreamFiles) -> Result:
    results: Result = {"baselines": baselines(stream)}
    shape = f"{stream.rows:,} rows x {stream.features} features, {stream.classes} classes"
    without = ", ".join(f"{name} {accuracy:.2%}" for name, accuracy in results["baselines"].items())
    for leaf in LEAVES:
        results[leaf] = measure_all(stream, leaf, "prequential", CONTENDERS)
        print(f"\n{stream.name}: {shape}; {leaf} leaves. Accuracy without learning: {without}")
        print(tables.prequential_table(stream.rows, results[leaf]), flush=True)
    return results


def run_latency(stream: StreamFiles) -> Result:
    results: Result = {}
    for leaf in LEAVES:
        results[leaf] = measure_all(stream, leaf, "latency", [name for name in CONTENDERS if "MOA" not in name])
        print(f"\nsingle calls: median of {stream.rows:,}, rows of {stream.features} features; {leaf} leaves")
        print(tables.latency_table(results[leaf]), flush=True)
    return results


def run_part(part: str, quick: bool, folder: Path) -> Result:
    if part == "startup":
        result = startup(times=5)
        print("\nstart-up", tables.startup_table(result), sep="\n")
        return result
    name = "random_tree" if part == "latency" else part
    rows = CALLS if part == "latency" else QUICK_ROWS if quick else ROWS[name]
    stream = make_stream(name, rows, folder)
    if isinstance(stream, str):
        print(f"\n{stream}")
        return {"missing": stream}
    return run_latency(stream) if part == "latency" else run_stream(stream)


def failed(result: object) -> bool:
    return isinstance(result, dict) and ("failed" in result or any(failed(value) for value in result.values()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Compare quercus with river and MOA.")
    parser.add_argument("--quick", action="store_true", help=f"only the first {QUICK_ROWS:,} rows of each stream")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="store a whole run there, for the pages")
    given = parser.parse_args()
    results: Result = {}
    for part in given.only:
        with tempfile.TemporaryDirectory() as folder:
            results[part] = run_part(part, given.quick, Path(folder))
    record = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"cpus": os.cpu_count(), "architecture": platform.machine(), "system": platform.system()},
        "python": platform.python_version(),
        "numpy": np.__version__,
        "settings": SETTINGS,
        "quick": given.quick,
        "results": results,
    }
    path = Path(__file__).parent / "results" / "latest.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n")
    if given.keep is not None and not given.quick and keep(results, ROWS, Store(given.keep)):
        print(f"\nkept in {given.keep}; python -m benchmarks.pages writes it into the pages")
    print(NOTES)
    return int(failed(results))


if __name__ == "__main__":
    sys.exit(main())
