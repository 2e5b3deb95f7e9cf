"""Any classifier as phi: votes, edges, alternation, and every kind of table and target."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from multiboost import FromClassifier, Product, Stump, Tree

from .conftest import all_rows, half_weights, make_classes, make_labels, signs_of

KINDS = {
    "discrete": {"votes": "discrete"},
    "real": {"votes": "real", "loss": "exponential"},
    "logistic": {"loss": "logistic"},
}
CLASSIFIERS = {
    "LogisticRegression": LogisticRegression(),
    "LinearSVC": LinearSVC(),
    "GaussianNB": GaussianNB(),
    "MLPClassifier": MLPClassifier((4,), solver="lbfgs", max_iter=4),
    "NearestCentroid": NearestCentroid(),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
each_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def boost(X, y, kind, classifier, n_rounds=3, fit=None, **parameters):
    learner = classifier if hasattr(classifier, "base") else FromClassifier(classifier)
    clf = all_rows(learner, n_rounds, n_jobs=1, **KINDS[kind], **parameters)
    return clf.fit(X, y, **(fit or {}))


def targets():
    X, y = make_classes(150, 4, 4)
    yield "binary", X, (y > 1).astype(int)
    yield "multiclass", X, y
    yield "multilabel", X, make_labels(150, 4, 3)[1]


each_target = pytest.mark.parametrize("case", list(targets()), ids=lambda c: c[0])


def initial_weights(y) -> tuple[np.ndarray, np.ndarray]:
    """Y and W0 as the estimator has them by itself: (3.12), uniform for labels."""
    y = np.asarray(y)
    if y.ndim == 2:
        Y = 2.0 * y - 1
        return Y, np.full(Y.shape, 1 / Y.size)
    Y = signs_of(y, len(np.unique(y)))
    return Y, half_weights(Y)


def sides_of(phi, X) -> np.ndarray:
    """phi of every row, by the fitted classifier itself."""
    return np.where(np.asarray(phi.estimator.predict(X)) > 0, 1.0, -1.0)


@each_target
@each_classifier
def test_edges_and_scores_of_discrete_votes(name, case):
    """Round by round: edge = sum G v phi with v = sign(sum G phi) (3.35), alpha of (3.34), F by the votes."""
    _, X, y = case
    clf = boost(X, y, "discrete", CLASSIFIERS[name])
    Y, W = initial_weights(y)
    F = np.zeros(Y.shape)
    assert clf.n_estimators_ == len(clf.ensemble_.phi) == 3
    for t, phi in enumerate(clf.ensemble_.phi):
        sides = sides_of(phi, X)
        G = W * Y
        v = np.where(sides @ G > 0, 1.0, -1.0)
        edge = float((G * v * sides[:, None]).sum())
        assert clf.history_["edge"][t] == pytest.approx(edge, rel=1e-9)
        alpha = np.arctanh(min(edge, 1 - 1e-12))
        assert clf.history_["alpha"][t] == pytest.approx(alpha, rel=1e-7)
        h = clf.history_["alpha"][t] * v * sides[:, None]
        F += h
        W = W * np.exp(-h * Y)
        W /= W.sum()
        scores = list(clf.staged_decision_function(X))[t]
        np.testing.assert_allclose(scores.reshape(F.shape), F, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(clf.decision_function(X).reshape(F.shape), F, rtol=1e-9, atol=1e-12)
    if y.ndim == 1 and Y.shape[1] > 1:
        assert clf.history_["training_error"][-1] == pytest.approx(np.mean(F.argmax(axis=1) != y), abs=1e-12)


@each_target
@each_classifier
def test_votes_of_one_real_round(name, case):
    """Half the log odds on each side of phi, smoothed by half of one pair's weight, times the step."""
    _, X, y = case
    clf = boost(X, y, "real", CLASSIFIERS[name], 1, learning_rate=0.5)
    Y, W = initial_weights(y)
    right = sides_of(clf.ensemble_.phi[0], X) > 0
    F = np.zeros(Y.shape)
    for side in (right, ~right):
        positive, negative = ((W * (s * Y > 0))[side].sum(axis=0) for s in (1, -1))
        F[side] = 0.25 * np.log((positive + 0.5 / Y.size) / (negative + 0.5 / Y.size))
    np.testing.assert_allclose(clf.decision_function(X).reshape(F.shape), F, rtol=1e-9, atol=1e-12)


