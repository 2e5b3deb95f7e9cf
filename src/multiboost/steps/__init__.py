"""Steps: how far to go along a base classifier."""

from .alpha import AlphaStep
from .rate import RateStep
from .step import STEPS, Step

__all__ = ["STEPS", "AlphaStep", "RateStep", "Step"]
