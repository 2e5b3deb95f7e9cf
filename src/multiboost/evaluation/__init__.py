"""What can be said about a fitted estimator: numbers, rules, shapes, pictures."""

from .evaluating import evaluate, staged_evaluation
from .evaluation import Evaluation, LabelEvaluation, Mistake, TaskEvaluation
from .explain import Importance, RoundRules, named_importances, round_rules
from .learning import LearningCurves, learning_curves
from .ranking import QueryEvaluation, RankingEvaluation
from .regression import QuantileEvaluation, RegressionEvaluation, RegressionMistake, TargetEvaluation
from .shapes import Shape, Shapes, additive_shapes, is_additive

__all__ = [
    "Evaluation",
    "Importance",
    "LabelEvaluation",
    "LearningCurves",
    "Mistake",
    "QuantileEvaluation",
    "QueryEvaluation",
    "RankingEvaluation",
    "RegressionEvaluation",
    "RegressionMistake",
    "RoundRules",
    "Shape",
    "Shapes",
    "TargetEvaluation",
    "TaskEvaluation",
    "additive_shapes",
    "evaluate",
    "is_additive",
    "learning_curves",
    "named_importances",
    "round_rules",
    "staged_evaluation",
]
