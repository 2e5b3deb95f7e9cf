"""Regression at the command line: the same models and numbers as from Python."""

# ruff: noqa: F811  (fixtures come from the tests of the command line)

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from multiboost import MultiBoostRegressor, load_model

from .test_cli import bad, cli, digest, good  # noqa: F401

pytest.importorskip("pyarrow")


def houses(n=240, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.uniform(30, 200, n).round(1), "age": rng.integers(0, 80, n).astype(float)})
    frame["place"] = rng.choice(["town", "river", "wood"], n)
    frame["price"] = (3 * frame["size"] - frame["age"] + 40 * (frame["place"] == "river") + rng.normal(0, 9, n)).round(
        2
    )
    frame["rent"] = (0.1 * frame["price"] + rng.normal(0, 2, n)).round(3)
    frame["rooms"] = rng.poisson(frame["size"] / 40).astype(float)
    frame["w"] = rng.integers(1, 4, n).astype(float)
    return frame


ALL = houses()
TRAIN, TEST = ALL[:160].reset_index(drop=True), ALL[160:].reset_index(drop=True)
COLUMNS = ["size", "age", "place"]
OTHERS = "--ignore rent --ignore rooms --ignore w"
SEVERAL = "-t price -t rent --ignore rooms --ignore w"


@pytest.fixture
def files(tmp_path):
    TRAIN.to_csv(tmp_path / "train.csv", index=False)
    TEST.to_csv(tmp_path / "test.csv", index=False)
    return tmp_path


def fitted(target="price", weight=None, frame=TRAIN, **parameters):
    return MultiBoostRegressor(**parameters).fit(frame[COLUMNS], frame[target], weight)


def train(good, options):
    good(f"train train.csv --task regression -o m.mb -q {options}")
    return load_model("m.mb")


class TestTheSameModel:
    @pytest.mark.parametrize(
        ("options", "parameters"),
        [
            ("", {}),
            ("-n 20 --base tree:6 --learning-rate 0.2",
             {"n_estimators": 20, "base_learner": "tree:6", "learning_rate": 0.2}),
            ("-n 15 --loss absolute", {"n_estimators": 15, "loss": "absolute"}),
            ("-n 15 --loss huber --subsample 0.5 --seed 3",
             {"n_estimators": 15, "loss": "huber", "subsample": 0.5, "random_state": 3}),
            ("-n 15 --quantile 0.8", {"n_estimators": 15, "loss": "quantile", "quantile": 0.8}),
            (
                "-n 15 --loss quantile --quantile 0.9 --quantile 0.1",
                {"n_estimators": 15, "loss": "quantile", "quantile": [0.9, 0.1]},
            ),
        ],
    )  # fmt: skip
    def test_every_setting(self, options, parameters, files, good):
        model = train(good, f"-t price {OTHERS} {options}")
        expected = fitted(**parameters)
        assert model.ensemble_.digest() == expected.ensemble_.digest()
        np.testing.assert_array_equal(model.predict(TEST[COLUMNS]), expected.predict(TEST[COLUMNS]))
        parameters = dict(expected.get_params())
        assert {k: v for k, v in model.get_params().items() if k != "nominal_features"} == {
            k: v for k, v in parameters.items() if k != "nominal_features"
        }

    def test_counts(self, files, good):
        model = train(good, "-t rooms --loss poisson -n 10 --ignore price --ignore rent --ignore w")
        assert model.ensemble_.digest() == fitted("rooms", loss="poisson", n_estimators=10).ensemble_.digest()

    def test_weights(self, files, good):
        model = train(good, "-t price --weight w -n 10 --ignore rent --ignore rooms")
        assert model.ensemble_.digest() == fitted(weight=TRAIN["w"], n_estimators=10).ensemble_.digest()

    def test_several_targets_with_empty_cells(self, files, good):
        frame = TRAIN.copy()
        frame.loc[::3, "rent"] = np.nan
        frame.to_csv("train.csv", index=False)
        model = train(good, f"{SEVERAL} -n 10")
        expected = fitted(["price", "rent"], frame=frame, n_estimators=10)
        assert model.ensemble_.digest() == expected.ensemble_.digest()
        assert model.model_.kind.classes[0].tolist() == ["price", "rent"]

    def test_config_file_and_a_part_set_apart(self, files, good):
        (files / "run.toml").write_text(
            'task = "regression"\ntarget = "price"\nignore = ["rent", "rooms", "w"]\nquantile = [0.1, 0.9]\n'
            'rounds = 12\nvalid-fraction = 0.25\nout = "m.mb"\nquiet = true\n'
        )
        good("train train.csv --config run.toml")
        model = load_model("m.mb")
        assert model.quantile == [0.1, 0.9]
        assert model.loss_ == "quantile"
        assert model.data_["rows"] == 120
        assert model.history_["validation_error"].shape == (12,)

    def test_svmlight(self, files, good):
        with open("train.svm", "w") as file:
            for _, row in TRAIN.iterrows():
                file.write(f"{row['price']} 1:{row['size']} 2:{row['age']}\n")
        good("train train.svm --task regression -n 10 -o m.mb -q")
        X = TRAIN[["size", "age"]].to_numpy()
        expected = MultiBoostRegressor(n_estimators=10).fit(X, TRAIN["price"])
        assert digest("m.mb") == expected.ensemble_.digest()
        found = json.loads(good("evaluate m.mb train.svm --json").out)
        assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(TRAIN["price"], expected.predict(X)))


