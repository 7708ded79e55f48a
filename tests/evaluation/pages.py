"""What a report holds: its tags, its tables and its charts, read as a browser would."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from typing import Any

import pytest
import vl_convert

VOID = {"meta", "br", "input"}
_SCRIPT = re.compile(r"<script(?P<kind>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)


class Checker(HTMLParser):
    """Holds a page against its own tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "action", "onload", "onclick")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag


def check_page(text: str) -> list[dict[str, Any]]:
    """Check that a page is well formed and needs nothing else; return its charts, each understood by Vega-Lite."""
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    assert checker.links == []
    assert not {"link", "img", "iframe", "object"} & set(checker.tags)
    plain = _SCRIPT.sub("", text)
    assert not re.search(r"https?://(?!www\.w3\.org/(2000/svg|1999/xlink))|@import|url\((?!#)", plain)
    scripts = list(_SCRIPT.finditer(text))
    specs = [json.loads(one["text"]) for one in scripts if "application/json" in one["kind"]]
    assert all(one["kind"] == "" or "application/json" in one["kind"] for one in scripts)
    for spec in specs:
        assert "http" not in json.dumps({name: value for name, value in spec.items() if name != "datasets"})
        vl_convert.vegalite_to_vega(spec)
    return specs


def remove(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """Let a library be one that is not installed, also for our modules that have imported it."""
    for name in ("extras", "canvas", "charts", "frontier_charts", "sections", "report"):
        monkeypatch.delitem(sys.modules, f"quercus.evaluation.{name}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)


def names_of(spec: dict[str, Any]) -> list[str]:
    """Return the names in the legend of a chart of lines."""
    found = [layer["encoding"]["color"].get("scale", {}).get("domain") for layer in spec["layer"] if "color" in
             layer["encoding"]]  # fmt: skip
    return next((names for names in found if names), [])


def rows_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the data of a chart."""
    return [row for rows in spec["datasets"].values() for row in rows] if "datasets" in spec else spec["data"]["values"]
