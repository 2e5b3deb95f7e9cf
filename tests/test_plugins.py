"""Parts of the loop that are defined here alone: they train, predict, are saved, loaded and resumed, bit for bit."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from multiboost import Callback, EarlyStopping, MultiBoostClassifier, evaluate, load_model
from multiboost.criteria import CRITERIA
from multiboost.losses import LOSSES
from multiboost.model.modelfile import ModelFileError
from multiboost.plugins import (
    WEIGHTS,
    BaseLearner,
    ColumnSampler,
    Criterion,
    Loss,
    RowSampler,
    Step,
    register,
    two_leaves,
)
from multiboost.registry import Registry
from multiboost.samplers import ROW_SAMPLERS

NOMINAL = [3]


def table(n=300, seed=0):
    """Numbers with missing values, a nominal column; three labels, some unknown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 3] = rng.integers(0, 7, n)
    X[rng.random(n) < 0.1, 1] = np.nan
    latent = X[:, :1] + np.nan_to_num(X[:, 1:2]) * [1, -1, 0] + np.isin(X[:, 3:], (1, 4)) * [2, 0, 1]
    Y = (latent + 0.5 * rng.normal(size=(n, 3)) > 0.5).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return X, Y


# A loss: Huber's square, W0 max(0, 1 - F Y)^2, linear below a margin of -1.


def huberised(state, first, last, shift, sums):
    sums[0] = sums[1] = sums[2] = 0.0
    for k in range(first * state.n_labels, last * state.n_labels):
        a = state.weighted[k]
        gap = max(0.0, 1.0 - state.scores[k] * (1.0 if a > 0 else -1.0))
        slope = min(gap, 2.0)
        state.pull[k] = a * slope
        state.curvature[k] = abs(a) if 0.0 < gap < 2.0 else 0.0
        sums[0] += abs(a) * slope
        sums[1] += state.curvature[k]
        sums[2] += abs(a) * (gap * gap / 2 if gap < 2.0 else 2 * gap - 2)


@register
class Huberised(Loss):
    name, sweep, has_curvature = "huberised hinge", staticmethod(huberised), True

    def risk(self, scores, target):
        gap = np.maximum(0.0, 1.0 - scores * np.sign(target.signed))
        return float((np.abs(target.signed) * np.where(gap < 2, gap**2 / 2, 2 * gap - 2)).sum())


# A criterion: Gini's, the weight that a vote of the share of positive weight gets wrong.


def gini(a, b, c, d, ridge):
    return -2 * a * b / (a + b + ridge) - 2 * c * d / (c + d + ridge)


def gini_slope(a, b, c, d, ridge):
    left, right = (a + b + ridge) ** 2, (c + d + ridge) ** 2
    return (
        2 * (d * (d + ridge) / right - b * (b + ridge) / left),
        2 * (c * (c + ridge) / right - a * (a + ridge) / left),
    )


@register
class Gini(Criterion):
    name, layout = "gini", WEIGHTS
    cut, slope = staticmethod(gini), staticmethod(gini_slope)

    def votes(self, sum_g, sum_h):
        return sum_g / (sum_h + self.ridge)

    def score(self, sum_g, sum_h, votes):
        negative, positive = (sum_h - sum_g) / 2, (sum_h + sum_g) / 2
        return float((-2 * negative * positive / (sum_h + self.ridge)).sum())


# A step that sees the run: shorter and shorter, and it counts by itself.


@register
@dataclass
class Tiring(Step):
    name = "tiring"
    first: float = 0.5
    made: int = field(default=0, init=False, repr=False)

    def size(self, h, edge, run):
        self.made += 1
        return self.first / np.sqrt(self.made)

    def to_dict(self):
        return {"name": self.name, "first": self.first}

    def state(self):
        return {"made": np.array(self.made)}

    def restore(self, state):
        self.made = int(state["made"]) if state else 0


# A row sampler that learns: rows that were wrong are drawn more often.


@register
@dataclass
class Mistaken(RowSampler):
    name = "mistaken"
    share: float = 0.5

    def rows(self, run):
        if self.chance is None:
            self.chance = np.full(run.n_samples, self.share)
        return np.random.default_rng((run.seed, run.n_rounds)).random(run.n_samples) < self.chance

    def learn(self, run):
        wrong = (run.scores * run.target.signed < 0).any(axis=1)
        self.chance = 0.9 * self.chance + 0.1 * np.where(wrong, 1.0, self.share)

    def state(self):
        return {} if self.chance is None else {"chance": self.chance}

    def restore(self, state):
        self.chance = state["chance"].copy() if state else None


