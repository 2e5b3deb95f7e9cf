"""Checkpoints: a run that is killed goes on as if nothing had happened, bit for bit.

A checkpoint is a model file with what the run needs besides: the scores F of the training
set, and fingerprints of the training set and the plan, so that a run is not continued
with other data.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..boosting.callbacks import Callback
from ..boosting.plan import Plan
from ..boosting.run import Run, Start
from ..model.model import Model
from ..model.modelfile import ModelFileError, read_large
from ..model.storage import WRONG, load_with, save
from ..workspace import IN_MEMORY, InMemory

SCORES = "run.scores"
# Parameters that may differ: how long to go on.
_FREE = ("n_estimators", "warm_start")


class Checkpoint(Callback):
    """Writes a checkpoint every so many seconds, and at the end.

    Parameters
    ----------
    path : str or path
    every : float
        Seconds.
    model_of : callable
        The model of so many rounds.
    """

    def __init__(self, path, every: float, model_of: Callable[[int], Model]):
        self.path = Path(path)
        self.every = every
        self.model_of = model_of

    def begin(self, run):
        self._last = perf_counter()
        self._fingerprint = run.fingerprint()
        self._written = run.n_rounds

    def after_round(self, run):
        if perf_counter() - self._last >= self.every:
            self._write(run)
        return False

    def end(self, run):
        if run.consistent and run.n_rounds > self._written:
            self._write(run)

    def _write(self, run: Run) -> None:
        more = {"run": {"fingerprint": self._fingerprint}}
        save(self.model_of(run.n_rounds), self.path, more, {SCORES: run.scores})
        self._written = run.n_rounds
        self._last = perf_counter()


class Resumed:
    """What a checkpoint says.

    Attributes
    ----------
    path : str or path
    model : Model
        The rounds so far.
    plan : Plan
    """

    def __init__(self, path):
        self.path = path
        self.model, header = load_with(path)[:2]
        try:
            self._shape = read_large(path, SCORES, None) if isinstance(header.get("run"), dict) else ()
        except KeyError:
            self._shape = ()
        if not self._shape:
            raise ModelFileError(f"{path} is a model, not a checkpoint: a run cannot go on from it")
        if header["schema"] < 2:
            raise ModelFileError(
                f"{path} is a checkpoint of an older version: its model can be loaded, but a run cannot go on from it; "
                "start anew without resume"
            )
        try:
            self._fingerprint = dict(header["run"]["fingerprint"])
            self.plan = Plan.from_dict(self.model.plan)
        except WRONG as error:
            raise ModelFileError(f"{path} is not a checkpoint that can be used here: {error}") from error

    def check_parameters(self, given: dict[str, Any]) -> None:
        """Refuse to go on with other parameters.

        Parameters
        ----------
        given : dict
            As a model file has them.
        """
        for name, value in self.model.parameters.items():
            if name in given and name not in _FREE and given[name] != value:
                raise ValueError(
                    f"{self.path} was written by a run with {name}={value!r}, this one has {given[name]!r}; go on with "
                    "the same parameters, or start anew without resume"
                )

    def start(self, shape: tuple[int, int], workspace: InMemory = IN_MEMORY) -> Start:
        """Where the run goes on from.

        Parameters
        ----------
        shape : tuple
            Samples and labels of the training set.
        workspace : InMemory
            Where the scores are put.
        """
        if self._shape != shape:
            raise ValueError(
                f"{self.path}: its run had {self._shape} samples and labels, this one has {shape}; go on with "
                "the same table"
            )
        scores = workspace.zeros(shape, np.float64)
        if read_large(self.path, SCORES, lambda there: scores if there == shape else np.zeros(there)) != shape:
            raise ModelFileError(f"{self.path} has changed since it was looked at")
        return Start(self.model.ensemble, scores, self.model.history, self.model.state)

    def check(self, run: Run) -> None:
        """Refuse to go on with other data."""
        now, then = run.fingerprint(), self._fingerprint
        for what, digest in now.items():
            if then.get(what) != digest:
                raise ValueError(
                    f"{self.path} was written by a run on other data or with other weights: the {what} are not the "
                    "same; go on with the same table and weights, or start anew without resume"
                )
