"""Runs many measurements in processes of their own."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from benchmarks.common import Result
from benchmarks.evergreen.contenders import Contender
from benchmarks.tables import problem


def run_jobs(jobs: Mapping[Any, Callable[[], Any]], workers: int = 2) -> dict[Any, Any]:
    """Return what each job comes to, or ``{"failed": why}``; one worker where times are measured."""
    found = {}
    with ProcessPoolExecutor(workers) as pool:
        waiting = {key: pool.submit(_attempt, job) for key, job in jobs.items()}
        for number, (key, future) in enumerate(waiting.items(), 1):
            found[key], seconds = future.result()
            why = f": {problem(found[key])}" if isinstance(found[key], dict) else ""
            print(f"{number} of {len(waiting)}, {seconds:.1f} s: {_words(key)}{why}", file=sys.stderr, flush=True)
    return found


def _attempt(job: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    try:
        found = job()
    except Exception as error:  # one contender that breaks must not end the others
        found = {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
    return found, time.perf_counter() - start


def _words(key: Hashable) -> str:
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def first_problem(found: list[Any]) -> Result | None:
    """Return the first of them that is one."""
    return next((one for one in found if isinstance(one, dict)), None)


def mean_error(values: Any) -> str:
    """Return the mean in points with its standard error over runs."""
    values = 100 * np.asarray(values, np.float64)
    error = f" ({values.std(ddof=1) / np.sqrt(len(values)):.2f})" if len(values) > 1 else ""
    return f"{values.mean():+.2f}{error}"


def reason(contender: Contender) -> str | None:
    """Return why a contender is not there, None if it is."""
    return None if contender.problem is None else problem(contender.problem)
