"""Bounds of a mean over a stream, row by row from the definitions in quercus.ledger.sequences.

A stream is a list of rows (propensity, asked, value); the value is None if it was not asked or never came.
"""

import math
from collections.abc import Callable

Row = tuple[float, bool, float | None]


def stakes_and_weights(levels: list[float]) -> list[tuple[float, float]]:
    """Stakes an octave apart; weights are equal from 1/32 to 1/2 of the propensities and halve per octave away."""
    least, usual = levels[0], levels[-1]
    found = []
    for octave in range(-12, 40):
        stake = least * 2.0**octave
        if stake <= 4.0 * (1 + 1e-9):
            away = max(-5 - octave, octave - (-1 + math.floor(math.log2(usual / least))), 0)
            found.append((stake, 0.5**away))
    total = sum(weight for _, weight in found)
    return [(stake, weight / total) for stake, weight in found]


def find_root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function is 0."""
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


def best_idle(stake: float, guess: float, p: float) -> float:
    """The n under which the expected logarithm of a row's factor is largest, if a share `guess` of the values is 1."""
    if p == 1:
        return math.exp(stake) / (1 + (1 - guess) * math.expm1(stake))

    def slope(n: float) -> float:
        idle = (1 - p) * n
        lost = guess / (math.exp(stake) - idle) + (1 - guess) / (1 - idle)
        return (1 - p) / n - p * (1 - p) * lost

    return find_root(slope, 1e-12, (1 - 1e-16) / (1 - p))


def factor(stake: float, n: float, row: Row, side: int) -> float:
    """What a row multiplies the wealth by; side 1 is about 1 - value. A value that never came is 0 on both sides."""
    p, asked, value = row
    if not asked:
        return n
    v = 0.0 if value is None else (1 - value if side else value)
    return (math.exp(stake * v) - (1 - p) * n) / p


def guesses(rows: list[Row]) -> list[float]:
    """For each row, the share of values that is guessed from the rows before; kept until an eighth more were asked."""
    guess, asked, renewal, found = 0.5, 0, 1, []
    known: list[tuple[float, float]] = []
    for p, was_asked, value in rows:
        found.append(guess)
        if not was_asked:
            continue
        asked += 1
        if value is not None:
            known.append(((1 - p) / p**2, value))
        if asked == renewal:
            renewal = asked + max(1, asked // 8)
            weight = sum(w for w, _ in known)
            one = weight / len(known) if known else 0.0
            guess = (sum(w * v for w, v in known) + one / 2) / (weight + one) if one > 0 else 0.5
    return found


def log_wealths(rows: list[Row], levels: list[float], side: int) -> list[tuple[float, float, float]]:
    """Per stake: the stake, its weight, and the logarithm of the product of all factors."""
    shares = [1 - g if side else g for g in guesses(rows)]
    found = []
    for stake, weight in stakes_and_weights(levels):
        total = 0.0
        for row, share in zip(rows, shares, strict=True):
            level = max(x for x in levels if x <= row[0])
            total += math.log(factor(stake, best_idle(stake, share, level), row, side))
        found.append((stake, weight, total))
    return found


def wealth(rows: list[Row], levels: list[float], side: int, total: float) -> float:
    """The martingale, if the values (on side 1: one minus the values) sum to `total`."""
    return sum(weight * math.exp(log - stake * total) for stake, weight, log in log_wealths(rows, levels, side))


def interval(rows: list[Row], levels: list[float], alpha: float) -> tuple[float, float]:
    """Bounds of the mean: all sums at which neither martingale has reached 2 / alpha, and that the answers allow."""
    least = []
    for side in (0, 1):
        logs = log_wealths(rows, levels, side)

        def excess(total: float, logs: list[tuple[float, float, float]] = logs) -> float:
            parts = [math.log(weight) + log - stake * total for stake, weight, log in logs]
            return max(parts) + math.log(sum(math.exp(part - max(parts)) for part in parts)) - math.log(2 / alpha)

        seen = sum((1 - v if side else v) for _, asked, v in rows if asked and v is not None)
        least.append(max(seen, find_root(excess, -1e7, 1e7)))
    return least[0] / len(rows), 1 - least[1] / len(rows)
