"""The utility tree of docs/utility.md from the formulas: one step of a case, and whole cases.

What is learned is in state.py, the scores are in scores.py, the stop by worth in worth.py,
which items a case buys among in select.py, the best policy of a known environment in tests/evaluation/oracle.py.
Samples of theta, hypotheses, samples, random numbers and the items that are selected are given as arguments. Comments
that begin with "Reading:" mark places where the page leaves a choice.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import scores as scoring
from . import worth as worthwhile
from .scores import Array, Bins, Hypothesis, Theta, joint_table, normalised, posterior, table
from .state import NaiveUtility, Row, Value, is_missing

UNKNOWN, KNOWN, MISSING, REFUSED, ORDERED = range(5)
MOST_LOOKED_AHEAD = 64


# Answers


def loss_table(K: int, loss: ArrayLike | None) -> Array:
    """True class by answer."""
    return 1 - np.eye(K) if loss is None else np.asarray(loss, dtype=float)


def best_answer(q: ArrayLike, loss: ArrayLike | None = None, order: Sequence[int] | None = None) -> int:
    """The class of least expected loss, of equal ones the first of the order.

    >>> best_answer([0.9, 0.1]), best_answer([0.9, 0.1], [[0, 1], [100, 0]]), best_answer([0.5, 0.5], order=[1, 0])
    (0, 1, 1)
    """
    q = np.asarray(q, dtype=float)
    if loss is None:
        return max(order if order is not None else range(len(q)), key=lambda y: q[y])
    return min(order if order is not None else range(len(q)), key=lambda y: (q @ loss_table(len(q), loss))[y])


def least_loss(q: ArrayLike, loss: ArrayLike | None = None) -> float:
    q = np.asarray(q, dtype=float)
    return float(min(q @ loss_table(len(q), loss)))


# One case


@dataclass
class Case:
    """Values and status by feature; what is left of the budget; how features came to count.

    edges: feature -> the edge it counts by. Reading: a threshold feature that is known without having been asked for
    by an edge (given, free, young, ordered) counts by its bin. partners: feature -> the feature it was bought with.
    """

    values: list[Value]
    status: list[int]
    left: float = math.inf
    cost: float = 0.0
    edges: dict[int, int] = field(default_factory=dict)
    partners: dict[int, int] = field(default_factory=dict)
    promised: int | None = None

    @classmethod
    def opened(cls, known: Row, budget: float = math.inf) -> "Case":
        """A case of which some values are known."""
        return cls(list(known), [UNKNOWN if is_missing(value) else KNOWN for value in known], budget)


@dataclass(frozen=True)
class Items:
    """item[feature], price[item], needs[item][item]: which ones must have been bought before."""

    item: Sequence[int]
    price: Sequence[float]
    needs: Sequence[Sequence[int]] | None = None

    @classmethod
    def single(cls, prices: Sequence[float]) -> "Items":
        """Every feature alone."""
        return cls(range(len(prices)), prices)

    @property
    def median(self) -> float:
        """The median price of what is not free."""
        return median(p for p in self.price if p > 0)

    def times_median(self, price: float) -> float:
        return price / self.median

    def members(self, i: int) -> list[int]:
        return [feature for feature, owner in enumerate(self.item) if owner == i]

    def unknown(self, case: Case, i: int) -> list[int]:
        return [feature for feature in self.members(i) if case.status[feature] == UNKNOWN]

    def allowed(self, case: Case, i: int, before: Collection[int] = ()) -> bool:
        """Reading: bought is an item all of whose features are known, missing or refused, none still ordered."""
        needed = [j for j in range(len(self.price)) if self.needs is not None and self.needs[i][j] and j not in before]
        return all(case.status[f] in (KNOWN, MISSING, REFUSED) for j in needed for f in self.members(j))

    def open(self, case: Case) -> list[int]:
        """What could be bought if there were money, in the order of the first columns."""
        return [i for i in range(len(self.price)) if self.unknown(case, i) and self.allowed(case, i)]


@dataclass(frozen=True)
class Rules:
    """The settings of the learner that planning reads; loss by class number."""

    objective: str = "ig"
    confidence: float | None = 0.95
    gain: float = 0.005
    loss: ArrayLike | None = None
    lookahead: int = 1
    hypotheses: int | None = None
    worth: float | str | None = None

    @property
    def stops_by_region(self) -> bool:
        return self.objective == "ec2" or self.hypotheses is not None


@dataclass
class Decision:
    """item -1 and a reason to stop, or an item and why it is bought: "free", "young", "score" or "promised".

    ratios: item -> score per price of those that had the gain, so that a test can tell a close call from a clear one.
    edges: feature -> edge by which it was scored. partner: the item for whose sake it is bought. pays, margin: as the
    stop by worth has found.
    """

    item: int
    score: float = 0.0
    stop: str | None = None
    why: str | None = None
    q: Array = field(default_factory=lambda: np.zeros(0))
    scores: dict[int, float] = field(default_factory=dict)
    ratios: dict[int, float] = field(default_factory=dict)
    edges: dict[int, int] = field(default_factory=dict)
    partner: int | None = None
    pays: int = 0
    margin: float = math.inf


def seen_bins(model: NaiveUtility, case: Case) -> dict[int, Bins]:
    """Feature -> the bins that agree with what is known of it."""
    seen = {}
    for i, feature in enumerate(model.features):
        bin_id = feature.find_bin(case.values[i]) if case.status[i] == KNOWN else None
        if bin_id is not None:
            seen[i] = next(bins for bins in feature.outcomes(case.edges.get(i)) if bin_id in bins)
    return seen


def posterior_of(model: NaiveUtility, case: Case, theta: Theta | None = None) -> Array:
    """q by class number; with the mean unless a sample is given."""
    theta = model.mean() if theta is None else theta
    seen = seen_bins(model, case)
    parts = [shares(model, case, theta, seen, i)[:, list(bins)].sum(axis=1) for i, bins in seen.items()]
    return posterior(model.P(), parts)


def shares(model: NaiveUtility, case: Case, theta: Theta, seen: Mapping[int, Bins], i: int) -> Array:
    """P(bin of i | y), or P(bin of i | what is known of its partner, y)."""
    u = case.partners.get(i)
    if u not in seen:
        return theta[i]
    together = model.pair_mean(u, i)[:, list(seen[u]), :].sum(axis=1)
    return together / together.sum(axis=1, keepdims=True)


def answer(model: NaiveUtility, case: Case, loss: ArrayLike | None = None) -> Any:
    """The label that is answered; None before there is any."""
    if not model.labels:
        return None
    return model.labels[best_answer(posterior_of(model, case), loss, model.sorted_classes())]


class Step:
    """One step of planning: everything that the scores of this moment need."""

    def __init__(
        self,
        model: NaiveUtility,
        case: Case,
        items: Items,
        rules: Rules,
        theta: Theta | None,
        hypotheses: Sequence[Hypothesis] | None,
        uniforms: Sequence[float] | None,
        edges: Mapping[int, int] | None,
        samples: worthwhile.Samples | None,
    ) -> None:
        self.model, self.case, self.items, self.rules = model, case, items, rules
        self.theta = model.mean() if theta is None or rules.lookahead == 2 else list(theta)
        self.q = posterior_of(model, case, self.theta)
        self.seen = seen_bins(model, case)
        self.uniforms, self.given_edges, self.samples = uniforms, edges or {}, samples
        self.chosen_edges: dict[int, int] = {}
        self.hypotheses: Sequence[Hypothesis] = ()
        if rules.stops_by_region:
            self.hypotheses = self.all_hypotheses() if hypotheses is None else hypotheses
            by_class = [scoring.joint_weights(model.P(), self.theta, h) for h in self.hypotheses]
            total = sum(float(w.sum()) for w in by_class)
            self.weights = [float(w.sum()) / total if total > 0 else 0.0 for w in by_class]
            # Reading: the answer for h is with theta as planned, as its weight is.
            self.regions = [best_answer(w, rules.loss, model.sorted_classes()) for w in by_class]

    def all_hypotheses(self) -> list[Hypothesis]:
        """Reading: before the first class there are none."""
        bins = [feature.bins for feature in self.model.features]
        return scoring.every_hypothesis(bins) if self.model.labels else []

    def regions_left(self) -> int:
        agreeing = [scoring.agrees(h, self.seen) for h in self.hypotheses]
        return len({r for r, agrees in zip(self.regions, agreeing, strict=True) if agrees})

    def confident(self) -> bool:
        if self.rules.confidence is None or not len(self.q):
            return False
        most = loss_table(len(self.q), self.rules.loss).max()
        return least_loss(self.q, self.rules.loss) <= (1 - self.rules.confidence) * most

    def table(self, u: int, outcomes: Sequence[Bins]) -> Array:
        return table(shares(self.model, self.case, self.theta, self.seen, u), outcomes)

    def outcomes(self, u: int) -> list[Bins]:
        return self.model.features[u].outcomes(self.edge(u))

    def edge(self, u: int) -> int | None:
        """The edge that a question about a threshold feature is about."""
        feature = self.model.features[u]
        if feature.kind != "thresholds" or not feature.edges:
            return None
        if u not in self.chosen_edges:
            best = max(range(len(feature.edges)), key=lambda k: self.score_by(u, feature.outcomes(k)))
            self.chosen_edges[u] = self.given_edges.get(u, best)
        return self.chosen_edges[u]

    def score_by(self, u: int, outcomes: Sequence[Bins]) -> float:
        """Reading: what is below 0 by rounding counts as 0."""
        if self.rules.objective == "random":
            assert self.uniforms is not None
            return self.uniforms[u]
        if self.rules.objective == "ec2":
            known = (self.hypotheses, self.weights, self.regions, self.seen)
            return max(0.0, scoring.ec2(self.q, self.theta, u, outcomes, *known))
        form = {"ig": scoring.ig, "us": scoring.us, "eced": scoring.eced}[self.rules.objective]
        return max(0.0, form(self.q, self.table(u, outcomes)))

    def score(self, i: int) -> float:
        """Of an item. Reading: the sum over a group holds for `"random"` too: a number for each unknown feature."""
        asked = self.items.unknown(self.case, i)
        tables = [self.table(u, self.outcomes(u)) for u in asked]
        few = math.prod(t.shape[1] for t in tables) <= scoring.MOST_JOINT_OUTCOMES
        if len(asked) > 1 and few and self.rules.objective in ("ig", "us"):
            form = {"ig": scoring.ig, "us": scoring.us}[self.rules.objective]
            return max(0.0, form(self.q, joint_table(tables)))
        return sum(self.score_by(u, self.outcomes(u)) for u in asked)

    def pair_score(self, u: int, j: int) -> float:
        """Of two features, over their joint outcomes, from the pair's mean."""
        P = self.model.pair_mean(u, j)
        columns = [
            P[:, list(first)][:, :, list(second)].sum(axis=(1, 2))
            for first, second in product(self.outcomes(u), self.outcomes(j))
        ]
        return max(0.0, scoring.ig(self.q, np.stack(columns, axis=1)))


