"""An artificial stream of which everything is known: features that are independent of each other, given the class."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.streams.batches import Chunk
from quercus.streams.generators.base import BLOCK, Generator
from quercus.streams.options import whole_number

# The Bayes error is added up over all combinations of values, if there are no more of them than this.
_MOST_COMBINATIONS = 2**20


class NaiveBayes(Generator):
    """Categories that are drawn independently of each other, given the class, each at a price.

    The class is drawn by `prior`, then each feature by its row of `tables`. All of it is known, so that the best policy
    for buying the features is known, too: `quercus.evaluation.best_policy` finds it. The Bayes error, by all features,
    is 1 - the sum over all combinations of values of the largest P(class) P(values | class), given where there are at
    most 1,048,576 of these.

    Parameters
    ----------
    tables
        For each feature P(value | class), a row per class: a list of tables, or a dict by name. None: `features` tables
        of `values` columns, each row drawn evenly among all distributions with the seed.
    prior
        P(class); None: all the same.
    costs
        Price by feature; 1 for what is not named.
    features, values, classes
        How many, if there are no tables.
    rows
        Number of rows; None is endless.
    seed
        Fixes the rows, and the tables if these are drawn.

    Attributes
    ----------
    theta
        P(value | class) of each feature, an array with a row per class.

    Examples
    --------
    >>> stream = NaiveBayes({"fever": [[0.9, 0.1], [0.3, 0.7]], "mri": [[1, 0], [0.1, 0.9]]}, costs={"mri": 50})
    >>> stream
    NaiveBayes 'naive_bayes': endless, 2 features (2 nominal), 2 classes, Bayes error 0.05
    >>> X, y = stream.take(1_000)
    >>> X.slice(0, 1).to_pylist(), stream.costs
    ([{'fever': 'v1', 'mri': 'v1'}], {'fever': 1.0, 'mri': 50.0})
    """

    def __init__(
        self,
        tables: Sequence[Any] | Mapping[str, Any] | None = None,
        prior: Sequence[float] | None = None,
        costs: Mapping[str, float] | None = None,
        features: int = 6,
        values: int = 2,
        classes: int = 2,
        rows: int | None = None,
        seed: int | None = 0,
    ) -> None:
        super().__init__(rows, seed)
        self.tables = tables
        self.features = whole_number("features", features, least=1)
        self.values = whole_number("values", values, least=2)
        self.n_classes = whole_number("classes", classes, least=1)
        self.name = "naive_bayes"
        if tables is None:
            self.theta = self._draw_tables(self._random(0))
            self.feature_names = [f"x{j}" for j in range(self.features)]
        else:
            named = tables if isinstance(tables, Mapping) else {f"x{j}": table for j, table in enumerate(tables)}
            self.theta = [_read_table(name, table) for name, table in named.items()]
            self.feature_names = list(named)
            self._check_tables()
        self.prior = prior
        self.shares = _read_prior(prior, self.n_classes)
        self.costs = self._read_costs(costs)
        self.nominal = tuple(self.feature_names)
        self.bayes_rate = self._exact_bayes_rate()

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that make this generator again."""
        return super().parameters | {"classes": self.n_classes}

    def draw(self, random: np.random.Generator, start: int, state: Any) -> Chunk:
        """Return a block of rows."""
        import pyarrow as pa

        y = _pick(np.cumsum(self.shares)[None, :], random.random(BLOCK))
        columns = {}
        for name, table in zip(self.feature_names, self.theta, strict=True):
            codes = _pick(np.cumsum(table, axis=1)[y], random.random(BLOCK))
            words = [f"v{value}" for value in range(table.shape[1])]
            columns[name] = pa.DictionaryArray.from_arrays(codes.astype(np.int32), words)
        return pa.table(columns), y

    def _draw_tables(self, random: np.random.Generator) -> list[NDArray[np.float64]]:
        ones = np.ones(self.values)
        return [random.dirichlet(ones, self.n_classes) for _ in range(self.features)]

    def _check_tables(self) -> None:
        if not self.theta:
            raise ValueError("tables is empty; give P(value | class) of at least one feature, or None to draw them.")
        first = self.theta[0].shape[0]
        for name, table in zip(self.feature_names, self.theta, strict=True):
            if len(table) != first:
                raise ValueError(
                    f"the table of {name!r} has rows for {len(table)} classes, that of {self.feature_names[0]!r} for "
                    f"{first}; give each a row per class."
                )
        self.n_classes, self.features = first, len(self.theta)

    def _read_costs(self, costs: Mapping[str, float] | None) -> dict[str, float]:
        given = dict(costs or {})
        for name, price in given.items():
            if name not in self.feature_names:
                raise ValueError(f"costs names {name!r}, which is no feature; there are {self.feature_names}.")
            if isinstance(price, bool) or not isinstance(price, int | float | np.number) or not 0 <= price < math.inf:
                raise ValueError(f"costs[{name!r}] is {price!r}; give a number of at least 0.")
        return {name: float(given.get(name, 1.0)) for name in self.feature_names}

    def _exact_bayes_rate(self) -> float | None:
        if math.prod(table.shape[1] for table in self.theta) > _MOST_COMBINATIONS:
            return None
        joint = self.shares[:, None]
        for table in self.theta:
            joint = (joint[:, :, None] * table[:, None, :]).reshape(self.n_classes, -1)
        return max(0.0, float(1.0 - joint.max(axis=0).sum()))


def _pick(sums: NDArray[np.float64], uniform: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each uniform number the first value whose sum of shares is above it."""
    below: NDArray[np.int64] = (sums[:, :-1] <= uniform[:, None]).sum(axis=1)
    return below


def _read_table(name: str, table: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(table, np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 2 or not found.size or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"the table of {name!r} is {table!r}; give a row per class of probabilities per value.")
    _check_sums(f"the table of {name!r}", found.sum(axis=1))
    return found


def _read_prior(prior: Any, classes: int) -> NDArray[np.float64]:
    if prior is None:
        return np.full(classes, 1.0 / classes)
    found = np.asarray(prior, np.float64)
    if found.shape != (classes,) or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"prior is {prior!r}; give a probability for each of the {classes} classes.")
    _check_sums("prior", found.sum(keepdims=True))
    return found


def _check_sums(what: str, sums: NDArray[np.float64]) -> None:
    if (np.abs(sums - 1) > 1e-9).any():
        raise ValueError(f"{what} sums to {sums[np.abs(sums - 1) > 1e-9][0]:g}; make it 1.")
