"""Median boosting against the algorithm in NumPy, its theorem, and the same file, threads and resume as all others."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from multiboost import (
    AdaBoostMHClassifier,
    EarlyStopping,
    MedianBoostRegressor,
    additive_shapes,
    evaluate,
    export_model,
    load_model,
    write_report,
)
from multiboost.model.medians import weighted_quantiles

from .test_cli import bad, cli, good  # noqa: F401


@parametrize_with_checks([MedianBoostRegressor("tree:8", n_estimators=10)])
def test_scikit_learn(estimator, check):
    check(estimator)


def friedman(n=400, seed=0):
    return make_friedman1(n, 6, noise=1.0, random_state=seed)


def said(reg, X):
    """What each round says of each row, in units of y, (n, T)."""
    kind = reg.model_.kind
    from multiboost.kernels.team import Team

    with Team(1) as team:
        return np.concatenate(
            [kind.center[0] + kind.scale[0] * v for v in reg.model_.rounds(reg.model_.table(X), team)], axis=1
        )


def awards(reg, X, y):
    """theta of every row and round."""
    near = np.abs(said(reg, X) - y[:, None]) - reg.eps_
    assert (np.abs(near) > 1e-9).all()  # no ties that rounding could decide
    return np.where(near < 0, 1.0, -1.0)


class TestTheAlgorithm:
    @pytest.mark.parametrize("gamma", [0.0, 0.2])
    def test_round_by_round(self, gamma):
        """Weights, steps and medians by the paper; what the rounds say is taken from the model."""
        X, y = friedman()
        weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
        reg = MedianBoostRegressor("tree:20", 30, eps=3.0, gamma=gamma).fit(X, y, weight)
        h, theta, w = said(reg, X), awards(reg, X, y), weight / weight.sum()
        bound = 1.0
        for t, alpha in enumerate(reg.history_["alpha"]):
            hit, miss = w[theta[:, t] > 0].sum(), w[theta[:, t] < 0].sum()
            # argmin over a of exp(gamma a) (hit exp(-a) + miss exp(a))
            assert alpha == pytest.approx(0.5 * np.log((1 - gamma) * hit / ((1 + gamma) * miss)), rel=1e-8)
            assert reg.history_["edge"][t] == pytest.approx(hit - miss, abs=1e-9)
            w = w * np.exp(-alpha * theta[:, t])
            bound *= np.exp(gamma * alpha) * w.sum()
            w /= w.sum()
        assert np.prod(reg.history_["Z"]) == pytest.approx(reg.history_["risk"][-1])
        alphas = reg.history_["alpha"]
        for x, p in zip(h[:50], reg.predict(X[:50]), strict=True):
            above = np.array([alphas[x > v].sum() for v in x])
            assert p == pytest.approx(x[above < alphas.sum() / 2].min())
        # The theorem: the band leaves eps on no more than this weight of the rows.
        low, high = reg.predict_band(X).T
        robust = (np.abs(low - y) > reg.eps_) | (np.abs(high - y) > reg.eps_)
        margin = theta @ alphas / alphas.sum()
        assert weight[robust].sum() <= weight[margin <= gamma + 1e-12].sum() <= bound * weight.sum() + 1e-9
        assert (low <= reg.predict(X)).all()
        assert (reg.predict(X) <= high).all()
        share = weight[theta @ alphas <= 0].sum() / weight.sum()
        assert reg.history_["training_error"][-1] == pytest.approx(share)

    def test_the_first_regressor(self):
        """Least squares cuts, and medians in the leaves: scikit-learn's tree on values that both see alike."""
        X, y = friedman(300)
        X = X.round(1)
        reg = MedianBoostRegressor("tree:6", 1, eps=4.0).fit(X, y)
        tree = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, y)
        leaf, p = tree.apply(X), reg.predict(X)
        for number in np.unique(leaf):
            assert len(np.unique(p[leaf == number])) == 1
            assert p[leaf == number][0] == pytest.approx(np.median(y[leaf == number]))

    def test_labels_are_adaboost(self):
        """Of numbers -1 and +1 with stumps, gamma 0 and eps below 2, the steps are AdaBoost's for as long as both cut
        alike: the first round."""
        X, y = friedman(200)
        X, label = X.round(1), np.where(y > np.median(y), 1.0, -1.0)
        reg = MedianBoostRegressor("stump", 1, eps=0.5, gamma=0.0).fit(X, label)
        ada = AdaBoostMHClassifier("stump", 1).fit(X, label)
        assert np.mean(np.sign(reg.predict(X)) == ada.predict(X)) == 1.0
        assert reg.history_["alpha"][0] == pytest.approx(ada.history_["alpha"][0], rel=1e-9)

    def test_eps_is_chosen(self):
        X, y = friedman()
        reg = MedianBoostRegressor("tree:20", 1).fit(X, y)
        assert np.mean(np.abs(y - reg.predict(X)) <= reg.eps_ + 1e-9) == pytest.approx(0.9, abs=0.01)

    def test_it_learns(self):
        X, y = friedman(1400)
        reg = MedianBoostRegressor().fit(X[:1000], y[:1000])
        one = MedianBoostRegressor(n_estimators=1).fit(X[:1000], y[:1000])
        answers = (reg.predict(X[1000:]), one.predict(X[1000:]), np.median(y))
        error, first, best = (np.abs(y[1000:] - p).mean() for p in answers)
        assert error < 0.85 * first < 0.5 * best

    def test_it_ends(self, capsys):
        X, y = friedman()
        reg = MedianBoostRegressor("tree:8", 100, eps=2.5, verbose=1).fit(X, y)
        assert reg.n_iter_ < 20
        assert "no base classifier has an edge above theta = 0.1" in capsys.readouterr().err
        with pytest.raises(ValueError, match=r"nothing can be learned .* no base classifier has a positive edge"):
            MedianBoostRegressor("stump", eps=1e-3).fit(X, y)


