"""The training table, binned and packed into the blocks of ``kernels.blocks``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..kernels.binning import pack_sparse, quantile_ends
from ..kernels.blocks import BLOCK, COLUMN, Blocks
from ..kernels.dtypes import CODE
from .binner import Binner
from .table import Table

_GROUP = 16  # columns that are read from the table together,
_GROUP_BYTES = 128 << 20  # or fewer, in this much memory
_SPARSE = 0.3  # share of the most frequent bin from which a column may leave it out
_SPARSE_GAIN = 12.0  # codes per row that leaving bins out must save, or it does not pay
_BLOCK_BYTES = 600_000  # of a block's histogram: about a second-level cache
_BLOCK_CODES = 65536  # what a code can number
_BINS_SPACE = 6  # bins of sparse columns are kept, too, where they take at most so many times the space of the codes
_TWO_BLOCKS = 16  # columns for each thread from which there are two blocks for each
_COARSE_BINS = 24  # columns of more bins may be searched eight bins at a time first
_COARSE_ROWS = 4  # and are, where together they have more than a bin for so many rows
# Columns of a table, bins of a column, or rounds of a run, from which bounds of the edge pay.
_WIDE, _LONG, _MANY = 40, 256, 5000
_GROUPS = 256  # of the bins of a column, that have bounds; and some more towards its ends, see `_tails`:
_TAIL, _SHORTEST = 0.3, 32  # their samples in units of those outside; how much smaller than others they may be


class _Binned:
    """Bins of one column: of all rows, or of those outside the frequent bin."""

    __slots__ = ("bins", "ends", "frequent", "missing", "n_bins", "nominal", "rows")

    def __init__(self, bins, rows, of, frequent):
        self.bins = bins
        self.rows = rows
        self.n_bins = of.n_bins
        self.missing = of.missing
        self.nominal = of.nominal
        self.frequent = frequent
        self.ends = None  # last bin of each group, where bins are grouped

    @property
    def n_codes(self) -> int:
        """Codes of its values: one for each bin, or for each group."""
        return self.n_bins if self.ends is None else self.ends.size

    def codes(self) -> np.ndarray:
        """The bins, or the groups they are in; missing values have the next number."""
        if self.ends is None:
            return self.bins
        return np.searchsorted(self.ends, np.arange(self.n_bins + 1)).astype(CODE)[self.bins]

    def first_bins(self, step: int) -> np.ndarray:
        """First bin of each of its histogram rows, in which ``step`` codes share; that of missing values is last."""
        firsts = np.arange(self.n_bins) if self.ends is None else np.append(0, self.ends[:-1] + 1)
        return np.append(firsts[::step], self.n_bins) if self.missing else firsts[::step]

    @property
    def is_wide(self) -> bool:
        """Whether a code does not fit into 16 bits."""
        return self.n_bins + self.missing > _BLOCK_CODES

    def dense(self, n_rows: int) -> _Binned:
        """The same column with its frequent bin written out."""
        bins = np.full(n_rows, self.frequent, self.bins.dtype)
        bins[self.rows] = self.bins
        return _Binned(bins, None, self, -1)

    def group(self, n_rows: int) -> None:
        """Group the bins, if they are many.

        Groups have about as many samples each, frequent bins are alone, and towards the ends of the column groups are
        smaller.
        """
        if self.nominal or self.n_bins <= _GROUPS:
            return
        count = np.bincount(self.bins, minlength=self.n_bins)[: self.n_bins].astype(np.float64)
        if self.frequent >= 0:
            count[self.frequent] = n_rows - self.bins.size
        self.ends = np.union1d(quantile_ends(count, _GROUPS), _tails(count))


def _tails(count: np.ndarray) -> np.ndarray:
    """Last bins of groups towards the ends of a column of these bins: the fewer samples are outside, the fewer inside.

    A late term of a product often does best to cut off a few samples, which it can do in every column: the mass of a
    group must not hide what little the best of these cuts gains over the others.
    """
    so_far = np.cumsum(count)
    size = so_far[-1] / _GROUPS
    outside = [max(1.0, size / _SHORTEST)]
    while (step := max(outside[0], _TAIL * outside[-1])) < size:
        outside.append(outside[-1] + step)
    ends = np.concatenate([np.searchsorted(so_far, outside), np.searchsorted(so_far, so_far[-1] - outside) - 1])
    return ends[(ends >= 0) & (ends < count.size)]


def _bin(column, bins, n_rows: int) -> _Binned | None:
    """Bin a column and drop its most frequent bin where that pays."""
    if bins.n_bins + bins.missing < 2:
        return None  # constant: nothing to cut
    code = bins.digitise(column.values)
    rows = column.where
    if rows is None:
        count = np.bincount(code, minlength=bins.n_bins)
        frequent = int(count.argmax())
        if count[frequent] < _SPARSE * n_rows or bins.n_bins >= _BLOCK_CODES:
            return _Binned(code, None, bins, -1)
        rows = np.flatnonzero(code != frequent).astype(np.uint32)
        return _Binned(code[rows], rows, bins, frequent)
    zero = int(bins.digitise(np.zeros(1))[0])
    other = code != zero
    return _Binned(code[other], rows[other].astype(np.uint32), bins, zero)


class Dataset:
    """A binned table.

    Parameters
    ----------
    table : Table
    max_bins, min_category_rows : int
        See `Binner`.
    weight : ndarray (n,) or None
        Row weights, for the quantiles of columns with many values.
    row_bytes : int
        Bytes of a histogram row, which decide how many columns make a block.
    n_threads : int
    coarse : bool
        Whether columns of many bins go to coarse blocks.
    n_rounds : int
        Rounds that are to come.

    Attributes
    ----------
    table : Table
    binner : Binner
    blocks : Blocks
    n_rows : int
    bounded : bool
        Whether edges of cuts are bounded before they are searched exactly, see ``kernels.edge``.
    first_bin : ndarray
        First bin of every histogram row.
    grouped : bool
        Whether bins of numbers share histogram rows.
    row_codes : float
        Mean number of stored codes per row: the work of one pass over the table.
    """

    def __init__(
        self,
        table: Table,
        max_bins: int,
        weight,
        row_bytes: int,
        n_threads: int = 1,
        coarse: bool = False,
        min_category_rows: int = 1,
        n_rounds: int = 0,
    ):
        self.table = table
        self.n_rows = table.n_rows
        self.binner = Binner(max_bins, min_category_rows)

        group = int(max(1, min(_GROUP, _GROUP_BYTES // (8 * max(1, table.n_rows)))))

        def read(first):
            pairs = self.binner.fit_columns(table, first, min(first + group, table.n_columns), weight)
            return [(bins, _bin(column, bins, table.n_rows)) for column, bins in pairs]

        groups = range(0, table.n_columns, group)
        if n_threads > 1 and table.n_rows * table.n_columns > 50_000:
            with ThreadPoolExecutor(n_threads) as pool:
                parts = list(pool.map(read, groups))
        else:
            parts = [read(first) for first in groups]
        columns = [pair for part in parts for pair in part]
        self.binner.columns = [bins for bins, _ in columns]
        # Bounds take two more passes over the payload, too much where columns are few and short, unless after
        # thousands of rounds few pairs have the weight; coarse blocks cannot do without.
        pays = table.n_columns >= _WIDE or n_rounds >= _MANY
        self.bounded = coarse or pays or any(bins.n_bins > _LONG and not bins.nominal for bins in self.binner.columns)
        if self.bounded and not coarse:
            row_bytes //= 2  # of the short payload
        binned = [one for _, one in columns]
        self.blocks, self.first_bin = _pack(binned, table.n_rows, row_bytes, n_threads, coarse, self.bounded)
        columns_of = self.blocks.column
        self.grouped = bool(((columns_of["n_bins"] > columns_of["n_rows"]) & (columns_of["nominal"] == 0)).any())
        self.row_codes = self.blocks.codes.size / max(1, table.n_rows)


def seems_bounded(table: Table, max_bins: int, n_rounds: int) -> bool:
    """What `Dataset.bounded` will be, as far as the first rows tell."""
    if table.n_columns >= _WIDE or n_rounds >= _MANY:
        return True
    if max_bins <= _LONG:
        return False
    rows = table.rows(0, min(table.n_rows, 4 * _LONG))
    return any(np.unique(column).size > _LONG for column in rows.T)


class _Layout:
    """Where the columns go: blocks of columns of one kind.

    Parameters
    ----------
    columns : list of _Binned
    row_bytes, n_threads : int
        See `Dataset`.
    """

    def __init__(self, columns: list, row_bytes: int, n_threads: int):
        self.columns = columns
        self.row_bytes = row_bytes
        self.n_threads = n_threads
        self.blocks: list[list[int]] = []
        self.shift: list[int] = []

    def n_codes(self, j: int, shift: int) -> int:
        """Codes of a column, one for each group or bin, rounded up where eight share a histogram row."""
        column = self.columns[j]
        step = 1 << shift
        return -(-column.n_codes // step) * step + column.missing * step

    def is_long(self, j: int) -> bool:
        """Whether a column has many bins, and room for their codes."""
        column = self.columns[j]
        return not column.nominal and column.n_bins > _COARSE_BINS and self.n_codes(j, 3) <= _BLOCK_CODES

    def deal(self, members: list[int], shift: int) -> None:
        """Deal columns into blocks, in order; enough of them to keep every thread busy."""
        sizes = [self.n_codes(j, shift) for j in members]
        limit = max(1, (_BLOCK_BYTES // self.row_bytes) << shift)
        if self.n_threads > 1:
            # Every block passes over the rows: with few columns that costs more than threads that wait.
            pieces = self.n_threads * (2 if len(members) >= _TWO_BLOCKS * self.n_threads else 1)
            limit = min(limit, -(-sum(sizes) // pieces))
        size = 0
        for k, (j, n_codes) in enumerate(zip(members, sizes, strict=True)):
            if k == 0 or size + n_codes // 2 > limit or size + n_codes > _BLOCK_CODES:
                self.blocks.append([])
                self.shift.append(shift)
                size = 0
            self.blocks[-1].append(j)
            size += n_codes


def _pack(
    columns: list, n_rows: int, row_bytes: int, n_threads: int, coarse: bool, bounded: bool
) -> tuple[Blocks, np.ndarray]:
    """The blocks, and the first bin of every histogram row."""
    members = [j for j, c in enumerate(columns) if c is not None]
    sparse = [j for j in members if columns[j].rows is not None]
    if n_rows * len(sparse) - sum(columns[j].rows.size for j in sparse) < _SPARSE_GAIN * n_rows:
        for j in sparse:
            columns[j] = columns[j].dense(n_rows)
    layout = _Layout(columns, row_bytes, n_threads)
    shift_of = dict.fromkeys(members, 0)
    if coarse:
        # A node's search costs its bins, or in coarse blocks its rows, a few times over.
        many = {j: columns[j].n_bins for j in members if layout.is_long(j)}
        if _COARSE_ROWS * sum(many.values()) > n_rows:
            shift_of.update(dict.fromkeys(many, 3))
    elif bounded:
        for j in members:
            columns[j].group(n_rows)
    for nominal, is_sparse in ((False, False), (False, True), (True, False), (True, True)):
        alike = [j for j in members if (columns[j].rows is not None, columns[j].nominal) == (is_sparse, nominal)]
        for shift in sorted(set(shift_of.values())):
            layout.deal([j for j in alike if shift_of[j] == shift], shift)
    is_dense = [columns[block[0]].rows is None for block in layout.blocks]
    codes = np.empty(sum(columns[j].bins.size << columns[j].is_wide for j in members), CODE)
    row_start = np.zeros((len(is_dense) - sum(is_dense)) * (n_rows + 1), np.uint32)
    block_records = np.zeros(len(layout.blocks), BLOCK)
    records = np.zeros(len(members), COLUMN)
    # Codes of a grouped column do not tell its bins, those of a sparse one only after a search.
    n_sparse = sum(columns[j].rows is not None for j in members)
    keep_sparse = n_rows * n_sparse <= _BINS_SPACE * codes.size
    in_bins = {j for j in members if columns[j].ends is not None or (keep_sparse and columns[j].rows is not None)}
    bins = np.empty(n_rows * len(in_bins), CODE)
    first_bin: list[np.ndarray] = []
    start = slot = origin = first = at = 0
    for b, block in enumerate(layout.blocks):
        shift = layout.shift[b]
        parts = [columns[j] for j in block]
        record = records[slot : slot + len(block)]
        n_codes = 0
        for k, (j, c) in enumerate(zip(block, parts, strict=True)):
            size = layout.n_codes(j, shift)
            last = n_codes + size - (1 << shift) if c.missing else n_codes + c.n_codes - 1
            frequent = c.frequent if c.ends is None else int(np.searchsorted(c.ends, c.frequent))
            value_rows = ((c.n_codes - 1) >> shift) + 1
            record[k] = (b, j, n_codes, last, c.n_bins, value_rows, c.missing, frequent, c.nominal, -1)
            if j in in_bins:
                record[k]["at"] = at
                bins[at : at + n_rows] = (c if c.rows is None else c.dense(n_rows)).bins
                at += n_rows
            first_bin.append(c.first_bins(1 << shift))
            n_codes += size
        rows = n_codes >> shift
        wide = parts[0].is_wide
        stride = len(block) << wide if is_dense[b] else 0
        nominal = parts[0].nominal
        block_records[b] = (start, stride, first, shift, slot, slot + len(block), origin, origin + rows, nominal, wide)
        if wide:
            pair = codes[start : start + 2 * n_rows].reshape(-1, 2)
            pair[:, 0], pair[:, 1] = parts[0].bins & 0xFFFF, parts[0].bins >> 16
        elif is_dense[b]:
            rows_of_codes = codes[start : start + n_rows * stride].reshape(n_rows, stride)
            for k, (r, c) in enumerate(zip(record, parts, strict=True)):
                code_of = np.append(np.arange(r["code"], r["code"] + c.n_codes), r["last"]).astype(CODE)
                rows_of_codes[:, k] = code_of[c.codes()]
        else:
            offsets = row_start[first : first + n_rows + 1]
            for c in parts:
                offsets[1:][c.rows] += 1
            np.cumsum(offsets, out=offsets)
            cursor = offsets[:-1].copy()
            for r, c in zip(record, parts, strict=True):
                pack_sparse(c.rows, c.codes(), c.n_codes, r["code"], r["last"], codes, start, cursor)
            first += n_rows + 1
        for j in block:
            start += columns[j].bins.size << columns[j].is_wide
            columns[j] = None  # packed: frees half of the peak memory
        slot += len(block)
        origin += rows
    blocks = Blocks(codes=codes, row_start=row_start, block=block_records, column=records, bins=bins)
    return blocks, np.concatenate([np.zeros(0, np.intp), *first_bin])
