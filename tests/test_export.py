"""ONNX, conifer and the Python file beside the estimator; models of the C++ program beside its own scores."""

import gzip
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from multiboost import MultiBoostClassifier, export_model, load_model, load_shyp
from multiboost.export import FORMATS, ExportError, to_conifer, to_onnx, to_python
from multiboost.export.c_scores import tolerance
from multiboost.export.trees import plain_trees
from multiboost.model.modelfile import ModelFileError

from .conftest import make_classes, make_labels, reference, shared_data
from .exporting import (
    SPECS,
    as_names,
    fitted,
    fitted_regressor,
    kernel_scores,
    known_codes,
    mixed_table,
    package,
    strange_rows,
)
from .test_prediction import random_ensemble

DTYPES = {"double": np.float64, "float": np.float32}


def run_onnx(proto, feed):
    session = package("onnxruntime").InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([one.name for one in session.get_outputs()], session.run(None, feed), strict=True))


def close_to(model, precision: str) -> float:
    return 1e-12 if precision == "double" else tolerance(model)


class TestOnnx:
    """In onnxruntime; the checker has passed before a model is handed out."""

    @pytest.mark.parametrize("precision", DTYPES)
    @pytest.mark.parametrize("spec", SPECS)
    def test_scores(self, spec, precision):
        package("onnx")
        model = fitted(spec).model_
        X = strange_rows(model, 20_000).clip(-3e38, 3e38).astype(DTYPES[precision])
        found = run_onnx(to_onnx(model, precision=precision), {"X": X})
        exact = kernel_scores(model, X.astype(np.float64))
        assert np.abs(found["scores"] - exact).max() <= close_to(model, precision)

    def test_operator_sets(self):
        """Votes of all labels in one leaf; nothing of the operator that has one label for each leaf."""
        package("onnx")
        proto = to_onnx(fitted("tree:6"), precision="float")
        assert {one.domain: one.version for one in proto.opset_import} == {"": 18, "ai.onnx.ml": 3}
        tree = next(node for node in proto.graph.node if node.op_type == "TreeEnsembleRegressor")
        attributes = {one.name: one for one in tree.attribute}
        assert attributes["n_targets"].i == 3
        leaves = sum(mode == b"LEAF" for mode in attributes["nodes_modes"].strings)
        assert len(attributes["target_weights"].floats) == 3 * leaves

    @pytest.mark.parametrize("precision", DTYPES)
    def test_answers_of_every_kind(self, precision):
        package("onnx")
        X, y = make_classes(200, 4, 3)
        X = X.astype(np.float32).astype(np.float64)
        names = np.array(["a", "b", "c"])
        tasks = np.stack([names[y], np.where(X[:, 0] > 0, "up", "down")], axis=1)
        targets = [np.minimum(y, 1), names[y], y * 10, tasks, make_labels(200, 4, 3)[1], y > 0]
        for target in targets:
            clf = MultiBoostClassifier("tree:4", 8, loss="exponential").fit(X, target)
            found = run_onnx(to_onnx(clf, precision=precision), {"X": X.astype(DTYPES[precision])})
            given = clf.predict_proba(X)
            expected = np.concatenate(given, axis=1) if isinstance(given, list) else given
            np.testing.assert_allclose(found["probabilities"], expected, atol=1e-12 if precision == "double" else 1e-5)
            labels = clf.predict(X)
            if clf.model_.kind.name == "multitask":
                np.testing.assert_array_equal(np.stack([found["label_0"], found["label_1"]], axis=1), labels)
            else:
                np.testing.assert_array_equal(found["label"], labels)

    @pytest.mark.parametrize("parameters", [{}, {"loss": "poisson"}, {"quantile": [0.1, 0.5, 0.9], "loss": "quantile"}])
    def test_numbers(self, parameters):
        package("onnx")
        model = fitted_regressor(**parameters)
        X = strange_rows(model.model_, 1000)
        found = run_onnx(to_onnx(model), {"X": X})
        expected = model.model_.answer(kernel_scores(model.model_, X))
        np.testing.assert_allclose(found["values"], expected.reshape(len(X), -1), rtol=1e-12)

    def test_adult_from_names(self):
        """A real table with missing and nominal values; nominal columns are inputs of text."""
        package("onnx")
        frame = read_adult()
        clf = MultiBoostClassifier("tree:8", 20, loss="logistic").fit(frame[:8000].drop(columns="class"),
                                                                       frame["class"][:8000])  # fmt: skip
        new = frame[8000:12000].drop(columns="class")
        proto = to_onnx(clf, categories="names")
        numbers = [name for name, c in zip(new.columns, clf.categories_, strict=True) if c is None]
        feed = {"X": new[numbers].to_numpy(np.float64)}
        for name in new.columns.difference(numbers):
            feed[f"column_{name}"] = new[name].fillna("?").to_numpy(object)[:, None]
        found = run_onnx(proto, feed)
        np.testing.assert_allclose(found["scores"][:, 0], clf.decision_function(new), atol=1e-12)
        np.testing.assert_array_equal(found["label"], clf.predict(new))
        told = {one.key: json.loads(one.value) for one in proto.metadata_props if one.key != "digest"}
        assert told["columns"] == list(new.columns)
        assert told["categories"]["sex"] == list(clf.categories_[list(new.columns).index("sex")])

    def test_nominal_columns_only(self):
        """Nothing but inputs of text, and a row of values that nobody has seen."""
        package("onnx")
        clf = fitted("selector")
        frame = mixed_table(200, seed=1)[0][["colour", "city"]].fillna("unseen")
        feed = {f"column_{name}": frame[name].to_numpy(object)[:, None] for name in frame}
        found = run_onnx(to_onnx(clf, categories="names"), feed)
        np.testing.assert_allclose(found["scores"], clf.decision_function(frame), atol=1e-12)

    def test_a_dag_too_large_for_trees_is_refused(self):
        """A ladder of tests that share their children has 2^n ways."""
        model = fitted("tree:6", 2).model_
        m = 40
        child = np.stack([np.arange(1, m + 1)] * 2, axis=1)
        child[-1] = [~0, ~1]
        rng = np.random.default_rng(0)
        ladder = replace(random_ensemble(rng, 3, n_rounds=1, most_terms=1, nominal=False),
                         feature=np.zeros(m, np.int32), threshold=np.arange(m) * 1.0, missing_right=np.zeros(m, bool),
                         child=child.astype(np.int32), gain=np.ones(m), set_start=np.full(m, -1, np.intp),
                         root=np.zeros(1, np.int32), first_term=np.array([0, 1]))  # fmt: skip
        with pytest.raises(ExportError, match="ONNX knows trees only"):
            to_onnx(replace(model, ensemble=ladder))

    def test_options_that_there_are_not(self):
        clf = fitted("stump", 2)
        with pytest.raises(ExportError, match="there are double and float"):
            to_onnx(clf, precision="half")
        with pytest.raises(ExportError, match="there are codes and names"):
            to_onnx(clf, categories="both")


