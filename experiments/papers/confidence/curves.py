"""Score against leaves: the way of a tuned tree, and what all settings come to, compared at the same leaf counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.results import Results

# Twelve leaf counts, even on a log scale.
PLACES: Floats = np.unique(np.round(np.geomspace(2, 2000, 12))).astype(np.float64)
COLORS = {"C-Tree": "#d55e00", "H-Tree": "#0072b2", "CorrH-Tree": "#009e73"}
MARKERS = {"C-Tree": "x", "H-Tree": "o", "CorrH-Tree": "*"}


class BestSetting(NamedTuple):
    """The setting with which a run scored most: its value, and what it came to.

    Examples
    --------
    >>> BestSetting(0.005, 120.0, 0.8).leaves
    120.0
    """

    setting: float
    leaves: float
    score: float


def ends_of(found: Results) -> Results:
    """Return the lines at the end of the rows, one for each setting.

    Parameters
    ----------
    found
        Lines of `try_settings` of one data set.
    """
    return found.where(rows=int(found["rows"].max()))


def best_of(found: Results) -> BestSetting:
    """Return the best setting of one learner in one run.

    Parameters
    ----------
    found
        Its lines.

    Examples
    --------
    >>> rows = {"setting": [0.1, 0.2, 0.2], "rows": [9, 3, 9], "leaves": [5, 1, 2], "score": [0.6, 0.5, 0.7]}
    >>> best_of(Results({name: np.array(values) for name, values in rows.items()}))
    BestSetting(setting=0.2, leaves=2.0, score=0.7)
    """
    ends = ends_of(found)
    place = int(np.argmax(ends["score"]))
    return BestSetting(*(float(ends[name][place]) for name in ("setting", "leaves", "score")))


def follow_best(found: Results) -> Floats:
    """Return the score of one run's tuned tree when it had `PLACES` leaves, NaN where it never had so many.

    Parameters
    ----------
    found
        Lines of one learner in one run.
    """
    way = found.where(setting=best_of(found).setting)
    order = np.argsort(way["rows"])
    return _read_off(way["leaves"][order], way["score"][order])


def sweep_settings(found: Results) -> Floats:
    """Return the score at the end of one run by the leaves that a setting came to, between settings interpolated.

    Parameters
    ----------
    found
        Lines of one learner in one run.
    """
    ends = ends_of(found)
    order = np.lexsort((ends["score"], ends["leaves"]))
    return _read_off(ends["leaves"][order], ends["score"][order])


def follow_rows(found: Results) -> Floats:
    """Return the score of one run's tuned tree at each number of rows at which it was looked at.

    Parameters
    ----------
    found
        Lines of one learner in one run.
    """
    way = found.where(setting=best_of(found).setting)
    scores: Floats = way["score"][np.argsort(way["rows"])].astype(np.float64)
    return scores


def _read_off(leaves: Any, scores: Any) -> Floats:
    """Interpolate at `PLACES`; of several scores at the same leaf count the last one."""
    known, last = np.unique(np.asarray(leaves)[::-1], return_index=True)
    values = np.asarray(scores, np.float64)[::-1][last]
    read: Floats = np.interp(np.log(PLACES), np.log(known), values, left=np.nan, right=np.nan)
    return read


def read_runs(found: Results, learner: str, read: Callable[[Results], Floats]) -> dict[Any, Floats]:
    """Return curves of a learner by run.

    Parameters
    ----------
    found
        Lines of one data set.
    learner
        Which.
    read
        `follow_best` or `sweep_settings`.
    """
    lines = found.where(learner=learner)
    return {run: read(lines.where(run=run)) for run in lines.unique("run")}


def average(curves: Iterable[Floats]) -> tuple[Floats, Floats]:
    """Return the mean of curves and its standard error, NaN where fewer than half of them have a value.

    Parameters
    ----------
    curves
        Of several runs.

    Examples
    --------
    >>> mean, error = average([np.array([1.0, 2.0, np.nan]), np.array([3.0, 2.0, np.nan])])
    >>> mean.tolist(), error.tolist()
    ([2.0, 2.0, nan], [1.0, 0.0, nan])
    """
    table = np.array(list(curves))
    known = np.sum(~np.isnan(table), axis=0)
    enough = known >= max(2.0, len(table) / 2)
    mean, error = np.full(table.shape[1], np.nan), np.full(table.shape[1], np.nan)
    mean[enough] = np.nanmean(table[:, enough], axis=0)
    error[enough] = np.nanstd(table[:, enough], axis=0, ddof=1) / np.sqrt(known[enough])
    return mean, error


class Lead(NamedTuple):
    """By how much one learner scores more than another at the same leaf counts, over runs.

    Attributes
    ----------
    places
        Mean and standard error at each of `PLACES`.
    mean, error
        Of the runs' means over places.
    """

    places: tuple[Floats, Floats]
    mean: float
    error: float

    @property
    def above(self) -> int:
        """At how many leaf counts it is ahead by more than two standard errors."""
        return int(np.sum(self.places[0] > 2 * self.places[1]))

    @property
    def below(self) -> int:
        """At how many leaf counts it is behind by more than two standard errors."""
        return int(np.sum(self.places[0] < -2 * self.places[1]))

    @property
    def compared(self) -> int:
        """At how many leaf counts there is something to compare."""
        return int(np.sum(~np.isnan(self.places[0])))

    def __str__(self) -> str:
        return (
            f"{self.mean:+.4f} ({self.error:.4f}) on average, ahead at {self.above} and behind at {self.below} of "
            f"{self.compared} leaf counts"
        )


def lead_of(ours: dict[Any, Floats], theirs: dict[Any, Floats]) -> Lead:
    """Return by how much one learner leads another in the runs that both have.

    Parameters
    ----------
    ours, theirs
        Curves by run.

    Examples
    --------
    >>> lead = lead_of({0: np.array([2.0, 3.0]), 1: np.array([3.0, 4.0])}, {0: np.ones(2), 1: np.ones(2)})
    >>> str(lead)
    '+2.0000 (0.5000) on average, ahead at 2 and behind at 0 of 2 leaf counts'
    """
    both = [ours[run] - theirs[run] for run in ours if run in theirs]
    means = np.array([np.nanmean(difference) for difference in both if not np.isnan(difference).all()])
    error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan
    mean = means.mean() if len(means) else np.nan
    return Lead(average(both), float(mean), float(error))


def choose_on_others(found: Results) -> Results:
    """Return for each run what the setting comes to that is best on average over the other runs.

    Parameters
    ----------
    found
        Lines of one learner on one data set.

    Examples
    --------
    >>> rows = {"run": [0, 0, 1, 1], "setting": [1, 2, 1, 2], "rows": [9] * 4, "leaves": [5, 1, 5, 2]}
    >>> lines = Results({name: np.array(values) for name, values in {**rows, "score": [0.6, 0.5, 0.7, 0.8]}.items()})
    >>> choose_on_others(lines)["score"].tolist()
    [0.5, 0.7]
    """
    ends = ends_of(found)
    runs, settings = ends.unique("run"), ends.unique("setting")
    shape = (len(runs), len(settings))
    scores, leaves = (
        np.array([ends.where(run=run)[name] for run in runs]).reshape(shape) for name in ("score", "leaves")
    )
    chosen = [int(np.argmax(np.delete(scores, place, axis=0).mean(axis=0))) for place in range(len(runs))]
    picked = np.arange(len(runs)), np.array(chosen)
    return Results({"run": np.array(runs), "score": scores[picked], "leaves": leaves[picked]})


def draw_curves(axes: Any, found: Results, learners: Iterable[str], read: Callable[[Results], Floats]) -> None:
    """Draw score against leaves, mean over runs and a band of two standard errors, in the marks of the paper.

    Parameters
    ----------
    axes
        Of matplotlib.
    found
        Lines of one data set.
    learners
        Which.
    read
        `follow_best` or `sweep_settings`.
    """
    for learner in learners:
        base = learner.partition(",")[0]
        mean, error = average(read_runs(found, learner, read).values())
        known = ~np.isnan(mean)
        # Curves lie on each other: rings of the one leave the crosses of the other to be seen.
        ring = {"markerfacecolor": "none", "markersize": 9} if base == "H-Tree" else {"markersize": 6}
        style = {"color": COLORS[base], "marker": MARKERS[base], "linewidth": 1.3, "zorder": 3 - (base == "H-Tree")}
        axes.plot(PLACES[known], mean[known], label=learner, **style, **ring)
        low, high = (mean - 2 * error)[known], (mean + 2 * error)[known]
        axes.fill_between(PLACES[known], low, high, color=COLORS[base], alpha=0.12, linewidth=0)
    axes.set_xscale("log")
    ticks = [2, 5, 20, 50, 200, 500, 2000]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xlim(1.7, 2400)
    axes.minorticks_off()
    axes.set_xlabel("leaves")
    axes.spines[["top", "right"]].set_visible(False)
