"""Kernels against their slow NumPy twins."""

from functools import cache

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError

from multiboost import MultiBoostClassifier
from multiboost.criteria import CRITERIA
from multiboost.data.binned import Binned
from multiboost.data.layout import Layout
from multiboost.data.table import DenseTable
from multiboost.kernels.arithmetic import exp
from multiboost.kernels.binning import _distinct, digitise, distinct, quantile_ends
from multiboost.kernels.calls import Calls, call, has
from multiboost.kernels.compiler import OPTIONS, compiled
from multiboost.kernels.criteria import cut_score, edge_score
from multiboost.kernels.dtypes import ROW, SIGN, lanes
from multiboost.kernels.extremes import greater, lesser
from multiboost.kernels.growing import ONE_LABEL
from multiboost.kernels.histogram import (
    Payload,
    build_histogram,
    lanes_of_a_pass,
    loops_of,
    subtract_histogram,
    sum_payload,
)
from multiboost.kernels.lanes import add_lanes, is_zero, subtract_lanes
from multiboost.kernels.scan import COARSE_CUT, Line, new_line, scan_block, scan_fine, scan_rows, scan_rows_of_one
from multiboost.kernels.team import new_sync
from multiboost.kernels.update import CHUNK, chunk_starts, quantise, quantise_calls

from .conftest import leaf_numbers, make_classes, make_labels

# Inner kernels have nothing to call them from Python; these give them that, with the options of the kernels that ship.
bare = njit(**{**OPTIONS, "cache": False})


@bare
def exp_of(x, out):
    for i in range(x.size):
        out[i] = exp(x[i])


@bare
def histogram_of(blocks, b, payload, loops, rows, total, histogram, rest):
    block = blocks.block[b]
    sum_payload(payload, rows, 0, rows.size, total)
    base = block.origin * payload.width
    build_histogram(blocks, block, payload, loops, rows, 0, rows.size, total, histogram, base, rest)


@bare
def difference_of(blocks, b, width, parent, child):
    block = blocks.block[b]
    subtract_histogram(block, width, parent, child, block.origin * width)


# Kernels are compiled for the name of a criterion.


@cache
def block_cut(criterion, one_label):
    scan = scan_rows_of_one if one_label else scan_rows

    @bare
    def block_cut(blocks, b, is_open, ridge, payload, total, histogram, scratch, best_left, coarse, line):
        block = blocks.block[b]
        return scan_block(
            scan, criterion, blocks.column, block, is_open, ridge, payload.half, total, histogram,
            block.origin * payload.width, scratch, line, best_left, coarse,
        )  # fmt: skip

    return block_cut


@cache
def fine_cut(criterion, one_label):
    scan = scan_rows_of_one if one_label else scan_rows

    @bare
    def fine_cut(blocks, slot, row, payload, ridge, rows, total, histogram, fine, scratch, best_left, line):
        return scan_fine(
            scan, criterion, blocks, slot, row, payload, ridge, rows, 0, rows.size, total, histogram, fine, scratch,
            line, best_left,
        )  # fmt: skip

    return fine_cut


def line_for(blocks, dtype):
    room = new_line(blocks.column["n_rows"].max(initial=16), 1, dtype)
    return Line(room.sums[0], room.scores[0])


@cache
def score_of(criterion):
    @bare
    def score_of(left, total, half, ridge):
        return cut_score(criterion, left, total, half, ridge)

    return score_of


@bare
def added(dst, di, src, si, n):
    add_lanes(dst, di, src, si, n)


@bare
def subtracted(dst, di, src, si, n):
    subtract_lanes(dst, di, src, si, n)


@bare
def holds_nothing(array, i, n):
    return is_zero(array, i, n)


@bare
def edge_of(left, total, n):
    return edge_score(left, total, n)


@bare
def extremes_of(a, b):
    return lesser(a, b), greater(a, b)


every_width = pytest.mark.parametrize("n", [1, 2, 4, 8, 12, 16, 20, 28, 64])
both_sizes = pytest.mark.parametrize("dtype", [np.int32, np.int64])


