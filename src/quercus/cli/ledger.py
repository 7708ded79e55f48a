"""`quercus ledger`: what is in a ledger, one of the first edition read into a new one, and tables for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quercus.cli.errors import guarded

ledger_app = typer.Typer(no_args_is_help=True, help="Look into ledgers, import older ones, export tables.")
Store = Annotated[str, typer.Argument(metavar="STORE", help="A ledger's file, or the address of a database.")]


@ledger_app.command("show")
def show_ledger(store: Store) -> None:
    """Tell how many questions there are, what they cost, and which wait."""
    with guarded():
        from quercus.ledger import Ledger

        ledger = Ledger.read(store)
        waiting = ledger.open_ids
        print(f"asked      {ledger.asked:,}")
        print(f"answered   {ledger.answered:,}")
        print(f"given up   {ledger.expired:,}")
        print(f"spent      {ledger.spent:,g}")
        first = "" if not waiting else f" (the first: {', '.join(map(str, waiting[:10]))})"
        print(f"open       {len(waiting):,}{first}")


@ledger_app.command("import")
def import_old(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="Folder of a ledger or asker of before, or a Parquet file.")
    ],
    store: Store,
) -> None:
    """Read a ledger of the first edition into a new one; the old one stays as it is."""
    with guarded():
        from quercus.ledger.importing import import_ledger

        with import_ledger(source, store) as ledger:
            print(f"{ledger.asked:,} questions, {ledger.answered:,} answers: now in '{ledger.store}'.")


@ledger_app.command("export")
def export(
    store: Store, out: Annotated[Path, typer.Argument(metavar="FILE", help="Where to: .parquet, or .arrow.")]
) -> None:
    """Write all questions and answers to a table, a row each."""
    with guarded():
        from quercus.ledger import Ledger

        ledger = Ledger.read(store)
        ledger.write(out)
        print(f"{ledger.asked:,} questions: now in '{out}'.")
