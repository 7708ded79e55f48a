"""What the Bayesian learners share: the loop over slices of rows, and what the posterior says about an answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.arguments import check_choice, check_number, check_seed, check_whole
from quercus.base import OnlineClassifier
from quercus.interrupts import next_slice, uninterrupted
from quercus.learners.bayesian.encoding import make_encoded, make_rows
from quercus.learners.bayesian.explaining import ForestExplanation, explain_answer
from quercus.learners.bayesian.frozen import FrozenForest
from quercus.learners.bayesian.growth import add_features, declare_classes, fit_row, plant_forest
from quercus.learners.bayesian.intervals import leaf_entropies, leaf_moments, match_intervals
from quercus.learners.bayesian.kernels import ENCODE_ROWS, LEARN_ROWS, SUM_LEAVES, SUM_PATHS, answer_rows, count_loss
from quercus.learners.bayesian.layout import (
    FLOORS,
    GRAINS,
    LARGEST,
    LEARN,
    PATH,
    PREDICT,
    SEES_ALL,
    SEES_PROJECTION,
    SEES_SUBSET,
)
from quercus.learners.bayesian.plan import Plan, check_depth, check_part, find_depths, part_of
from quercus.learners.bayesian.restore import restore_state
from quercus.learners.bayesian.state import FORESTS, ForestState
from quercus.loss import check_loss
from quercus.predictor import Floats, Integers
from quercus.store import Model, ModelFileError

_COVARIANCES = {"full": 0, "diagonal": 1}
_INFERENCES = {"full": 0, "path": PATH}
_FIRST_SLICE = 32
# The encoded rows of one call of a kernel stay below this many numbers.
_MOST_NUMBERS = 2**18
# So many trees count as independent of each other where all have learned the same rows.
_INDEPENDENT = 4
# Covariances of so many columns are read and written so often that making several changes at a time pays.
_WIDE, _WIDE_BLOCK = 96, 8


class Uncertainty(NamedTuple):
    """How unsure the answer for each row is, in nats, and what of that more labels would remove.

    ``total`` is the entropy of the class probabilities; ``aleatoric`` the part that lies in the data: the mean entropy
    under the posterior; ``epistemic`` the rest, which more labels would remove. With few rows leaves look purer than
    they are, so that ``aleatoric`` is too small.

    Examples
    --------
    >>> from quercus.learners.bayesian import BayesianTree
    >>> told = BayesianTree().partial_fit([[0.0], [1.0]], ["no", "yes"]).uncertainty([[0.0]])
    >>> bool(told.total[0] > told.epistemic[0] > 0)
    True
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats


