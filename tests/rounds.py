"""Rounds of boosting without an estimator: a table, a loss, a criterion and a base learner."""

from contextlib import contextmanager

import numpy as np

from multiboost.boosting.weights import Weights
from multiboost.data.binned import Binned
from multiboost.data.kinds import recognise
from multiboost.data.layout import Layout
from multiboost.data.real import RealTarget, kind_of
from multiboost.data.table import as_table
from multiboost.data.target import Target
from multiboost.kernels.team import Team


@contextmanager
def weights_of(X, y, loss, criterion, nominal=(), n_threads=1, seed=0):
    """Weights of the first round."""
    table = as_table(np.asarray(X, float))
    if len(nominal):
        table.with_categories(np.isin(np.arange(table.n_columns), nominal))
    if loss.of_numbers:
        y = np.asarray(y, float)
        target = RealTarget(kind_of(y, None, loss), y, loss)
    else:
        target = Target(recognise(y, None), y)
    layout = Layout(Binned.of(table), 64, n_threads, coarse=not criterion.bounded)
    scores = np.tile(loss.initial_scores(target), (len(X), 1))
    with Team(n_threads) as team:
        yield Weights(layout, target, loss, criterion, team, scores, seed), target


def boost(weights, learner, n_rounds, rate):
    """So many rounds; risks after each."""
    risks = []
    for _ in range(n_rounds):
        h = learner.fit(weights.problem)
        weights.add(weights.refitted(h).scaled(rate))
        risks.append(weights.risk)
    return risks
