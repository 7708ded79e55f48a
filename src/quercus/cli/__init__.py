"""The command line: run, compare, predict, show, streams. Starting it imports neither numba nor scikit-learn."""

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
