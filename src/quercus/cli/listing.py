"""`quercus streams`: what there is by name."""

from __future__ import annotations

import shutil
import sys

_LEAST_DESCRIPTION = 20


def list_streams() -> None:
    """Print the streams by name, with their source, rows and features; descriptions are cut to fit a terminal."""
    from quercus.streams import available

    head = ("name", "source", "rows", "features", "description")
    lines = [head]
    for entry in available():
        rows = "endless" if entry.rows is None else f"{entry.rows:,}"
        lines.append((entry.name, entry.source, rows, f"{entry.features:,}", entry.description))
    wide = [max(len(line[i]) for line in lines) for i in range(4)]
    space = _text_space(sum(wide) + 2 * len(wide))
    for name, source, rows, features, description in lines:
        text = description if len(description) <= space else description[: space - 1].rstrip() + "…"
        cells = (name.ljust(wide[0]), source.ljust(wide[1]), rows.rjust(wide[2]), features.rjust(wide[3]), text)
        print("  ".join(cells).rstrip())


def _text_space(taken: int) -> int:
    """Return how long a description may be: as long as it is where nobody is looking, else to the terminal's edge."""
    if not sys.stdout.isatty():
        return sys.maxsize
    return max(shutil.get_terminal_size().columns - taken, _LEAST_DESCRIPTION)
