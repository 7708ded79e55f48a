"""How an asker's learner is kept: models with the ledger, and what was answered after them."""

from __future__ import annotations

import copy
import json
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from quercus.ask.learners import LearnerView
from quercus.ask.policies import Policy
from quercus.engine import BuysFeatures, Exchanges
from quercus.ledger import Ledger, Question
from quercus.ledger.view import PathLike
from quercus.registry import find_model
from quercus.store import ModelFileError, load_bytes


class LearnerKeeper:
    """Brings a learner to where the answers of a ledger have led, when it is opened and when an answer was wrong."""

    def __init__(
        self, ledger: Ledger, learner: Any, policy: Policy, classes: list[Any] | None, save_every: int
    ) -> None:
        self._ledger = ledger
        self._classes = classes
        self._save_every = save_every
        self._saved = 0
        about = {"policy": _describe(policy), "learner": type(learner).__name__, "classes": classes}
        begun = about if ledger.about is None else json.loads(ledger.about)
        for what, value in about.items():
            if begun.get(what) != value:
                raise ValueError(
                    f"the ledger was begun with another {what}, {begun.get(what)}, and is now given {value}; go on "
                    "with that one or take another."
                )
        if ledger.about is None:
            ledger.set_about(json.dumps(about))
        # A learner that knows something already cannot learn that again.
        if ledger.is_durable and not ledger.answered and _can_save(learner) and learner.__sklearn_is_fitted__():
            ledger.save_snapshot(learner.to_bytes())
        self._first = self._find_first(learner)

    def _find_first(self, learner: Any) -> Any:
        """Return the learner as it was before all answers, whatever is given when the ledger is opened again."""
        for learned, model in self._ledger.snapshots():
            if learned == 0:
                with suppress(ModelFileError):
                    return load_bytes(model)
        return copy.deepcopy(learner)

    def load(self, learner: Any) -> LearnerView:
        """Return the learner as the answers have made it."""
        for learned, model in self._ledger.snapshots():
            try:
                found = load_bytes(model, f"the model after {learned} answers")
            except ModelFileError as error:
                warnings.warn(f"{error} It is made again from the answers.", UserWarning, stacklevel=4)
                continue
            if type(found) is type(learner):
                return self._learn(found, learned, self._region_labels().get(str(learned), []))
        return self._learn(learner, 0)

    def _region_labels(self) -> dict[str, Any]:
        """Return what models do not hold: by the answers that each has learned, the labels of regions."""
        found: dict[str, Any] = json.loads(self._ledger.about or "{}").get("region_labels", {})
        return found

    def rebuild(self) -> LearnerView:
        """Return the learner as the answers have made it, without regard to how it is now."""
        return self.load(copy.deepcopy(self._first))

    def exchange(self, learner: Any, asked: Question, label: Any, who: str | None, time: Any) -> LearnerView | None:
        """Keep a right answer, and with it a copy of the learner that has exchanged the wrong one; return that copy."""
        if not isinstance(learner, Exchanges) or (self._ledger.is_durable and not _can_save(learner)):
            raise TypeError(
                f"{type(learner).__name__} cannot exchange a label; EvergreenTree and EvergreenForest can. Leave "
                "exchange out: the learner is made again then."
            )
        with self._ledger.together():
            if not self._ledger.correct(asked.id, label, who=who, time=time):
                return None
            learner = copy.deepcopy(learner)
            learner.exchange(asked.features, asked.answer, label)
            if self._ledger.is_durable:
                # From here on, answers alone do not tell what the learner is.
                self._ledger.save_snapshot(learner.to_bytes())
        self._saved = self._ledger.answered
        return LearnerView(learner, self._classes)

    def _learn(self, learner: Any, since: int, region_labels: Sequence[Any] = ()) -> LearnerView:
        view = LearnerView(learner, self._classes)
        view.region_labels = region_labels
        self._saved = since
        for lesson in self._ledger.lessons(since):
            try:
                if lesson.case is None:
                    view.learn(lesson.features, lesson.label, lesson.explored)
                else:
                    view.learn_case(learner.resume(lesson.case | {"ledger": None}), lesson.label)
            except (TypeError, ValueError) as error:
                warn_unlearned(lesson.id, error)
        if isinstance(learner, BuysFeatures):
            spent = self._first.spent_
            for price in self._ledger.purchases():
                spent += price
            learner._note_cases(self._first._opened + self._ledger.n_cases, spent)
        return view

    def save(self, view: LearnerView, always: bool = False) -> None:
        """Keep a model if enough answers have come since the last one."""
        learner, learned = view.learner, self._ledger.answered
        is_due = self._ledger.is_durable and learned - self._saved >= (1 if always else self._save_every)
        if is_due and _can_save(learner) and learner.__sklearn_is_fitted__():
            with self._ledger.together():
                self._ledger.save_snapshot(learner.to_bytes())
                if view.region_labels:
                    kept = {str(each) for each, _ in self._ledger.snapshots()}
                    counts = {each: labels for each, labels in self._region_labels().items() if each in kept}
                    counts[str(learned)] = view.region_labels
                    about = json.loads(self._ledger.about or "{}") | {"region_labels": counts}
                    self._ledger.set_about(json.dumps(about))
            self._saved = learned


def warn_unlearned(id: int, error: Exception) -> None:
    """Tell of an answer that is kept and cannot be learned."""
    warnings.warn(f"the answer to question {id} cannot be learned: {error}", UserWarning, stacklevel=6)


def store_of_folder(folder: PathLike) -> Path:
    """Return the store in place of an asker's folder; what is there of the first edition is read into it."""
    store = Path(folder) / "labels.db"
    warnings.warn(f"folder={str(folder)!r} is now store='{store}'.", DeprecationWarning, stacklevel=3)
    if (Path(folder) / "ledger").is_dir() and not store.exists():
        from quercus.ledger.importing import import_ledger

        import_ledger(folder, store).close()
    return store


def _can_save(learner: Any) -> bool:
    """Tell whether a learner can be saved and loaded: ours can, classes made from them and foreign ones learn anew."""
    return hasattr(learner, "to_bytes") and find_model(type(learner).__name__) is type(learner)


def _describe(policy: Policy) -> str:
    """Return the policy as text; a function in it stands under its name, and nothing tells where it lies."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", repr(policy)))