@each_target
def test_votes_of_one_newton_round(case):
    """sum G / (sum H + ridge) on each side of phi, from the best constants on."""
    _, X, y = case
    clf = boost(X, y, "logistic", LogisticRegression(), 1, learning_rate=0.5)
    Y, W = initial_weights(y)
    tiny = 1 / Y.size
    start = 0.5 * np.log(((W * (Y > 0)).sum(0) + tiny) / ((W * (Y < 0)).sum(0) + tiny))
    p = 1 / (1 + np.exp(-2 * start))
    G, H = W * Y * np.where(Y > 0, 1 - p, p), 2 * W * p * (1 - p)
    right = sides_of(clf.ensemble_.phi[0], X) > 0
    F = np.tile(start, (len(X), 1))
    for side in (right, ~right):
        F[side] += 0.5 * G[side].sum(axis=0) / (H[side].sum(axis=0) + tiny)
    np.testing.assert_allclose(clf.decision_function(X).reshape(F.shape), F, rtol=1e-7, atol=1e-10)


@each_kind
@each_target
def test_learns_more_than_one_round_can(kind, case):
    """Six rounds of linear classifiers tell more classes apart than one, and training saw what prediction sees."""
    name, X, y = case
    rate = {} if kind == "discrete" else {"learning_rate": 0.5}
    one, six = (boost(X, y, kind, RidgeClassifier(), n, **rate) for n in (1, 6))
    wrong = [np.mean(clf.predict(X) != y) for clf in (one, six)]
    if name != "binary":  # there a linear classifier is right at once
        assert wrong[1] < wrong[0]
    assert six.history_["risk"][-1] < one.history_["risk"][-1]
    if y.ndim == 1:
        assert six.history_["training_error"][-1] == pytest.approx(wrong[1], abs=1e-12)


class Recorder(ClassifierMixin, BaseEstimator):
    """A linear classifier that writes down what it was given and what it said."""

    log: list = []  # noqa: RUF012

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y, sample_weight=None):
        self.inner_ = LogisticRegression(C=self.C).fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.inner_.classes_
        Recorder.log.append((np.array(y), np.array(sample_weight), sides_of(self.inner_and_self(), X)))
        return self

    def inner_and_self(self):
        return type("Phi", (), {"estimator": self.inner_})

    def predict(self, X):
        return self.inner_.predict(X)


@pytest.mark.parametrize("seed", range(6))
def test_alternation_only_climbs(seed):
    """Virtual labels and weights are those of v; the edge kept is the largest, never below that of the first phi."""
    X, y = make_classes(120, 3, 5, seed=seed, noise=3.0)
    Recorder.log.clear()
    clf = boost(X, y, "discrete", Recorder(), 1)
    Y, W = initial_weights(y)
    G = W * Y
    log = list(Recorder.log)
    edges = [np.abs(sides @ G).sum() for _, _, sides in log]
    assert clf.history_["edge"][0] == pytest.approx(max(edges), rel=1e-9)
    assert clf.history_["edge"][0] >= edges[0] - 1e-12
    assert 2 <= len(edges) <= 10
    for before, after in pairwise(edges[:-1]):
        assert after > before
    for (_, _, sides), (labels, weight, _) in pairwise(log):
        s = G @ np.where(sides @ G > 0, 1.0, -1.0)
        np.testing.assert_array_equal(labels, np.where(s > 0, 1, -1))
        np.testing.assert_allclose(weight, np.abs(s) / np.abs(s).mean(), rtol=1e-9)


