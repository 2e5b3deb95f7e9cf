"""Lean classifiers: policies, early exit, MDDAG, cascades, features on demand."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import binom
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification

from multiboost import (
    AdaBoostMHClassifier,
    DecisionDagDisplay,
    LeanCurveDisplay,
    MDDAGClassifier,
    ModelFileError,
    MultiBoostClassifier,
    SoftCascadeClassifier,
    TimeLimit,
    ViolaJonesClassifier,
    WaldBoostClassifier,
    detection_curve,
    load_model,
    quality_curve,
    staged_detection_curve,
    write_report,
)
from multiboost.evaluation.detection import LeanRun, selected
from multiboost.files import read_file
from multiboost.kernels.episodes import update_backward
from multiboost.kernels.walk import EVAL, QUIT, SKIP
from multiboost.lean.cascades import Undecided, soft_budget, wald_thresholds
from multiboost.lean.rates import rows_needed, upper_bound
from multiboost.model.policy import cascade_policy
from multiboost.model.rearranged import joined, rounds_of

from .commands import in_process


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]


@pytest.fixture(scope="module")
def of_digits(digits):
    X, y = digits
    return MultiBoostClassifier("tree:8", n_estimators=60, loss="exponential", random_state=0).fit(X[:800], y[:800])


@pytest.fixture(scope="module")
def binary():
    return make_classification(3000, n_informative=6, weights=[0.7], random_state=1)


@pytest.fixture(scope="module")
def stumps(binary):
    X, y = binary
    return AdaBoostMHClassifier("stump", n_estimators=100).fit(X[:1500], y[:1500])


@pytest.fixture(scope="module")
def mddag(binary, stumps):
    X, y = binary
    return MDDAGClassifier(stumps, beta=0.005, n_episodes=100_000, random_state=3).fit(X[:1500], y[:1500])


@pytest.fixture(scope="module", params=["init", "line"])
def other_model(request, binary):
    """A model that starts from another one, and one whose votes are lines."""
    X, y = binary[0][:1500], binary[1][:1500]
    if request.param == "line":
        return AdaBoostMHClassifier("column", n_estimators=40, votes="real").fit(X, y)
    first = MultiBoostClassifier("stump", n_estimators=3, loss="logistic").fit(X, y)
    return MultiBoostClassifier("stump", n_estimators=40, loss="logistic", init=first).fit(X, y)


def undecided(stages) -> Undecided:
    """Rows of which the scores after each base classifier are given, (rounds, n)."""
    rows = np.array(stages).T

    def add(rows, scores, t):
        scores[:, 0] = rows[:, t]

    return Undecided(rows, np.zeros((len(rows), 1)), add)


class TestRates:
    @pytest.mark.parametrize(("count", "n"), [(0, 50), (3, 200), (17, 40)])
    def test_the_bound_is_where_the_binomial_says_so(self, count, n):
        p = upper_bound(count, n, 0.95)
        assert binom.cdf(count, n, p) == pytest.approx(0.05, abs=1e-9)

    def test_all_and_none(self):
        assert upper_bound(5, 5, 0.95) == 1.0
        n = rows_needed(0.001, 0.95)
        assert upper_bound(0, n, 0.95) <= 0.001 < upper_bound(0, n - 1, 0.95)


class TestEarlyExit:
    def test_rows_leave_after_the_first_exit_with_a_large_margin(self, digits, of_digits):
        """By NumPy from the staged scores: where, with which scores, and the bits of all ways to predict."""
        X = digits[0]
        lean = of_digits.early_exit(X[800:1300], max_disagreement=0.02)
        policy, rest = lean.model_.policy, X[1300:]
        stages = np.array(list(of_digits.staged_decision_function(rest)))
        ordered = np.sort(stages, axis=2)
        margin = ordered[:, :, -1] - ordered[:, :, -2]
        may = np.zeros(60, bool)
        may[policy.exits - 1] = True
        leaves = (margin > policy.about["margin"]) & may[:, None]
        leaves[-1] = True
        at = leaves.argmax(axis=0)
        assert np.array_equal(lean.n_evaluated(rest), at + 1)
        wanted = stages[at, np.arange(len(rest))]
        assert np.array_equal(lean.decision_function(rest), wanted)
        assert np.array_equal(lean.decision_function(np.tile(rest, (9, 1)))[-len(rest) :], wanted)
        one = lean.compiled()
        assert all(np.array_equal(one.scores(x), f) for x, f in zip(rest, wanted, strict=True))
        assert np.array_equal(lean.paths(rest).sum(axis=1), at + 1)
        assert 1 < lean.n_evaluated(rest).mean() < 40

    @pytest.mark.parametrize("learner", ["product:2", "tree:5"])
    def test_nominal_missing_products_and_labels(self, learner):
        """Ways to predict agree where rows have missing values and categories, and labels stand alone."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1500, 5))
        X[:, 4] = rng.integers(0, 6, len(X))
        X[rng.random(X.shape) < 0.05] = np.nan
        Y = np.stack([np.nan_to_num(X[:, 0]) + (X[:, 4] > 2) > 0.5, np.nan_to_num(X[:, 1]) > 0], axis=1).astype(int)
        clf = MultiBoostClassifier(learner, n_estimators=30, nominal_features=[4]).fit(X[:500], Y[:500])
        lean = clf.early_exit(X[500:1000], max_disagreement=0.05)
        rest = X[1000:]
        slow = lean._walked(rest, paths=True)
        assert np.array_equal(lean.decision_function(rest), slow.scores)
        assert np.array_equal(lean.n_evaluated(rest), slow.n_evaluated)
        assert slow.n_evaluated.mean() < 29
        place = {float(name): k for k, name in enumerate(lean.categories_[4])}
        rest[:, 4] = [place.get(value, np.nan) for value in rest[:, 4]]
        one = lean.compiled()
        assert all(np.array_equal(one.scores(x), f) for x, f in zip(rest[:100], slow.scores, strict=False))

    def test_threads_leave_no_trace(self, digits, of_digits):
        X = np.tile(digits[0], (4, 1))
        lean = of_digits.early_exit(digits[0][800:1300], max_disagreement=0.02)
        one, two = (clone(lean).set_params(n_jobs=n) for n in (1, 3))
        for other in (one, two):
            other._become(lean.model_, lean.plan_)
        assert np.array_equal(one.decision_function(X), two.decision_function(X))
        assert np.array_equal(one.n_evaluated(X), two.n_evaluated(X))

    def test_the_promise_holds(self):
        """A model whose disagreement is known, as all rows are: in 95 of 100 resamplings it must be kept."""
        X, y = make_classification(15_000, n_informative=4, flip_y=0.05, random_state=0)
        clf = AdaBoostMHClassifier("stump", n_estimators=60).fit(X[:1000], y[:1000])
        everyone, answers = X[1000:], clf.predict(X[1000:])
        rng = np.random.default_rng(1)
        kept = 0
        for _ in range(100):
            rows = rng.choice(len(everyone), 1500, replace=False)
            lean = clf.early_exit(everyone[rows], max_disagreement=0.01)
            disagreement = np.mean(lean.predict(everyone) != answers)
            kept += disagreement <= 0.01
            assert disagreement > 0.001, "it does nothing"
        assert kept >= 95

    def test_what_cannot_be_promised(self, of_digits, digits):
        with pytest.raises(ValueError, match="at least 2995 rows"):
            of_digits.early_exit(digits[0][800:])
        with pytest.raises(ValueError, match="max_disagreement"):
            of_digits.early_exit(digits[0], max_disagreement=0)
        with pytest.raises(ValueError, match="confidence"):
            of_digits.early_exit(digits[0], confidence=1.0)

    def test_a_lean_classifier_goes_on_as_the_whole_one(self, digits):
        """A warm start goes on from all rounds, not from what rows have needed."""
        X, y = digits
        clf = MultiBoostClassifier("tree:8", n_estimators=10, loss="exponential", warm_start=True).fit(X[:500], y[:500])
        lean = clf.early_exit(X[500:], max_disagreement=0.1)
        assert lean.n_evaluated(X).mean() < 10
        for each in (clf, lean):
            each.set_params(n_estimators=15).fit(X[:500], y[:500])
        assert lean.model_.policy is None
        assert lean.ensemble_.digest() == clf.ensemble_.digest()


