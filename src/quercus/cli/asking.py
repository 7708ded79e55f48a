"""Label policies as they are written on the command line: ``confident:explore=0.2``, ``paper:split``."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quercus.cli.settings import check_names, parse_value, read_setting, split_settings

if TYPE_CHECKING:
    from quercus.ask import Policy

POLICIES = {
    "uncertain": "Uncertain",
    "confident": "Confident",
    "split-confident": "SplitConfident",
    "selective-sampling": "SelectiveSampling",
    "variable-uncertainty": "VariableUncertainty",
    "randomized-uncertainty": "RandomizedUncertainty",
    "split": "Split",
    "random": "Random",
    "always": "Always",
}
_PAPER = "paper:"


@dataclass(frozen=True)
class AskOptions:
    """The options of the command line that are about labels which cost something."""

    ask: str | None = None
    budget: str | None = None
    price: str | None = None
    delay: str | None = None

    def read(self, seed: int | None = None) -> dict[str, Any]:
        """Return the arguments of `evaluate`; nothing if labels are free and come at once."""
        found: dict[str, Any] = {}
        if self.ask is None:
            for name in ("budget", "price"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"--{name} is for labels that are asked for; say which with --ask, such as --ask uncertain."
                    )
        else:
            found["ask"] = make_policy(self.ask, self.budget, self.price, seed)
        delay = parse_delay(self.delay)
        return found | {"delay": delay, "delay_seed": seed or 0} if found or delay else {}


def make_policy(text: str, budget: str | None = None, price: str | None = None, seed: int | None = None) -> Policy:
    """Return the policy that a user has written."""
    published = text.startswith(_PAPER)
    name, _, inline = text.removeprefix(_PAPER).partition(":")
    kind = _find(name)
    values = dict(read_setting(setting) for setting in split_settings(inline))
    check_names(kind.__name__, values, [field.name for field in dataclasses.fields(kind)])
    for option, given in (("budget", budget), ("price", price)):
        if given is not None and option in values:
            raise ValueError(f"{text!r} and --{option} both say the {option}; leave one out.")
    if budget is not None:
        values["budget"] = parse_budget(budget)
    if price is not None:
        values["price"] = parse_value(price)
    if seed is not None:
        values.setdefault("seed", seed)
    if published and isinstance(values.get("budget"), int):
        raise ValueError(f"{text!r} takes a share of the stream, not a number of labels; write --budget 0.1.")
    try:
        policy: Policy = kind.paper(**values) if published else kind(**values)
        return policy
    except TypeError as error:
        raise ValueError(f"{text!r} cannot be made: {str(error).rstrip('.')}.") from error


def parse_budget(text: str) -> float | int:
    """Return a budget: a share of the stream as a fraction or in percent, or a whole number of labels."""
    number = parse_value(text.removesuffix("%"))
    if isinstance(number, bool) or not isinstance(number, int | float) or not number > 0:
        raise ValueError(f"--budget {text} is no budget; write a share such as 0.1 or 10%, or a number of labels.")
    if text.endswith("%"):
        return number / 100
    if number == 1 and isinstance(number, int):
        raise ValueError("--budget 1 may mean every label or one label; write 1.0 for every label.")
    return number


def parse_delay(text: str | None) -> int | tuple[int, int]:
    """Return a delay in rows: a number, or two for a range."""
    if text is None:
        return 0
    found = re.fullmatch(r"(\d+)(?:\s*-\s*(\d+))?", text.strip())
    if found is None:
        raise ValueError(f"--delay {text} is no delay; write a number of rows such as 500, or a range such as 10-500.")
    return int(found[1]) if found[2] is None else (int(found[1]), int(found[2]))


def split_policies(texts: Sequence[str]) -> list[str]:
    """Cut lists of policies at commas, but not where a setting follows."""
    found: list[str] = []
    for text in texts:
        for place, part in enumerate(text.split(",")):
            if place and "=" in part and ":" not in part.partition("=")[0]:
                found[-1] += f",{part}"
            elif part.strip():
                found.append(part.strip())
    return found


def _find(name: str) -> Any:
    from quercus import ask

    wanted = name.strip().lower().replace("_", "-")
    by_class = {value.lower(): key for key, value in POLICIES.items()}
    wanted = by_class.get(wanted, wanted)
    if wanted not in POLICIES:
        near = difflib.get_close_matches(wanted, POLICIES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no policy {name!r}; there are {', '.join(POLICIES)}.{hint}")
    return getattr(ask, POLICIES[wanted])
