"""Evaluation and reports of regressors: numbers against scikit-learn and NumPy."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from multiboost import (
    LearningCurveDisplay,
    MultiBoostClassifier,
    MultiBoostRegressor,
    additive_shapes,
    evaluate,
    learning_curves,
    load_model,
    staged_evaluation,
    write_report,
)
from multiboost.evaluation import Evaluation, RegressionEvaluation
from multiboost.evaluation.regression import N_BARS, N_DOTS

from .test_report import NASTY, report

LOSSES = ["squared", "absolute", "huber", "quantile", "poisson"]
LEVELS = [0.1, 0.5, 0.9]


def make_numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.exp(0.5 * X[:, 0]) * 3 + (X[:, 1] > 0) + rng.exponential(1.0, n)
    return X, y, rng.uniform(0.2, 2.0, n)


X, Y, W = make_numbers()
X2 = X[200:]


@pytest.fixture(scope="module")
def models():
    """A model of each loss, trained on 200 rows with weights."""
    return {
        loss: MultiBoostRegressor("tree:5", 25, loss=loss, quantile=LEVELS).fit(X[:200], Y[:200], W[:200])
        for loss in LOSSES
    }


@pytest.fixture(scope="module")
def several():
    """Three targets of different sizes, a third of the numbers unknown."""
    targets = pd.DataFrame({"a": Y, "b": 1000 * Y**2, "c": -Y + X[:, 2]})
    targets[np.random.default_rng(1).random(targets.shape) < 0.3] = np.nan
    model = MultiBoostRegressor("tree:5", 20, loss="quantile", quantile=LEVELS).fit(X[:200], targets[:200])
    return model, targets


def middle(predicted):
    return predicted if predicted.ndim == 1 else predicted[:, 1]


class TestNumbers:
    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("weight", [None, W[200:]])
    def test_equal_scikit_learn(self, loss, weight, models):
        e = evaluate(models[loss], X2, Y[200:], weight)
        predicted = middle(models[loss].predict(X2))
        more = {"sample_weight": weight}
        assert isinstance(e, RegressionEvaluation)
        assert e.rmse == pytest.approx(metrics.root_mean_squared_error(Y[200:], predicted, **more))
        assert e.mae == pytest.approx(metrics.mean_absolute_error(Y[200:], predicted, **more))
        assert e.r2 == pytest.approx(metrics.r2_score(Y[200:], predicted, **more))
        mean = np.full(100, np.average(Y[200:], weights=weight))
        assert e.rmse_of_mean == pytest.approx(metrics.root_mean_squared_error(Y[200:], mean, **more))
        assert (e.n_rows, e.n_rounds) == (100, 25)
        assert e.weight == pytest.approx(100 if weight is None else weight.sum())

    @pytest.mark.parametrize("loss", LOSSES)
    def test_risk_and_error_are_those_of_the_history(self, loss, models):
        history = models[loss].history_
        for e in staged_evaluation(models[loss], X[:200], Y[:200], W[:200]):
            assert e.risk == pytest.approx(history["risk"][e.n_rounds - 1], rel=1e-9)
            assert e.error == pytest.approx(history["training_error"][e.n_rounds - 1], rel=1e-9)

    def test_error_of_the_validation_set(self):
        model = MultiBoostRegressor("tree:5", 8).fit(X[:200], Y[:200], validation=(X2, Y[200:], W[200:]))
        found = [e.error for e in staged_evaluation(model, X2, Y[200:], W[200:])]
        assert found == pytest.approx(model.history_["validation_error"].tolist(), rel=1e-9)
        last = evaluate(model, X2, Y[200:], W[200:])
        assert last.error == pytest.approx(1 - last.r2)

    def test_poisson_error_is_deviance_explained(self, models):
        e = evaluate(models["poisson"], X2, Y[200:], W[200:])
        predicted = models["poisson"].predict(X2)
        assert e.error == pytest.approx(
            1 - metrics.d2_tweedie_score(Y[200:], predicted, power=1, sample_weight=W[200:])
        )

    def test_absolute_error_is_relative_to_the_median(self, models):
        e = evaluate(models["absolute"], X2, Y[200:])
        assert e.error == pytest.approx(1 - metrics.d2_absolute_error_score(Y[200:], models["absolute"].predict(X2)))

    def test_a_constant_target_has_no_r2(self, models):
        e = evaluate(models["squared"], X2, np.full(100, 0.1))
        assert e.r2 is None
        assert e.error is None
        assert e.rmse_of_mean == 0
        assert "undefined" in str(e)
        json.loads(e.to_json())


class TestQuantiles:
    @pytest.mark.parametrize("weight", [None, W[200:]])
    def test_pinball_and_coverage(self, weight, models):
        e = evaluate(models["quantile"], X2, Y[200:], weight)
        predicted = models["quantile"].predict(X2)
        w = np.ones(100) if weight is None else weight
        for k, (found, level) in enumerate(zip(e.targets[0].quantiles, LEVELS, strict=True)):
            assert found.level == level
            expected = metrics.mean_pinball_loss(Y[200:], predicted[:, k], alpha=level, sample_weight=weight)
            assert found.pinball == pytest.approx(expected)
            assert found.coverage == pytest.approx(w[Y[200:] <= predicted[:, k]].sum() / w.sum())
        inside = (predicted[:, 0] <= Y[200:]) & (Y[200:] <= predicted[:, 2])
        assert e.coverage == pytest.approx(w[inside].sum() / w.sum())
        assert e.targets[0].width == pytest.approx(np.average(predicted[:, 2] - predicted[:, 0], weights=w))
        assert e.pinball == pytest.approx(np.mean([q.pinball for q in e.targets[0].quantiles]))

    def test_none_where_there_are_none(self, models):
        e = evaluate(models["squared"], X2, Y[200:])
        assert e.pinball is None
        assert e.coverage is None
        assert e.targets[0].quantiles == []
        assert "pinball" not in str(e)


class TestSeveralTargets:
    def test_each_of_the_rows_in_which_it_is_known(self, several):
        model, targets = several
        e = evaluate(model, X2, targets[200:], W[200:])
        predicted = model.predict(X2)
        assert [t.name for t in e.targets] == ["a", "b", "c"]
        for t, name in enumerate("abc"):
            known = targets[name][200:].notna().to_numpy()
            true, w = targets[name][200:][known], W[200:][known]
            found = e.targets[t]
            assert found.n_rows == known.sum()
            assert found.rmse == pytest.approx(
                metrics.root_mean_squared_error(true, predicted[known, t, 1], sample_weight=w)
            )
            assert found.r2 == pytest.approx(metrics.r2_score(true, predicted[known, t, 1], sample_weight=w))
            assert found.quantiles[0].coverage == pytest.approx(w[true <= predicted[known, t, 0]].sum() / w.sum())
        assert e.r2 == pytest.approx(np.mean([t.r2 for t in e.targets]))
        assert e.rmse == pytest.approx(np.mean([t.rmse for t in e.targets]))
        assert e.risk == pytest.approx(sum(t.risk for t in e.targets))

    def test_history(self, several):
        model, targets = several
        e = evaluate(model, X[:200], targets[:200])
        assert e.risk == pytest.approx(model.history_["risk"][-1])
        assert e.error == pytest.approx(model.history_["training_error"][-1])

    def test_what_is_unknown_leaves_no_trace(self, several):
        model, targets = several
        known = targets[200:].copy()
        known["b"] = np.nan
        e = evaluate(model, X2, known)
        assert e.targets[1].rmse is None
        assert e.targets[1].dots is None
        assert e.rmse == pytest.approx(np.mean([e.targets[0].rmse, e.targets[2].rmse]))
        json.loads(e.to_json())

    def test_mistakes_are_compared_in_units_of_the_spread(self, several):
        model, targets = several
        true, predicted = targets[200:].to_numpy(), model.predict(X2)[:, :, 1]
        size = np.abs(true - predicted) / np.nanstd(true, axis=0)
        order = np.argsort(-np.nan_to_num(size, nan=-1.0), axis=None)[:10]
        found = evaluate(model, X2, targets[200:], n_mistakes=10).mistakes
        assert [(m.row, m.target) for m in found] == [(int(k // 3), "abc"[k % 3]) for k in order]
        assert [m.residual for m in found] == pytest.approx((true - predicted).ravel()[order].tolist())


class TestPictures:
    def test_mistakes_have_values(self, models):
        found = evaluate(models["squared"], X2, Y[200:], n_mistakes=5).mistakes
        rest = Y[200:] - models["squared"].predict(X2)
        assert [m.row for m in found] == np.argsort(-np.abs(rest))[:5].tolist()
        assert found[0].values["x0"] == X2[found[0].row, 0]

    def test_dots_and_histogram(self):
        X, y, _ = make_numbers(1500)
        model = MultiBoostRegressor("tree:5", 10).fit(X, y)
        target = evaluate(model, X, y).targets[0]
        predicted = model.predict(X)
        assert len(target.dots.row) == N_DOTS
        np.testing.assert_array_equal(target.dots.predicted, predicted[target.dots.row])
        np.testing.assert_array_equal(target.dots.true, y[target.dots.row])
        assert target.dots.predicted[0] == predicted.min()
        assert target.dots.predicted[-1] == predicted.max()
        bars, rest = target.residuals, y - predicted
        assert len(bars.weight) == N_BARS
        assert sum(bars.weight) + bars.below + bars.above == 1500
        k = 7
        assert bars.weight[k] == np.sum((bars.edges[k] <= rest) & (rest < bars.edges[k + 1]))
        assert evaluate(model, X, y, curves=False).targets[0].dots is None

    def test_learning_curves(self, models):
        c = learning_curves(models["squared"], X2, Y[200:], X_train=X[:200], y_train=Y[:200])
        expected = [1 - metrics.r2_score(Y[200:], p) for p in models["squared"].staged_predict(X2)]
        assert c.error == pytest.approx(expected)
        assert c.measure == "relative error"
        assert c.margins == {}

    def test_display(self, models):
        plt = pytest.importorskip("matplotlib.pyplot")
        display = LearningCurveDisplay.from_estimator(models["squared"], X2, Y[200:])
        assert "relative error" in display.lines_["error"].get_label()
        plt.close("all")

    def test_shapes_add_up(self):
        model = MultiBoostRegressor("stump", 20).fit(X, Y)
        shapes = additive_shapes(model)
        kind = model.model_.kind
        np.testing.assert_allclose(kind.center + kind.scale * shapes(X)[:, 0], model.predict(X))


def test_after_a_file(models, tmp_path):
    for loss, model in models.items():
        model.save(tmp_path / "m.mb")
        again = evaluate(load_model(tmp_path / "m.mb"), X2, Y[200:])
        assert again.to_dict() == evaluate(model, X2, Y[200:]).to_dict(), loss


def test_bad_rows(models, several):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        evaluate(models["squared"], X2, Y)
    with pytest.raises(ValueError, match="y must have 3 columns"):
        evaluate(several[0], X2, Y[200:])
    with pytest.raises(ValueError, match="all weights are zero"):
        evaluate(several[0], X2, np.full((100, 3), np.nan))
    with pytest.raises(ValueError, match="y must hold numbers"):
        evaluate(models["squared"], X2, np.full(100, "a"))


def test_labels_are_still_labels():
    clf = MultiBoostClassifier("stump", 5).fit(X, Y > 4)
    assert isinstance(evaluate(clf, X, Y > 4), Evaluation)


def test_progress_says_what_the_error_is(capsys):
    MultiBoostRegressor("stump", 2, verbose=2).fit(X, Y)
    assert "training relative error" in capsys.readouterr().err


class TestReport:
    def test_numbers(self, models, tmp_path):
        page = report(tmp_path, models["squared"], X2, Y[200:], title="Numbers", X_train=X[:200], y_train=Y[:200])
        predicted = models["squared"].predict(X2)
        found = page.data["evaluation"]
        assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(Y[200:], predicted), rel=1e-5)
        assert found["r2"] == pytest.approx(metrics.r2_score(Y[200:], predicted), rel=1e-5)
        cards = page.one(**{"class": "cards"})["text"]
        assert f"{metrics.root_mean_squared_error(Y[200:], predicted):.4g}" in cards
        assert f"{np.std(Y[200:]):.4g}" in cards
        charts = {e["data-chart"] for e in page.all("svg") if "data-chart" in e}
        assert {"error", "risk", "predicted-0", "residuals-0", "histogram-0"} <= charts
        assert "coverage" not in charts
        ids = {e["id"] for e in page.all("section")}
        assert {"summary", "model", "learning", "predictions", "columns", "rules", "mistakes"} <= ids
        assert not ids & {"confusion", "margins", "labels", "quantiles", "targets"}

    def test_dots_lie_where_they_should(self, models, tmp_path):
        """The picture read back: positions of the dots against predictions."""
        page = report(tmp_path, models["squared"], X2, Y[200:])
        svg = page.one(**{"data-chart": "predicted-0"})
        left, top, width, height = map(float, svg["data-frame"].split())
        low, high = map(float, svg["data-x"].split())
        path = next(e for e in page.all("path") if e.get("data-series") == "predicted")
        drawn = np.array([[float(v) for v in part.removesuffix("h0").split()] for part in path["d"].split("M")[1:]])
        predicted = models["squared"].predict(X2)
        order = np.argsort(predicted, kind="stable")
        x = low + (drawn[:, 0] - left) / width * (high - low)
        y = high - (drawn[:, 1] - top) / height * (high - low)
        np.testing.assert_allclose(x, predicted[order], atol=1e-3 * (high - low))
        np.testing.assert_allclose(y, Y[200:][order], atol=1e-3 * (high - low))

    def test_several_targets_and_quantiles(self, several, tmp_path):
        model, targets = several
        page = report(tmp_path, model, X2, targets[200:])
        assert [t["name"] for t in page.data["targets"]] == ["a", "b", "c"]
        charts = {e["data-chart"] for e in page.all("svg") if "data-chart" in e}
        assert {"predicted-2", "histogram-1", "coverage"} <= charts
        assert "unknown numbers" in page.one(id="model")["text"]
        text = page.one(id="quantiles")["text"]
        for t in page.data["targets"]:
            for q in t["quantiles"]:
                assert f"{t['name']} {q['level']:g}" in text

    @pytest.mark.parametrize("loss", LOSSES)
    def test_every_loss(self, loss, models, tmp_path):
        page = report(tmp_path, models[loss], X2, Y[200:])
        assert loss in page.one(id="model")["text"]

    def test_stumps_and_names_that_try_to_break_out(self, tmp_path):
        frame = pd.DataFrame({NASTY: X[:, 0], "b": np.where(X[:, 1] > 0, "<i>", "]]>")})
        targets = pd.DataFrame({f"<b>{NASTY}": Y, "z": -Y})
        model = MultiBoostRegressor("stump", 15).fit(frame[:200], targets[:200])
        page = report(tmp_path, model, frame[200:], targets[200:])
        assert page.one(id="shapes")
        assert len(page.all("script")) == 2
        assert not page.all("b")

    def test_many_targets_stay_small(self, tmp_path):
        many = np.stack([Y + k * X[:, 0] for k in range(40)], axis=1)
        model = MultiBoostRegressor("stump", 5).fit(X, many)
        page = report(tmp_path, model, X, many)
        assert "10 more targets left out" in page.text
        assert len(page.text) < 1_500_000

    def test_written_whole(self, models, tmp_path):
        with pytest.raises(ValueError, match="inconsistent"):
            write_report(models["squared"], X2, Y, tmp_path / "r.html")
        assert list(tmp_path.iterdir()) == []
