"""What the page about defaults says: accuracy and leaves by setting, and what decided."""

from __future__ import annotations

import numpy as np

from benchmarks.defaults.deciding import gain_over, tell_claims
from benchmarks.defaults.passes import NOISE, PASSES, TUNING
from benchmarks.defaults.settings import default_of
from quercus.papers.exhibits import Exhibit, Paper, Sheet, Told
from quercus.papers.found import Found


def tell(found: Found) -> Told:
    """Return a table of means, one by stream, and the claims."""
    return Told([_sheet_of_means(found), _sheet_of_streams(found.where(why=TUNING))], tell_claims(found))


def _sheet_of_means(found: Found) -> Sheet:
    tuning, noise = found.where(why=TUNING), found.where(why=NOISE)
    rows = []
    for setting in tuning.unique("setting"):
        leaves = noise.where(setting=setting)["leaves"]
        mean = np.mean([part.mean("accuracy")[0] for _, part in tuning.where(setting=setting).groups("data")])
        default = default_of(setting)
        over = gain_over(found, setting, default)
        rows.append(
            [
                f"`{setting}`",
                f"{mean:.4f}",
                "" if setting == default else f"{100 * over[0]:+.2f} ({100 * over[1]:.2f})",
                f"{np.median(leaves):.0f}",
                f"{leaves.min()} to {leaves.max()}",
            ]
        )
    heads = ["learner", "mean accuracy", "points over the default", "leaves on noise, median", "least to most"]
    streams, noises = len(tuning.unique("data")), len(noise.where(setting=noise["setting"][0]))
    caption = (
        f"Accuracy over {streams} streams of at most {tuning['rows'].max():,} rows, in brackets the standard error "
        f"over streams; leaves after {noise['rows'].max():,} rows of each of {noises} streams of pure noise (5 to 30 "
        "features, 2 to 5 classes)."
    )
    return Sheet(heads, rows, caption)


def _sheet_of_streams(tuning: Found) -> Sheet:
    names = tuning.unique("data")
    rows = [
        [f"`{setting}`", *(_score(tuning.where(setting=setting, data=data)) for data in names)]
        for setting in tuning.unique("setting")
    ]
    runs = len(tuning.unique("run"))
    caption = f"Accuracy / leaves, stream by stream; mean of {runs} run{'s' if runs > 1 else ''} but for sets in order."
    return Sheet(["learner", *names], rows, caption)


def _score(lines: Found) -> str:
    return f"{lines.mean('accuracy')[0]:.3f} / {lines.mean('leaves')[0]:,.0f}"


PAPER = Paper(
    "benchmarks.defaults",
    "Defaults of the growing trees",
    (Exhibit("table", "1", "Settings of growing trees", PASSES, tell, command="python -m benchmarks.defaults"),),
)
