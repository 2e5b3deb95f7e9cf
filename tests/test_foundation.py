"""What must stay true around the loop: a fit that fails changes nothing, a run goes on with its own data only.

Each of these was a bug once.
"""

import re

import numpy as np
import pandas as pd
import pytest

from multiboost import Callback, MultiBoostClassifier, load_model

from .conftest import make_classes
from .test_cli import cli, good  # noqa: F401  fixtures

USELESS = np.ones((200, 3)), np.zeros(200, int)  # one class


class StopAfter(Callback):
    """Raises an error after some rounds."""

    def __init__(self, rounds, error):
        self.rounds, self.error = rounds, error

    def after_round(self, run):
        if run.n_rounds == self.rounds:
            raise self.error
        return False


def twenty(n=300, seed=0):
    """Twenty named columns, of which one is nominal, and three classes of text."""
    X, y = make_classes(n, 19, 3, seed)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(19)])
    frame["city"] = pd.Categorical(np.array(["Aix", "Brest", "Caen"])[y])
    return frame, np.array(["ant", "bee", "cow"])[y]


def three(n=200):
    """Three columns of other names, and two classes that can be learned."""
    X, y = make_classes(n, 3, 2, seed=5)
    return pd.DataFrame(X, columns=["p", "q", "r"]), y


def public(clf) -> dict:
    """Everything that a user sees of a fitted model."""
    names = [name for name in dir(clf) if name.endswith("_") and not name.startswith("_")]
    found = {name: getattr(clf, name) for name in names}
    del found["model_"], found["ensemble_"], found["plan_"], found["base_learner_"]
    return {**found, "digest": clf.ensemble_.digest(), "plan": clf.plan_.to_dict()}


def assert_same(a, b):
    np.testing.assert_equal(a, b)


def fail_useless(clf):
    with pytest.raises(ValueError, match="only one class"):
        clf.fit(pd.DataFrame(USELESS[0], columns=["p", "q", "r"]), USELESS[1])


def fail_interrupted(clf):
    with pytest.raises(KeyboardInterrupt, match="at round 2"):
        clf.fit(*three(), callbacks=[StopAfter(2, KeyboardInterrupt("at round 2"))])


def fail_in_a_callback(clf):
    with pytest.raises(MemoryError, match="crash"):
        clf.fit(*three(), callbacks=[StopAfter(1, MemoryError("crash"))])


def fail_target(clf):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clf.fit(three()[0], three()[1][:-1])


def fail_validation(clf):
    with pytest.raises(ValueError, match="feature names should match"):
        clf.fit(*three(), validation=twenty())


def fail_parameters(clf):
    clf.set_params(learning_rate=7.0)
    with pytest.raises(ValueError, match="learning_rate must be"):
        clf.fit(*three())
    clf.set_params(learning_rate=None)


FAILURES = [fail_useless, fail_interrupted, fail_in_a_callback, fail_target, fail_validation, fail_parameters]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("loaded", [False, True], ids=["trained", "loaded"])
@pytest.mark.parametrize("fail", FAILURES, ids=lambda f: f.__name__)
def test_a_failed_refit_leaves_the_old_model_whole(fail, loaded, tmp_path):
    """Same answers, same names, same categories, same file; the columns of the failed fit are refused."""
    X, y = twenty()
    clf = MultiBoostClassifier("tree:5", 6).fit(X, y)
    clf.save(tmp_path / "before.mb")
    if loaded:
        clf = load_model(tmp_path / "before.mb")
    seen, scores = public(clf), clf.decision_function(X)
    fail(clf)
    assert_same(public(clf), seen)
    assert clf.decision_function(X).tobytes() == scores.tobytes()
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(three()[0])
    with pytest.raises(ValueError, match=r"has 3 features, but .* is expecting 20 features"):
        clf.predict(np.ones((2, 3)))
    clf.save(tmp_path / "after.mb")
    assert (tmp_path / "after.mb").read_bytes() == (tmp_path / "before.mb").read_bytes()


@pytest.mark.parametrize("loaded", [False, True], ids=["trained", "loaded"])
def test_a_refit_leaves_nothing_of_the_old_model(loaded, tmp_path):
    """Twenty named columns, then three without names: the model is that of a fresh estimator."""
    clf = MultiBoostClassifier("tree:5", 6).fit(*twenty(), validation=twenty(50, 1))
    if loaded:
        clf.save(tmp_path / "old.mb")
        clf = load_model(tmp_path / "old.mb")
    X, y = make_classes(200, 3, 2, seed=5)
    clf.fit(X, y)
    fresh = MultiBoostClassifier("tree:5", 6).fit(X, y)
    ours, theirs = public(clf), public(fresh)
    for name in ("seconds_search", "seconds_update"):
        del ours["history_"][name], theirs["history_"][name]
    assert_same(ours, theirs)
    assert not hasattr(clf, "feature_names_in_")


