"""What the contenders share: the settings, the stream they read, the clock for single calls, the child process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

DELTA = 1e-7
TIE = 0.05
GRACE_PERIOD = 200
MAX_BYTES = 2**28
LEAVES = ("majority", "adaptive")

Result = dict[str, Any]


@dataclass(frozen=True)
class StreamFiles:
    """A stream as two raw little-endian files, which Python and Java read alike.

    Parameters
    ----------
    folder
        Where ``rows.f64`` and ``labels.i64`` (class ids from 0) are.
    name, rows, features, classes
        What they hold.
    """

    folder: str
    name: str
    rows: int
    features: int
    classes: int

    @staticmethod
    def write(folder: Path, name: str, X: Any, y: Any) -> StreamFiles:
        """Write rows and labels into a new folder."""
        folder.mkdir()
        X = np.ascontiguousarray(X, dtype="<f8")
        classes, ids = np.unique(y, return_inverse=True)
        X.tofile(folder / "rows.f64")
        ids.astype("<i8").tofile(folder / "labels.i64")
        stream = StreamFiles(str(folder), name, len(X), X.shape[1], len(classes))
        (folder / "stream.json").write_text(json.dumps(asdict(stream)))
        return stream

    @staticmethod
    def open(folder: str) -> StreamFiles:
        """Read the description back."""
        return StreamFiles(**json.loads((Path(folder) / "stream.json").read_text()))

    def load(self) -> tuple[Any, Any]:
        """Return the rows and their class ids."""
        X = np.fromfile(Path(self.folder) / "rows.f64", dtype="<f8")
        y = np.fromfile(Path(self.folder) / "labels.i64", dtype="<i8")
        return X.reshape(self.rows, self.features), y


def as_dicts(X: Any) -> list[dict[str, float]]:
    names = [f"x{j}" for j in range(X.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def time_calls(model: Any, stream: StreamFiles) -> Result:
    """Median microseconds of ``predict_one`` and ``learn_one`` on dicts made beforehand."""
    X, y = stream.load()
    predicting, learning = np.empty(len(y)), np.empty(len(y))
    clock = time.perf_counter_ns
    for i, (x, label) in enumerate(zip(as_dicts(X), y.tolist(), strict=True)):
        start = clock()
        model.predict_one(x)
        between = clock()
        model.learn_one(x, label)
        learning[i] = clock() - between
        predicting[i] = between - start
    return {
        "calls": len(y),
        "predict_one_us": float(np.median(predicting)) / 1000,
        "learn_one_us": float(np.median(learning)) / 1000,
    }


def measure(module: str, *arguments: object) -> Result:
    """Run ``python -m benchmarks.<module>`` in a process of its own and return the JSON that it prints.

    A peer that is not there answers ``{"missing": why}``; one that crashes gives ``{"failed": its last line}``.
    """
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    if done.returncode:
        return {"failed": error_line(done.stderr) or f"exit code {done.returncode}"}
    answer: Result = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def error_line(text: str) -> str:
    """Return the line of a traceback that names the exception; numba's go on for many lines after it."""
    lines = text.strip().splitlines()
    named = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt)\b", line)]
    return (named or lines or [""])[-1]


def best_pass(turns: list[Result]) -> Result:
    """Return the turn of least CPU time, with the times of all; the cold pass of a JVM is chosen by itself."""
    fastest = min(turns, key=lambda turn: float(turn["seconds"]))
    kinds = [kind for kind in ("seconds", "cold_seconds") if kind in fastest]
    times = {f"all_{kind}": [turn[kind] for turn in turns] for kind in kinds}
    return {**fastest, **times, **{kind: min(times[f"all_{kind}"]) for kind in kinds}}


def best_calls(turns: list[Result]) -> Result:
    """Return the least median of each call."""
    return {name: min(turn[name] for turn in turns) for name in ("calls", "predict_one_us", "learn_one_us")}
