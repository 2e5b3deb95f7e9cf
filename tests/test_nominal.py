"""Nominal columns: the search for a subset, what must not change it, and every form a category comes in."""

import numpy as np
import pytest

from multiboost import AdaBoostMHClassifier
from multiboost.kernels.subset import EXHAUSTIVE

from .conftest import leaf_numbers

KINDS = {
    "discrete": {"votes": "discrete"},
    "real": {"votes": "real", "loss": "exponential"},
    "logistic": {"loss": "logistic"},
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def boost(X, y, kind, base_learner="stump", n_rounds=5, fit=None, **parameters):
    """A short run on one thread."""
    parameters = {"n_jobs": 1, **KINDS[kind], **parameters}
    return AdaBoostMHClassifier(base_learner, n_rounds, **parameters).fit(X, y, **(fit or {}))


# The search against all subsets.


class Problem:
    """One nominal column, labels that lean on it, random weights, and the sums that a criterion sees.

    Parameters
    ----------
    kind : str
    n_categories, n_labels : int
        One label: a binary target.
    target : {"multilabel", "multiclass"}
        Multi-class targets have sums of their own in the kernels.
    missing : bool
        Whether some values are missing: one more category, the last.
    """

    def __init__(self, kind, n_categories, n_labels, seed, target="multilabel", missing=False):
        rng = np.random.default_rng(seed)
        n = 15 * n_categories
        category = np.concatenate([np.arange(n_categories), rng.integers(0, n_categories, n - n_categories)])
        lean = rng.normal(size=(n_categories, n_labels))
        strength = lean[category] + rng.normal(size=(n, n_labels))
        if target == "multiclass":
            y = strength.argmax(axis=1)
            y[:n_labels] = np.arange(n_labels)
            Y = np.where(y[:, None] == np.arange(n_labels), 1.0, -1.0)
        else:
            Y = np.where(strength > 0, 1.0, -1.0)
            Y[:2] = [[-1.0] * n_labels, [1.0] * n_labels]
            y = (Y > 0).astype(int)[:, 0] if n_labels == 1 else (Y > 0).astype(int)
        W = rng.exponential(size=(n, n_labels))
        W /= W.sum()
        self.kind, self.category, self.n, self.n_categories = kind, category, n, n_categories
        self.X = category.astype(float)[:, None]
        if missing:
            self.X[category == n_categories - 1] = np.nan
        self.y, self.W, self.Y = y, W, Y
        G = W * Y
        if kind == "real":
            pair = np.maximum(G, 0.0), np.maximum(-G, 0.0)
        elif kind == "logistic":
            positive, negative = np.maximum(G, 0).sum(0), np.maximum(-G, 0).sum(0)
            F = 0.5 * np.log((positive + 1 / W.size) / (negative + 1 / W.size))
            p = 1 / (1 + np.exp(-2 * F))
            pair = W * Y * np.where(Y > 0, 1 - p, p), 2 * W * p * (1 - p)
        else:
            pair = G, 0 * G
        self.sums = np.zeros((2, n_categories, n_labels))
        for k in (0, 1):
            np.add.at(self.sums[k], category, pair[k])

    def score(self, right) -> np.ndarray:
        """The criterion of some subsets, (subsets, categories) of 0 and 1; more is better."""
        a, b = (np.asarray(right, float) @ s for s in self.sums)
        c, d = (s.sum(axis=0) - t for s, t in zip(self.sums, (a, b), strict=True))
        if self.kind == "discrete":
            return np.abs(a - c).sum(axis=1)
        if self.kind == "real":
            a, b, c, d = (np.maximum(x, 0.0) for x in (a, b, c, d))
            return -2 * (np.sqrt(a * b) + np.sqrt(c * d)).sum(axis=1)
        ridge = 1.0 / self.W.size
        return (a**2 / (b + ridge) + c**2 / (d + ridge)).sum(axis=1)

    def subsets(self, constant: bool) -> np.ndarray:
        """All of them, the first category on the left; the empty one where it may be."""
        code = np.arange(0 if constant else 1, 2 ** (self.n_categories - 1))
        return np.concatenate([np.zeros((len(code), 1), int), (code[:, None] >> np.arange(self.n_categories - 1)) & 1], 1)

    def best(self, constant: bool) -> float:
        return self.score(self.subsets(constant)).max()

    def best_selector(self) -> float:
        every = np.eye(self.n_categories)
        if self.kind == "discrete":
            every = np.concatenate([every, np.zeros((1, self.n_categories))])
        return self.score(every).max()

    def found(self, base_learner, **parameters) -> float:
        """The score of the cut that one round makes, by its model's set."""
        parameters = {"nominal_features": [0], "min_category_rows": 1, **parameters}
        clf = boost(
            self.X, self.y, self.kind, base_learner, 1, weighting="given", fit={"label_weight": self.W}, **parameters
        )
        names = list(clf.categories_[0])
        number = [names.index(str(c)) if str(c) in names else np.nan for c in range(self.n_categories)]
        side = leaf_numbers(clf.ensemble_, 0, np.array(number, float)[:, None])
        score = self.score(side[None])[0]
        if self.kind == "discrete":
            assert clf.history_["edge"][0] == pytest.approx(score, rel=1e-12, abs=1e-12)
        return score

    def same(self, a: float, b: float) -> bool:
        """Whether two scores are equal as far as the fixed point of the kernels can tell."""
        return abs(a - b) <= (1e-12 if self.kind == "discrete" else 1e-6 * abs(b))


@each_kind
@pytest.mark.parametrize("target", ["multilabel", "multiclass"])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
def test_selector_is_the_best_value(kind, target, missing):
    """Of all values; with discrete votes the constant is one more."""
    for seed in range(20):
        p = Problem(kind, 3 + seed % 10, 3 + seed % 6, seed, target, missing)
        assert p.same(p.found("selector"), p.best_selector()), seed


@each_kind
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("base_learner", ["indicator", "stump"])
def test_one_label_is_exact(kind, missing, base_learner):
    """A binary target: always the best of all subsets, up to 12 categories."""
    for seed in range(40):
        p = Problem(kind, 2 + seed % 11, 1, seed, missing=missing)
        assert p.same(p.found(base_learner), p.best(base_learner == "indicator" and kind == "discrete")), seed


@each_kind
@pytest.mark.parametrize("target", ["multilabel", "multiclass"])
@pytest.mark.parametrize("base_learner", ["indicator", "stump"])
def test_few_categories_are_exact(kind, target, base_learner):
    """Up to eight categories, any number of labels; the constant is no candidate of a stump."""
    for seed in range(30):
        p = Problem(kind, 2 + seed % (EXHAUSTIVE - 1), 3 + seed % 8, seed, target, missing=seed % 3 == 0)
        assert p.same(p.found(base_learner), p.best(base_learner == "indicator" and kind == "discrete")), seed


@pytest.mark.parametrize("n_labels", [2, 3])
def test_few_labels_are_exact_with_discrete_votes(n_labels):
    """All vote vectors are tried: no start is left to chance."""
    for seed in range(40):
        p = Problem("discrete", 9 + seed % 4, n_labels, seed, missing=seed % 2 == 0)
        for n_starts in (0, 4):
            assert p.same(p.found(f"indicator:{n_starts}"), p.best(True)), seed


@each_kind
@pytest.mark.parametrize("target", ["multilabel", "multiclass"])
def test_many_labels_find_the_optimum_almost_always(kind, target):
    """At least 95 of 100 problems of 9 to 12 categories, and never less than the best selector."""
    hits = 0
    for seed in range(100):
        n_labels = 2 + seed % 9 if target == "multilabel" else 3 + seed % 8
        p = Problem(kind, 9 + seed % 4, n_labels, 1000 + seed, target, missing=seed % 5 == 0)
        score, best, selector = p.found("indicator"), p.best(kind == "discrete"), p.best_selector()
        assert score <= best + abs(best) * 1e-9
        assert score >= selector or p.same(score, selector), seed
        hits += p.same(score, best)
    assert hits >= 95
