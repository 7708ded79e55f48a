"""What importing and compiling cost and touch, each in a process of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import quercus
from quercus.compile import cache
from quercus.compile.linking import KNOWN
from quercus.locking import lock_file
from quercus.registry import LEARNERS
from quercus.warming import _find_entries

# A kernel that compiles fast.
COUNT = """
from numba import types
from quercus.compile import kernel, notices

@kernel(types.int64, types.int64)
def count(n):
    return n + 1

notices._LEAST_SECONDS = 0.0
print(count(1))
"""


def run(code, **variables):
    places = os.pathsep.join([str(Path(quercus.__file__).parents[1]), str(Path(__file__).parents[1])])
    environment = os.environ | {"PYTHONPATH": places} | variables
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300, check=False
    )


def test_import_is_light():
    heavy = ["numba", "sklearn", "pandas", "polars", "matplotlib", "altair", "jinja2", "river", "pyarrow", "scipy"]
    result = run(f"import sys, quercus, quercus.streams; print([name for name in {heavy} if name in sys.modules])")
    assert result.stdout.strip() == "[]", result.stderr


ANSWER = """
import sys, tempfile
import quercus as qc
from tests.learners.listed import make

model = make("{name}")
for k in range(10):
    model.learn_one({{"a": k / 3, "b": k % 4}}, "no" if k % 3 else "yes")
with tempfile.TemporaryDirectory() as folder:
    model.save(folder + "/model")
    loaded = qc.load(folder + "/model")
answers = [loaded.predict_one({{"a": 0.1, "b": 1}}), max(loaded.predict_proba_one({{"a": 0.1}}).values()) <= 1.0]
print(answers, [name for name in {heavy} if name in sys.modules])
"""
HEAVY = ["sklearn", "scipy.special", "scipy.stats", "joblib", "pandas", "pyarrow", "narwhals", "sqlalchemy"]


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_and_answering_dicts_needs_nothing_heavy(name):
    result = run(ANSWER.format(name=name, heavy=HEAVY))
    assert result.stdout.strip() in ("['no', True] []", "['yes', True] []"), result.stderr


def test_a_batch_of_numpy_needs_pyarrow_at_most():
    code = """
import sys
import numpy as np
from quercus import HoeffdingTree
X, y = np.eye(4), np.array([0, 1, 0, 1])
model = HoeffdingTree().fit(X, y).partial_fit(X, y, sample_weight=np.ones(4))
model.predict(X), model.predict_proba(X), model.test_then_learn(X, y)
"""
    result = run(f"{code}\nprint([name for name in {HEAVY} if name in sys.modules])")
    assert result.stdout.strip() in ("[]", "['pyarrow']"), result.stderr


def test_a_learner_is_shown_alike_before_and_after_scikit_learn_is_loaded():
    code = """
import sys
import quercus as qc
def show():
    made = qc.HoeffdingTree(), qc.EvergreenTree(seed=3, keep="recent"), qc.statistics.DDM(warning=1.0)
    return [repr(each) for each in made]
