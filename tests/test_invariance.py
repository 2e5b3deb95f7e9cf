"""What must not change a model: threads, order, form, interruption; and what must change it in a known way."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from multiboost import Callback, EarlyStopping, criteria, load_model
from multiboost.criteria.log_odds import LogOdds
from multiboost.kernels.dtypes import FINE

from .conftest import ROOT, all_rows, make_classes, make_labels, make_levels

KINDS = {
    "discrete": {"votes": "discrete"},
    "real": {"votes": "real", "loss": "exponential", "learning_rate": 0.2},
    "logistic": {"loss": "logistic", "learning_rate": 0.1},
}
LEARNERS = ["stump", "tree:6", "product:2", "tree:4/product:2", "product:2/tree:3"]
FEW = settings(max_examples=8, deadline=None, derandomize=True)
each_kind = pytest.mark.parametrize("kind", KINDS)


def boost(X, y, kind, base_learner="tree:5", n_rounds=8, fit=None, **parameters):
    clf = all_rows(base_learner, n_rounds, **{"subsample": 1.0, **KINDS[kind], **parameters})
    return clf.fit(X, y, **(fit or {}))


def same_bits(a, b, X) -> None:
    """Two models are the same arrays and the same scores."""
    for (name, mine), theirs in zip(a.ensemble_.arrays().items(), b.ensemble_.arrays().values(), strict=True):
        assert mine.dtype == theirs.dtype, name
        assert mine.tobytes() == theirs.tobytes(), name
    assert a.decision_function(X).tobytes() == b.decision_function(X).tobytes()


@pytest.mark.parametrize(
    ("loss", "n", "n_classes"), [("softmax", 400, 9), ("logistic", 12, 2), ("exponential", 12, 2), ("hinge", 12, 2)]
)
def test_places_in_memory_leave_no_trace(loss, n, n_classes):
    """What is written may lie just behind what is read, or far from it; scores and weights of a fit lie anywhere."""
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(n, 4)), rng.permutation(np.arange(n) % n_classes), rng.uniform(0.5, 2, n)
    found, between = set(), []
    for _ in range(25):
        clf = all_rows("tree:4", 6, loss=loss, learning_rate=0.3, calibration=None, n_jobs=1).fit(X, y, weight)
        found.add((clf.ensemble_.digest(), clf.history_["risk"].tobytes()))
        between.append(np.empty(rng.integers(1, 4000)))
    assert len(found) == 1


@FEW
@given(seed=st.integers(0, 1000), twice=st.lists(st.integers(0, 79), min_size=1, max_size=20, unique=True))
def test_duplicated_row_is_weight_two(seed, twice):
    """Discrete votes: rows that come twice equal rows of weight two."""
    X, y = make_levels(80, 4, 3, seed=seed)
    weight = np.ones(80)
    weight[twice] = 2.0
    a = boost(X, y, "discrete", fit={"sample_weight": weight})
    b = boost(np.concatenate([X, X[twice]]), np.concatenate([y, y[twice]]), "discrete")
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("base_learner", ["stump", "tree:5", "product:2"])
def test_duplicated_row_is_weight_two_with_real_votes(base_learner, monkeypatch):
    """Real votes, with the same smoothing: by itself it follows the number of pairs, not their weight."""
    monkeypatch.setattr(LogOdds, "of_run", classmethod(lambda cls, ridge, n_pairs: cls(1 / 240)))
    X, y = make_levels(80, 4, 3, seed=1)
    twice = np.arange(0, 80, 4)
    weight = np.ones(80)
    weight[twice] = 2.0
    a = boost(X, y, "real", base_learner, fit={"sample_weight": weight})
    b = boost(np.concatenate([X, X[twice]]), np.concatenate([y, y[twice]]), "real", base_learner)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-6, atol=1e-6)


def test_duplicated_row_is_weight_two_when_balanced():
    """Balanced weights count samples by their weight."""
    X, y = make_levels(80, 4, 3, seed=2)
    twice = np.flatnonzero(y == 1)
    weight = np.ones(80)
    weight[twice] = 2.0
    a = boost(X, y, "discrete", weighting="balanced", fit={"sample_weight": weight})
    both = np.concatenate([np.arange(80), twice])
    b = boost(X[both], y[both], "discrete", weighting="balanced")
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-9, atol=1e-9)


@each_kind
def test_weight_zero_is_absence(kind):
    """Samples of weight zero change nothing for those that have weight."""
    X, y = make_classes(160, 4, 3)
    weight = np.ones(160)
    weight[100:] = 0.0
    a = boost(X, y, kind, fit={"sample_weight": weight})
    b = boost(X[:100], y[:100], kind)
    np.testing.assert_allclose(a.decision_function(X[:100]), b.decision_function(X[:100]), rtol=1e-6, atol=1e-6)


@each_kind
@pytest.mark.parametrize("factor", [4.0, 3.0])
def test_scale_of_weights_does_not_matter(kind, factor):
    X, y = make_classes(150, 4, 3)
    weight = np.random.default_rng(0).uniform(0.2, 2, 150)
    a = boost(X, y, kind, fit={"sample_weight": weight})
    b = boost(X, y, kind, fit={"sample_weight": factor * weight})
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-8, atol=1e-10)
    if factor == 4.0:
        same_bits(a, b, X)


@each_kind
@FEW
@given(order=st.permutations(range(4)))
def test_renaming_classes_permutes_scores(kind, order):
    """Column k of F goes where the class goes; lanes are added in another order, so not bit for bit."""
    X, y = make_classes(160, 4, 4)
    a = boost(X, y, kind)
    b = boost(X, np.array(order)[y], kind)
    np.testing.assert_allclose(b.decision_function(X)[:, list(order)], a.decision_function(X), rtol=1e-5, atol=1e-6)


@each_kind
def test_swapping_two_classes_changes_the_sign(kind, two_classes):
    X, y = two_classes
    a, b = boost(X, y, kind), boost(X, 1 - y, kind)
    np.testing.assert_allclose(a.decision_function(X), -b.decision_function(X), rtol=1e-8, atol=1e-9)


@each_kind
def test_zero_label_weight_is_an_unknown_label(kind, labels):
    """A pair without weight and a pair without label are the same model, bit for bit."""
    X, Y = labels
    gone = np.random.default_rng(1).random(Y.shape) < 0.2
    a = boost(X, np.where(gone, np.nan, Y), kind)
    b = boost(X, Y, kind, fit={"label_weight": (~gone).astype(float)})
    same_bits(a, b, X)


@each_kind
@pytest.mark.parametrize("base_learner", ["stump", "tree:5", "product:2"])
def test_two_classes_are_two_labels_that_exclude_each_other(kind, base_learner):
    """Kernels of one label against those of two: F of the second label, and minus F of the first.

    Smoothing and ridge are in units of the mean weight of a pair, so they are the same, too.
    """
    X, y = make_classes(400, 5, 2, seed=7)
    y = np.where(np.random.default_rng(1).random(400) < 0.1, 1 - y, y)
    one = boost(X, y, kind, base_learner, 12)
    two = boost(X, np.stack([1 - y, y], axis=1), kind, base_learner, 12)
    F = two.decision_function(X)
    assert one.ensemble_.values.shape[1] == 1
    assert F.shape == (400, 2)
    np.testing.assert_allclose(F[:, 0], -F[:, 1], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(F[:, 1], one.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(one.ensemble_.feature, two.ensemble_.feature)
    np.testing.assert_array_equal(one.ensemble_.threshold, two.ensemble_.threshold)


@each_kind
@pytest.mark.parametrize("base_learner", ["stump", "tree:5", "product:2"])
@pytest.mark.parametrize("target", ["multiclass", "multilabel"])
def test_a_label_of_weight_zero_changes_nothing(kind, base_learner, target, labels):
    """The scores of the other labels are those of a model without it."""
    X, Y = labels
    if target == "multiclass":
        Y = (Y @ [1, 2, 4, 8])[:, None] % 4 == np.arange(4)
    extra = np.random.default_rng(0).integers(0, 2, len(X))
    more = np.insert(Y.astype(int), 2, extra, axis=1)
    weight = np.ones(more.shape)
    weight[:, 2] = 0.0
    a = boost(X, Y.astype(int), kind, base_learner, weighting="uniform")
    b = boost(X, more, kind, base_learner, weighting="uniform", fit={"label_weight": weight})
    F = np.delete(b.decision_function(X), 2, axis=1)
    np.testing.assert_allclose(F, a.decision_function(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(b.ensemble_.feature, a.ensemble_.feature)
    np.testing.assert_array_equal(b.ensemble_.threshold, a.ensemble_.threshold)


@each_kind
@pytest.mark.parametrize("base_learner", LEARNERS)
@pytest.mark.parametrize("n_columns", [5, 45])
def test_duplicate_and_constant_columns_change_nothing(kind, base_learner, n_columns):
    """Bit for bit: of equal columns the first is cut, constant ones never; also where cuts are bounded first.

    Columns of many values and real votes: only the four best columns of a coarse search are searched bin by bin, and
    equal ones would take each other's places.
    """
    if kind == "discrete":
        X, y = make_classes(300, n_columns, 3)
    else:
        X, y = make_levels(300, n_columns, 3, n_levels=20)
    more = np.column_stack([X, np.full(300, 3.5), X[:, 1], np.full(300, np.nan), X[:, 0], X[:, ::-1]])
    a, b = boost(X, y, kind, base_learner), boost(more, y, kind, base_learner)
    assert b.decision_function(more).tobytes() == a.decision_function(X).tobytes()
    np.testing.assert_array_equal(a.ensemble_.feature, b.ensemble_.feature)


@each_kind
@pytest.mark.parametrize("base_learner", LEARNERS)
def test_constant_columns_of_a_table_of_many_values_change_nothing(kind, base_learner):
    X, y = make_classes(300, 45, 3)
    more = np.insert(X, [0, 20, 45], [0.0, np.nan, -1e300], axis=1)
    a, b = boost(X, y, kind, base_learner), boost(more, y, kind, base_learner)
    assert b.decision_function(more).tobytes() == a.decision_function(X).tobytes()


@pytest.mark.parametrize("kind", ["real", "logistic"])
@pytest.mark.parametrize("base_learner", ["stump", "tree:6", "product:2"])
@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_sums_of_32_and_of_64_bits_make_the_same_cuts(kind, base_learner, n_classes, monkeypatch):
    """Large tables have sums of 64 bits; here a small one does."""
    X, y = make_classes(500, 5, n_classes, seed=2)
    X[np.random.default_rng(0).random(X.shape) < 0.05] = np.nan
    short = boost(X, y, kind, base_learner)
    monkeypatch.setattr(criteria, "_LARGEST_COARSE", 10)
    used = []

    class Look(Callback):
        def after_round(self, run):
            used.append(run.problem.record.payload.dense.dtype)
            return False

    long = boost(X, y, kind, base_learner, fit={"callbacks": [Look()]})
    assert set(used) == {np.dtype(FINE)}
    np.testing.assert_array_equal(short.ensemble_.feature, long.ensemble_.feature)
    np.testing.assert_array_equal(short.ensemble_.threshold, long.ensemble_.threshold)
    np.testing.assert_allclose(short.decision_function(X), long.decision_function(X), rtol=1e-6, atol=1e-6)


@each_kind
@FEW
@given(power=st.sampled_from([1 / 3, 3.0]), scale=st.floats(0.01, 100), shift=st.floats(-50, 50))
def test_monotone_transform_changes_no_prediction(kind, power, scale, shift):
    """Cuts depend on the order of values only."""
    X, y = make_levels(120, 4, 3, n_levels=12)
    Z = np.sign(X - 5) * np.abs(X - 5) ** power * scale + shift
    a, b = boost(X, y, kind), boost(Z, y, kind)
    assert a.decision_function(X).tobytes() == b.decision_function(Z).tobytes()


@each_kind
def test_monotone_transform_of_many_values(kind):
    """Also where columns are cut at quantiles."""
    X, y = make_classes(900, 3, 3)
    a, b = boost(X, y, kind, max_bins=40), boost(np.exp(X), y, kind, max_bins=40)
    np.testing.assert_array_equal(a.ensemble_.feature, b.ensemble_.feature)
    assert a.decision_function(X).tobytes() == b.decision_function(np.exp(X)).tobytes()


@each_kind
def test_order_of_columns_changes_no_score(kind):
    """Continuous columns have no ties."""
    X, y = make_classes(300, 6, 3)
    order = np.random.default_rng(0).permutation(6)
    a, b = boost(X, y, kind), boost(X[:, order], y, kind)
    assert a.decision_function(X).tobytes() == b.decision_function(X[:, order]).tobytes()
    np.testing.assert_array_equal(a.ensemble_.feature, order[b.ensemble_.feature])


@pytest.mark.parametrize("order", ["reversed", "shuffled"])
def test_order_of_rows_changes_no_cut(order):
    """Sums are added in another order, so scores agree to rounding."""
    X, y = make_classes(300, 5, 3)
    rows = np.arange(300)[::-1] if order == "reversed" else np.random.default_rng(0).permutation(300)
    for kind in KINDS:
        a, b = boost(X, y, kind), boost(X[rows], y[rows], kind)
        np.testing.assert_array_equal(a.ensemble_.feature, b.ensemble_.feature)
        np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), rtol=1e-8, atol=1e-9)


@pytest.fixture(scope="module")
def large():
    """Large enough for the team: 6000 x 12, ten classes, some values missing, some columns of few levels."""
    X, y = make_classes(6000, 12, 10)
    X[:, 8:] = X[:, 8:].round(1)
    X[np.random.default_rng(0).random(X.shape) < 0.03] = np.nan
    return X, y


@each_kind
@pytest.mark.parametrize("base_learner", LEARNERS)
def test_threads_leave_no_trace(kind, base_learner, large):
    """1, 2 and 3 threads: the same bits."""
    X, y = large
    models = [boost(X, y, kind, base_learner, 3, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other in models[1:]:
        same_bits(models[0], other, X)
        for name in ("edge", "alpha", "Z", "risk", "training_error"):
            assert models[0].history_[name].tobytes() == other.history_[name].tobytes(), name


@each_kind
def test_threads_leave_no_trace_in_sparse_tables(kind, large):
    X, y = large
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.7, 0.0, X)
    models = [boost(sp.csr_array(X), y, kind, "tree:8", 3, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    for other in models[1:]:
        same_bits(models[0], other, X)


@each_kind
@pytest.mark.parametrize("base_learner", LEARNERS)
def test_fitting_again_gives_the_same_bits(kind, base_learner, three_classes):
    X, y = three_classes
    a, b = boost(X, y, kind, base_learner), boost(X, y, kind, base_learner)
    same_bits(a, b, X)
    c = clone(a).fit(X, y)
    same_bits(a, c, X)
    same_bits(a, b.fit(X, y), X)


@each_kind
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_input_is_dense_input(kind, form):
    """Bit for bit, missing values and negative ones included, in fitting and prediction."""
    rng = np.random.default_rng(0)
    X, y = make_classes(500, 12, 3)
    X[rng.random(X.shape) < 0.75] = 0.0
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 2] = np.abs(X[:, 2].round())
    dense, sparse = boost(X, y, kind), boost(form(X), y, kind)
    same_bits(dense, sparse, X)
    assert sparse.decision_function(form(X)).tobytes() == dense.decision_function(X).tobytes()


def test_sparse_input_with_explicit_zeros_and_duplicates():
    """Stored zeros are zeros; entries stored twice are added up, as SciPy does."""
    rng = np.random.default_rng(0)
    n, m = 300, 10
    row, column = rng.integers(0, n, 1500), rng.integers(0, m, 1500)
    value = rng.integers(-2, 4, 1500).astype(float)
    coo = sp.coo_array((value, (row, column)), shape=(n, m))
    dense = coo.toarray()
    y = (dense[:, 0] + dense[:, 1] + 0.5 * rng.normal(size=n) > 1).astype(int)
    order = np.lexsort((column, row))
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
    twice = sp.csr_array((value[order], column[order], start), shape=(n, m))
    assert not twice.has_canonical_format
    a, b = boost(dense, y, "real"), boost(twice, y, "real")
    same_bits(a, b, dense)
    assert b.decision_function(twice).tobytes() == a.decision_function(dense).tobytes()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_arrays(library):
    """The same model from a frame as from its array, integer, boolean and missing values included."""
    rng = np.random.default_rng(0)
    X, y = make_classes(200, 4, 3)
    X[:, 1] = rng.integers(0, 5, 200)
    X[:, 2] = X[:, 2] > 0
    X[rng.random(200) < 0.2, 3] = np.nan
    data = {"a": X[:, 0], "b": X[:, 1].astype(int), "c": X[:, 2].astype(bool), "d": X[:, 3]}
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](data)
    for kind in KINDS:
        a, b = boost(X, y, kind), boost(frame, y, kind)
        assert a.decision_function(X).tobytes() == b.decision_function(frame).tobytes()
        np.testing.assert_array_equal(b.feature_names_in_, list("abcd"))


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_dtype_of_the_table_does_not_matter(dtype):
    X, y = make_levels(150, 4, 3)
    X, new = X.astype(dtype), np.asfortranarray(X.astype(dtype))
    same_bits(boost(X.astype(float), y, "real"), boost(new, y, "real"), X)


@each_kind
@pytest.mark.parametrize("base_learner", ["stump", "tree:4/product:2", "product:2/tree:3"])
def test_pickle_and_model_file(kind, base_learner, three_classes, tmp_path):
    """Pickle, clone and model file keep every bit."""
    X, y = three_classes
    clf = boost(X, y, kind, base_learner)
    same_bits(clf, pickle.loads(pickle.dumps(clf)), X)
    clf.save(tmp_path / "m")
    same_bits(clf, load_model(tmp_path / "m"), X)
    assert not hasattr(clone(clf), "ensemble_")


def test_fresh_process_has_the_same_bits(three_classes, tmp_path):
    """A model file and a pickle, read by another process; and the same fit there."""
    X, y = three_classes
    clf = boost(X, y, "logistic")
    clf.save(tmp_path / "m")
    (tmp_path / "p").write_bytes(pickle.dumps(clf))
    np.savez(tmp_path / "d.npz", X=X, y=y)
    code = """
