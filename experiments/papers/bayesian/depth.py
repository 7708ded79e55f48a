"""The runs of figure 4: parts of bodies in depth images, pixel by pixel, every node with offsets of its own.

The paper draws 100 offsets for each node. Here a run draws 2,000, of which every node takes 100 at random: the offsets
of a node are as random as the paper's, and two nodes have 5 of them in common on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import quercus as qc
from experiments.harness.data import Floats
from experiments.harness.exhibits import Cell, Row, Runs, Scale, derive_seed
from experiments.papers.bayesian.bodies import PARTS, draw_bodies
from experiments.papers.bayesian.contenders import BatchForest, MondrianForest
from experiments.papers.bayesian.images import DepthImage
from experiments.papers.bayesian.offsets import draw_offsets
from experiments.papers.bayesian.pixels import Exam, cut_at, stream_pixels

OFFSETS, PER_NODE = 2_000, 100
# Columns that rivals get, and rows at most: they would take too long with all.
RIVAL_OFFSETS, _RIVAL_ROWS = 200, 100_000
HEIGHT, WIDTH = 120, 160
RIVALS = {"AMF": 10, "RF": 25}
# Forests: letter, depth, trees.
FORESTS = (("BOF-S", 7, 8), ("BOF-S", 7, 3), ("BOF-SD", 7, 8), ("BOF-S", 8, 8), ("BOF-S", 8, 3), ("BOF-SD", 8, 8))
_QUICK_FORESTS = FORESTS[:4]


class DepthPlan(NamedTuple):
    """Images to learn from and to test on, pixels of each part per image, and the rows after which it is tested."""

    learned: int
    tested: int
    per_part: int
    stops: tuple[int, ...]
    runs: int


_FULL_STOPS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 1_500_000)
PLANS: dict[str, DepthPlan] = {
    "quick": DepthPlan(20, 4, 5, (100, 200, 400, 800, 1_500), 2),
    "full": DepthPlan(2_000, 500, 50, _FULL_STOPS, 1),
}


def depth_cells(scale: Scale) -> list[Cell]:
    """Return what is measured: learners by depth and trees, and runs."""
    learners: list[tuple[str, int, int]] = [*(_QUICK_FORESTS if scale == "quick" else FORESTS)]
    learners += [(name, 0, trees) for name, trees in RIVALS.items()]
    return [
        {"data": "bodies", "plan": scale, "learner": learner, "depth": depth, "trees": trees, "run": run}
        for run in range(PLANS[scale].runs)
        for learner, depth, trees in learners
    ]


def measure_depth(cell: Cell, seed: int) -> list[Row]:
    """Return the accuracy on all pixels of the test bodies after each checkpoint, and the bytes of the model.

    Parameters
    ----------
    cell
        As from `depth_cells`.
    seed
        Of images, pixels, offsets and learner.
    """
    plan = PLANS[str(cell["plan"])]
    learned = draw_bodies(plan.learned, HEIGHT, WIDTH, derive_seed("learned", seed))
    tested = draw_bodies(plan.tested, HEIGHT, WIDTH, derive_seed("tested", seed))
    offsets = draw_offsets(OFFSETS, seed)
    learner, trees = str(cell["learner"]), int(cell["trees"])
    if learner not in RIVALS:
        model = make_forest(int(cell["depth"]), trees, learner.endswith("D"), seed)
        return follow_images(model, learned, tested, offsets, plan, seed)
    rival = {"AMF": MondrianForest, "RF": BatchForest}[learner](trees, seed)
    less = plan._replace(stops=tuple(stop for stop in plan.stops if stop <= _RIVAL_ROWS))
    return follow_images(rival, learned, tested, offsets[:RIVAL_OFFSETS], less, seed)


def make_forest(depth: int, trees: int, diagonal: bool, seed: int, per_node: int = PER_NODE) -> qc.BayesianForest:
    """Return a forest for pixels: every node sees some offsets of all, answers are those of one path.

    Parameters
    ----------
    depth, trees
        Of the forest.
    diagonal
        Whether it keeps variances only.
    seed
        Of the forest.
    per_node
        Offsets that a node sees.

    Examples
    --------
    >>> make_forest(3, 2, diagonal=True, seed=0, per_node=10)
    BayesianForest(covariance='diagonal', depth=3, inference='path', max_bytes=2147483648, subset=10, trees=2)
    """
    covariance = "diagonal" if diagonal else "full"
    return qc.BayesianForest(
        trees=trees,
        depth=depth,
        covariance=covariance,
        subset=per_node,
        inference="path",
        max_bytes=2**31,
        seed=seed,
    )


def follow_images(
    model: Any,
    learned: Sequence[DepthImage],
    tested: Sequence[DepthImage],
    offsets: Floats,
    plan: DepthPlan,
    seed: int,
) -> list[Row]:
    """Return the accuracy of a learner after each checkpoint: figure 4 for any images, such as those of `read_images`.

    Parameters
    ----------
    model
        A new one: a forest of ours, whose bytes are told too, or a rival.
    learned, tested
        Images.
    offsets
        Of all nodes.
    plan
        How it is done.
    seed
        Of the pixels.

    Examples
    --------
    >>> bodies, plan = draw_bodies(3, 30, 40, seed=0), DepthPlan(2, 1, 2, (20, 40), 1)
    >>> forest = make_forest(3, 1, diagonal=True, seed=0, per_node=10)
    >>> lines = follow_images(forest, bodies[:2], bodies[2:], draw_offsets(20, seed=0), plan, seed=0)
    >>> [line["rows"] for line in lines], lines[0]["bytes"] > lines[0]["frozen"] > 0
    ([20, 40], True)
    """
    found: list[Row] = []
    exam = Exam(tested, offsets)
    for part, stop in cut_at(stream_pixels(learned, offsets, plan.per_part, seed), plan.stops):
        model.partial_fit(part.X, part.y, classes=np.arange(len(PARTS)))
        if stop:
            right, total = exam.grade(model.predict)
            ours = isinstance(model, qc.BayesianForest)
            size, frozen = (model.nbytes, model.freeze().nbytes) if ours else (0, 0)
            line = {"rows": stop, "accuracy": right / total, "pixels": total, "bytes": size, "frozen": frozen}
            found.append(line)
    return found


FIGURE_4 = Runs("papers.bayesian", "figure-4", depth_cells, measure_depth)
