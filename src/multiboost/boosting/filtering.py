"""FilterBoost: boosting on examples that an oracle delivers and a filter accepts (Bradley and Schapire, NIPS 2007).

No training set is kept.  With F the sum of the rounds so far, an example is accepted with the probability

    q(x, y) = mean over labels of q_l,   q_l = 1 / (1 + exp(y_l F_l(x)))

and then its labels weigh q_l / sum of q_l, so that pairs of an example and a label come by the law that is in
proportion to q_l.  With one label this is the paper's filter.  A round is an ordinary round of a `Run` on fresh
accepted examples.  How far it goes is said by an edge that is estimated on other fresh examples, see `FreshEdge`.

**When it ends.**  A wrong label has q_l of at least 1/2, and a wrong answer has a wrong label.  So where more than a
share eps of the answers is wrong, examples are accepted with a probability of more than eps / (2 K), and n examples in
a row are all rejected with one of at most exp(-n eps / (2 K)).  Call r of the filter in attempt t gives up after
n = (2 K / eps) ln(r (r + 1) / delta_t): then the error is at most eps.

**What may go wrong.**  delta_t = delta / (3 t (t + 1)).  Over all calls of an attempt the filter gives up wrongly with
a probability of at most delta_t, as the sum of 1 / (r (r + 1)) is 1.  An edge is off by more than it says, on either
side, with at most delta_t each.  The sum over all attempts is delta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from ..data.binned import Binned
from ..data.categories import Categories
from ..data.kinds import LabelKind
from ..data.table import EncodedTable, Table
from ..data.target import Target
from ..kernels.team import Team
from ..model.ensemble import Ensemble, EnsembleBuilder
from ..steps import AlphaStep
from ..steps.alpha import alpha_of
from .callbacks import Callback
from .plan import Plan
from .run import Run, Start

COUNTS = ("examples", "accepted")  # so far, in the history
_ATTEMPTS = 5  # in a row to learn something, each from twice as many examples
_AT_ONCE = 64  # examples by which an edge is looked at; the rule looks at every single one of them


class Dry(Exception):
    """The filter has given up, or the oracle has ended; the message says which."""


@dataclass
class Accepted:
    """Examples that the filter has accepted.

    Attributes
    ----------
    table : EncodedTable
    labels : ndarray
        As the oracle has given them.
    signs : ndarray (n, K)
        Y in {-1, 0, +1}.
    weight : ndarray (n, K)
        Of labels, rows sum to 1.
    """

    table: EncodedTable
    labels: np.ndarray
    signs: np.ndarray
    weight: np.ndarray


class Filter:
    """Accepts examples by the scores of an ensemble; each example is looked at once.

    Parameters
    ----------
    batches : iterator of (Table, ndarray)
        Examples and their labels, checked.
    kind : LabelKind
    eps, delta : float
        See the module.
    team : Team
    seed : int

    Attributes
    ----------
    examples, accepted : int
        So far.
    ended : bool
        Whether the oracle has no more examples.
    """

    def __init__(
        self, batches: Iterator[tuple[Table, np.ndarray]], kind: LabelKind, eps: float, delta: float, team: Team, seed
    ):
        self._batches, self.kind, self.eps, self._delta, self._team = batches, kind, eps, delta, team
        self._random = np.random.default_rng(seed)
        self._ensemble: Ensemble | None = None
        self._rows: np.ndarray = np.zeros((0, 0))
        self._categories: list[Categories | None] | None = None
        self._at = 0
        self.examples = self.accepted = 0
        self.ended = False
        self.begin(1)

    def begin(self, attempt: int) -> None:
        """From now on calls are those of another attempt."""
        self.delta = self._delta / (3.0 * attempt * (attempt + 1))
        self._calls, self._rejected = 1, 0

    def follow(self, ensemble: Ensemble) -> None:
        """From now on examples are accepted by these scores."""
        self._ensemble = ensemble
        self._weigh()

    def _read(self) -> None:
        """The next batch."""
        try:
            table, self._labels = next(self._batches)
        except StopIteration:
            self.ended = True
            raise Dry("the oracle has no more examples") from None
        self._rows, self._categories, self._at = table.finite_rows(0, table.n_rows), table.categories, 0
        self._signs = self.kind.signs(self.kind.encode(self._labels))
        self._chance = self._random.random(table.n_rows)  # one number for each example, however batches are cut
        self._weigh()

    def _weigh(self) -> None:
        """q_l of the rest of the batch."""
        rest = slice(self._at, None)
        self._q = np.zeros(self._signs[rest].shape) if len(self._rows) else np.zeros((0, 0))
        if self._ensemble is None or self._at == len(self._rows):
            return
        scores = self._ensemble.scores(EncodedTable(self._rows[rest], self._categories), self._team)
        self._q = pair_weights(scores, self._signs[rest])

    def accept(self, n: int) -> Accepted:
        """The next ``n`` accepted examples.

        Raises
        ------
        Dry
            Where the filter gives up, or the oracle ends.
        """
        parts = []
        missing = n
        while missing > 0:
            if self._at == len(self._rows):
                self._read()
            rest = slice(self._at, None)
            accepted = np.flatnonzero(self._chance[rest] < acceptance(self._q, self._signs[rest]))[:missing]
            self._look_for_the_end(accepted, len(self._rows) - self._at if accepted.size < missing else None)
            used = int(accepted[-1]) + 1 if accepted.size == missing else len(self._rows) - self._at
            rows = self._at + accepted
            parts.append((self._rows[rows], self._labels[rows], self._signs[rows], self._q[accepted]))
            self.examples += used
            self.accepted += accepted.size
            self._at, self._q = self._at + used, self._q[used:]
            missing -= accepted.size
        rows, labels, signs, q = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return Accepted(EncodedTable(rows, self._categories), labels, signs, q / q.sum(axis=1, keepdims=True))

    def _look_for_the_end(self, accepted: np.ndarray, n_rows: int | None) -> None:
        """Count rejections between examples that are accepted, and after the last if the batch ends: ``n_rows``."""
        gaps = np.diff(accepted, prepend=-1) - 1
        for gap in gaps:
            self._give_up(self._rejected + int(gap))
            self._calls, self._rejected = self._calls + 1, 0
        if n_rows is not None:
            self._rejected += n_rows - (int(accepted[-1]) + 1 if accepted.size else 0)
            self._give_up(self._rejected)

    def _give_up(self, rejected: int) -> None:
        least = 2.0 * self.kind.n_labels / self.eps * np.log(self._calls * (self._calls + 1) / self.delta)
        if rejected >= least:
            raise Dry(f"{rejected} examples in a row were rejected: the error is at most {self.eps:g}")


def pair_weights(scores: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """q_l = 1 / (1 + exp(y_l F_l)) of pairs, 0 of unknown labels."""
    return np.where(signs == 0, 0.0, 0.5 * (1.0 - np.tanh(0.5 * signs * scores)))


def acceptance(q: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The probability of an example to be accepted: the mean of q over all labels that there are."""
    return q.sum(axis=1) / max(1, signs.shape[1])


