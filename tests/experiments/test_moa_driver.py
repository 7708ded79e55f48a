"""What is told to MOA and what comes back, with a java that only echoes."""

import zipfile

import numpy as np
import pytest

from experiments.peers.drift import peers
from experiments.peers.drift.streams import DriftStream
from experiments.peers.evergreen.sets import OrderedRows
from experiments.peers.moa import driver, learners
from experiments.peers.speed.contenders import pass_moa
from experiments.peers.stream_files import StreamFiles

ROWS = OrderedRows("oaks", np.array([[0.0, 1], [1, 0], [2, 2]]), np.array([0, 1, 0]), (0, 3))
_JAVA = """#!/usr/bin/env python3
import json, pathlib, sys
import numpy as np
name, *given = sys.argv[sys.argv.index("-cp") + 2 :]
X = np.fromfile(pathlib.Path(given[0]) / "rows.f64")
if name == "Learners":
    if given[4] == "broken":
        sys.exit("Exception: no such learner\\nat line 7")
    np.array([[1, 0.5], [0, 0.25]]).tofile(given[6])
elif name == "Changes":
    np.array([1, 0, 1], np.uint8).tofile(given[4])
print("JVM says hello")
print(json.dumps({"given": given, "sum": X.sum(), "seconds": 2, "alarms": [1], "tried": 3, "options": sys.argv[1:]}))
"""


@pytest.fixture(autouse=True)
def java(tmp_path, monkeypatch):
    """A java and a javac that are not, and a jar with an agent."""
    for name, text in (("java", _JAVA), ("javac", "#!/bin/sh\n")):
        (tmp_path / "bin" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    with zipfile.ZipFile(tmp_path / "moa.jar", "w") as jar:
        jar.writestr("sizeof/agent/SizeOfAgent.class", b"")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("CAPYMOA_MOA_JAR", str(tmp_path / "moa.jar"))
    driver._compile.cache_clear()
    yield
    driver._compile.cache_clear()


def test_rows_options_and_answers_pass_to_and_fro():
    result, values = learners.run_moa("trees.EFDT -p", ROWS, 7, "pass")
    assert result["given"][1:6] == ["3", "2", "0,3", "trees.EFDT -p", "7"]
    assert result["given"][7] == "pass"
    assert result["sum"] == 6
    assert values.tolist() == [[1, 0.5], [0, 0.25]]


def test_changes_come_back_as_a_run():
    run = peers.run_moa(DriftStream(ROWS, (), 0.9))
    assert run.right.tolist() == [True, False, True]
    assert (run.seconds, run.alarms, run.tried) == (2, [1], 3)


def test_speed_is_measured_with_the_agent_for_sizes(tmp_path):
    result = pass_moa(StreamFiles.write(tmp_path / "oaks", "oaks", ROWS.X, ROWS.y), "adaptive")
    assert result["given"][1:4] == ["3", "2", "2"]
    assert result["given"][4].endswith("-l NBAdaptive")
    assert result["options"][0].startswith("-javaagent:")


def test_what_goes_wrong_is_said(monkeypatch, tmp_path):
    with pytest.raises(RuntimeError, match=r"^Learners: Exception: no such learner$"):
        learners.run_moa("broken", ROWS, 0, "pass")
    assert driver.missing_moa() is None
    monkeypatch.setenv("CAPYMOA_MOA_JAR", str(tmp_path / "gone.jar"))
    assert "there is no moa.jar" in driver.missing_moa()
