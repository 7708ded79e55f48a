"""The lower half of a report: classes, tree, figures, parameters, features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from quercus.evaluation.bought import cost_rows, feature_rows
from quercus.evaluation.tables import figure_rows, label_rows
from quercus.evaluation.words import show, show_bounds
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.evaluation.run import Run
    from quercus.explain import TreeView

_MOST_CLASSES = 30
_MOST_CONFUSED = 12
_MOST_FEATURES = 60
_NOTES = (
    "A row is answered first and learned afterwards. One that was answered before any class was known counts as "
    "wrong. Log-loss takes no probability for less than 0.000001. The Brier score is summed over classes. Average "
    "precision is that of the smaller of two classes, or the mean over more, from scores sorted into 1,024 bins. Time "
    "is that of the learner alone."
)


def section(title: str, *parts: str) -> str:
    """Return parts of a page under a title.

    Examples
    --------
    >>> section("A & B", "<p>text</p>")
    '<section><h2>A &amp; B</h2><p>text</p></section>'
    """
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def classes(run: Run) -> str:
    """Return a table of all classes and, if they are few, who was taken for whom."""
    rows = run.confusion.sum(axis=1).tolist()
    order = sorted(range(len(run.classes)), key=lambda i: -rows[i])
    lines = []
    for i in order[:_MOST_CLASSES]:
        right, answers = int(run.confusion[i, i]), int(run.confusion[:, i].sum())
        recall, precision = right / rows[i] if rows[i] else None, right / answers if answers else None
        shares = [show(share, 3) for share in (recall, precision, run.f1.get(run.classes[i]))]
        lines.append([str(run.classes[i]), f"{rows[i]:,}", f"{answers:,}", *shares])
    head = ["class", "rows", "answers", "recall", "precision", "F1"]
    listed = _table(head, lines, numbers=5) + _more(len(order) - _MOST_CLASSES, "class")
    if len(run.classes) > _MOST_CONFUSED:
        return section("Classes", listed)
    return section("Classes", f'<div class="pair"><div>{listed}</div><div>{_confusion(run)}</div></div>')


def tree(run: Run) -> str:
    """Return the tree at the end, nothing if the learner is none or is not there."""
    if not (run.labels and hasattr(run.learner, "view")):
        return ""
    from quercus import explain

    return section("The tree at the end", explain.to_html(_with_names(run.learner.view(), run)))


def all_figures(run: Run) -> str:
    """Return every figure, with how far the learner is ahead of the baselines."""
    lines = [[*row, *[""] * (3 - len(row))] for row in figure_rows(run)]
    notes = f'<p class="soft small" style="margin-top:12px">{_NOTES}</p>'
    return section("All figures", _table(["", "", "learner ahead by"], lines, numbers=2), notes)


def labels(run: Run) -> str:
    """Return what labels cost and tell, and by class how often the answer was right as far as they tell."""
    lines = [[*row, *[""] * (3 - len(row))] for row in label_rows(run)]
    table = _table(["", "", ""], lines, numbers=2)
    known = dict(zip(run.classes, run.confusion.tolist(), strict=True))
    recalls = []
    for label, figure in list(run.fair_recall.items())[:_MOST_CLASSES]:
        counts = known[label]
        true = counts[run.classes.index(label)] / sum(counts) if sum(counts) else None
        recalls.append([str(label), f"{figure.labels:,}", show(true, 3), show(figure.value, 3), show_bounds(figure, 3)])
    head = ["class", "labels", "recall", "told by labels", "bounds"]
    by_class = _table(head, recalls, numbers=4) + _more(len(run.fair_recall) - len(recalls), "class")
    return f'<div style="margin:18px 0">{table}</div>{by_class}'


def purchases(run: Run) -> str:
    """Return what features cost beside the accuracy, and in how many rows each was bought."""
    lines = [["accuracy", show(run.accuracy), ""], *[[*row, *[""] * (3 - len(row))] for row in cost_rows(run)]]
    paid = _table(["", "", ""], lines, numbers=2)
    by_feature = _table(["feature", "bought in"], feature_rows(run), numbers=1)
    return f'<div class="pair" style="margin-top:18px"><div>{paid}</div><div>{by_feature}</div></div>'


def parameters(run: Run) -> str:
    """Return the constructor arguments of the learner."""
    if not run.parameters:
        return ""
    body = "".join(f"<tr><td>{escape(k)}</td><td><code>{escape(v)}</code></td></tr>" for k, v in run.parameters.items())
    return section(f"Parameters of {run.learner_name}", f'<div class="scroll"><table>{body}</table></div>')


def features(run: Run) -> str:
    """Return what was known of each row."""
    nominal = sum(feature["kind"] == "nominal" for feature in run.features)
    summary = f"{plural(len(run.features), 'feature')}, {nominal:,} of them nominal"
    lines = [
        [feature["name"], feature["kind"], "" if feature["categories"] is None else f"{feature['categories']:,}"]
        for feature in run.features[:_MOST_FEATURES]
    ]
    listed = _table(["name", "kind", "categories"], lines, numbers=1) + _more(len(run.features) - len(lines), "feature")
    unfolded = "" if len(run.features) > 12 else " open"
    return section(f"Features of {run.stream}", f"<details{unfolded}><summary>{summary}</summary>{listed}</details>")


def foot() -> str:
    """Return the last line of a report."""
    from quercus import __version__

    return f'<footer class="soft small">quercus {escape(__version__)}</footer>'


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


def _confusion(run: Run) -> str:
    names = [str(label) for label in run.classes] + (["no answer"] if run.confusion[:, -1].any() else [])
    head = "".join(f'<th title="{escape(name)}">{escape(name)}</th>' for name in names)
    body = []
    for name, counts in zip(names, run.confusion.tolist(), strict=False):
        shades = [0.6 * count / max(sum(counts), 1) for count in counts]
        cells = "".join(
            f'<td style="background:rgba(36,130,189,{shade:.2f})">{count:,}</td>'
            for count, shade in zip(counts[: len(names)], shades, strict=False)
        )
        body.append(f'<tr><th title="{escape(name)}">{escape(name)}</th>{cells}</tr>')
    return (
        f'<div class="scroll"><table class="confusion"><tr><th></th>{head}</tr>{"".join(body)}</table></div>'
        '<p class="soft small">True class by row, answer by column; the shade is the part of the row.</p>'
    )


def _table(head: Sequence[str], lines: Sequence[Sequence[str]], numbers: int) -> str:
    """Return a table whose last ``numbers`` columns are set to the right; it scrolls by itself where it is too wide."""
    first = len(head) - numbers

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{'' if i < first else ' class=n'}>{'&emsp;' * cell.startswith('  ')}{escape(cell.strip())}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
    return f'<div class="scroll"><table><tr>{cells("th", head)}</tr>{body}</table></div>'


def _more(count: int, word: str) -> str:
    return f'<p class="soft small">and {plural(count, word)} more</p>' if count > 0 else ""
