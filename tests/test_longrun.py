"""Long runs in pieces: whatever the pieces are, the rounds are those of one fit."""

import numpy as np
import pytest
from benchmarks import longrun
from benchmarks.data import Split
from benchmarks.longrun import LongRun, OtherRun

from multiboost import MultiBoostClassifier
from multiboost.estimators.checkpoint import Resumed


@pytest.fixture
def split():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, (900, 5)).astype(float)
    y = ((X[:, 0] > 4) + 2 * (X[:, 1] * X[:, 2] + rng.normal(0, 3, 900) > 16)).astype(int)
    return Split(X[:600], y[:600], X[600:], y[600:])


def assert_is_one_fit(state, split, folder, **parameters):
    """F has the bits of one fit, and errors are those of `staged_predict`."""
    model = MultiBoostClassifier(n_estimators=state.rounds, n_jobs=1, subsample=1.0, **parameters)
    model.fit(split.X, split.y, checkpoint=folder / "whole.mb")
    np.testing.assert_array_equal(state.scores, Resumed(folder / "whole.mb").start(state.scores.shape).scores)
    wrong = [np.sum(predicted != split.y_test) for predicted in model.staged_predict(split.X_test)]
    np.testing.assert_array_equal(state.wrong, wrong)


@pytest.mark.parametrize(
    "parameters",
    [
        {"base_learner": "stump", "votes": "discrete"},
        {"base_learner": "product:2", "votes": "discrete"},
        {"base_learner": "tree:6", "votes": "discrete"},
        {"base_learner": "tree:6", "votes": "real", "loss": "logistic", "learning_rate": 0.3},
    ],
    ids=str,
)
def test_pieces_are_one_run(tmp_path, split, parameters, monkeypatch):
    """Errors of every round are those of `staged_predict` after one fit, through pieces and new processes."""
    monkeypatch.setattr(longrun, "PIECE_ROUNDS", 7)
    parameters = {**parameters, "max_bins": 256}
    assert not LongRun(tmp_path / "run.npz", split, parameters).advance(40, 1, deadline=0.0)
    for rounds in (10, 11, 40):
        run = LongRun(tmp_path / "run.npz", split, parameters)
        assert run.advance(rounds, 1)
        assert run.state.rounds == rounds
    assert_is_one_fit(run.state, split, tmp_path, **parameters)


def test_a_killed_piece_is_done_again(tmp_path, split, monkeypatch):
    """What happens between two files does not matter: the run goes on from the last whole one."""
    parameters = {"base_learner": "stump", "votes": "discrete", "max_bins": 256}
    LongRun(tmp_path / "run.npz", split, parameters).advance(10, 1)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(longrun, "wrong_after", killed)
        with pytest.raises(KeyboardInterrupt):
            LongRun(tmp_path / "run.npz", split, parameters).advance(20, 1)
    run = LongRun(tmp_path / "run.npz", split, parameters)
    assert run.state.rounds == 10
    run.advance(20, 1)
    assert_is_one_fit(run.state, split, tmp_path, **parameters)


def test_another_run_is_refused(tmp_path, split):
    parameters = {"base_learner": "stump", "votes": "discrete", "max_bins": 256}
    LongRun(tmp_path / "run.npz", split, parameters).advance(2, 1)
    with pytest.raises(OtherRun, match="other parameters"):
        LongRun(tmp_path / "run.npz", split, {**parameters, "max_bins": 8})
    with pytest.raises(OtherRun, match="other data"):
        LongRun(tmp_path / "run.npz", split._replace(X=split.X + 1), parameters)


def test_a_run_that_can_go_no_further(tmp_path):
    """Where no base classifier helps, the run is over and says why."""
    X = np.zeros((20, 1))
    y = np.arange(20) % 2
    X[:10] = 1.0  # as many of both classes on both sides
    run = LongRun(
        tmp_path / "run.npz", Split(X, y, X, y), {"base_learner": "stump", "votes": "discrete", "max_bins": 9}
    )
    assert run.advance(5, 1)
    assert run.state.rounds == 0
    assert "edge" in run.state.stopped or "cut" in run.state.stopped
