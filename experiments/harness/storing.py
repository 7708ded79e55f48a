"""Results on disk: a Parquet file for each finished cell, and one for all of them when none is left.

A cell is written beside its place and then moved there, so that a killed process leaves whole files only. The file of
all is made from those of the cells in their order, without times: the same results are the same bytes. Where only that
one is there and cells were added, it is taken apart again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness.exhibits import Cell, Exhibit, Row, Runs, Scale, name_cell
from experiments.harness.results import Results

_CELL = b"quercus.cell"


class ResultStore:
    """A folder of results.

    Parameters
    ----------
    folder
        Where; it is made when something is written.

    Examples
    --------
    >>> import tempfile
    >>> runs = Runs("oak", "growth", lambda scale: [{"run": 0}, {"run": 1}], lambda cell, seed: [{"risk": 0.5}])
    >>> with tempfile.TemporaryDirectory() as name:
    ...     store = ResultStore(Path(name))
    ...     store.write(runs, "quick", {"run": 0}, [{"risk": 0.5}], seconds=1.5)
    ...     left = store.missing(runs, "quick")
    ...     store.write(runs, "quick", {"run": 1}, [{"risk": 0.25}], seconds=2.0)
    ...     store.merge(runs, "quick")
    ...     found = store.read(runs, "quick")
    >>> left, found["risk"].tolist(), found["run"].tolist()
    ([{'run': 1}], [0.5, 0.25], [0, 1])
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, runs: Runs, scale: Scale) -> Path:
        """Return where the results of all cells are, or will be."""
        return self.folder / _folder(runs) / f"{runs.name}.{scale}.parquet"

    def picture(self, exhibit: Exhibit) -> Path:
        """Return where the picture of an exhibit is, or will be."""
        return self.folder / _folder(exhibit.runs) / f"{exhibit.name}.png"

    def missing(self, runs: Runs, scale: Scale) -> list[Cell]:
        """Return the cells that are not measured yet."""
        return [cell for cell in runs.cells(scale) if not self._cell_path(runs, scale, cell).exists()]

    def is_whole(self, runs: Runs, scale: Scale) -> bool:
        """Return whether the file of all cells is there, and holds the cells of now."""
        summary = self.path(runs, scale).with_suffix(".json")
        if not summary.exists() or not self.path(runs, scale).exists():
            return False
        known: bool = json.loads(summary.read_text(encoding="utf-8")).get("grid") == _name_grid(runs.cells(scale))
        return known

    def best_scale(self, runs: Runs) -> Scale | None:
        """Return the largest scale at which everything was measured, None if there is none."""
        scales: tuple[Scale, ...] = ("full", "quick")
        return next((scale for scale in scales if self.is_whole(runs, scale)), None)

    def write(self, runs: Runs, scale: Scale, cell: Cell, rows: list[Row], seconds: float) -> None:
        """Keep what a cell found."""
        import pyarrow as pa

        clash = {name for row in rows for name in row if name in cell}
        if clash:
            raise ValueError(f"a line of {runs.study} {runs.name} repeats {sorted(clash)} of its cell.")
        table = pa.Table.from_pylist([{**cell, **row} for row in rows])
        about = json.dumps({"cell": cell, "seconds": seconds})
        _write_table(table.replace_schema_metadata({_CELL: about}), self._cell_path(runs, scale, cell))

    def merge(self, runs: Runs, scale: Scale) -> None:
        """Write the file of all cells, which are all there, and how long they took."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables, seconds = [], []
        for cell in runs.cells(scale):
            table = pq.read_table(self._cell_path(runs, scale, cell), partitioning=None)
            seconds.append(json.loads(table.schema.metadata[_CELL])["seconds"])
            tables.append(table.replace_schema_metadata(None))
        merged = pa.concat_tables(tables, promote_options="permissive")
        path = self.path(runs, scale)
        _write_table(merged, path)
        grid = _name_grid(runs.cells(scale))
        summary = {"cells": len(tables), "seconds": round(float(np.sum(seconds)), 1), "grid": grid}
        path.with_suffix(".json").write_text(json.dumps(summary) + "\n", encoding="utf-8")

    def read(self, runs: Runs, scale: Scale) -> Results:
        """Return what all cells found."""
        import pyarrow.parquet as pq

        table = pq.read_table(self.path(runs, scale), partitioning=None)
        return Results({name: table[name].to_numpy() for name in table.column_names})

    def read_times(self, runs: Runs, scale: Scale) -> tuple[int, float]:
        """Return how many cells there are, and the seconds that they took together."""
        summary: dict[str, Any] = json.loads(self.path(runs, scale).with_suffix(".json").read_text(encoding="utf-8"))
        return int(summary["cells"]), float(summary["seconds"])

    def unpack(self, runs: Runs, scale: Scale) -> None:
        """Give cells that only the file of all holds files of their own again; each took as long as the others."""
        import pyarrow.parquet as pq

        missing, path = self.missing(runs, scale), self.path(runs, scale)
        if not missing or not path.exists() or not path.with_suffix(".json").exists():
            return
        count, seconds = self.read_times(runs, scale)
        found: dict[str, list[Row]] = {}
        for line in pq.read_table(path, partitioning=None).to_pylist():
            cell = {name: line.pop(name, None) for name in missing[0]}
            found.setdefault(name_cell(cell), []).append(line)
        for cell in missing:
            if name_cell(cell) in found:
                self.write(runs, scale, cell, found[name_cell(cell)], seconds / count)

    def forget(self, runs: Runs, scale: Scale, values: Collection[str] = ()) -> None:
        """Remove what was measured, or only what was of cells that have one of these values."""
        if values:
            self.unpack(runs, scale)
        for cell in runs.cells(scale):
            if not values or not set(values).isdisjoint(cell.values()):
                self._cell_path(runs, scale, cell).unlink(missing_ok=True)
        self.path(runs, scale).unlink(missing_ok=True)
        self.path(runs, scale).with_suffix(".json").unlink(missing_ok=True)

    def _cell_path(self, runs: Runs, scale: Scale, cell: Cell) -> Path:
        return self.folder / "cells" / _folder(runs) / f"{runs.name}.{scale}" / f"{name_cell(cell)}.parquet"


def _folder(runs: Runs) -> Path:
    return Path(*runs.study.split("."))


def _name_grid(cells: list[Cell]) -> str:
    return name_cell({str(number): name_cell(cell) for number, cell in enumerate(cells)})


def _write_table(table: Any, path: Path) -> None:
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        pq.write_table(table, beside, compression="zstd")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
