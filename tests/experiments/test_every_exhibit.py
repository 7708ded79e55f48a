"""What holds of every exhibit: its cells can be told apart, and what is stored of it can be read, told and drawn."""

import pytest

from experiments.harness.catalog import PAPERS, PEERS, load_study
from experiments.harness.exhibits import name_cell
from experiments.harness.measuring import render
from experiments.harness.pages import RESULTS
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore
from experiments.peers.credible import noise

STORE = ResultStore(RESULTS)
EXHIBITS = [exhibit for name in (*PAPERS, *PEERS) for exhibit in load_study(name).exhibits]
RUNS = {(exhibit.runs.study, exhibit.runs.name): exhibit.runs for exhibit in EXHIBITS}
# Of these no page tells.
UNSTORED = {("peers.speed", name) for name in ("calls", "startup", "asking")}
STORED = [exhibit for exhibit in EXHIBITS if (exhibit.runs.study, exhibit.runs.name) not in UNSTORED]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", ["quick", "full"])
@pytest.mark.parametrize("runs", RUNS.values(), ids=map(".".join, RUNS))
def test_cells_differ_and_are_plain(runs, scale):
    cells = runs.cells(scale)
    assert len({name_cell(cell) for cell in cells}) == len(cells) > 0
    assert len({tuple(cell) for cell in cells}) == 1
    assert all(type(value) in (str, int, float, bool) for cell in cells for value in cell.values())
    # Whatever is compared on a data set sees the same rows in the same order.
    assert len({runs.seed(cell) for cell in cells}) == len({(cell.get("data"), cell.get("run")) for cell in cells})


@pytest.mark.parametrize("study", [*PAPERS, *PEERS])
def test_exhibits_of_a_study_have_names_of_their_own(study):
    shown = load_study(study)
    assert shown.name == study
    assert len({exhibit.name for exhibit in shown.exhibits}) == len(shown.exhibits)
    assert {exhibit.runs.study for exhibit in shown.exhibits} == {study}
    assert bool(shown.summary) == study.startswith("papers.")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("exhibit", STORED, ids=[f"{exhibit.runs.study}-{exhibit.name}" for exhibit in STORED])
def test_stored_results_are_told_and_drawn(exhibit):
    scale = STORE.best_scale(exhibit.runs)
    assert scale is not None, "the stored results are not those of the cells of now"
    found = STORE.read(exhibit.runs, scale)
    report = exhibit.summarize(found)
    assert report.tables or report.claims or report.note
    assert not exhibit.runs.study.startswith("papers.") or report.claims
    for table in report.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert "nan" not in " ".join(cell for row in table.rows for cell in row)
    assert all(claim.holds in (True, False, None) and "nan" not in claim.seen for claim in report.claims)
    if exhibit.draw is not None:
        assert render(exhibit, found).axes
        assert STORE.picture(exhibit).exists()


def test_verdicts_about_noise_follow_the_splits():
    found = STORE.read(noise.NOISE, STORE.best_scale(noise.NOISE))
    for runs, share, holds in ((100, 0, True), (100, 1, False), (5, 0, None)):
        columns = {"runs": 0 * found["runs"] + runs, "split": 0 * found["split"] + share * runs}
        assert [claim.holds for claim in noise.summarize(Results(found.columns | columns)).claims] == [holds, holds]
