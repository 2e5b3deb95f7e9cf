"""Scores of raw rows: walks, tiles and single rows give the bits of a walk in plain Python."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from multiboost import FromClassifier, MultiBoostClassifier
from multiboost.data.categories import Categories
from multiboost.data.kinds import MultiLabel
from multiboost.data.table import DenseTable
from multiboost.kernels.predict import CUTS, LEAVES
from multiboost.kernels.team import Team
from multiboost.model.ensemble import Ensemble
from multiboost.model.single import Single
from multiboost.model.storage import load
from multiboost.model.tiles import Tiles

from .conftest import leaf_numbers, make_classes, make_labels

VALUES = np.array([-np.inf, -2.5, -1.0, -0.0, 0.0, 5e-324, 1.0, 1.5, 3.0, np.inf])
N_NUMERIC, N_CATEGORIES = 3, 11  # columns of numbers, and the categories of the nominal one after them


def random_ensemble(rng, n_labels, *, n_rounds=5, most_terms=3, most_tests=9, n_leaves=6, nominal=True):
    """Any DAGs, also such as no learner makes: tests that nobody reaches, leaves without tests, infinite thresholds."""
    parts = {name: [] for name in ("feature", "threshold", "missing_right", "child", "set_start", "sets", "values")}
    root, first_term = [], [0]
    tests = leaves = n_bytes = 0
    for _ in range(n_rounds):
        for _ in range(rng.integers(1, most_terms + 1)):
            m = int(rng.integers(0, most_tests + 1))
            child = ~rng.integers(leaves, leaves + n_leaves, size=(m, 2))
            for j in range(m - 1):
                deeper = rng.random(2) < 0.6
                child[j, deeper] = rng.integers(tests + j + 1, tests + m, size=deeper.sum())
            feature = rng.integers(0, N_NUMERIC + nominal, size=m)
            is_set = feature == N_NUMERIC
            set_bytes = (N_CATEGORIES + 7) // 8
            set_start = np.full(m, -1)
            set_start[is_set] = n_bytes + set_bytes * np.arange(is_set.sum())
            parts["feature"].append(feature)
            parts["threshold"].append(np.where(is_set, np.nan, rng.choice(VALUES, size=m)))
            parts["missing_right"].append(rng.random(m) < 0.5)
            parts["child"].append(child)
            parts["set_start"].append(set_start)
            parts["sets"].append(rng.integers(0, 256, size=set_bytes * is_set.sum()))
            parts["values"].append(rng.normal(size=(n_leaves, n_labels)))
            root.append(tests if m else ~leaves)
            tests, leaves, n_bytes = tests + m, leaves + n_leaves, n_bytes + set_bytes * int(is_set.sum())
        first_term.append(len(root))
    flat = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    return Ensemble(
        initial=rng.normal(size=n_labels),
        feature=flat["feature"].astype(np.int32),
        threshold=flat["threshold"],
        missing_right=flat["missing_right"],
        child=flat["child"].astype(np.int32),
        gain=np.ones(tests),
        values=flat["values"],
        root=np.array(root, np.int32),
        first_term=np.array(first_term, np.intp),
        size=np.ones(n_rounds),
        set_start=flat["set_start"].astype(np.intp),
        sets=flat["sets"].astype(np.uint8),
    )


def random_rows(rng, n):
    """Values that equal thresholds, infinities, both zeros, missing values, categories."""
    X = np.empty((n, N_NUMERIC + 1))
    X[:, :N_NUMERIC] = np.where(rng.random((n, N_NUMERIC)) < 0.7, rng.choice(VALUES, (n, N_NUMERIC)), rng.normal())
    X[:, N_NUMERIC] = rng.integers(0, N_CATEGORIES, size=n)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def walked(ensemble, X, begin=0, end=None):
    """F by a walk in plain Python, the products from the first term to the last."""
    scores = np.tile(ensemble.initial, (len(X), 1))
    for t in range(begin, ensemble.n_rounds if end is None else end):
        h = np.ones_like(scores)
        for term in range(ensemble.first_term[t], ensemble.first_term[t + 1]):
            h *= ensemble.values[leaf_numbers(ensemble, term, X)]
        scores += h
    return scores


def in_tiles(ensemble, X, n_threads=1, begin=0, end=None):
    scores = np.tile(ensemble.initial, (len(X), 1))
    tiles = Tiles.of(ensemble)
    assert tiles is not None
    with Team(n_threads) as team:
        tiles.add_scores(X, ensemble, scores, begin, ensemble.n_rounds if end is None else end, team)
    return scores


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_labels=st.sampled_from([1, 2, 3, 4, 5, 8, 13]),
    n_rows=st.sampled_from([1, 31, 64, 65, 200]),
    n_threads=st.integers(1, 3),
    most_terms=st.integers(1, 3),
    nominal=st.booleans(),
)
def test_all_ways_are_a_walk_in_python(seed, n_labels, n_rows, n_threads, most_terms, nominal):
    """Bit for bit: rows walked one by one, in tiles, and alone."""
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, n_labels, most_terms=most_terms, nominal=nominal)
    X = random_rows(rng, n_rows)
    expected = walked(ensemble, X)
    np.testing.assert_array_equal(in_tiles(ensemble, X, n_threads), expected)
    scores = np.tile(ensemble.initial, (n_rows, 1))
    with Team(n_threads) as team:
        ensemble.add_scores(X, scores, 0, ensemble.n_rounds, team)
    np.testing.assert_array_equal(scores, expected)
    kind = MultiLabel([np.arange(n_labels)])
    names = Categories([f"c{i:02}" for i in range(N_CATEGORIES)])
    compiled = Single(kind, ensemble, N_NUMERIC + 1, [None] * N_NUMERIC + [names], lambda scores: scores)
    np.testing.assert_array_equal([compiled.scores(x) for x in X], expected)
    np.testing.assert_array_equal([compiled.predict(x) for x in X], expected > 0)


def test_tiles_of_some_rounds():
    rng = np.random.default_rng(0)
    ensemble, X = random_ensemble(rng, 3, n_rounds=9), random_rows(rng, 100)
    np.testing.assert_array_equal(in_tiles(ensemble, X, begin=2, end=7), walked(ensemble, X, 2, 7))


def test_many_blocks_and_votes_larger_than_the_cache():
    """More rows than a block has, more votes than go through it at once."""
    rng = np.random.default_rng(1)
    n_rounds, n_labels, n = 300, 40, 1500
    ensemble = random_ensemble(rng, n_labels, n_rounds=n_rounds, most_terms=1, n_leaves=5, nominal=False)
    X = random_rows(rng, n)
    some = rng.choice(n, 25, replace=False)
    found = in_tiles(ensemble, X, 2)
    np.testing.assert_array_equal(found[some], walked(ensemble, X[some]))
    with Team(2) as team:  # what the ensemble chooses for so much work, by itself
        np.testing.assert_array_equal(ensemble.scores(DenseTable(np.nan_to_num(X)), team, 200)[some],
                                      walked(ensemble, np.nan_to_num(X)[some], 0, 200))  # fmt: skip
    assert "tiles" in vars(ensemble)


def stumps(threshold, rng):
    """An ensemble of stumps on one column."""
    m = len(threshold)
    return Ensemble(
        initial=np.zeros(2),
        feature=np.zeros(m, np.int32),
        threshold=threshold,
        missing_right=rng.random(m) < 0.5,
        child=~np.arange(2 * m, dtype=np.int32).reshape(m, 2),
        gain=np.ones(m),
        values=rng.normal(size=(2 * m, 2)),
        root=np.arange(m, dtype=np.int32),
        first_term=np.arange(m + 1, dtype=np.intp),
        size=np.ones(m),
        set_start=np.full(m, -1, np.intp),
        sets=np.zeros(0, np.uint8),
    )


@pytest.mark.parametrize("n_cuts", [1, 2, 3, 127, 128, CUTS - 1, CUTS, CUTS + 1, 3 * CUTS + 2])
def test_more_thresholds_than_a_byte_can_count(n_cuts):
    """Values below, at and above each threshold, in no order."""
    rng = np.random.default_rng(n_cuts)
    ensemble = stumps(rng.permutation(np.arange(n_cuts, dtype=float)), rng)
    X = np.concatenate([np.arange(-1, 2 * n_cuts + 1) / 2, [np.nan]])[:, None]
    right = np.where(np.isnan(X), ensemble.missing_right, ensemble.threshold < X)
    expected = np.zeros((len(X), 2))
    for t in range(n_cuts):
        expected += ensemble.values[2 * t + right[:, t]]
    np.testing.assert_array_equal(in_tiles(ensemble, X), expected)


@pytest.mark.parametrize("n_leaves", [LEAVES, LEAVES + 1])
def test_a_leaf_is_a_byte(n_leaves):
    """A comb of tests: x in (i - 1, i] comes to leaf i; with more leaves rows are walked."""
    m = n_leaves - 1
    child = np.stack([~np.arange(m), np.arange(1, m + 1)], axis=1)
    child[-1, 1] = ~m
    rng = np.random.default_rng(0)
    one = stumps(np.arange(m, dtype=float), rng)
    ensemble = replace(one, child=child.astype(np.int32), root=np.zeros(1, np.int32), first_term=np.arange(2),
                       size=np.ones(1), values=one.values[:n_leaves])  # fmt: skip
    X = np.arange(n_leaves, dtype=float)[rng.permutation(n_leaves), None]
    assert (ensemble.tiles is None) == (n_leaves > LEAVES)
    if ensemble.tiles is not None:
        np.testing.assert_array_equal(in_tiles(ensemble, X), ensemble.values[X[:, 0].astype(int)])
    many = np.tile(X, (300, 1))
    with Team(1) as team:
        np.testing.assert_array_equal(ensemble.scores(DenseTable(many), team), ensemble.values[many[:, 0].astype(int)])


def test_dags_that_share_tests_are_walked():
    """No builder makes such arrays, but a sound model file may hold them."""
    rng = np.random.default_rng(0)
    whole = stumps(np.array([-1.0, 0.0, 1.0]), rng)
    X = np.repeat([[-2.0], [-0.5], [0.5], [np.nan]], 10_000, axis=0)
    for root in ([0, 0, 2], [1, 2, 2], [2, 1, 0], [~0, ~1, ~5]):
        ensemble = replace(whole, root=np.array(root, np.int32))
        assert ensemble.tiles is None
        with Team(1) as team:
            np.testing.assert_array_equal(ensemble.scores(DenseTable(X), team)[::10_000], walked(ensemble, X[::10_000]))


def test_tiles_are_not_pickled():
    X, y = make_classes(600, 4, 3)
    clf = MultiBoostClassifier("tree:5", 120, loss="exponential").fit(X, y)
    before = len(pickle.dumps(clf))
    scores = clf.decision_function(X)
    assert clf.ensemble_.tiles is not None
    data = pickle.dumps(clf)
    assert len(data) == before
    np.testing.assert_array_equal(pickle.loads(data).decision_function(X), scores)


@pytest.mark.parametrize("base_learner", ["stump", "tree:6", "product:3", "tree:4/product:3", "product:2/tree:3"])
def test_fitted_models_in_tiles(base_learner):
    """Rows of float32 too, of which a threshold may be a neighbour."""
    X, Y = make_labels(300, 5, 3, seed=2)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    clf = MultiBoostClassifier(base_learner, 6, loss="logistic").fit(X[:200], Y[:200])
    ensemble, new = clf.ensemble_, X[200:].astype(np.float32)
    expected = walked(ensemble, new.astype(np.float64))
    np.testing.assert_array_equal(in_tiles(ensemble, new.astype(np.float64)), expected)
    np.testing.assert_array_equal(clf.decision_function(new), expected)
    one = clf.compiled()
    np.testing.assert_array_equal([one.scores(x) for x in new.astype(np.float64)], expected)


def test_compiled_of_every_kind_of_target(tmp_path):
    """Classes of two, of three, labels and tasks; also from a file, without scikit-learn's face."""
    X, y = make_classes(200, 4, 3)
    X[::7, 1] = np.nan
    names = np.array(["a", "b", "c"])
    targets = {
        "binary": names[np.minimum(y, 1)],
        "multiclass": names[y],
        "multilabel": np.stack([y == 0, X[:, 0] > 0, y == 2], axis=1).astype(int),
        "multitask": np.stack([names[y], np.where(X[:, 0] > 0, "up", "down")], axis=1),
    }
    for kind, target in targets.items():
        clf = MultiBoostClassifier("tree:4", 8, loss="exponential").fit(X, target)
        assert clf.model_.kind.name == kind
        clf.save(tmp_path / "model.mb")
        scores, classes = clf.decision_function(X).reshape(len(X), -1), clf.predict(X)
        for one in (clf.compiled(), load(tmp_path / "model.mb").single()):
            np.testing.assert_array_equal([one.scores(x) for x in X], scores)
            np.testing.assert_array_equal(np.array([one.predict(x) for x in X]), classes)


