"""Probabilities elsewhere: every calibration in C, ONNX and the Python file beside ``predict_proba``."""

import ctypes
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from multiboost import MultiBoostClassifier
from multiboost.calibration import CALIBRATORS, Calibration
from multiboost.calibration.calibration import Question
from multiboost.export import ExportError, to_c, to_conifer, to_onnx, to_python

from .conftest import make_classes, make_labels
from .exporting import WARNINGS, compiler, kernel_scores, package

KINDS = ("binary", "multiclass", "multilabel", "multitask")
EXPORTED = ("theory", "margin", "temperature", "diagonal", "matrix", "quadratic", "platt", "isotonic", "sigmoid",
            "shift")  # fmt: skip
REFUSED = ("polynomial", "logistic")
N = 160


def target(kind: str):
    X, y = make_classes(N, 4, 3)
    if kind == "multilabel":
        return make_labels(N, 4, 3)
    return X, {"binary": y > 0, "multiclass": y, "multitask": np.stack([y, X[:, 0] > 0], axis=1)}[kind]


@pytest.fixture(scope="module")
def plain():
    """A model of every kind, and its rows."""
    found = {}
    for kind in KINDS:
        X, y = target(kind)
        found[kind] = MultiBoostClassifier("tree:4", 8, loss="exponential").fit(X, y).model_, X
        assert found[kind][0].kind.name == kind
    return found


def calibrated(model, X, name: str):
    """The model with another calibration, learned from noisy answers; its votes then grow, beyond what was seen."""
    rng = np.random.default_rng(0)
    scores = 0.3 * kernel_scores(model, X)
    questions = []
    for z in model.kind.by_question(scores):
        true = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
        questions.append(Question(z, true, rng.random(len(z)) + 0.5))
    ensemble = replace(model.ensemble, values=model.ensemble.values * 6.0)
    return replace(model, slope=0.3, calibration=Calibration.fit(CALIBRATORS.get(name)(), questions), ensemble=ensemble)


