"""The former name of `quercus.acquisition`, for one more release."""

import warnings

from quercus.acquisition import *  # noqa: F403

warnings.warn("quercus.inquire is now called quercus.acquisition.", DeprecationWarning, stacklevel=2)
