"""Samples of negative weight: what cancels, what is kept, and whether the true density is found."""

import json

import numpy as np
import pandas as pd
import pytest

from multiboost import (
    AdaBoostMHClassifier,
    Callback,
    MultiBoostClassifier,
    MultiBoostRegressor,
    evaluate,
    load_model,
    staged_evaluation,
    write_report,
)
from multiboost.data.signed import NothingLeft, annihilated
from multiboost.physics import roc

from .conftest import make_classes
from .test_cli import cli  # noqa: F401  a fixture

N = 4000  # events of a density
RULES = ("ignore", "annihilate", "keep")


def mixture(n: int, seed: int = 0):
    """Class 0 is N(0, 1), class 1 is N((1.2, -0.6), 1); so is the net density.

    Class 0 has as many events again of a blob, half of them with the weight 1 and half with the weight -1.
    """
    rng = np.random.default_rng(seed)
    blob = rng.normal(0.7, 0.6, size=(n, 2))
    X = np.concatenate([rng.normal(size=(n, 2)), blob, rng.normal([1.2, -0.6], size=(n, 2))])
    weight = np.concatenate([np.ones(n), np.repeat([1.0, -1.0], [n // 2, n - n // 2]), np.ones(n)])
    return X, np.repeat([0, 0, 1], n), weight


def log_ratio(X):
    """ln of the density of class 1 over that of class 0."""
    return X @ [1.2, -0.6] - (1.2**2 + 0.6**2) / 2


@pytest.fixture(scope="module")
def events():
    X, y, weight = mixture(1000)
    X = np.column_stack([X, np.random.default_rng(1).integers(0, 5, len(y))])
    X[::37, 0] = np.nan
    return X, np.array([False, False, True]), y, weight


class TestAnnihilated:
    def test_sums_stay(self, events):
        """Nothing is negative; classes weigh what they did; classes without negative weights are not touched."""
        found = annihilated(events[0].copy(), *events[1:])
        _, _, y, weight = events
        assert (found >= 0).all()
        assert (found[weight < 0] == 0).all()
        np.testing.assert_allclose(np.bincount(y, found), np.bincount(y, weight), rtol=1e-12)
        np.testing.assert_array_equal(found[y == 1], 1.0)

    def test_where_the_blob_is(self, events):
        """A box that is far larger than a cell has nearly the sum that it had, though most weights are others."""
        X, nominal, y, weight = events
        found = annihilated(X.copy(), nominal, y, weight)
        for box in ((X[:, 0] > 0.7) & (y == 0), (X[:, 1] < 0.2) & (y == 0), (X[:, 0] > 0) & (X[:, 1] > 0) & (y == 0)):
            left, before = found[box].sum(), weight[box].sum()
            assert abs(left - before) < 1.5 * np.sqrt(box.sum())
            assert abs(np.maximum(weight[box], 0).sum() - before) > 2 * abs(left - before)

    def test_one_cell_by_hand(self):
        weight = np.array([1.0, 2.0, 3.0, -2.0, 5.0, -1.0, 4.0])
        group = np.array([0, 0, 0, 0, 1, 1, 2])
        found = annihilated(np.zeros((7, 1)), np.array([False]), group, weight)
        np.testing.assert_allclose(found, [4 / 6, 8 / 6, 2, 0, 4, 0, 4])

    def test_units_names_and_order_leave_no_trace(self, events):
        X, nominal, y, weight = events
        found = annihilated(X.copy(), nominal, y, weight)
        other = X.copy()
        other[:, 0], other[:, 2] = np.exp(X[:, 0]), np.array([3, 1, 4, 0, 2.0])[X[:, 2].astype(int)]
        np.testing.assert_array_equal(annihilated(other, nominal, y, weight), found)
        order = np.random.default_rng(2).permutation(len(y))
        np.testing.assert_allclose(annihilated(X[order], nominal, y[order], weight[order]), found[order], rtol=1e-12)

    def test_nothing_left(self):
        with pytest.raises(NothingLeft, match="the weights of group 3 add up to -1"):
            annihilated(np.zeros((3, 1)), np.array([False]), np.array([1, 3, 3]), np.array([1.0, 1.0, -2.0]))


@pytest.fixture(scope="module")
def distance():
    """Root mean squared distance of twice the score from the log ratio, by rule and loss."""
    X, y, weight = mixture(N)
    rng = np.random.default_rng(9)
    new = np.concatenate([rng.normal(size=(2000, 2)), rng.normal([1.2, -0.6], size=(2000, 2))])

    def measured(clf):
        clf.fit(X, y, sample_weight=weight)
        return float(np.sqrt(np.mean((2 * clf.decision_function(new) - log_ratio(new)) ** 2)))

    found = {}
    for rule in RULES:
        trees = MultiBoostClassifier("tree:8", 50, loss="logistic", calibration=None, negative_weights=rule)
        found["logistic", rule] = measured(trees)
        found["discrete", rule] = measured(AdaBoostMHClassifier("stump", 60, negative_weights=rule))
    return found


class TestTruth:
    """The net density is known, so the best score is known, too."""

    @pytest.mark.parametrize("loss", ["logistic", "discrete"])
    @pytest.mark.parametrize("rule", ["annihilate", "keep"])
    def test_the_score_is_near_the_log_ratio(self, loss, rule, distance):
        """Ignoring negative weights misses it by a blob: by more than 0.5."""
        assert distance[loss, "ignore"] > 0.5
        assert distance[loss, rule] < 0.36

    def test_probabilities_are_those_of_the_net_density(self):
        X, y, weight = mixture(N)
        clf = MultiBoostClassifier("tree:8", 50, loss="logistic", negative_weights="keep").fit(X, y, weight)
        p, new = clf.predict_proba(X)[:, 1], y == 1
        truth = 1 / (1 + np.exp(-log_ratio(X)))
        assert clf.calibration_.name == "quadratic"
        assert np.sqrt(np.mean((p[new] - truth[new]) ** 2)) < 0.08


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classes(300, 4, 3)
    weight = np.where(np.arange(len(y)) % 7 == 0, -0.5, 1.0 + np.arange(len(y)) % 3)
    clf = MultiBoostClassifier(
        "tree:4", 12, loss="logistic", learning_rate=0.3, subsample=1.0, weighting="uniform",
        negative_weights="keep", calibration=None,
    )  # fmt: skip
    return X, y, weight, clf.fit(X, y, sample_weight=weight, validation=(X[:200], y[:200], weight[:200]))


class TestKeep:
    """G, risks and errors by NumPy."""

    @staticmethod
    def losses(clf, X, y):
        margin = clf.decision_function(X) * np.where(y[:, None] == clf.classes_, 1, -1)
        return np.log1p(np.exp(-2 * margin)).mean(axis=1)

    def test_risk(self, fitted):
        X, y, weight, clf = fitted
        share = weight / np.abs(weight).sum()
        assert clf.history_["risk"][-1] == pytest.approx(share @ self.losses(clf, X, y), rel=1e-12)
        share = weight[:200] / np.abs(weight[:200]).sum()
        assert clf.history_["validation_risk"][-1] == pytest.approx(share @ self.losses(clf, X[:200], y[:200]))

    def test_error(self, fitted):
        X, y, weight, clf = fitted
        wrong = clf.predict(X) != y
        assert clf.history_["training_error"][-1] == pytest.approx(weight @ wrong / weight.sum(), rel=1e-12)
        expected = weight[:200] @ wrong[:200] / weight[:200].sum()
        assert clf.history_["validation_error"][-1] == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("loss", ["exponential", "logistic", "softmax"])
    def test_pull(self, loss):
        """Minus the slope of the signed risk, by differences."""
        X, y = make_classes(60, 4, 3)
        weight = np.where(np.arange(60) % 5 == 0, -1.0, 1.0)
        seen = {}

        class Watch(Callback):
            def after_round(self, run):
                seen.update(pull=run.pull.copy(), scores=run.scores.copy(), target=run.target, loss=run.plan.loss)
                return False

        MultiBoostClassifier(
            "stump", 4, loss=loss, subsample=1.0, learning_rate=0.2, calibration=None, negative_weights="keep"
        ).fit(X, y, sample_weight=weight, callbacks=[Watch()])
        target, scores = seen["target"], seen["scores"]
        slope = np.empty_like(scores)
        for at in np.ndindex(*scores.shape):
            near = scores.copy(), scores.copy()
            near[0][at] += 1e-5
            near[1][at] -= 1e-5
            slope[at] = (seen["loss"].signed_risk(near[1], target) - seen["loss"].signed_risk(near[0], target)) / 2e-5
        scale = np.abs(slope).sum() / np.abs(seen["pull"]).sum()
        np.testing.assert_allclose(seen["pull"] * scale, slope, atol=1e-8)
        known = np.sign(seen["pull"]) * np.where(y[:, None] == np.unique(y), 1, -1)
        assert (known == np.sign(weight)[:, None]).all()

    def test_the_best_stump_by_brute_force(self):
        """Discrete votes: the edge of the first round is the largest of all, with signed weights."""
        X, y, weight = mixture(40)
        clf = AdaBoostMHClassifier("stump", 1, negative_weights="keep").fit(X, y, sample_weight=weight)
        pull = weight * np.where(y == 1, 1, -1) / np.abs(weight).sum()
        edges = [abs(pull @ np.where(x > t, 1, -1)) for x in X.T for t in x]
        assert clf.history_["edge"][0] == pytest.approx(max(edges), rel=1e-12)
        assert clf.decision_function(X) == pytest.approx(
            np.arctanh(max(edges)) * np.sign(clf.decision_function(X)), rel=1e-9
        )

    def test_exponentials_that_run_away_are_stopped(self):
        """The exponential loss has no minimum: what is won by samples of negative weight is nothing."""
        X, y, weight = mixture(150)
        clf = MultiBoostClassifier("tree:8", 100, loss="exponential", negative_weights="keep", calibration=None)
        clf.fit(X, y, sample_weight=weight)
        assert clf.n_iter_ < 100
        assert clf.model_.stopped.startswith("the loss of the samples of negative weight is larger")
        assert (clf.history_["risk"][:-1] >= 0).all()

    def test_auto_is_not_exponential(self):
        X, y, weight = mixture(150)
        assert MultiBoostClassifier(n_estimators=3, negative_weights="keep").fit(X, y, weight).loss_ == "logistic"

    def test_threads_and_resumed_runs(self, tmp_path):
        X, y, weight = mixture(700)
        parameters = {"loss": "logistic", "calibration": None, "negative_weights": "keep"}
        clf = MultiBoostClassifier("tree:4", 6, n_jobs=1, **parameters).fit(X, y, weight)
        short = MultiBoostClassifier("tree:4", 3, n_jobs=2, **parameters)
        short.fit(X, y, weight, checkpoint=tmp_path / "c.mb")
        on = MultiBoostClassifier("tree:4", 6, n_jobs=2, **parameters).fit(X, y, weight, resume=tmp_path / "c.mb")
        assert on.ensemble_.digest() == clf.ensemble_.digest()
        with pytest.raises(ValueError, match="labels or weights"):
            MultiBoostClassifier("tree:4", 6, **parameters).fit(X, y, np.abs(weight), resume=tmp_path / "c.mb")


def area_of_pairs(score, positive, weight):
    """Pair by pair."""
    right = (score[positive][:, None] > score[~positive]) + 0.5 * (score[positive][:, None] == score[~positive])
    pairs = weight[positive][:, None] * weight[~positive]
    return (pairs * right).sum() / pairs.sum()


class TestEvaluate:
    """Ratios of sums of signed weights, by NumPy."""

    def test_classes(self, fitted):
        X, y, weight, clf = fitted
        found, P, guess = evaluate(clf, X, y, weight), clf.predict_proba(X), clf.predict(X)
        total, true = weight.sum(), np.eye(3)[y]
        assert found.error == pytest.approx(weight @ (guess != y) / total)
        assert found.log_loss == pytest.approx(-weight @ np.log(P[np.arange(len(y)), y]) / total)
        assert found.brier == pytest.approx(weight @ ((P - true) ** 2).sum(axis=1) / total)
        recalls = [weight @ ((guess == k) & (y == k)) / (weight @ (y == k)) for k in range(3)]
        assert found.balanced_error == pytest.approx(1 - np.mean(recalls))
        confusion = [[weight @ ((y == i) & (guess == j)) for j in range(3)] for i in range(3)]
        np.testing.assert_allclose(found.tasks[0].confusion, confusion)
        for k, label in enumerate(found.labels):
            assert label.auc == pytest.approx(area_of_pairs(P[:, k], y == k, weight))
            assert label.prevalence == pytest.approx(weight @ (y == k) / total)
        assert found.intervals["error"].method == "bootstrap"
        assert found.intervals["error"].low < found.error < found.intervals["error"].high

    def test_is_what_the_history_says(self, fitted):
        X, y, weight, clf = fitted
        staged = list(staged_evaluation(clf, X[:200], y[:200], weight[:200]))
        assert [e.error for e in staged] == pytest.approx(clf.history_["validation_error"])
        assert [e.risk for e in staged] == pytest.approx(clf.history_["validation_risk"])

    def test_two_classes_are_as_physics_has_them(self):
        X, y, weight = mixture(300)
        clf = AdaBoostMHClassifier("stump", 10).fit(X, y)
        found = evaluate(clf, X, y, weight)
        assert found.auc == pytest.approx(roc(clf.decision_function(X), y, weight).auc, rel=1e-12)
        assert found.auc == pytest.approx(area_of_pairs(clf.decision_function(X), y == 1, weight), rel=1e-12)

    def test_labels(self):
        X, y, weight = mixture(200)
        Y = np.stack([y, X[:, 0] > 0], axis=1)
        clf = MultiBoostClassifier("stump", 5, loss="logistic", calibration=None).fit(X, Y)
        found = evaluate(clf, X, Y, weight)
        wrong = clf.predict(X) != Y
        assert found.hamming_loss == pytest.approx(weight @ wrong.sum(axis=1) / (2 * weight.sum()))
        assert found.error == pytest.approx(weight @ wrong.any(axis=1) / weight.sum())

    def test_what_needs_positive_weights_is_not_there(self, fitted):
        X, y, weight, clf = fitted
        found = evaluate(clf, X, y, weight)
        assert (found.ece, found.reliability, found.margins) == (None, None, None)
        for label in found.labels:
            assert (label.average_precision, label.precision_recall, label.reliability) == (None, None, None)
            assert label.thresholds == []
        assert "ece" not in found.headline()
        assert "undefined" in str(found)

    def test_refusals(self, fitted, tmp_path):
        X, y, weight, clf = fitted
        with pytest.raises(ValueError, match="a report knows no negative weights; evaluate"):
            write_report(clf, X, y, tmp_path / "r.html", sample_weight=weight)
        with pytest.raises(ValueError, match="the weights of the class 2 add up to -"):
            evaluate(clf, X, y, np.where(y == 2, -1.0, 1.0))


@pytest.mark.parametrize("rule", RULES)
def test_without_negative_weights_nothing_changes(rule):
    X, y = make_classes(200, 4, 3)
    weight = 1.0 + np.arange(200) % 3
    plain, other = (
        MultiBoostClassifier("tree:4", 5, loss="logistic", calibration=None, **more).fit(X, y, sample_weight=weight)
        for more in ({}, {"negative_weights": rule})
    )
    assert plain.ensemble_.digest() == other.ensemble_.digest()


def test_ignored_samples_are_no_samples():
    X, y, weight = mixture(200)
    clf = AdaBoostMHClassifier("stump", 5, negative_weights="ignore").fit(X, y, sample_weight=weight)
    rest = weight > 0
    alone = AdaBoostMHClassifier("stump", 5).fit(X[rest], y[rest], sample_weight=weight[rest])
    np.testing.assert_array_equal(clf.ensemble_.feature, alone.ensemble_.feature)
    np.testing.assert_array_equal(clf.ensemble_.threshold, alone.ensemble_.threshold)
    # Sums over all rows are added up in pieces, which begin at other rows.
    np.testing.assert_allclose(clf.decision_function(X), alone.decision_function(X), rtol=1e-10)


def test_labels_and_tasks():
    """Samples cancel with those that have the same labels."""
    X, y, weight = mixture(300)
    Y = np.stack([y, X[:, 0] > 0], axis=1)
    for rule in ("annihilate", "keep"):
        clf = MultiBoostClassifier("tree:4", 4, loss="logistic", negative_weights=rule).fit(X, Y, sample_weight=weight)
        assert clf.predict(X).shape == Y.shape


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("error", r"sample_weight\[2\] is negative \(-1.0\); negative_weights says .*'ignore' .*'annihilate' .*'keep'"),
        ("annihilate", "the weights of the class 1 add up to -1; a density has a sum above 0"),
        ("keep", "the weights of the class 1 add up to -1; a density has a sum above 0"),
        ("flip", "negative_weights must be one of 'error', 'ignore', 'annihilate', 'keep'; got 'flip'"),
    ],
)
def test_bad_input(rule, told):
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 1, 0, 0, 1])
    weight = np.array([1.0, 1, -1, 1, 1, -1])
    with pytest.raises(ValueError, match=told):
        AdaBoostMHClassifier("stump", 2, negative_weights=rule).fit(X, y, sample_weight=weight)


