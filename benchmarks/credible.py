"""What the credible tree is worth: ``python -m benchmarks.credible {toy,real,noise,coverage,streams,floor} [--quick]``.

toy       the toy problem of the paper: risk after 100, 400 and 1000 labels.
real      five data sets, half pool, half test: risk against labels, passive, active, Hoeffding and batch. The deltas of
          each set are those that did best on the other four, in other runs.
noise     how often labels that depend on nothing are split, by number of attributes, delta and correction.
coverage  how often the interval of the impurity misses it, by number of classes, shares drawn from the prior.
streams   speed on a long stream, and accuracy beside the other trees at equal numbers of leaves.
floor     whether a floor of labels per leaf pays on the five sets.
"""

from __future__ import annotations

import argparse
import itertools
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import quercus as qc
from benchmarks.tables import show
from quercus.bounds import impurity_interval
from quercus.papers.credible.real import CHECKPOINTS, SETS, Method, load_halves
from quercus.papers.credible.toy import ToyTree, toy_table

TOY_LABELS = (100, 400, 1000)
TOY_TREES = {
    "credible .40": ToyTree(0.40),
    "active .35/.10": ToyTree(0.35, 0.10),
    "active .38/.10": ToyTree(0.38, 0.10),
    "active .40/.10": ToyTree(0.40, 0.10),
    "active .35/.10, floor 20": ToyTree(0.35, 0.10, floor=20),
    "active .40/.10, floor 5": ToyTree(0.40, 0.10, floor=5),
    "active .40/.10, floor 10": ToyTree(0.40, 0.10, floor=10),
    "active .40/.10, floor 20": ToyTree(0.40, 0.10, floor=20),
    "fixed-8": ToyTree(0.01, 0.01, start=3, grows=False),
    "fixed-64": ToyTree(0.01, 0.01, start=6, grows=False),
}
PASSIVE = tuple(Method("passive", delta) for delta in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35))
ACTIVE = tuple(Method("active", d1, d2) for d1 in (0.1, 0.2, 0.3) for d2 in (0.02, 0.1, 0.3))
HOEFFDING = tuple(
    Method("passive", delta, bound="hoeffding") for delta in (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3)
)
BATCH = (Method("batch"), Method("batch", pruning="cost"))
LEAVES = (10, 20, 50, 100, 200)
GROWING: dict[str, list[Any]] = {
    "credible": [qc.CredibleTree(delta=d, leaf="majority") for d in (1e-4, 0.001, 0.01, 0.05, 0.1, 0.15, 0.2, 0.25)],
    "confidence": [qc.ConfidenceTree(c=c, tie=0, leaf="majority") for c in (1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)]
    + [qc.ConfidenceTree(c=0.01, tie=tie, leaf="majority") for tie in (0.001, 0.002, 0.003)],
    "hoeffding": [
        qc.HoeffdingTree(delta=1e-3, tie=tie, leaf="majority") for tie in (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
    ],
}
SHOWN = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)


def toy(quick: bool) -> None:
    """Print the risks of the toy problem."""
    runs = 20 if quick else 200
    jobs = [(tree, runs) for tree in TOY_TREES.values()]
    with ProcessPoolExecutor(2) as pool:
        curves = list(pool.map(_toy_curves, *zip(*jobs, strict=True)))
    rows = []
    for name, curve in zip(TOY_TREES, curves, strict=True):
        at = curve[:, [n - 1 for n in TOY_LABELS]]
        rows.append([name, *(f"{m:.4f} ({s:.4f})" for m, s in zip(at.mean(0), _errors(at), strict=True))])
    print(f"toy problem, {runs} runs: risk (standard error); one leaf .369, best 8 cells .238, Bayes .2140")
    print(show(["", *(f"{n} labels" for n in TOY_LABELS)], rows))


def _toy_curves(tree: ToyTree, runs: int) -> NDArray[np.float64]:
    return np.asarray(toy_table([tree], runs, max(TOY_LABELS))[0])


def _errors(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values.std(0, ddof=1) / np.sqrt(len(values)))


def _risks(job: tuple[str, Method, int, int]) -> list[float]:
    name, method, run, seed = job
    return method.run(load_halves(name, run, seed), seed=run)


def _curves(methods: tuple[Method, ...], sets: tuple[str, ...], runs: int, seed: int) -> NDArray[np.float64]:
    """Return risks by set, method, run and checkpoint."""
    jobs = [(name, method, run, seed) for name in sets for method in methods for run in range(runs)]
    with ProcessPoolExecutor(2) as pool:
        risks = list(pool.map(_risks, jobs, chunksize=8))
    return np.array(risks).reshape(len(sets), len(methods), runs, len(CHECKPOINTS))


