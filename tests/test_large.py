"""Training sets in files: the same model as from memory, and clear words where the files do not allow it."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import multiboost.workspace  # noqa: E402
from multiboost import AdaBoostMHClassifier, MultiBoostClassifier, MultiBoostRegressor  # noqa: E402
from multiboost.boosting.callbacks import Callback, TimeLimit  # noqa: E402
from multiboost.data.binned import Binned  # noqa: E402
from multiboost.data.binner import bins_of_names, bins_of_sketch  # noqa: E402
from multiboost.data.categories import Factor  # noqa: E402
from multiboost.data.sketch import NameSketch, NumberSketch, turns  # noqa: E402
from multiboost.data.table import as_table  # noqa: E402
from multiboost.files.error import FileError  # noqa: E402
from multiboost.large.dataset import Dataset  # noqa: E402
from multiboost.workspace import Workspace  # noqa: E402

from .conftest import ROOT  # noqa: E402

N = 2400
QUICK = {"base_learner": "tree:5", "n_estimators": 4, "loss": "exponential", "learning_rate": 0.2, "subsample": 1.0}


@pytest.fixture(scope="module")
def table():
    """Numbers with missing values, few distinct ones, whole numbers, categories with rare ones; several targets."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(N, 3))
    x[rng.random(N) < 0.1, 1] = np.nan
    x[:, 2] = x[:, 2].round(1)
    name = np.array(["pear", "fig", None, "nut", "rare"], object)[rng.choice(5, N, p=[0.4, 0.3, 0.1, 0.199, 0.001])]
    latent = x[:, 0] + np.nan_to_num(x[:, 1]) + 1.5 * (name == "fig") + 0.3 * rng.normal(size=N)
    return pa.table(
        {
            "a": x[:, 0],
            "b": pa.array(x[:, 1], from_pandas=True),
            "c": x[:, 2].astype(np.float32),
            "whole": rng.integers(0, 1000, N),
            "name": pa.array(name.tolist()),
            "two": latent > 0,
            "three": np.array(["low", "middle", "top"])[np.digitize(latent, [-0.5, 1])],
            "number": latent,
            "label": pa.array((latent > 1).astype(float), mask=rng.random(N) < 0.1),
            "label2": (x[:, 0] > 0).astype(float),
            "w": rng.random(N) + 0.5,
        }
    )


TARGETS = ["two", "three", "number", "label", "label2", "w"]


