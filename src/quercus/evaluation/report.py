"""A run as one HTML file that needs nothing else, and as a piece of HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from quercus.evaluation import pictures, sections
from quercus.evaluation.bought import cost_chart, cost_key, cost_words, show_price
from quercus.evaluation.tables import baselines
from quercus.evaluation.words import show, show_amount, show_bounds, show_bytes, show_percent, show_points
from quercus.explain.words import plural

if TYPE_CHECKING:
    from quercus.evaluation.run import Run

_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_STYLE = """
:root{color-scheme:light dark;--ink:#1b1d21;--ground:#fff;--panel:#f4f5f7;--rule:#dfe2e7;--soft:#5b626d}
@media(prefers-color-scheme:dark){
:root{--ink:#e9eaec;--ground:#16181c;--panel:#202329;--rule:#353a42;--soft:#a4abb6}
}
*{box-sizing:border-box}
body{margin:0 auto;padding:36px 24px 48px;max-width:1040px;color:var(--ink);background:var(--ground);
font:15px/1.55 FONT;overflow-wrap:anywhere}
h1{font-size:27px;line-height:1.25;margin:0 0 4px}
h2{font-size:19px;margin:46px 0 12px}
h3{font-size:15px;margin:0 0 6px}
p{margin:0 0 10px;max-width:76ch}
.soft{color:var(--soft)}
.small{font-size:13.5px}
.lead{font-size:17px;margin-top:14px}
.warning{border-left:4px solid #d8651a;background:var(--panel);padding:10px 14px;margin:14px 0;
border-radius:0 8px 8px 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(190px,1fr));gap:12px;margin:22px 0 0}
.tile{background:var(--panel);border-radius:10px;padding:12px 16px}
.tile b{display:block;font-size:24px;line-height:1.3;font-weight:650;font-variant-numeric:tabular-nums}
.tile span{display:block;font-size:13px;color:var(--soft)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:28px}
.pair>div{min-width:0}
.chart{display:block;width:100%;height:auto}
.key{font-size:13.5px;margin:0 0 6px}
.narrow{display:none}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
th,td{padding:5px 14px 5px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule);
overflow-wrap:normal}
td:first-child{min-width:12ch}
th{font-weight:600;color:var(--soft)}
td.n,th.n{text-align:right;padding:5px 0 5px 14px;white-space:nowrap}
.confusion td,.confusion th{padding:6px 10px;text-align:right;border:1px solid var(--rule);white-space:nowrap;
max-width:14ch;overflow:hidden;text-overflow:ellipsis}
.scroll+p{margin-top:8px}
summary{cursor:pointer;margin-bottom:8px}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:13px}
footer{margin-top:48px;padding-top:12px;border-top:1px solid var(--rule)}
@media(max-width:680px){
body{padding:20px 16px 36px}
h1{font-size:22px}
.lead{font-size:16px}
.tiles{grid-template-columns:1fr 1fr;gap:10px}
.tile b{font-size:21px}
table{font-size:13px}
td.n,th.n{padding-left:9px}
td:first-child{min-width:9ch}
.pair{grid-template-columns:1fr}
.wide{display:none}
.narrow{display:block}
}
""".replace("FONT", _FONT)


def report_html(run: Run) -> str:
    """Return the whole report of a run.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
    >>> report_html(run)[:15]
    '<!DOCTYPE html>'
    """
    parts = [
        _head(run),
        _accuracy(run),
        _bought(run),
        _draw_estimate(run),
        _blocks(run),
        _other_curves(run),
        sections.classes(run),
        sections.tree(run),
        f'<div class="pair"><div>{sections.all_figures(run)}</div><div>{sections.parameters(run)}</div></div>',
        sections.features(run),
        sections.foot(),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(run.name)}</title><style>{_STYLE}</style></head><body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def notebook_html(run: Run) -> str:
    """Return a run as a small piece of HTML: the main figures and the accuracy curve.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
    >>> notebook_html(run)[:24]
    '<div class="quercus-run"'
    """
    cells = "".join(
        f'<div style="margin:0 26px 8px 0"><div style="font-size:12px;opacity:.75">{escape(name)}</div>'
        f'<div style="font-size:18px;font-weight:600">{escape(value)}</div></div>'
        for name, value in _headline(run)
    )
    picture = ""
    if run.rows:
        key = f'<div style="font-size:12.5px">{pictures.accuracy_key(run)}</div>'
        picture = key + pictures.accuracy(run, 720, 300)
    return (
        f'<div class="quercus-run" style="max-width:720px;font:14px/1.5 {_FONT}">'
        f'<div style="font-size:15px;font-weight:600;margin-bottom:6px">{escape(run.name)}</div>'
        f'<div style="display:flex;flex-wrap:wrap">{cells}</div>{picture}</div>'
    )


def verdict(run: Run) -> str:
    """Say in words how good the run was.

    Examples
    --------
    >>> import quercus as qc
    >>> verdict(qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree()))
    '...% of all rows were answered right before their label was learned: ...'
    """
    if not run.rows:
        return "No row was scored."
    majority = show_points(run.accuracy - run.majority_accuracy)
    previous = show_points(run.accuracy - run.previous_accuracy)
    said = (
        f"{show_percent(run.accuracy)} of all rows were answered right before their label was learned: "
        f"{majority} always answering the most frequent label, {previous} repeating the previous label."
    )
    if run.cost is not None:
        said += f" It bought {cost_words(run)}."
    return said if run.fair is None else f"{said} {_paid(run)}"


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


def _headline(run: Run) -> list[tuple[str, str]]:
    """Return the figures that everybody looks at first."""
    found = [("right answers", show_percent(run.accuracy))]
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
    found += [("log-loss", show(run.log_loss, 3)), ("average precision", show(run.average_precision, 3))]
    if run.leaves is not None:
        found.append(("leaves", show_amount(run.leaves)))
    if run.nbytes is not None:
        found.append(("memory", show_bytes(run.nbytes)))
    if run.seconds and run.rows:
        found.append(("rows per second", show_amount(float(f"{run.rows_per_second:.3g}"))))
    return found


def _head(run: Run) -> str:
    about = [plural(run.rows, "row"), plural(len(run.features), "feature"), plural(len(run.classes), "class")]
    about += ["in the order of time"] if run.ordered else []
    about += [f"after {plural(run.warm_up, 'row')} of warm-up"] if run.warm_up else []
    tiles = "".join(
        f'<div class="tile"><span>{escape(name)}</span><b>{escape(value)}</b></div>' for name, value in _headline(run)
    )
    return (
        f'<header><h1>{escape(run.name)}</h1><p class="soft">{" · ".join(about)}</p>'
        f'<p class="lead">{escape(verdict(run))}</p>{_warning(run)}</header><div class="tiles">{tiles}</div>'
    )


def _warning(run: Run) -> str:
    rivals = [
        ("always answering the most frequent label so far", run.majority_accuracy),
        ("repeating the previous label", run.previous_accuracy),
    ]
    better = [name for name, value in rivals if value > run.accuracy]
    if not better:
        return ""
    return f'<div class="warning">On this stream {" or ".join(better)} would have been right more often.</div>'


def _accuracy(run: Run) -> str:
    if not run.rows:
        return ""
    return sections.section(
        "Accuracy along the stream",
        f'<div class="key">{pictures.accuracy_key(run)}</div>',
        pictures.accuracy(run, 990, 380, "wide"),
        pictures.accuracy(run, 358, 300, "narrow"),
    )


def _bought(run: Run) -> str:
    if run.cost is None or not run.rows:
        return ""
    return sections.section(
        "What the features cost",
        '<p class="soft small">What was bought of a row, on average; at first everything is bought once in a while, '
        "to learn what it tells.</p>",
        f'<div class="key">{cost_key(run)}</div>',
        cost_chart(run, 990, 300, "wide"),
        cost_chart(run, 358, 260, "narrow"),
        sections.purchases(run),
    )


def _draw_estimate(run: Run) -> str:
    if run.fair is None or not run.rows:
        return ""
    return sections.section(
        "What the labels cost and tell",
        '<p class="soft small">All rows are known in a test; in use there are only the labels that were asked for. '
        "Weighted by the probability with which each was asked they tell the accuracy over all rows, within bounds "
        "that hold at every moment with a probability of 95%.</p>",
        f'<div class="key">{pictures.estimate_key(run)}</div>',
        pictures.draw_estimate(run, 990, 320, "wide"),
        pictures.draw_estimate(run, 358, 280, "narrow"),
        sections.labels(run),
    )


def _blocks(run: Run) -> str:
    if len(run.windows["rows"]) < 3:
        return ""
    return sections.section(
        "Block by block",
        f'<p class="soft small">Each point is {plural(run.window, "row")} by itself, so that a change in the stream '
        "shows where it happens.</p>",
        f'<div class="key">{pictures.windows_key(run)}</div>',
        pictures.windows(run, 990, 300, "wide"),
        pictures.windows(run, 358, 260, "narrow"),
    )


def _other_curves(run: Run) -> str:
    cells = "".join(f"<div><h3>{escape(title)}</h3>{picture}</div>" for title, picture in pictures.small_charts(run))
    return sections.section("Other curves", f'<div class="pair">{cells}</div>') if cells else ""
