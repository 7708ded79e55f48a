import csv
import json
import re

import pytest

import quercus as qc
from tests.cli.commands import fail, invoke, succeed, write_loans


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_run_writes_everything_and_says_where(tmp_path):
    done = succeed(
        "run", "random_tree", "--rows", 3000, "--seed", 4, "--learner", "confidence", "--set", "leaf=majority"
    )
    out = tmp_path / "quercus-run"
    assert done.stdout.startswith("RandomTree 'random_tree': endless, 5 features")
    assert "ConfidenceTree on random_tree: 3,000 rows" in done.stdout
    for baseline in ("majority so far", "previous label", "best possible"):
        assert baseline in done.stdout
    last = [re.split(" +", line) for line in done.stdout.splitlines()[-4:]]
    assert last == [
        ["report", "quercus-run/report.html"],
        ["model", "quercus-run/model.quercus"],
        ["figures", "quercus-run/run.json"],
        ["curve", "quercus-run/curve.csv"],
    ]
    model = qc.load(out / "model.quercus")
    assert str(model.view().rows) == "3000"
    assert (model.leaf, model.seed) == ("majority", 4)
    assert f"{model.n_leaves_} lea" in done.stdout
    assert "vegaEmbed" in (out / "report.html").read_text()


def test_figures_are_those_of_the_library(tmp_path):
    succeed("run", "random_tree", "--rows", 2000, "--seed", 4, "--learner", "hoeffding", "--out", "a/b/c")
    result = json.loads((tmp_path / "a/b/c/run.json").read_text())
    run = qc.evaluate(qc.streams.RandomTree(seed=4), qc.HoeffdingTree(seed=4), rows=2000)
    assert result["accuracy"] == run.accuracy
    assert result["log_loss"] == run.log_loss
    with open(tmp_path / "a/b/c/curve.csv") as file:
        curve = list(csv.DictReader(file))
    assert [int(point["rows"]) for point in curve] == run.curve["rows"].tolist()
    assert [float(point["accuracy"]) for point in curve] == run.curve["accuracy"].tolist()


@pytest.mark.parametrize("settings", [[], ["--set", "features=open"], ["--set", 'nominal=["width"]']])
def test_model_remembers_the_names_of_numbers(tmp_path, settings):
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("height,width,kind\n" + "".join(f"{i % 17},{i % 5},{'ab'[i % 17 > 8]}\n" for i in range(9000)))
    done = succeed("run", numbers, *settings)
    assert "target 'kind' (last column)" in done.stdout
    assert "height <= " in done.stdout
    assert "note:" not in done.stderr
    model = qc.load("quercus-run/model.quercus")
    assert list(model.feature_names_in_) == ["height", "width"]
    assert model.view().rows == 9000


def test_run_on_a_file_with_all_options():
    write_loans("loans.csv")
    reading = ["--target", "repaid", "--ignore", "when", "--ignore", "id", "--nominal", "zip", "--missing", "nurse"]
    done = succeed("run", "loans.csv", *reading, "--set", 'loss={"bad": {"good": 5}}')
    assert "money lost" in done.stdout
    schema = qc.load("quercus-run/model.quercus").schema_
    assert dict(zip(schema.names, schema.kinds, strict=True)) == {
        "age": "numeric",
        "job": "nominal",
        "zip": "nominal",
        "owner": "numeric",
    }
    assert schema.categories == [[], ["clerk"], schema.categories[2], []]
    assert sorted(schema.categories[2]) == ["01234", "99999"]


def test_loss_counts_with_labels_that_are_numbers():
    plain = succeed("run", "noise", "--rows", 2000)
    costly = succeed("run", "noise", "--rows", 2000, "--set", 'loss={"1": {"0": 50}}')
    assert "wrong answers" in plain.stdout
    answers = qc.load("quercus-run/model.quercus").predict(qc.streams.Noise(seed=9).take(500)[0])
    assert (answers == 1).mean() > 0.95
    assert "money lost" in costly.stdout


def test_run_of_a_river_learner_has_no_model_but_all_else(tmp_path):
    pytest.importorskip("river")
    done = succeed("run", "sea", "--rows", 500, "--learner", "river:tree.HoeffdingTreeClassifier")
    assert "none, because quercus cannot save a HoeffdingTreeClassifier" in done.stdout
    assert sorted(path.name for path in (tmp_path / "quercus-run").iterdir()) == [
        "curve.csv",
        "report.html",
        "run.json",
    ]


