# ruff: noqa: N818 - names that say what happened need no suffix
"""What a ledger refuses, by name."""

from __future__ import annotations


class UnknownQuestion(KeyError):
    """An id under which nothing was asked.

    Examples
    --------
    >>> print(UnknownQuestion("there is no question 7."))
    there is no question 7.
    """

    def __str__(self) -> str:
        # a KeyError shows the representation of its key, with quotes
        return str(self.args[0]) if self.args else ""


class AnswerConflict(ValueError):
    """Another answer to the question is there already.

    Examples
    --------
    >>> issubclass(AnswerConflict, ValueError)
    True
    """


class QuestionExpired(ValueError):
    """The answer comes after the question was given up.

    Examples
    --------
    >>> issubclass(QuestionExpired, ValueError)
    True
    """


class LabelMismatch(ValueError):
    """A label of another type than those that the ledger holds.

    Examples
    --------
    >>> issubclass(LabelMismatch, ValueError)
    True
    """


class LedgerFileError(ValueError):
    """A file or folder that is no ledger, is damaged, or was written by a newer quercus.

    Examples
    --------
    >>> issubclass(LedgerFileError, ValueError)
    True
    """


class LedgerLocked(OSError):
    """The ledger's folder is open for writing elsewhere.

    Examples
    --------
    >>> issubclass(LedgerLocked, OSError)
    True
    """


class LedgerClosed(ValueError):
    """A change of a ledger that takes none: it was closed, is a copy for reading, or belongs to another process.

    Examples
    --------
    >>> issubclass(LedgerClosed, ValueError)
    True
    """


class KeyConflict(ValueError):
    """A key under which there is a row of other values.

    Examples
    --------
    >>> issubclass(KeyConflict, ValueError)
    True
    """


class JournalWarning(RuntimeWarning):
    """The last batch of a journal does not match its checksum and is left out.

    Examples
    --------
    >>> issubclass(JournalWarning, RuntimeWarning)
    True
    """
