"""Cuts that are chosen by some of the labels; votes, edges and steps are of all."""

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest

from multiboost import Callback, MultiBoostClassifier, MultiBoostRegressor, load_model
from multiboost.base.stump import Stump
from multiboost.plugins import LabelSampler
from multiboost.report import write_report
from multiboost.samplers import UCB, Heaviest, Lazy, MinimalVariance, RandomLabels
from multiboost.samplers.sampler import count_of

from .conftest import make_classes, make_labels, make_levels
from .test_invariance import boost, each_kind, same_bits


@dataclass(frozen=True)
class Fixed(LabelSampler):
    """The same labels in every round."""

    chosen: tuple = (1, 3)
    name = "fixed labels"

    def count(self, n_labels):
        return len(self.chosen)

    def labels(self, run):
        return np.array(self.chosen, np.intp)


class Seen(Callback):
    """The labels of every round, the weights that it began with, and its base classifier."""

    def __init__(self):
        self.labels, self.weights, self.votes = [], [], []

    def begin(self, run):
        self.next = np.abs(run.pull).sum(axis=0)

    def after_round(self, run):
        self.labels.append(run.drawn_labels)
        self.weights.append(self.next)
        self.next = np.abs(run.pull).sum(axis=0)
        return False


def sides_of(X):
    """Which samples are on the right, for every cut of every column: (column, threshold, mask)."""
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for low, high in pairwise(values):
            yield j, (low + high) / 2, X[:, j] > (low + high) / 2


@each_kind
@pytest.mark.parametrize("base_learner", ["stump", "tree:5", "product:2"])
def test_all_labels_are_no_sketch(kind, base_learner):
    """A share of 1, and as many labels as there are, are the plain model bit for bit."""
    X, y = make_classes(300, 5, 6)
    plain = boost(X, y, kind, base_learner)
    for sampler in (Heaviest(1.0), Heaviest(6), RandomLabels(60), "all", "random:1.0"):
        same_bits(plain, boost(X, y, kind, base_learner, label_sampler=sampler), X)


@pytest.mark.parametrize("kind", ["discrete", "real", "newton"])
def test_the_cut_is_best_for_these_labels_and_votes_are_of_all(kind):
    """The first stump against every cut, by formulas in NumPy; the best cut of all labels is another one."""
    X, Y = make_labels(400, 5, 6, seed=3)
    X = X.round(1)
    n_labels = Y.shape[1]
    y = np.where(Y > 0, 1.0, -1.0)
    chosen = [1, 3]
    given = {"weighting": "uniform", "subsample": 1.0, "label_sampler": Fixed()}
    given |= {
        "discrete": {"votes": "discrete"},
        "real": {"votes": "real", "loss": "exponential", "learning_rate": 1.0},
        "newton": {"loss": "logistic", "learning_rate": 1.0, "ridge": 1e-12, "init": [0.0] * n_labels},
    }[kind]
    clf = MultiBoostClassifier("stump", 1, calibration=None, **given).fit(X, Y)
    g = y / y.size if kind != "newton" else y / y.size / 2  # of 1/2 ln(1 + exp(-2 y F)) at F = 0
    h = np.abs(g)

    def score(right, labels):
        found = 0.0
        if kind == "discrete":  # both sides vote v and -v
            return np.abs(g[right].sum(0) - g[~right].sum(0))[labels].sum()
        for side in (right, ~right):
            if kind == "newton":
                found += (g[side].sum(0) ** 2 / h[side].sum(0))[labels].sum()
            else:
                plus, minus = (np.where(y[side] * sign > 0, h[side], 0).sum(0) for sign in (1, -1))
                found -= 2 * np.sqrt(plus * minus)[labels].sum()
        return found

    cuts = list(sides_of(X))
    best = max(cuts, key=lambda cut: score(cut[2], chosen))
    everything = max(cuts, key=lambda cut: score(cut[2], slice(None)))
    assert (clf.ensemble_.feature[0], clf.ensemble_.threshold[0]) == (best[0], pytest.approx(best[1]))
    assert (best[0], best[1]) != (everything[0], everything[1])
    F = clf.decision_function(X)
    for side in (best[2], ~best[2]):
        votes = F[side][0]
        np.testing.assert_allclose(F[side], votes[None].repeat(side.sum(), 0))
        plus, minus = (np.where(y[side] * sign > 0, h[side], 0).sum(0) for sign in (1, -1))
        if kind == "discrete":
            towards = 1 if side is best[2] else -1
            np.testing.assert_array_equal(np.sign(votes), towards * np.sign(g[best[2]].sum(0) - g[~best[2]].sum(0)))
        elif kind == "newton":
            np.testing.assert_allclose(votes, g[side].sum(0) / h[side].sum(0), rtol=1e-5)
        else:
            np.testing.assert_allclose(votes, np.log(plus / minus) / 2, rtol=0.05, atol=0.02)  # leaves are smoothed
    assert clf.history_["edge"][0] == pytest.approx((g * np.sign(F)).sum(), rel=1e-9)


