import re

import pytest

import quercus as qc
from quercus.cli.listing import list_streams
from quercus.evaluation import Interrupted
from tests.cli.commands import fail, invoke, succeed, write_loans


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def lines_of(text, metric=None):
    """Return the cells of the lines of a table by their first cell, of one block of it if a figure is named."""
    block = text if metric is None else re.search(rf"^{metric} .*?(?=\n\n|\Z)", text, re.S | re.M)[0]
    cells = [re.split(r" {2,}", line.strip()) for line in block.splitlines()]
    return {row[0]: row[1:] for row in cells if len(row) > 1}


def test_compare_once_is_the_run_of_each():
    done = succeed("compare", "random_tree", "confidence", "hoeffding:grace_period=20", "--rows", 2000)
    found = lines_of(done.stdout)
    runs = [
        qc.evaluate(qc.streams.RandomTree(), learner, rows=2000)
        for learner in (qc.ConfidenceTree(), qc.HoeffdingTree(grace_period=20))
    ]
    assert found["confidence"][:2] == [f"{runs[0].accuracy:.4f}", f"{runs[0].log_loss:.4f}"]
    difference = f"{runs[1].accuracy - runs[0].accuracy:+.4f}"
    assert found["hoeffding:grace_period=20"][:2] == [f"{runs[1].accuracy:.4f}", difference]
    assert found["(majority so far)"][0] == f"{runs[0].majority_accuracy:.4f}"
    assert found["(previous label)"][0] == f"{runs[0].previous_accuracy:.4f}"
    assert found["(best possible)"][0] == "0.7000"


def test_compare_with_seeds_has_paired_differences_with_errors():
    done = succeed("compare", "random_tree", "hoeffding", "confidence", "--rows", 1500, "--seeds", 3)
    learners = {"hoeffding": qc.HoeffdingTree(), "confidence": qc.ConfidenceTree()}
    repeats = qc.repeat(qc.streams.RandomTree(), learners, seeds=range(3), rows=1500)
    found = lines_of(done.stdout, "accuracy")
    expected = repeats.summary(["accuracy"])[1]
    assert found["confidence"] == [
        f"{expected['mean']:.4f}",
        f"{expected['error']:.4f}",
        f"{expected['difference']:+.4f}",
        f"{expected['difference_error']:.4f}",
    ]
    assert len(found["hoeffding"]) == 2
    baseline = repeats.values("majority_accuracy")[0]
    assert found["(majority so far)"][0] == f"{baseline.mean():.4f}"
    assert "confidence" in lines_of(done.stdout, "log-loss")


def test_compare_in_the_order_of_the_file_unless_shuffled():
    write_loans("loans.csv", rows=400)
    once = succeed("compare", "loans.csv", "confidence", "--ignore", "when").stdout
    run = qc.evaluate(qc.streams.CSV("loans.csv", ignore=["when"]), qc.ConfidenceTree())
    assert lines_of(once)["confidence"][0] == f"{run.accuracy:.4f}"
    assert lines_of(once)["(previous label)"][0] == f"{run.previous_accuracy:.4f}"
    twice = succeed("compare", "loans.csv", "confidence", "--ignore", "when", "--seeds", 2, "--shuffle").stdout
    assert "loans, shuffled: 400 rows, 2 seeds" in twice


@pytest.mark.parametrize("seeds", [1, 2])
def test_compare_of_rare_classes_shows_balanced_accuracy_first(tmp_path, seeds):
    rows = "".join(f"{i % 97},{'yes' if i % 97 < 4 else 'no'}\n" for i in range(900))
    (tmp_path / "rare.csv").write_text("a,y\n" + rows)
    shown = succeed("compare", tmp_path / "rare.csv", "confidence", "hoeffding", "--seeds", seeds).stdout
    titles = ["balanced", "AUC", " accuracy"] if seeds == 1 else ["balanced accuracy", "\nauc", "\naccuracy"]
    assert sorted(titles, key=shown.index) == titles
    assert "(majority so far)" in shown


def test_compare_measures_all_by_the_loss_of_one():
    done = succeed("compare", "noise", "confidence", 'confidence:loss={"1": {"0": 9}}', "--rows", 1000, "--seeds", 2)
    money = lines_of(done.stdout, "money")
    plain, careful = (float(row[0].replace(",", "")) for name, row in money.items() if name.startswith("confidence"))
    assert careful < plain


