"""Permutation importance: how much worse a model is on rows whose values of one column are shuffled (Breiman 2001).

The gain of cuts says what training used; this says what the answers on these rows need.  Columns that say the same can
stand in for each other, and each of them then looks less important than it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from ..data.table import EncodedTable
from ..estimators.threads import thread_count
from ..estimators.validation import check_table
from ..kernels.team import Team
from ..ranking import Queries
from .columns import column_names
from .evaluating import answers_of, view_of

N_REPEATS = 5
MOST_ROWS = 5000


@dataclass
class PermutationImportance:
    """What shuffling one column does.

    Attributes
    ----------
    column : int
    name : str
    increase : float
        Of the error: of several labels of the Hamming loss, of numbers of the relative error, of rankings of
        1 - NDCG@10; the mean of all shuffles.
    spread : float
        Its standard deviation over the shuffles.
    """

    column: int
    name: str
    increase: float
    spread: float


def some_rows(n: int, at_most: int) -> np.ndarray:
    """All rows, or evenly spread ones."""
    return np.unique(np.linspace(0, n - 1, min(n, at_most)).round().astype(np.intp))


def permutation_importances(
    clf, X, y, sample_weight=None, *, qid=None, columns=None, n_repeats=N_REPEATS, max_rows=MOST_ROWS, random_state=0
) -> list[PermutationImportance]:
    """How much worse a fitted estimator is where one column is shuffled.

    The shuffles are those of scikit-learn's ``permutation_importance`` with the same ``random_state``.

    Parameters
    ----------
    clf : fitted estimator
        Fitted; not one of `FromClassifier`, whose classifiers see rows in the user's own form.
    X, y, sample_weight, qid
        As in `evaluate`.
    columns : list of int, default=None
        Which columns to shuffle; None means those that a cut uses.
    n_repeats : int, default=5
        Shuffles of each column.
    max_rows : int, default=5000
        Of more rows so many are taken, evenly spread; of rankings whole queries.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    list of PermutationImportance
        The largest increase first.
    """
    view, model = view_of(clf), clf.model_
    if model.asks_others:
        raise ValueError(
            "the model asks estimators that see rows in the user's own form (FromClassifier, init); use "
            "scikit-learn's permutation_importance"
        )
    table = check_table(clf, X)
    check_consistent_length(np.empty(table.n_rows), y)
    rows = some_rows(table.n_rows, max_rows)
    if qid is not None:
        queries = Queries(qid)
        share = max(1, len(queries) * len(rows) // table.n_rows)
        rows = np.flatnonzero(np.isin(queries.number, some_rows(len(queries), share)))
        qid = queries.number[rows]
    weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
    answers = answers_of(clf, take(y, rows), weight, qid)
    array = table.take(rows).encoded().rows(0, len(rows)).copy()
    names = column_names(clf)
    if columns is None:
        columns = np.flatnonzero(model.ensemble.uses(clf.n_features_in_)).tolist()
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max + 1)

    with Team(thread_count(clf.n_jobs)) as team:

        def error() -> float:
            scores = model.scores(EncodedTable(array, model.columns.categories), team)
            outcome = view.outcome(answers, scores, model.n_rounds, float(model.sizes()[-1]), model, clf.plan_.loss)
            value = outcome.measured()
            return np.nan if value is None else value

        as_it_is = error()
        found = []
        for j in columns:
            random, kept, order = np.random.RandomState(seed), array[:, j].copy(), np.arange(len(rows))
            errors = []
            for _ in range(n_repeats):
                random.shuffle(order)
                array[:, j] = array[order, j]
                errors.append(error())
            array[:, j] = kept
            increase = np.array(errors) - as_it_is
            found.append(PermutationImportance(int(j), names[j], float(increase.mean()), float(increase.std())))
    return sorted(found, key=lambda i: -i.increase)


def take(y, rows: np.ndarray):
    """Some rows of labels or numbers, whatever they come in."""
    if hasattr(y, "iloc"):
        return y.iloc[rows]
    if hasattr(y, "tocsr"):
        return y.tocsr()[rows]
    if type(y).__module__.partition(".")[0] == "pyarrow":
        return y.take(rows)
    return y[rows] if hasattr(y, "shape") else np.asarray(y)[rows]
