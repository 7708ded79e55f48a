"""The reinforced tree of docs/reinforced.md from the formulas, in dicts.

A state is the frozenset of the (feature, bin) that are known in it. Numbers are made by `number`: `Fraction` or
`float`. Random numbers come from an object with `.uniform()`, so that any generator can be followed. Bins are drawn as
those of utility/oracle/state.py. Comments that begin with "Reading:" mark places where the page leaves a choice.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import Any, Protocol

from quercus.statistics import ADWIN
from tests.learners.utility.oracle.state import DRAWN_AT, KEPT, Feature, Value, is_missing, quantile_edges

UNKNOWN, KNOWN, MISSING, REFUSED, ORDERED = range(5)
WARM_UP = 20
MOST_SUBSETS_OF = 4
ORDERS = 8
WHOLE_WAYS = 8
TIMES_MEDIAN = 200
EVIDENCE_ENOUGH = 50
COUNTS_AT_MOST = 20
EXPLORED_MORE = 500
EXPLORED_WITH = 0.1
DETECTED_WITH = 0.002
NO_RESULT = "missing"

Number = Any  # Fraction or float
Bin = Any
State = frozenset[tuple[int, Bin]]
Question = tuple[State, int]
ROOT: State = frozenset()
NO_LUCK: Any = None  # for cases that draw nothing


class Uniform(Protocol):
    def uniform(self) -> float: ...


@dataclass
class Pair:
    """A question that was tried in a state. forgotten: states it led to that are gone -> V as it was.

    drawn: how often the bins of its features had become others when it was last updated.
    """

    n: Number
    G: Number
    drawn: int
    shares: dict[State, Number] = field(default_factory=dict)
    forgotten: dict[State, Number] = field(default_factory=dict)


@dataclass
class Record:
    """What is kept of a state."""

    n: Number
    V: Number
    shares: dict[Any, Number] = field(default_factory=dict)
    pairs: dict[int, Pair] = field(default_factory=dict)


@dataclass
class Tally:
    """N(i, v, y) of an item, by result and label. A result is the state of this item alone.

    drawn: how often the bins of its features had become others when it was last updated.
    """

    drawn: int
    counts: dict[State, dict[Any, Number]] = field(default_factory=dict)

    def total(self, y: Any) -> Number:
        return sum(by_label.get(y, 0) for by_label in self.counts.values())


@dataclass
class Episode:
    """How a case went: its items and states, from which one on it wandered (None: it did not), how it ended.

    left: what may be spent now; paid: price of each item that was bought before, and cost: of those bought on the way.
    asks: the item that is to be bought next, with its Q or start as score; stop: why there is none.
    """

    status: list[int]
    left: Number = math.inf
    paid: dict[int, Number] = field(default_factory=dict)
    items: list[int] = field(default_factory=list)
    states: list[State] = field(default_factory=lambda: [ROOT])
    wandered_from: int | None = None
    cost: Number = 0
    asks: int | None = None
    score: Number | None = None
    stop: str | None = None


class Bins(Feature):
    """The bins of one feature. drawn: how often there have become more or fewer of them.

    Reading: their number is that of the bins that came out, not of those asked for; one that comes back is a new one.
    """

    def __init__(self, kind: str, bins: int, follows: bool) -> None:
        super().__init__("nominal" if kind == "nominal" else "quantiles", bins, None, 0.0)
        self.counts = [[0.0]]  # of one class: only the bins matter here
        self.drawn = 0
        self.follows = follows

    def keep(self, value: float, y: int, weight: float) -> None:
        """The last 512. The times at which bins are drawn double up to 512; then it is every 512 values, or never."""
        self.kept = [*self.kept, (value, y, weight)][-KEPT:]
        if self.known in DRAWN_AT or (self.follows and self.known % KEPT == 0):
            V = min(self.most_bins, DRAWN_AT.get(self.known, DRAWN_AT[KEPT]))
            edges = quantile_edges([x for x, _, _ in self.kept], [w for _, _, w in self.kept], V)
            self.drawn += len(edges) != len(self.edges)
            self.redraw(edges)


class NaiveReinforced:
    """kinds: "numeric" or "nominal" by feature; item[feature], price[item], needs[item][item] (None: nothing needed).

    loss: {true label: {answer: cost}}, 1 where nothing is given. rates: {label: factor}. By default it is without the
    model (prior=0, trusted=5, 3 questions), where tables are easily worked out by hand; the learner's own is prior=2,
    trusted=0 and 5 questions.
    """

    def __init__(
        self,
        kinds: Sequence[str],
        *,
        price: Sequence[Number] | None = None,
        item: Sequence[int] | None = None,
        needs: Sequence[Sequence[int]] | None = None,
        questions: int = 3,
        worth: Number | str | None = "auto",
        loss: Mapping[Any, Mapping[Any, Number]] | None = None,
        rewards: tuple[Number, Number] | Mapping[Any, tuple[Number, Number]] | None = None,
        gamma: Number = 1,
        explore: float = 0.01,
        truncated: bool = True,
        updates: str = "anchored",
        backup: str = "counts",
        start: Number | str = "auto",
        alpha: Number = 0,
        rates: Mapping[Any, Number] | None = None,
        trusted: Number = 5,
        bins: int = 5,
        prior: Number = 0,
        adaptive: bool = False,
        number: Callable[[Any], Number] = float,
    ) -> None:
        self.item = list(range(len(kinds)) if item is None else item)
        items = max(self.item, default=-1) + 1
        self.price = [1] * items if price is None else list(price)
        self.needs = [[0] * items for _ in range(items)] if needs is None else needs
        self.questions, self.worth, self.loss, self.rewards = questions, worth, loss, rewards
        self.gamma, self.start, self.alpha, self.rates = number(gamma), start, number(alpha), rates or {}
        self.explore, self.truncated, self.updates, self.backup = explore, truncated, updates, backup
        self.trusted, self.number, self.prior, self.adaptive = trusted, number, number(prior), adaptive
        self.features = [Bins(kind, bins, self.alpha > 0) for kind in kinds]
        self.tallies: dict[int, Tally] = {}
        self.root_before: dict[Any, Number] | None = None  # while an example is learned
        self.detector = ADWIN(delta=DETECTED_WITH)
        self.explored_more = 0  # how many examples of cases are still to come that are
        self.labels: list[Any] = []
        self.table: dict[State, Record] = {}

    # Bins and items

    def find_bin(self, f: int, value: Value) -> Bin:
        """Of a value; "missing" is the same however often bins are drawn."""
        if is_missing(value):
            return NO_RESULT
        feature = self.features[f]
        return value if feature.kind == "nominal" else (feature.drawn, feature.find_bin(value))

    def members(self, i: int) -> list[int]:
        return [f for f, owner in enumerate(self.item) if owner == i]

    def state_of(self, items: Iterable[int], values: Sequence[Value]) -> State:
        return frozenset((f, self.find_bin(f, values[f])) for i in items for f in self.members(i))

    def items_of(self, s: State) -> set[int]:
        return {self.item[f] for f, _ in s}

    def is_known(self, i: int, status: Sequence[int]) -> bool:
        """A group of which something was refused is not known: it cannot be asked for."""
        return all(status[f] in (KNOWN, MISSING) for f in self.members(i))

    def is_refused(self, i: int, status: Sequence[int]) -> bool:
        states = [status[f] for f in self.members(i)]
        return REFUSED in states and UNKNOWN not in states and ORDERED not in states

    def drawn(self, i: int) -> int:
        return sum(self.features[f].drawn for f in self.members(i))

    def can_be_asked(self, episode: Episode, money: Number) -> list[int]:
        """What an item requires must be on the way, or refused; given values off the way do not matter."""
        found = []
        for i in range(len(self.price)):
            needed = [j for j in range(len(self.price)) if self.needs[i][j]]
            ready = all(j in episode.items or self.is_refused(j, episode.status) for j in needed)
            to_be_had = all(episode.status[f] not in (REFUSED, ORDERED) for f in self.members(i))
            payable = self.is_known(i, episode.status) or self.price[i] <= money
            if i not in episode.items and ready and to_be_had and payable:
                found.append(i)
        return found

    # Values

    def reward(self, y: Any, k: Any) -> Number:
        """Labels that `rewards` does not name have 0 and -1."""
        if self.rewards is None:
            return self.number(-(self.loss or {}).get(y, {}).get(k, int(y != k)))
        right, wrong = self.rewards.get(y, (0, -1)) if isinstance(self.rewards, Mapping) else self.rewards
        return self.number(right if k == y else wrong)

    def largest_loss(self) -> Number:
        """Or distance of rewards, of the classes that are known; with no table it is 1 from the first on."""
        if self.rewards is None and self.loss is None:
            return 1
        if self.rewards is None:
            return max((-self.reward(y, k) for y in self.labels for k in self.labels), default=0)
        pairs = self.rewards.values() if isinstance(self.rewards, Mapping) else [self.rewards]
        if isinstance(self.rewards, Mapping):
            pairs = [self.rewards.get(y, (0, -1)) for y in self.labels]
        return max((abs(right - wrong) for right, wrong in pairs), default=0)

    def C(self, i: int) -> Number:
        """Where no answer loses anything, "auto" makes every question free."""
        if self.worth is None:
            return self.number(0)
        if self.worth != "auto":
            return self.number(self.price[i]) / self.number(self.worth)
        paid = [self.number(p) for p in self.price if p > 0]
        middle = median(paid) if paid else self.number(1)
        return self.number(self.price[i]) * max(0, self.number(self.largest_loss())) / (TIMES_MEDIAN * middle)

    def start_of(self, i: int) -> Number:
        """The largest reward is that of the known classes, 0 if there are none."""
        if self.start != "auto":
            return self.number(self.start)
        return self.gamma * max((self.reward(y, k) for y in self.labels for k in self.labels), default=0) - self.C(i)

    def P(self, i: int) -> dict[State, dict[Any, Number]]:
        """P(v | i, y) by result and label, of the results that have a tally."""
        tally, half = self.tallies[i], self.number(1) / 2
        N, V = {y: tally.total(y) for y in self.labels}, len(tally.counts)
        return {
            v: {y: (by_label.get(y, 0) + half) / (N[y] + V * half) for y in self.labels}
            for v, by_label in tally.counts.items()
        }

    def smoothed(self, s: State) -> dict[Any, Number]:
        """(n(s) share(s, y) + 1/K) / (n(s) + 1)."""
        n, shares, K = self.n(s), self.shares(s), len(self.labels)
        return {y: (n * shares.get(y, 0) + self.number(1) / K) / (n + 1) for y in self.labels}

    def model(self, s: State) -> dict[Any, Number]:
        """Naive Bayes, from the root as it is, or as it was before the example that is just learned."""
        found = dict(self.smoothed(ROOT) if self.root_before is None else self.root_before)
        for i in sorted(self.items_of(s)):
            v = frozenset((f, bin_id) for f, bin_id in s if self.item[f] == i)
            if i in self.tallies and v in self.tallies[i].counts:
                P = self.P(i)[v]
                found = {y: found[y] * P[y] for y in self.labels}
        total = sum(found.values())
        return {y: found[y] / total for y in self.labels}

    def r(self, s: State) -> dict[Any, Number]:
        """Empty where nothing is known of s."""
        n, shares = self.n(s), self.shares(s)
        if not self.labels or (n == 0 and self.prior == 0):
            return {}
        if self.prior == 0:
            return {y: shares.get(y, self.number(0)) for y in self.labels}
        model = self.model(s)
        return {y: (n * shares.get(y, 0) + self.prior * model[y]) / (n + self.prior) for y in self.labels}

    def best_report(self, shares: Mapping[Any, Number]) -> Number:
        """The most that reporting a class brings, by the shares of the classes, which need not sum to 1."""
        return max(sum(share * self.reward(y, k) for y, share in shares.items()) for k in self.labels)

    def report(self, s: State, k: Any) -> Number:
        return sum((share * self.reward(y, k) for y, share in self.r(s).items()), self.number(0))

    def guess(self, s: State, i: int) -> Number:
        r = self.r(s)
        return sum(self.best_report({y: r[y] * P[y] for y in self.labels}) for P in self.P(i).values())

    def Q(self, s: State, i: int) -> Number:
        """Of a question that was not tried: by the model alone."""
        n = self.n(s, i)
        G = self.table[s].pairs[i].G if n else self.number(0)
        if n >= EVIDENCE_ENOUGH or self.prior == 0 or i not in self.tallies:
            return G - self.C(i)
        drawn_to = 2 * self.prior
        return (n * G + drawn_to * self.gamma * self.guess(s, i)) / (n + drawn_to) - self.C(i)

    def V(self, s: State) -> Number:
        is_full = len(self.items_of(s)) >= self.questions
        questions = [] if is_full else [self.Q(s, i) for i in self.table[s].pairs]
        return max([self.best_report(self.r(s)), *questions])

    def shares(self, s: State) -> dict[Any, Number]:
        return self.table[s].shares if s in self.table else {}

    def n(self, s: State, i: int | None = None) -> Number:
        if s not in self.table:
            return 0
        if i is None:
            return self.table[s].n
        return self.table[s].pairs[i].n if i in self.table[s].pairs else 0

    # A case

    def walk(
        self,
        values: Sequence[Value],
        status: Sequence[int],
        draws: Uniform,
        *,
        explore: bool,
        left: Number = math.inf,
        bought: Collection[int] = (),
        buys: bool = False,
    ) -> Episode:
        """Go through what is known, for nothing; what is not is bought from the values, or else the way ends there.

        left: what may be spent now; bought: what was paid for before, a mapping of items to what they cost then.
        Reading: that is the price of what was bought. Without a mapping, the prices are those of now.
        """
        paid = dict(bought) if isinstance(bought, Mapping) else {i: self.price[i] for i in bought}
        episode = Episode(list(status), left, paid)
        while True:
            choice = self.choose(episode, draws, explore)
            if choice is None:
                return episode
            if not self.is_known(choice, episode.status):
                episode.asks = choice
                if not buys:
                    return episode
                episode.cost += self.price[choice]
                episode.left -= self.price[choice]
                for f in self.members(choice):
                    if episode.status[f] == UNKNOWN:
                        episode.status[f] = MISSING if is_missing(values[f]) else KNOWN
            episode.items.append(choice)
            episode.states.append(self.state_of(episode.items, values))
            episode.asks = episode.score = None

    def choose(self, episode: Episode, draws: Uniform, explore: bool) -> int | None:
        """The next question, or None with the reason in episode.stop."""
        s = episode.states[-1]
        possible = self.can_be_asked(
            episode, episode.left + sum(p for i, p in episode.paid.items() if i not in episode.items)
        )
        if len(episode.items) >= self.questions:
            episode.stop = "questions"
        elif not possible:
            episode.stop = "budget" if self.can_be_asked(episode, math.inf) else "nothing left"
        elif not explore and self.n(s) < self.trusted:
            # Looked at after rule 1.
            episode.stop = "rare"
        if episode.stop is not None:
            return None
        luck = self.draw_luck(episode, draws) if explore else None
        choice = self.choose_among(episode, possible, explore, luck)
        if choice is None or self.is_known(choice, episode.status) or self.price[choice] <= episode.left:
            return choice
        episode.score = None
        possible = self.can_be_asked(episode, episode.left)
        if not possible:
            episode.stop = "budget"
            return None
        return self.choose_among(episode, possible, explore, luck)

    def draw_luck(self, episode: Episode, draws: Uniform) -> float | None:
        """The number that draws an item, if the case wanders here."""
        wanders = episode.wandered_from is not None and self.updates == "anchored"
        explore = max(self.explore, EXPLORED_WITH) if self.explored_more else self.explore
        if not wanders and draws.uniform() >= explore:
            return None
        if episode.wandered_from is None:
            episode.wandered_from = len(episode.items)
        return draws.uniform()

    def choose_among(self, episode: Episode, possible: Sequence[int], explore: bool, luck: float | None) -> int | None:
        if luck is None:
            return self.best_question(episode, possible, explore)
        ends: list[Any] = [] if self.truncated else list(self.labels)
        drawn = math.floor(luck * (len(possible) + len(ends)))
        if drawn >= len(possible):
            episode.stop = "worth"  # A report that was drawn is told like one that was chosen.
            return None
        episode.score = self.worth_of_asking(episode.states[-1], possible[drawn], explore)
        return possible[drawn]

    def worth_of_asking(self, s: State, i: int, explore: bool) -> Number:
        """One that was not tried has what it starts with if the case explores; otherwise what the model tells."""
        return self.start_of(i) if explore and not self.n(s, i) else self.Q(s, i)

    def is_considered(self, s: State, i: int) -> bool:
        """By a case that does not explore."""
        if self.n(s, i):
            return bool(self.n(s, i) >= self.trusted)
        return self.prior > 0 and self.trusted == 0 and i in self.tallies

    def best_question(self, episode: Episode, possible: Sequence[int], explore: bool) -> int | None:
        s = episode.states[-1]
        worth = {i: self.worth_of_asking(s, i, explore) for i in possible if explore or self.is_considered(s, i)}
        best = max(worth, key=lambda i: worth[i], default=None)
        r = self.r(s)
        if best is not None and (not r or worth[best] > self.best_report(r)):
            episode.score = worth[best]
            return best
        episode.score, episode.stop = None, "worth"
        return None

    def answering(self, values: Sequence[Value], status: Sequence[int]) -> State:
        """The path of the policy over what is known, whatever the rest costs, and then over what else is known."""
        episode = self.walk(values, status, NO_LUCK, explore=False)
        items, states = list(episode.items), list(episode.states)
        for i in range(len(self.price)):
            after = self.state_of([*items, i], values)
            full = len(items) >= self.questions
            if not full and i not in items and self.is_known(i, status) and self.n(after) >= self.trusted:
                items.append(i)
                states.append(after)
        return next((s for s in reversed(states) if self.n(s) >= self.trusted), ROOT)

    def probabilities(self, values: Sequence[Value], status: Sequence[int]) -> dict[Any, Number]:
        """Empty before anything was learned."""
        b = self.answering(values, status)
        if not self.labels:
            return {}
        return self.smoothed(b) if self.prior == 0 or b == ROOT else self.r(b)

    def expected(self, values: Sequence[Value], status: Sequence[int]) -> dict[Any, Number]:
        """The reward that each answer is expected to bring."""
        shares = self.probabilities(values, status)
        return {k: sum(share * self.reward(y, k) for y, share in shares.items()) for k in sorted(shares)}

    def answer(self, values: Sequence[Value], status: Sequence[int]) -> Any:
        """None before anything was learned."""
        brings = self.expected(values, status)
        return max(brings, key=lambda k: brings[k], default=None)

    # Learning

    def buy_and_learn(
        self, row: Sequence[Value], label: Any, draws: Uniform, weight: Number = 1, left: Number = math.inf
    ) -> Episode:
        """A case that explores and buys from the row; the episode is returned as it was before anything was learned."""
        episode = self.walk(row, [UNKNOWN] * len(row), draws, explore=True, left=left, buys=True)
        self.learn_way(row, episode, label, draws, weight)
        return episode

    def learn_case(
        self,
        values: Sequence[Value],
        status: Sequence[int],
        label: Any,
        draws: Uniform,
        *,
        bought: Collection[int] = (),
        explore: bool = True,
        weight: Number = 1,
        left: Number = math.inf,
    ) -> Episode:
        """bought: items in the order in which they were bought, and as `walk` has them."""
        episode = self.walk(values, status, draws, explore=explore, left=left, bought=bought)
        for i in bought:
            if i not in episode.items and len(episode.items) < self.questions and self.is_known(i, status):
                episode.items.append(i)
        self.learn_way(values, episode, label, draws, weight)
        return episode

    def learn_row(self, row: Sequence[Value], label: Any, draws: Uniform, weight: Number = 1) -> None:
        """A whole row: paths that wander from the root on, whatever `updates` is."""
        if weight == 0:
            return
        status = [MISSING if is_missing(value) else KNOWN for value in row]
        paths = []
        for _ in range(WHOLE_WAYS):
            episode = Episode(status)
            while len(episode.items) < self.questions and (possible := self.can_be_asked(episode, math.inf)):
                episode.items.append(possible[math.floor(draws.uniform() * len(possible))])
            paths.append(episode.items)
        self.count_values(row, status, weight)
        self.count_results(range(len(self.price)), row, label, weight)
        self.update(*self.along(paths, row), row, label, weight)

    def learn_way(self, values: Sequence[Value], episode: Episode, label: Any, draws: Uniform, weight: Number) -> None:
        """A weight of 0: the example is not there. Items stay as they were asked, bins are those of now.

        Reading: errors are watched when the way is known: it is as it was before they were found to have risen.
        """
        if weight == 0:
            return
        self.watch(values, episode.status, label)
        self.count_values(values, episode.status, weight)
        self.count_results(episode.items, values, label, weight)
        states, pairs = self.along([episode.items], values)
        if self.updates != "single":
            more_states, more_pairs = self.around(episode.items, values, draws)
            if self.updates == "anchored":
                anchor = (
                    ROOT
                    if episode.wandered_from is None
                    else self.state_of(episode.items[: episode.wandered_from], values)
                )

                def fair(s: State, count: Number) -> bool:
                    return count < WARM_UP or (episode.wandered_from is not None and s >= anchor)

                more_states = {s for s in more_states if fair(s, self.n(s))}
                more_pairs = {(s, i) for s, i in more_pairs if fair(s, self.n(s, i))}
            states |= more_states
            pairs |= more_pairs
        self.update(states, pairs, values, label, weight)

    def along(self, paths: Iterable[Sequence[int]], values: Sequence[Value]) -> tuple[set[State], set[Question]]:
        """The states of paths, and the pairs that lead from each to the next."""
        states, pairs = set(), set()
        for items in paths:
            for j in range(len(items) + 1):
                states.add(self.state_of(items[:j], values))
            for j, i in enumerate(items):
                pairs.add((self.state_of(items[:j], values), i))
        return states, pairs

    def around(self, items: Sequence[int], values: Sequence[Value], draws: Uniform) -> tuple[set[State], set[Question]]:
        """All subsets of the results and all their pairs; of many items those along random orders.

        Every order is shuffled from that of the way.
        """
        if len(items) > MOST_SUBSETS_OF:
            return self.along([shuffled(items, draws) for _ in range(ORDERS)], values)
        subsets = [part for size in range(len(items) + 1) for part in combinations(items, size)]
        pairs = {(self.state_of(part, values), i) for part in subsets for i in items if i not in part}
        return {self.state_of(part, values) for part in subsets}, pairs

    def count_values(self, values: Sequence[Value], status: Sequence[int], weight: Number) -> None:
        """Bins are of like sample weight, whatever `rates` are."""
        for feature, value, state in zip(self.features, values, status, strict=True):
            if state == KNOWN and not is_missing(value):
                feature.learn(value, 0, weight)

    def count_results(self, items: Iterable[int], values: Sequence[Value], label: Any, weight: Number) -> None:
        """Old results of an item whose bins are others begin anew with it."""
        w = self.weight(label, weight)
        for i in items:
            if i not in self.tallies or self.tallies[i].drawn != self.drawn(i):
                self.tallies[i] = Tally(self.drawn(i))
            counts = self.tallies[i].counts
            for by_label in counts.values():
                if self.alpha and label in by_label:
                    by_label[label] *= (1 - self.alpha) ** w
            by_label = counts.setdefault(self.state_of([i], values), {})
            by_label[label] = by_label.get(label, self.number(0)) + w

    def watch(self, values: Sequence[Value], status: Sequence[int], label: Any) -> None:
        """Reading: no answer, before anything was learned, is no wrong one; the next 500 begin after this example."""
        if not self.adaptive:
            return
        self.explored_more = max(0, self.explored_more - 1)
        answer = self.answer(values, status)
        if self.detector.update(float(answer is not None and answer != label)) == "change":
            self.count_less()
            self.explored_more = EXPLORED_MORE

    def count_less(self) -> None:
        most = self.number(COUNTS_AT_MOST)
        for record in self.table.values():
            record.n = min(record.n, most)
            for pair in record.pairs.values():
                pair.n = min(pair.n, most)
        for tally in self.tallies.values():
            totals = {y: tally.total(y) for y in self.labels}
            for by_label in tally.counts.values():
                for y in by_label:
                    if totals[y] > most:
                        by_label[y] *= most / totals[y]

    def weight(self, label: Any, weight: Number) -> Number:
        """w of an example."""
        return self.number(weight) * self.number(self.rates.get(label, 1))

    def update(
        self,
        states: Collection[State],
        pairs: Collection[Question],
        values: Sequence[Value],
        label: Any,
        weight: Number,
    ) -> None:
        """Larger states first; at each the reports, its pairs, and V.

        Reading: root(y) is that of the examples before, but for the classes of now: a new one is among them.
        """
        if label not in self.labels:
            self.labels.append(label)
        self.root_before = self.smoothed(ROOT)
        w = self.weight(label, weight)
        touched = {*states, *(s for s, _ in pairs)}
        for s in sorted(touched, key=lambda s: -len(self.items_of(s))):
            if s in states:
                record = self.table.setdefault(s, Record(self.number(0), self.number(0)))
                record.n += w
                self.move(record.shares, label, self.rate(w, record.n))
            for i in sorted(i for t, i in pairs if t == s):
                self.update_pair(s, i, self.state_of({*self.items_of(s), i}, values), w)
            self.table[s].V = self.V(s)
        self.root_before = None

    def update_pair(self, s: State, i: int, after: State, w: Number) -> None:
        """A question about bins that were drawn anew begins anew when it is updated, not before."""
        drawn = self.drawn(i)
        pair = self.table[s].pairs.get(i)
        if pair is None or pair.drawn != drawn:
            pair = self.table[s].pairs[i] = Pair(self.number(0), self.number(0), drawn)
        pair.n += w
        a = self.rate(w, pair.n)
        self.move(pair.shares, after, a)
        pair.forgotten.pop(after, None)
        if self.backup == "sample":
            pair.G += a * (self.gamma * self.table[after].V - pair.G)
        else:
            kept = pair.forgotten
            V = {t: kept[t] if t in kept else self.table[t].V for t in pair.shares}
            pair.G = self.gamma * sum(share * V[t] for t, share in pair.shares.items())

    def rate(self, w: Number, n: Number) -> Number:
        return max(w / n, 1 - (1 - self.alpha) ** w if self.alpha else 0)

    def move(self, shares: dict[Any, Number], to: Any, a: Number) -> None:
        """share += a ((1 if it is this one else 0) - share), for all of them."""
        shares.setdefault(to, self.number(0))
        for key, share in shares.items():
            shares[key] = share + a * ((1 if key == to else 0) - share)

    def forget_half(self) -> None:
        """The half with the smallest n, never the root, of equal ones the latest first."""
        newest_first = list(reversed(self.table))
        gone = set(sorted((s for s in newest_first if s), key=lambda s: self.table[s].n)[: len(self.table) // 2])
        for record in self.table.values():
            for pair in record.pairs.values():
                lost = [t for t in pair.shares if t in gone and t not in pair.forgotten]
                pair.forgotten |= {t: self.table[t].V for t in lost}
        self.table = {s: record for s, record in self.table.items() if s not in gone}


def shuffled(items: Sequence[int], draws: Uniform) -> list[int]:
    """An order of the items.

    >>> class Half:
    ...     def uniform(self):
    ...         return 0.5
    >>> shuffled([7, 8, 9], Half())
    [7, 9, 8]
    """
    order = list(items)
    for j in range(len(order) - 1, 0, -1):
        k = math.floor(draws.uniform() * (j + 1))
        order[j], order[k] = order[k], order[j]
    return order
