"""Policies in C99: cascades, early exits and decision DAGs decide as the walker does, and evaluate as much."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from multiboost import (
    AdaBoostMHClassifier,
    MDDAGClassifier,
    MultiBoostClassifier,
    SoftCascadeClassifier,
    ViolaJonesClassifier,
    WaldBoostClassifier,
)
from multiboost.export import latency, to_c
from multiboost.model.policy import Policy

from .exporting import SANITIZERS, WARNINGS, as_names, build, mixed_table, run_program, strange_rows


@pytest.fixture(scope="module")
def binary():
    return make_classification(1500, n_informative=6, weights=[0.7], random_state=1)


@pytest.fixture(scope="module")
def classifiers(binary):
    """A policy of every kind: all states, verdicts, skips, stages that begin anew, products, nominal columns, tasks."""
    X, y = binary
    stumps = AdaBoostMHClassifier("stump", n_estimators=60).fit(X, y)
    frame, classes = mixed_table(1200)
    trees = MultiBoostClassifier("tree:6", 20, loss="exponential", random_state=0).fit(frame, classes)
    products = MultiBoostClassifier("product:2", 20, loss="exponential", random_state=0).fit(frame, classes)
    few = MultiBoostClassifier("stump", 15, loss="exponential", random_state=0).fit(frame, classes)
    Y = np.stack([classes, frame["a"].fillna(0).to_numpy() > 0], axis=1)
    tasks = MultiBoostClassifier("stump", 20, loss="exponential", random_state=0).fit(frame, Y)
    labels = MultiBoostClassifier("tree:4", 20, random_state=0).fit(frame, np.stack([classes > 0, Y[:, 1]], axis=1))
    short = {"n_episodes": 10_000, "random_state": 3}
    return {
        "exit": stumps.early_exit(X, 0.02),
        "exit of trees": trees.early_exit(frame, 0.05),
        "exit of products": products.early_exit(frame, 0.05),
        "exit of tasks": tasks.early_exit(frame, 0.05),
        "exit of labels": labels.early_exit(frame, 0.05),
        "mddag": MDDAGClassifier(stumps, beta=0.005, **short).fit(X, y),
        "mddag of classes": MDDAGClassifier(few, beta=0.001, n_cells=6, **short).fit(frame, classes),
        "soft": SoftCascadeClassifier(stumps, target_tpr=0.95).fit(X, y),
        "wald": WaldBoostClassifier(stumps, false_negative=0.05, false_positive=0.02).fit(X, y),
        "stages": ViolaJonesClassifier(n_stages=3).fit(X, y),
    }


@pytest.fixture(scope="module")
def sources(classifiers):
    return {name: to_c(clf, f"p{k}") for k, (name, clf) in enumerate(classifiers.items())}


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request, sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return build(folder, list(sources.values()), request.param, [*WARNINGS, *SANITIZERS])


def test_what_is_tried(classifiers):
    policies = [clf.model_.policy for clf in classifiers.values()]
    assert {policy.state for policy in policies} >= {"score", "margin", "labels"}
    assert {action for policy in policies for action in np.unique(policy.actions)} == {0, 1, 2, 3, 4}
    assert any(policy.restart.any() for policy in policies)


@pytest.mark.parametrize("n", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_decisions_and_evaluations(n, classifiers, sources, program):
    """Bit for bit, and as many base classifiers, on rows at and beside all thresholds."""
    for k, (name, clf) in enumerate(classifiers.items()):
        X = strange_rows(clf.model_, n)
        X[np.isinf(X)] = 1.0  # estimators refuse infinities
        table = X if clf.model_.columns.names is None else as_names(clf.model_, X)
        evaluated, scores = run_program(program, k, X, sources[name])
        np.testing.assert_array_equal(scores, clf.decision_function(table).reshape(n, -1), err_msg=name)
        np.testing.assert_array_equal(evaluated, clf.n_evaluated(table), err_msg=name)
        assert len(np.unique(evaluated)) > 1, name


@pytest.mark.parametrize("state", ["leaders", "labels", "margin"])
def test_any_table_of_actions(state, tmp_path):
    """Random actions for one table of cuts for all rounds, also such as no learner finds."""
    frame, classes = mixed_table(300)
    clf = MultiBoostClassifier("stump", 12, loss="exponential", random_state=0).fit(frame, classes)
    rng = np.random.default_rng(5)
    cells = 4 ** {"leaders": 2, "labels": 3, "margin": 1}[state]
    lean, sources = [], []
    for k in range(4):
        actions = rng.choice(np.array([0, 1, 2], np.uint8), (13, cells), p=[0.75, 0.17, 0.08])
        actions[-1] = 2
        policy = Policy(state, np.array([[-0.3, 0.0, 0.4]]), actions, rng.random(12) < 0.2, {})
        assert policy.is_sound(12, 3)
        one = copy(clf)
        one._become(replace(clf.model_, policy=policy), clf.plan_)
        lean.append(one)
        sources.append(to_c(one, f"m{k}"))
    X = strange_rows(clf.model_, 2000)
    X[np.isinf(X)] = 1.0
    table, seen = as_names(clf.model_, X), []
    program = build(tmp_path, sources, "gcc", WARNINGS)
    for k, (one, source) in enumerate(zip(lean, sources, strict=True)):
        evaluated, scores = run_program(program, k, X, source)
        np.testing.assert_array_equal(scores, one.decision_function(table))
        np.testing.assert_array_equal(evaluated, one.n_evaluated(table))
        seen += evaluated.tolist()
    assert len(set(seen)) > 4


def test_a_cascade_is_as_fast_as_it_is_short(binary, classifiers):
    """Its latency can be measured; on negatives it takes less than its whole ensemble does."""
    X, y = binary
    cascade = classifiers["soft"]
    assert 0 < latency(to_c(cascade, "m"), X[y == 0][:200], repeats=2).mean < 1e6
