"""Asking for labels in a pool, where all rows are known beforehand and their labels are not."""

from __future__ import annotations

from quercus.ask.pool.question import PoolQuestion
from quercus.ask.pool.sampler import PoolSampler

__all__ = ["PoolQuestion", "PoolSampler"]
