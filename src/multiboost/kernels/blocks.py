"""The binned table as the kernels see it.

Columns are dealt into *blocks* whose histograms together fit into a core's second
level cache.  Inside a block the table is stored row by row as *codes*: a code is
the number of a (column, bin) pair counted through the block, that is, the row of
the block's histogram to which the sample's G and H are added, or one of eight codes
that share such a row in a *coarse* block (``shift`` 3, see ``scan``).

- A *dense* block has ``stride`` codes per row, one for each of its columns.
- A *sparse* block (``stride`` 0) leaves out the most frequent bin of each column:
  row i owns the codes from ``start + row_start[first + i]`` up to the next row's.  The
  frequent bin's sum is the node's total minus the others.  Where memory allows, the bins of
  these columns are also in ``bins``, column by column: to read one column of some rows there
  is many times faster than to look for its code in each row.
- In a *grouped* column, which has many bins, a code is the number of a group of neighbouring bins; its
  bins are in ``bins``.  Only the edge is searched in such columns, see ``edge``.
- A *wide* block is one nominal column of more than 65536 codes, each stored in two halves,
  the lower one first.

The bins of a column are its value bins in increasing order, then, where the column
has missing values, one bin for those.  The bins of a nominal column are its categories,
and a block has columns of one kind only.  In a coarse block a column's bins, and the bin
for missing values, begin at a multiple of eight.
"""

from typing import NamedTuple

import numpy as np

from .compiler import INLINE, njit

# Records, not one array per field: what is passed from kernel to kernel is a handful of
# arrays, and compiling takes half of the time.
BLOCK = np.dtype(
    [
        ("start", np.intp),  # first code of the block
        ("stride", np.intp),  # codes per row, 0 in sparse blocks
        ("first", np.intp),  # where the block's offsets begin in row_start
        ("shift", np.intp),  # histogram row = code >> shift
        ("slot", np.intp),  # its columns are slot up to slot_end
        ("slot_end", np.intp),
        ("origin", np.intp),  # its histogram rows, counted through all blocks
        ("origin_end", np.intp),
        ("nominal", np.intp),  # 1 where its columns are nominal
        ("wide", np.intp),  # 1 where a code takes two numbers
        ("touched", np.intp),  # 1 where leaves look at the columns only that their rows touch, see ``touched``
    ]
)
COLUMN = np.dtype(
    [
        ("block", np.intp),
        ("feature", np.intp),  # column in the user's table
        ("code", np.intp),  # of bin 0
        ("last", np.intp),  # code of the bin for missing values, else of the last bin
        ("n_bins", np.intp),  # value bins
        ("n_rows", np.intp),  # histogram rows of those
        ("missing", np.intp),  # 1 where a bin for missing values follows
        ("frequent", np.intp),  # the bin, or group of bins, left out in a sparse block, else -1
        ("nominal", np.intp),  # 1 where bins are categories
        ("at", np.intp),  # where its bins begin in ``bins``, -1 where they are not there
    ]
)


class Blocks(NamedTuple):
    """All blocks; columns are numbered through the blocks ("slots")."""

    codes: np.ndarray  # CODE, all blocks one after the other
    row_start: np.ndarray  # uint32, for each sparse block n + 1 offsets
    block: np.ndarray  # (blocks,) BLOCK
    column: np.ndarray  # (slots,) COLUMN
    bins: np.ndarray  # CODE, bins of columns of sparse blocks and of grouped ones, n for each column

    @property
    def n_rows(self) -> int:
        """Histogram rows of all blocks."""
        return int(self.block["origin_end"][-1]) if len(self.block) else 0


@njit(**INLINE)
def wide_code(codes, at):
    """A code of a wide block."""
    return np.intp(codes[at]) | np.intp(codes[at + np.uintp(1)]) << 16


@njit(**INLINE)
def column_of(blocks, slot):
    """Where one column can be read: its bin in row i is source[first + i * stride] - code.

    A stride of 0 means that it cannot be read in this way: ask `bin_of`.
    """
    column = blocks.column[slot]
    block = blocks.block[column.block]
    in_rows = column.at < 0
    source = blocks.codes if in_rows else blocks.bins
    first = block.start + slot - block.slot if in_rows else column.at
    stride = (block.stride if block.wide == 0 else 0) if in_rows else 1
    return source, np.uintp(first), np.uintp(stride), column.code if in_rows else 0


@njit(**INLINE)
def bin_of(blocks, slot, row):
    """The bin of one sample in one column; n_bins or more where its value is missing."""
    column = blocks.column[slot]
    block = blocks.block[column.block]
    if block.wide > 0:
        return wide_code(blocks.codes, np.uintp(block.start + 2 * row))
    if block.stride > 0:
        return np.intp(blocks.codes[block.start + row * block.stride + slot - block.slot]) - column.code
    first = block.first + row
    for k in range(block.start + blocks.row_start[first], block.start + blocks.row_start[first + 1]):
        c = np.intp(blocks.codes[k])
        if c >= column.code:
            return c - column.code if c <= column.last else column.frequent
    return column.frequent
