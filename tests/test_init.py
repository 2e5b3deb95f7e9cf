"""Where boosting starts: constants, given scores, fitted estimators; files, stages, validation and resume."""

# ruff: noqa: F811  (fixtures come from the tests of the command line)

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, RidgeClassifier
from sklearn.multioutput import MultiOutputClassifier

from multiboost import EarlyStopping, MultiBoostClassifier, MultiBoostRegressor, load_model
from multiboost.kernels.team import Team

from .conftest import all_rows, half_weights, make_classes, make_labels, signs_of
from .test_cli import cli, digest, good  # noqa: F401


def regression(n=250, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, 3 * X[:, 0] + X[:, 1] ** 2 + 0.2 * rng.normal(size=n) + 10


def linear_first(**parameters):
    X, y = regression()
    first = MultiBoostRegressor("column", 30, learning_rate=0.3).fit(X, y)
    return X, y, first, MultiBoostRegressor("bins:8", 15, init=first, **parameters)


class TestConstants:
    @pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "quantile"])
    def test_the_best_constant_is_where_numbers_begin(self, loss):
        X, y = regression()
        one, two = (MultiBoostRegressor("tree:4", 5, loss=loss, init=init).fit(X, y) for init in (None, "constant"))
        assert one.ensemble_.digest() == two.ensemble_.digest()

    def test_the_best_constant_of_logistic_loss_is_its_own(self, three_classes):
        X, y = three_classes
        one, two = (all_rows("tree:4", 5, loss="logistic", init=init).fit(X, y) for init in (None, "constant"))
        assert one.ensemble_.digest() == two.ensemble_.digest()

    @pytest.mark.parametrize("loss", ["exponential", "hinge", "logistic", "softmax"])
    def test_no_other_constant_has_less_risk(self, loss):
        """Up to the weight of one pair that keeps log odds finite."""
        X, y = make_classes(2000, 3, 3)
        clf = all_rows("stump", 1, loss=loss, init="constant").fit(X, y)
        target = clf._target(clf.model_.kind, y, None, None, training=True)
        best = clf.ensemble_.initial
        risk = clf.plan_.loss.risk(np.tile(best, (len(y), 1)), target)
        for k in range(3):
            for move in (-0.05, 0.05):
                other = best + move * np.eye(3)[k]
                assert risk < clf.plan_.loss.risk(np.tile(other, (len(y), 1)), target)

    def test_exponential_loss_begins_at_half_the_log_odds(self):
        X, y = make_classes(200, 3, 3)
        clf = all_rows("stump", 1, loss="exponential", init="constant").fit(X, y)
        Y = signs_of(y, 3)
        W = half_weights(Y)
        s = 1 / W.size
        plus, minus = (W * (Y > 0)).sum(axis=0), (W * (Y < 0)).sum(axis=0)
        np.testing.assert_allclose(clf.ensemble_.initial, 0.5 * np.log((plus + s) / (minus + s)))

    def test_numbers(self, tmp_path):
        """Scores of labels, predictions of targets."""
        X, y = make_classes(200, 3, 3)
        clf = all_rows("stump", 3, init=[0.1, 0.2, -0.3]).fit(X, y)
        np.testing.assert_array_equal(clf.ensemble_.initial, [0.1, 0.2, -0.3])
        X, y = regression()
        reg = MultiBoostRegressor("stump", 1, init=7.0, learning_rate=1e-9).fit(X, y)
        np.testing.assert_allclose(reg.predict(X), 7.0, atol=1e-6)
        several = MultiBoostRegressor("stump", 1, init=[7.0, 8.0], learning_rate=1e-9).fit(X, np.stack([y, y], axis=1))
        np.testing.assert_allclose(several.predict(X)[0], [7, 8], atol=1e-6)
        reg.save(tmp_path / "a.mb")
        assert load_model(tmp_path / "a.mb").init == [7.0]

    @pytest.mark.parametrize("init", ["mean", [np.nan], [[1.0]], MultiBoostRegressor(), LinearRegression, object()])
    def test_refusals(self, init):
        with pytest.raises(ValueError, match="init must be None, 'constant', a finite score for each label"):
            MultiBoostRegressor("stump", 1, init=init).fit(*regression())

    def test_as_many_as_there_are_labels(self):
        with pytest.raises(ValueError, match="init must have 1 predictions for each row; got 2"):
            MultiBoostRegressor("stump", 1, init=[1.0, 2.0]).fit(*regression())


