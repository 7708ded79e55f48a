"""The adaptive Hoeffding trees of river and MOA, with their own defaults."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from experiments.peers.drift.learners import DriftRun
from experiments.peers.drift.streams import DriftStream
from experiments.peers.moa.driver import compile_driver
from experiments.peers.moa.learners import missing_moa
from experiments.peers.stream_files import Result, StreamFiles, as_dicts

RIVER, MOA = "river HoeffdingAdaptiveTree", "MOA HoeffdingAdaptiveTree"
_DRIVER = Path(__file__).parents[1] / "moa" / "Changes.java"


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
    command, rows = compile_driver(_DRIVER), case.rows
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "right.u8"
        files = StreamFiles.write(Path(name) / "stream", rows.name, rows.X, rows.y)
        shape = [files.folder, files.rows, files.classes, ",".join(map(str, rows.categories)), output]
        done = subprocess.run([*command, *map(str, shape)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{MOA} on {rows.name}: {done.stderr.strip().splitlines()[0]}")
        right = np.fromfile(output, np.uint8) == 1
    told: Result = json.loads(done.stdout.strip().splitlines()[-1])
    return DriftRun(right, told["seconds"], told["alarms"], told["tried"])
