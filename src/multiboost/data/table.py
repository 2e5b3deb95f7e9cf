"""One face for every kind of table: NumPy, pandas, polars, Arrow, SciPy sparse.

A `Table` hands out columns (for training) and dense pieces of rows (for prediction),
always as float64 with NaN for what is missing; in nominal columns the numbers are those
of categories.  Nothing is copied as a whole.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from .categories import Categories, Factor, factor_of_array, factor_of_series, is_missing

_FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")}
# A prediction takes the columns that the model asks for where they are few of many, else all at once.
_WIDE, _FEW = 500, 0.25
_TILE = 1024  # rows that are turned into columns together: some columns of them stay in the cache
_DATES = "make numbers of them, such as days since the first, or name the column in nominal_features"


def infinite(column: str) -> str:
    """The message for a column that holds infinity."""
    return f"Input X contains infinity in column {column}; replace it by a large number or NaN (missing)"


class Table(ABC):
    """Columns of numbers.

    Attributes
    ----------
    n_rows, n_columns : int
    names : list of str or None
        None where the table has no column names.
    categories : list of (Categories or None) or None
        Of each column, None for numbers; None where no column is nominal.
    """

    n_rows: int
    n_columns: int
    names: list[str] | None = None
    categories: list[Categories | None] | None = None

    def label(self, column: int) -> str:
        """How messages call a column."""
        return repr(self.names[column]) if self.names else str(column)

    @abstractmethod
    def columns(self, first: int, last: int) -> list[Column]:
        """Columns ``first`` up to ``last``."""

    @abstractmethod
    def rows(self, first: int, last: int) -> np.ndarray:
        """Rows ``first`` up to ``last`` as a dense (rows, columns) float64 array."""

    def finite_rows(self, first: int, last: int) -> np.ndarray:
        """`rows`, refusing infinity."""
        rows = self.rows(first, last)
        # The sum is finite or NaN unless something is infinite or nearly so.
        with np.errstate(invalid="ignore", over="ignore"):
            suspect = not np.isfinite(rows.sum())
        if suspect and np.isinf(rows).any():
            raise ValueError(infinite(self.label(int(np.isinf(rows).any(axis=0).argmax()))))
        return rows

    def asked_rows(self, first: int, last: int, columns: np.ndarray) -> np.ndarray:
        """`finite_rows` for who asks for some of the columns: in the others anything may stand."""
        return self.finite_rows(first, last)

    @abstractmethod
    def take(self, rows: np.ndarray) -> Table:
        """The table of some rows."""

    @abstractmethod
    def native(self, first: int, last: int):
        """Rows ``first`` up to ``last`` in the user's own form."""

    def native_rows(self, rows: np.ndarray):
        """Some rows in the user's own form; rising row numbers are not copied where they are all."""
        if rows.size == self.n_rows and np.array_equal(rows, np.arange(self.n_rows)):
            return self.native(0, self.n_rows)
        return self.take(rows).native(0, rows.size)

    def encoded(self) -> Table:
        """The same table as one dense array of numbers."""
        return EncodedTable(self.finite_rows(0, self.n_rows), self.categories)

    def says_nominal(self, j: int) -> bool:
        """Whether a column's own type says that it is nominal."""
        return False

    def factor(self, j: int) -> Factor:
        """A column as numbers into its distinct values."""
        try:
            return self._factor(j)
        except TypeError as error:
            raise ValueError(f"column {self.label(j)} holds values that cannot be categories: {error}") from error

    def _factor(self, j: int) -> Factor:
        raise ValueError("a sparse matrix has no nominal columns; pass a data frame or an array")

    def _category_numbers(self, j: int, categories: Categories) -> np.ndarray:
        """A nominal column; a warning where nothing of it was seen in training."""
        factor = self.factor(j)
        number = categories.encode(factor)
        if self.n_rows > 1 and np.isnan(number).all():
            values = [v for v in factor.values if not is_missing(v)]
            if not values:
                return number
            warnings.warn(
                f"column {self.label(j)} is nominal, and none of its values, such as {values[0]!r}, was seen in fit; "
                "all of them are treated as missing",
                UserWarning,
                stacklevel=2,
            )
        return number

    def with_categories(self, nominal: np.ndarray) -> list[Categories | None]:
        """Learn and set the categories of nominal columns (a mask)."""
        self.categories = [Categories.of(self.factor(j)) if nominal[j] else None for j in range(self.n_columns)]
        return self.categories


