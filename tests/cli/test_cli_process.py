"""What only a process of its own shows: signals, pipes, exit codes, what is imported."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import quercus as qc

QUERCUS = [sys.executable, "-c", "from quercus.cli import main; main()"]


def start(*arguments, folder, **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*QUERCUS, *arguments], cwd=folder, **(pipes | options))


def stop_while_learning(number, folder, *arguments):
    """Start an endless run, send a signal once it has learned something, and return how it ended."""
    delay = 2.0
    while True:
        with start("run", *arguments, folder=folder) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(number)
            out, err = process.communicate()
        if "before anything was learned" not in err or delay > 100:
            return process.returncode, out, err
        delay *= 2


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_keeps_what_was_learned(tmp_path, number, status):
    returned, out, err = stop_while_learning(number, tmp_path, "random_tree", "--rows", "10000000000")
    assert returned == status
    assert "Traceback" not in err
    result = [line for line in err.splitlines() if "compil" not in line]
    run = json.loads((tmp_path / "quercus-run/run.json").read_text())
    assert result == [f"quercus: stopped after {run['rows']:,} rows; what was learned so far is kept."]
    assert qc.load(tmp_path / "quercus-run/model.quercus").view().rows == run["rows"] > 0
    assert f"{run['rows']:,} rows" in (tmp_path / "quercus-run/report.html").read_text()
    assert (tmp_path / "quercus-run/curve.csv").read_text().splitlines()[-1].startswith(f"{run['rows']},")
    assert [line.split()[-1] for line in out.splitlines()[-4:]] == [
        f"quercus-run/{name}" for name in ("report.html", "model.quercus", "run.json", "curve.csv")
    ]


def test_a_signal_before_anything_was_learned_leaves_no_results(tmp_path):
    with start("run", "random_tree", "--rows", "10000000000", folder=tmp_path) as process:
        time.sleep(0.2)
        err = None
        while err is None:
            process.send_signal(signal.SIGINT)
            # Python forgets a signal that comes while it imports and clears away: people press Ctrl-C again.
            with contextlib.suppress(subprocess.TimeoutExpired):
                _, err = process.communicate(timeout=10)
    assert process.returncode in (130, -signal.SIGINT)  # the latter if Python itself was still starting
    assert not (tmp_path / "quercus-run/report.html").exists() or "what was learned so far is kept" in err


def test_errors_are_one_line_and_exit_code_2(tmp_path):
    for arguments in (["run", "nosuch.csv"], ["show", "nosuch"], ["predict", "nosuch", "x.csv"]):
        with start(*arguments, folder=tmp_path) as process:
            out, err = process.communicate()
        assert (process.returncode, out) == (2, "")
        assert err.startswith("quercus: there is no ")
        assert err.count("\n") == 1


def test_a_closed_pipe_is_no_error(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (["streams"], ["--help"], ["--version"]):
        with start(*arguments, folder=tmp_path, stdout=writing) as process:
            _, err = process.communicate()
        assert err == ""
        assert process.returncode in (0, 1, 141)
    os.close(writing)


def test_a_terminal_without_lines_still_gets_a_tree(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    with start("run", "random_tree", "--rows", "3000", folder=tmp_path, env=environment) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert "?? x" in out


def test_help_imports_neither_numba_nor_sklearn():
    code = (
        "import sys; sys.argv = ['quercus', '--help']\n"
        "from quercus.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'numba', 'sklearn', 'pyarrow', 'pandas', 'river'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Online decision trees" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
