"""The ranker: formulas, invariances, files, scikit-learn's tools."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multiboost import EarlyStopping, MultiBoostClassifier, MultiBoostRanker, evaluate, load_model, ranking_metric
from multiboost.data.ranked import Graded, RankedTarget, Scored
from multiboost.kernels.queries import ndcg_of_queries
from multiboost.losses.lambdarank import LambdaRank
from multiboost.ranking import Queries, exponential_weights

from .conftest import shared_data

LOSSES = ["exponential", "logistic", "lambdarank"]


def make_queries(n_queries=60, seed=0, grades=(0, 1, 2)):
    """Documents of queries of 1 to 30; a query shifts all its documents, which only their order survives."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 31, n_queries))
    X = rng.normal(size=(qid.size, 5)).round(2)
    hidden = X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=qid.size)
    y = np.asarray(grades, float)[np.digitize(hidden, [0.8, 2.0])]
    y[qid == 7] = 0.0  # nothing relevant
    return X, y, qid


X, Y, QID = make_queries()
X_TEST, Y_TEST, QID_TEST = make_queries(seed=1)


def fitted(loss="exponential", **parameters):
    given = {"n_estimators": 15, "n_jobs": 1, **parameters}
    return MultiBoostRanker(loss=loss, **given).fit(X, Y, qid=QID)


class TestLambdaRank:
    """Against sums over all pairs in plain Python."""

    rng = np.random.default_rng(3)
    start = np.array([0, 6, 7, 19])
    scores = rng.normal(size=19)
    gain = rng.choice([0.0, 1.0, 3.0], 19)
    weight = rng.random(19)

    def target(self):
        kind = Scored([np.array([0.0, 1.0, 2.0])])
        query = np.repeat([0, 1, 2], np.diff(self.start))
        return RankedTarget(kind, np.log2(self.gain + 1), query, self.weight, positions=5)

    def brute_force(self, scores, at=None):
        """Loss of all pairs; positions and so the weights of pairs are those of the scores ``at``."""
        at = scores if at is None else at
        target, total = self.target(), 0.0
        w, z = target.signed[:, 0], target.wanted[:, 0]
        for first, last in zip(self.start[:-1], self.start[1:], strict=True):
            rows = range(first, last)
            position = {j: sum(at[i] > at[j] for i in rows) for j in rows}
            for a in rows:
                for b in rows:
                    if z[a] > z[b] and min(position[a], position[b]) < 5:
                        change = abs(1 / np.log2(2 + position[a]) - 1 / np.log2(2 + position[b])) * (z[a] - z[b])
                        total += 19 * w[a] * w[b] * change * np.log1p(np.exp(-2 * (scores[a] - scores[b])))
        return total

    def test_risk(self):
        found = LambdaRank(5).risk(self.scores[:, None], self.target())
        assert found == pytest.approx(self.brute_force(self.scores), rel=1e-12)

    def test_pull_and_curvature_are_halves_of_the_derivatives(self):
        _, pull, curvature = LambdaRank(5).pairs(self.scores[:, None], self.target())
        for i in range(19):
            step = np.zeros(19)
            step[i] = 1e-4
            up, middle, down = (self.brute_force(self.scores + s * step, self.scores) for s in (1, 0, -1))
            assert pull[i] == pytest.approx(-0.5 * (up - down) / 2e-4, abs=1e-8)
            assert curvature[i] == pytest.approx(0.5 * (up - 2 * middle + down) / 1e-8, abs=1e-5)

    def test_gains_are_shares_of_the_best_dcg(self):
        target = self.target()
        best = sorted(self.gain[:6])[::-1][:5] @ (1 / np.log2(2 + np.arange(5)))
        np.testing.assert_allclose(target.wanted[:6, 0], self.gain[:6] / best)

    def test_refuses_no_position(self):
        with pytest.raises(ValueError, match="positions must be a whole number of at least 1"):
            LambdaRank(0)


