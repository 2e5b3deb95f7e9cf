"""Metrics of rankings against other programs, brute force, and every rule of LETOR's tools."""

import itertools
import shutil

import numpy as np
import pytest

from multiboost import ranking_metric
from multiboost.ranking import CONVENTIONS, Convention, Queries


@pytest.fixture(scope="module")
def judged():
    """Queries of many sizes, some without relevant documents, with equal scores; rows are shuffled."""
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(60), rng.integers(1, 25, 60))
    y = np.where(rng.random(qid.size) < 0.6, 0, rng.integers(0, 5, qid.size)).astype(float)
    y[np.isin(qid, (3, 17, 40))] = 0.0
    scores = rng.normal(size=qid.size).round(1) + 0.3 * y
    order = rng.permutation(qid.size)
    return y[order], scores.round(1)[order], qid[order]


def by_hand(y, scores, k=None, *, gain=lambda y: 2**y - 1, discount=lambda i: 1 / np.log2(1 + i)):
    """DCG@k of one query, documents in the order of falling scores, equal ones as they come."""
    order = sorted(range(len(y)), key=lambda i: -scores[i])[:k]
    return sum(gain(y[j]) * discount(i) for i, j in enumerate(order, start=1))


class TestOurs:
    def test_ndcg_is_the_formula(self, judged):
        y, scores, qid = judged
        scores = scores + 1e-6 * np.random.default_rng(0).random(len(scores))  # no ties
        for k in (1, 3, 10, None):
            wanted = []
            for q in np.unique(qid):
                mine, theirs = y[qid == q], scores[qid == q]
                best = by_hand(mine, mine, k)
                wanted.append(by_hand(mine, theirs, k) / best if best else 0.0)
            metric = "ndcg" if k is None else f"ndcg@{k}"
            found = ranking_metric(y, scores, qid, metric, per_query=True)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            assert ranking_metric(y, scores, qid, metric) == pytest.approx(np.mean(wanted))

    @pytest.mark.parametrize("metric", ["dcg@2", "ndcg@2", "precision@2"])
    def test_equal_scores_are_the_mean_over_all_orders(self, metric):
        y, scores = np.array([2.0, 0.0, 1.0, 0.0]), np.array([0.5, 0.5, 0.5, 0.1])
        found = ranking_metric(y, scores, np.zeros(4), metric)
        jitter = [np.append(np.array(p) * 1e-3, 0.0) for p in itertools.permutations(range(3))]
        assert found == pytest.approx(np.mean([ranking_metric(y, scores + j, np.zeros(4), metric) for j in jitter]))

    def test_order_of_rows_leaves_no_trace(self, judged):
        y, scores, qid = judged
        order = np.random.default_rng(1).permutation(len(y))
        for metric in ("dcg", "ndcg@5", "mean_ndcg", "map", "precision@5"):
            again = ranking_metric(y[order], scores[order], qid[order], metric, per_query=True)
            np.testing.assert_allclose(again, ranking_metric(y, scores, qid, metric, per_query=True), rtol=1e-12)

    def test_mean_ndcg_is_the_mean_over_k(self, judged):
        y, scores, qid = judged
        longest = np.bincount(qid).max()
        at = [ranking_metric(y, scores, qid, f"ndcg@{k}", per_query=True) for k in range(1, longest + 1)]
        wanted = [np.mean([at[k][q] for k in range(n)]) for q, n in enumerate(np.bincount(qid))]
        np.testing.assert_allclose(ranking_metric(y, scores, qid, "mean_ndcg", per_query=True), wanted, rtol=1e-10)

    def test_weights_of_queries(self, judged):
        y, scores, qid = judged
        weight = np.random.default_rng(0).random(60)
        each = ranking_metric(y, scores, qid, per_query=True)
        assert ranking_metric(y, scores, qid, query_weight=weight) == pytest.approx(each @ weight / weight.sum())

    def test_names_of_queries_have_no_influence(self, judged):
        y, scores, qid = judged
        assert ranking_metric(y, scores, [f"q{q}" for q in qid]) == pytest.approx(ranking_metric(y, scores, qid))

    def test_grades_that_are_not_0_to_k(self):
        y, scores, qid = [0.5, 7, 3], [1.0, 3.0, 2.0], [1, 1, 1]
        assert ranking_metric(y, scores, qid) == pytest.approx(1.0)
        wanted = by_hand(y, [3.0, 2.0, 1.0]) / by_hand(y, y)
        assert ranking_metric(y, [3.0, 2.0, 1.0], qid) == pytest.approx(wanted)
        linear = Convention(gain="linear")
        assert ranking_metric([100, 0], [0, 1], [1, 1], "dcg", convention=linear) == pytest.approx(100 / np.log2(3))

    def test_one_document(self):
        assert ranking_metric([1], [0.3], [1]) == 1.0
        assert ranking_metric([0], [0.3], [1]) == 0.0


