"""The command line: the same numbers as Python, clear words for bad input, nothing lost when a run ends early."""

import csv
import errno
import gzip
import io
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.io import arff as scipy_arff
from sklearn import metrics

from multiboost import EarlyStopping, MultiBoostClassifier, load_model
from multiboost.files import Content, Labels, read_file, write_table

from .conftest import ROOT, make_classes, make_labels, shared_data

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
arrow_csv = pytest.importorskip("pyarrow.csv")
pytest.importorskip("typer")

from multiboost.cli import predict as predict_command  # noqa: E402
from multiboost.cli.ambiguous import is_ambiguous  # noqa: E402
from multiboost.cli.app import main  # noqa: E402
from multiboost.cli.times import seconds_of, time_of  # noqa: E402


class Result(NamedTuple):
    """What a command leaves: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    """Run a command in this process and in a folder of its own; a list, or one text as in a shell."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(command, stdin: bytes | None = None) -> Result:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
        monkeypatch.setattr(sys, "argv", ["multiboost", *words])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        capsys.readouterr()
        try:
            main()
        except SystemExit as end:
            return Result(end.code, *capsys.readouterr())
        raise AssertionError("main ends with an exit code")

    return run


@pytest.fixture
def good(cli):
    """The same; the command has to succeed."""

    def run(command, **more) -> Result:
        result = cli(command, **more)
        assert result.code == 0, result.err
        return result

    return run


@pytest.fixture
def bad(cli, tmp_path):
    """The same; the command has to fail with one line, exit code 2, and every file as it was."""

    def run(command, *words: str, **more) -> str:
        before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        result = cli(command, **more)
        assert result.code == 2, result
        assert result.out == ""
        assert result.err.startswith("multiboost: ")
        assert result.err.count("\n") == 1, result.err
        for word in words:
            assert word in result.err
        assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
        return result.err

    return run


