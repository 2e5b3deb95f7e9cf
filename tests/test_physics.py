"""Significance beside limits and brute force; thresholds; rates that hold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score

from multiboost import AdaBoostMHClassifier, MultiBoostClassifier, SoftCascadeClassifier
from multiboost.physics import (
    CRITERIA,
    Significance,
    ThresholdChoice,
    TriggerThreshold,
    ams2,
    ams3,
    asimov,
    feature_costs,
    luminosity_weights,
    rate_bound,
    roc,
    s_over_sqrt_b,
    s_over_sqrt_sb,
)


class TestSignificance:
    def test_by_hand(self):
        """With mpmath-free logarithms of longdouble."""
        s, b = np.longdouble(30), np.longdouble(50)
        assert s_over_sqrt_b(30, 50) == pytest.approx(float(s / np.sqrt(b)), rel=1e-15)
        assert s_over_sqrt_sb(30, 50) == pytest.approx(float(s / np.sqrt(s + b)), rel=1e-15)
        assert ams3(30, 50) == pytest.approx(float(s / np.sqrt(b + 10)), rel=1e-15)
        wide = np.sqrt(2 * ((s + b + 10) * np.log(1 + s / (b + 10)) - s))
        assert ams2(30, 50) == pytest.approx(float(wide), rel=1e-14)

    @pytest.mark.parametrize("b_reg", [0.0, 10.0])
    def test_ams2_is_s_over_sqrt_b_for_little_signal(self, b_reg):
        """AMS2 = s / sqrt(b') (1 - r / 6 + ...), r = s / b'."""
        b = 1e4
        for s in 10.0 ** np.arange(-8, 3):
            limit = s / np.sqrt(b + b_reg)
            r = s / (b + b_reg)
            assert ams2(s, b, b_reg) == pytest.approx(limit * (1 - r / 6), rel=r**2 + 1e-14)

    def test_no_step_where_the_series_ends(self):
        r = np.linspace(0.9e-3, 1.1e-3, 101)
        slope = np.diff(ams2(r * 1e6, 1e6, 0.0))
        assert np.ptp(slope) / slope.mean() < 1e-4

    def test_asimov(self):
        assert asimov(30, 50, 0.0) == ams2(30, 50, 0.0)
        np.testing.assert_allclose(asimov(30, 50, 1e-6), ams2(30, 50, 0.0), rtol=1e-6)
        s, b, v = 30.0, 50.0, (0.2 * 50.0) ** 2
        first = (s + b) * np.log((s + b) * (b + v) / (b**2 + (s + b) * v))
        second = b**2 / v * np.log(1 + v * s / (b * (b + v)))
        assert asimov(s, b, 0.2) == pytest.approx(np.sqrt(2 * (first - second)), rel=1e-12)
        # For little signal it is s / sqrt(b + v).
        assert asimov(0.01, b, 0.2) == pytest.approx(0.01 / np.sqrt(b + v), rel=1e-3)

    def test_where_there_is_nothing(self):
        for name in CRITERIA:
            criterion = Significance(name, b_reg=0.0, sigma=0.1)
            np.testing.assert_array_equal(criterion([0.0, -1.0, 1.0, 1.0], [1.0, 1.0, 0.0, -1.0]),
                                          [0.0, 0.0, np.nan, np.nan])  # fmt: skip
        with pytest.raises(ValueError, match="there is no criterion 'z'"):
            Significance("z")
        with pytest.raises(ValueError, match="not negative"):
            Significance("ams2", b_reg=-1)

    def test_luminosity(self):
        y, w = np.array([1, 1, 0, 0, 0]), np.array([2.0, 2.0, 3.0, -1.0, 2.0])
        found = luminosity_weights(y, w, signal=10.0, background=100.0)
        np.testing.assert_allclose(found, [5.0, 5.0, 75.0, -25.0, 50.0])
        with pytest.raises(ValueError, match="weights of the background add up to -1"):
            luminosity_weights(y, [1, 1, 1, -3, 1], signal=1, background=1)
        with pytest.raises(ValueError, match="signal must be a number of events above 0; got -1"):
            luminosity_weights(y, w, signal=-1, background=1)
        with pytest.raises(ValueError, match="1 \\(or True\\) for signal"):
            luminosity_weights([1, 2], signal=1, background=1)


def events(n=400, seed=0, ties=True, signed=False):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    scores = rng.normal(size=n) + 1.5 * y
    scores = np.round(scores, 1) if ties else scores
    weight = np.where(y, 0.05, 1.0) * rng.random(n)
    if signed:
        weight[rng.random(n) < 0.1] *= -1
    return scores, y, weight


class TestRoc:
    def test_is_scikit_learns(self):
        scores, y, weight = events()
        assert roc(scores, y, weight).auc == pytest.approx(roc_auc_score(y, scores, sample_weight=weight), rel=1e-12)

    def test_area_of_signed_weights_is_that_of_pairs(self):
        scores, y, weight = events(signed=True)
        right = (scores[y][:, None] > scores[~y]) + 0.5 * (scores[y][:, None] == scores[~y])
        pairs = weight[y][:, None] * weight[~y]
        assert roc(scores, y, weight).auc == pytest.approx((pairs * right).sum() / pairs.sum(), rel=1e-12)

    def test_efficiency_and_rejection(self):
        scores, y, weight = events()
        curve = roc(scores, y, weight)
        for t, e, r in zip(curve.threshold, curve.efficiency, curve.rejection, strict=True):
            assert e == pytest.approx(weight[y & (scores > t)].sum() / weight[y].sum())
            assert r == pytest.approx(weight[~y & (scores <= t)].sum() / weight[~y].sum(), abs=1e-12)

    def test_neighbouring_numbers(self):
        """No number lies between them; the threshold still tells them apart."""
        scores = np.array([1.0, np.nextafter(1.0, 2.0), 1.0, -1.7e308, 1.7e308])
        curve = roc(scores, [0, 1, 1, 0, 1])
        assert [(scores > t).sum() for t in curve.threshold] == [0, 1, 2, 4, 5]


class TestThresholdChoice:
    @pytest.mark.parametrize("name", CRITERIA)
    @pytest.mark.parametrize("signed", [False, True])
    def test_is_brute_force(self, name, signed):
        """Over every distinct score, one by one."""
        scores, y, weight = events(signed=signed)
        criterion = Significance(name, sigma=0.1)
        found = ThresholdChoice(criterion, n_resamples=20).choose(scores, y, weight)
        best = -np.inf
        for t in [-np.inf, *np.unique(scores)]:
            chosen = scores > t
            value = criterion(weight[chosen & y].sum(), weight[chosen & ~y].sum())
            best = value if value > best else best
        assert found.significance == pytest.approx(best, rel=1e-12)
        chosen = scores > found.threshold
        assert found.s == pytest.approx(weight[chosen & y].sum())
        assert found.b == pytest.approx(weight[chosen & ~y].sum())

    def test_the_band_is_that_of_new_samples(self):
        """At a fixed threshold, the spread over fresh samples is about that of the bootstrap."""
        scores, y, weight = events(3000, ties=False)
        weight = luminosity_weights(y, weight, signal=50, background=1000)
        found = ThresholdChoice("ams2", n_resamples=300).choose(scores, y, weight)
        fresh = []
        for seed in range(1, 200):
            f, z, w = events(3000, seed, ties=False)
            w = luminosity_weights(z, w, signal=50, background=1000)
            chosen = f > found.threshold
            fresh.append(ams2(w[chosen & z].sum(), w[chosen & ~z].sum()))
        low, high = np.percentile(fresh, [16, 84])
        assert 0.6 < (found.high - found.low) / (high - low) < 1.6
        assert found.plateau[0] <= found.threshold <= found.plateau[1]
        assert found.thresholds[0] <= found.thresholds[1]

    def test_same_seed_same_band(self):
        given = events()
        one, two = (ThresholdChoice(n_resamples=30, random_state=3).choose(*given) for _ in range(2))
        assert (one.low, one.high, one.thresholds) == (two.low, two.high, two.thresholds)

    def test_picture(self):
        pytest.importorskip("matplotlib").use("Agg")
        ax = ThresholdChoice(n_resamples=10).choose(*events()).plot()
        assert ax.get_xlabel() == "threshold"

    def test_bad_input(self):
        scores, y, weight = events()
        with pytest.raises(ValueError, match=r"scores must have a finite number.*; got nan for event 7$"):
            ThresholdChoice().choose(np.where(np.arange(len(y)) == 7, np.nan, scores), y)
        with pytest.raises(ValueError, match=r"weight must have a finite number.*; got the shape \(5,\)"):
            ThresholdChoice().choose(scores, y, weight[:5])
        with pytest.raises(ValueError, match="signal must add up to more than 0"):
            ThresholdChoice().choose(scores, np.zeros(len(y)))
        with pytest.raises(ValueError, match="n_resamples"):
            ThresholdChoice(n_resamples=0)


class TestTrigger:
    def test_bound(self):
        """Beside the definition: a rate at the bound gives so few events with a chance of 5 %."""
        from scipy.stats import binom

        for k, n in ((0, 100), (3, 1000), (40, 500)):
            assert binom.cdf(k, n, rate_bound(k, n)) == pytest.approx(0.05, rel=1e-9)
        assert rate_bound(7, 7) == 1.0

    def test_is_the_lowest_threshold(self):
        rng = np.random.default_rng(0)
        background = rng.normal(size=2000)
        found = TriggerThreshold(0.01).choose(background, background + 2)
        allowed = [t for t in background if rate_bound((background > t).sum(), 2000) <= 0.01]
        assert found.threshold == min(allowed)
        assert found.bound <= 0.01
        assert found.efficiency == (background + 2 > found.threshold).mean()

    @pytest.mark.parametrize("max_rate", [0.05, 0.01])
    def test_the_rate_holds_in_95_of_100(self, max_rate):
        """Scores are uniform: the true rate above t is 1 - t. Of 1000 resamplings, 3 standard deviations below 950."""
        rng = np.random.default_rng(0)
        held = sum(1 - TriggerThreshold(max_rate).choose(rng.random(2000)).threshold <= max_rate for _ in range(1000))
        assert held >= 950 - 3 * np.sqrt(1000 * 0.95 * 0.05)

    def test_ties_and_few_events(self):
        found = TriggerThreshold(0.1).choose(np.repeat([0.0, 1.0], 50))
        assert (found.n_accepted, found.threshold) == (0, 1.0)
        rule = TriggerThreshold(1e-3)
        assert rule.least_background == 2995
        with pytest.raises(ValueError, match="needs at least 2995 background events; got 100"):
            rule.choose(np.arange(100.0))
        TriggerThreshold(1e-3).choose(np.arange(2995.0))
        with pytest.raises(ValueError, match=r"max_rate must be between 0 and 1; got 1\.5"):
            TriggerThreshold(1.5)
        with pytest.raises(ValueError, match="background must be scores"):
            rule.choose([np.nan])


class TestCosts:
    """Beside the columns of the stumps that were evaluated, and beside what functions of features were asked."""

    @pytest.fixture
    def events(self):
        return make_classification(400, 8, n_informative=5, random_state=0)

    def test_of_a_cascade(self, events):
        X, y = events
        cascade = SoftCascadeClassifier(AdaBoostMHClassifier("stump", 30), target_tpr=0.9).fit(X, y)
        column = cascade.model_.ensemble.feature  # a stump is one test
        cost = np.arange(1.0, 9.0) ** 2
        expected = [cost[np.unique(column[:n])].sum() for n in cascade.n_evaluated(X)]
        assert feature_costs(cascade, X, dict(enumerate(cost))) == pytest.approx(expected, rel=1e-12)
        assert len(set(expected)) > 2

    def test_of_trees(self, events):
        """Of a frame, by name; only what is asked for on the way of a row."""
        X, y = events
        frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
        clf = MultiBoostClassifier("tree:4", 3, loss="logistic", calibration=None).fit(frame, y)
        found = clf.predict_lazy(X, {name: lambda row, j=j: row[j] for j, name in enumerate("abcd")})
        np.testing.assert_array_equal(clf.features_needed(frame).sum(axis=0), list(found.calls.values()))
        cost = {"a": 1.0, "c": 100.0}
        assert feature_costs(clf, frame, cost).sum() == found.calls["a"] + 100 * found.calls["c"]

    def test_bad_input(self, events):
        X, y = events
        clf = AdaBoostMHClassifier("stump", 2).fit(X, y)
        with pytest.raises(ValueError, match="there is no column 8"):
            feature_costs(clf, X, {8: 1.0})
        with pytest.raises(ValueError, match="costs must be finite and not negative"):
            feature_costs(clf, X, {0: -1.0})
