"""Asking with late labels, one row at a time and with nothing clever: what `evaluate` must agree with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from quercus.ask import Policy
from quercus.ask.learners import LearnerView
from quercus.ask.state import AskState


class Doubtful(Policy):
    """A policy in plain Python."""

    def score(self, region: Any) -> float:
        return 1.0 - region.confidence / 2


class Asked(NamedTuple):
    row: int
    covered: int
    propensity: float
    explored: bool
    prediction: Any


class Story(NamedTuple):
    """What happened: answers by row, questions in order, and (question, label) in order of arrival."""

    answers: list[Any]
    asked: list[Asked]
    answered: list[tuple[int, Any]]


def play(
    rows: list[dict[str, Any]], labels: list[Any], learner: Any, policy: Policy, delays: Any, classes: Any = None
) -> Story:
    shown, state = LearnerView(learner, classes), AskState(policy, len(rows))
    story = Story([], [], [])
    on_their_way: list[tuple[int, int, int]] = []

    def learn_until(row: int) -> None:
        for arrival in sorted(a for a in on_their_way if a[0] <= row):
            on_their_way.remove(arrival)
            _, number, place = arrival
            shown.learn(rows[place], labels[place], story.asked[number - 1].explored)
            story.answered.append((number, labels[place]))

    for i, x in enumerate(rows):
        learn_until(i)
        answer = shown.predict(x)
        story.answers.append(answer)
        decision = state.decide(float(policy.price), 0, shown.region(x, i + 1))
        if decision["asked"]:
            seen = (i + 1, int(decision["covered"]), float(decision["propensity"]), bool(decision["explored"]))
            story.asked.append(Asked(*seen, answer))
            on_their_way.append((i + int(delays[i]), len(story.asked), i))
    learn_until(len(rows) - 1)
    return story


def mixed(rows: int = 1000, seed: int = 0) -> tuple[pa.Table, np.ndarray]:
    """Numbers, missing ones, categories of which some come late, and a third class that comes late."""
    random = np.random.default_rng(seed)
    age = random.normal(40, 12, rows).round(2)
    jobs = np.array(["clerk", "cook", "nurse", "smith", "baker"])
    job = jobs[(random.random(rows) * np.linspace(1.2, 5, rows)).astype(int)]
    owner = random.random(rows) < 0.4
    label = np.where((age > 41) & (job != "cook"), "yes", "no")
    label[(np.arange(rows) > rows // 2) & (job == "smith")] = "maybe"
    noise = random.random(rows) < 0.1
    label[noise] = random.permutation(label[noise])
    lost = (random.random((2, rows)) < 0.1) & (np.arange(rows) > 50)
    ages = [None if gone else float(a) for a, gone in zip(age, lost[0], strict=True)]
    texts = [None if gone else str(j) for j, gone in zip(job, lost[1], strict=True)]
    return pa.table({"age": ages, "job": texts, "owner": owner.tolist()}), label.astype(str)