def command(*words) -> list[str]:
    """A command in a process of its own."""
    return [sys.executable, "-m", "multiboost", *map(str, words)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def people(n: int = 160, seed: int = 0) -> pd.DataFrame:
    """Numbers with gaps, whole numbers, names with gaps, weights, and targets of every kind."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(4),
            "level": rng.integers(0, 9, n),
            "colour": rng.choice(["red", "green", "blue", "dark grey", "a,b"], n),
            "weight": rng.uniform(0.5, 2, n).round(3),
        }
    )
    score = frame["size"] + (frame.colour == "red") + rng.normal(scale=0.3, size=n)
    frame["class"] = np.where(score > 0.5, "yes", np.where(frame.level > 5, "no", "maybe"))
    frame["grade"] = frame.level % 3 + 1
    frame["tall"] = (score > 0).astype(int)
    frame["late"] = ((frame.level + rng.integers(0, 3, n)) > 5).astype(int)
    frame.loc[frame.index[::17], "size"] = np.nan
    frame.loc[frame.index[5::23], "colour"] = None
    return frame


TRAIN, TEST = people()[:120], people()[120:]
COLUMNS = ["size", "level", "colour"]
ONE = [*COLUMNS, "class"]
ROUNDS = 6


@pytest.fixture
def files(tmp_path):
    """train.csv and test.csv with one target."""
    TRAIN[ONE].to_csv(tmp_path / "train.csv", index=False)
    TEST[ONE].to_csv(tmp_path / "test.csv", index=False)
    return tmp_path


@pytest.fixture
def model(files, good):
    """m.mb, trained from train.csv."""
    good(f"train train.csv -t class -o m.mb -n {ROUNDS} --base tree:4 --loss exponential -q")
    return files / "m.mb"


def digest(path) -> str:
    return load_model(path).ensemble_.digest()


def fitted(parameters, frame=TRAIN, columns=COLUMNS, target="class", **more):
    """The same training from Python."""
    clf = MultiBoostClassifier(**{"n_estimators": ROUNDS, **parameters})
    return clf.fit(frame[columns], frame[target], **more)


# 1. The same model as from Python

SETTINGS = [
    ("", {}),
    ("--base stump --votes discrete", {"base_learner": "stump", "votes": "discrete"}),
    ("--base stump --loss exponential", {"base_learner": "stump", "loss": "exponential"}),
    ("--base tree:5", {"base_learner": "tree:5"}),
    ("--base tree:5 --votes discrete --learning-rate 0.5",
     {"base_learner": "tree:5", "votes": "discrete", "learning_rate": 0.5}),
    ("--base tree:6 --loss logistic --ridge 2 --learning-rate 0.3",
     {"base_learner": "tree:6", "loss": "logistic", "ridge": 2.0, "learning_rate": 0.3}),
    ("--base tree:5 --subsample 0.5 --seed 3", {"base_learner": "tree:5", "subsample": 0.5, "random_state": 3}),
    ("--base tree:5 --row-sampler mvs:0.5 --column-sampler lazy:0.5",
     {"base_learner": "tree:5", "row_sampler": "mvs:0.5", "column_sampler": "lazy:0.5"}),
    ("--base product:2 --votes discrete", {"base_learner": "product:2", "votes": "discrete"}),
    ("--base product:3", {"base_learner": "product:3"}),
    ("--base selector --votes discrete", {"base_learner": "selector", "votes": "discrete"}),
    ("--base indicator --votes discrete --seed 5",
     {"base_learner": "indicator", "votes": "discrete", "random_state": 5}),
    ("--base tree:4/product:2", {"base_learner": "tree:4/product:2"}),
    ("--base product:2/tree:3", {"base_learner": "product:2/tree:3"}),
    ("--base product:2/indicator --votes discrete --seed 1",
     {"base_learner": "product:2/indicator", "votes": "discrete", "random_state": 1}),
    ("--base tree:4 --weighting uniform", {"base_learner": "tree:4", "weighting": "uniform"}),
    ("--base tree:4 --weighting half", {"base_learner": "tree:4", "weighting": "half"}),
    ("--base tree:4 --weighting balanced", {"base_learner": "tree:4", "weighting": "balanced"}),
    ("--base tree:4 --max-bins 8 --min-category-rows 20",
     {"base_learner": "tree:4", "max_bins": 8, "min_category_rows": 20}),
    ("--base tree:4 --class-weight yes=3 --class-weight no=0.5",
     {"base_learner": "tree:4", "class_weight": {"yes": 3.0, "no": 0.5}}),
    ("--base tree:4 --class-weight balanced", {"base_learner": "tree:4", "class_weight": "balanced"}),
    ("--base tree:4 --nominal level", {"base_learner": "tree:4", "nominal_features": ["level"]}),
    ("--base tree:4 --jobs 1", {"base_learner": "tree:4", "n_jobs": 2}),
]  # fmt: skip


class TestTheSameModel:
    @pytest.mark.parametrize(("options", "parameters"), SETTINGS, ids=[o or "defaults" for o, _ in SETTINGS])
    def test_every_setting(self, options, parameters, files, good):
        """Bit for bit, and so are the scores."""
        good(f"train train.csv -t class -o m.mb -n {ROUNDS} -q {options}")
        ours, clf = load_model("m.mb"), fitted(parameters)
        assert ours.ensemble_.digest() == clf.ensemble_.digest()
        np.testing.assert_array_equal(ours.decision_function(TEST[COLUMNS]), clf.decision_function(TEST[COLUMNS]))

    def test_sample_weights(self, files, good):
        TRAIN[[*ONE, "weight"]].to_csv("w.csv", index=False)
        good(f"train w.csv -t class --weight weight -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf = fitted({"base_learner": "tree:4"}, sample_weight=TRAIN["weight"])
        assert digest("m.mb") == clf.ensemble_.digest()
        assert digest("m.mb") != fitted({"base_learner": "tree:4"}).ensemble_.digest()

    @pytest.mark.parametrize("weighting", ["auto", "half"])
    def test_labels(self, weighting, files, good):
        TRAIN[[*COLUMNS, "tall", "late"]].to_csv("l.csv", index=False)
        good(f"train l.csv -t tall -t late -o m.mb -n {ROUNDS} --base tree:4 --weighting {weighting} -q")
        clf = fitted({"base_learner": "tree:4", "weighting": weighting}, target=["tall", "late"])
        assert clf.model_.kind.name == "multilabel"
        assert digest("m.mb") == clf.ensemble_.digest()

    def test_tasks(self, files, good):
        TRAIN[[*COLUMNS, "class", "grade"]].to_csv("t.csv", index=False)
        good(f"train t.csv -t class -t grade -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf = fitted({"base_learner": "tree:4"}, target=["class", "grade"])
        assert clf.model_.kind.name == "multitask"
        assert digest("m.mb") == clf.ensemble_.digest()

    def test_unknown_tasks(self, files, good):
        """Whole numbers with gaps beside text: unknown, and the classes are whole numbers."""
        frame = TRAIN.copy()
        frame["grade"] = frame.grade.astype(float).where(frame.index % 7 > 0)
        frame[[*COLUMNS, "class", "grade"]].to_csv("t.csv", index=False)
        good(f"train t.csv -t class -t grade -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf = fitted({"base_learner": "tree:4"}, frame, target=["class", "grade"])
        assert digest("m.mb") == clf.ensemble_.digest()
        assert load_model("m.mb").classes_[1].tolist() == [1, 2, 3]
        good("evaluate m.mb t.csv")

    def test_unknown_labels(self, files, good):
        frame = TRAIN.copy()
        frame["tall"] = frame.tall.astype(float).where(frame.index % 5 > 0)
        frame[[*COLUMNS, "tall", "late"]].to_csv("l.csv", index=False)
        good(f"train l.csv -t tall -t late -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf = fitted({"base_learner": "tree:4"}, frame, target=["tall", "late"])
        assert digest("m.mb") == clf.ensemble_.digest()

    def test_ignored_columns(self, files, good):
        TRAIN[[*ONE, "grade", "weight"]].to_csv("i.csv", index=False)
        good(f"train i.csv -t class --ignore grade --ignore weight -o m.mb -n {ROUNDS} --base tree:4 -q")
        assert digest("m.mb") == fitted({"base_learner": "tree:4"}).ensemble_.digest()
        good("evaluate m.mb i.csv")
        good("predict m.mb test.csv -o p.csv")

    def test_a_part_set_apart(self, files, good):
        """The rows are those of NumPy's permutation with the seed; a class of one row stays in training."""
        frame = TRAIN[ONE].copy()
        frame.loc[frame.index[7], "class"] = "once"
        frame.to_csv("o.csv", index=False)
        for seed in range(4):
            options = f"--valid-fraction 0.5 --seed {seed} --base tree:4 -n {ROUNDS}"
            found = json.loads(good(f"train o.csv -t class {options} -o m.mb --json").out)
            apart = np.zeros(len(frame), bool)
            apart[np.random.default_rng(seed).permutation(len(frame))[:60]] = True
            apart[7] = False
            clf = fitted({"base_learner": "tree:4", "random_state": seed}, frame[~apart])
            assert found["digest"] == clf.ensemble_.digest()
            wrong = np.mean(clf.predict(frame[apart][COLUMNS]) != frame["class"][apart])
            assert found["validation"]["error"] == pytest.approx(wrong, abs=1e-12)

    def test_config_file(self, files, good):
        """A TOML file of options; what is given beside it wins."""
        Path("run.toml").write_text(
            'target = "class"\nrounds = 50\nbase = "stump"\nvotes = "discrete"\nout = "m.mb"\nquiet = true\n'
            'time-limit = 3600\nlearning-rate = 1\n'
        )  # fmt: skip
        result = good(f"train train.csv --config run.toml -n {ROUNDS}")
        assert (result.out, result.err) == ("", "")
        clf = fitted({"base_learner": "stump", "votes": "discrete", "learning_rate": 1.0})
        assert digest("m.mb") == clf.ensemble_.digest()

    def test_what_the_model_file_knows(self, model):
        assert load_model(model).data_ == {
            "file": "train.csv", "rows": 120, "first_column": None, "columns": 4, "target": ["class"],
            "weight": None, "ignore": [],
        }  # fmt: skip


# 2. The same model from every kind of file


def arrow_table(frame: pd.DataFrame, declare: bool):
    """A pyarrow table; with ``declare`` names are categories in alphabetical order, one of which never occurs."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if declare:
        for name in frame.select_dtypes(exclude="number"):
            values = frame[name]
            categories = sorted({v for v in values if isinstance(v, str)} | {"never"})
            codes = pa.array([categories.index(v) if isinstance(v, str) else None for v in values], pa.int32())
            column = pa.DictionaryArray.from_arrays(codes, pa.array(categories))
            table = table.set_column(table.column_names.index(name), name, column)
    return table


FILES = ["x.csv", "x.tsv", "x.parquet", "x.arrow", "x.feather", "x.arff", "x.csv.gz", "x.tsv.bz2", "x.arff.xz",
         "x.parquet.gz", "x.csv.xz", "x.arff.bz2"]  # fmt: skip


class TestEveryFormat:
    @pytest.mark.parametrize("declare", [False, True], ids=["text", "categories"])
    @pytest.mark.parametrize("name", FILES)
    def test_the_same_model(self, name, declare, tmp_path, good):
        """Names with blanks and commas, gaps, categories that a file declares in its own order."""
        write_table(arrow_table(TRAIN[ONE], declare), tmp_path / name)
        write_table(arrow_table(TEST[ONE], declare), tmp_path / f"test{name[1:]}")
        good(f"train {name} -t class -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf = fitted({"base_learner": "tree:4"})
        assert digest("m.mb") == clf.ensemble_.digest()
        good(f"predict m.mb test{name[1:]} -o p.parquet")
        assert pq.read_table("p.parquet")["class"].to_pylist() == clf.predict(TEST[COLUMNS]).tolist()

    @pytest.mark.parametrize("name", ["x.svm", "x.libsvm.gz", "x.txt", "x.txt.bz2", "x.csv", "x.arff", "x.parquet"])
    def test_numbers(self, name, tmp_path, good):
        """Sparse files and simple text have numbered columns and carry their class."""
        X, y = make_classes(120, 4, 3, seed=4)
        X = np.where(np.abs(X) < 0.5, 0.0, X.round(3))
        names = [f"f{j}" for j in range(4)]
        numbered = "svm" in name or "txt" in name
        content = Content("x", "simple", names, matrix=X, labels=Labels(y))
        write_table(content, tmp_path / name)
        target = "" if numbered else "-t class"
        good(f"train {name} {target} -o m.mb -n {ROUNDS} --base tree:4 -q --test {name}")
        clf = MultiBoostClassifier("tree:4", ROUNDS).fit(X, y)
        assert digest("m.mb") == clf.ensemble_.digest()
        good(f"predict m.mb {name} -o p.csv --scores")
        np.testing.assert_array_equal(pd.read_csv("p.csv").to_numpy(), clf.decision_function(X))
        found = json.loads(good(f"evaluate m.mb {name} --json").out)
        assert found["error"] == np.mean(clf.predict(X) != y)

    def test_nominal_columns_of_simple_text(self, tmp_path, good):
        X, y = make_classes(120, 3, 3, seed=5)
        X = X.round()
        write_table(Content("x", "simple", ["f0", "f1", "f2"], matrix=X, labels=Labels(y)), tmp_path / "x.txt")
        good(f"train x.txt --nominal f1 -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf = MultiBoostClassifier("tree:4", ROUNDS, nominal_features=[1]).fit(X, y)
        assert digest("m.mb") == clf.ensemble_.digest()
        good("predict m.mb x.txt -o p.csv")
        assert pd.read_csv("p.csv").prediction.tolist() == clf.predict(X).tolist()

    def test_standard_input(self, files, good):
        data = (files / "train.csv").read_bytes()
        good(f"train - --format csv -t class -o m.mb -n {ROUNDS} --base tree:4 -q", stdin=data)
        assert digest("m.mb") == fitted({"base_learner": "tree:4"}).ensemble_.digest()
        found = good("predict m.mb - --format csv", stdin=(files / "test.csv").read_bytes()).out
        assert found == good("predict m.mb test.csv").out

    def test_columns_in_another_order(self, files, good):
        TEST[ONE[::-1]].to_csv("r.csv", index=False)
        base = "--base tree:4"
        a = json.loads(
            good(f"train train.csv -t class -o m.mb -n {ROUNDS} {base} --valid r.csv --test r.csv --json").out
        )
        b = json.loads(good(f"train train.csv -t class -n {ROUNDS} {base} --valid test.csv --test test.csv --json").out)
        assert a["test"] == b["test"] == a["validation"]
        assert good("predict m.mb r.csv --scores").out == good("predict m.mb test.csv --scores").out
        assert good("evaluate m.mb r.csv --json").out == good("evaluate m.mb test.csv --json").out

    @pytest.mark.parametrize("order", [[0, 1, 2], [1, 2, 0]])
    def test_columns_of_sparse_arff_by_name(self, order, tmp_path, good):
        X, y = make_classes(90, 2, 3, seed=3)
        names = ["a", "b", "class"]

        def write(path, order):
            rows = ["@relation r"]
            rows += [f"@attribute {names[j]} {'{u,v,w}' if j == 2 else 'numeric'}" for j in order] + ["@data"]
            for x, c in zip(X.round(3), y, strict=True):
                values = [*x, "uvw"[c]]
                rows.append("{" + ", ".join(f"{k} {values[j]}" for k, j in enumerate(order)) + "}")
            (tmp_path / path).write_text("\n".join(rows) + "\n")

        write("train.arff", [0, 1, 2])
        write("test.arff", order)
        command = f"train train.arff -t class -o m.mb -n {ROUNDS} --base tree:4 --test test.arff --json"
        clf = MultiBoostClassifier("tree:4", ROUNDS).fit(X.round(3), y)
        error = np.mean(clf.predict(X.round(3)) != y)
        assert json.loads(good(command).out)["test"]["error"] == error
        assert json.loads(good("evaluate m.mb test.arff --json").out)["error"] == error

    def test_svmlight_with_ignored_columns(self, tmp_path, good, cli):
        """Columns are numbered by the whole file, from 0 or from 1, whatever is left out and however short a file."""
        X, y = make_classes(80, 4, 2, seed=6)
        X = X.round(2)
        for first in (0, 1):
            lines = [f"{c} " + " ".join(f"{j + first}:{v}" for j, v in enumerate(x)) for x, c in zip(X, y, strict=True)]
            (tmp_path / "x.svm").write_text("\n".join(lines) + "\n")
            (tmp_path / "short.svm").write_text(f"0 {first + 1}:0.5\n1 {first + 1}:-0.5\n")
            good(f"train x.svm --ignore f{first} -o m.mb -n {ROUNDS} --base tree:4 -q --test short.svm")
            clf = MultiBoostClassifier("tree:4", ROUNDS).fit(X[:, 1:], y)
            assert digest("m.mb") == clf.ensemble_.digest()
            assert json.loads(good("evaluate m.mb x.svm --json").out)["error"] == np.mean(clf.predict(X[:, 1:]) != y)
            good("predict m.mb short.svm --scores -o p.csv")
            short = clf.decision_function([[0.5, 0, 0], [-0.5, 0, 0]])
            np.testing.assert_array_equal(pd.read_csv("p.csv").to_numpy()[:, 0], short)
            (tmp_path / "long.svm").write_text(f"0 {first + 4}:0.5\n")
            assert f"the index {first + 4} is not between" in cli("predict m.mb long.svm").err

    def test_labels_of_svmlight_by_name(self, tmp_path, good):
        """A test file in which a label never occurs, and in which no row has two."""
        X, Y = make_labels(80, 3, 3)
        lines = [
            f"{','.join(str(k + 4) for k in np.flatnonzero(row))} "
            + " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(x))
            for x, row in zip(X, Y, strict=True)
        ]
        (tmp_path / "x.svm").write_text("\n".join(lines) + "\n")
        (tmp_path / "t.svm").write_text("6 1:0.1 2:1 3:-1\n4 1:0.9 2:-1 3:-1\n")
        good(f"train x.svm -o m.mb -n {ROUNDS} --base tree:4 --test t.svm -q")
        clf = MultiBoostClassifier("tree:4", ROUNDS).fit(X.round(3), Y)
        assert digest("m.mb") == clf.ensemble_.digest()
        found = json.loads(good("evaluate m.mb t.svm --json").out)
        predicted = clf.predict([[0.1, 1, -1], [0.9, -1, -1]])
        assert found["hamming_loss"] == np.mean(predicted != [[0, 0, 1], [1, 0, 0]])

    def test_label_weights_of_arff(self, tmp_path, good):
        X, Y = make_labels(60, 3, 2)
        weight = np.random.default_rng(0).uniform(0.5, 2, Y.shape).round(3)
        labels = Labels(None, ["u", "v"], (2 * Y - 1).astype(np.int8), weight)
        table = pa.table({f"x{j}": X[:, j] for j in range(3)})
        write_table(Content("x", "arff", table.column_names, table=table, labels=labels), tmp_path / "x.arff")
        good(f"train x.arff -o m.mb -n {ROUNDS} --base tree:4 --weighting given -q")
        clf = MultiBoostClassifier("tree:4", ROUNDS, weighting="given").fit(X, Y, label_weight=weight)
        assert digest("m.mb") == clf.ensemble_.digest()

    def test_mulan_labels_by_name(self, tmp_path, good):
        """The xml file next to the ARFF file or given; the labels of another file may stand in another order."""
        X, Y = make_labels(60, 2, 2)

        def write(stem, names, columns):
            rows = [f"@attribute {n} {'numeric' if n[0] == 'x' else '{0,1}'}" for n in names]
            data = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
            (tmp_path / f"{stem}.arff").write_text("\n".join(["@relation r", *rows, "@data", *data]) + "\n")
            labels = "".join(f'<label name="{n}"></label>' for n in names if n[0] != "x")
            (tmp_path / f"{stem}.xml").write_text(f"<labels>{labels}</labels>")

        x1, x2, u, v = *X.round(3).T, *Y.T
        write("a", ["x1", "x2", "u", "v"], [x1, x2, u, v])
        write("b", ["v", "x2", "u", "x1"], [v, x2, u, x1])
        clf = MultiBoostClassifier("tree:4", ROUNDS).fit(X.round(3), Y)
        for more in ("", "--labels a.xml"):
            good(f"train a.arff -o m.mb -n {ROUNDS} --base tree:4 -q {more}")
            assert digest("m.mb") == clf.ensemble_.digest()
        wrong = np.mean(clf.predict(X.round(3)) != Y)
        for name in ("a", "b"):
            found = json.loads(good(f"evaluate m.mb {name}.arff --json").out)
            assert found["hamming_loss"] == pytest.approx(wrong, abs=1e-12)
            good(f"predict m.mb {name}.arff -o p.csv")
            assert pd.read_csv("p.csv").to_numpy().tolist() == clf.predict(X.round(3)).tolist()

    @pytest.mark.parametrize("kind", ["csv", "tsv"])
    def test_names_that_look_like_numbers(self, kind, tmp_path, good):
        """007 stays 007 in a file that has nothing else, as a category and as a class."""
        sep = "," if kind == "csv" else "\t"
        codes, classes = np.array(["007", "7", "x9"]), np.array(["01", "1", "b"])
        rows = [sep.join([codes[i % 3], str(i % 4), classes[i % 3]]) for i in range(60)]
        head = sep.join(["zip", "x", "class"])
        (tmp_path / f"train.{kind}").write_text("\n".join([head, *rows]) + "\n")
        (tmp_path / f"test.{kind}").write_text("\n".join([head, *(r for r in rows if "x9" not in r)]) + "\n")
        test = f"test.{kind}"
        found = good(
            f"train train.{kind} -t class -o m.mb -n {ROUNDS} --base tree:4 --valid {test} --test {test} --json"
        )
        assert json.loads(found.out)["test"]["error"] == 0
        assert json.loads(good(f"evaluate m.mb {test} --json").out)["error"] == 0
        assert set(pd.read_csv(io.StringIO(good(f"predict m.mb {test}").out), dtype=str)["class"]) == {"01", "1"}

    def test_classes_are_numbers_here_and_text_there(self, files, good):
        """The classes 1 and 2 of a file of text are those of a file of numbers."""
        frame = TRAIN[COLUMNS].assign(kind=np.where(TRAIN.tall > 0, "1", np.where(TRAIN.late > 0, "2", "x")))
        frame.to_csv("a.csv", index=False)
        frame[frame.kind != "x"].to_csv("b.csv", index=False)
        run = f"train a.csv -t kind -o m.mb -n {ROUNDS} --base tree:4 --valid b.csv --test b.csv --json"
        found = json.loads(good(run).out)
        assert json.loads(good("evaluate m.mb b.csv --json").out)["error"] == found["test"]["error"]

    def test_categories_of_numbers_as_classes(self, tmp_path, good):
        """A dictionary of numbers in an Arrow file: the classes are numbers, and the model can be saved."""
        frame = TRAIN[COLUMNS].assign(kind=pd.Categorical(TRAIN.grade))
        write_table(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / "x.arrow")
        good(f"train x.arrow -t kind -o m.mb -n {ROUNDS} --base tree:4 -q")
        assert load_model("m.mb").classes_.tolist() == [1, 2, 3]
        assert digest("m.mb") == fitted({"base_learner": "tree:4"}, target="grade").ensemble_.digest()

    @pytest.mark.parametrize(
        "name", ["007", "1.50", "NA", "?", "0x1F", " 7", "+7", "1e3", "inf", "12345678901234567890"]
    )
    def test_ambiguous_names(self, name):
        assert is_ambiguous(name)

    @pytest.mark.parametrize("name", ["7", "-7", "0.5", "red", "", "1a", "123456789012345678"])
    def test_plain_names(self, name):
        assert is_ambiguous(name) == (name == "")

    def test_declared_classes_that_never_occur(self, tmp_path, good):
        write_table(arrow_table(TRAIN[ONE], declare=True), tmp_path / "x.arff")
        good(f"train x.arff -t class -o m.mb -n {ROUNDS} --base tree:4 -q")
        assert load_model("m.mb").classes_.tolist() == ["maybe", "no", "yes"]


# 3. Predictions


def read_predictions(path: Path) -> pd.DataFrame:
    content = read_file(path)
    return content.table.to_pandas()


class TestPredict:
    @pytest.mark.parametrize("rows", [7, 1 << 16])
    @pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.parquet", "p.arrow", "p.feather", "p.csv.gz", None])
    def test_equals_python(self, name, rows, model, good, monkeypatch):
        """Classes, probabilities and scores to the last bit, in one batch or several."""
        monkeypatch.setattr(predict_command, "_ROWS", rows)
        clf = load_model(model)
        X = TEST[COLUMNS]
        expected = {"": clf.predict(X)[:, None], "--proba": clf.predict_proba(X), "--scores": clf.decision_function(X)}
        for option, values in expected.items():
            result = good(f"predict m.mb test.csv {option} {f'-o {name}' if name else ''}")
            assert result.err == ""
            if name:
                assert result.out == ""
                found = read_predictions(Path(name))
            else:
                found = arrow_csv.read_csv(io.BytesIO(result.out.encode())).to_pandas()
            assert list(found.columns) == (["maybe", "no", "yes"] if option else ["class"])
            np.testing.assert_array_equal(found.to_numpy(), values)

    @pytest.mark.parametrize("rows", [9, 1 << 16])
    def test_labels(self, rows, files, good, monkeypatch):
        monkeypatch.setattr(predict_command, "_ROWS", rows)
        TRAIN[[*COLUMNS, "tall", "late"]].to_csv("l.csv", index=False)
        good(f"train l.csv -t tall -t late -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf, X = load_model("m.mb"), TRAIN[COLUMNS]
        values = {"": clf.predict(X), "--proba": clf.predict_proba(X), "--scores": clf.decision_function(X)}
        for option, expected in values.items():
            good(f"predict m.mb l.csv {option} -o p.parquet")
            found = read_predictions(Path("p.parquet"))
            assert list(found.columns) == ["tall", "late"]
            np.testing.assert_array_equal(found.to_numpy(), expected)

    def test_tasks(self, files, good):
        """Scores and probabilities are named after the columns of the training file."""
        TRAIN[[*COLUMNS, "class", "grade"]].to_csv("t.csv", index=False)
        good(f"train t.csv -t class -t grade -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf, X = load_model("m.mb"), TRAIN[COLUMNS]
        good("predict m.mb t.csv -o p.csv")
        assert pd.read_csv("p.csv").to_numpy().tolist() == clf.predict(X).tolist()
        names = ["class:maybe", "class:no", "class:yes", "grade:1", "grade:2", "grade:3"]
        for option, expected in (("--proba", np.hstack(clf.predict_proba(X))), ("--scores", clf.decision_function(X))):
            good(f"predict m.mb t.csv {option} -o p.arrow")
            found = read_predictions(Path("p.arrow"))
            assert list(found.columns) == names
            np.testing.assert_array_equal(found.to_numpy(), expected)

    def test_two_classes(self, files, good):
        TRAIN[[*COLUMNS, "tall"]].to_csv("b.csv", index=False)
        good(f"train b.csv -t tall -o m.mb -n {ROUNDS} --base tree:4 -q")
        clf, X = load_model("m.mb"), TRAIN[COLUMNS]
        good("predict m.mb b.csv --scores -o p.parquet")
        found = read_predictions(Path("p.parquet"))
        assert list(found.columns) == ["1"]
        np.testing.assert_array_equal(found["1"], clf.decision_function(X))
        good("predict m.mb b.csv --proba -o p.parquet")
        np.testing.assert_array_equal(read_predictions(Path("p.parquet")).to_numpy(), clf.predict_proba(X))

    def test_a_model_from_python(self, files, good):
        fitted({}).save("py.mb")
        TEST[COLUMNS].to_csv("x.csv", index=False)
        found = pd.read_csv(io.StringIO(good("predict py.mb x.csv").out))
        assert found.prediction.tolist() == load_model("py.mb").predict(TEST[COLUMNS]).tolist()

    def test_categories_that_training_has_not_seen(self, model, good):
        """Count as missing; a warning is one line like all messages."""
        frame = TEST[COLUMNS].assign(colour="violet")
        frame.to_csv("x.csv", index=False)
        result = good("predict m.mb x.csv --scores -o p.parquet")
        assert result.err.startswith("multiboost: column 'colour' is nominal, and none of its values")
        assert result.err.count("\n") == 1
        expected = load_model(model).decision_function(TEST[COLUMNS].assign(colour=None))
        np.testing.assert_array_equal(read_predictions(Path("p.parquet")).to_numpy(), expected)

    @pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.arrow", "p.csv.gz"])
    def test_nothing_is_left_where_it_fails_in_the_middle(self, name, model, bad, monkeypatch):
        """The second batch is bad: an existing file stays as it is, and there is no temporary one."""
        monkeypatch.setattr(predict_command, "_ROWS", 10)
        calls = []
        columns = predict_command._columns

        def second_fails(*arguments):
            calls.append(1)
            if len(calls) == 2:
                raise ValueError("the second batch")
            return columns(*arguments)

        monkeypatch.setattr(predict_command, "_columns", second_fails)
        bad(f"predict m.mb test.csv -o {name}", "the second batch")
        assert not Path(name).exists()
        calls.clear()
        Path(name).write_bytes(b"old")
        bad(f"predict m.mb test.csv -o {name}", "the second batch")

    def test_reader_of_the_output_has_gone(self, model):
        """As in ``multiboost predict ... | head -1``."""
        TRAIN[ONE].loc[np.tile(TRAIN.index, 2000)].to_csv(model.parent / "big.csv", index=False)
        with subprocess.Popen(
            command("predict", model, model.parent / "big.csv", "--proba"), env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(60) == 0
            assert process.stderr.read() == b""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
    def test_standard_output_is_full(self, model):
        with open("/dev/full", "wb") as full:
            for words in (("predict", model, model.parent / "test.csv"), ("version",)):
                ended = subprocess.run(
                    command(*words), env=environment(), stdout=full, stderr=subprocess.PIPE, timeout=60
                )
                assert ended.returncode == 2
                assert ended.stderr.decode() == "multiboost: standard output: No space left on device\n"


# 4. What cannot be used


@contextmanager
def small_disk(n_bytes: int):
    """No file may grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


FILE_ERRORS = {
    "ragged.csv": ("a,b,class\n1,2,x\n1,2\n", "ragged.csv, line 3: 2 fields where 3 columns are expected"),
    "twice.csv": ("a,a,class\n1,2,x\n", "twice.csv, line 1: two columns are called 'a'"),
    "empty.csv": ("", "empty.csv: the file is empty"),
    "header.csv": ("a,class\n", "header.csv: the file has no rows of data"),
    "latin.csv": (b"a,class\n1,\xe9\n", "latin.csv, line 2: the byte 0xe9 is not UTF-8"),
    "quote.csv": ('a,class\n1,"x\n2,y\n', "quote.csv, line 2: a quoted field begins here and never ends"),
    "cut.csv.gz": (gzip.compress(b"a,class\n" + b"1,x\n" * 999)[:40], "cut.csv.gz: the gzip data end too early"),
    "no.parquet": ("abc", "no.parquet: this is not a whole Parquet file"),
    "gap.csv": ("a,class\n1,x\n2,\n", "gap.csv: the target 'class' is missing in row 2"),
    "one.csv": ("a,class\n1,x\n2,x\n", "one.csv: y has only one class, x"),
    "alone.csv": ("class\nx\ny\n", "alone.csv has no column left to learn from"),
    "real.csv": ("a,class\n1,0.5\n2,0.7\n", "real.csv: the target 'class' holds real numbers"),
    "undeclared.arff": (
        "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n1,x\n2,z\n",
        "undeclared.arff, line 6: attribute 'class' has the undeclared value 'z'; declared are x, y",
    ),
    "type.arff": (
        "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n1,x\nred,y\n",
        "type.arff, line 6: attribute 'a' is numeric but here is 'red'",
    ),
    "gap.arff": (
        "@relation r\n@attribute a numeric\n@attribute class {x,y}\n@data\n{0 1, 1 y}\n{0 2, 1 ?}\n",
        "gap.arff: the target 'class' is missing in row 2",
    ),
}  # fmt: skip

BAD_OPTIONS = {
    "-t clas": ["train.csv has no column 'clas' (--target); did you mean 'class'?"],
    "-t nothing": ["no column 'nothing' (--target); it has 'size', 'level', 'colour', 'class'"],
    "": ["train.csv: which column is the class? Name it with --target"],
    "-t size": ["train.csv: the target 'size' is missing in row 1"],
    "-t class --ignore colur": ["no column 'colur' (--ignore); did you mean 'colour'?"],
    "-t class --class-weight blue=2": ["--class-weight 'blue': there is no such class; there are 'maybe', 'no', 'yes'"],
    "-t class --class-weight yes": ["--class-weight 'yes' is not NAME=NUMBER with a number of at least 0"],
    "-t class -t level --class-weight yes=2": ["--class-weight CLASS=NUMBER is for one column of classes"],
    "-t level --task regression --class-weight a=2": ["--class-weight goes with --task classification"],
    "-t class --weight wight": ["no column 'wight' (--weight)"],
    "-t class --weight colour": ["train.csv: column 'colour' (--weight) does not hold numbers"],
    "-t class --weight size": ["column 'size' (--weight) holds nan in row 1"],
    "-t class --nominal colur": ["no column 'colur' (--nominal); did you mean 'colour'?"],
    "-t class --nominal class": ["no column 'class' (--nominal)"],
    "-t class --ignore class": ["--ignore 'class': the column is --target already"],
    "-t class --weight class": ["--weight 'class': the column is --target already"],
    "-t class -t class": ["--target 'class': the column is given twice"],
    "-t class --format nosuch": ["unknown format 'nosuch'; known are csv, tsv"],
    "-t class --labels l.xml": ["--labels l.xml goes with ARFF files, and train.csv is none"],
    "-t class --valid test.csv --valid-fraction 0.2": ["--valid and --valid-fraction both say"],
    "-t class --valid-fraction 1.5": ["--valid-fraction must be between 0 and 1; got 1.5"],
    "-t class --valid-fraction 0.001": ["--valid-fraction 0.001 of 120 rows leaves nothing"],
    "-t class --patience 5": ["--patience needs something to validate on: give --valid FILE or --valid-fraction"],
    "-t class --metric validation_risk": ["needs something to validate on"],
    "-t class --metric accuracy": ["--metric 'accuracy' is not one of validation_error, validation_risk"],
    "-t class --valid test.csv --patience 0": ["patience must be a whole number of at least 1; got 0"],
    "-t class --time-limit soon": ["--time-limit 'soon' is not a time; write for example 90s, 20m or 3h"],
    "-t class --time-limit 0s": ["--time-limit '0s' is not a time"],
    "-t class --every 3weeks": ["--every '3weeks' is not a time"],
    "-t class --rounds 0": ["--rounds must be a whole number of at least 1; got 0"],
    "-t class --base tre": ["--base tre: 'tre' is not one of 'stump', 'tree'"],
    "-t class --base tree:1": ["--base tree:1: n_leaves must be a whole number of at least 2"],
    "-t class --loss square": ["--loss must be one of 'auto', 'exponential', 'hinge', 'logistic'", "; got 'square'"],
    "-t class --votes discrete --loss logistic": ["--votes='discrete' goes with --loss='exponential'"],
    "-t class --learning-rate 2": ["--learning-rate must be a number above 0 and at most 1; got 2.0"],
    "-t class --subsample 0": ["--subsample must be a number above 0 and at most 1; got 0.0"],
    "-t class --weighting none": ["--weighting must be one of 'auto'"],
    "-t class --weighting given": [
        "--weighting given takes the weights of labels from the file, and train.csv has none"
    ],
    "-t class --max-bins 1": ["--max-bins must be a whole number of at least 2"],
    "-t class --ridge 0": ["--ridge must be a number above 0"],
    "-t class --jobs 0": ["--jobs must not be 0"],
    "-t class --log log.txt": ["log.txt: the name must end in .csv, .jsonl, .parquet"],
    "-t class --log no/log.csv": ["--log no/log.csv: there is no folder"],
    "-t class --checkpoint .": ["--checkpoint . is a folder, not a file"],
    "-t class --checkpoint m.mb": ["--checkpoint m.mb would overwrite --out"],
    "-t class --log train.csv": ["--log train.csv would overwrite DATA"],
    "-t class --test test.csv --log test.csv": ["--log test.csv would overwrite --test"],
    "-t class --valid - --test -": ["standard input can be read once"],
    "-t class --valid -": ["-: standard input and output have no suffix: say --format, one of csv"],
    "-t class --resume none.mb": ["none.mb: No such file or directory"],
    "-t class --resume train.csv": ["train.csv is not a multiboost model"],
    "-t class --config none.toml": ["none.toml: No such file or directory"],
    "-t class --test none.csv": ["none.csv: No such file or directory"],
    "-t class --test .": [".: this is a folder, not a file"],
}

BAD_CONFIGS = {
    "roundz = 3": "there is no option 'roundz'; did you mean 'rounds'?",
    "learning-rat = 3": "there is no option 'learning-rat'; did you mean 'learning-rate'?",
    "xyzzy = 3": "there is no option 'xyzzy'",
    "rounds = 'x'": "'rounds' must be a whole number; got 'x'",
    "rounds = true": "'rounds' must be a whole number; got True",
    "learning-rate = 'x'": "'learning-rate' must be a number; got 'x'",
    "valid_fraction = [1]": "'valid_fraction' must be a number; got [1]",
    "log = 3": "'log' must be text; got 3",
    "quiet = 1": "'quiet' must be true or false; got 1",
    "target = [1]": "'target' must be text or a list of texts; got [1]",
    "time-limit = true": "'time-limit' must be a time",
    "[model]\nbase = 'stump'": "there is no option 'model'",
    "base = {a = 1}": "'base' must be text",
    "rounds 3": "is not TOML",
}


class TestBadInput:
    @pytest.mark.parametrize("name", FILE_ERRORS)
    def test_files(self, name, tmp_path, bad):
        """Named with the line, and a model of that name stays as it was."""
        data, message = FILE_ERRORS[name]
        (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
        (tmp_path / "m.mb").write_text("old")
        bad(f"train {name} -t class -o m.mb -n 2", message)

    @pytest.mark.parametrize("options", BAD_OPTIONS)
    def test_options(self, options, files, bad):
        (files / "m.mb").write_text("old")
        bad(f"train train.csv -o m.mb -n 2 {options}", *BAD_OPTIONS[options])

    @pytest.mark.parametrize("text", BAD_CONFIGS)
    def test_config(self, text, files, bad):
        (files / "c.toml").write_text(text)
        bad("train train.csv -t class -o m.mb --config c.toml", "c.toml", BAD_CONFIGS[text])

    def test_arguments(self, cli, files):
        """What is wrong with the command itself is said by the parser, with the same exit code."""
        for command, word in (
            ("train", "Missing argument 'DATA'"),
            ("nosuch", "No such command 'nosuch'"),
            ("train train.csv --rounds x", "--rounds"),
            ("train train.csv --roundz 3", "No such option"),
            ("predict m.mb", "Missing argument 'DATA'"),
        ):
            result = cli(command)
            assert result.code == 2
            assert result.out == ""
            assert word in result.err

    def test_the_model_would_be_lost(self, files, bad):
        bad("train train.csv -t class", "the model would be lost: give --out FILE")

    def test_names_of_outputs(self, files, model, bad):
        bad("train train.csv -t class -o no/m.mb", "--out no/m.mb: there is no folder")
        bad("train train.csv -t class -o .", "--out . is a folder, not a file")
        bad("train train.csv -t class -o train.csv", "--out train.csv would overwrite DATA")
        bad("predict m.mb test.csv -o p.json", "--out p.json: the name must end in .csv")
        bad("predict m.mb test.csv -o no/p.csv", "--out no/p.csv: there is no folder")
        bad("predict m.mb test.csv -o test.csv", "--out test.csv would overwrite what is read")
        bad("predict m.mb test.csv --scores --proba", "--scores and --proba: give one of them")

    def test_models(self, files, model, bad):
        bad("evaluate none.mb test.csv", "none.mb: No such file or directory")
        bad("evaluate . test.csv", ". is a folder, not a model file")
        bad("predict test.csv test.csv", "test.csv is not a multiboost model")
        bad("inspect m.mb --round 0", f"--round 0: the model has rounds 1 to {ROUNDS}")
        bad(f"inspect m.mb --round {ROUNDS + 1}", f"rounds 1 to {ROUNDS}")
        (files / "cut.mb").write_bytes(model.read_bytes()[:-200])
        bad("predict cut.mb test.csv", "cut.mb is not a multiboost model, or was cut short")
        with zipfile.ZipFile(model) as old, zipfile.ZipFile(files / "new.mb", "w") as new:
            for name in old.namelist():
                data = old.read(name)
                new.writestr(name, data.replace(b'"schema": 2', b'"schema": 99') if name == "header.json" else data)
        bad("predict new.mb test.csv", "new.mb has schema 99", "update multiboost")

    def test_columns(self, files, model, bad):
        """Missing, additional, misspelt, of another type: in every file that comes after the training file."""
        TEST[["size", "colour", "class"]].to_csv("less.csv", index=False)
        TEST[[*ONE, "grade"]].to_csv("more.csv", index=False)
        TEST[ONE].rename(columns={"colour": "color"}).to_csv("misspelt.csv", index=False)
        TEST[ONE].assign(level=[*map(str, TEST.level[:-1]), "high"]).to_csv("type.csv", index=False)
        TEST[COLUMNS].to_csv("unlabelled.csv", index=False)
        for owner, commands in {
            "train.csv": ["train train.csv -t class -o n.mb --valid {}", "train train.csv -t class -o n.mb --test {}"],
            "the model": ["evaluate m.mb {}", "predict m.mb {} -o p.csv"],
        }.items():
            for command in commands:
                bad(command.format("less.csv"), f"less.csv has no column 'level', which {owner} has")
                bad(
                    command.format("more.csv"),
                    f"more.csv has a column 'grade' that {owner} has not",
                    "--ignore 'grade'",
                )
                bad(command.format("misspelt.csv"), "misspelt.csv has no column 'colour'", "is it 'color' there?")
                bad(command.format("type.csv"), "type.csv: column 'level' holds text such as 'high'", "held numbers")
                if "predict" not in command:
                    bad(command.format("unlabelled.csv"), "unlabelled.csv has no column 'class' (--target)")
        bad("predict m.mb test.csv --ignore nothing", "test.csv has no column 'nothing' (--ignore)")
        bad("predict m.mb more.csv --ignore grad", "did you mean 'grade'?")

    def test_additional_columns_can_be_left_out(self, files, model, good):
        TEST[[*ONE, "grade"]].to_csv("more.csv", index=False)
        assert good("predict m.mb more.csv --ignore grade").out == good("predict m.mb test.csv").out
        good("evaluate m.mb more.csv --ignore grade")

    def test_classes_that_training_has_not_seen(self, files, model, bad):
        """Found before the training, with the file's name."""
        TEST[ONE].replace({"class": {"no": "never"}}).to_csv("new.csv", index=False)
        for option in ("--valid", "--test"):
            message = bad(f"train train.csv -t class -o n.mb {option} new.csv")
            assert "new.csv: the target 'class' holds 'never', which is not one of the classes of train.csv" in message
        bad(
            "evaluate m.mb new.csv", "holds 'never', which is not one of the classes of the model: 'maybe', 'no', 'yes'"
        )

    def test_classes_of_tasks(self, files, good, bad):
        """Compared in full: 'yesterday' does not begin with the class 'yes' for nothing."""
        TRAIN[[*COLUMNS, "class", "grade"]].to_csv("t.csv", index=False)
        TEST[[*COLUMNS, "class", "grade"]].replace({"class": {"yes": "yesterday"}}).to_csv("n.csv", index=False)
        good("train t.csv -t class -t grade -o t.mb -n 2 -q --base stump")
        bad("evaluate t.mb n.csv", "n.csv: the target 'class' holds 'yesterday'")
        bad(
            "evaluate t.mb n.csv -t grade --ignore class",
            "n.csv has one class per row, but the model has several labels or tasks",
        )
        bad("train t.csv -t class -t grade -o n.mb --test n.csv", "n.csv: the target 'class' holds 'yesterday'")

    def test_labels(self, files, good, bad):
        TRAIN[[*COLUMNS, "tall", "late"]].to_csv("l.csv", index=False)
        good("train l.csv -t tall -t late -o l.mb -n 2 -q --base stump")
        TEST[[*COLUMNS, "tall", "late"]].assign(late=2).to_csv("two.csv", index=False)
        bad("evaluate l.mb two.csv", "two.csv: the label 'late' holds something else than 0 and 1")
        bad("evaluate l.mb two.csv -t tall --ignore late", "two.csv has one class per row")

    def test_signs_of_svmlight(self, tmp_path, good, bad):
        """+1 and -1 in one file, 0 and 1 in the other."""
        (tmp_path / "a.svm").write_text("+1 1:1\n-1 1:2\n+1 1:1.5\n-1 1:3\n" * 5)
        (tmp_path / "b.svm").write_text("1 1:1\n0 1:2\n")
        bad("train a.svm -o m.mb --test b.svm", "b.svm: the class holds '0'", "classes of a.svm: '-1', '1'")
        good("train a.svm -o m.mb -n 2 -q")
        bad(
            "evaluate m.mb b.svm", "b.svm: the class holds '0', which is not one of the classes of the model: '-1', '1'"
        )

    def test_named_and_numbered_columns(self, files, model, good, bad):
        (files / "a.svm").write_text("1 1:1\n0 1:2\n" * 9)
        (files / "a.txt").write_text("1 1 2\n0 2 3\n" * 9)
        bad("predict m.mb a.svm", "a.svm has no columns 'size'")
        bad("train a.svm -o n.mb --nominal f1", "--nominal 'f1': the rows of a.svm are sparse")
        good("train a.txt -o n.mb -n 2 -q")
        bad("predict n.mb test.csv", "test.csv has named columns, but those of the model are numbered")
        (files / "b.txt").write_text("1 1 2 3\n")
        bad("predict n.mb b.txt", "b.txt has 3 columns, the model 2: 'f2' is unknown")
        (files / "c.txt").write_text("1 1\n")
        bad("predict n.mb c.txt", "c.txt has 1 columns, the model 2")

    def test_no_permission_to_read(self, files, bad, monkeypatch):
        """Root may read everything, so the refusal is played."""
        import multiboost.files.source as source

        def refuse(path, *arguments):
            raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))

        monkeypatch.setattr(source, "open", refuse, raising=False)
        bad("train train.csv -t class -o m.mb", "train.csv: Permission denied")

    def test_no_permission_to_write(self, files, model, bad, monkeypatch):
        """Found before the training where the system tells, else with the name of the file that was asked for."""
        import tempfile

        def refuse(*arguments, dir=None, **more):
            raise PermissionError(errno.EACCES, "Permission denied", f"{dir}/.m.mb.abc.tmp")

        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "mkstemp", refuse)
            bad("train train.csv -t class -o m.mb -n 2 -q", "multiboost: m.mb: Permission denied")
            bad("predict m.mb test.csv -o p.csv", "multiboost: p.csv: Permission denied")
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
        bad("train train.csv -t class -o m.mb -n 2 -q", "--out m.mb: no permission to write in")
        bad("predict m.mb test.csv -o p.csv", "--out p.csv: no permission to write in")

    @pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.arrow", "p.csv.gz"])
    def test_disk_full_of_predictions(self, name, model, bad):
        TRAIN[ONE].loc[np.tile(TRAIN.index, 100)].to_csv("big.csv", index=False)
        with small_disk(1000):
            bad(f"predict m.mb big.csv --proba -o {name}", f"multiboost: {name}: File too large")
        Path(name).write_bytes(b"old")
        with small_disk(1000):
            bad(f"predict m.mb big.csv --proba -o {name}", f"multiboost: {name}: File too large")

    def test_disk_full_of_models(self, files, model, bad):
        """The old model and the old checkpoint stay."""
        with small_disk(1000):
            bad("train train.csv -t class -o m.mb -n 2 -q", "multiboost: m.mb: File too large")
            bad("train train.csv -t class -o n.mb -n 2 -q", "multiboost: n.mb: File too large")
            bad("train train.csv -t class -o n.mb -n 2 -q --checkpoint m.mb", "multiboost: m.mb: File too large")
            bad("train train.csv -t class -o n.mb -n 2 -q --checkpoint c.mb --every 0.001s", "multiboost: c.mb: File")

    def test_disk_full_when_synced(self, model, bad, monkeypatch):
        """Some disks say so only at the end."""

        def full(handle):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        bad("train train.csv -t class -o m.mb -n 2 -q", "multiboost: m.mb: No space left on device")
        bad("predict m.mb test.csv -o p.csv", "multiboost: p.csv: No space left on device")

    @pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
    def test_disk_full_of_log(self, kind, files, cli):
        """Whatever has been made is in the checkpoint, no model is written, and no temporary file is left."""
        (files / "m.mb").write_text("old")
        command = f"train train.csv -t class -o m.mb -n 40 -q --base stump --log l.{kind} --checkpoint c.mb"
        limit = 3000 if kind == "parquet" else 1000
        with small_disk(limit):
            result = cli(command.replace("--checkpoint c.mb", ""))
        assert result.code == 2
        assert result.err == f"multiboost: l.{kind}: File too large\n" or "l.parquet" in result.err
        assert (files / "m.mb").read_text() == "old"
        assert not list(files.glob(".*"))

    def test_a_failing_log_does_not_take_the_checkpoint_with_it(self, files, cli, good, monkeypatch):
        from multiboost import Log

        after = Log.after_round

        def fails(self, run):
            if run.n_rounds == 4:
                raise OSError(errno.ENOSPC, "No space left on device", "l.csv")
            return after(self, run)

        with monkeypatch.context() as patch:
            patch.setattr(Log, "after_round", fails)
            run = f"train train.csv -t class -o m.mb -n {ROUNDS} -q --base stump --checkpoint c.mb"
            assert cli(f"{run} --log l.csv").code == 2
        assert load_model("c.mb").n_estimators_ == 4
        good(f"{run} --resume c.mb")
        assert digest("m.mb") == fitted({"base_learner": "stump"}).ensemble_.digest()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("20m", 1200), ("1.5h", 5400), ("2d", 172800), ("7", 7), (" 3 min ", 180), (5, 5)],
)
def test_times(text, seconds):
    assert seconds_of(text, "--every") == seconds