def plan(
    model: NaiveUtility,
    case: Case,
    items: Items,
    rules: Rules,
    *,
    theta: Theta | None = None,
    hypotheses: Sequence[Hypothesis] | None = None,
    uniforms: Sequence[float] | None = None,
    edges: Mapping[int, int] | None = None,
    samples: worthwhile.Samples | None = None,
    selected: Collection[int] | None = None,
    explore: bool = False,
) -> Decision:
    """What is bought next. theta: the sample (None: the mean); hypotheses: None for all; uniforms: the random numbers
    of `"random"`, by feature; edges: those that Exp3 drew; samples: by class, for the stop by worth; selected: items
    among which the case buys (None: all)."""
    step = Step(model, case, items, rules, theta, hypotheses, uniforms, edges, samples)
    step.selected = selected
    young = {i for i in items.open(case) if any(model.young(f) for f in items.unknown(case, i))}
    all_young = {i for i in young if all(model.young(f) for f in items.unknown(case, i))}

    for i in items.open(case):  # Reading: also what is free and young, whether the case explores or not.
        if items.price[i] == 0:
            return Decision(i, why="free", q=step.q)
    # Reading: young features are bought before the stops (one bin each, they would end every case before they are
    # known), as far as the budget reaches; a group is young if one of its unknown features is.
    if explore:
        for i in items.open(case):
            if i in young and items.price[i] <= case.left:
                return Decision(i, why="young", q=step.q)

    # Reading: a group is left out only where all of its unknown features are young.
    possible = [i for i in items.open(case) if explore or i not in all_young]
    possible = [i for i in possible if selected is None or i in selected]
    payable = [i for i in possible if items.price[i] <= case.left]
    if rules.stops_by_region and step.regions_left() <= 1:
        return Decision(-1, stop="region", q=step.q)
    if step.confident():
        return Decision(-1, stop="confident", q=step.q)
    if not payable:
        return Decision(-1, stop="budget" if possible else "nothing left", q=step.q)
    return choose(step, payable)


