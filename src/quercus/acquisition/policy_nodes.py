"""The nodes of a policy tree: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from quercus.acquisition.layout import REFER, Refer
from quercus.acquisition.steps import Label, Value

Kind = Literal["question", "answer", "formality", "cut"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyNode:
    """A state of knowledge in which the policy asks or answers.

    What is expected is for an example that has come here, from here on.

    Parameters
    ----------
    id, parent, depth
        Numbers of the node and of the node above (-1 above the root); how many questions were asked before.
    branch, short
        What came back of the last question, in words; and without the name of the feature, if it was a single one.
    values
        Values of what came back that lead here, by feature; None: without a result.
    reach
        Probability of coming here.
    kind
        ``"question"``: it asks, and what comes back matters; ``"answer"``: it answers; ``"formality"``: it asks once
        more, for its own certainty, and answers the same whatever comes back; ``"cut"``: it goes on, but the tree ends
        here.
    question, price
        What it asks next, and for how much; None if it answers, or if not the same in all cases that come here.
    stop
        Why it answers instead of asking; None if it asks, or for several reasons.
    answer
        The answer by what is known here.
    probabilities
        Probability of each class by what is known here.
    cost, questions
        Expected cost, and number, of the questions still to come.
    accuracy, loss
        Expected: that the final answer is right, and what it costs (`loss`, or 1 if wrong; `refer` if a person is
        asked).
    referred
        Probability that the case ends with a person, which is never counted as right.
    unfinished
        Probability that it comes to where the tree was cut. Cost and questions are then at least what is told, the loss
        at most, and the accuracy at least, unless there is a `loss` or `refer`.
    hidden_leaves
        Number of leaves below that `PolicyTree.pruned` has left out.
    visits, value
        Of a learner that keeps a value of what is known here: the weight of the examples that it has met here, and what
        it takes the rest of the case to be worth; of several outcomes that are one branch the sum, and the mean by
        visits. The value is None where nothing was met. Both are None with other learners, and for "anything else".

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> tree = UtilityTree().fit([["a"], ["b"]] * 20, ["no", "yes"] * 20).tree()
    >>> tree.root.question, tree.root.price, [node.branch for node in tree.leaves()]
    ('x0', 1.0, ["x0 == 'a'", "x0 == 'b'"])
    """

    id: int
    parent: int
    depth: int
    branch: str
    short: str
    values: Mapping[str, Value]
    reach: float
    kind: Kind
    question: str | None
    price: float | None
    stop: str | None
    answer: Label | Refer | None
    probabilities: Mapping[Label, float]
    cost: float
    questions: float
    accuracy: float
    loss: float
    referred: float
    unfinished: float
    hidden_leaves: int = 0
    visits: float | None = None
    value: float | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether nothing is below it: it answers, or the tree was cut here."""
        return self.kind != "question"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; an answer that is for a person is ``"REFER"``.

        Without visits there is neither ``"visits"`` nor ``"value"``.
        """
        left_out = () if self.visits is not None else ("visits", "value")
        state = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in left_out}
        answer = "REFER" if self.answer is REFER else self.answer
        return state | {"values": dict(self.values), "probabilities": dict(self.probabilities), "answer": answer}
