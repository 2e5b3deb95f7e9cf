"""``class_weight``: scikit-learn's words, and scikit-learn's numbers."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from multiboost import AdaBoostMHClassifier, MultiBoostClassifier, evaluate, load_model

from .conftest import make_levels

KINDS = {
    "discrete": {"votes": "discrete"},
    "real": {"loss": "exponential"},
    "logistic": {"loss": "logistic"},
    "auto": {"base_learner": "tree"},
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def rare(n=200, n_classes=3, seed=0):
    """Columns of a few levels, and classes of which some are rare."""
    X, y = make_levels(n, 4, n_classes, seed=seed)
    keep = (y != 0) | (np.arange(n) % 4 == 0)
    return X[keep], y[keep]


def boost(X, y, kind="real", class_weight=None, **fit):
    clf = MultiBoostClassifier(
        **{"base_learner": "tree:4", "n_estimators": 8, **KINDS[kind]}, class_weight=class_weight
    )
    return clf.fit(X, y, **fit)


def assert_same_model(a, b, X):
    """The same cuts; weights are multiplied in another order, so scores agree to rounding."""
    np.testing.assert_array_equal(a.ensemble_.feature, b.ensemble_.feature)
    np.testing.assert_array_equal(a.ensemble_.threshold, b.ensemble_.threshold)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-6, atol=1e-9)
    for name in ("risk", "training_error"):
        np.testing.assert_allclose(a.history_[name], b.history_[name], rtol=1e-8, atol=1e-12)


WEIGHTS = ["balanced", {0: 5.0, 1: 0.5, 2: 1.0}, {0: 3.0}, [{1: 2.0}], ["balanced"]]


@each_kind
@pytest.mark.parametrize("class_weight", WEIGHTS, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_is_the_sample_weight_of_scikit_learn(kind, class_weight, weighted):
    X, y = rare()
    own = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    given = class_weight[0] if isinstance(class_weight, list) else class_weight
    expected = own * compute_sample_weight(given, y)
    a = boost(X, y, kind, class_weight, **({"sample_weight": own} if weighted else {}))
    assert_same_model(a, boost(X, y, kind, sample_weight=expected), X)
    plain = boost(X, y, kind, sample_weight=own)
    assert np.abs(a.decision_function(X) - plain.decision_function(X)).max() > 0.01, "it should matter"


@each_kind
def test_two_classes_of_text(kind):
    X, y = rare(n_classes=2)
    y = np.array(["no", "yes"])[y]
    of_class = dict(zip(["no", "yes"], compute_class_weight("balanced", classes=np.unique(y), y=y), strict=True))
    a = boost(X, y, kind, "balanced")
    assert_same_model(a, boost(X, y, kind, of_class), X)
    assert_same_model(a, boost(X, y, kind, sample_weight=compute_sample_weight("balanced", y)), X)


def test_balanced_classes_weigh_the_same():
    """One round of a stump on a column that says nothing: with balanced classes the votes are even."""
    y = np.repeat([0, 1], [30, 10])
    X = np.tile([0.0, 1.0], 20)[:, None]
    a = boost(np.c_[X, y], y, "logistic", "balanced")
    np.testing.assert_allclose(a.ensemble_.initial, 0.0, atol=1e-12)


def test_a_class_of_weight_zero_is_absent():
    """The scores of its rows do not count, nor do the errors."""
    X, y = rare()
    a = boost(X, y, "real", {1: 0.0})
    b = boost(X, y, "real", sample_weight=(y != 1).astype(float))
    assert_same_model(a, b, X)


@each_kind
@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
def test_labels_have_weights_of_their_own(kind, unknown):
    """Column by column, of the rows where the label is known."""
    X, y = rare()
    rng = np.random.default_rng(1)
    Y = np.stack([y == 0, y > 0, X[:, 0] > 5], axis=1).astype(float)
    if unknown:
        Y[rng.random(Y.shape) < 0.2] = np.nan
    weight = np.ones(Y.shape)
    for k in range(3):
        known = ~np.isnan(Y[:, k])
        weight[known, k] = compute_sample_weight("balanced", Y[known, k])
    a = boost(X, Y, kind, "balanced")
    assert_same_model(a, boost(X, Y, kind, label_weight=weight), X)
    several = [{0: 1.0, 1: 4.0}, "balanced", {1: 0.25}]
    weight = np.stack([np.where(Y[:, 0] == 1, 4.0, 1.0), weight[:, 1], np.where(Y[:, 2] == 1, 0.25, 1.0)], axis=1)
    assert_same_model(boost(X, Y, kind, several), boost(X, Y, kind, label_weight=weight), X)


@each_kind
@pytest.mark.parametrize("unknown", [False, True], ids=["known", "unknown"])
def test_tasks_have_weights_of_their_own(kind, unknown):
    X, y = rare()
    tasks = np.stack([np.array(["a", "b", "c"])[y], np.where(X[:, 0] > 4, "high", "low")], axis=1).astype(object)
    if unknown:
        tasks[::7, 0] = None
        tasks[3::5, 1] = None
    weight = np.ones((len(y), 5))
    for t, part in enumerate((slice(0, 3), slice(3, 5))):
        known = np.array([v is not None for v in tasks[:, t]])
        weight[known, part] = compute_sample_weight("balanced", tasks[known, t].astype(str))[:, None]
    a = boost(X, tasks, kind, "balanced")
    assert_same_model(a, boost(X, tasks, kind, label_weight=weight), X)
    weight[:, :3] = np.where(tasks[:, 0] == "b", 3.0, 1.0)[:, None]
    assert_same_model(boost(X, tasks, kind, [{"b": 3.0}, "balanced"]), boost(X, tasks, kind, label_weight=weight), X)


def test_weightings_are_multiplied():
    """``weighting`` shares out what a sample weighs, ``class_weight`` says how much that is."""
    X, y = rare()
    for weighting in ("uniform", "half"):
        a = MultiBoostClassifier("tree:4", 5, loss="logistic", weighting=weighting, class_weight={0: 4.0}).fit(X, y)
        b = MultiBoostClassifier("tree:4", 5, loss="logistic", weighting=weighting)
        assert_same_model(a, b.fit(X, y, sample_weight=np.where(y == 0, 4.0, 1.0)), X)


def test_of_a_validation_set():
    """Its error and risk have the same weights."""
    X, y = rare(400)
    train, valid = (X[:200], y[:200]), (X[200:], y[200:])
    given = {0: 4.0, 2: 0.5}
    a = boost(*train, "logistic", given, validation=valid)
    own = [compute_sample_weight(given, part[1]) for part in (train, valid)]
    b = boost(*train, "logistic", sample_weight=own[0], validation=(*valid, own[1]))
    for name in ("validation_error", "validation_risk"):
        np.testing.assert_allclose(a.history_[name], b.history_[name], rtol=1e-8)
    assert evaluate(a, *train).risk == pytest.approx(a.history_["risk"][-1], rel=1e-10)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: 1.0, 7: 2.0}, "class_weight has 7, which is not a class; there are .*0, 1, 2"),
        ({"0": 1.0}, "class_weight has '0', which is not a class"),
        ("even", "class_weight must be 'balanced' or a dictionary; got 'even'"),
        (3.0, "class_weight must be 'balanced', a dictionary or a list"),
        ({0: -1.0}, "class_weight must be finite and not negative"),
        ({0: np.nan}, "class_weight must be finite and not negative"),
        ({0: np.inf}, "class_weight must be finite and not negative"),
        ({0: "much"}, "class_weight.*'much'"),
        ({0: 0.0, 1: 0.0, 2: 0.0}, "all weights are zero"),
        ([{0: 1.0}, {1: 1.0}], "class_weight has 2 entries, but y has 1 column"),
    ],
)
def test_bad_values(class_weight, message):
    X, y = rare()
    with pytest.raises(ValueError, match=message):
        boost(X, y, "real", class_weight)


@pytest.mark.parametrize("estimator", [MultiBoostClassifier, AdaBoostMHClassifier])
@pytest.mark.parametrize(
    ("class_weight", "names"),
    [
        ({0: 5.0, 1: 0.5}, [0, 1, 2]),
        ({np.int64(0): np.float32(5.0)}, [0, 1, 2]),
        ({"0": 5.0}, ["0", "1", "2"]),
        ({1.0: 2}, [0.0, 1.0, 2.0]),
        ({True: 2.0}, [False, True, True]),
        ("balanced", [0, 1, 2]),
        ([{2: 3.0}], [0, 1, 2]),
        (None, [0, 1, 2]),
    ],
    ids=str,
)
def test_saved_and_loaded(estimator, class_weight, names, tmp_path):
    """Classes that are numbers stay numbers: the loaded estimator trains the same model."""
    X, y = rare()
    y = np.array(names)[y]
    clf = estimator("tree:4", 5, class_weight=class_weight).fit(X, y)
    clf.save(tmp_path / "m.mb")
    again = load_model(tmp_path / "m.mb")
    assert again.class_weight == class_weight
    if isinstance(class_weight, dict):
        plain = [c.item() if isinstance(c, np.generic) else c for c in class_weight]
        assert [type(c) for c in again.class_weight] == [type(c) for c in plain]
    assert again.fit(X, y).ensemble_.digest() == clf.ensemble_.digest()


def test_resumed_with_the_same_weights_only(tmp_path):
    X, y = rare()
    boost(X, y, "real", {0: 5.0}, checkpoint=tmp_path / "c.mb")
    more = MultiBoostClassifier("tree:4", 12, loss="exponential", class_weight={0: 5.0})
    assert more.fit(X, y, resume=tmp_path / "c.mb").n_iter_ == 12
    other = MultiBoostClassifier("tree:4", 12, loss="exponential", class_weight={0: 4.0})
    with pytest.raises(ValueError, match="was written by a run with class_weight="):
        other.fit(X, y, resume=tmp_path / "c.mb")


@each_kind
def test_rounds_that_were_made(kind):
    """``n_iter_``, as scikit-learn calls it, also where nothing helps any more."""
    X, y = rare()
    assert boost(X, y, kind).n_iter_ == boost(X, y, kind).n_estimators_ == 8
    perfect = MultiBoostClassifier("stump", 50, votes="discrete").fit([[0.0], [1.0]] * 20, [0, 1] * 20)
    assert perfect.n_iter_ == len(perfect.history_["edge"]) == perfect.ensemble_.n_rounds