def _choose(methods: tuple[Method, ...], runs: int) -> dict[str, Method]:
    """Return for each set the method with the least mean risk, relative to each set's best, over the other sets."""
    areas = _curves(methods, SETS, runs, seed=1).mean(axis=(2, 3))
    relative = areas / areas.min(axis=1, keepdims=True)
    chosen = {}
    for i, name in enumerate(SETS):
        others = np.delete(relative, i, axis=0).mean(0)
        chosen[name] = methods[int(np.argmin(others))]
    return chosen


def real(quick: bool) -> None:
    """Print risk curves on real data, with deltas tuned on the other sets."""
    tuning, runs = (3, 5) if quick else (10, 40)
    chosen = {
        kind: _choose(m, tuning) for kind, m in (("credible", PASSIVE), ("active", ACTIVE), ("hoeffding", HOEFFDING))
    }
    for name in SETS:
        methods = {f"{kind} {_deltas(found[name])}": found[name] for kind, found in chosen.items()}
        active = chosen["active"][name]
        twin = Method("passive", active.delta)
        methods |= {"batch": BATCH[0], "batch, pruned": BATCH[1], f"passive {active.delta:g}": twin}
        curves = dict(zip(methods, _curves(tuple(methods.values()), (name,), runs, seed=2)[0], strict=True))
        rows = [[kind, *_figures(curve, ".3f")] for kind, curve in curves.items()]
        # The same tree, fed in the order of a permutation: what asking gains.
        gained = curves[f"passive {active.delta:g}"] - curves[f"active {_deltas(active)}"]
        print(f"\n{name}, {runs} runs: risk (standard error) by share of the pool labelled")
        rows.append(["passive - active", *_figures(gained, "+.3f")])
        print(show(["", *(f"{share:.0%}" for share in SHOWN)], rows), flush=True)


def _deltas(method: Method) -> str:
    return f"{method.delta:g}/{method.active:g}" if method.kind == "active" else f"{method.delta:g}"


def _figures(curve: NDArray[np.float64], form: str) -> list[str]:
    at = [int(np.argmin(abs(CHECKPOINTS - share))) for share in SHOWN]
    return [f"{m:{form}} ({s:.3f})" for m, s in zip(curve.mean(0)[at], _errors(curve)[at], strict=True)]


def floor(quick: bool) -> None:
    """Print what a floor of labels per leaf changes for the active tree."""
    runs = 5 if quick else 40
    floors = (0, 5, 10, 20)
    methods = tuple(Method("active", 0.2, 0.1, floor=n) for n in floors)
    curves = _curves(methods, SETS, runs, seed=3)
    rows = []
    for i, name in enumerate(SETS):
        middle = curves[i][:, :, 3:10].mean(2)
        gain = middle[0] - middle[1:]
        figures = zip(gain.mean(1), _errors(gain.T), strict=True)
        rows.append([name, f"{middle[0].mean():.3f}", *(f"{m:+.4f} ({s:.4f})" for m, s in figures)])
    print(f"active .2/.1, {runs} runs: risk at 20 to 50 % of the pool, and what a floor takes off (standard error)")
    print(show(["", "no floor", *(f"floor {n}" for n in floors[1:])], rows))


def _splits(job: tuple[int, float, str | None, float, int]) -> bool:
    attributes, delta, correction, share, run = job
    rng = np.random.default_rng([attributes, run, 5])
    X, y = rng.random((200, attributes)), rng.random(200) < share
    tree = qc.CredibleTree(cuts="exact", delta=delta, correction=correction, min_leaf=0)
    return bool(tree.partial_fit(X, y.astype(np.int64), classes=[0, 1]).n_leaves_ > 1)


def noise(quick: bool) -> None:
    """Print the share of noise pools that are split at all."""
    runs = 40 if quick else 200
    rows = []
    settings = itertools.product((1, 8, 64), (0.05, 0.15, 0.3), (0.5, 0.1))
    with ProcessPoolExecutor(2) as pool:
        for attributes, delta, share in settings:
            row = [f"{attributes} attributes, delta {delta:g}, share {share:g}"]
            for correction in (None, "cuts", "cuts+looks"):
                jobs = [(attributes, delta, correction, share, run) for run in range(runs)]
                row.append(f"{np.mean(list(pool.map(_splits, jobs, chunksize=20))):.3f}")
            rows.append(row)
            print(*row, flush=True)
    print(f"\nnoise, 200 labels, exact cuts, a look after every label, {runs} runs: share of runs with any split")
    print(show(["", "None", "cuts", "cuts+looks"], rows))


