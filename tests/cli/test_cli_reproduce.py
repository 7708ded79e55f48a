"""`quercus reproduce`."""

import pytest

from tests.cli.commands import fail, invoke, succeed

OAK = "tests.papers.oak"


def test_results_pictures_and_the_book_are_written(tmp_path):
    out = tmp_path / "results"
    done = succeed("reproduce", OAK, "--jobs", "2", "--out", out, "--book")
    assert "tests.papers.oak figure 1: height by year (8 cells" in done.stdout
    assert "Red oaks are taller." in done.stdout
    written = {path.name for path in (out / OAK).iterdir()}
    assert written == {"figure-1.png", "growth.quick.json", "growth.quick.parquet"}
    assert (out / "index.html").exists()
    assert (tmp_path / "results.md").exists()
    assert "8 of 8 cells" in done.stderr
    again = succeed("reproduce", OAK, "--table", "2", "--out", out)
    assert "cells;" not in again.stderr
    assert "figure 1" not in again.stdout
    anew = succeed("reproduce", OAK, "--jobs", "1", "--out", out, "--fresh")
    assert "8 of 8 cells" in anew.stderr


def test_what_there_is_is_listed():
    listed = succeed("reproduce", OAK, "--list").stdout.splitlines()
    assert len(listed) == 2
    assert "8" in listed[0]
    assert "20 cells  height by year" in listed[0]


def test_failed_cells_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("OAK_FAIL", "red")
    done = invoke("reproduce", OAK, "--out", tmp_path, "--jobs", "1")
    assert done.exit_code == 2
    assert "4 cells failed, the others are kept; " in done.stderr
    assert "red oaks do not grow here." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("acorn",), "there is no paper 'acorn'"),
        ((OAK, "--figure", "9"), "no such exhibit"),
        (("--figure", "1"), "need a paper"),
    ],
)
def test_wrong_names_are_refused(arguments, said, tmp_path):
    assert said in fail("reproduce", *arguments, "--out", tmp_path)
