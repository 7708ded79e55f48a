"""Compares what two code bases have learned, byte for byte.

``python -m tests.frozen.compare OLD_SRC NEW_SRC [NAME...]`` plays every frozen case (or those of these names) with
both, takes all state arrays at several moments, and tells of each learner how many columns are equal, and of each that
is not where. Columns that moved are named in `tests.frozen.fields`. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from tests.frozen import fields

ROOT = Path(__file__).parents[2]
# Per case and moment: the learner's name, and its columns.
Columns = dict[str, np.ndarray]
Dump = dict[tuple[str, str], tuple[str, Columns]]


def main() -> int:
    """Compare two folders of source and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen.compare", description=__doc__)
    parser.add_argument("old", type=Path, help="folder that holds the package quercus as it was")
    parser.add_argument("new", type=Path, help="folder that holds it as it is now")
    parser.add_argument("names", nargs="*", default=["*"], help="of cases, such as 'hoeffding/*'")
    given = parser.parse_args()
    with ThreadPoolExecutor(2) as pool:
        old, new = pool.map(lambda source: dump(source, given.names), (given.old, given.new))
    equal, wrong = compare(old, new)
    for learner in sorted({*equal, *wrong}):
        print(f"{learner}: {equal[learner]} columns equal, {len(wrong.get(learner, []))} not")
        print("".join(f"  {line}\n" for line in wrong.get(learner, [])), end="")
    return int(bool(wrong) or not equal)


def dump(source: Path, names: list[str]) -> Dump:
    """Play the cases with this source, in a process of its own."""
    if not (source / "quercus" / "__init__.py").is_file():
        raise SystemExit(f"{source} holds no package quercus; name a folder such as src.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump"
        code = "import sys; from tests.frozen.compare import play; play(sys.argv[1], sys.argv[2:])"
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source.resolve()), str(ROOT)])}
        subprocess.run([sys.executable, "-c", code, str(path), *names], env=environment, check=True, cwd=folder)
        with path.open("rb") as file:
            result: tuple[str, Dump] = pickle.load(file)
        used, found = result
    if not Path(used).is_relative_to(source.resolve()):
        raise SystemExit(f"quercus was taken from {used}, not from {source}.")
    return found


def play(path: str, names: list[str]) -> None:
    """Play cases and write all columns at all moments."""
    import quercus
    from tests.frozen import views
    from tests.frozen.cases import CASES

    found: Dump = {}
    for case in CASES:
        if any(fnmatch(case.name, name) for name in names):

            def observe(moment: str, learner: Any, name: str = case.name) -> None:
                found[name, moment] = (name_of(learner), dict(columns(views.state(learner))))

            case.play(observe, "usual")
    with open(path, "wb") as file:
        pickle.dump((quercus.__file__, found), file)


def name_of(learner: Any) -> str:
    """Return what a learner is called, and the one inside of it."""
    name, inner = type(learner).__name__, getattr(learner, "learner_", None)
    return name if inner is None else f"{name}({type(inner).__name__})"


def columns(arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield plain arrays as they are, and records column by column."""
    for name, array in arrays.items():
        if array.dtype.names is None:
            yield name, np.ascontiguousarray(array)
            continue
        for field in array.dtype.names:
            yield from columns({f"{name}.{field}": np.ascontiguousarray(array[field])})


def compare(
    old: Dump,
    new: Dump,
    moved: dict[str, dict[str, fields.Field]] | None = None,
    added: dict[str, dict[str, fields.Added]] | None = None,
) -> tuple[Counter[str], dict[str, list[str]]]:
    """Return by learner how many columns are equal over all cases, and what is not."""
    moved, added = fields.FIELDS if moved is None else moved, fields.ADDED if added is None else added
    equal: Counter[str] = Counter()
    wrong: dict[str, list[str]] = {}
    known = {learner for learner, _ in old.values()}
    # Learners that the old code has not are not compared.
    for key in [*old, *(key for key in new if key not in old and new[key][0] in known)]:
        place = " at ".join(key)
        if key not in old or key not in new:
            learner = (old.get(key) or new[key])[0]
            wrong.setdefault(learner, []).append(f"{place}: only in the {'old' if key in old else 'new'} code")
            continue
        (learner, before), (_, after) = old[key], new[key]
        left = dict(after)
        for name, array in before.items():
            field = fields.find_field(learner, name, moved)
            if isinstance(field, fields.Dropped):
                continue
            there = field.name if isinstance(field, fields.Retyped) else field
            result = differ(array, left.pop(there, None), exact=isinstance(field, str))
            if result:
                wrong.setdefault(learner, []).append(
                    f"{place}: {name}{'' if there == name else f' -> {there}'} {result}"
                )
            else:
                equal[learner] += 1
        extra = [name for name in left if not fields.is_added(learner, name, added)]
        wrong.setdefault(learner, []).extend(f"{place}: {name} is new and not declared" for name in extra)
        if not wrong[learner]:
            del wrong[learner]
    return equal, wrong


def differ(old: np.ndarray, new: np.ndarray | None, *, exact: bool) -> str:
    """Tell how two arrays differ, '' if they do not; unless exact, numbers of another type may be equal."""
    if new is None:
        return "is missing"
    if exact and old.dtype != new.dtype:
        return f"was of type {old.dtype}, is {new.dtype}"
    if old.shape != new.shape:
        return f"was of shape {old.shape}, is {new.shape}"
    one, other = (old, new) if not exact else (_raw(old), _raw(new))
    same = (one == other) | ((one != one) & (other != other))
    if same.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~same.reshape(old.shape))[0])
    return f"differs in {int((~same).sum())} of {old.size}, first at {list(at)}: was {old[at]}, is {new[at]}"


def _raw(array: np.ndarray) -> np.ndarray:
    """Return the bytes of each number as one thing, so that -0 and the kinds of NaN are told apart."""
    return np.ascontiguousarray(array).view(f"V{array.dtype.itemsize}")


if __name__ == "__main__":
    sys.exit(main())
