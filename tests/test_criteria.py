"""Criteria: every one that is registered finds the best cut, and one that is only in this file does, too."""

from itertools import product

import numpy as np
import pytest

from multiboost.base import Indicator, Product, Stump, Tree
from multiboost.criteria import CRITERIA, PULL, PULL_AND_CURVATURE, WEIGHTS, Criterion, register
from multiboost.losses import LOSSES

from .rounds import boost, weights_of


def entropy_cut(left_negative, left_positive, right_negative, right_positive, ridge):
    """Information gain: - sum of w log(w / (W- + W+)) over sides and classes."""
    found = 0.0
    for negative, positive in ((left_negative, left_positive), (right_negative, right_positive)):
        both = negative + positive + ridge
        found += negative * np.log((negative + 0.5 * ridge) / both) + positive * np.log((positive + 0.5 * ridge) / both)
    return found


def entropy_slope(a, b, c, d, e):
    left, right = a + b + e, c + d + e
    return (
        np.log((a + 0.5 * e) / left) - np.log((c + 0.5 * e) / right),
        np.log((b + 0.5 * e) / left) - np.log((d + 0.5 * e) / right),
    )


@register
class Entropy(Criterion):
    name, layout = "entropy", WEIGHTS
    cut, slope = staticmethod(entropy_cut), staticmethod(entropy_slope)

    def votes(self, sum_g, sum_h):
        return 0.5 * np.log((sum_h + sum_g + self.ridge) / (sum_h - sum_g + self.ridge))

    def score(self, sum_g, sum_h, votes):
        negative, positive = np.maximum(sum_h - sum_g, 0) / 2, np.maximum(sum_h + sum_g, 0) / 2
        return float(entropy_cut(negative, positive, 0.0, 0.0, self.ridge).sum())


def table(n=240, seed=0):
    """Numbers with missing values, and two nominal columns of six categories."""
    rng = np.random.default_rng(seed)
    X = (2.5 * rng.normal(size=(n, 5))).round()  # few bins: all of them are searched
    X[rng.random(n) < 0.1, 1] = np.nan
    X[:, 3] = rng.integers(0, 6, n)
    X[:, 4] = rng.integers(0, 6, n)
    y = (X[:, 0] > 1).astype(int) + np.isin(X[:, 3], (1, 4))
    y[rng.random(n) < 0.2] = 0
    return X, y


def sides_of(x, nominal):
    """What goes left in every cut of a column."""
    missing = np.isnan(x)
    values = np.unique(x[~missing])
    if nominal:
        for chosen in product((False, True), repeat=values.size - 1):
            yield np.isin(x, values[1:][list(chosen)]) if any(chosen) else np.zeros(x.size, bool)
        return
    for value in values:
        yield x <= value
        if missing.any():
            yield (x <= value) | missing


def best_score(problem, X, columns, nominal):
    """The best score of all cuts by the criterion's formula, in units of G and H."""
    criterion, g = problem.criterion, problem.pull
    h = problem.record.h if problem.record.h.size else np.abs(g)
    a, b = {
        PULL: (g, np.zeros_like(g)), PULL_AND_CURVATURE: (g, h), WEIGHTS: (np.maximum(-g, 0), np.maximum(g, 0))
    }[criterion.layout]  # fmt: skip
    best = -np.inf
    for j in columns:
        for left in sides_of(X[:, j], j in nominal):
            if left.any() and not left.all():
                sums = a[left].sum(0), b[left].sum(0), a[~left].sum(0), b[~left].sum(0)
                found = sum(criterion.cut(*(s[k] for s in sums), criterion.ridge) for k in range(g.shape[1]))
                best = max(best, found)
    return best


def score_of(problem, h):
    """The score of a stump by the same formula."""
    criterion, g = problem.criterion, problem.pull
    curvature = problem.record.h if problem.record.h.size else np.abs(g)
    a, b = {
        PULL: (g, np.zeros_like(g)),
        PULL_AND_CURVATURE: (g, curvature),
        WEIGHTS: (np.maximum(-g, 0), np.maximum(g, 0)),
    }[criterion.layout]
    left = h.leaf[0] == 0
    sums = a[left].sum(0), b[left].sum(0), a[~left].sum(0), b[~left].sum(0)
    return sum(criterion.cut(*(s[k] for s in sums), criterion.ridge) for k in range(g.shape[1]))


def loss_for(criterion):
    return LOSSES.get("logistic" if criterion.layout == PULL_AND_CURVATURE else "exponential")()


