"""The commands and their options; the work is in a module of its own for each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from quercus import __version__
from quercus.cli.asking import POLICIES, AskOptions
from quercus.cli.errors import guarded, refuse_options, silence_output
from quercus.cli.ledger import ledger_app
from quercus.cli.options import (
    LABELS,
    Delay,
    Delimiter,
    Force,
    Format,
    FrontierLearner,
    Ignore,
    Learner,
    Missing,
    Model,
    Nominal,
    Out,
    Rows,
    Seeds,
    Settings,
    Shuffle,
    Source,
    Target,
    examples,
)
from quercus.cli.reading import Reading

app = typer.Typer(
    name="quercus",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(ledger_app, name="ledger")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"quercus {__version__}")
        raise typer.Exit


@app.callback(
    epilog="New here? [bold]quercus run random_tree[/] grows a tree and says where its report is. "
    "[bold]quercus COMMAND --help[/] has more examples."
)
def quercus(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Online decision trees for streams whose labels and features cost money."""


@app.command(
    epilog=examples(
        "quercus run random_tree",
        "quercus run electricity --learner hoeffding --set grace_period=200",
        "quercus run loans.csv --target repaid --ignore id --out loans-run",
        'quercus run loans.csv --set \'loss={"bad": {"good": 5}}\'',
        "quercus run electricity --ask uncertain --budget 0.1 --delay 500 --price 2.5",
    )
)
def run(
    source: Source,
    learner: Learner = "evergreen",
    settings: Settings = None,
    rows: Rows = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For a generator, for the learner and for the policy.")
    ] = None,
    out: Out = Path("quercus-run"),
    force: Force = False,
    ask: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            rich_help_panel=LABELS,
            help=f"Learn only labels that a policy asks for: {', '.join(POLICIES)}; with settings if you like, "
            "confident:explore=0.2, or as published, paper:confident.",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=LABELS, help="Of rows, 0.1 or 10%, or so many labels, 500. Default: 0.1; always: no limit."
        ),
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(rich_help_panel=LABELS, help="Of a label: a number, or a column that holds it. Default: 1."),
    ] = None,
    delay: Delay = None,
    target: Target = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
) -> None:
    """Test a learner on every row of a stream before it learns that row.

    Prints the figures beside those of trivial baselines, and the tree.
    Writes a report to open in a browser, the model, all figures as JSON and
    the learning curve as CSV; with --ask also every question, as Parquet.
    Ctrl-C stops early and keeps what was learned.
    """
    with guarded():
        from quercus.cli.run import run_stream

        reading = Reading(target, ignore or (), nominal or (), missing or (), delimiter)
        asking = AskOptions(ask, budget, price, delay)
        run_stream(source, reading, learner, settings or (), seed, rows, out, asking, force=force)


@app.command(
    epilog=examples(
        "quercus compare electricity confidence hoeffding",
        "quercus compare random_tree confidence confidence:c=0.05 --seeds 5 --rows 20000",
        "quercus compare electricity hoeffding river:tree.HoeffdingTreeClassifier",
    )
)
def compare(
    source: Source,
    learners: Annotated[
        list[str],
        typer.Argument(metavar="LEARNER", help="Each with settings if you like: confidence:c=0.02,leaf=majority."),
    ],
    seeds: Seeds = 1,
    shuffle: Shuffle = False,
    rows: Rows = None,
    target: Target = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
) -> None:
    """Show learners side by side on the same rows.

    With several seeds the table has standard errors, and differences to the
    first learner that are taken seed by seed.
    """
    with guarded():
        from quercus.cli.compare import compare_learners

        reading = Reading(target, ignore or (), nominal or (), missing or (), delimiter)
        compare_learners(source, reading, learners, seeds, rows, shuffle)


@app.command(
    epilog=examples(
        "quercus frontier electricity",
        "quercus frontier random_tree --rows 20000 --policies uncertain,confident,paper:confident --seeds 5",
        "quercus frontier electricity --learner hoeffding --budgets 1%,5%,20% --seeds 1",
        "quercus frontier patients.csv --features --costs prices.json",
    )
)
def frontier(
    source: Source,
    learner: FrontierLearner = None,
    settings: Settings = None,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY,...",
            help="Each as for 'quercus run --ask'. Default: uncertain,confident. Random is always beside them.",
        ),
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="BUDGET,...",
            help="Each as for 'quercus run'. Default: 1%,2%,5%,10%,20%,50%,100%. With --features: money for a row, 20, "
            "or a share of the price of all its features, 10%; default: from the cheapest feature to all.",
        ),
    ] = None,
    features: Annotated[
        bool, typer.Option("--features", help="Pay for features instead of labels, at several budgets and worths.")
    ] = False,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help='Prices of features, {"mri": 500, "age": 0}; or {"costs": ..., "groups": ..., "requires": ...}. '
            "Default: 1 each.",
        ),
    ] = None,
    seeds: Seeds = 3,
    shuffle: Shuffle = False,
    rows: Rows = None,
    delay: Delay = None,
    out: Out = Path("quercus-frontier"),
    force: Force = False,
    target: Target = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    missing: Missing = None,
    delimiter: Delimiter = None,
) -> None:
    """Show how accurate a learner gets for how many labels, or features.

    Runs every policy at every budget, beside asking at random and paying for
    all labels; with --features, a learner that buys features, beside others
    that read all and the best k features, the same for every row. Writes the
    table as CSV and, with quercus[report], a picture.
    """
    with guarded():
        reading = Reading(target, ignore or (), nominal or (), missing or (), delimiter)
        chosen = settings or ()
        from quercus.cli.frontier import Measuring, show_frontier

        if not features:
            refuse_options("is for features that cost something; add --features.", costs=costs)
            how = Measuring(seeds, shuffle, rows, out, force)
            show_frontier(source, reading, learner or "evergreen", chosen, policies or (), budgets, delay, how)
            return
        from quercus.cli.spending import show_feature_frontier

        why = "is for labels that cost something; leave it or --features out."
        refuse_options(why, policies=policies or None, delay=delay)
        how = Measuring(seeds, shuffle, rows, out, force)
        show_feature_frontier(source, reading, learner or "utility", chosen, costs, budgets, how)


