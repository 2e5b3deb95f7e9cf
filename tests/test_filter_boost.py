"""FilterBoost: the law of the filter, the bound of the edge, and that it ends by itself with what it promises."""

import io

import numpy as np
import pytest
from scipy.stats import chisquare

from multiboost import Callback, FilterBoostClassifier, Progress, TimeLimit, load_model
from multiboost.boosting.filtering import Accepted, Dry, Filter, FreshEdge
from multiboost.data.kinds import Binary, MultiClass
from multiboost.data.table import EncodedTable, as_table


class Fixed:
    """Scores that are known for each value of the only column."""

    def __init__(self, scores):
        self.table = np.asarray(scores, float)

    def scores(self, table, team):
        return self.table[table.rows(0, table.n_rows)[:, 0].astype(int)]


def population(n_classes: int, n_values: int = 9):
    """Values of a column with their class and their scores, and the law of the pairs of an example and a label."""
    rng = np.random.default_rng(n_classes)
    y = rng.integers(0, n_classes, n_values)
    y[:n_classes] = np.arange(n_classes)
    signs = np.where(y == 1, 1, -1)[:, None] if n_classes == 2 else np.where(np.arange(n_classes) == y[:, None], 1, -1)
    scores = rng.normal(size=signs.shape)
    q = 1.0 / (1.0 + np.exp(signs * scores))
    return y, signs, scores, q


def endless(y, rng, size=500):
    while True:
        rows = rng.integers(len(y), size=size)
        yield as_table(rows[:, None].astype(float)), y[rows]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_accepted_examples_follow_their_law(n_classes):
    y, signs, scores, q = population(n_classes)
    kind = (Binary if n_classes == 2 else MultiClass)([np.arange(n_classes)])
    source = Filter(endless(y, np.random.default_rng(0)), kind, 0.01, 0.1, None, seed=1)
    source.follow(Fixed(scores))
    accepted = source.accept(20_000)
    value = accepted.table.array[:, 0].astype(int)
    expected = q.mean(axis=1) / q.mean(axis=1).sum()
    assert chisquare(np.bincount(value, minlength=len(y)), 20_000 * expected).pvalue > 0.01
    np.testing.assert_allclose(accepted.weight, (q / q.sum(axis=1, keepdims=True))[value])
    np.testing.assert_array_equal(accepted.signs, signs[value])
    np.testing.assert_array_equal(accepted.labels, y[value])
    assert source.accepted == 20_000
    assert source.accepted / source.examples == pytest.approx(q.mean(), rel=0.02)


def test_the_filter_gives_up():
    """After (2 K / eps) ln(r (r + 1) / delta_t) examples that are all rejected, in call r of attempt t."""
    eps, delta = 0.05, 0.2
    source = Filter(endless(np.arange(2), np.random.default_rng(0), 1), Binary([np.arange(2)]), eps, delta, None, 0)
    source.follow(Fixed([[-60.0], [60.0]]))  # all answers are right: nothing is accepted
    for attempt in (1, 3):
        source.begin(attempt)
        before = source.examples
        with pytest.raises(Dry, match=r"in a row were rejected: the error is at most 0\.05"):
            source.accept(1)
        least = 2 / eps * np.log(2 * 3 * attempt * (attempt + 1) / delta)
        assert least - 1 <= source.examples - before <= least + 1


class Coin:
    """A filter whose accepted examples a base classifier of a known edge answers."""

    def __init__(self, edge, delta, seed):
        self.share, self.delta, self.rng = 0.5 + edge, delta, np.random.default_rng(seed)

    def accept(self, n):
        x = np.where(self.rng.random((n, 1)) < self.share, 1.0, -1.0)
        ones = np.ones((n, 1))
        return Accepted(EncodedTable(x, None), ones[:, 0], ones, ones)


@pytest.mark.parametrize("edge", [0.08, 0.2, 0.4])
def test_the_bound_of_the_edge_holds(edge):
    """In at least 1 - delta of 1000 rounds, and then it is not far below."""
    delta, tau = 0.2, 0.5
    found = np.array([
        FreshEdge(filter=Coin(edge, delta, seed), tau=tau).estimate(lambda table: table.array) for seed in range(1000)
    ])  # fmt: skip
    assert (found <= edge).mean() >= 1 - delta
    assert (found >= edge / (1 + 2 * tau)).mean() >= 1 - delta


