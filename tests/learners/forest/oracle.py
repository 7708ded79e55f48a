"""A growing forest, slow and obvious: row by row, tree by tree, with public learners on dicts."""

import math

import numpy as np
from sklearn.base import clone

from quercus.statistics import ADWIN


class Turn:
    """A tree, what it sees, how it did, and the detectors of its errors."""

    def __init__(self, forest, number):
        self.forest = forest
        self.windows = ADWIN(delta=min(10 * forest.drift, 1.0)), ADWIN(delta=forest.drift)
        self.number = number
        self.begun = self.replaced = self.matched = 0
        self.beside = None
        self.main = self.begin()

    def begin(self):
        numbers = [self.forest.seed, self.number, self.begun]
        count = max(1, round(self.forest.subspace * self.forest.features))
        columns = sorted(np.random.default_rng(numbers).permutation(self.forest.features)[:count].tolist())
        rng = np.random.default_rng([self.forest.seed, self.number, self.begun])
        self.begun += 1
        return Tree(
            clone(self.forest.tree).set_params(seed=int(rng.integers(2**31))), columns, list(self.forest.classes)
        )


class Tree:
    def __init__(self, learner, columns, classes):
        self.learner, self.columns, self.classes = learner, columns, classes
        self.right = self.n = 0

    def see(self, x):
        return {f"x{column}": x[column] for column in self.columns}

    def proba(self, x):
        # As long as it has learned nothing, it knows how many classes there are.
        return self.learner.predict_proba_one(self.see(x)) or {c: 1 / len(self.classes) for c in self.classes}

    def learn(self, x, y, weight):
        if weight > 0:
            known = self.classes if self.classes and self.learner.predict_one(self.see(x)) is None else None
            self.learner.partial_fit([self.see(x)], [y], classes=known, sample_weight=[weight])


class Oracle:
    def __init__(self, tree, trees, subspace, mean, drift, seed, features):
        self.tree, self.subspace, self.mean, self.drift, self.features = tree, subspace, mean, drift, features
        self.seed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self.rng = np.random.Generator(np.random.PCG64(self.seed))
        self.classes = []
        self.turns = [Turn(self, number) for number in range(trees)]

    def draw(self):
        """Draw from the Poisson distribution: the first count whose cumulative probability exceeds a random number."""
        u, count = self.rng.random(), 0
        below = math.exp(-self.mean)
        while u >= below:
            count += 1
            below += math.exp(-self.mean) * self.mean**count / math.factorial(count)
        return count

    def proba(self, x):
        votes = dict.fromkeys(self.classes, 0.0)
        for turn in self.turns:
            trust = (turn.main.right + 1) / (turn.main.n + 2)
            for label, share in turn.main.proba(x).items():
                votes[label] += trust * share
        total = sum(votes.values())
        return {label: vote / total if total else 1 / len(votes) for label, vote in votes.items()}

    def learn(self, x, y, weight=1.0):
        answers = [best(turn.main.proba(x)) for turn in self.turns]
        if y not in self.classes:
            self.classes.append(y)
        for turn, answer in zip(self.turns, answers, strict=True):
            copies = weight * self.draw()
            turn.main.learn(x, y, copies)
            if answer is None:
                continue
            turn.main.right += answer == y
            turn.main.n += 1
            if turn.beside is not None:
                other = best(turn.beside.proba(x))
                turn.beside.learn(x, y, copies)
                if other is not None:
                    turn.beside.n += 1
                    turn.beside.right += other == y
                    turn.matched += answer == y
            changed = turn.windows[1].update(float(answer != y)) == "change"
            warned = turn.windows[0].update(float(answer != y)) == "change"
            if changed and turn.beside is not None and turn.beside.n and turn.beside.right >= turn.matched:
                turn.main, turn.beside = turn.beside, None
                turn.replaced += 1
                turn.windows = ADWIN(delta=min(10 * self.drift, 1.0)), ADWIN(delta=self.drift)
            elif warned or (changed and turn.beside is None):
                turn.beside, turn.matched = turn.begin(), 0


def best(proba):
    """Return the most probable label, ties to the first in order."""
    return min(proba, key=lambda label: (-proba[label], label)) if proba else None
