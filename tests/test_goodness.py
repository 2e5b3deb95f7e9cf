"""Whether a model is any good: constants, intervals, precision and recall, permutation, dependence, remarks."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.inspection import partial_dependence as sklearn_dependence
from sklearn.inspection import permutation_importance

from multiboost import (
    AdaBoostMHClassifier,
    FromClassifier,
    MultiBoostClassifier,
    MultiBoostRegressor,
    evaluate,
    load_model,
    named_importances,
    partial_dependence,
    permutation_importances,
)
from multiboost.evaluation import learning_curves, remarks
from multiboost.evaluation.curves import precision_recall, reliability
from multiboost.evaluation.intervals import bootstrap, effective_rows, mean_ratio, wilson

from .test_report import report

RNG = np.random.default_rng(0)
N, HALF = 400, 200
X = pd.DataFrame(RNG.normal(size=(N, 4)), columns=list("abcd"))
X["kind"] = RNG.choice(["red", "green", "blue"], N)
X.loc[RNG.random(N) < 0.1, "b"] = np.nan
LATENT = X["a"] + np.nan_to_num(X["b"]) + (X["kind"] == "red")
WEIGHT = RNG.uniform(0.2, 2.0, N)
BINARY = np.where(LATENT + RNG.normal(size=N) > 1, "yes", "no")
CLASSES = np.digitize(LATENT + 0.5 * RNG.normal(size=N), [-0.5, 0.8, 1.6])
LABELS = np.stack([LATENT > 1, X["c"] + RNG.normal(size=N) > 0.5, RNG.random(N) > 0.8], axis=1).astype(int)
NUMBERS = LATENT.to_numpy() + 0.5 * RNG.normal(size=N)
NOISE = RNG.integers(0, 2, N)
SMALL = {"base_learner": "tree:4", "n_estimators": 25}


@pytest.fixture(scope="module")
def models():
    targets = {"binary": BINARY, "multiclass": CLASSES, "multilabel": LABELS, "noise": NOISE}
    found = {
        name: (MultiBoostClassifier(**SMALL, loss="logistic").fit(X[:HALF], y[:HALF]), y[HALF:])
        for name, y in targets.items()
    }
    found["numbers"] = (MultiBoostRegressor(**SMALL).fit(X[:HALF], NUMBERS[:HALF]), NUMBERS[HALF:])
    return found


X2, W2 = X[HALF:], WEIGHT[HALF:]


class TestIntervals:
    @pytest.mark.parametrize(("right", "n"), [(0, 7), (3, 10), (250, 300), (12, 12)])
    def test_wilson(self, right, n):
        low, high = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
        found = wilson(right / n, n)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)

    def test_nothing_has_no_interval(self):
        assert wilson(None, 10) is None
        assert wilson(0.5, 0) is None
        assert bootstrap(np.ones((1, 2)), mean_ratio) is None

    def test_effective_rows(self):
        assert effective_rows(np.full(30, 7.0)) == pytest.approx(30)
        assert effective_rows(np.array([1.0, 0.0, 1.0])) == pytest.approx(2)

    @pytest.mark.parametrize("n", [400, 30_000])
    def test_bootstrap_of_a_mean(self, n):
        """Also in blocks, the interval is that of theory, and scipy's where it can be had."""
        values = np.random.default_rng(1).exponential(2.0, n)
        found = bootstrap(np.stack([values, np.ones(n)], axis=1), mean_ratio)
        half = 1.96 * values.std() / np.sqrt(n)
        assert found.high - found.low == pytest.approx(2 * half, rel=0.12)
        assert (found.low + found.high) / 2 == pytest.approx(values.mean(), abs=0.3 * half)
        assert found == bootstrap(np.stack([values, np.ones(n)], axis=1), mean_ratio)
        if n == 400:
            other = stats.bootstrap((values,), np.mean, n_resamples=2000, method="percentile", random_state=0)
            assert found.low == pytest.approx(other.confidence_interval.low, abs=0.2 * half)
            assert found.high == pytest.approx(other.confidence_interval.high, abs=0.2 * half)

    def test_of_an_evaluation(self, models):
        clf, y = models["binary"]
        e = evaluate(clf, X2, y)
        wrong = int((clf.predict(X2) != y).sum())
        low, high = stats.binomtest(wrong, HALF).proportion_ci(0.95, method="wilson")
        assert (e.intervals["error"].low, e.intervals["error"].high) == pytest.approx((low, high))
        assert (e.intervals["error"].method, e.intervals["log_loss"].method) == ("Wilson", "bootstrap")
        lost = -np.log(np.take_along_axis(clf.predict_proba(X2), (y == "yes").astype(int)[:, None], axis=1)[:, 0])
        other = stats.bootstrap((lost,), np.mean, n_resamples=2000, method="percentile", random_state=0)
        width = np.ptp(other.confidence_interval)
        assert e.intervals["log_loss"].low == pytest.approx(other.confidence_interval.low, abs=0.1 * width)
        assert e.intervals["log_loss"].high == pytest.approx(other.confidence_interval.high, abs=0.1 * width)
        assert evaluate(clf, X2, y).intervals == e.intervals

    def test_of_numbers(self, models):
        clf, y = models["numbers"]
        e, predicted = evaluate(clf, X2, y), clf.predict(X2)
        draws = np.random.default_rng(3).integers(0, HALF, (2000, HALF))
        y, rest = y[draws], (y - predicted)[draws]
        for name, values in {
            "rmse": np.sqrt((rest**2).mean(axis=1)),
            "mae": np.abs(rest).mean(axis=1),
            "r2": 1 - (rest**2).mean(axis=1) / y.var(axis=1),
        }.items():
            low, high = np.quantile(values, [0.025, 0.975])
            assert e.intervals[name].low == pytest.approx(low, abs=0.1 * (high - low))
            assert e.intervals[name].high == pytest.approx(high, abs=0.1 * (high - low))


