"""Numbers, rules and shapes of fitted classifiers, beside scikit-learn's metrics and plain NumPy."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from multiboost import (
    FromClassifier,
    LearningCurveDisplay,
    MarginDistributionDisplay,
    MultiBoostClassifier,
    ShapeDisplay,
    Stump,
)
from multiboost.evaluation import (
    additive_shapes,
    evaluate,
    is_additive,
    learning_curves,
    named_importances,
    round_rules,
    staged_evaluation,
)
from multiboost.evaluation.curves import margins, reliability, thin
from multiboost.evaluation.explain import listed, votes_text
from multiboost.evaluation.learning import milestones, some_rounds

from .conftest import half_weights, make_classes, make_labels, signs_of

KINDS = ("binary", "multiclass", "multilabel", "multitask")


def data(kind, n=300, seed=3):
    """Noisy rows with labels of one kind, and weights, some of them zero."""
    X, Y = make_labels(n, 5, 4, seed=seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, n) * 0.5
    y = {
        "binary": np.where(Y[:, 0] == 1, "yes", "no"),
        "multiclass": np.array(["a", "b", "c", "d"])[Y[:, 0] + 2 * Y[:, 1]],
        "multilabel": Y,
        "multitask": np.stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2] + 5], axis=1),
    }[kind]
    return X, y, weight


@pytest.fixture(scope="module")
def models():
    """One small model per kind of target, trained on half of the rows."""
    found = {}
    for kind in KINDS:
        X, y, _ = data(kind)
        found[kind] = MultiBoostClassifier("tree:4", 12, loss="exponential", subsample=1.0).fit(X[:150], y[:150])
    return found


def hide(y, share=0.3, seed=0):
    """The labels with some of them unknown."""
    y = np.asarray(y, dtype=float).copy()
    y[np.random.default_rng(seed).random(y.shape) < share] = np.nan
    return y


class TestNumbers:
    @pytest.mark.parametrize("kind", KINDS)
    def test_error_is_one_minus_score(self, models, kind):
        X, y, weight = data(kind)
        clf = models[kind]
        assert evaluate(clf, X, y).error == pytest.approx(1 - clf.score(X, y))
        assert evaluate(clf, X, y, weight).error == pytest.approx(1 - clf.score(X, y, weight))

    @pytest.mark.parametrize("kind", ["binary", "multiclass"])
    def test_one_task(self, models, kind):
        X, y, weight = data(kind)
        clf = models[kind]
        found = evaluate(clf, X, y, weight)
        guess, P = clf.predict(X), clf.predict_proba(X)
        task = found.tasks[0]
        assert found.kind == kind
        assert len(found.tasks) == 1
        assert task.classes == list(clf.classes_)
        np.testing.assert_allclose(task.confusion, metrics.confusion_matrix(y, guess, sample_weight=weight))
        balanced = metrics.balanced_accuracy_score(y, guess, sample_weight=weight)
        assert found.balanced_error == task.balanced_error == pytest.approx(1 - balanced)
        assert found.log_loss == task.log_loss == pytest.approx(metrics.log_loss(y, P, sample_weight=weight))
        assert found.error == task.error == pytest.approx(metrics.zero_one_loss(y, guess, sample_weight=weight))

    def test_area_under_the_curve(self, models):
        X, y, weight = data("binary")
        p = models["binary"].predict_proba(X)[:, 1]
        found = evaluate(models["binary"], X, y, weight)
        assert found.auc == pytest.approx(metrics.roc_auc_score(y == "yes", p, sample_weight=weight))
        X, y, weight = data("multiclass")
        P = models["multiclass"].predict_proba(X)
        found = evaluate(models["multiclass"], X, y, weight)
        for k, label in enumerate(found.labels):
            expected = metrics.roc_auc_score(y == label.name, P[:, k], sample_weight=weight)
            assert label.auc == pytest.approx(expected)
            assert label.prevalence == pytest.approx(np.average(y == label.name, weights=weight))
        macro = metrics.roc_auc_score(y, P, multi_class="ovr", sample_weight=weight)
        assert found.auc == pytest.approx(macro)

    def test_several_labels(self, models):
        X, Y, weight = data("multilabel")
        clf = models["multilabel"]
        found = evaluate(clf, X, Y, weight)
        guess, P = clf.predict(X), clf.predict_proba(X)
        assert found.error == pytest.approx(metrics.zero_one_loss(Y, guess, sample_weight=weight))
        assert found.hamming_loss == pytest.approx(metrics.hamming_loss(Y, guess, sample_weight=weight))
        for k, (task, label) in enumerate(zip(found.tasks, found.labels, strict=True)):
            kwargs = {"sample_weight": weight}
            np.testing.assert_allclose(task.confusion, metrics.confusion_matrix(Y[:, k], guess[:, k], **kwargs))
            assert task.log_loss == pytest.approx(metrics.log_loss(Y[:, k], P[:, k], **kwargs))
            assert label.auc == pytest.approx(metrics.roc_auc_score(Y[:, k], P[:, k], **kwargs))
            assert label.error == task.error == pytest.approx(metrics.zero_one_loss(Y[:, k], guess[:, k], **kwargs))
        assert found.log_loss == pytest.approx(np.mean([t.log_loss for t in found.tasks]))

    def test_several_tasks_with_unknown_classes(self, models):
        X, y, weight = data("multitask")
        y = hide(y)
        clf = models["multitask"]
        found = evaluate(clf, X, y, weight)
        P, guess = clf.predict_proba(X), clf.predict(X)
        for t, task in enumerate(found.tasks):
            rows = ~np.isnan(y[:, t])
            true, kwargs = y[rows, t].astype(int), {"sample_weight": weight[rows]}
            assert task.log_loss == pytest.approx(metrics.log_loss(true, P[t][rows], **kwargs))
            np.testing.assert_allclose(task.confusion, metrics.confusion_matrix(true, guess[rows, t], **kwargs))
            for k, c in enumerate(clf.classes_[t]):
                label = found.labels[4 * t + k]
                assert (label.name, label.task) == (f"{t}:{c}", t)
                assert label.auc == pytest.approx(metrics.roc_auc_score(true == c, P[t][rows, k], **kwargs))
        assert found.error == pytest.approx(np.mean([t.error for t in found.tasks]))
        assert found.error == pytest.approx(1 - clf.score(X, y, weight))

    def test_unknown_labels_take_no_part(self, models):
        X, Y, weight = data("multilabel")
        Y = hide(Y)
        clf = models["multilabel"]
        found = evaluate(clf, X, Y, weight)
        known = ~np.isnan(Y)
        wrong = (clf.predict(X) != Y) & known
        assert found.hamming_loss == pytest.approx((weight[:, None] * wrong).sum() / (weight[:, None] * known).sum())
        some = known.any(axis=1)
        assert found.error == pytest.approx(np.average(wrong.any(axis=1)[some], weights=weight[some]))
        for k in range(4):
            rows = known[:, k]
            p = clf.predict_proba(X)[rows, k]
            assert found.labels[k].auc == pytest.approx(
                metrics.roc_auc_score(Y[rows, k], p, sample_weight=weight[rows])
            )

    def test_hamming_loss_of_classes_counts_signs(self, models):
        """(3.10): a class that is not the right one but has a positive score counts, too."""
        X, y, weight = data("multiclass")
        clf = models["multiclass"]
        Y = np.where(y[:, None] == clf.classes_, 1, -1)
        wrong = (clf.decision_function(X) > 0) != (Y > 0)
        assert evaluate(clf, X, y, weight).hamming_loss == pytest.approx(np.average(wrong.mean(axis=1), weights=weight))

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_weight_of_two_is_a_row_twice(self, models, kind):
        X, y, _ = data(kind)
        weight = np.random.default_rng(0).integers(0, 3, len(X))
        rows = np.repeat(np.arange(len(X)), weight)
        weighted, repeated = evaluate(models[kind], X, y, weight), evaluate(models[kind], X[rows], y[rows])
        for name in ("error", "hamming_loss", "balanced_error", "log_loss", "auc", "risk", "weight"):
            assert getattr(weighted, name) == pytest.approx(getattr(repeated, name)), name
        assert weighted.margins.median == pytest.approx(repeated.margins.median)
        np.testing.assert_allclose(weighted.labels[0].roc.tpr, repeated.labels[0].roc.tpr)

    def test_risk_of_the_training_rows(self, models):
        X, y, _ = data("multiclass")
        clf = models["multiclass"]
        Y = signs_of(np.searchsorted(clf.classes_, y[:150]), 4)
        expected = (half_weights(Y) * np.exp(-clf.decision_function(X[:150]) * Y)).sum()
        assert (
            evaluate(clf, X[:150], y[:150]).risk == pytest.approx(expected) == pytest.approx(clf.history_["risk"][-1])
        )
        logistic = MultiBoostClassifier("stump", 5, loss="logistic").fit(X, y)
        assert evaluate(logistic, X, y).risk == pytest.approx(logistic.history_["risk"][-1])

    def test_no_risk_where_training_had_its_own_weights(self):
        X, y, _ = data("binary")
        clf = MultiBoostClassifier("stump", 3, weighting="given").fit(X, y, label_weight=np.ones(len(y)))
        assert evaluate(clf, X, y).risk is None

    def test_undefined_is_none(self, models):
        X, Y, _ = data("multilabel")
        Y = Y.astype(float)
        Y[:, 0], Y[:, 1] = 1.0, np.nan
        found = evaluate(models["multilabel"], X, Y)
        assert found.labels[0].auc is None
        assert found.labels[0].roc is None
        assert found.labels[0].prevalence == 1.0
        gone = found.labels[1]
        assert (gone.auc, gone.prevalence, gone.error, gone.reliability) == (None,) * 4
        assert found.tasks[1].log_loss is None
        assert found.auc == pytest.approx(np.mean([label.auc for label in found.labels[2:]]))
        assert json.loads(found.to_json())["labels"][1]["auc"] is None


class TestCurves:
    def test_receiver_operating_characteristic(self, models):
        X, y, _ = data("binary")
        found = evaluate(models["binary"], X, y).labels[0].roc
        p = models["binary"].predict_proba(X)[:, 1]
        fpr, tpr, threshold = metrics.roc_curve(y == "yes", p, drop_intermediate=False)
        every = {tuple(np.round(point, 9)) for point in zip(threshold[1:], fpr[1:], tpr[1:], strict=True)}
        ours = list(zip(found.threshold, found.fpr, found.tpr, strict=True))
        assert ours[0] == (None, 0.0, 0.0)
        assert {tuple(np.round(point, 9)) for point in ours[1:]} < every
        assert metrics.auc(found.fpr, found.tpr) == pytest.approx(metrics.auc(fpr, tpr))

    def test_reliability(self, models):
        X, y, weight = data("binary")
        p = models["binary"].predict_proba(X)[:, 1]
        found = reliability(y == "yes", p, np.ones(len(y)), enough=1)
        frequency, predicted = calibration_curve(y == "yes", p, n_bins=10)
        np.testing.assert_allclose(found.frequency, frequency)
        np.testing.assert_allclose(found.predicted, predicted)
        weighted = evaluate(models["binary"], X, y, weight, n_bins=4).labels[0].reliability
        for k in range(len(weighted.weight)):
            rows = (p > weighted.low[k]) & (p <= weighted.high[k])
            assert weighted.weight[k] == pytest.approx(weight[rows].sum())
            assert weighted.frequency[k] == pytest.approx(np.average(y[rows] == "yes", weights=weight[rows]))
        gap = np.abs(np.array(weighted.predicted) - weighted.frequency)
        assert weighted.error == pytest.approx(np.average(gap, weights=weighted.weight))

    def test_reliability_of_certain_predictions(self):
        found = reliability(np.array([False, True]), np.array([0.0, 1.0]), np.ones(2), enough=1)
        assert (found.predicted, found.frequency, found.error) == ([0.0, 1.0], [0.0, 1.0], 0.0)

    @pytest.mark.parametrize("kind", KINDS)
    def test_margins_are_those_of_the_classifier(self, models, kind):
        X, y, weight = data(kind)
        clf = models[kind]
        rho = clf.margins(X, y).reshape(len(X), -1)
        w = np.broadcast_to(weight[:, None], rho.shape)
        found = evaluate(clf, X, y, weight).margins
        assert found.mean == pytest.approx(np.average(rho, weights=w))
        assert found.least == pytest.approx(rho[w > 0].min())
        assert found.negative == pytest.approx(np.average(rho < 0, weights=w))
        assert len(found.theta) <= 201
        for theta, share in zip(found.theta, found.share, strict=True):
            # Two margins that differ in their last bits only may or may not be counted as one.
            below, above = (np.average(rho <= theta + slack, weights=w) for slack in (-1e-12, 1e-12))
            assert below - 1e-12 <= share <= above + 1e-12

    def test_many_points_become_few(self):
        x = np.linspace(0, 1, 100_000)
        keep = thin(x, np.sqrt(x), 50)
        assert keep[0] == 0
        assert keep[-1] == len(x) - 1
        assert len(keep) <= 50
        assert np.abs(np.diff(np.sqrt(x)[keep])).max() < 0.05
        np.testing.assert_array_equal(thin(x[:3], x[:3], 50), [0, 1, 2])
        assert margins(np.zeros(0), np.zeros(0)) is None


class TestMistakes:
    @pytest.mark.parametrize("kind", KINDS)
    def test_are_the_rows_with_the_most_negative_margins(self, models, kind):
        X, y, weight = data(kind)
        clf = models[kind]
        found = evaluate(clf, X, y, weight, n_mistakes=10_000).mistakes
        guess = clf.predict(X).reshape(len(X), -1)
        columns = np.asarray(y).reshape(len(X), -1)
        wrong = (guess != columns) & (weight > 0)[:, None]
        assert len(found) == wrong.sum()
        assert [m.margin for m in found] == sorted(m.margin for m in found)
        assert all(-1 <= m.margin <= 0 for m in found)
        names = {"multilabel": ["0", "1", "2", "3"], "multitask": ["task 0", "task 1"]}.get(kind, [""])
        for m in found:
            column = names.index(m.task)
            assert wrong[m.row, column]
            assert (m.true, m.predicted) == (str(columns[m.row, column]), str(guess[m.row, column]))
            assert m.values["x0"] == X[m.row, 0]
        assert evaluate(clf, X, y, weight, n_mistakes=3).mistakes == found[:3]

    def test_margin_and_probability(self, models):
        X, y, _ = data("multiclass")
        clf = models["multiclass"]
        m = evaluate(clf, X, y).mistakes[0]
        F, k = clf.decision_function(X)[m.row], list(clf.classes_).index(m.true)
        expected = (F[k] - np.delete(F, k).max()) / (2 * clf.ensemble_.size.sum())
        assert m.margin == pytest.approx(expected)
        assert m.probability == pytest.approx(clf.predict_proba(X)[m.row, k])

    def test_values_by_name(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"colour": rng.choice(["red", "green", None], 200), "size": rng.normal(size=200)})
        y = ((frame["colour"] == "red") ^ (rng.random(200) < 0.2)).astype(int)
        clf = MultiBoostClassifier("stump", 5).fit(frame, y)
        for m in evaluate(clf, frame, y).mistakes:
            assert m.values["size"] == frame["size"][m.row]
            expected = frame["colour"][m.row]
            assert m.values["colour"] == (expected if isinstance(expected, str) else None)


class TestStaged:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_the_evaluation_of_the_first_rounds(self, models, kind):
        X, y, weight = data(kind)
        clf = models[kind]
        stages = list(staged_evaluation(clf, X, y, weight))
        assert [s.n_rounds for s in stages] == list(range(1, clf.n_estimators_ + 1))
        predicted = [np.asarray(p) for p in clf.staged_predict(X)]
        probability = list(clf.staged_predict_proba(X))
        if kind == "multiclass":
            for s, guess, P in zip(stages, predicted, probability, strict=True):
                assert s.error == pytest.approx(metrics.zero_one_loss(y, guess, sample_weight=weight))
                assert s.log_loss == pytest.approx(metrics.log_loss(y, P, sample_weight=weight))
        last, whole = stages[-1], evaluate(clf, X, y, weight)
        for name in ("error", "hamming_loss", "balanced_error", "log_loss", "auc", "risk"):
            assert getattr(last, name) == pytest.approx(getattr(whole, name))
        assert last.margins is None
        assert last.mistakes == []

    def test_some_rounds(self, models):
        X, y, _ = data("binary")
        clf = models["binary"]
        found = list(staged_evaluation(clf, X, y, rounds=[7, 2], curves=True, n_mistakes=2))
        assert [s.n_rounds for s in found] == [2, 7]
        F = list(clf.staged_decision_function(X))[6]
        rho = F * np.where(y == "yes", 1, -1) / clf.ensemble_.size[:7].sum()
        assert found[1].margins.least == pytest.approx(rho.min())
        assert list(staged_evaluation(clf, X, y, rounds=[])) == []
        with pytest.raises(ValueError, match="from 1 to 12; got 13"):
            list(staged_evaluation(clf, X, y, rounds=[13]))

    def test_learning_curves(self, models):
        X, y, _ = data("multiclass")
        clf = models["multiclass"]
        curves = learning_curves(clf, X[150:], y[150:], X_train=X[:150], y_train=y[:150], margin_rounds=[1, 12])
        assert curves.rounds == list(range(1, 13))
        errors = [np.mean(p != y[150:]) for p in clf.staged_predict(X[150:])]
        np.testing.assert_allclose(curves.error, errors)
        np.testing.assert_allclose(curves.training_error, clf.history_["training_error"])
        np.testing.assert_allclose(curves.bound, clf.history_["risk"], rtol=1e-10)
        np.testing.assert_allclose(curves.bound, np.cumprod(clf.history_["Z"]))
        assert sorted(curves.margins) == sorted(curves.training_margins) == [1, 12]
        alone = learning_curves(clf)
        assert alone.error == alone.risk == []
        np.testing.assert_allclose(alone.training_error, curves.training_error)

    def test_long_runs_are_thinned(self):
        assert some_rounds(7) == [1, 2, 3, 4, 5, 6, 7]
        picked = some_rounds(5000, 100)
        assert (picked[0], picked[-1], len(picked)) == (1, 5000, 100)
        assert milestones(1) == [1]
        assert milestones(200)[-1] == 200


class TestInput:
    def test_frames_and_sparse_matrices(self, models):
        X, Y = make_labels(80, 4, 3)
        clf = MultiBoostClassifier("stump", 4).fit(sp.csr_matrix(X), pd.DataFrame(Y, columns=["a", "b", "c"]))
        found = evaluate(clf, sp.csr_matrix(X), pd.DataFrame(Y))
        assert [t.name for t in found.tasks] == ["a", "b", "c"]
        assert found.error == pytest.approx(1 - clf.score(X, Y))
        assert found.mistakes[0].values["x0"] == pytest.approx(X[found.mistakes[0].row, 0])

    def test_refused(self, models):
        X, y, _ = data("multiclass")
        clf = models["multiclass"]
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            evaluate(clf, X[:10], y)
        with pytest.raises(ValueError, match="a class that was not seen in fit"):
            evaluate(clf, X[:2], ["a", "z"])
        with pytest.raises(ValueError, match="negative"):
            evaluate(clf, X, y, -np.ones(len(X)))

    @pytest.mark.parametrize("kind", KINDS)
    def test_json(self, models, kind):
        X, y, weight = data(kind)
        found = evaluate(models[kind], X, y, weight)
        again = json.loads(found.to_json(indent=1))
        assert again["error"] == found.error
        assert again["tasks"][0]["confusion"] == found.tasks[0].confusion
        assert again["margins"]["theta"] == found.margins.theta
        assert f"error  {found.error:.4f}" in str(found)


def nominal_frame(n=400, seed=0):
    """A number with gaps, a colour with gaps, and three classes that depend on both."""
    rng = np.random.default_rng(seed)
    colour = rng.choice([f"c{k}" for k in range(12)], n)
    size = rng.normal(size=n)
    y = np.where(np.isin(colour, ["c1", "c3", "c8"]), 2, (size > 0.2).astype(int))
    y = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), y)
    frame = pd.DataFrame({"colour": colour, "size": size})
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, y


class TestRules:
    def test_a_stump_in_words(self):
        X = pd.DataFrame({"width": [0.0, 1.0, 2.0, 3.0]})
        clf = MultiBoostClassifier("stump", 1, votes="discrete").fit(X, [0, 0, 1, 1])
        rule = round_rules(clf)[0]
        alpha = clf.history_["alpha"][0]
        assert rule.lines()[0] == f"if width > 1.5 (missing: {rule.terms[0].tests[0].missing})"
        assert str(rule).splitlines()[1] == f"  1: {alpha:+.3g}"
        assert (rule.round, rule.alpha, rule.edge, rule.Z) == (1, alpha, clf.history_["edge"][0], clf.history_["Z"][0])

    @pytest.mark.parametrize("learner", ["stump", "tree:5", "product:2", "tree:4/product:2", "indicator"])
    def test_rules_say_what_the_model_does(self, learner):
        """Walk the rules by their own words on every row, and add up to the scores."""
        frame, y = nominal_frame()
        clf = MultiBoostClassifier(learner, 6).fit(frame, y)
        categories = clf.categories_[0].tolist()
        scores = np.tile(clf.ensemble_.initial, (len(frame), 1))
        for rule in round_rules(clf):
            for i, row in enumerate(frame.itertuples(index=False)):
                total = np.ones(3)
                for term in rule.terms:
                    node = 0 if term.tests else -1
                    while node >= 0:
                        node = answer(term.tests[node], row, categories)
                    total *= term.leaves[~node]
                scores[i] += total
        np.testing.assert_allclose(scores, clf.decision_function(frame), rtol=1e-9)

    def test_long_lists_are_shortened(self):
        assert listed(list("abc")) == "a, b, c"
        assert listed(list("abcdefgh")) == "a, b, c, d, e and 3 more"
        assert votes_text([0.5, 0.5], ["a", "b"]) == "all labels: +0.5"
        assert votes_text([0.1, -0.9, 0.2, 0.3, 0.4], list("abcde")) == "b: -0.9, c: +0.2, d: +0.3, e: +0.4 and 1 more"
        X, y = make_classes(300, 5, 3)
        rule = round_rules(MultiBoostClassifier("tree:20", 1, loss="exponential").fit(X, y))[0]
        lines = rule.lines(max_lines=5)
        assert len(lines) == 6
        assert lines[-1] == f"... {len(rule.lines(10_000)) - 5} more lines"

    def test_shared_exits_are_told_once(self):
        """A product as the cut of a tree's node: both of its ends lead to the same two children."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 3))
        y = ((X[:, 0] > 0.2) ^ (X[:, 1] > -0.3)) * (1 + (X[:, 2] > 0.5))
        clf = MultiBoostClassifier("tree:3/product:2", 10, loss="exponential").fit(X, y)
        shared = [rule for rule in round_rules(clf) if "as in line" in str(rule)]
        assert shared
        for rule in shared:
            lines = rule.lines()
            told = next(line for line in lines if "as in line" in line)
            number, _, condition = told.strip().removeprefix("as in line ").partition(": ")
            assert lines[int(number) - 1].strip().startswith(condition.removesuffix(" ..."))

    def test_a_classifier_has_its_own_name(self):
        X, y = make_classes(100, 3, 2)
        clf = MultiBoostClassifier(FromClassifier(LogisticRegression()), 2, votes="discrete").fit(X, y)
        assert round_rules(clf, [2])[0].lines()[0].startswith("if LogisticRegression 2 says yes")
        assert named_importances(clf) == []

    def test_importances(self):
        X, y = make_classes(200, 4, 3)
        X = np.column_stack([X, np.zeros(200)])
        clf = MultiBoostClassifier("stump", 10).fit(X, y)
        found = named_importances(clf)
        assert "x4" not in [f.name for f in found]
        assert sum(f.share for f in found) == pytest.approx(1)
        assert sum(f.cuts for f in found) == 10
        for f in found:
            assert f.share == clf.feature_importances_[int(f.name[1:])]

    def test_refused(self, models):
        with pytest.raises(ValueError, match="from 1 to 12; got 0"):
            round_rules(models["binary"], [0])


