"""Golden files load, answer as they did, and learn on as they would have."""

from __future__ import annotations

import pytest

import quercus as qc
from quercus.registry import MODELS
from tests.frozen import models, values

# Part of a file that may not be larger, so that the repository stays small.
MOST_BYTES = 9 * 2**18


@pytest.mark.parametrize("path", models.stored(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_golden_file_answers_and_learns_as_it_did(path):
    kept, found = models.find(path)
    # More may be seen of a model today than when its answers were stored.
    assert [line for line in values.differences(kept, found) if not line.endswith("only found")][:20] == []


def test_every_kind_of_model_has_a_golden_file():
    kept = {qc.load(path).__class__.__name__ for path in models.FOLDER.glob(f"{models.FORMAT}/*.quercus")}
    assert kept == set(MODELS)


def test_every_golden_file_has_its_answers():
    places = {path.with_suffix("") for path in models.FOLDER.glob("*/*") if path.suffix != ".json"}
    assert places == {path.with_suffix("") for path in models.stored()}
    assert {path.name for path in places if path.parent.name == models.FORMAT} == set(models.names())


def test_golden_files_are_small():
    sizes = {path: path.stat().st_size for path in models.FOLDER.glob("*/**/*") if path.is_file()}
    assert sum(size for path, size in sizes.items() if path.suffix != ".json") < MOST_BYTES


@pytest.mark.parametrize("name", ["FrozenTree", "Asker", "PoolSampler"])
def test_a_golden_file_is_never_written_again(name, tmp_path):
    models.write(name, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(FileExistsError, match="never written again"):
        models.write(name, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
