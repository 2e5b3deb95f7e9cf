"""MultiBoostRegressor: leaves, quantiles, unknown targets, defaults, bad input; against NumPy and scikit-learn."""

import json
import warnings

import numba
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import mean_pinball_loss, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from multiboost import (
    Callback,
    EarlyStopping,
    ModelFileError,
    MultiBoostClassifier,
    MultiBoostRegressor,
    load_model,
)
from multiboost.losses import LOSSES as OF_ALL
from multiboost.losses.huber import Huber
from multiboost.plugins import PairLoss, RealLoss, register

from .conftest import shared_data

LOSSES = ("squared", "absolute", "huber", "quantile", "poisson")


def friedman(n=600, seed=0, noise=1.0):
    X, y = make_friedman1(n, 8, noise=noise, random_state=seed)
    return X, y


def quick(base_learner="tree:6", n_estimators=8, **parameters):
    parameters = {"subsample": 1.0, **parameters}
    return MultiBoostRegressor(base_learner, n_estimators, **parameters)


def expected_failures(estimator) -> dict[str, str]:
    """Checks that may fail, with the reason."""
    if estimator.loss != "quantile":
        return {}
    folds = "the offsets of quantiles come from folds of rows, and repeated rows are other folds"
    return {
        "check_sample_weight_equivalence_on_dense_data": folds,
        "check_sample_weight_equivalence_on_sparse_data": folds,
    }


@parametrize_with_checks(
    [
        MultiBoostRegressor(n_estimators=20),
        MultiBoostRegressor("stump", n_estimators=50, loss="absolute"),
        MultiBoostRegressor("tree:4", n_estimators=50, loss="quantile", quantile=0.4),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator, check):
    check(estimator)


class TestLeaves:
    def test_squared_is_hist_gradient_boosting(self):
        """One round with the same bins and leaves."""
        X, y = friedman(300)
        X = X.round(1)  # few values: the same bins in both packages
        ours = quick("tree:6", 1, learning_rate=1.0, ridge=1e-12).fit(X, y).predict(X)
        theirs = HistGradientBoostingRegressor(
            max_iter=1, learning_rate=1.0, max_leaf_nodes=6, min_samples_leaf=1, early_stopping=False
        ).fit(X, y)
        np.testing.assert_allclose(ours, theirs.predict(X), rtol=1e-5)

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize(("loss", "level"), [("absolute", 0.5), ("quantile", 0.3)])
    def test_quantiles_of_the_residuals(self, loss, level, weighted):
        X, y = friedman(400)
        weight = np.random.default_rng(1).integers(1, 4, 400) if weighted else np.ones(400, int)
        reg = quick("tree:5", 1, loss=loss, quantile=level, learning_rate=1.0).fit(X, y, weight)
        F = reg.model_.kind.center[0] + reg.model_.kind.scale[0] * reg._scores(X)[:, 0]  # before the offset
        for value in np.unique(F):
            inside = np.repeat(y[value == F], weight[value == F])
            low, high = np.quantile(inside, level, method="lower"), np.quantile(inside, level, method="higher")
            assert low - 1e-9 <= value <= high + 1e-9
            if loss == "absolute":
                assert value == pytest.approx(np.median(inside), rel=1e-9)

    @pytest.mark.parametrize("loss", ["squared", "absolute", "quantile"])
    def test_the_first_cut_by_brute_force(self, loss):
        """Of all thresholds and all subsets of categories the one with the largest gain."""
        rng = np.random.default_rng(0)
        for nominal in (False, True):
            X = rng.integers(0, 6, (150, 2)).astype(float)
            effect = rng.normal(size=6)
            y = effect[X[:, 1].astype(int)] + 0.3 * X[:, 0] + rng.normal(size=150)
            reg = quick("stump", 1, loss=loss, quantile=0.3, nominal_features=[1] if nominal else None).fit(X, y)
            kind = reg.model_.kind
            rest = (y - kind.center[0]) / kind.scale[0] - reg.ensemble_.initial[0]
            g = rest if loss == "squared" else np.where(rest > 0, 0.3 if loss == "quantile" else 1.0, 0.0)
            if loss != "squared":
                g = g - np.where(rest < 0, 0.7 if loss == "quantile" else 1.0, 0.0)

            def gain(right, g=g):
                return sum(g[side].sum() ** 2 / (side.sum() + 1.0) for side in (right, ~right))  # a ridge of one row

            tried = [gain(X[:, 0] > b) for b in range(5)]
            if nominal:
                tried += [gain(np.isin(X[:, 1], [v for v in range(6) if s >> v & 1])) for s in range(1, 63)]
            else:
                tried += [gain(X[:, 1] > b) for b in range(5)]
            F = reg._scores(X)[:, 0]
            assert gain(F.min() < F) == pytest.approx(max(tried), rel=1e-6)

    def test_huber_minimises_its_loss(self):
        X, y = friedman(400)
        reg = quick("tree:5", 1, loss=Huber(0.3), learning_rate=1.0).fit(X, y)
        delta = 0.3 * reg.model_.kind.scale[0]
        p = reg.predict(X)

        def loss(r):
            return np.where(np.abs(r) <= delta, r * r / 2, delta * (np.abs(r) - delta / 2)).sum()

        for value in np.unique(p):
            inside = y[p == value]
            for move in (-1e-3, 1e-3):
                assert loss(inside - value) <= loss(inside - value - move * delta)

    def test_poisson_leaves_are_means(self):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 3, (900, 2)).astype(float)
        y = rng.poisson(np.exp(0.5 * X[:, 0] - 0.3 * X[:, 1]))
        reg = quick("tree:9", 1, loss="poisson", learning_rate=1.0).fit(X, y)
        p = reg.predict(X)
        for value in np.unique(p):
            assert value == pytest.approx(y[p == value].mean(), rel=0.02)  # one mean count more on both sides


