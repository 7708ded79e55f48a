"""What the paper reports: table 1, and the errors by number of trees in its text."""

from __future__ import annotations

import math
from typing import NamedTuple

# How the sets of `splits.SETS` are called in the paper.
SETS = {"g50c": "G50c", "dna": "dna (180)", "dna60": "dna (60)", "satimage": "satimages", "usps": "USPS"}
RUNS = 10


class PublishedError(NamedTuple):
    """An error in per cent: the mean over `RUNS` runs, and its standard deviation over them."""

    mean: float
    deviation: float

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(RUNS)


def _row(*numbers: float) -> dict[str, PublishedError]:
    return {name: PublishedError(*numbers[2 * k : 2 * k + 2]) for k, name in enumerate(SETS)}


# By row of table 1, in its order; x15 are fifteen passes over the rows, x1 is one.
TABLE: dict[str, dict[str, PublishedError]] = {
    "RF": _row(18.91, 1.33, 6.05, 0.48, 5.19, 0.3, 9.7, 0.25, 6.50, 0.13),
    "obRF, 100 trees, depth 25": _row(9.01, 0.77, 17.38, 0.43, 6.75, 0.25, 9.36, 0.16, 5.87, 0.21),
    "obRF, 8 trees, depth 25": _row(16.16, 1.92, 22.81, 1.08, 10.35, 0.56, 10.62, 0.34, 7.47, 0.34),
    "obRF, 100 trees, depth of BOF": _row(8.92, 0.79, 29.2, 0.63, 9.02, 0.41, 9.86, 0.22, 7.85, 0.24),
    "obRF, 8 trees, depth of BOF": _row(15.0, 2.14, 29.48, 1.19, 12.49, 0.81, 11.3, 0.41, 10.38, 0.51),
    "ORF x15": _row(19.44, 1.71, 8.2, 0.9, 5.77, 0.56, 11.8, 0.40, 6.60, 0.20),
    "MF x15": _row(13.8, 1.79, 32.75, 0.54, 9.01, 0.41, 10.46, 0.15, 6.79, 0.23),
    "COF x15": _row(19.71, 1.36, 7.36, 0.32, 6.5, 0.15, 10.4, 0.13, 7.06, 0.22),
    "ORF x1": _row(33.02, 3.52, 13.2, 0.47, 8.85, 0.64, 13.5, 0.37, 9.6, 0.19),
    "MF x1": _row(14.22, 1.53, 32.93, 0.5, 9.10, 0.56, 10.45, 0.26, 6.96, 0.19),
    "COF x1": _row(41.64, 3.79, 16.37, 0.86, 11.28, 1.66, 15.29, 0.30, 11.53, 0.22),
    "BOF": _row(7.74, 1.29, 5.78, 0.31, 4.87, 0.19, 11.14, 0.30, 6.17, 0.28),
    "BOF-P": _row(3.64, 0.25, 6.87, 0.74, 5.84, 0.46, 13.25, 0.20, 6.03, 0.21),
    "BOF-B": _row(7.86, 1.38, 5.73, 0.31, 4.86, 0.28, 11.42, 0.38, 6.47, 0.18),
    "BOF-PB": _row(3.72, 0.27, 7.32, 0.57, 6.61, 0.26, 13.91, 0.30, 6.25, 0.26),
}
# Errors of BOF with 1, 4 and 8 trees.
TREES = {
    "g50c": (8.1, 7.9, 7.7),
    "dna": (6.1, 5.9, 5.8),
    "dna60": (5.5, 5.0, 4.9),
    "satimage": (13.0, 11.3, 11.1),
    "usps": (8.3, 6.5, 6.2),
}
