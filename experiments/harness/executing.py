"""Many calls in processes of this machine; one that dies costs its call, which is made again."""

from __future__ import annotations

import multiprocessing as mp
import os
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

# A call whose process died is made so many times.
ATTEMPTS = 3
# Libraries that would use all cores in every process.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Failed(NamedTuple):
    """A call that did not come to an end: why, and where."""

    why: str
    where: str = ""


class Done(NamedTuple):
    """A call: its number, and what it returned, or `Failed`."""

    number: int
    result: Any


def run_in_processes(
    call: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], jobs: int
) -> Generator[Done, None, None]:
    """Yield what a function returns for each tuple of arguments, as they are done.

    Parameters
    ----------
    call
        A function that can be imported.
    tasks
        Its arguments, call by call.
    jobs
        How many processes; 0: none, calls are made here, one after the other.

    Examples
    --------
    >>> [done.result for done in run_in_processes(divmod, [(7, 2), (9, 4), (1, 0)], jobs=0)]
    [(3, 1), (2, 1), Failed(why='ZeroDivisionError: ...', where='...')]
    """
    if jobs == 0:
        for number, task in enumerate(tasks):
            yield Done(number, attempt(call, task))
        return
    crew = _Crew(call, min(jobs, len(tasks)))
    try:
        yield from crew.work(tasks)
    finally:
        crew.close()


def attempt(call: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    """Return what a call returns, or `Failed`.

    Parameters
    ----------
    call, task
        The function and its arguments.

    Examples
    --------
    >>> attempt(int, ("x",)).why
    "ValueError: invalid literal for int() with base 10: 'x'"
    """
    try:
        return call(*task)
    except Exception as error:
        return Failed(" ".join(f"{type(error).__name__}: {error}".split()), traceback.format_exc())


def run_alone(call: Callable[..., Any], *task: Any) -> Any:
    """Return what a call returns in a process of its own; `RuntimeError` says why there is nothing.

    Parameters
    ----------
    call, task
        The function and its arguments.

    Examples
    --------
    >>> run_alone(divmod, 7, 2)
    (3, 1)
    """
    (done,) = run_in_processes(call, [task], jobs=1)
    if isinstance(done.result, Failed):
        raise RuntimeError(done.result.why)
    return done.result


class _Worker:
    """A process and the way to it."""

    def __init__(self, call: Callable[..., Any]) -> None:
        context = mp.get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(call, theirs))
        kept = {name: os.environ.get(name) for name in _THREADS}
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        try:
            self.process.start()
        finally:
            for name, value in kept.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        theirs.close()
        # Number of the call that it makes, None while it has none.
        self.busy: int | None = None

    def close(self) -> None:
        self.line.close()
        self.process.terminate()
        self.process.join()


class _Crew:
    """Workers that take one call after the other."""

    def __init__(self, call: Callable[..., Any], size: int) -> None:
        self._call = call
        self._workers = [_Worker(call) for _ in range(size)]

    def close(self) -> None:
        for worker in self._workers:
            worker.close()

    def work(self, tasks: Sequence[tuple[Any, ...]]) -> Iterator[Done]:
        waiting, tries, left = deque(range(len(tasks))), [0] * len(tasks), len(tasks)
        while left:
            for worker in self._workers:
                if worker.busy is None and waiting:
                    number = waiting.popleft()
                    tries[number] += 1
                    worker.busy = number
                    _send(worker.line, tasks[number])
            for done in self._collect():
                if isinstance(done.result, _Lost) and tries[done.number] < ATTEMPTS:
                    waiting.appendleft(done.number)
                    continue
                left -= 1
                lost = isinstance(done.result, _Lost)
                yield Done(done.number, Failed(f"its process died {ATTEMPTS} times.")) if lost else done

    def _collect(self) -> list[Done]:
        """Return the calls that have ended, at least one; workers that died are replaced."""
        busy = [worker for worker in self._workers if worker.busy is not None]
        ready = set(map(id, wait([worker.line for worker in busy])))
        found = []
        for worker in busy:
            if id(worker.line) not in ready:
                continue
            assert worker.busy is not None
            try:
                result = worker.line.recv()
            except (EOFError, OSError):
                result = _Lost()
                worker.close()
                self._workers[self._workers.index(worker)] = _Worker(self._call)
            found.append(Done(worker.busy, result))
            worker.busy = None
        return found


class _Lost:
    """What comes back of a process that died."""


def _send(line: Connection, task: tuple[Any, ...]) -> None:
    try:
        line.send(task)
    except OSError:
        # It died while it had nothing to do; that shows when its result is waited for.
        return


def _serve(call: Callable[..., Any], line: Connection) -> None:
    """Make calls until nobody is there any more."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    while True:
        try:
            task = line.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        try:
            line.send(attempt(call, task))
        except (KeyboardInterrupt, BrokenPipeError):
            return


def _leave_with_parent() -> None:
    """End this process when the one that started it is killed, also in the middle of a call."""
    parent = mp.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
