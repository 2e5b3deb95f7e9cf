"""C99: compiled by two compilers with warnings as errors and sanitizers, compared on rows that nobody expects."""

import ctypes
import subprocess
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

from multiboost import FromClassifier, MedianBoostRegressor, MultiBoostClassifier, MultiBoostRegressor
from multiboost.base.registry import LEARNERS
from multiboost.data.categories import Categories
from multiboost.data.kinds import MultiLabel
from multiboost.export import ExportError, FixedPoint, Grid, to_c, to_conifer, to_onnx, to_python
from multiboost.export.c_scores import float_below, tolerance
from multiboost.export.c_text import distinct_identifiers, identifier, text
from multiboost.model.model import Columns, Model
from multiboost.model.policy import exit_policy

from .conftest import make_classes, make_labels
from .exporting import (
    CURVED,
    SANITIZERS,
    SPECS,
    WARNINGS,
    as_names,
    build,
    compiler,
    fitted,
    fitted_regressor,
    kernel_scores,
    mixed_table,
    nominal_only,
    run_program,
    strange_rows,
)
from .test_prediction import N_CATEGORIES, N_NUMERIC, random_ensemble, random_rows, stumps

ROWS = [3000, pytest.param(100_000, marks=pytest.mark.slow)]  # strange ones
FORMS = {"double": {}, "float": {"precision": "float"}, "fixed": {"fixed": "q8.8"}, "wide": {"fixed": "q12.20"}}
WIDE = ("stump", "tree:6")  # learners whose codes of 32 bits are tried too


@pytest.fixture(scope="module")
def models():
    return {spec: fitted(spec).model_ for spec in [*SPECS, *CURVED]}


@pytest.fixture(scope="module")
def sources(models):
    """Every base learner in every form, and the order in which the programs know them."""
    found = {}
    for k, (spec, model) in enumerate(models.items()):
        for form, options in FORMS.items():
            if (form == "wide" and spec not in WIDE) or (form != "double" and spec in CURVED):
                continue
            found[spec, form] = to_c(model, f"m{k}{form}", probabilities=True, **options)
    return found


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request, sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return build(folder, list(sources.values()), request.param, [*WARNINGS, *SANITIZERS])


@pytest.mark.parametrize("n", ROWS)
@pytest.mark.parametrize("spec", SPECS)
def test_scores_of_strange_rows(spec, n, models, sources, program):
    """Doubles bit for bit, floats within what is stated, integers as the emulator says."""
    model, order = models[spec], list(sources)
    X = strange_rows(model, n)
    expected = kernel_scores(model, X)
    _, scores = run_program(program, order.index((spec, "double")), X, sources[spec, "double"])
    np.testing.assert_array_equal(scores, expected)

    rows = X.clip(-3e38, 3e38).astype(np.float32)
    _, scores = run_program(program, order.index((spec, "float")), rows, sources[spec, "float"])
    exact = kernel_scores(model, rows.astype(np.float64))
    assert np.abs(scores - exact).max() <= tolerance(model) < 1e-4

    for form in ("fixed", "wide") if spec in WIDE else ("fixed",):
        source = sources[spec, form]
        codes, scores = run_program(program, order.index((spec, form)), X, source)
        np.testing.assert_array_equal(codes, source.fixed.codes(X))
        np.testing.assert_array_equal(scores, source.fixed.scores(codes))


@pytest.mark.parametrize("n", ROWS)
@pytest.mark.parametrize("spec", CURVED)
def test_scores_of_strange_rows_on_curves(spec, n, models, sources, program):
    """Polynomials in double precision bit for bit; also where infinities cancel."""
    model = models[spec]
    assert model.ensemble.is_curved
    X = strange_rows(model, n)
    _, scores = run_program(program, list(sources).index((spec, "double")), X, sources[spec, "double"])
    np.testing.assert_array_equal(scores, kernel_scores(model, X))
    for options in ({"precision": "float"}, {"fixed": "q8.8"}):
        with pytest.raises(ExportError, match="'column' votes with polynomials of a column"):
            to_c(model, **options)


@pytest.mark.parametrize("spec", ["tree:6", "selector"])
def test_scores_are_those_of_the_estimator(spec, models, sources, program):
    """From names of categories, as a user has them."""
    model = models[spec]
    X = strange_rows(model, 2000, seed=1)
    X[np.isinf(X)] = 1.0
    clf = fitted(spec)
    _, scores = run_program(program, list(sources).index((spec, "double")), X, sources[spec, "double"])
    known = np.where(X < 0, -1, np.floor(X)) if spec == "selector" else X
    np.testing.assert_array_equal(scores, clf.decision_function(as_names(model, known)))


