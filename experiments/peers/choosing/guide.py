"""Which learner, when: each choice is the one that the results make."""

from __future__ import annotations

from functools import partial

import numpy as np

from experiments.harness.exhibits import PageTable, Report
from experiments.harness.results import Results
from experiments.peers.choosing.accuracies import micros, middle, show_micros
from experiments.peers.choosing.learners import BATCH, BUYING, FORESTS, RANKED
from experiments.peers.choosing.passes import IN_ORDER, SHUFFLED
from experiments.peers.choosing.ranking import Ranking, mark, rank
from experiments.peers.choosing.scores import STREAMS, compare_all, read_scores, verdict

TREES = tuple(name for name in RANKED if name not in (*FORESTS, *BUYING))
MANY = tuple(name for name in FORESTS if name not in BATCH)
ONLINE = tuple(name for name in RANKED if name not in (*BATCH, *BUYING))


def summarize_guide(found: Results) -> Report:
    """Return what to take, and what was measured of it."""
    ranking = rank(found, SHUFFLED)
    tree, forest = _first(ranking, TREES), _first(ranking, MANY)
    rows = [
        ["one tree that can be read and explained", tree, f"{_place(ranking, tree)}; {_pairs(found, tree, TREES)}"],
        [
            "accuracy first, many trees that learn row by row",
            forest,
            f"{_place(ranking, forest)}; {_pairs(found, forest, MANY)}; {_beside(found, forest, tree)}",
        ],
        ["rows in order of time, neighbours alike", *_in_streams(found)],
        ["probabilities, not only answers", *_by_loss(found)],
        ["least CPU time", *_quickest(found, tree)],
        ["least memory", *_smallest(found, tree)],
        ["features cost money, labels do not", *_buying(found, tree)],
        ["accuracy alone: all rows are kept, and fitting anew now and then will do", *_batch(found, ranking, forest)],
    ]
    columns = ["you need", "take", "measured"]
    caption = (
        "Shuffled sets unless said otherwise, default settings; points are of accuracy, means over sets. Ahead and "
        "behind: by pairs (table 4); of the rest it cannot be told."
    )
    return Report([PageTable(columns, [[need, mark(take), seen] for need, take, seen in rows], caption)])


def _first(ranking: Ranking, among: tuple[str, ...]) -> str:
    return next(name for name in ranking.learners if name in among)


def _place(ranking: Ranking, learner: str) -> str:
    return f"average rank {ranking.ranks[ranking.learners.index(learner)]:.1f} of {len(ranking.learners)} learners"


def _pairs(found: Results, learner: str, among: tuple[str, ...]) -> str:
    others = [name for name in among if name != learner]
    result = [
        verdict(pair) for name, pair in compare_all(read_scores(found, SHUFFLED), learner).items() if name in others
    ]
    kind = "single trees" if among is TREES else "such forests"
    return f"ahead of {result.count('ahead')} of the {len(others)} other {kind}, behind {result.count('behind')}"


def _points(found: Results, one: str, two: str, order: str = SHUFFLED) -> float:
    scores = read_scores(found, order).whole()
    return 100 * float(np.mean(scores.column(one) - scores.column(two)))


def _beside(found: Results, one: str, two: str) -> str:
    """Return points and time of a learner beside another."""
    times = middle(micros(found, one) / micros(found, two))
    return f"{_points(found, one, two):+.1f} points and {times:.2g} times the CPU time of {mark(two)}"


def _in_streams(found: Results) -> tuple[str, str]:
    scores = read_scores(found, IN_ORDER, ONLINE, STREAMS)
    means = dict(zip(ONLINE, 100 * scores.values.mean(axis=0), strict=True))
    best, *others = sorted((name for name in ONLINE if not np.isnan(means[name])), key=lambda name: -means[name])
    rule = 100 * float(read_scores(found, IN_ORDER, ("previous label",), STREAMS).values.mean())
    near = ", ".join(f"{mark(name)} {means[name]:.1f}" for name in others[:3])
    return best, (
        f"{means[best]:.1f} % on {', '.join(STREAMS)} in their order, next {near}; three streams do not tell these "
        f"apart; repeating the label before {rule:.1f}"
    )


def _by_loss(found: Results) -> tuple[str, str]:
    ranking = rank(found, SHUFFLED, "loss", -1)
    best = ranking.learners[0]
    loss = read_scores(found, SHUFFLED, column="loss").whole()
    second = ranking.learners[1]
    return best, (
        f"average rank {ranking.ranks[0]:.1f} by log-loss, mean {np.mean(loss.column(best)):.3f}; next "
        f"{mark(second)}, rank {ranking.ranks[1]:.1f}, mean {np.mean(loss.column(second)):.3f}"
    )


def _quickest(found: Results, tree: str) -> tuple[str, str]:
    best = min(ONLINE, key=lambda name: middle(micros(found, name)))
    own, other = (show_micros(middle(micros(found, name))) for name in (best, tree))
    return best, f"{own} µs a row against {other} of {mark(tree)}, {_points(found, best, tree):+.1f} points"


def _smallest(found: Results, tree: str) -> tuple[str, str]:
    read = partial(read_scores, found, SHUFFLED, column="bytes")
    result = {name: middle(read((name,)).values[:, 0]) / 1e6 for name in ONLINE}
    known = {name: size for name, size in result.items() if size >= 0}
    best = min(known, key=known.__getitem__)
    sizes = f"{known[best]:.2f} MB against {known[tree]:.2f} of {mark(tree)}"
    how = "medians; ours `nbytes`, of others the pickle, MOA not measured"
    return best, f"{sizes} ({how}), {_points(found, best, tree):+.1f} points"


def _buying(found: Results, tree: str) -> tuple[str, str]:
    means = {name: _points(found, name, tree) for name in BUYING}
    best = max(means, key=means.__getitem__)
    result = []
    for name in sorted(BUYING, key=lambda one: -means[one]):
        share = read_scores(found, SHUFFLED, (name,), column="features").values
        share = share / read_scores(found, SHUFFLED, (name,), column="columns").values
        result.append(
            f"{mark(name)} reads {100 * float(np.nanmean(share)):.0f} % of the features, {means[name]:+.1f} points"
        )
    return best, f"{'; '.join(result)} beside {mark(tree)}, which reads all"


def _batch(found: Results, ranking: Ranking, forest: str) -> tuple[str, str]:
    batch = _first(ranking, tuple(BATCH))
    best, other = sorted((batch, forest), key=ranking.learners.index)
    pair = compare_all(read_scores(found, SHUFFLED), best)[other]
    count = f"won-even-lost {pair.won}-{pair.even}-{pair.lost}"
    return (
        best,
        f"{_place(ranking, best)}; against {mark(other)} {count}, {_beside(found, best, other)}; {verdict(pair)}",
    )
