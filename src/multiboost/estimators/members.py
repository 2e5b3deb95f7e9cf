"""Members of an ensemble of ensembles: a model that is trained, and the ways in which its scores are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ..boosting.out_of_fold import best_method
from ..boosting.ruler import Ruler
from ..calibration import CALIBRATORS, Calibration, Calibrator
from ..calibration.calibration import Question
from ..data.ranked import Ranks
from ..data.target import Target
from ..model.mixture import Scorer
from ..model.model import Model
from .booster import Booster

Stage = list[tuple[Scorer, np.ndarray]]  # what reads a model, and what it says of the validation set


@dataclass(frozen=True)
class Rows:
    """A part of the data.

    Attributes
    ----------
    X : array, sparse matrix or data frame
    y : ndarray (n,)
    weight : ndarray (n,) or None
    qid : ndarray (n,) or None
        Of rankings.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray | None = None
    qid: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> Rows:
        """Some rows."""
        rest = (None if column is None else column[rows] for column in (self.y, self.weight, self.qid))
        return Rows(_safe_indexing(self.X, rows), *rest)  # type: ignore[arg-type]

    def parted(self, share: float, seed: int) -> tuple[Rows, Rows]:
        """What is left, and a share that is held out: whole queries, or of every class."""
        rng = np.random.default_rng(seed)
        held = np.zeros(len(self.y), bool)
        if self.qid is not None:
            names = np.unique(self.qid)
            held = np.isin(self.qid, rng.permutation(names)[: max(1, int(share * len(names)))])
        else:
            for label in np.unique(self.y):
                rows = np.flatnonzero(self.y == label)
                held[rng.permutation(rows)[: int(share * len(rows))]] = True
        if held.all() or not held.any():
            raise ValueError(f"{len(self.y)} rows are too few: a part of them must be held out for calibrations")
        return self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))

    def fitted(self, estimator: Booster, checkpoint=None) -> Booster:
        """The estimator, fitted on these rows; it goes on from the checkpoint where there is one."""
        more: dict[str, Any] = {} if self.qid is None else {"qid": self.qid}
        if checkpoint is not None:
            more |= {"checkpoint": checkpoint, "resume": True}
        return estimator.fit(self.X, self.y, self.weight, **more)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Member:
    """A trained model and all ways to read it.

    Attributes
    ----------
    model : Model
    stages : dict
        By number of rounds.
    seconds : float
    """

    model: Model
    stages: dict[int, Stage]
    seconds: float

    @classmethod
    def trained(
        cls,
        estimator: Booster,
        rows: Rows,
        validation: Rows,
        *,
        share: float,
        seed: int,
        methods: Sequence[Calibrator | None],
        rounds: Sequence[int],
        checkpoint=None,
    ) -> Member:
        """Train on most of the rows, learn the calibrations from the others, and look at the validation set.

        Parameters
        ----------
        estimator : Booster
            It is fitted here.
        rows, validation : Rows
        share : float
            Of the rows that calibrations learn from.
        seed : int
            Says which they are.
        methods : list of (Calibrator or None)
            None is the method that "auto" is for the target.
        rounds : list of int
            After how many of them to look; the model may have fewer.
        checkpoint : str, path or None
        """
        begin = perf_counter()
        inside, held = rows.parted(share, seed)
        model = inside.fitted(estimator, checkpoint).model_
        if not model.kind.is_single:
            raise ValueError("an ensemble of ensembles is for one column of classes or grades, not for several labels")
        wanted = sorted({min(t, model.n_rounds) for t in rounds})
        found = {}
        for t, F, G in zip(
            wanted, _staged(estimator, held.X, wanted), _staged(estimator, validation.X, wanted), strict=True
        ):
            scorers = _scorers(model, float(model.sizes()[t - 1]), F, held, methods)
            found[t] = [(scorer, scorer.values(model.kind, G)) for scorer in scorers]
        return cls(replace(model, state={}), found, perf_counter() - begin)

    def stage(self, n_rounds: int) -> Stage:
        """Readings after so many rounds, or all that there are."""
        return self.stages[min(n_rounds, self.model.n_rounds)]

    def head(self, n_rounds: int) -> Model:
        """The model of the first rounds."""
        t = min(n_rounds, self.model.n_rounds)
        history = {name: values[:t] for name, values in self.model.history.items()}
        return replace(self.model, ensemble=self.model.ensemble.head(t), history=history)


def _staged(estimator: Booster, X, rounds: list[int]) -> list[np.ndarray]:
    """F after some of the rounds."""
    return [scores.copy() for t, scores in enumerate(estimator._staged_scores(X), start=1) if t in rounds]


def _scorers(
    model: Model, size: float, F: np.ndarray, held: Rows, methods: Sequence[Calibrator | None]
) -> list[Scorer]:
    """All ways to read scores, learned from rows that were held out."""
    kind = model.kind
    if kind.n_labels == 1 and isinstance(kind, Ranks):
        return [Scorer(0, None, 1.0, float(F.min()), float(F.max()))]
    target = Target(kind, held.y, "uniform", held.weight)
    ruler = Ruler.of(target, F, size)
    (true, weight), found = target.answers()[0], []
    # The order of rows must leave no trace in what minimisers find.
    order = np.lexsort((*F.T, weight, true, np.zeros(len(F)) if held.qid is None else held.qid))
    for given in methods:
        method = CALIBRATORS.get(best_method(kind))() if given is None else given
        slope = ruler.slope(method.unit)
        z, qid = kind.by_question(slope * F[order])[0], None if held.qid is None else held.qid[order]
        question = Question(z, true[order], weight[order], qid)
        scorer = Scorer(0, Calibration.fit(method, [question]), slope)
        if isinstance(kind, Ranks):
            raw = scorer.raw(kind, F)
            scorer = replace(scorer, low=float(raw.min()), high=float(raw.max()))
        found.append(scorer)
    return found
