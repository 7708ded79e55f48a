"""Data sets by name: files in a folder of one's own, what scikit-learn brings along, OpenML, and the generators."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from quercus.streams import generators
from quercus.streams.base import Stream
from quercus.streams.catalog import BUNDLED, KNOWN

GENERATORS: dict[str, Callable[..., generators.Generator]] = {
    "random_tree": generators.RandomTree,
    "sea": generators.SEA,
    "hyperplane": generators.Hyperplane,
    "led": generators.LED,
    "stagger": generators.Stagger,
    "g50c": generators.GaussianPair,
    "multiplexer": generators.Multiplexer,
    "naive_bayes": generators.NaiveBayes,
    "noise": generators.Noise,
}
_FOLDER = "QUERCUS_DATA"


class Available(NamedTuple):
    """A name that `load` takes.

    Examples
    --------
    >>> Available("iris", "scikit-learn", 150, 4, "three species").rows
    150
    """

    name: str
    source: str
    rows: int | None
    features: int
    description: str


def load(name: str, ordered: bool = True, **arguments: Any) -> Stream:
    """Return a data set or generator by its name.

    The first source that has the name wins: the folder that the environment variable QUERCUS_DATA names
    (``<name>.parquet`` whose column ``target`` holds the labels and whose column ``split``, if any, is left out); the
    sets that scikit-learn brings along; OpenML, through scikit-learn and its cache; the generators. Labels are
    spelled as the source spells them.

    Parameters
    ----------
    name
        One of the names in `available`; or ``"openml:electricity@1"`` (name and version) or ``"openml:151"`` (number)
        for any set of OpenML.
    ordered
        True keeps the order of the source; False shuffles in memory (with the argument ``seed``, 0 if not given).
        Some sets are sorted by class (their description says so): a stream of them needs False.
    arguments
        Those of a generator, such as ``seed`` and ``rows``.

    Examples
    --------
    >>> load("random_tree", seed=3, rows=1000)
    RandomTree 'random_tree': 1,000 rows, 5 features, 2 classes, Bayes error 0.3
    >>> load("wine", ordered=False)
    MemoryStream 'wine, shuffled': 178 rows, 13 features, 3 classes
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a data set is a string, not {type(name).__name__}.")
    open_set = _find(name)
    takes = [] if open_set else list(inspect.signature(GENERATORS[_key(name)]).parameters)
    for argument in arguments:
        if argument not in takes and (ordered or argument != "seed"):
            listing = (
                f"it takes {', '.join(takes)}" if takes else "a data set takes none (but seed= with ordered=False)"
            )
            raise TypeError(f"load({name!r}) has no argument {argument!r}; {listing}.")
    stream = open_set() if open_set else GENERATORS[_key(name)](**arguments)
    return stream if ordered else stream.shuffled(arguments.get("seed", 0))


def available() -> list[Available]:
    """Return what `load` takes by name, each with its source, rows (None: endless), number of features and description.

    Examples
    --------
    >>> [entry.name for entry in available() if entry.source == "generator"][:3]
    ['random_tree', 'sea', 'hyperplane']
    """
    entries: dict[str, Available] = {}
    for entry in _all_sources():
        entries.setdefault(_key(entry.name), entry)
    return list(entries.values())


def _all_sources() -> Iterator[Available]:
    for path in sorted(_local_files().values()):
        yield _local_entry(path)
    for name, known in BUNDLED.items():
        yield Available(name, "scikit-learn", known.rows, known.features, known.description)
    for name, known in KNOWN.items():
        if known.openml is not None:
            yield Available(name, f"OpenML {known.openml}", known.rows, known.features, known.description)
    for name, generator in GENERATORS.items():
        description = (inspect.getdoc(generator) or "").split("\n")[0]
        yield Available(name, "generator", None, len(generator().feature_names), description)


def _local_entry(path: Path) -> Available:
    from pyarrow import parquet

    metadata = parquet.read_metadata(path)
    columns = set(metadata.schema.to_arrow_schema().names)
    known = KNOWN.get(_key(path.stem))
    description = known.description if known else ""
    return Available(path.stem, _FOLDER, metadata.num_rows, len(columns - {"split", "target"}), description)


def _find(name: str) -> Callable[[], Stream] | None:
    """Return what opens the data set of that name; None for a generator."""
    from quercus.streams import sources

    key = _key(name)
    if name.lower().startswith("openml:"):
        return lambda: sources.from_openml(name[len("openml:") :], name)
    if path := _local_files().get(key):
        return lambda: sources.from_folder(path, key)
    if key in BUNDLED:
        return lambda: sources.bundled(key)
    if key in KNOWN and (number := KNOWN[key].openml) is not None:
        return lambda: sources.from_openml(str(number), key)
    if key in GENERATORS:
        return None
    raise ValueError(_unknown(name, key))


def _local_files() -> dict[str, Path]:
    folder = os.environ.get(_FOLDER)
    if not folder:
        return {}
    if not Path(folder).is_dir():
        raise ValueError(
            f"the environment variable {_FOLDER} names '{folder}', which is no folder; correct or unset it."
        )
    return {_key(path.stem): path for path in Path(folder).glob("*.parquet")}


def _unknown(name: str, key: str) -> str:
    if key in KNOWN:
        return f"{name!r} is not fetched from anywhere; put {key}.parquet into the folder that {_FOLDER} names."
    names = [entry.name for entry in available()]
    names.sort(key=lambda other: -difflib.SequenceMatcher(None, key, _key(other)).ratio())
    listing = ", ".join(names)
    return f"there is no data set {name!r}; closest first: {listing}. 'openml:name@version' takes any of OpenML."


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
