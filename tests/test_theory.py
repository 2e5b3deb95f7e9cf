"""Bounds, margins, games, complexity and pruning, against brute force, NumPy and known values."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_diabetes, load_digits, load_wine, make_friedman1

from multiboost import AdaBoostMHClassifier, MultiBoostClassifier, MultiBoostRegressor, evaluate, load_model
from multiboost.theory import bounds, game_value, margin_bound, margins, prune, rademacher, solve_game

from .conftest import half_weights, make_levels, signs_of


def stumps(X):
    """All stumps of a table of numbers, as columns of -1 and +1, (n, stumps)."""
    columns = []
    for x in X.T:
        values = np.unique(x)
        for b in (values[:-1] + values[1:]) / 2:
            columns += [np.where(x > b, 1.0, -1.0), np.where(x > b, -1.0, 1.0)]
    return np.stack(columns, axis=1)


class TestBounds:
    def test_the_chain_of_bounds(self, three_classes):
        """error <= sqrt(K - 1) prod Z; weight of wrong labels <= prod Z <= exp(-sum edge^2 / 2)."""
        X, y = three_classes
        Y, n = signs_of(y, 3), len(y)
        W0 = half_weights(Y)
        for n_rounds in (1, 5, 30, 80):
            clf = AdaBoostMHClassifier("stump", n_rounds).fit(X, y)
            found = bounds(clf, y)
            F, edges = clf.decision_function(X), clf.history_["edge"]
            assert found.product_of_z == pytest.approx((W0 * np.exp(-F * Y)).sum(), rel=1e-10)
            assert np.mean(F.argmax(axis=1) != y) == pytest.approx(found.training_error)
            assert found.training_error <= found.error_bound == pytest.approx(np.sqrt(2) * found.product_of_z)
            assert W0[(F > 0) != (Y > 0)].sum() <= found.product_of_z <= found.edge_bound
            assert found.edge_bound == pytest.approx(np.exp(-0.5 * (edges**2).sum()))
            delta = found.smallest_edge
            assert found.edge_bound <= np.exp(-n_rounds * delta**2 / 2) * (1 + 1e-12)
            # With such edges, and no fewer rounds, the weight of the wrong labels is below that of one label.
            assert np.exp(-found.rounds_for_labels * delta**2 / 2) < 1 / (2 * n * 2)
            assert np.exp(-(found.rounds_for_labels - 2) * delta**2 / 2) >= 1 / (2 * n * 2)
            assert np.sqrt(2) * np.exp(-found.rounds_for_classes * delta**2 / 2) < 1 / n
            assert np.sqrt(2) * np.exp(-(found.rounds_for_classes - 2) * delta**2 / 2) >= 1 / n
            assert f"{found.product_of_z:.4g}" in str(found)

    def test_they_hold_in_a_run(self):
        """All labels are right after as many rounds as are promised."""
        X, y = np.arange(12.0)[:, None], np.arange(12) % 6 > 2  # two blocks: no stump is right
        first = bounds(AdaBoostMHClassifier("stump", 40).fit(X, y), y)
        clf = AdaBoostMHClassifier("stump", first.rounds_for_labels).fit(X, y)
        if clf.history_["edge"].min() >= first.smallest_edge:
            assert clf.history_["training_error"][-1] == 0
        assert bounds(clf, y).error_bound == bounds(clf).product_of_z  # two classes are one label

    def test_real_votes_have_z_alone(self, two_classes):
        X, y = two_classes
        found = bounds(MultiBoostClassifier("stump", 10, loss="exponential", subsample=1.0).fit(X, y), y)
        assert found.edge_bound is found.rounds_for_labels is found.rounds_for_classes is None
        assert found.training_error <= found.error_bound < 1

    def test_refused(self, two_classes):
        X, y = two_classes
        for loss, subsample in (("logistic", 1.0), ("exponential", 0.5)):
            clf = MultiBoostClassifier("stump", 5, loss=loss, subsample=subsample).fit(X, y)
            with pytest.raises(ValueError, match=r"loss='exponential' and subsample=1\.0"):
                bounds(clf)
        with pytest.raises(ValueError, match="bounds is about labels, and MultiBoostRegressor predicts numbers"):
            bounds(MultiBoostRegressor("stump", 2).fit(X, X[:, 0]))


class TestMargins:
    def test_by_hand(self, three_classes):
        X, y = three_classes
        weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
        clf = AdaBoostMHClassifier("stump", 25).fit(X, y, weight)
        F, Y = clf.decision_function(X) / clf.history_["alpha"].sum(), signs_of(y, 3)
        found = margins(clf, X, y, weight)
        np.testing.assert_allclose(found.values, np.sort((F * Y).ravel()), atol=1e-14)
        assert found.minimum == pytest.approx((F * Y).min())
        W = half_weights(Y) * weight[:, None]
        for theta in (-0.1, 0.0, 0.05, 0.3):
            assert found.below(theta) == pytest.approx(W[theta > F * Y].sum() / W.sum())
        others = np.where(Y > 0, -np.inf, F).max(axis=1)
        by_class = margins(clf, X, y, of_classes=True)
        np.testing.assert_allclose(by_class.values, np.sort((F[Y > 0] - others) / 2), atol=1e-14)
        assert by_class.below(0.0) == pytest.approx(1 - clf.score(X, y))
        assert np.abs(by_class.values).max() <= 1

    def test_unknown_labels_have_none(self, labels):
        X, Y = labels
        known = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
        clf = MultiBoostClassifier("stump", 10, loss="logistic").fit(X, known)
        assert margins(clf, X, known).values.size == np.isfinite(known).sum()
        with pytest.raises(ValueError, match="of_classes=True needs classes"):
            margins(clf, X, known, of_classes=True)


class TestGame:
    def test_odd_or_even(self):
        """(Freund and Schapire's tutorial example): value 1/12, both play the first with 7/12."""
        game = solve_game([[-2, 3], [3, -4]])
        assert game.value == pytest.approx(1 / 12, abs=1e-12)
        np.testing.assert_allclose(game.mixture, [7 / 12, 5 / 12])
        np.testing.assert_allclose(game.hardest, [7 / 12, 5 / 12])
        assert abs(game.gap) < 1e-12

    def test_random_matrices(self):
        """No distribution of either player does better: the dual, written down on its own."""
        rng = np.random.default_rng(0)
        for shape in [(1, 1), (3, 8), (9, 4)]:
            M = rng.normal(size=shape).round(1)
            M = np.vstack([M, M[:1]])  # a row twice
            game = solve_game(M)
            dual = linprog(
                np.append(np.zeros(len(M)), 1.0), np.hstack([M.T, -np.ones((M.shape[1], 1))]), np.zeros(M.shape[1]),
                np.append(np.ones(len(M)), 0.0)[None], [1.0], [(0, None)] * len(M) + [(None, None)],
            )  # fmt: skip
            assert game.value == pytest.approx(dual.fun, abs=1e-9)
            assert (M @ game.mixture).min() == pytest.approx(game.value, abs=1e-12)
            assert (game.hardest @ M).max() == pytest.approx(game.value, abs=1e-9)
            assert game.hardest.sum() == pytest.approx(1)
            assert game.hardest[0] == pytest.approx(game.hardest[-1])

    def test_rounds_of_a_model(self):
        """Margin <= value <= best edge, for the model's own coefficients and weights, and equal at the solution."""
        X, y = load_wine(return_X_y=True)
        clf = AdaBoostMHClassifier("stump", 60).fit(X, y)
        Y, game = signs_of(y, 3), game_value(clf, X, y)
        F = np.stack(list(clf.staged_decision_function(X)))
        h = np.sign(np.diff(F, axis=0, prepend=np.zeros((1, *F.shape[1:]))))
        assert margins(clf, X, y).minimum <= game.value <= clf.history_["edge"].max()
        assert (np.tensordot(game.mixture, h, 1) * Y).min() == pytest.approx(game.value, abs=1e-9)
        assert (h * Y * game.hardest).sum(axis=(1, 2)).max() == pytest.approx(game.value, abs=1e-9)

    @pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
    def test_arc_gv_finds_the_largest_minimum_margin(self, seed):
        """More than AdaBoost's, and within 5 % of the linear program over all stumps there are.

        AdaBoost stays below the largest margin where many columns compete.  Where it does reach that margin it is there
        sooner than arc-gv, whose steps become small: docs/theory.md.
        """
        X = np.random.default_rng(seed).integers(0, 2, (30, 100)).astype(float)
        y = X[:, :5].sum(axis=1) + 0.5 * X[:, 5:9].sum(axis=1) > 3.4
        best = solve_game((2.0 * y - 1)[:, None] * stumps(X)).value
        assert best > 0.2  # separable
        ada, arc = (
            margins(MultiBoostClassifier("stump", 3000, votes="discrete", step=step).fit(X, y), X, y).minimum
            for step in ("alpha", "arc-gv")
        )
        assert arc > ada
        assert 0.95 * best <= arc <= best + 1e-9


class TestComplexity:
    def test_stumps_by_brute_force(self):
        """The mean over draws of the largest edge of all stumps."""
        X, _ = make_levels(40, 3, 2)
        found, every = rademacher("stump", X, n_draws=15, seed=3), stumps(X)
        rng, edges = np.random.default_rng(3), []
        for _ in range(15):
            sigma = 2.0 * rng.integers(0, 2, 40) - 1
            edges.append((sigma @ every).max() / 40)
        assert found.value == pytest.approx(np.mean(edges), abs=1e-12)
        assert found.error == pytest.approx(np.std(edges, ddof=1) / np.sqrt(15), abs=1e-12)

    def test_richer_learners_are_more_complex(self, two_classes):
        X, _ = two_classes
        values = [rademacher(learner, X, n_draws=6).value for learner in ("stump", "tree:4", "tree:16")]
        assert 0 < values[0] < values[1] < values[2] < 1
        more = rademacher("stump", np.repeat(X, 1, axis=0)[:60], n_draws=6).value
        assert more > values[0]  # fewer rows are easier to fit

    def test_the_bound(self, two_classes):
        X, y = two_classes
        clf = AdaBoostMHClassifier("stump", 50).fit(X, y)
        r = rademacher("stump", X, n_draws=5)
        found = margin_bound(clf, X, y, r, delta=0.1)
        values = margins(clf, X, y).values
        chance = 3 * np.sqrt(np.log(2 * 25 / 0.1) / (2 * len(y)))
        tried = [np.mean(values < theta) + 2 * r.value / theta + chance for theta in 2.0 ** -np.arange(0, 12.5, 0.5)]
        assert found.value == pytest.approx(min(tried))
        assert found.value == pytest.approx(found.margin_error + found.complexity_term + found.chance)
        with pytest.raises(ValueError, match="delta must be between 0 and 1; got 1"):
            margin_bound(clf, X, y, r, delta=1)


class TestPrune:
    @pytest.mark.parametrize("base_learner", ["stump", "tree:6", "product:2", "tree:4/product:2"])
    def test_fewer_rounds_at_the_same_accuracy(self, base_learner, tmp_path):
        X, y = load_digits(n_class=5, return_X_y=True)
        clf = MultiBoostClassifier(base_learner, 60, loss="exponential").fit(X[:300], y[:300])
        pruned = prune(clf, X[300:600], y[300:600], tolerance=0.0)
        assert pruned.n_iter_ < 60
        assert clf.n_iter_ == 60
        before, after = (1 - model.score(X[301:600:2], y[301:600:2]) for model in (clf, pruned))
        assert after <= before + 1e-9
        assert 1 - pruned.score(X[600:], y[600:]) < 1 - clf.score(X[600:], y[600:]) + 0.03
        pruned.save(tmp_path / "m.mb")
        loaded = load_model(tmp_path / "m.mb")
        np.testing.assert_array_equal(loaded.decision_function(X), pruned.decision_function(X))
        assert evaluate(loaded, X[600:], y[600:]).n_rounds == pruned.n_iter_
        assert len(list(pruned.staged_predict(X[:5]))) == pruned.n_iter_

    def test_scores_are_the_weighted_rounds(self):
        X, y = load_wine(return_X_y=True)
        X[::7, 2] = np.nan
        X = np.column_stack([X, (X[:, 0] * 7 % 5).astype(int)])
        clf = MultiBoostClassifier("product:2/tree:3", 20, loss="logistic", nominal_features=[13]).fit(X, y)
        c = np.random.default_rng(0).normal(size=20) * (np.arange(20) % 3 > 0)
        F = np.stack([np.tile(clf.ensemble_.initial, (len(X), 1)), *clf.staged_decision_function(X)])
        expected = F[0] + np.tensordot(c, np.diff(F, axis=0), 1)
        ensemble = clf.ensemble_.weighted(c)
        assert ensemble.n_rounds == np.count_nonzero(c)
        model = clf.model_
        from multiboost.kernels.team import Team

        with Team(1) as team:
            np.testing.assert_allclose(ensemble.scores(model.table(X), team), expected, atol=1e-12)
        np.testing.assert_allclose(ensemble.size, np.abs(c * clf.ensemble_.size)[c != 0])
        assert clf.ensemble_.weighted(np.ones(20)).digest() == clf.ensemble_.digest()

    def test_the_refit_is_the_lasso(self):
        """Of a regressor: scikit-learn's coefficients at the same penalty."""
        from sklearn.linear_model import Lasso

        from multiboost.theory.prune import _path, _target

        X, y = load_diabetes(return_X_y=True)
        reg = MultiBoostRegressor("tree:4", 25, subsample=1.0).fit(X[:200], y[:200])
        target = _target(reg, y[200:])
        F = np.stack(
            [reg._scores(X[200:]) * 0 + reg.ensemble_.initial, *[s.copy() for s in reg._staged_scores(X[200:])]]
        )
        votes = np.diff(F[:, :, 0], axis=0).T
        found = list(_path(votes[:, None, :], reg.ensemble_.initial, target))
        wanted = target.wanted[:, 0] - reg.ensemble_.initial[0]
        largest = np.abs(wanted @ votes).max() / len(votes)
        for k in (3, 10):
            lasso = Lasso(largest * np.geomspace(1, 1e-3, 21)[k + 1], fit_intercept=False, tol=1e-10, max_iter=100_000)
            np.testing.assert_allclose(votes @ found[k], votes @ lasso.fit(votes, wanted).coef_, atol=2e-3)

    def test_a_regressor(self, tmp_path):
        X, y = make_friedman1(1200, 6, noise=0.5, random_state=0)
        reg = MultiBoostRegressor("tree:8", 80, learning_rate=0.3).fit(X[:400], y[:400])
        pruned = prune(reg, X[400:800], y[400:800], tolerance=0.0)
        assert pruned.n_iter_ < 80
        assert pruned.score(X[401:800:2], y[401:800:2]) >= reg.score(X[401:800:2], y[401:800:2]) - 1e-9
        assert pruned.score(X[800:], y[800:]) > reg.score(X[800:], y[800:]) - 0.02
        pruned.save(tmp_path / "m.mb")
        np.testing.assert_array_equal(load_model(tmp_path / "m.mb").predict(X), pruned.predict(X))

    def test_the_same_accuracy_is_what_rows_can_tell(self):
        """By default the error may grow by the standard error of the difference on the rows that judge."""
        X, y = load_digits(n_class=5, return_X_y=True)
        clf = MultiBoostClassifier("tree:6", 60, loss="exponential").fit(X[:300], y[:300])
        pruned = prune(clf, X[300:600], y[300:600])
        assert pruned.n_iter_ <= prune(clf, X[300:600], y[300:600], tolerance=0.0).n_iter_ < 60
        wrong = [model.predict(X[301:600:2]) != y[301:600:2] for model in (clf, pruned)]
        lost = wrong[1].astype(int) - wrong[0]
        assert lost.sum() <= np.sqrt(lost @ lost) + 1e-9

    def test_where_nothing_can_be_dropped_nothing_is(self):
        X, y = load_diabetes(return_X_y=True)
        reg = MultiBoostRegressor("tree:4", 80).fit(X[:250], y[:250])
        assert prune(reg, X[250:], y[250:], tolerance=0.0).ensemble_.digest() == reg.ensemble_.digest()
        assert prune(reg, X[250:], y[250:], tolerance=0.5).n_iter_ < 80

    def test_refused(self, two_classes):
        X, y = two_classes
        reg = MultiBoostRegressor("stump", 3, loss="absolute").fit(X, X[:, 0])
        with pytest.raises(ValueError, match="regressors with loss='squared'"):
            prune(reg, X, X[:, 0])
        clf = AdaBoostMHClassifier("stump", 5).fit(X, y)
        with pytest.raises(ValueError, match="prune needs at least two rows"):
            prune(clf, X[:1], y[:1])


def test_payoffs_must_be_numbers():
    for bad in ([[]], [1.0, 2.0], [[np.nan]]):
        with pytest.raises(ValueError, match="payoff must be a matrix of finite numbers"):
            solve_game(bad)
