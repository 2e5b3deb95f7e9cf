"""Pictures by matplotlib, in the manner of scikit-learn's displays.

A confusion matrix has no display of its own: scikit-learn's takes ours as it is,
``ConfusionMatrixDisplay(np.array(task.confusion), display_labels=task.classes)``.
"""

from __future__ import annotations

import numpy as np

from .curves import Margins
from .learning import LearningCurves, learning_curves, milestones
from .shapes import Shape, additive_shapes

_SHOW = ("error", "risk", "bound")


def axes_of(ax):
    """The axes to draw on, new ones where there are none, and their figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "multiboost[plot]"') from error
    if ax is None:
        _, ax = plt.subplots()
    return ax, ax.figure


def _numbers(values) -> np.ndarray:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


class LearningCurveDisplay:
    """Error, risk and the bound prod Z over the rounds.

    Parameters
    ----------
    curves : LearningCurves

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib Line2D
        By the names of the curves: training_error, error, training_risk, risk, bound.
    """

    def __init__(self, curves: LearningCurves):
        self.curves = curves

    @classmethod
    def from_estimator(
        cls, estimator, X=None, y=None, *, sample_weight=None, X_train=None, y_train=None, ax=None, show=_SHOW
    ):
        """Compute and plot the curves of a fitted classifier.

        Parameters
        ----------
        estimator : fitted estimator
            Fitted.
        X, y, sample_weight
            Held-out rows; without them only the curves of training are drawn.
        X_train, y_train
            Training rows; without them the training error is the one that ``fit`` kept.
        ax : matplotlib Axes, default=None
        show : sequence of {"error", "risk", "bound"}

        Returns
        -------
        LearningCurveDisplay
        """
        curves = learning_curves(estimator, X, y, sample_weight, X_train=X_train, y_train=y_train)
        return cls(curves).plot(ax=ax, show=show)

    def plot(self, ax=None, *, show=_SHOW):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        show : sequence of {"error", "risk", "bound"}

        Returns
        -------
        LearningCurveDisplay
        """
        strange = [what for what in show if what not in _SHOW]
        if strange:
            raise ValueError(f"show takes {', '.join(map(repr, _SHOW))}; got {strange[0]!r}")
        self.ax_, self.figure_ = axes_of(ax)
        c = self.curves
        styles = {
            "training_error": ("error", c.training_error, f"training {c.measure}", {"color": "C0"}),
            "error": ("error", c.error, f"{c.measure} of the given rows", {"color": "C1"}),
            "training_risk": ("risk", c.training_risk, "training risk", {"color": "C0", "linestyle": "--"}),
            "risk": ("risk", c.risk, "risk of the given rows", {"color": "C1", "linestyle": "--"}),
            "bound": ("bound", c.bound, r"bound $\prod Z$", {"color": "C7", "linestyle": ":"}),
        }
        self.lines_ = {}
        for name, (what, values, label, style) in styles.items():
            if what in show and any(v is not None for v in values):
                (self.lines_[name],) = self.ax_.plot(c.rounds, _numbers(values), label=label, **style)
        self.ax_.set(xlabel="rounds", ylabel=c.measure if tuple(show) == ("error",) else f"{c.measure}, risk")
        self.ax_.set_ylim(bottom=0.0)
        self.ax_.legend()
        return self


class MarginDistributionDisplay:
    """Cumulative distribution of the normalised margins after several rounds.

    Parameters
    ----------
    margins : dict of int to Margins
        By round.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of int to matplotlib Line2D
    """

    def __init__(self, margins: dict[int, Margins]):
        self.margins = margins

    @classmethod
    def from_estimator(cls, estimator, X, y, *, sample_weight=None, rounds=None, ax=None):
        """Compute and plot the margins of a fitted classifier.

        Parameters
        ----------
        estimator : fitted estimator
            Fitted.
        X, y, sample_weight
        rounds : iterable of int, default=None
            After which rounds; None means four of them up to the last.
        ax : matplotlib Axes, default=None

        Returns
        -------
        MarginDistributionDisplay
        """
        at = milestones(estimator.ensemble_.n_rounds) if rounds is None else sorted({int(t) for t in rounds})
        return cls(learning_curves(estimator, X, y, sample_weight, rounds=at, margin_rounds=at).margins).plot(ax=ax)

    def plot(self, ax=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        MarginDistributionDisplay
        """
        self.ax_, self.figure_ = axes_of(ax)
        self.lines_ = {}
        for t, m in self.margins.items():
            label = "after 1 round" if t == 1 else f"after {t} rounds"
            (self.lines_[t],) = self.ax_.step([m.theta[0], *m.theta], [0.0, *m.share], where="post", label=label)
        self.ax_.axvline(0.0, color="0.6", linewidth=0.8)
        self.ax_.set(xlabel="margin", ylabel="share at or below", xlim=(-1.0, 1.0), ylim=(0.0, 1.0))
        self.ax_.legend()
        return self


class ShapeDisplay:
    """The additive function of one column, a line or a row of bars for each label.

    Parameters
    ----------
    shape : Shape
    labels : list of str
        Names of all labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of str to matplotlib artist
        By label.
    """

    def __init__(self, shape: Shape, labels: list[str]):
        self.shape, self.labels = shape, labels

    @classmethod
    def from_estimator(cls, estimator, feature, *, labels=None, ax=None):
        """Compute and plot the shape of one column.

        Parameters
        ----------
        estimator : fitted estimator
            Fitted, of stumps or other base learners that cut one column.
        feature : str or int
            Name or position of a column.
        labels : list of str, default=None
            Which labels to draw; None means all.
        ax : matplotlib Axes, default=None

        Returns
        -------
        ShapeDisplay
        """
        found = additive_shapes(estimator)
        for shape in found.shapes:
            if feature in (shape.name, shape.column):
                return cls(shape, found.labels).plot(ax=ax, labels=labels)
        used = ", ".join(shape.name for shape in found.shapes)
        raise ValueError(f"no round uses the column {feature!r}; those used are {used}")

    def plot(self, ax=None, *, labels=None):
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        labels : list of str, default=None

        Returns
        -------
        ShapeDisplay
        """
        self.ax_, self.figure_ = axes_of(ax)
        shape, chosen = self.shape, self.labels if labels is None else list(labels)
        unknown = [name for name in chosen if name not in self.labels]
        if unknown:
            raise ValueError(f"there is no label {unknown[0]!r}; there are {', '.join(self.labels)}")
        self.lines_ = {}
        for name in chosen:
            k = self.labels.index(name)
            if shape.categories is None:
                low, high = shape.thresholds[0], shape.thresholds[-1]
                pad = 0.05 * (high - low) or 1.0
                edges = np.concatenate([[low - pad], shape.thresholds, [high + pad]])
                self.lines_[name] = self.ax_.stairs(shape.values[:, k], edges, baseline=None, label=name)
                self.ax_.plot(high + 2 * pad, shape.missing[k], "o", color=self.lines_[name].get_edgecolor())
            else:
                where = np.arange(len(shape.categories) + 1)
                heights = np.append(shape.values[:, k], shape.missing[k])
                (self.lines_[name],) = self.ax_.plot(where, heights, "o", label=name)
                self.ax_.set_xticks(where, [*shape.categories, "missing"], rotation=45, ha="right")
        self.ax_.axhline(0.0, color="0.6", linewidth=0.8)
        of_missing = "" if shape.categories else " (dot: missing)"
        self.ax_.set(xlabel=f"{shape.name}{of_missing}", ylabel="contribution to the score")
        self.ax_.legend()
        return self
