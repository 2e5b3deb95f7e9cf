"""What a user gets who sets nothing: the choice of loss and size of trees, made again with public means."""

import numpy as np
import pytest

from multiboost import AdaBoostMHClassifier
from multiboost.data.target import Target, recognise

RATES = {"exponential": 0.2, "logistic": 0.1}


def board(n_rows: int, noise: float, seed: int = 0):
    """Squares of a board in any of four colours; a share of the labels is noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 4))
    colour = rng.integers(0, 4, (12, 12))
    y = colour[tuple((12 * X[:, :2]).astype(int).T)]
    return X, np.where(rng.random(n_rows) < noise, rng.integers(0, 4, n_rows), y)


def wrong(X, y, n_rows: int, loss: str, n_leaves: int) -> np.ndarray:
    """Which rows of the sample's first fifth are answered wrongly after 50 rounds on the others."""
    rows = np.random.default_rng(0).permutation(len(y))[:n_rows]
    outside = np.arange(len(rows)) % 5 == 0
    model = AdaBoostMHClassifier(f"tree:{n_leaves}", 50, loss=loss, learning_rate=RATES[loss])
    model.fit(X[rows[~outside]], y[rows[~outside]])
    return (model.predict(X[rows[outside]]) != y[rows[outside]]).astype(float)


def choice(X, y) -> tuple[str, int]:
    """The loss, and the leaves that 5000, 20 000, ... rows are worth."""
    first = (("exponential", 20), ("logistic", 8))
    loss, leaves = min(first, key=lambda option: wrong(X, y, 5000, *option).sum())
    size = 5000
    while size <= len(y):
        while 3 * leaves * 25 <= size:
            now = wrong(X, y, size, loss, leaves)
            gain = now - wrong(X, y, size, loss, 3 * leaves)
            if gain.sum() <= np.sqrt((gain**2).sum()) or gain.sum() <= 0.02 * now.sum():
                break
            leaves *= 3
        size *= 4
    return loss, leaves


# On the clean board 50 rounds of small trees have next to no error.
@pytest.mark.parametrize(("n_rows", "noise", "grows"), [(6000, 0.0, False), (6000, 0.5, True), (21000, 0.1, True)])
def test_the_trees_are_as_large_as_the_table_is_worth(n_rows, noise, grows):
    X, y = board(n_rows, noise)
    model = AdaBoostMHClassifier(n_estimators=2).fit(X, y)
    assert (model.loss_, model.base_learner_.n_leaves) == choice(X, y)
    assert (model.base_learner_.n_leaves > 20) == grows


def test_multi_label_tables_get_larger_trees_too():
    X, y = board(6000, 0.0)
    Y = (y[:, None] == np.arange(4)).astype(int)
    Y[:, 0] |= X[:, 2] > 0.9
    model = AdaBoostMHClassifier(n_estimators=2).fit(X, Y)
    assert model.loss_ == "logistic"
    assert model.base_learner_.n_leaves > 8


def test_sizes_that_the_user_sets_are_kept():
    X, y = board(6000, 0.0)
    assert AdaBoostMHClassifier("tree:10", 2).fit(X, y).base_learner_.n_leaves == 10
    assert AdaBoostMHClassifier(n_estimators=2, loss="logistic").fit(X, y).base_learner_.n_leaves == 8


def test_small_tables_are_sampled():
    X, y = board(600, 0.1)
    model = AdaBoostMHClassifier(n_estimators=5).fit(X, y)
    assert model.subsample_ == 0.8
    same = AdaBoostMHClassifier(
        model.base_learner_, 5, loss=model.loss_, learning_rate=model.learning_rate_, subsample=0.8
    ).fit(X, y)
    assert same.ensemble_.digest() == model.ensemble_.digest()
    assert AdaBoostMHClassifier(n_estimators=2, subsample=0.5).fit(X, y).subsample_ == 0.5
    for parameters in ({"loss": "logistic"}, {"votes": "discrete"}, {"base_learner": "tree:5"}, {"learning_rate": 0.3}):
        assert AdaBoostMHClassifier(**{"n_estimators": 2, **parameters}).fit(X, y).subsample_ == 1.0
    labels = (y[:, None] == np.arange(3)).astype(int)
    labels[:, 0] |= X[:, 2] > 0.9
    assert AdaBoostMHClassifier(n_estimators=2).fit(X, labels).subsample_ == 1.0
    assert AdaBoostMHClassifier(n_estimators=2).fit(*board(5000, 0.1)).subsample_ == 1.0


def test_errors_of_rows():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(40, 5))
    tasks = np.column_stack([rng.integers(0, 2, 40), rng.integers(0, 3, 40)])
    kind = recognise(tasks)
    target = Target(kind, tasks, sample_weight=rng.random(40))
    expected = np.zeros(40)
    for i in range(40):
        for t, part in enumerate(kind.tasks):
            if scores[i, part].argmax() != tasks[i, t]:
                expected[i] += np.abs(target.signed[i, part]).sum()
    np.testing.assert_allclose(target.errors(scores), expected)
    labels = rng.integers(0, 2, (40, 5))
    labels[:, 0] = 1 - labels[:, 1]
    target = Target(recognise(labels), labels)
    expected = [
        sum(abs(target.signed[i, k]) for k in range(5) if (scores[i, k] > 0) != (labels[i, k] == 1)) for i in range(40)
    ]
    np.testing.assert_allclose(target.errors(scores), expected)
