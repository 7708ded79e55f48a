import bz2
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.streams import CSV, Parquet, read


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def csv(tmp_path):
    return lambda text, name="rows.csv": write(tmp_path / name, text)


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def test_numbers_and_bools_are_a_float_array(csv):
    stream = read(csv("a,b,c,y\n1,true,,p\n2.5,false,7,q\n"))
    X, y = stream.take()
    np.testing.assert_array_equal(X, [[1, 1, np.nan], [2.5, 0, 7]])
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert y.tolist() == ["p", "q"]
    assert stream.nominal == ()


def test_text_makes_a_table_of_numbers_and_text(csv):
    stream = read(csv('age,job,y\n41, clerk ,1\n29,?,0\n33,"x, ""y""\n z",1\n'))
    X, y = stream.take()
    assert X.to_pydict() == {"age": [41.0, 29.0, 33.0], "job": ["clerk", None, 'x, "y"\n z']}
    assert stream.nominal == ("job",)
    assert y.tolist() == [1, 0, 1]
    assert y.dtype == np.int64


@pytest.mark.parametrize(
    ("header", "target", "found"),
    [
        ("target,a,y", "target", "by name"),
        ("a,y,b", "y", "by name"),
        ("a,Label,b", "Label", "by name"),
        ("label,class,b", "class", "by name"),
        ("a,b,c", "c", "last column"),
        ("a,split,c", "c", "last column"),
    ],
)
def test_target_is_found_by_name_or_is_the_last(csv, header, target, found):
    stream = read(csv(f"{header}\n1,2,3\n"))
    assert (stream.target, stream.target_found) == (target, found)
    assert stream.feature_names == [name for name in header.split(",") if name != target]
    assert repr(target) in repr(stream)


def test_target_and_ignore(csv):
    path = csv("a,b,c\n1,2,3\n4,5,6\n")
    stream = read(path, target="a", ignore=["b"])
    assert stream.target_found == "given"
    np.testing.assert_array_equal(stream.take()[0], [[3], [6]])
    assert read(path, ignore="c").target == "b"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "ages"}, "target 'ages' is no column; the columns are 'age', 'job', 'y'. Did you mean 'age'"),
        ({"target": "job", "ignore": ["job"]}, "target 'job' is ignored"),
        ({"ignore": ["jobs"]}, "ignore names 'jobs', which is no column"),
        ({"nominal": ["zip"]}, "nominal names 'zip', which is no column"),
        ({"ignore": ["age", "job"]}, "there is no feature beside the target 'y'"),
        ({"ignore": ["age", "job", "y"]}, "every column is ignored"),
    ],
)
def test_unknown_columns_are_refused_with_those_there_are(csv, options, message):
    with pytest.raises(ValueError, match=message):
        read(csv("age,job,y\n1,a,0\n"), **options)


def test_type_trap_numbers_first_and_text_later_is_an_error(csv):
    path = csv("a,b,y\n" + "1,10,0\n" * 200_000 + "1,n.a.,0\n")
    stream = read(path)
    message = (
        r"rows.csv: column 'b' holds numbers at first but 'n.a.' in line 200002; read it as text with nominal=\['b'\], "
        r"leave it out with ignore=\['b'\], or name 'n.a.' in missing="
    )
    with pytest.raises(ValueError, match=message):
        for _ in stream.chunks():
            pass
    # Every remedy works.
    assert read(path, nominal=["b"]).take()[0].column("b").to_pylist()[-2:] == ["10", "n.a."]
    assert read(path, ignore=["b"]).take()[0].shape == (200_001, 1)
    assert np.isnan(read(path, missing=["n.a."]).take()[0][-1, 1])


def test_type_trap_of_the_target(csv):
    path = csv("a,y\n" + "1,0\n" * 400_000 + "1,none\n")
    with pytest.raises(ValueError, match="column 'y' holds whole numbers at first but 'none' in line 400002"):
        read(path).take()
    assert read(path, nominal=["y"]).take()[1].tolist()[-2:] == ["0", "none"]


