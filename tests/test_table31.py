"""Table 3.1: what is chosen, collected and shown, beside the same computed from the estimator."""

import json

import numpy as np
import pytest
from benchmarks import table31
from benchmarks.data import Split, divide
from benchmarks.longrun import Busy, held

from multiboost import MultiBoostClassifier


@pytest.fixture
def small(monkeypatch):
    """Pendigits is a small generated table, with two sizes of trees and one setting of ours."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 9, (700, 5)).astype(float)
    y = ((X[:, 0] > 4) + 2 * (X[:, 1] * X[:, 2] + rng.normal(0, 3, 700) > 16)).astype(int)
    split = Split(X[:500], y[:500], X[500:], y[500:])
    monkeypatch.setattr(table31.data, "pendigits", lambda: split)
    monkeypatch.setattr(table31, "LEAVES", (3, 6))
    monkeypatch.setattr(table31, "BEST", {"trees": table31.BEST["logistic"]})
    table31.split_of.cache_clear()
    yield split
    table31.split_of.cache_clear()


def staged_errors(split, learner, rounds):
    model = MultiBoostClassifier(learner, rounds, votes="discrete", n_jobs=1).fit(split.X, split.y)
    return np.array([100 * np.mean(p != split.y_test) for p in model.staged_predict(split.X_test)])


def test_table(tmp_path, small):
    options = ["--work", str(tmp_path), "--threads", "1", "--rounds", "12", "--validation-rounds", "8"]
    table31.main(["pendigits/product", "--validate", *options])
    table31.main(["pendigits", *options])
    table31.main(["--collect", "--work", str(tmp_path), "--results", str(tmp_path / "results.json")])
    results = json.loads((tmp_path / "results.json").read_text())

    errors = {learner: staged_errors(small, learner, 12) for learner in ("stump", "product:2", "product:3")}
    for learner, each in errors.items():
        cell = results["cells"][f"pendigits/{learner}"]
        assert cell["rounds"] == 12
        assert (cell["mean"], cell["std"]) == (pytest.approx(each[6:].mean()), pytest.approx(each[6:].std()))
        assert cell["curve"] == [[t + 1, pytest.approx(error, abs=1e-4)] for t, error in enumerate(each)]

    fold = divide(small.X, small.y, 400)
    products = {m: staged_errors(fold, f"product:{m}", 8)[4:].mean() for m in (2, 3)}
    assert results["choices"]["pendigits/product"]["learner"] == f"product:{min(products, key=products.get)}"

    trees = {n: staged_errors(fold, f"tree:{n}", 8) for n in (3, 6)}
    leaves = min(trees, key=lambda n: trees[n].min())
    chosen = results["choices"]["pendigits/tree"]
    assert chosen["learner"] == f"tree:{leaves}"
    assert chosen["rounds"] == trees[leaves].argmin() + 1
    at_best = staged_errors(small, f"tree:{leaves}", 12)[chosen["rounds"] - 1]
    assert chosen["error"] == pytest.approx(at_best)

    text = table31.section(results)
    assert f"| pendigits | stump | 4.97 (0.00) | {errors['stump'][6:].mean():.2f} (" in text
    assert f"tree, {leaves} leaves, round {chosen['rounds']} | 2.14 (0.04) | {at_best:.2f} |" in text
    assert "12 so far" in text
    assert "pendigits, stump: +" in text
    assert "points; the run is not finished" in text
    assert "Validation runs had 8 rounds." in text


def test_a_remark_explains(monkeypatch):
    cell = {"rounds": 10, "wanted": 10, "stopped": "", "mean": 5.5, "std": 0.1, "seconds": 1.0}
    results = {"cells": {"pendigits/stump": {**cell, "parameters": {"max_bins": 256}}}, "choices": {}}
    assert "- pendigits, stump: +0.53 points; not explained yet" in table31.section(results)
    monkeypatch.setitem(table31.REMARKS, "pendigits/stump", "it rained")
    assert "- pendigits, stump: +0.53 points; it rained" in table31.section(results)


def test_a_choice_that_was_not_run():
    """It is said, as the table has no row of it."""
    tried = {"product:2": {"rounds": 50, "error": 4.5}, "product:3": {"rounds": 50, "error": 4.25}}
    results = {"cells": {}, "choices": {"letter/product": {"learner": "product:3", "tried": tried}}}
    said = "letter: product:3, not run yet, has the lowest validation error at 50 rounds, of "
    assert f"{said}product:2 4.50, product:3 4.25 %." in table31.section(results)


def test_names(capsys):
    assert table31.cells_of("usps/product") == ["usps/product:2", "usps/product:3", "usps/product:4"]
    assert table31.cells_of("usps/tree") == ["usps/tree"]
    for name, message in (("usbs", "no data set 'usbs'"), ("usps/product:9", "no cell 'usps/product:9'")):
        with pytest.raises(SystemExit):
            table31.main([name])
        assert message in capsys.readouterr().err


def test_one_process_at_a_cell(tmp_path, small, capsys):
    path = table31.Cell("pendigits", "stump").path(tmp_path)
    with held(path):
        with pytest.raises(Busy, match="another process"), held(path):
            pass
        table31.main(["pendigits/stump", "--work", str(tmp_path), "--rounds", "3"])
    assert "skipped pendigits/stump: another process" in capsys.readouterr().out
    assert not path.exists()


def test_results_outlive_their_state(tmp_path):
    """Cells whose state is gone stay in the results, and so do those with more rounds."""
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"cells": {"a": {"rounds": 9}, "b": {"rounds": 5}}, "choices": {"a": 1}}))
    found = {"machine": {}, "cells": {"b": {"rounds": 4}, "c": {"rounds": 1}}, "choices": {"b": 2}}
    merged = table31.merged(path, found)
    assert {name: cell["rounds"] for name, cell in merged["cells"].items()} == {"a": 9, "b": 5, "c": 1}
    assert merged["choices"] == {"a": 1, "b": 2}
    assert table31.merged(tmp_path / "none.json", found) == found
