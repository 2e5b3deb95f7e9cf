"""The classifier as scikit-learn sees it, and as a user does."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from multiboost import AdaBoostMHClassifier, MultiBoostClassifier, Product, Stump, Tree

from .conftest import leaf_numbers, make_classes, make_labels, signs_of

warnings.filterwarnings("ignore", message=".*does not have valid feature names.*")


def expected_failures(estimator) -> dict[str, str]:
    """Checks that votes of a kind may fail, with the reason."""
    if estimator.votes == "discrete":
        # The check asks for one class almost everywhere in 50 other rows of noise.
        pure = "discrete stumps are no constants: the first one cuts off a region without any row of the heavy class"
        return {"check_class_weight_classifiers": pure}
    pairs = "smoothing and ridge of real votes are the mean weight of a pair, and repeated rows are more pairs"
    ranks = (
        "the check ranks rows by scores and by probabilities; two scores that differ in the last bit only may have one"
    )
    return {
        "check_sample_weight_equivalence_on_dense_data": pairs,
        "check_sample_weight_equivalence_on_sparse_data": pairs,
        **({"check_classifier_multioutput": ranks} if estimator.loss == "exponential" else {}),
        "check_classifiers_train": "probabilities are calibrated on held-out rows, and predict goes by scores",
    }


@parametrize_with_checks(
    [
        MultiBoostClassifier(n_estimators=5, loss="exponential"),
        MultiBoostClassifier("stump", n_estimators=5, votes="discrete"),
        MultiBoostClassifier("tree:5", n_estimators=5, loss="logistic"),
        AdaBoostMHClassifier("tree:5", n_estimators=5),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator, check):
    """All of scikit-learn's own checks, but for the failures explained above."""
    check(estimator)


def quick(base_learner="tree:4", n_estimators=5, **parameters):
    parameters = {"loss": "exponential", "subsample": 1.0, "calibration": "margin", **parameters}
    return MultiBoostClassifier(base_learner, n_estimators, **parameters)


def targets():
    """One target of each kind for 120 rows, and the shapes that belong to it."""
    X, Y = make_labels(120, 5, 3, seed=4)
    return X, {
        "binary": Y[:, 0],
        "multiclass": Y[:, 0] + 2 * Y[:, 1],
        "multilabel": Y,
        "multitask": np.stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2] + 5], axis=1),
    }


