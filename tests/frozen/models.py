"""Golden files: models, askers and samplers of every format that was ever released, which stay loadable for ever.

Beside each stands what it answered when it was written, and after it had learned on; both from the loaded file, so that
all is there that learning needs. Files are written once.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import quercus as qc
from quercus.registry import LEARNERS
from tests.frozen import values, views
from tests.frozen.asking import tell_sampler
from tests.frozen.growing import LOOK
from tests.frozen.streams import Stream, stream
from tests.learners.listed import make

FOLDER = Path(__file__).parent / "models"
# Where files of today's format go.
FORMAT = "format-1"
FURTHER = 100
# Rows that an asker has seen.
SEEN = 60
PRICED: dict[str, Any] = {"costs": {"blood": 3.0, "scan": 12.0}, "groups": {"blood": ["hb", "crp"]}}


class Golden(NamedTuple):
    """How a file is made: a learner, the rows that it learns, and what is made of it before it is saved."""

    make: Callable[[], Any]
    stream: str
    rows: int
    change: Callable[[Any], Any] = lambda learner: learner


def fit_pool() -> Any:
    """Return a tree with a pool."""
    return qc.CredibleTree().fit_pool(stream("short").X[:200])


def frozen(learner: Any) -> Any:
    """Return a predict-only copy."""
    return learner.freeze()


MODELS = {
    "HoeffdingTree": Golden(qc.HoeffdingTree, "late_category", 1_000),
    "HoeffdingTree-adaptive": Golden(partial(qc.HoeffdingTree, adaptive=True), "changing", 1_540),
    "HoeffdingTree-open": Golden(partial(qc.HoeffdingTree, features="open", tie=0.3, loss=LOOK), "everything", 650),
    "ConfidenceTree": Golden(qc.ConfidenceTree, "missing", 600),
    "ConfidenceTree-adaptive": Golden(partial(qc.ConfidenceTree, adaptive=True), "late_category", 600),
    "ConfidenceTree-nominal": Golden(partial(qc.ConfidenceTree, nominal=["code"]), "nominal", 800),
    "CredibleTree": Golden(qc.CredibleTree, "mixed", 300),
    "CredibleTree-adaptive": Golden(partial(qc.CredibleTree, adaptive=True, features="open"), "everything", 650),
    "CredibleTree-exact": Golden(partial(qc.CredibleTree, cuts="exact"), "holes", 400),
    "CredibleTree-pool": Golden(fit_pool, "short", 60),
    "EvergreenTree": Golden(qc.EvergreenTree, "mixed", 150),
    "EvergreenTree-open": Golden(partial(qc.EvergreenTree, features="open", loss=LOOK), "everything", 350),
    "EvergreenTree-recent": Golden(partial(qc.EvergreenTree, keep="recent", max_bytes=128_000), "late_category", 1_200),
    "EvergreenForest": Golden(partial(qc.EvergreenForest, trees=2), "changing", 120),
    "EvergreenBoost": Golden(partial(qc.EvergreenBoost, rounds=9, randomized=0), "mixed", 300),
    "EvergreenBoost-fitting": Golden(
        partial(qc.EvergreenBoost, rounds=9, randomized=0, features="open"), "everything", 404
    ),
    "EvergreenBoost-randomized": Golden(partial(qc.EvergreenBoost, rounds=9, randomized=4), "mixed", 300),
    "EvergreenBoost-voting": Golden(partial(qc.EvergreenBoost, rounds=9, randomized=4), "mixed", 95),
    "BayesianForest": Golden(partial(qc.BayesianForest, trees=2, depth=3), "mixed", 300),
    "BayesianForest-open": Golden(
        partial(qc.BayesianForest, trees=2, depth=2, features="open", subset=0.6), "everything", 650
    ),
    "BayesianForest-block": Golden(
        partial(qc.BayesianForest, trees=2, depth=2, block=5, bagging=0.3, dtype="float64"), "three", 303
    ),
    "BayesianTree": Golden(partial(qc.BayesianTree, covariance="diagonal"), "late_class", 750),
    "UtilityTree": Golden(partial(qc.UtilityTree, **PRICED), "patients", 120),
    "UtilityTree-open": Golden(partial(qc.UtilityTree, features="open"), "late_column", 450),
    "UtilityTree-paper": Golden(partial(qc.UtilityTree.paper, hypotheses=60), "short", 150),
    "ReinforcedTree": Golden(partial(qc.ReinforcedTree, questions=2, **PRICED), "patients", 60),
    "ReinforcedTree-adaptive": Golden(partial(qc.ReinforcedTree, questions=2, adaptive=True), "coins", 200),
    "ReinforcedTree-open": Golden(partial(qc.ReinforcedTree, questions=2, features="open"), "late_column", 420),
    "Renewing": Golden(partial(qc.Renewing, qc.HoeffdingTree()), "changing", 1_520),
    "FrozenTree": Golden(qc.CredibleTree, "mixed", 600, frozen),
    "FrozenTree-loss": Golden(partial(qc.ConfidenceTree, loss=LOOK), "holes", 600, frozen),
    "FrozenEvergreen": Golden(qc.EvergreenTree, "mixed", 600, frozen),
    "FrozenForest": Golden(partial(qc.BayesianForest, trees=3, depth=3), "mixed", 600, frozen),
}
# Of learners that came later, one file each.
MODELS |= {name: Golden(partial(make, name), "mixed", 300) for name in LEARNERS if name not in MODELS}
ASKERS: dict[str, tuple[Callable[[], Any], Any, list[str] | None]] = {
    "Asker": (qc.HoeffdingTree, qc.ask.Uncertain(0.2), None),
    "Asker-evergreen": (qc.EvergreenTree, qc.ask.Random(qc.ask.Labels(100, rows=900)), ["fine", "fraud", "look"]),
}
SAMPLERS: dict[str, Callable[[], Any]] = {"PoolSampler": fit_pool}
CASES = ("UtilityTree", "ReinforcedTree")


def write(name: str, folder: Path = FOLDER / FORMAT) -> None:
    """Write a golden file or folder, with its answers beside it; refuse if it is there."""
    place = folder / (f"{name}.quercus" if name in MODELS else name)
    if place.exists():
        raise FileExistsError(f"{place} is golden: it is never written again.")
    folder.mkdir(parents=True, exist_ok=True)
    if name in MODELS:
        golden = MODELS[name]
        learner = golden.make()
        learn(learner, stream(golden.stream), 0, golden.rows)
        golden.change(learner).save(place)
        about: dict[str, Any] = {"stream": golden.stream, "rows": golden.rows}
        if name in CASES:
            about["case"] = open_case(qc.load(place))
        values.store(folder / f"{name}.json", about | views.plain(find_model(place, about)))
        return
    (begin_asker if name in ASKERS else begin_sampler)(name, place)
    with copied(place) as copy:
        found = find_asker(name, copy) if name in ASKERS else find_sampler(name, copy)
    values.store(folder / f"{name}.json", views.plain(found))


def names() -> list[str]:
    """Return the names of all golden files of today's format."""
    return [*MODELS, *ASKERS, *SAMPLERS]


