"""A case as plain JSON, and back: its seed, its steps, and the question that is open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from quercus.acquisition.layout import REFER, STOPS, Refer
from quercus.acquisition.notes import Notes, Offer
from quercus.acquisition.steps import (
    Label,
    read_number,
    read_part,
    read_price,
    read_scalar,
    read_step,
    read_whole,
    refuse_state,
)

FORMAT = 1
# Seeds and counts stay below this, so that any reader of JSON keeps them exactly.
MOST = 2**53 - 1


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
class Saved:
    """All that makes a case.

    Parameters
    ----------
    number, seed
        Which case of the model it is, and the seed of its randomness.
    explore, budget
        As it was opened.
    notes
        Its steps.
    asking
        The question that was read and is not answered.
    ending
        How it was closed, None if it is open.
    rows
        Ids of its questions in a ledger, by item; None if it keeps none.

    Examples
    --------
    >>> Saved(number=1, seed=7, explore=True, budget=None, notes=Notes()).seed
    7
    """

    number: int
    seed: int
    explore: bool
    budget: float | None
    notes: Notes
    asking: Offer | None = None
    ending: Ending | None = None
    rows: Mapping[str, int] | None = None


def write_case(
    saved: Saved, asking: Offer | None, ending: Ending | None, rows: Mapping[str, int] | None
) -> dict[str, Any]:
    """Return a case as plain JSON.

    Parameters
    ----------
    saved
        How it was opened, and its steps.
    asking, ending, rows
        As they are now; see `Saved`.

    Examples
    --------
    >>> write_case(Saved(number=1, seed=7, explore=True, budget=None, notes=Notes()), None, None, None)["seed"]
    7
    """
    return {
        "quercus_case": FORMAT,
        "number": saved.number,
        "seed": saved.seed,
        "explore": saved.explore,
        "budget": saved.budget,
        "steps": [step.to_dict() for step in saved.notes.steps],
        "asking": None if asking is None else _write_asking(asking),
        "ledger": None if rows is None else dict(rows),
        "closed": None if ending is None else _write_ending(ending),
    }


def _write_asking(asking: Offer) -> dict[str, Any]:
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


def read_case(state: Any) -> Saved:
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
    notes = Notes()
    for place, step in enumerate(steps):
        read = read_step(step, f"steps[{place}]")
        if (read.kind == "known") != (place == 0):
            refuse_state(f"steps[{place}].kind", read.kind)
        try:
            notes.take(read)
        except ValueError as error:
            raise ValueError(f"this is no saved case: in steps[{place}] {error}") from None
    return Saved(
        number=number,
        seed=seed,
        explore=part["explore"],
        budget=None if part.get("budget") is None else read_price(part["budget"], "budget"),
        notes=notes,
        asking=_read_asking(part.get("asking")),
        ending=_read_ending(part.get("closed")),
        rows=_read_rows(part.get("ledger"), notes),
    )


def _read_asking(state: Any) -> Offer | None:
    if state is None:
        return None
    part = read_part(state, "asking")
    item, worth = part.get("item"), read_number(part.get("worth"), "asking.worth")
    if not isinstance(item, str):
        refuse_state("asking.item", item)
    return Offer(item, read_price(part.get("price"), "asking.price"), math.nan if worth is None else worth)


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


def _read_rows(state: Any, notes: Notes) -> dict[str, int] | None:
    if state is None:
        return None
    part = read_part(state, "ledger")
    if set(part) != set(notes.bought):
        refuse_state("ledger", dict(part))
    return {item: read_whole(row, f"ledger[{item!r}]", MOST) for item, row in part.items()}
