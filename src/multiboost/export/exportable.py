"""What may leave the house: a model all of whose parts an exporter knows."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from ..calibration import Formula
from ..model.ensemble import CURVES
from ..model.model import Model

# The arrays of an ensemble that exporters know.  A newer one is refused, not left out.
_KNOWN = {
    "initial", "feature", "threshold", "missing_right", "child", "gain", "values", "root", "first_term", "size",
    "set_start", "sets", "phi",
}  # fmt: skip
KINDS = ("binary", "multiclass", "multilabel", "multitask", "regression")


class ExportError(ValueError):
    """The model has something that the form asked for cannot say; the message names it."""


def exportable(given, *, curves: bool = False, policies: bool = False) -> Model:
    """The model of an estimator or a model, if exporters know all that it is made of.

    Parameters
    ----------
    given : fitted estimator or Model
    curves : bool
        Whether the exporter knows votes that are polynomials of a column.
    policies : bool
        Whether it knows policies, by which rows leave early.

    Raises
    ------
    ExportError
        It names what is not known, and the base learner that it comes from.
    """
    model = getattr(given, "model_", given)
    if type(model) is not Model:
        raise ExportError(f"{type(given).__name__} cannot be exported: give a fitted estimator or its model")
    ensemble = model.ensemble
    learner = learner_of(model)
    if ensemble.phi:
        raise ExportError(
            f"the base learner {learner!r} holds fitted classifiers of other packages, which cannot be exported; "
            "train with trees, stumps or products"
        )
    if ensemble.is_curved and not curves:
        raise ExportError(
            f"the base learner {learner!r} votes with polynomials of a column (lines, splines), which only C in double "
            "precision and Python files know"
        )
    for field in fields(ensemble):
        if field.name not in CURVES and field.name not in _KNOWN and np.size(getattr(ensemble, field.name)) > 0:
            raise ExportError(f"the base learner {learner!r} cannot be exported yet: no exporter knows {field.name!r}")
    if model.policy is not None and not policies:
        raise ExportError(
            "the model has a policy, by which rows leave early, and only C in double precision knows it; export the "
            "classifier that it was made from"
        )
    if model.before is not None:
        raise ExportError("the model starts from the scores of another one (init), which cannot be exported yet")
    nominal = np.isin(ensemble.feature, np.flatnonzero(n_categories(model) >= 0))
    if (nominal & (ensemble.set_start < 0)).any():
        raise ExportError(f"the base learner {learner!r} cannot be exported yet: it orders the categories of a column")
    if max(ensemble.feature.max(initial=-1), ensemble.along.max(initial=-1)) >= model.columns.n:
        raise ExportError(f"the base learner {learner!r} cannot be exported yet: it computes columns of its own")
    if model.kind.name not in KINDS:
        raise ExportError(f"targets of the kind {model.kind.name!r} cannot be exported yet; {', '.join(KINDS)} can")
    if not (np.isfinite(ensemble.values).all() and np.isfinite(ensemble.initial).all()):
        raise ExportError("the model has votes that are not finite")
    return model


def formulas_of(model: Model) -> list[Formula]:
    """The probabilities of every question as formulas.

    Raises
    ------
    ExportError
        Where they are none; its text is also for files without probabilities.
    """
    found = model.formulas()
    if found is not None:
        return found
    if model.calibration is None:
        raise ExportError("the model has no probabilities; leave them out")
    raise ExportError(
        f"probabilities by the calibration {model.calibration.name!r} cannot be exported, only scores and answers; "
        "train with another calibration, such as 'auto' or 'temperature': scores and answers stay the same"
    )


def learner_of(model: Model) -> str:
    """The name of a model's base learner; a learner inside another after a slash."""
    names, learner = [], model.plan.get("base_learner")
    while isinstance(learner, dict):
        names.append(str(learner.get("name", "?")))
        learner = learner.get("base")
    return "/".join(names) or "?"


def n_categories(model: Model) -> np.ndarray:
    """How many categories each column has, (columns,); -1 for numbers."""
    categories = model.columns.categories or [None] * model.columns.n
    return np.array([-1 if c is None else len(c) for c in categories], np.int64)


def column_names(model: Model) -> list[str]:
    """A name for every column, its number where it has none."""
    names = model.columns.names
    return [str(j) for j in range(model.columns.n)] if names is None else [str(name) for name in names]


def total_votes(model: Model) -> float:
    """The largest |F| that any row can have: that of the initial scores, and the largest vote of every round."""
    ensemble = model.ensemble
    largest = [np.abs(ensemble.values[leaves]).max() for leaves in leaves_of_terms(model)]
    rounds = zip(ensemble.first_term[:-1], ensemble.first_term[1:], strict=True)
    return float(np.abs(ensemble.initial).max() + sum(np.prod(largest[a:b]) for a, b in rounds))


def leaves_of_terms(model: Model) -> list[np.ndarray]:
    """The numbers of the leaves that each term can reach."""
    ensemble, found = model.ensemble, []
    for root in ensemble.root.tolist():
        todo, seen = [root], set()
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += ensemble.child[node].tolist() if node >= 0 else []
        found.append(np.array(sorted(-1 - node for node in seen if node < 0)))
    return found


def signs_of_terms(model: Model) -> np.ndarray:
    """Whether a term votes +1 and -1 only, (terms,) bool: all terms of a product do, but one."""
    is_sign = (np.abs(model.ensemble.values) == 1.0).all(axis=1)
    return np.array([is_sign[leaves].all() for leaves in leaves_of_terms(model)], bool)


def is_stumps(model: Model) -> bool:
    """Whether every round is one test with two leaves."""
    ensemble = model.ensemble
    return bool(
        len(ensemble.root) == ensemble.n_rounds
        and not ensemble.is_curved
        and (ensemble.root >= 0).all()
        and (ensemble.child[ensemble.root] < 0).all()
    )
