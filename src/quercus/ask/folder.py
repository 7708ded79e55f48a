"""What an asker keeps in a folder: the ledger, the learner as it was some answers ago, and which policy it has."""

from __future__ import annotations

import json
import os
import re
import struct
import warnings
import zlib
from pathlib import Path
from typing import IO, Any

from quercus.ask.learners import LearnerView
from quercus.ask.policies import Policy
from quercus.ask.state import AskState
from quercus.ledger import Ledger
from quercus.registry import find_model
from quercus.store import load
from quercus.store.atomic import replace_file

PathLike = str | os.PathLike[str]

_LEDGER, _ABOUT, _STATE = "ledger", "asker.json", "state.bin"
# Before the state: a checksum; questions, answers and money at that moment.
_CHECK, _COUNTS = struct.Struct("<I"), struct.Struct("<qqd")
_MODEL = re.compile(r"model-(\d+)\.quercus")


class AskerFolder:
    """The files of an asker.

    ``ledger/`` is the truth; ``model-N.quercus`` is the learner after the first N answers, and the answers after those
    are learned again on opening; ``state.bin`` knows also the rows that were seen and not asked since the last question
    or answer; ``asker.json`` says for which policy, learner and classes.

    Parameters
    ----------
    folder
        Where; made if need be.
    policy, learner, classes
        Those of the asker; a folder of others is refused.
    save_every
        Answers between two savings of the learner.

    Examples
    --------
    >>> import tempfile
    >>> from quercus import HoeffdingTree
    >>> from quercus.ask import Random
    >>> with tempfile.TemporaryDirectory() as place:
    ...     files = AskerFolder(place, Random(0.1), HoeffdingTree(), 1000)
    ...     AskerFolder(place, Random(0.2), HoeffdingTree(), 1000)
    Traceback (most recent call last):
        ...
    ValueError: '...' was begun with another policy, Random(budget=0.1, ...; go on with that one or take another folder.
    """

    def __init__(
        self, folder: PathLike, policy: Policy, learner: Any, save_every: int, classes: list[Any] | None = None
    ) -> None:
        self.path = Path(folder)
        self.save_every = save_every
        self._loaded = 0
        self._saved = 0
        self._state_file: IO[bytes] | None = None
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"'{self.path}' is a file, but an asker keeps its questions in a folder; name another.")
        about = {"policy": _describe(policy), "learner": type(learner).__name__, "classes": classes}
        self.path.mkdir(parents=True, exist_ok=True)
        place = self.path / _ABOUT
        if not place.exists():
            if any(self.path.iterdir()):
                raise ValueError(f"'{self.path}' holds other files; an asker needs an empty folder or one of its own.")
            replace_file(place, (json.dumps(about, indent=1) + "\n").encode())
            return
        begun = json.loads(place.read_text(encoding="utf-8"))
        for what, value in about.items():
            if begun.get(what) != value:
                raise ValueError(
                    f"'{self.path}' was begun with another {what}, {begun.get(what)}, and is now given {value}; "
                    "go on with that one or take another folder."
                )

    def open_ledger(self) -> Ledger:
        """Open the ledger, or begin one."""
        return Ledger(self.path / _LEDGER)

    def load(self, learner: Any) -> Any:
        """Return the learner as it was last saved, or the one given if it never was."""
        saved = self._models()
        if not saved and _can_save(learner) and learner.__sklearn_is_fitted__():
            # What it knew before the first answer cannot be learned again.
            learner.save(self.path / "model-0.quercus")
        if not saved:
            return learner
        self._loaded = self._saved = max(saved)
        return load(saved[self._loaded])

    def replay(self, ledger: Ledger, learner_view: LearnerView, state: AskState) -> None:
        """Learn again what was answered after the learner was last saved, and take up the budget where it was."""
        kept = self._kept_state(ledger)
        if kept:
            state.set_bytes(kept)
        elif ledger.last_state:
            state.set_bytes(ledger.last_state)
            table = ledger.to_arrow()
            refunded = sum(1 for given_back in table.column("refunded").to_pylist() if given_back)
            state.match(ledger.asked - refunded, ledger.spent)
        for answer in ledger.events_since(self._loaded):
            question = ledger.question(answer.id)
            try:
                learner_view.learn(question.features, answer.label, question.explored)
            except (TypeError, ValueError) as error:
                warnings.warn(
                    f"the answer to question {answer.id} cannot be learned: {error}", UserWarning, stacklevel=3
                )

    def keep_state(self, state: AskState, ledger: Ledger) -> None:
        """Keep the state of the budget; a kill of the process cannot lose it, and a power cut costs little."""
        body = _COUNTS.pack(ledger.asked, ledger.answered, ledger.spent) + state.to_bytes()
        if self._state_file is None:
            place = self.path / _STATE
            # What is there must not be cut off before the first write.
            self._state_file = open(place, "r+b" if place.exists() else "wb", buffering=0)  # noqa: SIM115
        self._state_file.seek(0)
        self._state_file.write(_CHECK.pack(zlib.crc32(body)) + body)

    def close(self) -> None:
        """Close the file that the state is kept in."""
        if self._state_file is not None:
            self._state_file.close()
            self._state_file = None

    def _kept_state(self, ledger: Ledger) -> bytes:
        """Return the state that was kept, if it belongs to the ledger as it is."""
        place = self.path / _STATE
        data = place.read_bytes() if place.exists() else b""
        body = data[_CHECK.size :]
        if len(body) < _COUNTS.size or _CHECK.unpack(data[: _CHECK.size])[0] != zlib.crc32(body):
            return b""
        same = _COUNTS.unpack(body[: _COUNTS.size]) == (ledger.asked, ledger.answered, ledger.spent)
        return body[_COUNTS.size :] if same else b""

    def save_if_due(self, learner: Any, ledger: Ledger) -> None:
        """Save the learner if enough answers have come since the last time."""
        if ledger.answered - self._saved >= self.save_every:
            self.save(learner, ledger)

    def save(self, learner: Any, ledger: Ledger) -> None:
        """Save the learner under the number of answers it has learned; one that cannot be saved learns anew instead."""
        if not _can_save(learner) or not ledger.answered or ledger.answered == self._saved:
            return
        learner.save(self.path / f"model-{ledger.answered}.quercus")
        self._saved = ledger.answered
        for answers, path in self._models().items():
            if answers != self._saved:
                path.unlink(missing_ok=True)

    def _models(self) -> dict[int, Path]:
        found = ((_MODEL.fullmatch(path.name), path) for path in self.path.iterdir())
        return {int(match[1]): path for match, path in found if match is not None}


def _can_save(learner: Any) -> bool:
    """Return whether a learner can be saved and loaded: ours can; subclasses and foreign ones learn anew."""
    return hasattr(learner, "save") and find_model(type(learner).__name__) is type(learner)


def _describe(policy: Policy) -> str:
    """Return the policy as text; a function in it stands under its name."""
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", repr(policy))
