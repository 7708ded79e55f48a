"""Learners as they are written on the command line: ``confidence:c=0.02,leaf=majority``, ``river:tree...``."""

from __future__ import annotations

import difflib
import importlib
import inspect
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quercus.streams import Stream

_WORDS = {"true": True, "false": False, "none": None, "null": None}
_RIVER = "river:"


def make_learner(text: str, settings: Iterable[str] = (), seed: int | None = None) -> Any:
    """Return the learner that a user has written."""
    prefix = _RIVER if text.startswith(_RIVER) else ""
    name, _, inline = text.removeprefix(prefix).partition(":")
    kind = _river_class(name) if prefix else _our_class(name)
    values = dict(read_setting(setting) for setting in [*split_settings(inline), *settings])
    takes = [
        name
        for name, p in inspect.signature(kind).parameters.items()
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    check_names(kind.__name__, values, takes)
    if seed is not None and "seed" in takes:
        values.setdefault("seed", seed)
    try:
        learner = kind(**values)
    except TypeError as error:
        raise ValueError(f"{text!r} cannot be made: {error}.") from error
    if not prefix:
        learner._check_arguments()
    return learner


def parse_value(text: str) -> Any:
    """Return a value as it is meant: a number, true, false, none, JSON in braces, brackets or quotes, or text."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if text[:1] in ("{", "[", '"'):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f'{text} is not JSON ({error}); write it as \'{{"yes": {{"no": 5}}}}\'.') from None
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def split_settings(text: str) -> list[str]:
    """Cut settings at commas, but not within braces, brackets and quotes."""
    parts = [""]
    depth, quoted = 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in "{[") - (letter in "}]")
        if letter == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]


def adopt_labels(learner: Any, stream: Stream) -> Any:
    """Give the loss table of a learner the labels of the stream, which JSON writes as text; return the table."""
    loss = getattr(learner, "loss", None) if hasattr(learner, "test_then_learn") else None
    if not isinstance(loss, Mapping):
        return None
    _, y = next(stream.chunks(1))
    first = y.tolist()[0]
    table = {
        _as_label(truth, first): {_as_label(answer, first): cost for answer, cost in row.items()}
        for truth, row in loss.items()
    }
    learner.set_params(loss=table)
    return table


def _as_label(text: str, first: Any) -> Any:
    label = text if isinstance(first, str) else parse_value(text)
    if isinstance(first, float) and isinstance(label, int) and not isinstance(label, bool):
        label = float(label)
    if type(label) is not type(first):
        raise ValueError(
            f"loss names the label {text!r}, but the labels of this stream are of another kind: {first!r}."
        )
    return label


def read_setting(setting: str) -> tuple[str, Any]:
    """Return name and value of a setting."""
    key, equals, value = setting.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"{setting!r} is no setting; write key=value, such as grace_period=200.")
    return key.strip(), parse_value(value)


def check_names(owner: str, values: Iterable[str], takes: list[str]) -> None:
    """Refuse settings that there are not, with the nearest that there is."""
    for key in values:
        if key not in takes:
            near = [name for name in takes if name.startswith(key)] or difflib.get_close_matches(key, takes, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{owner} has no parameter {key!r}; it takes {', '.join(takes)}.{hint}")


def _our_class(name: str) -> Any:
    from quercus.registry import find_learner

    try:
        return find_learner(name)
    except ValueError as error:
        raise ValueError(f"{error} 'river:tree.HoeffdingTreeClassifier' takes one of river.") from None


def _river_class(name: str) -> Any:
    """Return a classifier of river; a name without a module is one of river.tree."""
    try:
        from river import base
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("river is not installed; pip install 'quercus[river]'.") from error
    module_name, _, class_name = name.rpartition(".")
    module_name = module_name or "tree"
    try:
        module: Any = importlib.import_module(f"river.{module_name}")
    except ModuleNotFoundError:
        raise ValueError(f"river has no module {module_name!r}; write river:tree.HoeffdingTreeClassifier.") from None
    classifiers = [
        key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, base.Classifier)
    ]
    if class_name not in classifiers:
        raise ValueError(f"river.{module_name} has no classifier {class_name!r}; it has {', '.join(classifiers)}.")
    return getattr(module, class_name)
