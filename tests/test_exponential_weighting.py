"""Ensembles of ensembles, against sums that are written down here."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, make_scorer, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.neighbors import KNeighborsRegressor

from multiboost import (
    AdaBoostMHClassifier,
    ExponentialWeighting,
    ModelFileError,
    MultiBoostClassifier,
    MultiBoostRanker,
    evaluate,
    load_model,
    ranking_metric,
    staged_evaluation,
    write_report,
)
from multiboost.calibration import Polynomial, Regression, Sigmoid
from multiboost.model.storage import load


def documents(n_queries, seed):
    """Documents of queries with three grades, in no order."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), 8))
    X = rng.normal(size=(qid.size, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=qid.size), [0.3, 1.2])
    return X, y, qid


def rankers():
    return [
        MultiBoostRanker("tree:4", 8, subsample=1.0),
        MultiBoostRanker("stump", 4, votes="discrete", subsample=1.0),
        MultiBoostRanker("stump", 8, loss="lambdarank"),
    ]


def classes(n, n_classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.normal(size=(n, 4))
    X[:, 0] += y
    return X, np.array(["a", "b", "c"])[y]


TRAINING, VALIDATION = documents(40, 0), documents(15, 1)
LABELLED, JUDGED = classes(240, 3, 0), classes(90, 3, 1)
MODELS = [
    AdaBoostMHClassifier("stump", 6),
    AdaBoostMHClassifier("tree:4", 6),
    MultiBoostClassifier("stump", 6, loss="logistic"),
]


def of_rankings(**parameters):
    X, y, qid = TRAINING
    given = {"calibrations": [Sigmoid("ls"), "polynomial:2"], "rounds": [4, 8], **parameters}
    return ExponentialWeighting(rankers(), n_jobs=1, **given).fit(X, y, qid=qid, validation=VALIDATION)


@pytest.fixture(scope="module")
def ranked():
    return of_rankings()


@pytest.fixture(scope="module")
def classified():
    return ExponentialWeighting(MODELS, n_jobs=1, rounds=[3, 6]).fit(*LABELLED, validation=JUDGED)


def readings(ensemble, X):
    """What every scorer of the ranking says, without the code of mixtures: from decision_function and numbers kept."""
    gains, found = np.array([0.0, 1.0, 3.0]), []
    for scorer in ensemble.mixture_.scorers:
        F = ensemble.estimators_[scorer.model].decision_function(X)
        if scorer.calibration is None:
            v = F
        else:
            part, z = scorer.calibration.parts[0], scorer.slope * F
            if isinstance(part, Sigmoid):
                s = 1 / (1 + np.exp(-part.slope * (z - part.shift)))
                v = s @ gains / s.sum(axis=1)
            else:
                x = 2 * (np.clip(z, part.low, part.high) - part.low) / (part.high - part.low) - 1
                terms = np.stack([np.prod(x**power, axis=1) for power in part.powers], axis=1)
                v = terms @ part.weights @ gains
        found.append(np.clip((v - scorer.low) / (scorer.high - scorer.low), 0, 1))
    return np.array(found)


class TestRankings:
    def test_is_the_weighted_sum(self, ranked):
        X, y, qid = VALIDATION
        values = readings(ranked, X)
        assert len(values) == 5  # two readings of the first two models, one of the pairwise one
        omega = np.array([ranking_metric(y, v, qid, "ndcg@10") for v in values])
        assert_allclose([scorer.reached for scorer in ranked.mixture_.scorers], omega, rtol=1e-12)
        weights = np.exp(ranked.c_ * omega)
        assert_allclose(ranked.weights_, weights / weights.sum(), rtol=1e-9)
        assert_allclose(ranked.predict(X), weights @ values / weights.sum(), atol=1e-12)

    def test_the_best_of_what_was_tried(self, ranked):
        X, y, qid = VALIDATION
        tried = ranked.search_
        assert len(tried["score"]) == 2 * 6
        best = int(np.argmax(tried["score"]))
        assert (tried["rounds"][best], tried["c"][best]) == (ranked.rounds_, ranked.c_)
        assert tried["score"][best] == ranking_metric(y, ranked.predict(X), qid, "ndcg@10")

    def test_c_of_zero_is_the_mean_and_a_large_one_the_best(self):
        X = VALIDATION[0]
        mean, best = (of_rankings(c=c, rounds=8) for c in (0, 1e6))
        assert_allclose(mean.predict(X), readings(mean, X).mean(axis=0), atol=1e-12)
        omega = [scorer.reached for scorer in best.mixture_.scorers]
        assert_allclose(
            best.predict(X), readings(best, X)[np.isclose(omega, max(omega), rtol=0, atol=1e-12)].mean(axis=0)
        )

    def test_models_are_those_of_their_rows(self, ranked):
        """A model alone, fitted on the rows that its calibrations have not seen, has the same first rounds."""
        X, y, qid = TRAINING
        names = np.unique(qid)
        held = np.isin(qid, np.random.default_rng(1).permutation(names)[: len(names) // 5])
        alone = rankers()[0].fit(X[~held], y[~held], qid=qid[~held])
        stage = [F.copy() for F in alone.staged_decision_function(VALIDATION[0])][ranked.rounds_ - 1]
        assert_array_equal(ranked.estimators_[0].decision_function(VALIDATION[0]), stage)

    def test_order_of_rows_leaves_no_trace(self, ranked):
        order = np.random.default_rng(5).permutation(len(TRAINING[1]))
        X, y, qid = (column[order] for column in TRAINING)
        other = clone(ranked).fit(X, y, qid=qid, validation=VALIDATION)
        assert other.c_ == ranked.c_
        assert_allclose(other.predict(X), ranked.predict(X), atol=1e-12)

    def test_grades_that_are_not_0_to_k_and_queries_of_one_document(self):
        X, y, qid = TRAINING
        qid = np.append(qid[:-2], [1000, 1001])
        grades = np.array([0.0, 2.0, 5.0])[y]
        found = ExponentialWeighting(rankers()[:1], ["logistic", "polynomial"], 4, n_jobs=1).fit(X, grades, qid=qid)
        assert np.isfinite(found.predict(X)).all()
        assert ranking_metric(grades, found.predict(X), qid) > 0.8

    def test_a_score_of_ones_own(self):
        def top(y, scores, qid):
            return float(np.mean([y[qid == q][scores[qid == q].argmax()] for q in np.unique(qid)]))

        found = of_rankings(score=top, c=[0, 10], rounds=4)
        assert found.search_["score"][0] == top(
            VALIDATION[1], readings(found, VALIDATION[0]).mean(axis=0), VALIDATION[2]
        )


class TestClasses:
    def test_is_the_weighted_sum(self, classified):
        X, y = JUDGED
        scorers = classified.mixture_.scorers
        P = np.array([
            scorer.calibration.parts[0].probabilities(
                scorer.slope * classified.estimators_[scorer.model].decision_function(X)
            )
            for scorer in scorers
        ])  # fmt: skip
        omega = np.array([-log_loss(y, p) for p in P])
        assert_allclose([scorer.reached for scorer in scorers], omega, rtol=1e-9)
        weights = softmax(classified.c_ * omega)
        assert_allclose(classified.predict_proba(X), np.tensordot(weights, P, 1), rtol=1e-9)
        assert_array_equal(classified.predict(X), classified.classes_[classified.predict_proba(X).argmax(axis=1)])
        assert_allclose(classified.predict_proba(X).sum(axis=1), 1)

    def test_methods_of_its_own_for_each_number_of_classes(self, classified):
        assert {s.calibration.name for s in classified.mixture_.scorers} == {"sigmoid", "matrix", "logistic"}
        X, y = classes(120, 2, 0)
        two = ExponentialWeighting(MODELS[:1], rounds=4, score="accuracy", n_jobs=1).fit(X, y, np.ones(120))
        assert {s.calibration.name for s in two.mixture_.scorers} == {"sigmoid", "quadratic", "logistic"}
        assert two.predict_proba(X).shape == (120, 2)
        assert accuracy_score(y, two.predict(X)) > 0.6

    def test_better_than_the_mean_of_uncalibrated_models(self, classified):
        X, y = classes(500, 3, 7)
        mean = np.mean([model.predict_proba(X) for model in classified.estimators_], axis=0)
        assert log_loss(y, classified.predict_proba(X)) < log_loss(y, mean)

    def test_a_regressor_of_scikit_learn(self, tmp_path):
        X, y = LABELLED
        found = ExponentialWeighting(
            MODELS[:1], [Regression(KNeighborsRegressor(20)), Regression(LogisticRegression())], 6, n_jobs=1
        ).fit(X, y)
        assert_allclose(found.predict_proba(X).sum(axis=1), 1)
        with pytest.raises(ValueError, match="KNeighborsRegressor has no place in a model file"):
            found.save(tmp_path / "m.mb")
        assert not (tmp_path / "m.mb").exists()


class TestFilesAndRuns:
    def test_saved_and_loaded_bit_for_bit(self, ranked, classified, tmp_path):
        for ensemble, X, ask in ((ranked, VALIDATION[0], "predict"), (classified, JUDGED[0], "predict_proba")):
            ensemble.save(tmp_path / "m.mb")
            again = load_model(tmp_path / "m.mb")
            assert_array_equal(getattr(again, ask)(X), getattr(ensemble, ask)(X))
            assert_array_equal(again.weights_, ensemble.weights_)
            assert again.rounds_ == ensemble.rounds_
            assert repr(again.get_params()["models"]) == repr(list(ensemble.models))
            again.save(tmp_path / "n.mb")
            assert (tmp_path / "m.mb").read_bytes() == (tmp_path / "n.mb").read_bytes()

    def test_a_grid_in_a_file(self, tmp_path):
        X, y, qid = TRAINING
        grid = {"base_learner": ["stump", "tree:3"], "n_estimators": [4], "loss": ["logistic"]}
        found = ExponentialWeighting(grid, ["sigmoid"], n_jobs=1).fit(X, y, qid=qid)
        found.save(tmp_path / "m.mb")
        again = load_model(tmp_path / "m.mb")
        assert again.models == grid
        assert [model.base_learner for model in again.estimators_] == ["stump", "tree:3"]

    def test_what_takes_one_model_says_so(self, ranked, tmp_path):
        ranked.save(tmp_path / "m.mb")
        with pytest.raises(ModelFileError, match="ensemble of several models"):
            load(tmp_path / "m.mb")

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda header, arrays: header["scorers"][0].update(model=7), "model 7 of a scorer"),
            (lambda header, arrays: header["scorers"][0].update(slope="x"), "could not convert"),
            (lambda header, arrays: header.update(c=float("nan")), "c must be a finite number"),
            (lambda header, arrays: header.update(models=[]), "models or scorers"),
            (lambda header, arrays: header.update(models=header["models"][:2]), "model 2 of a scorer"),
            (lambda header, arrays: arrays.pop("scorers.0.0.slope"), "learned|has slope"),
            (lambda header, arrays: arrays["models.0.ensemble.root"].fill(999), "do not fit"),
        ],
    )  # fmt: skip
    def test_damaged_files(self, ranked, tmp_path, change, words):
        from multiboost.model.modelfile import read_model, write_model

        ranked.save(tmp_path / "m.mb")
        header, arrays = read_model(tmp_path / "m.mb", lambda header, name: True)
        change(header, arrays)
        write_model(tmp_path / "m.mb", header, arrays)
        with pytest.raises(ModelFileError, match=words):
            load_model(tmp_path / "m.mb")

    def test_resumed(self, ranked, tmp_path):
        X, y, qid = TRAINING
        first = clone(ranked).fit(X, y, qid=qid, validation=VALIDATION, folder=tmp_path)
        kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert sorted(kept) == ["model-000.mb", "model-001.mb", "model-002.mb"]
        (tmp_path / "model-001.mb").unlink()  # as if it had been killed before the second model
        again = clone(ranked).fit(X, y, qid=qid, validation=VALIDATION, folder=tmp_path)
        for other in (first, again):
            assert_array_equal(other.predict(X), ranked.predict(X))
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
        with pytest.raises(ValueError, match="other data or with other weights"):
            clone(ranked).fit(X + X**3, y, qid=qid, validation=VALIDATION, folder=tmp_path)

    def test_resumed_within_a_model(self, ranked, tmp_path):
        """The second model was killed after two rounds: it goes on, and the first one is not trained anew."""
        X, y, qid = TRAINING
        short = [model.set_params(n_estimators=n) for model, n in zip(rankers(), (8, 2, 8), strict=True)]
        clone(ranked).set_params(models=short).fit(X, y, qid=qid, validation=VALIDATION, folder=tmp_path)
        before = (tmp_path / "model-000.mb").read_bytes()
        on = clone(ranked).fit(X, y, qid=qid, validation=VALIDATION, folder=tmp_path)
        assert_array_equal(on.predict(X), ranked.predict(X))
        assert (tmp_path / "model-000.mb").read_bytes() == before

    @pytest.mark.slow
    def test_processes_leave_no_trace(self, ranked, capsys, tmp_path):
        X, y, qid = TRAINING
        other = clone(ranked).set_params(n_jobs=2, verbose=1)
        other.fit(X, y, qid=qid, validation=VALIDATION, folder=tmp_path)
        assert_array_equal(other.predict(X), ranked.predict(X))
        lines = capsys.readouterr().err.splitlines()
        assert [line.partition(":")[0] for line in lines] == [f"model {k} of 3" for k in (1, 2, 3)]
        alone = clone(ranked).fit(X, y, qid=qid, validation=VALIDATION, folder=tmp_path)  # what processes have kept
        assert_array_equal(alone.predict(X), ranked.predict(X))

    def test_progress(self, capsys):
        ExponentialWeighting(MODELS[:2], rounds=6, n_jobs=1, verbose=1).fit(*LABELLED)
        lines = capsys.readouterr().err.splitlines()
        assert [line.partition(",")[0] for line in lines] == ["model 1 of 2: stump", "model 2 of 2: tree:4"]


