"""One name for a base learner in Python, in files and on the command line.

``"tree"``, ``"tree:50"``, ``"product:3"``, ``"stump"`` and the objects are one thing;
``"tree:8/product:2"`` is a tree of 8 leaves whose nodes are cut by products of two
stumps.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from sklearn.base import is_regressor

from .bins import Bins
from .column import Column
from .from_classifier import FromClassifier
from .learner import LEARNERS, BaseLearner
from .product import Product
from .stump import Indicator, Selector, Stump
from .tree import Tree
from .within import Within

for learner in (Stump, Tree, Product, Selector, Indicator, Column, Bins, Within):
    LEARNERS.register(learner)


def base_learner_from(spec: Any) -> BaseLearner:
    """A base learner from an object or a specification; checks its parameters.

    Parameters
    ----------
    spec : BaseLearner or str
    """
    if isinstance(spec, str):
        return _parse(spec)
    if not isinstance(spec, BaseLearner):
        raise ValueError(
            f"base_learner must be one of {', '.join(map(repr, LEARNERS))}, or a Stump, Tree, Product, Selector, "
            f"Indicator, Column, Bins or FromClassifier; got {spec!r}"
        )
    if isinstance(spec, FromClassifier) and not _classifies(spec.estimator):
        raise ValueError(f"FromClassifier needs a classifier with fit and predict; got {spec.estimator!r}")
    spec.check()
    if spec.words:
        value = getattr(spec, str(spec.size))
        if value not in spec.words:
            raise ValueError(f"{spec.size} must be one of {', '.join(map(repr, spec.words))}; got {value!r}")
    elif spec.size is not None:
        value = getattr(spec, spec.size)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if value is not None and not (whole and value >= spec.least):
            raise ValueError(f"{spec.size} must be a whole number of at least {spec.least}; got {value!r}")
    base = getattr(spec, "base", None)
    if base is not None:
        base_learner_from(base)
        if spec.name in base.never_in:
            raise ValueError(
                f"{spec_of(spec)!r}: a {spec.name} cannot be made of {base.name!r}, whose base classifiers are not of "
                f"the form v phi(x); use {base.name!r} without it"
            )
    return spec


def _classifies(estimator) -> bool:
    """Whether an object, not a class, can be trained and asked, and is no regressor."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        return False
    return not (hasattr(estimator, "__sklearn_tags__") and is_regressor(estimator))


def _parse(text: str) -> BaseLearner:
    head, _, rest = text.partition("/")
    name, _, size = head.partition(":")
    if name not in LEARNERS:
        raise ValueError(f"base_learner={text!r}: {name!r} is not one of {', '.join(map(repr, LEARNERS))}")
    kind = LEARNERS.get(name)
    values: dict = {}
    if size:
        if kind.size is None or not (size in kind.words if kind.words else size.isdigit()):
            example = f"{name}:{kind.words[-1]}" if kind.words else "tree:50"
            raise ValueError(f"base_learner={text!r}: {size!r} is not a size; write for example {example!r}")
        values[kind.size] = size if kind.words else int(size)
    if rest:
        if "base" not in kind().get_params(deep=False):
            raise ValueError(f"base_learner={text!r}: a {name} has no base learner of its own")
        values["base"] = _parse(rest)
    return base_learner_from(kind(**values))


def spec_of(learner) -> str:
    """The specification of a base learner, for people to read."""
    if not isinstance(learner, BaseLearner):
        raise TypeError(f"not a base learner: {learner!r}")
    if isinstance(learner, FromClassifier):
        return f"{learner.name}:{type(learner.estimator).__name__}"
    value = getattr(learner, learner.size) if learner.size else None
    text = learner.name if value is None or value in learner.words[:1] else f"{learner.name}:{value}"
    base = getattr(learner, "base", None)
    return text if base is None or isinstance(base, Stump) else f"{text}/{spec_of(base)}"


def learner_to_dict(learner: BaseLearner) -> dict[str, Any]:
    """Name and parameters of a base learner, as JSON can hold them.

    Parameters
    ----------
    learner : BaseLearner
    """
    parameters = learner.get_params(deep=False)
    if isinstance(learner, FromClassifier):
        parameters["estimator"] = type(learner.estimator).__name__  # fitted objects have no place in a file
    base = parameters.get("base")
    if isinstance(base, BaseLearner):
        parameters["base"] = learner_to_dict(base)
    return {"name": learner.name, **{k: v.item() if hasattr(v, "item") else v for k, v in parameters.items()}}


def learner_from_dict(given: dict[str, Any]) -> BaseLearner:
    """The inverse of `learner_to_dict`.

    Parameters
    ----------
    given : dict
    """
    parameters = dict(given)
    kind = LEARNERS.get(parameters.pop("name"))
    if isinstance(parameters.get("base"), dict):
        parameters["base"] = learner_from_dict(parameters["base"])
    return base_learner_from(kind(**parameters))
