"""The impurities phi of docs/engine.md, of a list of class weights. An empty leaf has impurity 0."""

import math
from collections.abc import Sequence


def shares(counts: Sequence[float]) -> list[float]:
    """Share of each class that is present."""
    total = sum(counts)
    return [n / total for n in counts if n > 0]


def gini(counts: Sequence[float]) -> float:
    """1 - sum p^2."""
    return 1 - sum(p * p for p in shares(counts)) if sum(counts) > 0 else 0.0


def entropy(counts: Sequence[float]) -> float:
    """-1/2 sum p ln p, the form of the confidence tree."""
    return -sum(p * math.log(p) for p in shares(counts)) / 2


def entropy_bits(counts: Sequence[float]) -> float:
    """- sum p log2 p, the form of the Hoeffding tree."""
    return -sum(p * math.log2(p) for p in shares(counts))


def kearns_mansour(counts: Sequence[float]) -> float:
    """1/2 sum sqrt(p (1 - p)); 1 - p as the share of the others, which a rounded p would lose near 1."""
    n = math.fsum(counts)
    others = [math.fsum([*counts[:k], *counts[k + 1 :]]) for k in range(len(counts))]
    return sum(math.sqrt(count / n * (rest / n)) for count, rest in zip(counts, others, strict=True)) / 2 if n else 0.0


def error(counts: Sequence[float]) -> float:
    """1 - max p."""
    return 1 - max(shares(counts)) if sum(counts) > 0 else 0.0