def answer(test, row, categories):
    """Follow a test by reading its text."""
    value = getattr(row, test.column)
    if value is None or value != value:  # noqa: PLR0124
        return test.yes if test.missing == "yes" else test.no
    if " > " in test.text:
        right = value > float(test.text.partition(" > ")[2])
    elif " is in no category" in test.text:
        right = False
    else:
        names = test.text.partition(" is ")[2].removeprefix("one of ").replace(" and ", ", ").split(", ")
        assert set(names) <= set(categories), "twelve categories are listed in full, or the other six are"
        right = value in names
    return test.yes if right else test.no


class TestShapes:
    @pytest.mark.parametrize(
        ("votes", "loss"), [("real", "exponential"), ("discrete", "exponential"), ("real", "logistic")]
    )
    def test_add_up_to_the_scores(self, votes, loss):
        """Also between, on and outside of the thresholds, at missing values and at unseen categories."""
        frame, y = nominal_frame()
        clf = MultiBoostClassifier("stump", 40, votes=votes, loss=loss).fit(frame, y)
        shapes = additive_shapes(clf)
        assert is_additive(clf)
        thresholds = next(s for s in shapes.shapes if s.name == "size").thresholds
        rng = np.random.default_rng(1)
        size = np.concatenate([rng.normal(size=200) * 3, thresholds, np.full(20, np.nan)])
        colour = rng.choice([*(f"c{k}" for k in range(12)), "never seen", None], len(size))
        rows = pd.DataFrame({"colour": colour, "size": size})
        number = {name: k for k, name in enumerate(clf.categories_[0])}
        dense = np.column_stack([[number.get(c, np.nan) for c in colour], size])
        np.testing.assert_allclose(shapes(dense), clf.decision_function(rows), atol=1e-12)

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_of_target(self, kind):
        X, y, _ = data(kind)
        X[::7, 1] = np.nan
        clf = MultiBoostClassifier("stump", 30).fit(X, y)
        F = clf.decision_function(X)
        np.testing.assert_allclose(additive_shapes(clf)(X), F.reshape(len(X), -1), atol=1e-12)

    def test_products_and_trees_of_one_column(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(200, 1))
        y = (np.sin(3 * X[:, 0]) > 0).astype(int) + (X[:, 0] > 1)
        for learner in ("product:2", "tree:5"):
            clf = MultiBoostClassifier(learner, 8).fit(X, y)
            grid = np.concatenate([np.linspace(-4, 4, 501)[:, None], [[np.nan]]])
            np.testing.assert_allclose(additive_shapes(clf)(grid), clf.decision_function(grid), atol=1e-12)

    def test_constant_rounds(self):
        """An indicator with discrete votes may be constant; such rounds are part of the constant."""
        frame = pd.DataFrame({"a": ["u", "v"] * 50})
        y = np.array([0] * 80 + [1] * 20)
        clf = MultiBoostClassifier("indicator", 3, votes="discrete").fit(frame, y)
        shapes = additive_shapes(clf)
        rows = np.array([[0.0], [1.0], [np.nan]])
        F = clf.decision_function(pd.DataFrame({"a": ["u", "v", None]}))
        np.testing.assert_allclose(shapes(rows)[:, 0], F, atol=1e-12)

    def test_refused(self, models):
        assert not is_additive(models["multiclass"])
        with pytest.raises(ValueError, match="round 1 uses more than one column"):
            additive_shapes(models["multiclass"])
        X, y = make_classes(100, 3, 2)
        clf = MultiBoostClassifier(FromClassifier(LogisticRegression()), 2, votes="discrete").fit(X, y)
        with pytest.raises(ValueError, match="the answer of a classifier"):
            additive_shapes(clf)

    def test_the_most_important_column_comes_first(self):
        X, y = make_classes(200, 4, 3)
        clf = MultiBoostClassifier(Stump(), 20).fit(X, y)
        assert [s.name for s in additive_shapes(clf).shapes] == [f.name for f in named_importances(clf)]