def coverage(quick: bool) -> None:
    """Print how often the interval of the impurity misses it."""
    runs = 2_000 if quick else 20_000
    rows = []
    for classes, labels in itertools.product((2, 3, 5, 10, 26), (5, 20, 100, 1000)):
        row = [f"K = {classes}, T = {labels}"]
        rng = np.random.default_rng([classes, labels])
        shares = rng.dirichlet(np.ones(classes), runs)
        counts = np.array([rng.multinomial(labels, p) for p in shares])
        for criterion in ("entropy", "variance"):
            true = _impurity(shares, criterion)
            for delta in (0.05, 0.2):
                bounds = np.array([impurity_interval(c, delta, criterion) for c in counts])
                row += [f"{np.mean(true < bounds[:, 0]):.3f}", f"{np.mean(true > bounds[:, 1]):.3f}"]
        rows.append(row)
        print(*row, flush=True)
    heads = [f"{c} {d:g} {end}" for c in ("entropy", "variance") for d in (0.05, 0.2) for end in ("below", "above")]
    print(f"\nshare of {runs} regions, shares drawn from the prior, whose impurity is outside each end of its interval")
    print(show(["", *heads], rows))


def _impurity(shares: NDArray[np.float64], criterion: str) -> NDArray[np.float64]:
    if criterion == "variance":
        return np.asarray((1 - (shares**2).sum(1)) / 2)
    return np.asarray(-(shares * np.log2(np.maximum(shares, 1e-300))).sum(1))


def streams(quick: bool) -> None:
    """Print speed on a stream of 200,000 rows, and the error of the trees at equal numbers of leaves."""
    n = 50_000 if quick else 200_000
    X, y, bayes = noisy_plane(n)
    trees: dict[str, Any] = {
        "credible": qc.CredibleTree(leaf="majority"),
        "credible, cuts": qc.CredibleTree(leaf="majority", correction="cuts"),
        "credible, adaptive leaves": qc.CredibleTree(),
        "confidence": qc.ConfidenceTree(leaf="majority"),
        "hoeffding": qc.HoeffdingTree(leaf="majority"),
    }
    rows = [[name, *_time_stream(tree, X, y)] for name, tree in trees.items()]
    print(f"{n:,} x 10, Bayes error {bayes:.4f}: prequential, majority leaves, table of bounds warm")
    print(show(["", "rows/s", "error", "leaves"], rows))
    data = {
        "noisy plane": (X, y),
        "random tree": qc.streams.RandomTree(seed=3).take(n),
        "sea": qc.streams.SEA(seed=2).take(n),
    }
    for name, (X, y) in data.items():
        rows = []
        for kind, grid in GROWING.items():
            points = sorted({(tree.n_leaves_, error) for tree, error in (_error_of(tree, X, y) for tree in grid)})
            leaves, errors = np.log([p[0] for p in points]), np.array([p[1] for p in points])
            inside = [
                f"{np.interp(np.log(k), leaves, errors):.4f}" if points[0][0] <= k <= points[-1][0] else "-"
                for k in LEAVES
            ]
            rows.append([kind, *inside])
        print(f"\n{name}, {n:,} rows: error at so many leaves, between settings that give fewer and more")
        print(show(["", *map(str, LEAVES)], rows), flush=True)


def _error_of(tree: Any, X: Any, y: Any) -> tuple[Any, float]:
    fresh = clone(tree)
    outcome = fresh.test_then_learn(X, y)
    return fresh, float(np.mean(outcome.answers != outcome.truth))


def noisy_plane(n: int) -> tuple[Any, Any, float]:
    """Return rows of 10 uniform numbers, two of which decide the share of class 1, labels, and the Bayes error."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 10))
    share = 1 / (1 + np.exp(-8 * (X[:, 0] + X[:, 1] - 1)))
    return X, (rng.random(n) < share).astype(np.int64), float(np.minimum(share, 1 - share).mean())


def _time_stream(tree: Any, X: Any, y: Any) -> list[str]:
    # Two passes: the first compiles, and fills the table of bounds.
    seconds = []
    for _ in range(3):
        learner = clone(tree)
        learner.partial_fit(X[:1], y[:1], classes=[0, 1])
        started = time.process_time()
        outcome = learner.test_then_learn(X[1:], y[1:])
        seconds.append(time.process_time() - started)
    error = float(np.mean(outcome.answers != outcome.truth))
    return [f"{(len(y) - 1) / min(seconds):,.0f}", f"{error:.4f}", str(learner.n_leaves_)]


def main() -> None:
    """Run a part."""
    parts = {"toy": toy, "real": real, "noise": noise, "coverage": coverage, "streams": streams, "floor": floor}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    arguments = parser.parse_args()
    parts[arguments.part](arguments.quick)


if __name__ == "__main__":
    main()
