"""Speed, size and accuracy beside river and MOA, measured in one run: ``python -m benchmarks``."""
