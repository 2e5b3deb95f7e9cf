"""Initial weights W0 of the pairs of a sample and a label."""

from __future__ import annotations

from numbers import Real

import numpy as np

from .kinds import LabelKind

WEIGHTINGS = ("auto", "uniform", "half", "balanced", "given")


def initial_weights(
    kind: LabelKind, signs: np.ndarray, weighting: str, sample_weight: np.ndarray | None, label_weight
) -> np.ndarray:
    """W0 before sample weights, (n, K); each row of a fully known sample sums to 1.

    Parameters
    ----------
    kind : LabelKind
    signs : ndarray (n, K)
        Y in {-1, 0, +1}.
    weighting : {"auto", "uniform", "half", "balanced", "given"}
    sample_weight : ndarray (n,) or None
    label_weight : array (n, K) or None
    """
    n, n_labels = signs.shape
    if weighting == "auto":
        weighting = kind.weighting
    if label_weight is not None:
        label_weight = _label_weight(kind, label_weight, n)
    if weighting == "given":
        if label_weight is None:
            raise ValueError("weighting='given' takes label_weight as it is: pass label_weight to fit")
        return label_weight.astype(np.float64)
    parts = kind.tasks or [slice(0, n_labels)]
    weights = np.zeros((n, n_labels))
    for part in parts:
        weights[:, part] = _RULES[weighting](signs[:, part], sample_weight) / len(parts)
    return weights if label_weight is None else weights * label_weight


def _uniform(y: np.ndarray, mass) -> np.ndarray:
    """All labels weigh the same (3.11)."""
    return np.full(y.shape, 1.0 / y.shape[1])


def _half(y: np.ndarray, mass) -> np.ndarray:
    """Half on the positive and half on the negative labels of a sample (3.12)."""
    if y.shape[1] == 1:
        return _uniform(y, mass)
    positive, negative = (y > 0), (y < 0)
    n_pos, n_neg = positive.sum(1, keepdims=True), negative.sum(1, keepdims=True)
    share = np.where((n_pos > 0) & (n_neg > 0), 0.5, 1.0)
    return share * (positive / np.maximum(n_pos, 1) + negative / np.maximum(n_neg, 1))


def _balanced(y: np.ndarray, mass) -> np.ndarray:
    """For every label as much weight on its positive as on its negative samples."""
    mass = np.ones(len(y)) if mass is None else mass
    of_positive, of_negative = mass @ (y > 0), mass @ (y < 0)
    tiny = np.finfo(np.float64).tiny
    w = np.where(y > 0, 1.0 / np.maximum(of_positive, tiny), 1.0 / np.maximum(of_negative, tiny))
    w[y == 0] = 0.0
    w *= mass.sum() / (2.0 * y.shape[1])
    return w


_RULES = {"uniform": _uniform, "half": _half, "balanced": _balanced}


def _label_weight(kind: LabelKind, label_weight, n: int) -> np.ndarray:
    """Checked label weights, (n, K); of a binary target both columns are added up."""
    w = np.asarray(label_weight, dtype=np.float64)
    if kind.n_labels == 1 and w.ndim == 2 and w.shape[1] == 2:
        w = w.sum(axis=1, keepdims=True)
    w = w.reshape(len(w), -1)
    if w.shape != (n, kind.n_labels):
        raise ValueError(f"label_weight must have shape {(n, kind.n_labels)}, one row per sample; got {w.shape}")
    if not np.isfinite(w).all():
        raise ValueError("label_weight contains NaN or infinity")
    if (w < 0).any():
        raise ValueError("label_weight contains negative values; a weight is a cost, at least 0")
    return w


def check_sum(total: float) -> None:
    """Refuse weights whose sum is beyond all numbers."""
    if not np.isfinite(total):
        raise ValueError("the weights are so large that their sum is not a number; divide them, only ratios matter")


def class_factors(kind: LabelKind, encoded: np.ndarray, class_weight) -> list[np.ndarray]:
    """What ``class_weight`` multiplies the weights of the rows of each class by: (classes + 1,) for each question.

    The last number, 1, is for rows whose class is unknown.  "balanced" is n / (classes times the rows of the class), as
    in scikit-learn, of the rows where the answer is known.

    Parameters
    ----------
    kind : LabelKind
    encoded : ndarray (n, questions)
        Class numbers, -1 where unknown.
    class_weight : "balanced", dict, or list of dict
        A dictionary for each column of y.
    """
    n_questions = encoded.shape[1]
    several = class_weight if isinstance(class_weight, (list, tuple)) else [class_weight] * n_questions
    if len(several) != n_questions:
        raise ValueError(f"class_weight has {len(several)} entries, but y has {n_questions} columns; give one for each")
    found = []
    for q, weights in enumerate(several):
        names = kind.answer_values(q)
        if isinstance(weights, str):
            if weights != "balanced":
                raise ValueError(f"class_weight must be 'balanced' or a dictionary; got {weights!r}")
            number = encoded[encoded[:, q] >= 0, q]
            count = np.bincount(number, minlength=len(names))
            of_class = number.size / (np.count_nonzero(count) * np.maximum(count, 1))
        elif isinstance(weights, dict):
            strange = [c for c in weights if c not in names]
            if strange:
                raise ValueError(f"class_weight has {strange[0]!r}, which is not a class; there are {names}")
            text = [w for w in weights.values() if not isinstance(w, Real)]
            if text:
                raise ValueError(f"class_weight has the weight {text[0]!r}; weights are numbers")
            of_class = np.array([float(weights.get(c, 1.0)) for c in names])
        else:
            raise ValueError(f"class_weight must be 'balanced', a dictionary or a list of these; got {weights!r}")
        if not (np.isfinite(of_class).all() and (of_class >= 0).all()):
            raise ValueError(f"class_weight must be finite and not negative; got {weights!r}")
        found.append(np.append(of_class, 1.0))
    return found
