"""An additive model of single features, on top of an evergreen tree or forest. See ``docs/evergreen.md``."""
