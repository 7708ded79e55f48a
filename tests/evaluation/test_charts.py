"""The charts of runs, as Altair gives them and as files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

import quercus as qc
from quercus.evaluation import charts
from quercus.evaluation.canvas import Axis, Line, inline_svg, line_chart, percent_axis, save_chart
from quercus.explain.words import distinct_names
from tests.evaluation.fakes import BatchLearner, toy
from tests.evaluation.pages import names_of, remove, rows_of


@pytest.fixture(scope="module")
def run() -> qc.Run:
    return qc.evaluate(toy(2500), BatchLearner(), loss={"c0": {"c1": 2.5}}, name="fake on toy", warm_up=100)


def scale_of(spec: dict[str, Any], side: str) -> dict[str, Any]:
    scale: dict[str, Any] = spec["layer"][0]["encoding"][side]["scale"]
    return scale


def test_the_chart_of_a_run_has_both_baselines_and_the_blocks(run: qc.Run) -> None:
    chart = run.plot()
    assert isinstance(chart, alt.LayerChart)
    spec = chart.to_dict()
    assert spec["title"]["text"] == "fake on toy"
    assert [name.rsplit(" ", 1)[0] for name in names_of(spec)] == [
        "BatchLearner, all rows so far",
        "BatchLearner, each 1,000",
        "previous label",
        "majority so far",
    ]
    last = [row for row in rows_of(spec) if row["line"].startswith("BatchLearner, all rows")][-1]
    assert (last["x"], last["y"]) == (2400, run.accuracy)
    assert scale_of(spec, "x") == {"type": "log", "domain": [10, 2400], "nice": False, "zero": False}
    vl_convert.vegalite_to_vega(spec)


def test_every_point_tells_what_all_lines_say_there(run: qc.Run) -> None:
    spec = run.plot().to_dict()
    tips = spec["layer"][-1]["encoding"]["tooltip"]
    assert [tip["title"] for tip in tips] == ["rows so far", *names_of(spec)]
    row = next(row for row in rows_of(spec) if row["x"] == 1000)
    place = run.curve["rows"].tolist().index(1000)
    said = [row[tip["field"]] for tip in tips]
    assert said[:2] == ["1,000", f"{run.curve['accuracy'][place]:.1%}"]
    assert said[2] == f"{run.windows['accuracy'][0]:.1%}"
    cells = vl_convert.vegalite_to_vega(spec)["marks"][-1]
    assert cells["name"].endswith("voronoi")
    assert re.findall(r"datum[^ ]*\[", cells["encode"]["update"]["tooltip"]["signal"]) == ["datum.datum["] * 3 * len(
        tips
    )


def test_charts_of_one_user_go_together(run: qc.Run) -> None:
    both = run.plot() | qc.evaluate(toy(300), BatchLearner()).plot()
    assert len(both.to_dict()["hconcat"]) == 2


@pytest.mark.parametrize("ending", ["png", "svg", "html", "json", "pdf"])
def test_the_ending_says_the_format(run: qc.Run, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"curve.{ending}"
    path.write_text("old")
    run.plot(path)
    begins = {"png": b"\x89PNG", "svg": b"<svg", "html": b"<!DOCTYPE html>", "json": b"{", "pdf": b"%PDF"}
    raw = path.read_bytes()
    assert raw.startswith(begins[ending])
    if ending == "svg":
        assert b'opacity="0"' not in raw
        assert raw.count(b"<path") < 100
    if ending == "json":
        assert json.loads(raw)["layer"]
    if ending == "html":
        assert not re.search(rb"<script[^>]+src=|import\(|from ['\"]http", raw)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_other_endings_are_refused_before_anything_is_drawn(run: qc.Run, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'.*curve.bmp'; let its name end in .html, .json, .pdf, .png or .svg"):
        run.plot(tmp_path / "curve.bmp")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_picture_leaves_the_old_one(run: qc.Run, tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    path.write_text("old")
    with pytest.raises(ValueError, match="SVG"):
        save_chart(alt.Chart(alt.Data(values=[{"a": 1}])).mark_line(size={"expr": "1 +"}), path)
    assert path.read_text() == "old"


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_a_chart_says_what_to_install(run: qc.Run, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    remove(monkeypatch, missing)
    with pytest.raises(ModuleNotFoundError, match=re.escape("pip install 'quercus[report]'")):
        run.plot()
    assert "pip install &#x27;quercus[report]&#x27;" in run._repr_html_()
    assert f"{run.accuracy:.4f}" in run._repr_html_()


def test_gaps_and_many_points() -> None:
    x = np.arange(1.0, 5001.0)
    y = np.where((x % 7 == 0) | (x > 4000), np.nan, 0.5)
    spec = line_chart([Line("a", x, y)], Axis("x", log=True), percent_axis("y")).to_dict()
    rows = rows_of(spec)
    assert 300 < len(rows) <= 400
    assert rows[-1]["x"] == 5000
    assert "NaN" not in json.dumps(rows)
    assert [row["y"] for row in rows if row["x"] < 3900] == [0.5] * 299
    assert rows[-1]["y"] is None
    assert scale_of(spec, "y")["domain"] == [0.25, 0.75]


def test_what_cannot_be_seen_does_not_stretch_the_axis() -> None:
    line = Line("a", [1, 10, 100], [0.0, 0.71, 0.84])
    spec = line_chart([line], Axis("x", low=10, high=100, log=True), percent_axis("y")).to_dict()
    assert scale_of(spec, "y")["domain"] == [0.71, 0.84]
    empty = line_chart([Line("a", [], [])], Axis("x", log=True), percent_axis("y")).to_dict()
    assert scale_of(empty, "y")["domain"] == [0.0, 1.0]
    vl_convert.vegalite_to_svg(empty)


def test_what_is_counted_has_no_tick_between_two_numbers(run: qc.Run) -> None:
    small = {title: chart.to_dict() for title, chart in charts.small_charts([run]).items()}
    steps = {title: spec["layer"][0]["encoding"]["y"]["axis"].get("tickMinStep") for title, spec in small.items()}
    assert steps == {title: 1 if "Leaves" in title or "Labels" in title else None for title in steps}
    line = line_chart([Line("", [1, 10], [0, 3])], Axis("x", log=True), Axis("y", whole=True)).to_dict()
    assert line["layer"][0]["encoding"]["y"]["axis"]["tickMinStep"] == 1


def test_a_mark_at_the_end_is_not_cut() -> None:
    lone = Line("b", [1, 10, 100], [np.nan, np.nan, 0.5])
    spec = line_chart(
        [Line("a", [1, 10, 100], [0.1, 0.2, 0.3]), lone], Axis("x", log=True), percent_axis("y")
    ).to_dict()
    low, high = scale_of(spec, "x")["domain"]
    assert low == 1
    assert 100 < high < 110
    early = replace(lone, y=[0.5, np.nan, np.nan])
    spec = line_chart(
        [Line("a", [1, 10, 100], [0.1, 0.2, 0.3]), early], Axis("x", log=True), percent_axis("y")
    ).to_dict()
    assert scale_of(spec, "x")["domain"] == [1, 100]


def test_names_are_whole_also_where_a_chart_is_shown_without_our_look(run: qc.Run) -> None:
    def legend(chart: alt.LayerChart) -> dict[str, Any]:
        found: dict[str, Any] = chart.to_dict()["layer"][0]["encoding"]["color"]["legend"]
        return {name: found[name] for name in ("columns", "labelLimit") if name in found}

    assert legend(charts.draw_run(run)) == {"columns": 2, "labelLimit": 0}
    assert legend(charts.accuracy_chart([run])) == {}  # a report lays them out by the room there is


def test_a_picture_in_a_page_shrinks_as_long_as_it_can_be_read(run: qc.Run) -> None:
    drawn = inline_svg(charts.draw_run(run))
    found = re.match(r'<div style="overflow-x:auto;max-width:100%"><svg style="max-width:100%;min-width:(\d+)px', drawn)
    wide = re.search(r' width="(\d+)', drawn)
    assert found
    assert wide
    assert int(found[1]) == round(0.75 * int(wide[1]))


@pytest.mark.parametrize("rows", [1, 2, 9, 10, 99, 1000, 45_312])
def test_row_axes_end_at_the_last_row(rows: int) -> None:
    axis = charts.rows_axis([qc.evaluate(toy(rows), BatchLearner())]) if rows < 1000 else None
    low, high = (axis.low, axis.high) if axis else (1.0, float(rows))
    assert low is not None
    assert high is not None
    assert 0 < low < high
    assert high >= rows
    assert low <= max(1, rows / 10)


def test_one_row_can_be_drawn() -> None:
    spec = qc.evaluate(toy(1), BatchLearner()).plot().to_dict()
    assert any(layer["mark"]["type"] == "point" for layer in spec["layer"])
    vl_convert.vegalite_to_svg(spec)


def test_the_confusion_has_all_classes_and_counts(run: qc.Run) -> None:
    spec = charts.confusion_chart(run).to_dict()
    rows = rows_of(spec)
    assert sum(row["rows"] for row in rows) == run.rows
    assert sum(row["rows"] for row in rows if row["right"]) == round(run.accuracy * run.rows)
    encoding = spec["layer"][0]["encoding"]
    assert encoding["y"]["scale"]["domain"] == ["c0", "c1", "c2"]
    assert encoding["x"]["scale"]["domain"] == ["c0", "c1", "c2"] + ["no answer"] * bool(run.confusion[:, -1].sum())
    vl_convert.vegalite_to_svg(spec)


def test_few_of_very_many_classes_are_shown_one_by_one() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 70, 3000)
    run = qc.evaluate((random.normal(size=(3000, 2)), y), BatchLearner())
    spec = charts.confusion_chart(run).to_dict()
    names = spec["encoding"]["y"]["scale"]["domain"]
    assert len(names) == 51
    assert names[-1] == "20 others"
    assert sum(row["rows"] for row in rows_of(spec)) == 3000
    kept = {int(name) for name in names[:-1]}
    counts = np.bincount(y)
    assert counts[sorted(kept)].min() >= max(counts[label] for label in range(70) if label not in kept)


def test_names_of_forty_classes_stay_apart() -> None:
    random = np.random.default_rng(0)
    labels = np.array([f"{kind} about the delivery of {place}" for kind in ("complaint", "question") for place in
                       range(20)])  # fmt: skip
    run = qc.evaluate((random.normal(size=(2000, 2)), labels[random.integers(0, 40, 2000)]), BatchLearner())
    names = charts.confusion_chart(run).to_dict()["encoding"]["y"]["scale"]["domain"]
    assert len(set(names)) == 40
    assert max(map(len, names)) < max(map(len, labels))


@given(
    st.lists(st.one_of(st.text(max_size=60), st.integers(), st.floats(), st.booleans()), max_size=8), st.integers(3, 40)
)
def test_no_two_names_become_alike(things: list[Any], columns: int) -> None:
    names = distinct_names(things, columns)
    assert len(names) == len(set(names)) == len(things)


def test_several_runs_have_a_line_each_and_share_the_baselines(run: qc.Run) -> None:
    other = qc.evaluate(toy(2500), BatchLearner(), name="fake on toy", warm_up=100)
    names = names_of(charts.accuracy_chart([run, other]).to_dict())
    percent = f"{run.accuracy:.1%}"
    assert names[:2] == [f"fake on toy {percent}", f"fake on toy (2) {percent}"]
    assert len(names) == 4
    elsewhere = qc.evaluate(toy(700, seed=3), BatchLearner(), name="elsewhere")
    assert len(names_of(charts.accuracy_chart([run, elsewhere]).to_dict())) == 2


def test_bars_are_sorted_and_bounded() -> None:
    spec = charts.bar_chart({f"feature {i}": i / 100 for i in range(40)}, "share").to_dict()
    assert [row["name"] for row in rows_of(spec)][:2] == ["feature 39", "feature 38"]
    assert len(rows_of(spec)) == 25


def test_calibration_and_roc_are_drawn_from_what_was_measured(run: qc.Run) -> None:
    bins = {"confidence": np.array([0.2, 0.9]), "accuracy": np.array([0.1, 0.8]), "rows": np.array([10, 1200])}
    areas = {label: {"fpr": np.array([0, 0.5, 1]), "tpr": np.array([0, 0.8, 1]), "auc": 0.65} for label in run.classes}
    measured = replace(run, calibration=bins, roc=areas)
    rows = [row for row in rows_of(charts.calibration_chart([measured]).to_dict()) if row["line"] == "fake on toy"]
    assert [(row["x"], row["y"], row["note"]) for row in rows] == [(0.2, 0.1, "10 rows"), (0.9, 0.8, "1,200 rows")]
    assert set(names_of(charts.roc_chart(measured).to_dict())) == {"by chance", "c0", "c1", "c2"}
