"""Settings for all tests and doctests."""

import gc
import os
import signal
from collections import Counter

from hypothesis import settings

# Alembic alone can run it.
collect_ignore = ["src/quercus/ledger/migrations/env.py"]

SOAK = bool(os.environ.get("QUERCUS_SOAK"))
# Kernels compile inside the first example that needs them, so examples have no deadline.
settings.register_profile("quercus", deadline=None, max_examples=100 if SOAK else 25)
settings.load_profile("quercus")

# Where most kernels are compiled: side by side, by one process from the first learner on, by the other from the last.
COMPILING = ("tests/test_estimator.py", "tests/frozen/test_values.py")

# A shell without a terminal starts jobs in the background deaf to Ctrl-C, which some tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Declare the mark of tests of which ``make test`` runs a sample; look for no garbage while they are collected."""
    gc.disable()
    config.addinivalue_line("markers", "sampled(n): make test runs every n-th of its parameters, make soak all of them")


def pytest_collection_finish():
    """Spare what is there by now when garbage is looked for: again and again, that took a tenth of all the time."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


def pytest_collection_modifyitems(items):
    """Begin with what compiles most; leave out what is not in the sample, the same in every process."""
    first, second = ([item for item in items if item.nodeid.startswith(name)] for name in COMPILING)
    items[:] = [*first, *second[::-1], *(item for item in items if not item.nodeid.startswith(COMPILING))]
    if SOAK:
        return
    seen = Counter()
    for item in list(items):
        mark = item.get_closest_marker("sampled")
        if mark is not None:
            if seen[item.function] % mark.args[0]:
                items.remove(item)
            seen[item.function] += 1
