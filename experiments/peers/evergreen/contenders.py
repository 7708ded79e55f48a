"""Who is compared, and how each learns and answers: a pass over a stream, or tests of what was learned so far."""

from __future__ import annotations

import copy
import importlib.util
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from experiments.harness.data import Floats
from experiments.peers.evergreen.sets import OrderedRows
from experiments.peers.moa.driver import missing_moa
from experiments.peers.moa.learners import BOOSTED, MOA_FORESTS, MOA_TREES, run_moa
from experiments.peers.stream_files import as_dicts
from quercus.evaluation.facts import leaves_of

# No answer counts as less likely than this.
_LEAST = 1e-6
# Rows whose dicts are made at a time, while river's clock stands still.
_BLOCK = 5_000
_LEAF_SIZES, _PRUNINGS = (1, 5, 20), (0.0, 1e-4, 3e-4, 1e-3, 3e-3)


class TestSpan(NamedTuple):
    """A test: how many rows are learned first, and the rows that are then answered, from first to before last."""

    learned: int
    first: int
    last: int


class Score(NamedTuple):
    """Accuracy and mean log-loss."""

    accuracy: float
    loss: float


class Pass(NamedTuple):
    """A test-then-learn pass: each row right or not, its log-loss; CPU and wall seconds, leaves and bytes if known."""

    right: NDArray[np.bool_]
    losses: Floats
    seconds: float
    wall: float
    leaves: int | None
    nbytes: int | None

    def score(self, rows: int | None = None) -> Score:
        """Return accuracy and log-loss of the first rows, None: of all."""
        return Score(float(self.right[:rows].mean()), float(self.losses[:rows].mean()))


# A pass over rows with a seed; tests with a seed.
Passing = Callable[[OrderedRows, int], Pass]
Testing = Callable[[OrderedRows, Sequence[TestSpan], int], list[Score]]


class Contender(NamedTuple):
    """What a learner does, or why it is not there (`problem`)."""

    go: Passing | None = None
    test: Testing | None = None
    problem: str | None = None


def losses(likely: Any) -> Floats:
    """Return the log-losses of the probabilities that the truth was given."""
    return -np.log(np.maximum(np.nan_to_num(np.asarray(likely, np.float64)), _LEAST))


def pass_ours(make: Callable[..., Any], rows: OrderedRows, seed: int) -> Pass:
    # Compiled code is loaded here.
    make(nominal=rows.nominal, seed=seed).test_then_learn(rows.X[:300], rows.y[:300])
    model = make(nominal=rows.nominal, seed=seed)
    wall, start = time.perf_counter(), time.process_time()
    outcome = model.test_then_learn(rows.X, rows.y)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    likely = outcome.proba[np.arange(len(rows.y)), outcome.truth]
    return Pass(outcome.answers == outcome.truth, losses(likely), seconds, wall, leaves_of(model), int(model.nbytes))


def test_ours(make: Callable[..., Any], rows: OrderedRows, spans: Sequence[TestSpan], seed: int) -> list[Score]:
    model = make(nominal=rows.nominal, seed=seed)
    done, found = 0, []
    for span in spans:
        model.partial_fit(rows.X[done : span.learned], rows.y[done : span.learned])
        done = span.learned
        found.append(score_ours(model, rows, span))
    return found


def score_ours(model: Any, rows: OrderedRows, span: TestSpan) -> Score:
    """Return what a learner's answers are worth; one that can grows anew for that, and itself stays as it is."""
    if hasattr(model, "regrow") and "regrow" not in model._ablate:
        model = copy.deepcopy(model)
        model.regrow()
    X, y = rows.X[span.first : span.last], rows.y[span.first : span.last]
    return score_table(model.predict_proba(X), np.asarray(model.predict(X)), np.asarray(model.classes_), y)


def score_table(proba: Any, answers: Any, classes: Any, y: Any) -> Score:
    """Return accuracy and log-loss; a class that was never met has no column and no probability."""
    place = {int(label): k for k, label in enumerate(classes)}
    columns = np.array([place.get(int(label), -1) for label in y])
    likely = np.where(columns >= 0, proba[np.arange(len(y)), columns], 0.0)
    return Score(float(np.mean(answers == y)), float(losses(likely).mean()))


def make_river(name: str, rows: OrderedRows, seed: int) -> Any:
    from river import forest, tree

    nominal = [f"x{j}" for j in rows.nominal] or None
    if name == "HoeffdingTree":
        return tree.HoeffdingTreeClassifier(nominal_attributes=nominal)
    if name == "EFDT":
        return tree.ExtremelyFastDecisionTreeClassifier(nominal_attributes=nominal)
    if name == "ARF10":
        return forest.ARFClassifier(n_models=10, nominal_attributes=nominal, seed=seed)
    # It knows numbers only, and reads codes of categories as such.
    return forest.AMFClassifier(n_estimators=10, seed=seed)


def answer_river(model: Any, x: dict[str, float], label: int) -> tuple[bool, float]:
    votes = model.predict_proba_one(x)
    total = sum(votes.values())
    if not total > 0:
        return False, 0.0
    return max(votes, key=votes.__getitem__) == label, votes.get(label, 0.0) / total


def pass_river(name: str, rows: OrderedRows, seed: int) -> Pass:
    model = make_river(name, rows, seed)
    found = drive_river(model, rows)
    # Its trees estimate their size only now and then, and a forest not at all.
    return found._replace(leaves=int(model.n_leaves)) if name == "HoeffdingTree" else found