@both_sizes
@every_width
def test_lanes(n, dtype):
    """Groups of lanes cover the whole length and nothing else."""
    rng = np.random.default_rng(n)
    dst, src = rng.integers(-1000, 1000, (2, n + 7)).astype(dtype)
    for change, sign in ((added, 1), (subtracted, -1)):
        expected, found = dst.copy(), dst.copy()
        expected[2 : 2 + n] += sign * src[3 : 3 + n]
        change(found, 2, src, 3, n)
        np.testing.assert_array_equal(found, expected)
    for where in range(n + 2):
        array = np.zeros(n + 2, dtype)
        assert holds_nothing(array, 1, n)
        array[where] = -3
        assert holds_nothing(array, 1, n) == (where in (0, n + 1))


@both_sizes
@pytest.mark.parametrize("n", [1, 4, 8, 12, 20, 28])
def test_criteria(n, dtype):
    rng = np.random.default_rng(n)
    left, right = rng.integers(0, 1000, (2, 2 * n)).astype(dtype)
    (g0, h0), (g1, h1) = left.reshape(2, n).astype(float), right.reshape(2, n).astype(float)
    total = left + right
    assert edge_of(left, total, n) == abs(g1 - g0).sum()
    if dtype == np.int64:  # the edge is never searched in 32 bits
        assert score_of("edge")(left, total, n, 0.0) == abs(g1 - g0).sum()
    z = -2 * (np.sqrt(g0 * h0) + np.sqrt(g1 * h1)).sum()
    newton = (g0**2 / (h0 + 0.5) + g1**2 / (h1 + 0.5)).sum()
    tolerance = 1e-14 if dtype == np.int64 or n == 1 else 1e-6
    assert score_of("z")(left, total, n, 0.0) == pytest.approx(z, rel=tolerance)
    assert score_of("newton")(left, total, n, 0.5) == pytest.approx(newton, rel=tolerance)


@pytest.mark.parametrize(
    ("a", "b"), [(1, 2), (2, -1), (-1.5, 2.0), (2.0, -3.0), (np.uint64(2**63), np.uint64(1)), (np.int32(-5), 3)]
)
def test_extremes(a, b):
    assert extremes_of(a, b) == (min(a, b), max(a, b))


def test_exp_is_accurate():
    """Within 4 units in the last place of NumPy's from -650 to 700."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-650, 0, 20000), rng.uniform(-2, 2, 20000), rng.uniform(0, 700, 5000), [0.0, -650]])
    found = np.empty_like(x)
    exp_of(x, found)
    right = np.exp(x.astype(np.longdouble)).astype(np.float64)
    assert (np.abs(found - right) / np.spacing(right)).max() <= 4
    assert found[-2] == 1.0


def test_exp_has_no_denormals():
    """Far below zero it is a constant in the normal range."""
    x = np.array([-650.0, -651.0, -745.0, -1e4, -1e300, -np.inf])
    found = np.empty_like(x)
    exp_of(x, found)
    assert np.all(found == found[0])
    assert found[0] > np.finfo(float).tiny


def columns_of_many_kinds(n, seed, sparse):
    """Few levels and many, with and without missing values; mostly one value where sparse."""
    rng = np.random.default_rng(seed)
    X = np.stack(
        [
            rng.integers(0, 5, n).astype(float),
            rng.normal(size=n),
            np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)),
            np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            rng.integers(0, 40, n).astype(float),
            np.full(n, 3.0),
            rng.normal(size=n).round(1),
            rng.integers(-3, 30, n).astype(float),
        ],
        axis=1,
    )
    if sparse:  # enough columns for leaving out zeros to pay
        X = np.concatenate([X, X[::-1], np.roll(X, 7, axis=0)], axis=1)
        X = np.where(rng.random(X.shape) < 0.75, 0.0, X)
    return X


def payload_of(kind, n, n_labels, dtype, seed=0):
    """Random integers: one payload kind of each sort."""
    rng = np.random.default_rng(seed)
    half = lanes(n_labels)
    width = half if kind in ("edge", "turned") else 2 * half
    one_hot = kind == "one_hot"
    n_dense = half if one_hot else width
    dense = np.zeros((n, n_dense), dtype)
    low = -1000 if kind in ("edge", "turned", "newton") else 0
    dense[:, :n_labels] = rng.integers(low, 1000, (n, n_labels))
    if kind in ("z", "newton"):
        dense[:, half : half + n_labels] = rng.integers(0, 1000, (n, n_labels))
    return Payload(
        dense=dense.reshape(-1),
        lanes=n_dense,
        step=lanes_of_a_pass(n_dense),
        one_hot=one_hot,
        positive=(rng.integers(0, n_labels, n) + half if one_hot else np.zeros(0)).astype(np.int32),
        weight=(rng.integers(0, 1000, n) if one_hot else np.zeros(0)).astype(dtype),
        half=half,
        width=width,
        sign=-rng.integers(0, 2, n).astype(SIGN) if kind == "turned" else None,
    )


def full_payload(payload, n) -> np.ndarray:
    """The payload as (n, width), one-hot weights written out."""
    full = np.zeros((n, payload.width), np.int64)
    full[:, : payload.lanes] = payload.dense.reshape(n, payload.lanes)
    if payload.one_hot:
        full[np.arange(n), payload.positive] += payload.weight
    return full if payload.sign is None else full * np.where(payload.sign < 0, -1, 1)[:, None]


def slow_histogram(layout, X, payload, rows):
    """All blocks' histograms by np.add.at, (histogram rows, width)."""
    blocks = layout.blocks
    full = full_payload(payload, len(X))[rows]
    found = np.zeros((blocks.n_rows, payload.width), np.int64)
    for column in blocks.column:
        bins = layout.binner.columns[column["feature"]]
        x = X[rows, column["feature"]]
        b = np.searchsorted(bins.cuts, x, side="left")
        code = np.where(np.isnan(x), column["last"], column["code"] + b)
        block = blocks.block[column["block"]]
        np.add.at(found, block["origin"] + (code >> block["shift"]), full)
    return found


