"""Room for features, classes and states as they come; where there is none, the half of the states is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quercus.engine import Floats
from quercus.learners.reinforced.layout import NOWHERE
from quercus.learners.reinforced.state import COUNTED, ReinforcedState, fitting, link_states
from quercus.rows import NOMINAL, NUMERIC, UNSEEN


class Resizing:
    """Other arrays for a state: the state has all of them in the end, or where memory runs out none.

    Every change of size follows from the rows seen so far alone, never from how they were cut into batches.

    Parameters
    ----------
    state
        It changes when `publish` is called.

    Examples
    --------
    >>> from quercus.learners.reinforced.state import new_state
    >>> state = new_state(bins=5, features=2, seed=0, max_bytes=2**20)
    >>> resizing = Resizing(state)
    >>> resizing.fit_row(np.array([0.5, 3.0]), 0, ["numeric", "nominal"], 36, 32)
    >>> resizing.publish()
    >>> state.shares.shape, state.kept.shape
    ((64, 2), (1, 512))
    """

    def __init__(self, state: ReinforcedState) -> None:
        self._state, self._max_bytes = state, state.max_bytes
        self._sizes = state.sizes
        self._arrays: dict[str, npt.NDArray[Any]] = {name: getattr(state, name) for name in state.fields}
        self._arrays["options"] = state.options.copy()
        # The states to which the links belong.
        self._linked = state.states

    def publish(self) -> None:
        """Give the state its new arrays."""
        self._state.replace(**self._arrays)

    def add_features(self, total: int) -> None:
        """Make room for features up to a total number, of which nothing has been seen yet."""
        if total > self._sizes["feature"]:
            self._fit(lambda: {"feature": total}, "another feature")

    def widen_classes(self, least: int) -> None:
        """Make room for classes."""
        old = self._sizes["class"]
        if least > old:
            self._fit(lambda: {"class": max(least, 2, old + old // 2)}, "another class")

    def declare_classes(self, total: int) -> None:
        """Count classes as known."""
        self.widen_classes(total)
        self._arrays["options"]["classes"] = max(total, self._arrays["options"]["classes"][0])

    def fit_row(self, row: Floats, label: int, kinds: Sequence[str | None], nodes: int, pairs: int) -> None:
        """Make room for what a row may bring.

        Parameters
        ----------
        row
            Values by feature; NaN if missing, codes of categories.
        label
            Its class.
        kinds
            For each feature ``"numeric"`` or ``"nominal"``.
        nodes, pairs
            The most states and actions that it may bring.
        """
        self.widen_classes(label + 1)
        features = self._arrays["features"]
        new = np.flatnonzero(~np.isnan(row) & (features["kind"][: len(row)] == UNSEEN))
        numeric = np.array([kinds[f] != "nominal" for f in new.tolist()], bool)
        if len(new):
            old = self._sizes["slot"]
            self._fit(lambda: {"slot": old + int(numeric.sum())}, "another feature")
            self._arrays["features"] = features = features.copy()
            features["slot"][new[numeric]] = np.arange(old, self._sizes["slot"])
            features["kind"][new] = np.where(numeric, NUMERIC, NOMINAL)
        more = {"state": nodes, "action": pairs, "transition": pairs, "result": 2 * len(row)}
        self._fit(lambda: {dim: self._doubled(dim, more[dim]) for dim in COUNTED}, "what an example may teach")

    def forget_half(self) -> None:
        """Forget the half of the states with the least weight, of equal ones the latest, and shrink."""
        count = self._used("state")
        states, actions, transitions = (self._arrays[f"{dim}s"][: self._used(dim)] for dim in COUNTED[:3])
        ranked = 1 + np.lexsort((-np.arange(1, count), states["n"][1:]))
        kept = np.ones(count, bool)
        kept[ranked[: count // 2]] = False
        asked = kept[actions["state"]]
        led = (transitions["action"] >= 0) & asked[transitions["action"]]
        state_of, action_of, transition_of = _moves(kept), _moves(asked), _moves(led)
        values = states["value"]
        shares = self._arrays["shares"][:count][kept]
        states, actions, transitions = states[kept], actions[asked], transitions[led]
        lost = (transitions["state"] >= 0) & (state_of[transitions["state"]] < 0)
        transitions["value"][lost] = values[transitions["state"][lost]]
        transitions["state"] = state_of[transitions["state"]]
        transitions["action"] = action_of[transitions["action"]]
        transitions["next"] = transition_of[transitions["next"]]
        actions["state"] = state_of[actions["state"]]
        actions["first"], actions["next"] = transition_of[actions["first"]], action_of[actions["next"]]
        states["first"] = action_of[states["first"]]
        self._arrays |= {"states": states, "actions": actions, "transitions": transitions, "shares": shares}
        options = self._arrays["options"]
        options["states"], options["actions"], options["transitions"] = len(states), len(actions), len(transitions)
        options["free"] = NOWHERE
        self._resize(**fitting({dim: self._used(dim) for dim in COUNTED}))

    def _used(self, dim: str) -> int:
        return int(self._arrays["options"][f"{dim}s"][0])

    def _doubled(self, dim: str, more: int) -> int:
        size = self._sizes[dim]
        while self._used(dim) + more > size:
            size *= 2
        return size

    def _fit(self, find: Callable[[], dict[str, int]], reason: str) -> None:
        """Resize as is found; where there is no memory for that, forget half of the states first, and again."""
        while True:
            sizes = find()
            if self._state.bytes_at(**(self._sizes | sizes)) <= self._max_bytes:
                self._resize(**sizes)
                return
            if self._used("state") < 2:
                taken = self._state.bytes_at(**self._sizes)
                raise MemoryError(
                    f"there is no room for {reason} beside the {taken:,} bytes in use; give the learner a larger "
                    f"max_bytes than {self._max_bytes:,}."
                )
            self.forget_half()

    def _resize(self, **sizes: int) -> None:
        self._sizes = self._sizes | sizes
        for name, one in self._state.fields.items():
            if self._arrays[name].shape != one.shape(self._sizes):
                self._arrays[name] = one.resized(self._arrays[name], self._sizes)
        if self._arrays["states"] is not self._linked:
            self._linked = self._arrays["states"]
            self._arrays["links"] = link_states(self._linked["key0"][: self._used("state")], self._sizes["state"])


def _moves(kept: npt.NDArray[np.bool]) -> npt.NDArray[np.int64]:
    """Return where each goes that is kept, NOWHERE for the others and for what was nowhere before."""
    return np.append(np.where(kept, np.cumsum(kept) - 1, NOWHERE), NOWHERE)