class TestLetor:
    """Every rule of LETOR's tools: hand-made queries, and what the rules make of them."""

    ys = ([2, 0, 1], [0, 0], [1], [1, 2, 0, 0, 0, 0, 0, 1])
    scores = ([0.9, 0.8, 0.7], [0.2, 0.1], [0.5], [0.1, 0.5, 0.5, 0.9, 0.9, 0.2, 0.0, 0.0])

    def value(self, metric, convention="letor4"):
        y, scores = np.concatenate(self.ys), np.concatenate(self.scores)
        qid = np.repeat(np.arange(4), [len(y) for y in self.ys])
        return ranking_metric(y, scores, qid, metric, convention=convention, per_query=True)

    def test_gains_are_0_1_3_and_the_first_two_discounts_are_1(self):
        # Positions 2, 0, 1: 3 + 0 + 1 / log2(3); the best is 3 + 1.
        assert self.value("dcg@3")[0] == pytest.approx(3 + 1 / np.log2(3))
        assert self.value("ndcg@2")[0] == pytest.approx(3 / 4)
        assert self.value("ndcg@3")[0] == pytest.approx((3 + 1 / np.log2(3)) / 4)

    def test_a_query_without_relevant_documents_is_0_and_stays(self):
        assert self.value("ndcg@1")[1] == self.value("mean_ndcg")[1] == self.value("map")[1] == 0.0
        assert len(self.value("ndcg@1")) == 4

    def test_a_position_beyond_the_documents_is_0(self):
        assert self.value("ndcg@1")[2] == 1.0
        assert self.value("ndcg@2")[2] == 0.0
        assert self.value("ndcg@9")[3] == 0.0
        assert self.value("ndcg@8")[3] > 0.0

    def test_ties_are_in_the_order_of_the_file(self):
        # 0.9: rows 3, 4; 0.5: rows 1, 2; then 5, 0; 0.0: rows 6, 7.
        c = [1, 1, *(1 / np.log2(np.arange(3, 9)))]
        ranked = [0, 0, 2, 0, 0, 1, 0, 1]
        dcg = np.cumsum([(2**y - 1) * d for y, d in zip(ranked, c, strict=True)])
        best = np.cumsum([(2**y - 1) * d for y, d in zip(sorted(ranked)[::-1], c, strict=True)])
        assert self.value("ndcg@3")[3] == pytest.approx(dcg[2] / best[2])
        assert self.value("mean_ndcg")[3] == pytest.approx(np.mean(dcg / best))

    def test_mean_ndcg_is_over_all_positions_of_the_query(self):
        first = [1, 3 / 4, (3 + 1 / np.log2(3)) / 4]
        assert self.value("mean_ndcg")[0] == pytest.approx(np.mean(first))
        assert self.value("mean_ndcg")[2] == 1.0

    def test_precision_and_map(self):
        assert self.value("precision@2")[0] == pytest.approx(1 / 2)
        assert self.value("map")[0] == pytest.approx((1 + 2 / 3) / 2)
        assert self.value("map")[3] == pytest.approx((1 / 3 + 2 / 6 + 3 / 8) / 3)

    def test_version_4_takes_missing_positions_for_irrelevant_ones(self):
        assert self.value("precision@2", "letor4")[2] == pytest.approx(1 / 2)
        assert self.value("precision@2", "letor3")[2] == 0.0
        assert self.value("precision@1", "letor3")[2] == 1.0

    def test_version_3_has_no_mean_ndcg(self):
        with pytest.raises(ValueError, match="'letor3' does not say what 'mean_ndcg' is; 'multiboost', 'letor4' do"):
            self.value("mean_ndcg", "letor3")
        np.testing.assert_allclose(self.value("ndcg@3", "letor3"), self.value("ndcg@3"))

    def test_the_average_is_over_all_queries(self):
        y, scores = np.concatenate(self.ys), np.concatenate(self.scores)
        qid = np.repeat(np.arange(4), [3, 2, 1, 8])
        assert ranking_metric(y, scores, qid, "ndcg@1", convention="letor4") == pytest.approx((1 + 0 + 1 + 0) / 4)