class TestEvaluate:
    def test_equals_scikit_learn(self, files, good):
        model = train(good, f"-t price {OTHERS} -n 20")
        found = json.loads(good("evaluate m.mb test.csv --json").out)
        predicted = model.predict(TEST[COLUMNS])
        assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(TEST["price"], predicted))
        assert found["mae"] == pytest.approx(metrics.mean_absolute_error(TEST["price"], predicted))
        assert found["r2"] == pytest.approx(metrics.r2_score(TEST["price"], predicted))
        assert found["targets"][0]["name"] == "price"
        text = good("evaluate m.mb test.csv").out
        assert f"{found['rmse']:.4f}" in text
        assert "relative error" in text

    def test_weights_of_the_training(self, files, good):
        model = train(good, "-t price --weight w -n 10 --ignore rent --ignore rooms")
        found = json.loads(good("evaluate m.mb test.csv --json").out)
        predicted = model.predict(TEST[COLUMNS])
        expected = metrics.mean_absolute_error(TEST["price"], predicted, sample_weight=TEST["w"])
        assert found["mae"] == pytest.approx(expected)

    def test_staged(self, files, good):
        model = train(good, f"-t price {OTHERS} -n 7")
        lines = good("evaluate m.mb test.csv --staged").out.splitlines()
        assert lines[0] == "round,rmse,mae,r2,relative_error"
        errors = [metrics.root_mean_squared_error(TEST["price"], p) for p in model.staged_predict(TEST[COLUMNS])]
        assert [float(line.split(",")[1]) for line in lines[1:]] == pytest.approx(errors, rel=1e-5)
        first = json.loads(good("evaluate m.mb test.csv --staged --json").out.splitlines()[0])
        assert first["rmse"] == pytest.approx(errors[0])

    def test_several_targets_and_quantiles(self, files, good):
        train(good, f"{SEVERAL} -n 10 --quantile 0.1 --quantile 0.9")
        frame = TEST[["rent", "place", "age", "price", "size"]]  # another order
        frame.to_csv("test.csv", index=False)
        found = json.loads(good("evaluate m.mb test.csv --json").out)
        assert [t["name"] for t in found["targets"]] == ["price", "rent"]
        assert [q["level"] for q in found["targets"][1]["quantiles"]] == [0.1, 0.9]
        text = good("evaluate m.mb test.csv").out
        assert "rent:0.9" in text
        assert "at or below" in text


