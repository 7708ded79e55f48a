"""The numbers that the kernels of a Bayesian forest branch on, and how exact its types are."""

from __future__ import annotations

NUMERIC, NOMINAL, UNSEEN = range(3)  # UNSEEN: only missing values so far
SEES_ALL, SEES_SUBSET, SEES_PROJECTION = range(3)
# What a loop over rows does; PATH: it answers by one leaf.
PREDICT, LEARN, PATH = 1, 2, 4

# Below this share of |xi|^2 max diag Sigma a variance is rounding error.
FLOORS = {"float32": 1e-4, "float64": 1e-10}
# With each change a diagonal grows by this share of its largest number: rounding must not add up to more than that.
GRAINS = {"float32": 2.0**-23, "float64": 2.0**-52}
# A value beyond this counts as this: its square, and that times a covariance, must stay finite.
LARGEST = {"float32": 1e9, "float64": 1e60}