def test_n_cycles_is_the_most_fits():
    X, y = make_classes(120, 3, 5, seed=1, noise=3.0)
    for n_cycles in (1, 2):
        Recorder.log.clear()
        all_rows(FromClassifier(Recorder(), n_cycles), 1, votes="discrete").fit(X, y)
        assert len(Recorder.log) == n_cycles


def test_binary_target_gives_the_classes_and_their_weights():
    """With one label the virtual labels are the labels, up to a sign, and one fit is all there is to do."""
    X, y = make_classes(100, 3, 2)
    weight = np.random.default_rng(0).uniform(0.5, 2, 100)
    Recorder.log.clear()
    clf = boost(X, y, "discrete", Recorder(), 1, fit={"sample_weight": weight})
    labels, given, _ = Recorder.log[0]
    assert abs((labels * (2 * y - 1)).sum()) == 100
    np.testing.assert_allclose(given, weight / weight.mean(), rtol=1e-9)
    right = LogisticRegression().fit(X, y, sample_weight=weight / weight.mean())
    np.testing.assert_array_equal(clf.predict(X), right.predict(X))


@each_kind
@each_classifier
def test_same_seed_same_bits(kind, name):
    """Twice the same fit, random states and drawn rows included; threads do not matter; another seed does."""
    X, y = make_classes(120, 4, 3, noise=2.0)
    a, b = (boost(X, y, kind, CLASSIFIERS[name], 2, random_state=7) for _ in range(2))
    assert a.decision_function(X).tobytes() == b.decision_function(X).tobytes()
    c = clone(a).set_params(n_jobs=2).fit(X, y)
    assert a.decision_function(X).tobytes() == c.decision_function(X).tobytes()
    if name in ("MLPClassifier", "NearestCentroid"):
        other = boost(X, y, kind, CLASSIFIERS[name], 2, random_state=8)
        assert a.decision_function(X).tobytes() != other.decision_function(X).tobytes()


def test_rows_are_drawn_where_weights_are_not_taken():
    """NearestCentroid sees heavy rows more often: a class of tiny weight does not move its centroids."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-2, 1, (100, 1)), rng.normal(2, 1, (100, 1)), rng.normal(80, 1, (100, 1))])
    y = np.repeat([0, 1, 1], 100)
    weight = np.repeat([1.0, 1.0, 1e-9], 100)
    clf = boost(X, y, "discrete", NearestCentroid(), 1, fit={"sample_weight": weight})
    centroids = np.sort(clf.ensemble_.phi[0].estimator.centroids_.ravel())
    np.testing.assert_allclose(centroids, [-2, 2], atol=0.5)


@each_kind
@pytest.mark.parametrize("learner", [Product(2, FromClassifier(RidgeClassifier())),
                                     Tree(4, FromClassifier(RidgeClassifier())),
                                     Tree(3, Product(2, FromClassifier(RidgeClassifier()))),
                                     Product(2, Tree(3, FromClassifier(GaussianNB())))], ids=str)  # fmt: skip
def test_products_and_trees_of_classifiers(kind, learner):
    """Two rounds, by a walk in plain Python over what the classifiers say; XOR is learned, which none can alone."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (150, 2))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)
    rate = {} if kind == "discrete" else {"learning_rate": 0.5}
    clf = boost(X, y, kind, learner, 2, **rate)
    e = clf.ensemble_
    told = np.stack([sides_of(phi, X) for phi in e.phi], axis=1)
    assert np.all(e.feature >= 2)
    assert e.feature.max() < 2 + len(e.phi)
    F = np.tile(e.initial, (150, 1))
    for t in range(e.n_rounds):
        h = np.ones((150, 1))
        for term in range(e.first_term[t], e.first_term[t + 1]):
            for i in range(150):
                node = int(e.root[term])
                while node >= 0:
                    node = int(e.child[node, int(told[i, e.feature[node] - 2] > e.threshold[node])])
                h[i] *= e.values[~node]
        F += h
    np.testing.assert_allclose(clf.decision_function(X), F[:, 0], rtol=1e-12, atol=1e-12)
    assert clf.history_["training_error"][-1] == pytest.approx(np.mean((F[:, 0] > 0) != y), abs=1e-12)
    assert clf.score(X, y) > boost(X, y, kind, RidgeClassifier(), 2, **rate).score(X, y) + 0.05


