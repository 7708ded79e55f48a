"""What a fresh process pays before the first row is learned."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile

from benchmarks.common import Result, error_line

IMPORT = """
import time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start)
"""
FIRST_ROW = """
import time
from quercus import HoeffdingTree
import numpy as np
X, y = np.zeros((1, 5)), np.zeros(1, dtype=np.int64)
start = time.process_time()
HoeffdingTree().partial_fit(X, y)
print(time.process_time() - start)
"""
IMPORTS = {
    "import quercus": "quercus",
    "from quercus import HoeffdingTree": "quercus",
    "from river.tree import HoeffdingTreeClassifier": "river",
}


def run(code: str, cache: str | None = None) -> float:
    environment = os.environ | ({} if cache is None else {"QUERCUS_CACHE": cache})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(error_line(done.stderr))
    return float(done.stdout)


def startup(times: int) -> Result:
    """Return wall seconds of imports (least of ``times``) and CPU seconds of the first row, compiled or cached."""
    try:
        result: Result = {}
        for statement, package in IMPORTS.items():
            if importlib.util.find_spec(package) is not None:
                result[statement] = min(run(IMPORT.format(statement=statement)) for _ in range(times))
        with tempfile.TemporaryDirectory() as cache:
            result["first row, kernels compiled (CPU)"] = run(FIRST_ROW, cache)
            result["first row, kernels cached (CPU)"] = min(run(FIRST_ROW, cache) for _ in range(times))
    except RuntimeError as error:
        return {"failed": str(error)}
    return result
