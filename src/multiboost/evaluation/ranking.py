"""Everything that can be said about a ranker on judged documents, as plain dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.ranked import CUT, Graded, RankedTarget, Scored
from ..estimators.validation import check_weights
from ..losses import Loss
from ..ranking import CONVENTIONS, Convention, Queries, ranking_metric
from .curves import Margins
from .intervals import Interval, bootstrap, mean_ratio
from .measures import Comparison, Measures

N_POSITIONS = 20  # of a curve of NDCG@k


class Judgements:
    """Grades of the documents of queries, the same after every round.

    Parameters
    ----------
    clf : fitted ranker
    y : array (n,)
        Grades as in ``fit``.
    sample_weight : array (n,) or None
    qid : array (n,)
        The query of every row.

    Attributes
    ----------
    kind : Graded or Scored
    y : ndarray (n,)
    queries : Queries
    weight : ndarray (n,)
    query_weight : ndarray (queries,)
        Means over the documents of each query.
    """

    def __init__(self, clf, y, sample_weight=None, qid=None):
        check_is_fitted(clf)
        if qid is None:
            raise ValueError("a ranker is evaluated query by query: pass qid, the query of every row")
        self.kind: Graded | Scored = clf.model_.kind
        self.y = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y, dtype=np.float64).reshape(-1)
        self.queries = Queries(qid)
        if self.queries.number.size != self.y.size:
            raise ValueError(f"qid has {self.queries.number.size} rows, but y has {self.y.size}; give a query for each")
        given = check_weights(sample_weight, self.y.size)
        self.weight = np.ones(self.y.size) if given is None else given
        self.query_weight = np.bincount(self.queries.number, self.weight) / self.queries.sizes
        self.order = np.argsort(self.queries.number, kind="stable")
        self._given, self._positions = given, int(getattr(clf.plan_.loss, "positions", 1))

    @cached_property
    def target(self) -> RankedTarget:
        """Weights as in training, for the risk; rows sorted by query."""
        weight = None if self._given is None else self._given[self.order]
        return RankedTarget(self.kind, self.y[self.order], self.queries.number[self.order], weight, self._positions)

    def unknown(self) -> float:
        """Every document has its grade."""
        return 0.0

    def class_shares(self) -> list[tuple[str, float]]:
        """Grades and their share of the weight."""
        values, number = np.unique(self.y, return_inverse=True)
        return [
            (f"{v:g}", float(s))
            for v, s in zip(values, np.bincount(number, self.weight) / self.weight.sum(), strict=True)
        ]


class Ranked:
    """Rankings after some rounds.

    Parameters
    ----------
    answers : Judgements
    scores : ndarray (n, K)
        F; not copied, so that one of a staged run is good until the next round.
    n_rounds : int
    size, model
        As of labels; of no use here.
    loss : Loss or None
    """

    def __init__(self, answers: Judgements, scores: np.ndarray, n_rounds: int, size: float, model, loss: Loss | None):
        self.answers, self.scores, self.n_rounds, self.loss = answers, scores, n_rounds, loss

    @cached_property
    def values(self) -> np.ndarray:
        """By what documents are ranked, (n,)."""
        return self.answers.kind.answer(self.scores)

    def of_queries(self, metric: str, convention: str | Convention | None = None) -> np.ndarray:
        """A metric of every query; by our own convention unless another is given."""
        a = self.answers
        rules = Convention(gain=a.kind.gain) if convention is None else convention
        return ranking_metric(a.y, self.values, a.queries.number, metric, convention=rules, per_query=True)

    def mean(self, metric: str, convention: str | None = None) -> float:
        """Its mean over queries."""
        return float(np.average(self.of_queries(metric, convention), weights=self.answers.query_weight))

    def error(self) -> float:
        """1 - NDCG@10."""
        return 1.0 - self.mean(f"ndcg@{CUT}")

    def risk(self) -> float | None:
        """The loss that training minimises, with training's weights."""
        return None if self.loss is None else self.loss.risk(self.scores[self.answers.order], self.answers.target)

    def measured(self) -> float:
        """The error that learning curves show."""
        return self.error()

    def margins(self) -> Margins | None:
        """Rankings have no margins."""
        return None


@dataclass
class QueryEvaluation:
    """A query that is ranked badly.

    Attributes
    ----------
    query : str
    n_documents, n_relevant : int
    ndcg : float
        NDCG@10.
    row : int
        Its best document, from 0: of those of the highest grade the one that is ranked lowest.
    grade : float
        Of this document.
    position : int
        Of this document in the ranking, from 1.
    first_grade : float
        Of the document that is ranked first.
    values : dict
        What the row holds in the most important columns; None where it is missing.
    """

    query: str
    n_documents: int
    n_relevant: int
    ndcg: float
    row: int
    grade: float
    position: int
    first_grade: float
    values: dict[str, float | str | None] = field(default_factory=dict)