class TestOthers:
    def test_scikit_learn(self, judged):
        from sklearn.metrics import dcg_score, label_ranking_average_precision_score, ndcg_score

        y, scores, qid = judged
        for k in (1, 4, 10, None):
            for name, theirs in (("ndcg", ndcg_score), ("dcg", dcg_score)):
                metric = name if k is None else f"{name}@{k}"
                found = ranking_metric(y, scores, qid, metric, convention="sklearn", per_query=True)
                for q in range(60):
                    mine = qid == q
                    if mine.sum() > 1:  # it refuses a query of one document
                        assert found[q] == pytest.approx(theirs([y[mine]], [scores[mine]], k=k), abs=1e-12)
        found = ranking_metric(y, scores, qid, "map", convention="sklearn", per_query=True)
        for q in np.flatnonzero(Queries(qid).sizes):
            mine = qid == q
            if (y[mine] > 0).any():  # of none it says 1 and calls that degenerate
                wanted = label_ranking_average_precision_score([y[mine] > 0], [scores[mine]])
                assert found[q] == pytest.approx(wanted, abs=1e-12)

    def test_lightgbm(self, judged):
        lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
        y, scores, qid = (a[np.argsort(judged[2], kind="stable")] for a in judged)
        X = np.random.default_rng(0).random((len(y), 1))
        data = lightgbm.Dataset(X, y, group=np.bincount(qid), init_score=scores, free_raw_data=False)
        at = [1, 3, 10, 100]
        options = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": at, "verbose": -1}
        found = {entry[1]: entry[2] for entry in lightgbm.Booster(options, data).eval_train()}
        for k in at:
            for name in ("ndcg", "map"):
                mine = ranking_metric(y, scores, qid, f"{name}@{k}", convention="lightgbm")
                assert mine == pytest.approx(found[f"{name}@{k}"], abs=1e-9)

    def test_xgboost(self, judged):
        xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
        y, scores, qid = (a[np.argsort(judged[2], kind="stable")] for a in judged)
        for name, grades in (("ndcg", y), ("map", (y > 0).astype(float)), ("pre", (y > 0).astype(float))):
            data = xgboost.DMatrix(np.zeros((len(y), 1)), grades)
            data.set_group(np.bincount(qid))
            data.set_base_margin(scores)
            for k in (1, 3, 10):
                options = {"base_score": 0, "eval_metric": f"{name}@{k}", "disable_default_eval_metric": 1}
                found = float(xgboost.train(options, data, num_boost_round=0).eval(data).rpartition(":")[2])
                metric = "precision" if name == "pre" else name
                mine = ranking_metric(grades, scores, qid, f"{metric}@{k}", convention="xgboost")
                assert mine == pytest.approx(found, abs=1e-6)

    @pytest.mark.parametrize("metric", ["ndcg@1", "ndcg@10", "ndcg", "map", "map@5", "precision@5", "err@10", "err@3"])
    def test_ir_measures(self, judged, metric):
        ir_measures = pytest.importorskip("ir_measures", reason="ir-measures is not installed")
        name, _, k = metric.partition("@")
        if name == "err" and shutil.which("perl") is None:
            pytest.skip("the ERR of ir-measures needs perl")
        measure = {"ndcg": "nDCG", "map": "AP", "precision": "P", "err": "ERR"}[name]
        wanted = ir_measures.parse_measure(f"{measure}@{k}" if k else measure)
        y, scores, qid = judged
        names = [f"d{i:04d}" for i in range(len(y))]  # of equal scores the last name comes first
        rels = [ir_measures.Qrel(str(q + 1), d, int(g)) for q, d, g in zip(qid, names, y, strict=True)]
        run = [ir_measures.ScoredDoc(str(q + 1), d, float(s)) for q, d, s in zip(qid, names, scores, strict=True)]
        theirs = {int(r.query_id) - 1: r.value for r in ir_measures.iter_calc([wanted], rels, run)}
        found = ranking_metric(y, scores, qid, metric, convention="trec", per_query=True)
        # gdeval prints five digits, and leaves out queries that it has nothing to say of.
        np.testing.assert_allclose([theirs.get(q, 0.0) for q in range(60)], found, atol=1e-5 if name == "err" else 1e-9)