class TestEvaluate:
    def test_rankings(self, ranked):
        X, y, qid = VALIDATION
        found, scores = evaluate(ranked, X, y, qid=qid), ranked.predict(X)
        for name, metric in (("ndcg", "ndcg@10"), ("map", "map"), ("precision", "precision@10")):
            assert getattr(found, name) == pytest.approx(ranking_metric(y, scores, qid, metric), rel=1e-12)
        assert (found.kind, found.risk, found.n_rounds) == ("ranking", None, ranked.rounds_)
        assert found.mistakes[0].values

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_classes(self, n_classes, classified):
        X, y = classes(90, n_classes, 1)
        clf = classified if n_classes == 3 else ExponentialWeighting(MODELS[:1], ["sigmoid"], 4, n_jobs=1).fit(X, y)
        found, P = evaluate(clf, X, y), clf.predict_proba(X)
        assert found.error == pytest.approx(1 - accuracy_score(y, clf.predict(X)))
        assert found.log_loss == pytest.approx(log_loss(y, P), rel=1e-12)
        assert (found.log_loss_before, found.risk) == (None, None)
        areas = [roc_auc_score(y == name, P[:, k]) for k, name in enumerate(clf.classes_)]
        assert found.auc == pytest.approx(np.mean(areas) if n_classes == 3 else areas[1])
        if n_classes == 2:
            assert found.brier == pytest.approx(brier_score_loss(y == "b", P[:, 1]))
        assert found.margins.least == pytest.approx(
            (np.where(y[:, None] == clf.classes_, 1, -1) * (2 * P - 1)).min(), abs=1e-12
        )
        assert "undefined" in str(found)

    def test_what_looks_into_a_model_takes_one(self, classified, tmp_path):
        X, y = JUDGED
        with pytest.raises(ValueError, match="is many: give one of its estimators_"):
            write_report(classified, X, y, tmp_path / "r.html")
        with pytest.raises(ValueError, match="is many models: evaluate"):
            next(staged_evaluation(classified, X, y))
        assert write_report(classified.estimators_[0], X, y, tmp_path / "r.html").exists()