def test_no_edge_is_told_apart_from_none():
    step = FreshEdge(filter=Coin(0.0, 0.1, 0), tau=0.5, most=2000)
    assert step.estimate(lambda table: table.array) <= 0
    worse = FreshEdge(filter=Coin(-0.3, 0.1, 0), tau=0.5)
    assert worse.estimate(lambda table: table.array) < 0


# Whole runs.


def bands(n_batch: int, seed: int = 0, n: int | None = None):
    """Two classes that two columns part, an endless source of them or the first ``n``."""
    rng = np.random.default_rng(seed)
    made = 0
    while n is None or made < n:
        X = rng.random((n_batch, 3))
        made += n_batch
        yield X, np.where((X[:, 0] > 0.3) & (X[:, 1] > 0.2), "in", "out")


@pytest.fixture(scope="module")
def trained():
    return FilterBoostClassifier(bands(500), eps=0.1, delta=0.1, random_state=3, n_jobs=1).fit()


def test_it_ends_by_itself(trained):
    X, y = next(bands(20_000, seed=9))
    assert "the error is at most 0.1" in trained.stop_reason_
    assert (trained.predict(X) != y).mean() <= 0.1
    history = trained.history_
    np.testing.assert_allclose(history["alpha"], np.arctanh(history["edge"]))
    assert (history["alpha"] > 0).all()
    assert (np.diff(history["examples"]) >= np.diff(history["accepted"])).all()
    assert trained.model_.n_rows > history["examples"][-1]


def test_probabilities_have_the_factor_of_the_weight(trained):
    X, _ = next(bands(50, seed=4))
    scores = trained.decision_function(X)
    np.testing.assert_allclose(trained.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores)))


def test_how_batches_are_cut_leaves_no_trace(trained):
    def again():
        source = bands(500)
        first = True
        for X, y in source:
            for part in np.array_split(np.arange(500), 1 if first else 7):
                yield X[part], y[part]
            first = False

    other = FilterBoostClassifier(again(), eps=0.1, delta=0.1, random_state=3, n_jobs=2).fit()
    assert other.model_.digest() == trained.model_.digest()


def test_a_file_has_the_same_scores(trained, tmp_path):
    trained.save(tmp_path / "f.mb")
    loaded = load_model(tmp_path / "f.mb")
    X, _ = next(bands(50, seed=4))
    assert isinstance(loaded, FilterBoostClassifier)
    assert loaded.oracle is None
    np.testing.assert_array_equal(loaded.predict_proba(X), trained.predict_proba(X))


def test_classes_labels_and_tables():
    rng = np.random.default_rng(0)

    def classes():
        X = rng.random((400, 2))
        return X, (X[:, 0] * 3).astype(int)

    clf = FilterBoostClassifier(classes, eps=0.3, base_learner="tree:4", n_jobs=1).fit()
    X, y = classes()
    assert clf.score(X, y) > 0.7

    def labels():
        X = rng.random((400, 2))
        return X, (X > 0.5).astype(int)

    clf = FilterBoostClassifier(labels, eps=0.3, base_learner="tree:4", n_jobs=1).fit()
    X, Y = labels()
    assert clf.score(X, Y) > 0.7
    X, y = next(bands(300))
    clf = FilterBoostClassifier(eps=0.2, n_estimators=3, n_jobs=1).fit(X, y)
    assert clf.n_iter_ <= 3
    assert clf.score(X, y) > 0.6


def test_an_oracle_that_ends():
    with pytest.warns(UserWarning, match="the oracle has no more examples, after .*: the error is not known to be"):
        clf = FilterBoostClassifier(bands(500, n=5000), eps=0.001, n_jobs=1).fit()
    assert clf.n_iter_ >= 1
    assert clf.stop_reason_ == "the oracle has no more examples"
    with pytest.raises(ValueError, match="no round was made on the 100 examples of the oracle: the oracle has no more"):
        FilterBoostClassifier(bands(100, n=100), n_jobs=1).fit()
    with pytest.raises(ValueError, match="the oracle has no examples"):
        FilterBoostClassifier(iter(()), n_jobs=1).fit()


