"""The examples of the README and the scripts in examples/ run as they stand."""

import os
import re
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
SHOWN = re.findall(r"```\n```\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.skipif("QUERCUS_DATA" not in os.environ, reason="the README evaluates electricity; set QUERCUS_DATA")
def test_python_blocks_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = runpy.run_path(str(ROOT / "examples" / "payments.py"))["payments"](20_000, seed=7)
    names = {"X": X, "y": y}
    assert len(BLOCKS) >= 3
    for block in BLOCKS:
        exec(block, names)
    said = capsys.readouterr().out
    assert len(SHOWN) >= 2
    for shown in SHOWN:
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
