"""Stored parts of the benchmarks of the credible tree and the Bayesian forest: their cells, and what is told."""

from pathlib import Path

import pytest
from benchmarks.bayesian.exhibits import PARTS as BAYESIAN
from benchmarks.credible import noise
from benchmarks.credible.exhibits import PARTS as CREDIBLE

from quercus.papers.catalog import load_paper
from quercus.papers.exhibits import name_cell
from quercus.papers.found import Found
from quercus.papers.reproducing import render
from quercus.papers.storing import Store

STORE = Store(Path(__file__).parents[2] / "docs" / "reproduction")
EXHIBITS = [
    pytest.param(exhibit, id=f"{name}-{exhibit.name}")
    for name in ("benchmarks.credible", "benchmarks.bayesian")
    for exhibit in load_paper(name).exhibits
]


def test_every_part_is_shown():
    for name, parts in (("benchmarks.credible", CREDIBLE), ("benchmarks.bayesian", BAYESIAN)):
        assert [one for part in parts.values() for one in part] == list(load_paper(name).exhibits)
        for part, exhibits in parts.items():
            assert {exhibit.command for exhibit in exhibits} == {f"python -m {name} {part}"}


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_cells_differ_and_are_plain(exhibit):
    for scale in ("quick", "full"):
        cells = exhibit.runs.cells(scale)
        assert len({name_cell(cell) for cell in cells}) == len(cells)
        assert len({tuple(cell) for cell in cells}) == 1
        assert all(type(value) in (str, int, float) for cell in cells for value in cell.values())


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_stored_results_are_told_and_drawn(exhibit):
    found = STORE.read(exhibit.runs, STORE.best_scale(exhibit.runs))
    told = exhibit.tell(found)
    assert all(len(row) == len(sheet.columns) for sheet in told.sheets for row in sheet.rows)
    assert not any("nan" in cell for sheet in told.sheets for row in sheet.rows for cell in row)
    assert all(claim.holds in (True, False, None) and "nan" not in claim.seen for claim in told.claims)
    if exhibit.draw is not None:
        assert render(exhibit, found).axes


def test_verdicts_about_noise_follow_the_splits():
    found = STORE.read(noise.NOISE, STORE.best_scale(noise.NOISE))
    for runs, share, holds in ((100, 0, True), (100, 1, False), (5, 0, None)):
        columns = {"runs": 0 * found["runs"] + runs, "split": 0 * found["split"] + share * runs}
        assert [claim.holds for claim in noise.tell(Found(found.columns | columns)).claims] == [holds, holds]
