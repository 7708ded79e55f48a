"""What the pages quote: commands that exist, and figures that stored results have."""

import importlib.util
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from benchmarks.pages import make_pages

from tests.cli.commands import invoke

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = {path: path.read_text(encoding="utf-8") for path in PAGES}
# Between backticks, or on an indented line of its own.
_QUOTED = re.compile(
    r"`((?:python -m benchmarks|quercus [a-z])[^`]*)`|^    (quercus [a-z].*?)(?:  +#.*)?$", re.MULTILINE
)
COMMANDS = sorted({a or b for text in TEXT.values() for a, b in _QUOTED.findall(text)})


def test_pages_quote_commands():
    assert len(COMMANDS) > 20
    assert any(command.startswith("quercus reproduce ") for command in COMMANDS)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("python")])
def test_quoted_benchmarks_exist(command, monkeypatch, capsys):
    name, *arguments = shlex.split(command)[2:]
    assert importlib.util.find_spec(name) is not None
    if not arguments or arguments == ["PART"]:
        return
    # A part that there is not is refused before help is given.
    monkeypatch.setattr(sys, "argv", [name, *arguments, "--help"])
    with pytest.raises(SystemExit) as done:
        runpy.run_module(name, run_name="__main__")
    assert done.value.code == 0, capsys.readouterr().err


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("quercus")])
def test_quoted_commands_exist(command):
    done = invoke(*shlex.split(command)[1:], "--help")
    assert done.exit_code == 0, done.stderr


@pytest.fixture(scope="module")
def made():
    return dict(make_pages())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_quoted_figures_are_those_of_stored_results(path, made):
    assert TEXT[path] == made[path], "python -m benchmarks.pages writes the pages anew"


def test_every_page_is_made(made):
    assert sorted(made) == sorted(PAGES)
