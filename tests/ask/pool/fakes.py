"""Small learners with regions, for the tests of the pool sampler."""

import numpy as np


class Halves:
    """Cuts [0, 1) into 1, 2, 4, 8 equal regions as labels come, one more cut for every `every` labels."""

    def __init__(self, every=6):
        self.every = every
        self.seen = []

    @property
    def classes_(self):
        return np.array(sorted({y for _, y in self.seen}))

    @property
    def n_regions(self):
        return 2 ** min(len(self.seen) // self.every, 3)

    def regions(self, X):
        ids = (X[:, 0] * self.n_regions).astype(np.int64)
        classes = self.classes_.tolist()
        counts = np.zeros((self.n_regions, len(classes)))
        for x, y in self.seen:
            counts[int(x * self.n_regions), classes.index(y)] += 1
        return ids, counts

    def learn_one(self, x, y):
        self.seen.append((x["x0"], y))


class OwnPool(Halves):
    """The same with rows of its own."""

    def __init__(self, X, every=6):
        super().__init__(every)
        self.X, self.n_pool_ = X, len(X)
        self.labelled = []

    def regions(self, X=None):
        return super().regions(self.X if X is None else X)

    def holds(self, X):
        return np.array_equal(X, self.X)

    @property
    def pool_labelled_(self):
        return np.isin(np.arange(len(self.X)), self.labelled)

    def learn_pool(self, rows, y):
        for row, label in zip(rows.tolist(), y, strict=True):
            assert row not in self.labelled
            self.labelled.append(row)
            self.seen.append((float(self.X[row, 0]), label))

    def learn_one(self, x, y):
        raise AssertionError("the rows are its own pool")


class Joining(Halves):
    """Two regions that become one again after six labels, two after twelve, and so on."""

    @property
    def n_regions(self):
        return 2 - len(self.seen) // 6 % 2


def pool(rows=40, seed=0):
    X = np.random.default_rng(seed).random((rows, 2))
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0.7, "yes", "no")
