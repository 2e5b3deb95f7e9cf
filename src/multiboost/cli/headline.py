"""The few numbers that come first."""

from __future__ import annotations

from ..evaluation import Evaluation

_NAMES = ("error", "hamming_loss", "balanced_error", "log_loss", "auc")


def headline(found: Evaluation) -> dict[str, float]:
    """The defined ones of error, Hamming loss, balanced error, log-loss and AUC."""
    values = {name: getattr(found, name) for name in _NAMES}
    return {name: float(value) for name, value in values.items() if value is not None}