class TestOurs:
    def test_its_scores_plus_boosting(self):
        """What is added is what boosting learns from the residuals, and stages begin at the first model."""
        X, y, first, reg = linear_first(learning_rate=1.0, ridge=1e-9, subsample=1.0)
        reg.set_params(n_estimators=1).fit(X, y)
        rest = y - first.predict(X)
        added = reg.predict(X) - first.predict(X)
        for value in np.unique(added.round(9)):
            same = np.abs(added - value) < 1e-8
            assert rest[same].mean() == pytest.approx(value, abs=1e-6)
        reg.set_params(n_estimators=15).fit(X, y)
        stages = list(reg.staged_predict(X))
        np.testing.assert_array_equal(stages[-1], reg.predict(X))
        assert reg.score(X, y) > first.score(X, y) + 0.05
        assert reg.n_iter_ == 15

    def test_scores_of_labels(self, tmp_path):
        X, y = make_classes(250, 4, 3)
        first = all_rows("column", 20, loss="logistic").fit(X, y)
        clf = all_rows("stump", 1, loss="exponential", learning_rate=1.0, init=first).fit(X, y)
        Y, F = signs_of(y, 3), first.decision_function(X)
        w = half_weights(Y) * np.exp(-F * Y)
        added = clf.decision_function(X) - F
        s = 1 / Y.size
        for row in np.unique(added.round(9), axis=0):
            side = np.abs(added - row).max(axis=1) < 1e-8
            plus, minus = (((w * (sign == Y))[side]).sum(axis=0) / w.sum() for sign in (1, -1))
            np.testing.assert_allclose(row, 0.5 * np.log((2 * plus + s) / (2 * minus + s)), atol=1e-7)

    def test_files_single_rows_and_a_model_before_a_model(self, tmp_path):
        X, y, first, second = linear_first()
        third = MultiBoostRegressor("stump", 5, init=second.fit(X, y)).fit(X, y)
        third.save(tmp_path / "a.mb")
        loaded = load_model(tmp_path / "a.mb")
        np.testing.assert_array_equal(loaded.predict(X), third.predict(X))
        np.testing.assert_array_equal(loaded.init.init.predict(X), first.predict(X))
        one = loaded.compiled()
        np.testing.assert_array_equal([one.scores(x) for x in X[:40]], third._scores(X)[:40])
        again = loaded.fit(X, y)  # what was loaded can be fitted
        assert again.ensemble_.digest() == third.ensemble_.digest()

    def test_validation_early_stopping_and_threads(self):
        X, y, _, reg = linear_first()
        reg.fit(X, y, validation=(X, y))
        np.testing.assert_allclose(reg.history_["validation_risk"], reg.history_["risk"], rtol=1e-9)
        other = reg.set_params(n_jobs=1).fit(X, y)
        np.testing.assert_array_equal(other.predict(X), reg.predict(X))
        rng = np.random.default_rng(0)
        noisy = y + 20 * rng.normal(size=len(y))
        reg.set_params(n_estimators=60).fit(
            X[:150], noisy[:150], validation=(X[150:], y[150:]), callbacks=[EarlyStopping(5)]
        )
        assert reg.n_iter_ < 60
        assert len(list(reg.staged_predict(X))) == reg.n_iter_

    def test_resume_and_warm_start_bit_for_bit(self, tmp_path):
        X, y, first, reg = linear_first(subsample=0.7)
        whole = reg.fit(X, y)
        part = MultiBoostRegressor("bins:8", 6, init=first, subsample=0.7).fit(X, y, checkpoint=tmp_path / "run.mb")
        part.set_params(n_estimators=15).fit(X, y, checkpoint=tmp_path / "run.mb", resume=True)
        assert part.ensemble_.digest() == whole.ensemble_.digest()
        np.testing.assert_array_equal(part.predict(X), whole.predict(X))
        warm = MultiBoostRegressor("bins:8", 6, init=first, subsample=0.7, warm_start=True).fit(X, y)
        assert warm.set_params(n_estimators=15).fit(X, y).ensemble_.digest() == whole.ensemble_.digest()
        other = MultiBoostRegressor("column", 31, learning_rate=0.3).fit(X, y)
        with pytest.raises(ValueError, match="was written by a run with init="):
            part.set_params(init=other).fit(X, y, checkpoint=tmp_path / "run.mb", resume=True)

    def test_names_of_categories_are_those_of_each_model(self):
        """The first model has seen other categories, in another order."""
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"c": rng.choice(["a", "b", "d"], 200), "x": rng.normal(size=200)})
        y = X["x"] + X["c"].map({"a": 1.0, "b": 5.0, "d": -2.0})
        first = MultiBoostRegressor("bins", 10, learning_rate=0.5).fit(
            X.sort_values("c", ascending=False), y.loc[X.sort_values("c", ascending=False).index]
        )
        reg = MultiBoostRegressor("stump", 1, init=first, learning_rate=1e-12).fit(X, y)
        np.testing.assert_allclose(reg.predict(X), first.predict(X), atol=1e-9)
        with Team(1) as team:  # as reports read it: numbers of the second model's categories
            np.testing.assert_array_equal(reg.model_.scores(reg.model_.table(X).encoded(), team), reg._scores(X))

    def test_other_tables_and_targets_are_refused(self, three_classes):
        X, y = three_classes
        first = all_rows("stump", 2).fit(X, y)
        with pytest.raises(ValueError, match="init was fitted on other columns"):
            all_rows("stump", 2, init=first).fit(X[:, :3], y)
        with pytest.raises(ValueError, match="init was fitted on other classes"):
            all_rows("stump", 2, init=first).fit(X, y + 1)
        with pytest.raises(ValueError, match="init was fitted on a multiclass target, and y is binary"):
            all_rows("stump", 2, init=first).fit(X, y > 0)


