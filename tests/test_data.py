"""Tables, bins, targets and initial weights."""

import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numba import njit

from multiboost import MultiBoostClassifier, Tree
from multiboost.boosting.auto import Wishes, plan_of
from multiboost.boosting.run import Run
from multiboost.data.binned import Binned, BinnedColumn
from multiboost.data.binner import ColumnBins, bin_column, midpoint
from multiboost.data.categories import Categories
from multiboost.data.kinds import as_labels, recognise
from multiboost.data.layout import Layout
from multiboost.data.table import Column, DenseTable, EncodedTable, Frame, SparseTable, as_table
from multiboost.data.target import Target
from multiboost.estimators.validation import learn_table
from multiboost.kernels.blocks import bin_of
from multiboost.kernels.team import Team
from multiboost.losses import LOSSES
from multiboost.samplers import AllRows

from .conftest import make_classes, signs_of

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def bins_of(values, max_bins=256, weight=None):
    x = np.asarray(values, dtype=np.float64)
    return bin_column(Column(x), len(x), max_bins, weight, "0")


class TestBinner:
    def test_exact_where_values_are_few(self):
        """One bin per value, cuts half-way between neighbours."""
        x = np.array([5.0, 1.0, 2.0, 5.0, 1.0, 10.0])
        bins = bins_of(x)
        np.testing.assert_array_equal(bins.lowest, [1, 2, 5, 10])
        np.testing.assert_array_equal(bins.highest, [1, 2, 5, 10])
        np.testing.assert_array_equal(bins.cuts, [1.5, 3.5, 7.5])
        np.testing.assert_array_equal(bins.digitise(x), [2, 0, 1, 2, 0, 3])
        assert not bins.missing

    @pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256, 257])
    def test_exact_up_to_max_bins(self, max_bins):
        """max_bins values are exact, one more is not."""
        x = np.random.default_rng(0).permutation(max_bins).astype(float)
        assert bins_of(x, max_bins).n_bins == max_bins
        y = np.append(x, max_bins + 0.5)
        assert bins_of(y, max_bins).n_bins <= max_bins
        np.testing.assert_array_equal(bins_of(x, max_bins).digitise(x), x.astype(int))

    def test_quantiles_where_values_are_many(self):
        """Bins of about the same number of rows."""
        x = np.random.default_rng(0).normal(size=10000)
        bins = bins_of(x, 50)
        count = np.bincount(bins.digitise(x))
        assert bins.n_bins == 50
        assert np.abs(count - 200).max() <= 2
        for b in range(50):
            inside = x[bins.digitise(x) == b]
            assert bins.lowest[b] == inside.min()
            assert bins.highest[b] == inside.max()

    def test_quantiles_are_weighted(self):
        """Bins of about the same weight, not of the same number of rows."""
        x = np.random.default_rng(0).permutation(4000).astype(float)
        weight = np.where(x < 1000, 7.0, 1.0)
        bins = bins_of(x, 20, weight)
        share = np.bincount(bins.digitise(x), weights=weight)
        assert np.abs(share - weight.sum() / 20).max() <= 7
        assert (bins.highest < 1000).sum() in (13, 14)

    def test_weight_is_multiplicity(self):
        """Quantiles of weighted rows are those of repeated rows."""
        rng = np.random.default_rng(1)
        x, count = rng.normal(size=600), rng.integers(1, 5, 600)
        a = bins_of(x, 12, count.astype(float))
        b = bins_of(np.repeat(x, count), 12)
        np.testing.assert_array_equal(a.cuts, b.cuts)

    def test_most_bins(self):
        """65535 bins, and the bin of missing values behind them."""
        x = np.append(np.random.default_rng(0).permutation(65535).astype(float), np.nan)
        bins = bins_of(x, 65535)
        assert bins.n_bins == 65535
        code = bins.digitise(x)
        assert code.dtype == np.uint16
        np.testing.assert_array_equal(code[:-1], x[:-1].astype(int))
        assert code[-1] == 65535

    def test_missing_values(self):
        bins = bins_of([np.nan, 1.0, 2.0, np.nan])
        assert bins.missing
        assert bins.n_bins == 2
        np.testing.assert_array_equal(bins.digitise(np.array([np.nan, 1.0, 2.0])), [2, 0, 1])

    def test_constant_and_all_missing(self):
        assert bins_of([4.0] * 5).n_bins == 1
        bins = bins_of([np.nan] * 5)
        assert bins.n_bins == 0
        assert bins.missing
        np.testing.assert_array_equal(bins.digitise(np.array([np.nan, 3.0])), [0, 0])

    def test_negative_zero_is_zero(self):
        x = np.array([-0.0, 1.0, 0.0, 1.0, -0.0])
        assert bins_of(x).n_bins == 2

    def test_infinity_names_the_column(self):
        with pytest.raises(ValueError, match="infinity in column 'height'"):
            bin_column(Column(np.array([1.0, np.inf])), 2, 10, None, "'height'")

    def test_sparse_column_equals_dense(self):
        """Zeros that are not stored are values like others, exact and in quantiles, weighted or not."""
        rng = np.random.default_rng(0)
        for size, max_bins in ((3000, 16), (200, 256)):
            dense = np.where(rng.random(size) < 0.7, 0.0, rng.normal(size=size))
            where = np.flatnonzero(dense)
            weight = rng.uniform(0.5, 2, size)
            for w in (None, weight):
                a = bin_column(Column(dense), size, max_bins, w, "0")
                b = bin_column(Column(dense[where], where), size, max_bins, w, "0")
                np.testing.assert_array_equal(a.lowest, b.lowest)
                np.testing.assert_array_equal(a.highest, b.highest)

    def test_long_sparse_column_keeps_the_share_of_zeros(self):
        """Beyond 200000 values quantiles come from a sample: zeros count as much as in the column, weighted or not."""
        n = 500_000
        rng = np.random.default_rng(0)
        values = rng.uniform(1, 2, 400_000)
        where = np.arange(100_000, n)
        for weight in (None, np.ones(n)):
            bins = bin_column(Column(values, where), n, 10, weight, "0")
            inside = np.bincount(bins.digitise(values), minlength=bins.n_bins)
            assert bins.lowest[0] == 0.0
            assert bins.n_bins == 10
            assert inside[1:].max() < 1.2 * inside[1:].min()

    def test_midpoint_is_below_the_upper_value(self):
        """Half-way, and never the upper value, even of neighbouring floats."""
        a = np.array([1.0, 1.0, -5.0, 1e308])
        b = np.array([2.0, np.nextafter(1.0, 2), -4.0, 1.5e308])
        m = midpoint(a, b)
        assert np.all((m >= a) & (m < b))
        assert m[0] == 1.5
        bins = ColumnBins(np.array([1.0, np.nextafter(1.0, 2)]), np.array([1.0, np.nextafter(1.0, 2)]), False)
        np.testing.assert_array_equal(bins.digitise(bins.lowest), [0, 1])

    def test_midpoint_of_huge_values(self):
        """The difference of two huge values overflows, their midpoint does not."""
        x = np.array([-1.7e308, 1.7e308])
        bins = bins_of(x)
        assert np.isfinite(bins.cuts).all()
        np.testing.assert_array_equal(bins.digitise(x), [0, 1])