class TestFiles:
    def test_the_same_after_loading(self, digits, of_digits, tmp_path):
        X = digits[0]
        lean = of_digits.early_exit(X[800:1300], max_disagreement=0.02)
        lean.save(tmp_path / "lean.mb")
        again = load_model(tmp_path / "lean.mb")
        assert np.array_equal(again.decision_function(X), lean.decision_function(X))
        assert again.model_.policy.about == lean.model_.policy.about
        again.save(tmp_path / "again.mb")
        assert (tmp_path / "lean.mb").read_bytes() == (tmp_path / "again.mb").read_bytes()

    def test_exporters_that_know_no_policies_refuse_them(self, mddag, tmp_path):
        from multiboost import export_model

        with pytest.raises(ValueError, match="the model has a policy"):
            export_model(mddag, tmp_path / "lean.py", "python")

    def test_plain_models_are_written_as_before(self, of_digits, tmp_path):
        import zipfile

        of_digits.save(tmp_path / "a.mb")
        header = json.loads(zipfile.ZipFile(tmp_path / "a.mb").read("header.json"))
        assert header["schema"] == 2
        assert "policy" not in header

    @pytest.mark.parametrize("how", ["cuts", "actions", "end", "state"])
    def test_a_policy_that_does_not_fit_is_refused(self, stumps, mddag, tmp_path, how):
        policy = mddag.model_.policy
        wrong = {
            "cuts": replace(policy, cuts=policy.cuts[:, ::-1].copy()),
            "actions": replace(policy, actions=policy.actions[:-1]),
            "end": replace(policy, actions=np.zeros_like(policy.actions)),
            "state": replace(policy, state="leaders"),
        }[how]
        broken = clone(stumps)
        broken._become(replace(stumps.model_, policy=wrong), stumps.plan_)
        broken.save(tmp_path / "wrong.mb")
        with pytest.raises(ModelFileError, match="do not fit together"):
            load_model(tmp_path / "wrong.mb")

    def test_mddag_and_its_estimator(self, binary, mddag, tmp_path):
        mddag.save(tmp_path / "m.mb")
        again = load_model(tmp_path / "m.mb")
        assert isinstance(again, MDDAGClassifier)
        assert again.get_params()["estimator__base_learner"] == "stump"
        assert np.array_equal(again.decision_function(binary[0]), mddag.decision_function(binary[0]))
        assert np.array_equal(again.progress_["best"], mddag.progress_["best"])


LEARNERS = ["sarsa", "q-learning", "policy-iteration"]


def textbook(q, cells, actions, rewards, length, trace, rate, off_policy):
    """SARSA(lambda) or Watkins' Q(lambda) with replacing traces, step by step."""
    e = np.zeros_like(q)
    for t in range(length):
        s, a = (t, cells[t]), actions[t]
        follows = 0.0
        if t + 1 < length:
            after = q[t + 1, cells[t + 1]]
            follows = after.max() if off_policy else after[actions[t + 1]]
        delta = rewards[t] + follows - q[s][a]
        e[s][a] = 1.0
        q += rate * delta * e
        e *= trace
        if off_policy and t + 1 < length and q[t + 1, cells[t + 1]][actions[t + 1]] < q[t + 1, cells[t + 1]].max():
            e[:] = 0.0