class TestShapes:
    def test_binary(self):
        X, y = targets()[0], targets()[1]["binary"]
        clf = quick().fit(X, y)
        F, P = clf.decision_function(X), clf.predict_proba(X)
        assert F.shape == (120,)
        assert P.shape == (120, 2)
        np.testing.assert_allclose(P[:, 1], 1 / (1 + np.exp(-clf.slope_ * F)), rtol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), (F > 0).astype(int))

    def test_multiclass(self):
        X, y = targets()[0], targets()[1]["multiclass"]
        clf = quick().fit(X, y)
        F, P = clf.decision_function(X), clf.predict_proba(X)
        assert F.shape == P.shape == (120, 4)
        e = np.exp(clf.slope_ * F)
        np.testing.assert_allclose(P, e / e.sum(1, keepdims=True), rtol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), F.argmax(1))

    def test_multilabel(self):
        X, Y = targets()[0], targets()[1]["multilabel"]
        clf = quick().fit(X, Y)
        F, P = clf.decision_function(X), clf.predict_proba(X)
        assert F.shape == P.shape == clf.predict(X).shape == (120, 3)
        np.testing.assert_allclose(P, 1 / (1 + np.exp(-clf.slope_ * F)), rtol=1e-12)
        np.testing.assert_array_equal(clf.predict(X), (F > 0).astype(int))
        assert clf.score(X, Y) == pytest.approx(np.mean((clf.predict(X) == Y).all(axis=1)))
        for k in range(3):
            assert np.all(np.diff(P[np.argsort(F[:, k]), k]) >= 0)

    def test_multitask(self):
        """A list of probabilities, one column of classes per task."""
        X, y = targets()[0], targets()[1]["multitask"]
        clf = quick().fit(X, y)
        P = clf.predict_proba(X)
        assert [p.shape for p in P] == [(120, 4), (120, 2)]
        assert clf.decision_function(X).shape == (120, 6)
        predicted = clf.predict(X)
        for t in range(2):
            np.testing.assert_array_equal(predicted[:, t], clf.classes_[t][P[t].argmax(1)])
        assert clf.score(X, y) == pytest.approx(np.mean(predicted == y))
        assert [p.shape for p in clf.predict_log_proba(X)] == [(120, 4), (120, 2)]

    def test_score_of_tasks_leaves_unknown_labels_out(self):
        X, y = targets()[0], targets()[1]["multitask"].astype(float)
        clf = quick().fit(X, y)
        wrong = clf.predict(X) != y
        y[::3, 0] = np.nan
        known = ~np.isnan(y)
        right = np.mean([1 - wrong[known[:, t], t].mean() for t in range(2)])
        assert clf.score(X, y) == pytest.approx(right)

    @pytest.mark.parametrize("kind", ["binary", "multiclass", "multitask"])
    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    def test_rows_of_probabilities_sum_to_one(self, kind, loss):
        X, y = targets()[0], targets()[1][kind]
        P = quick(loss=loss, n_estimators=30).fit(X, y).predict_proba(X)
        for p in P if isinstance(P, list) else [P]:
            np.testing.assert_allclose(p.sum(1), 1.0, rtol=1e-12)
            assert np.all((p >= 0) & (p <= 1))

    @pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
    @pytest.mark.parametrize(("n_rounds", "is_steep"), [(1, True), (200, False)])
    def test_slope_of_probabilities(self, kind, n_rounds, is_steep):
        """2 as in theory, or 6 over the median margin of the training set where that is less."""
        X, y = targets()[0], targets()[1][kind]
        clf = quick(n_estimators=n_rounds, votes="discrete").fit(X, y)
        F = clf.decision_function(X)
        if kind == "multiclass":
            own = F[np.arange(120), y]
            margin = own - np.where(np.arange(4) == y[:, None], -np.inf, F).max(1)
        else:
            margin = F * (2 * y - 1)
        assert clf.slope_ == pytest.approx(min(2.0, 6 / max(np.median(margin), 1e-9)), rel=0.02)
        assert (clf.slope_ == 2.0) == is_steep

    def test_log_probabilities_are_finite(self):
        """Also where a probability underflows."""
        X = np.arange(40.0)[:, None]
        y = (X[:, 0] > 19).astype(int)
        clf = quick("stump", 500, votes="discrete").fit(X, y)
        assert np.isfinite(clf.predict_log_proba(X)).all()


class TestMargins:
    @pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel", "multitask"])
    @pytest.mark.parametrize("parameters", [{"votes": "discrete"}, {}, {"loss": "logistic"}], ids=str)
    def test_margins(self, kind, parameters):
        """F Y over the sum of the largest votes of all rounds, by hand; never beyond one."""
        X, y = targets()[0], targets()[1][kind]
        clf = quick(n_estimators=8, **parameters).fit(X, y)
        F = clf.decision_function(X).reshape(len(X), -1)
        if kind == "binary":
            Y = signs_of(y, 2)
        elif kind == "multiclass":
            Y = signs_of(y, 4)
        elif kind == "multilabel":
            Y = 2.0 * y - 1
        else:
            Y = np.concatenate([signs_of(y[:, 0], 4), np.where(y[:, 1:] == [5, 6], 1.0, -1.0)], axis=1)
        ensemble = clf.ensemble_
        leaves = [np.unique(leaf_numbers(ensemble, t, X)) for t in range(8)]
        total = sum(np.abs(ensemble.values[leaf]).max() for leaf in leaves) + np.abs(ensemble.initial).max()
        found = clf.margins(X, y)
        np.testing.assert_allclose(found.reshape(len(X), -1), F * Y / total, rtol=1e-10, atol=1e-14)
        assert np.abs(found).max() <= 1 + 1e-12
        assert found.shape == ((120,) if kind == "binary" else Y.shape)

    def test_unknown_labels_have_no_margin(self):
        X, Y = targets()[0], targets()[1]["multilabel"].astype(float)
        clf = quick().fit(X, Y)
        Y[::2, 1] = np.nan
        margins = clf.margins(X, Y)
        assert np.all(margins[::2, 1] == 0)
        assert np.all(margins[1::2, 1] != 0)


