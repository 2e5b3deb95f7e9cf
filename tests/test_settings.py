"""What a user gets who sets nothing: the loss and the size of trees that cross-validation finds, too."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from multiboost import MultiBoostClassifier
from multiboost.data.kinds import recognise
from multiboost.data.target import Target

from .conftest import make_classes


def board(n_rows: int, noise: float, seed: int = 0, squares: int = 12):
    """Squares of a board in any of four colours; a share of the labels is noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 240, (n_rows, 4)) / 240
    colour = rng.integers(0, 4, (squares, squares))
    y = colour[tuple((squares * X[:, :2]).astype(int).T)]
    return X, np.where(rng.random(n_rows) < noise, rng.integers(0, 4, n_rows), y)


def blobs(n_rows: int, noise: float):
    """Classes that a plane parts, and noise: nothing for large trees."""
    X, y = make_classes(n_rows, 6, 3, seed=3)
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(n_rows) < noise, rng.integers(0, 3, n_rows), y)


def errors(X, y, n_folds: int = 5, **parameters) -> np.ndarray:
    """Errors of the folds of a cross-validation, by scikit-learn."""
    clf = MultiBoostClassifier(**{"n_estimators": 60, **parameters})
    return 1 - cross_val_score(clf, X, y, cv=n_folds)


@pytest.mark.parametrize(
    ("table", "better", "worse"),
    [(blobs(3000, 0.35), "logistic", "exponential"), (board(3000, 0.0), "exponential", "logistic")],
    ids=["noisy", "clean"],
)
def test_the_loss_is_the_better_one(table, better, worse):
    """By cross-validation, where one is better by more than three standard errors."""
    gain = errors(*table, loss=worse) - errors(*table, loss=better)
    assert gain.mean() > 3 * gain.std(ddof=1) / np.sqrt(gain.size), "the table should make a difference"
    model = MultiBoostClassifier(n_estimators=2).fit(*table)
    assert model.loss_ == better
    np.testing.assert_allclose(errors(*table), errors(*table, loss=better), atol=1e-12)


@pytest.mark.parametrize(("n_rows", "noise"), [(6000, 0.0), (21000, 0.1)])
def test_trees_grow_where_large_ones_win(n_rows, noise):
    """400 squares: trees of 20 leaves have much larger errors than those of the size that is chosen."""
    X, y = board(n_rows, noise, squares=20)
    model = MultiBoostClassifier(n_estimators=2).fit(X, y)
    size = model.base_learner_.n_leaves
    usual = {"loss": model.loss_, "learning_rate": model.learning_rate_, "subsample": 1.0, "n_folds": 3}
    small, chosen = (errors(X, y, base_learner=f"tree:{k}", **usual).mean() for k in (20, size))
    assert size > 20
    assert chosen < 0.8 * small


def test_trees_do_not_grow_where_nothing_is_gained():
    X, y = blobs(6000, 0.5)
    model = MultiBoostClassifier(n_estimators=2).fit(X, y)
    size = model.base_learner_.n_leaves
    usual = {"loss": model.loss_, "learning_rate": model.learning_rate_, "subsample": 1.0, "n_folds": 3}
    now, larger = (errors(X, y, base_learner=f"tree:{k}", **usual).mean() for k in (size, 3 * size))
    assert larger > 0.98 * now, "the table should not be worth larger trees"
    assert size == 8


def test_trees_grow_with_the_rows():
    """The same board: few rows are not worth large trees, and below 5000 none are tried."""
    sizes = [
        MultiBoostClassifier(n_estimators=2).fit(*board(n, 0.0, squares=20)).base_learner_.n_leaves
        for n in (300, 4900, 6000)
    ]
    assert sizes[0] == 12  # 25 rows to a leaf
    assert sizes[1] == 20
    assert sizes[2] > 20


def test_multi_label_tables_get_larger_trees_too():
    X, y = board(6000, 0.0)
    Y = (y[:, None] == np.arange(4)).astype(int)
    Y[:, 0] |= X[:, 2] > 0.9
    model = MultiBoostClassifier(n_estimators=2).fit(X, Y)
    assert model.loss_ == "logistic"
    assert model.base_learner_.n_leaves > 8


def test_what_the_user_sets_is_kept_and_the_rest_is_chosen():
    X, y = board(6000, 0.0)
    assert MultiBoostClassifier("tree:10", 2).fit(X, y).base_learner_.n_leaves == 10
    model = MultiBoostClassifier(n_estimators=2, loss="logistic").fit(X, y)
    assert model.loss_ == "logistic"
    assert model.base_learner_.n_leaves > 8


def test_small_tables_are_sampled():
    X, y = board(600, 0.1)
    model = MultiBoostClassifier(n_estimators=5).fit(X, y)
    assert model.subsample_ == 0.8
    same = MultiBoostClassifier(
        model.base_learner_, 5, loss=model.loss_, learning_rate=model.learning_rate_, subsample=0.8
    ).fit(X, y)
    assert same.ensemble_.digest() == model.ensemble_.digest()
    assert MultiBoostClassifier(n_estimators=2, subsample=0.5).fit(X, y).subsample_ == 0.5
    for parameters in ({"loss": "logistic"}, {"base_learner": "tree:5"}, {"learning_rate": 0.3}):
        assert MultiBoostClassifier(**{"n_estimators": 2, **parameters}).fit(X, y).subsample_ == 0.8
    assert MultiBoostClassifier(n_estimators=2, votes="discrete").fit(X, y).subsample_ == 1.0
    labels = (y[:, None] == np.arange(3)).astype(int)
    labels[:, 0] |= X[:, 2] > 0.9
    assert MultiBoostClassifier(n_estimators=2).fit(X, labels).subsample_ == 1.0
    assert MultiBoostClassifier(n_estimators=2).fit(*board(5000, 0.1)).subsample_ == 1.0


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