@pytest.mark.parametrize(
    "crash", [KeyboardInterrupt("at round 6"), MemoryError("at round 6")], ids=["interrupt", "crash"]
)
def test_a_warm_start_that_fails_keeps_the_rounds_it_had(crash):
    X, y = twenty()
    clf = MultiBoostClassifier("tree:5", 4, loss="logistic", warm_start=True).fit(X, y)
    scores = clf.decision_function(X)
    clf.set_params(n_estimators=9)
    with pytest.raises(type(crash), match="at round 6"):
        clf.fit(X, y, callbacks=[StopAfter(6, crash)])
    assert clf.n_iter_ == 4
    assert clf.decision_function(X).tobytes() == scores.tobytes()
    whole = MultiBoostClassifier("tree:5", 9, loss="logistic").fit(X, y)
    assert clf.fit(X, y).ensemble_.digest() == whole.ensemble_.digest()


def test_a_model_that_was_never_fitted_stays_unfitted():
    clf = MultiBoostClassifier("tree:5", 6)
    fail_useless(clf)
    assert not [name for name in vars(clf) if name.endswith("_")]


class TestResume:
    """A checkpoint of one thread, at round 3."""

    @pytest.fixture(params=["real", "discrete"])
    def run(self, request, tmp_path):
        """Parameters, data and a checkpoint at round 3 of very many."""
        X, y = twenty()
        given = {"votes": request.param, "base_learner": "tree:5", "loss": "exponential"}
        path = tmp_path / "c.mb"
        with pytest.raises(MemoryError, match="crash"):
            MultiBoostClassifier(n_estimators=5001, n_jobs=1, **given).fit(
                X, y, checkpoint=path, checkpoint_every=0, callbacks=[StopAfter(3, MemoryError("crash"))]
            )
        assert load_model(path).n_iter_ == 3
        return given, X, y, path

    @pytest.mark.parametrize("n_jobs", [1, 2, 4])
    @pytest.mark.parametrize("rounds", [8, 5001])
    def test_goes_on_with_any_threads_and_rounds(self, run, n_jobs, rounds):
        given, X, y, path = run
        clf = MultiBoostClassifier(n_estimators=rounds, n_jobs=n_jobs, **given)

        class Stop(Callback):
            def after_round(self, run):
                return run.n_rounds == 8

        clf.fit(X, y, resume=path, callbacks=[Stop()])
        whole = MultiBoostClassifier(n_estimators=8, n_jobs=1, **given).fit(X, y)
        assert clf.ensemble_.digest() == whole.ensemble_.digest()
        for name in ("edge", "alpha", "Z", "risk", "training_error"):
            np.testing.assert_array_equal(clf.history_[name], whole.history_[name])

    @pytest.mark.parametrize(
        ("change", "culprit"),
        [
            (lambda X: X.assign(x3=1000 * X.x3), "values of the table"),
            (lambda X: X.assign(x3=X.x3.where(X.index != 7, -X.x3)), "values of the table"),
            (lambda X: X.assign(city=X.city.cat.rename_categories(["Ax", "Brest", "Caen"])), "values of the table"),
            (lambda X: X[X.columns[::-1]], "values of the table"),
            (lambda X: X.iloc[:-1], "300.*299"),
        ],
        ids=["scaled", "one value", "categories", "order", "rows"],
    )
    def test_another_table_is_refused(self, run, change, culprit):
        given, X, y, path = run
        Z = change(X)
        with pytest.raises(ValueError, match=rf"{re.escape(str(path))}.*{culprit}"):
            MultiBoostClassifier(n_estimators=8, **given).fit(Z, y[: len(Z)], resume=path)

    @pytest.mark.parametrize("what", ["sample_weight", "label_weight", "labels"])
    def test_other_labels_and_weights_are_refused(self, run, what):
        given, X, y, path = run
        more = {}
        if what == "sample_weight":
            more = {"sample_weight": np.linspace(1, 2, len(y))}
        elif what == "label_weight":
            more = {"label_weight": np.tile([1.0, 1.0, 2.0], (len(y), 1))}
        else:
            y = np.where(np.arange(len(y)) == 11, np.where(y == "bee", "ant", "bee"), y)
        with pytest.raises(ValueError, match=rf"{re.escape(str(path))}.*labels or weights are not"):
            MultiBoostClassifier(n_estimators=8, **given).fit(X, y, resume=path, **more)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("learning_rate", 0.3),
            ("base_learner", "tree:6"),
            ("max_bins", 100),
            ("min_category_rows", 3),
            ("weighting", "uniform"),
            ("class_weight", {"ant": 2.0}),
            ("subsample", 0.5),
            ("ridge", 2.0),
            ("random_state", 1),
            ("criterion", "z"),
        ],
    )
    def test_another_parameter_is_refused_by_name(self, run, name, value):
        given, X, y, path = run
        clf = MultiBoostClassifier(**{"n_estimators": 8, **given, name: value})
        with pytest.raises(ValueError, match=rf"{re.escape(str(path))} was written by a run with {name}="):
            clf.fit(X, y, resume=path)

    def test_the_same_data_in_another_form_go_on(self, run):
        """What was hashed are bins and names, not how the table came."""
        given, X, y, path = run
        whole = MultiBoostClassifier(n_estimators=6, **given).fit(X, y)
        other = X.astype({"city": object})
        clf = MultiBoostClassifier(n_estimators=6, **given).fit(other, list(y), resume=path)
        assert clf.ensemble_.digest() == whole.ensemble_.digest()