def test_learners_are_exported_or_refused_by_name():
    """A base learner that comes later is refused as long as no exporter knows it."""
    frame, y = mixed_table(200)
    refused = {}
    for name in LEARNERS:
        if name in ("classifier", "within"):  # of other packages, and of medians: see the next test
            continue
        table = nominal_only(frame) if name in ("selector", "indicator") else frame
        clf = MultiBoostClassifier(name, 3, loss="logistic").fit(table, y)
        try:
            text = to_python(clf)
        except ExportError as error:
            refused[name] = str(error)
        else:
            space = {}
            exec(text, space)
            np.testing.assert_array_equal(space["decision_function"](table), clf.decision_function(table))
    assert not set(refused) & {"stump", "tree", "product", "selector", "indicator"}
    assert all(repr(name) in told for name, told in refused.items())


def test_what_is_not_known_is_refused():
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classes(120, 4, 3)
    clf = MultiBoostClassifier(FromClassifier(GaussianNB()), 2, loss="exponential").fit(X, y)
    with pytest.raises(ExportError, match="'classifier' holds fitted classifiers of other packages"):
        to_c(clf)
    votes = MedianBoostRegressor(n_estimators=2).fit(X, X[:, 0])
    with pytest.raises(ExportError, match="of the kind 'median' cannot be exported yet"):
        to_c(votes)
    first = MultiBoostClassifier("stump", 2, loss="exponential").fit(X, y)
    with pytest.raises(ExportError, match="starts from the scores of another one"):
        to_c(MultiBoostClassifier("stump", 2, loss="exponential", init=first).fit(X, y))
    numbers = MultiBoostRegressor("column", 2).fit(X, X[:, 0])
    for refusing in (to_onnx, to_conifer):
        with pytest.raises(ExportError, match="'column' votes with polynomials of a column"):
            refusing(numbers)
    model = first.model_
    lean = replace(model, policy=exit_policy(model.n_rounds, {}, {}), estimator="LeanClassifier")
    for refusing in (to_onnx, to_conifer, to_python, partial(to_c, precision="float"), partial(to_c, fixed="q8.8")):
        with pytest.raises(ExportError, match="a policy, by which rows leave early, and only C in double precision"):
            refusing(lean)
    ensemble = replace(model.ensemble, feature=model.ensemble.feature + 4)
    with pytest.raises(ExportError, match="'stump' cannot be exported yet: it computes columns of its own"):
        to_c(replace(model, ensemble=ensemble))

    class Odd(MultiLabel):
        name = "odd"

    with pytest.raises(ExportError, match="of the kind 'odd'"):
        to_c(replace(model, kind=Odd([np.arange(3)])))
    with pytest.raises(ExportError, match="Ensemble cannot be exported: give a fitted estimator"):
        to_c(model.ensemble)
    for given, told in (
        ({"name": "9x"}, "name '9x' cannot begin a C identifier; 'm9x' can"),
        ({"name": 'a"; system("x'}, "cannot begin a C identifier"),
        ({"precision": "half"}, "there are double and float"),
        ({"precision": "float", "fixed": "q8.8"}, "exclude each other"),
        ({"fixed": "8.8"}, "q8.8"),
        ({"fixed": "q40.8"}, "2 to 32 bits"),
        ({"fixed": {"x": "q8.8"}}, "names the column 'x', which the model does not have"),
        ({"fixed": {"0": "q8.8"}}, "no grid for the column '1'"),
    ):
        with pytest.raises(ExportError, match=told):
            to_c(model, **given)


def library(tmp_path, source, cc="gcc", flags=()):
    """The compiled code in this process."""
    source.write(tmp_path / f"{source.name}.c")
    made = tmp_path / f"{source.name}.so"
    done = subprocess.run([compiler(cc), *WARNINGS, *flags, "-O2", "-shared", "-fPIC", "-o", str(made),
                           str(tmp_path / f"{source.name}.c"), "-lm"], capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(made))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def scores_in(lib, name, X, n_labels, dtype=np.float64):
    found = np.empty((len(X), n_labels), dtype)
    for x, row in zip(np.ascontiguousarray(X), found, strict=True):
        getattr(lib, f"{name}_scores")(pointer(x), pointer(row))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_dags_that_no_learner_makes(seed, tmp_path):
    """Infinite thresholds, tests that nobody reaches, leaves without tests, products of any votes."""
    rng = np.random.default_rng(seed)
    ensemble = random_ensemble(rng, int(rng.integers(1, 5)), most_terms=1 + seed % 3)
    names = [None] * N_NUMERIC + [Categories([f"c{k}" for k in range(N_CATEGORIES)])]
    kind = MultiLabel([np.arange(ensemble.n_labels)])
    model = Model(ensemble, kind, Columns(N_NUMERIC + 1, None, names), 1.0, None, {})
    X = random_rows(rng, 400)
    for cc, flags in (("gcc", ["-march=native", "-ffp-contract=fast"]), ("clang", ["-march=native"])):
        lib = library(tmp_path, to_c(model, f"{cc}{seed}"), cc, flags)
        found = scores_in(lib, f"{cc}{seed}", X, ensemble.n_labels)
        np.testing.assert_array_equal(found, kernel_scores(model, X))


