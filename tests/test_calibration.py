"""From scores to probabilities, against NumPy, SciPy, scikit-learn and fine grids."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize, minimize_scalar
from scipy.special import expit, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, dcg_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from multiboost import AdaBoostMHClassifier, Calibrated, EarlyStopping, MultiBoostClassifier, evaluate, load_model
from multiboost.boosting import trial as trials
from multiboost.boosting.auto import _better, _grown
from multiboost.boosting.ruler import Ruler, median_margin
from multiboost.boosting.trial import Trial
from multiboost.calibration import (
    CALIBRATORS,
    Calibration,
    Diagonal,
    Isotonic,
    Matrix,
    Platt,
    Quadratic,
    Shift,
    Sigmoid,
    Temperature,
    refinement,
)
from multiboost.calibration.calibration import Question
from multiboost.calibration.goals import GOALS, Rows
from multiboost.data.binned import Binned
from multiboost.data.kinds import recognise
from multiboost.data.table import as_table
from multiboost.data.target import Target
from multiboost.kernels.team import Team


def scores(n=600, k=4, seed=0, sure=2.0):
    """Scores that are too sure and crooked, and the truth."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, k)) * 1.5
    crooked = z @ (np.eye(k) + 0.3 * rng.normal(size=(k, k))) + 0.5 * rng.normal(size=k)
    P = softmax(crooked, axis=1)
    y = (rng.random((n, 1)) > np.cumsum(P, axis=1)).sum(axis=1).clip(max=k - 1)
    return sure * z, y


