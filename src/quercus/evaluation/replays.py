"""What another policy, budget or learner would have cost and scored, from the ledger of a run alone.

A logged question was asked with a known probability p. A policy that would have asked it with p' <= p is played by
keeping it with probability p'/p: what is kept is exactly what that policy would have asked. Rows that were never asked
are not in the log; each logged one stands for 1/p rows when the pace of the budget is followed. All logged labels,
kept or not, score the learner before it learns them, weighted by 1/p, with an interval that holds at every moment.
Where the other policy wants more than the log has, the log cannot tell, and replay refuses.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from quercus.ask import Policy
    from quercus.ledger.accuracy import Estimate
    from quercus.ledger.view import QuestionTable

# Share of the other policy's questions that the log may lack.
TOLERANCE = 0.1
_MOST_ROWS = 1000.0


class NoSupport(ValueError):  # noqa: N818 - it is what a log has, not an error
    """The log cannot tell what the other choice would have done."""


@dataclass(frozen=True)
class Replay:
    """What another choice would have cost and scored.

    Attributes
    ----------
    learner
        As it would be now.
    policy
        The other policy.
    rows, logged
        Rows of the stream, and labels that the log has.
    labels, money
        Labels that the other policy would have asked for, and their price.
    accuracy
        Over all rows, with bounds.
    unsupported
        Share of its questions that the log lacks.

    Examples
    --------
    >>> from quercus.ledger.accuracy import Estimate
    >>> Replay(None, None, 10, 2, 1, 1.0, Estimate(0.8, 0.6, 0.9, 0.7, 10, 10, 2, 0.05), 0.0).labels
    1
    """

    learner: Any
    policy: Any
    rows: int
    logged: int
    labels: int
    money: float
    accuracy: Estimate
    unsupported: float

    def __str__(self) -> str:
        a = self.accuracy
        return (
            f"{type(self.learner).__name__} with {self.policy}\n"
            f"labels    {self.labels:,} of {self.rows:,} rows (the log has {self.logged:,}), money {self.money:,.2f}\n"
            f"accuracy  {a.value:.4f}, between {a.low:.4f} and {a.high:.4f} ({1 - a.alpha:.0%})\n"
            f"support   the log lacks {self.unsupported:.1%} of the questions it would have asked"
        )


def replay(
    ledger: QuestionTable | str | os.PathLike[str],
    learner: Any,
    policy: Policy,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    repeats: int = 5,
) -> Replay:
    """Tell what another choice would have cost and scored on the stream that a ledger comes from.

    Labels are taken to come at once, and the learner to begin with nothing. Which labels the other policy would have
    got is a matter of chance, and so is the learner that it would have made of them: several are played, and the bounds
    hold them all.

    Parameters
    ----------
    ledger
        What a run or an `Asker` keeps, or the file or address of one.
    learner
        A new learner; a copy of it is trained.
    policy
        The other policy with its budget.
    alpha
        The probability that the bounds are wrong.
    seed
        Of the draws.
    repeats
        How often the other choice is played.

    Raises
    ------
    NoSupport
        If the other policy would have asked for much that the log does not have.

    Examples
    --------
    >>> import quercus as qc
    >>> stream = qc.streams.SEA(rows=20_000, seed=1)
    >>> run = qc.evaluate(stream, qc.ConfidenceTree(), ask=qc.ask.Random(0.2))
    >>> other = replay(run.ledger, qc.ConfidenceTree(), qc.ask.Random(0.05))
    >>> other.accuracy.low < other.accuracy.value < other.accuracy.high
    True
    >>> replay(run.ledger, qc.ConfidenceTree(), qc.ask.Random(0.4))
    Traceback (most recent call last):
        ...
    quercus.evaluation.replays.NoSupport: ...
    """
    from quercus.arguments import check_whole
    from quercus.evaluation.studies import untrained
    from quercus.ledger import Ledger
    from quercus.ledger.view import QuestionTable

    log = ledger if isinstance(ledger, QuestionTable) else Ledger.read(ledger)
    questions = [question for question in log.questions() if question.kind == "label"]
    if not questions:
        raise NoSupport("the ledger holds no question for a label, so that there is nothing to replay.")
    check_whole("repeats", repeats)
    played = []
    for number in range(repeats):
        stage = _Stage(untrained(learner), policy, questions, seed + number)
        for question in questions:
            stage.play(question)
        played.append(stage.finish(alpha))
    return _together(played)


def _together(played: list[Replay]) -> Replay:
    """Return the mean of several replays, with bounds that hold all of theirs, and the first one's learner."""
    figures = [one.accuracy for one in played]
    accuracy = figures[0]._replace(
        value=float(np.mean([figure.value for figure in figures])),
        low=min(figure.low for figure in figures),
        high=max(figure.high for figure in figures),
    )
    return replace(
        played[0],
        accuracy=accuracy,
        labels=round(float(np.mean([one.labels for one in played]))),
        money=float(np.mean([one.money for one in played])),
        unsupported=float(np.mean([one.unsupported for one in played])),
    )