class TestLearning:
    @pytest.mark.parametrize("off_policy", [False, True])
    @pytest.mark.parametrize("trace", [0.0, 0.5, 0.95, 1.0])
    def test_the_backward_pass_is_the_textbook(self, off_policy, trace):
        rng = np.random.default_rng(0)
        for _ in range(30):
            n, length = 12, int(rng.integers(1, 13))
            q = rng.normal(size=(n, 5, 3))
            cells, actions = rng.integers(0, 5, n), rng.integers(0, 3, n)
            rewards, expected = rng.normal(size=n), q.copy()
            textbook(expected, cells, actions, rewards, length, trace, 0.2, off_policy)
            update_backward(q, cells, actions, rewards, length, trace, 0.2, off_policy, np.ones(3, bool))
            assert np.abs(q - expected).max() < 1e-12

    @pytest.mark.parametrize("learner", LEARNERS)
    def test_free_evaluations_keep_the_training_accuracy(self, binary, stumps, digits, of_digits, learner):
        """Of two and of ten classes."""
        for (X, y), full, n in ((binary, stumps, 1500), (digits, of_digits, 800)):
            X, y = X[:n], y[:n]
            lean = MDDAGClassifier(full, beta=0.0, learner=learner, n_episodes=20_000).fit(X, y)
            assert lean.score(X, y) >= full.score(X, y)

    @pytest.mark.parametrize("beta", [1.01, 1.5])
    @pytest.mark.parametrize("learner", LEARNERS)
    def test_what_costs_more_than_it_earns_is_left(self, binary, stumps, learner, beta):
        X, y = binary[0][:1500], binary[1][:1500]
        lean = MDDAGClassifier(stumps, beta=beta, learner=learner, n_episodes=30_000).fit(X, y)
        assert (lean.n_evaluated(X) == 0).all()
        assert (lean._walked(X, paths=True).paths[:, 0] == QUIT).all()

    @pytest.mark.parametrize("learner", LEARNERS)
    @pytest.mark.parametrize("reward", ["indicator", "logistic"])
    def test_the_objective_is_what_numpy_says(self, binary, stumps, learner, reward):
        """Mean reward minus beta times evaluations, (3.63); and it beats both extremes."""
        X, y = binary[0][:1500], binary[1][:1500]
        lean = MDDAGClassifier(
            stumps, beta=0.005, reward=reward, learner=learner, n_episodes=60_000, random_state=0
        ).fit(X, y)

        def objective(scores, n):
            rho = scores * (2 * y - 1)
            earned = (rho > 0) if reward == "indicator" else 1 - np.log2(1 + np.exp(-rho))
            return np.mean(np.where(n > 0, earned, 0.0) - 0.005 * n)

        found = objective(lean.decision_function(X), lean.n_evaluated(X))
        assert found == pytest.approx(lean.model_.policy.about["objective"], abs=1e-12)
        assert found > max(0.0, objective(stumps.decision_function(X), np.full(len(X), 100)))
        stages = list(stumps.staged_decision_function(X))
        assert found > objective(stages[0], np.ones(len(X))) - 1e-12

    def test_the_same_seed_and_any_number_of_threads(self, binary, stumps):
        X, y = binary[0][:1500], binary[1][:1500]
        made = [
            MDDAGClassifier(stumps, n_episodes=30_000, random_state=5, n_jobs=n).fit(X, y).model_.digest()
            for n in (1, 3)
        ]
        other = MDDAGClassifier(stumps, n_episodes=30_000, random_state=6).fit(X, y).model_.digest()
        assert made[0] == made[1] != other

    @pytest.mark.parametrize("learner", ["sarsa", "q-learning", "policy-iteration"])
    def test_a_warm_start_goes_on_bit_for_bit(self, binary, stumps, tmp_path, learner):
        X, y = binary[0][:1500], binary[1][:1500]
        settings = {"learner": learner, "block": 2000, "random_state": 1}
        whole = MDDAGClassifier(stumps, n_episodes=8000, **settings).fit(X, y)
        part = MDDAGClassifier(stumps, n_episodes=4000, **settings).fit(X, y)
        part.save(tmp_path / "part.mb")
        part = load_model(tmp_path / "part.mb").set_params(estimator=stumps, warm_start=True, n_episodes=8000)
        part.fit(X, y)
        assert len(part.progress_["best"]) == 4
        assert part.model_.state.keys() == whole.model_.state.keys()
        assert all(np.array_equal(part.model_.state[name], array) for name, array in whole.model_.state.items())
        assert part.model_.policy.digest() == whole.model_.policy.digest()
        assert np.array_equal(part.progress_["best"], whole.progress_["best"])

    def test_callbacks_see_blocks(self, binary, stumps, capsys):
        X, y = binary[0][:1500], binary[1][:1500]
        lean = MDDAGClassifier(stumps, n_episodes=10**9, verbose=2).fit(X, y, callbacks=[TimeLimit(1e-6)])
        assert len(lean.progress_["objective"]) == 1
        assert "episode 10000 of 1000000000" in capsys.readouterr().err

    @pytest.mark.parametrize("state", ["labels", "leaders"])
    def test_several_classes(self, digits, state):
        X, y = digits
        few = y < (3 if state == "labels" else 6)
        X, y = X[few], y[few]
        clf = MultiBoostClassifier("stump", n_estimators=40, loss="exponential").fit(X, y)
        lean = MDDAGClassifier(clf, beta=0.004, n_episodes=200_000, n_cells=9 if state == "labels" else 31).fit(X, y)
        assert lean.model_.policy.state == state
        n = lean.n_evaluated(X)
        assert n.mean() < 30
        assert lean.score(X, y) - 0.004 * n.mean() > clf.score(X, y) - 0.004 * 40

    def test_costs_of_columns_are_paid_once(self, binary):
        """A column that costs much is avoided, and what is paid is what NumPy counts along the paths."""
        X, y = binary[0][:1500], binary[1][:1500]
        clf = AdaBoostMHClassifier("stump", n_estimators=60).fit(X, y)
        dear = int(clf.ensemble_.uses(20).argmax())
        cheap = MDDAGClassifier(clf, costs=dict.fromkeys(range(20), 1.0), beta=0.01, n_episodes=60_000).fit(X, y)
        costs = {**dict.fromkeys(range(20), 1.0), dear: 1000.0}
        lean = MDDAGClassifier(clf, costs=costs, beta=0.01, n_episodes=60_000).fit(X, y)
        rounds = clf.ensemble_.feature  # a stump has one test

        def uses(m):
            return (m.paths(X)[:, rounds == dear]).any(axis=1).mean()

        assert uses(lean) < 0.02
        paid = np.array([len(np.unique(rounds[path])) for path in cheap.paths(X)])
        right = (cheap.decision_function(X) * (2 * y - 1) > 0) & (cheap.n_evaluated(X) > 0)
        assert cheap.model_.policy.about["objective"] == pytest.approx(np.mean(right - 0.01 * paid), abs=1e-12)

    def test_costs_of_base_classifiers_and_classes(self, binary, stumps):
        X, y = binary[0][:1500], binary[1][:1500]
        costs = np.ones(100)
        costs[0] = 500.0
        lean = MDDAGClassifier(stumps, costs=costs, n_episodes=30_000).fit(X, y)
        assert not lean.paths(X)[:, 0].any()
        plain, careful = (
            MDDAGClassifier(stumps, beta=0.01, class_weight=w, n_episodes=60_000).fit(X, y) for w in (None, {1: 5.0})
        )
        assert careful.predict(X)[y == 1].mean() > plain.predict(X)[y == 1].mean()

    def test_without_skip_rows_see_the_first_ones(self, binary, stumps):
        X, y = binary[0][:1500], binary[1][:1500]
        lean = MDDAGClassifier(stumps, actions=("EVAL", "QUIT"), n_episodes=30_000).fit(X, y)
        paths, n = lean.paths(X), lean.n_evaluated(X)
        assert np.array_equal(paths, np.arange(100) < n[:, None])

    def test_a_reward_of_your_own(self, binary, stumps):
        X, y = binary[0][:1500], binary[1][:1500]
        lean = MDDAGClassifier(stumps, reward=lambda rho: 1.0 if rho > 0.5 else 0.0, n_episodes=30_000).fit(X, y)
        rho = lean.decision_function(X) * (2 * y - 1)
        earned = np.mean((rho > 0.5) - 0.01 * lean.n_evaluated(X))
        assert lean.model_.policy.about["objective"] == pytest.approx(earned, abs=1e-12)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"reward": "margin"}, "reward must be one of 'indicator'"),
            ({"reward": lambda rho: str(rho)}, "numba cannot compile"),
            ({"beta": -1}, "beta must be a number of at least 0"),
            ({"actions": ("SKIP", "QUIT")}, "actions must be EVAL"),
            ({"learner": "dyna"}, "learner must be one of"),
            ({"costs": [1.0, 2.0]}, "each of the 100 base classifiers"),
            ({"costs": {77: 1.0}}, "there is no column 77"),
            ({"estimator": MultiBoostClassifier}, "estimator must be a classifier"),
        ],
    )
    def test_bad_parameters(self, binary, stumps, parameters, message):
        X, y = binary
        with pytest.raises(ValueError, match=message):
            MDDAGClassifier(**{"estimator": stumps, "n_episodes": 100, **parameters}).fit(X, y)

    def test_multi_label_targets_are_refused(self, binary):
        X, y = binary
        clf = MultiBoostClassifier("stump", n_estimators=3).fit(X, np.stack([y, 1 - y], axis=1))
        with pytest.raises(ValueError, match="takes binary and multiclass targets"):
            MDDAGClassifier(clf).fit(X, y)

    def test_an_estimator_that_is_not_fitted_is_fitted(self, binary):
        X, y = binary
        template = AdaBoostMHClassifier("stump", n_estimators=20)
        lean = MDDAGClassifier(template, n_episodes=10_000).fit(X[:500], y[:500])
        assert not hasattr(template, "model_")
        assert lean.n_estimators_ == 20

    @pytest.mark.slow
    def test_a_million_episodes_of_a_thousand_base_classifiers_in_a_minute(self):
        from time import process_time

        rng = np.random.default_rng(0)
        X = rng.normal(size=(2000, 20))
        y = (X[:, :5].sum(axis=1) + rng.normal(size=2000) > 0).astype(int)
        clf = AdaBoostMHClassifier("stump", n_estimators=1000).fit(X, y)
        MDDAGClassifier(clf, n_episodes=10).fit(X, y)  # compiles
        begin = process_time()
        MDDAGClassifier(clf, beta=0.0, actions=("EVAL", "SKIP"), n_jobs=1).fit(X, y)  # all episodes have all steps
        assert process_time() - begin < 60


