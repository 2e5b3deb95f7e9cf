"""Model files: round trip, damage of every kind, atomic writing."""

import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import multiboost.model.modelfile as modelfile
from multiboost import ModelFileError, MultiBoostClassifier, Product, Stump, Tree, load_model

from .conftest import make_classes, make_labels
from .fuzz_models import fuzz


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classes(120, 4, 3)
    return MultiBoostClassifier("tree:4", 5, loss="exponential").fit(X, y), X


@pytest.fixture
def path(fitted, tmp_path):
    """A saved model."""
    clf, _ = fitted
    target = tmp_path / "model.mb"
    clf.save(target)
    return target


def rewrite(source, target, change):
    """Copy a model file with its entries changed: ``change(name, bytes)`` gives new bytes or None."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return target


def with_header(path, tmp_path, **values):
    def change(name, data):
        return json.dumps({**json.loads(data), **values}).encode() if name == "header.json" else data

    return rewrite(path, tmp_path / "changed.mb", change)


def with_array(path, tmp_path, which, change_array):
    """A model file with one array changed."""

    def change(name, data):
        if name != f"{which}.npy":
            return data
        array = change_array(np.load(io.BytesIO(data), allow_pickle=False).copy())
        out = io.BytesIO()
        np.save(out, array, allow_pickle=False)
        return out.getvalue()

    return rewrite(path, tmp_path / "changed.mb", change)


def targets():
    X, y = make_classes(100, 4, 3)
    Y = make_labels(100, 4, 3)[1]
    yield "binary", X, np.array(["no", "yes"])[(y == 1).astype(int)]
    yield "multiclass", X, np.array(["a", "bb", "ccc"])[y]
    yield "multiclass of objects", X, np.array(["a", "bb", "ccc"], object)[y]
    yield "multilabel", X, Y
    yield "multitask", X, np.stack([y, y + Y[:, 0]], axis=1)
    yield "multitask mixed", X, np.stack([np.array(["u", "v", "w"], object)[y], (y + 3).astype(object)], axis=1)


@pytest.mark.parametrize("case", list(targets()), ids=lambda c: c[0])
@pytest.mark.parametrize(
    "parameters", [{"votes": "discrete"}, {"loss": "exponential", "subsample": 0.5}, {"loss": "logistic"}], ids=str
)
def test_round_trip(case, parameters, tmp_path):
    """Same scores bit for bit, same predictions, classes, parameters and history."""
    _, X, y = case
    clf = MultiBoostClassifier("tree:3", 4, random_state=3, **parameters).fit(X, y)
    clf.save(tmp_path / "m")
    other = load_model(tmp_path / "m")
    assert other.decision_function(X).tobytes() == clf.decision_function(X).tobytes()
    np.testing.assert_array_equal(other.predict(X), clf.predict(X))
    mine, theirs = clf.predict_proba(X), other.predict_proba(X)
    for a, b in zip(mine, theirs, strict=True) if isinstance(mine, list) else [(mine, theirs)]:
        assert a.tobytes() == b.tobytes()
    assert other.get_params(deep=False).keys() == clf.get_params(deep=False).keys()
    assert (other.loss_, other.learning_rate_, other.n_estimators_) == (clf.loss_, clf.learning_rate_, 4)
    assert other.subsample_ == clf.subsample_
    timed = {name for name in clf.history_ if name.startswith("seconds")}
    assert other.history_.keys() == clf.history_.keys() - timed  # seconds are not the model's
    for name, values in other.history_.items():
        np.testing.assert_array_equal(clf.history_[name], values)
    np.testing.assert_array_equal(other.feature_importances_, clf.feature_importances_)
    classes = clf.classes_ if isinstance(clf.classes_, list) else [clf.classes_]
    for mine, theirs in zip(classes, other.classes_ if len(classes) > 1 else [other.classes_], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_equal_models_are_equal_files(fitted, path, tmp_path):
    fitted[0].save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_loaded_model_goes_on_with_a_warm_start(fitted, path):
    """A model from a file can be boosted further, as the original can."""
    _, X = fitted
    y = make_classes(120, 4, 3)[1]
    loaded = load_model(path).set_params(warm_start=True, n_estimators=9).fit(X, y)
    whole = MultiBoostClassifier("tree:4", 9, loss="exponential").fit(X, y)
    assert loaded.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


@pytest.mark.parametrize(
    "learner", [Stump(), Tree(7), Product(2, Tree(3)), Tree(4, Product(2))], ids=lambda learner: str(learner)
)
def test_base_learner_survives(learner, tmp_path):
    X, y = make_classes(80, 3, 2)
    clf = MultiBoostClassifier(learner, 3, loss="exponential").fit(X, y)
    clf.save(tmp_path / "m")
    other = load_model(tmp_path / "m")
    again = MultiBoostClassifier(**other.get_params(deep=False)).fit(X, y)
    assert again.decision_function(X).tobytes() == clf.decision_function(X).tobytes()


def test_no_pickle_inside(path):
    """Nothing but a JSON header and plain arrays."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for name in archive.namelist():
            data = archive.read(name)
            if name == "header.json":
                assert json.loads(data)["format"] == "multiboost-model"
            else:
                assert name.endswith(".npy")
                assert data.startswith(b"\x93NUMPY")
                assert b"'|O'" not in data[:128]


