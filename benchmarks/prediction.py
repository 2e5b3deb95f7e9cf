"""Prediction: rows per second at equal test error, and microseconds of one row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np

from .cells import Cell
from .curve import Curve, own_curve, peer_curve
from .data import Split
from .measure import Times, error_of, in_turn, seconds_of, version
from .ours import DISCRETE, NAME, ours, warm_up
from .peers import PEERS, RACERS, THREADS, Peer
from .race import SETTINGS, table
from .size import Size

SETS = ("pendigits", "letter")
STANDARD = 100  # rounds of the models that are compared as they are
BATCHES = 5
BATCH_SECONDS = 10.0  # of the slower of the two, about; it is given fewer rows where it would take longer
FEWEST_ROWS = 2000
POINTS = 80  # of a learning curve
ONE_ROW_SET = "pendigits"  # 16 columns
ASKED = {"200 stumps": 10.0, "200 trees": 50.0}  # microseconds of one row through a compiled predictor
LEARNERS = {"200 stumps": {"base_learner": "stump", **DISCRETE}, "200 trees": SETTINGS[ONE_ROW_SET]}


@lru_cache(maxsize=1)
def own_errors(name: str, rounds: int, cut: int | None) -> Curve:
    """Our longest learning curve on a data set, at as many rounds as a peer's: a finer one has luckier rounds."""
    split = table(name, cut).split
    parameters = {**SETTINGS[name], "n_estimators": rounds}
    warm_up(split.X, split.y, **parameters)
    model = ours(**parameters).fit(split.X, split.y)
    return own_curve(model, 0.0, split.X_test, split.y_test).thinned(POINTS)


def batch(split: Split, rows: int) -> np.ndarray:
    """So many test rows, the same ones again and again if need be."""
    return split.X_test[np.arange(rows) % len(split.y_test)]


def rows_in_time(models, rows: np.ndarray) -> np.ndarray:
    """As many of the rows as the slowest of the models answers in `BATCH_SECONDS`."""
    few = rows[:FEWEST_ROWS]
    for model in models:
        model.predict(few[:100])
    slowest = max(seconds_of(lambda m=model: m.predict(few)) for model in models) / len(few)
    return rows[: max(len(few), int(BATCH_SECONDS / slowest))]


def equal_rounds(own: Curve, theirs: Curve) -> tuple[float, int, int]:
    """The lowest error that both reach, and the first rounds of both whose errors are at most that."""
    level = max(min(own.errors), min(theirs.errors))
    return level, own.first(level)[0], theirs.first(level)[0]


def against(name: str, peer: type[Peer], size: Size) -> dict:
    """Rows per second of ours and a peer's model at equal test error, and after 100 rounds of both."""
    split = table(name, size.cut).split
    other = peer(size.prediction_rounds).fit(split.X, split.y)
    their_curve = peer_curve(other, 0.0, split.X_test, split.y_test, POINTS)
    level, t, their_t = equal_rounds(own_errors(name, size.prediction_rounds, size.cut), their_curve)
    standard = min(STANDARD, size.prediction_rounds)
    found: dict = {"level": level}
    for what, own_rounds, peer_rounds in (("equal", t, their_t), ("standard", standard, standard)):
        mine = ours(**{**SETTINGS[name], "n_estimators": own_rounds}).fit(split.X, split.y)
        theirs = other.shortened(peer_rounds, split.X, split.y)
        rows = rows_in_time((mine, theirs), batch(split, size.prediction_rows))
        seconds = in_turn({"ours": partial(mine.predict, rows), "peer": partial(theirs.predict, rows)}, BATCHES)
        each = np.array([seconds["ours"], seconds["peer"]])
        found[what] = {
            "rounds": [own_rounds, peer_rounds],
            "errors": [error_of(m.predict(split.X_test), split.y_test) for m in (mine, theirs)],
            "rows": len(rows),
            "rows_per_second": [Times.of(len(rows) / s)._asdict() for s in each],
            "ratio": Times.of(each[1] / each[0])._asdict(),
        }
    return found


def one_row(model) -> Callable:
    """Prediction of one row, a vector, by the quickest way that a classifier of ours has."""
    if hasattr(model, "compiled"):
        return model.compiled().predict
    return lambda x: model.predict(x[None])


def latency(predict: Callable, rows: np.ndarray, calls: int) -> Times:
    """Microseconds of a call for one row: median, and the borders of the middle nine tenths."""
    for x in rows[:10]:
        predict(x)
    seconds = np.empty(calls)
    for i in range(calls):
        x = rows[i % len(rows)]
        start = time.perf_counter()
        predict(x)
        seconds[i] = time.perf_counter() - start
    low, median, high = 1e6 * np.quantile(seconds, (0.05, 0.5, 0.95))
    return Times(float(median), float(low), float(high), calls)


def own_row(what: str, size: Size) -> dict:
    """One row through ours: `predict`, and the compiled predictor where there is one."""
    split = table(ONE_ROW_SET, size.cut).split
    parameters = {**LEARNERS[what], "n_estimators": min(200, size.prediction_rounds)}
    warm_up(split.X, split.y, **parameters)
    model = ours(**parameters, threads=1).fit(split.X, split.y)
    rows = np.ascontiguousarray(split.X_test, np.float64)
    found: dict = {"predict": latency(lambda x: model.predict(x[None]), rows, size.calls)._asdict()}
    if hasattr(model, "compiled"):
        found["compiled"] = latency(one_row(model), rows, size.calls)._asdict()
    return found


def peer_row(peer: type[Peer], size: Size) -> dict:
    """One row through a peer's model of 100 rounds, on one thread: handing one row to others only costs time."""
    split = table(ONE_ROW_SET, size.cut).split
    model = peer(min(STANDARD, size.prediction_rounds), 1).fit(split.X, split.y).model_
    rows = np.ascontiguousarray(split.X_test, np.float64)
    return {"predict": latency(lambda x: model.predict(x[None]), rows, size.calls)._asdict()}


def cells(size: Size) -> Iterator[Cell]:
    """Pairs of ours and a peer, then single rows."""
    common = {"cut": size.cut, "rounds": size.prediction_rounds, "threads": THREADS}
    for name in SETS:
        for peer in RACERS.values():
            given = {**common, "parameters": SETTINGS[name], "version": version(peer.package)}
            given["rows"] = size.prediction_rows
            yield Cell(f"prediction/{name}/{peer.name}", given, lambda _, n=name, p=peer: against(n, p, size))
    for what, parameters in LEARNERS.items():
        given = {**common, "parameters": parameters, "calls": size.calls}
        yield Cell(f"prediction/one row/{NAME}, {what}", given, lambda _, w=what: own_row(w, size))
    for peer in PEERS.values():
        given = {**common, "calls": size.calls, "version": version(peer.package)}
        yield Cell(f"prediction/one row/{peer.name}", given, lambda _, p=peer: peer_row(p, size), ours=False)