class Column:
    """One column; sparse where ``where`` is given: all other rows hold 0.

    Parameters
    ----------
    values : ndarray of float64
    where : ndarray of int or None
        Rows of the values.
    """

    __slots__ = ("values", "where")

    def __init__(self, values: np.ndarray, where: np.ndarray | None = None):
        self.values = values
        self.where = where


def _by_columns(array: np.ndarray) -> np.ndarray:
    """An array of rows as rows of its columns, float64; not copied where it is so in memory."""
    if array.dtype == np.float64 and array.T.flags.c_contiguous:
        return array.T
    found = np.empty(array.shape[::-1])
    for first in range(0, len(array), _TILE):
        found[:, first : first + _TILE] = array[first : first + _TILE].T
    return found


class DenseTable(Table):
    """A two-dimensional NumPy array; of objects where some columns are nominal."""

    def __init__(self, array: np.ndarray, categories: list[Categories | None] | None = None):
        self.array = array
        self.n_rows, self.n_columns = array.shape
        self.categories = categories

    def _factor(self, j):
        return factor_of_array(self.array[:, j])

    def _values(self, j: int) -> np.ndarray:
        assert self.categories is not None
        categories = self.categories[j]
        if categories is not None:
            return self._category_numbers(j, categories)
        column = self.array[:, j].tolist() if self.array.dtype == object else self.array[:, j]
        if self.array.dtype == object:
            column = [np.nan if is_missing(v) else v for v in column]
        try:
            return np.array(column, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"column {self.label(j)} does not hold numbers: {error}; name it in nominal_features if it is nominal"
            ) from error

    def columns(self, first, last):
        if self.categories is not None:
            return [Column(self._values(j)) for j in range(first, last)]
        return [Column(values) for values in _by_columns(self.array[:, first:last])]

    def rows(self, first, last):
        if self.categories is not None:
            piece = DenseTable(self.array[first:last], self.categories)
            return np.stack([piece._values(j) for j in range(self.n_columns)], axis=1)
        return np.ascontiguousarray(self.array[first:last], dtype=np.float64)

    def take(self, rows):
        return DenseTable(self.array[rows], self.categories)

    def native(self, first, last):
        return self.array[first:last]


class EncodedTable(Table):
    """Numbers only: nominal columns hold the numbers of their categories."""

    def __init__(self, array: np.ndarray, categories: list[Categories | None] | None):
        self.array = array
        self.n_rows, self.n_columns = array.shape
        self.categories = categories

    def columns(self, first, last):
        return [Column(values) for values in _by_columns(self.array[:, first:last])]

    def rows(self, first, last):
        return self.array[first:last]

    def take(self, rows):
        return EncodedTable(self.array[rows], self.categories)

    def native(self, first, last):
        return self.array[first:last]


class SparseTable(Table):
    """A SciPy sparse matrix or array; entries that are not stored are zeros."""

    def __init__(self, matrix):
        self.matrix = matrix
        self.n_rows, self.n_columns = matrix.shape
        self._by_column = None
        self._by_row = None

    def columns(self, first, last):
        if self._by_column is None:
            self._by_column = self.matrix.tocsc(copy=True)  # the user's own stays as it is
            self._by_column.sum_duplicates()
        m = self._by_column
        found = []
        for j in range(first, last):
            part = slice(m.indptr[j], m.indptr[j + 1])
            found.append(Column(np.asarray(m.data[part], dtype=np.float64), m.indices[part]))
        return found

    def rows(self, first, last):
        if self._by_row is None:
            self._by_row = self.matrix.tocsr()
        return np.ascontiguousarray(self._by_row[first:last].toarray(), dtype=np.float64)

    def take(self, rows):
        if self._by_row is None:
            self._by_row = self.matrix.tocsr()
        return SparseTable(self._by_row[rows])

    def native(self, first, last):
        if self._by_row is None:
            self._by_row = self.matrix.tocsr()
        return self._by_row[first:last]


