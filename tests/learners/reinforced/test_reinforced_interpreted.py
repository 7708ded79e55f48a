"""Kernels run as plain Python, too: that is how people debug."""

import os
import subprocess
import sys

import numpy as np
import pytest

from quercus import ReinforcedTree
from quercus.checks.data import adversarial_stream

FORMS = {
    "default": {},
    "paper": {"prior": 0.0, "trusted": 5.0, "updates": "lattice", "backup": "sample", "alpha": 0.01},
}
ROWS = 120


def play(name):
    """Return what a tree learns and answers."""
    rows, labels = adversarial_stream(2 * ROWS)
    tree = ReinforcedTree(questions=3, **FORMS[name])
    tree.buy_and_learn(rows[:ROWS], labels[:ROWS])
    tree.partial_fit(rows[ROWS : ROWS + 5], labels[ROWS : ROWS + 5])
    told = tree.purchases(rows[ROWS : ROWS + 20])
    return {"proba": told.proba, "cost": told.cost, **tree.state_arrays()}


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory):
    path = tmp_path_factory.mktemp("interpreted") / "arrays.npz"
    code = (
        f"import {__name__} as t, numpy as np\n"
        "found = {f'{n}/{k}': v for n in t.FORMS for k, v in t.play(n).items()}\n"
        f"np.savez({str(path)!r}, **found)"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, check=True, timeout=120)
    with np.load(path) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("name", FORMS)
def test_interpreted_it_learns_the_same(name, interpreted):
    for key, array in play(name).items():
        other = interpreted[f"{name}/{key}"]
        for field in array.dtype.names or (...,):
            np.testing.assert_allclose(array[field], other[field], rtol=1e-9, atol=1e-12, err_msg=f"{key} {field}")
