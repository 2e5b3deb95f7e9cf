"""A very long run of boosting, in pieces: it may be killed at any time and goes on with the same bits.

A round depends on the scores F of the training set and on nothing else of the rounds before it.  So the state of a run
is F, the scores of the test set and the number of wrong test samples after every round; the rounds themselves are
forgotten piece by piece, and a piece costs the same at the end of a run as at its beginning.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numba import njit

from multiboost.base import base_learner_from
from multiboost.boosting.auto import Wishes, plan_of
from multiboost.boosting.plan import Plan
from multiboost.boosting.run import Run, Start
from multiboost.data.binned import Binned
from multiboost.data.kinds import recognise
from multiboost.data.table import as_table
from multiboost.data.target import Target
from multiboost.disk import whole_file
from multiboost.kernels.team import Team
from multiboost.losses import LOSSES
from multiboost.model.ensemble import Ensemble, EnsembleBuilder
from multiboost.samplers import AllRows, Share

from .data import Split
from .measure import commit, source

PIECE_ROUNDS = 2000
PIECE_SECONDS = 20.0  # what a killed run loses at most, and a little


class OtherRun(ValueError):
    """A state file belongs to a run on other data or with other parameters."""


class Busy(Exception):
    """Another process is at this run."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep other processes from a run; the system lets go of the lock of a process that is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"another process is at {path.name}") from None
        yield


