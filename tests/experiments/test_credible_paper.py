"""The exhibits of the paper on credible trees: grids, single cells, and verdicts that follow from what was found."""

import numpy as np
import pytest

import quercus as qc
from experiments.harness.catalog import load_study
from experiments.harness.pages import RESULTS
from experiments.harness.results import Results
from experiments.harness.storing import ResultStore
from experiments.papers.credible import partitions, pools
from experiments.papers.credible.batch import grow_batch
from experiments.papers.credible.leaf import best_tests
from experiments.papers.credible.pools import Curves, PoolSetting
from experiments.papers.credible.real import Halves, Method

_STORE = ResultStore(RESULTS)
_EXHIBITS = {exhibit.number: exhibit for exhibit in load_study("papers.credible").exhibits}


def stored(number):
    runs = _EXHIBITS[number].runs
    return _STORE.read(runs, _STORE.best_scale(runs))


def verdict(report, words):
    return next(claim for claim in report.claims if words in claim.says).holds


def doctored(found, rows, **columns):
    """Return what was found with other values in some lines."""
    changed = dict(found.columns)
    for name, values in columns.items():
        changed[name] = np.where(rows, values, changed[name])
    return Results(changed)


@pytest.fixture(scope="module")
def halves():
    rng = np.random.default_rng(0)
    X = rng.random((160, 3))
    y = (rng.random(160) < np.where((X[:, 0] > 0.4) & (X[:, 1] > 0.4), 0.98, 0.02)).astype(np.int64)
    return Halves(X[:80].copy(), y[:80], X[80:].copy(), y[80:])


def test_full_scale_has_the_runs_of_the_paper():
    shown = [cell for cell in partitions.FIGURE_5.cells("full") if cell["data"] == "shown"]
    assert len({cell["run"] for cell in shown}) * 5 == 100
    grid = pools.FIGURE_6.cells("full")
    for data in pools.DATA:
        assert sum(cell["runs"] for cell in grid if cell["data"] == data and cell["learner"] == "batch") == 1000


@pytest.mark.parametrize("number", ["1", "5"])
def test_a_cell_measured_twice_is_the_same(number):
    runs = _EXHIBITS[number].runs
    cell = min(runs.cells("quick"), key=lambda one: one.get("tree") != "fixed-64")
    first = runs.measure(cell, runs.seed(cell))
    assert first == runs.measure(cell, runs.seed(cell))
    assert len({tuple(row) for row in first}) == 1
    assert not set(first[0]) & set(cell)


def test_a_cell_of_figure_6_gives_a_line_for_each_share(monkeypatch, halves):
    monkeypatch.setattr(pools, "load_halves", lambda data, run, seed: halves)
    cell = {**pools.FIGURE_6.cells("quick")[0], "runs": 2}
    lines = pools.FIGURE_6.measure(cell, 1)
    assert lines == pools.FIGURE_6.measure(cell, 1)
    assert [line["share"] for line in lines] == list(pools.SHARES)
    assert lines[-1]["labels"] == 80
    assert lines[-1]["risk"] == pytest.approx(Method("passive", cell["delta"]).follow(halves, [1.0])[0][0])


def test_asking_in_order_ends_with_the_tree_of_the_order(halves):
    shares = (0.02, 0.3, 1.0)
    asked = Method("active", 0.3, 0.1).follow(halves, shares)
    passive = Method("passive", 0.3).follow(halves, shares)
    assert passive[-1][1] > 2
    assert asked[0] == passive[0]
    assert asked[-1] == passive[-1]


def test_asking_in_order_chooses_the_largest_possible_risk(monkeypatch, halves):
    order = []

    class Watched(qc.CredibleTree):
        def learn_pool(self, rows, y, **given):
            order.extend(np.asarray(rows).tolist())
            return super().learn_pool(rows, y, **given)

    monkeypatch.setattr(qc, "CredibleTree", Watched)
    Method("active", 0.3, 0.1).follow(halves, [0.5])
    monkeypatch.undo()
    again, regions = qc.CredibleTree.paper(delta=0.3).fit_pool(halves.X), []
    for row in order:
        ids, counts = again.regions()
        unasked = ~again.pool_labelled_
        sizes = {region: np.sum(ids == region) for region in np.unique(ids[unasked]).tolist()}
        padded = {region: [*counts[region].tolist(), 0.0, 0.0][:2] for region in sizes}
        scores = [(size * qc.statistics.risk_bound(padded[region], 0.1), region) for region, size in sizes.items()]
        regions.append(len(scores))
        best = max(score for score, _ in scores)
        among = [region for score, region in scores if score == best]
        assert row == next(place for place in np.flatnonzero(unasked).tolist() if ids[place] in among)
        again.learn_pool([row], [int(halves.y[row])])
    assert max(regions) > 2


