"""The contract that every learner keeps, as a test suite for anybody's learner.

``check_learner(learner)`` runs all of it; in pytest, ``@pytest.mark.parametrize("check", list(all_checks()))`` makes
each check a test of its own. A check takes an unfitted learner and works on clones of it. It fails with an
AssertionError that says in a sentence what does not hold, and is skipped for learners that lack what it asks about.

The streams that are learned hold numbers, texts, missing values and texts as labels, so the learner to check should
have no tables of its own labels or columns among its constructor arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quercus.checks import answers, forms, limits, prequential, refusals, state  # noqa: F401 - they declare checks
from quercus.checks.contract import CHECKS, Check, Skipped, name_of

__all__ = ["Check", "Skipped", "all_checks", "check_learner"]


def all_checks() -> Iterator[Check]:
    """Yield every check, a function of one unfitted learner.

    Examples
    --------
    >>> [check.__name__ for check in all_checks()][0]
    'check_before_the_first_example'
    """
    yield from CHECKS


def check_learner(learner: Any) -> list[tuple[str, str]]:
    """Run every check; tell what passed and what was skipped and why.

    Parameters
    ----------
    learner
        An unfitted learner; it is cloned, never changed.

    Returns
    -------
    list
        Pairs of a check's name and ``"passed"`` or ``"skipped: "`` with the reason.

    Raises
    ------
    AssertionError
        If any check failed, with a sentence for each one that did.

    Examples
    --------
    >>> from quercus import HoeffdingTree
    >>> outcomes = check_learner(HoeffdingTree())
    >>> outcomes[0]
    ('check_before_the_first_example', 'passed')
    """
    outcomes, failures = [], []
    for check in all_checks():
        try:
            check(learner)
        except Skipped as reason:
            outcomes.append((check.__name__, f"skipped: {reason}"))
        except AssertionError as failure:
            failures.append(f"{check.__name__}: {failure}")
        else:
            outcomes.append((check.__name__, "passed"))
    if failures:
        total = len(failures) + len(outcomes)
        raise AssertionError(f"{name_of(learner)} fails {len(failures)} of {total} checks:\n" + "\n".join(failures))
    return outcomes
