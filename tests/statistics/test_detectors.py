"""The compiled detectors against slow ones and against river; what they promise."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from quercus.statistics import ADWIN, DDM, Detector, PageHinkley
from quercus.statistics.detector_kernels import ADWIN_WIDTH, BUCKETS, COUNT, FILLED, LEVELS, OLDEST, SUM, SUMS
from tests.statistics.detectors_oracle import NaiveADWIN, NaiveDDM, NaivePageHinkley

ALL = [DDM(), PageHinkley(), ADWIN(), ADWIN(delta=1.0, clock=1, side="both")]


def errors(*rates_and_lengths, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.random(n) < rate for rate, n in rates_and_lengths]).astype(float)


STREAMS = {
    "rise": errors((0.2, 900), (0.5, 600)),
    "fall": errors((0.5, 900), (0.1, 900)),
    "up and down": errors((0.1, 500), (0.6, 300), (0.1, 500), (0.9, 200)),
    "coin": errors((0.5, 1500), seed=3),
    "no error, then some": errors((0.0, 400), (0.05, 600)),
    "only errors": np.ones(500),
    "errors, then none": errors((1.0, 300), (0.0, 700)),
    "fractions": np.random.default_rng(1).random(1500) * np.repeat([0.4, 1.0, 0.2], 500),
    "alternating": np.tile([0.0, 1.0], 500),
    "one value": np.array([1.0]),
}
PAIRS = {
    "ddm": (DDM(), NaiveDDM()),
    "ddm eager": (DDM(warning=1.2, change=1.5, least=5), NaiveDDM(1.2, 1.5, 5)),
    "ddm at once": (DDM(warning=0.5, change=0.9, least=5), NaiveDDM(0.5, 0.9, 5)),
    "page-hinkley at once": (PageHinkley(0, 0.3, 1, 10), NaivePageHinkley(0, 0.3, 1, 10)),
    "page-hinkley": (PageHinkley(threshold=10), NaivePageHinkley(threshold=10)),
    "page-hinkley fading": (PageHinkley(0.01, 3, 0.98, 10), NaivePageHinkley(0.01, 3, 0.98, 10)),
    "adwin": (ADWIN(side="both"), NaiveADWIN()),
    "adwin rise": (ADWIN(side="rise"), NaiveADWIN(side="rise")),
    "adwin eager": (ADWIN(delta=0.5, clock=7, side="both"), NaiveADWIN(delta=0.5, clock=7)),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("stream", STREAMS)
def test_states_are_those_of_the_slow_detector(pair, stream):
    detector, naive = copy.deepcopy(PAIRS[pair])
    expected = [naive.update(value) for value in STREAMS[stream].tolist()]
    found = detector.update_many(STREAMS[stream])
    assert found.changes.tolist() == [i for i, state in enumerate(expected) if state == "change"]
    assert found.warnings.tolist() == [i for i, state in enumerate(expected) if state == "warning"]
    assert detector.state == expected[-1]
    assert detector.n == len(naive.values)
    assert detector.mean == pytest.approx(np.mean(naive.values), abs=1e-12)
    if isinstance(detector, ADWIN):
        assert detector.rose == naive.rose


def test_the_streams_make_every_kind_of_detector_find_something():
    for name, (detector, _) in PAIRS.items():
        found = copy.deepcopy(detector).update_many(np.concatenate(list(STREAMS.values())))
        assert len(found.changes), name
        assert bool(len(found.warnings)) == isinstance(detector, DDM), name


def test_adwin_merges_its_oldest_buckets_when_the_levels_are_used_up():
    full = BUCKETS * (2**LEVELS - 1)
    values = errors((0.2, full + 70_000), (0.5, 30_000))
    clock = 20_000
    detector, naive = ADWIN(clock=clock), NaiveADWIN(clock=clock, side="rise", levels=LEVELS)
    expected = [i for i, value in enumerate(values.tolist()) if naive.update(value) == "change"]
    before = detector.update_many(values[: full + 70_000])
    assert detector.state_array()[OLDEST] >= 2 ** (LEVELS - 1)
    assert detector.n == full + 70_000
    after = detector.update_many(values[full + 70_000 :])
    assert [*before.changes.tolist(), *(after.changes + full + 70_000).tolist()] == expected != []
    assert detector.n == len(naive.values)
    assert detector.mean == pytest.approx(naive.values.mean(), abs=1e-12)


def test_adwin_counts_exactly_over_two_million_values_in_the_same_room():
    detector = ADWIN()
    total = 0.0
    for seed in range(4):
        values = errors((0.3, 500_000), seed=seed)
        detector.update_many(values)
        total += values.sum()
    row = detector.state_array()
    assert row.shape == (ADWIN_WIDTH,)
    assert (row[COUNT], row[SUM]) == (2_000_000, total)
    assert row[SUMS : SUMS + LEVELS * BUCKETS].sum() == total
    assert row[FILLED:SUMS].max() <= BUCKETS
    assert detector.update_many(np.ones(3_200)).changes.size > 0
    assert detector.mean > 0.9


def test_adwin_finds_the_side():
    up, down = ADWIN(), ADWIN()
    assert up.rose is None
    assert up.update_many(errors((0.1, 1000), (0.9, 200))).changes.size > 0
    assert up.rose is True
    assert down.update_many(errors((0.9, 1000), (0.1, 200))).changes.size == 0
    assert down.rose is False
    assert down.n < 400, "the window is cut at a fall, too"
    assert ADWIN(side="both").update_many(errors((0.9, 1000), (0.1, 200))).changes.size > 0


def test_the_first_error_after_a_clean_run_is_no_change():
    detector = DDM()
    assert detector.update_many([0] * 5_000 + [1]).changes.size == 0
    assert detector.update_many([1] * 5).changes.size > 0


@pytest.mark.parametrize("detector", ALL, ids=str)
@given(values=st.lists(st.sampled_from([0.0, 0.0, 0.3, 1.0]), min_size=1, max_size=400), seed=st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_any_partition_gives_the_same_state(detector, values, seed):
    values = np.array(values + [1.0] * 100)
    whole, parts, each, until = (clone(detector) for _ in range(4))
    found = whole.update_many(values)
    cuts = np.sort(np.random.default_rng(seed).integers(0, len(values), 5))
    changes = []
    for start, part in zip([0, *cuts], np.split(values, cuts), strict=True):
        changes += (parts.update_many(part).changes + start).tolist()
    states = [each.update(value) for value in values.tolist()]
    assert changes == found.changes.tolist() == [i for i, state in enumerate(states) if state == "change"]
    stops, row = [], 0
    while row < len(values):
        row += until.update_until(values[row:])
        stops += [row - 1] if until.state == "change" else []
    assert stops == found.changes.tolist()
    expected = whole.state_array().tobytes()
    assert all(other.state_array().tobytes() == expected for other in (parts, each, until))


def test_update_until_stops_where_the_state_turns():
    values = STREAMS["rise"]
    found = DDM().update_many(values)
    detector = DDM()
    assert detector.update_until(values) == found.warnings[0] + 1
    assert detector.state == "warning"
    assert detector.update_until([]) == 0
    assert detector.update_until(values[:0]) == 0


@pytest.mark.parametrize("detector", ALL, ids=str)
@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda d: pickle.loads(pickle.dumps(d)),
        lambda d: type(d).from_dict(json.loads(json.dumps(d.to_dict()))),
        lambda d: clone(d).restore_array(d.state_array()),
    ],
    ids=["deepcopy", "pickle", "dict", "array"],
)
def test_a_copy_goes_on_as_the_original(detector, copied):
    values = STREAMS["fractions"]
    original = clone(detector)
    original.update_many(values[:700])
    other = copied(original)
    assert other.get_params() == original.get_params()
    assert (other.state, other.n, other.mean) == (original.state, original.n, original.mean)
    other.update_many(values[700:])
    assert original.n <= 700, "a copy must not touch the original"
    original.update_many(values[700:])
    assert other.state_array().tobytes() == original.state_array().tobytes()


@pytest.mark.parametrize("detector", ALL, ids=str)
def test_reset_and_clone_begin_anew(detector):
    used = clone(detector)
    used.update_many(STREAMS["rise"])
    assert used.n > 0
    for new in (clone(used), used):
        new.reset()
        assert (new.state, new.n) == ("stable", 0)
        assert np.isnan(new.mean)
        assert not new.state_array().any()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda d: d.update(2), "the value is 2.0; give numbers from 0 to 1"),
        (lambda d: d.update(float("nan")), "the value is nan"),
        (lambda d: d.update_many([0, 1, -0.5]), "value 2 is -0.5"),
        (lambda d: d.update_many([0, np.nan]), "value 1 is nan"),
        (lambda d: d.update_until([[0, 1]]), "2 dimensions"),
        (lambda d: d.restore_array(np.zeros(3)), "no state of"),
        (lambda d: d.restore_array(np.full_like(d.state_array(), np.nan)), "no state of"),
        (lambda d: type(d).from_dict({"detector": "Oak"}), "describes 'Oak'"),
    ],
)
@pytest.mark.parametrize("detector", ALL, ids=str)
def test_bad_values_are_refused_and_change_nothing(detector, act, message):
    used = clone(detector)
    used.update_many([0, 1, 1])
    before = used.state_array().tobytes()
    with pytest.raises(ValueError, match=message):
        act(used)
    assert used.state_array().tobytes() == before


@pytest.mark.parametrize(
    "detector",
    [DDM(warning=-1), DDM(warning=3, change=2), DDM(least=0), PageHinkley(alpha=0), PageHinkley(delta=-1),
     PageHinkley(threshold="much"), ADWIN(delta=0), ADWIN(delta=2), ADWIN(clock=0), ADWIN(side="fall")],
    ids=str,
)  # fmt: skip
def test_arguments_that_make_no_sense_are_refused(detector):
    with pytest.raises(ValueError, match=r"out of range|unknown"):
        detector.update(1)
    assert detector.n == 0


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (COUNT, 5.0),
        (FILLED, 6.0),
        (FILLED, 0.5),
        (FILLED + 2, -1.0),
        (OLDEST, 2.0**15),
        (0, 7.0),
        (SUM, 99.0),
        (4, 32.0),
        (5, 0.5),
    ],
)
def test_a_window_that_kernels_would_stumble_over_is_refused(place, value):
    detector = ADWIN()
    detector.update_many(errors((0.3, 31)))
    row = detector.state_array()
    row[place] = value
    with pytest.raises(ValueError, match="no state of ADWIN"):
        ADWIN().restore_array(row)


def test_a_detector_in_plain_python_has_the_same_verbs():
    class Third(Detector):
        def __init__(self):
            self.seen = 0

        def update(self, value):
            self.seen += 1
            return self.state

        def reset(self):
            self.seen = 0

        @property
        def state(self):
            return ("stable", "stable", "warning", "change")[self.seen % 4]

    detector = Third()
    found = detector.update_many(np.zeros(8))
    assert (found.warnings.tolist(), found.changes.tolist()) == ([1, 5], [2, 6])
    detector.reset()
    assert [detector.update_until(np.zeros(8 - k)) for k in (0, 2, 3)] == [2, 1, 1]


RIVER = {
    "jump": errors((0.2, 3000), (0.4, 3000), (0.1, 3000), seed=5),
    "slow": errors(*[(0.1 + 0.02 * k, 300) for k in range(20)], seed=6),
    "flat": errors((0.2, 30_000), seed=7),
}


def _river_changes(detector, values):
    found = []
    for i, value in enumerate(values):
        detector.update(value)
        if detector.drift_detected:
            found.append(i)
    return found


@pytest.mark.parametrize("stream", RIVER)
def test_changes_are_those_of_river(stream):
    drift = pytest.importorskip("river.drift")
    values = RIVER[stream]
    assert DDM().update_many(values).changes.tolist() == _river_changes(drift.binary.DDM(), values.astype(bool))
    for threshold in (10, 50):
        theirs = drift.PageHinkley(threshold=threshold, mode="up")
        assert PageHinkley(threshold=threshold).update_many(values).changes.tolist() == _river_changes(theirs, values)
    ours, found = ADWIN(side="both"), []
    for i, value in enumerate(values):
        # river forgets the whole window after a change.
        if ours.state == "change":
            ours.reset()
        if ours.update(value) == "change":
            found.append(i)
    assert found == _river_changes(drift.ADWIN(), values)