def written(table, folder, n_files=3, **options):
    """The table as Parquet files of several row groups."""
    folder.mkdir(exist_ok=True)
    size = -(-table.num_rows // n_files)
    for k in range(n_files):
        pq.write_table(table.slice(k * size, size), folder / f"part-{k}.parquet", row_group_size=300, **options)
    return folder


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    return written(table, tmp_path_factory.mktemp("large") / "parts")


@pytest.fixture(params=["in memory", "on disk"])
def room(request, tmp_path, monkeypatch):
    """Arguments of fit: arrays in memory, or all of them on the disk."""
    if request.param == "in memory":
        yield {}
        return
    monkeypatch.setattr(multiboost.workspace, "_SMALL", 1)
    yield {"workspace": tmp_path}
    assert list(tmp_path.iterdir()) == []


def features(table):
    return table.drop(TARGETS)


def of_files(estimator, folder, target, **arguments):
    targets = [target] if isinstance(target, str) else target
    ignore = [name for name in TARGETS if name not in [*targets, arguments.get("sample_weight")]]
    return estimator.fit(str(folder), target=target, ignore=ignore, **arguments)


def column(table, name):
    return table.column(name).to_numpy()


class TestTheSameModel:
    """Bit for bit as from memory."""

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_classes(self, table, folder, room, n_jobs):
        make = lambda jobs: MultiBoostClassifier(**QUICK, min_category_rows=5, max_bins=64, n_jobs=jobs)  # noqa: E731
        here = make(1).fit(features(table), column(table, "three"))
        there = of_files(make(n_jobs), folder, "three", **room)
        assert there.ensemble_.digest() == here.ensemble_.digest()
        assert there.classes_.tolist() == here.classes_.tolist() == ["low", "middle", "top"]
        assert there.feature_names_in_.tolist() == here.feature_names_in_.tolist()
        np.testing.assert_array_equal(there.categories_[4], here.categories_[4])
        np.testing.assert_array_equal(there.history_["risk"], here.history_["risk"])
        np.testing.assert_array_equal(there.predict_proba(features(table)), here.predict_proba(features(table)))

    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    @pytest.mark.parametrize("samplers", [{}, {"row_sampler": "mvs:0.5", "label_sampler": "heaviest:2"}])
    @pytest.mark.parametrize("learner", ["tree:5", "product:2"])
    def test_room_that_is_asked_for(self, folder, tmp_path, monkeypatch, loss, samplers, learner):
        """What is said beforehand is enough for all arrays that are there at any time, but for a few pages each."""
        monkeypatch.setattr(multiboost.workspace, "_SMALL", 1)
        most, asked = [0], [0.0]
        make, check = Workspace.zeros, Workspace.check_room

        def zeros(self, shape, dtype):
            found = make(self, shape, dtype)
            most[0] = max(most[0], sum(len(mapped) for mapped in list(self._maps)))
            return found

        def check_room(self, n_bytes):
            asked[0] = max(asked[0], n_bytes)
            check(self, n_bytes)

        monkeypatch.setattr(Workspace, "zeros", zeros)
        monkeypatch.setattr(Workspace, "check_room", check_room)
        given = {**QUICK, "loss": loss, "base_learner": learner, "subsample": None, **samplers}
        of_files(MultiBoostClassifier(**given, calibration=None), folder, "three", workspace=tmp_path)
        assert 0 < most[0] <= asked[0] + 100_000

    def test_bytes_of_a_round(self, table, folder, tmp_path, monkeypatch):
        """Of a stump: a histogram of all rows, two leaves, and the update."""
        monkeypatch.setattr(multiboost.workspace, "_SMALL", 1)
        clf = MultiBoostClassifier(**{**QUICK, "base_learner": "stump"}, n_jobs=1)
        of_files(clf, folder, "two", workspace=tmp_path)
        n_columns, n_blocks = 5, 2  # numbers and names
        payload = 2 * 4  # weights of one label, negative and positive
        search = 2 * n_columns + n_blocks * (payload + 4) + 20 + 8 + 8
        update = 8 * (2 + 2 + 2 + 2) + 4 + payload
        np.testing.assert_array_equal(clf.history_["bytes_touched"], N * (search + update))

    def test_all_that_is_chosen(self, table, folder, room):
        """The comparison of settings and the calibration see the same rows."""
        here = MultiBoostClassifier(n_estimators=3).fit(features(table), column(table, "two"))
        there = of_files(MultiBoostClassifier(n_estimators=3), folder, "two", **room)
        assert there.plan_ == here.plan_
        np.testing.assert_array_equal(there.predict_proba(features(table)), here.predict_proba(features(table)))

    @pytest.mark.parametrize("loss", ["squared", "absolute"])
    def test_numbers(self, table, folder, room, loss):
        make = lambda: MultiBoostRegressor("tree:5", 4, loss=loss, learning_rate=0.3, subsample=1.0)  # noqa: E731
        here = make().fit(features(table), column(table, "number"))
        there = of_files(make(), folder, "number", **room)
        np.testing.assert_array_equal(there.predict(features(table)), here.predict(features(table)))

    def test_unknown_labels(self, table, folder, room):
        here = MultiBoostClassifier("tree:5", 4, learning_rate=0.1).fit(
            features(table), table.select(["label", "label2"])
        )
        there = of_files(MultiBoostClassifier("tree:5", 4, learning_rate=0.1), folder, ["label", "label2"], **room)
        assert there.model_.kind.name == "multilabel"
        assert there.ensemble_.digest() == here.ensemble_.digest()

    def test_weights(self, table, folder, room):
        make = lambda: MultiBoostClassifier(**QUICK, class_weight="balanced", max_bins=16)  # noqa: E731
        here = make().fit(features(table), column(table, "three"), column(table, "w"))
        there = of_files(make(), folder, "three", sample_weight="w", **room)
        assert there.ensemble_.digest() == here.ensemble_.digest()

    @pytest.mark.parametrize("loss", ["exponential", "logistic"])
    @pytest.mark.parametrize("rows", ["mvs:0.5", "trimming:0.8", "share:0.5"])
    def test_samplers(self, table, folder, room, rows, loss):
        """Of rows, columns and labels."""
        given = {**QUICK, "loss": loss, "subsample": None, "row_sampler": rows}
        given |= {"column_sampler": "ucb:2", "label_sampler": "heaviest:2"}
        here = MultiBoostClassifier(**given).fit(features(table), column(table, "three"))
        there = of_files(MultiBoostClassifier(**given), folder, "three", **room)
        assert there.ensemble_.digest() == here.ensemble_.digest()

    @pytest.mark.parametrize("learner", ["stump", "product:2"])
    def test_discrete_votes(self, table, folder, room, learner):
        make = lambda: AdaBoostMHClassifier(learner, 4, votes="discrete", max_bins=300)  # noqa: E731
        here = make().fit(features(table), column(table, "three"))
        there = of_files(make(), folder, "three", **room)
        assert there.ensemble_.digest() == here.ensemble_.digest()

    def test_samples_of_rows(self, table, folder, room):
        here = MultiBoostClassifier(**{**QUICK, "subsample": 0.5}).fit(features(table), column(table, "two"))
        there = of_files(MultiBoostClassifier(**{**QUICK, "subsample": 0.5}), folder, "two", **room)
        assert there.ensemble_.digest() == here.ensemble_.digest()

    def test_the_bins_are_those_of_memory(self, table, folder, tmp_path, monkeypatch):
        """A run on files may go on from a checkpoint of one in memory: the fingerprints are the same."""
        path = tmp_path / "run.mb"
        MultiBoostClassifier(**QUICK).fit(features(table), column(table, "two"), checkpoint=path)
        monkeypatch.setattr(multiboost.workspace, "_SMALL", 1)
        more = MultiBoostClassifier(**{**QUICK, "n_estimators": 6})
        of_files(more, folder, "two", resume=path, workspace=tmp_path)
        whole = MultiBoostClassifier(**{**QUICK, "n_estimators": 6}).fit(features(table), column(table, "two"))
        assert more.ensemble_.digest() == whole.ensemble_.digest()

    def test_of_a_csv_a_pattern_and_a_pyarrow_dataset(self, table, folder, tmp_path):
        from pyarrow import csv, dataset

        csv.write_csv(table, tmp_path / "all.csv")
        here = MultiBoostClassifier(**QUICK).fit(features(table), column(table, "three")).ensemble_.digest()
        assert here == of_files(MultiBoostClassifier(**QUICK), folder / "*.parquet", "three").ensemble_.digest()
        ignore = [name for name in TARGETS if name != "three"]
        for source in (dataset.dataset(folder), sorted(folder.glob("*.parquet"))):
            found = MultiBoostClassifier(**QUICK).fit(source, target="three", ignore=ignore)
            assert found.ensemble_.digest() == here
        # Numbers of single precision become other ones in text.
        ignore.append("c")
        here = MultiBoostClassifier(**QUICK).fit(features(table).drop("c"), column(table, "three"))
        found = MultiBoostClassifier(**QUICK).fit(tmp_path / "all.csv", target="three", ignore=ignore)
        assert found.ensemble_.digest() == here.ensemble_.digest()

    def test_with_validation_and_early_stopping(self, table, folder, room):
        """Scores of the rounds that are kept come from another pass over the files."""
        from multiboost import EarlyStopping

        validation = features(table)[:300], column(table, "two")[:300][::-1]
        arguments = {"validation": validation}
        quick = {**QUICK, "n_estimators": 8}
        here = MultiBoostClassifier(**quick).fit(
            features(table), column(table, "two"), callbacks=[EarlyStopping(3)], **arguments
        )
        there = of_files(
            MultiBoostClassifier(**quick), folder, "two", callbacks=[EarlyStopping(3)], **arguments, **room
        )
        assert here.n_iter_ < 8
        assert there.n_iter_ == here.n_iter_
        assert there.slope_ == here.slope_


class TestSketch:
    """What one pass remembers of a column."""

    def test_quantiles_have_the_error_that_is_stated(self):
        rng = np.random.default_rng(0)
        values = np.concatenate([rng.normal(size=30_000), rng.exponential(size=30_000).round(2)])
        rng.shuffle(values)
        size = 4000
        sketch = NumberSketch(256, size)
        rows = np.arange(values.size)
        for first in range(0, values.size, 7000):
            part = slice(first, first + 7000)
            sketch.add(values[part], rows[part], turns(rows[part]))
        sample, _ = sketch.sample()
        assert sample.size == size
        levels = np.linspace(0.001, 0.999, 999)
        rank = np.searchsorted(np.sort(values), np.quantile(sample, levels), side="right") / values.size
        bound = np.sqrt(np.log(2 / 1e-6) / (2 * size))  # Dvoretzky, Kiefer and Wolfowitz
        atoms = np.unique(values, return_counts=True)[1].max() / values.size
        assert np.abs(rank - levels).max() < bound + atoms

    def test_the_order_of_merging_leaves_no_trace(self):
        rng = np.random.default_rng(1)
        values, weight = rng.normal(size=5000), rng.random(5000)
        values[rng.random(5000) < 0.05] = np.nan
        rows = np.arange(5000)

        def merged(parts, order):
            sketches = []
            for part in parts:
                sketches.append(NumberSketch(16, 500))
                sketches[-1].add(values[part], rows[part], turns(rows[part]), weight[part])
            first, *others = [sketches[k] for k in order]
            for other in others:
                first.merge(other)
            return first

        halves = np.array_split(rows, 7)
        found = [
            merged(halves, range(7)), merged(halves, [3, 0, 6, 5, 1, 2, 4]), merged([rows], [0]),
            merged(np.array_split(rows[::-1], 3), [2, 0, 1]),
        ]  # fmt: skip
        for sketch in found[1:]:
            for one, other in zip(sketch.sample(), found[0].sample(), strict=True):
                np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(bins_of_sketch(sketch).cuts, bins_of_sketch(found[0]).cuts)

    def test_turns_are_all_different_and_look_random(self):
        found = turns(np.arange(100_000))
        assert np.unique(found).size == found.size
        share = np.histogram(found.astype(np.float64) / 2.0**64, 10, (0, 1))[0] / found.size
        assert np.abs(share - 0.1).max() < 0.004

    def test_few_values_are_exact_at_any_length(self):
        values = np.random.default_rng(2).integers(0, 50, 3000) / 4
        rows = np.arange(3000)
        sketch = NumberSketch(50, 100)
        for part in np.array_split(rows, 5):
            sketch.add(values[part], rows[part], turns(rows[part]))
        bins = bins_of_sketch(sketch)
        np.testing.assert_array_equal(bins.lowest, np.unique(values))

    def test_a_long_column_has_the_bins_of_memory(self, monkeypatch):
        """Beyond the size of a sample, too, with missing values and weights."""
        rng = np.random.default_rng(3)
        values, weight = rng.normal(size=3000), rng.random(3000)
        values[rng.random(3000) < 0.2] = np.nan
        monkeypatch.setattr("multiboost.data.binner.SAMPLE", 700)
        for mass in (None, weight):
            binned = Binned.of(as_table(values[:, None]), 32, weight=mass)
            sketch, rows = NumberSketch(32, 700), np.arange(3000)
            for part in np.array_split(rows, 4):
                sketch.add(values[part], rows[part], turns(rows[part]), None if mass is None else mass[part])
            np.testing.assert_array_equal(bins_of_sketch(sketch).cuts, binned.binner.columns[0].cuts)

    def test_names(self):
        names = ["x", "y", "z"]
        number = np.array([1, 1, -1, 0, 2, 1, 0, 0])
        parts = [NameSketch(), NameSketch()]
        parts[0].add(Factor(number[:4], names), 0)
        parts[1].add(Factor(2 - number[4:], names[::-1]), 4)
        parts[1].merge(parts[0])
        sketch = parts[1]
        assert sketch.categories().names == ["y", "x", "z"]
        assert sketch.counts().tolist() == [3, 3, 1]
        bins = bins_of_names(sketch, 2)
        assert bins.category.tolist() == [0, 1]
        assert bins.missing


def damaged(path, share=0.4):
    """Bytes of a page are turned over."""
    data = bytearray(path.read_bytes())
    at = int(share * len(data))
    data[at : at + 200] = bytes(b ^ 0xFF for b in data[at : at + 200])
    path.write_bytes(data)


def rewritten(path, change):
    """The same file with another table."""
    pq.write_table(change(pq.read_table(path)), path)


class BetweenPasses(Callback):
    """Does something to the files when the second pass begins."""

    def __init__(self, change):
        self.change = change

    def notice(self, text):
        if text.startswith("pass 1") and "rows in" in text:
            self.change()


class TestBadFolders:
    """Errors name the file, and nothing is left behind."""

    @pytest.fixture
    def mine(self, table, tmp_path):
        return written(table.slice(0, 600).select(["a", "c", "name", "two"]), tmp_path / "mine")

    def fails(self, folder, match, tmp_path, kind=FileError, **arguments):
        estimator = MultiBoostClassifier(**QUICK)
        before = sorted(path.name for path in tmp_path.iterdir())
        with pytest.raises(kind, match=match):
            estimator.fit(folder, target="two", workspace=tmp_path, **arguments)
        assert not hasattr(estimator, "model_")
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    def test_a_column_more(self, mine, table, tmp_path):
        pq.write_table(table.slice(0, 9).select(["a", "b", "c", "name", "two"]), mine / "part-1.parquet")
        self.fails(mine, "part-1.parquet: it has the column 'b', which .*part-0.parquet has not", tmp_path)

    def test_a_column_less(self, mine, table, tmp_path):
        pq.write_table(table.slice(0, 9).select(["a", "name", "two"]), mine / "part-2.parquet")
        self.fails(mine, "part-2.parquet: it has no column 'c'", tmp_path)

    def test_other_types(self, mine, tmp_path):
        other = pa.table({"a": ["x"], "c": [1.0], "name": ["fig"], "two": [True]})
        pq.write_table(other, mine / "part-2.parquet")
        self.fails(mine, "part-2.parquet: column 'a' holds text, and numbers in .*part-0", tmp_path)

    @pytest.mark.parametrize("share", [0.1, 0.4, 0.6])
    def test_a_corrupt_page(self, table, tmp_path, share):
        """Pages have checksums if they are asked for; else damage may go unseen where it happens to be numbers."""
        mine = written(
            table.slice(0, 600).select(["a", "c", "name", "two"]), tmp_path / "mine", write_page_checksum=True
        )
        damaged(mine / "part-1.parquet", share)
        self.fails(mine, "part-1.parquet: this is not a whole Parquet file", tmp_path)

    def test_a_file_that_was_cut_short(self, mine, tmp_path):
        path = mine / "part-1.parquet"
        path.write_bytes(path.read_bytes()[:-100])
        self.fails(mine, "part-1.parquet: this is not a whole Parquet file", tmp_path)

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (lambda f: (f / "part-1.parquet").unlink(), "part-1.parquet: the file is gone"),
            (lambda f: os.utime(f / "part-2.parquet", (1, 1)), "part-2.parquet: it has changed since the first pass"),
            (lambda f: damaged(f / "part-0.parquet"), "part-0.parquet: it has changed since the first pass"),
            (
                lambda f: (f / "part-7.parquet").write_bytes((f / "part-0.parquet").read_bytes()),
                "part-7.parquet: the file is new",
            ),
            (
                lambda f: rewritten(f / "part-1.parquet", lambda t: t.append_column("more", t["c"])),
                "part-1.parquet: it has changed since the first pass",
            ),
            (
                lambda f: rewritten(f / "part-1.parquet", lambda t: t.set_column(0, "a", t["name"])),
                "part-1.parquet: it has changed since the first pass",
            ),
        ],
    )
    def test_a_folder_that_changes_between_the_passes(self, mine, tmp_path, change, match):
        checkpoint = tmp_path / "run.mb"
        MultiBoostClassifier(**QUICK).fit(mine, target="two", checkpoint=checkpoint)
        whole = checkpoint.read_bytes()
        watching = [BetweenPasses(lambda: change(mine))]
        self.fails(mine, match, tmp_path, callbacks=watching, checkpoint=checkpoint)
        assert checkpoint.read_bytes() == whole

    def test_infinity(self, mine, tmp_path):
        pq.write_table(
            pa.table({"a": [np.inf], "c": pa.array([1.0], pa.float32()), "name": ["fig"], "two": [True]}),
            mine / "part-1.parquet",
        )
        self.fails(mine, "part-1.parquet: Input X contains infinity in column 'a'", tmp_path)

    def test_a_row_without_its_class(self, mine, tmp_path):
        other = pa.table(
            {"a": [1.0], "c": pa.array([1.0], pa.float32()), "name": ["fig"], "two": pa.array([None], pa.bool_())}
        )
        pq.write_table(other, mine / "part-1.parquet")
        self.fails(mine, "part-1.parquet: the target 'two' is missing in row 201", tmp_path)

    def test_columns_in_the_names_of_folders(self, mine, tmp_path):
        from pyarrow import dataset

        (mine / "year=2000").mkdir()
        (mine / "part-0.parquet").rename(mine / "year=2000" / "part-0.parquet")
        source = dataset.dataset([str(mine / "year=2000" / "part-0.parquet")], partitioning="hive")
        self.fails(source, r"columns that are in the names of folders cannot be read: \['year'\]", tmp_path)

    def test_two_formats(self, mine, tmp_path):
        (mine / "more.csv").write_text("a,c,name,two\n1,2,fig,1\n")
        self.fails(mine, "part-0.parquet: this is parquet, and .*more.csv is csv", tmp_path)

    def test_no_files(self, tmp_path):
        (tmp_path / "empty").mkdir()
        self.fails(tmp_path / "empty", "empty: there is no file with data", tmp_path)
        with pytest.raises(FileNotFoundError, match=r"No such file or folder: .*partz"):
            MultiBoostClassifier("stump", 2).fit(str(tmp_path / "partz"), target="y")

    def test_no_room_on_the_disk(self, mine, tmp_path, monkeypatch):
        passed = []
        monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
        watch = [BetweenPasses(lambda: passed.append(1))]
        self.fails(
            mine, "are needed there for the time of the fit, and 1 kB are free", tmp_path, OSError, callbacks=watch
        )
        assert passed == []  # said before the long pass

    def test_no_permission(self, mine, tmp_path, monkeypatch):
        """As it is said to whoever is not root."""

        def forbidden(*_, **__):
            raise PermissionError(errno.EACCES, "Permission denied")

        passed = []
        monkeypatch.setattr("tempfile.TemporaryFile", forbidden)
        watch = [BetweenPasses(lambda: passed.append(1))]
        said = "Permission denied: no file can be written there; name another folder"
        self.fails(mine, said, tmp_path, PermissionError, callbacks=watch)
        assert passed == []

    def test_no_such_workspace(self, mine, tmp_path):
        with pytest.raises(OSError, match=r"no file can be written there; name another folder.*absent"):
            MultiBoostClassifier(**QUICK).fit(mine, target="two", workspace=tmp_path / "absent")

    def test_the_time_limit_ends_a_pass(self, mine, tmp_path):
        limit = TimeLimit(1e-6)
        self.fails(mine, "time limit was reached in pass 1 of 2", tmp_path, TimeoutError, callbacks=[limit])

    @pytest.mark.parametrize(
        ("parameters", "match"),
        [
            ({"base_learner": "column"}, "base_learner 'column' looks at the values of all rows"),
            ({"base_learner": "bins:8"}, "base_learner 'bins' looks at the values of all rows"),
            ({"weighting": "balanced"}, "weighting='balanced' weighs all pairs in memory"),
            ({"calibration_cv": 3}, "calibration_cv=3 makes runs on copies of the table"),
        ],
    )
    def test_what_cannot_be_done_out_of_core(self, mine, parameters, match):
        with pytest.raises(ValueError, match=match):
            MultiBoostClassifier(**{**QUICK, **parameters}).fit(mine, target="two")

    @pytest.mark.parametrize(
        ("arguments", "match"),
        [
            ({}, "the target of files is a column of them"),
            ({"target": "tow"}, r"has no column 'tow' \(target\); it has 'a', 'c', 'name', 'two'"),
            ({"target": "two", "ignore": ["a", "c", "name"]}, "no column left to learn from"),
            ({"target": "two", "memory": "much"}, "memory must be a size such as '2GB'"),
            ({"target": "two", "memory": "1MB"}, "memory=1 MB is too little"),
            ({"target": "two", "sample_weight": np.ones(600)}, "the weights of files are a column of them"),
            ({"target": "two", "label_weight": np.ones((600, 1))}, "weights of pairs and init_scores are arrays"),
        ],
    )
    def test_arguments(self, mine, arguments, match):
        with pytest.raises(ValueError, match=match):
            MultiBoostClassifier(**QUICK).fit(mine, **arguments)

    def test_arguments_of_files_without_files(self):
        with pytest.raises(TypeError, match="memory= goes with X as the path of a file or folder; got ndarray"):
            MultiBoostClassifier(**QUICK).fit(np.zeros((9, 1)), np.arange(9) % 2, memory="1GB")


