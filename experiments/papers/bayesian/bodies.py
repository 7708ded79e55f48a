"""Depth images of simple bodies: 19 ellipsoids in a random pose before a wall, seen by a pinhole camera.

They stand in for the rendered bodies of the paper's Kinect set: as many parts, and every pixel has its label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.papers.bayesian.images import BACKGROUND, DepthImage

_SIDES = ("left", "right")
_PAIRS = ("shoulder", "upper arm", "lower arm", "hand", "thigh", "shin", "foot")
# Names by number; the background is 0.
PARTS = (
    "background",
    "head",
    "neck",
    "chest",
    "belly",
    "hips",
    *(f"{side} {part}" for side in _SIDES for part in _PAIRS),
)
# Focal length by height of the image: a body of 1.8 m fits from 2.4 m on.
_FOCUS = 1.25
_DOWN = np.array([0.0, 1.0, 0.0])
_AHEAD = np.array([0.0, 0.0, -1.0])


class Ellipsoid(NamedTuple):
    """A part of a body: its middle, the directions of its axes as rows, and their half lengths, in metres."""

    part: int
    middle: Floats
    axes: Floats
    radii: Floats


class Scene(NamedTuple):
    """The parts of a body, and the wall behind it: its depth straight ahead, and how it grows to the right and down."""

    body: list[Ellipsoid]
    wall: tuple[float, float, float]


def draw_bodies(count: int, height: int, width: int, seed: int) -> list[DepthImage]:
    """Return images of bodies in random poses.

    Parameters
    ----------
    count
        How many; more of them begin with the same.
    height, width
        Of each, in pixels.
    seed
        Fixes them.

    Examples
    --------
    >>> image = draw_bodies(1, height=30, width=40, seed=0)[0]
    >>> len(PARTS), image.depth.shape, bool((image.depth[image.parts > 0].max() < image.depth[image.parts == 0].min()))
    (20, (30, 40), True)
    """
    return [render(make_scene(np.random.default_rng([seed, number])), height, width) for number in range(count)]


def make_scene(rng: np.random.Generator) -> Scene:
    """Return a body in a random pose at a random distance, and a wall.

    Parameters
    ----------
    rng
        Where chance comes from.

    Examples
    --------
    >>> scene = make_scene(np.random.default_rng(0))
    >>> [PARTS[one.part] for one in scene.body[:3]], len(scene.body)
    (['head', 'neck', 'chest'], 19)
    """
    size, turn = rng.uniform(0.9, 1.1), _turn(1, rng.uniform(-0.6, 0.6))
    place = np.array([rng.uniform(-0.4, 0.4), rng.uniform(-0.05, 0.05), rng.uniform(2.4, 3.4)])
    body = [
        Ellipsoid(one.part, place + size * (turn @ one.middle), one.axes @ turn.T, size * one.radii)
        for one in _pose(rng)
    ]
    return Scene(body, (rng.uniform(4.6, 5.4), rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.4)))


def render(scene: Scene, height: int, width: int) -> DepthImage:
    """Return what a camera sees: of every pixel the millimetres along the camera's axis, and the part.

    Parameters
    ----------
    scene
        In metres; the camera is at 0 and looks along the third axis, the second points down.
    height, width
        Of the image, in pixels.

    Examples
    --------
    >>> ball = Ellipsoid(1, np.array([0, 0, 2.0]), np.eye(3), np.full(3, 0.5))
    >>> image = render(Scene([ball], (4.0, 0.0, 0.0)), 3, 3)
    >>> image.depth[1].tolist(), image.parts[1].tolist()
    ([4000, 1500, 4000], [0, 1, 0])
    """
    right, down = find_rays(height, width)
    rays = np.stack([right, down, np.ones_like(right)], axis=-1)
    ahead, to_right, to_down = scene.wall
    nearest = ahead + to_right * right + to_down * down
    parts = np.full((height, width), BACKGROUND, np.uint8)
    for one in scene.body:
        # |A (z ray - middle)|^2 = 1, where A turns the ellipsoid into a ball of radius 1, is a quadratic in z.
        scaled = one.axes / one.radii[:, None]
        rays_there, middle = rays @ scaled.T, scaled @ one.middle
        squares, half = (rays_there**2).sum(axis=-1), rays_there @ middle
        inside = half**2 - squares * (middle @ middle - 1.0)
        z = (half - np.sqrt(np.maximum(inside, 0.0))) / squares
        seen = (inside >= 0) & (z > 0) & (z < nearest)
        nearest[seen], parts[seen] = z[seen], one.part
    return DepthImage(np.round(1000 * nearest).astype(np.uint16), parts)


def find_rays(height: int, width: int) -> tuple[Floats, Floats]:
    """Return how far right and down each pixel looks, per metre ahead.

    Parameters
    ----------
    height, width
        Of the image, in pixels.

    Examples
    --------
    >>> right, down = find_rays(3, 3)
    >>> right[0].round(3).tolist(), down[:, 0].round(3).tolist()
    ([-0.267, 0.0, 0.267], [-0.267, 0.0, 0.267])
    """
    rows, columns = np.mgrid[:height, :width]
    focus = _FOCUS * height
    return (columns - (width - 1) / 2) / focus, (rows - (height - 1) / 2) / focus


def _pose(rng: np.random.Generator) -> list[Ellipsoid]:
    """Return a body of 1.8 m whose hips are at 0, in body coordinates: right, down, away."""
    lean = _turn(0, rng.uniform(-0.35, 0.2)) @ _turn(2, rng.uniform(-0.25, 0.25))
    nod = lean @ _turn(0, rng.uniform(-0.3, 0.3)) @ _turn(2, rng.uniform(-0.3, 0.3))
    body = [
        Ellipsoid(1, lean @ [0, -0.56, 0] + nod @ [0, -0.14, 0], nod.T, np.array([0.085, 0.125, 0.1])),
        Ellipsoid(2, lean @ [0, -0.55, 0], lean.T, np.array([0.06, 0.09, 0.06])),
        Ellipsoid(3, lean @ [0, -0.38, 0], lean.T, np.array([0.17, 0.16, 0.12])),
        Ellipsoid(4, lean @ [0, -0.17, 0], lean.T, np.array([0.15, 0.13, 0.11])),
        Ellipsoid(5, np.zeros(3), np.eye(3), np.array([0.17, 0.11, 0.12])),
    ]
    for first, side in ((6, -1.0), (6 + len(_PAIRS), 1.0)):
        body += _arm(rng, first, side, lean) + _leg(rng, first + 4, side)
    return body


def _arm(rng: np.random.Generator, first: int, side: float, lean: Floats) -> list[Ellipsoid]:
    shoulder = lean @ [0.19 * side, -0.46, 0]
    out, ahead = rng.uniform(0.1, 2.2), rng.uniform(-0.4, 1.2)
    upper = _aim(side, out, ahead)
    lower = _aim(side, out + rng.uniform(-0.6, 1.0), ahead + rng.uniform(0.0, 1.2))
    elbow = shoulder + 0.29 * upper
    wrist = elbow + 0.25 * lower
    return [
        Ellipsoid(first, shoulder, np.eye(3), np.array([0.08, 0.08, 0.08])),
        _limb(first + 1, shoulder, elbow, 0.055),
        _limb(first + 2, elbow, wrist, 0.045),
        _limb(first + 3, wrist, wrist + 0.15 * lower, 0.055),
    ]


def _leg(rng: np.random.Generator, first: int, side: float) -> list[Ellipsoid]:
    hip = np.array([0.095 * side, 0.06, 0])
    out, ahead = rng.uniform(-0.05, 0.6), rng.uniform(-0.3, 0.9)
    thigh, shin = _aim(side, out, ahead), _aim(side, out, ahead - rng.uniform(0.0, 0.9))
    knee = hip + 0.42 * thigh
    ankle = knee + 0.4 * shin
    toes = 0.7 * _AHEAD + 0.35 * side * np.array([1.0, 0, 0]) + 0.3 * _DOWN
    return [
        _limb(first, hip, knee, 0.085),
        _limb(first + 1, knee, ankle, 0.06),
        _limb(first + 2, ankle, ankle + 0.2 * toes, 0.05),
    ]


def _aim(side: float, out: float, ahead: float) -> Floats:
    """Return the direction of a limb that hangs down, raised to its side and then forward."""
    return np.array([side * np.sin(out) * np.cos(ahead), np.cos(out) * np.cos(ahead), -np.sin(ahead)])


def _limb(part: int, start: Floats, stop: Floats, radius: float) -> Ellipsoid:
    """Return an ellipsoid from one joint to the other, which it covers."""
    along = stop - start
    length = float(np.linalg.norm(along))
    axis = along / length
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    across = np.cross(axis, helper)
    across /= np.linalg.norm(across)
    axes = np.stack([axis, across, np.cross(axis, across)])
    return Ellipsoid(part, (start + stop) / 2, axes, np.array([length / 2 + radius / 2, radius, radius]))


def _turn(axis: int, angle: float) -> Floats:
    """Return the rotation about an axis."""
    turn, (i, j) = np.eye(3), [k for k in range(3) if k != axis]
    turn[i, i] = turn[j, j] = np.cos(angle)
    turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
    return turn
