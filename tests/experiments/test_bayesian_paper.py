"""The paper on Bayesian trees: its cells, its depth images and features, and what its pages say."""

import math

import numpy as np
import pytest

from experiments.harness.pages import RESULTS
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore
from experiments.papers.bayesian import bodies, curve, depth, errors, images, offsets
from experiments.papers.bayesian.exhibits import STUDY
from experiments.papers.bayesian.published import TABLE, TREES

STORE = ResultStore(RESULTS)
EXHIBITS = [pytest.param(exhibit, id=exhibit.name) for exhibit in STUDY.exhibits]


def stored(name):
    exhibit = next(exhibit for exhibit in STUDY.exhibits if exhibit.name == name)
    return exhibit, STORE.read(exhibit.runs, STORE.best_scale(exhibit.runs))


def with_column(found, name, values):
    return Results(found.columns | {name: values})


def claim_of(exhibit, found, words):
    (claim,) = [claim for claim in exhibit.summarize(found).claims if words in claim.says]
    return claim


def test_table_has_every_variant_on_every_set():
    for scale in ("quick", "full"):
        cells = errors.table_cells(scale)
        for data in TREES:
            seen = {(cell["learner"], cell["trees"]) for cell in cells if cell["data"] == data}
            assert {("BOF", 1), ("BOF", 4), ("BOF", 8), ("BOF-P", 8), ("BOF-B", 8), ("BOF-PB", 8)} <= seen
            assert {("BOF-S", 8), ("BOF-SD", 8), ("RF", 100), ("linear", 1), ("AMF", 10)} <= seen
    assert {cell["run"] for cell in errors.table_cells("full")} == set(range(10))


@pytest.mark.parametrize("learner", ["BOF", "BOF-PB", "RF", "linear", "AMF"])
def test_a_cell_gives_the_same_lines_again(learner):
    cell = {"data": "g50c", "learner": learner, "trees": 2, "most": 7291, "tested": 100, "run": 3}
    first, again = (errors.measure_errors(cell, errors.TABLE_1.seed(cell))[0] for _ in range(2))
    assert first["error"] == again["error"]
    assert 0.0 < first["error"] < 0.6
    assert math.isnan(first["path"]) == (not learner.startswith("BOF"))


def test_published_forests_agree_between_table_and_text():
    for data, (*_, eight) in TREES.items():
        assert TABLE["BOF"][data].mean == pytest.approx(eight, abs=0.051)


# Depth images.


def test_bodies_are_nearer_than_the_wall_and_show_most_parts():
    drawn = bodies.draw_bodies(6, 60, 80, seed=4)
    for image in drawn:
        assert image.depth[image.parts > 0].max() < image.depth[image.parts == 0].min()
        assert 0.05 < (image.parts > 0).mean() < 0.6
    seen = np.mean([[part in image.parts for part in range(len(bodies.PARTS))] for image in drawn], axis=0)
    assert seen.min() >= 0.5
    assert seen.mean() > 0.9


def test_heads_are_above_hips_and_left_is_left():
    for image in bodies.draw_bodies(4, 60, 80, seed=1):
        middles = {name: np.argwhere(image.parts == part).mean(axis=0) for part, name in enumerate(bodies.PARTS)}
        assert middles["head"][0] < middles["chest"][0] < middles["hips"][0]
        assert middles["left shoulder"][1] < middles["right shoulder"][1]


def test_an_ellipsoid_has_the_depth_of_its_surface():
    radii = np.array([0.3, 0.2, 0.4])
    one = bodies.Ellipsoid(7, np.array([0.1, -0.05, 3.0]), np.eye(3), radii)
    image = bodies.render(bodies.Scene([one], (5.0, 0.0, 0.0)), 90, 120)
    right, down = bodies.find_rays(90, 120)
    z = image.depth / 1000.0
    inside = image.parts == 7
    scaled = [(right * z - 0.1) / radii[0], (down * z + 0.05) / radii[1], (z - 3.0) / radii[2]]
    surface = np.sum(np.square(scaled), axis=0)[inside]
    assert inside.sum() > 50
    assert np.abs(surface - 1).max() < 0.02
    assert (image.depth[~inside] == 5000).all()


@pytest.mark.parametrize("form", ["npy", "pgm"])
def test_images_come_back_from_files(tmp_path, form):
    drawn = bodies.draw_bodies(3, 24, 32, seed=2)
    for number, image in enumerate(drawn):
        images.write_image(image, tmp_path, f"body{number}", form)
    for image, back in zip(drawn, images.read_images(tmp_path), strict=True):
        assert back.depth.dtype == np.uint16
        assert (back.depth == image.depth).all()
        assert (back.parts == image.parts).all()


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no depth image"):
        images.read_images(tmp_path)
    np.save(tmp_path / "a.depth.npy", np.ones((2, 3), np.uint16))
    with pytest.raises(ValueError, match="has no labels"):
        images.read_images(tmp_path)
    np.save(tmp_path / "a.parts.npy", np.ones((3, 2), np.uint8))
    with pytest.raises(ValueError, match="must be the same"):
        images.read_images(tmp_path)
    np.save(tmp_path / "a.parts.npy", np.full((2, 3), 256))
    with pytest.raises(ValueError, match=r"allowed are 0 \.\. 255"):
        images.read_images(tmp_path)
    np.save(tmp_path / "a.parts.npy", np.ones((2, 3)))
    with pytest.raises(ValueError, match="whole numbers"):
        images.read_images(tmp_path)
    (tmp_path / "b.depth.pgm").write_bytes(b"P5 3 2 65535\n\0\0")
    (tmp_path / "b.parts.pgm").write_bytes(b"P5 3 2 255\n" + bytes(6))
    np.save(tmp_path / "a.parts.npy", np.ones((2, 3), np.uint8))
    with pytest.raises(ValueError, match="ends before"):
        images.read_images(tmp_path)