def noisy(n=600, n_classes=3, seed=0):
    """Classes that overlap: no classifier can be sure."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, 5))
    X[:, 0] += y
    X[:, 1] -= 0.7 * y
    return X, y


ALL = sorted(CALIBRATORS)


class TestEveryCalibrator:
    @pytest.mark.parametrize("name", ALL)
    def test_rows_sum_to_one(self, name):
        k = 2 if name == "quadratic" else 4
        z, y = scores(k=k)
        z = z / np.abs(z).max()  # as SHIFT wants them
        P = CALIBRATORS.get(name)().fit(z, y).probabilities(z)
        assert P.shape == z.shape
        assert P.min() >= 0
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)

    @pytest.mark.parametrize("name", ALL)
    def test_unknown_and_weightless_rows_take_no_part(self, name):
        k = 2 if name == "quadratic" else 3
        z, y = scores(300, k)
        strange = np.vstack([z, 50 * np.ones((40, k)) * np.arange(k), -30 * np.eye(k)[np.zeros(9, int)]])
        true, weight = np.concatenate([y, np.full(40, -1), np.zeros(9, int)]), np.ones(349)
        weight[340:] = 0
        some, all_rows = CALIBRATORS.get(name)().fit(z, y), CALIBRATORS.get(name)().fit(strange, true, weight)
        np.testing.assert_array_equal(some.probabilities(z), all_rows.probabilities(z))

    @pytest.mark.parametrize("name", ALL)
    def test_the_size_of_weights_does_not_matter(self, name):
        k = 2 if name == "quadratic" else 3
        z, y = scores(200, k)
        weight = np.random.default_rng(0).uniform(0.5, 2, 200)
        one, other = (CALIBRATORS.get(name)().fit(z, y, w).probabilities(z) for w in (weight, 1024 * weight))
        np.testing.assert_array_equal(one, other)

    @pytest.mark.parametrize("name", ALL)
    def test_kept_bit_for_bit(self, name):
        k = 2 if name == "quadratic" else 3
        z, y = scores(200, k)
        method = CALIBRATORS.get(name)()
        found = Calibration.fit(method, [Question(z, y, np.ones(200)), Question(-z, y, np.ones(200))])
        arrays = {n: np.array(a) for n, a in found.arrays().items()}
        again = Calibration.of(json.loads(json.dumps(found.to_dict())), arrays)
        for a, b in zip(found.probabilities([z, -z]), again.probabilities([z, -z]), strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize("name", [n for n in ALL if CALIBRATORS.get(n).learns])
    def test_of_no_rows(self, name):
        found = CALIBRATORS.get(name)().fit(np.zeros((0, 2)), np.zeros(0, int))
        np.testing.assert_allclose(found.probabilities(np.zeros((3, 2))), 0.5)

    @pytest.mark.parametrize("name", ALL)
    def test_bits_of_a_row_do_not_depend_on_the_others(self, name):
        k = 2 if name == "quadratic" else 7
        z, y = scores(300, k)
        found = CALIBRATORS.get(name)().fit(z, y)
        whole = found.probabilities(z)
        np.testing.assert_array_equal(whole, np.vstack([found.probabilities(z[i : i + 37]) for i in range(0, 300, 37)]))

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ((np.zeros((3, 2)), np.array([0, 1, 2])), "from 0 to 1"),
            ((np.zeros((3, 1)), np.zeros(3, int)), "column for every answer"),
            ((np.zeros((3, 2)), np.zeros(2, int)), "one for each row"),
            ((np.full((3, 2), np.nan), np.zeros(3, int)), "NaN"),
            ((np.zeros((3, 2)), np.zeros(3, int), -np.ones(3)), "weights"),
        ],
    )
    def test_bad_input(self, bad, message):
        with pytest.raises(ValueError, match=message):
            Temperature().fit(*bad)


class TestTemperature:
    @pytest.mark.parametrize("k", [2, 5])
    def test_finds_what_scipy_finds(self, k):
        z, y = scores(2000, k, sure=7.0)
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
        found = Temperature().fit(z, y, weight)
        weight = weight / weight.mean()

        def loss(x):
            return 0.5 * x * x - weight @ np.log(softmax(np.exp(x) * z, axis=1)[np.arange(len(y)), y])

        assert found.factor == pytest.approx(
            np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x), rel=1e-3
        )
        grid = np.linspace(-3, 3, 2001)
        assert loss(np.log(found.factor)) <= min(map(loss, grid)) + 1e-5

    def test_few_rows_are_not_believed(self):
        """One row that is right would have an endless factor."""
        assert 1 < Temperature().fit([[0.0, 1.0]], np.array([1])).factor < 2

    def test_shared_by_questions_of_different_sizes(self):
        """One factor for a task of three classes and one of two."""
        (z, y), (v, t) = scores(300, 3), scores(300, 2, seed=1)
        one = np.ones(300)
        found = Calibration.fit(Temperature(), [Question(z, y, one), Question(v, t, one)])
        assert len(found.parts) == 1

        def loss(x):
            c, i = np.exp(x), np.arange(300)
            return 0.5 * x * x - sum(np.log(softmax(c * s, axis=1)[i, a]).sum() for s, a in ((z, y), (v, t)))

        best = np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded").x)
        assert found.parts[0].factor == pytest.approx(best, rel=1e-3)
        assert found.probabilities([z, v])[1].shape == (300, 2)

    def test_refinement(self):
        """The log-loss of the best factor: no factor of the scores changes it, but for the prior."""
        z, y = scores(3000, 3)
        values = [refinement(c * z, y, np.ones(3000)).mean() for c in (0.2, 1.0, 6.0)]
        np.testing.assert_allclose(values, values[0], rtol=1e-4)
        assert values[0] == pytest.approx(
            min(log_loss(y, softmax(c * z, axis=1)) for c in np.geomspace(0.05, 5, 400)), abs=1e-3
        )


class TestScaling:
    """Against SciPy's minimiser with numerical slopes, from another start, over a loss that is written down anew."""

    @pytest.mark.parametrize("diagonal", [False, True])
    def test_independent(self, diagonal):
        k = 3
        z, y = scores(250, k)
        weight = np.random.default_rng(3).uniform(0.5, 2, len(y))
        found = (Diagonal if diagonal else Matrix)().fit(z, y, weight)
        weight = weight / weight.mean()
        x = np.log(softmax(found.factor * z, axis=1))
        n = len(y)

        def loss(theta):
            b = theta[:k]
            W = np.diag(theta[k:]) if diagonal else theta[k:].reshape(k, k)
            logits = np.array([row + W @ row + b for row in x])
            nll = -(weight * np.log(softmax(logits, axis=1)[np.arange(n), y])).mean()
            off = W - np.diag(np.diag(W))
            return nll + k / n * (b**2).sum() + k / n * (np.diag(W) ** 2).sum() + k * (k - 1) / n * (off**2).sum()

        start = 0.1 * np.random.default_rng(0).normal(size=k + (k if diagonal else k * k))
        best = minimize(loss, start, method="BFGS", options={"gtol": 1e-6})
        mine = np.concatenate([found.bias, found.weights.ravel()])
        assert loss(mine) <= best.fun + 1e-8
        np.testing.assert_allclose(mine, best.x, atol=2e-3)
        assert found.factor == Temperature().fit(z, y, weight).factor

    def test_better_than_the_temperature_on_crooked_scores(self):
        z, y = scores(4000, 4)
        half = slice(0, 2000), slice(2000, 4000)
        losses = [log_loss(y[half[1]], m.fit(z[half[0]], y[half[0]]).probabilities(z[half[1]]))
                  for m in (Temperature(), Diagonal(), Matrix())]  # fmt: skip
        assert losses[2] < losses[1] < losses[0]

    def test_a_class_without_rows(self):
        z, y = scores(200, 3)
        known = y < 2
        P = Matrix().fit(z[known], y[known]).probabilities(z)
        assert np.isfinite(P).all()
        assert P[:, 2].mean() < (y == 2).mean()

    @pytest.mark.parametrize("name", ["Matrix", "Diagonal"])
    def test_probmetrics(self, name):
        """The authors' own implementation; it mixes in 1 / (n + 1) of the uniform distribution."""
        calibrators = pytest.importorskip("probmetrics.calibrators", reason="probmetrics is not installed")
        z, y = scores(3000, 4)
        theirs = getattr(calibrators, {"Matrix": "SMSCalibrator", "Diagonal": "SVSCalibrator"}[name])()
        theirs.fit(softmax(z, axis=1), y)
        ours = {"Matrix": Matrix, "Diagonal": Diagonal}[name]().fit(z, y)
        np.testing.assert_allclose(ours.probabilities(z), theirs.predict_proba(softmax(z, axis=1)), atol=5e-3)

    @pytest.mark.slow
    def test_solver_of_probmetrics(self):
        """The authors' own solver needs no torch; it is given our temperature, and the ridge that they name."""
        saga = pytest.importorskip("probmetrics.saga", reason="probmetrics is not installed")
        k, n = 3, 1000
        z, y = scores(n, k)
        ours = Matrix().fit(z, y)
        x = np.hstack([np.log(softmax(ours.factor * z, axis=1)), np.ones((n, 1))])
        theirs = saga.fit_matrix_scaling(
            x, y.astype(np.int64), penalty="ridge", max_iter=2000, tol=1e-7, init_scaling=1.0, reg_intercept=k / n,
            reg_diagonal=k / n, reg_off_diagonal=k * (k - 1) / n,
        )  # fmt: skip
        np.testing.assert_allclose(ours.probabilities(z), softmax(x @ np.asarray(theirs).T, axis=1), atol=2e-3)


