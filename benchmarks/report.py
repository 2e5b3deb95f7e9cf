"""The report of a run: rows of what was asked for and what was reached."""

from __future__ import annotations

import time
from pathlib import Path

from .measure import figure, load, machine, source, write_json


class Report:
    """Rows, printed as they come and written as JSON at the end.

    Parameters
    ----------
    budget : float
        Seconds the whole run may take.
    """

    def __init__(self, budget: float):
        self.budget = budget
        self.start = time.perf_counter()
        self.rows: list[dict] = []
        self.skips: list[str] = []
        self.peers: list[dict] = []
        self.load = load()
        self.source = source()
        if self.load is not None and self.load > 0.5:
            print(f"the machine is busy, load {self.load:.1f}: times of this run are not to be relied on", flush=True)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.budget - self.elapsed

    def title(self, text: str) -> None:
        """Head of a part of the table."""
        print(f"\n{text}   [{self.elapsed:.0f} s]\n{'':55}{'asked for':>14}{'reached':>14}", flush=True)

    def row(self, name: str, reached: float | None, asked: float | None, unit: str, note: str = "", **details) -> None:
        """A figure that should be at most ``asked``; None where none is asked for or none was reached."""
        self.figure(figure(name, reached, asked, unit, note, **details))

    def figure(self, found: dict) -> None:
        """A row that was made elsewhere."""
        self.rows.append(found)
        name, asked, reached, unit, ok, note = (
            found[key] for key in ("name", "asked", "reached", "unit", "ok", "note")
        )
        mark = {None: " ", True: "ok", False: "NO"}[ok]
        asked_text = "" if asked is None else f"{asked:.4g} {unit}"
        reached_text = "none" if reached is None else f"{reached:.4g} {unit}"
        print(f"{mark:3}{name[:52]:<52}{asked_text:>14}{reached_text:>14}   {note}".rstrip(), flush=True)

    def peer(self, data: str, name: str, rounds: int, threads: int, error: float, seconds: float) -> None:
        """A setting of another package."""
        found = {"rounds": rounds, "threads": threads, "error": error, "seconds": seconds}
        self.peers.append({"data": data, "name": name, **found})
        print(f"{'':4}{name:<24}{rounds:>5} rounds  {threads} threads  {error:>6.2f} %  {seconds:>7.2f} s", flush=True)

    def skip(self, what: str, why: str) -> None:
        """Something that was not measured."""
        self.skips.append(f"{what}: {why}")
        print(f"{'':4}skipped {what}: {why}", flush=True)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        content = {
            "machine": machine(),
            "source_changed_during_run": source() != self.source,
            "load_before": self.load,
            "load_after": load(),
            "seconds": round(self.elapsed, 1),
            "rows": self.rows,
        }
        write_json(path, {**content, "peers": self.peers, "skipped": self.skips})

    def close(self) -> None:
        """Count the rows that reached what was asked for."""
        asked = [row for row in self.rows if row["ok"] is not None]
        met = sum(row["ok"] for row in asked)
        print(f"\n{met} of {len(asked)} figures reached, {len(self.skips)} skipped, {self.elapsed:.0f} s in all")