class TestOthers:
    def test_a_regressor_of_scikit_learn(self, tmp_path):
        X, y = regression()
        first = LinearRegression().fit(X, y)
        reg = MultiBoostRegressor("stump", 1, init=first, learning_rate=1e-12).fit(X, y)
        np.testing.assert_allclose(reg.predict(X), first.predict(X), atol=1e-9)
        with pytest.raises(
            ValueError, match="starts from a fitted LinearRegression, which has no place in a model file"
        ):
            reg.save(tmp_path / "a.mb")
        assert not (tmp_path / "a.mb").exists()
        with pytest.raises(ValueError, match="checkpoint: a run that starts from LinearRegression"):
            reg.fit(X, y, checkpoint=tmp_path / "a.mb")
        with pytest.raises(ValueError, match="starts from LinearRegression, which predicts for tables"):
            reg.compiled()

    def test_counts(self):
        X, y = regression()
        y = np.round(np.abs(y))
        first = PoissonRegressor().fit(X, y)
        reg = MultiBoostRegressor("stump", 1, loss="poisson", init=first, learning_rate=1e-12).fit(X, y)
        np.testing.assert_allclose(reg.predict(X), first.predict(X), rtol=1e-9)
        with pytest.raises(ValueError, match="init must predict numbers above 0"):
            MultiBoostRegressor("stump", 1, loss="poisson", init=LinearRegression().fit(X, -y)).fit(X, y)

    @pytest.mark.parametrize("n_labels", [2, 3])
    def test_probabilities_are_half_the_log_odds(self, n_labels):
        X, y = make_classes(250, 4, n_labels)
        first = LogisticRegression().fit(X, y)
        clf = all_rows("stump", 1, loss="exponential", init=first, learning_rate=1e-12).fit(X, y)
        p = first.predict_proba(X).clip(1e-6, 1 - 1e-6)
        p = p[:, 1] if n_labels == 2 else p
        np.testing.assert_allclose(clf.decision_function(X), 0.5 * np.log(p / (1 - p)), atol=1e-6)
        assert clf.history_["training_error"][0] == pytest.approx(1 - first.score(X, y), abs=0.02)

    def test_decisions_and_labels(self):
        X, Y = make_labels(200, 4, 3)
        first = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
        clf = all_rows("stump", 1, init=first, learning_rate=1e-12).fit(X, Y)
        p = np.stack([one[:, 1] for one in first.predict_proba(X)], axis=1)
        np.testing.assert_allclose(clf.decision_function(X), 0.5 * np.log(p / (1 - p)), atol=1e-6)
        X, y = make_classes(200, 4, 3)
        first = RidgeClassifier().fit(X, y)
        clf = all_rows("stump", 1, loss="hinge", init=first, learning_rate=1e-12).fit(X, y)
        np.testing.assert_allclose(clf.decision_function(X), first.decision_function(X), atol=1e-6)

    def test_other_classes(self, three_classes):
        X, y = three_classes
        with pytest.raises(ValueError, match=r"init: LogisticRegression has no scores.*it knows the classes"):
            all_rows("stump", 1, init=LogisticRegression().fit(X, y + 1)).fit(X, y)


