"""Settings for all tests and doctests."""

import os
import signal
from collections import Counter

from hypothesis import settings

# Alembic alone can run it.
collect_ignore = ["src/quercus/ledger/migrations/env.py"]

# Kernels compile inside the first example that needs them, so examples have no deadline.
settings.register_profile("quercus", deadline=None)
settings.load_profile("quercus")

# A shell without a terminal starts jobs in the background deaf to Ctrl-C, which some tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Declare the mark of tests of which ``make test`` runs a sample."""
    config.addinivalue_line("markers", "sampled(n): make test runs every n-th of its parameters, make soak all of them")


def pytest_collection_modifyitems(items):
    """Leave out what is not in the sample, the same in every process."""
    if os.environ.get("QUERCUS_SOAK"):
        return
    seen = Counter()
    for item in list(items):
        mark = item.get_closest_marker("sampled")
        if mark is not None:
            if seen[item.function] % mark.args[0]:
                items.remove(item)
            seen[item.function] += 1