def drive_river(model: Any, rows: OrderedRows) -> Pass:
    """Take a classifier of river through the rows."""
    found: list[tuple[bool, float]] = []
    seconds = wall = 0.0
    for first in range(0, len(rows.y), _BLOCK):
        block, labels = as_dicts(rows.X[first : first + _BLOCK]), rows.y[first : first + _BLOCK].tolist()
        began, start = time.perf_counter(), time.process_time()
        for x, label in zip(block, labels, strict=True):
            found.append(answer_river(model, x, label))
            model.learn_one(x, label)
        seconds += time.process_time() - start
        wall += time.perf_counter() - began
    right, likely = zip(*found, strict=True)
    return Pass(np.array(right), losses(likely), seconds, wall, None, None)


def test_river(name: str, rows: OrderedRows, spans: Sequence[TestSpan], seed: int) -> list[Score]:
    model = make_river(name, rows, seed)
    done, found = 0, []
    for span in spans:
        for x, label in zip(as_dicts(rows.X[done : span.learned]), rows.y[done : span.learned].tolist(), strict=True):
            model.learn_one(x, label)
        done = span.learned
        tested = rows.y[span.first : span.last].tolist()
        result = [
            answer_river(model, x, label)
            for x, label in zip(as_dicts(rows.X[span.first : span.last]), tested, strict=True)
        ]
        right, likely = zip(*result, strict=True)
        found.append(Score(float(np.mean(right)), float(losses(likely).mean())))
    return found


def pass_moa(options: str, rows: OrderedRows, seed: int) -> Pass:
    result, values = run_moa(options, rows, seed, "pass")
    return Pass(values[:, 0] > 0, losses(values[:, 1]), result["seconds"], result["seconds"], result["leaves"], None)


def test_moa(options: str, rows: OrderedRows, spans: Sequence[TestSpan], seed: int) -> list[Score]:
    tests = ",".join(f"{span.learned}:{span.first}:{span.last}" for span in spans)
    _, values = run_moa(options, rows.first(max(span.last for span in spans)), seed, tests)
    parts = np.split(values, np.cumsum([span.last - span.first for span in spans])[:-1])
    return [Score(float(part[:, 0].mean()), float(losses(part[:, 1]).mean())) for part in parts]


def test_batch(rows: OrderedRows, spans: Sequence[TestSpan], seed: int) -> list[Score]:
    """Return what a batch tree comes to whose settings were chosen on the last fifth of the labels."""
    from sklearn.tree import DecisionTreeClassifier

    forms = [rows.X.astype(np.float32)] + ([one_hot(rows)] if rows.nominal else [])
    found = []
    for span in spans:
        kept, y = span.learned - span.learned // 5, rows.y
        best: tuple[float, Any, Any] | None = None
        for X in forms:
            for size in _LEAF_SIZES:
                for pruning in _PRUNINGS:
                    tree = DecisionTreeClassifier(min_samples_leaf=size, ccp_alpha=pruning, random_state=seed)
                    result = tree.fit(X[:kept], y[:kept]).score(X[kept : span.learned], y[kept : span.learned])
                    best = max(best or (-1.0, None, None), (result, X, tree), key=lambda one: one[0])
        assert best is not None
        _, X, tree = best
        tree.fit(X[: span.learned], y[: span.learned])
        tested = X[span.first : span.last]
        found.append(
            score_table(tree.predict_proba(tested), tree.predict(tested), tree.classes_, y[span.first : span.last])
        )
    return found


def one_hot(rows: OrderedRows) -> NDArray[np.float32]:
    """Return the rows with a column for each category, for learners that know numbers only."""
    columns = []
    for j, number in enumerate(rows.categories):
        column = rows.X[:, j : j + 1]
        columns.append(column == np.arange(number) if number else column)
    return np.hstack(columns).astype(np.float32)


def ours(make: Callable[..., Any]) -> Contender:
    return Contender(partial(pass_ours, make), partial(test_ours, make))


def river(name: str) -> Contender:
    if importlib.util.find_spec("river") is None:
        return Contender(problem="river is not installed")
    return Contender(partial(pass_river, name), partial(test_river, name))


def moa(options: str) -> Contender:
    why = missing_moa()
    if why is not None:
        return Contender(problem=why)
    return Contender(partial(pass_moa, options), partial(test_moa, options))


def evergreen(**given: Any) -> Any:
    return qc.EvergreenTree(**given)


def evergreen_forest(**given: Any) -> Any:
    return qc.EvergreenForest(trees=10, **given)


EVERGREEN, FOREST, BATCH, SGBT = "EvergreenTree", "EvergreenForest(10)", "batch tree, tuned", "MOA SGBT"


def trees() -> dict[str, Contender]:
    """Return the single trees, ours first."""
    return {
        EVERGREEN: ours(evergreen),
        "HoeffdingTree": ours(qc.HoeffdingTree),
        "river HoeffdingTree": river("HoeffdingTree"),
        **{f"MOA {name}": moa(options) for name, options in MOA_TREES.items()},
    }


def forests() -> dict[str, Contender]:
    """Return the forests of others."""
    return {
        "river AMF10": river("AMF10"),
        "river ARF10": river("ARF10"),
        **{f"MOA {name}": moa(options) for name, options in MOA_FORESTS.items()},
    }


def boosted() -> Contender:
    """Return MOA's boosted trees, which learn some tens of rows a second where there are many classes."""
    return moa(BOOSTED)
