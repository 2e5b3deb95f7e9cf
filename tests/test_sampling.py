"""Rounds that see a part of the samples."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from multiboost import AdaBoostMHClassifier, FromClassifier

from .conftest import make_classes, make_levels
from .test_invariance import KINDS, LEARNERS, boost, each_kind, same_bits


def table_of(form: str, n: int = 2500):
    """Continuous columns with missing values; the same sparse; or with a nominal column of many categories."""
    X, y = make_classes(n, 8, 4)
    rng = np.random.default_rng(3)
    if form == "sparse":
        return sp.csr_array(np.where(rng.random(X.shape) < 0.7, 0.0, X)), y
    X[rng.random(X.shape) < 0.05] = np.nan
    if form == "nominal":
        frame = pd.DataFrame(X, columns=list("abcdefgh"))
        frame["city"] = pd.Categorical([f"c{k}" for k in (7 * y + rng.integers(0, 40, n)) % 60])
        return frame, y
    return X, y


def risk_of(clf, X, y) -> float:
    """sum W0 exp(-F Y) or sum W0 log(1 + exp(-2 F Y)) over all samples, weights (3.12), from public scores."""
    Y = np.where(clf.classes_ == np.asarray(y)[:, None], 1.0, -1.0)
    W = np.where(Y > 0, 0.5, 0.5 / (len(clf.classes_) - 1)) / len(y)
    margin = clf.decision_function(X) * Y
    return float((W * (np.exp(-margin) if clf.loss_ == "exponential" else np.logaddexp(0, -2 * margin))).sum())


@each_kind
@pytest.mark.parametrize("form", ["dense", "sparse", "nominal"])
@pytest.mark.parametrize("base_learner", LEARNERS)
def test_scores_of_samples_that_were_not_seen(kind, form, base_learner):
    """Error and risk of training, which know leaves of bins, are those of the model's predictions."""
    X, y = table_of(form)
    clf = boost(X, y, kind, base_learner, 6, subsample=0.3)
    assert clf.subsample_ == 0.3
    assert clf.history_["training_error"][-1] == pytest.approx(np.mean(clf.predict(X) != y), abs=1e-12)
    assert clf.history_["risk"][-1] == pytest.approx(risk_of(clf, X, y), rel=1e-9)
    assert np.isnan(clf.history_["Z"]).all()


def test_classifiers_as_base_learners():
    X, y = make_classes(600, 5, 3)
    for base_learner in (FromClassifier(LogisticRegression()), "tree:4"):
        clf = AdaBoostMHClassifier(base_learner, 5, loss="exponential", subsample=0.5).fit(X, y)
        assert clf.history_["training_error"][-1] == pytest.approx(np.mean(clf.predict(X) != y), abs=1e-12)


def edge_of(clf, X, y, weight) -> float:
    """sum W0 Y sign(h) of a model of one round, weights (3.12), over all samples."""
    Y = np.where(clf.classes_ == y[:, None], 1.0, -1.0)
    W = np.where(Y > 0, 1 / 2, 1 / 2 / (len(clf.classes_) - 1)) * (weight / weight.sum())[:, None]
    return float((W * Y * np.where(clf.decision_function(X) > 0, 1, -1)).sum())


@pytest.mark.parametrize("base_learner", ["stump", "product:2", "tree:5"])
def test_first_round_is_that_of_its_samples(base_learner):
    """The same cuts and votes as a round on a table of these samples alone; the coefficient is that of all samples."""
    X, y = make_levels(1200, 5, 3, n_levels=40)
    weight = np.random.default_rng(5).uniform(0.5, 1.5, 1200)  # no ties
    clf = AdaBoostMHClassifier(base_learner, 1, votes="discrete", subsample=0.5, random_state=4).fit(X, y, weight)
    rows = np.sort(np.random.default_rng((4, 0)).permutation(1200)[:600])
    alone = AdaBoostMHClassifier(base_learner, 1, votes="discrete").fit(X[rows], y[rows], weight[rows])
    np.testing.assert_array_equal(clf.decision_function(X[rows]) > 0, alone.decision_function(X[rows]) > 0)
    edge = edge_of(clf, X, y, weight)
    assert edge < alone.history_["edge"][0]
    assert clf.history_["edge"][0] == pytest.approx(edge, rel=1e-9)
    assert clf.history_["alpha"][0] == pytest.approx(0.5 * np.log((1 + edge) / (1 - edge)), rel=1e-9)


