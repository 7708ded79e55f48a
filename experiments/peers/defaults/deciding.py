"""What decided about each default."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.harness.exhibits import Claim
from experiments.harness.results import Results
from experiments.harness.verdicts import Mean, all_hold, is_above
from experiments.peers.defaults.passes import COUNTER, LETTER, NOISE, SHORT, TUNING, TWINS
from experiments.peers.defaults.settings import (
    ANY_SPLIT,
    CONFIDENCE,
    HOEFFDING,
    HOEFFDING_ANY_SPLIT,
    HOEFFDING_MAJORITY,
    MAJORITY,
    NO_TIE,
    RARE_LOOKS,
)

# The default of both trees.
ALPHA = 0.05


def summarize_claims(found: Results) -> list[Claim]:
    """Return what decided, and whether it is seen."""
    return [
        _one_leaf_on_noise(found.where(why=NOISE)),
        _free_of_charge(found),
        _one_leaf_beside_a_counter(found.where(why=COUNTER)),
        _adaptive_leaves(found),
        _ties_split(found.where(why=TWINS)),
        _ties_cost(found),
        _frequent_looks(found),
        _confidence_ahead(found),
    ]


def gain_over(found: Results, one: str, two: str, why: str = TUNING) -> Mean:
    """Return the mean over streams of the difference in accuracy, and its standard error over streams."""
    lines = found.where(why=why)
    gains = [
        float(np.mean(part.where(setting=one)["accuracy"] - part.where(setting=two)["accuracy"]))
        for _, part in lines.groups("data")
    ]
    return Results({"gain": np.array(gains)}).mean("gain")


def _points(result: Mean) -> str:
    return f"{100 * result[0]:+.2f} ({100 * result[1]:.2f}) points"


def _leaves(lines: Results, setting: str) -> str:
    leaves = lines.where(setting=setting)["leaves"]
    return f"`{setting}` {leaves.min():,} to {leaves.max():,}"


def _one_leaf_on_noise(noise: Results) -> Claim:
    shown = (CONFIDENCE, ANY_SPLIT, HOEFFDING, HOEFFDING_ANY_SPLIT)
    split = noise.where(setting=[CONFIDENCE, HOEFFDING])["leaves"] > 1
    result = ", ".join(_leaves(noise, setting) for setting in shown)
    says = f"With the G-test (`alpha={ALPHA:g}`) at most {ALPHA:.0%} of the trees split noise."
    return Claim(says, judge_share(split), f"{split.sum()} of {len(split)}; leaves: {result}.")


def judge_share(split: NDArray[np.bool_]) -> bool | None:
    """Return whether at most ALPHA of them split, or more by two standard errors (False), or neither (None)."""
    share, error = split.mean(), np.sqrt(ALPHA * (1 - ALPHA) / len(split))
    return True if share <= ALPHA else False if share > ALPHA + 2 * error else None


def _free_of_charge(found: Results) -> Claim:
    gains = {one: gain_over(found, one, two) for one, two in _without_test()}
    result = ", ".join(f"`{one}` {_points(gain)}" for one, gain in gains.items())
    return Claim("The test brings accuracy, too.", all_hold(map(is_above, gains.values())), f"over `alpha=1` {result}.")


def _without_test() -> tuple[tuple[str, str], ...]:
    return (CONFIDENCE, ANY_SPLIT), (HOEFFDING, HOEFFDING_ANY_SPLIT)


def _one_leaf_beside_a_counter(lines: Results) -> Claim:
    split = {setting: part["leaves"] > 1 for (setting,), part in lines.groups("setting")}
    result = ", ".join(
        f"`{setting}` splits in {some.sum()} of {len(some)} streams, most leaves "
        f"{lines.where(setting=setting)['leaves'].max()}"
        for setting, some in split.items()
    )
    says = f"The same beside a row number, {lines['rows'].max():,} rows, which brings new cuts all the time."
    return Claim(says, judge_share(np.concatenate(list(split.values()))), f"{result}.")


def _adaptive_leaves(found: Results) -> Claim:
    pairs = ((CONFIDENCE, MAJORITY), (HOEFFDING, HOEFFDING_MAJORITY))
    gains = {one: gain_over(found, one, two) for one, two in pairs}
    letter = found.where(why=TUNING, data=LETTER)
    scores = ", ".join(f"`{one}` {letter.where(setting=one).mean('accuracy')[0]:.2f}" for one in (CONFIDENCE, MAJORITY))
    result = ", ".join(f"`{one}` {_points(gain)}" for one, gain in gains.items())
    seen = f'over `leaf="majority"` {result}; {LETTER}: {scores}.'
    return Claim('`leaf="adaptive"` is more accurate.', all_hold(map(is_above, gains.values())), seen)


def _ties_split(twins: Results) -> Claim:
    never = bool(twins.where(setting=NO_TIE)["leaves"].max() == 1)
    score = ", ".join(
        f"`{setting}` {part.mean('accuracy')[0]:.3f}, leaves {part.mean('leaves')[0]:,.0f}"
        for (setting,), part in twins.groups("setting")
    )
    says = "Without `tie` a leaf never splits if two features are equally good."
    return Claim(says, never, f"random trees, each column twice, {twins['rows'].max():,} rows: {score}.")


def _ties_cost(found: Results) -> Claim:
    lines = found.where(why=TUNING, data=LETTER)
    scores = {setting: lines.where(setting=setting) for setting in (CONFIDENCE, NO_TIE)}
    lost = Results({"lost": scores[NO_TIE]["accuracy"] - scores[CONFIDENCE]["accuracy"]}).mean("lost")
    result = ", ".join(f"`{setting}` {part.mean('accuracy')[0]:.2f}" for setting, part in scores.items())
    over = gain_over(found, NO_TIE, CONFIDENCE)
    seen = f"{result}; over all streams `tie=0` brings {_points(over)}."
    return Claim("It costs accuracy on letter.", is_above(lost), seen)


def _frequent_looks(found: Results) -> Claim:
    rows = int(found.where(why=SHORT)["rows"].max())
    short, long = (gain_over(found, CONFIDENCE, RARE_LOOKS, why) for why in (SHORT, TUNING))
    seen = (
        f"over `grace_period=100` {_points(short)} on the first {rows} rows of shuffled sets, {_points(long)} on all."
    )
    return Claim("`grace_period=50` pays on short streams.", is_above(short), seen)


def _confidence_ahead(found: Results) -> Claim:
    gain = gain_over(found, CONFIDENCE, HOEFFDING)
    return Claim("Confidence trees are ahead of Hoeffding trees.", is_above(gain), f"{_points(gain)}.")
