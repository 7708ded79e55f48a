"""What a run measured, and the ways to look at it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from quercus.evaluation.curves import Columns
from quercus.evaluation.metrics import ratio
from quercus.evaluation.money import Label

if TYPE_CHECKING:
    from altair import Chart

    from quercus.ledger import Ledger, QuestionLog
    from quercus.ledger.accuracy import Estimate

PathLike = str | os.PathLike[str]
USUAL_SHARE = 0.1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Run:
    """What `evaluate` measured.

    Attributes
    ----------
    name, stream, learner_name
        What ran on what.
    learner
        The learner, trained. None in a run that was read back from its dict.
    parameters
        Its constructor arguments, as they would be written.
    features
        Name, kind and number of categories of each feature.
    rows, labels, warm_up
        Rows scored, rows learned with a label, and rows learned but not scored. If labels were asked for, ``labels``
        counts those that were paid for and have come.
    classes
        The labels, sorted.
    confusion
        Rows by true class and answer, in the order of ``classes``; the last column counts rows without an answer.
    accuracy, balanced_accuracy, kappa
        Share of rows answered right; the mean of that over classes; the same against answers dealt out at random.
    majority_accuracy, previous_accuracy, kappa_temporal
        Accuracy of always answering the most frequent label so far, and the previous label; how far the learner is
        above the latter (1: perfect, below 0: worse).
    f1, smallest_class, f1_smallest
        F1 per class, the class with the fewest rows and its F1.
    log_loss, brier, average_precision
        From the probabilities, NaN if the learner gives none. Log-loss takes no probability for less than 1e-6; the
        Brier score is summed over classes; average precision is that of the smaller of two classes, or the mean over
        more, from scores sorted into 1,024 bins.
    auc, roc
        Area under the ROC curve, the mean over classes, each against the rest; by class its ``auc`` and arrays ``fpr``
        and ``tpr`` of some 200 points, fewer for more than 20 classes. Probabilities in the same of 1,024 bins, at most
        1/512 apart, count as equal.
    ece, calibration
        Expected calibration error, and the reliability curve behind it: arrays ``confidence`` (mean probability of the
        answers), ``accuracy`` and ``rows`` in 20 bins of equal width, without empty ones and rows without an answer.
    lift, lift_share
        How many times as frequent the smallest class is among the share of rows ``lift_share`` that the learner ranks
        highest by its probability, each ranked before it was learned, as among all rows. The share is that of labels
        asked for; 0.1 if all labels were there.
    loss, money
        What wrong answers cost, and what they cost in this run altogether.
    seconds, cpu_seconds
        Wall and processor time of the learner alone, without reading, scoring and compiling.
    leaves, nbytes
        Of a tree at the end, and the bytes of the model; None if the learner does not tell.
    curve
        Arrays ``rows``, ``accuracy``, ``majority``, ``previous``, ``log_loss``, ``money``, ``leaves``, ``labels``,
        ``fair``, ``fair_low``, ``fair_high``, ``cost``, ``bought``: each over all rows up to that one, at row counts 1,
        2, 3, 4, 5, 6, 8, 10, 12, 16, 20, ... and at the last row. Those about labels are NaN if all labels were there;
        the last two, money and values, if no features were bought.
    windows, window
        Arrays ``rows`` (at the end of a block), ``accuracy``, ``majority``, ``previous`` over blocks of ``window``
        rows that follow each other; the last block may be shorter.
    policy, budget, asked, spent
        Which labels were asked for, under which limit, how many, and what they cost altogether; None in a run that had
        all labels.
    fair, fair_loss, fair_recall
        What the ledger alone tells of all rows: accuracy, mean loss per row and recall by class, each with bounds that
        hold at any time with a probability of 95%, and with the ``naive`` figure, a plain count over asked labels. If
        labels come late, they speak of the rows before the oldest open question (``fair.rows``).
    ledger
        Every question and answer. None in a run that was read back from its dict.
    cost, full_price
        What the features of all scored rows cost, if the learner buys them, and what all features of one row would
        cost; None if it does not.
    bought
        By feature, the share of rows in which it was bought.
    ordered, bayes_accuracy
        Whether the stream is in the order of time, and the best accuracy that is possible on it, if that is known.

    Examples
    --------
    >>> import quercus as qc
    >>> run = qc.evaluate(qc.streams.Noise(rows=2000), qc.ConfidenceTree())
    >>> run.rows, len(run.curve["rows"]), len(run.windows["rows"])
    (2000, 31, 2)
    """

    name: str
    stream: str
    learner_name: str
    learner: Any = None
    parameters: dict[str, str] = field(default_factory=dict)
    features: list[dict[str, Any]] = field(default_factory=list)
    ordered: bool = False
    bayes_accuracy: float | None = None
    rows: int
    labels: int
    warm_up: int
    classes: list[Label]
    confusion: NDArray[np.int64]
    accuracy: float
    balanced_accuracy: float
    kappa: float
    majority_accuracy: float
    previous_accuracy: float
    kappa_temporal: float
    f1: dict[Label, float]
    smallest_class: Label | None
    f1_smallest: float
    log_loss: float
    brier: float
    average_precision: float
    auc: float = math.nan
    roc: dict[Label, dict[str, Any]] = field(default_factory=dict)
    ece: float = math.nan
    calibration: Columns = field(default_factory=dict)
    lift: float = math.nan
    lift_share: float = USUAL_SHARE
    loss: dict[Label, dict[Label, float]]
    money: float
    seconds: float
    cpu_seconds: float
    leaves: int | None
    nbytes: int | None
    curve: Columns
    windows: Columns
    window: int
    policy: str | None = None
    budget: str | None = None
    asked: int | None = None
    spent: float | None = None
    fair: Estimate | None = None
    fair_loss: Estimate | None = None
    fair_recall: dict[Label, Estimate] = field(default_factory=dict)
    ledger: Ledger | QuestionLog | None = None
    cost: float | None = None
    full_price: float | None = None
    bought: dict[str, float] = field(default_factory=dict)

    @property
    def rows_per_second(self) -> float:
        """Rows that the learner took per second."""
        return ratio(self.rows, self.seconds)

    @property
    def loss_per_row(self) -> float:
        """What the answer to a row cost on average under ``loss``."""
        return ratio(self.money, self.rows)

    @property
    def cost_per_row(self) -> float:
        """What the features of a row cost on average; NaN if none are bought."""
        return math.nan if self.cost is None else ratio(self.cost, self.rows)

    @property
    def bought_per_row(self) -> float:
        """Features that were bought of a row on average; NaN if none are bought."""
        return math.nan if self.cost is None else math.fsum(self.bought.values())

    @property
    def paid(self) -> float:
        """What labels and features have cost altogether; 0 if all were for nothing."""
        return (self.spent or 0.0) + (self.cost or 0.0)

    @property
    def total(self) -> float:
        """What the run has cost altogether, wrong answers and what was paid, in the one unit of ``loss`` and prices.

        Wrong answers count if ``loss`` was given; NaN if nothing has a price.

        Examples
        --------
        >>> import quercus as qc
        >>> loss, stream = {1: {0: 20.0}}, qc.streams.SEA(rows=2000)
        >>> run = qc.evaluate(stream, qc.ConfidenceTree(loss=loss), loss=loss, ask=qc.ask.Random(0.1))
        >>> run.total == run.money + run.spent
        True
        """
        unknown = not self.loss and self.spent is None and self.cost is None
        return math.nan if unknown else (self.money if self.loss else 0.0) + self.paid

    @property
    def total_per_row(self) -> float:
        """`total` by rows scored."""
        return ratio(self.total, self.rows)

    @property
    def smallest_share(self) -> float:
        """Share of the smallest class among the rows scored."""
        name = self.smallest_class
        return math.nan if name is None else ratio(int(self.confusion[self.classes.index(name)].sum()), self.rows)

    @property
    def imbalanced(self) -> bool:
        """Whether the smallest class has less than half of the rows that it would have if all had the same number."""
        came = int((self.confusion.sum(axis=1) > 0).sum())
        return came > 1 and self.smallest_share < 0.5 / came

    @property
    def headline(self) -> str:
        """The figure to judge the learner by: "balanced_accuracy" where classes are `imbalanced`, else "accuracy".

        Where one row in a hundred is a fraud, never saying so is right in 99% of the rows. Balanced accuracy makes that
        one half, whatever the shares are; kappa moves with the shares, so that two streams cannot be compared by it.
        How well rare rows can be found by their probability tells ``auc``, which stands beside it.

        Examples
        --------
        >>> import quercus as qc
        >>> qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree()).headline
        'accuracy'
        """
        return "balanced_accuracy" if self.imbalanced else "accuracy"

    def __repr__(self) -> str:
        balanced = f"balanced_accuracy={self.balanced_accuracy:.4f}, " if self.imbalanced else ""
        paid = "" if self.cost is None else f"cost_per_row={self.cost_per_row:.4g}, "
        return (
            f"Run({self.name!r}, rows={self.rows}, {balanced}accuracy={self.accuracy:.4f}, {paid}"
            f"majority={self.majority_accuracy:.4f}, previous={self.previous_accuracy:.4f})"
        )

    def __str__(self) -> str:
        from quercus.evaluation.tables import sentence

        return sentence(self)

    def _repr_html_(self) -> str:
        from quercus.evaluation.tables import or_plain

        def draw() -> str:
            from quercus.evaluation.report import notebook_html

            return notebook_html(self)

        return or_plain(draw, self.table())

    def table(self) -> str:
        """Return all figures and the baselines as plain text.

        Examples
        --------
        >>> import quercus as qc
        >>> print(qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree()).table())
        ConfidenceTree on noise: 500 rows, 2 classes
        ...
        """
        from quercus.evaluation.tables import full_table

        return full_table(self)

    def to_frame(self, backend: str = "pandas", what: str = "curve") -> Any:
        """Return a curve as a data frame.

        Parameters
        ----------
        backend
            "pandas", "polars" or "pyarrow".
        what
            "curve" (over all rows so far) or "windows" (block by block).

        Examples
        --------
        >>> import quercus as qc
        >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
        >>> run.to_frame("pyarrow").column_names
        ['rows', 'accuracy', 'majority', 'previous', 'log_loss', 'money', 'leaves', 'labels', 'fair', 'fair_low',
         'fair_high', 'cost', 'bought']
        """
        from quercus.evaluation.frames import make_frame

        if what not in ("curve", "windows"):
            raise ValueError(f"what is {what!r}; choose 'curve' or 'windows'.")
        return make_frame(self.curve if what == "curve" else self.windows, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the learner and the ledger as plain values that JSON can hold; NaN becomes None.

        Examples
        --------
        >>> import quercus as qc
        >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
        >>> Run.from_dict(run.to_dict()).accuracy == run.accuracy
        True
        """
        from quercus.evaluation.frames import run_to_dict

        return run_to_dict(self)

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """Return the run that `to_dict` described, without its learner."""
        from quercus.evaluation.frames import run_from_dict

        return cls(**run_from_dict(state))

    def to_json(self, path: PathLike | None = None) -> str:
        """Return `to_dict` as JSON and, if a path is given, write it there.

        Examples
        --------
        >>> import json, quercus as qc
        >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
        >>> json.loads(run.to_json())["rows"]
        500
        """
        import json

        from quercus.evaluation.frames import write_text

        text = json.dumps(self.to_dict(), indent=1, allow_nan=False)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def plot(self, path: PathLike | None = None) -> Chart:
        """Draw accuracy along the stream with both baselines, and what labels tell and features cost.

        Needs altair and vl-convert-python (``pip install 'quercus[report]'``). In a notebook the chart can be pointed
        at, moved and zoomed; a click in its legend picks a line.

        Parameters
        ----------
        path
            Where to save it, for an .html as it is in a notebook, without a network; for a .png, .svg or .pdf as a
            picture; for a .json as a specification of Vega-Lite.

        Examples
        --------
        >>> import quercus as qc
        >>> run = qc.evaluate(qc.streams.Noise(rows=500), qc.ConfidenceTree())
        >>> chart = run.plot()
        >>> chart.to_dict()["title"]["text"]
        'ConfidenceTree on noise'
        """
        from quercus.evaluation.canvas import save_chart
        from quercus.evaluation.charts import draw_run

        chart = draw_run(self)
        if path is not None:
            save_chart(chart, path)
        return chart

    def report(self, path: PathLike, *, others: Sequence[Run] = ()) -> None:
        """Write one HTML file with the figures, the curves, the classes, the tree, the parameters and the features.

        It needs nothing else, no network and no other files: its charts, which can be pointed at, moved, zoomed and
        filtered, are drawn by the JavaScript in it. Making it needs altair, vl-convert-python and jinja2
        (``pip install 'quercus[report]'``).

        Parameters
        ----------
        path
            Where to; an existing file is replaced at once or not at all.
        others
            Runs that are shown beside this one, in charts with a line for each.

        Examples
        --------
        >>> import quercus as qc, tempfile, pathlib
        >>> stream = qc.streams.Noise(rows=500)
        >>> run, other = (qc.evaluate(stream, tree) for tree in (qc.ConfidenceTree(), qc.HoeffdingTree()))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.report(pathlib.Path(folder) / "run.html")
        ...     run.report(pathlib.Path(folder) / "both.html", others=[other])
        """
        from quercus.evaluation.frames import write_text
        from quercus.evaluation.report import report_html

        write_text(path, report_html([self, *others]))
