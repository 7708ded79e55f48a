"""The policy of a learner that buys, unrolled: what it would ask next whatever has come back so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quercus.acquisition.engine import Weighed, best_answer, judge
from quercus.acquisition.history import Label
from quercus.acquisition.layout import KNOWN, MISSING, REFER, Refer
from quercus.acquisition.policy_outcomes import Part, join_parts
from quercus.engine import Floats

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer

MOST_NODES = 10_000
# What fewer come to would be lost in rounding.
_LEAST_REACH = 1e-200


@dataclass(slots=True, eq=False)
class Stage:
    """A state of knowledge on the way, and what comes of it.

    What is expected (``cost``, ``questions``, ``accuracy``, ``loss``, ``referred``, ``unfinished``) is for an example
    that has come here, from here on.
    """

    row: Floats
    status: npt.NDArray[np.uint8]
    left: float
    depth: int
    reach: float
    q: Floats
    parts: tuple[Part, ...] = ()
    values: Mapping[int, float] = field(default_factory=dict)
    kind: str = "answer"
    item: int = -1
    price: float = 0.0
    stop: str | None = None
    answer: Label | Refer | None = None
    children: list[Stage] = field(default_factory=list)
    cost: float = 0.0
    questions: float = 0.0
    accuracy: float = 0.0
    loss: float = 0.0
    referred: float = 0.0
    unfinished: float = 0.0
    visits: float | None = None
    value: float | None = None
    shape: int = -1

    def walk(self) -> Iterator[Stage]:
        """Yield this stage and all below, each before its children."""
        waiting = [self]
        while waiting:
            stage = waiting.pop()
            yield stage
            waiting += reversed(stage.children)


_EXPECTED = ("cost", "questions", "accuracy", "loss", "referred", "unfinished")


def unroll(model: FeatureBuyer, depth: int, reach: float) -> Stage:
    """Follow the plan of a model through everything that may come back, and merge what makes no difference.

    Parameters
    ----------
    model
        A learner that has learned something.
    depth
        Most questions in a row.
    reach
        Where fewer examples than this share come, no further question is followed.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> model = UtilityTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)
    >>> root = unroll(model, 6, 0.01)
    >>> root.kind, [stage.answer for stage in root.children], root.cost
    ('question', ['no', 'yes'], 1.0)
    """
    places = len(model._prices.names)
    row, status = np.full(places, np.nan), np.zeros(places, np.uint8)
    left = model._left(model.budget, 0.0, shared=False)
    root = Stage(row, status, left, 0, 1.0, model._posterior(row, status))
    waiting, found = [root], [root]
    while waiting:
        stage = waiting.pop()
        _decide(model, stage, depth, reach)
        if stage.kind == "question":
            stage.children = _branches(model, stage)
            waiting += [child for child in stage.children if child.kind != "cut"]
            found += stage.children
        if len(found) > MOST_NODES:
            raise ValueError(
                f"the tree would have more than {MOST_NODES:,} nodes with depth={depth} and reach={reach:g}; give a "
                "smaller depth or a larger reach."
            )
    shapes: dict[tuple[object, ...], int] = {}
    for stage in reversed(list(root.walk())):
        _finish(stage, shapes)
    return root


def weigh(model: FeatureBuyer, row: Floats, status: npt.NDArray[np.uint8], item: int) -> Weighed:
    """Return the expected loss of an answer, below 0, now and after one more question, whose price is left out.

    Parameters
    ----------
    model
        A learner that has learned something.
    row, status
        What is known.
    item
        What would be asked for.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> model = UtilityTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20)
    >>> now, then = weigh(model, np.array([np.nan]), np.zeros(1, np.uint8), 0)
    >>> round(now, 3), round(then, 3)
    (-0.5, -0.045)
    """
    stage = Stage(row, status, 0.0, 0, 1.0, model._posterior(row, status), item=item)
    children = _branches(model, stage)
    for each in (stage, *children):
        _judge(model, each)
    whole = sum(child.reach for child in children)
    return Weighed(-stage.loss, -sum(child.reach * child.loss for child in children) / whole)


def _decide(model: FeatureBuyer, stage: Stage, depth: int, reach: float) -> None:
    """Find out what happens at a stage, and what would be answered there."""
    item, _, stop = model._plan(stage.row, stage.status, stage.left, 0, False)
    if item < 0:
        stage.stop = stop
    else:
        stage.item, stage.price = item, model._prices.costs[item]
        stage.kind = "question" if stage.depth < depth and stage.reach >= max(reach, _LEAST_REACH) else "cut"
    met = model.engine.recall(model, stage.row, stage.status)
    if met is not None:
        stage.visits, stage.value = met
    _judge(model, stage)


def _judge(model: FeatureBuyer, stage: Stage) -> None:
    """Note the answer that what is known leads to, and what it is worth; more is expected where more is asked."""
    stage.answer = judge(model, stage.q).prediction
    best, expected = best_answer(stage.q, model._order, model._loss)
    is_referred = stage.answer is REFER and model.refer is not None
    stage.accuracy = 0.0 if is_referred else float(stage.q[best])
    stage.loss = float(model.refer or 0.0) if is_referred else expected
    stage.referred = float(is_referred)
    if stage.kind == "cut":
        stage.cost, stage.questions, stage.unfinished = stage.price, float(stage.item >= 0), 1.0


def _branches(model: FeatureBuyer, stage: Stage) -> list[Stage]:
    """Return a stage for each outcome of a question."""
    left, below = stage.left - stage.price, stage.depth + 1
    children, rest = [], stage.q.copy()
    for probability, values, parts in model.engine.outcomes(model, stage.row, stage.status, stage.item):
        reach = stage.reach * probability
        if reach <= 0:
            continue
        row, status, places = stage.row.copy(), stage.status.copy(), list(values)
        row[places] = list(values.values())
        status[places] = np.where(np.isnan(row[places]), MISSING, KNOWN)
        if values:
            child = Stage(row, status, left, below, reach, model._posterior(row, status), parts, values)
            rest -= probability * child.q
        else:
            # All that is known of the others is that they are none of those that are told apart.
            shares = np.maximum(rest, 0.0)
            q = shares / shares.sum() if shares.sum() > 0 else stage.q
            child = Stage(row, status, left, below, reach, q, kind="cut")
            _judge(model, child)
        children.append(child)
    return children


def _finish(stage: Stage, shapes: dict[tuple[object, ...], int]) -> None:
    """Sum up what is below a stage, merge branches that lead to the same, and number what it looks like."""
    if stage.children:
        whole = sum(child.reach for child in stage.children)
        for name in _EXPECTED:
            mean = sum(child.reach * getattr(child, name) for child in stage.children) / whole
            setattr(stage, name, mean)
        stage.cost += stage.price
        stage.questions += 1
        first = stage.children[0]
        if all(child.kind == "answer" and child.answer == first.answer for child in stage.children):
            stops = {child.stop for child in stage.children}
            stage.kind, stage.answer, stage.stop = "formality", first.answer, first.stop if len(stops) == 1 else None
            stage.children = []
        else:
            stage.children = _merged(stage.children)
            if [child.kind for child in stage.children] == ["cut"]:
                stage.kind, stage.children = "cut", []
    below = tuple((child.parts, child.shape) for child in stage.children)
    # What a stage that was cut would ask next does not tell it from its neighbours; what it answers does.
    item = -1 if stage.kind == "cut" else stage.item
    shape = (stage.kind, item, None if stage.children else stage.answer, stage.stop, below)
    stage.shape = shapes.setdefault(shape, len(shapes))


def _merged(children: list[Stage]) -> list[Stage]:
    """Merge branches that look the same and whose outcomes are neighbours."""
    kept: list[Stage] = []
    for child in children:
        into: Stage | None = child
        while into is not None:
            child = into
            into = next((other for other in kept if other.shape == child.shape and _merge(other, child)), None)
            if into is not None:
                kept.remove(into)
        kept.append(child)
    first = {id(child): place for place, child in enumerate(children)}
    return sorted(kept, key=lambda child: first[id(child)])


def _merge(stage: Stage, other: Stage) -> bool:
    """Add another stage that looks the same, if both can be told as one outcome; tell whether they could."""
    parts = join_parts(stage.parts, other.parts)
    if parts is None:
        return False
    for one, two in zip(stage.walk(), other.walk(), strict=True):
        both = one.reach + two.reach
        for name in (*_EXPECTED, "q"):
            mixed = (one.reach * getattr(one, name) + two.reach * getattr(two, name)) / both
            setattr(one, name, mixed)
        one.visits, one.value = _merge_visits(one, two)
        if one.kind == "cut" and one.item != two.item:
            one.item = -1
        one.reach = both
    stage.parts = parts
    return True


def _merge_visits(one: Stage, two: Stage) -> tuple[float | None, float | None]:
    """Return how often one of two stages was met, and what they are worth on average."""
    if one.visits is None or two.visits is None:
        return None, None
    visits = one.visits + two.visits
    if one.value is None or two.value is None:
        return visits, two.value if one.value is None else one.value
    return visits, (one.visits * one.value + two.visits * two.value) / visits
