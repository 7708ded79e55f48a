"""Whether a fit under way that was read from a file is one that kernels may go on with."""

from __future__ import annotations

from typing import Any

from quercus.learners.evergreen.boosting.layout import BUILT, CHOOSE, LEAF, NEXT, PARTITION, SCORE, SUM
from quercus.rows import NOMINAL


def is_within(fit: Any) -> bool:
    """Return whether it is where it can be: among all rows, among those of a node, or sharing these out.

    Parameters
    ----------
    fit
        The fit.
    """
    head = fit.head[0]
    if head["phase"] in (SCORE, BUILT):
        return bool(head["waiting"] == 0 and (head["position"] == 0 or head["sampled"] <= head["position"]))
    if head["phase"] == NEXT:
        return True
    shared = head["left"] - head["first"] + head["right"] == head["position"] - head["first"]
    return bool(
        head["first"] <= head["position"] <= head["last"]
        and head["waiting"] <= head["level"]
        and (head["phase"] != PARTITION or (head["first"] <= head["left"] and shared))
    )


def are_sums(fit: Any) -> bool:
    """Return whether Hessians are sums of what is not negative, and those of parts no more than the whole.

    Parameters
    ----------
    fit
        The fit.
    """
    phase, f, outputs, whole = fit.head["phase"][0], fit.features, fit.sizes["output"], fit.totals[-1]
    fine = whole >= 0 and (fit.bins[:, -1] >= 0).all()
    if phase == LEAF:
        fine &= (fit.lefts[: outputs + 1] >= 0).all()
    if phase in (SUM, CHOOSE):
        # Rounding may let a part be more than all of it.
        most = whole * (1.0 + 1e-6) + 0.5
        is_nominal, live = f["kind"] == NOMINAL, f["live"] > 0
        count = int((live & ~is_nominal).sum())
        lefts = fit.lefts[outputs * count : (outputs + 1) * count]
        fine &= ((lefts >= 0) & (lefts <= most)).all()
        for one in f[live & is_nominal]:
            of = slice(one["first"] + one["least"], one["first"] + one["high"] + 1)
            fine &= fit.bins[of, -1].sum() <= most
    return bool(fine)