class TestAnswers:
    """Classes, probabilities and numbers, from scores."""

    def test_of_every_kind(self, tmp_path):
        X, y = make_classes(200, 4, 3)
        names = np.array(["a", 'b"', "c"])
        tasks = np.stack([names[y], np.where(X[:, 0] > 0, "up", "down")], axis=1)
        targets = {"binary": names[np.minimum(y, 1)], "multiclass": names[y], "multitask": tasks,
                   "multilabel": make_labels(200, 4, 3)[1]}  # fmt: skip
        for kind, target in targets.items():
            clf = MultiBoostClassifier("tree:4", 8, loss="exponential").fit(X, target)
            assert clf.model_.kind.name == kind
            lib = library(tmp_path, to_c(clf, kind, probabilities=True))
            K = clf.model_.kind.n_labels
            scores = scores_in(lib, kind, X, K)
            np.testing.assert_array_equal(scores, clf.decision_function(X).reshape(len(X), -1))
            p = np.empty((len(X), max(2, K)))
            for row, out in zip(scores, p, strict=True):
                getattr(lib, f"{kind}_probabilities")(pointer(row), pointer(out))
            given = clf.predict_proba(X)
            expected = np.concatenate(given, axis=1) if isinstance(given, list) else given
            np.testing.assert_allclose(p, expected, rtol=1e-13, atol=1e-300)
            self.classes(lib, clf, kind, scores, X)

    def classes(self, lib, clf, kind, scores, X):
        function = getattr(lib, f"{kind}_class")
        found, expected = [], clf.predict(X)
        labels = [str(c).encode() for part in clf.model_.kind.classes for c in part]
        table = (ctypes.c_char_p * len(labels)).in_dll(lib, f"{kind}_class_names")
        if kind in ("binary", "multiclass"):
            assert list(table) == labels
            found = [table[function(pointer(row))].decode() for row in scores]
        elif kind == "multilabel":
            found = [[function(pointer(row), k) for k in range(3)] for row in scores]
        else:
            assert list(table) == [c.encode() for c in clf.model_.kind.label_names()]
            found = [[table[function(pointer(row), t)].decode().partition(":")[2] for t in range(2)] for row in scores]
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize(
        "parameters", [{}, {"loss": "poisson"}, {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]}], ids=str
    )
    def test_of_numbers(self, parameters, tmp_path):
        """Values bit for bit, but for exp, which is the C library's."""
        model = fitted_regressor(**parameters)
        X = strange_rows(model.model_, 3000)
        for cc, flags in (("gcc", ["-march=native", "-ffp-contract=fast"]), ("clang", [])):
            source = to_c(model, cc)
            assert ("exp(" in source.source) == (parameters.get("loss") == "poisson")
            lib = library(tmp_path, source, cc, flags)
            K = model.model_.kind.n_labels
            scores, values = scores_in(lib, cc, X, K), np.empty((len(X), K))
            for row, out in zip(scores, values, strict=True):
                getattr(lib, f"{cc}_values")(pointer(row), pointer(out))
            expected = model.model_.answer(kernel_scores(model.model_, X)).reshape(len(X), -1)
            if parameters.get("loss") == "poisson":
                np.testing.assert_allclose(values, expected, rtol=1e-14)
            else:
                np.testing.assert_array_equal(values, expected)
        with pytest.raises(ExportError, match="numbers have no probabilities"):
            to_c(model, probabilities=True)

    def test_of_integers(self, tmp_path):
        """Fixed point: probabilities and classes of scores in units of 1 / ONE."""
        clf = fitted("tree:6")
        source = to_c(clf, "m", fixed="q12.20", probabilities=True)
        lib = library(tmp_path, source)
        X = strange_rows(clf.model_, 500)
        fixed = source.fixed
        scores = fixed.scores(fixed.codes(X))
        exact = kernel_scores(clf.model_, X)
        p = np.empty(exact.shape)
        for row, out in zip(scores, p, strict=True):
            lib.m_probabilities(pointer(row), pointer(out))
        np.testing.assert_allclose(p, clf.model_.probabilities(scores / fixed.one), rtol=1e-12)
        assert [lib.m_class(pointer(row)) for row in scores] == scores.argmax(axis=1).tolist()


