"""Losses: G and H are derivatives of the risk, and a loss that is only in this file trains."""

import numpy as np
import pytest
from scipy.optimize import minimize

from multiboost.base import Product, Stump, Tree
from multiboost.criteria import CRITERIA
from multiboost.estimators.wishes import losses_of
from multiboost.losses import LOSSES, Loss, register

from .rounds import boost, weights_of


def hinge_sweep(state, first, last, shift, sums):
    """Half of W0 max(0, 1 - F Y)^2: G = W0 Y max(0, 1 - F Y) and H = W0 where the margin is below 1."""
    sums[0] = sums[1] = sums[2] = 0.0
    for i in range(first, last):
        for k in range(i * state.n_labels, (i + 1) * state.n_labels):
            a = state.weighted[k]
            short = max(0.0, 1.0 - state.scores[k] * (1.0 if a > 0 else -1.0))
            state.pull[k] = a * short
            state.curvature[k] = abs(a) if short > 0 else 0.0
            sums[0] += abs(a) * short
            sums[1] += state.curvature[k]
            sums[2] += 0.5 * abs(a) * short * short


@register
class SquaredHinge(Loss):
    name, sweep, has_curvature = "squared hinge", staticmethod(hinge_sweep), True

    def risk(self, scores, target):
        short = np.maximum(0.0, 1.0 - scores * np.sign(target.signed))
        return float(0.5 * (np.abs(target.signed) * short**2).sum())


class Medians(SquaredHinge):
    """A loss that sets the leaves itself."""

    name = "medians"

    def refit(self, leaf, n_leaves, state, drawn):
        missing = np.sign(state.weighted) - state.scores
        return np.stack([np.median(missing[leaf == k], axis=0) for k in range(n_leaves)])


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = (3 * rng.normal(size=(n, 4))).round()
    X[:, 3] = rng.integers(0, 6, n)
    y = np.digitize(X[:, 0] + X[:, 1] + 4 * (X[:, 3] == 2) + rng.normal(size=n), [-2, 2])
    return X, y


TARGETS = {
    "binary": lambda y: y > 0,
    "multiclass": lambda y: y,
    "multilabel": lambda y: np.stack([y > 0, y > 1, np.where(np.arange(y.size) % 5, 1.0, np.nan) * (y == 0)], 1) * 1.0,
}
# The risk's derivative along F, and its second one, in units of G and H.
UNITS = {"logistic": (2.0, 2.0), "softmax": (2.0, 2.0)}
BENDS = ("hinge", "squared hinge")  # not twice differentiable at a margin of 1
# Those of the package and of this file; other tests register theirs, too.
KNOWN = [name for name in LOSSES if LOSSES.get(name).__module__.startswith(("multiboost.", __name__))]
OF_LABELS = [name for name in KNOWN if name in losses_of("labels")]
OF_NUMBERS = [name for name in KNOWN if name in losses_of("numbers")]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", OF_LABELS)
def test_derivatives(name, target):
    """G and H of the sweep against differences of `risk`, at scores of every size."""
    X, y = table(60)
    loss = LOSSES.get(name)()
    criterion = CRITERIA.get("newton" if loss.has_curvature else "z").of_run(1.0, 100)
    with weights_of(X, TARGETS[target](y), loss, criterion) as (weights, target):
        scores = weights.scores
        scores += 1.3 * np.random.default_rng(1).normal(size=scores.shape)
        weights._advance(np.zeros((0, len(X)), np.int32), np.zeros(0, np.intp), np.zeros((0, scores.shape[1])))
        assert weights.risk == pytest.approx(loss.risk(scores, target), rel=1e-12)
        g, h = weights.problem.record.g, weights.problem.record.h
        norm = loss.risk(scores, target) if loss.normalised else 1.0
        if loss.normalised:
            assert np.abs(g).sum() == pytest.approx(1.0)
        assert weights.total == pytest.approx(np.abs(g).sum())
        first, second = UNITS.get(name, (1.0, 1.0))
        step = 1e-4
        for i, k in np.random.default_rng(2).integers(0, g.shape, (40, 2)):
            risks = []
            for move in (-step, 0.0, step):
                moved = scores.copy()
                moved[i, k] += move
                risks.append(loss.risk(moved, target))
            slope = (risks[2] - risks[0]) / (2 * step)
            assert -first * g[i, k] * norm == pytest.approx(slope, rel=1e-4, abs=1e-9)
            margin = scores[i, k] * np.sign(target.signed[i, k])
            if loss.has_curvature and not (name in BENDS and abs(margin - 1) < 2 * step):
                bend = (risks[2] - 2 * risks[1] + risks[0]) / step**2
                assert second * h[i, k] == pytest.approx(bend, rel=1e-2, abs=1e-6)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_derivatives_of_numbers(name, several):
    """G of the sweep against differences of `risk`; H where the loss has a second derivative that is not 0."""
    X, y = table(60)
    y = y + np.abs(np.random.default_rng(5).normal(size=60)) if name != "poisson" else y
    if several:
        y = np.stack([y, np.where(np.arange(60) % 3, 7.0 * y + 1, np.nan)], 1)
    loss = LOSSES.get(name)()
    with weights_of(X, y, loss, CRITERIA.get("newton").of_run(1.0, 100)) as (weights, target):
        scores = weights.scores
        np.testing.assert_allclose(_best_constant(loss, target), scores[0], atol=2e-3)
        scores += 0.7 * np.random.default_rng(1).normal(size=scores.shape)
        weights._advance(np.zeros((0, len(X)), np.int32), np.zeros(0, np.intp), np.zeros((0, scores.shape[1])))
        assert weights.risk == pytest.approx(loss.risk(scores, target), rel=1e-12)
        by_formula = np.vectorize(type(loss).value)(target.wanted, scores, loss.levels(target))
        np.testing.assert_allclose(loss.losses(scores, target), target.signed * by_formula, rtol=1e-12, atol=1e-15)
        g, h = weights.problem.record.g, weights.problem.record.h
        step = 1e-4
        for i, k in np.random.default_rng(2).integers(0, g.shape, (40, 2)):
            risks = []
            for move in (-step, 0.0, step):
                moved = scores.copy()
                moved[i, k] += move
                risks.append(loss.risk(moved, target))
            rest = abs(target.wanted[i, k] - scores[i, k])
            if rest < 2 * step or abs(rest - loss.levels(target)[k]) < 2 * step:
                continue  # where the loss bends
            assert -g[i, k] == pytest.approx((risks[2] - risks[0]) / (2 * step), rel=1e-4, abs=1e-9)
            if name in ("squared", "poisson"):
                bend = (risks[2] - 2 * risks[1] + risks[0]) / step**2
                assert h[i, k] == pytest.approx(bend, rel=1e-2, abs=1e-6)
        assert (h >= 0).all()
        assert (g[target.signed == 0] == 0).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_labels_start_from_the_best_constant(name, target):
    """But for the weight of one pair on both sides, which keeps it finite."""
    X, y = table(400)
    loss = LOSSES.get(name)()
    with weights_of(X, TARGETS[target](y), loss, CRITERIA.get("newton").of_run(1.0, 100)) as (weights, target):
        start = weights.scores[0].copy()
        best = minimize(lambda c: loss.risk(np.tile(c, (400, 1)), target), np.zeros(start.size), method="BFGS")
        assert loss.risk(weights.scores, target) == pytest.approx(best.fun, rel=1e-4)


