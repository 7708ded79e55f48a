"""Stored values: files that people can read, and exactly where what is found differs from them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "values"
CLOSE = 1e-9
_COLUMNS = 116


def load(path: Path) -> Any:
    """Return what is stored, {} if nothing is."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def store(path: Path, values: Any) -> None:
    """Write values, as many on a line as it holds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_text(values, 0) + "\n", encoding="utf-8")


def differences(stored: Any, found: Any, path: str = "") -> Iterator[str]:
    """Tell where two structures differ; floats may, by a billionth."""
    if isinstance(stored, dict) and isinstance(found, dict):
        for name in [*stored, *(name for name in found if name not in stored)]:
            place = f"{path}.{name}" if path else name
            if name in stored and name in found:
                yield from differences(stored[name], found[name], place)
            else:
                yield f"{place}: {'only stored' if name in stored else 'only found'}"
    elif isinstance(stored, list) and isinstance(found, list):
        if len(stored) != len(found):
            yield f"{path}: stored {len(stored)} entries, found {len(found)}"
        for i, (one, other) in enumerate(zip(stored, found, strict=False)):
            yield from differences(one, other, f"{path}[{i}]")
    elif not _same(stored, found):
        yield f"{path}: stored {stored!r}, found {found!r}"


def _same(stored: Any, found: Any) -> bool:
    if type(stored) is not type(found):
        return False
    if isinstance(stored, float):
        both_nan = math.isnan(stored) and math.isnan(found)
        return both_nan or math.isclose(stored, found, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(stored == found)


def _text(value: Any, depth: int) -> str:
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + depth <= _COLUMNS or not isinstance(value, dict | list) or not value:
        return line
    if isinstance(value, dict):
        parts = [f"{json.dumps(name)}: {_text(part, depth + 1)}" for name, part in value.items()]
    else:
        parts = _filled([_text(part, depth + 1) for part in value])
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    indent = "\n" + " " * (depth + 1)
    return f"{opened}{indent}{(',' + indent).join(parts)}\n{' ' * depth}{closed}"


def _filled(parts: list[str]) -> list[str]:
    """Join short entries to lines."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < _COLUMNS and part[0] not in "[{" and lines[-1][-1] not in "]}":
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return lines
