"""Binned data, arranged for a search: the blocks of ``kernels.blocks``."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..kernels.binning import count_rows, pack_dense, pack_sparse, quantile_ends
from ..kernels.blocks import BLOCK, COLUMN, Blocks
from ..kernels.dtypes import CODE
from ..workspace import InMemory
from .binned import Binned, BinnedColumn
from .binner import Binner
from .table import Table

_SPARSE_GAIN = 12.0  # codes per row that leaving bins out must save, or it does not pay
_BLOCK_BYTES = 600_000  # of a block's histogram: about a second-level cache
_BLOCK_CODES = 65536  # what a code can number
_BINS_SPACE = 6  # bins of sparse columns are kept, too, where they take at most so many times the space of the codes
_TWO_BLOCKS = 16  # columns for each thread from which there are two blocks for each
_TOUCHED = 16  # columns for each value of a row from which leaves look at the touched ones only
_COARSE_BINS = 24  # columns of more bins may be searched eight bins at a time first
_COARSE_ROWS = 4  # and are, where together they have more than a bin for so many rows
WIDE, _LONG = 40, 256  # columns of a table, or bins of a column, from which bounds of the edge pay
_TILE = 512 << 10  # bytes of a dense block that are written at once, so that they stay in the cache
_GROUPS = 256  # of the bins of a column, that have bounds; and some smaller ones towards its ends, see `_tails`:
_TAIL, _SHORTEST = 0.3, 32  # samples of such a group, in units of those outside of it; and how much smaller it may be


class Layout:
    """Binned data as the kernels see it.

    Models do not depend on it: it decides how much work a search is, and how threads share it.

    Parameters
    ----------
    binned : Binned
    row_bytes : int
        Bytes of a histogram row, which decide how many columns make a block.
    n_threads : int
    coarse : bool
        Whether columns of many bins go to coarse blocks.
    last : bool
        Whether nobody else needs the columns of ``binned``: they are freed one by one while blocks are packed, which
        saves half of the peak memory.
    columns : ndarray (columns,) of bool or None
        Those that are laid out; None: all.
    whole : Layout or None
        What this one is a part of: how its columns are stored is decided there.

    Attributes
    ----------
    binned : Binned
    blocks : Blocks
    is_part : bool
        Whether it has some of the columns only.
    bounded : bool
        Whether edges of cuts are bounded before they are searched exactly, see ``kernels.edge``.
    first_bin : ndarray of intp
        First bin of every histogram row.
    grouped : bool
        Whether bins of numbers share histogram rows.
    mostly_touched : bool
        Whether most histogram rows are of columns that are searched only where a leaf touches them.
    row_codes : float
        Mean number of stored codes per row: the work of one pass over the table.
    """

    def __init__(
        self,
        binned: Binned,
        row_bytes: int,
        n_threads: int = 1,
        coarse: bool = False,
        last: bool = False,
        columns: np.ndarray | None = None,
        whole: Layout | None = None,
    ):
        self.binned = binned
        self.is_part = columns is not None
        self._made_with = row_bytes, n_threads, coarse
        # Bounds take two more passes over the payload, too much where columns are few and short; coarse blocks cannot
        # do without.
        chosen = np.arange(binned.n_columns) if columns is None else np.flatnonzero(columns)
        is_long = any(bins.n_bins > _LONG and not bins.nominal for bins in (binned.binner.columns[j] for j in chosen))
        self.bounded = coarse or chosen.size >= WIDE or is_long
        given = binned.give_away() if last else binned.columns
        slots = _slots([(int(j), given[j]) for j in chosen], binned.n_rows)
        del given
        if whole is not None:
            for slot in slots:
                slot.store_as(whole._stored[slot.feature], self.bounded)
        elif coarse:
            _make_coarse(slots, binned.n_rows)
        elif self.bounded:
            for slot in slots:
                slot.group()
        if self.bounded and not coarse:
            row_bytes //= 2  # of the rounded payload
        blocks = _dealt(slots, row_bytes, n_threads)
        slots = [slot for block in blocks for slot in block]
        self.first_bin = np.concatenate([np.zeros(0, np.intp), *(slot.first_bins() for slot in slots)])
        self.blocks = _packed(blocks, binned.n_rows, binned.workspace, whole)
        self._stored: dict[int, _Stored] = {
            slot.feature: _Stored(slot.shift, slot.ends, int(at))
            for slot, at in zip(slots, self.blocks.column["at"], strict=True)
        }
        self.grouped = any(slot.value_rows < slot.n_bins and not slot.of.nominal for slot in slots)
        rows = self.blocks.block["origin_end"] - self.blocks.block["origin"]
        self.mostly_touched = int(rows[self.blocks.block["touched"] == 0].sum()) < self.blocks.n_rows // 2
        self.row_codes = self.blocks.codes.size / max(1, binned.n_rows)

    def part(self, columns: np.ndarray) -> Layout:
        """A layout of some of the columns: what is not in it is not touched.

        Parameters
        ----------
        columns : ndarray (columns,) of bool
        """
        row_bytes, n_threads, coarse = self._made_with
        return Layout(self.binned, row_bytes, n_threads, coarse, columns=columns, whole=self)

    @property
    def has_parts(self) -> bool:
        """Whether `part` can make others of it."""
        return not self.is_part and self.binned.has_columns

    @property
    def table(self) -> Table:
        return self.binned.table

    @property
    def workspace(self) -> InMemory:
        """Where arrays of a number for each row are."""
        return self.binned.workspace

    @property
    def binner(self) -> Binner:
        return self.binned.binner

    @property
    def n_rows(self) -> int:
        """Samples."""
        return self.binned.n_rows


class _Stored(NamedTuple):
    """How a column is stored."""

    shift: int
    ends: np.ndarray | None
    at: int  # where its bins begin, -1 where they are in its block only


class _Slot:
    """A column on its way into a block.

    Attributes
    ----------
    feature : int
        Column of the table.
    column : BinnedColumn
        Deleted when it has been packed.
    of : ColumnBins or NominalBins
    n_bins : int
        Of its values.
    n_rows : int
        Samples.
    sparse : bool
        Whether its frequent bin is left out.
    shift : int
        2**shift codes share a histogram row.
    ends : ndarray or None
        Last bin of each group, where bins are grouped.
    at : int
        Where its bins begin in the layout that this one is a part of, -1 where they are not there.
    """

    def __init__(self, feature: int, column: BinnedColumn, n_rows: int):
        self.feature = feature
        self.column = column
        self.of = column.of
        # Asked for often, in thousands of columns.
        self.n_bins, self.missing = self.of.n_bins, self.of.missing
        self.n_rows = n_rows
        self.sparse = False
        self.shift = 0
        self.ends: np.ndarray | None = None
        self.at = -1

    @property
    def kind(self) -> tuple[bool, bool, int]:
        """What the columns of a block have in common."""
        return self.of.nominal, self.sparse, self.shift

    @property
    def is_wide(self) -> bool:
        """Whether a code does not fit into 16 bits."""
        return self.n_bins + self.missing > _BLOCK_CODES

    @property
    def n_values(self) -> int:
        """Codes of its values: one for each bin, or for each group."""
        return self.n_bins if self.ends is None else self.ends.size

    @property
    def value_rows(self) -> int:
        """Histogram rows of its values."""
        return -(-self.n_values >> self.shift)

    @property
    def n_codes(self) -> int:
        """Codes that it takes in a block: those of whole histogram rows, one of them for missing values."""
        return (self.value_rows + self.missing) << self.shift

    @property
    def n_stored(self) -> int:
        """Numbers in which its codes are stored."""
        return (self.column.bins.size if self.sparse else self.n_rows) << self.is_wide

    @property
    def last(self) -> int:
        """Code of missing values, or of the last bin, counted from its first code."""
        return self.value_rows << self.shift if self.missing else self.n_values - 1

    @property
    def frequent(self) -> int:
        """The bin, or group of bins, that is left out; -1 where there is none."""
        return int(self.code_of_bin[self.column.frequent]) if self.sparse else -1

    @cached_property
    def code_of_bin(self) -> np.ndarray:
        """(n_bins + 1,) codes of the bins, and of missing values, counted from its first code."""
        codes = np.arange(self.n_bins + 1)
        if self.ends is not None:
            codes[:-1] = np.searchsorted(self.ends, codes[:-1])
        codes[-1] = self.last
        return codes

    def first_bins(self) -> np.ndarray:
        """First bin of each of its histogram rows; that of missing values is last."""
        firsts = np.arange(self.n_bins) if self.ends is None else np.append(0, self.ends[:-1] + 1)
        firsts = firsts[:: 1 << self.shift]
        return np.append(firsts, self.n_bins) if self.of.missing else firsts

    def store_as(self, stored: _Stored, bounded: bool) -> None:
        """Store it as it is stored already, with groups if edges are bounded."""
        self.shift, self.at = stored.shift, stored.at
        self.ends = stored.ends if bounded else None

    def group(self) -> None:
        """Group the bins, if they are many.

        Groups have about as many samples each, frequent bins are alone, and towards the ends of the column groups are
        smaller.
        """
        if self.of.nominal or self.n_bins <= _GROUPS:
            return
        count = self.column.count(self.n_rows)[: self.n_bins].astype(np.float64)
        self.ends = np.union1d(quantile_ends(count, _GROUPS), _tails(count))


def _tails(count: np.ndarray) -> np.ndarray:
    """Last bins of groups towards the ends of a column: the nearer to the end, the fewer samples has a group.

    A late term of a product often does best to cut off a few samples, and can do so in every column.  These cuts differ
    little.  The mass of a group must not be larger than that.
    """
    so_far = np.cumsum(count)
    size = so_far[-1] / _GROUPS
    outside = [max(1.0, size / _SHORTEST)]
    while (step := max(outside[0], _TAIL * outside[-1])) < size:
        outside.append(outside[-1] + step)
    ends = np.concatenate([np.searchsorted(so_far, outside), np.searchsorted(so_far, so_far[-1] - outside) - 1])
    return ends[(ends >= 0) & (ends < count.size)]


def _slots(columns: list[tuple[int, BinnedColumn | None]], n_rows: int) -> list[_Slot]:
    """The columns that can be cut, sparse where leaving out frequent bins pays."""
    slots = [_Slot(j, column, n_rows) for j, column in columns if column is not None]
    shorter = [slot for slot in slots if slot.column.rows is not None and slot.n_bins < _BLOCK_CODES]
    pays = sum(n_rows - slot.column.bins.size for slot in shorter) >= _SPARSE_GAIN * n_rows
    for slot in shorter:
        slot.sparse = pays
    return slots


def _make_coarse(slots: list[_Slot], n_rows: int) -> None:
    """Let eight codes share a histogram row in columns of many bins, where that pays."""
    long = [slot for slot in slots if not slot.of.nominal and slot.n_bins > _COARSE_BINS]
    long = [slot for slot in long if slot.n_bins + 8 * slot.of.missing <= _BLOCK_CODES]
    # To search a node costs its bins, or in coarse blocks a few passes over its rows.
    if _COARSE_ROWS * sum(slot.n_bins for slot in long) > n_rows:
        for slot in long:
            slot.shift = 3


def _dealt(slots: list[_Slot], row_bytes: int, n_threads: int) -> list[list[_Slot]]:
    """The columns of each block: of one kind, and in order."""
    blocks = []
    for (*_, shift), group in groupby(sorted(slots, key=lambda slot: slot.kind), key=lambda slot: slot.kind):
        alike = list(group)
        limit = max(1, (_BLOCK_BYTES // row_bytes) << shift)
        if n_threads > 1:
            # Every block passes over the rows: with few columns that costs more than threads that wait.
            pieces = n_threads * (2 if len(alike) >= _TWO_BLOCKS * n_threads else 1)
            limit = min(limit, -(-sum(slot.n_codes for slot in alike) // pieces))
        else:
            pieces = 1
        blocks += _joined(_filled(alike, limit), pieces)
    return blocks


def _joined(blocks: list[list[_Slot]], n_pieces: int) -> list[list[_Slot]]:
    """Neighbouring blocks of which leaves touch few columns as one, up to a share of all codes.

    A pass over a leaf's rows looks up where they begin in each block.  A histogram that is hardly touched need not fit
    into the cache.
    """
    limit = min(_BLOCK_CODES, -(-sum(slot.n_codes for block in blocks for slot in block) // n_pieces))
    joined: list[list[_Slot]] = []
    size, before = _BLOCK_CODES, False
    for block in blocks:
        n_codes, touched = sum(slot.n_codes for slot in block), _leaves_touch_few(block)
        if touched and before and size + n_codes <= limit:
            joined[-1] += block
            size += n_codes
        else:
            joined.append(block)
            size = n_codes
        before = touched
    return joined


def _filled(slots: list[_Slot], limit: int) -> list[list[_Slot]]:
    """Blocks of about ``limit`` codes."""
    blocks: list[list[_Slot]] = []
    size = _BLOCK_CODES  # the first column begins a block
    for slot in slots:
        if size + slot.n_codes // 2 > limit or size + slot.n_codes > _BLOCK_CODES:
            blocks.append([])
            size = 0
        blocks[-1].append(slot)
        size += slot.n_codes
    return blocks


def _packed(blocks: list[list[_Slot]], n_rows: int, workspace: InMemory, whole: Layout | None) -> Blocks:
    """The codes of all blocks; takes the columns out of the slots."""
    slots = [slot for block in blocks for slot in block]
    n_codes = sum(slot.n_stored for slot in slots)
    column = _column_records(blocks)
    if whole is not None:  # bins do not depend on what is laid out: they are there already
        bins, column["at"] = whole.blocks.bins, [slot.at for slot in slots]
    else:
        # The code of a group does not say which bin it is.  In a sparse block a column's code has to be looked for.
        n_sparse = sum(slot.sparse for slot in slots)
        keep_sparse = n_rows * n_sparse <= _BINS_SPACE * n_codes
        kept = [slot.ends is not None or (slot.sparse and keep_sparse) for slot in slots]
        bins = workspace.zeros(n_rows * sum(kept), CODE)
        column["at"] = np.where(kept, _begins([n_rows * one for one in kept])[:-1], -1)
    packed = Blocks(
        codes=workspace.zeros(n_codes, CODE),
        row_start=np.zeros(sum(block[0].sparse for block in blocks) * (n_rows + 1), np.uint32),
        block=_block_records(blocks, n_rows),
        column=column,
        bins=bins,
    )
    for block, record in zip(blocks, packed.block, strict=True):
        records = packed.column[record["slot"] : record["slot_end"]]
        _write_codes(block, record, records["code"], packed, n_rows)
        for slot, at in zip(block, records["at"], strict=True):
            if at >= 0 and whole is None:
                packed.bins[at : at + n_rows] = slot.column.full(n_rows)
            del slot.column  # it may have no other owner: this saves half of the peak memory
    return packed


def _begins(sizes: list[int]) -> np.ndarray:
    """Where parts of these sizes begin, one after the other; and, last, where they end."""
    return np.cumsum([0, *sizes])


def _block_records(blocks: list[list[_Slot]], n_rows: int) -> np.ndarray:
    record = np.zeros(len(blocks), BLOCK)
    first = [block[0] for block in blocks]
    record["start"] = _begins([sum(slot.n_stored for slot in block) for block in blocks])[:-1]
    record["stride"] = [0 if block[0].sparse else len(block) << block[0].is_wide for block in blocks]
    record["first"] = _begins([(n_rows + 1) * slot.sparse for slot in first])[:-1]
    record["shift"] = [slot.shift for slot in first]
    slot_begins = _begins([len(block) for block in blocks])
    record["slot"], record["slot_end"] = slot_begins[:-1], slot_begins[1:]
    rows = _begins([sum(slot.n_codes for slot in block) >> block[0].shift for block in blocks])
    record["origin"], record["origin_end"] = rows[:-1], rows[1:]
    record["nominal"] = [slot.of.nominal for slot in first]
    record["wide"] = [slot.is_wide for slot in first]
    record["touched"] = [_leaves_touch_few(block) for block in blocks]
    return record


def _leaves_touch_few(block: list[_Slot]) -> bool:
    """Whether leaves look at touched columns only: a row has values in a small part of the block's columns."""
    plain = block[0].sparse and not block[0].of.nominal and block[0].shift == 0
    return plain and _TOUCHED * sum(slot.n_stored for slot in block) <= block[0].n_rows * len(block)


