"""Metrics of rankings: DCG, NDCG, mean NDCG, ERR, MAP and precision, per query and averaged.

With z the gains, c the discounts and j the order that scores give to the documents of a query:

    DCG@k       sum over i <= k of c_i z_{j_i}                        Kegl 2011, (3.48)
    NDCG@k      DCG@k over the best one that there could be
    mean NDCG   the mean over k = 1, ..., n_q of NDCG@k               LETOR 4.0
    AP@k        the mean precision at the relevant documents up to k
    ERR@k       sum over i <= k of R_i / i prod over i' < i of (1 - R_i'), R = (2^y - 1) / 2^max
                                                                      Chapelle, Metzler, Zhang and Grinspan 2009

What is left open here, and counted differently everywhere, is a `Convention`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .conventions import CONVENTIONS, Convention, convention_of
from .queries import Queries


class _Ranking:
    """Documents in the order of their scores, query by query.

    Attributes
    ----------
    grade, gain, relevant : ndarray (n,)
        Of the document at each position; means over tied ones where ties are averaged.
    discount : ndarray (n,)
    """

    def __init__(self, y: np.ndarray, scores: np.ndarray, queries: Queries, rules: Convention, k: int | None):
        self.queries, self.rules, self.k = queries, rules, k
        self.position = queries.position
        self.inside = np.ones(y.size, bool) if k is None else self.position <= k
        self.discount = rules.discounts(self.position)
        gain, tie = rules.gains(y), np.arange(y.size)
        self.order = queries.ranked(-scores, -tie if rules.ties == "last" else tie)
        self._tied = _blocks(queries.number[self.order], scores[self.order]) if rules.ties == "average" else None
        self.grade = y[self.order]
        self.gain = self._shared(gain[self.order])
        self.relevant = (self.grade > 0).astype(np.float64)
        self.best = gain[queries.ranked(-gain)]
        self.has = queries.sums(self.relevant) > 0

    def _shared(self, values: np.ndarray) -> np.ndarray:
        """Means over tied documents, where ties are averaged."""
        if self._tied is None:
            return values
        return (np.bincount(self._tied, values) / np.bincount(self._tied))[self._tied]

    def at_tie_end(self, running: np.ndarray) -> np.ndarray:
        """Running values after the last document of each tie, where ties are averaged."""
        if self._tied is None:
            return running
        last = np.flatnonzero(np.append(self._tied[1:] != self._tied[:-1], True))
        return running[last][self._tied]

    def finished(self, found: np.ndarray, *, nothing: float = 0.0) -> np.ndarray:
        """Values of queries, with the rules for queries that are short, or without relevant documents."""
        found = np.where(self.has, found, nothing)
        if self.rules.short == "zero" and self.k is not None:
            found = np.where(self.queries.sizes < self.k, 0.0, found)
        return found


def _blocks(query: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Numbers 0, 1, ... of runs of equal scores within queries."""
    new = np.ones(scores.size, bool)
    new[1:] = (scores[1:] != scores[:-1]) | (query[1:] != query[:-1])
    return np.cumsum(new) - 1


def _dcg(r: _Ranking) -> np.ndarray:
    return r.finished(r.queries.sums(np.where(r.inside, r.gain * r.discount, 0.0)))


def _ndcg(r: _Ranking) -> np.ndarray:
    found = r.queries.sums(np.where(r.inside, r.gain * r.discount, 0.0))
    best = r.queries.sums(np.where(r.inside, r.best * r.discount, 0.0))
    return r.finished(found / np.where(best > 0, best, 1.0), nothing=r.rules.nothing)


def _mean_ndcg(r: _Ranking) -> np.ndarray:
    found, best = r.queries.running(r.gain * r.discount), r.queries.running(r.best * r.discount)
    at_k = np.where(r.inside & (best > 0), found / np.where(best > 0, best, 1.0), 0.0)
    return r.finished(r.queries.sums(at_k) / r.queries.sums(r.inside), nothing=r.rules.nothing)


def _average_precision(r: _Ranking) -> np.ndarray:
    # All documents of a tie stand at its end: the worst of their orders, as in scikit-learn.
    position = r.at_tie_end(r.position)
    precision = np.round(r.at_tie_end(r.queries.running(r.relevant))) / position
    counted = r.inside if r._tied is None or r.k is None else position <= r.k
    total = r.queries.sums(r.relevant)
    if r.rules.average_precision == "top" and r.k is not None:
        total = np.minimum(total, r.k)
    found = r.queries.sums(np.where(counted, precision * r.relevant, 0.0))
    # LETOR's tools have no AP@k, and so no rule for it.
    return np.where(r.has, found / np.where(total > 0, total, 1.0), r.rules.nothing)


