"""Figures 7 and 8: cost and utility of training by the number of hypotheses."""

from __future__ import annotations

from typing import Any

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Row, Runs, Scale
from experiments.harness.results import Results, show_mean
from experiments.harness.verdicts import all_hold, any_holds
from experiments.papers.utility.curves import FEATURES, TITLES
from experiments.papers.utility.figures import OBJECTIVES, judge, published
from experiments.papers.utility.learners import NAMES, Buyer, make
from experiments.papers.utility.panels import STYLES, finish, grid, legend, plot
from experiments.papers.utility.splits import SETS, load_split
from experiments.papers.utility.stationary import NO_NUMBERS
from experiments.papers.utility.verdicts import MARGIN, best_of, gap

# Among them the number that the paper uses elsewhere.
NUMBERS = {
    "led7": (10, 20, 40, 95, 128),
    "zoo": (10, 20, 40, 80, 161, 320),
    "spect": (5, 10, 20, 34, 70),
}
_OTHERS = OBJECTIVES[1:]


def _cells(scale: Scale) -> list[Cell]:
    runs = range(5 if scale == "quick" else 10)
    return [
        {"data": data, "learner": learner, "hypotheses": number, "run": run}
        for data, numbers in NUMBERS.items()
        for learner, number in [*((name, one) for name in OBJECTIVES for one in numbers), ("ours", 0)]
        for run in runs
    ]


def _measure(cell: Cell, seed: int) -> list[Row]:
    """Return what training costs per row, and the utility of the answers that were given meanwhile."""
    data, learner = str(cell["data"]), str(cell["learner"])
    split = load_split(data, seed)
    if learner == "ours":
        model = make(learner, data, split, seed)
    else:
        model = Buyer(published(data, split, learner, seed, hypotheses=int(cell["hypotheses"])))
    learned = model.learn(split.X, split.y)
    worth = getattr(judge(learned.answers, split.y), SETS[data].utility)
    return [{"cost": float(learned.cost.mean()), "utility": worth}]


BY_NUMBER = Runs("papers.utility", "hypotheses", _cells, _measure)


def _tables(found: Results, column: str, digits: int) -> list[PageTable]:
    tables = []
    for data, numbers in NUMBERS.items():
        rows = [
            [NAMES[name]]
            + [show_mean(found.where(data=data, learner=name, hypotheses=one).mean(column), digits) for one in numbers]
            for name in OBJECTIVES
        ]
        ours = show_mean(found.where(data=data, learner="ours").mean(column), digits)
        rows.append([f"{NAMES['ours']}, without hypotheses", *[ours] * len(numbers)])
        tables.append(PageTable([f"{TITLES[data]}, hypotheses", *map(str, numbers)], rows))
    return tables


def _costs(found: Results, cheap: str, dear: tuple[str, ...]) -> tuple[bool | None, str]:
    """Return whether an objective costs less than others on each set, over all numbers of hypotheses."""
    verdicts, seen = [], []
    for data in NUMBERS:
        rows = found.where(data=data)
        result = {name: gap(rows.where(learner=name), rows.where(learner=cheap), "cost") for name in dear}
        verdicts += [difference.is_more for difference in result.values()]
        seen.append(f"{TITLES[data]} " + ", ".join(f"{NAMES[name]} {value}" for name, value in result.items()))
    return all_hold(verdicts), "; ".join(seen)


def summarize_cost(found: Results) -> Report:
    """Return what the page says of figure 7."""
    lowest, seen = _costs(found, "ec2", _OTHERS)
    second, more = _costs(found, "ig", ("us", "random"))
    exceptions = [
        f"{TITLES[data]} with {number}"
        for data, numbers in NUMBERS.items()
        for number in numbers
        if any(_at(found, data, name, number)[0] < _at(found, data, "ec2", number)[0] for name in _OTHERS)
    ]
    also = f" Where the mean of another is below that of EC²: {', '.join(exceptions)}." if exceptions else ""
    claims = [
        Claim(
            "UFODT-EC² yields the lowest cost in all three cases.",
            lowest,
            f"what others buy more per row, over all numbers of hypotheses: {seen}.{also}",
        ),
        Claim(
            "UFODT-IG also yields a better cost than random feature selection and UFODT-US.",
            second,
            f"what these buy more per row: {more}.",
        ),
    ]
    note = f"{NO_NUMBERS} `UtilityTree()` has no hypotheses. With 128 of them LED has all there are."
    return Report(_tables(found, "cost", 2), claims, note)


def _at(found: Results, data: str, learner: str, number: int) -> tuple[float, float]:
    return found.where(data=data, learner=learner, hypotheses=number).mean("cost")


def summarize_utility(found: Results) -> Report:
    """Return what the page says of figure 8."""
    verdicts, seen, vain, costly = [], [], [], []
    for data in NUMBERS:
        rows = found.where(data=data)
        rival = best_of(rows, _OTHERS)
        difference = gap(rows.where(learner="ec2"), rows.where(learner=rival), "utility")
        verdicts.append(difference.is_close)
        seen.append(f"{TITLES[data]} {difference} to {NAMES[rival]}")
        for name in ("us", "random"):
            gained = gap(rows.where(learner=name), rows.where(learner="ec2"), "utility")
            vain.append(None if gained.is_more is None and gained.exceeds(MARGIN) is None else not gained.is_more)
            bought = gap(rows.where(learner=name), rows.where(learner="ec2"), "cost").mean
            costly.append(f"{TITLES[data]}, {NAMES[name]} {bought:+.1f} features, utility {gained}")
    claims = [
        Claim(
            "The utility of UFODT-EC² is similar to or even better than that of the other methods, at lower cost.",
            all_hold(verdicts),
            f"difference to the best other objective, which may be {MARGIN:g} better: {'; '.join(seen)}.",
        ),
        Claim(
            "Random and US require many queries, which does not necessarily help them to attain high utilities.",
            any_holds(vain),
            f"beside EC²: {'; '.join(costly)}.",
        ),
    ]
    return Report(_tables(found, "utility", 3), claims, f"{NO_NUMBERS} Utility of the answers given during training.")


def draw_cost(found: Results, figure: Any) -> None:
    """Draw figure 7."""
    _draw(found, figure, "cost", "features bought")


def draw_utility(found: Results, figure: Any) -> None:
    """Draw figure 8."""
    _draw(found, figure, "utility", "utility while training")


def _draw(found: Results, figure: Any, column: str, label: str) -> None:
    panels = grid(figure, list(NUMBERS), 1, 3)
    for axes, data in zip(panels, NUMBERS, strict=True):
        for name in OBJECTIVES:
            plot(axes, found.where(data=data, learner=name), name, "hypotheses", column, marker="o", markersize=3)
        mean, _ = found.where(data=data, learner="ours").mean(column)
        axes.axhline(mean, color=STYLES["ours"][0], linestyle=":", label=f"{NAMES['ours']}, without hypotheses")
        unit = f" ({SETS[data].utility})" if column == "utility" else f" of {FEATURES[data]}"
        finish(axes, TITLES[data], "sampled hypotheses", label + unit)
    legend(figure, panels, 5)
