"""What samplers of labels have in common that take so many."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from .sampler import LabelSampler, check_size, count_of


class SomeLabels(LabelSampler):
    """A sampler that takes as many labels in every round.

    Attributes
    ----------
    size : int or float
        How many labels; below 1, and 1.0: the share of all.
    """

    size: float

    def __post_init__(self):
        check_size(self, "labels")

    @abstractmethod
    def _choose(self, run, count: int) -> np.ndarray:
        """So many labels of the next round, in any order."""

    def count(self, n_labels):
        return count_of(self.size, n_labels)

    def labels(self, run):
        count = self.count(run.n_labels)
        return None if count == run.n_labels else np.sort(self._choose(run, count))