def test_whole_numbers_may_go_on_as_fractions_and_empty_columns_as_numbers(csv):
    stream = read(csv("a,b,y\n" + "1,,0\n" * 300_000 + "2.5,7,1\n"))
    X, y = stream.take()
    assert X[-1].tolist() == [2.5, 7]
    assert np.isnan(X[0, 1])
    assert y[-1] == 1


def test_text_first_and_numbers_later_is_text(csv):
    X, _ = read(csv("a,y\n" + "x,0\n" * 300_000 + "3,1\n")).take()
    assert X.column("a")[-1].as_py() == "3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b", "the file is empty, or has one line without an end"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, the header 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, the header 2"),
        ("a,a,b\n1,2,3\n", "more than one column is named 'a'"),
        ("1,2\n3,4\n", "the first line holds numbers, not names; add a header or say header=False"),
        ("a;b\n1;2\n", "the only column is 'a;b'; another delimiter"),
        ("when,y\n2020-01-01,0\n", r"column 'when' holds values of type date32.*nominal=\['when'\].*ignore=\['when'\]"),
        ("a,y\nä,0\n".encode("latin-1"), "column 'a' holds bytes that are not UTF-8"),
    ],
)
def test_bad_csv_files_get_one_clear_line(csv, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        read(csv(text))
    assert "rows.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ragged_row_far_into_the_file(csv):
    stream = read(csv("a,b\n" + "1,2\n" * 400_000 + "3\n"))
    with pytest.raises(ValueError, match="line 400002 has 1 cells, the header 2"):
        stream.take()


def test_a_line_longer_than_a_piece_is_said(csv):
    with pytest.raises(ValueError, match="a line is longer than 1,048,576 bytes"):
        read(csv("x" * 2_000_000 + ",y\n1,0\n"))


def test_missing_labels_are_refused_by_row(csv):
    stream = read(csv("a,y\n" + "1,0\n" * 300_000 + "1,\n"))
    with pytest.raises(ValueError, match="target column 'y' is missing in row 300000"):
        stream.take()


def test_missing_file_folder_and_unknown_ending(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="is a folder"):
        read(tmp_path)
    path = write(tmp_path / "rows.txt", "a,y\n1,0\n")
    with pytest.raises(ValueError, match=r"the ending of .*rows.txt' tells no format; known are .csv"):
        read(path)
    assert CSV(path).take()[1].tolist() == [0]


def test_compressed_tab_separated_headless_and_marked_files(tmp_path):
    text = b"a,y\n1,0\n2,1\n"
    files = {
        "x.csv.gz": gzip.compress(text),
        "x.csv.bz2": bz2.compress(text),
        "x.tsv": text.replace(b",", b"\t"),
        "x.CSV": text.replace(b"\n", b"\r\n"),
        "bom.csv": b"\xef\xbb\xbf" + text,
    }
    for name, content in files.items():
        stream = read(write(tmp_path / name, content))
        assert stream.feature_names == ["a"]
        assert stream.take()[0].ravel().tolist() == [1, 2]
        assert stream.name == name.split(".")[0]
    headless = read(write(tmp_path / "h.csv", "1,2\n3,4\n"), header=False)
    assert headless.feature_names == ["f0"]
    assert headless.take()[1].tolist() == [2, 4]
    with pytest.raises(ValueError, match=r"bad.csv.gz: not readable as CSV"):
        read(write(tmp_path / "bad.csv.gz", b"this is no gzip"))


def test_a_file_of_300_000_rows_comes_in_bounded_chunks(csv, monkeypatch):
    # What is held is some pieces of the file, so smaller pieces show it on a smaller file.
    monkeypatch.setattr("quercus.streams.readers._BLOCK_BYTES", 1 << 16)
    rows = 300_000
    numbers = np.random.default_rng(0).integers(0, 1000, (rows, 4))
    path = csv("a,b,c,y\n" + "\n".join(",".join(map(str, row)) for row in numbers.tolist()) + "\n")
    pa.default_memory_pool().release_unused()
    before = pa.total_allocated_bytes()
    seen, most = 0, 0
    for X, y in read(path).chunks(10_000):
        np.testing.assert_array_equal(np.column_stack([X, y]), numbers[seen : seen + len(y)])
        seen += len(y)
        most = max(most, pa.total_allocated_bytes() - before)
    assert seen == rows
    # As float64 the file would take 9.6 MB.
    assert 0 < most < 5_000_000


@settings(max_examples=20, deadline=None)
@given(size=st.integers(1, 3000), rows=st.integers(1, 2500))
def test_chunk_sizes_do_not_change_the_rows_of_files(size, rows, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "chunks.parquet"
    if not path.exists():
        words = pa.array([str(i % 7) for i in range(2000)]).dictionary_encode()
        table = pa.table({"a": range(2000), "b": words, "y": [i % 3 for i in range(2000)]})
        pq.write_table(table, path, row_group_size=300)
    parts = list(read(path).chunks(size, rows=rows))
    seen = min(rows, 2000)
    rows_read = [row for X, _ in parts for row in X.to_pylist()]
    assert rows_read == [{"a": i, "b": str(i % 7)} for i in range(seen)]
    assert np.concatenate([y for _, y in parts]).tolist() == [i % 3 for i in range(seen)]


def test_parquet_kinds(tmp_path):
    path = parquet(
        tmp_path / "kinds.parquet",
        whole=pa.array([1, None], pa.uint8()),
        flag=[True, None],
        empty=pa.nulls(2),
        price=pa.array([1, 2], pa.decimal128(5, 2)),
        target=pa.array([3, 4], pa.int16()),
        __index_level_0__=[0, 1],
    )
    stream = read(path)
    X, y = stream.take()
    np.testing.assert_array_equal(X, [[1, 1, np.nan, 1], [np.nan, np.nan, np.nan, 2]])
    assert stream.feature_names == ["whole", "flag", "empty", "price"]
    assert y.dtype == np.int64
    assert stream.n_rows == 2
    assert stream.classes is None
    assert stream.find_classes() == stream.classes == [3, 4]


def test_parquet_with_text_and_nominal_numbers(tmp_path):
    path = parquet(
        tmp_path / "mixed.parquet",
        code=[7, 8],
        flag=[True, False],
        word=["a", None],
        view=pa.array(["u", "v"], pa.string_view()),
        y=pa.array(["p", "q"]).dictionary_encode(),
    )
    stream = Parquet(path, nominal=["code"])
    X, y = stream.take()
    assert X.to_pydict() == {"code": ["7", "8"], "flag": [1, 0], "word": ["a", None], "view": ["u", "v"]}
    assert stream.nominal == ("code", "word", "view")
    assert y.tolist() == ["p", "q"]
    assert Parquet(path, target="flag").take()[1].tolist() == [True, False]
    assert Parquet(path, target="code", nominal="code").take()[1].tolist() == ["7", "8"]


def test_parquet_row_groups_with_other_categories_join(tmp_path):
    path = tmp_path / "groups.parquet"
    kind = pa.dictionary(pa.int8(), pa.string())
    schema = pa.schema({"word": kind, "y": pa.int64()})
    with pq.ParquetWriter(path, schema) as writer:
        for part in range(4):
            words = pa.array([f"{part}-{i}" for i in range(100)]).dictionary_encode().cast(kind)
            writer.write_table(pa.table({"word": words, "y": pa.array([part] * 100)}, schema=schema))
    X, _ = read(path).take()
    assert X.column("word").to_pylist() == [f"{part}-{i}" for part in range(4) for i in range(100)]


def test_bad_parquet_files(tmp_path):
    with pytest.raises(ValueError, match=r"x.parquet: not readable as Parquet"):
        read(write(tmp_path / "x.parquet", "no parquet"))
    with pytest.raises(ValueError, match="no rows"):
        read(parquet(tmp_path / "none.parquet", a=pa.array([], pa.int64()), y=pa.array([], pa.int64())))
    for kind, column in {"list": [[1]], "struct": [{"k": 1}], "binary": [b"x"]}.items():
        with pytest.raises(ValueError, match=r"column 'a' holds .*ignore=\['a'\]"):
            read(parquet(tmp_path / f"{kind}.parquet", a=column, y=[0]))
    with pytest.raises(ValueError, match="target column 'y' is missing in row 1"):
        read(parquet(tmp_path / "nolabel.parquet", a=[1, 2], y=[0.0, float("nan")])).take()