class TestQuadratic:
    def test_a_parabola_is_found(self):
        rng = np.random.default_rng(0)
        odds = rng.normal(size=20000) * 2
        y = (rng.random(20000) < expit(0.5 + 0.8 * odds - 0.2 * odds**2)).astype(int)
        found = Quadratic().fit(np.stack([-odds / 2, odds / 2], 1), y)
        at = np.linspace(-3, 3, 13)
        P = found.probabilities(np.stack([-at / 2, at / 2], 1))[:, 1]
        np.testing.assert_allclose(P, expit(0.5 + 0.8 * at - 0.2 * at**2), atol=0.04)

    def test_independent(self):
        z, y = scores(300, 2)
        found = Quadratic().fit(z, y)
        odds = found.factor * (z[:, 1] - z[:, 0])
        sign = 2 * y - 1

        def loss(t):
            return np.logaddexp(0, -sign * (odds + t[0] + t[1] * odds + t[2] * odds**2 / 10)).mean() + t @ t / len(y)

        assert loss(found.coefficients) <= minimize(loss, np.ones(3), method="BFGS").fun + 1e-8

    def test_straight_beyond_its_rows(self):
        z, y = scores(300, 2)
        found = Quadratic().fit(z, y)
        far = found.range[1] / found.factor + np.array([1.0, 2.0, 3.0])
        P = found.probabilities(np.stack([-far / 2, far / 2], 1))
        odds = np.log(P[:, 1] / P[:, 0])
        assert odds[2] - odds[1] == pytest.approx(odds[1] - odds[0], rel=1e-6)

    def test_two_answers_only(self):
        with pytest.raises(ValueError, match="two classes"):
            Quadratic().fit(*scores(50, 3))