class TestQuantiles:
    def test_they_never_cross(self):
        X, y = friedman(800)
        reg = MultiBoostRegressor("tree:8", 60, loss="quantile", quantile=[0.9, 0.05, 0.1, 0.5, 0.95]).fit(X, y)
        strange = np.random.default_rng(0).normal(size=(100_000, 8)) * 3
        strange[::7, 2] = np.nan
        p = reg.predict(strange)
        assert p.shape == (100_000, 5)
        assert (np.diff(p, axis=1) >= 0).all()

    def test_sorting_never_costs(self):
        """The sum of the pinball losses is not larger than without sorting."""
        X, y = friedman(800)
        levels = [0.45, 0.48, 0.5, 0.52, 0.55]
        reg = MultiBoostRegressor("tree:30", 60, loss="quantile", quantile=levels).fit(X[:400], y[:400])
        kind = reg.model_.kind
        raw = kind.center[0] + kind.scale[0] * (reg._scores(X[400:]) + kind.offset)
        assert (np.diff(raw, axis=1) < 0).any()  # they do cross
        answers = reg.predict(X[400:])
        before, after = (
            sum(mean_pinball_loss(y[400:], p[:, k], alpha=a) for k, a in enumerate(levels)) for p in (raw, answers)
        )
        assert after <= before

    @pytest.mark.parametrize("name", ["kin8nm", "cpu.act", "cal.housing"])
    def test_coverage(self, name):
        from benchmarks.data import file_of, read_arff

        shared_data("arff", "regression")
        _, rows = read_arff(file_of("arff", "regression", f"{name}.arff"))
        rows = rows[np.random.default_rng(0).permutation(len(rows))]
        X, y, train = rows[:, :-1], rows[:, -1], slice(0, 4000)
        levels = [0.1, 0.5, 0.9]
        reg = MultiBoostRegressor(loss="quantile", quantile=levels).fit(X[train], y[train])
        p = reg.predict(X[4000:])
        found = [(y[4000:] <= p[:, k]).mean() for k in range(3)]
        np.testing.assert_allclose(found, levels, atol=0.02)

    def test_shapes(self):
        X, y = friedman(200)
        two = np.stack([y, -y], axis=1)
        for target, quantile, shape in [
            (y, 0.5, (200,)),
            (y, [0.1, 0.9], (200, 2)),
            (two, 0.5, (200, 2)),
            (two, [0.1, 0.5, 0.9], (200, 2, 3)),
        ]:
            reg = quick("stump", 3, loss="quantile", quantile=quantile).fit(X, target)
            assert reg.predict(X).shape == shape


