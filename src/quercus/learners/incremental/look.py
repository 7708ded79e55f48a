"""What one can see of a grown tree: its size, its picture, why it answers as it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from quercus.drawn import DrawnTree
from quercus.explain import Explanation, TreeView
from quercus.learners.incremental.kernels import find_leaves, predict_rows
from quercus.learners.incremental.state import TreeState
from quercus.learners.incremental.view import view_tree
from quercus.predictor import Floats, Integers


class TreeLook(DrawnTree):
    """A model that is a tree in flat arrays: answers, picture and explanation."""

    _tree: TreeState

    @property
    def n_leaves_(self) -> int:
        """Number of leaves."""
        self._check_fitted()
        return (int(self._tree.main().options["nodes"][0]) + 1) // 2

    @property
    def depth_(self) -> int:
        """Depth of the deepest leaf; 0 for a single leaf."""
        self._check_fitted()
        return int(self._tree.main().to_arrays()["nodes"]["depth"].max())

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the impurity removed by all splits, weighted by the examples that each split saw."""
        self._check_fitted()
        nodes = self._tree.main().to_arrays()["nodes"]
        inner = nodes[nodes["left"] > 0]
        removed = np.bincount(
            inner["feature"], weights=inner["gain"] * inner["weight"], minlength=int(self.n_features_in_)
        )
        return np.asarray(removed / max(removed.sum(), np.finfo(float).tiny), np.float64)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, with the room that they have to grow."""
        return self._tree.nbytes if self._is_fitted() else 0

    def view(self) -> TreeView:
        """Return the tree as plain data, for renderers and for programs."""
        self._check_fitted()
        return view_tree(self._tree, self.schema_, self._name(), self._loss)

    def explain_one(self, x: Mapping[str, Any]) -> Explanation:
        """Say how the tree comes to its answer for one example: the path, the counts, how certain the leaf is.

        Parameters
        ----------
        x
            Feature values by name.
        """
        self._check_fitted()
        row = self._read_one(x)
        leaf = np.empty(1, np.int64)
        find_leaves(self._tree.main().nodes, row, leaf)
        view = self.view()
        return Explanation.from_path(
            view.path(int(leaf[0])), view.classes, x, self.predict_one(x), self.predict_proba_one(x)
        )

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        answers = np.empty(len(X), np.int64)
        # A batch that was interrupted may have brought classes that were never learned: they have probability 0.
        proba = np.zeros((len(X), len(self._order)))
        predict_rows(self._tree.ref_as(TreeState), self._order, self._loss, X, answers, proba)
        return answers, proba
