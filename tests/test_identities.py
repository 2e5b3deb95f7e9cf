"""Identities of boosting, and every cut against a search by hand in NumPy."""

import numpy as np
import pytest

from multiboost import evaluate
from multiboost.estimators.wishes import losses_of

from .conftest import all_rows, half_weights, leaf_numbers, make_levels, signs_of

LEARNERS = ["stump", "tree:5", "product:3", "tree:4/product:2", "product:2/tree:4"]


def scores_of(clf, X) -> np.ndarray:
    """F, (n, K)."""
    F = clf.decision_function(X)
    return F.reshape(len(X), -1)


def staged_scores(clf, X):
    """F before the first round and after every round, (n, K)."""
    yield np.tile(clf.ensemble_.initial, (len(X), 1))
    for F in clf.staged_decision_function(X):
        yield F.reshape(len(X), -1)


def pulls(W0, Y, F) -> np.ndarray:
    """G of the exponential loss: signed weights that sum to one in size."""
    g = W0 * Y * np.exp(-F * Y)
    return g / np.abs(g).sum()


def softplus(z):
    return np.logaddexp(0.0, z)


@pytest.mark.parametrize("votes", ["discrete", "real"])
@pytest.mark.parametrize("base_learner", LEARNERS)
def test_product_of_z_is_the_exponential_risk(base_learner, votes, three_classes):
    """prod_t Z_t = sum W0 exp(-F Y), and the history has the same risk and training error."""
    X, y = three_classes
    clf = all_rows(base_learner, 12, votes=votes, loss="exponential").fit(X, y)
    Y = signs_of(y, 3)
    W0 = half_weights(Y)
    assert W0.sum() == pytest.approx(1.0)
    product = np.cumprod(clf.history_["Z"])
    for t, F in enumerate(list(staged_scores(clf, X))[1:]):
        risk = (W0 * np.exp(-F * Y)).sum()
        assert product[t] == pytest.approx(risk, rel=1e-10)
        assert clf.history_["risk"][t] == pytest.approx(risk, rel=1e-10)
        assert clf.history_["training_error"][t] == pytest.approx(np.mean(F.argmax(1) != y), abs=1e-11)


@pytest.mark.parametrize("votes", ["discrete", "real"])
@pytest.mark.parametrize("target", ["binary", "multilabel", "multitask"])
def test_product_of_z_for_other_targets(target, votes, two_classes, labels):
    """The same identity with one column, with labels that stand alone and with tasks."""
    X, y = two_classes if target == "binary" else labels
    if target == "binary":
        Y, W0 = signs_of(y, 2), np.full((len(y), 1), 1.0 / len(y))
    elif target == "multilabel":
        Y, W0 = 2.0 * y - 1, np.full(y.shape, 1.0 / y.size)
    else:
        y = np.stack([y[:, 0] + 2 * y[:, 1], y[:, 2] + 5], axis=1)
        Y = np.concatenate([signs_of(y[:, 0], 4), np.where(y[:, 1:] == [5, 6], 1.0, -1.0)], axis=1)
        W0 = 0.5 * np.concatenate([half_weights(Y[:, :4]), half_weights(Y[:, 4:])], axis=1)
    clf = all_rows("tree:4", 10, votes=votes, loss="exponential").fit(X, y)
    F = scores_of(clf, X)
    risk = (W0 * np.exp(-F * Y)).sum()
    assert np.prod(clf.history_["Z"]) == pytest.approx(risk, rel=1e-10)
    assert clf.history_["risk"][-1] == pytest.approx(risk, rel=1e-10)
    if target == "multitask":
        wrong = 0.5 * np.mean(F[:, :4].argmax(1) != y[:, 0]) + 0.5 * np.mean(F[:, 4:].argmax(1) + 5 != y[:, 1])
    else:
        wrong = W0[(F > 0) != (Y > 0)].sum()
    assert clf.history_["training_error"][-1] == pytest.approx(wrong, abs=1e-11)