class TestScikitLearn:
    def test_voting_is_the_mean_of_probabilities(self):
        X, y = LABELLED
        vote = VotingClassifier([("a", MODELS[0]), ("b", LogisticRegression())], voting="soft").fit(X, y)
        alone = [clone(MODELS[0]).fit(X, y), LogisticRegression().fit(X, y)]
        expected = np.mean([model.predict_proba(X) for model in alone], axis=0)
        assert_allclose(vote.predict_proba(X), expected, atol=1e-12)

    def test_stacking_learns_from_probabilities_out_of_fold(self):
        X, y = LABELLED
        folds = StratifiedKFold(3)
        stack = StackingClassifier(
            [("a", MODELS[0]), ("b", MODELS[2])], LogisticRegression(), cv=folds, stack_method="predict_proba"
        ).fit(X, y)
        inner = [cross_val_predict(clone(m), X, y, cv=folds, method="predict_proba") for m in (MODELS[0], MODELS[2])]
        outer = np.hstack([clone(m).fit(X, y).predict_proba(JUDGED[0]) for m in (MODELS[0], MODELS[2])])
        expected = LogisticRegression().fit(np.hstack(inner), y).predict_proba(outer)
        assert_allclose(stack.predict_proba(JUDGED[0]), expected, atol=1e-9)

    def test_cross_validate(self):
        X, y, qid = TRAINING
        with sklearn.config_context(enable_metadata_routing=True):
            scorer = make_scorer(ranking_metric, metric="ndcg@5").set_score_request(qid=True)
            ensemble = ExponentialWeighting(rankers()[:1], ["sigmoid"], 4, n_jobs=1)
            found = cross_validate(ensemble, X, y, cv=GroupKFold(2), scoring=scorer, params={"qid": qid, "groups": qid})
        assert (found["test_score"] > 0.7).all()

    def test_rankings_have_no_probabilities(self, ranked, classified):
        assert not hasattr(ranked, "predict_proba")
        assert hasattr(classified, "predict_proba")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"models": []}, "models is empty"),
        ({"models": [LogisticRegression()]}, "LogisticRegression"),
        ({"models": [rankers()[0], MODELS[0]]}, "rankers and classifiers"),
        ({"models": rankers()}, "need qid"),
        ({"calibrations": []}, "calibrations is empty"),
        ({"calibrations": ["matrx"]}, "calibrations must be one of"),
        ({"rounds": 0}, "rounds must be"),
        ({"c": [-1]}, "c must be"),
        ({"score": "ndcg"}, "score must be 'log_loss'"),
        ({"calibration_share": 1.0}, "calibration_share must be"),
    ],
)  # fmt: skip
def test_refusals(parameters, words):
    with pytest.raises(ValueError, match=words):
        ExponentialWeighting(**{"models": MODELS[:1], "n_jobs": 1, "rounds": 2, **parameters}).fit(*LABELLED)