class TestConstant:
    @pytest.mark.parametrize("kind", ["binary", "multiclass"])
    @pytest.mark.parametrize("weight", [None, W2])
    def test_classes(self, models, kind, weight):
        clf, y = models[kind]
        found = evaluate(clf, X2, y, weight).constant
        always = DummyClassifier(strategy="prior").fit(X2, y, weight)
        assert found.answer == str(always.predict(X2)[0])
        assert found.error == pytest.approx(1 - always.score(X2, y, weight))
        guess = always.predict_proba(X2)
        assert found.log_loss == pytest.approx(metrics.log_loss(y, guess, sample_weight=weight))

    def test_labels(self, models):
        clf, y = models["multilabel"]
        e = evaluate(clf, X2, y)
        always = DummyClassifier(strategy="most_frequent").fit(X2, y).predict(X2)
        assert e.constant.hamming_loss == pytest.approx(metrics.hamming_loss(y, always))
        assert e.constant.error == pytest.approx((y != always).any(axis=1).mean())
        assert e.intervals["hamming_loss"].low < e.hamming_loss < e.intervals["hamming_loss"].high

    def test_numbers(self, models):
        clf, y = models["numbers"]
        for weight in (None, W2):
            median = DummyRegressor(strategy="median").fit(X2, y, weight).predict(X2)
            found = evaluate(clf, X2, y, weight)
            assert found.mae_of_median == pytest.approx(
                metrics.mean_absolute_error(y, median, sample_weight=weight), rel=1e-3
            )


class TestClasses:
    @pytest.mark.parametrize("kind", ["binary", "multiclass"])
    def test_precision_recall_and_f1(self, models, kind):
        clf, y = models[kind]
        found = evaluate(clf, X2, y, W2).tasks[0].by_class
        wanted = metrics.precision_recall_fscore_support(
            y, clf.predict(X2), labels=clf.classes_, sample_weight=W2, zero_division=np.nan
        )
        for k, one in enumerate(found):
            assert one.name == str(clf.classes_[k])
            assert (one.precision, one.recall, one.f1, one.weight) == pytest.approx([w[k] for w in wanted])

    def test_curve(self, models):
        clf, y = models["binary"]
        p = clf.predict_proba(X2)[:, 1].round(2)  # with ties
        recall, precision, threshold = precision_recall(y == "yes", p, W2)
        wanted = metrics.precision_recall_curve(y == "yes", p, sample_weight=W2)
        # scikit-learn goes from the lowest threshold, and ends in (1, 0).
        np.testing.assert_allclose(precision, wanted[0][:-1][::-1])
        np.testing.assert_allclose(recall, wanted[1][:-1][::-1])
        np.testing.assert_allclose(threshold, wanted[2][::-1])

    def test_average_precision_and_thresholds(self, models):
        clf, y = models["binary"]
        p, label = clf.predict_proba(X2)[:, 1], evaluate(clf, X2, y, W2).labels[0]
        assert label.average_precision == pytest.approx(
            metrics.average_precision_score(y == "yes", p, sample_weight=W2)
        )
        assert {0.05, 0.5, 0.95} < {t.threshold for t in label.thresholds}
        for t in label.thresholds:
            guess = np.where(p >= t.threshold, "yes", "no")
            wanted = metrics.precision_recall_fscore_support(
                y, guess, average="binary", pos_label="yes", sample_weight=W2, zero_division=np.nan
            )
            ours = [np.nan if v is None else v for v in (t.precision, t.recall, t.f1)]
            np.testing.assert_allclose(ours, wanted[:3])
            assert t.error == pytest.approx(1 - metrics.accuracy_score(y, guess, sample_weight=W2))
            assert t.called == pytest.approx(W2[guess == "yes"].sum() / W2.sum())
            false = (guess == "yes") & (y == "no")
            assert t.false_alarms == pytest.approx(W2[false].sum() / W2[y == "no"].sum())
        best = max(
            metrics.f1_score(y, np.where(p >= t, "yes", "no"), pos_label="yes", sample_weight=W2) for t in np.unique(p)
        )
        assert max(t.f1 for t in label.thresholds) == pytest.approx(best)

    def test_bins_of_reliability_have_enough_rows(self):
        rng = np.random.default_rng(2)
        p = rng.beta(0.3, 2.0, 300)
        positive = rng.random(300) < p
        found = reliability(positive, p, np.ones(300))
        assert min(found.weight) >= 20
        assert (found.low[0], found.high[-1]) == (0.0, 1.0)
        assert found.low[1:] == found.high[:-1]
        for k, low in enumerate(found.low):
            rows = (p > low) & (p <= found.high[k])
            assert (found.weight[k], found.frequency[k]) == pytest.approx((rows.sum(), positive[rows].mean()))
            interval = stats.binomtest(int(positive[rows].sum()), int(rows.sum())).proportion_ci(method="wilson")
            assert (found.frequency_low[k], found.frequency_high[k]) == pytest.approx(tuple(interval), abs=1e-9)
        assert len(reliability(positive[:15], p[:15], np.ones(15)).weight) == 1


