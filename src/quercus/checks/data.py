"""The streams that checks learn: small, made here, the same every time, and adversarial."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from quercus.checks.contract import Array

LATE_CLASS, LATE_CATEGORY, LATE_VALUE = 450, 650, 850
JOBS = ("clerk", "smith", "nurse")


class CheckRows(NamedTuple):
    """CheckRows as dicts, with their labels."""

    rows: list[dict[str, Any]]
    labels: list[Any]

    def part(self, start: int, stop: int | None = None) -> CheckRows:
        """Return the rows from start to stop."""
        return CheckRows(self.rows[start:stop], self.labels[start:stop])


def adversarial_stream(length: int = 1500, seed: int = 1) -> CheckRows:
    """Return a stream with a late class, a late category, missing values from the first row on and more.

    The column ``paid`` is binary until it is not, ``level`` is constant, ``age`` holds integers, ``member`` booleans.

    Parameters
    ----------
    length
        Number of rows; the surprises come between the 450th and the 850th.
    seed
        Of the stream.

    Examples
    --------
    >>> adversarial_stream(2).rows[0]["amount"] is None
    True
    """
    rows, labels = _draw_adversarial(length, seed)
    return CheckRows([dict(row) for row in rows], list(labels))


# Some dozen checks of each learner ask for the same few.
@lru_cache(maxsize=16)
def _draw_adversarial(length: int, seed: int) -> CheckRows:
    draw = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    labels: list[Any] = []
    for number in range(length):
        jobs = (*JOBS, "pilot") if number >= LATE_CATEGORY else JOBS
        row: dict[str, Any] = {
            "amount": float(draw.random()),
            "paid": float(draw.choice([0.0, 0.5, 1.0] if number >= LATE_VALUE else [0.0, 1.0])),
            "job": str(draw.choice(jobs)),
            "age": int(draw.integers(18, 80)),
            "level": 3.0,
            "member": bool(draw.integers(2)),
        }
        labels.append(_label(row, number, noise=draw.random() < 0.05))
        for name in ("amount", "job", "age"):
            if number == 0 or draw.random() < 0.05:
                row[name] = None
        rows.append(row)
    return CheckRows(rows, labels)


def _label(row: dict[str, Any], number: int, *, noise: bool) -> str:
    if number >= LATE_CLASS and row["age"] > 60:
        return "maybe"
    yes = row["amount"] > 0.6 or (row["job"] in ("nurse", "pilot") and row["paid"] > 0.2)
    return "yes" if yes != noise else "no"


def numeric_stream(length: int, features: int = 3, classes: int = 2, seed: int = 2) -> tuple[Array, Array]:
    """Return numbers in float64, exact in float32 too, and integer labels that depend on two of the columns.

    Parameters
    ----------
    length, features, classes
        Its size.
    seed
        Of the stream.

    Examples
    --------
    >>> X, y = numeric_stream(5)
    >>> X.shape, y.shape
    ((5, 3), (5,))
    """
    draw = np.random.default_rng(seed)
    X = draw.integers(0, 2**16, (length, features)) / 2.0**16
    y = (np.floor(X[:, 0] * 2 * classes) + np.floor(X[:, -1] * 3)).astype(np.int64) % classes
    return X, y


def random_labels(length: int = 2000, seed: int = 3) -> CheckRows:
    """Return rows whose labels are thrown like a coin: nobody can foresee more than half of them.

    Parameters
    ----------
    length
        Number of rows.
    seed
        Of the stream.

    Examples
    --------
    >>> len(random_labels(3).labels)
    3
    """
    draw = np.random.default_rng(seed)
    rows = [
        {"amount": float(draw.random()), "job": str(draw.choice(JOBS)), "number": float(i), "age": float(draw.normal())}
        for i in range(length)
    ]
    return CheckRows(rows, [("no", "yes")[int(side)] for side in draw.integers(0, 2, length)])


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return the same table as a dict of columns.

    Parameters
    ----------
    rows
        Dicts with the same keys.

    Examples
    --------
    >>> columns_of([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    {'a': [1, 2], 'b': ['x', 'y']}
    """
    return {name: [row[name] for row in rows] for name in rows[0]}