class TestErr:
    def test_is_the_cascade(self):
        y, largest = np.array([3, 0, 2, 4]), 4
        stop = (2.0**y - 1) / 2**largest
        wanted, left = 0.0, 1.0
        for i, r in enumerate(stop, start=1):
            wanted += left * r / i
            left *= 1 - r
        assert ranking_metric(y, [4, 3, 2, 1], [1] * 4, "err", convention="trec") == pytest.approx(wanted)
        with pytest.raises(ValueError, match="grades up to 4, and there is a 5"):
            ranking_metric([5, 1], [1, 2], [1, 1], "err", convention="trec")


class TestRefusals:
    @pytest.mark.parametrize(
        ("y", "scores", "qid", "more", "words"),
        [
            ([1, 0], [1, 2], None, {}, "pass a query number for every row"),
            ([1, 0], [1, 2], [1, None], {}, "qid is missing in row 1"),
            ([1, 0], [1, 2], [1, np.nan], {}, "qid is nan in row 1"),
            ([1, 0], [1, 2], [1, 1, 1], {}, "qid has 3 rows"),
            ([1, -1], [1, 2], [1, 1], {}, "grade of row 1 is -1"),
            ([1, 99], [1, 2], [1, 1], {}, "at most 31"),
            ([1, 0], [1, np.nan], [1, 1], {}, "y_score is NaN in row 1"),
            (["a", "b"], [1, 2], [1, 1], {}, "must hold numbers"),
            ([1, 0], [1, 2], [1, 1], {"metric": "recall@3"}, "metric must be one of dcg, ndcg"),
            ([1, 0], [1, 2], [1, 1], {"metric": "ndcg@0"}, "whole number of at least 1"),
            ([1, 0], [1, 2], [1, 1], {"metric": "precision"}, "'precision@5'"),
            ([1, 0], [1, 2], [1, 1], {"convention": "yahoo"}, "convention must be one of 'multiboost', 'letor3'"),
            ([1, 0], [1, 2], [1, 1], {"metric": "precision@2", "convention": "lightgbm"}, "does not say what"),
        ],
    )
    def test_words(self, y, scores, qid, more, words):
        with pytest.raises(ValueError, match=words):
            ranking_metric(y, scores, qid, **more)

    def test_the_same_ranking_has_many_ndcgs(self, judged):
        found = {name: ranking_metric(*judged, "ndcg@10", convention=name) for name in CONVENTIONS}
        assert max(found.values()) - min(found.values()) > 0.1
