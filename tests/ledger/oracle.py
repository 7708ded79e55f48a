"""A ledger as a list of dicts: what `Question` shows of each question, changed in the most obvious way."""

from __future__ import annotations

import math
from fractions import Fraction

KNOWN_LATER = {"status": "open", "answered_at": None, "answer": None, "answer_order": None, "refunded": False}


class NaiveLedger:
    def __init__(self):
        self.questions = []
        self.arrivals = []
        self.state = b""

    def ask(self, features, state=b"", **given):
        kept = {name: keep(value) for name, value in features.items()}
        question = {"id": len(self.questions) + 1, **given, **KNOWN_LATER, "changed": None, "features": kept}
        self.questions.append({name: none_if_nan(value) for name, value in question.items()})
        self.state = state or self.state
        return len(self.questions)

    def get(self, id):
        return self.questions[id - 1]

    def answer(self, id, label, time, state=b""):
        self.arrivals.append((id, label, len(self.arrivals) + 1))
        order = len(self.arrivals)
        self.get(id).update(status="answered", answer=label, answered_at=time, answer_order=order)
        self.state = state or self.state

    def expire(self, id, refund):
        self.get(id).update(status="expired", refunded=refund)

    def due(self, before):
        return [q["id"] for q in self.having("open") if q["expires"] is not None and q["expires"] <= before]

    def having(self, status):
        return [q for q in self.questions if q["status"] == status]

    @property
    def spent(self):
        return float(sum(Fraction(q["price"]) for q in self.questions if not q["refunded"]))

    @property
    def label_type(self):
        labels = [q[name] for q in self.questions for name in ("prediction", "answer") if q[name] is not None]
        return type(labels[0]) if labels else None


def keep(value):
    """Numbers are floats, NaN is None, bools and text stay."""
    if isinstance(value, bool | str) or value is None:
        return value
    return none_if_nan(float(value))


def none_if_nan(value):
    return None if isinstance(value, float) and math.isnan(value) else value
