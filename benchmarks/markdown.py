"""Markdown of the pages that are made from results: tables and numbers."""

from __future__ import annotations

import numpy as np


def spread(values: dict[str, float], digits: int = 3) -> str:
    """Median, and lowest and highest in brackets; one number where there is but one."""
    names = ("median", "low", "high") if "low" in values else ("median", "min", "max")
    median, low, high = (short(values[name], digits) for name in names)
    if values.get("repeats") == 1:
        return median
    return f"{median} ({low} to {high})"


def short(value: float, digits: int) -> str:
    """So many digits that count, never as a power of ten."""
    places = 0 if value == 0 else max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{places}f}"


def bold_lowest(values: list[float | None], shown: list[str]) -> list[str]:
    """Cells of a table; the lowest ones, as they are shown, are in bold."""
    best = min((v for v in values if v is not None), default=None)
    lowest = {text for v, text in zip(values, shown, strict=True) if v == best}
    return [f"**{text}**" if text in lowest else text for text in shown]


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown; numbers, that is all columns but the first, to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def run_table(machine: dict, threads: int, load: float | None) -> str:
    """What a run was made with, as rows of a table without a head."""
    packages = ", ".join(f"{name} {number}" for name, number in machine["versions"].items() if number)
    before = "unknown" if load is None else f"{load:.2f}"
    return f"""| | |
|---|---|
| date | {machine["date"][:10]} |
| machine | {machine["processor"]}, {machine["processors"]} processors; load before the run {before} |
| threads | {threads} for every package |
| multiboost | {machine["multiboost"]}, commit {(machine["commit"] or "unknown")[:7]} |
| others | Python {machine["python"]}, {packages} |"""