def read_adult() -> pd.DataFrame:
    names = ["age", "workclass", "fnlwgt", "education", "years", "marital", "occupation", "relationship", "race", "sex",
             "gain", "loss", "hours", "country", "class"]  # fmt: skip
    folder = shared_data("adult")
    file = next(path for path in sorted(folder.iterdir()) if ".data" in path.name)
    return pd.read_csv(file, header=None, names=names, na_values=["?"], skipinitialspace=True, nrows=12_000)


class TestConifer:
    """In conifer's C++ back end."""

    @pytest.mark.parametrize(
        ("spec", "labels"),
        [
            ("tree:6", 3),
            *(pytest.param(spec, k, marks=pytest.mark.slow) for spec, k in (("stump", 2), ("product:3", 3))),
        ],
    )
    def test_scores(self, spec, labels, tmp_path):
        conifer = package("conifer")
        X, y = make_classes(200, 5, labels)
        clf = MultiBoostClassifier(spec, 10, loss="exponential").fit(X, y)
        config = {"backend": "cpp", "output_dir": str(tmp_path), "project_name": "p", "precision": "double"}
        model = conifer.model.make_model(to_conifer(clf), config)
        model.compile()
        found = np.reshape(model.decision_function(X), (len(X), -1))
        np.testing.assert_allclose(found, clf.decision_function(X).reshape(len(X), -1), atol=1e-12)

    @pytest.mark.parametrize("spec", ["stump", "tree:6", "product:3", "tree:4/product:2", "product:2/tree:3"])
    def test_the_dictionary_is_the_model(self, spec):
        """Walked in plain Python, as conifer's documentation says; products are trees."""
        X, Y = make_labels(100, 4, 3)
        clf = MultiBoostClassifier(spec, 6, loss="exponential").fit(X, Y)
        found = to_conifer(clf)
        scores = np.tile(found["init_predict"], (len(X), 1))
        deepest = 0
        for trees in found["trees"]:
            for label, tree in enumerate(trees):
                for i, x in enumerate(X):
                    node = depth = 0
                    while tree["feature"][node] != -2:
                        assert np.flatnonzero(tree["weight"][node]).tolist() == [tree["feature"][node]]
                        side = "left" if x[tree["feature"][node]] <= tree["threshold"][node] else "right"
                        node, depth = tree[f"children_{side}"][node], depth + 1
                    scores[i, label] += tree["value"][node]
                    deepest = max(deepest, depth)
        np.testing.assert_allclose(scores, clf.decision_function(X), atol=1e-12)
        assert deepest <= found["max_depth"]
        assert (found["n_classes"], found["n_features"], found["n_trees"]) == (3, 4, 6)

    def test_what_firmware_cannot_do(self):
        with pytest.raises(ExportError, match=r"the column '(colour|city)' is nominal"):
            to_conifer(fitted("stump"))
        X, Y = make_labels(100, 4, 2)
        with pytest.raises(ExportError, match="two labels"):
            to_conifer(MultiBoostClassifier("stump", 3, loss="logistic").fit(X, Y))


