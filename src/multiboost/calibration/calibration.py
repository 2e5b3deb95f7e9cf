"""The calibrators of a whole model: one for all of its questions, or one for each."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from ..plugin import plugin_from
from .calibrator import CALIBRATORS, Calibrator
from .formula import Formula


class Question(NamedTuple):
    """Rows with the right answers to one question.

    Attributes
    ----------
    scores : ndarray (n, k)
    true : ndarray (n,)
        -1 is unknown.
    weight : ndarray (n,)
    groups : ndarray (n,) or None
        The query of every row, for target functions of rankings.
    """

    scores: np.ndarray
    true: np.ndarray
    weight: np.ndarray
    groups: np.ndarray | None = None


def joined(questions: list[Question]) -> Question:
    """All rows of all questions; answers that a question does not have get the score -inf."""
    if len(questions) == 1:
        return questions[0]
    most = max(q.scores.shape[1] for q in questions)
    padded = [np.pad(q.scores, ((0, 0), (0, most - q.scores.shape[1])), constant_values=-np.inf) for q in questions]
    return Question(
        np.concatenate(padded),
        np.concatenate([q.true for q in questions]),
        np.concatenate([q.weight for q in questions]),
    )


class Calibration:
    """Calibrators of the questions of a model.

    Parameters
    ----------
    method : Calibrator
        What each of them is.
    parts : list of Calibrator or None
        One for all questions, or one for each; None: the method as it is, which has learned nothing.
    """

    def __init__(self, method: Calibrator, parts: list[Calibrator] | None = None):
        self.method = method
        self.parts = [method] if parts is None else parts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Calibration) or self.to_dict() != other.to_dict():
            return False
        ours, theirs = self.arrays(), other.arrays()
        return ours.keys() == theirs.keys() and all(np.array_equal(ours[name], theirs[name]) for name in ours)

    __hash__ = None  # type: ignore[assignment]

    @property
    def name(self) -> str:
        return self.method.name

    @property
    def unit(self) -> str:
        """Of the scores, see `Calibrator`."""
        return self.method.unit

    @classmethod
    def fit(cls, method: Calibrator, questions: list[Question]) -> Calibration:
        """Learn the answers to all questions.

        Parameters
        ----------
        method : Calibrator
            Copied, not changed.
        questions : list of Question
            In the order in which they will be asked.
        """
        asked = [joined(questions)] if method.shared else questions
        return cls(method, [copy.deepcopy(method).fit(*question) for question in asked])

    def probabilities(self, scores: list[np.ndarray]) -> list[np.ndarray]:
        """Probabilities of the answers to all questions, (n, k) each.

        Parameters
        ----------
        scores : list of ndarray (n, k)
            Of every question.
        """
        return [part.probabilities(z) for part, z in zip(self._asked(len(scores)), scores, strict=True)]

    def expected(self, scores: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The expected value of the answer to the only question, (n,); see `Calibrator.expected`."""
        return self.parts[0].expected(scores, values)

    def formulas(self, sizes: list[int]) -> list[Formula] | None:
        """The same as formulas; None where the method has none.

        Parameters
        ----------
        sizes : list of int
            How many answers every question has.
        """
        found = [part.formula(k) for part, k in zip(self._asked(len(sizes)), sizes, strict=True)]
        known = [formula for formula in found if formula is not None]
        return known if len(known) == len(found) else None

    def _asked(self, n: int) -> list[Calibrator]:
        """The calibrator of each of n questions."""
        return self.parts * n if len(self.parts) == 1 else self.parts

    # Files.

    def to_dict(self) -> dict[str, Any]:
        """Names and numbers, as JSON can hold them."""
        return {**self.method.to_dict(), "parts": len(self.parts)}

    def arrays(self) -> dict[str, np.ndarray]:
        """What was learned, by name."""
        return {f"{i}.{name}": array for i, part in enumerate(self.parts) for name, array in part.state().items()}

    @classmethod
    def of(cls, given: dict[str, Any], arrays: dict[str, np.ndarray]) -> Calibration:
        """The inverse: from `to_dict` and `arrays`."""
        named = dict(given)
        n = named.pop("parts")
        if type(n) is not int or not 1 <= n <= max(1, len(arrays)):
            raise ValueError(f"parts {n!r} of a calibration")
        method = plugin_from(CALIBRATORS, named)
        parts = []
        for i in range(n):
            part = copy.deepcopy(method)
            state = {name.partition(".")[2]: a for name, a in arrays.items() if name.partition(".")[0] == str(i)}
            if method.learns and not state:
                raise ValueError(f"what the calibration {method.name!r} has learned")
            part.restore(state)
            parts.append(part)
        return cls(method, parts)