HISTOGRAMS = [
    ("edge", 1, np.int64),
    ("z", 1, np.int32),
    ("newton", 1, np.int32),
    ("edge", 3, np.int64),
    ("edge", 20, np.int64),
    ("turned", 1, np.int64),
    ("turned", 5, np.int64),
    ("turned", 20, np.int64),
    ("z", 2, np.int32),
    ("one_hot", 10, np.int32),
    ("newton", 5, np.int32),
]


def built(layout, payload, rows):
    """Total and all blocks' histograms by the kernel."""
    blocks = layout.blocks
    dtype = payload.dense.dtype
    total, rest = np.zeros(payload.width, dtype), np.zeros(payload.width, dtype)
    histogram = np.full(blocks.n_rows * payload.width, 77, dtype)
    for b in range(len(blocks.block)):
        histogram_of(blocks, b, payload, loops_of(payload), rows, total, histogram, rest)
    return total, histogram


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("coarse", [False, True], ids=["fine", "coarse"])
@pytest.mark.parametrize(("kind", "n_labels", "dtype"), HISTOGRAMS)
def test_histogram(kind, n_labels, dtype, coarse, sparse):
    """Sums per (column, bin) of some rows; a sibling by subtraction."""
    n = 500
    X = columns_of_many_kinds(n, 1, sparse)
    layout = Layout(Binned.of(DenseTable(X), 64), 64, n_threads=2, coarse=coarse)
    blocks = layout.blocks
    assert (blocks.block["stride"] == 0).any() == sparse
    assert (blocks.block["shift"] > 0).any() == coarse
    payload = payload_of(kind, n, n_labels, dtype)
    rng = np.random.default_rng(2)
    rows = rng.permutation(n)[:333].astype(ROW)
    total, histogram = built(layout, payload, rows)
    np.testing.assert_array_equal(total, full_payload(payload, n)[rows].sum(0))
    np.testing.assert_array_equal(histogram.reshape(-1, payload.width), slow_histogram(layout, X, payload, rows))
    child = rows[:100].copy()
    _, smaller = built(layout, payload, child)
    for b in range(len(blocks.block)):
        difference_of(blocks, b, payload.width, histogram, smaller)
    np.testing.assert_array_equal(histogram.reshape(-1, payload.width), slow_histogram(layout, X, payload, rows[100:]))


