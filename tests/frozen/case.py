"""A frozen case: something that learners do on a stream, and what is to be seen of it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.frozen import views
from tests.frozen.streams import Stream, stream

# Told of each model at moments that have a name.
Observe = Callable[[str, Any], None]
# How rows are cut into batches; the first is how they are cut when values are stored: also where late columns come.
CUTS: dict[str, Callable[[int], list[int]]] = {
    "usual": lambda n: [1, 2, 10, 100, 128, 129, 300, 400, 900, *range(500, n, 500)],
    "whole": lambda _: [],
    "single": lambda n: list(range(1, n)),
    "ragged": lambda n: [i * i for i in range(1, int(n**0.5) + 1)],
}
# Where one looks at a learner; no batch goes beyond.
_LOOKS = (0.05, 0.4, 1.0)
_FEW = 4


@dataclass(frozen=True)
class Case:
    """Something to play.

    Parameters
    ----------
    name
        Its file, a slash, and its name.
    play
        Runs it, given a `Watch` and a name of `CUTS`, and returns what was found.
    cuts
        Ways of cutting the rows that must make no difference.
    splits
        Whether its learner splits or buys; a case in which it does not must be about that.
    """

    name: str
    play: Callable[[Observe, str], Any]
    cuts: tuple[str, ...] = ("usual",)
    splits: bool = True

    @property
    def group(self) -> str:
        """Name of its file."""
        return self.name.split("/")[0]

    def find(self, cut: str = "usual") -> Any:
        """Play it and return what was found, as it would be stored."""
        return views.plain(self.play(lambda moment, model: None, cut))


def parts(n: int, cut: str) -> Iterator[tuple[int, int, str | None]]:
    """Yield where batches begin and end, and the name of the moment if one looks then."""
    looks = {max(1, round(share * n)): f"row {max(1, round(share * n))}" for share in _LOOKS}
    ends = sorted({*(end for end in CUTS[cut](n) if 0 < end < n), *looks})
    for start, end in zip([0, *ends], ends, strict=False):
        yield start, end, looks.get(end)


def look(learner: Any, data: Stream, moment: str) -> dict[str, Any]:
    """Return all that is to be seen of a learner at the end, and before that a few answers."""
    if moment == f"row {len(data.y)}":
        return views.view(learner, data.probe)
    return views.sight(learner, data.probe[:_FEW])


def learning(make: Callable[[], Any], name: str, rows: int = 10_000) -> Callable[[Observe, str], Any]:
    """Return a play: a learner answers and learns the rows of a stream."""

    def play(observe: Observe, cut: str) -> dict[str, Any]:
        data, learner = take(stream(name), rows), make()
        found: dict[str, Any] = {}
        answers = np.empty(len(data.y), object)
        surprise = 0.0
        for start, end, moment in parts(len(data.y), cut):
            w = None if data.w is None else data.w[start:end]
            result = learner.test_then_learn(data.X[start:end], data.y[start:end], sample_weight=w)
            answers[start:end] = [result.classes[answer] if answer >= 0 else None for answer in result.answers.tolist()]
            right = np.where(result.truth < 0, 0.0, result.proba[np.arange(end - start), result.truth])
            surprise -= float(np.log(np.maximum(right, 1e-6)).sum())
            if moment:
                observe(moment, learner)
                found[moment] = look(learner, data, moment)
        return {"right": views.blocks(data.y, answers), "surprise": surprise, **found}

    return play


def one_by_one(make: Callable[[], Any], name: str, rows: int) -> Callable[[Observe, str], Any]:
    """Return a play: a learner is given examples as dicts, one at a time."""

    def play(observe: Observe, cut: str) -> dict[str, Any]:
        data, learner = stream(name), make()
        answers = np.empty(rows, object)
        for row in range(rows):
            x, y = views.example(data.X, row), data.y[row].item() if hasattr(data.y[row], "item") else data.y[row]
            answers[row] = learner.predict_one(x)
            learner.learn_one(x, y, 1.0 if data.w is None else data.w[row].item())
        observe("end", learner)
        probe = [views.example(data.probe, row) for row in range(len(data.probe))]
        found = {"right": views.blocks(data.y[:rows], answers), "end": views.view(learner, probe)}
        return found | {"proba_one": learner.predict_proba_one(probe[1])}

    return play


def fitting(make: Callable[[], Any], name: str, change: Callable[[Any], Any] = copy.copy) -> Callable[..., Any]:
    """Return a play: a learner takes all rows at once, with their classes, and is then made into something else."""

    def play(observe: Observe, cut: str) -> dict[str, Any]:
        data = stream(name)
        learner = make()
        learner.partial_fit(data.X, data.y, classes=sorted(set(data.y.tolist())), sample_weight=data.w)
        made = change(learner)
        observe("end", made)
        return {"end": views.view(made, data.probe)}

    return play


def take(data: Stream, rows: int) -> Stream:
    """Return the first rows of a stream."""
    return Stream(data.X[:rows], data.y[:rows], None if data.w is None else data.w[:rows], data.probe)
