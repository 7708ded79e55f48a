"""Single examples: a dict of values by feature name becomes one row, at the speed of the numbers in it."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quercus.schema.additions import Additions
from quercus.schema.columns import HIGH, NUMBER_TYPES, REFUSED, are_numbered, plain, plain_keys
from quercus.schema.features import Features
from quercus.schema.refusals import refuse_range, refuse_text, refuse_value


class ExampleReader(Features):
    """The part of a `Schema` that reads one example.

    Examples
    --------
    >>> ExampleReader(None, False, "tree").read_one({"age": 41}, np.empty(0), learn=True).row
    array([41.])
    """

    def read_one(self, x: Mapping[str, Any], out: NDArray[np.float64], learn: bool) -> Additions | None:
        """Read one example into a row of as many values as there are features.

        Parameters
        ----------
        x
            Values by feature name; absent, None and NaN are missing.
        out
            Contiguous row to be filled. Where new features come, the row is in the returned ``additions.row`` instead.
        learn
            Whether new features and categories are to be added; otherwise unknown categories get code -1.

        Examples
        --------
        >>> from quercus.schema import Schema
        >>> schema = Schema()
        >>> added = schema.read_one({"age": 41, "job": "clerk"}, np.empty(0), learn=True)
        >>> schema.commit(added)
        >>> added.row
        array([41.,  0.])
        >>> row = np.empty(2)
        >>> schema.read_one({"age": 29}, row, learn=True)
        >>> row
        array([29., nan])
        """
        if self._fetch is not None and type(x) is dict and len(x) == len(self._plan):
            try:
                values = self._fetch(x)
                total = sum(values)
                if type(total) in NUMBER_TYPES and -HIGH <= total <= HIGH:
                    self._pack(out, 0, *values)
                    return None
            except (KeyError, TypeError, ValueError, OverflowError, struct.error):
                pass  # absent, missing, not a number or too large: the slower way tells which
        return self._read_known(x, out, learn)

    def _read_known(self, x: Mapping[Any, Any], out: NDArray[np.float64], learn: bool) -> Additions | None:
        if not isinstance(x, Mapping):
            raise TypeError(f"an example is a dict of values by feature name, not a {type(x).__name__}.")
        added: Additions | None = None
        row: list[float] = []
        left = len(x)
        for name, codes in self._plan:
            value = x.get(name)
            if value is None:
                left += name not in x
                row.append(nan)
            elif codes is None and type(value) in NUMBER_TYPES and -HIGH <= value <= HIGH:
                row.append(value)
            elif codes is not None and type(value) is str and value in codes:
                row.append(codes[value])
            elif type(value) is float and isnan(value):
                row.append(nan)
            else:
                added = added or Additions(self._edition)
                row.append(self._read_value(value, len(row), added, learn))
        if left > len(row):
            return self._read_new(x, out, learn)
        if not self.names and learn:
            raise ValueError("the first example is an empty dict; give it at least one feature.")
        self._pack(out, 0, *row)
        return added if learn and added else None

    def _read_new(self, x: Mapping[Any, Any], out: NDArray[np.float64], learn: bool) -> Additions | None:
        """Read an example with keys that are no known names."""
        renamed = plain_keys(x)
        new = [name for name in renamed if name not in self._places]
        if new and self.names and not self.open:
            self._refuse_unknown(new, self.names, "")
        if not new or not learn:
            return self._read_known({name: renamed[name] for name in renamed if name in self._places}, out, learn)
        names = [*self.names, *new]
        self._check_nominal(names)
        added = Additions(self._edition, names=new, arrived=[0] * len(new), named=not are_numbered(new))
        values = (self._read_value(renamed.get(name), place, added, learn) for place, name in enumerate(names))
        added.row = np.fromiter(values, np.float64, len(names))
        return added

    def _read_value(self, raw: Any, place: int, added: Additions, learn: bool) -> float:
        name, kind = self._name(place, added), self._kind(place, added)
        value = plain(raw)
        if value is None:
            return nan
        if value is REFUSED:
            refuse_value(raw, f"column {name!r}", "")
        text = type(value) is str
        if kind is None:
            added.kinds[place] = kind = "nominal" if text else "numeric"
        if text and kind == "numeric":
            refuse_text(name, value, "")
        if not text and not -HIGH <= value <= HIGH:
            refuse_range(name, value, "")
        if kind == "numeric":
            return float(value)
        if not text:
            self._check_number(value, place, name, "")
        return self._code(value, place, added, learn)