class TestSkipped:
    def test_what_is_skipped_is_not_evaluated(self, binary, mddag):
        """Votes of one base classifier become NaN: only rows whose path has it notice."""
        X = binary[0]
        paths, scores = mddag.paths(X), mddag.decision_function(X)
        used = paths.mean(axis=0)
        tried = 0
        for t in np.flatnonzero((used > 0.01) & (used < 0.99))[:5]:
            e = mddag.ensemble_
            values = e.values.copy()
            values[2 * t : 2 * t + 2] = np.nan  # the two leaves of a stump
            poisoned = clone(mddag)
            poisoned._become(replace(mddag.model_, ensemble=replace(e, values=values)), mddag.plan_)
            found = poisoned.decision_function(X)
            assert np.isnan(found[paths[:, t]]).all()
            assert np.array_equal(found[~paths[:, t]], scores[~paths[:, t]])
            tried += 1
        assert tried

    def test_what_comes_after_the_end_is_not_evaluated(self, binary, stumps):
        """The same of exits and cascades: from some base classifier on all votes are NaN."""
        X, y = binary
        for lean in (
            stumps.early_exit(X[1500:], max_disagreement=0.05),
            SoftCascadeClassifier(stumps, target_tpr=0.9).fit(X[:1500], y[:1500]),
            WaldBoostClassifier(stumps, false_negative=0.1).fit(X[:1500], y[:1500]),
            ViolaJonesClassifier(n_stages=3, stage_tpr=0.95).fit(X[:1500], y[:1500]),
        ):
            e, n, scores = lean.ensemble_, lean.n_evaluated(X), lean.decision_function(X)
            t = int(np.median(n))
            values = e.values.copy()
            values[-1 - e.child[e.root[t:]]] = np.nan
            poisoned = clone(lean)
            poisoned._become(replace(lean.model_, ensemble=replace(e, values=values)), lean.plan_)
            found = poisoned.decision_function(X)
            assert np.array_equal(found[n <= t], scores[n <= t])
            assert np.isnan(found[n > t]).all()
            assert 0 < (n <= t).sum() < len(X)

    def test_features_are_computed_when_needed_and_once(self, binary, mddag):
        X = binary[0][:200]
        calls = np.zeros((200, 20), int)

        def feature(j):
            def value(i):
                calls[i, j] += 1
                return X[i, j]

            return value

        found = mddag.predict_lazy(range(200), {j: feature(j) for j in range(20)})
        assert np.array_equal(found.answers, mddag.predict(X))
        assert np.array_equal(found.scores[:, 0], mddag.decision_function(X))
        assert np.array_equal(found.n_evaluated, mddag.n_evaluated(X))
        needed = np.zeros((200, 20), int)
        for i, path in enumerate(mddag.paths(X)):
            needed[i, mddag.ensemble_.feature[path]] = 1  # a stump has one test
        assert np.array_equal(calls, needed)
        assert found.calls == dict(enumerate(needed.sum(axis=0).tolist()))
        assert needed.mean() < 0.5

    def test_lazily_with_names_categories_and_trees(self):
        pd = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400), "c": rng.choice(list("xyz"), 400)})
        frame.loc[::7, "a"] = np.nan
        y = ((frame["c"] == "x") ^ (frame["b"] > 0)).astype(int)
        clf = MultiBoostClassifier("tree:4", n_estimators=8).fit(frame, y)
        rows = frame.to_dict("records")
        features = {name: (lambda row, name=name: row[name]) for name in "abc"}
        found = clf.predict_lazy(rows, features)
        assert np.array_equal(found.scores[:, 0], clf.decision_function(frame))
        assert found.calls["c"] <= 400
        with pytest.raises(ValueError, match="no column 'd'"):
            clf.predict_lazy(rows, {**features, "d": len})
        with pytest.raises(ValueError, match=r"needs column '[abc]'"):
            clf.predict_lazy(rows, {})
        with pytest.raises(ValueError, match="not a number"):
            clf.predict_lazy(rows, {**features, "b": lambda row: "much"})
        with pytest.raises(ValueError, match="is infinite"):
            clf.predict_lazy(rows, {**features, "b": lambda row: np.inf})


class TestDag:
    def test_rows_are_neither_lost_nor_found(self, binary, mddag, tmp_path):
        X, y = binary[0][1500:], binary[1][1500:]
        dag = mddag.dag(X, y)
        assert dag.count[dag.round < 0].sum() == len(X)
        evaluated = np.bincount(dag.round[dag.round >= 0], dag.count[dag.round >= 0], minlength=100)
        assert np.array_equal(evaluated, mddag.paths(X).sum(axis=0))
        into = np.bincount(dag.target, dag.passed, minlength=dag.n_nodes)
        out = np.bincount(dag.source, dag.passed, minlength=dag.n_nodes)
        assert np.array_equal(out[dag.round >= 0], dag.count[dag.round >= 0])
        assert (into <= dag.count).all()
        assert np.allclose(dag.share.sum(axis=1), 1.0)
        assert np.allclose((dag.share * dag.count[:, None])[dag.round < 0].sum(axis=0), np.bincount(y))
        later = np.where(dag.round < 0, 1000, dag.round)
        assert (later[dag.source] < later[dag.target]).all(), "it has no cycle"
        assert json.loads(json.dumps(dag.to_dict()))["groups"] == [0, 1]

    def test_groups_of_paths(self, binary, mddag):
        paths, number = mddag.path_groups(binary[0])
        assert np.array_equal(paths[number], mddag.paths(binary[0]))
        assert (np.diff(np.bincount(number)) <= 0).all()

    def test_pictures(self, binary, mddag, stumps):
        pytest.importorskip("matplotlib").use("Agg")
        X, y = binary
        shown = DecisionDagDisplay.from_estimator(mddag, X, y)
        assert len(shown.nodes_.get_offsets()) == shown.dag.n_nodes
        curves = {
            "AdaBoost": staged_detection_curve(stumps, X[1500:], y[1500:], fpr=0.1, rounds=20),
            "MDDAG": detection_curve([mddag], X[:1500], y[:1500], X[1500:], y[1500:], fpr=0.1),
        }
        assert set(LeanCurveDisplay(curves).plot().lines_) == set(curves)


