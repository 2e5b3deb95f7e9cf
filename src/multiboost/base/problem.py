"""What a base learner is given: the binned table, G and H, and a criterion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..data.dataset import Dataset
from ..kernels.dtypes import EDGE, NEWTON, ROW, Z, lanes
from ..kernels.grow import new_subsets, new_tree
from ..kernels.histogram import Payload
from ..kernels.team import Team
from ..kernels.update import quantise
from .criterion import Criterion, Edge

_POOL_BYTES = 96 << 20  # of histograms that wait for subtraction
_WORTH_A_TEAM = 150_000  # additions of one pass below which one thread is faster


def new_payload(criterion: Criterion, n: int, n_labels: int, positive: np.ndarray | None) -> Payload:
    """Room for the payload.

    Parameters
    ----------
    positive : ndarray (n,) or None
        The one positive label of each sample, where there is exactly one.
    """
    dtype, _ = criterion.number(n * n_labels)
    half = lanes(n_labels)
    width = half if criterion.code == EDGE else 2 * half
    one_hot = criterion.code == Z and positive is not None
    dense = half if one_hot else width
    return Payload(
        dense=np.zeros(n * dense, dtype),
        lanes=dense,
        one_hot=one_hot,
        positive=np.asarray(positive, np.intp) + half if one_hot else np.zeros(0, np.intp),
        weight=np.zeros(n if one_hot else 0, dtype),
        half=half,
        width=width,
    )


@dataclass
class Problem:
    """One round's base learning problem.

    Attributes
    ----------
    dataset : Dataset
    criterion : Criterion
    pull, curvature : ndarray (n, K)
        G and H; curvature is (0, K) where H = |G|.
    payload : Payload
        The same in fixed point.
    unit : float
        What the total weight is in the payload.
    scale_g, scale_h : float
        Payload units of one unit of G and H.
    rows : ndarray of ROW
        The samples that take part.
    team : Team
    rooms : dict
        Growing room of trees, kept from round to round.
    seed : int
        Of whatever is random in a base learner.
    """

    dataset: Dataset
    criterion: Criterion
    pull: np.ndarray
    curvature: np.ndarray
    payload: Payload
    unit: float
    scale_g: float
    scale_h: float
    rows: np.ndarray
    team: Team
    rooms: dict = field(default_factory=dict)
    seed: int = 0
    level: int = 0  # how often labels were made virtual: each level has its own payload

    @property
    def n_rows(self) -> int:
        """Samples of the training set, whether they take part or not."""
        return self.pull.shape[0]

    @property
    def n_labels(self) -> int:
        return self.pull.shape[1]

    @property
    def ridge(self) -> float:
        """The criterion's ridge, or its smoothing, in payload units."""
        return self.criterion.ridge * self.scale_h

    @property
    def is_small(self) -> bool:
        """Whether a pass over the rows is too short to be worth a team."""
        return self.rows.size * (self.dataset.row_codes + 4) * self.payload.lanes < _WORTH_A_TEAM

    def room(self, n_leaves: int, cut):
        """Growing room for a tree of so many leaves, and for the sets of its nominal cuts."""
        payload, blocks = self.payload, self.dataset.blocks
        key = (n_leaves, payload.width, payload.dense.dtype.num, cut.kinds)
        if key not in self.rooms:
            tree = new_tree(
                self.n_rows, n_leaves, blocks, payload.width, payload.dense.dtype, self.team.n_threads, _POOL_BYTES
            )
            self.rooms[key] = tree, new_subsets(n_leaves, blocks, self.n_labels, self.seed)
        tree, subsets = self.rooms[key]
        return tree, None if subsets is None else subsets._replace(n_starts=cut.starts, constant=cut.constant)

    def on_rows(self, rows: np.ndarray) -> Problem:
        """The same problem for some of the samples."""
        return replace(self, rows=rows.astype(ROW, copy=False))

    def with_votes(self, signs: np.ndarray, criterion: Criterion | None = None) -> Problem:
        """The problem with virtual labels y' = y signs (Kegl 2011, Figure 3.11, line 9).

        Parameters
        ----------
        signs : ndarray (n, K) of +1 and -1
        criterion : Criterion or None
            Another criterion for the same G and H.
        """
        criterion = criterion or self.criterion
        pull = self.pull * signs
        key = ("payload", criterion.code, self.level + 1)
        if key not in self.rooms:
            self.rooms[key] = new_payload(criterion, self.n_rows, self.n_labels, None)
        payload = self.rooms[key]
        unit = 2.0 ** criterion.number(pull.size)[1]
        scale_g, scale_h = self.scale_g / self.unit * unit, self.scale_h / self.unit * unit
        self.team.run(quantise, criterion.code, pull, self.curvature, payload, scale_g, scale_h, alone=self.is_small)
        return replace(
            self, criterion=criterion, pull=pull, payload=payload, unit=unit, scale_g=scale_g, scale_h=scale_h,
            level=self.level + 1,
        )  # fmt: skip

    def for_edge(self) -> Problem:
        """The same problem under the edge criterion."""
        if self.criterion.code == EDGE:
            return self
        return self.with_votes(np.ones((1, self.n_labels)), Edge())

    def sums(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of G and H over some samples, each (K,)."""
        g = self.pull[rows]
        h = self.curvature[rows] if self.criterion.code == NEWTON and self.curvature.size else np.abs(g)
        return g.sum(axis=0), h.sum(axis=0)