@dataclass
class RankingEvaluation(Measures):
    """What a ranker does on judged documents.

    Metrics are means over queries, which count by the mean weight of their documents.  They are those of
    `multiboost.ranking_metric` under its own convention, with the gains of training.

    Attributes
    ----------
    kind : {"ranking", "ranking by grades"}
    n_rows, n_rounds, n_queries : int
    n_without : int
        Queries without a relevant document: no ranking helps them.
    chance : float
        NDCG@10 of documents in random order.
    weight : float
        Total weight of the rows.
    ndcg, mean_ndcg, map, precision : float
        NDCG@10, mean NDCG, MAP and precision@10.
    error : float
        1 - NDCG@10, as ``training_error`` of the history.
    risk : float or None
        The loss that training minimises; an `ExponentialWeighting` has none.
    ndcg_at : list of float
        NDCG@1, NDCG@2, ..., up to 20.
    random_at : list of float
        The same of documents in random order, its expectation.
    conventions : dict of str to float
        NDCG@10 as other programs count it.
    mistakes : list of QueryEvaluation
        The queries with the lowest NDCG@10, of those with a relevant document.
    intervals : dict of str to Interval
        Of NDCG@10, over queries.
    advantage : Interval or None
        Of how much better NDCG@10 is than by chance.
    """

    HEADLINE: ClassVar[tuple[str, ...]] = ("ndcg", "mean_ndcg", "map", "precision", "error")
    CALLED: ClassVar[dict[str, str]] = {"ndcg": "ndcg@10", "precision": "precision@10", "error": "1_-_ndcg@10"}

    kind: str
    n_rows: int
    n_rounds: int
    n_queries: int
    n_without: int
    weight: float
    ndcg: float
    mean_ndcg: float
    map: float
    precision: float
    error: float
    risk: float | None
    chance: float
    ndcg_at: list[float] = field(default_factory=list)
    random_at: list[float] = field(default_factory=list)
    conventions: dict[str, float] = field(default_factory=dict)
    mistakes: list[QueryEvaluation] = field(default_factory=list)
    intervals: dict[str, Interval] = field(default_factory=dict)
    advantage: Interval | None = None

    def comparison(self):
        numbers = f"NDCG@{CUT} is {self.ndcg:.3f}, and would be {self.chance:.3f}"
        return Comparison("a random order", numbers, self.ndcg - self.chance)


def ranking_of(outcome: Ranked, *, curves: bool, n_bins: int = 0, n_mistakes: int = 0) -> RankingEvaluation:
    """Put numbers on rankings; ``n_bins`` is of probabilities, which there are none of."""
    a = outcome.answers
    by_chance = Ranked(a, np.zeros_like(outcome.scores), 0, 0.0, 0.0, outcome.loss)  # all scores are equal
    ndcg, random = outcome.of_queries(f"ndcg@{CUT}"), by_chance.of_queries(f"ndcg@{CUT}")
    relevant = np.bincount(a.queries.number, a.y > 0)
    found = RankingEvaluation(
        kind=a.kind.name,
        n_rows=a.y.size,
        n_rounds=outcome.n_rounds,
        n_queries=len(a.queries),
        n_without=int((relevant == 0).sum()),
        weight=float(a.weight.sum()),
        ndcg=float(np.average(ndcg, weights=a.query_weight)),
        mean_ndcg=outcome.mean("mean_ndcg"),
        map=outcome.mean("map"),
        precision=outcome.mean(f"precision@{CUT}"),
        error=outcome.error(),
        risk=outcome.risk(),
        chance=float(np.average(random, weights=a.query_weight)),
        mistakes=_worst(outcome, ndcg, relevant, n_mistakes),
    )
    if curves:
        at = range(1, min(N_POSITIONS, int(a.queries.sizes.max())) + 1)
        found.ndcg_at = [outcome.mean(f"ndcg@{k}") for k in at]
        found.random_at = [by_chance.mean(f"ndcg@{k}") for k in at]
        if a.kind.gain == "exponential":
            found.conventions = {
                name: outcome.mean(f"ndcg@{CUT}", name) for name in CONVENTIONS if name != "multiboost"
            }
        found.intervals = {name: one for name, one in {"ndcg": _interval(ndcg, a)}.items() if one is not None}
        found.advantage = _interval(ndcg - random, a)
    return found


def _interval(values: np.ndarray, a: Judgements) -> Interval | None:
    """Of a mean over queries."""
    return bootstrap(np.stack([values * a.query_weight, a.query_weight], axis=1), mean_ratio)


def _worst(outcome: Ranked, ndcg: np.ndarray, relevant: np.ndarray, n_mistakes: int) -> list[QueryEvaluation]:
    """The queries that could be ranked better."""
    a = outcome.answers
    hopeful = np.flatnonzero((relevant > 0) & (ndcg < 1.0))
    found = []
    for q in hopeful[np.argsort(ndcg[hopeful], kind="stable")[:n_mistakes]].tolist():
        rows = np.flatnonzero(a.queries.number == q)
        ranked = rows[np.argsort(-outcome.values[rows], kind="stable")]
        position = int(np.flatnonzero(a.y[ranked] == a.y[rows].max())[-1])
        row = int(ranked[position])
        found.append(
            QueryEvaluation(
                query=str(a.queries.names[q]),
                n_documents=rows.size,
                n_relevant=int(relevant[q]),
                ndcg=float(ndcg[q]),
                row=row,
                grade=float(a.y[row]),
                position=position + 1,
                first_grade=float(a.y[ranked[0]]),
            )
        )
    return found