class TestDisplays:
    @pytest.fixture(autouse=True)
    def _no_screen(self):
        matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
        matplotlib.use("Agg")
        yield
        matplotlib.pyplot.close("all")

    def test_learning_curves(self, models):
        X, y, _ = data("multiclass")
        clf = models["multiclass"]
        display = LearningCurveDisplay.from_estimator(clf, X[150:], y[150:])
        assert set(display.lines_) == {"training_error", "error", "training_risk", "risk", "bound"}
        np.testing.assert_allclose(display.lines_["bound"].get_ydata(), np.cumprod(clf.history_["Z"]))
        errors = [np.mean(p != y[150:]) for p in clf.staged_predict(X[150:])]
        np.testing.assert_allclose(display.lines_["error"].get_ydata(), errors)
        again = display.plot(ax=display.ax_, show=("error",))
        assert again.figure_ is display.ax_.figure
        assert set(again.lines_) == {"training_error", "error"}
        assert set(LearningCurveDisplay.from_estimator(clf).lines_) == {"training_error", "training_risk", "bound"}
        with pytest.raises(ValueError, match="got 'speed'"):
            display.plot(show=("speed",))

    def test_margins(self, models):
        X, y, _ = data("binary")
        display = MarginDistributionDisplay.from_estimator(models["binary"], X, y, rounds=[1, 12])
        assert list(display.lines_) == [1, 12]
        rho = models["binary"].margins(X, y)
        line = display.lines_[12]
        for theta, share in zip(line.get_xdata()[1:], line.get_ydata()[1:], strict=True):
            assert share == pytest.approx(np.mean(rho <= theta + 1e-12))
        assert list(MarginDistributionDisplay.from_estimator(models["binary"], X, y).lines_)[-1] == 12

    def test_shapes(self):
        frame, y = nominal_frame()
        clf = MultiBoostClassifier("stump", 20).fit(frame, y)
        shapes = {s.name: s for s in additive_shapes(clf).shapes}
        display = ShapeDisplay.from_estimator(clf, "size")
        np.testing.assert_allclose(display.lines_["1"].get_data().values, shapes["size"].values[:, 1])
        display = ShapeDisplay.from_estimator(clf, 0, labels=["2"])
        np.testing.assert_allclose(display.lines_["2"].get_ydata()[:-1], shapes["colour"].values[:, 2])
        assert [t.get_text() for t in display.ax_.get_xticklabels()][-1] == "missing"
        with pytest.raises(ValueError, match="no round uses the column 'shape'"):
            ShapeDisplay.from_estimator(clf, "shape")
        with pytest.raises(ValueError, match="there is no label '7'"):
            display.plot(labels=["7"])

    def test_without_matplotlib(self, models, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=r'pip install "multiboost\[plot\]"'):
            LearningCurveDisplay.from_estimator(models["binary"])
