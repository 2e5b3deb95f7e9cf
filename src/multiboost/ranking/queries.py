"""Queries: which rows are ranked against each other."""

from __future__ import annotations

from functools import cached_property

import numpy as np


class Queries:
    """The rows of each query, brought together.

    Parameters
    ----------
    qid : array (n,)
        A number or a name for the query of every row; rows of a query need not be neighbours.

    Attributes
    ----------
    names : ndarray (queries,)
        What ``qid`` calls them, sorted.
    number : ndarray (n,) of intp
        The query of every row, as a position in ``names``.
    """

    def __init__(self, qid):
        self.names, self.number = np.unique(_checked(qid), return_inverse=True)
        self.number = self.number.reshape(-1)

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Documents of each query, (queries,)."""
        return np.bincount(self.number, minlength=len(self))

    @cached_property
    def start(self) -> np.ndarray:
        """Where each query begins once rows are sorted by query, (queries + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @cached_property
    def position(self) -> np.ndarray:
        """Positions within queries, 1 to n_q, of rows that are sorted by query, (n,)."""
        return np.arange(len(self.number)) - np.repeat(self.start[:-1], self.sizes) + 1

    def ranked(self, *keys: np.ndarray) -> np.ndarray:
        """Rows sorted by query, and in each by the keys, small ones first; rows that are equal stay in their order."""
        return np.lexsort((*keys[::-1], self.number))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over queries of values that are sorted by query, (queries,)."""
        return np.add.reduceat(values, self.start[:-1]) if len(self) else np.zeros(0)

    def running(self, values: np.ndarray) -> np.ndarray:
        """Running sums within queries of values that are sorted by query, (n,)."""
        total = np.cumsum(values)
        before = np.concatenate([[0.0], total])[self.start[:-1]]
        return total - np.repeat(before, self.sizes)


def _checked(qid) -> np.ndarray:
    """Query numbers or names, one for every row."""
    if qid is None:
        raise ValueError("qid says which rows are ranked against each other: pass a query number for every row")
    if hasattr(qid, "to_numpy"):
        qid = qid.to_numpy()
    found = np.asarray(qid)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found.ravel()
    if found.ndim != 1:
        raise ValueError(f"qid must have one dimension; got shape {found.shape}")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        raise ValueError(f"qid is {found[row]} in row {row}; every row belongs to a query")
    if found.dtype.kind == "O":
        absent = [row for row, v in enumerate(found) if v is None or v != v or type(v).__name__ == "NAType"]  # noqa: PLR0124
        if absent:
            raise ValueError(f"qid is missing in row {absent[0]}; every row belongs to a query")
        try:
            np.unique(found)
        except TypeError as error:
            raise ValueError("qid mixes kinds that cannot be compared, such as text and numbers") from error
    return found