def test_others_have_no_choice():
    X, y, weight = mixture(20)
    with pytest.raises(ValueError, match=r"sample_weight\[\d+\] is negative \(-1.0\); a weight is at least 0"):
        MultiBoostRegressor("stump", 2).fit(X, y, sample_weight=weight)


def test_command_line(cli, tmp_path):  # noqa: F811
    X, y, weight = mixture(200)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "w": weight, "y": y}).to_csv(tmp_path / "events.csv", index=False)
    train = ["train", "events.csv", "--target", "y", "--weight", "w", "--rounds", "5", "--base", "stump",
             "--loss", "logistic", "--out", "m.mb"]  # fmt: skip
    done = cli(train)
    assert done.code == 2
    assert "holds -1 in row" in done.err
    assert "--negative-weights" in done.err
    done = cli([*train, "--negative-weights", "annihilate", "--valid-fraction", "0.2", "--quiet"])
    assert done.code == 0, done.err
    done = cli([*train, "--negative-weights", "keep", "--report", "r.html"])
    assert done.code == 2
    assert "--report knows no negative weights" in done.err
    done = cli([*train, "--negative-weights", "keep", "--test", "events.csv", "--json"])
    told = json.loads(done.out)["test"]
    done = cli("evaluate m.mb events.csv --json")  # the weights are those of the training
    found = json.loads(done.out)
    assert found["error"] == told["error"]
    guess = load_model(tmp_path / "m.mb").predict(pd.DataFrame(X, columns=["a", "b"]))
    assert found["error"] == pytest.approx(weight @ (guess != y) / weight.sum())
    assert cli("evaluate m.mb events.csv").code == 0
    assert cli("evaluate m.mb events.csv --staged").code == 0
    done = cli("report m.mb events.csv --out r.html")
    assert done.code == 2
    assert "train --negative-weights and evaluate know others" in done.err
