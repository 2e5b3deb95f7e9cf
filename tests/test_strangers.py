"""What strangers trip over: exit codes, silence, files that hurt, names that bite, tables with nothing to learn."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
import types
import warnings
import zipfile
from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.model_selection import GridSearchCV, KFold

from multiboost import (
    EarlyStopping,
    FilterBoostClassifier,
    MDDAGClassifier,
    MedianBoostRegressor,
    ModelFileError,
    MultiBoostClassifier,
    MultiBoostRegressor,
    Progress,
    TimeLimit,
    ViolaJonesClassifier,
    __version__,
    evaluate,
    load_model,
    round_rules,
    write_report,
)
from multiboost.files import FileError, read_batches, read_file, write_table
from multiboost.files.content import NumberedNames
from multiboost.files.source import Stream
from multiboost.kernels.compiler import when_compiling
from multiboost.visible import visible

from .commands import in_process
from .conftest import ROOT
from .limits import run_limited


class TestReadersThatReadAhead:
    """A thread of pyarrow that asks Python for bytes while Python ends takes the process with it."""

    @pytest.fixture
    def busy(self, monkeypatch):
        """How many reads are going on, or come after the reader has answered; a disk as slow as that shows it."""
        counts = {"now": 0, "late": 0, "over": False}
        plain = Stream.read

        def slow(self, size=-1):
            counts["now"] += 1
            counts["late"] += counts["over"]
            if threading.current_thread() is not threading.main_thread():
                time.sleep(0.1)
            data = plain(self, size)
            counts["now"] -= 1
            return data

        monkeypatch.setattr(Stream, "read", slow)
        monkeypatch.setattr("multiboost.files.delimited._BLOCK", 1 << 10)
        return counts

    @staticmethod
    def _is_quiet(busy) -> bool:
        now = busy["now"]
        busy["over"] = True
        time.sleep(0.3)
        return now == busy["late"] == 0

    def test_csv_with_an_error_at_its_beginning(self, tmp_path, busy):
        path = tmp_path / "a.csv"
        path.write_text("a,b\n1,2\n3\n" + "4,5\n" * 2000)
        with pytest.raises(FileError, match="line 3"):
            read_file(path)
        assert self._is_quiet(busy)

    def test_batches_that_nobody_wants_any_more(self, tmp_path, busy):
        path = tmp_path / "a.csv"
        path.write_text("a,b\n" + "4,5\n" * 1000)
        batches = read_batches(path, rows=10)
        next(batches)
        batches.close()
        assert self._is_quiet(busy)


def data(n=120, columns=3, seed=0):
    """Numbers, and three classes that follow from them."""
    X = np.random.default_rng(seed).normal(size=(n, columns))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.3)


def quick(n_estimators=5, **parameters):
    """A classifier that compares nothing."""
    fixed = {"loss": "exponential", "learning_rate": 0.2, "subsample": 1.0}
    return MultiBoostClassifier("tree:4", n_estimators, **{**fixed, **parameters})


def command(*arguments, **options):
    """``python -m multiboost``."""
    line = [sys.executable, "-m", "multiboost", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, **options)


class TestSilence:
    """Whoever waits is told for what."""

    CODE = """
import sys
from multiboost import MultiBoostClassifier
from tests.test_strangers import data
MultiBoostClassifier("stump", 2, verbose=int(sys.argv[1])).fit(*data())
"""

    @pytest.mark.slow  # compiles everything
    def test_compiling_and_comparing_are_said_once(self, tmp_path):
        """In a fresh cache; without ``verbose``, and for kernels that are kept, there is no word."""
        lines = {}
        for name, verbose in (("cold", 1), ("warm", 1), ("quiet", 0)):
            environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
            done = subprocess.run(
                [sys.executable, "-c", self.CODE, str(verbose)],
                env=environment,
                cwd=ROOT,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            lines[name] = done.stderr.splitlines()
        comparing = "comparing settings on held-out rows"
        assert lines["cold"][0].startswith("compiling kernels")
        assert [line.startswith("compiling") for line in lines["cold"]].count(True) == 1
        assert lines["cold"].count(comparing) == lines["warm"].count(comparing) == 1
        assert not any(line.startswith("compiling") for line in lines["warm"])
        assert lines["quiet"] == []

    @pytest.mark.parametrize("parameters", [{}, {"loss": "quantile", "quantile": [0.2, 0.8]}])
    def test_regressors_say_it_too(self, capsys, parameters):
        X, y = data()
        many = -(-1100 // len(X))  # small tables are not compared
        MultiBoostRegressor("tree", 3, verbose=1, **parameters).fit(np.tile(X, (many, 1)), np.tile(y, many))
        assert capsys.readouterr().err.splitlines().count("comparing settings on held-out rows") == 1

    @pytest.mark.parametrize("kind", ["plain", "filter", "lean"])
    def test_whoever_compiles_says_it(self, monkeypatch, kind):
        """With a stand-in for a cache that is empty."""

        @contextlib.contextmanager
        def at_once(say):
            say()
            yield

        monkeypatch.setattr("multiboost.estimators.notices.when_compiling", at_once)
        X, y = data()
        make = {
            "plain": lambda: quick(1),
            "filter": lambda: FilterBoostClassifier(eps=0.4, n_estimators=1),
            "lean": lambda: MDDAGClassifier(quick(1).fit(X, y > 0), n_episodes=100, block=100),
        }
        out = io.StringIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # so few examples
            make[kind]().fit(X, y > 0, callbacks=[Progress(file=out)])
        assert out.getvalue().count("compiling kernels, once for this machine") == 1

    def test_nothing_is_said_where_nothing_is_compared(self, capsys):
        quick(verbose=1).fit(*data())
        assert "comparing" not in capsys.readouterr().err

    def test_the_command_says_it(self, tmp_path):
        np.savetxt(tmp_path / "a.csv", np.c_[data()], delimiter=",", header="a,b,c,y", comments="", fmt="%.4g")
        line = ("train", "a.csv", "--target", "y", "--out", "a.mb", "--rounds", "3")
        assert "comparing settings" in command(*line, cwd=tmp_path).stderr
        assert command(*line, "--quiet", cwd=tmp_path).stderr == ""

    def test_compare_shows_how_far_it_is(self, tmp_path):
        np.savetxt(tmp_path / "a.csv", np.c_[data()], delimiter=",", header="a,b,c,y", comments="", fmt="%.4g")
        line = (
            "compare",
            "a.csv",
            "--target",
            "y",
            "--folds",
            "2",
            "--rounds",
            "2",
            "--base",
            "stump",
            "--base",
            "tree:3",
        )
        done = command(*line, cwd=tmp_path)
        assert re.search(r"^1 of 2, stump: \d+\.\d\d %$", done.stderr, re.MULTILINE)
        assert re.search(r"^2 of 2, tree:3: \d+\.\d\d %$", done.stderr, re.MULTILINE)


class Clock:
    """Time that goes on by a second whenever somebody looks."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


