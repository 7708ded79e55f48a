"""The examples of the README and the scripts in examples/ run as they stand."""

import os
import re
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
README, GUIDE = (ROOT / "README.md").read_text(), (ROOT / "docs" / "guide.md").read_text()


def blocks_of(page):
    return re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)


def shown_in(page):
    return re.findall(r"```\n```\n(.*?)```", page, flags=re.DOTALL)


def test_the_readme_is_one_page_and_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    assert len(README.splitlines()) < 150
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names = {}
    for block in blocks_of(README):
        exec(block, names)
    said = capsys.readouterr().out
    assert len(shown_in(README)) >= 3
    for shown in shown_in(README):
        assert shown in said
    assert "balanced accuracy" in said
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.skipif("QUERCUS_DATA" not in os.environ, reason="the guide evaluates electricity; set QUERCUS_DATA")
def test_the_guide_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = runpy.run_path(str(ROOT / "examples" / "payments.py"))["payments"](20_000, seed=7)
    names = {"X": X, "y": y}
    for block in blocks_of(GUIDE):
        exec(block, names)
    said = capsys.readouterr().out
    assert len(shown_in(GUIDE)) >= 2
    for shown in shown_in(GUIDE):
        assert shown in said
    assert "previous label" in said
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_example_scripts_run(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path / "pictures")])
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        plt.close("all")
    assert "predicts" in capsys.readouterr().out
    assert list((tmp_path / "pictures").iterdir())
