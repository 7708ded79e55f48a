"""Why a tree answers as it does, in plain words, for one example."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from quercus.explain.nodes import Node, Test
from quercus.explain.words import Label, native, others, ranked, show_count, show_name, show_set, show_share, show_value

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PathStep:
    """One test on the way of an example.

    Parameters
    ----------
    test
        The test of the node.
    value
        The example's value of the feature, None if it is missing.
    passed
        Whether the example went left.
    learned
        Whether examples that miss the value went where it was best, not with the majority.

    Examples
    --------
    >>> PathStep(Test("age", "<=", 41.0), 29, True).text()
    'age = 29 <= 41'
    >>> PathStep(Test("age", "<=", 41.0), None, True).text()
    'age is missing, went with the majority: age <= 41'
    >>> PathStep(Test("job", "in", ("clerk", "nurse", "cook")), "nurse", True).text()
    "job = 'nurse', in {'clerk', 'nurse', 'cook'}"
    """

    test: Test
    value: Any
    passed: bool
    learned: bool = False

    @property
    def feature(self) -> str:
        """Name of the feature."""
        return self.test.feature

    @property
    def missing(self) -> bool:
        """Whether the value is missing."""
        return self.value is None

    def text(self) -> str:
        """Write the step: the value and what the test found."""
        return _reason([self])

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain data."""
        data = {
            "feature": self.feature,
            "test": self.test.text(self.passed),
            "value": native(self.value),
            "missing": self.missing,
        }
        # The text of a test may leave some of them out.
        return {**data, "categories": list(self.test.categories)} if self.test.op == "in" else data


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """The answer for one example and what it rests on, in plain words when shown or printed.

    Parameters
    ----------
    prediction
        The answer, None if nothing has been learned.
    probabilities
        Probability of each class.
    path
        The tests from the root to the leaf.
    counts
        Weight of the examples of each class in the leaf.
    interval
        Bounds on the true share of the predicted class in the leaf, None if not known.
    consistent
        Whether it is certain which class is the most frequent in the leaf, None if not known.
    answered_by
        Whether the class counts alone answer, naive Bayes over all features, or all prunings of the tree.

    Examples
    --------
    >>> Explanation("yes", {"no": 0.29, "yes": 0.71}, (PathStep(Test("age", "<=", 41.0), 29, True),),
    ...     {"no": 14.0, "yes": 34.0}, (0.58, 0.84), True, "majority")
    predicts 'yes' (71%)
      because age = 29 <= 41
      in this leaf: 'yes' 34, 'no' 14 (48 labels)
      the true share of 'yes' here is between 58% and 84%
      certain that 'yes' is the most frequent answer here
    """

    prediction: Label
    probabilities: Mapping[Label, float]
    path: tuple[PathStep, ...]
    counts: Mapping[Label, float]
    interval: tuple[float, float] | None
    consistent: bool | None
    answered_by: Literal["majority", "naive Bayes", "all prunings"]

    @classmethod
    def from_path(
        cls,
        path: Sequence[Node],
        classes: Sequence[Label],
        values: Mapping[str, Any],
        prediction: Label,
        probabilities: Mapping[Label, float],
        interval: tuple[float, float] | None = None,
        learned: bool = False,
    ) -> Explanation:
        """Explain the way of an example along the nodes that it met.

        Parameters
        ----------
        path
            The nodes from the root to the leaf, as ``TreeView.path`` gives them.
        classes
            The labels, in the order of the nodes' counts.
        values
            The example: feature name to value; absent, None and NaN are missing.
        prediction
            The answer given.
        probabilities
            Probability of each class.
        interval
            Bounds on the share of ``prediction``; by default those of the leaf, if it predicts the same class.
        learned
            As in `PathStep`.

        Examples
        --------
        >>> from quercus.explain import Leaf
        >>> leaf = Node(0, -1, None, 0, None, True, (3.0,), "a", 0.0, Leaf("majority", True, (0.4, 1.0), False, 3.0))
        >>> Explanation.from_path([leaf], ["a"], {}, "a", {"a": 1.0}).counts
        {'a': 3.0}
        """
        last = path[-1]
        if last.leaf is None:
            raise ValueError(f"the path ends in node {last.id}, which is not a leaf; give the whole path.")
        steps = []
        for node, after in itertools.pairwise(path):
            if node.test is None:
                raise ValueError(f"node {node.id} on the path has no test; give the nodes from the root to the leaf.")
            name = node.test.feature
            steps.append(PathStep(node.test, _known(values.get(name)), after.side == "left", learned))
        if interval is None and prediction == last.prediction:
            interval = last.leaf.interval
        return cls(
            prediction=native(prediction),
            probabilities={native(label): float(p) for label, p in probabilities.items()},
            path=tuple(steps),
            counts={native(label): count for label, count in zip(classes, last.counts, strict=True)},
            interval=interval,
            consistent=last.leaf.consistent,
            answered_by=last.leaf.answered_by,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "prediction": native(self.prediction),
            "probabilities": dict(self.probabilities),
            "path": [step.to_dict() for step in self.path],
            "counts": dict(self.counts),
            "interval": None if self.interval is None else list(self.interval),
            "consistent": self.consistent,
            "answered_by": self.answered_by,
        }

    def __str__(self) -> str:
        if self.prediction is None:
            return "predicts nothing yet: no label has been learned"
        answer = show_value(self.prediction)
        lines = [f"predicts {answer} ({show_share(self.probabilities.get(self.prediction, 0.0))})"]
        lines += _reasons(self.path)
        lines += _leaf_lines(self)
        return "\n  ".join(lines)

    __repr__ = __str__


