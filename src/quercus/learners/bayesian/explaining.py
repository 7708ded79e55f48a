"""Why a Bayesian forest answers as it does, in plain words, for one example."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from quercus.engine import Floats
from quercus.explain.words import Label, native, others, ranked, show_count, show_name, show_share, show_value
from quercus.learners.bayesian.kernels import ENCODE_ROWS, make_encoded
from quercus.learners.bayesian.posterior import find_intervals, measure_uncertainty
from quercus.learners.bayesian.state import SEES_PROJECTION, SEES_SUBSET, BayesianForestState
from quercus.rows import PREDICT, Rows

_SHOWN = 5
_DELTA = 0.05


@dataclass(frozen=True, slots=True)
class Push:
    """What one column of an example adds to the way that it takes at a split.

    Parameters
    ----------
    feature
        Name of the feature, None for the constant that every split has.
    value
        The example's value, None if it is missing.
    weight
        Mean weight times number, over the standard deviation of the split: the probability of the way is Phi of the sum
        over all columns. Below 0: it speaks for the other way.
    category
        The category that the column stands for, if the value is missing; None for numbers.

    Examples
    --------
    >>> Push("age", 29, 0.714).text(), Push("job", None, -0.2, "clerk").text(), Push(None, None, 1.0).text()
    ('age = 29 (+0.71)', "job missing, 'clerk' at its usual share (-0.2)", 'constant (+1)')
    """

    feature: str | None
    value: Any
    weight: float
    category: Any = None

    def text(self) -> str:
        """Write the value and what it adds."""
        if self.feature is None:
            what = "constant"
        elif self.value is not None:
            what = f"{show_name(self.feature)} = {show_value(self.value)}"
        elif self.category is not None:
            what = f"{show_name(self.feature)} missing, {show_value(self.category)} at its usual share"
        else:
            what = f"{show_name(self.feature)} missing, at its mean"
        return f"{what} ({self.weight:+.2g})"


@dataclass(frozen=True, slots=True)
class Turn:
    """One split on the way of an example.

    Parameters
    ----------
    node
        The split, as numbered in its tree: the root is 0, the children of n are 2n + 1 and 2n + 2.
    left
        Whether the way goes left.
    probability
        With which the example goes that way, once it is here.
    pushes
        The columns that weigh most, the heaviest first.

    Examples
    --------
    >>> Turn(0, True, 0.93, (Push("age", 29, 1.5),)).text()
    'left 93%: age = 29 (+1.5)'
    """

    node: int
    left: bool
    probability: float
    pushes: tuple[Push, ...]

    def text(self) -> str:
        """Write the way, its probability, and what weighs most."""
        why = ", ".join(push.text() for push in self.pushes) or "nothing speaks for either way"
        return f"{'left' if self.left else 'right'} {show_share(self.probability)}: {why}"


@dataclass(frozen=True, slots=True, repr=False)
class ForestExplanation:
    """The answer for one example, how sure it is, and the path that says most, in plain words when shown or printed.

    Parameters
    ----------
    prediction
        The answer.
    probabilities
        Probability of each class.
    interval
        The probability of the answer lies between these; measured to hold for about 95 %.
    entropy
        Of the class probabilities, in nats.
    removable
        Share of the entropy that more labels would remove.
    trees
        Number of trees.
    tree
        The tree that is surest of the answer.
    tree_probability
        Probability of the answer in that tree.
    path
        The most probable path in that tree; with ``inference="path"`` the one that it takes.
    shares
        Share of each class in the leaf at its end.
    labels
        Labels behind these shares, the prior's included: |alpha|.
    inference
        How the forest predicts.

    Examples
    --------
    >>> turn = Turn(0, True, 0.93, (Push("age", 29, 1.7), Push(None, None, -0.2)))
    >>> ForestExplanation("yes", {"no": 0.2, "yes": 0.8}, (0.71, 0.88), 0.5, 0.1, 8, 2, 0.91, (turn,),
    ...     {"no": 0.05, "yes": 0.95}, 41.2)
    predicts 'yes' (80%)
      the true probability of 'yes' is between 71% and 88% (95% interval)
      entropy 0.5 nats; more labels would remove 10% of it
      surest is tree 3 of 8 ('yes' 91%); its most probable path (93%):
        left 93%: age = 29 (+1.7), constant (-0.2)
      in this leaf: 'yes' 95%, 'no' 5% (41.2 labels)
    """

    prediction: Label
    probabilities: Mapping[Label, float]
    interval: tuple[float, float]
    entropy: float
    removable: float
    trees: int
    tree: int
    tree_probability: float
    path: tuple[Turn, ...]
    shares: Mapping[Label, float]
    labels: float
    inference: str = "full"

    @property
    def path_probability(self) -> float:
        """Probability with which the example takes this path."""
        return math.prod(turn.probability for turn in self.path)

    def __str__(self) -> str:
        answer = show_value(self.prediction)
        low, high = (show_share(end) for end in self.interval)
        which = f"surest is tree {self.tree + 1} of {self.trees}" if self.trees > 1 else "one tree"
        order = ranked(list(self.shares), list(self.shares.values()))
        shown = [f"{show_value(label)} {show_share(share)}" for label, share in order[:_SHOWN]]
        if len(order) > _SHOWN:
            shown.append(f"{others(len(order) - _SHOWN)} {show_share(sum(share for _, share in order[_SHOWN:]))}")
        lines = [
            f"predicts {answer} ({show_share(self.probabilities[self.prediction])})",
            f"the true probability of {answer} is between {low} and {high} ({1 - _DELTA:.0%} interval)",
            f"entropy {self.entropy:.3g} nats; more labels would remove {show_share(self.removable)} of it",
            f"{which} ({answer} {show_share(self.tree_probability)}); "
            f"its {'' if self.inference == 'path' else 'most probable '}path ({show_share(self.path_probability)}):",
            *(f"  {turn.text()}" for turn in self.path),
            f"in this leaf: {', '.join(shown)} ({show_count(round(self.labels, 1))} labels)",
        ]
        return "\n  ".join(lines)

    __repr__ = __str__


def explain_answer(learner: Any, x: Mapping[str, Any]) -> ForestExplanation:
    """Explain the answer of a forest for one example.

    Parameters
    ----------
    learner
        A forest that has learned something.
    x
        Feature values by name.

    Examples
    --------
    >>> import quercus as qc
    >>> X, y = qc.streams.SEA(seed=1).take(1_000)
    >>> forest = qc.BayesianForest(trees=3, depth=2).partial_fit(X, y, classes=[0, 1])
    >>> explain_answer(forest, {"x0": 9.0, "x1": 8.5, "x2": 1.0})
    predicts 0 (93%)
      the true probability of 0 is between 91% and 95% (95% interval)
      entropy 0.25 nats; more labels would remove <1% of it
      surest is tree 3 of 3 (0 93%); its most probable path (>99%):
        right >99%: constant (+1.2), x0 = 9 (+1.1), x2 = 1 (+0.67), x1 = 8.5 (+0.25)
        right >99%: x0 = 9 (+2), x1 = 8.5 (+1.8), constant (+1), x2 = 1 (+0.025)
      in this leaf: 0 93%, 1 7% (403 labels)
    """
    forest, schema = learner._state, learner.schema_
    row = learner._read_one(x)
    engine = learner.engine
    answer, proba = learner._answer(row)
    low, high = find_intervals(engine, forest, learner, row, _DELTA, len(schema.labels))
    unsure = measure_uncertainty(engine, forest, learner, row)
    _, _, by_tree = next(engine.sum_leaves(forest, learner, Rows(row), forest.alpha, True))
    answers = by_tree[:, 0, answer[0]]
    tree = int(np.argmax(answers))
    splits, leaf = _most_probable_path(forest, tree, *_encode(forest, row), learner.inference == "path")
    alpha = forest.known[leaf]
    known = [native(schema.labels[c]) for c in range(forest.classes)]
    return ForestExplanation(
        prediction=native(schema.labels[answer[0]]),
        probabilities=learner._by_label(proba[0]),
        interval=(float(low[0, answer[0]]), float(high[0, answer[0]])),
        entropy=float(unsure.total[0]),
        removable=float(unsure.epistemic[0] / unsure.total[0]) if unsure.total[0] > 0 else 0.0,
        trees=len(forest.trees),
        tree=tree,
        tree_probability=float(answers[tree]),
        path=tuple(_turn(learner, row[0], *split) for split in splits),
        shares=dict(zip(known, (alpha / alpha.sum()).tolist(), strict=True)),
        labels=float(alpha.sum()),
        inference=learner.inference,
    )


def _encode(forest: BayesianForestState, row: Floats) -> tuple[Floats, Floats]:
    """Return the numbers of a row by column, rounded to the type of the forest, and the noise of missing ones."""
    encoded, arrays = make_encoded(forest, 1, 0, 0)
    ENCODE_ROWS[forest.dtype](forest.ref, Rows(row).ref, encoded, 0, 1, PREDICT)
    return arrays["asked"][0].astype(forest.dtype).astype(np.float64), arrays["asked_noise"][0]


def _most_probable_path(
    forest: BayesianForestState, t: int, z: Floats, noise: Floats, single: bool
) -> tuple[list[tuple[int, bool, Floats]], int]:
    """Return the splits on the most probable path, with the way and what each column adds, and the leaf at its end.

    The node that is reached most probably is opened first; the first leaf whose turn it is has no better rival.
    """
    tree = forest.trees[t]
    inner = 2 ** int(tree["depth"]) - 1
    waiting: list[tuple[float, int, list[tuple[int, bool, Floats]]]] = [(-1.0, 0, [])]
    while True:
        minus_rho, n, before = heapq.heappop(waiting)
        if n >= inner:
            return before, int(tree["leaf"]) + n - inner
        pushes = _divide(forest, int(tree["node"]) + n, z, noise)
        margin = float(pushes.sum())
        for left, child in ((True, 2 * n + 1), (False, 2 * n + 2)):
            if not single or left == (margin > 0.0):
                rho = minus_rho * _phi(margin if left else -margin)
                heapq.heappush(waiting, (rho, child, [*before, (n, left, pushes)]))


def _divide(forest: BayesianForestState, n: int, z: Floats, noise: Floats) -> Floats:
    """Return what each column adds to the margin m of a split, whose sum is m; Phi(m) is the probability of left."""
    option, node = forest.options[0], forest.nodes[n]
    size, columns = int(node["size"]), forest.n_columns
    mu = forest.mu[n, :size].astype(np.float64)
    sigma = forest.covariance(n)
    if option["sight"] == SEES_PROJECTION:
        view = forest.maps[n, :columns, :size].astype(np.float64)
        xi, own, weights = z @ view, noise @ (view * view), view @ mu
    else:
        seen = forest.picks[n, :size] if option["sight"] == SEES_SUBSET else np.arange(size)
        xi, own, weights = z[seen], noise[seen], np.zeros(columns)
        weights[seen] = mu
    variances = sigma if option["diagonal"] else np.diagonal(sigma)
    spread = variances @ (xi * xi) if option["diagonal"] else xi @ sigma @ xi
    certain = max(node["top"] * node["inflation"], option["floor"] * (mu @ mu))
    total = max(spread + own @ (mu * mu + variances), option["floor"] * (xi @ xi) * certain)
    pushes: Floats = weights * z / math.sqrt(total)
    return pushes


def _phi(margin: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(margin))


def _turn(learner: Any, row: Floats, n: int, left: bool, pushes: Floats) -> Turn:
    """Describe a split by the columns that weigh most, for (+) or against (-) the way taken."""
    toward = pushes if left else -pushes
    heaviest = np.argsort(-np.abs(toward), kind="stable")[:_SHOWN]
    chosen = tuple(_push(learner, row, int(c), float(toward[c])) for c in heaviest if toward[c] != 0.0)
    return Turn(n, left, _phi(float(toward.sum())), chosen)


def _push(learner: Any, row: Floats, column: int, weight: float) -> Push:
    schema, record = learner.schema_, learner._state.columns[column]
    j, category = int(record["feature"]), int(record["category"])
    if j < 0:
        return Push(None, None, weight)
    name, missing = schema.names[j], bool(np.isnan(row[j]))
    if category < 0:
        return Push(name, None if missing else float(row[j]), weight)
    label = native(schema.categories[j][category])
    return Push(name, None, weight, label) if missing else Push(name, label, weight)