class TestCascades:
    def test_thresholds_at_minus_infinity_are_the_ensemble(self, binary, stumps):
        X = binary[0]
        clf = clone(stumps)
        policy = cascade_policy(np.full(100, -np.inf), None, None, {})
        clf._become(replace(stumps.model_, policy=policy), stumps.plan_)
        assert np.array_equal(clf.decision_function(X), stumps.decision_function(X))
        assert (clf.n_evaluated(X) == 100).all()

    @pytest.mark.parametrize("alpha", [-4.0, 0.0, 4.0])
    def test_the_budget_is_a_rate(self, alpha):
        """Spent in steps of exp(alpha j / N), up to what may be lost."""
        budget = soft_budget(50, alpha, 0.97)
        assert budget[-1] == pytest.approx(0.03)
        steps = np.diff(budget, prepend=0.0)
        assert (steps > 0).all()
        assert np.log(steps[1:] / steps[:-1]) == pytest.approx(alpha / 50)

    @pytest.mark.parametrize("alpha", [-4.0, 0.0, 4.0])
    @pytest.mark.parametrize("reorder", [False, True])
    def test_soft_cascade(self, binary, stumps, alpha, reorder):
        """The rate holds on its own set, after every base classifier; walked by NumPy."""
        X, y = binary[0][:1500], binary[1][:1500]
        cascade = SoftCascadeClassifier(stumps, alpha=alpha, target_tpr=0.95, n_rounds=60, reorder=reorder).fit(X, y)
        stages = np.array(list(cascade.staged_decision_function(X)))
        alive = np.cumprod(stages >= cascade.thresholds_[:, None], axis=0).astype(bool)
        budget = soft_budget(60, alpha, 0.95)
        assert ((~alive[:, y == 1]).mean(axis=1) <= budget + 1e-12).all()
        assert np.array_equal(cascade.predict(X), alive[-1].astype(int))
        expected = 1 + np.concatenate([alive[:-1], np.zeros((1, len(X)), bool)]).sum(axis=0)
        assert np.array_equal(cascade.n_evaluated(X), np.minimum(expected, 60))
        assert cascade.n_evaluated(X[y == 0]).mean() < 55

    def test_reordered_rounds_are_the_same_sum(self, binary, stumps):
        X = binary[0]
        order = np.random.default_rng(0).permutation(100)
        mixed = clone(stumps)
        mixed._become(replace(stumps.model_, ensemble=rounds_of(stumps.ensemble_, order)), stumps.plan_)
        assert mixed.decision_function(X) == pytest.approx(stumps.decision_function(X), abs=1e-10)
        votes = np.diff(list(stumps.staged_decision_function(X[:50])), axis=0, prepend=0)
        found = np.diff(list(mixed.staged_decision_function(X[:50])), axis=0, prepend=0)
        assert found == pytest.approx(votes[order], abs=1e-10)

    def test_joined_rounds(self, digits):
        X, y = digits
        parts = [MultiBoostClassifier(b, n_estimators=5, loss="exponential").fit(X, y) for b in ("tree:4", "product:2")]
        both = clone(parts[0])
        both._become(replace(parts[0].model_, ensemble=joined([p.ensemble_ for p in parts])), parts[0].plan_)
        total = sum(p.decision_function(X) for p in parts)
        assert both.decision_function(X) == pytest.approx(total, abs=1e-12)

    @pytest.mark.parametrize("false_positive", [0.0, 0.05])
    def test_wald(self, binary, stumps, false_positive):
        """Rates of rejection and acceptance hold on the set that they were made on."""
        X, y = binary[0][:1500], binary[1][:1500]
        cascade = WaldBoostClassifier(stumps, false_negative=0.05, false_positive=false_positive).fit(X, y)
        left_early = cascade.n_evaluated(X) < 100
        says = cascade.predict(X)
        rejected, accepted = left_early & (says == 0), left_early & (says == 1)
        assert rejected[y == 1].mean() <= 0.05 / (1 - false_positive)
        assert accepted[y == 0].mean() <= false_positive / 0.95
        assert rejected[y == 0].mean() > 0.2
        assert accepted.any() == (false_positive > 0)

    @pytest.mark.parametrize("false_positive", [0.0, 0.05])
    def test_wald_with_new_negatives(self, false_positive):
        """Scores that wander: brute force with a weight for each negative, that of all those it stands for."""
        rng = np.random.default_rng(1)
        f = np.cumsum(rng.normal(0.5, 1, (14, 300)), axis=0)
        g, more = (np.cumsum(rng.normal(-0.5, 1, (14, n)), axis=0) for n in (200, 900))
        came = []

        def refill(pool, reject, accept):
            t = len(reject)
            if len(pool.rows) < 120 and len(came) < 3:
                new = more[:, 300 * len(came) : 300 * len(came) + 300]
                inside = ((new[:t] >= reject[:, None]) & (new[:t] <= accept[:, None])).all(axis=0)
                came.append((t, new[:, inside]))
                pool.join(new[:, inside].T, new[t - 1, inside][:, None])

        reject, accept = wald_thresholds(undecided(f), undecided(g), 14, 0.1, false_positive, refill)
        assert len(came) >= 2
        here, weight, alive, lost = g, np.full(200, 1 / 200), np.ones(300, bool), 0.0
        ratio = 0.1 / (1 - false_positive)
        for t in range(14):
            for _, new in [c for c in came if c[0] == t]:
                weight = np.full(here.shape[1] + new.shape[1], weight.sum() / (here.shape[1] + new.shape[1]))
                here = np.concatenate([here, new], axis=1)
            scores = f[t][alive]
            good = [
                c
                for c in scores
                if weight[here[t] < c].sum() > 0
                and (scores < c).sum() / 300 <= ratio * weight[here[t] < c].sum() + 1e-12
            ]
            assert reject[t] == max(good, default=-np.inf)
            stay = (here[t] >= reject[t]) & (here[t] <= accept[t])
            here, weight = here[:, stay], weight[stay]
            lost += (alive & (f[t] < reject[t])).mean()
            alive &= (f[t] >= reject[t]) & (f[t] <= accept[t])
        assert lost <= ratio

    def test_wald_from_a_generator(self, binary, stumps):
        """More negatives move late thresholds only, and the rate of lost positives still holds."""
        X, y = binary[0][:1500], binary[1][:1500]
        more = make_classification(3000, n_informative=6, weights=[0.7], random_state=1)
        batches = np.array_split(more[0][1500:][more[1][1500:] == 0], 5)
        plain = WaldBoostClassifier(stumps, false_negative=0.1).fit(X, y)
        fed = WaldBoostClassifier(stumps, false_negative=0.1).fit(X, y, negatives=iter(batches))
        same = plain.model_.policy.cuts == fed.model_.policy.cuts
        assert same[:5].all()
        assert not same.all()
        lost = (fed.n_evaluated(X) < 100) & (fed.predict(X) == 0)
        assert lost[y == 1].mean() <= 0.1

    def test_wald_against_brute_force(self):
        rng = np.random.default_rng(0)
        f, g = rng.normal(1, 1, 300), rng.normal(-1, 1, 400)
        reject, _ = wald_thresholds(undecided([f]), undecided([g]), 1, 0.05, 0.0)
        good = [c for c in f if (g < c).any() and (f < c).mean() <= 0.05 * (g < c).mean()]
        assert reject[0] == max(good)

    def test_viola_jones(self):
        X, y = make_classification(3000, n_informative=6, weights=[0.7], class_sep=2.0, random_state=1)
        more = np.random.default_rng(0).normal(size=(5, 300, 20))
        cascade = ViolaJonesClassifier(n_stages=4, stage_tpr=0.98, stage_fpr=0.6).fit(
            X[:1500], y[:1500], validation=(X[1500:], y[1500:]), negatives=more
        )
        assert 1 <= len(cascade.stages_) <= 4
        assert all(cascade.model_.policy.about["reached"])
        says = cascade.predict(X[1500:])
        m = len(cascade.stages_)
        assert says[y[1500:] == 1].mean() >= 0.98**m
        assert says[y[1500:] == 0].mean() < 0.6**m
        n = cascade.n_evaluated(X)
        ends = np.cumsum(cascade.stages_)
        for k, end in enumerate(ends[:-1], start=1):  # and stage by stage: who needs more than this one has passed it
            passed = n[1500:] > end
            assert passed[y[1500:] == 1].mean() >= 0.98**k
            assert passed[y[1500:] == 0].mean() < 0.6**k
        assert set(n) <= set(ends.tolist())
        assert (n[cascade.predict(X) == 1] == ends[-1]).all(), "only the last stage accepts"

    def test_viola_jones_in_numpy(self, binary, tmp_path):
        """Stage by stage with scores that begin anew; and from a file."""
        X, y = binary[0][:1000], binary[1][:1000]
        cascade = ViolaJonesClassifier(n_stages=3).fit(X, y)
        e, ends = cascade.ensemble_, np.cumsum(cascade.stages_)
        votes = np.diff(list(cascade.staged_decision_function(X)), axis=0, prepend=0)
        alive = np.ones(len(X), bool)
        for a, b in zip([0, *ends[:-1]], ends, strict=True):
            threshold = np.nextafter(cascade.model_.policy.cuts[b, 0], np.inf)
            alive &= votes[a:b].sum(axis=0) >= threshold - 1e-9
        assert e.n_rounds == ends[-1]
        assert np.array_equal(cascade.predict(X), alive.astype(int))
        cascade.save(tmp_path / "vj.mb")
        assert np.array_equal(load_model(tmp_path / "vj.mb").decision_function(X), cascade.decision_function(X))

    def test_one_row_at_a_time(self, binary, stumps):
        X, y = binary[0][:1500], binary[1][:1500]
        for cascade in (SoftCascadeClassifier(stumps), WaldBoostClassifier(stumps), ViolaJonesClassifier(n_stages=2)):
            one = cascade.fit(X, y).compiled()
            scores = cascade.decision_function(X[:50])
            assert np.array_equal([one.scores(x)[0] for x in X[:50]], scores)

    def test_threshold_for_a_rate(self, binary, stumps):
        X, y = binary
        cascade = SoftCascadeClassifier(stumps).fit(X[:1500], y[:1500])
        at = cascade.threshold_for(X[1500:], y[1500:], fpr=0.05)
        negative = cascade.decision_function(X[1500:])[y[1500:] == 0]
        assert (negative > at).mean() <= 0.05 < (negative >= at).mean()
        sure = cascade.threshold_for(X[1500:], y[1500:], fpr=0.05, confidence=0.95)
        count = int((negative > sure).sum())
        assert upper_bound(count, len(negative), 0.95) <= 0.05 < upper_bound(count + 1, len(negative), 0.95)
        with pytest.raises(ValueError, match="cannot promise"):
            cascade.threshold_for(X[:20], fpr=0.001, confidence=0.95)


