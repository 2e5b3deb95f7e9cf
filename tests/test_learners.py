"""Lines, splines, bins, ternary votes and confident classifiers against NumPy, SciPy, brute force and scikit-learn."""

from itertools import pairwise
from itertools import product as every

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.interpolate import CubicSpline
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.naive_bayes import GaussianNB

from multiboost import (
    AdaBoostMHClassifier,
    Bins,
    Column,
    FromClassifier,
    MedianBoostRegressor,
    MultiBoostClassifier,
    MultiBoostRegressor,
    Tree,
    additive_shapes,
    load_model,
    named_importances,
    round_rules,
    write_report,
)
from multiboost.kernels.team import Team

from .conftest import all_rows, half_weights, make_classes, make_levels, signs_of

TINY = 1e-9  # a ridge of almost nothing
LEARNERS = ("column", "column:spline", "bins:8")
each_learner = pytest.mark.parametrize("learner", LEARNERS)


def regressor(learner, n_rounds=1, **parameters):
    usual = {"learning_rate": 1.0, "subsample": 1.0, "ridge": TINY}
    return MultiBoostRegressor(learner, n_rounds, **{**usual, **parameters})


def mixed(n=300, seed=0):
    """Numbers with missing values, many zeros and names; two targets and three classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X.loc[rng.random(n) < 0.6, "d"] = 0.0
    X["e"] = rng.choice(["red", "green", "blue", "rare"], n, p=[0.4, 0.3, 0.29, 0.01])
    y = 2 * X["a"] + np.sin(2 * X["c"]) - X["d"] + (X["e"] == "red") + X["b"].fillna(1.0) + 0.3 * rng.normal(size=n)
    Y = np.column_stack([y, X["a"] ** 2 + 0.1 * rng.normal(size=n)])
    return X, Y, (Y[:, 0] > 0).astype(int) + (Y[:, 0] > 2)


def numbers_of(X) -> np.ndarray:
    """Numeric columns with the mean for what is missing."""
    return X[list("abcd")].fillna(X[list("abcd")].mean()).to_numpy()


class TestLines:
    def test_one_round_is_the_best_weighted_line(self):
        """Brute force over columns: two targets, some unknown, weights of pairs, missing values."""
        X, Y, _ = mixed()
        rng = np.random.default_rng(1)
        Y[rng.random(Y.shape) < 0.2] = np.nan
        weight = rng.uniform(0.5, 2, Y.shape)
        reg = regressor("column").fit(X, Y, target_weight=weight)
        w = np.where(np.isnan(Y), 0.0, weight)
        center, scale = reg.model_.kind.center, reg.model_.kind.scale
        F = np.where(w > 0, (Y - center) / scale, 0.0) - reg.ensemble_.initial
        best, found = np.inf, None
        for x in numbers_of(X).T:
            B = np.column_stack([np.ones(len(x)), x])
            fits = [
                B @ np.linalg.lstsq(np.sqrt(v)[:, None] * B, np.sqrt(v) * f, rcond=None)[0]
                for v, f in zip(w.T, F.T, strict=True)
            ]
            rest = (w * (F - np.column_stack(fits)) ** 2).sum()
            if rest < best:
                best, found = rest, np.column_stack(fits)
        np.testing.assert_allclose(reg._scores(X) - reg.ensemble_.initial, found, atol=1e-7)
        assert reg.coef_.shape == (2, 5)
        np.testing.assert_allclose(numbers_of(X) @ reg.coef_[:, :4].T + reg.intercept_, reg.predict(X), atol=1e-9)

    @pytest.mark.parametrize("loss", ["logistic", "exponential", "softmax", "hinge"])
    def test_labels_have_newton_steps(self, loss):
        """A step is the weighted line through G / H, label by label; under exponential loss H = |G|: GentleBoost."""
        X, y = make_classes(200, 4, 3)
        clf = all_rows("column", 2, loss=loss, learning_rate=1.0, ridge=TINY).fit(X, y)
        F = [np.tile(clf.ensemble_.initial, (len(X), 1)), *clf.staged_decision_function(X)]
        Y = signs_of(y, 3)
        W = half_weights(Y)
        for before, after, j in zip(F, F[1:], clf.ensemble_.along, strict=False):
            if loss == "logistic":
                p = 1 / (1 + np.exp(2 * before * Y))
                G, H = W * Y * p, 2 * W * p * (1 - p)
            elif loss == "exponential":
                G = W * Y * np.exp(-before * Y)
                H = np.abs(G)
            elif loss == "softmax":
                p = np.exp(2 * before) / np.exp(2 * before).sum(axis=1, keepdims=True)
                w = W.sum(axis=1, keepdims=True)
                G, H = w * ((Y > 0) - p), 2 * w * p * (1 - p)
            else:
                gap = np.maximum(1 - Y * before, 0)
                G, H = 2 * W * Y * gap, 2.0 * W * (gap > 0)

            def step(x, G=G, H=H):
                B = np.column_stack([np.ones(len(x)), x])
                found = [np.linalg.solve((B * h[:, None]).T @ B, B.T @ g) for g, h in zip(G.T, H.T, strict=True)]
                gain = sum(float(B.T @ g @ c) for g, c in zip(G.T, found, strict=True))
                return gain, B @ np.array(found).T

            steps = [step(x) for x in X.T]
            assert j == int(np.argmax([gain for gain, _ in steps]))
            np.testing.assert_allclose(after - before, steps[j][1], atol=1e-6)

    def test_small_steps_follow_lars(self):
        """Within 2 % of the largest coefficient at corners 2 to 6 of the path, at the same L1 norm."""
        X, y = load_diabetes(return_X_y=True)
        X = X / X.std(axis=0)
        reg = regressor("column", 1000, learning_rate=0.02).fit(X, y)
        _, active, corners = lars_path(X - X.mean(axis=0), y - y.mean(), method="lar")
        path, norm = reg.coef_path_, np.abs(reg.coef_path_).sum(axis=1)
        first = dict.fromkeys(reg.ensemble_.along.tolist())
        assert list(first)[:4] == active[:4]
        for corner in corners.T[2:7]:
            near = int(np.abs(norm - np.abs(corner).sum()).argmin())
            assert np.abs(path[near] - corner).max() < 0.02 * np.abs(corner).max()
        np.testing.assert_array_equal(path[-1], reg.coef_)
        np.testing.assert_allclose(X @ reg.coef_ + reg.intercept_, reg.predict(X), atol=1e-9)
        at = list(reg.staged_predict(X))[99]
        np.testing.assert_allclose(X @ path[99] + reg.intercept_path_[99], at, atol=1e-9)

    @pytest.mark.parametrize("missing", [0.0, np.nan])
    def test_a_column_that_is_constant_where_settings_are_compared(self, missing):
        """Offsets of quantiles are learned from rows that are held out; the others may have one value only."""
        for last in range(6):
            X = np.stack([np.full(6, missing), np.arange(6.0)], axis=1)
            X[last, 0] = 1.0
            reg = MultiBoostRegressor("column", 5, loss="quantile").fit(X, X[:, 1])
            assert np.isfinite(reg.predict(X)).all()

    def test_scale_and_place_of_columns_do_not_matter(self):
        X, y = load_diabetes(return_X_y=True)
        scale, shift = 10.0 ** np.arange(-5, 5), 100.0 * np.arange(10)
        one = regressor("column", 60, learning_rate=0.3, ridge=1.0).fit(X, y)
        two = regressor("column", 60, learning_rate=0.3, ridge=1.0).fit(X * scale + shift, y)
        np.testing.assert_allclose(one.predict(X), two.predict(X * scale + shift), rtol=1e-6)
        np.testing.assert_allclose(one.coef_, two.coef_ * scale, rtol=1e-5, atol=1e-6)

    def test_sparse_is_dense_bit_for_bit(self):
        rng = np.random.default_rng(0)
        X = np.where(rng.random((200, 8)) < 0.8, 0.0, rng.normal(size=(200, 8)))
        X[:, 0] = rng.normal(size=200)
        y = X @ rng.normal(size=8) + 0.1 * rng.normal(size=200)
        for learner in LEARNERS:
            dense = regressor(learner, 20, learning_rate=0.5).fit(X, y)
            sparse = regressor(learner, 20, learning_rate=0.5).fit(sp.csc_array(X), y)
            assert dense.ensemble_.digest() == sparse.ensemble_.digest()
            np.testing.assert_array_equal(dense.predict(X), sparse.predict(sp.csr_array(X)))
            assert dense.score(X, y) > 0.7

    def test_coefficients_are_of_lines_only(self, three_classes):
        X, y = three_classes
        assert all_rows("column", 3).fit(X, y).coef_.shape == (3, 6)
        for other in (
            all_rows("column:spline", 3),
            all_rows("stump", 3),
            all_rows("column", 3, init=all_rows("stump", 2).fit(X, y)),
        ):
            assert not hasattr(other.fit(X, y), "coef_")

    def test_a_table_of_names_is_refused(self):
        X, Y, _ = mixed()
        with pytest.raises(ValueError, match="Column\\(\\) is for columns of numbers, and X has none: use Bins"):
            regressor("column").fit(X[["e"]], Y[:, 0])

    def test_a_median_of_lines(self):
        X, Y, _ = mixed()
        reg = MedianBoostRegressor("column:spline", 10).fit(X, Y[:, 0])
        assert reg.score(X, Y[:, 0]) > 0.3


class TestSplines:
    def direct(self, x, y, knots, smoothing):
        """Values at the knots: penalised least squares with SciPy's natural splines, the penalty by quadrature."""
        basis = CubicSpline(knots, np.eye(knots.size), bc_type="natural")
        B = basis(x)
        nodes, weights = np.polynomial.legendre.leggauss(3)
        P = np.zeros((knots.size, knots.size))
        for a, b in pairwise(knots):
            for node, weight in zip(nodes, weights, strict=True):
                second = basis((a + b) / 2 + node * (b - a) / 2, 2)
                P += weight * (b - a) / 2 * np.outer(second, second)
        S = B.T @ B / len(x)
        values = np.linalg.solve(S + smoothing * P, B.T @ y / len(x))
        trace = np.trace(np.linalg.solve(S + smoothing * P, S))
        return CubicSpline(knots, values, bc_type="natural"), trace

    @pytest.mark.parametrize("df", [2.5, 4, 7])
    def test_one_round_is_a_penalised_fit(self, df):
        from multiboost.base.pieces import Entries
        from multiboost.base.spline import Spline, knots_of
        from multiboost.data.table import Column as TableColumn

        rng = np.random.default_rng(0)
        x = rng.exponential(size=250).round(2)
        y = np.sin(3 * x) + 0.2 * rng.normal(size=250)
        reg = regressor(Column("spline", df)).fit(x[:, None], y)
        entries = Entries(TableColumn(x), x.size)
        knots = knots_of(entries, 12)
        assert (knots.size, knots[0], knots[-1]) == (12, x.min(), x.max())
        of = Spline(entries, knots, df)
        spline, trace = self.direct(x, y - y.mean(), knots, of.smoothing)
        assert trace == pytest.approx(df, abs=1e-6)
        grid = np.linspace(x.min(), x.max(), 500)
        np.testing.assert_allclose(reg.predict(grid[:, None]), y.mean() + spline(grid), atol=1e-7)
        # Beyond the knots it is a line with the slope at the end.
        for end, far in ((x.min(), x.min() - 5.0), (x.max(), x.max() + 5.0)):
            line = y.mean() + spline(end) + spline(end, 1) * (far - end)
            assert reg.predict([[far]])[0] == pytest.approx(line, abs=1e-6)
        missing = reg.predict([[np.nan]])[0]
        assert missing == pytest.approx(float(y.mean() + spline(x.mean())), abs=1e-7)

    def test_outliers_do_not_cost_precision(self):
        """Polynomials have their origin in their own piece: they meet at the knots."""
        rng = np.random.default_rng(0)
        x = np.append(rng.uniform(0, 1, 300), [1e7, -1e7])
        y = np.append(np.sin(6 * x[:-2]), [0.0, 0.0])
        reg = regressor("column:spline", 50, learning_rate=0.5).fit(x[:, None], y)
        knots = np.unique(reg.ensemble_.threshold)
        assert knots.size == 12
        left, right = (reg.predict(np.nextafter(knots, towards)[:, None]) for towards in (-np.inf, np.inf))
        np.testing.assert_allclose(left, right, atol=1e-7)
        assert reg.score(x[:, None], y) > 0.6

    def test_few_values_have_few_knots(self):
        """Two values are a line, three are met exactly."""
        x = np.tile([0.0, 1.0, 5.0], 20)
        y = np.tile([1.0, -1.0, 3.0], 20)
        np.testing.assert_allclose(regressor("column:spline").fit(x[:, None], y).predict(x[:, None]), y, atol=1e-7)
        two = regressor("column:spline").fit((x[:, None] > 1) * 1.0, y)
        assert two.ensemble_.degree.tolist() == [1]

    def test_a_sparse_additive_model(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-2, 2, size=(400, 20))
        y = np.sin(2 * X[:, 3]) + X[:, 7] ** 2 + 0.1 * rng.normal(size=400)
        reg = regressor("column:spline", 60, learning_rate=0.3).fit(X, y)
        assert reg.score(X, y) > 0.95
        assert sorted(np.argsort(reg.feature_importances_)[-2:]) == [3, 7]
        assert reg.feature_importances_[[3, 7]].sum() > 0.95


