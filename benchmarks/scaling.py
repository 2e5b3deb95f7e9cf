"""Scaling: seconds of a round and of a fit against rows, columns, classes, leaves and rounds, each varied alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from .cells import Cell, Results
from .data import generated
from .measure import Times, seconds_of
from .ours import DISCRETE, REAL, ours, round_seconds, warm_up
from .peers import THREADS
from .size import Size

BASE = {"rows": 20_000, "columns": 20, "classes": 5, "leaves": 20}
AXES = {
    "rows": (1000, 3000, 10_000, 30_000, 100_000, 300_000),
    "columns": (4, 12, 40, 120, 400, 800),
    "classes": (2, 5, 10, 30, 100, 300),
    "leaves": (2, 4, 8, 16, 32, 64, 128, 256),
    "rounds": (10, 30, 100, 300, 1000, 3000),
}
LEARNERS = ("real trees", "discrete stumps")
TOLERANCE = 0.05  # of an exponent, for the noise of times


def exponent(values, seconds) -> float:
    """The power of the values by which seconds grow: least squares of the logarithms."""
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])


def upper(values, seconds) -> tuple[np.ndarray, np.ndarray]:
    """The last decade of the values."""
    values, seconds = np.asarray(values), np.asarray(seconds)
    last = values >= values.max() / 10
    return values[last], seconds[last]


@lru_cache(maxsize=1)
def table(rows: int, columns: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """A generated table."""
    return generated(rows, columns, classes)


def point(axis: str, value: int, learner: str, size: Size) -> dict:
    """Fits of one size: seconds of the whole fit, and the median seconds of a round."""
    shape = {**BASE, "rows": int(size.scaling * BASE["rows"]), "rounds": size.scaling_rounds, axis: value}
    X, y = table(shape["rows"], shape["columns"], shape["classes"])
    trees = learner == "real trees"
    parameters = {"base_learner": f"tree:{shape['leaves']}", **REAL} if trees else {"base_learner": "stump", **DISCRETE}
    warm_up(X, y, **parameters)
    seconds, rounds = [], []
    for _ in range(size.repeats):
        model = ours(n_estimators=shape["rounds"], **parameters)
        seconds.append(seconds_of(lambda model=model: model.fit(X, y)))
        rounds.append(float(np.median(round_seconds(model))))
    return {"seconds": Times.of(seconds)._asdict(), "round": Times.of(rounds)._asdict(), "made": model.n_estimators_}


def values_of(axis: str, size: Size) -> list[int]:
    """Values along an axis; the small run has fewer and smaller ones."""
    values = AXES[axis]
    if size.scaling == 1.0:
        return list(values)
    return [max(2, int(size.scaling * v)) for v in values[3:]] if axis == "rows" else list(values[:3])


def key(axis: str, value: int, learner: str) -> str:
    """Cell of a point."""
    return f"scaling/{learner}/{axis}/{value}"


def cells(size: Size) -> Iterator[Cell]:
    """Axis by axis, both learners on a table in turn; stumps have no leaves to vary."""
    for axis in AXES:
        for value in values_of(axis, size):
            for learner in LEARNERS:
                if axis == "leaves" and learner != "real trees":
                    continue
                given = {"base": BASE, "scaling": size.scaling, "rounds": size.scaling_rounds, "repeats": size.repeats}

                def measure(_: Results, axis=axis, value=value, learner=learner) -> dict:
                    return point(axis, value, learner, size)

                yield Cell(key(axis, value, learner), {**given, "threads": THREADS}, measure)
