"""Kernels run as plain Python, too: that is how people debug (``NUMBA_DISABLE_JIT=1``)."""

import os
import subprocess
import sys

import numpy as np
import pytest

from quercus.checks.data import adversarial_stream
from quercus.registry import LEARNERS
from tests.learners.listed import make

# Sums of float32 are rounded otherwise where each step is numpy's.
PRECISE = {"BayesianForest": {"dtype": "float64"}, "BayesianTree": {"dtype": "float64"}}
# Further forms of those that have several ways through their kernels.
FORMS = {
    **{name: (name, PRECISE.get(name, {})) for name in LEARNERS},
    "HoeffdingTree, adaptive": ("HoeffdingTree", {"adaptive": True, "grace_period": 20, "tie": 0.5}),
    "ReinforcedTree, paper": (
        "ReinforcedTree",
        {"questions": 3, "prior": 0.0, "trusted": 5.0, "updates": "lattice", "backup": "sample", "alpha": 0.01},
    ),
    "UtilityTree, paper": (
        "UtilityTree",
        {"objective": "ec2", "numeric": "thresholds", "hypotheses": 20, "worth": None},
    ),
    "UtilityTree, exp3": ("UtilityTree", {"numeric": "exp3", "objective": "eced", "select": 2}),
    "UtilityTree, ahead": ("UtilityTree", {"lookahead": 2, "bins": 4, "forget": 0.01}),
}
ROWS = 80


def play(form):
    """Return what a learner learns and answers."""
    name, arguments = FORMS[form]
    rows, labels = adversarial_stream(2 * ROWS)
    learner = make(name, **arguments)
    if hasattr(learner, "buy_and_learn"):
        learner.buy_and_learn(rows[: ROWS // 2], labels[: ROWS // 2])
    learner.partial_fit(rows[ROWS // 2 : ROWS], labels[ROWS // 2 : ROWS])
    learner.learn_one(rows[ROWS], labels[ROWS])
    return {"proba": learner.predict_proba(rows[ROWS : ROWS + 20]), **learner.state_arrays()}


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory):
    path = tmp_path_factory.mktemp("interpreted") / "arrays.npz"
    code = (
        f"import {__name__} as t, numpy as np\n"
        "found = {f'{n}|{k}': v for n in t.FORMS for k, v in t.play(n).items()}\n"
        f"np.savez({str(path)!r}, **found)"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, check=True, timeout=300)
    with np.load(path) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("form", FORMS)
def test_interpreted_it_learns_the_same(form, interpreted):
    for key, array in play(form).items():
        other = interpreted[f"{form}|{key}"]
        for field in array.dtype.names or (...,):
            np.testing.assert_allclose(array[field], other[field], rtol=1e-9, atol=1e-12, err_msg=f"{key} {field}")
