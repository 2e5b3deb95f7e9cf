"""How much the full benchmark measures."""

from __future__ import annotations

from typing import NamedTuple

from .peers import ROUNDS


class Size(NamedTuple):
    """How much is measured; the defaults are the whole of it."""

    limit: float = 900.0  # seconds that one fit of a peer may take
    cut: int | None = None  # rows of each part of a data set that are used, with about 16 columns; None: all
    rounds: tuple[int, ...] = ROUNDS  # of the peers
    own_rounds: int | None = None  # of ours; None: those of the settings
    repeats: int = 3
    scaling: float = 1.0  # factor of the sizes of generated tables
    scaling_rounds: int = 20
    prediction_rounds: int = 1000
    prediction_rows: int = 100_000
    calls: int = 2000  # of one row
    memory_rounds: int = 20  # the peak is reached early
    memory_tree_rounds: int = 10  # of AdaBoost, which is far slower
    thread_rounds: int = 100
    thread_rows: int = 10_000  # of mnist
    large_rows: int = 10_000_000
    large_rounds: int = 50
    core_rounds: int = 100


FULL = Size()
SMALL = Size(
    limit=30.0,
    cut=300,
    rounds=(2, 4),
    own_rounds=10,
    repeats=2,
    scaling=0.02,
    scaling_rounds=3,
    prediction_rounds=10,
    prediction_rows=1000,
    calls=20,
    memory_rounds=3,
    memory_tree_rounds=2,
    thread_rounds=3,
    thread_rows=500,
    large_rows=50_000,
    large_rounds=3,
    core_rounds=3,
)
