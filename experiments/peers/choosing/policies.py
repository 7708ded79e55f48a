"""A tenth of the labels: what each policy of asking buys."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import PageTable, Report
from experiments.harness.results import Results
from experiments.peers.choosing.labels import ALL, BAYES, BUDGET, CONTENDERS, EVERGREEN, HOEFFDING, SETS, THEIRS
from experiments.peers.choosing.ranking import OURS_COLOR, THEIRS_COLOR, mark

Key = tuple[str, str, str]
LEARNERS = (EVERGREEN, HOEFFDING, BAYES)
_NAMES = {"quercus": "", "scikit-activeml": "scikit-activeml "}
# What each policy is measured against: labels drawn by chance for the same learner.
RANDOM = "Random"


class Bought(NamedTuple):
    """Accuracy set by set (means over runs), labels and milliseconds a row."""

    accuracy: Floats
    labels: float
    millis: float


def read_bought(found: Results, key: Key) -> Bought | None:
    """Return what a policy bought for a learner, None if it could not be run."""
    learner, by, policy = key
    lines = found.where(learner=learner, by=by, policy=policy)
    if len(lines) == 0 or any(lines["problem"].tolist()):
        return None
    accuracy = np.array([lines.where(data=name).mean("accuracy")[0] for name in SETS])
    rows = lines["rows"].sum()
    return Bought(accuracy, float(lines["labels"].sum() / rows), float(1e3 * lines["seconds"].sum() / rows))


def gain(found: Results, key: Key, other: Key) -> tuple[float, float]:
    """Return what one is ahead of another, in points: the mean over sets and its standard error."""
    one, two = read_bought(found, key), read_bought(found, other)
    if one is None or two is None:
        return float("nan"), float("nan")
    points = 100 * (one.accuracy - two.accuracy)
    return float(points.mean()), float(points.std(ddof=1) / np.sqrt(len(points)))


def show_gain(result: tuple[float, float]) -> str:
    """Return points and their standard error."""
    return "" if np.isnan(result[0]) else f"{result[0]:+.1f} ({result[1]:.1f})"


def summarize_policies(found: Results) -> Report:
    """Return all learners and policies, set by set."""
    rows = []
    for key in sorted(CONTENDERS, key=lambda key: LEARNERS.index(key[0])):
        learner, by, policy = key
        result = read_bought(found, key)
        name = [mark_learner(learner), f"{_NAMES[by]}{mark_policy(policy)}"]
        if result is None:
            problem = found.where(learner=learner, by=by, policy=policy)["problem"].tolist()[0]
            rows.append([*name, f"gap: {problem}", *[""] * (3 + len(SETS))])
            continue
        base = "" if policy in (ALL, RANDOM) else show_gain(gain(found, key, (learner, "quercus", RANDOM)))
        mean = 100 * float(result.accuracy.mean())
        figures = [f"{100 * value:.1f}" for value in result.accuracy]
        rows.append([*name, f"{100 * result.labels:.1f}", f"{result.millis:.2f}", f"{mean:.1f}", base, *figures])
    lines = found.where(learner=EVERGREEN, policy=ALL)
    runs = len(found.unique("run"))
    columns = ["learner", "policy", "labels paid, %", "CPU ms a row", "accuracy", "over `Random`", *SETS]
    caption = (
        f"Budget {BUDGET:.0%} of the labels, {int(lines['rows'].min()):,} to {int(lines['rows'].max()):,} rows a set, "
        f"shuffled, {runs} order{'s' if runs > 1 else ''} each; accuracy over all rows in per cent. Over `Random`: "
        "points over labels that are drawn by chance for the same learner, mean over sets (standard error)."
    )
    return Report([PageTable(columns, rows, caption)])


def mark_policy(policy: str) -> str:
    """Return the name of a policy as pages write it."""
    name, comma, more = policy.partition(",")
    return policy if policy == ALL else f"`{name}`{comma}{more}"


def mark_learner(learner: str) -> str:
    """Return the name of a learner as pages write it."""
    return "scikit-learn GaussianNB" if learner == BAYES else mark(learner)


def draw_policies(found: Results, figure: Any) -> None:
    """Draw what policies gain over labels drawn by chance, learner by learner."""
    keys = {name: [key for key in CONTENDERS if key[0] == name and key[2] not in (ALL, RANDOM)] for name in LEARNERS}
    sizes = [len(keys[name]) for name in LEARNERS]
    panels = figure.subplots(3, 1, sharex=True, height_ratios=sizes)
    for axes, learner in zip(panels, LEARNERS, strict=True):
        result = [gain(found, key, (learner, "quercus", RANDOM)) for key in keys[learner]]
        names = [f"{_NAMES[key[1]]}{key[2]}" for key in keys[learner]]
        colors = [OURS_COLOR if key[1] == "quercus" else THEIRS_COLOR for key in keys[learner]]
        for place, ((mean, error), color) in enumerate(zip(result, colors, strict=True)):
            axes.errorbar(mean, place, xerr=2 * error, fmt="o", color=color, capsize=3, markersize=5)
        axes.axvline(0, color="#333333", linewidth=1, linestyle=":")
        axes.set_yticks(range(len(names)), names, fontsize=9)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_title(learner, fontsize=10, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("points of accuracy over labels drawn by chance; bars: two standard errors over sets", fontsize=10)


def summarize_advice(found: Results) -> Report:
    """Return which policy for which learner, by what was measured."""
    rows = []
    for learner in LEARNERS:
        own = [key for key in CONTENDERS if key[0] == learner and key[1] == "quercus" and key[2] != ALL]
        theirs = [(learner, "scikit-activeml", policy) for policy in THEIRS]
        best, rival = _best(found, own), _best(found, theirs)
        if best is None:
            continue
        base = (learner, "quercus", RANDOM)
        full, spent = read_bought(found, (learner, "quercus", ALL)), read_bought(found, best)
        assert full is not None
        assert spent is not None
        lost = 100 * float((full.accuracy - spent.accuracy).mean())
        over = "" if best == base else f"{show_gain(gain(found, best, base))} points over `Random`; "
        rows.append(
            [
                mark_learner(learner),
                mark_policy(best[2]),
                f"{over}{lost:.1f} points below all labels, for {100 * spent.labels:.0f} % of them",
                "not run" if rival is None else _beside(found, best, rival),
            ]
        )
    columns = ["learner", "policy of ours that did best", "which was", "the best of scikit-activeml's beside it"]
    caption = (
        "Means over sets, standard errors in brackets; what is within two of them cannot be told from nothing. The "
        "best of several is picked after the fact, which flatters it."
    )
    return Report([PageTable(columns, rows, caption)])


def _beside(found: Results, ours: Key, theirs: Key) -> str:
    result, rival = gain(found, ours, theirs), read_bought(found, theirs)
    assert rival is not None
    better = "ours is ahead by" if result[0] > 0 else "it is ahead by"
    points = f"{abs(result[0]):.1f} ({result[1]:.1f})"
    return f"{mark_policy(theirs[2])}, for {100 * rival.labels:.0f} % of the labels: {better} {points} points"


def _best(found: Results, keys: list[Key]) -> Key | None:
    means = {key: result.accuracy.mean() for key in keys if (result := read_bought(found, key)) is not None}
    return max(means, key=means.__getitem__) if means else None