def people(n=240, seed=0):
    """Text, numbers and a missing value here and there; classes that need both."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["rome", "oslo", "lima", "cork"], n)
    age, pay = rng.integers(18, 80, n), rng.normal(3, 1, n)
    y = np.where(np.isin(town, ["rome", "lima"]), age > 45, pay > 3).astype(int) + (town == "cork")
    frame = pd.DataFrame({"town": town, "age": age, "pay": pay})
    return frame, np.array(["low", "mid", "top"])[y]


def mixed_pipeline():
    columns = ColumnTransformer([("n", StandardScaler(), ["age", "pay"]), ("t", OneHotEncoder(), ["town"])])
    return make_pipeline(columns, LogisticRegression())


@each_kind
def test_pipeline_on_a_frame_with_text(kind):
    """The classifier sees the frame, its names and text; weights go to the pipeline's last step."""
    X, y = people()
    clf = boost(X, y, kind, mixed_pipeline(), 4, learning_rate=1.0)
    assert clf.score(X, y) > 0.7
    assert list(clf.ensemble_.phi[0].estimator.feature_names_in_) == ["town", "age", "pay"]
    later, truth = people(seed=1)
    assert clf.score(later, truth) > 0.65
    if kind == "discrete":
        Y = np.where(y[:, None] == clf.classes_, 1.0, -1.0)
        G = half_weights(Y) * Y
        sides = sides_of(clf.ensemble_.phi[0], X)
        assert clf.history_["edge"][0] == pytest.approx(np.abs(sides @ G).sum(), rel=1e-9)


def test_pipeline_gets_the_weights():
    X, _ = people()
    weight = np.where(X["town"] == "oslo", 1.0, 1e-6)
    y = np.where(X["town"] == "oslo", X["pay"] > 3, X["pay"] < 3)
    clf = boost(X, y, "discrete", mixed_pipeline(), 1, fit={"sample_weight": weight})
    oslo = (X["town"] == "oslo").to_numpy()
    assert clf.score(X[oslo], y[oslo]) > 0.9


@pytest.mark.parametrize("form", ["array", "csr", "polars"])
def test_forms_of_tables(form):
    """The classifier gets what the user has: an array, a sparse matrix, a frame of polars."""
    X, y = make_classes(120, 3, 3)
    make = {"array": np.asarray, "csr": sp.csr_array, "polars": lambda a: pl.DataFrame(a, schema=["a", "b", "c"])}[form]
    seen = []

    class Seeing(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(type(X))
            return super().fit(X, y, sample_weight)

        def predict(self, X):
            seen.append(type(X))
            return super().predict(X)

    clf = boost(make(X), y, "discrete", Seeing())
    right = boost(X, y, "discrete", LogisticRegression())
    kind = type(make(X))
    assert set(seen) == {kind}
    np.testing.assert_allclose(clf.decision_function(make(X)), right.decision_function(X), rtol=1e-6)


@each_kind
def test_warm_start_and_pickle(kind):
    """2 and then 3 rounds are 5; a pickle keeps every bit; prediction in stages."""
    X, y = make_classes(150, 4, 3)
    whole = boost(X, y, kind, RidgeClassifier(), 5)
    parts = boost(X, y, kind, RidgeClassifier(), 2, warm_start=True).set_params(n_estimators=5).fit(X, y)
    for other in (parts, pickle.loads(pickle.dumps(whole))):
        assert whole.decision_function(X).tobytes() == other.decision_function(X).tobytes()
        assert whole.history_["edge"].tobytes() == other.history_["edge"].tobytes()
    stages = list(whole.staged_decision_function(X))
    assert stages[-1].tobytes() == whole.decision_function(X).tobytes()
    first = boost(X, y, kind, RidgeClassifier(), 2)
    assert stages[1].tobytes() == first.decision_function(X).tobytes()


def test_rows_without_weight_are_not_seen():
    X, y = make_classes(150, 3, 3)
    bad = X.copy()
    bad[100:] = 1e6
    weight = np.where(np.arange(150) < 100, 1.0, 0.0)
    a = boost(bad, y, "discrete", LogisticRegression(), fit={"sample_weight": weight})
    b = boost(X[:100], y[:100], "discrete", LogisticRegression())
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-6)


