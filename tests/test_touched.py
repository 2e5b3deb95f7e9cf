"""Wide sparse tables: leaves that look at the columns they touch find what the plain search finds, bit for bit."""

import numpy as np
import pytest
from benchmarks.wide_sparse import word_counts
from numba import njit
from scipy import sparse

from multiboost import MultiBoostClassifier, MultiBoostRegressor
from multiboost.data import layout as layouts
from multiboost.data.binned import Binned
from multiboost.data.layout import Layout
from multiboost.data.table import as_table
from multiboost.kernels.compiler import OPTIONS
from multiboost.kernels.criteria import bound_slopes, gain_bound, row_bound

N, WORDS, CLASSES = 400, 600, 5
bare = njit(**{key: value for key, value in OPTIONS.items() if key != "cache"})


@pytest.fixture(scope="module")
def words():
    X, y = word_counts(N, WORDS, CLASSES, 30 * N, seed=3)
    return X.toarray(), y


def many_kinds(words):
    """Frequent bins in the middle, at the end, and missing; long columns; columns of no values; nominal ones."""
    X = words[0].copy()
    rng = np.random.default_rng(0)
    X[:, 100:200] *= -1
    X[:, 150:160] += 3 * (rng.random((N, 10)) < 0.1)
    X[:, 200:230] = np.where(X[:, 200:230] == 0, np.nan, X[:, 200:230])
    X[rng.random(X.shape) < 0.003] = np.nan
    X[:, 300] = 0
    X[:, 301] = np.where(rng.random(N) < 0.8, 0.0, rng.normal(size=N))
    return X


