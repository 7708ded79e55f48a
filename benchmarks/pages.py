"""Fill the pages from stored results: ``python -m benchmarks.pages [--check]``.

Writes docs/reproduction.md, and what stands between the markers of README.md and the other pages in docs/, from the
results in docs/reproduction. With --check nothing is written; what would change is told.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from quercus.papers.catalog import PAPERS
from quercus.papers.pages import fill_blocks, write_page
from quercus.papers.storing import Store

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "reproduction"


def make_pages() -> Iterator[tuple[Path, str]]:
    """Yield each page with the text that it should have."""
    store = Store(RESULTS)
    yield RESULTS.with_suffix(".md"), write_page(PAPERS, store, RESULTS.name)
    yield ROOT / "README.md", fill_blocks((ROOT / "README.md").read_text(encoding="utf-8"), store, "docs/reproduction")
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path != RESULTS.with_suffix(".md"):
            yield path, fill_blocks(path.read_text(encoding="utf-8"), store, RESULTS.name)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a page is not what results say")
    given = parser.parse_args()
    stale = 0
    for path, text in make_pages():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{path.relative_to(ROOT)} {'is not what the results say' if given.check else 'written'}")
        if not given.check:
            path.write_text(text, encoding="utf-8")
    return int(given.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
