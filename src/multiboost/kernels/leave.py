"""Scores of rows that leave where their margin is large, in tiles as `predict.add_scores_in_tiles`.

After each exit the rows that stay move together, so that tiles are full.  Values become codes from one exit to the
next, for the rows that are still there, and with the few cuts that the base classifiers in between have.
"""

import numpy as np

from .compiler import INLINE, INNER, njit
from .extremes import lesser
from .predict import CUTS, TILE, add_round_to_tile
from .team import next_item
from .walk import EXACT, margin_of


@njit(**INNER)
def _count(held, first, n_rows, feature, cuts, n_cuts, x, number, codes, at):
    """Codes of a column, as `predict.encode`: cuts are few, so all of them are compared, many rows at once."""
    for r in range(n_rows):
        x[r] = held[first + r, np.uintp(feature)]
        number[r] = 0
    for c in range(n_cuts):
        for r in range(np.uintp(TILE)):
            number[r] += np.int64(cuts[c] < x[r])
    for r in range(n_rows):
        codes[at + r] = number[r]
        codes[at + r + np.uintp(TILE)] = CUTS if np.isnan(x[r]) else number[r]


@njit(**{**INLINE, "fastmath": False})
def _move(r, to, n_columns, lanes, held, totals):
    """A row of a block goes to another place: its values and its scores."""
    for j in range(n_columns):
        held[to, j] = held[r, j]
    for k in range(lanes):
        totals[to * lanes + k] = totals[r * lanes + k]


@njit(**EXACT)
def leave_in_tiles(
    tid, n_threads, sync, X, searches, n_cuts, cuts, first_search, tests, terms, sets, votes, lanes, first_term, ends,
    margins, task_start, block_tiles, all_numbers, all_codes, all_leaves, all_totals, all_rows, all_held, scores,
    evaluated,
):  # fmt: skip
    """Scores (n, K), which begin as ``initial``, and the number of rounds of every row, (n,).

    Exit e is after round ends[e], for rows with a margin above margins[e]; the last one is the end, for all.  Searches
    first_search[e] up to first_search[e + 1] are those of the rounds before exit e.  ``all_...`` is room to work in, a
    row for each thread.
    """
    n, n_labels = np.uintp(scores.shape[0]), np.uintp(scores.shape[1])
    lanes, size = np.uintp(lanes), np.uintp(TILE)
    number, codes, leaf, totals = all_numbers[tid], all_codes[tid], all_leaves[tid], all_totals[tid]
    rows, held, n_columns = all_rows[tid], all_held[tid], X.shape[1]
    product = totals[block_tiles * TILE * np.intp(lanes) :]
    rows_of_block, n_totals = np.uintp(block_tiles) * size, size * lanes
    start = np.uintp(next_item(sync)) * rows_of_block
    while start < n:
        inside = lesser(rows_of_block, n - start)
        for r in range(inside):
            rows[r] = start + r
            for j in range(n_columns):
                held[r, j] = X[start + r, j]
            for k in range(n_labels):
                totals[r * lanes + k] = scores[start + r, k]
        begin = 0
        for e in range(len(ends)):
            for first in range(np.uintp(0), inside, size):
                n_rows, total = lesser(inside - first, size), totals[first * lanes : first * lanes + n_totals]
                at = np.uintp(0)
                for s in range(first_search[e], first_search[e + 1]):
                    _count(held, first, n_rows, searches[s].feature, cuts[s], n_cuts[s], product, number, codes, at)
                    at += np.uintp(2) * size
                for t in range(begin, ends[e]):
                    add_round_to_tile(
                        held, first, n_rows, first_term[t], first_term[t + 1], terms, tests, sets, votes, lanes, codes,
                        np.uintp(0), leaf, product, total,
                    )  # fmt: skip
            begin = ends[e]
            stay = np.uintp(0)
            for r in range(inside):
                own = totals[r * lanes : r * lanes + n_labels]
                if e == len(ends) - 1 or margin_of(own, task_start) > margins[e]:
                    for k in range(n_labels):
                        scores[rows[r], k] = own[k]
                    evaluated[rows[r]] = ends[e]
                else:
                    rows[stay] = rows[r]
                    if stay < r:
                        _move(r, stay, n_columns, lanes, held, totals)
                    stay += np.uintp(1)
            inside = stay
            if inside == np.uintp(0):
                break
        start = np.uintp(next_item(sync)) * rows_of_block
