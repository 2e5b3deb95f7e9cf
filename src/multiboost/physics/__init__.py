"""The physics of discovery: significance, thresholds, rates."""

from .costs import feature_costs
from .roc import Roc, roc
from .selection import Selection, ThresholdChoice
from .significance import CRITERIA, Significance, ams2, ams3, asimov, luminosity_weights, s_over_sqrt_b, s_over_sqrt_sb
from .trigger import Trigger, TriggerThreshold, rate_bound

__all__ = [
    "CRITERIA",
    "Roc",
    "Selection",
    "Significance",
    "ThresholdChoice",
    "Trigger",
    "TriggerThreshold",
    "ams2",
    "ams3",
    "asimov",
    "feature_costs",
    "luminosity_weights",
    "rate_bound",
    "roc",
    "s_over_sqrt_b",
    "s_over_sqrt_sb",
]
