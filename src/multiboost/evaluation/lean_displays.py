"""Pictures of lean classifiers, in the manner of scikit-learn's displays."""

from __future__ import annotations

import numpy as np

from .detection import LeanCurve
from .displays import axes_of


class LeanCurveDisplay:
    """Quality over the mean number of base classifiers, a line for each method.

    Parameters
    ----------
    curves : dict of LeanCurve
        By the names of the methods.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
    """

    def __init__(self, curves: dict[str, LeanCurve]):
        self.curves = curves

    def plot(self, ax=None, *, most=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        most : float, default=None
            The largest budget that is drawn.

        Returns
        -------
        LeanCurveDisplay
        """
        self.ax_, self.figure_ = axes_of(ax)
        self.lines_ = {}
        for name, curve in self.curves.items():
            (self.lines_[name],) = self.ax_.step(curve.cost, curve.quality, where="post", label=name)
        self.ax_.set(
            xlabel="base classifiers evaluated, mean", ylabel=next(iter(self.curves.values())).name, xlim=(0, most)
        )
        self.ax_.legend()
        return self


class DecisionDagDisplay:
    """The decision DAG of a policy: from left to right the base classifiers, from bottom to top the scores.

    Nodes are as large as the rows that come there, edges as wide as those that go there, and both are coloured by the
    share of one group.

    Parameters
    ----------
    dag : DecisionDag
        See ``dag`` of lean classifiers.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    nodes_ : matplotlib PathCollection
    """

    def __init__(self, dag):
        self.dag = dag

    @classmethod
    def from_estimator(cls, estimator, X, groups, *, ax=None, group=-1):
        """Compute and plot the DAG of some rows.

        Parameters
        ----------
        estimator : fitted lean classifier
        X : array, sparse matrix or data frame
        groups : array of shape (n_samples,)
            Classes or sub-classes.
        ax : matplotlib Axes, default=None
        group : int, default=-1
            The group whose share is the colour, by its place among the sorted ones.

        Returns
        -------
        DecisionDagDisplay
        """
        return cls(estimator.dag(X, groups)).plot(ax=ax, group=group)

    def plot(self, ax=None, *, group=-1):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        group : int, default=-1

        Returns
        -------
        DecisionDagDisplay
        """
        self.ax_, self.figure_ = axes_of(ax)
        from matplotlib.cm import ScalarMappable
        from matplotlib.collections import LineCollection

        d = self.dag
        rounds = np.unique(d.round[d.round >= 0])
        # Only base classifiers that somebody needs have a place, and the end comes last.
        x = np.where(d.round < 0, len(rounds), np.searchsorted(rounds, d.round)).astype(float)
        most = d.count.max()
        lines = np.stack([np.stack([x, d.score], axis=1)[d.source], np.stack([x, d.score], axis=1)[d.target]], axis=1)
        colours = ScalarMappable(cmap="coolwarm")
        colours.set_clim(0, 1)
        flow = LineCollection(
            list(lines),
            linewidths=0.3 + 6.0 * d.passed / most,
            colors=colours.to_rgba(d.share[d.source, group]),
            alpha=0.6,
        )
        self.ax_.add_collection(flow)
        self.nodes_ = self.ax_.scatter(
            x, d.score, s=8 + 400 * d.count / most, c=d.share[:, group], cmap="coolwarm", vmin=0, vmax=1, zorder=2
        )
        ticks = np.append(rounds + 1, 0)[:: max(1, len(rounds) // 12)]
        places = np.arange(len(rounds) + 1)[:: max(1, len(rounds) // 12)]
        self.ax_.set_xticks(places, ["end" if t == 0 else str(t) for t in ticks])
        self.ax_.set(xlabel="base classifier", ylabel="score")
        self.figure_.colorbar(self.nodes_, ax=self.ax_, label=f"share of {d.groups[group]}")
        return self
