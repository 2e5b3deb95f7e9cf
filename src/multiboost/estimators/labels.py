"""What boosters of labels have beyond the body: labels and their weights."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import DataConversionWarning

from ..data.kinds import LabelKind, as_labels, recognise, unknown_labels
from ..data.table import is_frame, refuse_lazy
from ..data.target import Target
from ..large.answers import Answers
from .booster import Booster
from .from_files import files_of
from .labelled import Labelled
from .validation import refuse_unknown

_MANY = 20  # classes, from which on rare ones are worth a word


def _sensible(kind: LabelKind, labels: np.ndarray) -> LabelKind:
    """The same kind; a warning where classes look like numbers or identifiers."""
    if kind.is_single and len(kind.classes[0]) >= _MANY:
        classes, count = np.unique(labels, return_counts=True)
        if np.mean(count <= 2) > 0.5:
            what = "a number to be predicted? Then use MultiBoostRegressor"
            if classes.dtype.kind not in "iufb":
                what = "an identifier? Then it is not a class to be learned"
            warnings.warn(
                f"y has {len(classes)} classes in {len(labels)} rows, and most of them have one or two rows: is this "
                f"{what}",
                UserWarning,
                stacklevel=6,
            )
    return kind


class LabelBooster(Labelled, Booster):
    """A booster of labels: binary, multi-class, multi-label (indicator matrix) and multi-task (columns of classes)."""

    def fit(
        self,
        X,
        y=None,
        sample_weight=None,
        label_weight=None,
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
            Numbers, or names in nominal columns; NaN, None and NA are missing values.  Or a path, a pattern such as
            ``"folder/*.parquet"`` or a pyarrow dataset: files that may be larger than memory.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Classes; 0 and 1 in several columns are labels; other columns are tasks.  NaN,
            None and NA in several columns mean that the label is unknown.
        sample_weight : array of shape (n_samples,), default=None
            Of files the name of the column.
        label_weight : array of shape (n_samples, n_labels), default=None
            A weight for every pair; multiplies the weights of ``weighting``, or replaces
            them where that is "given".
        init_scores : array of shape (n_samples,) or (n_samples, n_labels), default=None
            Scores F of each sample from which boosting starts.  The model says what to add to them: whoever predicts
            adds them to ``decision_function``.
        validation : tuple (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_scores), default=None
            Adds ``validation_error`` and ``validation_risk`` to the history.
        callbacks : list of Callback, default=None
            `EarlyStopping`, `TimeLimit`, `Progress`, `Log`, `StopOnInterrupt`, or your own.
        checkpoint : str or path, default=None
            A file that is written every ``checkpoint_every`` seconds and at the end; it is a
            model file, too.
        checkpoint_every : float, default=60.0
        resume : str, path or bool, default=None
            A checkpoint to go on from; the result is that of a run without interruption,
            bit for bit.  True means ``checkpoint``, where there is such a file already.
        provenance : dict, default=None
            What to remember of the training data: it becomes ``data_`` and is kept in the model file.
        **of_files
            Where X is in files: ``target``, the name of the target's column, or several; ``ignore``, columns that are
            left out; ``memory``, how much the process may take, such as "2GB"; ``workspace``, a folder for arrays that
            do not fit; ``format``, where the suffix does not say it.

        Returns
        -------
        self
        """
        X, sample_weight, unknown = files_of(X, y, sample_weight, (label_weight, init_scores), of_files)
        refuse_unknown(self, unknown)
        return self._fit(
            X, y, sample_weight, label_weight, init_scores=init_scores, validation=validation, callbacks=callbacks,
            checkpoint=checkpoint, checkpoint_every=checkpoint_every, resume=resume, provenance=provenance,
        )  # fmt: skip

    def answers_of(self, names):
        """Who reads the target's columns of files."""
        return Answers(names)

    def target_of(self, kind, found, sample_weight, names, workspace):
        """The target of a training set in files, from what was read of its columns."""
        return Target.of_numbers(kind, found, self.weighting, sample_weight, self.class_weight, workspace)

    def _kind(self, y):
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        refuse_lazy(y, "y")
        names = None
        if is_frame(y) and hasattr(y, "columns"):
            names = [str(name) for name in getattr(y, "column_names", y.columns)]
        labels = as_labels(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=5,
            )
            labels, names = labels.ravel(), None
        if labels.ndim not in (1, 2):
            raise ValueError(f"y must have one or two dimensions; got shape {labels.shape}")
        if labels.ndim == 1 and labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN or infinity; every sample of a single-label target needs its class")
        if labels.ndim == 1 and labels.dtype.kind == "O" and unknown_labels(labels).any():
            raise ValueError("Input y contains NaN or None; every sample of a single-label target needs its class")
        return labels, lambda sample_weight, pair_weight: _sensible(recognise(labels, names), labels)

    def _target(self, kind, y, sample_weight, pair_weight, *, training, qid=None):
        # Of a validation set there are no label weights.
        weighting = self.weighting if training or self.weighting != "given" else "uniform"
        return Target(kind, y, weighting, sample_weight, pair_weight, self.class_weight)