class TestWorkspace:
    """Arrays on the disk."""

    @pytest.mark.parametrize("first_of_all", [True, False])
    def test_pages_are_let_go(self, tmp_path, monkeypatch, first_of_all):
        """Far less is resident than was written, and nothing is lost; also where the keeper must wait for its turn."""
        from multiboost.memory import resident
        from multiboost.workspace import _Keeper

        if not _Keeper.can_work:
            pytest.skip("the system has no way to let go of pages")

        def refuse(*arguments):
            raise PermissionError(1, "Operation not permitted")

        if not first_of_all:
            monkeypatch.setattr("os.sched_setscheduler", refuse)
        before = resident()
        workspace = Workspace(tmp_path, (before + 60e6) / 0.9)
        array = workspace.zeros(25_000_000, np.float64)
        most = 0.0
        for first in range(0, array.size, 500_000):
            array[first : first + 500_000] = np.arange(first, first + 500_000)
            time.sleep(0.01)  # the keeper looks
            most = max(most, resident())
        assert most - before < 130e6  # of 200 MB
        assert float(array[::1000].sum()) == float(np.arange(0, 25_000_000, 1000).sum())
        workspace.close()

    def test_a_disk_without_room(self, tmp_path):
        workspace = Workspace(tmp_path)
        with pytest.raises(OSError, match="does not fit there; name another folder"):
            workspace.zeros(1 << 50, np.float64)


