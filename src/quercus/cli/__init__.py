"""The command line: run, compare, frontier, predict, show, streams. Its start imports no numba and no scikit-learn."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line on the arguments that the program was given.

    Examples
    --------
    >>> import sys
    >>> sys.argv = ["quercus", "--version"]
    >>> main()
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    try:
        from quercus.cli.app import start

        start()
    except KeyboardInterrupt:
        sys.exit(130)
