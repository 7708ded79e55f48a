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
_SAVE = """
import sys
import quercus as qc
tree = qc.EvergreenTree()
for k in range(100):
    tree.learn_one({{"a": k % 7, "b": "xyz"[k % 3]}}, k % 2)
tree.predict_one({{"a": 1, "b": "x"}})
tree.save({path!r})
print(0)
"""
# From the start of the interpreter on.
_ANSWER = """
import time
import quercus as qc
qc.load({path!r}).predict_one({{"a": 1, "b": "x"}})
print(time.process_time())
"""
_IMPORTS = {
    "import quercus": "quercus",
    "from quercus import HoeffdingTree": "quercus",
    "from river.tree import HoeffdingTreeClassifier": "river",
}
_COMPILED, _CACHED = "first row, kernels compiled (CPU)", "first row, kernels cached (CPU)"
_LOADED = "a process that loads a model and answers a row, kernels cached (CPU)"
_TIMES: dict[Scale, int] = {"quick": 1, "full": 5}


def cells(scale: Scale) -> list[Cell]:
    """Return what is timed, and how often."""
    there = [statement for statement, package in _IMPORTS.items() if importlib.util.find_spec(package)]
    return [{"what": what, "times": _TIMES[scale]} for what in (*there, _COMPILED, _CACHED, _LOADED)]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return a line: wall seconds of imports, CPU seconds of the first row and of a process, the least of several."""
    what, times = str(cell["what"]), int(cell["times"])
    if what in _IMPORTS:
        return [{"seconds": min(_run(_IMPORT.format(statement=what)) for _ in range(times))}]
    with tempfile.TemporaryDirectory() as folder:
        if what == _LOADED:
            path = os.path.join(folder, "model.quercus")
            _run(_SAVE.format(path=path), folder)
            return [{"seconds": min(_run(_ANSWER.format(path=path), folder) for _ in range(times))}]
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
