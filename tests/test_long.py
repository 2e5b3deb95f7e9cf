"""Very many rounds: scores stay finite and rounds do not become slower."""

import numpy as np
import pytest

from .conftest import all_rows


def separable(n=60):
    """Two classes that one column separates, but for a few samples that need another one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    return X, y


def check_long_run(votes, n_rounds, part):
    X, y = separable()
    clf = all_rows("stump", n_rounds, votes=votes, loss="exponential", n_jobs=1).fit(X, y)
    assert clf.n_estimators_ == n_rounds
    F = clf.decision_function(X)
    assert np.isfinite(F).all()
    np.testing.assert_array_equal(clf.predict(X), y)
    for name in ("edge", "alpha", "Z", "risk"):
        assert np.isfinite(clf.history_[name]).all(), name
    assert np.all(clf.history_["edge"] > 0)
    assert np.all(clf.history_["Z"] < 1)
    # The risk underflows long before the end; its logarithm is the sum of log Z.
    margin = np.where(y == 1, F, -F)
    log_risk = np.logaddexp.reduce(-margin) - np.log(len(y))
    assert np.log(clf.history_["Z"]).sum() == pytest.approx(log_risk, rel=1e-6)
    seconds = clf.history_["seconds_search"] + clf.history_["seconds_update"]
    assert np.median(seconds[-part:]) < 3 * np.median(seconds[:part])


@pytest.mark.parametrize("votes", ["discrete", "real"])
def test_two_thousand_rounds(votes):
    check_long_run(votes, 2000, 500)


@pytest.mark.slow
@pytest.mark.parametrize("votes", ["discrete", "real"])
def test_hundred_thousand_rounds(votes):
    check_long_run(votes, 100_000, 10_000)