def fitted(estimator, on: bool, *arguments, **options):
    """The model, found by touched columns or by the plain search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layouts, "_TOUCHED", 1 if on else 1 << 40)
        return estimator.fit(*arguments, **options)


def same(make, *arguments, **options):
    """Fit twice, and compare all that there is; returns the model."""
    one, other = (fitted(make(), on, *arguments, **options) for on in (True, False))
    a, b = one.ensemble_.arrays(), other.ensemble_.arrays()
    assert set(a) == set(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    for name in ("edge", "risk"):
        np.testing.assert_array_equal(one.history_[name], other.history_[name])
    return one


def boosting(learner="tree:12", loss="exponential", rounds=4, **more):
    rate = None if more.get("votes") == "discrete" else 0.2
    usual = {"subsample": 1.0, "calibration": None, "n_jobs": 1, "learning_rate": rate}
    return lambda: MultiBoostClassifier(learner, rounds, loss=loss, **{**usual, **more})


def touched(X, y=None) -> int:
    """Blocks that have lists."""
    return int((Layout(Binned.of(as_table(X)), 64, coarse=True).blocks.block["touched"] > 0).sum())


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.parametrize("learner", ["tree:12", "stump", "product:2"])
def test_classes(words, learner, loss):
    model = same(boosting(learner, loss), *words)
    assert model.history_["risk"][-1] < model.history_["risk"][0]


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_two_classes_and_sparse_input(words, loss):
    X, y = words
    y = y == y[0]
    model = same(boosting(loss=loss), sparse.csr_matrix(X), y)
    dense = fitted(boosting(loss=loss)(), True, X, y)
    np.testing.assert_array_equal(model.decision_function(X), dense.decision_function(X))


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_columns_of_many_kinds(words, loss):
    """Missing values, nominal columns, long columns, weights, unknown labels, a sample of each round."""
    X, y = many_kinds(words), words[1]
    rng = np.random.default_rng(1)
    nominal = list(range(400, 420))
    X[:, nominal] = rng.integers(0, 5, (N, 20)) * (rng.random((N, 20)) < 0.4)
    weight = rng.integers(0, 4, N).astype(float)
    same(boosting(loss=loss, nominal_features=nominal, subsample=0.6, n_jobs=2), X, y, sample_weight=weight)
    Y = (np.arange(CLASSES) == y[:, None]) | (rng.random((N, CLASSES)) < 0.1)
    same(boosting(loss=loss, nominal_features=nominal), X, np.where(rng.random(Y.shape) < 0.1, np.nan, Y))


@pytest.mark.parametrize("votes", ["discrete", "ternary"])
def test_other_votes(words, votes):
    same(boosting("tree:6", votes=votes), many_kinds(words), words[1])


def test_numbers(words):
    X, y = words
    same(lambda: MultiBoostRegressor("tree:12", 4, learning_rate=0.2, subsample=1.0, n_jobs=1), X, X[:, 5] + 0.1 * y)


def test_deep_trees_without_room_for_histograms(words, monkeypatch):
    """Places of the pool run out, so that some leaves are added up and others subtracted."""
    monkeypatch.setattr("multiboost.base.problem._POOL_TOUCHED", 120_000)
    monkeypatch.setattr("multiboost.base.tree._KEPT_TOUCHED", 8)
    same(boosting("tree:60"), *words)


def test_only_where_it_pays(words):
    X, _ = words
    assert touched(X) > 0
    assert touched(X[:, np.argsort(-(X > 0).sum(axis=0))[:40]]) == 0  # columns of frequent words only
    assert touched(np.random.default_rng(0).normal(size=(N, 50))) == 0


def test_one_thread_passes_over_the_rows_once(words):
    X, y = words
    binned = Binned.of(as_table(X))
    blocks = [int((Layout(binned, 2400, n, coarse=True).blocks.block["touched"] > 0).sum()) for n in (1, 2)]
    assert blocks[0] == 1 < blocks[1]
    one, two = (fitted(boosting(n_jobs=n)(), True, X, y) for n in (1, 2))
    assert one.model_.digest() == two.model_.digest()


@bare
def _bounds(parts, total, half, slopes, out, weaker):
    bound_slopes("z", total, half, slopes)
    for k in range(out.size):
        weaker[k] = row_bound(parts, k * total.size, slopes, total.size)
        out[k] = gain_bound("z", parts, k * total.size, slopes, half)


@pytest.mark.parametrize("n_labels", [1, 3, 10])
def test_bound_of_the_gain(n_labels):
    """No subset of the parts gains more than the sum of their bounds; of a single part the bound is not far off."""
    half = 1 if n_labels == 1 else -(-n_labels // 4) * 4
    rng = np.random.default_rng(n_labels)
    ratios = []
    for _ in range(50):
        parts = np.zeros((4, 2, half), np.int32)
        parts[:, :, :n_labels] = rng.integers(0, 100_000, (4, 2, n_labels)) * (rng.random((4, 2, n_labels)) < 0.7)
        rest = np.zeros((2, half), np.int32)
        rest[:, :n_labels] = rng.integers(0, 10**6, (2, n_labels)) * (rng.random((2, n_labels)) < 0.9)
        total = parts.sum(axis=0, dtype=np.int32) + rest
        found, weaker, slopes = np.empty(4), np.empty(4), np.empty(2 * half, np.float32)
        _bounds(parts.reshape(-1), total.reshape(-1), half, slopes, found, weaker)
        np.testing.assert_allclose(weaker, parts.reshape(4, -1).astype(float) @ slopes, rtol=1e-5)
        assert (weaker >= found * (1 - 1e-5)).all()

        def score(a):
            return -2 * np.sqrt(np.prod(a.astype(float), axis=0)).sum()

        for subset in range(1, 16):
            chosen = (subset >> np.arange(4)) & 1 > 0
            cut = parts[chosen].sum(axis=0)
            gain = score(cut) + score(total - cut) - score(total)
            bound = found[chosen].sum()
            assert gain <= bound + 1e-5 * abs(score(total))
            if chosen.sum() == 1 and gain > 0.01 * abs(score(total)):
                ratios.append(bound / gain)
    assert np.median(ratios) < 4