def choose(step: Step, payable: Sequence[int]) -> Decision:
    """The payable item of largest score per price, or the stop for want of gain or of worth."""
    items, rules, case = step.items, step.rules, step.case
    scores = {i: step.score(i) for i in payable}
    found = {"q": step.q, "scores": scores, "edges": step.chosen_edges}
    if case.promised in payable:  # Reading: no gain is asked of it again: it was part of the pair's.
        return Decision(case.promised, scores[case.promised], why="promised", **found)
    ratios: dict[int, float] = {}
    score: dict[int, float] = {}
    partner: dict[int, int] = {}
    for u in payable:
        if scores[u] >= rules.gain * items.times_median(items.price[u]):
            ratios[u], score[u] = scores[u] / items.price[u], scores[u]
        for j in partners_of(step, u, payable):
            both = step.pair_score(items.members(u)[0], items.members(j)[0])
            price = items.price[u] + items.price[j]
            ratio = both / price
            if both >= rules.gain * items.times_median(price) and ratio > ratios.get(u, -1.0):
                ratios[u], score[u], partner[u] = ratio, both, j
    if not ratios:
        return Decision(-1, stop="gain", **found)
    best = max(ratios, key=lambda i: ratios[i])
    verdict = is_worth_it(step, ratios, best, partner.get(best))
    found |= {"ratios": ratios, "pays": verdict.pays, "margin": verdict.margin}
    if not verdict.pays:
        return Decision(-1, stop="worth", **found)
    return Decision(best, score[best], why="score", partner=partner.get(best), **found)