class TestThesis:
    def test_shift(self):
        """(3.51); a single round gives two values per label."""
        f = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, 0.0]])
        expected = (1 + f) / 2
        np.testing.assert_allclose(Shift().probabilities(f), expected / expected.sum(axis=1, keepdims=True))

    def test_shift_of_a_model(self):
        X, y = noisy()
        clf = MultiBoostClassifier("stump", 1, votes="discrete", calibration="shift").fit(X, y)
        F, size = clf.decision_function(X), clf.ensemble_.size.sum()
        expected = (1 + F / size) / 2
        P = clf.predict_proba(X)
        total = expected.sum(axis=1)
        np.testing.assert_allclose(
            P[total > 0], (expected / np.where(total > 0, total, 1)[:, None])[total > 0], atol=1e-12
        )
        assert all(len(np.unique(expected[:, k].round(9))) <= 2 for k in range(3))

    @pytest.mark.parametrize("goal", GOALS)
    def test_slopes_along_probabilities(self, goal):
        rng = np.random.default_rng(0)
        P = rng.dirichlet(5 * np.ones(3), 12)
        rows = Rows.of(rng.integers(0, 3, 12), rng.uniform(0.5, 2, 12), np.repeat([0, 1, 2], 4))
        sigma = 0.5

        def value(flat):
            return GOALS[goal](flat.reshape(P.shape), rows, 2.0, sigma)[0]

        def slopes(flat):
            return GOALS[goal](flat.reshape(P.shape), rows, 2.0, sigma)[1].ravel()

        assert check_grad(value, slopes, P.ravel(), epsilon=1e-7) < 1e-4

    @pytest.mark.parametrize("goal", GOALS)
    def test_slopes_along_parameters(self, goal):
        z, y = scores(40, 3)
        rows = Rows.of(y, np.ones(40), np.repeat(np.arange(8), 5))
        method = Sigmoid(goal, sigma=0.5)
        for theta in ([0.1, 0.2], [-1.0, -2.0]):
            off = check_grad(
                lambda t: method._loss(z, rows, *t)[0],
                lambda t: method._loss(z, rows, *t)[1],
                np.array(theta),
                epsilon=1e-7,
            )
            assert off < 1e-5

    @pytest.mark.parametrize("goal", ["ls", "ewls", "el", "ell"])
    def test_finds_what_a_fine_grid_finds(self, goal):
        z, y = scores(200, 3)
        found = Sigmoid(goal).fit(z, y)
        rows = Rows.of(y, np.ones(200), None)
        best = min(found._loss(z, rows, u, b)[0] for u in np.linspace(-4, 4, 65) for b in np.linspace(-8, 8, 65))
        assert found._loss(z, rows, np.log(found.slope), found.shift)[0] <= best + 1e-6

    def test_ls_is_the_log_loss(self):
        z, y = scores(100, 3)
        rows = Rows.of(y, np.ones(100), None)
        s = expit(0.7 * (z - 0.2))
        expected = log_loss(y, s / s.sum(axis=1, keepdims=True))
        assert Sigmoid()._loss(z, rows, np.log(0.7), 0.2)[0] == pytest.approx(expected)

    def test_no_power_of_the_entropy_is_ls(self):
        z, y = scores(150, 3)
        one, other = Sigmoid("ls").fit(z, y), Sigmoid("ewls", C=0.0).fit(z, y)
        assert (one.slope, one.shift) == (other.slope, other.shift)

    def test_soft_ndcg_at_a_tiny_width_is_minus_dcg(self):
        rng = np.random.default_rng(1)
        P, true, groups = rng.dirichlet(np.ones(3), 30), rng.integers(0, 3, 30), np.repeat(np.arange(5), 6)
        value = GOALS["sn"](P, Rows.of(true, np.ones(30), groups), 2.0, 1e-9)[0]
        grades = 2.0 ** np.arange(3) - 1
        expected = -sum(dcg_score(grades[true[groups == g]][None], (P[groups == g] @ grades)[None]) for g in range(5))
        assert value == pytest.approx(expected)

    def test_soft_ndcg_prefers_a_good_ranking(self):
        z, y = scores(200, 3)
        groups = np.repeat(np.arange(20), 10)
        found = Sigmoid("sn", sigma=0.1).fit(z, y, groups=groups)
        rows = Rows.of(y, np.ones(200), groups)
        assert found._loss(z, rows, np.log(found.slope), found.shift)[0] <= found._loss(z, rows, 0.0, 0.0)[0]

    @pytest.mark.parametrize("bad", [{"goal": "sin"}, {"C": -1}, {"sigma": 0}])
    def test_bad_parameters(self, bad):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Sigmoid(**bad)


class TestComposed:
    """scikit-learn's own classes, asked for the same."""

    def test_platt(self):
        z, y = scores(300, 2)
        column = (z[:, 1] - z[:, 0])[:, None]
        model = LogisticRegression().fit(column, y)
        theirs = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(column, y)
        f = model.decision_function(column)
        ours = Platt().fit(np.stack([-f / 2, f / 2], 1), y)
        np.testing.assert_allclose(
            ours.probabilities(np.stack([-f / 2, f / 2], 1)), theirs.predict_proba(column), atol=1e-6
        )

    def test_isotonic(self):
        z, y = scores(300, 3)
        P = np.stack([IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit_transform(z[:, c], y == c)
                      for c in range(3)], 1)  # fmt: skip
        np.testing.assert_allclose(Isotonic().fit(z, y).probabilities(z), P / P.sum(axis=1, keepdims=True))

    def test_a_class_without_rows(self):
        z, y = scores(100, 3)
        known = y < 2
        for method in (Platt(), Isotonic()):
            P = method.fit(z[known], y[known]).probabilities(z)
            np.testing.assert_allclose(P.sum(axis=1), 1)
            assert P[:, 2].max() < 0.1


