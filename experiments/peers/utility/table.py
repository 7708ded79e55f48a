"""The eight sets of the paper: what learning and answering cost, and what the answers are worth."""

from __future__ import annotations

from experiments.harness.exhibits import Cell, Claim, PageTable, Report, Runs, Scale
from experiments.harness.results import Results, mean_of, show_mean
from experiments.harness.verdicts import all_hold
from experiments.papers.utility.curves import FEATURES, TITLES, follow
from experiments.papers.utility.splits import SETS
from experiments.papers.utility.verdicts import MARGIN, Gap, by_run, gap, last_lines, late

PAPERS, OURS, BAYES, TREES = ("ec2", "ig"), "ours", "bayes", ("hoeffding", "efdt")
HEADS = {"ec2": "paper's form, EC²", "ig": "paper's form, IG", OURS: "`UtilityTree()`", BAYES: "naive Bayes, all",
         "hoeffding": "`HoeffdingTree`, all", "efdt": "river EFDT, all"}  # fmt: skip
_RUNS: dict[Scale, int] = {"quick": 2, "full": 10}
# Rows to learn from, 0: all.
_ROWS: dict[Scale, int] = {"quick": 300, "full": 0}
# Trees are tested on the way: the leaves of one that has just split know nothing.
_TESTS = dict.fromkeys(TREES, 8)
_CAPTION = (
    "Features bought per row while learning; utility (standard error over runs) @ features bought per test row, by the "
    "plan that is really used. Utility is accuracy on LED, Compas and Fico, F1 weighted by class on the others. The "
    "last three read everything; of trees the better of the last row and the mean over the last quarter of the stream."
)


def cells(scale: Scale) -> list[Cell]:
    """Return who learns which set."""
    return [
        {"data": data, "learner": learner, "rows": _ROWS[scale], "tests": _TESTS.get(learner, 1), "run": run}
        for data in SETS
        for learner in HEADS
        for run in range(_RUNS[scale])
    ]


def summarize(found: Results) -> Report:
    """Return the table, and whether ours is as good for less."""
    rows = []
    for data in SETS:
        part = found.where(data=data)
        bought = [_bought(part.where(learner=name)) for name in (*PAPERS, OURS)]
        read = [_read(part.where(learner=name)) for name in (BAYES, *TREES)]
        rows.append([f"{TITLES[data]} ({FEATURES[data]} features)", *bought, *read])
    return Report([PageTable(["set", *HEADS.values()], rows, _CAPTION)], _claims(last_lines(found)))


def _bought(found: Results) -> str:
    planned, cost = mean_of(by_run(found, "planned")), mean_of(by_run(found, "planned_cost"))[0]
    return f"{mean_of(by_run(found, 'cost'))[0]:.1f}; {show_mean(planned)} @ {cost:.1f}"


def _read(found: Results) -> str:
    ends = [mean_of(by_run(part, "planned")) for part in (last_lines(found), late(found))]
    return show_mean(max(ends))


def _claims(found: Results) -> list[Claim]:
    fewer = {name: _gaps(found, name, OURS, "planned_cost") for name in PAPERS}
    better = {name: _gaps(found, OURS, name, "planned") for name in (*PAPERS, BAYES)}
    result = [
        Claim(f"It answers with fewer features than the {HEADS[name]}.", all_hold(one.is_more for one in gaps.values()),
              f"on {_count(gaps, 'is_more')}. Features fewer per row: {_words(gaps)}.")
        for name, gaps in fewer.items()
    ]  # fmt: skip
    for name, gaps in better.items():
        rival = "naive Bayes that learns and reads everything" if name == BAYES else f"the {HEADS[name]}"
        result.append(
            Claim(f"Its answers are as good as those of {rival}, or better.",
                  all_hold(one.is_close for one in gaps.values()),
                  f"on {_count(gaps, 'is_close')} at most {MARGIN:g} below, better on {_count(gaps, 'is_more')}. "
                  f"Differences: {_words(gaps)}.")
        )  # fmt: skip
    return result


def _gaps(found: Results, one: str, other: str, column: str) -> dict[str, Gap]:
    return {
        TITLES[data]: gap(found.where(data=data, learner=one), found.where(data=data, learner=other), column)
        for data in SETS
    }


def _count(gaps: dict[str, Gap], verdict: str) -> str:
    return f"{sum(getattr(one, verdict) is True for one in gaps.values())} of {len(gaps)} sets"


def _words(gaps: dict[str, Gap]) -> str:
    return ", ".join(f"{name} {one}" for name, one in gaps.items())


SPENT = Runs("peers.utility", "table", cells, follow)