@pytest.mark.parametrize("coarse", [False, True], ids=["fine", "coarse"])
def test_histogram_of_mostly_missing_values(coarse):
    """Missing values are what sparse blocks leave out, also where the other bins fill no whole histogram row."""
    n = 500
    X = columns_of_many_kinds(n, 1, True)
    X[X == 0.0] = np.nan
    layout = Layout(Binned.of(DenseTable(X), 64), 64, n_threads=2, coarse=coarse)
    column = layout.blocks.column
    assert np.all(layout.blocks.block["stride"] == 0)
    assert np.all(column["frequent"] >= column["n_bins"])
    assert np.any(column["n_bins"] % 8 > 0)
    payload = payload_of("newton", n, 3, np.int32)
    rows = np.arange(n, dtype=ROW)
    _, histogram = built(layout, payload, rows)
    np.testing.assert_array_equal(histogram.reshape(-1, payload.width), slow_histogram(layout, X, payload, rows))


def slow_score(criterion, left, total, half, ridge) -> float:
    """The score of a cut in double precision."""
    left, right = left.astype(float), (total - left).astype(float)
    if criterion == "edge":
        return np.abs(right - left).sum()
    if criterion == "z":
        return -2.0 * sum(np.sqrt(side[:half] * side[half:]).sum() for side in (left, right))
    return sum((side[:half] ** 2 / (side[half:] + ridge)).sum() for side in (left, right))


def slow_cuts(layout, X, payload, rows, slot, criterion, ridge):
    """Every cut of one column that parts the rows: (score, bin, missing right)."""
    column = layout.blocks.column[slot]
    bins = layout.binner.columns[column["feature"]]
    x = X[rows, column["feature"]]
    full = full_payload(payload, len(X))[rows]
    total = full.sum(0)
    missing = np.isnan(x)
    b = np.searchsorted(bins.cuts, x, side="left")
    for cut in range(bins.n_bins):
        left = (b <= cut) & ~missing
        for missing_right in (1, 0) if missing.any() else (1,):
            goes_left = left | (missing & (missing_right == 0))
            if left.any() and not goes_left.all() and (missing_right or (~left & ~missing).any()):
                yield slow_score(criterion, full[goes_left].sum(0), total, payload.half, ridge), cut, missing_right


CASES = [
    ("edge", "edge", 1, np.int64),
    ("edge", "edge", 3, np.int64),
    ("z", "z", 1, np.int32),
    ("newton", "newton", 1, np.int32),
    ("z", "z", 3, np.int32),
    ("one_hot", "z", 10, np.int32),
    ("newton", "newton", 9, np.int32),
]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("kind", "criterion", "n_labels", "dtype"), CASES)
def test_best_cut_of_a_block(kind, criterion, n_labels, dtype, sparse):
    """The scan finds the largest score of all cuts, missing values on either side."""
    n, ridge = 300, 50.0
    X = columns_of_many_kinds(n, 4, sparse)
    layout = Layout(Binned.of(DenseTable(X), 64), 64, n_threads=2, coarse=False)
    blocks = layout.blocks
    payload = payload_of(kind, n, n_labels, dtype, seed=5)
    rows = np.random.default_rng(6).permutation(n)[:200].astype(ROW)
    total, histogram = built(layout, payload, rows)
    scratch = np.zeros((4, payload.width), dtype)
    best_left, everything = np.zeros(payload.width, dtype), np.ones(blocks.column.size, bool)
    coarse = np.zeros(0, COARSE_CUT)
    for b, block in enumerate(blocks.block):
        score, slot, cut, missing_right = block_cut(criterion, payload.width == ONE_LABEL)(
            blocks, b, everything, ridge, payload, total, histogram, scratch, best_left, coarse, line_for(blocks, dtype)
        )
        every = {
            (s, c, m): value
            for s in range(block["slot"], block["slot_end"])
            for value, c, m in slow_cuts(layout, X, payload, rows, s, criterion, ridge)
        }
        best = max(every.values())
        tolerance = 1e-5 * abs(best)
        assert score == pytest.approx(best, abs=tolerance)
        assert every[slot, cut, missing_right] == pytest.approx(best, abs=tolerance)
        column = blocks.column[slot]
        x = X[rows, column["feature"]]
        bins = layout.binner.columns[column["feature"]]
        left = np.where(np.isnan(x), missing_right == 0, np.searchsorted(bins.cuts, x, side="left") <= cut)
        np.testing.assert_array_equal(best_left, full_payload(payload, n)[rows[left]].sum(0))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("kind", "criterion", "n_labels", "dtype"), [c for c in CASES if c[1] != "edge"])