def _precision(r: _Ranking) -> np.ndarray:
    hits = r.queries.sums(np.where(r.inside, r._shared(r.relevant), 0.0))
    over = r.queries.sizes if r.k is None else np.full(len(r.queries), r.k)
    if r.rules.precision == "documents":
        over = np.minimum(over, r.queries.sizes)
    if r.rules.precision == "whole":
        hits = np.where(r.queries.sizes < over, 0.0, hits)
    return hits / over


def _err(r: _Ranking) -> np.ndarray:
    largest = r.grade.max(initial=0.0)
    if largest > r.rules.err:
        raise ValueError(
            f"ERR under this convention knows grades up to {r.rules.err:g}, and there is a {largest:g}; pass a "
            "Convention(err=...) with your largest grade"
        )
    stop = (np.exp2(r.grade) - 1.0) / 2.0**r.rules.err
    # The chance of getting to a position, as a product of what is left over; stops are below 1.
    left = r.queries.running(np.log1p(-stop)) - np.log1p(-stop)
    return r.queries.sums(np.where(r.inside, stop / r.position * np.exp(left), 0.0))


_METRICS: dict[str, Callable[[_Ranking], np.ndarray]] = {
    "dcg": _dcg,
    "ndcg": _ndcg,
    "mean_ndcg": _mean_ndcg,
    "err": _err,
    "map": _average_precision,
    "precision": _precision,
}


def _lacks(rules: Convention, name: str) -> bool:
    """Whether a convention does not say what a metric is."""
    if name == "precision":
        return not rules.precision
    if name == "err":
        return not rules.err
    return name == "mean_ndcg" and not rules.mean_ndcg


def _split(metric: str) -> tuple[str, int | None]:
    """Name and k of a metric such as "ndcg@10"."""
    name, at, k = str(metric).partition("@")
    if name not in _METRICS:
        raise ValueError(f"metric must be one of {', '.join(_METRICS)}, with @k as in 'ndcg@10'; got {metric!r}")
    if not at:
        return name, None
    if not k.isdigit() or int(k) < 1:
        raise ValueError(f"metric {metric!r}: what comes after @ is a whole number of at least 1")
    return name, int(k)


def ranking_metric(
    y_true, y_score, qid, metric="ndcg@10", *, convention="multiboost", per_query=False, query_weight=None
):
    """A metric of rankings.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Grades, at least 0; more is better.
    y_score : array of shape (n_samples,)
        Documents are ranked by it, the largest first.
    qid : array of shape (n_samples,)
        The query of every row; its rows need not be neighbours.
    metric : str, default="ndcg@10"
        "dcg", "ndcg", "mean_ndcg", "err", "map" or "precision"; "@k" behind it looks at the first k positions only.
    convention : str or Convention, default="multiboost"
        "letor3", "letor4", "lightgbm", "xgboost", "sklearn" or "trec" count as those programs do, see
        ``docs/ranking.md``; "multiboost" has the gains 2^y - 1, the discounts 1 / log2(1 + i), the mean over all orders
        of equal scores, and 0 for a query without relevant documents.
    per_query : bool, default=False
        Whether to return the values of all queries, sorted by ``qid``, instead of their mean.
    query_weight : array of shape (n_queries,), default=None
        Of the mean, for queries sorted by ``qid``.

    Returns
    -------
    float, or ndarray of shape (n_queries,)

    Examples
    --------
    >>> from multiboost import ranking_metric
    >>> y, scores, qid = [2, 0, 1, 0, 1], [0.9, 0.8, 0.1, 0.3, 0.5], [1, 1, 1, 2, 2]
    >>> round(ranking_metric(y, scores, qid, "ndcg@3"), 4)
    0.982
    >>> round(ranking_metric(y, scores, qid, "ndcg@3", convention="letor4"), 4)
    0.4539
    """
    rules = convention_of(convention)
    name, k = _split(metric)
    if _lacks(rules, name):
        others = [repr(other) for other, one in CONVENTIONS.items() if not _lacks(one, name)]
        raise ValueError(f"the convention {convention!r} does not say what {name!r} is; {', '.join(others)} do")
    if name == "precision" and k is None:
        raise ValueError("precision needs the number of positions, as in 'precision@5'")
    queries = Queries(qid)
    y, scores = _column("y_true", y_true, queries), _column("y_score", y_score, queries)
    if np.isnan(scores).any():
        raise ValueError(f"y_score is NaN in row {int(np.isnan(scores).argmax())}; every document needs a score")
    if y.size == 0:
        raise ValueError("there is no row, so there is nothing to rank")
    ranking = _Ranking(y, scores, queries, rules, k)
    found = _METRICS[name](ranking)
    return found if per_query else float(np.average(found, weights=query_weight))


def _column(name: str, given, queries: Queries) -> np.ndarray:
    found = np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found.ravel()
    if found.shape != queries.number.shape:
        raise ValueError(f"{name} has shape {found.shape}, but qid has {queries.number.size} rows; give one for each")
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers; got {found.dtype}")
    return found.astype(np.float64)
