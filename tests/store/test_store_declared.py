"""What the states of models declare holds of their files: any that is otherwise is refused, with a right checksum.

The damage follows from the declarations, the files from the golden ones, of which there are some of each model.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import quercus
from quercus.registry import MODELS
from quercus.state import Field, Index, Real, State, StateError, Whole
from quercus.store import Model, ModelFileError, files, read_model
from tests.soak.forging import kept_for_ever
from tests.soak.mutations import write
from tests.soak.worker import is_raised_by_us
from tests.store.declared import Declared, find_damages, find_declared, forbidden

SOAK = bool(os.environ.get("QUERCUS_SOAK"))
# What follows from arguments or is not used may be told in any way.
HARMLESS = ("refused", "same")
# Which arrays a file has tells which kind of tree it holds; a growth that rests holds nothing for any class.
ALLOWED = {
    ("AdaptiveState.trials", "missing"),
    ("PooledState.pooling", "missing"),
    ("size growth/label", str(2**29)),
    ("size tree/growth/label", str(2**29)),
    ("size trees/#/growth/label", str(2**29)),
}
# Arrays that models other than states keep.
UNDECLARED = {"Renewing": {"counters", "changes", "warnings", "detector"}}


@pytest.fixture(autouse=True)
def _no_waiting_for_disks(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def play(path: Path, folder: Path) -> tuple[Model, dict[str, Declared]]:
    """Return a golden file as it would be written today, and how its arrays are declared."""
    quercus.load(path).save(folder / "today")
    file = read_model(folder / "today")
    return file, find_declared(quercus.load(folder / "today"), file)


def load(model: Model, path: Path) -> Any:
    """Return what a file of a model loads as; only in a soak it is written, since that is most of the time."""
    if SOAK:
        path.unlink(missing_ok=True)
        write(model, path)
        return quercus.load(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "read_model", lambda _: model)
        return quercus.load(path)


def find_outcome(model: Model, folder: Path) -> str:
    """Return what comes of loading a model: that it is refused by those who know why, or by chance; or what loads."""
    try:
        learner = load(model, folder / "damaged")
    except ModelFileError as error:
        cause: Any = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        known = isinstance(cause, ValueError) and is_raised_by_us(cause)
        return "refused" if known else f"refused by chance, {cause!r}"
    learner.save(folder / "again")
    return "same" if (folder / "again").read_bytes() == (folder / "today").read_bytes() else "another"


@pytest.mark.parametrize("name", MODELS)
def test_what_is_not_as_declared_is_refused(name, tmp_path):
    wrong, done = [], set()
    for path in (path for path in kept_for_ever() if path.stem.split("-")[0] == name):
        for damage in find_damages(*play(path, tmp_path)):
            if (damage.what, damage.how) in done and not SOAK:
                continue
            done.add((damage.what, damage.how))
            outcome = find_outcome(damage.model, tmp_path)
            if outcome not in HARMLESS and (damage.what, damage.how) not in ALLOWED:
                wrong.append(f"{path.stem}: {damage.what} {damage.how}: {outcome}")
    assert not wrong, "\n".join(wrong)
    assert len(done) > 100


@pytest.mark.parametrize("name", MODELS)
def test_each_array_of_a_file_is_declared(name, tmp_path):
    for path in kept_for_ever():
        if path.stem.split("-")[0] == name:
            file, declared = play(path, tmp_path)
            assert set(file.arrays) - set(declared) == UNDECLARED.get(name, set())


class _Twigs(State):
    counters: ClassVar = {"twig": ("head", "twigs")}
    head = Field({"twigs": np.int64, "share": Real(np.float32, low=0.0, high=1.0)}, 1)
    twigs = Field({"next": Index("twig"), "n": Whole(np.uint8, high=3)}, "twig", fill={"next": -1})
    edges = Field(Real(nan=True, inf=True), "twig", 2)


def make_file() -> tuple[Model, dict[str, Declared]]:
    """Return a file of two twigs, and how its arrays are declared."""
    state = _Twigs(twig=3)
    state.head["twigs"] = 2
    file = Model("Oak", {}, {}, state.to_arrays(), {"sizes": state.to_sizes()})
    return file, {name: Declared(name, name, field, state) for name, field in state.fields.items()}


def test_damage_is_all_that_a_declaration_forbids():
    told = {f"{damage.what} {damage.how}" for damage in find_damages(*make_file())}
    forms = {"missing", "of one more dimension"}
    assert told == {
        *(f"_Twigs.{name} {form}" for name in ("head", "twigs", "edges") for form in forms),
        *(f"_Twigs.head {value}" for value in ("twigs -1", "share nan", "share inf", "share -inf")),
        *("_Twigs.head share -1.401298464324817e-45", "_Twigs.head share 1.0000001192092896"),
        *(f"_Twigs.twigs {value}" for value in ("next -2", "next 2", "n 4")),
        *("_Twigs.head its share of another type", "_Twigs.twigs its n of another type"),
        "_Twigs.edges of another type",
        *(f"_Twigs.{name} one {which} of {dim}" for which in ("less", "more") for name, dim in DIMS),
        *(f"size twig {size!r}" for size in (-1, True, 0.5, "x", None, 2**29)),
    }


DIMS = (("head", 1), ("twigs", "twig"), ("edges", "twig"), ("edges", 2))


def test_a_state_refuses_all_of_it():
    """The other side: what is made above is found by the state itself, and what is not declared is not."""
    file, declared = make_file()
    assert _Twigs.from_arrays(file.arrays, file.extra["sizes"]).used == {"twig": 2}
    for damage in find_damages(file, declared):
        with pytest.raises(StateError, match=r"^it(s array| has| needs) "):
            _Twigs.from_arrays(damage.model.arrays, damage.model.extra["sizes"], max_bytes=2**20)
    assert forbidden(Whole(low=None), {}) == forbidden(Real(nan=True, inf=True), {}) == []