@pytest.mark.parametrize(("seconds", "text"), [(7, "0:07"), (125, "2:05"), (7500, "2:05:00"), (59.7, "1:00")])
def test_times_for_people(seconds, text):
    assert time_of(seconds) == text


# 5. Long runs


def log_rows(path: Path) -> int:
    """Whole rows of a csv log that may be being written."""
    return max(0, path.read_text().count("\n") - 1) if path.exists() else 0


def wait_for(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


class TestLongRuns:
    def test_time_limit(self, files, good):
        found = json.loads(good("train train.csv -t class --base stump -n 1000000 --time-limit 0.2s --json").out)
        assert 1 <= found["rounds"] < 1000000
        assert found["seconds"] < 20
        assert not found["interrupted"]

    @pytest.mark.parametrize("metric", ["validation_error", "validation_risk"])
    def test_patience_keeps_the_best_round(self, metric, files, good):
        run = f"train train.csv -t class -o m.mb -n 200 --base tree:8 --learning-rate 1 --metric {metric}"
        found = json.loads(good(f"{run} --valid test.csv --patience 8 --json").out)
        clf = fitted(
            {"base_learner": "tree:8", "learning_rate": 1.0, "n_estimators": 200},
            validation=(TEST[COLUMNS], TEST["class"]), callbacks=[EarlyStopping(8, metric)],
        )  # fmt: skip
        assert clf.n_estimators_ < 190
        assert found["rounds"] == clf.n_estimators_
        assert digest("m.mb") == clf.ensemble_.digest()
        wrong = np.mean(clf.predict(TEST[COLUMNS]) != TEST["class"])
        assert found["validation"]["error"] == pytest.approx(wrong, abs=1e-12)

    @pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
    def test_log(self, kind, files, good):
        good(f"train train.csv -t class -o m.mb -n {ROUNDS} --base stump --valid test.csv --log log.{kind} -q")
        if kind == "csv":
            with open("log.csv") as file:
                rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        elif kind == "jsonl":
            rows = [json.loads(line) for line in Path("log.jsonl").read_text().splitlines()]
        else:
            rows = pq.read_table("log.parquet").to_pylist()
        history = load_model("m.mb").history_
        assert [row["round"] for row in rows] == list(range(1, ROUNDS + 1))
        for name in ("edge", "risk", "training_error", "validation_error", "validation_risk"):
            np.testing.assert_array_equal([row[name] for row in rows], history[name])

    def test_checkpoint_and_resume(self, files, good, bad):
        run = "train train.csv -t class --base stump -q"
        good(f"{run} -n 4 --checkpoint c.mb --every 0.001s")
        good(f"{run} -n {ROUNDS} --resume c.mb --checkpoint c.mb -o m.mb")
        assert digest("m.mb") == digest("c.mb") == fitted({"base_learner": "stump"}).ensemble_.digest()
        bad(f"{run} -n 3 --resume c.mb -o m.mb", f"is less than the {ROUNDS} rounds")
        bad(f"{run} -n 9 --resume m.mb -o n.mb", "m.mb is a model, not a checkpoint")
        bad("train test.csv -t class --base stump -q -n 9 --resume c.mb -o n.mb", "c.mb: its run had (120, 3) samples")
        bad(f"{run} -n 9 --weighting uniform --resume c.mb -o n.mb", "c.mb was written by a run with weighting='auto'")

    def test_a_checkpoint_that_is_not_there_yet(self, files, good):
        """The same command begins a run and goes on with it."""
        run = f"train train.csv -t class --base stump -q -n {ROUNDS} --checkpoint c.mb --resume c.mb -o m.mb"
        good(run)
        first = digest("m.mb")
        good(run)
        assert digest("m.mb") == first

    def test_a_run_that_has_ended_stays_as_it_is(self, files, good):
        """Killed between the last checkpoint and the model: no round is added to one that has lost its patience."""
        run = "train train.csv -t class -o m.mb -n 200 --base tree:8 --learning-rate 1 --valid test.csv --patience 5 -q"
        good(f"{run} --checkpoint c.mb --resume c.mb")
        rounds, first = load_model("c.mb").n_estimators_, Path("m.mb").read_bytes()
        Path("m.mb").unlink()
        good(f"{run} --checkpoint c.mb --resume c.mb")
        assert load_model("c.mb").n_estimators_ == rounds < 200
        assert Path("m.mb").read_bytes() == first

    def test_a_checkpoint_is_a_model(self, files, good):
        """It knows its target and what to leave out."""
        TRAIN[[*ONE, "grade"]].to_csv("t.csv", index=False)
        good(f"train t.csv -t class --ignore grade --base stump -q -n {ROUNDS} --checkpoint c.mb -o m.mb")
        assert good("predict c.mb t.csv --scores").out == good("predict m.mb t.csv --scores").out
        assert good("evaluate c.mb t.csv --json").out == good("evaluate m.mb t.csv --json").out

    def test_interrupt(self, files):
        """Ctrl-C: the round is finished, the model saved, the exit code 130."""
        words = [
            "train",
            "train.csv",
            "-t",
            "class",
            "-o",
            "m.mb",
            "-n",
            1000000,
            "--base",
            "stump",
            "--log",
            "log.csv",
        ]
        with subprocess.Popen(
            command(*words), env=environment(), cwd=files, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            wait_for(lambda: log_rows(files / "log.csv") >= 3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 130
        rounds = log_rows(files / "log.csv")
        clf = load_model(files / "m.mb")
        assert clf.n_estimators_ == rounds
        assert err.endswith(f"multiboost: interrupted after {rounds} rounds; the model is in m.mb\n")
        assert out == ""
        if rounds < 5000:
            same = fitted({"base_learner": "stump", "n_estimators": rounds})
            assert clf.ensemble_.digest() == same.ensemble_.digest()

    def test_interrupt_of_another_command(self, files, model, cli, monkeypatch):
        """Says so in a word, with the same exit code, and leaves no file."""

        def interrupted(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(predict_command, "_columns", interrupted)
        result = cli("predict m.mb test.csv -o p.csv")
        assert (result.code, result.out, result.err) == (130, "", "multiboost: interrupted\n")
        assert sorted(p.name for p in files.iterdir()) == ["m.mb", "test.csv", "train.csv"]

    def test_killed_and_resumed(self, files, good):
        """SIGKILL three times; in the end the model file is that of a run in peace, byte for byte."""
        rounds = 800
        words = ["train", "train.csv", "-t", "class", "-n", rounds, "--base", "stump", "-q", "--valid", "test.csv"]
        run = command(*words, "-o", "m.mb", "--checkpoint", "c.mb", "--resume", "c.mb", "--every", "0.001s")
        kept: list[int] = []
        for _ in range(3):
            before = (files / "c.mb").stat().st_mtime_ns if (files / "c.mb").exists() else 0
            with subprocess.Popen(run, env=environment(), cwd=files) as process:
                wait_for(lambda: (files / "c.mb").exists() and (files / "c.mb").stat().st_mtime_ns > before)
                time.sleep(0.02 * len(kept))
                process.kill()
            assert process.returncode == -signal.SIGKILL
            kept.append(load_model(files / "c.mb").n_estimators_)
        assert kept == sorted(kept)
        assert 0 < kept[0] <= kept[-1] < rounds
        assert not (files / "m.mb").exists()
        good([*words, "-o", "m.mb", "--resume", "c.mb"])
        whole = fitted(
            {"base_learner": "stump", "n_estimators": rounds}, validation=(TEST[COLUMNS], TEST["class"]),
            provenance=load_model(files / "m.mb").data_,
        )  # fmt: skip
        assert digest(files / "m.mb") == whole.ensemble_.digest()
        whole.save(files / "whole.mb")
        assert (files / "m.mb").read_bytes() == (files / "whole.mb").read_bytes()


# 6. The other commands


class TestEvaluate:
    def expected(self, clf, X, y, weight=None):
        """Numbers of scikit-learn."""
        proba, guess = clf.predict_proba(X), clf.predict(X)
        Y = (np.asarray(y)[:, None] == clf.classes_).astype(int)
        signs = clf.decision_function(X) > 0
        return {
            "error": 1 - metrics.accuracy_score(y, guess, sample_weight=weight),
            "hamming_loss": np.average(np.mean(signs != Y, axis=1), weights=weight),
            "balanced_error": 1 - metrics.balanced_accuracy_score(y, guess, sample_weight=weight),
            "log_loss": metrics.log_loss(y, proba, sample_weight=weight),
            "auc": metrics.roc_auc_score(Y, proba, average="macro", sample_weight=weight),
        }

    def test_equals_scikit_learn(self, model, good):
        clf = load_model(model)
        expected = self.expected(clf, TEST[COLUMNS], TEST["class"])
        found = json.loads(good("evaluate m.mb test.csv --json").out)
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
        confusion = metrics.confusion_matrix(TEST["class"], clf.predict(TEST[COLUMNS]))
        np.testing.assert_array_equal(found["tasks"][0]["confusion"], confusion)
        text = good("evaluate m.mb test.csv").out
        for name, value in expected.items():
            assert f"{name.replace('_', ' ')}" in text
            assert (
                f"{100 * value:.2f} %" if name.endswith(("error", "loss")) and name != "log_loss" else f"{value:.4f}"
            ) in text
        rows = [line.split() for line in text.splitlines()]
        for name, row in zip(clf.classes_, confusion.tolist(), strict=True):
            assert [name, *map(str, row)] in rows

    def test_weights(self, files, good):
        """The column of weights that training had counts here, too; --ignore leaves it out."""
        TRAIN[[*ONE, "weight"]].to_csv("w.csv", index=False)
        TEST[[*ONE, "weight"]].to_csv("v.csv", index=False)
        run = f"train w.csv -t class --weight weight -o m.mb -n {ROUNDS} --base tree:4 --test v.csv --json"
        trained = json.loads(good(run).out)["test"]
        clf = load_model("m.mb")
        expected = self.expected(clf, TEST[COLUMNS], TEST["class"], TEST["weight"])
        found = json.loads(good("evaluate m.mb v.csv --json").out)
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
            assert trained[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
        assert json.loads(good("evaluate m.mb v.csv --ignore weight --json").out)["weight"] == 40
        assert json.loads(good("evaluate m.mb test.csv --json").out)["weight"] == 40

    def test_staged(self, model, good):
        clf = load_model(model)
        errors = [np.mean(p != TEST["class"]) for p in clf.staged_predict(TEST[COLUMNS])]
        rows = pd.read_csv(io.StringIO(good("evaluate m.mb test.csv --staged").out))
        assert rows["round"].tolist() == list(range(1, ROUNDS + 1))
        np.testing.assert_allclose(rows["error"], errors, rtol=1e-5)
        lines = [json.loads(line) for line in good("evaluate m.mb test.csv --staged --json").out.splitlines()]
        assert [line["round"] for line in lines] == list(range(1, ROUNDS + 1))
        np.testing.assert_allclose([line["error"] for line in lines], errors, rtol=1e-12)

    def test_tasks_by_name(self, files, good):
        TRAIN[[*COLUMNS, "class", "grade"]].to_csv("t.csv", index=False)
        good(f"train t.csv -t class -t grade -o m.mb -n {ROUNDS} --base tree:4 -q")
        found = json.loads(good("evaluate m.mb t.csv --json").out)
        assert [task["name"] for task in found["tasks"]] == ["class", "grade"]
        assert {m["task"] for m in found["mistakes"]} <= {"class", "grade"}
        guess = load_model("m.mb").predict(TRAIN[COLUMNS])
        for t, name in enumerate(["class", "grade"]):
            assert found["tasks"][t]["error"] == pytest.approx(np.mean(guess[:, t] != TRAIN[name]), abs=1e-12)
        text = good("evaluate m.mb t.csv").out
        assert "grade, predicted as" in text
        assert "class:maybe" in text

    def test_many_classes(self, files, good):
        """A confusion matrix that is too wide becomes a list of the largest mistakes; no line is cut."""
        names = [f"species number {k}" for k in range(12)]
        frame = pd.DataFrame({"x": np.arange(600) % 30, "class": [names[k % 12] for k in range(600)]})
        frame.to_csv("many.csv", index=False)
        good("train many.csv -t class -o m.mb -n 2 -q --base stump")
        text = good("evaluate m.mb many.csv").out
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= 100
        found = json.loads(good("evaluate m.mb many.csv --json").out)["tasks"][0]["confusion"]
        np.fill_diagonal(matrix := np.array(found), 0)
        i, j = np.unravel_index(matrix.argmax(), matrix.shape)
        classes = sorted(names)
        first = next(line for line in text.splitlines() if "largest mistakes" in line)
        after = text.splitlines()[text.splitlines().index(first) + 1]
        assert classes[i] in after
        assert classes[j] in after
        assert after.split()[-1] == f"{matrix.max():g}"

    def test_names_are_not_markup(self, files, good):
        """Brackets and colons in names of columns and classes are shown as they are."""
        frame = TRAIN[["size", "level", "class"]].replace({"class": {"yes": "[bold]yes[/]", "no": ":o:"}})
        frame = frame.rename(columns={"level": "[red]"})
        frame.to_csv("odd.csv", index=False)
        good("train odd.csv -t class -o [m].mb -n 3 --base tree:4")
        text = good("evaluate [m].mb odd.csv").out
        assert "[bold]yes[/]" in text
        assert ":o:" in text
        assert "[red]" in good("inspect [m].mb").out
        assert "[m].mb" in good("train odd.csv -t class -o [m].mb -n 3 --base tree:4").err


class TestOtherCommands:
    def test_inspect(self, model, good):
        clf = load_model(model)
        found = json.loads(good("inspect m.mb --json").out)
        assert found["digest"] == clf.ensemble_.digest()
        assert found["rounds"][0] == {"round": 1, "edge": clf.history_["edge"][0], "alpha": clf.history_["alpha"][0]}
        assert len(found["rounds"]) == ROUNDS
        shares = dict(zip(COLUMNS, clf.feature_importances_, strict=True))
        assert found["importances"] == pytest.approx({k: v for k, v in shares.items() if v > 0})
        text = good("inspect m.mb").out
        for word in (
            "multiclass",
            "maybe, no, yes",
            "3, 1 of them nominal",
            "train.csv, 120 rows",
            "tree:4",
            found["digest"],
        ):
            assert word in text
        assert f"--round 2 to --round {ROUNDS}" in text

    def test_rules_of_a_round(self, model, good):
        from multiboost import round_rules

        expected = str(next(iter(round_rules(load_model(model), [3]))))
        assert good("inspect m.mb --round 3").out == f"{expected}\n"
        assert json.loads(good("inspect m.mb --round 3 --json").out)["rules"] == [expected]

    def test_inspect_of_a_model_from_python(self, files, good):
        fitted({"base_learner": "stump"}).save("py.mb")
        assert "unknown (trained from Python)" in good("inspect py.mb").out

    def test_compare(self, files, good, bad):
        run = "compare train.csv -t class --folds 3 -n 3 --base stump --base tree:4"
        found = json.loads(good(f"{run} --json").out)
        assert sorted(row["name"] for row in found) == ["stump", "tree:4"]
        assert found[0]["error"] <= found[1]["error"]
        text = good(run).out
        for row in found:
            assert f"{100 * row['error']:.2f} ± {100 * row['standard_error']:.2f}" in text
        bad("compare train.csv -t class --folds 1", "--folds must be at least 2")
        bad("compare train.csv -t class --base tre", "--base tre: 'tre' is not one of")
        bad("compare train.csv -t class --nominal colur", "(--nominal); did you mean 'colour'?")
        bad("compare train.csv", "which column is the class?")

    def test_compare_by_hand(self, files, good):
        """The folds of one candidate, computed here."""
        found = json.loads(good("compare train.csv -t class --folds 4 -n 3 --base tree:4 --seed 2 --json").out)
        y = TRAIN["class"].to_numpy(dtype=object)
        order = np.random.default_rng(2).permutation(len(y))
        order = order[np.argsort(np.unique(y, return_inverse=True)[1][order], kind="stable")]
        fold = np.empty(len(y), int)
        fold[order] = np.arange(len(y)) % 4
        errors = []
        for k in range(4):
            clf = fitted({"base_learner": "tree:4", "n_estimators": 3}, TRAIN[fold != k])
            errors.append(np.mean(clf.predict(TRAIN[fold == k][COLUMNS]) != y[fold == k]))
        assert found[0]["error"] == pytest.approx(np.mean(errors))
        assert found[0]["standard_error"] == pytest.approx(np.std(errors, ddof=1) / 2)

    def test_compare_the_candidates(self, files, good):
        found = json.loads(good("compare train.csv -t class --folds 2 -n 2 --json").out)
        assert {row["name"] for row in found} >= {"defaults", "stumps, discrete votes", "trees of 8, logistic loss"}

    def test_warmup(self, good):
        lines = good("warmup").err.splitlines()
        assert len(lines) >= 4
        assert all(line.endswith(" s") for line in lines)
        assert good("warmup --quiet") == Result(0, "", "")

    def test_version(self, good):
        from multiboost import __version__

        lines = good("version").out.splitlines()
        assert lines[0] == f"multiboost {__version__}"
        assert f"numpy {np.__version__}" in lines

    def test_demo(self, good):
        result = good("demo")
        for word in ("$ multiboost train", "$ multiboost evaluate", "$ multiboost inspect"):
            assert word in result.err
        error = float(next(line for line in result.out.splitlines() if line.startswith("error")).split()[1]) / 100
        assert error < 0.1

    def test_quiet_and_json(self, files, good):
        """--quiet says nothing at all; --json says JSON and nothing else."""
        run = f"train train.csv -t class -o m.mb -n {ROUNDS} --base stump --test test.csv --valid-fraction 0.2"
        assert good(f"{run} --quiet") == Result(0, "", "")
        result = good(f"{run} --json")
        found = json.loads(result.out)
        assert result.err == ""
        assert found["digest"] == digest("m.mb")
        assert set(found) == {"rounds", "loss", "learning_rate", "subsample", "base_learner", "seconds", "interrupted",
                              "training_error", "digest", "validation", "test"}  # fmt: skip
        text = good(run)
        assert text.out == ""
        assert f"{100 * found['test']['error']:.2f} %" in text.err
        assert json.loads(good("inspect m.mb --json").out)["digest"] == found["digest"]


# 7. Speed


def cpu_seconds(words, repeat: int = 5) -> float:
    """User and system time of a command, the best of several."""
    best = np.inf
    for _ in range(repeat):
        process = subprocess.Popen(words, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


class TestSpeed:
    def test_help(self):
        """Beside the import of what draws it: seconds are of the machine's hour."""
        bare = cpu_seconds([sys.executable, "-c", "import typer.main, rich.console, rich.table, rich.panel"], 5)
        assert cpu_seconds(command("--help"), 5) < 3 * bare

    def test_help_imports_nothing_heavy(self):
        code = (
            "import sys; sys.argv = ['multiboost', 'train', '--help']\n"
            "from multiboost.cli.app import main\n"
            "try: main()\n"
            "except SystemExit as end: assert end.code == 0\n"
            "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'narwhals', 'pandas'} & set(sys.modules)\n"
            "assert not heavy, heavy"
        )
        ended = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr

    def test_predict(self, model):
        """Little more than numba and Arrow need to begin; pyarrow would add pandas where it finds it."""
        hide = (
            "import sys\n"
            "class Hidden:\n"
            "    def find_spec(self, name, path=None, target=None):\n"
            "        if name.partition('.')[0] == 'pandas': raise ModuleNotFoundError(name, name=name)\n"
            "sys.meta_path.insert(0, Hidden())\n"
        )
        bare = (
            "import numba, scipy.sparse, pyarrow.csv, pyarrow.compute, typer\n"
            "from numba.core.registry import cpu_target; cpu_target.target_context.refresh()"
        )
        imports = cpu_seconds([sys.executable, "-c", bare], 2)
        words = ["predict", model, model.parent / "test.csv"]
        spent = cpu_seconds([sys.executable, "-c", f"{hide}from multiboost.cli.app import main; main()", *words], 3)
        assert spent < max(1.5, 2 * imports)

    def test_predict_does_without_scikit_learn(self, model):
        code = (
            f"import sys; sys.argv = ['multiboost', 'predict', {str(model)!r}, {str(model.parent / 'test.csv')!r}]\n"
            "from multiboost.cli.app import main\n"
            "try: main()\n"
            "except SystemExit as end: assert end.code == 0\n"
            "heavy = {'sklearn', 'scipy.stats', 'scipy.special', 'matplotlib'} & set(sys.modules)\n"
            "assert not heavy, heavy"
        )
        ended = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr

    @pytest.mark.parametrize(
        "name", ["train", "predict", "evaluate", "inspect", "compare", "warmup", "demo", "version"]
    )
    def test_every_help(self, name, good):
        text = good(f"{name} --help").out
        assert f"multiboost {name}" in text
        assert "[]" not in text

    def test_help_shows_defaults(self, good):
        text = good("train --help").out
        for word in ("[tree]", "[chosen]", "[real]", "[auto]", "[validation_error]", "[60s]"):
            assert word in text


# 8. Public data, from their files


def errors_of(good, command: str, name: str = "error") -> float:
    return json.loads(good(command).out)["test"][name]


class TestPublicData:
    def test_letter(self, tmp_path, good):
        names = ["letter", *(f"x{j}" for j in range(16))]
        frame = pd.read_csv(shared_data("letter", "letter-recognition.data.gz"), names=names)
        train, test = frame[:16000], frame[16000:]
        train.to_csv(tmp_path / "train.csv.gz", index=False)
        test.to_csv(tmp_path / "test.csv", index=False)
        error = errors_of(good, "train train.csv.gz -t letter --test test.csv --base tree:20 -n 20 -o m.mb --json")
        clf = MultiBoostClassifier("tree:20", 20).fit(train[names[1:]].to_numpy(), train.letter)
        assert digest("m.mb") == clf.ensemble_.digest()
        assert error == pytest.approx(np.mean(clf.predict(test[names[1:]].to_numpy()) != test.letter), abs=1e-12)
        assert error < 0.15

    def test_adult(self, tmp_path, good):
        names = ["age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
                 "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
                 "income"]  # fmt: skip
        read = {"names": names, "skipinitialspace": True, "comment": "|", "keep_default_na": False}
        train = pd.read_csv(shared_data("adult", "adult.data.gz"), **read)
        test = pd.read_csv(shared_data("adult", "adult.test.gz"), **read)
        test["income"] = test.income.str.rstrip(".")
        train.to_csv(tmp_path / "train.csv", index=False)
        test.to_csv(tmp_path / "test.csv", index=False)
        error = errors_of(good, "train train.csv -t income --test test.csv --base tree:8 -n 30 -o m.mb --json")
        clf = MultiBoostClassifier("tree:8", 30).fit(train[names[:-1]], train.income)
        assert digest("m.mb") == clf.ensemble_.digest()
        assert error == pytest.approx(np.mean(clf.predict(test[names[:-1]]) != test.income), abs=1e-12)
        assert error < 0.16

    @pytest.mark.slow
    def test_mnist(self, tmp_path, good):
        def idx(name):
            data = gzip.decompress(shared_data("mnist", f"{name}.gz").read_bytes())
            shape = np.frombuffer(data, ">i4", data[3], 4)
            return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape[0], -1)

        parts = {}
        for part, stem in (("train", "train"), ("test", "t10k")):
            X, y = idx(f"{stem}-images-idx3-ubyte"), idx(f"{stem}-labels-idx1-ubyte").ravel()
            parts[part] = X, y
            columns = {f"p{j}": X[:, j] for j in range(X.shape[1])}
            pq.write_table(pa.table({**columns, "digit": y}), tmp_path / f"{part}.parquet")
        command = "train train.parquet -t digit --test test.parquet --base tree:16 -n 5 -o m.mb --json"
        error = errors_of(good, command)
        clf = MultiBoostClassifier("tree:16", 5).fit(*parts["train"])
        assert digest("m.mb") == clf.ensemble_.digest()
        assert error == pytest.approx(np.mean(clf.predict(parts["test"][0]) != parts["test"][1]), abs=1e-12)
        good("predict m.mb test.parquet -o p.parquet")
        assert pq.read_table("p.parquet")["digit"].to_pylist() == clf.predict(parts["test"][0]).tolist()

    @pytest.mark.parametrize("name", ["yeast", "scene"])
    def test_mulan(self, name, good):
        """Read by SciPy for the comparison; the xml file is found next to the data."""
        folder = shared_data("mulan", name)
        paths = [folder / f"{name}-{part}.arff.gz" for part in ("train", "test")]
        parts = []
        labels = list(read_file(paths[0]).labels.names)
        for path in paths:
            rows, _ = scipy_arff.loadarff(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
            frame = pd.DataFrame(rows)
            Y = frame[labels].apply(lambda c: c.astype(str).str.strip("b'").astype(float)).astype(int).to_numpy()
            parts.append((frame.drop(columns=labels).to_numpy(dtype=float), Y))
        command = f"train {paths[0]} --test {paths[1]} --base tree:8 -n 20 -o m.mb --json"
        error = errors_of(good, command, "hamming_loss")
        clf = MultiBoostClassifier("tree:8", 20).fit(*parts[0])
        assert digest("m.mb") == clf.ensemble_.digest()
        assert error == pytest.approx(np.mean(clf.predict(parts[1][0]) != parts[1][1]), abs=1e-12)
