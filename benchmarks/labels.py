"""What label policies are worth: ``python -m benchmarks.labels {paper,efficiency,coverage,replay} [--quick]``.

paper       electricity, 12 random orders, budgets .1 to .6: every policy in its published form against Random, paired
            (on all five data sets of the paper: ``quercus reproduce confidence --figure 5``).
efficiency  ten data sets, budgets 1 to 20 %: labels that Random needs divided by labels that a policy needs for the
            same accuracy, both paced, same learner, same orders.
coverage    how often the 95 % interval for live accuracy is ever wrong, and how wide it is, for every policy.
replay      accuracy that `replay` tells from the log of another run, beside what the run itself then scores.

Policies were tuned on generators and on fico, usps, a9a, dna and satimage, which are not among the ten.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import quercus as qc
from quercus.ask import (
    Confident,
    Policy,
    Random,
    RandomizedUncertainty,
    SelectiveSampling,
    Split,
    SplitConfident,
    Uncertain,
    VariableUncertainty,
)
from quercus.ask.loop import AskLoop, Looked
from quercus.ask.state import AskState
from quercus.ledger.accuracy import FairAccuracy
from quercus.papers.confidence.budgets import BUDGETS as OF_PAPER
from quercus.papers.confidence.budgets import Asked, ask_rows
from quercus.papers.confidence.sets import Rows, shuffle_set
from quercus.streams.batches import pick

POLICIES = (VariableUncertainty, Split, SelectiveSampling, Confident, SplitConfident, RandomizedUncertainty)
PAPER_BUDGETS = OF_PAPER["full"]
BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2)
RANDOM_BUDGETS = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
SETS = (
    "electricity", "nursery", "mushroom", "adult", "covertype", "letter", "airlines", "cod_rna_train", "compas",
    "g50c",
)  # fmt: skip
MOST_ROWS = 100_000
AVAILABLE = {found.name for found in qc.streams.available() if not found.source.startswith("OpenML")}


class Data(NamedTuple):
    """A data set in one order."""

    X: Any
    y: NDArray[Any]
    names: list[str]
    nominal: list[str]


def load(name: str, seed: int) -> Data:
    """Return a data set in a random order, at most MOST_ROWS of it; of a generator, another sample."""
    stream = qc.streams.load(name)
    if stream.endless:
        stream = type(stream)(rows=MOST_ROWS // 2, seed=seed)
    X, y = stream.take(stream.n_rows)
    order = np.random.default_rng(seed).permutation(len(y))[:MOST_ROWS]
    return Data(pick(X, order), y[order], list(stream.feature_names), list(stream.nominal))


def go(data: Data, learner: Any, policy: Policy) -> tuple[float, AskState, Looked, NDArray[np.bool_]]:
    """Take a learner through the data; return its accuracy, and which rows were right."""
    state = AskState(policy, len(data.y))
    looked = AskLoop(learner, state, data.names, data.nominal).run(data.X, data.y)
    known = np.array([*looked.classes, None], object)
    right = known[looked.answers] == data.y.astype(object)
    return float(right.mean()), state, looked, right


def paper(quick: bool) -> None:
    """Print the paired gains of the published forms over Random."""
    orders = 3 if quick else 12
    gains: dict[str, list[list[float]]] = {policy.__name__: [] for policy in POLICIES}
    spent: dict[str, list[float]] = {policy.__name__: [] for policy in POLICIES}
    base: list[list[float]] = []
    for seed in range(orders):
        rows = shuffle_set("electricity", seed)
        # Ties go to the first class: DOWN, as the set itself sorts them.
        rows = Rows(rows.X, 1 - rows.y, rows.nominal)

        def ask(policy: type[Policy], rows: Rows = rows, seed: int = seed) -> list[Asked]:
            trees = [qc.ConfidenceTree.paper(c=0.01, nominal=rows.nominal) for _ in PAPER_BUDGETS]
            return [ask_rows(rows, t, policy.paper(b, seed=seed)) for t, b in zip(trees, PAPER_BUDGETS, strict=True)]

        base.append([asked.score for asked in ask(Random)])
        for policy in POLICIES:
            runs = ask(policy)
            gains[policy.__name__].append([run.score - r for run, r in zip(runs, base[-1], strict=True)])
            spent[policy.__name__].append(runs[-1].share)
    print(f"electricity, {orders} orders, published forms; Random by budget:", *np.mean(base, axis=0).round(4))
    print(f"{'':24}" + "".join(f"{f'B={b}':>9}" for b in PAPER_BUDGETS) + "     mean +- s.e.   share asked at .6")
    for name, values in gains.items():
        table = np.array(values)
        per_order = table.mean(axis=1)
        error = per_order.std(ddof=1) / np.sqrt(orders)
        print(
            f"{name:24}" + "".join(f"{v:+9.4f}" for v in table.mean(axis=0))
            + f"   {per_order.mean():+.4f} +- {error:.4f}   {np.mean(spent[name]):.3f}"
        )  # fmt: skip


def _curves(name: str, seed: int) -> dict[str, list[float]]:
    data = load(name, seed)
    found = {"Random": [go(data, qc.ConfidenceTree(), Random(b, seed=seed))[0] for b in RANDOM_BUDGETS]}
    for policy in (Uncertain, Confident, VariableUncertainty, SelectiveSampling):
        found[policy.__name__] = [go(data, qc.ConfidenceTree(), policy(b, seed=seed))[0] for b in BUDGETS]
    return found


def label_ratios(random: NDArray[np.float64], ours: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the labels that Random needs for the accuracies, divided by the labels that they took."""
    rising = np.maximum.accumulate(random) + 1e-12 * np.arange(len(random))
    needed = np.exp(np.interp(ours, rising, np.log(RANDOM_BUDGETS)))
    return needed / np.array(BUDGETS)


