"""The sets of the paper: Mushroom, Nursery and electricity."""

from __future__ import annotations

import numpy as np

from benchmarks.tables import show
from benchmarks.utility.frontier import IMAGES
from quercus.evaluation import best_policy
from quercus.evaluation.plot import LEARNER, TEXT, new_figure, tidy
from quercus.papers.reinforced.forms import FAIR, OURS, PAPER, RIGHT, SINGLE, WRONG, make_tree
from quercus.papers.reinforced.greedy import answer_rows, grow_greedily
from quercus.papers.reinforced.measures import Answered, score
from quercus.papers.reinforced.mushroom import DEAR, FIRST
from quercus.papers.reinforced.sets import folds, large_classes, load_rows, shuffle
from quercus.papers.utility.splits import Split


def _line(name: str, found: list[list[float]]) -> list[str]:
    """Return means over runs, with the half-width of a 95 % interval of the first."""
    values = np.array(found)
    half = 1.96 * values[:, 0].std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    mean = values.mean(axis=0)
    return [
        name,
        f"{100 * mean[0]:.2f} ± {100 * half:.2f}",
        *(f"{value:.2f}" for value in mean[1:-1]),
        f"{mean[-1]:.1f}",
    ]


_HEADER = ["", "accuracy %", "return", "questions", "most"]


def mushroom(quick: bool) -> None:
    """Print what comes after the first 1,000 rows."""
    rows, runs = load_rows("mushroom"), 5 if quick else 50
    lines = []
    for form in (PAPER, SINGLE, FAIR, OURS):
        found = []
        for run in range(runs):
            mixed = shuffle(rows, run)
            tree = make_tree(form, nominal=mixed.nominal, seed=run, questions=3)
            told = score(tree.buy_and_learn(mixed.X, mixed.y), mixed.y)
            found.append(Answered(told.right[FIRST:], told.asked[FIRST:]).figures())
        lines.append(_line(form, found))
        print(*lines[-1], flush=True)
    most = 1 if quick else 3
    best = best_policy((rows.X, rows.y), price_of_error=DEAR, most=most)
    print(f"\nmushroom, {runs} orders, after the first {FIRST:,} rows (± 95 % interval)")
    print(show(_HEADER, lines))
    print(
        f"the best tree of at most {1 if quick else 3} questions: {1 - best.loss:.2%}, {best.cost:.2f} questions",
        flush=True,
    )


def nursery(quick: bool) -> None:
    """Print five folds for both sets of classes and each limit."""
    rows = load_rows("nursery")
    for classes, data in ((5, rows), (3, large_classes(rows))):
        lines = []
        for most in (2, 3) if quick else (2, 3, 4, 6):
            for form in (PAPER, OURS, FAIR):
                found = [_fold(form, part, most, 1 if quick else 5) for part in folds(data, run=0)]
                lines.append(_line(f"at most {most}, {form}", found))
                print(*lines[-1], flush=True)
            for name, collapse in (("greedy batch tree", False), ("greedy batch tree, collapsed", True)):
                greedy = [_greedy(part, most, collapse) for part in folds(data, run=0)]
                lines.append(_line(f"at most {most}, {name}", greedy))
            if most < 6:
                best = best_policy((data.X, data.y), price_of_error=DEAR, most=most)
                lines.append(
                    [f"at most {most}, the best, in sample", f"{100 * (1 - best.loss):.2f}", "", f"{best.cost:.2f}", ""]
                )
        print(f"\nnursery, {classes} classes, 5 folds (± 95 % interval)")
        print(show(_HEADER, lines), flush=True)


def _fold(form: str, part: Split, most: int, passes: int) -> list[float]:
    tree = make_tree(form, nominal=part.nominal, questions=most)
    for _ in range(passes):
        tree.buy_and_learn(part.X, part.y)
    return score(tree.purchases(part.X_test), part.y_test).figures()


def _greedy(part: Split, depth: int, collapse: bool) -> list[float]:
    """Return the figures of a greedy tree; collapsed: without questions that make no row right."""
    root = grow_greedily(part.X, part.y, depth, collapse=collapse)
    return answer_rows(root, part.X_test, part.y_test).figures()


def electricity(quick: bool) -> None:
    """Print the stream in its order, by least learning rate."""
    rows = load_rows("electricity")
    X, y = (rows.X[:10_000], rows.y[:10_000]) if quick else (rows.X, rows.y)
    lines = []
    for alpha in (0.0, 0.003, 0.01, 0.03, 0.1):
        for form in (FAIR, OURS):
            told = make_tree(form, nominal=rows.nominal, alpha=alpha).buy_and_learn(X, y)
            lines.append([f"{form}, alpha {alpha:g}", *_line("", [score(told, y).figures()])[1:]])
            print(*lines[-1], flush=True)
    lines.append(["previous label", f"{100 * np.mean(y[1:] == y[:-1]):.2f}", "", "0.00", "0"])
    print(f"\nelectricity, {len(y):,} rows as they came")
    print(show(_HEADER, lines), flush=True)


def poison(quick: bool) -> None:
    """Print and draw how often a poisonous mushroom is called edible, by what that costs."""
    rows, runs = load_rows("mushroom"), 3 if quick else 20
    lines, points = [], []
    for wrong in (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0):
        found = []
        for run in range(runs):
            mixed = shuffle(rows, run)
            rewards = {"p": (RIGHT, -wrong), "e": (RIGHT, WRONG)}
            tree = make_tree(FAIR, nominal=mixed.nominal, seed=run, rewards=rewards)
            told, y = tree.buy_and_learn(mixed.X, mixed.y), mixed.y[FIRST:]
            answers = np.asarray(told.answers)[FIRST:]
            asked = told.bought[FIRST:].sum(axis=1).mean()
            found.append([(answers[y == "p"] == "e").mean(), (answers[y == "e"] == "p").mean(), asked])
        missed, refused, questions = np.mean(found, axis=0)
        points.append((wrong, missed, questions))
        lines.append([f"-{wrong:g}", f"{missed:.2%}", f"{refused:.2%}", f"{questions:.2f}"])
        print(*lines[-1], flush=True)
    print(f"\nmushroom, {runs} orders, after the first {FIRST:,} rows; reward of calling a poisonous one edible")
    print(show(["", "poisonous called edible", "edible called poisonous", "questions"], lines), flush=True)
    if not quick:
        _draw(points)


def _draw(points: list[tuple[float, float, float]]) -> None:
    figure = new_figure()
    figure.set_size_inches(6.5, 4)
    axes = figure.add_subplot()
    costs, missed, questions = np.array(points).T
    axes.plot(questions, 100 * missed, color=LEARNER, marker="o")
    for cost, x, y in zip(costs, questions, 100 * missed, strict=True):
        axes.annotate(f"-{cost:g}", (x, y), textcoords="offset points", xytext=(6, 5), color=TEXT, fontsize=9)
    axes.set_xlabel("questions per mushroom", color=TEXT)
    axes.set_ylabel("poisonous ones called edible, %", color=TEXT)
    axes.set_ylim(bottom=0)
    tidy(axes)
    figure.savefig(IMAGES / "reinforced-poison.png")
