"""Checkpoints: a run that is killed goes on as if nothing had happened, bit for bit.

A checkpoint is a model file with what the run needs besides: the scores F of the training
set, and a fingerprint of the training set and the settings, so that a run is not continued
with other data.
"""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path
from time import perf_counter

import numpy as np

from ..base import spec_of
from ..boosting.callbacks import Callback
from ..boosting.loop import Boosting
from ..boosting.settings import Settings
from ..data.target import Target
from ..ensemble.modelfile import ModelFileError, read_model
from .persistence import load_model, save_classifier

SCORES = "run.scores"


def fingerprint(boosting: Boosting, target: Target, settings: Settings) -> str:
    """A hash of everything that the rounds of a run depend on."""
    digest = hashlib.blake2b(digest_size=16)
    blocks = boosting.problem.dataset.blocks
    for array in (target.signed, blocks.codes, blocks.row_start, blocks.block, blocks.column):
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    parts = (
        settings.loss.name, settings.votes, spec_of(settings.base_learner), float(settings.step.learning_rate),
        float(settings.ridge), settings.seed, float(settings.subsample),
    )  # fmt: skip
    digest.update(repr(parts).encode())
    return digest.hexdigest()


class Checkpoint(Callback):
    """Writes a checkpoint every so many seconds, and at the end.

    Parameters
    ----------
    classifier : AdaBoostMHClassifier
    target : Target
    settings : Settings
    path : str or path
    every : float
        Seconds.
    """

    def __init__(self, classifier, target: Target, settings: Settings, path, every: float):
        self.classifier, self.target, self.settings = classifier, target, settings
        self.path = Path(path)
        self.every = every

    def begin(self, run):
        self._last = perf_counter()
        self._fingerprint = fingerprint(run, self.target, self.settings)
        self._written = run.n_rounds

    def after_round(self, run):
        if perf_counter() - self._last >= self.every:
            self._write(run)
        return False

    def end(self, run):
        if run.whole and run.n_rounds > self._written:
            self._write(run)

    def _write(self, run) -> None:
        snapshot = copy.copy(self.classifier)
        snapshot._keep(run, self.target, self.settings, run.n_rounds)
        save_classifier(snapshot, self.path, {"run": {"fingerprint": self._fingerprint}}, {SCORES: run.state.scores})
        self._written = run.n_rounds
        self._last = perf_counter()


class Resumed:
    """What a checkpoint says.

    Attributes
    ----------
    classifier : AdaBoostMHClassifier
        The model so far.
    scores : ndarray (n, K)
    """

    def __init__(self, path):
        self.path = path
        self.classifier = load_model(path)
        header, arrays = read_model(path)
        if "run" not in header or SCORES not in arrays:
            raise ModelFileError(f"{path} is a model, not a checkpoint: a run cannot go on from it")
        self._fingerprint = header["run"].get("fingerprint")
        self.scores = np.ascontiguousarray(arrays[SCORES], dtype=np.float64)

    def check(self, boosting: Boosting, target: Target, settings: Settings) -> None:
        """Refuse to go on with other data or settings."""
        if fingerprint(boosting, target, settings) != self._fingerprint:
            raise ValueError(
                f"{self.path} was written by a run on other data or with other settings; go on with the same table, "
                "weights and parameters, or start anew without resume"
            )
