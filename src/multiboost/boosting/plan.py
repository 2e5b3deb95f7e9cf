"""The plan of a run: all its parts, as names and numbers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..base.learner import BaseLearner
from ..base.registry import learner_from_dict, learner_to_dict, spec_of
from ..criteria import CRITERIA
from ..data.target import Target
from ..losses import LOSSES, Loss
from ..plugin import plugin_from
from ..samplers import (
    COLUMN_SAMPLERS,
    LABEL_SAMPLERS,
    ROW_SAMPLERS,
    AllColumns,
    AllLabels,
    AllRows,
    ColumnSampler,
    LabelSampler,
    RowSampler,
    Share,
)  # fmt: skip
from ..steps import STEPS, Step

_CONSTANT = "constant"
ROUNDS = 200


@dataclass(frozen=True, eq=False)
class Plan:
    """The parts of the loop: what a run does, but for the data and the number of rounds.

    Two plans are equal where their dictionaries are.  Model files, fingerprints of checkpoints, reports and the
    command line read this.

    Attributes
    ----------
    loss : Loss
    criterion : str
        Name of the criterion.
    step : Step
    base_learner : BaseLearner
    rows : RowSampler
    columns : ColumnSampler
    labels : LabelSampler
    ridge : float
        Of the criterion, in units of the mean weight of a pair.
    max_bins, min_category_rows : int
        How columns are binned, see `data.binner.Binner`.
    seed : int
        Of whatever is random.
    rounds : int
        Rounds of boosting where the user does not say.
    offsets : tuple of float
        Of quantiles, see ``auto_real``; () where there are none.
    init : "constant", tuple of float or None
        Where boosting starts: at the best constant, at given scores (of numbers: predictions), or where the loss
        begins.  Not asked where samples have scores of their own.
    """

    loss: Loss
    criterion: str
    step: Step
    base_learner: BaseLearner
    rows: RowSampler = field(default_factory=AllRows)
    columns: ColumnSampler = field(default_factory=AllColumns)
    ridge: float = 1.0
    max_bins: int = 256
    min_category_rows: int = 2
    seed: int = 0
    rounds: int = ROUNDS
    offsets: tuple[float, ...] = ()
    init: str | tuple[float, ...] | None = None
    labels: LabelSampler = field(default_factory=AllLabels)

    def initial_scores(self, target: Target) -> np.ndarray:
        """F before the first round, (K,); what samples have of their own comes on top."""
        if target.start is not None:
            return target.kind.no_answer() if target.adds else np.zeros(target.n_labels)
        if self.init is None:
            return self.loss.initial_scores(target.net())
        if isinstance(self.init, str):
            return self.loss.best_constant(target.net())
        return target.kind.scores_of(np.array([self.init]))[0]

    def to_dict(self) -> dict[str, Any]:
        """Names and numbers, as JSON can hold them."""
        # What older files do not have is left out where it is what it was then.
        init = {} if self.init is None else {"init": self.init if isinstance(self.init, str) else list(self.init)}
        labels = {} if self.labels == AllLabels() else {"labels": self.labels.to_dict()}
        return {
            "loss": self.loss.to_dict(),
            "criterion": self.criterion,
            "step": self.step.to_dict(),
            "base_learner": learner_to_dict(self.base_learner),
            "rows": self.rows.to_dict(),
            "columns": self.columns.to_dict(),
            "ridge": float(self.ridge),
            "max_bins": int(self.max_bins),
            "min_category_rows": int(self.min_category_rows),
            "seed": int(self.seed),
            "rounds": int(self.rounds),
            "offsets": [float(offset) for offset in self.offsets],
            **init,
            **labels,
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Plan:
        """The inverse of `to_dict`.

        Parameters
        ----------
        given : dict

        Raises
        ------
        ValueError
            Where a name is not that of a part that is registered.
        """
        return cls(
            loss=plugin_from(LOSSES, given["loss"]),
            criterion=CRITERIA.get(given["criterion"]).name,
            step=plugin_from(STEPS, given["step"]),
            base_learner=learner_from_dict(given["base_learner"]),
            rows=plugin_from(ROW_SAMPLERS, given["rows"]),
            columns=plugin_from(COLUMN_SAMPLERS, given["columns"]),
            ridge=float(given["ridge"]),
            max_bins=int(given["max_bins"]),
            min_category_rows=int(given["min_category_rows"]),
            seed=int(given["seed"]),
            rounds=int(given.get("rounds", ROUNDS)),
            offsets=tuple(float(offset) for offset in given.get("offsets", [])),
            init=_init_from(given.get("init")),
            labels=plugin_from(LABEL_SAMPLERS, given.get("labels", {"name": AllLabels.name})),
        )

    def digest(self) -> str:
        """The same for equal plans."""
        return hashlib.blake2b(json.dumps(self.to_dict(), sort_keys=True).encode(), digest_size=16).hexdigest()

    def __eq__(self, other) -> bool:
        return isinstance(other, Plan) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.digest())

    @property
    def learning_rate(self) -> float:
        """Of steps that have one, else 1."""
        return float(getattr(self.step, "learning_rate", 1.0))

    @property
    def subsample(self) -> float:
        """Share of the samples that each round sees, 1 where a sampler has none."""
        return float(self.rows.share) if isinstance(self.rows, Share) else 1.0

    @property
    def learner_name(self) -> str:
        """The base learner for people to read."""
        return spec_of(self.base_learner)

    def with_leaves(self, n_leaves: int) -> Plan:
        """The same plan with trees of another size."""
        return replace(self, base_learner=clone(self.base_learner).set_params(n_leaves=n_leaves))


def _init_from(given: Any) -> str | tuple[float, ...] | None:
    """Where boosting starts, from JSON."""
    if given is None or given == _CONSTANT:
        return given
    if not isinstance(given, list):
        raise ValueError(f"init {given!r}")
    return tuple(float(score) for score in given)
