"""What comes in at the door: tables, weights and parameters, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_array, validate_data

from ..base import Column
from ..base.stump import Cut
from ..boosting.callbacks import Callback
from ..data.table import Table, as_table, is_frame
from ..data.weighting import check_sum
from ..kernels.subset import NOMINAL
from ..memory import need
from ..model.model import Columns

# What other packages call arguments of fit.
_CALLED_HERE = {
    "eval_set": "validation=(X, y), one set",
    "valid_sets": "validation=(X, y), one set",
    "eval_sample_weight": "the third of validation=(X, y, sample_weight)",
    "early_stopping_rounds": "callbacks=[EarlyStopping(50)] with validation=(X, y)",
    "categorical_feature": "the parameter nominal_features",
    "cat_features": "the parameter nominal_features",
}


_COLUMN = 1000  # bytes, about, that a fit needs for a column, whatever is in it


class _Door(BaseEstimator):
    """Takes the names and the number of columns, so that the estimator itself stays as it was until it has learned."""


def learn_table(estimator, X, nominal_features=None) -> tuple[Table, Columns]:
    """The training table, and its columns: their number, names and categories.

    The estimator is named in messages and not changed.

    Parameters
    ----------
    estimator : estimator
    X : array, sparse matrix or data frame
    nominal_features : list of str, list of int, mask or None
    """
    door = _Door()
    table = _check_shape(estimator, door, X, reset=True, nominal=nominal_features is not None)
    need(_COLUMN * table.n_columns, f"{table.n_columns} columns", "leave columns out, or number them without gaps")
    nominal = nominal_mask(nominal_features, table)
    categories = table.with_categories(nominal) if nominal.any() else None
    return table, Columns(door.n_features_in_, getattr(door, "feature_names_in_", None), categories)


def check_table(estimator, X) -> Table:
    """A table for a fitted estimator: with the columns of its training.

    Parameters
    ----------
    estimator : fitted estimator
    X : array, sparse matrix or data frame
    """
    categories = estimator.model_.columns.categories
    table = _check_shape(estimator, estimator, X, reset=False, nominal=categories is not None)
    table.categories = categories
    return table


def nominal_mask(nominal_features, table: Table) -> np.ndarray:
    """Which columns are nominal: those named, and those whose own type says so.

    Parameters
    ----------
    nominal_features : list of str, list of int, mask or None
    table : Table
    """
    mask = np.array([table.says_nominal(j) for j in range(table.n_columns)], bool)
    if nominal_features is None:
        return mask
    given = _list_of(nominal_features)
    if given.size == 0:
        return mask
    if given.dtype.kind in "iu" and any(isinstance(value, (bool, np.bool_)) for value in nominal_features):
        raise ValueError("nominal_features mixes kinds; give names, positions or booleans")
    if given.dtype.kind == "b":
        if given.size != table.n_columns:
            raise ValueError(f"nominal_features is a mask of {given.size}, but X has {table.n_columns} columns")
        return mask | given
    if given.dtype.kind in "iu":
        wrong = given[(given < 0) | (given >= table.n_columns)]
        if wrong.size:
            raise ValueError(f"nominal_features: X has no column {wrong[0]}; it has {table.n_columns}")
        mask[given] = True
        return mask
    if not all(isinstance(name, str) for name in nominal_features):
        raise ValueError("nominal_features mixes kinds; give names, positions or booleans")
    if table.names is None:
        raise ValueError("nominal_features has names, but X has no column names; give positions or a data frame")
    at = {name: j for j, name in enumerate(table.names)}
    for name in nominal_features:
        if name not in at:
            raise ValueError(f"nominal_features: X has no column {name!r}; it has {', '.join(map(repr, table.names))}")
        mask[at[name]] = True
    return mask


def check_cuts(learner, table: Table) -> None:
    """Refuse a learner of nominal cuts for a table of numbers only, and lines for a table of names only."""
    names_only = table.categories is not None and all(c is not None for c in table.categories)
    if isinstance(learner, Column) and names_only:
        raise ValueError("Column() is for columns of numbers, and X has none: use Bins(), Stump() or Tree()")
    cut = learner
    while getattr(cut, "base", None) is not None:
        cut = cut.base
    if isinstance(cut, Cut) and cut.kinds == NOMINAL and table.categories is None:
        raise ValueError(
            f"{type(cut).__name__}() cuts nominal columns, and X has none: name them in nominal_features, pass a data "
            "frame with columns of text or categories, or use Stump() for numbers"
        )


def _list_of(nominal_features) -> np.ndarray:
    """What the user has named, as an array."""
    try:
        given = np.asarray(nominal_features)
    except ValueError:  # lists of different lengths
        given = np.empty((0, 0))
    if given.ndim != 1:
        raise ValueError(f"nominal_features must be a list of names, positions or booleans; got {nominal_features!r}")
    return given


def _check_shape(estimator, door, X, *, reset: bool, nominal: bool) -> Table:
    """X as a `Table`; ``door`` learns the names and the number of columns, or knows them."""
    if is_frame(X):
        table = as_table(X)
        if table.n_rows == 0 or table.n_columns == 0:
            raise ValueError(
                f"Found array with {table.n_rows} sample(s) (shape=({table.n_rows}, {table.n_columns})) while a "
                "minimum of 1 sample and 1 feature is required."
            )
        _check_names(estimator, door, X, table, reset)
        return table
    try:
        X = check_array(
            X,
            accept_sparse=("csr", "csc"),
            dtype=None if nominal else "numeric",
            ensure_all_finite=False,
            estimator=estimator,
            input_name="X",
        )
    except ValueError as error:
        if reset and "string" in str(error):  # scikit-learn's message, and what can be done about it
            text = str(error).rstrip(".")
            raise ValueError(f"{text}. Name the columns of text in nominal_features if they are nominal.") from error
        raise
    except TypeError as error:  # of Python objects that are no numbers, such as dates
        raise TypeError(f"X does not hold numbers: {error}; make numbers of them, or pass a data frame") from error
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers")
    validate_data(door, X, reset=reset, skip_check_array=True)
    return as_table(X)


def _check_names(estimator, door, X, table: Table, reset: bool) -> None:
    names = table.names or []
    seen = getattr(door, "feature_names_in_", None)
    if not reset and seen is not None and seen.tolist() == names:
        return
    if hasattr(X, "iloc"):
        validate_data(door, X, reset=reset, skip_check_array=True)  # pandas: scikit-learn's own messages
        return
    if reset:
        door.feature_names_in_ = np.asarray(names, dtype=object)
        door.n_features_in_ = table.n_columns
        return
    if seen is not None:
        then, now = set(seen), set(names)
        unknown = [n for n in names if n not in then]
        absent = [n for n in seen if n not in now]
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            + (f"Feature names unseen at fit time: {', '.join(unknown)}\n" if unknown else "")
            + (f"Feature names seen at fit time, yet now missing: {', '.join(absent)}\n" if absent else "")
            + ("Feature names must be in the same order as they were in fit.\n" if not unknown and not absent else "")
        )
    if table.n_columns != door.n_features_in_:
        raise ValueError(
            f"X has {table.n_columns} features, but {type(estimator).__name__} is expecting "
            f"{door.n_features_in_} features as input"
        )


def check_weights(sample_weight, n_rows: int, negative: str | None = None) -> np.ndarray | None:
    """Row weights, finite; None stays None.

    Parameters
    ----------
    sample_weight : array (n,) or None
    n_rows : int
    negative : {"error", "ignore", "annihilate", "keep"} or None
        What becomes of negative ones; None where there is no choice: they are refused.
    """
    if sample_weight is None:
        return None
    like = np.empty((n_rows, 0))
    weights = _check_sample_weight(sample_weight, like, dtype=np.float64)
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        told = f"sample_weight[{row}] is negative ({weights[row]})"
        if negative is None:
            raise ValueError(f"{told}; a weight is at least 0")
        if negative == "error":
            raise ValueError(
                f"{told}; negative_weights says what becomes of such samples: 'ignore' leaves them out, 'annihilate' "
                "lets them cancel with others of their class, 'keep' subtracts their loss"
            )
        if negative == "ignore":
            weights = np.maximum(weights, 0.0)
    with np.errstate(over="ignore"):
        check_sum(np.abs(weights).sum())
    if not weights.sum() > 0:
        if (weights < 0).any():
            raise ValueError(f"sample_weight has negative weights and adds up to {weights.sum():g}; it must be above 0")
        raise ValueError("sample_weight is zero everywhere; at least one sample must have weight")
    return weights


def check_callbacks(callbacks) -> Sequence[Callback]:
    """Callbacks as a list; None is none of them."""
    if callbacks is None:
        return []
    if isinstance(callbacks, Callback) or (isinstance(callbacks, type) and issubclass(callbacks, Callback)):
        name = callbacks.__name__ if isinstance(callbacks, type) else type(callbacks).__name__
        raise ValueError(f"callbacks must be a list: write callbacks=[{name}(...)]")
    try:
        given = list(callbacks)
    except TypeError as error:
        raise ValueError(f"callbacks must be a list of callbacks; got {callbacks!r}") from error
    for callback in given:
        if isinstance(callback, type) and issubclass(callback, Callback):
            raise ValueError(f"callbacks has the class {callback.__name__}; make one of it: {callback.__name__}(...)")
        if not isinstance(callback, Callback):
            raise ValueError(f"callbacks has {callback!r}, which is no multiboost.Callback")
    return given


def refuse_unknown(estimator, unknown: dict) -> None:
    """Refuse arguments of ``fit`` that there are not, with a word on what the same thing is called here."""
    for name in unknown:
        hint = f"; here it is {_CALLED_HERE[name]}" if name in _CALLED_HERE else ""
        raise TypeError(f"{type(estimator).__name__}.fit() got an unexpected keyword argument {name!r}{hint}")


def seed_of(random_state) -> int:
    """A number from what scikit-learn calls a random state; None is a seed of its own."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state) % 2**31
    return int(check_random_state(random_state).randint(2**31))