class TestProvenance:
    """What the command line knows of a training file belongs to that training alone."""

    @pytest.fixture
    def trained(self, good, tmp_path):  # noqa: F811
        X, y = make_classes(120, 3, 2)
        pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=y).to_csv(tmp_path / "old.csv", index=False)
        good("train old.csv -t kind -n 3 -o old.mb -q")
        clf = load_model(tmp_path / "old.mb")
        assert clf.data_["target"] == ["kind"]
        return clf

    def test_does_not_survive_a_refit(self, trained, tmp_path):
        trained.fit(*make_classes(120, 3, 2))
        assert trained.data_ is None
        trained.save(tmp_path / "new.mb")
        assert load_model(tmp_path / "new.mb").data_ is None
        assert b"old.csv" not in (tmp_path / "new.mb").read_bytes()

    def test_survives_saving_and_a_fit_that_fails(self, trained, tmp_path):
        before = trained.data_
        fail_useless(trained)
        assert trained.data_ == before
        trained.save(tmp_path / "same.mb")
        assert load_model(tmp_path / "same.mb").data_ == before


def noisy(n=600):
    """Three classes, a third of the labels are noise."""
    X, y = make_classes(n, 6, 3, seed=3)
    rng = np.random.default_rng(0)
    return X, np.where(rng.random(n) < 0.35, rng.integers(0, 3, n), y)


def clean(n=600):
    """Squares of a board in four colours."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 240, (n, 4)) / 240
    colour = rng.integers(0, 4, (5, 5))
    return X, colour[tuple((5 * X[:, :2]).astype(int).T)]


@pytest.mark.parametrize("table", [noisy, clean], ids=["noisy", "clean"])
def test_a_parameter_set_to_the_chosen_value_changes_nothing(table):
    """The same rounds and the same probabilities, for each parameter, each two of them, and by grid search."""
    X, y = table()
    usual = MultiBoostClassifier(n_estimators=20).fit(X, y)
    assert usual.loss_ == {"noisy": "logistic", "clean": "exponential"}[table.__name__]
    assert usual.subsample_ == 0.8
    chosen = {
        "loss": usual.loss_,
        "learning_rate": usual.learning_rate_,
        "subsample": usual.subsample_,
        "base_learner": f"tree:{usual.base_learner_.n_leaves}",
    }
    pairs = [(a, b) for a in chosen for b in chosen if a <= b]
    for names in [*pairs, ("learning_rate", "subsample", "base_learner")]:
        clf = MultiBoostClassifier(**{"n_estimators": 20, **{name: chosen[name] for name in names}}).fit(X, y)
        assert clf.plan_ == usual.plan_, names
        assert clf.ensemble_.digest() == usual.ensemble_.digest(), names
        assert clf.predict_proba(X).tobytes() == usual.predict_proba(X).tobytes(), names
    fixed = MultiBoostClassifier(**{"n_estimators": 20, **chosen}).fit(X, y)
    assert fixed.ensemble_.digest() == usual.ensemble_.digest()


@pytest.mark.parametrize("table", [noisy, clean], ids=["noisy", "clean"])
def test_a_parameter_that_is_set_is_kept(table):
    X, y = table()
    for name, value in (("learning_rate", 0.33), ("subsample", 0.7), ("base_learner", "tree:11"), ("loss", "logistic")):
        clf = MultiBoostClassifier(**{"n_estimators": 3, name: value}).fit(X, y)
        found = {
            "learning_rate": clf.learning_rate_,
            "subsample": clf.subsample_,
            "base_learner": f"tree:{clf.base_learner_.n_leaves}",
            "loss": clf.loss_,
        }
        assert found[name] == value
