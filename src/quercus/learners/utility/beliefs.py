"""What an expert knows: numbers by feature, label and value, read as examples of which one feature is known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from quercus.acquisition.layout import YOUNG
from quercus.arguments import check_number
from quercus.engine import Floats, Integers
from quercus.learners.utility.kernels.cases import learn_rows
from quercus.learners.utility.kernels.layout import QUANTILES, SETTINGS
from quercus.learners.utility.state import UtilityState
from quercus.rows import Rows
from quercus.schema import Schema
from quercus.schema.labels import HEAVIEST

Ranges = Mapping[int, tuple[float, float]]
# When the bins of a feature are drawn: an eighth as many as it has known values.
_DRAWN_AT = tuple(YOUNG * 2**k for k in range(6))
# So many numbers at a time are laid out as rows.
_BLOCK = 2**20


class Values(NamedTuple):
    """What is believed of one feature: value, class and weight of each of its examples.

    Examples
    --------
    >>> Values(0, np.array([0.0, 1.0]), np.array([0, 0]), np.array([7.5, 2.5])).weights.sum()
    np.float64(10.0)
    """

    feature: int
    values: Floats
    labels: Integers
    weights: Floats


class Beliefs(NamedTuple):
    """What is believed of features, and the weight of each class.

    Examples
    --------
    >>> Beliefs([], np.array([2.0, 8.0])).classes.max()
    np.float64(8.0)
    """

    features: list[Values]
    classes: Floats


def read_beliefs(schema: Schema, names: Sequence[str], table: Any, classes: Any, weight: Any) -> Beliefs:
    """Read what an expert knows, and add what is new in it to the schema; refuse what makes no sense.

    Parameters
    ----------
    schema
        Of the learner, or a copy: a refusal may leave a part in it.
    names
        Features that it is to have, in this order; those of the table among them.
    table
        ``{feature: {label: {value: number}}}``, or None.
    classes
        ``{label: number}``, or None.
    weight
        To which the numbers of each feature and label, and those of the classes, add up; None: as they stand.

    Examples
    --------
    >>> schema = Schema()
    >>> beliefs = read_beliefs(schema, ["fever"], {"fever": {"ill": {"high": 3, "none": 1}}}, None, 10.0)
    >>> beliefs.features[0].values, beliefs.features[0].weights, schema.categories
    (array([0., 1.]), array([7.5, 2.5]), [['high', 'none']])
    """
    if weight is not None:
        check_number("weight", weight, least=0, above=True, most=HEAVIEST)
    if table is None and classes is None:
        raise ValueError("the prior is empty; give a table, or classes={'ill': 1, 'well': 9}.")
    parts = {} if table is None else _read_table(table, weight)
    shares = {} if classes is None else _read_numbers("classes", classes, weight, "{'ill': 1, 'well': 9}")
    if len(names) > len(schema.names):
        schema.commit(schema.read_one(dict.fromkeys(names), np.empty(len(schema.names)), True))
    for label in [*shares, *(label for by_label in parts.values() for label in by_label)]:
        schema.commit(schema.read_label_one(label)[1])
    features = [_code_values(schema, name, by_label) for name, by_label in parts.items()]
    weights = np.zeros(len(schema.labels))
    for label, number in shares.items():
        weights[schema.read_label_one(label)[0]] += number
    return Beliefs(features, weights)


def _read_table(table: Any, weight: float | None) -> dict[str, dict[Any, dict[Any, float]]]:
    example = "{'fever': {'ill': {'high': 0.7, 'none': 0.3}}}"
    found = {}
    for name, by_label in _read_mapping("table", table, example).items():
        if not isinstance(name, str):
            raise TypeError(f"table holds the name {name!r}, a {type(name).__name__}; name features by strings.")
        where = f"table[{name!r}]"
        found[str(name)] = {
            label: _read_numbers(f"{where}[{label!r}]", numbers, weight, "{'high': 0.7, 'none': 0.3}")
            for label, numbers in _read_mapping(where, by_label, "{'ill': {'high': 0.7, 'none': 0.3}}").items()
        }
    return found


def _read_mapping(where: str, value: Any, example: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{where}={value!r} is no dict; write it as {example}.")
    if not value:
        raise ValueError(f"{where} is empty; write it as {example}, or leave it out.")
    return value


def _read_numbers(where: str, numbers: Any, weight: float | None, example: str) -> dict[Any, float]:
    """Return numbers in proportion, adding up to a weight, or as they stand."""
    for key, number in _read_mapping(where, numbers, example).items():
        check_number(f"{where}[{key!r}]", number, least=0, most=HEAVIEST)
    total = math.fsum(numbers.values())
    if total == 0:
        raise ValueError(f"{where} is all zero; give at least one number above 0, or leave it out.")
    return {key: float(number) if weight is None else weight * (number / total) for key, number in numbers.items()}


def _code_values(schema: Schema, name: str, by_label: Mapping[Any, Mapping[Any, float]]) -> Values:
    """Return the values of a feature as a row holds them; a number of 0 is no example."""
    place, row = schema.names.index(name), np.empty(len(schema.names))
    found: list[tuple[float, int, float]] = []
    for label, numbers in by_label.items():
        for value, weight in numbers.items():
            if weight > 0:
                schema.commit(schema.read_one({name: value}, row, True))
                if np.isnan(row[place]):
                    raise ValueError(f"table[{name!r}][{label!r}] holds {value!r}, a missing value; leave it out.")
                found.append((row[place], schema.read_label_one(label)[0], weight))
    values, labels, weights = zip(*found, strict=True)
    return Values(place, np.array(values), np.array(labels), np.array(weights))


def learn_beliefs(
    state: UtilityState, forget: float, kinds: Sequence[str | None], ranges: Ranges, beliefs: Beliefs
) -> None:
    """Count what is believed; neither the weights of the classes nor the number of rows grow by what features say.

    Parameters
    ----------
    state
        What is learned.
    forget
        Whether it forgets tells which values are kept for bins; what is believed makes nothing be forgotten.
    kinds, ranges
        By feature, as in `UtilityState.fit_row`.
    beliefs
        What was read.

    Examples
    --------
    >>> state = UtilityState.empty(QUANTILES, bins=8, features=1, seed=0)
    >>> known = Values(0, np.array([0.0, 1.0]), np.array([0, 0]), np.array([7.5, 2.5]))
    >>> learn_beliefs(state, 0.0, ["nominal"], {}, Beliefs([known], np.zeros(1)))
    >>> state.counts[:2, 0], state.classes
    (array([7.5, 2.5]), 1)
    """
    state.add_features(len(kinds))
    state.declare_classes(len(beliefs.classes))
    state.weights[: len(beliefs.classes)] += beliefs.classes * state.options["unit"][0]
    settings: npt.NDArray[np.void] = np.zeros(1, SETTINGS)
    settings["forget"] = forget
    asked = np.zeros(len(kinds), np.uint8)
    for known in beliefs.features:
        for part in _lay_out(known, 1 if kinds[known.feature] == "nominal" else _count_parts(state, known), len(kinds)):
            X = np.full((len(part.values), len(kinds)), np.nan)
            X[:, part.feature] = part.values
            rows, row = Rows(X, y=part.labels, weight=part.weights), 0
            while row < len(X):
                row = int(learn_rows(state.ref, settings, rows.ref, asked, row, len(X), 0))
                if row < len(X):
                    state.fit_row(X[row], int(part.labels[row]), kinds, ranges)


def _lay_out(known: Values, parts: int, features: int) -> Iterator[Values]:
    """Yield the examples of a feature, each in as many equal parts, taken in turn."""
    rows = max(1, _BLOCK // features)
    for _ in range(parts):
        for start in range(0, len(known.values), rows):
            part = slice(start, start + rows)
            yield Values(known.feature, known.values[part], known.labels[part], known.weights[part] / parts)


def _count_parts(state: UtilityState, known: Values) -> int:
    """Return into how many parts the numbers of a feature are cut so that its bins are drawn from all of them."""
    feature: Any = state.features[known.feature]
    has, number = int(feature["known"]), len(known.values)
    wanted = 0 if feature["bins"] > 1 else YOUNG
    if wanted and state.numeric == QUANTILES:
        bins = min(len(np.unique(known.values)), state.bins)
        wanted = next((time for time in _DRAWN_AT if time >= max(8 * bins, has + number)), 0)
    return max(1, math.ceil((wanted - has) / number))
