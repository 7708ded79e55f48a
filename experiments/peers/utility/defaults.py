"""What worth, confidence, gain, bins, prior and objective do on sets that are not among the paper's eight.

Every setting sees the same rows as the default, so that differences are taken run by run. Small sets are cut and
shuffled more often. Worth, confidence and gain trade cost for accuracy: the table tells both, and a sum of the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import quercus as qc
from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results
from experiments.papers.utility.verdicts import Gap
from experiments.peers.utility.rows import load, spend

DEFAULT = "`UtilityTree()`"
_SMALL = ("ionosphere", "vote", "sonar", "banknote")
_SETS = (*_SMALL, "mushroom", "nursery", "adult", "SEA", "LED", "random tree")
_SETTINGS: list[dict[str, Any]] = [{"worth": worth} for worth in (50.0, 100.0, 500.0, 1000.0)]
_SETTINGS += [{"worth": None, "confidence": c, "gain": g} for c in (0.9, 0.95) for g in (0.005, 0.01, 0.02, 0.05)]
_SETTINGS += [{"bins": bins} for bins in (4, 6, 12, 16)] + [{"prior": prior} for prior in (0.5, 1.0, 4.0, 8.0)]
_SETTINGS += [{"objective": "eced"}]
# Cuts of small sets and of others; most rows to learn from and to test.
_RUNS: dict[Scale, tuple[int, int]] = {"quick": (2, 2), "full": (20, 3)}
_ROWS: dict[Scale, tuple[int, int]] = {"quick": (150, 200), "full": (4_000, 2_000)}
# Errors that buying everything must save to be worth it: by this, cost and error are added.
_WORTH = 0.1
_COLUMNS = ("utility", "share", "sum")


def cells(scale: Scale) -> list[Cell]:
    """Return the cuts of each set."""
    (many, few), (rows, tested) = _RUNS[scale], _ROWS[scale]
    return [
        {"data": data, "rows": rows, "tested": tested, "run": run}
        for data in _SETS
        for run in range(many if data in _SMALL else few)
    ]


def measure(cell: Cell, seed: int) -> list[Row]:
    """Return accuracy, the share of features bought, and error plus cost, by setting."""
    split = load(str(cell["data"]), seed, int(cell["rows"]), int(cell["tested"]))
    lines: list[Row] = []
    for given in ({}, *_SETTINGS):
        line = spend(qc.UtilityTree(nominal=split.nominal, seed=seed, **given), split)
        share = float(line["cost"]) / split.X.shape[1]
        lines.append({"setting": _name(given), **line, "share": share,
                      "sum": 1 - float(line["utility"]) + _WORTH * share})  # fmt: skip
    return lines


def _name(given: dict[str, Any]) -> str:
    return f"`{', '.join(f'{name}={value!r}' for name, value in given.items())}`" if given else DEFAULT


def summarize(found: Results) -> Report:
    """Return means over sets, and what they differ by from the default."""
    base, rows = found.where(setting=DEFAULT), []
    result = {setting: part for (setting,), part in found.groups("setting")}
    for setting, part in result.items():
        line = [f"{100 * mean:.2f}" for mean in (_mean(part, "utility"), _mean(part, "share"))]
        line.append(f"{_mean(part, 'sum'):.4f}")
        gaps = [_gap(part, base, column) for column in _COLUMNS]
        differ = [f"{100 * gap.mean:+.2f} ({100 * gap.error:.2f})" for gap in gaps[:2]]
        differ.append(f"{gaps[2].mean:+.4f} ({gaps[2].error:.4f})")
        rows.append([setting, *(cell for pair in zip(line, differ, strict=True) for cell in pair)])
    heads = [
        "",
        "accuracy %",
        "differs",
        "features bought %",
        "differs",
        f"error + {_WORTH:g} x share bought",
        "differs",
    ]
    caption = f"Means over {len(found.unique('data'))} sets: {', '.join(_SETS)}."
    better = [setting for setting, part in result.items() if _gap(base, part, "sum").is_more]
    best = min(result, key=lambda setting: _mean(result[setting], "sum"))
    claim = Claim("No other setting is better, by error and cost together.", not better,
                  f"better: {', '.join(better) or 'none'}; least: {best}, {_gap(result[best], base, 'sum').mean:+.4f} "
                  f"({_gap(result[best], base, 'sum').error:.4f}).")  # fmt: skip
    return Report([PageTable(heads, rows, caption)], [claim])


def _mean(found: Results, column: str) -> float:
    return float(np.mean([part[column].mean() for _, part in found.groups("data")]))


def _gap(found: Results, base: Results, column: str) -> Gap:
    """Return the mean difference over sets, with an error from the runs of each."""
    gaps = [part[column] - base.where(data=data)[column] for (data,), part in found.groups("data")]
    variance = sum(gap.var(ddof=1) / len(gap) for gap in gaps if len(gap) > 1)
    return Gap(float(np.mean([gap.mean() for gap in gaps])), float(np.sqrt(variance)) / len(gaps))


DEFAULTS = Runs("peers.utility", "defaults", cells, measure)
