"""The results of `python -m benchmarks` as stored results, from which the README is filled."""
