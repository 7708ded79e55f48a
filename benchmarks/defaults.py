"""How the defaults of the growing trees were chosen: prequential accuracy on several streams, leaves on pure noise.

`python -m benchmarks.defaults` prints the table of docs/defaults.md. Needs QUERCUS_DATA.
"""

from __future__ import annotations

import numpy as np

from quercus import ConfidenceTree, HoeffdingTree, streams

ROWS = 100_000
CHOICES = {
    "confidence": [
        ConfidenceTree(),
        ConfidenceTree(alpha=1),
        ConfidenceTree(c=0.005),
        ConfidenceTree(c=0.02),
        ConfidenceTree(grace_period=100),
        ConfidenceTree(tie=0),
        ConfidenceTree(leaf="majority"),
        ConfidenceTree.paper(),
    ],
    "hoeffding": [
        HoeffdingTree(),
        HoeffdingTree(alpha=1),
        HoeffdingTree(delta=1e-7, tie=0.05, grace_period=200),
        HoeffdingTree(delta=1e-7, tie=0.05, grace_period=200, alpha=1),
        HoeffdingTree(criterion="gini"),
        HoeffdingTree(leaf="majority"),
    ],
}


def tuning_streams(seed: int) -> dict[str, streams.Stream]:
    """Return the streams by name; those with a real order in it, the others shuffled."""
    ordered = {name: streams.load(name) for name in ("electricity", "airlines", "covertype")}
    shuffled = {
        f"{name}, shuffled": streams.load(name, ordered=False, seed=seed)
        for name in ("electricity", "covertype", "adult", "letter", "nursery", "satimage")
    }
    trees = {f"random tree {k}": streams.RandomTree(seed=seed + k) for k in (1, 2)}
    return {**trees, **ordered, **shuffled}


def count_noise_leaves(learner: ConfidenceTree | HoeffdingTree, seed: int) -> list[int]:
    """Return the leaves that a learner grows on eight streams without any signal."""
    leaves = []
    for k, (features, classes) in enumerate([(5, 2), (30, 2), (10, 3), (5, 5)] * 2):
        X, y = streams.Noise(features=features, classes=classes, seed=seed + k).take(40_000)
        leaves.append(type(learner)(**learner.get_params()).partial_fit(X, y).n_leaves_)
    return leaves


def main(seed: int = 0) -> None:
    """Print one line per choice."""
    data = {name: stream.take(min(ROWS, stream.n_rows or ROWS)) for name, stream in tuning_streams(seed).items()}
    print("streams:", ", ".join(data))
    for learners in CHOICES.values():
        for learner in learners:
            accuracies, leaves = [], []
            for X, y in data.values():
                tree = type(learner)(**learner.get_params())
                outcome = tree.test_then_learn(X, y)
                accuracies.append(float(np.mean(outcome.truth == outcome.answers)))
                leaves.append(tree.n_leaves_)
            name = " ".join(repr(learner).split())
            noise = count_noise_leaves(learner, seed)
            print(f"\n{name}\n  mean accuracy {np.mean(accuracies):.4f}, leaves on noise {noise}")
            print("  " + "  ".join(f"{a:.3f}/{n}" for a, n in zip(accuracies, leaves, strict=True)))


if __name__ == "__main__":
    main()