def _histogram(x, edges, W, positive):
    """Weights of positive or negative labels in the bins of a column, (bins, K)."""
    return np.stack(
        [(W * positive)[np.searchsorted(edges, x, side="left") == b].sum(axis=0) for b in range(edges.size + 1)]
    )


class TestBins:
    def test_z_is_the_bhattacharyya_sum(self):
        """The column with the least 2 sum sqrt(W+ W-); votes are 1/2 ln(W+ / W-), with the criterion's s."""
        X, y = make_levels(150, 5, 3, n_levels=6)
        clf = AdaBoostMHClassifier("bins:6", 1, votes="real").fit(X, y)
        Y = signs_of(y, 3)
        W = half_weights(Y)
        cuts = np.arange(5) + 0.5
        sums = [(_histogram(x, cuts, W, Y > 0), _histogram(x, cuts, W, Y < 0)) for x in X.T]
        z = [2 * np.sqrt(plus * minus).sum() for plus, minus in sums]
        j = int(np.argmin(z))
        assert set(clf.ensemble_.feature) == {j}
        s = 1 / np.count_nonzero(W)
        plus, minus = sums[j]
        votes = 0.5 * np.log((2 * plus + s) / (2 * minus + s))
        np.testing.assert_allclose(clf.decision_function(X), votes[X[:, j].astype(int)], atol=1e-12)
        assert clf.history_["Z"][0] == pytest.approx((W * np.exp(-Y * votes[X[:, j].astype(int)])).sum(), abs=1e-12)
        # Without s that is the Bhattacharyya sum itself.
        assert (W * np.exp(-Y * 0.5 * np.log(plus / minus)[X[:, j].astype(int)])).sum() == pytest.approx(z[j])
        assert clf.history_["Z"][0] == pytest.approx(z[j], rel=0.02)

    def test_z_multiplies_to_the_risk(self):
        X, _, y = mixed()
        clf = AdaBoostMHClassifier("bins:8", 30, votes="real").fit(X, y)
        assert clf.history_["risk"][-1] == pytest.approx(np.prod(clf.history_["Z"]), rel=1e-10)

    @pytest.mark.parametrize("kind", ["newton", "edge"])
    def test_other_criteria(self, kind):
        """Brute force: the gain of Newton's steps, or the edge of votes of +1 and -1 in each bin."""
        X, y = make_levels(150, 5, 3, n_levels=6)
        Y = signs_of(y, 3)
        W = half_weights(Y)
        votes = {"newton": {"loss": "hinge"}, "edge": {"votes": "discrete"}}[kind]
        clf = all_rows("bins:6", 1, learning_rate=1.0, ridge=TINY, **votes).fit(X, y)
        G, H = (2 * W * Y, 2 * W) if kind == "newton" else (W * Y, W)
        one = np.eye(6)
        sums = [(one[x.astype(int)].T @ G, one[x.astype(int)].T @ H) for x in X.T]
        score = [(g**2 / h).sum() if kind == "newton" else np.abs(g).sum() for g, h in sums]
        j = int(np.argmax(score))
        g, h = sums[j]
        step = g / h if kind == "newton" else np.sign(g) * 0.5 * np.log((1 + score[j]) / (1 - score[j]))
        np.testing.assert_allclose(clf.decision_function(X), step[X[:, j].astype(int)], atol=1e-7)

    def test_many_values_are_quantiles(self):
        rng = np.random.default_rng(0)
        X = rng.exponential(size=(400, 1))
        y = np.sin(5 * X[:, 0])
        reg = regressor("bins:10").fit(X, y)
        cuts = np.sort(reg.ensemble_.threshold)
        assert cuts.size == 9
        bins = np.searchsorted(cuts, X[:, 0])
        assert np.bincount(bins).min() >= 35
        means = np.array([y[bins == b].mean() for b in range(10)])
        np.testing.assert_allclose(reg.predict(X), means[bins], atol=1e-6)

    def test_names_and_missing_values_have_bins_of_their_own(self):
        X, _, _ = mixed()
        y = X["e"].map({"red": 1.0, "green": 5.0, "blue": -3.0, "rare": 1.0}).to_numpy()
        reg = regressor("bins:4", min_category_rows=20).fit(X[["e"]], y)
        np.testing.assert_allclose(reg.predict(X[["e"]]), y, atol=1e-6)
        seen = reg.predict(pd.DataFrame({"e": ["rare", "never seen", None]}))
        np.testing.assert_allclose(seen, 1.0, atol=1e-6)  # rare ones are missing
        y = np.where(X["b"].isna(), 7.0, 0.0)
        np.testing.assert_allclose(regressor("bins:4").fit(X[["b"]], y).predict(X[["b"]]), y, atol=1e-6)
        # Where training has seen none, a missing value is in the largest bin.
        full = X[["a"]]
        reg = regressor("bins:3").fit(full, full["a"])
        assert reg.predict(pd.DataFrame({"a": [np.nan]}))[0] in reg.predict(full)

    def test_a_product_of_bins(self):
        """Signs of one times votes of the other: an interaction that no sum of bins has."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 3))
        y = (X[:, 0] * X[:, 1] > 0).astype(int)
        alone = all_rows("bins:8", 20, loss="exponential").fit(X, y).score(X, y)
        both = all_rows("product:2/bins:8", 20, loss="exponential").fit(X, y)
        assert both.score(X, y) > 0.95 > alone
        assert both.history_["risk"][-1] == pytest.approx(np.prod(both.history_["Z"]), rel=1e-10)


class TestTernaryVotes:
    @pytest.mark.parametrize("learner", ["stump", "tree:3", "product:2"])
    def test_no_other_votes_have_a_smaller_z(self, learner):
        """All 3^K votes of each round's phi, with the best alpha of each."""
        X, y = make_levels(120, 4, 4)
        clf = MultiBoostClassifier(learner, 8, votes="ternary").fit(X, y)
        full = MultiBoostClassifier(learner, 1, votes="discrete").fit(X, y)
        Y = signs_of(y, 4)
        W = half_weights(Y)
        phi_of_first = np.sign(full.decision_function(X))
        F = [np.zeros(Y.shape), *clf.staged_decision_function(X)]
        abstained = 0
        for t, (before, after) in enumerate(pairwise(F)):
            w = W * np.exp(-before * Y)
            w /= w.sum()
            step = np.sign(after - before)
            abstained += int((step == 0).all(axis=0).sum())
            silent = (step == 0).all(axis=0)
            phi = phi_of_first if t == 0 else step
            best = 1.0
            for v in every((-1, 0, 1), repeat=4):
                if t > 0 and np.any(silent & (np.array(v) != 0)):
                    continue  # what phi says of a silent label is not in the model
                right, wrong = (w * (phi * v * Y > 0)).sum(), (w * (phi * v * Y < 0)).sum()
                best = min(best, 1 - right - wrong + 2 * np.sqrt(right * wrong))
            z = (w * np.exp(-(after - before) * Y)).sum()
            assert z == pytest.approx(clf.history_["Z"][t], abs=1e-12)
            if t == 0:
                assert z == pytest.approx(best, abs=1e-12)
            assert z <= best + 1e-12
        assert abstained > 0
        assert clf.history_["risk"][-1] == pytest.approx(np.prod(clf.history_["Z"]), rel=1e-10)

    def test_which_labels_vote_by_brute_force(self):
        from multiboost.criteria import CRITERIA

        rng = np.random.default_rng(0)
        for _ in range(200):
            right, wrong = rng.uniform(size=(2, 6)) ** 3
            right, wrong = np.maximum(right, wrong), np.minimum(right, wrong)
            vote = CRITERIA.get("ternary")().voters(right, wrong)
            masks = np.array(list(every((False, True), repeat=6)))[1:]
            best = max(np.sqrt(right[m].sum()) - np.sqrt(wrong[m].sum()) for m in masks)
            assert np.sqrt(right[vote].sum()) - np.sqrt(wrong[vote].sum()) == pytest.approx(best)

    def test_two_classes_never_abstain(self, two_classes):
        X, y = two_classes
        one, two = (MultiBoostClassifier("stump", 10, votes=votes).fit(X, y) for votes in ("ternary", "discrete"))
        np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-12)