class Frame(Table):
    """A pandas, polars or Arrow table, by way of narwhals."""

    def __init__(self, frame, categories: list[Categories | None] | None = None):
        self._own = frame
        self.names = [str(name) for name in _names(frame)]
        self.n_rows, self.n_columns = frame.shape
        self.categories = categories
        self._asked: tuple[np.ndarray, Frame] | None = None

    @cached_property
    def frame(self):
        """The frame as narwhals sees it: made where it is asked for, as this alone lists all columns."""
        import narwhals as nw

        return nw.from_native(self._own, eager_only=True)

    @cached_property
    def _series(self) -> list:
        """The columns, taken once: a frame that is asked for one of them lists the names of all."""
        return list(self.frame.iter_columns())

    @cached_property
    def _dtypes(self) -> list:
        return list(self.frame.schema.values())

    def says_nominal(self, j):
        dtype = str(self._dtypes[j])
        if dtype in ("Object", "Unknown"):
            return any(isinstance(v, str) for v in self._series[j].to_list())
        return dtype == "String" or dtype.startswith(("Categorical", "Enum"))

    def _factor(self, j):
        return factor_of_series(self._series[j])

    def _values(self, j: int) -> np.ndarray:
        categories = self.categories[j] if self.categories is not None else None
        if categories is not None:
            return self._category_numbers(j, categories)
        series, dtype = self._series[j], self._dtypes[j]
        as_objects = str(dtype) in ("Boolean", "Unknown", "Object")
        if not (dtype.is_numeric() or as_objects):
            remedy = "encode it as numbers, name it in nominal_features of fit if it is nominal, or leave it out"
            raise ValueError(f"column {self.label(j)} holds {dtype}, not numbers; {remedy}")
        try:
            if as_objects:
                values = np.array([np.nan if is_missing(v) else v for v in series.to_list()], dtype=np.float64)
                if values.ndim != 1:
                    raise ValueError("its values are lists; give each number a column of its own")
                return values
            if dtype.is_integer():
                if series.null_count() == 0:
                    return np.asarray(series.to_numpy(), dtype=np.float64)
                values = np.array(series.fill_null(0).to_numpy(), dtype=np.float64)  # Arrow casts no large ones
                values[series.is_null().to_numpy()] = np.nan
                return values
            return np.asarray(series.cast(_float64()).to_numpy(), dtype=np.float64)
        except (TypeError, ValueError) as error:
            if as_objects and (strange := next((v for v in series.to_list() if isinstance(v, date)), None)) is not None:
                raise ValueError(
                    f"column {self.label(j)} holds {type(strange).__name__}s, not numbers; {_DATES}"
                ) from error
            raise ValueError(f"column {self.label(j)} does not hold numbers: {error}") from error

    def columns(self, first, last):
        first, last = int(first), int(last)  # frames take no other whole numbers
        nominal = self.categories is not None and any(c is not None for c in self.categories[first:last])
        if _library(self._own) == "pandas" and not nominal:  # its columns are slow one by one
            plain = plain_numbers(self._own.iloc[:, first:last])
            if plain is not None:
                return [Column(values) for values in np.array(plain.T, order="C")]
        return [Column(self._values(j)) for j in range(first, last)]

    @cached_property
    def _dense(self) -> np.ndarray:
        """All values: at once where the library can, else column by column."""
        plain = None if self.categories is not None else plain_numbers(self._own)
        if plain is not None:
            return np.require(plain, np.float64, ["C", "W"])  # to kernels an array that is read only is another type
        values = np.empty((self.n_rows, self.n_columns))
        for j in range(self.n_columns):
            values[:, j] = self._values(j)
        return values

    def rows(self, first, last):
        return self._dense[first:last]

    def asked_rows(self, first, last, columns):
        if self.n_columns < _WIDE or columns.size > _FEW * self.n_columns:
            return self.finite_rows(first, last)
        rows = np.zeros((last - first, self.n_columns))  # which takes no memory where nobody writes to it
        rows[:, columns] = self._part(columns).finite_rows(first, last)
        return rows

    def _part(self, columns: np.ndarray) -> Frame:
        """The table of some columns: to take those of a wide frame is all that a prediction costs."""
        if self._asked is None or not np.array_equal(self._asked[0], columns):
            at = columns.tolist()
            categories = None if self.categories is None else [self.categories[j] for j in at]
            self._asked = columns, Frame(_select(self._own, at), categories)
        return self._asked[1]

    def take(self, rows):
        return Frame(self.frame[rows.tolist()].to_native(), self.categories)

    def native(self, first, last):
        return self.frame[first:last].to_native()