def right_share(outputs: np.ndarray, accepted: Accepted) -> np.ndarray:
    """(n,) the weight of the labels that a base classifier is right about; half of it where it abstains."""
    return (accepted.weight * (0.5 + 0.5 * np.sign(outputs) * accepted.signs)).sum(axis=1)


@dataclass(frozen=True)
class FreshEdge(AlphaStep):
    """alpha of an edge that is estimated on fresh examples, by the paper's rule.

    With u the share of correct answers among m accepted examples minus 1/2, and a = sqrt(ln(m (m + 1) / delta_t) /
    (2 m)), examples are drawn while |u| < a (1 + 1 / tau).  By Hoeffding's inequality and a sum over m, u is more than
    a too large with a probability of at most delta_t.  So u / (1 + tau) is at most the edge 1/2 - error, and at least
    a part of 1 / (1 + 2 tau) of it.

    Parameters
    ----------
    filter : Filter
    tau : float
        In (0, 1).
    most : int
        Examples, at most: an edge that is not known then is too small.
    """

    filter: Filter | None = None
    tau: float = 0.5
    most: int = 100_000

    def __deepcopy__(self, memo):
        return self  # there is one oracle

    @property
    def ending(self):
        return "no base classifier has an edge that can be told from 0"

    def estimate(self, outputs: Callable[[Table], np.ndarray]) -> float:
        """A lower bound of the edge 1/2 - error of a base classifier; 0 where its edge is too small to be known."""
        assert self.filter is not None
        m, correct = 0, 0.0
        while m < self.most:
            # Examples behind the one that ends it are lost, so they are few at first.
            accepted = self.filter.accept(min(_AT_ONCE, self.most - m))
            right = correct + np.cumsum(right_share(outputs(accepted.table), accepted))
            count = m + 1.0 + np.arange(right.size)
            u = right / count - 0.5
            a = np.sqrt(np.log(count * (count + 1) / self.filter.delta) / (2 * count))
            enough = np.flatnonzero(np.abs(u) >= a * (1 + 1 / self.tau))
            if enough.size:
                return float(u[enough[0]] / (1 + self.tau))
            m, correct = m + right.size, float(right[-1])
        return 0.0

    def size(self, h, edge, run):
        alone = EnsembleBuilder(np.zeros(run.target.n_labels), run.n_columns)
        alone.append(h)
        ensemble = alone.build()
        found = self.estimate(lambda table: ensemble.scores(table, run.team))
        return alpha_of(2.0 * found) if found > 0 else 0.0


