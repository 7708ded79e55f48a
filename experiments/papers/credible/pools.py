"""Figure 6, what is measured: risk against labels on four data sets, over a grid of deltas.

The paper names Diabetes in its text; the names of the other three stand in the picture only. Taken here are data sets
of the same archive and kind: two classes, numbers as attributes, a few hundred rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import Cell, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.credible.comparing import read_curves
from experiments.papers.credible.real import Method, load_halves

DATA = ("diabetes", "breast_cancer", "ionosphere", "sonar")
SHARES = (0.01, 0.025, 0.05, 0.075, *(float(share) for share in np.round(np.arange(0.1, 1.001, 0.05), 2)))


class PoolSetting(NamedTuple):
    """A learner with its deltas: that of the tree, and that of the active choice; 0 where there is none.

    Examples
    --------
    >>> PoolSetting("active", 0.2, 0.1).method().kind
    'active'
    """

    learner: str
    delta: float = 0.0
    active: float = 0.0

    def method(self) -> Method:
        """Return what learns so."""
        if self.learner == "batch":
            return Method("batch")
        if self.learner == "c4.5":
            return Method("batch", pruned=True)
        if self.learner == "active":
            return Method("active", self.delta, self.active)
        return Method("passive", self.delta, bound=self.learner)


_BATCH = [PoolSetting("c4.5"), PoolSetting("batch")]
# How many cells of a setting, how many runs in each, and the settings.
_GRIDS: dict[Scale, tuple[int, int, list[PoolSetting]]] = {
    "quick": (
        10,
        3,
        [
            *(PoolSetting("credible", delta) for delta in (0.1, 0.15, 0.2, 0.3)),
            *(PoolSetting("active", delta, bound) for delta in (0.1, 0.2) for bound in (0.1, 0.3)),
            *(PoolSetting("hoeffding", delta) for delta in (1e-5, 1e-4, 1e-3, 0.01)),
            *_BATCH,
        ],
    ),
    "full": (
        25,
        40,
        [
            *(PoolSetting("credible", delta) for delta in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)),
            *(PoolSetting("active", delta, bound) for delta in (0.1, 0.2, 0.3) for bound in (0.02, 0.1, 0.3)),
            *(PoolSetting("hoeffding", delta) for delta in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.3)),
            *_BATCH,
        ],
    ),
}


def _cells(scale: Scale) -> list[Cell]:
    cells, runs, settings = _GRIDS[scale]
    return [
        {"data": data, **setting._asdict(), "run": run, "runs": runs}
        for data in DATA
        for setting in settings
        for run in range(cells)
    ]


def _measure(cell: Cell, seed: int) -> list[Row]:
    method = PoolSetting(str(cell["learner"]), float(cell["delta"]), float(cell["active"])).method()
    halves = [load_halves(str(cell["data"]), run, seed) for run in range(int(cell["runs"]))]
    found = np.array([method.follow(half, SHARES) for half in halves])
    risks, leaves = np.moveaxis(found.mean(axis=0), 1, 0).tolist()
    # From one checkpoint to the next, how far a curve that falls evenly would not go: what is noise in single runs.
    bends = np.abs(np.diff(found[:, :, 0], n=2, axis=1)).mean(axis=0).tolist()
    return [
        {"share": share, "labels": labels, "risk": risk, "leaves": leaf, "bend": bend}
        for share, labels, risk, leaf, bend in zip(
            SHARES, halves[0].counts(SHARES), risks, leaves, [0.0, *bends, 0.0], strict=True
        )
    ]


FIGURE_6 = Runs("papers.credible", "figure-6", _cells, _measure)


class Curves:
    """What was found on the four sets, and which deltas are taken.

    Parameters
    ----------
    found
        All lines.

    Attributes
    ----------
    sets
        Names of the data sets.
    shares
        Of the pool that are labelled, at the checkpoints.
    runs
        Repetitions on each set.
    """

    def __init__(self, found: Results) -> None:
        self.sets: list[str] = found.unique("data")
        self.shares = np.array(found.unique("share"), np.float64)
        self.runs = sum(cell["runs"][0] for _, cell in found.where(data=self.sets[0], learner="batch").groups("run"))
        self.labels = {name: found.where(data=name)["labels"][: len(self.shares)] for name in self.sets}
        self._read = {
            (name, column): read_curves(rows, column, "share", "learner", "delta", "active")
            for (name,), rows in found.groups("data")
            for column in ("risk", "leaves", "bend")
        }

    def risk(self, name: str, setting: PoolSetting) -> Floats:
        """Return risks, a row for each repetition, a column for each checkpoint."""
        return self._read[name, "risk"][tuple(setting)]

    def column(self, name: str, setting: PoolSetting, column: str) -> Floats:
        """Return another column in the same way: ``"leaves"`` or ``"bend"``."""
        return self._read[name, column][tuple(setting)]

    def at(self, share: float) -> int:
        """Return the place of a share of the pool among the checkpoints."""
        return int(np.argmin(np.abs(self.shares - share)))

    def tuned(self, name: str, learner: str) -> PoolSetting:
        """Return the setting of least mean risk on this very set, as in the paper."""
        areas = self._areas(name, learner)
        return min(areas, key=lambda setting: areas[setting])

    def fair(self, name: str, learner: str) -> PoolSetting:
        """Return the setting of least mean risk on the other sets, each compared with its best."""
        others = [self._areas(other, learner) for other in self.sets if other != name]
        return min(others[0], key=lambda setting: sum(areas[setting] / min(areas.values()) for areas in others))

    def _areas(self, name: str, learner: str) -> dict[PoolSetting, float]:
        """Return the mean risk of each setting over the run, all parts of it counted alike."""
        read = {PoolSetting(*key): risks for key, risks in self._read[name, "risk"].items() if key[0] == learner}
        span = self.shares[-1] - self.shares[0]
        return {key: float(np.trapezoid(risks.mean(axis=0), self.shares) / span) for key, risks in read.items()}
