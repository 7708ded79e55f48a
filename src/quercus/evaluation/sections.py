"""The sections of a report: what each shows of a run, or of several beside each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quercus.evaluation import charts
from quercus.evaluation.canvas import alt
from quercus.evaluation.tables import cost_rows, figure_rows, label_rows, probability_rows
from quercus.evaluation.words import show, show_bounds
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.evaluation.run import Run
    from quercus.explain import TreeView

_NOTES = (
    "A row is answered first and learned afterwards. One that was answered before any class was known counts as "
    "wrong. Log-loss takes no probability for less than 0.000001. The Brier score is summed over classes. Average "
    "precision is that of the smaller of two classes, or the mean over more, from scores sorted into 1,024 bins. Time "
    "is that of the learner alone."
)
_COST = "What was bought of a row, on average; at first everything is bought once in a while, to learn what it tells."
_LABELS = (
    "All rows are known in a test; in use there are only the labels that were asked for. Weighted by the probability "
    "with which each was asked they tell the accuracy over all rows, within bounds that hold at every moment with a "
    "probability of 95%."
)
_MOST_CLASSES = 1000
_MOST_FEATURES = 200
_MANY_CLASSES = 12


@dataclass(frozen=True)
class ReportPart:
    """A part of a section: a chart, a table or a piece of HTML, and what is to be said of it.

    Parameters
    ----------
    title, note
        What stands above, and below.
    spec
        A chart, in the terms of Vega-Lite.
    fits
        Whether the chart takes the width of the page, or its own.
    wide
        Whether it stands alone in its row.
    head, rows, names
        A table, and how many of its columns hold names and not numbers.
    html
        Anything else.
    """

    title: str = ""
    note: str = ""
    spec: dict[str, Any] | None = None
    fits: bool = True
    wide: bool = False
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    names: int = 1
    html: str = ""


@dataclass(frozen=True)
class Section:
    """A section: what all runs share, and the parts of each run, to stand beside those of the others."""

    title: str
    note: str = ""
    shared: Sequence[ReportPart] = ()
    each: Sequence[tuple[str, Sequence[ReportPart]]] = ()


def make_sections(runs: Sequence[Run]) -> list[Section]:
    """Return the sections that have something to show."""
    met = [run for run in runs if run.rows]
    blocks = [run for run in met if len(run.windows["rows"]) >= 3]
    sizes = " or ".join(dict.fromkeys(plural(run.window, "row") for run in blocks))
    in_blocks = f"Each point is {sizes} by itself, so that a change in the stream shows where it happens."
    alike = all(run.features == runs[0].features for run in runs)
    found = [
        Section("Accuracy along the stream", shared=[_drawn(charts.accuracy_chart(met), wide=True)] if met else []),
        Section("What the features cost", _COST, _cost(met), _each(met, _purchases)),
        Section("What the labels cost and tell", _LABELS, each=_each(met, _estimate)),
        Section("Block by block", in_blocks, [_drawn(charts.blocks_chart(met), wide=True)] if blocks else []),
        Section("Other curves", shared=[_drawn(one, title=title) for title, one in charts.small_charts(met).items()]),
        Section("Classes", each=_each(met, _classes)),
        _probabilities(met),
        Section("What the features are worth", each=_each(met, _importances)),
        Section("The tree at the end", each=_each(met, _tree)),
    ]
    found.insert(len(found) if len(runs) == 1 else 0, _figures(runs))
    found.append(Section("Parameters", each=_each(runs, _parameters)))
    if alike:
        found.append(Section(f"Features of {runs[0].stream}", shared=_features(runs[0])))
    else:
        found.append(Section("Features", each=_each(runs, _features)))
    return [section for section in found if section.shared or section.each]


def _cost(runs: Sequence[Run]) -> list[ReportPart]:
    bought = any(run.cost is not None for run in runs)
    return [_drawn(charts.cost_chart(runs), wide=True)] if bought else []


def _purchases(run: Run) -> list[ReportPart]:
    if run.cost is None:
        return []
    paid = [("accuracy", show(run.accuracy)), *cost_rows(run)]
    bars = charts.bar_chart(run.bought, "bought in so many rows")
    return [_table(("", "", ""), paid), _drawn(bars)]


def _estimate(run: Run) -> list[ReportPart]:
    if run.fair is None:
        return []
    known = dict(zip(run.classes, run.confusion.tolist(), strict=True))
    recalls = []
    for label, figure in list(run.fair_recall.items())[:_MOST_CLASSES]:
        counts = known[label]
        true = counts[run.classes.index(label)] / sum(counts) if sum(counts) else None
        recalls.append([str(label), f"{figure.labels:,}", show(true, 3), show(figure.value, 3), show_bounds(figure, 3)])
    head = ("class", "labels", "recall", "told by labels", "bounds")
    return [_drawn(charts.estimate_chart(run), wide=True), _table(("", "", ""), label_rows(run)), _table(head, recalls)]


def _classes(run: Run) -> list[ReportPart]:
    totals, areas = run.confusion.sum(axis=1), run.roc
    lines = []
    for i in np.argsort(-totals, kind="stable")[:_MOST_CLASSES]:
        label, right, answers = run.classes[i], int(run.confusion[i, i]), int(run.confusion[:, i].sum())
        shares = [right / totals[i] if totals[i] else None, right / answers if answers else None, run.f1.get(label)]
        shares += [float(areas[label]["auc"]) if label in areas else None] if areas else []
        lines.append([str(label), f"{totals[i]:,}", f"{answers:,}", *(show(share, 3) for share in shares)])
    head = ["class", "rows", "answers", "recall", "precision", "F1", *(["ROC area"] if areas else [])]
    said = (
        "True class by row, answer by column; blue is right, orange wrong; the stronger, the larger a part of its row."
    )
    confusion = ReportPart("Who was taken for whom", said, _spec(charts.confusion_chart(run)), fits=False,
                     wide=len(run.classes) > _MANY_CLASSES)  # fmt: skip
    more = len(run.classes) - len(lines)
    note = f"and {plural(more, 'class')} more" if more else ""
    return [_table(head, lines, note=note, wide=confusion.wide), confusion]


def _probabilities(runs: Sequence[Run]) -> Section:
    told = any(run.calibration for run in runs)
    shared = [_drawn(charts.calibration_chart(runs), title="Calibration")] if told else []
    title = "Receiver operating characteristic"
    drawn = _each(runs, lambda run: [_drawn(charts.roc_chart(run), title=title)] if run.roc else [])
    if len(runs) == 1:
        return Section("Probabilities", shared=[*shared, *(part for _, parts in drawn for part in parts)])
    return Section("Probabilities", shared=shared, each=drawn)


def _importances(run: Run) -> list[ReportPart]:
    shares = _shares(run)
    return [_drawn(charts.bar_chart(shares, "share in what all splits gained"), wide=True)] if shares else []


def _shares(run: Run) -> dict[str, float]:
    """Return the importance of each feature; nothing if the learner does not tell."""
    if not run.labels:
        return {}
    try:
        shares = np.asarray(run.learner.feature_importances_, np.float64)
    except (AttributeError, ValueError):
        return {}
    names = [feature["name"] for feature in run.features]
    if len(names) != len(shares) or not shares.any():
        return {}
    return dict(zip(names, shares.tolist(), strict=True))


def _tree(run: Run) -> list[ReportPart]:
    """Return the tree at the end, or what it would ask for, if it is there."""
    from quercus import explain

    if run.labels and hasattr(run.learner, "view"):
        return [ReportPart(html=explain.to_html(_with_names(run.learner.view(), run)), wide=True)]
    if run.labels and hasattr(run.learner, "buy_and_learn"):
        return [ReportPart(html=run.learner.tree().to_html(), wide=True)]
    return []


def _figures(runs: Sequence[Run]) -> Section:
    if len(runs) == 1:
        rows = [[*row[:2], *(_compared(cell) for cell in row[2:])] for row in _all_rows(runs[0])]
        return Section("All figures", shared=[_table(("", "", ""), rows, note=_NOTES)])
    columns = [{row[0]: row[1] for row in _all_rows(run)} for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [[name, *(column.get(name, "") for column in columns)] for name in names]
    return Section("All figures", shared=[_table(("", *charts.named(runs)), rows, note=_NOTES, wide=True)])


def _compared(cell: str) -> str:
    """Say of a difference to a baseline whose it is; beside other figures stand other things."""
    return f"learner {cell}" if cell[:1] in ("+", "-") else cell


def _all_rows(run: Run) -> list[tuple[str, ...]]:
    return [*figure_rows(run), *probability_rows(run)]


def _parameters(run: Run) -> list[ReportPart]:
    return [_table((run.learner_name, ""), list(run.parameters.items()), names=2)] if run.parameters else []


def _features(run: Run) -> list[ReportPart]:
    nominal = sum(feature["kind"] == "nominal" for feature in run.features)
    lines = [
        [feature["name"], feature["kind"], "" if feature["categories"] is None else f"{feature['categories']:,}"]
        for feature in run.features[:_MOST_FEATURES]
    ]
    more = len(run.features) - len(lines)
    note = f"{plural(len(run.features), 'feature')}, {nominal:,} of them nominal"
    note += f"; {plural(more, 'feature')} more are not listed" if more else ""
    return [_table(("name", "kind", "categories"), lines, names=2, note=note)]


def _each(runs: Sequence[Run], make: Callable[[Run], list[ReportPart]]) -> list[tuple[str, list[ReportPart]]]:
    """Return the parts of the runs that have some, by name."""
    return [(name, parts) for name, run in charts.named(runs).items() if (parts := make(run))]


def _drawn(chart: alt.Chart, *, title: str = "", wide: bool = False) -> ReportPart:
    return ReportPart(title, spec=_spec(chart), wide=wide)


def _spec(chart: alt.Chart) -> dict[str, Any]:
    """Return a chart without the address of its schema: a report names no place in a network."""
    return {name: value for name, value in chart.to_dict().items() if name != "$schema"}


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, names: int = 1, note: str = "", wide: bool = False
) -> ReportPart:
    full = [[*row, *[""] * (len(head) - len(row))] for row in rows]
    return ReportPart(note=note, head=head, rows=full, names=names, wide=wide)


def _with_names(view: TreeView, run: Run) -> TreeView:
    """Return a tree that learned from arrays with the names that the stream has for their columns."""
    names = [feature["name"] for feature in run.features]
    if len(names) != len(view.features) or names == list(view.features):
        return view
    new = dict(zip(view.features, names, strict=True))
    nodes = (
        node if node.test is None else replace(node, test=replace(node.test, feature=new[node.test.feature]))
        for node in view.nodes
    )
    return replace(view, features=tuple(names), nodes=tuple(nodes))
