"""Pixels in the order in which they are learned, and those that are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import derive_seed
from experiments.papers.bayesian.images import DepthImage
from experiments.papers.bayesian.offsets import Pixels, foreground_pixels, sample_pixels

# Features of test pixels are kept if images have at most so many pixels times offsets.
_KEPT = 2 * 10**8


def stream_pixels(images: Sequence[DepthImage], offsets: Floats, per_part: int, seed: int) -> Iterator[Pixels]:
    """Yield pixels to learn from, an image at a time.

    Parameters
    ----------
    images, offsets, per_part
        As for `sample_pixels`.
    seed
        Fixes which pixels.

    Examples
    --------
    >>> from experiments.papers.bayesian.bodies import draw_bodies
    >>> from experiments.papers.bayesian.offsets import draw_offsets
    >>> batches = list(stream_pixels(draw_bodies(2, 30, 40, seed=0), draw_offsets(5, seed=0), per_part=2, seed=0))
    >>> len(batches), batches[0].X.shape[1], np.bincount(batches[0].y).max().item()
    (2, 5, 2)
    """
    for number, image in enumerate(images):
        yield sample_pixels([image], offsets, per_part, derive_seed("pixels", seed, number))


def cut_at(batches: Iterator[Pixels], stops: Sequence[int]) -> Iterator[tuple[Pixels, int]]:
    """Yield the same rows in batches that end at each stop, and the stop where one ends there, 0 elsewhere.

    Parameters
    ----------
    batches
        Rows.
    stops
        Numbers of rows, increasing; what comes after the last is left out.

    Examples
    --------
    >>> rows = [Pixels(np.zeros((4, 1)), np.arange(4)), Pixels(np.zeros((4, 1)), np.arange(4, 8))]
    >>> [(part.y.tolist(), stop) for part, stop in cut_at(iter(rows), [3, 6])]
    [([0, 1, 2], 3), ([3], 0), ([4, 5], 6)]
    """
    seen, left = 0, list(stops)
    for batch in batches:
        start = 0
        while left and start < len(batch.y):
            size = min(len(batch.y) - start, left[0] - seen)
            part = Pixels(batch.X[start : start + size], batch.y[start : start + size])
            seen, start = seen + size, start + size
            yield part, left.pop(0) if seen == left[0] else 0
        if not left:
            return


class Exam:
    """The pixels of some images; their features are kept if that is little.

    Parameters
    ----------
    images, offsets
        As for `foreground_pixels`.

    Examples
    --------
    >>> from experiments.papers.bayesian.bodies import draw_bodies
    >>> from experiments.papers.bayesian.offsets import draw_offsets
    >>> exam = Exam(draw_bodies(2, 30, 40, seed=0), draw_offsets(5, seed=0))
    >>> right, total = exam.grade(lambda X: np.ones(len(X)))
    >>> 0 < right < total
    True
    """

    def __init__(self, images: Sequence[DepthImage], offsets: Floats) -> None:
        self.images = images
        self.offsets = offsets
        few = sum(image.parts.size for image in images) * len(offsets) <= _KEPT
        self._kept = list(self._see()) if few else None

    def grade(self, answer: Any) -> tuple[int, int]:
        """Return how many pixels something that answers rows has right, and how many there are."""
        right = total = 0
        for pixels in self._kept or self._see():
            right += int(np.sum(answer(pixels.X) == pixels.y))
            total += len(pixels.y)
        return right, total

    def _see(self) -> Iterator[Pixels]:
        for image in self.images:
            yield foreground_pixels([image], self.offsets)
