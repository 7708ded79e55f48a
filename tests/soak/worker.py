"""A process that loads forged files and uses what it gets; it may crash, hang or run out of memory.

Stdin brings lines with the name of a file and the number of a mutation, as JSON; stdout tells how each went.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import linecache
import os
import resource
import sys
import traceback
import warnings
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import quercus
from quercus.store import Model, ModelFileError, read_model
from tests.soak.mutations import mutated, write

# What a forged file may make a process take, beyond what it has when kernels are loaded.
MOST_BYTES = 3 * 2**30
_ROWS = 24
_LATE = 12
_PACKAGE = str(Path(quercus.__file__).parent)


def rows_for(model: Any, seed: int = 0) -> tuple[list[dict[str, Any]], list[Any]]:
    """Return rows as the schema of a model knows them, and labels, of which the last ones are new."""
    schema, draw = model.schema_, np.random.default_rng(seed)
    rows = [
        {
            name: _value(kind, categories, draw)
            for name, kind, categories in zip(schema.names, schema.kinds, schema.categories, strict=True)
        }
        for _ in range(_ROWS)
    ]
    known = list(schema.labels) or [0]
    labels = [known[int(draw.integers(len(known)))] for _ in range(_ROWS)]
    odd: dict[type, Any] = {str: "a new one", bool: True, int: 1_000_003}
    labels[_LATE:] = [odd.get(type(known[0]), known[0]) if row % 4 == 0 else labels[row] for row in range(_LATE, _ROWS)]
    return rows, labels


def _value(kind: Any, categories: Iterable[Any], draw: np.random.Generator) -> Any:
    if draw.random() < 0.1:
        return None
    known = list(islice(categories, 1000))
    if kind == "nominal":
        return known[int(draw.integers(len(known)))] if known else None
    return float(draw.choice([draw.random(), draw.normal() * 10, draw.integers(0, 5), -1e9]))


def use(path: Path) -> None:
    """Load a model, let it answer, learn and answer again."""
    model = quercus.load(path)
    rows, labels = rows_for(model)
    model.predict_proba(rows)
    model.predict(rows[:2])
    model.predict_one(rows[0])
    if hasattr(model, "open"):
        case = model.open({})
        for _ in range(3):
            if case.question is not None:
                members = (model.groups or {}).get(case.question)
                x = rows[1]
                case.answer(x.get(case.question) if members is None else {name: x.get(name) for name in members})
    if hasattr(model, "buy_and_learn"):
        model.buy_and_learn(rows, labels)
    if hasattr(model, "partial_fit"):
        model.partial_fit(rows, labels)
        model.learn_one(rows[0], labels[0])
        model.predict_proba(rows)


def judge(path: Path) -> tuple[str, str]:
    """Use a file; return what came of it, and what was said."""
    try:
        use(path)
    except ModelFileError as error:
        cause = error.__cause__
        if cause is not None and _is_in_kernel(cause):
            return "kernel", _tell(cause)
        if isinstance(cause, MemoryError) and not is_raised_by_us(cause):
            return "memory", _tell(cause)
        known = cause is None or isinstance(cause, ValueError | MemoryError)
        return ("refused" if known else "refused by chance"), str(error)
    except Exception as error:
        if isinstance(error, ValueError | TypeError | MemoryError) and is_raised_by_us(error):
            return "refused later", str(error)
        return "error", _tell(error)
    return "works", ""


def is_raised_by_us(error: BaseException) -> bool:
    """Return whether an error was thought of: some line of quercus raises it."""
    frame = list(traceback.walk_tb(error.__traceback__))[-1]
    code = frame[0].f_code
    return code.co_filename.startswith(_PACKAGE) and "raise" in linecache.getline(code.co_filename, frame[1])


def _is_in_kernel(error: BaseException) -> bool:
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(name.endswith("compile/entry.py") for name in files)


def _tell(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)[-8:])


def serve(folder: Path) -> None:
    """Answer the lines on stdin; the file at hand is in ``folder``, by the name of ``forged.quercus``."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    # The disk need not hold what is read at once.
    os.fsync = lambda _: None  # type: ignore[assignment]
    models: dict[str, Model] = {}
    forged = folder / "forged.quercus"
    for line in sys.stdin:
        task = json.loads(line)
        names = [task["file"], *task["others"]]
        models |= {name: read_model(name) for name in names if name not in models}
        if task["number"] is None:
            outcome, words = judge(Path(task["file"]))
            _limit_memory()
        else:
            model, _ = mutated(Path(task["file"]).stem, [models[name] for name in names], task["number"])
            forged.unlink(missing_ok=True)
            write(model, forged)
            outcome, words = judge(forged)
        print(json.dumps([outcome, words]), flush=True)


def _limit_memory() -> None:
    # Not everywhere does the system let itself be told so.
    with contextlib.suppress(OSError, ValueError):
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MOST_BYTES, resource.RLIM_INFINITY))


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