class _Stage:
    """Another policy and learner on their way through a log."""

    def __init__(self, learner: Any, policy: Policy, questions: list[Any], seed: int) -> None:
        from quercus.ask.learners import LearnerView
        from quercus.ask.state import AskState
        from quercus.ledger.accuracy import FairAccuracy

        self.questions = questions
        self.rows = questions[-1].row + 1
        self.state = AskState(policy, self.rows)
        self.learner_view = LearnerView(
            learner, sorted({q.answer for q in questions if q.answer is not None}, key=repr)
        )
        drawn = [q.propensity for q in questions if q.propensity]
        if not drawn:
            raise NoSupport("no question of the ledger was drawn with a known probability; it cannot be replayed.")
        self.fair = FairAccuracy(min(drawn))
        self.scored: list[tuple[int, int, float, float]] = []
        self.rng = np.random.default_rng(seed)
        self.wanted = self.lacking = 0.0

    def play(self, question: Any) -> None:
        """Score the learner on a logged question, and let the other policy decide whether it would have asked it."""
        if question.propensity is None:
            return
        x, weight = question.features, min(1.0 / question.propensity, _MOST_ROWS)
        answered = question.status == "answered"
        right = float(self.learner_view.predict(x) == question.answer) if answered else math.nan
        self.scored.append((question.row + 1, question.covered, question.propensity, right))
        decision = self._decide(question, x, weight)
        self.wanted += weight * float(decision["propensity"])
        self.lacking += weight * max(float(decision["propensity"]) - question.propensity, 0.0)
        if decision["asked"] and answered:
            self.learner_view.learn(x, question.answer, bool(decision["explored"]))

    def _decide(self, question: Any, x: dict[str, Any], weight: float) -> Any:
        from quercus.ask.kernels import FOLLOW
        from quercus.ask.layout import EPISTEMIC, RANDOMIZED, VARIABLE

        record, policy = self.state.record, self.state.policy
        # The rows since the last question came and went; how they moved the pace, this one tells for all of them.
        record["seen"] += question.row - int(record["seen"][0])
        name = "threshold" if policy.code in (VARIABLE, RANDOMIZED) else "scale"
        before, usual = float(record[name][0]), float(record["threshold"][0])
        # Asked under the log with probability p; kept with p'/p.
        u = min(self.rng.random() * question.propensity, np.nextafter(1.0, 0.0))
        day = int(self.state.days([x])[0])
        region = self.learner_view.region(x, question.row + 1, policy.by_counts, policy.by_posterior)
        decision = self.state.decide(question.price, day, region, u)
        after = float(record[name][0])
        record[name] = before * (after / before) ** weight if before > 0 else after
        if policy.code == EPISTEMIC:
            # The usual doubt is a running mean: many rows take it to this one's, not beyond.
            record["threshold"] += (record["threshold"] - usual) * ((1.0 - (1.0 - FOLLOW) ** weight) / FOLLOW - 1.0)
        return decision

    def finish(self, alpha: float) -> Replay:
        """Return what came of it, unless the log cannot tell."""
        uncovered = 1.0 - self.questions[-1].covered / self.rows
        unsupported = self.lacking / self.wanted if self.wanted else 0.0
        if max(unsupported, uncovered) > TOLERANCE:
            why = (
                f"{unsupported:.0%} of the questions it would have asked are not in the log"
                if unsupported >= uncovered
                else f"{uncovered:.0%} of the rows had no chance of being asked when the log was made"
            )
            raise NoSupport(
                f"the log cannot tell what {self.state.policy!r} would have done: {why}. Replay a smaller budget or a "
                "policy nearer to that of the log, or log with a larger budget or more exploration."
            )
        self.fair.add_many(*(list(column) for column in zip(*self.scored, strict=True)))
        return Replay(
            learner=self.learner_view.learner,
            policy=self.state.policy,
            rows=self.rows,
            logged=len(self.questions),
            labels=self.state.asked,
            money=self.state.paid,
            accuracy=self.fair.accuracy(alpha),
            unsupported=unsupported,
        )