def test_edge_of_real_votes_is_that_of_all_samples():
    X, y = make_levels(1200, 5, 3, n_levels=40)
    clf = AdaBoostMHClassifier("tree:6", 1, loss="exponential", subsample=0.3).fit(X, y)
    assert clf.history_["edge"][0] == pytest.approx(edge_of(clf, X, y, np.ones(1200)), rel=1e-9)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_real_votes_come_from_the_sample(loss):
    """Leaves of a stump: half the log odds, or the Newton step, of the samples of the round."""
    X, y = make_levels(900, 4, 2, n_levels=30)
    clf = AdaBoostMHClassifier("stump", 1, loss=loss, learning_rate=1.0, subsample=0.4, random_state=1).fit(X, y)
    rows = np.random.default_rng((1, 0)).permutation(900)[:360]
    sample, labels = X[rows], y[rows]
    start = AdaBoostMHClassifier("stump", 1, loss=loss, learning_rate=1e-12, random_state=1).fit(X, y)
    before = start.decision_function(X)[0]
    change = clf.decision_function(sample) - before
    for value in np.unique(change):
        inside = np.isclose(change, value)
        Y = np.where(labels[inside] == 1, 1.0, -1.0)
        if loss == "exponential":
            plus, minus = (Y > 0).sum() / 900, (Y < 0).sum() / 900
            expected = 0.5 * np.log((2 * plus + 1 / 900) / (2 * minus + 1 / 900))
        else:
            p = 1 / (1 + np.exp(-2 * before))
            pull, curvature = np.where(Y > 0, 1 - p, -p).sum(), inside.sum() * 2 * p * (1 - p)
            expected = pull / (curvature + 1)
        assert value == pytest.approx(expected, rel=1e-6)


@each_kind
@pytest.mark.parametrize("base_learner", LEARNERS)
def test_threads_and_interruptions_leave_no_trace(kind, base_learner):
    X, y = table_of("dense", 6000)
    whole = boost(X, y, kind, base_learner, 5, subsample=0.6, n_jobs=1)
    same_bits(whole, boost(X, y, kind, base_learner, 5, subsample=0.6, n_jobs=3), X)
    parts = boost(X, y, kind, base_learner, 2, subsample=0.6, warm_start=True)
    same_bits(whole, parts.set_params(n_estimators=5).fit(X, y), X)
    for name in ("edge", "alpha", "risk", "training_error"):
        assert whole.history_[name].tobytes() == parts.history_[name].tobytes(), name


def test_every_round_draws_anew():
    """A column that is noise but for one row in a hundred is cut differently from round to round."""
    X, y = make_classes(400, 3, 2)
    a, b = (
        AdaBoostMHClassifier("stump", 1, loss="exponential", subsample=0.2, random_state=k).fit(X, y) for k in (0, 1)
    )
    assert a.ensemble_.digest() != b.ensemble_.digest()
    edges = (
        AdaBoostMHClassifier("stump", 6, loss="exponential", learning_rate=1e-9, subsample=0.2)
        .fit(X, y)
        .history_["edge"]
    )
    assert np.unique(edges).size == 6


def test_all_samples_are_no_sample():
    X, y = make_classes(300, 3, 3)
    for kind in KINDS:
        same_bits(boost(X, y, kind), boost(X, y, kind, subsample=1.0), X)


def test_one_sample():
    """At least one sample is seen; where it teaches nothing, the round sees all."""
    X, y = make_classes(40, 3, 2)
    for base_learner in ("stump", "tree:4"):
        clf = AdaBoostMHClassifier(base_learner, 5, loss="logistic", subsample=0.001).fit(X, y)
        assert clf.n_estimators_ == 5
        assert np.isfinite(clf.decision_function(X)).all()


@each_kind
@pytest.mark.parametrize("base_learner", ["stump", "product:2", "tree:4"])
def test_a_bad_sample_does_not_end_training(kind, base_learner):
    """Eight of a thousand labels are positive: many samples have none of them."""
    X = np.random.default_rng(0).normal(size=(1000, 3))
    X[:8, 0] += 3
    y = (np.arange(1000) < 8).astype(int)
    assert boost(X, y, kind, base_learner, 40, subsample=0.1).n_estimators_ == 40


def test_trees_that_know_their_samples_by_heart():
    """Their coefficient is not that of a perfect classifier."""
    X, y = make_levels(300, 6, 2, n_levels=20)
    clf = AdaBoostMHClassifier("tree:40", 60, votes="discrete", subsample=0.5).fit(X, y)
    assert clf.n_estimators_ == 60
    assert clf.history_["edge"].min() > 0
    assert clf.history_["edge"].max() < 1
    assert clf.history_["risk"].max() < 1


@each_kind
@pytest.mark.parametrize("larger", [0, 1])
def test_values_that_are_missing_outside_the_sample_only(kind, larger):
    """They go with the larger side, in training as in prediction."""
    x = np.arange(200.0)
    y = (x >= 180).astype(int) if larger == 0 else (x >= 20).astype(int)
    seed = next(k for k in range(100) if 100 not in np.random.default_rng((k, 0)).permutation(200)[:160])
    x[100] = np.nan
    clf = boost(x[:, None], y, kind, "stump", 1, subsample=0.8, random_state=seed)
    assert clf.predict([[np.nan]]) == larger
    assert clf.history_["training_error"][0] == pytest.approx(np.mean(clf.predict(x[:, None]) != y), abs=1e-12)


def test_shares_of_any_type_can_be_resumed(tmp_path):
    X, y = make_classes(200, 3, 2)
    for share in (1, np.float32(0.5), np.float64(0.5)):
        path = tmp_path / f"{type(share).__name__}.mb"
        boost(X, y, "real", n_rounds=2, subsample=share, learning_rate=1, fit={"checkpoint": path})
        clf = boost(
            X, y, "real", n_rounds=4, subsample=share, learning_rate=1, fit={"checkpoint": path, "resume": True}
        )
        same_bits(clf, boost(X, y, "real", n_rounds=4, subsample=share, learning_rate=1), X)
