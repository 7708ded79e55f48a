"""How values are written for people: numbers, labels, names, long lists."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Any

Label = Hashable
_MOST_NAMES = 200  # more would take long
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def native(value: Any) -> Any:
    """Return the plain Python value of a numpy scalar, and anything else as it is."""
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def show_number(value: float) -> str:
    """Write a number with six significant digits, but never round its integer part."""
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    if 1e5 <= abs(value) < 1e15:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value + 0.0:.6g}"


def show_value(value: Any) -> str:
    """Write a feature value or a label: text in quotes, numbers shortened, None as ``missing``."""
    value = native(value)
    if value is None:
        return "missing"
    if isinstance(value, float):
        return show_number(value)
    return repr(value) if isinstance(value, str) else show_name(str(value))


def show_name(name: str) -> str:
    r"""Write a name on one line: characters that do not print become escapes."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)


def show_share(share: float) -> str:
    """Write a share in percent; 0% and 100% only where they are exact."""
    if 0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1:
        return ">99%"
    return f"{share:.0%}"


def show_count(count: float) -> str:
    """Write a number of examples: whole where it is whole, thousands apart."""
    count = float(count)
    if count.is_integer() or abs(count) >= 1000:
        return f"{count:,.0f}"
    return f"{count:.3g}"


def plural(number: float, noun: str) -> str:
    """Write a number of things."""
    many = "leaves" if noun == "leaf" else f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{show_count(number)} {noun if number == 1 else many}"


def width(text: str) -> int:
    """Return how many columns a text takes on a terminal: East Asian letters take two, marks on letters none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shorten(text: str, columns: int) -> str:
    """Cut a text in its middle so that it takes at most this many columns."""
    if width(text) <= columns:
        return text
    if columns < 1:
        return ""
    head, tail, space = "", "", columns - 1
    front, back = 0, len(text)
    while front < back:
        at_front = width(head) <= width(tail)
        letter = text[front] if at_front else text[back - 1]
        if width(head) + width(tail) + width(letter) > space:
            break
        if at_front:
            head, front = head + letter, front + 1
        else:
            tail, back = letter + tail, back - 1
    return f"{head}…{tail}"


def shorten_among(text: str, columns: int, names: Collection[str]) -> str:
    """Cut a text so that it takes at most this many columns and is not taken for another name, if that can be.

    Examples
    --------
    >>> shorten_among("income_2018_total", 9, ["income_2018_total", "expenses"])
    'inco…otal'
    >>> shorten_among("income_2018_total", 9, ["income_2018_total", "income_2019_total"])
    '…2018…'
    """
    short = shorten(text, columns)
    if short == text or len(names) > _MOST_NAMES:
        return short
    rest = [name for name in names if name != text]
    head, _, tail = short.partition("…")
    if not any(name.startswith(head) and name.endswith(tail) for name in rest):
        return short
    told = _own_words(text, columns, rest)
    return short if told is None else told


def _own_words(text: str, columns: int, rest: Sequence[str]) -> str | None:
    """Return the words of a name that not all others have, as much of each as fits; None if others have the same."""
    words, theirs = _split(text), [_split(name) for name in rest]
    own = [word for word in words if not all(word in other for other in theirs)]
    shared = [word for word in words if word not in own]
    start, end = ("…" if word in shared else "" for word in (words[0], words[-1])) if words else ("", "")
    space = columns - len(start) - len(end) - (len(own) - 1)
    most = space // len(own) if own else 0
    while own and most < max(map(width, own)) and sum(min(width(word), most + 1) for word in own) <= space:
        most += 1
    if most < 1:
        return None
    cut = [word[:most] for word in own]
    same = ([word[:most] for word in other if word not in shared] for other in theirs)
    joined = f"{start}{'…'.join(cut)}{end}"
    return joined if cut not in same and width(joined) <= columns else None


def _split(name: str) -> list[str]:
    return [word for word in _BETWEEN_WORDS.split(name) if word]


def distinct_names(things: Sequence[Any], columns: int = 26) -> list[str]:
    """Write labels or names so short that they fit, but never so that two become alike."""
    texts = [str(thing) for thing in things]
    # A number and the same as text: the text gets quotes.
    plain = {text for thing, text in zip(things, texts, strict=True) if not isinstance(thing, str)}
    texts = [repr(thing) if isinstance(thing, str) and thing in plain else str(thing) for thing in things]
    for space in (columns, columns * 4 // 3, columns * 5 // 3):
        cut = [shorten(text, space) for text in texts]
        if len(set(cut)) == len(set(texts)):
            break
    many = Counter(cut)
    names: list[str] = []
    for text, short in zip(texts, cut, strict=True):
        name = base = short if many[short] == 1 else text
        count = 1
        while name in names:
            count += 1
            name = f"{base} ({count})"
        names.append(name)
    return names


def pad(text: str, columns: int) -> str:
    """Fill a text up with spaces to this many columns."""
    return text + " " * (columns - width(text))


def ranked(classes: Sequence[Label], counts: Sequence[float]) -> list[tuple[Label, float]]:
    """Return the classes that have examples, the largest first; equal ones keep their order."""
    present = [(label, count) for label, count in zip(classes, counts, strict=True) if count > 0]
    return sorted(present, key=lambda pair: -pair[1])


def show_set(values: Sequence[Any], columns: int | None = None, most: int = 5) -> str:
    """Write a set of categories: the first ones, as many as there is room for, and how many more there are."""
    for kept in range(min(most, len(values)), 0, -1):
        more = [f"... {len(values) - kept:,} more"] if len(values) > kept else []
        line = "{" + ", ".join([show_value(value) for value in values[:kept]] + more) + "}"
        if columns is None or width(line) <= columns:
            return line
    rest = f", ... {len(values) - 1:,} more}}" if len(values) > 1 else "}"
    space = 0 if columns is None else columns - 1 - width(rest)
    return "{" + shorten(show_value(values[0]), space) + rest if space >= 6 else f"{len(values):,} values"


def others(number: int) -> str:
    """Write how many more there are."""
    return f"{number:,} other" + ("" if number == 1 else "s")