def test_logistic_risk(three_classes):
    """The history of the logistic loss is sum W0 log(1 + exp(-2 F Y)), and it falls."""
    X, y = three_classes
    clf = all_rows("tree:5", 12, loss="logistic").fit(X, y)
    Y = signs_of(y, 3)
    W0 = half_weights(Y)
    found = [(W0 * softplus(-2 * F * Y)).sum() for F in staged_scores(clf, X)]
    np.testing.assert_allclose(clf.history_["risk"], found[1:], rtol=1e-10)
    assert np.all(np.diff(found) < 0)


@pytest.mark.parametrize("loss", sorted(losses_of("labels")))
@pytest.mark.parametrize("target", ["binary", "multiclass", "multilabel", "multitask"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_risk_of_training_is_that_of_evaluation(loss, target, weighted, labels):
    """The kernel's sums against the loss's own formula on public scores, for every loss there is."""
    X, Y = labels
    y = {
        "binary": Y[:, 0],
        "multiclass": Y[:, 0] + 2 * Y[:, 1],
        "multilabel": np.where(np.random.default_rng(0).random(Y.shape) < 0.1, np.nan, Y),
        "multitask": np.stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2] + 5], axis=1),
    }[target]
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(X)) if weighted else None
    more = {"class_weight": "balanced", "weighting": "uniform"} if weighted else {}
    clf = all_rows("tree:5", 8, loss=loss, subsample=0.7, **more).fit(X, y, sample_weight=weight)
    found = evaluate(clf, X, y, sample_weight=weight)
    assert found.risk == pytest.approx(clf.history_["risk"][-1], rel=1e-10)
    assert clf.history_["risk"][-1] < clf.history_["risk"][0]


def all_cuts(X):
    """Every feature and every threshold half-way between neighbouring values."""
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for b in (values[:-1] + values[1:]) / 2:
            yield j, b


@pytest.mark.parametrize("n_classes", [2, 3, 5, 9])
def test_discrete_stump_has_the_largest_edge(n_classes):
    """Edge (3.33), votes (3.35) and alpha (3.34) by brute force, round by round."""
    X, y = make_levels(90, 4, n_classes, seed=n_classes)
    clf = all_rows("stump", 15, votes="discrete").fit(X, y)
    Y = signs_of(y, n_classes)
    W0 = half_weights(Y)
    ensemble = clf.ensemble_
    for t, F in zip(range(15), staged_scores(clf, X), strict=False):
        G = pulls(W0, Y, F)
        assert np.abs(G).sum() == pytest.approx(1.0)
        edges = {}
        for j, b in all_cuts(X):
            phi = np.where(X[:, j] > b, 1.0, -1.0)
            edges[j, b] = np.abs(phi @ G).sum()
        test = ensemble.root[t]
        j, b = int(ensemble.feature[test]), float(ensemble.threshold[test])
        phi = np.where(X[:, j] > b, 1.0, -1.0)
        edge = edges[j, b]
        assert edge == pytest.approx(max(edges.values()), abs=1e-11)
        assert clf.history_["edge"][t] == pytest.approx(edge, abs=1e-11)
        alpha = 0.5 * np.log((1 + edge) / (1 - edge))
        assert clf.history_["alpha"][t] == pytest.approx(alpha, rel=1e-10)
        assert clf.history_["Z"][t] == pytest.approx(np.sqrt(1 - edge**2), rel=1e-10)
        left, right = ensemble.child[test]
        v = np.where(phi @ G > 0, 1.0, -1.0)
        np.testing.assert_allclose(ensemble.values[~right], alpha * v, rtol=1e-10)
        np.testing.assert_allclose(ensemble.values[~left], -alpha * v, rtol=1e-10)