class TestOtherModels:
    """Models that start from another one, and models whose votes are lines."""

    def test_early_exit_by_numpy(self, binary, other_model, tmp_path):
        """Where rows leave, with which scores, and the bits of all ways to predict."""
        model = other_model
        X = binary[0]
        lean = model.early_exit(X[1500:2500], max_disagreement=0.01)
        policy, rest = lean.model_.policy, X[2500:]
        stages = np.array(list(model.staged_decision_function(rest)))
        leaves = np.zeros(stages.shape, bool)
        leaves[policy.exits - 1] = (np.abs(stages) > policy.about["margin"])[policy.exits - 1]
        leaves[-1] = True
        at = leaves.argmax(axis=0)
        assert np.array_equal(lean.n_evaluated(rest), at + 1)
        assert 1 < at.mean() < 30
        wanted = stages[at, np.arange(len(rest))]
        assert np.array_equal(lean.decision_function(rest), wanted)
        one = lean.compiled()
        assert all(one.scores(x)[0] == f for x, f in zip(rest[:100], wanted, strict=False))
        lean.save(tmp_path / "lean.mb")
        assert np.array_equal(load_model(tmp_path / "lean.mb").decision_function(rest), wanted)

    def test_mddag(self, binary, other_model):
        """The objective by NumPy from the votes; a row may leave with the answer that it came with."""
        model = other_model
        X, y = binary[0][:1500], binary[1][:1500]
        lean = MDDAGClassifier(model, beta=0.01, n_episodes=20_000, random_state=0).fit(X, y)
        stages = np.array(list(model.staged_decision_function(X)))
        begun = model.model_.before is not None
        start = model.get_params()["init"].decision_function(X) if begun else np.zeros(len(X))
        paths = lean.paths(X)
        scores = start + (np.diff(stages, axis=0, prepend=start[None]).T * paths).sum(axis=1)
        assert lean.decision_function(X) == pytest.approx(scores, abs=1e-10)
        n = paths.sum(axis=1)
        earned = np.where((n > 0) | begun, scores * (2 * y - 1) > 0, 0.0)
        assert lean.model_.policy.about["objective"] == pytest.approx(np.mean(earned - 0.01 * n), abs=1e-12)
        assert lean.dag(X, y).count[lean.dag(X, y).round < 0].sum() == len(X)

    def test_cascades_and_features_on_demand(self, binary, other_model):
        model = other_model
        X, y = binary[0][:1500], binary[1][:1500]
        if model.model_.before is not None:
            with pytest.raises(ValueError, match=r"starts from another model \(init\), whose scores have no bound"):
                SoftCascadeClassifier(model).fit(X, y)
            with pytest.raises(ValueError, match=r"init\), which needs all columns"):
                model.predict_lazy(X, {})
            return
        cascade = SoftCascadeClassifier(model, target_tpr=0.95).fit(X, y)
        assert cascade.predict(X)[y == 1].mean() >= 0.95
        needs = []
        features = {j: (lambda i, j=j: needs.append((i, j)) or X[i, j]) for j in range(20)}
        found = cascade.predict_lazy(range(100), features)
        assert np.array_equal(found.scores[:, 0], cascade.decision_function(X[:100]))
        assert len(needs) == len(set(needs)) == sum(found.calls.values())
        along = cascade.ensemble_.along  # each base classifier is a line of one column
        assert set(needs) == {(i, j) for i, path in enumerate(cascade.paths(X[:100])) for j in along[path]}


