"""What Quercus is worth, measured: the papers behind it, and others beside it. ``python -m experiments --help``."""
