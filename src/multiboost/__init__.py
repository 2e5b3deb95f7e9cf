"""MultiBoost: boosting in the AdaBoost.MH family, many classes and labels at once."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

# Nothing is imported until it is asked for: `import multiboost` costs nothing.
_HOMES = {
    "MultiBoostClassifier": ".estimators.multiboost_classifier",
    "MultiBoostRegressor": ".estimators.multiboost_regressor",
    "MultiBoostRanker": ".estimators.multiboost_ranker",
    "MedianBoostRegressor": ".estimators.median_boost",
    "AdaBoostMHClassifier": ".estimators.adaboost_mh",
    "FilterBoostClassifier": ".estimators.filter_boost",
    "MDDAGClassifier": ".estimators.mddag",
    "SoftCascadeClassifier": ".estimators.cascades",
    "WaldBoostClassifier": ".estimators.cascades",
    "ViolaJonesClassifier": ".estimators.cascades",
    "Calibrated": ".estimators.calibrated",
    "ExponentialWeighting": ".estimators.exponential_weighting",
    "Stump": ".base",
    "Tree": ".base",
    "Product": ".base",
    "Selector": ".base",
    "Indicator": ".base",
    "Column": ".base",
    "Bins": ".base",
    "FromClassifier": ".base",
    "EarlyStopping": ".boosting.callbacks",
    "TimeLimit": ".boosting.callbacks",
    "Progress": ".boosting.callbacks",
    "Log": ".boosting.callbacks",
    "StopOnInterrupt": ".boosting.callbacks",
    "Callback": ".boosting.callbacks",
    "load_model": ".estimators.saving",
    "ModelFileError": ".model.modelfile",
    "evaluate": ".evaluation",
    "staged_evaluation": ".evaluation",
    "learning_curves": ".evaluation",
    "round_rules": ".evaluation",
    "named_importances": ".evaluation",
    "permutation_importances": ".evaluation",
    "partial_dependence": ".evaluation",
    "additive_shapes": ".evaluation",
    "LearningCurveDisplay": ".evaluation.displays",
    "MarginDistributionDisplay": ".evaluation.displays",
    "ShapeDisplay": ".evaluation.displays",
    "detection_curve": ".evaluation.detection",
    "staged_detection_curve": ".evaluation.detection",
    "quality_curve": ".evaluation.detection",
    "LeanCurveDisplay": ".evaluation.lean_displays",
    "DecisionDagDisplay": ".evaluation.lean_displays",
    "write_report": ".report",
    "ranking_metric": ".ranking",
    "export_model": ".export.formats",
    "load_shyp": ".export.shyp",
}
__all__ = [
    "AdaBoostMHClassifier",
    "Bins",
    "Calibrated",
    "Callback",
    "Column",
    "DecisionDagDisplay",
    "EarlyStopping",
    "ExponentialWeighting",
    "FilterBoostClassifier",
    "FromClassifier",
    "Indicator",
    "LeanCurveDisplay",
    "LearningCurveDisplay",
    "Log",
    "MDDAGClassifier",
    "MarginDistributionDisplay",
    "MedianBoostRegressor",
    "ModelFileError",
    "MultiBoostClassifier",
    "MultiBoostRanker",
    "MultiBoostRegressor",
    "Product",
    "Progress",
    "Selector",
    "ShapeDisplay",
    "SoftCascadeClassifier",
    "StopOnInterrupt",
    "Stump",
    "TimeLimit",
    "Tree",
    "ViolaJonesClassifier",
    "WaldBoostClassifier",
    "additive_shapes",
    "detection_curve",
    "evaluate",
    "export_model",
    "learning_curves",
    "load_model",
    "load_shyp",
    "named_importances",
    "partial_dependence",
    "permutation_importances",
    "quality_curve",
    "ranking_metric",
    "round_rules",
    "staged_detection_curve",
    "staged_evaluation",
    "write_report",
]

if TYPE_CHECKING:
    from .base import Bins, Column, FromClassifier, Indicator, Product, Selector, Stump, Tree
    from .boosting.callbacks import Callback, EarlyStopping, Log, Progress, StopOnInterrupt, TimeLimit
    from .estimators.adaboost_mh import AdaBoostMHClassifier
    from .estimators.calibrated import Calibrated
    from .estimators.cascades import SoftCascadeClassifier, ViolaJonesClassifier, WaldBoostClassifier
    from .estimators.exponential_weighting import ExponentialWeighting
    from .estimators.filter_boost import FilterBoostClassifier
    from .estimators.mddag import MDDAGClassifier
    from .estimators.median_boost import MedianBoostRegressor
    from .estimators.multiboost_classifier import MultiBoostClassifier
    from .estimators.multiboost_ranker import MultiBoostRanker
    from .estimators.multiboost_regressor import MultiBoostRegressor
    from .estimators.saving import load_model
    from .evaluation import (
        additive_shapes,
        evaluate,
        learning_curves,
        named_importances,
        partial_dependence,
        permutation_importances,
        round_rules,
        staged_evaluation,
    )
    from .evaluation.detection import detection_curve, quality_curve, staged_detection_curve
    from .evaluation.displays import LearningCurveDisplay, MarginDistributionDisplay, ShapeDisplay
    from .evaluation.lean_displays import DecisionDagDisplay, LeanCurveDisplay
    from .export.formats import export_model
    from .export.shyp import load_shyp
    from .model.modelfile import ModelFileError
    from .ranking import ranking_metric
    from .report import write_report


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'multiboost' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
