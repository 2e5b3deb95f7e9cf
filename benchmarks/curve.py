"""Learning curves: test error against rounds and training seconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .measure import error_of


def first_at(errors, level: float) -> int | None:
    """The first round whose error is at most the level."""
    reached = np.flatnonzero(np.asarray(errors) <= level + 1e-9)
    return int(reached[0]) + 1 if reached.size else None


def log_rounds(n: int, points: int = 20) -> list[int]:
    """Numbers of rounds from 1 to n, about evenly spaced on a logarithmic axis."""
    return np.unique(np.geomspace(1, n, points).round().astype(int)).tolist()


class Curve(NamedTuple):
    """Test errors in percent after some rounds, and the training seconds up to there."""

    rounds: list[int]
    seconds: list[float]
    errors: list[float]

    @classmethod
    def of(cls, rounds, seconds, errors) -> Curve:
        """Rounded, as it is kept in a file."""
        return cls([int(t) for t in rounds], [float(f"{s:.5g}") for s in seconds], [round(float(e), 4) for e in errors])

    def first(self, level: float) -> tuple[int, float] | None:
        """Rounds and seconds to an error of at most the level; None if it is never reached."""
        position = first_at(self.errors, level)
        return None if position is None else (self.rounds[position - 1], self.seconds[position - 1])

    def until(self, rounds: int) -> Curve:
        """The beginning."""
        end = int(np.searchsorted(self.rounds, rounds, side="right"))
        return Curve(*(values[:end] for values in self))

    def thinned(self, points: int = 60) -> Curve:
        """At about so many rounds, evenly spaced on a logarithmic axis."""
        where = np.searchsorted(self.rounds, log_rounds(self.rounds[-1], points))
        return Curve(*([values[i] for i in np.unique(where)] for values in self))


def own_curve(model, seconds: float, X_test, y_test) -> Curve:
    """Every round of a fitted MultiBoostClassifier.

    Each round has its own seconds in the history; what the fit took beyond them (bins, choice of settings) comes before
    the first one.
    """
    each = model.history_["seconds_search"] + model.history_["seconds_update"]
    errors = [error_of(predicted, y_test) for predicted in model.staged_predict(X_test)]
    return Curve.of(range(1, len(each) + 1), seconds - each.sum() + np.cumsum(each), errors)


def peer_curve(peer, seconds: float, X_test, y_test, points: int = 20, grid: Iterable[int] = ()) -> Curve:
    """Some rounds of a fitted peer, those of the grid among them; seconds as it has noted them, else in proportion."""
    rounds = sorted({*log_rounds(peer.made, points), *(t for t in grid if t <= peer.made)})
    errors = [error_of(predicted, y_test) for predicted in peer.staged(X_test, rounds)]
    return Curve.of(rounds, peer.seconds_at(rounds, seconds), errors)