def write_missing() -> Iterator[str]:
    """Write golden files that are not there yet and yield their names."""
    for name in names():
        if not (FOLDER / FORMAT / f"{name}.json").exists():
            write(name)
            yield name


def stored() -> list[Path]:
    """Return what is stored beside golden files, of all formats."""
    return sorted(FOLDER.glob("*/*.json"))


def find(path: Path) -> tuple[Any, Any]:
    """Return what is stored of a golden file and what is found now, by the path of the former."""
    kept = values.load(path)
    if "stream" in kept:
        about = {name: kept[name] for name in ("stream", "rows", "case") if name in kept}
        return kept, about | views.plain(find_model(path.with_suffix(".quercus"), about))
    with copied(path.with_suffix("")) as copy:
        found = find_asker(path.stem, copy) if path.stem in ASKERS else find_sampler(path.stem, copy)
    return kept, views.plain(found)


def learn(learner: Any, data: Stream, start: int, end: int) -> None:
    """Let a learner learn rows in the way that suits it."""
    part = slice(start, end)
    w = None if data.w is None else data.w[part]
    if hasattr(learner, "buy_and_learn"):
        learner.buy_and_learn(data.X[part], data.y[part], sample_weight=w)
    elif getattr(learner, "n_pool_", 0) > end:
        learner.learn_pool(range(start, end), data.y[part])
    else:
        learner.partial_fit(data.X[part], data.y[part], sample_weight=w)


