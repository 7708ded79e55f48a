"""Frozen cases of the trees that grow by splitting leaves, and of the evergreen tree."""

from __future__ import annotations

from functools import partial
from typing import Any

import quercus as qc
from tests.frozen.case import Case, fitting, learning, one_by_one

ALL_CUTS, SOME_CUTS = ("usual", "whole", "ragged"), ("usual", "ragged")
# What a learner must be told about a stream.
NEEDS: dict[str, dict[str, Any]] = {
    "nominal": {"nominal": ["code"]},
    "late_column": {"features": "open"},
    "everything": {"features": "open"},
}
STREAMS = (
    *("numeric", "short", "three", "many", "noise", "odd", "changing", "weights", "missing"),
    *("nominal", "mixed", "holes", "late_class", "late_category", "late_column", "everything"),
)
# Where nothing is ever to be split: noise, and bounds that need more rows than there are.
UNSPLIT = {
    "hoeffding": ("noise",),
    "confidence": ("noise", "theorem", "McDiarmid"),
    "credible": (),
    "evergreen": ("noise",),
}
FRAUD = {"fraud": {"fine": 20.0}}
LOOK = {"fraud": {"fine": 9.0, "look": 2.0}, "fine": {"look": 0.5}}


def cuts_for(group: str, name: str) -> tuple[str, ...]:
    """Return how the rows of a stream may be cut."""
    # Today a reinforced tree already draws among columns that come later in the same batch.
    is_late = NEEDS.get(name) == {"features": "open"}
    if group == "reinforced" and is_late:
        return ("usual", "single")
    if group in UNSPLIT:
        return ALL_CUTS
    # Slow ones are cut otherwise only where batches matter most.
    return SOME_CUTS if name in ("three", "weights", "holes", "late_class", *NEEDS) else ("usual",)


def on_streams(group: str, learner: Any, streams: tuple[str, ...], **settings: Any) -> list[Case]:
    """Return a case for each stream, with the settings that it needs."""
    return [
        case
        for name in streams
        for case in variants(
            group, {name: (partial(learner, **settings, **NEEDS.get(name, {})), name)}, cuts_for(group, name)
        )
    ]


def variants(
    group: str, table: dict[str, tuple[Any, str]], cuts: tuple[str, ...] = ("usual",), rows: int = 10_000
) -> list[Case]:
    """Return a case for each learner of a table: a name, how it is made, and its stream."""
    return [
        Case(f"{group}/{name}", learning(make, data, rows), cuts, splits=name not in UNSPLIT.get(group, ()))
        for name, (make, data) in table.items()
    ]