def after_one_good(*more):
    yield next(bands(50))
    yield from more


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ((np.zeros((5, 4)), ["in"] * 5), "batch 1 of the oracle: X has 4 features"),
        ((np.zeros((5, 3)), ["in"] * 4), "batch 1 of the oracle has 5 rows in X and 4 in y"),
        ((np.zeros((5, 3)), ["in", "in", "new", "in", "in"]), "batch 1 of the oracle: .*new.*fit\\(classes="),
        ((np.zeros((2, 3)), np.array(["in", None], object)), "batch 1 of the oracle has NaN or None in y"),
        (np.zeros((5, 3)), "batch 1 of the oracle must be a pair"),
        ((np.zeros((0, 3)), []), "batch 1 of the oracle"),
        ((np.full((2, 3), np.inf), ["in", "out"]), "batch 1 of the oracle: .*infinity in column"),
    ],
)
def test_bad_batches(batch, message):
    with pytest.raises(ValueError, match=message):
        FilterBoostClassifier(after_one_good(batch), n_jobs=1).fit()


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ((np.full((2, 3), np.inf), ["in", "out"]), "batch 0 of the oracle: .*infinity in column"),
        ((np.zeros((0, 3)), []), "batch 0 of the oracle"),
        ((np.zeros(3), ["in", "out", "in"]), "batch 0 of the oracle"),
        ((np.zeros((3, 2)), [1, 1, 1]), "batch 0 of the oracle: .*only one class"),
    ],
)
def test_bad_first_batches(batch, message):
    with pytest.raises(ValueError, match=message):
        FilterBoostClassifier(iter([batch]), n_jobs=1).fit()


def test_a_class_is_named_as_people_write_it():
    batches = iter([(np.zeros((3, 1)), [1, 2, 1]), (np.zeros((2, 1)), [1, 7])])
    with pytest.raises(ValueError, match="batch 1 of the oracle: y contains 7, a class"):
        FilterBoostClassifier(batches, n_jobs=1).fit()


def test_examples_come_from_one_place():
    with pytest.raises(ValueError, match="not from both"):
        FilterBoostClassifier(bands(50), n_jobs=1).fit(np.zeros((3, 1)), [0, 1, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eps": 0.0}, "eps must be a number above 0"),
        ({"delta": 1.0}, "delta must be a number"),
        ({"tau": 2}, "tau must be a number"),
        ({"oracle": 7}, "oracle must be an iterator of batches"),
        ({"oracle": None}, "needs an oracle"),
        ({"oracle": iter([(np.zeros((3, 1)), [1, 1, 1])])}, "only one class"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        FilterBoostClassifier(**{"oracle": bands(50), "n_jobs": 1, **parameters}).fit()


class Seen(Callback):
    """What a callback is told."""

    def __init__(self, last=None):
        self.calls, self.last = [], last

    def begin(self, run):
        self.calls.append(("begin", run.n_rounds, run.wanted))

    def after_round(self, run):
        self.calls.append(("round", run.n_rounds, run.wanted))
        return run.n_rounds == self.last

    def end(self, run):
        self.calls.append(("end", run.n_rounds, run.wanted))


def endless_rows():
    rng = np.random.default_rng(0)
    while True:
        X = rng.normal(size=(500, 2))
        yield X, (X[:, 0] + X[:, 1] > 0).astype(int)


class TestCallbacks:
    def test_they_see_every_round(self):
        seen = Seen(last=4)
        clf = FilterBoostClassifier(endless_rows(), eps=0.01, n_estimators=9).fit(callbacks=[seen])
        rounds = [("round", t, 9) for t in range(1, 5)]
        assert seen.calls == [("begin", 0, 9), *rounds, ("end", 4, 9)]
        assert (clf.n_iter_, clf.stop_reason_) == (4, "a callback has ended it")

    def test_progress_and_a_time_limit(self):
        out = io.StringIO()
        callbacks = [Progress(every=0, file=out), TimeLimit(1e-9)]
        clf = FilterBoostClassifier(endless_rows(), eps=0.01, n_estimators=9).fit(callbacks=callbacks)
        assert out.getvalue().startswith("round 1 of 9 ")
        assert clf.stop_reason_ == "the time limit of 1e-09 s is reached"

    def test_they_end_where_an_oracle_fails(self):
        def failing():
            yield from (pair for pair, _ in zip(endless_rows(), range(3), strict=False))
            raise OSError("the detector is off")

        seen = Seen()
        with pytest.raises(OSError, match="the detector is off"):
            FilterBoostClassifier(failing(), eps=0.01).fit(callbacks=[seen])
        assert (seen.calls[0][0], seen.calls[-1][0]) == ("begin", "end")


def test_classes_that_come_later():
    def source():
        X = np.random.default_rng(0).random((200, 1))
        yield X[:50], np.zeros(50, int)
        while True:
            yield X, (X[:, 0] > 0.5).astype(int)

    clf = FilterBoostClassifier(source(), eps=0.3, n_jobs=1).fit(classes=[0, 1])
    np.testing.assert_array_equal(clf.classes_, [0, 1])
