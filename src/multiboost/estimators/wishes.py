"""From an estimator's parameters to what is wished of a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..base import base_learner_from
from ..boosting.auto import Wishes
from ..criteria import CRITERIA
from ..losses import LOSSES
from ..losses.pair import PairLoss
from ..plugin import Plugin, parameters_of
from ..samplers import COLUMN_SAMPLERS, LABEL_SAMPLERS, ROW_SAMPLERS, AllColumns, AllLabels, AllRows, Share
from ..steps import STEPS, Step
from .start import plan_init
from .validation import seed_of


def wishes_of(estimator, **more: Any) -> Wishes:
    """What the parameters say.

    Parameters
    ----------
    estimator : Booster
        With the parameters of `MultiBoostClassifier`, but for those that are given.
    **more : dict
        Fields of `Wishes`.
    """
    rows = part_of("row_sampler", ROW_SAMPLERS, estimator.row_sampler)
    if rows is None and estimator.subsample is not None:
        rows = AllRows() if estimator.subsample == 1 else Share(float(estimator.subsample))
    given = {
        "base_learner": base_learner_from(estimator.base_learner),
        "criterion": None if estimator.criterion is None else CRITERIA.get(estimator.criterion).name,
        "step": _step(estimator),
        "learning_rate": estimator.learning_rate,
        "rows": rows,
        "columns": part_of("column_sampler", COLUMN_SAMPLERS, estimator.column_sampler) or AllColumns(),
        "labels": part_of("label_sampler", LABEL_SAMPLERS, getattr(estimator, "label_sampler", None)) or AllLabels(),
        "ridge": estimator.ridge,
        "max_bins": estimator.max_bins,
        "min_category_rows": estimator.min_category_rows,
        "seed": seed_of(estimator.random_state),
        "init": plan_init(estimator.init),
    }
    if "loss" not in more:
        names = ["auto", *losses_of("labels")]
        given["loss"] = None if _is_auto(estimator.loss) else part_of("loss", LOSSES, estimator.loss, names)
    return Wishes(**{**given, **more})


def check_wishes(estimator, wishes: Wishes, *, of: tuple[str, ...] = ("labels",)) -> None:
    """Refuse parameters that say the same thing twice, and losses of another kind of target."""
    loss = wishes.loss
    if loss is not None and _what(loss) not in of:
        names = ", ".join(map(repr, losses_of(*of)))
        raise ValueError(f"loss={loss.name!r} is a loss of {_what(loss)}; {type(estimator).__name__} has {names}")
    if isinstance(loss, PairLoss):
        loss.check_formulas()
    if estimator.subsample is not None and estimator.row_sampler is not None:
        raise ValueError("subsample and row_sampler both say which rows a round sees; use one of them")
    if estimator.learning_rate is not None and wishes.step is not None and not isinstance(estimator.step, str):
        raise ValueError("learning_rate and step both say how far to go; give the rate to the step")
    wishes.check()


def losses_of(*of: str) -> list[str]:
    """Names of the losses of labels, numbers or rankings."""
    return [name for name in LOSSES if _what(LOSSES.get(name)) in of]


def _what(loss) -> str:
    """What a loss, or a class of losses, is a loss of."""
    return "numbers" if loss.of_numbers else "rankings" if loss.of_queries else "labels"


def _is_auto(loss: Any) -> bool:
    return isinstance(loss, str) and loss == "auto"


def _step(estimator) -> Step | None:
    """The step; one that is named takes the learning rate, if it has one."""
    step = part_of("step", STEPS, estimator.step)
    if step is None or estimator.learning_rate is None or not isinstance(estimator.step, str):
        return step
    if "learning_rate" not in parameters_of(step):
        raise ValueError(f"learning_rate and step both say how far to go; the step {estimator.step!r} has no rate")
    return replace(step, learning_rate=float(estimator.learning_rate))  # type: ignore[type-var]


def part_of(parameter: str, registry, given, names=None):
    """A plug-in from its name or from itself; None stays None.  A message offers ``names``, or all there are."""
    if given is None or isinstance(given, Plugin):
        return given
    if not isinstance(given, str):
        raise ValueError(f"{parameter} must be the name of a {registry.what} or one itself; got {given!r}")
    name, _, number = (given, "", "") if given in registry else given.partition(":")
    if name not in registry:
        offered = ", ".join(map(repr, registry if names is None else names))
        raise ValueError(f"{parameter} must be one of {offered}; got {given!r}")
    kind = registry.get(name)
    try:
        return kind(_number(parameter, kind, given, number)) if number else kind()
    except TypeError as error:
        needs = ", ".join(parameters_of(kind))
        raise ValueError(f"{parameter}: the {registry.what} {given!r} needs {needs}; pass an object") from error


def _number(parameter: str, kind: type[Plugin], given: str, number: str) -> float:
    """What comes after the colon, as in "offset:0.1": the first parameter of the part."""
    if not parameters_of(kind):
        raise ValueError(f"{parameter}={given!r}: {kind.name!r} has no parameter to set")
    try:
        return float(number)
    except ValueError as error:
        raise ValueError(f"{parameter}={given!r}: {number!r} is not a number") from error
