"""Scores of raw rows: find the leaf of every DAG, add up the votes of the leaves.

`add_scores` walks from test to test, row by row.  `add_scores_in_tiles` makes all tests of a
DAG for many rows at once: values become numbers of one byte, a test compares 32 of them, and
the leaves of a test are chosen row by row from those of its children, from the last test
up to the first.  No branch depends on a value, so that none is mispredicted.  Both add the
votes in the same order and give the same bits.

Votes that are polynomials of a column have kernels of their own, `add_curved_scores` and `add_curved_row`: they do what
the walk does, and put x into the polynomial of the leaf.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .compiler import INLINE, INNER, OPTIONS, njit
from .extremes import lesser
from .team import next_item

TILE = 64  # rows that go through a DAG together, so that it stays in the cache
LEAVES = 256  # of a DAG in tiles, at most: a leaf is a byte
CUTS = 255  # of a search, at most: the number of a value among them is a byte
_BYTES = 32  # in a vector

# A search finds the number of a column's value among sorted cuts, in steps that begin with
# ``step`` and are halved.
SEARCH = np.dtype([("feature", np.int32), ("step", np.int32)], align=True)
# A test by codes: above ``cut`` goes right.  ``codes`` is a row of codes.  ``left`` and ``right`` are rows of
# leaf numbers: row k below LEAVES holds k everywhere, a row above holds what a test has chosen.
TEST = np.dtype(
    [("set_start", np.intp), ("codes", np.int32), ("left", np.int32), ("right", np.int32), ("feature", np.int32),
     ("cut", np.uint8), ("missing_right", np.uint8)],
    align=True,
)  # fmt: skip
TERM = np.dtype([("first_test", np.intp), ("n_tests", np.intp), ("first_leaf", np.intp)], align=True)

# Bits are promised: no multiplication may be fused with an addition.
_EXACT = {**OPTIONS, "fastmath": False}


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
        above = builder.icmp_unsigned(">", _load(builder, rows(4, 5)), builder.shuffle_vector(cuts, cuts, zeros))
        chosen = builder.select(above, _load(builder, rows(0, 3)), _load(builder, rows(0, 2)))
        builder.store(chosen, rows(0, 1)).align = 1
        return context.get_dummy_value()

    index = types.uintp
    return types.void(leaf, index, index, index, codes, index, types.uint8), codegen


def _change(operation, n):
    @intrinsic
    def change(typingctx, array, i, by, j):
        """array[i : i+n] changes by by[j : j+n]."""

        def codegen(context, builder, signature, args):
            target = _vector(context, builder, signature, args, 0, 1, n)
            source = _vector(context, builder, signature, args, 2, 3, n)
            new = getattr(builder, operation)(_load(builder, target), _load(builder, source))
            builder.store(new, target).align = 1
            return context.get_dummy_value()

        return types.void(array, types.uintp, by, types.uintp), codegen

    return change


_add1, _add4, _add8 = (_change("fadd", n) for n in (1, 4, 8))
_multiply1, _multiply4, _multiply8 = (_change("fmul", n) for n in (1, 4, 8))


def _by_votes(change1, change4, change8):
    """A kernel that changes the lanes of every row of a tile by the votes of the row's leaf."""

    @njit(**INNER)
    def by_votes(array, votes, first_leaf, leaf, found, n_rows, lanes):
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

    return by_votes


_add_votes = _by_votes(_add1, _add4, _add8)
_multiply_votes = _by_votes(_multiply1, _multiply4, _multiply8)


@njit(**INLINE)
def _goes_right(category, sets, start):
    """Whether a category is in the set of a nominal test."""
    return (sets[np.uintp(start) + (category >> np.uintp(3))] >> (category & np.uintp(7))) & 1 != 0


@njit(**INLINE)
def next_of(node, x, feature, threshold, missing_right, child, set_start, sets):
    """Where a test sends one row x: another test, or ~ the number of a leaf."""
    k = np.uintp(node)
    value = x[np.uintp(feature[k])]
    right = value > threshold[k]
    if np.isnan(value):
        right = missing_right[k]
    elif sets.size > 0 and set_start[k] >= 0:
        right = _goes_right(np.uintp(value), sets, set_start[k])
    return child[k, np.uintp(right)]


@njit(**INLINE)
def leaf_of(node, x, feature, threshold, missing_right, child, set_start, sets):
    """Follow the tests from ``node`` to a leaf; x is one row."""
    while node >= 0:
        node = next_of(node, x, feature, threshold, missing_right, child, set_start, sets)
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
    products,
    scores,
):
    """scores (n, K) += rounds ``begin`` to ``end`` of the ensemble.

    Round t is the product of the terms first_term[t] up to first_term[t + 1]; a term
    begins at ``root``: a test, or ~ the number of a leaf.  A nominal column holds the
    numbers of categories; a test of it has a set of those that go right, eight to a byte,
    from ``set_start`` on (-1: a test of a number).  ``products`` (threads, K and more) is room to work in.
    """
    n, n_labels = scores.shape
    product = products[tid]
    tile = next_item(sync)
    while tile * TILE < n:
        for t in range(begin, end):
            a, b = first_term[t], first_term[t + 1]
            for i in range(tile * TILE, lesser(n, tile * TILE + TILE)):
                x = X[i]
                leaf = leaf_of(root[a], x, feature, threshold, missing_right, child, set_start, sets)
                if b == a + 1:
                    for k in range(n_labels):
                        scores[i, k] += values[leaf, k]
                else:
                    for k in range(n_labels):
                        product[k] = values[leaf, k]
                    for term in range(a + 1, b):
                        other = leaf_of(root[term], x, feature, threshold, missing_right, child, set_start, sets)
                        for k in range(n_labels):
                            product[k] *= values[other, k]
                    for k in range(n_labels):
                        scores[i, k] += product[k]
        tile = next_item(sync)