before, early = show(), "sklearn" in sys.modules
import sklearn
print(before == show(), early, before)
"""
    shown = "['HoeffdingTree()', \"EvergreenTree(keep='recent', seed=3)\", 'DDM(warning=1.0)']"
    result = run(code)
    assert result.stdout.strip() == f"True False {shown}", result.stderr


def test_every_public_name_is_there():
    for name in quercus.__all__:
        assert getattr(quercus, name) is not None
    assert set(quercus.__all__) <= set(dir(quercus))
    with pytest.raises(AttributeError, match="no attribute 'Oak'"):
        quercus.Oak  # noqa: B018


def test_compiling_is_said_once_and_kept(tmp_path):
    first = run(COUNT, QUERCUS_CACHE=str(tmp_path))
    assert first.stdout.strip() == "2", first.stderr
    assert "quercus: compiling __main__, about 0 s" in first.stderr
    later = run(COUNT, QUERCUS_CACHE=str(tmp_path))
    assert (later.stdout.strip(), later.stderr) == ("2", "")
    damage(tmp_path)
    damaged = run(COUNT, QUERCUS_CACHE=str(tmp_path))
    assert damaged.stdout.strip() == "2", damaged.stderr
    healed = run(COUNT, QUERCUS_CACHE=str(tmp_path))
    assert (healed.stdout.strip(), healed.stderr) == ("2", "")


@pytest.mark.skipif(not numba.__version__.startswith(KNOWN), reason="this numba gets ready to compile first")
def test_a_kernel_from_disk_needs_no_compiler(tmp_path):
    """What numba imports to compile is imported once something has to be, and that works then."""
    ready = "import sys; print('numba.np.arraymath' in sys.modules)\n"
    another = "print(kernel(types.int64, types.int64)(lambda n: n + 2)(1))\n"
    assert run(COUNT + ready, QUERCUS_CACHE=str(tmp_path)).stdout.split() == ["2", "True"]
    later = run(COUNT + ready + another + ready, QUERCUS_CACHE=str(tmp_path))
    assert later.stdout.split() == ["2", "False", "3", "True"], later.stderr


def damage(folder):
    for path in folder.rglob("*.nb?"):
        path.write_bytes(path.read_bytes()[:100])


def test_a_kernel_that_another_process_compiles_is_waited_for(tmp_path):
    """The lock is held here, as by a process that compiles, until the other one says that it waits."""
    assert run(COUNT, QUERCUS_CACHE=str(tmp_path)).stdout.strip() == "2"
    (lock,) = tmp_path.rglob(".*.lock")
    environment = os.environ | {"PYTHONPATH": str(Path(quercus.__file__).parents[1]), "QUERCUS_CACHE": str(tmp_path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with open(lock, "ab") as file:
        lock_file(file.fileno())
        waiting = subprocess.Popen([sys.executable, "-c", COUNT], env=environment, **pipes)
        assert waiting.stderr.readline() == "quercus: another process compiles __main__, waiting ...\n"
        assert waiting.poll() is None
    assert waiting.communicate(timeout=100) == ("2\n", "")


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
        # Python itself would take two edits within a second for one.
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
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


def test_the_cache_of_an_entry_depends_on_what_it_imports_alone(tmp_path, monkeypatch):
    package = tmp_path / "quercus"
    package.mkdir()
    sources = {
        "kernels.py": "from quercus.inner import step\nfrom quercus import layout\n",
        "inner.py": "from quercus.layout import (\n    CODES,\n)\n",
        "layout.py": "CODES = 1\n",
        "other.py": "from quercus.kernels import run\n",
    }
    for name, text in sources.items():
        (package / name).write_text(text)
    monkeypatch.setattr(cache, "_PACKAGE", package)
    keys = {}
    for edited in (None, "other.py", "layout.py"):
        if edited:
            (package / edited).write_text(sources[edited] + "# edited\n")
        for function in (cache._imported, cache._find_file, cache.source_hash):
            function.cache_clear()
        keys[edited] = cache.source_hash("quercus.kernels")
    assert [path.name for path in cache.find_sources("quercus.kernels")] == ["inner.py", "kernels.py", "layout.py"]
    assert keys[None] == keys["other.py"] != keys["layout.py"]
    for function in (cache._imported, cache._find_file, cache.source_hash):
        function.cache_clear()


def test_a_twin_depends_on_what_was_replaced():
    from quercus.learners.incremental.credible_kernels import run_credible_rows

    names = {path.name for path in cache.find_sources(*cache.modules_of(run_credible_rows.__wrapped__))}
    assert {"kernels.py", "credible_kernels.py"} <= names


def test_without_what_is_private_to_numba_the_answers_are_the_same(tmp_path):
    code = "import numba\nnumba.__version__ = '0.1'\n" + COUNT
    assert run(code, QUERCUS_CACHE=str(tmp_path)).stdout.strip() == "2"


def test_warming_compiles_what_a_learner_needs():
    """That processes compile them is an example of its docstring, and in a soak done for all."""
    some, everything = _find_entries(("hoeffding",)), _find_entries(())
    assert 2 < len(some) < len(everything)
    assert some.items() <= everything.items()
    if os.environ.get("QUERCUS_SOAK"):
        assert quercus.warm(jobs=2, progress=False) == len(everything)
    with pytest.raises(ValueError, match="Did you mean HoeffdingTree"):
        quercus.warm("hoefding")


def test_former_names_of_statistics_warn_once():
    code = """
import warnings, quercus as qc
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    qc.drift.ADWIN, qc.drift.DDM
    from quercus.drift import PageHinkley
    from quercus.bounds import risk_bound
assert qc.drift.DDM is qc.statistics.DDM
print([str(warning.message) for warning in found])
"""
    printed = run(code).stdout.strip()
    assert printed == str([f"quercus.{name} is now called quercus.statistics." for name in ("drift", "bounds")])