def test_compiled_takes_numbers_of_categories():
    """Positions in categories_; what is none is missing, as a name is that was not seen in fit."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "c": rng.choice(list("abcdefghij"), size=300)})
    frame.loc[::11, "c"] = None
    y = (frame["x"] + frame["c"].isin(list("adj")) + 0.3 * rng.normal(size=300) > 0.5).to_numpy()
    clf = MultiBoostClassifier("tree:6", 12, loss="exponential").fit(frame, y)
    assert (clf.ensemble_.set_start >= 0).any()
    one, categories = clf.compiled(), list(clf.categories_[1])
    number = [categories.index(c) if c in categories else np.nan for c in frame["c"]]
    expected = clf.decision_function(frame)
    assert [float(one.scores(np.array([x, c]))[0]) for x, c in zip(frame["x"], number, strict=True)] == list(expected)
    missing = one.scores(np.array([0.1, np.nan]))
    for strange in (-1.0, float(len(categories)), 1e18, np.inf, -np.inf):
        np.testing.assert_array_equal(one.scores(np.array([0.1, strange])), missing)


def test_compiled_says_what_is_wrong():
    X, y = make_classes(120, 4, 3)
    clf = MultiBoostClassifier("stump", 3, loss="exponential")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        clf.compiled()
    one = clf.fit(X, y).compiled()
    with pytest.raises(ValueError, match="x has 3 numbers; the model has 4 columns"):
        one.scores(X[0, :3].copy())
    asks = MultiBoostClassifier(FromClassifier(GaussianNB()), 2, loss="exponential").fit(X, y)
    with pytest.raises(ValueError, match=r"FromClassifier.*use predict"):
        asks.compiled()
