"""What regressors have beyond the body: numbers, weights of targets, R2."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from ..data.real import RealTarget, as_numbers, kind_of, weights_of
from ..data.table import is_frame, refuse_lazy
from ..large.answers import Numbers
from ..losses import Loss
from ..model.model import Model
from .booster import Booster
from .from_files import files_of
from .validation import refuse_unknown


def check_varies(y: np.ndarray, known: np.ndarray) -> None:
    """A word where all targets are constant, (n, targets); one of several may be.  One sample is refused."""
    known = known[:, :: known.shape[1] // y.shape[1]]  # quantiles of a target are known together
    columns = [column[of_column] for column, of_column in zip(y.T, known.T, strict=True)]
    if all((column == column[0]).all() for column in columns if column.size):
        samples = f"{len(y)} sample{'' if len(y) == 1 else 's'}"
        told = f"y is constant, {columns[0][0]:g} in {samples}"
        if len(y) == 1:
            raise ValueError(f"{told}: there is nothing to learn")
        warnings.warn(f"nothing can be learned: {told}, and so are predictions", UserWarning, stacklevel=6)


class RealBooster(RegressorMixin, Booster):
    """A booster of numbers: one target or several, any of them unknown."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(
        self,
        X,
        y=None,
        sample_weight=None,
        target_weight=None,
        *,
        init_scores=None,
        validation=None,
        callbacks=None,
        checkpoint=None,
        checkpoint_every=60.0,
        resume=None,
        provenance=None,
        **of_files,
    ):
        """Boost ``n_estimators`` rounds.

        A fit that fails, or is interrupted, leaves the estimator as it was.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers, or names in nominal columns; NaN, None and NA are missing values.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Numbers.  NaN in several columns means that the number is unknown.
        sample_weight : array of shape (n_samples,), default=None
        target_weight : array of shape (n_samples, n_targets), default=None
            A weight for every pair of a sample and a target; 0 leaves the pair out.
        init_scores : array of shape (n_samples,) or (n_samples, n_targets), default=None
            Predictions of each sample from which boosting starts.  The model says what to add to them, or for Poisson
            loss by what to multiply them.
        validation, callbacks, checkpoint, checkpoint_every, resume, provenance
            As in `MultiBoostClassifier.fit`.
        **of_files
            Where X is the path of files: ``target``, ``ignore``, ``memory``, ``workspace``, ``format``, as in
            `MultiBoostClassifier.fit`.

        Returns
        -------
        self
        """
        X, sample_weight, unknown = files_of(X, y, sample_weight, (target_weight, init_scores), of_files)
        refuse_unknown(self, unknown)
        return self._fit(
            X, y, sample_weight, target_weight, init_scores=init_scores, validation=validation, callbacks=callbacks,
            checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume, provenance=provenance,
        )  # fmt: skip

    def _loss(self) -> Loss:
        """What is minimised."""
        loss = self._wishes().loss
        assert loss is not None
        return loss

    def _numbers(self, y) -> tuple[np.ndarray, list[str] | None]:
        """y as an array, and the names of its columns."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        refuse_lazy(y, "y")
        names = None
        if is_frame(y) and hasattr(y, "columns"):
            names = [str(name) for name in getattr(y, "column_names", y.columns)]
        numbers = as_numbers(y)
        if numbers.ndim == 2 and numbers.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=6,
            )
            numbers, names = numbers.ravel(), None
        if numbers.ndim not in (1, 2) or 0 in numbers.shape[1:]:
            raise ValueError(f"y must have one or two dimensions; got shape {numbers.shape}")
        if numbers.ndim == 1 and np.isnan(numbers).any():
            row = int(np.flatnonzero(np.isnan(numbers))[0])
            raise ValueError(
                f"Input y contains NaN, in row {row}: every sample of a single target needs its number; leave it out"
            )
        return numbers, names

    def _kind(self, y):
        numbers, names = self._numbers(y)
        return numbers, lambda sample_weight, pair_weight: kind_of(
            numbers, weights_of(numbers.reshape(len(numbers), -1), sample_weight, pair_weight), self._loss(), names
        )

    _targets: type[RealTarget] = RealTarget

    def answers_of(self, names):
        """Who reads the target's columns of files."""
        return Numbers(names) if self._targets is RealTarget else super().answers_of(names)

    def target_of(self, kind, found, sample_weight, names, workspace):
        """The target of a training set in files, from what was read of its columns."""
        y = found[:, 0] if len(names) == 1 else found
        labels, recognise = self._kind(y)
        kind = recognise(sample_weight, None)
        if len(names) > 1:
            kind.classes = [np.array(names)]
        target = self._target(kind, labels, sample_weight, None, training=True)
        target.signed, target.wanted = workspace.moved(target.signed), workspace.moved(target.wanted)
        return target

    def _target(self, kind, y, sample_weight, pair_weight, *, training, qid=None):
        target = self._targets(kind, y, self._loss(), sample_weight, pair_weight)
        if training:
            check_varies(y.reshape(len(y), -1), target.signed > 0)
        return target

    def _model(self, run, data, n_rounds, provenance, calibration):
        model = super()._model(run, data, n_rounds, provenance, calibration)
        if run.plan.offsets:
            model.kind = model.kind.with_offset(run.plan.offsets)
        return model

    def _attributes(self, model: Model) -> dict[str, Any]:
        return {"n_outputs_": model.kind.n_targets}

    def score(self, X, y, sample_weight=None):
        """R2, the mean over targets; unknown numbers take no part.  Of quantiles, that of the one nearest to 0.5.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : numbers as in ``fit``
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        from sklearn.metrics import r2_score

        check_is_fitted(self)
        kind = self.model_.kind
        found = kind.values(self._scores(X))
        middle = int(np.abs(kind.quantiles - 0.5).argmin()) if kind.quantiles.size else 0
        true = as_numbers(y)
        true = true.reshape(len(true), -1)
        weight = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        scores = []
        for t in range(true.shape[1]):
            known = ~np.isnan(true[:, t])
            scores.append(r2_score(true[known, t], found[known, t, middle], sample_weight=weight[known]))
        return float(np.mean(scores))
