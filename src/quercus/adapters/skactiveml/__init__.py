"""scikit-activeml: our learners as its classifiers, our policies as its strategies, and its strategies as policies."""

from __future__ import annotations

try:
    import skactiveml  # noqa: F401 - only to tell what is missing
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "scikit-activeml is not installed, which quercus.adapters.skactiveml needs; pip install 'quercus[activeml]'."
    ) from error

from quercus.adapters.skactiveml.classifier import ActivemlClassifier
from quercus.adapters.skactiveml.policy import ActivemlPolicy
from quercus.adapters.skactiveml.strategy import ActivemlStrategy

__all__ = ["ActivemlClassifier", "ActivemlPolicy", "ActivemlStrategy"]
