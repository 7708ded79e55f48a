"""Settings for all tests and doctests."""

import signal

from hypothesis import settings

# Kernels compile inside the first example that needs them, so examples have no deadline.
settings.register_profile("quercus", deadline=None)
settings.load_profile("quercus")

# A shell without a terminal starts jobs in the background deaf to Ctrl-C, which some tests send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