class TestImportances:
    @pytest.mark.parametrize("base_learner", ["stump", "tree:6", "product:2", "tree:3/product:2"])
    @pytest.mark.parametrize("parameters", [{"votes": "discrete"}, {}, {"loss": "logistic"}], ids=str)
    def test_they_sum_to_one(self, base_learner, parameters):
        X, y = make_classes(150, 5, 3)
        found = quick(base_learner, **parameters).fit(X, y).feature_importances_
        assert found.shape == (5,)
        assert found.sum() == pytest.approx(1.0)
        assert np.all(found >= 0)

    def test_gain_of_a_discrete_stump_is_its_edge(self):
        """Importances are sums of edges per feature; `uses` counts the rounds of each."""
        X, y = make_classes(150, 5, 3)
        clf = quick("stump", 20, votes="discrete").fit(X, y)
        total = np.zeros(5)
        np.add.at(total, clf.ensemble_.feature, clf.history_["edge"])
        np.testing.assert_allclose(clf.feature_importances_, total / total.sum(), rtol=1e-9)
        np.testing.assert_array_equal(clf.ensemble_.uses(5), np.bincount(clf.ensemble_.feature, minlength=5))

    def test_they_find_the_column_that_matters(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 6))
        y = (X[:, 4] > 0).astype(int)
        clf = quick().fit(X, y)
        assert clf.feature_importances_.argmax() == 4
        assert clf.feature_importances_[4] > 0.8
        assert permutation_importance(clf, X, y, n_repeats=2, random_state=0).importances_mean.argmax() == 4