class TestColumns:
    @pytest.mark.parametrize("kind", ["binary", "multiclass", "numbers"])
    @pytest.mark.parametrize("weight", [None, W2])
    def test_permutation_is_that_of_scikit_learn(self, models, kind, weight):
        clf, y = models[kind]
        found = permutation_importances(clf, X2, y, weight, columns=range(5), n_repeats=3, random_state=4)
        wanted = permutation_importance(clf, X2, y, n_repeats=3, random_state=4, sample_weight=weight)
        for one in found:
            assert one.name == X.columns[one.column]
            assert one.increase == pytest.approx(wanted.importances_mean[one.column], abs=1e-12)
            assert one.spread == pytest.approx(wanted.importances_std[one.column], abs=1e-12)
        assert [i.increase for i in found] == sorted((i.increase for i in found), reverse=True)

    def test_permutation_of_some_rows(self, models):
        clf, y = models["binary"]
        found = permutation_importances(clf, X2, y, max_rows=50)
        some = np.unique(np.linspace(0, HALF - 1, 50).round().astype(int))
        assert found == permutation_importances(clf, X2.iloc[some], y[some])
        assert {i.name for i in found} == {i.name for i in named_importances(clf)}

    @pytest.mark.parametrize(("kind", "response"), [("binary", "predict_proba"), ("multiclass", "predict_proba")])
    def test_dependence_is_that_of_scikit_learn(self, models, kind, response):
        clf, _ = models[kind]
        rows = X2.astype({"kind": object})
        for found in partial_dependence(clf, X2, [0, 1, 4], n_points=7):
            wanted = sklearn_dependence(
                clf, rows, [found.column], method="brute", response_method=response,
                custom_values={found.column: np.array(found.categories or found.grid)},
            )["average"]  # fmt: skip
            # Of two classes both say the second one.
            np.testing.assert_allclose(np.array(found.values).T, wanted, atol=1e-12)

    def test_dependence_of_numbers(self, models):
        clf, _ = models["numbers"]
        (found,) = partial_dependence(clf, X2, [0], n_points=9, max_rows=60)
        some = X2.iloc[np.unique(np.linspace(0, HALF - 1, 60).round().astype(int))]
        for value, mean in zip(found.grid, found.values, strict=True):
            assert mean == pytest.approx([clf.predict(some.assign(a=value)).mean()])
        assert len(found.grid) == 9

    def test_other_classifiers_are_refused(self):
        from sklearn.tree import DecisionTreeClassifier

        rows = X[["a", "c"]].to_numpy()
        clf = AdaBoostMHClassifier(FromClassifier(DecisionTreeClassifier(max_depth=2)), 3).fit(rows, BINARY)
        with pytest.raises(ValueError, match="permutation_importance"):
            permutation_importances(clf, rows, BINARY)
        with pytest.raises(ValueError, match="partial_dependence"):
            partial_dependence(clf, rows, [0])


def topics(clf, X, y):
    e = evaluate(clf, X, y)
    curves = learning_curves(clf, X, y)
    return {r.topic: r.text for r in remarks(e, named_importances(clf), X.shape[1], curves)}


