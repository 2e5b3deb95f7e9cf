"""What a base classifier can be, and how it is learned.

``Stump``, ``Tree`` and ``Product`` are small scikit-learn estimators without data: they
hold parameters, and ``fit(problem)`` returns a ``BaseClassifier``.
"""

from .product import Product
from .registry import base_learner_from, spec_of
from .stump import Stump
from .tree import Tree

__all__ = ["Product", "Stump", "Tree", "base_learner_from", "spec_of"]