class TestTargets:
    def test_targets_of_any_size_count_alike(self):
        """A target times a million and plus a billion changes nothing but its own unit."""
        X, y = friedman(300)
        both = np.stack([y, 3 * X[:, 0] + X[:, 3]], axis=1)
        a = quick(n_estimators=20).fit(X, both).predict(X)
        b = quick(n_estimators=20).fit(X, both * [1, 2.0**20] + [0, 2.0**30]).predict(X)
        np.testing.assert_allclose(a, (b - [0, 2.0**30]) / [1, 2.0**20], rtol=1e-6)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_unknown_is_weight_zero(self, loss):
        X, y = friedman(300)
        both = np.abs(np.stack([y, y[::-1]], axis=1))
        weight = np.ones(both.shape)
        weight[::3, 0] = 0.0
        known = np.where(weight > 0, both, np.nan)
        reg = quick(loss=loss)
        a = reg.fit(X, known).model_.digest()
        assert a == reg.fit(X, np.where(weight > 0, both, 1e6), target_weight=weight).model_.digest()
        assert a != reg.fit(X, both).model_.digest()

    @pytest.mark.parametrize("loss", LOSSES)
    def test_a_weight_of_two_is_two_rows(self, loss):
        X, y = friedman(200)
        y = np.abs(y)
        weight = np.random.default_rng(0).integers(0, 3, 200)
        reg = quick(loss=loss, max_bins=1000)
        a = reg.fit(X, y, weight)._scores(X)  # without the offsets of quantiles, which come from folds of rows
        b = reg.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))._scores(X)
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-12)

    def test_several_targets_share_their_trees(self):
        X, y = friedman(300)
        reg = quick("stump", 5).fit(X, np.stack([y, -2 * y], axis=1))
        p = reg.predict(X)
        np.testing.assert_allclose(p[:, 1], -2 * p[:, 0], rtol=1e-9)

    def test_names_and_one_column(self):
        X, y = friedman(100)
        reg = quick().fit(X, pd.DataFrame({"height": y, "weight": -y}))
        assert reg.model_.kind.label_names() == ["height", "weight"]
        with pytest.warns(DataConversionWarning):
            assert quick().fit(X, y[:, None]).predict(X).shape == (100,)


@pytest.mark.parametrize("loss", LOSSES)
class TestLikeTheClassifier:
    """Whatever the classifier has, by the same code."""

    def table(self):
        X, y = friedman(300)
        frame = pd.DataFrame(X, columns=list("abcdefgh"))
        frame["kind"] = np.where(X[:, 0] > 0.5, "red", "blue")
        frame.loc[::9, "b"] = np.nan
        return frame, np.abs(y).round(1)

    def test_history_and_validation(self, loss):
        X, y = friedman(400)
        y = np.abs(y)
        reg = quick(loss=loss, n_estimators=12).fit(X[:300], y[:300], validation=(X[300:], y[300:]))
        kind, history = reg.model_.kind, reg.history_
        target = reg._target(kind, y[:300], None, None, training=True)
        for t, scores in enumerate(reg._staged_scores(X[:300])):
            assert history["risk"][t] == pytest.approx(reg.plan_.loss.risk(scores, target), rel=1e-9)
        assert history["training_error"][-1] < history["training_error"][0] < 1.0
        if loss == "squared":
            for part, name in ((slice(300), "training_error"), (slice(300, None), "validation_error")):
                found = [1 - r2_score(y[part], p) for p in reg.staged_predict(X[part])]
                np.testing.assert_allclose(history[name], found, rtol=1e-6)

    def test_file_threads_and_resume(self, loss, tmp_path):
        frame, y = self.table()
        reg = quick(loss=loss, n_jobs=1).fit(frame, y)
        for jobs in (2, 4):
            assert quick(loss=loss, n_jobs=jobs).fit(frame, y).model_.digest() == reg.model_.digest()
        reg.save(tmp_path / "m.mb")
        other = load_model(tmp_path / "m.mb")
        assert isinstance(other, MultiBoostRegressor)
        np.testing.assert_array_equal(other.predict(frame), reg.predict(frame))
        assert other.get_params() == {**reg.get_params(), "n_jobs": None}
        half = quick(loss=loss, n_estimators=4).fit(frame, y, checkpoint=tmp_path / "c.mb")
        resumed = quick(loss=loss).fit(frame, y, resume=tmp_path / "c.mb")
        warm = half.set_params(n_estimators=8, warm_start=True).fit(frame, y)
        if loss != "quantile":  # whose offsets are those of the rounds that were asked for first
            assert resumed.model_.digest() == warm.model_.digest() == reg.model_.digest()
        with pytest.raises(ValueError, match="other data"):
            quick(loss=loss).fit(frame, y + 1, resume=tmp_path / "c.mb")

    def test_an_interrupted_run_goes_on_bit_for_bit(self, loss, tmp_path):
        """Also with the offsets of quantiles, which belong to the rounds that were asked for."""

        class After4(Callback):
            def after_round(self, run):
                return run.n_rounds == 4

        frame, y = self.table()
        levels = [0.2, 0.8]
        whole = quick(loss=loss, quantile=levels).fit(frame, y)
        quick(loss=loss, quantile=levels).fit(frame, y, callbacks=[After4()], checkpoint=tmp_path / "c.mb")
        resumed = quick(loss=loss, quantile=levels).fit(frame, y, resume=tmp_path / "c.mb")
        np.testing.assert_array_equal(resumed.predict(frame), whole.predict(frame))
        assert resumed.model_.digest() == whole.model_.digest()

    def test_sparse_and_single_rows(self, loss):
        X, y = friedman(200)
        y = np.abs(y)
        X[X < 0.4] = 0.0
        reg = quick(loss=loss).fit(sparse.csr_matrix(X), y)
        np.testing.assert_array_equal(reg.predict(sparse.csr_matrix(X)), reg.predict(X))
        one = reg.compiled()
        assert [one.predict(x) for x in X[:5]] == reg.predict(X[:5]).tolist()

    def test_early_stopping(self, loss):
        X, y = friedman(400)
        y = np.abs(y)
        reg = quick(loss=loss, n_estimators=400, learning_rate=0.5)
        reg.fit(X[:200], y[:200], validation=(X[200:], y[200:]), callbacks=[EarlyStopping(10)])
        assert reg.n_iter_ == np.argmin(reg.history_["validation_error"]) + 1 < 390