NOMINAL = 4


def limits_of(dtype):
    """The smallest whole number of a type, and one above the largest that float64 knows exactly."""
    return max(np.iinfo(dtype).min, -(2**53)), min(np.iinfo(dtype).max + 1, 2**53)


def many_kinds(n, seed=0):
    """An array, and a table of it: numbers few and many, frequent ones, missing ones, a nominal column."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)),
            np.where(rng.random(n) < 0.7, np.nan, rng.normal(size=n)),
            np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 9, n)),
            np.where(rng.random(n) < 0.5, 3, rng.integers(0, 12, n)),
            np.full(n, 2.0),
            np.arange(n) == n // 2,
        ]
    )
    names = Categories([f"c{k}" for k in range(12)])
    return X, EncodedTable(X, [names if j == NOMINAL else None for j in range(X.shape[1])])


def bin_numbers(binned):
    """The bin of every row and column, -1 in constant columns."""
    full = [np.full(binned.n_rows, -1) if c is None else c.full(binned.n_rows) for c in binned.columns]
    return np.stack(full, axis=1).astype(float)


class TestBinned:
    @pytest.mark.parametrize("n_threads", [1, 3])
    def test_bins_are_those_of_the_binner(self, n_threads):
        X, table = many_kinds(9000)
        binned = Binned.of(table, 40, n_threads=n_threads)
        assert {c.rows is None for c in binned.columns if c is not None} == {True, False}
        for j, of in enumerate(binned.binner.columns):
            if j == 5:
                assert binned.columns[j] is None
                continue
            np.testing.assert_array_equal(bin_numbers(binned)[:, j], of.digitise(X[:, j]))
            count = np.bincount(of.digitise(X[:, j]), minlength=of.n_bins + of.missing)
            np.testing.assert_array_equal(binned.columns[j].count(9000), count)

    @pytest.mark.parametrize("max_bins", [256, 16, 2])
    @pytest.mark.parametrize(
        "dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32"]
    )
    def test_whole_numbers(self, dtype, max_bins):
        """Every type and form has the bins of float64; a bin for each value where these are few."""
        rng = np.random.default_rng(0)
        low, high = (0, 2) if dtype == "bool" else (-3e38, 3e38) if dtype == "float32" else limits_of(dtype)
        X = np.column_stack(
            [
                rng.integers(max(low, -100), min(high, 120), 3000),
                rng.integers(max(low, -4), min(high, 6), 3000),
                rng.choice([low, high // 2, high - 1], 3000),
                np.where(rng.random(3000) < 0.8, 0, rng.integers(0, min(high, 1000), 3000)),
                np.ones(3000),
                np.arange(3000) % min(high, 2000),
            ]
        ).astype(dtype)
        weight = rng.uniform(1, 9, 3000)
        frame = pd.DataFrame(X, columns=[*"abcdef"])
        wider = np.zeros((6000, 12), dtype)
        wider[::2, ::2] = X
        forms = [
            X, np.asfortranarray(X), wider[::2, ::2], X.byteswap().view(X.dtype.newbyteorder()), frame,
            pl.from_pandas(frame), pa.Table.from_pandas(frame),
        ]  # fmt: skip
        for w in (None, weight):
            expected = Binned.of(as_table(X.astype(np.float64)), max_bins, weight=w)
            for form in forms:
                assert Binned.of(as_table(form), max_bins, weight=w).digest() == expected.digest()
            for j, (column, of) in enumerate(zip(expected.columns, expected.binner.columns, strict=True)):
                value, number = np.unique(X[:, j].astype(np.float64), return_inverse=True)
                if value.size <= max_bins:
                    np.testing.assert_array_equal(of.lowest, value)
                    np.testing.assert_array_equal(of.highest, value)
                assert (column is None) == (value.size == 1)
                if column is not None:
                    bin_of = np.searchsorted(of.highest, value)
                    np.testing.assert_array_equal(column.full(3000), bin_of[number])

    def test_take(self):
        """Some rows in any order: NumPy's indexing, of the bins and of the table."""
        X, table = many_kinds(500)
        rng = np.random.default_rng(1)
        binned = Binned.of(table, 40)
        whole = bin_numbers(binned)
        for rows in (
            rng.permutation(500)[:90],
            rng.permutation(500),
            np.arange(500),
            np.array([250]),
            np.array([], int),
        ):
            part = binned.take(rows)
            assert (part.n_rows, part.n_columns) == (rows.size, 7)
            assert part.binner is binned.binner
            np.testing.assert_array_equal(bin_numbers(part), whole[rows])
            np.testing.assert_array_equal(part.table.rows(0, rows.size), X[rows])
            again = rng.permutation(rows.size)[: rows.size // 2]
            np.testing.assert_array_equal(bin_numbers(part.take(again)), whole[rows[again]])
            np.testing.assert_array_equal(part.take(again).table.rows(0, again.size), X[rows[again]])
            assert part.take(again).digest() == binned.take(rows[again]).digest()
        np.testing.assert_array_equal(bin_numbers(binned), whole)

    def test_digest_is_of_the_data(self):
        """Whatever the threads, the form of the table or how often it is asked."""
        X, table = many_kinds(9000)
        digest = Binned.of(table, 40).digest()
        assert len(digest) == 32
        assert Binned.of(table, 40, n_threads=3).digest() == digest
        assert Binned.of(table, 40).take(np.arange(9000)).digest() == digest
        numbers = np.where(np.random.default_rng(0).random(X.shape) < 0.2, 0.0, X)
        same = {
            Binned.of(as_table(form), 40).digest()
            for form in (numbers, np.asfortranarray(numbers), sp.csr_matrix(numbers), sp.csc_array(numbers),
                         pd.DataFrame(numbers), pl.DataFrame(numbers, [*"abcdefg"]))
        }  # fmt: skip
        assert len(same) == 1

    def test_digest_tells_data_apart(self):
        """Other scales, orders of rows, bins, names of categories and missing values; one value is enough."""
        X, table = many_kinds(500)
        names = table.categories
        other_names = [None if c is None else Categories(["new", *c.names[1:]]) for c in names]
        scaled = X * np.where(np.arange(7) == NOMINAL, 1, 1000)
        one_missing, one_other, moved = X.copy(), X.copy(), X.copy()
        one_missing[17, 0] = np.nan
        one_other[250, 6] = 0.0
        moved[:, 1] = np.where(X[:, 1] == X[:, 1].max(), 100.0, X[:, 1])  # the same ranks
        tables = [
            table, EncodedTable(scaled, names), EncodedTable(X[::-1], names), EncodedTable(X, other_names),
            EncodedTable(one_missing, names), EncodedTable(one_other, names), EncodedTable(moved, names),
            EncodedTable(X[:, [1, 0, 2, 3, 4, 5, 6]], names), EncodedTable(X[:499], names), DenseTable(X),
        ]  # fmt: skip
        digests = [Binned.of(one, 40).digest() for one in tables]
        digests += [Binned.of(table, 41).digest(), Binned.of(table, 40, 30).digest()]
        digests += [Binned.of(table, 40, weight=np.linspace(1, 9, 500)).digest()]
        assert len(set(digests)) == len(digests)

    @pytest.mark.parametrize("n", [1, 3, 10, 1000, 7003])
    @pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
    def test_frequent_bins_are_left_out(self, dtype, n):
        """From a share of 0.3, the first one of the most frequent; also where some rows deceive, and at half."""
        rng = np.random.default_rng(0)
        of = ColumnBins(np.arange(5.0), np.arange(5.0), False)
        for share in (0, 0.25, 0.299, 0.3, 0.301, 0.49, 0.5, 0.51, 0.7, 1):
            some = np.where(np.arange(n) < round(share * n), 3, rng.integers(0, 5, n))
            for numbers in (some, rng.permutation(some), np.where(np.arange(n) % 2, 1, 2), np.arange(n) % 5 // 2 * 2,
                            np.where(np.arange(n) % max(1, n // 500) == 0, 1, some)):  # fmt: skip
                column = BinnedColumn(of, numbers.astype(dtype)).stored(n)
                count = np.bincount(numbers, minlength=5)
                most = count.argmax()
                np.testing.assert_array_equal(column.full(n), numbers)
                if count[most] < 0.3 * n:
                    assert column.rows is None
                else:
                    assert column.frequent == most
                    np.testing.assert_array_equal(column.rows, np.flatnonzero(numbers != most))
                    np.testing.assert_array_equal(column.bins, numbers[numbers != most])

    def test_storage_is_that_of_the_numbers(self):
        """A sparse matrix whose zeros are few, or not the most frequent value, is stored as an array would be."""
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.normal(size=300), rng.random(300) < 0.8, rng.random(300) < 0.1]).astype(float)
        for dense, sparse in zip(
            Binned.of(as_table(X)).columns, Binned.of(as_table(sp.csr_array(X))).columns, strict=True
        ):
            assert dense.frequent == sparse.frequent
            np.testing.assert_array_equal(dense.bins, sparse.bins)
            assert (dense.rows is None) == (sparse.rows is None)
            if dense.rows is not None:
                np.testing.assert_array_equal(dense.rows, sparse.rows)


class TestLayout:
    def codes(self, layout, X):
        """The bin of every sample and column, read back from the blocks."""
        found = np.full(X.shape, -1)
        for slot, column in enumerate(layout.blocks.column):
            for i in range(len(X)):
                found[i, column["feature"]] = read_bin(layout.blocks, slot, i)
        return found

    @pytest.mark.parametrize("coarse", [False, True])
    @pytest.mark.parametrize("zeros", [0.0, 0.8])
    def test_blocks_hold_the_bins(self, zeros, coarse):
        """What is packed can be read back, dense and sparse, missing values included."""
        rng = np.random.default_rng(0)
        X = np.concatenate([rng.normal(size=(150, 8)), rng.integers(0, 4, (150, 7))], axis=1)
        X[rng.random(X.shape) < zeros] = 0.0
        X[rng.random(X.shape) < 0.05] = np.nan
        X[:, 3] = 7.0
        layout = Layout(Binned.of(DenseTable(X), 40), 64, n_threads=2, coarse=coarse)
        found = self.codes(layout, X)
        for j in range(X.shape[1]):
            bins = layout.binner.columns[j]
            if j == 3:
                assert np.all(found[:, j] == -1)
                continue
            missing = np.isnan(X[:, j])
            np.testing.assert_array_equal(found[~missing, j], np.searchsorted(bins.cuts, X[~missing, j], side="left"))
            assert np.all(found[missing, j] >= bins.n_bins)

    def test_sparse_blocks_are_smaller(self):
        rng = np.random.default_rng(0)
        X = np.where(rng.random((500, 20)) < 0.9, 0.0, rng.normal(size=(500, 20)))
        layout = Layout(Binned.of(DenseTable(X), 256), 64)
        assert layout.row_codes == pytest.approx((X != 0).sum() / 500)
        assert np.all(layout.blocks.block["stride"] == 0)

    @pytest.mark.parametrize("votes", ["discrete", "real"])
    def test_mostly_missing_values(self, votes):
        """Columns of many bins, grouped or coarse, whose most frequent bin is that of missing values."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3000, 30))
        X[rng.random(X.shape) < 0.55] = np.nan
        y = np.where(rng.random(3000) < 0.05, X[:, 0] > 0, np.isnan(X[:, 0])).astype(int)
        binned = Binned.of(DenseTable(X), 1001)
        assert binned.columns[0].frequent == binned.binner.columns[0].n_bins
        clf = MultiBoostClassifier("stump", 1, votes=votes, loss="exponential", max_bins=1001).fit(X, y)
        assert clf.score(X, y) == np.mean(np.isnan(X[:, 0]) == y)

    def test_layout_does_not_change_the_bins(self):
        """Unless it is the last: then they are given away, and only what was asked before is known."""
        X = np.random.default_rng(0).normal(size=(400, 3))
        binned = Binned.of(DenseTable(X), 300)
        before = [column.bins.copy() for column in binned.columns]
        first, second = Layout(binned, 64), Layout(binned, 64, n_threads=2, coarse=True)
        assert first.grouped
        assert second.blocks.block.size == 2
        for column, bins in zip(binned.columns, before, strict=True):
            np.testing.assert_array_equal(column.bins, bins)
        digest = binned.digest()
        last = Layout(binned, 64, last=True)
        for a, b in zip(first.blocks, last.blocks, strict=True):
            np.testing.assert_array_equal(a, b)
        assert last.binned.digest() == digest
        with pytest.raises(RuntimeError, match="given away to a layout"):
            binned.take(np.arange(3))

    @pytest.mark.parametrize("votes", ["discrete", "real"])
    def test_taken_rows_give_the_model_of_these_bins(self, votes):
        """However they are stored; and, where every cut is searched, the model of bin numbers as values."""
        X, table = many_kinds(700)
        rows = np.random.default_rng(1).permutation(700)[:300]
        whole = Binned.of(table, 40)
        part, bins = whole.take(rows), bin_numbers(whole)[rows]
        columns = [
            None if c is None else BinnedColumn(c.of, bins[:, j].astype(c.bins.dtype))
            for j, c in enumerate(whole.columns)
        ]
        sources = [part, Binned(part.table, whole.binner, columns)]
        if votes == "discrete":
            values = np.where(np.isnan(X[rows]), np.nan, bins)
            values[:, NOMINAL] = X[rows, NOMINAL]
            sources.append(Binned.of(EncodedTable(values, table.categories), 40))
        y = (X[rows, 0] + np.nan_to_num(X[rows, 2]) > 0).astype(int) + (X[rows, NOMINAL] == 3)
        target = Target(recognise(y), y)
        runs = []
        with Team(2) as team:
            for binned in sources:
                wishes = Wishes(Tree(5), votes, LOSSES.get("exponential")(), rows=AllRows())
                runs.append(Run(plan_of(wishes, target), binned, target, team))
                runs[-1].run(10)
        for run in runs[1:]:
            np.testing.assert_array_equal(run.scores, runs[0].scores)
        assert runs[1].ensemble().digest() == runs[0].ensemble().digest()

    @pytest.mark.parametrize("kind", ["discrete", "real"])
    def test_column_of_most_bins_with_missing_values(self, kind):
        """65535 values and missing ones, which no code may confuse."""
        x = np.random.default_rng(0).permutation(65535).astype(float)
        X = np.append(x, np.full(10_000, np.nan))[:, None]
        y = np.append(x > 30_000, np.zeros(10_000)).astype(int)
        clf = MultiBoostClassifier("tree:4", 3, votes=kind, loss="exponential", max_bins=65535).fit(X, y)
        assert np.mean(clf.predict(X) == y) > 0.9999


@njit
def read_bin(blocks, slot, i):
    return bin_of(blocks, slot, i)


class TestTable:
    X = np.array([[1.0, 0.0, np.nan], [0.0, 2.5, 3.0], [4.0, 0.0, 0.0]])

    def check(self, table, names=None):
        assert (table.n_rows, table.n_columns) == (3, 3)
        assert table.names == names
        np.testing.assert_array_equal(table.rows(0, 3), self.X)
        np.testing.assert_array_equal(table.rows(1, 2), self.X[1:2])
        for j, column in enumerate(table.columns(0, 3)):
            full = column.values
            if column.where is not None:
                full = np.zeros(3)
                full[column.where] = column.values
            assert full.dtype == np.float64
            np.testing.assert_array_equal(full, self.X[:, j])

    def test_array(self):
        for X in (self.X, np.asfortranarray(self.X), self.X.astype(np.float32), self.X[::1]):
            table = as_table(X)
            assert isinstance(table, DenseTable)
            self.check(table)
        assert as_table(table) is table

    def test_long_array(self):
        """Rows become columns piece by piece; an array of columns is not copied."""
        X = np.random.default_rng(0).normal(size=(5000, 7))
        for form in (X, np.asfortranarray(X), X.astype(np.float32), X.astype(">f8"), np.repeat(X, 2, axis=1)[:, ::2],
                     X[:1024], X[:1025], X[:0]):  # fmt: skip
            for table in (DenseTable(form), EncodedTable(form, None)):
                for first, last in ((0, 7), (2, 5), (6, 7), (3, 3)):
                    found = table.columns(first, last)
                    assert len(found) == last - first
                    for j, column in enumerate(found, first):
                        assert column.values.dtype == np.float64
                        assert column.values.flags.c_contiguous
                        np.testing.assert_array_equal(column.values, form[:, j].astype(np.float64))
        columns = np.asfortranarray(X)
        assert all(np.shares_memory(column.values, columns) for column in DenseTable(columns).columns(0, 7))

    @pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.csr_array])
    def test_sparse(self, form):
        table = as_table(form(self.X))
        assert isinstance(table, SparseTable)
        self.check(table)

    @pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
    def test_frame(self, library):
        data = {name: self.X[:, j] for j, name in enumerate("abc")}
        frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](data)
        table = as_table(frame)
        assert isinstance(table, Frame)
        self.check(table, ["a", "b", "c"])

    @pytest.mark.parametrize("library", ["pandas", "pandas objects", "polars", "pyarrow"])
    def test_missing_values_of_frames(self, library):
        """NA of nullable columns of numbers and booleans, None and null are NaN."""
        numbers, flags = [1, None, 3], [True, None, False]
        if library == "pandas":
            frame = pd.DataFrame({"n": pd.array(numbers, dtype="Int64"), "f": pd.array(flags, dtype="boolean")})
        elif library == "pandas objects":
            frame = pd.DataFrame({"n": pd.Series(numbers, dtype=object), "f": pd.Series(flags, dtype=object)})
        elif library == "polars":
            frame = pl.DataFrame({"n": numbers, "f": flags})
        else:
            frame = pa.table({"n": numbers, "f": flags})
        rows = as_table(frame).rows(0, 3)
        np.testing.assert_array_equal(rows, [[1, 1], [np.nan, np.nan], [3, 0]])

    @pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
    def test_all_columns_at_once_are_the_columns_one_by_one(self, library):
        """Numbers of any type, missing or not: rows and columns say the same, whichever way they are made."""
        data = {
            "a": np.array([1, 2, 250], np.uint8),
            "b": np.array([-1, 2**53 - 1, 3]),
            "c": np.array([0.1, 2, 3], np.float32),
            "d": np.array([0.1, np.nan, 3.0]),
        }
        make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
        whole = {"n": pd.array([1, None, 3], dtype="Int64") if library == "pandas" else [1, None, 3]}
        for columns in (data, {"d": data["d"]}, {"a": data["a"]}, {**data, **whole}, whole):
            table = as_table(make(columns))
            one_by_one = np.stack([c.values for c in table.columns(0, table.n_columns)], axis=1)
            rows = table.rows(0, 3)
            np.testing.assert_array_equal(rows, one_by_one)
            assert rows.flags.c_contiguous
            assert rows.flags.writeable
            np.testing.assert_array_equal(table.take(np.array([2, 0])).rows(0, 2), one_by_one[[2, 0]])

    @pytest.mark.parametrize("wide", ["int64", "uint64", "float64"])
    def test_arrow_tables_lose_nothing(self, wide):
        """Extreme numbers beside every other type, with nulls and in several pieces, are what NumPy makes of them."""

        def extremes(dtype):
            if np.dtype(dtype).kind == "f":
                return np.array([1.5, -2.0, 0.1, 60000.0], dtype)
            return np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 7, 1], dtype)

        hole, first = np.array([False, False, True, False]), extremes(wide)
        for other in ("int8", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"):
            second = extremes(other)
            wanted = np.stack([np.where(hole, np.nan, first.astype(float)), second.astype(float)], axis=1)
            one = pa.table({"a": pa.array(first, mask=hole), "b": pa.array(second)})
            for table in (one, pa.concat_tables([one[:1], one[1:]])):
                np.testing.assert_array_equal(as_table(table).rows(0, 4), wanted)
                columns = as_table(table).columns(0, 2)
                np.testing.assert_array_equal(np.stack([c.values for c in columns], axis=1), wanted)

    @pytest.mark.parametrize("library", FRAMES)
    def test_wide_frames_take_no_square(self, library):
        """Eight times the columns take at most twenty times as long, where a square would be 64 times."""

        def seconds(n_columns):
            frame = FRAMES[library]({f"c{j}": np.arange(3.0) for j in range(n_columns)})
            begin = time.process_time()
            clf = MultiBoostClassifier()
            table, _ = learn_table(clf, frame)
            table.columns(0, n_columns)
            table.rows(0, 3)
            learn_table(clf, frame, nominal_features=[f"c{j}" for j in range(0, n_columns, 2)])
            return time.process_time() - begin

        seconds(10)
        assert seconds(4000) < 20 * seconds(500) + 0.3

    @pytest.mark.parametrize("library", FRAMES)
    def test_predictions_ask_for_some_columns_of_wide_frames(self, library):
        """The scores of an array, whose rows are read whole; in columns that nobody asks for anything may stand."""
        rng = np.random.default_rng(0)
        columns = {f"c{j}": rng.normal(size=80) for j in range(700)}
        y = (columns["c3"] > 0).astype(int) + (columns["c650"] > 0.3)
        columns["c3"][rng.random(80) < 0.1] = np.nan
        clf = MultiBoostClassifier("tree:4", 3, loss="exponential").fit(FRAMES[library](columns), y)
        asked = set(clf.ensemble_.feature.tolist())
        assert 1 < len(asked) < 30
        X = np.stack(list(columns.values()), axis=1)
        scores = MultiBoostClassifier("tree:4", 3, loss="exponential").fit(X, y).decision_function(X)
        np.testing.assert_array_equal(clf.decision_function(FRAMES[library](columns)), scores)
        np.testing.assert_array_equal(list(clf.staged_decision_function(FRAMES[library](columns)))[-1], scores)
        strange = {name: values if int(name[1:]) in asked else ["text"] * 80 for name, values in columns.items()}
        np.testing.assert_array_equal(clf.decision_function(FRAMES[library](strange)), scores)
        with pytest.raises(ValueError, match=r"infinity in column 'c650'"):
            clf.predict(FRAMES[library]({**columns, "c650": np.full(80, np.inf)}))

    @pytest.mark.parametrize("library", FRAMES)
    def test_some_columns_of_wide_frames_are_nominal(self, library):
        rng = np.random.default_rng(0)
        columns = {f"c{j}": rng.normal(size=80) for j in range(600)} | {"kind": rng.choice(["a", "b", "c"], 80)}
        y = columns["kind"] == "b"
        clf = MultiBoostClassifier("stump", 2, loss="exponential").fit(FRAMES[library](columns), y)
        assert 600 in clf.ensemble_.feature
        np.testing.assert_array_equal(clf.predict(FRAMES[library](columns)), y)
        few = {name: values for name, values in columns.items() if name == "kind" or int(name[1:]) < 300}
        narrow = MultiBoostClassifier("stump", 2, loss="exponential").fit(FRAMES[library](few), y)
        np.testing.assert_array_equal(narrow.predict(FRAMES[library](few)), y)

    @pytest.mark.slow  # 20 000 columns
    def test_wide_frames_take_little_more_than_arrays(self):
        """A fit takes at most three times as long; to predict, beside three times as long what the names take."""
        X = np.random.default_rng(0).normal(size=(100, 20_000))
        y, names = np.arange(100) % 2, [f"c{j}" for j in range(20_000)]

        def least(what, repeats):
            found = []
            for _ in range(repeats):
                begin = time.process_time()
                what()
                found.append(time.process_time() - begin)
            return min(found)

        def seconds(table):
            clf = MultiBoostClassifier("stump", 3, loss="exponential", learning_rate=0.3, subsample=1.0, n_jobs=1)
            return least(lambda: clf.fit(table, y), 3), least(lambda: clf.predict(table), 9)

        fit, predict = seconds(X)
        for make in FRAMES.values():
            frame = make(dict(zip(names, X.T, strict=True)))
            listed = least(lambda: set(frame.schema.names if isinstance(frame, pa.Table) else frame.columns), 9)
            found = seconds(frame)
            assert found[0] < 3 * fit
            assert found[1] < 3 * predict + 4 * listed

    @pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float32, bool])
    def test_dtypes_of_columns(self, dtype):
        x = np.array([0, 1, 1, 0], dtype=dtype)
        for table in (as_table(x[:, None]), as_table(pd.DataFrame({"x": x})), as_table(pl.DataFrame({"x": x}))):
            np.testing.assert_array_equal(table.columns(0, 1)[0].values, [0.0, 1.0, 1.0, 0.0])

    @pytest.mark.parametrize(
        "column", [["a", "b", "c"], pd.Categorical(["u", "v", "u"]), pd.date_range("2020-01-01", periods=3)], ids=str
    )
    def test_what_is_no_number(self, column):
        with pytest.raises(ValueError, match=r"column 'colour'.*numbers"):
            as_table(pd.DataFrame({"size": [1, 2, 3], "colour": column})).columns(0, 2)


class TestTargetKind:
    def test_binary_text(self):
        kind = recognise(np.array(["spam", "ham", "spam"]))
        assert kind.name == "binary"
        assert kind.n_labels == 1
        np.testing.assert_array_equal(kind.classes[0], ["ham", "spam"])
        np.testing.assert_array_equal(kind.signs(kind.encode(["spam", "ham", "spam"])), [[1], [-1], [1]])

    def test_multiclass(self):
        kind = recognise(np.array([7, 3, 5, 3]))
        assert kind.name == "multiclass"
        np.testing.assert_array_equal(kind.classes[0], [3, 5, 7])
        np.testing.assert_array_equal(kind.signs(kind.encode([7, 3, 5])), [[-1, -1, 1], [1, -1, -1], [-1, 1, -1]])
        np.testing.assert_array_equal(kind.answer(np.array([[0.0, 1.0, 2.0], [3.0, 1.0, 2.0]])), [7, 3])
        with pytest.raises(ValueError, match=r"4.*not seen in fit"):
            kind.encode([4])

    @pytest.mark.parametrize(
        "y",
        [
            np.array([[1, 0, np.nan], [0, np.nan, 1]]),
            np.array([[1, 0, None], [0, None, 1]], object),
            np.array([[1, 0, pd.NA], [0, pd.NA, 1]], object),
            pd.DataFrame(
                {"a": [1, 0], "b": pd.array([0, None], dtype="Int64"), "c": pd.array([None, 1], dtype="Int64")}
            ),
            pl.DataFrame({"a": [1, 0], "b": [0, None], "c": [None, 1]}),
            pa.table({"a": [1, 0], "b": [0, None], "c": [None, 1]}),
        ],
        ids=["NaN", "None", "NA", "pandas", "polars", "pyarrow"],
    )
    def test_multilabel_with_unknown_labels(self, y):
        labels = as_labels(y)
        kind = recognise(labels)
        assert kind.name == "multilabel"
        assert kind.n_labels == 3
        np.testing.assert_array_equal(kind.signs(kind.encode(labels)), [[1, -1, 0], [-1, 0, 1]])

    def test_multilabel_of_booleans_and_sparse(self):
        y = np.array([[True, False], [False, False], [True, True]])
        for form in (y, y.astype(float), sp.csr_array(y.astype(int))):
            labels = as_labels(form)
            kind = recognise(labels)
            assert kind.name == "multilabel"
            np.testing.assert_array_equal(kind.signs(kind.encode(labels)), [[1, -1], [-1, -1], [1, 1]])

    def test_multitask(self):
        y = np.array([[0, 2], [1, 3], [2, 2]])
        kind = recognise(y)
        assert kind.name == "multitask"
        assert kind.tasks == [slice(0, 3), slice(3, 5)]
        np.testing.assert_array_equal(
            kind.signs(kind.encode(y)), [[1, -1, -1, 1, -1], [-1, 1, -1, -1, 1], [-1, -1, 1, 1, -1]]
        )
        assert kind.label_names() == ["0:0", "0:1", "0:2", "1:2", "1:3"]

    def test_multitask_mixed_and_missing(self):
        """Text and numbers side by side, some unknown: zeros in the task's labels."""
        y = np.array([["red", 5], ["blue", None], [None, 6], ["red", 6]], object)
        kind = recognise(y)
        assert kind.name == "multitask"
        np.testing.assert_array_equal(kind.classes[0], ["blue", "red"])
        np.testing.assert_array_equal(kind.classes[1], [5, 6])
        np.testing.assert_array_equal(kind.encode(y), [[1, 0], [0, -1], [-1, 1], [1, 1]])
        np.testing.assert_array_equal(
            kind.signs(kind.encode(y)), [[-1, 1, 1, -1], [1, -1, 0, 0], [0, 0, -1, 1], [-1, 1, -1, 1]]
        )
        assert kind.answer(np.array([[0.0, 1.0, 1.0, 0.0]])).tolist() == [["red", 5]]

    def test_multitask_of_a_frame_with_missing_values(self):
        y = pd.DataFrame({"a": ["u", "v", None, "u"], "b": pd.array([1, 2, 3, None], dtype="Int64")})
        labels = as_labels(y)
        kind = recognise(labels)
        assert kind.name == "multitask"
        np.testing.assert_array_equal(kind.encode(labels), [[0, 0], [1, 1], [-1, 2], [0, -1]])

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (np.array([0.5, 1.5, 2.5]), "Unknown label type: continuous"),
            (np.array([1, 1, 1]), "only one class"),
            (np.array([["a", 1], [2, 1], ["a", 3]], object), "column 0 of y mixes classes"),
            (np.array([[0.5, 1], [2, 1]]), "Unknown label type: continuous. Column 0"),
            (np.array([[2, 1], [2, 0]]), "column 0 of y has fewer than two classes"),
        ],
    )
    def test_what_is_no_target(self, y, message):
        with pytest.raises(ValueError, match=message):
            recognise(y)