def test_endless_streams_stop_somewhere():
    assert "100,000 rows" in succeed("run", "stagger").stdout


def test_nominal_generators_and_bundled_sets_run():
    assert "size" in succeed("run", "stagger", "--rows", 500).stdout
    assert "150 rows" in succeed("run", "iris").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch.csv"], "there is no file 'nosuch.csv'"),
        (["nosuch"], "there is no data set 'nosuch'; closest first"),
        (["./taken"], "is a folder; give the path of one file in it"),
        (["text.txt"], "tells no format; known are .csv"),
        (["empty.csv"], "the file is empty"),
        (["loans.csv"], r"column 'when' holds values of type date.* --nominal 'when'.* --ignore 'when'\.$"),
        (["loans.csv", "--ignore", "when", "--target", "repayed"], "is no column; .* Did you mean 'repaid'"),
        (["semicolons.csv"], "another delimiter\\? Say --delimiter ';'"),
        (["loans.csv", "--ignore", "when", "--nominal", "oak"], "nominal names 'oak', which is no column"),
        (["sea", "--target", "y", "--ignore", "x0"], "^--target, --ignore are for files, and 'sea' is the name"),
        (["a.arff", "--nominal", "y"], "--nominal is not for ARFF files"),
        (["a.arff", "--delimiter", ";"], "--missing and --delimiter are for CSV files"),
        (["sea", "--learner", "oak"], "there is no learner 'oak'"),
        (["sea", "--set", "c"], "write key=value"),
        (["sea", "--set", 'loss={"a": {"b": 1}}'], "loss names the label 'a'"),
        (["sea", "--out", "loans.csv"], "^'loans.csv' is a file, but results go into a folder"),
        (["sea", "--out", "loans.csv/deeper"], "^'loans.csv' is a file, but results go into a folder"),
        (["sea", "--out", "taken"], "report.html' is a folder, but a file is to be written there"),
        (["iris", "--set", 'nominal=["oak"]', "--out", "new"], "nominal holds 'oak', which is no feature"),
    ],
)
def test_errors_are_one_line_and_come_before_the_run(tmp_path, arguments, message):
    write_loans("loans.csv", rows=20)
    (tmp_path / "text.txt").write_text("a,b\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "semicolons.csv").write_text("a;b\n1;2\n")
    (tmp_path / "a.arff").write_text("@relation r\n@attribute x real\n@attribute y {p,q}\n@data\n1,p\n")
    (tmp_path / "taken" / "report.html").mkdir(parents=True)
    assert re.search(message, fail("run", *arguments))
    assert not (tmp_path / "quercus-run").exists()
    assert (tmp_path / "loans.csv").is_file()


@pytest.mark.parametrize(
    "arguments", [["sea", "--rows", "0"], ["sea", "--seed", "-1"], ["sea", "--oak"], [], ["sea", "x"]]
)
def test_wrong_usage_is_exit_code_2(arguments):
    done = invoke("run", *arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    assert "Usage: " in done.stderr


def test_an_error_in_the_middle_names_the_row(tmp_path):
    rows = [f"{i},{'ab'[i % 2]}" for i in range(12000)]
    rows[10_000] = "inf,a"
    (tmp_path / "late.csv").write_text("x,y\n" + "\n".join(rows) + "\n")
    assert "column 'x' holds inf in row 10000" in fail("run", "late.csv")


def test_unexpected_errors_are_one_line_as_well(monkeypatch):
    def broken(*_, **__):
        raise KeyError("oak")

    monkeypatch.setattr("quercus.cli.run.make_learner", broken)
    assert fail("run", "sea") == "KeyError: 'oak' (QUERCUS_TRACEBACK=1 shows where)"
    monkeypatch.setenv("QUERCUS_TRACEBACK", "1")
    done = invoke("run", "sea")
    assert done.exit_code == 2
    assert "Traceback (most recent call last)" in done.stderr


def test_warnings_are_notes():
    write_loans("loans.csv", rows=200)
    done = succeed("run", "loans.csv", "--ignore", "when", "--set", 'loss={"ugly": {"good": 5}}')
    assert "quercus: note: loss names 'ugly', which never came in this stream.\n" in done.stderr
