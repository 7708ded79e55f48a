"""All frozen cases, as a list: `CASES`."""

from __future__ import annotations

from tests.frozen import asking, buying, growing, mixtures
from tests.frozen.case import Case

CASES: list[Case] = [*growing.CASES, *mixtures.CASES, *buying.CASES, *asking.CASES]
