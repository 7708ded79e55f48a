"""The policy of a learner that buys as a tree to look at: what it asks, for how much, and what it answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from quercus.acquisition.history import Label, Value
from quercus.acquisition.layout import REFER, Refer
from quercus.acquisition.policy_outcomes import describe
from quercus.acquisition.policy_unroll import Stage, unroll
from quercus.arguments import check_number, check_whole
from quercus.explain.boxes import choose_opened

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer


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


@dataclass(frozen=True, repr=False)
class PolicyTree:
    """What a learner asks, in which order and for how much, as a tree; `model.tree()` makes one.

    ``print`` draws it with letters; a notebook draws it with boxes.

    Parameters
    ----------
    learner
        Name of the class that learned it.
    classes
        The labels.
    nodes
        The nodes in preorder: a node, all that follows its first outcome, all that follows its second one.
    has_loss
        Whether wrong answers cost different amounts, or a person may be asked.

    Notes
    -----
    All numbers are what the model itself expects, not what was measured: where features tell the same it is too
    hopeful, as `evaluate` shows. Neighbouring outcomes that lead to the same are one branch. Results that do not come
    are none.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> rows = [{"fever": "high", "shoes": "red"}, {"fever": "none", "shoes": "red"}] * 50
    >>> tree = UtilityTree(confidence=0.9, costs={"fever": 3}).fit(rows, ["ill", "well"] * 50).tree()
    >>> print(tree)
    UtilityTree expects to ask 1 question for 3 a case, to be right in 98% of cases
    what came back        reach  to pay  right  what it does then
    all                    100%       3    98%  ask fever (3)
    ├─ fever == 'high'      50%       0    98%  answer 'ill': sure enough
    └─ fever == 'none'      50%       0    98%  answer 'well': sure enough
    """

    learner: str
    classes: tuple[Label, ...]
    nodes: tuple[PolicyNode, ...]
    has_loss: bool = False

    @property
    def root(self) -> PolicyNode:
        """The node at the top, at which nothing is known."""
        return self.nodes[0]

    @property
    def cost(self) -> float:
        """What a case is expected to cost."""
        return self.root.cost

    @property
    def questions(self) -> float:
        """How many questions a case is expected to ask."""
        return self.root.questions

    @property
    def accuracy(self) -> float:
        """Probability that the answer is right."""
        return self.root.accuracy

    @property
    def loss(self) -> float:
        """What the answer of a case is expected to cost."""
        return self.root.loss

    @property
    def unfinished(self) -> float:
        """Probability that a case goes on where the tree was cut."""
        return self.root.unfinished

    @cached_property
    def has_visits(self) -> bool:
        """Whether the learner tells how often it has met what is known at a node, and what that is worth."""
        return any(node.visits is not None for node in self.nodes)

    @cached_property
    def _at(self) -> dict[int, int]:
        return {node.id: place for place, node in enumerate(self.nodes)}

    @cached_property
    def _below(self) -> dict[int, list[PolicyNode]]:
        below: dict[int, list[PolicyNode]] = {}
        for node in self.nodes:
            below.setdefault(node.parent, []).append(node)
        return below

    def children(self, node: PolicyNode) -> tuple[PolicyNode, ...]:
        """Return the nodes to which the outcomes of a question lead; nothing for a leaf.

        Parameters
        ----------
        node
            Of this tree.
        """
        return tuple(self._below.get(node.id, ()))

    def path(self, node_id: int) -> list[PolicyNode]:
        """Return the nodes from the root down to this one.

        Parameters
        ----------
        node_id
            As in ``PolicyNode.id``.
        """
        if node_id not in self._at:
            raise ValueError(f"there is no node {node_id} in this tree of {len(self.nodes)} nodes.")
        steps = [self.nodes[self._at[node_id]]]
        while steps[-1].parent != -1:
            steps.append(self.nodes[self._at[steps[-1].parent]])
        return steps[::-1]

    def leaves(self) -> list[PolicyNode]:
        """Return the leaves in order, without those that `pruned` hides."""
        return [node for node in self.nodes if node.is_leaf]

    def pruned(self, max_depth: int | None = None, max_nodes: int | None = None) -> PolicyTree:
        """Return a smaller tree that keeps the parts most examples come to; its numbers are those of the whole.

        Parameters
        ----------
        max_depth
            Deepest node to show; None for no limit.
        max_nodes
            Most nodes to show; None for no limit.
        """
        opened = choose_opened(self.nodes, [node.reach for node in self.nodes], max_depth, max_nodes)
        leaves = [node.hidden_leaves or int(node.is_leaf) for node in self.nodes]
        for place in range(len(self.nodes) - 1, 0, -1):
            leaves[self._at[self.nodes[place].parent]] += leaves[place]
        kept = [
            node if node.is_leaf or node.id in opened else replace(node, hidden_leaves=leaves[place])
            for place, node in enumerate(self.nodes)
            if node.parent == -1 or node.parent in opened
        ]
        return self if len(kept) == len(self.nodes) else replace(self, nodes=tuple(kept))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON: the totals, and the nodes, each with that of its parent."""
        totals = {name: getattr(self, name) for name in ("cost", "questions", "accuracy", "loss", "unfinished")}
        nodes = [node.to_dict() for node in self.nodes]
        return {"learner": self.learner, "classes": list(self.classes), **totals, "nodes": nodes}

    def to_text(self, max_depth: int | None = None, max_nodes: int | None = 63) -> str:
        """Draw the tree with lines and letters.

        Parameters
        ----------
        max_depth, max_nodes
            How much of it to show; the parts that most examples come to are shown first.
        """
        from quercus.acquisition.policy_words import write_text

        return write_text(self, self.pruned(max_depth, max_nodes))

    def to_dot(self, max_depth: int | None = None, max_nodes: int | None = None) -> str:
        """Return the tree in Graphviz's language.

        Parameters
        ----------
        max_depth, max_nodes
            As in `to_text`.
        """
        from quercus.acquisition.policy_words import boxes, summary
        from quercus.explain.dot import write_dot

        return write_dot(summary(self), boxes(self.pruned(max_depth, max_nodes), 60))

    def to_mermaid(self, max_depth: int | None = None, max_nodes: int | None = 127) -> str:
        """Return the tree as a Mermaid flowchart.

        Parameters
        ----------
        max_depth, max_nodes
            As in `to_text`; Mermaid itself refuses more than 500 edges unless told otherwise.
        """
        from quercus.acquisition.policy_words import boxes
        from quercus.explain.mermaid import write_mermaid

        return write_mermaid(boxes(self.pruned(max_depth, max_nodes), 40))

    def to_html(self, max_depth: int | None = 6, max_nodes: int | None = 31, *, page: bool = False) -> str:
        """Draw the tree as HTML that takes its colours from the page around it.

        Parameters
        ----------
        max_depth, max_nodes
            As in `to_text`.
        page
            Return a whole page to save as a file, not a piece to put into one.
        """
        from quercus.acquisition.policy_words import write_page

        return write_page(self, self.pruned(max_depth, max_nodes), page)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        from quercus.acquisition.policy_words import summary

        return f"<PolicyTree of {summary(self)}>"


