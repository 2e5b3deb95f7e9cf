"""Steps: how far to go along a base classifier."""

from .alpha import AlphaStep
from .arc_gv import ArcGvStep
from .line_search import LineSearchStep
from .lipschitz import LipschitzStep
from .offset import OffsetStep
from .rate import RateStep
from .step import STEPS, Step

__all__ = ["STEPS", "AlphaStep", "ArcGvStep", "LineSearchStep", "LipschitzStep", "OffsetStep", "RateStep", "Step"]
