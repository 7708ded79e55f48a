"""A report: one file that needs nothing else, whatever the run and its names."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import quercus as qc
from quercus.evaluation.sections import make_sections
from tests.evaluation.fakes import BatchLearner, PlainLearner, toy
from tests.evaluation.pages import check_page, names_of, remove
from tests.evaluation.test_evaluate import Impatient

HOSTILE = """a"b|c<script>alert('x')</script>&amp;\n{e}"""


@pytest.fixture(scope="module")
def run() -> qc.Run:
    return qc.evaluate(toy(2500), BatchLearner(), loss={"c0": {"c1": 2.5}}, name="fake on toy", warm_up=100)


def written(run: qc.Run, folder: Path, **options: object) -> str:
    run.report(folder / "r.html", **options)
    return (folder / "r.html").read_text()


def test_the_report_stands_alone(run: qc.Run, tmp_path: Path) -> None:
    (tmp_path / "r.html").write_text("old")
    text = written(run, tmp_path)
    assert len(check_page(text)) == 8
    for words in (
        "fake on toy",
        "Accuracy along the stream",
        "Block by block",
        "Money lost so far",
        "Features of data",
    ):
        assert words in text
    assert "prefers-color-scheme:dark" in text
    assert "vegaEmbed" in text
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_the_report_of_a_tree_draws_it(tmp_path: Path) -> None:
    stream = qc.streams.RandomTree(leaves=6, q=0.95, rows=5000)
    text = written(qc.evaluate(stream, qc.ConfidenceTree()), tmp_path)
    specs = check_page(text)
    assert 'class="quercus-tree"' in text
    assert "The tree at the end" in text
    assert "grace_period" in text
    assert "best possible 95.0%" in names_of(specs[0])
    assert "What the features are worth" in text


@pytest.mark.parametrize(
    ("learner", "shown"),
    [
        (qc.EvergreenForest(), ["What the features are worth"]),
        (qc.GrowingForest(), ["What the features are worth"]),
        (qc.ReinforcedTree(), ["The tree at the end"]),
        (PlainLearner(), []),
    ],
)
def test_a_report_shows_what_a_learner_has(learner: object, shown: list[str], tmp_path: Path) -> None:
    text = written(qc.evaluate(qc.streams.RandomTree(leaves=6, features=3, rows=600), learner), tmp_path)
    check_page(text)
    known = {"What the features are worth", "The tree at the end"}
    assert [words for words in known if words in text] == shown


def test_a_tree_from_arrays_is_drawn_with_the_names_of_the_stream(tmp_path: Path) -> None:
    X, y = qc.streams.RandomTree(leaves=6, features=2, q=0.95, rows=3000).take()
    stream = qc.streams.MemoryStream(X, y, name="forest", names=["elevation", "slope"])
    run = qc.evaluate(stream, qc.ConfidenceTree())
    assert [feature["name"] for feature in run.features] == ["elevation", "slope"]
    drawn = written(run, tmp_path).split("The tree at the end")[1].split("</section>")[0]
    assert "elevation ≤" in drawn or "slope ≤" in drawn
    assert "x0 ≤" not in drawn


def test_the_report_warns_where_a_baseline_is_better(tmp_path: Path) -> None:
    run = qc.evaluate((np.zeros((400, 1)), np.repeat(["a", "b"], 200)), BatchLearner())
    assert "repeating the previous label would have been right more often" in written(run, tmp_path)


def test_a_report_of_rare_classes_says_balanced_accuracy_first(tmp_path: Path) -> None:
    X = np.random.default_rng(4).normal(size=(3000, 2))
    run = qc.evaluate((X, np.where(X[:, 0] > 1.9, "fraud", "fine")), qc.ConfidenceTree())
    text = written(run, tmp_path)
    check_page(text)
    assert f'<p class="lead">Balanced accuracy {run.balanced_accuracy:.1%}, AUC {run.auc:.3f} (' in text
    tiles = re.findall(r'class="tile"><span>(.*?)</span><b>(.*?)</b>', text)
    assert tiles[0] == ("balanced accuracy", f"{run.balanced_accuracy:.1%}")
    assert ("lift in the top 10.0%", f"{run.lift:.1f}") in tiles
    assert "expected calibration error" in text


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    X, y = toy(1200)
    frame = pd.DataFrame({HOSTILE: X[:, 0], "b": np.where(X[:, 1] > 0, HOSTILE, "no")})
    run = qc.evaluate((frame, np.char.add(y, HOSTILE)), qc.ConfidenceTree(), name=HOSTILE)
    for text in (written(run, tmp_path), written(run, tmp_path, others=[run]), run._repr_html_()):
        check_page(text)
        assert "<script>alert" not in text
    run.plot(tmp_path / "r.png")