def _column_records(blocks: list[list[_Slot]]) -> np.ndarray:
    slots = [slot for block in blocks for slot in block]
    record = np.zeros(len(slots), COLUMN)
    record["block"] = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    record["feature"] = [slot.feature for slot in slots]
    record["code"] = [code for block in blocks for code in _begins([slot.n_codes for slot in block])[:-1]]
    record["last"] = record["code"] + [slot.last for slot in slots]
    record["n_bins"] = [slot.n_bins for slot in slots]
    record["n_rows"] = [slot.value_rows for slot in slots]
    record["missing"] = [slot.missing for slot in slots]
    record["frequent"] = [slot.frequent for slot in slots]
    record["nominal"] = [slot.of.nominal for slot in slots]
    return record


def _write_codes(block: list[_Slot], record: np.void, first_code: np.ndarray, packed: Blocks, n_rows: int) -> None:
    """Write the codes of a block, and where those of each row begin if it is sparse."""
    codes = packed.codes[record["start"] :]
    if record["wide"]:
        bins = block[0].column.full(n_rows)
        codes[: 2 * n_rows : 2], codes[1 : 2 * n_rows : 2] = bins & 0xFFFF, bins >> 16
        return
    code_of_bin = [(first + slot.code_of_bin).astype(CODE) for slot, first in zip(block, first_code, strict=True)]
    if not block[0].sparse:
        # Side by side: every page is written once.  Where columns have to be filled up first, one after the other.
        step = max(1, _TILE // (len(block) * codes.itemsize))
        if any(slot.column.rows is not None for slot in block):
            step = n_rows
        for first in range(0, n_rows, step):
            for k, slot in enumerate(block):
                last = min(first + step, n_rows)
                pack_dense(slot.column.full(n_rows), code_of_bin[k], first, last, len(block), k, codes)
        return
    begins = packed.row_start[record["first"] : record["first"] + n_rows + 1]
    for slot in block:
        count_rows(slot.column.rows, begins)
    np.cumsum(begins, out=begins)
    free = begins[:-1].copy()
    for k, slot in enumerate(block):
        pack_sparse(slot.column.rows, slot.column.bins, code_of_bin[k], codes, free)