class TestTools:
    def test_pipeline_and_cross_validation(self):
        X, y = make_classes(200, 5, 3)
        pipe = make_pipeline(StandardScaler(), quick(n_estimators=20))
        found = cross_validate(pipe, X, y, cv=3, scoring=["accuracy", "neg_log_loss", "roc_auc_ovr"])
        assert found["test_accuracy"].mean() > 0.6
        assert np.isfinite(found["test_neg_log_loss"]).all()

    @pytest.mark.parametrize("base_learner", [Tree(), "tree"], ids=["object", "text"])
    def test_grid_search_over_the_size_of_trees(self, base_learner):
        """base_learner__n_leaves, whether the learner is an object or a name."""
        X, y = make_classes(150, 4, 3)
        search = GridSearchCV(quick(base_learner), {"base_learner__n_leaves": [2, 6], "n_estimators": [3, 12]}, cv=2)
        search.fit(X, y)
        best = search.best_estimator_
        assert best.base_learner.n_leaves in (2, 6)
        scores = {}
        for n_leaves in (2, 6):
            for n_rounds in (3, 12):
                scores[n_leaves, n_rounds] = cross_val_score(quick(Tree(n_leaves), n_rounds), X, y, cv=2).mean()
        assert search.best_score_ == pytest.approx(max(scores.values()))
        assert len(set(search.cv_results_["mean_test_score"].round(6))) > 1

    def test_set_params_leaves_the_original_alone(self):
        learner = Tree(7)
        clf = quick(learner)
        other = clone(clf).set_params(base_learner__n_leaves=3)
        assert learner.n_leaves == 7
        assert other.base_learner.n_leaves == 3
        assert clf.get_params()["base_learner__n_leaves"] == 7

    def test_text_and_object_are_one_learner(self):
        X, y = make_classes(120, 4, 3)
        pairs = [
            ("stump", Stump()),
            ("tree:5", Tree(5)),
            ("product:2", Product(2)),
            ("tree", Tree()),
            ("tree:3/product:2", Tree(3, Product(2))),
            ("product:2/tree:3", Product(2, Tree(3))),
        ]
        for text, learner in pairs:
            a, b = quick(text, 3).fit(X, y), quick(learner, 3).fit(X, y)
            assert a.decision_function(X).tobytes() == b.decision_function(X).tobytes()

    def test_set_output_of_a_pipeline(self):
        """Frames from a transformer carry their names into the classifier."""
        X, y = make_classes(100, 3, 2)
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        pipe = make_pipeline(StandardScaler(), quick()).set_output(transform="pandas").fit(frame, y)
        np.testing.assert_array_equal(pipe[-1].feature_names_in_, ["a", "b", "c"])

    def test_metadata_routing_of_sample_weight(self):
        X, y = make_classes(120, 4, 3)
        weight = np.random.default_rng(0).uniform(0.1, 3, 120)
        with sklearn.config_context(enable_metadata_routing=True):
            clf = quick().set_fit_request(sample_weight=True)
            scaler = StandardScaler().set_fit_request(sample_weight=False)
            pipe = make_pipeline(scaler, clf).fit(X, y, sample_weight=weight)
            plain = make_pipeline(clone(scaler), clone(clf)).fit(X, y)
        direct = quick().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
        Z = pipe[0].transform(X)
        np.testing.assert_allclose(pipe[-1].decision_function(Z), direct.decision_function(Z))
        assert not np.allclose(plain[-1].decision_function(Z), direct.decision_function(Z))

    def test_chain_of_classifiers(self):
        X, Y = make_labels(100, 4, 2)
        assert ClassifierChain(quick()).fit(X, Y).predict(X).shape == (100, 2)

    def test_unfitted(self):
        X, _ = make_classes(10, 2, 2)
        for method in ("predict", "predict_proba", "decision_function"):
            with pytest.raises(NotFittedError, match="not fitted"):
                getattr(quick(), method)(X)
        with pytest.raises(NotFittedError, match="not fitted"):
            list(quick().staged_predict(X))

    def test_score_is_accuracy(self):
        X, y = make_classes(100, 3, 3)
        weight = np.random.default_rng(0).random(100)
        clf = quick().fit(X, y)
        assert clf.score(X, y, weight) == pytest.approx(accuracy_score(y, clf.predict(X), sample_weight=weight))

    def test_repr_shows_what_was_changed(self):
        assert (
            repr(MultiBoostClassifier("stump", max_bins=64))
            == "MultiBoostClassifier(base_learner='stump', max_bins=64)"
        )


