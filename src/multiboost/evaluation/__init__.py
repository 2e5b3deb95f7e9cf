"""What can be said about a fitted classifier: numbers, rules, shapes, pictures."""

from .evaluation import Evaluation, LabelEvaluation, Mistake, TaskEvaluation, evaluate, staged_evaluation
from .explain import Importance, RoundRules, named_importances, round_rules
from .learning import LearningCurves, learning_curves
from .shapes import Shape, Shapes, additive_shapes, is_additive

__all__ = [
    "Evaluation",
    "Importance",
    "LabelEvaluation",
    "LearningCurves",
    "Mistake",
    "RoundRules",
    "Shape",
    "Shapes",
    "TaskEvaluation",
    "additive_shapes",
    "evaluate",
    "is_additive",
    "learning_curves",
    "named_importances",
    "round_rules",
    "staged_evaluation",
]
