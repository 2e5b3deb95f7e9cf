"""F, G and H of the training set, and their payload, from one round to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.classifier import BaseClassifier
from ..base.problem import Problem, Pull, Rows, bounds_of, new_payload
from ..criteria import Criterion
from ..data.layout import Layout
from ..data.target import Target
from ..kernels.dtypes import NODE, ROW
from ..kernels.team import Team
from ..kernels.update import State, advance, chunk_starts, sweep_all, update_calls
from ..losses import Loss
from ..workspace import IN_MEMORY, InMemory

LEAST_EDGE = 1e-10  # in units of the total weight; below, a base classifier is no better than a coin

_APART = 4096  # bytes


def _far_from_others(workspace: InMemory, n: int, n_labels: int) -> np.ndarray:
    """A matrix of zeros, (n, n_labels), that is written while others are read.

    Before a loop in vector code the processor looks whether what it writes begins within a few hundred bytes of what it
    reads.  If so, it goes number by number, and sums have other bits.  So nothing else begins there.
    """
    gap = -(-_APART // (8 * n_labels))
    return workspace.zeros((n + 2 * gap, n_labels), np.float64)[gap : gap + n]


class Weights:
    """What boosting remembers of the training set.

    Parameters
    ----------
    layout : Layout
    target : Target
    loss : Loss
    criterion : Criterion
    team : Team
    scores : ndarray (n, K) float64
        F; changed by every round.
    seed : int
        Of whatever is random in a base learner.
    filled : bool
        Whether every round needs the payload of all samples and labels as they are; else ``problem`` makes it when it
        is asked for.

    Attributes
    ----------
    state : State
    bare : Problem
        The base learning problem of the next round; without a payload unless ``filled``.
    total : float
        Sum of |G|; 1 where the loss normalises its weights.
    """

    def __init__(
        self,
        layout: Layout,
        target: Target,
        loss: Loss,
        criterion: Criterion,
        team: Team,
        scores: np.ndarray,
        seed: int = 0,
        filled: bool = True,
    ):
        self.loss, self.target, self.team, self.filled = loss, target, team, filled
        n, n_labels = scores.shape
        chunk_start = chunk_starts(n, target.group_start)
        self.state = State(
            weighted=target.signed,
            wanted=target.wanted,
            scores=scores,
            pull=_far_from_others(layout.workspace, n, n_labels),
            curvature=_far_from_others(layout.workspace, n if loss.has_curvature else 0, n_labels),
            sense=np.zeros(0) if target.sense is None else target.sense,
            level=loss.levels(target),
            n_labels=n_labels,
            task_start=target.kind.task_start,
            task_class=target.task_class,
            task_weight=target.task_weight,
            group_start=target.group_start,
            order=np.arange(n if loss.of_queries else 0, dtype=np.intp),
            chunk_start=chunk_start,
            sums=np.zeros((chunk_start.size - 1, 4)),
        )
        self._flat = self.state.flat
        payload = new_payload(criterion, n, n_labels, target.positive, layout.workspace)
        steepest = (loss.largest_curvature or 0.0) if loss.has_curvature else 0.0
        self._calls = update_calls(loss.sweep, self._flat, criterion.layout, payload, steepest, filled)
        record = Pull(
            g=self.state.pull,
            h=self.state.curvature,
            payload=payload,
            bounds=bounds_of(criterion, layout, n_labels, team.n_threads, chunk_start.size - 1),
            unit=2.0 ** criterion.number(n * n_labels)[1],
            scale_g=1.0,
            scale_h=1.0,
            chunk_start=chunk_start,
        )
        every = layout.workspace.zeros(n, ROW)
        every[:] = np.arange(n, dtype=ROW)
        rows = Rows(every, np.zeros(0, ROW))
        self.bare = Problem(layout, criterion, record, rows, team, seed, wanted=target.numbers)
        self._out = np.zeros(5)
        self._advance(np.zeros((0, n), NODE), np.zeros(0, np.intp), np.zeros((0, n_labels)))

    @property
    def problem(self) -> Problem:
        """The base learning problem of the next round."""
        return self.bare if self.filled else self.bare.seen(None, None)

    @property
    def scores(self) -> np.ndarray:
        """F, (n, K)."""
        return self.state.scores

    @property
    def error(self) -> float:
        """Weight of the training errors; of numbers, what is left of the risk of a constant."""
        return self.target.error_of(float(self._out[0]), self.risk, self.scores)

    @property
    def risk(self) -> float:
        return float(self._out[1])

    @property
    def total(self) -> float:
        return float(self._out[2])

    def pull_at(self, scores: np.ndarray) -> np.ndarray:
        """G at other scores than F, (n, K), but for a common factor."""
        pull, curvature = (
            _far_from_others(IN_MEMORY, *matrix.shape) for matrix in (self.state.pull, self.state.curvature)
        )
        tried = self._flat._replace(
            scores=np.ascontiguousarray(scores).reshape(-1), pull=pull.reshape(-1), curvature=curvature.reshape(-1)
        )
        sweep_all(self.loss.shifted, self._calls, tried, np.zeros(4))
        return tried.pull.reshape(scores.shape)

    def is_useless(self, edge: float) -> bool:
        """Whether a base classifier of this edge is no better than a coin."""
        return edge < LEAST_EDGE * self.total

    def refitted(
        self, h: BaseClassifier, drawn: np.ndarray | None = None, times: np.ndarray | None = None
    ) -> BaseClassifier:
        """h with the leaf values that the loss asks for, if it does; products and curves have none of their own.

        drawn : the samples of the round, (n,) bool; None: all
        times : how often each of them counts, (n,); None: once
        """
        if len(h.terms) > 1 or h.is_curved:
            return h
        state = self.state if times is None else self.state._replace(weighted=self.state.weighted * times[:, None])
        values = self.loss.refit(h.leaf[0], len(h.votes), state, drawn)
        return h if values is None else h.with_votes(values)

    def add(self, h: BaseClassifier, edge: float = 0.0) -> None:
        """F += h, and what follows from it; ``edge`` is that of h, for the next round's bounds."""
        if h.is_curved:
            h.add_outputs(self.state.scores)
            self._advance(np.zeros((0, len(self.scores)), NODE), np.zeros(0, np.intp), h.votes[:0], edge)
            return
        offset = np.cumsum([0] + [len(dag.values) for dag in h.terms])[:-1]
        values = h.terms[0].values if len(h.terms) == 1 else np.concatenate([dag.values for dag in h.terms])
        self._advance(h.leaf, offset, values, edge)

    def _advance(self, leaf, offset, values, edge: float = 0.0) -> None:
        problem, record, loss = self.bare, self.bare.record, self.loss
        self.team.run(
            advance, loss.shifted, loss.normalised, self._calls, self._flat, leaf, offset, values,
            record.payload, record.bounds, record.unit, self._out, alone=problem.is_small,
        )  # fmt: skip
        if np.isnan(self._out[1:3]).any():
            raise ValueError(
                f"loss {loss.name!r}: the loss or the pull of a pair of the training set is NaN; a loss must be finite "
                "for all numbers that y holds and all scores"
            )
        # A new problem: what the old one has cached depends on the old weights.
        record = replace(record, scale_g=float(self._out[3]), scale_h=float(self._out[4]))
        self.bare = replace(problem, record=record, edge=edge)
