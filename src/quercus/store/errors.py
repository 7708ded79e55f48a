"""The error of a file that is not a model this quercus can read."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file that is damaged, foreign, or written by a newer quercus.

    Examples
    --------
    >>> issubclass(ModelFileError, ValueError)
    True
    """
