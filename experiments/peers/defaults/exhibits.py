"""How the defaults of the growing trees were chosen.

passes  accuracy on ten streams, leaves on pure noise, and streams that were made for one default each.
"""

from __future__ import annotations

import numpy as np

from experiments.harness.exhibits import Exhibit, PageTable, Report, Study
from experiments.harness.results import Results
from experiments.peers.defaults.deciding import gain_over, summarize_claims
from experiments.peers.defaults.passes import NOISE, PASSES, TUNING
from experiments.peers.defaults.settings import default_of
from experiments.peers.evergreen.sets import check_data


def summarize(found: Results) -> Report:
    """Return a table of means, one by stream, and the claims."""
    return Report([_table_of_means(found), _table_of_streams(found.where(why=TUNING))], summarize_claims(found))


def _table_of_means(found: Results) -> PageTable:
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
    return PageTable(heads, rows, caption)


def _table_of_streams(tuning: Results) -> PageTable:
    names = tuning.unique("data")
    rows = [
        [f"`{setting}`", *(_score(tuning.where(setting=setting, data=data)) for data in names)]
        for setting in tuning.unique("setting")
    ]
    runs = len(tuning.unique("run"))
    caption = f"Accuracy / leaves, stream by stream; mean of {runs} run{'s' if runs > 1 else ''} but for sets in order."
    return PageTable(["learner", *names], rows, caption)


def _score(lines: Results) -> str:
    return f"{lines.mean('accuracy')[0]:.3f} / {lines.mean('leaves')[0]:,.0f}"


STUDY = Study(
    "peers.defaults",
    "Defaults of the growing trees",
    (Exhibit("table", "1", "Settings of growing trees", PASSES, summarize),),
    check=check_data,
)
