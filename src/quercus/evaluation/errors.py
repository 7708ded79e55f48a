"""Where in the stream it went wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quercus.evaluation.run import Run

# A quoted name may say "row 3" as well; it is matched first and left alone.
_ROW = re.compile(r"""(?<!\w)'[^']*'(?!\w)|(?<!\w)"[^"]*"(?!\w)|\brow (\d+)\b""")


class Interrupted(KeyboardInterrupt):
    """A run was stopped from the keyboard; ``run`` is what was measured until then.

    If `repeat`, `frontier` or `feature_frontier` was stopped, ``repeats`` or ``frontier`` holds the seeds that are
    done, None if there is none. The learner stays usable. It may have learned some rows more than were scored, those of
    the batch at hand.

    Examples
    --------
    >>> try:
    ...     raise Interrupted("the run so far")
    ... except KeyboardInterrupt as stop:
    ...     print(stop.run)
    the run so far
    """

    def __init__(self, run: Run) -> None:
        super().__init__("interrupted; .run holds what was measured so far")
        self.run = run
        self.repeats: Any = None
        self.frontier: Any = None


class TooLargeError(ValueError):
    """A problem takes too long to be solved exactly; ``why`` tells its size, and the text also what to do."""

    def __init__(self, why: str, remedy: str) -> None:
        super().__init__(f"{why}; {remedy}.")
        self.why = why


def located(error: Exception, start: int, stop: int, stream: str, row: int | None = None) -> Exception:
    """Return the error of a batch with its rows counted from the start of the stream.

    If the row in the batch is not known, the numbers after "row" in the error's text are moved.
    """
    text = str(error)
    where = f"rows {start} to {stop - 1} of stream {stream!r}"
    if row is not None:
        where = f"row {start + row} of stream {stream!r}"
    elif start:
        text = _ROW.sub(lambda found: _shift(found, start), text)
    elif not any(found[1] for found in _ROW.finditer(text)):
        return error  # most likely the learner's own arguments, which no row is to blame for
    # Only these two can be made anew from a text; others say where in a note.
    for kind in (ValueError, TypeError):
        if isinstance(error, kind):
            return kind(f"{text} ({where})")
    error.add_note(f"This was in {where}.")
    return error


def _shift(found: re.Match[str], start: int) -> str:
    return found[0] if found[1] is None else f"row {int(found[1]) + start}"
