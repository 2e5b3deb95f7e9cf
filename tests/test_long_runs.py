"""Runs that stop and go on: callbacks, validation sets, checkpoints, kills."""

import csv
import json
import os
import signal
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss

from multiboost import (
    Callback,
    EarlyStopping,
    FromClassifier,
    Log,
    ModelFileError,
    MultiBoostClassifier,
    Progress,
    StopOnInterrupt,
    TimeLimit,
    load_model,
)

from .conftest import make_classes, make_labels

X, Y = load_digits(return_X_y=True)
TRAIN, VALID = (X[:700], Y[:700]), (X[700:1000], Y[700:1000])


# Nothing is left open, so that nothing is compared.
FIXED = {"loss": "exponential", "learning_rate": 0.2, "subsample": 1.0}


def boost(rounds=12, **parameters):
    return MultiBoostClassifier("tree:6", rounds, **{**FIXED, **parameters})


class StopAfter(Callback):
    """Ends the process of training with an error after some rounds, as a crash would."""

    def __init__(self, rounds):
        self.rounds = rounds

    def after_round(self, run):
        if run.n_rounds == self.rounds:
            raise MemoryError("crash")
        return False


class TestValidation:
    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    def test_error_and_risk_after_every_round(self, loss):
        """Equal to those of the staged scores, computed by hand."""
        clf = boost(loss=loss).fit(*TRAIN, validation=VALID)
        signs = np.where(VALID[1][:, None] == np.arange(10), 1.0, -1.0)
        weight = np.where(signs > 0, 0.5, 0.5 / 9) / len(signs)
        for t, scores in enumerate(clf.staged_decision_function(VALID[0])):
            error = np.mean(scores.argmax(axis=1) != VALID[1])
            margin = scores * signs
            each = np.exp(-margin) if loss == "exponential" else np.logaddexp(0, -2 * margin)
            assert clf.history_["validation_error"][t] == pytest.approx(error, abs=1e-12)
            assert clf.history_["validation_risk"][t] == pytest.approx((weight * each).sum(), rel=1e-10)

    def test_weights_count(self):
        """A validation row of weight zero is not looked at."""
        weight = np.r_[np.ones(200), np.zeros(100)]
        clf = boost(5).fit(*TRAIN, validation=(*VALID, weight))
        part = boost(5).fit(*TRAIN, validation=(VALID[0][:200], VALID[1][:200]))
        np.testing.assert_allclose(clf.history_["validation_error"], part.history_["validation_error"], atol=1e-12)

    def test_multilabel(self):
        data, labels = make_labels(200, 5, 3)
        clf = MultiBoostClassifier("stump", 8).fit(data[:150], labels[:150], validation=(data[150:], labels[150:]))
        wrong = np.mean(clf.predict(data[150:]) != labels[150:])
        assert clf.history_["validation_error"][-1] == pytest.approx(wrong, abs=1e-12)

    @pytest.mark.parametrize("given", [VALID[0], (VALID[0],), "validation"])
    def test_bad_validation(self, given):
        with pytest.raises(ValueError, match="validation must be a tuple"):
            boost().fit(*TRAIN, validation=given)

    def test_class_that_training_has_not_seen(self):
        with pytest.raises(ValueError, match="not seen in fit"):
            boost().fit(*TRAIN, validation=(VALID[0], VALID[1] + 5))