@dataclass
class Filtered:
    """A run on an oracle, as far as it has come.

    Attributes
    ----------
    run : Run or None
        Of the last round; None where no round was made.
    ensemble : Ensemble
    history : dict of list
        That of a `Run`, where ``edge`` is the estimate that alpha was made from, and risk, Z and training_error are
        those of the base classifier on its own sample; and `COUNTS`.
    ending : str
        Why there are no more rounds; empty where all were made.
    is_constant : bool
        Whether nothing could be learned.
    """

    run: Run | None
    ensemble: Ensemble
    history: dict[str, list[float]]
    ending: str = ""
    is_constant: bool = False


class _Watchers(ExitStack):
    """Callbacks of rounds each of which is a run of its own: they begin with the first, and end with the last."""

    def __init__(self, callbacks: Sequence[Callback], n_rounds: int):
        super().__init__()
        self.callbacks, self.n_rounds = callbacks, n_rounds
        self._run: Run | None = None

    def see(self, run: Run) -> None:
        """The next round begins."""
        run.wanted = self.n_rounds
        is_first, self._run = self._run is None, run
        for callback in self.callbacks if is_first else ():
            callback.begin(run)
            self.callback(self._end, callback)

    def _end(self, callback: Callback) -> None:
        callback.end(self._run)

    def is_over(self, run: Run) -> bool:
        """Whether a round was the last one."""
        stop = [callback.after_round(run) for callback in self.callbacks]  # all of them see the round
        return any(stop)


def filter_boost(
    plan: Plan,
    source: Filter,
    n_rounds: int,
    sample: int,
    step: FreshEdge,
    n_columns: int,
    callbacks: Sequence[Callback],
    team: Team,
) -> Filtered:
    """Rounds on accepted examples.

    Parameters
    ----------
    plan : Plan
        Of one round, with discrete votes.
    source : Filter
    n_rounds : int
        At most.
    sample : int
        Round t is learned on ``sample`` ln(t + 1) examples, after a failed attempt on twice as many.
    step : FreshEdge
    n_columns : int
    callbacks : sequence of Callback
    team : Team
    """
    with _Watchers(callbacks, n_rounds) as watchers:
        return _rounds(plan, source, n_rounds, sample, step, n_columns, watchers, team)


def _rounds(plan, source, n_rounds, sample, step, n_columns, watchers, team) -> Filtered:
    found = Filtered(None, EnsembleBuilder(np.zeros(source.kind.n_labels), n_columns).build(), {})
    failed = attempt = 0
    while found.ensemble.n_rounds < n_rounds:
        attempt += 1
        source.begin(attempt)
        source.follow(found.ensemble)
        n = int(np.ceil(sample * 2**failed * np.log(found.ensemble.n_rounds + 2)))
        try:
            run = _run_on(replace(plan, step=step), source.accept(max(2, n)), source.kind, found, team)
            watchers.see(run)
            helped = run.round()
        except Dry as end:
            return replace(found, ending=str(end))
        if not helped:
            failed += 1
            if failed == _ATTEMPTS:
                return replace(_constant(run, source) if found.run is None else found, ending=run.stopped)
            continue
        failed = 0
        run.history["edge"][-1] = float(np.tanh(run.history["alpha"][-1]))
        _count(run, source)
        found = Filtered(run, run.ensemble(), run.history)
        if watchers.is_over(run):
            return replace(found, ending=run.stopped or "a callback has ended it")
    return found


def _count(run: Run, source: Filter) -> None:
    """How many examples there were so far, into the history."""
    for name, value in zip(COUNTS, (source.examples, source.accepted), strict=True):
        run.history[name].append(float(value))


def _constant(run: Run, source: Filter) -> Filtered:
    """The best constant, where the first round finds nothing.  Scores of the filter are twice those of a `Run`."""
    run.add_constant()
    _count(run, source)
    return Filtered(run, run.ensemble().weighted(np.array([2.0])), run.history, is_constant=True)


def _run_on(plan: Plan, accepted: Accepted, kind: LabelKind, before: Filtered, team: Team) -> Run:
    """A run that can go on by one round.  The law of the examples is that of the scores, so here all scores are 0."""
    target = Target(kind, accepted.labels, "given", None, accepted.weight)
    start = Start(before.ensemble, np.zeros(accepted.signs.shape), before.history)
    binned = Binned.of(accepted.table, plan.max_bins, plan.min_category_rows, n_threads=team.n_threads)
    run = Run(plan, binned, target, team, start, last=True)
    for name in COUNTS:
        run.begin_column(name)
    return run