# A column sampler that learns which columns were cut, and a base learner: the best of some random thresholds.


@register
@dataclass
class Curious(ColumnSampler):
    name = "curious"
    count: int = 2

    def columns(self, run):
        if self.used is None:
            self.used = np.zeros(run.n_columns)
        noise = np.random.default_rng((run.seed, 1, run.n_rounds)).random(run.n_columns)
        return np.argsort(np.argsort(self.used + noise)) < self.count

    def learn(self, run):
        for dag in run.h.terms:
            self.used[dag.feature] += 1

    def state(self):
        return {} if self.used is None else {"used": self.used}

    def restore(self, state):
        self.used = state["used"].copy() if state else None


@register
class Guess(BaseLearner):
    name, size = "guess", "n_guesses"

    def __init__(self, n_guesses=5):
        self.n_guesses = n_guesses

    def fit(self, problem):
        numbers = [j for j, bins in enumerate(problem.layout.binner.columns) if not bins.nominal]
        allowed = [j for j in numbers if problem.columns is None or problem.columns[j]]
        best = None
        rng = np.random.default_rng(int(1e9 * np.abs(problem.pull).max()))
        for _ in range(self.n_guesses if allowed else 0):
            j = rng.choice(allowed)
            x = problem.column(j)
            threshold = rng.choice(x[~np.isnan(x)])
            h = two_leaves(problem, x > threshold, feature=j, threshold=threshold)
            best = h if best is None or h.score > best.score else best
        return best


PARTS = {
    "loss": {"loss": "huberised hinge"},
    "loss, an object": {"loss": Huberised(), "learning_rate": 0.3},
    "criterion": {"criterion": "gini", "loss": "exponential"},
    "criterion of logistic weights": {"criterion": "gini", "loss": "logistic"},
    "step": {"step": "tiring", "loss": "exponential"},
    "step with a parameter": {"step": Tiring(0.2), "votes": "discrete"},
    "rows": {"row_sampler": "mistaken", "loss": "logistic"},
    "rows, discrete votes": {"row_sampler": Mistaken(0.3), "votes": "discrete"},
    "columns": {"column_sampler": "curious", "loss": "logistic"},
    "columns, discrete votes": {"column_sampler": Curious(1), "votes": "discrete"},
    "learner": {"base_learner": "guess", "loss": "logistic"},
    "learner in a product": {"base_learner": "product:2/guess:7", "votes": "discrete"},
    "all at once": {
        "loss": "huberised hinge", "criterion": "newton", "step": "tiring", "row_sampler": "mistaken",
        "column_sampler": "curious", "base_learner": "product:2/guess",
    },
}  # fmt: skip


def boosted(part, n_rounds=12, **more):
    parameters = {"base_learner": "tree:5", "nominal_features": NOMINAL, **PARTS[part], **more}
    return MultiBoostClassifier(n_estimators=n_rounds, **parameters)


@pytest.mark.parametrize("part", PARTS)
def test_it_learns(part):
    """The risk falls, history and evaluation agree on it, and the answers are better than always no."""
    X, Y = table()
    clf = boosted(part, 40).fit(X, Y)
    history = clf.history_
    assert history["risk"][-1] < history["risk"][0]
    known = ~np.isnan(Y)
    wrong = np.mean((clf.predict(X) != Y)[known])
    assert wrong < min(np.mean(Y[known]), 1 - np.mean(Y[known])) - 0.02
    assert evaluate(clf, X, Y).risk == pytest.approx(history["risk"][-1], rel=1e-9)


@pytest.mark.parametrize("part", PARTS)
def test_saved_and_loaded(part, tmp_path):
    """The same scores; the plan names the part; and the loaded model goes on as the first one does."""
    X, Y = table()
    clf = boosted(part, warm_start=True).fit(X, Y)
    clf.save(tmp_path / "m.mb")
    loaded = load_model(tmp_path / "m.mb")
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert loaded.plan_ == clf.plan_
    for one in (clf, loaded):
        one.set_params(n_estimators=20, warm_start=True).fit(X, Y)
    assert loaded.model_.digest() == clf.model_.digest() == boosted(part, 20).fit(X, Y).model_.digest()


