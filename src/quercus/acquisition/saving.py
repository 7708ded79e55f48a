"""A case as plain JSON, and back: its seed, its steps, and the question that is open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from quercus.acquisition.engine import can_buy, check_feature, read_value
from quercus.acquisition.history import KINDS, CaseHistory, Label, Quote, Step
from quercus.acquisition.layout import REFER, STOPS, Refer
from quercus.schema.columns import plain
from quercus.schema.refusals import short
from quercus.store import ModelFileError

if TYPE_CHECKING:
    from quercus.acquisition.buyer import FeatureBuyer
    from quercus.ledger import Ledger

FORMAT = 1
# Seeds and counts stay below this, so that any reader of JSON keeps them exactly.
MOST = 2**53 - 1
_REMEDY = "give what case.to_dict() returned, unchanged"


class Ending(NamedTuple):
    """What a case had come to when it was closed, or would have.

    ``next`` is what it would have asked next and at which price, ``label`` what was learned, None if nothing was.

    Examples
    --------
    >>> Ending("ill", {"ill": 0.97, "well": 0.03}, "confident", None, "ill").stopped
    'confident'
    """

    prediction: Label | Refer | None
    probabilities: Mapping[Label, float]
    stopped: str | None
    next: tuple[str, float] | None
    label: Label | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCase:
    """All that makes a case.

    Parameters
    ----------
    number, seed
        Which case of the model it is, and the seed of its randomness.
    explore, budget
        As it was opened.
    history
        Its steps.
    asking
        The question that was read and is not answered.
    ending
        How it was closed, None if it is open.
    rows
        Ids of its questions in a ledger, by item; None if it keeps none.

    Examples
    --------
    >>> SavedCase(number=1, seed=7, explore=True, budget=None, history=CaseHistory()).seed
    7
    """

    number: int
    seed: int
    explore: bool
    budget: float | None
    history: CaseHistory
    asking: Quote | None = None
    ending: Ending | None = None
    rows: Mapping[str, int] | None = None


def write_case(
    saved: SavedCase, asking: Quote | None, ending: Ending | None, rows: Mapping[str, int] | None
) -> dict[str, Any]:
    """Return a case as plain JSON.

    Parameters
    ----------
    saved
        How it was opened, and its steps.
    asking, ending, rows
        As they are now; see `SavedCase`.

    Examples
    --------
    >>> saved = SavedCase(number=1, seed=7, explore=True, budget=None, history=CaseHistory())
    >>> write_case(saved, None, None, None)["seed"]
    7
    """
    return {
        "quercus_case": FORMAT,
        "number": saved.number,
        "seed": saved.seed,
        "explore": saved.explore,
        "budget": saved.budget,
        "steps": [step.to_dict() for step in saved.history.steps],
        "asking": None if asking is None else _write_asking(asking),
        "ledger": None if rows is None else dict(rows),
        "closed": None if ending is None else _write_ending(ending),
    }


def _write_asking(asking: Quote) -> dict[str, Any]:
    worth = None if math.isnan(asking.worth) else asking.worth
    return {"item": asking.item, "price": asking.price, "worth": worth}


def _write_ending(ending: Ending) -> dict[str, Any]:
    referred = ending.prediction is REFER
    return {
        "prediction": None if referred else ending.prediction,
        "referred": referred,
        "probabilities": [[label, share] for label, share in ending.probabilities.items()],
        "stopped": ending.stopped,
        "next": None if ending.next is None else list(ending.next),
        "label": ending.label,
    }


def read_case(state: Any) -> SavedCase:
    """Return what `write_case` wrote, or refuse what is damaged.

    Parameters
    ----------
    state
        What a user gave.

    Examples
    --------
    >>> read_case({"quercus_case": 1, "number": 1, "seed": "7"})
    Traceback (most recent call last):
        ...
    ValueError: this is no saved case: seed is '7'; give what case.to_dict() returned, unchanged.
    """
    part = read_part(state, "it")
    version = part.get("quercus_case")
    if type(version) is int and version > FORMAT:
        raise ValueError(
            f"this case is written by format {version}; this quercus reads up to {FORMAT}; upgrade quercus."
        )
    if version != FORMAT:
        refuse_state("quercus_case", version)
    number, seed = (read_whole(part.get(name), name, MOST) for name in ("number", "seed"))
    if type(part.get("explore")) is not bool:
        refuse_state("explore", part.get("explore"))
    steps = part.get("steps")
    if not isinstance(steps, list) or not steps:
        refuse_state("steps", steps)
    history = CaseHistory()
    for place, step in enumerate(steps):
        read = read_step(step, f"steps[{place}]")
        if (read.kind == "known") != (place == 0):
            refuse_state(f"steps[{place}].kind", read.kind)
        try:
            history.take(read)
        except ValueError as error:
            raise ValueError(f"this is no saved case: in steps[{place}] {error}") from None
    return SavedCase(
        number=number,
        seed=seed,
        explore=part["explore"],
        budget=None if part.get("budget") is None else read_price(part["budget"], "budget"),
        history=history,
        asking=_read_asking(part.get("asking")),
        ending=_read_ending(part.get("closed")),
        rows=_read_rows(part.get("ledger"), history),
    )


def check_saved(buyer: FeatureBuyer, saved: SavedCase, ledger: Ledger | None) -> None:
    """Raise ValueError unless a case may go on with this model and this ledger.

    Parameters
    ----------
    buyer
        The model.
    saved
        The case.
    ledger
        That with which it was opened, or None.
    """
    if saved.rows is not None and ledger is None:
        raise ValueError("this case notes its purchases in a ledger; give it: resume(state, ledger=...).")
    if saved.rows is None and ledger is not None and saved.history.bought:
        raise ValueError("this case has bought without a ledger, which would miss that; resume it without one.")
    for item, row in (saved.rows or {}).items():
        if ledger is not None and ledger.question(row).question != item:
            raise ValueError(f"the ledger's question {row} is not for {item!r}; give the ledger of this case.")
    for name, value in saved.history.values.items():
        read_value(buyer, name, value)
    for name in (*saved.history.waiting, *saved.history.refused):
        check_feature(buyer, name)
    asking = saved.asking
    if asking is not None and not can_buy(buyer, saved.history, asking.item):
        raise ValueError(f"this case asks for {asking.item!r}, which it cannot buy here; resume it with its own model.")


def read_spending(state: Any) -> tuple[float, int, int | None]:
    """Return what a saved model has spent, how many cases it has opened, and the seed of these if it had none.

    Parameters
    ----------
    state
        What its file holds.

    Examples
    --------
    >>> read_spending({"spent": 20.0, "opened": 3, "entropy": None})
    (20.0, 3, None)
    """
    if not isinstance(state, dict) or set(state) != {"spent", "opened", "entropy"}:
        raise ModelFileError("what it has spent is missing.")
    spent, opened, entropy = state["spent"], state["opened"], state["entropy"]
    is_sound = type(spent) is float and 0 <= spent < math.inf and type(opened) is int and 0 <= opened <= MOST
    if not is_sound or not (entropy is None or (type(entropy) is int and entropy >= 0)):
        raise ModelFileError("what it has spent makes no sense.")
    return spent, opened, entropy


def _read_asking(state: Any) -> Quote | None:
    if state is None:
        return None
    part = read_part(state, "asking")
    item, worth = part.get("item"), read_number(part.get("worth"), "asking.worth")
    if not isinstance(item, str):
        refuse_state("asking.item", item)
    return Quote(item, read_price(part.get("price"), "asking.price"), math.nan if worth is None else worth)


def _read_ending(state: Any) -> Ending | None:
    if state is None:
        return None
    part = read_part(state, "closed")
    shares, coming, stopped = part.get("probabilities"), part.get("next"), part.get("stopped")
    if not isinstance(shares, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in shares):
        refuse_state("closed.probabilities", shares)
    if stopped is not None and stopped not in STOPS:
        refuse_state("closed.stopped", stopped)
    if coming is not None and not (isinstance(coming, list) and len(coming) == 2 and isinstance(coming[0], str)):
        refuse_state("closed.next", coming)
    where = "closed.probabilities"
    return Ending(
        prediction=REFER if part.get("referred") is True else read_scalar(part.get("prediction"), "closed.prediction"),
        probabilities={read_scalar(label, where, optional=False): read_price(share, where) for label, share in shares},
        stopped=stopped,
        next=None if coming is None else (coming[0], read_price(coming[1], "closed.next")),
        label=read_scalar(part.get("label"), "closed.label"),
    )


def _read_rows(state: Any, history: CaseHistory) -> dict[str, int] | None:
    if state is None:
        return None
    part = read_part(state, "ledger")
    if set(part) != set(history.bought):
        refuse_state("ledger", dict(part))
    return {item: read_whole(row, f"ledger[{item!r}]", MOST) for item, row in part.items()}


def read_step(state: Any, where: str) -> Step:
    """Return the step that `Step.to_dict` described.

    Parameters
    ----------
    state
        What it returned, perhaps damaged.
    where
        Which step it is, for messages.

    Examples
    --------
    >>> read_step({"kind": "refused", "item": "mri"}, "steps[1]").features
    ('mri',)
    >>> read_step({"kind": "lost"}, "steps[1]")
    Traceback (most recent call last):
        ...
    ValueError: this is no saved case: steps[1].kind is 'lost'; give what case.to_dict() returned, unchanged.
    """
    part = read_part(state, where)
    kind = part.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        refuse_state(f"{where}.kind", kind)
    item = part.get("item")
    if (kind in ("bought", "refused")) != isinstance(item, str):
        refuse_state(f"{where}.item", item)
    features = part.get("features", [] if item is None else [item])
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        refuse_state(f"{where}.features", features)
    if bool(features) != isinstance(item, str) or len(set(features)) < len(features):
        refuse_state(f"{where}.features", features)
    results = read_part(part.get("results", {}), f"{where}.results")
    for name, value in results.items():
        read_scalar(value, f"{where}.results[{name!r}]", optional=kind != "known")
    label = read_scalar(part.get("prediction"), f"{where}.prediction")
    return Step(
        kind=kind,  # type: ignore[arg-type]
        item=item,
        price=read_price(part.get("price", 0.0), f"{where}.price"),
        worth=read_number(part.get("worth"), f"{where}.worth"),
        features=tuple(features),
        results=dict(results),
        prediction=label,
        probability=read_number(part.get("probability"), f"{where}.probability"),
    )


def read_part(state: Any, where: str) -> Mapping[str, Any]:
    """Return a table of a saved case, or refuse what is none.

    Examples
    --------
    >>> read_part({"kind": "came"}, "steps[1]")
    {'kind': 'came'}
    """
    if not isinstance(state, Mapping) or not all(isinstance(key, str) for key in state):
        refuse_state(where, state)
    return state


def read_scalar(value: Any, where: str, optional: bool = True) -> Any:
    """Return a value or label of a saved case: a finite number, a bool, text, or None.

    Examples
    --------
    >>> read_scalar("ill", "final.prediction")
    'ill'
    """
    is_plain = value is None or type(value) in (str, bool, int, float)
    if not is_plain or (value is None and not optional) or (type(value) is float and not math.isfinite(value)):
        refuse_state(where, value)
    return plain(value)


def read_number(value: Any, where: str) -> float | None:
    """Return a finite number of a saved case, or None.

    Examples
    --------
    >>> read_number(1, "steps[1].worth"), read_number(None, "steps[1].worth")
    (1.0, None)
    """
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value):
        refuse_state(where, value)
    return float(value)


def read_price(value: Any, where: str) -> float:
    """Return a price of a saved case.

    Examples
    --------
    >>> read_price(20, "steps[1].price")
    20.0
    """
    price = read_number(value, where)
    if price is None or price < 0:
        refuse_state(where, value)
    return price


def read_whole(value: Any, where: str, most: int) -> int:
    """Return a whole number of a saved case, from 0 up to the most.

    Examples
    --------
    >>> read_whole(7, "seed", 2**53)
    7
    """
    if type(value) is not int or not 0 <= value <= most:
        refuse_state(where, value)
    return value


def refuse_state(where: str, value: Any) -> NoReturn:
    """Raise the error for a part of a saved case that makes no sense.

    Examples
    --------
    >>> refuse_state("seed", -1)
    Traceback (most recent call last):
        ...
    ValueError: this is no saved case: seed is -1; give what case.to_dict() returned, unchanged.
    """
    raise ValueError(f"this is no saved case: {where} is {short(value)}; {_REMEDY}.")
