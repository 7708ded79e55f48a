"""Whatever goes wrong becomes one line and an exit code, never a traceback."""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

FAILED = 2
BROKEN_PIPE = 128 + 13
TRACEBACK_VARIABLE = "QUERCUS_TRACEBACK"

# Errors that tell a user what to do; of any other the kind is told as well, for a report of the bug.
_EXPECTED = (ValueError, TypeError, OSError, ImportError, RuntimeError)
# The library's remedies are Python arguments; these are the same as options.
_AS_OPTIONS = (
    (re.compile(r"\b(nominal|ignore)=\['([^']*)'\]"), r"--\1 '\2'"),
    (re.compile(r"\bdelimiter=('[^']*')"), r"--delimiter \1"),
    (re.compile(r"\bin missing="), "with --missing"),
)


@contextmanager
def guarded() -> Iterator[None]:
    """Run a command; turn errors, warnings, Ctrl-C and a closed pipe into what a terminal expects."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
            sys.stdout.flush()
    except typer.Exit:
        raise
    except BrokenPipeError:
        silence_output()
        raise typer.Exit(BROKEN_PIPE) from None
    except KeyboardInterrupt:
        say("stopped.")
        raise typer.Exit(128 + signal.SIGINT) from None
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            traceback.print_exc()
        say(one_line(error))
        raise typer.Exit(FAILED) from None


def say(text: str) -> None:
    """Write a line to the error stream, where it does not mix with results."""
    print(f"quercus: {text}", file=sys.stderr, flush=True)


def one_line(error: BaseException) -> str:
    """Return what an error says, on one line and in terms of the command line."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        text = f"'{os.fsdecode(error.filename)}': {error.strerror}."
    elif not isinstance(error, _EXPECTED) or not text:
        text = f"{type(error).__name__}: {text} ({TRACEBACK_VARIABLE}=1 shows where)"
    for pattern, option in _AS_OPTIONS:
        text = pattern.sub(option, text)
    return text


def refuse_options(why: str, **given: object) -> None:
    """Refuse options that were given although they mean nothing here."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"--{name} {why}")


def silence_output() -> None:
    """Let what is still to be written go nowhere, so that nobody complains about a closed pipe at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    say(f"note: {' '.join(str(message).split())}")
