"""The tree as text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quercus.explain import Leaf, Node, Test, TreeView, to_text
from quercus.explain.captions import brief, details
from quercus.explain.words import pad, shorten, show_count, show_share, width
from tests.explain import trees


def test_three_leaves():
    assert to_text(trees.three_leaves()) == "\n".join(
        [
            "ConfidenceTree: 3 leaves, depth 2, 150 rows learned",
            "? also if missing       labels  answer  classes",
            "all                        150          'yes' 90 (60%), 'no' 60 (40%)",
            "├─ age <= 41 ?             100          'yes' 80 (80%), 'no' 20 (20%)",
            "│  ├─ job == 'clerk'        48  'yes'   'yes' 34 (71%), 'no' 14 (29%)",
            "│  └─ job != 'clerk' ?      52  'yes'   'yes' 46 (88%), 'no' 6 (12%)",
            "└─ age > 41                 50  'no'    'no' 40 (80%), 'yes' 10 (20%)",
        ]
    )


def test_nothing_learned():
    assert to_text(trees.nothing_learned()).splitlines()[-1].split() == ["all", "0", "none", "yet"]


@pytest.mark.parametrize("name", trees.ALL)
@pytest.mark.parametrize("limits", [{}, {"max_depth": None, "max_nodes": None}])
def test_every_tree_fits_in_120_columns_one_line_per_node(name, limits):
    view = trees.ALL[name]()
    lines = to_text(view, **limits).splitlines()
    assert max(map(width, lines)) <= 120
    shown = len(view.nodes) if limits else min(63, len(view.nodes))
    assert len(lines) == 2 + shown + (shown < len(view.nodes))


def test_long_names_are_shortened_and_aligned():
    view = trees.grow(9, ("a" * 200, "b" * 200), lambda node: Test("f" * 300, "==", "v" * 300))
    lines = to_text(view).splitlines()
    assert max(map(width, lines)) <= 120
    column = lines[1].index("answer")
    assert {line[column - 2 : column] for line in lines[1:]} == {"  "}
    assert all(" == " in line or " != " in line for line in lines[3:])


@given(st.lists(st.text(max_size=30), max_size=12, unique=True), st.text(max_size=30), st.integers(14, 60))
def test_sets_fit_and_keep_the_comparison(categories, name, columns):
    test = Test(name, "in", tuple(categories))
    for passed in (True, False):
        line = brief(test, passed, columns)
        assert width(line) <= columns
        assert f" {test.sign(passed)} " in line


def test_sets_show_as_many_as_fit():
    test = Test("job", "in", ("clerk", "nurse", "cook", "smith"))
    assert brief(test, True, 60) == "job in {'clerk', 'nurse', 'cook', 'smith'}"
    assert brief(test, False, 44) == "job not in {'clerk', 'nurse', ... 2 more}"
    assert brief(test, True, 24) == "job in 4 values"


def test_whether_a_value_is_missing_needs_no_mark():
    leaf = Leaf("majority", True, (0.2, 0.9), False, 10.0)
    nodes = (
        Node(0, -1, None, 0, Test("job", "in", ()), True, (8.0,), "a", 0.1, None),
        Node(1, 0, "left", 1, None, True, (5.0,), "a", 0.0, leaf),
        Node(2, 0, "right", 1, None, True, (3.0,), "a", 0.0, leaf),
    )
    text = to_text(TreeView("T", ("a",), ("job",), nodes, 8))
    assert "├─ job is missing   " in text
    assert "└─ job is known   " in text


def test_why_labels_are_fewer():
    view = replace(trees.three_leaves(), rows=200, fewer="some were forgotten")
    assert to_text(view).endswith("the answers rest on 150 of 200 labels: some were forgotten")


def test_cut_branches_say_what_they_hide():
    text = to_text(trees.many_leaves(), max_depth=1)
    hidden = [int(line.split("(hides ")[1].split(" ")[0]) for line in text.splitlines() if "(hides" in line]
    assert len(hidden) == 2
    assert sum(hidden) == 200
    assert text.endswith("3 of 399 nodes shown")


def test_deep_branches_tell_their_depth():
    lines = to_text(trees.deep_chain(40), max_nodes=None).splitlines()
    assert lines[-1].startswith("⋯40 ")
    assert not lines[10].startswith("⋯")


def test_hostile_names_stay_on_their_line():
    view = trees.hostile()
    text = to_text(replace(view, learner="My\nTree"))
    assert len(text.splitlines()) == 2 + len(view.nodes)
    assert text.startswith("My\\nTree: ")
    assert text.replace("\n", "").isprintable()


@given(st.text(max_size=40), st.integers(0, 30))
def test_shorten_never_exceeds_and_keeps_short_texts(text, columns):
    short = shorten(text, columns)
    assert width(short) <= columns
    if width(text) <= columns:
        assert short == text


def test_east_asian_letters_are_padded_by_width():
    assert width(pad("名前", 7)) == 7


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0%"), (1e-9, "<1%"), (0.005, "<1%"), (0.5, "50%"), (0.999999, ">99%"), (1.0, "100%")]
)
def test_shares_are_never_rounded_to_nothing_or_all(share, text):
    assert show_share(share) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0.0, "0"), (2.5, "2.5"), (0.333333, "0.333"), (1234.5, "1,234"), (1e7, "10,000,000")]
)
def test_counts(count, text):
    assert show_count(count) == text


def test_a_leaf_that_all_prunings_answer_for():
    view = trees.sets()
    result = details(view, view.leaves()[0])
    assert result[0].startswith("answers ")
    assert result[0].endswith(" (82%), by all prunings")
    assert len(result) == 2