class TestEarlyStopping:
    @pytest.mark.parametrize("metric", ["validation_error", "validation_risk"])
    def test_keeps_the_best_round(self, metric):
        """The first of the best rounds, out of those a run without stopping goes through."""
        whole = boost(80, learning_rate=1.0).fit(*TRAIN, validation=VALID)
        clf = boost(80, learning_rate=1.0).fit(*TRAIN, validation=VALID, callbacks=[EarlyStopping(10, metric)])
        curve = whole.history_[metric]
        best = 0
        for t in range(80):
            if curve[t] < curve[best]:
                best = t
            if t - best >= 10:
                break
        assert t < 79, "the test should stop early"
        assert clf.n_estimators_ == best + 1
        np.testing.assert_array_equal(clf.history_[metric], curve[: best + 1])
        stages = list(whole.staged_decision_function(VALID[0]))
        np.testing.assert_array_equal(clf.decision_function(VALID[0]), stages[best])

    def test_the_shorter_model_is_whole(self, tmp_path):
        """Nothing of the later rounds is left in it."""
        clf = boost(40, learning_rate=1.0).fit(*TRAIN, validation=VALID, callbacks=[EarlyStopping(5)])
        same = boost(clf.n_estimators_, learning_rate=1.0).fit(*TRAIN)
        assert clf.ensemble_.digest() == same.ensemble_.digest()
        np.testing.assert_array_equal(clf.predict_proba(VALID[0]), same.predict_proba(VALID[0]))
        clf.save(tmp_path / "m.mb")
        assert load_model(tmp_path / "m.mb").ensemble_.digest() == same.ensemble_.digest()

    def test_needs_a_validation_set(self):
        with pytest.raises(ValueError, match=r"no 'validation_error'.*pass validation"):
            boost().fit(*TRAIN, callbacks=[EarlyStopping()])

    @pytest.mark.parametrize("patience", [0, -1, 1.5])
    def test_bad_patience(self, patience):
        with pytest.raises(ValueError, match="patience must be a whole number"):
            EarlyStopping(patience)


class TestOtherCallbacks:
    def test_time_limit(self):
        class Slow(Callback):
            def after_round(self, run):
                time.sleep(0.05)
                return False

        clf = boost(500).fit(*TRAIN, callbacks=[Slow(), TimeLimit(0.3)])
        assert 1 <= clf.n_estimators_ <= 7

    def test_interrupt_keeps_what_there_is(self):
        """Ctrl-C in the middle of a run; the old handler is back afterwards."""

        class Interrupt(Callback):
            def after_round(self, run):
                if run.n_rounds == 4:
                    os.kill(os.getpid(), signal.SIGINT)
                return False

        before = signal.getsignal(signal.SIGINT)
        clf = boost(50).fit(*TRAIN, callbacks=[Interrupt(), StopOnInterrupt()])
        assert clf.n_estimators_ in (4, 5)
        assert signal.getsignal(signal.SIGINT) is before
        assert clf.score(*VALID) > 0.5

    @pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
    def test_log(self, kind, tmp_path):
        """A row per round with the history's own numbers, to the last bit."""
        path = tmp_path / f"log{kind}"
        clf = boost(6).fit(*TRAIN, validation=VALID, callbacks=[Log(path)])
        if kind == ".csv":
            with open(path) as file:
                rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        elif kind == ".jsonl":
            rows = [json.loads(line) for line in path.read_text().splitlines()]
        else:
            rows = pq.read_table(path).to_pylist()
        assert [row["round"] for row in rows] == [1, 2, 3, 4, 5, 6]
        for name, values in clf.history_.items():
            np.testing.assert_array_equal([row[name] for row in rows], values)

    def test_log_of_unknown_kind(self):
        with pytest.raises(ValueError, match=r"must end in \.csv, \.jsonl, \.parquet"):
            Log("log.txt")

    def test_progress(self, capsys):
        boost(5).fit(*TRAIN, validation=VALID, callbacks=[Progress(every=0)])
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 5
        assert lines[2].startswith("round 3 of 5   edge ")
        assert "validation error" in lines[2]

    def test_a_callback_of_ones_own(self):
        """Sees every round; its True ends the run."""
        seen = []

        class Mine(Callback):
            def after_round(self, run):
                seen.append(run.n_rounds)
                return run.history["training_error"][-1] < 0.2

        clf = boost(60).fit(*TRAIN, callbacks=[Mine()])
        assert seen == list(range(1, clf.n_estimators_ + 1))
        assert clf.history_["training_error"][-1] < 0.2 <= clf.history_["training_error"][-2]