class TestInitialWeights:
    def signed(self, y, **arguments):
        y = np.asarray(y)
        return Target(recognise(y), y, **arguments).signed

    def test_half(self):
        """(3.12): 1/2n on the positive label, 1/(2n(K-1)) on each of the others."""
        y = np.array([0, 1, 2, 3, 1, 0])
        right = np.where(y[:, None] == np.arange(4), 1 / 12, -1 / 36)
        np.testing.assert_allclose(self.signed(y), right, rtol=1e-14)
        np.testing.assert_allclose(self.signed(y, weighting="half"), right, rtol=1e-14)

    def test_uniform(self):
        """(3.11): 1/(nK) on every pair."""
        y = np.array([0, 1, 2, 1])
        np.testing.assert_allclose(self.signed(y, weighting="uniform"), signs_of(y, 3) / 12, rtol=1e-14)
        Y = np.array([[0, 1], [1, 1], [0, 0]])
        np.testing.assert_allclose(self.signed(Y), (2 * Y - 1) / 6, rtol=1e-14)

    def test_half_of_labels(self):
        """Several positive labels share a half; where there are only negative ones they share all."""
        Y = np.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0]])
        right = np.array([[1 / 4, 1 / 4, -1 / 6, -1 / 6, -1 / 6], [-0.2] * 5]) / 2
        np.testing.assert_allclose(self.signed(Y, weighting="half"), right, rtol=1e-14)

    @pytest.mark.parametrize("n_classes", [2, 4])
    def test_balanced(self, n_classes):
        """Every label has the weight 1/2K on its positive and on its negative samples."""
        y = np.array([0, 0, 0, 1, 1, 0, 1, 0] if n_classes == 2 else [0, 0, 0, 1, 2, 3, 3, 0])
        signed = self.signed(y, weighting="balanced")
        n_labels = signed.shape[1]
        np.testing.assert_allclose(np.maximum(signed, 0).sum(0), 0.5 / n_labels, rtol=1e-14)
        np.testing.assert_allclose(np.minimum(signed, 0).sum(0), -0.5 / n_labels, rtol=1e-14)
        for k in range(n_labels):
            assert len(np.unique(signed[signed[:, k] > 0, k].round(14))) == 1

    def test_given(self):
        y = np.array([0, 1, 2])
        cost = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 0]])
        right = cost * signs_of(y, 3) / cost.sum()
        np.testing.assert_allclose(self.signed(y, weighting="given", label_weight=cost), right, rtol=1e-14)
        with pytest.raises(ValueError, match="pass label_weight"):
            self.signed(y, weighting="given")

    def test_sample_and_label_weight(self):
        """Both multiply the scheme's weights; the total is one."""
        y = np.array([0, 1, 2, 1])
        rng = np.random.default_rng(0)
        sample, label = rng.random(4), rng.random((4, 3))
        right = np.where(y[:, None] == np.arange(3), 0.5, -0.25) * sample[:, None] * label
        right /= np.abs(right).sum()
        np.testing.assert_allclose(self.signed(y, sample_weight=sample, label_weight=label), right, rtol=1e-13)

    def test_unknown_labels_weigh_nothing(self):
        Y = np.array([[1, np.nan, 0], [0, 1, np.nan]])
        np.testing.assert_allclose(self.signed(Y), np.array([[1, 0, -1], [-1, 1, 0]]) / 4, rtol=1e-14)

    def test_tasks_weigh_the_same(self):
        y = np.array([[0, 5], [1, 6], [2, 5]])
        signed = np.abs(self.signed(y))
        assert signed[:, :3].sum() == pytest.approx(0.5)
        assert signed[:, 3:].sum() == pytest.approx(0.5)

    def test_label_weight_of_two_classes(self):
        """One column or two, which are added up."""
        y = np.array([0, 1, 1])
        w = np.array([[1.0, 2], [3, 4], [5, 0]])
        one = self.signed(y, label_weight=w.sum(1, keepdims=True))
        np.testing.assert_allclose(self.signed(y, label_weight=w), one, rtol=1e-14)
        np.testing.assert_allclose(one[:, 0], np.array([-3, 7, 5]) / 15, rtol=1e-14)

    @pytest.mark.parametrize(
        ("label_weight", "message"),
        [
            (np.ones((3, 2)), "must have shape"),
            (np.ones((2, 3)), "must have shape"),
            (np.full((3, 3), -1.0), "negative"),
            (np.full((3, 3), np.nan), "NaN or infinity"),
            (np.zeros((3, 3)), "all weights are zero"),
        ],
    )
    def test_bad_label_weight(self, label_weight, message):
        with pytest.raises(ValueError, match=message):
            self.signed(np.array([0, 1, 2]), label_weight=label_weight)


def test_names_of_labels_come_from_the_frame():
    """Columns of y name the labels, in every library."""
    X, _ = make_classes(40, 3, 3)
    Y = {"sea": (X[:, 0] > 0).astype(int), "sky": (X[:, 1] > 0).astype(int)}
    for frame in (pd.DataFrame(Y), pl.DataFrame(Y), pa.table(Y)):
        clf = MultiBoostClassifier("stump", 2, loss="exponential").fit(X, frame)
        np.testing.assert_array_equal(clf.classes_, ["sea", "sky"])