class TestTarget:
    def test_initial_weights_are_those_of_the_reference(self):
        """1 + z on the right grade, (1 + z) / (K - 1) on each other one, then divided by their sum."""
        kind = Graded([np.array([0.0, 1.0, 2.0])])
        y = np.array([2.0, 0.0, 1.0, 1.0])
        target = RankedTarget(kind, y, np.array([0, 0, 1, 1]))
        wanted = np.empty((4, 3))
        for i, z in enumerate([3, 0, 1, 1]):
            wanted[i] = -(1 + z) / 2
            wanted[i, int(y[i])] = 1 + z
        np.testing.assert_allclose(target.signed, wanted / np.abs(wanted).sum())

    def test_answers_are_expected_gains(self):
        kind = Graded([np.array([0.0, 1.0, 3.0])])
        F = np.random.default_rng(0).normal(size=(5, 3))
        p = np.exp(2 * F) / np.exp(2 * F).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(kind.answer(F), p @ [0, 1, 7])

    @pytest.mark.parametrize("ties", [False, True])
    def test_ndcg_is_that_of_the_metric(self, ties):
        values = np.random.default_rng(0).normal(size=Y.size)
        values = values.round(0 if ties else 9)
        target = RankedTarget(Scored([np.unique(Y)]), Y, QID)
        found = target.ndcg(values[:, None])
        np.testing.assert_allclose(found, ranking_metric(Y, values, QID, "ndcg@10", per_query=True), atol=1e-12)
        assert target.errors(values[:, None]).sum() == pytest.approx(1 - found.mean())

    def test_the_order_that_was_kept_leaves_no_trace(self):
        start, found, again = np.array([0, 40]), np.zeros(1), np.zeros(1)
        rng = np.random.default_rng(0)
        gain, values = rng.random(40), rng.integers(0, 9, 40).astype(float)
        one, other = np.arange(40), np.arange(40)
        ndcg_of_queries(rng.normal(size=40), gain, start, 10, other, again)
        ndcg_of_queries(values, gain, start, 10, one, found)
        ndcg_of_queries(values, gain, start, 10, other, again)
        assert found == again
        assert (one == other).all()
        assert (np.lexsort((np.arange(40), gain, -values)) == one).all()

    def test_some_rows(self):
        target = RankedTarget(Graded([np.unique(Y)]), Y, QID)
        rows = np.flatnonzero(np.random.default_rng(0).random(Y.size) < 0.5)
        part = target.take(rows)
        whole = RankedTarget(Graded([np.unique(Y)]), Y[rows], QID[rows])
        np.testing.assert_allclose(part.signed, whole.signed)
        assert (part.group_start == whole.group_start).all()