HOEFFDING = {
    "paper": (partial(qc.HoeffdingTree.paper, delta=0.2), "changing"),
    "CorrH-Tree": (partial(qc.HoeffdingTree.paper, criterion="error", margin=2, delta=0.3), "changing"),
    "gini": (partial(qc.HoeffdingTree, criterion="gini"), "many"),
    "majority": (partial(qc.HoeffdingTree, leaf="majority"), "mixed"),
    "naive Bayes": (partial(qc.HoeffdingTree, leaf="naive_bayes"), "mixed"),
    "no tie, any split": (partial(qc.HoeffdingTree, tie=0, alpha=1.0, delta=0.3, margin=0.5), "mixed"),
    "grace and least leaf": (partial(qc.HoeffdingTree, grace_period=17.5, min_leaf=40.0), "weights"),
    "loss": (partial(qc.HoeffdingTree, loss=FRAUD, delta=0.2), "rare"),
    "loss of three": (partial(qc.HoeffdingTree, loss=LOOK), "mixed"),
    "adaptive": (partial(qc.HoeffdingTree, adaptive=True), "changing"),
    "adaptive everything": (partial(qc.HoeffdingTree, adaptive=True, features="open"), "everything"),
    "memory": (partial(qc.HoeffdingTree, max_bytes=30_000), "numeric"),
}
CONFIDENCE = {
    "paper": (partial(qc.ConfidenceTree.paper, c=0.02), "numeric"),
    "entropy": (partial(qc.ConfidenceTree, criterion="entropy"), "mixed"),
    "Kearns-Mansour": (partial(qc.ConfidenceTree, criterion="kearns_mansour"), "mixed"),
    "tight": (partial(qc.ConfidenceTree, bound="tight", tie=0.5), "changing"),
    "tight, large tie": (partial(qc.ConfidenceTree, bound="tight", tie=4.0, criterion="entropy"), "late_category"),
    "theorem": (partial(qc.ConfidenceTree, bound="theorem"), "short"),
    "theorem, large tie": (partial(qc.ConfidenceTree, bound="theorem", tie=3.0), "short"),
    "McDiarmid": (partial(qc.ConfidenceTree, bound="mcdiarmid"), "short"),
    "McDiarmid entropy": (partial(qc.ConfidenceTree, bound="mcdiarmid", criterion="entropy", tie=9.0), "three"),
    "majority": (partial(qc.ConfidenceTree, leaf="majority"), "mixed"),
    "naive Bayes": (partial(qc.ConfidenceTree, leaf="naive_bayes"), "holes"),
    "no tie, any split": (partial(qc.ConfidenceTree, tie=0.0, alpha=1.0, c=0.005), "noise"),
    "grace and least leaf": (partial(qc.ConfidenceTree, grace_period=17.5, min_leaf=40.0), "weights"),
    "loss": (partial(qc.ConfidenceTree, loss=FRAUD), "rare"),
    "loss of three": (partial(qc.ConfidenceTree, loss=LOOK), "mixed"),
    "adaptive": (partial(qc.ConfidenceTree, adaptive=True), "changing"),
    "adaptive everything": (partial(qc.ConfidenceTree, adaptive=True, features="open"), "everything"),
    "memory": (partial(qc.ConfidenceTree, max_bytes=30_000), "numeric"),
}
EXACT = partial(qc.CredibleTree, cuts="exact")
CREDIBLE = {
    "paper": (qc.CredibleTree.paper, "short"),
    "variance": (partial(qc.CredibleTree, criterion="variance"), "mixed"),
    "deviation": (partial(qc.CredibleTree, criterion="deviation"), "many"),
    "Hoeffding": (partial(qc.CredibleTree, bound="hoeffding", delta=0.5), "changing"),
    "cuts": (partial(qc.CredibleTree, correction="cuts"), "mixed"),
    "cuts and looks": (partial(qc.CredibleTree, correction="cuts+looks", delta=0.3), "mixed"),
    "exact": (EXACT, "three"),
    "exact nominal": (partial(EXACT, nominal=["code"]), "nominal"),
    "exact everything": (partial(EXACT, features="open"), "everything"),
    "exact by labels": (partial(EXACT, size="labels", criterion="variance"), "short"),
    "exact by volume": (partial(EXACT, size="volume", criterion="deviation"), "short"),
    "exact Hoeffding": (partial(EXACT, bound="hoeffding", delta=0.5), "three"),
    "exact corrected": (partial(EXACT, correction="cuts+looks", min_leaf=3), "short"),
    "exact loss": (partial(EXACT, loss={"high": {"low": 4.0}}), "short"),
    "majority": (partial(qc.CredibleTree, leaf="majority"), "mixed"),
    "naive Bayes": (partial(qc.CredibleTree, leaf="naive_bayes", grace_period=100, min_leaf=10), "holes"),
    "loss": (partial(qc.CredibleTree, loss=FRAUD), "rare"),
    "adaptive": (partial(qc.CredibleTree, adaptive=True), "changing"),
    "adaptive everything": (partial(qc.CredibleTree, adaptive=True, features="open"), "everything"),
    "memory": (partial(qc.CredibleTree, max_bytes=30_000), "numeric"),
}
EVERGREEN = {
    "few bins": (partial(qc.EvergreenTree, bins=8), "numeric"),
    "not adaptive": (partial(qc.EvergreenTree, adaptive=False), "changing"),
    "sample": (partial(qc.EvergreenTree, max_bytes=200_000, seed=7), "numeric"),
    "recent": (partial(qc.EvergreenTree, max_bytes=200_000, keep="recent"), "changing"),
    "little memory everything": (partial(qc.EvergreenTree, max_bytes=230_000, features="open"), "everything"),
    "loss": (partial(qc.EvergreenTree, loss=FRAUD), "rare"),
    "loss of three": (partial(qc.EvergreenTree, loss=LOOK), "mixed"),
    "wide": (qc.EvergreenTree, "wide"),
}
GROUPS: list[tuple[str, Any, dict[str, tuple[Any, str]]]] = [
    ("hoeffding", qc.HoeffdingTree, HOEFFDING),
    ("confidence", qc.ConfidenceTree, CONFIDENCE),
    ("credible", qc.CredibleTree, CREDIBLE),
    ("evergreen", qc.EvergreenTree, EVERGREEN),
]
CASES = [
    case
    for group, learner, table in GROUPS
    for case in (
        # Eight classes need more rows until Hoeffding's bound splits.
        *on_streams(group, learner, tuple(name for name in STREAMS if (group, name) != ("hoeffding", "many"))),
        *variants(group, table, ("usual", "whole")),
        Case(f"{group}/one by one", one_by_one(partial(learner, features="open"), "everything", 700)),
        Case(f"{group}/frozen", fitting(learner, "mixed", lambda tree: tree.freeze())),
    )
]
CASES.append(Case("evergreen/grown anew", fitting(qc.EvergreenTree, "three", lambda tree: tree.regrow())))