class TestDefaults:
    def test_deterministic_and_good(self):
        X, y = load_diabetes(return_X_y=True)
        a, b = (MultiBoostRegressor().fit(X[:300], y[:300]) for _ in range(2))
        assert a.model_.digest() == b.model_.digest()
        assert a.score(X[300:], y[300:]) > 0.35
        assert a.n_iter_ == a.plan_.rounds

    def test_noise_gets_fewer_rounds_and_smaller_trees(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3000, 6))
        clean = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] * X[:, 3]
        noisy = X[:, 0] + 8 * rng.normal(size=3000)
        a, b = MultiBoostRegressor().fit(X, clean), MultiBoostRegressor().fit(X, noisy)
        assert a.plan_.base_learner.n_leaves > b.plan_.base_learner.n_leaves == 8
        assert a.n_iter_ > b.n_iter_

    def test_model_selection(self):
        X, y = friedman(200)
        assert cross_val_score(MultiBoostRegressor(n_estimators=20), X, y, cv=3).min() > 0.5
        search = GridSearchCV(quick(), {"base_learner__n_leaves": [3, 6]}, cv=2).fit(X, y)
        assert search.best_score_ > 0.3


class TestBadInput:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"loss": "logistic"}, "loss='logistic' is a loss of labels; MultiBoostRegressor has 'absolute'"),
            ({"loss": "cubed"}, "loss must be one of"),
            ({"loss": "quantile", "quantile": 1.0}, r"quantile must be a number in \(0, 1\) .*got 1.0"),
            ({"loss": "quantile", "quantile": [0.1, 0.1]}, "quantile names a level twice"),
            ({"loss": "quantile", "quantile": []}, "empty list"),
        ],
    )
    def test_parameters(self, parameters, message):
        X, y = friedman(50)
        with pytest.raises(ValueError, match=message):
            MultiBoostRegressor(**parameters).fit(X, y)

    def test_losses_of_numbers_for_classes(self):
        X, y = friedman(50)
        with pytest.raises(ValueError, match="loss='squared' is a loss of numbers; MultiBoostClassifier has"):
            MultiBoostClassifier(loss="squared").fit(X, y > y.mean())

    def test_targets(self):
        X, y = friedman(60)
        for bad, message in [
            (np.where(np.arange(60) == 7, np.inf, y), r"infinity, at \[7\]"),
            (np.where(np.arange(60) == 7, np.nan, y), "NaN, in row 7"),
            (np.stack([y, np.full(60, np.nan)], 1), "column 1 of y has no known value"),
            (np.array(["a", "b"] * 30), "y must hold numbers"),
        ]:
            with pytest.raises(ValueError, match=message):
                quick().fit(X, bad)
        with pytest.raises(ValueError, match="y is constant, 3 in 1 sample: there is nothing to learn"):
            quick().fit(X[:1], np.full(1, 3.0))
        one = quick().fit(X, np.stack([y, np.full(60, 3.0)], 1))  # one of several may be
        assert (one.predict(X)[:, 1] == 3.0).all()
        with pytest.raises(ValueError, match=r"loss='poisson' is for counts, and y\[3\] is -1"):
            quick(loss="poisson").fit(X, np.where(np.arange(60) == 3, -1.0, 1.0))
        with pytest.raises(ValueError, match="target_weight must have the shape of y"):
            quick().fit(X, y, target_weight=np.ones((60, 2)))

    def test_a_loss_from_outside_is_checked(self):
        class Wrong(RealLoss):
            name = "wrong slope"
            value = staticmethod(lambda y, f, a: (y - f) ** 4)
            pull = staticmethod(lambda y, f, a: (y - f) ** 3)
            curvature = staticmethod(lambda y, f, a: 1.0)

        class Nan(Wrong):
            name = "nan"
            pull = staticmethod(lambda y, f, a: float("nan"))

        class Concave(RealLoss):
            name = "concave"
            value = staticmethod(lambda y, f, a: -((y - f) ** 2))
            pull = staticmethod(lambda y, f, a: -2 * (y - f))
            curvature = staticmethod(lambda y, f, a: -2.0)

        X, y = friedman(50)
        for loss, message in [
            (Wrong, "minus the slope of value is"),
            (Nan, "pull.* is nan; it must be finite"),
            (Concave, "curvature.* is -2, below 0"),
        ]:
            with pytest.raises(ValueError, match=message):
                quick(loss=loss()).fit(X, y)

    @pytest.mark.parametrize("late", [False, True])
    def test_a_loss_that_returns_nan_on_these_numbers(self, late):
        """Good at all points that are tried before, and bad where the table is, at the first or at a later round."""

        class Bounded(RealLoss):
            name = "bounded"
            value = staticmethod(lambda y, f, a: 0.5 * (y - f) ** 2 if y < 20 else np.nan)
            pull = staticmethod(lambda y, f, a: y - f if y < 20 else np.nan)
            curvature = staticmethod(lambda y, f, a: 1.0)

        class Later(Bounded):
            name = "later"
            value = staticmethod(lambda y, f, a: 0.5 * (y - f) ** 2 if f < 10 else np.nan)
            pull = staticmethod(lambda y, f, a: y - f if f < 10 else np.nan)

        X, y = friedman(50)
        y[7] = 1e5  # far in units of the spread, too
        loss = Later() if late else Bounded()
        with pytest.raises(ValueError, match=f"loss '{loss.name}': .* is NaN; a loss must be finite"):
            quick("tree:40", 30, loss=loss, learning_rate=1.0).fit(X, y)


