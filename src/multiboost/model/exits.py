"""An ensemble arranged for many rows that may leave; derived from its tiles, never saved."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..kernels.leave import leave_in_tiles
from ..kernels.predict import LEAVES, TILE
from ..kernels.team import Team
from .ensemble import Ensemble
from .policy import Policy
from .rearranged import is_in_pieces, rounds_of

# Tiles whose rows move together: the more, the fuller tiles stay, but their values should fit into a cache.
_BLOCKS, _BLOCK_BYTES = (8, 32), 1 << 22


@dataclass
class Exits:
    """What `kernels.leave.leave_in_tiles` needs.

    Attributes
    ----------
    ensemble : Ensemble
    searches, cuts : ndarray
        As ``Tiles`` has them, those of the rounds before each exit for themselves.
    n_cuts : ndarray of int (searches,)
    first_search : ndarray of int (exits + 1,)
        Where those of each exit begin.
    tests : ndarray of TEST
    ends : ndarray of int (exits,)
        Rounds after which rows may leave; the last round is the last of them.
    margins : ndarray (exits,)
    """

    ensemble: Ensemble
    searches: np.ndarray
    cuts: np.ndarray
    n_cuts: np.ndarray
    first_search: np.ndarray
    tests: np.ndarray
    ends: np.ndarray
    margins: np.ndarray

    @classmethod
    def of(cls, ensemble: Ensemble, policy: Policy) -> Exits | None:
        """None where the ensemble cannot be arranged in tiles.

        Parameters
        ----------
        ensemble : Ensemble
        policy : Policy
            By which rows may only leave.
        """
        if ensemble.tiles is None or policy.exits is None or not is_in_pieces(ensemble):
            return None
        ends = np.append(policy.exits, ensemble.n_rounds)
        pieces = [rounds_of(ensemble, np.arange(a, b)).tiles for a, b in pairwise([0, *ends.tolist()])]
        tiles = [piece for piece in pieces if piece is not None]
        cuts = np.concatenate([piece.cuts for piece in tiles])
        n_cuts = np.isfinite(cuts).sum(axis=1)
        return cls(
            ensemble,
            np.concatenate([piece.searches for piece in tiles]),
            np.ascontiguousarray(cuts[:, : n_cuts.max(initial=0)]),
            n_cuts,
            np.cumsum([0, *(len(piece.searches) for piece in tiles)]),
            np.concatenate([piece.tests for piece in tiles]),
            ends,
            policy.cuts[np.minimum(ends, len(policy.cuts) - 1), 0],
        )

    def leave(self, X: np.ndarray, task_start, scores: np.ndarray, evaluated: np.ndarray, team: Team) -> None:
        """Scores and numbers of rounds of dense float64 rows X; scores begin as ``initial``."""
        tiles, threads = self.ensemble.tiles, team.n_threads
        assert tiles is not None
        row = 8 * (X.shape[1] // 16 * 2 + 3)  # an odd number of cache lines, else values of a column compete for a few
        block = int(np.clip(_BLOCK_BYTES // (8 * row * TILE), *_BLOCKS))
        block = max(1, min(block, -(-len(X) // TILE) // threads))
        lanes = tiles.values.shape[1]
        codes = np.empty((threads, (2 * np.diff(self.first_search).max() + 1) * TILE), np.uint8)
        leaves = np.empty((threads, LEAVES + tiles.terms["n_tests"].max(initial=0), TILE), np.uint8)
        leaves[:, :LEAVES] = np.arange(LEAVES)[:, None]
        team.run(
            leave_in_tiles, X, self.searches, self.n_cuts, self.cuts, self.first_search, self.tests, tiles.terms,
            self.ensemble.sets, tiles.values.ravel(), lanes, self.ensemble.first_term, self.ends, self.margins,
            task_start, block, np.empty((threads, TILE), np.int64), codes, leaves.reshape(threads, -1),
            np.zeros((threads, (block + 1) * TILE * lanes)), np.empty((threads, block * TILE), np.uintp),
            np.empty((threads, block * TILE, row)), scores, evaluated,
        )  # fmt: skip
