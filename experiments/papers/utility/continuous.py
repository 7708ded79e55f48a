"""Figures 4 and 6: three sets of numbers, by all thresholds, by drawn ones, and with a selection of features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.harness.exhibits import Claim, PageTable, Report
from experiments.harness.results import Results, mean_of, show_mean
from experiments.harness.verdicts import all_hold
from experiments.papers.utility.curves import CONTINUOUS, FEATURES, TITLES
from experiments.papers.utility.learners import NAMES, RIVER, TREES
from experiments.papers.utility.panels import finish, legend, plot
from experiments.papers.utility.selection import Selection, expect
from experiments.papers.utility.splits import SETS
from experiments.papers.utility.stationary import NO_NUMBERS, without_ours
from experiments.papers.utility.verdicts import MARGIN, Gap, best_of, by_run, gap, late

_FIGURE_4 = ("ec2", "ig", "ec2-exp3", "ig-exp3", "vfdt", "hoeffding", "efdt", "ours")
_FIGURE_6 = ("ec2", "ig", "ec2-ofs", "ig-ofs", "vfdt", "hoeffding", "efdt")
# A cost that is higher by no more than this share is slightly higher.
_SLIGHT = 0.25
_SELECTED = ("ec2", "ec2-ofs", "ec2-select", "ig", "ig-ofs", "ig-select", "ours")


def _each(
    seen: Callable[[str], Gap], holds: Callable[[Gap], bool | None], sets: Sequence[str] = CONTINUOUS
) -> tuple[bool | None, str]:
    """Return whether something holds on every set, and the differences."""
    gaps = {data: seen(data) for data in sets}
    return all_hold(map(holds, gaps.values())), ", ".join(f"{TITLES[data]} {value}" for data, value in gaps.items())


def _between(found: Results, ours: str, theirs: str, column: str) -> Callable[[str], Gap]:
    return lambda data: gap(found.where(data=data, learner=ours), found.where(data=data, learner=theirs), column)


def _to_tree(found: Results, learner: str, trees: Sequence[str] = TREES) -> Callable[[str], Gap]:
    """Return what tells how much better a learner is than the best tree on a set."""

    def result(data: str) -> Gap:
        rows = found.where(data=data)
        return gap(rows.where(learner=learner), rows.where(learner=best_of(rows, trees)), "utility")

    return result


def _tables(found: Results, learners: Sequence[str]) -> list[PageTable]:
    end, heads = late(found), ["", *(NAMES[name] for name in learners)]

    def table(rows: Results, column: str, digits: int) -> list[list[str]]:
        return [
            [
                TITLES[data],
                *(show_mean(mean_of(by_run(rows.where(data=data, learner=name), column)), digits) for name in learners),
            ]
            for data in CONTINUOUS
        ]

    plans = [[TITLES[data], *(_plan(end.where(data=data, learner=name)) for name in learners)] for data in CONTINUOUS]
    return [
        PageTable(heads, table(found, "cost", 2), "Features bought per row, over the whole of training."),
        PageTable(
            heads, table(end, "utility", 3), "Test utility (F1) over the last quarter of training, by all features."
        ),
        PageTable(heads, plans, "The same by the plan that is really used: utility @ features bought per test row."),
    ]


def _plan(rows: Results) -> str:
    utility, cost = (mean_of(by_run(rows, column))[0] for column in ("planned", "planned_cost"))
    return f"{utility:.3f} @ {cost:.1f}"


def summarize_thresholds(found: Results) -> Report:
    """Return what the page says of figure 4."""
    end = late(found)
    claims = [_cheaper(found), _competitive(end), _lowest(found), _second(found), _reaches(end)]
    claims += [_drawn(end, found), _even_better(end, found)]
    note = (
        f"{NO_NUMBERS} Thresholds are .1 to .9 of the range of each column, eta is .01, and a value that was bought "
        f"counts for all thresholds. Competitive means at most {MARGIN:g} below. Running times are told apart, below."
    )
    return Report(_tables(found, _FIGURE_4), claims, note)


def _cheaper(found: Results) -> Claim:
    verdicts = [_each(_between(found, "vfdt", name, "cost"), lambda one: one.is_more)[0] for name in ("ec2", "ig")]
    shares = []
    for data in CONTINUOUS:
        costs = [mean_of(by_run(found.where(data=data, learner=name), "cost"))[0] for name in ("ec2", "ig")]
        shares.append(f"{TITLES[data]} {costs[0] / FEATURES[data]:.0%} and {costs[1] / FEATURES[data]:.0%}")
    return Claim(
        "The framework has an exceptionally lower feature acquisition cost than EFDT and VFDT.",
        all_hold(verdicts),
        f"EC² and IG buy these shares of all features: {', '.join(shares)}.",
    )


def _is_competitive(end: Results, learners: Sequence[str], trees: Sequence[str]) -> tuple[bool | None, str]:
    result = {name: _each(_to_tree(end, name, trees), lambda one: one.is_close) for name in learners}
    seen = "; ".join(f"{NAMES[name]} {seen}" for name, (_, seen) in result.items())
    return all_hold(verdict for verdict, _ in result.values()), seen


def _competitive(end: Results) -> Claim:
    verdict, seen = _is_competitive(end, ("ec2", "ig"), TREES)
    alone = without_ours(*_is_competitive(end, ("ec2", "ig"), RIVER))
    return Claim(
        "UFODT-EC² and UFODT-IG have competitive prediction accuracy compared to EFDT and VFDT.",
        verdict,
        f"difference to the best tree: {seen}. {alone}",
    )


def _lowest(found: Results) -> Claim:
    result = {name: _each(_between(found, name, "ec2", "cost"), lambda one: one.is_more) for name in _FIGURE_4[1:4]}
    return Claim(
        "UFODT-EC² generally has the lowest cost for feature querying.",
        all_hold(verdict for verdict, _ in result.values()),
        "what others buy more per row: "
        + "; ".join(f"{NAMES[name]} {seen}" for name, (_, seen) in result.items())
        + ".",
    )


def _second(found: Results) -> Claim:
    verdict, seen = _slightly(found, "ig", "ec2")
    return Claim(
        "UFODT-IG yields a slightly higher cost than UFODT-EC².",
        verdict,
        f"features bought more per row, of which a quarter more would be slight: {seen}.",
    )


def _reaches(end: Results) -> Claim:
    verdict, seen = _is_competitive(end, ("ig",), TREES)
    alone = without_ours(*_is_competitive(end, ("ig",), RIVER))
    return Claim(
        "UFODT-IG reaches the same or even better test utilities than EFDT and VFDT.",
        verdict,
        f"difference to the best tree, of which {-MARGIN:g} still counts as the same: {seen}. {alone}",
    )


def _slightly(found: Results, dear: str, cheap: str) -> tuple[bool | None, str]:
    """Return whether a learner costs at most a quarter more than another on every set, and by how much."""
    verdicts, seen = [], []
    for data in CONTINUOUS:
        difference = _between(found, dear, cheap, "cost")(data)
        base = mean_of(by_run(found.where(data=data, learner=cheap), "cost"))[0]
        more = difference.exceeds(_SLIGHT * base)
        verdicts.append(None if more is None else not more)
        seen.append(f"{TITLES[data]} {difference} to {base:.2f}")
    return all_hold(verdicts), ", ".join(seen)


def _drawn(end: Results, found: Results) -> Claim:
    parts, verdicts = [], []
    for name in ("ec2", "ig"):
        close, seen = _each(_between(end, f"{name}-exp3", name, "utility"), lambda one: one.is_close)
        slight, costs = _slightly(found, f"{name}-exp3", name)
        verdicts += [close, slight]
        parts.append(f"{NAMES[name]}-Exp3 utility {seen}; features {costs}")
    return Claim(
        "Costs and test utilities of learning thresholds (Algorithm 5) are competitive with exhaustive search.",
        all_hold(verdicts),
        f"difference to exhaustive search, where a quarter more features would do: {'. '.join(parts)}.",
    )


def _even_better(end: Results, found: Results) -> Claim:
    better, seen = _each(_between(end, "ec2-exp3", "ec2", "utility"), lambda one: one.is_more)
    slight, costs = _slightly(found, "ec2-exp3", "ec2")
    return Claim(
        "UFODT-EC²-Exp3 yields even better test utility than UFODT-EC² with slightly higher cost.",
        all_hold([better, slight]),
        f"utility {seen}; features, of which a quarter more would be slight, {costs}.",
    )


def draw_thresholds(found: Results, figure: Any) -> None:
    """Draw figure 4: costs above, test utilities below."""
    _draw(found, figure, _FIGURE_4)


def _draw(found: Results, figure: Any, learners: Sequence[str]) -> None:
    panels = figure.subplots(2, len(CONTINUOUS), sharex="col")
    for (above, below), data in zip(panels.T, CONTINUOUS, strict=True):
        for name in learners:
            rows = found.where(data=data, learner=name)
            plot(above, rows, name, "step", "cost")
            plot(below, rows, name, "step", "planned" if name == "ours" else "utility")
        finish(above, TITLES[data], "", "features bought")
        finish(below, "", "time step", f"test utility ({SETS[data].utility})")
        above.set_ylim(0, FEATURES[data] * 1.05)
    legend(figure, panels.flat, len(learners))


def summarize_selection(found: Results) -> Report:
    """Return what the page says of figure 6."""
    end = late(found)
    claims = [_selects_less(found), _loses(end), _catches_up(end), _keeps(end), _unbiased()]
    note = (
        f"{NO_NUMBERS} How many features are selected is not told: half of them here, and epsilon is .1. OFS is the "
        "perceptron of appendix E with its printed estimate; `select` is our own selection, by the score of each "
        f"feature when nothing is known. Very close means at most {MARGIN:g} below."
    )
    return Report(_tables(found, _SELECTED), claims, note)


def _selects_less(found: Results) -> Claim:
    result = {
        name: _each(_between(found, name, f"{name}-ofs", "cost"), lambda one: one.is_more) for name in ("ec2", "ig")
    }
    return Claim(
        "OFS clearly reduces the querying cost of UFODT for both EC² and IG.",
        all_hold(verdict for verdict, _ in result.values()),
        "features bought less per row, with half of them selected (a smaller share would cost less): "
        + "; ".join(f"{NAMES[name]} {seen}" for name, (_, seen) in result.items())
        + ".",
    )


def _loses(end: Results) -> Claim:
    verdict, seen = _each(_between(end, "ec2", "ec2-ofs", "utility"), lambda one: one.is_more, ["diabetes"])
    _, others = _each(_between(end, "ec2", "ec2-ofs", "utility"), lambda one: one.is_more, CONTINUOUS[1:])
    return Claim(
        "Selection decreases the test utility of UFODT-EC², especially on Diabetes.",
        verdict,
        f"what EC² without selection is better by: {seen}, {others}.",
    )


def _catches_up(end: Results) -> Claim:
    verdict, seen = _each(_between(end, "ec2-ofs", "ec2", "utility"), lambda one: one.is_close, CONTINUOUS[1:])
    return Claim(
        "On Breast cancer and Fetal health UFODT-EC²-OFS is very close to UFODT-EC², or reaches it later.",
        verdict,
        f"difference over the last quarter: {seen}.",
    )


def _keeps(end: Results) -> Claim:
    verdict, seen = _each(_between(end, "ig-ofs", "ig", "utility"), lambda one: one.is_close)
    return Claim("The test utility of UFODT-IG-OFS is very close to that of UFODT-IG.", verdict, f"difference: {seen}.")


def _unbiased() -> Claim:
    """Look at the estimate for six features, half of them selected, some of which are bought every other time."""
    values = np.ones(6)
    result = expect(values, Selection([1, 1, 1, 0, 0, 0], [1.0, 0.5, 0.5, 1.0, 0.5, 0.5], epsilon=0.1)).printed
    shown = ", ".join(f"{value:.2f}" for value in result)
    return Claim(
        "The estimate of a feature in appendix E is right on average.",
        bool(np.allclose(result, values)),
        "of six features whose value is 1, three of the greedy subset first, the second and third of each half bought "
        f"every other time, the estimates are on average {shown}: right only for what is always selected and bought.",
    )


def draw_selection(found: Results, figure: Any) -> None:
    """Draw figure 6: costs above, test utilities below."""
    _draw(found, figure, _FIGURE_6)