LEARNERS = [
    {"base_learner": "stump", "votes": "discrete"},
    {"base_learner": "product:2", "votes": "discrete"},
    {"base_learner": "tree:5/product:2"},
    {"base_learner": "tree:6", "loss": "logistic"},
    {"base_learner": "tree:6", "loss": "exponential", "subsample": 0.4},
    {"base_learner": "product:2/indicator", "nominal_features": [0, 1, 2, 3, 4], "votes": "discrete"},
    {},
]


class TestCheckpoints:
    @pytest.mark.parametrize("parameters", LEARNERS, ids=str)
    def test_resumed_is_uninterrupted(self, parameters, tmp_path):
        """After two crashes the model file has the bytes of an undisturbed run's."""
        data = make_classes(300, 5, 3)
        if "nominal_features" in parameters:
            data = (np.round(data[0]), data[1])
        whole = MultiBoostClassifier(**{"n_estimators": 15, **parameters}).fit(*data)
        whole.save(tmp_path / "whole.mb")
        for crash in (4, 9, None):
            clf = MultiBoostClassifier(**{"n_estimators": 15, **parameters})
            callbacks = [StopAfter(crash)] if crash else []
            run = {"checkpoint": tmp_path / "c.mb", "checkpoint_every": 0, "resume": True, "callbacks": callbacks}
            if crash:
                with pytest.raises(MemoryError, match="crash"):
                    clf.fit(*data, **run)
                assert load_model(tmp_path / "c.mb").n_estimators_ == crash
            else:
                clf.fit(*data, **run)
        clf.save(tmp_path / "again.mb")
        assert (tmp_path / "again.mb").read_bytes() == (tmp_path / "whole.mb").read_bytes()

    def test_early_stopping_remembers(self, tmp_path):
        """The history before the crash counts for the patience."""
        whole = boost(60, learning_rate=1.0).fit(*TRAIN, validation=VALID, callbacks=[EarlyStopping(8)])
        run = {"validation": VALID, "checkpoint": tmp_path / "c.mb", "checkpoint_every": 0, "resume": True}
        with pytest.raises(MemoryError, match="crash"):
            boost(60, learning_rate=1.0).fit(*TRAIN, **run, callbacks=[EarlyStopping(8), StopAfter(5)])
        clf = boost(60, learning_rate=1.0).fit(*TRAIN, **run, callbacks=[EarlyStopping(8)])
        assert clf.ensemble_.digest() == whole.ensemble_.digest()

    def test_a_checkpoint_is_a_model(self, tmp_path):
        clf = boost(6).fit(*TRAIN, checkpoint=tmp_path / "c.mb")
        other = load_model(tmp_path / "c.mb")
        np.testing.assert_array_equal(other.decision_function(VALID[0]), clf.decision_function(VALID[0]))
        assert log_loss(VALID[1], other.predict_proba(VALID[0])) < 2

    def test_more_rounds_than_planned(self, tmp_path):
        """A finished run can be prolonged."""
        boost(6).fit(*TRAIN, checkpoint=tmp_path / "c.mb")
        clf = boost(10).fit(*TRAIN, resume=tmp_path / "c.mb")
        assert clf.ensemble_.digest() == boost(10).fit(*TRAIN).ensemble_.digest()

    @pytest.mark.parametrize("votes", ["real", "discrete"])
    def test_other_threads_go_on(self, votes, tmp_path):
        """Also where very many rounds are wanted: neither is what the run is about."""
        data = make_classes(300, 50, 3)
        given = {"base_learner": "tree:5", "votes": votes, "loss": "exponential"}
        whole = MultiBoostClassifier(n_estimators=6, n_jobs=1, **given).fit(*data)
        for n_jobs, rounds in ((1, 5001), (3, 4), (2, 6)):
            run = {"checkpoint": tmp_path / "c.mb", "checkpoint_every": 0, "resume": True}
            clf = MultiBoostClassifier(n_estimators=rounds, n_jobs=n_jobs, **given)
            if rounds > 6:
                with pytest.raises(MemoryError, match="crash"):
                    clf.fit(*data, **run, callbacks=[StopAfter(2)])
            else:
                clf.fit(*data, **run)
        assert clf.ensemble_.digest() == whole.ensemble_.digest()

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda X, y: (X + (np.arange(len(X)) == 3)[:, None] * (X == 0), y), "other data or with other weights"),
            (lambda X, y: (X, np.where(np.arange(len(y)) == 3, 9 - y, y)), "other data or with other weights"),
            (lambda X, y: (1000 * X, y), "other data or with other weights"),
            (lambda X, y: (X[:, ::-1], y), "other data or with other weights"),
            (lambda X, y: (X[:-1], y[:-1]), "go on with the same table"),
        ],
    )
    def test_other_data_are_refused(self, change, message, tmp_path):
        boost(3).fit(*TRAIN, checkpoint=tmp_path / "c.mb")
        with pytest.raises(ValueError, match=message):
            boost(6).fit(*change(*TRAIN), resume=tmp_path / "c.mb")

    def test_what_is_no_checkpoint(self, tmp_path):
        boost(3).fit(*TRAIN).save(tmp_path / "m.mb")
        with pytest.raises(ModelFileError, match="is a model, not a checkpoint"):
            boost().fit(*TRAIN, resume=tmp_path / "m.mb")
        with pytest.raises(FileNotFoundError):
            boost().fit(*TRAIN, resume=tmp_path / "none.mb")
        with pytest.raises(ValueError, match="name its file"):
            boost().fit(*TRAIN, resume=True)
        (tmp_path / "cut.mb").write_bytes((tmp_path / "m.mb").read_bytes()[:500])
        with pytest.raises(ModelFileError, match="cut short"):
            boost().fit(*TRAIN, resume=tmp_path / "cut.mb")

    def test_fewer_rounds_than_there_are(self, tmp_path):
        boost(5).fit(*TRAIN, checkpoint=tmp_path / "c.mb")
        with pytest.raises(ValueError, match="n_estimators=3 is less than the 5 rounds"):
            boost(3).fit(*TRAIN, resume=tmp_path / "c.mb")

    def test_a_classifier_from_elsewhere_has_no_checkpoint(self, tmp_path):
        from sklearn.naive_bayes import GaussianNB

        clf = MultiBoostClassifier(FromClassifier(GaussianNB()), 3)
        with pytest.raises(ValueError, match="no place in a model file"):
            clf.fit(*TRAIN, checkpoint=tmp_path / "c.mb")
        assert not list(tmp_path.iterdir())


def test_killed_again_and_again(tmp_path):
    """Twenty SIGKILLs at random moments; the model is that of a run in peace, byte for byte."""
    whole = boost(150, n_jobs=1).fit(*TRAIN, validation=VALID)
    whole.save(tmp_path / "whole.mb")
    rng = np.random.default_rng(0)
    kills = 0
    for _ in range(400):
        child = os.fork()
        if child == 0:
            try:
                clf = boost(150, n_jobs=1)
                clf.fit(*TRAIN, validation=VALID, checkpoint=tmp_path / "c.mb", checkpoint_every=0, resume=True)
                clf.save(tmp_path / "end.mb")
            finally:
                os._exit(0)
        time.sleep(rng.uniform(0.01, 0.25))
        done, _ = os.waitpid(child, os.WNOHANG)
        if not done:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            kills += 1
        elif (tmp_path / "end.mb").exists() and kills >= 20:
            break
        elif (tmp_path / "end.mb").exists():
            # Too fast for twenty kills: once more from the beginning.
            (tmp_path / "end.mb").unlink()
            (tmp_path / "c.mb").unlink()
    assert kills >= 20
    assert (tmp_path / "end.mb").read_bytes() == (tmp_path / "whole.mb").read_bytes()
