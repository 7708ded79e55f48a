"""Classifiers of MOA by their options, in a JVM of their own (Learners.java); the settings are CapyMOA's defaults."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from experiments.harness.data import Floats
from experiments.peers.evergreen.sets import OrderedRows
from experiments.peers.moa.driver import run_driver
from experiments.peers.stream_files import Result, StreamFiles

MOA_TREES = {
    "HoeffdingTree": "trees.HoeffdingTree -c 0.001 -z -p",
    "EFDT": "trees.EFDT -R 200 -c 0.001 -z -p",
    "HoeffdingAdaptiveTree": "trees.HoeffdingAdaptiveTree -c 0.001 -z -p",
    "PLASTIC": "trees.PLASTIC",
}
MOA_FORESTS = {
    "ARF10": "meta.AdaptiveRandomForest -s 10",
    "SRP10": "meta.StreamingRandomPatches -s 10",
}
BOOSTED = "meta.StreamingGradientBoostedTrees"


def run_moa(options: str, rows: OrderedRows, seed: int, what: str) -> tuple[Result, Floats]:
    """Return what the driver tells, and for each row tested whether it was right and how likely its class was held."""
    with tempfile.TemporaryDirectory() as folder:
        values = Path(folder) / "values.f64"
        result = run_driver("Learners", *write_rows(Path(folder), rows), options, seed, values, what)
        return result, np.fromfile(values, "<f8").reshape(-1, 2)


def write_rows(folder: Path, rows: OrderedRows) -> tuple[object, ...]:
    """Write rows into a folder, and return what drivers are told of them."""
    files = StreamFiles.write(folder / "stream", rows.name, rows.X, rows.y)
    return files.folder, files.rows, files.classes, ",".join(map(str, rows.categories))