class TestTimeLimit:
    """It starts with ``fit``, and covers the comparison of settings."""

    @pytest.mark.parametrize("seconds", [4.0, 40.0, 200.0])
    def test_the_comparison_counts(self, monkeypatch, seconds):
        """By a clock that strikes at every round of every trial."""
        clock = Clock()
        for module in ("callbacks", "comparison"):
            monkeypatch.setattr(f"multiboost.boosting.{module}.perf_counter", clock)
        clf = MultiBoostClassifier(n_jobs=1).fit(*data(), callbacks=[TimeLimit(seconds)])
        assert clf.stop_reason_ == f"the time limit of {seconds:g} s is reached"
        assert clock.now <= seconds + 6
        assert clf.n_iter_ >= 1

    @pytest.mark.parametrize("parameters", [{}, {"loss": "quantile", "quantile": [0.1, 0.9]}])
    def test_of_regressors(self, monkeypatch, parameters):
        clock = Clock()
        for module in ("callbacks", "comparison"):
            monkeypatch.setattr(f"multiboost.boosting.{module}.perf_counter", clock)
        X, y = data()
        clf = MultiBoostRegressor(n_jobs=1, **parameters).fit(X, y, callbacks=[TimeLimit(20)])
        assert "time limit" in clf.stop_reason_
        assert clock.now <= 26

    def test_a_generous_limit_changes_nothing(self):
        X, y = data()
        limited = MultiBoostClassifier(n_estimators=5).fit(X, y, callbacks=[TimeLimit(1000)])
        assert limited.ensemble_.digest() == MultiBoostClassifier(n_estimators=5).fit(X, y).ensemble_.digest()


class TestIdentifiers:
    """A target of identifiers or whole numbers."""

    def test_numbers_are_sent_to_the_regressor(self):
        X, _ = data(60)
        with pytest.warns(UserWarning, match=r"40 classes in 60 rows.*MultiBoostRegressor"):
            quick(1).fit(X, np.arange(60) % 40)

    def test_names_are_called_identifiers(self):
        X, _ = data(60)
        with pytest.warns(UserWarning, match=r"60 classes in 60 rows.*identifier"):
            quick(1).fit(X, [f"name {k}" for k in range(60)])

    def test_classes_of_some_rows_are_classes(self):
        X, _ = data(120)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            quick(1).fit(X, np.arange(120) % 30)

    def test_what_does_not_fit_is_refused_with_an_estimate(self, monkeypatch):
        X, _ = data(300)
        monkeypatch.setattr("multiboost.memory.available", lambda: 1e6)
        with pytest.raises(MemoryError, match=r"300 rows times 300 classes or labels: about 3.6 MB, and 1 MB are free"):
            quick(1).fit(X, np.arange(300))

    def test_twenty_thousand_names_under_a_limit(self):
        """Refused at once; before, they took 11 GB."""
        code = """
try:
    MultiBoostClassifier("stump", 1).fit(np.zeros((20_000, 2)), [f"name {k}" for k in range(20_000)])
except MemoryError as error:
    print(error)
"""
        done = run_limited(
            code,
            imports="import numpy as np; from multiboost import MultiBoostClassifier; import sklearn.utils.multiclass",
        )
        assert done.stdout.startswith("not enough memory for 20000 rows times 20000 classes"), done.stderr


class TestEarlyStopping:
    """Of equal errors the round with the least risk is kept."""

    def test_ties_are_broken_by_risk(self):
        X, y = data(200)
        V, v = data(40, seed=1)
        clf = quick(60).fit(X, y, validation=(V, v))
        error, risk = clf.history_["validation_error"], clf.history_["validation_risk"]
        ties = np.flatnonzero(error == error.min())
        assert len(ties) > 1, "there is no tie to break"
        stopped = quick(60).fit(X, y, validation=(V, v), callbacks=[EarlyStopping(60)])
        assert stopped.n_iter_ == ties[np.argmin(risk[ties])] + 1 > ties[0] + 1

    def test_of_the_training_set(self):
        X, y = data(200)
        clf = quick(60).fit(X, y)
        error, risk = clf.history_["training_error"], clf.history_["risk"]
        kept = quick(60).fit(X, y, callbacks=[EarlyStopping(60, "training_error")]).n_iter_
        assert kept - 1 == min(range(60), key=lambda t: (error[t], risk[t]))


