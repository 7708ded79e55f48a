"""``python -m tests.soak files COUNT [NAME...]`` and ``python -m tests.soak threads SECONDS [NAME...]``.

The first forges so many model files of each format that is released, and as many of those written today; those that do
harm are kept in ``soak-failures``. The second lets threads answer beside one that learns, so many seconds per learner.
Names begin those of golden files or are those of learners.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from quercus.registry import LEARNERS
from tests.learners.listed import make
from tests.soak import forging
from tests.soak.threads import find_faults

_KEPT = Path("soak-failures")
# Files tried at a stretch by one process.
_SHARE = 500


def soak_files(count: int, names: list[str]) -> bool:
    """Forge files of each format; print what came of them, and return whether none did harm."""
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        for title, paths in (
            ("golden", forging.kept_for_ever()),
            ("written today", forging.written_today(Path(folder))),
        ):
            wanted = [path for path in paths if path.stem.startswith(tuple(names or [""]))]
            each = -(-count // max(len(wanted), 1))
            tasks = [
                (path, range(start, min(start + _SHARE, each))) for path in wanted for start in range(0, each, _SHARE)
            ]
            totals: dict[str, Counter[str]] = {path.stem: Counter() for path in wanted}
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                work = pool.map(lambda task, paths=paths: _attack(paths, *task), tasks)
                for (path, _), (counts, failures) in zip(tasks, work, strict=True):
                    totals[path.stem] += counts
                    for failure in failures:
                        fine = False
                        print(f"{failure.file} {failure.number}: {failure.outcome}\n{failure.words}", flush=True)
            for name, counts in totals.items():
                print(
                    f"{title} {name}: {', '.join(f'{n} {outcome}' for outcome, n in counts.most_common())}", flush=True
                )
    return fine


def _attack(paths: list[Path], path: Path, numbers: range) -> tuple[Counter[str], list[forging.Failure]]:
    with forging.Worker() as worker:
        return forging.attack(worker, paths, path, numbers, _KEPT)


def soak_threads(seconds: float, names: list[str]) -> bool:
    """Let threads answer beside learning, each learner in a process of its own; return whether all was well."""
    fine = True
    for name in names or LEARNERS:
        command = [sys.executable, "-X", "faulthandler", "-m", "tests.soak", "thread", str(seconds), name]
        done = subprocess.run(command, check=False)
        fine = fine and done.returncode == 0
        if done.returncode < 0:
            print(f"{name}: ended by signal {-done.returncode}", flush=True)
    return fine


def soak_one(seconds: float, name: str) -> bool:
    """Let threads answer beside one learner."""
    answers, faults = find_faults(lambda: make(name, features="open"), seconds)
    print(f"{name}: {answers} answers beside learning, {len(faults)} faults {faults[:3] or ''}", flush=True)
    return not faults


if __name__ == "__main__":
    what, amount, *given = sys.argv[1:]
    if what == "files":
        well = soak_files(int(amount), given)
    elif what == "threads":
        well = soak_threads(float(amount), given)
    else:
        well = soak_one(float(amount), given[0])
    sys.exit(not well)
