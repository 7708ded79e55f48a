"""What a pixel of a depth image sees around it, as features, and which pixels are learned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.harness.data import Floats, Integers
from experiments.papers.bayesian.images import BACKGROUND, DepthImage

# Pixels from which offsets reach at most.
REACH = 35.0
# Differences of depth count up to this many millimetres: beyond, it is something else that is seen.
SPAN = 500.0


class Pixels(NamedTuple):
    """Features of some pixels, and the parts that they belong to."""

    X: Floats
    y: Integers


def draw_offsets(count: int, seed: int, reach: float = REACH) -> Floats:
    """Return random offsets, rows and columns in pixels: of uniform direction and log-distance.

    Parameters
    ----------
    count
        How many.
    seed
        Fixes them.
    reach
        The largest distance; the smallest is one pixel.

    Examples
    --------
    >>> offsets = draw_offsets(1_000, seed=0)
    >>> distances = np.hypot(*offsets.T)
    >>> bool(distances.min() >= 1), bool(distances.max() <= 35), round(float(np.median(distances)), 1)
    (True, True, 5.6)
    """
    rng = np.random.default_rng([seed, count])
    distance, angle = np.exp(rng.uniform(0.0, np.log(reach), count)), rng.uniform(0.0, 2 * np.pi, count)
    offsets: Floats = distance[:, None] * np.stack([np.sin(angle), np.cos(angle)], axis=1)
    return offsets


def look(
    depth: NDArray[np.uint16], pixels: Integers, offsets: Floats, span: float = SPAN, unit: float | None = None
) -> Floats:
    """Return how much deeper each offset of each pixel is, from -1 to 1.

    Parameters
    ----------
    depth
        Millimetres of an image; 0, and all that is outside of it, counts as far away.
    pixels
        Row and column of each pixel.
    offsets
        Rows and columns, in pixels.
    span
        Millimetres that count as 1.
    unit
        Offsets are shorter the farther away the pixel is: as they are given at so many millimetres. None: always as
        they are given.

    Examples
    --------
    >>> depth = np.array([[2000, 2100, 3000]], np.uint16)
    >>> look(depth, np.array([[0, 1]]), np.array([[0, -1.0], [0, 1], [0, 2]])).tolist()
    [[-0.2, 1.0, 1.0]]
    """
    own = depth[pixels[:, 0], pixels[:, 1]].astype(np.float64)
    scale = np.ones(len(pixels)) if unit is None else unit / np.maximum(own, 1.0)
    rows, columns = (np.rint(pixels[:, k, None] + scale[:, None] * offsets[:, k]) for k in (0, 1))
    inside = (rows >= 0) & (rows < depth.shape[0]) & (columns >= 0) & (columns < depth.shape[1])
    at = np.where(inside, rows * depth.shape[1] + columns, 0).astype(np.int64)
    there = depth.ravel()[at].astype(np.float64)
    found: Floats = np.clip((there - own[:, None]) / span, -1.0, 1.0)
    found[~inside | (there == 0)] = 1.0
    return found


def sample_pixels(images: Sequence[DepthImage], offsets: Floats, per_part: int, seed: int) -> Pixels:
    """Return pixels to learn from, image by image: of every part so many, or all, in random order.

    Parameters
    ----------
    images
        In order.
    offsets
        As `look` takes them.
    per_part
        How many pixels of each part in each image, the background included.
    seed
        Fixes which.

    Examples
    --------
    >>> image = DepthImage(np.ones((4, 4), np.uint16), np.eye(4, dtype=np.uint8))
    >>> np.bincount(sample_pixels([image], draw_offsets(5, seed=0), per_part=6, seed=0).y).tolist()
    [6, 4]
    """
    rng = np.random.default_rng([seed, per_part])
    found = []
    for image in images:
        order = rng.permutation(image.parts.size)
        by_part = [order[image.parts.ravel()[order] == part][:per_part] for part in np.unique(image.parts)]
        chosen = rng.permutation(np.concatenate(by_part))
        found.append(_see(image, chosen, offsets))
    return _join(found)


def foreground_pixels(images: Sequence[DepthImage], offsets: Floats) -> Pixels:
    """Return all pixels that show a part, to test on.

    Parameters
    ----------
    images
        In order.
    offsets
        As `look` takes them.

    Examples
    --------
    >>> image = DepthImage(np.ones((4, 4), np.uint16), np.eye(4, dtype=np.uint8))
    >>> foreground_pixels([image], draw_offsets(5, seed=0)).X.shape
    (4, 5)
    """
    return _join([_see(image, np.flatnonzero(image.parts != BACKGROUND), offsets) for image in images])


def _see(image: DepthImage, places: Integers, offsets: Floats) -> Pixels:
    pixels = np.stack(np.divmod(places, image.parts.shape[1]), axis=1)
    return Pixels(look(image.depth, pixels, offsets), image.parts.ravel()[places].astype(np.int64))


def _join(found: Sequence[Pixels]) -> Pixels:
    return Pixels(np.concatenate([one.X for one in found]), np.concatenate([one.y for one in found]))
