"""What one can see of an evergreen tree: its answers, its size, its picture, why it answers as it does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.drawn import DrawnTree
from quercus.explain import Explanation, TreeView
from quercus.learners.evergreen.additive.telling import tell_features, weigh_singles
from quercus.learners.evergreen.engine import answer
from quercus.learners.evergreen.explaining import EXPERTS, EvergreenExplanation, Single
from quercus.learners.evergreen.state import EvergreenState
from quercus.learners.evergreen.view import (
    Standing,
    find_leaves,
    find_path,
    view_path,
    view_tree,
    weigh_depths,
    weigh_experts,
)
from quercus.predictor import Floats, Integers

if TYPE_CHECKING:
    from quercus.learners.evergreen.frozen import FrozenEvergreen


class StandingTree(DrawnTree):
    """A model that answers by an evergreen tree as it stands."""

    _tree: Standing
    _is_growing = True

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        self._check_fitted()
        return (len(self._tree.tree.nodes) + 1) // 2

    @property
    def depth_(self) -> int:
        """Depth of the deepest leaf; 0 for a single leaf."""
        self._check_fitted()
        return int(self._tree.tree.nodes["depth"].max())

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in what all cuts of the tree gained when it was grown."""
        self._check_fitted()
        inner = self._tree.tree.nodes[self._tree.tree.nodes["left"] > 0]
        gained = np.bincount(inner["feature"], weights=inner["gain"], minlength=int(self.n_features_in_))
        return np.asarray(gained / max(gained.sum(), np.finfo(float).tiny), np.float64)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, with the room that they have to grow."""
        return self._tree.nbytes if self._is_fitted() else 0

    def view(self) -> TreeView:
        """Return the tree as plain data, for renderers and for programs."""
        self._check_fitted()
        return view_tree(self._tree, self.schema_, self._name(), self._loss, self._is_growing)

    def explain_one(self, x: Mapping[str, Any]) -> EvergreenExplanation:
        """Say how the tree comes to its answer for one example: the path, and how much each part of it counts.

        Parameters
        ----------
        x
            Feature values by name.

        Examples
        --------
        >>> import quercus as qc
        >>> tree = qc.EvergreenTree().partial_fit([[x] for x in range(40)], ["no"] * 20 + ["yes"] * 20)
        >>> tree.explain_one({"x0": 33.0})
        predicts 'yes' ...
          because x0 = 33 > ...
          in this leaf: 'yes' ...
          prunings count by depth: ...
          single features, for 'yes' against 'no': x0 = 33 (+...)
          the answer: ...
        """
        self._check_fitted()
        row = self._read_one(x)[0]
        path, answer = find_path(self._tree.tree, row), self.predict_one(x)
        nodes, proba = view_path(self._tree, self.schema_, path, answer), self.predict_proba_one(x)
        told = Explanation.from_path(nodes, self._labels.tolist(), x, answer, proba, learned=True)
        by_singles = weigh_singles(self._tree.additive)
        shares = [(1.0 - by_singles) * share for share in weigh_experts(self._tree.options[0])]
        against, singles = self._tell_singles(x, row, answer, proba) if by_singles > 0.0 else (None, ())
        return EvergreenExplanation.from_explanation(
            told,
            depths=dict(enumerate(weigh_depths(self._tree.tree, path))),
            experts=dict(zip(EXPERTS, (*shares, by_singles), strict=True)),
            against=against,
            singles=singles,
        )

    def _tell_singles(
        self, x: Mapping[str, Any], row: Floats, answer: Any, proba: Mapping[Any, float]
    ) -> tuple[Any, tuple[Single, ...]]:
        """Return the next best answer, and what single features tell against it."""
        # After Ctrl-C there may be labels that the tree has not learned.
        ids = {label: number for number, label in enumerate(self.schema_.labels[: self._tree.additive.classes])}
        rest = [label for label in ids if label != answer]
        if answer not in ids or not rest:
            return None, ()
        against = max(rest, key=proba.__getitem__)
        numbers = [ids[label] for label in (answer, against)]
        told = tell_features(self._tree.additive, row, *numbers).tolist()
        parts = zip(self.schema_.names, row.tolist(), told, strict=True)
        singles = [Single(name, None if math.isnan(value) else x.get(name), share) for name, value, share in parts]
        return against, tuple(sorted(singles, key=lambda single: -abs(single.told)))

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        answers = np.full(len(X), -1)
        proba = np.zeros((len(X), len(self._order)))
        answer(self._tree, self._order, self._loss, X, answers, proba)
        return answers, proba


class EvergreenLook(StandingTree):
    """What a tree that goes on learning shows besides: a frozen copy, and what those see who choose labels."""

    _tree: EvergreenState

    def freeze(self) -> FrozenEvergreen:
        """Return a small, immutable copy that answers exactly as this tree does now and keeps nothing else."""
        from quercus.learners.evergreen.frozen import FrozenEvergreen

        self._check_fitted()
        return FrozenEvergreen._from_tree(self)

    def regions(self, X: Any) -> tuple[Integers, Floats]:
        """Return the leaf that each row lies in, and the class counts of every node: what a pool sampler sees.

        Parameters
        ----------
        X
            Rows, as in `predict`.

        Returns
        -------
        The node number of each row's leaf, and an array of nodes by classes (as in `classes_`). Before anything was
        learned all rows lie in node 0, and there are no classes.

        Examples
        --------
        >>> from quercus import EvergreenTree
        >>> leaves, counts = EvergreenTree().partial_fit([[1.0], [2.0]], ["no", "yes"]).regions([[5.0], [6.0], [7.0]])
        >>> leaves.tolist(), counts.tolist()
        ([0, 0, 0], [[1.0, 1.0]])
        """
        if not self._is_fitted():
            return np.zeros(len(X), np.int64), np.zeros((1, 0))
        leaves = find_leaves(self._tree.tree, self._read(X))
        counts = np.zeros((len(self._tree.tree.nodes), len(self._order)))
        known = self._tree.classes
        counts[:, :known] = self._tree.tree.counts[:, :known]
        return leaves, np.ascontiguousarray(counts[:, self._order])

    def region_one(self, x: Mapping[str, Any], by_counts: bool = False) -> tuple[dict[Any, float], float]:
        """Return what a label policy sees: class probabilities for an example, and the labels behind them.

        Parameters
        ----------
        x
            Feature values by name.
        by_counts
            Whether the probabilities are to be the smoothed class counts of the leaf, not what the tree answers.

        Examples
        --------
        >>> from quercus import EvergreenTree
        >>> tree = EvergreenTree().partial_fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
        >>> tree.region_one({"x0": 5.0}, by_counts=True)
        ({'no': 0.375, 'yes': 0.625}, 3.0)
        """
        if not self._is_fitted():
            return {}, 0.0
        row = self._read_one(x)
        leaf, classes = find_path(self._tree.tree, row[0])[-1], self._tree.classes
        support = float(self._tree.tree.nodes["n"][leaf])
        if by_counts:
            proba = np.zeros((1, len(self._order)))
            proba[0, :classes] = (self._tree.tree.counts[leaf, :classes] + 1.0 / max(classes, 1)) / (support + 1.0)
        else:
            _, proba = self._answer(row)
        return dict(zip(self._labels.tolist(), proba[0, self._order].tolist(), strict=True)), support
