"""Figure 2: which leaves of a tree are sure of their class, and whether they are right."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from quercus import ConfidenceTree, streams

DATA = "random tree"
C = 0.01
LEARNED = (10_000, 100_000)
_FRESH = 200_000
_DRAWN = 24


def _cells(scale: Scale) -> list[Cell]:
    runs = 5 if scale == "quick" else 50
    return [{"data": DATA, "run": run, "learned": learned} for run in range(runs) for learned in LEARNED]


def _measure(cell: Cell, seed: int) -> list[Row]:
    learned = int(cell["learned"])
    stream = streams.RandomTree(leaves=50, features=5, q=0.7, seed=seed)
    X, y = stream.take(learned + _FRESH)
    tree = ConfidenceTree.paper(c=C).partial_fit(X[:learned], y[:learned])
    places, _ = tree.regions(X[learned:])
    # The true probability of class 1 at each fresh row, known from the generator.
    truth = stream.probabilities[stream.leaf_of(X[learned:])]
    mass = np.bincount(places, minlength=2 * tree.n_leaves_)
    sums = np.bincount(places, weights=truth, minlength=len(mass))
    return [
        _row(node, float(mass[node.id]) / _FRESH, float(sums[node.id]) / max(float(mass[node.id]), 1.0))
        for node in tree.view().nodes
        if node.leaf is not None
    ]


def _row(node: Any, mass: float, truth: float) -> Row:
    low, high = node.leaf.interval
    if int(node.prediction) == 0:
        # The interval is that of the class that the leaf answers.
        low, high = 1.0 - high, 1.0 - low
    return {
        "leaf": int(node.id),
        "labels": int(node.leaf.labels_since_split),
        "low": round(float(low), 4),
        "high": round(float(high), 4),
        "answer": int(node.prediction),
        "is_consistent": bool(node.leaf.consistent),
        "mass": mass,
        "truth": round(truth, 4),
        "is_wrong": bool((truth >= 0.5) != (int(node.prediction) == 1)) and mass > 0,
    }


FIGURE_2 = Runs("papers.confidence", "figure-2", _cells, _measure)


def _mass(found: Results, **match: Any) -> Results:
    """Return the share of the rows in leaves of a kind, for each run."""
    runs = found.unique("run")
    return Results({"mass": np.array([found.where(run=run, **match)["mass"].sum() for run in runs])})


def summarize_leaves(found: Results) -> Report:
    """Return what the page says of the leaves."""
    rows, safe, unsure, seen = [], [], [], []
    for learned in LEARNED:
        part = found.where(learned=learned)
        if len(part) == 0:
            continue
        wrong = _mass(part, is_consistent=True, is_wrong=True).mean("mass")
        doubtful = _mass(part, is_consistent=False, is_wrong=True).mean("mass")
        sure = _mass(part, is_consistent=True).mean("mass")
        safe.append(wrong[0] + 2 * wrong[1] <= 1 / learned)
        unsure.append(doubtful[0] > 2 * doubtful[1])
        seen.append(f"{wrong[0]:.6f} of the rows after {learned:,} labels, delta is {1 / learned:.6f}")
        leaves = Results({"leaves": np.array([len(part.where(run=run)) for run in part.unique("run")])})
        rows.append(
            [
                f"{learned:,}",
                show_mean(leaves.mean("leaves"), 0),
                show_mean(sure),
                f"{wrong[0]:.6f}",
                f"{1 / learned:.6f}",
                show_mean(doubtful),
            ]
        )
    columns = (
        "labels", "leaves", "rows in consistent leaves", "rows answered wrongly by them", "delta",
        "rows answered wrongly by the others",
    )  # fmt: skip
    claims = [
        Claim(
            "A consistent leaf answers otherwise than the optimal classifier with probability at most delta.",
            all(safe) or (False if not any(safe) else None),
            f"wrong and consistent: {'; '.join(seen)}.",
        ),
        Claim(
            "Where the interval holds one half it is not sure that the answer is the optimal one.",
            all(unsure) or (False if not any(unsure) else None),
            "of all rows, leaves that are not consistent answer otherwise than the optimal label of their region: "
            + ", ".join(f"{row[-1]} after {row[0]} labels" for row in rows)
            + ".",
        ),
    ]
    note = (
        "The figure is an illustration without data in the paper. Here it is the leaves of trees on the paper's random "
        f"trees (C-Tree, c {C:g}), with delta 1/t; the true probability of a leaf is the mean over {_FRESH:,} fresh "
        "rows of what the generator knows. A leaf counts the labels since it was made; what it inherits chose the cut "
        "above it, and would void the theorem."
    )
    caption = f"Mean over {len(found.unique('run'))} random trees; optimal is the better label for all of a leaf."
    return Report([PageTable(columns, rows, caption)], claims, note)


def draw_leaves(found: Results, figure: Any) -> None:
    """Draw the interval of each of the largest leaves of a tree."""
    axes = figure.subplots()
    lines = found.where(run=found["run"].min(), learned=LEARNED[-1])
    largest = np.argsort(-lines["mass"], kind="stable")[:_DRAWN]
    order = largest[np.argsort(lines["truth"][largest], kind="stable")]
    known: set[bool] = set()
    for place, row in enumerate(order.tolist()):
        sure = bool(lines["is_consistent"][row])
        low, high = float(lines["low"][row]), float(lines["high"][row])
        label = None if sure in known else "consistent: does not hold 1/2" if sure else "not consistent"
        known.add(sure)
        color = "#0072b2" if sure else "#d55e00"
        axes.plot([place, place], [low, high], color=color, linewidth=3, label=label, solid_capstyle="butt")
        axes.plot([place], [lines["truth"][row]], marker="D", markersize=5, color="#333333", linestyle="none")
    axes.plot([], [], marker="D", markersize=5, color="#333333", linestyle="none", label="true probability")
    axes.axhline(0.5, color="#333333", linestyle=":", linewidth=1)
    axes.set_xlim(-0.6, len(order) - 0.4)
    axes.set_ylim(0, 1)
    axes.set_xticks([])
    axes.set_xlabel(f"the {len(order)} largest leaves of a tree after {LEARNED[-1]:,} labels")
    axes.set_ylabel("probability of class 1: interval of eq. (6)")
    axes.legend(frameon=False, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
