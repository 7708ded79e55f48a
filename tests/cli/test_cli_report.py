"""`quercus report`: reports of runs that were made before."""

import pytest

from tests.cli.commands import fail, succeed


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_runs_made_before_are_reported_side_by_side(tmp_path):
    for learner in ("hoeffding", "confidence"):
        succeed("run", "sea", "--rows", 500, "--learner", learner)
    (tmp_path / "quercus-run/report.html").unlink()
    assert "report quercus-run/report.html" in succeed("report", "quercus-run").stdout
    assert (tmp_path / "quercus-run/report.html").stat().st_size > 10_000
    succeed("report", "quercus-run", "quercus-run-2/run.json", "--out", "both.html")
    text = (tmp_path / "both.html").read_text()
    assert "HoeffdingTree" in text
    assert "ConfidenceTree" in text
    assert "is there already; name another" in fail("report", "quercus-run", "--out", "both.html")
    succeed("report", "quercus-run", "--out", "both.html", "--force")
    assert "ConfidenceTree" not in (tmp_path / "both.html").read_text()


def test_what_is_no_run_is_refused(tmp_path):
    assert "there are no figures of a run in 'nowhere'" in fail("report", "nowhere")
    (tmp_path / "run.json").write_text("{}")
    assert "does not hold the figures of a run" in fail("report", "run.json")