def z_of(G, H) -> float:
    """Sum over labels of sqrt(H^2 - G^2) = 2 sqrt(W- W+)."""
    return np.sqrt(np.maximum(H**2 - G**2, 0.0)).sum()


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_real_stump_has_the_smallest_z(n_classes):
    """Columns of at most 24 values: the cut minimises Z, leaves hold smoothed half log odds."""
    X, y = make_levels(150, 4, n_classes, n_levels=24, seed=10 + n_classes)
    clf = all_rows("stump", 12, votes="real", loss="exponential", learning_rate=1.0).fit(X, y)
    Y = signs_of(y, n_classes)
    W0 = half_weights(Y)
    s = 1.0 / Y.size
    ensemble = clf.ensemble_
    for t, F in zip(range(12), staged_scores(clf, X), strict=False):
        G = pulls(W0, Y, F)
        H = np.abs(G)
        energies = {}
        for j, b in all_cuts(X):
            right = X[:, j] > b
            energies[j, b] = z_of(G[right].sum(0), H[right].sum(0)) + z_of(G[~right].sum(0), H[~right].sum(0))
        test = ensemble.root[t]
        chosen = int(ensemble.feature[test]), float(ensemble.threshold[test])
        assert energies[chosen] <= min(energies.values()) * (1 + 1e-6)
        right = X[:, chosen[0]] > chosen[1]
        for side, leaf in ((~right, ~ensemble.child[test, 0]), (right, ~ensemble.child[test, 1])):
            g, h = G[side].sum(0), H[side].sum(0)
            np.testing.assert_allclose(ensemble.values[leaf], 0.5 * np.log((h + g + s) / (h - g + s)), rtol=1e-9)


