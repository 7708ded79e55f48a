"""Learn a stream of payments, look at the tree, ask it why, keep it: the first example of the README, to be run.

python examples/payments.py [FOLDER] also writes the pictures of the README into FOLDER.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import quercus as qc


def payments(rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Invent payments: fraud is frequent at night abroad, and for large amounts from new accounts."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "amount": np.round(rng.lognormal(4, 1, rows), 2),
            "hour": rng.integers(0, 24, rows),
            "country": rng.choice(["home", "abroad"], rows, p=[0.8, 0.2]),
            "account_days": rng.integers(0, 2000, rows).astype(float),
        }
    )
    X.loc[rng.random(rows) < 0.05, "account_days"] = np.nan
    risky = ((X["country"] == "abroad") & (X["hour"] < 6)) | ((X["amount"] > 150) & (X["account_days"] < 300))
    return X, np.where(rng.random(rows) < np.where(risky, 0.8, 0.02), "fraud", "fine")


def main() -> None:
    """Run the story."""
    X, y = payments(20_000, seed=7)
    tree = qc.EvergreenTree()
    run = qc.evaluate((X, y), tree)
    print(run.table(), "\n")
    print(tree, "\n")
    print(tree.explain_one({"amount": 320.0, "hour": 14, "country": "home", "account_days": 12}))
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tree.svg").write_text(qc.explain.to_svg(tree.view(), max_depth=4))
        run.plot(folder / "curve.png")


if __name__ == "__main__":
    main()