class TestFit:
    def test_head(self):
        """The first rounds are a model of their own: that of a shorter run."""
        X, y = make_classes(150, 4, 3)
        for base_learner in ("stump", "tree:5", "product:2", "tree:3/product:2"):
            long, short = quick(base_learner, 9).fit(X, y), quick(base_learner, 4).fit(X, y)
            head = long.ensemble_.head(4)
            assert head.n_rounds == 4
            for name in ("feature", "threshold", "child", "root", "first_term", "size", "gain", "missing_right"):
                np.testing.assert_array_equal(getattr(head, name), getattr(short.ensemble_, name), err_msg=name)
            expected = short.decision_function(X)
            long.model_.ensemble = head
            assert long.decision_function(X).tobytes() == expected.tobytes()
            long.model_.ensemble = head.head(0)
            assert not long.decision_function(X).any()

    def test_history_has_one_number_per_round(self):
        X, y = make_classes(100, 3, 3)
        clf = quick(n_estimators=7).fit(X, y)
        assert set(clf.history_) == {"edge", "alpha", "Z", "risk", "training_error", "seconds_search", "seconds_update"}
        assert all(len(values) == 7 for values in clf.history_.values())
        assert np.all(clf.history_["seconds_search"] >= 0)

    def test_verbose(self, capsys):
        """1: about ten lines, 2: a line per round, on standard error."""
        X, y = make_classes(80, 3, 3)
        quick("stump", 20, verbose=1).fit(X, y)
        before, *lines = capsys.readouterr().err.strip().splitlines()
        assert before == "comparing settings on held-out rows"
        assert len(lines) == 10
        assert lines[-1].startswith("round 20 of 20   edge 0.")
        clf = quick("stump", 6, verbose=2).fit(X, y)
        out = capsys.readouterr()
        assert len(out.err.strip().splitlines()) == 1 + 6
        assert f"training error {100 * clf.history_['training_error'][-1]:.2f} %" in out.err.splitlines()[-1]
        assert out.out == ""
        quick("stump", 3).fit(X, y)
        assert capsys.readouterr().err == ""

    def test_learning_rate_shrinks_the_votes(self):
        X, y = make_classes(100, 3, 3)
        whole, half = (
            quick(n_estimators=1, learning_rate=1.0).fit(X, y),
            quick(n_estimators=1, learning_rate=0.5).fit(X, y),
        )
        np.testing.assert_allclose(half.decision_function(X), 0.5 * whole.decision_function(X), rtol=1e-12)
        assert half.learning_rate_ == 0.5

    def test_auto_settings_are_said(self):
        X, y = make_classes(100, 3, 3)
        clf = MultiBoostClassifier(n_estimators=3).fit(X, y)
        assert clf.loss_ in ("exponential", "logistic")
        assert 0 < clf.learning_rate_ <= 1
        assert MultiBoostClassifier(n_estimators=3, votes="discrete").fit(X, y).learning_rate_ == 1.0

    def test_column_vector_warns(self):
        X, y = make_classes(60, 3, 2)
        with pytest.warns(DataConversionWarning, match="column-vector y"):
            clf = quick().fit(X, y[:, None])
        assert clf.predict(X).shape == (60,)

    def test_warm_start_must_not_go_back(self):
        X, y = make_classes(60, 3, 2)
        clf = quick(n_estimators=5, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="less than the 5 rounds"):
            clf.set_params(n_estimators=3).fit(X, y)
        assert clf.set_params(n_estimators=5).fit(X, y).n_estimators_ == 5

    def test_warm_start_with_other_columns(self):
        X, y = make_classes(60, 3, 2)
        clf = quick(n_estimators=5, warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="3 features"):
            clf.set_params(n_estimators=6).fit(X[:, :2], y)

    @pytest.mark.parametrize("votes", ["discrete", "real"])
    def test_boosting_learns(self, votes):
        """More rounds, less training error, on data that a stump cannot solve."""
        X, y = make_classes(400, 5, 4, noise=0.1)
        few, many = (quick("stump", n, votes=votes, learning_rate=1.0).fit(X, y).score(X, y) for n in (1, 150))
        assert few < 0.7
        assert many > 0.9


class TestThreads:
    def test_models_are_fitted_side_by_side(self):
        """Fits in several Python threads at once, each with its own team, give the usual bits."""
        X, y = make_classes(3000, 8, 5)

        def scores(_):
            return quick("tree:6", 4, n_jobs=2).fit(X, y).decision_function(X).tobytes()

        right = scores(0)
        with ThreadPoolExecutor(3) as pool:
            assert all(found == right for found in pool.map(scores, range(6)))

    def test_one_model_predicts_in_several_threads(self):
        X, y = make_classes(3000, 8, 5)
        clf = quick("tree:6", 4).fit(X, y)
        right = clf.decision_function(X).tobytes()
        with ThreadPoolExecutor(3) as pool:
            assert all(found == right for found in pool.map(lambda _: clf.decision_function(X).tobytes(), range(9)))

    def test_fit_leaves_no_threads_behind(self):
        X, y = make_classes(3000, 8, 5)
        before = threading.active_count()
        clf = quick(n_jobs=3).fit(X, y)
        clf.predict(X)
        list(clf.staged_predict(X))
        next(clf.staged_predict(X))
        assert threading.active_count() == before


X_GOOD, Y_GOOD = make_classes(30, 3, 3)