class OnlyAnswers(ClassifierMixin, BaseEstimator):
    """A classifier that does not say how sure it is."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.ones(len(X), int)


class TestConfidentClassifiers:
    def test_newton_steps_along_decisions(self):
        X, y = make_classes(200, 4, 3)
        learner = FromClassifier(LogisticRegression(), output="decision")
        clf = all_rows(learner, 4, loss="logistic", learning_rate=1.0, ridge=TINY).fit(X, y)
        Y = signs_of(y, 3)
        W = half_weights(Y)
        F = [np.tile(clf.ensemble_.initial, (len(X), 1)), *clf.staged_decision_function(X)]
        for before, after, phi in zip(F, F[1:], clf.ensemble_.phi, strict=False):
            d = phi.estimator.decision_function(X)
            assert phi.scale == np.abs(d).max()
            p = 1 / (1 + np.exp(2 * before * Y))
            G, H = W * Y * p, 2 * W * p * (1 - p)
            np.testing.assert_allclose(after - before, np.outer(d, (d @ G) / (d**2 @ H)), atol=1e-7)

    def test_discrete_votes_keep_the_bound(self):
        """Z <= sqrt(1 - r^2) for phi in [-1, 1] (Schapire and Singer 1999); a line search is at least as good."""
        X, y = make_classes(200, 4, 3)
        learner = FromClassifier(GaussianNB(), output="decision")  # has no decision_function: 2 p - 1
        clf = all_rows(learner, 5, votes="discrete").fit(X, y)
        edge, z = clf.history_["edge"], clf.history_["Z"]
        assert (z <= np.sqrt(1 - edge**2) + 1e-12).all()
        assert (z < 1).all()
        assert clf.history_["risk"][-1] == pytest.approx(np.prod(z), rel=1e-10)
        search = all_rows(learner, 1, votes="discrete", step="line-search").fit(X, y)
        assert search.history_["Z"][0] <= z[0] + 1e-12

    def test_refusals(self, two_classes):
        X, y = two_classes
        with pytest.raises(ValueError, match="OnlyAnswers has neither decision_function nor predict_proba"):
            all_rows(FromClassifier(OnlyAnswers(), output="decision"), 2).fit(X, y)
        with pytest.raises(ValueError, match="output of FromClassifier must be 'sign' or 'decision'; got 'proba'"):
            all_rows(FromClassifier(GaussianNB(), output="proba"), 2).fit(X, y)
        with pytest.raises(ValueError, match="a tree cannot be made of 'classifier'"):
            all_rows(Tree(4, FromClassifier(GaussianNB(), output="decision")), 2).fit(X, y)


class TestAllOfThem:
    @each_learner
    def test_every_way_to_predict(self, learner, tmp_path):
        X, Y, y = mixed()
        for model, target in ((regressor(learner, 12, learning_rate=0.3), Y), (all_rows(learner, 12), y)):
            model.fit(X, target)
            F = model._scores(X)
            np.testing.assert_array_equal(list(model._staged_scores(X))[-1], F)
            one, rows = model.compiled(), model.model_.table(X).rows(0, len(X))
            np.testing.assert_array_equal([one.scores(row) for row in rows], F)
            model.save(tmp_path / "a.mb")
            loaded = load_model(tmp_path / "a.mb")
            np.testing.assert_array_equal(loaded._scores(X), F)
            assert loaded.plan_ == model.plan_
            assert loaded.ensemble_.digest() == model.ensemble_.digest()
            fifth = [scores.copy() for scores in model._staged_scores(X)][4]
            with Team(1) as team:
                np.testing.assert_array_equal(model.ensemble_.head(5).scores(model.model_.table(X), team), fifth)
            shapes = additive_shapes(model)
            np.testing.assert_allclose(shapes(rows), F, atol=1e-10)
            assert model.history_["risk"][-1] < model.history_["risk"][0]

    @each_learner
    def test_threads_resume_and_warm_start_leave_no_trace(self, learner, tmp_path):
        X, _, y = mixed(1500)
        whole = MultiBoostClassifier(learner, 12, loss="logistic", subsample=0.7, n_jobs=1).fit(X, y)
        for n_jobs in (2, 4):
            other = MultiBoostClassifier(learner, 12, loss="logistic", subsample=0.7, n_jobs=n_jobs).fit(X, y)
            assert other.ensemble_.digest() == whole.ensemble_.digest()
        part = MultiBoostClassifier(learner, 5, loss="logistic", subsample=0.7)
        part.fit(X, y, checkpoint=tmp_path / "run.mb")
        part.set_params(n_estimators=12).fit(X, y, checkpoint=tmp_path / "run.mb", resume=True)
        assert part.ensemble_.digest() == whole.ensemble_.digest()
        warm = MultiBoostClassifier(learner, 5, loss="logistic", subsample=0.7, warm_start=True).fit(X, y)
        assert warm.set_params(n_estimators=12).fit(X, y).ensemble_.digest() == whole.ensemble_.digest()

    @each_learner
    def test_rules_importances_and_reports(self, learner, tmp_path):
        X, _, y = mixed()
        clf = all_rows(learner, 6).fit(X, y)
        text = str(round_rules(clf)[0])
        assert "times (" in text if learner.startswith("column") else "if " in text
        assert sum(one.share for one in named_importances(clf)) == pytest.approx(1)
        write_report(clf, X, y, tmp_path / "report.html")
        assert "<svg" in (tmp_path / "report.html").read_text()

    @each_learner
    def test_validation_follows_the_model(self, learner):
        X, _, y = mixed()
        clf = all_rows(learner, 6, loss="logistic").fit(X, y, validation=(X, y))
        np.testing.assert_allclose(clf.history_["validation_risk"], clf.history_["risk"], rtol=1e-9)

    def test_the_best_column_is_one_that_may_be_used(self):
        from multiboost.plugins import ColumnSampler, register

        @register
        class Last(ColumnSampler):
            name = "only the last numbers"

            def columns(self, run):
                return np.arange(run.n_columns) == 3

        X, Y, _ = mixed()
        for learner in LEARNERS:
            reg = regressor(learner, 3, learning_rate=0.3, column_sampler="only the last numbers").fit(X, Y[:, 0])
            assert set(reg.ensemble_.feature) == {3}

    def test_damaged_curves_are_refused(self, tmp_path):
        from multiboost.model.storage import is_sound

        X, Y, _ = mixed()
        model = regressor("column:spline", 3).fit(X, Y[:, 0]).model_
        for name, change in (("degree", 1), ("along", 99), ("degree", -9)):
            e = model.ensemble.head(3)
            assert is_sound(e, model.columns, 1)
            setattr(e, name, getattr(e, name) + np.array(change, np.int32))
            assert not is_sound(e, model.columns, 1)

    @pytest.mark.parametrize(
        ("learner", "match"),
        [
            ("tree:4/column", "a tree cannot be made of 'column'"),
            ("product:2/column:spline", "a product cannot be made of 'column'"),
            ("tree:4/bins:3", "a tree cannot be made of 'bins'.*use 'bins' without it"),
            ("column:cubic", "'cubic' is not a size; write for example 'column:spline'"),
            (Column("quadratic"), "form must be one of 'linear', 'spline'; got 'quadratic'"),
            (Column("spline", df=1), "df of Column must be a number of at least 2; got 1"),
            (Bins(1), "n_bins must be a whole number of at least 2; got 1"),
        ],
    )
    def test_refusals(self, learner, match, two_classes):
        with pytest.raises(ValueError, match=match):
            all_rows(learner, 2).fit(*two_classes)

    def test_criteria_that_do_not_fit(self, two_classes):
        with pytest.raises(ValueError, match="votes='discrete' does not go with base_learner='column'"):
            all_rows("column", 2, votes="discrete").fit(*two_classes)
        with pytest.raises(ValueError, match="criterion='z' does not go with base_learner='column:spline'"):
            all_rows("column:spline", 2, criterion="z").fit(*two_classes)

    @each_learner
    def test_pruned_and_taken_apart(self, learner):
        """Rounds as DAGs, put together again: the same scores, and twice the scores with coefficients of two."""
        X, _, y = mixed()
        model = all_rows(learner, 6).fit(X, y).model_
        e, table = model.ensemble, model.table(X)
        with Team(1) as team:
            once, twice = (e.weighted(np.full(6, c)).scores(table, team) - e.initial for c in (1.0, 2.0))
            np.testing.assert_array_equal(once + e.initial, e.scores(table, team))
        np.testing.assert_allclose(twice, 2 * once, atol=1e-12)

    def test_what_no_exporter_knows_is_refused(self, tmp_path):
        from multiboost.export.exportable import ExportError, exportable

        X, _, y = mixed()
        with pytest.raises(ExportError, match="'column' votes with polynomials of a column"):
            exportable(all_rows("column", 2).fit(X, y))
        with pytest.raises(ExportError, match="'bins' cannot be exported yet: it orders the categories"):
            exportable(all_rows("bins:4", 2).fit(X[["e"]], y))
        first = all_rows("stump", 2).fit(X, y)
        with pytest.raises(ExportError, match="starts from the scores of another one"):
            exportable(all_rows("stump", 2, init=first).fit(X, y))
        assert exportable(all_rows("bins:4", 2).fit(X[["a"]], y)).n_rounds == 2
