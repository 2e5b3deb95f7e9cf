"""How far a round is from what the machine could do: bytes it must touch, and how fast bytes can be had.

    python -m benchmarks.limits

The bytes of a round are counted from the layout of the table: every stored code is read once, every sample's payload
once per block, and of F, the weights and the payload what the update reads and writes.  What is added to histograms
is counted apart, because histograms stay in a core's cache: the rate of such additions is measured on arrays of a
block's size.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from multiboost.boosting.run import layout_of
from multiboost.criteria import CRITERIA
from multiboost.data.binned import Binned
from multiboost.data.kinds import recognise
from multiboost.data.table import as_table
from multiboost.data.target import Target
from multiboost.kernels.lanes import add_lanes
from multiboost.kernels.team import Team, next_item

from . import data
from .measure import Times, seconds_of
from .ours import DISCRETE, REAL, ours, round_seconds
from .peers import THREADS

_CHUNK = 1 << 17


@njit(nogil=True, fastmath=True)
def _read(tid, n_threads, sync, x, out):
    """Sum of x: as fast as memory can be read."""
    chunk = next_item(sync)
    total = 0.0
    while chunk * _CHUNK < x.size:
        for k in range(chunk * _CHUNK, min(x.size, chunk * _CHUNK + _CHUNK)):
            total += x[k]
        chunk = next_item(sync)
    out[tid] = total


@njit(nogil=True)
def _add(tid, n_threads, sync, places, payload, histogram):
    """Twelve lanes to a place of the thread's own histogram, for every place: a histogram without its table."""
    own = histogram[tid]
    for r in range(tid, places.shape[0], n_threads):
        for k in range(places.shape[1]):
            add_lanes(own, np.intp(places[r, k]) * 12, payload, np.intp(r * 12), 12)


def bandwidth(threads: int, repeats: int = 5) -> float:
    """Bytes per second read from memory, the best of some repeats."""
    x = np.ones(50_000_000)
    with Team(threads) as team:
        return max(x.nbytes / seconds_of(lambda: team.run(_read, x, np.zeros(threads))) for _ in range(repeats))


def additions(threads: int, rows: int, n_bytes: int, repeats: int = 5) -> float:
    """Additions of twelve lanes per second to histograms of so many bytes."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, n_bytes // 48, (rows, 16), dtype=np.uint16 if n_bytes // 48 <= 65536 else np.uint32)
    payload = np.ones(rows * 12, np.int32)
    histogram = np.zeros((threads, n_bytes // 4 + 12), np.int32)
    with Team(threads) as team:
        team.run(_add, places, payload, histogram)
        return max(places.size / seconds_of(lambda: team.run(_add, places, payload, histogram)) for _ in range(repeats))


def bytes_of_a_pass(split: data.Split, votes: str) -> dict[str, float]:
    """What one pass over all rows of the table touches."""
    kind = recognise(split.y)
    target = Target(kind, split.y, "auto", None, None)
    table = as_table(split.X)
    criterion = CRITERIA.get("edge" if votes == "discrete" else "z").of_run(1.0, target.signed.size)
    with Team(THREADS) as team:
        blocks = layout_of(criterion, Binned.of(table, n_threads=THREADS), target, team, last=True).blocks
    lanes = -(-(kind.n_labels + 1) // 4) * 4
    n = len(split.y)
    return {
        "codes": float(blocks.codes.size),
        "bytes of codes": float(blocks.codes.nbytes + blocks.row_start.nbytes),
        "bytes of payloads": float(n * lanes * 4 * blocks.block.size),
        "bytes of the update": float(n * kind.n_labels * 8 * 7),  # F twice, W0 three times, G twice, payload
    }


def main() -> None:
    """Print a table."""
    for threads in (1, THREADS):
        print(f"{threads} threads: {bandwidth(threads) / 1e9:.1f} GB/s read from memory")
        for n_bytes in (16_000, 200_000, 600_000, 4_000_000):
            rate = additions(threads, 200_000, n_bytes)
            print(f"  histograms of {n_bytes / 1000:g} kB: {1e9 / rate:.2f} ns for an addition of twelve lanes")
    split = data.mnist()
    for votes, learner, parameters in (("discrete", "stump", DISCRETE), ("real", "tree:50", REAL)):
        for name, value in bytes_of_a_pass(split, votes).items():
            print(f"mnist, {votes} votes, {name}: {value / 1e6:.1f} million")
        ours(learner, 1, **parameters).fit(split.X, split.y)
        times = Times.of(1000 * round_seconds(ours(learner, 20, **parameters).fit(split.X, split.y)))
        print(f"mnist, {votes} votes, {learner}: {times.median:.1f} ms a round, {times.low:.1f} to {times.high:.1f}")


if __name__ == "__main__":
    main()
