"""How figures are written for people."""

import math
from collections.abc import Callable

import pytest

from quercus.evaluation.errors import located
from quercus.evaluation.words import (
    align,
    show,
    show_amount,
    show_bytes,
    show_percent,
    show_points,
    show_price,
    show_seconds,
)


@pytest.mark.parametrize(
    ("write", "shown"),
    [
        (show, {0.81234: "0.8123", math.nan: "–", None: "–"}),
        (show_percent, {0.8123: "81.2%", 0.99996: ">99.9%", 1.0: "100%", 0.0001: "<0.1%", 0: "0%", None: "–"}),
        (show_amount, {12345.0: "12,345", 12.5: "12.50", None: "–"}),
        (show_bytes, {800: "800 B", 1_234_567: "1.2 MB", None: "–"}),
        (show_seconds, {0.01234: "0.012 s", 12.34: "12.3 s", 200: "3 min 20 s"}),
        (show_points, {0.0412: "4.1 points above", -0.2: "20.0 points below", 0.0: "the same as"}),
        (show_price, {2.9666: "2.97", 3.0: "3", 0.01234: "0.0123", 12345.6: "12,346", None: "–"}),
    ],
)
def test_figures_are_written_as_people_read_them(write: Callable[..., str], shown: dict[float | None, str]) -> None:
    assert {value: write(value) for value in shown} == shown


def test_columns_are_aligned() -> None:
    assert align([("accuracy", "0.8"), ("log-loss", "12.5")]) == "accuracy   0.8\nlog-loss  12.5"


def test_an_error_counts_rows_from_the_start_of_the_stream() -> None:
    error = ValueError("column 'row 3' holds inf in row 17; replace it.")
    words = "column 'row 3' holds inf in row 8209; replace it. (rows 8192 to 8999 of stream 'clinic')"
    assert str(located(error, 8192, 9000, "clinic")) == words