def naive_look(image, row, column, offset):
    there = round(row + offset[0]), round(column + offset[1])
    if not (0 <= there[0] < image.shape[0] and 0 <= there[1] < image.shape[1]) or image[there] == 0:
        return 1.0
    return min(1.0, max(-1.0, (float(image[there]) - float(image[row, column])) / offsets.SPAN))


def test_features_are_differences_of_depth_at_offsets():
    image = bodies.draw_bodies(1, 40, 50, seed=5)[0].depth.copy()
    image[::7, ::5] = 0
    drawn = offsets.draw_offsets(30, seed=1)
    pixels = np.random.default_rng(0).integers([40, 50], size=(60, 2))
    expected = [[naive_look(image, row, column, offset) for offset in drawn] for row, column in pixels.tolist()]
    assert np.allclose(offsets.look(image, pixels, drawn), expected)


def test_offsets_fill_a_log_polar_disc():
    drawn = offsets.draw_offsets(20_000, seed=3)
    distance, angle = np.log(np.hypot(*drawn.T)), np.arctan2(*drawn.T)
    assert distance.max() <= np.log(35)
    for values, low, high in ((distance, 0, np.log(35)), (angle, -np.pi, np.pi)):
        counts = np.histogram(values, 10, (low, high))[0]
        assert np.abs(counts / 2_000 - 1).max() < 0.1


def test_as_many_pixels_of_each_part_are_learned():
    image = bodies.draw_bodies(1, 60, 80, seed=0)[0]
    found = offsets.sample_pixels([image], offsets.draw_offsets(3, seed=0), per_part=4, seed=0)
    there = np.bincount(image.parts.ravel(), minlength=20)
    assert np.bincount(found.y, minlength=20).tolist() == np.minimum(there, 4).tolist()
    other = offsets.sample_pixels([image], offsets.draw_offsets(3, seed=0), per_part=4, seed=1)
    assert other.y.tolist() != found.y.tolist()


def test_every_node_has_offsets_of_its_own():
    drawn = offsets.draw_offsets(60, seed=0)
    pixels = offsets.sample_pixels(bodies.draw_bodies(1, 30, 40, seed=0), drawn, per_part=2, seed=0)
    forest = depth.make_forest(3, trees=2, diagonal=False, seed=5, per_node=10)
    forest.partial_fit(pixels.X, pixels.y, classes=np.arange(20))
    chosen = forest._state.chosen
    assert (chosen.sum(axis=1) == 10).all()
    assert len({row.tobytes() for row in chosen}) == len(chosen) == 14


def test_bodies_are_learned_the_same_every_time():
    drawn = bodies.draw_bodies(7, 60, 80, seed=8)
    plan = depth.DepthPlan(6, 1, 3, (30, 250), 1)
    around = offsets.draw_offsets(100, seed=0)
    lines = [
        depth.follow_images(depth.make_forest(5, 2, True, seed=1, per_node=30), drawn[:6], drawn[6:], around, plan, 2)
        for _ in range(2)
    ]
    assert lines[0] == lines[1]
    assert lines[0][1]["accuracy"] > max(0.15, lines[0][0]["accuracy"])


# Pages.


def test_figure_3_was_measured_at_full_scale():
    assert STORE.best_scale(curve.FIGURE_3) == "full"


def test_verdicts_of_table_1_follow_the_errors():
    exhibit, found = stored("table-1")
    for column, value, expected in (("error", 0.02, True), ("error", -0.02, False)):
        better = (found["learner"] == "BOF-P").astype(float) * value
        doctored = with_column(found, column, np.where(found["learner"] == "BOF", 0.1, 0.1 - better))
        assert claim_of(exhibit, doctored, "Random projections").holds is expected
    same = with_column(found, "error", np.full(len(found), 0.1))
    assert claim_of(exhibit, same, "Random projections").holds is None
    assert claim_of(exhibit, same, "Bagging with").holds is True


def test_verdicts_of_trees_follow_the_errors():
    exhibit, found = stored("table-1-trees")
    falling = with_column(found, "error", 0.2 / found["trees"])
    assert claim_of(exhibit, falling, "falls").holds is True
    assert claim_of(exhibit, with_column(found, "error", 0.01 * found["trees"]), "falls").holds is False


def test_verdicts_of_figure_3_follow_the_errors():
    exhibit, found = stored("figure-3")
    ours = found["learner"] == "BOF"
    for gap, expected in ((0.1, True), (-0.1, False)):
        doctored = with_column(found, "path", np.where(ours, 0.3 - gap, np.nan))
        doctored = with_column(doctored, "error", np.where(ours, 0.2, 0.3))
        assert claim_of(exhibit, doctored, "ahead").holds is expected


def test_verdicts_of_figure_4_follow_the_accuracies():
    exhibit, found = stored("figure-4")
    ours = np.char.startswith(found["learner"].astype(str), "BOF-S")
    for gap, expected in ((0.1, True), (-0.1, False)):
        doctored = with_column(found, "accuracy", np.where(ours, 0.5 + gap, 0.5))
        assert claim_of(exhibit, doctored, "outperform").holds is expected
    assert claim_of(exhibit, with_column(found, "bytes", found["bytes"] * 10), "MB").holds is False
