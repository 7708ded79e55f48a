"""The same calls on a Ray cluster: ``pip install '.[bench]'``."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from experiments.harness.executing import ATTEMPTS, Done, Failed, attempt


def run_on_ray(
    call: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int, address: str | None = None
) -> Generator[Done, None, None]:
    """Yield what a function returns for each tuple of arguments, as they are done; see `run_in_processes`.

    Parameters
    ----------
    call, tasks
        The function, and its arguments, call by call.
    jobs
        How many calls are made at a time.
    address
        Of a cluster; None: that of ``RAY_ADDRESS``, and without it, so many workers on this machine.

    Examples
    --------
    >>> [done.result for done in run_on_ray(divmod, [(7, 2)], jobs=1)]  # doctest: +SKIP
    [(3, 1)]
    """
    try:
        import ray
    except ImportError as error:
        raise ImportError("Ray is not installed; install it with pip install '.[bench]'.") from error
    started = not ray.is_initialized()
    if started:
        _start(ray, jobs, address)
    try:
        yield from _work(ray, call, tasks, jobs)
    finally:
        if started:
            ray.shutdown()


def _start(ray: Any, jobs: int, address: str | None) -> None:
    quiet = {"log_to_driver": False, "logging_level": "error"}
    if address or os.environ.get("RAY_ADDRESS"):
        ray.init(address=address or "auto", **quiet)
    else:
        ray.init(num_cpus=max(jobs, 1), include_dashboard=False, **quiet)


def _work(ray: Any, call: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Done]:
    # A worker that dies is replaced by Ray, and its call made again.
    remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(attempt)
    waiting: list[tuple[int, tuple[Any, ...]]] = list(enumerate(tasks))[::-1]
    running: dict[Any, int] = {}
    while waiting or running:
        while waiting and len(running) < max(jobs, 1):
            number, task = waiting.pop()
            running[remote.remote(call, task)] = number
        ready, _ = ray.wait(list(running), num_returns=1)
        for reference in ready:
            number = running.pop(reference)
            try:
                yield Done(number, ray.get(reference))
            except ray.exceptions.RayError as error:
                yield Done(number, Failed(f"{type(error).__name__}: its process died {ATTEMPTS} times."))
