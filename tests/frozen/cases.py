"""All frozen cases, as a list: `CASES`."""

from __future__ import annotations

from functools import partial

from quercus.registry import LEARNERS
from tests.frozen import asking, buying, growing, mixtures
from tests.frozen.case import Case
from tests.frozen.growing import on_streams
from tests.learners.listed import make

# Where the cases of a learner are, by its name.
GROUPS = {
    "BayesianForest": "bayesian",
    "BayesianTree": "bayesian_tree",
    "ConfidenceTree": "confidence",
    "CredibleTree": "credible",
    "EvergreenForest": "evergreen_forest",
    "EvergreenTree": "evergreen",
    "HoeffdingTree": "hoeffding",
    "ReinforcedTree": "reinforced",
    "UtilityTree": "utility",
}
# Others have these.
USUAL = ("numeric", "changing", "mixed", "weights", "late_class", "everything")

CASES: list[Case] = [*growing.CASES, *mixtures.CASES, *buying.CASES, *asking.CASES]
for name in LEARNERS:
    if name not in GROUPS:
        CASES += on_streams(name, partial(make, name), USUAL)
