"""Average ranks of all learners with the difference that counts, and pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import PageTable, Report
from experiments.harness.ranks import Friedman, PairTest, average_ranks, critical_difference, friedman
from experiments.harness.results import Results
from experiments.peers.choosing.learners import FOREST, FORESTS, OURS, RANKED, TREE
from experiments.peers.choosing.passes import IN_ORDER, SHUFFLED
from experiments.peers.choosing.scores import FRESH, LEVEL, compare_all, read_scores, verdict

OURS_COLOR, THEIRS_COLOR, GROUP_COLOR = "#0072b2", "#d55e00", "#333333"


class Ranking(NamedTuple):
    """Learners from the best to the worst, by their average rank over sets."""

    learners: list[str]
    ranks: Floats
    sets: int
    least: float
    test: Friedman

    def groups(self) -> list[tuple[int, int]]:
        """Return spans of learners, first to last, whose ranks are closer than what counts; none within another."""
        spans: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = int(np.flatnonzero(self.ranks <= rank + self.least).max())
            if last > first and (not spans or last > spans[-1][1]):
                spans.append((first, last))
        return spans


def rank(found: Results, order: str, column: str = "accuracy", sign: int = 1) -> Ranking:
    """Return the ranking over the sets without a gap; sign -1: less is better."""
    scores = read_scores(found, order, column=column).whole()
    ranks = average_ranks(sign * scores.values)
    places = np.argsort(ranks, kind="stable")
    least = critical_difference(len(ranks), len(scores.sets), LEVEL)
    names = [scores.learners[place] for place in places]
    return Ranking(names, ranks[places], len(scores.sets), least, friedman(sign * scores.values))


def summarize_ranks(found: Results) -> Report:
    """Return average ranks in both orders, and what of them counts."""
    shuffled, in_order = rank(found, SHUFFLED), rank(found, IN_ORDER)
    rows = []
    for learner in shuffled.learners:
        means = [
            f"{100 * np.mean(read_scores(found, order).whole().column(learner)):.1f}" for order in (SHUFFLED, IN_ORDER)
        ]
        ranks = [f"{one.ranks[one.learners.index(learner)]:.1f}" for one in (shuffled, in_order)]
        kind = "forest" if learner in FORESTS else "tree"
        rows.append([mark(learner), kind, ranks[0], means[0], ranks[1], means[1]])
    caption = "Rank 1 is the most accurate of a set; accuracy in per cent, mean over sets. " + " ".join(
        f"{order.capitalize()}: {one.sets} sets, Friedman's chi-squared {one.test.statistic:.0f} "
        f"(p {show_p(one.test.p)}); ranks must be {one.least:.1f} apart to count."
        for order, one in ((SHUFFLED, shuffled), (IN_ORDER, in_order))
    )
    columns = ["learner", "kind", "rank, shuffled", "accuracy", "rank, in order", "accuracy"]
    return Report([PageTable(columns, rows, caption)])


def draw_ranks(found: Results, figure: Any) -> None:
    """Draw ranks from the best to the worst; bars join learners whose ranks do not differ enough to count."""
    panels = figure.subplots(1, 2)
    for axes, order in zip(panels, (SHUFFLED, IN_ORDER), strict=True):
        one = rank(found, order)
        places = np.arange(len(one.learners))
        colors = [OURS_COLOR if name in OURS else THEIRS_COLOR for name in one.learners]
        axes.hlines(places, 1, one.ranks, color="#dddddd", linewidth=1, zorder=1)
        axes.scatter(one.ranks, places, c=colors, s=34, zorder=3)
        for value, place in zip(one.ranks, places, strict=True):
            axes.annotate(f"{value:.1f}", (value, place), (6, 0), textcoords="offset points", va="center", fontsize=8)
        edge = len(one.learners) + 0.6
        for number, (first, last) in enumerate(one.groups()):
            axes.vlines(edge + 0.55 * number, first - 0.25, last + 0.25, color=GROUP_COLOR, linewidth=2.5)
        axes.set_yticks(places, one.learners, fontsize=9)
        for text, color in zip(axes.get_yticklabels(), colors, strict=True):
            text.set_color(color)
        axes.set_ylim(len(places) - 0.4, -1.6)
        axes.hlines(-1.05, 1, 1 + one.least, color=GROUP_COLOR, linewidth=2.5)
        axes.annotate(
            f"difference that counts: {one.least:.1f}",
            (1 + one.least, -1.05),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
        axes.set_xlim(1, edge + 0.55 * len(one.groups()))
        axes.set_xticks(range(1, len(places) + 1, 2))
        axes.set_xlabel(f"average rank over {one.sets} sets")
        axes.set_title(order, fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)


def summarize_pairs(found: Results) -> Report:
    """Return the evergreen tree and forest beside each other learner, set by set."""
    columns = [
        "against", "shuffled: won-even-lost", "median, points", "p", "", "p on fresh sets", "in order: won-even-lost",
        "median, points", "p", "",
    ]  # fmt: skip
    tables = []
    for ours in (TREE, FOREST):
        shuffled = compare_all(read_scores(found, SHUFFLED), ours)
        fresh = compare_all(read_scores(found, SHUFFLED, sets=FRESH), ours)
        in_order = compare_all(read_scores(found, IN_ORDER), ours)
        rows = [
            [mark(name), *_pair(shuffled[name]), show_p(fresh[name].p), *_pair(in_order[name])]
            for name in RANKED
            if name != ours
        ]
        tables.append(PageTable(columns, rows, f"`{ours}` against each other learner."))
    return Report(tables)


def _pair(pair: PairTest) -> list[str]:
    return [f"{pair.won}-{pair.even}-{pair.lost}", f"{100 * pair.median:+.1f}", show_p(pair.p), verdict(pair)]


def show_p(p: float) -> str:
    """Return a probability as text."""
    return "< .001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1"


def mark(learner: str) -> str:
    """Return the name of a learner as pages write it: ours as code."""
    return f"`{learner}`" if learner in OURS else learner
