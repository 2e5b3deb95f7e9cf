"""Samples drawn by their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import ROW_SAMPLERS, RowSampler


@ROW_SAMPLERS.register
@dataclass(frozen=True)
class MinimalVariance(RowSampler):
    """Minimal variance sampling (Ibragimov and Gusev 2019): heavy samples are drawn more often, and count less.

    Sample i is drawn with probability p_i = min(1, s_i / mu), where s_i^2 = sum over labels of G^2 + lambda H^2, and
    counts 1 / p_i times, so that the sums over the leaves are those of all samples on average.  mu is such that the
    expected share is ``share``, lambda = (sum |G| / sum H)^2.  Where a loss has no curvature, s_i is the length of G.

    Parameters
    ----------
    share : float, default=0.2
        Of the samples, in (0, 1].
    """

    share: float = 0.2
    name = "mvs"

    def __post_init__(self):
        if not 0 < self.share <= 1:
            raise ValueError(f"MinimalVariance(share={self.share!r}): a share is above 0 and at most 1")

    def rows(self, run):
        n = run.n_samples
        chance = None if self.share == 1 else self.chances(run.pull, run.curvature, self.share)
        if chance is None:
            return None
        drawn = np.random.default_rng((run.seed, run.n_rounds)).random(n) < chance
        return np.divide(1.0, chance, out=np.zeros(n), where=drawn)

    @staticmethod
    def chances(pull: np.ndarray, curvature: np.ndarray | None, share: float) -> np.ndarray | None:
        """p of every sample, (n,); None where all pulls are 0.

        Parameters
        ----------
        pull : ndarray (n, K)
            G.
        curvature : ndarray (n, K) or None
            H, None where it is \\|G\\|.
        share : float
        """
        square = np.einsum("ij,ij->i", pull, pull)
        if curvature is not None and (total := float(np.abs(curvature).sum())) > 0:
            unit = float(np.abs(pull).sum()) / total
            square += unit**2 * np.einsum("ij,ij->i", curvature, curvature)
        size = np.sqrt(square)
        if not size.any():
            return None
        return np.minimum(1.0, size / threshold(size, share * size.size))


def threshold(size: np.ndarray, wanted: float) -> float:
    """mu > 0 with sum over i of min(1, size_i / mu) = wanted, or the nearest to it where too many sizes are 0.

    Those of at least mu count 1 each: with c of them mu is the sum of the others over wanted - c.  mu falls from step
    to step, and c rises until it stays as it is; where it would fall again, that is rounding.
    """
    count, mu = -1, np.inf
    while True:
        large = size >= mu
        if (now := int(np.count_nonzero(large))) <= count or now >= wanted:
            return mu
        found = float(size[~large].sum()) / (wanted - now)
        if found == 0:
            return float(size[size > 0].min())
        count, mu = now, found
