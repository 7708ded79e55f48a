"""Two learners on the same rows, and when the difference counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.results import Results


class Gain(NamedTuple):
    """What a learner has right more than another on a stream, in points, run by run."""

    stream: str
    points: Floats

    @property
    def mean(self) -> float:
        """Over runs."""
        return float(self.points.mean())

    @property
    def error(self) -> float:
        """Standard error over runs, NaN for a single one."""
        return float(self.points.std(ddof=1) / np.sqrt(len(self.points))) if len(self.points) > 1 else np.nan

    @property
    def sign(self) -> int:
        """1 or -1 if it is more than two standard errors from nothing, else 0."""
        return int(np.sign(self.mean)) if abs(self.mean) > 2 * self.error else 0

    def __str__(self) -> str:
        return f"{self.mean:+.2f}" + ("" if np.isnan(self.error) else f" ({self.error:.2f})")


def compare(found: Results, stream: str, learner: str, base: str) -> Gain | None:
    """Return the gain over the runs that both have; None: there is no such run."""
    here = found.where(data=stream, problem="")
    ours, theirs = (_by_run(here.where(learner=name)) for name in (learner, base))
    points = [100 * (ours[run] - theirs[run]) for run in ours if run in theirs]
    return Gain(stream, np.array(points)) if points else None


def compare_all(found: Results, streams: Sequence[str], learner: str, base: str) -> list[Gain]:
    """Return the gains on all streams on which both were run."""
    return [gain for stream in streams if (gain := compare(found, stream, learner, base)) is not None]


def over_streams(gains: Sequence[Gain]) -> Gain:
    """Return the gain as a whole: its errors are those over streams."""
    return Gain("", np.array([gain.mean for gain in gains]))


def all_gained(gains: Sequence[Gain]) -> bool | None:
    """Return whether there is a gain everywhere: False if there is a loss that counts, None if it cannot be told."""
    signs = {gain.sign for gain in gains}
    return False if -1 in signs else True if signs == {1} else None


def none_lost(gains: Sequence[Gain]) -> bool | None:
    """Return whether there is no loss that counts; None if there is one of which that is not known."""
    if any(gain.mean < 0 and np.isnan(gain.error) for gain in gains):
        return None
    return all(gain.sign >= 0 for gain in gains)


def say_gains(gains: Sequence[Gain]) -> str:
    """Return on how many streams there is a gain and a loss that counts, and the least and the largest."""
    signs = [gain.sign for gain in gains]
    least, most = (pick(gains, key=lambda gain: gain.mean) for pick in (min, max))
    return (
        f"more than two standard errors ahead on {signs.count(1)} of {len(gains)} streams, behind on "
        f"{signs.count(-1)}; from {least} points, {least.stream}, to {most}, {most.stream}."
    )


def judge_all(gains: Sequence[Gain]) -> tuple[bool | None, str]:
    """Return whether there is a gain as a whole, None if it cannot be told, and the figures."""
    whole = over_streams(gains)
    least, ahead = min(gains, key=lambda gain: gain.mean), sum(gain.mean > 0 for gain in gains)
    seen = (
        f"{whole} points in the mean (error over streams); ahead on {ahead} of {len(gains)}, least {least} on "
        f"{least.stream}."
    )
    return {1: True, 0: None, -1: False}[whole.sign], seen


def _by_run(found: Results) -> dict[int, float]:
    return dict(zip(found["run"].tolist(), found["right"].tolist(), strict=True))