def efficiency(names: list[str], quick: bool) -> None:
    """Print label ratios per set and budget, with errors over resampled orders."""
    orders = 3 if quick else 12
    rng = np.random.default_rng(0)
    means: dict[str, list[NDArray[np.float64]]] = {}
    print(f"labels Random needs / labels the policy needs, {orders} orders; in brackets the standard error")
    with ProcessPoolExecutor(2) as pool:
        for name in names:
            runs = list(pool.map(_curves, [name] * orders, range(1000, 1000 + orders)))
            random = np.array([run["Random"] for run in runs])
            print(f"{name}: Random", *random.mean(axis=0).round(4), flush=True)
            for policy in (p for p in runs[0] if p != "Random"):
                ours = np.array([run[policy] for run in runs])
                ratio = label_ratios(random.mean(axis=0), ours.mean(axis=0))
                draws = [rng.integers(0, orders, orders) for _ in range(200)]
                again = np.array([label_ratios(random[d].mean(axis=0), ours[d].mean(axis=0)) for d in draws])
                gain = (ours - random[:, [RANDOM_BUDGETS.index(b) for b in BUDGETS]]).mean(axis=0)
                means.setdefault(policy, []).append(ratio)
                cells = "".join(
                    f"  {r:5.2f} ({e:.2f}) {g:+.4f}" for r, e, g in zip(ratio, again.std(axis=0), gain, strict=True)
                )
                print(f"  {policy:20}{cells}", flush=True)
    for policy, rows in means.items():
        table = np.log(np.array(rows))
        print(
            f"{policy:20} geometric mean {np.exp(table.mean()):.3f}, by budget",
            *np.exp(table.mean(axis=0)).round(2),
            f", least {np.exp(table.min()):.2f}",
        )


def _ever_wrong(task: tuple[type[Policy], int]) -> tuple[bool, float, float]:
    kind, seed = task
    X, y = _drifting(seed)
    data = Data(X, y, ["x0", "x1", "x2"], [])
    accuracy, state, looked, right = go(data, qc.ConfidenceTree(), kind(0.1, seed=seed))
    decisions = looked.decisions
    asked = np.flatnonzero(decisions["asked"])
    truth = np.cumsum(right) / np.arange(1, len(right) + 1)
    fair = FairAccuracy(state.least_propensity)
    wrong, done = False, 0
    for row in _checks(len(right)):
        part = asked[done : np.searchsorted(asked, row)]
        if len(part):
            fair.add_many(part + 1, decisions["covered"][part], decisions["propensity"][part], right[part])
        fair.advance(row, int(decisions["covered"][row - 1]))
        done += len(part)
        figure = fair.accuracy(0.05)
        wrong |= not figure.low <= truth[row - 1] <= figure.high
    return wrong, figure.high - figure.low, float(right[asked].mean() - accuracy)


