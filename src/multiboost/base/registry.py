"""One name for a base learner in Python, in files and on the command line.

``"tree"``, ``"tree:50"``, ``"product:3"``, ``"stump"`` and the objects are one thing;
``"tree:8/product:2"`` is a tree of 8 leaves whose nodes are cut by products of two
stumps.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.base import is_regressor

from .from_classifier import FromClassifier
from .product import Product
from .stump import Indicator, Selector, Stump
from .tree import Tree

LEARNERS: dict[str, tuple[type, str | None]] = {
    "stump": (Stump, None),
    "tree": (Tree, "n_leaves"),
    "product": (Product, "n_terms"),
    "selector": (Selector, None),
    "indicator": (Indicator, "n_starts"),
}
_LEAST = {"n_leaves": 2, "n_terms": 1, "n_starts": 0, "n_cycles": 1}
_NO_BASE = (Stump, Selector, Indicator)


def base_learner_from(spec: Any):
    """A base learner from an object or a specification; checks its parameters.

    Parameters
    ----------
    spec : Stump, Tree, Product, Selector, Indicator, FromClassifier or str
    """
    if isinstance(spec, str):
        return _parse(spec)
    if not isinstance(spec, (*(kind for kind, _ in LEARNERS.values()), FromClassifier)):
        raise ValueError(
            f"base_learner must be one of {', '.join(map(repr, LEARNERS))}, or a Stump, Tree, Product, Selector, "
            f"Indicator or FromClassifier; got {spec!r}"
        )
    if isinstance(spec, FromClassifier) and not _classifies(spec.estimator):
        raise ValueError(f"FromClassifier needs a classifier with fit and predict; got {spec.estimator!r}")
    for size in _LEAST:
        value = getattr(spec, size, None)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if value is not None and not (whole and value >= _LEAST[size]):
            raise ValueError(f"{size} must be a whole number of at least {_LEAST[size]}; got {value!r}")
    base = getattr(spec, "base", None)
    if base is not None:
        base_learner_from(base)
    return spec


def _classifies(estimator) -> bool:
    """Whether an object, not a class, can be trained and asked, and is no regressor."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        return False
    return not (hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator))


def _parse(text: str):
    head, _, rest = text.partition("/")
    name, _, size = head.partition(":")
    if name not in LEARNERS:
        raise ValueError(f"base_learner={text!r}: {name!r} is not one of {', '.join(map(repr, LEARNERS))}")
    kind, parameter = LEARNERS[name]
    values: dict = {}
    if size:
        if parameter is None or not size.isdigit():
            raise ValueError(f"base_learner={text!r}: {size!r} is not a size; write for example 'tree:50'")
        values[parameter] = int(size)
    if rest:
        if kind in _NO_BASE:
            raise ValueError(f"base_learner={text!r}: a {name} has no base learner of its own")
        values["base"] = _parse(rest)
    return base_learner_from(kind(**values))


def spec_of(learner) -> str:
    """The specification of a base learner, for files and titles."""
    for name, (kind, size) in LEARNERS.items():
        if type(learner) is kind:
            value = getattr(learner, size) if size else None
            value = None if value == Indicator().n_starts and kind is Indicator else value
            text = name if value is None else f"{name}:{value}"
            base = getattr(learner, "base", None)
            return text if base is None or isinstance(base, Stump) else f"{text}/{spec_of(base)}"
    if isinstance(learner, FromClassifier):
        return f"classifier:{type(learner.estimator).__name__}"
    raise TypeError(f"not a base learner: {learner!r}")
