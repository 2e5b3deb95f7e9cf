"""What the numbers of an evaluation mean, in plain sentences: whether a model is any good, and what looks odd."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .explain import Importance
from .learning import LearningCurves
from .measures import Measures, share

NEARLY_ALL = 0.9  # of the gain in one column
FEW_COLUMNS = 2  # where one of them may well have it all
_RISEN = 1.05  # the risk, against its lowest
_EARLY = 0.8  # share of the rounds after which a lowest risk is no news


@dataclass
class Remark:
    """Something that a reader should know before the numbers.

    Attributes
    ----------
    topic : {"no better", "not clearly better", "one column", "risk"}
    text : str
    """

    topic: str
    text: str


def remarks(
    evaluation: Measures,
    importances: list[Importance] | None = None,
    n_columns: int = 0,
    curves: LearningCurves | None = None,
) -> list[Remark]:
    """What should be said of a model.

    Parameters
    ----------
    evaluation : Evaluation or RegressionEvaluation
    importances : list of Importance, default=None
    n_columns : int, default=0
        Of the table; a column among one or two is no leak because it has all the gain.
    curves : LearningCurves, default=None

    Returns
    -------
    list of Remark
        Empty where there is nothing to be said.
    """
    found = [_against_constant(evaluation)]
    if importances and n_columns > FEW_COLUMNS:
        found.append(_one_column(importances[0]))
    if curves is not None:
        found.append(_risk(curves, evaluation.n_rows))
    return [remark for remark in found if remark is not None]


def _against_constant(e: Measures) -> Remark | None:
    """Whether the model is better than an answer that needs no column."""
    compared = e.comparison()
    if compared is None or e.advantage is None:
        return None
    if compared.saved <= 0:
        return Remark("no better", f"The model is no better than {compared.what}: {compared.numbers}.")
    if e.advantage.low <= 0:
        return Remark(
            "not clearly better",
            f"On these {e.n_rows} rows the model is not clearly better than {compared.what}: {compared.numbers}, "
            "and so small a difference may be chance.",
        )
    return None


def _one_column(first: Importance) -> Remark | None:
    if first.share < NEARLY_ALL:
        return None
    return Remark(
        "one column",
        f"The column \u201c{first.name}\u201d has {share(first.share)} of the gain. Is its value known when "
        "predictions are made, or does it give the answer away?",
    )


def _risk(curves: LearningCurves, n_rows: int) -> Remark | None:
    """Whether the risk of the given rows has risen for long while their error has not fallen."""
    if len(curves.risk) < 2 or len(curves.error) != len(curves.risk):
        return None
    risk = np.array([np.nan if v is None else v for v in curves.risk])
    error = np.array([np.nan if v is None else v for v in curves.error])
    if not (np.isfinite(risk).all() and np.isfinite(error).all()):
        return None
    best = int(risk.argmin())
    lowest, last = float(risk[best]), float(risk[-1])
    # Two errors of the same rows are the same within a standard error.
    chance = float(np.sqrt(max(error[best] * (1 - min(error[best], 1.0)), 0.0) / n_rows))
    if curves.rounds[best] > _EARLY * curves.rounds[-1] or last < _RISEN * lowest or lowest <= 0:
        return None
    if error[best] - error[-1] > chance:
        return None
    times = last / lowest
    risen = f"has risen by {share(times - 1)} since" if times < 2 else f"is {times:.3g} times as large in the end"
    return Remark(
        "risk",
        f"The risk of the given rows is lowest after round {curves.rounds[best]} and {risen}, while their "
        f"{curves.measure} went from {share(error[best])} to {share(error[-1])}. Later rounds fit the training rows, "
        "not these; fewer may do. Early stopping by the validation risk finds how many.",
    )
