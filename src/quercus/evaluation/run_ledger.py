"""The ledger of a run, and what it alone tells about the answers while the run goes on."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quercus.ask.budgets import Budget, Labels, Money, Share, as_budget
from quercus.ask.policies import Policy
from quercus.evaluation.drivers import Recorder
from quercus.evaluation.metrics import sort_key
from quercus.evaluation.money import Label, cost_matrix
from quercus.evaluation.run import PathLike
from quercus.evaluation.words import show_amount
from quercus.explain.words import plural
from quercus.ledger import Ledger, QuestionLog
from quercus.ledger.accuracy import Estimate, FairAccuracy
from quercus.ledger.betting import add_in_order
from quercus.streams.batches import join

# Questions that are handed to the ledger at once; fewer at first, so that what it refuses is refused early.
_AT_ONCE = 4096
# What is known of a question beside its row and its label: class ids, and what was decided about it.
QUESTION = np.dtype(
    [
        *((name, np.int64) for name in ("row", "covered", "truth", "answer")),
        *((name, np.float64) for name in ("propensity", "price", "worth", "probability")),
        *((name, np.bool) for name in ("explored", "answered")),
    ]
)

Ids = NDArray[np.int64]


class Questions(NamedTuple):
    """Labels that were asked for in a batch of rows, with a record of type `QUESTION` for each."""

    X: Any
    labels: NDArray[Any]
    known: NDArray[np.void]


class RunLedger(Recorder):
    """Keeps the ledger of a run and estimates accuracy from it, as somebody would who sees asked labels only."""

    def __init__(
        self,
        ledger: Ledger | PathLike | None,
        names: Sequence[str],
        least: float,
        loss: dict[Label, dict[Label, float]],
        at_once: bool,
        policy: Policy | None = None,
    ) -> None:
        self.asked = self.answered = 0
        self.spent = 0.0
        self.classes: list[Label] = []
        self._names = list(names)
        self._least = least
        self._loss = loss
        self._at_once = at_once
        self.policy, self.budget = ("", "") if policy is None else (_describe_policy(policy), _describe_budget(policy))
        costs = [0.0, 1.0, *(cost for row in loss.values() for cost in row.values())]
        self._fair = FairAccuracy(least, loss_range=(min(costs), max(costs)) if loss else None)
        self._rows = self._covered = 0
        self._held: tuple[Questions, Sequence[tuple[int, Label]], int, int, list[Label]] | None = None
        # Questions that the estimate has not taken in yet, and how many it has.
        self._waiting: NDArray[np.void] = np.zeros(0, QUESTION)
        self._counted = 0
        # What the ledger has not taken in yet.
        self._unwritten: list[Questions] = []
        self._unwritten_answers: list[tuple[int, Label]] = []
        # A file is made only when everything else is known to be right; it is closed in the end.
        self._is_own = not (ledger is None or isinstance(ledger, Ledger))
        if ledger is None:
            self.ledger: Ledger | QuestionLog = QuestionLog()
        else:
            self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        if self.ledger.asked:
            count = plural(self.ledger.asked, "question")
            self.close()
            raise ValueError(
                f"the ledger holds {count} already, whose rows would be taken for rows of this run; give a new one."
            )

    def hold(
        self, asked: Questions, answers: Sequence[tuple[int, Label]], rows: int, covered: int, classes: Sequence[Label]
    ) -> None:
        """Keep what came of a batch of rows until it is known that it counts.

        ``answers`` are those that came, by number of the question from 1; none if they come at once. ``rows`` and
        ``covered`` count rows so far.
        """
        self._held = (asked, answers, rows, covered, list(classes))

    def record(self) -> None:
        """Take in what was held last."""
        if self._held is None:
            return
        (asked, answers, self._rows, self._covered, self.classes), self._held = self._held, None
        count = len(asked.known)
        self._waiting = np.concatenate([self._waiting, asked.known])
        self._waiting["answered"][[id - 1 - self._counted for id, _ in answers]] = True
        self._unwritten += [asked] if count else []
        self._unwritten_answers += answers
        self.asked += count
        self.answered += count if self._at_once else len(answers)
        # One after the other, so that the sum does not depend on where batches end.
        self.spent = float(add_in_order(self.spent, asked.known["price"]))
        unwritten = sum(len(questions.known) for questions in self._unwritten) + len(self._unwritten_answers)
        if unwritten >= min(_AT_ONCE, 1 + self.ledger.asked):
            self.write()

    def write(self) -> None:
        """Hand over to the ledger what it has not got yet."""
        if self._unwritten:
            asked = _join(self._unwritten)
            known, labels = asked.known, [*self.classes, None]
            same = ("covered", "price", "worth", "propensity", "explored", "probability")
            given: dict[str, Any] = {name: known[name] for name in same}
            self.ledger.ask_rows(
                asked.X,
                names=self._names if isinstance(asked.X, np.ndarray) else None,
                row=known["row"] - 1,
                prediction=[labels[id] for id in known["answer"].tolist()],
                answers=asked.labels if self._at_once else None,
                **given,
            )
            self._unwritten = []
        if self._unwritten_answers:
            self.ledger.answer_many(self._unwritten_answers)
            self._unwritten_answers = []

    def accuracy(self) -> Estimate:
        """Return the share of right answers up to the last question that counts."""
        self._count()
        return self._fair.accuracy()

    def estimates(self) -> FairAccuracy:
        """Return all that the ledger tells up to now, with the rows after the last question."""
        self._count()
        fair = copy.deepcopy(self._fair)
        # The original never gets rows without a question: its sums shall not depend on when it was looked at.
        if len(self._waiting):
            oldest = self._waiting[0]
            fair.advance(int(oldest["row"]) - 1, int(oldest["covered"]) - int(oldest["propensity"] >= self._least))
        else:
            fair.advance(self._rows, self._covered)
        return fair

    def point(self) -> dict[str, float]:
        """Return labels so far, and accuracy with its bounds, for a curve."""
        figure = self.estimates().accuracy()
        return {"labels": self.answered, "fair": figure.value, "fair_low": figure.low, "fair_high": figure.high}

    def standing(self, known: str = "") -> str:
        """Return how good the learner is as far as its labels tell, and how many they are; not what is `known`."""
        figure = self.accuracy()
        labels = plural(self.answered, "label")
        if not figure.labels:
            return labels
        return f"accuracy {figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f}) from {labels}"

    def finish(self) -> dict[str, Any]:
        """Write what is left to the ledger; return the figures by the names of `Run`."""
        self.write()
        fair = self.estimates()
        recall = {self.classes[id]: figure for id, figure in fair.recall().items()}
        return {
            "labels": self.answered,
            "asked": self.asked,
            "spent": self.spent,
            "policy": self.policy,
            "budget": self.budget,
            "fair": fair.accuracy(),
            "fair_loss": fair.loss() if self._loss else None,
            "fair_recall": {label: recall[label] for label in sorted(recall, key=sort_key)},
            "ledger": self.ledger,
        }

    def close(self) -> None:
        """Let go of a ledger that was opened for this run."""
        if self._is_own:
            self.ledger.close()

    def _count(self) -> None:
        """Let the estimate take in all questions before the oldest open one."""
        is_open = ~self._waiting["answered"]
        ready = int(is_open.argmax()) if is_open.any() else len(is_open)
        if not ready:
            return
        now = self._waiting[:ready]
        losses = None
        if self._loss:
            losses = cost_matrix(self._loss, self.classes)[now["truth"], now["answer"] + 1]
        right = now["truth"] == now["answer"]
        self._fair.add_many(now["row"], now["covered"], now["propensity"], right, losses=losses, truths=now["truth"])
        self._counted += ready
        self._waiting = self._waiting[ready:]


def _join(asked: Sequence[Questions]) -> Questions:
    if len(asked) == 1:
        return asked[0]
    X, labels = join([(questions.X, questions.labels) for questions in asked])
    return Questions(X, labels, np.concatenate([questions.known for questions in asked]))


def _describe_policy(policy: Policy) -> str:
    """Return a policy as it would be written, without its budget and without what is as usual."""
    changed = []
    for field in dataclasses.fields(policy):
        value = getattr(policy, field.name)
        if field.name == "budget" or value == field.default:
            continue
        changed.append(f"{field.name}={getattr(value, '__name__', None) or repr(value)}")
    return type(policy).__name__ + (f"({', '.join(changed)})" if changed else "")


def _describe_budget(policy: Policy) -> str:
    """Return a budget in words."""
    budget: Budget | Any = as_budget(policy.budget)
    if budget is None:
        return "no limit"
    if isinstance(budget, Share):
        text = f"{budget.share * 100:.4g}% of rows"
        return text if budget.window is None else f"{text}, in any {budget.window:,} of them"
    period = {"day": " a day", "row": " per row"}.get(getattr(budget, "per", None) or "", "")
    if isinstance(budget, Labels):
        return f"{budget.number:,} labels{period}"
    return f"money: {show_amount(budget.amount)}{period}" if isinstance(budget, Money) else repr(budget)
