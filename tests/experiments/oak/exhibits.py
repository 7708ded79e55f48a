"""Growth of oaks by run; the environment tells a cell to wait, to fail or to die."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from experiments.harness.exhibits import Claim, Exhibit, PageTable, Report, Runs, Study
from experiments.harness.results import show_mean


def cells(scale):
    runs = 2 if scale == "quick" else 5
    return [
        {"data": data, "kind": kind, "run": run} for data in "ab" for kind in ("red", "white") for run in range(runs)
    ]


def measure(cell, seed):
    time.sleep(float(os.environ.get("OAK_WAIT", "0")))
    if os.environ.get("OAK_FAIL") == cell["kind"]:
        raise ValueError(f"{cell['kind']} oaks do not grow here.")
    mark = os.environ.get("OAK_DIE")
    if mark and cell["run"] == 1 and cell["data"] == "b":
        deaths = Path(mark)
        count = len(deaths.read_text()) if deaths.exists() else 0
        if count < int(os.environ["OAK_DEATHS"]):
            deaths.write_text("x" * (count + 1))
            os.kill(os.getpid(), signal.SIGKILL)
    random = np.random.default_rng([seed, len(cell["kind"])])
    return [{"year": year, "height": float(random.random() + year)} for year in range(3)]


def summarize(found):
    heights = {kind: rows.mean("height") for (kind,), rows in found.groups("kind")}
    table = PageTable(["oak", "height"], [[kind, show_mean(result)] for kind, result in heights.items()], "Means.")
    taller = heights["red"][0] > heights["white"][0]
    claim = Claim("Red oaks are taller.", taller, f"`red` {heights['red'][0]:.2f}")
    return Report([table], [claim], "Not real.")


def draw(found, figure):
    axes = figure.subplots()
    for (kind,), rows in found.groups("kind"):
        years, means, errors = rows.curve("year", "height")
        axes.errorbar(years, means, errors, label=kind)


RUNS = Runs("tests.experiments.oak", "growth", cells, measure)
STUDY = Study(
    "tests.experiments.oak",
    "Acorn 2020, Oaks",
    (
        Exhibit("figure", "1", "height by year", RUNS, summarize, draw),
        Exhibit("table", "2", "height", RUNS, summarize),
    ),
    "All of it.",
)