def _library(frame) -> str | None:
    """Whose frame it is: "pandas", "polars" or "pyarrow"; None for others, which narwhals may know."""
    kind = type(frame)
    library = kind.__module__.partition(".")[0]
    return library if (library, kind.__name__) in _FRAMES else None


def _names(frame) -> list:
    """Names of the columns, at once: to go through them one by one takes longer than to predict."""
    library = _library(frame)
    if library == "pandas":
        return frame.columns.tolist()
    return frame.schema.names if library == "pyarrow" else list(frame.columns)


def _select(frame, columns: list[int]):
    """Some columns of a frame, by their numbers."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, columns]
    return frame.select(columns) if _library(frame) == "pyarrow" else frame[:, columns]


def plain_numbers(frame) -> np.ndarray | None:
    """A frame of nothing but plain numbers as one array, made by its library; None for others."""
    library = _library(frame)
    if library == "pandas" and all(isinstance(t, np.dtype) and t.kind in "iuf" for t in set(frame.dtypes)):
        return frame.to_numpy(dtype=np.float64)
    if library == "polars":
        kinds: set[Any] = {t if isinstance(t, type) else type(t) for t in frame.dtypes}
        if all(kind.is_integer() or kind.is_float() for kind in kinds):
            values = frame.to_numpy(order="c")
            return values if values.dtype.kind in "iuf" else None
    if library == "pyarrow":
        return _arrow_numbers(frame)
    return None


def _arrow_numbers(frame) -> np.ndarray | None:
    """An Arrow table of whole numbers, or of floating point numbers, as one array; None for others."""
    try:
        pieces = [batch.to_tensor(null_to_nan=True).to_numpy() for batch in frame.to_batches()]
    except (TypeError, ValueError, NotImplementedError):  # Arrow's errors are such: other types, or too many of them
        return None
    if not pieces or any(piece.dtype.kind not in "iuf" for piece in pieces):
        return None
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _float64():
    import narwhals as nw

    return nw.Float64


def refuse_lazy(values, what: str) -> None:
    """Refuse a frame that is only a promise.

    Parameters
    ----------
    values : anything
    what : str
        How messages call it.
    """
    if type(values).__name__ == "LazyFrame":
        raise ValueError(f"{what} is a LazyFrame, whose rows are not there yet; collect() it first")


def _known(frame):
    """A frame that narwhals knows; else its error."""
    import narwhals as nw

    return nw.from_native(frame, eager_only=True).to_native()


def is_frame(X) -> bool:
    """Whether X is a data frame of one of the libraries we know."""
    kind = type(X)  # the frame itself would list all its columns to answer
    return (hasattr(kind, "columns") and any(hasattr(kind, name) for name in ("iloc", "schema", "dtypes"))) or (
        kind.__module__.partition(".")[0] == "pyarrow"
    )


def as_table(X) -> Table:
    """Wrap what the user has; arrays must be two-dimensional and numeric already."""
    if isinstance(X, Table):
        return X
    if sp.issparse(X):
        return SparseTable(X)
    if is_frame(X):
        refuse_lazy(X, "X")
        table = Frame(X if _library(X) else _known(X))
        if len(set(table.names or [])) < table.n_columns:
            twice = ", ".join(repr(name) for name, count in Counter(table.names).items() if count > 1)
            raise ValueError(f"several columns of X have the same name: {twice}; rename them")
        return table
    return DenseTable(np.asarray(X))
