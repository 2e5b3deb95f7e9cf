"""Samplers that save work: columns of a round, bandits, and weighted rows."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

from multiboost import Callback, MultiBoostClassifier, MultiBoostRegressor, load_model
from multiboost.base import problem
from multiboost.plugins import RowSampler
from multiboost.report import write_report
from multiboost.samplers import EXP3P, UCB, Heaviest, Lazy, MinimalVariance, Share, Trimming
from multiboost.samplers.bandit import reward_of
from multiboost.samplers.minimal_variance import threshold

from .conftest import make_classes, make_labels, make_levels
from .test_invariance import boost, each_kind, same_bits

COLUMNS = {
    "lazy": Lazy(3),
    "lazy nodes": Lazy(0.4, "node"),
    "ucb": UCB(2),
    "exp3p": EXP3P(3, eta=3.0),
    "groups": UCB(1, 3),
    "ucb nodes": UCB(2, per="node"),
    "exp3p nodes": EXP3P(2, group=2, per="node"),
}


@dataclass(frozen=True)
class Times(RowSampler):
    """The first samples twice, the others once, and every third not at all."""

    name = "times"

    def rows(self, run):
        return times_of(run.n_samples)


def times_of(n: int) -> np.ndarray:
    return np.where(np.arange(n) % 3 == 0, 0.0, np.where(np.arange(n) < n // 2, 2.0, 1.0))


class Seen(Callback):
    """Notes what every round has drawn, and what was learned of it."""

    def __init__(self):
        self.columns, self.dags, self.cuts, self.pulled, self.learned, self.times = [], [], [], [], [], []

    def after_round(self, run):
        self.columns.append(run.drawn_columns)
        self.dags.append(run.h.terms)
        self.cuts.append(run.h.cuts())
        self.times.append(run.times)
        if hasattr(run.columns, "count"):
            self.pulled.append(run.columns._pulled)
            self.learned.append(run.learned())
        return False


@each_kind
def test_all_is_no_sample(kind):
    """A share of 1, and as many pulls as there are arms, are the plain model bit for bit."""
    X, y = make_classes(300, 4, 3)
    plain = boost(X, y, kind)
    for sampler in (Lazy(1.0), Lazy(4), UCB(4), EXP3P(9), UCB(1, group=4)):
        same_bits(plain, boost(X, y, kind, column_sampler=sampler), X)
    for rows in (MinimalVariance(1.0), Trimming(1.0), Share(1.0)):
        same_bits(plain, boost(X, y, kind, subsample=None, row_sampler=rows), X)


@each_kind
@pytest.mark.parametrize("base_learner", ["stump", "tree:6", "product:2"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_what_is_laid_out_anew_is_what_is_masked(kind, base_learner, form, monkeypatch):
    X, y = make_levels(400, 9, 3)
    if form == "sparse":
        X = sp.csr_array(np.where(np.random.default_rng(0).random(X.shape) < 0.7, 0.0, X))
    given = {"column_sampler": Lazy(3), "nominal_features": None if form == "sparse" else [1, 4]}
    packed = boost(X, y, kind, base_learner, 5, **given)
    monkeypatch.setattr(problem, "_PACKED", 0.0)
    same_bits(packed, boost(X, y, kind, base_learner, 5, **given), X)


@pytest.mark.parametrize("kind", ["real", "logistic"])
def test_parts_are_stored_as_the_whole(kind, monkeypatch):
    """Eight bins share a histogram row in the whole table; three columns alone would have rows of their own."""
    X, y = make_classes(4000, 9, 3)
    packed = boost(X, y, kind, "tree:8", 4, column_sampler=Lazy(3))
    monkeypatch.setattr(problem, "_PACKED", 0.0)
    same_bits(packed, boost(X, y, kind, "tree:8", 4, column_sampler=Lazy(3)), X)


@pytest.mark.parametrize(
    "given", [{"row_sampler": MinimalVariance(0.5)}, {"label_sampler": Heaviest(2)}], ids=["rows", "labels"]
)
@pytest.mark.parametrize("base_learner", ["tree:4", "product:2", "product:2/tree:3"])
@each_kind
def test_parts_keep_what_they_have_borrowed(kind, base_learner, given, monkeypatch):
    """Payloads of other samplers are in use as long as the part of the columns is."""
    X, y = make_classes(300, 12, 5)
    given = {"subsample": None, "column_sampler": Lazy(3), **given}
    packed = boost(X, y, kind, base_learner, 6, **given)
    monkeypatch.setattr(problem, "_PACKED", 0.0)
    same_bits(packed, boost(X, y, kind, base_learner, 6, **given), X)


class RoomOfBounds(Callback):
    """Whether the bounds of the edge have room for all columns, after a part of them has used bounds."""

    def begin(self, run):
        some = np.arange(run.n_columns) < 2
        for part in (run.problem.on_columns(some), run.problem, run.problem.on_columns(some)):
            edge = part.for_edge()
            bounds = edge.record.bounds
            assert bounds.bound.shape[1] == edge.layout.blocks.column.size
            assert bounds.row_bound.shape[1] == edge.layout.blocks.n_rows
            del edge, bounds  # its payload is given back


@pytest.mark.parametrize("kind", ["real", "logistic"])
def test_all_columns_have_room_where_a_part_was_searched(kind):
    """Cuts that are proposed by the edge: a round that is made again with all columns needs more room."""
    X, y = make_classes(300, 5, 3)
    boost(X, y, kind, "tree:5/product:2", 2, column_sampler=Lazy(2), fit={"callbacks": [RoomOfBounds()]})


def test_wide_tables_are_searched_by_bounds(monkeypatch):
    """More than forty columns are left: edges are bounded in what is laid out, too."""
    X, y = make_levels(300, 120, 3)
    for learner in ("stump", "tree:5", "product:2"):
        packed = boost(X, y, "discrete", learner, 4, column_sampler=Lazy(50))
        monkeypatch.setattr(problem, "_PACKED", 0.0)
        same_bits(packed, boost(X, y, "discrete", learner, 4, column_sampler=Lazy(50)), X)
        monkeypatch.undo()


@pytest.mark.parametrize("kind", ["discrete", "real"])
@pytest.mark.parametrize("name", COLUMNS)
def test_threads_and_interruptions_leave_no_trace(kind, name, tmp_path):
    X, y = make_classes(400, 8, 3)
    given = {"subsample": None, "row_sampler": MinimalVariance(0.5), "column_sampler": COLUMNS[name]}
    whole = boost(X, y, kind, n_rounds=8, n_jobs=1, **given)
    for threads in (2, 4):
        same_bits(whole, boost(X, y, kind, n_rounds=8, n_jobs=threads, **given), X)
    path = tmp_path / "run.mb"
    boost(X, y, kind, n_rounds=3, **given, fit={"checkpoint": path})
    resumed = boost(X, y, kind, n_rounds=8, **given, fit={"checkpoint": path, "resume": True})
    same_bits(whole, resumed, X)
    for key in whole.history_:
        if not key.startswith("seconds"):
            np.testing.assert_array_equal(whole.history_[key], resumed.history_[key], err_msg=key)
    for key, value in whole.model_.state.items():
        assert value.tobytes() == resumed.model_.state[key].tobytes(), key


def test_lazy_draws_so_many_columns_and_nodes_keep_to_theirs():
    X, y = make_classes(400, 12, 3)
    seen = Seen()
    MultiBoostClassifier("tree:3", 25, subsample=1.0, column_sampler=Lazy(0.25)).fit(X, y, callbacks=[seen])
    drawn = np.array(seen.columns)
    assert set(drawn.sum(axis=1)) == {3}
    assert len(np.unique(drawn, axis=0)) > 15
    assert all(mask[dags[0].feature].all() for mask, dags in zip(drawn, seen.dags, strict=True))
    for learner in ("product:2", "tree:3"):
        seen = Seen()
        clf = MultiBoostClassifier(learner, 25, loss="exponential", subsample=1.0, column_sampler=Lazy(2, "node"))
        clf.fit(X, y, callbacks=[seen])
        for masks, dags in zip(seen.columns, seen.dags, strict=True):
            terms = [dag.feature for dag in dags]
            assert (masks.sum(axis=1) == 2).all()
            if learner == "product:2":
                assert all(masks[k, term[0]] for k, term in enumerate(terms))
            elif terms[0].size == 2:
                assert masks[0, terms[0][0]]
                assert masks[1, terms[0][1]] or masks[2, terms[0][1]]


@pytest.mark.parametrize("loss", ["exponential", "logistic", "softmax", "hinge"])
@pytest.mark.parametrize("base_learner", ["tree:4", "product:2", "bins", "column"])
def test_every_loss_and_base_learner(loss, base_learner):
    if loss == "softmax" and base_learner == "product:2":
        pytest.skip("products have no leaves of their own for it")
    X, y = make_classes(300, 8, 3)
    for columns in (Lazy(3), UCB(3), EXP3P(3)):
        given = {"row_sampler": MinimalVariance(0.6), "column_sampler": columns, "learning_rate": 0.3}
        clf = MultiBoostClassifier(base_learner, 20, loss=loss, **given).fit(X, y)
        assert clf.history_["risk"][-1] < 0.9 * clf.history_["risk"][0]
        assert clf.history_["training_error"][-1] == pytest.approx(np.mean(clf.predict(X) != y), abs=1e-12)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile"])
def test_numbers(loss):
    X = np.random.default_rng(0).normal(size=(400, 8))
    y = X[:, 0] - 2 * X[:, 3] + X[:, 5] ** 2
    given = {"row_sampler": "mvs:0.4", "column_sampler": "lazy:0.5"}
    reg = MultiBoostRegressor("tree:6", 60, loss=loss, learning_rate=0.2, **given).fit(X, y)
    plain = MultiBoostRegressor("tree:6", 60, loss=loss, learning_rate=0.2, subsample=1.0).fit(X, y)
    assert reg.history_["risk"][-1] < 0.5 * reg.history_["risk"][0]
    assert reg.history_["risk"][-1] < 3 * plain.history_["risk"][-1]


def test_multi_label():
    X, Y = make_labels(300, 6, 3)
    clf = MultiBoostClassifier("tree:4", 25, row_sampler="mvs:0.5", column_sampler="exp3p:3").fit(X, Y)
    assert clf.history_["training_error"][-1] < 0.5 * clf.history_["training_error"][0]


# Rows.


@pytest.mark.parametrize("base_learner", ["stump", "tree:5"])
def test_samples_that_count_twice_are_samples_of_weight_two(base_learner):
    """The first round; coefficients are those of all samples as they are."""
    X, y = make_levels(600, 5, 3, n_levels=30)
    weight = np.random.default_rng(1).uniform(0.5, 1.5, 600)  # no ties
    given = {"loss": "logistic", "learning_rate": 1.0, "ridge": 1e-9, "weighting": "uniform", "init": [0.0, 0.0, 0.0]}
    a = MultiBoostClassifier(base_learner, 1, row_sampler=Times(), **given).fit(X, y, weight)
    b = MultiBoostClassifier(base_learner, 1, subsample=1.0, **given).fit(X, y, weight * times_of(600))
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-5, atol=1e-6)
    Y = np.where(np.arange(3) == y[:, None], 1.0, -1.0)
    W = (weight / weight.sum())[:, None] / 3
    edge = (W * Y * np.where(a.decision_function(X) > 0, 1, -1)).sum() / 2  # G is half of W Y where F = 0
    assert a.history_["edge"][0] == pytest.approx(edge, rel=1e-9)


def test_medians_of_weighted_samples():
    """One leaf value of the absolute loss is the weighted median of the residuals."""
    X, y = np.repeat([0.0, 1.0], 150)[:, None], np.random.default_rng(0).normal(size=300)
    reg = MultiBoostRegressor("stump", 1, loss="absolute", learning_rate=1.0, row_sampler=Times(), init=0.0).fit(X, y)
    for x in (0.0, 1.0):
        inside = X[:, 0] == x
        order = np.argsort(y[inside])
        mass = np.cumsum(times_of(300)[inside][order])
        median = y[inside][order][np.searchsorted(mass, mass[-1] / 2)]
        assert abs(reg.predict([[x]])[0] - median) < 0.06


@pytest.mark.parametrize("wanted", [1, 20.5, 70, 99])
def test_threshold(wanted):
    """By halving."""
    size = np.random.default_rng(0).exponential(size=100) ** 3
    low, high = 1e-12, 1e6
    for _ in range(200):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if np.minimum(1, size / middle).sum() > wanted else (low, middle)
    assert threshold(size, wanted) == pytest.approx(low, rel=1e-9)


def test_a_threshold_that_is_one_of_the_sizes():
    """0.6 is: rounded sums put it just above, then just below, and would do so for ever."""
    size = np.array([0.2, 0.7, 0.6, 0.2, 1.0, 0.2, 0.5, 0.1])
    assert threshold(size, 5.0) == pytest.approx(0.6, rel=1e-12)
    assert np.minimum(1, size / 0.6).sum() == pytest.approx(5.0, rel=1e-12)


def test_weighted_rows_follow_their_law():
    """Over 2000 seeds: as many as asked for, each as often as its weight says; sums of G are right on average."""
    rng = np.random.default_rng(0)
    pull, curvature = rng.normal(size=(50, 3)) ** 3, rng.uniform(0.1, 1, (50, 3))
    chance = MinimalVariance.chances(pull, curvature, 0.3)
    unit = (np.abs(pull).sum() / curvature.sum()) ** 2
    size = np.sqrt((pull**2 + unit * curvature**2).sum(axis=1))
    assert chance.sum() == pytest.approx(15)
    light = chance < 1
    np.testing.assert_allclose(chance[light] / size[light], (chance[light] / size[light])[0])

    class Fake:
        n_samples, n_rounds = 50, 4

    fake = Fake()
    fake.pull, fake.curvature = pull, curvature
    times = []
    for fake.seed in range(2000):
        times.append(MinimalVariance(0.3).rows(fake))
    times = np.array(times)
    seen = (times > 0).mean(axis=0)
    assert np.abs(seen - chance).max() < 5 * 0.5 / np.sqrt(2000)
    sums = times @ pull
    assert np.abs(sums.mean(axis=0) - pull.sum(axis=0)).max() < 5 * sums.std(axis=0).max() / np.sqrt(2000)


def test_trimming_keeps_the_heaviest():
    """No fewer rows would have the share of the weight, and nobody outside weighs more than one inside."""
    rng = np.random.default_rng(1)

    class Fake:
        n_samples, weight_of_rows = 200, np.abs(rng.normal(size=200)) ** 5

    weight = Fake.weight_of_rows
    for kept in (0.1, 0.5, 0.9, 0.999):
        drawn = Trimming(kept).rows(Fake)
        assert weight[drawn].sum() >= kept * weight.sum() > weight[drawn].sum() - weight[drawn].min()
        assert weight[drawn].min() >= weight[~drawn].max()


@each_kind
def test_trimming_leaves_no_trace_of_threads_and_interruptions(kind, tmp_path):
    X, y = make_classes(400, 8, 3)
    given = {"subsample": None, "row_sampler": "trimming:0.7"}
    whole = boost(X, y, kind, n_rounds=8, n_jobs=1, **given)
    same_bits(whole, boost(X, y, kind, n_rounds=8, n_jobs=2, **given), X)
    path = tmp_path / "run.mb"
    boost(X, y, kind, n_rounds=3, **given, fit={"checkpoint": path})
    same_bits(whole, boost(X, y, kind, n_rounds=8, **given, fit={"checkpoint": path, "resume": True}), X)


# Bandits.


BANDITS = [
    UCB(2, exploration=0.3), EXP3P(3, eta=2.0), EXP3P(2, eta=0.4, unit=1.0), UCB(2, exploration=0.3, per="node"),
    EXP3P(2, eta=2.0, per="node"),
]  # fmt: skip


@pytest.mark.parametrize("sampler", BANDITS, ids=str)
def test_bandits_follow_their_formulas(sampler):
    """From what was pulled, the gains of the cuts and the edges in the history; number by number."""
    X, y = make_classes(500, 9, 3)
    seen = Seen()
    given = {"loss": "exponential", "learning_rate": 0.2, "subsample": 1.0}
    clf = MultiBoostClassifier("tree:4", 40, column_sampler=sampler, **given).fit(X, y, callbacks=[seen])
    n_arms, count, total, log_w, b = 9, np.zeros(9), np.zeros(9), np.zeros(9), 0.0
    for t, (pulled, learned) in enumerate(zip(seen.pulled, seen.learned, strict=True)):
        if isinstance(sampler, UCB):
            waiting = count.copy()
            for play in pulled:  # one after the other
                if (waiting == 0).sum() >= 2:
                    assert (waiting[play > 0] == 0).all()
                elif (waiting > 0).all():
                    mean = np.divide(total, count, out=np.zeros(n_arms), where=count > 0)
                    value = mean + 0.3 * b * np.sqrt(2 * np.log(waiting.sum()) / waiting)
                    assert value[play > 0].min() >= value[play == 0].max() - 1e-12
                waiting += play
        assert {*pulled.sum(axis=1)} == {sampler.pulls}
        (dag,) = seen.dags[t]
        assert len(dag.feature) == 3
        node = nodes_of(dag.child) if sampler.per == "node" else np.zeros(3, int)
        plays = sorted(set(node))
        gain = np.zeros((len(plays), n_arms))
        for j, g, k in zip(dag.feature, dag.gain, node, strict=True):
            assert pulled[k, j] > 0
            gain[plays.index(k), j] += g
        gamma = clf.history_["edge"][t]
        r = min(1.0, -np.log(np.sqrt(1 - gamma**2)))
        assert clf.history_["reward"][t] == pytest.approx(r, rel=1e-12)
        reward = r * gain / gain.max()
        p = 0.9 * np.exp(log_w) / np.exp(log_w).sum() + 0.1 / n_arms
        b = max(b, reward.max())
        of_plays = pulled[plays]
        count, total = count + of_plays.sum(axis=0), total + (of_plays * reward).sum(axis=0)
        if isinstance(sampler, EXP3P):
            for j in range(n_arms):
                for times, one in zip(of_plays, reward, strict=True):
                    estimate = times[j] * one[j] / (sampler.unit or b) / p[j]
                    bonus = sampler.pulls * 0.15 / (p[j] * np.sqrt(n_arms * 10000))
                    log_w[j] += sampler.eta / (3 * n_arms) * (estimate + bonus)
            np.testing.assert_allclose(learned["columns.log_weight"], log_w, rtol=1e-9)
        utility = np.divide(total, count, out=np.zeros(n_arms), where=count > 0)
        assert clf.history_["best_utility"][t] == pytest.approx(utility.max(), rel=1e-9)
        assert utility[int(clf.history_["best_arm"][t])] == pytest.approx(utility.max(), rel=1e-9)
        np.testing.assert_allclose(learned["columns.count"], count)
        np.testing.assert_allclose(learned["columns.total"], total, rtol=1e-9)


def nodes_of(child: np.ndarray) -> np.ndarray:
    """The nodes of three cuts, as they are born: the root, its children, then those of its only child that is cut."""
    node = np.zeros(3, int)
    for side in (0, 1):
        node[child[0, side]] = 1 + side if child[0, side] > 0 else node[child[0, side]]
    for first in (1, 2):
        for side in (0, 1):
            if child[first, side] > 0:
                node[child[first, side]] = 3 + side
    return node


@pytest.mark.parametrize("base_learner", ["tree:6", "product:3", "tree:5/product:2", "product:2/tree:3"])
@pytest.mark.parametrize("sampler", [UCB(2, per="node"), EXP3P(3, per="node"), Lazy(3, "node")], ids=str)
def test_every_node_and_term_keeps_to_its_own_columns(sampler, base_learner):
    X, y = make_classes(400, 12, 3)
    seen = Seen()
    given = {"loss": "exponential", "learning_rate": 0.2, "subsample": 1.0, "column_sampler": sampler}
    MultiBoostClassifier(base_learner, 15, **given).fit(X, y, callbacks=[seen])
    differ = 0
    for masks, cuts in zip(seen.columns, seen.cuts, strict=True):
        if masks is None:
            continue
        for node, column, _ in zip(*cuts, strict=True):
            assert masks[node % len(masks), column]
            differ += not masks[0, column]
    assert differ > 0  # columns that the first node might not have cut


def test_rewards():
    for gamma in (0.0, 1e-3, 0.3, 0.9):
        assert reward_of(gamma) == pytest.approx(-np.log(np.sqrt(1 - gamma**2)), abs=1e-15)
    assert [reward_of(gamma) for gamma in (-0.5, 0.95, 1.0)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("sampler", [UCB(), EXP3P(20), UCB(per="node"), EXP3P(5, per="node")], ids=str)
def test_bandits_find_the_columns_that_matter(sampler):
    """10 of 1000 matter: after 300 rounds at least half of the pulls are theirs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 1000)).astype(np.float32)
    good = rng.permutation(1000)[:10]
    y = (X[:, good] @ rng.choice([-1, 1], 10) + rng.normal(size=4000) > 0).astype(int)
    seen = Seen()
    clf = MultiBoostClassifier(
        "tree:8", 300, loss="exponential", learning_rate=0.02, subsample=1.0, max_bins=32, calibration=None,
        column_sampler=sampler,
    )  # fmt: skip
    clf.fit(X, y, callbacks=[seen])
    late = np.concatenate(seen.pulled[250:])
    assert late[:, good].sum() >= 0.5 * late.sum()


