"""Slow, obvious versions of the compiled kernels, written from docs/engine.md alone."""
