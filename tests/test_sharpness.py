"""The slope of probabilities, measured on held-out rows."""

import numpy as np
import pytest
from multiboost.boosting.sharpness import best_sharpness, log_loss, median_margin, slope_of
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.model_selection import train_test_split

from multiboost import MultiBoostClassifier, load_model
from multiboost.boosting.plan import SHARPNESS
from multiboost.data.kinds import recognise
from multiboost.data.target import Target


def target_of(y, weight=None):
    return Target(recognise(y, None), y, "auto", weight, None)


def noisy(n=1500, n_classes=3, seed=0):
    """Classes that overlap: no classifier can be sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 6))
    X[:, 0] += y
    X[:, 1] -= 0.7 * y
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss(n_classes, weighted):
    """As scikit-learn's, times the number of samples."""
    rng = np.random.default_rng(n_classes)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 60)])
    weight = rng.uniform(0.5, 2.0, y.size) if weighted else None
    target = target_of(y, weight)
    F = rng.normal(size=target.signed.shape)
    p = softmax(0.7 * F, axis=1) if n_classes > 2 else np.stack([expit(-0.7 * F[:, 0]), expit(0.7 * F[:, 0])], 1)
    expected = sklearn_log_loss(y, p, sample_weight=weight, normalize=True) * y.size
    assert log_loss(target, F, 0.7) == pytest.approx(expected)


def test_log_loss_of_labels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, (50, 4))
    F = rng.normal(size=y.shape)
    p = expit(1.3 * F)
    expected = -np.where(y == 1, np.log(p), np.log1p(-p)).sum()
    assert log_loss(target_of(y), F, 1.3) == pytest.approx(expected)


def test_slope():
    assert slope_of(6.0, 12.0) == 0.5
    assert slope_of(6.0, 3.0) == slope_of(6.0, 0.1) == slope_of(6.0, -1.0) == 2.0


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("size", [0.02, 0.3, 5.0])
def test_best_sharpness(n_classes, size):
    """That of the slope which scipy finds; whatever the size of the scores."""
    rng = np.random.default_rng(1)
    parts, total = [], 0
    for n in (700, 900):
        y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])
        target = target_of(y)
        F = size * (0.8 * np.sign(target.signed) + rng.normal(size=target.signed.shape))
        parts.append((median_margin(target, F), target, F))
        total += y.size

    def loss(x):
        return sum(log_loss(target, F, np.exp(x) / median) for median, target, F in parts)

    expected = np.exp(minimize_scalar(loss, bounds=(-3, 5), method="bounded").x)
    assert best_sharpness(parts) == pytest.approx(expected, rel=0.05)  # 1600 rows are believed, not quite the usual 6


def test_few_rows_are_not_believed():
    """One row that is right would have an endless slope."""
    target = target_of(np.array([0, 1]))
    F = np.array([[-1.0], [1.0]])
    assert SHARPNESS < best_sharpness([(1.0, target, F)]) < 2 * SHARPNESS
    assert best_sharpness([]) == best_sharpness([(-0.5, target, F)]) == SHARPNESS


@pytest.mark.parametrize("n_classes", [2, 3])
def test_noisy_classes(n_classes):
    """Probabilities are about as good as the best slope makes them, and better than with the usual sharpness."""
    X, y = noisy(n_classes=n_classes)
    X, X_test, y, y_test = train_test_split(X, y, test_size=500, random_state=0)
    clf = MultiBoostClassifier(random_state=0).fit(X, y)
    F = clf.decision_function(X_test)

    def loss(slope):
        p = softmax(slope * F, axis=1) if n_classes > 2 else np.stack([expit(-slope * F), expit(slope * F)], 1)
        return sklearn_log_loss(y_test, p)

    found = sklearn_log_loss(y_test, clf.predict_proba(X_test))
    assert found == pytest.approx(loss(clf.slope_))
    best = min(loss(slope) for slope in np.geomspace(0.01, 5, 80))
    M = median_margin(target_of(y), clf.decision_function(X).reshape(y.size, -1))
    assert found < best + 0.03
    assert found < loss(slope_of(SHARPNESS, M))


def test_what_the_user_sets_is_not_compared():
    X, y = noisy(400)
    fixed = MultiBoostClassifier("tree:4", 5, loss="logistic", learning_rate=0.1, subsample=1.0)
    assert fixed.fit(X, y).plan_.sharpness == SHARPNESS
    assert MultiBoostClassifier(n_estimators=5).fit(X, y).plan_.sharpness != SHARPNESS


def test_a_model_file_keeps_it(tmp_path):
    """So that a run that goes on has the same probabilities."""
    X, y = noisy(400)
    whole = MultiBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    half = MultiBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    half.save(tmp_path / "half.mb")
    loaded = load_model(tmp_path / "half.mb").set_params(warm_start=True, n_estimators=20).fit(X, y)
    assert loaded.plan_.sharpness == whole.plan_.sharpness
    assert loaded.slope_ == whole.slope_
    np.testing.assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))