NAMES = [
    "class", "int", "a b", "a_b", "A B", "", "9", "x*/ int main(){} /*", '"; system("rm -rf /"); "', "a\\", "%s%n",
    "??/", "µ température", "\n#error no", "\t", "y" * 300, "y" * 299 + "z", "model", "NAME", "LABELS", "__FILE__",
    "é" * 150,
]  # fmt: skip


class TestNames:
    """No name of a column, a class or a category can break the code."""

    def test_in_both_files(self, tmp_path):
        rng = np.random.default_rng(0)
        X = rng.integers(0, len(NAMES), size=(600, len(NAMES)))
        frame = {name: np.array(NAMES, object)[X[:, j]] for j, name in enumerate(NAMES)}
        frame = pd.DataFrame(frame)
        y = np.array(NAMES, object)[X[:, 0]]
        clf = MultiBoostClassifier("tree:4", 10, loss="exponential").fit(frame, y)
        for cc in ("gcc", "clang"):
            source = to_c(clf, cc, probabilities=True)
            assert source.header.isascii()
            assert source.source.isascii()
            lib = library(tmp_path, source, cc)
            table = (ctypes.c_char_p * len(NAMES)).in_dll(lib, f"{cc}_column_names")
            assert [name.decode() for name in table] == NAMES
            categories = list(clf.categories_[3])
            category = getattr(lib, f"{cc}_category")
            assert [category(3, name.encode()) for name in categories] == list(range(len(categories)))
            assert category(3, b"what nobody has") == category(3, b"clas") == category(3, b"classes") == -1
            assert category(-1, b"class") == category(len(NAMES), b"class") == -1
            rows = np.stack([[list(clf.categories_[j]).index(v) for v in frame[name]]
                             for j, name in enumerate(NAMES)], axis=1).astype(float)  # fmt: skip
            found = scores_in(lib, cc, rows, len(clf.classes_))
            np.testing.assert_array_equal(found, clf.decision_function(frame))

    @pytest.mark.parametrize("name", ["name", "real", "decoder", "model", "first", "labels_of", "RIGHT", "code", "int",
                                      "class", "x" * 31])  # fmt: skip
    def test_of_the_model(self, name, tmp_path):
        """Also such as our templates use, and keywords."""
        clf = fitted("stump", 4)
        for options in ({"fixed": "q8.8"}, {"precision": "float"}):
            library(tmp_path, to_c(clf, name, probabilities=True, **options))

    def test_identifiers_are_distinct(self):
        found = distinct_identifiers([*NAMES, "1_A", "a", "a", "0"])
        assert len(set(found)) == len(found)
        assert all(f"X_{one}".isidentifier() and len(one) < 50 for one in found)
        assert distinct_identifiers(["0", "1"]) == ["0", "1"]
        assert identifier("über-model 2") == "m_ber_model_2"

    def test_that_are_no_text_in_c(self):
        with pytest.raises(ExportError, match="the class 'a\\\\x00b' has a zero byte"):
            text("a\0b", "the class")
        with pytest.raises(ExportError, match="has 5000 bytes"):
            text("a" * 5000, "the column")
        with pytest.raises(ExportError, match="is not Unicode text"):
            text("\ud800", "the column")


