"""The tree of docs/adaptive.md, one row at a time, without a memory bound; removed nodes are simply forgotten."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.statistics.detectors_oracle import NaiveADWIN

from .tree import NaiveTree, Node, Row, add, missing, most_probable

CHANGE_LEVEL, JUDGE_LEVEL = 0.01, 0.05
LEAST_PAIRS, JUDGE_EVERY, RIPE = 30, 16, 100
SHORTEST_TRIAL, LONGEST_TRIAL = 1000, 5000


def window() -> NaiveADWIN:
    return NaiveADWIN(delta=CHANGE_LEVEL, side="up")


@dataclass
class Trial:
    """An alternate subtree and what is known of it."""

    root: int
    errors: NaiveADWIN = field(default_factory=window)
    pairs: NaiveADWIN = field(default_factory=window)
    rows: int = 0

    def lead(self) -> float:
        """By how much the tree errs more than the alternate; 0 where that may be chance."""
        values = self.pairs.values
        n = len(values)
        if n < LEAST_PAIRS:
            return 0.0
        spread = math.log(2 / JUDGE_LEVEL) / n
        eps = math.sqrt(2 * values.var() * spread) + 2 / 3 * spread
        lead = values.mean() - 1 / 2
        return lead if abs(lead) > eps else 0.0


@dataclass
class Watch:
    """What a node of the tree keeps beside itself."""

    errors: NaiveADWIN = field(default_factory=window)
    trial: Trial | None = None
    starts: bool = False


@dataclass
class Answer:
    """What an alternate said about the current row."""

    leaf: Node
    wrong: bool
    fair: bool


class NaiveAdaptiveTree(NaiveTree):
    """A `NaiveTree` that watches its errors at every node and tries alternates where they rise."""

    def __init__(self, kinds, **settings):
        super().__init__(kinds, **settings)
        self.monitors: dict[int, Watch] = {}
        self.started = self.replaced = self.dropped = 0

    def learn(self, row: Row, y: int, w: float = 1.0) -> None:
        path = list(self.path(0, row))
        leaf = self.nodes[path[-1]]
        answered = self.K > 0
        wrong = answered and most_probable(self.answer(leaf, row)) != y
        said = {at: self._try_answer(self.monitor(at).trial, leaf, row, y) for at in path if self.monitor(at).trial}
        for asked in [leaf, *(answer.leaf for answer in said.values())]:
            self._score_answers(asked, row, y, w)
        self.t += 1
        self.K = max(self.K, y + 1)
        self._meet_values(row)
        self._learn_leaf(leaf, row, y, w)
        for at in reversed(path):
            monitor = self.monitor(at)
            rises = answered and monitor.errors.update(float(wrong)) == "change"
            if monitor.starts:
                monitor.starts, monitor.trial = False, Trial(self._new_leaf(self.nodes[at].depth, {}))
                self.started += 1
                monitor.trial.rows = 1
                self._learn_leaf(self.nodes[monitor.trial.root], row, y, w)
            elif monitor.trial is not None:
                monitor.trial.rows += 1
                self._learn_leaf(said[at].leaf, row, y, w)
                self._judge(at, monitor, said[at], wrong)
            elif rises:
                monitor.starts = True

    def monitor(self, at: int) -> Watch:
        return self.monitors.setdefault(at, Watch())

    def path(self, top: int, row: Row) -> Iterator[int]:
        """The nodes that a row passes, from the top down."""
        at: int | None = top
        while at is not None:
            yield at
            node = self.nodes[at]
            at = None
            if node.cut is not None:
                at = node.left if self._goes_left(node, row) else node.right

    def _goes_left(self, node: Node, row: Row) -> bool:
        x = row[node.cut.feature]
        if missing(x):
            return node.missing_left
        nominal = self.features[node.cut.feature].kind == "nominal"
        return x == node.cut.threshold if nominal else x <= node.cut.threshold

    def answer(self, leaf: Node, row: Row) -> list[float]:
        bayes = leaf.bayes_right > leaf.majority_right if self.leaf == "adaptive" else self.leaf == "naive_bayes"
        return self._naive_bayes(leaf, row) if bayes and leaf.drawn else self._majority(leaf)

    def _try_answer(self, trial: Trial, leaf: Node, row: Row, y: int) -> Answer:
        *_, at = self.path(trial.root, row)
        other = self.nodes[at]
        wrong = most_probable(self.answer(other, row)) != y
        return Answer(other, wrong, fair=leaf.m() >= min(other.m(), RIPE))

    def _learn_leaf(self, leaf: Node, row: Row, y: int, w: float) -> None:
        add(leaf.counts, y, w)
        add(leaf.own, y, w)
        self._count_recent(leaf, row, w)
        for f in range(len(self.features)):
            self._count(leaf, f, row, y, w)
        self._collect(leaf, row, y, w)
        if leaf.drawn and leaf.m() - leaf.m_evaluated >= self.grace_period:
            self._evaluate(leaf)

    def _judge(self, at: int, monitor: Watch, said: Answer, wrong: bool) -> None:
        trial = monitor.trial
        if trial.errors.update(float(said.wrong)) == "change":
            monitor.trial, monitor.starts = None, True
            self.dropped += 1
            return
        if said.fair:
            trial.pairs.update((1 + wrong - said.wrong) / 2)
        if trial.rows % JUDGE_EVERY:
            return
        lead = trial.lead()
        if lead > 0:
            self.nodes[at] = self.nodes[trial.root]
            self.monitors[at] = Watch(trial.errors)
            self.replaced += 1
        elif trial.rows >= LONGEST_TRIAL or (trial.rows >= SHORTEST_TRIAL and lead < 0):
            monitor.trial = None
            self.dropped += 1
