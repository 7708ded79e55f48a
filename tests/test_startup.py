"""What importing and compiling cost and touch, each in a process of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import quercus
from quercus.locking import lock_file

# A kernel that compiles fast.
DRAW = """
import numpy as np
from quercus.learners.bayesian.kernels import draw_numbers
from quercus.learners.bayesian.state import TREE

drawn = np.ones(2)
draw_numbers(np.zeros(1, TREE), 0, drawn)
print(drawn)
"""


def run(code, **variables):
    environment = os.environ | {"PYTHONPATH": str(Path(quercus.__file__).parents[1])} | variables
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300, check=False
    )


def test_import_is_light():
    heavy = ["numba", "sklearn", "pandas", "polars", "matplotlib", "river", "pyarrow", "scipy"]
    result = run(f"import sys, quercus, quercus.streams; print([name for name in {heavy} if name in sys.modules])")
    assert result.stdout.strip() == "[]", result.stderr


def test_every_public_name_is_there():
    for name in quercus.__all__:
        assert getattr(quercus, name) is not None
    assert set(quercus.__all__) <= set(dir(quercus))
    with pytest.raises(AttributeError, match="no attribute 'Oak'"):
        quercus.Oak  # noqa: B018


def test_compiling_is_said_once_and_kept(tmp_path):
    first = run(DRAW, QUERCUS_CACHE=str(tmp_path))
    assert first.stdout.strip() == "[0. 0.]", first.stderr
    assert "quercus: compiling draw_numbers" in first.stderr
    later = run(DRAW, QUERCUS_CACHE=str(tmp_path))
    assert (later.stdout.strip(), later.stderr) == ("[0. 0.]", "")
    damage(tmp_path)
    damaged = run(DRAW, QUERCUS_CACHE=str(tmp_path))
    assert damaged.stdout.strip() == "[0. 0.]", damaged.stderr
    healed = run(DRAW, QUERCUS_CACHE=str(tmp_path))
    assert (healed.stdout.strip(), healed.stderr) == ("[0. 0.]", "")


def damage(folder):
    for path in folder.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:100])


def test_a_kernel_that_another_process_compiles_is_waited_for(tmp_path):
    """The lock is held here, as by a process that compiles, until the other one says that it waits."""
    assert run(DRAW, QUERCUS_CACHE=str(tmp_path)).stdout.strip() == "[0. 0.]"
    (lock,) = tmp_path.rglob(".*.lock")
    environment = os.environ | {"PYTHONPATH": str(Path(quercus.__file__).parents[1]), "QUERCUS_CACHE": str(tmp_path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with open(lock, "ab") as file:
        lock_file(file.fileno())
        waiting = subprocess.Popen([sys.executable, "-c", DRAW], env=environment, **pipes)
        assert waiting.stderr.readline() == "quercus: another process compiles draw_numbers, waiting ...\n"
        assert waiting.poll() is None
    assert waiting.communicate(timeout=100) == ("[0. 0.]\n", "")


def test_an_edit_in_a_called_file_is_never_run_stale(tmp_path):
    """One small kernel calls another in a second file; the second is edited."""
    package = tmp_path / "source" / "quercus"
    shutil.copytree(Path(quercus.__file__).parent, package)
    called = package / "called.py"
    calling = (
        "from numba import types\nfrom quercus.compile import kernel\nfrom quercus.called import inner\n\n"
        "@kernel(types.int64, types.int64)\ndef outer(x):\n    return inner(x)\n"
    )
    (package / "calling.py").write_text(calling)
    answers = []
    for constant in (1, 2):
        called.write_text(f"from quercus.compile import kernel\n\n@kernel\ndef inner(x):\n    return x + {constant}\n")
        code = "from quercus.calling import outer; print(outer(10))"
        environment = {"PYTHONPATH": str(tmp_path / "source"), "QUERCUS_CACHE": str(tmp_path / "cache")}
        result = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | environment, check=False
        )
        answers.append(result.stdout.strip())
    assert answers == ["11", "12"]


def test_without_a_writable_cache_it_works(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = "from quercus.compile import cache_folder, kernel\nfrom numba import types\n"
    code += "outer = kernel(types.int64, types.int64)(lambda x: x + 1)\nprint(cache_folder(), outer(1))"
    result = run(code, QUERCUS_CACHE=str(blocked / "below"))
    assert result.stdout.strip() == "None 2", result.stderr