def test_classes_that_are_objects_are_refused(tmp_path):
    """Python objects would need a pickle."""
    X, y = make_classes(60, 3, 2)
    classes = np.array([frozenset({1}), frozenset({2})], object)
    clf = MultiBoostClassifier("stump", 2, loss="exponential").fit(X, y)
    clf.model_.kind.classes = [classes]
    with pytest.raises(ValueError, match="Python objects"):
        clf.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_truncated_file(path):
    data = path.read_bytes()
    for size in (0, 1, 10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ModelFileError, match=r"cut short|damaged|not a"):
            load_model(path)


def test_altered_bytes(fitted, path):
    """Whatever byte is altered, the file is refused or the model is the same."""
    clf, X = fitted
    data = path.read_bytes()
    right = clf.decision_function(X).tobytes()
    refused = 0
    end_of_directory = range(len(data) - 22, len(data))
    for at in [*range(0, len(data), max(1, len(data) // 400)), *end_of_directory]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
        try:
            loaded = load_model(path)
        except ModelFileError:
            refused += 1
        else:
            assert loaded.decision_function(X).tobytes() == right
    assert refused > 200


def test_not_a_zip(tmp_path):
    (tmp_path / "m").write_text("this is a letter, not a model")
    with pytest.raises(ModelFileError, match="not a multiboost model"):
        load_model(tmp_path / "m")


def test_zip_that_is_no_model(tmp_path):
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("letter.txt", "hello")
    with pytest.raises(ModelFileError, match=r"no header\.json"):
        load_model(tmp_path / "z")
    for header in ("[]", '{"format": "other"}', "{}"):
        with zipfile.ZipFile(tmp_path / "z", "w") as archive:
            archive.writestr("header.json", header)
        with pytest.raises(ModelFileError, match="header does not say so"):
            load_model(tmp_path / "z")
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("header.json", "not json")
    with pytest.raises(ModelFileError, match="not a multiboost model"):
        load_model(tmp_path / "z")


@pytest.mark.parametrize("schema", [modelfile.SCHEMA + 1, "1", None])
def test_newer_schema(path, tmp_path, schema):
    with pytest.raises(ModelFileError, match="update multiboost"):
        load_model(with_header(path, tmp_path, schema=schema))


def test_folder_and_missing_file(tmp_path):
    with pytest.raises(ModelFileError, match="is a folder"):
        load_model(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_model(tmp_path / "nowhere")


@pytest.mark.parametrize("entry", ["ensemble.child", "ensemble.values", "classes.0", "history.edge"])
def test_missing_array(path, tmp_path, entry):
    changed = rewrite(path, tmp_path / "changed", lambda name, data: None if name == f"{entry}.npy" else data)
    with pytest.raises(ModelFileError, match=f"{entry}.*missing"):
        load_model(changed)


@pytest.mark.parametrize(
    "values",
    [
        {"plan": {"loss": {"name": "hinge"}}},
        {"parameters": {"colour": "red"}},
        {"parameters": {"base_learner": "forest:3"}},
        {"estimator": "Forest"},
        {"n_features": 1},
        {"target": "binary"},
    ],
    ids=str,
)
def test_header_that_does_not_fit(path, tmp_path, values):
    with pytest.raises(ModelFileError, match=r"not a whole|damaged|wrong|can be used here|is not known here"):
        load_model(with_header(path, tmp_path, **values))


def _set(index, value):
    def change(array):
        array[index] = value
        return array

    return change


DAMAGE = {
    "child out of range": ("ensemble.child", _set((0, 0), 10_000)),
    "leaf out of range": ("ensemble.child", _set((0, 1), -10_000)),
    "child that leads back": ("ensemble.child", _set((1, 0), 0)),
    "root out of range": ("ensemble.root", _set(0, 10_000)),
    "negative feature": ("ensemble.feature", _set(0, -1)),
    "feature out of range": ("ensemble.feature", _set(0, 4)),
    "terms out of range": ("ensemble.first_term", _set(-1, 10_000)),
    "terms out of order": ("ensemble.first_term", _set(1, 4)),
    "too few thresholds": ("ensemble.threshold", lambda a: a[:-1]),
    "too few votes": ("ensemble.values", lambda a: a[:, :-1]),
    "votes without labels": ("ensemble.values", lambda a: a[:, 0]),
    "initial scores of another size": ("ensemble.initial", lambda a: a[:-1]),
    "child of floats": ("ensemble.child", lambda a: a.astype(float)),
    "scalar feature": ("ensemble.feature", lambda a: a[0]),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_arrays(path, tmp_path, kind):
    """Arrays that would lead the kernel out of bounds are refused."""
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(with_array(path, tmp_path, *DAMAGE[kind]))


def test_failing_write_leaves_the_old_file(fitted, path, monkeypatch):
    """A write that fails half-way leaves the old model, and no temporary file."""
    clf, _ = fitted
    before = path.read_bytes()
    calls = []

    def fail(*args, **kwargs):
        calls.append(args)
        if len(calls) == 3:
            raise OSError("no space left on device")
        return write_array(*args, **kwargs)

    write_array = np.lib.format.write_array
    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="no space left"):
        clf.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_failing_rename_leaves_the_old_file(fitted, path, monkeypatch):
    before = path.read_bytes()

    def fail(*args):
        raise PermissionError("not allowed here")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(PermissionError, match="not allowed"):
        fitted[0].save(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_saving_over_an_old_model(fitted, path):
    """The new model replaces the old one."""
    X, y = make_classes(90, 4, 3, seed=8)
    clf = MultiBoostClassifier("stump", 2, votes="discrete").fit(X, y)
    clf.save(path)
    assert load_model(path).n_estimators_ == 2


def test_unfitted_model_is_not_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="not fitted"):
        MultiBoostClassifier().save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_feature_names_survive(tmp_path):
    import pandas as pd

    X, y = make_classes(60, 3, 2)
    frame = pd.DataFrame(X, columns=["height", "weight", "age"])
    clf = MultiBoostClassifier("stump", 3, loss="exponential").fit(frame, y)
    clf.save(tmp_path / "m")
    other = load_model(tmp_path / "m")
    np.testing.assert_array_equal(other.feature_names_in_, ["height", "weight", "age"])
    np.testing.assert_array_equal(other.predict(frame), clf.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        other.predict(frame.rename(columns={"age": "years"}))


def test_changed_files_are_refused_or_harmless():
    """A few seconds of what ``tests/fuzz_models.py`` does for as long as one likes."""
    found = fuzz(4.0, seed=1)
    assert found["refused"] > 10  # on a busy machine
    assert found["loaded"] > 5


def test_a_file_of_the_first_schema():
    """Written by the version before plans: the same scores, the settings as a plan, and a run that goes on."""
    X, y = load_iris(return_X_y=True)
    folder = Path(__file__).parent / "reference"
    clf = load_model(folder / "schema1.mb")
    np.testing.assert_array_equal(clf.decision_function(X[::10]), np.load(folder / "schema1_scores.npy"))
    assert isinstance(clf, MultiBoostClassifier)
    assert clf.plan_.loss.name == "logistic"
    assert clf.plan_.criterion == "newton"
    assert clf.plan_.learner_name == "tree:4"
    assert (clf.plan_.learning_rate, clf.plan_.subsample, clf.plan_.seed) == (0.1, 0.7, 3)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    longer = MultiBoostClassifier("tree:4", 9, loss="logistic", learning_rate=0.1, subsample=0.7, random_state=3)
    clf.set_params(n_estimators=9, warm_start=True).fit(X, names)
    assert clf.model_.digest() == longer.fit(X, names).model_.digest()