class TestCurves:
    def test_the_rule_of_the_thesis(self):
        """For each budget the best on training among those within it; brute force."""
        rng = np.random.default_rng(0)
        runs = [LeanRun(*rng.random(4)) for _ in range(40)]
        curve = selected(runs)
        for budget in np.linspace(min(r.cost for r in runs), 1.0, 50):
            best = max((r for r in runs if r.cost <= budget), key=lambda r: r.quality)
            assert curve.at(budget) == best.test_quality
        assert np.isnan(curve.at(0.0))

    def test_a_quality_of_your_own(self, binary, mddag):
        X, y = binary
        curve = quality_curve([mddag], lambda m, X, y: m.score(X, y), (X[:1500], y[:1500]), (X[1500:], y[1500:]))
        assert curve.quality[0] == mddag.score(X[1500:], y[1500:])
        assert curve.cost[0] == mddag.n_evaluated(X[:1500]).mean()


class TestReport:
    """The section of a report about lean models, its numbers by NumPy."""

    def found(self, clf, X, y, tmp_path):
        page = write_report(clf, X, y, tmp_path / "page.html").read_text()
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
        assert ('<section id="lean"' in page) == ("lean" in data)
        return data.get("lean"), page

    def test_of_two_classes(self, binary, stumps, mddag, tmp_path):
        X, y = binary[0][1500:], binary[1][1500:]
        lean, page = self.found(mddag, X, y, tmp_path)
        n, scores, whole = mddag.n_evaluated(X), mddag.decision_function(X), stumps.decision_function(X)
        assert [(need["name"], need["n_rows"]) for need in lean["needs"]] == [
            ("all rows", 1500), ("0", (y == 0).sum()), ("1", (y == 1).sum())
        ]  # fmt: skip
        assert lean["needs"][1]["mean"] == pytest.approx(n[y == 0].mean(), rel=1e-5)
        assert lean["needs"][0]["quantiles"] == [np.sort(n)[749], np.sort(n)[1349], n.max()]
        assert lean["used"] == pytest.approx(mddag.paths(X).mean(axis=0), rel=1e-5)
        assert lean["differ"] == pytest.approx(np.mean((scores > 0) != (whole > 0)), rel=1e-5)
        assert [d["fpr"] for d in lean["detection"]] == [0.1, 0.01, 0.001]
        for d in lean["detection"]:
            for tpr, values in ((d["lean_tpr"], scores), (d["tpr"][-1], whole)):
                allowed = np.sort(values[y == 0])[::-1][int(d["fpr"] * (y == 0).sum())]
                assert tpr == pytest.approx((values[y == 1] > allowed).mean(), rel=1e-5)
            assert d["lean_cost"] == pytest.approx(n[y == 0].mean(), rel=1e-5)
        assert all(f'data-chart="lean-{name}"' in page for name in ("needs", "used", "detection-0.01"))

    def test_of_many_classes_stages_and_whole_models(self, digits, of_digits, binary, tmp_path):
        X, y = digits
        lean, _ = self.found(of_digits.early_exit(X[800:1300], 0.05), X[1300:], y[1300:], tmp_path)
        assert len(lean["needs"]) == 11
        assert not lean["detection"]
        assert lean["about"]["name"] == "early exit"
        assert self.found(of_digits, X[1300:], y[1300:], tmp_path)[0] is None
        cascade = ViolaJonesClassifier(n_stages=2).fit(binary[0][:500], binary[1][:500])
        lean, _ = self.found(cascade, binary[0][500:1000], binary[1][500:1000], tmp_path)
        assert lean["differ"] is None, "stages are no ensemble"
        assert lean["detection"][0]["rounds"] == []


class TestToy:
    def test_two_clusters_use_different_base_classifiers(self):
        """Figure 3.16 in kind: easier rows need fewer, and base classifiers are used by cluster."""
        from benchmarks.lean import toy

        found = toy(n_estimators=300, n_episodes=300_000)
        assert found["accuracy"] > 0.9
        assert found["mean_evaluated"] < 30
        assert found["near"] > found["far"], "rows near the border need more"
        assert found["selectivity"] > 0.35


