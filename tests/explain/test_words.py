"""How values, names and sets are written for people."""

from __future__ import annotations

import pytest

from quercus.explain.captions import GREY, pick_colours
from quercus.explain.picture import fit_head, make_bar
from quercus.explain.words import (
    distinct_names,
    others,
    pad,
    plural,
    ranked,
    shorten,
    shorten_among,
    show_name,
    show_number,
    show_set,
    show_value,
    width,
)


@pytest.mark.parametrize(
    ("write", "shown"),
    [
        (show_number, {41.0: "41", 1 / 3: "0.333333", 20190101.5: "20190101.5", 2e-9: "2e-09"}),
        (show_value, {"clerk": "'clerk'", 29.0: "29", True: "True", None: "missing"}),
        (show_name, {"unit\nprice": "unit\\nprice"}),
        (others, {1: "1 other", 17: "17 others"}),
    ],
)
def test_values_are_written_as_people_read_them(write, shown):
    assert {value: write(value) for value in shown} == shown


def test_things_are_counted():
    counted = [plural(1, "label"), plural(1200, "label"), plural(2, "leaf"), plural(2, "class")]
    assert counted == ["1 label", "1,200 labels", "2 leaves", "2 classes"]


def test_short_names_stay_distinct():
    assert shorten("a very long name", 9) == "a ve…name"
    assert pad("年齢", 6) == "年齢  "
    assert distinct_names(["a", 1, "1"]) == ["a", "1", "'1'"]
    assert distinct_names(["number of contacts", "number of visits"], 12) == ["number…tacts", "number…isits"]
    alike = ["one way to the old oak", "one way to an old oak"]
    assert distinct_names(alike, 6) == alike


@pytest.mark.parametrize(
    "names",
    [
        ["income_2018_total_eur", "income_2019_total_eur"],
        [
            f"{what} of the {where} department"
            for what in ("complaint", "question")
            for where in ("northern", "western")
        ],
        ["a long name", "a long", "another long name"],
        ["年齢 北海道 一", "年齢 東京都 一"],
    ],
)
@pytest.mark.parametrize("columns", [9, 12, 15])
def test_what_is_cut_in_a_box_is_not_taken_for_another(names, columns):
    cut = [shorten_among(name, columns, names) for name in names]
    assert len(set(cut)) == len(names)
    assert all(width(name) <= columns for name in cut)


def test_names_without_words_of_their_own_are_cut_as_ever():
    assert shorten_among("aaaaaaaa", 5, ["aaaaaaaa", "aaaaaaa"]) == "aa…aa"
    assert shorten_among("________", 5, ["________", "_________"]) == "__…__"
    assert shorten_among("a very long name", 9, ["a very long name"] + ["a very old name"] * 200) == "a ve…name"


def test_sets_take_the_room_there_is():
    assert show_set(["clerk", "nurse"]) == "{'clerk', 'nurse'}"
    assert show_set(range(8)) == "{0, 1, 2, 3, 4, ... 3 more}"
    jobs = ["electrician", "nurse", "cook"]
    assert [show_set(jobs, 26), show_set(jobs, 12)] == ["{'elect…cian', ... 2 more}", "3 values"]


def test_classes_by_size_and_in_colour():
    assert ranked(("a", "b", "c"), (2.0, 0.0, 5.0)) == [("c", 5.0), ("a", 2.0)]
    assert pick_colours([3.0, 9.0]) == ["#0072B2", "#E69F00"]
    assert make_bar([GREY, "#0072B2", GREY], [0.25, 0.5, 0.25]) == (("#0072B2", 0.5), (GREY, 0.5))
    assert fit_head(lambda columns: shorten("number of previous contacts", columns), 140) == "number of … contacts"
