"""Artificial streams: endless unless `rows` is given, the same rows for the same seed whatever the chunk size."""

from quercus.streams.generators.base import Generator
from quercus.streams.generators.drifting import SEA, Hyperplane
from quercus.streams.generators.independent import NaiveBayes
from quercus.streams.generators.random_tree import RandomTree
from quercus.streams.generators.stationary import GaussianPair, Multiplexer, Noise
from quercus.streams.generators.symbolic import LED, Stagger

__all__ = [
    "LED",
    "SEA",
    "GaussianPair",
    "Generator",
    "Hyperplane",
    "Multiplexer",
    "NaiveBayes",
    "Noise",
    "RandomTree",
    "Stagger",
]
