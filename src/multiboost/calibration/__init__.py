"""From scores to probabilities: calibrators by name, one file each.

A calibrator answers one question: which of k answers is right?  It sees scores z, (n, k), that are about log odds, so
that softmax(z) would be the probabilities if they were right.  ``Calibration`` has the calibrators of a whole model.
"""

from .calibration import Calibration
from .calibrator import CALIBRATORS, Calibrator, log_softmax, softmax
from .composed import Isotonic, Platt
from .formula import Formula
from .links import Margin, Theory
from .quadratic import Quadratic
from .regression import Logistic, Polynomial, Regression
from .scaling import Diagonal, Matrix
from .shift import Shift
from .sigmoid import Sigmoid
from .temperature import Temperature, refinement

register = CALIBRATORS.register

__all__ = [
    "CALIBRATORS",
    "Calibration",
    "Calibrator",
    "Diagonal",
    "Formula",
    "Isotonic",
    "Logistic",
    "Margin",
    "Matrix",
    "Platt",
    "Polynomial",
    "Quadratic",
    "Regression",
    "Shift",
    "Sigmoid",
    "Temperature",
    "Theory",
    "log_softmax",
    "refinement",
    "register",
    "softmax",
]
