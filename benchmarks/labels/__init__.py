"""What label policies are worth."""

from benchmarks.labels.going import SETS, Data, go, load

__all__ = ["SETS", "Data", "go", "load"]
