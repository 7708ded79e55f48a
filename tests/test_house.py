"""The house stays one that a stranger finds their way in: what CONTRIBUTING promises of the code, as tests."""

import ast
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import quercus
from quercus.acquisition.buyer import FeatureBuyer
from quercus.classifier import Classifier
from quercus.registry import LEARNERS, MODELS, find_model

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "quercus"
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 400
MOST_ARGUMENTS = 10


def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_a_class_name_has_one_meaning():
    places = defaultdict(list)
    for path in FILES:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_files_are_short():
    lengths = {str(path.relative_to(SOURCE)): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_files_that_are_no_code_are_shipped():
    with open(ROOT / "pyproject.toml", "rb") as file:
        patterns = tomllib.load(file)["tool"]["setuptools"]["package-data"]["quercus"]
    shipped = {path for pattern in patterns for path in SOURCE.glob(pattern)}
    others = {path for path in SOURCE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert others == shipped


def test_kernels_that_are_entered_from_python_take_few_arguments():
    many = {}
    for path in FILES:
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.FunctionDef) and any(map(is_entry, node.decorator_list)):
                many[f"{path.relative_to(SOURCE)}: {node.name}"] = len(node.args.args)
    assert len(many) > 20
    assert {name: count for name, count in many.items() if count > MOST_ARGUMENTS} == {}


def is_entry(decorator):
    return isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "kernel" and bool(decorator.args)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_a_classifier_with_an_engine_as_a_part(name):
    learner = find_model(name)
    between = list(learner.__mro__[1 : learner.__mro__.index(Classifier)])
    assert between in ([], [FeatureBuyer])
    assert learner.__module__.startswith("quercus.learners.")
    assert getattr(quercus, name) is learner


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_has_an_oracle_beside_its_tests(name):
    folder = ROOT / "tests" / "learners" / MODELS[name].split(".")[2]
    assert list(folder.glob("test_*.py"))
    assert (folder / "oracle.py").exists() or (folder / "oracle" / "__init__.py").exists()


def test_no_kernel_is_compiled_while_tests_are_collected(pytestconfig):
    """All processes collect all tests, and all but one would wait."""
    assert pytestconfig.compiled_early == []
