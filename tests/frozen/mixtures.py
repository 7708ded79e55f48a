"""Frozen cases of forests, and of learners that begin anew."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import quercus as qc
from tests.frozen import views
from tests.frozen.case import Case, Observe, fitting, one_by_one
from tests.frozen.growing import FRAUD, LOOK, SOME_CUTS, on_streams, variants
from tests.frozen.streams import stream

# Code bases that this one is compared with may have the name of before.
DETECTORS = qc.statistics if "statistics" in qc.__all__ else qc.drift
FOREST = partial(qc.EvergreenForest, trees=3)
FORESTS = {
    "part of the features": (partial(FOREST, subspace=0.4, sight=0.5, seed=3), "wide"),
    "recent": (partial(FOREST, keep="recent", max_bytes=720_000), "changing"),
    "not adaptive": (partial(FOREST, adaptive=False, bins=16), "changing"),
    "two threads": (partial(FOREST, threads=2), "numeric"),
    "loss": (partial(FOREST, loss=FRAUD), "rare"),
    "ten trees": (qc.EvergreenForest, "short"),
}
BAYES = partial(qc.BayesianForest, trees=3, depth=3)
BAYESIAN = {
    "paper": (partial(qc.BayesianForest.paper, classes=8, trees=3), "many"),
    "depths": (partial(BAYES, depth=(1, 3), seed=5), "numeric"),
    "diagonal": (partial(BAYES, covariance="diagonal"), "mixed"),
    "projection": (partial(BAYES, projection=4), "wide"),
    "subset": (partial(BAYES, subset=0.5), "wide"),
    "bagging": (partial(BAYES, bagging=0.4), "three"),
    "path": (partial(BAYES, inference="path"), "three"),
    "not scaled": (partial(BAYES, scaling=None), "numeric"),
    "forget": (partial(BAYES, forget=0.01), "changing"),
    "exact": (partial(BAYES, skip=0.0, depth=None), "short"),
    "block": (partial(BAYES, block=5), "three"),
    "float64": (partial(BAYES, dtype="float64", block=3), "holes"),
    "loss": (partial(BAYES, loss=LOOK), "mixed"),
    "two threads": (partial(BAYES, threads=2), "three"),
}
RENEWING = {
    "default": (qc.Renewing, "changing"),
    "ADWIN": (partial(qc.Renewing, qc.HoeffdingTree(), DETECTORS.ADWIN()), "changing"),
    "Page-Hinkley": (partial(qc.Renewing, qc.EvergreenTree(adaptive=False), DETECTORS.PageHinkley()), "changing"),
    "open": (partial(qc.Renewing, qc.CredibleTree(features="open")), "everything"),
    "forest": (partial(qc.Renewing, qc.BayesianForest(trees=2, depth=3)), "changing"),
    "loss": (partial(qc.Renewing, qc.HoeffdingTree(loss=FRAUD)), "rare"),
}


def merging(observe: Observe, _cut: str) -> dict[str, Any]:
    """Make one forest of two that saw halves of a stream, and let it learn on."""
    data = stream("three")
    classes = ["ash", "elm", "oak"]
    halves = [
        qc.BayesianForest(trees=2, depth=3, seed=k).partial_fit(data.X[k:1_200:2], data.y[k:1_200:2], classes=classes)
        for k in (0, 1)
    ]
    forest = qc.BayesianForest.merge(halves)
    observe("merged", forest)
    merged = views.view(forest, data.probe)
    forest.partial_fit(data.X[1_200:], data.y[1_200:])
    observe("end", forest)
    return {"merged": merged, "end": views.view(forest, data.probe)}


def refit(learner: Any) -> Any:
    """Let a learner forget everything and learn rows whose classes it can see."""
    data = stream("many")
    return learner.fit(data.X[:800], data.y[:800])


def marked(make: Callable[[], Any]) -> Callable[[Observe, str], Any]:
    """Return a play: only every third row is watched for changes."""

    def play(observe: Observe, _cut: str) -> dict[str, Any]:
        data, learner = stream("changing"), make()
        for start in range(0, 3_000, 300):
            part = slice(start, start + 300)
            # What it was called before.
            learn = learner.learn_monitored if hasattr(learner, "learn_monitored") else learner.learn_marked
            learn(data.X[part], data.y[part], [row % 3 == 0 for row in range(300)])
        observe("end", learner)
        return {"end": views.view(learner, data.probe)}

    return play


SMALL = ("three", "many", "odd", "weights", "missing", "nominal", "mixed", "holes", "late_class")
LATE = ("late_category", "late_column", "everything")
CASES = [
    *on_streams("evergreen_forest", FOREST, ("numeric", "changing", *SMALL, *LATE)),
    *variants("evergreen_forest", FORESTS, SOME_CUTS),
    Case("evergreen_forest/one by one", one_by_one(partial(FOREST, features="open"), "everything", 400)),
    *on_streams("bayesian", BAYES, ("numeric", *SMALL, *LATE)),
    *variants("bayesian", BAYESIAN, rows=600),
    Case("bayesian/one by one", one_by_one(partial(BAYES, features="open"), "everything", 400)),
    Case("bayesian/classes known", fitting(partial(BAYES, depth=None), "many")),
    Case("bayesian/fitted", fitting(partial(BAYES, depth=None), "many", refit)),
    Case("bayesian/frozen", fitting(BAYES, "mixed", lambda forest: forest.freeze())),
    Case("bayesian/merged", merging),
    *on_streams("bayesian_tree", qc.BayesianTree, ("numeric", "late_class", "everything")),
    *variants("bayesian_tree", {"paper": (partial(qc.BayesianTree.paper, classes=3), "three")}),
    *variants("renewing", RENEWING, SOME_CUTS),
    Case("renewing/one by one", one_by_one(partial(qc.Renewing, qc.EvergreenTree(features="open")), "everything", 600)),
    Case("renewing/marked", marked(qc.Renewing)),
    Case("hoeffding/marked", marked(partial(qc.HoeffdingTree, adaptive=True))),
    Case("credible/marked", marked(partial(qc.CredibleTree, adaptive=True))),
    Case("evergreen/marked", marked(qc.EvergreenTree)),
    Case("evergreen_forest/marked", marked(FOREST)),
]
