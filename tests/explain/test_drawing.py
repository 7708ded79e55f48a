"""The drawn tree: layout, SVG and HTML."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quercus.explain import to_html, to_svg, to_text
from quercus.explain.captions import GREY, PALETTE, colours
from quercus.explain.layout import spread
from quercus.explain.nodes import Test
from tests.explain import trees

SVG = "{http://www.w3.org/2000/svg}"
WHOLE = {"max_depth": None, "max_nodes": None}


def boxes(root):
    return [group for group in root.iter(f"{SVG}g") if group.find(f"{SVG}title") is not None]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@given(st.integers(1, 80), st.integers(0, 10**6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_layout_is_tidy(leaves, seed, chain):
    view = trees.grow(leaves, ("a", "b"), trees.plain_test, seed, chain)
    place = dict(zip([node.id for node in view.nodes], spread(view.nodes), strict=True))
    by_depth = {}
    for node in view.nodes:
        by_depth.setdefault(node.depth, []).append(place[node.id])
        for children in filter(None, [view.children(node)]):
            left, right = (place[child.id] for child in children)
            assert left < right
            assert place[node.id] == pytest.approx((left + right) / 2)
    for row in by_depth.values():
        assert all(after - before >= 1 - 1e-9 for before, after in itertools.pairwise(row))
    assert min(place.values()) == 0


def test_layout_packs_subtrees_below_a_leaf():
    assert max(spread(trees.deep_chain(30).nodes)) < 17  # one row per leaf would take 30


@pytest.mark.parametrize("name", [name for name in trees.ALL if name != "deep chain"])
def test_svg_is_well_formed_and_whole(name):
    view = trees.ALL[name]()
    root = ET.fromstring(to_svg(view, **WHOLE))
    assert root.tag == f"{SVG}svg"
    assert len(boxes(root)) == len(view.nodes)
    assert len(list(root.iter(f"{SVG}path"))) == len(view.nodes) - 1


def test_deep_chain_is_drawn_without_recursion():
    view = trees.deep_chain(5000)
    assert to_svg(view, **WHOLE).count("<title>") == len(view.nodes)
    assert to_html(view, **WHOLE).count("<title>") == len(view.nodes)
    assert to_svg(view).count("<title>") == 11


def test_bars_show_the_shares():
    view = trees.three_leaves()
    root = ET.fromstring(to_svg(view))
    for node, group in zip(view.nodes, boxes(root), strict=True):
        bars = [(r.get("fill"), float(r.get("width"))) for r in group.iter(f"{SVG}rect") if r.get("height") == "9"]
        whole = bars[0][1]
        assert [hue for hue, _ in bars[1:]] == list(PALETTE[:2])
        assert [wide / whole for _, wide in bars[1:]] == pytest.approx(node.shares, abs=1e-3)


def test_edges_are_as_thick_as_their_share():
    root = ET.fromstring(to_svg(trees.three_leaves()))
    thick = [float(path.get("stroke-width")) for path in root.iter(f"{SVG}path")]
    assert [(wide - 1.2) / 11 for wide in thick] == pytest.approx([100 / 150, 50 / 150, 48 / 150, 52 / 150], abs=1e-3)


def test_each_split_marks_the_branch_of_missing_values():
    root = ET.fromstring(to_svg(trees.three_leaves()))
    words = [text.text for text in root.iter(f"{SVG}text") if text.text in {"?", "yes", "no"}]
    assert words == ["?", "?", "yes", "no", "yes", "?", "no"]  # the first one is in the legend
    assert len(list(ET.fromstring(to_svg(trees.one_leaf())).iter(f"{SVG}circle"))) == 0


def test_classes_beyond_the_palette_share_grey():
    view = trees.many_classes()
    hues = colours(view)
    coloured = [count for hue, count in zip(hues, view.root.counts, strict=True) if hue != GREY]
    grey = [count for hue, count in zip(hues, view.root.counts, strict=True) if hue == GREY]
    assert sorted(hue for hue in hues if hue != GREY) == sorted(PALETTE)
    assert min(coloured) >= max(grey)
    assert "15 others" in to_svg(view)
    assert "15 others" in to_html(view)


def test_hidden_leaves_are_told():
    drawn = to_svg(trees.many_leaves())
    assert "31 of 399 nodes shown" in drawn
    assert re.search(r"\+\d+ leaves<", drawn)
    assert "stroke-dasharray" in drawn
    assert "stroke-dasharray" not in to_svg(trees.three_leaves())


@pytest.mark.parametrize("name", trees.ALL)
@pytest.mark.parametrize("page", [False, True])
def test_html_is_balanced_and_needs_nothing_else(name, page):
    html = to_html(trees.ALL[name](), page=page)
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert "script" not in tags.seen
    assert {name for name, _ in tags.attributes}.isdisjoint({"src", "href", "onload", "onclick", "id"})
    assert "url(" not in html
    assert html.startswith("<!DOCTYPE html>") == page


def test_html_scrolls_in_its_own_box_and_takes_the_colours_around_it():
    html = to_html(trees.many_leaves())
    assert "overflow-x:auto" in html
    assert 'fill="currentColor"' in html
    assert "prefers-color-scheme" not in html
    assert "prefers-color-scheme" in to_html(trees.many_leaves(), page=True)
    assert "prefers-color-scheme" in to_svg(trees.many_leaves())


def test_html_has_a_drawing_for_narrow_places():
    view = trees.many_leaves()
    html = to_html(view)
    ET.fromstring(html)
    wide, narrow = (ET.fromstring(f"<svg{part.split('</svg>')[0]}</svg>") for part in html.split("<svg")[1:])
    assert [len(list(drawn.iter("{http://www.w3.org/2000/svg}title"))) for drawn in (wide, narrow)] == [31, 31]
    assert float(narrow.get("width")) <= 358 < float(wide.get("width"))
    shown, other = wide.get("class"), narrow.get("class")
    assert (wide.get("style")[:13], narrow.get("style")) == ("display:block", "display:none")
    assert re.search(rf"@container\(max-width:699px\){{\.{shown}{{.*\.{other}{{display:block!important}}}}", html)
    for group in boxes(narrow):
        box = group.find(f"{SVG}rect")
        assert float(box.get("x")) + float(box.get("width")) <= float(narrow.get("width"))
    tops = [float(group.find(f"{SVG}rect").get("y")) for group in boxes(narrow)]
    assert all(below - above > 60 for above, below in itertools.pairwise(tops))
    words = [text.text for text in narrow.iter(f"{SVG}text") if text.text in {"yes", "no"}]
    assert len(words) == 30  # none above the root


@pytest.mark.parametrize("view", [trees.one_leaf(), trees.deep_chain(500)])
def test_html_of_one_box_or_of_hundreds_has_one_drawing(view):
    assert to_html(view, **WHOLE).count("<svg") == 1


def test_features_and_answers_in_boxes_are_told_apart():
    names = [f"income of the year {year} before all taxes" for year in (2018, 2019)]
    labels = [f"complaint of the {where} department" for where in ("northern", "western")]
    view = trees.grow(8, tuple(labels), lambda node: Test(names[node % 2], "<=", 1234.5 + node), seed=1)
    for drawn in (to_svg(view, **WHOLE), to_html(view, **WHOLE)):
        bold = re.findall(r'font-weight="600">([^<?]{2,})</text>', drawn)
        assert any("2018" in text for text in bold)
        assert any("2019" in text for text in bold)
        assert not any("income…" in text or "inc…" in text for text in bold)
        assert {text for text in bold if "≤" not in text and "EvergreenTree" not in text} >= {"…northern…", "…western…"}


def test_classes_listed_beside_each_other_are_told_apart():
    labels = tuple(f"question about an invoice of the {where} department" for where in ("northern", "western"))
    view = trees.grow(4, labels, trees.plain_test, seed=1)
    for written in (to_text(view), to_svg(view)):
        assert "…northern…" in written
        assert "…western…" in written


def test_hostile_names_are_text():
    for drawn in (to_svg(trees.hostile()), to_html(trees.hostile())):
        assert "<script>" not in drawn
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in drawn
        ET.fromstring(drawn.replace("\u00a0", " "))


@given(st.text(max_size=20))
@settings(max_examples=50, deadline=None)
def test_any_label_gives_well_formed_svg(label):
    ET.fromstring(to_svg(trees.grow(2, (label, "other " + label), trees.plain_test)))
