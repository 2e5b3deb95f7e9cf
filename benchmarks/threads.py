"""Threads: seconds with one thread over seconds with two."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from . import data
from .cells import Cell
from .measure import Times, in_turn, version
from .ours import NAME, ours
from .peers import PEERS
from .race import SETTINGS
from .size import Size

SETS = ("letter", "adult", "mnist")
NAMES = (NAME, "LightGBM", "XGBoost", "CatBoost")


@lru_cache(maxsize=1)
def table(name: str, size: Size) -> tuple:
    """Training part of a set; of mnist some rows."""
    split = data.adult() if name == "adult" else data.standard(name).split
    rows = size.thread_rows if name == "mnist" else size.cut
    return split.X[:rows], split.y[:rows]


def model(name: str, method: str, rounds: int, threads: int):
    """A classifier with so many threads."""
    if method != NAME:
        return PEERS[method](rounds, threads)
    return ours(**{**SETTINGS.get(name, {}), "n_estimators": rounds}, threads=threads)


def scaling(name: str, method: str, size: Size) -> dict:
    """Fits with one and two threads in turn."""
    X, y = table(name, size)
    if method != NAME and name == "adult":
        X = PEERS[method].table(X)
    model(name, method, 2, 2).fit(X[:1000], y[:1000])  # imports and kernels
    actions = {n: (lambda n=n: model(name, method, size.thread_rounds, n).fit(X, y)) for n in (1, 2)}
    one, two = in_turn(actions, size.repeats).values()
    return {
        "seconds": {"1": Times.of(one)._asdict(), "2": Times.of(two)._asdict()},
        "gain": Times.of(np.divide(one, two))._asdict(),
    }


def key(name: str, method: str) -> str:
    """Cell of a set and a package."""
    return f"threads/{name}/{method}"


def cells(size: Size) -> Iterator[Cell]:
    """Set by set."""
    for name in SETS:
        for method in NAMES:
            given = {"rounds": size.thread_rounds, "rows": size.thread_rows if name == "mnist" else size.cut}
            mine = method == NAME
            given |= {"parameters": SETTINGS.get(name)} if mine else {"version": version(PEERS[method].package)}
            given["repeats"] = size.repeats
            yield Cell(key(name, method), given, lambda _, n=name, m=method: scaling(n, m, size), ours=mine)