@app.command(
    epilog=examples(
        "quercus run examples/payments.csv --ask random --budget 30%",
        "quercus replay quercus-run/ledger.parquet --ask confident --budget 5%",
        "quercus replay labels.db --ask random --budget 0.02 --learner hoeffding",
    )
)
def replay(
    ledger: Annotated[str, typer.Argument(metavar="LEDGER", help="A ledger, or its Parquet file.")],
    ask: Annotated[str, typer.Option(help="The other policy, as for 'quercus run --ask'.")] = "uncertain",
    budget: Annotated[str | None, typer.Option(help="Its budget, as for 'quercus run'.")] = None,
    price: Annotated[str | None, typer.Option(help="Of a label, as for 'quercus run'.")] = None,
    learner: Learner = "evergreen",
    settings: Settings = None,
    seed: Annotated[int | None, typer.Option(min=0, help="For the learner and the draws.")] = None,
) -> None:
    """Tell what another choice would have cost and scored.

    The ledger of a run is enough: its labels were asked with known
    probabilities. Where the other policy wants more than the ledger has, it
    cannot tell, and says so.
    """
    with guarded():
        from quercus.cli.asking import make_policy
        from quercus.cli.settings import make_learner
        from quercus.evaluation import replay as play

        model = make_learner(learner, settings or (), seed)
        print(play(ledger, model, make_policy(ask, budget, price, seed), seed=seed or 0))


@app.command(epilog=examples("quercus report quercus-run", "quercus report quercus-run quercus-run-2 --out both.html"))
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of 'quercus run', or run.json in them.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Where to. Default: report.html beside the first run.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over the file that --out names.")] = False,
) -> None:
    """Write the report of a run made before, with others beside it.

    Everything is in one file that needs no network.
    """
    with guarded():
        from quercus.cli.report import write_report

        write_report(runs, out, force)


@app.command(
    epilog=examples(
        "quercus predict quercus-run/model.quercus new.csv",
        "quercus predict quercus-run/model.quercus new.parquet --proba --out answers.csv",
    )
)
def predict(
    model: Model,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The rows: a .csv, .tsv, .parquet or .arff file.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write the answers there instead of to the terminal.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    missing: Missing = None,
    delimiter: Delimiter = None,
) -> None:
    """Answer the rows of a file with a model.

    Columns are matched by name; those that the model does not know, such as
    the target, are left out. The answers are CSV, a line for each row.
    """
    with guarded():
        from quercus.cli.predict import predict_file

        predict_file(model, file, Reading(missing=missing or (), delimiter=delimiter), out, proba)


@app.command(
    epilog=examples(
        "quercus show quercus-run/model.quercus",
        "quercus show quercus-run/model.quercus --depth 3",
        "quercus show quercus-run/model.quercus --format html > tree.html",
    )
)
def show(
    model: Model,
    form: Annotated[
        Format, typer.Option("--format", help="How to draw the tree: dot is for Graphviz, html a page for a browser.")
    ] = Format.TEXT,
    depth: Annotated[int | None, typer.Option(min=0, help="Deepest level to draw. Default: what fits.")] = None,
) -> None:
    """Show the tree of a model file and the facts about it."""
    with guarded():
        from quercus.cli.show import show_model

        show_model(model, form.value, depth)


@app.command(epilog=examples("quercus warm", "quercus warm evergreen", "QUERCUS_CACHE=/opt/quercus quercus warm"))
def warm(
    learners: Annotated[
        list[str] | None, typer.Argument(metavar="LEARNER", help="Only for these learners. Default: for all.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes side by side. Default: one for each core.")] = None,
) -> None:
    """Compile beforehand what would be compiled at the first calls, once per installation."""
    with guarded():
        from quercus.warming import warm

        print(f"{warm(*(learners or []), jobs=jobs)} compiled functions are ready.")


@app.command(epilog=examples("quercus streams", "QUERCUS_DATA=~/data quercus streams"))
def streams() -> None:
    """List the streams that can be named: data sets and generators.

    If the variable QUERCUS_DATA names a folder, its .parquet files come
    first; their labels are in the column 'target'.
    """
    with guarded():
        from quercus.cli.listing import list_streams

        list_streams()


def start() -> None:
    """Run the app so that neither a poor terminal nor a closed pipe makes it fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Where a terminal knows no lines and bars, a tree with question marks is better than no tree.
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="quercus")
    finally:
        silence_output()