@njit(**INLINE)
def place_on(x, along, origin):
    """Where a row is on a curve; a missing value is at its origin."""
    if along < 0:
        return 0.0
    value = x[np.uintp(along)]
    return 0.0 if np.isnan(value) else value - origin


@njit(**INNER)
def on_curve(votes, first, step, degree, place):
    """A polynomial (Horner); its coefficients are ``step`` numbers apart, from ``first`` on."""
    total = votes[first + degree * step]
    for power in range(degree - 1, -1, -1):
        total = total * place + votes[first + power * step]
    return total


@njit(**_EXACT)
def add_curved_scores(
    tid, n_threads, sync, X, feature, threshold, missing_right, child, set_start, sets, values, root, first_term, along,
    degree, origin, begin, end, products, scores,
):  # fmt: skip
    """As `add_scores`, where the votes of term t are polynomials of degree[t] of the column along[t] minus the origin
    of the leaf; constants where along[t] is below 0.  The coefficients of a leaf are rows of ``values``, from its
    number on, which is also that of its ``origin``.
    """
    n, n_labels = scores.shape
    product, votes = products[tid], values.reshape(-1)
    tile = next_item(sync)
    while tile * TILE < n:
        for t in range(begin, end):
            for i in range(tile * TILE, lesser(n, tile * TILE + TILE)):
                x = X[i]
                for term in range(first_term[t], first_term[t + 1]):
                    leaf = leaf_of(root[term], x, feature, threshold, missing_right, child, set_start, sets)
                    place = place_on(x, along[term], origin[leaf])
                    for k in range(n_labels):
                        vote = on_curve(votes, leaf * n_labels + k, n_labels, degree[term], place)
                        product[k] = vote if term == first_term[t] else product[k] * vote
                for k in range(n_labels):
                    scores[i, k] += product[k]
        tile = next_item(sync)


@njit(**INLINE)
def _known(x, n_categories, row):
    """OUT row: x with NaN for what is not the number of a category."""
    for j in range(x.size):
        strange = n_categories[j] > 0 and not 0 <= x[j] < n_categories[j]
        row[j] = np.nan if strange else x[j]


@njit(**_EXACT)
def add_curved_row(
    x, n_categories, feature, threshold, missing_right, child, set_start, sets, votes, root, first_term, along, degree,
    origin, row, product, total,
):  # fmt: skip
    """`add_row` of an ensemble with curves, see `add_curved_scores`."""
    if x.size != n_categories.size:
        return False
    _known(x, n_categories, row)
    lanes = total.size
    for t in range(first_term.size - 1):
        for term in range(first_term[t], first_term[t + 1]):
            leaf = leaf_of(root[term], row, feature, threshold, missing_right, child, set_start, sets)
            place = place_on(row, along[term], origin[leaf])
            for k in range(lanes):
                vote = on_curve(votes, leaf * lanes + k, lanes, degree[term], place)
                product[k] = vote if term == first_term[t] else product[k] * vote
        for k in range(lanes):
            total[k] += product[k]
    return True


@njit(**INLINE)
def _by_lanes(change4, change1, array, votes, vote, lanes):
    """`_change` of all lanes of an array by those of a leaf."""
    if lanes == np.uintp(1):
        change1(array, np.uintp(0), votes, vote)
    for k in range(np.uintp(0), lanes & ~np.uintp(3), np.uintp(4)):
        change4(array, k, votes, vote + k)


@njit(**_EXACT)
def add_row(
    x, n_categories, feature, threshold, missing_right, child, set_start, sets, votes, root, first_term, row, product,
    total,
):  # fmt: skip
    """total (lanes,) += all rounds for one row x; false where x does not have the model's columns.

    ``n_categories`` of each column is 0 for numbers; what is not the number of a category is
    missing.  ``votes`` are those of all leaves, as lanes; ``row`` (n_features,) and ``product``
    (lanes,) are room to work in.
    """
    if x.size != n_categories.size:
        return False
    _known(x, n_categories, row)
    lanes = np.uintp(total.size)
    for t in range(first_term.size - 1):
        a, b = first_term[t], first_term[t + 1]
        if b == a + 1:
            leaf = leaf_of(root[a], row, feature, threshold, missing_right, child, set_start, sets)
            _by_lanes(_add4, _add1, total, votes, np.uintp(leaf) * lanes, lanes)
        else:
            for k in range(lanes):
                product[k] = 1.0
            for term in range(a, b):
                leaf = leaf_of(root[term], row, feature, threshold, missing_right, child, set_start, sets)
                _by_lanes(_multiply4, _multiply1, product, votes, np.uintp(leaf) * lanes, lanes)
            _by_lanes(_add4, _add1, total, product, np.uintp(0), lanes)
    return True


