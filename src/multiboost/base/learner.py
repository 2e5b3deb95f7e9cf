"""What a base learner is."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from sklearn.base import BaseEstimator

from ..registry import Registry


class BaseLearner(BaseEstimator):
    """A small scikit-learn estimator without data: it holds parameters, and ``fit(problem)`` returns a base classifier.

    A plug-in: a class with a ``name`` and a ``fit``, registered in `LEARNERS`.  A parameter called ``base`` is another
    base learner; all others are numbers or text.

    Attributes
    ----------
    name : str
        As in ``"tree:50"``.
    size : str or None
        The parameter that the number after the colon sets, None where there is none.
    least : int
        Its least value.
    """

    name: ClassVar[str]
    size: ClassVar[str | None] = None
    least: ClassVar[int] = 1

    @abstractmethod
    def fit(self, problem):
        """The best base classifier, None where there is none.

        Parameters
        ----------
        problem : Problem

        Returns
        -------
        BaseClassifier or None
        """


LEARNERS: Registry[type[BaseLearner]] = Registry("base learner")