@pytest.mark.parametrize("base_learner", ["stump", "tree:6", "tree:12"])
@each_kind
def test_the_first_round_has_the_cuts_of_the_labels_alone(kind, base_learner):
    """As if the other labels were unknown: weights of 0 leave them out of the search."""
    X, Y = make_labels(300, 6, 5, seed=1)
    some = np.zeros(Y.shape)
    some[:, [1, 3]] = 1.0
    given = {"weighting": "given"}
    sketch = boost(X, Y, kind, base_learner, 1, label_sampler=Fixed(), **given, fit={"label_weight": np.ones(Y.shape)})
    alone = boost(X, Y, kind, base_learner, 1, **given, fit={"label_weight": some})
    np.testing.assert_array_equal(sketch.ensemble_.feature, alone.ensemble_.feature)
    np.testing.assert_array_equal(sketch.ensemble_.threshold, alone.ensemble_.threshold)
    np.testing.assert_array_equal(
        np.sign(sketch.decision_function(X)[:, [1, 3]]), np.sign(alone.decision_function(X)[:, [1, 3]])
    )


def test_which_labels_are_drawn():
    """Those with the largest sums of weights, or random ones, each as often."""
    X, y = make_classes(400, 6, 8)
    seen = Seen()
    boost(X, y, "real", "tree:4", 12, label_sampler=Heaviest(3), fit={"callbacks": [seen]})
    for labels, weights in zip(seen.labels, seen.weights, strict=True):
        assert set(labels) == set(np.argsort(-weights, kind="stable")[:3])
        assert (np.diff(labels) > 0).all()
    assert len({tuple(labels) for labels in seen.labels}) > 3
    seen = Seen()
    boost(X, y, "logistic", "stump", 200, label_sampler=RandomLabels(0.25), fit={"callbacks": [seen]})
    count = np.bincount(np.concatenate(seen.labels), minlength=8)
    assert {len(set(labels)) for labels in seen.labels} == {2}
    assert abs(count - 50).max() < 4 * np.sqrt(200 * 0.25 * 0.75)


@pytest.mark.parametrize("sampler", [Heaviest(2), RandomLabels(0.4)], ids=str)
@each_kind
def test_threads_and_interruptions_leave_no_trace(kind, sampler, tmp_path):
    """Also with samples of rows and columns."""
    X, y = make_classes(400, 8, 5)
    given = {
        "label_sampler": sampler,
        "subsample": None,
        "row_sampler": MinimalVariance(0.6),
        "column_sampler": Lazy(5),
    }
    for some in ({"label_sampler": sampler}, given, {**given, "column_sampler": UCB(2)}):
        whole = boost(X, y, kind, n_jobs=1, **some)
        for threads in (2, 4):
            same_bits(whole, boost(X, y, kind, n_jobs=threads, **some), X)
        path = tmp_path / "run.mb"
        path.unlink(missing_ok=True)
        boost(X, y, kind, n_rounds=3, **some, fit={"checkpoint": path})
        same_bits(whole, boost(X, y, kind, **some, fit={"checkpoint": path, "resume": True}), X)


LOSSES = ["exponential", "logistic", "softmax", "hinge"]
LEARNERS = ["tree:4", "product:2", "tree:4/product:2", "bins", "column", "tree:4/indicator"]
NEVER = {("softmax", "product:2"), ("exponential", "column"), ("hinge", "column")}  # refused


