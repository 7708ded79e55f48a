"""Contenders side by side: they take turns, so that a busy moment of the machine does not hit one of them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from experiments.harness.executing import run_alone
from experiments.peers.stream_files import Result

ROUNDS, _ONCE_ABOVE_SECONDS = 3, 60


def take_turns(calls: Mapping[str, Callable[[], Result]]) -> dict[str, list[Result] | str]:
    """Return what each call gave, turn by turn, each in a process of its own; or why it gave nothing.

    What takes very long has only one turn.

    Parameters
    ----------
    calls
        By the names of the contenders.

    Examples
    --------
    >>> take_turns({"good": dict, "bad": type})
    {'good': [{}, {}, {}], 'bad': 'TypeError: type() takes 1 or 3 arguments'}
    """
    found: dict[str, list[Result] | str] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            done = found[name]
            if isinstance(done, str) or (done and done[0].get("seconds", 0) > _ONCE_ABOVE_SECONDS):
                continue
            try:
                done.append(run_alone(call))
            except RuntimeError as error:
                found[name] = str(error)
    return found