class TestRuler:
    def test_of_a_target(self):
        _X, y = noisy()
        target = Target(recognise(y), y)
        F = np.random.default_rng(0).normal(size=(len(y), 3))
        ruler = Ruler.of(target, F, 7.0)
        rows = np.arange(len(y))
        rivals = np.where(np.eye(3, dtype=bool)[y], -np.inf, F).max(axis=1)
        assert ruler.margin == median_margin(target, F) == np.sort(F[rows, y] - rivals)[(len(y) - 1) // 2]
        assert ruler.spread == pytest.approx(np.abs(F).mean())
        assert (ruler.slope("theory"), ruler.slope("size")) == (2.0, 1 / 7.0)
        assert ruler.slope("spread") == pytest.approx(2.5 / np.abs(F).mean())
        assert Ruler(12.0, 1.0, 1.0).slope("margin") == 0.5
        assert Ruler(-1.0, 1.0, 1.0).slope("margin") == 2.0

    def test_rows_without_weight_do_not_count(self):
        _X, y = noisy()
        weight = np.ones(len(y))
        weight[::2] = 0
        F = np.random.default_rng(0).normal(size=(len(y), 3))
        ruler = Ruler.of(Target(recognise(y), y, sample_weight=weight), F, 1.0)
        assert ruler.spread == pytest.approx(np.abs(F[1::2]).mean())


class TestClassifier:
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_as_good_as_the_best_factor(self, n_classes):
        X, y = noisy(1500, n_classes)
        X, X_test, y, y_test = train_test_split(X, y, test_size=500, random_state=0)
        clf = MultiBoostClassifier(n_estimators=100).fit(X, y)
        assert clf.calibration_.name == ("quadratic" if n_classes == 2 else "matrix")
        F = clf.decision_function(X_test)
        F = np.stack([-F / 2, F / 2], 1) if n_classes == 2 else F
        best = min(log_loss(y_test, softmax(c * F, axis=1)) for c in np.geomspace(0.01, 5, 80))
        assert log_loss(y_test, clf.predict_proba(X_test)) < best + 0.02

    def test_answers_and_scores_do_not_change(self):
        X, y = noisy(400)
        models = [MultiBoostClassifier(n_estimators=20, calibration=c).fit(X, y) for c in ("auto", None, "isotonic")]
        for clf in models[1:]:
            np.testing.assert_array_equal(clf.decision_function(X), models[0].decision_function(X))
            np.testing.assert_array_equal(clf.predict(X), models[0].predict(X))
        np.testing.assert_allclose(models[1].predict_proba(X), softmax(2 * models[1].decision_function(X), axis=1))

    def test_what_the_user_sets_is_not_compared(self):
        """Then "auto" learns nothing, unless a calibration is asked for."""
        X, y = noisy(400)
        fixed = {
            "base_learner": "tree:4",
            "n_estimators": 5,
            "loss": "logistic",
            "learning_rate": 0.1,
            "subsample": 1.0,
        }
        plain = MultiBoostClassifier(**fixed).fit(X, y)
        assert plain.calibration_.name == "margin"
        asked = MultiBoostClassifier(**fixed, calibration="temperature").fit(X, y)
        assert asked.calibration_.parts[0].factor != 1.0
        assert asked.model_.digest() == plain.model_.digest()

    @pytest.mark.parametrize("calibration", ["matrix", "isotonic", Sigmoid("ewls", C=1.0)])
    def test_file(self, tmp_path, calibration):
        X, y = noisy(400)
        clf = MultiBoostClassifier(n_estimators=10, calibration=calibration).fit(X, y)
        clf.save(tmp_path / "m.mb")
        loaded = load_model(tmp_path / "m.mb")
        np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
        assert loaded.calibration_.to_dict() == clf.calibration_.to_dict()
        clf.save(tmp_path / "again.mb")
        assert (tmp_path / "again.mb").read_bytes() == (tmp_path / "m.mb").read_bytes()

    def test_going_on_gives_the_bits_of_one_run(self, tmp_path):
        X, y = noisy(400)
        whole = MultiBoostClassifier(n_estimators=20).fit(X, y)
        half = MultiBoostClassifier(n_estimators=10).fit(X, y)
        half.save(tmp_path / "half.mb")
        loaded = load_model(tmp_path / "half.mb").set_params(warm_start=True, n_estimators=20).fit(X, y)
        np.testing.assert_array_equal(loaded.predict_proba(X), whole.predict_proba(X))

    def test_threads_leave_no_trace(self):
        X, y = noisy(400, 4)
        one, two = (MultiBoostClassifier(n_estimators=10, n_jobs=n).fit(X, y).predict_proba(X) for n in (1, 2))
        np.testing.assert_array_equal(one, two)

    def test_staged(self):
        X, y = noisy(400)
        clf = MultiBoostClassifier(n_estimators=10).fit(X, y)
        stages = list(clf.staged_predict_proba(X))
        np.testing.assert_array_equal(stages[-1], clf.predict_proba(X))
        for P in stages:
            np.testing.assert_allclose(P.sum(axis=1), 1)

    def test_cross_fitting(self):
        """Folds are held out of runs as long as the model's own: what scikit-learn's folds find, about."""
        X, y = noisy(600)
        fixed = {
            "base_learner": "tree:4",
            "n_estimators": 40,
            "loss": "logistic",
            "learning_rate": 0.3,
            "subsample": 1.0,
        }
        clf = MultiBoostClassifier(**fixed, calibration="temperature", calibration_cv=5).fit(X, y)
        F = cross_val_predict(MultiBoostClassifier(**fixed), X, y, method="decision_function",
                              cv=StratifiedKFold(5, shuffle=True, random_state=0))  # fmt: skip
        best = minimize_scalar(lambda c: log_loss(y, softmax(c * F, axis=1)), bounds=(0.01, 5), method="bounded").x
        assert clf.slope_ * clf.calibration_.parts[0].factor == pytest.approx(best, rel=0.15)

    def test_validation(self):
        X, y = noisy(900)
        X, X_val, y, y_val = train_test_split(X, y, test_size=300, random_state=0)
        clf = MultiBoostClassifier(n_estimators=60, calibration="temperature", calibration_cv="validation")
        clf.fit(X, y, validation=(X_val, y_val), callbacks=[EarlyStopping(10)])
        F = clf.decision_function(X_val)
        best = min(log_loss(y_val, softmax(c * F, axis=1)) for c in np.geomspace(0.01, 10, 400))
        assert log_loss(y_val, clf.predict_proba(X_val)) == pytest.approx(best, abs=2e-3)
        with pytest.raises(ValueError, match="needs a validation set"):
            clf.fit(X, y)

    @pytest.mark.parametrize(
        "bad", [{"calibration": "plat"}, {"calibration": 3}, {"calibration_cv": 1}, {"calibration_cv": "folds"}]
    )
    def test_bad_parameters(self, bad):
        with pytest.raises(ValueError, match=next(iter(bad))):
            MultiBoostClassifier(**bad).fit(*noisy(50))

    def test_labels_that_are_unknown(self):
        """One parabola for each label; a label that is unknown in a row has no say."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 5))
        Y = (X[:, :3] + rng.normal(size=(500, 3)) > 0.5).astype(float)
        Y[rng.random(Y.shape) < 0.2] = np.nan
        given = {"base_learner": "tree:8", "n_estimators": 200, "loss": "exponential"}
        clf = MultiBoostClassifier(**given, calibration="quadratic").fit(X, Y)
        plain = MultiBoostClassifier(**given, calibration=None).fit(X, Y)
        assert len(clf.calibration_.parts) == 3
        T = rng.normal(size=(2000, 5))
        truth = (T[:, :3] + rng.normal(size=(2000, 3)) > 0.5).astype(int)

        def loss(model):
            P = model.predict_proba(T).clip(1e-15, 1 - 1e-15)
            return -np.where(truth, np.log(P), np.log1p(-P)).mean()

        assert loss(clf) < loss(plain)

    def test_tasks(self, tmp_path):
        X, y = noisy(500)
        Y = np.stack([y, (X[:, 2] > 0).astype(int) + 5], axis=1).astype(float)
        Y[::7, 1] = np.nan
        clf = MultiBoostClassifier(n_estimators=10).fit(X, Y)
        assert clf.calibration_.name == "matrix"
        assert len(clf.calibration_.parts) == 2
        for P, k in zip(clf.predict_proba(X), (3, 2), strict=True):
            assert P.shape == (500, k)
            np.testing.assert_allclose(P.sum(axis=1), 1)
        clf.save(tmp_path / "m.mb")
        for a, b in zip(clf.predict_proba(X), load_model(tmp_path / "m.mb").predict_proba(X), strict=True):
            np.testing.assert_array_equal(a, b)


class TestCalibrated:
    def test_fitted_booster(self, tmp_path):
        X, y = noisy(900)
        X, X_cal, y, y_cal = train_test_split(X, y, test_size=400, random_state=0)
        booster = AdaBoostMHClassifier("tree:8", 60).fit(X, y)
        before = booster.predict_proba(X_cal)
        clf = Calibrated(booster, "matrix").fit(X_cal, y_cal)
        assert log_loss(y_cal, clf.predict_proba(X_cal)) < log_loss(y_cal, before)
        np.testing.assert_array_equal(booster.predict_proba(X_cal), before)
        np.testing.assert_array_equal(clf.predict(X_cal), booster.predict(X_cal))
        np.testing.assert_array_equal(clf.decision_function(X_cal), booster.decision_function(X_cal))
        clf.estimator_.save(tmp_path / "m.mb")
        np.testing.assert_array_equal(load_model(tmp_path / "m.mb").predict_proba(X_cal), clf.predict_proba(X_cal))

    def test_folds_of_a_booster(self):
        X, y = noisy(300)
        clf = Calibrated(AdaBoostMHClassifier("stump", 20), "temperature", cv=3).fit(X, y)
        assert log_loss(y, clf.predict_proba(X)) < 1.2

    @pytest.mark.parametrize("estimator", [GaussianNB(), LinearSVC()])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_of_scikit_learn(self, estimator, n_classes):
        X, y = noisy(600, n_classes)
        names = np.array(["no", "yes", "perhaps"])[y]
        clf = Calibrated(estimator, "temperature", cv=StratifiedKFold(4, shuffle=True, random_state=0)).fit(X, names)
        P = clf.predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        shares = np.bincount(y) / len(y)
        assert log_loss(names, P) < -(shares * np.log(shares)).sum()
        assert clf.score(X, names) == clf.estimator_.score(X, names)

    def test_same_as_by_hand(self):
        X, y = noisy(600)
        cv = StratifiedKFold(5)
        P = cross_val_predict(GaussianNB(), X, y, method="predict_proba", cv=cv)
        by_hand = Matrix().fit(np.log(P), y)
        clf = Calibrated(GaussianNB(), "matrix", cv=cv).fit(X, y)
        expected = by_hand.probabilities(np.log(GaussianNB().fit(X, y).predict_proba(X)))
        np.testing.assert_allclose(clf.predict_proba(X), expected)

    def test_several_labels(self):
        X, _ = noisy(300)
        Y = (X[:, :2] + np.random.default_rng(0).normal(size=(300, 2)) > 0).astype(int)
        clf = Calibrated(MultiOutputClassifier(GaussianNB()), cv=3).fit(X, Y)
        assert clf.calibration_.name == "quadratic"
        assert len(clf.calibration_.parts) == 2
        assert clf.predict_proba(X).shape == (300, 2)

    def test_must_be_fitted(self):
        X, y = noisy(100)
        with pytest.raises(ValueError, match="not fitted"):
            Calibrated(GaussianNB()).fit(X, y)
        with pytest.raises(ValueError, match="method"):
            Calibrated(GaussianNB(), "mat", cv=2).fit(X, y)


class TestRefinement:
    def test_stops_by_it(self):
        X, y = noisy(800)
        X, X_val, y, y_val = train_test_split(X, y, test_size=300, random_state=0)
        clf = MultiBoostClassifier("tree:8", 100, loss="exponential", learning_rate=0.5, subsample=1.0)
        clf.fit(X, y, validation=(X_val, y_val), callbacks=[EarlyStopping(15, metric="refinement")])
        history = clf.history_["refinement"]
        assert len(history) == clf.n_iter_ == np.argmin(history) + 1
        F = clf.decision_function(X_val)
        best = min(log_loss(y_val, softmax(c * F, axis=1)) for c in np.geomspace(0.01, 20, 500))
        assert history[-1] == pytest.approx(best, abs=2e-3)

    def test_needs_a_validation_set(self):
        with pytest.raises(ValueError, match="validation"):
            MultiBoostClassifier(n_estimators=3).fit(*noisy(60), callbacks=[EarlyStopping(metric="refinement")])

    def test_resumed(self, tmp_path):
        X, y = noisy(400)
        given = {"base_learner": "tree:4", "loss": "logistic", "learning_rate": 0.3, "subsample": 1.0}
        validation = noisy(200, seed=1)
        whole = MultiBoostClassifier(n_estimators=12, **given)
        whole.fit(X, y, validation=validation, callbacks=[EarlyStopping(metric="refinement")])
        MultiBoostClassifier(n_estimators=6, **given).fit(
            X, y, validation=validation, callbacks=[EarlyStopping(metric="refinement")], checkpoint=tmp_path / "c.mb"
        )
        resumed = MultiBoostClassifier(n_estimators=12, **given).fit(
            X, y, validation=validation, callbacks=[EarlyStopping(metric="refinement")], resume=tmp_path / "c.mb"
        )
        np.testing.assert_array_equal(resumed.history_["refinement"], whole.history_["refinement"])


class TestEvaluation:
    def test_against_scikit_learn(self):
        X, y = noisy(500)
        clf = MultiBoostClassifier(n_estimators=20).fit(X, y)
        weight = np.random.default_rng(0).uniform(0.5, 2, 500)
        found, P = evaluate(clf, X, y, weight), clf.predict_proba(X)
        assert found.brier == pytest.approx(brier_score_loss(y, P, sample_weight=weight))
        plain = softmax(2 * clf.decision_function(X), axis=1)
        assert found.log_loss_before == pytest.approx(
            log_loss(y, plain.clip(2.3e-16, 1), sample_weight=weight), rel=1e-6
        )
        bins = np.ceil(P * 10).clip(1)
        pairs, truth, w = P.ravel(), np.eye(3)[y].ravel(), np.repeat(weight, 3)
        ece = sum(abs((w * (pairs - truth))[bins.ravel() == b].sum()) for b in range(1, 11)) / w.sum()
        assert found.ece == found.reliability.error == pytest.approx(ece)
        assert {"brier", "ece", "log_loss_before"} <= set(found.headline())

    def test_two_classes(self):
        X, y = noisy(300, 2)
        clf = MultiBoostClassifier(n_estimators=20).fit(X, y)
        found = evaluate(clf, X, y)
        assert found.brier == pytest.approx(brier_score_loss(y, clf.predict_proba(X)[:, 1]))
        assert found.ece == pytest.approx(found.labels[0].reliability.error)


class TestComparison:
    """Which plan wins, and which rows are held out."""

    class Stub:
        def __init__(self, errors, refinements):
            self._errors, self._refinements = errors, refinements

        def errors(self, plan):
            return np.array(self._errors[plan], float)

        def refinement(self, plan):
            return self._refinements[plan]

    @pytest.mark.parametrize(
        ("errors", "refinements", "winner"),
        [
            ({"a": [1] * 9 + [0], "b": [0] * 10}, {"a": 1.0, "b": 9.0}, "b"),  # far more mistakes
            ({"a": [0] * 10, "b": [1] * 9 + [0]}, {"a": 9.0, "b": 1.0}, "a"),
            ({"a": [1, 0, 0, 0], "b": [0, 0, 0, 0]}, {"a": 1.0, "b": 2.0}, "a"),  # one row is no proof
            ({"a": [1, 0, 0, 0], "b": [0, 0, 1, 0]}, {"a": 2.0, "b": 1.0}, "b"),
            ({"a": [0, 0], "b": [0, 0]}, {"a": 1.0, "b": 1.0}, "a"),  # all the same: the first
        ],
    )
    def test_near_ties_go_to_the_lower_log_loss(self, errors, refinements, winner):
        assert _better("a", "b", self.Stub(errors, refinements)) == winner

    @pytest.mark.parametrize(("n", "compared", "learned_from"), [(300, 300, 300), (1500, 300, 1500)])
    def test_rows_that_are_held_out(self, n, compared, learned_from):
        X, y = noisy(n)
        target = Target(recognise(y), y)
        plan = MultiBoostClassifier("tree:4", 3, loss="logistic", learning_rate=0.1, subsample=1.0).fit(X, y).plan_
        with Team(1) as team:
            trial = Trial(Binned.of(as_table(X), 256, 2, None, 1), target, 5000, team)
            assert trial.errors(plan).size == compared
            parts = trial.out_of_fold(plan)
        assert sum(part.target.n_rows for part in parts) == learned_from
        classes = np.concatenate([part.target.answers()[0][0] for part in parts])
        np.testing.assert_array_equal(np.bincount(classes), np.bincount(y))  # every row once

    @pytest.mark.parametrize(("most", "learned_from"), [(15, 1500), (14, 600)])
    def test_where_rounds_are_dear_fewer_rows_do(self, most, learned_from, monkeypatch):
        """Dear are more columns times labels than a number, here of 5 columns and 3 labels."""
        monkeypatch.setattr(trials, "_DEAR", most)
        monkeypatch.setattr(trials, "_ENOUGH_DEAR", 500)
        X, y = noisy(1500)
        plan = MultiBoostClassifier("tree:4", 3, loss="logistic", learning_rate=0.1, subsample=1.0).fit(X, y).plan_
        with Team(1) as team:
            parts = Trial(Binned.of(as_table(X)), Target(recognise(y), y), 5000, team).out_of_fold(plan)
        assert sum(part.target.n_rows for part in parts) == learned_from

    @pytest.mark.parametrize(("is_dear", "leaves"), [(False, {20, 60}), (True, set())])
    def test_larger_trees_are_tried_on_few_rows_unless_rounds_are_dear(self, is_dear, leaves):
        asked = set()

        def errors(plan):
            asked.add(plan.base_learner.n_leaves)
            return np.zeros(10)

        trial = SimpleNamespace(team=None, is_dear=is_dear, errors=errors, errors_halfway=errors)
        plan = MultiBoostClassifier("tree:20", 1, loss="exponential").fit(*noisy(100)).plan_
        assert _grown(plan, SimpleNamespace(n_rows=6000), None, trial) == (plan, trial)
        assert asked == leaves