class Stop(Callback):
    """Ends the run after some rounds, as if it were interrupted."""

    def __init__(self, n_rounds):
        self.n_rounds = n_rounds

    def after_round(self, run):
        return run.n_rounds >= self.n_rounds


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("jobs", [1, 2])
def test_resumed(part, jobs, tmp_path):
    """A run of two parts is a run, whatever the number of threads."""
    X, Y = table()
    whole = boosted(part).fit(X, Y)
    boosted(part, n_jobs=1).fit(X, Y, checkpoint=tmp_path / "c.mb", callbacks=[Stop(5)])
    parts = boosted(part, n_jobs=jobs).fit(X, Y, checkpoint=tmp_path / "c.mb", resume=True)
    assert parts.model_.digest() == whole.model_.digest()
    for name in ("edge", "alpha", "risk", "training_error"):
        assert parts.history_[name].tobytes() == whole.history_[name].tobytes()


@pytest.mark.parametrize("part", ["rows", "columns", "step"])
def test_early_stopping_goes_back_with_the_state(part):
    """What was learned after the last kept round is forgotten, too: a warm start goes on from there."""
    X, Y = table(300, seed=3)
    more = {"base_learner": "tree:15"} if part == "step" else {"base_learner": "tree:15", "learning_rate": 1.0}
    clf = boosted(part, 150, warm_start=True, **more)
    clf.fit(X[:150], Y[:150], validation=(X[150:], Y[150:]), callbacks=[EarlyStopping(5, "validation_risk")])
    kept = clf.n_estimators_
    assert 0 < kept < 150
    exact = boosted(part, kept, **more).fit(X[:150], Y[:150])
    for name, value in exact.model_.state.items():
        np.testing.assert_array_equal(clf.model_.state[name], value)
    clf.set_params(n_estimators=kept + 3).fit(X[:150], Y[:150])
    assert clf.model_.digest() == boosted(part, kept + 3, **more).fit(X[:150], Y[:150]).model_.digest()


def test_a_part_that_is_not_known_here(tmp_path, monkeypatch):
    """A file names a part that nobody has registered: a clear error, for loading and for resuming."""
    X, Y = table()
    boosted("rows").fit(X, Y, checkpoint=tmp_path / "c.mb")
    known = {name: ROW_SAMPLERS.get(name) for name in ROW_SAMPLERS if name != "mistaken"}
    monkeypatch.setattr(ROW_SAMPLERS, "_things", known)
    for act in (
        lambda: load_model(tmp_path / "c.mb"),
        lambda: boosted("loss").fit(X, Y, resume=tmp_path / "c.mb"),
    ):
        with pytest.raises(
            ModelFileError, match=r"there is no row sampler 'mistaken'; there are 'all', 'mvs', 'share', 'trimming'"
        ):
            act()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"loss": "huberized hinge"},
            "loss must be one of 'auto', 'exponential', .*; got 'huberized hinge'",
        ),
        ({"criterion": "ginny"}, "there is no criterion 'ginny'; .* did you mean 'gini'?"),
        ({"step": "tirring"}, "step must be one of 'alpha', .*'rate', .*'tiring'.*; got 'tirring'"),
        ({"row_sampler": 3}, "row_sampler must be the name of a row sampler or one itself; got 3"),
        ({"row_sampler": "share"}, "row_sampler: the row sampler 'share' needs"),
        ({"row_sampler": "mistaken", "subsample": 0.5}, "subsample and row_sampler both say"),
        ({"step": "tiring", "learning_rate": 0.1}, "learning_rate and step both say"),
        ({"votes": "discrete", "loss": "huberised hinge"}, "votes='discrete' goes with loss='exponential'"),
    ],
)
def test_parts_that_cannot_be(parameters, message):
    X, Y = table(40)
    with pytest.raises(ValueError, match=message):
        MultiBoostClassifier(**parameters).fit(X, Y)


def test_what_is_no_part():
    with pytest.raises(TypeError, match="none of the parts that can be registered: Loss, Criterion, Step"):
        register(dict)
    with pytest.raises(ValueError, match="a step needs a name"):
        Registry("step").register(type("Nameless", (), {}))
    assert "gini" in CRITERIA
    assert "huberised hinge" in LOSSES
