"""The labels that have most of the weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import LABEL_SAMPLERS, LabelSampler, check_size, count_of


@LABEL_SAMPLERS.register
@dataclass(frozen=True)
class Heaviest(LabelSampler):
    """Cuts are chosen by the labels with the largest sums of \\|G\\| (Iosipoi and Vakhrushev 2022: "top outputs").

    What has been learned has little weight, so the labels change from round to round.

    Parameters
    ----------
    size : int or float, default=0.1
        How many labels; below 1, and 1.0: the share of all.
    """

    size: float = 0.1
    name = "heaviest"

    def __post_init__(self):
        check_size(self, "labels")

    def count(self, n_labels):
        return count_of(self.size, n_labels)

    def labels(self, run):
        count, n_labels = self.count(run.n_labels), run.n_labels
        if count == n_labels:
            return None
        return np.sort(np.argsort(-run.weight_of_labels, kind="stable")[:count])