def test_learned_utilities_are_in_history_file_and_report(tmp_path):
    X, y = make_classes(200, 6, 2)
    clf = MultiBoostClassifier("tree:4", 10, column_sampler="ucb:2").fit(X, y)
    clf.save(tmp_path / "a.mb")
    again = load_model(tmp_path / "a.mb")
    assert again.model_.state["columns.count"].sum() == 20
    assert len(again.history_["reward"]) == 10
    assert again.plan_.columns == UCB(2)
    write_report(again, X, y, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    state = again.model_.state
    best = int(np.argmax(state["columns.total"] / state["columns.count"]))
    row = re.search(r"What was learned of the columns.*?<tbody>(.*?)</tr>", page, re.S)[1]
    assert f"{int(state['columns.count'][best])}<" in row
    assert again.model_.columns.names is None or again.model_.columns.names[best] in row


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Lazy(0.0), "share in"),
        (lambda: Lazy(2.5), "number of columns"),
        (lambda: Lazy(0.5, "leaf"), "'round' or 'node'"),
        (lambda: UCB(per="leaf"), "'round' or 'node'"),
        (lambda: UCB(0), "pulls=0"),
        (lambda: UCB("3"), "pulls='3'"),
        (lambda: Lazy(None), "size=None"),
        (lambda: UCB(group=1.5), "group=1.5"),
        (lambda: UCB(exploration=-1.0), "at least 0"),
        (lambda: EXP3P(gamma=0.0), "above 0"),
        (lambda: UCB(exploration=np.inf), "at least 0"),
        (lambda: EXP3P(eta=-1.0), "at least 0"),
        (lambda: EXP3P(eta=np.inf), "finite"),
        (lambda: EXP3P(unit=-1.0), "at least 0"),
        (lambda: EXP3P(unit=np.nan), "finite"),
        (lambda: EXP3P(horizon=0), "at least 1"),
        (lambda: Share(7), "above 0 and at most 1"),
        (lambda: Share(-1.0), "above 0 and at most 1"),
        (lambda: Share(np.nan), "above 0 and at most 1"),
        (lambda: MinimalVariance(1.5), "above 0 and at most 1"),
        (lambda: Trimming(0.0), "above 0 and at most 1"),
    ],
)
def test_parameters_that_cannot_be(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_names_with_numbers():
    X, y = make_classes(100, 5, 2)
    for text, sampler in (("lazy:0.5", Lazy(0.5)), ("lazy:3", Lazy(3.0)), ("ucb:2", UCB(2)), ("exp3p:4", EXP3P(4))):
        same_bits(boost(X, y, "real", column_sampler=text), boost(X, y, "real", column_sampler=sampler), X)
    with pytest.raises(ValueError, match="share"):
        MultiBoostClassifier(row_sampler="mvs:7").fit(X, y)