class TestNothingToLearn:
    """The best constant, and a warning."""

    @pytest.mark.parametrize("parameters", [{}, {"loss": "logistic"}, {"loss": "softmax"}, {"votes": "discrete"}])
    @pytest.mark.parametrize("hole", [1.0, np.nan])
    def test_classes(self, parameters, hole, tmp_path):
        X, y = np.full((60, 2), hole), np.repeat([0, 1, 2], [10, 35, 15])
        with pytest.warns(UserWarning, match="nothing can be learned"):
            clf = MultiBoostClassifier(n_estimators=4, **parameters).fit(X, y)
        assert (clf.predict(np.random.default_rng(0).normal(size=(5, 2))) == 1).all()
        np.testing.assert_allclose(clf.predict_proba(X)[0], np.array([10, 35, 15]) / 60, atol=0.02)
        assert clf.n_iter_ == 1
        assert "no cut" in clf.stop_reason_
        clf.save(tmp_path / "a.mb")
        again = load_model(tmp_path / "a.mb")
        np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
        assert again.stop_reason_ == clf.stop_reason_
        found = evaluate(clf, X, y)
        assert found.error == pytest.approx(25 / 60)
        assert np.isfinite(found.log_loss)
        assert "all" not in str(round_rules(clf)[0]) or len(clf.classes_) == 3
        assert len(list(clf.staged_predict(X))) == 1
        assert clf.compiled().predict(X[0]) == 1

    def test_labels_and_tasks(self):
        X = np.ones((60, 2))
        labels = np.stack([np.arange(60) < 40, np.arange(60) < 15], axis=1).astype(int)
        with pytest.warns(UserWarning, match="nothing can be learned"):
            np.testing.assert_array_equal(MultiBoostClassifier().fit(X, labels).predict(X)[0], [1, 0])
        tasks = np.stack([np.repeat(["a", "b"], [20, 40]), np.repeat(["x", "y", "z"], [10, 20, 30])], axis=1)
        with pytest.warns(UserWarning, match="nothing can be learned"):
            assert MultiBoostClassifier().fit(X, tasks).predict(X)[0].tolist() == ["b", "z"]

    @pytest.mark.parametrize("loss", ["squared", "absolute", "poisson"])
    def test_numbers(self, loss):
        y = np.r_[np.arange(80.0), 1000.0]
        with pytest.warns(UserWarning, match="nothing can be learned"):
            clf = MultiBoostRegressor(loss=loss).fit(np.ones((81, 2)), y)
        wanted = np.median(y) if loss == "absolute" else y.mean()
        np.testing.assert_allclose(clf.predict(np.zeros((3, 2))), wanted)

    def test_quantiles(self):
        y = np.random.default_rng(0).normal(size=500)
        with pytest.warns(UserWarning, match="nothing can be learned"):
            clf = MultiBoostRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9]).fit(np.ones((500, 1)), y)
        found = clf.predict(np.ones((1, 1)))[0]
        np.testing.assert_allclose((y[:, None] <= found).mean(axis=0), [0.1, 0.5, 0.9], atol=0.05)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: MultiBoostRegressor(),
            lambda: MultiBoostRegressor("stump", 3, loss="squared"),
            lambda: MultiBoostRegressor("tree", 3, loss="quantile", quantile=[0.1, 0.9]),
            lambda: MultiBoostRegressor("tree", 3, loss="poisson"),
            lambda: MedianBoostRegressor("tree", 3),
        ],
    )
    def test_numbers_that_are_all_the_same(self, make):
        X, _ = data(60)
        with pytest.warns(UserWarning, match="nothing can be learned: y is constant, 3 in 60 samples"):
            clf = make().fit(X, np.full(60, 3.0))
        np.testing.assert_allclose(clf.predict(X), 3.0)
        assert np.isfinite(evaluate(clf, X, np.full(60, 3.0)).rmse)

    def test_examples_of_a_filter(self):
        """The majority, and its share as its probability."""
        y = np.repeat([0, 1, 2], [10, 35, 15])
        for columns in (np.ones((60, 2)), np.full((60, 2), np.nan)):
            with pytest.warns(UserWarning, match="nothing can be learned from these examples: no cut"):
                clf = FilterBoostClassifier(eps=0.3).fit(columns, y)
            assert (clf.predict(columns) == 1).all()
            np.testing.assert_allclose(clf.predict_proba(columns)[0], np.array([10, 35, 15]) / 60, atol=0.06)
            assert "no cut" in clf.stop_reason_

    def test_stages_of_a_cascade(self):
        X, y = np.ones((60, 2)), np.repeat([0, 1], [40, 20])
        with pytest.warns(UserWarning, match="nothing can be learned"):
            cascade = ViolaJonesClassifier(quick(), n_stages=2).fit(X, y)
        assert len(set(cascade.predict(X))) == 1

    def test_a_fold_of_a_grid_search_does_not_fail(self):
        """One column that differs from zero in the rows of one fold only."""
        X, y = np.zeros((60, 1)), np.tile([0, 0, 1], 20)
        X[:20, 0] = np.arange(20)
        search = GridSearchCV(quick(), {"n_estimators": [1, 2]}, cv=KFold(3), error_score="raise")
        with pytest.warns(UserWarning, match="nothing can be learned"):
            search.fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def changed(path, out, header=None, arrays=None, more=()):
    """A model file with parts of its header and some arrays exchanged."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    if header is not None:
        entries["header.json"] = json.dumps({**json.loads(entries["header.json"]), **header}).encode()
    for name, change in (arrays or {}).items():
        array = change(np.load(io.BytesIO(entries[f"{name}.npy"])))
        file = io.BytesIO()
        np.save(file, array)
        entries[f"{name}.npy"] = file.getvalue()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [*entries.items(), *more]:
            archive.writestr(name, content)
    return out


def npy(shape, dtype="<f8") -> bytes:
    """An array of zeros as a file."""
    file = io.BytesIO()
    np.save(file, np.zeros(shape, dtype))
    return file.getvalue()


def test_a_byte_order_mark_amid_an_arff_file_is_a_value(tmp_path):
    """At the beginning of the data, where pyarrow would leave it out."""
    path = tmp_path / "a.arff"
    path.write_bytes(b"@attribute a {0,1}\n@attribute b real\n@data\n\xef\xbb\xbf0,5\n1,6\n")
    with pytest.raises(FileError, match="line 4: attribute 'a' has the undeclared value"):
        read_file(path)


class TestModelFilesOfStrangers:
    """Refused, or read in memory that their size justifies."""

    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, tmp_path_factory):
        path = tmp_path_factory.mktemp("models") / "a.mb"
        X, y = data()
        quick().fit(X, y).save(path)
        return path

    def limited(self, path, what="load_model(sys.argv[1])") -> str:
        """What loading says within a gigabyte."""
        code = f"try:\n    {what}\n    print('loaded')\nexcept ModelFileError as error:\n    print('refused:', error)"
        imports = "import sys; from multiboost import ModelFileError, MultiBoostClassifier, load_model"
        done = run_limited(code, path, imports=imports)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_columns_that_nobody_has(self, model, tmp_path):
        found = self.limited(changed(model, tmp_path / "b.mb", {"n_features": 2**31 - 1}))
        assert found.startswith("refused:")
        assert "n_features" in found
        assert "not enough memory for 50000000 columns" in self.limited(
            changed(model, tmp_path / "b.mb", {"n_features": 50_000_000})
        )

    def test_an_unknown_array_is_not_read(self, model, tmp_path):
        path = changed(model, tmp_path / "b.mb", more=[("extra.npy", npy(1 << 28, "<f4"))])
        assert path.stat().st_size < 2e6
        assert self.limited(path) == "loaded\n"

    @pytest.mark.parametrize("name", ["ensemble.gain", "history.edge", "classes.0"])
    def test_an_array_that_is_blown_up(self, model, tmp_path, name):
        path = changed(model, tmp_path / "b.mb", arrays={name: lambda array: np.zeros(1 << 26, array.dtype)})
        assert "of so small a file" in self.limited(path)

    def test_a_header_that_is_blown_up(self, model, tmp_path):
        path = changed(model, tmp_path / "b.mb", {"data": {"file": " " * (1 << 28)}})
        assert "its header is larger than any" in self.limited(path)

    def test_a_header_that_is_too_deep(self, model, tmp_path):
        path = tmp_path / "b.mb"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", "[" * 100_000)
        assert self.limited(path).startswith("refused:")

    @pytest.mark.parametrize("name", ["ensemble.values", "ensemble.initial", "ensemble.size"])
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_votes_that_are_no_numbers(self, model, tmp_path, name, value):
        path = changed(model, tmp_path / "b.mb", arrays={name: lambda array: np.full(array.shape, value)})
        with pytest.raises(ModelFileError, match="do not fit together"):
            load_model(path)

    @pytest.mark.parametrize("slope", [-1.0, float("nan")])
    def test_slopes_that_cannot_be(self, model, tmp_path, slope):
        with pytest.raises(ModelFileError):
            load_model(changed(model, tmp_path / "b.mb", {"slope": slope}))

    @pytest.mark.parametrize("part", ["nominal_features", "step"])
    def test_nonsense_about_the_training(self, model, tmp_path, part):
        """Refused, or of no use to predictions: never a traceback."""
        with zipfile.ZipFile(model) as archive:
            header = json.loads(archive.read("header.json"))
        if part == "step":
            told = {"plan": {**header["plan"], "step": {"name": "rate", "learning_rate": "fast"}}}
        else:
            told = {"parameters": {**header["parameters"], "nominal_features": 3}}
        path = changed(model, tmp_path / "b.mb", told)
        (tmp_path / "a.csv").write_text("x0,x1,x2\n1,2,3\n")
        for line in (("inspect", path), ("predict", path, tmp_path / "a.csv", "-o", tmp_path / "p.csv")):
            done = in_process(*line)
            assert done.code in (0, 2), done.err
            assert len(done.err.splitlines()) == done.code // 2

    def test_base_classifiers_that_share_a_leaf(self, tmp_path):
        """Sound, but not as our own files are: rows leave one by one."""
        X, y = data()
        quick().fit(X, y).early_exit(X, 0.3, 0.5).save(tmp_path / "a.mb")
        share = {"ensemble.root": lambda root: np.r_[root[:-1], [-1]].astype(root.dtype)}
        clf = load_model(changed(tmp_path / "a.mb", tmp_path / "b.mb", arrays=share))
        single = clf.compiled()
        np.testing.assert_array_equal(clf.decision_function(X), [single.scores(x) for x in X])

    def test_a_history_is_not_needed(self, model, tmp_path):
        """Pruned and imported models have none, and can be looked at."""
        path = changed(model, tmp_path / "b.mb", {"history": []})
        done = in_process("inspect", path)
        assert done.code == 0, done.err
        write_report(load_model(path), *data(), path=tmp_path / "r.html")

    @pytest.mark.parametrize("told", [{"file": 3}, {"target": 5}, {"ignore": [1]}, {"names": {}}, {"rows": "many"}])
    def test_nonsense_about_the_training_file(self, model, tmp_path, told):
        path = changed(model, tmp_path / "b.mb", {"data": told})
        (tmp_path / "a.csv").write_text("x0,x1,x2\n1,2,3\n")
        for line in (("inspect", path), ("predict", path, tmp_path / "a.csv")):
            done = in_process(*line)
            assert done.code == 2, done.err
            assert "says nonsense of its training file" in done.err

    def test_a_checkpoint_still_resumes(self, tmp_path):
        X, y = data()
        quick(3).fit(X, y, checkpoint=tmp_path / "c.mb")
        resumed = quick(5).fit(X, y, checkpoint=tmp_path / "c.mb", resume=True)
        assert resumed.ensemble_.digest() == quick(5).fit(X, y).ensemble_.digest()


@pytest.mark.slow
@pytest.mark.parametrize("fuzzer", ["fuzz_files", "fuzz_models"])
def test_fuzzers_end_within_a_gigabyte(fuzzer):
    """Some seconds of what they do for as long as one likes; they limit themselves."""
    line = [sys.executable, "-m", f"tests.{fuzzer}", "30"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


class TestLongFilesOfStrangers:
    """A small Parquet file that says the same of very many rows."""

    def test_reading_whole_is_refused_within_a_gigabyte(self, tmp_path):
        path, rows = tmp_path / "a.parquet", 1 << 24
        part = pa.table({"a": np.zeros(rows), "b": np.zeros(rows, np.int64), "c": np.zeros(rows, bool)})
        with parquet.ParquetWriter(path, part.schema, compression="zstd") as writer:
            for _ in range(8):
                writer.write_table(part, row_group_size=rows)
        assert path.stat().st_size < 2e6
        code = "sys.argv[1:] = ['train', sys.argv[1], '-t', 'b', '--out', 'x.mb']; main()"
        imports = "import sys; from multiboost.cli.app import main; import multiboost.cli.train, pyarrow.parquet"
        done = run_limited(code, path, imports=imports)
        assert done.returncode == 2, done.stderr
        assert "not enough memory for 134217728 rows of 3 columns: about 2.16 GB" in done.stderr
        first = next(read_batches(path, rows=100))
        assert first.n_rows == 100


class TestWideFilesOfStrangers:
    """A small svmlight file with one huge index."""

    def test_training_is_refused_within_a_gigabyte(self, tmp_path):
        path = tmp_path / "a.svm"
        path.write_text("1 1:1 2:1\n0 1:2\n" * 300 + "1 1000000000:1\n")
        code = "sys.argv[1:] = ['train', sys.argv[1], '--out', sys.argv[1] + '.mb']; main()"
        imports = (
            "import sys; from multiboost.cli.app import main; import multiboost.cli.train; "
            "import multiboost.estimators.multiboost_classifier"
        )
        done = run_limited(code, path, imports=imports)
        assert done.returncode == 2, done.stderr
        assert "not enough memory for 1000000000 columns" in done.stderr

    def test_names_are_found_without_a_list(self):
        names = NumberedNames(10**9, 1)
        assert "f1" in names
        assert "f1000000000" in names
        assert not [name for name in ("f0", "f1000000001", "f01", "x", 3) if name in names]
        assert names.index("f17") == 16
        assert "f7" not in NumberedNames(5)


ESCAPE = "\x1b[31mred\x07\u202e\n"


class TestNamesThatBite:
    """Control characters in names are shown and not obeyed."""

    def test_the_function(self):
        assert visible(ESCAPE) == "\\x1b[31mred\\x07\\u202e\\n"
        assert visible("größe \u200d ok") == "größe \u200d ok"
        assert visible("half \udc80") == "half \\udc80"

    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, tmp_path_factory):
        """Columns, categories, classes and the training file are called names."""
        folder = tmp_path_factory.mktemp("names")
        X, y = data()
        frame = pd.DataFrame({f"{ESCAPE}{k}": X[:, k] for k in range(3)})
        frame[f"{ESCAPE}c"] = np.where(X[:, 0] > 0, f"{ESCAPE}yes", f"{ESCAPE}no")
        classes = np.array([f"{ESCAPE}{k}" for k in range(3)])[y]
        clf = quick(4).fit(frame, classes, provenance={"file": ESCAPE, "rows": 120, "target": [f"{ESCAPE}t"]})
        clf.save(folder / "a.mb")
        frame[f"{ESCAPE}t"] = classes
        write_table(frame, folder / "a.parquet")
        return folder

    @pytest.mark.parametrize(
        "line", [("inspect", "a.mb"), ("inspect", "a.mb", "--round", "1"), ("evaluate", "a.mb", "a.parquet")]
    )
    def test_commands(self, model, line, monkeypatch):
        monkeypatch.chdir(model)
        done = in_process(*line)
        assert done.code == 0, done.err
        assert "\\x1b[31mred" in done.out
        assert not set("\x1b\x07\u202e") & set(done.out + done.err)

    def test_training(self, model, monkeypatch):
        monkeypatch.chdir(model)
        done = in_process(
            "train",
            "a.parquet",
            "-t",
            f"{ESCAPE}t",
            "-o",
            "\x1b[31mx.mb",
            "-n",
            "2",
            "--base",
            "stump",
            "--loss",
            "logistic",
        )
        assert done.code == 0, done.err
        assert not set("\x1b\x07\u202e") & set(done.out + done.err)
        done = in_process("train", "a.parquet", "-t", "nix\x1b[31m", "-o", "y.mb")
        assert done.code == 2
        assert not set("\x1b\x07\u202e") & set(done.err)

    def test_names_of_files(self, model, monkeypatch):
        """Of what is written, and of what cannot be read."""
        monkeypatch.chdir(model)
        for line in (
            ("lean", "a.mb", "a.parquet", "--max-disagreement", "0.3", "--confidence", "0.5", "-o", f"{ESCAPE}.mb"),
            ("export", "a.mb", "--to", "python", "-o", f"{ESCAPE}.py"),
            ("report", "a.mb", "a.parquet", "-o", f"{ESCAPE}.html"),
        ):
            done = in_process(*line)
            assert done.code == 0, done.err
            assert "\\x1b[31mred\\x07\\u202e\\n." in done.err.replace("\n", "")
            assert not set("\x1b\x07\u202e") & set(done.out + done.err)
        done = in_process("compare", f"{ESCAPE}.csv", "-t", "y")
        assert done.code == 2
        assert not set("\x1b\x07\u202e") & set(done.err)

    def test_pages(self, model, monkeypatch):
        monkeypatch.chdir(model)
        assert in_process("report", "a.mb", "a.parquet", "-o", "r.html").code == 0
        page = (model / "r.html").read_text(encoding="utf-8")
        assert "\\x1b[31mred" in page
        assert not set("\x1b\x07\u202e") & set(page)

    def test_predictions_at_a_terminal(self, model):
        """A file has the names as they are, and so has a pipe."""
        line = [sys.executable, "-m", "multiboost", "predict", "a.mb", "a.parquet"]
        piped = subprocess.run(line, cwd=model, capture_output=True, check=True).stdout
        assert ESCAPE.encode() in piped
        ours, theirs = os.openpty()
        done = subprocess.Popen(line, cwd=model, stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # a terminal that nobody writes to any more
            while piece := os.read(ours, 1 << 16):
                seen += piece
        os.close(ours)
        assert done.wait() == 0, done.stderr.read()
        done.stderr.close()
        lines = seen.decode().splitlines()
        assert lines[1].strip('"').startswith("\\x1b[31mred\\x07\\u202e\\n")
        assert len(lines) == 121
        assert not set("\x1b\x07\u202e") & set(seen.decode())

    def test_texts_in_python(self, model):
        clf = load_model(model / "a.mb")
        X, y = data()
        frame = pd.DataFrame(X, columns=clf.feature_names_in_[:3]).assign(**{f"{ESCAPE}c": f"{ESCAPE}yes"})
        found = evaluate(clf, frame, np.array([f"{ESCAPE}{k}" for k in range(3)])[y])
        for text in (str(round_rules(clf)[0]), str(found), repr(found)):
            assert not set("\x1b\x07\u202e") & set(text)
        assert "\\x1b[31mred" in str(found)


class TestClearErrors:
    """What other packages take, and what nobody can."""

    @pytest.mark.parametrize("make", [MultiBoostRegressor, MultiBoostClassifier])
    def test_lazy_frames(self, make):
        X, y = data()
        frame, target = pl.DataFrame(X), pl.DataFrame({"y": y})
        with pytest.raises(ValueError, match=r"X is a LazyFrame.*collect\(\)"):
            make("stump", 1).fit(frame.lazy(), y)
        with pytest.raises(ValueError, match=r"y is a LazyFrame.*collect\(\)"):
            make("stump", 1).fit(frame, target.lazy())
        with pytest.raises(ValueError, match=r"X is a LazyFrame"):
            make("stump", 1).fit(frame, y).predict(frame.lazy())

    def test_columns_of_one_name(self):
        X, y = data()
        for frame in (pd.DataFrame(X, columns=["a", "b", "a"]), pa.table(list(X.T), names=["a", "b", "a"])):
            with pytest.raises(ValueError, match="same name: 'a'"):
                quick().fit(frame, y)

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
    def test_columns_of_lists(self, library):
        """Lists of one length would be taken for a matrix."""
        X, y = data()
        frame = library({"a": X[:, 0].tolist(), "b": [[float(v)] for v in X[:, 1]]})
        with pytest.raises(ValueError, match=r"column 'b' (does not hold numbers: its values are lists|holds List)"):
            quick().fit(frame, y)
        clf = quick().fit(library({"a": X[:, 0].tolist(), "b": X[:, 1].tolist()}), y)
        with pytest.raises(ValueError, match=r"column 'b' (does not hold numbers: its values are lists|holds List)"):
            clf.predict(frame)

    def test_dates(self):
        X, y = data()
        days = [date(2024, 1, 1) + timedelta(int(k)) for k in range(len(y))]
        with pytest.raises(ValueError, match="column 'when' holds dates, not numbers; make numbers of them"):
            quick().fit(pd.DataFrame({"a": X[:, 0], "when": days}), y)
        with pytest.raises(TypeError, match="X does not hold numbers"):
            quick().fit(np.array([X[:, 0], days], dtype=object).T, y)

    @pytest.mark.parametrize("make", [MultiBoostRegressor, MultiBoostClassifier])
    def test_callbacks(self, make):
        X, y = data()
        for wrong, message in (
            (EarlyStopping, r"write callbacks=\[EarlyStopping"),
            (EarlyStopping(3), r"write callbacks=\[EarlyStopping"),
            ([EarlyStopping], r"make one of it: EarlyStopping\("),
            ([print], "no multiboost.Callback"),
            (3, "must be a list"),
        ):
            with pytest.raises(ValueError, match=message):
                make("stump", 1).fit(X, y, callbacks=wrong)

    @pytest.mark.parametrize("make", [MultiBoostRegressor, MultiBoostClassifier])
    def test_arguments_of_other_packages(self, make):
        X, y = data()
        with pytest.raises(TypeError, match=r"'eval_set'; here it is validation=\(X, y\)"):
            make("stump", 1).fit(X, y, eval_set=[(X, y)])
        with pytest.raises(TypeError, match=r"unexpected keyword argument 'nonsense'$"):
            make("stump", 1).fit(X, y, nonsense=1)

    @pytest.mark.parametrize("make", [MultiBoostRegressor, MultiBoostClassifier])
    def test_weights_beyond_all_numbers(self, make):
        X, y = data()
        with pytest.raises(ValueError, match="their sum is not a number; divide them"):
            make("stump", 1).fit(X, y, np.full(len(y), 1e308))
        with pytest.raises(ValueError, match="their sum is not a number; divide them"):
            make("stump", 1).fit(X, y, None, np.full((len(y), 3 if make is MultiBoostClassifier else 1), 1e308))

    def test_stop_reasons(self):
        X, y = data()
        assert quick(3).fit(X, y).stop_reason_ == "all 3 rounds were made"
        stopped = quick(30).fit(X, y, callbacks=[EarlyStopping(2, "risk"), TimeLimit(1e-9)])
        assert stopped.stop_reason_ == "the time limit of 1e-09 s is reached"


class TestShortTexts:
    """In notebooks, and where an object is only looked at."""

    def test_evaluations(self):
        X, y = data()
        for clf in (quick().fit(X, y), MultiBoostRegressor("stump", 3).fit(X, y)):
            found = evaluate(clf, X, y)
            assert len(repr(found)) < 250
            assert "\n" not in repr(found)
            assert f"{found.error:.4f}" in repr(found)
            measures = [line for line in str(found).splitlines() if line.startswith(" ")]  # beside headline and remarks
        assert found._repr_html_().count("<tr>") == len(measures)

    def test_rules(self):
        X, y = data()
        frame = pd.DataFrame(X, columns=["<b>", "c", "d"])
        rules = round_rules(quick().fit(frame, y))
        assert re.fullmatch(r"<round 1: 3 tests; print it for its rules>", repr(rules[0]))
        assert "&lt;b&gt; &gt;" in rules[0]._repr_html_()

    def test_a_bar_in_a_notebook(self, monkeypatch):
        """With a stand-in for IPython, whose display is asked for one bar that is updated."""
        shown = []

        class Handle:
            def update(self, html):
                shown.append(html)

        def display(html, display_id):
            assert display_id is True
            shown.append(html)
            return Handle()

        shell = types.SimpleNamespace(kernel=object())
        python = types.ModuleType("IPython")
        python.get_ipython = lambda: shell
        python.display = types.ModuleType("IPython.display")
        python.display.HTML, python.display.display = str, display
        monkeypatch.setitem(sys.modules, "IPython", python)
        monkeypatch.setitem(sys.modules, "IPython.display", python.display)
        quick(7).fit(*data(), callbacks=[Progress(every=1000)])
        assert len(shown) == 2
        assert '<progress value="1" max="7"' in shown[0]
        assert '<progress value="7" max="7"' in shown[-1]
        assert "round 7 of 7" in shown[-1]

    def test_a_log_shows_the_last_round(self):
        out = io.StringIO()
        quick(7).fit(*data(), callbacks=[Progress(every=1000, file=out)])
        assert out.getvalue().splitlines()[-1].startswith("round 7 of 7")


class TestSingleRows:
    """``compiled()`` takes any array of numbers, and has probabilities."""

    @pytest.mark.parametrize("kind", ["binary", "classes", "labels", "tasks"])
    def test_probabilities(self, kind):
        X, y = data()
        targets = {
            "binary": y > 0,
            "classes": y,
            "labels": np.stack([y > 0, y > 1], axis=1) * 1,
            "tasks": np.stack([y, y % 2], axis=1),
        }
        clf = quick().fit(X, targets[kind])
        wanted, found = clf.predict_proba(X[:1]), clf.compiled().probabilities(X[0])
        if kind == "tasks":
            assert [q.tolist() for q in found] == [q[0].tolist() for q in wanted]
        else:
            np.testing.assert_array_equal(found, wanted[0])

    def test_other_numbers_are_not_compiled_for(self):
        X, y = data()
        single, calls = quick().fit(X, y).compiled(), []
        with when_compiling(lambda: calls.append(1)):
            for row in (
                X[0].astype(np.float32),
                X[0].round().astype(int),
                X[::2].T[:, 0],
                X[0] > 0,
                np.asfortranarray(X)[0],
            ):
                np.testing.assert_array_equal(single.scores(row), single.scores(np.array(row, float)))
        assert not calls

    def test_what_is_no_row(self):
        X, y = data()
        single = quick().fit(X, y).compiled()
        with pytest.raises(TypeError, match=r"got a list: write np.array\(x\)"):
            single.predict(X[0].tolist())
        with pytest.raises(ValueError, match="one-dimensional"):
            single.predict(X[:1])
        with pytest.raises(ValueError, match="has no probabilities"):
            MultiBoostRegressor("stump", 2).fit(X, y).compiled().probabilities(X[0])


COMMANDS = [
    *("train", "predict", "evaluate", "lean", "inspect", "compare"),
    *("report", "export", "import", "warmup", "demo", "version"),
]


class TestCommandLine:
    """Small things."""

    def test_version(self):
        assert command("--version").stdout == f"multiboost {__version__}\n"

    def test_flags_take_nothing(self):
        for name in ((), *((command,) for command in COMMANDS)):
            done = in_process(*name, "--help")
            assert done.code == 0
            assert "bool" not in done.out.lower()

    @pytest.mark.parametrize("name", COMMANDS)
    def test_options_that_there_are_not(self, name):
        done = in_process(name, "--\x1b[31mnix")
        assert done.code == 2
        assert "No such option" in done.err
        assert "\x1b" not in done.err

    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        X, y = data()
        frame = pd.DataFrame(X.round(3), columns=["a", "b", "c"]).assign(y=y)
        for name, separator in (("comma", ","), ("semicolon", ";"), ("bar", "|")):
            frame.to_csv(tmp_path / f"{name}.csv", index=False, sep=separator)
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_delimiters(self, folder):
        """Semicolons are recognised; others are named; all files give the same model."""
        digests = set()
        for name, options in (("comma", ()), ("semicolon", ()), ("bar", ("--delimiter", "|"))):
            line = ("train", f"{name}.csv", *options, "-t", "y", "-n", "3", "--base", "stump", "--loss", "logistic")
            done = in_process(*line, "--out", f"{name}.mb", "--json")
            assert done.code == 0, done.err
            digests.add(json.loads(done.out)["digest"])
            lean = ("lean", "-o", "lean.mb", "--max-disagreement", "0.3", "--confidence", "0.5")
            for more in (("evaluate",), ("predict", "-o", "out.csv"), ("report", "-o", "r.html"), lean):
                done = in_process(*more, "comma.mb", f"{name}.csv", *options)
                assert done.code == 0, done.err
        assert len(digests) == 1
        done = in_process("train", "bar.csv", "-t", "y", "-o", "x.mb")
        assert done.code == 2
        (folder / "a.svm").write_text("1 1:2\n")
        done = in_process("train", "a.svm", "--delimiter", ";", "-o", "x.mb")
        assert "--delimiter ';' goes with csv and tsv files" in done.err

    @pytest.mark.parametrize("value", ["inf", "-inf", "1e300", "0.5"])
    def test_classes_that_are_no_whole_numbers(self, folder, value):
        (folder / "a.csv").write_text("x,y\n" + "".join(f"{k},{'1' if k % 2 else value}\n" for k in range(40)))
        done = in_process("train", "a.csv", "-t", "y", "-o", "x.mb")
        assert done.code == 2
        assert done.err.startswith("multiboost: a.csv: the target 'y' holds real numbers; classes are names or whole")

    def test_a_semicolon_in_quotes_is_none(self, tmp_path):
        (tmp_path / "a.csv").write_text('"a;b"\n1\n2\n')
        assert list(read_file(tmp_path / "a.csv").names) == ["a;b"]
        (tmp_path / "b.csv").write_text('a;"b,c"\n1;2\n')
        assert list(read_file(tmp_path / "b.csv").names) == ["a", "b,c"]
        assert [b.names for b in read_batches(tmp_path / "b.csv")] == [["a", "b,c"]]

    def test_all_unknown_columns_are_named(self, folder):
        done = in_process("train", "comma.csv", "-t", "y", "--ignore", "u", "--ignore", "v", "-o", "x.mb")
        assert "comma.csv has no columns 'u', 'v' (--ignore)" in done.err
        in_process("train", "comma.csv", "-t", "y", "-n", "1", "--base", "stump", "-q", "-o", "x.mb")
        (folder / "other.csv").write_text("a,x1,x2,y\n1,2,3,0\n")
        assert (
            "other.csv has no columns 'b', 'c', which the model has" in in_process("evaluate", "x.mb", "other.csv").err
        )
        (folder / "more.csv").write_text("a,b,c,x1,x2,y\n1,2,3,4,5,0\n")
        assert "--ignore 'x1' --ignore 'x2'" in in_process("evaluate", "x.mb", "more.csv").err

    def test_errors_are_percent_everywhere(self, folder):
        done = in_process(
            "train", "comma.csv", "-t", "y", "-n", "2", "--base", "stump", "--valid-fraction", "0.3", "-o", "x.mb"
        )
        shown = in_process("evaluate", "x.mb", "comma.csv").out
        looked = in_process("inspect", "x.mb").out
        for text in (done.err, shown, looked):
            lines = [line for line in text.splitlines() if re.search(r"error|hamming", line)]
            assert lines
            assert all(re.search(r"\d\.\d\d %", line) for line in lines), lines

    # Where a command reads a data file, the reader fails while others of its threads are at work.
    FAILURES = (
        ("train", "bad.csv", "-t", "y", "-o", "x.mb"),
        ("predict", "a.mb", "bad.csv"),
        ("evaluate", "a.mb", "bad.csv"),
        ("lean", "a.mb", "bad.csv", "-o", "x.mb"),
        ("compare", "bad.csv", "-t", "y"),
        ("report", "a.mb", "bad.csv", "-o", "r.html"),
        ("import", "a.xml", "--columns", "bad.csv", "-o", "x.mb"),
        ("inspect", "bad.csv"),
        ("export", "bad.csv", "--to", "c", "-o", "x.c"),
    )
    MORE_FAILURES = (
        ("train", "comma.csv", "-t", "nix", "-o", "x.mb"),
        ("predict", "comma.csv", "comma.csv"),
        ("evaluate", "nix.mb", "comma.csv"),
        ("report", "comma.csv", "comma.csv", "-o", "r.html"),
        ("lean", "bad.csv", "comma.csv", "-o", "x.mb"),
        ("import", "bad.csv", "-o", "x.mb"),
    )

    @pytest.mark.parametrize(
        ("line", "count"),
        [
            *(pytest.param(line, 1, id=" ".join(line)) for line in FAILURES + MORE_FAILURES),
            *(
                pytest.param(line, 100, id=f"{line[0]}, {part} hundred times", marks=pytest.mark.slow)
                for line in FAILURES
                for part in ("first", "second")
            ),
        ],
    )
    def test_quick_failures_end_with_code_two(self, folder, line, count):
        (folder / "bad.csv").write_text("a,y\n1,2\n3\n" + "4,5\n" * 1000)
        quick(1).fit(*data()).save(folder / "a.mb")
        for _ in range(count):
            done = command(*line)
            assert done.returncode == 2, (line, done.stderr)
            assert len(done.stderr.splitlines()) == 1