class TestPredict:
    def test_one_target(self, files, good):
        model = train(good, f"-t price {OTHERS} -n 10")
        good("predict m.mb test.csv -o p.csv")
        found = pd.read_csv("p.csv")
        assert list(found) == ["price"]
        np.testing.assert_array_equal(found["price"], model.predict(TEST[COLUMNS]))

    def test_targets_and_quantiles(self, files, good):
        model = train(good, f"{SEVERAL} -n 10 --quantile 0.9 --quantile 0.1")
        good("predict m.mb test.csv -o p.csv")
        found = pd.read_csv("p.csv")
        assert list(found) == ["price:0.1", "price:0.9", "rent:0.1", "rent:0.9"]
        np.testing.assert_array_equal(found.to_numpy(), model.predict(TEST[COLUMNS]).reshape(len(TEST), -1))

    def test_no_probabilities(self, files, good, bad):
        train(good, f"-t price {OTHERS} -n 5")
        bad("predict m.mb test.csv --proba", "predicts numbers, which have no probabilities")


class TestOtherCommands:
    def test_summary_of_training(self, files, good):
        found = json.loads(
            good(f"train train.csv --task regression -t price {OTHERS} -n 10 --test test.csv --json").out
        )
        expected = fitted(n_estimators=10)
        assert found["digest"] == expected.ensemble_.digest()
        assert found["test"]["r2"] == pytest.approx(expected.score(TEST[COLUMNS], TEST["price"]))
        said = good(f"train train.csv --task regression -t price {OTHERS} -n 10 -o m.mb").err
        assert "training relative error" in said

    def test_inspect(self, files, good):
        train(good, f"{SEVERAL} -n 5")
        found = json.loads(good("inspect m.mb --json").out)
        assert found["target"] == "regression"
        assert found["targets"] == "price, rent"
        assert found["estimator"] == "MultiBoostRegressor"
        assert "votes" not in found
        assert "price:" in good("inspect m.mb --round 1").out

    def test_compare(self, files, good):
        rows = json.loads(
            good(f"compare train.csv --task regression -t price {OTHERS} -n 5 --folds 2 --base stump --json").out
        )
        assert rows[0]["name"] == "stump"
        assert 0 < rows[0]["error"] < 1
        text = good(f"compare train.csv --task regression -t price {OTHERS} -n 5 --folds 2").out
        assert "relative error in %" in text
        assert "trees of 24" in text

    def test_report(self, files, good):
        train(good, f"-t price {OTHERS} -n 5")
        good("report m.mb test.csv -o r.html")
        assert "RMSE" in (files / "r.html").read_text()


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (f"-t price {OTHERS}", "--task regression"),
            ("-t price -t rent --ignore rooms --ignore w", "--task regression"),
            (f"--task regression -t place --ignore price {OTHERS}", "the target 'place' holds '"),
            (
                f"--task regression -t price {OTHERS} --votes discrete",
                "--votes goes with --task classification or ranking",
            ),
            (f"-t place --ignore price {OTHERS} --quantile 0.5", "--quantile goes with --task regression"),
            (f"--task regression -t price {OTHERS} --quantile 1.5", "--quantile must be a number in (0, 1)"),
            (
                f"--task regression -t price {OTHERS} --loss huber --quantile 0.5",
                "--quantile goes with --loss quantile",
            ),
            (f"--task regression -t price {OTHERS} --loss logistic", "logistic"),
            (f"--task sorting -t price {OTHERS}", "--task 'sorting' is not one of ranking, classification, regression"),
            ("--task regression", "which column is the number to predict?"),
        ],
    )
    def test_options(self, options, says, files, bad):
        bad(f"train train.csv -o m.mb {options}", says)

    def test_an_empty_cell_of_a_single_target(self, files, bad):
        frame = TRAIN.copy()
        frame.loc[4, "price"] = np.nan
        frame.to_csv("train.csv", index=False)
        bad(f"train train.csv --task regression -o m.mb -t price {OTHERS}", "'price' is missing in row 5")

    def test_another_file_without_a_target(self, files, good, bad):
        train(good, f"{SEVERAL} -n 5")
        TEST.drop(columns="rent").to_csv("test.csv", index=False)
        bad("evaluate m.mb test.csv", "no column 'rent'")
        bad("evaluate m.mb train.csv -t price --ignore rent", "one target given, but the model has 2")
