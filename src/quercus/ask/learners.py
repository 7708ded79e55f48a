"""How a policy sees a learner: class probabilities and the labels behind them, for ours and for foreign learners."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.arguments import read_loss
from quercus.ask.policies import Region
from quercus.engine import CaseLike
from quercus.schema import Schema

_BINS = 20
_NOTHING: NDArray[np.float64] = np.zeros(0)


class LearnerView:
    """A learner as a policy sees it, one example at a time.

    A learner that can tell how many labels stand behind its answer (``region_one``) does. For any other, rows that it
    answered alike (same class, margin within 1/20) form a region, and the labels that came for them are counted.
    """

    def __init__(self, learner: Any, classes: Sequence[Any] | None = None) -> None:
        self.learner = learner
        self._is_array = not hasattr(learner, "learn_one")
        if self._is_array and not (hasattr(learner, "partial_fit") and hasattr(learner, "predict_proba")):
            raise TypeError(
                f"{type(learner).__name__} cannot be behind a policy; it needs predict_proba_one and learn_one "
                "(river), or predict_proba and partial_fit (scikit-learn)."
            )
        if self._is_array and classes is None and not hasattr(learner, "classes_"):
            raise ValueError(
                f"{type(learner).__name__} must know all classes before its first row; give classes=[...]."
            )
        self._classes = None if classes is None else read_classes(classes)
        self._names: list[str] = []
        self._labels: dict[tuple[Any, int], float] = {}

    @property
    def region_labels(self) -> list[tuple[Any, int, float]]:
        """How many labels came for each region that the learner itself does not know: its answer, its margin, labels.

        Set it to what it was, to go on from there.
        """
        return [(*place, count) for place, count in self._labels.items()]

    @region_labels.setter
    def region_labels(self, counts: Iterable[tuple[Any, int, float]]) -> None:
        self._labels = {(answer, margin): count for answer, margin, count in counts}

    def proba(self, x: Mapping[str, Any]) -> dict[Any, float]:
        """Return the learner's class probabilities, {} before it has learned anything."""
        if not self._is_array:
            return dict(self.learner.predict_proba_one(x))
        if not hasattr(self.learner, "classes_"):
            return {}
        shares = self.learner.predict_proba(self._row(x))[0].tolist()
        # A learner that has seen too little may give NaN.
        return dict(zip(np.asarray(self.learner.classes_).tolist(), shares, strict=True)) if sum(shares) > 0 else {}

    def region(self, x: Mapping[str, Any], seen: int, by_counts: bool = False, by_posterior: bool = False) -> Region:
        """Return what the learner knows about the part of the world that an example belongs to."""
        return self.look(x, seen, by_counts, by_posterior)[0]

    def look(
        self, x: Mapping[str, Any], seen: int, by_counts: bool = False, by_posterior: bool = False
    ) -> tuple[Region, Mapping[Any, float] | None]:
        """Return what `region` does, and the class probabilities of the answer; None if it takes `proba` to tell.

        The parameters are those of `region`.
        """
        if hasattr(self.learner, "region_one"):
            proba, support = self.learner.region_one(x, by_counts)
            region = measure(proba, support, seen, getattr(self.learner, "loss", None))
        else:
            proba, by_counts = self.proba(x), False
            region = measure(proba, self._labels.get(_bin(proba), 0.0), seen, None)
        region = region._replace(x=x)
        region = region._replace(doubt=self._doubt(x, region)) if by_posterior else region
        return region, None if by_counts else proba

    def _doubt(self, x: Mapping[str, Any], region: Region) -> float:
        """Return the epistemic part of the entropy as a share of the largest entropy that there can be."""
        check_posterior(self.learner, "the policy")
        classes = len(region.proba)
        if classes < 2:
            # Nothing is known yet, or one class, whose margin says how well.
            return 1.0 - region.margin
        parts = self.learner.uncertainty(self._row(x) if self._is_array else [dict(x)])
        return min(max(float(parts.epistemic[0]) / math.log(classes), 0.0), 1.0)

    def predict(self, x: Mapping[str, Any]) -> Any:
        """Return the learner's answer, None before it has learned anything."""
        if not self._is_array:
            return self.learner.predict_one(x)
        if not hasattr(self.learner, "classes_"):
            return None
        return np.asarray(self.learner.predict(self._row(x))).tolist()[0]

    def check(self, x: Mapping[str, Any], label: Any) -> None:
        """Raise what `learn` would raise, as far as that can be told without learning."""
        schema = getattr(self.learner, "schema_", None)
        if isinstance(schema, Schema):
            schema.read_one(x, np.empty(len(schema.names)), True)
            schema.read_label_one(label)
        elif self._must_declare():
            Schema().read_labels([label], classes=self._classes)
        elif self._is_array:
            self._row(x)
            known = self.learner.classes_ if hasattr(self.learner, "classes_") else self._classes
            if label not in np.asarray(known).tolist():
                raise ValueError(f"{label!r} is none of the classes that {type(self.learner).__name__} was told.")

    def learn(self, x: Mapping[str, Any], label: Any, explored: bool = True) -> None:
        """Learn one example; `explored` says whether it was asked at random, which detectors of change want."""
        if not hasattr(self.learner, "region_one"):
            place = _bin(self.proba(x))
            self._labels[place] = self._labels.get(place, 0.0) + 1.0
        if hasattr(self.learner, "learn_monitored"):
            self.learner.learn_monitored([dict(x)], [label], [explored])
        elif not self._is_array and self._must_declare():
            self.learner.partial_fit([dict(x)], [label], classes=self._classes)
        elif not self._is_array:
            self.learner.learn_one(x, label)
        elif hasattr(self.learner, "classes_"):
            self.learner.partial_fit(self._row(x), np.array([label]))
        else:
            self.learner.partial_fit(self._row(x), np.array([label]), classes=np.array(self._classes))

    def region_of_case(self, case: CaseLike, seen: int) -> Region:
        """Return what the learner makes of a case; the parameters are those of `region`."""
        proba = case.probabilities
        return measure(proba, self._labels.get(_bin(proba), 0.0), seen, getattr(self.learner, "loss", None))

    def learn_case(self, case: CaseLike, label: Any) -> None:
        """Learn what a case turned out to be; only what was paid for or given is known of it."""
        place = _bin(case.probabilities)
        self._labels[place] = self._labels.get(place, 0.0) + 1.0
        self.learner.learn(case, label)

    def _must_declare(self) -> bool:
        """Return whether a learner of ours is to hear of all classes with its first row."""
        return (
            self._classes is not None
            and hasattr(self.learner, "test_then_learn")
            and not hasattr(self.learner, "schema_")
        )

    def _row(self, x: Mapping[str, Any]) -> NDArray[np.float64]:
        self._names = self._names or list(x)
        try:
            return np.array([[x[name] for name in self._names]], np.float64)
        except (KeyError, TypeError, ValueError):
            raise ValueError(
                f"{type(self.learner).__name__} takes numbers only, one for each of {', '.join(self._names)}; "
                f"the example is {dict(x)!r}."
            ) from None


