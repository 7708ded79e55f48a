"""The features and classes of a stream: what is known of them, and how any input becomes the numbers that kernels take.

Both may grow while the stream runs. Reading never changes the schema: it returns what a learner has to `commit` once it
has accepted the whole batch, so that refused input leaves no trace.

Below, input goes through plain forms that know no features, kinds or classes: a table becomes either one numeric matrix
or a list of columns; a column holds numbers, codes into a list of distinct values, or Python values of any type.
"""

from __future__ import annotations

from quercus.schema.additions import Additions, Batch, LabelBatch
from quercus.schema.labels import read_weights
from quercus.schema.schema import Schema
from quercus.schema.tables import take_rows

__all__ = ["Additions", "Batch", "LabelBatch", "Schema", "read_weights", "take_rows"]