def test_pessimistic_pruning_keeps_what_pays():
    rng = np.random.default_rng(1)
    X = rng.random((400, 2))
    clear = (X[:, 0] > 0.5).astype(np.int64)
    noisy = np.where(rng.random(400) < 0.2, 1 - clear, clear)
    assert grow_batch(X, clear, pruned=True).n_leaves == 2
    grown, pruned = grow_batch(X, noisy), grow_batch(X, noisy, pruned=True)
    assert pruned.n_leaves < grown.n_leaves / 2
    fresh = rng.random((2000, 2))
    truth = fresh[:, 0] > 0.5
    assert np.mean(pruned.predict(fresh) != truth) < np.mean(grown.predict(fresh) != truth)
    assert (grown.predict(X) == noisy).all()


def test_the_best_test_of_an_attribute_is_that_of_the_tree():
    rng = np.random.default_rng(3)
    X = rng.random((60, 2))
    y = (X[:, 1] > 0.45).astype(np.int64)
    tree = qc.CredibleTree.paper(delta=0.05).fit_pool(X)
    for count in range(1, 61):
        tree.learn_pool([count - 1], y[count - 1 : count])
        if tree.n_leaves_ > 1:
            break
    best = min(best_tests(X, y[:count], 0.05), key=lambda test: test.high)
    sides = tree.regions()[0]
    assert best.attribute == 1
    assert len(set(sides[X[:, 1] <= best.cut].tolist())) == len(set(sides[X[:, 1] > best.cut].tolist())) == 1


def test_figure_1_has_no_test_installed_if_none_is_below_the_leaf():
    found = stored("1")
    assert verdict(_EXHIBITS["1"].summarize(found), "would be installed") is True
    worse = doctored(found, found["test"] != "leaf", high=2.0)
    assert verdict(_EXHIBITS["1"].summarize(worse), "would be installed") is False


def test_figure_5_verdicts_follow_the_risks():
    found = stored("5")
    active = found["tree"] == "active"
    summarize = _EXHIBITS["5"].summarize
    for risk, holds in ((found["risk"] - 0.1, True), (found["risk"] + 0.1, False)):
        result = summarize(doctored(found, active, risk=risk))
        assert verdict(result, "BOCT-AL is better than BOCT") is holds
        assert verdict(result, "At any time") is holds
    turned = doctored(found, found["tree"] == "fixed-64", risk=1 - found["risk"])
    assert verdict(summarize(found), "better with 64") is True
    assert verdict(summarize(turned), "better with 64") is False


def test_figure_5_deltas_are_chosen_in_other_runs():
    found = stored("5")
    wanted = next(key for key, _ in found.where(tree="active").groups("delta", "active"))
    here = (found["tree"] == "active") & (found["delta"] == wanted[0]) & (found["active"] == wanted[1])
    report = _EXHIBITS["5"].summarize(doctored(found, here & (found["data"] == "choosing"), risk=0.0))
    assert any(row[0] == f"BOCT-AL {wanted[0]:g}/{wanted[1]:g}" for row in report.tables[0].rows)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        ("hoeffding", "always better than the Hoeffding"),
        ("c4.5", "batch tree is worse"),
        ("active", "BOCT-AL is slightly"),
    ],
)
def test_figure_6_verdicts_follow_the_risks(learner, words):
    found, summarize = stored("6"), _EXHIBITS["6"].summarize
    for change, holds in ((0.2, True), (-0.2, False)):
        change = -change if learner == "active" else change
        assert (
            verdict(summarize(doctored(found, found["learner"] == learner, risk=found["risk"] + change)), words)
            is holds
        )


def test_figure_6_deltas_are_tuned_here_or_on_the_other_sets():
    found = stored("6")
    settings = [PoolSetting(*key) for key, _ in found.where(learner="hoeffding").groups("learner", "delta", "active")]
    here, there = settings[0], settings[-1]
    diabetes, hoeffding = found["data"] == "diabetes", found["learner"] == "hoeffding"
    found = doctored(found, diabetes & hoeffding & (found["delta"] == here.delta), risk=0.0)
    found = doctored(found, ~diabetes & hoeffding & (found["delta"] == there.delta), risk=0.01)
    curves = Curves(found)
    assert curves.tuned("diabetes", "hoeffding") == here
    assert curves.fair("diabetes", "hoeffding") == there


def test_asking_and_not_asking_end_alike_in_the_stored_results():
    report = _EXHIBITS["6"].summarize(stored("6"))
    assert verdict(report, "At the beginning") is True
    assert verdict(report, "At the end BOCT-AL and BOCT are the same") is True