def test_no_model_file(tmp_path):
    X, y = make_classes(60, 3, 2)
    for learner in (FromClassifier(GaussianNB()), Tree(3, FromClassifier(GaussianNB()))):
        clf = all_rows(learner, 2, loss="exponential").fit(X, y)
        with pytest.raises(ValueError, match=r"FromClassifier holds fitted scikit-learn objects.*no place in a model"):
            clf.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "estimator",
    [None, StandardScaler(), "svm", 3, LogisticRegression],
    ids=["None", "scaler", "text", "number", "class"],
)
def test_what_is_no_classifier(estimator):
    X, y = make_classes(60, 3, 2)
    with pytest.raises(ValueError, match="FromClassifier needs a classifier with fit and predict; got"):
        boost(X, y, "discrete", estimator)


def test_regressor_is_refused():
    """It has fit and predict, but is no classifier."""
    X, y = make_classes(60, 3, 2)
    with pytest.raises(ValueError, match="FromClassifier needs a classifier"):
        boost(X, y, "discrete", LinearRegression())


def test_missing_values_are_blamed_on_the_classifier():
    X, y = make_classes(60, 3, 2)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"FromClassifier: LogisticRegression cannot be trained: .*NaN"):
        boost(X, y, "discrete", LogisticRegression())


@pytest.mark.parametrize("n_cycles", [0, -1, 2.5, True])
def test_n_cycles_is_a_whole_number(n_cycles):
    X, y = make_classes(60, 3, 2)
    with pytest.raises(ValueError, match="n_cycles must be a whole number of at least 1"):
        all_rows(FromClassifier(GaussianNB(), n_cycles), 2).fit(X, y)


def test_parameters_and_clones():
    """Nested parameters reach the classifier; a clone shares nothing; fitting leaves the user's object alone."""
    X, y = make_classes(100, 3, 2, noise=2.0)
    inner = LogisticRegression(C=1.0)
    clf = all_rows(FromClassifier(inner), 2, votes="discrete")
    assert clf.get_params()["base_learner__estimator__C"] == 1.0
    other = clone(clf).set_params(base_learner__estimator__C=1e-4, base_learner__n_cycles=3)
    assert inner.C == 1.0
    assert other.base_learner.n_cycles == 3
    clf.fit(X, y)
    other.fit(X, y)
    assert not hasattr(inner, "coef_")
    assert clf.ensemble_.phi[0].estimator.C == 1.0
    assert other.ensemble_.phi[0].estimator.C == 1e-4
    assert clf.decision_function(X).tobytes() != other.decision_function(X).tobytes()
    assert "LogisticRegression" in repr(clf)


def test_importances_are_those_of_columns_only():
    """phi has no column: the shares have one entry per column of the table."""
    X, y = make_classes(100, 3, 2)
    mixed = all_rows(FromClassifier(GaussianNB()), 2, votes="discrete").fit(X, y)
    assert mixed.feature_importances_.shape == (3,)
    stump = all_rows(Stump(), 2, votes="discrete").fit(X, y)
    assert stump.feature_importances_.sum() == pytest.approx(1)
