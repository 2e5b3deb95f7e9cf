"""What samplers are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from ..plugin import Plugin
from ..registry import Registry

NODES = 64  # sets of columns of a round, where every node has its own: more nodes begin with the first again
PER = ("round", "node")  # who has a set of columns


class RowSampler(Plugin, ABC):
    """Which samples a round sees.

    The base classifier is learned on these; F, the weights, the edge and the training error are those of all.
    A plug-in: a dataclass with a ``name`` and a ``rows``, registered in `ROW_SAMPLERS`.
    """

    @abstractmethod
    def rows(self, run) -> np.ndarray | None:
        """The samples of the next round.

        What is drawn must be a function of ``run.seed``, ``run.n_rounds`` and the state: a run that goes on draws the
        same.

        Parameters
        ----------
        run : Run

        Returns
        -------
        ndarray of bool (n,), or of float (n,), or None
            Numbers say how often each sample counts in the round, 0 is not at all.  None means all, once each.
        """

    def learn(self, run) -> None:
        """Look at the round that was made; nothing is learned by default.

        Parameters
        ----------
        run : Run
            ``run.h`` is the base classifier, ``run.drawn`` what `rows` returned, or None where all samples were used.
        """


class ColumnSampler(Plugin, ABC):
    """Which columns a round may cut.

    A plug-in: a dataclass with a ``name`` and a ``columns``, registered in `COLUMN_SAMPLERS`.

    Attributes
    ----------
    needs_bins : bool
        Whether the bins of all columns are kept, so that a round can lay out its own.
    columns_of_history : tuple of str
        Columns that it adds to the history.
    """

    needs_bins: ClassVar[bool] = True
    columns_of_history: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def columns(self, run) -> np.ndarray | None:
        """The columns of the next round.

        Parameters
        ----------
        run : Run

        Returns
        -------
        ndarray of bool (columns,) or (m, columns), or None
            With m rows node i of a tree, and term i of a product, may cut the columns of row i % m.  None means all.
        """

    def learn(self, run) -> None:
        """Look at the round that was made; nothing is learned by default.

        Parameters
        ----------
        run : Run
            ``run.h`` is the base classifier, ``run.gamma`` its edge in units of the total weight,
            ``run.drawn_columns`` what `columns` returned, or None where all columns were used.
        """

    def line(self) -> list[float]:
        """What ``columns_of_history`` were in the last round."""
        return []


class LabelSampler(Plugin, ABC):
    """By which labels the cuts of a round are chosen: a sketch of G.

    The votes of the leaves, the edge and the step are those of all labels.
    A plug-in: a dataclass with a ``name``, a ``labels`` and a ``count``, registered in `LABEL_SAMPLERS`.
    """

    @abstractmethod
    def labels(self, run) -> np.ndarray | None:
        """The labels of the next round.

        Parameters
        ----------
        run : Run

        Returns
        -------
        ndarray of intp (k,), rising, or None
            None means all.
        """

    @abstractmethod
    def count(self, n_labels: int) -> int:
        """How many of so many labels `labels` returns; ``n_labels`` where it returns None."""

    def learn(self, run) -> None:
        """Look at the round that was made; nothing is learned by default.

        Parameters
        ----------
        run : Run
            ``run.h`` is the base classifier, ``run.drawn_labels`` what `labels` returned, or None where all were used.
        """


def check_size(part: Plugin, what: str) -> None:
    """Refuse a ``size`` that is neither a share nor a number of things."""
    size = part.size  # type: ignore[attr-defined]
    if not (is_number(size) and size > 0 and (_is_share(size) or float(size).is_integer())):
        raise ValueError(f"{type(part).__name__}(size={size!r}): give a share in (0, 1] or a number of {what}")


def is_number(value: Any) -> bool:
    """Whether it is a number, and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_per(part: Plugin) -> None:
    """Refuse a ``per`` that is none."""
    if (per := part.per) not in PER:  # type: ignore[attr-defined]
        raise ValueError(f"{type(part).__name__}(per={per!r}): choose {' or '.join(map(repr, PER))}")


def count_of(size: float, n: int) -> int:
    """How many of n things a size is: below 1, and 1.0, it is a share."""
    return min(n, max(1, round(size * n)) if _is_share(size) else int(size))


def _is_share(size: float) -> bool:
    return isinstance(size, (float, np.floating)) and size <= 1


ROW_SAMPLERS: Registry[type[RowSampler]] = Registry("row sampler")
COLUMN_SAMPLERS: Registry[type[ColumnSampler]] = Registry("column sampler")
LABEL_SAMPLERS: Registry[type[LabelSampler]] = Registry("label sampler")
