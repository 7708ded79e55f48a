"""Change detectors: values come in one by one, a warning or a change is told as soon as it is sure enough."""

from __future__ import annotations

from quercus.drift.adwin import ADWIN
from quercus.drift.base import Detector, Found
from quercus.drift.ddm import DDM
from quercus.drift.page_hinkley import PageHinkley

__all__ = ["ADWIN", "DDM", "Detector", "Found", "PageHinkley"]
