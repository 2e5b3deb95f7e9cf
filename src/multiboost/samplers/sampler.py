"""What samplers are."""

from __future__ import annotations

from abc import ABC, abstractmethod

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
        ndarray of bool (n,) or None
            None means all.
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
    """

    @abstractmethod
    def columns(self, run) -> np.ndarray | None:
        """The columns of the next round, as `RowSampler.rows`: ndarray of bool (columns,), or None for all."""

    def learn(self, run) -> None:
        """Look at the round that was made; nothing is learned by default."""


ROW_SAMPLERS: Registry[type[RowSampler]] = Registry("row sampler")
COLUMN_SAMPLERS: Registry[type[ColumnSampler]] = Registry("column sampler")
