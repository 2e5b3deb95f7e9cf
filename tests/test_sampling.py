"""Rounds that see a part of the samples."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from multiboost import Callback, FromClassifier, MultiBoostClassifier
from multiboost.plugins import RowSampler
from multiboost.samplers import EXP3P, UCB, Lazy, MinimalVariance
from multiboost.samplers.share import first_of

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


class Drawn(Callback):
    """Notes which samples each round has seen."""

    def __init__(self):
        self.rounds = []

    def after_round(self, run):
        self.rounds.append(np.ones(run.n_samples, bool) if run.drawn is None else run.drawn.copy())
        return False


@dataclass(frozen=True)
class AllBut(RowSampler):
    """All samples but one."""

    row: int
    name = "all but one"

    def rows(self, run):
        return np.arange(run.n_samples) != self.row


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
        clf = MultiBoostClassifier(base_learner, 5, loss="exponential", subsample=0.5).fit(X, y)
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
    drawn = Drawn()
    clf = MultiBoostClassifier(base_learner, 1, votes="discrete", subsample=0.5, random_state=4)
    clf.fit(X, y, weight, callbacks=[drawn])
    rows = np.flatnonzero(drawn.rounds[0])
    assert rows.size == 600
    alone = MultiBoostClassifier(base_learner, 1, votes="discrete").fit(X[rows], y[rows], weight[rows])
    np.testing.assert_array_equal(clf.decision_function(X[rows]) > 0, alone.decision_function(X[rows]) > 0)
    edge = edge_of(clf, X, y, weight)
    assert edge < alone.history_["edge"][0]
    assert clf.history_["edge"][0] == pytest.approx(edge, rel=1e-9)
    assert clf.history_["alpha"][0] == pytest.approx(0.5 * np.log((1 + edge) / (1 - edge)), rel=1e-9)


@pytest.mark.parametrize("base_learner", ["stump", "product:2", "tree:5"])
@pytest.mark.parametrize(
    "sampler",
    [
        {"row_sampler": MinimalVariance(0.3)},
        {"column_sampler": Lazy(2)},
        {"column_sampler": UCB(2)},
        {"column_sampler": EXP3P(2), "row_sampler": MinimalVariance(0.5)},
    ],
)
def test_edges_and_coefficients_are_those_of_all_samples(base_learner, sampler):
    """Whatever rows and columns the round has seen."""
    X, y = make_levels(900, 5, 3, n_levels=40)
    weight = np.random.default_rng(5).uniform(0.5, 1.5, 900)
    clf = MultiBoostClassifier(base_learner, 1, votes="discrete", random_state=4, **sampler).fit(X, y, weight)
    edge = edge_of(clf, X, y, weight)
    assert clf.history_["edge"][0] == pytest.approx(edge, rel=1e-9)
    assert clf.history_["alpha"][0] == pytest.approx(0.5 * np.log((1 + edge) / (1 - edge)), rel=1e-9)


def test_edge_of_real_votes_is_that_of_all_samples():
    X, y = make_levels(1200, 5, 3, n_levels=40)
    clf = MultiBoostClassifier("tree:6", 1, loss="exponential", subsample=0.3).fit(X, y)
    assert clf.history_["edge"][0] == pytest.approx(edge_of(clf, X, y, np.ones(1200)), rel=1e-9)


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_real_votes_come_from_the_sample(loss):
    """Leaves of a stump: half the log odds, or the Newton step, of the samples of the round."""
    X, y = make_levels(900, 4, 2, n_levels=30)
    drawn = Drawn()
    clf = MultiBoostClassifier("stump", 1, loss=loss, learning_rate=1.0, subsample=0.4, random_state=1)
    clf.fit(X, y, callbacks=[drawn])
    sample, labels = X[drawn.rounds[0]], y[drawn.rounds[0]]
    assert len(sample) == 360
    start = MultiBoostClassifier("stump", 1, loss=loss, learning_rate=1e-12, random_state=1).fit(X, y)
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


def draws(n=500, n_rounds=300, share=0.2, seed=0, **parameters) -> np.ndarray:
    """Which samples the rounds of a run saw, (rounds, n)."""
    X, y = make_classes(n, 3, 2)
    drawn = Drawn()
    given = {"loss": "logistic", "learning_rate": 1e-6, **parameters}
    MultiBoostClassifier("stump", n_rounds, subsample=share, random_state=seed, **given).fit(X, y, callbacks=[drawn])
    return np.array(drawn.rounds)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.837])
def test_every_round_draws_anew(share):
    """As many samples as the share says, each as often as the others, whatever was drawn before.

    A count over 300 rounds, and the common samples of two rounds, are within five standard deviations.
    """
    seen = draws(share=share)
    n_rounds, n = seen.shape
    size = round(share * n)
    assert set(seen.sum(axis=1)) == {size}
    rate = size / n
    assert np.abs(seen.sum(axis=0) - n_rounds * rate).max() < 5 * np.sqrt(n_rounds * rate * (1 - rate))
    spread = np.sqrt(size * rate * (1 - rate) * (n - size) / (n - 1))  # of a hypergeometric count
    for lag in (1, 2, 7):
        common = (seen[lag:] & seen[:-lag]).sum(axis=1)
        assert np.abs(common - size * rate).max() < 5 * spread
        assert abs(common.mean() - size * rate) < 5 * spread / np.sqrt(len(common))
    assert np.unique(seen, axis=0).shape[0] == n_rounds


def test_draws_depend_on_the_seed_and_the_round_alone():
    """Not on what was learned, nor on how many rounds there will be."""
    seen = draws(n_rounds=20)
    np.testing.assert_array_equal(draws(n_rounds=20, loss="exponential", learning_rate=0.1), seen)
    np.testing.assert_array_equal(draws(n_rounds=6), seen[:6])
    other = draws(n_rounds=20, seed=1)
    assert not (other[:, None] == seen).all(axis=2).any()


@pytest.mark.parametrize("n", [2, 3000, 8193, 20_000])
@pytest.mark.parametrize("share", [0.0001, 0.2, 0.5, 0.9])
def test_a_share_is_the_beginning_of_a_permutation(n, share):
    """Of NumPy's, although many rows are shuffled as far only as it takes to know which ones come first."""
    count = max(1, round(share * n))
    for seed in ((0, 0), (7, 3), (2**40, 11)):
        expected = np.random.default_rng(seed).permutation(n)[:count]
        np.testing.assert_array_equal(np.sort(first_of(n, count, seed)), np.sort(expected))


def test_all_samples_are_no_sample():
    X, y = make_classes(300, 3, 3)
    for kind in KINDS:
        same_bits(boost(X, y, kind), boost(X, y, kind, subsample=1.0), X)


def test_one_sample():
    """At least one sample is seen; where it teaches nothing, the round sees all."""
    X, y = make_classes(40, 3, 2)
    for base_learner in ("stump", "tree:4"):
        clf = MultiBoostClassifier(base_learner, 5, loss="logistic", subsample=0.001).fit(X, y)
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
    clf = MultiBoostClassifier("tree:40", 60, votes="discrete", subsample=0.5).fit(X, y)
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
    x[100] = np.nan
    clf = boost(x[:, None], y, kind, "stump", 1, subsample=None, row_sampler=AllBut(100))
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
