"""What the pages quote: commands that exist, and figures that stored results have."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from experiments.__main__ import app
from experiments.harness.catalog import find_exhibits
from experiments.harness.pages import make_pages
from tests.cli.commands import invoke

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = {path: path.read_text(encoding="utf-8") for path in PAGES}
# Between backticks, or on an indented line of its own.
_COMMAND = r"(?:python -m experiments|quercus) [a-z]"
_QUOTED = re.compile(rf"`({_COMMAND}[^`]*)`|^    ({_COMMAND}.*?)(?:  +#.*)?$", re.MULTILINE)
COMMANDS = sorted({a or b for text in TEXT.values() for a, b in _QUOTED.findall(text)})
EXPERIMENTS = [command for command in COMMANDS if command.startswith("python")]


def test_pages_quote_commands():
    assert len(COMMANDS) - len(EXPERIMENTS) > 5
    assert len(EXPERIMENTS) > 60


@pytest.mark.parametrize("command", EXPERIMENTS)
def test_quoted_experiments_exist(command):
    name, *arguments = shlex.split(command)[3:]
    if not arguments:
        arguments = ["all"] if name in ("papers", "peers") else []
    # Options that there are not are refused here.
    given = typer.main.get_command(app).commands[name].make_context(name, arguments).params
    if given.get("name", "all") != "all":
        part = None if given["part"] == "PART" else given["part"]
        assert find_exhibits(f"{name}.{given['name']}", part, given["figure"], given["table"])


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("quercus")])
def test_quoted_commands_exist(command):
    done = invoke(*shlex.split(command)[1:], "--help")
    assert done.exit_code == 0, done.stderr


@pytest.fixture(scope="module")
def made():
    return dict(make_pages())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_quoted_figures_are_those_of_stored_results(path, made):
    assert TEXT[path] == made[path], "python -m experiments pages writes the pages anew"


def test_every_page_is_made(made):
    assert sorted(made) == sorted(PAGES)
