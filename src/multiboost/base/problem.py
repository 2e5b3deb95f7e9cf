"""What a base learner is given: the binned table, G and H, and a criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np

from ..data.dataset import Dataset
from ..kernels.dtypes import EDGE, NEWTON, ROW, SIGN, Z, lanes
from ..kernels.edge import SHORT, Short, pairs_piece, short_of
from ..kernels.grow import with_pieces
from ..kernels.growing import Tree, new_subsets, new_tree
from ..kernels.heavy import SIZES, heavy_first, look_for_pairs
from ..kernels.histogram import Payload, with_loops
from ..kernels.pairs import Pairs, find_pairs, new_pairs, read_values, turn_values
from ..kernels.team import Team
from ..kernels.update import quantise, quantiser
from ..kernels.virtual import flip_labels, turn_rows
from .classifier import BaseClassifier
from .criterion import Criterion, Edge

# Weight of the rows or pairs that bounds of the edge leave out, in units of the last edge: less where columns are few,
# so that a row or pair more costs little and a column searched in vain as much as ever.
_LIGHT, _LIGHT_NARROW, _NARROW = 2.0**-5, 2.0**-8, 40
_PAIRS = 0.25  # heavy pairs, in units of all lanes, below which to add them one by one is faster
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
    return with_loops(
        Payload(
            dense=np.zeros(n * dense, dtype),
            lanes=dense,
            one_hot=one_hot,
            positive=np.asarray(positive, np.int32) + np.int32(half) if one_hot else np.zeros(0, np.int32),
            weight=np.zeros(n if one_hot else 0, dtype),
            half=half,
            width=width,
            sign=np.zeros(n, SIGN) if criterion.code == EDGE else None,
        )
    )


def new_short(criterion: Criterion, dataset: Dataset, n_labels: int, n_threads: int) -> Short | None:
    """Room for the short payload of the edge; None where cuts are searched without bounds."""
    if criterion.code != EDGE or not dataset.bounded:
        return None
    width = lanes(n_labels + 1)
    payload = Payload(
        dense=np.zeros(dataset.n_rows * width, SHORT),
        lanes=width,
        one_hot=False,
        positive=np.zeros(0, np.int32),
        weight=np.zeros(0, SHORT),
        half=width,
        width=width,
    )
    return short_of(with_loops(payload), n_labels, dataset.blocks, dataset.first_bin, n_threads)


@dataclass
class Problem:
    """One round's base learning problem.

    Attributes
    ----------
    dataset : Dataset
    criterion : Criterion
    true_pull, curvature : ndarray (n, K)
        G and H of the round; curvature is (0, K) where H = |G|.
    signs : callable or None
        What makes labels virtual: returns the (n, K) signs by which G is multiplied.
    payload : Payload
        The same in fixed point.
    short : Short or None
        The same, shorter, for bounds of the edge.
    unit : float
        What the total weight is in the payload.
    scale_g, scale_h : float
        Payload units of one unit of G and H.
    rows : ndarray of ROW
        The samples that take part.
    others : ndarray of ROW
        Samples that do not, but are asked which leaf they are in.
    team : Team
    rooms : dict
        Growing room of trees, kept from round to round.
    seed : int
        Of whatever is random in a base learner.
    """

    dataset: Dataset
    criterion: Criterion
    true_pull: np.ndarray
    curvature: np.ndarray
    payload: Payload
    short: Short | None
    unit: float
    scale_g: float
    scale_h: float
    rows: np.ndarray
    team: Team
    rooms: dict = field(default_factory=dict)
    seed: int = 0
    edge: float = 0.0  # of the last round: bounds need not be much finer
    others: np.ndarray = field(default_factory=lambda: np.zeros(0, ROW))
    signs: Callable[[], np.ndarray] | None = None
    level: int = 0  # how often labels were made virtual: each level has its own payload
    origin: Problem | None = None  # under the edge, the same before labels were made virtual by signs of samples
    label_signs: np.ndarray | None = None  # (K,) +1 and -1 that the payload lacks: edges do not need them

    @property
    def n_rows(self) -> int:
        """Samples of the training set, whether they take part or not."""
        return self.true_pull.shape[0]

    @property
    def n_labels(self) -> int:
        return self.true_pull.shape[1]

    @cached_property
    def pull(self) -> np.ndarray:
        """G, of virtual labels where they are; made when somebody asks, as the edge needs the payload only."""
        return self.true_pull if self.signs is None else self.true_pull * self.signs()

    @property
    def ridge(self) -> float:
        """The criterion's ridge, or its smoothing, in payload units."""
        return self.criterion.ridge * self.scale_h

    @property
    def is_small(self) -> bool:
        """Whether a pass over the rows is too short to be worth a team."""
        return (self.rows.size + self.others.size) * (self.dataset.row_codes + 4) * self.payload.lanes < _WORTH_A_TEAM

    def room(self, n_leaves: int, cut):
        """Growing room for a tree of so many leaves, and for the sets of its nominal cuts."""
        payload, blocks = self.payload, self.dataset.blocks
        key = (n_leaves, payload.width, payload.dense.dtype.num, cut.kinds)
        if key not in self.rooms:
            # Short histograms have as many places; with few labels their rows are the longer ones.
            row, short = payload.width * payload.dense.itemsize, self.short
            longest = max(row, short.payload.width * short.payload.dense.itemsize) if short is not None else row
            tree = new_tree(
                self.n_rows, n_leaves, blocks, payload.width, payload.dense.dtype, self.team.n_threads,
                _POOL_BYTES * row // longest,
            )  # fmt: skip
            subsets = new_subsets(n_leaves, blocks, self.n_labels, self.seed)
            self.rooms[key] = with_pieces(tree, blocks, payload, self.short, subsets), subsets
        tree, subsets = self.rooms[key]
        return tree, subsets._replace(n_starts=cut.starts, constant=cut.constant)

    def rows_for(self, room: Tree) -> tuple[np.ndarray, Short | None]:
        """The samples in the order in which a tree is grown, and what is known of their weights."""
        rows, short = self.rows.astype(ROW, copy=True), self.short
        if short is None:
            return rows, None
        rounding = int(short.lost.sum())
        places = room.pool.shape[0]
        if places > 2:  # histograms are kept for subtraction, the root's too, which therefore has all rows
            key = ("short pool", places)
            if key not in self.rooms:
                size = self.dataset.blocks.n_rows * short.payload.width
                self.rooms[key] = np.empty((places, size), SHORT)
            pool = self.rooms[key]
            return rows, self._turned_short()._replace(heavy=rows.size, light=0, rounding=rounding, pool=pool)
        if self.heavy_pairs is not None:
            pairs, light = self.heavy_pairs
            if self.label_signs is not None:
                turned = pairs._replace(value=np.empty_like(pairs.value), total=np.empty_like(pairs.total))
                turn_values(pairs, self.payload.sign, turned)
                pairs = turned
            return rows, short._replace(heavy=0, light=light, pairs=pairs, rounding=rounding)
        heavy, light = heavy_first(short.mass, self.rows, self._light, self._sizes, rows)
        return rows, self._turned_short()._replace(heavy=heavy, light=light, rounding=rounding)

    def _turned_short(self) -> Short:
        """The short payload with the signs of the samples."""
        assert self.short is not None
        if self.label_signs is None:
            return self.short
        source = self.short.payload
        key = "turned"
        if key not in self.rooms:
            self.rooms[key] = np.empty(source.dense.size, SHORT)
        turned = self.rooms[key]
        self.team.run(
            turn_rows, source.dense, source.lanes, self.n_labels, self.payload.sign, turned, alone=self.is_small
        )
        return self.short._replace(payload=source._replace(dense=turned))

    @cached_property
    def heavy_pairs(self) -> tuple[Pairs, int] | None:
        """The pairs that have almost all of the weight, and that of the others; None where they are not few.

        Signs of labels make no difference.
        """
        if self.origin is not None:
            return self.origin.heavy_pairs
        if self.short is None:
            return None
        blocks = self.dataset.blocks
        least, n_pairs = look_for_pairs(self.payload, self.n_labels, self.rows, self._light, self._sizes)
        with_rows = self.dataset.grouped
        if n_pairs + with_rows * self.rows.size >= _PAIRS * self.rows.size * self.short.payload.lanes:
            return None
        key = "pairs piece"
        if key not in self.rooms:
            self.rooms[key] = pairs_piece(blocks, self.short)
        first, row, light = find_pairs(self.payload, self.short.mass, self.n_labels, self.rows, least, with_rows)
        pairs = new_pairs(first, row, SHORT, blocks, self.rooms[key])
        read_values(pairs, self.short.payload)
        return pairs, light

    @property
    def _light(self) -> float:
        """Share of the weight that may be left out of bounds."""
        return (_LIGHT if self.dataset.blocks.column.size >= _NARROW else _LIGHT_NARROW) * self.edge

    @property
    def _sizes(self) -> np.ndarray:
        """Scratch of ``kernels.heavy``."""
        return np.zeros((2, SIZES), np.int64)

    def on_rows(self, rows: np.ndarray, others: np.ndarray) -> Problem:
        """The same problem for some of the samples; ``others`` are given leaves."""
        return replace(self, rows=rows.astype(ROW, copy=False), others=others.astype(ROW, copy=False), origin=None)

    def _room_for(self, criterion: Criterion) -> tuple[Payload, Short | None]:
        """Payloads of the next level of virtual labels."""
        key = ("payload", criterion.code, self.level + 1)
        if key not in self.rooms:
            payload = new_payload(criterion, self.n_rows, self.n_labels, None)
            self.rooms[key] = payload, new_short(criterion, self.dataset, self.n_labels, self.team.n_threads)
        return self.rooms[key]

    def without(self, terms: list[BaseClassifier]) -> Problem:
        """The problem with virtual labels: what the other terms of a product leave to be learned.

        Their labels are y' = y times the signs of ``terms`` (Kegl 2011, Figure 3.11, line 9).
        """
        if not terms:
            return self

        def signs() -> np.ndarray:
            product = np.ones((1, self.n_labels), np.int8)
            for h in terms:
                product = product * h.signs()
            return product if self.signs is None else product * self.signs()

        if self.criterion.code != EDGE:
            return self._quantised(self.criterion, signs)
        factors = [h.factors for h in terms]
        if None not in factors:
            return self._turned(factors, signs)
        payload, short = self._room_for(self.criterion)
        dags = [dag for h in terms for dag in h.terms]
        offset = np.cumsum([0] + [len(dag.values) for dag in dags])[:-1]
        negative = -np.concatenate([dag.values <= 0 for dag in dags]).astype(np.int32)
        leaf = terms[0].leaf if len(terms) == 1 else np.concatenate([h.leaf for h in terms])
        self.team.run(
            flip_labels, self.payload, self.short, leaf, offset, negative, payload, short, alone=self.is_small
        )
        if short is not None and self.short is not None:
            short = short._replace(mass=self.short.mass, lost=self.short.lost)
        return replace(self, payload=payload, short=short, signs=signs, level=self.level + 1, origin=None)

    def _turned(self, factors: list, signs: Callable[[], np.ndarray]) -> Problem:
        """The problem with labels multiplied by signs of samples and signs of labels.

        Of a cut v phi(x) the virtual labels are y v phi(x).  An edge is a sum over labels of absolute sums, in
        which v makes no difference: the payload stays as it is, but for a sign of every sample.
        """
        sign = reduce(np.bitwise_xor, (samples for samples, _ in factors), self.payload.sign)
        labels = reduce(np.multiply, (labels for _, labels in factors))
        return replace(
            self, payload=self.payload._replace(sign=sign), signs=signs, origin=self.origin or self,
            label_signs=labels if self.label_signs is None else labels * self.label_signs,
        )  # fmt: skip

    def _quantised(self, criterion: Criterion, signs: Callable[[], np.ndarray] | None) -> Problem:
        """The problem with G multiplied by signs, for any criterion."""
        payload, short = self._room_for(criterion)
        unit = 2.0 ** criterion.number(self.true_pull.size)[1]
        found = replace(
            self, criterion=criterion, payload=payload, short=short, unit=unit, scale_g=self.scale_g / self.unit * unit,
            scale_h=self.scale_h / self.unit * unit, signs=signs, level=self.level + 1,
            origin=None, label_signs=None,
        )  # fmt: skip
        self.team.run(
            quantise, quantiser(criterion.code, payload, self.n_labels), found.pull.reshape(-1),
            self.curvature.reshape(-1), payload, self.n_labels, short, found.scale_g, found.scale_h,
            alone=self.is_small,
        )  # fmt: skip
        return found

    def for_edge(self) -> Problem:
        """The same problem under the edge criterion."""
        if self.criterion.code == EDGE:
            return self
        return self._quantised(Edge(), self.signs)

    def sums(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of G and H over some samples, each (K,)."""
        g = self.pull[rows]
        h = self.curvature[rows] if self.criterion.code == NEWTON and self.curvature.size else np.abs(g)
        return g.sum(axis=0), h.sum(axis=0)