@pytest.mark.parametrize(("loss", "base_learner"), sorted(set(product(LOSSES, LEARNERS)) - NEVER))
def test_every_loss_and_base_learner(loss, base_learner):
    X, y = make_levels(300, 6, 5)
    given = {"nominal_features": [0, 1]} if base_learner == "tree:4/indicator" else {}
    for sampler in (Heaviest(0.5), RandomLabels(2)):
        clf = MultiBoostClassifier(base_learner, 25, loss=loss, learning_rate=0.3, label_sampler=sampler, **given).fit(
            X, y
        )
        assert clf.history_["risk"][-1] < 0.95 * clf.history_["risk"][0]
        assert clf.history_["training_error"][-1] == pytest.approx(np.mean(clf.predict(X) != y), abs=1e-12)


@pytest.mark.parametrize("base_learner", ["tree:5", "column", "bins"])
def test_several_numbers(base_learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    Y = X @ rng.normal(size=(5, 8)) + 0.1 * rng.normal(size=(400, 8))
    reg = MultiBoostRegressor(base_learner, 60, learning_rate=0.3, label_sampler="heaviest:2").fit(X, Y)
    assert reg.score(X, Y) > 0.8


def test_a_label_that_says_nothing_costs_no_round():
    """The third label is always the same: by it no cut is better than another, and all labels are asked."""
    X, Y = make_labels(200, 4, 3)
    Y[:, 2] = 0
    seen = Seen()
    clf = boost(X, Y, "real", "tree:4", 10, label_sampler=Fixed((2,)), fit={"callbacks": [seen]})
    assert clf.n_iter_ == 10
    assert sum(labels is None for labels in seen.labels) >= 8
    assert clf.history_["training_error"][-1] < 0.7 * clf.history_["training_error"][0]


class Room(Callback):
    """Whether a tree has as much room as its payload needs, for some labels and for all, in any order."""

    def begin(self, run):
        some, every = run.weights.bare.seen(None, np.arange(4)), run.problem
        for part in (some, every, some):
            growth = part.growth(4, Stump())
            assert growth.tree.total.shape[1] == part.record.payload.width
            assert growth.subsets.n_labels == part.n_sketched


@pytest.mark.parametrize("n_classes", [5, 8])
@each_kind
def test_some_labels_and_all_have_room_of_their_own(kind, n_classes):
    """A round that is made again has more labels in as many lanes, as each sample has one positive of all."""
    X, y = make_classes(200, 4, n_classes)
    boost(X, y, kind, "tree:4", 2, label_sampler=Heaviest(4), fit={"callbacks": [Room()]})


def test_file_and_report(tmp_path):
    X, y = make_classes(200, 6, 5)
    clf = MultiBoostClassifier("tree:4", 5, label_sampler="heaviest:0.4").fit(X, y)
    clf.save(tmp_path / "a.mb")
    again = load_model(tmp_path / "a.mb")
    assert again.plan_.labels == Heaviest(0.4)
    assert again.get_params()["label_sampler"] == "heaviest:0.4"
    write_report(again, X, y, tmp_path / "a.html")
    assert "labels that choose cuts" in (tmp_path / "a.html").read_text()


def test_how_many():
    assert count_of(np.float32(0.5), 50) == Heaviest(np.float32(0.5)).count(50) == 25
    assert [count_of(size, 50) for size in (0.1, 1.0, 1, 7, 7.0, 80, 0.001)] == [5, 50, 1, 7, 7, 50, 1]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Heaviest(0.0), "share in"),
        (lambda: Heaviest(-2), "share in"),
        (lambda: RandomLabels(2.5), "number of labels"),
        (lambda: Heaviest(True), "size=True"),
        (lambda: Heaviest(None), "size=None"),
    ],
)
def test_parameters_that_cannot_be(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_a_name_that_is_none():
    X, y = make_classes(60, 3, 3)
    with pytest.raises(ValueError, match=r"label_sampler.*heaviest"):
        MultiBoostClassifier(label_sampler="heavy").fit(X, y)
