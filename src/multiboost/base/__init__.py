"""What a base classifier can be, and how it is learned.

``Stump``, ``Tree`` and their like are small scikit-learn estimators without data: they
hold parameters, and ``fit(problem)`` returns a ``BaseClassifier``.
"""

from .from_classifier import FromClassifier
from .product import Product
from .registry import base_learner_from, spec_of
from .stump import Indicator, Selector, Stump
from .tree import Tree

__all__ = ["FromClassifier", "Indicator", "Product", "Selector", "Stump", "Tree", "base_learner_from", "spec_of"]