def make_policy_tree(model: FeatureBuyer, depth: int, reach: float) -> PolicyTree:
    """Return the policy of a model as a tree; see `FeatureBuyer.tree`.

    Parameters
    ----------
    model
        A learner that has learned something.
    depth, reach
        Where to cut it.

    Examples
    --------
    >>> from quercus import UtilityTree
    >>> make_policy_tree(UtilityTree(confidence=0.9).fit([["a"], ["b"]] * 20, ["no", "yes"] * 20), 6, 0.01).questions
    1.0
    """
    check_whole("depth", depth, least=0)
    check_number("reach", reach, least=0, most=1)
    model._check_money()
    root = unroll(model, depth, reach)
    numbers = {id(stage): number for number, stage in enumerate(root.walk())}
    parents = {id(child): numbers[id(stage)] for stage in root.walk() for child in stage.children}
    nodes = [_node(model, stage, numbers[id(stage)], parents.get(id(stage), -1)) for stage in root.walk()]
    has_loss = model._loss.size > 0 or model.refer is not None
    return PolicyTree(type(model).__name__, tuple(model._labels.tolist()), tuple(nodes), has_loss)


def _node(model: FeatureBuyer, stage: Stage, number: int, parent: int) -> PolicyNode:
    prices = model._prices
    kind: Any = stage.kind
    return PolicyNode(
        id=number,
        parent=parent,
        depth=stage.depth,
        branch="" if parent < 0 else describe(stage.parts),
        short="" if parent < 0 else describe(stage.parts, short=True),
        values={prices.names[place]: _value(model, place, value) for place, value in stage.values.items()},
        kind=kind,
        question=prices.items[stage.item] if stage.item >= 0 else None,
        price=stage.price if stage.item >= 0 else None,
        probabilities=model._by_label(stage.q),
        **{
            name: getattr(stage, name)
            for name in (
                *("stop", "answer", "reach", "cost", "questions", "accuracy", "loss", "referred", "unfinished"),
                *("visits", "value"),
            )
        },
    )


def _value(model: FeatureBuyer, place: int, value: float) -> Value:
    """Return a value as a case takes it: a category by its name."""
    if math.isnan(value):
        return None
    schema = model.schema_
    category: Value = schema.categories[place][int(value)] if schema.kinds[place] == "nominal" else float(value)
    return category
