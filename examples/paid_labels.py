"""Learn a stream paying for one label in ten, and see what it cost, what was lost, and what the ledger alone tells.

python examples/paid_labels.py [FOLDER] writes the report, the model, the ledger and a picture there.
"""

import sys
from pathlib import Path

import quercus as qc

ROWS = 100_000
BUDGET = 0.1


def main() -> None:
    """Run the story."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "quercus-run")
    folder.mkdir(parents=True, exist_ok=True)
    stream = qc.streams.RandomTree(leaves=30, q=0.95, rows=ROWS, seed=7)

    tree = qc.EvergreenTree()
    run = qc.evaluate(stream, tree, ask=qc.ask.Uncertain(budget=BUDGET))
    print(run.table(), "\n")
    X, _ = stream.take(1)
    print(tree.explain_one(dict(zip(stream.feature_names, X[0].tolist(), strict=True))), "\n")

    everything = qc.evaluate(stream, qc.EvergreenTree())
    at_random = qc.evaluate(stream, qc.EvergreenTree(), ask=qc.ask.Random(budget=BUDGET))
    fair = run.fair
    print(f"paid for         {run.labels:>8,} labels of {run.rows:,} rows")
    print(f"accuracy         {run.accuracy:8.1%}   (every row scored, which only an experiment can do)")
    print(f"  paying for all {everything.accuracy:8.1%}   with {everything.labels:,} labels")
    print(f"  as many, random{at_random.accuracy:8.1%}   with {at_random.labels:,} labels")
    print(f"from the ledger  {fair.value:8.1%}   between {fair.low:.1%} and {fair.high:.1%}: all that one would know")
    print(f"counted naively  {fair.naive:8.1%}   on the labels that were bought: they are the hard ones\n")

    run.report(folder / "report.html")
    run.ledger.write(folder / "ledger.parquet")
    tree.save(folder / "model.quercus")
    for what, name in (("report", "report.html"), ("ledger", "ledger.parquet"), ("model", "model.quercus")):
        print(f"{what:7} {folder / name}")


if __name__ == "__main__":
    main()