class TestFixedPoint:
    """Integers: grids, their emulator, tables of stumps."""

    def test_a_grid_as_fine_as_the_data_changes_nothing(self):
        """Pixels of whole numbers: every value comes to its leaf, scores differ by the rounding of votes only."""
        from .conftest import make_levels

        X, y = make_levels(300, 5, 3)
        for spec in ("stump", "tree:6", "product:3"):
            clf = MultiBoostClassifier(spec, 20, loss="exponential").fit(X, y)
            fixed = FixedPoint.of(clf, "q7.1")
            found = fixed.scores(fixed.codes(X)) / fixed.one
            assert np.abs(found - clf.decision_function(X)).max() <= 21 / fixed.one
            np.testing.assert_array_equal(found.argmax(axis=1), clf.model_.kind.guess(clf.decision_function(X), 0))

    def test_codes(self):
        grid = Grid.of("q8.8")
        assert (grid.step, grid.low, grid.high) == (1 / 256, -32767, 32767)
        values = np.array([0.0, 1 / 256, -1e-9, 0.999 / 256, 127.9999, 1e9, -1e9, np.inf, -np.inf, 5e-324])
        np.testing.assert_array_equal(grid.codes(values), [0, 1, -1, 0, 32767, 32767, -32767, 32767, -32767, 0])
        grid = Grid(0.1, 20.0, 0, 255)
        np.testing.assert_array_equal(grid.codes(np.array([19.0, 20.0, 20.15, 99.0])), [0, 0, 1, 255])
        for wrong in ({"step": 0.0}, {"step": np.nan}, {"step": 1.0, "low": 3, "high": 3},
                      {"step": 1.0, "low": -(2**31)}):  # fmt: skip
            with pytest.raises(ExportError, match="a grid needs"):
                Grid(**wrong)

    def test_a_grid_for_each_column(self, tmp_path):
        """One of them given as a grid; nominal columns have none."""
        clf = fitted("tree:6")
        grids = {"a": "q4.12", "b": Grid(0.01, -5.0, 0, 1000), "c": "q2.4"}
        source = to_c(clf, "m", fixed=grids)
        lib = library(tmp_path, source)
        X = strange_rows(clf.model_, 2000)
        codes = np.empty(X.shape, np.int16)
        for x, out in zip(X, codes, strict=True):
            lib.m_quantise(pointer(x), pointer(out))
        np.testing.assert_array_equal(codes, source.fixed.codes(X))
        np.testing.assert_array_equal(scores_in(lib, "m", codes, 3, np.int32), source.fixed.scores(codes))

    def test_stumps_are_a_table_for_each_column(self):
        """Columns that no stump tests have none; the sum of the tables' extremes bounds the scores."""
        rng = np.random.default_rng(0)
        ensemble = stumps(rng.permutation(np.arange(50.0)), rng)
        model = Model(ensemble, MultiLabel([np.arange(2)]), Columns(3), 1.0, None, {})
        source = to_c(model, "m", fixed="q8.8").source
        assert "struct column columns[] = {\n    {0, 0, 50, 0, -1}\n}" in source
        assert "tests[]" not in source

    def test_sums_stay_within_32_bits(self):
        """Votes so large that half of the bits are for whole numbers; too large ones are refused."""
        rng = np.random.default_rng(0)
        one = stumps(np.arange(10.0), rng)
        model = Model(one, MultiLabel([np.arange(2)]), Columns(1), 1.0, None, {})
        large = replace(model, ensemble=replace(one, values=one.values * 1e5))
        fixed = FixedPoint.of(large, "q8.8")
        X = np.arange(-1.0, 12.0, 0.5)[:, None]
        assert fixed.one < FixedPoint.of(model, "q8.8").one
        exact = kernel_scores(large, X)
        assert np.abs(fixed.scores(fixed.codes(X)) / fixed.one - exact).max() <= 11 / fixed.one
        with pytest.raises(ExportError, match="too much for 32 bits"):
            FixedPoint.of(replace(model, ensemble=replace(one, values=one.values * 1e9)), "q8.8")


def test_thresholds_of_floats():
    """For every float x and double t: x > t if and only if x > float_below(t)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000).astype(np.float32)
    t = np.concatenate([x.astype(np.float64), np.nextafter(x.astype(np.float64), 9), rng.normal(size=2000)])
    below = float_below(t)
    assert (below.astype(np.float32) == below).all()
    np.testing.assert_array_equal(x[:, None] > t, x[:, None] > below.astype(np.float32))
    np.testing.assert_array_equal(
        float_below(np.array([np.inf, -np.inf, 1e300])), [np.inf, -np.inf, 3.4028234663852886e38]
    )


@pytest.mark.parametrize("flag", ["-ffast-math", "-ffinite-math-only"])
@pytest.mark.parametrize("cc", ["gcc", "clang"])
def test_fast_math_is_refused(cc, flag, tmp_path):
    to_c(fitted("stump", 2), "m").write(tmp_path / "m.c")
    done = subprocess.run([compiler(cc), flag, "-c", "-o", "/dev/null", str(tmp_path / "m.c")], capture_output=True,
                          text=True)  # fmt: skip
    assert done.returncode != 0
    assert "a missing value is NaN" in done.stderr


def test_the_header_is_also_for_cpp(tmp_path):
    to_c(fitted("stump", 2), "m", probabilities=True).write(tmp_path / "m.c")
    (tmp_path / "main.cpp").write_text('#include "m.h"\nint main() { return M_LABELS - 3; }\n')
    done = subprocess.run([compiler("g++"), "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-c", "-o",
                           "/dev/null", str(tmp_path / "main.cpp")], capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