def test_compare_with_a_learner_of_river():
    pytest.importorskip("river")
    done = succeed("compare", "sea", "confidence", "river:HoeffdingTreeClassifier", "--rows", 300)
    assert re.match(r"0\.\d{4}$", lines_of(done.stdout)["river:HoeffdingTreeClassifier"][0])


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        (["confidence", "confidence"], "'confidence' is there twice"),
        (["confidence", "oak"], "there is no learner 'oak'"),
        (["hoeffding:c=1"], "HoeffdingTree has no parameter 'c'"),
        (['confidence:loss={"1": {"0": 9}}', 'hoeffding:loss={"1": {"0": 5}}'], "different loss tables"),
    ],
)
def test_compare_refuses_in_one_line(learners, message):
    assert message in fail("compare", "sea", *learners)


@pytest.mark.parametrize("done", [0, 2])
def test_a_stopped_comparison_shows_the_seeds_that_are_done(monkeypatch, done):
    repeat = qc.repeat

    def stopped(stream, learners, *, seeds, **options):
        stop = Interrupted(None)
        stop.repeats = repeat(stream, learners, seeds=range(done), **options) if done else None
        raise stop

    monkeypatch.setattr("quercus.evaluation.repeat", stopped)
    ended = invoke("compare", "sea", "confidence", "hoeffding", "--rows", 300, "--seeds", 5)
    assert ended.exit_code == 130
    assert ("stopped after 2 of 5 seeds" in ended.stderr) == ("± s.e." in ended.stdout) == bool(done)
    assert ("nothing to show" in ended.stderr) == (not done)


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.quercus"
    X, y = qc.streams.RandomTree(leaves=20, q=0.95, seed=2).take(6000)
    qc.ConfidenceTree(c=0.0123).partial_fit(X, y).save(path)
    return path


def test_show_tells_the_facts_and_the_tree(model_file):
    model = qc.load(model_file)
    shown = succeed("show", model_file).stdout
    facts = dict(re.split(r" {2,}", line, maxsplit=1) for line in shown.split("\n\n")[0].splitlines())
    assert facts["learner"] == "ConfidenceTree(c=0.0123)"
    assert facts["rows"] == "6,000 learned"
    assert facts["leaves"] == f"{model.n_leaves_}, depth {model.depth_}"
    assert facts["classes"] == "2: 0, 1"
    assert facts["features"] == "5 features: x0, x1, x2, x3, x4"
    assert " MB in memory" in facts["bytes"] or " kB in memory" in facts["bytes"]
    assert model.to_text() in shown


@pytest.mark.parametrize(
    ("form", "start"),
    [("dot", "digraph tree {"), ("mermaid", "flowchart TD"), ("html", "<!DOCTYPE html>"), ("text", "learner")],
)
def test_show_draws_to_a_depth(model_file, form, start):
    shallow = succeed("show", model_file, "--format", form, "--depth", 1).stdout
    deep = succeed("show", model_file, "--format", form, "--depth", 4).stdout
    assert shallow.startswith(start)
    assert len(deep) > len(shallow)


def test_show_of_a_tree_that_is_a_leaf(tmp_path):
    qc.HoeffdingTree().partial_fit([[1.0]], ["yes"]).save(tmp_path / "leaf.quercus")
    shown = succeed("show", tmp_path / "leaf.quercus").stdout
    assert "leaves     1, depth 0" in shown
    assert "uses most" not in shown


def test_show_shortens_long_lists(tmp_path):
    qc.HoeffdingTree().partial_fit([[1.0] * 20] * 30, list(range(30))).save(tmp_path / "wide.quercus")
    shown = succeed("show", tmp_path / "wide.quercus").stdout
    assert "x11 and 8 more" in shown
    assert "30: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 18 more" in shown


def test_show_refuses_in_one_line(tmp_path):
    (tmp_path / "text.txt").write_text("no model")
    assert "there is no model file 'no.quercus'" in fail("show", "no.quercus")
    assert "is not a quercus model file" in fail("show", "text.txt")
    assert invoke("show", "text.txt", "--format", "pdf").exit_code == 2
    assert invoke("show", "text.txt", "--depth", "-1").exit_code == 2


def test_streams_lists_every_name(monkeypatch):
    listed = lines_of(succeed("streams").stdout)
    assert set(listed) == {"name", *(entry.name for entry in qc.streams.available())}
    assert listed["random_tree"][:3] == ["generator", "endless", "5"]
    assert listed["digits"][:3] == ["scikit-learn", "1,797", "64"]
    monkeypatch.setenv("QUERCUS_DATA", "/no/such/folder")
    assert "QUERCUS_DATA names '/no/such/folder', which is no folder" in fail("streams")


def test_streams_fit_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    list_streams()
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_version_and_help():
    assert succeed("--version").stdout == f"quercus {qc.__version__}\n"
    result = succeed("--help").stdout
    for command in ("run", "compare", "predict", "show", "streams"):
        assert command in result
        assert f"quercus {command}" in re.sub(r"\s+", " ", succeed(command, "--help").stdout.split("Examples:")[1])