def test_coarse_search(kind, criterion, n_labels, dtype, sparse):
    """Eight bins at a time, then bin by bin around the best coarse cut."""
    n, ridge = 400, 50.0
    X = columns_of_many_kinds(n, 7, sparse)
    layout = Layout(Binned.of(DenseTable(X), 64), 64, n_threads=2, coarse=True)
    blocks = layout.blocks
    payload = payload_of(kind, n, n_labels, dtype, seed=8)
    rows = np.random.default_rng(9).permutation(n)[:300].astype(ROW)
    total, histogram = built(layout, payload, rows)
    scratch = np.zeros((4, payload.width), dtype)
    best_left, everything = np.zeros(payload.width, dtype), np.ones(blocks.column.size, bool)
    fine = np.zeros(16 * payload.width, dtype)
    coarse = np.zeros(blocks.column.size, COARSE_CUT)
    seen = 0
    line = line_for(blocks, dtype)
    for b, block in enumerate(blocks.block):
        if block["shift"] == 0:
            continue
        found = block_cut(criterion, payload.width == ONE_LABEL)(
            blocks, b, everything, ridge, payload, total, histogram, scratch, best_left, coarse, line
        )
        assert found[1] == -1  # which column is best is not known before they are searched bin by bin
        for slot in range(block["slot"], block["slot_end"]):
            seen += 1
            column = blocks.column[slot]
            bins = layout.binner.columns[column["feature"]]
            cuts = list(slow_cuts(layout, X, payload, rows, slot, criterion, ridge))
            ends = [score for score, cut, _ in cuts if cut % 8 == 7 or cut == bins.n_bins - 1]
            assert coarse[slot]["score"] == pytest.approx(max(ends), rel=1e-5)
            row = coarse[slot]["row"]
            begin = 8 * (row - column["code"] // 8)
            score, cut, missing_right = fine_cut(criterion, payload.width == ONE_LABEL)(
                blocks, slot, row, payload, ridge, rows, total, histogram, fine, scratch, best_left, line
            )
            near = {(c, m): s for s, c, m in cuts if begin <= c < begin + 16}
            assert score == pytest.approx(max(near.values()), rel=1e-5)
            assert near[cut, missing_right] == pytest.approx(score, rel=1e-5)
    assert seen >= 4


@pytest.mark.parametrize(("kind", "criterion"), [("edge", "edge"), ("z", "z"), ("one_hot", "z"), ("newton", "newton")])
def test_quantise(kind, criterion):
    """Fixed point to the nearest; signed for edge and newton, W- and W+ apart for z."""
    n, n_labels = 3000, 3
    rng = np.random.default_rng(0)
    pull = rng.normal(size=(n, n_labels)) / n
    pull[5] = 0.0
    payload = payload_of(kind, n, n_labels, np.int64 if criterion == "edge" else np.int32)
    half = payload.half
    if kind == "one_hot":
        positive = payload.positive - half
        pull = -np.abs(pull)
        pull[np.arange(n), positive] *= -1
    curvature = np.abs(rng.normal(size=(n, n_labels))) / n if criterion == "newton" else np.zeros((0, n_labels))
    scale_g, scale_h = 2.0**22, 2.0**21
    calls = quantise_calls(CRITERIA.get(criterion).layout, payload, n_labels)
    chunks = chunk_starts(n, np.zeros(0, np.intp))
    flat = pull.reshape(-1), curvature.reshape(-1)
    quantise(0, 1, new_sync(1), calls, *flat, payload, n_labels, chunks, None, scale_g, scale_h)
    found = full_payload(payload, n)
    rounded = np.floor(np.abs(pull) * scale_g + 0.5) * np.sign(pull)
    if criterion == "z":
        np.testing.assert_array_equal(found[:, :n_labels], np.maximum(-rounded, 0))
        np.testing.assert_array_equal(found[:, half : half + n_labels], np.maximum(rounded, 0))
    else:
        np.testing.assert_array_equal(found[:, :n_labels], rounded)
    if criterion == "newton":
        np.testing.assert_array_equal(found[:, half : half + n_labels], np.floor(curvature * scale_h + 0.5))
    assert not found[:, n_labels:half].any()


def test_distinct():
    """The distinct numbers of a column; NaN is none of them, and -0 is 0."""
    x = np.array([3.0, np.nan, -0.0, 3.0, 0.0, 1e300, -7.5, np.nan, -0.0, 3.0])
    found, more = distinct(x, 4)
    assert not more
    np.testing.assert_array_equal(np.sort(found), [-7.5, 0.0, 3.0, 1e300])
    assert distinct(x, 3)[1]
    found, more = distinct(np.full(3, np.nan), 5)
    assert found.size == 0
    assert not more
    rng = np.random.default_rng(0)
    for n_values in (1, 2, 100, 1000):
        x = rng.normal(size=n_values)[rng.integers(0, n_values, 5000)]
        found, more = distinct(x, 1000)
        assert not more
        np.testing.assert_array_equal(np.sort(found), np.unique(x))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(500.0), np.arange(-250.0, 250.0), np.arange(500) / 4, np.arange(500) / 10, np.arange(500.0) * 1e6,
        1.0 / np.arange(1, 501), np.logspace(-90, 90, 500),
        np.random.default_rng(0).normal(size=500).astype(np.float32),
    ],
)  # fmt: skip
def test_distinct_values_are_spread(values):
    """Also whole numbers, which end in many zeros: no value is far from its slot, as long runs of them would be."""
    table, found = np.full(2048, np.nan), np.empty(500)
    values = values.astype(np.float64)
    assert _distinct(values, values.view(np.uint64), np.uint64(64 - 11), table, found) == 500
    np.testing.assert_array_equal(np.sort(table[~np.isnan(table)]), np.sort(values))
    free = np.flatnonzero(np.isnan(table))
    assert np.diff(free, prepend=-1, append=2048).max() <= 40


