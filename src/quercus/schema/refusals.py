"""How values are refused: what is wrong, where, and what to do about it."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

# a dtype or type whose name holds the word gets the remedy
_REMEDIES = {
    "delta": "turn it into a number first, such as its seconds",
    "duration": "turn it into a number first, such as its seconds",
    "date": "turn it into numbers first, such as days since a start, the month or the weekday",
    "time": "turn it into numbers first, such as seconds since a start, the hour or the weekday",
    "period": "turn it into numbers first, such as the year and the month",
    "binary": "decode it to text first",
    "bytes": "decode it to text first",
    "list": "give each element a column of its own",
    "array": "give each element a column of its own",
    "struct": "give each field a column of its own",
    "dict": "give each field a column of its own",
    "sparse": "make it dense first, with .sparse.to_dense()",
}


def refuse_value(value: Any, what: str, where: str) -> NoReturn:
    """Raise the error for a value that is neither number nor text.

    Examples
    --------
    >>> refuse_value(b"x", "column 'job'", " in row 3")
    Traceback (most recent call last):
        ...
    TypeError: column 'job' holds b'x' in row 3, a bytes: the argument must be a string or a number; decode it to ...
    """
    if isinstance(value, complex | np.complexfloating):
        raise ValueError(f"Complex data not supported: {what} holds {value!r}{where}; give real numbers.")
    kind = type(value).__name__
    raise TypeError(
        f"{what} holds {short(value)}{where}, a {kind}: the argument must be a string or a number; {_remedy(kind)}."
    )


def refuse_dtype(dtype: str, what: str) -> NoReturn:
    """Raise the error for a column or array of a type that is neither number nor text.

    Examples
    --------
    >>> refuse_dtype("Date", "column 'when'")
    Traceback (most recent call last):
        ...
    TypeError: column 'when' is of type Date; turn it into numbers first, such as days since a start, the month or ...
    """
    if "complex" in dtype:
        raise ValueError(f"Complex data not supported: {what} is of type {dtype}; give real numbers.")
    raise TypeError(f"{what} is of type {dtype}; {_remedy(dtype)}.")


def refuse_range(name: str, value: Any, where: str) -> NoReturn:
    """Raise the error for a number that is infinite or that no float can hold.

    Examples
    --------
    >>> refuse_range("age", float("inf"), " in row 17")
    Traceback (most recent call last):
        ...
    ValueError: column 'age' holds inf in row 17; replace it with NaN to mark it missing.
    """
    text = f"{value}" if isinstance(value, float) else "a number beyond the range of floats"
    raise ValueError(f"column {name!r} holds {text}{where}; replace it with NaN to mark it missing.")


def refuse_text(name: str, value: Any, where: str, category: bool = False) -> NoReturn:
    """Raise the error for a value of a numeric column that is text, or of a type that declares categories.

    Examples
    --------
    >>> refuse_text("age", "old", " in row 3")
    Traceback (most recent call last):
        ...
    ValueError: column 'age' is numeric but holds 'old' in row 3; make it a number or None (missing), or ...
    """
    holds = "is now categorical, with" if category else "holds"
    raise ValueError(
        f"column {name!r} is numeric but {holds} {short(value)}{where}; make it a number or None (missing), "
        "or name the column in nominal= so that all its values are categories."
    )


def _remedy(kind: str) -> str:
    return next(
        (said for word, said in _REMEDIES.items() if word in kind.lower()), "turn it into numbers or text first"
    )


def short(value: Any) -> str:
    """Return the representation of a value, cut to fit a message.

    Examples
    --------
    >>> len(short("x" * 1000))
    60
    """
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: list[str]) -> str:
    """Return names for a message, the first of them if there are many.

    Examples
    --------
    >>> listed(["age", "job"])
    "'age', 'job'"
    """
    shown = ", ".join(map(repr, names[:12]))
    return shown if len(names) <= 12 else f"{shown} and {len(names) - 12} more"
