"""Many forged files, tried out in processes of their own."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.frozen import models as golden

# Seconds for one file; kernels are loaded or compiled before the first.
LIMIT = 30.0
_PATIENCE = 900.0
REFUSED_OR_WORKS = ("refused", "refused by chance", "refused later", "works")


class Failure(NamedTuple):
    """A file that did harm: which it was, how to make it again, and what happened."""

    file: str
    number: int
    outcome: str
    words: str


def written_today(folder: Path) -> list[Path]:
    """Write the files that golden ones are made of with the code of today."""
    paths = []
    for name, made in golden.MODELS.items():
        path = folder / f"{name}.quercus"
        learner = made.make()
        golden.learn(learner, golden.stream(made.stream), 0, made.rows)
        made.change(learner).save(path)
        paths.append(path)
    return paths


def kept_for_ever() -> list[Path]:
    """Return all golden files of models."""
    return sorted(golden.FOLDER.glob("*/*.quercus"))


class Worker:
    """A process that forges files and tries them out."""

    def __init__(self, checked: bool = True, limit: float = LIMIT) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="quercus-soak-"))
        self._env = os.environ | ({"NUMBA_BOUNDSCHECK": "1"} if checked else {})
        self._process: subprocess.Popen[str] | None = None
        self._limit = limit
        self._warm: set[str] = set()

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def attack(self, path: Path, others: list[Path], numbers: range) -> Iterator[tuple[int, str, str]]:
        """Try mutations of a file; yield the number of each, what came of it and what was said."""
        task = {"file": str(path), "others": [str(other) for other in others]}
        for number in numbers:
            if str(path) not in self._warm:
                outcome, words = self._ask(task | {"number": None}, _PATIENCE)
                if outcome != "works":
                    raise RuntimeError(f"{path} itself: {outcome}: {words}")
                self._warm.add(str(path))
            yield number, *self._ask(task | {"number": number}, self._limit)

    def keep(self, place: Path) -> None:
        """Copy the file that was tried last."""
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copy(self._folder / "forged.quercus", place)

    def _ask(self, task: dict[str, Any], limit: float) -> tuple[str, str]:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(task), file=process.stdin, flush=True)
        ready, _, _ = select.select([process.stdout], [], [], limit)
        line = process.stdout.readline() if ready else ""
        if line:
            outcome, words = json.loads(line)
            return outcome, words
        if not ready:
            process.kill()
        process.communicate()
        self._process = None
        said = (self._folder / "stderr").read_text(errors="replace").strip()[-1500:]
        return ("crash" if ready else "hang"), f"{f'exit {process.returncode}: {said}' if ready else f'over {limit} s'}"

    def _start(self) -> subprocess.Popen[str]:
        self._warm.clear()
        command = [sys.executable, "-m", "tests.soak.worker", str(self._folder)]
        with open(self._folder / "stderr", "w") as said:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, env=self._env
            )
        return self._process


def attack(
    worker: Worker, paths: list[Path], path: Path, numbers: range, keep: Path | None = None
) -> tuple[Counter[str], list[Failure]]:
    """Try mutations of one of some files; return how many went how, and those that did harm, which are kept."""
    learner = path.stem.split("-")[0]
    others = [other for other in paths if other != path and other.stem.split("-")[0] == learner]
    counts: Counter[str] = Counter()
    failures = []
    for number, outcome, words in worker.attack(path, others, numbers):
        counts[outcome] += 1
        if outcome not in REFUSED_OR_WORKS:
            failures.append(Failure(path.stem, number, outcome, words))
            if keep is not None:
                worker.keep(keep / f"{path.stem}-{number}.quercus")
    return counts, failures