def test_quantile_ends_are_balanced():
    """Bins of equal weights have equal shares; nothing is lost to a heavy value."""
    np.testing.assert_array_equal(quantile_ends(np.ones(1000), 10), np.arange(99, 1000, 100))
    rng = np.random.default_rng(0)
    for max_bins in (2, 7, 100):
        weight = rng.uniform(0.5, 1.5, 3000)
        ends = quantile_ends(weight, max_bins)
        assert len(ends) == max_bins
        assert ends[-1] == 2999
        shares = np.diff(np.concatenate([[0.0], np.cumsum(weight)[ends]]))
        assert np.abs(shares - weight.sum() / max_bins).max() <= 1.5
    weight = np.ones(1000)
    weight[400] = 5000.0
    ends = quantile_ends(weight, 11)
    assert {399, 400} <= set(ends.tolist())
    shares = np.diff(np.concatenate([[0.0], np.cumsum(weight)[ends]]))
    assert np.sort(shares)[-2] <= 150
    assert len(ends) >= 9


def test_digitise_is_searchsorted():
    """x lies in bin b where cuts[b-1] < x <= cuts[b]; missing values in the last one."""
    rng = np.random.default_rng(0)
    cuts = np.unique(rng.normal(size=300).round(2))
    x = np.concatenate([rng.normal(size=2000).round(2), cuts, [-1e300, 1e300, np.nan]])
    bins = np.empty(x.size, np.uint16)
    digitise(x, cuts, cuts.size + 1, bins)
    np.testing.assert_array_equal(bins[:-1], np.searchsorted(cuts, x[:-1], side="left"))
    assert bins[-1] == cuts.size + 1
    whole = np.append(rng.integers(-500, 500, 30000), -0.0)  # the same values again and again
    for n_cuts in (*range(20), 31, 32, 33, 254, 255, 256, 700):
        cuts = np.sort(rng.permutation(1400)[:n_cuts] / 1.0 - 700) + rng.integers(2) / 2
        for x in (rng.normal(0, 300, 3000), whole, whole[::-3], np.repeat(whole[:50], 9), cuts, np.zeros(0)):
            x = np.append(x, [np.inf, -np.inf, np.nan])
            bins = np.empty(x.size, np.uint8 if n_cuts < 255 else np.uint16)
            digitise(x, cuts, n_cuts + 1, bins)
            np.testing.assert_array_equal(bins[:-1], np.searchsorted(cuts, x[:-1], side="left"))
            assert bins[-1] == n_cuts + 1


