"""What paid labels buy, and defaults: how differences are judged."""

import numpy as np
import pytest

from experiments.peers.defaults.deciding import judge_share
from experiments.peers.labels.coverage import list_looks
from experiments.peers.labels.efficiency import BUDGETS, RANDOM_BUDGETS
from experiments.peers.labels.ratios import label_ratios


def test_a_policy_as_good_as_random_saves_nothing():
    random = np.log(RANDOM_BUDGETS)
    assert label_ratios(random, np.log(BUDGETS)) == pytest.approx(np.zeros(len(BUDGETS)), abs=1e-9)


def test_half_the_labels_for_the_same_accuracy_is_a_ratio_of_two():
    random = np.log(RANDOM_BUDGETS)
    assert np.exp(label_ratios(random, np.log(2 * np.array(BUDGETS)))) == pytest.approx(np.full(len(BUDGETS), 2.0))


def test_no_more_than_all_labels_are_needed():
    assert np.exp(label_ratios(np.log(RANDOM_BUDGETS), np.full(len(BUDGETS), 9.0))) == pytest.approx(
        1 / np.array(BUDGETS)
    )


@pytest.mark.parametrize(("split", "holds"), [(0, True), (5, True), (7, None), (20, False)])
def test_a_share_of_splits_is_judged_by_the_level(split, holds):
    assert judge_share(np.arange(100) < split) is holds


def test_looks_end_with_the_last_row():
    looks = list(list_looks(5_000))
    assert looks[0] == 10
    assert looks[-1] == 5_000
    assert looks == sorted(set(looks))
