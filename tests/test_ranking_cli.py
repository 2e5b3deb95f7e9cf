"""Rankings at the command line and in reports: the same models and numbers as from Python."""

# ruff: noqa: F811  (fixtures come from the tests of the command line)

import json
import re

import numpy as np
import pandas as pd
import pytest

from multiboost import (
    ExponentialWeighting,
    MultiBoostRanker,
    evaluate,
    learning_curves,
    load_model,
    ranking_metric,
    write_report,
)
from multiboost.cli import predict as predict_command
from multiboost.files import read_batches, read_file

from .test_cli import bad, cli, good  # noqa: F401
from .test_ranking import QID, QID_TEST, X_TEST, Y_TEST, X, Y

pytest.importorskip("pyarrow")


def frame_of(table, y, qid):
    frame = pd.DataFrame(table, columns=list("abcde"))
    frame["grade"], frame["topic"] = y.astype(int), [f"t{q:03d}" for q in qid]
    return frame


def letor(table, y, qid):
    """Lines of a LETOR file, with its comments."""
    rows = zip(y, qid, table, strict=True)
    return "".join(
        f"{g:g} qid:{q} {' '.join(f'{j + 1}:{v}' for j, v in enumerate(x))} #docid = D-{q} inc = 1 prob = 0.1\n"
        for g, q, x in rows
    )


@pytest.fixture
def files(tmp_path):
    train, test = frame_of(X, Y, QID), frame_of(X_TEST, Y_TEST, QID_TEST)
    train.to_csv(tmp_path / "train.csv", index=False)
    train.sample(frac=1, random_state=0).to_parquet(tmp_path / "train.parquet", index=False)  # queries are scattered
    test.to_csv(tmp_path / "test.csv", index=False)
    (tmp_path / "train.txt").write_text(letor(X, Y, QID))
    (tmp_path / "test.txt").write_text(letor(X_TEST, Y_TEST, QID_TEST))
    return tmp_path


COLUMNS = "--task ranking -t grade --query topic"


