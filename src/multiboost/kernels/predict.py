"""Scores of raw rows: find the leaf of every DAG, add up the votes of the leaves.

`add_scores` walks from test to test, row by row.  `add_scores_in_tiles` makes all tests of a
DAG for many rows at once: values become numbers of one byte, a test compares 32 of them, and
the leaves of a test are chosen row by row from those of its children, from the last test
up to the first.  No branch depends on a value, so that none is mispredicted.  Both add the
votes in the same order and give the same bits.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from .lanes import INLINE, INNER, OPTIONS
from .team import next_item

TILE = 64  # rows that go through a DAG together, so that it stays in the cache
_BLOCK = 8  # tiles that go through rounds together
LEAVES = 256  # of a DAG in tiles, at most: a leaf is a byte
CUTS = 255  # of a search, at most: the number of a value among them is a byte
_BYTES = 32  # in a vector

# A search finds the number of a column's value among sorted cuts, in steps that begin with
# ``step`` and are halved.
SEARCH = np.dtype([("feature", np.int32), ("step", np.int32)], align=True)
# A test by codes: above ``cut`` goes right.  ``codes`` is a row of codes; ``left`` and ``right`` are
# rows of leaves, of which those below LEAVES hold their own number, the others are of tests.
TEST = np.dtype(
    [("set_start", np.intp), ("codes", np.int32), ("left", np.int32), ("right", np.int32), ("feature", np.int32),
     ("cut", np.int8), ("missing_right", np.int8)],
    align=True,
)  # fmt: skip
TERM = np.dtype([("first_test", np.intp), ("n_tests", np.intp), ("first_leaf", np.intp)], align=True)

# Bits are promised: no multiplication may be fused with an addition.
_EXACT = {**OPTIONS, "fastmath": False}
_PART = {**INNER, "fastmath": False}


def _vector(context, builder, signature, args, array, index, n):
    """A pointer to n elements of an array."""
    array_type = signature.args[array]
    data = context.make_array(array_type)(context, builder, args[array]).data
    vector = ir.VectorType(context.get_data_type(array_type.dtype), n)
    return builder.bitcast(builder.gep(data, [args[index]]), vector.as_pointer())


def _load(builder, pointer):
    value = builder.load(pointer)
    value.align = 1
    return value


@intrinsic
def _choose(typingctx, leaf, to, left, right, codes, at, cut):
    """leaf[to + r] = leaf[right + r] if codes[at + r] > cut else leaf[left + r] for a vector of rows r."""

    def codegen(context, builder, signature, args):
        def rows(array, index):
            return _vector(context, builder, signature, args, array, index, _BYTES)

        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _BYTES), None)
        vector = ir.Constant(ir.VectorType(ir.IntType(8), _BYTES), ir.Undefined)
        cuts = builder.insert_element(vector, args[6], ir.Constant(ir.IntType(32), 0))
        above = builder.icmp_signed(">", _load(builder, rows(4, 5)), builder.shuffle_vector(cuts, cuts, zeros))
        chosen = builder.select(above, _load(builder, rows(0, 3)), _load(builder, rows(0, 2)))
        builder.store(chosen, rows(0, 1)).align = 1
        return context.get_dummy_value()

    index = types.uintp
    return types.void(leaf, index, index, index, codes, index, types.int8), codegen


def _change(operation, n):
    @intrinsic
    def change(typingctx, array, i, by, j):
        def codegen(context, builder, signature, args):
            target = _vector(context, builder, signature, args, 0, 1, n)
            source = _vector(context, builder, signature, args, 2, 3, n)
            new = _load(builder, source)
            if operation:
                new = getattr(builder, operation)(_load(builder, target), new)
            builder.store(new, target).align = 1
            return context.get_dummy_value()

        return types.void(array, types.uintp, by, types.uintp), codegen

    return change


def _with_votes(operation):
    """A kernel that changes, for each row of a tile, its lanes of ``array`` by the votes of its leaf."""
    change1, change4, change8 = (_change(operation, n) for n in (1, 4, 8))

    @njit(**_PART)
    def with_votes(array, votes, first_leaf, leaf, found, n_rows, lanes):
        k = np.uintp(0)
        while k + np.uintp(8) <= lanes:
            for r in range(n_rows):
                change8(array, r * lanes + k, votes, (first_leaf + np.uintp(leaf[found + r])) * lanes + k)
            k += np.uintp(8)
        if k + np.uintp(4) <= lanes:
            for r in range(n_rows):
                change4(array, r * lanes + k, votes, (first_leaf + np.uintp(leaf[found + r])) * lanes + k)
        elif k < lanes:
            for r in range(n_rows):
                change1(array, r, votes, first_leaf + np.uintp(leaf[found + r]))

    return with_votes


_copy_votes, _add_votes, _multiply_votes = _with_votes(None), _with_votes("fadd"), _with_votes("fmul")


@njit(**INLINE)
def _goes_right(category, sets, start):
    """Whether a category is in the set of a nominal test."""
    return (sets[np.uintp(start) + (category >> np.uintp(3))] >> (category & np.uintp(7))) & 1 != 0


@njit(**INLINE)
def _leaf_of(node, x, feature, threshold, missing_right, child, set_start, sets):
    """Follow the tests from ``node`` to a leaf; x is one row."""
    while node >= 0:
        k = np.uintp(node)
        value = x[np.uintp(feature[k])]
        right = value > threshold[k]
        if np.isnan(value):
            right = missing_right[k]
        elif sets.size > 0 and set_start[k] >= 0:
            right = _goes_right(np.uintp(value), sets, set_start[k])
        node = child[k, np.uintp(right)]
    return ~node


@njit(**_EXACT)
def add_scores(
    tid,
    n_threads,
    sync,
    X,
    feature,
    threshold,
    missing_right,
    child,
    set_start,
    sets,
    values,
    root,
    first_term,
    begin,
    end,
    scores,
):
    """scores (n, K) += rounds ``begin`` to ``end`` of the ensemble.

    Round t is the product of the terms first_term[t] up to first_term[t + 1]; a term
    begins at ``root``: a test, or ~ the number of a leaf.  A nominal column holds the
    numbers of categories; a test of it has a set of those that go right, eight to a byte,
    from ``set_start`` on (-1: a test of a number).
    """
    n, n_labels = scores.shape
    product = np.empty(n_labels)
    tile = next_item(sync)
    while tile * TILE < n:
        first, last = tile * TILE, min(n, tile * TILE + TILE)
        for t in range(begin, end):
            a, b = first_term[t], first_term[t + 1]
            for i in range(first, last):
                x = X[i]
                leaf = _leaf_of(root[a], x, feature, threshold, missing_right, child, set_start, sets)
                if b == a + 1:
                    for k in range(n_labels):
                        scores[i, k] += values[leaf, k]
                else:
                    for k in range(n_labels):
                        product[k] = values[leaf, k]
                    for term in range(a + 1, b):
                        other = _leaf_of(root[term], x, feature, threshold, missing_right, child, set_start, sets)
                        for k in range(n_labels):
                            product[k] *= values[other, k]
                    for k in range(n_labels):
                        scores[i, k] += product[k]
        tile = next_item(sync)


@njit(**_PART)
def _encode(X, first, n_rows, search, cuts, x, rank, codes, at):
    """Codes of a column: how many of the sorted cuts are below a value.

    Missing values are below all cuts in the row of codes from ``at`` on, above them in the next one.
    """
    for r in range(n_rows):
        x[r] = X[first + r, np.uintp(search.feature)]
        rank[r] = np.uintp(0)
    step = np.uintp(search.step)
    while step > np.uintp(0):
        for r in range(np.uintp(TILE)):  # not row by row: the steps of one row wait for each other
            rank[r] += step * np.uintp(cuts[rank[r] + step - np.uintp(1)] < x[r])
        step >>= np.uintp(1)
    for r in range(n_rows):
        code = np.int8(np.intp(rank[r]) - 128)
        codes[at + r] = code
        codes[at + r + np.uintp(TILE)] = np.int8(127) if np.isnan(x[r]) else code


@njit(**INLINE)
def _encode_set(X, first, n_rows, test, sets, codes, at):
    """Codes of a nominal test: 1 for what goes right."""
    feature = np.uintp(test.feature)
    for r in range(n_rows):
        x = X[first + r, feature]
        codes[at + r] = test.missing_right if np.isnan(x) else _goes_right(np.uintp(x), sets, test.set_start)


@njit(**_PART)
def _find_leaves(X, first, n_rows, term, tests, sets, codes, at, leaf):
    """Leaves of a tile's rows in one DAG, from its last test to its first; where in ``leaf`` they are."""
    size = np.uintp(TILE)
    for j in range(term.n_tests - 1, -1, -1):
        test = tests[np.uintp(term.first_test + j)]
        own = at + np.uintp(test.codes) * size
        if test.set_start >= 0:
            _encode_set(X, first, n_rows, test, sets, codes, own)
        to = np.uintp(LEAVES + j) * size
        left, right = np.uintp(test.left) * size, np.uintp(test.right) * size
        for r in range(np.uintp(0), size, np.uintp(_BYTES)):
            _choose(leaf, to + r, left + r, right + r, codes, own + r, test.cut)
    return np.uintp(LEAVES * TILE if term.n_tests > 0 else 0)


