"""Quercus beside river, MOA, scikit-learn and scikit-activeml, and beside itself: ``python -m experiments peers``."""
