"""Figure 10: STAGGER by the number of hypotheses, and by how good the prior is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.harness.verdicts import all_hold
from experiments.papers.utility.drifting import EVERY, as_predicates, concept, follow
from experiments.papers.utility.learners import NAMES
from experiments.papers.utility.panels import STYLES, finish, legend, plot
from experiments.papers.utility.stagger import GAMMA, TREES, make_model
from experiments.papers.utility.verdicts import MARGIN, Gap, best_of, by_run, gap

_OBJECTIVES = ("ec2", "ig", "us")
NUMBERS = (1, 2, 3, 5, 7, 9, 16)
QUALITIES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
# So many examples the best prior counts for.
WEIGHT = 10.0
_ENOUGH = 9
_STEP = 6
# What the expert knows, and whether Algorithm 6 falls back to it.
_READINGS = {"first": "of the first concept, at the start", "kept": "of all three concepts, kept by Algorithm 6"}


def _cells(scale: Scale) -> list[Cell]:
    kinds: list[tuple[str, str, float, float]] = []
    for name in _OBJECTIVES:
        kinds += [("hypotheses", name, forget, float(one)) for forget in (GAMMA, 0.0) for one in NUMBERS]
        kinds += [(reading, name, GAMMA, quality) for reading in _READINGS for quality in QUALITIES]
    kinds += [("tree", name, 0.0, 0.0) for name in TREES]
    return [
        {"part": part, "learner": name, "forget": forget, "value": value, "run": run}
        for part, name, forget, value in kinds
        for run in range(3 if scale == "quick" else 10)
    ]


def known_shares(concepts: tuple[int, ...]) -> dict[str, dict[int, dict[str, float]]]:
    """Return how often each predicate holds in each class, as `UtilityTree.add_prior` takes it.

    Parameters
    ----------
    concepts
        Those that are equally likely.

    Examples
    --------
    >>> known_shares((0,))["red"]
    {0: {'yes': 0.25, 'no': 0.75}, 1: {'yes': 1.0, 'no': 0.0}}
    """
    rows = [as_predicates(row) for _ in concepts for row in EVERY]
    labels = np.array([label for number in concepts for label in concept(number)])
    table: dict[str, dict[int, dict[str, float]]] = {}
    for name in rows[0]:
        holds = np.array([row[name] == "yes" for row in rows])
        shares = {label: float(holds[labels == label].mean()) for label in (0, 1)}
        table[name] = {label: {"yes": share, "no": 1.0 - share} for label, share in shares.items()}
    return table


def _measure(cell: Cell, seed: int) -> list[Row]:
    part, value = str(cell["part"]), float(cell["value"])
    changes = {"hypotheses": int(value)} if part == "hypotheses" else {}
    model, see = make_model(str(cell["learner"]), float(cell["forget"]), seed, **changes)
    after: Callable[[Any], None] | None = None
    if part in _READINGS and value > 0:
        table = known_shares((0,) if part == "first" else (0, 1, 2))
        model.add_prior(table, weight=WEIGHT * value)
        if part == "kept":
            after = lambda one: one.add_prior(table, weight=GAMMA * WEIGHT * value)  # noqa: E731
    found = follow(model, see, seed, _STEP, after)
    return [{"utility": float(found[:, 2].mean()), "cost": float(found[:, 1].sum())}]


BY_PRIOR = Runs("papers.utility", "figure-10", _cells, _measure)


def summarize_experts(found: Results) -> Report:
    """Return what the page says of figure 10."""
    tables = []
    for forget, caption in ((GAMMA, "non-stationary"), (0.0, "standard")):
        rows = [
            [
                NAMES[name],
                *(_cell(found.where(part="hypotheses", learner=name, forget=forget, value=one)) for one in NUMBERS),
            ]
            for name in _OBJECTIVES
        ]
        tables.append(
            PageTable(["hypotheses", *map(str, NUMBERS)], rows, f"Mean test utility, {caption} posterior sampling.")
        )
    for reading, words in _READINGS.items():
        rows = [
            [NAMES[name], *(_cell(found.where(part=reading, learner=name, value=one)) for one in QUALITIES)]
            for name in _OBJECTIVES
        ]
        tables.append(
            PageTable(
                ["quality of the prior", *(f"{one:g}" for one in QUALITIES)],
                rows,
                f"Mean test utility with a prior {words}.",
            )
        )
    trees = ", ".join(f"{NAMES[name]} {_cell(found.where(part='tree', learner=name))}" for name in TREES)
    note = (
        "The paper prints no numbers for this figure, and does not say what the best prior is. Here: how often each "
        f"predicate holds in each class, counting for {WEIGHT:g} examples times the quality, beside Beta(1, 1); of the "
        "first concept at the start only, or of all three concepts mixed, with which Algorithm 6 then also mixes what "
        f"is known in every step. With 16 hypotheses there are all. For comparison: {trees}."
    )
    claims = [_grows(found), _saturates(found), *(_prior(found, reading) for reading in _READINGS)]
    return Report(tables, claims, note)


def _cell(rows: Results) -> str:
    return show_mean(rows.mean("utility"))


def _step(found: Results, part: str, learner: str, low: float, high: float, forget: float = GAMMA) -> Gap:
    rows = found.where(part=part, learner=learner, forget=forget)
    return gap(rows.where(value=high), rows.where(value=low), "utility")


def _grows(found: Results) -> Claim:
    first, last = float(NUMBERS[0]), float(NUMBERS[-1])
    result = {
        (name, forget): _step(found, "hypotheses", name, first, last, forget)
        for forget in (GAMMA, 0.0)
        for name in _OBJECTIVES
    }
    seen = [f"{NAMES[name]}{' adaptive' if forget else ''} {value}" for (name, forget), value in result.items()]
    return Claim(
        "With more sampled hypotheses the test utility increases.",
        all_hold(value.is_more for value in result.values()),
        f"from {first:g} to {last:g} hypotheses: {'; '.join(seen)}.",
    )


def _saturates(found: Results) -> Claim:
    result = {
        (name, forget): _step(found, "hypotheses", name, float(NUMBERS[-1]), float(_ENOUGH), forget)
        for forget in (GAMMA, 0.0)
        for name in _OBJECTIVES
    }
    seen = [f"{NAMES[name]}{' adaptive' if forget else ''} {value}" for (name, forget), value in result.items()]
    return Claim(
        f"The test utility saturates early, around {_ENOUGH} hypotheses.",
        all_hold(value.is_close for value in result.values()),
        f"with {_ENOUGH} instead of all, which may be at most {MARGIN:g} worse: {'; '.join(seen)}.",
    )


def _prior(found: Results, reading: str) -> Claim:
    result = {name: _step(found, reading, name, QUALITIES[0], QUALITIES[-1]) for name in _OBJECTIVES}
    tree = best_of(found.where(part="tree"), TREES)
    level = by_run(found.where(part="tree", learner=tree), "utility").mean()
    margins = [
        f"{found.where(part=reading, learner=name, value=QUALITIES[0]).mean('utility')[0] - level:+.3f} to "
        f"{found.where(part=reading, learner=name, value=QUALITIES[-1]).mean('utility')[0] - level:+.3f}"
        for name in _OBJECTIVES
    ]
    return Claim(
        f"As the prior improves ({_READINGS[reading]}), utility increases and surpasses EFDT by a larger margin.",
        all_hold(value.is_more for value in result.values()),
        "from the even to the best prior: "
        + ", ".join(f"{NAMES[name]} {value}" for name, value in result.items())
        + f"; margin to {NAMES[tree]} {', '.join(margins)}.",
    )


def draw_experts(found: Results, figure: Any) -> None:
    """Draw figure 10: two panels by hypotheses, two by prior."""
    panels = figure.subplots(2, 2, sharey=True)
    for axes, forget in zip(panels[0], (GAMMA, 0.0), strict=True):
        for name in _OBJECTIVES:
            rows = found.where(part="hypotheses", learner=name, forget=forget)
            plot(axes, rows, name, "value", "utility", marker="o", markersize=3)
        kind = "non-stationary" if forget else "standard"
        finish(axes, f"(a) {kind} posterior sampling", "sampled hypotheses", "test utility")
    for axes, reading in zip(panels[1], _READINGS, strict=True):
        for name in _OBJECTIVES:
            plot(axes, found.where(part=reading, learner=name), name, "value", "utility", marker="o", markersize=3)
        finish(axes, f"(b) prior {_READINGS[reading]}", "quality of the prior", "test utility")
        for name in TREES:
            color, style = STYLES[name]
            level = found.where(part="tree", learner=name).mean("utility")[0]
            axes.axhline(level, color=color, linestyle=style, linewidth=1.2, label=NAMES[name])
    legend(figure, panels.flat, 5)
