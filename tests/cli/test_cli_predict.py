import csv
import gzip
import io
import re

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import quercus as qc
from tests.cli.commands import fail, invoke, succeed, write_loans

FEATURES = ["age", "job", "zip", "owner"]


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """A folder with a CSV of loans, the model of it and the answers that the library gives."""
    folder = tmp_path_factory.mktemp("loans")
    write_loans(folder / "loans.csv")
    stream = qc.streams.CSV(folder / "loans.csv", ignore=["id", "when"], nominal=["zip"])
    X, y = stream.take()
    model = qc.ConfidenceTree(min_leaf=1).partial_fit(X, y)
    model.save(folder / "model.quercus")
    return folder, X, model


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def answers(text):
    lines = list(csv.reader(io.StringIO(text)))
    return lines[0], lines[1:]


def as_arff(table):
    kinds = {"job": "{clerk,nurse,smith}", "zip": "{'01234','99999'}"}
    head = "".join(f"@attribute {name} {kinds.get(name, 'numeric')}\n" for name in table.column_names)
    rows = "".join(",".join("?" if v is None else str(v) for v in row.values()) + "\n" for row in table.to_pylist())
    return f"@relation loans\n{head}@data\n{rows}"


def test_a_file_with_its_target_and_more(loans):
    folder, X, model = loans
    done = succeed("predict", folder / "model.quercus", folder / "loans.csv")
    head, rows = answers(done.stdout)
    assert head == ["prediction"]
    assert [row[0] for row in rows] == model.predict(X).tolist()
    assert done.stderr == "quercus: note: left out, because the model does not know them: 'id', 'when', 'repaid'.\n"


@pytest.mark.parametrize("order", [FEATURES, ["zip", "owner", "job", "age"], ["owner", "age", "zip", "job"]])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet", "arff"])
def test_every_format_in_any_order_gives_the_same_answers(loans, ending, order):
    folder, X, model = loans
    table = X.select(order)
    path = f"new.{ending}"
    if ending == "parquet":
        pa.parquet.write_table(table, path)
    elif ending == "arff":
        with open(path, "w") as file:
            file.write(as_arff(table))
    else:
        options = pa.csv.WriteOptions(delimiter="\t" if ending == "tsv" else ",")
        content = io.BytesIO()
        pa.csv.write_csv(table, content, options)
        with (gzip.open if ending.endswith("gz") else open)(path, "wb") as file:
            file.write(content.getvalue())
    done = succeed("predict", folder / "model.quercus", path, "--proba")
    head, rows = answers(done.stdout)
    assert head == ["prediction", "p(bad)", "p(good)"]
    assert [row[0] for row in rows] == model.predict(X).tolist()
    assert [[float(p) for p in row[1:]] for row in rows] == model.predict_proba(X).tolist()
    assert done.stderr == ""


def test_numbers_alone_keep_their_last_column(tmp_path):
    X = [[float(i % 7), i % 3] for i in range(300)]
    y = ["ab"[(row[0] > 3) ^ (row[1] > 1)] for row in X]
    table = pa.table({"p": [row[0] for row in X], "q": [row[1] for row in X]})
    model = qc.HoeffdingTree(grace_period=10).partial_fit(table, y)
    model.save("model.quercus")
    (tmp_path / "new.csv").write_text("q,p\n" + "".join(f"{q},{p}\n" for p, q in X))
    _, rows = answers(succeed("predict", "model.quercus", "new.csv").stdout)
    assert [row[0] for row in rows] == model.predict(table).tolist()
    assert len({row[0] for row in rows}) == 2


def test_truth_values_and_late_fractions_in_a_file_of_numbers_alone(tmp_path):
    rows = 60_000  # more than the megabyte by which a reader decides on kinds
    table = pa.table({"p": [i % 2 for i in range(100)], "q": [i / 10 for i in range(100)]})
    model = qc.HoeffdingTree(grace_period=10).partial_fit(table, [i % 2 for i in range(100)])
    model.save("model.quercus")
    lines = [f"{'true' if i % 2 else 'false'},{i % 1000_000 + 10**12}" for i in range(rows)]
    for first, second in (("p", "q"), ("q", "p")):
        head = f"{first},{second}"
        body = lines if first == "p" else [",".join(reversed(line.split(","))) for line in lines]
        late = "false,2.5" if first == "p" else "2.5,false"
        (tmp_path / "new.csv").write_text("\n".join([head, *body, late, ""]))
        _, found = answers(succeed("predict", "model.quercus", "new.csv").stdout)
        assert [row[0] for row in found] == [str(i % 2) for i in range(rows)] + ["0"]