class TestRemarks:
    @pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel", "numbers"])
    def test_a_good_model(self, models, kind):
        assert not {"no better", "not clearly better", "one column"} & set(topics(models[kind][0], X2, models[kind][1]))

    def test_noise_is_no_better(self, models):
        clf, y = models["noise"]
        found = topics(clf, X2, y)
        (topic,) = {"no better", "not clearly better"} & set(found)
        assert "always answering \u201c" in found[topic]
        e = evaluate(clf, X2, y)
        assert (topic == "no better") == (e.error >= e.constant.error)

    def test_numbers_of_noise(self):
        y = np.random.default_rng(5).normal(size=N)
        clf = MultiBoostRegressor(**SMALL).fit(X[:HALF], y[:HALF])
        found = topics(clf, X2, y[HALF:])
        assert ("no better" in found) == (evaluate(clf, X2, y[HALF:]).error >= 1)
        assert {"no better", "not clearly better"} & set(found)

    @pytest.mark.parametrize("estimator", [MultiBoostClassifier, MultiBoostRegressor])
    def test_a_leak(self, estimator):
        y = BINARY if estimator is MultiBoostClassifier else NUMBERS
        code = (BINARY == "yes") * 2.0 if estimator is MultiBoostClassifier else NUMBERS
        leaky = X.assign(invoice=code)
        clf = estimator(**SMALL).fit(leaky[:HALF], y[:HALF])
        assert "\u201cinvoice\u201d has" in topics(clf, leaky[HALF:], y[HALF:])["one column"]
        alone = estimator(**SMALL).fit(leaky[["invoice"]][:HALF], y[:HALF])
        assert "one column" not in topics(alone, leaky[["invoice"]][HALF:], y[HALF:])

    def test_a_rising_risk(self):
        rng = np.random.default_rng(6)
        rows = rng.normal(size=(400, 3))
        y = (rows[:, 0] + 2 * rng.normal(size=400) > 0).astype(int)
        long = MultiBoostClassifier("tree:8", 150, loss="exponential", learning_rate=0.3).fit(rows[:200], y[:200])
        text = topics(long, rows[200:], y[200:])["risk"]
        curves = learning_curves(long, rows[200:], y[200:])
        assert f"lowest after round {curves.rounds[int(np.argmin(curves.risk))]} " in text
        short = MultiBoostClassifier("stump", 10, loss="logistic").fit(rows[:200], y[:200])
        assert "risk" not in topics(short, rows[200:], y[200:])


class TestPage:
    def test_two_classes(self, models, tmp_path):
        clf, y = models["binary"]
        clf.save(tmp_path / "m.mb")
        page = report(
            tmp_path, load_model(tmp_path / "m.mb"), X2, y, data_file="/some/where/test.csv",
            model_file=tmp_path / "m.mb", date="2026-01-31",
        )  # fmt: skip
        assert page.data["origin"]["page made on"] == "2026-01-31"
        assert page.data["origin"]["rows of this page"] == "test.csv"
        assert page.data["origin"]["model file"] == "m.mb"
        assert page.data["origin"]["trained on"] == f"{HALF} rows"
        for chart in ("roc-0", "precision-recall", "reliability-0", "dependence-0", "dependence-4"):
            (picture,) = page.all("svg", **{"data-chart": chart})
            assert float(picture["viewbox"].split()[2]) >= 320
        e = evaluate(clf, X2, y)
        cards = [d["text"] for d in page.all("dd")]
        assert any(text.startswith("95\u00a0%: ") for text in cards[:2])
        assert page.data["constant"]["error"] == pytest.approx(e.constant.error, rel=1e-5)
        assert page.data["intervals"]["error"]["low"] == pytest.approx(e.intervals["error"].low, rel=1e-5)
        assert "by Wilson" in page.one(id="summary")["text"]
        cells = [e["text"] for e in page.all("th", scope="col")]
        assert {"precision", "recall", "F1", "if shuffled", "from probability", "false alarms"} <= set(cells)
        shuffled = {p["name"]: p["increase"] for p in page.data["permutations"]}
        wanted = permutation_importances(clf, X2, y)
        assert shuffled == pytest.approx({p.name: p.increase for p in wanted}, rel=1e-5, abs=1e-9)

    def test_remarks_come_first(self, models, tmp_path):
        clf, y = models["noise"]
        page = report(tmp_path, clf, X2, y)
        (found,) = [e for e in page.all("p") if (e.get("data-topic") or "").endswith("better")]
        assert "better than always answering" in found["text"]
        assert {r["topic"] for r in page.data["remarks"]} == set(topics(clf, X2, y))

    def test_numbers(self, models, tmp_path):
        clf, y = models["numbers"]
        page = report(tmp_path, clf, X2, y)
        assert [e["id"] for e in page.all("section")][-3:] == ["dependence", "rules", "mistakes"]
        summary = page.one(id="summary")["text"]
        assert "MAE of predicting the median" in summary
        assert "Better than the best constant" in summary
        assert "RMSE by bootstrap" in summary
