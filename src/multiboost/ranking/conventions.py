"""Who counts what how: the same ranking has many NDCGs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LARGEST = 31  # grade of exponential gains


@dataclass(frozen=True)
class Convention:
    """The rules by which rankings are measured.

    Attributes
    ----------
    gain : {"exponential", "linear"}
        Of a grade y: 2^y - 1 or y.
    discount : {"log", "letor"}
        Of position i: 1 / log2(1 + i); or 1, 1, 1 / log2(3), 1 / log2(4), ... which is 1 / log2(i) from the second on.
    ties : {"average", "first", "last"}
        Of documents with equal scores: the mean over all orders, the first of them in the table first, or the last.
    nothing : float
        NDCG and average precision of a query without relevant documents.
    short : {"whole", "zero"}
        A query with fewer than k documents: all of them count, or what is asked at k is 0.
    precision : {"k", "documents", "whole", ""}
        What precision@k is divided by: k; the documents up to k; k, but it is 0 where there are fewer documents.  ""
        where there is no such metric.
    average_precision : {"all", "top", ""}
        What the sum of precisions is divided by: all relevant documents, or at most k of them.
    err : float
        The largest grade of ERR; 0 where there is no such metric.
    mean_ndcg : bool
        Whether there is a mean over k = 1, ..., n_q.
    """

    gain: str = "exponential"
    discount: str = "log"
    ties: str = "average"
    nothing: float = 0.0
    short: str = "whole"
    precision: str = "k"
    average_precision: str = "all"
    err: float = 0.0
    mean_ndcg: bool = True

    def gains(self, grades: np.ndarray) -> np.ndarray:
        """What documents of these grades are worth."""
        return gains_of(grades, self.gain)

    def discounts(self, position: np.ndarray) -> np.ndarray:
        """What positions 1, 2, ... are worth."""
        if self.discount == "log":
            return 1.0 / np.log2(1.0 + position)
        return 1.0 / np.log2(np.maximum(2.0, position))


def gains_of(grades: np.ndarray, gain: str) -> np.ndarray:
    """2^y - 1, or y; grades are checked."""
    grades = np.asarray(grades)
    if grades.dtype.kind not in "biuf":
        raise ValueError(f"grades must be numbers, the larger the more relevant; got {grades.dtype}")
    grades = grades.astype(np.float64)
    wrong = ~np.isfinite(grades) | (grades < 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"the grade of row {row} is {grades[row]:g}; grades are finite and at least 0")
    if gain == "linear":
        return grades
    if grades.size and grades.max() > LARGEST:
        raise ValueError(
            f"a grade of {grades.max():g} would have the gain 2^{grades.max():g} - 1; grades of exponential gains are "
            f"at most {LARGEST}: number them from 0, or use linear gains"
        )
    return np.exp2(grades) - 1.0


# The ERR of TREC is that of its web track, with grades up to 4; the others have none.
CONVENTIONS: dict[str, Convention] = {
    "multiboost": Convention(),
    "letor3": Convention(discount="letor", ties="first", short="zero", precision="whole", mean_ndcg=False),
    "letor4": Convention(discount="letor", ties="first", short="zero"),
    "lightgbm": Convention(ties="first", nothing=1.0, precision="", average_precision="top", mean_ndcg=False),
    "xgboost": Convention(ties="first", nothing=1.0, precision="documents", average_precision="top", mean_ndcg=False),
    "sklearn": Convention(gain="linear", precision="", mean_ndcg=False),
    "trec": Convention(gain="linear", ties="last", err=4.0, mean_ndcg=False),
}


def convention_of(given: str | Convention) -> Convention:
    """A convention from its name, or one itself."""
    if isinstance(given, Convention):
        return given
    if given not in CONVENTIONS:
        raise ValueError(f"convention must be one of {', '.join(map(repr, CONVENTIONS))}; got {given!r}")
    return CONVENTIONS[given]
