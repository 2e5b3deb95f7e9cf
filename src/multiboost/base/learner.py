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
    words : tuple of str
        What it may be instead of a number, as in ``"column:spline"``; the first is the default.
    criteria : tuple of str
        Criteria by which it can find the best base classifier; () for all.
    never_in : tuple of str
        Base learners that cannot be made of it.
    needs_values : bool
        Whether it looks at the values of the table, not only at their bins.
    """

    name: ClassVar[str]
    size: ClassVar[str | None] = None
    least: ClassVar[int] = 1
    words: ClassVar[tuple[str, ...]] = ()
    criteria: tuple[str, ...] = ()
    never_in: tuple[str, ...] = ()
    needs_values: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse parameters that cannot be, besides what is said above; it names the parameter."""

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
