"""The adaptive Hoeffding trees of river and MOA, with their own defaults."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path

import numpy as np

from experiments.peers.drift.learners import DriftRun
from experiments.peers.drift.streams import DriftStream
from experiments.peers.moa.driver import missing_moa, run_driver
from experiments.peers.moa.learners import write_rows
from experiments.peers.stream_files import as_dicts

RIVER, MOA = "river HoeffdingAdaptiveTree", "MOA HoeffdingAdaptiveTree"


def missing_peer(name: str) -> str | None:
    """Return what is needed and not there."""
    if name == RIVER:
        return None if importlib.util.find_spec("river") else "river is not installed"
    return missing_moa()


def run_river(case: DriftStream, seed: int) -> DriftRun:
    """Take river's tree through a stream; its bootstrap is drawn with the seed."""
    from river.tree import HoeffdingAdaptiveTreeClassifier

    names = [f"x{j}" for j in case.rows.nominal]
    model = HoeffdingAdaptiveTreeClassifier(nominal_attributes=names or None, seed=seed)
    rows, labels = as_dicts(case.rows.X), case.rows.y.tolist()
    right = np.zeros(len(labels), bool)
    alarms: list[int] = []
    start = time.process_time()
    for i, (x, label) in enumerate(zip(rows, labels, strict=True)):
        right[i] = model.predict_one(x) == label
        model.learn_one(x, label)
        if model.n_switch_alternate_trees > len(alarms):
            alarms += [i] * (model.n_switch_alternate_trees - len(alarms))
    return DriftRun(right, time.process_time() - start, alarms, model.n_alternate_trees)


def run_moa(case: DriftStream) -> DriftRun:
    """Take MOA's tree through a stream, in a JVM of its own."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "right.u8"
        result = run_driver("Changes", *write_rows(Path(folder), case.rows), output)
        right = np.fromfile(output, np.uint8) == 1
    return DriftRun(right, result["seconds"], result["alarms"], result["tried"])
