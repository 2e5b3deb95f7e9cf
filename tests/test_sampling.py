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


@pytest.mark.parametrize("base_learner", ["stump", "product:2", "tree:5"])
def test_first_round_is_that_of_its_samples(base_learner):
    """The same columns, votes and coefficient as a round on a table of these samples alone."""
    X, y = make_levels(1200, 5, 3, n_levels=40)
    weight = np.random.default_rng(5).uniform(0.5, 1.5, 1200)  # no ties
    clf = AdaBoostMHClassifier(base_learner, 1, votes="discrete", subsample=0.5, random_state=4).fit(X, y, weight)
    rows = np.sort(np.random.default_rng((4, 0)).permutation(1200)[:600])
    alone = AdaBoostMHClassifier(base_learner, 1, votes="discrete").fit(X[rows], y[rows], weight[rows])
    assert clf.history_["alpha"][0] == pytest.approx(alone.history_["alpha"][0], rel=1e-9)
    assert clf.history_["edge"][0] == pytest.approx(alone.history_["edge"][0], rel=1e-9)
    np.testing.assert_allclose(clf.decision_function(X[rows]), alone.decision_function(X[rows]), rtol=1e-9)


def test_edge_of_real_votes_is_that_of_the_samples():
    X, y = make_levels(1200, 5, 3, n_levels=40)
    clf = AdaBoostMHClassifier("tree:6", 1, loss="exponential", subsample=0.3).fit(X, y)
    rows = np.random.default_rng((0, 0)).permutation(1200)[:360]
    Y = np.where(clf.classes_ == y[rows, None], 1.0, -1.0)
    W = np.where(Y > 0, 1 / 2, 1 / 4) / 360
    sign = np.where(clf.decision_function(X[rows]) > 0, 1, -1)
    assert clf.history_["edge"][0] == pytest.approx((W * Y * sign).sum(), rel=1e-9)


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
    """At least one sample is seen; with one there is nothing to cut."""
    X, y = make_classes(40, 3, 2)
    clf = AdaBoostMHClassifier("tree:4", 5, loss="logistic", subsample=0.001).fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    with pytest.raises(ValueError, match="nothing can be learned"):
        AdaBoostMHClassifier("stump", 5, subsample=0.001).fit(X, y)