class TestRowsAndThreads:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_order_of_rows_leaves_no_trace(self, loss):
        """Within queries and between them: a query may be scattered over the whole table."""
        order = np.random.default_rng(5).permutation(Y.size)
        one = fitted(loss)
        other = MultiBoostRanker(loss=loss, n_estimators=15, n_jobs=1).fit(X[order], Y[order], qid=QID[order])
        assert one.ensemble_.digest() == other.ensemble_.digest()
        assert one.history_["training_error"].tolist() == other.history_["training_error"].tolist()
        assert (one.predict(X)[order] == other.predict(X[order])).all()

    @pytest.mark.parametrize("loss", ["exponential", "lambdarank"])
    def test_a_scattered_query_is_validated_and_evaluated_as_one(self, loss):
        """Also where it comes in two pieces, at both ends of the table."""
        pieces = np.concatenate([np.flatnonzero(QID_TEST >= 3), np.flatnonzero(QID_TEST < 3)])
        half = np.flatnonzero(QID_TEST == 20)[:2]
        pieces = np.concatenate([half, np.setdiff1d(pieces, half, assume_unique=True)])
        ranker = MultiBoostRanker(loss=loss, n_estimators=6, n_jobs=1)
        ranker.fit(X, Y, qid=QID, validation=(X_TEST, Y_TEST, QID_TEST))
        expected = evaluate(ranker, X_TEST, Y_TEST, qid=QID_TEST)
        for order in (pieces, np.random.default_rng(5).permutation(Y_TEST.size)):
            held = X_TEST[order], Y_TEST[order], QID_TEST[order]
            other = MultiBoostRanker(loss=loss, n_estimators=6, n_jobs=1).fit(X, Y, qid=QID, validation=held)
            np.testing.assert_array_equal(other.history_["validation_error"], ranker.history_["validation_error"])
            np.testing.assert_allclose(
                other.history_["validation_risk"], ranker.history_["validation_risk"], rtol=1e-12
            )
            assert ranker.score(held[0], held[1], qid=held[2]) == ranker.score(X_TEST, Y_TEST, qid=QID_TEST)
            found = evaluate(ranker, held[0], held[1], qid=held[2])
            assert (found.n_queries, found.n_without) == (expected.n_queries, expected.n_without)
            for name, value in expected.headline().items():
                assert found.headline()[name] == pytest.approx(value, rel=1e-12)
            assert found.risk == pytest.approx(expected.risk, rel=1e-12)
            assert [(m.query, m.ndcg) for m in found.mistakes[:5]] == [(m.query, m.ndcg) for m in expected.mistakes[:5]]

    def test_weights_nominal_columns_and_missing_values_move_with_their_rows(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(X, columns=list("abcde"))
        frame["name"] = rng.choice(["x", "y", "z"], Y.size)
        frame.loc[rng.random(Y.size) < 0.2, "a"] = np.nan
        weight = rng.integers(0, 3, Y.size).astype(float)
        order = rng.permutation(Y.size)
        found = [
            MultiBoostRanker(n_estimators=10, n_jobs=1).fit(
                frame.iloc[o].reset_index(drop=True), Y[o], weight[o], qid=QID[o]
            )
            for o in (np.arange(Y.size), order)
        ]
        assert (found[0].predict(frame) == found[1].predict(frame)).all()

    def test_sparse_is_dense(self):
        Z = np.where(np.abs(X) < 1, 0.0, X)
        dense = MultiBoostRanker(n_estimators=10, n_jobs=1).fit(Z, Y, qid=QID)
        sparse = MultiBoostRanker(n_estimators=10, n_jobs=1).fit(sp.csr_array(Z), Y, qid=QID)
        assert dense.ensemble_.digest() == sparse.ensemble_.digest()

    @pytest.mark.parametrize("loss", ["exponential", "lambdarank"])
    def test_threads_leave_no_trace(self, loss):
        """With several chunks, and a query that is longer than a chunk."""
        rng = np.random.default_rng(0)
        qid = np.concatenate([np.zeros(1500, int), np.repeat(np.arange(1, 120), 20)])
        table = rng.normal(size=(qid.size, 3))
        y = np.digitize(table[:, 0] + rng.normal(size=qid.size), [0.5, 1.5])
        digests = {
            MultiBoostRanker(loss=loss, n_estimators=5, n_jobs=n).fit(table, y, qid=qid).ensemble_.digest()
            for n in (1, 2, 3)
        }
        assert len(digests) == 1

    def test_names_of_queries_have_no_influence_on_their_order(self):
        again = MultiBoostRanker(n_estimators=15, n_jobs=1).fit(X, Y, qid=[f"q{q:03d}" for q in QID])
        assert again.ensemble_.digest() == fitted().ensemble_.digest()


class TestEdgeCases:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_queries_of_one_document_and_without_relevant_ones(self, loss):
        """They change nothing about what lambdarank learns: there is no pair in them."""
        more = np.random.default_rng(0).normal(size=(30, 5))
        table, y = np.concatenate([X, more]), np.concatenate([Y, np.tile([2.0, 0.0, 0.0], 10)])
        lonely = np.concatenate([np.arange(10)[:, None] + 1000, np.full((10, 2), 2000)], axis=1).ravel()
        ranker = MultiBoostRanker(loss=loss, n_estimators=10, n_jobs=1).fit(table, y, qid=np.concatenate([QID, lonely]))
        assert np.isfinite(ranker.predict(table)).all()
        if loss == "lambdarank":
            target = RankedTarget(Scored([np.unique(Y)]), np.array([2.0, 0.0, 0.0]), np.array([0, 1, 1]))
            risk, pull, curvature = LambdaRank().pairs(np.array([[3.0], [1.0], [2.0]]), target)
            assert risk == 0.0
            assert not pull.any()
            assert not curvature.any()

    @pytest.mark.parametrize("loss", LOSSES)
    def test_grades_that_are_not_0_to_k(self, loss):
        y = np.array([0.5, 3.0, 7.0])[Y.astype(int)]
        ranker = MultiBoostRanker(loss=loss, n_estimators=10, n_jobs=1).fit(X, y, qid=QID)
        assert ranker.grades_.tolist() == [0.5, 3.0, 7.0]
        assert ranker.score(X_TEST, Y_TEST, qid=QID_TEST) > 0.6
        # A grade that training has not seen is no obstacle.
        unseen = np.where(Y_TEST == 2, 5.0, Y_TEST)
        with_it = MultiBoostRanker(loss=loss, n_estimators=5, n_jobs=1)
        with_it.fit(X, y, qid=QID, validation=(X_TEST, unseen, QID_TEST))
        assert np.isfinite(with_it.history_["validation_risk"]).all()

    @pytest.mark.parametrize("loss", LOSSES)
    def test_linear_gains_of_large_grades(self, loss):
        ranker = MultiBoostRanker(loss=loss, gain="linear", n_estimators=10, n_jobs=1).fit(X, 50 * Y, qid=QID)
        assert ranker.score(X_TEST, 50 * Y_TEST, qid=QID_TEST) > 0.6

    @pytest.mark.parametrize("loss", LOSSES)
    def test_two_grades(self, loss):
        ranker = MultiBoostRanker(loss=loss, n_estimators=20, n_jobs=1).fit(X, Y > 0, qid=QID)
        assert ranker.score(X_TEST, Y_TEST > 0, qid=QID_TEST) > 0.75

    def test_documents_that_are_all_alike(self):
        with pytest.warns(UserWarning, match="nothing can be learned"):
            ranker = MultiBoostRanker(n_estimators=3).fit(np.zeros((6, 2)), [0, 1, 2, 0, 1, 2], qid=[1, 1, 1, 2, 2, 2])
        assert np.unique(ranker.predict(np.zeros((4, 2)))).size == 1

    def test_one_query(self):
        one = np.zeros(Y.size)
        assert MultiBoostRanker(n_estimators=5, n_jobs=1).fit(X, Y, qid=one).score(X, Y, qid=one) > 0.5

    @pytest.mark.parametrize("loss", LOSSES)
    def test_it_learns(self, loss):
        ranker = fitted(loss, n_estimators=80)
        chance = ranking_metric(Y_TEST, np.zeros(Y_TEST.size), QID_TEST)
        assert ranker.score(X_TEST, Y_TEST, qid=QID_TEST) > 0.6 * (1 - chance) + chance

    def test_sample_weights(self):
        """A document without weight is none; the score counts queries by the mean weight of their documents."""
        keep = np.random.default_rng(0).random(Y.size) < 0.7
        for loss in LOSSES:
            weighted = MultiBoostRanker(loss=loss, n_estimators=5, n_jobs=1).fit(X, Y, keep.astype(float), qid=QID)
            without = MultiBoostRanker(loss=loss, n_estimators=5, n_jobs=1).fit(
                X[keep], Y[keep], np.ones(keep.sum()), qid=QID[keep]
            )
            np.testing.assert_allclose(weighted.predict(X), without.predict(X), rtol=1e-9)
        each = ranking_metric(Y, without.predict(X), QID, per_query=True)
        weight = np.where(QID < 20, 2.0, 0.5)
        mean = np.bincount(QID, weight) / np.bincount(QID)
        assert without.score(X, Y, weight, qid=QID) == pytest.approx(np.average(each, weights=mean))


class TestFilesAndRuns:
    @pytest.mark.parametrize("loss", LOSSES)
    def test_saved_and_loaded(self, loss, tmp_path):
        ranker = fitted(loss)
        ranker.save(tmp_path / "m.mb")
        again = load_model(tmp_path / "m.mb")
        assert (again.predict(X_TEST) == ranker.predict(X_TEST)).all()
        assert again.get_params() == {**ranker.get_params(), "n_jobs": None}
        assert again.score(X, Y, qid=QID) == ranker.score(X, Y, qid=QID)
        single = again.compiled()
        assert [single.predict(row) for row in X_TEST[:5]] == pytest.approx(
            ranker.predict(X_TEST[:5]).tolist(), rel=1e-12
        )
        again.save(tmp_path / "again.mb")
        assert (tmp_path / "m.mb").read_bytes() == (tmp_path / "again.mb").read_bytes()

    @pytest.mark.parametrize("loss", ["exponential", "lambdarank"])
    def test_resumed_and_warm_started(self, loss, tmp_path):
        order = np.random.default_rng(0).permutation(Y.size)  # also with the rows in another order
        whole = fitted(loss, n_estimators=12)
        fitted_half = MultiBoostRanker(loss=loss, n_estimators=6, n_jobs=1)
        fitted_half.fit(X, Y, qid=QID, checkpoint=tmp_path / "c.mb")
        resumed = MultiBoostRanker(loss=loss, n_estimators=12, n_jobs=1)
        resumed.fit(X[order], Y[order], qid=QID[order], resume=tmp_path / "c.mb")
        assert resumed.ensemble_.digest() == whole.ensemble_.digest()
        warm = fitted_half.set_params(n_estimators=12, warm_start=True).fit(X, Y, qid=QID)
        assert warm.ensemble_.digest() == whole.ensemble_.digest()
        with pytest.raises(ValueError, match="other data or with other weights"):
            MultiBoostRanker(loss=loss, n_estimators=12, n_jobs=1).fit(
                X, Y, qid=np.where(QID == 3, 4, QID), resume=tmp_path / "c.mb"
            )

    @pytest.mark.parametrize("loss", LOSSES)
    def test_early_stopping_on_ndcg(self, loss):
        ranker = MultiBoostRanker(loss=loss, n_estimators=200, learning_rate=0.5, n_jobs=1)
        ranker.fit(X, Y, qid=QID, validation=(X_TEST, Y_TEST, QID_TEST), callbacks=[EarlyStopping(5)])
        errors = ranker.history_["validation_error"]
        assert ranker.n_iter_ == len(errors) < 200
        assert errors[-1] == errors.min() == pytest.approx(1 - ranker.score(X_TEST, Y_TEST, qid=QID_TEST))
        assert ranker.history_["training_error"][-1] == pytest.approx(1 - ranker.score(X, Y, qid=QID))

    def test_staged_predictions(self):
        ranker = fitted()
        stages = list(ranker.staged_predict(X_TEST))
        assert len(stages) == 15
        assert (stages[-1] == ranker.predict(X_TEST)).all()
        assert (stages[4] == fitted(n_estimators=5).predict(X_TEST)).all()

    def test_grades_are_classes(self):
        """Pointwise, the scores are those of a classifier with the same weights."""
        order = Queries(QID).ranked()
        ranker = fitted(subsample=1.0, max_bins=5000)
        weight = 2.0 ** Y[order]
        classifier = MultiBoostClassifier(
            "tree:8", 15, loss="exponential", learning_rate=0.05, subsample=1.0, max_bins=5000, n_jobs=1
        ).fit(X[order], Y[order].astype(int), weight)
        np.testing.assert_allclose(ranker.decision_function(X_TEST), classifier.decision_function(X_TEST), atol=1e-6)


class TestScikitLearn:
    @pytest.fixture(autouse=True)
    def _routing(self):
        with sklearn.config_context(enable_metadata_routing=True):
            yield

    def test_pipeline(self):
        pipe = make_pipeline(StandardScaler(), MultiBoostRanker(n_estimators=10, n_jobs=1)).fit(X, Y, qid=QID)
        alone = MultiBoostRanker(n_estimators=10, n_jobs=1).fit(StandardScaler().fit_transform(X), Y, qid=QID)
        assert (pipe.predict(X_TEST) == alone.predict(StandardScaler().fit(X).transform(X_TEST))).all()
        assert pipe.score(X_TEST, Y_TEST, qid=QID_TEST) > 0.6

    def test_cross_validate(self):
        splitter = GroupKFold(3)
        ranker = MultiBoostRanker(n_estimators=10, n_jobs=1)
        scorer = make_scorer(ranking_metric, metric="mean_ndcg", convention="letor4").set_score_request(qid=True)
        found = cross_validate(
            ranker, X, Y, cv=splitter, params={"qid": QID, "groups": QID}, scoring={"ndcg": scorer}, error_score="raise"
        )
        for (train, test), value in zip(splitter.split(X, Y, QID), found["test_ndcg"], strict=True):
            assert not set(QID[train]) & set(QID[test])
            scores = (
                MultiBoostRanker(n_estimators=10, n_jobs=1).fit(X[train], Y[train], qid=QID[train]).predict(X[test])
            )
            wanted = ranking_metric(Y[test], scores, QID[test], "mean_ndcg", convention="letor4")
            assert value == pytest.approx(wanted, rel=1e-12)

    def test_grid_search(self):
        pipe = make_pipeline(StandardScaler(), MultiBoostRanker(n_estimators=10, n_jobs=1))
        search = GridSearchCV(pipe, {"multiboostranker__base_learner": ["stump", "tree:8"]}, cv=GroupKFold(3),
                              error_score="raise")  # fmt: skip
        search.fit(X, Y, qid=QID, groups=QID)
        assert search.best_params_["multiboostranker__base_learner"] == "tree:8"
        assert search.score(X_TEST, Y_TEST, qid=QID_TEST) > 0.6

    def test_clone_and_parameters(self):
        ranker = sklearn.base.clone(MultiBoostRanker(loss=LambdaRank(7), gain="linear"))
        assert ranker.get_params()["loss"] == LambdaRank(7)


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "more", "words"),
        [
            ({}, {"qid": None}, "needs qid, the query of every row"),
            ({}, {"qid": QID[:-1]}, f"qid has {Y.size - 1} rows, but X has {Y.size}"),
            ({}, {"y": -Y}, "grades are finite and at least 0"),
            ({}, {"y": np.where(Y == 2, np.nan, Y)}, "grades are finite and at least 0"),
            ({}, {"y": 20 * Y}, "at most 31"),
            ({}, {"y": np.array(["a", "b"])[(Y > 0).astype(int)]}, "grades must be numbers"),
            ({}, {"y": np.ones(Y.size)}, "all documents have the grade 1"),
            ({}, {"y": np.stack([Y, Y], axis=1)}, "y must have one dimension"),
            ({}, {"validation": (X, Y)}, r"tuple \(X, y, qid\)"),
            ({"loss": "squared"}, {}, "is a loss of numbers; MultiBoostRanker has"),
            ({"loss": "auto"}, {}, "loss must be one of"),
            ({"gain": "cubic"}, {}, "gain must be one of 'exponential', 'linear'"),
        ],
    )
    def test_words(self, parameters, more, words):
        given = {"y": Y, "qid": QID, **more}
        with pytest.raises(ValueError, match=words):
            MultiBoostRanker(**parameters).fit(X, given.pop("y"), **given)

    def test_a_classifier_has_no_lambdarank(self):
        with pytest.raises(ValueError, match="'lambdarank' is a loss of rankings; MultiBoostClassifier has"):
            MultiBoostClassifier(loss="lambdarank").fit(X, Y)

    def test_evaluations(self):
        with pytest.raises(ValueError, match="pass qid, the query of every row"):
            evaluate(fitted(), X, Y)
        classifier = MultiBoostClassifier("stump", 5).fit(X, Y)
        with pytest.raises(ValueError, match="qid is for rankers"):
            evaluate(classifier, X, Y, qid=QID)


