"""What samplers are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ..plugin import Plugin
from ..registry import Registry


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


ROW_SAMPLERS: Registry[type[RowSampler]] = Registry("row sampler")
COLUMN_SAMPLERS: Registry[type[ColumnSampler]] = Registry("column sampler")
