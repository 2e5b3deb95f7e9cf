"""Samples of negative weight on their way to a target."""

from __future__ import annotations

import numpy as np

from ..data.kind import TargetKind
from ..data.kinds import LabelKind
from ..data.signed import NothingLeft, annihilated
from ..data.table import Table


def without_negative(
    rule: str | None, table: Table, kind: TargetKind, labels: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Weights of at least 0, and the signs that they had where these are still needed, else None.

    Parameters
    ----------
    rule : {"annihilate", "keep"} or None
        What becomes of negative weights; the other rules leave none.
    table : Table
    kind : TargetKind
        Of labels, where weights are negative.
    labels : ndarray
    weight : ndarray (n,) or None
    """
    if weight is None or not (weight < 0).any():
        return weight, None
    assert isinstance(kind, LabelKind)  # others refuse them
    answers = kind.encode(labels)
    values, group = np.unique(answers, axis=0, return_inverse=True)
    group = group.reshape(-1)
    if rule == "keep":
        return _kept(kind, values, group, weight)
    nominal = np.array([c is not None for c in table.categories or [None] * table.n_columns])
    try:
        return annihilated(table.finite_rows(0, table.n_rows), nominal, group, weight), None
    except NothingLeft as error:
        raise _nothing_left(kind, values[error.group], error.total) from error


def sizes_and_signs(
    kind: LabelKind, answers: np.ndarray, weight: np.ndarray | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Weights as "keep" has them: their sizes, and their signs where some are negative, else None.

    Parameters
    ----------
    kind : LabelKind
    answers : ndarray (n, questions)
        Class numbers, as ``kind.encode`` has them.
    weight : ndarray (n,) or None

    Raises
    ------
    ValueError
        Where the weights of a class do not add up to more than 0.
    """
    if weight is None or not (weight < 0).any():
        return weight, None
    values, group = np.unique(answers, axis=0, return_inverse=True)
    return _kept(kind, values, group.reshape(-1), weight)


def _kept(kind: LabelKind, values: np.ndarray, group: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    total = np.bincount(group, weight)
    if not total.sum() > 0 or (kind.is_single and not (total > 0).all()):
        g = int(total.argmin())
        raise _nothing_left(kind, values[g], total[g])
    return np.abs(weight), np.where(weight < 0, -1.0, 1.0)


def _nothing_left(kind: LabelKind, answer: np.ndarray, total: float) -> ValueError:
    name = str(kind.answer_values(0)[answer[0]]) if kind.is_single else "rows with the labels " + str(answer.tolist())
    return ValueError(
        f"sample_weight: the weights of {'the class ' if kind.is_single else ''}{name} add up to {total:g}; "
        "a density has a sum above 0"
    )
