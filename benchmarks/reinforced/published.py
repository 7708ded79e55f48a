"""The sets of the paper: Mushroom, Nursery and electricity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from benchmarks.tables import show
from benchmarks.utility.frontier import IMAGES
from quercus.evaluation import best_policy
from quercus.evaluation.plot import LEARNER, TEXT, new_figure, tidy
from quercus.inquire.purchases import Purchases
from quercus.papers.reinforced.sets import folds, large_classes, load_rows, shuffle
from quercus.papers.utility.splits import Split

_GAMMA, _RIGHT, _WRONG = 0.8, 5.0, -5.0
_FIRST = 1_000
# An error that costs so much more than a question that only accuracy matters, and then the number of questions.
_DEAR = 10_000.0

FORMS: dict[str, Callable[..., Any]] = {
    "paper's form": qc.ReinforcedTree.paper,
    "paper's form, single way": lambda **given: qc.ReinforcedTree.paper(updates="single", **given),
    "paper's rewards, anchored, counts": lambda **given: qc.ReinforcedTree.paper(
        updates="anchored", backup="counts", start="auto", **given
    ),
    "ReinforcedTree()": qc.ReinforcedTree,
}


def _figures(told: Purchases, y: NDArray[Any]) -> list[float]:
    """Return accuracy, return, mean and largest number of questions."""
    right = np.asarray(told.answers) == y
    asked = told.bought.sum(axis=1)
    gained = _GAMMA**asked * np.where(right, _RIGHT, _WRONG)
    return [float(right.mean()), float(gained.mean()), float(asked.mean()), float(asked.max())]


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
    for name, make in FORMS.items():
        found = []
        for run in range(runs):
            mixed = shuffle(rows, run)
            told = make(nominal=mixed.nominal, seed=run, questions=3).buy_and_learn(mixed.X, mixed.y)
            found.append(_figures(Purchases(*(part[_FIRST:] for part in told)), mixed.y[_FIRST:]))
        lines.append(_line(name, found))
        print(*lines[-1], flush=True)
    most = 1 if quick else 3
    best = best_policy((rows.X, rows.y), price_of_error=_DEAR, most=most)
    print(f"\nmushroom, {runs} orders, after the first {_FIRST:,} rows (± 95 % interval)")
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
            for name, make in list(FORMS.items())[::3] + list(FORMS.items())[2:3]:
                found = [_fold(make, part, most, 1 if quick else 5) for part in folds(data, run=0)]
                lines.append(_line(f"at most {most}, {name}", found))
                print(*lines[-1], flush=True)
            greedy = [_greedy(part, most) for part in folds(data, run=0)]
            lines.append(_line(f"at most {most}, greedy batch tree", greedy))
            if most < 6:
                best = best_policy((data.X, data.y), price_of_error=_DEAR, most=most)
                lines.append(
                    [f"at most {most}, the best, in sample", f"{100 * (1 - best.loss):.2f}", "", f"{best.cost:.2f}", ""]
                )
        print(f"\nnursery, {classes} classes, 5 folds (± 95 % interval)")
        print(show(_HEADER, lines), flush=True)


def _fold(make: Callable[..., Any], part: Split, most: int, passes: int) -> list[float]:
    model = make(nominal=part.nominal, questions=most)
    for _ in range(passes):
        model.buy_and_learn(part.X, part.y)
    return _figures(model.purchases(part.X_test), part.y_test)


def _greedy(part: Split, depth: int) -> list[float]:
    """Return the figures of a greedy tree that asks for whole features: information gain, one level per question."""
    node = _grow(part.X.astype(np.int64), part.y, depth)
    answers, asked = [], []
    for row in part.X_test.astype(np.int64):
        at, questions = node, 0
        while isinstance(at, tuple) and row[at[0]] in at[1]:
            questions += 1
            at = at[1][row[at[0]]]
        answers.append(at[2] if isinstance(at, tuple) else at)
        asked.append(questions)
    right, asks = np.array(answers) == part.y_test, np.array(asked)
    gained = _GAMMA**asks * np.where(right, _RIGHT, _WRONG)
    return [float(right.mean()), float(gained.mean()), float(asks.mean()), float(asks.max())]


def _grow(X: NDArray[np.int64], y: NDArray[np.int64], depth: int) -> Any:
    counts = np.bincount(y)
    answer = int(counts.argmax())
    if depth == 0 or counts.max() == len(y):
        return answer
    scores = [_entropy_left(X[:, j], y) for j in range(X.shape[1])]
    best = int(np.argmin(scores))
    if len(np.unique(X[:, best])) < 2:
        return answer
    children = {int(v): _grow(X[X[:, best] == v], y[X[:, best] == v], depth - 1) for v in np.unique(X[:, best])}
    return best, children, answer


def _entropy_left(column: NDArray[np.int64], y: NDArray[np.int64]) -> float:
    table = np.zeros((column.max() + 1, y.max() + 1))
    np.add.at(table, (column, y), 1.0)
    total = table.sum(axis=1, keepdims=True)
    share = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    return float(-(table * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum() / len(y))


def electricity(quick: bool) -> None:
    """Print the stream in its order, by least learning rate."""
    rows = load_rows("electricity")
    X, y = (rows.X[:10_000], rows.y[:10_000]) if quick else (rows.X, rows.y)
    lines = []
    for alpha in (0.0, 0.003, 0.01, 0.03, 0.1):
        for name in ("paper's rewards, anchored, counts", "ReinforcedTree()"):
            told = FORMS[name](nominal=rows.nominal, alpha=alpha).buy_and_learn(X, y)
            lines.append([f"{name}, alpha {alpha:g}", *_line("", [_figures(told, y)])[1:]])
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
            rewards = {"p": (_RIGHT, -wrong), "e": (_RIGHT, _WRONG)}
            model = FORMS["paper's rewards, anchored, counts"](nominal=mixed.nominal, seed=run, rewards=rewards)
            told, y = model.buy_and_learn(mixed.X, mixed.y), mixed.y[_FIRST:]
            answers = np.asarray(told.answers)[_FIRST:]
            asked = told.bought[_FIRST:].sum(axis=1).mean()
            found.append([(answers[y == "p"] == "e").mean(), (answers[y == "e"] == "p").mean(), asked])
        missed, refused, questions = np.mean(found, axis=0)
        points.append((wrong, missed, questions))
        lines.append([f"-{wrong:g}", f"{missed:.2%}", f"{refused:.2%}", f"{questions:.2f}"])
        print(*lines[-1], flush=True)
    print(f"\nmushroom, {runs} orders, after the first {_FIRST:,} rows; reward of calling a poisonous one edible")
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