def test_weighted_quantiles_by_hand():
    values, weights = np.array([[3.0, 1.0, 2.0, 2.0]]), np.array([1.0, 1.0, 1.0, 1.0])
    assert weighted_quantiles(values, weights, [0.2, 0.25, 0.5, 0.75, 0.8]).tolist() == [[1, 1, 2, 3, 3]]
    assert weighted_quantiles(values, np.array([9.0, 1, 1, 1]), [0.1, 0.5]).tolist() == [[2, 3]]
    assert weighted_quantiles(np.array([[1.0, 2.0]]), np.ones(2), [0.5]).tolist() == [[2]]  # the upper median


class TestLikeAllOthers:
    def test_file_threads_resume_and_stages(self, tmp_path):
        X, y = friedman()
        X[::5, 1] = np.nan
        X[:, 5] = (7 * X[:, 5]).astype(int)
        make = {"base_learner": "tree:12", "gamma": 0.05, "nominal_features": [5]}
        reg = MedianBoostRegressor(n_estimators=16, n_jobs=1, **make).fit(X, y)
        for jobs in (2, 4):
            assert (
                MedianBoostRegressor(n_estimators=16, n_jobs=jobs, **make).fit(X, y).model_.digest()
                == reg.model_.digest()
            )
        reg.save(tmp_path / "m.mb")
        other = load_model(tmp_path / "m.mb")
        assert isinstance(other, MedianBoostRegressor)
        assert other.eps_ == reg.eps_
        np.testing.assert_array_equal(other.predict(X), reg.predict(X))
        np.testing.assert_array_equal(other.predict_band(X), reg.predict_band(X))
        half = MedianBoostRegressor(n_estimators=8, **make).fit(X, y, checkpoint=tmp_path / "c.mb")
        resumed = MedianBoostRegressor(n_estimators=16, **make).fit(X, y, resume=tmp_path / "c.mb")
        warm = half.set_params(n_estimators=16, warm_start=True).fit(X, y)
        assert resumed.model_.digest() == warm.model_.digest() == reg.model_.digest()
        with pytest.raises(ValueError, match="other data"):
            MedianBoostRegressor(n_estimators=16, **make).fit(X, y + np.arange(len(y)), resume=tmp_path / "c.mb")
        staged = list(reg.staged_predict(X))
        np.testing.assert_array_equal(staged[-1], reg.predict(X))
        np.testing.assert_array_equal(staged[7], MedianBoostRegressor(n_estimators=8, **make).fit(X, y).predict(X))

    def test_validation(self):
        X, y = friedman(600)
        make = {"base_learner": "tree:20", "eps": 4.0}
        reg = MedianBoostRegressor(n_estimators=20, **make).fit(X[:400], y[:400], validation=(X[400:], y[400:]))
        theta = awards(reg, X[400:], y[400:])
        expected = [np.mean(theta[:, : t + 1] @ reg.history_["alpha"][: t + 1] <= 0) for t in range(20)]
        np.testing.assert_allclose(reg.history_["validation_error"], expected, atol=1e-12)
        stopped = MedianBoostRegressor(n_estimators=200, **make).fit(
            X[:400], y[:400], validation=(X[400:], y[400:]), callbacks=[EarlyStopping(5, "validation_risk")]
        )
        assert stopped.n_iter_ == np.argmin(stopped.history_["validation_risk"]) + 1

    def test_evaluation_and_report(self, tmp_path):
        X, y = load_diabetes(return_X_y=True)
        reg = MedianBoostRegressor(n_estimators=10).fit(X, y)
        e = evaluate(reg, X, y)
        assert e.mae == pytest.approx(np.abs(y - reg.predict(X)).mean())
        assert e.error == pytest.approx(e.mae / np.abs(y - np.median(y)).mean())
        write_report(reg, X, y, tmp_path / "r.html")
        assert "RMSE" in (tmp_path / "r.html").read_text()

    def test_command_line(self, tmp_path, good, bad):  # noqa: F811
        import pandas as pd

        X, y = friedman(60)
        table = pd.DataFrame(X, columns=list("abcdef"))
        reg = MedianBoostRegressor("tree:4", 5).fit(table, y)
        reg.save(tmp_path / "m.mb")
        table.to_csv(tmp_path / "t.csv", index=False)
        good("predict m.mb t.csv -o p.csv")
        np.testing.assert_array_equal(pd.read_csv(tmp_path / "p.csv")["prediction"], reg.predict(table))
        assert "MedianBoostRegressor" in good("inspect m.mb --json").out

    def test_refused(self):
        X, y = friedman(100)
        with pytest.raises(ValueError, match="takes one target, and y has 2 columns"):
            MedianBoostRegressor().fit(X, np.stack([y, y], axis=1))
        with pytest.raises(ValueError, match="gamma must be at least 0 and below 1"):
            MedianBoostRegressor(gamma=1.0).fit(X, y)
        with pytest.raises(ValueError, match="eps must be a number above 0"):
            MedianBoostRegressor(eps=0.0).fit(X, y)
        reg = MedianBoostRegressor("stump", 3, eps=6.0).fit(X, y)
        with pytest.raises(ValueError, match="weighted median of its rounds, and only sums are compiled"):
            reg.compiled()
        with pytest.raises(ValueError, match="weighted median"):
            additive_shapes(reg)
        with pytest.raises(ValueError, match="targets of the kind 'median' cannot be exported"):
            export_model(reg, "never.c", "c")
        with pytest.raises(ValueError, match=r"quantiles must be numbers in \(0, 1\)"):
            reg.predict_quantiles(X, [0.0])
        with pytest.raises(ValueError, match="'within' is that of MedianBoostRegressor"):
            AdaBoostMHClassifier("within").fit(X, y > 14)