def _best_constant(loss, target):
    """By trying."""
    found = []
    for k in range(target.n_labels):
        tried = np.linspace(-3.0, 3.0, 6001)
        scores = np.zeros((target.n_rows, target.n_labels))
        risks = []
        for constant in tried:
            scores[:, k] = constant
            risks.append(loss.losses(scores, target)[:, k].sum())
        near = tried[np.array(risks) <= min(risks) + 1e-12]
        found.append(near.mean())  # the middle, where all of an interval are best
    return found


@pytest.mark.parametrize("learner", [Stump(), Tree(6), Product(2), Tree(4, Product(2))], ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_a_loss_of_this_file(target, learner):
    """It trains, with nominal columns and several labels; the risk is that of NumPy in every round."""
    X, y = table()
    with weights_of(X, TARGETS[target](y), LOSSES.get("squared hinge")(), CRITERIA.get("newton").of_run(1.0, 1200),
                    nominal=(3,)) as (weights, target):  # fmt: skip
        before = weights.risk
        risks = boost(weights, learner, 15, 0.3)
        assert risks[-1] == pytest.approx(LOSSES.get("squared hinge")().risk(weights.scores, target), rel=1e-12)
    assert risks[-1] < 0.75 * before


def test_leaves_of_the_loss():
    """Leaf values are the loss's own where it has some: medians of what is missing, in every leaf."""
    X, y = table()
    with weights_of(X, y, Medians(), CRITERIA.get("newton").of_run(1.0, 1200)) as (weights, target):
        h = Tree(5).fit(weights.problem)
        found = weights.refitted(h)
        wanted = np.sign(target.signed)
        for k in range(5):
            np.testing.assert_array_equal(found.votes[k], np.median(wanted[h.leaf[0] == k], axis=0))
        product = Product(2).fit(weights.problem)
        assert weights.refitted(product) is product
    with weights_of(X, y, LOSSES.get("squared hinge")(), CRITERIA.get("newton").of_run(1.0, 1200)) as (weights, _):
        assert weights.refitted(h) is h


def test_edges_are_relative():
    """A target of tiny weights is learned as one of usual weights."""
    X, y = table()
    with weights_of(X, y, LOSSES.get("squared hinge")(), CRITERIA.get("newton").of_run(1.0, 1200)) as (weights, _):
        assert not weights.is_useless(1e-9 * weights.total)
        assert weights.is_useless(1e-11 * weights.total)


def test_names():
    with pytest.raises(
        ValueError, match=r"there is no loss 'logistics'; there are 'absolute'.*did you mean 'logistic'"
    ):
        LOSSES.get("logistics")
    with pytest.raises(ValueError, match="there is no loss 'l2'; there are 'absolute'"):
        LOSSES.get("l2")
    with pytest.raises(ValueError, match="there is a loss 'squared hinge' already"):
        register(type("Other", (SquaredHinge,), {}))
    assert register(SquaredHinge) is SquaredHinge
    with pytest.raises(ValueError, match="a loss needs a name"):
        LOSSES.register(type("Nameless", (Medians,), {"name": ""}))