def test_categories_that_are_numbers_stay_numbers(tmp_path):
    table = pa.table({"code": [1, 2] * 200, "z": [0.5] * 400})
    model = qc.ConfidenceTree(nominal=["code"]).partial_fit(table, ["a", "b"] * 200)
    model.save("model.quercus")
    (tmp_path / "new.csv").write_text("code,z,y\n2,0.5,?\n1,0.5,?\n")
    assert succeed("predict", "model.quercus", "new.csv").stdout == "prediction\nb\na\n"


def test_answers_go_to_a_file_and_only_if_all_is_well(loans, tmp_path):
    folder, X, model = loans
    done = succeed("predict", folder / "model.quercus", folder / "loans.csv", "--out", "answers.csv")
    assert done.stdout == f"{len(X):,} answers in answers.csv\n"
    with open("answers.csv") as file:
        assert [line.strip() for line in file][1:] == model.predict(X).tolist()
    (tmp_path / "bad.csv").write_text("age,job,zip,owner\n30,clerk,01234,true\nold,clerk,01234,true\n")
    before = (tmp_path / "answers.csv").read_text()
    message = fail("predict", folder / "model.quercus", "bad.csv", "--out", "answers.csv")
    assert "column 'age' must hold numbers, as the model has learned it, but holds 'old' in row 1" in message
    assert (tmp_path / "answers.csv").read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "bad.csv"]
    assert succeed("predict", folder / "model.quercus", "bad.csv", "--missing", "old").stdout.count("\n") == 3


def test_labels_with_odd_letters_are_written_as_they_are(tmp_path):
    labels = ['q"u,o\nte', "Ärger", "日本"]
    model = qc.ConfidenceTree().partial_fit(pa.table({"x": [1.0, 2.0, 3.0], "z": [1.0] * 3}), labels)
    model.save("model.quercus")
    (tmp_path / "new.csv").write_text("x,z\n1,1\n")
    head, rows = answers(succeed("predict", "model.quercus", "new.csv", "--proba").stdout)
    assert head == ["prediction", *(f"p({label})" for label in model.classes_)]
    assert rows[0][0] == model.predict_one({"x": 1.0, "z": 1.0})


def test_an_open_model_takes_files_that_lack_columns(tmp_path):
    table = pa.table({"x": [0.0, 1.0] * 50, "z": [1.0] * 100})
    qc.ConfidenceTree(features="open").partial_fit(table, ["a", "b"] * 50).save("model.quercus")
    (tmp_path / "new.csv").write_text("x,other\n0,1\n1,1\n")
    assert succeed("predict", "model.quercus", "new.csv").stdout.count("\n") == 3
    (tmp_path / "none.csv").write_text("p,q\n0,1\n")
    assert "the model needs 'x', 'z'" in fail("predict", "model.quercus", "none.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "age,job,zip\n1,clerk,0\n",
            "new.csv: the model needs 'owner', which the file does not have; its columns are 'age'",
        ),
        ("age,job,zip,owner\n", "the file has a header but no rows"),
        ("", "the model needs 'age', 'job', 'zip', 'owner', which the file does not have"),
        ("age,job,zip,owner\n1,clerk,0\n", "line 2 has 3 cells, the header 4"),
        ("age,job,zip,owner\ninf,clerk,0,1\n", "column 'age' holds inf in row 0"),
        ("age,job,zip,owner,age\n1,clerk,0,1,2\n", "more than one column is named 'age'"),
    ],
)
def test_files_that_do_not_fit_are_refused_in_one_line(loans, tmp_path, text, message):
    (tmp_path / "new.csv").write_text(text)
    assert message in fail("predict", loans[0] / "model.quercus", "new.csv")


def test_other_wrong_arguments(loans, tmp_path):
    folder = loans[0]
    model, data = folder / "model.quercus", folder / "loans.csv"
    (tmp_path / "notes.txt").write_text("a,b\n")
    assert "there is no model file 'no.quercus'" in fail("predict", "no.quercus", data)
    assert "is not a quercus model file" in fail("predict", data, data)
    assert "there is no file 'no.csv'" in fail("predict", model, "no.csv")
    assert "tells no format" in fail("predict", model, "notes.txt")
    assert "is a folder; give the name of a file with --out" in fail("predict", model, data, "--out", tmp_path)
    assert "there is no folder 'no'" in fail("predict", model, data, "--out", "no/a.csv")
    assert invoke("predict", model).exit_code == 2


def test_a_model_without_names_says_what_it_calls_its_columns(loans, tmp_path):
    qc.ConfidenceTree().partial_fit([[1.0, 2.0], [2.0, 1.0]], ["a", "b"]).save("model.quercus")
    message = fail("predict", "model.quercus", loans[0] / "loans.csv")
    assert re.search(r"needs 'x0', 'x1'.*taught without names; call the columns x0, x1", message)
    (tmp_path / "new.csv").write_text("x1,x0\n1,2\n")
    assert succeed("predict", "model.quercus", "new.csv").stdout.startswith("prediction\n")