def _drifting(seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """SEA whose labels are turned over in the second half of every second stream."""
    X, y = qc.streams.SEA(seed=seed).take(5000)
    if seed % 2:
        y = np.where(np.arange(5000) < 2500, y, 1 - y)
    return np.asarray(X, np.float64), y


def _checks(rows: int) -> Iterator[int]:
    row = 10.0
    while row < rows:
        yield int(row)
        row *= 1.1
    yield rows


def coverage(quick: bool) -> None:
    """Print how often the interval was ever wrong, its width at the end, and the error of the naive figure."""
    runs = 100 if quick else 1000
    print(f"95 % interval for accuracy, {runs} runs of 5,000 rows (half with a change), budget .1, 66 looks each")
    with ProcessPoolExecutor(2) as pool:
        for kind in (Random, Uncertain, *POLICIES):
            found = np.array(list(pool.map(_ever_wrong, [(kind, s) for s in range(runs)], chunksize=20)))
            wrong, width, naive = found.mean(axis=0)
            print(
                f"{kind.__name__:24} ever wrong {wrong:.3f}   width {width:.3f}   naive - true {naive:+.3f}", flush=True
            )


def replay(names: list[str], quick: bool) -> None:
    """Print what replay tells beside what the run itself scores."""
    from quercus.evaluation.replays import NoSupport
    from quercus.evaluation.replays import replay as play
    from quercus.ledger import Ledger

    names = names[: 3 if quick else None]
    tried = inside = 0
    for name in names:
        data = load(name, 7)
        for log, other in (
            (Random(0.2), Random(0.1)),
            (Random(0.2), Confident(0.05)),
            (Uncertain(0.2), Uncertain(0.05)),
        ):
            _, _, looked, _ = go(data, qc.ConfidenceTree(), log)
            d, asked = looked.decisions, np.flatnonzero(looked.decisions["asked"])
            ledger = Ledger()
            columns = {c: d[c][asked] for c in ("covered", "price", "worth", "propensity")}
            ledger.ask_rows(
                pick(data.X, asked), names=data.names, row=asked + 1, explored=d["explored"][asked].astype(bool),
                answers=data.y[asked], **columns,
            )  # fmt: skip
            real, state, _, _ = go(data, qc.ConfidenceTree(), other)
            told = f"{name:14} {type(log).__name__}(.2) -> {type(other).__name__}({other.budget})"
            try:
                found = play(ledger, qc.ConfidenceTree(), other)
            except NoSupport as error:
                print(f"{told}: refused, {str(error).split(': ')[1].split('. ')[0]}", flush=True)
                continue
            a = found.accuracy
            tried += 1
            inside += a.low <= real <= a.high
            print(
                f"{told}: {a.value:.4f} [{a.low:.4f}, {a.high:.4f}] with {found.labels} labels; real {real:.4f} with "
                f"{state.asked}; lacks {found.unsupported:.1%}",
                flush=True,
            )
    print(f"the real run is inside the interval in {inside} of {tried} replays")


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["paper", "efficiency", "coverage", "replay"])
    parser.add_argument("--quick", action="store_true", help="fewer runs")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="data sets for efficiency and replay")
    arguments = parser.parse_args()
    if arguments.part != "coverage" and "electricity" not in AVAILABLE:
        sys.exit("this part needs the data sets: let QUERCUS_DATA name their folder.")
    sets = [name for name in arguments.sets if name in AVAILABLE]
    if arguments.part == "efficiency":
        efficiency(sets, arguments.quick)
    elif arguments.part == "replay":
        replay(sets, arguments.quick)
    else:
        (paper if arguments.part == "paper" else coverage)(arguments.quick)


if __name__ == "__main__":
    main()