class TestTheSameModel:
    @pytest.mark.parametrize(
        ("options", "parameters"),
        [
            ("", {}),
            ("--loss lambdarank --base tree:5", {"loss": "lambdarank", "base_learner": "tree:5"}),
            ("--gain linear --subsample 1", {"gain": "linear", "subsample": 1.0}),
        ],
    )
    def test_of_every_file(self, options, parameters, files, good):
        expected = MultiBoostRanker(n_estimators=8, **parameters).fit(X, Y, qid=QID)
        for source in (
            f"train.csv {COLUMNS}",
            f"train.parquet {COLUMNS}",
            "train.txt --format svmlight --task ranking",
        ):
            good(f"train {source} -n 8 -q -o m.mb {options}")
            model = load_model("m.mb")
            assert model.ensemble_.digest() == expected.ensemble_.digest()
            assert model.get_params()["gain"] == expected.gain

    def test_predictions_evaluation_and_report(self, files, good):
        good(f"train train.csv {COLUMNS} -n 8 -q -o m.mb")
        model = load_model("m.mb")
        frame = pd.DataFrame(X_TEST, columns=list("abcde"))
        good("predict m.mb test.csv -o p.csv")
        predicted = pd.read_csv("p.csv")
        assert list(predicted) == ["score"]
        np.testing.assert_array_equal(predicted["score"], model.predict(frame))
        found = json.loads(good("evaluate m.mb test.csv --json").out)
        assert found["ndcg"] == pytest.approx(ranking_metric(Y_TEST, model.predict(frame), QID_TEST), rel=1e-12)
        assert found["n_queries"] == 60
        shown = good("evaluate m.mb test.csv").out
        assert "worst queries" in shown
        assert "letor4" in shown
        staged = good("evaluate m.mb test.csv --staged").out.splitlines()
        assert len(staged) == 9
        good("report m.mb test.csv -o r.html")
        assert "Worst queries" in (files / "r.html").read_text()

    def test_a_query_split_over_batches(self, files, good, monkeypatch):
        """Row groups, batches and lines far from each other: rows of a query are one query."""
        good(f"train train.csv {COLUMNS} -n 8 -q -o m.mb")
        whole = json.loads(good("evaluate m.mb test.csv --json").out)
        good("predict m.mb test.csv -o whole.csv")
        test = pd.read_csv("test.csv")
        test.to_parquet("groups.parquet", index=False, row_group_size=5)
        test.sample(frac=1, random_state=1).to_parquet("scattered.parquet", index=False, row_group_size=5)
        for file in ("groups.parquet", "scattered.parquet"):
            found = json.loads(good(f"evaluate m.mb {file} --json").out)
            assert found["n_queries"] == whole["n_queries"]
            for name in ("ndcg", "map", "mean_ndcg", "precision", "risk"):
                assert found[name] == pytest.approx(whole[name], rel=1e-12)
        monkeypatch.setattr(predict_command, "_ROWS", 7)
        good("predict m.mb test.csv -o batches.csv")
        assert (files / "batches.csv").read_bytes() == (files / "whole.csv").read_bytes()
        lines = (files / "train.txt").read_text().splitlines(keepends=True)
        np.random.default_rng(0).shuffle(lines)
        (files / "lines.txt").write_text("".join(lines))
        good("train lines.txt --format svmlight --task ranking -n 8 -q -o l.mb")
        assert load_model("l.mb").ensemble_.digest() == load_model("m.mb").ensemble_.digest()
        batches = list(read_batches("lines.txt", "svmlight", 7))
        assert len(batches) > 10
        np.testing.assert_array_equal(
            np.concatenate([b.groups for b in batches]), read_file("lines.txt", "svmlight").groups
        )

    def test_rankings_are_not_trained_from_files_in_passes(self, files, bad):
        bad(f"train train.parquet {COLUMNS} --memory 2GB -n 2 -o m.mb", "rankings are trained in memory")
        with pytest.raises(ValueError, match="learns from tables in memory, and X is in files; load them first"):
            MultiBoostRanker(n_estimators=2).fit("train.parquet", "grade", qid="topic")

    def test_an_ensemble_of_ensembles(self, files, good, bad):
        frame = pd.DataFrame(X, columns=list("abcde"))
        many = ExponentialWeighting(
            [MultiBoostRanker("stump", 4), MultiBoostRanker("tree:4", 4)], ["sigmoid"], 4, n_jobs=1
        )
        many.fit(frame, Y, qid=QID).save("many.mb")
        found = json.loads(good("evaluate many.mb test.csv -t grade --query topic --json").out)
        scores = many.predict(pd.DataFrame(X_TEST, columns=list("abcde")))
        assert found["ndcg"] == pytest.approx(ranking_metric(Y_TEST, scores, QID_TEST), rel=1e-12)
        assert "worst queries" in good("evaluate many.mb test.csv -t grade --query topic --jobs 1").out
        bad("evaluate many.mb test.csv -t grade --query topic --staged", "no rounds together")
        for command in ("report many.mb test.csv -t grade --query topic -o r.html", "inspect many.mb"):
            bad(command, "is an ensemble of several models, and", "takes one model")
        bad("lean many.mb test.csv -o l.mb", "is an ensemble of several models, and lean takes one model")
        bad("predict many.mb test.csv", "is an ensemble of several models")
        bad("export many.mb --to c --out m.c", "is an ensemble of several models")

    def test_validation_by_whole_queries(self, files, good):
        good(f"train train.csv {COLUMNS} -n 30 --valid-fraction 0.3 --patience 5 -q -o m.mb --log l.csv")
        good(f"train train.csv {COLUMNS} -n 5 --valid test.csv --test test.csv -q -o v.mb")
        model = load_model("v.mb")
        frame = pd.DataFrame(X_TEST, columns=list("abcde"))
        assert model.history_["validation_error"][-1] == pytest.approx(1 - model.score(frame, Y_TEST, qid=QID_TEST))
        assert load_model("m.mb").n_iter_ <= 30

    def test_comparison(self, files, good):
        found = json.loads(good(f"compare train.csv {COLUMNS} --folds 3 -n 5 --base stump --base tree:8 --json").out)
        assert {row["name"] for row in found} == {"stump", "tree:8"}
        assert all(0.0 < row["error"] < 0.5 for row in found)


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ("train.csv --task ranking -t grade", "which column is the query? Name it with --query"),
            ("train.csv -t grade --query topic", "--query goes with --task ranking"),
            ("train.csv --task ranking -t grade --query topics", "has no column 'topics' (--query)"),
            ("train.csv --task ranking -t topic --query grade", "which is not a number"),
            ("train.csv --task ranking -t grade --query grade", "the column is --target already"),
            (f"train.csv {COLUMNS} --quantile 0.5", "--quantile goes with --task regression"),
            (f"train.csv {COLUMNS} --loss squared", "is a loss of numbers"),
            (f"train.csv {COLUMNS} --valid-fraction 0.001", "leaves"),
        ],
    )
    def test_words(self, options, words, files, bad):
        bad(f"train {options} -o m.mb -n 2", words)

    def test_an_empty_query(self, files, bad):
        frame = pd.read_csv("train.csv").astype({"topic": object})
        frame.loc[4, "topic"] = None
        frame.to_csv("holes.csv", index=False)
        bad(f"train holes.csv {COLUMNS} -o m.mb -n 2", "column 'topic' (--query) is empty in row 5")

    def test_probabilities(self, files, good, bad):
        good(f"train train.csv {COLUMNS} -n 2 -q -o m.mb")
        bad("predict m.mb test.csv --proba", "have no probabilities")


