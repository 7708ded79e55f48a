"""`python -m experiments`."""

import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.harness import pages

OAK = "tests.experiments.oak"


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0, done.stderr or repr(done.exception)
    return done


def test_results_pictures_and_the_book_are_written(tmp_path):
    out = tmp_path / "results"
    done = succeed("papers", OAK, "--jobs", 2, "--out", out, "--book")
    assert f"{OAK} Figure 1: height by year (8 cells" in done.stdout
    assert "oak           height\nred    " in done.stdout
    assert "Red oaks are taller." in done.stdout
    written = {path.name for path in (out / "tests" / "experiments" / "oak").iterdir()}
    assert written == {"figure-1.png", "growth.quick.json", "growth.quick.parquet"}
    assert "Acorn 2020" in (out / "index.html").read_text(encoding="utf-8")
    assert "8 of 8 cells" in done.stderr
    again = succeed("peers", OAK, "growth", "--table", 2, "--out", out)
    assert "cells;" not in again.stderr
    assert "Figure 1" not in again.stdout
    anew = succeed("papers", OAK, "--jobs", 1, "--out", out, "--fresh")
    assert "8 of 8 cells" in anew.stderr
    again = succeed("papers", OAK, "--out", out, "--again", "red")
    assert "4 of 4 cells" in again.stderr


def test_what_there_is_is_listed():
    listed = succeed("list", OAK).stdout.splitlines()
    assert listed[0].startswith("Growth of oaks")
    assert len(listed) == 4
    assert "20 cells  height by year" in listed[2]
    everything = succeed("list").stdout
    assert "papers credible figure-5 --figure 5 " in everything
    assert "peers evergreen frozen --table 1 " in everything


def test_failed_cells_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("OAK_FAIL", "red")
    done = invoke("papers", OAK, "--out", tmp_path)
    assert done.exit_code == 2
    assert "4 cells failed, the others are kept; " in done.stderr
    assert "red oaks do not grow here." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("papers", "acorn"), "there is no 'acorn' among the papers"),
        (("peers", "credible", "decay"), "no part 'decay'; there are noise, "),
        (("papers", OAK, "--figure", "9"), "no such exhibit"),
        (("papers", "all", "--figure", "1"), "are of one study"),
    ],
)
def test_wrong_names_are_refused(arguments, said, tmp_path):
    done = invoke(*arguments, "--out", tmp_path)
    assert done.exit_code == 2
    assert said in done.stderr


def test_missing_data_are_said_before_anything_is_measured(tmp_path, monkeypatch):
    monkeypatch.delenv("QUERCUS_DATA", raising=False)
    done = invoke("peers", "evergreen", "chance", "--out", tmp_path)
    assert done.exit_code == 2
    assert "let QUERCUS_DATA name their folder" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_pages_are_checked_and_written(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("old")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "make_pages", lambda: [(page, "new")])
    checked = invoke("pages", "--check")
    assert (checked.exit_code, checked.stdout) == (1, "page.md is not what the results say\n")
    assert page.read_text() == "old"
    assert succeed("pages").stdout == "page.md written\n"
    assert page.read_text() == "new"
    assert succeed("pages", "--check").stdout == ""
