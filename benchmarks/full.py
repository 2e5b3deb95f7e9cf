"""The benchmark of `make bench-full`: hours, can be stopped and goes on where it was, one line of progress a minute."""

from __future__ import annotations

import argparse
import subprocess
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from . import core, memory, prediction, race, scaling, startup, threads
from .cells import Cell, Results, run
from .measure import figure, version
from .ours import NAME, REAL
from .peers import RACERS, THREADS
from .size import FULL, SMALL, Size

RESULTS = Path(__file__).resolve().parent / "results" / "full.json"
LOCAL = RESULTS.with_name("local") / "small.json"
LARGE_SECONDS, LARGE_BYTES = 300.0, 4e9  # asked for


def startup_cells(size: Size) -> Iterator[Cell]:
    """Imports, and the first fits of a process."""
    yield Cell("startup/digits", {}, lambda _: {"figures": list(startup.figures())})


def core_cells(size: Size) -> Iterator[Cell]:
    """Milliseconds of a round."""
    given = {"cut": size.cut, "rounds": size.core_rounds, "threads": THREADS}

    def discrete(_: Results) -> dict:
        letter, mnist = (race.table(name, size.cut).split for name in ("letter", "mnist"))
        return {"figures": list(core.discrete(letter, mnist, size.core_rounds))}

    def real(_: Results) -> dict:
        return {"figures": list(core.real(race.table("mnist", size.cut).split, size.core_rounds))}

    yield Cell("core/discrete votes", given, discrete)
    yield Cell("core/real votes", given, real)


def memory_cells(size: Size) -> Iterator[Cell]:
    """Peak memory on MNIST, ours and the peers', each in a fresh process."""
    for method in (NAME, *RACERS):
        mine = method == NAME
        rounds = size.memory_tree_rounds if method.startswith("AdaBoost") else size.memory_rounds
        parameters = {**REAL, "base_learner": "tree:50", "n_estimators": rounds} if mine else {"rounds": rounds}

        def measure(_: Results, method=method, parameters=parameters) -> dict:
            split = race.table("mnist", size.cut).split
            try:
                return memory.memory_of_fit(split.X, split.y, method, parameters, size.limit)
            except subprocess.TimeoutExpired:
                return {"skipped": f"not done in {size.limit:.0f} s", "limit": size.limit}

        given = {"cut": size.cut, "parameters": parameters, "threads": THREADS}
        given |= {} if mine else {"version": version(RACERS[method].package)}
        yield Cell(f"memory/{method}", given, measure, ours=mine, limit=size.limit)


def large_cells(size: Size) -> Iterator[Cell]:
    """A large table."""
    n, rounds = size.large_rows, size.large_rounds

    def measure(_: Results) -> dict:
        found = memory.large_fit(n, rounds)
        note = f"{found['input_bytes'] / 1e9:.2f} GB of it are the table"
        name = f"{n:,} rows x 20 columns, 5 classes, {rounds} trees of 20 leaves"
        return found | {
            "figures": [
                figure(f"{name}, fit", found["seconds"], LARGE_SECONDS, "s"),
                figure(f"{name}, peak memory of the process", found["bytes"] / 1e9, LARGE_BYTES / 1e9, "GB", note),
            ]
        }

    yield Cell("large/generated", {"rows": n, "rounds": rounds, "threads": THREADS}, measure)


PARTS: dict[str, Callable[[Size], Iterator[Cell]]] = {
    "startup": startup_cells,
    "core": core_cells,
    "memory": memory_cells,
    "large": large_cells,
    "prediction": prediction.cells,
    "threads": threads.cells,
    "scaling": scaling.cells,
    "race": race.cells,
}


def main(arguments: list[str] | None = None) -> None:
    """Measure what is not finished of all parts, or of those that are named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.full", description=__doc__)
    some = f"which parts: {', '.join(PARTS)}, or cells of them such as race/letter; all by default"
    parser.add_argument("parts", nargs="*", metavar="part", help=some)
    parser.add_argument("--fresh", action="store_true", help="begin anew; what the file has is lost")
    parser.add_argument("--keep", action="store_true", help="keep our finished cells although our code has changed")
    parser.add_argument("--limit", type=float, help="seconds that one fit of a peer may take, 900 by default")
    parser.add_argument("--small", action="store_true", help="few rows and rounds: to see that it runs")
    parser.add_argument(
        "--output", type=Path, help="JSON file; results/full.json, with --small results/local/small.json"
    )
    parser.add_argument("--list", action="store_true", help="only print the cells, finished ones with a mark")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.parts if name.partition("/")[0] not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    if given.limit is not None and not given.limit > 0:
        parser.error(f"--limit is a number of seconds above 0; got {given.limit}")
    size = SMALL if given.small else FULL
    if given.limit is not None:
        size = size._replace(limit=given.limit)
    names = given.parts or list(PARTS)
    plan = [cell for part in dict.fromkeys(name.partition("/")[0] for name in names) for cell in PARTS[part](size)]
    chosen = [cell for cell in plan if any(f"{cell.key}/".startswith(f"{name}/") for name in names)]
    if not chosen:
        parser.error(f"there are no cells {', '.join(names)}; --list shows those of a part")
    output = given.output or (LOCAL if given.small else RESULTS)
    results = Results(output, given.fresh, given.keep, threads=THREADS, parts=names)
    if given.list:
        waiting = results.waiting(chosen)
        for cell in chosen:
            print("-" if cell in waiting else "+", cell.key)
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)  # of the peers
        warnings.filterwarnings("ignore", message="X does not have valid feature names")  # LightGBM, on arrays
        try:
            run(chosen, results, plan)
        except KeyboardInterrupt:
            raise SystemExit(f"stopped; finished cells are in {output}, the same command goes on") from None


if __name__ == "__main__":
    main()