def is_worth_it(step: Step, ratios: Mapping[int, float], best: int, partner: int | None) -> worthwhile.Verdict:
    """Reading: the order of score / c is that in which items would be bought, with look-ahead that of the pairs too."""
    if step.rules.worth is None:
        return worthwhile.Verdict(1, math.inf)
    assert step.samples is not None
    items, price = step.items, step.items.price
    loss = loss_table(len(step.q), step.rules.loss)
    if len(step.q) < 2:
        return worthwhile.Verdict(0, math.inf)
    worth = worthwhile.worth_of(step.rules.worth, items.median, loss)
    taken = basket(step, ratios)
    unknown = [items.unknown(step.case, i) for i in taken]
    verdict = worthwhile.judge(step.q, loss, step.theta, step.samples, unknown, [price[i] for i in taken], worth)
    if partner is None:
        return verdict
    together = step.model.pair_mean(items.members(best)[0], items.members(partner)[0])
    spared = worth * worthwhile.pair_saving(step.q, loss, together)
    both = price[best] + price[partner]
    return worthwhile.Verdict(verdict.pays or 2 * (spared > both), min(verdict.margin, abs(spared - both)))


def basket(step: Step, ratios: Mapping[int, float]) -> list[int]:
    """What would be bought, in order: by ratio, but what needs others right behind these; each if it fits."""
    items, case, price = step.items, step.case, step.items.price
    behind = [
        i
        for i in range(len(price))
        if not items.allowed(case, i) and any(step.theta[f].shape[1] > 1 for f in items.unknown(case, i))
        if step.selected is None or i in step.selected
    ]
    order, taken = sorted(ratios, key=lambda i: (-ratios[i], i)), []
    while True:
        left = case.left - sum(price[i] for i in taken)
        unlocked = [i for i in behind if i not in taken and items.allowed(case, i, taken) and price[i] <= left]
        ready = [i for i in order if i not in taken and price[i] <= left]
        if not (unlocked or ready):
            return taken
        taken.append((unlocked or ready)[0])


def partners_of(step: Step, u: int, payable: Sequence[int]) -> list[int]:
    """Reading: pairs are of single features that are not young, and both must fit into the rest of the budget."""
    if step.rules.lookahead != 2 or len(step.model.features) > MOST_LOOKED_AHEAD:
        return []

    def single(i: int) -> bool:
        members = step.items.members(i)
        return len(members) == 1 and not step.model.young(members[0])

    price = step.items.price
    return [j for j in payable if j != u and single(u) and single(j) and price[u] + price[j] <= step.case.left]


def reveal(model: NaiveUtility, case: Case, items: Items, decision: Decision, row: Row) -> None:
    """Buy what was decided and read it from the row; a value that is not there comes back missing."""
    for i in items.unknown(case, decision.item):
        case.values[i] = row[i]
        case.status[i] = MISSING if is_missing(row[i]) else KNOWN
        if i in decision.edges and decision.why in ("score", "promised"):
            case.edges[i] = decision.edges[i]
    case.cost += items.price[decision.item]
    case.left -= items.price[decision.item]
    case.promised = None
    if decision.partner is not None:
        (u,), (j,) = items.members(decision.item), items.members(decision.partner)
        # Reading: if u came back without a result, j is planned, and counts, as if there had been no pair.
        if case.status[u] == KNOWN and model.features[u].find_bin(case.values[u]) is not None:
            case.promised, case.partners[j] = decision.partner, u


def run(model: NaiveUtility, case: Case, items: Items, rules: Rules, row: Row, **given: Any) -> list[Decision]:
    """Buy from the row until the plan stops; all decisions, the last of which is the stop."""
    decisions = [plan(model, case, items, rules, **given)]
    while decisions[-1].stop is None:
        reveal(model, case, items, decisions[-1], row)
        decisions.append(plan(model, case, items, rules, **given))
    return decisions


# Algorithm 5 of the paper


def exp3_shares(S: ArrayLike, eta: float = 0.01) -> Array:
    """The probabilities of a feature's edges.

    >>> exp3_shares([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    S = np.asarray(S, dtype=float)
    return normalised(np.exp(eta * (S - S.max())))


def exp3_update(S: ArrayLike, edge: int, score: float, eta: float = 0.01) -> Array:
    """S after edge was drawn and scored."""
    after = np.array(S, dtype=float)
    after[edge] += score / exp3_shares(S, eta)[edge]
    return after