def digest_of(split: Split) -> str:
    """A short name for the data: the same for the same numbers."""
    digest = hashlib.blake2b(digest_size=8)
    for array in split:
        digest.update(repr((array.shape, array.dtype.str)).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


class State:
    """What is known of a run: all that the table needs, and all that the run needs to go on.

    Attributes
    ----------
    parameters : dict
        Of the plan, see `plan_from`.
    data : str
        Digest of the split.
    n_test : int
    wrong : ndarray of int
        Wrong test samples after every round.
    scores, test_scores : ndarray (n, K) or None
        None before the first round.
    seconds : float
        Of training.
    stopped : str
        Why no further round is possible; empty where one is.
    origins : list of dict
        For every change of the program the first round that it made, its commit and digest.
    """

    def __init__(self, parameters: dict, data: str, n_test: int):
        self.parameters, self.data, self.n_test = parameters, data, n_test
        self.wrong = np.zeros(0, np.int32)
        self.scores: np.ndarray | None = None
        self.test_scores: np.ndarray | None = None
        self.seconds, self.stopped = 0.0, ""
        self.origins: list[dict] = []

    @property
    def rounds(self) -> int:
        return self.wrong.size

    @property
    def errors(self) -> np.ndarray:
        """Test error in per cent after every round."""
        return 100.0 * self.wrong / self.n_test

    _HEADER = ("parameters", "data", "n_test", "seconds", "stopped", "origins")

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        header = json.dumps({name: getattr(self, name) for name in self._HEADER})
        with whole_file(path) as file:
            np.savez(file, header=header, wrong=self.wrong, scores=self.scores, test_scores=self.test_scores)

    @classmethod
    def read(cls, path: Path) -> State:
        """The state that a file holds."""
        with np.load(path) as file:
            header = json.loads(str(file["header"]))
            state = cls(header["parameters"], header["data"], header["n_test"])
            state.seconds, state.stopped, state.origins = header["seconds"], header["stopped"], header["origins"]
            state.wrong, state.scores, state.test_scores = file["wrong"], file["scores"], file["test_scores"]
        return state


def plan_from(parameters: dict, target: Target) -> Plan:
    """The plan of a run.

    Parameters
    ----------
    parameters : dict
        ``base_learner``, ``votes`` and ``max_bins``; where votes are real also ``loss`` and ``learning_rate``; and
        ``subsample`` where rounds do not see all samples.
    """
    subsample = parameters.get("subsample")
    wishes = Wishes(
        base_learner_from(parameters["base_learner"]), parameters["votes"],
        LOSSES.get(parameters.get("loss", "exponential"))(), learning_rate=parameters.get("learning_rate"),
        rows=AllRows() if subsample is None else Share(subsample), max_bins=parameters["max_bins"], min_category_rows=1,
    )  # fmt: skip
    return plan_of(wishes, target)


class LongRun:
    """A run with its state file.

    Parameters
    ----------
    path : Path
        The state file; a run goes on from it where it is there.
    split : Split
    parameters : dict
        See `plan_from`.
    """

    def __init__(self, path: Path, split: Split, parameters: dict):
        self.path, self.split = path, split
        self.state = State(parameters, digest_of(split), len(split.y_test))
        if path.exists():
            found = State.read(path)
            for what, ours, theirs in (
                ("parameters", parameters, found.parameters),
                ("data", self.state.data, found.data),
            ):
                if ours != theirs:
                    raise OtherRun(
                        f"{path} is of a run with other {what}, {theirs}, not {ours}; "
                        "remove it, or keep this run in another folder"
                    )
            self.state = found

    def advance(
        self, rounds: int, threads: int, deadline: float = np.inf, report: Callable[[State], None] | None = None
    ) -> bool:
        """Go on up to ``rounds`` rounds; whether the run has them, or can have no more.

        Parameters
        ----------
        deadline : float
            Of `time.monotonic`; a piece ends there.
        report : callable
            Called with the state after every piece.
        """
        state = self.state
        if state.rounds >= rounds or state.stopped:
            return True
        table, test = as_table(self.split.X), as_table(self.split.X_test)
        kind = recognise(self.split.y)
        target = Target(kind, self.split.y)
        rows, truth = test.finite_rows(0, test.n_rows), kind.encode(self.split.y_test).ravel()
        program = {"commit": commit(), "source": source()}
        if not state.origins or any(state.origins[-1][name] != program[name] for name in program):
            state.origins.append({"first_round": state.rounds + 1, **program})
        with Team(threads) as team:
            binned = Binned.of(table, state.parameters["max_bins"], n_threads=threads)
            none, start = EnsembleBuilder(np.zeros(kind.n_labels), table.n_columns), None
            if state.scores is not None:
                start = Start(none.build(), state.scores, {})
            boosting = Run(plan_from(state.parameters, target), binned, target, team, start, last=True)
            boosting.n_rounds = state.rounds
            if state.test_scores is None:
                state.test_scores = np.tile(boosting.builder.initial, (test.n_rows, 1))
            state.scores = boosting.scores
            while state.rounds < rounds and not state.stopped and time.monotonic() < deadline:
                boosting.builder = EnsembleBuilder(np.zeros(kind.n_labels), table.n_columns)
                begin, busy = time.monotonic(), time.process_time()
                end = min(begin + PIECE_SECONDS, deadline)
                for _ in range(min(PIECE_ROUNDS, rounds - state.rounds)):
                    if not boosting.round():
                        state.stopped = boosting.stopped
                        break
                    if time.monotonic() >= end:
                        break
                # Not the time for which the process was suspended.
                state.seconds += min(time.monotonic() - begin, time.process_time() - busy)
                newest = wrong_after(boosting.builder.build(), rows, truth, state.test_scores, team)
                state.wrong = np.concatenate([state.wrong, newest])
                state.write(self.path)
                if report is not None:
                    report(state)
        return state.rounds >= rounds or bool(state.stopped)


def wrong_after(piece: Ensemble, rows: np.ndarray, truth: np.ndarray, scores: np.ndarray, team: Team) -> np.ndarray:
    """Wrong samples after every round of a piece; ``scores`` go on with it."""
    wrong = np.zeros(piece.n_rounds, np.int32)
    for t in range(piece.n_rounds):
        piece.add_scores(rows, scores, t, t + 1, team)
        wrong[t] = count_wrong(scores, truth)
    return wrong


@njit(cache=True)
def count_wrong(scores, truth):
    """How many rows have their highest score, the first of equal ones, elsewhere than at ``truth``."""
    n, n_labels = scores.shape
    wrong = 0
    for i in range(n):
        best = 0
        for k in range(1, n_labels):
            if scores[i, k] > scores[i, best]:
                best = k
        wrong += best != truth[i]
    return wrong
