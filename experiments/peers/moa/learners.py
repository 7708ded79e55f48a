"""Classifiers of MOA by their options, in a JVM of their own (Learners.java); the settings are CapyMOA's defaults."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from experiments.harness.data import Floats
from experiments.peers.evergreen.sets import OrderedRows
from experiments.peers.moa.driver import MissingError, compile_driver, find_jar, find_java
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
_DRIVER = Path(__file__).with_name("Learners.java")


def missing_moa() -> str | None:
    """Return what is needed and not there."""
    try:
        find_jar()
        find_java()
    except MissingError as error:
        return str(error)
    return None


def run_moa(options: str, rows: OrderedRows, seed: int, what: str) -> tuple[Result, Floats]:
    """Return what the driver tells, and for each row tested whether it was right and how likely its class was held."""
    command = compile_driver(_DRIVER)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = StreamFiles.write(folder / "stream", rows.name, rows.X, rows.y)
        shape = [files.folder, files.rows, files.classes, ",".join(map(str, rows.categories))]
        call = [*command, *map(str, shape), options, str(seed), str(folder / "told.f64"), what]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{options} on {rows.name}: {done.stderr.strip().splitlines()[0]}")
        told: Result = json.loads(done.stdout.strip().splitlines()[-1])
        return told, np.fromfile(folder / "told.f64", "<f8").reshape(-1, 2)
