"""Predictions from mappings that count what is read of them: what is read is what is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import quercus as qc


class Meter(Mapping[str, Any]):
    """A mapping that notes every value that is read of it."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values
        self.read: list[str] = []

    def __getitem__(self, key: str) -> Any:
        self.read.append(key)
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def metered(sets: Sequence[str] | None, quick: bool) -> None:
    """Print values read beside values paid for, and refuse if they differ in any case."""
    cases = 1_000 if quick else 10_000
    X, y = qc.streams.LED(seed=3).take(3_000 + cases)
    names = [f"x{j}" for j in range(X.shape[1])]
    model = qc.UtilityTree(groups={"pair": ["x1", "x2"]}, costs={"x0": 0.0, "pair": 1.5}, nominal=names)
    model.buy_and_learn([dict(zip(names, row, strict=True)) for row in X[:3_000].tolist()], y[:3_000])
    rows = [dict(zip(names, row, strict=True)) for row in X[3_000:].tolist()]
    paid = model.purchases(rows)
    read = twice = differ = wrong = 0
    for place, row in enumerate(rows):
        meter = Meter(row)
        wrong += model.predict_one(meter) != paid.answers[place]
        bought = {name for name, is_bought in zip(names, paid.bought[place], strict=True) if is_bought}
        read += len(meter.read)
        twice += len(meter.read) - len(set(meter.read))
        differ += set(meter.read) != bought
    print(f"{cases:,} cases: {read:,} values read, {int(paid.bought.sum()):,} paid for, of {cases * len(names):,}")
    print(f"read twice: {twice}; cases in which other values were read than paid for: {differ}; other answers: {wrong}")
    print(f"accuracy {np.mean(paid.answers == y[3_000:]):.3f} at {paid.cost.mean():.2f}")
    if twice or differ or wrong:
        raise SystemExit("what is read is not what is paid for.")