class BayesianLearner(OnlineClassifier):
    """Base of the forests of Gaussian splits and Dirichlet leaves."""

    trees: int
    depth: int | tuple[int, int] | None
    covariance: str
    projection: float | int | None
    subset: float | int | None
    bagging: float
    inference: str
    scaling: str | None
    forget: float
    skip: float
    block: int | None
    dtype: str
    max_bytes: int
    threads: int
    _forest: ForestState
    _slice: int
    # The classes that come with a batch, while it is learned.
    _declared: Any = None

    @property
    def online_loss_(self) -> float:
        """Mean of -ln p(label) over the rows learned, each before it was learned: the smaller, the better the model."""
        self._check_fitted()
        return float(self._forest.options["loss"][0] / self._forest.options["weight"][0])

    def uncertainty(self, X: Any) -> Uncertainty:
        """Return how unsure each answer is, and how much of that more labels would remove.

        Parameters
        ----------
        X
            Rows, as in `predict`.

        Returns
        -------
        Arrays ``total``, ``aleatoric`` and ``epistemic`` of one number per row, in nats.
        """
        return self._uncertainty_of(self._read(X))

    def _uncertainty_of(self, rows: Floats) -> Uncertainty:
        means = self._leaf_means(rows, leaf_entropies(self._forest.known))
        p, aleatoric = means[:, :-1], means[:, -1]
        total = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)
        # The entropy of a mean is at least the mean entropy; rounding may say otherwise.
        total = np.maximum(total, aleatoric)
        return Uncertainty(total, aleatoric, total - aleatoric)

    def interval(self, X: Any, delta: float = 0.05) -> tuple[Floats, Floats]:
        """Return both ends of an interval of each class probability, columns as in `classes_`.

        Its variance is that between the trees, plus what each is itself unsure of, as if four trees were independent:
        all have learned the same rows. That is measured to hold about what it says (``docs/bayesian.md``), not derived.

        Parameters
        ----------
        X
            Rows, as in `predict`.
        delta
            Probability that is left outside, half at each end.

        Examples
        --------
        >>> from quercus.learners.bayesian import BayesianTree
        >>> tree = BayesianTree().partial_fit([[0.0], [1.0]], ["no", "yes"])
        >>> low, high = tree.interval([[0.0]])
        >>> bool((low < tree.predict_proba([[0.0]])).all() and (tree.predict_proba([[0.0]]) < high).all())
        True
        """
        check_number("delta", delta, least=0, above=True, most=1)
        return self._interval_of(self._read(X), delta)

    def _interval_of(self, rows: Floats, delta: float) -> tuple[Floats, Floats]:
        known, table = self._forest.classes, leaf_moments(self._forest.known)
        ends = np.zeros((2, len(rows), known))
        for part, _, sums in self._sum_leaves(make_rows(X=rows), len(rows), table, False):
            means, squares = sums[:, :, :known], sums[:, :, known:]
            within = (squares - means * means).mean(axis=0) / min(len(sums), _INDEPENDENT)
            match_intervals(means.mean(axis=0), means.var(axis=0) + within, delta / 2, ends[0, part], ends[1, part])
        whole = np.zeros((2, len(rows), len(self._order)))
        whole[:, :, :known] = ends
        return np.ascontiguousarray(whole[0][:, self._order]), np.ascontiguousarray(whole[1][:, self._order])

    def region_one(self, x: Mapping[str, Any], by_counts: bool = False) -> tuple[dict[Any, float], float]:
        """Return what a label policy sees: class probabilities for an example, and the labels behind them.

        Parameters
        ----------
        x
            Feature values by name.
        by_counts
            The probabilities are those of the leaves in any case.

        Returns
        -------
        The probabilities by class, and the mean over trees of |alpha| of the leaves that the example comes to.
        """
        if not self._is_fitted():
            return {}, 0.0
        row = self._read_one(x)
        _, proba = self._answer(row)
        support = self._leaf_means(row, self._forest.known.sum(axis=1, keepdims=True))
        return dict(zip(self._labels.tolist(), proba[0, self._order].tolist(), strict=True)), float(support[0, 0])

    def explain_one(self, x: Mapping[str, Any]) -> ForestExplanation:
        """Say what the answer for one example rests on, how sure it is, and what more labels would change.

        Parameters
        ----------
        x
            Feature values by name.
        """
        self._check_fitted()
        return explain_answer(self, x)

    def freeze(self) -> FrozenForest:
        """Return a small, immutable copy that answers exactly as this forest does now with ``inference="path"``."""
        return FrozenForest._from_forest(self)

    @property
    def _path(self) -> int:
        """How to predict, as kernels take it; no part of the state, so that it may be changed at any time."""
        check_choice("inference", self.inference, _INFERENCES)
        return _INFERENCES[self.inference]

    def _check_arguments(self) -> None:
        check_whole("trees", self.trees, most=10_000)
        check_whole("threads", self.threads, most=1024)
        check_depth(self.depth)
        check_choice("covariance", self.covariance, _COVARIANCES)
        check_choice("inference", self.inference, _INFERENCES)
        check_choice("scaling", self.scaling, ("auto", None))
        check_choice("dtype", self.dtype, FLOORS)
        check_number("bagging", self.bagging, least=0, most=0.99)
        check_number("forget", self.forget, least=0, most=0.5)
        check_number("skip", self.skip, least=0, most=0.1)
        if self.block is not None:
            check_whole("block", self.block, most=32)
        check_number("max_bytes", self.max_bytes, least=1)
        for name in ("projection", "subset"):
            check_part(name, getattr(self, name))
        if self.projection is not None and self.subset is not None:
            raise ValueError("a node sees a projection or a subset of the features, not both; leave one of them out.")
        check_seed(self.seed)
        if self.loss is not None:
            check_loss(self.loss)

    def _plan(self, features: int, classes: int) -> Plan:
        sight, seen = SEES_ALL, 0
        if self.subset is not None:
            sight, seen = SEES_SUBSET, part_of(self.subset, features)
            if seen > features:
                raise ValueError(f"subset={self.subset} is more than the {features} features; give a smaller number.")
        elif self.projection is not None:
            sight, seen = SEES_PROJECTION, part_of(self.projection, features)
        settings = {
            "sight": sight,
            "diagonal": _COVARIANCES[self.covariance],
            "scaled": self.scaling is not None,
            "skip": self.skip,
            "forget": self.forget,
            "bagging": self.bagging,
            "block": self._block_for(features if sight == SEES_ALL else seen),
            "floor": FLOORS[self.dtype],
            "grain": GRAINS[self.dtype],
            "largest": LARGEST[self.dtype],
        }
        depths = find_depths(self.depth, classes)
        return Plan(settings, depths, int(self.trees), seen, self.dtype, int(self.max_bytes))

    def _block_for(self, width: int) -> int:
        """Return how many changes of a covariance are made together; none wait where there are only variances."""
        if self.covariance == "diagonal":
            return 0
        return self.block or (_WIDE_BLOCK if width >= _WIDE else 1)

    def _learn_batch(self, X: Any, y: Any, classes: Any, sample_weight: Any, predict: bool = False, **more: Any) -> Any:
        self._declared = classes
        try:
            return super()._learn_batch(X, y, classes, sample_weight, predict, **more)
        finally:
            del self._declared

    def _learn_history(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn the rows of `fit`, whose classes are known before the first row: depth and leaves follow from them."""
        schema = self._new_schema()
        found = schema.read_labels(y)
        schema.commit(found)
        counts = np.ones(len(found.ids)) if sample_weight is None else np.asarray(sample_weight)
        kept = found.ids[counts > 0] if counts.shape == found.ids.shape else found.ids
        classes = [schema.labels[label] for label in np.unique(kept).tolist()]
        self.partial_fit(X, y, classes=classes or None, sample_weight=sample_weight)

    def _begin(self, features: int) -> None:
        classes = 0 if self._declared is None else len(set(np.asarray(self._declared).ravel().tolist()))
        self._forest = plant_forest(self._plan(features, classes), features, self.seed)
        self._slice = _FIRST_SLICE

    def _declare_classes(self, classes: int) -> None:
        declare_classes(self._forest, classes, int(self.max_bytes))

    def _learn(self, X: Floats, y: Integers, w: Floats, answers: Integers | None, proba: Floats | None) -> None:
        add_features(self._forest, X.shape[1])
        shown = {} if answers is None or proba is None else {"answers": answers, "proba": proba}
        rows, mode = make_rows(X=X, y=y, weight=w, **shown), LEARN | PREDICT if shown else LEARN
        row = 0
        while row < len(y):
            stop = min(row + self._slice, len(y))
            started = time.perf_counter()
            with uninterrupted():
                done = self._learn_slice(rows, row, stop, mode)
                if done < stop:
                    # By what is known so far; then what the row brings gets its place.
                    part = slice(done, done + 1)
                    if answers is not None and proba is not None:
                        answers[part], proba[part] = self._answer(X[part])
                    nominal = [kind == "nominal" for kind in self.schema_.kinds]
                    fit_row(self._forest, X[done], int(y[done]), nominal, int(self.max_bytes))
                    self._learn_slice(rows, done, done + 1, LEARN)
                    done += 1
            most = _MOST_NUMBERS // self._forest.n_columns
            self._slice = next_slice(self._slice, done - row, time.perf_counter() - started, most)
            row = done

    def _learn_slice(self, rows: Any, start: int, stop: int, mode: int) -> int:
        """Learn rows up to the first that brings something new; return that."""
        forest, count = self._forest, stop - start
        encoded, _ = make_encoded(forest, count if mode & PREDICT else 0, count, forest.classes)
        done: int = ENCODE_ROWS[forest.dtype](forest.ref, rows, encoded, start, stop, mode)
        count = done - start
        if count == 0:
            return done
        learn, ref, path = LEARN_ROWS[forest.dtype], forest.ref, self._path
        self._over_trees(lambda first, last: learn(ref, rows, encoded, start, count, first, last, mode | path), count)
        count_loss(forest.options, rows, encoded, start, count)
        if mode & PREDICT:
            answer_rows(rows, encoded, self._order, self._loss, forest.classes, start, count)
        return done

    def _over_trees(self, run: Callable[[int, int], Any], rows: int) -> None:
        """Run all trees, one per thread if there are several threads and more than a row or two."""
        trees = len(self._forest.trees)
        if self.threads == 1 or rows < 4 or trees == 1:
            run(0, trees)
            return
        with ThreadPoolExecutor(min(self.threads, trees)) as pool:
            list(pool.map(lambda tree: run(tree, tree + 1), range(trees)))

    def _answer(self, X: Floats) -> tuple[Integers, Floats]:
        answers, proba = np.full(len(X), -1), np.zeros((len(X), len(self._order)))
        forest = self._forest
        rows = make_rows(X=X, answers=answers, proba=proba)
        for part, encoded, _ in self._sum_leaves(rows, len(X), forest.alpha, True):
            answer_rows(rows, encoded, self._order, self._loss, forest.classes, part.start, part.stop - part.start)
        return answers, proba

    def _leaf_means(self, X: Floats, table: Floats) -> Floats:
        """Return for each row the mean, over trees, of the columns of a table in the leaves that it comes to."""
        means = np.empty((len(X), table.shape[1]))
        for part, _, sums in self._sum_leaves(make_rows(X=X), len(X), np.ascontiguousarray(table), False):
            means[part] = sums.mean(axis=0)
        return means

    def _sum_leaves(self, rows: Any, total: int, table: Floats, divides: bool) -> Any:
        """Yield slices of rows with what their leaves add up to, per tree: of a table, or of the shares of classes."""
        forest = self._forest
        ref, name, width = forest.ref, forest.dtype, forest.classes if divides else table.shape[1]
        add = SUM_PATHS[name] if self._path else SUM_LEAVES[name]
        most = max(_MOST_NUMBERS // max(forest.n_columns, len(forest.trees) * width), 1)
        for start in range(0, total, most):
            stop = min(start + most, total)
            encoded, arrays = make_encoded(forest, stop - start, 0, width)
            ENCODE_ROWS[name](ref, rows, encoded, start, stop, PREDICT)
            self._over_trees(partial(add, ref, encoded, table, divides, stop - start), stop - start)
            yield slice(start, stop), encoded, arrays["shares"]

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return self._forest.to_arrays()

    def _restore(self, model: Model) -> None:
        try:
            self._check_arguments()
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"its arguments make no sense: {error}") from error
        self._forest = restore_state(model, FORESTS)
        self._slice = _FIRST_SLICE
