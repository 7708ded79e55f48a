"""Asking as `docs/asking.md` tells it: every row is kept and every sum is made anew at each step.

The papers' algorithms stand beside it, written from their own text; the unpaced forms must agree with them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from quercus.ask import Labels, Money, Share

BY_THRESHOLD = ("VariableUncertainty", "RandomizedUncertainty", "Split")
SPLIT = ("Split", "SplitConfident")
WORD = 2**64 - 1


# What fits a budget but for the rounding of floats fits.
ROUNDING = 1 + 1e-12


class Row(NamedTuple):
    day: int
    price: float
    cost: float
    asked: bool


class NaiveDecision(NamedTuple):
    asked: bool
    explored: bool
    propensity: float
    worth: float
    covered: bool


def xoshiro(words):
    """Blackman & Vigna's xoshiro256++; yields numbers in [0, 1) made of the upper 53 bits."""
    s = [int(word) for word in words]
    while True:
        yield (_rotate((s[0] + s[3]) & WORD, 23) + s[0] & WORD) // 2**11 / 2**53
        shifted = s[1] << 17 & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = _rotate(s[3], 45)


def add(numbers):
    """Return the plain sum; `sum` corrects rounding from Python 3.12 on, and a gate may hang on the last bit."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _rotate(word, places):
    return (word << places | word >> 64 - places) & WORD


class NaiveAsker:
    """One row at a time: `decide` gets what the policy sees and what the label costs, and draws the next number."""

    def __init__(self, policy, draws, rows=None):
        self.policy, self.kind, self.draws = policy, type(policy).__name__, draws
        self.budget = policy.budget
        if isinstance(self.budget, float):
            self.budget = Share(self.budget)
        if isinstance(self.budget, int):
            self.budget = Labels(self.budget)
        self.explore = policy.explore
        self.horizon = getattr(self.budget, "rows", None) or rows
        self.rows = []
        self.today = None
        self.covered = 0
        self.theta = self.scale = 1.0

    def decide(self, margin, confidence, m, price=1.0, day=0, given=None):
        u = next(self.draws)
        self.knows = confidence > 0
        c = price if isinstance(self.budget, Money) else 1.0
        self._turn_to(day)
        r = self.rate()
        b = min(r, c) / c if r is not None and c > 0 else self.explore
        s = self.score(b, margin, confidence, m) if given is None else given
        if not self.may_ask(c):
            asked, explored, pi = False, False, 0.0
        elif c == 0 or self.kind == "Always":
            # Asked whatever happens: nothing but chance, and that is 1, has chosen the row.
            asked, explored, pi = True, True, 1.0
        elif self.policy.paced and r is not None:
            asked, explored, pi = self._paced(u, s, b, c, r)
        else:
            asked, explored, pi = self._unpaced(u, s, b)
        covered = pi > 0 and pi >= self.least()
        self.covered += covered
        self.rows.append(Row(self.today, price, c, asked))
        return NaiveDecision(asked, explored, pi, s, covered)

    @property
    def t(self):
        """Rows seen, the one that is being decided about included."""
        return len(self.rows) + 1

    @property
    def asked(self):
        return sum(row.asked for row in self.rows)

    def spent(self):
        """Return what was spent, today if the budget is for a day, in units of the budget."""
        return add(row.cost for row in self.rows if row.asked and (not self._daily() or row.day == self.today))

    def paid(self):
        return add(row.price for row in self.rows if row.asked)

    def in_window(self):
        """Rows asked among the last W, the one that is being decided about included."""
        return sum(row.asked for row in self.rows[max(self.t - self.budget.window, 0) :])

    def _daily(self):
        return getattr(self.budget, "per", None) == "day"

    def _turn_to(self, day):
        # Time does not run backwards: a row of an earlier day belongs to the latest one.
        self.today = day if self.today is None else max(self.today, day)

    def usual_rows(self):
        """Rows of a usual day: the first day's, then halfway to each day that ends; None on the first day."""
        usual = None
        for day in sorted({row.day for row in self.rows} - {self.today}):
            rows = sum(row.day == day for row in self.rows)
            usual = rows if usual is None else (usual + rows) / 2
        return usual

    def may_ask(self, c):
        budget = self.budget
        if budget is None:
            return True
        if isinstance(budget, Share) and budget.window is not None:
            return self.in_window() < math.floor(budget.share * budget.window)
        if isinstance(budget, Share) and not budget.strict:
            return self.spent() < budget.share * self.t
        if isinstance(budget, Share):
            return self.spent() + c <= budget.share * self.t * ROUNDING
        if budget.per == "row":
            return self.spent() + c <= budget.amount * self.t * ROUNDING
        return self.spent() + c <= self._amount() * ROUNDING

    def _amount(self):
        return self.budget.number if isinstance(self.budget, Labels) else self.budget.amount

    def rate(self):
        """Return what may be spent on this row on the average; None where nobody can tell or nothing is left."""
        return self._rate() or None

    def _rate(self):
        if self.budget is None:
            return None
        if isinstance(self.budget, Share):
            return self.budget.share
        if self.budget.per == "row":
            return self.budget.amount
        if self.budget.per == "day":
            usual = self.usual_rows()
            if usual is None:
                return None
            d = sum(row.day == self.today for row in self.rows) + 1
            return (self._amount() - self.spent()) / max(usual - d + 1, usual / 20, 1)
        if self.horizon is None:
            return None
        return (self._amount() - self.spent()) / max(self.horizon - self.t + 1, 1)

    def score(self, b, margin, confidence, m):
        h = margin / 2
        if self.kind in ("Random", "Always"):
            return 1.0
        if self.kind in ("VariableUncertainty", "Split"):
            return 1.0 if confidence < self.theta else 0.0
        if self.kind == "RandomizedUncertainty":
            return math.erfc((confidence / self.theta - 1) / math.sqrt(2)) / 2
        if self.kind == "SelectiveSampling":
            return 1.0 if h == 0 else b / (b + h)
        if self.kind in ("Confident", "SplitConfident"):
            eps = math.sqrt(math.log(2 * self.t**2) / (2 * m)) if m > 0 else math.inf
            return (b + eps) / (b + eps + h) if h > eps else 1.0
        return (1 - max(0, margin - self.policy.caution / math.sqrt(m + 1))) ** self.policy.power

    def reserve(self, c):
        """Return g, which holds back while there is little in hand and lets go while there is much."""
        if isinstance(self.budget, Share) and self.budget.window is not None:
            share, window = self.budget.share, self.budget.window
            in_hand = share * min(self.t, window) - self.in_window()
            return min(max(in_hand / max(0.03 * share * window, 1), 0), 8)
        if isinstance(self.budget, Share) or self.budget.per == "row":
            earned = self.rate() * self.t
            mean_price = self.spent() / self.asked if self.spent() else c
            return min(max((earned - self.spent()) / min(6 * mean_price, earned / 2), 0), 8)
        return 1.0

    def _paced(self, u, s, b, c, r):
        f = self.explore * b
        g = self.reserve(c)
        if self.kind in BY_THRESHOLD:
            w = max(s, f)
            chance = w * min(g, 1)
            most = 100 if self.kind == "RandomizedUncertainty" else 1.01
            if self.knows:
                self.theta = min(self.theta * (1 + self.policy.step * (b * g - w)), most)
        else:
            w = min(max(self.scale * b * s, f), 1)
            chance = self.scale * b * s * g
            self.scale = min(self.scale * math.exp(0.01 * max(1 - w * c / r, -20)), 10**4)
        pi = min(max(chance, f), 1)
        return u < pi, u < pi and (u < f or self.kind == "Random"), pi

    def _unpaced(self, u, s, b):
        if self.kind == "Random":
            return u < b, u < b, b
        if self.kind not in SPLIT:
            self._move_theta(u < s)
            return u < s, False, s
        pi = self.explore * b + (1 - self.explore) * s
        if u < self.explore:
            return u < self.explore * b, u < self.explore * b, pi
        asked = (u - self.explore) / (1 - self.explore) < s
        self._move_theta(asked)
        return asked, False, pi

    def _move_theta(self, asked):
        if self.kind in BY_THRESHOLD and self.knows:
            self.theta *= 1 - self.policy.step if asked else 1 + self.policy.step

    def least(self):
        """Return the propensity from which on a row is covered."""
        price = self.policy.price if isinstance(self.budget, Money) else 1.0
        if not self.policy.paced or self.explore == 0 or callable(price) or isinstance(price, str) or price == 0:
            return 1e-4
        if isinstance(self.budget, Share):
            return self.explore * self.budget.share
        if getattr(self.budget, "per", None) == "row":
            return self.explore * min(self.budget.amount / price, 1)
        if self.budget is not None and self.budget.per is None and self.horizon:
            return self.explore * min(self._amount() / self.horizon / price, 1) / 2
        return 1e-4


# The papers' forms; p the probability of the answer among two classes, `draw` gives the next uniform number.


def over_budget(asked, seen, B):
    return asked >= B * seen


def algorithm_2(p, m, t, B, draw):
    """ConfTree: ask in a leaf that is not consistent (eq. 6, delta = 1/t), seldom in the others."""
    if m == 0:
        return True
    eps = math.sqrt(math.log(2 * t**2) / (2 * m))
    if abs(p - 1 / 2) <= eps:
        return True
    return draw() < (B + eps) / (B + eps + abs(p - 1 / 2))


def algorithm_4(B, draw):
    """Rnd."""
    return draw() < B


def algorithm_5(confidence, theta, step):
    """VarUn; returns whether to ask, and the new threshold."""
    if confidence < theta:
        return True, theta * (1 - step)
    return False, theta * (1 + step)


def algorithm_6(confidence, theta, step, B, nu, draw):
    """Split: Rnd with probability nu, VarUn otherwise."""
    if draw() < nu:
        return algorithm_4(B, draw), theta
    return algorithm_5(confidence, theta, step)