@register
class Quartic(RealLoss):
    """A loss of the user's: (y - f)^4 / 4."""

    name = "quartic of a test"

    @staticmethod
    def value(y, f, a):
        return (y - f) ** 4 / 4

    @staticmethod
    def pull(y, f, a):
        return (y - f) ** 3

    @staticmethod
    def curvature(y, f, a):
        return 3 * (y - f) ** 2 + 1e-3


@register
class Savage(PairLoss):
    """A loss of labels of the user's: 1 / (1 + exp(2 y f))^2."""

    name = "savage of a test"

    @staticmethod
    def value(y, f, a):
        return 1 / (1 + np.exp(2 * y * f)) ** 2

    @staticmethod
    def pull(y, f, a):
        e = np.exp(2 * y * f)
        return 4 * y * e / (1 + e) ** 3

    @staticmethod
    def curvature(y, f, a):
        return 0.5


@numba.njit
def gentle_value(y, f, a):
    return np.log(np.cosh(y - f))


class Gentle(RealLoss):
    """Functions that numba has compiled: ln cosh(y - f)."""

    name = "gentle of a test"
    value = staticmethod(gentle_value)
    pull = staticmethod(numba.njit(lambda y, f, a: np.tanh(y - f)))
    curvature = staticmethod(numba.njit(lambda y, f, a: 1 / np.cosh(y - f) ** 2 + 1e-3))