def fits(model, name: str) -> bool:
    """A parabola is for two answers."""
    return name != "quadratic" or model.kind.name in ("binary", "multilabel")


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def in_c(folder, sources, scores):
    """Probabilities by the compiled functions: all sources in one library."""
    files = [str(source.write(folder / f"{source.name}.c")[1]) for source in sources]
    done = subprocess.run([compiler("gcc"), *WARNINGS, "-O1", "-shared", "-fPIC", "-o", str(folder / "all.so"), *files,
                           "-lm"], capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    library, found = ctypes.CDLL(str(folder / "all.so")), []
    for source, F in zip(sources, scores, strict=True):
        p = np.full((len(F), max(2, F.shape[1])), np.nan, np.float32 if F.dtype == np.float32 else np.float64)
        for row, out in zip(np.ascontiguousarray(F), p, strict=True):
            getattr(library, f"{source.name}_probabilities")(pointer(row), pointer(out))
        found.append(p)
    return found


def joined(given):
    return np.concatenate(given, axis=1) if isinstance(given, list) else given


def in_python(model, X):
    space = {}
    exec(to_python(model), space)
    return joined(space["predict_proba"](X))


def within(model, F, off: float):
    """The least and the largest probabilities by "isotonic" that scores have that are so far off F.

    Its curves do not fall, and are steep.  Of weights w_k from l_k to h_k a share w_k / sum w is at least
    l_k / (l_k + the other h), and at most h_k / (h_k + the other l).
    """
    low, high = [], []
    asked = model.kind.by_question(model.slope * F)
    for part, z in zip(model.calibration.parts * (len(asked) // len(model.calibration.parts)), asked, strict=True):
        curves = [slice(*ends) for ends in zip(part.start[:-1], part.start[1:], strict=True)]
        by, k = 2.0 * model.slope * off, z.shape[1]
        x = z if k > 2 else z[:, 1:] - z[:, :1]
        least, most = (
            np.stack([np.interp(x[:, j] + d, part.knots[c], part.heights[c]) for j, c in enumerate(curves)], axis=1)
            for d in (-by, by)
        )
        if k == 2:
            least, most = np.concatenate([1 - most, least], axis=1), np.concatenate([1 - least, most], axis=1)
        others = np.ones((k, k)) - np.eye(k)
        low.append(least / np.maximum(least + most @ others, 1e-300))
        high.append(np.where(most > 0, most / np.maximum(most + least @ others, 1e-300), 1.0))
    ends = [joined(model.kind.probabilities(model.kind.label_probabilities(side))) for side in (low, high)]
    return np.minimum(*ends), np.maximum(*ends)


def in_onnx(model, X, precision="double"):
    rows = X.astype(np.float64 if precision == "double" else np.float32)
    proto = to_onnx(model, precision=precision)
    session = package("onnxruntime").InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, {"X": rows}), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_every_calibration(kind, plain, tmp_path):
    """C and Python to 1e-12 of a probability, ONNX to 1e-12; floats to 1e-4, whose scores are the less exact ones.

    Steps of isotonic curves are as steep as scores are near each other: there floats are what scores nearby have.
    """
    package("onnx")
    base, X = plain[kind]
    X = X.astype(np.float32).astype(np.float64)
    models = {name: calibrated(base, X, name) for name in EXPORTED if fits(base, name)}
    assert len(models) >= 5
    scores = [kernel_scores(model, X) for model in models.values()]
    expected = [joined(model.probabilities(F)) for model, F in zip(models.values(), scores, strict=True)]
    assert all(np.abs(p - expected[0]).max() > 1e-3 for p in expected[2:])  # they learned something, each its own
    sources = [to_c(model, name, probabilities=True) for name, model in models.items()]
    floats = [to_c(model, f"{name}_f", probabilities=True, precision="float") for name, model in models.items()]
    integers = [to_c(model, f"{name}_i", probabilities=True, fixed="q8.8") for name, model in models.items()]
    rounded = [np.rint(F * source.fixed.one).astype(np.int32) for F, source in zip(scores, integers, strict=True)]
    compiled = in_c(
        tmp_path, [*sources, *floats, *integers], [*scores, *(F.astype(np.float32) for F in scores), *rounded]
    )
    for k, (name, model) in enumerate(models.items()):
        np.testing.assert_allclose(compiled[k], expected[k], rtol=1e-12, atol=1e-15, err_msg=name)
        exact = joined(model.probabilities(rounded[k] / integers[k].fixed.one))
        np.testing.assert_allclose(compiled[k + 2 * len(models)], exact, rtol=1e-12, atol=1e-15, err_msg=name)
        np.testing.assert_allclose(in_python(model, X), expected[k], rtol=1e-12, atol=1e-15, err_msg=name)
        np.testing.assert_allclose(in_onnx(model, X)["probabilities"], expected[k], rtol=0, atol=1e-12, err_msg=name)
        for found in (compiled[k + len(models)], in_onnx(model, X, "float")["probabilities"]):
            if name != "isotonic":
                np.testing.assert_allclose(found, expected[k], rtol=0, atol=1e-4, err_msg=name)
                continue
            low, high = within(model, scores[k], 1e-4)
            assert (found >= low - 1e-5).all()
            assert (found <= high + 1e-5).all()
            assert np.median(high - low) < 1e-3


@pytest.mark.parametrize("name", ["quadratic", "platt", "isotonic"])
def test_tasks_of_two_classes(name, tmp_path):
    """What is asked of pairs of scores; onnxruntime merges a factor into what comes next, as a float."""
    package("onnx")
    X, y = make_classes(N, 4, 3)
    two = np.stack([np.where(y > 0, "yes", "no"), np.where(X[:, 0] > 0, "a", "b")], axis=1)
    model = calibrated(MultiBoostClassifier("tree:4", 8, loss="exponential").fit(X, two).model_, X, name)
    assert model.kind.name == "multitask"
    F = kernel_scores(model, X)
    expected = joined(model.probabilities(F))
    np.testing.assert_allclose(in_onnx(model, X)["probabilities"], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(in_python(model, X), expected, rtol=1e-12, atol=1e-15)
    (found,) = in_c(tmp_path, [to_c(model, "two", probabilities=True)], [F])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_the_defaults(kind, tmp_path):
    """Whatever they choose."""
    package("onnx")
    X, y = target(kind)
    clf = MultiBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    assert clf.calibration_.name == {"binary": "quadratic", "multilabel": "margin"}.get(kind, "matrix")
    expected = joined(clf.predict_proba(X))
    scores = clf.decision_function(X).reshape(N, -1)
    (found,) = in_c(tmp_path, [to_c(clf, kind, probabilities=True)], [scores])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(in_python(clf, X), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(in_onnx(clf, X)["probabilities"], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_scores_without_probabilities(name, plain):
    """Scores and answers are exported whatever the calibration is; who asks for more is told what to do."""
    package("onnx")
    told = f"by the calibration '{name}' cannot be exported, only scores and answers; train with another calibration"
    base, X = plain["multiclass"]
    model = calibrated(base, X, name)
    F = kernel_scores(model, X)
    assert "probabilities" not in to_c(model).header
    with pytest.raises(ExportError, match=told):
        to_c(model, probabilities=True)
    space = {}
    exec(to_python(model), space)
    np.testing.assert_array_equal(space["decision_function"](X), F)
    np.testing.assert_array_equal(space["predict"](X), model.answer(F))
    with pytest.raises(NotImplementedError, match=told):
        space["predict_proba"](X)
    with pytest.warns(UserWarning, match=f"no output 'probabilities': .*{told}"):
        found = in_onnx(model, X)
    assert sorted(found) == ["label", "scores"]
    np.testing.assert_allclose(found["scores"], F, atol=1e-12)
    assert to_conifer(model)["n_trees"] == model.n_rounds


def test_a_calibration_that_has_seen_no_rows(plain):
    """Softmax of the scores, or nothing known, as `probabilities` has it."""
    for kind, name in (("multiclass", "matrix"), ("multitask", "diagonal"), ("multilabel", "quadratic"),
                       ("multiclass", "platt"), ("multilabel", "platt"), ("multitask", "isotonic"),
                       ("binary", "isotonic"),
                       ("multiclass", "sigmoid"), ("multilabel", "shift")):  # fmt: skip
        model, X = plain[kind]
        model = replace(model, slope=0.5, calibration=Calibration(CALIBRATORS.get(name)()))
        expected = joined(model.probabilities(kernel_scores(model, X)))
        np.testing.assert_allclose(in_python(model, X), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["multiclass", "multitask"])
def test_scores_far_away(kind, plain, tmp_path):
    """Where all curves are 0 nothing is known, and no class is so unlikely that its share is lost."""
    base, X = plain[kind]
    models = {name: calibrated(base, X, name) for name in ("platt", "isotonic", "sigmoid", "shift")}
    F = 1e4 * np.random.default_rng(0).choice([-1.0, -0.9, 0.0, 1.0], (200, base.kind.n_labels))
    sources = [to_c(model, name, probabilities=True) for name, model in models.items()]
    for found, model in zip(in_c(tmp_path, sources, [F] * len(sources)), models.values(), strict=True):
        expected = joined(model.probabilities(F))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        space = {}
        exec(to_python(model), space)
        asked = enumerate(model.kind.by_question(F))
        np.testing.assert_allclose(np.concatenate([space["_chances"](q, z) for q, z in asked], 1), expected, atol=1e-12)
    if kind == "multiclass":
        nothing = (F == -1e4).all(axis=1)
        assert nothing.any()
        np.testing.assert_array_equal(joined(models["shift"].probabilities(F))[nothing], 1 / 3)
