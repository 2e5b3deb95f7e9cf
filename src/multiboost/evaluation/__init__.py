"""What can be said about a fitted estimator: numbers, rules, shapes, pictures."""

from .constant import Constant
from .dependence import Dependence, partial_dependence
from .evaluating import evaluate, staged_evaluation
from .evaluation import ClassEvaluation, Evaluation, LabelEvaluation, Mistake, TaskEvaluation
from .explain import Importance, RoundRules, named_importances, round_rules
from .intervals import Interval
from .learning import LearningCurves, learning_curves
from .permuting import PermutationImportance, permutation_importances
from .ranking import QueryEvaluation, RankingEvaluation
from .regression import QuantileEvaluation, RegressionEvaluation, RegressionMistake, TargetEvaluation
from .remarks import Remark, remarks
from .shapes import Shape, Shapes, additive_shapes, is_additive

__all__ = [
    "ClassEvaluation",
    "Constant",
    "Dependence",
    "Evaluation",
    "Importance",
    "Interval",
    "LabelEvaluation",
    "LearningCurves",
    "Mistake",
    "PermutationImportance",
    "QuantileEvaluation",
    "QueryEvaluation",
    "RankingEvaluation",
    "RegressionEvaluation",
    "RegressionMistake",
    "Remark",
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
    "partial_dependence",
    "permutation_importances",
    "remarks",
    "round_rules",
    "staged_evaluation",
]