@pytest.mark.parametrize("columns", [None, [0, 1], [1], [3, 4], [4], [2, 4]], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", list(CRITERIA))
def test_best_cut(name, classes, columns):
    """A stump is the best of all cuts of the columns that it may see, numeric and nominal."""
    X, y = table()
    criterion = CRITERIA.get(name).of_run(1.0, X.shape[0] * classes)
    with weights_of(X, np.minimum(y, classes - 1), loss_for(criterion), criterion, nominal=(3, 4)) as (weights, _):
        boost(weights, Stump(), 2, 0.3)  # weights that are not all alike
        problem = weights.problem
        if columns is not None:
            problem = problem.on_columns(np.isin(np.arange(5), columns))
        h = Stump().fit(problem)
        assert columns is None or h.terms[0].feature[0] in columns
        best = best_score(problem, X, range(5) if columns is None else columns, (3, 4))
        assert score_of(problem, h) == pytest.approx(best, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", list(CRITERIA))
def test_column_masks_in_trees(name):
    """Every cut of a tree keeps to the columns; where there are none nothing is found."""
    rng = np.random.default_rng(1)
    X = np.concatenate(
        [rng.normal(size=(300, 50)), rng.integers(0, 6, (300, 2))], axis=1
    )  # wide: bounds, coarse blocks
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 50] > 3)
    criterion = CRITERIA.get(name).of_run(1.0, X.shape[0] * 3)
    with weights_of(X, y, loss_for(criterion), criterion, nominal=(50, 51)) as (weights, _):
        problem = weights.problem
        full = Tree(6).fit(problem)
        for columns in ([1, 2], [51], [7, 50]):
            h = Tree(6).fit(problem.on_columns(np.isin(np.arange(52), columns)))
            assert set(h.terms[0].feature) <= set(columns)
            assert h.terms[0].feature.size > 0 or columns == [51]  # of which nothing depends
        assert Stump().fit(problem.on_columns(np.zeros(52, bool))) is None
        again = Tree(6).fit(problem.on_columns(np.ones(52, bool)))
        np.testing.assert_array_equal(full.terms[0].threshold, again.terms[0].threshold)
        np.testing.assert_array_equal(full.leaf, again.leaf)


@pytest.mark.parametrize("learner", [Stump(), Tree(6), Product(2), Tree(4, Product(2)), Indicator()], ids=str)
def test_a_criterion_of_this_file(learner):
    """It trains, with nominal columns and several labels, and is not kept on disk."""
    X, y = table(300)
    criterion = Entropy(1.0 / 900)
    assert not criterion.is_ours
    assert CRITERIA.get("edge")().is_ours
    with weights_of(X, y, LOSSES.get("exponential")(), criterion, nominal=(3, 4)) as (weights, _):
        risks = boost(weights, learner, 20, 0.3)
    assert risks[-1] < 0.9 * risks[0]
    assert np.isfinite(risks).all()


def test_many_categories():
    """A subset of 40 categories is as good as the order of their votes says, for every criterion of one label."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 40, 2000)
    y = (rng.random(2000) < np.where(x % 3 == 0, 0.8, 0.3)).astype(int)
    for name in list(CRITERIA):
        criterion = CRITERIA.get(name).of_run(1.0, 2000)
        with weights_of(x[:, None], y, loss_for(criterion), criterion, nominal=(0,)) as (weights, _):
            problem = weights.problem
            h = Stump().fit(problem)
            votes = np.array([problem.pull[x == c, 0].mean() for c in range(40)])
            order = np.argsort(votes)
            best = -np.inf
            for k in range(1, 40):
                h.leaf[0] = ~np.isin(x, order[:k])
                best = max(best, score_of(problem, h))
            assert score_of(problem, Stump().fit(problem)) >= best - 1e-7


def test_names():
    with pytest.raises(ValueError, match=r"there is no criterion 'newtom'; there are .*'z'.*; did you mean 'newton'"):
        CRITERIA.get("newtom")
    with pytest.raises(ValueError, match="there is a criterion 'entropy' already"):
        register(type("Other", (Entropy,), {}))
    with pytest.raises(ValueError, match="v phi"):
        register(type("Wrong", (Entropy,), {"name": "wrong", "factorised": True}))


def test_formulas():
    """Scores in NumPy are the formulas' sums over leaves, and slopes are derivatives."""
    rng = np.random.default_rng(0)
    for name in list(CRITERIA):
        criterion, step = CRITERIA.get(name)(0.3), 1e-6
        for _ in range(20):
            a, b, c, d = rng.uniform(0.5, 3.0, 4)
            found = criterion.slope(a, b, c, d, 0.0 if name == "z" else 0.3)
            for k, (da, db) in enumerate(((step, 0.0), (0.0, step))):
                if criterion.layout == PULL and k == 1:
                    continue
                ridge = 0.0 if name == "z" else 0.3
                up, down = (criterion.cut(a + s * da, b + s * db, c - s * da, d - s * db, ridge) for s in (1, -1))
                near = 0.15 if name == "entropy" else 1e-5  # ours leaves out what the ridge adds
                size = 2.0 if criterion.bounded else 1.0  # the slope of the edge is a vote
                assert size * found[k] == pytest.approx((up - down) / 2 / step, rel=near, abs=near)