@pytest.mark.parametrize("ridge", [1.0, 25.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_newton_stump_has_the_largest_gain(n_classes, ridge):
    """Logistic loss: the best cut by G^2 / (H + ridge), leaves hold G / (H + ridge)."""
    X, y = make_levels(150, 4, n_classes, n_levels=20, seed=20 + n_classes)
    clf = all_rows("stump", 12, loss="logistic", learning_rate=1.0, ridge=ridge).fit(X, y)
    Y = signs_of(y, n_classes)
    W0 = half_weights(Y)
    r = ridge / Y.size
    ensemble = clf.ensemble_
    positive, negative = (W0 * (Y > 0)).sum(0), (W0 * (Y < 0)).sum(0)
    np.testing.assert_allclose(
        ensemble.initial, 0.5 * np.log((positive + 1 / Y.size) / (negative + 1 / Y.size)), rtol=1e-12, atol=1e-15
    )
    for t, F in zip(range(12), staged_scores(clf, X), strict=False):
        p = 1 / (1 + np.exp(-2 * F))
        G = W0 * np.where(Y > 0, 1 - p, -p)
        H = 2 * W0 * p * (1 - p)
        gains = {}
        for j, b in all_cuts(X):
            sides = [(G[s].sum(0), H[s].sum(0)) for s in (X[:, j] > b, X[:, j] <= b)]
            gains[j, b] = sum((g**2 / (h + r)).sum() for g, h in sides)
        test = ensemble.root[t]
        chosen = int(ensemble.feature[test]), float(ensemble.threshold[test])
        assert gains[chosen] >= max(gains.values()) * (1 - 1e-6)
        right = X[:, chosen[0]] > chosen[1]
        for side, leaf in ((~right, ~ensemble.child[test, 0]), (right, ~ensemble.child[test, 1])):
            np.testing.assert_allclose(
                ensemble.values[leaf], G[side].sum(0) / (H[side].sum(0) + r), rtol=1e-8, atol=1e-12
            )


class SlowTree:
    """Best-first growth by NumPy: tests, leaves and their rows."""

    def __init__(self, X, G, H, n_leaves, score, is_edge):
        self.X, self.G, self.H, self.score, self.is_edge = X, G, H, score, is_edge
        self.cuts: list[tuple[int, float]] = []
        leaves = [(np.arange(len(X)), None)]
        while len(leaves) < n_leaves:
            found = [self.best(rows) for rows, _ in leaves]
            k = int(np.argmax([gain for gain, *_ in found]))
            gain, j, b = found[k]
            if gain <= 0:
                break
            rows, _ = leaves.pop(k)
            self.cuts.append((j, b))
            right = X[rows, j] > b
            v = np.where(G[rows[right]].sum(0) > G[rows[~right]].sum(0), 1.0, -1.0)
            leaves += [(rows[~right], -v), (rows[right], v)]
        self.leaves = leaves

    def best(self, rows):
        """Gain, feature and threshold of the best cut of some rows."""
        found = (-np.inf, -1, 0.0)
        G, H = self.G[rows], self.H[rows]
        now = np.abs(G.sum(0)).sum() if self.is_edge else self.score(G.sum(0), H.sum(0))
        for j, b in all_cuts(self.X[rows]):
            right = self.X[rows, j] > b
            a, c = (G[~right].sum(0), H[~right].sum(0)), (G[right].sum(0), H[right].sum(0))
            new = np.abs(c[0] - a[0]).sum() if self.is_edge else self.score(*a) + self.score(*c)
            if new - now > found[0]:
                found = (new - now, j, b)
        return found


@pytest.mark.parametrize("criterion", ["edge", "z", "newton"])
def test_tree_of_four_leaves_grows_best_leaf_first(criterion):
    """The first tree against a slow grower: the same cuts, the same leaves, the same votes."""
    X, y = make_levels(160, 4, 3, n_levels=9, seed=5)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(X))  # no two cuts tie
    parameters = {
        "edge": {"votes": "discrete"},
        "z": {"votes": "real", "loss": "exponential", "learning_rate": 1.0},
        "newton": {"loss": "logistic", "learning_rate": 1.0},
    }[criterion]
    clf = all_rows("tree:4", 1, **parameters).fit(X, y, sample_weight=weight)
    ensemble = clf.ensemble_
    Y = signs_of(y, 3)
    W0 = half_weights(Y) * weight[:, None]
    W0 /= W0.sum()
    unit = 1.0 / Y.size
    if criterion == "newton":
        p = 1 / (1 + np.exp(-2 * ensemble.initial))
        G, H = W0 * np.where(Y > 0, 1 - p, -p), 2 * W0 * p * (1 - p)
        slow = SlowTree(X, G, H, 4, lambda g, h: (g**2 / (h + unit)).sum(), False)
    else:
        G, H = W0 * Y, W0
        slow = SlowTree(X, G, H, 4, lambda g, h: -z_of(g, h), criterion == "edge")
    assert sorted(zip(ensemble.feature.tolist(), ensemble.threshold.tolist(), strict=True)) == sorted(slow.cuts)
    assert len(slow.leaves) == len(ensemble.values) == 4
    leaf = leaf_numbers(ensemble, 0, X)
    alpha = 1.0
    if criterion == "edge":
        edge = sum((v * G[rows].sum(0)).sum() for rows, v in slow.leaves)
        assert clf.history_["edge"][0] == pytest.approx(edge, abs=1e-11)
        alpha = np.arctanh(edge)
    for rows, v in slow.leaves:
        (number,) = np.unique(leaf[rows])
        assert (leaf == number).sum() == len(rows)
        g, h = G[rows].sum(0), H[rows].sum(0)
        if criterion == "z":
            v = 0.5 * np.log((h + g + unit) / (h - g + unit))
        elif criterion == "newton":
            v = g / (h + unit)
        np.testing.assert_allclose(ensemble.values[number], alpha * v, rtol=1e-9, atol=1e-12)


def test_product_beats_its_first_stump(three_classes):
    """A product's edge under virtual labels is the edge of the whole product, by NumPy."""
    X, y = three_classes
    stump = all_rows("stump", 1, votes="discrete").fit(X, y)
    product = all_rows("product:3", 1, votes="discrete").fit(X, y)
    Y = signs_of(y, 3)
    h = np.sign(product.decision_function(X))
    edge = (half_weights(Y) * Y * h).sum()
    assert product.history_["edge"][0] == pytest.approx(edge, abs=1e-11)
    assert edge > stump.history_["edge"][0]


def test_product_of_two_stumps_solves_the_checkerboard():
    """Labels that are the parity of two signs: no stump has an edge, a product is perfect."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, size=(400, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    product = all_rows("product:2", 5, votes="discrete").fit(X, y)
    stump = all_rows("stump", 5, votes="discrete").fit(X, y)
    assert np.mean(product.predict(X) == y) > 0.95
    assert np.mean(stump.predict(X) == y) < 0.75


def test_perfect_stump_has_a_finite_alpha():
    """A separable column: the edge is one, alpha is cut off, scores stay finite."""
    X = np.arange(20.0)[:, None]
    y = (X[:, 0] > 9).astype(int)
    clf = all_rows("stump", 3, votes="discrete").fit(X, y)
    assert clf.history_["edge"][0] == pytest.approx(1.0)
    assert 13 < clf.history_["alpha"][0] < 14.2
    assert np.isfinite(clf.decision_function(X)).all()
    np.testing.assert_array_equal(clf.predict(X), y)