class TestCommand:
    train = ("train", "train.csv", "-t", "y", "--base", "stump", "-q")

    @pytest.fixture
    def folder(self, tmp_path, binary):
        folder = tmp_path
        X, y = binary
        names = [f"c{j}" for j in range(20)] + ["y"]
        for name, part in (("train", slice(0, 1500)), ("held", slice(1500, 2500)), ("test", slice(2500, None))):
            rows = np.column_stack([X[part], y[part]])
            np.savetxt(folder / f"{name}.csv", rows, delimiter=",", header=",".join(names), comments="", fmt="%.17g")
        return folder

    @pytest.fixture
    def run(self, folder, monkeypatch):
        monkeypatch.chdir(folder)
        return in_process

    @pytest.mark.filterwarnings("ignore:X does not have valid feature names")
    def test_the_same_as_python(self, folder, run, binary):
        """Trained, made lean and predicted at the command line, and in Python: the same bits."""
        X, y = binary
        done = run(*self.train, "-n", "60", "--votes", "discrete", "-o", "full.mb")
        assert done.code == 0, done.err
        full = load_model(folder / "full.mb")
        for method, options, made in (
            ("exit", ["--max-disagreement", "0.02"], lambda: full.early_exit(X[1500:2500], max_disagreement=0.02)),
            ("mddag", ["--beta", "0.005", "--episodes", "20000", "--seed", "3"], None),
        ):
            data = "held.csv" if method == "exit" else "train.csv"
            done = run("lean", "full.mb", data, "-o", f"{method}.mb", "--method", method, *options, "--json")
            assert done.code == 0, done.err
            if made is None:
                lean = MDDAGClassifier(full, beta=0.005, n_episodes=20_000, random_state=3).fit(X[:1500], y[:1500])
            else:
                lean = made()
            assert json.loads(done.out)["digest"] == lean.model_.digest()
            done = run("predict", f"{method}.mb", "test.csv", "--scores", "-o", "scores.csv")
            assert done.code == 0, done.err
            scores = np.genfromtxt(folder / "scores.csv", skip_header=1)
            assert np.array_equal(scores, lean.decision_function(X[2500:]))
        done = run("inspect", "mddag.mb", "--json")
        assert json.loads(done.out)["policy"]["beta"] == 0.005

    @pytest.mark.parametrize(
        ("method", "options", "kind", "parameters"),
        [
            ("viola-jones", "--stages 3 --stage-tpr 0.98 --stage-fpr 0.7 --min-rounds 1 --max-rounds 20",
             ViolaJonesClassifier,
             {"n_stages": 3, "stage_tpr": 0.98, "stage_fpr": 0.7, "min_rounds": 1, "max_rounds": 20}),
            ("soft-cascade", "--target-tpr 0.95 --alpha -2", SoftCascadeClassifier,
             {"target_tpr": 0.95, "alpha": -2.0}),
            ("wald", "--false-negative 0.05 --false-positive 0.05", WaldBoostClassifier,
             {"false_negative": 0.05, "false_positive": 0.05}),
            ("mddag", "--beta 0.05 --episodes 50000 --costs c0=2 --costs c12=0.5 --class-weight 1=3", MDDAGClassifier,
             {"beta": 0.05, "n_episodes": 50_000, "costs": {"c0": 2.0, "c12": 0.5}, "class_weight": {1: 3.0}}),
            ("mddag", "--beta 0.05 --episodes 50000 --costs costs.txt --class-weight balanced", MDDAGClassifier,
             {"beta": 0.05, "n_episodes": 50_000, "costs": np.linspace(0.5, 2, 20), "class_weight": "balanced"}),
        ],
    )  # fmt: skip
    def test_every_method(self, folder, run, binary, method, options, kind, parameters):
        """What is declared for Python is an option, and does the same, bit for bit; also from the file."""
        X, y = binary
        done = run(*self.train, "-n", "20", "--votes", "discrete", "-o", "full.mb")
        assert done.code == 0, done.err
        (folder / "costs.txt").write_text("\n".join(map(repr, np.linspace(0.5, 2, 20).tolist())))
        frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(20)])
        lean = kind(load_model(folder / "full.mb"), **parameters).fit(frame[:1500], y[:1500])
        done = run("lean", "full.mb", "train.csv", "-o", "lean.mb", "--method", method, *options.split(), "--json")
        assert done.code == 0, done.err
        told = json.loads(done.out)
        assert told["digest"] == lean.model_.digest()
        assert told["mean_evaluated"] == lean.n_evaluated(frame[:1500]).mean()
        done = run("predict", "lean.mb", "test.csv", "--scores", "-o", "scores.csv")
        assert done.code == 0, done.err
        scores = np.genfromtxt(folder / "scores.csv", skip_header=1)
        assert np.array_equal(scores, lean.decision_function(frame[2500:]))
        if method == "mddag":  # costs and weights of classes have made it another policy
            plain = MDDAGClassifier(lean.estimator, beta=0.05, n_episodes=50_000).fit(frame[:1500], y[:1500])
            assert plain.model_.digest() != lean.model_.digest()
            assert told["objective"] == lean.model_.policy.about["objective"]

    def test_costs_of_numbered_columns(self, tmp_path, monkeypatch, binary):
        """svmlight numbers its columns."""
        monkeypatch.chdir(tmp_path)
        X, y = binary[0][:400, :5], binary[1][:400]
        rows = (" ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x)) for x in X.tolist())
        (tmp_path / "t.svm").write_text("".join(f"{c:g} {row}\n" for c, row in zip(y, rows, strict=True)))
        read = ("t.svm", "--format", "svmlight")
        done = in_process("train", *read, "--base", "stump", "-n", "8", "-o", "m.mb", "-q")
        assert done.code == 0, done.err
        full = load_model("m.mb")
        j = int(np.bincount(full.ensemble_.feature).argmax())
        name = read_file("t.svm", "svmlight").names[j]
        done = in_process("lean", "m.mb", *read, "--method", "mddag", "--episodes", "20000", "--costs", f"{name}=9",
                          "-o", "l.mb", "--json")  # fmt: skip
        assert done.code == 0, done.err
        lean = MDDAGClassifier(full, costs={j: 9.0}, n_episodes=20_000).fit(X, y)
        told = json.loads(done.out)
        assert told["digest"] == lean.model_.digest()
        assert told["objective"] == lean.model_.policy.about["objective"] < 1 - 9 * 0.01  # paid for by every row
        assert load_model("l.mb").get_params()["costs"] == {j: 9.0}

    def test_stages_know_names_and_refuse_categories(self, binary):
        frame = pd.DataFrame(binary[0][:500], columns=[f"c{j}" for j in range(20)])
        y = binary[1][:500]
        named = ViolaJonesClassifier(n_stages=2).fit(frame, y)
        plain = ViolaJonesClassifier(n_stages=2).fit(frame.to_numpy(), y)
        sparse = ViolaJonesClassifier(n_stages=2).fit(sp.csr_array(frame.to_numpy()), y)
        assert named.feature_names_in_.tolist() == list(frame)
        assert named.model_.digest() == plain.model_.digest() == sparse.model_.digest()
        assert np.array_equal(named.predict(frame), plain.predict(frame.to_numpy()))
        with pytest.raises(ValueError, match="ViolaJonesClassifier takes columns of numbers"):
            ViolaJonesClassifier().fit(frame.assign(kind=np.where(y > 0, "a", "b")), y)

    def test_bad_options(self, folder, run):
        run(*self.train, "-n", "5", "-o", "small.mb")
        for arguments, message in (
            (["--method", "magic"], "is not one of exit, mddag"),
            (["--beta", "0.1"], "--beta is no option of --method exit"),
            ([], "held-out rows cannot promise"),
            (["--method", "wald", "--costs", "c0=1"], "--costs is no option of --method wald"),
            (["--method", "mddag", "--costs", "c0"], "c0: No such file"),
            (["--method", "mddag", "--costs", "held.csv"], "numbers, and the model has 5 base classifiers"),
            (["--method", "mddag", "--costs", "c0=x"], "--costs 'c0=x' is not NAME=NUMBER with a number of at least 0"),
            (["--method", "mddag", "--costs", "c0=-1"], "is not NAME=NUMBER with a number of at least 0"),
            (["--method", "mddag", "--costs", "c0=1", "--costs", "c0=2"], "--costs 'c0' is given twice"),
            (["--method", "mddag", "--costs", "cc=1"], "has no column 'cc' (--costs)"),
            (["--method", "mddag", "--class-weight", "x=1"], "--class-weight 'x': there is no such class"),
            (["--method", "viola-jones", "--stage-tpr", "2"], "must be a number above 0 and at most 1; got 2.0"),
        ):
            done = run("lean", "small.mb", "held.csv", "-o", "x.mb", *arguments)
            assert done.code == 2
            assert message in done.err
            assert not (folder / "x.mb").exists()


def test_values_of_actions():
    """Files hold them."""
    assert (EVAL, SKIP, QUIT) == (0, 1, 2)
