"""What a base classifier can be, and how it is learned.

``Stump``, ``Tree`` and their like are small scikit-learn estimators without data: they
hold parameters, and ``fit(problem)`` returns a ``BaseClassifier``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "LEARNERS",
    "BaseLearner",
    "Bins",
    "Column",
    "FromClassifier",
    "Indicator",
    "Product",
    "Selector",
    "Stump",
    "Tree",
    "Within",
    "base_learner_from",
    "spec_of",
]

# Nothing is imported until it is asked for: a model that only predicts needs no scikit-learn.
_HOMES = {
    "LEARNERS": ".learner",
    "BaseLearner": ".learner",
    "Bins": ".bins",
    "Column": ".column",
    "FromClassifier": ".from_classifier",
    "Indicator": ".stump",
    "Product": ".product",
    "Selector": ".stump",
    "Stump": ".stump",
    "Tree": ".tree",
    "Within": ".within",
    "base_learner_from": ".registry",
    "spec_of": ".registry",
}

if TYPE_CHECKING:
    from .bins import Bins
    from .column import Column
    from .from_classifier import FromClassifier
    from .learner import LEARNERS, BaseLearner
    from .product import Product
    from .registry import base_learner_from, spec_of
    from .stump import Indicator, Selector, Stump
    from .tree import Tree
    from .within import Within


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
