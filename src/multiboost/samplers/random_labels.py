"""Some labels, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import LABEL_SAMPLERS
from .some_labels import SomeLabels


@LABEL_SAMPLERS.register
@dataclass(frozen=True)
class RandomLabels(SomeLabels):
    """Cuts are chosen by a fresh random set of labels in every round.

    Parameters
    ----------
    size : int or float, default=0.1
        How many labels; below 1, and 1.0: the share of all.
    """

    size: float = 0.1
    name = "random"

    def _choose(self, run, count):
        return np.random.default_rng((run.seed, 2, run.n_rounds)).permutation(run.n_labels)[:count]
