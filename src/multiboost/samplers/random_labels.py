"""Some labels, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import LABEL_SAMPLERS, LabelSampler, check_size, count_of


@LABEL_SAMPLERS.register
@dataclass(frozen=True)
class RandomLabels(LabelSampler):
    """Cuts are chosen by a fresh random set of labels in every round.

    Parameters
    ----------
    size : int or float, default=0.1
        How many labels; below 1, and 1.0: the share of all.
    """

    size: float = 0.1
    name = "random"

    def __post_init__(self):
        check_size(self, "labels")

    def count(self, n_labels):
        return count_of(self.size, n_labels)

    def labels(self, run):
        count, n_labels = self.count(run.n_labels), run.n_labels
        if count == n_labels:
            return None
        return np.sort(np.random.default_rng((run.seed, 2, run.n_rounds)).permutation(n_labels)[:count])
