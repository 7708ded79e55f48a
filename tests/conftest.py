"""Settings for all tests: kernels compile inside the first example that needs them, so examples have no deadline."""

from hypothesis import settings

settings.register_profile("quercus", deadline=None)
settings.load_profile("quercus")
