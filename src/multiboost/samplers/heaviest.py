"""The labels that have most of the weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .sampler import LABEL_SAMPLERS
from .some_labels import SomeLabels


@LABEL_SAMPLERS.register
@dataclass(frozen=True)
class Heaviest(SomeLabels):
    """Cuts are chosen by the labels with the largest sums of \\|G\\| (Iosipoi and Vakhrushev 2022: "top outputs").

    What has been learned has little weight, so the labels change from round to round.

    Parameters
    ----------
    size : int or float, default=0.1
        How many labels; below 1, and 1.0: the share of all.
    """

    size: float = 0.1
    name = "heaviest"

    def _choose(self, run, count):
        return np.argsort(-run.weight_of_labels, kind="stable")[:count]