def read_classes(classes: Any) -> list[Any]:
    """Return the classes as a list; refuse what could not be told to a learner."""
    if isinstance(classes, str | bytes | Set | Mapping) or not isinstance(classes, Iterable):
        raise TypeError(f"classes={classes!r} is no list of labels; write it as classes=['no', 'yes'].")
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    if not labels:
        raise ValueError("classes is empty; give all labels that there can be, or leave it out.")
    Schema().read_labels(labels)
    return labels


def check_posterior(learner: Any, policy: str) -> None:
    """Refuse a learner that cannot tell which part of its doubt more labels would remove."""
    if not hasattr(learner, "uncertainty"):
        raise TypeError(
            f"{type(learner).__name__} has no `uncertainty`, which tells what of its doubt more labels would remove; "
            f"give {policy} a learner that has, such as BayesianForest, or take another policy, such as Uncertain."
        )


def measure(proba: Mapping[Any, float], support: float, seen: int, loss: Any) -> Region:
    """Return the region that class probabilities describe; the kernel ``measure_answer`` in Python."""
    shares = np.array(list(proba.values()), np.float64)
    if len(shares) == 0:
        return Region(_NOTHING, 0.0, 0.0, 0.0, seen)
    if len(shares) == 1:
        return Region(shares, support / (support + 1.0), (support + 0.5) / (support + 1.0), support, seen)
    table = _count_errors(len(shares)) if loss is None else read_loss(loss, list(proba))
    largest = float(table.max()) or 1.0
    first, second = np.sort(shares @ table)[:2]
    return Region(shares, round(float(second - first) / largest, 15), 1.0 - float(first) / largest, support, seen)


@lru_cache(64)
def _count_errors(classes: int) -> NDArray[np.float64]:
    """Return the table of losses under which every error costs the same."""
    return 1.0 - np.eye(classes)


def _bin(proba: Mapping[Any, float]) -> tuple[Any, int]:
    """Return the region of a foreign learner: its answer and the bin of its margin."""
    if not proba:
        return None, 0
    top = max(proba, key=proba.__getitem__)
    second = max((share for label, share in proba.items() if label != top), default=0.0)
    return top, min(int((proba[top] - second) * _BINS), _BINS - 1)
