"""What the page says of labels saved: labels that `Random` needs / labels that a policy needs for the same accuracy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from experiments.harness.data import Floats
from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results
from experiments.harness.verdicts import all_hold, is_above
from experiments.peers.labels.efficiency import BUDGETS, OURS, RANDOM, RANDOM_BUDGETS, RIVALS, TUNED

_DRAWS = 200
# The set whose ratios are far larger than those of others.
_FAR = "g50c"


class Ratios(NamedTuple):
    """Logarithms of the ratios at each budget, and the same for orders that were drawn again."""

    logs: Floats
    drawn: Floats

    @property
    def mean(self) -> tuple[float, float]:
        """The mean over budgets and its standard error."""
        return float(self.logs.mean()), float(self.drawn.mean(axis=1).std())

    @property
    def texts(self) -> list[str]:
        """The ratios with their standard errors."""
        errors = np.exp(self.drawn).std(axis=0)
        return [f"{ratio:.2f} ({error:.2f})" for ratio, error in zip(np.exp(self.logs), errors, strict=True)]


def read_ratios(found: Results, data: str, policy: str) -> Ratios:
    """Return the ratios of a policy on a set."""
    lines = found.where(data=data)
    runs = len(lines.unique("run"))
    random, ours = (lines.where(policy=name)["accuracy"].reshape(runs, -1) for name in (RANDOM, policy))
    draws = np.random.default_rng(0).integers(0, runs, (_DRAWS, runs))
    again = [label_ratios(random[draw].mean(axis=0), ours[draw].mean(axis=0)) for draw in draws]
    return Ratios(label_ratios(random.mean(axis=0), ours.mean(axis=0)), np.array(again))


def label_ratios(random: Floats, ours: Floats) -> Floats:
    """Return the logarithms of labels that `Random` needs for accuracies, divided by labels that they took."""
    rising = np.maximum.accumulate(random) + 1e-12 * np.arange(len(random))
    ratios: Floats = np.interp(ours, rising, np.log(RANDOM_BUDGETS)) - np.log(BUDGETS)
    return ratios


def summarize(found: Results) -> Report:
    """Return the ratios of `Uncertain` by set, those of all by budget, and what follows."""
    sets = [data for data in found.unique("data") if data != TUNED]
    known = {policy: {data: read_ratios(found, data, policy) for data in sets} for policy in (OURS, *RIVALS)}
    claims = [_saves(known[OURS]), _saves_everywhere(known[OURS]), _saves_early(known[OURS]), _beats(known),
              _saves_tuned(found)]  # fmt: skip
    return Report([_table_of_sets(found, known[OURS]), _table_of_means(known)], claims)


def _table_of_sets(found: Results, ours: dict[str, Ratios]) -> PageTable:
    rows = []
    for data, ratios in {**ours, f"{TUNED} *": read_ratios(found, TUNED, OURS)}.items():
        random = found.where(data=data.removesuffix(" *"), policy=RANDOM)
        score = (f"{random.where(budget=budget).mean('accuracy')[0]:.3f}" for budget in (0.1, 1.0))
        rows.append([data, *ratios.texts, *score])
    budgets = [f"{budget:.0%}" for budget in BUDGETS]
    caption = (
        "Labels that `Random` needs / labels that `Uncertain` needs for the same accuracy, mean of "
        f"{len(found.unique('run'))} orders of at most {found['most'].max():,} rows (standard error by drawing orders "
        "again); and the accuracy of `Random`. More than all labels cannot be needed: at 20 % the ratio is at most 5. "
        "\\* one of the streams on which `Uncertain` was tuned, in no mean."
    )
    return PageTable([f"`{OURS}`", *budgets, "`Random`, 10%", "all labels"], rows, caption)


def _table_of_means(known: dict[str, dict[str, Ratios]]) -> PageTable:
    rows = []
    for policy, ratios in known.items():
        table = np.array([one.logs for one in ratios.values()])
        rest = np.array([one.logs for data, one in ratios.items() if data != _FAR])
        means = [*table.mean(axis=0), table.mean(), rest.mean(), table.min()]
        rows.append([f"`{policy}`", *(f"{value:.2f}" for value in np.exp(means))])
    heads = ["policy", *(f"{budget:.0%}" for budget in BUDGETS), "all", f"without {_FAR}", "least"]
    return PageTable(heads, rows, f"Geometric means of the same ratio over {len(known[OURS])} sets, policy by policy.")


def _over_sets(logs: list[float]) -> tuple[float, float]:
    return Results({"log": np.array(logs)}).mean("log")


def _span(result: tuple[float, float]) -> str:
    low, middle, high = np.exp([result[0] - 2 * result[1], result[0], result[0] + 2 * result[1]])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def _saves(ours: dict[str, Ratios]) -> Claim:
    result = _over_sets([one.mean[0] for one in ours.values()])
    seen = f"ratio {_span(result)}, geometric mean over sets and budgets, within two standard errors over sets."
    return Claim(f"`{OURS}` needs fewer labels than `Random` for the same accuracy.", is_above(result), seen)


def _saves_everywhere(ours: dict[str, Ratios]) -> Claim:
    verdicts = {data: is_above(one.mean) for data, one in ours.items()}
    cases = [(one.logs[at], one.drawn[:, at].std()) for one in ours.values() for at in range(len(BUDGETS))]
    fewer, more = (sum(is_above(case) is wanted for case in cases) for wanted in (True, False))
    named = partial(_names, verdicts)
    seen = (
        f"over budgets, by more than two standard errors over orders, fewer on {named(True)}; more on {named(False)}; "
        f"neither on {named(None)}. Of {len(cases)} pairs of set and budget fewer in {fewer}, more in {more}."
    )
    return Claim("Fewer on every set.", all_hold(verdicts.values()), seen)


def _names(verdicts: dict[str, bool | None], wanted: bool | None) -> str:
    return ", ".join(data for data, verdict in verdicts.items() if verdict is wanted) or "none"


def _saves_early(ours: dict[str, Ratios]) -> Claim:
    result = _over_sets([float(one.logs[0]) for one in ours.values()])
    return Claim(
        f"Fewer already at a budget of {BUDGETS[0]:.0%}.", is_above(result), f"ratio {_span(result)} over sets."
    )


def _beats(known: dict[str, dict[str, Ratios]]) -> Claim:
    ours = known[OURS]
    gains = {
        policy: _over_sets([ours[data].mean[0] - theirs.mean[0] for data, theirs in known[policy].items()])
        for policy in RIVALS
    }
    result = ", ".join(f"`{policy}` {_span(result)}" for policy, result in gains.items())
    says = f"`{OURS}` needs fewer labels than the published policies."
    return Claim(says, all_hold(map(is_above, gains.values())), f"labels of theirs / ours: {result}.")


def _saves_tuned(found: Results) -> Claim:
    read: Callable[[str], Ratios] = partial(read_ratios, found, TUNED)
    result = ", ".join(
        f"`{policy}` " + ", ".join(f"{ratio:.2f}" for ratio in np.exp(read(policy).logs)) for policy in (OURS, *RIVALS)
    )
    says = f"Fewer also on the {TUNED}, where doubt looks the same everywhere until the right split is found."
    return Claim(says, is_above(read(OURS).mean), f"ratios from the smallest budget to the largest: {result}.")
