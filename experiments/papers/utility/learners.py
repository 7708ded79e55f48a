"""The learners of the paper, each as something that follows a stream and is tested on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.harness.data import Floats, TrainTest
from experiments.papers.utility.figures import OBJECTIVES, published

NAMES = {
    "ec2": "EC²",
    "ig": "IG",
    "us": "US",
    "random": "random",
    "ec2-exp3": "EC²-Exp3",
    "ig-exp3": "IG-Exp3",
    "ec2-ofs": "EC²-OFS",
    "ig-ofs": "IG-OFS",
    "ec2-select": "EC², `select`",
    "ig-select": "IG, `select`",
    "vfdt": "VFDT",
    "hoeffding": "VFDT, ours",
    "efdt": "EFDT",
    "efdt-eager": "EFDT, eager",
    "ours": "UtilityTree()",
    "bayes": "naive Bayes",
}
RIVER = ("vfdt", "efdt")
TREES = ("vfdt", "hoeffding", "efdt")


class Learned(NamedTuple):
    """What was answered before each label came (None: nothing), and what was paid for the row."""

    answers: NDArray[Any]
    cost: Floats


class Tested(NamedTuple):
    """Answers by all features, answers by the plan, and what the plan costs per row."""

    full: NDArray[Any]
    planned: NDArray[Any]
    cost: float


class Follower(Protocol):
    """What learns rows in order and can be tested at any time."""

    def learn(self, X: Floats, y: NDArray[np.int64]) -> Learned:
        """Answer and learn rows, one after the other."""

    def test(self, X: Floats) -> Tested:
        """Return answers for other rows."""


class Buyer:
    """A utility tree.

    Parameters
    ----------
    model
        Of which all features cost 1.
    """

    def __init__(self, model: qc.UtilityTree) -> None:
        self.model = model

    def learn(self, X: Floats, y: NDArray[np.int64]) -> Learned:
        """Buy, answer and learn rows, one after the other."""
        result = self.model.buy_and_learn(X, y)
        return Learned(result.answers, result.cost)

    def test(self, X: Floats) -> Tested:
        """Return answers for other rows; by all features: as if they were free."""
        planned = self.model.purchases(X)
        return Tested(answer_free(self.model, X), planned.answers, float(planned.cost.mean()))


def answer_free(model: qc.UtilityTree, X: Any) -> NDArray[Any]:
    """Return the answers of a model by all features; its prices are 1 before and after.

    Parameters
    ----------
    model
        A fitted one.
    X
        Rows.

    Examples
    --------
    >>> model = qc.UtilityTree(budget=1).partial_fit([["a", "a"], ["b", "b"]] * 9, ["no", "yes"] * 9)
    >>> answer_free(model, [["b", "b"]]).tolist()
    ['yes']
    """
    names = model.schema_.names
    model.set_costs(dict.fromkeys(names, 0.0))
    answers = model.purchases(X).answers
    model.set_costs(dict.fromkeys(names, 1.0))
    return answers


class Reader:
    """A tree that reads all features of every row, by river's verbs.

    Parameters
    ----------
    tree
        Which.
    keys
        How it is told the features, in their order.
    """

    def __init__(self, tree: Any, keys: Sequence[Any]) -> None:
        self._tree = tree
        self._keys = keys
        self._cost = float(len(keys))

    def learn(self, X: Floats, y: NDArray[np.int64]) -> Learned:
        """Answer and learn rows, one after the other."""
        answers = np.empty(len(y), object)
        for place, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            values = dict(zip(self._keys, row, strict=True))
            answers[place] = self._tree.predict_one(values)
            self._tree.learn_one(values, label)
        return Learned(answers, np.full(len(y), self._cost))

    def test(self, X: Floats) -> Tested:
        """Return answers for other rows."""
        rows = [dict(zip(self._keys, row, strict=True)) for row in X.tolist()]
        answers = np.array([self._tree.predict_one(row) for row in rows], object)
        return Tested(answers, answers, self._cost)


def river_tree(name: str, nominal: Sequence[Any]) -> Any:
    """Return one of river's trees.

    Parameters
    ----------
    name
        ``"vfdt"``, ``"efdt"`` or ``"efdt-eager"``, which looks for splits more often and at a lower confidence.
    nominal
        Keys of the features that hold categories.

    Examples
    --------
    >>> type(river_tree("efdt", [])).__name__
    'ExtremelyFastDecisionTreeClassifier'
    """
    try:
        from river.tree import ExtremelyFastDecisionTreeClassifier, HoeffdingTreeClassifier
    except ImportError as error:
        raise ImportError("VFDT and EFDT are those of river; install it with pip install 'quercus[river]'.") from error
    given = {"nominal_attributes": list(nominal) or None}
    if name == "vfdt":
        return HoeffdingTreeClassifier(**given)
    if name == "efdt-eager":
        return ExtremelyFastDecisionTreeClassifier(grace_period=10, min_samples_reevaluate=10, delta=0.05, **given)
    return ExtremelyFastDecisionTreeClassifier(**given)


def make(learner: str, data: str, split: TrainTest, seed: int) -> Follower:
    """Return a new learner.

    Parameters
    ----------
    learner
        One of `NAMES`.
    data
        One of the sets, whose number of hypotheses it gets.
    split
        Its rows.
    seed
        Of its random generator.

    Examples
    --------
    >>> split = TrainTest(np.eye(2), np.arange(2), np.eye(2), np.arange(2), [0, 1])
    >>> make("ec2-select", "led7", split, seed=1).model.hypotheses
    95
    """
    places = range(split.X.shape[1])
    if learner == "hoeffding":
        return Reader(qc.HoeffdingTree(nominal=split.nominal, seed=seed), [f"x{place}" for place in places])
    if learner in RIVER:
        return Reader(river_tree(learner, split.nominal), places)
    if learner == "ours":
        return Buyer(qc.UtilityTree(nominal=split.nominal, seed=seed))
    if learner == "bayes":
        # Without a stop it buys whatever may tell something.
        return Buyer(qc.UtilityTree(worth=None, nominal=split.nominal, seed=seed))
    objective, _, form = learner.partition("-")
    if objective not in OBJECTIVES:
        raise ValueError(f"there is no learner {learner!r}; there are {', '.join(NAMES)}.")
    if form == "ofs":
        from experiments.papers.utility.perceptron import Selector

        return Selector(published(data, split, objective, seed, budget=split.X.shape[1]), select_half(split), seed)
    forms: dict[str, dict[str, Any]] = {"exp3": {"numeric": "exp3"}, "select": {"select": select_half(split)}}
    return Buyer(published(data, split, objective, seed, **forms.get(form, {})))


def select_half(split: TrainTest) -> int:
    """Return how many features are selected: half of them.

    Parameters
    ----------
    split
        The rows.

    Examples
    --------
    >>> select_half(TrainTest(np.zeros((2, 21)), np.arange(2), np.eye(2), np.arange(2), []))
    10
    """
    return int(split.X.shape[1] // 2)