@pytest.fixture(scope="module")
def ranker():
    return MultiBoostRanker(n_estimators=10, n_jobs=1).fit(X, Y, qid=QID)


class TestEvaluation:
    def test_numbers(self, ranker):
        found = evaluate(ranker, X_TEST, Y_TEST, qid=QID_TEST)
        scores = ranker.predict(X_TEST)
        for name, metric in (
            ("ndcg", "ndcg@10"),
            ("map", "map"),
            ("mean_ndcg", "mean_ndcg"),
            ("precision", "precision@10"),
        ):
            assert getattr(found, name) == pytest.approx(ranking_metric(Y_TEST, scores, QID_TEST, metric))
        assert found.ndcg_at[4] == pytest.approx(ranking_metric(Y_TEST, scores, QID_TEST, "ndcg@5"))
        rng = np.random.default_rng(0)
        chance = [ranking_metric(Y_TEST, rng.random(Y_TEST.size), QID_TEST, "ndcg@5") for _ in range(200)]
        assert found.random_at[4] == pytest.approx(np.mean(chance), abs=0.01)
        assert found.conventions["letor4"] == pytest.approx(
            ranking_metric(Y_TEST, scores, QID_TEST, "ndcg@10", convention="letor4")
        )
        relevant = np.bincount(QID_TEST, Y_TEST > 0)
        assert found.n_without == (relevant == 0).sum()

    def test_worst_queries(self, ranker):
        found = evaluate(ranker, X_TEST, Y_TEST, qid=QID_TEST, n_mistakes=4).mistakes
        each = ranking_metric(Y_TEST, ranker.predict(X_TEST), QID_TEST, per_query=True)
        hopeful = each[np.bincount(QID_TEST, Y_TEST > 0) > 0]
        np.testing.assert_allclose([m.ndcg for m in found], np.sort(hopeful)[:4])
        worst = found[0]
        mine = np.flatnonzero(int(worst.query) == QID_TEST)
        assert worst.row in mine
        assert Y_TEST[worst.row] == worst.grade == Y_TEST[mine].max()
        scores = ranker.predict(X_TEST)
        assert worst.position == 1 + np.sum(scores[mine] > scores[worst.row]) + np.sum(
            scores[mine][mine < worst.row] == scores[worst.row]
        )
        assert worst.values

    @pytest.mark.parametrize("loss", ["exponential", "lambdarank"])
    def test_curves_and_risks_are_those_of_training(self, loss):
        ranker = MultiBoostRanker(loss=loss, n_estimators=6, n_jobs=1)
        ranker.fit(X, Y, qid=QID, validation=(X_TEST, Y_TEST, QID_TEST))
        found = learning_curves(ranker, X_TEST, Y_TEST, qid=QID_TEST, X_train=X, y_train=Y, qid_train=QID)
        np.testing.assert_allclose(found.error, ranker.history_["validation_error"], rtol=1e-9)
        np.testing.assert_allclose(found.training_error, ranker.history_["training_error"], rtol=1e-9)
        np.testing.assert_allclose(found.risk, ranker.history_["validation_risk"], rtol=1e-9)
        assert evaluate(ranker, X, Y, qid=QID).risk == pytest.approx(ranker.history_["risk"][-1], rel=1e-9)

    def test_report(self, ranker, tmp_path):
        write_report(ranker, X_TEST, Y_TEST, tmp_path / "r.html", qid=QID_TEST, X_train=X, y_train=Y, qid_train=QID)
        page = (tmp_path / "r.html").read_text()
        for words in ("NDCG by position", "Worst queries", "LETOR 4.0", "1 - NDCG@10"):
            assert words in page
        held = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
        found = evaluate(ranker, X_TEST, Y_TEST, qid=QID_TEST)
        np.testing.assert_allclose(held["ndcg_at"], found.ndcg_at, rtol=1e-5)
        assert held["mistakes"][0]["query"] == found.mistakes[0].query
