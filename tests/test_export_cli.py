"""``multiboost export`` and ``multiboost import``."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from multiboost import load_model, load_shyp
from multiboost.export import to_c, to_python

from .conftest import reference
from .exporting import compiler, fitted, package
from .test_cli import cli  # noqa: F401  a fixture

pytest.importorskip("typer")


@pytest.fixture
def model(tmp_path):
    clf = fitted("tree:6", 4)
    clf.save(tmp_path / "m.mb")
    return clf


def test_c(cli, model, tmp_path):  # noqa: F811
    """The file is what Python writes; identifiers have its name."""
    done = cli("export m.mb --to c --out my-trigger.c --proba --precision float")
    assert done.code == 0, done.err
    assert "my_trigger.h and my-trigger.c written" in done.err.replace("\n", " ")
    expected = to_c(model, "my_trigger", precision="float", probabilities=True)
    assert (tmp_path / "my-trigger.c").read_text() == expected.source
    assert (tmp_path / "my_trigger.h").read_text() == expected.header
    made = subprocess.run([compiler("gcc"), "-c", "-o", "/dev/null", str(tmp_path / "my-trigger.c")])
    assert made.returncode == 0


def test_fixed(cli, model, tmp_path):  # noqa: F811
    assert cli("export m.mb --to c --out t.c --fixed a=q4.12 --fixed b=q8.8 --fixed c=q2.4").code == 0
    expected = to_c(model, "t", fixed={"a": "q4.12", "b": "q8.8", "c": "q2.4"})
    assert (tmp_path / "t.c").read_text() == expected.source
    assert cli("export m.mb --to c --out t.c --fixed q8.8 --name other").code == 0
    assert (tmp_path / "other.h").exists()


def test_python_and_onnx(cli, model, tmp_path):  # noqa: F811
    assert cli("export m.mb --to python --out p.py").code == 0
    assert (tmp_path / "p.py").read_text() == to_python(model)
    onnx = package("onnx")
    assert cli("export m.mb --to onnx --out m.onnx --precision float --categories names").code == 0
    onnx.checker.check_model(str(tmp_path / "m.onnx"))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("export m.mb --to java --out x", "--to 'java': there are c, onnx, conifer, python"),
        ("export m.mb --to python --out x.py --fixed q8.8", "--fixed does not go with --to python"),
        ("export m.mb --to onnx --out x.onnx --proba", "--proba does not go with --to onnx"),
        ("export m.mb --to c --out x.c --fixed q99.1", "fixed 'q99.1'"),
        ("export m.mb --to c --out x.c --fixed q8.8 --fixed a=q8.8", "one grid for all columns"),
        ("export m.mb --to c --out x.c --name 1x", "cannot begin a C identifier"),
        ("export m.mb --to conifer --out x.json", "is nominal"),
        ("export m.mb --to c --out m.mb", "would overwrite what is read"),
        ("export m.mb --to c --out nowhere/x.c", "there is no folder"),
        ("export none.mb --to c --out x.c", "none.mb"),
        ("import none.xml --out x.mb", "none.xml"),
        ("import m.mb --out x.mb", "is not XML"),
        ("import m.mb --out x.mb --target y", "--target goes with --columns"),
        ("import m.mb --out x.mb --delimiter '|'", "--delimiter goes with --columns"),
    ],
)
def test_bad_input(cli, model, tmp_path, command, told):  # noqa: F811
    done = cli(command)
    assert (done.code, done.out) == (2, "")
    assert told in done.err.replace("\n", " ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.mb"]


def test_import(cli, tmp_path):  # noqa: F811
    """An old model, imported with the columns of its training file, predicts from the command line."""
    old, data = reference("digits-stump.xml.gz"), reference("data", "digits-test.arff.gz")
    done = cli(["import", old, "--out", "digits.mb", "--columns", data, "--target", "class"])
    assert done.code == 0, done.err
    assert "100 rounds, 64 columns" in done.err.replace("\n", " ")
    clf = load_model(tmp_path / "digits.mb")
    names = [*clf.feature_names_in_, "class"]
    (tmp_path / "bars.csv").write_text(f"{'|'.join(names)}\n{'|'.join('0' for _ in names)}\n")
    done = cli(["import", old, "-o", "bars.mb", "--columns", "bars.csv", "--delimiter", "|", "--target", "class"])
    assert load_model(tmp_path / "bars.mb").model_.digest() == clf.model_.digest(), done.err
    with np.load(reference("data", "digits.npz")) as arrays:
        frame = pd.DataFrame(arrays["X_test"], columns=clf.feature_names_in_)
    expected = load_shyp(old, columns=list(frame.columns)).decision_function(frame)
    np.testing.assert_array_equal(clf.decision_function(frame), expected)
    shown = json.loads(cli("inspect digits.mb --json").out)
    assert "training_error" not in shown
    assert len(shown["rounds"]) == 100
    found = json.loads(cli(["evaluate", "digits.mb", data, "--target", "class", "--json"]).out)
    assert found["error"] < 0.15


def test_export_does_not_import_onnx_unless_asked():
    code = "import sys, multiboost.export; print('onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
