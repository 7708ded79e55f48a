"""Small tables, and what learning them takes."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

from quercus.schema import Schema

NAN = float("nan")
DATE = datetime.date(2020, 1, 1)
COLUMNS = {
    "age": [41, None, 29, 29],
    "job": ["clerk", "nurse", None, "clerk"],
    "member": [True, False, None, True],
    "pay": [1.5, 2.5, None, -0.5],
}
ROWS = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
NUMBERS = np.arange(12.0).reshape(4, 3)
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
CELL = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.5, -3.0]), st.integers(-3, 3))


def learn(schema, X):
    batch = schema.read(X, learn=True)
    schema.commit(batch)
    return batch.X


def learned(X, **options):
    schema = Schema(**options)
    learn(schema, X)
    return schema


def learn_labels(schema, y):
    batch = schema.read_labels(y)
    schema.commit(batch)
    return batch.ids.tolist()


def learn_one(schema, x):
    row = np.full(len(schema.names), -7.0)
    added = schema.read_one(x, row, True)
    schema.commit(added)
    return row if added is None or added.row is None else added.row


def polars_frame(**dtypes):
    return pl.DataFrame(COLUMNS, schema_overrides=dtypes)


def pandas_frame(**dtypes):
    return pd.DataFrame(COLUMNS, dtype=object).astype({"age": "Int64", "member": "boolean", "pay": "float64"} | dtypes)


def in_parts(rows, cuts):
    edges = sorted({0, len(rows), *(cut % (len(rows) + 1) for cut in cuts)})
    return [rows[a:b] for a, b in itertools.pairwise(edges)]
