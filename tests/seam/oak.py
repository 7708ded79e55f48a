"""The smallest learner there can be: it counts labels, and answers the most frequent one."""

import numpy as np
from numba import types

from quercus.arguments import check_number
from quercus.classifier import Classifier
from quercus.compile import array_type, kernel
from quercus.decision import decide
from quercus.engine import Stop
from quercus.rows import LEARN, PAUSED, PREDICT, Rows
from quercus.state import Field, Real, State
from quercus.store import read_state

NEEDS_ROOM = PAUSED + 1


class OakState(State):
    counts = Field(Real(low=0.0), "label")
    stopped = Field(np.int64, 1)


@kernel
def answer(counts, order, loss, proba):
    """Write the share of each class, and return the answer."""
    classes, total = min(len(counts), len(order)), counts.sum()
    if total == 0:
        return -1
    for k in range(classes):
        proba[k] = counts[k] / total
    return decide(proba, order, loss, classes)


@kernel(
    types.int64,
    OakState.numba_type,
    Rows.numba_type,
    array_type(np.int64, 1, readonly=True),
    array_type(np.float64, 2, readonly=True),
    types.int64,
    types.int64,
    types.int64,
)
def run_rows(oak, rows, order, loss, start, stop, mode):
    """Answer and count rows; return the row that there was no room for, or the end."""
    oak.stopped[0] = 0
    for i in range(start, stop):
        if mode & LEARN and rows.y[i] >= len(oak.counts):
            oak.stopped[0] = NEEDS_ROOM
            return i
        if mode & PREDICT:
            rows.answers[i] = answer(oak.counts, order, loss, rows.proba[i])
        if mode & LEARN:
            oak.counts[rows.y[i]] += rows.weight[i]
    return stop


class OakEngine:
    first_slice = 64

    def check(self, params):
        check_number("max_bytes", params.max_bytes, least=1)
        check_number("prior", params.prior, least=0)

    def new_state(self, params, features, classes):
        return OakState(label=classes)

    def load_state(self, params, model):
        return read_state(model, OakState, max_bytes=params.max_bytes, at_most={"label": len(model.schema["labels"])})

    def widen(self, state, features, classes):
        state.ensure(label=classes)

    def run(self, state, params, rows, known, start, stop, mode):
        row = run_rows(state.ref, rows.ref, known.order, known.loss, start, stop, mode)
        return Stop(int(row), int(state.stopped[0]))

    def resume(self, state, params, rows, known, stop):
        if not state.ensure(params.max_bytes, label=int(rows.y[stop.row]) + 1):
            raise MemoryError(f"another class needs more than max_bytes={params.max_bytes:,}.")

    def predict(self, state, params, X, known, answers, proba):
        rows = Rows(X, answers=answers, proba=proba)
        run_rows(state.ref, rows.ref, known.order, known.loss, 0, len(X), PREDICT)


class Oak(Classifier):
    """Answers the most frequent class."""

    engine = OakEngine()
    changeable = frozenset({"loss", "prior"})

    def __init__(self, *, prior=0.0, loss=None, nominal=None, features="closed", max_bytes=2**20, seed=0):
        self.prior = prior
        self.loss = loss
        self.nominal = nominal
        self.features = features
        self.max_bytes = max_bytes
        self.seed = seed
