"""The integer codes that the kernels of a utility tree branch on, and what its cases work with."""

from __future__ import annotations

import numpy as np

from quercus.acquisition.layout import GENERATOR
from quercus.state import Field, Struct

QUANTILES, THRESHOLDS, EXP3 = range(3)
IG, US, EC2, ECED, RANDOM = range(5)
TENTHS = 10
MOST_JOINT = 4096
# A unit beyond this is brought back; powers of two change no digit.
LARGEST_UNIT = 2.0**64
# Whether an item can be bought now, whether all or some of what it brings is young; MATE: only as the second of two.
NOT_BUYABLE, GROWN, YOUNG_IN_PART, YOUNG_WHOLLY, MATE = range(5)
# What the facts of a posterior are: whether it was drawn for a case that explores, and the number of its hypotheses.
EXPLORES, HYPOTHESES = range(2)
FIRST_CAPACITY = 4
MOST_PAIRED = 64
# Rows drawn to see what a case may still turn out to be, and the most classes that they are drawn of.
MOST_SAMPLES, MOST_LIKELY = 64, 16

# Arguments that may be changed at any time: no part of the state.
SETTINGS = np.dtype(
    [
        ("objective", np.int64),
        ("uniform", np.int64),
        ("hypotheses", np.int64),  # 0: none
        ("lookahead", np.int64),
        ("select", np.int64),  # 0: all
        ("is_relative", np.int64),  # whether worth is in median prices per largest loss
        ("confidence", np.float64),  # infinite: never confident
        ("gain", np.float64),
        ("worth", np.float64),  # 0: no matter
        ("prior", np.float64),
        ("forget", np.float64),
        ("budget", np.float64),
        ("total", np.float64),
    ],
    align=True,
)


class Posterior(Struct):
    """Probabilities to plan and answer with, the mean or a sample.

    ``theta`` is P(bin | class) by bin and class, ``entropy`` its entropy in bits by feature and class, ``classes``
    P(class). ``picked`` is the edge of each feature that is the only one to be asked about (-1: all are), ``chance``
    the probability of that. ``luck`` is the score of each item under the objective "random". Hypotheses: ``bins`` by
    hypothesis and feature, ``weight``, ``region``, ``alive`` (agrees with what is known), ``places`` a hash table.
    ``samples`` are rows of bins drawn of each class: those of a feature are found from ``numbers`` when it is first
    looked at (``seen``). ``selected`` tells of each item whether a case may buy it. ``facts`` are two numbers;
    ``generator`` is what all this was drawn with.
    """

    theta = Field(np.float64, "bin", "class")
    entropy = Field(np.float64, "feature", "class")
    classes = Field(np.float64, "class")
    picked = Field(np.int64, "feature")
    chance = Field(np.float64, "feature")
    luck = Field(np.float64, "feature")
    bins = Field(np.int32, "hypothesis", "feature")
    weight = Field(np.float64, "hypothesis")
    region = Field(np.int64, "hypothesis")
    alive = Field(np.uint8, "hypothesis")
    places = Field(np.int64, "place")
    numbers = Field(np.float64, "sample", "feature")
    samples = Field(np.int32, "sample", "feature")
    seen = Field(np.uint8, "feature")
    selected = Field(np.uint8, "item")
    facts = Field(np.int64, 2)
    generator = Field(GENERATOR, 1)


class CaseWorkspace(Struct):
    """Room for one case.

    By feature: ``status`` and ``trial``, ``edge`` by which its value counts (-1: by its bin), ``chosen`` that it would
    be bought with, ``first_score`` when it was first scored (NaN: not yet), ``scores`` of now, ``partner``: the feature
    that it was to be bought after, given which it counts (-1: none). By class: ``q``, ``r``. ``outcomes`` and
    ``shares`` by bin and class, ``joint`` by joint outcome and class. By item: ``buyable``, ``ratios`` of score and
    price, ``mates`` for whose sake it would be bought (-1: none), ``pair_scores`` of both, ``taken`` in thought.
    ``promised`` is the item that is next (-1: none). ``likely`` are the classes of the ``outlooks``: class
    probabilities if a sample is what the case turns out to be.
    """

    status = Field(np.uint8, "feature")
    trial = Field(np.uint8, "feature")
    edge = Field(np.int64, "feature")
    chosen = Field(np.int64, "feature")
    first_score = Field(np.float64, "feature")
    scores = Field(np.float64, "feature")
    partner = Field(np.int64, "feature")
    q = Field(np.float64, "class")
    r = Field(np.float64, "class")
    outcomes = Field(np.float64, "bin", "class")
    shares = Field(np.float64, "bin", "class")
    joint = Field(np.float64, "joint", "class")
    buyable = Field(np.uint8, "item")
    ratios = Field(np.float64, "item")
    mates = Field(np.int64, "item")
    pair_scores = Field(np.float64, "item")
    promised = Field(np.int64, 1)
    taken = Field(np.uint8, "item")
    likely = Field(np.int64, "likely")
    outlooks = Field(np.float64, "sample", "class")


new_posterior = Posterior.inner()
new_workspace = CaseWorkspace.inner()