def test_refusals_of_data():
    ensemble = ExponentialWeighting(MODELS[:1], rounds=2, n_jobs=1)
    X, y = LABELLED
    with pytest.raises(ValueError, match="qid is for rankers"):
        ensemble.fit(X, y, qid=np.arange(len(y)))
    with pytest.raises(ValueError, match="must be a tuple"):
        ensemble.fit(X, y, validation=(X,))
    with pytest.raises(ValueError, match="one dimension"):
        ensemble.fit(X, np.ones((len(y), 2)))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        ensemble.fit(X, y[:-1])


def test_polynomials_are_least_squares():
    rng = np.random.default_rng(0)
    z, true = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    weight = rng.uniform(0.5, 2, 200)
    found = Polynomial(2, ridge=0.0).fit(z, true, weight)
    x = 2 * (z - z.min(axis=0)) / np.ptp(z, axis=0) - 1
    terms = np.column_stack([np.ones(200), x, x**2, x[:, 0] * x[:, 1], x[:, 0] * x[:, 2], x[:, 1] * x[:, 2]])
    root = np.sqrt(weight)[:, None]
    best = np.linalg.lstsq(terms * root, np.eye(3)[true] * root, rcond=None)[0]
    assert_allclose(found.expected(z, np.array([0.0, 1.0, 3.0])), terms @ best @ [0, 1, 3], atol=1e-8)
    cut = np.clip(terms @ best, 0, 1)
    assert_allclose(found.probabilities(z), cut / cut.sum(axis=1, keepdims=True), atol=1e-8)
    with pytest.raises(ValueError, match="lower degree"):
        Polynomial(5).fit(rng.normal(size=(40, 20)), np.arange(40) % 20)


def test_logistic_regression_is_scikit_learns():
    from multiboost.calibration import Logistic

    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 3))
    true = (z + 0.8 * rng.normal(size=z.shape)).argmax(axis=1)
    x = 2 * (z - z.min(axis=0)) / np.ptp(z, axis=0) - 1
    theirs = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(x, true)
    assert_allclose(Logistic().fit(z, true).probabilities(z), theirs.predict_proba(x), atol=1e-4)
