"""How arrays are called by the code before a change and after it; what is not named has kept its name."""

from __future__ import annotations

import re
from typing import NamedTuple


class Retyped(NamedTuple):
    """A column of another name or type, whose numbers are still the same."""

    name: str
    reason: str


class Dropped(NamedTuple):
    """A column that is no more."""

    reason: str


class Added(NamedTuple):
    """A column that was not there before."""

    reason: str


Field = str | Retyped | Dropped
# By learner ("*": every one), from a column before, a regular expression, to the one after it, with its groups as \\1,
# \\2, ...; a column of records is called as in "nodes.left". The first that fits counts, those of the learner before
# those of every one.
FIELDS: dict[str, dict[str, Field]] = {
    "*": {
        r"(.*(?:features|options))\.cells": r"\1.bins",
        r"(.*(?:leaves|regions))\.looks": r"\1.evaluations",
        r"(.*\b)watches(\..*)?": r"\1monitors\2",
        r"(.*\b)watching(\..*)?": r"\1trials\2",
    },
    "FrozenTree": {r"leaves\.(buffer|filled)": Dropped("pointed at buffers that a frozen tree has not")},
    "UtilityTree": {r"features\.room": "features.capacity"},
    "ReinforcedTree": {
        r"options\.situations": "options.states",
        r"options\.questions": "options.actions",
        r"options\.results": "options.transitions",
        r"options\.signs": "options.results",
        r"features\.sign": "features.first",
        r"features\.signs": "features.results",
        r"features\.tallied": "features.counted",
        r"situations\.(.*)": r"states.\1",
        r"questions\.situation": "actions.state",
        r"questions\.(.*)": r"actions.\1",
        r"results\.situation": "transitions.state",
        r"results\.question": "transitions.action",
        r"results\.(.*)": r"transitions.\1",
        r"signs\.(.*)": r"results.\1",
        "tallies": "counts",
        "watch": "monitor",
    },
}
ADDED: dict[str, dict[str, Added]] = {"*": {}}
_ADDITIVE = "sums|columns|limits|kept|kept_rows|table|visits|totals"
_ANEW = Dropped("a tree that is growing is made anew from its rows")
# Fields of an evergreen tree's records: the record in files of the first format, today, and the field then and now.
_EVERGREEN: dict[str, Field] = {}
for _first, _record, _old, _new in (
    ("nodes", "tree/nodes", "odds", "stop_odds"),
    ("", "candidate/nodes", "odds", "stop_odds"),
    ("options", "options", "due", "next_rebuild"),
    ("options", "options", "stretch", "growth_factor"),
    ("columns", "additive/columns", "limits", "edges"),
    ("columns", "additive/columns", "room", "capacity"),
    ("sums", "additive/sums", "told_weight", "trees_weight"),
    ("sums", "additive/sums", "told_square", "trees_accumulator"),
    ("sums", "additive/sums", "told_loss", "trees_loss"),
    ("sums", "additive/sums", "sum_square", "sum_accumulator"),
):
    if _first:
        _EVERGREEN[rf"{_first}\.{_old}"] = f"{_record}.{_new}"
        _EVERGREEN[rf"{_first}_(\d+)\.{_old}"] = rf"trees/\1/{_record}.{_new}"
    _EVERGREEN[rf"(.*{_record})\.{_old}"] = rf"\1.{_new}"
FIELDS["EvergreenTree"] = FIELDS["FrozenEvergreen"] = {
    **_EVERGREEN,
    r"((?:nodes|counts|recent|sets)(?:\..*)?)": r"tree/\1",
    rf"((?:{_ADDITIVE})(?:\..*)?)": r"additive/\1",
    r"growth\.(.*)": r"growth/growth.\1",
    r"(?:new_.*|places|stack\..*|live|hists|slots|spans\..*|shares)": _ANEW,
}
FIELDS["EvergreenForest"] = {
    **_EVERGREEN,
    r"((?:nodes|counts|recent|sets))_(\d+)((?:\..*)?)": r"trees/\2/tree/\1\3",
    r"growth_(\d+)\.(.*)": r"trees/\1/growth/growth.\2",
    r"(?:new_.*|(?:places|stack|live|hists|slots|spans|shares)_\d+(?:\..*)?)": _ANEW,
    r"(.+)_(\d+)((?:\..*)?)": r"trees/\2/\1\3",
    rf"((?:{_ADDITIVE})(?:\..*)?)": r"additive/\1",
}
_PLACES = Added("how many rows are sampled, as many as ever where there is room")
_CANDIDATE = Added("a tree that has grown and catches up, once called new")
ADDED["FrozenTree"] = {
    r"leaves\.(buffer|filled)": Added("tells that there are no buffers, so that files can be loaded")
}
ADDED["EvergreenTree"] = ADDED["FrozenEvergreen"] = {"options.places": _PLACES, "candidate/.*": _CANDIDATE}
ADDED["EvergreenForest"] = {
    r"trees/\d+/options\.places": _PLACES,
    r"trees/\d+/candidate/.*": _CANDIDATE,
    r"trees/\d+/additive/.*": Added("what single features tell beside one tree: nothing"),
}


def find_field(learner: str, old: str, fields: dict[str, dict[str, Field]]) -> Field:
    """Return where a column is now; of learners inside of "Renewing(EvergreenTree)" by the name of the inner one."""
    inner = re.fullmatch(r"Renewing\((\w+)\)/(main|background)\.(.*)", f"{learner}/{old}")
    if inner is not None:
        field = find_field(inner[1], inner[3], fields)
        return f"{inner[2]}.{field}" if isinstance(field, str) else field
    for pattern, field in [*fields.get(learner, {}).items(), *fields.get("*", {}).items()]:
        match = re.fullmatch(pattern, old)
        if match is None:
            continue
        if isinstance(field, str):
            return match.expand(field)
        return field._replace(name=match.expand(field.name)) if isinstance(field, Retyped) else field
    return old


def is_added(learner: str, new: str, added: dict[str, dict[str, Added]]) -> bool:
    """Tell whether a column was declared as new."""
    inner = re.fullmatch(r"Renewing\((\w+)\)/(?:main|background)\.(.*)", f"{learner}/{new}")
    if inner is not None:
        return is_added(inner[1], inner[2], added)
    return any(re.fullmatch(pattern, new) for name in (learner, "*") for pattern in added.get(name, {}))