def _known(value: Any) -> Any:
    """Return the value, None if it marks a missing one."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    value = native(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def _reasons(path: Sequence[PathStep]) -> list[str]:
    """Write one line per feature: a path may test the same one many times, only the tightest bounds matter."""
    if not path:
        return ["without a test: the tree is a single leaf so far"]
    by_feature: dict[str, list[PathStep]] = {}
    for step in path:
        by_feature.setdefault(step.feature, []).append(step)
    lines = [_reason(steps) for steps in by_feature.values()]
    return [f"because {lines[0]}"] + [f"    and {line}" for line in lines[1:]]


def _reason(steps: Sequence[PathStep]) -> str:
    """Write what the tests of one feature found for the example."""
    name, value = show_name(steps[0].feature), native(steps[0].value)
    asked = [step for step in steps if not step.test.asks_missing]
    is_number = steps[0].test.op == "<="
    found = "" if not asked else _bounds(asked, value) if is_number else _categories(asked)
    if value is None:
        way = "which goes with" if steps[0].learned else "went with the majority"
        return f"{name} is missing, {way}: {name} {found}" if asked else f"{name} is missing"
    if not asked:
        return f"{name} = {show_value(float(value) if is_number else value)}, not missing"
    if is_number:
        return f"{name} = {_exact(value, asked)} {found}"
    return f"{name} = {show_value(value)}" + ("" if found.startswith("==") else f", {found}")


def _bounds(steps: Sequence[PathStep], value: Any) -> str:
    """Write the tightest bounds, the lower one first."""
    below = [_number(step) for step in steps if step.passed]
    above = [_number(step) for step in steps if not step.passed]
    parts = []
    if above:
        parts.append(f"> {_threshold(max(above), value)}")
    if below:
        parts.append(f"<= {_threshold(min(below), value)}")
    return " and ".join(parts)


def _number(step: PathStep) -> float:
    """Return the threshold of a step."""
    return float(step.test.value)  # type: ignore[arg-type]


def _threshold(threshold: float, value: Any) -> str:
    """Write a threshold with all digits if shortening would make it look like the value."""
    short = show_value(threshold)
    return repr(threshold) if value is not None and value != threshold and short == show_value(float(value)) else short


def _exact(value: Any, steps: Sequence[PathStep]) -> str:
    """Write a number with all digits if shortening would make it look like a threshold."""
    short = show_value(float(value))
    close = any(short == show_value(_number(step)) and value != step.test.value for step in steps)
    return repr(value) if close else short


def _categories(steps: Sequence[PathStep]) -> str:
    """Write the category that was found or those that are left, or those that it is not."""
    passed = [step.test.categories for step in steps if step.passed]
    refused = list(dict.fromkeys(value for step in steps if not step.passed for value in step.test.categories))
    if passed:
        left = [value for value in passed[-1] if all(value in other for other in passed) and value not in refused]
        # Missing values may have gone where no category could.
        left = left or list(passed[-1])
        return f"== {show_value(left[0])}" if len(left) == 1 else f"in {show_set(left)}"
    names = [show_value(value) for value in refused]
    if len(names) > _SHOWN:
        names = [*names[:_SHOWN], others(len(names) - _SHOWN)]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    return f"not {listed}"


def _leaf_lines(explanation: Explanation) -> list[str]:
    """Write what the leaf has seen and how sure that makes the answer."""
    answer = show_value(explanation.prediction)
    order = ranked(list(explanation.counts), list(explanation.counts.values()))
    shown = [f"{show_value(label)} {show_count(count)}" for label, count in order[:_SHOWN]]
    if len(order) > _SHOWN:
        rest = sum(count for _, count in order[_SHOWN:])
        shown.append(f"{others(len(order) - _SHOWN)} {show_count(rest)}")
    total = sum(count for _, count in order)
    if not order:
        return ["in this leaf: no labels yet"]
    lines = [f"in this leaf: {', '.join(shown)} ({show_count(total)} label{'' if total == 1 else 's'})"]
    if explanation.answered_by == "naive Bayes":
        lines.append("answered by naive Bayes: all known features of the example were weighed, not only the counts")
    if explanation.interval is not None:
        low, high = explanation.interval
        lines.append(f"the true share of {answer} here is between {show_share(low)} and {show_share(high)}")
    most = order[0][0]
    if explanation.counts.get(explanation.prediction, 0.0) < order[0][1]:
        lines.append(f"{show_value(most)} is more frequent here; {_difference(explanation)} made the difference")
        answer = show_value(most)
    if explanation.consistent is None:
        return lines
    if explanation.consistent:
        lines.append(f"certain that {answer} is the most frequent answer here")
    else:
        lines.append(f"not yet certain that {answer} is the most frequent answer here")
    return lines


def _difference(explanation: Explanation) -> str:
    """Say what but the counts of the leaf decided."""
    if explanation.answered_by == "naive Bayes":
        return "the features"
    probabilities = explanation.probabilities
    is_most_probable = probabilities.get(explanation.prediction, 0.0) >= max(probabilities.values(), default=0.0)
    if explanation.answered_by == "all prunings" and is_most_probable:
        return "what nodes above or recent labels tell"
    return "the price of mistakes"