import pickle, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from multiboost import MultiBoostClassifier, load_model
folder = sys.argv[2]
data = np.load(folder + "/d.npz")
X, y = data["X"], data["y"]
for clf in (load_model(folder + "/m"), pickle.load(open(folder + "/p", "rb")),
            MultiBoostClassifier("tree:5", 8, loss="logistic", learning_rate=0.1, subsample=1.0).fit(X, y)):
    print(clf.decision_function(X).tobytes().hex())
"""
    out = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "src"), str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=240,
    ).stdout.split()  # fmt: skip
    right = clf.decision_function(X).tobytes().hex()
    assert out == [right] * 3


@each_kind
@pytest.mark.parametrize("base_learner", LEARNERS)
def test_warm_start_is_no_interruption(kind, base_learner, three_classes):
    """10 and then 15 rounds are 25 rounds, bit for bit, history included."""
    X, y = three_classes
    whole = boost(X, y, kind, base_learner, 25)
    parts = boost(X, y, kind, base_learner, 10, warm_start=True)
    assert parts.n_estimators_ == 10
    parts.set_params(n_estimators=25).fit(X, y)
    same_bits(whole, parts, X)
    assert whole.predict_proba(X).tobytes() == parts.predict_proba(X).tobytes()
    for name in ("edge", "alpha", "Z", "risk", "training_error"):
        assert whole.history_[name].tobytes() == parts.history_[name].tobytes(), name


@each_kind
def test_warm_start_after_early_stopping(kind):
    """The rounds that were thrown away are made again: the model is that of a run without stopping."""
    X, y = make_classes(500, 5, 3, noise=3.0)
    train, valid = (X[:250], y[:250]), (X[250:], y[250:])
    more = {"learning_rate": 1.0, "subsample": 0.6, "warm_start": True}
    clf = boost(*train, kind, "tree:8", 60, **more, fit={"validation": valid, "callbacks": [EarlyStopping(4)]})
    kept = clf.n_iter_
    assert 1 <= kept < 55, "the test should stop early"
    clf.set_params(n_estimators=kept + 8).fit(*train, validation=valid)
    whole = boost(*train, kind, "tree:8", kept + 8, **more, fit={"validation": valid})
    same_bits(whole, clf, X)
    for name in ("edge", "alpha", "risk", "training_error", "validation_error", "validation_risk"):
        np.testing.assert_array_equal(whole.history_[name], clf.history_[name], err_msg=name)


@pytest.mark.parametrize("target", ["binary", "multiclass", "multilabel", "multitask"])
def test_last_stage_is_the_model(target, labels):
    """staged_* has one item per round; the last is the final one, scores before are those of the head."""
    X, Y = labels
    y = {
        "binary": Y[:, 0],
        "multiclass": Y[:, 0] + 2 * Y[:, 1],
        "multilabel": Y,
        "multitask": np.stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2]], axis=1),
    }[target]
    clf = boost(X, y, "real", n_rounds=6)
    whole = clf.ensemble_
    staged = [
        list(method(X)) for method in (clf.staged_decision_function, clf.staged_predict, clf.staged_predict_proba)
    ]
    assert [len(s) for s in staged] == [6, 6, 6]
    for t in (2, 6):
        clf.model_.ensemble = whole.head(t)
        assert staged[0][t - 1].tobytes() == clf.decision_function(X).tobytes()
        np.testing.assert_array_equal(staged[1][t - 1], clf.predict(X))
    last, right = staged[2][-1], clf.predict_proba(X)
    for a, b in zip(last, right, strict=True) if isinstance(right, list) else [(last, right)]:
        np.testing.assert_array_equal(a, b)


@each_kind
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("n_values", [6, 200])
def test_missing_values_learn_their_side(kind, side, n_values):
    """Missing values that belong to the high or to the low class go there."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, n_values, 300).astype(float)
    y = (x >= n_values // 2).astype(int)
    gone = rng.random(300) < 0.2
    y[gone] = 1 if side == "right" else 0
    x[gone] = np.nan
    X = np.stack([rng.normal(size=300), x], axis=1)
    clf = boost(X, y, kind, "stump", 1, learning_rate=1.0)
    assert clf.ensemble_.feature.tolist() == [1]
    assert bool(clf.ensemble_.missing_right[0]) == (side == "right")
    np.testing.assert_array_equal(clf.predict(X), y)


@each_kind
def test_missing_against_the_rest(kind):
    """Where only missing or not matters, the cut is between missing values and all others."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 200).astype(float)
    gone = rng.random(200) < 0.4
    x[gone] = np.nan
    clf = boost(x[:, None], gone.astype(int), kind, "stump", 1, learning_rate=1.0)
    np.testing.assert_array_equal(clf.predict(x[:, None]), gone.astype(int))
    np.testing.assert_array_equal(clf.predict(np.array([[7.0], [-3.0], [np.nan]])), [0, 0, 1])


@each_kind
@pytest.mark.parametrize("larger", ["left", "right"])
def test_values_missing_only_later_go_to_the_larger_side(kind, larger):
    """No missing values in training: a missing value is treated as the majority."""
    x = np.arange(30.0)
    y = (x >= (20 if larger == "left" else 10)).astype(int)
    clf = boost(x[:, None], y, kind, "stump", 1, learning_rate=1.0)
    assert clf.predict([[np.nan]]) == (0 if larger == "left" else 1)


def test_missing_values_elsewhere_do_not_change_the_larger_side():
    """A node without missing values sends them to its larger side, also where other nodes have some."""
    rng = np.random.default_rng(0)
    a = np.repeat([0.0, 1.0], 200)
    b = rng.permutation(np.arange(400.0))
    b[200:] = np.repeat(np.arange(20.0), 10)
    y = np.where(a == 0, (b < 50) + 0, 2 + (b >= 15)).astype(int)
    b[:200] = np.where(rng.random(200) < 0.3, np.nan, b[:200])
    y[:200] = 0
    clf = boost(np.stack([a, b], axis=1), y, "real", "tree:3", 1)
    assert sorted(clf.ensemble_.feature.tolist()) == [0, 1]
    assert clf.ensemble_.threshold[clf.ensemble_.feature == 1] == [14.5]
    assert clf.predict([[1.0, np.nan]]) == 2


def test_form_of_the_indicator_matrix_does_not_matter(labels):
    """Integers, booleans, floats or a sparse matrix: one target."""
    X, Y = labels
    models = [boost(X, form, "real") for form in (Y, Y.astype(bool), Y.astype(float), sp.csr_array(Y))]
    for other in models[1:]:
        same_bits(models[0], other, X)


def test_names_of_classes_do_not_matter(three_classes):
    """Text in the same order as the numbers gives the same bits."""
    X, y = three_classes
    names = np.array(["ant", "bee", "cow"])
    a, b = boost(X, y, "real"), boost(X, names[y], "real")
    same_bits(a, b, X)
    np.testing.assert_array_equal(names[a.predict(X)], b.predict(X))


def test_multitask_of_one_multiclass_column_twice(three_classes):
    """Two equal tasks have equal scores."""
    X, y = three_classes
    clf = boost(X, np.stack([y, y + 1], axis=1), "real")
    F = clf.decision_function(X)
    np.testing.assert_allclose(F[:, :3], F[:, 3:], rtol=1e-12)


def test_make_labels_is_not_trivial():
    """The data of these tests can be learned, but not by a constant."""
    X, Y = make_labels(250, 6, 4)
    clf = boost(X, Y, "real", n_rounds=30)
    assert np.mean(clf.predict(X) == Y) > max(Y.mean(), 1 - Y.mean()) + 0.1


def test_rounds_do_not_keep_rows(three_classes):
    """What a round leaves behind does not grow with the number of rows."""
    X, y = three_classes
    kept = []

    class Look(Callback):
        def after_round(self, run):
            kept.extend(h.leaf.base if h.leaf.base is not None else h.leaf for h in run.builder.rounds)
            return False

    all_rows("tree:4", 3).fit(X, y, callbacks=[Look()])
    assert kept
    assert max(array.size for array in kept) == 0
