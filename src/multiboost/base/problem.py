"""What a base learner is given: the binned table, G and H, and a criterion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np

from ..criteria import CRITERIA, PULL, PULL_AND_CURVATURE, WEIGHTS, Criterion
from ..data.layout import Layout
from ..data.sizes import size_of_labels
from ..kernels.calls import Calls
from ..kernels.dtypes import NODE, ROW, SCORE, SIGN, lanes
from ..kernels.edge import ROUNDED, Bounds, bounds_on, new_bounds
from ..kernels.grow import growth_calls, needed_of
from ..kernels.growing import Tree, new_subsets, new_tree
from ..kernels.histogram import Payload, lanes_of_a_pass, loops_of
from ..kernels.light_rows import SIZES, light_rows_last
from ..kernels.subset import Subsets
from ..kernels.team import Team
from ..kernels.update import quantise, quantise_calls
from ..kernels.virtual import flip_labels, turn_rows
from ..workspace import IN_MEMORY, InMemory
from .classifier import BaseClassifier

# Weight of the rows that bounds of the edge leave out, in units of the last edge.  Where columns are few it is less: a
# row costs little there, but to search a column in vain costs as much as ever.
_LIGHT, _LIGHT_NARROW, _NARROW = 2.0**-5, 2.0**-8, 40
_PACKED = 0.5  # share of the columns up to which they are laid out anew for a round
_POOL_BYTES = 96 << 20  # of histograms that wait for subtraction
_POOL_TOUCHED = 20 << 20  # where most columns are searched only if touched: small children are soon added up anew
_NO_RIDGE = 1e-6  # of least squares, in units of the mean weight of a row
_WORTH_A_TEAM = 150_000  # additions of one pass below which one thread is faster


def new_payload(
    criterion: Criterion, n: int, n_labels: int, positive: np.ndarray | None, workspace: InMemory = IN_MEMORY
) -> Payload:
    """Room for the payload.

    Parameters
    ----------
    criterion : Criterion
    n, n_labels : int
    positive : ndarray (n,) or None
        The one positive label of each sample, where there is exactly one.
    workspace : InMemory
    """
    dtype, _ = criterion.number(n * n_labels)
    half = lanes(n_labels)
    width = half if criterion.layout == PULL else 2 * half
    one_hot = criterion.layout == WEIGHTS and positive is not None
    dense = half if one_hot else width
    place = np.zeros(0, np.int32)
    if one_hot and positive is not None:
        place = workspace.zeros(n, np.int32)
        np.add(positive, np.int32(half), out=place)
    payload = Payload(
        dense=workspace.zeros(n * dense, dtype),
        lanes=dense,
        step=lanes_of_a_pass(dense),
        one_hot=one_hot,
        positive=place,
        weight=workspace.zeros(n if one_hot else 0, dtype),
        half=half,
        width=width,
        sign=workspace.zeros(n, SIGN) if criterion.bounded else None,
    )
    loops_of(payload)  # compiled now, while another process may be compiling what comes later
    return payload


def bounds_of(criterion: Criterion, layout: Layout, n_labels: int, n_threads: int, n_chunks: int) -> Bounds | None:
    """Room for the rounded payload of the edge; None where cuts are searched without bounds."""
    if not (criterion.bounded and layout.bounded):
        return None
    width = lanes(n_labels + 1)
    payload = Payload(
        dense=layout.workspace.zeros(layout.n_rows * width, ROUNDED),
        lanes=width,
        step=lanes_of_a_pass(width),
        one_hot=False,
        positive=np.zeros(0, np.int32),
        weight=np.zeros(0, ROUNDED),
        half=width,
        width=width,
    )
    return new_bounds(payload, n_labels, layout.blocks, layout.first_bin, n_threads, n_chunks)


@dataclass(frozen=True, eq=False)
class Pull:
    """G and H of a round, in double precision and in fixed point.

    Attributes
    ----------
    g, h : ndarray (n, K)
        h is (0, K) where H = |G|.
    payload : Payload
        Of the criterion, in fixed point; under virtual labels of these.
    bounds : Bounds or None
        The same, rounded to 32 bits, for bounds of the edge.
    unit : float
        What the total weight is in the payload.
    scale_g, scale_h : float
        Payload units of one unit of G and H.
    chunk_start : ndarray (chunks + 1,) intp
        Rows that are swept together.
    before : Pull or None
        The one whose arrays this one uses; kept, so that they are not given back too early.
    """

    g: np.ndarray
    h: np.ndarray
    payload: Payload
    bounds: Bounds | None
    unit: float
    scale_g: float
    scale_h: float
    chunk_start: np.ndarray
    before: Pull | None = None


class Rows(NamedTuple):
    """Samples of a round, and those that are left out but are asked which leaf they are in."""

    drawn: np.ndarray  # ROW
    left_out: np.ndarray  # ROW


class Virtual(NamedTuple):
    """What makes labels virtual."""

    signs: Callable[[], np.ndarray]  # returns the (n, K) signs by which G is multiplied
    labels: np.ndarray | None  # (K,) +1 and -1 that the payload lacks: edges do not need them


class Growth(NamedTuple):
    """A growing tree, the sets of its nominal cuts, and what its kernel calls."""

    tree: Tree
    subsets: Subsets
    calls: Calls
    loops: Calls
    bound_loops: Calls | None


class Scratch:
    """Arrays that are used again from round to round."""

    def __init__(self):
        self._kept: dict[tuple, Any] = {}
        self._free: dict[tuple, list] = {}
        self.touched = 0.0  # bytes of arrays on the disk since somebody asked, see ``touched``

    def keep(self, key: tuple, make: Callable[[], Any]):
        """What is used by one problem at a time, for the length of a call."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def keep_of(self, owner, key: tuple, make: Callable[[], Any]):
        """The same of things that belong to an owner: of each key, those of the last one are kept."""
        if key not in self._kept or self._kept[key][0] is not owner:
            self._kept[key] = owner, make()
        return self._kept[key][1]

    def room(self, key: tuple, size: int, dtype) -> np.ndarray:
        """So many numbers, of no value; fresh memory only where more are asked for than ever before.

        A system gives memory page by page, which takes longer than to write to it.
        """
        if key not in self._kept or self._kept[key].size < size:
            self._kept[key] = np.empty(size, dtype)
        return self._kept[key][:size]

    def lend(self, key: tuple, make: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        """What belongs to one problem as long as that lives; and how to give it back."""
        free = self._free.setdefault(key, [])
        thing = free.pop() if free else make()
        return thing, lambda: free.append(thing)


@dataclass(eq=False)
class Problem:
    """One round's base learning problem.

    Attributes
    ----------
    layout : Layout
    criterion : Criterion
    record : Pull
    rows : Rows
    team : Team
    seed : int
        Of whatever is random in a base learner.
    edge : float
        Of the last round: bounds need not be much finer.
    nodes : ndarray (m, columns) of bool or None
        Those columns of the user's table that may be cut, None: all.  Node i of a tree may cut nodes[i % m].
    labels : ndarray of intp or None
        Those by which cuts are chosen, None: all.  The payload is theirs; G, H and the votes are of all labels.
    virtual : Virtual or None
        Where labels are those of a term of a product.
    wanted : ndarray (n, 1) or None
        What base regressors should say, see ``data.median``.
    scratch : Scratch
    """

    layout: Layout
    criterion: Criterion
    record: Pull
    rows: Rows
    team: Team
    seed: int = 0
    edge: float = 0.0
    nodes: np.ndarray | None = None
    labels: np.ndarray | None = None
    virtual: Virtual | None = None
    wanted: np.ndarray | None = None
    scratch: Scratch = field(default_factory=Scratch)

    @property
    def columns(self) -> np.ndarray | None:
        """The columns that the first node may cut, (columns,) of bool; None: all."""
        return None if self.nodes is None else self.nodes[0]

    @property
    def n_rows(self) -> int:
        """Samples of the training set, whether they take part or not."""
        return self.record.g.shape[0]

    @property
    def n_labels(self) -> int:
        return self.record.g.shape[1]

    @property
    def n_sketched(self) -> int:
        """Labels by which cuts are chosen."""
        return self.n_labels if self.labels is None else self.labels.size

    def sketched(self, matrix: np.ndarray) -> np.ndarray:
        """Of a number for each pair, (n, K), those of the labels by which cuts are chosen."""
        if self.labels is None or matrix.size == 0:
            return matrix
        out = self.layout.workspace.zeros((len(matrix), self.labels.size), matrix.dtype)
        return np.take(matrix, self.labels, axis=1, out=out, mode="clip")  # else NumPy makes a copy first

    def empty_leaf(self, n_terms: int) -> np.ndarray:
        """Room for the leaf of each sample in each term of a base classifier, (terms, n)."""
        return self.layout.workspace.zeros((n_terms, self.n_rows), NODE)

    def column(self, j: int) -> np.ndarray:
        """One column of the training table, (n,) float64: NaN where a value is missing, numbers of categories."""
        (column,) = self.layout.table.columns(j, j + 1)
        if column.where is None:
            return column.values.astype(np.float64)
        values = np.zeros(self.n_rows)
        values[column.where] = column.values
        return values

    @cached_property
    def pull(self) -> np.ndarray:
        """G, of virtual labels where they are; made when somebody asks, as the edge needs the payload only."""
        return self.record.g if self.virtual is None else self.record.g * self.virtual.signs()

    @property
    def ridge(self) -> float:
        """The criterion's ridge in payload units."""
        record = self.record
        return self.criterion.ridge * (
            record.scale_h if self.criterion.layout == PULL_AND_CURVATURE else record.scale_g
        )

    @property
    def is_small(self) -> bool:
        """Whether a pass over the rows is too short to be worth a team."""
        n = self.rows.drawn.size + self.rows.left_out.size
        return n * (self.layout.row_codes + 4) * self.record.payload.lanes < _WORTH_A_TEAM

    def growth(self, n_leaves: int, cut) -> Growth:
        """What a tree of so many leaves is grown with."""
        payload, blocks, bounds = self.record.payload, self.layout.blocks, self.record.bounds

        def make() -> Growth:
            # The pool of rounded histograms has as many places.  With few labels its rows are the longer ones.
            row = payload.width * payload.dense.itemsize
            longest = max(row, bounds.payload.width * bounds.payload.dense.itemsize) if bounds is not None else row
            dtype, n_threads = payload.dense.dtype, self.team.n_threads
            pool_bytes = (_POOL_TOUCHED if self.layout.mostly_touched else _POOL_BYTES) * row // longest
            keep, workspace = self.scratch.keep, self.layout.workspace
            tree = new_tree(0, n_leaves, blocks, payload.width, dtype, n_threads, pool_bytes, self.scratch.room)
            tree = tree._replace(spare=keep(("spare",), lambda: workspace.zeros(self.n_rows, ROW)))
            subsets = new_subsets(n_leaves, blocks, self.n_sketched, self.seed, payload.width, dtype, n_threads)
            loops, bound_loops = loops_of(payload), None if bounds is None else loops_of(bounds.payload)
            calls = self.scratch.keep(
                ("calls", *alike, bounds is None, *needed_of(blocks, bounds is not None).values()),
                lambda: growth_calls(
                    self.criterion.searched_as, self.criterion.is_ours, tree, blocks, payload, loops, bounds,
                    bound_loops, subsets,
                ),
            )  # fmt: skip
            return Growth(tree, subsets, calls, loops, bound_loops)

        # Loops depend on the lanes of a sample, which are fewer where only the true labels have one positive each.
        alike = self.criterion.searched_as, payload.dense.dtype.num, payload.lanes
        # Eight lanes are all of four labels, or half of eight that have one positive each.
        room = payload.width, self.n_sketched
        growth = self.scratch.keep_of(self.layout, ("growth", self.layout.is_part, n_leaves, *alike, *room), make)
        tree = growth.tree
        tree.found["slot"] = -1  # of blocks that are not searched nothing is found
        if self.nodes is None:
            tree.open_block[:] = True
        else:
            tree = tree._replace(open=np.ascontiguousarray(self.nodes[:, blocks.column["feature"]]))
            some = tree.open.any(axis=0)
            tree.open_block[:] = [some[block["slot"] : block["slot_end"]].any() for block in blocks.block]
        subsets = growth.subsets._replace(n_starts=cut.starts, constant=cut.constant)
        return growth._replace(tree=tree, subsets=subsets)

    def rows_for(self, tree: Tree) -> tuple[np.ndarray, Bounds | None]:
        """The samples in the order in which a tree is grown, and what is known of their weights."""
        drawn, bounds = self.rows.drawn, self._bounds
        rows = self.layout.workspace.zeros(drawn.size + self.rows.left_out.size, ROW)
        if rows.size > tree.spare.size:
            raise ValueError("a sample can be drawn once only; give it a larger weight instead")
        rows[: drawn.size], rows[drawn.size :] = drawn, self.rows.left_out
        if bounds is None:
            return rows, None
        rounding = int(bounds.lost.sum())
        places = tree.pool.shape[0]
        if places > 2:  # the root's histogram is kept for subtraction, so it needs all rows
            size = self.layout.blocks.n_rows * bounds.payload.width
            pool = self.scratch.room(("pool of bounds",), places * size, ROUNDED).reshape(places, size)
            return rows, bounds._replace(heavy=drawn.size, light=0, rounding=rounding, pool=pool)
        share = (_LIGHT if self.layout.blocks.column.size >= _NARROW else _LIGHT_NARROW) * self.edge
        sizes = np.zeros((2, SIZES), np.int64)
        heavy, light = light_rows_last(bounds.mass, drawn, share, sizes, rows[: drawn.size])
        return rows, bounds._replace(heavy=heavy, light=light, rounding=rounding)

    @cached_property
    def _bounds(self) -> Bounds | None:
        """The rounded payload with the signs of the samples."""
        record = self.record
        bounds = record.bounds
        if bounds is None or self.virtual is None or self.virtual.labels is None:
            return bounds
        source = bounds.payload
        dense, back = self.scratch.lend(("rounded", source.dense.size), lambda: np.empty(source.dense.size, ROUNDED))
        finalize(self, back)
        self.team.run(
            turn_rows, source.dense, source.lanes, self.n_sketched, record.payload.sign, dense, alone=self.is_small
        )
        return bounds._replace(payload=source._replace(dense=dense))

    def on_rows(self, drawn: np.ndarray, left_out: np.ndarray) -> Problem:
        """The same problem for some of the samples; those left out are given leaves, too."""
        return replace(self, rows=Rows(drawn.astype(ROW, copy=False), left_out.astype(ROW, copy=False)))

    def seen(self, times: np.ndarray | None, labels: np.ndarray | None) -> Problem:
        """The same problem where samples count several times, and some of the labels choose the cuts.

        Parameters
        ----------
        times : ndarray (n,) or None
            G and H of sample i are ``times[i]`` times as large; None: once.
        labels : ndarray of intp, rising, or None
            See ``labels``.
        """
        old, backs = self.record, []

        def counted(matrix: np.ndarray) -> np.ndarray:
            if times is None or matrix.size == 0:
                return matrix
            workspace = self.layout.workspace
            out, back = self.scratch.lend(("counted", *matrix.shape), lambda: workspace.zeros(matrix.shape, SCORE))
            backs.append(back)
            return np.multiply(matrix, times[:, None], out=out)

        g, h, every = counted(old.g), counted(old.h), slice(None) if labels is None else labels
        unit, total = 2.0 ** self.criterion.number(g.size)[1], float(size_of_labels(g)[every].sum())
        total_h = float(size_of_labels(h)[every].sum()) if h.size else total
        found = replace(self, labels=labels)
        # Of some labels a sample has no positive one, or one.
        record = found._borrowed(
            self.criterion, old.payload.one_hot and labels is None, g=g, h=h, unit=unit,
            scale_g=unit / total if total > 0 else 0.0, scale_h=unit / total_h if total_h > 0 else 0.0,
        )  # fmt: skip
        for back in backs:
            finalize(record, back)
        found.record = record
        found._fill()
        return found

    def on_columns(self, columns: np.ndarray | None) -> Problem:
        """The same problem for some of the columns.

        Where they are few, they are laid out anew: then a round does not touch the others.

        Parameters
        ----------
        columns : ndarray (columns,) or (m, columns) of bool, or None
            See ``nodes``; None: all.
        """
        if columns is None:
            return replace(self, nodes=None)
        nodes = np.atleast_2d(columns)
        some: np.ndarray = nodes.max(axis=0)
        there = self.layout.blocks.column["feature"]
        if not self.layout.has_parts or some[there].sum() > _PACKED * there.size:
            return replace(self, nodes=nodes)
        layout, bounds = self.layout.part(some), self.record.bounds
        if bounds is not None:
            bounds = bounds_on(bounds, layout.blocks, layout.first_bin) if layout.bounded else None
        return replace(self, nodes=nodes, layout=layout, record=replace(self.record, bounds=bounds, before=self.record))

    def turned(self, step: int) -> Problem:
        """The same problem, with columns for node ``step`` where there were those for node 0."""
        return self if self.nodes is None else replace(self, nodes=np.roll(self.nodes, -step, axis=0))

    def _borrowed(self, criterion: Criterion, one_hot: bool = False, **changes) -> Pull:
        """A record with payloads of its own, which it gives back in the end.

        one_hot : whether its samples have the one positive label each that those of this payload have
        """
        n_threads, n_chunks, ours = self.team.n_threads, self.record.chunk_start.size - 1, self.record.payload
        positive = ours.positive - np.int32(ours.half) if one_hot else None

        def make() -> tuple[Payload, Bounds | None]:
            payload = new_payload(criterion, self.n_rows, self.n_sketched, positive, self.layout.workspace)
            return payload, bounds_of(criterion, self.layout, self.n_sketched, n_threads, n_chunks)

        # Bounds of a part have room for its columns only.
        key = "payload", criterion.name, one_hot, self.layout.bounded, self.layout.is_part, self.n_sketched
        (payload, bounds), back = self.scratch.lend(key, make)
        if bounds is not None and self.layout.is_part:
            bounds = bounds_on(bounds, self.layout.blocks, self.layout.first_bin)
        record = replace(self.record, payload=payload, bounds=bounds, before=self.record, **changes)
        finalize(record, back)
        return record

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
            return product if self.virtual is None else product * self.virtual.signs()

        payload = self.record.payload
        if payload.sign is None:
            return self._quantised(self.criterion, Virtual(signs, None))
        factors = [h.factors for h in terms]
        if None not in factors:
            return self._turned(factors, signs)
        record = self._borrowed(self.criterion)
        dags = [dag for h in terms for dag in h.terms]
        offset = np.cumsum([0] + [len(dag.values) for dag in dags])[:-1]
        negative = -self.sketched(np.concatenate([dag.values <= 0 for dag in dags]).astype(np.int32))
        leaf = terms[0].leaf if len(terms) == 1 else np.concatenate([h.leaf for h in terms])
        ours = self.record.bounds
        self.team.run(
            flip_labels, payload, ours, leaf, offset, negative, record.payload, record.bounds, alone=self.is_small
        )
        if ours is not None and record.bounds is not None:
            bounds = record.bounds._replace(mass=ours.mass, lost=ours.lost)
            record = replace(record, bounds=bounds, before=record)
        labels = None if self.virtual is None else self.virtual.labels
        return replace(self, record=record, virtual=Virtual(signs, labels))

    def _turned(self, factors: list, signs: Callable[[], np.ndarray]) -> Problem:
        """The problem with labels multiplied by signs of samples and signs of labels.

        Where the other terms are cuts v phi(x), the virtual label of sample i and label l is y_il s_i t_l.  The edge
        sums absolute values over l, so t_l cancels: the payload stays as it is, but for the sign s_i of every sample.
        """
        payload = self.record.payload
        sign = reduce(np.bitwise_xor, (samples for samples, _ in factors), payload.sign)
        labels = reduce(np.multiply, (labels for _, labels in factors))
        if self.virtual is not None and self.virtual.labels is not None:
            labels = labels * self.virtual.labels
        record = replace(self.record, payload=payload._replace(sign=sign), before=self.record)
        return replace(self, record=record, virtual=Virtual(signs, labels))

    def _quantised(self, criterion: Criterion, virtual: Virtual | None) -> Problem:
        """The problem with G multiplied by signs, for any criterion."""
        unit, old = 2.0 ** criterion.number(self.record.g.size)[1], self.record
        record = self._borrowed(
            criterion, unit=unit, scale_g=old.scale_g / old.unit * unit, scale_h=old.scale_h / old.unit * unit
        )
        found = replace(self, criterion=criterion, record=record, virtual=virtual)
        found._fill()
        return found

    def _fill(self) -> None:
        """The payload from G and H."""
        record, n_labels = self.record, self.n_sketched
        self.team.run(
            quantise, quantise_calls(self.criterion.layout, record.payload, n_labels),
            self.sketched(self.pull).reshape(-1), self.sketched(record.h).reshape(-1), record.payload, n_labels,
            record.chunk_start, record.bounds, record.scale_g, record.scale_h, alone=self.is_small,
        )  # fmt: skip

    def least_squares(self) -> Problem:
        """The problem of fitting what is wanted, with the weights of this one: G = w y and H = w."""
        weight = np.abs(self.pull)
        pull = weight * self.wanted
        criterion = CRITERIA.get("newton").of_run(_NO_RIDGE, self.n_rows)
        unit = 2.0 ** criterion.number(pull.size)[1]
        total = float(np.abs(pull).sum())
        record = self._borrowed(
            criterion, g=pull, h=weight, unit=unit, scale_g=unit / total if total > 0 else 0.0,
            scale_h=unit / float(weight.sum()),
        )  # fmt: skip
        found = replace(self, criterion=criterion, record=record, virtual=None)
        found._fill()
        return found

    def for_edge(self) -> Problem:
        """The same problem under the edge criterion."""
        if self.criterion.bounded:
            return self
        virtual = None if self.virtual is None else Virtual(self.virtual.signs, None)
        return self._quantised(CRITERIA.get("edge")(), virtual)

    def sums(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums of G and H over some samples, each (K,)."""
        g = self.pull[rows]
        curved = self.criterion.layout == PULL_AND_CURVATURE and self.record.h.size
        h = self.record.h[rows] if curved else np.abs(g)
        return g.sum(axis=0), h.sum(axis=0)