def test_all_classes_are_listed_and_many_features_bounded(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(600, 230)), random.integers(0, 50, 600)
    text = written(qc.evaluate((X, y), BatchLearner()), tmp_path)
    check_page(text)
    table = text.split("<h2>Classes</h2>")[1].split("</table>")[0]
    assert len(re.findall("<tr>", table)) == 51
    assert 'type="search"' in table
    assert "30 features more are not listed" in text


def test_one_row_can_be_reported(tmp_path: Path) -> None:
    check_page(written(qc.evaluate(toy(1), BatchLearner()), tmp_path))


def test_sections_appear_with_what_was_measured(run: qc.Run) -> None:
    plain = replace(run, calibration={}, roc={})
    titles = [section.title for section in make_sections([plain])]
    assert "Probabilities" not in titles
    assert "What the labels cost and tell" not in titles
    bins = {name: np.array([0.5]) for name in ("confidence", "accuracy", "rows")}
    area = {"fpr": np.array([0.0, 1.0]), "tpr": np.array([0.0, 1.0]), "auc": 0.5123}
    measured = replace(run, calibration=bins, roc=dict.fromkeys(run.classes, area))
    found = {section.title: section for section in make_sections([measured])}
    assert [part.title for part in found["Probabilities"].shared] == [
        "Calibration",
        "Receiver operating characteristic",
    ]
    classes = found["Classes"].each[0][1][0]
    assert classes.head[-1] == "ROC area"
    assert {line[-1] for line in classes.rows} == {"0.512"}


def test_differences_to_baselines_are_told_from_other_figures(run: qc.Run, tmp_path: Path) -> None:
    bought = qc.evaluate(qc.streams.RandomTree(rows=300), qc.UtilityTree())
    for one in (run, bought):
        (table,) = next(part for part in make_sections([one]) if part.title == "All figures").shared
        assert set(table.head) == {""}
        third = {line[0].strip(): line[2] for line in table.rows if line[2]}
        majority = one.accuracy - one.majority_accuracy
        assert third["majority so far"] == f"learner {majority:+.4f}"
        assert all(
            cell.startswith("learner ") == (name in {"majority so far", "previous label", "best possible"})
            for name, cell in third.items()
        )
    assert third["features per row"].startswith("of ")
    assert "logLevel: 1" in written(run, tmp_path)


def test_runs_stand_side_by_side(run: qc.Run, tmp_path: Path) -> None:
    other = qc.evaluate(toy(2500), qc.HoeffdingTree(), name="a tree", warm_up=100)
    text = written(run, tmp_path, others=[other])
    specs = check_page(text)
    assert [name.rsplit(" ", 1)[0] for name in names_of(specs[0])[:2]] == ["fake on toy", "a tree"]
    head, *rows = re.findall(r"<tr>(.*?)</tr>", text.split("<h2>All figures</h2>")[1].split("</table>")[0])
    assert re.findall(r">([^<]+)</th>", head) == ["fake on toy", "a tree"]
    assert f"{run.accuracy:.4f}" in rows[0]
    assert f"{other.accuracy:.4f}" in rows[0]
    assert text.count("Who was taken for whom") == 2
    assert "2 runs: fake on toy, a tree" in text


def test_runs_of_other_streams_stand_side_by_side(run: qc.Run, tmp_path: Path) -> None:
    other = qc.evaluate(qc.streams.RandomTree(rows=900), qc.UtilityTree())
    with pytest.raises(qc.evaluation.Interrupted) as caught:
        qc.evaluate(toy(), Impatient(0))
    empty = caught.value.run
    text = written(run, tmp_path, others=[other, empty])
    specs = check_page(text)
    assert "No row was scored" in text
    assert "What the features cost" in text
    colours = set()
    for spec in specs:
        look = next((layer["encoding"]["color"] for layer in spec.get("layer", []) if "color" in layer["encoding"]), {})
        pairs = zip(look.get("scale", {}).get("domain", []), look.get("scale", {}).get("range", []), strict=True)
        colours |= {colour for name, colour in pairs if name.startswith(run.name)}
    assert len(colours) == 1


def test_a_report_says_what_to_install(run: qc.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove(monkeypatch, "jinja2")
    with pytest.raises(
        ModuleNotFoundError, match=re.escape("vl-convert-python and jinja2; pip install 'quercus[report]'")
    ):
        run.report(tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []
