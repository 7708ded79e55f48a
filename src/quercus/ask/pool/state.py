"""What a pool sampler writes beside its questions, so that another can go on where it was, and its random numbers."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"quercus.pool.2"
_FOREIGN = "the ledger holds questions that no pool sampler asked; give another one."
_HEAD = struct.Struct("<14s16s32sddddqq")


class PoolState(NamedTuple):
    """The state that goes with some questions.

    Attributes
    ----------
    pool
        Fingerprint of the pool.
    origin
        Four 64-bit numbers from which all random numbers follow.
    explore, delta, floor
        As in `PoolSampler`.
    begun
        Weight of the labels that the learner had learned before the first question.
    answered
        Answers that the learner had learned when these questions were asked.
    drawn_at
        Question before which the order of the rows was drawn last, 0 if it is the first order.
    """

    pool: bytes
    origin: bytes
    explore: float
    delta: float
    floor: float
    begun: float
    answered: int
    drawn_at: int

    def to_bytes(self) -> bytes:
        """Return it as bytes."""
        return _HEAD.pack(_MAGIC, *self)

    @classmethod
    def from_bytes(cls, state: bytes) -> PoolState:
        """Return the state that `to_bytes` wrote."""
        if not state.startswith(_MAGIC) or len(state) < _HEAD.size:
            raise ValueError(_FOREIGN)
        return cls._make(_HEAD.unpack(state[: _HEAD.size])[1:])

    def check(self, now: PoolState, same_seed: bool) -> None:
        """Raise ValueError unless the sampler of now can go on from here."""
        if now.pool != self.pool:
            raise ValueError("the ledger was begun with another pool; give the same rows in the same order.")
        for name in ("explore", "delta", "floor"):
            before, after = getattr(self, name), getattr(now, name)
            if before != after:
                raise ValueError(
                    f"the ledger was begun with {name}={before:g} and is now given {after:g}; go on with that, or take "
                    "another ledger."
                )
        if same_seed and now.origin != self.origin:
            raise ValueError("the ledger was begun with another seed; go on with that one, or give None.")
        if now.begun != self.begun:
            raise ValueError(
                f"the learner knows labels of weight {now.begun:g}, and knew {self.begun:g} when the ledger was begun; "
                "give it as it was then, and it is taught the answers of the ledger."
            )


def check_rows(rows: list[int], pool_rows: int) -> list[int]:
    """Return the pool row of every question, or refuse those of others."""
    if len(set(rows)) < len(rows) or not all(0 <= row < pool_rows for row in rows):
        raise ValueError(_FOREIGN)
    return rows


@lru_cache(8)
def draw_order(origin: bytes, drawn_at: int, rows: int) -> NDArray[np.int64]:
    """Return rows in a random order that depends on nothing but the arguments."""
    # Raw bits are the same in every version of numpy, what is made of them need not be.
    order = np.argsort(_draw_bits(origin, 0, drawn_at, rows), kind="stable")
    order.setflags(write=False)
    return order


def draw_uniforms(origin: bytes, question: int) -> tuple[float, float, float]:
    """Return the three random numbers in [0, 1) of a question, the same whenever it is asked."""
    explored, place, coin = ((_draw_bits(origin, 1, question, 3) >> np.uint64(11)) * 2.0**-53).tolist()
    return explored, place, coin


def _draw_bits(origin: bytes, purpose: int, place: int, count: int) -> NDArray[np.uint64]:
    words = np.frombuffer(origin, "<u8").tolist()
    return np.random.PCG64(np.random.SeedSequence(words, spawn_key=(purpose, place))).random_raw(count)
