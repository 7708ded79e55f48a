"""Short streams with everything in them that learners must cope with; made by code, always the same."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

Row = dict[str, Any]


class Stream(NamedTuple):
    """Rows with labels, and the rows at which learners are looked at (`probe`)."""

    X: Any
    y: np.ndarray
    w: np.ndarray | None
    probe: Any

    def checksum(self) -> int:
        """Return a number that tells whether these are the rows that were frozen."""
        w = None if self.w is None else self.w.tolist()
        parts = [part.tolist() if isinstance(part, np.ndarray) else part for part in (self.X, self.y, self.probe)]
        return zlib.crc32(json.dumps([*parts, w]).encode())


_MAKERS: dict[str, Callable[[np.random.Generator], Stream]] = {}


@cache
def stream(name: str) -> Stream:
    """Return a stream by its name."""
    return _MAKERS[name](np.random.default_rng(zlib.crc32(name.encode())))


def names() -> list[str]:
    """Return the names of all streams."""
    return list(_MAKERS)


def _named(make: Callable[[np.random.Generator], Stream]) -> Callable[[np.random.Generator], Stream]:
    _MAKERS[make.__name__] = make
    return make


def _halves(X: Any, y: Any, w: np.ndarray | None = None, probe: int = 10) -> Stream:
    """Put the last rows aside."""
    return Stream(X[:-probe], np.asarray(y)[:-probe], None if w is None else w[:-probe], X[-probe:])


def _uniform(draw: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return np.floor(1e4 * draw.random((rows, columns))) / 1e4


def _flip(draw: np.random.Generator, y: np.ndarray, share: float) -> np.ndarray:
    """Draw some labels anew."""
    drawn = y[draw.integers(0, len(y), len(y))]
    return np.where(draw.random(len(y)) < share, drawn, y)


def _steps(X: np.ndarray) -> np.ndarray:
    """Label rows by a small tree."""
    inner = np.where(X[:, 1] > 0.3, X[:, 2] > 0.7, X[:, 3] > 0.4)
    return np.where(X[:, 0] > 0.55, inner, X[:, 1] > 0.8).astype(np.int64)


@_named
def numeric(draw: np.random.Generator) -> Stream:
    X = _uniform(draw, 2_010, 5)
    return _halves(X, _flip(draw, _steps(X), 0.1))


@_named
def short(draw: np.random.Generator) -> Stream:
    X = _uniform(draw, 310, 3)
    return _halves(X, _flip(draw, np.where(X[:, 0] > 0.5, "high", "low"), 0.1))


@_named
def three(draw: np.random.Generator) -> Stream:
    """Three classes of text around centres that overlap."""
    ids = draw.integers(0, 3, 1_510)
    centres = np.array([[0.2, 0.3, 0.5, 0.8], [0.5, 0.7, 0.5, 0.4], [0.9, 0.2, 0.5, 0.6]])
    X = np.round(centres[ids] + 0.6 * (draw.random((1_510, 4)) + draw.random((1_510, 4)) - 1.0), 4)
    return _halves(X, np.array(["oak", "ash", "elm"])[ids])


@_named
def many(draw: np.random.Generator) -> Stream:
    """Eight classes."""
    X = _uniform(draw, 1_810, 4)
    return _halves(X, _flip(draw, (X[:, :3] > 0.5) @ np.array([1, 2, 4]), 0.1))


@_named
def noise(draw: np.random.Generator) -> Stream:
    return _halves(_uniform(draw, 810, 4), draw.integers(0, 2, 810))


@_named
def rare(draw: np.random.Generator) -> Stream:
    """One row in twelve is a fraud."""
    X = _uniform(draw, 1_510, 4)
    fraud = _flip(draw, (X[:, 0] > 0.7) & (X[:, 1] > 0.75), 0.06)
    return _halves(X, np.where(fraud, "fraud", "fine"))


@_named
def odd(draw: np.random.Generator) -> Stream:
    """Constants, ties, huge and tiny numbers, copies of a column, and a range that moves."""
    rows = 1_510
    base = _uniform(draw, rows, 3)
    level = np.floor(base[:, 1] * 4)
    moving = np.round(base[:, 2] + np.arange(rows) / 300, 4)
    columns = [np.full(rows, 7.0), level, np.round(1e9 * base[:, 0] - 3e8), base[:, 0] * 1e-9, moving, level]
    y = _flip(draw, (base[:, 0] > 0.4) ^ (level > 2), 0.1)
    return _halves(np.column_stack(columns), y.astype(bool))


@_named
def changing(draw: np.random.Generator) -> Stream:
    """Half-way the meaning of the rows changes."""
    X = _uniform(draw, 3_010, 4)
    y = (X[:, 0] + 0.3 * (X[:, 1] > 0.5) > 0.6).astype(np.int64)
    y[1_500:] = 1 - y[1_500:]
    return _halves(X, _flip(draw, y, 0.05))


@_named
def weights(draw: np.random.Generator) -> Stream:
    """One row in five counts nothing."""
    X = _uniform(draw, 2_010, 5)
    w = np.round(draw.random(2_010) * 3, 2)
    w[1::5] = 0.0
    return _halves(X, _flip(draw, _steps(X), 0.1), w)


@_named
def missing(draw: np.random.Generator) -> Stream:
    """Numbers of which every fifth is missing, more often in one class."""
    X = _uniform(draw, 1_810, 5)
    y = _flip(draw, _steps(X), 0.1)
    X[draw.random(X.shape) < 0.15 + 0.1 * y[:, None]] = np.nan
    X[0] = 0.5
    return _halves(X, y)


def _payments(draw: np.random.Generator, rows: int) -> tuple[list[Row], np.ndarray]:
    """Return rows of text, numbers and truth values, with labels."""
    u = _uniform(draw, rows, 5)
    lands = np.array(["home", "near", "far", "abroad"])[np.floor(u[:, 0] * 4).astype(int)]
    kinds = np.array(["card", "cash", "wire"])[np.floor(u[:, 1] * 3).astype(int)]
    amount = np.round(1_000 * u[:, 2] ** 2, 2)
    night = u[:, 3] < 0.3
    risk = 0.8 * np.isin(lands, ["far", "abroad"]) + 0.5 * night + (amount > 300) - 0.4 * (kinds == "cash")
    y = np.array(["fine", "look", "fraud"])[np.digitize(risk + 0.5 * u[:, 4], [0.7, 1.5])]
    columns = zip(lands.tolist(), kinds.tolist(), amount.tolist(), night.tolist(), u[:, 4].tolist(), strict=True)
    names = ("land", "kind", "amount", "night", "noise")
    return [dict(zip(names, row, strict=True)) for row in columns], _flip(draw, y, 0.05)


@_named
def nominal(draw: np.random.Generator) -> Stream:
    """Categories alone, one of them written as numbers (give ``nominal=["code"]``)."""
    u = _uniform(draw, 1_510, 3)
    letters, codes = np.floor(u[:, 0] * 6).astype(int), np.floor(u[:, 1] * 5).astype(int) * 10
    X = [
        {"letter": "abcdef"[a], "code": b, "side": "left" if c < 0.5 else "right"}
        for a, b, c in zip(letters.tolist(), codes.tolist(), u[:, 2].tolist(), strict=True)
    ]
    return _halves(X, _flip(draw, np.isin(letters, [1, 4]) ^ (codes == 20), 0.1).astype(np.int64))


@_named
def mixed(draw: np.random.Generator) -> Stream:
    return _halves(*_payments(draw, 1_810))


@_named
def holes(draw: np.random.Generator) -> Stream:
    """Payments of which much is missing: None, or not there at all."""
    X, y = _payments(draw, 1_510)
    for row in X[1:]:
        for name in list(row):
            u = draw.random()
            if u < 0.1:
                row[name] = None
            elif u < 0.2:
                del row[name]
    return _halves(X, y)


@_named
def late_class(draw: np.random.Generator) -> Stream:
    """A third label comes after 700 rows, a fourth after 1,200."""
    X = _uniform(draw, 1_610, 4)
    y = np.where(X[:, 0] > 0.5, "b", "d").astype(object)
    y[(X[:, 1] > 0.6) & (np.arange(1_610) >= 700)] = "a"
    y[(X[:, 2] > 0.8) & (np.arange(1_610) >= 1_200)] = "c"
    return _halves(X, _flip(draw, y, 0.05))


@_named
def late_category(draw: np.random.Generator) -> Stream:
    """Categories come one by one, the last shortly before the end."""
    u = _uniform(draw, 1_510, 3)
    known = np.minimum(2 + np.arange(1_510) // 200, 9)
    letters = np.floor(u[:, 0] * known).astype(int)
    X = [{"letter": "abcdefghi"[a], "x": b} for a, b in zip(letters.tolist(), u[:, 1].tolist(), strict=True)]
    return _halves(X, _flip(draw, (letters % 3 == 1) ^ (u[:, 1] > 0.7), 0.1).astype(np.int64))


@_named
def late_column(draw: np.random.Generator) -> Stream:
    """Columns come in the middle of the stream (give ``features="open"``), and one of them goes again."""
    X, y = _payments(draw, 1_510)
    for row in X[:400]:
        del row["amount"]
    for row in X[:900]:
        del row["land"]
    for row in X[1_200:-10]:
        del row["noise"]
    return _halves(X, y)


@_named
def everything(draw: np.random.Generator) -> Stream:
    """Late columns, categories and labels, missing values and weights of 0, all at once (``features="open"``)."""
    X, y = _payments(draw, 1_210)
    y = np.where((np.arange(1_210) < 500) & (y == "fraud"), "look", y)
    w = np.round(draw.random(1_210) * 2, 1)
    w[3::7] = 0.0
    w[0] = 1.0
    for i, row in enumerate(X):
        if i < 300:
            del row["kind"]
        if i < 600 and row["land"] == "abroad":
            row["land"] = "far"
        for name in list(row) if i else []:
            if draw.random() < 0.1:
                row[name] = None
    return _halves(X, y, w)


@_named
def coins(draw: np.random.Generator) -> Stream:
    """Two of four coins tell the label together, and neither by itself."""
    X = draw.integers(0, 2, (1_510, 4))
    return _halves(X, X[:, 1] ^ X[:, 3])


@_named
def patients(draw: np.random.Generator) -> Stream:
    """Tests that come in a group, depend on each other, and are sometimes without a result."""
    u = _uniform(draw, 910, 6)
    ill = u[:, 0] < 0.4
    shift = np.where(ill, 0.35, 0.0)
    fever = np.where(u[:, 1] + shift > 0.7, "yes", "no")
    hb, crp, scan = (np.round(u[:, j] + shift, 2) for j in (2, 3, 4))
    X = []
    for i in range(910):
        row = {"age": round(20 + 60 * u[i, 5].item(), 1), "fever": fever[i].item()}
        row |= {"hb": hb[i].item(), "crp": crp[i].item(), "scan": round(2 * scan[i].item(), 2)}
        X.append({name: None if draw.random() < 0.04 and i else value for name, value in row.items()})
    return _halves(X, np.where(ill, "ill", "well"))


@_named
def wide(draw: np.random.Generator) -> Stream:
    """Twenty columns of which three count, and each a little."""
    X = _uniform(draw, 1_210, 20)
    return _halves(X, (X[:, 2] + X[:, 7] + X[:, 11] + 0.3 * draw.random(1_210) > 1.65).astype(np.int64))
