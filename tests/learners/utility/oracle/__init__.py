"""The learner from its formulas: slow, obvious, one row at a time."""
