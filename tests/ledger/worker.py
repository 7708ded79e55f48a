"""Other processes for the tests of ledgers: ``python worker.py <what> <store> <file for receipts>``."""

import os
import random
import signal
import sys
import time
from pathlib import Path

# imported once, before the copies of this process that need it
import quercus.ledger.database  # noqa: F401
from quercus.ledger import Ledger, LedgerLocked

KILLS = int(os.environ.get("QUERCUS_KILLS", "8"))


def open_soon(store):
    """Open a ledger; a server takes a moment to notice that the last one was killed."""
    for _ in range(200):
        try:
            return Ledger(store)
        except LedgerLocked:
            time.sleep(0.02)
    return Ledger(store)


def use_until_killed(store, receipts):
    """Ask and answer for ever, and write down what returned."""
    descriptor = os.open(receipts, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    ledger = open_soon(store)
    while True:
        id = ledger.ask({"n": len(ledger)}, row=len(ledger) + 1, covered=1, price=0.1, state=b"%d" % len(ledger))
        os.write(descriptor, f"ask {id}\n".encode())
        if id % 5 == 0:
            ids = ledger.ask_rows({"n": [1.0, 2.0, 3.0]}, row=id, covered=1, answers=["a", None, "b"])
            os.write(descriptor, "".join(f"ask {one}\n" for one in ids).encode())
        if id % 2 == 0:
            ledger.answer(id, f"label {id}")
            os.write(descriptor, f"answer {id}\n".encode())
        if id % 6 == 0:
            ledger.correct(id, f"right {id}")
            os.write(descriptor, f"correct {id}\n".encode())


def kill_often(store, receipts):
    """Kill one user of the ledger after the other, each at some moment of its work."""
    chance = random.Random(0)
    receipts = Path(receipts)
    receipts.touch()
    for _ in range(KILLS):
        goal = receipts.stat().st_size + chance.randrange(1, 60)
        child = os.fork()
        if child == 0:
            use_until_killed(store, receipts)
        while receipts.stat().st_size < goal:
            if os.waitpid(child, os.WNOHANG)[0]:
                sys.exit("the child ended by itself")
            time.sleep(0.0005)
        time.sleep(chance.random() * 0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def open_it(store, _):
    try:
        Ledger(store)
    except LedgerLocked as error:
        print(f"locked: {error}")


def write_slowly(store, stop):
    """Ask and answer until told to stop."""
    with Ledger(store) as ledger:
        print("ready", flush=True)
        while not Path(stop).exists():
            id = ledger.ask({"n": len(ledger)}, row=len(ledger) + 1, covered=1)
            ledger.answer(id, id)


if __name__ == "__main__":
    {"kill": kill_often, "open": open_it, "write": write_slowly}[sys.argv[1]](*sys.argv[2:])