@njit(**_EXACT)
def add_scores_in_tiles(
    tid, n_threads, sync, X, searches, cuts, tests, most_tests, terms, sets, values, at_once, first_term, begin, end,
    scores,
):  # fmt: skip
    """scores (n, K) += rounds ``begin`` to ``end``, as `add_scores`, of an ensemble as ``Tiles`` has it.

    A block of tiles goes through ``at_once`` rounds together, whose votes stay in the second-level
    cache; of these, a tile goes through all while its scores stay in the first.  Search s makes
    two rows of codes of its column, 2 s and 2 s + 1; the last row of codes is for the nominal test at hand.
    """
    n, n_labels = scores.shape
    lanes, size = np.uintp(values.shape[1]), np.uintp(TILE)
    votes = values.ravel()
    n_tiles = (n + TILE - 1) // TILE
    block_tiles = max(1, min(_BLOCK, n_tiles // n_threads))
    n_codes = np.uintp(2 * len(searches) + 1) * size
    codes = np.zeros(block_tiles * np.intp(n_codes), np.int8)
    leaf = np.empty((LEAVES + most_tests) * TILE, np.uint8)
    for i in range(LEAVES * TILE):
        leaf[i] = i // TILE
    x, rank = np.zeros(TILE), np.zeros(TILE, np.uintp)
    totals = np.zeros((block_tiles, TILE * values.shape[1]))
    product = np.zeros(TILE * values.shape[1])
    block = next_item(sync)
    while block * block_tiles < n_tiles:
        first_tile = block * block_tiles
        for i in range(first_tile, min(n_tiles, first_tile + block_tiles)):
            first, n_rows = np.uintp(i * TILE), np.uintp(min(n - i * TILE, TILE))
            at = np.uintp(i - first_tile) * n_codes
            for s in range(np.uintp(len(searches))):
                _encode(X, first, n_rows, searches[s], cuts[s], x, rank, codes, at + np.uintp(2) * s * size)
            for r in range(n_rows):
                for k in range(np.uintp(n_labels)):
                    totals[i - first_tile, r * lanes + k] = scores[first + r, k]
        for first_round in range(begin, end, at_once):
            for i in range(first_tile, min(n_tiles, first_tile + block_tiles)):
                first, n_rows = np.uintp(i * TILE), np.uintp(min(n - i * TILE, TILE))
                at = np.uintp(i - first_tile) * n_codes
                total = totals[i - first_tile]
                for t in range(first_round, min(first_round + at_once, end)):
                    a, b = first_term[t], first_term[t + 1]
                    for number in range(a, b):
                        term = terms[number]
                        found = _find_leaves(X, first, n_rows, term, tests, sets, codes, at, leaf)
                        first_leaf = np.uintp(term.first_leaf)
                        if b == a + 1:
                            _add_votes(total, votes, first_leaf, leaf, found, n_rows, lanes)
                        elif number == a:
                            _copy_votes(product, votes, first_leaf, leaf, found, n_rows, lanes)
                        else:
                            _multiply_votes(product, votes, first_leaf, leaf, found, n_rows, lanes)
                    if b > a + 1:
                        for j in range(n_rows * lanes):
                            total[j] += product[j]
        for i in range(first_tile, min(n_tiles, first_tile + block_tiles)):
            first, n_rows = np.uintp(i * TILE), np.uintp(min(n - i * TILE, TILE))
            for r in range(n_rows):
                for k in range(np.uintp(n_labels)):
                    scores[first + r, k] = totals[i - first_tile, r * lanes + k]
        block = next_item(sync)