class TestGivenScores:
    def test_the_model_says_what_to_add(self, tmp_path):
        X, y = regression()
        first = LinearRegression().fit(X, y)
        given = first.predict(X)
        reg = MultiBoostRegressor("tree:4", 8).fit(X, y, init_scores=given, validation=(X, y, None, given))
        other = MultiBoostRegressor("tree:4", 8, init=first).fit(X, y)
        np.testing.assert_allclose(given + reg.predict(X), other.predict(X), atol=1e-9)
        np.testing.assert_allclose(reg.history_["validation_risk"], other.history_["risk"], rtol=1e-9)
        reg.save(tmp_path / "a.mb")
        np.testing.assert_array_equal(load_model(tmp_path / "a.mb").predict(X), reg.predict(X))

    def test_counts_are_multiplied(self):
        """Exposure: twice as long, twice as many."""
        rng = np.random.default_rng(0)
        X, time = rng.normal(size=(400, 2)), rng.uniform(1, 5, 400)
        y = rng.poisson(time * np.exp(0.5 * X[:, 0]))
        reg = MultiBoostRegressor("column", 60, loss="poisson", learning_rate=0.3).fit(X, y, init_scores=time)
        assert reg.coef_[0] == pytest.approx(0.5, abs=0.1)
        np.testing.assert_allclose(reg.predict(X), np.exp(X @ reg.coef_ + reg.intercept_))

    def test_resume_needs_the_same_scores(self, three_classes, tmp_path):
        X, y = three_classes
        given = np.random.default_rng(0).normal(size=(len(y), 3))
        whole = all_rows("stump", 8).fit(X, y, init_scores=given)
        part = all_rows("stump", 4).fit(X, y, init_scores=given, checkpoint=tmp_path / "run.mb")
        part.set_params(n_estimators=8)
        with pytest.raises(ValueError, match="the initial scores are not the"):
            part.fit(X, y, init_scores=given + 1, checkpoint=tmp_path / "run.mb", resume=True)
        part.fit(X, y, init_scores=given, checkpoint=tmp_path / "run.mb", resume=True)
        assert part.ensemble_.digest() == whole.ensemble_.digest()
        warm = all_rows("stump", 4, warm_start=True).fit(X, y, init_scores=given)
        assert (
            warm.set_params(n_estimators=8).fit(X, y, init_scores=given).ensemble_.digest() == whole.ensemble_.digest()
        )

    def test_rows_without_weight_are_left_out(self, three_classes):
        X, y = three_classes
        given = np.random.default_rng(0).normal(size=(len(y), 3))
        weight = (np.arange(len(y)) % 3 > 0).astype(float)
        some = weight > 0
        one = all_rows("stump", 4).fit(X, y, weight, init_scores=given)
        two = all_rows("stump", 4).fit(X[some], y[some], init_scores=given[some])
        assert one.ensemble_.digest() == two.ensemble_.digest()

    def test_refusals(self, three_classes):
        X, y = three_classes
        given = np.zeros((len(y), 3))
        with pytest.raises(ValueError, match="init and init_scores both say where boosting starts"):
            all_rows("stump", 2, init="constant").fit(X, y, init_scores=given)
        with pytest.raises(ValueError, match="init_scores must have a row for each of the 300 samples"):
            all_rows("stump", 2).fit(X, y, init_scores=given[:5])
        with pytest.raises(ValueError, match="init must have 3 scores for each row; got 2"):
            all_rows("stump", 2).fit(X, y, init_scores=given[:, :2])
        with pytest.raises(ValueError, match="init_scores must be finite"):
            all_rows("stump", 2).fit(X, y, init_scores=given + np.inf)
        with pytest.raises(ValueError, match="init_scores are given for the training set and for validation, or"):
            all_rows("stump", 2).fit(X, y, init_scores=given, validation=(X, y))


def test_command_line(good, tmp_path):
    """--base and --init: the same bits as from Python."""
    pytest.importorskip("pyarrow")
    X, y = make_classes(120, 3, 3)
    frame = pd.DataFrame(X.round(3), columns=list("abc")).assign(y=[f"class {k}" for k in y])
    frame.to_csv(tmp_path / "d.csv", index=False)
    train = f"train {tmp_path}/d.csv -t y --rounds 6 --loss logistic --quiet"
    good(f"{train} --base column:spline --init constant --out {tmp_path}/first.mb")
    good(f"{train} --base bins:8 --init {tmp_path}/first.mb --out {tmp_path}/second.mb")
    good(f"{train} --base stump --votes ternary --loss exponential --out {tmp_path}/third.mb")
    first = MultiBoostClassifier("column:spline", 6, loss="logistic", init="constant").fit(
        frame[list("abc")], frame["y"]
    )
    second = MultiBoostClassifier("bins:8", 6, loss="logistic", init=first).fit(frame[list("abc")], frame["y"])
    third = MultiBoostClassifier("stump", 6, loss="exponential", votes="ternary").fit(frame[list("abc")], frame["y"])
    for name, clf in (("first", first), ("second", second), ("third", third)):
        loaded = load_model(tmp_path / f"{name}.mb")
        np.testing.assert_array_equal(
            loaded.decision_function(frame[list("abc")]), clf.decision_function(frame[list("abc")])
        )
    good(f"predict {tmp_path}/second.mb {tmp_path}/d.csv --out {tmp_path}/p.csv")
    assert pd.read_csv(tmp_path / "p.csv").iloc[:, 0].tolist() == second.predict(frame[list("abc")]).tolist()
    good(f"report {tmp_path}/second.mb {tmp_path}/d.csv --out {tmp_path}/r.html")
