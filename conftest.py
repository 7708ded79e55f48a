"""Settings for all tests and doctests."""

import gc
import os
import signal
import sys
from collections import Counter

from hypothesis import settings

# Alembic alone can run it.
collect_ignore = ["src/quercus/ledger/migrations/env.py"]

SOAK = bool(os.environ.get("QUERCUS_SOAK"))
# Kernels compile inside the first example that needs them, so examples have no deadline.
settings.register_profile("quercus", deadline=None, max_examples=100 if SOAK else 25)
settings.load_profile("quercus")

# Where most kernels are compiled, side by side: those of some learners by one process, the rest by the other, since
# learners of one kind share much that each process would compile for itself.
COMPILING = ("tests/test_estimator.py", "tests/frozen/test_values.py")
OF_THE_FIRST = ("evergreen", "reinforced", "utility")

# A shell without a terminal starts jobs in the background deaf to Ctrl-C, which some tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Declare the mark of tests of which ``make test`` runs a sample; look for no garbage while they are collected."""
    gc.disable()
    config.addinivalue_line("markers", "sampled(n): make test runs every n-th of its parameters, make soak all of them")


def pytest_collection_finish(session):
    """Spare what is there by now when garbage is looked for: again and again, that took a tenth of all the time."""
    compiling = sys.modules.get("quercus.compile")
    session.config.compiled_early = [entry.key for entry in compiling.ENTRIES if entry._compiled] if compiling else []
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


def is_of_the_first(item):
    """Return whether the first process compiles what a test needs."""
    return any(name in item.nodeid.lower() for name in OF_THE_FIRST)


def pytest_collection_modifyitems(items):
    """Begin with what compiles most; leave out what is not in the sample, the same in every process."""
    first, second = ([item for item in items if item.nodeid.startswith(name)] for name in COMPILING)
    first.sort(key=is_of_the_first, reverse=True)
    second.sort(key=is_of_the_first)
    items[:] = [*first, *second, *(item for item in items if not item.nodeid.startswith(COMPILING))]
    if SOAK:
        return
    seen = Counter()
    for item in list(items):
        mark = item.get_closest_marker("sampled")
        if mark is not None:
            if seen[item.function] % mark.args[0]:
                items.remove(item)
            seen[item.function] += 1
