"""The tables and figures of the papers behind Quercus, as commands: ``python -m experiments papers``."""
