"""Cells of a long run: measured one by one, each written as soon as it is finished, so that the run can go on later."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from .data import DataMissing
from .measure import load, machine, source, write_json

MINUTE = 60.0


class Cell(NamedTuple):
    """Something to measure, and the settings it is measured with.

    A finished cell is measured again if its settings have changed, or if one of the cells that it comes ``after`` is
    measured again.  ``ours`` cells time our own code and are measured again when that has changed, too.  A cell that
    was skipped or cut short because of a ``limit`` of seconds is measured again when the limit is higher.
    """

    key: str
    settings: dict
    measure: Callable[[Results], dict]
    ours: bool = True
    after: tuple[str, ...] = ()
    limit: float | None = None


class Results:
    """Finished cells in a JSON file.

    Parameters
    ----------
    path : Path
        File to read, if it is there, and to write.
    fresh : bool, default=False
        Whether to begin anew instead of going on.
    keep : bool, default=False
        Whether cells of our code are kept although the code is another now.
    **run : dict
        What is to be kept about this run, besides the machine, the load and the date.
    """

    def __init__(self, path: Path, fresh: bool = False, keep: bool = False, **run):
        self.path = path
        self.keep = keep
        self.source = source()
        self.content: dict = {"runs": [], "cells": {}, "failed": {}}
        if path.exists() and not fresh:
            self.content = json.loads(path.read_text(encoding="utf-8"))
        before = load()
        if before is not None and before > 0.5:
            print(f"the machine is busy, load {before:.1f}: times of this run are not to be relied on", flush=True)
        self.content["runs"].append({"machine": machine(), "load_before": before, **run})

    def has(self, cell: Cell) -> bool:
        """Whether a cell is finished, with these settings."""
        kept = self.content["cells"].get(cell.key)
        if kept is None or kept["settings"] != json.loads(json.dumps(cell.settings)):
            return False
        if cell.limit is not None and cell.limit > kept["found"].get("limit", cell.limit):
            return False
        return not cell.ours or self.keep or kept["source"] == self.source

    def waiting(self, cells: Iterable[Cell]) -> list[Cell]:
        """Cells that have to be measured."""
        waiting: list[Cell] = []
        keys: set[str] = set()
        for cell in cells:
            if not self.has(cell) or not keys.isdisjoint(cell.after):
                waiting.append(cell)
                keys.add(cell.key)
        return waiting

    def forget(self, waiting: Iterable[Cell], plan: Iterable[Cell]) -> None:
        """Drop what is no longer valid: cells that wait, and those of the plan's parts that are not in the plan."""
        plan = list(plan)
        parts, valid = {_part(cell) for cell in plan}, {cell.key for cell in plan} - {cell.key for cell in waiting}
        for kind in ("cells", "failed"):
            kept = self.content[kind]
            self.content[kind] = {k: v for k, v in kept.items() if k in valid or k.partition("/")[0] not in parts}

    def found(self, key: str) -> dict | None:
        """What a cell found; None if it is not finished or was skipped."""
        cell = self.content["cells"].get(key)
        return None if cell is None or "skipped" in cell["found"] else cell["found"]

    def put(self, cell: Cell, found: dict, seconds: float) -> None:
        """A cell is finished."""
        self.content["cells"][cell.key] = {
            "settings": cell.settings,
            "run": len(self.content["runs"]) - 1,
            "source": self.source,
            "load_after": load(),
            "seconds": round(seconds, 3),
            "found": found,
        }
        self.content["failed"].pop(cell.key, None)
        write_json(self.path, self.content)

    def fail(self, cell: Cell, why: str) -> None:
        """A cell could not be measured; the next run tries again."""
        self.content["cells"].pop(cell.key, None)
        self.content["failed"][cell.key] = why
        write_json(self.path, self.content)

    @property
    def failed(self) -> dict[str, str]:
        """Why cells could not be measured."""
        return self.content["failed"]


def duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class Progress:
    """One line a minute: time, cell, how many are done, how long the others may take.

    A cell that is not done is expected to take as long as the mean of those of its part, which is what its key begins
    with, or of all parts if none of its own is done.

    Parameters
    ----------
    cells : list of Cell
        Those to be measured.
    every : float
        Seconds from line to line.
    """

    def __init__(self, cells: list[Cell], every: float = MINUTE):
        self.waiting = [_part(cell) for cell in cells]
        self.done: list[tuple[str, float]] = []
        self.cell: Cell | None = None
        self.every = every
        self.start = time.perf_counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._lines, daemon=True)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(self, *exception) -> None:
        self._stop.set()
        self._thread.join()

    def _lines(self) -> None:
        while not self._stop.wait(self.every):
            print(self.line(), flush=True)

    def finish(self, cell: Cell, seconds: float) -> None:
        """A cell took so many seconds."""
        self.waiting.remove(_part(cell))
        self.done.append((_part(cell), seconds))

    def left(self) -> float | None:
        """Seconds that the waiting cells may take; None as long as none is done."""
        if not self.done:
            return None
        everything = [seconds for _, seconds in self.done]
        total = 0.0
        for part in self.waiting:
            like = [seconds for name, seconds in self.done if name == part] or everything
            total += sum(like) / len(like)
        return total

    def line(self) -> str:
        """What is printed."""
        left = self.left()
        rest = "unknown" if left is None else f"about {duration(left)}"
        name = "" if self.cell is None else self.cell.key
        total = len(self.waiting) + len(self.done)
        return f"{duration(time.perf_counter() - self.start)}  {len(self.done)}/{total} done, {rest} left  {name}"


def _part(cell: Cell) -> str:
    return cell.key.partition("/")[0]


def run(cells: Iterable[Cell], results: Results, plan: Iterable[Cell] | None = None, every: float = MINUTE) -> None:
    """Measure the cells that are not finished; what fails is noted and does not stop the others.

    Parameters
    ----------
    cells : iterable of Cell
    results : Results
    plan : iterable of Cell, default=None
        All cells of the parts that ``cells`` are from, where those are not all; what else the file has of these parts
        is dropped.
    every : float
        Seconds from line to line.
    """
    cells = list(cells)
    waiting = results.waiting(cells)
    results.forget(waiting, cells if plan is None else plan)
    print(f"{len(cells)} cells, {len(cells) - len(waiting)} of them finished before", flush=True)
    with Progress(waiting, every) as progress:
        for cell in waiting:
            progress.cell = cell
            start = time.perf_counter()
            try:
                found = cell.measure(results)
            except (DataMissing, ImportError) as problem:
                results.fail(cell, str(problem))
                print(f"skipped {cell.key}: {problem}", flush=True)
            except Exception as problem:  # hours of other cells are not to be lost
                results.fail(cell, f"{type(problem).__name__}: {problem}")
                print(f"failed {cell.key}: {type(problem).__name__}: {problem}", flush=True)
            else:
                results.put(cell, found, time.perf_counter() - start)
            progress.finish(cell, time.perf_counter() - start)
    print(f"done in {duration(time.perf_counter() - progress.start)}, {len(results.failed)} not measured", flush=True)
