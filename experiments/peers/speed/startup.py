"""What a fresh process pays before the first row is learned."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile

from experiments.harness.exhibits import Cell, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results

_IMPORT = """
import time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start)
"""
_FIRST_ROW = """
import time
from quercus import HoeffdingTree
import numpy as np
X, y = np.zeros((1, 5)), np.zeros(1, dtype=np.int64)
start = time.process_time()
HoeffdingTree().partial_fit(X, y)
print(time.process_time() - start)
"""
_IMPORTS = {
    "import quercus": "quercus",
    "from quercus import HoeffdingTree": "quercus",
    "from river.tree import HoeffdingTreeClassifier": "river",
}
_COMPILED, _CACHED = "first row, kernels compiled (CPU)", "first row, kernels cached (CPU)"
_TIMES: dict[Scale, int] = {"quick": 1, "full": 5}


def cells(scale: Scale) -> list[Cell]:
    """Return what is timed, and how often."""
    there = [statement for statement, package in _IMPORTS.items() if importlib.util.find_spec(package)]
    return [{"what": what, "times": _TIMES[scale]} for what in (*there, _COMPILED, _CACHED)]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: wall seconds of imports and CPU seconds of the first row, the least of several."""
    what, times = str(cell["what"]), int(cell["times"])
    if what in _IMPORTS:
        return [{"seconds": min(_run(_IMPORT.format(statement=what)) for _ in range(times))}]
    with tempfile.TemporaryDirectory() as folder:
        compiled = _run(_FIRST_ROW, folder)
        return [{"seconds": compiled if what == _COMPILED else min(_run(_FIRST_ROW, folder) for _ in range(times))}]


def _run(code: str, cache: str | None = None) -> float:
    environment = os.environ | ({} if cache is None else {"QUERCUS_CACHE": cache})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


def summarize(found: Results) -> Report:
    """Return seconds."""
    rows = [[what, f"{part['seconds'][0]:.3f}"] for (what,), part in found.groups("what")]
    return Report([PageTable(["", "seconds"], rows)])


STARTUP = Runs("peers.speed", "startup", cells, measure)
