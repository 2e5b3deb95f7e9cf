"""Categories of nominal columns: names in the model, numbers everywhere else.

A category is its text.  Whole numbers are written without a decimal point, so that 3, 3.0
and "3" are one category, whichever library or file a table comes from.  None, NaN and NA
are missing; the empty text is a category like any other.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Integral, Real

import numpy as np


def text_of(value) -> str:
    """The name of a category."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Decimal) and value.is_finite() and value == int(value):
        return str(int(value))
    if isinstance(value, (Real, Decimal)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def is_missing(value) -> bool:
    """Whether a cell says that there is no value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (Real, Decimal)) and value != value  # noqa: PLR0124


class Factor:
    """A column as numbers into a short list of its values.

    Parameters
    ----------
    number : ndarray (n,) of int
        -1 where the value is missing.
    values : list
        Of any kind; several of them may have the same text.
    """

    __slots__ = ("number", "values")

    def __init__(self, number, values):
        self.number = np.asarray(number, dtype=np.intp)
        self.values = list(values)


def factor_of_array(values: np.ndarray) -> Factor:
    """A NumPy column; values in order of size, or objects in order of appearance."""
    if values.dtype.kind != "O":
        distinct, number = np.unique(values, return_inverse=True)
        return Factor(number, distinct.tolist())
    seen: dict = {}
    number = np.empty(values.size, np.intp)
    for i, value in enumerate(values.tolist()):
        number[i] = -1 if is_missing(value) else seen.setdefault((type(value), value), len(seen))
    return Factor(number, [value for _, value in seen])


def factor_of_series(series) -> Factor:
    """A column of a data frame (a narwhals series)."""
    native = series.to_native()
    kind = series.implementation
    if kind.is_pandas():
        if hasattr(native, "cat"):
            return Factor(native.cat.codes.to_numpy(), native.cat.categories)
        number, values = native.factorize()
        if native.dtype == object and not all(isinstance(v, str) for v in values):
            return factor_of_array(native.to_numpy())  # pandas takes True and 1 for one value
        return Factor(number, values)
    if kind.is_pyarrow():
        if str(native.type).startswith("dictionary"):
            native = native.unify_dictionaries()
        else:
            native = native.dictionary_encode()
        encoded = native.combine_chunks()
        number = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
        return Factor(number, encoded.dictionary.to_pylist())
    if kind.is_polars() and str(series.dtype) not in ("Boolean", "Object"):
        if not series.dtype.is_numeric():
            native = series.cast(_text_type()).to_native()
        values = native.drop_nulls().unique(maintain_order=True)
        number = native.replace_strict(values, np.arange(len(values)), default=-1)
        return Factor(number.to_numpy(), values.to_list())
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return factor_of_array(values)


def _text_type():
    import narwhals as nw

    return nw.String


class Categories:
    """The names of one column's categories; a category's number is its place among them.

    Parameters
    ----------
    names : list of str
    """

    def __init__(self, names):
        self.names = list(names)
        self._number = {name: k for k, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, factor: Factor) -> Categories:
        """All values that occur in a column, in the order of their first rows.

        Not in the order of `factor.values`: a file that declares its categories and one that
        does not would give the same model with other bits.
        """
        number, first = np.unique(factor.number, return_index=True)
        seen = [factor.values[k] for k in number[np.argsort(first)] if k >= 0]
        return cls({text_of(v): None for v in seen if not is_missing(v)})

    def encode(self, factor: Factor) -> np.ndarray:
        """Category numbers as float64, NaN where a value is missing or no category."""
        number = np.full(len(factor.values) + 1, np.nan)
        for k, value in enumerate(factor.values):
            if not is_missing(value):
                number[k] = self._number.get(text_of(value), np.nan)
        return number[factor.number]