@pytest.mark.parametrize("base_learner", ["stump", "tree:6", "product:3", "tree:4/product:3", "product:2/tree:3"])
def test_prediction_is_a_walk(base_learner):
    """Scores of new rows, some values missing, against a walk in plain Python."""
    X, Y = make_labels(300, 5, 3, seed=2)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    clf = MultiBoostClassifier(base_learner, 6, loss="logistic").fit(X[:200], Y[:200])
    ensemble, new = clf.ensemble_, X[200:]
    scores = np.tile(ensemble.initial, (len(new), 1))
    for t in range(ensemble.n_rounds):
        h = np.ones_like(scores)
        for term in range(ensemble.first_term[t], ensemble.first_term[t + 1]):
            h *= ensemble.values[leaf_numbers(ensemble, term, new)]
        scores += h
    np.testing.assert_array_equal(clf.decision_function(new), scores)


def test_training_scores_are_predictions():
    """F that boosting carries along equals F of prediction, so the last risk does too."""
    X, y = make_classes(400, 5, 4)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    clf = MultiBoostClassifier("tree:6", 20, loss="exponential").fit(X, y)
    Y = np.where(y[:, None] == np.arange(4), 1.0, -1.0)
    W0 = np.where(Y > 0, 1 / 2, 1 / 6) / len(y)
    risk = (W0 * np.exp(-Y * clf.decision_function(X))).sum()
    assert clf.history_["risk"][-1] == pytest.approx(risk, rel=1e-12)


def add(x, i, y):
    x[i] += y


@bare
def adds(calls, x, i, y):
    if has(calls, "add"):
        call(calls, "add", (x, i, y))


@bare
def swaps(calls, x, i, y):
    call(calls, "add", (x, y, i))


@bare
def misspells(calls, x, i, y):
    call(calls, "sub", (x, i, y))


class TestCalls:
    """Kernels that are compiled apart from their callers."""

    kinds = (types.float64[::1], types.intp, types.float64)

    def test_call(self):
        x = np.zeros(3)
        adds(Calls(add=(compiled(add, *self.kinds, keep=False), self.kinds)), x, 1, 2.5)
        adds(Calls(add=(None, self.kinds)), x, 1, 2.5)
        np.testing.assert_array_equal(x, [0, 2.5, 0])
        assert len(adds.signatures) == 1  # the caller is the same whether there is something to call or not

    def test_swapped_arguments(self):
        with pytest.raises(TypingError, match="add: 3 arguments, not 3; argument 1 is float64, not int64; argument 2"):
            swaps(Calls(add=(compiled(add, *self.kinds, keep=False), self.kinds)), np.zeros(3), 1, 2.5)

    def test_unknown_name(self):
        with pytest.raises(TypingError, match="there is no call 'sub', only add"):
            misspells(Calls(add=(compiled(add, *self.kinds, keep=False), self.kinds)), np.zeros(3), 1, 2.5)

    def test_growth(self):
        """A change of what `grow` hands to a kernel without one of the kernel: an error, not another model."""
        calls = Calls(quantise=(compiled(add, *self.kinds, keep=False), self.kinds))
        payload, pull = payload_of("edge", 4, 2, np.int64), np.zeros(8)
        with pytest.raises(TypingError, match="quantise: 8 arguments, not 3"):
            quantise(0, 1, new_sync(1), calls, pull, pull, payload, 2, np.array([0, 4]), None, 1.0, 1.0)


def test_chunks_never_part_a_group():
    np.testing.assert_array_equal(chunk_starts(2500, np.zeros(0, np.intp)), [0, 1024, 2048, 2500])
    rng = np.random.default_rng(0)
    groups = np.concatenate([[0], np.cumsum(rng.integers(1, 700, 40))])
    starts = chunk_starts(groups[-1], groups)
    assert set(starts) <= set(groups)
    assert (starts[0], starts[-1]) == (0, groups[-1])
    assert (np.diff(starts)[:-1] >= CHUNK).all()
    assert np.diff(starts).max() < CHUNK + 700