@njit(**INNER)
def encode(X, first, n_rows, search, cuts, x, number, codes, at):
    """Codes of a column: how many of the sorted cuts are below a value.

    Missing values are below all cuts in the row of codes from ``at`` on, above them in the next one.
    """
    for r in range(n_rows):
        x[r] = X[first + r, np.uintp(search.feature)]
        number[r] = 0
    step = np.uintp(search.step)
    while step > np.uintp(0):
        for r in range(n_rows):  # not row by row: the steps of one row wait for each other
            number[r] += step * np.uintp(cuts[number[r] + step - np.uintp(1)] < x[r])
        step >>= np.uintp(1)
    for r in range(n_rows):
        codes[at + r] = number[r]
        codes[at + r + np.uintp(TILE)] = CUTS if np.isnan(x[r]) else number[r]


@njit(**INLINE)
def _encode_set(X, first, n_rows, test, sets, codes, at):
    """Codes of a nominal test: 1 for what goes right."""
    feature = np.uintp(test.feature)
    for r in range(n_rows):
        x = X[first + r, feature]
        codes[at + r] = test.missing_right if np.isnan(x) else _goes_right(np.uintp(x), sets, test.set_start)


@njit(**INNER)
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


@njit(**{**INLINE, "fastmath": False})
def add_round_to_tile(
    X, first, n_rows, a, b, terms, tests, sets, votes, lanes, codes, at, leaf, product, total
):  # fmt: skip
    """total (rows, lanes) += the round of terms a up to b, for the rows of a tile whose codes begin at ``at``."""
    n_totals = np.uintp(TILE) * lanes
    if b > a + 1:
        for i in range(n_totals):
            product[i] = 1.0
    for term in range(a, b):
        found = _find_leaves(X, first, n_rows, terms[term], tests, sets, codes, at, leaf)
        first_leaf = np.uintp(terms[term].first_leaf)
        if b == a + 1:
            _add_votes(total, votes, first_leaf, leaf, found, n_rows, lanes)
        else:
            _multiply_votes(product, votes, first_leaf, leaf, found, n_rows, lanes)
    if b > a + 1:
        for i in range(n_totals):
            total[i] += product[i]


@njit(**_EXACT)
def add_scores_in_tiles(
    tid, n_threads, sync, X, searches, cuts, tests, terms, sets, votes, lanes, at_once, first_term, begin, end,
    block_tiles, all_numbers, all_codes, all_leaves, all_totals, scores,
):  # fmt: skip
    """scores (n, K) += rounds ``begin`` to ``end``, as `add_scores`, of an ensemble as ``Tiles`` has it.

    A block of tiles goes through ``at_once`` rounds together, whose votes stay in the second-level
    cache; a tile goes through all of these while its scores stay in the first.  Search s makes two
    rows of codes of its column, 2 s and 2 s + 1; the last row of codes is for the nominal test at hand.
    ``all_...`` is room to work in, a row for each thread.
    """
    n, n_labels = np.uintp(scores.shape[0]), np.uintp(scores.shape[1])
    lanes, size = np.uintp(lanes), np.uintp(TILE)
    numbers, codes, leaf, totals = all_numbers[tid], all_codes[tid], all_leaves[tid], all_totals[tid]
    product = totals[block_tiles * TILE * np.intp(lanes) :]
    n_codes, n_totals = np.uintp(2 * len(searches) + 1) * size, size * lanes
    rows_of_block = np.uintp(block_tiles) * size
    start = np.uintp(next_item(sync)) * rows_of_block
    while start < n:
        stop = lesser(start + rows_of_block, n)
        for first in range(start, stop, size):
            n_rows, tile = lesser(n - first, size), (first - start) // size
            for s in range(np.uintp(len(searches))):
                at = tile * n_codes + np.uintp(2) * s * size
                encode(X, first, n_rows, searches[s], cuts[s], product, numbers, codes, at)
            for r in range(n_rows):
                for k in range(n_labels):
                    totals[tile * n_totals + r * lanes + k] = scores[first + r, k]
        for first_round in range(begin, end, at_once):
            for first in range(start, stop, size):
                n_rows, tile = lesser(n - first, size), (first - start) // size
                total = totals[tile * n_totals :]
                for t in range(first_round, lesser(first_round + at_once, end)):
                    add_round_to_tile(
                        X, first, n_rows, first_term[t], first_term[t + 1], terms, tests, sets, votes, lanes, codes,
                        tile * n_codes, leaf, product, total,
                    )  # fmt: skip
        for first in range(start, stop, size):
            tile = (first - start) // size
            for r in range(lesser(n - first, size)):
                for k in range(n_labels):
                    scores[first + r, k] = totals[tile * n_totals + r * lanes + k]
        start = np.uintp(next_item(sync)) * rows_of_block