def test_a_dataset_counts_its_rows(folder):
    dataset = Dataset(folder)
    assert dataset.n_rows == N
    batches = list(dataset.batches())
    assert [batch.first for batch in batches] == [0, N // 3, 2 * N // 3]


KILLED = """
import sys, time
import multiboost.workspace
multiboost.workspace._SMALL = 1
from multiboost import MultiBoostClassifier
from multiboost.boosting.callbacks import Callback
class Slow(Callback):
    def after_round(self, run):
        print(run.n_rounds, flush=True)
        time.sleep(0.05)
        return False
MultiBoostClassifier("tree:5", 200, loss="exponential", learning_rate=0.2, subsample=1.0, calibration=None).fit(
    sys.argv[1], target="two", ignore=["three", "number", "label", "label2", "w"], workspace=sys.argv[2],
    checkpoint=sys.argv[3], checkpoint_every=0.0, callbacks=[Slow()])
"""


def test_a_killed_run_goes_on(table, folder, tmp_path, monkeypatch):
    """After SIGKILL nothing is left in the workspace, and the run that goes on has the bits of one in memory."""
    workspace, checkpoint = tmp_path / "arrays", tmp_path / "run.mb"
    workspace.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder), str(workspace), str(checkpoint)], stdout=subprocess.PIPE, text=True,
        env=environment,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        for line in run.stdout:
            if int(line) >= 5:
                break
        run.send_signal(signal.SIGKILL)
    assert list(workspace.iterdir()) == []
    monkeypatch.setattr(multiboost.workspace, "_SMALL", 1)
    make = lambda: MultiBoostClassifier(  # noqa: E731
        "tree:5", 12, loss="exponential", learning_rate=0.2, subsample=1.0, calibration=None
    )
    there = of_files(make(), folder, "two", workspace=workspace, resume=checkpoint)
    here = make().fit(features(table), column(table, "two"))
    assert there.ensemble_.digest() == here.ensemble_.digest()


