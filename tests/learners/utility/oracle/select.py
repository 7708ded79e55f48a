"""Which items a case of the utility tree buys among (`select` of docs/utility.md).

Comments that begin with "Reading:" mark places where the page leaves a choice.
"""

from collections.abc import Callable, Collection, Sequence

from .cases import Case, Items, Rules, Step, partners_of
from .scores import Hypothesis
from .state import NaiveUtility

CURIOSITY = 0.1


def first_ratios(
    model: NaiveUtility,
    items: Items,
    rules: Rules,
    hypotheses: Sequence[Hypothesis] | None = None,
    uniforms: Sequence[float] | None = None,
) -> dict[int, float]:
    """Score per price of each item that is not free when nothing is known, by the mean.

    Reading: with look-ahead the score per price is that of the best pair, if it is larger, as at any other time; no
    gain and no budget is asked for, and free items make no pairs, since they will be known.
    """
    paid = [i for i, price in enumerate(items.price) if price > 0]
    nothing = Case.opened([None] * len(items.item))
    step = Step(model, nothing, items, rules, None, hypotheses, uniforms, None, None)
    ratios = {}
    for i in paid:
        ratios[i] = step.score(i) / items.price[i]
        for j in partners_of(step, i, paid):
            both = step.pair_score(items.members(i)[0], items.members(j)[0])
            ratios[i] = max(ratios[i], both / (items.price[i] + items.price[j]))
    return ratios


def with_needed(items: Items, chosen: Collection[int]) -> set[int]:
    """The chosen items, what they need, and what that needs."""
    selected = set(chosen)
    while True:
        needed = {j for i in selected for j in range(len(items.price)) if items.needs and items.needs[i][j]}
        if needed <= selected:
            return selected
        selected |= needed


def free(items: Items) -> set[int]:
    return {i for i, price in enumerate(items.price) if price == 0}


def best_items(items: Items, ratios: dict[int, float], B: int) -> set[int]:
    """What a case buys among: the B of largest ratio, what they need, and whatever is free."""
    chosen = sorted(ratios, key=lambda i: (-ratios[i], i))[:B]
    return with_needed(items, chosen) | free(items)


def any_items(items: Items, B: int, uniform: Callable[[], float]) -> set[int]:
    """The same with B items at random: the first of a shuffle.

    >>> any_items(Items.single([1, 0, 1, 1]), 1, lambda: 0.5)
    {1, 2}
    """
    lot = [i for i, price in enumerate(items.price) if price > 0]
    for k in range(min(B, len(lot))):
        other = k + int(uniform() * (len(lot) - k))
        lot[k], lot[other] = lot[other], lot[k]
    return with_needed(items, lot[:B]) | free(items)


def distance(ratios: dict[int, float], B: int) -> float:
    """How far the last that is selected is from the first that is not."""
    ordered = sorted(ratios.values(), reverse=True)
    return ordered[B - 1] - ordered[B] if len(ordered) > B else float("inf")
