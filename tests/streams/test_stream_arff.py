import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.streams import ARFF, read

HEADER = "@relation r\n@attribute a numeric\n@attribute b {x,y,'z w'}\n@attribute class {p,q}\n@data\n"


@pytest.fixture
def arff(tmp_path):
    def write(text, name="rows.arff"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def test_every_oddity_of_the_format(arff):
    stream = read(
        arff(
            "% a comment\n\n"
            "@RELATION 'odd set'\n"
            "@Attribute 'wind speed' REAL % not part of the type\n"
            '@attribute "it\'s" integer [0, 10]\n'
            '@attribute colour{red,\'light blue\',"dark \\"green\\"",50%}\n'
            "@attribute note string\n"
            "@attribute skip date 'yyyy-MM-dd'\n"
            "@attribute class {yes, no}\n"
            "@DATA\n"
            "% another comment\n"
            "1.5,2,red,plain,2020-01-01,yes\n"
            "\n"
            " ?\t, 3 ,'light blue', 'a, b % c' , ? , no % and one at the end\n"
            "1e3,?,\"dark \\\"green\\\"\",'it\\'s','x',yes\n"
            "-2,4,'50%','?',?,no\n"
        ),
        ignore=["skip"],
    )
    X, y = stream.take()
    assert stream.feature_names == ["wind speed", "it's", "colour", "note"]
    assert stream.nominal == ("colour", "note")
    assert stream.classes == ["no", "yes"]
    assert X.to_pydict() == {
        "wind speed": [1.5, None, 1000.0, -2.0],
        "it's": [2.0, 3.0, None, 4.0],
        "colour": ["red", "light blue", 'dark "green"', "50%"],
        # A question mark in quotes is text.
        "note": ["plain", "a, b % c", "it's", "?"],
    }
    assert y.tolist() == ["yes", "no", "yes", "no"]


def test_numbers_only_are_a_float_array(arff):
    stream = read(
        arff("@relation r\n@attribute a real\n@attribute b integer\n@attribute y integer\n@data\n1,?,3\n4,5,6\n")
    )
    X, y = stream.take()
    np.testing.assert_array_equal(X, [[1, np.nan], [4, 5]])
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert y.tolist() == [3, 6]
    assert stream.classes is None


def test_target_and_compression(arff):
    text = HEADER + "1,x,p\n2,'z w',q\n"
    assert read(arff(text), target="b").take()[1].tolist() == ["x", "z w"]
    assert read(arff(gzip.compress(text.encode()), "rows.arff.gz")).take()[1].tolist() == ["p", "q"]
    assert read(arff(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())).take()[1].tolist() == ["p", "q"]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**6), 10**6),
            st.none() | st.sampled_from(["x", "y"]),
            st.none() | st.text("ab+-.0123", max_size=4),
            st.sampled_from(["p", "q"]),
        ),
        min_size=1,
        max_size=20,
    ),
    careful=st.booleans(),
)
def test_both_ways_of_reading_give_what_was_written(rows, careful, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "both.arff"
    header = (
        "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute c string\n@attribute class {p,q}\n@data\n"
    )
    # A space sends a block the careful way.
    comma = ", " if careful else ","
    path.write_text(header + "\n".join(comma.join("?" if v is None else str(v) for v in row) for row in rows) + "\n")
    X, y = ARFF(path).take()
    assert X.to_pylist() == [dict(zip("abc", row, strict=False)) for row in rows]
    assert y.tolist() == [row[-1] for row in rows]


@pytest.mark.parametrize("comma", [",", ", "])
def test_more_rows_than_a_block(arff, comma):
    stream = read(arff(HEADER + "".join(f"{i}{comma}{'xy'[i % 2]}{comma}{'pq'[i % 2]}\n" for i in range(10_000))))
    parts = list(stream.chunks(3000))
    assert [len(y) for _, y in parts] == [3000, 3000, 3000, 1000]
    assert [a for X, _ in parts for a in X.column("a").to_pylist()] == list(range(10_000))
    assert stream.take(5)[0].column("b").to_pylist() == ["x", "y", "x", "y", "x"]


@pytest.mark.parametrize("comma", [",", ", "])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,x", "line 8 has 2 values for 3 attributes"),
        ("1,x,p,q", "line 8 has 4 values for 3 attributes"),
        ("1,u,p", r"attribute 'b' holds 'u' in line 8, which is not one of its values \{x, y, z w\}"),
        ("one,x,p", "attribute 'a' holds 'one' in line 8, which is not a number"),
        ("1,'x,p", "line 8 has a quote or brace that does not close"),
        ("{0 1, 2 p}", "line 8 is sparse"),
        ("1,x,?", "target column 'class' is missing in row 2 of the data"),
    ],
)
def test_bad_rows_are_named_by_line(arff, row, message, comma):
    good = f"1{comma}x{comma}p\n"
    stream = read(arff(HEADER + good + good + row + "\n"))
    with pytest.raises(ValueError, match=message) as caught:
        stream.take()
    assert "rows.arff" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no @data line"),
        ("a,b\n1,2\n", "line 1 is no ARFF header line: 'a,b'"),
        ("@relation r\n@attribute a numeric\n", "no @data line"),
        ("@relation r\n@data\n1\n", "no @attribute before @data in line 2"),
        (HEADER, "no rows after @data"),
        ("@relation r\n@attribute a\n@data\n1\n", "line 2 is no '@attribute name type'"),
        ("@relation r\n@attribute a {x,y\n@data\n1\n", "line 2 has a quote or brace that does not close"),
        ("@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n", "line 3 declares 'a' again"),
        ("@relation r\n@attribute t date\n@attribute a real\n@data\n1,2\n", r"'t' is of kind 'date'.*ignore=\['t'\]"),
        ("@relation r\n@attribute a real\n@data\n1\n", "no feature beside the target 'a'"),
        ((HEADER + "1,ä,p\n").encode("latin-1"), "not UTF-8"),
    ],
)
def test_bad_headers_are_refused(arff, text, message):
    path = arff(text)
    with pytest.raises(ValueError, match=message):
        read(path).take()


def test_whole_number_labels_with_a_fraction_are_refused(arff):
    stream = read(arff("@relation r\n@attribute a real\n@attribute y integer\n@data\n1,2\n1,2.5\n"))
    with pytest.raises(ValueError, match=r"attribute 'y' holds '2.5' in line 6, which is not a whole number"):
        stream.take()