def find_model(path: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Return what a file answers, and what it answers after it has learned on."""
    model, data = qc.load(path), stream(about["stream"])
    found = {"before": views.view(model, data.probe)}
    if "case" in about:
        found["went"] = go_on(model, about["case"])
    if hasattr(model, "partial_fit"):
        learn(model, data, about["rows"], about["rows"] + FURTHER)
        found["after"] = views.view(model, data.probe)
    return found


def open_case(model: Any) -> dict[str, Any]:
    """Return a case that has bought once, as plain data."""
    case = model.open({"age": 50.0})
    if case.question is not None:
        case.order(case.question)
    return case.to_dict()


def go_on(model: Any, saved: dict[str, Any]) -> list[Any]:
    """Return how a case goes on that was saved."""
    x = stream("patients").X[500]
    case = model.resume(saved)
    case.receive({name: x[name] for name in case.waiting})
    while case.question is not None:
        members = (model.groups or {}).get(case.question)
        case.answer(x[case.question] if members is None else {name: x[name] for name in members})
    return views.case(case)


class copied:  # noqa: N801 - used as a context manager
    """A copy of a golden folder to work with."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._folder = tempfile.TemporaryDirectory()

    def __enter__(self) -> Path:
        return Path(shutil.copytree(self._place, Path(self._folder.name) / "copy"))

    def __exit__(self, *error: object) -> None:
        self._folder.cleanup()


def begin_asker(name: str, place: Path) -> None:
    """Let an asker see rows and leave its folder behind, with questions that wait."""
    make, policy, classes = ASKERS[name]
    with qc.Asker(make(), policy, **_kept_in(place), classes=classes, save_every=10) as asker:
        _ask(asker, 0, SEEN)
        # Not closed: the last answers are in the ledger alone.
        shutil.copytree(place, place.with_suffix(".open"))
    shutil.rmtree(place)
    place.with_suffix(".open").rename(place)


def find_asker(name: str, place: Path) -> dict[str, Any]:
    """Return what an asker knows that goes on from a folder, and what it does next."""
    make, policy, classes = ASKERS[name]
    probe = stream("mixed").probe
    with qc.Asker(make(), policy, **_kept_in(place), classes=classes, save_every=10) as asker:
        counts = [asker.seen, asker.asked, asker.left, [question.id for question in asker.open_questions]]
        before = {"counts": counts, "answers": views.sight(asker.learner, probe)}
        _ask(asker, SEEN, SEEN + FURTHER)
        after = {"questions": views.questions(asker.ledger), "answers": views.sight(asker.learner, probe)}
        return {"before": before, "after": after | {"left": asker.left, "accuracy": asker.accuracy()._asdict()}}


def _ask(asker: Any, start: int, end: int) -> None:
    data = stream("mixed")
    for row in range(start, end):
        asker.ask_one(data.X[row])
        if row % 10 == 9:
            for question in asker.open_questions[:-2]:
                asker.answer(question.id, data.y[question.row - views.FIRST_ROW].item())


def begin_sampler(name: str, place: Path) -> None:
    """Let a sampler ask in a pool and leave its ledger behind, with two questions that wait."""
    data = stream("short")
    ledger = _open_ledger(place)
    sampler = qc.ask.PoolSampler(SAMPLERS[name](), data.X[:200], ledger=ledger)
    for question in sampler.next(k=3):
        tell_sampler(sampler)(question.id, data.y[question.row].item())
    for _ in range(4):
        question = sampler.next()
        tell_sampler(sampler)(question.id, data.y[question.row].item())
    sampler.next(k=2)
    ledger.close()


def _kept_in(place: Path) -> dict[str, Path]:
    if not hasattr(qc.ledger, "QuestionLog"):
        return {"folder": place}
    _open_ledger(place).close()
    return {"store": place / "labels.db"}


def _open_ledger(place: Path) -> Any:
    if not hasattr(qc.ledger, "QuestionLog"):
        return qc.ledger.Ledger(place)
    from quercus.ledger.importing import import_ledger

    store = place / "labels.db"
    return qc.ledger.Ledger(store) if store.exists() or not place.exists() else import_ledger(place, store)


def find_sampler(name: str, place: Path) -> dict[str, Any]:
    """Return what a sampler knows that goes on from a ledger, and what it asks next."""
    data = stream("short")
    ledger = _open_ledger(place)
    sampler = qc.ask.PoolSampler(SAMPLERS[name](), data.X[:200], ledger=ledger)
    before = {"asked": sampler.asked, "open": [question.row for question in sampler.open_questions]}
    for question in sampler.open_questions:
        tell_sampler(sampler)(question.id, data.y[question.row].item())
    rows = []
    for _ in range(20):
        question = sampler.next()
        rows.append(question.row)
        tell_sampler(sampler)(question.id, data.y[question.row].item())
    after = {"rows": rows, "accuracy": sampler.accuracy()._asdict(), "view": views.view(sampler.learner, data.probe)}
    ledger.close()
    return {"before": before, "after": after}