class TestPython:
    """One file, NumPy only."""

    @pytest.mark.parametrize("spec", SPECS)
    def test_scores(self, spec):
        clf = fitted(spec)
        X = strange_rows(clf.model_, 5000)
        X[np.isinf(X)] = 1e300
        X = known_codes(clf.model_, X)
        frame = as_names(clf.model_, X)
        space = {}
        exec(to_python(clf), space)
        np.testing.assert_array_equal(space["decision_function"](frame), clf.decision_function(frame))
        np.testing.assert_array_equal(space["predict"](frame), clf.predict(frame))
        np.testing.assert_allclose(space["predict_proba"](frame), clf.predict_proba(frame), rtol=1e-12)

    def test_frames_of_another_order_are_refused(self):
        """As the estimator refuses them: by position they would get other answers."""
        X, y = make_classes(60, 3, 2)
        frame = pd.DataFrame(X, columns=list("abc"))
        clf, space = MultiBoostClassifier("stump", 5, loss="logistic").fit(frame, y), {}
        exec(to_python(clf), space)
        for one in (frame, pl.from_pandas(frame), pa.table(dict(frame)), X, frame.set_axis([0, 1, 2], axis=1)):
            np.testing.assert_array_equal(space["predict"](one), clf.predict(frame))
        for other in (frame[list("cba")], pl.from_pandas(frame[list("cba")]), pa.table(dict(frame[list("cba")]))):
            with pytest.raises(ValueError, match=r"X has the columns \['c', 'b', 'a'\]; give them in this order"):
                space["predict"](other)

    def test_every_kind(self):
        X, y = make_classes(200, 4, 3)
        names = np.array(["a", "b", "c"])
        mixed = np.stack([names[y].astype(object), (X[:, 0] > 0).astype(int)], axis=1)
        targets = [np.minimum(y, 1), names[y], mixed, make_labels(200, 4, 3)[1]]
        for target in targets:
            clf = MultiBoostClassifier("tree:4", 8, loss="exponential").fit(X, target)
            space = {}
            exec(to_python(clf), space)
            np.testing.assert_array_equal(space["decision_function"](X), clf.decision_function(X))
            np.testing.assert_array_equal(space["predict"](X), clf.predict(X))
            for ours, theirs in zip(space["predict_proba"](X), clf.predict_proba(X), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-12)
            with pytest.raises(ValueError, match="X must have the shape"):
                space["predict"](X[:, :3])

    @pytest.mark.parametrize("parameters", [{}, {"loss": "poisson"}, {"quantile": [0.1, 0.5, 0.9], "loss": "quantile"}])
    def test_numbers(self, parameters):
        model = fitted_regressor(**parameters)
        frame = mixed_table(300, seed=3)[0]
        space = {}
        exec(to_python(model), space)
        np.testing.assert_array_equal(space["predict"](frame), model.predict(frame))

    def test_runs_alone(self, tmp_path):
        """In a process that has none of us."""
        clf = fitted("tree:6")
        export_model(clf, tmp_path / "other.py", to="python")
        code = (
            "import sys, numpy as np, other; print(other.predict(np.array([[0.5, None, 1, 'red', 'what']], object)));"
            "print([m for m in sys.modules if m.startswith(('multiboost', 'sklearn', 'scipy', 'numba'))])"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        frame = pd.DataFrame([[0.5, np.nan, 1.0, "red", "what"]], columns=["a", "b", "c", "colour", "city"])
        assert done.stdout.split("\n")[:2] == [str(clf.predict(frame)), "[]"]

    def test_any_names(self):
        rng = np.random.default_rng(0)
        names = ['"""', "\\", "'", "{0}", "a\nb", "\x00", "%", "é", "\u2028", "  two  spaces "]
        frame = pd.DataFrame({name: rng.choice(names, 300) for name in names})
        y = frame["%"].to_numpy()
        clf = MultiBoostClassifier("tree:4", 5, loss="exponential").fit(frame, y)
        space = {}
        exec(to_python(clf), space)
        assert space["COLUMNS"] == names
        np.testing.assert_array_equal(space["predict"](frame), clf.predict(frame))


RUNS = {"digits-stump": "digits-stump.xml.gz", "digits-tree8": "digits-tree8.shyp.xml.gz",
        "digits-prod3": "digits-prod3.shyp.xml.gz"}  # fmt: skip


class TestShyp:
    """Models of the C++ program."""

    @pytest.mark.parametrize("run", RUNS)
    def test_scores_are_those_of_the_program(self, run, tmp_path):
        """As far as it prints them, six digits; also after a round through our own file."""
        with np.load(reference("data", "digits.npz")) as data:
            X, y = data["X_test"], data["y_test"]
        frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
        with gzip.open(reference(f"{run}-posteriors-t100.csv.gz"), "rt") as file:
            printed = np.loadtxt(file, delimiter=",")
        clf = load_shyp(reference(RUNS[run]), columns=list(frame.columns))
        scores = clf.decision_function(frame)
        assert (np.abs(scores - printed) <= 5.01e-6 * 10 ** np.ceil(np.log10(np.abs(printed) + 1e-9)).clip(0)).all()
        clf.save(tmp_path / "m.mb")
        loaded = load_model(tmp_path / "m.mb")
        np.testing.assert_array_equal(loaded.decision_function(frame), scores)
        assert (loaded.predict(frame) == y).mean() > 0.85
        assert loaded.classes_.tolist() == list(range(10))
        # Without a list of columns: those that it tests, in their natural order.
        few = load_shyp(reference(RUNS[run]))
        used = list(few.feature_names_in_)
        assert used == sorted(used, key=lambda name: int(name[1:]))
        np.testing.assert_array_equal(few.decision_function(frame[used]), scores)

    def test_two_classes_and_labels(self, tmp_path):
        path = tmp_path / "m.xml"
        path.write_text(SMALL)
        clf = load_shyp(path)
        X = pd.DataFrame({"a": [0.0, 2.0, np.nan], "b": [1.0, 1.0, 9.0]})
        np.testing.assert_array_equal(clf.decision_function(X), [[-0.25, 0.25], [0.75, -0.75], [-0.75, 0.75]])
        assert clf.predict(X).tolist() == ["yes", "no", "yes"]
        labels = load_shyp(path, multilabel=True)
        assert labels.predict(X).tolist() == [[0, 1], [1, 0], [0, 1]]
        with pytest.raises(ValueError, match="tests the column 'b', which is not among the 1 columns given"):
            load_shyp(path, columns=["a"])

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ('<?xml version="1.0"?><!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><multiboost>&x;</multiboost>',
             "declares a document type"),
            ('<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><multiboost>&b;</multiboost>',
             "declares a document type"),
            ("<multiboost>&x;</multiboost>", "is not XML, or was cut short"),
            ("<multiboost><weakhyp>", "is not XML, or was cut short"),
            ("", "is not XML, or was cut short"),
            ("<model></model>", "begins with <model>"),
            ("<multiboost></multiboost>", "has no weak hypothesis"),
            ("SMALL:SingleStumpLearner:HaarLearner", "the learner 'HaarLearner', which is not known here"),
            ("SMALL:<alpha>0.5</alpha>:<alpha>nan</alpha>", "<alpha> is 'nan', not a finite number"),
            ("SMALL:<threshold>1</threshold>:<threshold>x</threshold>", "<threshold> is 'x'"),
            ("SMALL:<threshold>1</threshold>:", "there is <the end> where <threshold> should be"),
            ("SMALL:</weakhyp>:<more>1</more></weakhyp>", "<more> is one too many"),
            ('SMALL:size="2":size="99999999999"', "not a whole number"),
            ('SMALL:size="2":size="1"', "votes of 2 classes in a list of the size 1"),
            ('SMALL:id="no":id="yes"', "twice in one list of votes"),
            ("TREE:<leftChild>1</leftChild>:<leftChild>7</leftChild>", "the child 7, which cannot be"),
            ("TREE:<leftChild>1</leftChild>:<leftChild>0</leftChild>", "the child 0, which cannot be"),
            ("TREE:<numBaseLearners>2</numBaseLearners>:<numBaseLearners>999999999</numBaseLearners>", "not so many"),
        ],
    )  # fmt: skip
    def test_hostile_files_are_refused(self, text, told, tmp_path):
        whole, _, change = text.partition(":") if text.startswith(("SMALL:", "TREE:")) else (text, "", "")
        if change:
            old, _, new = change.partition(":")
            base = SMALL if whole == "SMALL" else TREE
            assert old in base
            text = base.replace(old, new)
        (tmp_path / "m.xml").write_text(text)
        with pytest.raises(ModelFileError, match=told):
            load_shyp(tmp_path / "m.xml")

    def test_truncated_anywhere(self, tmp_path):
        """No part of a file is a model, compressed or not."""
        path = tmp_path / "m.xml"
        for whole in (SMALL.encode(), gzip.compress(TREE.encode())):
            for end in range(0, len(whole.rstrip()), 7):
                path.write_bytes(whole[:end])
                with pytest.raises(ModelFileError, match=r"m\.xml"):
                    load_shyp(path)
        path.write_bytes(gzip.compress(TREE.encode()))
        assert load_shyp(path).n_estimators_ == 1

    def test_a_tree_whose_stumps_are_in_no_order(self, tmp_path):
        (tmp_path / "m.xml").write_text(TREE)
        clf = load_shyp(tmp_path / "m.xml")
        X = pd.DataFrame({"a": [0.0, 2.0, 2.0], "b": [0.0, 0.0, 5.0]})
        # a <= 1: the root's minus side, -v of its own; else b > 3 decides with the votes of the other stump.
        np.testing.assert_array_equal(clf.decision_function(X), 0.5 * np.array([[1, -1], [1, 1], [-1, -1]]))

    def test_load_model_says_what_to_do(self, tmp_path):
        for name in ("m.xml", "m.shyp.xml.gz"):
            text = SMALL.encode()
            (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
            with pytest.raises(ModelFileError, match=r"is XML.*multiboost import"):
                load_model(tmp_path / name)


def _stump(v, column, threshold):
    votes = f'<class id="no">{v[0]}</class><class id="yes">{v[1]}</class>'
    return (f"<weakLearner>SingleStumpLearner</weakLearner><alpha>0.5</alpha><vArray size=\"2\"><default>0</default>"
            f"{votes}</vArray><column>{column}</column><threshold>{threshold}</threshold>")  # fmt: skip


SMALL = f"""<?xml version="1.0"?>
<multiboost><algo>SingleStumpLearner</algo>
<weakhyp iter="0">{_stump((1, -1), "a", 1)}</weakhyp>
<weakhyp iter="1">{_stump((-1, 1), "b", 3).replace("0.5", "0.25")}</weakhyp>
<weakhyp iter="2"><weakLearner>ConstantLearner</weakLearner><alpha>0.5</alpha>
<vArray size="2"><default>0</default><class id="no">1</class><class id="yes">-1</class></vArray></weakhyp>
</multiboost>
"""
SMALL = SMALL.replace("<alpha>0.5</alpha>\n<vArray", "<alpha>0.0</alpha>\n<vArray")
TREE = f"""<multiboost><algo>TreeLearner</algo><weakhyp iter="0"><weakLearner>TreeLearner</weakLearner>
<alpha>0.5</alpha><numBaseLearners>2</numBaseLearners><leftChild>1</leftChild><rightChild>-1</rightChild>
<leftChild>-1</leftChild><rightChild>-1</rightChild>{_stump((-1, 1), "a", 1)}{_stump((-1, -1), "b", 3)}
</weakhyp></multiboost>
"""


def test_export_model(tmp_path):
    clf = fitted("tree:6", 3)
    package("onnx")
    for to in FORMATS:
        if to == "conifer":
            continue
        written = export_model(clf, tmp_path / f"x-1.{to}", to=to)
        assert all(path.stat().st_size > 500 for path in written)
    assert (tmp_path / "x_1.h").exists()
    with pytest.raises(ExportError, match="there are c, onnx, conifer, python"):
        export_model(clf, tmp_path / "x", to="java")
    with pytest.raises(ExportError, match="'python' has no option 'fixed'; it has none"):
        export_model(clf, tmp_path / "x", to="python", fixed="q8.8")


def test_trees_of_a_dag():
    """Every way through a DAG is a way through its tree, and the other way round."""
    rng = np.random.default_rng(0)
    ensemble = random_ensemble(rng, 2, nominal=False)
    for root, tree in zip(ensemble.root.tolist(), plain_trees(ensemble, "x"), strict=True):

        def ways(node):
            if node < 0:
                return [[~node]]
            return [[node, *way] for child in ensemble.child[node].tolist() for way in ways(child)]

        def tree_ways(node):
            if tree.test[node] < 0:
                return [[tree.leaf[node]]]
            children = (tree.left[node], tree.right[node])
            return [[tree.test[node], *way] for child in children for way in tree_ways(child)]

        assert tree_ways(0) == ways(root)
        assert tree.depth == max(len(way) for way in ways(root)) - 1