def test_compiled_functions():
    X, y = friedman(300)
    reg = quick(loss=Gentle(), n_estimators=40).fit(X, y)
    assert reg.score(X, y) > 0.7
    target = reg._target(reg.model_.kind, y, None, None, training=True)
    assert reg.history_["risk"][-1] == pytest.approx(reg.plan_.loss.risk(reg._scores(X), target))


def test_losses_of_the_user(tmp_path, monkeypatch):
    X, y = friedman(300)
    reg = quick(loss=Quartic(), n_estimators=40).fit(X, y)
    assert reg.score(X, y) > 0.7
    target = reg._target(reg.model_.kind, y, None, None, training=True)
    assert reg.history_["risk"][-1] == pytest.approx(reg.plan_.loss.risk(reg._scores(X), target))
    best = minimize_scalar(lambda c: ((y - c) ** 4).sum(), (0, 20)).x  # found without a formula
    kind = reg.model_.kind
    assert kind.center[0] + kind.scale[0] * reg.ensemble_.initial[0] == pytest.approx(best, rel=1e-6)
    reg.save(tmp_path / "m.mb")
    np.testing.assert_array_equal(load_model(tmp_path / "m.mb").predict(X), reg.predict(X))
    monkeypatch.delitem(OF_ALL._things, Quartic.name)  # as in a process that has not imported this file
    with pytest.raises(ModelFileError, match=r"m\.mb .*there is no loss 'quartic of a test'; there are 'absolute'"):
        load_model(tmp_path / "m.mb")
    clf = MultiBoostClassifier("tree:4", 30, loss="savage of a test", subsample=1.0).fit(X, y > 14)
    assert clf.score(X, y > 14) > 0.85


def test_plan_is_json():
    X, y = friedman(100)
    reg = quick("stump", 2, loss="quantile", quantile=(0.25, 0.75)).fit(X, y)
    assert json.loads(json.dumps(reg.plan_.to_dict()))["loss"] == {"name": "quantile", "quantile": [0.25, 0.75]}


def test_softmax_by_hand():
    """Three rounds of multi-class LogitBoost: p, working weights and leaf steps in NumPy (Friedman et al. 2000)."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 1)).astype(float)
    y = (X[:, 0] + rng.integers(0, 2, 300)).astype(int) % 3
    clf = MultiBoostClassifier("tree:4", 3, loss="softmax", learning_rate=0.5, ridge=1e-9, subsample=1.0).fit(X, y)
    share = np.bincount(y) / 300 + 1 / 900
    F = np.tile(0.5 * np.log(share) - 0.5 * np.log(share).mean(), (300, 1))
    for found in clf.staged_decision_function(X):
        e = np.exp(2 * F)
        p = e / e.sum(axis=1, keepdims=True)
        for value in range(4):
            rows = X[:, 0] == value
            g, h = (np.eye(3)[y] - p)[rows].sum(axis=0), (2 * p * (1 - p))[rows].sum(axis=0)
            F[rows] += 0.5 * g / h
        np.testing.assert_allclose(found, F, rtol=1e-6, atol=1e-8)


def test_logitboost_by_hand():
    """Working response and weights of algorithm 16.3 for three rounds; f grows by half the weighted mean response."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 1)).astype(float)
    y = rng.random(200) < 0.2 + 0.2 * X[:, 0]
    clf = MultiBoostClassifier("tree:4", 3, loss="logistic", learning_rate=1.0, ridge=1e-9, subsample=1.0).fit(X, y)
    positive = y.mean()
    f = np.full(200, 0.5 * np.log((positive + 1 / 200) / (1 - positive + 1 / 200)))
    for found in clf.staged_decision_function(X):
        pi = 1 / (1 + np.exp(-2 * f))
        z, w = (y - pi) / (pi * (1 - pi)), pi * (1 - pi)
        for value in range(4):
            rows = X[:, 0] == value
            f[rows] += 0.5 * np.average(z[rows], weights=w[rows])
        np.testing.assert_allclose(found, f, rtol=1e-6, atol=1e-8)


def test_no_warnings():
    X, y = friedman(120)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultiBoostRegressor(n_estimators=3).fit(X, y).predict(X)
