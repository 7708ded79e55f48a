"""Runs as one HTML file that needs nothing else, and as a piece of HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quercus.evaluation import charts
from quercus.evaluation.canvas import inline_svg, jinja2, look, vl_convert
from quercus.evaluation.sections import make_sections
from quercus.evaluation.tables import baselines, cost_words, headline_words
from quercus.evaluation.words import show, show_amount, show_bounds, show_bytes, show_percent, show_points, show_price
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.evaluation.run import Run


_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("quercus.evaluation"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


def report_html(runs: Sequence[Run]) -> str:
    """Return the whole report of a run, or of several beside each other."""
    from quercus import __version__

    names = list(charts.named(runs))
    heads = [
        {"name": name, "about": about(run), "verdict": verdict(run), "warning": _warning(run)}
        for name, run in charts.named(runs).items()
    ]
    page: str = _TEMPLATES.get_template("report.html.jinja").render(
        title=names[0] if len(runs) == 1 else f"{len(runs)} runs: {', '.join(names)}",
        heads=heads,
        tiles=headline(runs[0]) if len(runs) == 1 else [],
        sections=make_sections(runs),
        look=look("currentColor", "transparent"),
        script=vl_convert.javascript_bundle(),  # type: ignore[call-arg]
        version=__version__,
    )
    return page


def notebook_html(run: Run) -> str:
    """Return a run as a small piece of HTML: the main figures and the accuracy curve."""
    drawn = inline_svg(charts.draw_run(run)) if run.rows else ""
    shown: str = _TEMPLATES.get_template("notebook.html.jinja").render(tiles=headline(run), name=run.name, drawn=drawn)
    return shown


def verdict(run: Run) -> str:
    """Say in words how good the run was."""
    if not run.rows:
        return "No row was scored."
    majority = show_points(run.accuracy - run.majority_accuracy)
    previous = show_points(run.accuracy - run.previous_accuracy)
    said = (
        f"{show_percent(run.accuracy)} of all rows were answered right before their label was learned: "
        f"{majority} always answering the most frequent label, {previous} repeating the previous label."
    )
    if run.imbalanced:
        said = f"B{headline_words(run)[1:]}. {said}"
    if run.cost is not None:
        said += f" It bought {cost_words(run)}."
    return said if run.fair is None else f"{said} {_paid(run)}"


def headline(run: Run) -> list[tuple[str, str]]:
    """Return the figures that everybody looks at first."""
    found = [("balanced accuracy", show_percent(run.balanced_accuracy))] if run.imbalanced else []
    found.append(("right answers", show_percent(run.accuracy)))
    if run.cost is not None:
        found.append((f"cost per row, of {show_price(run.full_price)}", show_price(run.cost_per_row)))
        found.append((f"features per row, of {len(run.bought)}", show(run.bought_per_row, 2)))
    found += [(name, show_percent(value)) for name, value in baselines(run)]
    if run.fair is not None:
        found.append(("labels paid for", show_amount(run.asked)))
        found.append(("spent on labels", show_amount(run.spent)))
        found.append((f"labels tell {show_bounds(run.fair)}", show_percent(run.fair.value)))
        found.append(("their plain count", show_percent(run.fair.naive)))
    if run.loss:
        found.append(("money lost", show_amount(run.money)))
    if not math.isnan(run.auc):
        found.append(("AUC, mean over classes", show(run.auc, 3)))
    if run.imbalanced and not math.isnan(run.lift):
        found.append((f"lift in the top {show_percent(run.lift_share)}", show(run.lift, 1)))
    found += [("log-loss", show(run.log_loss, 3)), ("average precision", show(run.average_precision, 3))]
    if run.leaves is not None:
        found.append(("leaves", show_amount(run.leaves)))
    if run.nbytes is not None:
        found.append(("memory", show_bytes(run.nbytes)))
    if run.seconds and run.rows:
        found.append(("rows per second", show_amount(float(f"{run.rows_per_second:.3g}"))))
    return found


def about(run: Run) -> str:
    """Say in a line what the run saw."""
    said = [plural(run.rows, "row"), plural(len(run.features), "feature"), plural(len(run.classes), "class")]
    said += ["in the order of time"] if run.ordered else []
    said += [f"after {plural(run.warm_up, 'row')} of warm-up"] if run.warm_up else []
    return " · ".join(said)


def _paid(run: Run) -> str:
    """Say what was paid for labels, and what they tell."""
    fair, asked = run.fair, run.asked
    if fair is None or not asked:
        return "No label was asked for."
    paid = f"{plural(asked, 'label')} of {plural(run.rows, 'row')} were paid for, {show_amount(run.spent)} in all."
    if not fair.labels:
        return paid
    which = "all rows" if fair.rows == run.rows else f"the first {plural(fair.rows, 'row')}"
    return (
        f"{paid} They alone tell that {show_percent(fair.value)} of {which} were right, {show_bounds(fair)}; "
        f"their plain count would say {show_percent(fair.naive)}."
    )


def _warning(run: Run) -> str:
    rivals = [
        ("always answering the most frequent label so far", run.majority_accuracy),
        ("repeating the previous label", run.previous_accuracy),
    ]
    better = [name for name, value in rivals if value > run.accuracy]
    return f"On this stream {' or '.join(better)} would have been right more often." if better else ""