QUICKLY = "--base tree:5 --rounds 4 --loss exponential --learning-rate 0.2 --subsample 1 --jobs 1 --json"


class TestCommandLine:
    """``multiboost train`` of a folder."""

    @pytest.fixture
    def train(self, capsys, monkeypatch):
        """Runs the command; its exit code, what it prints, and its errors."""
        pytest.importorskip("typer")
        from multiboost.cli.app import main

        def run(*words):
            monkeypatch.setattr(sys, "argv", ["multiboost", "train", *map(str, words), *QUICKLY.split()])
            try:
                main()
            except SystemExit as stop:
                return stop.code or 0, *capsys.readouterr()
            return 0, *capsys.readouterr()

        return run

    def test_it_trains_the_same_model(self, table, folder, train, tmp_path):
        pq.write_table(table.slice(0, 400), tmp_path / "test.parquet")
        ignore = [word for name in TARGETS if name != "three" for word in ("--ignore", name)]
        code, out, err = train(
            folder, "--target", "three", *ignore, "--memory", "4GB", "--test", tmp_path / "test.parquet", "--valid",
            tmp_path / "test.parquet", "--out", tmp_path / "model.mb",
        )  # fmt: skip
        assert code == 0, err
        here = MultiBoostClassifier(**QUICK).fit(features(table), column(table, "three"))
        found = json.loads(out)
        assert found["digest"] == here.ensemble_.digest()
        error = np.mean(here.predict(features(table.slice(0, 400))) != column(table, "three")[:400])
        assert found["test"]["error"] == pytest.approx(error)
        assert found["validation"]["error"] == pytest.approx(error)

    @pytest.mark.parametrize(
        ("words", "match"),
        [
            (["--valid-fraction", "0.2"], "--valid-fraction does not go with data in files of any size"),
            (["--report", "r.html"], "--report is about rows in memory"),
            (["--class-weight", "a=2"], "there is --class-weight balanced only"),
            (["--nominal", "nmae"], "did you mean 'name'"),
            (["--memory", "lots"], "memory must be a size such as '2GB'"),
        ],
    )
    def test_it_says_what_cannot_be(self, folder, train, tmp_path, monkeypatch, words, match):
        monkeypatch.chdir(tmp_path)
        code, _, err = train(folder, "--target", "two", *words)
        assert code == 2
        assert match in err

    def test_the_target_is_named(self, folder, train):
        code, _, err = train(folder)
        assert code == 2
        assert "Name it with --target" in err
