"""What runs experiments: whatever is stopped, killed or spread over processes, the results are the same."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.harness.book import write_book
from experiments.harness.catalog import find_exhibits, load_study
from experiments.harness.executing import Failed, run_in_processes
from experiments.harness.exhibits import name_cell
from experiments.harness.measuring import measure
from experiments.harness.on_ray import run_on_ray
from experiments.harness.pages import count_claims, fill_blocks, write_page
from experiments.harness.storing import ResultStore

OAK = "tests.experiments.oak"
FOLDER = "tests/experiments/oak"
_ROOT = Path(__file__).parents[2]
_SCRIPT = """
import sys
from pathlib import Path
from experiments.harness.catalog import find_exhibits
from experiments.harness.measuring import measure
from experiments.harness.storing import ResultStore
if __name__ == "__main__":
    measure(find_exhibits("tests.experiments.oak"), "full", ResultStore(Path(sys.argv[1])), jobs=int(sys.argv[2]))
"""


def silent(line):
    pass


def run_oak(folder, scale="quick", jobs=0, **given):
    return measure(find_exhibits(OAK), scale, ResultStore(folder), jobs=jobs, say=silent, **given)


def merged(folder, scale="quick"):
    return (folder / FOLDER / f"growth.{scale}.parquet").read_bytes()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("oak")
    for scale in ("quick", "full"):
        assert run_oak(folder, scale) == []
    return folder


def test_processes_find_what_one_process_finds(tmp_path, expected):
    assert run_oak(tmp_path, jobs=2) == []
    assert merged(tmp_path) == merged(expected)


def test_what_is_there_is_not_measured_again(tmp_path, expected, monkeypatch):
    run_oak(tmp_path)
    cells = sorted((tmp_path / "cells").rglob("*.parquet"))
    assert len(cells) == 8
    cells[3].unlink()
    (tmp_path / FOLDER / "growth.quick.parquet").unlink()
    said = []
    measure(find_exhibits(OAK), "quick", ResultStore(tmp_path), jobs=0, say=said.append)
    assert said[-1].startswith("1 of 1 cells")
    assert merged(tmp_path) == merged(expected)
    monkeypatch.setenv("OAK_FAIL", "red")
    assert run_oak(tmp_path) == []


def test_a_larger_grid_makes_old_results_incomplete(tmp_path, monkeypatch):
    store, runs = ResultStore(tmp_path), find_exhibits(OAK)[0].runs
    run_oak(tmp_path)
    assert store.is_whole(runs, "quick")
    more = type(runs)(runs.study, runs.name, lambda scale: [*runs.cells(scale), {"data": "c", "run": 0}], runs.measure)
    assert not store.is_whole(more, "quick")
    assert store.missing(more, "quick") == [{"data": "c", "run": 0}]


def test_cells_are_found_in_the_file_of_all(tmp_path, expected, monkeypatch):
    run_oak(tmp_path)
    shutil.rmtree(tmp_path / "cells")
    store, runs = ResultStore(tmp_path), find_exhibits(OAK)[0].runs
    more = type(runs)(runs.study, runs.name, lambda scale: runs.cells("full"), runs.measure)
    store.unpack(more, "quick")
    assert len(store.missing(more, "quick")) == 12
    # Nothing of the others is measured again.
    shutil.rmtree(tmp_path / "cells")
    store.forget(runs, "quick", ["white"])
    monkeypatch.setenv("OAK_FAIL", "red")
    assert run_oak(tmp_path) == []
    assert merged(tmp_path) == merged(expected)


def test_a_cell_that_fails_leaves_the_others(tmp_path, expected, monkeypatch):
    monkeypatch.setenv("OAK_FAIL", "white")
    failed = run_oak(tmp_path, jobs=2)
    assert len(failed) == 4
    assert "white oaks do not grow here" in failed[0]
    assert not (tmp_path / FOLDER / "growth.quick.parquet").exists()
    monkeypatch.delenv("OAK_FAIL")
    assert run_oak(tmp_path, jobs=2) == []
    assert merged(tmp_path) == merged(expected)


def test_no_process_is_left_when_results_cannot_be_written(tmp_path, monkeypatch):
    def refuse(*given):
        raise OSError("the disk is full.")

    monkeypatch.setattr(ResultStore, "write", refuse)
    with pytest.raises(OSError, match="full") as caught:
        run_oak(tmp_path, jobs=2)
    # Also while somebody still looks at what went wrong.
    assert caught.traceback
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("deaths", [1, 9])
def test_a_worker_that_is_killed_costs_its_cell_only(tmp_path, expected, monkeypatch, deaths):
    monkeypatch.setenv("OAK_DIE", str(tmp_path / "died"))
    monkeypatch.setenv("OAK_DEATHS", str(deaths))
    failed = run_oak(tmp_path, jobs=2)
    if deaths == 1:
        assert failed == []
        assert merged(tmp_path) == merged(expected)
    else:
        # Both kinds of oak in one place die three times each.
        assert len(failed) == 2
        assert "died 3 times" in failed[0]
        assert len(list((tmp_path / "cells").rglob("*.parquet"))) == 6


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path, expected):
    command = [sys.executable, "-c", _SCRIPT, str(tmp_path), "2"]
    environment = os.environ | {"OAK_WAIT": "0.3", "PYTHONPATH": str(_ROOT)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, cwd=_ROOT)
    found = []
    while len(found) < 3 and process.poll() is None:
        time.sleep(0.02)
        found = list((tmp_path / "cells").rglob("*.parquet"))
    process.kill()
    process.wait()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").rglob("[!.]*.parquet")}
    assert 3 <= len(kept) < 20
    assert run_oak(tmp_path, "full", jobs=2) == []
    assert merged(tmp_path, "full") == merged(expected, "full")
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")
def test_workers_of_a_run_that_is_killed_leave(tmp_path):
    command = [sys.executable, "-c", _SCRIPT, str(tmp_path), "1"]
    with subprocess.Popen(command, cwd=_ROOT, env={**os.environ, "OAK_WAIT": "600"}) as process:
        listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: any(is_worker(child) for child in listed.read_text().split()))
        workers = [child for child in listed.read_text().split() if is_worker(child)]
        process.kill()
    wait_until(lambda: not any(is_worker(child) for child in workers))


def is_worker(pid):
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(met, seconds=60):
    end = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_ray_finds_what_processes_find(tmp_path, expected, monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setenv("OAK_DIE", str(tmp_path / "died"))
    monkeypatch.setenv("OAK_DEATHS", "1")
    monkeypatch.setenv("PYTHONPATH", str(_ROOT))
    assert run_oak(tmp_path, jobs=2, executor=run_on_ray) == []
    assert (tmp_path / "died").exists()
    assert merged(tmp_path) == merged(expected)


def test_errors_of_calls_come_back():
    found = {done.number: done.result for done in run_in_processes(divmod, [(7, 2), (1, 0), (9, 2)], jobs=2)}
    assert found[0] == (3, 1)
    assert found[2] == (4, 1)
    assert isinstance(found[1], Failed)
    assert found[1].why.startswith("ZeroDivisionError")


def test_seeds_depend_on_data_and_run_only():
    runs = find_exhibits(OAK)[0].runs
    cells = runs.cells("full")
    seeds = {(cell["data"], cell["run"]): runs.seed(cell) for cell in cells}
    assert len(set(seeds.values())) == len(seeds) == 10
    assert len({name_cell(cell) for cell in cells}) == len(cells) == 20


def test_the_page_tells_tables_claims_and_commands(expected):
    store = ResultStore(expected)
    text = write_page([OAK], store, "images")
    assert "## Acorn 2020, Oaks\n" in text
    assert "### Figure 1: height by year\n" in text
    assert "![Figure 1: height by year](images/tests/experiments/oak/figure-1.png)" in text
    assert "| oak | height |\n|---|---|\n| red |" in text
    assert "*Red oaks are taller.* **" in text
    assert "`python -m experiments papers tests.experiments.oak --figure 1 --scale full`: 20 cells" in text
    page = write_book([OAK], store)
    assert "data:image/png;base64," in page
    assert "<code>red</code>" in page


def test_a_page_without_results_says_how_to_get_them(tmp_path):
    text = write_page([OAK], ResultStore(tmp_path), "images")
    assert "Not measured yet: `python -m experiments papers tests.experiments.oak --figure 1 --scale quick`." in text
    assert "Not measured yet" in write_book([OAK], ResultStore(tmp_path))


def test_blocks_are_filled_and_filled_again(expected):
    text = "before\n<!-- results: tests.experiments.oak table-2 -->\nold\n<!-- end -->\nafter\n"
    filled = fill_blocks(text, ResultStore(expected), "there")
    assert "old" not in filled
    assert "| white |" in filled
    assert filled.startswith("before\n<!-- results: tests.experiments.oak table-2 -->\n")
    assert filled.endswith("<!-- end -->\nafter\n")
    assert fill_blocks(filled, ResultStore(expected), "there") == filled


def test_blocks_of_claims_are_filled(expected):
    text = "<!-- claims: tests.experiments.oak figure-1 -->\n<!-- end -->\n"
    filled = fill_blocks(text, ResultStore(expected), "there")
    assert "- *Red oaks are taller.* **" in filled
    assert "![" not in filled
    assert fill_blocks(filled, ResultStore(expected), "there") == filled
    with pytest.raises(ValueError, match=r"no results of tests\.experiments\.oak figure-1; run it first"):
        fill_blocks(text, ResultStore(expected / "nowhere"), "there")


def test_claims_are_counted(expected):
    table = count_claims([load_study(OAK)], ResultStore(expected))
    # The same claim stands at both exhibits.
    assert table.rows[0][:3] == ["Acorn 2020, Oaks", OAK, "2"]
    assert sum(map(int, table.rows[0][3:])) == 2


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="there is no 'acorn' among the papers; there are credible, "):
        find_exhibits("papers.acorn")
    with pytest.raises(ValueError, match="no such exhibit; there are figure 1, table 2"):
        find_exhibits(OAK, figure="7")
    with pytest.raises(ValueError, match="no part 'decay'; there are growth"):
        find_exhibits(OAK, "decay")
