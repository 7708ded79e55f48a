"""Writes what is found as what is frozen: ``python -m tests.frozen --renew [NAME...]``."""

from __future__ import annotations

import argparse
from fnmatch import fnmatch

from tests.frozen import values
from tests.frozen.cases import CASES
from tests.frozen.streams import names, stream


def main() -> None:
    """Renew values by name (a case, a file or a pattern; none: all), or write model files that are not there yet."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--renew", nargs="*", metavar="NAME", help="of cases, such as hoeffding/numeric or 'asking/*'")
    choice.add_argument("--models", action="store_true", help="write golden files that are missing; never others")
    given = parser.parse_args()
    if given.models:
        from tests.frozen import models

        for name in models.write_missing():
            print(f"wrote {name}")
        return
    unknown = [name for name in given.renew if not names_of([name])]
    if unknown:
        parser.error(
            f"no case is called {unknown[0]!r}; there are {', '.join(sorted({case.group for case in CASES}))}."
        )
    renew(given.renew or ["*"])


def names_of(patterns: list[str]) -> set[str]:
    """Return the names of the cases that patterns mean."""
    return {case.name for case in CASES if any(fnmatch(case.name, p) or case.group == p for p in patterns)}


def renew(patterns: list[str]) -> None:
    """Play the cases of these names and write what is found."""
    chosen = names_of(patterns)
    values.store(values.FOLDER / "streams.json", {name: stream(name).checksum() for name in names()})
    for group in dict.fromkeys(case.group for case in CASES):
        mine = [case for case in CASES if case.group == group]
        if chosen.isdisjoint(case.name for case in mine):
            continue
        path = values.FOLDER / f"{group}.json"
        stored = values.load(path)
        found = {case.name: case.find() if case.name in chosen else stored.get(case.name) for case in mine}
        values.store(path, {name: value for name, value in found.items() if value is not None})
    print(f"renewed {len(chosen)} of {len(CASES)} cases")


if __name__ == "__main__":
    main()
