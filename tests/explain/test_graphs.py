"""The tree in graph languages."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.explain import Leaf, Node, Test, TreeView, to_dot, to_mermaid
from tests.explain import trees

QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def stump(name: str, category: str, label: str) -> TreeView:
    leaf = Leaf("majority", True, (0.2, 0.9), False, 10.0)
    nodes = (
        Node(0, -1, None, 0, Test(name, "==", category), True, (3.0,), label, 0.1, None),
        Node(1, 0, "left", 1, None, True, (1.0,), label, 0.0, leaf),
        Node(2, 0, "right", 1, None, True, (2.0,), label, 0.0, leaf),
    )
    return TreeView("ConfidenceTree", (label,), (name,), nodes, 3)


@pytest.mark.parametrize("name", trees.ALL)
def test_every_node_and_edge_is_there(name):
    view = trees.ALL[name]()
    dot, mermaid = to_dot(view), to_mermaid(view, max_nodes=None)
    assert len(re.findall(r"^  n\d+ \[label=", dot, re.M)) == len(view.nodes)
    assert len(re.findall(r"^  n\d+ -> n\d+ ", dot, re.M)) == len(view.nodes) - 1
    assert len(re.findall(r"^  n\d+[\[(]", mermaid, re.M)) == len(view.nodes)
    assert len(re.findall(r"^  n\d+ -->\|", mermaid, re.M)) == len(view.nodes) - 1


@given(st.text(max_size=12), st.text(max_size=12), st.text(min_size=1, max_size=12))
@settings(deadline=None)
def test_no_text_escapes_from_its_quotes_in_dot(name, category, label):
    for line in to_dot(stump(name, category, label)).splitlines():
        left = QUOTED.sub("", line)
        assert '"' not in left
        assert re.fullmatch(r"[\w\s{}\[\]=,;.>-]*", left)


@given(st.text(max_size=12), st.text(max_size=12), st.text(min_size=1, max_size=12))
@settings(deadline=None)
def test_no_text_escapes_from_its_quotes_in_mermaid(name, category, label):
    view = stump(name, category, label)
    lines = to_mermaid(view).splitlines()
    assert len(lines) == 1 + 3 + 2 + 2
    for line in lines[1:4]:
        text = re.fullmatch(r'  n\d(?:\[|\(\[)"([^"]*)"(?:\]|\]\))', line).group(1)
        rest = re.sub(r"#\d+;|<br/>", "", text)
        assert not set(rest) & set('"#;<>&|[]{}`*\\:!-\n')


def test_mermaid_numbers_read_back_as_the_name():
    text = to_mermaid(stump('a"b|c<d>\n', "[x]", "y"))
    label = re.search(r'n0\["(.*?)<br/>', text).group(1)
    assert unescape(re.sub(r"#(\d+);", r"&#\1;", label)).replace("\u200b", "") == "a\"b|c<d>\\n == '[x]'"


def test_mermaid_source_stays_readable():
    assert "  n1[\"job == 'clerk'<br/>100 labels#58; 'yes' 80 (80%), 'no' 20 (20%)\"]" in to_mermaid(
        trees.three_leaves()
    )


def test_mermaid_never_starts_a_list_or_emphasis():
    text = to_mermaid(stump("1. first", "__b__", "* c"))
    assert "1#46; first" in text
    assert "#95;#95;b#95;#95;" in text
    assert "previous_contacts" in to_mermaid(trees.many_leaves())


def test_mermaid_stays_below_its_own_limit_unless_asked():
    text = to_mermaid(trees.many_leaves())
    assert text.count("-->") == 126
    assert "hides " in text


def test_missing_branch_and_thickness_in_dot():
    dot = to_dot(trees.three_leaves())
    assert 'n0 -> n1 [label="  yes ?", penwidth=5.47];' in dot
    assert 'n0 -> n2 [label="  no", penwidth=3.13];' in dot
    assert 'n1 -> n4 [label="  no ?"' in dot


def test_limits_are_passed_on():
    assert to_dot(trees.three_leaves(), max_depth=1).count("hides 2 leaves") == 1
    assert to_mermaid(trees.three_leaves(), max_depth=0).count("\n") == 1


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ["one leaf", "three leaves", "many classes", "hostile", "nothing learned"])
def test_graphviz_draws_it_with_the_names_as_they_are(name):
    view = trees.ALL[name]()
    source = to_dot(view)
    done = subprocess.run(["dot", "-Tsvg"], input=source, capture_output=True, text=True, encoding="utf-8", check=True)
    assert done.stderr == ""
    assert done.stdout.count('class="node"') == len(view.nodes)
    shown = unescape(done.stdout).replace("\u00a0", " ")
    for node in view.nodes:
        if node.test is not None:
            assert node.test.text() in shown
