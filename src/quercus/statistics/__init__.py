"""Credible bounds of how mixed the labels of a region are and of the risk there, and change detectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quercus.statistics.credible import impurity_interval, risk_bound

if TYPE_CHECKING:
    from quercus.statistics.detectors import ADWIN, DDM, Detector, Found, PageHinkley

__all__ = ["ADWIN", "DDM", "Detector", "Found", "PageHinkley", "impurity_interval", "risk_bound"]


def __getattr__(name: str) -> Any:
    # Detectors need numba, which the bounds' callers may not.
    if name in __all__:
        from quercus.statistics import detectors

        return getattr(detectors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