class TestWeights:
    def test_exponential_weights(self):
        omega = np.array([0.3, 0.5, 0.4])
        np.testing.assert_allclose(exponential_weights(omega, 0), [1 / 3] * 3)
        np.testing.assert_allclose(exponential_weights(omega, 1e6), [0, 1, 0], atol=1e-12)
        np.testing.assert_allclose(exponential_weights(omega, 7), np.exp(7 * omega) / np.exp(7 * omega).sum())
        with pytest.raises(ValueError, match="c must be a finite number of at least 0"):
            exponential_weights(omega, -1)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_beside_lightgbm(loss):
    """On its own example, at the defaults of both: at least as good, but for noise."""
    import gzip

    from sklearn.datasets import load_svmlight_file

    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    parts = []
    for name in ("train", "test"):
        with gzip.open(shared_data("ranking_small", f"rank.{name}.gz")) as file:
            table, y = load_svmlight_file(file, n_features=301)
        sizes = np.loadtxt(shared_data("ranking_small", f"rank.{name}.query.gz")).astype(int)
        parts.append((table.toarray(), y, np.repeat(np.arange(sizes.size), sizes), sizes))
    (table, y, qid, sizes), (others, grades, queries, _) = parts
    theirs = lightgbm.LGBMRanker(n_jobs=1, verbose=-1).fit(table, y, group=sizes).predict(others)
    ours = MultiBoostRanker(loss=loss, n_jobs=1).fit(table, y, qid=qid).predict(others)
    assert ranking_metric(grades, ours, queries) > ranking_metric(grades, theirs, queries) - 0.02