class TestErrors:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_estimators": 0}, "n_estimators must be a whole number"),
            ({"n_estimators": 2.5}, "n_estimators must be a whole number"),
            ({"n_estimators": True}, "n_estimators must be a whole number"),
            ({"votes": "loud"}, "votes must be one of 'real', 'discrete'"),
            ({"loss": "squarish"}, "loss must be one of"),
            ({"loss": "squared"}, "loss='squared' is a loss of numbers"),
            ({"weighting": "heavy"}, "weighting must be one of"),
            ({"weighting": "given"}, "pass label_weight"),
            ({"max_bins": 1}, "max_bins must be a whole number of at least 2"),
            ({"max_bins": 65536}, "at most 65535"),
            ({"ridge": -1.0}, "ridge must be a number"),
            ({"learning_rate": 0.0}, "learning_rate must be a number above 0"),
            ({"learning_rate": 1.5}, "at most 1"),
            ({"learning_rate": "fast"}, "learning_rate must be a number"),
            ({"subsample": 0.0}, "subsample must be a number above 0"),
            ({"subsample": 1.5}, "at most 1"),
            ({"verbose": -1}, "verbose must be a whole number"),
            ({"n_jobs": 0}, "n_jobs must not be 0"),
            ({"n_jobs": 1.5}, "n_jobs must be a whole number"),
            ({"votes": "discrete", "loss": "logistic"}, "votes='discrete' goes with"),
            ({"base_learner": "forest"}, "'forest' is not one of"),
            ({"base_learner": "tree:big"}, "'big' is not a size"),
            ({"base_learner": "stump:3"}, "'3' is not a size"),
            ({"base_learner": "stump/tree"}, "a stump has no base learner"),
            ({"base_learner": "tree:1"}, "n_leaves must be a whole number of at least 2"),
            ({"base_learner": Tree(2.5)}, "n_leaves must be a whole number"),
            ({"base_learner": Tree("ten")}, "n_leaves must be a whole number"),
            ({"base_learner": Product(0)}, "n_terms must be a whole number of at least 1"),
            ({"base_learner": Product(2, Tree(1))}, "n_leaves must be a whole number"),
            ({"base_learner": 5}, "base_learner must be one of"),
            ({"base_learner": Tree(3, Tree(3))}, "a tree is cut by base classifiers of the form"),
        ],
        ids=lambda p: str(p)[:40],
    )
    def test_bad_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            MultiBoostClassifier(**{"n_estimators": 2, **parameters}).fit(X_GOOD, Y_GOOD)

    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            (X_GOOD, Y_GOOD[:-1], "inconsistent numbers of samples"),
            (X_GOOD[:, 0], Y_GOOD, "Expected 2D array"),
            (X_GOOD[None], Y_GOOD, "dim 3"),
            (np.empty((0, 3)), np.empty(0), "minimum of 1 is required"),
            (np.empty((30, 0)), Y_GOOD, "minimum of 1 is required"),
            (pd.DataFrame({"a": []}), [], "minimum of 1 sample"),
            (np.where(X_GOOD > 1, np.inf, X_GOOD), Y_GOOD, "infinity"),
            (X_GOOD.astype(complex), Y_GOOD, "Complex data not supported"),
            (X_GOOD, np.zeros(30), "only one class"),
            (X_GOOD, X_GOOD[:, 0], "Unknown label type: continuous"),
            (X_GOOD, None, "requires y to be passed"),
            (X_GOOD, np.where(Y_GOOD == 0, np.nan, Y_GOOD), "contains NaN"),
            (X_GOOD, np.where(Y_GOOD == 0, None, Y_GOOD), "contains NaN or None"),
            (X_GOOD, np.where(Y_GOOD == 0, pd.NA, Y_GOOD), "contains NaN or None"),
            (X_GOOD, np.zeros((30, 2, 2)), "one or two dimensions"),
            (X_GOOD.astype(str).astype(object) + "x", Y_GOOD, "could not convert string to float"),
        ],
    )
    def test_bad_data(self, X, y, message):
        with pytest.raises(ValueError, match=message):
            quick().fit(X, y)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_frames_name_the_column(self, frame):
        """Infinity and dates are blamed on their column."""
        data = {"age": X_GOOD[:, 0], "height": np.where(X_GOOD[:, 1] > 1, np.inf, X_GOOD[:, 1])}
        with pytest.raises(ValueError, match="infinity in column 'height'"):
            quick().fit(frame(data), Y_GOOD)
        with pytest.raises(ValueError, match=r"column 'born' holds .*, not numbers"):
            quick().fit(frame({"age": X_GOOD[:, 0], "born": np.full(30, "2011-05-01", "M8[ms]")}), Y_GOOD)

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
    def test_infinity_in_an_array_or_sparse_matrix(self, form):
        X = X_GOOD.copy()
        X[3, 1] = -np.inf
        with pytest.raises(ValueError, match="infinity in column 1"):
            quick().fit(form(X), Y_GOOD)

    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: pd.DataFrame(X, columns=["0", "1", "2"])])
    @pytest.mark.parametrize("others", [1.0, np.nan, -np.inf], ids=str)
    def test_infinity_at_prediction(self, form, others):
        """Also where other values of the row are missing, or infinite with the other sign."""
        X = X_GOOD.copy()
        clf = quick().fit(form(X), Y_GOOD)
        X[2, 0], X[2, 1] = others, np.inf
        for method in (clf.predict, lambda X: list(clf.staged_predict(X))):
            with pytest.raises(ValueError, match="infinity in column"):
                method(form(X))

    def test_huge_values_are_not_infinite(self):
        """The sum of two huge values overflows; they are numbers all the same."""
        X = X_GOOD.copy()
        clf = quick().fit(X, Y_GOOD)
        X[:, 0] = 1e308
        assert clf.predict(X).shape == (30,)
        assert quick().fit(X, Y_GOOD).predict(X).shape == (30,)

    @pytest.mark.parametrize(
        ("weight", "message"),
        [
            (np.full(30, -1.0), r"sample_weight\[0\] is negative"),
            (np.zeros(30), "zero"),
            (np.full(30, np.nan), "NaN"),
            (np.full(30, np.inf), "infinity"),
            (np.ones(29), "sample_weight.shape"),
            (np.ones((30, 2)), "1D array"),
        ],
    )
    def test_bad_sample_weight(self, weight, message):
        with pytest.raises(ValueError, match=message):
            quick().fit(X_GOOD, Y_GOOD, sample_weight=weight)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_feature_names(self, frame):
        """Unknown, absent and swapped columns."""

        def table(names):
            return frame({name: X_GOOD[:, j] for j, name in enumerate(names)})

        clf = quick().fit(table("abc"), Y_GOOD)
        with pytest.raises(ValueError, match="unseen at fit time"):
            clf.predict(table("abd"))
        with pytest.raises(ValueError, match="now missing"):
            clf.predict(table("ab"))
        with pytest.raises(ValueError, match="same order"):
            clf.predict(table("acb"))

    def test_two_columns_of_one_name(self):
        frame = pd.DataFrame(X_GOOD, columns=["a", "b", "a"])
        with pytest.raises(ValueError, match=r"same name: 'a'|unique column names, got:\s+- 'a' 2 times"):
            quick().fit(frame, Y_GOOD)

    def test_number_of_features(self):
        clf = quick().fit(X_GOOD, Y_GOOD)
        with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
            clf.predict(X_GOOD[:, :2])

    def test_unseen_class_in_margins(self):
        clf = quick().fit(X_GOOD, Y_GOOD)
        with pytest.raises(ValueError, match="not seen in fit"):
            clf.margins(X_GOOD, Y_GOOD + 5)

    def test_failed_fit_is_no_model(self):
        """After an error there is nothing that predicts."""
        clf = quick()
        with pytest.raises(ValueError, match="only one class"):
            clf.fit(X_GOOD, np.zeros(30))
        with pytest.raises(NotFittedError, match="not fitted"):
            clf.predict(X_GOOD)
